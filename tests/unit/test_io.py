#!/usr/bin/env python3
"""Values in files: what is read and written, and what is said about files that can't be read.

    tests/unit/test_io.py [--build build]
"""
import argparse
import io
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PARSER = argparse.ArgumentParser()
PARSER.add_argument('--build', default='build', type=pathlib.Path)
MINIRT = PARSER.parse_args().build.resolve() / 'minirt'
PASSED, FAILED = [], []


def check(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', *details, sep='\n  ')


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def minirt(*args, stdin=None):
    p = subprocess.run([MINIRT, *map(str, args)], input=stdin, capture_output=True, check=False)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def says(what, args, status, text, **more):
    """The command ends with the status, and stderr is exactly the text."""
    got, _, err = minirt(*args, **more)
    check(what, (got, err) == (status, text), f'want {status}: {text!r}', f'got  {got}: {err!r}')


def model(path, types, shape=None, through=True):
    """One Identity per input: x0 → y0, x1 → y1 … types are TypeProtos or element types. Without `through`, the inputs
    are the outputs: Identity does not have every type."""
    infos = [t if isinstance(t, onnx.TypeProto) else helper.make_tensor_type_proto(t, shape) for t in types]
    nodes = [helper.make_node('Identity', [f'x{i}'], [f'y{i}']) for i in range(len(infos))]
    graph = helper.make_graph(nodes if through else [], 'g',
                              [helper.make_value_info(f'x{i}', t) for i, t in enumerate(infos)],
                              [helper.make_value_info(f'{"xy"[through]}{i}', t) for i, t in enumerate(infos)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 25)], ir_version=13), path)
    return path


NUMPY = {
    TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64, TensorProto.FLOAT16: np.float16,
    TensorProto.INT8: np.int8, TensorProto.INT16: np.int16, TensorProto.INT32: np.int32, TensorProto.INT64: np.int64,
    TensorProto.UINT8: np.uint8, TensorProto.UINT16: np.uint16, TensorProto.UINT32: np.uint32,
    TensorProto.UINT64: np.uint64, TensorProto.BOOL: np.bool_, TensorProto.COMPLEX64: np.complex64,
    TensorProto.COMPLEX128: np.complex128,
}
NARROW = {
    TensorProto.BFLOAT16: ml_dtypes.bfloat16, TensorProto.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    TensorProto.FLOAT8E4M3FNUZ: ml_dtypes.float8_e4m3fnuz, TensorProto.FLOAT8E5M2: ml_dtypes.float8_e5m2,
    TensorProto.FLOAT8E5M2FNUZ: ml_dtypes.float8_e5m2fnuz, TensorProto.FLOAT8E8M0: ml_dtypes.float8_e8m0fnu,
    TensorProto.FLOAT4E2M1: ml_dtypes.float4_e2m1fn, TensorProto.INT4: ml_dtypes.int4, TensorProto.UINT4: ml_dtypes.uint4,
    TensorProto.INT2: ml_dtypes.int2, TensorProto.UINT2: ml_dtypes.uint2,
    TensorProto.FLOAT6E2M3: ml_dtypes.float6_e2m3fn, TensorProto.FLOAT6E3M2: ml_dtypes.float6_e3m2fn,
}


def sample(dtype, shape=(3, 5)):
    rng = np.random.default_rng(1)
    if dtype is np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == 'c':
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if np.dtype(dtype).kind in 'iu':
        i = np.iinfo(dtype)
        return rng.integers(i.min, i.max, shape, dtype=dtype, endpoint=True)
    if dtype in (ml_dtypes.int4, ml_dtypes.int2):
        return rng.integers(-2, 2, shape).astype(dtype)
    if dtype in (ml_dtypes.uint4, ml_dtypes.uint2, ml_dtypes.float8_e8m0fnu):
        return rng.integers(1, 4, shape).astype(np.float32).astype(dtype)
    return rng.normal(size=shape).astype(np.float32).astype(dtype)


def read_pb(path, kind=TensorProto):
    message = kind()
    message.ParseFromString(pathlib.Path(path).read_bytes())
    return message


def test_every_type():
    for number, dtype in {**NUMPY, **NARROW}.items():
        name = TensorProto.DataType.Name(number)
        x = sample(dtype)
        m = model('m.onnx', [number], through=not name.startswith('FLOAT6'))
        np.save('x.npy', x)
        pathlib.Path('x.pb').write_bytes(numpy_helper.from_array(x, 'x0').SerializeToString())
        for source in 'x.npy', 'x.pb':
            status, _, err = minirt('run', m, source, '-o', 'y.npy')
            check(f'{name}: {source} to npy', status == 0 and
                  pathlib.Path('y.npy').read_bytes() == pathlib.Path('x.npy').read_bytes(), err)
        minirt('run', m, 'x.npy', '-o', 'out/')
        y = numpy_helper.to_array(read_pb('out/output_0.pb'))
        check(f'{name}: npy to pb', same(y, x), y, x)
        pathlib.Path('x.bin').write_bytes(numpy_helper.from_array(x).raw_data)
        status, _, err = minirt('run', m, f'x0=raw:x.bin:{"f4e2m1" if number == TensorProto.FLOAT4E2M1 else spelt(number)}[3,5]',
                                '--expect', 'x.pb', '--ulp', '0')
        check(f'{name}: raw', status == 0, err)


def spelt(number):
    return TensorProto.DataType.Name(number).lower()


def test_npy_forms():
    m = model('m.onnx', [TensorProto.FLOAT])
    x = sample(np.float32, (2, 3, 4))
    forms = {'C': x, 'Fortran': np.asfortranarray(x), 'big-endian': x.astype('>f4'), 'scalar': np.float32(2.5),
             'empty': np.zeros((0, 3), np.float32), 'big-endian Fortran': np.asfortranarray(x.astype('>f4'))}
    for form, array in forms.items():
        for version in (1, 0), (2, 0), (3, 0):
            with open('x.npy', 'wb') as f:
                np.lib.format.write_array(f, np.asanyarray(array), version=version)
            status, _, err = minirt('run', m, 'x.npy', '-o', 'y.npy')
            check(f'npy: {form} {version}', status == 0 and same(np.load('y.npy'), np.asarray(array, np.float32)), err)
    status, _, err = minirt('run', m, '-', '-o', 'y.npy', stdin=pathlib.Path('x.npy').read_bytes())
    check('npy: stdin', status == 0, err)


def test_strings():
    m = model('m.onnx', [TensorProto.STRING])
    words = ['', 'a', 'äöü', '漢字', '😀', 'with space', 'a\x00b']
    np.save('u.npy', np.array(words))
    np.save('u_big.npy', np.array(words).astype('>U10'))
    np.save('s.npy', np.array([w.encode() for w in words]))
    for path in 'u.npy', 'u_big.npy', 's.npy':
        status, _, err = minirt('run', m, path, '-o', 'out/')
        y = [s.decode() for s in read_pb('out/output_0.pb').string_data] if status == 0 else err
        check(f'strings: {path}', y == words, y)
        minirt('run', m, path, '-o', 'y.npy')
        check(f'strings: {path} to npy', np.load('y.npy').tolist() == words)
    pathlib.Path('x.pb').write_bytes(helper.make_tensor('x', TensorProto.STRING, [1], [b'\xff\xfe']).SerializeToString())
    minirt('run', m, 'x.pb', '-o', 'y.npy')
    check('strings: bytes that are no UTF-8', np.load('y.npy').tolist() == [b'\xff\xfe'])
    status, out, _ = minirt('run', m, 'x0:string[3]="a,b",c," d"', '--json')
    check('strings: literal', json.loads(out)['outputs'][0]['first'] == ['a,b', 'c', ' d'])


def test_kinds():
    """Sequences, optionals and maps come out of files as they went in."""
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, None)
    sequence, arrays = helper.make_sequence_type_proto(tensor), [sample(np.float32, (2,)), sample(np.float32, (1, 3))]
    cases = {
        'sequence': (sequence, numpy_helper.from_list(arrays, 's')),
        'empty sequence': (sequence, numpy_helper.from_list([], 's', dtype=onnx.SequenceProto.TENSOR)),
        'optional tensor': (helper.make_optional_type_proto(tensor), numpy_helper.from_optional(arrays[0], 'o')),
        'optional sequence': (helper.make_optional_type_proto(sequence), numpy_helper.from_optional(arrays, 'o')),
        'empty optional': (helper.make_optional_type_proto(tensor), numpy_helper.from_optional(None, 'o')),
    }
    for name, (kind, message) in cases.items():
        m = model('m.onnx', [kind])
        pathlib.Path('x.pb').write_bytes(message.SerializeToString())
        status, _, err = minirt('run', m, 'x.pb', '-o', 'out/')
        check(f'{name}: runs', status == 0, err)
        if status == 0:
            y = read_pb('out/output_0.pb', type(message))
            y.name = message.name
            check(f'{name}: comes out', y == message, y, message)
    m = model('m.onnx', [helper.make_optional_type_proto(tensor)])
    np.save('x.npy', arrays[0])
    minirt('run', m, 'x.npy', '-o', 'out/')
    check('optional: from a tensor', same(numpy_helper.to_optional(read_pb('out/output_0.pb', onnx.OptionalProto)), arrays[0]))
    pathlib.Path('s.pb').write_bytes(cases['sequence'][1].SerializeToString())
    says('sequence: not into an npz', ['run', model('m.onnx', [sequence]), 's.pb', '-o', 'y.npz'], 2,
         "m.onnx: E1001 'y.npz' holds tensors only, 'y0' is seq(tensor(float))\n"
         'hint: a folder holds any kind of value: -o DIR/\n')


def test_archives():
    m = model('m.onnx', [TensorProto.FLOAT, TensorProto.INT64, TensorProto.BFLOAT16])
    arrays = {'x0': sample(np.float32), 'x1': sample(np.int64, (4,)), 'x2': sample(ml_dtypes.bfloat16)}
    want = {k.replace('x', 'y'): v for k, v in arrays.items()}
    np.savez('x.npz', **arrays)
    np.savez_compressed('z.npz', **arrays)
    np.savez('p.npz', *arrays.values())
    for source in 'x.npz', 'z.npz', 'p.npz':
        status, _, err = minirt('run', m, source, '-o', 'y.npz')
        y = np.load('y.npz') if status == 0 else {}
        check(f'npz: {source}', status == 0 and list(y) == list(want) and
              all(y[k].tobytes() == want[k].tobytes() for k in want), err)
    check('npz: no part file stays', not list(pathlib.Path('.').glob('*.part')))
    minirt('run', m, 'x.npz', '-o', 'y.safetensors')
    header, data = read_safetensors('y.safetensors')
    check('safetensors: written', {k: (v['dtype'], v['shape']) for k, v in header.items()} ==
          {'y0': ('F32', [3, 5]), 'y1': ('I64', [4]), 'y2': ('BF16', [3, 5])} and
          data == b''.join(v.tobytes() for v in want.values()), header)
    for k in list(header):
        header[k.replace('y', 'x')] = header.pop(k)
    write_safetensors('x.safetensors', header, data)
    status, _, err = minirt('run', m, 'x.safetensors', '--expect', 'y.safetensors', '--ulp', '0')
    check('safetensors: read', status == 0, err)
    write_safetensors('short.safetensors', header, data[:-4])
    says('safetensors: truncated', ['run', m, 'short.safetensors'], 5,
         "m.onnx: E0506 short.safetensors: tensor 'x2': its bytes 92 to 122 do not fit its shape, or the file is truncated\n")


def read_safetensors(path):
    raw = pathlib.Path(path).read_bytes()
    n = struct.unpack('<Q', raw[:8])[0]
    return json.loads(raw[8:8 + n]), raw[8 + n:]


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack('<Q', len(text)) + text + data)


def test_bad_files():
    m = model('m.onnx', [TensorProto.FLOAT], [2, 3])
    x = np.ones((2, 3), np.float32)
    np.save('x.npy', x)
    npy = pathlib.Path('x.npy').read_bytes()
    np.savez('x.npz', x0=x)
    npz = pathlib.Path('x.npz').read_bytes()
    pb = numpy_helper.from_array(x, 'x0').SerializeToString()
    png = b'\x89PNG\r\n\x1a\n' + bytes(30)
    np.save('object.npy', np.array([1, 'a'], object))
    np.save('record.npy', np.zeros(2, [('a', np.float32), ('b', np.int8)]))
    np.save('date.npy', np.zeros(2, 'M8[s]'))
    np.save('longdouble.npy', np.zeros(2, np.longdouble))
    np.save('f8.npy', np.zeros((2, 3), ml_dtypes.float8_e4m3fn))
    with open('deep.npy', 'wb') as f:
        np.lib.format.write_array_header_1_0(f, {'descr': '<f4', 'fortran_order': False, 'shape': (1,) * 17})
    files = {
        'empty.npy': b'', 'png.npy': png, 'text.npy': b'1 2 3\n', 'cut.npy': npy[:-4], 'header.npy': npy[:40],
        'zip.npy': npz, 'version.npy': npy[:6] + b'\x09' + npy[7:], 'dict.npy': npy[:10] + b' ' * 118,
        'npy.npz': npy, 'cut.npz': npz[:-30], 'text.npz': b'hello', 'empty.npz': b'', 'npy.pb': npy,
        'cut.pb': pb[:-4], 'text.pb': b'hello world', 'empty.pb': b'', 'model.pb': pathlib.Path(m).read_bytes(),
        'lfs.npy': b'version https://git-lfs.github.com/spec/v1\noid sha256:0\n',
        'short.pb': TensorProto(data_type=1, dims=[2, 3], raw_data=bytes(20)).SerializeToString(),
        'list.pb': numpy_helper.from_list([x], 's').SerializeToString(), 'cut.png': png, 'x.bin': bytes(20),
    }
    for name, data in files.items():
        pathlib.Path(name).write_bytes(data)
    with zipfile.ZipFile('other.npz', 'w') as z:
        z.writestr('readme.txt', 'hello')
    text = {
        'empty.npy': 'not an npy file: it looks like an empty file',
        'png.npy': 'not an npy file: it looks like a PNG image',
        'text.npy': 'not an npy file: it looks like text',
        'cut.npy': 'truncated: float32[2,3] needs 24 bytes, the file has 20',
        'header.npy': 'truncated: the file ends inside the npy header',
        'version.npy': 'npy version 9: 1 to 3 are read',
        'lfs.npy': 'not an npy file: it looks like a Git LFS pointer',
        'record.npy': 'a structured array: ONNX has no such tensors',
        'date.npy': "elements of type '<M8[s]' have no ONNX type",
        'longdouble.npy': "elements of type '<f16' have no ONNX type",
        'f8.npy': 'elements of type <V1 where larger ones are expected: one byte each, of a type that the file does not name',
        'deep.npy': 'more than 16 axes',
        'npy.npz': 'not an npz file: it looks like a NumPy array (.npy)',
        'text.npz': 'not an npz file: it looks like text',
        'empty.npz': 'not an npz file: it looks like an empty file',
        'cut.npz': 'the zip archive is truncated or damaged: Not a zip archive',
        'other.npz': "entry 'readme.txt': not an npy file: it looks like text",
        'npy.pb': 'not a protobuf TensorProto: it looks like a NumPy array (.npy)',
        'cut.pb': 'truncated: the file ends inside a field of its TensorProto',
        'text.pb': 'not a protobuf TensorProto: it looks like text',
        'empty.pb': 'not a protobuf TensorProto: it looks like an empty file',
        'short.pb': "tensor 'value': float32[2,3] takes 24 bytes, the data has 20",
        'list.pb': 'not a protobuf TensorProto: it looks like a protobuf SequenceProto',
    }
    for name, want in text.items():
        says(f'bad file: {name}', ['run', m, name], 5, f'm.onnx: E0506 {name}: {want}\n')
    says('bad file: object.npy', ['run', m, 'object.npy'], 5,
         'm.onnx: E0506 object.npy: an array of Python objects (a pickle): only arrays of numbers and strings are read\n'
         'hint: convert it before saving: numpy.save(path, array.astype(numpy.float32))\n')
    says('bad file: missing', ['run', m, 'nowhere.npy'], 9,
         'm.onnx: E0901 cannot open nowhere.npy: No such file or directory\n')
    says('bad file: short raw', ['run', m, 'x0=raw:x.bin:f32[2,3]'], 5,
         "m.onnx: E0506 tensor 'x.bin': float32[2,3] takes 24 bytes, the data has 20\n")
    for name in 'model.pb', 'dict.npy', 'cut.png', 'zip.npy':
        status, _, err = minirt('run', m, name)
        check(f'bad file: {name}', status == 5 and name in err, status, err)
    says('bad output: ending', ['run', m, 'x.npy', '-o', 'y.txt'], 2,
         "m.onnx: E1001 'y.txt': outputs go to DIR/, .npz, .npy or .safetensors\n")
    says('bad output: folder missing', ['run', m, 'x.npy', '-o', 'no/where.npy'], 9,
         'm.onnx: E0901 cannot write no/where.npy: No such file or directory\n')


def test_no_files():
    """Pipes nobody writes to, devices without an end, folders: none is read, whatever its name says it is."""
    m = model('m.onnx', [TensorProto.FLOAT], [2, 3])
    np.save('x.npy', np.ones((2, 3), np.float32))
    kinds = {'pipe': os.mkfifo, 'folder': os.mkdir, 'device': lambda p: os.symlink('/dev/zero', p),
             'null': lambda p: os.symlink('/dev/null', p)}
    for kind, make in kinds.items():
        is_a = 'device' if kind == 'null' else kind
        for end in '.onnx', '.npy', '.npz', '.pb', '.safetensors', '.png', '':
            name = kind + end
            make(name)
            why = f'cannot open {name}: it is a {is_a}, not a file'
            if end == '.onnx':
                for command in 'run', 'check', 'info', 'bench':
                    says(f'no file: {command} {name}', [command, name], 9, f'{name}: E0901 {why}\n')
                continue
            says(f'no file: {name}', ['run', m, f'x0={name}'], 9, f'm.onnx: E0901 {why}\n')
            says(f'no file: raw {name}', ['run', m, f'x0=raw:{name}:f32[2,3]'], 9, f'm.onnx: E0901 {why}\n')
            if kind != 'folder' and end != '.png':
                says(f'no file: compare {name}', ['compare', 'x.npy', name], 9, f'E0901 {why}\n')
        os.mkdir('set_' + kind)
        make(f'set_{kind}/input_0.pb')
        if kind != 'folder':
            says(f'no file: a set of {kind}', ['run', m, 'set_' + kind], 9,
                 f'm.onnx: E0901 cannot open set_{kind}/input_0.pb: it is a {is_a}, not a file\n')
        make('w_' + kind)
        weight = TensorProto(name='w', data_type=TensorProto.FLOAT, dims=[2, 3], data_location=TensorProto.EXTERNAL)
        weight.external_data.add(key='location', value='w_' + kind)
        if kind in ('pipe', 'folder'):
            graph = helper.make_graph([helper.make_node('Identity', ['w'], ['y'])], 'g', [],
                                      [helper.make_tensor_value_info('y', TensorProto.FLOAT, [2, 3])], [weight])
            pathlib.Path('w.onnx').write_bytes(helper.make_model(graph).SerializeToString())
            says(f'no file: external data in a {kind}', ['run', 'w.onnx'], 3,
                 f"w.onnx: E0110 tensor 'w': cannot open {os.getcwd()}/w_{kind}: it is a {is_a}, not a file\n")
    for name in 'sparse.onnx', 'sparse.npy', 'sparse.npz', 'sparse.pb', 'sparse.safetensors':
        with open(name, 'wb') as f:
            f.truncate(1 << 40)
    status, _, err = minirt('check', 'sparse.onnx')
    check('no file: zeros without end', status == 3 and err.startswith('sparse.onnx: E0101 not an ONNX model'), err)
    for kind, what in ('npy', 'an npy file'), ('npz', 'an npz file'), ('pb', 'a protobuf TensorProto'), ('safetensors', 'a safetensors file'):
        says(f'no file: zeros without end, {kind}', ['run', m, f'sparse.{kind}'], 5,
             f'm.onnx: E0506 sparse.{kind}: not {what}: it looks like data of no known format\n')


def png_bytes(pixels):
    """An 8-bit PNG of (h, w) gray or (h, w, 3) RGB."""
    import zlib
    h, w = pixels.shape[:2]
    rows = b''.join(b'\x00' + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    head = struct.pack('>IIBBBBB', w, h, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')


def resized(pixels, h, w):
    """Bilinear, half-pixel centres, edges repeated."""
    def weights(n, m):
        x = np.clip((np.arange(n) + 0.5) * m / n - 0.5, 0, m - 1)
        a = x.astype(int)
        return a, np.minimum(a + 1, m - 1), (x - a)
    y0, y1, wy = weights(h, pixels.shape[0])
    x0, x1, wx = weights(w, pixels.shape[1])
    p, wy, wx = pixels.astype(float), wy[:, None, None], wx[None, :, None]
    top, bottom = p[y0][:, x0] * (1 - wx) + p[y0][:, x1] * wx, p[y1][:, x0] * (1 - wx) + p[y1][:, x1] * wx
    return top * (1 - wy) + bottom * wy


def test_images():
    rgb = np.random.default_rng(2).integers(0, 256, (6, 8, 3), np.uint8)
    pathlib.Path('x.png').write_bytes(png_bytes(rgb))
    pathlib.Path('g.png').write_bytes(png_bytes(rgb[:, :, 0].copy()))
    plain = np.moveaxis(rgb / 255, 2, 0)[None].astype(np.float32)
    gray = rgb @ [0.299, 0.587, 0.114]
    cases = [
        ('NCHW', ['n', 3, 'h', 'w'], TensorProto.FLOAT, 'x.png', [], plain),
        ('NHWC', ['n', 'h', 'w', 3], TensorProto.FLOAT, 'x.png', [], np.moveaxis(plain, 1, 3)),
        ('uint8', [1, 'h', 'w', 3], TensorProto.UINT8, 'x.png', [], rgb[None]),
        ('gray file', [1, 1, 6, 8], TensorProto.FLOAT, 'g.png', [], (rgb[:, :, 0] / 255)[None, None].astype(np.float32)),
        ('gray', [1, 1, 6, 8], TensorProto.FLOAT, 'x.png', ['--image-scale=1'], gray[None, None].astype(np.float32)),
        ('HW', ['h', 'w'], TensorProto.UINT8, 'x.png', [], np.rint(gray).astype(np.uint8)),
        ('bgr', [3, 'h', 'w'], TensorProto.FLOAT, 'x.png', ['--image-color=bgr'], plain[0][::-1]),
        ('layout', None, TensorProto.FLOAT, 'x.png', ['--image-layout=HWC'], np.moveaxis(plain[0], 0, 2)),
        ('mean and scale', [1, 3, 'h', 'w'], TensorProto.FLOAT, 'x.png', ['--image-mean=1,2,3', '--image-scale=0.5,1,2'],
         np.moveaxis((rgb.astype(float) - [1, 2, 3]) * [0.5, 1, 2], 2, 0)[None].astype(np.float32)),
        ('to the model', [1, 3, 3, 5], TensorProto.FLOAT, 'x.png', ['--image-scale=1'],
         np.moveaxis(resized(rgb, 3, 5), 2, 0)[None].astype(np.float32)),
        ('to --image-size', [1, 3, 'h', 'w'], TensorProto.FLOAT, 'x.png', ['--image-scale=1', '--image-size=13x9'],
         np.moveaxis(resized(rgb, 13, 9), 2, 0)[None].astype(np.float32)),
    ]
    for name, shape, dtype, path, options, want in cases:
        m = model('m.onnx', [dtype], shape)
        status, _, err = minirt('run', m, f'x0={path}', '-o', 'y.npy', *options)
        y = np.load('y.npy') if status == 0 else err
        check(f'image: {name}', status == 0 and y.shape == want.shape and np.allclose(y, want, rtol=1e-6, atol=1e-6), y, want)
    m = model('m.onnx', [TensorProto.FLOAT], [1, 3, 'h', 'w'])
    said = minirt('run', m, 'x0=x.png', '--image-layout=CHW')
    check('image: layout of another rank', said[0] == 5 and said[2].endswith('x.png: --image-layout gives 3 axes, the input has 4\n'), said)
    for kind, data in ('BMP', b'BM\x40\0\0\0\0\0\0\0\x36\0\0\0'), ('WebP', b'RIFF\x40\0\0\0WEBPVP8 '), ('TIFF', b'II*\0\x08\0\0\0\0\0'), \
            ('GIF', b'GIF89a\x01\0\x01\0'):
        pathlib.Path('x.img').write_bytes(data)
        said = minirt('run', m, 'x0=x.img')
        check(f'image: {kind}', said[0] == 5 and said[2].endswith(
            f'x.img: not a protobuf TensorProto: it looks like a {kind} image\nhint: pictures are read as PNG and JPEG: convert it\n'), said)


def main():
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            test()
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    sys.exit(bool(FAILED))


if __name__ == '__main__':
    main()
