#!/usr/bin/env python3
"""The report of `minirt check`: the exact text and JSON of what cannot run, grouped, with dependents and subgraphs.

    tests/unit/test_check.py [--build build]
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
PASSED, FAILED = [], []
node = helper.make_node
info = helper.make_tensor_value_info


def minirt(*args):
    p = subprocess.run([BUILD / 'minirt', *map(str, args)], capture_output=True, check=False, text=True)
    return p.returncode, p.stdout, p.stderr


def expect(what, got, want):
    (PASSED if got == want else FAILED).append(what)
    if got != want:
        print(f'FAIL {what}', f'want {want!r}', f'got  {got!r}', sep='\n  ')


def report(what, status, *lines, args=()):
    """`check m.onnx` ends with the status and prints exactly these lines."""
    got, out, err = minirt('check', 'm.onnx', *args)
    expect(what, (got, (out + err).splitlines()), (status, list(lines)))


def title(code, text, count):
    return f'{code} {text:60} {count}'


def save(nodes, inputs, initializers=(), imports=(), opset=17, **more):
    outputs = [info(n, FLOAT, None) for n in nodes[-1].output]
    graph = helper.make_graph(nodes, 'g', [info(*i) for i in inputs], outputs, [numpy_helper.from_array(v, k) for k, v in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset), *imports], ir_version=8, **more), 'm.onnx')


X = ('x', FLOAT, ['n', 4])


def test_all_run():
    save([node('Relu', ['x'], ['a']), node('Neg', ['a'], ['y'])], [X])
    report('all run', 0, 'm.onnx: opset 17, 2 nodes, all can run on cpu')
    got, out, _ = minirt('check', 'm.onnx', '--json')
    expect('all run: json', (got, json.loads(out)), (0, {
        'schema': 'minirt.check/1', 'model': 'm.onnx', 'runs': True, 'device': 'cpu', 'nodes': 2, 'dependents': 0, 'refusals': []}))


def test_groups():
    """Two nodes of one reason, another reason, nodes behind them, and one that no output needs."""
    custom = [helper.make_opsetid('com.example', 3)]
    save([node('Reul', ['x'], ['a'], 'first'), node('Reul', ['a'], ['b'], 'second'), node('Foo', ['b'], ['c'], 'odd', domain='com.example'),
          node('Foo', ['x'], ['unused'], 'spare', domain='com.example'), node('Neg', ['c'], ['y'], 'last')], [X], imports=custom)
    report('groups', 4, 'm.onnx: opset 17, com.example 3, 5 nodes, 1 can run, 4 cannot, 3 distinct reasons', '',
           title('E0301', 'unknown operator', '2 nodes'), '  Reul-17  first, second',
           "    ai.onnx has no operator Reul (opset 17); hint: did you mean 'Relu'?", '',
           title('E0303', 'unknown domain', '2 nodes'), '  com.example::Foo-3  odd',
           '    operator Foo of the unknown domain com.example (version 3); hint: load a plugin that has it (--plugin), '
           'or export it as a model-local function',
           '  com.example::Foo-3  spare   (no output needs it)',
           '    operator Foo of the unknown domain com.example (version 3); hint: load a plugin that has it (--plugin), '
           'or export it as a model-local function',
           'nodes that depend on these: 1 (cannot be judged: the types that they get are not known)')
    got, out, _ = minirt('check', 'm.onnx', '--json')
    document = json.loads(out)
    expect('groups: json', (got, document['runs'], document['dependents']), (4, False, 1))
    expect('groups: a refusal', document['refusals'][0], {
        'code': 'E0301', 'kind': 'unknown_op', 'op': 'Reul', 'domain': '', 'version': 17, 'node': 0, 'name': 'first', 'label': 'first',
        'graph': 'main', 'needed': True, 'shown': None, 'reason': 'ai.onnx has no operator Reul (opset 17)', 'attributes': {}, 'types': {},
        'hint': "did you mean 'Relu'?"})


def test_subgraphs():
    """A node in a branch; the report says in which."""
    then = helper.make_graph([node('Gelu', ['x'], ['t'], 'inner')], 'then', [], [info('t', FLOAT, None)])
    other = helper.make_graph([node('Identity', ['x'], ['e'], 'same')], 'else', [], [info('e', FLOAT, None)])
    save([node('If', ['c'], ['y'], 'choose', then_branch=then, else_branch=other)], [X, ('c', BOOL, [])])
    report('subgraphs', 4, 'm.onnx: opset 17, 3 nodes (2 in subgraphs), 2 can run, 1 cannot, 1 distinct reason', '',
           title('E0302', 'operator not in this opset', '1 node'), '  Gelu-17  choose/then_branch/inner',
           '    operator Gelu exists since opset 20 of ai.onnx, the model imports 17; hint: export with opset 20, or convert with '
           'onnx.version_converter', 'nodes that depend on these: 1 (all would run)')
    refusal = json.loads(minirt('check', 'm.onnx', '--json')[1])['refusals'][0]
    expect('subgraphs: json', (refusal['graph'], refusal['kind'], refusal['name']), ('choose/then_branch', 'not_in_opset', 'inner'))


def test_values():
    """What hangs on a run-time value is named, and is no failure."""
    save([node('Gather', ['x', 'i'], ['y'], 'pick')], [X, ('i', INT64, ['k'])])
    report('values: none', 0, 'm.onnx: opset 17, 1 node, all can run on cpu')
    save([node('ReduceSum', ['x', 'axes'], ['y'], 'sum')], [X, ('axes', INT64, [1])])
    got, out, _ = minirt('check', 'm.onnx', '--device', 'cuda-host', '--json')
    refusals = json.loads(out)['refusals']
    expect('values: json', (got, json.loads(out)['runs'], [(r['kind'], r['code'], r['name']) for r in refusals]),
           (0, None, [('depends_on_value', 'E0420', 'sum')]))


def test_attribute_combination():
    """On a device that has less: the attributes, and the condition that does not hold."""
    save([node('Resize', ['x', '', 'scales'], ['y'], 'up', mode='cubic', antialias=1)], [('x', FLOAT, [1, 1, 4, 4])],
         [('scales', np.array([1, 1, 2, 2], np.float32))], opset=19)
    got, out, _ = minirt('check', 'm.onnx', '--device', 'cuda-host', '--json')
    refusal = (json.loads(out)['refusals'] or [{}])[0]
    expect('combination: json', (got, refusal.get('kind'), refusal.get('op'), refusal.get('attributes')),
           (4, 'unsupported', 'Resize', {'mode': 'cubic', 'antialias': 1}))


def test_invalid():
    """Violations of the whole model, and those of nodes, all at once."""
    save([node('Cast', ['x'], ['a'], 'cast'), node('Add', ['a', 'ghost'], ['y'], 'add')], [X])
    report('invalid', 3, 'm.onnx: not valid ONNX; opset 17, 2 nodes, 0 can run, 2 cannot, 2 distinct reasons', '',
           title('E0211', 'attribute', '1 node'), '  Cast-13  cast', "    required attribute 'to' missing", '',
           title('E0201', 'malformed graph', '1 node'), '  Add-14  add', "    input 'ghost' is not defined anywhere")
    save([node('MatMul', ['x', 'w'], ['y'], 'product')], [X], [('w', np.zeros((5, 4), np.float32))])
    report('invalid: shapes', 3, 'm.onnx: not valid ONNX; opset 17, 1 node, 0 can run, 1 cannot, 1 distinct reason', '',
           title('E0531', 'the shapes do not fit', '1 node'), '  MatMul-13  product', '    the shapes do not fit',
           '      A float32[n,4]  input x', '      B float32[5,4]  initializer w', '      rule: last dim of A (4) = second-last dim of B (5)',
           '    hint: B looks transposed: a Gemm with transB=1, or a Transpose before it, would fit')


def test_options():
    save([node('Reshape', ['x', 's'], ['y'], 'flat')], [X], [('s', np.array([-1, 5], np.int64))])
    report('options: -s', 5, 'm.onnx: the given shapes do not fit; opset 17, 1 node, 0 can run, 1 cannot, 1 distinct reason', '',
           title('E0532', 'reshape', '1 node'), '  Reshape-14  flat',
           "    input 0 'data' (x) float32[2,4]: 8 elements cannot be divided into [-1,5]", '      data float32[2,4]  input x',
           '      shape int64[2]  initializer s', args=['-s', 'n=2'])
    expect('options: --json=FILE', (minirt('check', 'm.onnx', '--json=r.json')[0], json.loads(pathlib.Path('r.json').read_text())['runs']),
           (0, True))
    expect('options: no model', minirt('check')[0], 2)
    expect('options: no file', minirt('check', 'none.onnx'), (9, '', 'none.onnx: E0901 cannot open none.onnx: No such file or directory\n'))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in list(globals().items()):
            if name.startswith('test_'):
                test()
        os.chdir('/')
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    sys.exit(bool(FAILED))


if __name__ == '__main__':
    main()
