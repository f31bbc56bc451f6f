#!/usr/bin/env python3
"""`check` against onnx.checker: what check_model(full_check=True) rejects is refused, with status 3 or 4, naming rule and node;
what is valid is not. Models written here, each broken in one place, and one-node models of the official data, mutated.

    tests/unit/test_invalid.py [--build build] [--full]
"""
import argparse
import copy
import glob
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

warnings.filterwarnings('ignore')
PARSER = argparse.ArgumentParser()
PARSER.add_argument('--build', default='build', type=pathlib.Path)
PARSER.add_argument('--full', action='store_true')
ARGS = PARSER.parse_args()
BUILD = ARGS.build.resolve()
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
PASSED, FAILED = [], []
node, info = helper.make_node, helper.make_tensor_value_info


def expect(what, ok, *details):
    (PASSED if ok else FAILED).append(what)
    if not ok:
        print(f'FAIL {what}', *details, sep='\n  ')


def rejected(model):
    """What onnx.checker says, None when it lets the model pass. In a process of its own: some models crash it."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            onnx.checker.check_model(model, full_check=True)
        except Exception as e:  # every kind of them is a rejection
            os.write(write, str(e).encode()[:4000] or b'?')
        os._exit(0)
    os.close(write)
    with os.fdopen(read, 'rb') as f:
        said = f.read().decode(errors='replace').strip()
    _, status = os.waitpid(child, 0)
    return 'it crashed' if os.WIFSIGNALED(status) else said or None


def check(model):
    pathlib.Path('m.onnx').write_bytes(model.SerializeToString())
    p = subprocess.run([BUILD / 'minirt', 'check', 'm.onnx'], capture_output=True, text=True, errors='replace', check=False)
    return p.returncode, p.stdout + p.stderr


def model_of(nodes, inputs=(('x', FLOAT, [2, 3]),), outputs=(('y', FLOAT, [2, 3]),), opset=17, init=(), imports=(), **more):
    graph = helper.make_graph(nodes, 'g', [info(*i) for i in inputs], [info(*o) for o in outputs], list(init))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset), *imports], ir_version=8, **more)


def tensor(name, values):
    return numpy_helper.from_array(np.asarray(values), name)


def sparse_of(indices):
    return helper.make_sparse_tensor(tensor('sp', np.ones(2, np.float32)), tensor('', np.array(indices)), [2, 3])


# ---- valid models, each with its mutations: (what, how, what the refusal says)


def plain():
    """Two nodes, an initializer."""
    return model_of([node('Add', ['x', 'w'], ['s'], 'add'), node('Softmax', ['s'], ['y'], 'soft', axis=1)],
                    init=[tensor('w', np.ones(3, np.float32))])


def graph_edits():
    def on(change):
        def edit(m):
            change(m.graph)
        return edit

    def put(target, **fields):
        for name, value in fields.items():
            setattr(target, name, value)

    def sparse(g, indices):
        g.sparse_initializer.add().CopyFrom(sparse_of(indices))
    return [
        ('a cycle', on(lambda g: g.node[0].input.__setitem__(1, 'y')), r'E0201.*(cycle|add|soft)'),
        ('out of order and undefined', on(lambda g: g.node[0].input.__setitem__(0, 'z')), "E0201.*add.*'z'"),
        ('an output twice', on(lambda g: g.node[1].output.__setitem__(0, 's')), "E0201.*'s'"),
        ('an output that is an input', on(lambda g: g.node[0].output.__setitem__(0, 'x')), "E0201.*'x'"),
        ('an output that is an initializer', on(lambda g: g.node[0].output.__setitem__(0, 'w')), "E0201.*'w'"),
        ('an input twice', on(lambda g: g.input.append(g.input[0])), "E0201.*'x'"),
        ('an initializer twice', on(lambda g: g.initializer.append(g.initializer[0])), "E0201.*'w'"),
        ('an output that nobody makes', on(lambda g: put(g.output[0], name='z')), "E0201.*'z'"),
        ('a graph without a name', on(lambda g: g.ClearField('name')), 'E0201.*name'),
        ('an input without a name', on(lambda g: put(g.input[0], name='')), 'E0201.*name'),
        ('an input without a type', on(lambda g: g.input[0].ClearField('type')), "E0201.*'x'"),
        ('an input of no element type', on(lambda g: put(g.input[0].type.tensor_type, elem_type=0)), "E0201.*'x'"),
        ('an input of an unknown element type', on(lambda g: put(g.input[0].type.tensor_type, elem_type=99)), "E0201.*'x'.*99"),
        ('a negative extent', on(lambda g: put(g.input[0].type.tensor_type.shape.dim[0], dim_value=-4)), "E0201.*'x'.*-4"),
        ('an output of another type', on(lambda g: put(g.output[0].type.tensor_type, elem_type=INT64)),
         r"E0212.*soft.*declared tensor\(int64\)"),
        ('an output of another rank', on(lambda g: g.output[0].type.tensor_type.shape.dim.add(dim_value=1)),
         r'E0531.*soft.*declared \[2,3,1\]'),
        ('an output of another extent', on(lambda g: put(g.output[0].type.tensor_type.shape.dim[1], dim_value=4)),
         r'E0531.*soft.*declared \[2,4\]'),
        ('a value of another type', on(lambda g: g.value_info.append(info('s', BOOL, [2, 3]))), r'E0212.*add.*declared tensor\(bool\)'),
        ('a value of another shape', on(lambda g: g.value_info.append(info('s', FLOAT, [5]))), r'E0531.*add.*declared \[5\]'),
        ('shapes that do not broadcast', on(lambda g: put(g.input[0].type.tensor_type.shape.dim[1], dim_value=4)), 'E0531.*add'),
        ('an initializer of too few bytes', on(lambda g: put(g.initializer[0], raw_data=b'1234')), "E0111.*'w'"),
        ('an initializer of two fields', on(lambda g: g.initializer[0].float_data.extend([1, 2, 3])), "E0111.*'w'"),
        ('an initializer of a negative extent', on(lambda g: g.initializer[0].dims.__setitem__(0, -3)), "E0111.*'w'"),
        ('an initializer of no type', on(lambda g: put(g.initializer[0], data_type=0)), "E0111.*'w'"),
        ('an initializer of an unknown type', on(lambda g: put(g.initializer[0], data_type=77)), "E0111.*'w'.*77"),
        ('an initializer without a name', on(lambda g: put(g.initializer[0], name='')), 'E0201.*name'),
        ('external data without a location', on(lambda g: put(g.initializer[0], data_location=1, raw_data=b'')), "E0110.*'w'"),
        ('a sparse index beyond the end', on(lambda g: sparse(g, [0, 6])), "E0111.*'sp'"),
        ('a sparse index below 0', on(lambda g: sparse(g, [-1, 2])), "E0111.*'sp'"),
        ('sparse indices out of order', on(lambda g: sparse(g, [2, 0])), "E0111.*'sp'"),
        ('a sparse index twice', on(lambda g: sparse(g, [1, 1])), "E0111.*'sp'"),
        ('sparse indices of another count', on(lambda g: sparse(g, [0, 1, 2])), "E0111.*'sp'"),
    ]


def node_edits():
    def on(change):
        def edit(m):
            change(m.graph.node[1])
        return edit
    text = {'f': helper.make_attribute('axis', 1.0), 's': helper.make_attribute('axis', 'one'), 'l': helper.make_attribute('axis', [1])}

    def replace(n, a):
        n.attribute[0].CopyFrom(a)
    return [
        ('an unknown operator', on(lambda n: setattr(n, 'op_type', 'Sofmax')), "E0301.*soft.*'Softmax'"),
        ('no operator', on(lambda n: setattr(n, 'op_type', '')), 'E0[23]0'),
        ('an unknown domain', on(lambda n: setattr(n, 'domain', 'nowhere')), 'E0202.*soft.*nowhere'),
        ('too many inputs', on(lambda n: n.input.append('w')), 'E0210.*soft'),
        ('no inputs', on(lambda n: n.ClearField('input')), 'E0210.*soft'),
        ('an absent input', on(lambda n: n.input.__setitem__(0, '')), "E0210.*soft.*'input'"),
        ('too many outputs', on(lambda n: n.output.append('more')), 'E0210.*soft'),
        ('an unknown attribute', on(lambda n: n.attribute.append(helper.make_attribute('axes', 1))), "E0211.*soft.*'axes'"),
        ('an attribute twice', on(lambda n: n.attribute.append(n.attribute[0])), "E0211.*soft.*'axis'"),
        ('a float for an int', on(lambda n: replace(n, text['f'])), "E0211.*soft.*'axis'.*FLOAT"),
        ('a string for an int', on(lambda n: replace(n, text['s'])), "E0211.*soft.*'axis'.*STRING"),
        ('a list for an int', on(lambda n: replace(n, text['l'])), "E0211.*soft.*'axis'.*INTS"),
        ('an attribute without a type', on(lambda n: n.attribute[0].ClearField('type')), "E0211.*soft.*'axis'"),
        ('an attribute of two values', on(lambda n: setattr(n.attribute[0], 'f', 1.5)), "E0211.*soft.*'axis'"),
        ('an attribute without a name', on(lambda n: setattr(n.attribute[0], 'name', '')), 'E0211.*soft'),
        ('a reference outside of functions', on(lambda n: setattr(n.attribute[0], 'ref_attr_name', 'a')), "E0211.*soft.*'axis'"),
        ('an axis beyond the rank', on(lambda n: setattr(n.attribute[0], 'i', 5)), 'E0531.*soft.*axis'),
    ]


def model_edits():
    def set_(**fields):
        def edit(m):
            for name, value in fields.items():
                setattr(m, name, value)
        return edit

    def opset(version):
        def edit(m):
            m.opset_import[0].version = version
        return edit
    return [
        ('no opset_import', lambda m: m.ClearField('opset_import'), 'E0202'),
        ('an opset that is not there yet', opset(9999), 'E0202.*9999'), ('opset 0', opset(0), 'E0202'), ('opset -3', opset(-3), 'E0202'),
        ('the domain twice', lambda m: m.opset_import.add(version=16), 'E0202'),
        ('no IR version', lambda m: m.ClearField('ir_version'), 'E0105|E0101'), ('an IR version to come', set_(ir_version=99), 'E0105.*99'),
        ('no graph', lambda m: m.ClearField('graph'), 'E0101|E0201'),
        ('a metadata key twice', lambda m: [m.metadata_props.add(key='k', value=v) for v in 'ab'], "E0201.*'k'"),
    ]


# ---- models that are wrong as a whole


def branch(name, nodes, outputs=('r',), inputs=()):
    return helper.make_graph(nodes, name, [info(*i) for i in inputs], [info(o, FLOAT, None) for o in outputs])


def choice(then, other, outputs=(('y', FLOAT, [2, 3]),)):
    return model_of([node('If', ['c'], [o[0] for o in outputs], 'choose', then_branch=then, else_branch=other)],
                    [('c', BOOL, []), ('x', FLOAT, [2, 3])], outputs)


def function(name, nodes, inputs=('a',), outputs=('b',), imports=(('', 17), ('own', 1))):
    return helper.make_function('own', name, list(inputs), list(outputs), nodes, [helper.make_opsetid(*i) for i in imports])


def call(functions, name='F', imports=(('own', 1),), **attributes):
    return model_of([node(name, ['x'], ['y'], 'call', domain='own', **attributes)], functions=functions,
                    imports=[helper.make_opsetid(*i) for i in imports])


def wholes():
    neg, abs_ = [node('Neg', ['x'], ['r'], 'neg')], [node('Abs', ['x'], ['r'], 'abs')]
    loop_in = [('i', INT64, []), ('c', BOOL, []), ('v', FLOAT, [2, 3])]
    relu = node('Relu', ['a'], ['b'], 'inner')

    def loop(outputs, nodes, inputs=tuple(loop_in)):
        body = helper.make_graph(nodes, 'body', [info(*i) for i in inputs], [info(n, t, None) for n, t in outputs])
        return model_of([node('Loop', ['m', '', 'x'], ['y'], 'rounds', body=body)], [('m', INT64, []), ('x', FLOAT, [2, 3])])

    def reduction(op, value, version):
        index = tensor('i', np.array([[0, 1, 0]]))
        return model_of([node(op, ['x', 'i', 'u'], ['y'], 'put', reduction=value)], opset=version,
                        init=[index, tensor('u', np.ones((1, 3), np.float32))])
    return [
        ('branches of different counts', choice(branch('t', neg), branch('e', abs_, ['r', 'r2'])), 'E02.*choose'),
        ('branches of fewer results', choice(branch('t', neg, []), branch('e', abs_, [])), 'E02.*choose'),
        ('branches of different types', choice(branch('t', neg), branch('e', [node('Not', ['c'], ['r'], 'not')])), 'E02.*choose'),
        ('an undefined name in a branch', choice(branch('t', [node('Neg', ['q'], ['r'], 'neg')]), branch('e', abs_)), "E0201.*neg.*'q'"),
        ('a branch that makes an outer name', choice(branch('t', [node('Neg', ['x'], ['c'], 'neg'), node('Neg', ['x'], ['r'])]),
                                                     branch('e', abs_)), "E0201.*'c'"),
        ('a branch that makes a name twice', choice(branch('t', neg * 2), branch('e', abs_)), "E0201.*'r'"),
        ('a branch with inputs', choice(branch('t', neg, inputs=[('q', FLOAT, [1])]), branch('e', abs_)), 'E02.*choose'),
        ('a missing branch', model_of([node('If', ['c'], ['y'], 'choose', then_branch=branch('t', neg))],
                                      [('c', BOOL, []), ('x', FLOAT, [2, 3])]), "E0211.*choose.*else_branch"),
        ('a body of too few results', loop([('go', BOOL)], [node('Identity', ['c'], ['go'])]), 'E02.*rounds'),
        ('a body of too few inputs', loop([('go', BOOL), ('n', FLOAT)], [node('Identity', ['c'], ['go']), node('Neg', ['x'], ['n'])],
                                          loop_in[:2]), 'E02.*rounds'),
        ('a function of itself', call([function('F', [node('F', ['a'], ['b'], domain='own')])]), 'E0203.*own:F'),
        ('functions of each other', call([function('F', [node('G', ['a'], ['b'], domain='own')]),
                                          function('G', [node('F', ['a'], ['b'], domain='own')])]), 'E0203.*own:[FG]'),
        ('a function twice', call([function('F', [relu]), function('F', [relu])]), 'E0203.*F'),
        ('a function without its opset', call([function('F', [relu], imports=[('own', 1)])]), 'E02'),
        ('a function whose domain is not imported', call([function('F', [relu])], imports=[]), 'E0202.*call.*own'),
        ('a function that does not make its output', call([function('F', [node('Relu', ['a'], ['q'])])]), "E02.*'b'"),
        ('a function of an undefined name', call([function('F', [node('Relu', ['q'], ['b'], 'inner')])]), "E0201.*'q'"),
        ('a function that makes a name twice', call([function('F', [relu, relu])]), "E0201.*'b'"),
        ('a function of an unknown operator', call([function('F', [node('Rleu', ['a'], ['b'], 'inner')])]), 'E0301.*inner'),
        ('a function with the same input twice', call([function('F', [relu], inputs=['a', 'a'])]), 'E0203|E0201'),
        ('a required attribute missing', model_of([node('Cast', ['x'], ['y'], 'cast')]), "E0211.*cast.*'to'"),
        ('an operator of a later opset', model_of([node('Mish', ['x'], ['y'], 'later')]), 'E0302.*later.*opset 18'),
        ('a deprecated operator', model_of([node('Scatter', ['x', 'i', 'x'], ['y'], 'old')], init=[tensor('i', np.zeros((2, 3), int))]),
         'E0302.*old.*deprecated'),
        ('a type that is not allowed', model_of([node('Det', ['x'], ['y'], 'det')], [('x', INT64, [2, 2])], [('y', INT64, [])]),
         'E0212.*det'),
        ('types that should be one', model_of([node('Add', ['x', 'z'], ['y'], 'add')], [('x', FLOAT, [2, 3]), ('z', INT64, [3])]),
         'E0212.*add'),
        ('a product that does not fit', model_of([node('MatMul', ['x', 'x'], ['y'], 'product')]), 'E0531.*product'),
        ('a reshape that does not fit', model_of([node('Reshape', ['x', 's'], ['y'], 'shape')], init=[tensor('s', np.array([4, 4]))],
                                                 outputs=[('y', FLOAT, [4, 4])]), 'E0532.*shape'),
        ('parts that do not add up', model_of([node('Split', ['x', 's'], ['y', 'z'], 'parts', axis=1)],
                                              init=[tensor('s', np.array([1, 3]))],
                                              outputs=[('y', FLOAT, [2, 1]), ('z', FLOAT, [2, 3])]), 'E0531.*parts'),
        ('a reduction of a later opset', reduction('ScatterElements', 'max', 16), 'E0211.*put.*"max".*opset 18'),
        ('a reduction before there were any', reduction('ScatterElements', 'add', 13), "E0211.*put.*'reduction'"),
        ('a reduction that is none', reduction('ScatterElements', 'sum', 18), 'E0211.*put.*"sum"'),
        ('a mode of a later opset', model_of([node('Pad', ['x', 'p'], ['y'], 'pad', mode='wrap')], opset=18,
                                             init=[tensor('p', np.array([0, 0, 0, 0]))]), 'E0211.*pad.*"wrap".*opset 19'),
        ('external data that is not there', external('missing.bin'), "E0110.*'w'.*missing.bin"),
        ('external data outside', external('../weights.bin'), "E0110.*'w'"),
    ]


def external(location):
    m = plain()
    w = m.graph.initializer[0]
    w.ClearField('raw_data')
    w.data_location = TensorProto.EXTERNAL
    w.external_data.add(key='location', value=location)
    return m


# What onnx.checker lets pass, and a rule of ONNX forbids.
BEYOND = {'a function of itself', 'a function that does not make its output', 'a function that makes a name twice',
          'a function whose domain is not imported', 'a function with the same input twice', 'a metadata key twice',
          'a mode of a later opset', 'a negative extent', 'a reduction of a later opset', 'a reduction that is none',
          'a reference outside of functions', 'a required attribute missing', 'a reshape that does not fit', 'an IR version to come',
          'an input without a name', 'an opset that is not there yet', 'functions of each other', 'opset -3', 'opset 0',
          'sparse indices of another count', 'the domain twice'}


def look(what, model, says):
    """says: what is in the refusal, lines joined; the first line counts the nodes."""
    verdict = rejected(model)
    status, out = check(model)
    expect(f'{what}: status', status in (3, 4), f'status {status}', out, f'onnx.checker: {verdict}')
    expect(f'{what}: text', re.search(says, out.replace('\n', ' ')) is not None, f'wanted {says}', out)
    expect(f'{what}: onnx.checker', verdict is not None or what in BEYOND, 'onnx.checker lets it pass')


def test_edits():
    expect('plain', check(plain())[0] == 0 and rejected(plain()) is None, check(plain())[1], rejected(plain()))
    for what, edit, says in graph_edits() + node_edits() + model_edits():
        m = copy.deepcopy(plain())
        edit(m)
        look(what, m, says)


def test_wholes():
    for what, m, says in wholes():
        look(what, m, says)


def test_valid():
    """Neighbours of what is refused."""
    neg, abs_ = [node('Neg', ['x'], ['r'], 'neg')], [node('Abs', ['x'], ['r'], 'abs')]
    relu = node('Relu', ['a'], ['b'], 'inner')
    pathlib.Path('weights.bin').write_bytes(np.ones(3, np.float32).tobytes())
    sparse = plain()
    sparse.graph.sparse_initializer.add().CopyFrom(sparse_of([0, 5]))
    symbolic = plain()
    symbolic.graph.output[0].type.tensor_type.shape.dim[0].dim_param = 'N'
    declared = plain()
    declared.graph.value_info.append(info('s', FLOAT, ['N', 3]))
    nested = [function('F', [node('G', ['a'], ['b'], domain='own')]), function('G', [relu])]
    for what, m in {
            'both branches': choice(branch('t', neg), branch('e', abs_)), 'a function': call([function('F', [relu])]),
            'a function in a function': call(nested), 'a sparse initializer': sparse, 'symbols for extents': symbolic,
            'a value that is declared': declared, 'external data': external('weights.bin'),
            'one name in both branches': choice(branch('t', neg), branch('e', [node('Abs', ['x'], ['q']), node('Neg', ['q'], ['r'])])),
            'a mode of this opset': model_of([node('Pad', ['x', 'p'], ['y'], 'pad', mode='wrap')], opset=19,
                                             init=[tensor('p', np.array([0, 0, 0, 0]))]),
            'an optional input left out': model_of([node('Clip', ['x', '', 'm'], ['y'])], init=[tensor('m', np.float32(3))])}.items():
        status, out = check(m)
        expect(f'{what}: runs', status == 0, out)
        pathlib.Path('m.onnx').write_bytes(m.SerializeToString())
        verdict = rejected('m.onnx' if what == 'external data' else m)
        expect(f'{what}: onnx.checker', verdict is None, verdict)


# ---- the official data


def mutations(m):
    """(what, model): one-node models of which one thing is another."""
    def changed(edit):
        made = copy.deepcopy(m)
        edit(made, made.graph.node[0])
        return made
    n = m.graph.node[0]
    for k in range(len(n.input)):
        yield f'input {k} undefined', changed(lambda _, n, k=k: n.input.__setitem__(k, 'nowhere'))
        yield f'input {k} absent', changed(lambda _, n, k=k: n.input.__setitem__(k, ''))
    yield 'one input more', changed(lambda _, n: n.input.append(n.input[0] if n.input else ''))
    yield 'one output more', changed(lambda _, n: n.output.append('more'))
    yield 'no inputs', changed(lambda _, n: n.ClearField('input'))
    yield 'no outputs', changed(lambda _, n: n.ClearField('output'))
    yield 'the node twice', changed(lambda m, n: m.graph.node.append(n))
    yield 'opset 1', changed(lambda m, _: setattr(m.opset_import[0], 'version', 1))
    for k, a in enumerate(n.attribute):
        yield f'{a.name} removed', changed(lambda _, n, k=k: n.attribute.pop(k))
        yield f'{a.name} twice', changed(lambda _, n, k=k: n.attribute.append(n.attribute[k]))
        for value in (1, 1.5, 'text', [1, 2], [1.5]):
            other = helper.make_attribute(a.name, value)
            if other.type != a.type:
                yield f'{a.name} = {value!r}', changed(lambda _, n, k=k, other=other: n.attribute[k].CopyFrom(other))
    for side in ('input', 'output'):
        for k, v in enumerate(getattr(m.graph, side)):
            if not v.type.HasField('tensor_type'):
                continue
            for elem in (FLOAT, INT64, TensorProto.STRING, BOOL, TensorProto.BFLOAT16, 0, 99):
                yield f'{side} {k} of type {elem}', changed(
                    lambda m, _, side=side, k=k, elem=elem: setattr(getattr(m.graph, side)[k].type.tensor_type, 'elem_type', elem))
            yield f'{side} {k} deeper', changed(
                lambda m, _, side=side, k=k: getattr(m.graph, side)[k].type.tensor_type.shape.dim.add(dim_value=3))
            if v.type.tensor_type.shape.dim:
                yield f'{side} {k} longer', changed(
                    lambda m, _, side=side, k=k: setattr(getattr(m.graph, side)[k].type.tensor_type.shape.dim[0], 'dim_value', 977))


def test_official():
    rng = random.Random(20261201)
    paths = [p for p in sorted(glob.glob(f'{BUILD}/onnx-test-data/node/*/model.onnx')) if os.path.getsize(p) < 5000]
    refused = 0
    for path in rng.sample(paths, 400 if ARGS.full else 6):
        m = onnx.load(path)
        if len(m.graph.node) != 1 or any(a.type == AttributeProto.GRAPH for a in m.graph.node[0].attribute):
            continue
        name = pathlib.Path(path).parent.name
        for what, made in mutations(m):
            verdict = rejected(made)
            if verdict is None:
                continue
            status, out = check(made)
            refused += 1
            expect(f'{name}, {what}', status in (3, 4) and re.search(r'E0\d\d\d', out), f'status {status}', out, f'onnx.checker: {verdict}')
    print(f'{refused} mutations that onnx.checker rejects')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, test in sorted(globals().items()):
            if name.startswith('test_'):
                test()
        os.chdir('/')
    print(f'{len(PASSED)} passed, {len(FAILED)} failed')
    return bool(FAILED)


if __name__ == '__main__':
    sys.exit(main())
