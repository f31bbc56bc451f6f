#!/usr/bin/env python3
"""Operators that make, view and move elements: every version and type, and the corners that the official data lacks."""
import numpy as np
from onnx import TensorProto, helper

from one_node import Cases, array, dtype, random_tensor, types, versions

F, I64, I32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
rng = np.random.default_rng(7)
cases = Cases()


def add(op, opset, x, y, more=(), outs=None, says=None, constant=None, **attrs):
    """x, y: (type, array); more: further inputs as name → (type, array); None leaves one out."""
    more = dict(more)
    inputs = {'x': x, **{k: v for k, v in more.items() if v}}
    names = ['x'] + [k if v else '' for k, v in more.items()]
    while not names[-1]:
        names.pop()
    outputs = outs or {'y': y}
    if constant is None:
        constant = [k for k in inputs if k != 'x'] if rng.random() < 0.5 else []
    node = helper.make_node(op, names, list(outputs), name='node', **attrs)
    cases.add(node, opset, inputs, outputs, constant, says)


def some_shape(least=0, most=4, empty=0.1):
    shape = tuple(int(d) for d in rng.integers(1, 6, rng.integers(least, most + 1)))
    if shape and rng.random() < empty:
        shape = shape[:-1] + (0,)
    return shape


def each(op):
    """Every version of the operator, with every type that its data may have."""
    for schema in versions(op):
        for t in types(schema, schema.inputs[0].type_str):
            yield schema.since_version, t


def no_value(t):
    """0, the empty string, or the smallest of a type without 0."""
    return '' if t == TensorProto.STRING else 2.0**-127 if t == TensorProto.FLOAT8E8M0 else 0


def ints(values, t=I64):
    return t, array(values, t)


# ---- Transpose: all versions and types, shapes around the tiles of the kernels, all permutations ----

def transpose(v, t, shape, perm=None):
    x = random_tensor(rng, t, *shape)
    attrs = {'perm': perm} if perm else {}
    add('Transpose', v, (t, x), (t, np.transpose(x, perm)), **attrs)


for v, t in each('Transpose'):
    shape = some_shape()
    transpose(v, t, shape, [int(i) for i in rng.permutation(len(shape))])
for t in (TensorProto.UINT8, TensorProto.FLOAT16, F, TensorProto.DOUBLE, TensorProto.COMPLEX128, TensorProto.STRING):
    for rows, cols in ((1, 7), (7, 8), (8, 8), (9, 17), (16, 33), (65, 300), (300, 65), (3, 1000), (1000, 3)):
        transpose(13, t, (rows, cols))
    for perm in ([0, 2, 3, 1], [0, 3, 1, 2], [0, 2, 1, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]):
        transpose(13, t, (3, 9, 17, 4), perm)
        transpose(13, t, (2, 16, 5, 8), perm)
transpose(13, F, (2,) * 12, [int(i) for i in rng.permutation(12)])
transpose(13, F, (600, 700))
add('Transpose', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros((2, 3), 'f')), perm=[0, 0], says='no permutation')
add('Transpose', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros((2, 3), 'f')), perm=[0, 1, 2], says='has 3 values, needs 2')

# ---- DepthToSpace, SpaceToDepth ----

for v, t in each('DepthToSpace'):
    for mode in ('DCR', 'CRD') if v >= 11 else ('DCR',):
        b, n, c, h, w = 1 + rng.integers(0, 3), 2, 3, 2, 5
        x = random_tensor(rng, t, n, c * b * b, h, w)
        six = x.reshape((n, b, b, c, h, w) if mode == 'DCR' else (n, c, b, b, h, w))
        y = six.transpose((0, 3, 4, 1, 5, 2) if mode == 'DCR' else (0, 1, 4, 2, 5, 3)).reshape(n, c, h * b, w * b)
        add('DepthToSpace', v, (t, x), (t, y), blocksize=int(b), **({'mode': mode} if v >= 11 else {}))
for v, t in each('SpaceToDepth'):
    for mode in ('DCR', 'CRD') if v >= 28 else ('DCR',):
        b, n, c, h, w = 1 + rng.integers(0, 3), 2, 3, 2, 4
        x = random_tensor(rng, t, n, c, h * b, w * b)
        six = x.reshape(n, c, h, b, w, b).transpose((0, 3, 5, 1, 2, 4) if mode == 'DCR' else (0, 1, 3, 5, 2, 4))
        add('SpaceToDepth', v, (t, x), (t, six.reshape(n, c * b * b, h, w)), blocksize=int(b),
            **({'mode': mode} if v >= 28 else {}))
add('DepthToSpace', 13, (F, np.zeros((1, 6, 2, 2), 'f')), (F, np.zeros(0, 'f')), blocksize=2, says='axis 1 has 6')

# ---- Trilu, ReverseSequence ----

for v, t in each('Trilu'):
    x = random_tensor(rng, t, 2, 4, 6)
    for upper in (0, 1):
        for k in (None, -7, -2, 0, 3, 9, 2**63 - 1, -2**63):
            kk = max(-9, min(9, k or 0))
            keep = (np.triu if upper else np.tril)(np.ones((4, 6), bool), kk)
            y = np.where(keep, x, array(no_value(t), t)).astype(dtype(t))
            add('Trilu', v, (t, x), (t, y), {'k': None if k is None else ints(k)}, upper=upper)
for v, t in each('ReverseSequence'):
    for time in (0, 1):
        x = random_tensor(rng, t, 4, 5, 3)
        batch, longest = x.shape[1 - time], x.shape[time]
        n = rng.integers(0, longest + 1, batch)
        y = x.copy()
        for b in range(batch):
            pick = (slice(None), b) if time == 0 else (b,)
            y[pick][:n[b]] = x[pick][:n[b]][::-1]
        add('ReverseSequence', v, (t, x), (t, y), {'n': ints(n)}, batch_axis=1 - time, time_axis=time)
add('ReverseSequence', 10, (F, np.zeros((4, 2), 'f')), (F, np.zeros((4, 2), 'f')), {'n': ints([4, 5])},
    says='length 5 at position 1 out of range [0,4]')

# ---- Concat, Split ----

for v, t in each('Concat'):
    base = list(some_shape(1, 4, 0.2))
    axis = int(rng.integers(0, len(base)))
    parts = [random_tensor(rng, t, *(base[:axis] + [int(rng.integers(0, 5))] + base[axis + 1:])) for _ in range(3)]
    y = np.concatenate(parts, axis)
    for a in (axis, axis - len(base)):
        add('Concat', v, (t, parts[0]), (t, y), {'b': (t, parts[1]), 'c': (t, parts[2])}, axis=a)
x = random_tensor(rng, F, 3, 4)
add('Concat', 1, (F, x), (F, np.concatenate([x, x], 1)), {'b': (F, x)})
wrong = {'b': (F, np.zeros((2, 4), 'f'))}
add('Concat', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), wrong, axis=0, constant=[],
    says="float32[2,4]: concatenation along axis 0 needs all other axes equal: axis 1 has 4, that of input 0 has 3")
add('Concat', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), wrong, axis=2, says='outside [-2,1]')


def split(v, t, n_out, lengths=None, attrs=None, shape=(4, 7, 3), axis=1, as_input=False, says=None):
    x = random_tensor(rng, t, *shape)
    parts = np.split(x, np.cumsum(lengths)[:-1], axis) if not says else [x] * n_out
    outs = {f'y{i}': (t, p) for i, p in enumerate(parts)}
    more = {}
    if as_input:
        more['split'] = (t, np.array(lengths, dtype(t))) if v == 1 else ints(lengths)
    add('Split', v, (t, x), None, more, outs, says, axis=axis, **(attrs or {}))


for v, t in each('Split'):
    if v < 13:
        split(v, t, 3, [2, 4, 1], {'split': [2, 4, 1]})
    if v == 1 or v >= 13:
        split(v, t, 3, [2, 0, 5], as_input=True)
    if v < 18:
        split(v, t, 2, [3, 3], shape=(4, 6, 3), axis=-2)
    else:
        split(v, t, 3, [3, 3, 1], {'num_outputs': 3})
        split(v, t, 4, [2, 2, 1, 0], {'num_outputs': 4}, shape=(2, 5))
        split(v, t, 1, [7], {'num_outputs': 1})
split(13, F, 2, [0] * 2, says='axis 1 has 7, which cannot be split into 2 equal parts')
split(13, F, 2, [3, 3], as_input=True, says='the lengths of split sum to 6, axis 1 has 7')

# ---- Slice ----

def slice_axis(dim, start, end, step):
    """The effective bounds by the text: negative ones count from the end, then both are clamped."""
    start, end = (b + dim if b < 0 else b for b in (start, end))
    if step > 0:
        return range(max(0, min(start, dim)), max(0, min(end, dim)), step)
    return range(max(0, min(start, dim - 1)), max(-1, min(end, dim - 1)), step) if dim else range(0)


def slice_case(v, t, x, starts, ends, axes=None, steps=None, index=I64):
    y = x
    for k, (s, e) in enumerate(zip(starts, ends)):
        a = k if axes is None else axes[k]
        y = np.take(y, list(slice_axis(x.shape[a], s, e, 1 if steps is None else steps[k])), a)
    y = y.astype(dtype(t))
    if v < 10:
        add('Slice', v, (t, x), (t, y), starts=starts, ends=ends, **({} if axes is None else {'axes': axes}))
        return
    add('Slice', v, (t, x), (t, y), {'starts': ints(starts, index), 'ends': ints(ends, index),
                                     'axes': axes and ints(axes, index), 'steps': steps and ints(steps, index)})


for v, t in each('Slice'):
    x = random_tensor(rng, t, 5, 4, 6)
    slice_case(v, t, x, [1, -3], [4, 2**31 - 1])
    slice_case(v, t, x, [0, -100], [-1, 100], axes=[2, 0])
    if v >= 10:
        slice_case(v, t, x, [1, 5], [100, -100], axes=[0, 2], steps=[2, -2])
        slice_case(v, t, x, [-1, 3, 2], [-2**31, 1, 2], axes=[-1, 1, 0], steps=[-1, -1, 1], index=I32)
x = random_tensor(rng, F, 7, 6)
far = [-2**63, -100, -8, -7, -6, -1, 0, 1, 6, 7, 8, 100, 2**63 - 1]
for start in far:
    for end in far:
        for step in (-2**63, -9, -2, -1, 1, 3, 2**63 - 1):
            if rng.random() < 0.5:
                slice_case(13, F, x, [start], [end], axes=[0], steps=[step])
slice_case(13, F, random_tensor(rng, F, 0, 3), [0], [5], axes=[0], steps=[-1])
slice_case(13, F, random_tensor(rng, F, 0, 3), [-1], [5], axes=[0], steps=[1])
add('Slice', 13, (F, x), (F, x), {'s': ints([0]), 'e': ints([1]), 'a': ints([0]), 'st': ints([0])}, says='steps is 0 at position 0')
add('Slice', 13, (F, x), (F, x), {'s': ints([0]), 'e': ints([1]), 'a': ints([2])}, says='outside [-2,1]')

# ---- Pad, CenterCropPad ----

def pad_index(mode, dim, begin, end):
    """Which element of the axis stands at each place; -1: the constant. Negative pads crop before the others repeat."""
    left = list(range(dim))[max(0, -begin):dim - max(0, -end)]
    places = range(-max(0, begin), len(left) + max(0, end))
    if mode == 'constant':
        return [j + max(0, -begin) if max(0, -begin) <= j + max(0, -begin) < dim - max(0, -end) else -1 for j in places]
    n = len(left)
    if mode == 'edge':
        return [left[min(max(j, 0), n - 1)] for j in places]
    if mode == 'wrap':
        return [left[j % n] for j in places]
    period = max(1, 2 * (n - 1))
    return [left[min(j % period, period - j % period) if n > 1 else 0] for j in places]


def pad_case(v, t, x, pads, mode='constant', value=None, axes=None, index=I64):
    y, n = x, len(pads) // 2
    fill = array(no_value(t), t) if value is None else value
    for k in range(n):
        a = k if axes is None else axes[k]
        at = np.array(pad_index(mode, x.shape[a], pads[k], pads[n + k]), int)
        y = np.take(y, np.maximum(at, 0), a) if y.shape[a] else np.full(y.shape[:a] + (len(at),) + y.shape[a + 1:][:y.ndim], fill, dtype(t))
        y = np.moveaxis(y, a, 0).copy()
        y[at < 0] = fill
        y = np.moveaxis(y, 0, a)
    y = y.astype(dtype(t))
    if v < 11:
        add('Pad', v, (t, x), (t, y), mode=mode, **{'paddings' if v == 1 else 'pads': pads},
            **({} if value is None else {'value': float(value)}))
        return
    more = {'pads': ints(pads), 'value': None if value is None else (t, value), 'axes': axes and ints(axes, index)}
    add('Pad', v, (t, x), (t, y), more, mode=mode)


for v, t in each('Pad'):
    x = random_tensor(rng, t, 3, 4, 5)
    one = random_tensor(rng, t).reshape(()) if v >= 11 else array(1.5, t)
    pad_case(v, t, x, [1, 0, 2, 0, 3, 1])
    pad_case(v, t, x, [2, 1, 0, 0, 1, 4], value=one)
    pad_case(v, t, x, [-1, 1, -2, 1, -2, 3], value=one)
    for mode in ('reflect', 'edge') + (('wrap',) if v >= 19 else ()):
        pad_case(v, t, x, [1, 0, 2, 0, 3, 4], mode)
        pad_case(v, t, x, [7, -1, 9, 5, 2, -3], mode)
    if v >= 18:
        pad_case(v, t, x, [1, 2, 0, 3], axes=[2, -3], value=one, index=I32)
        pad_case(v, t, x, [1, -2, 9, 3], 'reflect', axes=[-1, 0])
for mode in ('constant', 'reflect', 'edge', 'wrap'):
    pad_case(19, F, random_tensor(rng, F, 1, 3), [2, 8, 2, 7], mode)
    pad_case(19, F, random_tensor(rng, F, 4, 100), [0, 3, 0, 2], mode)
    pad_case(19, F, random_tensor(rng, F, 40, 41, 42), [1, 1, 1, 1, 1, 1], mode)
    pad_case(19, F, random_tensor(rng, F), [], mode)
pad_case(13, F, random_tensor(rng, F, 0, 2), [1, 0, 2, 1])
pad_case(13, F, random_tensor(rng, F, 3, 2), [-3, 1, 2, 0])
add('Pad', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), {'p': ints([-2, 0, -1, 0])}, says='axis 0 has 2; with pads -2 and -1')
add('Pad', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), {'p': ints([0, 0, 0])}, says='pads has 3 values, needs 4')
add('Pad', 18, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), {'p': ints([0] * 34), 'value': (F, np.float32(0)), 'axes': ints([0] * 17)},
    says='has more axes than input 0, which has rank 2')
add('Pad', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), {'p': ints([0, 0, 0, 1])}, mode='wrap',
    says='mode "wrap" needs opset 19, model declares 13')
add('Pad', 13, (F, np.zeros((2, 0), 'f')), (F, np.zeros(0, 'f')), {'p': ints([0, 0, 0, 1])}, mode='edge', says='no elements left')

for v, t in each('CenterCropPad'):
    for shape, to, axes in (((5, 8), (2, 11), None), ((4, 3, 6), (7, 2), [2, 0]), ((4, 3, 6), (1, 9, 6), None), ((4, 5), (0,), [-1])):
        x = random_tensor(rng, t, *shape)
        y = x
        for a, n in zip(range(len(shape)) if axes is None else axes, to):
            a %= len(shape)
            d = y.shape[a]
            if n < d:
                y = np.take(y, np.arange(n) + (d - n) // 2, a)
            elif n > d:
                wide = np.zeros(y.shape[:a] + (n,) + y.shape[a + 1:], dtype(t))
                if t == TensorProto.STRING:
                    wide[...] = ''
                wide[(slice(None),) * a + (slice((n - d) // 2, (n - d) // 2 + d),)] = y
                y = wide
        index = I32 if rng.random() < 0.5 else I64
        add('CenterCropPad', v, (t, x), (t, y.astype(dtype(t))), {'shape': ints(to, index)}, **({'axes': axes} if axes else {}))

# ---- Expand, Tile ----

for v, t in each('Expand'):
    for shape, to in (((3, 1, 4), (2, 1, 6, 1)), ((), (2, 3)), ((1,), (0,)), ((5, 1), (1,)), ((4, 1), (4, 70))):
        x = random_tensor(rng, t, *shape)
        add('Expand', v, (t, x), (t, np.broadcast_to(x, np.broadcast_shapes(shape, to))), {'shape': ints(to)})
add('Expand', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), {'s': ints([2, 4])}, says='does not broadcast')
for v, t in each('Tile'):
    if v == 1:
        x = random_tensor(rng, t, 2, 3)
        add('Tile', v, (t, x), (t, np.tile(x, (1, 3))), {'tiles': (t, array(3, t)), 'axis': (t, array(1, t))})
        continue
    for shape, repeats in (((2, 3), (2, 2)), ((3, 1, 2), (1, 4, 3)), ((2, 2), (0, 3)), ((), ()), ((0, 2), (2, 2)), ((2, 3, 4), (2, 1, 1))):
        x = random_tensor(rng, t, *shape)
        add('Tile', v, (t, x), (t, np.tile(x, repeats)), {'repeats': ints(np.array(repeats, int))})
add('Tile', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), {'r': ints([2])}, says='1 repeats for rank 2')

# ---- views ----

for v, t in each('Reshape'):
    x = random_tensor(rng, t, 2, 3, 4)
    for to, y in (([4, 6], (4, 6)), ([0, -1], (2, 12)), ([-1], (24,)), ([0, 0, 2, 2], (2, 3, 2, 2)), ([2, -1, 1, 0][:3], (2, 12, 1))):
        if v < 5:
            add('Reshape', v, (t, x), (t, x.reshape(y)), shape=to)
        else:
            add('Reshape', v, (t, x), (t, x.reshape(y)), {'shape': ints(to)})
empty = np.zeros((0, 3, 4), 'f')
add('Reshape', 14, (F, empty), (F, empty.reshape(0, 12)), {'s': ints([0, -1])})
add('Reshape', 14, (F, empty), (F, empty.reshape(3, 0)), {'s': ints([3, 0])}, allowzero=1)
add('Reshape', 14, (F, empty), (F, empty.reshape(5, 0)), {'s': ints([5, -1])})
x = np.zeros((2, 3, 4), 'f')
for to, says, attrs in (([5, 5], '24 elements do not fit [5,5], which has 25', {}),
                        ([5, -1], '24 elements cannot be divided into [5,-1]', {}),
                        ([-1, -1], 'shape [-1,-1] has -1 2 times', {}), ([-2, 3], 'shape [-2,3] has -2', {}),
                        ([0, 0, 0, 0], 'copies axis 3, which rank 3 does not have', {}),
                        ([0, -1], 'allowzero=1 with both 0 and -1 in [0,-1]', {'allowzero': 1}),
                        ([0, 3], '24 elements do not fit [0,3], which has 0', {'allowzero': 1})):
    add('Reshape', 14, (F, x), (F, x), {'s': ints(to)}, says=says, **attrs)
for constant in ['s'], []:
    add('Reshape', 13, (F, x), (F, x), {'s': ints([7])}, says='24 elements do not fit [7], which has 7', constant=constant)
for v, t in each('Flatten'):
    x = random_tensor(rng, t, 2, 3, 4)
    for axis in range(0 if v < 11 else -3, 4):
        add('Flatten', v, (t, x), (t, x.reshape(int(np.prod(x.shape[:axis])), -1)), axis=axis)
add('Flatten', 13, (F, np.array(3, 'f')), (F, np.array([[3]], 'f')), axis=0)
add('Flatten', 13, (F, np.zeros((2, 3), 'f')), (F, np.zeros(0, 'f')), axis=3, says='outside [-2,2]')
for v, t in each('Squeeze'):
    x = random_tensor(rng, t, 1, 3, 1, 2)
    for axes in (None, [0], [2, 0]) + (([-2], [-4, -2]) if v >= 11 else ()):
        y = np.squeeze(x, None if axes is None else tuple(axes))
        if v < 13:
            add('Squeeze', v, (t, x), (t, y), **({} if axes is None else {'axes': axes}))
        else:
            add('Squeeze', v, (t, x), (t, y), {'axes': axes and ints(axes)})
add('Squeeze', 13, (F, np.zeros((1, 3), 'f')), (F, np.zeros((1, 3), 'f')), {'a': ints([])})
add('Squeeze', 13, (F, np.zeros((1, 3), 'f')), (F, np.zeros(0, 'f')), {'a': ints([1])}, says='axis 1 is to be squeezed, but is 3')
for v, t in each('Unsqueeze'):
    x = random_tensor(rng, t, 3, 2)
    for axes in ([0], [3, 0], [1, 2]) + (([-1], [-4, -1]) if v >= 11 else ()):
        y = np.expand_dims(x, tuple(axes))
        if v < 13:
            add('Unsqueeze', v, (t, x), (t, y), axes=axes)
        else:
            add('Unsqueeze', v, (t, x), (t, y), {'axes': ints(axes)})
add('Unsqueeze', 13, (F, np.zeros(3, 'f')), (F, np.zeros(0, 'f')), {'a': ints([1, 1])}, says='axis 1 twice')
add('Unsqueeze', 13, (F, np.zeros(3, 'f')), (F, np.zeros(0, 'f')), {'a': ints([2])}, says='outside [-2,1]')
for v, t in each('Identity'):
    x = random_tensor(rng, t, *some_shape())
    add('Identity', v, (t, x), (t, x))

cases.run()
