#!/usr/bin/env python3
"""Sampling by a grid, regions of interest, non-maximum suppression, blocks put back: every version and type, against plain
loops in Python's own arithmetic."""
import itertools
import math

import numpy as np
from onnx import helper

from arrays import ArrayCases, allowed
from one_node import generator, random_tensor, versions

rng = generator(9)
cases = ArrayCases()
TOLERANCES = {'float16': (2e-3, 2e-3), 'bfloat16': (1.6e-2, 1.6e-2), 'float32': (3e-6, 3e-6), 'float64': (1e-12, 1e-12),
              'complex64': (3e-6, 3e-6), 'complex128': (1e-12, 1e-12)}


def tolerance(d):
    return TOLERANCES.get(d.name, (0, 0))


def one_of(*choices):
    return choices[int(rng.integers(len(choices)))]


def random(d, *shape):
    if d == object or d == bool:
        return random_tensor(rng, helper.np_dtype_to_tensor_dtype(d) if d == bool else 8, *shape)
    if d.kind in 'iu':
        return rng.integers(max(-100, np.iinfo(d).min), 100, shape).astype(d)
    x = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if d.kind == 'c' else 0)
    return x.astype(d) if d.kind == 'c' else x.astype(np.float32).astype(d)


# ---- GridSample ----

def reflect(x, low, high):
    if high <= low:
        return low
    while x < low or x > high:
        x = 2 * low - x if x < low else 2 * high - x
    return x


def element(k, n, padding, corners):
    if 0 <= k < n:
        return k
    if padding == 'zeros':
        return None
    if padding == 'border':
        return 0 if k < 0 else n - 1
    return int(reflect(k, 0, n - 1) if corners else reflect(k, -0.5, n - 0.5))


def keys(x, a=-0.75):
    x = abs(x)
    return (a + 2) * x**3 - (a + 3) * x**2 + 1 if x <= 1 else a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0


def grid_axis(v, n, mode, padding, corners):
    """[(element or None, weight)]"""
    x = (v + 1) / 2 * (n - 1) if corners else ((v + 1) * n - 1) / 2
    low, high = (0, n - 1) if corners else (-0.5, n - 0.5)
    if mode == 'nearest':
        x = float(np.rint(x))
    if padding != 'zeros' and not low <= x <= high:
        x = min(max(x, 0), n - 1) if padding == 'border' else reflect(x, low, high)
    base = math.floor(x)
    taps = {'nearest': [(base, 1)], 'linear': [(base, 1 - x + base), (base + 1, x - base)],
            'cubic': [(k, keys(k - x)) for k in range(base - 1, base + 3)]}[mode]
    return [(element(k, n, padding, corners), w) for k, w in taps]


def grid_sample(x, grid, mode, padding, corners):
    d = x.dtype
    y = np.zeros((*x.shape[:2], *grid.shape[1:-1]), object if d == object else np.complex128)
    for at in np.ndindex(grid.shape[:-1]):
        axes = [grid_axis(float(v), n, mode, padding, corners) for v, n in zip(grid[at][::-1], x.shape[2:])]
        for taps in itertools.product(*axes):
            index = tuple(k for k, _ in taps)
            if None in index:
                value = '' if d == object else 0
            else:
                value = x[(at[0], slice(None), *index)]
            weight = math.prod(w for _, w in taps)
            if d == object:
                y[(at[0], slice(None), *at[1:])] = value
            else:
                y[(at[0], slice(None), *at[1:])] += weight * np.asarray(value).astype(np.complex128)
    if d == object or d.kind == 'c':
        return y.astype(d)
    y = y.real
    return y != 0 if d == bool else np.trunc(y).astype(np.int64).astype(d) if d.kind in 'iu' else y.astype(d)


for schema in versions('GridSample'):
    v = schema.since_version
    grid_types = allowed(schema, schema.inputs[1])
    spell = {'linear': 'bilinear', 'cubic': 'bicubic'} if v < 20 else {}
    for mode, padding, corners in itertools.product(['nearest', 'linear', 'cubic'], ['zeros', 'border', 'reflection'], [0, 1]):
        for d in allowed(schema, schema.inputs[0]):
            if d != np.float32 and rng.integers(4):
                continue
            for spatial in ([2] if v < 20 or d != np.float32 else [1, 2, 3]):
                size = [int(n) for n in rng.integers(1, {1: 9, 2: 5, 3: 4}[spatial] + 1, spatial)]
                out = [int(n) for n in rng.integers(1, 4, spatial)]
                if mode == 'nearest' and d == object or d != object:
                    x = random(d, 2, 3, *size)
                    grid = (rng.integers(-12, 13, (2, *out, spatial)) / 8 + 0.01).astype(one_of(*grid_types))
                    if d.kind in 'iub' and mode != 'nearest':
                        grid = (rng.integers(-12, 13, (2, *out, spatial)) / 8).astype(grid.dtype)
                        if padding == 'reflection' or mode == 'cubic' or d == bool or not corners:
                            continue
                        x = random(d, 2, 3, *[one_of(2, 3, 5) for _ in size])
                    y = grid_sample(x, grid, mode, padding, corners)
                    cases.node('GridSample', v, [x, grid], [y], tolerance(d), name=f'{d.name}_{mode}_{padding}',
                               mode=spell.get(mode, mode), padding_mode=padding, align_corners=corners)
x, grid = np.ones((1, 1, 2, 2), np.float32), np.array([[[[np.nan, 0], [np.inf, 0]]]], np.float32)
cases.node('GridSample', 20, [x, grid], [np.zeros((1, 1, 1, 2), np.float32)], name='nan')
cases.node('GridSample', 20, [x, grid], [np.ones((1, 1, 1, 2), np.float32)], name='nan', padding_mode='border')
cases.node('GridSample', 20, [x, grid[..., :1]], [x], says='expected 2 coordinates in the last axis')
word = np.array([[[['a']]]], object)
cases.node('GridSample', 16, [word, grid[..., :1, :]], [word], says='needs mode == nearest')

for schema in versions('AffineGrid'):
    for d in allowed(schema, schema.inputs[0]):
        for size in [(2, 1, 3, 4), (1, 2, 2, 1), (2, 3, 2, 3, 4), (1, 1, 1, 5, 2)]:
            for corners in [0, 1]:
                n = len(size) - 2
                theta = random(d, size[0], n, n + 1)
                y = np.zeros((size[0], *size[2:], n))
                for at in np.ndindex(*size[2:]):
                    p = [(2 * i / (m - 1) - 1 if m > 1 else 0) if corners else (2 * i + 1) / m - 1 for i, m in zip(at, size[2:])]
                    y[(slice(None), *at)] = theta.astype(np.float64) @ np.array(p[::-1] + [1])
                cases.node('AffineGrid', schema.since_version, [theta, np.array(size, np.int64)], [y.astype(d)], tolerance(d),
                           name=d.name, align_corners=corners, constant=(1,) if rng.integers(2) else ())
cases.node('AffineGrid', 20, [np.zeros((0, 2, 3), np.float32), np.zeros((0, 4), np.int64)], [np.zeros(0, np.float32)],
           says='expected rank 1, got rank 2')

# ---- RoiAlign, MaxRoiPool ----

def bilinear(x, v, w):
    """The four weighted neighbours of place (v, w) in each channel; None: outside."""
    h, n = x.shape[1:]
    if not (-1 <= v <= h and -1 <= w <= n):
        return None
    v, w = min(max(v, 0), h - 1), min(max(w, 0), n - 1)
    r, c = int(v), int(w)
    r2, c2 = min(r + 1, h - 1), min(c + 1, n - 1)
    a, b = v - r, w - c
    return [(1 - a) * (1 - b) * x[:, r, c], (1 - a) * b * x[:, r, c2], a * (1 - b) * x[:, r2, c], a * b * x[:, r2, c2]]


def roi_align(x, roi, size, ratio, scale, half, mode):
    offset = 0.5 if half else 0
    x1, y1, x2, y2 = (float(v) * scale - offset for v in roi)
    h, w = y2 - y1, x2 - x1
    if not half:
        h, w = max(h, 1), max(w, 1)
    bh, bw = h / size[0], w / size[1]
    gh, gw = (ratio, ratio) if ratio else (max(math.ceil(bh), 0), max(math.ceil(bw), 0))
    y = np.zeros((x.shape[0], *size))
    for i, j in np.ndindex(*size):
        samples = [bilinear(x, y1 + i * bh + (a + 0.5) * bh / gh, x1 + j * bw + (b + 0.5) * bw / gw)
                   for a in range(gh) for b in range(gw)]
        samples = [[np.zeros(len(x))] * 4 if s is None else s for s in samples]
        if not samples:
            continue
        y[:, i, j] = np.max(samples, axis=(0, 1)) if mode == 'max' else np.sum(samples, axis=(0, 1)) / len(samples)
    return y


for schema in versions('RoiAlign'):
    v = schema.since_version
    for d in allowed(schema, schema.inputs[0]):
        for mode, ratio in itertools.product(['avg', 'max'], [0, 1, 2, 3]):
            for half in [False] if v < 16 else [False, True]:
                x = random(d, 2, 3, 6, 7)
                corner, extent = rng.integers(-2, 10, (4, 2)) / 2, rng.integers(0, 16, (4, 2)) / 2
                rois = np.concatenate([corner, corner + extent], 1).astype(d)
                batch = rng.integers(0, 2, 4)
                size, scale = (int(rng.integers(1, 4)), int(rng.integers(1, 4))), one_of(1., 0.5, 0.25)
                y = [roi_align(x[b].astype(np.float64), r, size, ratio, scale, half, mode) for r, b in zip(rois, batch)]
                attrs = {} if v < 16 else {'coordinate_transformation_mode': 'half_pixel' if half else 'output_half_pixel'}
                cases.node('RoiAlign', v, [x, rois, batch], [np.array(y).astype(d)], tolerance(d), name=f'{d.name}_{mode}',
                           mode=mode, sampling_ratio=ratio, output_height=size[0], output_width=size[1], spatial_scale=scale,
                           **attrs)
x, roi, y = np.ones((1, 1, 2, 2), np.float32), np.array([[0, 0, 1, 1]], np.float32), np.ones((1, 1, 1, 1), np.float32)
cases.node('RoiAlign', 16, [x, roi, np.array([1])], [y], says='roi 0 is of batch 1, outside [0,0]')
cases.node('RoiAlign', 16, [x, roi * 1e30, np.array([0])], [y], says='samples in each bin')
cases.node('RoiAlign', 16, [x, roi * np.nan, np.array([0])], [y], says='is not finite')


def away(v):
    return math.floor(v + 0.5) if v >= 0 else math.ceil(v - 0.5)


for schema in versions('MaxRoiPool'):
    for d in allowed(schema, schema.inputs[0]):
        for _ in range(6):
            x = random(d, 2, 3, 6, 7)
            corner, extent = rng.integers(-4, 12, (4, 2)) / 2, rng.integers(-2, 16, (4, 2)) / 2
            rois = np.concatenate([rng.integers(0, 2, (4, 1)), corner, corner + extent], 1).astype(d)
            size, scale = (int(rng.integers(1, 4)), int(rng.integers(1, 4))), one_of(1., 0.5, 0.25)
            y = np.zeros((4, 3, *size), d)
            for k, roi in enumerate(rois.astype(np.float64)):
                x1, y1, x2, y2 = (away(v * scale) for v in roi[1:])
                h, w = max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1)
                for i, j in np.ndindex(*size):
                    r = [min(max(b, 0), 6) for b in (y1 + i * h // size[0], y1 - (-(i + 1) * h // size[0]))]
                    c = [min(max(b, 0), 7) for b in (x1 + j * w // size[1], x1 - (-(j + 1) * w // size[1]))]
                    if r[1] > r[0] and c[1] > c[0]:
                        y[k, :, i, j] = x[int(roi[0]), :, r[0]:r[1], c[0]:c[1]].max((1, 2))
            cases.node('MaxRoiPool', schema.since_version, [x, rois], [y], name=d.name, pooled_shape=size, spatial_scale=scale)
cases.node('MaxRoiPool', 1, [x, np.array([[2, 0, 0, 1, 1]], x.dtype)], [x], pooled_shape=[1, 1], says='roi 0 is of batch 2, outside [0,1]')

# ---- NonMaxSuppression ----

def nms(boxes, scores, most, iou, least, center):
    if center:
        boxes = [[b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2] for b in boxes.astype(np.float64)]
    else:
        boxes = [[min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])] for b in boxes.astype(np.float64)]

    def overlap(a, b):
        h, w = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
        if h <= 0 or w <= 0:
            return np.float32(0)
        areas = [(c[2] - c[0]) * (c[3] - c[1]) for c in (a, b)]
        return np.float32(h * w / (sum(areas) - h * w))

    kept = []
    for i in sorted(range(len(boxes)), key=lambda k: (-scores[k], k)):
        if least is not None and scores[i] < least or len(kept) >= most:
            continue
        if all(overlap(boxes[i], boxes[k]) <= np.float32(iou) for k in kept):
            kept.append(i)
    return kept


for schema in versions('NonMaxSuppression'):
    for center, given in itertools.product([0, 1], [0, 1, 2, 3, 3, 3, 3]):
        for n in [0, 1, 6, 40]:
            batches, classes = int(rng.integers(1, 3)), int(rng.integers(1, 4))
            boxes = (rng.integers(0, 12, (batches, n, 4)) / 4).astype(np.float32)
            scores = (rng.integers(0, 10, (batches, classes, n)) / 8).astype(np.float32)
            most, iou, least = one_of(1, 3, 100), one_of(0.25, 0.5, 1 / 3, 0.7, 0, 1), one_of(0.5, 0, 0.3)
            options = [np.array([most]), np.array([iou], np.float32), np.array([least], np.float32)][:given]
            rows = [[b, k, i] for b in range(batches) for k in range(classes)
                    for i in nms(boxes[b], scores[b, k], most if given else 0, iou if given > 1 else 0,
                                 np.float32(least) if given > 2 else None, center)]
            y = np.array(rows, np.int64).reshape(-1, 3)
            options = [o.reshape(one_of((), (1,))) for o in options]
            cases.node('NonMaxSuppression', schema.since_version, [boxes, scores] + options, [y], center_point_box=center)
boxes, scores = np.ones((1, 3, 4), np.float32), np.ones((1, 1, 4), np.float32)
cases.node('NonMaxSuppression', 11, [boxes, scores], [np.zeros((0, 3), np.int64)], says='boxes has 3 boxes, scores has 4')
cases.node('NonMaxSuppression', 11, [boxes, scores[..., :3], np.array(1), np.float32(1.5)], [np.zeros((0, 3), np.int64)],
           says='1.5 is outside [0,1]')

# ---- Col2Im ----

for schema in versions('Col2Im'):
    for d in allowed(schema, schema.inputs[0]):
        for image in [(5, 5), (4, 7), (3, 4, 5), (6,), (3, 3, 2, 4)] if d != object else []:
            n = len(image)
            block = [int(rng.integers(1, m + 1)) for m in image]
            attrs = {'strides': [int(k) for k in rng.integers(1, 3, n)], 'dilations': [1] * n,
                     'pads': [int(k) for k in rng.integers(0, 2, 2 * n)]}
            if all(2 * (b - 1) < m for b, m in zip(block, image)):
                attrs['dilations'] = [2] * n
            s, l, p = attrs['strides'], attrs['dilations'], attrs['pads']
            blocks = [(image[k] + p[k] + p[n + k] - l[k] * (block[k] - 1) - 1) // s[k] + 1 for k in range(n)]
            x = random(d, 2, 3 * math.prod(block), math.prod(blocks))
            y = np.zeros((2, 3, *image), bool if d == bool else np.complex128 if d.kind == 'c' else np.float64 if d.kind not in 'iu' else np.int64)
            columns = x.reshape(2, 3, *block, *blocks)
            for tap in np.ndindex(*block):
                for b in np.ndindex(*blocks):
                    at = tuple(b[k] * s[k] - p[k] + tap[k] * l[k] for k in range(n))
                    if all(0 <= a < m for a, m in zip(at, image)):
                        y[(slice(None), slice(None), *at)] += columns[(slice(None), slice(None), *tap, *b)].astype(y.dtype)
            attrs = {k: a for k, a in attrs.items() if k != 'dilations' or l != [1] * n}
            cases.node('Col2Im', schema.since_version, [x, np.array(image), np.array(block)], [y.astype(d)], tolerance(d),
                       name=d.name, constant=(1, 2) if rng.integers(2) else (), **attrs)
cases.node('Col2Im', 18, [np.ones((1, 5, 4), np.float32), np.array([3, 3]), np.array([2, 2])], [np.ones(1, np.float32)],
           says='5 rows are not a multiple of the 4 elements of a block')
cases.node('Col2Im', 18, [np.ones((1, 4, 5), np.float32), np.array([3, 3]), np.array([2, 2])], [np.ones(1, np.float32)],
           says='has 5 blocks, the image gives 4')
most = 2**63 - 1
for block in [most, 3], [2**32, 2**32]:
    cases.node('Col2Im', 18, [np.ones((1, 9, 0), np.float32), np.array([5, 5]), np.array(block)], [np.ones(1, np.float32)],
               says=f'9 rows are not a multiple of the {most} elements of a block')
cases.run()
