# SPDX-License-Identifier: BSD-3-Clause
"""Data that storage changes without an error are found by every benchmark that verifies: one fault
in a write and one in a read for each (EFFIO_SILENT_TRIES: so many of all faults)."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from engines import ROOT, Engine

from .silent import BENCHMARKS, COUNTS, FAULTS, Setting, measure, table

CHECKED = ("dropped write", "stale read")


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_silent_fault_is_found(any_engine: Engine, tmp_path: Path, benchmark: str) -> None:
    setting = Setting(any_engine, "posix", tmp_path)
    tries = os.environ.get("EFFIO_SILENT_TRIES")
    if tries:
        row = measure(setting, benchmark, int(tries))
        assert {name: found for name, (found, _) in row.items()} == dict.fromkeys(row, int(tries))
        return
    for name in CHECKED:
        fault = FAULTS[name]
        calls = setting.calls(benchmark, fault.call)
        assert setting.found(benchmark, fault, calls, random.Random(benchmark)), name


def test_the_page_shows_the_counts() -> None:
    page = (ROOT / "docs" / "safety.md").read_text()
    assert table(json.loads(COUNTS.read_text())) in page, "tests/faults/silent.py says how"
