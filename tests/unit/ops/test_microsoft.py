#!/usr/bin/env python3
"""The operators of com.microsoft, against ONNX Runtime without graph optimization: random choices of types, shapes, absent
inputs and attributes. Codes of 8 bits come from real arithmetic, rounded once; ONNX Runtime may be one beside them."""
import numpy as np

from microsoft import CODES, Microsoft, f32

ms = Microsoft(17)
rng, one_of, chance, codes, reals, scale, case = ms.rng, ms.one_of, ms.chance, ms.codes, ms.reals, ms.scale, ms.case


def rounded(v, zero, t):
    i = np.iinfo(t)
    return np.clip(np.rint(v) + zero, i.min, i.max).astype(t)


def number(x):
    return 0 if x is None else np.asarray(x, float)


def quantized(t, *shape):
    """Codes, their scale, their zero point."""
    return codes(t, *shape), scale(), codes(t)


def shapes():
    """Two shapes that broadcast."""
    full = [int(n) for n in rng.integers(1, 6, int(rng.integers(1, 5)))]
    if chance():
        full[-1] = int(rng.integers(30, 200))
    a, b = ([n if chance(0.7) else 1 for n in full] for _ in range(2))
    return (full, b[int(rng.integers(len(b))):]) if chance() else (a, b)


def binary():
    for op in ('QLinearAdd', 'QLinearMul') * 30:
        t = one_of(*CODES)
        sa, sb = shapes()
        (a, a_s, a_z), (b, b_s, b_z) = quantized(t, *sa), quantized(t, *sb)
        y_s, y_z = scale(), codes(t)
        p, q = (a - number(a_z)) * float(a_s), (b - number(b_z)) * float(b_s)
        exact = rounded((p + q if op == 'QLinearAdd' else p * q) / float(y_s), number(y_z), t)
        case(op, [a, a_s, a_z, b, b_s, b_z, y_s, y_z], exact=exact, constant=(1, 2, 4, 5, 6, 7) if chance() else ())


def unary():
    for op in ('QLinearSigmoid', 'QLinearLeakyRelu') * 15:
        t = one_of(*CODES)
        x, x_s, x_z = quantized(t, *shapes()[0])
        y_s, y_z = (np.asarray(1 / 256, f32), np.asarray(np.iinfo(t).min, t)) if op == 'QLinearSigmoid' else \
                   (scale(), codes(t))
        more = {'alpha': 0.125} if op == 'QLinearLeakyRelu' and chance() else {}
        case(op, [x, x_s, x_z, y_s, y_z], constant=(1, 2, 3, 4), **more)


def softmax():
    for _ in range(20):
        t = one_of(*CODES)
        x, x_s, x_z = quantized(t, *[int(n) for n in rng.integers(1, 9, 3)])
        low = np.asarray(np.iinfo(t).min, t)
        case('QLinearSoftmax', [x, x_s, x_z, np.asarray(1 / 256, f32), low], constant=(1, 2, 3, 4),
             axis=int(rng.integers(-3, 3)), opset=one_of(11, 13))


def where():
    for _ in range(20):
        t = one_of(*CODES)
        sa, sb = shapes()
        x, y = codes(t, *sa), codes(t, *sb)
        c = rng.integers(0, 2, np.broadcast_shapes(tuple(sa), tuple(sb))[-2:]).astype(bool)
        case('QLinearWhere', [c, x, scale(), codes(t), y, scale(), codes(t), scale(), codes(t)],
             constant=(2, 3, 5, 6, 7, 8))


def concat():
    for _ in range(20):
        t = one_of(*CODES)
        shape, axis = [int(n) for n in rng.integers(1, 6, 3)], int(rng.integers(-3, 3))
        parts = []
        for _ in range(int(rng.integers(1, 4))):
            shape[axis] = int(rng.integers(1, 6))
            parts += [codes(t, *shape), scale(), codes(t)]
        case('QLinearConcat', [scale(), codes(t)] + parts, axis=axis, constant=range(12))


def means():
    for _ in range(20):
        t, last = one_of(*CODES), int(chance())
        x = codes(t, *[int(n) for n in rng.integers(1, 12, int(rng.integers(3, 5)))])
        y_s = scale()
        x_s, x_z, y_z = scale(), codes(t), codes(t)
        axes = tuple(range(1, x.ndim - 1) if last else range(2, x.ndim))
        exact = rounded((x - float(x_z)).mean(axes, keepdims=True) * float(x_s) / float(y_s), float(y_z), t)
        case('QLinearGlobalAveragePool', [x, x_s, x_z, y_s, y_z], exact=exact, constant=(1, 2, 3, 4), channels_last=last)
    for _ in range(20):
        t = one_of(*CODES)
        x, x_s, x_z = quantized(t, 2, 3, *[int(n) for n in rng.integers(5, 12, 2)])
        case('QLinearAveragePool', [x, x_s, x_z, scale(), codes(t)], constant=(1, 2, 3, 4),
             kernel_shape=[int(n) for n in rng.integers(2, 4, 2)], strides=[int(n) for n in rng.integers(1, 3, 2)],
             pads=[0, int(chance()), int(chance()), 0] if chance() else [0] * 4, count_include_pad=int(chance()))


def products():
    for _ in range(30):
        ta, tb = one_of(*CODES), one_of(*CODES)
        ty = one_of(ta, ta, None)
        if (ta, tb) == (np.int8, np.uint8):
            continue
        m, n, k = (int(x) for x in rng.integers(1, 20, 3))
        trans_a, trans_b, alpha = int(chance()), int(chance()), one_of(1.0, 0.5, 1.7)
        a, b = codes(ta, *((k, m) if trans_a else (m, k))), codes(tb, *((n, k) if trans_b else (k, n)))
        cols = () if chance() else (n,)
        a_s, a_z, b_s, b_z = scale(), codes(ta), scale(*cols), codes(tb, *cols)
        c = rng.integers(-5000, 5000, one_of((n,), (m, n), (1, n), (m, 1)), dtype=np.int32) if chance() else None
        y_s, y_z = (np.asarray(scale() * 20, f32), codes(ty)) if ty else (None, None)
        left, right = (a.T if trans_a else a) - float(a_z), (b.T if trans_b else b) - b_z.astype(float)
        sums = (left @ right + number(c)) * float(f32(alpha)) * float(a_s) * b_s.astype(float)
        exact = rounded(sums / float(y_s), float(y_z), ty) if ty else None
        case('QGemm', [a, a_s, a_z, b, b_s, b_z, c, y_s, y_z], exact=exact, tolerance=(2e-5, 2e-5), transA=trans_a,
             transB=trans_b, alpha=alpha, constant=(3, 4, 5) if chance() else ())
    for _ in range(30):
        tb = one_of(*CODES)
        batch = one_of((), (2,), (2, 3))
        m, n, k = (int(x) for x in rng.integers(1, 40, 3))
        cols = () if chance() else (n,)
        b, b_s, b_z = codes(tb, k, n), scale(*cols), codes(tb, *cols) if chance() else None
        bias, constant = reals(f32, n) if chance() else None, (1, 2, 3) if chance() else ()
        case('DynamicQuantizeMatMul', [reals(f32, *batch, m, k), b, b_s, b_z, bias], tolerance=(1e-4, 1e-4),
             constant=constant)
        ta = one_of(*CODES) if tb == np.int8 else np.uint8
        case('MatMulIntegerToFloat', [codes(ta, *batch, m, k), b, scale(), b_s, codes(ta) if chance() else None, b_z, bias],
             tolerance=(1e-4, 1e-4), constant=constant)


def lstm():
    for _ in range(40):
        steps, batch, size, hidden = (int(x) for x in rng.integers(1, 12, 4))
        direction = one_of('forward', 'reverse', 'bidirectional')
        d, t = 1 + (direction == 'bidirectional'), one_of(*CODES)
        cols = () if chance() else (4 * hidden,)

        def zero():
            return np.zeros((d, *cols), t) if t == np.int8 and cols else np.full((d, *cols), codes(t))
        w, r = codes(t, d, size, 4 * hidden), codes(t, d, hidden, 4 * hidden)
        bias = reals(f32, d, 8 * hidden) if chance() else None
        lengths = rng.integers(1, steps + 1, batch, dtype=np.int32) if chance(0.3) else None
        h = reals(f32, d, batch, hidden) if chance() else None
        c = reals(f32, d, batch, hidden) if chance() else None
        p = reals(f32, d, 3 * hidden) if chance(0.3) else None
        w_s, r_s = scale(d, *cols) / 10, scale(d, *cols) / 10
        # ONNX Runtime bounds what goes into the gates, not what goes into h: C stays within this one.
        more = {'clip': steps + 4.0} if chance(0.2) else {}
        if more:
            w_s = w_s * 4
        if chance(0.2):
            more['input_forget'] = 1
        if chance(0.2):
            more['activations'] = ['Sigmoid', 'Tanh', one_of('Relu', 'Tanh')] * d
        # One code of H that rounds the other way moves what follows by about its scale times R's.
        case('DynamicQuantizeLSTM', [reals(f32, steps, batch, size), w, r, bias, lengths, h, c, p, w_s, zero(), r_s, zero()],
             n_out=3, tolerance=(1e-3, 0.01), constant=(1, 2, 8, 9, 10, 11) if chance() else (), hidden_size=hidden,
             direction=direction, **more)


def fused():
    for _ in range(12):
        t = one_of(f32, f32, np.float16) if chance(0.3) else f32
        x = reals(t, *[int(n) for n in rng.integers(1, 9, 2)], 12)
        case('Gelu', [reals(f32, 3, 40) * 3])
        case('QuickGelu', [reals(f32, 3, 40) * 3], **({'alpha': 1.1} if chance() else {}))
        case('BiasGelu', [x.astype(f32), reals(f32, 12)])
        case('FastGelu', [x.astype(f32), reals(f32, 12) if chance() else None])
        skip = reals(t, *x.shape)
        bias = reals(t, 12) if chance() else None
        sums = chance()
        case('SkipLayerNormalization', [x, skip, reals(t, 12), reals(t, 12) if chance() else None, bias],
             wanted=['o0', '', '', 'o3'] if sums else ['o0'], epsilon=one_of(1e-5, 1e-12))
        case('SkipSimplifiedLayerNormalization', [x, skip, reals(t, 12), bias],
             wanted=['o0', '', '', 'o3'] if sums else ['o0'], epsilon=1e-5)
    for _ in range(30):
        batch = one_of((), (2,), (2, 3))
        m, n, k = (int(x) for x in rng.integers(1, 30, 3))
        ta, tb = int(chance()), int(chance())
        a, b = reals(f32, *batch, *((k, m) if ta else (m, k))), reals(f32, *one_of((), batch), *((n, k) if tb else (k, n)))
        case('FusedMatMul', [a, b], transA=ta, transB=tb, alpha=one_of(1.0, 0.125, -2.0), constant=(1,) if chance() else (),
             tolerance=(1e-4, 1e-4))


def twins():
    for _ in range(10):
        case('Trilu', [reals(f32, 2, 5, 4), np.asarray(int(rng.integers(-3, 4)), np.int64) if chance() else None],
             upper=int(chance()))
        case('GatherND', [reals(f32, 3, 4, 5), rng.integers(-3, 3, (2, 3, one_of(1, 2)), dtype=one_of(np.int32, np.int64))])
        t, axis = one_of(*CODES), int(rng.integers(3))
        x, per = reals(f32, 3, 4, 5) * 4, chance()
        s = scale(x.shape[axis]) if per else scale()
        z = codes(t, *s.shape)
        case('QuantizeLinear', [x, s, z], axis=axis)
        case('DequantizeLinear', [codes(t, *x.shape), s, z], axis=axis)


def attention():
    for _ in range(40):
        batch, heads, size, queries = (int(x) for x in rng.integers(1, 6, 4))
        width, past = heads * size, int(rng.integers(1, 4)) if chance(0.4) else 0
        causal = int(chance(0.3))
        keys = queries if causal or past else int(rng.integers(1, 9))
        total = past + keys
        v_size = size if past or chance() else size + 1
        q, k, v = reals(f32, batch, queries, width), reals(f32, batch, keys, width), reals(f32, batch, keys, heads * v_size)
        if not past and not causal and chance(0.3):
            k, v, v_size = reals(f32, batch, heads, keys, size), reals(f32, batch, heads, keys, size), size
        bias = reals(f32, 2 * width + heads * v_size) if k.ndim == 3 and chance(0.4) else None
        mask = rng.integers(0, 2, (batch, total), dtype=np.int32) if chance(0.4) else None
        if mask is not None:
            mask[:, 0] = 1
        scores = reals(f32, one_of(1, batch), one_of(1, heads), queries, total) if chance(0.3) else None
        pasts = [reals(f32, batch, heads, past, size), reals(f32, batch, heads, past, size)] if past else [None] * 2
        more = {'scale': 0.3} if chance(0.3) else {}
        case('MultiHeadAttention', [q, k, v, bias, mask, scores, *pasts], n_out=3 if past else 1, num_heads=heads,
             unidirectional=causal, **more)
        deep, lengths = int(rng.integers(1, 9)), chance(0.3) and not past
        total = past + queries
        mask = rng.integers(0, 2, one_of((batch, total), (batch, queries, total)), dtype=np.int32)
        mask[..., 0] = 1
        if lengths:
            mask = rng.integers(1, total + 1, batch, dtype=np.int32)
        scores = reals(f32, batch, heads, queries, total) if chance(0.3) and not past else None
        case('Attention', [reals(f32, batch, queries, deep), reals(f32, deep, 3 * width), reals(f32, 3 * width),
                           mask if chance() else None, reals(f32, 2, batch, heads, past, size) if past else None, scores],
             n_out=2 if past else 1, num_heads=heads, unidirectional=causal, constant=(1, 2) if chance() else (), **more)


def nbits():
    for _ in range(30):
        bits, block, n, k = one_of(4, 4, 8), one_of(16, 32, 64), int(rng.integers(1, 20)), int(rng.integers(1, 150))
        blocks = -(-k // block)
        b = codes(np.uint8, n, blocks, block * bits // 8)
        zeros = codes(np.uint8, n * ((blocks * bits + 7) // 8)) if chance() else None
        case('MatMulNBits', [reals(f32, *one_of((2, 3), (5,)), k), b, scale(n * blocks), zeros, None,
                             reals(f32, n) if chance(0.3) else None], K=k, N=n, bits=bits, block_size=block,
             tolerance=(1e-4, 1e-4), constant=(1, 2, 3) if chance() else ())


def embed():
    for _ in range(20):
        batch, length, hidden = (int(x) for x in rng.integers(1, 9, 3))
        hidden *= 4
        segments = chance(0.7)

        def ids(top):
            return rng.integers(0, top, (batch, length), dtype=np.int32)
        case('EmbedLayerNormalization',
             [ids(20), ids(2) if segments else None, reals(f32, 20, hidden), reals(f32, 12, hidden),
              reals(f32, 2, hidden) if segments else None, reals(f32, hidden), reals(f32, hidden),
              ids(2) if chance() else None, ids(12) if chance(0.3) else None], n_out=3, epsilon=one_of(1e-12, 1e-5))


def activated():
    names = ('Relu', 'Tanh', 'Clip', 'Sigmoid', 'LeakyRelu', 'HardSigmoid')
    for _ in range(25):
        name = one_of(*names)
        values = {'LeakyRelu': [0.1], 'HardSigmoid': [0.3, 0.4], 'Clip': [-1.0, 2.0]}.get(name)
        maps, group = int(rng.integers(1, 5)), one_of(1, 2)
        x, w = reals(f32, 2, 4, 7, 6), reals(f32, maps * group, 4 // group, 3, 2)
        z = reals(f32, 2, maps * group, 5, 5) if chance(0.3) else None
        more = {'activation_params': values} if values else {}
        case('FusedConv', [x, w, reals(f32, maps * group) if chance() else None, z], group=group, activation=name, **more,
             constant=(1, 2) if chance() else ())
        m, n, k = (int(i) for i in rng.integers(1, 12, 3))
        ta, tb = int(chance()), int(chance())
        if name == 'Clip':
            continue
        more = dict(zip(('activation_alpha', 'activation_beta'), values or ()))
        case('FusedGemm', [reals(f32, *((k, m) if ta else (m, k))), reals(f32, *((n, k) if tb else (k, n))),
                           reals(f32, n) if chance() else None], transA=ta, transB=tb, alpha=0.5, beta=one_of(1.0, 2.0),
             activation=name, **more, constant=(1,) if chance() else ())


def rotary():
    for _ in range(25):
        batch, heads, length, half = (int(i) for i in rng.integers(1, 6, 4))
        part = half * 2 if chance() else 0
        size = part + 2 * int(rng.integers(0, 3)) if part else half * 2
        x = reals(f32, batch, heads, length, size) if chance() else reals(f32, batch, length, heads * size)
        positions = rng.integers(0, 12, (batch, length)) if chance() else np.asarray([int(rng.integers(0, 6))])
        more = {'num_heads': heads} if part else {}
        case('RotaryEmbedding', [x, positions, reals(f32, 12, half), reals(f32, 12, half)], interleaved=int(chance()),
             rotary_embedding_dim=part, **more)


def grouped():
    for _ in range(25):
        batch, kv, groups, half = (int(i) for i in rng.integers(1, 4, 4))
        size, rotary = 16 * half, int(chance())
        past = int(rng.integers(1, 6)) if chance() else 0
        queries = 1 if past else int(rng.integers(1, 6))
        total = past + queries
        lens = np.full(batch, total - 1, np.int32)
        if past:
            lens = rng.integers(0, past + 1, batch, dtype=np.int32)
            lens[0] = past
        pasts = [reals(f32, batch, kv, past, size) for _ in range(2)]
        caches = [reals(f32, 16, size // 2) for _ in range(2)] if rotary else []
        more = {'local_window_size': 3} if chance(0.3) else {}
        if chance(0.3):
            more['softcap'] = 2.0
        case('GroupQueryAttention',
             [reals(f32, batch, queries, kv * groups * size), reals(f32, batch, queries, kv * size),
              reals(f32, batch, queries, kv * size), *pasts, lens, np.asarray(total, np.int32), *caches], n_out=3,
             num_heads=kv * groups, kv_num_heads=kv, do_rotary=rotary, **more)


def cdist():
    for _ in range(12):
        t = one_of(f32, np.float64)
        a, b, k = (int(n) for n in rng.integers(1, 40, 3))
        case('CDist', [reals(t, a, k), reals(t, b, k)], tolerance=(1e-4, 1e-4),
             metric=one_of('euclidean', 'sqeuclidean'))


def tokenizer():
    texts = ['Hello World', 'I love  you !', '', ' ', 'a,b;c,,d', 'naïve Grüße', 'aab ab', 'x\ny', '日本 語', '1a22b333', 'abXabXab']
    ways = [dict(separators=s) for s in ([' '], [''], [',', ';'], ['[0-9]+', 'b'], ['x*'], ['^a', 'X$'], ['ü|é'], ['', 'b'])]
    ways += [dict(tokenexp=t) for t in ('[a-zA-Z0-9_]+', 'a*', 'a|aab', '.', '(?i)[a-h]+', '^ab', 'ab|bXab', '[^ ]+', r'\w\w+', 'é|本')]
    for way in ways:
        for shape in ((11,), (3, 2), (0,), (2, 0)):
            for mark, least in ((0, 1), (1, 1), (0, 2), (1, 3)):
                if least > 1 and way in (dict(separators=['']), dict(tokenexp='.')):
                    continue
                n = int(np.prod(shape))
                x = np.array([texts[k] for k in (range(n) if n == 11 else rng.integers(0, 11, n))], object).reshape(shape)
                case('Tokenizer', [x], tolerance=(0, 0), mark=mark, mincharnum=least, pad_value='#', **way)


ms.run(binary, unary, softmax, where, concat, means, products, lstm, fused, twins, attention, nbits, embed, activated, rotary, grouped,
       cdist, tokenizer)
