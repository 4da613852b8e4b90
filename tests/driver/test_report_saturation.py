# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of saturation, against a result whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Figure, Report
from effio.store.evidence import Place
from effio.store.reader import read_result

MB = 1_000_000
AXES = [
    {"name": "processes", "title": "processes", "unit": "1"},
    {"name": "transfer_bytes", "title": "transfer", "unit": "B"},
]
# MB/s by processes.
WRITES = {1: 100.0, 4: 400.0, 12: 970.0, 64: 1000.0}
READS = {1: 300.0, 4: 300.0, 12: 290.0, 64: 150.0}


def _where(access: str, **more: Any) -> made.Line:
    return {"transfer_bytes": 1 << 20, "pattern": "own file", "access": access} | more


def _enough(access: str, ranks: int, rates: dict[int, float], shape: str) -> made.Line:
    best = max(rates, key=lambda n: rates[n])
    line = made.figure("enough_ranks", ranks, "1", benchmark="saturation", where=_where(access))
    line["detail"] = {
        "of_ranks": 64,
        "rate_bytes_per_second": rates[ranks] * MB,
        "best_ranks": best,
        "best_rate_bytes_per_second": rates[best] * MB,
        "fewest_ranks": 1,
        "fewest_rate_bytes_per_second": rates[1] * MB,
        "shape": shape,
        "answer": "known",
    }
    line["samples"] = {"count": 3, "low95": ranks, "high95": ranks}
    return line


def made_lines(rounds: int = 5) -> list[made.Line]:
    run = made.run_line(benchmark="saturation", study={"axes": AXES})
    rates = [
        made.figure(
            "bandwidth", rate * MB, benchmark="saturation", where=_where(access, processes=n)
        )
        for access, curve in (("write", WRITES), ("read", READS))
        for n, rate in curve.items()
    ]
    write = _enough("write", 12, WRITES, "level")
    write["samples"] |= {"count": rounds, "low95": 4, "high95": 64}
    return made.numbered([run, *rates, write, _enough("read", 1, READS, "falling"), made.end()])


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines, foreign))
    return report_of("run", result, result.remarks)


def test_the_sentences_and_the_number(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    assert report.headline.shown() == "12"
    assert "own file write" in report.headline.context
    assert [f.text for f in report.findings][:2] == [
        "own file write, transfer 1 MiB: use 12 of 64 processes for I/O (95 % interval: 4 to 64):"
        " 970.0 MB/s of at most 1.000 GB/s (64 processes); 1 gets 100.0 MB/s;"
        " the rate grows, then stays level.",
        "own file read, transfer 1 MiB: use 1 of 64 processes for I/O: 300.0 MB/s;"
        " beyond the best number more are slower.",
    ]
    # Three rounds show little more than whether they agree.
    few = _reported(tmp_path, made_lines(3)).findings[0].text
    assert few.startswith("own file write, transfer 1 MiB: use 12 of 64 processes for I/O: 970.0")
    places = {s.id for s in report.sections} | {f.id for f in report.figures()}
    assert {f.anchor for f in report.findings} <= places
    assert render([report], [])


def test_the_number_is_that_of_one_curve(tmp_path: Path) -> None:
    """Writes of 1 MiB take the most processes; those of 64 KiB took the cache."""
    lines = made_lines()
    small = {**_where("write"), "transfer_bytes": 64 << 10}
    other = {**_enough("write", 4, WRITES, "level"), "where": small}
    cells = []
    for where, verdict in ((_where("write"), "device"), (small, "cache")):
        own = {n: v for n, v in where.items() if n not in ("pattern", "access")}
        m = made.measurement(
            "write", "own file", 1, 970 * MB, benchmark="saturation", where=own | {"processes": 12}
        )
        m["cache"]["verdict"] = verdict
        m["ranks"] = 12
        cells.append(m)
    lines[1:1] = cells
    headline = _reported(tmp_path, made.numbered([*lines[:-1], other, lines[-1]])).headline
    assert headline.shown() == "12"
    assert headline.context == "own file write, transfer 1 MiB, on 2 ranks, ext4"
    (evidence,) = headline.evidence
    assert evidence.bytes == 970 * MB
    assert set(evidence.of) == {Place.DEVICE}


def test_the_curve(tmp_path: Path) -> None:
    figure = next(f for f in _reported(tmp_path, made_lines()).figures() if f.id == "study-rates")
    assert isinstance(figure, Figure)
    assert figure.x.title == "processes"
    ((panel,),) = figure.variants.values()
    curves = {s.name: dict(zip(s.x, s.y, strict=True)) for s in panel.series}
    assert curves["own file write"] == {float(n): r * MB for n, r in WRITES.items()}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_that_are_incomplete(tmp_path: Path, count: int) -> None:
    report = _reported(tmp_path, made_lines()[:count])
    assert report.headline.value is None
    assert render([report], [])


def test_foreign_details_do_no_harm(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure":
            line["detail"] = {"of_ranks": "x", "shape": [1], "rate_bytes_per_second": {}}
    report = _reported(tmp_path, lines, foreign=True)
    assert report.headline.value == 12
    assert not any("use " in f.text for f in report.findings)
    assert render([report], [])


def test_one_repetition_says_nothing_of_how_many_are_enough(tmp_path: Path) -> None:
    """Never "use 1 of 64" nor "more are slower" from a single repetition."""
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure" and line["name"] == "enough_ranks":
            line["samples"] = {"count": 1}
    report = report_of("run", read_result(made.write(tmp_path / "one.jsonl", lines)))
    texts = " ".join(f.text for f in report.findings)
    assert "use " not in texts
    assert "slower" not in texts
    assert "processes; an answer needs at least two repetitions." in texts
    assert report.headline.name == "highest rate"


def test_no_number_is_enough_while_the_rate_still_grows(tmp_path: Path) -> None:
    why = "the rate still grows with all 64 processes: more may be needed"
    lines = made_lines()[:-1]
    for line in lines:
        if line["kind"] == "figure" and line["name"] == "enough_ranks":
            line["metric"] |= {"value": None, "reason": why}
            line["detail"] |= {"answer": "growing", "shape": "growing"}
    own = made.figure("saturation", None, "1", benchmark="saturation", where={})
    own["metric"] |= {"value": None, "reason": why}
    lines += [own, made.end()]
    report = _reported(tmp_path, made.numbered(lines))
    assert (report.headline.value, report.headline.missing) == (None, why)
    texts = " ".join(f.text for f in report.findings)
    assert "use " not in texts
    assert f"processes; {why}." in texts
    assert render([report], [])
