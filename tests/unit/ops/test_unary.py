"""Functions of one element over every type that their versions allow, special values, and shapes without elements."""

import math

import ml_dtypes
import numpy as np

from arrays import ArrayCases, allowed
from one_node import versions

cases = ArrayCases()
random = np.random.RandomState(0)

EPSILON = {'float16': 2**-10, 'bfloat16': 2**-7, 'float32': 2**-21, 'float64': 2**-50}


def samples(dtype):
    if dtype == np.bool_:
        return random.rand(3, 5) > 0.5
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        x = random.randint(-9 if info.min < 0 else 0, 10, (4, 5)).astype(dtype)
        x[0, :4] = info.min, info.max, 0, 1
        return x
    x = (random.randn(5, 9) * 3).astype(dtype)
    x[0] = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 1e-3]
    x[1] = [-30.0, 30.0, 88.5, -88.0, 1e-7, 2.5, -2.5, 0.49, 100.0]
    return x


def exact(f):
    return np.frompyfunc(f, 1, 1)


def sigmoid(x):
    with np.errstate(all='ignore'):
        e = np.exp(-np.abs(x))
        return np.where(x < 0, e, 1.0) / (1.0 + e)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def erf(x):
    return np.asarray(exact(math.erf)(x), np.float64)


def phi(x):
    return np.asarray(exact(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(x), np.float64)


FLOAT = {
    'Abs': np.abs, 'Acos': np.arccos, 'Acosh': np.arccosh, 'Asin': np.arcsin, 'Asinh': np.arcsinh, 'Atan': np.arctan,
    'Atanh': np.arctanh, 'Ceil': np.ceil, 'Cos': np.cos, 'Cosh': np.cosh, 'Erf': erf, 'Exp': np.exp, 'Floor': np.floor,
    'Log': np.log, 'Neg': np.negative, 'Reciprocal': lambda x: 1 / x, 'Round': np.rint, 'Sigmoid': sigmoid,
    'Sign': np.sign, 'Sin': np.sin, 'Sinh': np.sinh, 'Sqrt': np.sqrt, 'Tan': np.tan, 'Tanh': np.tanh,
    'Celu': lambda x, alpha=1.0: np.maximum(x, 0) + np.minimum(0, alpha * np.expm1(x / alpha)),
    'Elu': lambda x, alpha=1.0: np.where(x < 0, alpha * np.expm1(x), x),
    'Gelu': lambda x, approximate='none':
        x * phi(x) if approximate == 'none' else x * sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)),
    'HardSigmoid': lambda x, alpha=np.float32(0.2), beta=0.5:
        np.maximum(0, np.minimum(1, np.float64(alpha) * x + np.float64(beta))),
    'HardSwish': lambda x: x * np.maximum(0, np.minimum(1, x / 6 + 0.5)),
    'LeakyRelu': lambda x, alpha=np.float32(0.01): np.where(x < 0, np.float64(alpha) * x, x),
    'Mish': lambda x: x * np.tanh(softplus(x)),
    'Relu': lambda x: np.maximum(x, 0),
    'Selu': lambda x, alpha=np.float32(1.67326319), gamma=np.float32(1.05070102):
        np.float64(gamma) * np.where(x > 0, x, np.float64(alpha) * np.expm1(x)),
    'Shrink': lambda x, lambd=0.5, bias=0.0: np.where(x < -lambd, x + bias, np.where(x > lambd, x - bias, 0)),
    'Softplus': softplus, 'Softsign': lambda x: x / (1 + np.abs(x)),
    'Swish': lambda x, alpha=1.0: x * sigmoid(alpha * x),
    'ThresholdedRelu': lambda x, alpha=1.0: np.where(x > alpha, x, 0),
}
ATTRIBUTES = {
    'Celu': [{'alpha': 2.0}, {'alpha': -0.5}], 'Elu': [{'alpha': 0.25}], 'Gelu': [{'approximate': 'tanh'}],
    'HardSigmoid': [{'alpha': 0.5, 'beta': 0.25}], 'LeakyRelu': [{'alpha': -0.5}],
    'Selu': [{'alpha': 2.0, 'gamma': 0.5}],
    'Shrink': [{'lambd': 1.5, 'bias': 0.75}, {'lambd': 0.0}, {'lambd': -1.0, 'bias': 0.5}], 'Swish': [{'alpha': 1.5}],
    'ThresholdedRelu': [{'alpha': 2.0}],
}
DEFAULTS = {('Selu', 1): {'alpha': np.float32(1.6732), 'gamma': np.float32(1.0507)}}


def integer(op, x, attributes):
    """What the operator is on integers; they wrap."""
    wide = x.astype(object)
    if op == 'Erf':  # as the float nearest to it, cut off
        return np.array([int(np.float32(math.erf(v))) for v in wide.ravel()]).reshape(x.shape).astype(x.dtype)
    if op == 'Shrink':
        y = FLOAT[op](x.astype(np.float64), **attributes)
        return np.array([int(v) % 2**64 for v in y.ravel()], np.uint64).reshape(x.shape).astype(x.dtype)
    y = {'Abs': abs, 'Neg': lambda v: -v, 'Relu': lambda v: max(v, 0), 'Sign': lambda v: (v > 0) - (v < 0)}[op]
    return np.array([y(v) % 2**64 for v in wide.ravel()], np.uint64).reshape(x.shape).astype(x.dtype)


def expect(op, version, x, attributes):
    if np.issubdtype(x.dtype, np.integer):
        return integer(op, x, attributes), 0
    with np.errstate(all='ignore'):
        y = FLOAT[op](x.astype(np.float64), **{**DEFAULTS.get((op, version), {}), **attributes})
        y = np.asarray(y, np.float64).astype(x.dtype)
    if op == 'Gelu':  # the formula's -∞ · 0
        y[np.isneginf(x.astype(np.float64))] = np.nan
    # phi's own rounding comes out multiplied by x²
    return y, 1e-12 if op == 'Gelu' and x.dtype == np.float64 else EPSILON[x.dtype.name]


def check(op, version, x, name, **attributes):
    y, rtol = expect(op, version, x, attributes)
    cases.node(op, version, [x], [y.reshape(x.shape)], (rtol, rtol * 1e-4), name=name, **attributes)


for op in FLOAT:
    for schema in versions(op):
        for dtype in allowed(schema, schema.inputs[0]):
            for attributes in [{}] + ATTRIBUTES.get(op, []):
                check(op, schema.since_version, samples(dtype), dtype.name, **attributes)
    for shape in [(), (0,), (2, 0, 3)]:
        check(op, schema.since_version, np.full(shape, 0.5, np.float32), 'shape')

for dtype in allowed(versions('BitwiseNot')[0], versions('BitwiseNot')[0].inputs[0]):
    x = samples(dtype)
    cases.node('BitwiseNot', 18, [x], [~x])
flags = samples(np.dtype(bool))
cases.node('Not', 1, [flags], [~flags])

for op in ['IsInf', 'IsNaN']:
    for schema in versions(op):
        for dtype in allowed(schema, schema.inputs[0]):
            x = np.arange(256, dtype=np.uint8).view(dtype) if dtype.itemsize == 1 else samples(dtype)
            wide = x.astype(np.float64)
            if op == 'IsNaN':
                cases.node(op, schema.since_version, [x], [np.isnan(wide)], name=dtype.name)
                continue
            for negative, positive in [(1, 1), (1, 0), (0, 1), (0, 0)]:
                y = (np.isneginf(wide) & bool(negative)) | (np.isposinf(wide) & bool(positive))
                cases.node(op, schema.since_version, [x], [y], name=dtype.name, detect_negative=negative,
                           detect_positive=positive)

# ties, the largest number below a half, numbers without a fraction
ties = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609.0, 4503599627370497.0, -2.5])
for dtype in allowed(versions('Round')[-1], versions('Round')[-1].inputs[0]):
    check('Round', 22, ties.astype(dtype), dtype.name)

# the whole range of arguments that float has
for op in ['Sin', 'Cos', 'Tan', 'Exp', 'Log', 'Tanh', 'Sigmoid', 'Erf', 'Gelu', 'Softplus', 'Elu', 'Mish']:
    check(op, 22, np.frombuffer(random.bytes(4 * 5000), np.float32), 'range')

cases.run()
