# SPDX-License-Identifier: BSD-3-Clause
"""Makes lines of handwritten results complete: a test gives the members that it is about, and every
other member that the engine always writes gets a fixed value."""

from __future__ import annotations

import json
import marshal
from functools import cache, lru_cache
from typing import Any

from fields import SCHEMA

Schema = dict[str, Any]

# Of members that a test does not give, by name. A name that is missing here gets the least value of
# its type, or null where the engine may write null.
USUAL: Schema = {
    # places of a measurement
    "access": "write",
    "block_bytes": 1 << 20,
    "call": "MPI_File_write_at",
    "calls": "independent",
    "chunk_bytes": 1 << 20,
    "edge": 64,
    "files": "shared",
    "hints": "default",
    "length_bytes": 1 << 20,
    "library": "posix",
    "pattern": "sequential",
    "phase": "File creation",
    "processes": 2,
    "ranks": 2,
    "segments": 1,
    "thing": "file",
    "transfer_bytes": 1 << 20,
    "workers": 2,
    # the frame of a line
    "better": "higher",
    "cause": "Input/output error",
    "count": 1,
    "directory": "/data",
    "host": "node01",
    "mount_point": "/",
    "nodes": 1,
    "operation": "write",
    "options": "rw",
    "repetition": 1,
    "source": "CLOCK_MONOTONIC",
    "status": "io_error",
    "step": 1,
    "stopped_by": "count",
    "total_bytes": 1 << 40,
    "free_bytes": 1 << 39,
    "total_inodes": 1000,
    "free_inodes": 900,
    "valid": True,
    "verdict": "unknown",
    # results
    "backend": "posix",
    "cap_bytes": 1 << 30,
    "cap_reason": "given by --max-bytes",
    "file": "/data/effio-file",
    "meaning": "as documented",
    "path": "/data/effio-file",
}


@cache
def _schema() -> Schema:
    return dict(json.loads(SCHEMA.read_text()))


def resolved(schema: Schema) -> Schema:
    while "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1].replace("%20", " ")
        schema = {**_schema()["$defs"][name], **{k: v for k, v in schema.items() if k != "$ref"}}
    return schema


def _holds(condition: Schema, line: Schema) -> bool:
    return all(line.get(name) == is_["const"] for name, is_ in condition["properties"].items())


def schema_of(line: Schema) -> Schema:
    """The schema of a line of this kind, with the members of its benchmark and figure."""
    schema = dict(_schema()["$defs"][line["kind"]])
    parts = list(_schema()["allOf"])
    while parts:
        part = parts.pop(0)
        if "if" in part and not _holds(part["if"], line):
            continue
        more = resolved(part.get("then", {}))
        schema["properties"] = {**schema["properties"], **more.get("properties", {})}
        parts += more.get("allOf", [])
    schema["properties"]["benchmark"] = {"type": "string"}
    return schema


def takes(schema: Schema, value: Any) -> bool:
    names = schema.get("type", "object")
    types: dict[str, Any] = {
        "null": type(None),
        "object": dict,
        "array": (list, tuple),
        "string": str,
        "boolean": bool,
    }
    found = [types.get(n, (int, float)) for n in ([names] if isinstance(names, str) else names)]
    return any(isinstance(value, one) for one in found)


def _usual(name: str, schema: Schema) -> Any:
    """The value of a member that is not given."""
    if name in USUAL and takes(schema, USUAL[name]):
        return USUAL[name]
    types = schema.get("type", "object")
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else schema["enum"][0]
    if "null" in types:
        return None
    if types == "object":
        return _whole(schema, {})
    least = {"array": [], "string": "", "boolean": False}
    return least.get(types, schema.get("minimum", 0))


def _member(name: str, schema: Schema, given: Schema) -> Any:
    schema = resolved(schema)
    choices = [resolved(one) for one in schema.get("anyOf", [schema])]
    if name not in given:
        empty = [one for one in choices if one.get("type") == "null"]
        return None if empty else _usual(name, choices[0])
    value = given[name]
    return _whole(next((one for one in choices if takes(one, value)), choices[0]), value)


def _whole(schema: Schema, value: Any) -> Any:
    schema = resolved(schema)
    if isinstance(value, (list, tuple)) and schema.get("type") == "array":
        return [_whole(schema.get("items", {}), one) for one in value]
    if not isinstance(value, dict) or not takes(schema, value):
        return value
    known, others = schema.get("properties", {}), schema.get("additionalProperties")
    missing = [name for name in schema.get("required", []) if name not in (*value, "seq")]
    its = {name: others if isinstance(others, dict) else {} for name in value} | known
    return {
        name: _member(name, its[name], value)
        for name in (*value, *missing)
        if name in value or name in known
    }


def completed(line: Schema) -> Schema:
    """The line with every member that the engine always writes. Members that the line has stay as
    they are, also those that no engine writes."""
    if not isinstance(line, dict) or line.get("kind") not in _schema()["$defs"]:
        return line
    return dict(fresh(_completed(kept(line))))


def kept(lines: Any) -> bytes:
    """Lines as bytes: equal lines are equal bytes, and the `fresh` lines of them may be changed.
    JSON would take five times as long, a tenth of the time of all tests of the driver."""
    return marshal.dumps(lines, 2)


def fresh(lines: bytes) -> Any:
    return marshal.loads(lines)


@lru_cache(10_000)
def _completed(line_kept: bytes) -> bytes:
    """Many tests use the same lines, and each may change its own."""
    line = fresh(line_kept)
    manifest = line.get("manifest")
    if isinstance(manifest, dict):
        place = {"directory": manifest.get("directory", USUAL["directory"])}
        files = [place | one for one in manifest.get("files", [])]
        line = line | {"manifest": manifest | {"files": files}}
    return kept(_whole(schema_of(line), line))
