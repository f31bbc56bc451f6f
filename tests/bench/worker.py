#!/usr/bin/env python3
"""One engine with one model, run on command. usage: worker.py minirt|onnxruntime MODEL INPUTS.npz THREADS [LIBRARY]

Says {"load_ms", "first_ms", "rss_bytes"} when it is ready; then for each line SECONDS on stdin it runs for about so long
and says the list of times in milliseconds. rss_bytes: what the process's peak grew by since before the engine was loaded
(the inputs are read from an npz, so that no other memory was ever in use).
"""
import ctypes, json, sys, time

import numpy as np


def peak_rss():
    with open('/proc/self/status') as f:  # getrusage's is the parent's where that one was larger
        return next(int(line.split()[1]) for line in f if line.startswith('VmHWM')) * 1024


class OnnxRuntime:
    def __init__(self, path, threads, _):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(path, options, providers=['CPUExecutionProvider'])

    def bind(self, feeds):
        self.feeds = feeds

    def run(self):
        self.session.run(None, self.feeds)


# ONNX's numbers of the types that inputs have.
DTYPES = {'float32': 1, 'uint8': 2, 'int8': 3, 'uint16': 4, 'int16': 5, 'int32': 6, 'int64': 7, 'bool': 9, 'float16': 10,
          'float64': 11, 'uint32': 12, 'uint64': 13}


class EnvOptions(ctypes.Structure):
    _fields_ = [('threads', ctypes.c_int), ('log', ctypes.c_void_p), ('log_arg', ctypes.c_void_p), ('log_level', ctypes.c_int)]


class ErrorInfo(ctypes.Structure):
    _fields_ = [('status', ctypes.c_int), ('code', ctypes.c_int), ('node', ctypes.c_int), ('where', ctypes.c_char_p),
                ('text', ctypes.c_char_p), ('hint', ctypes.c_char_p)]


class Minirt:
    def __init__(self, path, threads, library):
        self.lib = lib = ctypes.CDLL(library)
        for name in ('mr_error_new', 'mr_env_create', 'mr_model_load', 'mr_run_create', 'mr_value_wrap'):
            getattr(lib, name).restype = ctypes.c_void_p
        lib.mr_error_get.restype = ErrorInfo
        self.error = ctypes.c_void_p(lib.mr_error_new())
        options = EnvOptions(threads=threads)
        self.env = ctypes.c_void_p(lib.mr_env_create(ctypes.byref(options), self.error))
        self.model = ctypes.c_void_p(self.must(lib.mr_model_load(self.env, path.encode(), self.error)))
        self.handle = ctypes.c_void_p(self.must(lib.mr_run_create(self.model, None, self.error)))

    def must(self, made):
        if not made:
            raise SystemExit(self.lib.mr_error_get(self.error).text.decode())
        return made

    def bind(self, feeds):
        self.kept = []
        for name, array in feeds.items():
            array = np.asarray(array, order='C')
            dtype = DTYPES[array.dtype.name]
            dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
            value = self.lib.mr_value_wrap(dtype, array.ndim, dims, ctypes.c_void_p(array.ctypes.data))
            self.lib.mr_run_bind(self.handle, name.encode(), ctypes.c_void_p(value), self.error)
            self.kept.append((array, value))

    def run(self):
        if self.lib.mr_run_execute(self.handle, self.error):
            raise SystemExit(self.lib.mr_error_get(self.error).text.decode())


def main():
    engine, path, inputs, threads, *library = sys.argv[1:]
    feeds = dict(np.load(inputs))
    kind = OnnxRuntime if engine == 'onnxruntime' else Minirt
    if engine == 'onnxruntime':
        before = peak_rss()
        import onnxruntime  # the time of Python's own import is not the engine's
    else:
        before = peak_rss()
        ctypes.CDLL(library[0])
    begin = time.perf_counter()
    e = kind(path, int(threads), library[0] if library else None)
    e.bind(feeds)
    loaded = time.perf_counter()
    e.run()
    first = time.perf_counter()
    e.run()
    print(json.dumps({'load_ms': 1e3 * (loaded - begin), 'first_ms': 1e3 * (first - loaded), 'rss_bytes': peak_rss() - before}),
          flush=True)
    for line in sys.stdin:
        times, end = [], time.perf_counter() + float(line)
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            e.run()
            times.append(1e3 * (time.perf_counter() - begin))
        print(json.dumps(times), flush=True)


main()
