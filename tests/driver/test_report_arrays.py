# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of FLASH I/O and of the library comparison, against known results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of, write_report
from effio.report.common.certainty import FEW
from effio.report.html import render
from effio.report.model import Figure, Report, Table
from effio.report.together import across
from effio.store.reader import read_result

MB = 1_000_000
FLASH_IO = ("flash_io", "flash_io_synced", "flash_io_restart")


def _measurement(
    benchmark: str, access: str, pattern: str, parts: made.Line, **more: Any
) -> made.Line:
    """100 MB; `parts` are seconds."""
    total = sum(parts.values())
    line: made.Line = {
        "schema": made.SCHEMA,
        "kind": "measurement",
        "benchmark": benchmark,
        "pattern": pattern,
        "access": access,
        "where": {"backend": "hdf5", "cells": 16} if benchmark == "flash-io" else {},
        "ranks": 2,
        "nodes": 1,
        "repetition": 1,
        "bytes": 100 * MB,
        "operations": 60,
        "seconds": {"total": made.spread(total)} | {k: made.spread(v) for k, v in parts.items()},
        "rate": {"value": 100 * MB / total, "unit": "B/s", "better": "higher"},
        "valid": True,
        "stopped_by": "count",
        "call_times": None,
        "hints_asked": {},
        "hints_granted": {},
        "verified_bytes": 100 * MB if access == "read" else 0,
        "error_count": 0,
        "errors": [],
        "cache": None,
        "detail": {
            "by_definition_seconds": total - parts.get("sync", 0.0),
            "library": {"collective_calls": 60, "done_collectively": 40},
        },
    }
    line.update(more)
    return line


def _figure(
    name: str, value: float, where: made.Line, unit: str = "B/s", **detail: Any
) -> made.Line:
    benchmark = "flash-io" if name in ("repetition_bandwidth", *FLASH_IO) else "libraries"
    return made.figure(name, value, unit, where=where, detail=detail, benchmark=benchmark)


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    path = made.write(tmp_path / "run.jsonl", lines, foreign)
    result = read_result(path)
    return report_of("run", result, result.remarks)


def _block(report: Report, title: str) -> Table:
    blocks = [b for s in report.sections for b in s.blocks]
    return next(b for b in blocks if isinstance(b, Table) and b.title == title)


def _drawn(report: Report, identity: str) -> Figure:
    return next(f for f in report.figures() if f.id == identity)


def flash_lines() -> list[made.Line]:
    where = {"ranks": 2, "backend": "hdf5"}
    written = {"header": 0.1, "unknown": 0.8, "sync": 3.0, "close": 0.1}
    lines = [
        made.run_line(benchmark="flash-io"),
        _measurement("flash-io", "write", "checkpoint", written),
        _measurement("flash-io", "read", "checkpoint", {"open": 0.1, "data": 0.4}),
        _figure(
            "repetition_bandwidth",
            100 * MB,
            {**where, "repetition": 1},
            compute_seconds=12.0,
            io_fraction=0.25,
        ),
        _figure("flash_io", 100 * MB, where),
        _figure("flash_io_synced", 25 * MB, where),
        _figure("flash_io_restart", 200 * MB, where),
        made.end(),
    ]
    return made.numbered(lines)


@pytest.mark.parametrize(("until_ci", "said"), [(0, True), (0.05, False)])
def test_flash_io_says_what_a_time_limit_left_out(
    tmp_path: Path, until_ci: float, said: bool
) -> None:
    """With --until-ci the repetitions are a maximum."""
    lines = flash_lines()
    lines[0]["options"] = {**lines[0]["options"], "repetitions": 5, "until-ci": until_ci}
    for line in lines:
        if line.get("name") in FLASH_IO:
            line["detail"]["repetitions_left_out_by_time_limit"] = 3
    texts = [finding.text for finding in _reported(tmp_path, lines).findings]
    text = "--time-limit was over before all was measured: of 5 repetitions, 3 were left out."
    assert (text in texts) is said


def test_a_restart_that_checked_nothing_is_not_said_to_be_right(tmp_path: Path) -> None:
    lines = flash_lines()
    for line in lines:
        line.update({"verified_bytes": 0} if line["kind"] == "measurement" else {})
    text = " ".join(finding.text for finding in _reported(tmp_path, lines).findings)
    assert "no value was checked" in text
    assert "every value was right" not in text


def test_flash_io_shows_what_the_definition_leaves_out(tmp_path: Path) -> None:
    report = _reported(tmp_path, flash_lines())
    assert (report.headline.name, report.headline.shown()) == (
        "writes, flushed",
        "25.00 MB/s",
    )
    assert report.headline.context == "on 2 ranks, hdf5"
    assert report.headline.counts == "writes, in memory or on storage: not known"
    text = "\n".join(f.text for f in report.findings)
    assert "25.00 MB/s, 25 % of the number by the definition" in text
    assert "Most of the time of writing (75 %) went into the flush to storage." in text
    assert "Reading back ran at 200.0 MB/s" in text
    assert "every value was right" in text
    assert "Of 120 collective calls hdf5 carried out 80 collectively." in text
    assert "Dumps took 25 % of the time of the series" in text
    row = list(_block(report, "Files").rows[0])
    assert row[:4] == ["write", "checkpoint", 1, 100 * MB]
    assert row[4] == pytest.approx(1.0)
    titles = [column.name for column in _block(report, "Files").columns]
    parts = dict(zip(titles, row, strict=True))
    shown = [parts[name] for name in ("header and tree", "unknowns", "close", "sync to storage")]
    assert shown == pytest.approx([0.1, 0.8, 0.1, 3.0])
    assert parts["data"] is None
    stacks = {s.name: list(s.y) for s in _drawn(report, "file-parts").variants[""][0].series}
    assert stacks["unknowns"] == [0.8, 0.0]
    assert stacks["data"] == [0.0, 0.4]
    render([report], ["run.jsonl"])


def test_the_evidence_of_a_synced_rate_is_that_after_the_sync(tmp_path: Path) -> None:
    """By the definition the clock stops before the sync, when a part is still in memory."""
    lines = flash_lines()
    lines[1]["cache"] = {"verdict": "cache", "storage_fraction": 0.01, "unwritten_bytes": 0}
    lines[5]["samples"] = {"count": 1}
    report = _reported(tmp_path, lines)
    assert (
        report.headline.basis()
        == "writes until on storage; one repetition says nothing about the next"
    )
    (card,) = [f for f in report.findings if f.card == "cache"]
    assert card.text.startswith("On storage: 100 % of the bytes written")
    # Without the sync's rate the number is that of the definition.
    del lines[5]
    assert _reported(tmp_path, lines).headline.counts == "writes into memory"


def test_the_fastest_write_is_a_claim_about_its_own_files(tmp_path: Path) -> None:
    def report(rates: dict[str, list[float]]) -> Report:
        lines = libraries_lines()
        written = []
        for library, some in rates.items():
            where = {k: v for k, v in _point(library).items() if k != "access"}
            for n, rate in enumerate(some):
                line = _measurement("libraries", "write", "weak", {"data": 1.0}, where=where)
                line |= {"repetition": n + 1, "rate": {**line["rate"], "value": 900 * MB}}
                line["detail"] = {"synced_bandwidth_bytes_per_second": rate * MB}
                line["cache"] = {"verdict": "cache", "unwritten_bytes": 0}
                written.append(line)
        lines[1:2] = written
        (best,) = [line for line in lines if line.get("name") == "libraries"]
        best["detail"]["until_on_storage"] = True
        return _reported(tmp_path, lines)

    once = report({"fortran-fpp": [100.0], "hdf5": [20.0]}).headline
    assert once.basis() == "writes until on storage; one repetition says nothing about the next"
    assert once.context.endswith("; not known to be the fastest: measured once")
    few = report({"fortran-fpp": [99.0, 101.0], "hdf5": [20.0, 21.0]}).headline
    assert few.interval == "99.00 MB/s to 101.0 MB/s (range of 2)"
    assert few.context.endswith("; not known to be the fastest: " + FEW)
    around = [98.0, 101.0, 99.0, 102.0, 100.0]
    known = report({"fortran-fpp": around, "hdf5": [x - 50 for x in around]}).headline
    # t(0.975, 4) √2.5 / √5 is 1.96 of 100.
    assert known.interval == "± 1.96 % (95 %)"
    assert known.context == "fortran-fpp, hints none, 2 ranks"
    alike = report({"fortran-fpp": around, "hdf5": [x - 1 for x in around]}).headline
    assert alike.context.endswith("; not known to be the fastest: the 95 % intervals overlap")


def test_wrong_values_of_a_restart_are_bad_news(tmp_path: Path) -> None:
    lines = flash_lines()
    lines[2]["error_count"] = 7
    report = _reported(tmp_path, lines)
    found = next(f for f in report.findings if "WRONG" in f.text)
    assert "7 values were WRONG" in found.text
    assert found.level == "bad"


def _point(library: str, hints: str = "none", processes: int = 2) -> made.Line:
    place = {"library": library, "hints": hints, "edge": 96, "processes": processes}
    return {**place, "access": "write"}


def libraries_lines() -> list[made.Line]:
    def rate(library: str, value: float, hints: str = "none", processes: int = 2) -> made.Line:
        where = _point(library, hints, processes)
        samples = {"count": 3, "min": value / 2, "max": 2 * value}
        samples |= {"low95": 0.95 * value, "high95": 1.05 * value}
        line = _figure("library_bandwidth", value, where, mean_seconds=100 * MB / value)
        return {**line, "samples": samples}

    def gain(name: str, where: made.Line) -> made.Line:
        samples = {"count": 5, "low95": -0.1, "high95": 1.5}
        return {**_figure(name, 0.5, where, "1"), "samples": samples}

    mean = _point("hdf5", "largeblock")
    del mean["processes"]
    lines = [
        made.run_line(benchmark="libraries"),
        _measurement("libraries", "write", "weak", {"open": 0.1, "data": 0.9}),
        rate("fortran-fpp", 100 * MB),
        rate("posix", 80 * MB),
        rate("mpiio", 50 * MB),
        rate("hdf5", 40 * MB),
        rate("hdf5", 60 * MB, "largeblock"),
        rate("hdf5", 30 * MB, processes=1),
        _figure("overhead", 1.5, _point("hdf5"), "1", baseline="fortran-fpp", ratio_of="mean rates")
        | {"samples": {"count": 5, "low95": 1.2, "high95": 1.8}},
        _figure(
            "overhead", 1.0, _point("mpiio"), "1", baseline="fortran-fpp", ratio_of="mean rates"
        ),
        _figure(
            "overhead",
            9.0,
            _point("hdf5", processes=1),
            "1",
            baseline="fortran-fpp",
            ratio_of="mean rates",
        ),
        gain("hint_gain", _point("hdf5", "largeblock")),
        gain("hint_gain_mean", mean),
        _figure("layer_seconds", 0.5, _point("hdf5"), "s", seconds=2.5, below="mpiio"),
        _figure("layer_seconds", 0.75, _point("mpiio"), "s", seconds=2.0, below="posix"),
        _figure("layer_seconds", 1.25, _point("posix"), "s", seconds=1.25, below=""),
        _figure("libraries", 100 * MB, {}, fastest_write=_point("fortran-fpp")),
        made.end(),
    ]
    return made.numbered(lines)


def test_the_comparison_shows_overheads_gains_and_layers(tmp_path: Path) -> None:
    report = _reported(tmp_path, libraries_lines())
    assert report.headline.shown() == "100.0 MB/s"
    assert report.headline.context == "fortran-fpp, hints none, 2 ranks"
    text = "\n".join(f.text for f in report.findings)
    assert (
        "Writing, overhead over fortran-fpp by the mean rates, on 2 processes: mpiio +100 %"
        " (96³ cells) at best,"
        " hdf5 +150 % (96³ cells)" in text
    )
    assert "hdf5 +150 % (96³ cells) at worst." in text
    over = _drawn(report, "overhead")
    assert over.title == "Overhead over fortran-fpp"
    (bars_over,) = over.variants["write, 96³ cells on 2 processes"][0].series
    assert (list(bars_over.low), list(bars_over.high)) == ([1.2, None], [1.8, None])
    # The interval of +50 % reaches from -10 % to +150 %: it may be none.
    hints = next(f for f in report.findings if "largeblock" in f.text)
    assert hints.text == (
        "No difference was found by the hints largeblock with hdf5 (write, 96³ cells)."
    )
    assert hints.level == "info"
    bars = _drawn(report, "hint-gain").variants["write, 96³ cells"][0].series
    # The interval is a whisker, no bar that could be taken for a gain.
    assert [(s.name, s.y, s.low, s.high) for s in bars] == [("mean gain", [0.5], [-0.1], [1.5])]
    rates = _drawn(report, "library-rates").variants["write, 96³ cells"][0].series
    hdf5 = next(s for s in rates if s.name == "hdf5")
    assert (list(hdf5.x), list(hdf5.y)) == ([1.0, 2.0], [30.0 * MB, 40.0 * MB])
    layers = _drawn(report, "layers").variants["write, 96³ cells on 2 processes"][0].series
    # hdf5 uses mpiio, and that the system: 0.5 + 0.75 + 1.25 s.
    assert {s.name: s.y[0] for s in layers} == {"hdf5": 0.5, "mpiio": 0.75, "the system": 1.25}
    row = next(r for r in _block(report, "Points").rows if r[1:4] == ["hdf5", "largeblock", 2])
    assert row[-3:] == [0.5, -0.1, 1.5]
    render([report], ["run.jsonl"])


def _overhead_text(tmp_path: Path, **samples: Any) -> str:
    lines = libraries_lines()
    for line in lines:
        if line.get("name") == "library_bandwidth":
            line["samples"] |= samples
    return next(
        f.text for f in _reported(tmp_path, lines).findings if "Writing, overhead over" in f.text
    )


def test_overheads_are_best_and_worst_only_if_they_are_apart(tmp_path: Path) -> None:
    over = "Writing, overhead over fortran-fpp by the mean rates, on 2 processes"
    assert _overhead_text(tmp_path, count=1) == (
        f"{over}: mpiio +100 % (96³ cells; measured once), hdf5 +150 % (96³ cells; measured once);"
        " whether these two differ is not known: measured once."
    )
    # 45 to 48 MB/s of mpiio and hdf5 are in both intervals; fortran-fpp has 100 MB/s.
    text = _overhead_text(tmp_path, count=5, low95=30 * MB, high95=48 * MB)
    assert text.endswith("; whether these two differ is not known: the 95 % intervals overlap.")
    text = _overhead_text(tmp_path, low95=None, high95=None)
    assert f"mpiio +100 % (96³ cells; {FEW})" in text


def test_an_older_result_says_that_its_overheads_are_of_mean_times(tmp_path: Path) -> None:
    new = _reported(tmp_path, libraries_lines())
    lines = libraries_lines()
    for line in lines:
        if line.get("name") == "overhead":
            del line["detail"]["ratio_of"]
    old = _reported(tmp_path, lines)
    for report, of, is_twice in ((new, "rate", "half the rate"), (old, "time", "twice the time")):
        finding = next(f.text for f in report.findings if "overhead over" in f.text)
        assert f"by the mean {of}s, on 2 processes" in finding
        for caption in (_drawn(report, "overhead").caption, _block(report, "Points").caption):
            assert f"Overhead: mean {of} of" in caption
            assert f"100 % is {is_twice}" in caption


def test_parts_of_a_library_s_time_sum_to_the_whole(tmp_path: Path) -> None:
    """hdf5 takes 0.2 s, mpiio alone 2 s: what is slower alone undecided apart."""
    lines = libraries_lines()
    own = {"hdf5": -1.8, "mpiio": 0.75, "posix": 1.25}
    for line in lines:
        if line.get("name") == "layer_seconds":
            line["metric"]["value"] = own[line["where"]["library"]]
    report = _reported(tmp_path, lines)
    figure = _drawn(report, "layers")
    layers = figure.variants["write, 96³ cells on 2 processes"][0].series
    bars = {s.name: dict(zip(s.x, s.y, strict=True)) for s in layers}
    assert {name: bar["hdf5"] for name, bar in bars.items()} == {
        "several layers together": pytest.approx(0.2), "mpiio": 0.0, "the system": 0.0,
    }  # fmt: skip
    assert {name: bar["mpiio"] for name, bar in bars.items()} == {
        "several layers together": 0.0, "mpiio": 0.75, "the system": 1.25,
    }  # fmt: skip
    # The table of points has what the records say.
    points = _block(report, "Points")
    at = [column.name for column in points.columns].index("own time")
    assert {str(row[1]): row[at] for row in points.rows if row[at] is not None} == own


def test_a_gain_is_one_only_with_its_interval(tmp_path: Path) -> None:
    lines = libraries_lines()
    (mean,) = [line for line in lines if line.get("name") == "hint_gain_mean"]
    mean["samples"] |= {"low95": 0.2, "high95": 0.9}
    hints = next(f for f in _reported(tmp_path, lines).findings if "largeblock" in f.text)
    assert "changed the rate by +50 % (+20 to +90 %, 95 % confidence)." in hints.text
    assert hints.level == "good"
    mean["metric"]["value"], mean["samples"]["low95"], mean["samples"]["high95"] = -0.3, -0.4, -0.1
    hints = next(f for f in _reported(tmp_path, lines).findings if "largeblock" in f.text)
    assert hints.level == "warn"
    # Three repetitions of an older result have no interval, and no gain; one has none.
    mean["samples"]["count"] = 3
    assert not [f for f in _reported(tmp_path, lines).findings if "largeblock" in f.text]
    del mean["samples"]
    assert not [f for f in _reported(tmp_path, lines).findings if "largeblock" in f.text]


def _flash_on(ranks: int, rate: float) -> list[made.Line]:
    lines = flash_lines()
    lines[0]["system"]["ranks"] = ranks
    for line in lines:
        if line.get("name") == "flash_io":
            line["metric"]["value"] = rate
    return lines


def test_several_runs_make_one_scaling_figure(tmp_path: Path) -> None:
    runs = [_flash_on(1, 100 * MB), _flash_on(4, 300 * MB), _flash_on(4, 340 * MB)]
    paths = [
        made.write(tmp_path / f"{n}.jsonl", made.numbered(lines)) for n, lines in enumerate(runs)
    ]
    results = [read_result(path) for path in paths]
    (figure,) = across(results)
    assert isinstance(figure, Figure)
    (series,) = figure.variants["write, by the definition, block edge 16"][0].series
    assert (list(series.x), list(series.y)) == ([1.0, 4.0], [100.0 * MB, 320.0 * MB])
    assert list(series.high) == [100.0 * MB, 340.0 * MB]
    # 320 MB/s where four times 100 MB/s would be linear: 80 % of it.
    row = figure.as_table().rows[1]
    assert row[2:] == [4, 320.0 * MB, 80.0 * MB, pytest.approx(0.8), 2]
    page = write_report(paths, tmp_path / "page.html").read_text()
    assert "Scaling over all runs" in page
    # One number of ranks shows no scaling, and one run has nothing to compare with.
    assert across(results[1:]) == []
    assert across(results[:1]) == []


def test_points_of_several_comparisons_make_one_curve(tmp_path: Path) -> None:
    results = []
    for n in (1, 2):
        path = made.write(
            tmp_path / f"{n}.jsonl",
            made.numbered(libraries_lines()),
        )
        results.append(read_result(path))
    (figure,) = across(results)
    assert isinstance(figure, Figure)
    series = figure.variants["write, 96³ cells, weak scaling"][0].series
    hdf5 = next(s for s in series if s.name == "hdf5")
    assert (list(hdf5.x), list(hdf5.y)) == ([1.0, 2.0], [30.0 * MB, 40.0 * MB])
    assert {s.name for s in series} == {
        "fortran-fpp",
        "posix",
        "mpiio",
        "hdf5",
        "hdf5 + largeblock",
    }


@pytest.mark.parametrize("lines", [flash_lines(), libraries_lines()], ids=["flash-io", "libraries"])
def test_incomplete_results_are_borne(tmp_path: Path, lines: list[made.Line]) -> None:
    for kept in (1, 2, 3):
        report = _reported(tmp_path, lines[:kept])
        assert report.headline.value is None
        assert report.headline.missing
        render([report], ["run.jsonl"])


def test_foreign_details_of_libraries_do_no_harm(tmp_path: Path) -> None:
    lines = libraries_lines()
    for line in lines:
        if line["kind"] == "figure":
            line["detail"] = {
                "fastest_write": 3,
                "until_on_storage": [],
                "baseline": 1,
                "below": {},
            }
            line["detail"] |= {"mean_seconds": -1.0, "synced_bandwidth_bytes_per_second": "x"}
    report = _reported(tmp_path, lines, foreign=True)
    assert report.headline.name == "fastest write, not flushed"
    assert report.headline.context.startswith("on up to ")
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    table = next(t for t in tables if t.title == "Points")
    names = [c.name for c in table.columns]
    for row in table.rows:
        assert (row[names.index("on storage")], row[names.index("time")]) == (None, None)
