# SPDX-License-Identifier: BSD-3-Clause
"""The fields of results: what is made from them is what the engine says, and the schema refuses a
member that is not described, is missing or has another type. Every test that reads results holds
them against it (results.py)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from driver import made
from engines import ROOT, Engine
from fields import FIELDS, described_by, files, from_text
from results import fault_of_line


def test_all_files_are_what_the_engine_says(any_engine: Engine) -> None:
    differing = [
        path.name for path, text in files(any_engine.program).items() if path.read_text() != text
    ]
    assert differing == [], "python tests/fields.py ENGINE"
    assert from_text(FIELDS.read_text()) == described_by(any_engine.program)


def test_names_are_plain_and_meanings_are_there(any_engine: Engine, tmp_path: Path) -> None:
    described = from_text(FIELDS.read_text())
    assert list(described) == any_engine.alone(["list"], tmp_path).stdout.split()

    def faults(fields: list[dict[str, Any]], place: str) -> list[str]:
        found = []
        for field in fields:
            name = f"{place}.{field['name']}"
            if not field["meaning"] or field["meaning"].endswith("."):
                found.append(name)
            # A number says its unit in its name or is one of a kind (docs/results.md).
            if field["name"].endswith("_seconds") and field.get("unit", "s") != "s":
                found.append(name)
            if field["name"].endswith("bytes_per_second") and field.get("unit", "B/s") != "B/s":
                found.append(name)
            found += faults(field.get("members", []), name)
        return found

    for benchmark, info in described.items():
        lists = [info["where"], info["detail"], info["run"], info["plan"]]
        assert info["plan"], benchmark
        lists += [f[part] for f in info["figures"] for part in ("where", "detail")]
        assert [f for fields in lists for f in faults(fields, benchmark)] == []
        # A figure has one unit, whatever the options and wherever it is from.
        names = [f["name"] for f in info["figures"]]
        assert [name for name in names if names.count(name) > 1] == [], benchmark
        assert [f["name"] for f in info["figures"] if not f["unit"]] == [], benchmark


def test_no_benchmark_writes_members_manually() -> None:
    by_hand = re.compile(
        r"\b(where|detail|plan\.data|whole\.data|extra\[\"[^\"]+\"\])(\.update\()? ?=? ?\(?Json\{\{"
    )
    sources = (ROOT / "engine" / "benchmarks").rglob("*.cpp")
    assert [str(p) for p in sources if by_hand.search(p.read_text())] == []


def on_disk() -> dict[str, Any]:
    """A figure of mdtest."""
    where = {"thing": "file", "after_removal": False}
    line = made.figure("on_disk", 4, "1", benchmark="mdtest", where=where, detail={"expected": 4})
    return {**line, "seq": 1}


@pytest.mark.parametrize(
    ("part", "member", "value", "fault"),
    [
        ("where", "after_removal", True, ""),
        ("where", "after_removal", 1, "$.where.after_removal: 1 is not of type 'boolean'"),
        ("where", "after_removal", None, "$.where.after_removal: None is not of type 'boolean'"),
        ("where", "ranks", 2.5, "$.where.ranks: 2.5 is not of type 'integer'"),
        ("detail", "other", 1, "$.detail: Additional properties are not allowed ('other' was "),
    ],
)
def test_a_member_that_does_not_fit_is_named(
    part: str, member: str, value: Any, fault: str
) -> None:
    line = on_disk()
    line[part][member] = value
    said = fault_of_line(line)
    assert said.startswith(fault)
    assert bool(said) == bool(fault)


def test_a_member_that_is_missing_or_unknown_is_named() -> None:
    line = on_disk()
    del line["where"]["after_removal"]
    assert fault_of_line(line) == "$.where: 'after_removal' is a required property"
    line = {**on_disk(), "name": "other"}
    assert fault_of_line(line).startswith("$.name: 'other' is not one of ['rate', 'on_disk'")


def test_the_run_line_has_the_benchmark_s_own_members_and_no_others(
    any_engine: Engine, tmp_path: Path
) -> None:
    run = any_engine.run(["ssca3", "--backend", "sim"], tmp_path).result.run
    assert fault_of_line(run) == ""
    assert fault_of_line({**run, "mdtest": {}}).startswith("$: 'mdtest' is not one of")
    del run["study"]["cap"]["why"]
    assert fault_of_line(run) == "$.study.cap: 'why' is a required property"
