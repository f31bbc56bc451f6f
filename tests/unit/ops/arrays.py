"""Cases of one node whose types are those of its arrays."""
import numpy as np
from onnx import TensorProto, helper

from one_node import Cases, types


def element_type(x):
    return TensorProto.STRING if x.dtype == object else helper.np_dtype_to_tensor_dtype(x.dtype)


def allowed(schema, param):
    """The NumPy types of an input."""
    name = param.type_str
    codes = [TensorProto.FLOAT] if name == 'tensor(float)' else types(schema, name)
    return [np.dtype(helper.tensor_dtype_to_np_dtype(t)) if t != TensorProto.STRING else np.dtype(object) for t in codes]


class ArrayCases(Cases):
    def node(self, op, opset, inputs, outputs, tolerance=(0, 0), says=None, name='', constant=(), **attributes):
        """inputs: arrays, None where one is absent; constant: the numbers of those that are initializers."""
        names = [f'i{k}' if x is not None else '' for k, x in enumerate(inputs)]
        given = {n: (element_type(x), x) for n, x in zip(names, inputs) if x is not None}
        made = {f'o{k}': (element_type(y), y) for k, y in enumerate(outputs)}
        node = helper.make_node(op, names, list(made), name='node', **attributes)
        self.add(node, opset, given, made, [f'i{k}' for k in constant], says, f'{op}_{name}' if name else op,
                 tolerance=tolerance)
