"""Nodes with values for com.microsoft's operators: (node, [value or None])."""
import numpy as np
from onnx import helper, numpy_helper

f32, u8, i8, i32, i64 = np.float32, np.uint8, np.int8, np.int32, np.int64
rng = np.random.default_rng(7)


def reals(*shape):
    return rng.standard_normal(shape).astype(f32)


def codes(*shape):
    return rng.integers(0, 100, shape).astype(u8)


def ids(top, *shape, t=i32):
    return rng.integers(0, top, shape).astype(t)


def number(x, t=f32):
    return np.asarray(x, t)


def quantized(*shape):
    """Codes, their scale, their zero point."""
    return codes(*shape), number(0.02), number(50, u8)


def nodes():
    """(operator, outputs, inputs, attributes)"""
    x, y, s, z = reals(2, 3, 4), reals(2, 3, 4), number(0.02), number(50, u8)
    image, row, ones = codes(1, 6, 6, 3), reals(4), np.ones(2, i64)
    yield 'QLinearAdd', 1, [*quantized(2, 3), *quantized(2, 3), s, z], {}
    yield 'QLinearMul', 1, [*quantized(2, 3), *quantized(3), s, z], {}
    for op in ('QLinearSigmoid', 'QLinearLeakyRelu'):
        yield op, 1, [*quantized(2, 3), s, z], {}
    yield 'QLinearSoftmax', 1, [*quantized(2, 3), number(1 / 256), number(0, u8)], {'axis': -1, 'opset': 13}
    yield 'QLinearWhere', 1, [ids(2, 2, 3, t=bool), *quantized(2, 3), *quantized(2, 3), s, z], {}
    yield 'QLinearConcat', 1, [s, z, *quantized(2, 3), *quantized(1, 3)], {'axis': 0}
    yield 'QLinearGlobalAveragePool', 1, [*quantized(1, 2, 3, 3), s, z], {'channels_last': 0}
    yield 'QLinearReduceMean', 1, [*quantized(2, 3), s, z], {'axes': [1], 'keepdims': 1}
    for last in (0, 1):
        window = {'kernel_shape': [2, 2], 'channels_last': last}
        yield 'QLinearAveragePool', 1, [image, s, z, s, z], window
        w = ids(60, 2, 3 if last else 6, 2, 2, t=i8)
        yield 'QLinearConv', 1, [image, s, z, w, s, number(0, i8), s, z, ids(9, 2)], window
    yield 'NhwcMaxPool', 1, [image], {'kernel_shape': [2, 2]}
    yield 'NhwcConv', 1, [reals(1, 5, 5, 3), reals(2, 3, 2, 2), reals(2)], {}
    yield 'NhwcFusedConv', 1, [reals(1, 5, 5, 3), reals(2, 3, 2, 2), reals(2), reals(1, 4, 4, 2)], {'activation': 'Relu'}
    yield 'FusedConv', 1, [reals(1, 3, 5, 5), reals(2, 3, 2, 2), reals(2), reals(1, 2, 4, 4)], {'activation': 'Relu'}
    yield 'FusedGemm', 1, [reals(2, 3), reals(3, 4), row], {'activation': 'LeakyRelu', 'activation_alpha': 0.1}
    for op in ('FusedMatMul', 'TransposeMatMul'):
        yield op, 1, [reals(2, 3, 4), reals(2, 4, 2)], {'transA': 0, 'alpha': 0.5}
    yield 'QGemm', 1, [*quantized(2, 3), *quantized(3, 4), ids(9, 4), s, z], {'alpha': 0.5, 'transB': 0}
    yield 'MatMulIntegerToFloat', 1, [codes(2, 3), codes(3, 4), s, s, z, z, row], {}
    yield 'DynamicQuantizeMatMul', 1, [reals(2, 3), codes(3, 4), s, z, row], {}
    yield 'DynamicQuantizeLSTM', 3, [reals(3, 2, 4), codes(1, 4, 8), codes(1, 2, 8), None, None, None, None, None, number([0.02]),
                                     number([50], u8), number([0.02]), number([50], u8)], {'hidden_size': 2}
    for op in ('Gelu', 'QuickGelu'):
        yield op, 1, [x], {}
    for op in ('BiasGelu', 'FastGelu'):
        yield op, 1, [x, row], {}
    yield 'BiasAdd', 1, [x, row, y], {}
    yield 'SkipLayerNormalization', 4, [x, y, row, row, row], {}
    yield 'SkipSimplifiedLayerNormalization', 4, [x, y, row, row], {}
    yield 'Trilu', 1, [x, number(1, i64)], {'upper': 0}
    yield 'GatherND', 1, [x, ids(2, 3, 2, t=i64)], {}
    yield 'QuantizeLinear', 1, [x, s, z], {}
    yield 'DequantizeLinear', 1, quantized(2, 3), {}
    yield 'MultiHeadAttention', 3, [reals(1, 2, 6), reals(1, 2, 6), reals(1, 2, 6), reals(18), ids(2, 1, 3), reals(1, 2, 2, 3),
                                    reals(1, 2, 1, 3), reals(1, 2, 1, 3)], {'num_heads': 2}
    yield 'Attention', 2, [reals(1, 2, 4), reals(4, 18), reals(18), ids(2, 1, 3), reals(2, 1, 2, 1, 3)], {'num_heads': 2}
    yield 'QAttention', 2, [codes(1, 2, 4), codes(4, 18), reals(18), s, s, ids(2, 1, 3), z, z, reals(2, 1, 2, 1, 3)], {'num_heads': 2}
    yield 'GroupQueryAttention', 3, [reals(1, 1, 32), reals(1, 1, 16), reals(1, 1, 16), reals(1, 1, 2, 16), reals(1, 1, 2, 16),
                                     number([2], i32), number(3, i32)], {'num_heads': 2, 'kv_num_heads': 1}
    yield 'RotaryEmbedding', 1, [reals(1, 2, 3, 4), ids(5, 1, 3, t=i64), reals(6, 2), reals(6, 2)], {'interleaved': 0}
    yield 'MatMulNBits', 1, [reals(2, 16), codes(3, 1, 8), reals(3), codes(3), None, reals(3)], {'K': 16, 'N': 3, 'bits': 4, 'block_size': 16}
    yield 'EmbedLayerNormalization', 3, [ids(5, 1, 3), ids(2, 1, 3), reals(5, 4), reals(4, 4), reals(2, 4), row, row, ids(2, 1, 3)], {}
    yield 'CDist', 1, [reals(3, 4), reals(2, 4)], {'metric': 'euclidean'}
    yield 'Tokenizer', 1, [np.array(['a b', 'c'], object)], {'mark': 0, 'pad_value': '#', 'separators': [' '], 'mincharnum': 1}
    yield 'Range', 1, [number(1, i32), number(9, i32), number(2, i32)], {}
    yield 'ExpandDims', 1, [x, number(1, i32)], {}
    yield 'Pad', 1, [reals(2, 3), number([0, 1, 1, 0], i64), number(2.5)], {'mode': 'constant'}
    yield 'Unique', 3, [number([2, 1, 1, 3])], {}
    yield 'GridSample', 1, [reals(1, 2, 3, 3), reals(1, 2, 2, 2)], {'mode': 'bilinear'}
    yield 'GatherBlockQuantized', 1, [codes(5, 8), ids(5, 2), reals(5, 1), codes(5, 1)], {'block_size': 16, 'quantize_axis': 1}
    yield 'Inverse', 1, [reals(2, 3, 3)], {}
    yield 'Rfft', 1, [reals(2, 4, 6)], {'signal_ndim': 1}
    yield 'Irfft', 1, [reals(2, 4, 4, 2)], {'signal_ndim': 1}
    for op in ('ComplexMul', 'ComplexMulConj'):
        yield op, 1, [reals(2, 3, 2), reals(3, 2)], {}
    yield 'BiasSplitGelu', 1, [x, row], {}
    yield 'GemmFastGelu', 1, [x, reals(4, 3), reals(3)], {}
    yield 'BiasSoftmax', 1, [x, row], {'axis': 2, 'is_inner_broadcast': 0}
    yield 'BiasDropout', 2, [x, row, y, number(0.5), number(False, bool)], {}
    yield 'FusedMatMulActivation', 1, [x, reals(4, 3)], {'activation': 'Relu'}
    yield 'MulInteger', 1, [codes(2, 3), z, codes(3), z], {}
    yield 'MatMulInteger16', 1, [ids(99, 2, 3, t=np.int16), ids(99, 3, 4, t=np.int16)], {}
    yield 'TorchEmbedding', 1, [reals(5, 3), ids(5, 2, t=i64), number(1, i64), number(True, bool)], {}
    yield 'UnfoldTensor', 1, [reals(4, 6)], {'size': 2, 'dim': 1, 'step': 2}
    yield 'SampleOp', 1, [x], {}
    yield 'MurmurHash3', 1, [ids(99, 2, 3)], {'seed': 7, 'positive': 0}
    yield 'MurmurHash3', 1, [np.array(['a', 'bcdef'], object)], {'positive': 0}
    yield 'NGramRepeatBlock', 1, [ids(5, 2, 4, t=i64), reals(2, 5)], {'ngram_size': 2}
    yield 'QEmbedLayerNormalization', 2, [ids(5, 1, 3), ids(2, 1, 3), codes(5, 4), codes(4, 4), codes(2, 4), codes(4), codes(4), ids(2, 1, 3),
                                          s, s, s, s, s, z, z, z, z, z], {}


def of_microsoft():
    """By (domain, name): [(node, values)]."""
    found = {}
    for op, n_out, inputs, attributes in nodes():
        names = [f'i{k}' if x is not None else '' for k, x in enumerate(inputs)]
        node = helper.make_node(op, names, [f'o{k}' for k in range(n_out)], domain='com.microsoft', **attributes)
        values = [None if x is None else numpy_helper.from_array(np.asarray(x)) for x in inputs]
        found.setdefault(('com.microsoft', op), []).append((node, values))
    return found
