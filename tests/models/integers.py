#!/usr/bin/env python3
"""Are the integer nodes of a model bit-equal to exact arithmetic on the same inputs?

usage: integers.py [--build BUILD] [--mode fast|reference] DIR...       DIR/{model.onnx, test_data_set_0}

Runs the model with every tensor written out, then each quantized node again from its inputs, in arithmetic that loses
nothing: sums of products of integers in double, which holds them exactly, and rounding by what the operator's text says of
real numbers. Where double cannot tell on which side of a tie a number lies, fractions do. ONNX Runtime is no judge here:
on CPUs without VNNI its products of uint8 and int8 saturate. A quantized node that is not judged counts as failed, but for
DynamicQuantizeLSTM, whose results are all floats.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np
import onnx
from onnx import numpy_helper

RANGES = {np.dtype(np.uint8): (0, 255), np.dtype(np.int8): (-128, 127), np.dtype(np.int32): (-2 ** 31, 2 ** 31 - 1),
          np.dtype(np.uint16): (0, 65535), np.dtype(np.int16): (-32768, 32767)}


def attributes(node):
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def saturate(x, zero, dtype):
    low, high = RANGES[np.dtype(dtype)]
    return np.clip(x + zero, low, high).astype(dtype)


def rounded(sums, scales):
    """round-half-even of sums · scales[0] · scales[1] … / scales[-1], as real numbers. Scales broadcast against sums."""
    factor = np.ones((), np.float64)
    for s in scales[:-1]:
        factor = factor * s.astype(np.float64)
    factor = factor / scales[-1].astype(np.float64)
    x = sums * factor
    y = np.rint(x)
    close = np.argwhere(np.abs(np.abs(x - np.floor(x)) - 0.5) < 1e-9 * np.maximum(1, np.abs(x)))
    for at in map(tuple, close):
        exact = Fraction(int(sums[at]))
        for i, s in enumerate(scales):
            s = Fraction(float(np.broadcast_to(s, sums.shape)[at]))
            exact = exact * s if i < len(scales) - 1 else exact / s
        y[at] = round(exact)
    return y


def along(v, axis, rank):
    """A vector along an axis of a tensor; a scalar stays one."""
    v = np.asarray(v)
    if v.ndim == 0 or v.size == 1:
        return v.reshape(())
    shape = [1] * rank
    shape[axis] = v.size
    return v.reshape(shape)


# ---- operators: each takes the node's inputs (None where absent) and attributes, and gives its outputs


def quantize(x, scale, zero=None, *, axis=1, **_):
    dtype = zero.dtype if zero is not None else np.uint8
    zero = 0 if zero is None else along(zero, axis, x.ndim).astype(np.float64)
    quotient = x / along(scale, axis, x.ndim)
    return [saturate(np.rint(quotient).astype(np.float64), zero, dtype)]


def dequantize(x, scale, zero=None, *, axis=1, **_):
    difference = x.astype(np.int64) - (0 if zero is None else along(zero, axis, x.ndim).astype(np.int64))
    return [difference.astype(np.float32) * along(scale, axis, x.ndim)]


def dynamic_quantize(x, **_):
    low, high = np.minimum(x.min(), np.float32(0)), np.maximum(x.max(), np.float32(0))
    scale = np.float32((high - low) / np.float32(255))
    zero = saturate(np.rint(np.float32(0) - low / scale) if scale else np.float32(0), 0, np.uint8)
    return [saturate(np.rint(x / scale).astype(np.float64), float(zero), np.uint8), scale, zero]


def conv_sums(x, w, *, auto_pad=b'NOTSET', group=1, strides=None, dilations=None, pads=None, **_):
    """Exact sums, in double, which holds them."""
    rank = x.ndim - 2
    strides, dilations, pads = strides or [1] * rank, dilations or [1] * rank, pads or [0] * 2 * rank
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilations)]
    if auto_pad in (b'SAME_UPPER', b'SAME_LOWER'):
        total = [max(0, (-(-n // s) - 1) * s + r - n) for n, s, r in zip(x.shape[2:], strides, reach)]
        small, large = [t // 2 for t in total], [t - t // 2 for t in total]
        pads = small + large if auto_pad == b'SAME_UPPER' else large + small
    x = np.pad(x, [(0, 0), (0, 0)] + [(pads[i], pads[i + rank]) for i in range(rank)])
    out = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, strides)]
    batch, maps, channels = x.shape[0], w.shape[0] // group, w.shape[1]
    y = np.zeros([batch, group, maps, int(np.prod(out))])
    for tap in np.ndindex(*w.shape[2:]):
        window = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, out, strides))
        part = x[(slice(None), slice(None)) + window].reshape(batch, group, channels, -1)
        y += w[(slice(None), slice(None)) + tap].reshape(group, maps, channels) @ part
    return y.reshape([batch, group * maps] + out)


def difference(x, zero, axis=0):
    return x.astype(np.float64) - (0 if zero is None else along(zero, axis, x.ndim).astype(np.float64))


def conv_integer(x, w, x_zero=None, w_zero=None, **attrs):
    return [conv_sums(difference(x, x_zero), difference(w, w_zero), **attrs).astype(np.int32)]


def qlinear_conv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None, **attrs):
    sums = conv_sums(difference(x, x_zero), difference(w, w_zero), **attrs)
    if bias is not None:
        sums += along(bias, 1, sums.ndim)
    return [saturate(rounded(sums, [x_scale, along(w_scale, 1, sums.ndim), y_scale]), float(y_zero), y_zero.dtype)]


def matmul_integer(a, b, a_zero=None, b_zero=None, **_):
    return [(difference(a, a_zero, a.ndim - 2) @ difference(b, b_zero, b.ndim - 1)).astype(np.int32)]


def qlinear_matmul(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, **_):
    sums = difference(a, a_zero, a.ndim - 2) @ difference(b, b_zero, b.ndim - 1)
    scales = [along(a_scale, sums.ndim - 2, sums.ndim), along(b_scale, sums.ndim - 1, sums.ndim), y_scale]
    return [saturate(rounded(sums, scales), float(y_zero), y_zero.dtype)]


def qgemm(a, a_scale, a_zero, b, b_scale, b_zero, c=None, y_scale=None, y_zero=None, *, transA=0, transB=0, alpha=1.0, **_):
    a, b = (a.T if transA else a), (b.T if transB else b)
    sums = difference(a, a_zero) @ difference(b, b_zero, 1)
    if c is not None:
        sums += c
    if y_scale is None:
        return None  # a float: not an integer result
    alpha = np.float32(alpha)
    return [saturate(rounded(sums, [a_scale, along(b_scale, 1, 2), alpha, y_scale]), float(y_zero), y_zero.dtype)]


def qlinear_add(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, **_):
    a, b = np.broadcast_arrays(difference(a, a_zero), difference(b, b_zero))
    x = (a * np.float64(a_scale) + b * np.float64(b_scale)) / np.float64(y_scale)
    y = np.rint(x)
    for at in map(tuple, np.argwhere(np.abs(np.abs(x - np.floor(x)) - 0.5) < 1e-9)):
        exact = Fraction(int(a[at])) * Fraction(float(a_scale)) + Fraction(int(b[at])) * Fraction(float(b_scale))
        y[at] = round(exact / Fraction(float(y_scale)))
    return [saturate(y, float(y_zero), y_zero.dtype)]


def qlinear_global_average_pool(x, x_scale, x_zero, y_scale, y_zero, *, channels_last=0, **_):
    axes = tuple(range(1, x.ndim - 1) if channels_last else range(2, x.ndim))
    sums = difference(x, x_zero).sum(axes, keepdims=True)
    count = np.float32(np.prod([x.shape[a] for a in axes]))
    return [saturate(rounded(sums, [x_scale, y_scale.astype(np.float64) * count]), float(y_zero), y_zero.dtype)]


OPERATORS = {'QuantizeLinear': quantize, 'DequantizeLinear': dequantize, 'DynamicQuantizeLinear': dynamic_quantize,
             'ConvInteger': conv_integer, 'QLinearConv': qlinear_conv, 'MatMulInteger': matmul_integer,
             'QLinearMatMul': qlinear_matmul, 'QGemm': qgemm, 'QLinearAdd': qlinear_add,
             'QLinearGlobalAveragePool': qlinear_global_average_pool}
FLOATS = ('DynamicQuantizeLSTM',)


def tensors_of(build, mode, folder, dump):
    command = [f'{build}/minirt', 'run', f'{folder}/model.onnx', f'{folder}/test_data_set_0', '--mode', mode, '--dump',
               dump, '-q']
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode not in (0, 1):
        raise SystemExit(f'{folder}: {p.stderr.strip()}')
    model = onnx.load(f'{folder}/model.onnx')
    values = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    given = [i.name for i in model.graph.input if i.name not in values]
    for i in range(len(given)):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(open(f'{folder}/test_data_set_0/input_{i}.pb', 'rb').read())
        values[tensor.name or given[i]] = numpy_helper.to_array(tensor)
    with np.load(dump) as made:
        values.update(made)
    return model, values


def is_quantized(node):
    return node.op_type not in FLOATS and any(part in node.op_type.lower() for part in ('quantize', 'qlinear', 'qgemm', 'integer'))


def differences(node, values):
    """How many elements of each output differ, and why the node cannot be judged, if so."""
    if node.op_type not in OPERATORS or attributes(node).get('block_size'):
        return [], 'no arithmetic for it here'
    missing = [name for name in [*node.input, *node.output] if name and name not in values]
    if missing:
        return [], f'{missing[0]} was not written out'
    wanted = OPERATORS[node.op_type](*[values[i] if i else None for i in node.input], **attributes(node))
    return [int((values[name] != want).sum()) for name, want in zip(node.output, wanted or []) if name], None


def needed(graph):
    """The nodes that an output of the graph hangs on: the others are not run."""
    wanted, nodes = {o.name for o in graph.output}, []
    for node in reversed(graph.node):
        if wanted & set(node.output):
            nodes.append(node)
            wanted |= set(node.input)
    return nodes[::-1]


def check(build, mode, folder):
    """(outputs of quantized nodes that are equal, those that are not or cannot be judged) of a model."""
    graph = onnx.load(f'{folder}/model.onnx', load_external_data=False).graph
    nodes = [n for n in needed(graph) if is_quantized(n)]
    if not nodes:
        return 0, 0
    with tempfile.TemporaryDirectory() as place:
        _, values = tensors_of(build, mode, folder, f'{place}/all.npz')
    equal = wrong = 0
    for node in nodes:
        found, why = differences(node, values)
        if why or any(found):
            print(f'{folder}: {node.op_type} {node.name or node.output[0]}: {why or f"{found} elements differ"}')
        equal, wrong = equal + sum(n == 0 for n in found), wrong + (1 if why else sum(n > 0 for n in found))
    return equal, wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--mode', default='fast,reference')
    parser.add_argument('folders', nargs='+')
    a = parser.parse_args()
    passed = failed = 0
    for mode in a.mode.split(','):
        for folder in a.folders:
            equal, wrong = check(a.build, mode, folder.rstrip('/'))
            passed, failed = passed + equal, failed + wrong
            if equal + wrong:
                print(f'{os.path.basename(folder.rstrip("/"))}, {mode}: {equal} integer outputs equal, {wrong} differ', flush=True)
    print(f'{passed} passed, {failed} failed')
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
