#!/usr/bin/env python3
"""Operators that make tensors from attributes, shapes and bounds: every version, form and type."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from one_node import Cases, array, dtype, random_tensor, types, versions

F, I64, I32, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.STRING
rng = np.random.default_rng(13)
cases = Cases()


def add(op, opset, inputs, output, says=None, constant=(), **attrs):
    names = {chr(97 + i): v for i, v in enumerate(inputs)}
    node = helper.make_node(op, list(names), ['y'], name='node', **attrs)
    cases.add(node, opset, names, {'y': output}, [list(names)[i] for i in constant], says)


def tensor(values, t):
    return numpy_helper.from_array(np.asarray(values, dtype(t)), 'value')


# ---- Constant ----

for schema in versions('Constant'):
    v = schema.since_version
    for t in types(schema, 'T'):
        for shape in ((), (3,), (2, 0), (2, 3, 2)):
            x = random_tensor(rng, t, *shape)
            add('Constant', v, [], (t, x), value=tensor(x, t))
    if v >= 12:
        add('Constant', v, [], (F, np.array(2.5, 'f')), value_float=2.5)
        add('Constant', v, [], (I64, np.array(-3)), value_int=-3)
        add('Constant', v, [], (STRING, np.array('ä', object)), value_string='ä')
        add('Constant', v, [], (F, np.array([2.5, -1], 'f')), value_floats=[2.5, -1.0])
        add('Constant', v, [], (I64, np.array([7, 8])), value_ints=[7, 8])
        add('Constant', v, [], (STRING, np.array(['', 'ä'], object)), value_strings=['', 'ä'])
        add('Constant', v, [], (F, np.array(2.5, 'f')), value_float=2.5, value_int=3, says='exactly one attribute must give the value, 2 do')
        add('Constant', v, [], (F, np.array(2.5, 'f')), says='exactly one attribute must give the value, 0 do')
    if v >= 11:
        dense = np.zeros((3, 4), 'f')
        dense[1, 2], dense[2, 0] = 5, -2
        for index, dims in ((np.array([6, 8]), [3, 4]), (np.array([[1, 2], [2, 0]]), [3, 4])):
            sparse = helper.make_sparse_tensor(numpy_helper.from_array(np.array([5, -2], 'f'), 'v'),
                                               numpy_helper.from_array(index, 'i'), dims)
            add('Constant', v, [], (F, dense), sparse_value=sparse)

# ---- ConstantOfShape, EyeLike ----

for schema in versions('ConstantOfShape'):
    v = schema.since_version
    for t in types(schema, 'T2'):
        x = random_tensor(rng, t, 1)
        for shape in ((2, 3), (), (4, 0), (100, 300)):
            add('ConstantOfShape', v, [(I64, np.array(shape, np.int64))], (t, np.full(shape, x[0], dtype(t))), value=tensor(x, t))
    add('ConstantOfShape', v, [(I64, np.array([3]))], (F, np.zeros(3, 'f')), constant=[0])
    add('ConstantOfShape', v, [(I64, np.array([3, -1]))], (F, np.zeros(3, 'f')), says='dimension 1 is -1')
for schema in versions('EyeLike'):
    all_of_them = types(schema, 'T1')
    for t in all_of_them:
        x = random_tensor(rng, t, 4, 6)
        for k in (None, 0, 2, 5, 6, -3, -4, 100):
            add('EyeLike', schema.since_version, [(t, x)], (t, np.eye(4, 6, k or 0).astype(dtype(t))), **({} if k is None else {'k': k}))
        add('EyeLike', schema.since_version, [(F, np.zeros((5, 3), 'f'))], (t, np.eye(5, 3, -1).astype(dtype(t))), k=-1, dtype=t)
add('EyeLike', 9, [(F, np.zeros(3, 'f'))], (F, np.zeros(3, 'f')), says='expected rank 2, got rank 1')

# ---- Range ----

def scalars(t, *values):
    return [(t, array(v, t)) for v in values]


for schema in versions('Range'):
    v = schema.since_version
    for t in types(schema, 'T'):
        for start, limit, delta in ((3, 9, 3), (10, 4, -2), (0, 0, 1), (5, 2, 1), (2, 100, 7)):
            n = max(0, -(-(limit - start) // delta))
            add('Range', v, scalars(t, start, limit, delta), (t, array([start + i * delta for i in range(n)], t)), constant=() if rng.random() < 0.5 else (0, 1, 2))
big = 2**63 - 1
add('Range', 11, scalars(I64, -big, big, big), (I64, np.array([-big, 0])))
add('Range', 11, scalars(I64, big, -big - 1, -2**63), (I64, np.array([big, -1])))
for start, limit, delta in ((0, 1, 0.1), (-1.5, 7.25, 0.7), (5, -5, -0.3)):
    for t in (F, TensorProto.DOUBLE):
        s, l, d = (float(array(e, t)) for e in (start, limit, delta))
        n = max(0, int(np.ceil((l - s) / d)))
        add('Range', 11, scalars(t, start, limit, delta), (t, np.array([s + i * d for i in range(n)]).astype(dtype(t))))
for t in (TensorProto.FLOAT16, TensorProto.BFLOAT16):  # computed in float, or in double, and rounded once more
    for stash, wide in ((1, np.float32), (11, np.float64)):
        s, l, d = (wide(array(e, t)) for e in (1.0, 300.0, 0.37))
        n = int(np.ceil((float(l) - float(s)) / float(d)))
        y = np.array([s + wide(i) * d for i in range(n)], wide).astype(dtype(t))
        add('Range', 27, scalars(t, 1.0, 300.0, 0.37), (t, y), stash_type=stash)
add('Range', 11, scalars(F, 0, 1, 0), (F, np.zeros(0, 'f')), says='the step is 0')
add('Range', 11, scalars(I64, 0, 1, 0), (I64, np.zeros(0, 'i8')), says='the step is 0')

# ---- Shape, Size ----

for schema in versions('Shape'):
    v = schema.since_version
    for t in types(schema, 'T'):
        x = random_tensor(rng, t, 2, 0, 4)
        add('Shape', v, [(t, x)], (I64, np.array(x.shape)))
        for start, end in ((1, None), (-1, None), (0, -1), (-9, 9), (2, 1), (1, 2)) if v >= 15 else ():
            add('Shape', v, [(t, x)], (I64, np.array(x.shape[start:end], np.int64)), start=start, **({} if end is None else {'end': end}))
add('Shape', 13, [(F, np.array(3, 'f'))], (I64, np.zeros(0, 'i8')))
for schema in versions('Size'):
    for t in types(schema, 'T'):
        add('Size', schema.since_version, [(t, random_tensor(rng, t, 2, 3))], (I64, np.array(6)))
add('Size', 13, [(F, np.array(3, 'f'))], (I64, np.array(1)))

cases.run()
