#!/usr/bin/env python3
"""Random operators: with a seed, NumPy's legacy stream number by number; without one, the distribution that is promised."""
import os
import subprocess
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

from one_node import BUILD, Cases, random_tensor, types, versions

F = TensorProto.FLOAT
FLOAT_NAMES = {TensorProto.FLOAT16: 'f16', TensorProto.BFLOAT16: 'bf16', F: 'f32', TensorProto.DOUBLE: 'f64'}
rng = np.random.default_rng(5)
cases = Cases()


def dtype(t):
    return helper.tensor_dtype_to_np_dtype(t)


def draw(numbers, d, scale, offset):
    """Each operation rounded to the type."""
    x = np.asarray(numbers).astype(d)
    wide = lambda v: np.asarray(v, np.float64)
    x = (wide(x) * wide(np.float64(scale).astype(d))).astype(d)
    return (wide(x) + wide(np.float64(offset).astype(d))).astype(d)


def add(op, opset, inputs, output, says=None, tolerance=(0, 0), **attributes):
    names = {f'x{i}': v for i, v in enumerate(inputs)}
    node = helper.make_node(op, list(names), ['y'], name='node', **attributes)
    cases.add(node, opset, names, {'y': output}, says=says, tolerance=tolerance)


# ---- with a seed ----

f32 = lambda v: float(np.float32(v))
SEEDS = [(0.0, 0), (42.0, 42), (7.9, 7), (16777216.0, 16777216)]
SHAPES = [[5], [2, 3, 4], [1], [0, 3], [1000]]
ULP = {'f16': 0, 'bf16': 0, 'f32': 0, 'f64': 4e-16}  # log is the C library's in NumPy

for like in '', 'Like':
    for schema in versions('RandomNormal' + like):
        v = schema.since_version
        for t in types(schema, 'T2' if like else 'T'):
            for seed, whole in SEEDS:
                for shape in SHAPES:
                    state = lambda: np.random.RandomState(whole)
                    x = [(F, np.zeros(shape, 'f'))] if like else []
                    where = {} if like else {'shape': shape}
                    for mean, scale in ((0.0, 1.0), (-1.3, 0.37)):
                        y = draw(state().randn(*shape), dtype(t), f32(scale), f32(mean))
                        tolerance = (ULP[FLOAT_NAMES[t]], 2 * ULP[FLOAT_NAMES[t]])
                        add('RandomNormal' + like, v, x, (t, y), tolerance=tolerance, dtype=t, seed=seed, mean=mean, scale=scale, **where)
                    for low, high in ((0.0, 1.0), (-2.7, 1.9)):
                        y = draw(state().rand(*shape), dtype(t), f32(high) - f32(low), f32(low))
                        add('RandomUniform' + like, v, x, (t, y), dtype=t, seed=seed, low=low, high=high, **where)
        if like:
            for t in types(schema, 'T1'):
                x = [(t, random_tensor(rng, t, 4, 3))]
                y = np.random.RandomState(3).rand(4, 3)
                ok = t in FLOAT_NAMES
                out = (t, y.astype(dtype(t))) if ok else (F, y.astype('f'))
                add('RandomUniformLike', v, x, out, seed=3.0, says=None if ok else 'attribute dtype is absent')
                add('RandomUniformLike', v, x, (F, y.astype('f')), seed=3.0, dtype=F)
add('RandomUniform', 1, [], (F, np.zeros(2, 'f')), shape=[2, -1], says='attribute shape has -1 at position 1')
add('RandomUniform', 1, [], (F, np.zeros(2, 'f')), shape=[2], dtype=TensorProto.INT32, says='attribute dtype = int32')

for schema in versions('Bernoulli'):
    v = schema.since_version
    for t in types(schema, 'T1'):
        p = np.concatenate([rng.random(200), [0, 1, 0.5, 0, 1]]).astype(dtype(t))
        for seed, whole in SEEDS:
            y = np.random.RandomState(whole).binomial(1, p.astype(np.float64))
            add('Bernoulli', v, [(t, p)], (t, y.astype(dtype(t))), seed=seed)
            for to in types(schema, 'T2'):
                add('Bernoulli', v, [(t, p.reshape(5, 41))], (to, y.astype(dtype(to)).reshape(5, 41)), seed=seed, dtype=to)
    for bad in 1.5, -0.1, np.nan:
        add('Bernoulli', v, [(F, np.array([0.5, bad], 'f'))], (F, np.zeros(2, 'f')), says='at element 1 is outside [0,1]')
add('Bernoulli', 15, [(F, np.zeros((0, 2), 'f'))], (F, np.zeros((0, 2), 'f')))


def choose(x, samples, seed):
    """Inversion of the running sum of probabilities."""
    state, rows = np.random.RandomState(seed), []
    for row in x.astype(np.float64):
        sums = np.cumsum(np.exp(row - row.max()))
        rows.append(np.searchsorted(sums, state.random_sample(samples) * sums[-1], side='right'))
    return np.array(rows).reshape(len(x), samples)


for schema in versions('Multinomial'):
    v = schema.since_version
    for t in types(schema, 'T1'):
        for shape in ((1, 1), (3, 7), (2, 600)):
            x = (rng.standard_normal(shape) * 2).astype(dtype(t))
            if shape[1] > 1:
                x[0, 1] = -np.inf
            for to in types(schema, 'T2'):
                for samples in 1, 50:
                    add('Multinomial', v, [(t, x)], (to, choose(x, samples, 9).astype(dtype(to))), seed=9.0, dtype=to, sample_size=samples)
    x = np.zeros((2, 3), 'f')
    add('Multinomial', v, [(F, x)], (TensorProto.INT32, choose(x, 1, 4).astype(np.int32)), seed=4.0)
    x[1] = -np.inf
    out = (TensorProto.INT32, np.zeros((2, 1), np.int32))
    add('Multinomial', v, [(F, x)], out, says='row 1 has no class')
    add('Multinomial', v, [(F, np.full((1, 2), np.nan, 'f'))], (TensorProto.INT32, np.zeros((1, 1), np.int32)), says='no logarithm')
    add('Multinomial', v, [(F, np.zeros((2, 0), 'f'))], out, says='has no classes')
    add('Multinomial', v, [(F, np.zeros(3, 'f'))], out, says='expected rank 2, got rank 1')

# ---- without a seed: moments and frequencies, each within 5 standard deviations ----

N = 200000
checks, failed = 0, 0


def sample(op, inputs=None, t=F, **attributes):
    inputs = inputs or {}
    node = helper.make_node(op, list(inputs), ['y'], **attributes)
    infos = [helper.make_tensor_value_info(k, F, x.shape) for k, x in inputs.items()]
    graph = helper.make_graph([node], 'one', infos, [helper.make_tensor_value_info('y', t, None)])
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 22)], ir_version=10), path('m.onnx'))
        for k, x in inputs.items():
            np.save(path(k + '.npy'), x)
        subprocess.run([os.path.join(BUILD, 'minirt'), 'run', '-q', path('m.onnx'), *(path(k + '.npy') for k in inputs), '-o', path('y.npy')],
                       check=True, stdout=subprocess.DEVNULL)
        return np.load(path('y.npy')).astype(np.float64)


def check(name, holds):
    global checks, failed
    checks += 1
    if not holds:
        failed += 1
        print('distribution:', name)


def moments(name, x, mean, variance, fourth):
    """fourth: the fourth central moment."""
    check(name + ' mean', abs(x.mean() - mean) < 5 * np.sqrt(variance / x.size))
    check(name + ' variance', abs(((x - mean)**2).mean() - variance) < 5 * np.sqrt((fourth - variance**2) / x.size))
    check(name + ' independence', abs(((x[1:] - mean) * (x[:-1] - mean)).mean()) < 5 * variance / np.sqrt(x.size))


def frequencies(name, counts, probabilities):
    """Chi-square against its mean and deviation."""
    expected = counts.sum() * probabilities
    chi = ((counts - expected)**2 / expected).sum()
    check(name + ' frequencies', chi < counts.size - 1 + 6 * np.sqrt(2 * (counts.size - 1)))


for name, inputs, where in (('', None, {'shape': [N]}), ('Like', {'x': np.zeros(N, 'f')}, {})):
    x = sample('RandomNormal' + name, inputs, mean=2.0, scale=3.0, **where)
    moments('RandomNormal' + name, x, 2, 9, 3 * 81)
    x = sample('RandomUniform' + name, inputs, low=-1.0, high=3.0, **where)
    moments('RandomUniform' + name, x, 1, 16 / 12, 256 / 80)
    frequencies('RandomUniform' + name, np.histogram(x, 64, (-1, 3))[0], np.full(64, 1 / 64))
    check('RandomUniform' + name + ' range', x.min() >= -1 and x.max() <= 3)
    check('RandomUniform' + name + ' differs', not np.array_equal(x, sample('RandomUniform' + name, inputs, low=-1.0, high=3.0, **where)))
for p in 0.0, 0.03, 0.5, 0.9, 1.0:
    x = sample('Bernoulli', {'x': np.full(N, p, 'f')})
    p = float(np.float32(p))
    check(f'Bernoulli {p}', np.isin(x, (0, 1)).all() and abs(x.sum() - N * p) <= 5 * np.sqrt(N * p * (1 - p)))
logits = rng.standard_normal((1, 40)).astype('f')
chance = np.exp(logits[0].astype(np.float64))
x = sample('Multinomial', {'x': logits}, TensorProto.INT32, sample_size=N)
frequencies('Multinomial', np.bincount(x.reshape(-1).astype(int), minlength=40), chance / chance.sum())
print(f'{checks - failed} of {checks} distributions hold')
if failed:
    raise SystemExit(f'0 passed, {failed} failed')
cases.run()
