"""Functions of two elements over every version and type, broadcasting by shape and by attribute, integers at their
bounds, and what is refused. -a tries every pair of shapes on all, else three of them."""
import math
import sys

import numpy as np

from arrays import ArrayCases, allowed
from one_node import WORDS, versions

cases = ArrayCases()
random = np.random.RandomState(1)
SHAPES = [((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 3, 4), (3, 1)), ((1,), (5,)), ((), (2, 3)), ((2, 1, 4), (1, 3, 1)),
          ((0, 3), (1, 3)), ((2, 3, 1, 5), (3, 7, 1)), ((4, 1), (1, 4)), ((1, 1), ()), ((40, 3), (40, 1)),
          ((3, 9000), (3, 1))]
EPSILON = {'float16': 2**-11, 'bfloat16': 2**-8, 'float32': 2**-24, 'float64': 2**-53}


def samples(dtype, shape, nonzero=False):
    if dtype == bool:
        return random.rand(*shape) > 0.5 if shape else np.array(random.rand() > 0.5)
    if dtype == object:
        return np.array([WORDS[i] for i in random.randint(0, 5, int(np.prod(shape)))], object).reshape(shape)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        x = random.randint(-20 if info.min < 0 else 0, 21, shape).astype(dtype)
        flat = x.reshape(-1)
        flat[::7] = info.min
        flat[3::7] = info.max
        if nonzero:
            x = np.where(x == 0, dtype.type(3), x).astype(dtype)
        return np.asarray(x)
    x = np.asarray(random.randn(*shape) * 3, np.float64)
    flat = x.reshape(-1)
    for k, v in enumerate([0.0, -0.0, np.inf, -np.inf, np.nan]):
        flat[k + 5::31] = v
    return x.astype(dtype)


def wrapped(values, dtype):
    """Integers of any size, modulo 2^bits."""
    out = np.empty(np.shape(values), object)
    out[...] = values
    return np.array([int(v) % 2**64 for v in out.ravel()], np.uint64).reshape(out.shape).astype(dtype)


def truncated(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def float_mod(a, b):
    with np.errstate(all='ignore'):
        return np.where(np.fmod(a, b) == 0, np.copysign(0.0, b), np.mod(a, b))


ARITHMETIC = {
    'Add': (np.add, lambda a, b: a + b), 'Sub': (np.subtract, lambda a, b: a - b),
    'Mul': (np.multiply, lambda a, b: a * b),
    'Div': (np.divide, truncated), 'PRelu': (lambda a, b: np.where(a < 0, a * b, a), lambda a,
                                             b: a * b if a < 0 else a),
    'BitwiseAnd': (None, lambda a, b: a & b), 'BitwiseOr': (None, lambda a, b: a | b),
    'BitwiseXor': (None, lambda a, b: a ^ b),
    'mod': (float_mod, lambda a, b: a % b), 'fmod': (np.fmod, lambda a, b: a - b * truncated(a, b)),
}
COMPARISONS = {'Equal': np.equal, 'Greater': np.greater, 'GreaterOrEqual': np.greater_equal, 'Less': np.less,
               'LessOrEqual': np.less_equal, 'And': np.logical_and, 'Or': np.logical_or, 'Xor': np.logical_xor}


def arithmetic(op, a, b):
    real, whole = ARITHMETIC[op]
    if np.issubdtype(a.dtype, np.integer):
        return wrapped(np.frompyfunc(whole, 2, 1)(a.astype(object), b.astype(object)), a.dtype)
    with np.errstate(all='ignore'):
        return np.asarray(real(a.astype(np.float64), b.astype(np.float64))).astype(a.dtype)


def some(shapes):
    return shapes if '-a' in sys.argv else [shapes[k] for k in random.choice(len(shapes), 3, False)]


def power(a, b):
    """C's pow: NumPy's own may differ at infinities."""
    def one(x, y):
        try:
            return math.pow(x, y)
        except OverflowError:
            return math.inf if x > 0 or y % 2 == 0 else -math.inf
        except ValueError:  # a negative base, or 0 to a negative power
            return math.nan if x else math.copysign(math.inf, x) if y % 2 == 1 else math.inf
    wide = np.frompyfunc(one, 2, 1)(np.asarray(a, np.float64), np.asarray(b, np.float64))
    return np.asarray(wide, np.float64).astype(a.dtype)


def check(op, version, a, b, y, name, **attributes):
    tolerance = (EPSILON.get(y.dtype.name, 0) * (4 if op == 'Pow' else 1), 0) if y.dtype == a.dtype else (0, 0)
    cases.node(op, version, [a, b], [y], tolerance, name=name, **attributes)


# ---- multidirectional broadcasting ----

for op in ['Add', 'Sub', 'Mul', 'Div', 'BitwiseAnd', 'BitwiseOr', 'BitwiseXor'] + list(COMPARISONS):
    for schema in versions(op):
        for dtype in allowed(schema, schema.inputs[0]):
            for sa, sb in some(SHAPES) if schema.since_version >= 7 else SHAPES[:1]:
                a, b = samples(dtype, sa), samples(dtype, sb, nonzero=True)
                y = arithmetic(op, a, b) if op in ARITHMETIC else np.asarray(COMPARISONS[op](a, b)).astype(bool)
                check(op, schema.since_version, a, b, y, f'{dtype.name}')

for schema in versions('PRelu'):
    legacy = schema.since_version < 7
    for dtype in allowed(schema, schema.inputs[0]):
        for sa, sb in [((2, 3, 4), (1,)), ((2, 3, 4), (3,)), ((2, 3), (2, 3))] if legacy else \
                [((2, 3, 4), (3, 1)), ((2, 3, 4), (4,)), ((2, 3), ()), ((0, 3), (3,))]:
            a, b = samples(dtype, sa), samples(dtype, sb)
            y = arithmetic('PRelu', a, b.reshape(3, 1) if legacy and sb == (3,) else b)
            check('PRelu', schema.since_version, a, b, y, dtype.name)

for version, dtypes in [(10, versions('Mod')[0]), (13, versions('Mod')[1]), (28, versions('Mod')[2])]:
    for dtype in allowed(dtypes, dtypes.inputs[0]):
        for fmod in (0, 1):
            for sa, sb in SHAPES[:5]:
                a, b = samples(dtype, sa), samples(dtype, sb, nonzero=True)
                if fmod == 0 and dtype.kind not in 'iu' and version < 28:
                    cases.node('Mod', version, [a, b], [a], says='fmod=1', name='float')
                    continue
                check('Mod', version, a, b, arithmetic('fmod' if fmod else 'mod', a, b), dtype.name, fmod=fmod)
signed = np.array([0.0, -0.0, 5.0, -5.0, np.inf, -np.inf, 3.5, np.nan, 1.0], np.float32)
a, b = np.meshgrid(signed, signed)
check('Mod', 28, a, b, arithmetic('mod', a, b), 'special', fmod=0)
check('Mod', 13, a, b, arithmetic('fmod', a, b), 'special', fmod=1)

# ---- SwiGLU: shapes are equal ----

for dtype in allowed(versions('SwiGLU')[0], versions('SwiGLU')[0].inputs[0]):
    for alpha in (1.0, 0.5):
        a, b = np.clip(samples(dtype, (3, 50)), -20, 20).astype(dtype), samples(dtype, (3, 50))
        wide = a.astype(np.float64)
        with np.errstate(all='ignore'):
            y = (wide / (1 + np.exp(-alpha * wide)) * b.astype(np.float64)).astype(dtype)
        cases.node('SwiGLU', 28, [a, b], [y], (2.0**-20 if dtype.itemsize >= 4 else 2.0**-7, 1e-12), name=dtype.name,
                   alpha=alpha)
cases.node('SwiGLU', 28, [signed, signed[:1]], [signed], says='shapes must be equal')

# ---- shifts, also by what no bit survives ----

for schema in versions('BitShift'):
    for dtype in allowed(schema, schema.inputs[0]):
        bits = np.iinfo(dtype).bits
        by = np.array([0, 1, 3, bits - 1, bits, bits + 1, 100] + ([-1,
                                                                   -bits] if dtype.kind == 'i' else [])).astype(dtype)
        x = samples(dtype, (6, 1))
        for direction in ('LEFT', 'RIGHT'):
            def shift(v, n):
                outside = n < 0 or n >= bits
                if direction == 'LEFT':
                    return 0 if outside else v << n
                return (-1 if v < 0 else 0) if outside else v >> n
            y = wrapped(np.frompyfunc(shift, 2, 1)(x.astype(object), by.astype(object)), dtype)
            cases.node('BitShift', schema.since_version, [x, by], [y], name=dtype.name, direction=direction)

# ---- Pow over pairs of types ----

for schema in versions('Pow'):
    exponents = schema.inputs[1].type_str != schema.inputs[0].type_str
    for base in allowed(schema, schema.inputs[0]):
        for exponent in allowed(schema, schema.inputs[1]) if exponents else [base]:
            whole = base.kind in 'iu'
            x = np.array([1, 2, 3, 10, -2, -1, 7] if whole else [0.5, 2.0, 3.25, 10.0, 0.0, 1.0, 7.5]).astype(base)
            y = np.array([0, 1, 2, 3, 5, 9, 20]).astype(exponent)
            if schema.since_version >= 7:
                x = x[:, None]
            if whole and exponent.kind in 'iu':
                z = wrapped(np.frompyfunc(lambda a, b: a**b, 2, 1)(x.astype(object), y.astype(object)), base)
            elif whole:
                z = wrapped(np.power(x.astype(np.float64), y.astype(np.float64)).astype(object), base)
            else:
                with np.errstate(all='ignore'):
                    z = np.power(x.astype(np.float64), y.astype(np.float64)).astype(base)
            check('Pow', schema.since_version, x, y, z, f'{base.name}_{exponent.name}')
i64, f32 = np.int64, np.float32
cases.node('Pow', 13, [np.array([1, -1, -1, 2, 5], i64), np.array([-3, -3, -2, -1, -9], i64)],
           [np.array([1, -1, 1, 0, 0], i64)])
cases.node('Pow', 13, [np.array([3, 0, 2], i64), np.array([2, -1, 2], i64)], [np.array([9, 0, 4], i64)],
           says='integer 0 to the power -1 at element 1')
special = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, np.inf, -np.inf, np.nan, 3.0], f32)
for exponent in [2.0, 3.0, 0.5, -1.0, 1.0, 0.0, -0.5, 1 / 3, np.inf, np.nan]:
    y = np.array(exponent, f32)
    z = power(special, y)
    cases.node('Pow', 13, [special, y], [z], (2.0**-22, 0), name='special')
bases = np.abs(random.randn(2000) * 20).astype(f32)
exponent = (random.randn(2000) * 6).astype(f32)
cases.node('Pow', 13, [bases, exponent], [np.power(bases.astype(np.float64), exponent.astype(np.float64)).astype(f32)],
           (2.0**-22, 1e-44), name='range')

# ---- before opset 7: B stands at an axis of A ----

for op in ['Add', 'Sub', 'Mul', 'Div', 'Pow', 'And', 'Or', 'Xor', 'Equal', 'Greater', 'Less']:
    for schema in versions(op):
        if schema.since_version >= 7:
            continue
        for dtype in allowed(schema, schema.inputs[0]):
            for sb, axis, aligned in [((5,), None, (5,)), ((4, 5), None, (4, 5)), ((3, 4), 1, (3, 4, 1)),
                                      ((2,), 0, (2, 1, 1, 1)),
                                      ((), None, ()), ((1, 1), None, (1, 1)), ((1,), 2, ()), ((3, 4), -3, (3, 4, 1))]:
                a, b = samples(dtype, (2, 3, 4, 5)), samples(dtype, sb, nonzero=True)
                if op == 'Pow':
                    a, b = np.abs(a), np.asarray(np.clip(b, -2, 2)).astype(dtype)
                    y = power(a, b.reshape(aligned))
                else:
                    both = a, b.reshape(aligned)
                    y = arithmetic(op, *both) if op in ARITHMETIC else COMPARISONS[op](*both)
                attributes = {'broadcast': 1, **({} if axis is None else {'axis': axis})}
                check(op, schema.since_version, a, b, y, f'{dtype.name}_axis', **attributes)
whole = np.zeros((2, 3), f32)
cases.node('Add', 6, [whole, whole[0]], [whole], says='shapes must be equal')
for axis in -4, -2, 0, 1, 7:  # equal shapes need none
    cases.node('Add', 6, [whole, whole], [whole + whole], axis=axis)
cases.node('Add', 6, [whole, np.zeros(2, f32)], [whole], says='axis 0 has 2', broadcast=1)
cases.node('Add', 6, [whole, np.zeros(3, f32)], [whole], says='does not stand within A', broadcast=1, axis=2)
cases.node('Add', 7, [whole, np.zeros(2, f32)], [whole], says='does not broadcast')
cases.node('PRelu', 6, [np.array(1, f32), np.zeros(3, f32)], [np.array(1, f32)], says='has a number for each channel, but X has none')
cases.node('PRelu', 9, [np.zeros(3, f32), whole], [whole], says='does not broadcast to X')

# ---- no quotient by zero ----

for dtype in [np.int8, np.uint16, np.int32, np.uint64]:
    a, b = np.array([[4, 5, 6]], dtype), np.array([[1], [0]], dtype)
    for op, attributes in [('Div', {}), ('Mod', {}), ('Mod', {'fmod': 1})]:
        cases.node(op, 14, [a, b], [a + b], says='integer division by zero at element 1', name='zero', **attributes)
    cases.node('Div', 14, [a[:, :0], b], [np.zeros((2, 0), dtype)], name='none')

cases.run()
