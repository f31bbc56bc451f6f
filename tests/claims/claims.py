#!/usr/bin/env python3
"""Does check tell the truth, over everything that ONNX declares? usage: claims.py --build BUILD [--full] [--device D] [-k OP]

For each version of each operator, of ai.onnx and its other domains and of com.microsoft, models of one node: every binding of
its type variables, each attribute at its corners, inputs and outputs present and absent, tensors without elements and of
other ranks. Nodes and values come from the official test data, the smallest cases of the operator, bent to the version;
operators without any get plain ones. BUILD/tests/claims runs them all and holds what check says against what a run does.

Without --full a sample with a fixed seed: the first bindings of each version, and one in so many of the rest.
"""
import argparse
import glob
import itertools
import os
import random
import re
import struct
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from bases import of_all_versions, of_one_version
from microsoft import of_microsoft

warnings.filterwarnings('ignore')

BINDINGS = 600          # of one version at most, evenly taken
CORNERS = {AttributeProto.INT: [0, 1, -1, 2, 3, 1 << 40], AttributeProto.FLOAT: [0.0, 1.0, -1.5, float('inf'), float('nan')],
           AttributeProto.INTS: [[], [0], [1, 1], [-1], [2, 1, 1], [1 << 40, 1]],
           AttributeProto.FLOATS: [[], [0.0], [1.0, 2.0], [-1.0]], AttributeProto.STRING: [b'', b'bogus'],
           AttributeProto.STRINGS: [[], [b'a'], [b'b', b'a']]}
# Operators whose output has a type of its own, that of an input unless an attribute says so; else an integer.
AS_THE_INPUT = ('QuantizeLinear', 'DequantizeLinear', 'EyeLike', 'Bernoulli', 'RandomNormalLike', 'RandomUniformLike', 'Multinomial')
DTYPES = {name.lower(): number for name, number in TensorProto.DataType.items()}


class Schema:
    """The same of onnx's and of ONNX Runtime's schemas."""

    def __init__(self, s):
        self.name, self.domain, self.version, self.deprecated = s.name, s.domain, s.since_version, s.deprecated
        text = lambda p: getattr(p, 'type_str', None) or getattr(p, 'typeStr', '')
        self.inputs = [(p.name, text(p), 'Variadic' in str(p.option), 'Optional' in str(p.option)) for p in s.inputs]
        self.outputs = [(p.name, text(p)) for p in s.outputs]
        self.vars = {c.type_param_str: list(c.allowed_type_strs) for c in s.type_constraints}
        kinds = {'INT': 2, 'FLOAT': 1, 'STRING': 3, 'INTS': 7, 'FLOATS': 6, 'STRINGS': 8, 'TENSOR': 4, 'GRAPH': 5,
                 'SPARSE_TENSOR': 11, 'TYPE_PROTO': 13}
        self.attrs = {n: kinds.get(str(a.type).split('.')[-1], 0) for n, a in s.attributes.items()}
        self.required = {n for n, a in s.attributes.items() if a.required}
        self.max_in, self.min_in = s.max_input, s.min_input
        doc = ' '.join([s.doc or ''] + [a.description or '' for a in s.attributes.values()])
        self.words = sorted(set(re.findall(r'["`\']([A-Za-z_]{2,30})["`\']', doc)))


def all_schemas():
    found = [Schema(s) for s in onnx.defs.get_all_schemas_with_history()]
    try:
        from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema
        found += [Schema(s) for s in get_all_operator_schema() if s.domain == 'com.microsoft']
    except ImportError:
        pass
    return sorted((s for s in found if not s.deprecated), key=lambda s: (s.domain, s.name, s.version))


# ---- bases: a node, and a value for each of its inputs


def read_value(path, type_proto):
    kind = type_proto.WhichOneof('value')
    message = {'tensor_type': onnx.TensorProto, 'sequence_type': onnx.SequenceProto,
               'optional_type': onnx.OptionalProto}.get(kind)
    if message is None:
        return None
    message = message()
    with open(path, 'rb') as f:
        message.ParseFromString(f.read())
    return message


def bases(data):
    """By (domain, name): the smallest nodes of the official data, [(node, values)]."""
    found = {}
    for folder in sorted(glob.glob(f'{data}/node/*')):
        model = onnx.load(f'{folder}/model.onnx')
        graph = model.graph
        if len(graph.node) != 1 or model.functions:
            continue
        node = graph.node[0]
        paths = {v.name: (f'{folder}/test_data_set_0/input_{i}.pb', v.type) for i, v in enumerate(graph.input)}
        values, size = [], 0
        for name in node.input:
            value = read_value(*paths[name]) if name in paths else None
            if name and value is None:
                break
            values.append(value)
            size += value.ByteSize() if value is not None else 0
        else:
            found.setdefault((node.domain, node.op_type), []).append((size, folder, node, values))
    for group in found.values():
        group.sort(key=lambda b: (b[0], b[1]))
    return {key: [(node, values) for size, _, node, values in group if size < 20000][:12] for key, group in found.items()}


def plain_base(s):
    """A node of an operator that no official case has."""
    values = []
    for name, kind, _, optional in s.inputs[:s.min_in or len(s.inputs)]:
        integer = 'int64' in kind or 'int32' in kind
        x = np.array([1, 1] if integer else [[0.5, 1, 2], [3, 4, 5]], np.int64 if integer else np.float32)
        values.append(numpy_helper.from_array(x))
    node = onnx.NodeProto(op_type=s.name, domain=s.domain, input=[f'i{i}' for i in range(len(values))],
                          output=[f'o{i}' for i in range(max(1, len(s.outputs[:1])))])
    for name in s.required:
        corner = {AttributeProto.INT: 1, AttributeProto.FLOAT: 1.0, AttributeProto.INTS: [1], AttributeProto.FLOATS: [1.0],
                  AttributeProto.STRING: b'a', AttributeProto.STRINGS: [b'a']}.get(s.attrs[name])
        if corner is not None:
            node.attribute.append(helper.make_attribute(name, corner))
    return node, values


def bent(s, newest, node, values):
    """The base as the version may have it: inputs that are attributes there become attributes, others go."""
    n = onnx.NodeProto()
    n.CopyFrom(node)
    kept = [a for a in n.attribute if a.name in s.attrs and (a.type == s.attrs[a.name] or not s.attrs[a.name])]
    values = list(values)
    for i in range(len(values) - 1, -1, -1):
        if i < s.max_in:
            break
        name = newest.inputs[min(i, len(newest.inputs) - 1)][0]
        value = values.pop()
        if name in s.attrs and isinstance(value, onnx.TensorProto):
            x = numpy_helper.to_array(value)
            x = x.reshape(-1).tolist() if s.attrs[name] in (AttributeProto.INTS, AttributeProto.FLOATS) else x.reshape(-1)[:1].tolist()
            if s.attrs[name] in (AttributeProto.INT, AttributeProto.FLOAT):
                x = x[0] if x else 0
            try:
                kept.append(helper.make_attribute(name, x))
            except (ValueError, TypeError):
                pass
    del n.attribute[:], n.input[len(values):]
    n.attribute.extend(kept)
    return n, values


# ---- types


def formal(s, i):
    return s.inputs[min(i, len(s.inputs) - 1)] if s.inputs else ('', '', False, False)


def allowed(s, kind):
    return s.vars.get(kind, [kind])


def elem_of(text):
    """The element type of "tensor(float)" and of the like inside a sequence or optional."""
    m = re.search(r'tensor\((\w+)\)', text)
    return DTYPES.get(m.group(1)) if m else None


def as_type(value, text):
    """The value with another element type, None where there is no such value."""
    elem = elem_of(text)
    if elem is None:
        return None
    if isinstance(value, onnx.TensorProto):
        return numpy_cast(value, elem) if text.startswith('tensor') else None
    if isinstance(value, onnx.SequenceProto) and text.startswith('seq(tensor'):
        made = onnx.SequenceProto(elem_type=onnx.SequenceProto.TENSOR)
        made.tensor_values.extend(numpy_cast(t, elem) for t in value.tensor_values)
        return made
    return None


CACHE = {}


def numpy_cast(tensor, elem):
    if tensor.data_type == elem:
        return tensor
    key = (tensor.SerializeToString(), elem)
    if key not in CACHE:
        x = numpy_helper.to_array(tensor)
        dims = list(x.shape)
        if tensor.data_type == TensorProto.STRING:
            x = np.arange(x.size).reshape(x.shape) % 3
        if elem == TensorProto.STRING:
            CACHE[key] = helper.make_tensor('', elem, dims, [str(v)[:4].encode() for v in np.asarray(x, np.float64 if x.dtype.kind not in 'iubc' else x.dtype).reshape(-1)])
        else:
            d = helper.tensor_dtype_to_np_dtype(elem)
            if np.issubdtype(x.dtype, np.complexfloating) and not np.issubdtype(d, np.complexfloating):
                x = x.real
            wide = x if x.dtype.kind in 'iubc' else x.astype(np.float64)
            if d.kind in 'iu':
                wide = np.clip(np.nan_to_num(wide.astype(np.float64)), np.iinfo(d).min if d.kind == 'i' else 0, min(np.iinfo(d).max, 1 << 53))
            CACHE[key] = numpy_helper.from_array(wide.astype(d)) if d.names is None else tensor
            if CACHE[key].data_type != elem:
                CACHE[key] = helper.make_tensor('', elem, dims, wide.astype(np.float32).reshape(-1).tolist())
    return CACHE[key]


def bindings(s, values, rng, full):
    """Bindings of the variables of the inputs that are there."""
    used = list(dict.fromkeys(formal(s, i)[1] for i, v in enumerate(values) if v is not None))
    choices = [[t for t in allowed(s, u) if elem_of(t) is not None] or [None] for u in used]
    total = int(np.prod([len(c) for c in choices], dtype=np.int64)) if choices else 1
    most = BINDINGS if full else 3
    if total <= most:
        picked = itertools.product(*choices)
    else:
        picked = (tuple(rng.choice(c) for c in choices) for _ in range(most))
    for types in picked:
        yield dict(zip(used, types))


def typed(s, values, binding):
    out = []
    for i, v in enumerate(values):
        text = binding.get(formal(s, i)[1])
        if v is None:
            out.append(None)
            continue
        made = as_type(v, text) if text else v
        if made is None:
            return None
        out.append(made)
    return out


# ---- models


def type_of(value, symbol):
    """symbol: what the names of its dims begin with; None: they are as they are."""
    if isinstance(value, onnx.TensorProto):
        dims = [f'{symbol}{i}' for i in range(len(value.dims))] if symbol else list(value.dims)
        return helper.make_tensor_type_proto(value.data_type, dims)
    if isinstance(value, onnx.SequenceProto):
        elem = value.tensor_values[0].data_type if value.tensor_values else TensorProto.FLOAT
        return helper.make_sequence_type_proto(helper.make_tensor_type_proto(elem, None))
    if isinstance(value, onnx.OptionalProto):
        inner = value.tensor_value if value.elem_type == onnx.OptionalProto.TENSOR else value.sequence_value
        if value.elem_type not in (onnx.OptionalProto.TENSOR, onnx.OptionalProto.SEQUENCE):
            return None
        return helper.make_optional_type_proto(type_of(inner, None))
    return None


OPSET_ML = max(s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.domain == 'ai.onnx.ml')


def opset_of(s):
    """An opset in which the version is in force: its own number."""
    imports = [helper.make_opsetid(s.domain, s.version)]
    if s.domain:
        imports.append(helper.make_opsetid('', 21))
    return imports


def no_shape(t):
    made = onnx.TypeProto()
    made.CopyFrom(t)
    if made.HasField('tensor_type'):
        made.tensor_type.ClearField('shape')
    return made


def type_by_attribute(node, i):
    """Where an attribute says what output i is: its element type, a value of it, the body that makes it."""
    for a in node.attribute:
        if a.name in ('to', 'dtype', 'output_dtype', 'output_datatype') and 0 < a.i <= max(DTYPES.values()):
            made = helper.make_tensor_type_proto(a.i, None)
            return helper.make_sequence_type_proto(made) if node.op_type == 'SequenceEmpty' else made
        if a.type == AttributeProto.TENSOR and a.name == 'value':
            return helper.make_tensor_type_proto(a.t.data_type, None)
        if a.type == AttributeProto.GRAPH:
            k = i + (node.op_type == 'Loop')
            return no_shape(a.g.output[k].type) if k < len(a.g.output) else None
        if a.name.startswith('classlabels_') and i == 0:
            labels = TensorProto.STRING if a.name == 'classlabels_strings' else TensorProto.INT64
            row = helper.make_map_type_proto(labels, helper.make_tensor_type_proto(TensorProto.FLOAT, None))
            plain = helper.make_tensor_type_proto(labels, None)
            return helper.make_sequence_type_proto(row) if node.op_type == 'ZipMap' else plain
        if node.op_type == 'LabelEncoder' and a.name.startswith('values_'):
            kind = {'values_strings': TensorProto.STRING, 'values_int64s': TensorProto.INT64, 'values_floats': TensorProto.FLOAT}
            return helper.make_tensor_type_proto(a.t.data_type or kind.get(a.name, TensorProto.FLOAT), None)
    return None


def text_of(value):
    """The schema's text for the type of a value; of an optional, which may hold anything, only that."""
    names = {number: name for name, number in DTYPES.items()}
    if isinstance(value, onnx.OptionalProto):
        return 'optional'
    if isinstance(value, onnx.SequenceProto):
        return f'seq({text_of(value.tensor_values[0]) if value.tensor_values else "tensor(float)"})'
    return f'tensor({names[value.data_type]})' if isinstance(value, TensorProto) else ''


def type_by_inputs(s, text, values):
    """Of a variable that no input binds: what is inside of input 0 or around it, else an input's elements, else floats."""
    if {'dtype', 'output_dtype', 'output_datatype', 'value'} & set(s.attrs) and s.name not in AS_THE_INPUT:
        return proto_of('seq(tensor(float))' if s.name == 'SequenceEmpty' else 'tensor(float)')  # what they default to
    first = values[0] if values else None
    inner = text_of(first)
    if isinstance(first, onnx.OptionalProto):
        inner = text_of(first.tensor_value if first.elem_type == onnx.OptionalProto.TENSOR else first.sequence_value)
    choices = allowed(s, text)
    if s.name in ('LabelEncoder', 'CategoryMapper'):  # of strings, numbers; and the other way round
        choices = [c for c in choices if c != inner] or choices
    for wanted in (inner, inner[4:-1], f'seq({inner})', f'optional({inner})'):
        if wanted in choices:
            return proto_of(wanted)
    for elem in [v.data_type for v in values if isinstance(v, TensorProto)] + [TensorProto.FLOAT, TensorProto.UINT8]:
        for choice in choices:
            if elem_of(choice) == elem:
                return proto_of(choice)
    return proto_of(choices[0])


def output_of(s, node, name, i, values):
    """An output has a type, and only it: what binds its variable, else what an attribute or the inputs say."""
    text = s.outputs[min(i, len(s.outputs) - 1)][1] if s.outputs else 'tensor(float)'
    bound = [type_of(v, None) for k, v in enumerate(values)
             if v is not None and formal(s, k)[1] == text and not formal(s, k)[2]]
    t = bound[0] if bound and bound[0] is not None else type_by_attribute(node, i) or type_by_inputs(s, text, values)
    return helper.make_value_info(name, no_shape(t))


def proto_of(text):
    """The type that a schema's text names: "seq(tensor(float))"."""
    m = re.match(r'(seq|optional|map)\((.*)\)$', text)
    if not m:
        return helper.make_tensor_type_proto(elem_of(text) or TensorProto.FLOAT, None)
    if m.group(1) == 'map':
        key, value = m.group(2).split(',', 1)
        return helper.make_map_type_proto(DTYPES[key.strip()], proto_of(value.strip() if '(' in value else f'tensor({value.strip()})'))
    make = helper.make_sequence_type_proto if m.group(1) == 'seq' else helper.make_optional_type_proto
    return make(proto_of(m.group(2)))


def model(s, node, values, symbolic=False, constant=-1):
    """constant: the input that is an initializer; -1: none."""
    n = onnx.NodeProto()
    n.CopyFrom(node)
    n.name = 'n'
    del n.input[:]
    inputs = []
    for i, v in enumerate(values):
        if v is None:
            n.input.append('')
            continue
        t = type_of(v, 'abcdefghijklmnop'[i % 16] if symbolic else None)
        if t is None:
            return None
        n.input.append(f'i{i}')
        if i != constant:
            inputs.append(helper.make_value_info(f'i{i}', t))
    while n.input and not n.input[-1]:
        n.input.pop()
    outputs = [output_of(s, n, o, i, values) for i, o in enumerate(n.output) if o]
    graph = helper.make_graph([n], 'g', inputs, outputs)
    if constant >= 0:
        graph.initializer.add().CopyFrom(values[constant])
        graph.initializer[0].name = f'i{constant}'
    m = helper.make_model(graph, opset_imports=opset_of(s), ir_version=10)
    return m.SerializeToString(), [v.SerializeToString() for i, v in enumerate(values) if v is not None and i != constant]


def with_attr(node, name, value):
    n = onnx.NodeProto()
    n.CopyFrom(node)
    kept = [a for a in n.attribute if a.name != name]
    del n.attribute[:]
    n.attribute.extend(kept)
    if value is not None:
        n.attribute.append(helper.make_attribute(name, value))
    return n


def empty_list(name, kind):
    return onnx.AttributeProto(name=name, type=kind)


def attr_corners(s, node):
    """The node with each attribute at its corners, the others as they are."""
    for name, kind in s.attrs.items():
        words = [w.encode() for w in s.words] if kind == AttributeProto.STRING else []
        for value in [None] + CORNERS.get(kind, []) + words:
            if value == []:
                n = with_attr(node, name, None)
                n.attribute.append(empty_list(name, kind))
            else:
                n = with_attr(node, name, value)
            yield f'{name}={value}', n


def reshaped(value, how):
    if not isinstance(value, onnx.TensorProto) or value.data_type == TensorProto.STRING:
        return value
    x = numpy_helper.to_array(value)
    x = {'empty': lambda: x[:0] if x.ndim else x, 'last': lambda: x[..., :0] if x.ndim else x, 'deep': lambda: x[None],
         'one': lambda: x[tuple(slice(0, 1) for _ in x.shape)], 'flat': lambda: x.reshape(-1),
         'scalar': lambda: x.reshape(-1)[:1].reshape(()) if x.size else x}[how]()
    t = numpy_helper.from_array(np.ascontiguousarray(x).reshape(x.shape))
    return t if t.data_type == value.data_type else value


def constants(values):
    """(what, input, values): each small input of numbers known beforehand, as it is and with other values."""
    for i, v in enumerate(values):
        if not isinstance(v, TensorProto) or v.data_type not in (TensorProto.INT64, TensorProto.INT32, TensorProto.FLOAT):
            continue
        x = numpy_helper.to_array(v)
        if x.size > 64:
            continue
        for what, y in {'': x, '0': 0 * x, '1': 0 * x + 1, '-1': 0 * x - 1, '99': 0 * x + 99, '-99': 0 * x - 99}.items():
            made = numpy_helper.from_array(np.asarray(y, x.dtype).reshape(x.shape))
            yield f'input{i}-constant{what}', i, values[:i] + [made] + values[i + 1:]


def cases_of(s, newest, group, rng, full):
    """(what, node, values, and what else model is told) of one version."""
    for b, (base, base_values) in enumerate(group if full else group[:4]):
        node, values = bent(s, newest, base, base_values)
        yield f'base{b}', node, values, {}
        yield f'base{b}-symbolic', node, values, {'symbolic': True}
        if b < 2:
            for binding in bindings(s, values, rng, full and b == 0):
                made = typed(s, values, binding)
                if made is not None:
                    yield f'base{b}-' + '-'.join(str(t) for t in binding.values()), node, made, {}
        extra = [(f'base{b}-{what}', node, v, {'constant': i}) for what, i, v in constants(values)]
        for what, n in attr_corners(s, node):
            extra.append((f'base{b}-{what}', n, values, {}))
        for i in range(len(values)):
            for how in ('empty', 'last', 'deep', 'one', 'flat', 'scalar'):
                changed = list(values)
                changed[i] = reshaped(values[i], how) if values[i] is not None else None
                extra.append((f'base{b}-input{i}-{how}', node, changed, {}))
            if formal(s, i)[3] or i + 1 == len(values):
                extra.append((f'base{b}-input{i}-absent', node, values[:i] + [None] + values[i + 1:], {}))
        for how in ('empty', 'one', 'deep'):
            extra.append((f'base{b}-all-{how}', node, [reshaped(v, how) if v is not None else None for v in values], {}))
        for o in range(1, len(node.output)):
            n = onnx.NodeProto()
            n.CopyFrom(node)
            n.output[o] = ''
            extra.append((f'base{b}-output{o}-absent', n, values, {}))
        more = len(s.outputs) - len(node.output)
        if more > 0:
            n = onnx.NodeProto()
            n.CopyFrom(node)
            n.output.extend(f'extra{i}' for i in range(more))
            extra.append((f'base{b}-all-outputs', n, values, {}))
        if not full:
            extra = rng.sample(extra, min(len(extra), 5))
        yield from extra


def models(args):
    """(schema, name, model, values) of every case, as bytes; prints at the end how many there were."""
    rng = random.Random(20240601)
    schemas = all_schemas()
    newest = {(s.domain, s.name): s for s in schemas}
    base, of_all, of_version = bases(f'{args.build}/onnx-test-data'), of_all_versions() | of_microsoft(), of_one_version()
    operators, versions, bound, corners, combined, count = set(), set(), set(), set(), set(), 0
    for s in schemas:
        if args.k and args.k != s.name:
            continue
        key = (s.domain, s.name)
        one = of_version.get((s.name, s.version), []) if not s.domain else []
        group = one + of_all.get(key, []) + base.get(key, []) or [plain_base(s)]
        for what, node, values, how in cases_of(s, newest[key], group, rng, args.full):
            try:
                made = model(s, node, values, **how)
            except (ValueError, TypeError, OverflowError):
                continue
            if made is None or len(made[1]) > 38:
                continue
            version = (*key, s.version)
            types = tuple(text_of(v) if v is not None else None for v in values)
            attributes = b''.join(sorted(a.SerializeToString() for a in node.attribute))
            operators.add(key)
            versions.add(version)
            bound.add((version, types))
            corners.add((version, hash(attributes)))
            combined.add((version, types, hash(attributes)))
            count += 1
            name = f'{s.domain or "ai.onnx"}.{s.name}-{s.version} {what}'.replace('\n', ' ')[:300]
            yield s, name, *made
    print(f'{len(operators)} operators, {len(versions)} versions, {len(bound)} bindings of types, {len(corners)} corners of attributes, '
          f'{len(combined)} of both together, {count} models', flush=True)


def frame(*parts):
    return struct.pack('I', len(parts)) + b''.join(struct.pack('I', len(p)) + p for p in parts)


def frames(args):
    return (frame(name.encode(), made, *values) for _, name, made, values in models(args))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--full', action='store_true')
    parser.add_argument('--device')
    parser.add_argument('--dump')
    parser.add_argument('-k')
    args = parser.parse_args()
    if args.dump:
        with open(args.dump, 'wb') as f:
            f.writelines(frames(args))
        return 0
    command = [f'{args.build}/tests/claims'] + (['--device', args.device] if args.device else [])
    plugins = {'MINIRT_PLUGIN_PATH': os.path.abspath(args.build), **os.environ}
    p = subprocess.Popen(command, stdin=subprocess.PIPE, env=plugins)
    p.stdin.writelines(frames(args))
    p.stdin.close()
    return p.wait()


if __name__ == '__main__':
    sys.exit(main())
