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

from fields import SCHEMA

Line = dict[str, Any]


@cache
def _validator() -> jsonschema.Draft202012Validator:
    """Its messages name the one alternative that was meant."""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def _is_valid() -> Callable[[Line], bool]:
    """Validates with jsonschema-rs, which takes a twentieth of the time of jsonschema: a tenth of
    the time of all tests. An environment that is older than scripts/requirements-dev.txt may lack
    it."""
    try:
        import jsonschema_rs
    except ImportError:
        return lambda line: bool(_validator().is_valid(line))
    return jsonschema_rs.validator_for(json.loads(SCHEMA.read_text())).is_valid


def is_valid_line(line: Line) -> bool:
    """Whether the schema takes the line. To name the member at fault takes a hundred times as
    long."""
    return _is_valid()(line)


def fault_of_line(line: Line) -> str:
    """The member that the schema refuses, and why; empty where it takes the line."""
    if is_valid_line(line):
        return ""
    error = jsonschema.exceptions.best_match(_validator().iter_errors(line))
    assert error is not None, f"jsonschema finds no fault in {json.dumps(line)[:600]}"
    return f"{error.json_path}: {error.message}"


def check_line(line: Line) -> None:
    """Holds one line against the schema; the message names the member at fault."""
    fault = fault_of_line(line)
    assert not fault, f"{fault}\nin {json.dumps(line)[:600]}"


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
