# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark adds to a line under `detail` or under its own name, typed by the engine's
description (schemas/fields-1.json). A member of another type than described counts as missing, so
that no caller has to check."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from effio.engine.discover import checkout
from effio.store.records import MAX_NUMBER, MAX_TEXT, Figure, Measurement, Run

Field = Mapping[str, Any]
Fields = Mapping[str, Field]

_STORED = "schemas/fields-1.json"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) <= MAX_NUMBER else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and _number(value) is not None else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else None


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


_TYPES: Mapping[str, Callable[[object], Any]] = {
    "number": _number,
    "integer": _integer,
    "string": _text,
    "boolean": _boolean,
    "object": _object,
}


class Members:
    """The described members of an object as attributes. One that is missing is None, an empty text,
    list or dictionary, or empty `Members`: all of them are false. A name that no description has is
    an AttributeError."""

    __slots__ = ("_fields", "_values")

    def __init__(self, values: object, fields: Fields) -> None:
        self._values = values if isinstance(values, dict) else {}
        self._fields = fields

    def __bool__(self) -> bool:
        return bool(self._values)

    def __getattr__(self, name: str) -> Any:
        field = self._fields.get(name)
        if field is None:
            raise AttributeError(f"the engine describes no member {name}")
        return _read(field, self._values.get(name))

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields}


def _one(field: Field, value: object) -> Any:
    """A value as its field describes it; None if it is of another type."""
    known = _TYPES[field["type"]](value)
    if known is not None and field.get("unit") == "s" and known < 0:
        return None  # all described times are durations
    if known is None or "members" not in field:
        return known
    return Members(known, _fields(field["members"]))


def _each(field: Field, value: object) -> Iterator[Any]:
    for one in value if isinstance(value, list) else []:
        yield _one(field, one)


def _read(field: Field, value: object) -> Any:
    shape = field.get("shape", "one")
    if shape == "map":
        values = value if isinstance(value, dict) else {}
        known = {name: _one(field, one) for name, one in values.items()}
        return {name: one for name, one in known.items() if one is not None}
    if shape == "rows":
        rows = [list(_each(field, row)) for row in (value if isinstance(value, list) else [])]
        return [row for row in rows if None not in row]
    if shape == "list":
        # The position of a number matters: a wrong number stays as None.
        keep = field["type"] in ("number", "integer", "boolean")
        return [one for one in _each(field, value) if keep or one is not None]
    found = _one(field, value)
    if found is not None:
        return found
    if "members" in field:
        return Members(None, _fields(field["members"]))
    return {"string": "", "object": {}}.get(field["type"])


def _by_name(value: Any) -> Any:
    """Lists of fields and figures as dictionaries by name."""
    if isinstance(value, dict):
        return {name: _by_name(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return {one["name"]: _by_name(one) for one in value}
    return value


@cache
def _description() -> Any:
    """In the checkout, or inside the installed package."""
    root = checkout() or Path(__file__).resolve().parents[1]
    return _by_name(json.loads((root / _STORED).read_text(encoding="utf-8")))


def _fields(described: str | Fields) -> Fields:
    """A table of fields, which a description holds itself or by its name."""
    if isinstance(described, str):
        table: Fields = _description()["tables"][described]
        return table
    return described


@cache
def _all_fields() -> Fields:
    """The fields of all benchmarks together, for benchmarks that the description does not have."""
    found: dict[str, Field] = {}
    for info in _description()["benchmarks"].values():
        for one in (info, *_fields(info["figures"]).values()):
            found = {**_fields(one["detail"]), **found}
    return found


@cache
def _detail(benchmark: str, figure: str) -> Fields:
    """The fields of a figure's `detail`; without a name those of measurements."""
    info = _description()["benchmarks"].get(benchmark)
    own = _fields(info["figures"]).get(figure) if info is not None and figure else info
    return {**_all_fields(), **(_fields(own["detail"]) if own is not None else {})}


def members_of(record: Measurement | Figure | None) -> Members:
    """The `detail` of a record; without a record every member is missing."""
    if record is None:
        return Members(None, _all_fields())
    name = record.name if isinstance(record, Figure) else ""
    return Members(record.detail, _detail(record.benchmark, name))


@cache
def _of_run(member: str) -> Fields:
    found: dict[str, Field] = {}
    for info in _description()["benchmarks"].values():
        for field in _fields(info["run"]).values():
            if field["name"] == member:
                found = {**_fields(field.get("members", {})), **found}
    return found


def run_members(run: Run, member: str) -> Members:
    """What a benchmark adds to the run line under this name."""
    return Members(run.extra.get(member), _of_run(member))
