# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of ior: sentences and figures against a result whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import load, report_of
from effio.report.html import render
from effio.report.model import Report, Table
from effio.store.reader import read_result
from effio.store.run_record import CampaignPart, RunRecord


def phase(access: str, transfer: int, rate: float, **detail: Any) -> made.Line:
    line = made.measurement(access, "shared sequential", 1, rate)
    line["benchmark"] = "ior"
    line["where"] = {"files": "shared", "transfer_bytes": transfer, "block_bytes": 1 << 20}
    line["seconds"] = {"total": made.spread(1.0), "transfer": made.spread(0.5)}
    line["detail"] = {
        "span_seconds": {"open": 0.1, "transfer": 7.0, "close": 0.1},
        "rank_rate_bytes_per_second": {"min": 1e6, "mean": 2e6, "max": 4e6},
        "time_series": {"slice_seconds": 2.0, "bytes": [2e6, 4e6, 6e6, 1e6, 0.0]},
        **detail,
    }
    return line


def lines() -> list[made.Line]:
    wall = {"tail_seconds": 2.0, "last_done_seconds": 10.0}
    samples = {"count": 2, "low95": 150e6, "high95": 250e6}
    given = [
        made.run_line(benchmark="ior"),
        phase("write", 4096, 100e6, stonewall=wall),
        phase("read", 4096, 400e6, ranks_on_own_node=2),
        phase("write", 65536, 200e6, steady={"reached": False}),
        phase("read", 65536, 800e6),
        made.figure("write_bandwidth", 100e6, benchmark="ior"),
        made.figure("write_bandwidth", 200e6, benchmark="ior", samples=samples),
        made.figure("read_bandwidth", 400e6, benchmark="ior"),
        made.end(),
    ]
    return made.numbered(given)


def reported(tmp_path: Path, given: list[made.Line], foreign: bool = False) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", given, foreign))
    return report_of("run", result, result.remarks)


def test_the_headline_is_the_best_transfer_size(tmp_path: Path) -> None:
    report = reported(tmp_path, lines())
    headline = report.headline
    assert (headline.name, headline.shown()) == ("write_bandwidth", "200.0 MB/s")
    assert "<h1>Write bandwidth</h1>" in render([report], ["made"])


@pytest.mark.parametrize(
    ("access", "name"),
    [
        ("read", "read_bandwidth"),
        ("write", "write_bandwidth"),
        ("mixed", "write_bandwidth"),  # which was not measured
        ("", "write_bandwidth"),
    ],
)
def test_the_headline_is_of_the_access_that_a_step_is_for(
    access: str, name: str, tmp_path: Path
) -> None:
    result = read_result(made.write(tmp_path / "run.jsonl", lines()))
    part = CampaignPart(name="study", step="bulk", point="p", access=access)
    result.record = RunRecord(
        id="run", created="2026-11-20T12:00:00Z", benchmark="ior", arguments=[], directory="/",
        command=["mpiexec"], campaign=part,
    )  # fmt: skip
    assert report_of("run", result).headline.name == name


def test_the_headline_names_its_cell_and_the_ranks_that_took_part(tmp_path: Path) -> None:
    """Of four ranks two measured (--ranks 2), with two transfer sizes."""
    given = lines()
    given[0]["system"] |= {"ranks": 4, "ranks_per_node": {"min": 4, "max": 4}}
    few = {"count": 3, "min": 90e6, "max": 220e6}
    for number, transfer in ((5, 4096), (6, 65536)):
        given[number] |= {"where": {"transfer_bytes": transfer}, "samples": few}
    assert reported(tmp_path, given).headline.context == (
        "transfer 64 KiB, on 2 of 4 ranks, ext4, not known to be the highest:"
        " fewer than five repetitions have no interval"
    )
    # Five repetitions, 200 ± 5 MB/s and 100 ± 5 MB/s: apart.
    for number, mean in ((5, 100e6), (6, 200e6)):
        given[number]["samples"] = {"count": 5, "low95": mean - 5e6, "high95": mean + 5e6}
    report = reported(tmp_path, given)
    assert report.headline.context == "transfer 64 KiB, on 2 of 4 ranks, ext4"
    assert report.headline.interval == "± 5.000 MB/s (95 %)"
    # A single transfer size needs no name.
    assert reported(tmp_path, [*given[:5], given[6], *given[7:]]).headline.context == (
        "on 2 of 4 ranks, ext4"
    )


def test_the_sentences_follow_from_the_data(tmp_path: Path) -> None:
    text = "\n".join(f.text for f in reported(tmp_path, lines()).findings)
    # One sentence for each kind, whatever the number of phases.
    assert "in 1 of 4 phases the first worker finished well before the last (up to 2.00 s" in text
    assert "In 4 of 4 phases rank speeds differ by up to a factor of 4.0 (write 4 KiB" in text
    assert "In 1 of 4 phases the rate did not become steady; the first: write 64 KiB" in text
    assert "In 1 of 4 phases ranks read data of the same node" in text
    # An older result has an interval of two repetitions, which is not shown.
    assert "imprecise" not in text
    given = lines()
    for line in given:
        if "samples" in line:
            line["samples"] |= {"count": 5}
    text = "\n".join(f.text for f in reported(tmp_path, given).findings)
    assert "The mean of 1 rate is imprecise (worst: write bandwidth, ± 25 % with 95 %" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repetitions": 3, "time-limit": 1.0}, True),
        ({"repetitions": 3, "time-limit": 1.0, "until-ci": 0.05}, False),
        ({"repetitions": 1, "time-limit": 1.0}, False),
        ({"repetitions": 3, "time-limit": 0}, False),
    ],
)
def test_what_a_time_limit_left_out_is_said(
    tmp_path: Path, options: dict[str, Any], said: bool
) -> None:
    """Only the console said it."""
    given = [phase("write", 1 << 20, 1e9)]
    for access in ("write", "read"):
        where = {"access": access, "transfer_bytes": 1 << 20}
        given.append(made.figure(f"{access}_bandwidth", 1e9, benchmark="ior", where=where))
    run = made.run_line(benchmark="ior", ior={})
    run["options"] = {**run["options"], **options}
    report = reported(tmp_path, [run, *given, made.end()])
    text = (
        "--time-limit was over before all was measured: of 3 repetitions, write bandwidth has 1,"
        " read bandwidth has 0."
    )
    assert (text in [finding.text for finding in report.findings]) is said


def test_a_short_tail_is_not_imbalance(tmp_path: Path) -> None:
    walls = [{"tail_seconds": t, "last_done_seconds": 10.0} for t in (0.5, 3.0, 2.0)]
    phases = [phase("write", 4096, 100e6, stonewall=wall) for wall in walls]
    given = [lines()[0], *phases, made.end()]
    text = "\n".join(f.text for f in reported(tmp_path, given).findings)
    assert "in 2 of 3 phases the first worker finished well before the last (up to 3.00 s" in text


def test_reads_that_came_from_storage_are_not_doubted(tmp_path: Path) -> None:
    given = lines()
    doubt = "ranks read data of the same node"
    assert any(doubt in f.text for f in reported(tmp_path, given).findings)
    given[2]["cache"]["verdict"] = "device"
    assert not any(doubt in f.text for f in reported(tmp_path, given).findings)


def test_nothing_read_and_a_backend_that_keeps_nothing_are_not_doubted(tmp_path: Path) -> None:
    doubt = "ranks read data of the same node"
    given = lines()
    given[2]["bytes"] = 0
    assert not any(doubt in f.text for f in reported(tmp_path, given).findings)
    given = lines()
    given[0]["backend"] = {"name": "null"}
    assert not any(doubt in f.text for f in reported(tmp_path, given).findings)


@pytest.mark.parametrize(
    ("writes", "level", "said"),
    [
        ((795e6, 188e6, 99e6), "info", "went one way: write 4 KiB from 795.0 MB/s to 99.00 MB/s."),
        ((795e6, 188e6, 99e6, 80e6, 40e6), "warn", "write shared sequential: the values fall by"),
    ],
)
def test_rates_that_sink_from_repetition_to_repetition_are_a_finding(
    tmp_path: Path, writes: tuple[float, ...], level: str, said: str
) -> None:
    given, reads = lines()[:1], (1e9, 2e9, 1.5e9, 1.7e9, 1.4e9)
    for repetition, write in enumerate(writes, 1):
        read = reads[repetition - 1]
        given += [phase("write", 4096, write), phase("read", 4096, read)]
        given[-1]["repetition"] = given[-2]["repetition"] = repetition
    report = reported(tmp_path, made.numbered([*given, made.end()]))
    # Once, and reads go up and down: that is scatter.
    (drift,) = [f for f in report.findings if "first" in f.text]
    assert drift.level == level
    assert said in drift.text
    assert "read" not in drift.text


def test_the_figures_show_the_numbers(tmp_path: Path) -> None:
    report = reported(tmp_path, lines())
    figures = {f.id: f for f in report.figures()}
    write, _read = figures["rate-by-size"].variants[""][0].series
    assert (list(write.x), list(write.y)) == ([4096, 65536], [100e6, 200e6])
    course = figures["rate-by-time"].variants[""][0].series[0]
    # 7 s in slices of 2: the fourth is half a slice, and the fifth behind the end is none.
    assert (list(course.x), list(course.y)) == ([1.0, 3.0, 5.0, 6.5], [1e6, 2e6, 3e6, 1e6])
    table = next(b for s in report.sections for b in s.blocks if isinstance(b, Table))
    assert [row[0] for row in table.rows] == ["write", "read", "write", "read"]


def test_a_killed_or_strange_result_is_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, lines()[:1]).headline.value is None
    strange = lines()
    strange[1]["detail"] = {"time_series": 3, "stonewall": [], "span_seconds": "x"}
    assert reported(tmp_path, strange, foreign=True).headline.value == 200e6


def test_the_page_is_drawn(tmp_path: Path) -> None:
    path = made.write(tmp_path / "r.jsonl", lines())
    assert "Rate by transfer size" in render([report_of(*load(path))], ["r"])


def test_both_sides_of_a_mixed_phase(tmp_path: Path) -> None:
    def times(p99: float) -> made.Line:
        names = ("min", "mean", "max", "p50", "p90", "p99.9", "p99.99")
        return {
            "count": 3,
            **dict.fromkeys(names, 0.001),
            "p99": p99,
            "buckets_begin_ns_count": [[999424, 3]],
        }

    mix = {
        "asked_read_percent": 30,
        "read_operations": 3,
        "write_operations": 7,
        "read_call_times": times(0.25),
        "write_call_times": None,
    }
    given = lines()
    given[3:3] = [phase("mixed", 4096, 300e6, mix=mix)]
    given[-1:-1] = [made.figure("mixed_bandwidth", 300e6, benchmark="ior")]
    report = reported(tmp_path, given)
    (table,) = [
        b
        for s in report.sections
        for b in s.blocks
        if isinstance(b, Table) and b.title == "The two sides of mixed phases"
    ]
    assert table.rows == [
        [4096.0, 1, 30.0, "read", 3, 0.001, 0.25, 0.001],
        [4096.0, 1, 30.0, "write", 7, None, None, None],
    ]
