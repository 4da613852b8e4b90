# SPDX-License-Identifier: BSD-3-Clause
"""What `effio-mpi describe results` says of every member of a result, as files that people and
programs read: schemas/fields-1.json, the JSON Schema of results, and tables of members in docs/.

    python tests/fields.py ENGINE      writes all of them
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fields_pages
from patience import SECONDS

Info = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
FIELDS = ROOT / "schemas" / "fields-1.json"
SCHEMA = ROOT / "schemas" / "result-1.json"
# What lines have in common, which is written manually.
FRAME = ROOT / "schemas" / "result-1.frame.json"
SHORTEST = 3  # a table of fewer fields stays where it is
PARTS = ("where", "detail", "run", "members", "figures", "plan")


def described_by(engine: Path, *what: str) -> Info:
    """What `effio-mpi describe` says, of results if nothing else is named."""
    command = [engine, "describe", *(what or ["results"])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
    return dict(json.loads(done.stdout))


def purposes_by(engine: Path) -> dict[str, str]:
    """What each benchmark is for."""
    done = subprocess.run(
        [engine, "list"], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return {name: described_by(engine, name)["purpose"] for name in done.stdout.split()}


def _lists(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Each table of fields as text, with the name of what has these fields."""
    if isinstance(value, dict):
        own = value.get("name", name)
        for key, inner in value.items():
            at = own if key in ("members", "figures") else f"{own}_{key}"
            yield from _lists(inner, at if isinstance(inner, list) else key)
    elif isinstance(value, list):
        for inner in value:
            yield from _lists(inner, name)
        if len(value) >= SHORTEST:
            yield json.dumps(value), name


def shared_tables(described: Info) -> dict[str, str]:
    """The name of each table, as text, that occurs several times: of what most often has it."""
    names: dict[str, Counter[str]] = defaultdict(Counter)
    for benchmark, info in described.items():
        for text, name in _lists(info, "measurement"):
            of_benchmark = name.removeprefix(benchmark.replace("-", "_") + "_")
            names[text][name if of_benchmark == name else f"headline_{of_benchmark}"] += 1
    taken: Counter[str] = Counter()
    tables = {}
    for text, of in names.items():
        if of.total() < 2:
            continue
        name = of.most_common(1)[0][0]
        taken[name] += 1
        tables[text] = name if taken[name] == 1 else f"{name}_{taken[name]}"
    return tables


def as_text(described: Info) -> str:
    """The fields as fields-1.json has them: a line for each field that holds no table."""
    names = shared_tables(described)

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
        return json.dumps(value, ensure_ascii=False)
    further = indent + " "
    if isinstance(value, list):
        lines = [_pretty(v, further) for v in value]
        return f"[\n{further}" + f",\n{further}".join(lines) + f"\n{indent}]"
    lines = [f"{json.dumps(name)}: {_pretty(v, further)}" for name, v in value.items()]
    return f"{{\n{further}" + f",\n{further}".join(lines) + f"\n{indent}}}"


def from_text(text: str) -> Info:
    """The description that `as_text` was given."""
    stored = json.loads(text)

    def whole(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: whole(inner, name) for name, inner in value.items()}
        if isinstance(value, list):
            return [whole(inner) for inner in value]
        if key in PARTS and isinstance(value, str):
            return whole(stored["tables"][value])
        return value

    return dict(whole(stored["benchmarks"]))


class Schema:
    """The JSON Schema of result files: the frame, and for each benchmark its own members."""

    def __init__(self, described: Info, frame: Info) -> None:
        in_results = {
            benchmark: {part: value for part, value in info.items() if part != "plan"}
            for benchmark, info in described.items()
        }
        self._names = shared_tables(in_results)
        self._schema = json.loads(json.dumps(frame))
        self._run_members = sorted(frame["$defs"]["run"]["properties"])
        for text, name in self._names.items():
            fields = json.loads(text)
            if fields and "detail" not in fields[0]:  # no list of figures
                self._schema["$defs"][f"fields {name}"] = self.object_of(fields)
        for benchmark, info in described.items():
            self._schema["$defs"][f"lines of {benchmark}"] = self._lines(benchmark, info)
            self._schema["allOf"].append(
                _if("benchmark", benchmark, {"$ref": f"#/$defs/lines%20of%20{benchmark}"})
            )

    def text(self) -> str:
        return _pretty(self._schema) + "\n"

    def _lines(self, benchmark: str, info: Info) -> Info:
        figures = info["figures"]
        run = {
            "propertyNames": {"enum": [*self._run_members, *(f["name"] for f in info["run"])]},
            # None is required: a run that is refused ends before it is set up.
            "properties": {f["name"]: self._field(f) for f in info["run"]},
        }
        of_figures = [
            _if(
                "name", f["name"], {"properties": {**self._parts(f), "metric": _in_unit(f["unit"])}}
            )
            for f in figures
        ]
        names = {"properties": {"name": {"enum": [f["name"] for f in figures]}}}
        return {
            "allOf": [
                _if("kind", "run", run),
                _if("kind", "measurement", {"properties": self._parts(info)}),
                _if("kind", "figure", {**names, "allOf": of_figures}),
            ]
        }

    def _parts(self, info: Info) -> Info:
        return {part: self._of(info[part]) for part in ("where", "detail")}

    def _of(self, fields: list[Info]) -> Info:
        """The schema of an object with these fields, or where it stands."""
        name = self._names.get(json.dumps(fields))
        return {"$ref": f"#/$defs/fields%20{name}"} if name else self.object_of(fields)

    def object_of(self, fields: list[Info]) -> Info:
        return {
            "type": "object",
            "properties": {field["name"]: self._field(field) for field in fields},
            "required": [field["name"] for field in fields if not field.get("sometimes")],
            "additionalProperties": False,
        }

    def _field(self, field: Info) -> Info:
        members = field.get("members")
        one = self._of(members) if members else {"type": field["type"]}
        shape = field.get("shape", "one")
        if shape in ("list", "rows"):
            one = {"type": "array", "items": one}
        if shape == "rows":
            one = {"type": "array", "items": one}
        if shape == "map":
            one = {"type": "object", "additionalProperties": one}
        if field.get("nullable"):
            one = {"anyOf": [one, {"type": "null"}]}
        unit = field.get("unit", "1")
        return {"description": field["meaning"] + ("" if unit == "1" else f" ({unit})"), **one}


def _if(member: str, value: str, then: Info) -> Info:
    is_it = {"properties": {member: {"const": value}}, "required": [member]}
    return {"if": is_it, "then": then}


def _in_unit(unit: str) -> Info:
    """The figure's number has the unit that the engine describes, if all of its name have one."""
    return {"properties": {"unit": {"const": unit}}} if unit else {}


def plan_schema(info: Info) -> Info:
    """The JSON Schema of what a benchmark prints with --plan-json."""
    frame: Info = {"$defs": {"run": {"properties": {}}}, "allOf": []}
    return Schema({}, frame).object_of(info["plan"])


def files(engine: Path) -> dict[Path, str]:
    """Each file that is made from what the engine says of itself, as it must be."""
    described = described_by(engine)
    frame = json.loads(FRAME.read_text())
    made = {FIELDS: as_text(described), SCHEMA: Schema(described, frame).text()}
    made |= fields_pages.pages(described, shared_tables(described))
    return made | fields_pages.lists(described, purposes_by(engine), made)


def main() -> None:
    for path, text in files(Path(sys.argv[1])).items():
        path.write_text(text)


if __name__ == "__main__":
    main()
