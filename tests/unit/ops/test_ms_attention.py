#!/usr/bin/env python3
"""com.microsoft's QAttention, against ONNX Runtime: itself, and Attention of the numbers that the codes stand for."""
import numpy as np
from onnx import helper

from microsoft import CODES, MS, Microsoft, f32, runtime

ms = Microsoft(31)
rng, one_of, chance, codes, reals, scale, sizes, case = ms.rng, ms.one_of, ms.chance, ms.codes, ms.reals, ms.scale, ms.sizes, ms.case


def plain(x, w, bias, mask, past, **more):
    names = ['x', 'w', 'b', 'm' if mask is not None else '', 'p' if past is not None else '']
    given = {n: v for n, v in zip('xwbmp', (x, w, bias, mask, past)) if v is not None}
    node = helper.make_node('Attention', names, ['y', 'present'] if past is not None else ['y'], domain=MS, **more)
    return runtime(node, given)


def quantized():
    for _ in range(60):
        batch, heads, size, queries, deep = sizes(5, 1, 6)
        width, past = heads * size, int(rng.integers(1, 4)) if chance(0.4) else 0
        total, columns = past + queries, one_of((), (3 * heads * size,))
        mask = None
        if chance():
            mask = rng.integers(0, 2, one_of((batch, total), (batch, queries, total)), dtype=np.int32)
            mask[..., 0] = 1
        elif chance() and not past:
            mask = rng.integers(1, total + 1, batch, dtype=np.int32)
        tx, tw = one_of(*CODES), one_of(*CODES)
        x, x_s, x_z = codes(tx, batch, queries, deep), scale(), codes(tx) if chance(0.8) else None
        # ONNX Runtime's product of bytes may saturate: the weights have 7 bits.
        w = (rng.integers(-63, 64, (deep, 3 * width)) + (64 if tw == np.uint8 else 0)).astype(tw)
        w_s, w_z = scale(*columns), np.full(one_of((), columns), 60, tw) if chance() else None
        bias, old = reals(f32, 3 * width), reals(f32, 2, batch, heads, past, size) if past else None
        more = {'num_heads': heads, 'unidirectional': int(chance(0.3))}
        if chance(0.3):
            more['scale'] = 0.3
        if chance(0.3):
            more['mask_filter_value'] = -50.0
        inputs = [x, w, bias, x_s, w_s, mask, x_z, w_z, old]
        right = plain((x - (0 if x_z is None else x_z.astype(f32))) * x_s, (w - (0 if w_z is None else w_z.astype(f32))) * w_s, bias, mask,
                      old, **more)
        case('QAttention', inputs, n_out=1 + (past > 0), right=right, tolerance=(2e-4, 2e-4), constant=(1, 2, 3, 4, 6, 7) if chance() else (), **more)
        if tx == np.uint8 and x_z is not None and (w_z is None or w_z.ndim == w_s.ndim):
            case('QAttention', inputs, n_out=1 + (past > 0), tolerance=(2e-4, 2e-4), constant=(1, 3, 4, 6, 7), **more)


def refused():
    x, w = codes(np.uint8, 1, 2, 4), codes(np.uint8, 4, 24)
    inputs = [x, w, reals(f32, 24), scale(), scale()]
    for name in ('do_rotary', 'past_present_share_buffer'):
        case('QAttention', inputs, num_heads=2, right=[reals(f32, 1, 2, 8)], says='!p->rotary' if name == 'do_rotary' else '!p->shared', **{name: 1})
    case('QAttention', inputs[:4] + [scale(5)], num_heads=2, right=[reals(f32, 1, 2, 8)], says='one for each of 24 columns')


ms.run(quantized, refused)
