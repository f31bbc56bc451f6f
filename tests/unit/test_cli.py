#!/usr/bin/env python3
"""The command line: how arguments are read, what is said about wrong ones, exit statuses; the conformance runner.

    tests/unit/test_cli.py [--build build]
"""
import argparse
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

PARSER = argparse.ArgumentParser()
PARSER.add_argument('--build', default='build', type=pathlib.Path)
BUILD = PARSER.parse_args().build.resolve()
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
PASSED, FAILED = [], []


def check(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', *details, sep='\n  ')


def run(program, *args, **more):
    p = subprocess.run([BUILD / program, *map(str, args)], capture_output=True, check=False, text=True, **more)
    return p.returncode, p.stdout, p.stderr


def minirt(*args, **more):
    return run('minirt', *args, **more)


def says(what, args, status, text, **more):
    """The command ends with the status, and stderr is exactly the text."""
    got, out, err = minirt(*args, **more)
    check(what, (got, err) == (status, text), f'want {status}: {text!r}', f'got  {got}: {err!r}', out)


def outputs(*args):
    """First elements of the outputs, by name; else what was said."""
    status, out, err = minirt('run', *args, '--json')
    return {o['name']: o['first'] for o in json.loads(out)['outputs']} if status == 0 else err


def save(path, nodes, inputs, outs, initializers=(), **more):
    def info(name, dtype, shape):
        return helper.make_tensor_value_info(name, dtype, shape)
    graph = helper.make_graph(nodes, 'g', [info(*i) for i in inputs], [info(*o) for o in outs],
                              [numpy_helper.from_array(np.asarray(v), k) for k, v in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8, **more), path)


def prepare():
    """add.onnx: sum = a + b, twice = sum + sum; names.onnx: inputs whose names hold the separators."""
    node = helper.make_node
    save('add.onnx', [node('Add', ['a', 'b'], ['sum'], 'first'), node('Add', ['sum', 'sum'], ['twice'], 'second')],
         [('a', FLOAT, ['n', 3]), ('b', FLOAT, ['n', 3])], [('sum', FLOAT, ['n', 3]), ('twice', FLOAT, ['n', 3])])
    save('names.onnx', [node('Sum', ['x', 'x:0', 'x=1', 'x:0=y', 'a,b'], ['s,um']), node('Neg', ['s,um'], ['s'])],
         [(n, FLOAT, [1]) for n in ('x', 'x:0', 'x=1', 'x:0=y', 'a,b')], [('s,um', FLOAT, [1])])
    save('default.onnx', [node('Add', ['a', 'b'], ['y'])], [('a', FLOAT, [1]), ('b', FLOAT, [1])], [('y', FLOAT, [1])],
         [('b', np.ones(1, np.float32))])
    save('embed.onnx', [node('Cast', ['ids'], ['i'], to=INT64), node('Gather', ['table', 'i'], ['e']),
                        node('Cast', ['mask'], ['m'], to=FLOAT)],
         [('ids', TensorProto.INT32, ['n', 50]), ('mask', INT64, ['n', 50])],
         [('e', FLOAT, ['n', 50, 2]), ('m', FLOAT, ['n', 50])], [('table', np.arange(14, dtype=np.float32).reshape(7, 2))])
    np.save('ones.npy', np.ones((2, 3), np.float32))
    np.save('twos.npy', np.full((2, 3), 2, np.float32))
    np.save('double.npy', np.ones((2, 3)))
    np.save('wide.npy', np.ones((2, 4), np.float32))
    np.save('tall.npy', np.ones((5, 3), np.float32))
    np.savez('in.npz', a=np.ones((2, 3), np.float32), b=np.full((2, 3), 2, np.float32))
    np.savez('misspelt.npz', a=np.ones((2, 3), np.float32), bb=np.ones((2, 3), np.float32))


def test_forms():
    for what, args in {
        'by position': ['ones.npy', 'twos.npy'], 'by name': ['b=twos.npy', 'a=ones.npy'],
        'a name and a position': ['b=twos.npy', 'ones.npy'], 'the other way round': ['ones.npy', 'b=twos.npy'],
        'npz': ['in.npz'], 'literals': ['a:f32[2,3]=1', 'b:float32[2,3]=2,2,2,2,2,2'],
        'brackets': ['a:f32[2,3]=[[1,1,1],[1,1,1]]', '{b}:f32[2,3]=2'],
    }.items():
        got = outputs('add.onnx', *args)
        check(f'form: {what}', got == {'sum': [3] * 6, 'twice': [6] * 6}, got)
    check('form: initializer stays', outputs('default.onnx', 'a:f32[1]=1') == {'y': [2]})
    check('form: initializer given', outputs('default.onnx', 'a:f32[1]=1', 'b:f32[1]=5') == {'y': [6]})
    args = ['x:f32[1]=1', 'x:0:f32[1]=10', 'x=1:f32[1]=100', '{x:0=y}:f32[1]=1000', 'a,b:f32[1]=10000']
    check('names: longest first', outputs('names.onnx', *args) == {'s,um': [11111]}, outputs('names.onnx', *args))
    check('names: in --outputs', outputs('names.onnx', *args, '--outputs', 's,um,s') == {'s,um': [11111], 's': [-11111]})
    check('outputs: intermediate', outputs('add.onnx', 'in.npz', '--outputs=twice,sum') == {'twice': [6] * 6, 'sum': [3] * 6})
    check('outputs: wildcard', outputs('add.onnx', 'in.npz', '--outputs=t*') == {'twice': [6] * 6})
    for text, want in {'f32[3]=1e3,-inf,nan': [1000, '-inf', 'nan'], 'i64[2]=-5,0x10': [-5, 16], 'bool[2]=true,0': [True, False],
                       'u8[]=255': [255], 'f16=0.1': [0.0999755859375], 'c64[1]=1-2j': [[1, -2]]}.items():
        spec = text.split('=')[0]
        dtype = {'f': FLOAT, 'i': INT64, 'b': TensorProto.BOOL, 'u': TensorProto.UINT8, 'c': TensorProto.COMPLEX64}[spec[0]]
        dtype = TensorProto.FLOAT16 if spec == 'f16' else dtype
        save('id.onnx', [helper.make_node('Identity', ['x'], ['y'])], [('x', dtype, None)], [('y', dtype, None)])
        got = outputs('id.onnx', f'x:{text}')
        check(f'literal: {text}', got == {'y': want}, got)


def test_bad_inputs():
    for what, args, status, text in [
        ('missing', ['a=ones.npy'], 5, "E0501 missing input 'b' (float32 [n,3]); given: a\n"
         'hint: b=FILE gives it; --random fills what is not given'),
        ('all missing', [], 5, "E0501 missing input 'a' (float32 [n,3]); given: none\n"
         'hint: a=FILE gives it; --random fills what is not given'),
        ('one too many', ['ones.npy', 'ones.npy', 'twos.npy'], 5, "E0507 'twos.npy' is one too many: the model has 2 inputs to fill: a, b"),
        ('twice', ['a=ones.npy', 'a=twos.npy'], 2, "E1001 input 'a' is given twice"),
        ('misspelt', ['aa=ones.npy'], 5, "E0502 the model has no input 'aa'\nhint: the nearest names are 'a'"),
        ('nothing near', ['image=ones.npy'], 5, "E0502 the model has no input 'image'\nhint: it has 'a', 'b'"),
        ('misspelt literal', ['aa:f32[1]=1'], 5, "E0502 the model has no input 'aa'\nhint: the nearest names are 'a'"),
        ('key of an npz', ['misspelt.npz'], 5, "E0502 misspelt.npz: the model has no input 'bb'\nhint: the nearest names are 'b'"),
        ('type', ['double.npy', 'twos.npy'], 5,
         "E0503 input 'a': expected float32, got float64\nhint: --cast converts it, or save the array as float32"),
        ('rank', ['a:f32[3]=1', 'b=twos.npy'], 5, "E0504 input 'a': expected rank 2 [n,3], got rank 1 [3]\n"
         'hint: as a batch of one, [1,3], it would fit'),
        ('dim', ['wide.npy', 'twos.npy'], 5,
         "E0504 input 'a': axis 1: expected 3, got 4; expected shape [n,3], got [2,4]\n"
         'hint: axis 1 is fixed in the model; re-export it with a dynamic axis to feed other sizes'),
        ('symbol', ['tall.npy', 'twos.npy'], 5,
         "E0505 symbol 'n' has two values: 5 from input 'a' axis 0, 2 from input 'b' axis 0"),
        ('too few values', ['a:f32[2,3]=1,2', 'twos.npy'], 2, "E1001 input 'a': 2 values for 6 elements"),
        ('too many values', ['a:f32[2]=1,2,3', 'twos.npy'], 2, "E1001 input 'a': 3 values for 2 elements"),
        ('no number', ['a:f32[1]=x', 'twos.npy'], 2, "E1001 input 'a': 'x' is not a float32"),
        ('out of range', ['a:u8[1]=256', 'twos.npy'], 2, "E1001 input 'a': '256' is not a uint8"),
        ('no such type', ['a:f33[1]=1', 'twos.npy'], 2, "E1001 'f33[1]' is not a type and shape such as f32[1,3]"),
        ('no folder of a test', ['.'], 5, 'E0506 .: a folder without input_0.pb is no test data set'),
        ('-s against the input', ['ones.npy', 'twos.npy', '-s', 'n=4'], 5,
         "E0504 input 'a': axis 0: -s or --shape says 4, got 2; expected shape [4,3], got [2,3]"),
        ('-s of no symbol', ['ones.npy', 'twos.npy', '-s', 'm=4'], 2,
         "E1001 the model has no symbolic dimension 'm'\nhint: the nearest names are 'n'"),
        ('--shape of no input', ['--shape', 'c=1x3'], 5, "E0502 the model has no input 'c'\nhint: the nearest names are 'a' or 'b'"),
        ('--shape against the model', ['--shape', 'a=1x4'], 5, "E0504 --shape: '1x4' does not fit input 'a', which is [n,3]"),
        ('--outputs of no tensor', ['in.npz', '--outputs', 'summ'], 2,
         "E1001 the model has no tensor 'summ'\nhint: the nearest names are 'sum'"),
        ('--random without extents', ['--random'], 2,
         "E1001 input 'a': --random needs its whole shape, not [n,3]\nhint: set dimensions with -s NAME=N, or -s '*=1'"),
        ('npy of two outputs', ['in.npz', '-o', 'y.npy'], 2,
         "E1001 'y.npy': an .npy file holds one tensor, there are 2 outputs\nhint: use .npz or DIR/, or pick one with --outputs"),
    ]:
        says(f'bad input: {what}', ['run', 'add.onnx', *args], status, f'add.onnx: {text}\n')


def test_cast():
    status, out, err = minirt('run', 'add.onnx', 'double.npy', 'twos.npy', '--cast', '--json')
    check('cast: runs and says so', status == 0 and err == "input 'a': converted from float64 to float32\n", err)
    np.save('half.npy', np.array([[0, 1.5]]))
    np.save('whole.npy', np.array([[3.0] * 50]))
    np.save('zeros.npy', np.zeros((1, 50)))
    says('cast: not exact', ['run', 'embed.onnx', 'ids=half.npy', 'mask=zeros.npy', '--cast'], 5,
         "embed.onnx: E0503 input 'ids': --cast: 1.5 at [0,1] is no int32\n")
    status, _, err = minirt('run', 'embed.onnx', 'ids=whole.npy', 'mask=zeros.npy', '--cast')
    check('cast: exact', status == 0, err)


def test_random():
    def draw(*args):
        minirt('run', 'embed.onnx', '--random', *args, '--outputs', 'i,m', '-o', 'r.npz')
        return np.load('r.npz')
    first = draw('-s', 'n=40')
    check('random: indices in range', first['i'].min() == 0 and first['i'].max() == 6 and first['i'].shape == (40, 50))
    check('random: other integers', set(np.unique(first['m'])) == {0, 1})
    check('random: the same again', np.array_equal(draw('-s', '*=40')['i'], first['i']))
    check('random: another seed', not np.array_equal(draw('-s', 'n=40', '--seed=1')['i'], first['i']))
    check('random: shape', draw('--shape', 'ids=2x50', '-s', 'n=2')['i'].shape == (2, 50))
    ranged = draw('-s', 'n=40', '--val-range', 'mask:[5,7]', '--val-range', '[2,3]')
    check('random: ranges', set(np.unique(ranged['m'])) == {5, 6, 7} and set(np.unique(ranged['i'])) == {2, 3})
    minirt('run', 'add.onnx', 'a=tall.npy', '--random', '-o', 'r.npz')
    y = np.load('r.npz')['sum']
    check('random: symbols from what is given', y.shape == (5, 3) and y.min() >= 1 and y.max() < 2 and len(np.unique(y)) > 10)


def test_comparison():
    want = {'sum': np.full((2, 3), 3, np.float32), 'twice': np.full((2, 3), 6, np.float32)}
    np.savez('want.npz', **want)
    want['twice'][1, 2] = 6.01
    np.savez('off.npz', **want)
    np.savez('half.npz', sum=want['sum'])
    run_expect = ['run', 'add.onnx', 'in.npz', '--expect']
    status, out, _ = minirt(*run_expect, 'want.npz')
    check('expect: agrees', status == 0 and 'twice  agrees   worst abs 0, rel 0, ulp 0\n' in out, out)
    status, out, _ = minirt(*run_expect, 'off.npz')
    check('expect: the end says so', out.splitlines()[-1].startswith('differs  2 nodes on cpu, '), out)
    check('expect: differs', status == 1 and
          'twice  differs  1 of 6 elements differ, first at [1,2]: got 6, want 6.01; worst abs 0.01, rel 0.00166, ulp 20972\n'
          in out, out)
    for options, agree in [(['--rtol=1e-2'], True), (['--atol=0.02'], True), (['--atol=sum:0.02'], False),
                           (['--atol=twice:0.02'], True), (['--ulp=30000'], True), (['--ulp=2'], False),
                           (['--rtol=0', '--atol=0', '--ulp=twice:20972'], True)]:
        check(f'expect: {options}', minirt(*run_expect, 'off.npz', *options)[0] == (0 if agree else 1))
    says('expect: nothing for an output', [*run_expect, 'half.npz'], 5,
         "add.onnx: E0501 half.npz: nothing is expected of output 'twice' there\n")
    says('expect: tolerance of no tensor', [*run_expect, 'off.npz', '--rtol', 'sums:1'], 2,
         "add.onnx: E1001 the model has no tensor 'sums'\nhint: the nearest names are 'sum'\n")
    minirt('run', 'add.onnx', 'in.npz', '-o', 'folder/')
    check('expect: folder', minirt(*run_expect, 'folder')[0] == 0)
    pathlib.Path('folder/input_0.pb').write_bytes(numpy_helper.from_array(np.ones(1)).SerializeToString())
    minirt('run', 'add.onnx', 'in.npz', '-o', 'other')
    check('compare: a test folder is its outputs', minirt('compare', 'other', 'folder')[0] == 0)
    check('compare: agree', minirt('compare', 'want.npz', 'want.npz')[0] == 0)
    status, out, _ = minirt('compare', 'want.npz', 'off.npz', '--json')
    twice = json.loads(out)['tensors'][1]
    check('compare: json', status == 1 and not json.loads(out)['agree'] and twice['name'] == 'twice' and
          twice['differing'] == 1 and twice['max_ulp'] == 20972, out)
    status, out, _ = minirt('compare', 'half.npz', 'want.npz')
    check('compare: only in one', status == 1 and 'twice  only in want.npz\n' in out, out)
    status, out, _ = minirt('compare', 'in.npz', 'want.npz', '--json')
    check('compare: json of an error', status == 5 and json.loads(out)['error']['code'] == 'E0501' and 'agree' not in json.loads(out), out)
    says('compare: nothing in common', ['compare', 'in.npz', 'want.npz'], 5,
         "E0501 in.npz and want.npz have no tensor of the same name\n"
         "hint: the first has 'a', 'b', the second 'sum', 'twice'; files of a folder are named as the file\n")
    status, out, _ = minirt('compare', 'ones.npy', 'wide.npy')
    check('compare: shapes', status == 1 and 'shape: got [2,3], want [2,4]' in out, out)
    status, out, _ = minirt('compare', 'ones.npy', 'double.npy')
    check('compare: types', status == 1 and 'type: got float32, want float64' in out, out)
    a = np.array([np.nan, np.inf, -np.inf, 0, 1], np.float32)
    for b, agree in [([np.nan, np.inf, -np.inf, -0.0, 1], True), ([0, np.inf, -np.inf, 0, 1], False),
                     ([np.nan, 1e38, -np.inf, 0, 1], False), ([np.nan, -np.inf, -np.inf, 0, 1], False),
                     ([np.nan, np.inf, np.nan, 0, 1], False)]:
        np.save('a.npy', a)
        np.save('b.npy', np.array(b, np.float32))
        for x, y in ('a.npy', 'b.npy'), ('b.npy', 'a.npy'):
            check(f'compare: {b}', minirt('compare', x, y, '--rtol=1', '--atol=1')[0] == (not agree))


def agrees(got, want, rtol, atol):
    """The official runner's rule for one element."""
    if want.dtype == ml_dtypes.bfloat16:
        got, want, rtol = got.astype(np.float32), want.astype(np.float32), max(rtol, 2 ** -6)
    try:
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
        return True
    except AssertionError:
        return False


def test_rule():
    """Elements around the tolerance, and special ones, in every kind of arithmetic."""
    rng, rtol, atol = np.random.default_rng(3), 1e-3, 1e-7
    got, want = {}, {}
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1e-7, 2e-7, 6e4]
    for dtype in np.float16, np.float32, np.float64, ml_dtypes.bfloat16, np.int32, np.int64, np.uint8, np.complex64, np.complex128:
        integer = np.dtype(dtype).kind in 'iu'
        pairs = [(a, b) for a in special for b in special] if not integer else []
        for _ in range(100):
            b = rng.integers(0, 256 if dtype is np.uint8 else 5000) if integer else rng.normal() * 10.0 ** rng.integers(-8, 5)
            limit = atol + (2 ** -6 if dtype is ml_dtypes.bfloat16 else rtol) * abs(b)
            a = b + rng.choice([-1, 1]) * limit * rng.choice([0.99, 0.9999999, 1, 1.0000001, 1.01])
            pairs.append((np.clip(round(a), 0, 255) if dtype is np.uint8 else round(a) if integer else a, b))
            if np.dtype(dtype).kind == 'c':
                pairs[-1] = (complex(a, b), complex(b, b))
        for i, (a, b) in enumerate(pairs):
            key = f'{np.dtype(dtype).name}_{i}'
            with np.errstate(over='ignore'):
                got[key], want[key] = np.asarray([a]).astype(dtype), np.asarray([b]).astype(dtype)
    np.savez('got.npz', **got)
    np.savez('ref.npz', **want)
    _, out, _ = minirt('compare', 'got.npz', 'ref.npz', f'--rtol={rtol}', f'--atol={atol}', '--json')
    with np.errstate(all='ignore'):
        for t in json.loads(out)['tensors']:
            a, b = got[t['name']], want[t['name']]
            check(f'rule: {t["name"]}', t['agree'] == agrees(a, b, rtol, atol), a, b, t)


def test_looking_inside():
    minirt('run', 'add.onnx', 'in.npz', '--dump', 'dump')
    index = json.loads(pathlib.Path('dump/index.json').read_text())['tensors']
    check('dump: folder', [(t['name'], t['dtype'], t['shape'], t['node']) for t in index] ==
          [('sum', 'float32', [2, 3], 'first'), ('twice', 'float32', [2, 3], 'second')] and
          np.load('dump/' + index[1]['file']).tolist() == [[6] * 3] * 2, index)
    minirt('run', 'add.onnx', 'in.npz', '--dump', 'dump.npz', '--outputs', 'twice')
    check('dump: npz of --outputs', list(np.load('dump.npz')) == ['twice'])
    check('dump: compares', minirt('compare', 'dump', 'want.npz')[0] == 0)
    save('odd.onnx', [helper.make_node('Neg', ['x'], ['../../evil']), helper.make_node('Neg', ['../../evil'], ['CON']),
                      helper.make_node('Neg', ['CON'], ['ä ' * 200])], [('x', FLOAT, [1])], [('ä ' * 200, FLOAT, [1])])
    minirt('run', 'odd.onnx', 'x:f32[1]=1', '--dump', 'deep/er')
    names = {t['name']: t['file'] for t in json.loads(pathlib.Path('deep/er/index.json').read_text())['tensors']}
    check('dump: odd names stay inside', set(names) == {'../../evil', 'CON', 'ä ' * 200} and
          {f.name for f in pathlib.Path('deep/er').iterdir()} == {*names.values(), 'index.json'}, names)
    check('dump: odd names come back', minirt('compare', 'deep/er', 'deep/er')[0] == 0)
    status, out, _ = minirt('run', 'add.onnx', 'in.npz', '--stats')
    check('stats', [l.split()[0] for l in out.splitlines()] == ['sum', 'twice', 'sum', 'twice', 'ok'], out)
    status, out, _ = minirt('run', 'add.onnx', 'in.npz', '--stats', '--json')
    stats = {t['name']: t['max'] for t in json.loads(out)['tensors']} if out[:1] == '{' else out
    check('stats: JSON', stats == {o['name']: o['max'] for o in json.loads(out)['outputs']} and len(stats) == 2, out)
    for more in [], ['--outputs=*']:
        status, out, _ = minirt('run', 'add.onnx', 'in.npz', '--stats', '--json=stats.json', *more)
        check('stats: JSON in a file', out == '' and json.loads(pathlib.Path('stats.json').read_text())['schema'], out)
    minirt('run', 'add.onnx', 'in.npz', '--profile', 'trace.json')
    events = json.loads(pathlib.Path('trace.json').read_text())['traceEvents']
    check('profile', [(e['name'], e['cat'], e['ph'], e['args']['inputs']) for e in events] ==
          [('first', 'Add', 'X', ['float32[2,3]'] * 2), ('second', 'Add', 'X', ['float32[2,3]'] * 2)], events)
    first = minirt('run', 'add.onnx', 'in.npz', '--digest')[1].splitlines()
    again = minirt('run', 'add.onnx', 'in.npz', '--digest', '--mode=reference', '-t1')[1].splitlines()
    check('digest: the same', first[:2] == again[:2] and len(first[0].split()[-1]) == 64, first, again)
    status, out, _ = minirt('run', 'add.onnx', 'a:f32[1,3]=1,3,2', 'b:f32[1,3]=0', '--top', '2', '--outputs', 'sum')
    check('top', out.splitlines()[1:3] == ['       1  3', '       2  2'], out)
    save('nan.onnx', [helper.make_node('Log', ['x'], ['l'], 'log'), helper.make_node('Neg', ['l'], ['y'], 'neg')],
         [('x', FLOAT, [2])], [('y', FLOAT, [2])])
    says('the first NaN', ['run', 'nan.onnx', 'x:f32[2]=-1,1', '--log-level', 'info'], 0,
         "info: E0603 node 0 'log' (Log-13): made NaN or Inf from finite inputs: l float32[2]: 1 of 2, first at [0]: nan; "
         'from x float32[2] -1 to 1\n')


def test_options():
    for what, args, text in [
        ('unknown command', ['rnu'], "E1001 unknown command 'rnu'\nhint: the nearest names are 'run'"),
        ('unknown option', ['run', 'm', '--thread=1'], "E1001 'run': unknown option '--thread'\nhint: the nearest names are 'threads', 'ulp'"),
        ('option of another', ['compare', 'a', 'b', '--dump=x'], "E1001 'compare' has no option '--dump'\nhint: these commands have it: run"),
        ('option of others', ['run', 'm', '--seconds=2'], "E1001 'run' has no option '--seconds'\nhint: these commands have it: bench"),
        ('option of another program', ['run', 'm', '--junit=x'], "E1001 'run': unknown option '--junit'\nhint: the nearest names are 'json'"),
        ('help of no command', ['help', 'rnu'], "E1001 unknown command 'rnu'\nhint: the nearest names are 'run'"),
        ('domain', ['ops', '--domain=ai.onnx.nl'], "E1001 no operator is of the domain 'ai.onnx.nl'\nhint: the nearest names are 'ai.onnx.ml'"),
        ('operator of another domain', ['ops', 'Scaler', '--domain=ai.onnx'], "E1001 ONNX has no operator 'Scaler'"),
        ('value missing', ['run', 'm', '-o'], 'E1001 -o needs a value: DIR/|FILE.npz|FILE.npy|FILE.safetensors'),
        ('value of a flag', ['run', 'm', '--cast=1'], 'E1001 --cast takes no value'),
        ('no model', ['run'], "E1001 'run' needs MODEL [INPUT…]"),
        ('too much', ['compare', 'a', 'b', 'c'], "E1001 'compare' takes A B: 'c' is too much"),
    ]:
        got, _, err = minirt(*args)
        first = text.split('\nhint')[0]
        check(f'options: {what}', got == 2 and err.startswith(first), f'want {text!r}', f'got  {got}: {err!r}')
    for what, args, text in [
        ('choice', ['--mode=quick'], "E1001 --mode: 'quick' is not one of fast|reference"),
        ('number', ['-t', 'many'], "E1001 --threads: 'many' is not a whole number from 1 to 1024"),
        ('size', ['--memory-limit=2XB'], "E1001 --memory-limit: '2XB' is not a size such as 512MiB or 2GiB"),
        ('f64 in fast mode', ['--mode=fast', '--precision=f64'], 'E1001 --precision f64 needs --mode reference'),
    ]:
        says(f'options: {what}', ['run', 'add.onnx', 'in.npz', *args], 2, f'add.onnx: {text}\n')
    pathlib.Path('one/case').mkdir(parents=True)
    os.symlink('../../add.onnx', 'one/case/model.onnx')
    for command, option, low, high in [
        ('run', 'threads', 1, 1024), ('bench', 'threads', 1, 1024), ('run', 'optimize', 0, 2), ('run', 'seed', 0, 2**63 - 1),
        ('run', 'top', 1, 2**31 - 1), ('bench', 'top', 1, 2**31 - 1), ('bench', 'warmup', 0, 2**31 - 1),
        ('ops', 'opset', 1, 2**31 - 1), ('conformance', 'jobs', 1, 1024), ('conformance', 'threads', 1, 1024),
    ]:
        for value in low - 1, high + 1, 2**32 + low, 2**64 + low, 10**30, '1.5', '', '0x1', '1e2':
            if isinstance(value, int) and low <= value <= high:
                continue
            args = {'run': ['add.onnx', 'in.npz', '--random'], 'bench': ['add.onnx'], 'conformance': ['one']}.get(command, [])
            program = ['minirt-conformance'] if command == 'conformance' else ['minirt', command]
            got, _, err = run(*program, *args, f'--{option}={value}')
            want = f"E1001 --{option}: '{value}' is not a whole number from {low} to {high}\n"
            check(f'options: {command} --{option}={value}', got == 2 and err.removeprefix('add.onnx: ') == want, err)
    for what, args, text in [
        ('device', ['--device=cuda:4294967296'], "E1001 device 'cuda:4294967296': behind ':' stands a number from 0 to 255"),
        ('device, no number', ['--device=cuda:x'], "E1001 device 'cuda:x': behind ':' stands a number from 0 to 255"),
        ('extent', ['-s', 'n=18446744073709551618'], "E1001 -s: 'n=18446744073709551618': '18446744073709551618' is not an extent"),
        ('shape', ['--shape', 'a=18446744073709551618x3'],
         "E1001 --shape: '18446744073709551618x3' is not a shape such as 1x3x224x224"),
        ('literal', ['a:f32[18446744073709551618]=1'], "E1001 'f32[18446744073709551618]' is not a type and shape such as f32[1,3]"),
        ('image size', ['--image-size=4294967297x1'],
         "E1001 --image-size: '4294967297x1' is not HxW such as 224x224, each from 1 to 32768"),
        ('ulp', ['--expect=in.npz', '--ulp=1.5'], "E1001 --ulp: '1.5' is not a whole number of at least 0"),
        ('ulp, large', ['--expect=in.npz', '--ulp=1e30'], "E1001 --ulp: '1e30' is not a whole number of at least 0"),
    ]:
        says(f'options: {what}', ['run', 'add.onnx', 'ones.npy', 'b=twos.npy', *args], 2, f'add.onnx: {text}\n')
    for form in ['-t', '1'], ['-t1'], ['--threads', '1'], ['--threads=1']:
        check(f'options: {form}', minirt('run', 'add.onnx', *form, 'in.npz')[0] == 0)
    os.symlink('ones.npy', '-ones.npy')
    check('options: --', minirt('run', 'add.onnx', '--', '-ones.npy', 'twos.npy')[0] == 0)
    check('options: memory limit', minirt('run', 'add.onnx', 'in.npz', '--memory-limit=1B')[0] == 8)
    status, out, err = minirt('run', 'add.onnx', 'a=ones.npy', '--json')
    check('options: --json of an error', status == 5 and json.loads(out)['error'] == {
        'code': 'E0501', 'status': 5, 'kind': 'bad input', 'node': -1, 'where': None,
        'text': "missing input 'b' (float32 [n,3]); given: a", 'hint': 'b=FILE gives it; --random fills what is not given'}, out)
    check('options: --json=FILE', minirt('run', 'add.onnx', 'in.npz', '--json=r.json')[0] == 0 and
          json.loads(pathlib.Path('r.json').read_text())['schema'] == 'minirt.run/1')
    for args in ['--help'], ['-h'], ['help', 'run'], ['run', '--help'], ['compare', '-h'], ['--version'], ['man']:
        status, out, err = minirt(*args)
        check(f'options: {args}', status == 0 and out and not err, err)


def test_completion():
    script = minirt('completion')[1]
    for words, want in [
            ('i', 'info'), ('help be', 'bench'), ('run --mo', '--mode'), ('bench --se', '--seed --seconds'), ('run ones', 'ones.npy'),
            ('run a --mode f', 'fast'), ('run a --mode =', 'fast reference'), ('run a --mode = f', 'fast'), ('run a --optimize =', '0 1 2'),
            ('run a --device cu', 'cuda cuda,cpu cuda-host'), ('run a --image-layout H', 'HWC HW'), ('run a --expect ones', 'ones.npy')]:
        p = subprocess.run(['bash', '-c', script + f'\nCOMP_WORDS=(minirt {words}); COMP_CWORD={len(words.split())}; _minirt; '
                            'echo ${COMPREPLY[@]}'], capture_output=True, text=True, check=False)
        check(f'completion: {words}', p.stdout == want + '\n' and not p.stderr, p.stdout, p.stderr)


def test_assume():
    save('custom.onnx', [helper.make_node('Neg', ['x'], ['n']), helper.make_node('NoSuchOp', ['n'], ['m'], 'odd'),
                         helper.make_node('Neg', ['m'], ['y'])], [('x', FLOAT, [2])], [('y', FLOAT, [2])])
    np.savez('assume.npz', m=np.array([5, 6], np.float32))
    np.savez('other.npz', k=np.array([5, 6], np.float32))
    args = ['custom.onnx', 'x:f32[2]=1']
    check('assume: without', minirt('run', *args)[0] == 4)
    check('assume: without, before it', outputs(*args, '--outputs=n') == {'n': [-1, -1]})
    got = outputs(*args, '--assume=assume.npz')
    check('assume: goes on', got == {'y': [-5, -6]}, got)
    check('assume: another tensor', minirt('run', *args, '--assume=other.npz')[0] == 4)


def test_progress():
    """A terminal shows no progress of a run of less than a second."""
    main, side = os.openpty()
    p = subprocess.Popen([BUILD / 'minirt', 'run', 'add.onnx', 'in.npz'], stdout=subprocess.DEVNULL, stderr=side)
    p.wait()
    os.close(side)
    os.set_blocking(main, False)
    try:
        said = os.read(main, 1000)
    except OSError:
        said = b''
    check('progress: none on a short run', said == b'', said)
    os.close(main)


def test_statuses():
    for name, data, status in ('empty.onnx', b'', 3), ('text.onnx', b'hello', 3):
        pathlib.Path(name).write_bytes(data)
        check(f'status: {name}', minirt('run', name)[0] == status)
    check('status: no file', minirt('run', 'nowhere.onnx')[0] == 9)
    check('status: no device', minirt('run', 'add.onnx', 'in.npz', '--device', 'cuda:99')[0] == 7)
    save('unknown.onnx', [helper.make_node('NoSuchOp', ['x'], ['y'])], [('x', FLOAT, [1])], [('y', FLOAT, [1])])
    check('status: unknown operator', minirt('run', 'unknown.onnx', 'x:f32[1]=1')[0] == 4)
    endless = helper.make_graph(
        [helper.make_node('Identity', ['go'], ['go_on']), helper.make_node('Add', ['v', 'v'], ['w'])], 'body',
        [helper.make_tensor_value_info('i', INT64, []), helper.make_tensor_value_info('go', TensorProto.BOOL, []),
         helper.make_tensor_value_info('v', FLOAT, [1])],
        [helper.make_tensor_value_info('go_on', TensorProto.BOOL, []), helper.make_tensor_value_info('w', FLOAT, [1])])
    save('endless.onnx', [helper.make_node('Loop', ['', 'go', 'x'], ['y'], body=endless)],
         [('go', TensorProto.BOOL, []), ('x', FLOAT, [1])], [('y', FLOAT, [1])])
    args = ['run', 'endless.onnx', 'go:bool=true', 'x:f32[1]=1']
    check('status: timeout', minirt(*args, '--timeout=0.2')[0] == 75)
    p = subprocess.Popen([BUILD / 'minirt', *args], stderr=subprocess.PIPE)
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)
    check('status: interrupted', p.wait(20) == 130, p.returncode)
    p.stderr.close()


def make_case(name, want=3, model='add.onnx', files=('a', 'b'), **extra):
    folder = pathlib.Path('cases') / name / 'test_data_set_0'
    folder.mkdir(parents=True, exist_ok=True)
    pathlib.Path(folder.parent, 'model.onnx').write_bytes(pathlib.Path(model).read_bytes())
    values = {'input_0': np.ones((2, 3), np.float32), 'input_1': np.full((2, 3), 2, np.float32),
              'output_0': np.full((2, 3), want, np.float32), 'output_1': np.full((2, 3), 6, np.float32), **extra}
    for file, value in values.items():
        if value is not None:
            (folder / f'{file}.pb').write_bytes(numpy_helper.from_array(np.asarray(value), '').SerializeToString())
    return folder


def test_conformance():
    true, one = np.array(True), np.ones(1, np.float32)
    make_case('good')
    make_case('close', want=3.0001)
    make_case('wrong', want=3.1)
    (make_case('loose', want=3.1).parent / 'tolerance').write_text('0.1 0\n')
    make_case('shape', output_1=np.full((2, 3, 1), 6, np.float32))
    make_case('dtype', output_1=np.full((2, 3), 6.0))
    make_case('count', output_1=None)
    make_case('missing', input_1=None)
    make_case('unknown', model='unknown.onnx', input_0=one, input_1=None, output_0=one, output_1=None)
    make_case('hang', model='endless.onnx', input_0=true, input_1=one, output_0=one, output_1=None)
    bernoulli = helper.make_node('Bernoulli', ['p'], ['y'], dtype=FLOAT)
    save('bernoulli.onnx', [bernoulli], [('p', FLOAT, [1000])], [('y', FLOAT, [1000])])
    p = np.linspace(0, 1, 1000, dtype=np.float32)
    make_case('chance', model='bernoulli.onnx', input_0=p, input_1=None, output_0=p, output_1=None)
    lines = {
        'chance': 'random chance: 0 or 1, 1 as often as the input says',
        'close': 'pass close',
        'count': 'fail count: outputs: the model has 2, test_data_set_0 has 1',
        'dtype': "fail dtype: output 1 'twice': type: got float32, want float64",
        'good': 'pass good',
        'hang': 'fail hang: hung: no verdict after 1 s',
        'loose': 'pass loose',
        'missing': "fail missing: E0501 missing input 'b' (float32 [n,3]); given: a",
        'shape': "fail shape: output 1 'twice': shape: got [2,3], want [2,3,1]",
        'unknown': "unsupported unknown: E0301 node 0 '' (NoSuchOp): ai.onnx has no operator NoSuchOp (opset 17)",
        'wrong': "fail wrong: output 0 'sum': 6 of 6 elements differ, first at [0,0]: got 3, want 3.1; "
                 'worst abs 0.1, rel 0.0323, ulp 419430',
    }
    last = '3 passed, 6 failed, 1 unsupported, 1 random'
    status, out, err = run('minirt-conformance', 'cases', '--timeout=1', '-j2', '--json=c.json', '--junit=c.xml', '--matrix=m.json')
    check('conformance: verdicts', out.splitlines() == [*lines.values(), last] and status == 1, out, err)
    report = json.loads(pathlib.Path('c.json').read_text())
    check('conformance: json', report['failed'] == 6 and len(report['cases']) == 11)
    suite = xml.etree.ElementTree.parse('c.xml').getroot()
    check('conformance: junit', suite.get('failures') == '6' and len(suite.findall('testcase')) == 11)
    rows = json.loads(pathlib.Path('m.json').read_text())['rows']
    check('conformance: matrix', {r['op'] for r in rows} == {'Add', 'NoSuchOp', 'Bernoulli'} and  # what hangs tells nothing
          next(r for r in rows if r['op'] == 'Bernoulli')['random'] == 1, rows)
    check('conformance: list', run('minirt-conformance', '--list', '-k', 'o', 'cases')[1].split() ==
          ['close', 'count', 'good', 'loose', 'unknown', 'wrong'])
    check('conformance: wildcard', run('minirt-conformance', '--list', '-k', '?o*', 'cases')[1].split() == ['count', 'good', 'loose'])

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
    out = run('minirt-conformance', 'cases/hang', preexec_fn=limit)[1]
    check('conformance: crash', out.startswith('fail hang: crashed with SIG'), out)

    status, _, err = run('minirt-conformance', 'cases', '--timeout=1', '--write-expected=e.txt')
    check('conformance: failures are never expected', status == 2 and not pathlib.Path('e.txt').exists() and
          err == "E1001 e.txt is not written: 'count' fails, and a failure is never expected\n", err)
    for name in 'count', 'dtype', 'hang', 'missing', 'shape', 'wrong':
        pathlib.Path('cases', name).rename(name)
    status, _, err = run('minirt-conformance', 'cases', '--write-expected=e.txt')
    text = pathlib.Path('e.txt').read_text() if status == 0 else err
    check('conformance: expected', text == 'chance random: 0 or 1, 1 as often as the input says\nclose pass\ngood pass\n'
          "loose pass\nunknown unsupported: E0301 node 0 '' (NoSuchOp): ai.onnx has no operator NoSuchOp (opset 17)\n", text)
    check('conformance: as expected', run('minirt-conformance', 'cases', '--expected=e.txt')[0] == 0)
    for change, line in {
        'good pass': 'good unsupported: x', 'close pass': 'closed pass', 'unknown unsupported': 'unknown pass',
    }.items():
        pathlib.Path('f.txt').write_text(text.replace(change, line))
        status, out, _ = run('minirt-conformance', 'cases', '--expected=f.txt')
        check(f'conformance: not as expected: {line}', status == 1 and 'differs ' in out, out)


def main():
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    prepare()
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            test()
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    sys.exit(bool(FAILED))


if __name__ == '__main__':
    main()
