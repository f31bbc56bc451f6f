#!/usr/bin/env python3
"""Operators between DequantizeLinear and QuantizeLinear become operators on codes: where they may, and with the same codes but
for those next to a tie. usage: test_rewrite_quantize.py --build BUILD"""
import json
import os, re, subprocess, sys, tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

build = sys.argv[sys.argv.index('--build') + 1]
rng = np.random.default_rng(7)
passed = failed = 0


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


class Model:
    def __init__(self):
        self.nodes, self.weights, self.inputs, self.outputs, self.feeds = [], [], [], [], {}

    def constant(self, x):
        name = f'c{len(self.weights)}'
        self.weights.append(numpy_helper.from_array(np.asarray(x), name))
        return name

    def node(self, op, *inputs, **attrs):
        name = f'v{len(self.nodes)}'
        self.nodes.append(helper.make_node(op, list(inputs), [name], f'n{len(self.nodes)}', **attrs))
        return name

    def codes(self, shape, dtype):
        """An input of codes, dequantized with one scale."""
        name, info = f'in{len(self.inputs)}', np.iinfo(dtype)
        self.feeds[name] = rng.integers(info.min, info.max + 1, shape).astype(dtype)
        self.inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape))
        return self.dequantized(name, 0.02, dtype(3))

    def dequantized(self, name, scale, zero, **attrs):
        return self.node('DequantizeLinear', name, self.constant(np.float32(scale)), self.constant(zero), **attrs)

    def weight(self, shape, axis, dtype=np.int8, channels=True):
        codes = rng.integers(-127, 128, shape).astype(dtype)
        scale = rng.uniform(0.005, 0.02, shape[axis] if channels else ()).astype(np.float32)
        zero = np.zeros(scale.shape, dtype)
        return self.dequantized(self.constant(codes), scale, zero, axis=axis)

    def quantized(self, x, scale, zero):
        return self.node('QuantizeLinear', x, self.constant(np.float32(scale)), self.constant(zero))

    def output(self, name, elem):
        self.outputs.append(helper.make_tensor_value_info(name, elem, None))

    def save(self, path):
        graph = helper.make_graph(self.nodes, 'g', self.inputs, self.outputs, self.weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def outputs_of(folder, optimize):
    out = f'{folder}/out{optimize}.npz'
    p = subprocess.run([f'{build}/minirt', 'run', f'{folder}/m.onnx', f'{folder}/in.npz', '--optimize', str(optimize), '-o', out,
                        '-q'], capture_output=True, text=True)
    check('it runs', p.returncode == 0, p.stderr)
    return dict(np.load(out)) if p.returncode == 0 else {}


def operators(folder):
    p = subprocess.run([f'{build}/minirt', 'info', f'{folder}/m.onnx', f'{folder}/in.npz', '--plan', '--json'],
                       capture_output=True, text=True)
    return {step['runs'].split('::')[-1].rsplit('-', 1)[0] for step in json.loads(p.stdout)['plan']['steps']}


def case(what, m, wanted, unwanted=()):
    """wanted, unwanted: operators of the plan."""
    with tempfile.TemporaryDirectory() as folder:
        m.save(f'{folder}/m.onnx')
        np.savez(f'{folder}/in.npz', **m.feeds)
        plain, fused = outputs_of(folder, 0), outputs_of(folder, 2)
        for name in plain:
            a, b = plain[name].astype(np.float64), fused[name].astype(np.float64)
            if plain[name].dtype.kind in 'iu':
                off = np.abs(a - b)
                check(f'{what}: the codes', off.max(initial=0) <= 1 and (off > 0).mean() < 0.01, (off.max(initial=0), (off > 0).mean()))
            else:
                check(f'{what}: the floats', np.allclose(a, b, rtol=1e-5, atol=1e-6 * max(1, np.abs(a).max(initial=0))))
        ops = operators(folder)
        check(f'{what}: {wanted} in the plan', set(wanted) <= ops, ops)
        check(f'{what}: {unwanted} not in the plan', not set(unwanted) & ops, ops)


def conv(channels=True, bias='codes', between=None, x_dtype=np.uint8, y_zero=np.uint8(0), y_scale=0.5):
    m = Model()
    x, w = m.codes([1, 6, 9, 9], x_dtype), m.weight([8, 6, 3, 3], 0, channels=channels)
    inputs = [x, w]
    if bias == 'codes':
        inputs.append(m.dequantized(m.constant(rng.integers(-2000, 2000, 8).astype(np.int32)), rng.uniform(1e-4, 4e-4, 8), np.zeros(8, np.int32), axis=0))
    if bias == 'float':
        inputs.append(m.constant(rng.standard_normal(8).astype(np.float32)))
    y = m.node('Conv', *inputs, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])
    if between:
        y = m.node(between, y)
    return m, y, m.quantized(y, y_scale, y_zero)


for channels in (True, False):
    for bias in ('codes', 'float', None):
        m, _, q = conv(channels, bias, y_zero=np.uint8(120))
        m.output(q, TensorProto.UINT8)
        case(f'Conv, scales by channel {channels}, bias {bias}', m, ['QLinearConv'], ['Conv', 'QuantizeLinear', 'DequantizeLinear'])
m, _, q = conv(x_dtype=np.int8, y_zero=np.int8(-5))
m.output(q, TensorProto.INT8)
case('Conv of int8', m, ['QLinearConv'], ['Conv'])
m, _, q = conv(between='Relu')
m.output(q, TensorProto.UINT8)
case('Conv and Relu, codes end at 0', m, ['QLinearConv'], ['Conv', 'Relu'])
m, _, q = conv(between='Relu', y_zero=np.uint8(7))
m.output(q, TensorProto.UINT8)
case('Conv and Relu, codes go below', m, ['QuantizeLinear'], ['QLinearConv'])
m, y, q = conv()
m.output(q, TensorProto.UINT8), m.output(y, TensorProto.FLOAT)
case('Conv whose float is an output too', m, ['QuantizeLinear'], ['QLinearConv'])
m, _, q = conv()
m.output(q, TensorProto.UINT8), m.output(m.node('Neg', m.nodes[0].output[0]), TensorProto.FLOAT)
case('Conv whose input somebody else reads', m, ['QLinearConv', 'DequantizeLinear'])

m = Model()
q = m.quantized(m.node('MatMul', m.codes([5, 20], np.uint8), m.weight([20, 12], 1)), 0.1, np.uint8(128))
m.output(q, TensorProto.UINT8)
case('MatMul, scales by column', m, ['QLinearMatMul'], ['MatMul'])
m = Model()
q = m.quantized(m.node('MatMul', m.codes([5, 20], np.uint8), m.weight([20, 12], 0)), 0.1, np.uint8(128))
m.output(q, TensorProto.UINT8)
case('MatMul, scales by row', m, ['QuantizeLinear'], ['QLinearMatMul'])
m = Model()
q = m.quantized(m.node('MatMul', m.codes([2, 5, 20], np.uint8), m.codes([2, 20, 7], np.uint8)), 0.2, np.uint8(9))
m.output(q, TensorProto.UINT8)
case('MatMul of two inputs', m, ['QLinearMatMul'], ['MatMul'])
m = Model()
q = m.quantized(m.node('Gemm', m.codes([5, 20], np.uint8), m.weight([12, 20], 0), m.constant(rng.standard_normal(12).astype(np.float32)), transB=1), 0.1, np.uint8(128))
m.output(q, TensorProto.UINT8)
case('Gemm', m, ['QGemm'], ['Gemm'])
m = Model()
q = m.quantized(m.node('Gemm', m.codes([5, 20], np.uint8), m.weight([12, 20], 0), m.constant(rng.standard_normal(12).astype(np.float32)), transB=1, alpha=0.5), 0.1, np.uint8(128))
m.output(q, TensorProto.UINT8)
case('Gemm with alpha', m, ['QuantizeLinear'], ['QGemm'])
for op, fused in (('Add', 'QLinearAdd'), ('Mul', 'QLinearMul')):
    m = Model()
    q = m.quantized(m.node(op, m.codes([4, 1, 30], np.uint8), m.codes([5, 30], np.uint8)), 0.1, np.uint8(100))
    m.output(q, TensorProto.UINT8)
    case(op, m, [fused], [op])
m = Model()
q = m.quantized(m.node('GlobalAveragePool', m.codes([1, 6, 9, 8], np.uint8)), 0.03, np.uint8(1))
m.output(q, TensorProto.UINT8)
case('GlobalAveragePool', m, ['QLinearGlobalAveragePool'], ['GlobalAveragePool'])
for scale, exact in ((0.02, True), (0.03, False)):
    m = Model()
    q = m.quantized(m.node('MaxPool', m.codes([1, 6, 9, 8], np.uint8), kernel_shape=[3, 3]), scale, np.uint8(3))
    m.output(q, TensorProto.UINT8)
    case(f'MaxPool, scale {scale}', m, ['MaxPool'], ['QuantizeLinear'] if exact else [])

print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
