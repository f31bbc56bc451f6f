"""Right outputs where ReferenceEvaluator is wrong: functions of (model, inputs by name, its outputs), after the operator's text."""
import numpy as np
import onnx
from onnx import TensorProto, helper

import evaluate

NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT)


def attributes(model):
    return {a.name: helper.get_attribute_value(a) for a in model.graph.node[0].attribute}


def operands(model, inputs):
    return [inputs.get(n) if n else None for n in model.graph.node[0].input]


# ---- rounding


def widened(model):
    """The model with float64 for every narrower float."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for info in [*wide.graph.input, *wide.graph.output]:
        if info.type.tensor_type.elem_type in NARROW:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    return wide


def in_double(model, inputs, want):
    """What the operator gives in float64: where ReferenceEvaluator rounds each step to a narrower type, whoever is no farther
    from that is right."""
    wide = {k: np.asarray(x, np.float64) if is_float(x) else x for k, x in inputs.items()}
    truth = evaluate.reference(widened(model), wide)
    if isinstance(truth, Exception):
        return lambda got: f'no truth: {truth}'

    def no_farther(got):
        for o, (g, w, t) in enumerate(zip(got, want, truth)):
            if g.shape != t.shape or g.dtype != w.dtype:
                return f'output {o}: {evaluate.brief(g)}, wanted {evaluate.brief(t)}'
            if not is_float(g):
                if not np.array_equal(g, w):
                    return f'output {o}: {evaluate.brief(g)}, wanted {evaluate.brief(w)}'
                continue
            t = np.asarray(t, np.float64)
            ours, theirs = distance(g, t), distance(w, t)
            if not (evaluate.value_differs(g, t.astype(g.dtype)) is None or ours <= theirs):
                return f'output {o}: farther from the value in float64: {ours:.3g}, ReferenceEvaluator {theirs:.3g}'
        return None

    return no_farther


def is_float(x):
    return isinstance(x, np.ndarray) and (x.dtype.kind == 'f' or x.dtype.name == 'bfloat16')


def distance(x, truth):
    with np.errstate(all='ignore'):
        d = np.abs(np.asarray(x, np.float64) - truth)
    same = (np.asarray(x, np.float64) == truth) | (np.isnan(np.asarray(x, np.float64)) & np.isnan(truth))
    return float(np.max(np.where(same, 0, d), initial=0))
