#!/usr/bin/env python3
"""Softmaxes, normalizations, losses, Dropout: every version and type. What is expected comes from the formulas in double."""
import numpy as np

from arrays import ArrayCases, allowed
from one_node import versions

rng = np.random.default_rng(6)
cases = ArrayCases()
TOLERANCES = {'float16': (2e-3, 2e-3), 'bfloat16': (1.6e-2, 1.6e-2), 'float32': (3e-6, 3e-6), 'float64': (1e-12, 1e-12)}
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)


def tolerance(d):
    return TOLERANCES[d.name]


def random(d, *shape):
    return (rng.standard_normal(shape) * 2).astype(np.float32).astype(d)


def positive(d, *shape):
    return (rng.random(shape) + 0.3).astype(np.float32).astype(d)


def wide(x):
    return x.astype(np.float64)


def one_of(*choices):
    return choices[int(rng.integers(len(choices)))]


# ---- along an axis ----

def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def hardmax(x):
    return (np.arange(x.shape[-1]) == x.argmax(-1)[..., None]).astype(np.float64)


FORMULAS = {'Softmax': softmax, 'LogSoftmax': lambda x: x - x.max(-1, keepdims=True)
            - np.log(np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)), 'Hardmax': hardmax}
for op, formula in FORMULAS.items():
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for shape in [(5,), (3, 4), (2, 3, 4), (2, 700), (300, 3), (2, 3, 1, 4), (2, 0, 3), (1, 1)]:
                axis = int(rng.integers(-len(shape), len(shape)))
                if len(shape) == 1:
                    axis = 0
                x = random(d, *shape)
                if rng.integers(4) == 0 and x.size:
                    x.reshape(-1)[rng.integers(x.size)] = one_of(np.nan, np.inf, -np.inf)
                with np.errstate(all='ignore'):
                    if 0 in shape:
                        y = wide(x)
                    elif schema.since_version < 13:
                        rows = int(np.prod(shape[:axis % len(shape)], dtype=int))
                        y = formula(wide(x).reshape(rows, -1)).reshape(shape)
                    else:
                        y = np.moveaxis(formula(np.moveaxis(wide(x), axis, -1)), -1, axis)
                cases.node(op, schema.since_version, [x], [y.astype(d)], tolerance(d), name=d.name, axis=axis)

for schema in versions('LpNormalization'):
    for d in allowed(schema, schema.inputs[0]):
        for shape in [(4,), (3, 5), (2, 3, 4), (2, 300, 2), (2, 0, 2)]:
            axis, p = int(rng.integers(-len(shape), len(shape))), one_of(1, 2)
            x = random(d, *shape)
            if shape == (3, 5):
                axis = 1
                x[1] = 0
            norm = np.abs(wide(x)).sum(axis, keepdims=True) if p == 1 else np.sqrt((wide(x)**2).sum(axis, keepdims=True))
            y = np.where(norm == 0, 0, wide(x) / np.where(norm == 0, 1, norm))
            cases.node('LpNormalization', schema.since_version, [x], [y.astype(d)], tolerance(d), name=d.name, axis=axis, p=p)

for schema in versions('LRN'):
    for d in allowed(schema, schema.inputs[0]):
        for shape in [(2, 5), (1, 7, 3), (2, 6, 3, 4), (1, 4, 2, 3, 300)]:
            size = one_of(1, 2, 3, 4, 5)
            alpha, beta, bias = (float(np.float32(v)) for v in (one_of(1e-4, 0.5), one_of(0.75, 0.5, 1.3), one_of(1, 2.5)))
            x = random(d, *shape)
            squares = np.zeros(shape)
            for c in range(shape[1]):
                low, high = max(0, c - (size - 1) // 2), min(shape[1] - 1, c + -(-(size - 1) // 2))
                squares[:, c] = (wide(x)[:, low:high + 1]**2).sum(1)
            y = wide(x) / (bias + alpha / size * squares)**beta
            cases.node('LRN', schema.since_version, [x], [y.astype(d)], tolerance(d), name=d.name, size=size, alpha=alpha,
                       beta=beta, bias=bias)

# ---- with moments ----

for schema in versions('MeanVarianceNormalization'):
    for d in allowed(schema, schema.inputs[0]):
        for shape, axes in [((2, 3, 4, 5), None), ((2, 3, 4, 5), [1]), ((3, 4), [0]), ((3, 4), [-1]), ((2, 3, 4), [0, 1]),
                            ((2, 3, 300), [0]), ((2, 3, 4), [-2, -1])]:
            x = random(d, *shape)
            over = tuple(axes or [0, 2, 3])
            mean, deviation = wide(x).mean(over, keepdims=True), wide(x).std(over, keepdims=True)
            y = (wide(x) - mean) / (deviation + 1e-9)
            attrs = {} if axes is None else {'axes': axes}
            cases.node('MeanVarianceNormalization', schema.since_version, [x], [y.astype(d)], tolerance(d), name=d.name, **attrs)


def batchnorm(x, scale, bias, mean, var, epsilon, per_activation):
    shape = (1, *x.shape[1:]) if per_activation else (1, -1) + (1,) * (x.ndim - 2)
    if x.ndim == 1:
        shape = (1,)
    scale, bias, mean, var = (wide(v).reshape(shape) for v in (scale, bias, mean, var))
    return (wide(x) - mean) / np.sqrt(var + epsilon) * scale + bias


for schema in versions('BatchNormalization'):
    v = schema.since_version
    types = {p.name: allowed(schema, p) for p in schema.inputs}
    for d in types['X']:
        for shape in [(2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 3, 2), (4, 1, 3), (2, 3, 300), (6,)]:
            training = bool(rng.integers(2))
            per_activation = v < 9 and bool(rng.integers(2)) and len(shape) > 1
            if len(shape) == 1 and (v < 9 or training):
                continue
            groups = shape[1:] if per_activation else (1,) if len(shape) == 1 else shape[1:2]
            names = [p.name for p in schema.inputs]
            scale_type = one_of(*types[names[1]]) if v >= 15 else d
            mean_type = one_of(*types[names[3]]) if v >= 14 else d
            x, scale, bias = random(d, *shape), random(scale_type, *groups), random(scale_type, *groups)
            mean, var = random(mean_type, *groups), positive(mean_type, *groups)
            epsilon, momentum = one_of(1e-5, 1e-2), one_of(0.9, 0.7)
            attrs = {'epsilon': epsilon, 'momentum': momentum}
            epsilon, momentum = float(np.float32(epsilon)), float(np.float32(momentum))
            if v < 9 and (per_activation or rng.integers(2)):
                attrs['spatial'] = int(not per_activation)
            if v == 1:
                attrs['consumed_inputs'] = [0, 0]
            if v < 7:
                attrs['is_test'] = int(not training)
            if v >= 14:
                attrs['training_mode'] = int(training)
            used = (mean, var)
            outputs = []
            if training:
                over = (0,) if per_activation else (0, *range(2, len(shape)))
                used = (wide(x).mean(over), wide(x).var(over))
                outputs = [wide(a) * momentum + b * (1 - momentum) for a, b in zip((mean, var), used)]
                outputs += [] if v >= 14 else list(used)
            y = batchnorm(x, scale, bias, *used, epsilon, per_activation)
            t = max(map(tolerance, (d, scale_type, mean_type)))
            cases.node('BatchNormalization', v, [x, scale, bias, mean, var], [y.astype(d)] + [o.astype(mean_type) for o in outputs],
                       t, name=f'{d.name}_{"train" if training else "test"}', **attrs)
ones = np.ones(3, np.float32)
cases.node('BatchNormalization', 15, [np.ones((2, 3), np.float32)] + [ones] * 4, [np.ones((2, 3), np.float32), ones],
           says="outputs besides Y exist only in training mode")
cases.node('BatchNormalization', 15, [np.ones((2, 4), np.float32)] + [ones] * 4, [np.ones((2, 4), np.float32)],
           says='expected 4 elements along axis 0, as X has, got 3')

for op in ['InstanceNormalization', 'GroupNormalization']:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for shape in [(2, 6, 4), (1, 6, 3, 5), (2, 6, 2, 3, 2), (2, 6, 300), (2, 6, 0)]:
                groups = 6 if op == 'InstanceNormalization' else one_of(1, 2, 3, 6)
                x, scale, bias = random(d, *shape) * 3, random(d, 6), random(d, 6)
                epsilon = one_of(1e-5, 1e-2)
                attrs = {} if op == 'InstanceNormalization' else {'num_groups': groups}
                g = wide(x).reshape(shape[0], groups, -1)
                with np.errstate(all='ignore'):
                    n = (g - g.mean(2, keepdims=True)) / np.sqrt(g.var(2, keepdims=True) + np.float32(epsilon)) if g.size else g
                ones = (1, 6) + (1,) * (len(shape) - 2)
                y = n.reshape(shape) * wide(scale).reshape(ones) + wide(bias).reshape(ones)
                cases.node(op, schema.since_version, [x, scale, bias], [y.astype(d)], tolerance(d), name=d.name,
                           epsilon=epsilon, **attrs)
three = np.ones(3, np.float32)
cases.node('GroupNormalization', 21, [np.ones((1, 3, 2), np.float32), three, three], [np.ones((1, 3, 2), np.float32)],
           num_groups=2, says='3 channels do not make 2 groups of one size')

for op in ['LayerNormalization', 'RMSNormalization']:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for shape in [(5,), (3, 4), (2, 3, 4), (2, 3, 4, 5), (3, 300), (2, 0, 3), (2, 3, 0)]:
                axis = int(rng.integers(-len(shape), len(shape)))
                over = tuple(range(axis % len(shape), len(shape)))
                scale_type = one_of(*allowed(schema, schema.inputs[1])) if op == 'RMSNormalization' else d
                factor = [shape[i] if i in over else 1 for i in range(len(shape))]
                how = one_of('full', 'full', 'squeezed', 'one', 'rows')
                if how == 'squeezed':
                    factor = factor[axis % len(shape):]
                elif how == 'one':
                    factor[-1] = 1
                elif how == 'rows':
                    factor = list(shape)
                x, scale = random(d, *shape), random(scale_type, *factor)
                bias = random(d, *one_of(factor, [1])) if op == 'LayerNormalization' and rng.integers(2) else None
                epsilon = one_of(1e-5, 1e-2)
                with np.errstate(all='ignore'):
                    if 0 in [shape[i] for i in over]:
                        mean = inv = np.full([1 if i in over else n for i, n in enumerate(shape)], np.nan)
                    else:
                        mean = wide(x).mean(over, keepdims=True) if op == 'LayerNormalization' else np.zeros([1] * len(shape))
                        inv = 1 / np.sqrt(((wide(x) - mean)**2).mean(over, keepdims=True) + np.float32(epsilon))
                    y = (wide(x) - mean) * inv * wide(scale)
                if bias is not None:
                    y = y + wide(bias)
                outputs, attrs = [y.astype(scale_type)], {}
                if op == 'LayerNormalization' and rng.integers(2):
                    saved = np.dtype(np.float32)
                    if rng.integers(2):
                        saved, attrs['stash_type'] = next(t for t in allowed(schema, schema.outputs[1]) if t != F32), 16
                    outputs += [mean.astype(saved), inv.astype(saved)]
                t = max(tolerance(F32 if o.dtype == F64 and len(outputs) > 1 else o.dtype) for o in outputs)
                cases.node(op, schema.since_version, [x, scale] + ([] if bias is None else [bias]), outputs, t,
                           name=f'{d.name}_{how}', axis=axis, epsilon=epsilon, **attrs)

# ---- losses ----

for op in ['NegativeLogLikelihoodLoss', 'SoftmaxCrossEntropyLoss']:
    for schema in versions(op):
        for d in allowed(schema, schema.inputs[0]):
            for shape in [(4, 5), (3, 4, 2), (2, 3, 2, 4), (2, 3, 300)]:
                for reduction in ['none', 'sum', 'mean', None]:
                    x = random(d, *shape)
                    target = rng.integers(0, shape[1], (shape[0], *shape[2:])).astype(one_of(np.int32, np.int64))
                    weight = positive(d, shape[1]) if rng.integers(2) else None
                    ignored = one_of(None, 1, -1, 100)
                    if ignored is not None:
                        target.reshape(-1)[rng.random(target.size) < 0.3] = ignored
                    logs = wide(x)
                    if op == 'SoftmaxCrossEntropyLoss':
                        logs = np.moveaxis(FORMULAS['LogSoftmax'](np.moveaxis(logs, 1, -1)), -1, 1)
                    kept = target != ignored if ignored is not None else np.ones(target.shape, bool)
                    index = np.expand_dims(np.where(kept, target, 0), 1).astype(np.int64)
                    w = np.where(kept, wide(weight)[index[:, 0]] if weight is not None else 1, 0)
                    loss = -np.take_along_axis(logs, index, 1)[:, 0] * w
                    if reduction == 'sum':
                        loss = loss.sum()
                    elif reduction != 'none':
                        with np.errstate(all='ignore'):
                            loss = loss.sum() / w.sum()
                    attrs = {} if reduction is None else {'reduction': reduction}
                    if ignored is not None:
                        attrs['ignore_index'] = ignored
                    outputs = [np.asarray(loss).astype(d)]
                    if op == 'SoftmaxCrossEntropyLoss' and rng.integers(2):
                        outputs.append(logs.astype(d))
                    cases.node(op, schema.since_version, [x, target] + ([] if weight is None else [weight]), outputs, tolerance(d),
                               name=d.name, **attrs)
cases.node('NegativeLogLikelihoodLoss', 13, [np.ones((2, 3), np.float32), np.array([0, 3])], [np.float32(0)],
           says='class 3 at element 1 is outside [0,2]')

# ---- Dropout ----

for schema in versions('Dropout'):
    v = schema.since_version
    for d in allowed(schema, schema.inputs[0]):
        for shape in [(4,), (2, 3), (3, 300), (0,), ()]:
            x = random(d, *shape)
            mask = np.ones(shape, d if v < 10 else bool)
            y, inputs, attrs = x, [x], {}
            if v < 7:
                attrs['is_test'] = 1
            if v == 1:
                attrs['consumed_inputs'] = [0]
            if v < 12 and rng.integers(2):
                attrs['ratio'] = 0.25
            if v >= 12 and rng.integers(4):
                ratio_type = one_of(*allowed(schema, schema.inputs[1]))
                seed, training = int(rng.integers(1, 1 << 31)), bool(rng.integers(4))
                ratio = np.array(one_of(0., 0.25, 0.5, 0.75), np.float32).astype(ratio_type)
                inputs += [ratio, np.array(training)]
                attrs['seed'] = seed
                if training and ratio != 0:
                    mask = np.random.RandomState(seed).uniform(0, 1, shape) >= float(ratio)
                    mask = np.asarray(mask)
                    y = (mask * wide(x) * (1 / (1 - float(ratio)))).astype(d)
            cases.node('Dropout', v, inputs, [y, mask] if rng.integers(2) else [y], name=d.name, **attrs)
for mean in np.inf, -np.inf, 1e200:  # what is left of x is infinite, not NaN; 1e200 is no float
    x = random(np.dtype(np.float32), 2, 2, 9)
    moments = [np.array([mean, 0]), np.array([1., 1.])]
    y = np.stack([np.full((2, 9), -np.sign(mean) * np.inf, np.float32), x[:, 1]], 1)
    ones, zeros = np.ones(2, np.float32), np.zeros(2, np.float32)
    cases.node('BatchNormalization', 15, [x, ones, zeros, *moments], [y], (1e-6, 0), epsilon=0.)
x = np.ones(3, np.float32)
cases.node('Dropout', 13, [x, np.float32(1), np.array(True)], [x], says='ratio 1 is outside [0,1)')
cases.run()
