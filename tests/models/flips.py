#!/usr/bin/env python3
"""List where an integer model's outputs are one quantum from what another runtime gave.

usage: flips.py [--build BUILD] DIR...          DIR/{model.onnx, test_data_set_N}

For a model whose integer nodes are all bit-equal to exact arithmetic (integers.py), and whose outputs come out of
DequantizeLinear. Writes `flips` into its data sets, which minirt-conformance reads: lines "OUTPUT QUANTUM INDEX...",
one an output. Refuses, and writes nothing, where a node is not exact or an element is off by anything else than one
quantum.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

import integers


def quantum_of(model, name):
    """The scale of the DequantizeLinear that makes the output, one for all."""
    node = next(n for n in model.graph.node if name in n.output)
    if node.op_type != 'DequantizeLinear':
        raise SystemExit(f'output {name} comes from {node.op_type}, not from DequantizeLinear')
    scale = next(numpy_helper.to_array(i) for i in model.graph.initializer if i.name == node.input[1])
    return float(scale.reshape(-1)[0])


def outputs_of(build, folder, data):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([f'{build}/minirt', 'run', f'{folder}/model.onnx', data, '--mode', 'reference', '-o', place + '/',
                        '-q'], stdout=subprocess.DEVNULL)
        return [tensor(f'{place}/output_{i}.pb') for i in range(len(os.listdir(place)))]


def tensor(path):
    t = onnx.TensorProto()
    with open(path, 'rb') as f:
        t.ParseFromString(f.read())
    return numpy_helper.to_array(t)


def flips_of(model, i, got, want):
    """Where output i is one quantum off, and the quantum."""
    name = model.graph.output[i].name
    quantum = quantum_of(model, name)
    off = np.abs(got.astype(np.float64) - want).reshape(-1) / quantum
    at = np.flatnonzero(off > 1e-3)
    if (np.abs(off[at] - 1) > 1e-3).any():
        raise SystemExit(f'output {name} differs by {off.max():.3f} quanta: nothing is written')
    return at, quantum


def list_flips(build, folder):
    equal, wrong = integers.check(build, 'reference', folder)
    if wrong or not equal:
        raise SystemExit(f'{folder}: {wrong} of {equal + wrong} integer results are not exact: nothing is written')
    model = onnx.load(f'{folder}/model.onnx')
    for data in sorted(glob.glob(f'{folder}/test_data_set_*')):
        lines = [f'# All {equal} integer results are exact; the expected outputs are those of a runtime that rounds products '
                 'of scales in float.']
        for i, got in enumerate(outputs_of(build, folder, data)):
            at, quantum = flips_of(model, i, got, tensor(f'{data}/output_{i}.pb'))
            lines += [f'# {len(at)} of {got.size} elements are one quantum off:', ' '.join(map(str, [i, quantum, *at]))]
            print(f'{data}: output {i}: {len(at)} of {got.size} elements are one quantum ({quantum:g}) off')
        with open(f'{data}/flips', 'w') as f:
            f.write('\n'.join(lines) + '\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('folders', nargs='+')
    a = parser.parse_args()
    for folder in a.folders:
        list_flips(a.build, folder.rstrip('/'))


if __name__ == '__main__':
    main()
