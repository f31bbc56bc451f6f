#!/usr/bin/env python3
"""Gradient against differences of the function itself, in double; of second order; at other values than the tensors
named; and what is refused.

    tests/unit/ops/test_gradient.py [--build build]
"""
import argparse
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
DOUBLE, INT64 = TensorProto.DOUBLE, TensorProto.INT64
PASSED, FAILED = [], []
RNG = np.random.default_rng(7)


def check(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', *details, sep='\n  ')


def node(op, *inputs, out='y', **attrs):
    return helper.make_node(op, list(inputs), [out], **attrs)


def gradient(xs, outs, y='y', inputs=None, **more):
    return helper.make_node('Gradient', inputs or xs, outs, domain='ai.onnx.preview.training', xs=xs, y=y, name='grad', **more)


def save(name, nodes, inputs, outputs, constants, opset):
    """Ranks and extents are not declared: they are known only while running."""
    graph = helper.make_graph(
        nodes, 'g', [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), None) for n, v in inputs.items()],
        [helper.make_tensor_value_info(n, DOUBLE, None) for n in outputs],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    opsets = [helper.make_opsetid('', opset), helper.make_opsetid('ai.onnx.preview.training', 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10), TMP / f'{name}.onnx')
    return TMP / f'{name}.onnx'


def run(model, inputs, *options):
    np.savez(TMP / 'in.npz', **inputs)
    p = subprocess.run([BUILD / 'minirt', 'run', model, TMP / 'in.npz', '-o', TMP / 'out.npz', *options],
                       capture_output=True, check=False, text=True)
    return dict(np.load(TMP / 'out.npz')) if p.returncode == 0 else f'{p.returncode} {p.stderr}'


def differences(model, inputs, wrt, step=1e-5):
    """Of the sum of y, central: every element's two neighbours are one run each."""
    slopes = {}
    for name in wrt:
        base = inputs[name]
        slopes[name] = np.zeros_like(base)
        for at in np.ndindex(base.shape):
            ends = []
            for side in 1, -1:
                moved = base.copy()
                moved[at] += side * step
                got = run(model, {**inputs, name: moved})
                ends.append(np.sum(got['y']))
            slopes[name][at] = (ends[0] - ends[1]) / (2 * step)
    return slopes


def case(what, nodes, inputs, wrt, constants=None, opset=18):
    """y = sin(h), so that what comes back to h differs from element to element."""
    constants = constants or {}
    plain = save('plain', [*nodes, node('Sin', 'h')], inputs, ['y'], constants, opset)
    outs = [f'd_{x}' for x in wrt]
    graded = save('graded', [*nodes, node('Sin', 'h'), gradient(wrt, outs)], inputs, outs, constants, opset)
    want = differences(plain, inputs, wrt)
    for mode in 'fast', 'reference':
        got = run(graded, inputs, '--mode', mode)
        ok = isinstance(got, dict) and all(
            got[f'd_{x}'].shape == want[x].shape and np.allclose(got[f'd_{x}'], want[x], rtol=1e-6, atol=1e-7) for x in wrt)
        check(f'{what}, {mode}', ok, got, want)


def small(*shape, low=0.2, high=0.8):
    return RNG.uniform(low, high, shape)


def h(op, *inputs, **attrs):
    return node(op, *inputs, out='h', **attrs)


def test_elements():
    both = {'a': small(2, 2), 'b': small(2)}
    for op in 'Add', 'Sub', 'Mul', 'Div', 'Pow', 'Sum', 'Mean', 'Max', 'Min':
        case(op, [h(op, 'a', 'b')], both, ['a', 'b'])
    case('broadcast both ways', [h('Mul', 'a', 'b')], {'a': small(2, 1), 'b': small(1, 2)}, ['a', 'b'])
    case('scalar', [h('Mul', 'a', 'b')], {'a': small(), 'b': small(2)}, ['a', 'b'])
    for op in ('Neg', 'Abs', 'Exp', 'Log', 'Sqrt', 'Reciprocal', 'Sin', 'Cos', 'Tan', 'Asin', 'Acos', 'Atan', 'Sinh', 'Cosh',
               'Tanh', 'Asinh', 'Atanh', 'Erf', 'Sigmoid', 'Softplus', 'Softsign', 'Relu', 'LeakyRelu', 'Elu',
               'ThresholdedRelu', 'Identity', 'Floor', 'Sign'):
        low = 0.2 if op in ('Log', 'Sqrt', 'Reciprocal') else -0.8
        case(op, [h(op, 'x')], {'x': small(3, low=low)}, ['x'])
    case('Acosh', [h('Acosh', 'x')], {'x': small(2) + 2}, ['x'])
    case('alpha', [h('LeakyRelu', 'x', alpha=0.25)], {'x': np.float64([-1, 2])}, ['x'])
    case('Clip', [h('Clip', 'x', 'low', 'high')], {'x': np.float64([-2, 0.1, 2])}, ['x'], {'low': -1.0, 'high': 1.0})
    case('Where', [h('Where', 'c', 'a', 'b')], both, ['a', 'b'], {'c': np.array([True, False])})
    case('used twice', [node('Exp', 'x', out='e'), h('Mul', 'e', 'x')], {'x': small(2)}, ['x'])


def test_shapes():
    x = {'x': small(2, 3)}
    case('Transpose', [h('Transpose', 'x')], x, ['x'])
    case('Transpose perm', [h('Transpose', 'x', perm=[1, 2, 0])], {'x': small(1, 2, 2)}, ['x'])
    case('Reshape', [h('Reshape', 'x', 's')], x, ['x'], {'s': [3, -1]})
    case('Flatten', [h('Flatten', 'x')], x, ['x'])
    case('Unsqueeze', [h('Unsqueeze', 'x', 'i')], x, ['x'], {'i': [0]})
    case('Squeeze', [h('Squeeze', 'x', 'i')], {'x': small(1, 2)}, ['x'], {'i': [0]})
    case('Slice', [h('Slice', 'x', 'i', 'e', 'a', 's')], x, ['x'], {'i': [2], 'e': [-9], 'a': [1], 's': [-2]})
    case('Gather, twice the same', [h('Gather', 'x', 'i', axis=1)], x, ['x'], {'i': [0, 2, 0]})
    case('GatherElements', [h('GatherElements', 'x', 'i', axis=1)], x, ['x'], {'i': [[0, 0], [2, 1]]})
    case('Tile', [h('Tile', 'x', 'i')], x, ['x'], {'i': [2, 1]})
    case('Expand', [h('Expand', 'x', 'i')], {'x': small(2, 1)}, ['x'], {'i': [2, 2, 3]})
    case('Concat', [h('Concat', 'a', 'b', axis=-1)], {'a': small(2, 1), 'b': small(2, 2)}, ['a', 'b'])
    case('Split', [helper.make_node('Split', ['x'], ['p', 'q'], axis=1, num_outputs=2), h('Mul', 'p', 'p')],
         {'x': small(2, 2)}, ['x'])


def test_sums():
    for what, a, b in (('matrices', (2, 3), (3, 2)), ('vectors', (3,), (3,)), ('row', (3,), (3, 2)), ('column', (2, 3), (3,)),
                       ('batch', (2, 1, 2), (2, 2)), ('batch and vector', (2, 2, 2), (2,)), ('both', (2, 1, 1, 2), (2, 2, 1))):
        case(f'MatMul {what}', [h('MatMul', 'a', 'b')], {'a': small(*a), 'b': small(*b)}, ['a', 'b'])
    for ta in 0, 1:
        for tb in 0, 1:
            inputs = {'a': small(*((3, 2) if ta else (2, 3))), 'b': small(*((1, 3) if tb else (3, 1))), 'c': small(1)}
            case(f'Gemm {ta}{tb}', [h('Gemm', 'a', 'b', 'c', transA=ta, transB=tb, alpha=0.5, beta=2.0)], inputs,
                 ['a', 'b', 'c'])
    for op in ('ReduceSum', 'ReduceMean', 'ReduceSumSquare', 'ReduceL1', 'ReduceL2', 'ReduceLogSum', 'ReduceLogSumExp',
               'ReduceProd'):
        case(op, [h(op, 'x', 'i', keepdims=0)], {'x': small(2, 2)}, ['x'], {'i': [1]})
        case(f'{op} of all', [h(op, 'x')], {'x': small(3)}, ['x'])
    case('ReduceMean with axes of old', [h('ReduceMean', 'x', axes=[0], keepdims=0)], {'x': small(2, 2)}, ['x'], opset=13)
    case('Softmax', [h('Softmax', 'x', axis=0)], {'x': small(2, 2)}, ['x'])
    case('LogSoftmax', [h('LogSoftmax', 'x')], {'x': small(2, 2)}, ['x'])


def test_network():
    nodes = [node('Gemm', 'x', 'w', 'b', out='a'), node('Tanh', 'a', out='t'), node('MatMul', 't', 'v', out='o'),
             node('Softmax', 'o', out='p'), node('Log', 'p', out='l'), h('ReduceMean', 'l', keepdims=0)]
    inputs = {'x': small(2, 2), 'w': small(2, 3), 'b': small(3), 'v': small(3, 2)}
    case('two layers', nodes, inputs, ['w', 'b', 'v'])


def same(what, got, **want):
    ok = isinstance(got, dict) and all(np.allclose(got[k], v, rtol=1e-12) for k, v in want.items())
    check(what, ok, got, want)


def test_graph():
    x, z = np.float64([1, 2]), np.float64([3, 5])
    cube = [node('Mul', 'x', 'x', out='s'), node('Mul', 's', 'x')]
    model = save('second', [*cube, gradient(['x'], ['d']), gradient(['x'], ['dd'], y='d')], {'x': x}, ['d', 'dd'], {}, 18)
    for mode in 'fast', 'reference':
        same(f'second order, {mode}', run(model, {'x': x}, '--mode', mode), d=3 * x**2, dd=6 * x)
    model = save('between', [*cube, gradient(['s', 'x'], ['ds', 'dx'])], {'x': x}, ['ds', 'dx'], {}, 18)
    same('of a tensor within', run(model, {'x': x}), ds=x, dx=x**2)
    model = save('elsewhere', [*cube, gradient(['x'], ['d'], inputs=['z'])], {'x': x, 'z': z}, ['d'], {}, 18)
    same('at another value', run(model, {'x': x, 'z': z}), d=3 * z**2)
    model = save('fixed', [node('Mul', 'x', 'z'), gradient(['x'], ['d'], zs=['z'], inputs=['x', 'z'])], {'x': x, 'z': z},
                 ['d'], {}, 18)
    same('zs', run(model, {'x': x, 'z': z}), d=z)
    model = save('none', [node('Exp', 'x'), gradient(['x', 'z'], ['', 'd'])], {'x': x, 'z': z}, ['d'], {}, 18)
    same('no part of y', run(model, {'x': x, 'z': z}), d=0 * z)


def test_refusals():
    x = {'x': small(1, 1, 3)}
    for what, nodes, words in (
            ('no rule', [node('CumSum', 'x', 'i', out='c'), node('Exp', 'c'), gradient(['x'], ['d'])],
             ("'grad'", 'CumSum-14', 'no rule')),
            ('no such tensor', [node('Exp', 'x'), gradient(['x'], ['d'], y='nope')], ("'nope'", 'no tensor')),
            ('inputs', [node('Exp', 'x'), gradient(['x'], ['d'], inputs=['x', 'x'])], ('2 inputs', 'name 1'))):
        got = run(save('bad', nodes, x, ['d'], {'i': 0}, 18), x)
        check(what, isinstance(got, str) and all(w in got for w in words), got)


with tempfile.TemporaryDirectory() as folder:
    TMP = pathlib.Path(folder)
    for test in test_elements, test_shapes, test_sums, test_network, test_graph, test_refusals:
        test()
print(f'{len(PASSED)} passed, {len(FAILED)} failed')
sys.exit(bool(FAILED))
