"""Holds runtime/onnx.proto against the onnx package's own descriptors, in both directions.

Every message, field (number, name, type, label, packing, oneof, default) and enum value is one check. protoc-c, which
the build needs anyway, parses our file.
"""

import pathlib
import subprocess
import sys
import tempfile

import onnx
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto
from onnx import onnx_data_pb2, onnx_ml_pb2

PROTO = pathlib.Path(__file__).resolve().parents[2] / "runtime" / "onnx.proto"


def ours():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "onnx.bin"
        subprocess.run(
            ["protoc-c", f"--proto_path={PROTO.parent}", f"--descriptor_set_out={out}", PROTO.name],
            check=True,
        )
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes()).file


def theirs():
    files = []
    for module in (onnx_ml_pb2, onnx_data_pb2):
        file = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        files.append(file)
    return files


def facts(files):
    """{what: value} of everything that decides what bytes mean."""
    out = {}

    def enum(prefix, e):
        for v in e.value:
            out[f"enum {prefix}.{e.name}.{v.name}"] = v.number

    def message(prefix, m):
        name = f"{prefix}.{m.name}"
        out[f"message {name}"] = True
        for f in m.field:
            out[f"field {name}.{f.name}"] = (
                f.number,
                FieldDescriptorProto.Type.Name(f.type),
                f.type_name,
                FieldDescriptorProto.Label.Name(f.label),
                "packed" if f.options.packed else "",
                m.oneof_decl[f.oneof_index].name if f.HasField("oneof_index") else "",
                f.default_value,
            )
        for e in m.enum_type:
            enum(name, e)
        for n in m.nested_type:
            message(name, n)

    for file in files:
        for e in file.enum_type:
            enum(file.package, e)
        for m in file.message_type:
            message(file.package, m)
    return out


def main():
    mine, spec = facts(ours()), facts(theirs())
    passed = failed = 0
    for what in sorted(mine.keys() | spec.keys()):
        if mine.get(what) == spec.get(what):
            passed += 1
            continue
        failed += 1
        print(f"FAIL {what}: runtime/onnx.proto {mine.get(what)}, onnx {onnx.__version__} {spec.get(what)}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
