#!/usr/bin/env python3
"""Build well-known architectures at full size with seeded weights, and make test folders of them.

usage: zoo.py OUT [NAME...]         needs numpy, onnx and onnxruntime

These are for speed: their time does not depend on what they have learned.  Weights are drawn so that activations keep
their scale from layer to layer, as they do in a trained network, and the outputs are worth comparing.
"""
import os
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import testset

F32, I64 = np.float32, np.int64


class Graph:
    """A graph that grows node by node; every method returns the name of the tensor that it made."""

    def __init__(self, name):
        self.name, self.nodes, self.weights = name, [], []
        self.inputs, self.outputs = [], []
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f'{kind.lower()}_{len(self.nodes)}' + (f'_{i}' if outputs > 1 else '') for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, names, f'{kind}_{len(self.nodes)}', **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, values):
        name = f'weight_{len(self.weights)}'
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def normal(self, *shape, std, mean=0.0):
        return self.constant((mean + std * self.rng.standard_normal(shape, F32)).astype(F32))

    def input(self, name, dtype, shape):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, tensor, name, shape):
        self.nodes.append(helper.make_node('Identity', [tensor], [name], name))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8,
                                 producer_name='tests/models/zoo.py')

    # ---- layers

    def conv(self, x, c, k, size, stride=1, group=1, bias=False):
        fan_in = c // group * size * size
        inputs = [x, self.normal(k, c // group, size, size, std=(2 / fan_in) ** 0.5)]
        if bias:
            inputs.append(self.normal(k, std=0.05))
        return self.op('Conv', *inputs, kernel_shape=[size] * 2, pads=[size // 2] * 4, strides=[stride] * 2,
                       group=group)

    def norm(self, x, c, gain=1.0):
        scale, variance = self.normal(c, std=0.1 * gain, mean=gain), np.exp(0.1 * self.rng.standard_normal(c, F32))
        return self.op('BatchNormalization', x, scale, self.normal(c, std=0.1), self.normal(c, std=0.1),
                       self.constant(variance.astype(F32)), epsilon=1e-5)

    def dense(self, x, c, k):
        return self.op('Gemm', x, self.normal(k, c, std=c ** -0.5), self.normal(k, std=0.05), transB=1)

    def linear(self, x, c, k):
        product = self.op('MatMul', x, self.normal(c, k, std=c ** -0.5))
        return self.op('Add', product, self.normal(k, std=0.05))


def image(g):
    x = g.input('image', TensorProto.FLOAT, ['N', 3, 224, 224])
    return x, [{x: rng_image(g.rng, n)} for n in (1, 2)]


def rng_image(rng, batch):
    """Smooth noise, normalized: neighbours are alike, as in photographs."""
    coarse = rng.standard_normal((batch, 3, 14, 14), F32)
    return (np.kron(coarse, np.ones((16, 16), F32)) + 0.3 * rng.standard_normal((batch, 3, 224, 224), F32)).astype(F32)


def resnet50(g):
    def block(x, c, k, stride):
        y = g.op('Relu', g.norm(g.conv(x, c, k, 1), k))
        y = g.op('Relu', g.norm(g.conv(y, k, k, 3, stride), k))
        y = g.norm(g.conv(y, k, 4 * k, 1), 4 * k, gain=0.3)
        if stride != 1 or c != 4 * k:
            x = g.norm(g.conv(x, c, 4 * k, 1, stride), 4 * k)
        return g.op('Relu', g.op('Add', y, x))
    x, feeds = image(g)
    x = g.op('Relu', g.norm(g.conv(x, 3, 64, 7, 2), 64))
    x, c = g.op('MaxPool', x, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]), 64
    for k, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(count):
            x, c = block(x, c, k, stride if i == 0 else 1), 4 * k
    x = g.op('Flatten', g.op('GlobalAveragePool', x))
    g.output(g.dense(x, 2048, 1000), 'logits', ['N', 1000])
    return feeds


# kernel, expanded and output channels, squeeze-and-excite, activation, stride
MOBILENET_V3_LARGE = [
    (3, 16, 16, False, 'Relu', 1), (3, 64, 24, False, 'Relu', 2), (3, 72, 24, False, 'Relu', 1),
    (5, 72, 40, True, 'Relu', 2), (5, 120, 40, True, 'Relu', 1), (5, 120, 40, True, 'Relu', 1),
    (3, 240, 80, False, 'HardSwish', 2), (3, 200, 80, False, 'HardSwish', 1), (3, 184, 80, False, 'HardSwish', 1),
    (3, 184, 80, False, 'HardSwish', 1), (3, 480, 112, True, 'HardSwish', 1), (3, 672, 112, True, 'HardSwish', 1),
    (5, 672, 160, True, 'HardSwish', 2), (5, 960, 160, True, 'HardSwish', 1), (5, 960, 160, True, 'HardSwish', 1)]


def mobilenet_v3_large(g):
    def excite(x, c):
        squeezed = (c // 4 + 7) // 8 * 8
        y = g.op('Relu', g.conv(g.op('GlobalAveragePool', x), c, squeezed, 1, bias=True))
        return g.op('Mul', x, g.op('HardSigmoid', g.conv(y, squeezed, c, 1, bias=True), alpha=1 / 6))
    x, feeds = image(g)
    x, c = g.op('HardSwish', g.norm(g.conv(x, 3, 16, 3, 2), 16)), 16
    for size, wide, k, attention, activation, stride in MOBILENET_V3_LARGE:
        y = x if wide == c else g.op(activation, g.norm(g.conv(x, c, wide, 1), wide))
        y = g.op(activation, g.norm(g.conv(y, wide, wide, size, stride, group=wide), wide))
        y = g.norm(g.conv(excite(y, wide) if attention else y, wide, k, 1), k, gain=0.7)
        x, c = g.op('Add', x, y) if stride == 1 and c == k else y, k
    x = g.op('HardSwish', g.norm(g.conv(x, 160, 960, 1), 960))
    x = g.op('HardSwish', g.dense(g.op('Flatten', g.op('GlobalAveragePool', x)), 960, 1280))
    g.output(g.dense(x, 1280, 1000), 'logits', ['N', 1000])
    return feeds


def vgg11(g):
    x, feeds = image(g)
    c = 3
    for k, pool in ((64, 1), (128, 1), (256, 0), (256, 1), (512, 0), (512, 1), (512, 0), (512, 1)):
        x, c = g.op('Relu', g.conv(x, c, k, 3, bias=True)), k
        if pool:
            x = g.op('MaxPool', x, kernel_shape=[2, 2], strides=[2, 2])
    x = g.op('Flatten', x)
    for c, k in ((512 * 49, 4096), (4096, 4096)):
        x = g.op('Relu', g.dense(x, c, k))
    g.output(g.dense(x, 4096, 1000), 'logits', ['N', 1000])
    return feeds


def bert_base(g, layers=12, heads=12, width=768, inner=3072, vocabulary=30522, length=128):
    scalar = {v: g.constant(F32(v)) for v in (0.5, 1.0, 2 ** 0.5, -1e4, (width // heads) ** -0.5)}
    split, joined = g.constant(np.array([0, 0, heads, width // heads], I64)), g.constant(np.array([0, 0, width], I64))

    def normalized(x):
        return g.op('LayerNormalization', x, g.normal(width, std=0.1, mean=1.0), g.normal(width, std=0.1),
                    axis=-1, epsilon=1e-12)

    def head(x, perm):
        return g.op('Transpose', g.op('Reshape', g.linear(x, width, width), split), perm=perm)

    def attention(x, hidden):
        query, key, value = head(x, [0, 2, 1, 3]), head(x, [0, 2, 3, 1]), head(x, [0, 2, 1, 3])
        scores = g.op('Mul', g.op('MatMul', query, key), scalar[(width // heads) ** -0.5])
        y = g.op('MatMul', g.op('Softmax', g.op('Add', scores, hidden), axis=-1), value)
        return g.linear(g.op('Reshape', g.op('Transpose', y, perm=[0, 2, 1, 3]), joined), width, width)

    def gelu(x):
        erf = g.op('Erf', g.op('Div', x, scalar[2 ** 0.5]))
        return g.op('Mul', g.op('Mul', x, g.op('Add', erf, scalar[1.0])), scalar[0.5])
    ids = g.input('input_ids', TensorProto.INT64, ['N', length])
    mask = g.input('attention_mask', TensorProto.INT64, ['N', length])
    x = g.op('Add', g.op('Gather', g.normal(vocabulary, width, std=1.0), ids), g.normal(1, length, width, std=0.3))
    x = normalized(x)
    ignored = g.op('Sub', scalar[1.0], g.op('Cast', mask, to=TensorProto.FLOAT))
    hidden = g.op('Mul', g.op('Unsqueeze', ignored, g.constant(np.array([1, 2], I64))), scalar[-1e4])
    for _ in range(layers):
        x = normalized(g.op('Add', x, attention(x, hidden)))
        x = normalized(g.op('Add', x, g.linear(gelu(g.linear(x, width, inner)), inner, width)))
    first = g.op('Gather', x, g.constant(np.array(0, I64)), axis=1)
    g.output(x, 'last_hidden_state', ['N', length, width])
    g.output(g.op('Tanh', g.dense(first, width, width)), 'pooled', ['N', width])
    lengths = np.array([[length], [length // 3]])
    return [{ids: g.rng.integers(1000, vocabulary, (n, length)), mask: (np.arange(length) < lengths[:n]).astype(I64)}
            for n in (1, 2)]


def tiny(g):
    """Ten nodes over almost nothing: what is left is the cost of a run and of a node."""
    x = g.input('x', TensorProto.FLOAT, ['N', 16])
    y = x
    for _ in range(3):
        y = g.op('Tanh', g.op('Add', g.op('MatMul', y, g.normal(16, 16, std=0.25)), g.normal(16, std=0.1)))
    g.output(y, 'y', ['N', 16])
    return [{x: g.rng.standard_normal((n, 16), F32)} for n in (1, 4)]


def halved(model, feeds):
    """The same model and inputs with float16 for float32."""
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    for info in [*model.graph.input, *model.graph.output]:
        if info.type.tensor_type.elem_type == TensorProto.FLOAT:
            info.type.tensor_type.elem_type = TensorProto.FLOAT16
    return model, [{k: x.astype(np.float16) if x.dtype == F32 else x for k, x in feed.items()} for feed in feeds]


MODELS = {'resnet50': resnet50, 'mobilenet_v3_large': mobilenet_v3_large, 'bert_base': bert_base, 'vgg11': vgg11,
          'tiny': tiny, 'resnet50_f16': resnet50, 'mobilenet_v3_large_f16': mobilenet_v3_large}
EXTERNAL = {'vgg11'}  # 532 MB of weights, in a file beside the model


def make(name, out):
    stamp = testset.stamp(name.encode(), testset.contents(os.path.abspath(__file__)))
    if testset.up_to_date(os.path.join(out, name), stamp):
        print(f'{name}: up to date')
        return
    g = Graph(name.removesuffix('_f16'))
    feeds = MODELS[name](g)
    model, rule = g.model(), 'f32'
    if name.endswith('_f16'):
        (model, feeds), rule = halved(model, feeds), 'f16'

    def save(path):
        external = {'save_as_external_data': True, 'location': 'model.data'} if name in EXTERNAL else {}
        onnx.save(model, path, **external)
    made = testset.write(os.path.join(out, name), save, (feed for feed in feeds), rule, {
        'package': 'tests/models/zoo.py', 'licence': 'Apache-2.0', 'exercises': 'speed', 'stamp': stamp})
    print(f'{name}: {made["data_sets"]} data sets, rtol {made["rtol"]:g}, atol {made["atol"]:.3g}', flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    unknown = [name for name in sys.argv[2:] if name not in MODELS]
    if unknown:
        sys.exit(f'no architecture {", ".join(unknown)}; there are {", ".join(MODELS)}')
    for name in sys.argv[2:] or MODELS:
        make(name, sys.argv[1])


if __name__ == '__main__':
    main()
