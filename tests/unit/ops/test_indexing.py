#!/usr/bin/env python3
"""Operators that find or place elements by index, and that search for values: every version, type and reduction."""
import itertools

import numpy as np
from onnx import TensorProto, helper

from one_node import Cases, array, dtype, generator, random_tensor, types, versions

F, I64, I32, STRING, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.STRING, TensorProto.BOOL
COMPLEX = (TensorProto.COMPLEX64, TensorProto.COMPLEX128)
rng = generator(11)
cases = Cases()


def add(op, opset, inputs, outputs, says=None, wanted=None, **attrs):
    """inputs, outputs: lists of (type, array). wanted: which outputs the node has."""
    names = {chr(97 + i): v for i, v in enumerate(inputs)}
    outs = {f'y{i}': v for i, v in enumerate(outputs)}
    out_names = list(outs) if wanted is None else [n if i in wanted else '' for i, n in enumerate(outs)]
    if wanted is not None:
        outs = {n: v for i, (n, v) in enumerate(outs.items()) if i in wanted}
        while not out_names[-1]:
            out_names.pop()
    node = helper.make_node(op, list(names), out_names, name='node', **attrs)
    constant = [n for n in list(names)[1:] if rng.random() < 0.3]
    cases.add(node, opset, names, outs, constant, says)


def each(op, index=0):
    for schema in versions(op):
        for t in types(schema, schema.inputs[index].type_str):
            yield schema.since_version, t


def indices(shape, dim, t=I64):
    return t, rng.integers(-dim, dim, shape).astype(dtype(t))


def index_type():
    return I32 if rng.random() < 0.5 else I64


# ---- Gather, GatherElements, GatherND ----

for v, t in each('Gather'):
    x = random_tensor(rng, t, 4, 5, 3)
    for shape, axis in (((), 0), ((2, 3), 1), ((4,), 2), ((3,), -2), ((0,), 1)):
        low = 0 if v < 11 else -x.shape[axis]
        i = np.array(rng.integers(low, x.shape[axis], shape), dtype(index_type()))
        add('Gather', v, [(t, x), (I32 if i.dtype == np.int32 else I64, i)], [(t, np.take(x, i, axis))], axis=axis)
x = random_tensor(rng, F, 1000, 7)
i = indices((5000,), 1000)
add('Gather', 13, [(F, x), i], [(F, x[i[1]])])
i = indices((5000,), 7)
add('Gather', 13, [(F, x), i], [(F, x[:, i[1]])], axis=1)
add('Gather', 13, [(F, x), (I64, np.array([[1, 2], [3, -1001]]))], [(F, x)], says='index -1001 at position [1,1] out of range [-1000,999]')
add('Gather', 13, [(F, x), (I32, np.array(7, 'i'))], [(F, x)], axis=-1, says='index 7 out of range [-7,6]')
add('Gather', 13, [(F, np.zeros((0, 2), 'f')), (I64, np.array([0]))], [(F, x)], says='axis 0 of input 0 has no elements to point to')


def along(x, i, axis, where):
    """The coordinates of where (an index array's shape) with axis replaced by its elements."""
    at = list(np.indices(where))
    at[axis] = np.where(i < 0, i + x.shape[axis], i)
    return tuple(at)


for v, t in each('GatherElements'):
    for shape, smaller, axis in (((4, 5, 3), (2, 5, 3), 0), ((4, 5, 3), (4, 9, 3), 1), ((4, 5, 3), (3, 2, 2), -1), ((6,), (0,), 0),
                                 ((4, 5, 3), (4, 2, 2), 0)):
        x = random_tensor(rng, t, *shape)
        it, i = indices(smaller, shape[axis], index_type())
        add('GatherElements', v, [(t, x), (it, i)], [(t, x[along(x, i, axis, smaller)])], axis=axis)
for shape, axis in itertools.product(((3, 40, 50), (200, 3), (2, 3, 4, 5), (30000,)), (0, -1)):
    x = random_tensor(rng, F, *shape)
    it, i = indices(shape, shape[axis])
    add('GatherElements', 13, [(F, x), (it, i)], [(F, x[along(x, i, axis, shape)])], axis=axis)
add('GatherElements', 13, [(F, np.zeros((2, 2), 'f')), (I64, np.zeros((3, 2), int))], [(F, np.zeros(0, 'f'))], axis=1,
    says="axis 0 has 3, but 'data' has only 2 there")


def gather_nd(x, i, b):
    lead = i.shape[:-1]
    out = np.empty(lead + x.shape[b + i.shape[-1]:], x.dtype)
    for at in np.ndindex(*lead):
        out[at] = x[at[:b] + tuple(i[at])]
    return out


for v, t in each('GatherND'):
    for shape, lead, k, b in (((3, 4, 5), (2, 6), 2, 0), ((3, 4, 5), (), 3, 0), ((3, 4, 5), (7,), 1, 0), ((3, 4, 5), (3, 2), 1, 1),
                              ((3, 4, 5), (3, 4, 2), 1, 2), ((3, 4, 5), (0,), 2, 0)):
        if b and v < 12:
            continue
        x = random_tensor(rng, t, *shape)
        i = np.stack([indices(lead, shape[b + j])[1] for j in range(k)], -1)
        add('GatherND', v, [(t, x), (I64, i)], [(t, gather_nd(x, i, b))], **({'batch_dims': b} if b else {}))
add('GatherND', 13, [(F, np.zeros((2, 3), 'f')), (I64, np.array([[1, 2], [0, 3]]))], [(F, np.zeros(0, 'f'))],
    says='index 3 at position [1,1] out of range [-3,2]')

# ---- OneHot ----

for schema in versions('OneHot'):
    kinds = [(t, I64, F) for t in types(schema, 'T1')] + [(I64, t, F) for t in types(schema, 'T2')] + \
            [(I64, I32, t) for t in types(schema, 'T3')]
    for ti, td, tv in kinds:
        for axis in (-1, 0, 1, -2):
            depth = 5
            low = 0 if dtype(ti).kind == 'u' else -7
            i = rng.integers(low, 8, (2, 3)).astype(dtype(ti))
            if dtype(ti).kind == 'f':
                i = i + array(0.5, ti) * np.sign(i)
            values = random_tensor(rng, tv, 2)
            k = np.trunc(i.astype(np.float64)).astype(np.int64)
            k = np.where(k < 0, k + depth, k)
            hot = np.expand_dims(k, axis if axis >= 0 else axis + 3) == np.arange(depth).reshape([depth if d == axis % 3 else 1 for d in range(3)])
            d = array(depth, td).reshape(() if axis else (1,))
            add('OneHot', schema.since_version, [(ti, i), (td, d), (tv, values)], [(tv, np.where(hot, values[1], values[0]).astype(dtype(tv)))],
                axis=axis)
add('OneHot', 11, [(I64, np.array(2)), (I64, np.array(3)), (F, np.array([2, 5], 'f'))], [(F, np.array([2, 2, 5], 'f'))])
add('OneHot', 11, [(I64, np.array(2)), (I64, np.array(-1)), (F, np.array([2, 5], 'f'))], [(F, np.zeros(0, 'f'))], says='depth -1')

# ---- Compress ----

for v, t in each('Compress'):
    x = random_tensor(rng, t, 4, 5, 3)
    for axis, n in ((None, 60), (None, 7), (0, 4), (1, 3), (-1, 3), (2, 0)):
        if axis == -1 and v < 11:
            continue
        c = rng.integers(0, 2, n).astype(bool)
        add('Compress', v, [(t, x), (BOOL, c)], [(t, np.compress(c, x, axis))], **({} if axis is None else {'axis': axis}))
add('Compress', 11, [(F, np.zeros((2, 3), 'f')), (BOOL, np.zeros(4, bool))], [(F, np.zeros(0, 'f'))], axis=1, says='4 conditions for 3 elements')

# ---- scatters ----

def reduce(how, t, a, b):
    if how == 'none':
        return b
    if t == BOOL:
        return (a | b) if how in ('add', 'max') else (a & b)
    with np.errstate(all='ignore'):
        if how == 'add':
            return (a + b).astype(a.dtype)
        if how == 'mul' and t in COMPLEX:
            return np.array(complex(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)).astype(a.dtype)
        if how == 'mul':
            return (a * b).astype(a.dtype)
        if a != a or b != b:
            return a if a != a else b
        return (max if how == 'max' else min)(a, b)


def small(t, *shape):
    """Operands whose sums and products stay in sight."""
    if t in (STRING, BOOL):
        return random_tensor(rng, t, *shape)
    x = rng.integers(-3, 6, shape)
    if dtype(t).kind in 'u':
        x = np.abs(x)
    y = x.astype(np.float32).astype(dtype(t)) if dtype(t).kind != 'c' else (x + 1j * rng.integers(-3, 4, shape)).astype(dtype(t))
    if dtype(t).kind not in 'iuc':
        y = (y * array(0.37, t)).astype(dtype(t))
        y[rng.random(shape) < 0.05] = np.nan
    return y


def hows(v, t):
    """The reductions of a version that mean something for a type."""
    if v < 16 or t == STRING:
        return ['none']
    return ['none', 'add', 'mul'] + (['max', 'min'] if v >= 18 and t not in COMPLEX else [])


def scatter_elements(x, i, u, axis, how, t):
    y = x.copy()
    for at in np.ndindex(*i.shape):
        to = list(at)
        to[axis] = i[at]
        y[tuple(to)] = reduce(how, t, y[tuple(to)], u[at])
    return y


for op in ('Scatter', 'ScatterElements'):
    for v, t in each(op):
        for how, (shape, smaller, axis) in itertools.product(hows(v, t), (((4, 5, 3), (6, 5, 3), 0), ((4, 5, 3), (2, 9, 3), 1),
                                                                         ((4, 5, 3), (4, 2, 7), -1), ((3,), (0,), 0))):
            x, u = small(t, *shape), small(t, *smaller)
            it, i = indices(smaller, shape[axis], index_type())
            if how == 'none' or v < 11:  # no two updates for one place
                n = min(smaller[axis], shape[axis])
                order = rng.permuted(np.broadcast_to(np.arange(shape[axis]), smaller[:axis % len(shape)] + smaller[axis % len(shape) + 1:] + (shape[axis],)), axis=-1)
                i = np.moveaxis(order[..., :n], -1, axis).astype(i.dtype)
                u = small(t, *i.shape)
            attrs = {'reduction': how} if v >= 16 else {}
            add(op, v, [(t, x), (it, i), (t, u)], [(t, scatter_elements(x, i, u, axis, how, t))], axis=axis, **attrs)
    if op == 'ScatterElements':
        for axis in (0, 1, 2):
            x, u = small(F, 20, 30, 40), small(F, 20, 30, 40)
            it, i = indices(u.shape, x.shape[axis])
            add(op, 18, [(F, x), (it, i), (F, u)], [(F, scatter_elements(x, i, u, axis, 'add', F))], axis=axis, reduction='add')
        # The last of several updates for one place stays: the order of the text's loop.
        add(op, 13, [(F, np.zeros((2, 2), 'f')), (I64, np.array([[0, 0], [0, -2]])), (F, np.array([[1, 2], [3, 4]], 'f'))],
            [(F, np.array([[3, 4], [0, 0]], 'f'))], axis=0)


def scatter_nd(x, i, u, how, t):
    y = x.copy()
    for at in np.ndindex(*i.shape[:-1]):
        target = tuple(i[at])
        part = np.array(y[target], x.dtype)
        new = np.array(u[at], x.dtype)
        for e in np.ndindex(*part.shape):
            part[e] = reduce(how, t, part[e], new[e])
        y[target] = part if part.ndim else part[()]
    return y


for v, t in each('ScatterND'):
    for how, (shape, lead, k) in itertools.product(hows(v, t), (((4, 5, 3), (6,), 2), ((4, 5, 3), (2, 3), 1), ((4, 5, 3), (5,), 3),
                                                                ((4, 5), (), 1), ((4, 5), (0,), 1))):
        i = np.stack([indices(lead, shape[j])[1] for j in range(k)], -1)
        if how == 'none':
            n = int(np.prod(lead))
            flat = rng.permutation(int(np.prod(shape[:k])))[:n]
            i = np.stack(np.unravel_index(flat, shape[:k]), -1).reshape((len(flat),) + (k,)) if len(lead) == 1 else i[:1] * 0
            lead = i.shape[:-1]
        x, u = small(t, *shape), small(t, *lead, *shape[k:])
        add('ScatterND', v, [(t, x), (I64, i), (t, u)], [(t, scatter_nd(x, i, u, how, t))], **({'reduction': how} if v >= 16 else {}))
x = np.zeros((3, 4), 'f')
add('ScatterND', 16, [(F, x), (I64, np.array([[0]])), (F, x[:1])], [(F, x)], reduction='max',
    says='reduction "max" needs opset 18, model declares 16')
add('ScatterND', 18, [(F, x), (I64, np.array([[2], [3]])), (F, x[:2])], [(F, x)], says='index 3 at position [1,0] out of range [-3,2]')
add('ScatterElements', 18, [(F, x), (I64, np.array([[5]])), (F, x[:1, :1])], [(F, x)], axis=1, says='index 5 at position [0,0] out of range [-4,3]')
add('ScatterND', 18, [(F, x), (I64, np.array([[0]])), (F, x)], [(F, x)], says='updates has a slice for each tuple of indices: 1 and 3 differ')
words = np.array(['a', 'b'], object)
add('ScatterND', 18, [(STRING, words), (I64, np.array([[0]])), (STRING, words[:1])], [(STRING, words)], reduction='add', says='needs reduction == none')
z = np.zeros(2, np.complex64)
add('ScatterND', 18, [(COMPLEX[0], z), (I64, np.array([[0]])), (COMPLEX[0], z[:1])], [(COMPLEX[0], z)], reduction='max', says='needs reduction == none')

for v, t in each('TensorScatter'):
    for shape, axis, n, circular in (((2, 3, 5, 4), -2, 2, False), ((3, 6, 2), 1, 6, False), ((2, 3, 5), 2, 3, True), ((3, 7, 2), -2, 7, True)):
        x = random_tensor(rng, t, *shape)
        u = random_tensor(rng, t, *(n if d == axis % len(shape) else s for d, s in enumerate(shape)))
        most = shape[axis]
        at = rng.integers(-9, 20, shape[0]) if circular else rng.integers(0, most - n + 1, shape[0])
        for given in (False, True):
            y = x.copy()
            for b in range(shape[0]):
                for k in range(n):
                    pick = [slice(None)] * len(shape)
                    pick[0], pick[axis] = b, ((at[b] if given else 0) + k) % most
                    from_ = [slice(None)] * len(shape)
                    from_[0], from_[axis] = b, k
                    y[tuple(pick)] = u[tuple(from_)]
            add('TensorScatter', v, [(t, x), (t, u)] + ([(I64, at)] if given else []), [(t, y)], axis=axis, mode='circular' if circular else 'linear')
add('TensorScatter', 24, [(F, np.zeros((2, 5, 1), 'f')), (F, np.zeros((2, 2, 1), 'f')), (I64, np.array([0, 4]))], [(F, x)],
    says='index 4 at position 1 out of range [0,3]')

# ---- TopK ----

def topk(x, k, axis, largest):
    """By value, NaN above all numbers, then by index."""
    x = np.moveaxis(x, axis, -1)
    values, order = np.empty(x.shape[:-1] + (k,), x.dtype), np.empty(x.shape[:-1] + (k,), np.int64)
    for at in np.ndindex(*x.shape[:-1]):
        line = [float(e) if x.dtype.kind not in 'iu' else int(e) for e in x[at]]
        sign = -1 if largest else 1
        key = lambda i: (sign * (line[i] != line[i]), 0 if line[i] != line[i] else sign * line[i], i)
        first = sorted(range(len(line)), key=key)[:k]
        values[at], order[at] = x[at][first], first
    return np.moveaxis(values, -1, axis), np.moveaxis(order, -1, axis)


for v, t in each('TopK'):
    for shape, axis, k in (((3, 9), -1, 4), ((4, 7, 3), 1, 7), ((8, 3), 0, 1), ((5,), 0, 5), ((0, 4), 1, 2), ((2, 4), 1, 0)):
        x = small(t, *shape) if rng.random() < 0.6 else random_tensor(rng, t, *shape)
        for largest in (1, 0) if v >= 11 else (1,):
            values, order = topk(x, k, axis, largest)
            inputs = [(t, x)] + ([(I64, np.array([k]))] if v >= 10 else [])
            attrs = ({} if v >= 10 else {'k': k}) | ({'largest': largest, 'sorted': 1} if v >= 11 else {})
            add('TopK', v, inputs, [(t, values), (I64, order)], axis=axis, **attrs)
x = random_tensor(rng, F, 60, 1000)
values, order = topk(x, 100, -1, True)
add('TopK', 11, [(F, x), (I64, np.array([100]))], [(F, values), (I64, order)])
add('TopK', 11, [(F, x), (I64, np.array([1001]))], [(F, x), (I64, order)], says='k is 1001, but axis 1 has only 1000')

# ---- NonZero ----

for v, t in each('NonZero'):
    for shape in ((3, 4, 2), (7,), (), (0, 3), (2, 1)):
        x = random_tensor(rng, t, *shape)
        if t not in (STRING, BOOL):
            x = np.where(rng.random(shape) < 0.5, array(0, t), x).astype(dtype(t)).reshape(shape)
        set_ = np.array([bool(e) for e in x.reshape(-1)], bool).reshape(shape)
        y = np.array(np.nonzero(set_), np.int64) if shape else np.empty((0, int(set_)), np.int64)
        add('NonZero', v, [(t, x)], [(I64, y)])

# ---- Unique ----

def unique(x, axis, sort):
    """Items in the order of their values, NaN last and one, or in that of their first occurrence."""
    items = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0).reshape(x.shape[axis], int(np.prod(x.shape)) // max(1, x.shape[axis]))

    def key(item):
        def part(e):
            return (e != e, 0 if e != e else e)
        out = []
        for e in item:
            if isinstance(e, str):
                out.append(e)
            elif np.iscomplexobj(e):
                out += [part(float(e.real)), part(float(e.imag))]
            else:
                out.append(part(float(e)) if np.asarray(e).dtype.kind not in 'iub' else int(e))
        return tuple(out)
    keys = [key(i) for i in items]
    first = {}
    for i, k in enumerate(keys):
        first.setdefault(k, i)
    names = sorted(first) if sort else list(first)
    at = [first[k] for k in names]
    inverse = [names.index(k) for k in keys]
    y = x.reshape(-1)[at] if axis is None else np.take(x, at, axis)
    return y, np.array(at, np.int64), np.array(inverse, np.int64), np.array([keys.count(k) for k in names], np.int64)


for v, t in each('Unique'):
    for shape, axis, sort in itertools.product(((5, 4, 1), (30,), (0,), (2, 7)), (None, 0, -1), (1, 0)):
        x = small(t, *shape) if t != STRING else np.array([['', 'b', 'a', 'ab', 'é'][i] for i in rng.integers(0, 5, int(np.prod(shape)))], object).reshape(shape)
        found = unique(x, axis, sort)
        outs = [(t, found[0].astype(dtype(t)))] + [(I64, f) for f in found[1:]]
        attrs = {} if axis is None else {'axis': axis}
        add('Unique', v, [(t, x)], outs, sorted=sort, wanted=[[0, 1, 2, 3], [0], [0, 2], [0, 1, 3]][rng.integers(0, 4)], **attrs)

cases.run()
