"""Cast between every pair of types of every version, CastLike, BitCast; text; what is out of range.

What a float becomes is found by search: the nearest of all values of the type, ties to the even code. So nothing of how
minirt rounds is repeated here. Every pair is tried in the newest version, some in the others (-a: all)."""
import math
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from arrays import ArrayCases, allowed, element_type
from one_node import versions

cases = ArrayCases()
random = np.random.RandomState(3)

NARROW = {ml_dtypes.float8_e4m3fn: 8, ml_dtypes.float8_e4m3fnuz: 8, ml_dtypes.float8_e5m2: 8,
          ml_dtypes.float8_e5m2fnuz: 8,
          ml_dtypes.float6_e2m3fn: 6, ml_dtypes.float6_e3m2fn: 6, ml_dtypes.float4_e2m1fn: 4}
SMALL_INTS = {ml_dtypes.int4: (4, True), ml_dtypes.uint4: (4, False), ml_dtypes.int2: (2, True),
              ml_dtypes.uint2: (2, False)}
E8M0 = ml_dtypes.float8_e8m0fnu
FLOAT8 = list(NARROW)[:4]
WIDE = {np.float16: (10, 5), ml_dtypes.bfloat16: (7, 8), np.float32: (23, 8), np.float64: (52, 11)}


def is_float(t):
    return t.type in NARROW or t.type in WIDE or t.type == E8M0


def int_range(t):
    if t.type in SMALL_INTS:
        bits, sign = SMALL_INTS[t.type]
    else:
        bits, sign = 8 * t.itemsize, t.kind == 'i'
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if sign else (0, (1 << bits) - 1)


def wrap(v, t):
    low, high = int_range(t)
    return (v - low) % (high - low + 1) + low


def number(x):
    """An element as an exact number, or a float that has none."""
    if isinstance(x, (bool, np.bool_)):
        return Fraction(int(x))
    t = np.dtype(type(x))
    if not is_float(t):
        return Fraction(int(x))
    v = float(x)
    return v if math.isnan(v) or math.isinf(v) else Fraction(v)


TABLES = {}


def table(t):
    """The finite values of a type of at most 8 bits, by code, without the sign."""
    if t not in TABLES:
        codes = np.arange(1 << NARROW[t.type] - 1, dtype=np.uint8)
        values = codes.view(t).astype(np.float64)
        TABLES[t] = [(Fraction(v), c) for v, c in zip(values, codes) if math.isfinite(v)]
    return TABLES[t]


def to_narrow(v, t, saturate, negative):
    code_of = lambda c: np.array([c | ((1 << NARROW[t.type] - 1) if negative else 0)], np.uint8).view(t)[0]
    values = table(t)
    largest, top = values[-1]
    one_zero = t.type in (ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)
    if isinstance(v, float) and math.isnan(v):
        return np.array([-0.0 if t.type not in FLOAT8 else np.nan]).astype(t)[0]
    step = largest - values[-2][0]
    beyond = isinstance(v, float) or abs(v) > largest + step / 2 or (abs(v) == largest + step / 2 and top % 2 == 1)
    if beyond:
        if t.type not in FLOAT8 or saturate:
            return code_of(top)
        return np.array([(-np.inf if negative else np.inf) if t.type == ml_dtypes.float8_e5m2 else np.nan]).astype(t)[0]
    m = min(abs(v), largest)
    code = min(values, key=lambda p: (abs(p[0] - m), p[1] % 2))[1]
    return np.uint8(0).view(t) if code == 0 and one_zero else code_of(code)


def to_wide(v, t, negative):
    fraction, exponent = WIDE[t.type]
    if isinstance(v, float):
        return np.array([v]).astype(t)[0]
    if v == 0:
        return np.array([-0.0 if negative else 0.0]).astype(t)[0]
    bias = (1 << exponent - 1) - 1
    m = abs(v)
    e = m.numerator.bit_length() - m.denominator.bit_length()
    e -= m < Fraction(2)**e
    unit = Fraction(2)**(max(e, 1 - bias) - fraction)
    m = round(m / unit) * unit  # Python rounds ties to even
    y = math.inf if m >= Fraction(2)**(bias + 1) else float(m)
    return np.array([-y if negative else y]).astype(t)[0]


def to_e8m0(v, saturate, mode):
    """Powers of two, of what isn't negative."""
    code = None
    if isinstance(v, float):
        code = 0xff if math.isnan(v) else 1000
    elif v == 0:
        code = -1000
    else:
        e = v.numerator.bit_length() - v.denominator.bit_length()
        e -= v < Fraction(2)**e
        part = v / Fraction(2)**e
        code = e + 127 + (part != 1 if mode == 'up' else part >= Fraction(3, 2) if mode == 'nearest' else False)
    if code != 0xff or not isinstance(v, float):
        code = code if 0 <= code <= 0xfe else 0xff if not saturate else 0 if code < 0 else 0xfe
    return np.array([code], np.uint8).view(E8M0)[0]


def cast(x, t, saturate=True, mode='up'):
    out = []
    for e in x.ravel():
        v = number(e)
        negative = bool(np.signbit(np.float64(e))) if is_float(x.dtype) else v < 0
        if t == bool:
            out.append(v != 0)
        elif t.type == E8M0:
            out.append(to_e8m0(v, saturate, mode))
        elif t.type in NARROW:
            out.append(to_narrow(v, t, saturate, negative))
        elif t.type in WIDE:
            out.append(to_wide(v, t, negative))
        else:
            out.append(wrap(0 if isinstance(v, float) else math.trunc(v), t))
    if t == bool or is_float(t):
        return np.array(out, t).reshape(x.shape)
    return np.array(out, object).astype(t).reshape(x.shape)


def samples(t, to):
    """Of type t, with what is special of it; not negative on the way to float8e8m0, which has no sign."""
    if t == bool:
        return np.array([True, False, True])
    if not is_float(t):
        low, high = int_range(t)
        values = [v for v in [low, low + 1, -200, -1, 0, 1, 2, 3, 5, 7, 127, 128, 255, 256, 300, 65519, 65520, 65535,
                              2**24 + 1, 2**31, 2**53 + 1, 2**60 + 2**52 + 1, high - 1, high] if low <= v <= high]
        x = np.array(values, object).astype(t)
    elif t.type in NARROW or t.type == E8M0:
        x = np.arange(1 << NARROW.get(t.type, 8), dtype=np.uint8).view(t)
    else:
        values = [0.0, -0.0, np.nan, np.inf, -np.inf, 0.5, 1.5, 2.5, -1.9, 7.5, 8.0, 15.5, 127.9, 128.0, -129.0, 255.9,
                  256.0, 300.7, -300.7, 464.0, 464.1, 479.0, 57344.0, 61440.0, 61439.0, 65504.0, 65519.99, 65520.0,
                  1e-3, 2e-5, 6e-8, 2.9e-8, 1e-40, 1e-45, 3e9, -3e9, 1e19, 3e19, 1e30, 3.4028235e38, 3.4028236e38,
                  1e300,
                  2.0**-127, 2.0**-130]
        with np.errstate(over='ignore'):
            x = np.concatenate([np.array(values), random.randn(40) * np.exp2(random.randint(-20, 20, 40))]).astype(t)
    return np.abs(x) if to.type == E8M0 and t != bool and t.type != E8M0 and (is_float(t) or int_range(t)[0] < 0) else x


def nonnegative(x, to):
    if to.type != E8M0 or x.dtype == bool:
        return x
    if not is_float(x.dtype):
        keep = np.array([int(v) >= 0 for v in x])
    else:
        keep = ~np.signbit(x.astype(np.float64))
    return x[keep]


def numeric_pairs(schema, like=False):
    for a in allowed(schema, schema.inputs[0]):
        for b in allowed(schema, schema.inputs[1] if like else schema.outputs[0]):
            if a != object and b != object:
                yield a, b


def zeros(t, shape):
    return np.zeros(shape, np.uint8).view(t) if t.itemsize == 1 else np.zeros(shape, t)


def code(t):
    return TensorProto.STRING if t == object else helper.np_dtype_to_tensor_dtype(t)


def attribute(version, t):
    if version >= 6:
        return code(t)
    return next(k for k, v in TensorProto.DataType.items() if v == code(t))


# ---- numbers ----

for schema in versions('Cast'):
    version = schema.since_version
    pairs = list(numeric_pairs(schema))
    if version != 28 and '-a' not in sys.argv:
        pairs = [pairs[k] for k in random.choice(len(pairs), 40, False)]
    for a, b in pairs:
        x = nonnegative(samples(a, a), b)
        cases.node('Cast', version, [x], [cast(x, b)], name=f'{a.name}_{b.name}', to=attribute(version, b))
        if version >= 19 and b.type in FLOAT8 + [E8M0]:
            for mode in ['up', 'down', 'nearest'] if b.type == E8M0 else [None]:
                for saturate in (0, 1):
                    more = {'round_mode': mode} if mode else {}
                    cases.node('Cast', version, [x], [cast(x, b, saturate, mode or 'up')],
                               name=f'{a.name}_{b.name}_{saturate}_{mode}', to=code(b), saturate=saturate, **more)

for schema in versions('CastLike'):
    pairs = list(numeric_pairs(schema, like=True))
    for k in random.choice(len(pairs), 25, False):
        a, b = pairs[k]
        x = nonnegative(samples(a, a), b)
        cases.node('CastLike', schema.since_version, [x, zeros(b, (1, 0))], [cast(x, b)], name=f'{a.name}_{b.name}')
cases.node('Cast', 13, [np.zeros((2, 0), np.float32)], [np.zeros((2, 0), np.int64)], to=TensorProto.INT64)
cases.node('Cast', 13, [np.array(2.5, np.float32)], [np.array(2, np.int64)], to=TensorProto.INT64)
cases.node('Cast', 13, [np.zeros(2, np.float32)], [np.zeros(2, np.float32)], to=TensorProto.FLOAT8E5M2,
           says='float8e5m2')
cases.node('Cast', 13, [np.zeros(2, np.float32)], [np.zeros(2, np.float32)], to=77, says='77')
bytes_ = np.arange(9000, dtype=np.float32)
cases.node('Cast', 13, [bytes_], [(bytes_.astype(np.int64) % 256).astype(np.uint8)], to=TensorProto.UINT8)

# ---- text ----

TEXT = ['3.14', '1000', '1e-5', '1E8', '+INF', 'inf', '-Inf', 'NaN', ' 7', '0.1', '-0', '16777217', '2.5e-45']
for dtype in [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64, ml_dtypes.float8_e5m2)]:
    with np.errstate(all='ignore'):
        y = np.array([cast(np.array([float(s)]), dtype)[0] for s in TEXT], dtype)
    cases.node('Cast', 21, [np.array(TEXT, object)], [y], name=f'text_{dtype.name}', to=code(dtype))
whole = ['0', '-1', '+42', '9223372036854775807', '100.5', '-2.9', '1e3', '300']
for dtype in [np.dtype(t) for t in (np.int8, np.uint8, np.int32, np.int64, ml_dtypes.int4)]:
    y = np.array([wrap(int(s) if s.lstrip('+-').isdigit() else math.trunc(float(s)), dtype) for s in whole], object)
    cases.node('Cast', 21, [np.array(whole, object)], [y.astype(dtype)], name=f'text_{dtype.name}', to=code(dtype))
big = np.array(['18446744073709551615', '9223372036854775809'], object)
cases.node('Cast', 21, [big], [np.array([2**64 - 1, 2**63 + 1], np.uint64)], to=TensorProto.UINT64)
cases.node('Cast', 21, [np.array(['0', '1', '0.0', '-2', 'nan', 'True', 'false'], object)],
           [np.array([False, True, False, True, True, True, False])], to=TensorProto.BOOL)
for text in ['Hello World!', '', '1.2.3', '0x10', '1e', 'true']:
    cases.node('Cast', 21, [np.array(['1', text], object)], [np.zeros(2, np.float32)], to=TensorProto.FLOAT,
               says=f'"{text}" at element 1 is no number')

SPELT = {
    np.float32: [(0.1, '0.1'), (314.15927, '314.15927'), (1, '1.0'), (-0.0, '-0.0'), (1e16, '1e+16'), (1e-5, '1e-05'),
                 (0.0001, '1e-04'), (np.nan, 'nan'), (np.inf, 'inf'), (-np.inf, '-inf'), (16777216, '16777216.0'),
                 (1.17549435e-38, '1.1754944e-38')],
    np.float64: [(0.1, '0.1'), (1 / 3, '0.3333333333333333'), (1e22, '1e+22'), (123456789.125, '123456789.125'),
                 (5e-324, '5e-324')],
    np.float16: [(0.1, '0.1'), (65504, '65500.0'), (2**-24, '6e-08'), (1.5, '1.5')],
    ml_dtypes.bfloat16: [(0.1, '0.1'), (256, '256.0'), (1.5, '1.5')],
    ml_dtypes.float8_e4m3fn: [(0.1015625, '0.1015625'), (448, '448.0'), (np.nan, 'nan')],
    np.int64: [(-2**63, '-9223372036854775808'), (0, '0')],
    np.uint64: [(2**64 - 1, '18446744073709551615')],
    np.int8: [(-128, '-128')],
    ml_dtypes.int4: [(-8, '-8')],
    np.bool_: [(True, 'True'), (False, 'False')],
}
for t, pairs in SPELT.items():
    x = np.array([v for v, _ in pairs], object if t in (np.uint64, np.int64) else None).astype(t)
    cases.node('Cast', 21, [x], [np.array([s for _, s in pairs], object)], name=f'{np.dtype(t).name}_text',
               to=TensorProto.STRING)
words = np.array(['a', '', 'naïve'], object)
cases.node('Cast', 21, [words], [words], to=TensorProto.STRING)
cases.node('CastLike', 21, [np.array([1.5], np.float32), words], [np.array(['1.5'], object)])

# ---- bits ----

def wire_bits(t):
    return NARROW.get(t.type) or SMALL_INTS.get(t.type, (8 * t.itemsize,))[0]


def codes(t):
    bits = wire_bits(t)
    if bits <= 8:
        flat = np.arange(1 << bits, dtype=np.uint8)
        if t.type in SMALL_INTS and SMALL_INTS[t.type][1]:
            flat = (flat.astype(np.int16) - ((flat >> bits - 1).astype(np.int16) << bits)).astype(np.int8)
        return flat
    return np.frombuffer(random.bytes(16 * t.itemsize), np.uint8)


def all_of(t):
    """Every code, or random ones."""
    if t == bool:
        return np.array([True, False])
    flat = codes(t)
    return (flat.astype(np.int8) if wire_bits(t) < 8 else flat).view(t)


schema = versions('BitCast')[0]
for a in allowed(schema, schema.inputs[0]):
    for b in allowed(schema, schema.outputs[0]):
        if bool in (a, b) and a != b:
            continue  # bytes that are neither 0 nor 1
        x, bits = all_of(a), wire_bits(a)
        if bits == wire_bits(b):
            y = x if a == b else x.view(b) if bits >= 8 else all_of(b)
            cases.node('BitCast', 26, [x], [y], name=f'{a.name}_{b.name}', to=code(b))
        elif random.rand() < 0.1:
            cases.node('BitCast', 26, [x], [zeros(b, x.shape)], to=code(b), says='bits')

cases.run()
