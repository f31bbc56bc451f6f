#!/usr/bin/env python3
"""What a run holds: the planned peak is met, --memory-limit is kept, values count for as long as they are there, outputs
reuse buffers. usage: test_memory.py --build BUILD [--full]"""
import ctypes, glob, json, os, random, subprocess, sys, tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

build = os.path.abspath(sys.argv[sys.argv.index('--build') + 1])
digits = os.path.abspath(os.path.join(os.path.dirname(__file__), '../../examples/digits/digits.onnx'))
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node, value = helper.make_node, helper.make_tensor_value_info
passed = failed = 0
KIB = 1024


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


def minirt(*args):
    p = subprocess.run([f'{build}/minirt', *map(str, args)], capture_output=True, text=True)
    return p.returncode, p.stdout, p.stderr


def document(*args):
    status, out, err = minirt(*args, '--json')
    check(f'{args}', status == 0, err)
    return json.loads(out)


def save(path, nodes, inputs, outputs, weights=(), opset=17):
    graph = helper.make_graph(nodes, 'g', inputs, outputs, [numpy_helper.from_array(np.asarray(v), k) for k, v in weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', opset)], ir_version=8), path)
    return path


def tensor(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


# ---- the planned peak ----

def residual():
    """A trunk of convolutions around which values are kept; the weight of two is the same."""
    nodes = [node('Conv', ['x', 'w', 'b'], ['c0'], pads=[1] * 4)]
    for i in range(4):
        nodes += [node('Conv', [f'c{i}', 'w' if i % 2 else 'v', 'b'], [f'd{i}'], pads=[1] * 4), node('Relu', [f'd{i}'], [f'r{i}']),
                  node('Add', [f'r{i}', f'c{i}'], [f'c{i + 1}'])]
    nodes.append(node('GlobalAveragePool', ['c4'], ['y']))
    weights = [('w', tensor(8, 8, 3, 3)), ('v', tensor(8, 8, 3, 3)), ('b', tensor(8))]
    return save('residual.onnx', nodes, [value('x', FLOAT, [2, 8, 20, 20])], [value('y', FLOAT, None)], weights)


def attention():
    nodes = [node('MatMul', ['x', k], [k + 'x']) for k in 'qkv']
    nodes += [node('Transpose', ['kx'], ['kt'], perm=[0, 2, 1]), node('MatMul', ['qx', 'kt'], ['s']),
              node('Softmax', ['s'], ['p']), node('MatMul', ['p', 'vx'], ['a']), node('Add', ['a', 'x'], ['r']),
              node('LayerNormalization', ['r', 'g'], ['y'])]
    weights = [(k, tensor(32, 32)) for k in 'qkv'] + [('g', tensor(32))]
    return save('attention.onnx', nodes, [value('x', FLOAT, [3, 40, 32])],
                [value(n, FLOAT, None) for n in ('y', 'p', 's')], weights)


def handed_through():
    """Outputs that are views, constants, inputs, the same value twice, and part of the way to others."""
    nodes = [node('Reshape', ['x', 'flat'], ['view']), node('Identity', ['x'], ['same']), node('Identity', ['w'], ['weight']),
             node('Exp', ['x'], ['e']), node('Reshape', ['e', 'flat'], ['f']), node('Identity', ['f'], ['g']),
             node('Relu', ['e'], ['h']), node('Add', ['w', 'w'], ['folded'])]
    outputs = ['view', 'same', 'weight', 'e', 'f', 'g', 'h', 'folded']
    return save('through.onnx', nodes, [value('x', FLOAT, [30, 40])], [value(n, FLOAT, None) for n in outputs],
                [('flat', np.array([-1], np.int64)), ('w', tensor(50, 60))])


def test_planned():
    models = [residual(), attention(), handed_through()]
    modes = [(), ('--mode', 'reference'), ('--precision', 'f64'), ('--optimize', '0'), ('--threads', '1')]
    cases = [(m, mode, ()) for m in models for mode in modes]
    cases += [(digits, mode, ('-s', f'N={n}')) for mode in modes for n in (1, 7)]
    for path, mode, dims in cases:
        what = f'{os.path.basename(path)} {" ".join((*mode, *dims))}'
        plan = document('info', path, '--plan', *mode, *dims)['plan']['memory']
        run = document('run', path, '--random', *mode, *dims)['peak_bytes']
        check(f'{what}: all is planned', plan['complete'], plan)
        check(f'{what}: the run meets it', run <= plan['peak_bytes'], (run, plan))
        check(f'{what}: and needs most of it', run >= 0.9 * plan['peak_bytes'] - 1024, (run, plan))
        for limit, want in ((plan['peak_bytes'], [0]), (plan['peak_bytes'] - 1, [0, 8] if plan['packed'] else [8]),
                            (plan['tensors'] + plan['outputs'], [8] if plan['packed'] or plan['scratch'] or plan['weights'] else [0])):
            status, out, err = minirt('run', path, '--random', *mode, *dims, f'--memory-limit={limit}B', '--json')
            check(f'{what}: a limit of {limit}', status in want, err)
            check(f'{what}: it is kept', status or json.loads(out)['peak_bytes'] <= limit, out)


def test_official():
    """The official cases whose sizes are known before the run; some of them, all with --full."""
    paths = sorted(glob.glob(f'{build}/onnx-test-data/*/*/model.onnx'))
    for i, path in enumerate(paths if '--full' in sys.argv else random.Random(0).sample(paths, min(len(paths), 200))):
        case, more = path.replace('model.onnx', 'test_data_set_0'), ('--json', '--mode', ('fast', 'reference')[i % 2])
        status, out, _ = minirt('info', path, case, '--plan', *more)
        plan = json.loads(out)['plan']['memory'] if status == 0 else {'complete': False}
        status, out, _ = minirt('run', path, case, *more) if plan['complete'] else (9, '', '')
        if status <= 1: # it ran; random operators differ from what is expected
            peak = json.loads(out)['peak_bytes']
            check(f'{path}: the run meets the plan', peak <= plan['peak_bytes'], (peak, plan))


def test_refusal():
    status, _, err = minirt('run', residual(), '--random', '--memory-limit', '20KiB', '--optimize', '0')
    check('over the limit before the run', status == 8 and 'E0802 needs' in err and 'the limit is 20.0 KiB' in err, err)
    check('it names who makes the peak', "most at node" in err and "float32[2,8,20,20]" in err and "25.0 KiB" in err, err)
    check('and says where to look', 'info --plan' in err, err)


def test_unpacked():
    """Where packed weights do not fit the limit, the weights are read as they are."""
    path = save('dense.onnx', [node('MatMul', ['x', 'w'], ['h']), node('MatMul', ['h', 'v'], ['y'])],
                [value('x', FLOAT, ['n', 300])], [value('y', FLOAT, ['n', 300])], [('w', tensor(300, 300)), ('v', tensor(300, 300) + 1)])
    plan = document('info', path, '-s', 'n=4', '--plan')['plan']['memory']
    check('weights are packed', plan['packed'] >= 2 * 300 * 300 * 4, plan)
    limit = plan['peak_bytes'] - plan['packed'] + 128 * KIB
    results = [document('run', path, '--random', '-s', 'n=4', *more) for more in ((), (f'--memory-limit={limit}B',))]
    first = [np.array(r['outputs'][0]['first']) for r in results]
    check('without them it runs too', results[1]['peak_bytes'] <= limit < results[0]['peak_bytes'], [r['peak_bytes'] for r in results])
    check('and gives the same', np.allclose(*first, rtol=1e-4, atol=1e-4), first)
    one = plan['peak_bytes'] - plan['packed'] // 2 + 128 * KIB
    check('or with some of them', document('run', path, '--random', '-s', 'n=4', f'--memory-limit={one}B')['peak_bytes'] <= one)


def test_observed():
    """What writes dumps and statistics is not the run's."""
    path, plain = residual(), document('run', 'residual.onnx', '--random', '--optimize', '0')['peak_bytes']
    for more in (['--dump', 'all.npz'], ['--profile', 'trace.json'], ['--stats']):
        status, out, err = minirt('run', path, '--random', '--optimize', '0', *more, f'--memory-limit={plain}B')
        check(f'{more[0]} fits the same limit', status == 0, err)


# ---- sizes that hang on values ----

def grows(path, state, *body_nodes):
    """A Loop whose state grows by a thousand floats each round."""
    state_in = value('s', FLOAT, ['k']) if state == 'tensor' else helper.make_tensor_sequence_value_info('s', FLOAT, ['k'])
    state_out = value('t', FLOAT, ['l']) if state == 'tensor' else helper.make_tensor_sequence_value_info('t', FLOAT, ['k'])
    body = helper.make_graph([*body_nodes, node('Identity', ['c'], ['d'])], 'body',
                             [value('i', INT64, []), value('c', BOOL, []), state_in], [value('d', BOOL, []), state_out])
    start = [] if state == 'tensor' else [node('SequenceEmpty', [], ['s0'], dtype=FLOAT)]
    last = node('Loop', ['m', '', 's0'], ['z'], 'rounds', body=body)
    end = node('ReduceSum', ['z'], ['y']) if state == 'tensor' else node('SequenceLength', ['z'], ['y'])
    return save(path, [*start, last, end], [value('m', INT64, []), value('x', FLOAT, [1000])],
                [value('y', FLOAT if state == 'tensor' else INT64, None)], [('s0', np.zeros(0, np.float32))] if state == 'tensor' else [])


def test_loop():
    concat = grows('concat.onnx', 'tensor', node('Concat', ['s', 'x'], ['t'], axis=0))
    insert = grows('insert.onnx', 'sequence', node('Neg', ['x'], ['n']), node('SequenceInsert', ['s', 'n'], ['t']))
    for path, held in ((concat, 2), (insert, 1)):
        peaks = [document('run', path, f'm:i64[]={m}', '--random')['peak_bytes'] for m in (10, 100)]
        check(f'{path}: the state counts while it grows', peaks[1] - peaks[0] >= held * 90 * 4000 - 8000, peaks)
        check(f'{path}: and what is gone does not', peaks[1] < 3 * 100 * 4000, peaks)
        status, _, err = minirt('run', path, 'm:i64[]=100', '--random', '--memory-limit', '300KiB')
        check(f'{path}: the limit sees it', status == 8 and 'E0802' in err and 'in use' in err, err)
        check(f'{path}: and who holds it', "'s'" in err and 'rounds' in err, err)
        check(f'{path}: a wider one', minirt('run', path, 'm:i64[]=100', '--random', '--memory-limit', '2MiB')[0] == 0)
    body = helper.make_graph([node('NonZero', ['s'], ['n']), node('Cast', ['n'], ['f'], to=FLOAT), node('ReduceMax', ['f'], ['h']),
                              node('Add', ['s', 'h'], ['t']), node('Identity', ['c'], ['d'])], 'body',
                             [value('i', INT64, []), value('c', BOOL, []), value('s', FLOAT, [1, 1000])],
                             [value('d', BOOL, []), value('t', FLOAT, [1, 1000])])
    path = save('steady.onnx', [node('Loop', ['m', '', 'x'], ['y'], body=body)], [value('m', INT64, []), value('x', FLOAT, [1, 1000])],
                [value('y', FLOAT, [1, 1000])])
    status, out, err = minirt('run', path, 'm:i64[]=2000', '--random', '--val-range', 'x:[1,2]', '--memory-limit', '100KiB')
    check('rounds that free what they made', status == 0, err)
    scan = helper.make_graph([node('Identity', ['c'], ['d']), node('Identity', ['x'], ['o'])], 'body',
                             [value('i', INT64, []), value('c', BOOL, [])], [value('d', BOOL, []), value('o', FLOAT, [1000])])
    path = save('scanned.onnx', [node('Loop', ['m', ''], ['y'], body=scan)], [value('m', INT64, []), value('x', FLOAT, [1000])],
                [value('y', FLOAT, ['r', 1000])])
    peak = document('run', path, 'm:i64[]=100', '--random')['peak_bytes']
    check('rounds that are kept', 2 * 100 * 4000 <= peak < 3 * 100 * 4000, peak)


def test_values():
    path = save('nonzero.onnx', [node('NonZero', ['x'], ['n']), node('Cast', ['n'], ['y'], to=FLOAT)],
                [value('x', FLOAT, [100000])], [value('y', FLOAT, None)])
    ones, few = np.ones(100000, np.float32), np.zeros(100000, np.float32)
    np.save('ones.npy', ones)
    np.save('few.npy', few)
    plan = document('info', path, 'ones.npy', '--plan')['plan']
    check('info says that sizes are open', not plan['memory']['complete'] and plan['steps'][0]['sized_while_running'], plan)
    check('a small result fits', minirt('run', path, 'few.npy', '--memory-limit', '400KiB')[0] == 0)
    status, _, err = minirt('run', path, 'ones.npy', '--memory-limit', '400KiB')
    check('a large one is refused when it is met', status == 8 and 'E0802 node 0' in err and '781.2 KiB more' in err, err)
    status, _, err = minirt('run', path, 'ones.npy', '--memory-limit', '900KiB')
    check('with what is in use', status == 8 and "781.2 KiB  'n'" in err, err)


# ---- buffers, through the C API ----

def load():
    lib = ctypes.CDLL(f'{build}/libminirt.so')
    for name in ('mr_error_new', 'mr_env_create', 'mr_model_load', 'mr_run_create', 'mr_value_tensor', 'mr_run_output',
                 'mr_run_take_output', 'mr_value_data', 'mr_value_data_mut'):
        getattr(lib, name).restype = ctypes.c_void_p
    return lib


class Options(ctypes.Structure):
    _fields_ = [('reference', ctypes.c_int), ('optimize', ctypes.c_int), ('device', ctypes.c_char_p),
                ('memory_limit', ctypes.c_size_t), ('timeout', ctypes.c_double)]


class Run:
    """A run of a model with an input x, through the C API."""

    def __init__(self, path, limit=0):
        self.lib = load()
        self.e = ctypes.c_void_p(self.lib.mr_error_new())
        self.env = ctypes.c_void_p(self.lib.mr_env_create(None, self.e))
        self.model = ctypes.c_void_p(self.lib.mr_model_load(self.env, path.encode(), self.e))
        options = Options(0, -1, None, limit, 0)
        self.run = ctypes.c_void_p(self.lib.mr_run_create(self.model, ctypes.byref(options), self.e))

    def execute(self, x):
        dims = (ctypes.c_int64 * x.ndim)(*x.shape)
        v = ctypes.c_void_p(self.lib.mr_value_tensor(1, x.ndim, dims))
        ctypes.memmove(self.lib.mr_value_data_mut(v), x.ctypes.data, x.nbytes)
        self.lib.mr_run_bind(self.run, b'x', v, self.e)
        self.lib.mr_value_release(v)
        return self.lib.mr_run_execute(self.run, self.e)

    def output(self):
        return self.lib.mr_value_data(ctypes.c_void_p(self.lib.mr_run_output(self.run, 0)))

    def take(self):
        return ctypes.c_void_p(self.lib.mr_run_take_output(self.run, 0))

    def floats(self, data, n):
        return np.array((ctypes.c_float * n).from_address(data))

    def close(self):
        self.lib.mr_run_destroy(self.run)
        self.lib.mr_model_destroy(self.model)
        self.lib.mr_env_destroy(self.env)


def test_buffers():
    path = save('neg.onnx', [node('Neg', ['x'], ['y'])], [value('x', FLOAT, ['n'])], [value('y', FLOAT, ['n'])])
    r = Run(path)
    x = tensor(100000)
    check('a run', r.execute(x) == 0)
    first = r.output()
    check('the next run', r.execute(x) == 0)
    check('a buffer that is given back is used again', r.output() == first)
    kept = r.take()
    check('a run while its output is held', r.execute(x + 1) == 0)
    check('a held one is not', r.output() != first)
    check('and keeps its values', np.array_equal(r.floats(first, x.size), -x))
    check('another size', r.execute(x[:70]) == 0 and np.array_equal(r.floats(r.output(), 70), -x[:70]))
    r.close()
    check('it outlives the run', np.array_equal(r.floats(first, x.size), -x))
    r.lib.mr_value_release(kept)


def test_limit_of_session():
    path = save('exp.onnx', [node('Exp', ['x'], ['e']), node('Neg', ['e'], ['f']), node('Add', ['e', 'f'], ['y'])],
                [value('x', FLOAT, ['n'])], [value('y', FLOAT, ['n'])])
    r = Run(path, 100 * KIB)
    statuses = [r.execute(tensor(n)) for n in (5000, 50000, 5000, 6000, 7000, 8000, 5000)]
    check('each run is held to the limit, whatever ran before', [s == 0 for s in statuses] ==
          [True, False, True, True, True, True, True], statuses)
    for n in range(1000, 1020):
        check('more shapes than are kept', r.execute(tensor(n)) == 0)
    r.close()


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in [f for name, f in list(globals().items()) if name.startswith('test_')]:
        test()
print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
