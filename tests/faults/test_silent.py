# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark that verifies finds data that storage changes without an error. Each benchmark
gets one fault, and together they cover all faults (EFFIO_SILENT_TRIES=N: N trials of every fault
for each benchmark)."""

from __future__ import annotations

import json
import os
import random
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from engines import Engine

from .silent import COUNTS, PAGE, Setting, Strike, measure, table
from .silent_rows import FAULTS, ROWS

# For benchmarks that do not find every fault: one that they find (counts: docs/safety.md).
FOUND = {
    "b_eff": "bit in a message",
    "rings": "bit in a message",
    "ior, all phases": "stale read",
    "pio": "bit in a write",
    "ior, random places": "bit in a read",
    "partest, containers": "bit in a write",
    "partest, containers, rank 0": "bit in a write",
}
OF_FILES = [name for name, fault in FAULTS.items() if fault.call != "message"]
SOME = {row: FOUND.get(row, fault) for row, fault in zip(ROWS, cycle(OF_FILES), strict=False)}


@pytest.mark.parametrize("row", ROWS)
def test_a_silent_fault_is_found(any_engine: Engine, tmp_path: Path, row: str) -> None:
    """An error names rank, file and offset; the run that counts the calls is the positive
    control."""
    setting = Setting(any_engine, ROWS[row].backends[0], tmp_path)
    if tries := int(os.environ.get("EFFIO_SILENT_TRIES", "0")):
        counts = measure(setting, row, tries).data
        assert {name: found for name, (found, _) in counts.items()} == dict.fromkeys(counts, tries)
        return
    fault = FAULTS[SOME[row]]
    calls = setting.calls(row, fault.call)
    if fault.call == "message":
        # Of every message the first byte is checked, unless a later one has overwritten it before
        # the check. How many messages there are differs from run to run.
        assert any(setting.finds(row, fault, calls * part // 8, 0) for part in (4, 5, 3, 6)), row
        return
    if row == "pio":
        # A later pass overwrites the place of the first write before any pass reads it.
        assert setting.finds(row, fault, 1, 7)
        return
    assert setting.found(row, fault, calls, random.Random(row)), SOME[row]


def test_every_fault_is_among_them() -> None:
    assert set(SOME.values()) == set(FAULTS)


def test_an_error_has_to_name_the_place() -> None:
    """Only then a fault counts as found."""
    strike = Strike("/d/file", 4096, 100)
    error: dict[str, Any] = {
        "rank": 1,
        "path": "/d/file",
        "offset_bytes": 4195,
        "cause": "first wrong byte",
    }
    assert strike.is_named_by(error, "ior")
    for other in (
        {"rank": None}, {"path": "/d/other"}, {"path": None}, {"offset_bytes": 4196},
        {"offset_bytes": 4095}, {"offset_bytes": None},
    ):  # fmt: skip
        assert not strike.is_named_by({**error, **other}, "ior"), other
    short = {
        **error,
        "offset_bytes": None,
        "cause": "the file is too short: 4.004 KiB (4100 B) of 8 KiB",
    }
    assert strike.is_named_by(short, "ior")
    assert not strike.is_named_by({**short, "cause": short["cause"].replace("4100", "100")}, "ior")


def test_the_page_shows_the_counts() -> None:
    assert table(json.loads(COUNTS.read_text())) in PAGE.read_text(), (
        "run tests/faults/silent.py to update the page"
    )
