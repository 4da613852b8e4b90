# SPDX-License-Identifier: BSD-3-Clause
"""Tables in terminals of 60, 80 and 100 columns: keys and units are whole, and what has no room is
named."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from driver import made, test_report_arrays, test_report_ior, test_report_mdtest
from driver.conftest import Effio
from effio.cli.grid import Field, grid
from effio.cli.show import print_report
from effio.report.build import load, tell
from effio.report.model import Report, Table

WIDTHS = (60, 80, 100)


def _told(tmp_path: Path, lines: list[made.Line]) -> Report:
    return tell(*load(made.write(tmp_path / "told.jsonl", lines)))


def _shown(report: Report, width: int) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    print_report(console, report)
    return console.export_text()


def _rows(width: int) -> str:
    fields = [
        Field("phase", [Text("Directory creation"), Text("File removal")], kept=True),
        Field("ranks", [Text("2"), Text("16")], right=True, kept=True),
        Field("mean", [Text("463.8 kop/s"), Text("7946 op/s")], right=True, kept=True),
        Field("slowest rank", [Text("9321 op/s"), Text("1 op/s")], right=True),
        Field("slowest ranks", [Text("0 (node01), 15 (node02)"), Text("3 (node01)")]),
        Field("remark", [Text(""), Text("the count on disk is not what it should be")], kept=True),
    ]
    console = Console(width=width, record=True, file=io.StringIO())
    table, left_out = grid(fields, width)
    console.print(table)
    lines = [line.rstrip() for line in console.export_text().splitlines()]
    return "\n".join([*lines, *left_out])


def test_what_matters_least_goes_first() -> None:
    assert (
        _rows(100)
        == """\
                                          slowest
phase               ranks         mean       rank  slowest ranks            remark
Directory creation      2  463.8 kop/s  9321 op/s  0 (node01), 15 (node02)
File removal           16    7946 op/s     1 op/s  3 (node01)               the count on disk is not
                                                                            what it should be"""
    )
    assert (
        _rows(80)
        == """\
                                          slowest
phase               ranks         mean       rank  remark
Directory creation      2  463.8 kop/s  9321 op/s
File removal           16    7946 op/s     1 op/s  the count on disk is not what
                                                   it should be
slowest ranks"""
    )
    assert (
        _rows(60)
        == """\
phase               ranks         mean  remark
Directory creation      2  463.8 kop/s
File removal           16    7946 op/s  the count on disk is
                                        not what it should
                                        be
slowest rank
slowest ranks"""
    )
    # Too narrow for what has to stay: texts fold, numbers do not.
    assert (
        _rows(40)
        == """\
phase       ranks         mean  remark
Directory       2  463.8 kop/s
creation
File           16    7946 op/s  the
removal                         count on
                                disk is
                                not what
                                it
                                should
                                be
slowest rank
slowest ranks"""
    )


RESULTS: dict[str, Callable[[], list[made.Line]]] = {
    "b_eff_io": made.two_partitions,
    "ior": test_report_ior.lines,
    "mdtest": test_report_mdtest.made_lines,
    "libraries": test_report_arrays.libraries_lines,
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", RESULTS)
def test_show_keeps_keys_and_units(name: str, width: int, tmp_path: Path) -> None:
    report = _told(tmp_path, RESULTS[name]())
    text = _shown(report, width)
    assert max(map(len, text.splitlines())) <= width
    # No cell is one letter wide, over and over: the mark of a column that was squeezed.
    assert not re.search(r"(?m)^(?:\s*\S{1,2}\s*\n){4,}", text)
    words = set(text.split())
    for section in report.sections:
        for table in section.blocks:
            if not isinstance(table, Table) or table.page_only or not section.show:
                continue
            first, *_ = table.columns
            for row in table.rows:
                # What identifies a row is there, whole words.
                for word in first.show(row[0]).split():
                    assert word in words or len(word) > 16, (table.title, word)


@pytest.mark.parametrize("width", WIDTHS)
def test_runs(width: int, effio: Effio, tmp_path: Path) -> None:
    names = ("20261120T120000Z-b-eff-io", "20261120T130000Z-ior-with-a-label")
    for name, lines in zip(names, (made.b_eff_io(), test_report_ior.lines()), strict=True):
        made.write(effio.cwd / "effio-runs" / name / "result.jsonl", lines)
    text = effio.call("runs", env={"COLUMNS": str(width)}).stdout
    lines_shown = text.splitlines()
    assert max(map(len, lines_shown)) <= width
    for name in names:
        assert sum(line.startswith(name) for line in lines_shown) == 1
    row = next(line for line in lines_shown if line.startswith(names[0]))
    assert " done " in row
    assert "b_eff_io = " in row
    if width == 100:
        assert "60.0 s" in row  # how long it took
        assert "b_eff_io = 300.0 MB/s" in row
    else:
        assert "no room for:" in text
    rows = [json.loads(line) for line in effio.call("runs", "--json").stdout.splitlines()]
    assert rows[0]["took"] == "60.0 s"


@pytest.mark.parametrize("width", WIDTHS)
def test_describe_cuts_no_name(width: int, with_engine: Effio) -> None:
    described = json.loads(with_engine.call("describe", "mdtest", "--json").stdout)
    text = with_engine.call("describe", "mdtest", env={"COLUMNS": str(width)}).stdout
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    for option in described["options"]:
        assert any(re.match(rf"  (-\w, )?--{option['name']}  \S", line) for line in lines), option[
            "name"
        ]
