"""Sum, Mean, Max, Min, Where and Clip over every version and type."""
import numpy as np

from arrays import ArrayCases, allowed
from one_node import WORDS, versions

cases = ArrayCases()
random = np.random.RandomState(2)
ROUND = {'float16': 2**-11, 'bfloat16': 2**-8, 'float32': 2**-24, 'float64': 2**-53}


def samples(dtype, shape):
    if dtype == bool:
        return np.asarray(random.rand(*shape) > 0.5)
    if dtype == object:
        return np.array([WORDS[i] for i in random.randint(0, 5, int(np.prod(shape)))], object).reshape(shape)
    if dtype.kind == 'c':
        return np.asarray(random.randn(*shape) + 1j * random.randn(*shape)).astype(dtype)
    if dtype.kind in 'iu':
        info = np.iinfo(dtype)
        return np.asarray(random.randint(max(info.min, -100), 100, shape)).astype(dtype)
    x = np.asarray(random.randn(*shape) * 3, np.float64)
    for k, v in enumerate([np.inf, -np.inf, np.nan]):
        x.reshape(-1)[k + 5::37] = v
    return x.astype(dtype)


# ---- variadic ----

def joined(op, xs):
    if op in ('Max', 'Min'):
        y = xs[0].astype(np.float64) if xs[0].dtype.kind not in 'iu' else xs[0]
        for x in xs[1:]:
            y = (np.maximum if op == 'Max' else np.minimum)(y, x)
        return np.asarray(y).astype(xs[0].dtype)
    with np.errstate(all='ignore'):
        y = sum(x.astype(np.float64) for x in xs)
        return np.asarray(y / len(xs) if op == 'Mean' else y).astype(xs[0].dtype)


SHAPES = [[(3, 4)], [(3, 4), (3, 4)], [(3, 4), (4,), (3, 1)], [(), (2, 1), (1, 3), (1,)], [(2, 0), (1,)],
          [(600,), (600,), ()],
          [(3, 1)] + [(1, 5)] * 70]
for op in ['Sum', 'Mean', 'Max', 'Min']:
    for schema in versions(op):
        for dtype in allowed(schema, schema.inputs[0]):
            for shapes in SHAPES if schema.since_version >= 8 else [[(3, 4)] * n for n in (1, 2, 5)]:
                xs = [samples(dtype, s) for s in shapes]
                y = joined(op, xs)
                cases.node(op, schema.since_version, xs, [y], (ROUND.get(dtype.name, 0), 0), name=dtype.name)
f32 = np.float32
cases.node('Sum', 6, [np.zeros((2, 3), f32), np.zeros(3, f32)], [np.zeros((2, 3), f32)], says='before opset 8')
cases.node('Sum', 13, [np.array([1e8, 1], f32), np.array([1, 1e8], f32), np.array([-1e8, -1e8], f32)],
           [np.array([1, 1], f32)],
           name='rounded_once')

# ---- Where ----

for schema in versions('Where'):
    for dtype in allowed(schema, schema.inputs[1]):
        for sc, sx, sy in [((3, 4), (3, 4), (3, 4)), ((4,), (3, 1), (1,)), ((3, 1), (3, 4), ()), ((), (2, 3), (3,)),
                           ((2, 3, 4), (), ()), ((3, 1), (1, 4), (3, 4)), ((0,), (1,), ()), ((5,), (5,), (1,)),
                           ((5,), (), (5,))]:
            c, x, y = samples(np.dtype(bool), sc), samples(dtype, sx), samples(dtype, sy)
            cases.node('Where', schema.since_version, [c, x, y], [np.asarray(np.where(c, x, y)).astype(dtype)],
                       name=dtype.name)

# ---- Clip: min(max, max(input, min)) ----

FINITE = {'float16': 65504.0, 'bfloat16': float.fromhex('0x1.fep+127'), 'float32': float(np.finfo(f32).max),
          'float64': np.finfo(np.float64).max}


def clipped(x, low, high):
    wide = x if x.dtype.kind in 'iu' else x.astype(np.float64)
    return np.minimum(np.maximum(wide, low), high).astype(x.dtype)


for schema in versions('Clip'):
    version = schema.since_version
    for dtype in allowed(schema, schema.inputs[0]):
        x = samples(dtype, (5, 9))
        edge = np.iinfo(dtype) if dtype.kind in 'iu' else None
        low, high = (edge.min, edge.max) if edge else (-FINITE[dtype.name], FINITE[dtype.name])
        for a, b in [(None, None), (1, None), (None, 2), (1, 2), (2, 1), (3, 3)]:
            y = clipped(x, dtype.type(a if a is not None else low), dtype.type(b if b is not None else high))
            if version >= 11:
                bounds = [None if v is None else np.array(v).astype(dtype) for v in (a, b)]
                while bounds and bounds[-1] is None:
                    bounds.pop()
                cases.node('Clip', version, [x] + bounds, [y], name=dtype.name)
                continue
            if version == 6:  # whose defaults are those of float, whatever the type
                wide = x.astype(np.float64)
                y = clipped(wide, np.float64(a if a is not None else np.finfo(f32).min),
                            np.float64(b if b is not None else np.finfo(f32).max))
                with np.errstate(over='ignore'):
                    y = y.astype(dtype)
            given = {k: float(v) for k, v in (('min', a), ('max', b)) if v is not None}
            cases.node('Clip', version, [x], [y], name=dtype.name, **given)
x = np.array([1.0, np.nan, -2.0], f32)
cases.node('Clip', 13, [x, np.array(np.nan, f32)], [np.full(3, np.nan, f32)], name='nan')
cases.node('Clip', 13, [x, np.zeros(2, f32)], [x], says='expected rank 0, got rank 1')
for shape in [(), (0, 3)]:
    cases.node('Clip', 13, [np.full(shape, 7, f32), None, np.array(5, f32)], [np.full(shape, 5, f32)])

cases.run()
