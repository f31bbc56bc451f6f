#!/usr/bin/env python3
"""com.microsoft's own versions of ONNX's operators, and those with their channels last, against ONNX Runtime."""
import numpy as np

from onnx import helper

from microsoft import CODES, MS, Microsoft, f32, runtime

ms = Microsoft(29)
rng, one_of, chance, codes, reals, scale, sizes, case = ms.rng, ms.one_of, ms.chance, ms.codes, ms.reals, ms.scale, ms.sizes, ms.case


def products():
    for _ in range(20):
        batch = one_of((), (2,), (2, 3))
        m, n, k = sizes(3, 1, 20)
        ta, tb = int(chance()), int(chance())
        a, b = reals(f32, *batch, *((k, m) if ta else (m, k))), reals(f32, *one_of((), batch), *((n, k) if tb else (k, n)))
        case('TransposeMatMul', [a, b], transA=ta, transB=tb, alpha=one_of(1.0, 0.125, -2.0), tolerance=(1e-4, 1e-4))


def ranges():
    for t in (np.int16, np.int32, np.int64, f32, np.float64):
        for start, limit, delta in ((0, 5, None), (1, 10, 3), (5, -5, -2), (3, 3, 1), (4, 1, None), (7, 7.5, 2)):
            shape = one_of((), (1,))
            case('Range', [np.full(shape, start, t), np.full(shape, limit, t), None if delta is None else np.full(shape, delta, t)],
                 constant=(0, 1, 2) if chance() else ())


def dims():
    for t in (f32, np.int64, np.bool_, np.float16, object):
        for axis in (-3, -2, -1, 0, 1, 2):
            x = reals(f32, 3, 4).astype(t)
            case('ExpandDims', [x.astype(str).astype(object) if t is object else x, np.asarray(axis, np.int32)], constant=(1,) if chance() else ())


def pads():
    for _ in range(30):
        rank = one_of(1, 2, 3)
        shape, mode = sizes(rank, 3, 5), one_of('constant', 'reflect', 'edge')
        least = 0 if mode == 'reflect' else -1
        pad = np.asarray(rng.integers(least, 2, 2 * rank), np.int64).reshape(one_of((-1,), (1, -1)))
        value = np.full(one_of((), (1,)), 2.5, f32) if chance() and mode == 'constant' else None
        case('Pad', [reals(f32, *shape), pad, value], mode=mode, constant=(1,) if chance() else ())


def uniques():
    for _ in range(20):
        x = rng.integers(0, 6, one_of(0, 1, 9, 30)).astype(f32)
        case('Unique', [x], n_out=3)
    case('Unique', [np.asarray([2, 1, 1, 3, 4, 3], f32)], wanted=['o0', 'o1', 'o2'], right=[np.asarray([2, 1, 3, 4], f32), np.asarray([0, 1, 1, 2, 3, 2]), np.asarray([1, 2, 2, 1])])


def grids():
    # Where a cubic reaches over the border ONNX Runtime moves its place onto it, not each of its taps.
    for _ in range(25):
        n, c, h, w, a, b = sizes(6, 1, 6)
        mode = one_of('bilinear', 'nearest', 'bicubic')
        case('GridSample', [reals(f32, n, c, h, w), reals(f32, n, a, b, 2)], mode=mode,
             padding_mode=one_of('zeros', 'reflection') if mode == 'bicubic' else one_of('zeros', 'border', 'reflection'), align_corners=int(chance()), tolerance=(1e-4, 1e-4))


def windows(n):
    """Attributes of a window on n axes, those that ONNX Runtime has defaults for now and then absent."""
    made = {'kernel_shape': sizes(n, 1, 3)}
    if chance():
        made['strides'] = sizes(n, 1, 2)
    if chance(0.3):
        made['dilations'] = sizes(n, 1, 2)
    elif chance(0.3):  # ONNX Runtime's pads leave dilations out of account
        made['auto_pad'] = one_of('SAME_UPPER', 'SAME_LOWER', 'VALID')
    if chance() and 'auto_pad' not in made:
        made['pads'] = [int(chance() and k > 1) for k in made['kernel_shape'] * 2]
    return made


def max_pools():
    for _ in range(40):
        t, n = one_of(*CODES), one_of(1, 2, 3)
        more = windows(n)
        if 'auto_pad' not in more and chance(0.3):
            more['ceil_mode'] = 1
        case('NhwcMaxPool', [codes(t, *sizes(1, 1, 2), *sizes(n, 6, 9), *sizes(1, 1, 9))], tolerance=(0, 0), **more)


def convolutions():
    for _ in range(40):
        t, last, n, group = one_of(*CODES), int(chance(0.7)), one_of(1, 2), one_of(1, 1, 2)
        maps, channels, more = group * one_of(1, 2, 5), one_of(1, 3, 8), windows(n)
        space, per_map = sizes(n, 6, 9), chance()
        x = codes(t, 2, *space, group * channels) if last else codes(t, 2, group * channels, *space)
        # What ONNX Runtime saturates is no truth: weights of 7 bits.
        w = rng.integers(-63, 64, (maps, channels, *more['kernel_shape'])).astype(np.int8)
        b = rng.integers(-2000, 2000, maps).astype(np.int32) if chance() else None
        case('QLinearConv', [x, scale(), codes(t), w, scale(maps) if per_map else scale(), np.zeros(maps if per_map else (), np.int8),
                             np.asarray(scale() * 20), codes(t), b], channels_last=last, group=group, constant=range(1, 9) if chance() else (3,), tolerance=(0, 1), **more)
        x = codes(t, 2, *sizes(2, 5, 9), 3)
        case('QLinearAveragePool', [x, scale(), codes(t), scale(), codes(t)], channels_last=1, constant=(1, 2, 3, 4),
             kernel_shape=sizes(2, 2, 3), strides=sizes(2, 1, 2), count_include_pad=int(chance()))


def turned():
    """What ONNX Runtime's CPU has no kernel for: FusedConv's results, turned."""
    for _ in range(10):
        x, w, z, b = reals(f32, 2, 4, 7, 6), reals(f32, 6, 4, 3, 2), reals(f32, 2, 6, 5, 5), reals(f32, 6)
        given = {'i0': x, 'i1': w, 'i2': b, 'i3': z}
        y, = runtime(helper.make_node('FusedConv', list(given), ['o'], domain=MS, activation='Relu'), given)
        plain, = runtime(helper.make_node('FusedConv', ['i0', 'i1', 'i2'], ['o'], domain=MS), {k: given[k] for k in ('i0', 'i1', 'i2')})
        last = (0, 2, 3, 1)
        case('NhwcFusedConv', [x.transpose(last), w, b, z.transpose(last)], right=[y.transpose(last)], activation='Relu', tolerance=(1e-4, 1e-4))
        case('NhwcConv', [x.transpose(last), w, b], right=[plain.transpose(last)], tolerance=(1e-4, 1e-4), constant=(1,))


ms.run(products, ranges, dims, pads, uniques, grids, max_pools, convolutions, turned)
