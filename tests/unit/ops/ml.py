"""What the tests of ai.onnx.ml share: cases of its nodes, and scores as ONNX transforms them."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from arrays import element_type
from one_node import Cases

DOMAIN = 'ai.onnx.ml'
TRANSFORMS = ['NONE', 'SOFTMAX', 'LOGISTIC', 'SOFTMAX_ZERO', 'PROBIT']
NUMBERS = [np.float32, np.float64, np.int64, np.int32]
ELEMENTS = {str: TensorProto.STRING, int: TensorProto.INT64, float: TensorProto.FLOAT, np.float32: TensorProto.FLOAT,
            np.float64: TensorProto.DOUBLE, np.int64: TensorProto.INT64}


def strings(values, shape=None):
    flat = np.empty(len(values), object)
    flat[:] = values
    return flat if shape is None else flat.reshape(shape)


def map_type(key, value):
    return helper.make_map_type_proto(ELEMENTS[key], helper.make_tensor_type_proto(ELEMENTS[value], []))


def maps_type(key, value):
    return helper.make_sequence_type_proto(map_type(key, value))


class MlCases(Cases):
    """Values are arrays, or pairs of a TypeProto and a dict or list."""

    def node(self, op, version, inputs, outputs, tolerance=(1e-6, 1e-30), says=None, name='', **attributes):
        def typed(v):
            return v if isinstance(v, tuple) else (element_type(np.asarray(v)), np.asarray(v))

        given = {f'i{k}': typed(v) for k, v in enumerate(inputs)}
        made = {f'o{k}': typed(v) for k, v in enumerate(outputs)}
        attributes = {k: v for k, v in attributes.items() if v is not None}
        node = helper.make_node(op, list(given), list(made), name='node', domain=DOMAIN, **attributes)
        self.add(node, version, given, made, says=says, domain=DOMAIN, tolerance=tolerance, name=f'{op}_{name}')

    def refuse(self, op, version, inputs, says, outputs=(np.zeros(1, np.float32),), **attributes):
        self.node(op, version, inputs, outputs, says=says, **attributes)


def probit(p):
    """With Winitzki's approximation of the inverse of erf, as onnx.reference and ONNX Runtime have it."""
    x = 2 * np.asarray(p, np.float64) - 1
    a = 0.147
    with np.errstate(all='ignore'):
        y = np.log((1 - x) * (1 + x))
        b = 2 / (np.pi * a) + y / 2
        result = np.where(x < 0, -1, 1) * np.sqrt(np.sqrt(b * b - y / a) - b) * 1.41421356
    return np.where((1 - x) * (1 + x) == 0, 0, result)


def transform(kind, scores):
    """scores: rows of double."""
    s = np.array(scores, np.float64)
    if kind == 'LOGISTIC':
        return 1 / (1 + np.exp(-s))
    if kind == 'PROBIT':
        return probit(s)
    if kind == 'NONE' or s.size == 0:
        return s
    top = s.max(axis=1, keepdims=True)
    e = np.exp(s - top)
    if kind == 'SOFTMAX_ZERO':
        e = np.where(np.abs(s) > 1e-7, e, s * np.exp(-top))
        sums = e.sum(axis=1, keepdims=True)
        return np.where(sums == 0, 0.5, e / np.where(sums == 0, 1, sums))
    return e / e.sum(axis=1, keepdims=True)


def as_labels(labels, top):
    chosen = [labels[k] for k in top]
    return strings(chosen) if isinstance(labels[0], str) else np.array(chosen, np.int64)
