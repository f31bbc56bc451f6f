#!/usr/bin/env python3
"""Pools: every version and type, one to four spatial axes, all attributes. What is expected is written here window by
window."""
import itertools

import numpy as np
from onnx import TensorProto, helper

from one_node import Cases, dtype, types, versions

F, F16, BF16, F64, I64, U8 = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE,
                              TensorProto.INT64, TensorProto.UINT8)
FLOATS = {F16: (1e-3, 1e-3), BF16: (8e-3, 8e-3), F: (1e-6, 1e-6), F64: (1e-13, 1e-13)}
rng = np.random.default_rng(3)
cases = Cases()


def values(t, *shape):
    d = dtype(t)
    if d.kind in 'iu':
        return rng.integers(np.iinfo(d).min, np.iinfo(d).max, shape, dtype=d, endpoint=True)
    return rng.standard_normal(shape).astype(d)


def outputs(size, kernel, strides, dilations, begin, end, ceil):
    out = []
    for n, k, s, d, b, e in zip(size, kernel, strides, dilations, begin, end):
        slack = n + b + e - (k - 1) * d - 1
        o = (-(-slack // s) if ceil else slack // s) + 1
        out.append(o - 1 if ceil and (o - 1) * s >= n + b else o)
    return out


def windows(size, kernel, strides, dilations, begin, out):
    """For each output: its index, and the index of each tap."""
    for o in itertools.product(*map(range, out)):
        yield o, [tuple(a * s + t * d - b for a, s, t, d, b in zip(o, strides, tap, dilations, begin))
                  for tap in itertools.product(*map(range, kernel))]


def pool_case(op, version, t, n):
    s = {x.since_version: x for x in versions(op)}[version]
    size = [int(v) for v in rng.integers(3, {1: 30, 2: 14, 3: 7, 4: 5}[n], n)]
    kernel = [int(v) for v in rng.integers(1, 4, n)]
    strides = [int(v) for v in rng.integers(1, 4, n)]
    dilations = [int(v) for v in rng.integers(1, 3, n)] if 'dilations' in s.attributes and rng.integers(2) else [1] * n
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    auto_pad = ['NOTSET', 'NOTSET', 'NOTSET', 'SAME_UPPER', 'SAME_LOWER', 'VALID'][int(rng.integers(6))]
    ceil = bool('ceil_mode' in s.attributes and rng.integers(2))
    attrs = {'kernel_shape': kernel, 'strides': strides}
    begin, end = ([int(rng.integers(0, k)) for k in kernel] for _ in range(2))
    if auto_pad != 'NOTSET':
        attrs['auto_pad'] = auto_pad
        ceil = False
        begin, end = [0] * n, [0] * n
        if auto_pad.startswith('SAME'):
            for i in range(n):
                total = max((-(-size[i] // strides[i]) - 1) * strides[i] + reach[i] - size[i], 0)
                begin[i] = total // 2 if auto_pad == 'SAME_UPPER' else total - total // 2
                end[i] = total - begin[i]
    else:
        attrs['pads'] = begin + end
    if any(z + b + e < r for z, b, e, r in zip(size, begin, end, reach)):
        return
    if ceil:
        attrs['ceil_mode'] = 1
    if max(dilations) > 1:
        attrs['dilations'] = dilations
    out = outputs(size, kernel, strides, dilations, begin, end, ceil)
    if auto_pad.startswith('SAME'):
        out = [-(-z // q) for z, q in zip(size, strides)]
    x = values(t, 2, 3, *size)
    if op == 'MaxPool' and t in FLOATS and rng.integers(2):
        x.reshape(-1)[rng.random(x.size) < 0.05] = np.nan
    wide = x.astype(np.float64 if t in FLOATS else np.int64).reshape(6, *size)
    y = np.zeros((6, *out), wide.dtype)
    indices = np.zeros((6, *out), np.int64)
    count_pads = bool('count_include_pad' in s.attributes and rng.integers(2))
    column_major = bool('storage_order' in s.attributes and rng.integers(2))
    p = int(rng.integers(1, 4))
    for o, taps in windows(size, kernel, strides, dilations, begin, out):
        inside = [a for a in taps if all(0 <= v < z for v, z in zip(a, size))]
        if not inside:
            return
        seen = np.stack([wide[(slice(None), *a)] for a in inside])
        if op == 'AveragePool':
            divisor = sum(all(v < z + e for v, z, e in zip(a, size, end)) for a in taps) if count_pads else len(inside)
            y[(slice(None), *o)] = seen.sum(0) / divisor
        elif op == 'LpPool':
            y[(slice(None), *o)] = (np.abs(seen) ** p).sum(0) ** (1 / p)
        else:
            y[(slice(None), *o)] = seen.max(0)
            where = seen.argmax(0)
            steps = [int(np.prod(size[:i])) if column_major else int(np.prod(size[i + 1:])) for i in range(n)]
            indices[(slice(None), *o)] = [k * int(np.prod(size)) + sum(a * q for a, q in zip(inside[w], steps)) for k, w in enumerate(where)]
    if count_pads:
        attrs['count_include_pad'] = 1
    if column_major:
        attrs['storage_order'] = 1
    if op == 'LpPool':
        attrs['p'] = float(p) if version == 1 else p
    with_indices = op == 'MaxPool' and version >= 8 and rng.integers(2)
    outs = {'Y': (t, y.astype(dtype(t)).reshape(2, 3, *out))}
    if with_indices:
        outs['Indices'] = (I64, indices.reshape(2, 3, *out))
    cases.add(helper.make_node(op, ['X'], list(outs), **attrs), version, {'X': (t, x)}, outs,
              tolerance=(0, 0) if op == 'MaxPool' else FLOATS[t])


for op in ('AveragePool', 'MaxPool', 'LpPool'):
    for schema in versions(op):
        for t in types(schema, 'T'):
            for n in (1, 1, 2, 2, 2, 2, 3, 4):
                pool_case(op, schema.since_version, t, n)
for op in ('AveragePool', 'MaxPool'):
    for _ in range(60):
        pool_case(op, 22, F, 2)

for op in ('GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool'):
    for schema in versions(op):
        for t in types(schema, 'T'):
            for shape in ((2, 3, 7), (1, 4, 5, 6), (2, 2, 3, 4, 2), (2, 70, 9, 9), (0, 3, 4)):
                x, axes, attrs = values(t, *shape), tuple(range(2, len(shape))), {}
                wide = x.astype(np.float64)
                if op == 'GlobalLpPool':
                    p = int(rng.integers(1, 4))
                    attrs['p'] = float(p) if schema.since_version == 1 else p
                    y = (np.abs(wide) ** p).sum(axes, keepdims=True) ** (1 / p)
                else:
                    y = (wide.mean if op == 'GlobalAveragePool' else wide.max)(axes, keepdims=True)
                cases.add(helper.make_node(op, ['X'], ['Y'], **attrs), schema.since_version, {'X': (t, x)},
                          {'Y': (t, y.astype(dtype(t)))}, tolerance=FLOATS[t])

for schema in versions('MaxUnpool'):
    for t in types(schema, 'T1'):
        for n in (1, 2, 3):
            for given in (None, 0, 2):
                size, kernel, strides = [3, 2, 2][:n], [2, 3, 2][:n], [2, 2, 1][:n]
                box = [(z - 1) * s + k for z, s, k in zip(size, strides, kernel)]
                x = values(t, 2, 2, *size)
                index = rng.permutation(4 * int(np.prod(box)))[:x.size].reshape(x.shape).astype(np.int64)
                flat = np.zeros(4 * int(np.prod(box)), x.dtype)
                flat[index.reshape(-1)] = x.reshape(-1)
                y = np.zeros([2, 2] + [b + (given or 0) for b in box], x.dtype)
                y[tuple(slice(0, b) for b in (2, 2, *box))] = flat.reshape(2, 2, *box)
                inputs = {'X': (t, x), 'I': (I64, index)}
                if given is not None:
                    inputs['output_shape'] = (I64, np.array(y.shape, np.int64))
                cases.add(helper.make_node('MaxUnpool', list(inputs), ['Y'], kernel_shape=kernel, strides=strides),
                          schema.since_version, inputs, {'Y': (t, y)})

x = (F, values(F, 1, 1, 2, 2))
unpool = helper.make_node('MaxUnpool', ['X', 'I'], ['Y'], kernel_shape=[2, 2], strides=[2, 2])
cases.add(unpool, 11, {'X': x, 'I': (I64, np.array([[[[0, 3], [8, 16]]]]))}, {'Y': x}, says='index 16 at position 3 out of range [0,15]')
pool = (('AveragePool', {'kernel_shape': [3]}, 'attribute kernel_shape has 1 value, needs 2'),
        ('AveragePool', {'kernel_shape': [3, 3]}, 'a kernel of 3 (dilation 1: 3) is larger than the input of 2'),
        ('MaxPool', {'kernel_shape': [2, 2], 'pads': [0, 0]}, 'attribute pads has 2 values, needs 4'),
        ('MaxPool', {'kernel_shape': [2, 2], 'pads': [1, 1, 1, 1], 'auto_pad': 'SAME_UPPER'}, 'attribute pads cannot be used together with auto_pad'))
for op, attrs, says in pool:
    cases.add(helper.make_node(op, ['X'], ['Y'], **attrs), 11, {'X': x}, {'Y': x}, says=says)

cases.run()
