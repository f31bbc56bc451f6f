"""Holds kernels/cpu/random.c against numpy.random.RandomState, word for word."""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ["random.c", "math_tables.c"]
SEEDS = [0, 1, 42, 5489, 2**31, 2**32 - 1]
COUNT = 3000


class Random(ctypes.Structure):
    _fields_ = [
        ("words", ctypes.c_uint32 * 624),
        ("next", ctypes.c_int),
        ("has_kept", ctypes.c_bool),
        ("kept", ctypes.c_double),
    ]


def build(folder):
    path = pathlib.Path(folder) / "random.so"
    sources = [ROOT / "kernels" / "cpu" / s for s in SOURCES]
    flags = ["-std=c17", "-O2", "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run(["cc", *flags, f"-I{ROOT}", *sources, "-o", path], check=True)
    lib = ctypes.CDLL(str(path))
    lib.mr_random_uniform.restype = lib.mr_random_normal.restype = ctypes.c_double
    lib.mr_random_bernoulli.restype = ctypes.c_bool
    lib.mr_random_u32.restype = ctypes.c_uint32
    lib.mr_random_bernoulli.argtypes = [ctypes.c_void_p, ctypes.c_double]
    return lib


def close(a, b):
    """log is the C library's in NumPy and ours here: they may differ by an ULP."""
    return np.all(np.abs(a - b) <= np.spacing(np.abs(b)))


def checks(lib, seed):
    state = Random()
    lib.mr_random_seed(ctypes.byref(state), ctypes.c_uint32(seed))
    theirs = np.random.RandomState(seed)
    draw = lambda f, *args: f(ctypes.byref(state), *args)

    words = np.array([draw(lib.mr_random_u32) for _ in range(COUNT)])
    yield "u32", np.array_equal(words, theirs.randint(0, 2**32, COUNT, dtype=np.uint32))
    uniform = np.array([draw(lib.mr_random_uniform) for _ in range(COUNT)])
    yield "uniform", np.array_equal(uniform, theirs.rand(COUNT))
    normal = np.array([draw(lib.mr_random_normal) for _ in range(COUNT + 1)])
    yield "normal", close(normal, theirs.randn(COUNT + 1))
    p = np.concatenate([[0, 1, 0.5, 0, 1e-300], np.random.RandomState(7).rand(COUNT).astype(np.float32)])
    coins = np.array([draw(lib.mr_random_bernoulli, x) for x in p])
    yield "bernoulli", np.array_equal(coins, theirs.binomial(1, p=p))
    yield "normal kept", close(np.array([draw(lib.mr_random_normal)]), theirs.randn(1))


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        lib = build(folder)
        for seed in SEEDS:
            for name, ok in checks(lib, seed):
                passed += ok
                failed += not ok
                if not ok:
                    print(f"FAIL {name}, seed {seed}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
