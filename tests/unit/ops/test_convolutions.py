#!/usr/bin/env python3
"""Convolutions of every kind: all versions and types, one to four spatial axes, groups, strides, dilations, pads. What is
expected is written here tap by tap with NumPy, in double or in integers, and rounded once."""
import itertools

import numpy as np
from onnx import TensorProto, helper

from one_node import Cases, dtype, types, versions

F, F16, BF16, F64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE
I8, U8, I32 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32
FLOATS = {F16: (2e-3, 4e-3), BF16: (1.6e-2, 3e-2), F: (1e-5, 1e-5), F64: (1e-12, 1e-12)}
rng = np.random.default_rng(5)
cases = Cases()


def values(t, *shape):
    d = dtype(t)
    if d.kind in 'iu':
        return rng.integers(np.iinfo(d).min, np.iinfo(d).max, shape, dtype=d, endpoint=True)
    return rng.standard_normal(shape).astype(d)


def same_pads(size, kernel, strides, dilations, auto_pad):
    begin, end = [], []
    for n, k, s, d in zip(size, kernel, strides, dilations):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        small, big = total // 2, total - total // 2
        begin.append(small if auto_pad == 'SAME_UPPER' else big)
        end.append(big if auto_pad == 'SAME_UPPER' else small)
    return begin, end


def conv(x, w, b, group, strides, dilations, begin, end):
    n, m, kernel = len(strides), w.shape[0], w.shape[2:]
    p = np.pad(x, [(0, 0), (0, 0), *zip(begin, end)])
    out = [(p.shape[2 + i] - (kernel[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(n)]
    y = np.zeros((x.shape[0], m, *out), x.dtype)
    c, g = w.shape[1], m // group
    for taps in itertools.product(*map(range, kernel)):
        at = tuple(slice(t * d, t * d + (o - 1) * s + 1, s) for t, d, o, s in zip(taps, dilations, out, strides))
        seen = p[(slice(None), slice(None), *at)]
        for k in range(group):
            y[:, k * g:(k + 1) * g] += np.einsum('nc...,mc->nm...', seen[:, k * c:(k + 1) * c], w[(slice(k * g, (k + 1) * g), slice(None), *taps)])
    return y if b is None else y + b.reshape(-1, *[1] * n)


def transposed(x, w, b, group, strides, dilations, begin, out):
    """Scatters every input element, then cuts the output out."""
    n, kernel, c, g = len(strides), w.shape[2:], w.shape[0] // group, w.shape[1]
    whole = [(x.shape[2 + i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 for i in range(n)]
    y = np.zeros((x.shape[0], group * g, *whole), x.dtype)
    for taps in itertools.product(*map(range, kernel)):
        at = tuple(slice(t * d, t * d + (x.shape[2 + i] - 1) * s + 1, s) for i, (t, d, s) in enumerate(zip(taps, dilations, strides)))
        for k in range(group):
            y[(slice(None), slice(k * g, (k + 1) * g), *at)] += np.einsum(
                'nc...,cm->nm...', x[:, k * c:(k + 1) * c], w[(slice(k * c, (k + 1) * c), slice(None), *taps)])
    cut = np.zeros((x.shape[0], group * g, *out), x.dtype)
    for o in itertools.product(*map(range, out)):
        at = [p + q for p, q in zip(o, begin)]
        if all(0 <= p < q for p, q in zip(at, whole)):
            cut[(slice(None), slice(None), *o)] = y[(slice(None), slice(None), *at)]
    return cut if b is None else cut + b.reshape(-1, *[1] * n)


def draw(n, small=False):
    """Geometry for n spatial axes."""
    top = {1: 40, 2: 19, 3: 8, 4: 5}[n]
    size = [int(v) for v in rng.integers(3, top, n)]
    kernel = [int(v) for v in rng.integers(1, 4, n)]
    strides = [int(v) for v in rng.integers(1, 4, n)] if rng.integers(2) else [1] * n
    dilations = [int(v) for v in rng.integers(1, 3, n)] if rng.integers(3) == 0 else [1] * n
    begin, end = ([int(v) for v in rng.integers(0, 3, n)] for _ in range(2))
    for i in range(n):
        while size[i] + begin[i] + end[i] < (kernel[i] - 1) * dilations[i] + 1:
            end[i] += 1
    group, c, m = [(1, 3, 5), (1, 17, 33), (2, 2, 3), (4, 1, 1), (3, 1, 2), (1, 1, 1), (1, 8, 16)][int(rng.integers(5 if small else 7))]
    return size, kernel, strides, dilations, begin, end, group, c, m


def attributes(kernel, strides, dilations, begin, end, group, auto_pad):
    a = {'group': group}
    if rng.integers(2):
        a['kernel_shape'] = kernel
    if max(strides) > 1 or rng.integers(2):
        a['strides'] = strides
    if max(dilations) > 1 or rng.integers(2):
        a['dilations'] = dilations
    if auto_pad != 'NOTSET':
        a['auto_pad'] = auto_pad
    elif any(begin) or any(end) or rng.integers(2):
        a['pads'] = begin + end
    return a


def padded(n, size, kernel, strides, dilations, begin, end):
    auto_pad = ['NOTSET', 'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'][int(rng.integers(5))]
    if auto_pad == 'VALID' and any(s < (k - 1) * d + 1 for s, k, d in zip(size, kernel, dilations)):
        auto_pad = 'NOTSET'
    if auto_pad == 'VALID':
        return auto_pad, [0] * n, [0] * n
    if auto_pad == 'NOTSET':
        return auto_pad, begin, end
    return (auto_pad, *same_pads(size, kernel, strides, dilations, auto_pad))


def conv_case(version, t, n):
    size, kernel, strides, dilations, begin, end, group, c, m = draw(n)
    auto_pad, begin, end = padded(n, size, kernel, strides, dilations, begin, end)
    x, w = values(t, int(rng.integers(1, 3)), group * c, *size), values(t, group * m, c, *kernel)
    inputs = {'X': (t, x), 'W': (t, w)}
    b = values(t, group * m) if rng.integers(2) else None
    if b is not None:
        inputs['B'] = (t, b)
    wide = [v if v is None else v.astype(np.float64) for v in (x, w, b)]
    y = conv(*wide, group, strides, dilations, begin, end).astype(dtype(t))
    node = helper.make_node('Conv', list(inputs), ['Y'], **attributes(kernel, strides, dilations, begin, end, group, auto_pad))
    r, a = FLOATS[t]
    cases.add(node, version, inputs, {'Y': (t, y)}, constant=('W',) if rng.integers(3) else (), tolerance=(r, a * (c * np.prod(kernel)) ** 0.5))


def tiled_case(t, group):
    """3 × 3 without stride, over maps large enough that fast kernels take another way."""
    size, c, m = [int(v) for v in rng.integers(11, 34, 2)], int(rng.integers(16, 21)), int(rng.integers(16, 40))
    begin, end = ([int(v) for v in rng.integers(0, 2, 2)] for _ in range(2))
    x, w, b = values(t, int(rng.integers(1, 3)), group * c, *size), values(t, group * m, c, 3, 3), values(t, group * m)
    y = conv(*(v.astype(np.float64) for v in (x, w, b)), group, [1, 1], [1, 1], begin, end).astype(dtype(t))
    r, a = FLOATS[t]
    cases.add(helper.make_node('Conv', ['X', 'W', 'B'], ['Y'], pads=begin + end, group=group), 22, {'X': (t, x), 'W': (t, w), 'B': (t, b)},
              {'Y': (t, y)}, constant=('W',), tolerance=(r, 20 * a))


def integer_case(tx, tw, n, quantized):
    size, kernel, strides, dilations, begin, end, group, c, m = draw(n)
    auto_pad, begin, end = padded(n, size, kernel, strides, dilations, begin, end)
    x, w = values(tx, int(rng.integers(1, 3)), group * c, *size), values(tw, group * m, c, *kernel)
    zx, zw = values(tx), values(tw, *(() if rng.integers(2) else (group * m,)))
    by_map = [-1] + [1] * (n + 1)
    wide_x, wide_w = x.astype(np.int64) - int(zx), w.astype(np.int64) - zw.astype(np.int64).reshape(by_map)
    attrs = attributes(kernel, strides, dilations, begin, end, group, auto_pad)
    if not quantized:
        y = conv(wide_x, wide_w, None, group, strides, dilations, begin, end).astype(np.int32)
        inputs = {'x': (tx, x), 'w': (tw, w), 'x_zero_point': (tx, zx), 'w_zero_point': (tw, zw)}
        if rng.integers(4) == 0:
            inputs = dict(list(inputs.items())[:2])
            y = conv(x.astype(np.int64), w.astype(np.int64), None, group, strides, dilations, begin, end).astype(np.int32)
        cases.add(helper.make_node('ConvInteger', list(inputs), ['y'], **attrs), 10, inputs, {'y': (I32, y)},
                  constant=('w', 'w_zero_point')[:len(inputs) // 2] if rng.integers(2) else ())
        return
    ty = (U8, I8)[int(rng.integers(2))]
    b = rng.integers(-4000, 4000, group * m).astype(np.int32) if rng.integers(2) else None
    sum_ = conv(wide_x, wide_w, b, group, strides, dilations, begin, end)
    sx, sy, zy = np.float32(0.04), np.float32(rng.uniform(0.5, 9)), values(ty)
    sw = rng.uniform(0.01, 0.09, () if rng.integers(2) else (group * m,)).astype(np.float32)
    scale = (np.float64(sx) * sw.astype(np.float64) / np.float64(sy)).reshape([-1] + [1] * n)
    info = np.iinfo(dtype(ty))
    y = np.clip(np.rint(sum_ * scale) + int(zy), info.min, info.max).astype(dtype(ty))
    inputs = {'x': (tx, x), 'xs': (F, sx), 'xz': (tx, zx), 'w': (tw, w), 'ws': (F, sw), 'wz': (tw, zw), 'ys': (F, sy), 'yz': (ty, zy)}
    if b is not None:
        inputs['B'] = (I32, b)
    cases.add(helper.make_node('QLinearConv', list(inputs), ['y'], **attrs), 10, inputs, {'y': (ty, y)},
              constant=('w', 'wz') if rng.integers(2) else ())


def transpose_case(version, t, n):
    size, kernel, strides, dilations, begin, end, group, c, m = draw(n, small=True)
    size = [min(s, 9) for s in size]
    kind = ['pads', 'pads', 'SAME_UPPER', 'SAME_LOWER', 'VALID', 'shape', 'shape_upper'][int(rng.integers(7))]
    extra = [int(rng.integers(0, max(s, d))) for s, d in zip(strides, dilations)]
    whole = [s * (z - 1) + e + (k - 1) * d + 1 for s, z, e, k, d in zip(strides, size, extra, kernel, dilations)]
    attrs = {'group': group, 'strides': strides, 'dilations': dilations}
    if any(extra) or rng.integers(2):
        attrs['output_padding'] = extra
    if kind == 'pads':
        begin = [min(b, (v - 1) // 2) for b, v in zip(begin, whole)]
        end = [min(e, (v - 1) // 2) for e, v in zip(end, whole)]
        attrs['pads'] = begin + end
        out = [v - b - e for v, b, e in zip(whole, begin, end)]
    else:
        out = whole if kind == 'VALID' else [z * s for z, s in zip(size, strides)]
        if kind.startswith('shape'):
            out = [max(v + int(rng.integers(-3, 2)), 1) for v in whole]
            attrs['output_shape'] = out
        total = [v - o for v, o in zip(whole, out)]
        upper = kind in ('SAME_UPPER', 'shape_upper')
        begin = [v // 2 if upper else v - v // 2 for v in total]
        if upper or not kind.startswith('shape'):
            attrs['auto_pad'] = 'SAME_UPPER' if upper else kind
    x, w = values(t, int(rng.integers(1, 3)), group * c, *size), values(t, group * c, m, *kernel)
    inputs = {'X': (t, x), 'W': (t, w)}
    b = values(t, group * m) if rng.integers(2) else None
    if b is not None:
        inputs['B'] = (t, b)
    wide = [v if v is None else v.astype(np.float64) for v in (x, w, b)]
    y = transposed(*wide, group, strides, dilations, begin, out).astype(dtype(t))
    r, a = FLOATS[t]
    cases.add(helper.make_node('ConvTranspose', list(inputs), ['Y'], **attrs), version, inputs, {'Y': (t, y)},
              constant=('W',) if rng.integers(2) else (), tolerance=(r, a * (c * np.prod(kernel)) ** 0.5))


def sample(plane, place):
    """Linear interpolation, zero outside."""
    low, sum_ = [int(np.floor(p)) for p in place], 0.0
    for corner in itertools.product((0, 1), repeat=len(place)):
        at = [p + q for p, q in zip(low, corner)]
        if all(0 <= p < q for p, q in zip(at, plane.shape)):
            sum_ += np.prod([p - q if k else 1 - (p - q) for p, q, k in zip(place, low, corner)]) * plane[tuple(at)]
    return sum_


def deform_case(version, t, n, offset_group, group):
    size, kernel = [6, 5, 4][:n], [2, 3, 2][:n]
    strides, dilations, begin, end = [1, 2, 1][:n], [2, 1, 1][:n], [1, 0, 1][:n], [0, 1, 1][:n]
    c, m, batch = 2 * offset_group // (group if group > 1 else 1), 3, 2
    channels, taps = c * group, int(np.prod(kernel))
    x, w = values(t, batch, channels, *size), values(t, group * m, c, *kernel)
    out = [(z + p + q - (k - 1) * d - 1) // s + 1 for z, p, q, k, d, s in zip(size, begin, end, kernel, dilations, strides)]
    offset = (1.5 * rng.standard_normal((batch, offset_group * taps * n, *out))).astype(dtype(t))
    mask = values(t, batch, offset_group * taps, *out) if rng.integers(2) else None
    b = values(t, group * m) if rng.integers(2) else None
    y = np.zeros((batch, group * m, *out))
    moved = offset.astype(np.float64).reshape(batch, offset_group, taps, n, *out)
    weight = np.ones((batch, offset_group, taps, *out)) if mask is None else mask.astype(np.float64).reshape(batch, offset_group, taps, *out)
    for i, channel in itertools.product(range(batch), range(channels)):
        og, g = channel // (channels // offset_group), channel // c
        for o in itertools.product(*map(range, out)):
            for k, tap in enumerate(itertools.product(*map(range, kernel))):
                place = [o[a] * strides[a] - begin[a] + tap[a] * dilations[a] + moved[(i, og, k, a, *o)] for a in range(n)]
                v = sample(x[i, channel].astype(np.float64), place) * weight[(i, og, k, *o)]
                y[(i, slice(g * m, (g + 1) * m), *o)] += v * w[(slice(g * m, (g + 1) * m), channel % c, *tap)].astype(np.float64)
    if b is not None:
        y += b.astype(np.float64).reshape(-1, *[1] * n)
    inputs = {'X': (t, x), 'W': (t, w), 'offset': (t, offset)}
    names = ['X', 'W', 'offset', 'B' if b is not None else '', 'mask' if mask is not None else '']
    if b is not None:
        inputs['B'] = (t, b)
    if mask is not None:
        inputs['mask'] = (t, mask)
    while not names[-1]:
        names.pop()
    r, a = FLOATS[t]
    node = helper.make_node('DeformConv', names, ['Y'], strides=strides, dilations=dilations, pads=begin + end, group=group, offset_group=offset_group)
    cases.add(node, version, inputs, {'Y': (t, y.astype(dtype(t)))}, tolerance=(r, 8 * a))


def causal_case(t, activation, past, bias, length):
    x, w = values(t, 2, 5, length), values(t, 5, 1, 4)
    b, state = values(t, 5), values(t, 2, 5, 3)
    inputs = {'input': (t, x), 'weight': (t, w)}
    if bias:
        inputs['bias'] = (t, b)
    if past:
        inputs['past_state'] = (t, state)
    names = ['input', 'weight', 'bias' if bias else '', 'past_state' if past else '']
    s = np.concatenate([state if past else np.zeros_like(state), x], axis=2)
    y = sum(s[:, :, k:k + length].astype(np.float64) * w[:, 0, k].astype(np.float64).reshape(-1, 1) for k in range(4))
    y = (y + (b.astype(np.float64).reshape(-1, 1) if bias else 0)).astype(dtype(t))
    if activation != 'none':
        v = y.astype(np.float64)
        y = (v / (1 + np.exp(-v))).astype(dtype(t))
    while not names[-1]:
        names.pop()
    node = helper.make_node('CausalConvWithState', names, ['output', 'present_state'], activation=activation)
    cases.add(node, 27, inputs, {'output': (t, y), 'present_state': (t, s[:, :, s.shape[2] - 3:])}, tolerance=FLOATS[t])


for schema in versions('Conv'):
    for t in types(schema, 'T'):
        for n in (1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4):
            conv_case(schema.since_version, t, n)
for _ in range(120):
    conv_case(11, F, 2)
for t in FLOATS:
    for group in (1, 1, 1, 2):
        for _ in range(4):
            tiled_case(t, group)
for tx, tw in itertools.product((U8, I8), repeat=2):
    for n in (1, 2, 2, 2, 2, 3):
        for quantized in (False, True):
            for _ in range(4):
                integer_case(tx, tw, n, quantized)
for schema in versions('ConvTranspose'):
    for t in types(schema, 'T'):
        for n in (1, 1, 2, 2, 2, 2, 3):
            transpose_case(schema.since_version, t, n)
for _ in range(60):
    transpose_case(11, F, 2)
for schema in versions('DeformConv'):
    for t in types(schema, 'T'):
        for n, offset_group, group in ((1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (3, 1, 1)):
            deform_case(schema.since_version, t, n, offset_group, group)
for t in types(versions('CausalConvWithState')[0], 'T'):
    for activation in ('none', 'silu', 'swish'):
        for past, bias, length in ((0, 0, 7), (1, 1, 7), (1, 0, 2), (0, 1, 1)):
            causal_case(t, activation, past, bias, length)

x, w = (F, values(F, 1, 4, 8, 8)), (F, values(F, 6, 4, 3, 3))
for attrs, inputs, says in (
        ({'pads': [1, 1, 1]}, {'X': x, 'W': w}, 'attribute pads has 3 values, needs 4'),
        ({'strides': [1, 2, 3]}, {'X': x, 'W': w}, 'attribute strides has 3 values, needs 2'),
        ({'strides': [1, 0]}, {'X': x, 'W': w}, 'attribute strides has 0 at position 1, must be 1 or more'),
        ({'pads': [0, 0, -1, 0]}, {'X': x, 'W': w}, 'attribute pads has -1 at position 2, must be 0 or more'),
        ({'kernel_shape': [3, 5]}, {'X': x, 'W': w}, 'has a kernel of 3 on spatial axis 1, but attribute kernel_shape says 5'),
        ({'auto_pad': 'SAME'}, {'X': x, 'W': w}, 'auto_pad'),
        ({'group': 3}, {'X': x, 'W': w}, 'takes 4 channels in 3 groups, but X has 4'),
        ({}, {'X': x, 'W': (F, values(F, 6, 4, 3))}, 'expected rank 4, got rank 3'),
        ({}, {'X': x, 'W': w, 'B': (F, values(F, 4))}, 'has 4 elements, but there are 6 output channels'),
        ({'dilations': [4, 1]}, {'X': x, 'W': w}, 'a kernel of 3 (dilation 4: 9) is larger than the input of 8')):
    cases.add(helper.make_node('Conv', list(inputs), ['Y'], **attrs), 11, inputs, {'Y': (F, values(F, 1))}, says=says)

cases.run()
