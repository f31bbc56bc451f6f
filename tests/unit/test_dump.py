#!/usr/bin/env python3
"""What --dump and --stats see: each tensor once, under its own name, shape and type. usage: test_dump.py --build BUILD"""
import os, subprocess, sys, tempfile

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


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, 'g', inputs, outputs, list(weights))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), path)


def dump(folder, feeds, *options):
    np.savez(f'{folder}/in.npz', **feeds)
    out = f'{folder}/dump.npz'
    if os.path.exists(out):
        os.remove(out)
    p = subprocess.run([f'{build}/minirt', 'run', f'{folder}/m.onnx', f'{folder}/in.npz', '--dump', out, '-q', *options],
                       capture_output=True, text=True)
    check(f'runs with {options}', p.returncode == 0, p.stderr)
    return dict(np.load(out)) if p.returncode == 0 else {}


with tempfile.TemporaryDirectory() as folder:
    # A view of what only the run knows: its owner has another shape.
    axes = helper.make_tensor('axes', TensorProto.INT64, [1], [0])
    save(f'{folder}/m.onnx',
         [helper.make_node('NonZero', ['x'], ['at']), helper.make_node('Squeeze', ['at', 'axes'], ['flat']),
          helper.make_node('Unsqueeze', ['flat', 'axes'], ['again']), helper.make_node('Neg', ['again'], ['y'])],
         [info('x', TensorProto.FLOAT, [6])], [info('y', TensorProto.INT64, [1, None])], [axes])
    x = np.array([0, 1, 0, 2, 3, 0], np.float32)
    for mode in ('fast', 'reference'):
        got = dump(folder, {'x': x}, '--mode', mode)
        check('every tensor once', sorted(got) == ['again', 'at', 'flat', 'y'], sorted(got))
        check('a view has its own shape', got and got['flat'].shape == (3,) and got['at'].shape == (1, 3) and
              got['again'].shape == (1, 3), {k: v.shape for k, v in got.items()})

    # Narrow floats that are carried in double on the way: what carries them is no tensor of the graph.
    w = helper.make_tensor('w', TensorProto.FLOAT16, [3], np.array([0.1, 0.2, 0.3], np.float16).view(np.uint16).tobytes(), raw=True)
    save(f'{folder}/m.onnx',
         [helper.make_node('NonZero', ['x'], ['at']), helper.make_node('Cast', ['at'], ['h'], to=TensorProto.FLOAT16),
          helper.make_node('Mul', ['h', 'w'], ['p']), helper.make_node('Add', ['p', 'z'], ['y'])],
         [info('x', TensorProto.FLOAT, [6]), info('z', TensorProto.FLOAT16, [3])], [info('y', TensorProto.FLOAT16, [1, 3])], [w])
    got = dump(folder, {'x': x, 'z': np.ones(3, np.float16)}, '--precision', 'f64')
    check('every tensor once, carried', sorted(got) == ['at', 'h', 'p', 'y'], sorted(got))
    check('carried in double', got and got['y'].dtype == np.float64 and got['at'].dtype == np.int64)
    want = np.array([[1, 3, 4]]) * np.array([0.1, 0.2, 0.3], np.float16).astype(np.float64) + 1
    check('and exact', got and np.allclose(got['y'], want, rtol=1e-15), got.get('y'))

    # Copies to a device and back stand between nodes.
    if os.path.exists(f'{build}/libminirt_cuda_host.so'):
        save(f'{folder}/m.onnx', [helper.make_node('Relu', ['x'], ['a']), helper.make_node('Neg', ['a'], ['y'])],
             [info('x', TensorProto.FLOAT, [6])], [info('y', TensorProto.FLOAT, [6])])
        got = dump(folder, {'x': x - 1}, '--device', 'cuda-host')
        check('every tensor once, on a device', sorted(got) == ['a', 'y'], sorted(got))
        check('and right', got and (got['a'] == np.maximum(x - 1, 0)).all() and (got['y'] == -np.maximum(x - 1, 0)).all(), got)

print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
