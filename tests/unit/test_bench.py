#!/usr/bin/env python3
"""`minirt bench`: the sweep, the document, the percentiles, and what it refuses. usage: test_bench.py --build BUILD"""
import json, os, subprocess, sys, tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper

build = sys.argv[sys.argv.index('--build') + 1]
passed = failed = 0


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


def bench(*args):
    p = subprocess.run([f'{build}/minirt', 'bench', *args], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def model(path):
    w = helper.make_tensor('W', TensorProto.FLOAT, [16, 32], np.ones((16, 32), np.float32).tobytes(), raw=True)
    nodes = [helper.make_node('MatMul', ['X', 'W'], ['p'], 'product'), helper.make_node('Relu', ['p'], ['Y'], 'rectified')]
    x = helper.make_tensor_value_info('X', TensorProto.FLOAT, ['batch', 16])
    y = helper.make_tensor_value_info('Y', TensorProto.FLOAT, ['batch', 32])
    onnx.save(helper.make_model(helper.make_graph(nodes, 'g', [x], [y], [w]), opset_imports=[helper.make_opsetid('', 17)],
                                ir_version=8), path)
    return path


with tempfile.TemporaryDirectory() as folder:
    m = model(f'{folder}/m.onnx')
    status, out, err = bench(m, '-s', 'batch=1,4', '-t', '1,2', '--seconds', '0.1', '--json')
    d = json.loads(out)
    check('a sweep', status == 0 and d['schema'] == 'minirt.bench/1', err)
    check('its points', [(r['threads'], r['dims']) for r in d['runs']] ==
          [(1, {'batch': 1}), (2, {'batch': 1}), (1, {'batch': 4}), (2, {'batch': 4})], out)
    for r in d['runs']:
        check('percentiles rise', r['min_ms'] <= r['median_ms'] <= r['p90_ms'] <= r['p99_ms'], r)
        low, high = r['median_interval_ms']
        check('the interval holds the median', low <= r['median_ms'] <= high, r)
        check('items', abs(r['items_per_second'] - r['dims']['batch'] * 1e3 / r['median_ms']) < 1e-3 * r['items_per_second'], r)
        check('a watched run has its nodes', r['profiled_ms'] >= r['nodes_ms'] > 0, r)
        check('load and first run', r['load_ms'] > 0 and r['first_ms'] >= r['min_ms'], r)
    check('the machine was measured', d['machine']['gflops_per_thread'] >= 0 and d['machine']['gbytes_per_second'] > 0)
    check('nodes are there', d['runs'][0]['nodes'] and all(n['ms'] >= 0 and n['op'] for n in d['runs'][0]['nodes']), out)

    status, out, err = bench(m, '--seconds', '0.05')
    check('extents that nobody sets', status == 0 and 'note: X axis 0 (batch) set to 1; -s NAME=N sets an extent' in err, err)
    check('the table', 'GFLOP/s  of peak' in out and 'items/s' in out and 'a run that is watched' in out, out)
    x = f'{folder}/x.npy'
    np.save(x, np.ones((3, 16), np.float32))
    status, out, err = bench(m, x, '--seconds', '0.05', '--json')
    check('a given input', status == 0 and 'set to 1' not in err, err)
    trace = f'{folder}/t.json'
    status, out, err = bench(m, '--seconds', '0.05', '--profile', trace)
    check('a trace of one run', status == 0 and len(json.load(open(trace))['traceEvents']) >= 1, err)

    for args, words in ((['-s', 'bach=2'], "'bach'"), (['-s', 'batch=1,x'], "'x' is not an extent"), (['-s', 'batch'], "'batch' is not NAME=N"),
                        (['-t', '1,zero'], "'zero' is not a whole number"), (['--warmup', '-1'], "'-1' is not a whole number from 0 to"),
                        (['--seconds', 'long'], "'long' is not a number")):
        status, out, err = bench(m, *args)
        check(f'refuses {args} before it measures', status == 2 and words in err and not out, (status, out, err))
    status, out, err = bench(f'{folder}/none.onnx', '--json')
    check('a file that is not there', status == 9 and 'error' in json.loads(out), (status, out, err))
    open(f'{folder}/bad.onnx', 'wb').write(b'no model')
    check('not a model', bench(f'{folder}/bad.onnx')[0] == 3)

print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
