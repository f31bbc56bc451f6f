#!/usr/bin/env python3
"""Writes the official ONNX backend test data as files: OUTDIR/GROUP/CASE/{model.onnx,test_data_set_N/…_M.pb}.

    tools/make_conformance_data.py OUTDIR

The source is the onnx package of the version below. Its node cases, and some of the simple ones, exist in memory only;
the others are files that are copied; the light cases are a model and its outputs, for inputs that onnx's own runner
makes. Values are written as onnx's own generator writes them: TensorProto, or SequenceProto, OptionalProto, MapProto
where the model says so. A case whose tolerance is not the default one gets a file `tolerance`: rtol and atol.
OUTDIR/.stamp is written last.
"""

import argparse
import collections
import pathlib
import shutil
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test import loader, runner
from onnx.backend.test.case import model as model_cases

ONNX_VERSION = "1.23.2"
COUNTS = {"node": 1884, "simple": 26, "pytorch-converted": 82, "pytorch-operator": 35, "light": 9}
DEFAULT_TOLERANCE = (1e-3, 1e-7)
PACKAGE = pathlib.Path(onnx.__file__).parents[1]

ENCODERS = {
    "tensor_type": lambda value, name: numpy_helper.from_array(np.asarray(value), name),
    "sequence_type": numpy_helper.from_list,
    "optional_type": numpy_helper.from_optional,
    "map_type": numpy_helper.from_dict,
}


def encode(value, info):
    if isinstance(value, onnx.TensorProto):
        return value
    return ENCODERS[info.type.WhichOneof("value")](value, info.name)


def write_message(path, message):
    path.write_bytes(message.SerializeToString())


def write_values(folder, prefix, values, infos):
    # Graph inputs beyond the values have initializers.
    for i, (value, info) in enumerate(zip(values, infos)):
        write_message(folder / f"{prefix}_{i}.pb", encode(value, info))


def write_generated(case, folder):
    graph = case.model.graph
    write_message(folder / "model.onnx", case.model)
    for i, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{i}"
        data.mkdir()
        write_values(data, "input", inputs, graph.input)
        write_values(data, "output", outputs, graph.output)


def write_light(case, folder):
    """The model is in the package; its inputs are arange(n) / n; its outputs are in the package, beside it."""
    path = PACKAGE / case.url
    graph = onnx.load(path).graph
    shutil.copyfile(path, folder / "model.onnx")
    data = folder / "test_data_set_0"
    data.mkdir()
    initialized = {t.name for t in graph.initializer}
    fed = [info for info in graph.input if info.name not in initialized]
    write_values(data, "input", [runner.Runner.generate_dummy_data(info) for info in fed], fed)
    for i in range(len(graph.output)):
        shutil.copyfile(path.with_name(f"{path.stem}_output_{i}.pb"), data / f"output_{i}.pb")


def write_case(group, case, out):
    folder = out / group / case.name
    if case.model_dir:
        only_data = shutil.ignore_patterns("data.json")
        shutil.copytree(case.model_dir, folder, ignore=only_data, copy_function=shutil.copyfile)
    else:
        folder.mkdir()
        (write_light if group == "light" else write_generated)(case, folder)
    if (case.rtol, case.atol) != DEFAULT_TOLERANCE:
        (folder / "tolerance").write_text(f"{case.rtol!r} {case.atol!r}\n")


def collect():
    """{group: cases}."""
    groups = {kind: loader.load_model_tests(kind=kind) for kind in ("node", "pytorch-converted", "pytorch-operator")}
    groups["simple"] = loader.load_model_tests(kind="simple")
    in_files = {case.name for case in groups["simple"]}
    models = collections.defaultdict(list)
    for case in model_cases.collect_testcases():
        models[case.kind].append(case)
    groups["simple"] += [case for case in models["simple"] if case.name not in in_files]
    groups["light"] = models["real"]
    return groups


def main():
    parser = argparse.ArgumentParser(description="Write the official ONNX backend test data as files.")
    parser.add_argument("outdir", type=pathlib.Path)
    out = parser.parse_args().outdir
    if onnx.__version__ != ONNX_VERSION:
        raise SystemExit(f"make_conformance_data.py: needs onnx {ONNX_VERSION}, found {onnx.__version__}")

    stamp = out / ".stamp"
    stamp.unlink(missing_ok=True)
    with warnings.catch_warnings():  # the cases compute 0/0 and overflow casts on purpose
        warnings.simplefilter("ignore")
        groups = collect()
    for group in COUNTS:
        shutil.rmtree(out / group, ignore_errors=True)
        (out / group).mkdir(parents=True)
        for case in groups[group]:
            write_case(group, case, out)

    found = {group: sum(1 for _ in (out / group).glob("*/model.onnx")) for group in COUNTS}
    print(f"{sum(found.values())} cases: " + ", ".join(f"{group} {n}" for group, n in found.items()))
    if found != COUNTS:
        raise SystemExit(f"make_conformance_data.py: expected {COUNTS}")
    stamp.write_text(f"onnx {onnx.__version__}\n")


if __name__ == "__main__":
    main()
