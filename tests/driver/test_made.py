# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten results are as an engine writes them, and those that are not are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver import made
from results import fault_of_line


@pytest.mark.parametrize("benchmark", made.ALL)
def test_lines_of_every_benchmark_are_complete(benchmark: str) -> None:
    run = made.run_line(benchmark=benchmark)
    cell = made.measurement("write", "p", 1, 1e6, benchmark=benchmark)
    figures = [
        made.figure(f["name"], 1.0, f["unit"] or "1", benchmark=benchmark, where={}, samples={})
        for f in made.ALL[benchmark]["figures"]
    ]
    lines = made.numbered([run, cell, *figures, made.end()])
    assert [fault_of_line(line) for line in lines] == [""] * len(lines)


def test_what_a_test_gives_stays() -> None:
    where = {"files": "per-process", "segments": 7}
    line = made.measurement("read", "p", 1, 2e6, benchmark="ior", where=where)
    assert line["where"] == where | {
        "transfer_bytes": 1 << 20,
        "block_bytes": 1 << 20,
        "workers": 2,
    }
    assert (line["access"], line["rate"]["value"]) == ("read", 2e6)
    # Members of members as well.
    detail = {"slowest_ranks": [{"rank": 3}]}
    line = made.measurement("read", "p", 1, 2e6, benchmark="ior", detail=detail)
    (rank,) = line["detail"]["slowest_ranks"]
    assert (rank["rank"], rank["host"]) == (3, "node01")


def test_files_of_a_run_are_in_its_directory() -> None:
    manifest = {
        "directory": "/here",
        "files": [{"name": "a"}, {"name": "b", "directory": "/there"}],
    }
    files = made.run_line(manifest=manifest)["manifest"]["files"]
    assert [(one["directory"], one["count"], one["step"]) for one in files] == [
        ("/here", 1, 1),
        ("/there", 1, 1),
    ]


def test_a_line_that_no_engine_writes_is_refused_unless_it_is_marked(tmp_path: Path) -> None:
    lines = made.b_eff_io()[:3]
    path = made.write(tmp_path / "r.jsonl", lines)
    with pytest.raises(AssertionError, match="marked as foreign, but"):
        made.write(path, lines, foreign=True)
    lines[1]["where"]["color"] = "red"
    with pytest.raises(AssertionError, match=r"(?s)no such line: \$.where: .*'color' was unexp"):
        made.write(path, lines)
    assert "red" not in path.read_text()
    made.write(path, lines, foreign=True)
    assert "red" in path.read_text()


def test_an_invalid_measurement_has_no_rate() -> None:
    line = made.measurement("write", "p", 1, 1e6) | made.invalid("disk full")
    assert fault_of_line({**line, "seq": 1}) == ""
    assert line["rate"]["value"] is None
