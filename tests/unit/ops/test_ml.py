#!/usr/bin/env python3
"""ai.onnx.ml but for its trees: against NumPy in double. Where ONNX is silent or onnx.reference differs from its text,
the operators' files say what decided."""
import itertools

import numpy as np

from ml import NUMBERS, TRANSFORMS, MlCases, as_labels, map_type, maps_type, strings, transform

rng = np.random.default_rng(11)
cases = MlCases()
f32 = np.float32
NAN = np.float32('nan')


def numbers(t, *shape):
    if np.dtype(t).kind == 'f':
        return rng.standard_normal(shape).astype(t)
    return rng.integers(-9, 10, shape).astype(t)


def floats(*shape):
    return [float(v) for v in rng.standard_normal(shape).astype(f32).ravel()]


# ---- ArrayFeatureExtractor ----

for t in NUMBERS + [object]:
    for shape, index in [((3, 5), (2,)), ((3, 5), (1, 4)), ((2, 3, 4), (3,)), ((5,), (2,)), ((3, 4), (2, 2)), ((0, 4), (2,)),
                         ((3, 4), ()), ((2, 3), (0,)), ((1, 1), (1, 1))]:
        x = strings([f's{k}' for k in range(int(np.prod(shape)))], shape) if t is object else numbers(t, *shape)
        i = np.asarray(rng.integers(0, shape[-1], index), np.int64)
        y = x[..., i.ravel()]
        cases.node('ArrayFeatureExtractor', 1, [x, i], [y.reshape(1, -1) if x.ndim == 1 else y], tolerance=(0, 0))
x = numbers(f32, 2, 3)
for bad in (3, -1):
    cases.refuse('ArrayFeatureExtractor', 1, [x, np.array([0, bad])], f'index {bad} at position 1 out of range [0,2]')

# ---- Binarizer ----

for t, threshold, shape in itertools.product(NUMBERS, (None, 0.0, 0.5, -2.5, 3.0, 1e30, -1e30, float('nan')),
                                             ((4, 5), (7,), (), (0, 3), (2, 3, 2))):
    x = numbers(t, *shape)
    if x.size > 4 and x.dtype.kind == 'f':
        x.flat[:4] = np.nan, np.inf, -np.inf, 0.5
    y = (x > np.float64(f32(threshold or 0))).astype(t)
    cases.node('Binarizer', 1, [x], [np.asarray(y)], tolerance=(0, 0), threshold=threshold)
wide = np.array([2**53 + 1, 2**53, 2**53 - 1, -2**63, 2**63 - 1])
cases.node('Binarizer', 1, [wide], [np.array([1, 0, 0, 0, 1])], threshold=float(2**53))

# ---- Scaler, Normalizer, Imputer ----

for t, shape, n in itertools.product(NUMBERS, ((4, 3), (3,), (2, 2, 3), (0, 3)), (None, 1, 3)):
    x = numbers(t, *shape)
    offset, scale = (floats(n), floats(n)) if n else ([0.0], [1.0])
    y = ((x.astype(np.float64) - np.array(offset)) * np.array(scale)).astype(f32)
    cases.node('Scaler', 1, [x], [y], tolerance=(0, 0), offset=offset if n else None, scale=scale if n else None)
x = numbers(f32, 4, 3)
cases.node('Scaler', 1, [x], [(x.astype(float) - np.array([1, 2, 3])).astype(f32)], offset=[1.0, 2.0, 3.0])
cases.node('Scaler', 1, [x], [(x.astype(float) * 0.5).astype(f32)], scale=[0.5])
cases.refuse('Scaler', 1, [x], 'expected as many', offset=[1.0, 2.0, 3.0], scale=[1.0])
cases.refuse('Scaler', 1, [x], 'has 3 features, attribute offset has 2 numbers', offset=[1.0, 2.0], scale=[1.0, 2.0])

for t, norm, shape in itertools.product(NUMBERS, (None, 'MAX', 'L1', 'L2'), ((4, 3), (5,), (0, 3), (3, 1))):
    x = numbers(t, *shape)
    if x.shape == (4, 3):
        x[1] = 0
        x[2] = -np.abs(x[2]) - 1
    d = x.astype(np.float64)
    size = {'L1': np.abs(d).sum(-1, keepdims=True), 'L2': np.sqrt((d * d).sum(-1, keepdims=True))}.get(
        norm, d.max(axis=-1, keepdims=True) if d.size else d[..., :1])
    y = np.where(size == 0, d, d / np.where(size == 0, 1, size)).astype(f32)
    cases.node('Normalizer', 1, [x], [y], norm=norm)
cases.refuse('Normalizer', 1, [numbers(f32, 2, 2, 2)], 'rank')
cases.refuse('Normalizer', 1, [x], 'one of MAX, L1, L2', norm='L3')

for t, missing, shape, n in itertools.product((f32, np.float64), (None, NAN, 0.0, -1.0), ((4, 3), (3,), (2, 2, 3), (0, 3)), (1, 3)):
    x = rng.choice(np.array([np.nan, 0, -0.0, -1, 2, np.inf]), shape).astype(t)
    values = floats(n)
    same = np.isnan(x) if missing is not None and np.isnan(missing) else x == t(missing or 0)
    y = np.where(same, np.array(values), x).astype(t)
    cases.node('Imputer', 1, [x], [y], tolerance=(0, 0), replaced_value_float=missing, imputed_value_floats=values)
for t, missing, shape, n in itertools.product((np.int64, np.int32), (None, 0, -1, 2**40), ((4, 3), (3,)), (1, 3)):
    x = rng.integers(-1, 3, shape).astype(t)
    values = [int(v) for v in rng.integers(-2**31, 2**31, n)]
    y = np.where(x.astype(np.int64) == (missing or 0), np.array(values), x).astype(t)
    cases.node('Imputer', 1, [x], [y], tolerance=(0, 0), replaced_value_int64=missing, imputed_value_int64s=values)
x = numbers(f32, 2, 3)
cases.refuse('Imputer', 1, [x], 'needs the attribute imputed_value_floats', imputed_value_int64s=[1])
cases.refuse('Imputer', 1, [x], 'expected one of the attributes imputed_value_floats and imputed_value_int64s')
cases.refuse('Imputer', 1, [x], 'has 3 features, attribute imputed_value_floats has 2', imputed_value_floats=[1.0, 2.0])
cases.refuse('Imputer', 1, [numbers(np.int32, 2, 3)], 'int32 does not hold', imputed_value_int64s=[2**31])

# ---- FeatureVectorizer ----

for t in NUMBERS:
    for widths, sizes in [((2, 3), None), ((2, 3), (2, 3)), ((2, 3, 1), (3, 2, 1)), ((4,), (4,)), ((2, 2), (0, 5))]:
        xs = [numbers(t, 3, w) for w in widths]
        cut = [np.pad(x, ((0, 0), (0, 9)))[:, :s] for x, s in zip(xs, sizes or widths)]
        cases.node('FeatureVectorizer', 1, xs, [np.concatenate(cut, axis=1).astype(f32)], tolerance=(0, 0),
                   inputdimensions=sizes)
    a, b = numbers(t, 3), numbers(t, 1, 2)
    cases.node('FeatureVectorizer', 1, [a, b], [np.concatenate([a, b[0]]).astype(f32).reshape(1, 5)], inputdimensions=[3, 2])
cases.refuse('FeatureVectorizer', 1, [numbers(f32, 2, 2), numbers(f32, 3, 2)], 'rows', inputdimensions=[2, 2])
cases.refuse('FeatureVectorizer', 1, [numbers(f32, 2, 2)], '2 numbers for 1 inputs', inputdimensions=[2, 2])

# ---- OneHotEncoder ----

for zeros, shape in itertools.product((None, 1), ((6,), (2, 3), (), (0,), (2, 1, 3))):
    for t in NUMBERS + [object]:
        n = int(np.prod(shape))
        if t is object:
            words = ['a', 'b', 'ü', '']
            x = strings([['a', 'b', 'c', 'ü', ''][k] for k in rng.integers(0, 5, n)], shape)
            index = [words.index(v) if v in words else -1 for v in x.ravel()]
            attribute = {'cats_strings': words}
        else:
            values = [3, -1, 7, 2]
            x = rng.choice([3, -1, 7, 2, 5], shape).astype(t) + (t(0.5) if np.dtype(t).kind == 'f' else t(0))
            x = np.asarray(x, t)
            index = [values.index(int(v)) if int(v) in values else -1 for v in x.ravel()]
            attribute = {'cats_int64s': values}
        y = np.zeros((n, 4), f32)
        for k, c in enumerate(index):
            if c >= 0:
                y[k, c] = 1
        cases.node('OneHotEncoder', 1, [x], [y.reshape(shape + (4,))], tolerance=(0, 0), zeros=zeros, **attribute)
strange = np.array([np.nan, np.inf, -np.inf, 1e30, -0.5], f32)
cases.node('OneHotEncoder', 1, [strange], [np.array([[0], [0], [0], [0], [1]], f32)], cats_int64s=[0])
cases.refuse('OneHotEncoder', 1, [np.array([1, 2])], 'element 1 is in no category', cats_int64s=[1], zeros=0)
cases.refuse('OneHotEncoder', 1, [np.array([1, 2])], 'needs the attribute cats_int64s', cats_strings=['1'])
cases.refuse('OneHotEncoder', 1, [np.array([1, 2])], 'neither is given')

# ---- CategoryMapper, LabelEncoder ----

words = ['cat', 'dog', 'Ä', '', 'bird']
for shape in ((6,), (2, 3), (), (0, 2)):
    n = int(np.prod(shape))
    s = strings([(words + ['none'])[k] for k in rng.integers(0, 6, n)], shape)
    ids, i = [5, -3, 9, 0, 2**40], np.asarray(rng.choice([5, -3, 9, 0, 2**40, 8], shape), np.int64)
    for of_int, of_string in ((None, None), (77, 'what')):
        given = {'default_int64': of_int, 'default_string': of_string}
        lost, unused = -1 if of_int is None else of_int, of_string or '_Unused'
        to_int = np.array([dict(zip(words, ids)).get(v, lost) for v in s.ravel()], np.int64).reshape(shape)
        to_text = strings([dict(zip(ids, words)).get(v, unused) for v in i.ravel()], shape)
        cases.node('CategoryMapper', 1, [s], [to_int], cats_strings=words, cats_int64s=ids, **given)
        cases.node('CategoryMapper', 1, [i], [to_text], cats_strings=words, cats_int64s=ids, **given)
        j = np.asarray(rng.integers(-1, 7, shape), np.int64)
        to_index = np.array([words.index(v) if v in words else lost for v in s.ravel()], np.int64).reshape(shape)
        to_class = strings([words[v] if 0 <= v < 5 else unused for v in j.ravel()], shape)
        cases.node('LabelEncoder', 1, [s], [to_index], classes_strings=words, **given)
        cases.node('LabelEncoder', 1, [j], [to_class], classes_strings=words, **given)
cases.refuse('CategoryMapper', 1, [s], '2 keys for 1 values, expected as many', cats_strings=['a', 'b'], cats_int64s=[1])

KEYS = {'floats': (f32, [1.5, -2.0, 0.0, 1e30]), 'int64s': (np.int64, [4, -7, 0, 2**62]),
        'strings': (object, ['x', 'yy', '', 'ß']), 'float64': (np.float64, [0.1, -2.0, 0.0, 1e300]),
        'int32': (np.int32, [4, -7, 0, 2**31 - 1]), 'int16': (np.int16, [4, -7, 0, 2**15 - 1])}
OTHER = {f32: 3.25, np.int64: 11, object: 'other', np.float64: -0.1, np.int32: 11, np.int16: 11}
UNUSED = {f32: -0.0, np.int64: -1, object: '_Unused', np.float64: -0.0, np.int32: -1, np.int16: -1}


def array(t, values, shape=None):
    a = strings(values) if t is object else np.array(values, t)
    return a if shape is None else a.reshape(shape)


def tensor(t, values):
    from one_node import proto
    return proto(array(t, values))


def list_attribute(prefix, kind, as_tensor):
    t, values = KEYS[kind]
    if as_tensor or kind in ('float64', 'int32', 'int16'):
        return {f'{prefix}_tensor': tensor(t, values)}
    return {f'{prefix}_{kind}': values}


for version, k, v, default in itertools.product((2, 4), KEYS, KEYS, (False, True)):
    plain = all(kind in ('floats', 'int64s', 'strings') for kind in (k, v))
    if version == 2 and not plain:
        continue
    for as_tensor, shape in itertools.product((False, True) if version == 4 else (False,), ((8,), (2, 4), (0,), ())):
        (kt, keys), (vt, values) = KEYS[k], KEYS[v]
        n = int(np.prod(shape))
        picked = [(keys + [OTHER[kt]])[i] for i in rng.integers(0, 5, n)]
        missing = OTHER[vt] if default else UNUSED[vt]
        x = array(kt, picked, shape)
        y = array(vt, [values[keys.index(p)] if p in keys else missing for p in picked], shape)
        attributes = {**list_attribute('keys', k, as_tensor), **list_attribute('values', v, as_tensor)}
        if default and version == 4:
            attributes['default_tensor'] = tensor(vt, [OTHER[vt]])
        elif default:
            attributes[{'floats': 'default_float', 'int64s': 'default_int64', 'strings': 'default_string'}[v]] = OTHER[vt]
        cases.node('LabelEncoder', version, [x], [y], tolerance=(0, 0), **attributes)

odd_nan = np.array([0x7fc00123], np.uint32).view(f32)[0]
x = np.array([np.nan, odd_nan, 0.0, -0.0, 1.0], f32)
cases.node('LabelEncoder', 4, [x], [np.array([1, 1, 2, 2, -1])], keys_floats=[float('nan'), 0.0], values_int64s=[1, 2])
cases.node('LabelEncoder', 2, [x], [np.array([1, -1, 2, -1, -1])], keys_floats=[float('nan'), 0.0], values_int64s=[1, 2])
cases.node('LabelEncoder', 4, [np.array([7, 8])], [np.array([3, -1])], keys_int64s=[7, 7], values_int64s=[2, 3])
cases.node('LabelEncoder', 4, [np.array([1])], [np.array([5])], keys_tensor=tensor(np.int64, [0]),
           values_tensor=tensor(np.int64, [1]), default_int64=5)
cases.refuse('LabelEncoder', 2, [x], 'the keys are int64', keys_int64s=[1], values_int64s=[2])
cases.refuse('LabelEncoder', 2, [x], '2 keys for 1 values', keys_floats=[1.0, 2.0], values_int64s=[2])
cases.refuse('LabelEncoder', 2, [x], '2 are given', keys_floats=[1.0], keys_int64s=[1], values_int64s=[2])
cases.refuse('LabelEncoder', 4, [x], '0 are given', keys_floats=[1.0])
cases.refuse('LabelEncoder', 4, [x], 'default_tensor has 1 elements of type int64, expected one float32', keys_floats=[1.0],
             values_floats=[1.0], default_tensor=tensor(np.int64, [1]))
cases.refuse('LabelEncoder', 4, [x], 'keys_tensor has elements of type uint8', keys_tensor=tensor(np.uint8, [1]),
             values_floats=[1.0])
many = [int(v) for v in rng.permutation(100000)]
x = rng.integers(0, 200000, 1000)
cases.node('LabelEncoder', 4, [x], [np.where(x < 100000, x * 2, -1)], keys_int64s=many, values_int64s=[2 * v for v in many])

# ---- CastMap, DictVectorizer, ZipMap ----

texts = {3: '1.5', 1: '-2', 10: '7e2', 0: '0'}
reals = {3: f32(1.5), 1: f32(-2.75), 10: f32(700), 0: f32(0)}
for value, given in ((str, texts), (float, reals)):
    for to, t in (('TO_FLOAT', f32), ('TO_STRING', object), ('TO_INT64', np.int64)):
        def cast(v):
            if t is object:
                return v if value is str else str(np.float64(v))
            return t(int(float(v))) if t is np.int64 else t(float(v))

        def put(values):
            return array(t, values, (1, -1))

        empty = '' if t is object else 0
        ordered = [cast(given[k]) for k in sorted(given)]
        typed = (map_type(int, value), given)
        cases.node('CastMap', 1, [typed], [put(ordered)], cast_to=to)
        cases.node('CastMap', 1, [typed], [put(ordered)], cast_to=to, map_form='DENSE', max_map=2)
        spread = [cast(given[k]) if k in given else empty for k in range(12)]
        cases.node('CastMap', 1, [typed], [put(spread)], cast_to=to, map_form='SPARSE', max_map=12)
        cases.refuse('CastMap', 1, [typed], 'key 10 is outside of [0,10)', cast_to=to, map_form='SPARSE', max_map=10,
                     outputs=[put(spread)])
cases.node('CastMap', 1, [(map_type(int, float), reals)], [np.array([[0, -2.75, 1.5, 700]], f32)])
cases.node('CastMap', 1, [(map_type(int, float), {})], [np.zeros((1, 0), f32)])
cases.refuse('CastMap', 1, [(map_type(int, str), {1: 'x'})], '"x", is no number')
cases.refuse('CastMap', 1, [(map_type(int, float), {-1: f32(2)})], 'key -1', map_form='SPARSE', max_map=3)
cases.refuse('CastMap', 1, [(map_type(int, float), reals)], 'must be positive', map_form='SPARSE', max_map=0)

for key, vocabulary in ((int, [5, -1, 7, 2**40]), (str, ['a', 'ü', '', 'long word'])):
    name = 'int64_vocabulary' if key is int else 'string_vocabulary'
    for value, t in ((str, object), (f32, f32), (np.float64, np.float64), (np.int64, np.int64)):
        if (key, value) in ((int, np.int64), (str, str)):
            continue  # maps that ONNX does not have here
        values = ['p', 'q'] if value is str else [t(3), t(-4)]
        given = dict(zip([vocabulary[2], vocabulary[0]], values))
        full = [given.get(k, '' if value is str else 0) for k in vocabulary]
        cases.node('DictVectorizer', 1, [(map_type(key, value), given)], [array(t, full)], **{name: vocabulary})
    cases.refuse('DictVectorizer', 1, [(map_type(key, f32), {vocabulary[1]: f32(1)})], f'is not in attribute {name}',
                 **{name: vocabulary[2:]})
cases.refuse('DictVectorizer', 1, [(map_type(int, f32), {1: f32(1)})], 'needs the attribute int64_vocabulary',
             string_vocabulary=['a'])
cases.refuse('DictVectorizer', 1, [(map_type(int, f32), {1: f32(1)})], 'both are given', string_vocabulary=['a'],
             int64_vocabulary=[1])

for keys in ([4, -1, 9], ['a', 'Ω', '']):
    key = type(keys[0])
    name = 'classlabels_int64s' if key is int else 'classlabels_strings'
    for shape in ((4, 3), (3,), (1, 3), (0, 3)):
        x = numbers(f32, *shape)
        y = [dict(zip(keys, row)) for row in x.reshape(-1, 3)]
        cases.node('ZipMap', 1, [x], [(maps_type(key, float), y)], tolerance=(0, 0), **{name: keys})
    cases.refuse('ZipMap', 1, [numbers(f32, 2, 4)], 'has 4 columns for 3 keys', [(maps_type(key, float), [])], **{name: keys})
cases.refuse('ZipMap', 1, [numbers(f32, 2, 4)], 'neither is given', [(maps_type(int, float), [])])

# ---- LinearRegressor, LinearClassifier ----


def product(x, coefficients, intercepts):
    w = np.array(coefficients, np.float64).reshape(-1, x.shape[-1])
    b = np.array(intercepts, np.float64) if intercepts else 0
    return np.atleast_2d(x).astype(np.float64) @ w.T + b


for t, kind, targets, shape in itertools.product(NUMBERS, TRANSFORMS, (1, 3), ((5, 4), (4,), (0, 4), (19, 1))):
    x = numbers(t, *shape)
    w, b = floats(targets, shape[-1]), floats(targets) if targets == 3 else None
    y = transform(kind, product(x, w, b)).astype(f32)
    cases.node('LinearRegressor', 1, [x], [y], tolerance=(1e-5, 1e-6), coefficients=w, intercepts=b, targets=targets,
               post_transform=kind)
x = numbers(f32, 2, 3)
cases.refuse('LinearRegressor', 1, [x], 'has 3 features, attribute coefficients has 4', coefficients=floats(4))
cases.refuse('LinearRegressor', 1, [x], '2 numbers for 1 sets', coefficients=floats(3), intercepts=floats(2))
cases.refuse('LinearRegressor', 1, [x], 'cannot be cut into 2 sets', coefficients=floats(3), targets=2)
cases.refuse('LinearRegressor', 1, [x], 'must be positive', coefficients=floats(3), targets=0)
cases.refuse('LinearRegressor', 1, [x], 'post_transform "LOG" unknown', coefficients=floats(3), post_transform='LOG')

for t, kind, n, text in itertools.product(NUMBERS, TRANSFORMS, (1, 2, 4), (False, True)):
    for shape, sets, has_b in itertools.product(((5, 4), (4,), (0, 4)), {n, 1} if n == 2 else {n}, (False, True)):
        x = numbers(t, *shape)
        w, b = floats(sets, shape[-1]), floats(sets) if has_b else None
        s = product(x, w, b)
        if sets < n:
            s = np.concatenate([-s, s], axis=1)
        labels = [f'class {k}' for k in range(n)] if text else [10 * k - 5 for k in range(n)]
        cases.node('LinearClassifier', 1, [x], [as_labels(labels, s.argmax(1)), transform(kind, s).astype(f32)],
                   tolerance=(1e-5, 1e-6), coefficients=w, intercepts=b, post_transform=kind, multi_class=n % 2,
                   **{'classlabels_strings' if text else 'classlabels_ints': labels})
both = [np.zeros(1, np.int64), np.zeros(1, f32)]
x = numbers(f32, 2, 3)
cases.refuse('LinearClassifier', 1, [x], 'neither is given', both, coefficients=floats(3))
cases.refuse('LinearClassifier', 1, [x], 'both are given', both, coefficients=floats(6), classlabels_ints=[1, 2],
             classlabels_strings=['a', 'b'])
cases.refuse('LinearClassifier', 1, [x], 'has 3 features', both, coefficients=floats(4, 3), classlabels_ints=[1, 2])

# ---- SVMRegressor, SVMClassifier ----

KERNELS = {'LINEAR': lambda a, b, g, c, d: a @ b, 'POLY': lambda a, b, g, c, d: (g * (a @ b) + c)**d,
           'RBF': lambda a, b, g, c, d: np.exp(-g * ((a - b)**2).sum()), 'SIGMOID': lambda a, b, g, c, d: np.tanh(g * (a @ b) + c)}
PARAMS = [float(f32(v)) for v in (0.3, 0.5, 2.0)]


def kernel_values(name, x, vectors):
    return np.array([[KERNELS[name](a, b, *PARAMS) for b in vectors] for a in np.atleast_2d(x).astype(float)]).reshape(
        -1, len(vectors))


for t, kernel, one_class, shape in itertools.product(NUMBERS, KERNELS, (0, 1), ((5, 4), (4,), (0, 4), (300, 4))):
    x = numbers(t, *shape)
    vectors, c, rho = floats(6, 4), floats(6), floats(1)
    s = kernel_values(kernel, x, np.array(vectors).reshape(6, 4)) @ np.array(c) + rho[0]
    y = np.where(s > 0, 1, -1) if one_class else s
    cases.node('SVMRegressor', 1, [x], [y.astype(f32).reshape(-1, 1)], tolerance=(1e-5, 1e-5), coefficients=c, rho=rho,
               support_vectors=vectors, n_supports=6, one_class=one_class, kernel_type=kernel, kernel_params=PARAMS)
for kind in TRANSFORMS:
    x, c, rho = numbers(f32, 5, 4), floats(4), floats(1)
    cases.node('SVMRegressor', 1, [x], [transform(kind, product(x, c, rho)).astype(f32)], tolerance=(1e-5, 1e-6),
               coefficients=c, rho=rho, post_transform=kind)
x = numbers(f32, 2, 3)
cases.refuse('SVMRegressor', 1, [x], 'rho is missing', coefficients=floats(3))
cases.refuse('SVMRegressor', 1, [x], 'has 3 features, the model has 2', coefficients=floats(2), rho=[0.0])
cases.refuse('SVMRegressor', 1, [x], 'cannot be cut into 4 vectors', coefficients=floats(4), rho=[0.0], n_supports=4,
             support_vectors=floats(9))
cases.refuse('SVMRegressor', 1, [x], 'expected gamma, coef0 and degree', coefficients=floats(3), rho=[0.0],
             kernel_params=[1.0])


def couple(r):
    """The probabilities p that minimize Σ (r_ji p_i - r_ij p_j)², which sum to 1 (Wu, Lin and Weng), exactly."""
    n = len(r)
    q = -r.T * r
    np.fill_diagonal(q, [(np.delete(r[:, i], i)**2).sum() for i in range(n)])
    system = np.block([[q, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    return np.linalg.solve(system, np.append(np.zeros(n), 1))[:n]


def decisions(k, per_class, c, rho):
    start = np.concatenate([[0], np.cumsum(per_class)])
    n, pair, scores, votes = len(per_class), 0, [], np.zeros((len(k), len(per_class)))
    for i in range(n):
        for j in range(i + 1, n):
            a, b = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
            s = k[:, a] @ c[j - 1, a] + k[:, b] @ c[i, b] + rho[pair]
            votes[np.arange(len(k)), np.where(s > 0, i, j)] += 1
            scores.append(s)
            pair += 1
    return np.array(scores).T.reshape(len(k), pair), votes


for t, kernel, per_class, text, proba in itertools.product(NUMBERS, KERNELS, ((3, 2), (2, 3, 1), (1, 2, 2, 3)), (0, 1), (0, 1)):
    for kind in TRANSFORMS if t is f32 and not text else ('NONE',):
        x = numbers(t, 7, 4)
        n, v = len(per_class), sum(per_class)
        pairs = n * (n - 1) // 2
        vectors, c, rho = floats(v, 4), floats(n - 1, v), floats(pairs)
        labels = [f'class {k}' for k in range(n)] if text else [10 * k - 5 for k in range(n)]
        s, votes = decisions(kernel_values(kernel, x, np.array(vectors).reshape(v, 4)), per_class,
                             np.array(c).reshape(n - 1, v), rho)
        given, tolerance = {}, (1e-4, 1e-4)
        if proba:
            a, b = [-abs(w) for w in floats(pairs)], floats(pairs)
            r = np.zeros((7, n, n))
            for pair, (i, j) in enumerate(itertools.combinations(range(n), 2)):
                r[:, i, j] = np.clip(1 / (1 + np.exp(s[:, pair] * a[pair] + b[pair])), 1e-7, 1 - 1e-7)
                r[:, j, i] = 1 - r[:, i, j]
            s = np.array([couple(m) for m in r])
            given = {'prob_a': a, 'prob_b': b}
            tolerance = (1e-2, 1e-2)  # libsvm stops the iteration early
            if kind in ('PROBIT', 'SOFTMAX_ZERO'):
                continue
        elif n == 2:
            s = np.concatenate([-s, s], axis=1)
        cases.node('SVMClassifier', 1, [x], [as_labels(labels, votes.argmax(1)), transform(kind, s).astype(f32)],
                   tolerance=tolerance, coefficients=c, rho=rho, support_vectors=vectors, vectors_per_class=per_class,
                   kernel_type=kernel, kernel_params=PARAMS, post_transform=kind, **given,
                   **{'classlabels_strings' if text else 'classlabels_ints': labels})
for n, kind in itertools.product((1, 2, 3), TRANSFORMS):
    x, c, rho = numbers(f32, 5, 4), floats(n, 4), floats(1)
    s = product(x, c, None) + rho[0]
    cases.node('SVMClassifier', 1, [x], [as_labels(list(range(n)), s.argmax(1)), transform(kind, s).astype(f32)],
               tolerance=(1e-5, 1e-6), coefficients=c, rho=rho, classlabels_ints=list(range(n)), post_transform=kind)
svm = {'coefficients': floats(4), 'rho': [0.0], 'support_vectors': floats(12), 'vectors_per_class': [2, 2]}
x = numbers(f32, 2, 3)
cases.refuse('SVMClassifier', 1, [x], 'neither is given', both, **svm)
cases.refuse('SVMClassifier', 1, [x], 'vectors_per_class has 2 elements', both, classlabels_ints=[1, 2, 3], **svm)
cases.refuse('SVMClassifier', 1, [x], 'rho has 2 elements', both, classlabels_ints=[1, 2], **{**svm, 'rho': [0.0, 1.0]})
cases.refuse('SVMClassifier', 1, [x], 'coefficients has 3 elements', both, classlabels_ints=[1, 2],
             **{**svm, 'coefficients': floats(3)})
cases.refuse('SVMClassifier', 1, [x], 'out of range', both, classlabels_ints=[1, 2], **{**svm, 'vectors_per_class': [-1, 5]})

cases.run()
