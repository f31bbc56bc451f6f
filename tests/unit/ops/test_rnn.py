#!/usr/bin/env python3
"""RNN, GRU, LSTM: every version and type; random choices of directions, activations, clip, peepholes, lengths, layouts and
absent inputs. What is expected comes from ONNX's equations, in double but for H and C, which have the type of the tensors."""
import numpy as np

from arrays import ArrayCases, allowed
from one_node import versions

rng = np.random.default_rng(11)
np.seterr(all="ignore")
cases = ArrayCases()
TOLERANCES = {'float16': (4e-3, 4e-3), 'bfloat16': (3e-2, 3e-2), 'float32': (2e-5, 2e-6), 'float64': (1e-11, 1e-12)}
GATES = {'RNN': 1, 'GRU': 3, 'LSTM': 4}
FUNCTIONS = {'RNN': 1, 'GRU': 2, 'LSTM': 3}
ALPHA = {'Affine': 1, 'LeakyRelu': 0.01, 'ThresholdedRelu': 1, 'ScaledTanh': 1, 'HardSigmoid': 0.2, 'Elu': 1}
BETA = {'Affine': 0, 'ScaledTanh': 1, 'HardSigmoid': 0.5}
ACTIVATIONS = {
    'Relu': lambda x, a, b: np.maximum(x, 0), 'Tanh': lambda x, a, b: np.tanh(x),
    'Sigmoid': lambda x, a, b: 1 / (1 + np.exp(-x)), 'Affine': lambda x, a, b: a * x + b,
    'LeakyRelu': lambda x, a, b: np.where(x >= 0, x, a * x), 'ThresholdedRelu': lambda x, a, b: np.where(x >= a, x, 0),
    'ScaledTanh': lambda x, a, b: a * np.tanh(b * x), 'HardSigmoid': lambda x, a, b: np.clip(a * x + b, 0, 1),
    'Elu': lambda x, a, b: np.where(x >= 0, x, a * np.expm1(x)), 'Softsign': lambda x, a, b: x / (1 + np.abs(x)),
    'Softplus': lambda x, a, b: np.logaddexp(0, x)}


def chance(p=0.5):
    return rng.random() < p


def one_of(*choices):
    return choices[int(rng.integers(len(choices)))]


def random(d, *shape):
    return (rng.standard_normal(shape) * 0.25).astype(np.float32).astype(d)


class Cell:
    """One direction of one operator."""

    def __init__(self, op, d, w, r, b, p, act, clip, couple, linear):
        self.op, self.d, self.couple, self.linear = op, d, couple, linear
        gates, hidden = GATES[op], r.shape[-1]
        self.w, self.r = (v.astype(np.float64).reshape(gates, hidden, -1) for v in (w, r))
        b = np.zeros(2 * gates * hidden) if b is None else b.astype(np.float64)
        self.wb, self.rb = b.reshape(2, gates, hidden)
        self.p = np.zeros((3, hidden)) if p is None else p.astype(np.float64).reshape(3, hidden)
        self.act = [lambda x, f=f: ACTIVATIONS[f[0]](np.clip(x, -clip, clip), f[1], f[2]) for f in act]

    def round(self, x):
        return x.astype(self.d).astype(np.float64)

    def gate(self, g, x, h):
        return x @ self.w[g].T + h @ self.r[g].T + self.wb[g] + self.rb[g]

    def step(self, x, h, c):
        f, g, last = (self.act + [None, None])[:3]
        if self.op == 'RNN':
            return self.round(f(self.gate(0, x, h))), c
        if self.op == 'GRU':
            z, r = f(self.gate(0, x, h)), f(self.gate(1, x, h))
            if self.linear:
                n = g(x @ self.w[2].T + r * (h @ self.r[2].T + self.rb[2]) + self.wb[2])
            else:
                n = g(self.gate(2, x, r * h))
            return self.round((1 - z) * n + z * h), c
        i = f(self.gate(0, x, h) + self.p[0] * c)
        forget = 1 - i if self.couple else f(self.gate(2, x, h) + self.p[2] * c)
        c = self.round(forget * c + i * g(self.gate(3, x, h)))
        o = f(self.gate(1, x, h) + self.p[1] * c)
        return self.round(o * last(c)), c

    def run(self, x, h, c, back):
        """x [length, input] of one sequence."""
        y = np.zeros((len(x), h.shape[-1]))
        for t in range(len(x))[::-1] if back else range(len(x)):
            h, c = self.step(x[t], h, c)
            y[t] = h
        return y, h, c


def activations(op, directions, attributes):
    """Chosen functions with their scales, and what says so in the node."""
    names = {'RNN': ['Tanh'], 'GRU': ['Sigmoid', 'Tanh'], 'LSTM': ['Sigmoid', 'Tanh', 'Tanh']}[op] * directions
    if chance(0.7):
        names = [one_of(*ACTIVATIONS) for _ in names]
        if chance(0.2):
            names = [one_of('LeakyRelu', 'Tanh', 'HardSigmoid') for _ in names]
        attributes['activations'] = names
    alpha, beta = [ALPHA.get(n, 0) for n in names], [BETA.get(n, 0) for n in names]
    for name, values, takers in (('activation_alpha', alpha, ALPHA), ('activation_beta', beta, BETA)):
        takes = [k for k, n in enumerate(names) if n in takers]
        how = one_of('none', 'taken', 'some', 'each')
        given = [round(float(v), 3) for v in rng.random(len(names)) + 0.25]
        if how == 'each':
            attributes[name] = given
            for k in takes:
                values[k] = given[k]
        elif how != 'none' and takes:
            count = len(takes) if how == 'taken' else int(rng.integers(1, len(takes) + 1))
            if count == len(names) and len(takes) < len(names):
                continue
            attributes[name] = given[:count]
            for k, v in zip(takes, given[:count]):
                values[k] = v
    wide = [(n, float(np.float32(a)), float(np.float32(b))) for n, a, b in zip(names, alpha, beta)]
    per = FUNCTIONS[op]
    return [wide[:per], wide[per:]]


def one_case(op, schema, d):
    version, gates = schema.since_version, GATES[op]
    length, batch, size, hidden = (int(v) for v in rng.integers(1, [7, 20, 9, 20]))
    if chance(0.1):
        length, batch, hidden = one_of((150, 1, 5), (3, 1, 70), (0, 2, 3), (2, 0, 3))
    direction = one_of('forward', 'reverse', 'bidirectional')
    directions = 2 if direction == 'bidirectional' else 1
    attributes = {'hidden_size': hidden} if chance() else {}
    if direction != 'forward' or chance(0.3):
        attributes['direction'] = direction
    act = activations(op, directions, attributes)
    clip = np.inf
    if chance(0.3):
        clip = attributes['clip'] = float(np.float32(one_of(0.3, 1.0, 5.0)))
    layout = int(version >= 14 and chance(0.4))
    if layout:
        attributes['layout'] = 1
    if version < 7 and chance():
        attributes['output_sequence'] = 1
    linear = op == 'GRU' and version >= 3 and chance()
    couple = op == 'LSTM' and chance(0.3)
    if linear:
        attributes['linear_before_reset'] = 1
    if couple:
        attributes['input_forget'] = 1
    x, w = random(d, length, batch, size), random(d, directions, gates * hidden, size)
    r = random(d, directions, gates * hidden, hidden)
    b = random(d, directions, 2 * gates * hidden) if chance(0.7) else None
    lengths = rng.integers(0, length + 1, batch).astype(np.int32) if chance(0.4) else None
    h0 = random(d, directions, batch, hidden) if chance() else None
    c0 = random(d, directions, batch, hidden) if op == 'LSTM' and chance() else None
    p = random(d, directions, 3 * hidden) if op == 'LSTM' and chance() else None

    y = np.zeros((length, directions, batch, hidden))
    h, c = np.zeros((directions, batch, hidden)), np.zeros((directions, batch, hidden))
    for k in range(directions):
        cell = Cell(op, d, w[k], r[k], None if b is None else b[k], None if p is None else p[k], act[k], clip, couple,
                    linear)
        for n in range(batch):
            end = length if lengths is None else lengths[n]
            first = [np.zeros(hidden) if s is None else s[k, n].astype(np.float64) for s in (h0, c0)]
            back = direction == 'reverse' or k == 1
            y[:end, k, n], h[k, n], c[k, n] = cell.run(x[:end, n].astype(np.float64), *first, back)

    def turned(v):
        return None if v is None else np.ascontiguousarray(v.swapaxes(0, 1)) if layout else v

    inputs = [turned(x), w, r, b, lengths, turned(h0)] + ([turned(c0), p] if op == 'LSTM' else [])
    outputs = [(y.transpose(2, 0, 1, 3) if layout else y).astype(d), turned(h).astype(d)]
    outputs += [turned(c).astype(d)] if op == 'LSTM' else []
    constant = [k for k in (1, 2, 3) if inputs[k] is not None] if chance(0.7) else []
    while inputs[-1] is None:
        inputs.pop()
    cases.node(op, version, inputs, outputs, TOLERANCES[d.name], constant=constant, **attributes)


for op in GATES:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for _ in range(25):
                one_case(op, schema, d)

F32 = np.dtype(np.float32)
X, W, R = random(F32, 2, 3, 4), random(F32, 1, 5, 4), random(F32, 1, 5, 5)
Y = [np.zeros((2, 1, 3, 5), np.float32)]
REFUSED = [
    ([X, W, R, None, np.array([1, 3, 0], np.int32)], {}, 'sequence_lens[1] = 3 outside [0,2]'),
    ([X, random(F32, 1, 5, 3), R], {}, "dim 2 is 3, input_size is 4"),
    ([X, W, random(F32, 1, 6, 5)], {}, 'dim 1 is 6, 1 * hidden_size is 5'),
    ([X, W, R], {'direction': 'bidirectional'}, 'dim 0 is 1, num_directions is 2'),
    ([X, W, R], {'activations': ['Swish']}, 'attribute activations: "Swish" unknown'),
    ([X, W, R], {'activations': ['Tanh'] * 3}, 'attribute activations has 3 values, needs 1'),
    ([X, W, R], {'activation_alpha': [1.0, 2.0]}, 'attribute activation_alpha has 2 values'),
    ([X, W, R], {'hidden_size': 4}, 'hidden_size is 4'),
    ([X, W, R], {'direction': 'sideways'}, 'sideways'),
]
for inputs, attributes, says in REFUSED:
    cases.node('RNN', 22, inputs, Y, says=says, **attributes)
cases.run()
