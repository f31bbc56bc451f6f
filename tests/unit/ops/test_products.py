#!/usr/bin/env python3
"""Matrix products and Einsum: every version and type, and the shapes that the official data lacks. What is expected comes
from NumPy, in double or in integers of Python's size, rounded once."""
import numpy as np
from onnx import TensorProto, helper

from one_node import Cases, dtype, types, versions

F, F16, BF16, F64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE
I8, U8, I32, I64 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT32, TensorProto.INT64
F8 = (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ)
FLOATS = {F16: (2e-3, 2e-3), BF16: (1.6e-2, 1.6e-2), F: (1e-5, 1e-5), F64: (1e-12, 1e-12)}
rng = np.random.default_rng(11)
cases = Cases()


def tolerance(t):
    return FLOATS.get(t, (0, 0))


def values(t, *shape):
    d = dtype(t)
    if d.kind in 'iu':
        return rng.integers(np.iinfo(d).min, np.iinfo(d).max, shape, dtype=d, endpoint=True)
    return rng.standard_normal(shape).astype(d)


def wide(t, x):
    """Values in which sums of products are exact, or modulo 2^64."""
    return x.astype(np.float64 if t in FLOATS else np.uint64 if dtype(t).kind == 'u' else np.int64)


def narrow(t, x):
    with np.errstate(all='ignore'):
        return np.asarray(x).astype(dtype(t))


SHAPES = [((3, 4), (4, 5)), ((4,), (4,)), ((4,), (4, 3)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
          ((2, 1, 3, 4), (5, 4, 2)), ((1, 7), (7, 70)), ((130, 3), (3, 2)), ((65, 129), (129, 67)), ((3, 0), (0, 2)),
          ((0, 3), (3, 2)), ((2, 0, 3, 4), (4, 1)), ((4,), (2, 3, 4, 5)), ((2, 3, 5, 4), (4,)), ((1, 1), (1, 1)),
          ((7, 300), (300, 33)), ((2, 6, 16), (2, 16, 17)), ((13, 16), (16, 32)), ((3, 1, 2, 5), (1, 4, 5, 2))]
for schema in versions('MatMul'):
    node = helper.make_node('MatMul', ['A', 'B'], ['Y'])
    for t in types(schema, 'T'):
        for sa, sb in SHAPES:
            a, b = values(t, *sa), values(t, *sb)
            with np.errstate(all='ignore'):
                y = narrow(t, np.matmul(wide(t, a), wide(t, b)))
            for constant in ((), ('B',)) if t in FLOATS else ((),):
                cases.add(node, schema.since_version, {'A': (t, a), 'B': (t, b)}, {'Y': (t, y)}, constant=constant,
                          tolerance=tolerance(t))
cases.add(helper.make_node('MatMul', ['A', 'B'], ['Y']), 13,
          {'A': (F, values(F, 2, 3, 4)), 'B': (F, values(F, 5, 4))}, {'Y': (F, values(F, 1))},
          says='the shapes do not fit')
cases.add(helper.make_node('MatMul', ['A', 'B'], ['Y']), 13,
          {'A': (F, values(F, 2, 3, 4)), 'B': (F, values(F, 3, 4, 4))}, {'Y': (F, values(F, 1))},
          says='the shapes do not fit')


def gemm(schema, t, trans_a, trans_b, c_shape, alpha, beta, broadcast=None, m=5, n=19, k=33):
    a, b = values(t, *((k, m) if trans_a else (m, k))), values(t, *((n, k) if trans_b else (k, n)))
    attrs = {'alpha': alpha, 'beta': beta, 'transA': trans_a, 'transB': trans_b}
    if broadcast is not None:
        attrs['broadcast'] = broadcast
    inputs = {'A': (t, a), 'B': (t, b)}
    with np.errstate(all='ignore'):
        y = np.matmul(wide(t, a.T if trans_a else a), wide(t, b.T if trans_b else b))
        whole = alpha == int(alpha) and (c_shape is None or beta == int(beta))
        integer = t not in FLOATS
        if integer and not whole:
            y = narrow(t, y).astype(np.float64)
        y = y * (np.int64(alpha).astype(y.dtype) if integer and whole else alpha)
        if c_shape is not None:
            c = values(t, *c_shape)
            inputs['C'] = (t, c)
            y = y + (wide(t, c) * np.int64(beta).astype(y.dtype) if integer and whole else c.astype(np.float64) * beta)
        if integer and not whole:
            y = np.trunc(y).astype(np.int64)
        y = narrow(t, y)
    node = helper.make_node('Gemm', list(inputs), ['Y'], **attrs)
    cases.add(node, schema.since_version, inputs, {'Y': (t, y)}, constant=('B',) if rng.integers(2) else (),
              tolerance=tolerance(t))


for schema in versions('Gemm'):
    v = schema.since_version
    for t in types(schema, 'T'):
        for trans_a in (0, 1):
            for trans_b in (0, 1):
                for c in rng.permutation(np.array([(5, 19), (19,), (1, 19), (5, 1), (1,), (), (1, 1), None], object))[:4]:
                    if c is None and v < 11:
                        continue
                    old = {} if v >= 7 else {'broadcast': int(c != (5, 19))}
                    gemm(schema, t, trans_a, trans_b, c, 1.0, 1.0, **old)
        gemm(schema, t, 0, 0, (5, 19), 2.0, -3.0, **({} if v >= 7 else {'broadcast': 0}))
        if dtype(t).itemsize <= 4 and t != TensorProto.UINT32:
            gemm(schema, t, 0, 1, (5, 19), 0.5, 0.25, k=2, **({} if v >= 7 else {'broadcast': 0}))
one = {'A': (F, values(F, 2, 3)), 'B': (F, values(F, 3, 4)), 'C': (F, values(F, 4))}
cases.add(helper.make_node('Gemm', ['A', 'B', 'C'], ['Y']), 6, one, {'Y': (F, values(F, 1))}, says='expected rank 2, got rank 1')
cases.add(helper.make_node('Gemm', ['A', 'B', 'C'], ['Y'], transB=1), 13, one, {'Y': (F, values(F, 1))}, says='the shapes do not fit')
cases.add(helper.make_node('Gemm', ['A', 'B', 'C'], ['Y']), 13, {**one, 'C': (F, values(F, 3))}, {'Y': (F, values(F, 1))},
          says='does not fit the product [2,4]')
nan = {**one, 'C': (F, np.full(4, np.nan, np.float32))}
y = (one['A'][1].astype(np.float64) @ one['B'][1]).astype(np.float32)
cases.add(helper.make_node('Gemm', ['A', 'B', 'C'], ['Y'], beta=0.0), 13, nan, {'Y': (F, y)}, tolerance=(1e-6, 1e-6))

# ---- quantized: zero points and scales of every form ----

QSHAPES = [((3, 4), (4, 5)), ((4,), (4, 3)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 8), (4, 8, 6)),
           ((70, 131), (131, 66)), ((1, 64), (64, 40)), ((2, 2, 7, 9), (2, 2, 9, 17))]


def rows_of(shape, form):
    """The shape of a parameter of A: one for all, a vector of M, or [..., M, 1]."""
    if form == 'one' or len(shape) < 2:
        return ()
    return (shape[-2],) if form == 'vector' and len(shape) == 2 else (*shape[:-1], 1)


def cols_of(shape, form):
    if form == 'one' or len(shape) < 2:
        return (1,)
    return (shape[-1],) if form == 'vector' else (*shape[:-2], 1, shape[-1])


def per_row(x):
    return x[:, None] if x.ndim == 1 and x.size > 1 else x.reshape(()) if x.size == 1 else x


for ta in (U8, I8):
    for tb in (U8, I8):
        for sa, sb in QSHAPES:
            for form in ('none', 'one', 'vector', 'full'):
                a, b = values(ta, *sa), values(tb, *sb)
                x, w = a.astype(np.int64), b.astype(np.int64)
                inputs = {'A': (ta, a), 'B': (tb, b)}
                if form != 'none':
                    za, zb = values(ta, *rows_of(sa, form)), values(tb, *cols_of(sb, form))
                    inputs |= {'za': (ta, za), 'zb': (tb, zb)}
                    x, w = x - per_row(za.astype(np.int64)), w - (zb.astype(np.int64) if zb.size > 1 else int(zb.flat[0]))
                y = np.matmul(x, w).astype(np.int32)
                constant = tuple(k for k in ('B', 'zb') if k in inputs) if rng.integers(2) else ()
                cases.add(helper.make_node('MatMulInteger', list(inputs), ['Y']), 10, inputs, {'Y': (I32, y)},
                          constant=constant)
cases.add(helper.make_node('MatMulInteger', ['A', 'B', 'za'], ['Y']), 10,
          {'A': (U8, values(U8, 3, 4)), 'B': (U8, values(U8, 4, 5)), 'za': (U8, values(U8, 4))}, {'Y': (I32, values(I32, 1))},
          says='it takes one for all, or one a row')


def qlinear(version, ta, tb, ty, ts, sa, sb, form, y_form='one', constant=()):
    f8 = [t in F8 for t in (ta, tb, ty)]
    a, b = (rng.standard_normal(s).astype(np.float32).astype(dtype(t)) if t in F8 else values(t, *s)
            for s, t in ((sa, ta), (sb, tb)))
    za, zb = (np.zeros(f(s, form), dtype(t)) if t in F8 else values(t, *f(s, form))
              for s, t, f in ((sa, ta, rows_of), (sb, tb, cols_of)))
    scale_a = rng.uniform(0.01, 0.1, za.shape).astype(dtype(ts))
    scale_b = rng.uniform(0.01, 0.1, zb.shape).astype(dtype(ts))
    x = a.astype(np.float64) - per_row(za.astype(np.float64))
    w = b.astype(np.float64) - (zb.astype(np.float64) if zb.size > 1 else float(zb.flat[0]))
    acc = np.matmul(x, w)
    sy_shape = () if y_form == 'one' or acc.ndim < 2 else (*acc.shape[:-1], 1) if y_form == 'row' else acc.shape[-1:]
    scale_y = rng.uniform(0.5, 2, sy_shape).astype(dtype(ts))
    zy = np.zeros(sy_shape, dtype(ty)) if f8[2] else values(ty, *sy_shape)
    factor = np.broadcast_to(per_row(scale_a.astype(np.float64)), x.shape)[..., :1] if a.ndim > 1 else float(scale_a.flat[0])
    cols = scale_b.astype(np.float64) if scale_b.size > 1 else float(scale_b.flat[0])
    if a.ndim > 1 and b.ndim == 1:
        factor = factor[..., 0]
    real = (acc * (factor * cols / scale_y.astype(np.float64))).reshape(acc.shape)
    if f8[2]:
        t = dtype(ty)
        big = float(np.array(240 if ty == F8[1] else 448 if ty == F8[0] else 57344, np.float32))
        y = np.clip(real + zy.astype(np.float64), -big, big).astype(np.float32).astype(t)
    else:
        y = np.clip(np.rint(real) + zy.astype(np.float64), np.iinfo(dtype(ty)).min, np.iinfo(dtype(ty)).max).astype(dtype(ty))
    inputs = {'a': (ta, a), 'sa': (ts, scale_a), 'za': (ta, za), 'b': (tb, b), 'sb': (ts, scale_b), 'zb': (tb, zb),
              'sy': (ts, scale_y), 'zy': (ty, zy)}
    cases.add(helper.make_node('QLinearMatMul', list(inputs), ['y']), version, inputs, {'y': (ty, y)}, constant=constant)


for version in (10, 21):
    for ta in (U8, I8):
        for tb in (U8, I8):
            for ty in (U8, I8):
                for sa, sb in QSHAPES:
                    for form in rng.permutation(['one', 'vector', 'full'])[:1]:
                        qlinear(version, ta, tb, ty, F, sa, sb, form, constant=('b', 'zb') if rng.integers(2) else ())
qlinear(21, I8, I8, I8, F, (0, 2, 4), (0, 4, 3), 'one')
qlinear(21, I8, I8, I8, F, (2, 0, 2, 4), (1, 4, 3), 'one')
for ts in (F, F16, BF16):
    qlinear(21, U8, I8, U8, ts, (3, 4), (4, 5), 'vector')
    for y_form in ('row', 'col'):
        qlinear(21, I8, I8, U8, ts, (2, 3, 4), (2, 4, 5), 'full', y_form)
    for ta in F8 + (I8,):
        for tb in F8 + (U8,):
            qlinear(21, ta, tb, (F8 + (I8,))[int(rng.integers(5))], ts, (2, 5, 6), (6, 7), 'one')

# ---- Einsum ----

EQUATIONS = [('ij,jk->ik', 2), ('ij,jk', 2), ('ii->i', 1), ('ii', 1), ('ij->ji', 1), ('ij->', 1), ('...ij->...ji', 1), ('ij,kl->ijkl', 2),
             ('i,i->i', 2), ('i,i->', 2), ('bij,bjk->bik', 2), ('bhqd,bhkd->bhqk', 2), ('bqhd,bkhd->bhqk', 2), ('ab,cb->ca', 2),
             ('...ij,...jk->...ik', 2), ('...i,i->...', 2), ('i,...i->...i', 2), ('ij,jk,kl->il', 3), ('ijk,jil->kl', 2),
             ('iij,j->i', 2), ('abc,bd->', 2), ('ij,k->j', 2), ('i,j,k,l->lkji', 4), ('ba,cb,dc->ad', 3), ('ijij->ij', 1), ('Ab,bA->A', 2),
             (' i j , j k -> i k ', 2), ('i...->...', 1), ('a...b,b...->...a', 2), ('ab,ab->ab', 2), ('abc,abd,acd->bc', 3), ('->', 1), (',->', 2),
             ('ij,->ij', 2), ('aAbB->BbAa', 1), ('abcd,cd', 2), ('ii,jj->ij', 2), ('...,...->...', 2)]


def einsum_case(version, t, equation, n, ones=0.0):
    letters = sorted(set(c for c in equation if c.isalpha()))
    extent = {c: int(rng.integers(2, 6)) for c in letters}
    dots = [int(x) for x in rng.integers(2, 4, 2)]
    arrays = []
    for term in equation.replace(' ', '').split('->')[0].split(','):
        before, _, after = term.partition('...')
        shape = [extent[c] for c in before] + (dots if '...' in term else []) + [extent[c] for c in after]
        arrays.append(values(t, *[1 if rng.random() < ones and len(set(term)) == len(term) else d for d in shape]))
    with np.errstate(all='ignore'):
        y = narrow(t, np.einsum(equation.replace(' ', ''), *[wide(t, x) for x in arrays]))
    node = helper.make_node('Einsum', [f'x{i}' for i in range(n)], ['y'], equation=equation)
    r, a = tolerance(t)
    cases.add(node, version, {f'x{i}': (t, x) for i, x in enumerate(arrays)}, {'y': (t, y)}, tolerance=(r, 4 * a))


for schema in versions('Einsum'):
    for t in types(schema, 'T'):
        for equation, n in EQUATIONS if t in (F, F16, I64) else EQUATIONS[::3]:
            einsum_case(schema.since_version, t, equation, n)
for equation, n in EQUATIONS:
    if n > 1:
        einsum_case(12, F, equation, n, ones=0.3)
for equation, shapes, says in (('ij,jk->iz', [(2, 3), (3, 4)], "no operand has the result's label 'z'"),
                               ('ij->ii', [(2, 3)], "the result has the label 'i' twice"),
                               ('i$->i', [(2,)], "'$' is no label"), ('ij,jk', [(2, 3)], 'has 2 operands, the node has 1'),
                               ('ij->i', [(2, 3, 4)], 'has 2 labels, but its rank is 3'),
                               ('ij,jk->ik', [(2, 3), (4, 5)], 'has 4 where the same label has 3 before'),
                               ('ii->i', [(1, 5)], 'has 1 and 5 elements along one label'),
                               ('...ijj,j->i', [(2, 3, 5, 1), (5,)], 'has 5 and 1 elements along one label'),
                               ('i.j->i', [(2, 3)], "a lone '.'")):
    node = helper.make_node('Einsum', [f'x{i}' for i in range(len(shapes))], ['y'], equation=equation)
    cases.add(node, 12, {f'x{i}': (F, values(F, *s)) for i, s in enumerate(shapes)}, {'y': (F, values(F, 1))}, says=says)

# ---- Det ----

for schema in versions('Det'):
    for t in types(schema, 'T'):
        for shape in ((3, 3), (2, 3, 4, 4), (1, 1), (5, 2, 2), (0, 3, 3), (2, 0, 0), (1, 20, 20)):
            x = values(t, *shape)
            y = narrow(t, np.linalg.det(x.astype(np.float64)))
            cases.add(helper.make_node('Det', ['X'], ['Y']), schema.since_version, {'X': (t, x)}, {'Y': (t, y)},
                      tolerance=tolerance(t))
cases.add(helper.make_node('Det', ['X'], ['Y']), 11, {'X': (F, np.array([[1, 2], [2, 4]], np.float32))}, {'Y': (F, np.float32(0))})
cases.add(helper.make_node('Det', ['X'], ['Y']), 11, {'X': (F, values(F, 2, 3))}, {'Y': (F, np.float32(0))}, says='2 × 3 are not square')

cases.run()
