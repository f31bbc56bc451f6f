#!/usr/bin/env python3
"""`minirt-conformance --matrix`: every node that a case covers, by operator, version, types and attribute values.

    tests/unit/test_matrix.py [--build build]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PARSER = argparse.ArgumentParser()
PARSER.add_argument('--build', default='build', type=pathlib.Path)
BUILD = PARSER.parse_args().build.resolve()
FLOAT, BOOL, INT64 = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64
F, I, B = 'tensor(float)', 'tensor(int64)', 'tensor(bool)'
PASSED, FAILED = [], []
node = helper.make_node
info = helper.make_tensor_value_info
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def expect(what, got, want):
    (PASSED if got == want else FAILED).append(what)
    if got != want:
        print(f'FAIL {what}', f'want {want!r}', f'got  {got!r}', sep='\n  ')


def case(name, nodes, inputs, outputs, opset=17, functions=(), initializers=()):
    """inputs and outputs: [(name, value)]."""
    folder = pathlib.Path(name, 'test_data_set_0')
    folder.mkdir(parents=True)
    declared = [[info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in side] for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, 'g', *declared, [numpy_helper.from_array(v, n) for n, v in initializers])
    imports = [helper.make_opsetid('', opset), helper.make_opsetid('own', 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8, functions=functions), f'{name}/model.onnx')
    for side, values in (('input', inputs), ('output', outputs)):
        for i, (n, v) in enumerate(values):
            (folder / f'{side}_{i}.pb').write_bytes(numpy_helper.from_array(v, n).SerializeToString())


def rows(*cases):
    subprocess.run([BUILD / 'minirt-conformance', *cases, '-q', '--matrix=m.json'], stdout=subprocess.PIPE, check=False)
    document = json.loads(pathlib.Path('m.json').read_text())
    expect('schema', (document['schema'], document['device'], document['mode']), ('minirt.matrix/1', 'cpu', 'fast'))
    return document['rows']


def row(op, types, outputs, version, verdict='pass', count=1, domain='', **attributes):
    return {'op': op, 'domain': domain, 'version': version, 'types': types, 'outputs': outputs, 'attributes': attributes, verdict: count}


def expect_rows(what, cases, *want):
    def order(r):
        return json.dumps(r, sort_keys=True)
    expect(what, sorted(rows(*cases), key=order), sorted(want, key=order))


def test_types():
    """Of values that nothing declares, and of inputs and outputs that are absent."""
    case('types', [node('Cast', ['x'], ['i'], to=INT64), node('Add', ['i', 'i'], ['s']), node('Clip', ['s', '', 'most'], ['y'])],
         [('x', X), ('most', np.array(5))], [('y', np.minimum(2 * X.astype(np.int64), 5))])
    expect_rows('types', ['types'], row('Cast', [F], [I], 13, to=7), row('Add', [I, I], [I], 14), row('Clip', [I, None, I], [I], 13))
    case('absent', [node('Dropout', ['x'], ['y'])], [('x', X)], [('y', X)])
    expect_rows('counts', ['types', 'absent'], row('Cast', [F], [I], 13, to=7), row('Add', [I, I], [I], 14),
                row('Clip', [I, None, I], [I], 13), row('Dropout', [F], [F], 13))


def test_attributes():
    values = {'starts': [0], 'ends': [1], 'axes': [1]}
    case('lists', [node('Slice', ['x'], ['y'], **values)], [('x', X)], [('y', X[:, :1])], opset=9)
    case('float', [node('LeakyRelu', ['x'], ['y'], alpha=float('nan'))], [('x', X)], [('y', X)])
    case('tensor', [node('ConstantOfShape', ['s'], ['y'], value=numpy_helper.from_array(np.ones(1, np.float32)))],
         [('s', np.array([2]))], [('y', np.ones(2, np.float32))])
    expect_rows('lists', ['lists'], row('Slice', [F], [F], 1, **values))
    expect_rows('no number of JSON', ['float'], row('LeakyRelu', [F], [F], 16, alpha='nan'))
    expect_rows('a tensor is there', ['tensor'], row('ConstantOfShape', [I], [F], 9, value=True))
    bad = helper.make_node('DepthToSpace', ['x'], ['y'], blocksize=1, mode=b'\xff\x00')
    case('bytes', [bad], [('x', X.reshape(1, 1, 2, 3))], [('y', X.reshape(1, 1, 2, 3))])
    expect_rows('bytes that are no text', ['bytes'], row('DepthToSpace', [F], [F], 13, 'fail', blocksize=1, mode='0xff00'))


def branches():
    def graph(op):
        return helper.make_graph([node(op, ['x'], [f'of_{op}'])], op, [], [info(f'of_{op}', FLOAT, None)])
    return {'then_branch': graph('Neg'), 'else_branch': graph('Abs')}


def test_subgraphs():
    """Both branches may run, unless the condition is known."""
    held = {'then_branch': True, 'else_branch': True}
    case('if', [node('If', ['c'], ['y'], **branches())], [('c', np.array(True)), ('x', X)], [('y', -X)])
    expect_rows('subgraphs', ['if'], row('If', [B], [F], 16, **held), row('Neg', [F], [F], 13), row('Abs', [F], [F], 13))
    case('if_known', [node('If', ['c'], ['y'], **branches())], [('x', X)], [('y', -X)], initializers=[('c', np.array(True))])
    expect_rows('a branch that never runs', ['if_known'], row('If', [B], [F], 16, **held), row('Neg', [F], [F], 13))
    body = helper.make_graph([node('Identity', ['c'], ['go']), node('Mul', ['v', 'v'], ['next'])], 'body',
                             [info('i', INT64, []), info('c', BOOL, []), info('v', FLOAT, None)],
                             [info('go', BOOL, []), info('next', FLOAT, None)])
    case('loop', [node('Loop', ['m', '', 'x'], ['y'], body=body)], [('m', np.array(1)), ('x', X)], [('y', X * X)])
    expect_rows('a body', ['loop'], row('Loop', [I, None, F], [F], 16, body=True), row('Identity', [B], [B], 16),
                row('Mul', [F, F], [F], 14))


def test_functions():
    """The call and what it became: of a function of the model, and of an operator that ONNX gives a body."""
    square = helper.make_function('own', 'Square', ['a'], ['b'], [node('Mul', ['a', 'a'], ['b'])], [helper.make_opsetid('', 17)])
    case('function', [node('Square', ['x'], ['y'], domain='own')], [('x', X)], [('y', X * X)], functions=[square])
    expect_rows('a function', ['function'], row('Square', [F], [F], 1, domain='own'), row('Mul', [F, F], [F], 14))
    case('bodied', [node('CenterCropPad', ['x', 's'], ['y'])], [('x', X), ('s', np.array([2, 1]))], [('y', X[:, 1:2])], opset=18)
    expect('an operator', [r['op'] for r in rows('bodied')].count('CenterCropPad'), 1)


def test_refused():
    case('refused', [node('Relu', ['x'], ['a']), node('Reul', ['a'], ['y'])], [('x', X)], [('y', X)])
    expect_rows('a case that cannot run', ['refused'], row('Relu', [F], [F], 14, 'unsupported'), row('Reul', [F], [F], 17, 'unsupported'))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in sorted(globals().items()):
            if name.startswith('test_'):
                test()
        os.chdir('/')
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    return bool(FAILED)


if __name__ == '__main__':
    sys.exit(main())
