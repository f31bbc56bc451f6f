"""Models of one node: what minirt answers, what onnx's ReferenceEvaluator says, and where they differ.

minirt runs in BUILD/tests/claims, which also holds what check says against the run. A model is (name, bytes of the model,
bytes of each input's value).
"""
import contextlib
import multiprocessing
import multiprocessing.connection
import os
import re
import resource
import struct
import subprocess
import tempfile
import time
import tomllib
import warnings

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ('fast', 'reference')
RTOL, ATOL = 1e-3, 1e-7  # the official runner's
SECONDS, BYTES = 5, 6 << 30  # what ReferenceEvaluator gets for a model
BATCH = 4000
RANDOM = {'Bernoulli', 'Dropout', 'Multinomial', 'RandomNormal', 'RandomNormalLike', 'RandomUniform', 'RandomUniformLike'}

warnings.filterwarnings('ignore')


# ---- frames


def frame(*parts):
    return struct.pack('I', len(parts)) + b''.join(struct.pack('I', len(p)) + p for p in parts)


def read_frames(f):
    while head := f.read(4):
        yield [f.read(struct.unpack('I', f.read(4))[0]) for _ in range(struct.unpack('I', head)[0])]


# ---- values

TENSOR, SEQUENCE = (onnx.TensorProto, numpy_helper.to_array), (onnx.SequenceProto, numpy_helper.to_list)
OPTIONAL, MAP = (onnx.OptionalProto, numpy_helper.to_optional), (onnx.MapProto, numpy_helper.to_dict)
BY_TYPE = {'tensor_type': TENSOR, 'sequence_type': SEQUENCE, 'optional_type': OPTIONAL, 'map_type': MAP}
BY_KIND = {1: TENSOR, 2: SEQUENCE, 3: OPTIONAL, 4: OPTIONAL, 6: MAP, 7: SEQUENCE}  # mr_kind
NOTHING, OPTIONALS = 0, (3, 4)


def decode(data, how):
    message, to_python = how
    return to_python(message.FromString(data))


def decode_output(data):
    """As ReferenceEvaluator has it: an optional that an operator makes is a list of one."""
    if data[0] == NOTHING:
        return None
    value = decode(data[1:], BY_KIND[data[0]])
    return [value] if data[0] in OPTIONALS and value is not None else value


def inputs_of(model, values):
    return {v.name: decode(data, BY_TYPE[v.type.WhichOneof('value')]) for v, data in zip(model.graph.input, values)}


# ---- minirt


class Answer:
    """Of one mode. outcome: as claims.c names it; text: what went wrong; outputs: None unless it ran."""

    def __init__(self, outcome, text, outputs):
        self.outcome, self.text, self.outputs = outcome, text, outputs

    @property
    def ran(self):
        return self.outputs is not None


def ask(build, models):
    """name → mode → Answer, and the lines that claims prints of what check said wrongly."""
    answers, broken = {}, []
    with tempfile.NamedTemporaryFile() as out:
        p = subprocess.Popen([f'{build}/tests/claims', '--answers', out.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with contextlib.suppress(BrokenPipeError):
            p.stdin.writelines(frame(name.encode(), model, *values) for name, model, values in models)
        said = p.communicate()[0].decode(errors='replace')
        broken = [line for line in said.splitlines() if line.startswith('broken ')]
        with open(out.name, 'rb') as f:
            for name, mode, outcome, text, *outputs in read_frames(f):
                name, outcome = name.decode(), outcome.decode()
                try:
                    decoded = [decode_output(o) for o in outputs] if outcome == 'ran' else None
                except ValueError as e:  # an extent that NumPy has no array of
                    outcome, text, decoded = 'unread', str(e).encode(), None
                answers.setdefault(name, {})[mode.decode()] = Answer(outcome, text.decode(errors='replace'), decoded)
    return answers, broken


# ---- ReferenceEvaluator


def reference(model, inputs):
    """The outputs, or the exception."""
    try:
        with np.errstate(all='ignore'):
            outputs = ReferenceEvaluator(model).run(None, inputs)
        optional = model.graph.node[0].op_type == 'Identity' and model.graph.input[0].type.HasField('optional_type')
        return [[o] if optional and o is not None else o for o in outputs]
    except Exception as e:  # whatever it is that an operator of it raises
        return e


def inferred(model):
    """The outputs as onnx infers them; None where its checker or its inference says that the model is not valid. The
    declared types of outputs are left out: they are not the node's."""
    context = onnx.checker.DEFAULT_CONTEXT.__class__()
    context.ir_version, context.opset_imports = model.ir_version, {o.domain: o.version for o in model.opset_import}
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for output in bare.graph.output:
        output.ClearField('type')
    try:
        onnx.checker.check_node(model.graph.node[0], context)
        return onnx.shape_inference.infer_shapes(bare, check_type=True, strict_mode=True).graph.output
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError, ValueError):
        return None


# ---- comparison: the official runner's


def differs(got, want):
    """None, or how."""
    if len(got) != len(want):
        return f'{len(got)} outputs, wanted {len(want)}'
    for o, (g, w) in enumerate(zip(got, want)):
        why = value_differs(g, w)
        if why:
            return f'output {o}: {why}'
    return None


def form_differs(got, said):
    """None, or how outputs are not what onnx infers of them, as far as it says anything of tensors."""
    for o, (g, s) in enumerate(zip(got, said)):
        t = s.type.tensor_type
        if not isinstance(g, np.ndarray) or not t.elem_type:
            continue
        if g.dtype.kind not in 'OUST' and g.dtype != onnx.helper.tensor_dtype_to_np_dtype(t.elem_type):
            return f'output {o}: {brief(g)}, inferred type {onnx.TensorProto.DataType.Name(t.elem_type)}'
        dims = [d.dim_value if d.HasField('dim_value') else None for d in t.shape.dim]
        if t.HasField('shape') and (len(dims) != g.ndim or any(d not in (None, n) for d, n in zip(dims, g.shape))):
            return f'output {o}: {brief(g)}, inferred shape {dims}'
    return None


def value_differs(g, w):
    if g is None or w is None:
        return None if g is None and w is None else f'{brief(g)}, wanted {brief(w)}'
    if isinstance(g, (list, tuple)) or isinstance(w, (list, tuple)):
        if not isinstance(w, (list, tuple)) or not isinstance(g, (list, tuple)) or len(g) != len(w):
            return f'a sequence and what is none, or of another length: {brief(g)}, wanted {brief(w)}'
        return next((f'[{i}] {why}' for i, pair in enumerate(zip(g, w)) if (why := value_differs(*pair))), None)
    g, w = np.asarray(g), np.asarray(w)
    if g.shape != w.shape:
        return f'shape {list(g.shape)}, wanted {list(w.shape)}'
    strings = g.dtype.kind in 'OUST', w.dtype.kind in 'OUST'
    if any(strings):
        same = all(strings) and [str(x) for x in g.reshape(-1)] == [str(x) for x in w.reshape(-1)]
        return None if same else f'{brief(g)}, wanted {brief(w)}'
    if g.dtype != w.dtype:
        return f'type {g.dtype}, wanted {w.dtype}'
    if g.dtype.kind in 'iub':
        return None if np.array_equal(g, w) else f'{brief(g)}, wanted {brief(w)}'
    rtol = max(RTOL, 2**-6) if g.dtype.name == 'bfloat16' else RTOL
    wide = np.complex128 if g.dtype.kind == 'c' else np.float64
    same = np.allclose(g.astype(wide), w.astype(wide), rtol, ATOL, equal_nan=True)
    return None if same else f'{brief(g)}, wanted {brief(w)}'


def epsilon(dtype):
    return ml_dtypes.finfo(dtype).eps


def brief(x):
    if isinstance(x, (list, tuple)):
        return f'{len(x)} values'
    if x is None:
        return 'nothing'
    x = np.asarray(x)
    return f'{x.dtype}{list(x.shape)} ' + ' '.join(str(v) for v in x.reshape(-1)[:6])


# ---- differences that the specification's text decides


class Decisions:
    """The rows of a table of decided differences: `operators`, `versions` (all, without), `what` (how ReferenceEvaluator or
    minirt behaves, see Verdict), `when` (Python, over attrs, types, shapes, values, text, n_outputs), `text` (the sentence),
    and perhaps `judge`, a function of judges.py that gives the right outputs, or a function that says how others differ."""

    def __init__(self, path, judges):
        with open(path, 'rb') as f:
            self.rows = tomllib.load(f)['decided']
        for row in self.rows:
            row['used'] = 0
            row['code'] = compile(row.get('when', 'True'), row['operators'][0], 'eval')
            row['function'] = getattr(judges, row['judge']) if 'judge' in row else None

    def find(self, what, model, inputs, text):
        """The row that decides, or None."""
        node, version = model.graph.node[0], version_of(model)
        scope = None
        for row in self.rows:
            if what not in row['what'] or not {node.op_type, '*'} & set(row['operators']) or version not in row.get('versions', [version]):
                continue
            scope = scope or scope_of(model, inputs, text)
            try:
                holds = eval(row['code'], scope)
            except (AttributeError, IndexError, KeyError, TypeError, ValueError):
                holds = False  # it speaks of inputs that this node does not have
            if holds:
                return row
        return None


def version_of(model):
    node = model.graph.node[0]
    opset = next(o.version for o in model.opset_import if o.domain == node.domain)
    return onnx.defs.get_schema(node.op_type, opset, node.domain).since_version


def scope_of(model, inputs, text):
    node = model.graph.node[0]
    values = [inputs.get(n) if n else None for n in node.input]
    return {'np': np, 're': re, 'attrs': {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}, 'values': values,
            'types': [getattr(v, 'dtype', None) and v.dtype.name for v in values],
            'shapes': [list(np.shape(v)) if not isinstance(v, list) else None for v in values], 'text': text,
            'n_inputs': len([n for n in node.input if n]), 'n_outputs': len(node.output)}


# ---- verdicts

AGREES, DIFFERS, FAILS, REFUSED, INVALID = 'agrees', 'differs', 'fails', 'refused', 'invalid'


def verdict(model, values, answers, decisions):
    """(what, how, row): row is what decides a difference or a refusal, None where nothing does.
    agrees: both modes; differs: from ReferenceEvaluator, or one mode from the other; fails: minirt runs it,
    ReferenceEvaluator raises; refused: the reverse; invalid: onnx's checker rejects it, or neither runs it."""
    proto = onnx.ModelProto.FromString(model)
    inputs = inputs_of(proto, values)
    said = inferred(proto)
    want = reference(proto, inputs)
    fails = isinstance(want, Exception)
    ran = [m for m in MODES if answers[m].ran]
    if not ran:
        if fails or said is None:
            return INVALID, '', None
        text = f'{answers["reference"].outcome}: {answers["reference"].text}'
        return REFUSED, text, decisions.find(REFUSED, proto, inputs, text)
    if len(ran) < len(MODES):
        return DIFFERS, f'runs in {ran[0]} mode alone', None
    if said is None:
        return INVALID, '', None
    if fails:
        what, how = FAILS, f'{type(want).__name__}: {want}'.replace('\n', ' ')[:200]
        wrong = unjudged(proto, answers, said)
        return (DIFFERS, wrong, decisions.find(DIFFERS, proto, inputs, wrong)) if wrong else (what, how, None)
    how = first_difference(answers, lambda got: differs(got, want))
    if not how:
        return AGREES, '', None
    row = decisions.find(DIFFERS, proto, inputs, how)
    if not row:
        return DIFFERS, how, None
    wrong = judged(row, proto, inputs, want, answers) if row['function'] else unjudged(proto, answers, said)
    return (DIFFERS, f'{row.get("judge", "of itself")}: {wrong}', None) if wrong else (DIFFERS, how, row)


def unjudged(proto, answers, said):
    """How values that nobody judges are wrong all the same: of another form than onnx infers, or of one mode alone."""
    wrong = first_difference(answers, lambda got: form_differs(got, said))
    if wrong or proto.graph.node[0].op_type in RANDOM:
        return wrong
    apart = differs(answers['fast'].outputs, answers['reference'].outputs)
    return f'fast and reference mode differ: {apart}' if apart else ''


def judged(row, proto, inputs, want, answers):
    """How minirt differs from what the row's judge gives; '': not at all."""
    try:
        judge = row['function'](proto, inputs, want)
        if isinstance(judge, Exception):
            raise judge
        return first_difference(answers, judge if callable(judge) else lambda got: differs(got, judge))
    except Exception as e:  # of the judge, or of ReferenceEvaluator, which some ask
        return f'no judgement: {type(e).__name__}: {e}'


def first_difference(answers, of):
    return next((f'{m}: {d}' for m in MODES if (d := of(answers[m].outputs))), '')


class Workers:
    """Processes that call a function for each of some things. One that takes too long is ended: attributes at their corners
    make ReferenceEvaluator ask for any amount of time and memory, where no exception gets through."""

    def __init__(self, n, function, things):
        self.n, self.function, self.things = n, function, things

    def _work(self, pipe):
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        while True:
            pipe.send(self.function(*self.things[pipe.recv()]))

    def _start(self):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.get_context('fork').Process(target=self._work, args=(there,), daemon=True)
        process.start()
        there.close()
        return process, here

    def run(self):
        results, todo, busy = [None] * len(self.things), list(range(len(self.things)))[::-1], {}
        idle = [self._start() for _ in range(self.n)]
        while todo or busy:
            while idle and todo:
                worker, i = idle.pop(), todo.pop()
                worker[1].send(i)
                busy[worker[1]] = (worker, i, time.monotonic() + SECONDS)
            for pipe in multiprocessing.connection.wait(list(busy), 0.5):
                worker, i, _ = busy.pop(pipe)
                try:
                    results[i] = pipe.recv()
                    idle.append(worker)
                except EOFError:
                    results[i] = (FAILS, 'it ends the process', None)
                    idle.append(self._start())
            for pipe, (worker, i, end) in list(busy.items()):
                if time.monotonic() > end:
                    del busy[pipe]
                    worker[0].kill()
                    results[i] = (FAILS, f'it takes over {SECONDS} s', None)
                    idle.append(self._start())
        for process, _ in idle:
            process.kill()
        return results


class Suite:
    """Judges models in batches and counts."""

    def __init__(self, build, decisions, jobs):
        self.build, self.decisions, self.jobs = build, decisions, jobs
        self.counts = {what: 0 for what in (AGREES, DIFFERS, FAILS, REFUSED, INVALID)}
        self.by_row, self.failing, self.open, self.broken = {}, {}, [], []

    def judge(self, models):
        batch = []
        for m in models:
            batch.append(m)
            if len(batch) == BATCH:
                self._batch(batch)
                batch = []
        self._batch(batch)

    def _batch(self, batch):
        answers, broken = ask(self.build, batch)
        self.broken += broken
        todo = [(m, answers[m[0]]) for m in batch if len(answers.get(m[0], {})) == len(MODES)]
        for ((name, _, _), _), found in zip(todo, Workers(self.jobs, self._one, todo).run()):
            self._note(name, *found)

    def _one(self, m, answers):
        what, how, row = verdict(m[1], m[2], answers, self.decisions)
        return what, how, row and self.decisions.rows.index(row)

    def _note(self, name, what, how, row):
        self.counts[what] += 1
        if row is not None:
            self.decisions.rows[row]['used'] += 1
        elif what in (DIFFERS, REFUSED):
            self.open.append((what, name, how))
        elif what == FAILS:
            op = name.split(' ')[0]
            self.failing.setdefault(op, [0, how])[0] += 1

    def report(self, verbose):
        """Prints what was found; the exit status."""
        judged, told, refused = (sum(row['used'] for row in self.decisions.rows if kind(row)) for kind in (
            lambda r: r['function'], lambda r: not r['function'] and DIFFERS in r['what'], lambda r: REFUSED in r['what']))
        for op, (n, how) in sorted(self.failing.items()) if verbose else []:
            print(f'ReferenceEvaluator fails {op}: {n} models, as in {how}')
        for row in self.decisions.rows if verbose else []:
            print(f'decided {row["used"]:6} {", ".join(row["operators"])}: {row.get("when", "")}: {row["text"]}')
        for line in self.broken[:60]:
            print(line)
        for what, name, how in self.open if verbose else self.open[:60]:
            print(f'{what} {name}: {how}')
        c = self.counts
        print(f'{sum(c.values())} models: {c[INVALID]} are not valid, {c[FAILS]} ReferenceEvaluator fails on, {refused} are refused and '
              f'{told} left open by the text of the specification')
        print(f'valid and judged: {c[AGREES] + judged}; {c[AGREES]} agree with ReferenceEvaluator, {judged} with a judge where it is wrong')
        failed = len(self.open) + len(self.broken)
        print(f'{c[AGREES] + judged} passed, {failed} failed')
        return 1 if failed else 0
