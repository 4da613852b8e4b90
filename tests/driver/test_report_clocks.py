# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of the clocks of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.common.system import clock_finding, clock_rows
from effio.store.reader import Result, read_result


def skew(ahead: float, within: float, **more: Any) -> made.Line:
    nodes = [{"node": 1, "name": "n2", "ahead_seconds": ahead, "within_seconds": within}]
    reported = {"nodes_compared": 2, "apart_seconds": abs(ahead), "within_seconds": within}
    return {**reported, "nodes": nodes, **more}


def result(
    path: Path,
    clock: made.Line,
    at_end: object = None,
    nodes: int = 2,
    ticks: object = None,
    foreign: bool = False,
) -> Result:
    run = made.run_line()
    run["clock"] = {**run["clock"], **clock}
    run["system"] = {**run["system"], "nodes": nodes}
    end = made.end()
    if at_end is not None:
        end["detail"] = {**end["detail"], "clock_skew": at_end}
    if ticks is not None:
        end["detail"] = {**end["detail"], "clock_ticks": ticks}
    return read_result(made.write(path / "result.jsonl", made.numbered([run, end]), foreign))


def test_one_node_has_one_clock(tmp_path: Path) -> None:
    assert clock_rows(result(tmp_path, {})) == [
        ("clock", "CLOCK_MONOTONIC, source tsc, in steps of 20.0 ns")
    ]


def test_a_result_of_before_names_the_source_with_the_kernel(tmp_path: Path) -> None:
    clock = {"source": "", "kernel_sources": []}
    assert clock_rows(result(tmp_path, clock, foreign=True)) == [
        ("clock", "source tsc, in steps of 20.0 ns")
    ]


def test_the_cost_of_timing_and_a_counter_that_changed_are_reported(tmp_path: Path) -> None:
    run = result(tmp_path, {"source": "TSC", "call_timing_seconds": 22e-9})
    assert clock_rows(run) == [
        ("clock", "TSC, source tsc, in steps of 20.0 ns, timing a call costs 22.0 ns")
    ]
    assert clock_finding(run) is None
    end = {"off_by": 0.012, "within": 1e-6, "agrees": False}
    other = tmp_path / "other"
    other.mkdir()
    found = clock_finding(result(other, {"source": "TSC"}, ticks=end))
    assert found is not None
    assert "changed its rate by 1.2 %" in found.text


def test_virtual_time_is_a_model_s(tmp_path: Path) -> None:
    rows = clock_rows(result(tmp_path, {"virtual": True, "source": "model"}))
    assert rows == [("clock", "virtual: the times are a model's")]


def test_nodes_whose_clocks_run_alike(tmp_path: Path) -> None:
    end = skew(
        *(1000.000001, 2e-6),
        after_seconds=20.0,
        changed_seconds=-3e-6,
        changed_within_seconds=4e-6,
    )
    rows = clock_rows(result(tmp_path, {"skew": skew(1000.000004, 2e-6)}, end))
    assert rows[1] == (
        "clocks of the nodes",
        "16 min 40 s apart, ± 2.00 µs; no change found in 20.0 s, ± 4.00 µs",
    )


def test_nodes_whose_clocks_drift(tmp_path: Path) -> None:
    """50 µs in 20 s are 2.5 millionths."""
    end = skew(
        *(1000.00005, 2e-6), after_seconds=20.0, changed_seconds=5e-5, changed_within_seconds=4e-6
    )
    rows = clock_rows(result(tmp_path, {"skew": skew(1000.0, 2e-6)}, end))
    assert rows[1][1].endswith("; changed by 50.0 µs ± 4.00 µs in 20.0 s: 2.5 ppm")


def test_of_many_nodes_some_are_compared(tmp_path: Path) -> None:
    rows = clock_rows(result(tmp_path, {"skew": skew(1.0, 2e-6)}, nodes=900))
    assert rows[1][1] == "1.00 s apart, ± 2.00 µs (of 2 nodes that were compared)"


@pytest.mark.parametrize("reported", [7, "far", [], {"apart_seconds": -1.0}, {"nodes": [1]}])
def test_an_end_that_says_nonsense_of_clocks_says_nothing(tmp_path: Path, reported: object) -> None:
    rows = clock_rows(result(tmp_path, {"skew": skew(1.0, 2e-6)}, reported, foreign=True))
    assert rows[1][1] == "1.00 s apart, ± 2.00 µs"
