# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark adds to a line under `detail` or under its own name, typed by the engine's
description (schemas/fields-1.json). A member of another type than described counts as missing, so
that no caller has to check."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from effio.shipped import shipped_with_effio
from effio.store.records import Figure, Measurement, Run
from effio.store.values import MAX_NUMBER, MAX_TEXT

Field = Mapping[str, Any]
Fields = Mapping[str, Field]
# What makes a value of what the file has for a member.
Read = Callable[[object], Any]

_STORED = "schemas/fields-1.json"


def _number(value: object) -> float | None:
    # As values.as_number; a whole number stays one.
    if type(value) is not int and type(value) is not float:
        return None
    return value if -MAX_NUMBER <= value <= MAX_NUMBER else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and _number(value) is not None else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else None


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _object(value: object) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


_TYPES: Mapping[str, Read] = {
    "number": _number,
    "integer": _integer,
    "string": _text,
    "boolean": _boolean,
    "object": _object,
}


class Readers(dict[str, Read]):
    """Reads the members of an object by their names; each reader is made when it is first used."""

    def __init__(self, fields: Fields) -> None:
        super().__init__()
        self.fields = fields

    def __missing__(self, name: str) -> Read:
        field = self.fields.get(name)
        if field is None:
            raise AttributeError(f"the engine describes no member {name}")
        self[name] = _reader(field)
        return self[name]


class Members:
    """The described members of an object as attributes. One that is missing is None, an empty text,
    list or dictionary, or empty `Members`: all of them are false. A name that no description has is
    an AttributeError."""

    __slots__ = ("_readers", "_values")

    def __init__(self, values: Mapping[str, Any], readers: Readers) -> None:
        self._values = values
        self._readers = readers

    def __bool__(self) -> bool:
        return bool(self._values)

    def __getattr__(self, name: str) -> Any:
        return self._readers[name](self._values.get(name))

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._readers.fields}


def _duration(value: object) -> float | None:
    """All described times are durations."""
    known = _number(value)
    return known if known is None or known >= 0 else None


def _one(field: Field) -> Read:
    """Reads a value as its field describes it: None if it is of another type."""
    if "members" in field:
        readers = _readers_of(field["members"])
        return lambda value: Members(value, readers) if isinstance(value, dict) else None
    if field.get("unit") == "s" and field["type"] == "number":
        return _duration
    return _TYPES[field["type"]]


def _reader(field: Field) -> Read:
    """Reads a member: a value, or a list, rows or a map of them."""
    one = _one(field)
    shape = field.get("shape", "one")
    # The position of a number matters: a wrong number stays as None.
    keep = field["type"] in ("number", "integer", "boolean")
    missing = {"string": "", "object": {}}.get(field["type"])
    if "members" in field:
        readers = _readers_of(field["members"])
        missing = Members({}, readers)

    def of_map(value: object) -> Any:
        known = {n: one(v) for n, v in value.items()} if isinstance(value, dict) else {}
        return {name: v for name, v in known.items() if v is not None}

    def of_rows(value: object) -> Any:
        rows = [of_list(row) for row in value] if isinstance(value, list) else []
        return [row for row in rows if None not in row]

    def of_list(value: object) -> Any:
        found = [one(v) for v in value] if isinstance(value, list) else []
        return found if keep or shape == "rows" else [v for v in found if v is not None]

    def of_one(value: object) -> Any:
        found = one(value)
        return missing if found is None else found

    if shape == "one" and missing is None:
        return one
    if shape == "one" and "members" in field:  # by far the most often read
        return lambda value: Members(value, readers) if isinstance(value, dict) else missing
    return {"map": of_map, "rows": of_rows, "list": of_list, "one": of_one}[shape]


def _by_name(value: Any) -> Any:
    """Lists of fields and figures as dictionaries by name."""
    if isinstance(value, dict):
        return {name: _by_name(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return {one["name"]: _by_name(one) for one in value}
    return value


@cache
def _description() -> Any:
    return _by_name(json.loads(shipped_with_effio(_STORED).read_text(encoding="utf-8")))


def _fields(described: str | Fields) -> Fields:
    """A table of fields, which a description holds itself or by its name."""
    if isinstance(described, str):
        table: Fields = _description()["tables"][described]
        return table
    return described


@cache
def _readers_of_table(name: str) -> Readers:
    return Readers(_fields(name))


def _readers_of(described: str | Fields) -> Readers:
    return _readers_of_table(described) if isinstance(described, str) else Readers(described)


@cache
def _all_fields() -> Fields:
    """The fields of all benchmarks together, for benchmarks that the description does not have."""
    found: dict[str, Field] = {}
    for info in _description()["benchmarks"].values():
        for one in (info, *_fields(info["figures"]).values()):
            found = {**_fields(one["detail"]), **found}
    return found


@cache
def _detail(benchmark: str, figure: str) -> Readers:
    """The readers of a figure's `detail`; without a name, of that of measurements."""
    info = _description()["benchmarks"].get(benchmark)
    own = _fields(info["figures"]).get(figure) if info is not None and figure else info
    return Readers({**_all_fields(), **(_fields(own["detail"]) if own is not None else {})})


def having(some: Iterable[Measurement], member: str) -> list[Measurement]:
    """Those whose `detail` has something for this member. Of very many measurements most members
    are missing, and this is quicker than to read each."""
    return [m for m in some if m.detail.get(member)]


def members_of(record: Measurement | Figure | None) -> Members:
    """The `detail` of a record; without a record every member is missing."""
    if record is None:
        return Members({}, _detail("", ""))
    name = record.name if isinstance(record, Figure) else ""
    return Members(record.detail, _detail(record.benchmark, name))


@cache
def _of_run(member: str) -> Readers:
    found: dict[str, Field] = {}
    for info in _description()["benchmarks"].values():
        for field in _fields(info["run"]).values():
            if field["name"] == member:
                found = {**_fields(field.get("members", {})), **found}
    return Readers(found)


def run_members(run: Run, member: str) -> Members:
    """What a benchmark adds to the run line under this name."""
    value = run.extra.get(member)
    return Members(value if isinstance(value, dict) else {}, _of_run(member))
