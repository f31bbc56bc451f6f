"""The loader: models built with onnx.helper, valid and broken, against what BUILD/tests/dump_model says of them."""

import argparse
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_attribute, make_function, make_graph, make_model, make_node, make_opsetid, make_tensor
from onnx.helper import make_tensor_value_info as info

ROOT = pathlib.Path(__file__).resolve().parents[2]
parser = argparse.ArgumentParser()
parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
DUMP = str(parser.parse_args().build / "tests" / "dump_model")
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
failures, passed = [], 0


def dump(model, *options, files=(), name="m.onnx"):
    """(status, text) of a model: a ModelProto or the bytes of a file."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        data = model if isinstance(model, bytes) else model.SerializeToString()
        (folder / name).write_bytes(data)
        for file, content in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        run = subprocess.run([DUMP, str(folder / name), *options], capture_output=True, text=True, timeout=60)
        return run.returncode, run.stdout + run.stderr


def check(what, ok, detail=""):
    global passed
    if ok:
        passed += 1
    else:
        failures.append(what)
        print(f"fail {what}\n{detail}")


def expect(what, model, *facts, status=0, absent=(), **how):
    """Every fact is a substring of what is said; there are no errors when none begins with E."""
    got, text = dump(model, *how.pop("options", ()), **how)
    wrong = [f for f in facts if f not in text] + [f"not {a}" for a in absent if a in text]
    errors = [line for line in text.splitlines() if line.startswith("E0")]
    if not any(f.startswith("E0") for f in facts):
        wrong += errors
    check(what, got == status and not wrong, f"  status {got}, missing {wrong}\n{text[:3000]}")


def model(nodes, inputs=(), outputs=(), init=(), opset=17, functions=(), imports=(), graph=None, **more):
    graph = graph or make_graph(
        list(nodes),
        "g",
        list(inputs) or [info("x", FLOAT, [2, 3])],
        list(outputs) or [info("y", FLOAT, None)],
        list(init),
    )
    more.setdefault("ir_version", 10)
    return make_model(
        graph, opset_imports=[make_opsetid("", opset), *imports], functions=list(functions), **more
    )


def relu(**kw):
    return model([make_node("Relu", ["x"], ["y"], name="r")], **kw)


def edit(m, change):
    change(m)
    return m


# ---- the file ------------------------------------------------------------------------------------------------------


def test_files():
    good = relu(init=[make_tensor("w", FLOAT, [64], np.arange(64, dtype=np.float32))]).SerializeToString()
    expect("empty file", b"", "E0102", status=3)
    expect("text", b"hello world\n", "E0101", "looks like text", status=3)
    expect("json", b' {"a": 1}', "E0101", "looks like JSON", status=3)
    expect("web page", b"<!DOCTYPE html><html>", "E0101", "a web page", status=3)
    expect("zip", b"PK\3\4" + bytes(40), "E0101", "a zip archive", "PyTorch", status=3)
    expect("hdf5", b"\x89HDF\r\n\x1a\n" + bytes(40), "E0101", "HDF5", status=3)
    expect("pickle", b"\x80\2}q\0", "E0101", "pickle", status=3)
    expect("safetensors", b"\x40" + bytes(7) + b'{"a":', "E0101", "safetensors", status=3)
    expect("tflite", b"\x1c\0\0\0TFL3" + bytes(8), "E0101", "TensorFlow Lite", status=3)
    expect("lfs pointer", b"version https://git-lfs.github.com/spec/v1\n", "E0103", "Git LFS pointer", status=3)
    tensor = make_tensor("t", FLOAT, [2], [1, 2]).SerializeToString()
    expect("a tensor", tensor, "E0101", "hint: it looks like a TensorProto", status=3)
    expect("garbage", bytes(range(128, 256)), "E0101", status=3)
    expect("no graph", onnx.ModelProto(ir_version=8).SerializeToString(), "E0101", "no graph", status=3)
    for cut in range(1, len(good), 7):
        status, text = dump(good[:cut])
        check(f"truncated at {cut}", status == 3 and ("E0104" in text or "E0101" in text), text)
    expect("truncated, position", good[:-20], "E0104", f"ends at byte {len(good) - 20}", status=3)
    expect("nested types", nested_type(300), "E0101", "nested too deeply", status=3)
    check("missing file", subprocess.run([DUMP, "/nonexistent.onnx"], capture_output=True).returncode == 9)
    check("a folder", subprocess.run([DUMP, "/tmp"], capture_output=True).returncode == 9)
    pipe = subprocess.run(["sh", "-c", f"cat {ROOT}/examples/digits/digits.onnx | {DUMP} /dev/stdin"],
                          capture_output=True)
    check("a pipe", pipe.returncode == 9 and b"it is a pipe, not a file" in pipe.stdout + pipe.stderr, pipe)


def varint(n):
    out = b""
    while True:
        out += bytes([n & 127 | (128 if n > 127 else 0)])
        n >>= 7
        if not n:
            return out


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def nested_type(depth):
    t = b""
    for _ in range(depth):
        t = field(4, field(1, t))
    return varint(1 << 3) + varint(8) + field(7, field(11, field(2, t)))


# ---- the model -----------------------------------------------------------------------------------------------------


def test_header():
    expect("ir 999", edit(relu(), lambda m: setattr(m, "ir_version", 999)), "E0105",
           "ir_version 999, supported up to 14")
    expect("no ir", edit(relu(), lambda m: m.ClearField("ir_version")), "E0105", "ir_version missing")
    expect("no opset", edit(relu(), lambda m: m.ClearField("opset_import")), "E0202", "opset_import missing",
           absent=["E03"])
    expect("old ir, no opset", edit(model([make_node("Relu", ["x"], ["y"])], ir_version=2),
                                    lambda m: m.ClearField("opset_import")), "Relu-1")
    expect("opset twice", relu(imports=[make_opsetid("ai.onnx", 16)]), "E0202", "'ai.onnx' twice, as 17 and 16")
    expect("opset too new", relu(opset=99), "E0202", "version 99 of 'ai.onnx' is not known")
    expect("domain not imported", model([make_node("Foo", ["x"], ["y"], domain="my")]),
           "E0202", "domain my is not imported, operator Foo needs it")
    expect("metadata twice", edit(relu(), lambda m: [m.metadata_props.add(key="k", value=v) for v in "ab"]),
           "E0201", "'k' twice")
    expect("no graph name", edit(relu(), lambda m: m.graph.ClearField("name")), "E0201", "has no name")


def test_names():
    add = [make_node("Add", ["x", "ghost"], ["y"], name="add")]
    expect("undefined input", model(add), "E0201 node 0 'add' (Add-14): input 'ghost' is not defined anywhere")
    expect("nearest name", model([make_node("Add", ["x", "weigth"], ["y"], name="add")],
                                 init=[make_tensor("weight", FLOAT, [1],
                                                   [1])]), "E0201", "hint: did you mean 'weight'?")
    expect("undefined output", relu(outputs=[info("z", FLOAT, [1])]), "E0201",
           "output 'z' of graph 'g' is not defined anywhere")
    expect("output twice", model([make_node("Relu", ["x"], ["y"]), make_node("Abs", ["x"], ["y"], name="b")]),
           "E0201 node 1 'b' (Abs-13): output 'y' is defined already, as the output of another node")
    expect("output is input", model([make_node("Relu", ["x"], ["x"], name="b"), make_node("Relu", ["x"], ["y"])]),
           "E0201 node 0 'b'", "defined already, as an input")
    expect("inputs twice", relu(inputs=[info("x", FLOAT, [1])] * 2), "E0201", "input 'x' is defined already")
    expect("initializers twice", relu(init=[make_tensor("w", FLOAT, [1], [1])] * 2),
           "E0201", "initializer 'w' is defined already")
    order = [make_node("Abs", ["a"], ["y"], name="late"), make_node("Relu", ["x"], ["a"], name="early")]
    expect("order", model(order), "E0201",
           "not in topological order: node 0 'late' (Abs) reads 'a', which node 1 'early'")
    status, text = dump(model(order))
    check("sorted all the same", text.index("'early' (Relu-14) <-") < text.index("'late' (Abs-13) <-"), text)
    expect("cycle", model([make_node("Add", ["x", "c"], ["a"], name="one"), make_node("Abs", ["a"], ["c"], name="two"),
                           make_node("Relu", ["a"], ["y"])]),
           "E0201", "has a cycle: ", "node 0 'one' (Add) -> node 1 'two' (Abs) -> node 0 'one' (Add)")
    expect("itself", model([make_node("Add", ["x", "y"], ["y"], name="one")]), "E0201",
           "cycle: node 0 'one' (Add) -> node 0")
    expect("no input type", edit(relu(), lambda m: m.graph.input[0].ClearField("type")), "E0201",
           "input 'x' has no type")
    expect("no op_type", edit(relu(), lambda m: m.graph.node[0].ClearField("op_type")), "E0201", "no op_type")
    expect("same node names", model([make_node("Relu", ["x"], ["a"], name="n"),
                                     make_node("Relu", ["a"], ["y"], name="n")]))
    long = [make_node("Relu", [f"v{i}" if i else "x"], [f"v{i + 1}"]) for i in range(20000)]
    expect("a long chain backwards", model([make_node("Relu", ["v20000"], ["y"]), *reversed(long)]), "E0201",
           "other nodes do so too")


def test_override():
    w = make_tensor("w", FLOAT, [3], [1, 2, 3])
    add = [make_node("Add", ["x", "w"], ["y"])]
    x = info("x", FLOAT, [2, 3])
    expect("initializer is input", model(add, inputs=[x, info("w", FLOAT, ["N"])], init=[w]),
           "in x w out y", "decl w tensor(float)[N]", "init w float32[3]")
    expect("initializer contradicts input", model(add, inputs=[x, info("w", FLOAT, [4])], init=[w]),
           "E0201", "initializer 'w' is float32[3], the input of that name is float32[4]")
    expect("ir 3 wants inputs", model(add, init=[w], ir_version=3), "E0201", "'w' is no input of the graph")
    dims = [info("x", FLOAT, ["batch", 3, None])]
    expect("symbols", relu(inputs=dims, outputs=[info("y", FLOAT, ["batch", "other", "?"])]),
           "decl x tensor(float)[batch,3,?]", "decl y tensor(float)[batch,other,?]")


# ---- operators and attributes --------------------------------------------------------------------------------------


def op(op_type, inputs=("x",), n_out=1, opset=17, **attrs):
    outs = ["y", *(f"y{i}" for i in range(1, n_out))]
    return model([make_node(op_type, list(inputs), outs, name="n", **attrs)], opset=opset)


def test_schema():
    expect("unknown op", op("Reul"), "E0301 node 0 'n' (Reul): ai.onnx has no operator Reul (opset 17)",
           "hint: did you mean 'Relu'?")
    expect("unknown domain", model([make_node("Foo", ["x"], ["y"], domain="com.example")],
                                   imports=[make_opsetid("com.example", 3)]),
           "E0303", "operator Foo of the unknown domain com.example (version 3)")
    expect("op of a later opset", op("Mish"), "E0302",
           "operator Mish exists since opset 18 of ai.onnx, the model imports 17")
    expect("deprecated op", op("Upsample"), "E0302", "Upsample is deprecated since opset 10",
           "hint: its last version is Upsample-9: export for opset 9 or below, or with Resize-13 in its place")
    for name in ("Classifier", "Regressor"):
        expect(f"deprecated TreeEnsemble{name}", model([make_node(f"TreeEnsemble{name}", ["x"], ["y"], domain="ai.onnx.ml")],
                                                          imports=[make_opsetid("ai.onnx.ml", 5)]), "E0302",
               f"TreeEnsemble{name} is deprecated since opset 5 of ai.onnx.ml",
               f"hint: its last version is TreeEnsemble{name}-3: export for opset 4 or below, or with TreeEnsemble-5 in its place")
    expect("deprecated, and there again", op("GroupNormalization", ["x"] * 3, opset=18), "E0302",
           "GroupNormalization is deprecated since opset 18", "hint: its next version is GroupNormalization-21: export for opset 21")
    expect("too few inputs", op("Add"), "E0210", "1 inputs, must be 2")
    expect("too many inputs", op("Relu", ["x", "x"]), "E0210", "2 inputs, must be 1")
    expect("too many outputs", op("Relu", n_out=2), "E0210", "2 outputs, must be 1")
    expect("input range", op("Clip", ["x"] * 4), "E0210", "4 inputs, must be 1 to 3")
    expect("absent required input", op("Add", ["", "x"]), "E0210", "required input 0 'A' is missing")
    expect("absent optional input", op("Clip", ["x", "", "x"]), "<- x - x")
    expect("attribute kind", op("Softmax", axis=1.0), "E0211", "attribute 'axis' is FLOAT, must be INT")
    expect("attribute missing", op("Cast"), "E0211", "required attribute 'to' missing")
    expect("attribute unknown", op("Softmax", axes=1), "E0211", "Softmax has no attribute 'axes'",
           "hint: did you mean 'axis'?")
    expect("attribute of a later opset", op("Resize", ["x", "", "x"], antialias=1),
           "E0211", "attribute 'antialias' does not exist before opset 18, the model imports 17")
    expect("attribute of an earlier opset", op("ReduceSum", axes=[1]),
           "E0211", "attribute 'axes' does not exist since opset 13, the model imports 17")
    expect("attribute twice",
           edit(op("Softmax", axis=1), lambda m: m.graph.node[0].attribute.append(make_attribute("axis", 0))),
           "E0211", "attribute 'axis' is given twice")
    expect("private attribute", op("Relu", __tool=1))
    twisted = make_attribute("axis", 1)
    twisted.f = 2
    expect("two values", edit(op("Softmax"), lambda m: m.graph.node[0].attribute.append(twisted)),
           "E0211", "attribute 'axis' is INT but holds a value of another type")
    untyped = make_attribute("axis", 1)
    untyped.ClearField("type")
    expect("no type", edit(op("Softmax"), lambda m: m.graph.node[0].attribute.append(untyped)), "E0211",
           "attribute 'axis' has no type")
    many = model([make_node("Add", ["x", "ghost"], ["a"], name="n0"), make_node("Cast", ["x"], ["b"], name="n1"),
                  make_node("Nope", ["x"], ["y"], name="n2")])
    expect("all at once", many, "E0201 node 0", "E0211 node 1", "E0301 node 2")


# ---- tensors -------------------------------------------------------------------------------------------------------


def stored(array):
    """The bytes that minirt keeps: narrow types one element a byte, int4 and int2 sign-extended."""
    if array.dtype in (ml_dtypes.int4, ml_dtypes.int2):
        return array.astype(np.int8).tobytes()
    return array.tobytes()


def test_encodings():
    rng = np.random.default_rng(0)
    for dtype, shape in itertools.product(range(1, 29), [(), (1,), (3,), (5,), (2, 3), (7, 3), (0, 4)]):
        if dtype == TensorProto.STRING:
            continue
        np_type = helper.tensor_dtype_to_np_dtype(dtype)
        count = int(np.prod(shape))
        values = rng.integers(0, 2 if dtype == BOOL else 4, count)
        array = values.astype(np.int8).astype(np_type).reshape(shape) if count else np.zeros(shape, np_type)
        raw = numpy_helper.from_array(array, "w")
        typed = make_tensor("w", dtype, shape, array.ravel() if np_type.kind != "c" else list(array.ravel()))
        check(f"typed is typed {dtype}", not typed.HasField("raw_data"))
        for kind, tensor in (("raw", raw), ("typed", typed)):
            name = onnx.TensorProto.DataType.Name(dtype)
            want = stored(numpy_helper.to_array(tensor)).hex()
            status, text = dump(relu(init=[tensor]))
            line = next((l for l in text.splitlines() if l.startswith("init w ")), "")
            check(f"{name} {kind} {shape}", line.endswith("] " + want) and "E0" not in text, f"{text}want {want}")
    expect("strings", relu(init=[make_tensor("w", TensorProto.STRING, [3], ["a", "", "ü\nz"])]),
           "init w string[3] [a][][ü\nz]")
    doubles = [make_tensor("w" * k, TensorProto.DOUBLE, [1], bytes(7) + bytes([64 + k]), raw=True) for k in range(1, 9)]
    expect("unaligned", relu(init=doubles),
           *(f"init {'w' * k} float64[1] {'00' * 7}{64 + k:02x}" for k in range(1, 9)))


def broken(change, dims=(2,)):
    tensor = make_tensor("w", FLOAT, dims, [1.0] * int(np.prod(dims)))
    change(tensor)
    return relu(init=[tensor])


def test_tensors():
    def dims(*d):
        return lambda t: (t.ClearField("dims"), t.dims.extend(d))

    expect("negative dim", broken(dims(-2)), "E0111", "tensor 'w': negative dimension -2")
    expect("unknown type", broken(lambda t: setattr(t, "data_type", 99)), "E0111",
           "tensor 'w': unknown element type 99")
    expect("undefined type", broken(lambda t: setattr(t, "data_type", 0)), "E0111", "unknown element type 0")
    expect("too few", broken(dims(3)), "E0111", "float32[3] takes 3 entries of float_data, there are 2")
    expect("too many", broken(dims(1)), "E0111", "takes 1 entries of float_data, there are 2")
    expect("overflow", broken(dims(2**40, 2**40)), "E0111", "too large")
    expect("huge", broken(dims(2**40)), "E0111", "takes 1099511627776 entries")
    expect("zero hides huge", broken(dims(0, 2**62, 2**62)), "E0111", "takes 0 entries")
    expect("rank", broken(dims(*[1] * 17)), "E0415", "rank 17, at most 16")
    expect("wrong field", broken(lambda t: (t.ClearField("float_data"), t.int32_data.extend([1, 2]))),
           "E0111", "takes 2 entries of float_data, there are 0")
    expect("two fields", broken(lambda t: t.int32_data.append(1)), "E0111", "more than one field")
    expect("short raw", broken(lambda t: (t.ClearField("float_data"), setattr(t, "raw_data", b"1234567"))),
           "E0111", "takes 8 bytes, the data has 7")
    expect("raw strings", broken(lambda t: (t.ClearField("float_data"), setattr(t, "raw_data", b"1"),
                                            setattr(t, "data_type", 8))),
           "E0111", "strings cannot be raw_data")
    expect("packed", relu(init=[TensorProto(name="w", data_type=TensorProto.INT4, dims=[3],
                                            raw_data=b"\x21\xf3\x00")]), "E0111", "takes 2 bytes, the data has 3")
    expect("in an attribute", op("Constant", [], value=edit(make_tensor("t", FLOAT, [1], [1]), dims(-1))),
           "E0111 node 0 'n' (Constant-13): tensor 't': negative dimension -1")


def sparse(values, indices, dims):
    return helper.make_sparse_tensor(numpy_helper.from_array(np.array(values, np.float32), "w"),
                                     numpy_helper.from_array(np.array(indices, np.int64), "i"), dims)


def test_sparse():
    def with_sparse(*a):
        return edit(relu(), lambda m: m.graph.sparse_initializer.append(sparse(*a)))

    want = np.array([[0, 0, 5], [7, 0, 0]], np.float32).tobytes().hex()
    expect("linear indices", with_sparse([5, 7], [2, 3], [2, 3]), f"init w float32[2,3] {want}")
    expect("coordinates", with_sparse([5, 7], [[0, 2], [1, 0]], [2, 3]), f"init w float32[2,3] {want}")
    expect("no entries", with_sparse([], [], [2]), "init w float32[2] 0000000000000000")
    expect("outside", with_sparse([5], [6], [2, 3]), "E0111", "sparse tensor 'w': index 0 lies outside")
    expect("outside a row", with_sparse([5], [[0, 3]], [2, 3]), "E0111", "index 0 lies outside")
    expect("not sorted", with_sparse([5, 7], [3, 2], [2, 3]), "E0111", "index 1 is not above the one before")
    expect("twice", with_sparse([5, 7], [3, 3], [2, 3]), "E0111", "index 1 is not above the one before")
    expect("counts differ", with_sparse([5, 7], [3], [2, 3]), "E0111", "values must be [N]")
    expect("attribute", op("Constant", [], sparse_value=sparse([5, 7], [[0, 2], [1, 0]], [2, 3])),
           "sparse_value sparse float32[2,3]", "int64[2] 02000000000000000300000000000000")


def external(location, **entries):
    t = TensorProto(name="w", data_type=FLOAT, dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        t.external_data.add(key=key, value=str(value))
    return relu(init=[t])


def test_external():
    two = np.array([1, 2], np.float32).tobytes()
    hexed = two.hex()
    expect("external", external("w.bin"), f"init w float32[2] {hexed}", files=[("w.bin", two)])
    expect("external in a folder", external("./a/../b/w.bin", offset=4, length=8, checksum="no"),
           f"init w float32[2] {hexed}",
           files=[("b/w.bin", b"1234" + two), ("a/x", b"")])
    expect("external unaligned", external("w.bin", offset=3, length=8), f"init w float32[2] {hexed}",
           files=[("w.bin", b"123" + two)])
    expect("parent", external("../w.bin"), "E0110", "tensor 'w': external location '../w.bin' leaves the model folder")
    expect("parent by detour", external("a/../../w.bin"), "E0110", "leaves the model folder")
    expect("absolute", external("/etc/passwd"), "E0110", "'/etc/passwd' leaves the model folder")
    expect("missing", external("no.bin"), "E0110", "tensor 'w': cannot open ", "/no.bin: No such file")
    expect("short", external("w.bin", offset=8, length=24), "E0110", "file 'w.bin' has 20 bytes, needs 8+24",
           files=[("w.bin", bytes(20))])
    expect("short without length", external("w.bin"), "E0110", "file 'w.bin' has 4 bytes, needs 0+8",
           files=[("w.bin", bytes(4))])
    expect("length contradicts", external("w.bin", length=4), "E0111", "takes 8 bytes, the data has 4",
           files=[("w.bin", two)])
    expect("offset overflows", external("w.bin", offset=2**64 - 4, length=8), "E0110", "is no count of bytes",
           files=[("w.bin", two)])
    expect("offset no number", external("w.bin", offset="-4"), "E0110", "external offset '-4'", files=[("w.bin", two)])
    expect("no location", external(""), "E0110", "without a location")
    expect("a folder", external("d"), "E0110", "cannot open", files=[("d/x", two)])
    with tempfile.TemporaryDirectory() as outside, tempfile.TemporaryDirectory() as folder:
        pathlib.Path(outside, "w.bin").write_bytes(two)
        pathlib.Path(outside, "m.onnx").write_bytes(external("w.bin").SerializeToString())
        pathlib.Path(folder, "m.onnx").write_bytes(external("w.bin").SerializeToString())
        os.symlink(f"{outside}/w.bin", f"{folder}/w.bin")
        text = subprocess.run([DUMP, f"{folder}/m.onnx"], capture_output=True, text=True).stdout
        check("a link that escapes", "E0110" in text and "it is a link to" in text, text)
        os.symlink(f"{outside}/m.onnx", f"{folder}/linked.onnx")
        text = subprocess.run([DUMP, f"{folder}/linked.onnx"], capture_output=True, text=True).stdout
        check("links side by side", f"init w float32[2] {hexed}" in text, text)


def test_large_external():
    count = 3 << 28  # of floats: 3 GiB, a hole in the file
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "m.onnx")
        t = TensorProto(name="w", data_type=FLOAT, dims=[count], data_location=TensorProto.EXTERNAL)
        t.external_data.add(key="location", value="w.bin")
        path.write_bytes(relu(init=[t]).SerializeToString())
        with open(f"{folder}/w.bin", "wb") as f:
            f.truncate(count * 4)
        begin = time.monotonic()
        run = subprocess.run([DUMP, str(path)], capture_output=True, text=True)
        took = time.monotonic() - begin
        check("3 GiB external", f"init w float32[{count}]" in run.stdout and took < 0.5, f"{took} s {run.stdout[:300]}")


# ---- subgraphs -----------------------------------------------------------------------------------------------------


def branch(name, nodes, out):
    return make_graph(nodes, name, [], [info(out, FLOAT, None)])


def choice(name, then, out, other=("Neg", "x", "n"), result="y"):
    """An If whose then-branch has these nodes and this output; the else-branch is one unary node."""
    op_type, x, y = other
    otherwise = branch("E", [make_node(op_type, [x], [y])], y)
    return make_node("If", ["c"], [result], name=name, then_branch=branch("T", then, out), else_branch=otherwise)


def test_subgraphs():
    ins = [info("x", FLOAT, [2]), info("c", BOOL, [])]
    w = [make_tensor("w", FLOAT, [2], [1, 2])]
    inner = choice("inner", [make_node("Add", ["x", "w"], ["a"])], "a", ("Abs", "w", "b"), "i")
    expect("captures through two levels", model([choice("outer", [inner], "i")], ins, init=w),
           "graph 1 'E' in out n captures x", "graph 2 'T' in out i captures c w x",
           "graph 3 'E' in out b captures w", "graph 4 'T' in out a captures x w")
    expect("an outer value is the output", model([choice("if", [], "x")], ins), "'T' in out x captures x")
    later = choice("if", [make_node("Abs", ["z"], ["a"])], "a")
    expect("a capture of a later value", model([later, make_node("Relu", ["x"], ["z"], name="z")], ins),
           "E0201", "not in topological order: node 0 'if' (If) reads 'z'")
    ghost = choice("if", [make_node("Abs", ["ghost"], ["a"], name="abs")], "a")
    expect("undefined in a subgraph", model([ghost], ins), "E0201 node 0 'abs' (Abs-13), in then_branch of node 0 "
           "'if' (If-16): input 'ghost' is not defined anywhere")
    hiding = choice("if", [make_node("Abs", ["x"], ["r"], name="abs")], "r")
    expect("hidden name", model([make_node("Relu", ["x"], ["r"]), hiding], ins),
           "E0201 node 0 'abs'", "output 'r' hides")
    expect("a name made later is free", model([hiding, make_node("Relu", ["x"], ["r"])], ins))


# ---- functions -----------------------------------------------------------------------------------------------------

OPSETS = [make_opsetid("", 17), make_opsetid("my", 1)]
MY = [make_opsetid("my", 1)]


def func(name, inputs, outputs, nodes, attributes=(), defaults=(), overload="", opsets=OPSETS):
    f = make_function("my", name, inputs, outputs, nodes, opsets, attributes, list(defaults))
    if overload:
        f.overload = overload
    return f


def ref(node, name, parent, kind):
    node.attribute.append(onnx.AttributeProto(name=name, ref_attr_name=parent, type=kind))
    return node


def call(name, inputs, outputs, node_name="call", **attrs):
    return make_node(name, inputs, outputs, name=node_name, domain="my", **attrs)


def test_functions():
    F = onnx.AttributeProto.FLOAT
    leaky = func("Leaky", ["a"], ["b"], [ref(make_node("LeakyRelu", ["a"], ["b"], name="lr"), "alpha", "slope", F)],
                 defaults=[make_attribute("slope", 0.25)])
    one = model([call("Leaky", ["x"], ["y"], slope=0.5)], functions=[leaky], imports=MY)
    expect("inlined", one, "node 0 'call' (my:Leaky), in Leaky 'lr' (LeakyRelu-16) <- x -> y", "attr alpha FLOAT 0.5")
    expect("default", model([call("Leaky", ["x"], ["y"])], functions=[leaky], imports=MY), "attr alpha FLOAT 0.25")
    bare = func("Leaky", ["a"], ["b"], list(leaky.node), attributes=["slope"])
    expect("absent", model([call("Leaky", ["x"], ["y"])], functions=[bare], imports=MY), "LeakyRelu-16",
           absent=["attr alpha"])
    outer = func("Outer", ["p"], ["q"], [ref(call("Leaky", ["p"], ["t"], "inner"), "slope", "s", F),
                                         make_node("Abs", ["t"], ["q"], name="abs")],
                 attributes=["s"])
    nested = model([call("Outer", ["x"], ["z"], s=0.75), make_node("Neg", ["z"], ["y"])], functions=[outer, leaky],
                   imports=MY)
    expect("nested", nested, "in Outer/Leaky 'lr' (LeakyRelu-16) <- x -> call/t",
           "in Outer 'abs' (Abs-13) <- call/t -> z",
           "attr alpha FLOAT 0.75", "node 1 '' (Neg-13) <- z -> y")
    twice = model([call("Outer", ["x"], ["z"], "", s=0.5), call("Outer", ["z"], ["y"], "", s=0.5)],
                  functions=[outer, leaky], imports=MY)
    expect("two calls, two sets of names", twice, "-> Outer_0/t", "-> Outer_1/t")
    over = model([make_node("F", ["x"], ["z"], domain="my", overload="a"),
                  make_node("F", ["z"], ["y"], domain="my", overload="b")],
                 functions=[func("F", ["a"], ["b"], [make_node("Abs", ["a"], ["b"])], overload="a"),
                            func("F", ["a"], ["b"], [make_node("Neg", ["a"], ["b"])], overload="b")], imports=MY)
    expect("overloads", over, "(Abs-13) <- x -> z", "(Neg-13) <- z -> y")
    own = func("Old", ["a"], ["b"], [make_node("Softmax", ["a"], ["b"])], opsets=[make_opsetid("", 11)])
    expect("opsets of its own", model([call("Old", ["x"], ["y"])], functions=[own], imports=MY), "(Softmax-11)")
    optional = func("Opt", ["a", "lo", "hi"], ["b", "c"], [make_node("Clip", ["a", "lo", "hi"], ["b"]),
                                                           make_node("Abs", ["a"], ["c"])])
    expect("optional inputs and outputs", model([call("Opt", ["x"], ["y"])], functions=[optional], imports=MY),
           "(Clip-13) <- x - - -> y", "(Abs-13) <- x -> call/c")
    through = func("Through", ["a"], ["b", "a"], [make_node("Abs", ["a"], ["b"])])
    expect("an input handed through", model([call("Through", ["x"], ["z", "y"])], functions=[through], imports=MY),
           "(Identity-16) <- x -> y")
    deep = ref(call("Leaky", ["a"], ["t"], "deep"), "slope", "k", F)
    loop = func("InIf", ["a", "c"], ["b"], [choice("if", [deep], "t", ("Neg", "a", "n"), "b")], attributes=["k"])
    ins = [info("x", FLOAT, [2]), info("c", BOOL, [])]
    expect("function in a subgraph of a function", model([call("InIf", ["x", "c"], ["y"], k=0.5)], ins,
                                                         functions=[loop, leaky], imports=MY),
           "captures x", "in InIf/Leaky 'lr' (LeakyRelu-16) <- x -> t", "attr alpha FLOAT 0.5")
    names = func("N", ["a"], ["b"], [make_node("Abs", ["a"], ["t"]), make_node("Neg", ["t"], ["b"])])
    expect("names do not clash", model([make_node("Relu", ["x"], ["call/t"]), call("N", ["call/t"], ["y"])],
                                       functions=[names], imports=MY),
           "(Abs-13) <- call/t -> call/t_2", "(Neg-13) <- call/t_2 -> y")


def test_broken_functions():
    a = func("A", ["a"], ["b"], [call("B", ["a"], ["b"])])
    b = func("B", ["a"], ["b"], [call("A", ["a"], ["b"])])
    expect("recursion", model([call("A", ["x"], ["y"])], functions=[a, b], imports=MY),
           "E0203 recursive functions my:A -> my:B -> my:A", status=3)
    expect("recursion that nobody calls", relu(functions=[a, b], imports=MY), "E0203", status=3)
    again = choice("if", [call("D", ["a", "c"], ["t"])], "t", ("Neg", "a", "n"), "b")
    deep = func("D", ["a", "c"], ["b"], [again])
    expect("recursion in a subgraph", relu(functions=[deep], imports=MY), "E0203 recursive functions my:D -> my:D",
           status=3)
    ok = func("F", ["a"], ["b"], [make_node("Abs", ["a"], ["b"])])
    expect("too many inputs", model([call("F", ["x", "x"], ["y"])], functions=[ok], imports=MY),
           "E0203 node 0 'call' (my:F): 2 inputs, function my:F has 1")
    expect("too many outputs", model([call("F", ["x"], ["y", "z"])], functions=[ok], imports=MY), "E0203",
           "2 outputs, function my:F has 1")
    expect("unknown attribute", model([call("F", ["x"], ["y"], k=1)], functions=[ok], imports=MY), "E0203",
           "my:F has no attribute 'k'")
    expect("not imported", model([call("F", ["x"], ["y"])], functions=[ok]),
           "E0202 node 0 'call' (my:F): domain my is not imported, function my:F needs it")
    wrong = func("F", ["a"], ["b"], [ref(make_node("LeakyRelu", ["a"], ["b"], name="lr"), "alpha", "k", 2)],
                 attributes=["k"])
    expect("reference of another kind", model([call("F", ["x"], ["y"], k=0.5)], functions=[wrong], imports=MY),
           "E0211", "attribute 'alpha' is INT but refers to 'k', which is FLOAT")
    expect("twice", model([call("F", ["x"], ["y"])], functions=[ok, ok], imports=MY),
           "E0203 function my:F is defined twice")
    expect("output not made", model([call("F", ["x"], ["y"])],
                                    functions=[func("F", ["a"], ["c"], [make_node("Abs", ["a"], ["b"])])], imports=MY),
           "E0203", "does not make its output 'c'")
    expect("no capture", model([make_node("Relu", ["x"], ["r"]), call("F", ["x"], ["y"])],
                               functions=[func("F", ["a"], ["b"],
                                               [make_node("Add", ["a", "r"], ["b"], name="add")])], imports=MY),
           "E0201", "in F 'add' (Add-14): input 'r' is not defined anywhere")
    expect("reference outside", edit(op("LeakyRelu"), lambda m: ref(m.graph.node[0], "alpha", "s", 1)), "E0211",
           "refers to 's' outside of a function")
    expect("unknown op inside", model([call("F", ["x"], ["y"])],
                                      functions=[func("F", ["a"], ["b"],
                                                      [make_node("Nope", ["a"], ["b"], name="n")])], imports=MY),
           "E0301 node 0 'call' (my:F), in F 'n' (Nope): ai.onnx has no operator Nope")
    double = [func(f"F{i}", ["a"], ["b"], [call(f"F{i - 1}", ["a"], ["t"]),
                                           call(f"F{i - 1}", ["t"], ["b"])] if i else [make_node("Abs", ["a"], ["b"])])
              for i in range(40)]
    expect("2^39 nodes", model([call("F39", ["x"], ["y"])], functions=double, imports=MY), "E0803",
           "more than 262144 nodes", status=8)
    chain = [func(f"F{i}", ["a"], ["b"], [call(f"F{i - 1}", ["a"], ["b"])] if i else [make_node("Abs", ["a"],
        ["b"])]) for i in range(300)]
    expect("300 deep", model([call("F299", ["x"], ["y"])], functions=chain, imports=MY), "E0203",
           "nested more than 200 deep", status=3)


def test_schema_functions():
    expect("a body", op("Softplus", opset=18), "in Softplus '' (Exp-13) <- x", "(Log-13) <- n/exp_x_add_one -> y",
           absent=["Softplus-18) <-"], options=["--inline"])
    expect("a body with a default", op("Elu", opset=18), "in Elu", absent=["(Elu-6) <-"], options=["--inline"])
    expect("bodies within bodies", op("MeanVarianceNormalization", opset=18), "(ReduceMean-18)", options=["--inline"])


for test in [f for name, f in list(globals().items()) if name.startswith("test_")]:
    test()
print(f"{passed} passed, {len(failures)} failed")
sys.exit(bool(failures))
