# SPDX-License-Identifier: BSD-3-Clause
"""Data that were wrong when they were compared after a phase: engines call the phase valid. Its
number is shown everywhere, and counts nowhere."""

from __future__ import annotations

from pathlib import Path

from driver import made
from effio.judge.samples import Judged, samples_of
from effio.report.build import report_of
from effio.report.lines import verdict_of
from effio.report.listing import line_of
from effio.report.points import points_of
from effio.store.folder import RunFolder
from effio.store.reader import Result, read_result

_CAUSE = "first wrong byte at 1500000: expected 0x3e, found 0x78"
_FAILURE = {"status": "data_errors", "operation": "verify", "cause": _CAUSE, "path": "/d/ior"}
_WHY = f"verify on /d/ior: {_CAUSE}"


def _phase(access: str, rate: float, wrong: bool, transfer: int = 1 << 20) -> made.Line:
    line = made.measurement(access, "shared sequential", 1, rate)
    line |= {"benchmark": "ior", "where": {"files": "shared", "transfer_bytes": transfer}}
    line["seconds"] = {"total": made.spread(1.0), "transfer": made.spread(0.5)}
    line["detail"] = {"span_seconds": {"open": 0.1, "transfer": 7.0, "close": 0.1}}
    if wrong:
        line |= {"error_count": 1, "errors": [{**_FAILURE, "rank": 0, "host": "n1"}]}
    return line


def _mean(access: str, rate: float, transfer: int = 1 << 20) -> made.Line:
    where = {"access": access, "transfer_bytes": transfer}
    samples = {"count": 2, "min": rate, "max": rate}
    name = f"{access}_bandwidth"
    return made.figure(name, rate, benchmark="ior", where=where, samples=samples)


def _run(folder: Path, *lines: made.Line) -> RunFolder:
    folder.mkdir(parents=True)
    given = [made.run_line(benchmark="ior"), *lines, made.end("data_errors", 1)]
    made.write(folder / "result.jsonl", made.numbered(given))
    return RunFolder(folder)


def _reads(folder: Path) -> RunFolder:
    """One of two reads found wrong data; the writes found none."""
    return _run(
        folder,
        *(_phase("write", 1e8, False) for _ in range(2)),
        _phase("read", 4e8, True),
        _phase("read", 4e8, False),
        _mean("read", 4e8),
    )


def _result(run: RunFolder) -> Result:
    return read_result(run.path / "result.jsonl")


def test_the_headline_of_wrong_data_is_not_valid_and_still_shown(tmp_path: Path) -> None:
    headline = report_of("run", _result(_reads(tmp_path / "run"))).headline
    assert (headline.shown(), headline.valid) == ("400.0 MB/s", False)
    assert headline.verdict.startswith("NOT VALID")
    assert [r.text for r in headline.reasons] == ["failed calls or wrong data in 1 measurement"]
    assert headline.evidence


def test_lists_tables_and_comparisons_do_not_count_it(tmp_path: Path) -> None:
    run = _reads(tmp_path / "run")
    line = line_of(run, _result(run))
    assert line["value"] == "400.0 MB/s"
    assert verdict_of(line).startswith("not valid")
    judged = Judged("run", run.path, _result(run))
    (point,) = points_of([judged])
    assert (point.values, point.validity) == ([], "not valid")
    samples = {key.access: sample for key, sample in samples_of([judged]).items()}
    assert samples["read"].invalid == [_WHY]
    assert samples["write"].invalid == []


def test_only_the_cells_with_wrong_data_lose_their_validity(tmp_path: Path) -> None:
    result = _result(_reads(tmp_path / "run"))
    assert [m.valid for m in result.measurements] == [True, True, False, True]
    assert [m.invalid_reason for m in result.measurements] == ["", "", _WHY, ""]
    assert all(m.rate.value for m in result.measurements)


def test_of_many_wrong_cells_the_access_decides(tmp_path: Path) -> None:
    """What a file says takes a time that grows with it, and not faster."""
    run = _run(
        tmp_path / "run",
        *(_phase("read", 4e8, True, 4096 * i) for i in range(1, 102)),
        _mean("read", 4e8),
        _mean("write", 1e8),
    )
    read, write = _result(run).figures
    assert (read.valid, write.valid) == (False, None)
    assert read.reasons == ["failed calls or wrong data in many measurements"]


def test_a_headline_prefers_a_cell_without_errors(tmp_path: Path) -> None:
    small = 4096
    run = _run(
        tmp_path / "run",
        _phase("write", 9e8, True, small),
        _phase("write", 1e8, False),
        _mean("write", 9e8, small),
        _mean("write", 1e8),
    )
    headline = report_of("run", _result(run)).headline
    assert (headline.shown(), headline.valid) == ("100.0 MB/s", None)


def test_a_reason_is_not_repeated_as_its_detail(tmp_path: Path) -> None:
    report = report_of("run", _result(_reads(tmp_path / "run")))
    section = next(s for s in report.sections if s.id == "errors")
    (row,) = section.blocks[0].rows  # type: ignore[union-attr]
    assert list(row)[2:] == [_WHY, ""]
