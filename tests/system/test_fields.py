# SPDX-License-Identifier: BSD-3-Clause
"""The fields of results: the file in schemas/ is what the engine says, and a line with a member
that is not described, is missing or has another type is at fault. Every test that reads results
holds them against it (results.py)."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest

from engines import ROOT, Engine
from fields import FIELDS, as_text, described_by, from_text
from results import fault_of_line


def test_the_file_is_what_the_engine_says(any_engine: Engine) -> None:
    described = described_by(any_engine.program)
    assert FIELDS.read_text() == as_text(described), "python tests/fields.py ENGINE"
    assert from_text(FIELDS.read_text()) == described


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
        lists = [info["where"], info["detail"], info["setup"]]
        lists += [f[part] for f in info["figures"] for part in ("where", "detail")]
        assert [f for fields in lists for f in faults(fields, benchmark)] == []


def test_no_benchmark_writes_members_by_hand() -> None:
    by_hand = re.compile(r"\b(where|detail)(\.update\()? ?=? ?\(?Json\{\{")
    sources = (ROOT / "engine" / "benchmarks").rglob("*.cpp")
    assert [str(p) for p in sources if by_hand.search(p.read_text())] == []


RATE = {
    "kind": "figure",
    "benchmark": "mdtest",
    "name": "on_disk",
    "where": {"thing": "file", "repetition": 1, "ranks": 2, "unique": False},
    "detail": {"expected": 4},
}


@pytest.mark.parametrize(
    ("part", "member", "value", "fault"),
    [
        ("where", "after_removal", True, ""),
        ("where", "after_removal", 1, "where.after_removal: 1 is no boolean"),
        ("where", "after_removal", None, "where.after_removal is null"),
        ("where", "ranks", 2.5, "where.ranks: 2.5 is no integer"),
        ("detail", "other", 1, "detail.other is not described"),
    ],
)
def test_a_member_that_does_not_fit_is_named(
    part: str, member: str, value: Any, fault: str
) -> None:
    line = copy.deepcopy(RATE)
    line["where"]["after_removal"] = False  # type: ignore[index]
    line[part][member] = value  # type: ignore[index]
    assert fault_of_line(line) == fault


def test_a_member_that_is_missing_is_named() -> None:
    assert fault_of_line(RATE) == "where.after_removal is missing"
    assert fault_of_line({**RATE, "name": "other"}) == "figure other is not described"
