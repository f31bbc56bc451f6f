#!/usr/bin/env python3
"""Adagrad, Adam and Momentum over types, counts, groups and attributes; written out from ONNX's pseudo code."""
import itertools

import numpy as np
from onnx import TensorProto, helper

from one_node import Cases

DOMAIN = 'ai.onnx.preview.training'
F, D, I64 = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64
NP = {F: np.float32, D: np.float64}
rng = np.random.default_rng(23)
cases = Cases()
single = lambda v: float(np.float32(v))  # as the file has attributes


def adagrad(r, t, x, g, h, norm_coefficient=0.0, decay_factor=0.0, epsilon=1e-6):
    g = norm_coefficient * x + g
    h = h + g * g
    return x - r / (1 + t * decay_factor) * g / (np.sqrt(h) + epsilon), h


def adam(r, t, x, g, v, h, norm_coefficient=0.0, norm_coefficient_post=0.0, alpha=single(0.9), beta=single(0.999), epsilon=1e-6):
    g = norm_coefficient * x + g
    v = alpha * v + (1 - alpha) * g
    h = beta * h + (1 - beta) * g * g
    if t > 0:
        r = r * np.sqrt(1 - beta**t) / (1 - alpha**t)
    return (1 - norm_coefficient_post) * (x - r * v / (np.sqrt(h) + epsilon)), v, h


def momentum(r, t, x, g, v, norm_coefficient, alpha, beta, mode):
    g = norm_coefficient * x + g
    v = alpha * v + (beta if t > 0 else 1) * g
    return x - r * (g + alpha * v if mode == 'nesterov' else v), v


def add(op, inputs, outputs, says=None, skip=(), **attributes):
    """skip: outputs that the node leaves out."""
    names = {f'x{i}': v for i, v in enumerate(inputs)}
    made = {f'y{i}': v for i, v in enumerate(outputs) if i not in skip}
    node = helper.make_node(op, list(names), ['' if i in skip else f'y{i}' for i in range(len(outputs))], name='node', domain=DOMAIN, **attributes)
    tolerance = 3e-7 if any(t == F for t, v in outputs) else 1e-14
    cases.add(node, 1, names, made, says=says, domain=DOMAIN, tolerance=(tolerance, tolerance / 10))


METHODS = {
    'Adagrad': (adagrad, 3, [{}, dict(norm_coefficient=0.01, decay_factor=0.1, epsilon=1e-5)]),
    'Adam': (adam, 4, [{}, dict(norm_coefficient=0.01, norm_coefficient_post=0.02, alpha=0.95, beta=0.85, epsilon=1e-2)]),
    'Momentum': (momentum, 3, [dict(norm_coefficient=n, alpha=0.95, beta=0.3, mode=m) for n in (0.0, 0.01) for m in ('standard', 'nesterov')]),
}
SHAPES = [[(2, 3)], [()], [(0, 2)], [(3,), (2, 2), (1, 5)], [(9000,), (2,)]]


def group_inputs(groups, shapes, kinds):
    """All x, all gradients …, and what is accumulated is not negative."""
    return [(t, np.asarray(np.abs(v) if k > 1 else v).astype(NP[t])) for k in range(groups) for s, t in zip(shapes, kinds) for v in [rng.standard_normal(s)]]


for op, (step, groups, attribute_sets) in METHODS.items():
    for shapes, kinds, rate, count, given in itertools.product(SHAPES, ((F,), (D,), (F, D)), (F, D), (0, 1, 7, 100000), attribute_sets):
        kinds = [kinds[i % len(kinds)] for i in range(len(shapes))]
        tensors, n = group_inputs(groups, shapes, kinds), len(shapes)
        r, exact = NP[rate](0.1), {k: v if isinstance(v, str) else single(v) for k, v in given.items()}
        results = [step(float(r), count, *(tensors[k * n + i][1].astype(np.float64) for k in range(groups)), **{'epsilon': single(1e-6), **exact}
                        if op != 'Momentum' else exact) for i in range(n)]
        outputs = [(kinds[i], np.asarray(results[i][k]).astype(NP[kinds[i]])) for k in range(groups - 1) for i in range(n)]
        one = (1,) if count == 7 else ()
        inputs = [(rate, np.full(one, r)), (I64, np.full(one, count, np.int64)), *tensors]
        add(op, inputs, outputs, **given)
        if count == 1:
            add(op, inputs, outputs, skip=range(n), **given)
    x, given = (F, np.zeros(3, 'f')), attribute_sets[0]
    head = [(F, np.array(0.1, 'f')), (I64, np.array(1))]
    add(op, head + [x] * (groups + 1), [x] * (groups - 1), says=f'{groups + 1} inputs behind R and T: expected {groups}', **given)
    add(op, head + [x] * groups, [x] * groups, says=f'{groups} outputs: expected {groups - 1}', **given)
    add(op, head + [x] * (groups - 1) + [(F, np.zeros(4, 'f'))], [x] * (groups - 1), says='the tensor to optimize, input 2, is [3]', **given)
    add(op, head + [x] * (groups - 1) + [(D, np.zeros(3))], [x] * (groups - 1), says='the tensor to optimize, input 2, is float32', **given)
    add(op, [(F, np.zeros(2, 'f')), head[1]] + [x] * groups, [x] * (groups - 1), says='expected one element', **given)
add('Momentum', head + [x] * 3, [x] * 2, says='one of standard, nesterov', norm_coefficient=0.0, alpha=0.1, beta=0.1, mode='heavy')

cases.run()
