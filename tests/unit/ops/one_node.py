"""Models of one node, written as test folders and judged by minirt-conformance in both modes.

A test makes a `Cases`, adds to it, and ends with `cases.run()`, which prints `N passed, N failed` and exits. The runner is
taken from the folder that the argument --build names, else from build/. --seed N draws other numbers; --reference says, too,
how many of the right outputs onnx's ReferenceEvaluator gives.
"""
import collections
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator


def option(name, otherwise):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


BUILD, SEED = option('--build', 'build'), int(option('--seed', 0))
RUNNER = os.path.join(BUILD, 'minirt-conformance')
WORDS = ['', 'a', 'b', 'ab', 'Grüße', 'naïve', 'z', 'zz', '日本', 'a\nb', 'B', 'x' * 40]


def generator(stream):
    """Of a test's own stream; another one with --seed."""
    return np.random.default_rng([stream, SEED] if SEED else stream)


def versions(op, domain=''):
    """The schemas of an operator, oldest first, without the deprecated ones."""
    all_of_them = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == op and s.domain == domain]
    return sorted((s for s in all_of_them if not s.deprecated), key=lambda s: s.since_version)


def types(schema, var):
    """The element types, as TensorProto numbers, that a type variable allows for tensors."""
    allowed = next(t.allowed_type_strs for t in schema.type_constraints if t.type_param_str == var)
    names = {v: k for k, v in zip(TensorProto.DataType.keys(), TensorProto.DataType.values())}
    by_name = {n.lower(): v for v, n in names.items()}
    return [by_name[s[7:-1]] for s in allowed if s.startswith('tensor(')]


def dtype(t):
    return np.dtype(object) if t == TensorProto.STRING else helper.tensor_dtype_to_np_dtype(t)


def random_tensor(rng, t, *shape):
    """Elements that are easily told apart, with what is special of the type among them."""
    n = int(np.prod(shape, dtype=np.int64))
    d = dtype(t)
    if t == TensorProto.STRING:
        flat = np.array([WORDS[i] for i in rng.integers(0, len(WORDS), n)], dtype=object)
    elif t == TensorProto.BOOL:
        flat = rng.integers(0, 2, n).astype(bool)
    elif d.kind in 'iu':
        flat = rng.integers(np.iinfo(d).min, np.iinfo(d).max, n, dtype=d, endpoint=True)
    elif d.kind == 'c':
        flat = (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(d)
    elif d in (np.float32, np.float64, np.float16):
        flat = rng.standard_normal(n).astype(d)
        flat[rng.random(n) < 0.04] = np.nan
        flat[rng.random(n) < 0.04] = -0.0
        flat[rng.random(n) < 0.04] = np.inf
    else:  # of ml_dtypes
        flat = np.array(rng.integers(-8, 8, n), dtype=np.float32).astype(d)
    return flat.reshape(shape)


def array(values, t):
    return np.asarray(values, dtype=dtype(t))


def value_info(name, t, v):
    """t: an element type, or the TypeProto of what is no tensor."""
    return helper.make_value_info(name, t) if isinstance(t, onnx.TypeProto) else helper.make_tensor_value_info(name, t, v)


def proto(value):
    """Arrays; dicts of scalars as maps; lists of either as sequences."""
    if isinstance(value, dict):
        m = onnx.MapProto(name='value', values=proto([np.asarray(v) for v in value.values()]))
        strings = any(isinstance(k, str) for k in value)
        m.key_type = TensorProto.STRING if strings else TensorProto.INT64
        (m.string_keys if strings else m.keys).extend(k.encode() if strings else k for k in value)
        return m
    if isinstance(value, list):
        s = onnx.SequenceProto(name='value')
        s.elem_type = onnx.SequenceProto.MAP if value and isinstance(value[0], dict) else onnx.SequenceProto.TENSOR
        (s.map_values if s.elem_type == onnx.SequenceProto.MAP else s.tensor_values).extend(proto(v) for v in value)
        return s
    value = np.asarray(value)
    if value.dtype.kind == 'U':
        value = value.astype(object)
    return numpy_helper.from_array(np.ascontiguousarray(value).reshape(value.shape), 'value')


def values_of(folder, kind, infos):
    paths = [os.path.join(folder, 'test_data_set_0', f'{kind}_{i}.pb') for i in range(len(infos))]
    return [onnx.load_tensor(p) for p in paths]


def reference_verdict(folder):
    """('agree', 'differ' or 'fail (why)', what the node is), of tensors."""
    model = onnx.load(os.path.join(folder, 'model.onnx'))
    node, graph = model.graph.node[0], model.graph
    given = {i.name for i in graph.initializer}
    infos = [i for i in graph.input if i.name not in given]
    schema = onnx.defs.get_schema(node.op_type, model.opset_import[0].version)
    telling = [a.name for a in node.attribute if a.name in ('antialias', 'mode', 'reduction', 'keep_aspect_ratio_policy')]
    what = ' '.join([f'{node.op_type}-{schema.since_version}'] +
                    [f'{a.name}={str(helper.get_attribute_value(a)).strip("b")}' for a in node.attribute if a.name in telling])
    try:
        feeds = {i.name: numpy_helper.to_array(t) for i, t in zip(infos, values_of(folder, 'input', infos))}
        want = [numpy_helper.to_array(t) for t in values_of(folder, 'output', graph.output)]
        with np.errstate(all='ignore'):
            got = ReferenceEvaluator(model).run(None, feeds)
    except Exception as e:  # whatever it raises
        return f'fail ({type(e).__name__})', what
    same = all(np.shape(g) == w.shape and close(np.asarray(g), w) for g, w in zip(got, want))
    return ('agree' if same else 'differ'), what


def close(a, b):
    """As the official runner has it."""
    if b.dtype.kind in 'OUSiub':
        return np.array_equal(a.astype(object), b.astype(object))
    wide = np.complex128 if b.dtype.kind == 'c' else np.float64
    return a.dtype == b.dtype and np.allclose(a.astype(wide), b.astype(wide), 2**-6 if b.dtype.name == 'bfloat16' else 1e-3, 1e-7, equal_nan=True)


class Cases:
    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix='minirt-one-node-')
        self.wanted = {}  # name → None for "pass", else what the verdict must say

    def _write(self, path, value):
        with open(path, 'wb') as f:
            f.write(proto(value).SerializeToString())

    def add(self, node, opset, inputs, outputs, constant=(), says=None, name=None, domain='', tolerance=(0, 0)):
        """inputs: name → (type, array), those in `constant` as initializers; outputs: name → (type, array).
        says: the text that must be in the refusal, for models that cannot run or whose run must fail. tolerance:
        relative and absolute."""
        infos = [value_info(k, t, np.shape(v)) for k, (t, v) in inputs.items() if k not in constant]
        inits = [numpy_helper.from_array(np.asarray(inputs[k][1]), k) for k in constant]
        outs = [value_info(k, t, None) for k, (t, v) in outputs.items()]
        graph = helper.make_graph([node], 'one', infos, outs, initializer=inits)
        imports = {'': onnx.defs.onnx_opset_version(), domain: opset}
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid(d, v) for d, v in imports.items()],
                                  ir_version=onnx.IR_VERSION)
        self.add_model(f'{name or node.op_type}_{opset}', model,
                       [v for k, (t, v) in inputs.items() if k not in constant], [v for t, v in outputs.values()], tolerance, says)

    def add_model(self, name, model, inputs, outputs, tolerance=(0, 0), says=None):
        """inputs, outputs: values, in the order of the model's."""
        name = f'{len(self.wanted):05d}_{name}'
        folder = os.path.join(self.dir.name, name)
        os.makedirs(os.path.join(folder, 'test_data_set_0'))
        onnx.save(model, os.path.join(folder, 'model.onnx'))
        with open(os.path.join(folder, 'tolerance'), 'w') as f:
            f.write('%g %g\n' % tolerance)
        for kind, values in (('input', inputs), ('output', outputs)):
            for i, v in enumerate(values):
                self._write(os.path.join(folder, 'test_data_set_0', f'{kind}_{i}.pb'), v)
        self.wanted[name] = says

    def _judge(self, mode):
        p = subprocess.run([RUNNER, '--mode', mode, '--timeout', '300', self.dir.name], stdout=subprocess.PIPE,
                           text=True)
        verdicts = dict(line.split(' ', 1)[1].split(': ', 1) if ': ' in line else (line.split(' ', 1)[1], '')
                        for line in p.stdout.split('\n') if line.split(' ')[0] in ('pass', 'fail', 'unsupported', 'random'))
        kinds = {line.split(' ', 2)[1].rstrip(':'): line.split(' ')[0] for line in p.stdout.split('\n') if ' ' in line}
        failed = 0
        for name, says in self.wanted.items():
            ok = kinds.get(name) == 'pass' if says is None else says in verdicts.get(name, '')
            if ok:
                continue
            failed += 1
            if failed <= 20:
                print(f'{mode} {name}: {kinds.get(name)} {verdicts.get(name)}' + (f' (wanted: {says})' if says else ''))
        return failed

    def _ask_reference(self):
        """Prints how often ReferenceEvaluator gives the right outputs, and in how many of which nodes it does not."""
        counts, wrong, total = collections.Counter(), collections.Counter(), collections.Counter()
        for name in (n for n, says in self.wanted.items() if says is None):
            what, node = reference_verdict(os.path.join(self.dir.name, name))
            counts[what] += 1
            total[node] += 1
            if what != 'agree':
                wrong[node, what] += 1
        for (node, what), n in sorted(wrong.items()):
            print(f"{n} of {total[node]} {what} with onnx's ReferenceEvaluator: {node}")
        print(', '.join(f'{n} {what}' for what, n in sorted(counts.items())), "with onnx's ReferenceEvaluator")

    def run(self):
        if '--reference' in sys.argv:
            self._ask_reference()
        failed = sum(self._judge(mode) for mode in ('reference', 'fast'))
        print(f'{2 * len(self.wanted) - failed} passed, {failed} failed')
        sys.exit(1 if failed else 0)
