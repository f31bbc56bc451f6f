#!/usr/bin/env python3
"""`minirt info`: what it says of a file, operations against numbers worked out by hand, and the plan.
usage: test_info.py --build BUILD"""
import json, os, subprocess, sys, tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

build = os.path.abspath(sys.argv[sys.argv.index('--build') + 1])
digits = os.path.join(os.path.dirname(__file__), '../../examples/digits/digits.onnx')
FLOAT, INT64, UINT8, INT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8, TensorProto.INT8
node, value = helper.make_node, helper.make_tensor_value_info
passed = failed = 0


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


def info(*args):
    p = subprocess.run([f'{build}/minirt', 'info', *map(str, args)], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def document(*args):
    status, out, err = info(*args, '--json')
    check(f'info {args}', status == 0, err)
    return json.loads(out)


def save(nodes, inputs, outputs, weights=(), opset=17, path='m.onnx', functions=(), domains=(), **more):
    graph = helper.make_graph(nodes, 'g', inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in weights])
    opsets = [helper.make_opsetid('', opset), *(helper.make_opsetid(d, 1) for d in domains)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=list(functions), **more), path)
    return path


def flops_of(nodes, inputs, outputs=('y',), weights=(), **more):
    """Operations of the model, its inputs being (name, type, shape) or (name, shape)."""
    ins = [value(i[0], i[1] if len(i) > 2 else FLOAT, i[-1]) for i in inputs]
    outs = [onnx.ValueInfoProto(name=o) for o in outputs]
    return document(save(nodes, ins, outs, weights, **more))['flops']['total']


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def test_flops():
    x4 = ('x', [2, 6, 10, 10])
    conv = node('Conv', ['x', 'w', 'b'], ['y'], pads=[1, 1, 1, 1], strides=[2, 2], group=3)
    taps = 2 * 3 * 3
    cases = [
        ('Conv in groups, strided, with bias', [conv], [x4], [('w', zeros(9, 2, 3, 3)), ('b', zeros(9))],
         2 * 9 * 5 * 5 * (2 * taps + 1)),
        ('ConvTranspose', [node('ConvTranspose', ['x', 'w'], ['y'], strides=[2, 2])], [x4], [('w', zeros(6, 5, 2, 2))],
         2 * 6 * 10 * 10 * 2 * 5 * 2 * 2),
        ('MatMul of a batch', [node('MatMul', ['x', 'w'], ['y'])], [('x', [3, 4, 5])], [('w', zeros(5, 7))],
         2 * 3 * 4 * 5 * 7),
        ('Gemm, turned, scaled, with C', [node('Gemm', ['x', 'w', 'c'], ['y'], transA=1, alpha=2.0, beta=3.0)],
         [('x', [5, 4])], [('w', zeros(5, 7)), ('c', zeros(7))], 2 * 4 * 5 * 7 + 3 * 4 * 7),
        ('MatMulInteger', [node('MatMulInteger', ['x', 'w'], ['y'])], [('x', UINT8, [4, 5])],
         [('w', zeros(5, 7, dtype=np.int8))], 2 * 4 * 5 * 7),
        ('Einsum', [node('Einsum', ['x', 'w'], ['y'], equation='bij,bjk->bik')], [('x', [2, 3, 4])],
         [('w', zeros(2, 4, 5))], 2 * 2 * 3 * 4 * 5),
        ('Einsum, an outer product', [node('Einsum', ['x', 'w'], ['y'], equation='i,j->ij')], [('x', [3])],
         [('w', zeros(4))], 12),
        ('LSTM', [node('LSTM', ['x', 'w', 'r'], ['y'], hidden_size=8)], [('x', [5, 2, 3])],
         [('w', zeros(1, 32, 3)), ('r', zeros(1, 32, 8))], 2 * 5 * 2 * 4 * 8 * (3 + 8)),
        ('MaxPool', [node('MaxPool', ['x'], ['y'], kernel_shape=[2, 3], strides=[2, 2])], [x4], [],
         2 * 6 * 5 * 4 * 2 * 3),
        ('GlobalAveragePool', [node('GlobalAveragePool', ['x'], ['y'])], [x4], [], 2 * 6 * 10 * 10),
        ('ReduceSum', [node('ReduceSum', ['x'], ['y'])], [('x', [3, 4])], [], 12),
        ('Softmax', [node('Softmax', ['x'], ['y'])], [('x', [3, 4])], [], 5 * 12),
        ('LayerNormalization', [node('LayerNormalization', ['x', 'w'], ['y'])], [('x', [3, 4])], [('w', zeros(4))], 7 * 12),
        ('BatchNormalization', [node('BatchNormalization', ['x', *'wbmv'], ['y'])], [('x', [3, 4])],
         [(k, zeros(4)) for k in 'wbmv'], 2 * 12),
        ('LpNormalization', [node('LpNormalization', ['x'], ['y'])], [('x', [3, 4])], [], 3 * 12),
        ('GRU, both ways', [node('GRU', ['x', 'w', 'r'], ['y'], hidden_size=8, direction='bidirectional')], [('x', [5, 2, 3])],
         [('w', zeros(2, 24, 3)), ('r', zeros(2, 24, 8))], 2 * 5 * 2 * 2 * 3 * 8 * (3 + 8)),
        ('Clip', [node('Clip', ['x', 'lo', 'hi'], ['y'])], [('x', [3, 4])], [('lo', zeros()), ('hi', zeros())], 2 * 12),
        ('ReduceMean over an axis', [node('ReduceMean', ['x'], ['y'], axes=[1])], [('x', [3, 4])], [], 12),
        ('Add, broadcast', [node('Add', ['x', 'w'], ['y'])], [('x', [3, 1])], [('w', zeros(4))], 12),
        ('Sum of three', [node('Sum', ['x', 'x', 'x'], ['y'])], [('x', [3, 4])], [], 24),
        ('Relu', [node('Relu', ['x'], ['y'])], [('x', [3, 4])], [], 12),
        ('moves and casts are nothing', [node('Transpose', ['x'], ['t']), node('Cast', ['t'], ['y'], to=INT64)],
         [('x', [3, 4])], [], 0),
    ]
    for what, nodes, inputs, weights, want in cases:
        got = flops_of(nodes, inputs, weights=weights)
        check(what, got == want, (got, want))
    got = flops_of([node('Attention', ['q', 'k', 'v'], ['y'])],
                   [('q', [2, 8, 3, 16]), ('k', [2, 4, 5, 16]), ('v', [2, 4, 5, 32])], opset=23)
    check('Attention', got == 2 * 8 * 3 * 5 * (2 * 16 + 2 * 32 + 5), got)
    q = [('x', np.float32(1)), ('xz', np.uint8(0)), ('w', zeros(4, 3, 3, 3, dtype=np.uint8)), ('ws', np.float32(1)),
         ('wz', np.uint8(0)), ('ys', np.float32(1)), ('yz', np.uint8(0))]
    got = flops_of([node('QLinearConv', ['a', 'x', 'xz', 'w', 'ws', 'wz', 'ys', 'yz'], ['y'])],
                   [('a', UINT8, [1, 3, 5, 5])], weights=q)
    check('QLinearConv', got == 2 * 4 * 9 * 27, got)


def test_control():
    x = value('x', FLOAT, [4])
    body = helper.make_graph([node('Add', ['s', 's'], ['t']), node('Identity', ['c'], ['d'])], 'body',
                             [value('i', INT64, []), value('c', TensorProto.BOOL, []), value('s', FLOAT, [4])],
                             [value('d', TensorProto.BOOL, []), value('t', FLOAT, [4])])
    loop = node('Loop', ['m', '', 'x'], ['y'], 'rounds', body=body)
    path = save([loop], [x], [value('y', FLOAT, [4])], [('m', np.int64(6))])
    d = document(path)
    check('a Loop counts its rounds', d['flops']['total'] == 6 * 4, d['flops'])
    check('nodes of subgraphs', d['nodes'] == {'main': 1, 'subgraphs': 2}, d['nodes'])
    add = next(o for o in d['operators'] if o['op'] == 'Add')
    check('operators of subgraphs', (add['main'], add['subgraphs']) == (0, 1), add)
    _, out, _ = info(path)
    check('subgraphs in words', '3 nodes, 2 of them in subgraphs' in out and '1 in subgraphs' in out, out)
    d = document(save([loop], [x, value('m', INT64, [])], [value('y', FLOAT, [4])]))
    check('a Loop of unknown length', d['flops'] == {'total': None, 'known': 0, 'hangs_on': ['values']}, d['flops'])
    then = helper.make_graph([node('Exp', ['x'], ['a'])], 'then', [], [value('a', FLOAT, [4])])
    other = helper.make_graph([node('Add', ['x', 'x'], ['b']), node('Mul', ['b', 'x'], ['c'])], 'else', [],
                              [value('c', FLOAT, [4])])
    branch = node('If', ['p'], ['y'], then_branch=then, else_branch=other)
    got = document(save([branch], [x, value('p', TensorProto.BOOL, [])], [value('y', FLOAT, [4])]))['flops']['total']
    check('an If counts the branch that does more', got == 8, got)


def test_functions():
    twice = helper.make_function('my', 'Twice', ['a'], ['b'], [node('Add', ['a', 'a'], ['t']), node('Relu', ['t'], ['b'])],
                                 [helper.make_opsetid('', 17)])
    nodes = [node('Twice', ['x'], ['u'], domain='my'), node('Twice', ['u'], ['y'], domain='my')]
    path = save(nodes, [value('x', FLOAT, [4])], [value('y', FLOAT, [4])], functions=[twice], domains=['my'])
    d = document(path)
    ops = {o['op']: o for o in d['operators']}
    check('calls count as nodes', d['nodes'] == {'main': 2, 'subgraphs': 0} and ops['Twice']['main'] == 2, d)
    check('what they became', ops['Twice']['expanded'] == 4 and ops['Relu']['functions'] == 2, ops)
    check('operations of calls', ops['Twice']['flops'] == 16 == d['flops']['total'], d['flops'])
    _, out, _ = info(path)
    check('functions in words', 'a function, 4 nodes' in out and '2 in functions' in out, out)


def test_symbols():
    weights = [('w', zeros(16, 32)), ('n', np.array([1, 2], np.int64))]
    inputs = [value('x', FLOAT, ['batch', 16]), value('n', INT64, [2])]
    path = save([node('MatMul', ['x', 'w'], ['y'])], inputs, [value('y', FLOAT, ['batch', 32])], weights,
                producer_name='maker', producer_version='2')
    model = onnx.load(path)
    helper.set_model_props(model, {'licence': 'free'})
    onnx.save(model, path)
    d = document(path)
    check('symbolic dims', d['inputs'][0]['shape'] == ['batch', 16] and d['outputs'][0]['shape'] == ['batch', 32], d['inputs'])
    check('a default', [i['default'] for i in d['inputs']] == [False, True], d['inputs'])
    check('what it hangs on', d['flops'] == {'total': None, 'known': 0, 'hangs_on': ['batch']}, d['flops'])
    check('the file', d['file']['bytes'] == os.path.getsize(path) and d['file']['ir_version'] == 8 and
          d['file']['opsets'] == [{'domain': '', 'version': 17}] and d['file']['producer'] == 'maker' and
          d['file']['metadata'] == {'licence': 'free'}, d['file'])
    check('parameters', d['parameters']['types'] == {'float32': {'tensors': 1, 'elements': 512, 'bytes': 2048},
                                                     'int64': {'tensors': 1, 'elements': 2, 'bytes': 16}}, d['parameters'])
    _, out, _ = info(path)
    for words in ('float32[batch,16]', 'has a default', 'hang on batch', '-s batch=1 sets it', 'maker 2', 'licence = free',
                  'MatMul-13', '514 in 2 tensors'):
        check(f'words: {words}', words in out, out)
    d = document(path, '-s', 'batch=8')
    check('a symbol set', d['flops']['total'] == 2 * 8 * 16 * 32 and d['outputs'][0]['shape'] == [8, 32], d['flops'])
    _, out, _ = info(path, '-s', 'batch=800')
    check('in words', 'float32[800,16]' in out and 'float32[800,32]' in out and '819200, a multiply' in out, out)
    check('large counts', '1.02 T, ' in info(path, '-s', 'batch=1000000000')[1])
    d = document(path, '--shape', 'x=3x16')
    check('a shape set', d['flops']['total'] == 2 * 3 * 16 * 32, d['flops'])
    np.save('x.npy', zeros(5, 16))
    check('a given input', document(path, 'x.npy')['flops']['total'] == 2 * 5 * 16 * 32)
    unnamed = save([node('Relu', ['x'], ['y'])], [value('x', FLOAT, [None, 16])], [onnx.ValueInfoProto(name='y')])
    status, out, _ = info(unnamed)
    check('dims without a name', status == 0 and 'dims without a name' in out and '--shape' in out, out)
    constant = node('Constant', [], ['k'], value=numpy_helper.from_array(zeros(4)))
    d = document(save([constant, node('Add', ['x', 'k'], ['y'])], [value('x', FLOAT, [4])], [value('y', FLOAT, [4])]))
    check('constants', d['parameters']['constants'] == {'tensors': 1, 'elements': 4, 'bytes': 16}, d['parameters'])


def test_plan():
    nodes = [node('Shape', ['x'], ['s']), node('Reshape', ['x', 'flat'], ['r'], 'flatten'), node('Exp', ['r'], ['e'], 'grow'),
             node('Relu', ['e'], ['f'], 'clip'), node('MatMul', ['f', 'w'], ['p'], 'product'), node('Neg', ['p'], ['y'], 'last')]
    path = save(nodes, [value('x', FLOAT, ['n', 4, 4])], [value('y', FLOAT, ['n', 3]), value('s', INT64, [3])],
                [('flat', np.array([0, 16], np.int64)), ('w', zeros(16, 3))])
    plain = ('--optimize', '0')
    p = document(path, '-s', 'n=2', '--plan', *plain)['plan']
    steps = {s['name']: s for s in p['steps']}
    check('the order', [s['name'] for s in p['steps']] == ['flatten', 'grow', 'clip', 'product', 'last'], p)
    check('a view', steps['flatten']['kernel'] == 'view' and steps['flatten']['outputs'][0]['place'] == 'view of x', steps)
    check('in place', steps['clip']['outputs'][0]['place'] == 'in place of e', steps['clip'])
    check('a kernel', steps['product']['kernel'] == 'matmul', steps['product'])
    check('shapes', steps['product']['outputs'][0]['shape'] == [2, 3] and steps['grow']['outputs'][0]['bytes'] == 128, steps)
    check('folded', len(p['folded']) == 1, p['folded'])
    m = p['memory']
    check('the peak', m['complete'] and m['peak_bytes'] >= 128 and m['holders'][0] ==
          {'name': 'e', 'shape': [2, 16], 'bytes': 128}, m)
    parts = sum(m[k] for k in ('tensors', 'outputs', 'scratch', 'carried', 'packed', 'folded', 'weights'))
    check('its parts', parts == m['peak_bytes'], m)
    _, out, _ = info(path, '-s', 'n=2', '--plan', *plain)
    for words in ('view of x', 'in place of e', 'folded before the run, 1:', 'tensors, most at step', 'memory: '):
        check(f'words: {words}', words in out, out)
    check('unknown dims', not document(path, '--plan', *plain)['plan']['memory']['complete'])
    check('made-up inputs', document(path, '-s', 'n=2', '--random', '--plan')['plan']['memory']['complete'])
    p = document(path, '-s', 'n=2', '--plan', '--mode', 'reference')['plan']
    check('another mode', p['mode'] == 'reference' and p['optimize'] == 0, p)
    p = document(path, '-s', 'n=2', '--plan', '--device', 'cuda-host')['plan']
    check('another device', p['device'] == 'cuda-host' and p['memory']['device'] > 0 and
          any(s['kernel'] == 'copy to host' for s in p['steps']), p)


def test_refusals():
    bad = save([node('Strange', ['x'], ['y'], domain='com.example')], [value('x', FLOAT, [1])], [value('y', FLOAT, [1])],
               domains=['com.example'])
    status, out, err = info(bad)
    check('what cannot run has facts too', status == 0 and 'com.example::Strange' in out, (status, err))
    status, out, err = info(bad, '--plan')
    check('but no plan', status == 4 and 'E0303' in err and 'com.example::Strange' in out, (status, err))
    check('a missing file', info('none.onnx')[0] == 9)
    open('text.onnx', 'w').write('no model')
    status, out, _ = info('text.onnx', '--json')
    check('not a model', status == 3 and 'error' in json.loads(out), out)
    check('an unknown symbol', info(digits, '-s', 'M=1')[0] == 2)


def test_digits():
    d = document(digits, '-s', 'N=1')
    conv = 8 * 8 * 16 * (2 * 9 + 1) + 4 * 4 * 32 * (2 * 16 * 9 + 1)
    rest = 8 * 8 * 16 + 4 * 4 * 32 + 16 * 4 * 4 * 4 + 2 * 512 * 10 + 10 + 50
    check('digits: operations', d['flops']['total'] == conv + rest, d['flops'])
    check('digits: parameters', d['parameters']['elements'] == 16 * 9 + 16 + 32 * 16 * 9 + 32 + 5120 + 10, d['parameters'])
    status, out, err = info(digits, '--plan')
    check('digits: a plan with an open dim', status == 0 and 'sized while running' in out, (out, err))
    help_text = subprocess.run([f'{build}/minirt', 'man'], capture_output=True, text=True).stdout
    complete = subprocess.run([f'{build}/minirt', 'completion'], capture_output=True, text=True).stdout
    check('the manual and the completion have it', 'minirt info' in help_text and 'info' in complete)


digits = os.path.abspath(digits)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in [f for name, f in list(globals().items()) if name.startswith('test_')]:
        test()
print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
