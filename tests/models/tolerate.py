#!/usr/bin/env python3
"""Write `tolerance` into test folders that have none, by the rules of testset.py.

usage: tolerate.py DIR...         DIR/NAME/{model.onnx, test_data_set_N}; needs numpy, onnx and onnxruntime

The rule follows from the model: int8 if it quantizes what it computes, f16 if it has float16 tensors, f32 otherwise.
"""
import glob
import os
import sys

import onnx
from onnx import TensorProto, numpy_helper

import quantized
import testset


def tensors(folder, kind):
    """The tensors of a data set by name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, f'{kind}_*.pb'))):
        t = onnx.TensorProto()
        t.ParseFromString(testset.contents(path))
        found[t.name] = numpy_helper.to_array(t)
    return found


def rule_of(model):
    if quantized.quantized_tensors(model):
        return 'int8'
    types = {t.data_type for t in model.graph.initializer}
    types |= {i.type.tensor_type.elem_type for i in [*model.graph.input, *model.graph.output]}
    return 'f16' if TensorProto.FLOAT16 in types else 'f32'


def tolerate(folder):
    path = os.path.join(folder, 'model.onnx')
    model = onnx.load(path, load_external_data=False)
    rule = rule_of(model)
    exact = quantized.unsigned_weights(onnx.load(path)) if rule == 'int8' else None
    sets = [(tensors(data, 'input'), tensors(data, 'output'))
            for data in sorted(glob.glob(os.path.join(folder, 'test_data_set_*')))]
    rtol, atol, _, _ = testset.tolerance(rule, exact, sets)
    testset.write_tolerance(folder, rtol, atol)
    print(f'{os.path.basename(folder)}: {rule}, rtol {rtol:g}, atol {atol:.3g}', flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in sorted(f for d in sys.argv[1:] for f in glob.glob(os.path.join(d, '*'))):
        if os.path.exists(os.path.join(folder, 'model.onnx')) and not os.path.exists(os.path.join(folder, 'tolerance')):
            tolerate(folder)


if __name__ == '__main__':
    main()
