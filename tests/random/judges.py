"""Right outputs where ReferenceEvaluator is wrong: functions of (model, inputs by name, its outputs), after the operator's
text. Each returns the outputs, or a function that says how others differ from what is right."""
import itertools
import math

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

import evaluate
from attention import attention  # noqa: F401

NARROW = (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.FLOAT)


def attributes(model):
    return {a.name: helper.get_attribute_value(a) for a in model.graph.node[0].attribute}


def operands(model, inputs):
    return [inputs.get(n) if n else None for n in model.graph.node[0].input]


def is_float(x):
    return isinstance(x, np.ndarray) and (x.dtype.kind == 'f' or x.dtype.name == 'bfloat16')


def narrowed(step, dtype):
    """A step of a function's body: in the types of two bytes it is rounded."""
    return step.astype(dtype).astype(np.float64) if dtype.itemsize == 2 else step


# ---- rounding


def widened(model):
    """The model with float64 for every narrower float."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for info in [*wide.graph.input, *wide.graph.output]:
        if info.type.tensor_type.elem_type in NARROW:
            info.type.tensor_type.elem_type = TensorProto.DOUBLE
    return wide


def widened_inputs(inputs):
    return {k: np.asarray(x, np.float64) if is_float(x) else x for k, x in inputs.items()}


def in_double(model, inputs, want):
    """What the operator gives in float64: where ReferenceEvaluator rounds each step to a narrower type, whoever is not much
    farther from that is right. Fast mode promises no more than twice the error of the best peer."""
    wide = widened_inputs(inputs)
    truth = evaluate.reference(widened(model), wide)
    if isinstance(truth, Exception):
        return lambda got: f'no truth: {truth}'

    def no_farther(got):
        for o, (g, w, t) in enumerate(zip(got, as_declared(model, want), truth)):
            if g.shape != t.shape or g.dtype != w.dtype:
                return f'output {o}: {evaluate.brief(g)}, wanted {evaluate.brief(t)}'
            if not is_float(g):
                if not np.array_equal(g, w):
                    return f'output {o}: {evaluate.brief(g)}, wanted {evaluate.brief(w)}'
            elif evaluate.value_differs(g, t.astype(g.dtype)) and (why := farther(g, w, t)):
                return f'output {o}: {why}'
        return None

    return no_farther


def farther(got, want, truth):
    """How got is farther from the truth than want may be; infinities and NaN are the truth's, or want lacks them, too."""
    with np.errstate(all='ignore'):
        g, w, t = (np.asarray(x, np.float64) for x in (got, want, truth.astype(got.dtype)))
        numbers = np.isfinite(g) & np.isfinite(w) & np.isfinite(t)
        got_right, want_right = ((x == t) | (np.isnan(x) & np.isnan(t)) | (np.isfinite(x) & np.isfinite(t)) for x in (g, w))
        lost = ~got_right & want_right
        if lost.any():
            return f'{evaluate.brief(g[lost])} in place of {evaluate.brief(t[lost])}'
        far, allowed = (np.max(np.abs(x - truth), where=numbers, initial=0) for x in (g, w))
    return f'{far:.3g} from the value in float64, ReferenceEvaluator {allowed:.3g}' if far > 2 * allowed else None


# ---- types


def declared(model, inputs, want):
    """ReferenceEvaluator's values in the types that the schema gives the outputs; or nearer to what float64 gives."""
    right = as_declared(model, want)
    exact = in_double(model, inputs, right)
    return lambda got: evaluate.differs(got, right) and exact(got)


def mask_as_data(model, inputs, want):
    return [want[0].astype(operands(model, inputs)[0].dtype), want[1].astype(operands(model, inputs)[0].dtype)]


def as_declared(model, want):
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for output in bare.graph.output:
        output.ClearField('type')
    inferred = {o.name: o.type.tensor_type.elem_type for o in onnx.shape_inference.infer_shapes(bare).graph.output}
    return [np.asarray(w).astype(helper.tensor_dtype_to_np_dtype(inferred[o.name])) if inferred[o.name] else w
            for w, o in zip(want, model.graph.output)]


def empty_strings(model, inputs, want):
    """The zero of strings is the empty one."""
    return [np.array([x if isinstance(x, str) else '' for x in w.reshape(-1)], object).reshape(w.shape) for w in want]


def lower_or_upper(model, inputs, want):
    x, *k = operands(model, inputs)
    k = int(np.asarray(k[0]).reshape(-1)[0]) if k and k[0] is not None else 0
    upper = attributes(model).get('upper', 1)
    kept = np.triu(np.ones(x.shape[-2:]), k) if upper else np.tril(np.ones(x.shape[-2:]), k)
    return [np.where(kept != 0, x, '')]


# ---- of another version or form


def changed(model, inputs, version=None, drop=(), **attrs):
    """What ReferenceEvaluator gives for the node with these attributes, in that opset."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    node = other.graph.node[0]
    kept = [a for a in node.attribute if a.name not in attrs and a.name not in drop]
    del node.attribute[:]
    node.attribute.extend(kept + [helper.make_attribute(k, v) for k, v in attrs.items()])
    if version:
        other.opset_import[0].version = version
    return evaluate.reference(other, inputs)


def output_half_pixel(model, inputs, want):
    """Infinities, which ReferenceEvaluator multiplies with weights of 0, are left out."""
    wide = widened_inputs(inputs)
    right = [r.astype(w.dtype) for r, w in
             zip(changed(widened(model), wide, 16, coordinate_transformation_mode='output_half_pixel'), want)]
    large = np.abs(np.nan_to_num(operands(model, inputs)[0], nan=np.inf)).max(initial=0) > 1e9

    def same(got):
        return evaluate.differs([np.where((np.abs(w) < 1e9) & (np.abs(g) < 1e9), g, w) for g, w in zip(got, right)], right)
    return same if large else right


def inference(model, inputs, want):
    wide = widened_inputs(inputs)
    right = changed(widened(model), wide, 15, drop=('momentum', 'spatial', 'is_test'), training_mode=0)
    return [r.astype(w.dtype) for r, w in zip(right, want)]


def capped(model, inputs, want):
    """tanh is odd: a negative cap is as good as its amount."""
    return changed(model, inputs, softcap=abs(attributes(model)['softcap']))


def all_axes(model, inputs, want):
    return changed(model, inputs, axes=list(range(operands(model, inputs)[0].ndim)))


# ---- functions


def coerced(model, inputs, want):
    """Softmax, LogSoftmax and Hardmax of rows of a matrix: the axes before axis by the others."""
    x, = operands(model, inputs)
    axis = attributes(model).get('axis', 1)
    rows = np.asarray(x, np.float64).reshape(math.prod(x.shape[:axis]) if axis >= 0 else math.prod(x.shape[:axis + x.ndim]), -1)
    op = model.graph.node[0].op_type
    if op == 'Hardmax':
        y = (np.arange(rows.shape[1]) == np.argmax(rows, 1)[:, None]).astype(float)
        return [y.reshape(x.shape).astype(x.dtype)]
    with np.errstate(all='ignore'):
        shifted = narrowed(rows - rows.max(1, keepdims=True), x.dtype)
        e = narrowed(np.exp(shifted), x.dtype)
        total = narrowed(e.sum(1, keepdims=True), x.dtype)
        y = e / total if op == 'Softmax' else shifted - narrowed(np.log(total), x.dtype)
    return [y.reshape(x.shape).astype(x.dtype)]


def unsqueezed(model, inputs, want):
    x, *more = operands(model, inputs)
    return [np.expand_dims(x, tuple(more[0] if more else attributes(model)['axes']))]


def global_pool(model, inputs, want):
    x, = operands(model, inputs)
    return [np.max(x, tuple(range(2, x.ndim)), keepdims=True)]


def one_hot(model, inputs, want):
    indices, depth, (off, on) = operands(model, inputs)
    axis, depth = attributes(model).get('axis', -1), int(np.asarray(depth).reshape(-1)[0])
    axis = axis if axis >= 0 else axis + indices.ndim + 1
    at = np.expand_dims(np.asarray(indices, np.float64).astype(np.int64), axis)
    steps = np.arange(depth).reshape([-1 if k == axis else 1 for k in range(indices.ndim + 1)])
    hot = (at == steps) | (at + depth == steps)
    return [np.where(hot, on, off).astype(np.asarray(on).dtype)]


def by_sign(model, inputs, want):
    """x where it is not negative, else what the slope makes of it."""
    x, *slope = operands(model, inputs)
    slope = np.asarray(slope[0] if slope else attributes(model).get('alpha', 0.01), np.float64)
    slope = slope.reshape(()) if slope.size == 1 else slope
    if slope.ndim == 1 and slope.size == (x.shape[1] if x.ndim > 1 else -1) and want[0].shape == x.shape and version(model) < 7:
        slope = slope.reshape([-1] + [1] * (x.ndim - 2))
    with np.errstate(all='ignore'):
        wide = np.asarray(x, np.float64)
        return [np.where(wide < 0, wide * slope, wide).astype(x.dtype)]


def elu(model, inputs, want):
    x, = operands(model, inputs)
    with np.errstate(all='ignore'):
        wide = np.asarray(x, np.float64)
        return [np.where(wide < 0, attributes(model).get('alpha', 1) * np.expm1(wide), wide).astype(x.dtype)]


def nearest_code(model, inputs, want):
    """QLinearMatMul: the code next to the exact value, ties to either side."""
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (np.asarray(x, np.float64) for x in operands(model, inputs))
    limits = ml_dtypes.iinfo(want[0].dtype)
    exact = (a - a_zero) * a_scale @ ((b - b_zero) * b_scale) / y_scale + y_zero

    def near(got):
        off = np.abs(np.asarray(got[0], np.float64) - np.clip(exact, limits.min, limits.max))
        right = got[0].shape == exact.shape and np.all(off <= 0.5 + 1e-6 * np.abs(exact))
        return None if right else f'{off.max()} from the exact value'
    return near


def transformed(model, inputs, want):
    """DFT, STFT: within 4 units in the last place of the largest number of the spectrum, whose sums are rounded to those."""
    truth = evaluate.reference(widened(model), widened_inputs(inputs))[0]

    def near(got):
        unit = float(evaluate.epsilon(got[0].dtype)) * np.abs(truth).max(initial=0)
        off = np.abs(np.asarray(got[0], np.float64) - truth).max(initial=0) if got[0].shape == truth.shape else np.inf
        return None if off <= 4 * unit else f'{off:.3g} from the value in float64, whose unit is {unit:.3g}'
    return near


def group_normalized(model, inputs, want):
    """In the groups whose squares float32, the type of stash_type, holds."""
    x, scale, bias = (np.asarray(v, np.float64) for v in operands(model, inputs))
    groups = attributes(model)['num_groups']
    rows = x.reshape(x.shape[0], groups, -1)
    with np.errstate(all='ignore'):
        y = (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + attributes(model).get('epsilon', 1e-5))
        y = y.reshape(x.shape) * scale.reshape(-1, *[1] * (x.ndim - 2)) + bias.reshape(-1, *[1] * (x.ndim - 2))
        held = np.broadcast_to((np.abs(rows).max(-1, keepdims=True) < 1e18), rows.shape).reshape(x.shape)

    def same(got):
        return evaluate.differs([np.where(held, got[0], want[0])], [np.where(held, y.astype(want[0].dtype), want[0])])
    return same


def overlap(a, b):
    """Intersection over union of two boxes of two corners each, whichever they are."""
    (a0, a1), (b0, b1) = (np.sort(box.reshape(2, 2), 0) for box in (a, b))
    both = np.prod(np.maximum(np.minimum(a1, b1) - np.maximum(a0, b0), 0))
    either = np.prod(a1 - a0) + np.prod(b1 - b0) - both
    return both / either if either > 0 else 0


def not_suppressed(model, inputs, want):
    values = operands(model, inputs)
    boxes, scores = (np.asarray(x, np.float64) for x in values[:2])
    most, limit, least = (np.asarray(x, np.float64).reshape(-1)[0] if x is not None else d
                          for x, d in zip([*values[2:], None, None, None], (0, 0, -np.inf)))
    if attributes(model).get('center_point_box'):
        boxes = np.concatenate([boxes[..., :2] - boxes[..., 2:] / 2, boxes[..., :2] + boxes[..., 2:] / 2], -1)
    kept = []
    for b, c in np.ndindex(scores.shape[:2]):
        chosen = []
        for i in np.argsort(-scores[b, c], kind='stable'):
            if len(chosen) < most and scores[b, c, i] >= least and all(overlap(boxes[b, i], boxes[b, j]) <= limit for j in chosen):
                chosen.append(i)
        kept += [[b, c, i] for i in chosen]
    return [np.array(kept, np.int64).reshape(-1, 3)]


def without_stopwords(model, inputs, want):
    x, = operands(model, inputs)
    attrs = attributes(model)
    exact = attrs.get('is_case_sensitive', 0)
    stop = {w.decode() if exact else w.decode().lower() for w in attrs.get('stopwords', [])}
    change = {b'LOWER': str.lower, b'UPPER': str.upper}.get(attrs.get('case_change_action'), str)
    kept = [change(w) for w in x.reshape(-1) if (w if exact else w.lower()) not in stop] or ['']
    return [np.array(kept, object).reshape(([1] if x.ndim == 2 else []) + [-1])]


def version(model):
    return evaluate.version_of(model)


def log_sum_exp(model, inputs, want):
    x, *axes = operands(model, inputs)
    attrs = attributes(model)
    axes = axes[0] if axes and axes[0] is not None else attrs.get('axes')
    if (axes is None or not len(axes)) and attrs.get('noop_with_empty_axes', 0):
        return [x]
    axes = tuple(axes) if axes is not None and len(axes) else tuple(range(x.ndim))
    wide = np.asarray(x, np.float64)
    with np.errstate(all='ignore'):
        top = np.max(wide, axes, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0)
        y = np.log(np.sum(np.exp(wide - top), axes, keepdims=True)) + top
    return [(y if attrs.get('keepdims', 1) else np.squeeze(y, axes)).astype(x.dtype)]


def neg_log_loss(model, inputs, want):
    x, target, *weight = operands(model, inputs)
    attrs = attributes(model)
    ignored, reduction = attrs.get('ignore_index'), attrs.get('reduction', b'mean')
    weight = weight[0] if weight and weight[0] is not None else np.ones(x.shape[1])
    loss, weights = np.zeros(target.shape), np.zeros(target.shape)
    for at in np.ndindex(*target.shape):
        if target[at] != ignored:
            weights[at] = weight[target[at]]
            loss[at] = -weights[at] * np.float64(x[(at[0], target[at], *at[1:])])
    y = loss if reduction == b'none' else loss.sum() / (weights.sum() if reduction == b'mean' else 1)
    return [np.asarray(y).astype(x.dtype)]


def along(v, x, attrs):
    """A scale or zero point, as it stands beside the elements of x."""
    v, axis, block = np.asarray(v, np.float32), attrs.get('axis', 1), attrs.get('block_size', 0)
    if block and v.ndim == x.ndim:
        return np.repeat(v, block, axis)[tuple(slice(n) for n in x.shape)]
    if v.ndim == 1 and v.size > 1:
        return v.reshape([-1 if k == axis % x.ndim else 1 for k in range(x.ndim)])
    return v.reshape(-1)[:1]


LIMITS = {'float8_e4m3fn': 448, 'float8_e4m3fnuz': 240, 'float8_e5m2': 57344, 'float8_e5m2fnuz': 57344}


def quotient(model, x, scale):
    """x / y_scale "in the precision of the division operation": that of the scale, since it has an attribute."""
    attrs = attributes(model)
    own = version(model) >= 23 and not attrs.get('precision') and is_float(scale)
    division = scale.dtype if own else np.dtype(np.float32)
    return (np.asarray(x).astype(division) / along(scale, x, attrs).astype(division)).astype(np.float32)


def quantized_float8(model, inputs, want):
    """(x / y_scale) + y_zero_point, saturated, in float8."""
    x, scale, zero = operands(model, inputs)
    attrs = attributes(model)
    with np.errstate(all='ignore'):
        y = quotient(model, x, scale) + along(zero, x, attrs)
    limit, y = LIMITS[zero.dtype.name], y.reshape(x.shape)
    if attrs.get('saturate', 1):
        y = np.where(np.isnan(y), y, np.clip(y, -limit, limit))
    return [y.astype(zero.dtype)]


def quantized(model, inputs, want):
    """saturate(round(x / y_scale) + y_zero_point) where x is a number; of NaN the text says nothing."""
    x, scale, *zero = operands(model, inputs)
    attrs, dtype = attributes(model), want[0].dtype
    limits = ml_dtypes.iinfo(dtype)
    with np.errstate(all='ignore'):
        y = np.rint(quotient(model, x, scale)).reshape(x.shape) + (along(zero[0], x, attrs) if zero and zero[0] is not None else 0)
        y = y.reshape(x.shape)
        right = np.where(np.isnan(y), 0, np.clip(y, limits.min, limits.max))

    def same(got):
        g = np.asarray(got[0], np.float64)
        return None if g.shape == y.shape and np.all(np.isnan(y) | (g == right)) else f'{evaluate.brief(got[0])}, wanted {evaluate.brief(right)}'
    return same


def unique(model, inputs, want):
    x, = operands(model, inputs)
    attrs = attributes(model)
    axis = attrs.get('axis')
    rows = np.asarray(x).reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
    found, inverse = {}, []
    for k, row in enumerate(map(tuple, rows.tolist())):
        found.setdefault(row, [k, len(found), 0])[2] += 1
        inverse.append(found[row][1])
    order = sorted(found) if attrs.get('sorted', 1) else list(found)
    place = {found[row][1]: i for i, row in enumerate(order)}
    first = [found[row][0] for row in order]
    y = np.asarray(x).reshape(-1)[first] if axis is None else np.take(x, first, axis)
    made = [y, np.array(first, np.int64), np.array([place[i] for i in inverse], np.int64),
            np.array([found[row][2] for row in order], np.int64)]
    return made[:len(want)]


def product(model, inputs, want):
    """Gemm."""
    a, b, *c = (np.asarray(x, np.float64) for x in operands(model, inputs) if x is not None)
    attrs = attributes(model)
    with np.errstate(all='ignore'):
        y = attrs.get('alpha', 1) * ((a.T if attrs.get('transA') else a) @ (b.T if attrs.get('transB') else b))
        y = y + attrs.get('beta', 1) * c[0] if c else y
    return [y.astype(operands(model, inputs)[0].dtype)]


def normalized(model, inputs, want):
    """LpNormalization, MeanVarianceNormalization."""
    x, = operands(model, inputs)
    attrs, wide = attributes(model), np.asarray(x, np.float64)
    with np.errstate(all='ignore'):
        if model.graph.node[0].op_type == 'LpNormalization':
            axis, p = attrs.get('axis', -1), attrs.get('p', 2)
            norm = (np.abs(wide) ** p).sum(axis, keepdims=True) ** (1 / p)
            return [np.where((norm == 0) & (wide == 0), 0, wide / norm).astype(x.dtype)]
        axes = tuple(attrs.get('axes', [0, 2, 3])) or None
        mean = wide.mean(axes, keepdims=True)
        deviation = np.sqrt(((wide - mean) ** 2).mean(axes, keepdims=True))
        return [((wide - mean) / (deviation + 1e-9)).astype(x.dtype)]


def dequantized(model, inputs, want):
    x, scale, zero = operands(model, inputs)
    attrs = attributes(model)
    with np.errstate(all='ignore'):
        y = (np.asarray(x, np.float32) - along(zero, x, attrs)) * along(scale, x, attrs)
    return [y.reshape(x.shape).astype(want[0].dtype)]


def clipped(model, inputs, want):
    """Of an absent bound the type's own is one."""
    x, *bounds = operands(model, inputs)
    limits = ml_dtypes.finfo(x.dtype) if is_float(x) else ml_dtypes.iinfo(x.dtype)
    low, high = (bounds + [None, None])[:2]
    low, high = limits.min if low is None else low.reshape(()), limits.max if high is None else high.reshape(())
    return [np.where(np.isnan(x), x, np.minimum(np.maximum(x, low), high)).astype(x.dtype)]


def log_softmax(model, inputs, want):
    x, = operands(model, inputs)
    axis, wide = attributes(model).get('axis', -1), np.asarray(x, np.float64)
    with np.errstate(all='ignore'):
        shifted = narrowed(wide - wide.max(axis, keepdims=True), x.dtype)
        total = narrowed(narrowed(np.exp(shifted), x.dtype).sum(axis, keepdims=True), x.dtype)
        return [(shifted - narrowed(np.log(total), x.dtype)).astype(x.dtype)]


# ---- pooling


def windows(x, attrs):
    """(output index, output shape, elements of x in its window, their indices in x); what is outside of x is left out."""
    kernel, ceil = attrs['kernel_shape'], attrs.get('ceil_mode', 0)
    rank = len(kernel)
    strides, dilations = attrs.get('strides', [1] * rank), attrs.get('dilations', [1] * rank)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    pads = list(attrs.get('pads', [0] * 2 * rank))
    auto = attrs.get('auto_pad', b'NOTSET')
    for i in range(rank if auto.startswith(b'SAME') else 0):
        total = max((math.ceil(x.shape[i + 2] / strides[i]) - 1) * strides[i] + reach[i] - x.shape[i + 2], 0)
        pads[i], pads[i + rank] = (total // 2, total - total // 2) if auto == b'SAME_UPPER' else (total - total // 2, total // 2)
    out = []
    for i in range(rank):
        room = x.shape[i + 2] + pads[i] + pads[i + rank] - reach[i]
        n = (-(-room // strides[i]) if ceil else room // strides[i]) + 1
        if ceil and (n - 1) * strides[i] >= x.shape[i + 2] + pads[i]:
            n -= 1  # a window that begins in the padding behind
        out.append(n)
    order = 'F' if attrs.get('storage_order', 0) else 'C'
    places = [np.arange(math.prod(x.shape[2:])).reshape(x.shape[2:], order=order) + c * math.prod(x.shape[2:])
              for c in range(x.shape[0] * x.shape[1])]
    for at in itertools.product(range(x.shape[0]), range(x.shape[1]), *map(range, out)):
        inside = np.ix_(*[[p for t in range(kernel[i]) if 0 <= (p := at[i + 2] * strides[i] - pads[i] + t * dilations[i]) < x.shape[i + 2]]
                          for i in range(rank)])
        yield at, (*x.shape[:2], *out), x[at[0], at[1]][inside], places[at[0] * x.shape[1] + at[1]][inside]


def pooled(model, inputs, want):
    x, = operands(model, inputs)
    attrs, op = attributes(model), model.graph.node[0].op_type
    y = index = None
    for at, shape, window, places in windows(x, attrs):
        y, index = (np.zeros(shape), np.zeros(shape, np.int64)) if y is None else (y, index)
        wide = np.asarray(window, np.float64)
        with np.errstate(all='ignore'):
            if op == 'MaxPool':
                y[at], index[at] = wide.max(), places.reshape(-1)[wide.argmax()]
            elif op == 'AveragePool':
                y[at] = wide.sum() / (math.prod(attrs['kernel_shape']) if attrs.get('count_include_pad', 0) else wide.size)
            else:
                p = attrs.get('p', 2)
                y[at] = (np.abs(wide) ** p).sum() ** (1 / p)
    return [y.astype(x.dtype), index][:len(want)]


# ---- chance


def drawn(model, inputs, want):
    """Without a seed each run has other numbers: only their type and shape are held to something here."""
    def same_form(got):
        for o, (g, w) in enumerate(zip(got, want)):
            if g.shape != w.shape:
                return f'output {o}: shape {list(g.shape)}, wanted {list(w.shape)}'
        return None
    return same_form
