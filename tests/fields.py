# SPDX-License-Identifier: BSD-3-Clause
"""schemas/fields-1.json: every member of result files, as `effio-mpi describe results` prints them.
A list of fields that occurs several times is in the file once, under `tables`.

    python tests/fields.py ENGINE > schemas/fields-1.json      makes it new
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FIELDS = Path(__file__).resolve().parent.parent / "schemas" / "fields-1.json"
SHORTEST = 3  # a table of fewer fields stays where it is


def described_by(engine: Path) -> dict[str, Any]:
    done = subprocess.run(
        [engine, "describe", "results"], capture_output=True, text=True, timeout=60, check=True
    )
    return dict(json.loads(done.stdout))


def _lists(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _lists(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _lists(inner)
        if len(value) >= SHORTEST:
            yield json.dumps(value)


def as_text(described: dict[str, Any]) -> str:
    """As the file has it: a line for each field that holds no table."""
    often = [text for text, number in Counter(_lists(described)).items() if number > 1]
    names = {text: f"table-{number}" for number, text in enumerate(often, 1)}

    def short(value: Any, itself: bool = False) -> Any:
        if isinstance(value, dict):
            return {key: short(inner) for key, inner in value.items()}
        if not isinstance(value, list):
            return value
        name = None if itself else names.get(json.dumps(value))
        return name or [short(inner) for inner in value]

    tables = {name: short(json.loads(text), True) for text, name in names.items()}
    benchmarks = {name: short(inner) for name, inner in described.items()}
    return _pretty({"tables": tables, "benchmarks": benchmarks}) + "\n"


def _pretty(value: Any, indent: str = "") -> str:
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list) or not any(isinstance(v, dict | list) for v in inner):
        return json.dumps(value)
    further = indent + " "
    if isinstance(value, list):
        lines = [_pretty(v, further) for v in value]
        return f"[\n{further}" + f",\n{further}".join(lines) + f"\n{indent}]"
    lines = [f"{json.dumps(name)}: {_pretty(v, further)}" for name, v in value.items()]
    return f"{{\n{further}" + f",\n{further}".join(lines) + f"\n{indent}}}"


def from_text(text: str) -> dict[str, Any]:
    """The description that `as_text` was given."""
    stored = json.loads(text)

    def whole(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: whole(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [whole(inner) for inner in value]
        if key in ("where", "detail", "setup", "members", "figures") and isinstance(value, str):
            return whole(stored["tables"][value])
        return value

    return dict(whole(stored["benchmarks"]))


def schema_of(fields: list[dict[str, Any]]) -> dict[str, Any]:
    """The JSON Schema of an object with these fields and no others."""

    def of_field(field: dict[str, Any]) -> dict[str, Any]:
        members = field.get("members")
        one = schema_of(members) if members else {"type": field["type"]}
        shape = field.get("shape", "one")
        if shape in ("list", "rows"):
            one = {"type": "array", "items": one}
        if shape == "rows":
            one = {"type": "array", "items": one}
        if shape == "map":
            one = {"type": "object", "additionalProperties": one}
        return {"anyOf": [one, {"type": "null"}]} if field.get("nullable") else one

    return {
        "type": "object",
        "properties": {field["name"]: of_field(field) for field in fields},
        "required": [field["name"] for field in fields if not field.get("sometimes")],
        "additionalProperties": False,
    }


def filled(fields: list[dict[str, Any]], given: dict[str, Any]) -> dict[str, Any]:
    """An object as the engine writes it, for results made by hand: with the members given, and of
    the others those that are always there, without a value or with the least. A member that the
    engine does not write is refused."""
    unknown = set(given) - {field["name"] for field in fields}
    assert not unknown, f"the engine writes no {', '.join(sorted(unknown))}"

    def least(field: dict[str, Any]) -> Any:
        shape = field.get("shape", "one")
        if field.get("nullable"):
            return None
        if shape != "one":
            return {} if shape == "map" else []
        if "members" in field:
            return filled(field["members"], {})
        return {"string": "", "boolean": False, "object": {}}.get(field["type"], 0)

    return {
        field["name"]: given[field["name"]] if field["name"] in given else least(field)
        for field in fields
        if field["name"] in given or not field.get("sometimes")
    }


def main() -> None:
    sys.stdout.write(as_text(described_by(Path(sys.argv[1]))))


if __name__ == "__main__":
    main()
