# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of interference, against a result whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.draw import figure_data
from effio.report.html import render
from effio.report.listing import line_of
from effio.report.model import Report, Table
from effio.store.folder import RunFolder
from effio.store.reader import read_result

NAMES = {1: "ior", 2: "mdtest"}


def slow_down(
    group: int,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    rounds: int | None = None,
    **more: Any,
) -> made.Line:
    where = {"group": group, "benchmark": NAMES[group], "others": str(3 - group), **more}
    name = "slow_down_of_phase" if more else "slow_down"
    line = made.figure(name, value, "1", benchmark="interference", where=where)
    line["metric"]["better"] = "lower"
    if value is not None:
        count = rounds or (1 if low is None else 5)
        line["samples"] = {
            "count": count, "min": value, "max": value, "deviation": None,
            "low95": low, "high95": high,
        }  # fmt: skip
    return line


def met(seconds: float) -> made.Line:
    where = {
        "group": 1, "benchmark": "ior", "access": "write", "pattern": "",
        "other": "2", "other_benchmark": "mdtest", "other_access": "create",
        "other_pattern": "file",
    }  # fmt: skip
    return made.figure(
        "met", seconds, "s", benchmark="interference", where=where, detail={"fraction": 0.25}
    )


def report(tmp_path: Path, *lines: made.Line) -> Report:
    run = made.run_line(benchmark="interference")
    path = made.write(tmp_path / "r.jsonl", made.numbered([run, *lines, made.end()]))
    return report_of("r", read_result(path))


def made_lines() -> list[made.Line]:
    return made.numbered(
        [
            made.run_line(benchmark="interference"),
            slow_down(1, 1.5, 1.4, 1.6),
            slow_down(2, 2.5, 2.2, 2.9),
            slow_down(2, 3.1, 2.8, 3.4, access="create", pattern="file"),
            met(2.5),
            made.end(),
        ]
    )


def with_first_group(*words: str) -> list[made.Line]:
    """The command line of the first of two groups."""
    run, *others = made_lines()
    commands = [["effio-mpi", *words], ["effio-mpi", "mdtest", "--items", "10"]]
    groups = [
        {"number": n, "benchmark": c[1], "ranks": 1, "first_rank": n - 1, "command": c}
        for n, c in enumerate(commands, 1)
    ]
    own = {"groups": groups, "turns": [[1], [2], [1, 2]], "rounds": 3, "place": "/d/r.turns"}
    return [run | {"interference": own}, *others]


@pytest.mark.parametrize(
    ("words", "simulated"),
    [
        (["ior", "--backend", "null"], True),
        (["libraries", "--libraries=null", "--read=off"], True),
        (["ior", "--backend", "posix", "--name", "null"], False),
    ],
)
def test_a_group_of_the_backend_null_is_simulated(
    tmp_path: Path, words: list[str], simulated: bool
) -> None:
    path = made.write(tmp_path / "result.jsonl", with_first_group(*words))
    result = read_result(path)
    assert (line_of(RunFolder(tmp_path), result)["mark"] == "simulated") is simulated
    said = "Simulated: a group has the backend null, which touches no storage."
    assert (said in texts(report_of("r", result))) is simulated


def texts(interference: Report) -> list[str]:
    return [f.text for f in interference.findings]


def test_phases_that_are_surely_slower_are_reported_the_slowest_first(tmp_path: Path) -> None:
    interference = report(
        tmp_path,
        slow_down(1, 1.5, 1.4, 1.6),
        slow_down(2, 2.5, 2.2, 2.9),
        slow_down(1, 1.5, 1.4, 1.6, access="write", pattern=""),
        slow_down(2, 3.1, 2.8, 3.4, access="create", pattern="file"),
        slow_down(2, 2.0, 0.8, 5.0, access="stat", pattern="file"),
        met(2.5),
    )
    assert interference.headline.name == "largest slow-down"
    assert interference.headline.value == 2.5
    assert interference.headline.context.startswith("group 2 mdtest next to 1 ior")
    sentences = [t for t in texts(interference) if "times slower" in t]
    assert sentences == [
        "Create (file) of group 2 mdtest is 3.10 [2.80, 3.40] times slower next to 1 ior.",
        "Write of group 1 ior is 1.50 [1.40, 1.60] times slower next to 2 mdtest.",
    ]
    (matrix,) = [f for f in interference.figures() if f.id == "slow-down"]
    (panel,) = matrix.variants[""]
    assert panel.y_labels == ["1 ior", "2 mdtest"]
    assert panel.x_labels == ["1 ior", "2 mdtest"]
    assert panel.values == [[None, 1.5], [2.5, None]]
    (drawn,) = figure_data(matrix, "m")["variants"]
    assert drawn["panels"][0]["shown"] == [["", "1.500"], ["2.500", ""]]
    tables = {b.title: b for s in interference.sections for b in s.blocks if isinstance(b, Table)}
    (overlap,) = tables["Which phase met which, in all rounds"].rows
    assert overlap[:4] == ["1 ior", "write", "2 mdtest", "create (file)"]
    assert overlap[5] == 0.25
    assert len(tables["Times slower than alone, by phase"].rows) == 3
    assert "3.10 [2.80, 3.40] times slower" in render([interference], ["r"])


def test_three_rounds_have_no_interval(tmp_path: Path) -> None:
    """Older results have one: it is not shown, and nothing follows from it."""
    interference = report(
        tmp_path,
        slow_down(1, 1.5, 1.4, 1.6, 3),
        slow_down(1, 1.5, 1.4, 1.6, 3, access="write", pattern=""),
    )
    assert texts(interference)[-1].endswith("in 3 rounds: chance is not ruled out.")
    assert "1.40" not in render([interference], ["r"])
    tables = {b.title: b for s in interference.sections for b in s.blocks if isinstance(b, Table)}
    assert list(tables["Times slower than alone, by phase"].rows[0][4:]) == [None, None, 3]


def test_an_interval_that_holds_1_is_not_a_slow_down(tmp_path: Path) -> None:
    interference = report(
        tmp_path,
        slow_down(1, 1.2, 0.9, 1.6),
        slow_down(1, 1.2, 0.9, 1.6, access="write", pattern=""),
    )
    assert "No phase is slower next to another group than chance explains." in texts(interference)
    assert interference.headline.context.endswith("; not known to be slower than alone")
    assert interference.headline.interval.startswith("0.900 to 1.60 (95 %, ")


def test_one_round_is_reported_with_its_doubt(tmp_path: Path) -> None:
    interference = report(
        tmp_path, slow_down(1, 2.0), slow_down(1, 2.0, access="write", pattern="")
    )
    assert any(t.endswith("in 1 round: chance is not ruled out.") for t in texts(interference))
    assert interference.headline.interval == "one round says nothing about the next"


def test_three_rounds_are_not_called_one(tmp_path: Path) -> None:
    """The default: too few for an interval, and more than one."""
    interference = report(
        tmp_path,
        slow_down(1, 2.0, rounds=3),
        slow_down(1, 2.0, rounds=3, access="write", pattern=""),
        slow_down(2, None),
    )
    assert any(t.endswith("in 3 rounds: chance is not ruled out.") for t in texts(interference))
    assert interference.headline.interval.endswith(" (range of 3)")
    assert "1 slow-down is not known: a group failed." in texts(interference)


def test_a_group_that_failed_has_no_slow_down(tmp_path: Path) -> None:
    interference = report(tmp_path, slow_down(1, None), slow_down(2, None))
    assert interference.headline.value is None
    assert "2 slow-downs are not known: a group failed." in texts(interference)


def test_a_run_that_was_killed_at_once_is_reported(tmp_path: Path) -> None:
    assert report(tmp_path).headline.value is None
