# SPDX-License-Identifier: BSD-3-Clause
"""Printed tables: at every width numbers and headers are whole, and omitted columns are named; in a
pipe each record is one line; other formats have the same table."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import struct
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import Any

import pytest
from rich.console import Console

from driver import made, test_report_arrays, test_report_ior, test_report_mdtest
from driver.conftest import Effio
from driver.test_campaign_page import _sweep
from driver.test_page_tuning import SETTINGS, WRITE, _made
from effio.cli import show, tables
from effio.cli.campaign_table import Row
from effio.cli.campaign_table import table_of as overview
from effio.cli.layout import Field, laid_out, lines, plain_lines, wrapped
from effio.cli.show import print_report, tables_of
from effio.cli.tables import print_table
from effio.report.build import load, report_of
from effio.report.claims import Number
from effio.report.model import (
    AxisValue,
    Cell,
    Column,
    Quantity,
    RunNames,
    Table,
    table_of,
)
from effio.report.points import Point
from effio.report.texts import Form, written
from effio.report.tuning import tuning_section
from store import generate

WIDTHS = (60, 80, 120, 200)


# Where things go ---------------------------------------------------------------------------------


def test_cells_that_are_shown_together_look_as_each_alone() -> None:
    """Equal cells are shown once; but 1, 1.0 and true are equal, as are 0.0 and -0.0."""
    some: list[Sequence[Cell]] = [
        ["a", "b", "a"], [AxisValue("transfer", 65536), AxisValue("transfer", "1MiB")],
        [1, 2, 1], [1.5, 1.5, 0.0, -0.0], [-0.0, 0.0], [1.5, float("nan"), 1.5], [True, 1, 1.0],
        [0, False, 0.0, None, ""], [None, None], [Quantity(1e6, "B/s"), None], [],
        [RunNames(["one", "two"]), "three"],
    ]  # fmt: skip
    columns = [
        Column("plain"), Column("count", "1"), Column("rate", "B/s"), Column("share", "1", "%", 3),
        Column("exact", exact=True), Column("time", "s", "ms"),
    ]  # fmt: skip
    for column in columns:
        for cells in some:
            if column.shown and not all(isinstance(cell, (int, float)) for cell in cells):
                continue
            assert list(column.show_all(cells)) == [column.show(cell) for cell in cells]


def _drawn(fields: list[Field], width: int | None) -> str:
    layout = laid_out(fields, width)
    texts = ["".join(text for text, _ in line) for line in lines(layout, width)]
    return "\n".join([*texts, *(f"no room for {title}" for title in layout.left_out)])


FIELDS = [
    Field("phase", ["Directory creation", "File removal"], kept=True),
    Field("ranks", ["2", "16"], number=True, kept=True),
    Field("mean", ["463.8 kop/s", "7946 op/s"], number=True, kept=True),
    Field("slowest rank", ["9321 op/s", "1 op/s"], number=True),
    Field("slowest ranks", ["0 (node01), 15 (node02)", "3 (node01)"]),
    Field("remark", ["", "the count on disk is not what it should be"], kept=True),
]


def test_what_matters_least_goes_first() -> None:
    assert (
        _drawn(FIELDS, 100)
        == """\
                                          slowest
phase               ranks         mean       rank  slowest ranks            remark
Directory creation      2  463.8 kop/s  9321 op/s  0 (node01), 15 (node02)
File removal           16    7946 op/s     1 op/s  3 (node01)               the count on disk is not
                                                                            what it should be"""
    )
    assert (
        _drawn(FIELDS, 60)
        == """\
phase               ranks         mean  remark
Directory creation      2  463.8 kop/s
File removal           16    7946 op/s  the count on disk is
                                        not what it should
                                        be
no room for slowest rank
no room for slowest ranks"""
    )
    assert (
        _drawn(FIELDS, 40)
        == """\
phase               ranks         mean
Directory creation      2  463.8 kop/s
File removal           16    7946 op/s
    remark: the count on disk is not
    what it should be
no room for slowest rank
no room for slowest ranks"""
    )
    # A column whose words do not fit moves to a second line.
    assert (
        _drawn([*FIELDS[:3], Field("file", ["/a/very/long/path", "/b"], kept=True)], 40)
        == """\
phase               ranks         mean
Directory creation      2  463.8 kop/s
    file: /a/very/long/path
File removal           16    7946 op/s
    file: /b"""
    )
    assert (
        _drawn(FIELDS, None).splitlines()[2].endswith("the count on disk is not what it should be")
    )


def test_a_sentence_goes_below_its_row() -> None:
    reason = "the rate is 3 % below what was promised, 1.20 GB/s, in all repetitions"
    fields = [
        Field("rule", ["write", "read"], kept=True),
        Field("measured", ["1.16 GB/s", "9.00 GB/s"], number=True, kept=True),
        Field("reason", [reason, ""], kept=True, below=True),
    ]
    assert (
        _drawn(fields, 50)
        == """\
rule    measured
write  1.16 GB/s
    reason: the rate is 3 % below what was
    promised, 1.20 GB/s, in all repetitions
read   9.00 GB/s"""
    )
    assert len(_drawn(fields, 70).splitlines()) == 4  # in its row, in two lines


def test_a_number_and_its_unit_are_one_word() -> None:
    assert wrapped("between 1.5 GB/s and 30 µs", 12) == ["between", "1.5 GB/s and", "30 µs"]
    assert wrapped("at 2026-11-27 09:04 or 3 nodes", 17) == ["at", "2026-11-27 09:04", "or 3 nodes"]


# Every command's tables --------------------------------------------------------------------------

RULES = """schema = "effio-rules/1"
title = "Small"
[[rule]]
id = "write"
kind = "threshold"
select = { benchmark = "ior", access = "write" }
statistic = "max"
at_least = "40MB/s"
[[rule]]
id = "create"
kind = "threshold"
select = { benchmark = "mdtest" }
at_least = "1 op/s"
"""
FORM = """application = "code"
ranks = 8
seconds = "1h"
[[activity]]
name = "out"
access = "write"
library = "posix"
files = "shared"
bytes = "16MiB"
"""


@pytest.fixture
def store(effio: Effio) -> Effio:
    """A sweep of two points, and runs of three benchmarks on their own."""
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 20)
    others = (made.b_eff_io(), test_report_ior.lines(), test_report_mdtest.made_lines())
    for hour, reported in enumerate(others):
        made.write(runs / f"20261120T1{hour}0000Z-a-run-with-a-label" / "result.jsonl", reported)
    _sweep(effio.cwd / "nights")
    (effio.cwd / "rules.toml").write_text(RULES)
    (effio.cwd / "form.toml").write_text(FORM)
    return effio


COMMANDS: dict[str, tuple[str, ...]] = {
    "runs": ("runs",),
    "table": ("table",),
    "a table side by side": ("table", "tag:nightly", "--across", "transfer"),
    "query": ("query", "SELECT * FROM runs"),
    "accept": ("accept", "rules.toml", "effio-runs"),
    "compare": ("compare", "20260101T000000Z", "20260101T000001Z", "--all"),
    "trend": ("trend", "nights"),
    "profile": ("profile", "form.toml"),
}
WITH_ENGINE: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "doctor": ("doctor",),
    "engines": ("engine", "list"),
}


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """The tables that commands print."""
    found: list[Table] = []

    def keep(console: Console, table: Table, *more: Any, **options: Any) -> None:
        found.append(table)
        print_table(console, table, *more, **options)

    monkeypatch.setattr(tables, "print_table", keep)
    monkeypatch.setattr(show, "print_table", keep)
    return found


def _text(table: Table, width: int | None) -> str:
    file = io.StringIO()
    console = Console(width=width, file=file, force_terminal=width is not None, no_color=True)
    print_table(console, table)
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


def _cells(table: Table) -> Iterator[tuple[Column, list[str]]]:
    for i, column in enumerate(table.columns):
        said = any(row[i] not in (None, "") for row in table.rows)
        if said and not column.group and column.name != "unit in CSV":
            yield column, [column.show(row[i]) for row in table.rows]


def _is_whole(text: str, line: str) -> bool:
    return re.search(rf"(?<!\S){re.escape(text)}(?=[;,]?(?:\s|$))", line) is not None


def _check(table: Table, width: int) -> None:
    text = _text(table, width)
    shown = text.splitlines()
    left_out = set(", ".join(re.findall(r"(?s)not shown: (.*?) \(", text)).split(", "))
    left_out = {" ".join(name.split()) for name in left_out}
    words = set(re.split(r"[\s;:]+", text))
    for column, cells in _cells(table):
        if column.title in left_out:
            continue
        for word in column.title.split():
            assert word in words, (width, column.title, text)
        for cell in cells:
            if column.is_number:
                assert any(_is_whole(cell, line) for line in shown), (
                    width,
                    column.title,
                    cell,
                    text,
                )
            # Empty cells are not shown in the line below a row.
            for word in re.split(r"[\s;:]+", "" if cell == "–" else cell):
                assert word in words, (width, column.title, word, text)
    for line in shown:
        # Only a single word may exceed the width, such as a path below its row.
        longest = max(map(len, line.split()), default=0)
        assert len(line) <= max(width, longest + 16), (width, line)


def _check_in_pipe(table: Table) -> None:
    shown = _text(table, None).splitlines()
    assert len(shown) == len(table.rows) + 1 + bool(table.title)
    columns = list(_cells(table))
    for number, line in enumerate(shown[1 + bool(table.title) :]):
        for _, cells in columns:
            assert cells[number].strip() in line


def _check_everywhere(found: list[Table]) -> None:
    assert found
    for table in found:
        for width in WIDTHS:
            _check(table, width)
        _check_in_pipe(table)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_and_header_is_whole(name: str, store: Effio, printed: list[Table]) -> None:
    done = store.call(*COMMANDS[name], env={"FORCE_COLOR": "1", "COLUMNS": "80"})
    assert done.returncode in (0, 1), done.stderr
    _check_everywhere(printed)


@pytest.mark.parametrize("name", WITH_ENGINE)
def test_of_what_is_here_too(name: str, with_engine: Effio, printed: list[Table]) -> None:
    done = with_engine.call(*WITH_ENGINE[name])
    assert done.returncode in (0, 6)
    if "no engine is built here" in done.stdout + done.stderr:
        assert printed == []
    else:
        _check_everywhere(printed)


def _point(*values: float) -> Point:
    point = Point({}, "write_bandwidth", "B/s")
    for value in values:
        point.add(Number("write_bandwidth", "B/s", value, "", "on storage", True))
    return point


def test_of_campaigns_and_tunings_too() -> None:
    rows = [
        Row("bulk", {"transfer": "1MiB", "files": "shared"}, 3, 3,
            _point(1.234e9, 1.3e9, 1.1e9)),
        Row("bulk", {"transfer": "4MiB", "files": "per-process"}, 3, 2,
            _point(9.9e8, 1.0e9), ["io_error"]),
        Row("creating-many-small-files", {}, 1, 0),
    ]  # fmt: skip
    section = tuning_section(_made({(WRITE, SETTINGS[0]): 2.0}, SETTINGS[:3]))
    _check_everywhere([overview(rows), *tables_of(section, True)])


RESULTS: dict[str, Callable[[], list[made.Line]]] = {
    "b_eff_io": made.two_partitions,
    "ior": test_report_ior.lines,
    "mdtest": test_report_mdtest.made_lines,
    "libraries": test_report_arrays.libraries_lines,
}


@pytest.mark.parametrize("name", RESULTS)
def test_of_results_too(name: str, tmp_path: Path) -> None:
    report = report_of(*load(made.write(tmp_path / "run.jsonl", RESULTS[name]())))
    found = [table for section in report.sections for table in tables_of(section, False)]
    _check_everywhere([table for table in found if len(table.rows) < 100])
    file = io.StringIO()
    print_report(Console(width=80, file=file, force_terminal=True, no_color=True), report)
    assert max(map(len, re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue()).splitlines())) <= 80


def test_what_is_equal_in_all_rows_is_said_once() -> None:
    rows: list[list[Cell]] = [
        ["a", 3, Quantity(2e6, "B/s"), "x"],
        ["b", 3, Quantity(2e6, "B/s"), "x"],
    ]
    columns = [Column("point"), Column("runs", "1"), Column("median", "B/s"), Column("where")]
    table = Table(columns, rows)
    # The number that the table is about stays.
    assert _text(table, 80) == (
        "point      median\na      2.000 MB/s\nb      2.000 MB/s\n"
        "same in all rows: runs 3 · where x\n"
    )
    assert _text(table, None).splitlines()[1] == "a         3  2.000 MB/s  x"


# For other programs ------------------------------------------------------------------------------


def test_formats() -> None:
    columns = [Column("run"), Column("rate", "1"), Column("took", "s")]
    rows: list[list[Cell]] = [["a,b\tc", Quantity(1.5e6, "B/s"), 0.25], ["d", None, None]]
    table = Table(columns, rows, "T")
    assert written([table], Form.TSV) == (
        "run\trate\tunit of rate\ttook [s]\na,b c\t1500000.0\tB/s\t0.25\nd\t\t\t\n"
    )
    assert list(csv.reader(io.StringIO(written([table], Form.CSV)))) == [
        ["run", "rate", "unit of rate", "took [s]"],
        ["a,b\tc", "1500000.0", "B/s", "0.25"],
        ["d", "", "", ""],
    ]
    first, second = map(json.loads, written([table], Form.JSON).splitlines())
    assert first == {"run": "a,b\tc", "rate": 1.5e6, "unit of rate": "B/s", "took [s]": 0.25}
    assert second["rate"] is None
    assert written([table], Form.MARKDOWN).splitlines()[2:] == [
        "| run | rate | took |", "|---|--:|--:|", "| a,b c | 1.500 MB/s | 250 ms |",
        "| d | – | – |",
    ]  # fmt: skip
    assert [
        json.loads(line)["table"] for line in written([table, table], Form.JSON).splitlines()
    ] == ["T"] * 4


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_writes_every_format(name: str, store: Effio) -> None:
    for form in ("tsv", "csv", "json", "markdown"):
        done = store.call(*COMMANDS[name], "--format", form)
        assert done.returncode in (0, 1), done.stderr
        if form == "tsv":
            cells = {
                line.count("\t") for line in done.stdout.splitlines() if line[:1] not in ("", "#")
            }
            assert max(cells) > 0
        elif form == "json":
            assert json.loads(
                done.stdout.splitlines()[0] if done.stdout[1] != "\n" else done.stdout
            )
        else:
            assert done.stdout.count("|" if form == "markdown" else ",") > 2
    both = store.call(*COMMANDS[name], "--format", "csv", "--json")
    assert both.returncode == 2


# A terminal --------------------------------------------------------------------------------------


def on_terminal(effio: Effio, width: int, *words: str) -> list[str]:
    """The lines that are printed on a pseudo terminal of this width."""
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    environment = {
        k: v for k, v in effio.environment.items() if k not in ("COLUMNS", "FORCE_COLOR")
    }
    with subprocess.Popen(
        effio.command(*words), cwd=effio.cwd, env={**environment, "TERM": "xterm"},
        stdin=theirs, stdout=theirs, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(theirs)
        found = b""
        with suppress(OSError):  # the other end is closed
            while part := os.read(ours, 65536):
                found += part
    os.close(ours)
    assert process.returncode == 0
    text = found.decode().replace("\r\n", "\n")
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).splitlines()


def test_runs_are_grouped_by_campaign_and_reported_apart(store: Effio) -> None:
    shown = on_terminal(store, 80, "runs")
    assert max(map(len, shown)) <= 80
    at = shown.index("campaign sweep (20)")
    assert shown[at + 1].split() == ["id", "transfer", "rep"]
    rows = [json.loads(line) for line in store.call("runs", "--json").stdout.splitlines()]
    assert shown[at + 2].split() == [rows[0]["id"], "1", "KiB", "1"]
    assert shown[at + 21].split() == [rows[19]["id"], "2", "KiB", "10"]
    assert "no campaign (3)" in shown
    assert rows[0]["axes"] == {"transfer": "1024"}
    # In a pipe each run is one line, with whole names and all columns.
    piped = store.call("runs").stdout.splitlines()
    assert len(piped) == 24
    assert piped[0].split()[:6] == ["id", "run", "campaign", "step", "repetition", "axes"]
    assert piped[1].split()[:6] == [
        rows[0]["id"], rows[0]["run"], "sweep", "bulk", "1", "transfer=1024",
    ]  # fmt: skip
    # What does not fit is below its row.
    at = next(i for i, line in enumerate(shown) if "b_eff_io" in line)
    assert "not a mean of repetitions: no interval" in shown[at]
    own = shown[at - 1]
    for word in ("300.0 MB/s", "not valid, mixed", "60.0 s"):
        assert word in own


@pytest.mark.parametrize("width", [60, 80, 100])
def test_describe_cuts_no_name(width: int, with_engine: Effio) -> None:
    described = json.loads(with_engine.call("describe", "mdtest", "--json").stdout)
    text = with_engine.call("describe", "mdtest", env={"COLUMNS": str(width)}).stdout
    shown = text.splitlines()
    assert max(map(len, shown)) <= width
    for option in described["options"]:
        name = option["name"]
        assert any(re.match(rf"  (-\w, )?--{name}  \S", line) for line in shown), name


def test_a_row_of_a_long_table_is_made_once(tmp_path: Path) -> None:
    """It was made again for every column: ten seconds for two thousand rows."""
    made_rows: list[int] = []

    def cell(number: int) -> int:
        made_rows.append(number)
        return number

    items = range(2000)
    table = table_of(items, [(Column("a"), cell), (Column("b"), str), (Column("c"), float)])
    with (tmp_path / "printed").open("w") as file:
        print_table(Console(file=file), table)
    assert made_rows == list(items)
    made_rows.clear()
    assert written([table], Form.CSV).count("\n") == 2001
    assert made_rows == list(items)


def test_without_a_width_lines_are_those_of_a_terminal_that_is_wide_enough() -> None:
    fields = [*FIELDS, Field("änderung", ["größer", "日本 "], number=True), Field("", ["", "x"])]
    layout = laid_out(fields, None)
    drawn = ["".join(text for text, _ in line) for line in lines(layout, None)]
    assert list(plain_lines(layout)) == drawn
