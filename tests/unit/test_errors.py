#!/usr/bin/env python3
"""What minirt says when something does not fit: the exact text and the exit status of every kind of error.

    tests/unit/test_errors.py [--build build]

Each of errors.inc's codes is provoked at least once; those of plugins and devices have tests of their own.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PARSER = argparse.ArgumentParser()
PARSER.add_argument('--build', default='build', type=pathlib.Path)
BUILD = PARSER.parse_args().build.resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOAT, INT64, STRING = TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING
NEWEST = max(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.domain == '')
PASSED, FAILED, SEEN = [], [], set()
node = helper.make_node


def minirt(*args):
    p = subprocess.run([BUILD / 'minirt', *map(str, args)], capture_output=True, check=False, text=True)
    SEEN.update(re.findall(r'\bE\d{4}\b', p.stdout + p.stderr))
    return p.returncode, p.stdout, p.stderr


def says(what, args, status, text):
    """The command ends with the status, and stderr is exactly the text."""
    got, out, err = minirt(*args)
    ok = (got, err) == (status, text)
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', f'want {status}: {text!r}', f'got  {got}: {err!r}', out, sep='\n  ')


def model(nodes, inputs, initializers=(), opset=17, imports=(), out=FLOAT):
    """Written to m.onnx. inputs: (name, type, shape); the outputs are those of the last node, of the type out."""
    def info(name, dtype, shape):
        return helper.make_tensor_value_info(name, dtype, shape)
    graph = helper.make_graph(nodes, 'g', [info(*i) for i in inputs], [info(n, out, None) for n in nodes[-1].output],
                              [v if isinstance(v, TensorProto) else numpy_helper.from_array(v, k) for k, v in initializers])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset), *imports], ir_version=8)
    onnx.save(made, 'm.onnx')
    return made


def zeros(*shape):
    return np.zeros(shape, np.float32)


def ints(*values):
    return np.array(values, np.int64)


def test_inputs():
    """image and mask, [batch,3]: as a user gives them."""
    model([node('Add', ['image', 'mask'], ['y'])], [('image', FLOAT, ['batch', 3]), ('mask', FLOAT, ['batch', 3])])
    np.save('double.npy', np.ones((2, 3)))
    np.save('wide.npy', np.ones((2, 4), np.float32))
    good = 'mask:f32[2,3]=1'
    for what, args, text in [
        ('shape, fixed axis', ['wide.npy', good],
         "E0504 input 'image': axis 1: expected 3, got 4; expected shape [batch,3], got [2,4]\n"
         'hint: axis 1 is fixed in the model; re-export it with a dynamic axis to feed other sizes'),
        ('shape, rank', ['image:f32[1,2,3]=1', good], "E0504 input 'image': expected rank 2 [batch,3], got rank 3 [1,2,3]"),
        ('shape, no batch', ['image:f32[3]=1', good],
         "E0504 input 'image': expected rank 2 [batch,3], got rank 1 [3]\nhint: as a batch of one, [1,3], it would fit"),
        ('one symbol, two values', ['image:f32[5,3]=1', good],
         "E0505 symbol 'batch' has two values: 5 from input 'image' axis 0, 2 from input 'mask' axis 0"),
        ('float64', ['double.npy', good],
         "E0503 input 'image': expected float32, got float64\nhint: --cast converts it, or save the array as float32"),
        ('missing', [good], "E0501 missing input 'image' (float32 [batch,3]); given: mask\n"
         'hint: image=FILE gives it; --random fills what is not given'),
        ('extra', ['image:f32[2,3]=1', good, 'wide.npy'],
         "E0507 'wide.npy' is one too many: the model has 2 inputs to fill: image, mask"),
        ('misspelt', ['imgae=wide.npy', good], "E0502 the model has no input 'imgae'\nhint: the nearest names are 'image'"),
    ]:
        says(f'input: {what}', ['run', 'm.onnx', *args], 5, f'm.onnx: {text}\n')
    for name, data, text in [
        ('empty.npy', b'', 'not an npy file: it looks like an empty file'),
        ('text.npy', b'1 2 3\n', 'not an npy file: it looks like text'),
        ('odd.npy', b'\x93NUMPX\1\0', 'not an npy file: it looks like data of no known format'),
        ('cut.npy', np.lib.format.magic(1, 0) + b'\x76', 'truncated: the file ends inside the npy header'),
        ('cut.npz', b'PK\3\4junk', 'the zip archive is truncated or damaged: Not a zip archive'),
        ('text.npz', b'text', 'not an npz file: it looks like text'),
        ('text.pb', b'x', 'not a protobuf TensorProto: it looks like text'),
        ('cut.pb', numpy_helper.from_array(zeros(2, 3)).SerializeToString()[:-5], 'truncated: the file ends inside a field of its TensorProto'),
    ]:
        pathlib.Path(name).write_bytes(data)
        says(f'input: {name}', ['run', 'm.onnx', f'image={name}', good], 5, f'm.onnx: E0506 {name}: {text}\n')


def test_files():
    good = model([node('Add', ['x', 'w'], ['y'])], [('x', FLOAT, [2])], [('w', zeros(2))]).SerializeToString()
    lfs = b'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n'
    for name, data, text in [
        ('empty', b'', 'E0102 the file is empty\nhint: a download or an export was interrupted: fetch or export it again'),
        ('text', b'hello\n', 'E0101 not an ONNX model; looks like text\nhint: export the model to ONNX, or fetch the file again'),
        ('lfs', lfs, 'E0103 not an ONNX model; looks like a Git LFS pointer\nhint: git lfs pull fetches the file itself'),
        ('cut', good[:-9], f'E0104 truncated: the file ends at byte {len(good) - 9}, inside field graph of a ModelProto that begins at byte 2\n'
         'hint: the file was cut off: fetch or export it again'),
    ]:
        pathlib.Path(f'{name}.onnx').write_bytes(data)
        says(f'file: {name}', ['run', f'{name}.onnx'], 3, f'{name}.onnx: {text}\n')
    says('file: none', ['run', 'none.onnx'], 9, 'none.onnx: E0901 cannot open none.onnx: No such file or directory\n')


def external(**entries):
    tensor = TensorProto(name='w', data_type=FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    model([node('Add', ['x', 'w'], ['y'])], [('x', FLOAT, [2])], [('w', tensor)])


def test_external_data():
    pathlib.Path('short.bin').write_bytes(bytes(20))
    for what, entries, text in [
        ('missing', {'location': 'no.bin'}, "E0110 tensor 'w': cannot open ./no.bin: No such file or directory\n"
         'hint: keep the data file beside the model, under the name that the model gives'),
        ('short', {'location': 'short.bin', 'offset': 16, 'length': 8},
         "E0110 tensor 'w': file 'short.bin' has 20 bytes, needs 16+8\nhint: the data file is cut off, or belongs to another model"),
        ('outside', {'location': '../w.bin'}, "E0110 tensor 'w': external location '../w.bin' leaves the model folder\n"
         "hint: put the data file into the model's folder, and its path from there into the model"),
    ]:
        external(**entries)
        says(f'external data: {what}', ['run', 'm.onnx', 'x:f32[2]=1'], 3, f'm.onnx: {text}\n')


def test_operators():
    custom = [helper.make_opsetid('com.example', 3)]
    for what, op, domain, more, status, text in [
        ('unknown operator', 'Reul', '', {}, 4,
         "E0301 node 0 'act' (Reul): ai.onnx has no operator Reul (opset 17)\nhint: did you mean 'Relu'?"),
        ('unknown domain', 'Foo', 'com.example', {'imports': custom}, 4,
         "E0303 node 0 'act' (com.example:Foo): operator Foo of the unknown domain com.example (version 3)\n"
         'hint: load a plugin that has it (--plugin), or export it as a model-local function'),
        ('domain not imported', 'Foo', 'com.example', {}, 3,
         "E0202 node 0 'act' (com.example:Foo): domain com.example is not imported, operator Foo needs it"),
        ('later opset', 'Gelu', '', {}, 4,
         "E0302 node 0 'act' (Gelu): operator Gelu exists since opset 20 of ai.onnx, the model imports 17\n"
         'hint: export with opset 20, or convert with onnx.version_converter'),
        ('unknown opset', 'Relu', '', {'opset': NEWEST + 50}, 3,
         f"E0202 opset_import: version {NEWEST + 50} of 'ai.onnx' is not known, the newest is {NEWEST}\n"
         f'hint: export with version {NEWEST} or below'),
        ('type', 'Relu', '', {'type': STRING}, 3, "E0212 node 0 'act' (Relu-14): input 0 'X' ('x') is string, must be "
         'float, int8, int16, int32, int64, float16, double or bfloat16'),
        ('arity', 'Add', '', {}, 3, "E0210 node 0 'act' (Add-14): 1 inputs, must be 2"),
        ('attribute', 'Cast', '', {}, 3, "E0211 node 0 'act' (Cast-13): required attribute 'to' missing"),
    ]:
        dtype = more.pop('type', FLOAT)
        model([node(op, ['x'], ['y'], 'act', domain=domain)], [('x', dtype, [1])], out=dtype, **more)
        says(f'operator: {what}', ['run', 'm.onnx', f'x:{"str" if dtype == STRING else "f32"}[1]=1'], status, f'm.onnx: {text}\n')
    model([node('Reul', ['x'], ['a'], 'one'), node('Foo', ['x'], ['b'], 'two'), node('Sum', ['a', 'b'], ['y'], 'sum')], [('x', FLOAT, [1])])
    text = "m.onnx: E0301 node 0 'one' (Reul): ai.onnx has no operator Reul (opset 17)\nhint: did you mean 'Relu'?\n"
    says('operators: more than one', ['run', 'm.onnx', '--random'], 4, text + 'note: there is 1 more; `minirt check m.onnx` has them all\n')
    says('operators: more than one, quietly', ['run', 'm.onnx', '--random', '-q'], 4, text)


EMBED = [node('Gather', ['words', 'ids'], ['e'], 'embed'), node('LayerNormalization', ['e', 'g'], ['n'], 'norm')]


def test_shapes():
    """Both shapes, the rule, and where each shape came from."""
    fed = [('x', FLOAT, [2, 3])]
    for what, nodes, inputs, initializers, args, status, text in [
        ('MatMul', [*EMBED, node('MatMul', ['n', 'w'], ['y'], 'product')], [('ids', INT64, ['batch', 'length'])],
         [('words', zeros(99, 16)), ('g', zeros(16)), ('w', zeros(24, 16))], ['ids:i64[2,7]=1'], 3,
         "E0531 node 2 'product' (MatMul-13): the shapes do not fit\n"
         "  A float32[2,7,16]  from node 1 'norm' (LayerNormalization-17), shaped by node 0 'embed' (Gather-13) "
         'of data float32[99,16] (initializer words), indices int64[2,7] (input ids)\n'
         '  B float32[24,16]  initializer w\n'
         '  rule: last dim of A (16) = second-last dim of B (24)\n'
         'hint: B looks transposed: a Gemm with transB=1, or a Transpose before it, would fit'),
        ('broadcast', [node('Abs', ['x'], ['a'], 'abs'), node('Add', ['a', 'b'], ['y'], 'bias')], fed, [('b', zeros(4))],
         ['x:f32[2,3]=1'], 3, "E0531 node 1 'bias' (Add-14): input 1 'B' (b) float32[4]: [4] does not broadcast with [2,3]: axis -1 has 4 and 3\n"
         "  A float32[2,3]  from node 0 'abs' (Abs-13), with the shape of input x\n  B float32[4]  initializer b"),
        ('of the inputs', [node('Add', ['x', 'z'], ['y'], 'sum')], [('x', FLOAT, ['n', 'c']), ('z', FLOAT, ['m', 'd'])], [],
         ['x:f32[2,3]=1', 'z:f32[2,4]=1'], 5,
         "E0531 node 0 'sum' (Add-14): input 1 'B' (z) float32[2,4]: [2,4] does not broadcast with [2,3]: axis -1 has 4 and 3\n"
         '  A float32[2,3]  input x\n  B float32[2,4]  input z'),
        ('rank', [node('Conv', ['x', 'w'], ['y'], 'conv1')], [('x', FLOAT, [1, 4, 8, 8])], [('w', zeros(8, 4, 3))],
         ['--random'], 3, "E0521 node 0 'conv1' (Conv-11): input 1 'W' (w) float32[8,4,3]: expected rank 4, got rank 3\n"
         '  X float32[1,4,8,8]  input x\n  W float32[8,4,3]  initializer w'),
        ('channels', [node('Conv', ['x', 'w'], ['y'], 'conv1')], [('x', FLOAT, [1, 4, 8, 8])], [('w', zeros(8, 3, 3, 3))],
         ['--random'], 3, "E0531 node 0 'conv1' (Conv-11): input 1 'W' (w) float32[8,3,3,3]: takes 3 channels in 1 group, but X has 4\n"
         '  X float32[1,4,8,8]  input x\n  W float32[8,3,3,3]  initializer w'),
        ('Concat', [node('Concat', ['x', 'z'], ['y'], 'cat', axis=0)], [*fed, ('z', FLOAT, [2, 5])], [], ['--random'], 3,
         "E0531 node 0 'cat' (Concat-13): input 1 'inputs' (z) float32[2,5]: concatenation along axis 0 needs all other axes equal: "
         'axis 1 has 5, that of input 0 has 3\n  inputs float32[2,3]  input x\n  inputs float32[2,5]  input z'),
        ('Reshape', [node('Reshape', ['x', 's'], ['y'], 'flat')], [('x', FLOAT, ['n', 3])], [('s', ints(-1, 4))], ['x:f32[2,3]=1'], 5,
         "E0532 node 0 'flat' (Reshape-14): input 0 'data' (x) float32[2,3]: 6 elements cannot be divided into [-1,4]\n"
         '  data float32[2,3]  input x\n  shape int64[2]  initializer s'),
        ('at run time', [node('NonZero', ['x'], ['i'], 'where'), node('Add', ['i', 'z'], ['y'], 'sum')], [*fed, ('z', INT64, [2, 5])], [],
         ['x:f32[2,3]=1', 'z:i64[2,5]=1'], 6, "E0531 node 1 'sum' (Add-14): input 1 'B' (z) int64[2,5]: [2,5] does not broadcast with [2,6]: "
         "axis -1 has 5 and 6\n  A int64[2,6]  from node 0 'where' (NonZero-13) of X float32[2,3] (input x)\n  B int64[2,5]  input z"),
    ]:
        model(nodes, inputs, initializers, out=INT64 if what == 'at run time' else FLOAT)
        says(f'shapes: {what}', ['run', 'm.onnx', *args], status, f'm.onnx: {text}\n')


def test_graphs():
    for what, nodes, more, text in [
        ('undefined', [node('Add', ['x', 'ghost'], ['y'], 'add')], {}, "E0201 node 0 'add' (Add-14): input 'ghost' is not defined anywhere"),
        ('dangling attribute', [node('Conv', ['x', 'x'], ['y'], 'cv', pads=[1, 1, 1])], {'shape': [1, 1, 3, 3]},
         "E0211 node 0 'cv' (Conv-11): attribute pads has 3 values, needs 4"),
    ]:
        model(nodes, [('x', FLOAT, more.get('shape', [1]))])
        says(f'graph: {what}', ['run', 'm.onnx', '--random'], 3, f'm.onnx: {text}\n')
    made = model([node('Relu', ['x'], ['y'])], [('x', FLOAT, [1])])
    made.ir_version = 999
    onnx.save(made, 'm.onnx')
    status, _, err = minirt('run', 'm.onnx')
    fits = re.fullmatch(r'm\.onnx: E0105 ir_version 999, supported up to (\d+)\n'
                        r'hint: written by a newer onnx: export with ir_version \1 or below\n', err)
    (PASSED if status == 3 and fits else FAILED).append('graph: ir')
    made.ir_version = 8
    made.functions.append(helper.make_function('my', 'F', ['a'], ['b'], [node('F', ['a'], ['b'], domain='my')], [helper.make_opsetid('my', 1)]))
    onnx.save(made, 'm.onnx')
    says('graph: recursion', ['run', 'm.onnx', 'x:f32[1]=1'], 3, 'm.onnx: E0203 recursive functions my:F -> my:F\n')
    model([node('Add', ['x', 'w'], ['y'])], [('x', FLOAT, [1])], [('w', TensorProto(name='w', data_type=FLOAT, dims=[-2]))])
    says('graph: tensor', ['run', 'm.onnx', 'x:f32[1]=1'], 3, "m.onnx: E0111 tensor 'w': negative dimension -2\n")


def test_running():
    model([node('Gather', ['t', 'i'], ['y'], 'pick')], [('i', INT64, ['k'])], [('t', zeros(5, 2))])
    says('run: index', ['run', 'm.onnx', 'i:i64[3]=1,2,7'], 6,
         "m.onnx: E0601 node 0 'pick' (Gather-13): input 1 'indices' (i) int64[3]: index 7 at position 2 out of range [-5,4]\n")
    model([node('Sub', ['x', 'x'], ['d'], 'sub'), node('Div', ['x', 'd'], ['q'], 'div'), node('Neg', ['q'], ['y'], 'neg')],
          [('x', FLOAT, [2])])
    says('run: the first Inf', ['run', 'm.onnx', 'x:f32[2]=1,2', '--log-level', 'info'], 0,
         "info: E0603 node 1 'div' (Div-14): made NaN or Inf from finite inputs: q float32[2]: 2 of 2, first at [0]: inf; "
         'from x float32[2] 1 to 2, d float32[2] 0 to 0\n')
    model([node('Expand', ['x', 's'], ['e'], 'grow'), node('Abs', ['e'], ['y'], 'abs')], [('x', FLOAT, [1]), ('s', INT64, [1])])
    says('run: too large', ['run', 'm.onnx', 'x:f32[1]=1', 's:i64[1]=4611686018427387904'], 8,
         "m.onnx: E0803 node 0 'grow' (Expand-13): an output of float32[4611686018427387904] is larger than can be addressed\n")
    status, _, err = minirt('run', 'm.onnx', 'x:f32[1]=1', 's:i64[1]=1000000', '--memory-limit=1MiB')
    (PASSED if status == 8 and err.startswith('m.onnx: E0802 ') else FAILED).append('run: limit')


def test_every_code():
    """errors.inc has no code that nothing provokes."""
    elsewhere = {
        'E0401': 'no operator is without a row', 'E0403': 'test_claims', 'E0412': 'test_check', 'E0413': 'test_plugin',
        'E0414': 'test_claims', 'E0415': 'test_model', 'E0420': 'test_check', 'E0602': 'test_plugin', 'E0701': 'test_devices',
        'E0702': 'test_plugin', 'E0801': 'test_memory', 'E0804': 'test_cli', 'E0805': 'test_api', 'E1001': 'test_cli', 'E1002': 'a bug'}
    table = (ROOT / 'runtime' / 'errors.inc').read_text()
    codes = {f'E{int(n):04d}' for n in re.findall(r'^X\(\w+, (\d+),', table, re.MULTILINE)}
    unseen = codes - SEEN - set(elsewhere)
    (FAILED if unseen else PASSED).append('every code')
    if unseen:
        print('FAIL every code: nothing provokes', sorted(unseen))
    for code in sorted(codes):
        status, out, _ = minirt('explain', code)
        ok = status == 0 and out.startswith(code)
        (PASSED if ok else FAILED).append(f'explain {code}')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith('test_'):
                test()
        os.chdir('/')
    for what in FAILED:
        print('FAIL', what)
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    sys.exit(bool(FAILED))


if __name__ == '__main__':
    main()
