#!/usr/bin/env python3
"""Writes ops/schema.inc and ops/schema_bodies.inc: what ONNX allows, every operator, every version; and
ops/schema_ms.inc: the operators of com.microsoft, from onnxruntime's own list.

    tools/gen_schema.py            write the files
    tools/gen_schema.py --check    exit 1 if the files are not what would be written

The sources are the packages of the versions below, so the files change only when a version or this program does.
Their C types are in runtime/schema_types.h.
"""

import argparse
import itertools
import json
import pathlib
import re
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
from onnx import defs, helper
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

ONNX_VERSION = "1.23.2"
ONNXRUNTIME_VERSION = "1.32.0"
OPS = pathlib.Path(__file__).resolve().parents[1] / "ops"
WIDTH = 120

# The order of mr_map_type in runtime/schema_types.h.
MAP_TYPES = [
    ("int64", "string"),
    ("int64", "float"),
    ("int64", "double"),
    ("string", "int64"),
    ("string", "float"),
    ("string", "double"),
]
ELEMENT_FIELDS = {
    "": "tensor",
    "seq": "seq",
    "optional": "opt",
    "optional seq": "opt_seq",
    "sparse": "sparse",
}
MAP_FIELDS = {"": "map", "seq": "seq_map"}
INT_MAX = 2**31 - 1


# Types ---------------------------------------------------------------------------------------------------------------


def parse_type(text):
    """(field of mr_typeset, bit, the element type in words) of a type as schemas write it."""
    outer, inner = [], text.replace(" ", "")
    while m := re.fullmatch(r"(seq|optional)\((.*)\)", inner):
        outer.append(m[1])
        inner = m[2]
    if m := re.fullmatch(r"map\((\w+),(?:tensor\()?(\w+?)\)+", inner):
        return MAP_FIELDS[" ".join(outer)], MAP_TYPES.index((m[1], m[2])), f"map({m[1]},{m[2]})"
    m = re.fullmatch(r"(sparse_)?tensor\((\w+)\)", inner)
    if m[1]:
        outer.append("sparse")
    return ELEMENT_FIELDS[" ".join(outer)], onnx.TensorProto.DataType.Value(m[2].upper()), m[2]


class TypeSets:
    """The distinct sets of types, each a macro TYPES_n, since C has no constant of a struct to initialize from."""

    FIELDS = [*ELEMENT_FIELDS.values(), *MAP_FIELDS.values()]

    def __init__(self, prefix="TYPES"):
        self.prefix = prefix
        self.names = {}
        self.lines = []

    def name(self, types):
        bits = dict.fromkeys(self.FIELDS, 0)
        words = {field: {} for field in self.FIELDS}
        for field, bit, word in map(parse_type, types):
            bits[field] |= 1 << bit
            words[field][bit] = word
        key = tuple(bits.values())
        if key not in self.names:
            self.names[key] = f"{self.prefix}_{len(self.names)}"
            self.define(self.names[key], bits, words)
        return self.names[key]

    def define(self, name, bits, words):
        used = [f for f in self.FIELDS if bits[f]]
        said = {f: " ".join(word for _, word in sorted(words[f].items())) for f in used}
        # Most sets of sequences or optionals have the elements of the tensors beside them: say these once.
        first_with = {text: f for f, text in reversed(said.items())}
        text = "; ".join(f"{f}: {said[f] if first_with[said[f]] == f else 'as ' + first_with[said[f]]}" for f in used)
        value = ", ".join(f".{f} = {bits[f]:#x}" for f in used)
        self.lines += wrap("/* ", text.removeprefix("tensor: ").split(" "), " ", " */", "   ")
        self.lines.append(f"#define {name} {{{value}}}")


# C text --------------------------------------------------------------------------------------------------------------


def wrap(head, pieces, joint, tail, indent):
    """Lines of head, the pieces and tail, broken between pieces where they would be too long."""
    lines, line = [], head
    for i, piece in enumerate(pieces):
        last = i == len(pieces) - 1
        piece += tail if last else joint
        if i and len((line + piece).rstrip()) > WIDTH:
            lines.append(line.rstrip())
            line = indent
        line += piece
    return [*lines, line]


def c_string(text):
    return json.dumps(text)


def c_float(x):
    text = str(np.float32(x))
    return (text if re.search(r"[.e]", text) else text + ".0") + "f"


def c_bool(x):
    return "true" if x else "false"


def c_count(n):
    return "INT_MAX" if n == INT_MAX else str(n)


def c_bytes(data):
    """The lines of a C string. Octal escapes end after three digits, so what follows them needs no care."""
    plain = set(range(0x20, 0x7F)) - set(b'"\\?')  # ? could begin a trigraph
    lines, line = [], ""
    for piece in (chr(b) if b in plain else f"\\{b:03o}" for b in data):
        if len(line + piece) > WIDTH - 7:
            lines.append(line)
            line = ""
        line += piece
    return [f'    "{text}"' for text in [*lines, line]]


class Tables:
    """Static arrays; versions of an operator whose rows are equal share one, named after the first of them."""

    def __init__(self):
        self.names = {}
        self.lines = []

    def table(self, schema, ctype, what, rows):
        """The fields of mr_schema that point to these rows."""
        if not rows:
            return None
        key = (schema.domain, schema.name, what, tuple(rows))
        if key not in self.names:
            family = "ms_" if schema.domain == "com.microsoft" else ""
            self.names[key] = f"{family}{schema.name}_{schema.since_version}_{what}"
            head = f"static const {ctype} {self.names[key]}[] = {{"
            line = head + ", ".join(rows) + "};"
            if len(line) <= WIDTH:
                self.lines.append(line)
            else:
                wrapped = (wrap("    ", row.split(", "), ", ", ",", "     ") for row in rows)
                self.lines += [head, *itertools.chain(*wrapped), "};"]
        return f".{what} = {self.names[key]}, .n_{what} = {len(rows)}"


# Schemas -------------------------------------------------------------------------------------------------------------


def param_row(param, variables, sets):
    var = variables.index(param.type_str) if param.type_str in variables else -1
    return "{%s, %s, %d, %s, MR_PARAM_%s, %s, %d}" % (
        c_string(param.name),
        c_string(param.type_str),
        var,
        sets.name(param.types),
        param.option.name.upper(),
        c_bool(param.is_homogeneous),
        param.min_arity,
    )


def var_row(constraint, sets):
    return "{%s, %s}" % (c_string(constraint.type_param_str), sets.name(constraint.allowed_type_strs))


def default_fields(default):
    """The fields of mr_schema_attr that hold a default. Kinds without a case here have none in ONNX."""
    value = helper.get_attribute_value(default)
    kinds = onnx.AttributeProto
    if default.type == kinds.INT:
        return [f".i = {value}"]
    if default.type == kinds.FLOAT:
        return [f".f = {c_float(value)}"]
    if default.type == kinds.STRING:
        return [f".s = {c_string(value.decode())}"]
    if default.type == kinds.INTS:
        return [".ints = (const int64_t[]){%s}" % ", ".join(map(str, value)), f".n = {len(value)}"]
    if default.type == kinds.FLOATS:
        return [".floats = (const float[]){%s}" % ", ".join(map(c_float, value)), f".n = {len(value)}"]
    if default.type == kinds.STRINGS:
        strings = ", ".join(c_string(s.decode()) for s in value)
        return [".strings = (const char *const[]){%s}" % strings, f".n = {len(value)}"]
    raise SystemExit(f"no C form for a default of kind {kinds.AttributeType.Name(default.type)}")


def attr_row(attr):
    fields = [f".name = {c_string(attr.name)}", f".kind = ATTR_{attr.type.name}"]
    if attr.required:
        fields.append(".required = true")
    if attr.default_value.type:
        fields += [".has_default = true", *default_fields(attr.default_value)]
    return "{%s}" % ", ".join(fields)


def body_data(schema, opset):
    body = onnx.FunctionProto.FromString(schema.get_function_with_opset_version(opset))
    body.ClearField("doc_string")
    return body.SerializeToString(deterministic=True)


def body_rows(schema, bodies):
    rows = []
    for opset in sorted(schema.function_opset_versions):
        data = body_data(schema, opset)
        name = f"{schema.name}_{schema.since_version}_body_{opset}"
        bodies += [f"static const unsigned char {name}[] =", *c_bytes(data)]
        bodies[-1] += ";"
        rows.append("{%d, %s, %d}" % (opset, name, len(data)))
    return rows


def successor(schema):
    """The operator that took the place of a deprecated one; "" when it is none, or a later version of itself."""
    said = re.search(r"DEPRECATED\. Please use (\w+)", schema.doc or "", re.IGNORECASE) if schema.deprecated else None
    if said:
        return said.group(1)
    # The text of Upsample-10 is silent; ONNX's own converter from 9 to 10 writes a Resize.
    return "Resize" if schema.deprecated and schema.name == "Upsample" else ""


def schema_row(schema, sets, tables, bodies):
    variables = [c.type_param_str for c in schema.type_constraints]
    fields = [
        f".name = {c_string(schema.name)}",
        f".domain = {c_string(schema.domain)}",
        f".since = {schema.since_version}",
        ".deprecated = true" if schema.deprecated else None,
        f".successor = {c_string(successor(schema))}" if successor(schema) else None,
        f".min_in = {schema.min_input}",
        f".max_in = {c_count(schema.max_input)}",
        f".min_out = {schema.min_output}",
        f".max_out = {c_count(schema.max_output)}",
        tables.table(schema, "mr_schema_param", "in", [param_row(p, variables, sets) for p in schema.inputs]),
        tables.table(schema, "mr_schema_param", "out", [param_row(p, variables, sets) for p in schema.outputs]),
        tables.table(schema, "mr_schema_attr", "attrs", [attr_row(a) for _, a in sorted(schema.attributes.items())]),
        tables.table(schema, "mr_schema_var", "vars", [var_row(c, sets) for c in schema.type_constraints]),
        tables.table(schema, "mr_schema_body", "bodies", body_rows(schema, bodies)),
        ".context_body = true" if schema.has_context_dependent_function else None,
        # "Unknown" is said of operators whose text leaves nothing to chance: it is a missing declaration.
        ".non_deterministic = true" if schema.node_determinism.name == "NonDeterministic" else None,
    ]
    return wrap("    {", ", ".join(f for f in fields if f).split(", "), ", ", "},", "     ")


# com.microsoft -------------------------------------------------------------------------------------------------------


class RuntimeSchema:
    """A schema of onnxruntime with the properties of onnx's OpSchema that are read here; no bodies."""

    function_opset_versions = ()
    has_context_dependent_function = False
    node_determinism = SimpleNamespace(name="Unknown")

    def __init__(self, schema):
        self.schema = schema
        types = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        self.inputs = [self.param(p, types) for p in schema.inputs]
        self.outputs = [self.param(p, types) for p in schema.outputs]
        self.attributes = {name: self.attr(a) for name, a in schema.attributes.items()}

    def __getattr__(self, name):
        return getattr(self.schema, name)

    @staticmethod
    def param(p, types):
        return SimpleNamespace(
            name=p.name,
            type_str=p.typeStr,
            types=types.get(p.typeStr, [p.typeStr]),
            option=SimpleNamespace(name=p.option.name),
            is_homogeneous=p.isHomogeneous,
            min_arity=1 if p.option.name == "Variadic" else 0,
        )

    @staticmethod
    def attr(a):
        default = onnx.AttributeProto.FromString(a._default_value)
        return SimpleNamespace(name=a.name, type=a.type, required=a.required, default_value=default)


def generate_ms():
    """Tables, then (with MR_SCHEMA_ROWS) the rows, which stand behind those of onnx in one sorted array."""
    schemas = [RuntimeSchema(s) for s in get_all_operator_schema() if s.domain == "com.microsoft"]
    schemas.sort(key=lambda s: (s.name, s.since_version))
    sets, tables = TypeSets("MS_TYPES"), Tables()
    rows = [schema_row(s, sets, tables, []) for s in schemas]
    note = f"Generated by tools/gen_schema.py from onnxruntime {onnxruntime.__version__}: change that program, not this file."
    return [
        f"/* {note} */",
        "/* clang-format off */",
        "",
        "#ifndef MR_SCHEMA_ROWS",
        *sets.lines,
        "",
        *tables.lines,
        "#else",
        *itertools.chain(*rows),
        "#endif",
    ]


def release_row(version, ir, opset, opset_ml, *_):
    return "    {%s, %d, %d, %d}," % (c_string(version), ir, opset, opset_ml)


def generate():
    """{path: text} of the generated files."""
    schemas = sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version))
    note = f"Generated by tools/gen_schema.py from onnx {onnx.__version__}: change that program, not this file."
    sets, tables, bodies = TypeSets(), Tables(), []
    rows = [schema_row(s, sets, tables, bodies) for s in schemas]
    domains = [*sorted((d, *versions) for d, versions in defs.C.schema_version_map().items()), ("com.microsoft", 1, 1)]
    kinds = sorted((k.value, name) for name, k in defs.OpSchema.AttrType.__members__.items())
    text = [
        f"/* {note} */",
        "/* clang-format off */",
        "",
        *wrap("enum { ", [f"ATTR_{name} = {number}" for number, name in kinds], ", ", " };", "       "),
        "",
        *sets.lines,
        "",
        *tables.lines,
        "",
        '#include "schema_ms.inc"',
        "",
        "const mr_schema mr_schemas[] = {",
        *itertools.chain(*rows),
        "#define MR_SCHEMA_ROWS",
        '#include "schema_ms.inc"',
        "};",
        "",
        "const mr_schema_domain mr_schema_domains[] = {",
        *("    {%s, %d, %d}," % (c_string(d), low, high) for d, low, high in domains),
        "};",
        "",
        "const mr_onnx_release mr_onnx_releases[] = {",
        *(release_row(*r) for r in helper.VERSION_TABLE),
        "};",
        "",
        f"const int mr_onnx_max_ir = {onnx.IR_VERSION};",
    ]
    head = [f"/* {note}", "   Function bodies: serialized FunctionProto. */", "/* clang-format off */", ""]
    return {
        OPS / "schema.inc": "\n".join(text) + "\n",
        OPS / "schema_bodies.inc": "\n".join(head + bodies) + "\n",
        OPS / "schema_ms.inc": "\n".join(generate_ms()) + "\n",
    }


def main():
    parser = argparse.ArgumentParser(description="Write ops/schema.inc, ops/schema_bodies.inc and ops/schema_ms.inc.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the files are not current")
    check = parser.parse_args().check
    found = (onnx.__version__, onnxruntime.__version__)
    if found != (ONNX_VERSION, ONNXRUNTIME_VERSION):
        raise SystemExit(f"gen_schema.py: needs onnx {ONNX_VERSION} and onnxruntime {ONNXRUNTIME_VERSION}, found {found}")
    stale = []
    for path, text in generate().items():
        if check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        elif not check:
            path.write_text(text)
    if stale:
        print(f"gen_schema.py: not current: {', '.join(stale)}; run tools/gen_schema.py", file=sys.stderr)
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
