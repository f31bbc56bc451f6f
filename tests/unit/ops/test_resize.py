#!/usr/bin/env python3
"""Resize and Upsample: every combination of attributes, ranks 1 to 5, all types. Coordinates are computed here as exact
fractions, from the formulas in the operator's text; interpolation is a matrix for each axis."""
import itertools
import math
from fractions import Fraction

import numpy as np
from onnx import helper

from arrays import ArrayCases, allowed
from one_node import generator, random_tensor, versions

rng = generator(8)
cases = ArrayCases()
TOLERANCES = {'float16': (1e-3, 1e-3), 'bfloat16': (8e-3, 8e-3), 'float32': (2e-6, 2e-6), 'float64': (1e-12, 1e-12),
              'complex64': (2e-6, 2e-6), 'complex128': (1e-12, 1e-12)}
HALF = Fraction(1, 2)


def tolerance(d, rank):
    """The types that keep float32 or double between the axes round once for each."""
    rtol, atol = TOLERANCES.get(d.name, (0, 0))
    return (rtol, atol) if d.itemsize == 2 else (rank * rtol, rank * atol)


def one_of(*choices):
    return choices[int(rng.integers(len(choices)))]


class Axis:
    """One axis: in and out elements, its scale and part of the roi as fractions."""

    def __init__(self, n):
        self.n, self.out, self.scale, self.start, self.end = n, n, Fraction(1), Fraction(0), Fraction(1)

    def original(self, i, how):
        n, s = self.n, self.scale
        half = (i + HALF) / s - HALF
        if how == 'half_pixel':
            return half
        if how == 'half_pixel_symmetric':
            return Fraction(n, 2) * (1 - self.out / (s * n)) + half
        if how == 'pytorch_half_pixel':
            return half if self.out > 1 else Fraction(0)
        if how == 'align_corners':
            return Fraction(0) if s * n == 1 else i * (n - 1) / (s * n - 1)
        if how == 'asymmetric':
            return i / s
        if how == 'tf_half_pixel_for_nn':
            return (i + HALF) / s
        if self.out > 1:
            return self.start * (n - 1) + i * (self.end - self.start) * (n - 1) / (self.out - 1)
        return HALF * (self.start + self.end) * (n - 1)


def nearest_index(x, how, scale):
    down, part = math.floor(x), x - math.floor(x)
    up = down + (part > 0)
    if how == 'simple':
        return up if scale < 1 else down
    return {'floor': down, 'ceil': up, 'round_prefer_floor': down + (part > HALF),
            'round_prefer_ceil': down + (part >= HALF)}[how]


def filter_weight(mode, x, a):
    x = abs(x)
    if mode == 'linear':
        return max(0, 1 - x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0


def matrix(axis, rule):
    """What each output element takes of each input element, and which ones lie outside."""
    m, outside = np.zeros((axis.out, axis.n)), np.zeros(axis.out, bool)
    mode, how = rule['mode'], rule['coordinate']
    for i in range(axis.out):
        x = axis.original(Fraction(i), how)
        if how == 'tf_crop_and_resize' and not 0 <= x <= axis.n - 1:
            outside[i] = True
            continue
        if mode == 'nearest':
            k = nearest_index(x, rule['nearest'], axis.scale)
            if rule['exclude'] and not 0 <= k < axis.n:
                continue
            m[i, min(max(k, 0), axis.n - 1)] = 1
            continue
        stretch = min(axis.scale, 1) if rule['antialias'] else 1
        reach = (1 if mode == 'linear' else 2) / stretch
        taps = range(math.floor(x - reach), math.ceil(x + reach) + 1)
        w = {k: float(filter_weight(mode, (k - x) * stretch, rule['a'])) for k in taps}
        if rule['exclude']:
            w = {k: v for k, v in w.items() if 0 <= k < axis.n}
        total = sum(w.values()) if rule['exclude'] or rule['antialias'] else 1
        for k, v in w.items():
            m[i, min(max(k, 0), axis.n - 1)] += v / total if total else v
    return m, outside


def tied(y):
    """Is a result so close to the middle of two integers that the order of its sum decides?"""
    return bool((abs(y % 1 - 0.5) < 1e-9).any())


def to_type(y, d):
    if d.kind in 'iu':
        y = np.rint(y)
        low, high = np.iinfo(d).min, np.iinfo(d).max
        return np.array([min(max(int(v), low), high) for v in y.reshape(-1)], dtype=d).reshape(y.shape)
    return np.clip(np.rint(y), 0, 1).astype(bool) if d == bool else y.astype(d)


def resize(x, axes, rule):
    """None: not to be told (see tied)."""
    anywhere = np.zeros([a.out for a in axes], bool)
    y = x if rule['mode'] == 'nearest' else x.astype(np.complex128 if x.dtype.kind == 'c' else np.float64)
    for d, axis in enumerate(axes):
        m, outside = matrix(axis, rule)
        anywhere |= outside.reshape([-1 if k == d else 1 for k in range(len(axes))])
        if rule['mode'] == 'nearest':
            y = np.take(y, m.argmax(1), d)
            if rule['exclude'] and rule['coordinate'] != 'tf_crop_and_resize':
                y[(slice(None),) * d + (m.sum(1) == 0,)] = '' if x.dtype == object else 0
        else:
            y = np.moveaxis(np.tensordot(m, y, (1, d)), 0, d)
    if rule['mode'] != 'nearest':
        dyadic = all(a.scale.numerator & (a.scale.numerator - 1) == 0 and a.scale.denominator & (a.scale.denominator - 1) == 0 for a in axes)
        if x.dtype.kind in 'iub' and not (dyadic and rule['mode'] == 'linear') and tied(y):
            return None
        y = y.astype(x.dtype) if x.dtype.kind == 'c' else to_type(y, x.dtype)
    if anywhere.any():
        y = y.copy()
        y[anywhere] = to_type(np.array([rule['extrapolation']]), x.dtype)[0]
    return y


def values(d, shape):
    if d == object or d == bool:
        return random_tensor(rng, helper.np_dtype_to_tensor_dtype(d) if d == bool else 8, *shape)
    if d.kind in 'iu':
        wide = d.itemsize == 1
        return rng.integers(np.iinfo(d).min if wide else 0, np.iinfo(d).max if wide else 1000, shape, dtype=d, endpoint=True)
    x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if d.kind == 'c' else 0)
    return (x * 3).astype(d) if d.kind == 'c' else (x * 3).astype(np.float32).astype(d)


def made(d, axes, rule):
    """X and Y."""
    for _ in range(10):
        x = values(d, [a.n for a in axes])
        y = resize(x, axes, rule) if all(a.out for a in axes) else np.zeros([a.out for a in axes], d)
        if y is not None:
            break
    return x, y


def half_up(x):
    return math.floor(x + HALF)


def sized(axes, chosen, policy):
    """sizes for the chosen axes; sets out and scale of each."""
    sizes = [int(rng.integers(1, 3 * axes[d].n + 2)) for d in chosen]
    ratios = [Fraction(s, axes[d].n) for s, d in zip(sizes, chosen)]
    for s, r, d in zip(sizes, ratios, chosen):
        axes[d].scale = r if policy == 'stretch' else (min if policy == 'not_larger' else max)(ratios)
        axes[d].out = s if policy == 'stretch' else half_up(axes[d].scale * axes[d].n)
    return np.array(sizes, np.int64)


def scaled(axes, chosen, crop, factors=(0.5, 0.6, 0.75, 1, 1.3, 1.5, 2, 2.7, 3)):
    scales = np.array([one_of(*factors) for _ in chosen], np.float32)
    for s, d in zip(scales, chosen):
        axes[d].scale = Fraction(float(s))
        axes[d].out = max(0, math.floor(axes[d].n * ((axes[d].end - axes[d].start) if crop else 1) * axes[d].scale))
    return scales


def resize_case(version, d, rule, how_sized, rank):
    shape = [int(rng.integers(1, {1: 20, 2: 9, 3: 6, 4: 5, 5: 3}[rank] + 1)) for _ in range(rank)]
    axes = [Axis(n) for n in shape]
    attrs = {'mode': rule['mode'], 'coordinate_transformation_mode': rule['coordinate'], 'exclude_outside': rule['exclude']}
    chosen = list(range(rank))
    if version >= 18 and rng.integers(2):
        chosen = [int(k) for k in rng.permutation(rank)[:int(rng.integers(1, rank + 1))]]
        attrs['axes'] = [k - rank if rng.integers(3) == 0 else k for k in chosen]
    crop = rule['coordinate'] == 'tf_crop_and_resize'
    roi_types = [t for s in versions('Resize') if s.since_version == version for t in allowed(s, s.inputs[1])]
    roi = None if version >= 13 and not crop else np.array([], one_of(*roi_types))
    if crop:
        starts = [one_of(0, 0.125, -0.25, 0.5) for _ in chosen]
        ends = [one_of(1, 0.875, 1.25, 0.75, 0.25) for _ in chosen]
        roi = np.array(starts + ends, one_of(*roi_types))
        for k, s, e in zip(chosen, starts, ends):
            axes[k].start, axes[k].end = Fraction(s), Fraction(e)
        attrs['extrapolation_value'] = rule['extrapolation']
    scales = sizes = None
    if how_sized == 'scales':
        scales = scaled(axes, chosen, crop)
    else:
        sizes = sized(axes, chosen, how_sized)
        scales = np.array([], np.float32) if version == 11 else None
        if how_sized != 'stretch':
            attrs['keep_aspect_ratio_policy'] = how_sized
    if rule['mode'] == 'nearest':
        attrs['nearest_mode'] = rule['nearest']
    if rule['mode'] == 'cubic':
        attrs['cubic_coeff_a'] = rule['a']
    if rule['antialias']:
        attrs['antialias'] = 1
    x, y = made(d, axes, rule)
    if y is None:
        return
    inputs = [x, roi, scales] + ([sizes] if sizes is not None else [])
    numbers = [k for k in range(1, len(inputs)) if inputs[k] is not None]
    name = '_'.join(map(str, (d.name, rule['mode'], rule['coordinate'], how_sized)))
    cases.node('Resize', version, inputs, [y], tolerance(d, rank), name=name,
               constant=numbers if rng.integers(2) else (), **attrs)


COORDINATES = ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric', 'tf_crop_and_resize']
ROUNDINGS = ['round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil']


def rules(version):
    extra = {11: ['tf_half_pixel_for_nn'], 19: ['half_pixel_symmetric']}.get(version, [])
    for coordinate, exclude in itertools.product(COORDINATES + extra, [0, 1]):
        rule = dict(coordinate=coordinate, exclude=exclude, antialias=0, nearest=None, a=0.0, extrapolation=0.0)
        for nearest in ROUNDINGS:
            yield dict(rule, mode='nearest', nearest=nearest, extrapolation=one_of(0.0, 2.5, -7.0))
        for antialias in [0, 1] if version >= 18 else [0]:
            yield dict(rule, mode='linear', antialias=antialias, extrapolation=one_of(0.0, 2.5, -7.0))
            for a in [-0.75, -0.5]:
                yield dict(rule, mode='cubic', antialias=antialias, a=a, extrapolation=one_of(0.0, 2.5, -7.0))


F32 = np.dtype(np.float32)
combinations = 0
for schema in versions('Resize'):
    version = schema.since_version
    if version < 11:
        continue
    for rule in rules(version):
        for how in ['scales', 'stretch'] + (['not_larger', 'not_smaller'] if version >= 18 else []):
            combinations += 1
            resize_case(version, F32, rule, how, int(rng.integers(1, 6)))
    for d in allowed(schema, schema.inputs[0]):
        for rule in [r for r in rules(version) if rng.integers(8) == 0]:
            if d == object and (rule['mode'] != 'nearest' or rule['coordinate'] == 'tf_crop_and_resize'):
                continue
            resize_case(version, d, rule, one_of('scales', 'stretch'), int(rng.integers(1, 5)))

# Before version 11: asymmetric; nearest rounds up when shrinking, else down.
for op, version in [('Upsample', 1), ('Upsample', 7), ('Upsample', 9), ('Resize', 10)]:
    schema = next(s for s in versions(op) if s.since_version == version)
    for d in allowed(schema, schema.inputs[0]):
        for mode in ['nearest', 'linear']:
            if d == object and mode == 'linear':
                continue
            for rank in [4] if version == 1 else [1, 2, 3, 4]:
                axes = [Axis(int(n)) for n in rng.integers(1, 5, rank)]
                chosen = [2, 3] if version == 1 else range(rank)
                factors = (0.5, 0.6, 0.75, 1, 1.5, 2, 3) if op == 'Resize' else (1, 1.5, 2, 2.7, 3)
                scales = scaled(axes, chosen, False, factors)
                rule = dict(mode=mode, coordinate='asymmetric', nearest='simple', exclude=0, antialias=0, a=0.0, extrapolation=0)
                x, y = made(d, axes, rule)
                if y is None:
                    continue
                inputs, attrs = [x], {'mode': mode}
                if version == 1:
                    attrs.update(mode='bilinear' if mode == 'linear' else mode, height_scale=float(scales[0]),
                                 width_scale=float(scales[1]))
                elif version == 7:
                    attrs['scales'] = [float(s) for s in scales]
                else:
                    inputs.append(scales)
                cases.node(op, version, inputs, [y], tolerance(d, rank), name=f'{d.name}_{mode}',
                           constant=(1,) if len(inputs) > 1 and rng.integers(2) else (), **attrs)

# An axis that keeps its length and its coordinates is still filtered, where the scale of all is below 1.
axes = [Axis(2), Axis(4)]
for axis, out in zip(axes, (2, 3)):
    axis.scale, axis.out = Fraction(3, 4), out
x = values(F32, (2, 4))
y = resize(x, axes, dict(mode='cubic', coordinate='tf_crop_and_resize', exclude=0, antialias=1, nearest=None, a=-0.5, extrapolation=0.0))
cases.node('Resize', 19, [x, np.array([0, 0, 1, 1], np.float32), None, np.array([1, 3], np.int64)], [y], tolerance(F32, 2), mode='cubic',
           cubic_coeff_a=-0.5, antialias=1, coordinate_transformation_mode='tf_crop_and_resize', keep_aspect_ratio_policy='not_smaller')

x, y, none = np.ones((1, 1, 2, 2), np.float32), np.ones((1, 1, 4, 4), np.float32), np.array([], np.float32)
four, sizes = np.array([1, 1, 2, 2], np.float32), np.array([1, 1, 4, 4], np.int64)
for version in [13, 18, 19]:
    cases.node('Resize', version, [x, None, None], [y], says='neither scales nor sizes')
    cases.node('Resize', version, [x, None, four, sizes], [y], says='both scales and sizes are given')
    cases.node('Resize', version, [x, None, four[1:]], [y], says='expected 4 elements, one for each axis, got 3')
    cases.node('Resize', version, [x, None, -four], [y], says='scale -1 of axis 0 is not above 0', constant=(2,))
    cases.node('Resize', version, [x, None, four], [y], mode='area', says='attribute mode "area" unknown')
    cases.node('Resize', version, [x, None, four], [y], coordinate_transformation_mode='tf_half_pixel_for_nn',
               says='attribute coordinate_transformation_mode "tf_half_pixel_for_nn" unknown')
    cases.node('Resize', version, [x, None, four], [y], coordinate_transformation_mode='tf_crop_and_resize',
               says='needs the input roi')
cases.node('Resize', 18, [x, None, four], [y], coordinate_transformation_mode='half_pixel_symmetric', says='unknown')
cases.node('Resize', 18, [x, None, four[:2]], [y], axes=[1, -3], says='attribute axes has axis 1 twice')
cases.node('Resize', 11, [x, none, none], [y], says='neither scales nor sizes')
print(f'{combinations} combinations of attributes')
cases.run()
