# SPDX-License-Identifier: BSD-3-Clause
"""Result files as the tests see them: read, held against the schema, and easy to ask."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from fields import FIELDS, from_text, schema_of

SCHEMA = Path(__file__).resolve().parent.parent / "schemas" / "result-1.json"

Line = dict[str, Any]


@cache
def _validator() -> jsonschema.Draft202012Validator:
    """Its messages name the one alternative that was meant."""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def _is_valid() -> Callable[[Line], bool]:
    """By jsonschema-rs, which takes a twentieth of the time of jsonschema: a tenth of the time of
    all tests. An environment that is older than scripts/requirements-dev.txt may lack it."""
    try:
        import jsonschema_rs
    except ImportError:
        return lambda line: bool(_validator().is_valid(line))
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_text())).is_valid


@cache
def _are_fields(benchmark: str, figure: str) -> Callable[[Line], bool]:
    """Whether where and detail of a measurement, or of this figure, are as described; never if the
    figure is not."""
    try:
        import jsonschema_rs
    except ImportError:
        return lambda line: False
    known = _fields()[benchmark]
    if figure:
        known = next((f for f in known["figures"] if f["name"] == figure), {})
    if not known:
        return lambda line: False
    properties = {part: schema_of(known[part]) for part in ("where", "detail")}
    return jsonschema_rs.validator_for({"properties": properties}).is_valid


@cache
def _fields() -> Line:
    return from_text(FIELDS.read_text())


TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (dict,),
}


def _fault_of(value: Any, field: Line, shape: str) -> str:
    """What makes the value another than the field is described; empty if it is as described."""
    name = field["name"]
    if shape in ("list", "rows", "map"):
        if not isinstance(value, dict if shape == "map" else list):
            return f"{name}: no {shape}"
        inner: list[Any] = list(value.values() if isinstance(value, dict) else value)
        further = "list" if shape == "rows" else "one"
        return next((fault for v in inner if (fault := _fault_of(v, field, further))), "")
    types = TYPES[field["type"]]
    fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if not fits:
        return f"{name}: {value!r} is no {field['type']}"
    members: list[Line] = field.get("members", [])
    return fault_of_object(value, members, f"{name}.") if members else ""


def fault_of_object(value: Line, fields: list[Line], place: str = "") -> str:
    """The first member that is not described, is missing, or is of another type."""
    known = {field["name"]: field for field in fields}
    for name, inner in value.items():
        field = known.get(name)
        if field is None:
            return f"{place}{name} is not described"
        if inner is None:
            if not field.get("nullable"):
                return f"{place}{name} is null"
        elif fault := _fault_of(inner, field, field.get("shape", "one")):
            return f"{place}{fault}"
    missing = [f["name"] for f in fields if not f.get("sometimes") and f["name"] not in value]
    return f"{place}{missing[0]} is missing" if missing else ""


def fault_of_line(line: Line) -> str:
    """A member of a line that `effio-mpi describe results` (schemas/fields-1.json) knows not."""
    benchmark = str(line.get("benchmark"))
    known = _fields().get(benchmark)
    if known is None or line["kind"] not in ("measurement", "figure"):
        return ""
    if _are_fields(benchmark, line["name"] if line["kind"] == "figure" else "")(line):
        return ""
    if line["kind"] == "figure":
        figure = [f for f in known["figures"] if f["name"] == line["name"]]
        if not figure:
            return f"figure {line['name']} is not described"
        known = figure[0]
    parts = (fault_of_object(line[part], known[part], f"{part}.") for part in ("where", "detail"))
    return next((fault for fault in parts if fault), "")


def check_line(line: Line) -> None:
    """Holds one line against the schema and the fields of its benchmark; the message names the
    member at fault."""
    fault = fault_of_line(line)
    assert not fault, f"{fault}\nin {json.dumps(line)[:600]}"
    if _is_valid()(line):
        return
    error = jsonschema.exceptions.best_match(_validator().iter_errors(line))
    assert error is not None, f"jsonschema finds no fault in {json.dumps(line)[:600]}"
    raise AssertionError(f"{error.json_path}: {error.message}\nin {json.dumps(line)[:600]}")


@dataclass(frozen=True)
class Result:
    """A result file. `end` is None after a killed run; `torn` is an unfinished last line."""

    path: Path
    run: Line
    measurements: list[Line]
    figures: list[Line]
    end: Line | None
    torn: bytes

    @property
    def status(self) -> str | None:
        return None if self.end is None else str(self.end["status"])

    def rows(self, **where: object) -> list[Line]:
        """Measurements whose member, or member of `where`, has the value given: rows(row=3)."""

        def has(m: Line) -> bool:
            return all(m.get(k, m["where"].get(k)) == v for k, v in where.items())

        return [m for m in self.measurements if has(m)]

    def figure(self, name: str, **where: object) -> Line:
        """The one figure of that name and place."""
        found = [
            f
            for f in self.figures
            if f["name"] == name and all(f["where"].get(k) == v for k, v in where.items())
        ]
        assert len(found) == 1, f"{len(found)} figures {name} {where} in {self.path}"
        return found[0]


def load(path: Path) -> Result:
    """Reads a result file, holds each line against the schema, and the lines against each other:
    `run` first and once, numbers without gaps, nothing after `end`, at most the last line torn."""
    *whole, torn = path.read_bytes().split(b"\n")
    lines: list[Line] = [json.loads(text) for text in whole]
    for line in lines:
        check_line(line)
    kinds = [line["kind"] for line in lines]
    assert kinds[:1] == ["run"], f"{path} begins with {kinds[:1]}"
    assert kinds.count("run") == 1, f"{kinds.count('run')} run lines in {path}"
    assert "end" not in kinds[:-1], f"lines after the end line in {path}"
    numbers = [line["seq"] for line in lines]
    if numbers[-1] is None:  # written by another rank than the one that numbers lines
        assert kinds[-1] == "end"
        numbers.pop()
    assert numbers == list(range(len(numbers))), f"gaps in seq of {path}: {numbers}"
    return Result(
        path,
        lines[0],
        [line for line in lines if line["kind"] == "measurement"],
        [line for line in lines if line["kind"] == "figure"],
        lines[-1] if kinds[-1] == "end" else None,
        torn,
    )
