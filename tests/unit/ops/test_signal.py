#!/usr/bin/env python3
"""DFT, STFT, windows, MelWeightMatrix: every version and type, lengths of all kinds, and what is refused."""
import math

import numpy as np

from arrays import ArrayCases, allowed
from one_node import dtype, types, versions

rng = np.random.default_rng(12)
np.seterr(all='ignore')
cases = ArrayCases()
EPSILON = {'float16': 2**-11, 'bfloat16': 2**-8, 'float32': 2**-23, 'float64': 2**-50}
F32 = np.dtype(np.float32)


def chance(p=0.5):
    return rng.random() < p


def random(d, *shape):
    return rng.standard_normal(shape).astype(np.float32).astype(d)


def integer(v, d=None):
    x = np.array(v, d or (np.int32 if chance() else np.int64))
    return x.reshape(1) if chance(0.3) else x


def pair(z):
    return np.stack([z.real, z.imag], -1)


def signal(x):
    x = x.astype(np.float64)
    return x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0].astype(np.complex128)


def close(y, d):
    """Relative to the element, and to the largest: rounding within the transform is."""
    top = float(np.abs(y[np.isfinite(y)]).max()) if np.isfinite(y).any() else 1
    return 2 * EPSILON[d.name], max(2**-22 if d != np.float64 else 2**-48, 0) * max(top, 1e-3)


# ---- DFT ----

def dft_case(schema, d, n, shape, axis, length, inverse, onesided):
    version, rank = schema.since_version, len(shape) + 1
    parts = 2 if (inverse and onesided) or (not onesided and chance()) else 1
    shape = list(shape)
    shape[axis] = n
    x = random(d, *shape, parts)
    size = length if length is not None else 2 * (n - 1) if inverse and onesided else n
    z = signal(x)
    if inverse and onesided:
        y = np.fft.irfft(z, size, axis=axis)[..., None]
    elif inverse:
        y = pair(np.fft.ifft(z, size, axis=axis))
    else:
        y = pair(np.fft.fft(z, size, axis=axis))
        if onesided:
            y = np.take(y, range(size // 2 + 1), axis=axis)
    attributes = {k: 1 for k, v in (('inverse', inverse), ('onesided', onesided)) if v}
    inputs = [x, None if length is None else integer(length)]
    named = axis - rank if chance() else axis
    if version >= 20:
        inputs.append(np.array(named, np.int64) if axis != rank - 2 or chance() else None)
    elif axis != 1:
        attributes['axis'] = named
    while inputs[-1] is None:
        inputs.pop()
    constant = [k for k in range(1, len(inputs)) if inputs[k] is not None] if chance() else []
    cases.node('DFT', version, inputs, [y.astype(d)], close(y, d), constant=constant, name=str(size), **attributes)


SHAPES = [(2, 1, 3), (1, 1), (3, 1), (1, 1, 2, 2), (20, 1)]
for schema in versions('DFT'):
    for d in allowed(schema, schema.inputs[0]):
        for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 30, 31, 60, 64, 77, 97, 100, 128, 143, 210, 256, 400, 1009]:
            shape = SHAPES[int(rng.integers(len(SHAPES)))]
            axis = int(rng.integers(0, len(shape))) if schema.since_version >= 20 or chance() else 1
            inverse, onesided = chance(), chance(0.4)
            if onesided and inverse and n == 1:
                continue
            length = None if chance(0.6) else int(max(1, n + rng.integers(-n, 9)))
            dft_case(schema, d, n, shape, axis, length, inverse, onesided)
dft_case(versions('DFT')[-1], F32, 4096, (3, 1), 1, None, False, True)
dft_case(versions('DFT')[-1], F32, 40000, (1, 1), 1, None, False, False)
cases.node('DFT', 20, [np.zeros((0, 4, 1), np.float32)], [np.zeros((0, 4, 2), np.float32)])
cases.node('DFT', 20, [np.zeros((2, 0, 1), np.float32)], [np.zeros((2, 0, 2), np.float32)])
cases.node('DFT', 20, [np.zeros((2, 0, 1), np.float32)], [np.zeros((2, 1, 2), np.float32)], onesided=1)

# ---- STFT ----

for schema in versions('STFT'):
    for d in allowed(schema, schema.inputs[0]):
        for _ in range(12):
            onesided = chance()
            parts = 1 if onesided or chance() else 2
            length, frame, step = int(rng.integers(30, 200)), int(rng.integers(1, 31)), int(rng.integers(1, 20))
            batch = int(rng.integers(1, 4))
            windowed, given = chance(), chance()
            if not windowed and not given:
                frame = length
            x = random(d, batch, length, parts)
            window = random(d, frame) if windowed else None
            z = signal(x) * 1
            starts = range(0, length - frame + 1, step)
            w = np.ones(frame) if window is None else window.astype(np.float64)
            frames = np.stack([z[:, s:s + frame] * w for s in starts], 1)
            y = pair(np.fft.fft(frames, axis=-1))
            if onesided:
                y = y[:, :, :frame // 2 + 1]
            step, whole = integer(step), np.int32 if chance() else np.int64
            inputs = [x, step.astype(whole), window, integer(frame, whole) if given else None]
            while inputs[-1] is None:
                inputs.pop()
            attributes = {} if onesided and chance() else {'onesided': int(onesided)}
            constant = [k for k in range(1, len(inputs)) if inputs[k] is not None] if chance() else []
            cases.node('STFT', schema.since_version, inputs, [y.astype(d)], close(y, d), constant=constant, **attributes)

# ---- windows ----

def hann(k, n):
    return math.sin(math.pi * k / n) ** 2


def hamming(k, n):
    return 25 / 46 - 21 / 46 * math.cos(2 * math.pi * k / n)


def blackman(k, n):
    return 0.42 - 0.5 * math.cos(2 * math.pi * k / n) + 0.08 * math.cos(4 * math.pi * k / n)


for op, formula in (('HannWindow', hann), ('HammingWindow', hamming), ('BlackmanWindow', blackman)):
    for schema in versions(op):
        for t in types(schema, 'T2'):
            for size in (0, 2, 3, 10, 301):
                periodic = chance()
                period = size if periodic else size - 1
                y = np.array([formula(k, period) for k in range(size)], np.float64)
                d = np.dtype(dtype(t))
                wide = d.kind in 'iu'
                if wide and op == 'BlackmanWindow':
                    y = y + 1e-9  # what is about to be cut off must not hang on the last bit of the expectation
                attributes = {} if periodic and chance() else {'periodic': int(periodic)}
                if t != 1 or chance():
                    attributes['output_datatype'] = t
                tolerance = (0, 0) if wide else (2 * EPSILON.get(d.name, 0), 2**-50)
                cases.node(op, schema.since_version, [integer(size)], [y.astype(d)], tolerance,
                           constant=[0] if chance() else [], **attributes)

# ---- MelWeightMatrix ----

def mel_matrix(bands, length, rate, lower, upper):
    def mel(f):
        return 2595 * math.log10(1 + f / 700)

    low, high = mel(lower), mel(upper)
    edges = [math.floor((length + 1) * 700 * (10 ** ((low + i * (high - low) / (bands + 2)) / 2595) - 1) / rate)
             for i in range(bands + 2)]
    y = np.zeros((length // 2 + 1, bands))
    for i in range(bands):
        a, b, c = edges[i:i + 3]
        for j in range(len(y)):
            if j == b:
                y[j, i] = 1
            elif a <= j < b:
                y[j, i] = (j - a) / (b - a)
            elif b < j < c:
                y[j, i] = (c - j) / (c - b)
    return y


for schema in versions('MelWeightMatrix'):
    for t in types(schema, 'T3'):
        for edge in types(schema, 'T2'):
            bands, length, rate, lower, upper = [(8, 16, 8192, 0, 4096), (40, 512, 16000, 20.5, 8000), (3, 7, 1000, 100, 450)][
                int(rng.integers(3))]
            y = mel_matrix(bands, length, rate, lower, upper)
            d = np.dtype(dtype(t))
            ends = [np.array(v, np.float32).astype(dtype(edge)) for v in (lower, upper)]
            if [float(e) for e in ends] != [lower, upper]:
                continue
            tolerance = (0, 0) if d.kind in 'iu' else (2 * EPSILON.get(d.name, 0), 1e-12)
            whole = np.int32 if chance() else np.int64
            counts = [integer(v, whole) for v in (bands, length, rate)]
            cases.node('MelWeightMatrix', schema.since_version, counts + ends, [y.astype(d)], tolerance,
                       output_datatype=t)

# ---- what is refused ----

X = np.zeros((2, 8, 1), np.float32)
Z = np.zeros((2, 8, 2), np.float32)
ONE = np.array(1, np.int64)
REFUSED = [
    ('DFT', [X, np.array(0, np.int64)], {}, 'is 0, must be at least 1'),
    ('DFT', [X, None, np.array(2, np.int64)], {}, 'axis = 2 is the last one'),
    ('DFT', [X, None, np.array(3, np.int64)], {}, 'axis = 3 is outside [-3,2]'),
    ('DFT', [Z], {'onesided': 1}, 'onesided=1 with inverse=0 needs real input'),
    ('DFT', [X], {'onesided': 1, 'inverse': 1}, 'onesided=1 with inverse=1 needs complex input'),
    ('DFT', [np.zeros((2, 8, 3), np.float32)], {}, 'last dim must be 1 (real) or 2 (complex), got 3'),
    ('STFT', [Z, ONE], {}, 'onesided=1 needs a real signal'),
    ('STFT', [X, np.array(0, np.int64)], {}, 'is 0, must be at least 1'),
    ('STFT', [X, ONE, np.ones(4, np.float32), np.array(5, np.int64)], {}, 'frame_length = length of window: 5 and 4 differ'),
    ('HannWindow', [np.array(-1, np.int64)], {}, 'is -1, must be at least 0'),
]
for n in 2**20, 2**40, 2**58:  # no signal is that long: a spectrum of no frames
    length = np.array(n, np.int64)
    cases.node('STFT', 17, [X, ONE, None, length], [np.zeros((2, 0, n // 2 + 1, 2), np.float32)])
    cases.node('DFT', 20, [X[:0], length], [np.zeros((0, n, 2), np.float32)])
frame = np.fft.rfft(X[:, :, 0] + 1)  # a single frame, with any step
cases.node('STFT', 17, [X + 1, np.array(2**63 - 1, np.int64)], [pair(frame[:, None]).astype(np.float32)], (1e-6, 1e-6))
for op, inputs, attributes, says in REFUSED:
    cases.node(op, 20, inputs, [X], says=says, **attributes)
cases.run()
