"""Nodes with values for operators, or versions of them, that the official data has none of: (node, [value or None])."""
import struct

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F = np.float32
ML = 'ai.onnx.ml'
X4 = np.arange(16, dtype=F).reshape(1, 1, 4, 4)
X2 = np.arange(6, dtype=F).reshape(2, 3) / 4


def sequence(*arrays):
    made = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR)
    made.tensor_values.extend(numpy_helper.from_array(np.asarray(a)) for a in arrays)
    return made


def optional(array):
    made = onnx.OptionalProto(elem_type=onnx.OptionalProto.TENSOR)
    made.tensor_value.CopyFrom(numpy_helper.from_array(array))
    return made


def base(op, *values, domain='', outputs=1, **attributes):
    made = [v if v is None or not isinstance(v, (np.ndarray, list, int, float)) else numpy_helper.from_array(np.asarray(v)) for v in values]
    node = helper.make_node(op, [f'i{i}' for i in range(len(values))], [f'o{i}' for i in range(outputs)], domain=domain, **attributes)
    return node, made


def bitmap(width=2, height=2):
    """A picture without compression, of three bytes a pixel, rows padded to four."""
    row = (3 * width + 3) // 4 * 4
    head = struct.pack('<2sIHHI', b'BM', 54 + row * height, 0, 0, 54)
    info = struct.pack('<IiiHHIIiiII', 40, width, height, 1, 24, 0, row * height, 0, 0, 0, 0)
    return np.frombuffer(head + info + bytes(range(row * height)), np.uint8).copy()


def double_body():
    """The body of Loop-1: the condition, what is carried, and a scan output."""
    info = helper.make_tensor_value_info
    return helper.make_graph([helper.make_node('Identity', ['c'], ['go']), helper.make_node('Add', ['v', 'v'], ['next']),
                              helper.make_node('Identity', ['v'], ['seen'])], 'body',
                             [info('i', TensorProto.INT64, []), info('c', TensorProto.BOOL, []), info('v', TensorProto.FLOAT, None)],
                             [info('go', TensorProto.BOOL, []), *(info(name, TensorProto.FLOAT, None) for name in ('next', 'seen'))])


TREE = {'nodes_treeids': [0, 0, 0], 'nodes_nodeids': [0, 1, 2], 'nodes_featureids': [0, 0, 0], 'nodes_values': [0.5, 0.0, 0.0],
        'nodes_modes': ['BRANCH_LEQ', 'LEAF', 'LEAF'], 'nodes_truenodeids': [1, 0, 0], 'nodes_falsenodeids': [2, 0, 0],
        'nodes_missing_value_tracks_true': [0, 0, 0]}


def of_all_versions():
    """By (domain, operator)."""
    nodes = [
        base('ConcatFromSequence', sequence(X2, X2), axis=0), base('SequenceAt', sequence(X2, X2), np.array(1)),
        base('SequenceErase', sequence(X2, X2), np.array(0)), base('SequenceLength', sequence(X2)),
        base('OptionalHasElement', optional(X2)), base('GlobalLpPool', X4), base('ImageDecoder', bitmap()),
        base('MaxRoiPool', X4, np.array([[0, 0, 0, 3, 3]], F), pooled_shape=[2, 2]),
        base('Imputer', X2, domain=ML, imputed_value_floats=[1.5], replaced_value_float=0.25),
        base('LinearClassifier', X2, domain=ML, outputs=2, coefficients=[1.0, -1, 2, 0, 1, 1], intercepts=[0.0, 1],
             classlabels_ints=[3, 5]),
        base('LinearRegressor', X2, domain=ML, coefficients=[1.0, -1, 2], intercepts=[0.5]),
        base('SVMClassifier', X2, domain=ML, outputs=2, kernel_type='LINEAR', kernel_params=[0.5, 0.0, 3.0], classlabels_ints=[0, 1],
             coefficients=[1.0, -1], rho=[0.25], support_vectors=[0.0, 1, 2, 1, 1, 0], vectors_per_class=[1, 1]),
        base('SVMRegressor', X2, domain=ML, kernel_type='RBF', kernel_params=[0.5, 0.0, 3.0], coefficients=[1.0, -1], rho=[0.25],
             n_supports=2, support_vectors=[0.0, 1, 2, 1, 1, 0]),
        base('TreeEnsembleClassifier', X2, domain=ML, outputs=2, classlabels_int64s=[4, 7], class_treeids=[0, 0], class_nodeids=[1, 2],
             class_ids=[0, 1], class_weights=[1.0, 2.0], **TREE),
        base('TreeEnsembleRegressor', X2, domain=ML, n_targets=1, target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0],
             target_weights=[1.0, 2.0], **TREE),
        base('OneHotEncoder', np.array([[1, 3]]), domain=ML, cats_int64s=[1, 2, 3], zeros=1),
        base('ZipMap', X2, domain=ML, classlabels_int64s=[1, 2, 3]),
    ]
    found = {}
    for node, values in nodes:
        found.setdefault((node.domain, node.op_type), []).append((node, values))
    return found


def of_one_version():
    """By (operator, version) of ai.onnx: forms that no later version has."""
    x, one, scales = X2, np.array([2.0, 1.0], F), np.array([1, 1, 2, 2], F)
    norm = [np.array(v, F) for v in ([1.0], [0.5], [2.0], [4.0])]
    resize = [X4, np.array([], F), scales]
    return {('BatchNormalization', 1): [base('BatchNormalization', X4, *norm, is_test=1, consumed_inputs=[0, 0, 0, 1, 1])],
            ('Cast', 1): [base('Cast', x, to='INT32'), base('Cast', x, to='DOUBLE')],
            ('Gemm', 1): [base('Gemm', x, x.T.copy(), np.ones((2, 2), F)), base('Gemm', x, x.T.copy(), np.ones(2, F), broadcast=1)],
            ('GridSample', 16): [base('GridSample', X4, np.zeros((1, 2, 2, 2), F), mode='bilinear')],
            ('Loop', 1): [base('Loop', np.array(2), np.array(True), x, outputs=2, body=double_body())],
            ('Pad', 1): [base('Pad', x, paddings=[0, 1, 1, 0], mode='constant', value=1.0)],
            ('Resize', 10): [base('Resize', X4, scales, mode='linear')], ('Resize', 11): [base('Resize', *resize, mode='linear')],
            ('Resize', 13): [base('Resize', *resize, mode='cubic')],
            ('Tile', 1): [base('Tile', x, one[:1].reshape(()), one[1:].reshape(()))],
            ('Upsample', 1): [base('Upsample', X4, height_scale=2.0, width_scale=1.5, mode='nearest')]}
