#!/usr/bin/env python3
"""Attention, RotaryEmbedding, LinearAttention, FlexAttention: every version and pair of types; random choices of heads,
masks, pasts, windows, paddings, outputs. What is expected comes from the formulas in double; what comes after the scores
of narrow types is compared within their rounding."""
import numpy as np
from onnx import TensorProto, helper

from arrays import ArrayCases, allowed, element_type
from one_node import types, versions

rng = np.random.default_rng(13)
np.seterr(all='ignore')
cases = ArrayCases()
TOLERANCES = {'float16': (8e-3, 8e-3), 'bfloat16': (6e-2, 6e-2), 'float32': (2e-5, 2e-6), 'float64': (1e-11, 1e-12)}
F16, F32, F64 = (np.dtype(t) for t in (np.float16, np.float32, np.float64))


def chance(p=0.5):
    return rng.random() < p


def one_of(*choices):
    return choices[int(rng.integers(len(choices)))]


def random(d, *shape):
    return rng.standard_normal(shape).astype(np.float32).astype(d)


def looser(*dtypes):
    return max((TOLERANCES[d.name] for d in dtypes), key=lambda t: t[0])


def packed(x):
    """[batch, heads, rows, size] as [batch, rows, heads * size]"""
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1)


# ---- Attention ----

def bias_of(mask, padded, valid, causal, left, right, past, shape):
    batch, heads, queries, total = shape
    bias = np.zeros(shape)
    if mask is not None:
        m = np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask.astype(np.float64)
        if padded and m.ndim and m.shape[-1] < total:
            m = np.pad(m, [(0, 0)] * (m.ndim - 1) + [(0, total - m.shape[-1])], constant_values=-np.inf)
        bias = bias + m
    offset = np.full(batch, past) if valid is None else valid - queries
    at = offset[:, None, None, None] + np.arange(queries)[:, None]
    key = np.arange(total)
    seen = np.ones((batch, 1, queries, total), bool)
    if causal:
        seen &= key <= at
    if left >= 0:
        seen &= key >= at - left
    if right >= 0:
        seen &= key <= at + right
    if valid is not None:
        seen &= key < valid[:, None, None, None]
    return bias + np.where(seen, 0, -np.inf)


def attend(q, k, v, bias, scale, cap):
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x.astype(np.float64), group, 1) for x in (k, v))
    raw = q.astype(np.float64) @ k.swapaxes(2, 3) * scale
    capped = cap * np.tanh(raw / cap) if cap else raw
    biased = capped + bias
    e = np.exp(biased - biased.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    p = np.where((bias == -np.inf).all(-1, keepdims=True), 0, p)
    return p @ v, [raw, capped, biased, p]


def random_mask(schema, d, padded, shape):
    total = shape[-1]
    dims = [one_of(n, 1) for n in shape[:-1]] + [total]
    dims = dims[int(rng.integers(0, 4)):]
    if total > 1 and chance(0.3):
        dims[-1] = int(rng.integers(1, total)) if padded else 1
    kind = one_of('bool', 'bool', 'float', 'float', 'other')
    if kind == 'bool':
        return rng.random(dims) > 0.3
    if kind == 'float':
        m = random(d, *dims)
        m[rng.random(dims) < 0.2] = -np.inf
        return m
    t = helper.tensor_dtype_to_np_dtype(one_of(*types(schema, 'U')))
    return rng.integers(0, 3, dims).astype(t)


def attention_case(schema, d, dv):
    version = schema.since_version
    batch, kv_heads, queries, keys, size, v_size = (int(x) for x in rng.integers(1, [4, 4, 20, 24, 20, 24]))
    if chance(0.15):
        queries, keys, size, v_size = one_of((1, 130, 64, 64), (70, 70, 64, 80), (3, 300, 96, 33), (1, 5, 130, 1))
    heads = kv_heads * one_of(1, 1, 2, 3)
    past = int(rng.integers(1, 9)) if chance(0.3) else 0
    valid = rng.integers(0, keys + 1, batch) if version >= 24 and not past and chance(0.3) else None
    total = past + keys
    q, k, v = random(d, batch, heads, queries, size), random(d, batch, kv_heads, keys, size), random(
        dv, batch, kv_heads, keys, v_size)
    k_past, v_past = random(d, batch, kv_heads, past, size), random(dv, batch, kv_heads, past, v_size)
    mask = random_mask(schema, d, version >= 24, (batch, heads, queries, total)) if chance() else None
    flat, attributes = chance(0.4), {}
    if flat:
        attributes.update(q_num_heads=heads, kv_num_heads=kv_heads)
    scale, cap, causal, left, right = 1 / np.sqrt(size), 0, chance(0.4), -1, -1
    if chance(0.3):
        scale = attributes['scale'] = float(np.float32(one_of(0.1, 0.5)))
    if chance(0.3):
        cap = attributes['softcap'] = float(one_of(1, 2, 0.5))
    if causal:
        attributes['is_causal'] = 1
    if version >= 25 and chance():
        left, right = (int(x) for x in rng.integers(-1, 6, 2))
        attributes.update(left_window_size=left, right_window_size=right)
    precision = d
    if chance(0.3):
        precision = one_of(F32, F64) if d.itemsize == 2 else one_of(*[F16, F32, F64])
        attributes['softmax_precision'] = element_type(np.zeros(0, precision))
    stage = int(rng.integers(0, 4))
    if stage or chance():
        attributes['qk_matmul_output_mode'] = stage
    bias = bias_of(mask, version >= 24, valid, causal, left, right, past, (batch, heads, queries, total))
    whole = [np.concatenate(x, 2) for x in ((k_past, k), (v_past, v))]
    y, scores = attend(q, *whole, bias, scale, cap)
    inputs = [q, k, v, mask] + ([k_past, v_past] if past else [None, None]) + [valid]
    if flat:
        inputs[:3] = [packed(x) for x in inputs[:3]]
    while inputs[-1] is None:
        inputs.pop()
    outputs = [(packed(y) if flat else y).astype(d)] + whole + [scores[stage].astype(d)]
    if valid is not None:
        outputs = outputs[:1]
    cases.node('Attention', version, inputs, outputs[:one_of(1, len(outputs))], looser(d, precision), **attributes)


for schema in versions('Attention'):
    for d in allowed(schema, schema.inputs[0]):
        for dv in allowed(schema, schema.inputs[2]):
            for _ in range(60 if d == dv == F32 else 12):
                attention_case(schema, d, dv)

# NaN and infinity among what is not seen: a sum with them is not finite, a skipped sum would be.
q, k, v = (random(F32, 1, 2, 8, 16) for _ in range(3))
bad = v.copy()
bad[:, :, 6] = np.inf
y = attend(q, k, v, bias_of(None, False, None, True, -1, -1, 0, (1, 2, 8, 8)), 0.25, 0)[0]
y[:, :, :6] = np.nan
y[:, :, 6:] = np.inf
cases.node('Attention', 24, [q, k, bad], [y.astype(F32)], (1e-5, 1e-6), name='inf', is_causal=1)
# A row that is masked as a whole is zero, whatever the values are that it does not see.
mask = np.zeros((8, 8), bool)
mask[1::2] = rng.random((4, 8)) < 0.5
mask[1::2, 6] = True
y = np.where(mask.any(-1, keepdims=True), np.inf, np.zeros((1, 2, 8, 16), F32)).astype(F32)
cases.node('Attention', 24, [q, k, bad, mask], [y], name='masked')
cases.node('Attention', 24, [q[:, :, :2], k, np.where(np.isinf(bad), np.nan, bad), mask[:2]],
           [np.where(np.isinf(y[:, :, :2]), np.nan, y[:, :, :2])], name='masked_nan')


Q = np.zeros((2, 4, 3, 8), np.float32)
K = np.zeros((2, 2, 5, 8), np.float32)
P = np.zeros((2, 2, 1, 8), np.float32)
REFUSED = [
    (24, [Q, K, K, None, None, None, np.array([3, 6])], {}, 'nonpad_kv_seqlen[1] = 6 outside [0,5]'),
    (24, [Q, K, K, None, P], {}, 'past_key and past_value must be given together'),
    (24, [Q, K, K, None, P, P, np.array([3, 5])], {}, 'nonpad_kv_seqlen must not be given'),
    (24, [Q, K[..., :7].copy(), K], {}, 'dim 3 is 7, head_size is 8'),
    (24, [Q, K[:1].copy(), K], {}, 'dim 0 is 1, batch_size is 2'),
    (24, [Q[:, :3].copy(), K, K], {}, 'q_num_heads = 3 is no multiple of kv_num_heads = 2'),
    (24, [packed(Q), packed(K), packed(K)], {}, 'need attributes q_num_heads and kv_num_heads'),
    (24, [Q, K, K, np.ones((4, 5), bool)], {}, 'does not broadcast to [2,4,3,5]: axis -2 has 4'),
    (23, [Q, K, K, np.ones((3, 4), bool)], {}, 'does not broadcast to [2,4,3,5]: axis -1 has 4'),
    (24, [Q, K, K], {'softcap': np.nan}, 'attribute softcap is NaN'),
    (24, [Q, K, K], {'scale': np.nan}, 'attribute scale is NaN'),
    (23, [Q, K, K], {'softmax_precision': 7}, 'attribute softmax_precision = 7'),
    (23, [Q, K, K], {'qk_matmul_output_mode': 4}, 'attribute qk_matmul_output_mode = 4 is outside [0,3]'),
]
for version, inputs, attributes, says in REFUSED:
    cases.node('Attention', version, inputs, [Q], says=says, **attributes)

# ---- RotaryEmbedding ----

def rotate(x, cos, sin, rotary, interleaved):
    """x [batch, heads, length, size], cos and sin [batch, length, rotary / 2]"""
    x, y = x.astype(np.float64), x.astype(np.float64)
    cos, sin = (c.astype(np.float64)[:, None] for c in (cos, sin))
    a = np.s_[..., 0:rotary:2] if interleaved else np.s_[..., :rotary // 2]
    b = np.s_[..., 1:rotary:2] if interleaved else np.s_[..., rotary // 2:rotary]
    y[a], y[b] = cos * x[a] - sin * x[b], sin * x[a] + cos * x[b]
    return y


for schema in versions('RotaryEmbedding'):
    for d in allowed(schema, schema.inputs[0]):
        for _ in range(20):
            batch, heads, length, half = (int(n) for n in rng.integers(1, [4, 4, 9, 20]))
            size, rows = 2 * half, int(rng.integers(1, 30))
            rotary = 2 * int(rng.integers(1, half + 1)) if chance() else size
            x = random(d, batch, heads, length, size)
            placed, flat, interleaved = chance(), chance(), chance()
            positions = rng.integers(0, rows, (batch, length)) if placed else None
            caches = [random(d, rows, rotary // 2) if placed else random(d, batch, length, rotary // 2) for _ in range(2)]
            angles = [c[positions] if placed else c for c in caches]
            y = rotate(x, *angles, rotary, interleaved).astype(d)
            attributes = {k: v for k, v in (('interleaved', int(interleaved)), ('rotary_embedding_dim', rotary % size)) if v}
            if flat:
                x, y, attributes['num_heads'] = packed(x), packed(y), heads
            cases.node('RotaryEmbedding', schema.since_version, [x, *caches] + ([positions] if placed else []), [y],
                       TOLERANCES[d.name], **attributes)

X, C = np.zeros((2, 3, 4, 6), np.float32), np.zeros((5, 3), np.float32)
for inputs, attributes, says in [
        ([X, C, C, np.array([[0, 1, 2, 3], [4, 3, 5, 0]])], {}, 'position_ids[1,2]=5 outside cache of 5'),
        ([X, C, C, np.array([[0, 1, 2, 3], [-1, 3, 4, 0]])], {}, 'position_ids[1,0]=-1 outside cache of 5'),
        ([X, C[:0], C[:0], np.zeros((2, 4), np.int64)], {}, 'has no rows for position_ids'),
        ([X, C, C], {}, 'expected rank 3, got rank 2'),
        ([X, C, C, np.zeros((2, 4), np.int64)], {'rotary_embedding_dim': 4}, 'dim 1 is 3, half of the rotated elements is 2'),
        ([packed(X), C, C, np.zeros((2, 4), np.int64)], {}, 'needs attribute num_heads'),
        ([X, C, C, np.zeros((2, 4), np.int64)], {'rotary_embedding_dim': 8}, 'is larger than a head: 6')]:
    cases.node('RotaryEmbedding', 23, inputs, [X], says=says, **attributes)

# ---- LinearAttention ----

def linear(q, k, v, past, decay, beta, scale):
    """[batch, heads, length, size] each; decay [..., k_size or 1], beta [..., 1]"""
    group, s = q.shape[1] // k.shape[1], past.astype(np.float64)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    y = np.zeros(q.shape[:3] + v.shape[3:])
    for t in range(q.shape[2]):
        if decay is not None:
            s = s * np.exp(decay[:, :, t].astype(np.float64))[..., None]
        value = v[:, :, t]
        if beta is not None:
            value = beta[:, :, t].astype(np.float64) * (value - np.einsum('bhdm,bhd->bhm', s, k[:, :, t]))
        s = s + k[:, :, t, :, None] * value[:, :, None]
        y[:, :, t] = scale * np.einsum('bhd,bhdm->bhm', q[:, :, t], np.repeat(s, group, 1))
    return y, s


for schema in versions('LinearAttention'):
    for d in allowed(schema, schema.inputs[0]):
        for state in allowed(schema, schema.inputs[3]):
            for _ in range(10):
                batch, kv_heads, length, k_size, v_size = (int(n) for n in rng.integers(1, [3, 4, 7, 9, 9]))
                heads, rule = kv_heads * one_of(1, 2, 3), one_of('linear', 'gated', 'delta', 'gated_delta')
                q, k = random(d, batch, heads, length, k_size), random(d, batch, kv_heads, length, k_size)
                k = (k.astype(np.float64) / np.linalg.norm(k.astype(np.float64), axis=-1, keepdims=True)).astype(d)
                v = random(d, batch, kv_heads, length, v_size)
                gated, delta = 'gated' in rule, 'delta' in rule
                past = random(state, batch, kv_heads, k_size, v_size) if chance(0.7) else None
                decay = (-np.abs(random(F32, batch, kv_heads, length, one_of(1, k_size)))).astype(d) if gated else None
                beta = rng.random((batch, one_of(1, kv_heads), length, 1)).astype(np.float32).astype(d) if delta else None
                attributes = {'scale': 0.5} if chance(0.3) else {}
                scale = attributes.get('scale', 1 / np.sqrt(k_size))
                start = np.zeros((batch, kv_heads, k_size, v_size)) if past is None else past
                y, s = linear(q, k, v, start, decay, beta, scale)
                inputs = [packed(q), packed(k), packed(v), past] + [None if x is None else packed(x) for x in (decay, beta)]
                while inputs[-1] is None:
                    inputs.pop()
                if rule != 'gated_delta' or chance():
                    attributes['update_rule'] = rule
                made = state if past is not None else d
                cases.node('LinearAttention', schema.since_version, inputs, [packed(y).astype(d), s.astype(made)],
                           looser(d, made), q_num_heads=heads, kv_num_heads=kv_heads, **attributes)
L = np.zeros((1, 2, 4), np.float32)
for inputs, attributes, says in [
        ([L, L, L], {'update_rule': 'gated'}, "input 4 'decay' is missing, which the update_rule needs"),
        ([L, L, L, None, L], {'update_rule': 'linear'}, "input 4 'decay' is given, which the update_rule does not have"),
        ([L, L, L, None, L, L], {'q_num_heads': 3}, 'q_num_heads = 3 must be a positive multiple of kv_num_heads = 2')]:
    cases.node('LinearAttention', 27, inputs, [L, np.zeros((1, 2, 2, 2), np.float32)], says=says,
               **{'q_num_heads': 2, 'kv_num_heads': 2, **attributes})

# ---- FlexAttention ----

def modifier(name, t, ops):
    """A subgraph x → … → y of (operator, other input or None)."""
    nodes, inits, at = [], [], 'x'
    for i, (op, other) in enumerate(ops):
        out = 'y' if i == len(ops) - 1 else f't{i}'
        if other is not None:
            inits.append(helper.make_tensor(f'c{i}', t, (), [other]))
        nodes.append(helper.make_node(op, [at] + ([f'c{i}'] if other is not None else []), [out]))
        at = out
    value = [helper.make_tensor_value_info(n, t, [None] * 4) for n in 'xy']
    return helper.make_graph(nodes, name, value[:1], value[1:], inits)


for schema in versions('FlexAttention', 'ai.onnx.preview'):
    for d in allowed(schema, schema.inputs[0]):
        for _ in range(12):
            batch, kv_heads, queries, keys, size, v_size = (int(x) for x in rng.integers(1, [3, 4, 20, 24, 20, 24]))
            heads = kv_heads * one_of(1, 2)
            q, k, v = random(d, batch, heads, queries, size), random(d, batch, kv_heads, keys, size), random(
                d, batch, kv_heads, keys, v_size)
            precision, attributes, scale = F64 if d == F64 else F32, {}, 1 / np.sqrt(size)
            if chance(0.3):
                precision = one_of(F16, F32, F64)
                attributes['softmax_precision'] = element_type(np.zeros(0, precision))
            t = element_type(np.zeros(0, precision))
            if chance(0.3):
                scale = attributes['scale'] = 0.25
            scores = q.astype(np.float64) @ np.repeat(k.astype(np.float64), heads // kv_heads, 1).swapaxes(2, 3) * scale
            if chance():
                attributes['score_mod'] = modifier('score', t, [('Mul', 0.5), ('Tanh', None), ('Add', 1.0)])
                scores = np.tanh(scores * 0.5) + 1
            e = np.exp(scores - scores.max(-1, keepdims=True))
            p = e / e.sum(-1, keepdims=True)
            if chance():
                attributes['prob_mod'] = modifier('prob', t, one_of([('Mul', 2.0)], [('Mul', 2.0), ('Identity', None)]))
                p = p * 2
            y = p @ np.repeat(v.astype(np.float64), heads // kv_heads, 1)
            model = helper.make_node('FlexAttention', ['q', 'k', 'v'], ['y'], domain='ai.onnx.preview', **attributes)
            code = element_type(q)
            cases.add(model, 1, {'q': (code, q), 'k': (code, k), 'v': (code, v)}, {'y': (code, y.astype(d))},
                      tolerance=looser(d, precision), domain='ai.onnx.preview')
cases.run()
