# SPDX-License-Identifier: BSD-3-Clause
"""Storage that goes wrong against every benchmark, cell by cell of safety.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import ROOT, Engine

from .safety import Cell, as_markdown, cells, load, others_as_markdown


@pytest.mark.parametrize("cell", cells(), ids=lambda cell: cell.name)
def test_a_fault(any_engine: Engine, tmp_path: Path, data: Path, cell: Cell) -> None:
    cell.check(cell.run(any_engine, tmp_path, data), tmp_path, data)


def test_the_page_shows_the_tables() -> None:
    page = (ROOT / "docs" / "safety.md").read_text()
    how = "PYTHONPATH=tests python tests/faults/safety.py prints them"
    assert as_markdown() in page, how
    assert others_as_markdown() in page, how


def test_every_test_that_the_page_names_is_there() -> None:
    for one in load("other"):
        for held in one["held"]:
            file, _, name = held.partition("::")
            assert f"def {name}(" in (ROOT / "tests" / file).read_text(), held
