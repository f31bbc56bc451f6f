#!/usr/bin/env python3
"""More of com.microsoft, against ONNX Runtime where its CPU has a kernel, else against what their documentation says, in NumPy."""
import math

import ml_dtypes
import numpy as np

from microsoft import CODES, Microsoft, f32

ms = Microsoft(37)
rng, one_of, chance, codes, reals, scale, sizes, case = ms.rng, ms.one_of, ms.chance, ms.codes, ms.reals, ms.scale, ms.sizes, ms.case
FLOATS = (f32, np.float64, np.float16)


def exact(y, t):
    """The right value, and how near to it a few rounded steps come."""
    return {'right': [np.asarray(y).astype(t)], 'tolerance': {2: (1e-2, 1e-2), 4: (1e-5, 1e-5), 8: (1e-12, 1e-12)}[np.dtype(t).itemsize]}


def erf_gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def inverses():
    for t in FLOATS:
        for shape in ((1, 1), (3, 3), (2, 4, 4), (2, 2, 5, 5), (0, 3, 3), (2, 0, 0)):
            x = (reals(f32, *shape) + 4 * np.eye(shape[-1])).astype(t)
            case('Inverse', [x], **exact(np.linalg.inv(x.astype(float)) if x.size else x, t))
            if x.size and t != np.float16:
                case('Inverse', [x], tolerance=(1e-4, 1e-4))
    case('Inverse', [reals(f32, 2, 3)], right=[reals(f32, 2, 3)], says='are not square')


def transforms():
    for t in FLOATS:
        for k, shape in ((1, (8,)), (1, (3, 10)), (2, (2, 4, 6)), (3, (4, 6, 8)), (3, (2, 3, 4, 2))):
            x = reals(f32, *shape).astype(t)
            y = np.fft.rfftn(x.astype(float), axes=range(-k, 0))
            case('Rfft', [x], signal_ndim=k, **exact(np.stack([y.real, y.imag], -1), t))
            z = reals(f32, *shape[:-1], shape[-1] // 2 + 1, 2).astype(t)
            back = np.fft.irfftn(z[..., 0].astype(float) + 1j * z[..., 1], axes=range(-k, 0))
            case('Irfft', [z], signal_ndim=k, **exact(back, t))
    case('Rfft', [reals(f32, 8)], right=[reals(f32, 5, 2)], says='normalized must be 0', normalized=1)
    case('Irfft', [reals(f32, 5, 2)], right=[reals(f32, 8)], says='onesided must be 1', signal_ndim=1, onesided=0)


def complex_products():
    for t in FLOATS:
        for sa, sb in (((2, 3), (2, 3)), ((3,), (2, 3)), ((4, 1), (1, 5)), ((), (2,))):
            a, b = reals(f32, *sa, 2).astype(t), reals(f32, *sb, 2).astype(t)
            p, q = (x[..., 0].astype(float) + 1j * x[..., 1] for x in (a, b))
            for op, y in (('ComplexMul', p * q), ('ComplexMulConj', p * q.conj())):
                case(op, [a, b], **exact(np.stack([y.real, y.imag], -1), t))


def behind_sums():
    for _ in range(8):
        n, m = sizes(2, 1, 6)
        x, bias = reals(f32, n, m, 8), reals(f32, 8)
        left, right = np.split((x + bias).astype(float), 2, -1)
        case('BiasSplitGelu', [x, bias], **exact(left * erf_gelu(right), f32))
        axis = one_of(1, 2, -1, -2)
        scores = (x + bias).astype(float).reshape(*x.shape[:axis], -1)
        y = np.exp(scores - scores.max(-1, keepdims=True))
        case('BiasSoftmax', [x, bias], axis=axis, is_inner_broadcast=int(chance()), **exact((y / y.sum(-1, keepdims=True)).reshape(x.shape), f32))
        skip = reals(f32, *x.shape) if chance() else None
        more = [np.asarray(0.3, f32), np.asarray(False)] if chance() else [None, None]
        total = x + bias if skip is None else x + bias + skip
        case('BiasDropout', [x, bias, skip, *more], n_out=2, right=[total, np.ones(x.shape, bool)], tolerance=(1e-6, 1e-6))
        w, b = reals(f32, 8, 5), reals(f32, 5) if chance() else None
        z = x.astype(float) @ w + (0 if b is None else b)
        case('GemmFastGelu', [x, w, b], **exact(0.5 * z * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z ** 3))), f32))
        name, f = one_of(('Relu', lambda v: np.maximum(v, 0)), ('Tanh', np.tanh), ('LeakyRelu', lambda v: np.where(v < 0, 0.125 * v, v)))
        trans = int(chance())
        case('FusedMatMulActivation', [x, w.T.copy() if trans else w], activation=name, transB=trans, alpha=0.5,
             activation_alpha=0.125, **exact(f(0.5 * (x.astype(float) @ w)), f32))


def integers():
    for _ in range(10):
        t = one_of(*CODES)
        a, b, a_zero, b_zero = codes(t, 2, 1, 4), codes(t, 3, 1), codes(t) if chance() else None, codes(t) if chance() else None
        y = (a.astype(np.int32) - (0 if a_zero is None else int(a_zero))) * (b.astype(np.int32) - (0 if b_zero is None else int(b_zero)))
        case('MulInteger', [a, a_zero, b, b_zero], right=[y])
        m, n, k = sizes(3, 1, 9)
        case('MatMulInteger16', [rng.integers(-9999, 9999, (*one_of((), (2,)), m, k), dtype=np.int16), rng.integers(-9999, 9999, (k, n), dtype=np.int16)])
    table, rows = reals(f32, 5, 3), rng.integers(0, 5, (2, 4))
    case('TorchEmbedding', [table, rows, np.asarray(1), np.asarray(True)], right=[table[rows]])


def moves():
    for t in (f32, np.int64, np.int32, np.float64):
        for shape, dim, size, step in (((7,), -1, 3, 2), ((4, 6), 0, 2, 1), ((4, 6), 1, 6, 3), ((2, 5, 3), 1, 2, 2)):
            case('UnfoldTensor', [rng.integers(0, 2, shape).astype(t)], dim=dim, size=size, step=step)
        x = rng.integers(0, 2, (2, 3)).astype(t)
        if t in (f32, np.int64):
            case('SampleOp', [x], right=[x])
    case('UnfoldTensor', [reals(f32, 3)], size=4, right=[reals(f32, 0, 4)], says='less than size = 4')


def hashes():
    words = np.array(['', 'a', 'ab', 'abc', 'abcd', 'Grüße', '日本', 'x' * 41], object)
    for seed in (0, 42, -1 & 0xffffffff):
        for positive in (0, 1):
            for x in (codes(np.int32, 3, 4), codes(np.uint32, 5), codes(np.int64, 2, 2), codes(np.uint64, 3), reals(f32, 6), reals(np.float64, 3), words):
                case('MurmurHash3', [x], seed=seed, positive=positive, tolerance=(0, 0))


def n_grams():
    for _ in range(20):
        rows, length, words = sizes(3, 1, 8)
        case('NGramRepeatBlock', [rng.integers(0, words, (rows, length)), reals(f32, rows, words)], ngram_size=one_of(1, 2, 3))
    case('NGramRepeatBlock', [np.array([[0, 9]]), reals(f32, 1, 3)], ngram_size=2, right=[reals(f32, 1, 3)], says='none of 3 tokens')


def embeddings():
    for _ in range(20):
        batch, length, hidden = sizes(3, 1, 6)
        hidden *= 4
        t, segments, masked = one_of(*CODES), chance(0.7), chance()

        def ids(top):
            return rng.integers(0, top, (batch, length), dtype=np.int32)
        tables = [codes(t, 20, hidden), codes(t, 12, hidden), codes(t, 2, hidden) if segments else None, codes(t, hidden), codes(t, hidden)]
        scales = [scale() if x is not None else None for x in tables]
        zeros = [codes(t) if x is not None else None for x in tables]
        case('QEmbedLayerNormalization', [ids(20), ids(2) if segments else None, *tables, ids(2) if masked else None, *scales, *zeros],
             n_out=2, epsilon=one_of(1e-12, 1e-5), tolerance=(1e-4, 1e-4))


def packed(x, bits):
    """Codes along the last axis, the lowest bits first, the last byte filled up."""
    per = 8 // bits
    x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % per)]).reshape(*x.shape[:-1], -1, per)
    return (x << (np.arange(per) * bits)).sum(-1).astype(np.uint8)


def tables():
    for _ in range(40):
        bits, block, t = one_of(2, 4, 8), one_of(16, 32), one_of(f32, np.float16)
        rows, blocks = sizes(2, 1, 7)
        width = block * blocks - one_of(0, 8)
        at = rng.integers(-rows, rows, one_of((), (3,), (2, 4)), dtype=one_of(np.int32, np.int64))
        s = rng.uniform(0.01, 1, (rows, blocks)).astype(t)
        x, zeros = rng.integers(0, 1 << bits, (rows, width)), rng.integers(0, 1 << bits, (rows, blocks))
        case('GatherBlockQuantized', [packed(x, bits), at, s, packed(zeros, bits) if chance() else None], bits=bits, block_size=block,
             gather_axis=0, quantize_axis=one_of(1, -1), constant=(0, 2, 3))
    for t in (ml_dtypes.uint4, ml_dtypes.int4):
        for axis in (0, 1, 2):
            low = 0 if t == ml_dtypes.uint4 else -8
            x, z = (rng.integers(low, low + 16, shape) for shape in ((3, 20, 4), (3, 2, 4)))
            s, at = reals(f32, 3, 2, 4), np.array([[0, -1, 2], [9, -99, 1]] if axis == 1 else [[0, -1, 2]])
            y = ((x - np.repeat(z, 16, 1)[:, :20]) * np.repeat(s, 16, 1)[:, :20]).astype(f32)
            inside = (at < x.shape[axis]) & (at >= -x.shape[axis])
            y = np.moveaxis(np.where(inside[..., None, None], np.moveaxis(y, axis, 0)[np.where(inside, at, 0)], 0), (0, 1), (axis, axis + 1))
            case('GatherBlockQuantized', [x.astype(t), at, s, z.astype(t)], right=[y], gather_axis=axis, quantize_axis=1, block_size=16)
    x = reals(f32, 5, 24).astype(ml_dtypes.float8_e4m3fn)
    case('GatherBlockQuantized', [x, np.array([4, 0]), np.full((1, 1), 0.5, f32)], right=[x[[4, 0]].astype(f32) / 2], block_size=0)


ms.run(inverses, transforms, complex_products, behind_sums, integers, moves, hashes, n_grams, embeddings, tables)
