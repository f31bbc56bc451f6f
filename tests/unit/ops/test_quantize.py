"""QuantizeLinear and DequantizeLinear: every version and type, whole tensors, axes and blocks, precision, saturation;
DynamicQuantizeLinear. What is expected is the formula of the operator,
element by element. Every combination of types is
tried in the newest version, some in the others (-a: all)."""
import itertools
import sys

import ml_dtypes
import numpy as np
from onnx import helper

from arrays import ArrayCases, allowed
from one_node import versions

cases = ArrayCases()
random = np.random.RandomState(4)
f32 = np.float32

LIMITS = {'uint8': (0, 255), 'int8': (-128, 127), 'uint16': (0, 65535), 'int16': (-32768, 32767), 'uint4': (0, 15),
          'int4': (-8, 7),
          'uint2': (0, 3), 'int2': (-2, 1)}
FLOATS = ('float32', 'float16', 'bfloat16')
FLOAT8 = ('float8_e4m3fn', 'float8_e4m3fnuz', 'float8_e5m2', 'float8_e5m2fnuz')


def code(t):
    return helper.np_dtype_to_tensor_dtype(t)


def full(v, shape, axis, block):
    """A scale or zero point with the shape of x."""
    if v.size == 1 and v.ndim < 2:
        return np.broadcast_to(v.reshape(()), shape)
    if v.ndim == len(shape) and block:
        return np.take(np.repeat(v, block, axis), np.arange(shape[axis]), axis)
    one = [1] * len(shape)
    one[axis if len(shape) > 1 else 0] = v.size
    return np.broadcast_to(v.reshape(one), shape)


def rounded(v, t):
    return v if t is None else v.astype(t).astype(np.float64)


def quantize(x, scale, zero, t, axis=1, block=0, precision=None, saturate=1):
    power_of_two = scale.dtype.name == 'float8_e8m0fnu' and x.dtype.name in FLOATS
    p = precision or (scale.dtype if scale.dtype.name in FLOATS else x.dtype if power_of_two else None)
    s = rounded(full(scale.astype(np.float64), x.shape, axis, block), precision)
    z = full(zero.astype(np.float64), x.shape, axis, block) if zero is not None else 0
    q = rounded(rounded(x.astype(np.float64), p) / s, p)
    if t.name in LIMITS:
        return np.clip(np.rint(q) + z, *LIMITS[t.name]).astype(np.int64).astype(t)
    q = np.where(z == 0, q, q + z)
    if t.name in FLOAT8 and saturate:
        largest = float(ml_dtypes.finfo(t).max)
        q = np.clip(q, -largest, largest)
    return q.astype(t)


def dequantize(x, scale, zero, t, axis=1, block=0):
    s = full(scale.astype(np.float64), x.shape, axis, block)
    z = full(zero.astype(np.float64), x.shape, axis, block) if zero is not None else 0
    return ((x.astype(np.float64) - z) * s).astype(t)


def granularity(shape, kind):
    """The shape of the scale, and the attributes."""
    if kind == 'tensor':
        return ((), (1,))[random.randint(2)], {}
    axis = int(random.randint(-len(shape), len(shape)))
    if kind == 'axis':
        return (shape[axis],), {'axis': axis}
    block = int(random.randint(1, shape[axis] + 2))
    scales = list(shape)
    scales[axis] = -(-shape[axis] // block)
    return tuple(scales), {'axis': axis, 'block_size': block}


def some_scale(shape, t, x):
    if t.name == 'int32':
        return random.randint(1, 50, shape).astype(t)
    if t.name == 'float8_e8m0fnu':
        return np.exp2(random.randint(-3, 3, shape)).astype(t)
    return np.asarray(random.uniform(0.05, 2, shape)).astype(t)


def small(t, shape):
    if t.name in LIMITS:
        low, high = LIMITS[t.name]
        return random.randint(low, high + 1, shape).astype(t)
    if t.name == 'int32':
        return random.randint(-2**26, 2**26, shape).astype(t)
    return np.asarray(random.randn(*shape) * 2).astype(t)


def some(schema, *params):
    all_of_them = list(itertools.product(*(allowed(schema, p) for p in params)))
    if schema.since_version == 28 or '-a' in sys.argv or len(all_of_them) < 40:
        return all_of_them
    return [all_of_them[k] for k in random.choice(len(all_of_them), 40, False)]


def kinds(version):
    return ['tensor'] + ['axis'] * (version >= 13) + ['block'] * (version >= 21)


SHAPES = [(3, 4), (2, 5, 3), (7,), (2, 3, 4, 2)]
for schema in versions('QuantizeLinear'):
    version = schema.since_version
    for tx, ts, ty in some(schema, schema.inputs[0], schema.inputs[1], schema.outputs[0]):
        if schema.inputs[0].type_str == schema.inputs[1].type_str and tx != ts:
            continue
        for kind in kinds(version):
            shape = SHAPES[random.randint(len(SHAPES))]
            scales, attributes = granularity(shape, kind)
            x = random.randint(-3000, 3000,
                               shape).astype(tx) if tx.name == 'int32' else (random.randn(*shape) * 20).astype(tx)
            scale = np.asarray(some_scale(scales, ts, x))
            zero = np.asarray(small(ty, scales) if ty.name in LIMITS else np.zeros(scales)).astype(ty)
            more = dict(attributes)
            if version >= 19 and ty.name in FLOAT8:
                more['saturate'] = int(random.randint(2))
            if version >= 23 and random.rand() < 0.3:
                more['precision'] = code(np.dtype([f32, np.float16, ml_dtypes.bfloat16][random.randint(3)]))
            given = zero
            if version >= 21 and random.rand() < 0.4:
                more['output_dtype'], given = code(ty), None
            elif ty == np.uint8 and random.rand() < 0.3:
                given = None
            precision = more.get('precision') and helper.tensor_dtype_to_np_dtype(more['precision'])
            y = quantize(x, scale, given, ty, attributes.get('axis', 1), attributes.get('block_size', 0), precision,
                         more.get('saturate', 1))
            cases.node('QuantizeLinear', version, [x, scale] + ([given] if given is not None else []), [y],
                       name=f'{tx.name}_{ts.name}_{ty.name}_{kind}', **more)

for schema in versions('DequantizeLinear'):
    version = schema.since_version
    for tx, ts, ty in some(schema, schema.inputs[0], schema.inputs[1], schema.outputs[0]):
        if version < 23 and ty != ts:
            continue
        for kind in kinds(version):
            shape = SHAPES[random.randint(len(SHAPES))]
            scales, attributes = granularity(shape, kind)
            x, scale = np.asarray(small(tx, shape)), np.asarray(some_scale(scales, ts, None))
            zero = np.asarray(small(tx, scales)) if tx.name in LIMITS and random.rand() < 0.7 else None
            more = dict(attributes,
                        **({'output_dtype': code(ty)} if ty != ts or (version >= 23 and random.rand() < 0.3) else {}))
            with np.errstate(over='ignore'):
                y = dequantize(x, scale, zero, ty, attributes.get('axis', 1), attributes.get('block_size', 0))
            tolerance = {'float32': 2.0**-23, 'float16': 2.0**-10}.get(ty.name, 2.0**-7)
            cases.node('DequantizeLinear', version, [x, scale] + ([zero] if zero is not None else []), [y],
                       (tolerance, 0),
                       name=f'{tx.name}_{ts.name}_{ty.name}_{kind}', **more)

# ---- corners ----

x = np.array([0.5, 1.5, 2.5, -0.5, 1e30, -1e30, np.inf, -np.inf, 127.5, 300], f32)
for t in (np.uint8, np.int8, np.int16, ml_dtypes.int4):
    y = quantize(x, np.array(1, f32), np.array(0).astype(t), np.dtype(t))
    cases.node('QuantizeLinear', 21, [x, np.array(1, f32), np.array(0).astype(t)], [y], name='ties')
many = (random.randn(3, 5000) * 50).astype(f32)
for scale, zero, axis in [(np.array(0.3, f32), np.array(7, np.uint8), 1),
                          (np.array([0.3, 0.2, 0.7], f32), np.array([1, 200, 7], np.uint8), 0)]:
    y = quantize(many, scale, zero, np.dtype(np.uint8), axis)
    cases.node('QuantizeLinear', 13, [many, scale, zero], [y], axis=axis)
    cases.node('DequantizeLinear', 13, [y, scale, zero], [dequantize(y, scale, zero, np.dtype(f32), axis)],
               (2.0**-23, 0), axis=axis)
last = np.abs(random.randn(5000)).astype(f32) + f32(0.1)
y = quantize(many, last, None, np.dtype(np.uint8), 1)
cases.node('QuantizeLinear', 13, [many, last], [y], axis=-1)
cases.node('DequantizeLinear', 13, [y, last], [dequantize(y, last, None, np.dtype(f32), 1)], (2.0**-23, 0), axis=-1)
for shape in [(), (0,), (0, 3)]:
    cases.node('QuantizeLinear', 13, [np.zeros(shape, f32), np.array(1, f32)], [np.zeros(shape, np.uint8)])
whole, two = np.zeros((2, 3), f32), np.ones(2, f32)
cases.node('QuantizeLinear', 13, [whole, two], [whole.astype(np.uint8)], says='along which it runs, has 3')
cases.node('QuantizeLinear', 13, [whole, two], [whole.astype(np.uint8)], says='outside [-2,1]', axis=2)
cases.node('QuantizeLinear', 13, [whole, two, np.zeros(3, np.uint8)], [whole.astype(np.uint8)],
           says='its shape must be that of y_scale',
           axis=0)
cases.node('QuantizeLinear', 21, [whole[0], np.ones(1, f32)], [whole[0].astype(np.uint8)],
           says='axis 0 must have 2, for 3 elements in blocks of 2', axis=0, block_size=2)
cases.node('QuantizeLinear', 21, [whole, np.ones((2, 3), f32)], [whole.astype(np.uint8)], says='axis 1 must have 2',
           block_size=2)
cases.node('QuantizeLinear', 21, [whole, np.array(1, f32), np.array(1, np.int8)], [whole.astype(np.uint8)],
           says='output_dtype is uint8',
           output_dtype=2)
cases.node('QuantizeLinear', 21, [whole, np.array(1, f32)], [whole], says='float32', output_dtype=1)

# ---- DynamicQuantizeLinear: every step in float ----

for x in [np.array([0, 2, -3, -2.5, 1.34, 0.5], f32), np.array([-1, -2.1, -1.3], f32),
          np.array([[1, 2.1], [1.3, 2.5]], f32),
          (random.randn(4, 3000) * 7).astype(f32), np.array([0.5], f32)]:
    low, high = min(f32(0), x.min()), max(f32(0), x.max())
    scale = f32(f32(high - low) / f32(255))
    zero = np.clip(np.rint(f32(0) - f32(low / scale)), 0, 255)
    y = np.clip(np.rint((x / scale).astype(f32)) + zero, 0, 255).astype(np.uint8)
    cases.node('DynamicQuantizeLinear', 11, [x], [y, np.array(scale, f32), np.array(zero).astype(np.uint8)])

cases.run()
