#!/usr/bin/env python3
"""Train the digits classifier of this folder and write digits.onnx with a few inputs.

usage: train.py [OUT]         needs numpy, scikit-learn and onnx; takes some ten seconds

The data are the 1797 grey 8x8 digits that scikit-learn ships.  An input is pixel/255, with pixels as an 8-bit PNG
holds them, so that a .png and a .npy of the same digit are the same tensor.  The network and its training are plain
NumPy: two convolutions as matrix products over patches, a max-pool, one dense layer, Adam on the cross entropy.
"""
import os
import struct
import sys
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

EPOCHS, BATCH, RATE, HELD_OUT = 60, 32, 2e-3, 360
EXAMPLES = {3: 'three', 5: 'five', 7: 'seven'}


def load(rng):
    """Images float32[n,1,8,8] in 0..1 and labels, split into what is trained on and what is held out."""
    digits = load_digits()
    pixels = np.rint(digits.images * (255 / 16)).astype(np.uint8)
    order = rng.permutation(len(pixels))
    images = (pixels[order, None] / np.float32(255)).astype(np.float32)
    labels = digits.target[order]
    return (images[HELD_OUT:], labels[HELD_OUT:]), (images[:HELD_OUT], labels[:HELD_OUT])


def initial(rng):
    def he(*shape):
        return (rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))).astype(np.float32)
    return {'conv1.weight': he(16, 1, 3, 3), 'conv1.bias': np.zeros(16, np.float32),
            'conv2.weight': he(32, 16, 3, 3), 'conv2.bias': np.zeros(32, np.float32),
            'dense.weight': he(10, 512), 'dense.bias': np.zeros(10, np.float32)}


def patches(x):
    """float32[n,c,h,w] to the 3x3 surroundings of every pixel, float32[n,h,w,c*9]."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def conv(x, weight, bias):
    columns = patches(x)
    y = columns @ weight.reshape(len(weight), -1).T + bias
    return y.transpose(0, 3, 1, 2), columns


def conv_backward(dy, columns, weight):
    """Gradients of the weight, the bias and the input: the last is a convolution with the weight turned around."""
    flat = dy.transpose(0, 2, 3, 1).reshape(-1, len(weight))
    dweight = (flat.T @ columns.reshape(len(flat), -1)).reshape(weight.shape)
    turned = weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    dx, _ = conv(dy, turned, np.float32(0))
    return dweight, flat.sum(0), dx


def pool(x):
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2)
    y = blocks.max(axis=(3, 5))
    return y, blocks == y[:, :, :, None, :, None]


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def forward(p, x):
    """Probabilities, and what the way back needs."""
    a1, columns1 = conv(x, p['conv1.weight'], p['conv1.bias'])
    pooled, chosen = pool(np.maximum(a1, 0))
    a2, columns2 = conv(pooled, p['conv2.weight'], p['conv2.bias'])
    flat = np.maximum(a2, 0).reshape(len(x), -1)
    return softmax(flat @ p['dense.weight'].T + p['dense.bias']), (a1, columns1, chosen, a2, columns2, flat)


def gradients(p, x, labels):
    probabilities, (a1, columns1, chosen, a2, columns2, flat) = forward(p, x)
    dlogits = (probabilities - np.eye(10, dtype=np.float32)[labels]) / len(x)
    g = {'dense.weight': dlogits.T @ flat, 'dense.bias': dlogits.sum(0)}
    da2 = (dlogits @ p['dense.weight']).reshape(a2.shape) * (a2 > 0)
    g['conv2.weight'], g['conv2.bias'], dpooled = conv_backward(da2, columns2, p['conv2.weight'])
    da1 = (dpooled[:, :, :, None, :, None] * chosen).reshape(a1.shape) * (a1 > 0)
    g['conv1.weight'], g['conv1.bias'], _ = conv_backward(da1, columns1, p['conv1.weight'])
    return g


def shifted(x, rng):
    """The same digits moved by up to one pixel: a cheap way to more data."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    dy, dx = rng.integers(0, 3, 2)
    return padded[:, :, dy:dy + 8, dx:dx + 8]


def train(p, images, labels, rng):
    mean = {k: np.zeros_like(v) for k, v in p.items()}
    square = {k: np.zeros_like(v) for k, v in p.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = rng.permutation(len(images))
        for rows in np.split(order, range(BATCH, len(order), BATCH)):
            step += 1
            for k, g in gradients(p, shifted(images[rows], rng), labels[rows]).items():
                mean[k] += 0.1 * (g - mean[k])
                square[k] += 0.001 * (g * g - square[k])
                p[k] -= rate * (mean[k] / (1 - 0.9 ** step)) / (np.sqrt(square[k] / (1 - 0.999 ** step)) + 1e-8)


def accuracy(p, images, labels):
    return float((forward(p, images)[0].argmax(1) == labels).mean())


def export(p, path, measured):
    nodes = [
        helper.make_node('Conv', ['image', 'conv1.weight', 'conv1.bias'], ['conv1'], 'conv1', pads=[1, 1, 1, 1]),
        helper.make_node('Relu', ['conv1'], ['relu1'], 'relu1'),
        helper.make_node('MaxPool', ['relu1'], ['pool1'], 'pool1', kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node('Conv', ['pool1', 'conv2.weight', 'conv2.bias'], ['conv2'], 'conv2', pads=[1, 1, 1, 1]),
        helper.make_node('Relu', ['conv2'], ['relu2'], 'relu2'),
        helper.make_node('Flatten', ['relu2'], ['features'], 'flatten', axis=1),
        helper.make_node('Gemm', ['features', 'dense.weight', 'dense.bias'], ['logits'], 'dense', transB=1),
        helper.make_node('Softmax', ['logits'], ['probabilities'], 'softmax', axis=1),
    ]
    graph = helper.make_graph(
        nodes, 'digits',
        [helper.make_tensor_value_info('image', TensorProto.FLOAT, ['N', 1, 8, 8])],
        [helper.make_tensor_value_info('probabilities', TensorProto.FLOAT, ['N', 10])],
        [numpy_helper.from_array(v, k) for k, v in p.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8,
                              producer_name='examples/digits/train.py')
    model.doc_string = f'Handwritten digits, 8x8 grey. {measured:.2%} of {HELD_OUT} held-out images are right.'
    helper.set_model_props(model, {'input': 'pixel / 255, white on black', 'data': 'sklearn.datasets.load_digits',
                                   'test_images': str(HELD_OUT), 'test_accuracy': f'{measured:.4f}'})
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def write_png(path, pixels):
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    h, w = pixels.shape
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)
    with open(path, 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', w, h, 8, 0, 0, 0, 0)) +
                chunk(b'IDAT', zlib.compress(rows, 9)) + chunk(b'IEND', b''))


def write_examples(p, images, labels, out):
    """Held-out digits as files: single ones that the network is sure of, and the first 16 as a batch."""
    probabilities = forward(p, images)[0]
    for digit, name in EXAMPLES.items():
        best = int(np.argmax(probabilities[:, digit] * (labels == digit)))
        np.save(os.path.join(out, name + '.npy'), images[best:best + 1])
        write_png(os.path.join(out, name + '.png'), np.rint(images[best, 0] * 255).astype(np.uint8))
    np.save(os.path.join(out, 'batch.npy'), images[:16])
    np.savetxt(os.path.join(out, 'batch_labels.txt'), labels[:16], fmt='%d')


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    rng = np.random.default_rng(1)
    known, held_out = load(rng)
    p = initial(rng)
    train(p, *known, rng)
    measured = accuracy(p, *held_out)
    print(f'trained on {len(known[0])}: {accuracy(p, *known):.2%}; held out {HELD_OUT}: {measured:.2%}')
    export(p, os.path.join(out, 'digits.onnx'), measured)
    write_examples(p, *held_out, out)


if __name__ == '__main__':
    main()
