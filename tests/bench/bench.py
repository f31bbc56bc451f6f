#!/usr/bin/env python3
"""minirt against ONNX Runtime on the same models, in one run. usage: bench.py BUILD MODELS OUT.json [--threads 1,2]
       [--seconds S] [--rounds N] [-k PATTERN]

MODELS is a folder of test folders. For each model and thread count a fresh process of each engine loads the model and runs
it once (load + first result, peak memory); then the two measure in turns, so that what disturbs the machine disturbs both.
The ratio is of the least times; the spread is of the ratios of the rounds. Both engines at their defaults.
"""
import argparse, fnmatch, glob, json, math, os, subprocess, sys, tempfile, time

import numpy as np
import onnx
from onnx import numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))


def feeds_of(path, folder):
    graph = onnx.load(path, load_external_data=False).graph
    given = {i.name for i in graph.initializer}
    names = [i.name for i in graph.input if i.name not in given]
    feeds = {}
    for file in glob.glob(f'{folder}/input_*.pb'):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(open(file, 'rb').read())
        index = int(os.path.basename(file)[6:-3])
        feeds[tensor.name or names[index]] = numpy_helper.to_array(tensor)
    return feeds


class Worker:
    def __init__(self, *args):
        self.p = subprocess.Popen([sys.executable, f'{HERE}/worker.py', *map(str, args)], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.ready = self.answer()

    def answer(self):
        line = self.p.stdout.readline()
        if not line:
            raise RuntimeError(self.p.stderr.read().strip().split('\n')[-1][:200])
        return json.loads(line)

    def times(self, seconds):
        self.p.stdin.write(f'{seconds}\n')
        self.p.stdin.flush()
        return self.answer()

    def close(self):
        self.p.stdin.close()
        self.p.wait()


def measure(a, path, inputs, threads):
    args = (path, inputs, threads, os.path.abspath(f'{a.build}/libminirt.so'))
    ours, theirs = Worker('minirt', *args), Worker('onnxruntime', *args)
    rounds = []
    for _ in range(a.rounds):
        rounds.append((min(ours.times(a.seconds / a.rounds)), min(theirs.times(a.seconds / a.rounds))))
    ours.close(), theirs.close()
    ratios = [x / y for x, y in rounds]
    load = lambda w: w.ready['load_ms'] + w.ready['first_ms']
    return {'threads': threads, 'minirt_ms': min(x for x, _ in rounds), 'onnxruntime_ms': min(y for _, y in rounds),
            'ratio': min(x for x, _ in rounds) / min(y for _, y in rounds), 'ratio_low': min(ratios),
            'ratio_high': max(ratios), 'load_ratio': load(ours) / load(theirs), 'minirt_load_ms': load(ours),
            'onnxruntime_load_ms': load(theirs), 'memory_ratio': ours.ready['rss_bytes'] / theirs.ready['rss_bytes'],
            'minirt_bytes': ours.ready['rss_bytes'], 'onnxruntime_bytes': theirs.ready['rss_bytes']}


def geomean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float('nan')


def show(name, r):
    print(f"{name[:32]:32} {r['threads']:2}  {r['minirt_ms']:9.3f} {r['onnxruntime_ms']:9.3f}  {r['ratio']:5.2f} "
          f"({r['ratio_low']:.2f}-{r['ratio_high']:.2f})  {r['load_ratio']:5.2f}  {r['memory_ratio']:5.2f}", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('build'), p.add_argument('models'), p.add_argument('out')
    p.add_argument('--threads', default='1,2'), p.add_argument('--seconds', type=float, default=2.0)
    p.add_argument('--rounds', type=int, default=4), p.add_argument('-k', default='*')
    a = p.parse_args()
    names = sorted(n for n in os.listdir(a.models) if os.path.exists(f'{a.models}/{n}/model.onnx'))
    results, failed, inputs = [], [], tempfile.NamedTemporaryFile(suffix='.npz').name
    print(f"{'model':32} thr     minirt       ORT  ratio (spread)     load  memory")
    for name in names:
        if not fnmatch.fnmatch(name, a.k):
            continue
        path = f'{a.models}/{name}/model.onnx'
        np.savez(inputs, **feeds_of(path, f'{a.models}/{name}/test_data_set_0'))
        for threads in map(int, a.threads.split(',')):
            try:
                r = measure(a, path, inputs, threads)
            except RuntimeError as e:
                failed.append(f'{name}: {e}')
                break
            results.append({'model': name, **r})
            show(name, r)
    for threads in map(int, a.threads.split(',')):
        mine = [r for r in results if r['threads'] == threads]
        print(f"geometric mean, {threads} thread{'s' * (threads > 1)}: latency {geomean([r['ratio'] for r in mine]):.3f}, "
              f"load {geomean([r['load_ratio'] for r in mine]):.3f}, memory {geomean([r['memory_ratio'] for r in mine]):.3f}, "
              f"worst latency {max([r['ratio'] for r in mine], default=float('nan')):.2f}, of {len(mine)} models")
    for line in failed:
        print('could not be measured:', line)
    with open(a.out, 'w') as f:
        json.dump({'schema': 'minirt.bench-comparison/1', 'time': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()),
                   'results': results, 'failed': failed}, f, indent=1)
    return bool(failed)


sys.exit(main())
