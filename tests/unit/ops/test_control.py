#!/usr/bin/env python3
"""Control flow: what Scan of version 8 asks of its batch."""
import numpy as np
from onnx import TensorProto, helper

from arrays import ArrayCases

cases = ArrayCases()


def info(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [2])


body = helper.make_graph([helper.make_node('Add', ['sum', 'next'], ['total']), helper.make_node('Identity', ['total'], ['seen'])],
                         'body', [info('sum'), info('next')], [info('total'), info('seen')])
x = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
start = np.zeros((2, 2), np.float32)
sums = np.cumsum(x, 1)
for lengths in (None, np.array([3, 3])):
    cases.node('Scan', 8, [lengths, start, x], [sums[:, -1], sums], body=body, num_scan_inputs=1)
cases.node('Scan', 8, [None, np.zeros((5, 2), np.float32), x], [sums[:, -1], sums], body=body, num_scan_inputs=1,
           says='a batch of 2, that of input 1 is 5')
cases.node('Scan', 8, [np.array([3]), start, x], [sums[:, -1], sums], body=body, num_scan_inputs=1,
           says='has 1 lengths for a batch of 2')

cases.run()
