#!/usr/bin/env python3
"""Operators from outside: plugins, what they are refused for, functions in their place, and outputs taken from a dump.

    tests/unit/test_plugin.py [--build build]
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
ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = BUILD / 'examples' / 'custom_op.so'
FLOAT, DOUBLE, INT64, STRING = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING
PASSED, FAILED = [], []


def check(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', *details, sep='\n  ')


def minirt(*args):
    p = subprocess.run([BUILD / 'minirt', *map(str, args)], capture_output=True, check=False, text=True)
    return p.returncode, p.stdout, p.stderr


def refused(what, args, status, *words):
    """The command ends with the status, and says all the words."""
    got, out, err = minirt(*args)
    check(what, got == status and all(w in err + out for w in words), f'want {status} {words}', f'got {got}', err, out)


def custom(inputs, outputs, op='CustomOp', **attrs):
    return helper.make_node(op, inputs, outputs, domain='MyDomain', **attrs)


def save(path, nodes, inputs, outputs, initializers=(), functions=(), version=1):
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info(*i) for i in inputs],
                              [helper.make_tensor_value_info(*o) for o in outputs], list(initializers))
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('MyDomain', version)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=8), path)
    return path


def outputs_of(model, *args, dump=None):
    """The outputs by name, or what was said."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=TMP))
    status, out, err = minirt('run', model, *args, '-o', folder / 'out.npz')
    return dict(np.load(folder / 'out.npz')) if status == 0 else f'{status} {err}{out}'


def equal(what, got, **want):
    ok = isinstance(got, dict) and all(
        k in got and got[k].dtype == v.dtype and np.allclose(got[k], v, rtol=1e-6, atol=0) for k, v in want.items())
    check(what, ok, got, want)


def compiled(name, text):
    source, library = TMP / f'{name}.c', TMP / f'{name}.so'
    source.write_text(text)
    subprocess.run([os.environ.get('CC', 'cc'), '-shared', '-fPIC', f'-I{ROOT}/runtime', '-o', library, source], check=True)
    return library


def soft(x, alpha=1.0):
    return (x / (1 + np.float64(alpha) * np.abs(x))).astype(x.dtype)


# ---- the example ----

def test_runs():
    rng = np.random.default_rng(1)
    for dtype, elem in (np.float32, FLOAT), (np.float64, DOUBLE):
        x = rng.standard_normal((2, 3)).astype(dtype)
        np.save(TMP / 'x.npy', x)
        model = save(TMP / 'm.onnx', [custom(['x'], ['h'], alpha=2.5), helper.make_node('Neg', ['h'], ['n']),
                                      custom(['n'], ['y'])], [('x', elem, ['N', 3])], [('y', elem, None)])
        for mode in 'fast', 'reference':
            got = outputs_of(model, TMP / 'x.npy', '--plugin', PLUGIN, '--mode', mode)
            equal(f'runs on {np.dtype(dtype)} in {mode} mode', got, y=soft(-soft(x, 2.5)))
    np.save(TMP / 'x.npy', np.float32([[1, -2, 3]]))
    model = save(TMP / 'm32.onnx', [custom(['x'], ['y'])], [('x', FLOAT, ['N', 3])], [('y', FLOAT, None)])
    equal('carried in double', outputs_of(model, TMP / 'x.npy', '--plugin', PLUGIN, '--precision', 'f64'),
          y=soft(np.float64([[1, -2, 3]])))
    empty = np.zeros((0, 3), np.float32)
    np.save(TMP / 'x.npy', empty)
    equal('no elements', outputs_of(model, TMP / 'x.npy', '--plugin', PLUGIN), y=empty)
    status, out, _ = minirt('check', model, '--plugin', PLUGIN, '--json')
    check('check says that it runs', status == 0 and json.loads(out)['runs'] is True, out)
    status, out, _ = minirt('info', model, '--plugin', PLUGIN)
    check('info sees it and its shape', status == 0 and 'CustomOp' in out, out)
    constant = save(TMP / 'c.onnx', [custom(['c'], ['y'])], [], [('y', FLOAT, [2])],
                    [numpy_helper.from_array(np.float32([1, 3]), 'c')])
    equal('folded', outputs_of(constant, '--plugin', PLUGIN), y=soft(np.float32([1, 3])))


def test_subgraph_and_function():
    then = helper.make_graph([custom(['x'], ['t'])], 'then', [], [helper.make_tensor_value_info('t', FLOAT, None)])
    other = helper.make_graph([helper.make_node('Neg', ['x'], ['e'])], 'else', [],
                              [helper.make_tensor_value_info('e', FLOAT, None)])
    model = save(TMP / 'if.onnx', [helper.make_node('If', ['c'], ['y'], then_branch=then, else_branch=other)],
                 [('c', TensorProto.BOOL, []), ('x', FLOAT, ['N'])], [('y', FLOAT, None)])
    x = np.float32([1, -2, 3])
    np.save(TMP / 'x.npy', x)
    np.save(TMP / 'c.npy', np.array(True))
    equal('in a subgraph', outputs_of(model, TMP / 'c.npy', TMP / 'x.npy', '--plugin', PLUGIN), y=soft(x))
    opsets = [helper.make_opsetid('', 17), helper.make_opsetid('MyDomain', 1)]
    twice = helper.make_function('f', 'Twice', ['a'], ['b'], [custom(['a'], ['m']), custom(['m'], ['b'])], opsets)
    model = save(TMP / 'fn.onnx', [helper.make_node('Twice', ['x'], ['y'], domain='f')], [('x', FLOAT, ['N'])],
                 [('y', FLOAT, None)], functions=[twice])
    m = onnx.load(model)
    m.opset_import.append(helper.make_opsetid('f', 1))
    onnx.save(m, model)
    equal('in a function', outputs_of(model, TMP / 'x.npy', '--plugin', PLUGIN), y=soft(soft(x)))
    body = helper.make_function('MyDomain', 'CustomOp', ['X'], ['Y'], [helper.make_node('Neg', ['X'], ['Y'])], opsets[:1])
    model = save(TMP / 'own.onnx', [custom(['x'], ['y'])], [('x', FLOAT, ['N'])], [('y', FLOAT, None)], functions=[body])
    equal('a model-local function needs no plugin', outputs_of(model, TMP / 'x.npy'), y=-x)
    equal('and comes before one', outputs_of(model, TMP / 'x.npy', '--plugin', PLUGIN), y=-x)


def test_refusals():
    def model(node, elem=FLOAT, version=1):
        return save(TMP / 'r.onnx', [node], [('x', elem, ['N'])], [('y', elem, None)], version=version)
    with_plugin = ['--plugin', PLUGIN]
    plain = custom(['x'], ['y'])
    refused('without the plugin', ['check', model(plain)], 4, 'E0303', 'MyDomain', '--plugin')
    refused('type', ['check', model(plain, TensorProto.INT32), *with_plugin], 3, 'E0212', 'int32', 'float or double')
    refused('arity', ['check', model(custom(['x', 'x'], ['y'])), *with_plugin], 3, 'E0210', '2 inputs, must be 1')
    refused('attribute', ['check', model(custom(['x'], ['y'], alfa=1.0)), *with_plugin], 3, 'E0211', "'alfa'",
            'did you mean \'alpha\'?')
    refused('kind of attribute', ['check', model(custom(['x'], ['y'], alpha=1)), *with_plugin], 3, 'E0211', 'INT')
    refused('name', ['check', model(custom(['x'], ['y'], 'CustomOpp')), *with_plugin], 4, 'E0301', "did you mean 'CustomOp'")
    np.save(TMP / 'x.npy', np.float32([1]))
    refused('its own words', ['run', model(custom(['x'], ['y'], alpha=-1.0)), TMP / 'x.npy', *with_plugin], 6, 'E0602',
            "node 0", 'CustomOp-1', 'alpha is -1, must not be negative')
    refused('no such plugin', ['run', model(plain), '--plugin', TMP / 'none.so'], 7, 'E0702', 'cannot be read')
    (TMP / 'text.so').write_text('no library')
    refused('no library', ['check', model(plain), '--plugin', TMP / 'text.so'], 7, 'E0702', 'no library')
    refused('twice', ['check', model(plain), *with_plugin, *with_plugin], 7, 'E0702', 'registered already')
    status, out, _ = minirt('ops', 'CustomOp', *with_plugin)
    check('ops has it', status == 0 and 'MyDomain::CustomOp-1' in out and '2 of 2' in out, out)


# ---- other plugins ----

OP = '''
#include "minirt_op.h"
static mr_status infer(mr_custom_call *c)
{ mr_custom_tensor x; c->api->input(c, 0, &x); return c->api->set_output(c, 0, x.dtype, x.rank, x.dims); }
static mr_status run(mr_custom_call *c) { (void)c; return MR_OK; }
static const mr_custom_param in[] = {{.name = "X", .type = "tensor(float)"}, {0}};
static const mr_custom_kernel kernels[] = {{run}, {0}};
static const mr_custom_op op = {.domain = "%s", .name = "%s", .since_version = 1, .inputs = in, .outputs = in,
                                .infer = %s, .kernels = %s};
%s
'''
EXPORT = 'const mr_custom_ops mr_custom_ops_v1 = {%s, (const mr_custom_op *const[]){&op, 0}};'


def test_bad_plugins():
    model = save(TMP / 'p.onnx', [custom(['x'], ['y'], 'Bad')], [('x', FLOAT, ['N'])], [('y', FLOAT, None)])
    np.save(TMP / 'x.npy', np.float32([1]))
    def bad(what, parts, status, *words):
        refused(what, ['run', model, TMP / 'x.npy', '--plugin', compiled('bad', OP % parts)], status, *words)
    good = EXPORT % 'MR_ABI_VERSION'
    bad('no symbol', ('MyDomain', 'Bad', 'infer', 'kernels', 'const void *unused = &op;'), 7, 'E0702', 'does not export')
    bad('another interface', ('MyDomain', 'Bad', 'infer', 'kernels', EXPORT % '99'), 7, 'E0702', 'version 99', 'compile')
    bad("ONNX's domain", ('ai.onnx', 'Bad', 'infer', 'kernels', good), 7, 'E0702', "ONNX's own")
    bad('the same domain', ('', 'Add', 'infer', 'kernels', good), 7, 'E0702', "ONNX's own")
    bad('an operator of minirt', ('com.microsoft', 'Gelu', 'infer', 'kernels', good), 7, 'E0702', 'minirt has it')
    bad('no infer', ('MyDomain', 'Bad', '0', 'kernels', good), 7, 'E0702', 'no infer')
    bad('no kernels', ('MyDomain', 'Bad', 'infer', '0', good), 7, 'E0702', 'no kernels')
    bad('an infer that says nothing', ('MyDomain', 'Bad', 'run', 'kernels', good), 7, 'E0702', 'does not say', 'Bad-1')


# Repeat: rows of X as often as N says; its shape hangs on a value. Join: strings, a variadic input, lists.
MORE = '''
#include <stdlib.h>
#include <string.h>
#include "minirt_op.h"
static mr_status repeat_infer(mr_custom_call *c)
{
    mr_custom_tensor x, n;
    c->api->input(c, 0, &x), c->api->input(c, 1, &n);
    int64_t dims[2] = {n.data ? *(const int64_t *)n.data : -1, x.rank == 1 ? x.dims[0] : -1};
    if (x.rank >= 0 && x.rank != 1) return c->api->fail(c, "X has rank %d, must be 1", x.rank);
    return c->api->set_output(c, 0, x.dtype, 2, dims);
}
static mr_status repeat(mr_custom_call *c)
{
    mr_custom_tensor x, y;
    c->api->input(c, 0, &x), c->api->output(c, 0, &y);
    for (int64_t i = 0; i < y.dims[0] * y.dims[1]; i++) ((float *)y.data)[i] = ((const float *)x.data)[i % y.dims[1]];
    return MR_OK;
}
static const mr_custom_param repeat_in[] = {{"X", "tensor(float)"}, {"N", "tensor(int64)"}, {0}};
static const mr_custom_param repeat_out[] = {{"Y", "tensor(float)"}, {0}};
static const mr_custom_kernel repeat_kernels[] = {{repeat, {MR_F32}}, {0}};
static const mr_custom_op repeat_op = {.domain = "MyDomain", .name = "Repeat", .since_version = 2, .inputs = repeat_in,
    .outputs = repeat_out, .infer = repeat_infer, .kernels = repeat_kernels};

static mr_status join_infer(mr_custom_call *c) { return c->api->set_output(c, 0, MR_STRING, 0, NULL); }
static mr_status join(mr_custom_call *c)
{
    char text[256] = "";
    size_t n, at = 0;
    const char *s, *by = c->api->attr_string(c, "by", &n);
    size_t gap = n;
    for (int i = 0; i < c->api->input_count(c); i++)
        if ((s = c->api->input_string(c, i, 0, &n))) {
            if (i) memcpy(text + at, by, gap), at += gap;
            memcpy(text + at, s, n), at += n;
        }
    int64_t k;
    const int64_t *ends = c->api->attr_ints(c, "ends", &k);
    for (int64_t i = 0; ends && i < k; i++) text[at++] = (char)ends[i];
    return c->api->put_string(c, 0, 0, text, at);
}
static const mr_custom_param join_in[] = {{"S", "tensor(string)", MR_CUSTOM_VARIADIC, 1}, {0}};
static const mr_custom_param join_out[] = {{"Y", "tensor(string)"}, {0}};
static const mr_custom_attr join_attrs[] = {{.name = "by", .kind = MR_CUSTOM_STRING, .has_default = 1, .s = "-"},
    {.name = "ends", .kind = MR_CUSTOM_INTS}, {0}};
static const mr_custom_kernel join_kernels[] = {{join}, {0}};
static const mr_custom_op join_op = {.domain = "MyDomain", .name = "Join", .since_version = 1, .inputs = join_in,
    .outputs = join_out, .attrs = join_attrs, .infer = join_infer, .kernels = join_kernels};
const mr_custom_ops mr_custom_ops_v1 = {MR_ABI_VERSION, (const mr_custom_op *const[]){&repeat_op, &join_op, NULL}};
'''


def test_more():
    library = ['--plugin', compiled('more', MORE), '--plugin', PLUGIN]
    np.save(TMP / 'x.npy', np.float32([1, 2, 3]))
    np.save(TMP / 'n.npy', np.int64(2))
    model = save(TMP / 'repeat.onnx', [custom(['x', 'n'], ['r'], 'Repeat'), custom(['r'], ['y'])],
                 [('x', FLOAT, ['N']), ('n', INT64, [])], [('y', FLOAT, None)], version=2)
    for mode in 'fast', 'reference':
        got = outputs_of(model, TMP / 'x.npy', TMP / 'n.npy', *library, '--mode', mode)
        equal(f'a shape that hangs on a value, {mode}', got, y=soft(np.float32([[1, 2, 3]] * 2)))
    np.save(TMP / 'x2.npy', np.float32([[1]]))
    bad = save(TMP / 'rank.onnx', [custom(['x', 'n'], ['y'], 'Repeat')], [('x', FLOAT, ['A', 'B']), ('n', INT64, [])],
               [('y', FLOAT, None)], version=2)
    refused('what infer says', ['check', bad, *library], 3, 'E0531', 'Repeat-2', 'X has rank 2, must be 1')
    old = save(TMP / 'old.onnx', [custom(['x', 'n'], ['y'], 'Repeat')], [('x', FLOAT, ['N']), ('n', INT64, [])],
               [('y', FLOAT, None)])
    refused('an older opset', ['check', old, *library], 4, 'E0302', 'since opset 2 of MyDomain, the model imports 1')
    words = [numpy_helper.from_array(np.array(w, object), w) for w in ('ab', 'c', 'def')]
    for attrs, want in ({}, 'ab-c-def'), ({'by': '+', 'ends': [33, 63]}, 'ab+c+def!?'):
        model = save(TMP / 'join.onnx', [custom(['ab', 'c', 'def'], ['y'], 'Join', **attrs)], [], [('y', STRING, [])], words)
        status, out, err = minirt('run', model, *library, '--json')
        first = json.loads(out)['outputs'][0]['first'] if status == 0 else err
        check(f'strings, {want}', first == [want], first)


# ---- outputs taken from a dump ----

def test_assume():
    x, h = np.float32([1, -2]), np.float32([5, 7])
    np.save(TMP / 'x.npy', x)
    np.savez(TMP / 'dump.npz', h=h)
    folder = TMP / 'dump'
    folder.mkdir()
    np.save(folder / 'h.npy', h)
    model = save(TMP / 'a.onnx', [helper.make_node('Abs', ['x'], ['a']), custom(['a'], ['h'], 'Missing'),
                                  helper.make_node('Add', ['h', 'x'], ['y'])], [('x', FLOAT, ['N'])], [('y', FLOAT, None)])
    refused('without a dump', ['run', model, TMP / 'x.npy'], 4, 'Missing')
    for dump in TMP / 'dump.npz', folder:
        for mode in 'fast', 'reference':
            equal(f'past a node that cannot run, {dump.name}, {mode}',
                  outputs_of(model, TMP / 'x.npy', '--assume', dump, '--mode', mode), y=h + x)
    np.savez(TMP / 'other.npz', k=h)
    refused('a dump without it', ['run', model, TMP / 'x.npy', '--assume', TMP / 'other.npz'], 4, 'Missing')
    np.savez(TMP / 'both.npz', a=np.float32([100, 100]), h=h)
    got = outputs_of(model, TMP / 'x.npy', '--assume', TMP / 'both.npz', '--outputs', 'a,y')
    equal('what can run is computed', got, a=np.abs(x), y=h + x)


with tempfile.TemporaryDirectory() as folder:
    TMP = pathlib.Path(folder)
    for test in test_runs, test_subgraph_and_function, test_refusals, test_bad_plugins, test_more, test_assume:
        test()
print(f'{len(PASSED)} passed, {len(FAILED)} failed')
sys.exit(bool(FAILED))
