#!/usr/bin/env python3
"""The rewriter: each rule on a graph that it fits and on graphs that it nearly fits, by what the plan says and by the
outputs at --optimize 0 and 2.

    tests/unit/test_rewrite.py [--build build]
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
FLOAT = TensorProto.FLOAT
PASSED, FAILED = [], []
LEVEL = None  # of the kernels: the best
RANDOM = np.random.default_rng(1)


def check(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what} ({LEVEL or "best"} kernels)', *details, sep='\n  ')


def minirt(*args):
    env = {**os.environ, **({'MINIRT_ISA': LEVEL} if LEVEL else {})}
    p = subprocess.run([BUILD / 'minirt', *map(str, args)], capture_output=True, check=False, text=True, env=env)
    return p.returncode, p.stdout, p.stderr


def node(op, inputs, outputs, **attrs):
    return helper.make_node(op, inputs.split(), outputs.split(), name=f'n_{outputs.split()[0]}', **attrs)


def array(name, *shape, low=-1.0, high=1.0):
    return numpy_helper.from_array(RANDOM.uniform(low, high, shape).astype(np.float32), name)


def number(name, v, dtype=np.float32):
    return numpy_helper.from_array(np.array(v, dtype), name)


class Graph:
    """A model in a file, with values for its inputs."""

    def __init__(self, nodes, inputs, outputs, initializers=(), opset=20, overridable=()):
        self.feeds = {n: RANDOM.uniform(-2, 2, [d if isinstance(d, int) else 3 for d in s]).astype(np.float32)
                      for n, s in inputs.items()}
        infos = [helper.make_tensor_value_info(n, FLOAT, s) for n, s in inputs.items()]
        infos += [helper.make_tensor_value_info(i.name, FLOAT, list(i.dims)) for i in initializers
                  if i.name in overridable]
        outs = [helper.make_tensor_value_info(n, FLOAT, None) for n in outputs]
        graph = helper.make_graph(nodes, 'g', infos, outs, list(initializers))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=9)
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=TMP))
        self.path = self.dir / 'm.onnx'
        onnx.save(model, self.path)
        for n, v in self.feeds.items():
            np.save(self.dir / f'{n}.npy', v)

    def args(self):
        return [f'{n}={self.dir / n}.npy' for n in self.feeds]

    def outputs(self, level, *more):
        out = self.dir / f'out{level}.npz'
        status, text, err = minirt('run', self.path, *self.args(), *more, '--optimize', level, '-o', out)
        return dict(np.load(out)) if status == 0 else f'{status} {err}{text}'

    def plan(self, level=2):
        """The steps, each as the operators that it stands for."""
        status, text, err = minirt('info', self.path, '--plan', *self.args(), '--optimize', level, '--json')
        return [s['op'] for s in json.loads(text)['plan']['steps']] if status == 0 else [f'{status} {err}']


def same(what, g, exact, *more):
    a, b = g.outputs(0, *more), g.outputs(2, *more)
    ok = isinstance(a, dict) and isinstance(b, dict) and a.keys() == b.keys()
    for k in a if ok else ():
        ok &= a[k].shape == b[k].shape and a[k].dtype == b[k].dtype
        ok &= np.array_equal(a[k], b[k], equal_nan=True) if exact else np.allclose(a[k], b[k], 1e-4, 1e-5, True)
    check(f'{what}: outputs', ok, a, b)


def fits(what, g, steps, exact=True):
    """All becomes these steps, each the operators of the file joined."""
    check(f'{what}: plan', g.plan() == steps, f'want {steps}', f'got  {g.plan()}')
    same(what, g, exact)


def stays(what, g, apart, exact=True):
    """No step has both operators."""
    plan = g.plan()
    check(f'{what}: plan', not any(all(op in s for op in apart) for s in plan), f'{apart} in {plan}')
    same(what, g, exact)


def conv(more, outputs=('y',), extra=(), **kw):
    weights = [array('w', 8, 4, 3, 3), array('b', 8)]
    return Graph([node('Conv', 'x w b', 'c', pads=[1, 1, 1, 1]), *more], {'x': [2, 4, 9, 10]}, outputs,
                 [*weights, *extra], **kw)


def test_front():
    fits('Conv and Relu', conv([node('Relu', 'c', 'y')]), ['Conv-11 + Relu-14'])
    fits('Conv and Clip', conv([node('Clip', 'c l h', 'y')], extra=[number('l', 0), number('h', 0.5)]),
         ['Conv-11 + Clip-13'])
    g = Graph([node('Conv', 'x w', 'c', pads=[1, 1, 1, 1]), node('Add', 'z c', 'a'), node('Relu', 'a', 'y')],
              {'x': [2, 4, 8, 8], 'z': [2, 8, 8, 8]}, ['y'], [array('w', 8, 4, 3, 3)])
    fits('Conv, residual and Relu', g, ['Conv-11 + Add-14 + Relu-14'])
    channels = conv([node('Mul', 'c s', 'a'), node('Sub', 't a', 'y')],
                    extra=[array('s', 1, 8, 1, 1), array('t', 8, 1, 1)])
    fits('channel operands, either side', channels, ['Conv-11 + Mul-14 + Sub-14'])
    for shape, label in (([2, 1, 1, 1], 'batch'), ([9, 10], 'map'), ([10], 'row'), ([2, 1, 9, 1], 'column')):
        fits(f'operand by {label}', conv([node('Add', 'c s', 'y')], extra=[array('s', *shape)]), ['Conv-11 + Add-14'])
    for w, group, label in (([8, 1, 3, 3], 4, 'depthwise'), ([64, 4, 1, 1], 1, 'pointwise')):
        g = Graph([node('Conv', 'x w', 'c', group=group), node('LeakyRelu', 'c', 'y', alpha=0.3)], {'x': [2, 4, 9, 10]},
                  ['y'], [array('w', *w)])
        fits(f'{label} Conv', g, ['Conv-11 + LeakyRelu-16'])
    products = [array('w', 16, 33), array('b', 33)]
    for op, x in (('MatMul', [5, 16]), ('MatMul', [2, 5, 16]), ('Gemm', [5, 16])):
        g = Graph([node(op, 'x w', 'm'), node('Add', 'b m', 'a'), node('Tanh', 'a', 'y')], {'x': x}, ['y'], products)
        fits(f'{op} of {x}, bias and Tanh', g, [f'{op}-13 + Add-14 + Tanh-13'])


def test_gemm_c():
    for shape in ([33], [1, 33], [5, 1], [5, 33], []):
        g = Graph([node('Gemm', 'x w c', 'm'), node('Relu', 'm', 'y')], {'x': [5, 16]}, ['y'],
                  [array('w', 16, 33), array('c', *shape)])
        fits(f'Gemm with C {shape} and Relu', g, ['Gemm-13 + Relu-14'])
    g = Graph([node("Gemm", "x w c", "y", beta=0.5, alpha=2.0)], {"x": [5, 16]}, ["y"],
              [array("w", 16, 33), array("c", 33)])
    same('Gemm with beta', g, True)


def test_front_stays():
    relu = node('Relu', 'c', 'r')
    stays('another reader', conv([relu, node('Neg', 'c', 'n'), node('Add', 'r n', 'y')]), ('Conv', 'Relu'))
    stays('an output in between', conv([node('Relu', 'c', 'y')], ('y', 'c')), ('Conv', 'Relu'))
    stays('an output that is larger', conv([node('Add', 'c s', 'y')], extra=[array('s', 2, 2, 8, 9, 10)]),
          ('Conv', 'Add'))
    stays('read twice by one node', conv([node('Mul', 'c c', 'y')]), ('Conv', 'Mul'))
    body = helper.make_graph([node('Neg', 'c', 'v')], 'b', [], [helper.make_tensor_value_info('v', FLOAT, None)])
    cond = node('If', 'k', 'i', then_branch=body, else_branch=body)
    known = numpy_helper.from_array(np.array(True), 'k')
    stays('captured by a body', conv([relu, cond, node('Add', 'r i', 'y')], extra=[known]), ('Conv', 'Relu'))


def batchnorm(extra_nodes=(), outputs=('y',), **kw):
    norm = [array('s', 8), array('t', 8), array('m', 8), array('v', 8, low=0.5, high=2)]
    return conv([node('BatchNormalization', 'c s t m v', 'y', epsilon=1e-3), *extra_nodes], outputs, norm, **kw)


def test_batchnorm():
    fits('Conv and BatchNormalization', batchnorm(), ['Conv-11 + BatchNormalization-15'], exact=False)
    fits('… and Relu', batchnorm([node('Relu', 'y', 'z')], ('z',)), ['Conv-11 + BatchNormalization-15 + Relu-14'],
         exact=False)
    stays('its Conv is an output', batchnorm(outputs=('y', 'c')), ('Conv', 'Batch'))
    g = batchnorm(overridable=('s',))
    fits('a scale that is left to its initializer', g, ['Conv-11 + BatchNormalization-15'], exact=False)
    np.save(g.dir / 's.npy', RANDOM.uniform(-1, 1, 8).astype(np.float32))
    g.feeds['s'] = None
    stays('a scale that is given', g, ('Conv', 'Batch'))


def test_chain():
    def chain(more, inputs=None, outputs=('y',), extra=()):
        return Graph(more, inputs or {'x': [3, 5, 7]}, outputs, extra)
    two = [node('Exp', 'x', 'a'), node('Mul', 'a s', 'b'), node('Sub', 'b x', 'y')]
    fits('functions in one pass', chain(two, extra=[array('s', 5, 1)]), ['Exp-13 + Mul-14 + Sub-14'])
    fits('an operand that is larger first', chain([node('Add', 's x', 'a'), node('Neg', 'a', 'y')],
                                                  {'x': [7], 's': [3, 5, 7]}), ['Add-14 + Neg-13'])
    stays('an output in between', chain([node('Exp', 'x', 'a'), node('Neg', 'a', 'y')], outputs=('y', 'a')),
          ('Exp', 'Neg'))
    stays('a value that grows', chain([node('Exp', 'x', 'a'), node('Add', 'a s', 'y')], {'x': [7], 's': [3, 5, 7]}),
          ('Exp', 'Add'))


def gelu(form, root=np.sqrt(2.0), half=0.5):
    numbers = [number('r', root), number('one', 1), number('h', half), number('ir', 1 / root)]
    u = node('Mul', 'x ir', 'u') if form == 'Mul' else node('Div', 'x r', 'u')
    last = {'outer': [node('Mul', 'x p', 'q'), node('Mul', 'q h', 'y')],
            'inner': [node('Mul', 'h p', 'q'), node('Mul', 'x q', 'y')],
            'front': [node('Mul', 'x h', 'q'), node('Mul', 'q p', 'y')]}[form if form != 'Mul' else 'outer']
    return Graph([u, node('Erf', 'u', 'e'), node('Add', 'e one', 'p'), *last], {'x': [4, 33]}, ['y'], numbers)


def test_gelu():
    for form in ('outer', 'inner', 'front', 'Mul'):
        g = gelu(form)
        check(f'Gelu, {form}: one step', len(g.plan()) == 1 and 'Erf' in g.plan()[0], g.plan())
        same(f'Gelu, {form}', g, False)
    for what, g in (('another divisor', gelu('outer', root=1.5)), ('another factor', gelu('outer', half=0.25))):
        same(f'Gelu, {what}', g, True)
    numbers = [number('c', np.sqrt(2 / np.pi)), number('k', 0.044715), number('three', 3), number('one', 1),
               number('h', 0.5)]
    g = Graph([node('Pow', 'x three', 'p'), node('Mul', 'p k', 'q'), node('Add', 'x q', 's'), node('Mul', 's c', 'u'),
               node('Tanh', 'u', 't'), node('Add', 't one', 'v'), node('Mul', 'x h', 'w'), node('Mul', 'w v', 'y')],
              {'x': [4, 33]}, ['y'], numbers)
    check('Gelu with Tanh: one step', len(g.plan()) == 1, g.plan())
    same('Gelu with Tanh', g, False)


def test_swish():
    silu = Graph([node('Sigmoid', 'x', 's'), node('Mul', 'x s', 'y')], {'x': [4, 33]}, ['y'])
    fits('Swish', silu, ['Mul-14 + Sigmoid-13'], exact=False)
    hard = Graph([node('Add', 'x t', 'a'), node('Clip', 'a l h', 'c'), node('Mul', 'x c', 'm'), node('Div', 'm h', 'y')],
                 {'x': [4, 33]}, ['y'], [number('t', 3), number('l', 0), number('h', 6)])
    check('HardSwish: one step', len(hard.plan()) == 1, hard.plan())
    same('HardSwish', hard, False)
    other = Graph([node('Sigmoid', 'z', 's'), node('Mul', 'x s', 'y')], {'x': [4, 33], 'z': [4, 33]}, ['y'])
    same('Sigmoid of another value', other, True)


def layer_norm(axis, square):
    power = [node('Pow', 'd two', 'q')] if square == 'Pow' else [node('Mul', 'd d', 'q')]
    return Graph([node('ReduceMean', 'x ax', 'm'), node('Sub', 'x m', 'd'), *power, node('ReduceMean', 'q ax', 'v'),
                  node('Add', 'v e', 'w'), node('Sqrt', 'w', 'r'), node('Div', 'd r', 'n'), node('Mul', 'n g', 'o'),
                  node('Add', 'o b', 'y')], {'x': [2, 5, 24]}, ['y'],
                 [number('two', 2), number('e', 1e-5), numpy_helper.from_array(np.array([axis]), 'ax'),
                  array('g', 24), array('b', 24)])


def test_norm():
    for square in ('Pow', 'Mul'):
        g = layer_norm(-1, square)
        check(f'LayerNormalization, {square}: one step', len(g.plan()) == 1, g.plan())
        same(f'LayerNormalization, {square}', g, False)
    g = layer_norm(1, 'Pow')
    check('means of another axis: stays', len(g.plan()) > 3, g.plan())
    same('means of another axis', g, True)
    rms = Graph([node('Pow', 'x two', 'q'), node('ReduceMean', 'q ax', 'v'), node('Add', 'v e', 'w'),
                 node('Sqrt', 'w', 'r'), node('Div', 'one r', 'i'), node('Mul', 'x i', 'n'), node('Mul', 'g n', 'y')],
                {'x': [2, 5, 24]}, ['y'], [number('two', 2), number('e', 1e-6), number('one', 1), array('g', 24),
                                           numpy_helper.from_array(np.array([-1]), 'ax')])
    check('RMSNormalization: one step', len(rms.plan()) == 1, rms.plan())
    same('RMSNormalization', rms, False)


def attention(mask=None, axis=-1, k_perm=(0, 2, 3, 1), outputs=('y',)):
    scores = [node('MatMul', 'qt kt', 'p'), node('Mul', 'p s', 'ps')]
    scores += [node('Add', 'ps mask', 'pm')] if mask is not None else [node('Identity', 'ps', 'pm')]
    nodes = [node('Transpose', 'q', 'qt', perm=[0, 2, 1, 3]), node('Transpose', 'k', 'kt', perm=list(k_perm)),
             node('Transpose', 'v', 'vt', perm=[0, 2, 1, 3]), *scores, node('Softmax', 'pm', 'w', axis=axis),
             node('MatMul', 'w vt', 'o'), node('Transpose', 'o', 'y', perm=[0, 2, 1, 3])]
    extra = [number('s', 0.25)] + ([numpy_helper.from_array(mask.astype(np.float32), 'mask')] if mask is not None else [])
    k = [2, 9, 3, 16] if k_perm == (0, 2, 3, 1) else [2, 3, 16, 9]
    return Graph(nodes, {'q': [2, 5, 3, 16], 'k': k, 'v': [2, 9, 3, 16]}, outputs, extra)


def test_attention():
    mask = np.where(RANDOM.random((2, 1, 5, 9)) < 0.3, -np.inf, 0)
    blind = mask.copy()
    blind[1, 0, 2] = -np.inf
    for what, g in (('no mask', attention()), ('mask', attention(mask)), ('a query that sees nothing', attention(blind)),
                    ('one mask for all queries', attention(mask[:, :, :1])), ('mask of two axes', attention(mask[0, 0]))):
        check(f'attention, {what}: one step', len(g.plan()) == 1, g.plan())
        same(f'attention, {what}', g, False)
    for what, g in (('softmax of another axis', attention(axis=2)), ('keys that nothing turns', attention(k_perm=(0, 1, 2, 3))),
                    ('weights that are wanted', attention(outputs=('y', 'w')))):
        check(f'attention, {what}: stays', any(s == 'Softmax-13' for s in g.plan()), g.plan())
        same(f'attention, {what}', g, False)


def test_cleanup():
    g = Graph([node('Identity', 'x', 'i'), node('Neg', 'i', 'a'), node('Neg', 'x', 'b'), node('MatMul', 'a b', 'y')],
              {'x': [4, 4]}, ['y'])
    fits('identity, common subexpressions', g, ['Neg-13', 'MatMul-13'])
    two = Graph([node('Transpose', 'x', 'a', perm=[1, 2, 0]), node('Transpose', 'a', 'y', perm=[0, 2, 1])],
                {'x': [2, 3, 4]}, ['y'])
    fits('two transposes', two, ['Transpose-13 + Transpose-13'])
    chance = Graph([node('RandomNormalLike', 'x', 'a', seed=1.0), node('RandomNormalLike', 'x', 'b', seed=1.0),
                    node('Sub', 'a b', 'y')], {'x': [4, 4]}, ['y'])
    check('chance is not merged', sum('Random' in s for s in chance.plan()) == 2, chance.plan())


def test_kept():
    g = conv([node('Relu', 'c', 'y')])
    status, _, err = minirt('run', g.path, *g.args(), '--dump', g.dir / 'd.npz', '-o', g.dir / 'o.npz')
    check('a dump has every tensor', status == 0 and {'c', 'y'} <= set(np.load(g.dir / 'd.npz')), err)
    status, text, err = minirt('run', g.path, *g.args(), '--outputs', 'c', '-o', g.dir / 'o.npz')
    check('an output that is asked for', status == 0 and list(np.load(g.dir / 'o.npz')) == ['c'], err, text)
    for mode in (['--mode', 'reference'], ['--precision', 'f64'], ['--optimize', 0]):
        status, text, _ = minirt('info', g.path, '--plan', '--json', *g.args(), *mode)
        steps = [s['op'] for s in json.loads(text)['plan']['steps']] if status == 0 else text
        check(f'{mode}: node by node', steps == ['Conv-11', 'Relu-14'], steps)
    status, text, err = minirt('check', g.path, '--json')
    check('check counts the nodes of the file', json.loads(text)['nodes'] == 2, text)


def test_bodies():
    body = helper.make_graph([node('MatMul', 'x w', 'm'), node('Relu', 'm', 'v')], 'b', [],
                             [helper.make_tensor_value_info('v', FLOAT, None)])
    other = helper.make_graph([node('Neg', 'x', 'n')], 'e', [], [helper.make_tensor_value_info('n', FLOAT, None)])
    g = Graph([node('ReduceMax', 'x', 'top', keepdims=0), node('Greater', 'top zero', 'k'),
               node('If', 'k', 'i', then_branch=body, else_branch=other), node('Exp', 'i', 'e'), node('Neg', 'e', 'y')],
              {'x': [4, 4]}, ['y'], [array('w', 4, 4), number('zero', 0)])
    same('a body', g, True)


def test_dynamic():
    g = Graph([node('MatMul', 'x w', 'm'), node('Add', 'm b', 'a'), node('Relu', 'a', 'y')], {'x': ['N', 16]}, ['y'],
              [array('w', 16, 8), array('b', 8)])
    fits('a dim that is given with the input', g, ['MatMul-13 + Add-14 + Relu-14'])
    zero = Graph([node('NonZero', 'x', 'z'), node('Cast', 'z', 'f', to=FLOAT), node('Exp', 'f', 'e'),
                  node('Neg', 'e', 'y')], {'x': [4, 4]}, ['y'])
    stays('sizes that hang on values', zero, ('Exp', 'Neg'))


def test_table():
    _, table, _ = minirt('ops', '--rewrites')
    page = (pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'rewrites.md').read_text()
    check('docs/rewrites.md has the table of ops --rewrites', page.endswith(table), 'write it anew')


def main():
    global LEVEL
    for LEVEL in (None, 'avx2', 'scalar'):
        for name, test in list(globals().items()):
            if name.startswith('test_'):
                test()
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    return 1 if FAILED else 0


with tempfile.TemporaryDirectory() as TMP:
    sys.exit(main())
