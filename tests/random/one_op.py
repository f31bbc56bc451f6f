#!/usr/bin/env python3
"""Random valid models of one operator against ReferenceEvaluator. usage: one_op.py --build BUILD [--full] [--seed N] [-k OP] [-v]

Every operator of ai.onnx that is not deprecated, in every version: nodes and values of the official data, bent to the
version by tests/claims, then changed at random: types, shapes that broadcast, tensors without elements, rank 0, axes from
both ends, attributes, optional inputs absent, other values. What neither runs was not valid, and does not count.
Differences that the specification decides stand in decided.toml.
"""
import argparse
import os
import random
import re
import sys

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'claims'))
import claims  # noqa: E402
import evaluate  # noqa: E402
import judges  # noqa: E402

SAMPLE, FULL = 6, 60  # models of a version

# Without those that no operator's text has a meaning for: tests/claims has them.
CORNERS = {**claims.CORNERS, AttributeProto.STRING: []}

# Attributes of type INT that say yes or no.
FLAGS = {'align_corners', 'allowzero', 'antialias', 'case_action', 'ceil_mode', 'center_point_box', 'consumed_inputs', 'count_include_pad',
         'detect_negative', 'detect_positive', 'exclude_outside', 'exclusive', 'fmod', 'input_forget', 'inverse', 'is_causal', 'is_test', 'keepdims',
         'largest', 'layout', 'linear_before_reset', 'new_axis', 'noop_with_empty_axes', 'normalized', 'onesided', 'output_sequence', 'periodic',
         'reverse', 'saturate', 'select_last_index', 'sorted', 'spatial', 'storage_order', 'training_mode', 'transA', 'transB', 'upper'}


def array_of(value):
    return numpy_helper.to_array(value)


def tensor_like(value, x):
    """x as a tensor of the value's type, or the value where NumPy has no such type."""
    if value.data_type == TensorProto.STRING:
        return helper.make_tensor('', TensorProto.STRING, x.shape, [v if isinstance(v, bytes) else str(v).encode() for v in x.reshape(-1)])
    made = numpy_helper.from_array(np.ascontiguousarray(x).reshape(x.shape))
    return made if made.data_type == value.data_type else value


def words_of(schema, name):
    """The values that an attribute's own description names."""
    attr = onnx.defs.get_schema(schema.name, schema.version, schema.domain).attributes[name]
    words = set(re.findall(r'["`\'*]([A-Za-z_]{2,30})["`\'*]', attr.description)) | {helper.get_attribute_value(attr.default_value).decode()} if attr.default_value.name else set()
    return sorted(w.encode() for w in words if w and w != name)


class Mutator:
    """Random changes to a node and the values of its inputs."""

    def __init__(self, rng, schema, node, values):
        self.rng, self.schema, self.node, self.values = rng, schema, node, list(values)

    def tensors(self):
        return [i for i, v in enumerate(self.values) if isinstance(v, onnx.TensorProto)]

    def change(self, i, how):
        x = array_of(self.values[i])
        self.values[i] = tensor_like(self.values[i], np.asarray(how(x), x.dtype))

    def fit_types(self):
        """Types that the version has, whatever those of the newest are."""
        for i, v in enumerate(self.values):
            allowed = claims.allowed(self.schema, claims.formal(self.schema, i)[1])
            if isinstance(v, onnx.TensorProto) and v.data_type not in [claims.elem_of(t) for t in allowed]:
                return self.types()

    def types(self):
        for binding in claims.bindings(self.schema, self.values, self.rng, False):
            made = claims.typed(self.schema, self.values, binding)
            if made is not None:
                self.values = made
                return

    def broadcast(self):
        """Extents of 1, and fewer leading axes."""
        for i in self.tensors():
            if self.rng.random() < 0.6:
                keep = tuple(slice(0, 1) if self.rng.random() < 0.4 else slice(None) for _ in self.values[i].dims)
                drop = self.rng.randrange(len(self.values[i].dims) + 1) if self.rng.random() < 0.5 else 0
                self.change(i, lambda x: x[keep][(0,) * drop] if all(x.shape[:drop]) else x[keep])

    def cut(self):
        """One extent, wherever it occurs, to 0 or another length."""
        dims = sorted({d for i in self.tensors() for d in self.values[i].dims if d})
        if dims:
            extent = self.rng.choice(dims)
            length = self.rng.choice([0, 0, 1, extent - 1])
            for i in self.tensors():
                cut = tuple(slice(0, length) if d == extent else slice(None) for d in self.values[i].dims)
                self.change(i, lambda x: x[cut])

    def shape(self):
        tensors = self.tensors()
        if tensors:
            i = self.rng.choice(tensors)
            how = self.rng.choice(['empty', 'last', 'deep', 'one', 'flat', 'scalar'])
            for k in tensors if self.rng.random() < 0.5 else [i]:
                self.values[k] = claims.reshaped(self.values[k], how)

    def mix(self):
        """The elements of an input in another order, which keeps indices in range."""
        for i in self.tensors():
            if self.rng.random() < 0.7:
                self.change(i, lambda x: np.array(self.rng.sample(list(x.reshape(-1)), x.size), x.dtype).reshape(x.shape))

    def special(self):
        """Infinities, NaN, zeros of both signs, extremes of the type."""
        for i in self.tensors():
            if self.rng.random() < 0.5:
                self.change(i, self.with_special)

    def with_special(self, x):
        flat = x.reshape(-1).copy()
        if x.dtype.kind == 'f':
            pool = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1e30, -1e-30, 0.5, -2.5]
        elif x.dtype.kind in 'iu' and x.dtype.names is None:
            pool = [np.iinfo(x.dtype).min, np.iinfo(x.dtype).max, 0, 1]
        else:
            return x
        with np.errstate(all='ignore'):
            for k in range(flat.size):
                if self.rng.random() < 0.2:
                    flat[k] = np.array(self.rng.choice(pool)).astype(x.dtype)
        return flat.reshape(x.shape)

    def absent(self):
        optional = [i for i in range(len(self.values)) if claims.formal(self.schema, i)[3]]
        if optional and self.schema.name != 'Loop':  # which would not end
            self.values[self.rng.choice(optional)] = None

    def attribute(self):
        """One attribute at a corner; axes, from both ends, more often than what is rarely valid."""
        if not self.schema.attrs:
            return
        name = self.rng.choice(sorted(self.schema.attrs))
        kind, rank = self.schema.attrs[name], len(self.values[0].dims) if self.values and isinstance(self.values[0], onnx.TensorProto) else 2
        if name == 'axis':
            value = self.rng.randrange(-rank - 1, rank + 1)
        elif name in ('axes', 'perm'):
            value = self.rng.sample(range(rank), rank if name == 'perm' else self.rng.randrange(rank + 1))
            value = [v - rank if name == 'axes' and self.rng.random() < 0.4 else v for v in value]
        elif name in FLAGS:
            value = self.rng.choice([0, 1])
        else:
            words = words_of(self.schema, name) if kind == AttributeProto.STRING else []
            value = self.rng.choice([None] + (words or CORNERS.get(kind, [])))
        if value == []:
            self.node = claims.with_attr(self.node, name, None)
            self.node.attribute.append(claims.empty_list(name, kind))
        else:
            self.node = claims.with_attr(self.node, name, value)

    def mutate(self):
        ways = [self.types, self.types, self.broadcast, self.cut, self.shape, self.mix, self.special, self.absent, self.attribute, self.attribute]
        for way in self.rng.sample(ways, self.rng.choice([1, 1, 2, 2, 3])):
            way()


def random_models(schema, newest, group, rng, n):
    for k in range(n):
        base = rng.choice(group)
        node, values = claims.bent(schema, newest, *base)
        m = Mutator(rng, schema, node, values)
        try:
            m.fit_types()
            if k:
                m.mutate()
            made = claims.model(schema, m.node, m.values)
        except (ValueError, TypeError, OverflowError):
            continue  # no such tensor
        if made is not None and len(made[1]) < 38:
            yield f'{schema.name}-{schema.version} {k}', *made


def models(args):
    schemas = [s for s in claims.all_schemas() if not s.domain]
    newest = {s.name: s for s in schemas}
    base = claims.bases(f'{args.build}/onnx-test-data')
    for s in schemas:
        if args.k and args.k != s.name:
            continue
        rng = random.Random(f'{args.seed} {s.name} {s.version}')
        group = base.get(('', s.name)) or [claims.plain_base(s)]
        yield from random_models(s, newest[s.name], group, rng, FULL if args.full else SAMPLE)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('-v', action='store_true')
    parser.add_argument('-k')
    args = parser.parse_args()
    decisions = evaluate.Decisions(os.path.join(HERE, 'decided.toml'), judges)
    suite = evaluate.Suite(args.build, decisions, os.cpu_count() if args.full else 1)
    suite.judge(models(args))
    return suite.report(args.v)


if __name__ == '__main__':
    sys.exit(main())
