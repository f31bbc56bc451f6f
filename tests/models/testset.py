"""Test folders: NAME/{model.onnx, tolerance, about.json, test_data_set_N/{input,output}_M.pb}.

The expected outputs are ONNX Runtime's, with graph optimisation off and on one thread: on two its int8 LSTMs give others.
How close another runtime has to be is a rule:

    f32     rtol 1e-3, atol 1e-4 of the output's scale (its largest magnitude over all data sets)
    f16     rtol 1e-2, atol 1e-2 of the output's scale
    int8    as f32, but atol is at least twice what the outputs move when a value next to the border between two quanta
            falls on the other side (quantized.py); NAME_cut beside it holds each part to the f32 rule

`tolerance` holds rtol and atol for all outputs of the model: the atol is that of the output with the smallest scale.
"""
import hashlib
import json
import os
import shutil

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

import quantized

RULES = {'f32': (1e-3, 1e-4), 'f16': (1e-2, 1e-2), 'int8': (1e-3, 1e-4)}
ORACLE = f'onnxruntime {ort.__version__}, graph optimisation off, one thread'


def contents(path):
    with open(path, 'rb') as f:
        return f.read()


def stamp(*parts):
    """A digest of what a folder is made from: the given parts, and the scripts that write it."""
    here = os.path.dirname(os.path.abspath(__file__))
    scripts = [contents(os.path.join(here, f)) for f in ('testset.py', 'quantized.py')]
    return hashlib.sha256(b'\0'.join([*parts, *scripts, ORACLE.encode()])).hexdigest()


def up_to_date(folder, wanted):
    about = os.path.join(folder, 'about.json')
    return os.path.exists(about) and json.loads(contents(about)).get('stamp') == wanted


def session(model):
    """An ONNX Runtime session over a path or a ModelProto that runs the graph as it is in the file."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, str) else model.SerializeToString()
    return ort.InferenceSession(source, options, providers=['CPUExecutionProvider'])


def run(s, feeds):
    """Outputs by name, from a session or from a model."""
    if isinstance(s, onnx.ModelProto):
        s = session(s)
    return dict(zip([o.name for o in s.get_outputs()], s.run(None, feeds)))


def run_sets(s, makers):
    """(inputs, outputs) of each data set; the maker is sent the outputs of the one before."""
    sets, feeds = [], next(makers)
    try:
        while True:
            sets.append((feeds, run(s, feeds)))
            feeds = makers.send(sets[-1][1])
    except StopIteration:
        return sets


def write_set(folder, model, feeds, outputs):
    """Inputs in the order of the graph's inputs; those that keep their initializer have no file."""
    os.makedirs(folder)
    inputs = [(i.name, feeds[i.name]) for i in model.graph.input if i.name in feeds]
    for kind, values in (('input', inputs), ('output', outputs.items())):
        for i, (name, value) in enumerate(values):
            with open(os.path.join(folder, f'{kind}_{i}.pb'), 'wb') as f:
                f.write(numpy_helper.from_array(np.asarray(value), name).SerializeToString())


def scales_of(sets):
    """The largest magnitude of each float output."""
    scales = {}
    for _, outputs in sets:
        for name, y in outputs.items():
            if y.dtype.kind == 'f':
                if not np.isfinite(y).all():
                    raise ValueError(f'output {name} is not finite')
                scales[name] = max(scales.get(name, 0.0), float(np.abs(y).max(initial=0)))
    return scales


def tolerance(rule, exact, sets):
    """rtol and atol under a rule, with the scales of the outputs and how far they move that atol comes from."""
    rtol, part = RULES[rule]
    moved = quantized.sensitivity(exact, sets, run) if exact else {}
    scales = scales_of(sets)
    atol = min((max(part * scale, 2 * moved.get(name, 0.0)) for name, scale in scales.items()), default=0.0)
    return rtol, atol, scales, moved


def write_tolerance(folder, rtol, atol):
    with open(os.path.join(folder, 'tolerance'), 'w') as f:
        f.write(f'{rtol:g} {atol:.3g}\n')


def write_facts(folder, facts):
    """The facts last of all: a folder with about.json is whole."""
    write_tolerance(folder, facts['rtol'], facts['atol'])
    with open(os.path.join(folder, 'about.json'), 'w') as f:
        json.dump(facts, f, indent=1)
        f.write('\n')


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)


def write(folder, put_model, makers, rule, facts):
    """Write a test folder; put_model writes the model to a path, makers yields inputs as inputs.py describes it."""
    fresh(folder)
    path = os.path.join(folder, 'model.onnx')
    put_model(path)
    model = onnx.load(path, load_external_data=rule == 'int8')
    exact = quantized.unsigned_weights(model) if rule == 'int8' else None
    sets = run_sets(session(exact or path), makers)
    for n, (feeds, outputs) in enumerate(sets):
        write_set(os.path.join(folder, f'test_data_set_{n}'), model, feeds, outputs)
    rtol, atol, scales, moved = tolerance(rule, exact, sets)
    facts = {**facts, 'rule': rule, 'rtol': rtol, 'atol': atol, 'oracle': ORACLE, 'data_sets': len(sets),
             'scales': scales, **({'moved_by_jitter': moved} if moved else {})}
    if exact:
        write_cut(folder + '_cut', model, exact, sets[0][0], facts)
    write_facts(folder, facts)
    return facts


def write_cut(folder, model, exact, feeds, facts):
    """The model cut at its quantizers, on its first data set, under the f32 rule."""
    fresh(folder)
    cut, given = quantized.cut(model, exact, feeds, run)
    cut_exact, _ = quantized.cut(exact, exact, feeds, run)
    onnx.save(cut, os.path.join(folder, 'model.onnx'))
    outputs = run(cut_exact, given)
    write_set(os.path.join(folder, 'test_data_set_0'), cut, given, outputs)
    rtol, atol = RULES['f32']
    cut_facts = {k: facts[k] for k in ('package', 'licence', 'oracle')}
    write_facts(folder, {**cut_facts, 'rule': 'f32', 'rtol': rtol, 'atol': atol, 'data_sets': 1,
                         'scales': scales_of([(given, outputs)]), 'cut_of': os.path.basename(folder)[:-len('_cut')]})
