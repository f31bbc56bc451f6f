#!/usr/bin/env python3
"""How long it takes to begin, and how much memory: weights of gigabytes cost what a run touches of them.
usage: test_load.py --build BUILD"""
import os, subprocess, sys, tempfile, time

build = os.path.abspath(sys.argv[sys.argv.index('--build') + 1])
digits = os.path.abspath(os.path.join(os.path.dirname(__file__), '../../examples/digits'))
passed = failed = 0
SMALL, LARGE, MIB = 1 << 20, 3 << 30, 1 << 20 # bytes


def check(what, ok, shown=''):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print('FAIL', what, shown)


def measure(*args, times=5):
    """The least seconds of several, and the largest resident set in bytes."""
    seconds, resident = [], 0
    for _ in range(times):
        begin = time.monotonic()
        p = subprocess.Popen([f'{build}/minirt', *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = p.stdout.read(), p.stderr.read()
        _, status, usage = os.wait4(p.pid, 0)
        seconds.append(time.monotonic() - begin)
        p.returncode = os.waitstatus_to_exitcode(status)
        resident = max(resident, usage.ru_maxrss * 1024)
        check(f'{args[:2]}', p.returncode == 0, err)
    return min(seconds), resident, out


def apart(make):
    """In a process of its own: the resident set of what is measured begins with that of the process that starts it."""
    pid = os.fork()
    if pid == 0:
        make()
        os._exit(0)
    check(make.__name__, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0)


def large_model():
    """A weight of 1 MiB and one of 3 GiB, of which nothing is on the disk; each has an output of its own."""
    import numpy as np
    from onnx import TensorProto, helper
    node, value, FLOAT = helper.make_node, helper.make_tensor_value_info, TensorProto.FLOAT

    def external(name, offset, *dims):
        t = TensorProto(name=name, data_type=FLOAT, dims=dims, data_location=TensorProto.EXTERNAL)
        for k, v in (('location', 'weights.bin'), ('offset', offset), ('length', 4 * int(np.prod(dims)))):
            t.external_data.add(key=k, value=str(v))
        return t

    with open('weights.bin', 'wb') as f:
        f.write(np.ones(SMALL // 4, np.float32).tobytes())
        f.truncate(SMALL + LARGE)
    rows = 1 << 15
    weights = [external('small', 0, SMALL // 4), external('large', SMALL, rows, LARGE // 4 // rows)]
    nodes = [node('ReduceSum', ['small'], ['sum'], keepdims=0), node('Add', ['x', 'sum'], ['y']),
             node('MatMul', ['x', 'large'], ['z'])]
    graph = helper.make_graph(nodes, 'g', [value('x', FLOAT, [1, rows])],
                              [value('y', FLOAT, [1, rows]), value('z', FLOAT, [1, LARGE // 4 // rows])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    open('large.onnx', 'wb').write(model.SerializeToString())


def test_large():
    apart(large_model)
    seconds, resident, out = measure('info', 'large.onnx')
    check('info of 3 GiB takes no time', seconds < 0.2, seconds)
    check('and no memory', resident < 64 * MIB, resident)
    check('it says so', '3.0 GiB' in out and 'weights.bin' in out, out)
    seconds, resident, _ = measure('check', 'large.onnx')
    check('check likewise', seconds < 0.2 and resident < 64 * MIB, (seconds, resident))
    seconds, resident, out = measure('run', 'large.onnx', '--random', '--outputs', 'y')
    check('a run that touches 1 MiB', seconds < 0.2, seconds)
    check('holds that', resident < 64 * MIB, resident)
    check('and sums it', 'max 2621' in out, out)


def inline_model():
    """128 MiB of weights within the file."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    value = helper.make_tensor_value_info
    weights = [numpy_helper.from_array(np.ones((1024, 1024), np.float32), f'w{i}') for i in range(32)]
    graph = helper.make_graph([helper.make_node('MatMul', ['x', 'w0'], ['y'])], 'g', [value('x', TensorProto.FLOAT, [1, 1024])],
                              [value('y', TensorProto.FLOAT, [1, 1024])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8), 'inline.onnx')


def test_inline():
    apart(inline_model)
    seconds, resident, _ = measure('info', 'inline.onnx')
    check('info of weights inside the file', seconds < 0.2, (seconds, resident))


def test_digits():
    seconds, resident, _ = measure('run', f'{digits}/digits.onnx', f'{digits}/seven.npy', times=15)
    check('from nothing to a digit in 10 ms', seconds < 0.01, seconds)
    check('in little memory', resident < 64 * MIB, resident)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for test in [f for name, f in list(globals().items()) if name.startswith('test_')]:
        test()
print(f'{passed} passed, {failed} failed')
sys.exit(failed > 0)
