"""Cases of com.microsoft's operators: random nodes, and what ONNX Runtime gives for them without graph optimization."""
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

from arrays import element_type
from one_node import Cases

MS = 'com.microsoft'
f32 = np.float32
CODES = (np.uint8, np.int8)
TOLERANCES = {'float16': (4e-3, 4e-3), 'float32': (2e-5, 2e-5), 'float64': (1e-11, 1e-12), 'bfloat16': (3e-2, 3e-2)}


def runtime(node, given):
    """What ONNX Runtime gives."""
    infos = [helper.make_tensor_value_info(k, element_type(v), v.shape) for k, v in given.items()]
    outs = [onnx.ValueInfoProto(name=o) for o in node.output if o]
    graph = helper.make_graph([node], 'one', infos, outs)
    model = helper.make_model(graph, ir_version=10,
                              opset_imports=[helper.make_opsetid('', 21), helper.make_opsetid(MS, 1)])
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, providers=['CPUExecutionProvider'])
    return session.run(None, given)


class Microsoft:
    """A test's random choices and its cases."""

    def __init__(self, stream):
        self.rng = np.random.default_rng(stream)
        self.cases = Cases()
        self.wrong = 0

    def one_of(self, *choices):
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, p=0.5):
        return self.rng.random() < p

    def codes(self, t, *shape):
        i = np.iinfo(t)
        return self.rng.integers(i.min, i.max, shape, dtype=t, endpoint=True)

    def reals(self, t, *shape):
        return self.rng.standard_normal(shape).astype(t)

    def scale(self, *shape):
        return np.asarray(self.rng.uniform(0.002, 0.1, shape), f32)

    def sizes(self, n, lo, hi):
        """n of [lo, hi]."""
        return [int(k) for k in self.rng.integers(lo, hi + 1, n)]

    def case(self, op, inputs, n_out=1, tolerance=None, exact=None, constant=(), wanted=None, right=None, says=None, **attributes):
        """inputs: arrays, None where one is absent. exact: the right codes, beside which ONNX Runtime may be one. right: the
        outputs, where ONNX Runtime is not asked. says: what the refusal must say."""
        while inputs and inputs[-1] is None:
            inputs = inputs[:-1]
        names = [f'i{k}' if x is not None else '' for k, x in enumerate(inputs)]
        given = {n: x for n, x in zip(names, inputs) if x is not None}
        node = helper.make_node(op, names, wanted or [f'o{k}' for k in range(n_out)], name='node', domain=MS, **attributes)
        got = runtime(node, given) if right is None else right
        if exact is not None:
            if np.abs(got[0].astype(float) - exact).max(initial=0) > 1:
                print(f'{op}: ONNX Runtime differs by {np.abs(got[0].astype(float) - exact).max()}: {attributes}')
                self.wrong += 1
            got[0] = exact.astype(got[0].dtype)
            tolerance = (0, 0)
        elif tolerance is None:
            tolerance = TOLERANCES.get(got[0].dtype.name, (0, 1))
        made = {o: (element_type(y), y) for o, y in zip([o for o in node.output if o], got)}
        self.cases.add(node, 1, {k: (element_type(v), v) for k, v in given.items()}, made, says=says,
                       constant=[f'i{k}' for k in constant if f'i{k}' in given], domain=MS, tolerance=tolerance)

    def run(self, *families):
        for family in families:
            try:
                family()
            except Exception as e:
                print(f'{family.__name__}: {e}')
                self.wrong += 1
        if self.wrong:
            print(f'{self.wrong} disagree with ONNX Runtime')
        try:
            self.cases.run()
        except SystemExit as e:
            sys.exit(e.code or self.wrong > 0)
