"""Attention in float64, after the text of its newest version: a judge (judges.py) of what ReferenceEvaluator gets wrong."""
import math

import numpy as np

import evaluate


def heads_of(x, heads):
    """[batch, heads, length, size], whichever of the two forms x has."""
    wide = np.asarray(x, np.float64)
    return wide if wide.ndim == 4 else wide.reshape(*wide.shape[:2], heads, -1).swapaxes(1, 2)


def biases(version, attrs, shape, mask, past, valid):
    """What is added to the scores of this shape; -inf where a key is not attended. past: keys before the queries, by batch."""
    bias, (queries, keys) = np.zeros(shape), shape[-2:]
    if attrs.get('is_causal', 0):
        ahead = np.arange(keys) > np.arange(queries)[:, None] + past[:, None, None, None]
        bias = np.where(ahead, -np.inf, bias)
    if mask is not None:
        added = np.where(mask, 0, -np.inf) if mask.dtype == bool else np.asarray(mask, np.float64)
        lacks = keys - added.shape[-1] if version >= 24 else 0
        bias = bias + np.pad(added, [(0, 0)] * (added.ndim - 1) + [(0, lacks)], constant_values=-np.inf)
    if valid is not None:
        bias = np.where(np.arange(keys) >= valid[:, None, None, None], -np.inf, bias)
    return bias


def attend(version, attrs, q, k, v, mask=None, past_k=None, past_v=None, valid=None):
    narrow = np.asarray(q).ndim == 3
    q, k, v = heads_of(q, attrs.get('q_num_heads')), *(heads_of(x, attrs.get('kv_num_heads')) for x in (k, v))
    past = np.zeros(len(q), np.int64)
    if past_k is not None:
        k, v, past = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2), past + past_k.shape[2]
    elif valid is not None:
        past = valid - q.shape[2]
    k, v = (np.repeat(np.asarray(x, np.float64), q.shape[1] // x.shape[1], 1) for x in (k, v))
    scores = q @ k.swapaxes(2, 3) * attrs.get('scale', 1 / math.sqrt(q.shape[3]))
    cap = attrs.get('softcap', 0)
    scores = cap * np.tanh(scores / cap) if cap else scores
    bias = biases(version, attrs, scores.shape, mask, past, valid)
    scores = scores + bias
    e = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
    p = np.where(np.all(bias == -np.inf, -1, keepdims=True), 0, e / e.sum(-1, keepdims=True))
    y = np.where(np.all(bias == -np.inf, -1, keepdims=True), 0, p @ v)
    return y.swapaxes(1, 2).reshape(y.shape[0], y.shape[2], -1) if narrow else y


def attention(model, inputs, want):
    """Y alone. Near to it are values within 4 units in the last place of the largest, or as near as ReferenceEvaluator's."""
    node = model.graph.node[0]
    attrs = {a.name: a for a in node.attribute}
    if {'left_window_size', 'right_window_size'} & set(attrs):
        return NotImplementedError('windows')
    attrs = {name: evaluate.onnx.helper.get_attribute_value(a) for name, a in attrs.items()}
    with np.errstate(all='ignore'):
        truth = attend(evaluate.version_of(model), attrs, *(inputs.get(n) if n else None for n in node.input))

    def near(got):
        y, w = got[0], want[0]
        right = truth.astype(y.dtype)
        if y.shape != right.shape or not evaluate.value_differs(y, right):
            return evaluate.value_differs(y, right)
        t, g, r = (np.asarray(x, np.float64) for x in (right, y, w))
        kinds = (g == t) | (np.isnan(g) & np.isnan(t)) | (np.isfinite(g) & np.isfinite(t))
        numbers = np.isfinite(g) & np.isfinite(t)
        far = np.max(np.abs(g - truth), where=numbers, initial=0)
        theirs = np.max(np.abs(r - truth), where=numbers & np.isfinite(r), initial=0)
        unit = float(evaluate.epsilon(y.dtype)) * np.max(np.abs(truth), where=numbers, initial=0)
        return None if kinds.all() and far <= max(4 * unit, 2 * theirs) else f'{evaluate.brief(y)}, wanted {evaluate.brief(right)}'
    return near
