#!/usr/bin/env python3
"""Reductions, indices of extremes, running sums: every version and type, any axes, empty tensors."""
import numpy as np

from arrays import ArrayCases, allowed
from one_node import versions

rng = np.random.default_rng(5)
cases = ArrayCases()
TOLERANCES = {'float16': (1e-3, 1e-3), 'bfloat16': (8e-3, 8e-3), 'float32': (2e-6, 2e-6), 'float64': (1e-13, 1e-13)}


def tolerance(d):
    return TOLERANCES.get(d.name, (0, 0))


def is_float(d):
    return d.name in TOLERANCES


def random(d, shape, special=False):
    if d == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if d.kind in 'iu':
        wide = rng.integers(2) == 0
        return rng.integers(np.iinfo(d).min if wide else 0, np.iinfo(d).max if wide else 5, shape, dtype=d, endpoint=True)
    x = (rng.standard_normal(shape) * 2).astype(np.float32).astype(d)
    if special and x.size:
        flat = x.reshape(-1)
        flat[rng.random(x.size) < 0.06] = np.nan
        flat[rng.random(x.size) < 0.06] = -np.inf
    return x


def wrap(sums, d):
    """Python integers modulo 2^bits."""
    bits = 8 * d.itemsize
    low = np.vectorize(lambda v: v % (1 << bits), otypes=[object])(sums)
    return np.array(low.reshape(-1).tolist(), dtype=np.uint64).astype(f'u{d.itemsize}').view(d).reshape(np.shape(sums))


def cut(x, d):
    with np.errstate(all='ignore'):
        finite = np.where(np.isfinite(x), x, 0)
    return np.trunc(finite).astype(np.int64).astype(d) if d != np.uint64 else np.trunc(finite).astype(d)


def lines(x, axes):
    """x with the reduced axes last and flat."""
    kept = [i for i in range(x.ndim) if i not in axes]
    return x.transpose(kept + sorted(axes)).reshape([x.shape[i] for i in kept] + [-1 if x.size else int(
        np.prod([x.shape[i] for i in axes], dtype=np.int64))])


def expected_float(op, v, d):
    v = v.astype(np.float64)
    with np.errstate(all='ignore'):
        if op == 'ReduceLogSumExp':
            if v.shape[-1] == 0:
                return np.full(v.shape[:-1], -np.inf)
            top = v.max(-1)
            top = np.where(np.isfinite(top), top, 0)
            return np.log(np.exp(v - top[..., None]).sum(-1)) + top
        return {'ReduceL1': lambda: np.abs(v).sum(-1), 'ReduceL2': lambda: np.sqrt((v * v).sum(-1)),
                'ReduceLogSum': lambda: np.log(v.sum(-1)), 'ReduceMean': lambda: v.sum(-1) / v.shape[-1],
                'ReduceMax': lambda: v.max(-1, initial=-np.inf), 'ReduceMin': lambda: v.min(-1, initial=np.inf),
                'ReduceProd': lambda: v.prod(-1), 'ReduceSum': lambda: v.sum(-1),
                'ReduceSumSquare': lambda: (v * v).sum(-1)}[op]()


def expected_int(op, v, d):
    n, shape = v.shape[-1], v.shape[:-1]
    if op in ('ReduceMax', 'ReduceMin'):
        least, most = (0, 1) if d == bool else (np.iinfo(d).min, np.iinfo(d).max)
        return v.max(-1, initial=least) if op == 'ReduceMax' else v.min(-1, initial=most)
    rows = [[int(a) for a in row] for row in v.reshape(int(np.prod(shape, dtype=np.int64)), n)]
    if op == 'ReduceMean':
        means = [0 if n == 0 else abs(sum(r)) // n * (1 if sum(r) >= 0 else -1) for r in rows]
        return np.array(means, dtype=object).reshape(shape).astype(d)
    if op == 'ReduceProd':
        out = []
        for r in rows:
            p = 1
            for a in r:
                p = p * a % (1 << 64)
            out.append(p)
        return wrap(np.array(out, dtype=object).reshape(shape), d)
    if op == 'ReduceLogSumExp':
        return cut(expected_float(op, v, d), d)
    terms = {'ReduceL1': abs, 'ReduceL2': lambda a: a * a, 'ReduceSumSquare': lambda a: a * a}.get(op, lambda a: a)
    sums = wrap(np.array([sum(map(terms, r)) for r in rows], dtype=object).reshape(shape), d)
    with np.errstate(all='ignore'):
        if op == 'ReduceL2':
            return cut(np.sqrt(sums.astype(np.float64)), d)
        if op == 'ReduceLogSum':
            return cut(np.log(sums.astype(np.float64)), d)
    return sums


def reduce(op, x, axes, keepdims):
    v = lines(x, axes)
    y = (expected_float if is_float(x.dtype) else expected_int)(op, v, x.dtype)
    if keepdims:
        y = np.reshape(y, [1 if i in axes else n for i, n in enumerate(x.shape)])
    with np.errstate(all='ignore'):
        return np.asarray(y).astype(x.dtype)


SHAPES = [(), (5,), (3, 4), (2, 3, 4), (2, 1, 3, 2), (4, 300), (300, 5), (2, 3, 0), (0,), (3, 2, 2, 2, 3)]

for op in ['ReduceL1', 'ReduceL2', 'ReduceLogSum', 'ReduceLogSumExp', 'ReduceMax', 'ReduceMean', 'ReduceMin', 'ReduceProd',
           'ReduceSum', 'ReduceSumSquare']:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for shape in [SHAPES[i] for i in rng.permutation(len(SHAPES))[:6]]:
                if len(shape) == 5 and d.kind == 'f' and d != np.float32:
                    continue
                x = random(d, shape, special=bool(rng.integers(4) == 0))
                k = int(rng.integers(0, len(shape) + 1))
                axes = sorted(int(a) for a in rng.choice(len(shape), k, replace=False)) if shape else []
                given = [a - len(shape) if rng.integers(2) else a for a in axes]
                keepdims = int(rng.integers(2))
                attrs = {} if keepdims and rng.integers(2) else {'keepdims': keepdims}
                as_input = len(schema.inputs) > 1
                noop = int(as_input and rng.integers(2))
                if noop:
                    attrs['noop_with_empty_axes'] = 1
                all_of_them = axes if axes or noop else list(range(len(shape)))
                y = reduce(op, x, all_of_them, keepdims)
                inputs, constant = [x], ()
                if as_input and (axes or rng.integers(2)):
                    inputs.append(np.array(given, np.int64))
                    constant = (1,) if rng.integers(2) else ()
                elif axes:
                    attrs['axes'] = given
                cases.node(op, schema.since_version, inputs, [y], tolerance(d), name=d.name, constant=constant, **attrs)
    cases.node(op, 11, [np.ones((2, 3), np.float32)], [np.zeros(1, np.float32)], axes=[2],
               says='attribute axes = 2 is outside [-2,1]')
    cases.node(op, 11, [np.ones((2, 3), np.float32)], [np.zeros(1, np.float32)], axes=[1, -1],
               says='attribute axes has axis 1 twice')
    cases.node(op, 18 if op != 'ReduceSum' else 13, [np.ones((2, 3), np.float32), np.zeros(17, np.int64)], [np.zeros(1, np.float32)],
               says='17 axes for a tensor of rank 2')


def arg(x, axis, last, least):
    """The first (last) index of an extreme; a NaN is one."""
    out = []
    for line in np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]):
        values = [float(v) if is_float(x.dtype) else int(v) for v in line]
        nans = [i for i, v in enumerate(values) if v != v]
        ties = nans or [i for i, v in enumerate(values) if v == (min if least else max)(values)]
        out.append(ties[-1 if last else 0])
    return np.array(out, np.int64).reshape(np.moveaxis(x, axis, -1).shape[:-1])


for op in ['ArgMax', 'ArgMin']:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for shape in [(7,), (3, 4), (2, 5, 3), (1, 2, 3, 4), (2, 300), (300, 2), (0, 3)]:
                axis = int(rng.integers(-len(shape), len(shape)))
                if shape[axis] == 0:
                    continue
                few = random(d, (4,), special=True) if is_float(d) else rng.integers(0, 4, 4).astype(d)
                x = few[rng.integers(0, 4, shape)]
                attrs = {'axis': axis}
                if 'select_last_index' in schema.attributes:
                    attrs['select_last_index'] = int(rng.integers(2))
                y = arg(x, axis, attrs.get('select_last_index', 0), op == 'ArgMin')
                if rng.integers(2):
                    attrs['keepdims'] = 0
                else:
                    y = np.expand_dims(y, axis)
                cases.node(op, schema.since_version, [x], [y], name=d.name, **attrs)
    cases.node(op, 13, [np.ones((2, 0), np.float32)], [np.zeros(1, np.int64)], axis=1, says='has no elements to choose from')


def cum(op, x, axis, exclusive, reverse):
    wide = np.float64 if is_float(x.dtype) else np.uint64
    v = np.moveaxis(x, axis, 0).astype(x.dtype if is_float(x.dtype) else x.dtype).astype(wide)
    v = v[::-1] if reverse else v
    y, a = np.empty_like(v), np.full(v.shape[1:], 0 if op == 'CumSum' else 1, wide)
    for i, row in enumerate(v):
        before = a
        with np.errstate(all='ignore'):
            a = a + row if op == 'CumSum' else a * row
        y[i] = before if exclusive else a
    y = y[::-1] if reverse else y
    with np.errstate(all='ignore'):
        return np.moveaxis(y, 0, axis).astype(x.dtype)


for op in ['CumSum', 'CumProd']:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for axis_type in [np.int32, np.int64]:
                for shape in [(6,), (3, 4), (2, 3, 4), (2, 0, 3), (3, 300)]:
                    x = random(d, shape)
                    axis, exclusive, reverse = int(rng.integers(-len(shape), len(shape))), int(rng.integers(2)), int(rng.integers(2))
                    attrs = {k: v for k, v in {'exclusive': exclusive, 'reverse': reverse}.items() if v or rng.integers(2)}
                    cases.node(op, schema.since_version, [x, np.array(axis, axis_type)], [cum(op, x, axis, exclusive, reverse)],
                               tolerance(d), name=d.name, constant=(1,) if rng.integers(2) else (), **attrs)
cases.node('CumSum', 14, [np.ones(3, np.float32), np.array(1)], [np.zeros(3, np.float32)], says='input axis = 1 is outside [-1,0]')
cases.run()
