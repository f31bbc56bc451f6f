#!/usr/bin/env python3
"""Do two ways of running give the same bits? Compares the digests of every output over the official data.

usage: digests.py DATA EVERY 'COMMAND A' 'COMMAND B'

COMMAND is what runs minirt, such as 'build/minirt' or 'qemu-aarch64 -L /usr/aarch64-linux-gnu build/arm/minirt -t 1'; the
arguments `run MODEL SET --mode reference --digest` follow (a word of the command that begins with @ goes behind them:
'build/minirt @-t @2'). EVERY: take each EVERY-th case. Cases that cannot run, and operators without a seed, are passed over.
"""
import glob, json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

RANDOM = ('bernoulli', 'training_dropout', 'random')


def digests(command, folder):
    words = command.split()
    front = [w for w in words if not w.startswith('@')]
    back = [w[1:] for w in words if w.startswith('@')]
    p = subprocess.run([*front, 'run', f'{folder}/model.onnx', f'{folder}/test_data_set_0', '--mode', 'reference',
                        '--digest', '--json', *back], capture_output=True, text=True)
    if p.returncode not in (0, 1):
        return None
    return [(o.get('name'), o.get('sha256')) for o in json.loads(p.stdout)['outputs']]


def main():
    data, every, a, b = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    folders = sorted(os.path.dirname(f) for f in glob.glob(f'{data}/*/*/model.onnx'))[::every]
    folders = [f for f in folders if not any(r in f for r in RANDOM)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        pairs = list(pool.map(lambda f: (digests(a, f), digests(b, f)), folders))
    same = [f for f, (x, y) in zip(folders, pairs) if x is not None and x == y]
    differ = [f for f, (x, y) in zip(folders, pairs) if x != y]
    for f in differ:
        print('differs:', f)
    print(f'{len(same)} passed, {len(differ)} failed')
    return bool(differ)


sys.exit(main())
