#!/usr/bin/env python3
"""Compare two sets of detections, whatever their order.

usage: detect.py EXPECTED GOT [--rtol 1e-3] [--atol 1e-4]       needs numpy and onnx

Each folder holds output_*.pb of a detector: boxes float[D,4], scores float[D] and labels int[D], in any order of files.
Scores that agree to the last digits but one come out in any order, so detections are paired, one to one, with the
nearest box of the same label.  A pair agrees if box and score are within rtol and atol of their own scale.  Exit status
0: every detection has an agreeing partner; 1: some have not, and are listed; 2: these are not detections.
"""
import argparse
import glob
import os
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def tensors(folder):
    for path in glob.glob(os.path.join(folder, 'output_*.pb')):
        t = onnx.TensorProto()
        with open(path, 'rb') as f:
            t.ParseFromString(f.read())
        yield numpy_helper.to_array(t)


def detections(folder):
    """(boxes, scores, labels) of a folder, found by shape and type."""
    found = {}
    for x in tensors(folder):
        if x.ndim == 2 and x.shape[1] == 4 and x.dtype.kind == 'f':
            found['boxes'] = x.astype(np.float64)
        elif x.ndim == 1:
            found['scores' if x.dtype.kind == 'f' else 'labels'] = x
    if len(found) != 3 or len({len(x) for x in found.values()}) != 1:
        print(f'{folder}: expected boxes float[D,4], scores float[D], labels int[D], found {sorted(found)}',
              file=sys.stderr)
        sys.exit(2)
    return found['boxes'], found['scores'].astype(np.float64), found['labels']


def pairs(expected, got):
    """Pairs of indices, nearest boxes first; each detection is in one pair at most."""
    distance = np.abs(expected[0][:, None] - got[0][None]).max(2)
    distance += np.abs(expected[1][:, None] - got[1][None])
    distance[expected[2][:, None] != got[2][None]] = np.inf
    found = []
    for flat in np.argsort(distance, axis=None, kind='stable'):
        i, j = np.unravel_index(flat, distance.shape)
        if not np.isfinite(distance[i, j]):
            break
        if all(i != a and j != b for a, b in found):
            found.append((int(i), int(j)))
    return found


def agree(a, b, scale, rtol, atol):
    return bool((np.abs(a - b) <= atol * scale + rtol * np.abs(a)).all())


def describe(d, i):
    return f'label {d[2][i]}, score {d[1][i]:.6g}, box {np.array2string(d[0][i], precision=6)}'


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('\n')[2][len('usage: '):])
    parser.add_argument('expected')
    parser.add_argument('got')
    parser.add_argument('--rtol', type=float, default=1e-3)
    parser.add_argument('--atol', type=float, default=1e-4)
    args = parser.parse_args()
    expected, got = detections(args.expected), detections(args.got)
    scales = [np.abs(x).max(initial=0) for x in expected[:2]]
    agreeing, wrong = set(), []
    for i, j in pairs(expected, got):
        if all(agree(expected[k][i], got[k][j], scales[k], args.rtol, args.atol) for k in (0, 1)):
            agreeing.add((i, j))
    for i in set(range(len(expected[2]))) - {i for i, _ in agreeing}:
        wrong.append(f'only expected: {describe(expected, i)}')
    for j in set(range(len(got[2]))) - {j for _, j in agreeing}:
        wrong.append(f'only got:      {describe(got, j)}')
    print(*wrong, f'{len(agreeing)} of {len(expected[2])} detections agree, {len(got[2])} got', sep='\n')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
