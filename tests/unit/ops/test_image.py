#!/usr/bin/env python3
"""ImageDecoder: files made here byte by byte (BMP, PNM, PNG, TIFF), every pixel format, broken and cut ones. The other
formats are in ONNX's own data."""
import struct
import zlib

import numpy as np

from arrays import ArrayCases

rng = np.random.default_rng(11)
cases = ArrayCases()


def bmp(rgb, bits, top_down=False, core=False):
    h, w, _ = rgb.shape
    palette = b''
    if bits <= 8:
        colors, index = np.unique(rgb.reshape(-1, 3), axis=0, return_inverse=True)
        assert len(colors) <= 1 << bits
        palette = b''.join(bytes(c[::-1]) + (b'' if core else b'\0') for c in colors)
        if core:
            palette += bytes(3 * ((1 << bits) - len(colors)))
        index = index.reshape(h, w)
    rows = []
    for row in range(h) if top_down else range(h - 1, -1, -1):
        if bits <= 8:
            per = 8 // bits
            line = bytes(sum(int(v) << (8 - bits * (k + 1)) for k, v in enumerate(index[row, i:i + per])) for i in range(0, w, per))
        elif bits == 16:
            line = b''.join(struct.pack('<H', int(r) >> 3 << 10 | int(g) >> 3 << 5 | int(b) >> 3) for r, g, b in rgb[row])
        else:
            line = b''.join(bytes(p[::-1]) + (b'\x55' if bits == 32 else b'') for p in rgb[row])
        rows.append(line + bytes(-len(line) % 4))
    data = b''.join(rows)
    if core:
        header = struct.pack('<IHHHH', 12, w, h, 1, bits)
    else:
        header = struct.pack('<IiiHHIIiiII', 40, w, -h if top_down else h, 1, bits, 0, len(data), 0, 0,
                             len(palette) // 4 if bits <= 8 else 0, 0)
    start = 14 + len(header) + len(palette)
    return b'BM' + struct.pack('<IHHI', start + len(data), 0, 0, start) + header + palette + data


def bmp_rle8(index, colors):
    h, w = index.shape
    data = b''
    for row in index[::-1]:
        data += bytes([0, w]) + bytes(row.tolist()) + bytes(w % 2) if w > 3 else b''.join(bytes([1, int(v)]) for v in row)
        data += b'\0\0'
    data += b'\0\1'
    palette = b''.join(bytes(c[::-1]) + b'\0' for c in colors)
    header = struct.pack('<IiiHHIIiiII', 40, w, h, 1, 8, 1, len(data), 0, 0, len(colors), 0)
    start = 54 + len(palette)
    return b'BM' + struct.pack('<IHHI', start + len(data), 0, 0, start) + header + palette + data


def pnm(kind, samples, most=255):
    h, w = samples.shape[:2]
    head = b'P%d\n# a comment\n%d %d\n' % (kind, w, h) + (b'' if kind % 3 == 1 else b'%d\n' % most)
    if kind <= 3:
        return head + b' '.join(b'%d' % v for v in samples.reshape(-1))
    if kind == 4:
        return head + np.packbits(samples, axis=1).tobytes()
    return head + samples.astype('>u2' if most > 255 else 'u1').tobytes()


def png(samples, color, depth=8, palette=None):
    h = samples.shape[0]
    w = samples.shape[1]

    def chunk(name, data):
        return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))

    raw = b''.join(b'\0' + (row.astype('>u2') if depth == 16 else row.astype('u1')).tobytes() for row in samples)
    out = b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, depth, color, 0, 0, 0))
    if palette is not None:
        out += chunk(b'PLTE', palette.astype('u1').tobytes())
    return out + chunk(b'IDAT', zlib.compress(raw)) + chunk(b'IEND', b'')


def tiff(rgb):
    h, w, _ = rgb.shape
    tags = [(256, 3, 1, w), (257, 3, 1, h), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 2), (273, 4, 1, 8), (277, 3, 1, 3),
            (278, 3, 1, h), (279, 4, 1, rgb.size)]
    data = rgb.tobytes() + bytes(rgb.size % 2)
    at = 8 + len(data) + 2 + 12 * len(tags) + 4
    tags[2] = (258, 3, 3, at)
    directory = struct.pack('<H', len(tags)) + b''.join(struct.pack('<HHII', *t) for t in tags) + bytes(4)
    return b'II*\0' + struct.pack('<I', 8 + len(data)) + data + directory + struct.pack('<HHH', 8, 8, 8)


def check(name, data, rgb):
    for how in ['RGB', 'BGR', 'Grayscale']:
        wide = rgb.astype(np.uint32)
        gray = (wide[..., :1] * 19595 + wide[..., 1:2] * 38470 + wide[..., 2:] * 7471 + 0x8000) >> 16
        y = {'RGB': rgb, 'BGR': rgb[..., ::-1], 'Grayscale': gray.astype(np.uint8)}[how]
        cases.node('ImageDecoder', 20, [np.frombuffer(data, np.uint8)], [y], name=name, pixel_format=how)


rgb = rng.integers(0, 256, (5, 7, 3), dtype=np.uint8)
few = rng.integers(0, 256, (3, 3), dtype=np.uint8)
index = rng.integers(0, 3, (5, 7))
for top_down in [False, True]:
    check('bmp24', bmp(rgb, 24, top_down), rgb)
    check('bmp32', bmp(rgb, 32, top_down), rgb)
    check('bmp8', bmp(few[index], 8, top_down), few[index])
    check('bmp4', bmp(few[index], 4, top_down), few[index])
    check('bmp1', bmp(few[index % 2], 1, top_down), few[index % 2])
five = rgb >> 3
check('bmp16', bmp(rgb, 16), ((five.astype(int) * 255 + 15) // 31).astype(np.uint8))
check('bmp_core', bmp(rgb, 24, core=True), rgb)
check('bmp_core8', bmp(few[index], 8, core=True), few[index])
check('bmp_rle8', bmp_rle8(index, few), few[index])
for kind in [3, 6]:
    check(f'p{kind}', pnm(kind, rgb), rgb)
    deep = rng.integers(0, 1001, (5, 7, 3))
    check(f'p{kind}_deep', pnm(kind, deep, 1000), ((deep * 255 + 500) // 1000).astype(np.uint8))
for kind in [2, 5]:
    check(f'p{kind}', pnm(kind, rgb[..., 0]), np.repeat(rgb[..., :1], 3, 2))
for kind in [1, 4]:
    bits = rng.integers(0, 2, (5, 11))
    check(f'p{kind}', pnm(kind, bits), np.repeat(np.where(bits, 0, 255).astype(np.uint8)[..., None], 3, 2))
check('png_rgb', png(rgb, 2), rgb)
check('png_gray', png(rgb[..., 0], 0), np.repeat(rgb[..., :1], 3, 2))
check('png_alpha', png(np.concatenate([rgb, rgb[..., :1]], 2), 6), rgb)
check('png_palette', png(index, 3, palette=few), few[index])
deep = rng.integers(0, 65536, (5, 7, 3))
check('png_16', png(deep, 2, 16), (deep >> 8).astype(np.uint8))
check('tiff', tiff(rgb), rgb)

empty = np.zeros((0, 0, 3), np.uint8)
for name, data in [('none', b''), ('text', b'not a picture'), ('magic', b'BM'), ('png', png(rgb, 2)[:60]), ('pnm', pnm(6, rgb)[:-5]),
                   ('bmp', bmp(rgb, 24)[:-20]), ('jpeg', b'\xff\xd8\xff\xe0' + bytes(40)), ('tiff', tiff(rgb)[:30]),
                   ('webp', b'RIFF\x20\0\0\0WEBPVP8 ' + bytes(20)), ('jpeg2000', b'\xff\x4f\xff\x51' + bytes(60))]:
    cases.node('ImageDecoder', 20, [np.frombuffer(data, np.uint8)], [empty], name=f'broken_{name}')
cases.node('ImageDecoder', 20, [np.zeros(4, np.uint8)], [empty], pixel_format='CMYK', says='attribute pixel_format "CMYK" unknown')
cases.run()
