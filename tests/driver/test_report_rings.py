# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of the ring benchmark, against a result whose numbers are known."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Figure, Report, Table
from effio.store.reader import read_result

US = 1e-6
GB = 1e9
SHORT, LONG = 8, 2_000_000


def _measurement(
    family: str, length: int, seconds: made.Line, rate: float, **more: Any
) -> made.Line:
    where = {"family": family, "length_bytes": length}
    if "random_index" in more:
        where["random_index"] = more.pop("random_index")
    return {
        "schema": made.SCHEMA,
        "kind": "measurement",
        "benchmark": "rings",
        "pattern": family,
        "access": "exchange",
        "where": where,
        "ranks": 8,
        "nodes": 2,
        "bytes": 16 * length,
        "operations": 16,
        "seconds": {"total": seconds},
        "rate": {"value": rate, "unit": "B/s", "better": "higher"},
        "valid": True,
        "detail": more,
    }


def _ring(family: str, length: int, seconds: float, **more: Any) -> made.Line:
    return _measurement(
        family,
        length,
        made.spread(seconds),
        length / seconds,
        **{
            "sendrecv_seconds": 2 * seconds,
            "nonblocking_seconds": seconds,
            "measurements_spread_fraction": 0.05,
            "messages_within_nodes": 4,
            "messages_between_nodes": 12,
            **more,
        },
    )


def made_lines() -> list[made.Line]:
    run = made.run_line(benchmark="rings", file_system=None, manifest=None)
    run["backend"] = {"name": "mpi", "settings": {}}
    run["system"] = {**run["system"], "ranks": 8, "nodes": 2}
    run["system"]["cpu"] = {**run["system"]["cpu"], "logical_cpus": 4}
    figures = {
        "MaxPingPongLatency": (4 * US, "s"),
        "RandomlyOrderedRingLatency": (3 * US, "s"),
        "NaturallyOrderedRingLatency": (2 * US, "s"),
        "NaturallyOrderedRingBandwidth": (4 * GB, "B/s"),
        "RandomlyOrderedRingBandwidth": (1 * GB, "B/s"),
    }
    return made.numbered(
        [
            run,
            _measurement(
                "ping-pong", SHORT, {"min": 1 * US, "mean": 2 * US, "max": 4 * US}, 4e6,
                pairs=12, stride=3, bytes_per_second={"min": 2e6, "mean": 4e6, "max": 8e6},
            ),
            _ring("natural ring", SHORT, 2 * US),
            _ring("random ring", SHORT, 3 * US, random_index=0),
            _measurement(
                "ping-pong", LONG, {"min": 1e-4, "mean": 5e-4, "max": 1e-3}, 8 * GB,
                pairs=56, stride=1,
                bytes_per_second={"min": 2 * GB, "mean": 8 * GB, "max": 20 * GB},
            ),
            _ring("natural ring", LONG, 5e-4),
            # 2 MB in 1 ms and in 4 ms: 2 and 0.5 GB/s, geometric mean 1.
            _ring("random ring", LONG, 1e-3, random_index=0),
            _ring("random ring", LONG, 4e-3, random_index=1, measurements_spread_fraction=0.5),
            *(
                made.figure(name, value, unit, benchmark="rings", where={})
                for name, (value, unit) in figures.items()
            ),
            made.figure("random_ring_bandwidth", 8 * GB, benchmark="rings", where={}),
            made.figure(
                "balance", 0.16, "B/FLOP", benchmark="rings", where={},
                detail={"rmax_flops_per_second": 50e9},
            ),
            made.end(),
        ]
    )  # fmt: skip


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    result = read_result(made.write(tmp_path / "run.jsonl", lines, foreign))
    return report_of("run", result, result.remarks)


def _figure(report: Report, identity: str) -> Figure:
    return next(f for f in report.figures() if f.id == identity)


def _by_name(figure: Figure) -> dict[str, list[float | None]]:
    return {s.name: list(s.y) for s in figure.variants[""][0].series}


def test_the_headline_is_all_random_rings_together(tmp_path: Path) -> None:
    headline = _reported(tmp_path, made_lines()).headline
    assert headline.shown() == "8.000 GB/s"
    assert "8 ranks of 2 nodes" in headline.context


def test_pairs_natural_and_random_rings_are_side_by_side(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    bandwidth = _figure(report, "bandwidth")
    assert list(bandwidth.variants[""][0].series[0].x) == [
        "pairs, one at a time",
        "natural ring",
        "random rings",
    ]
    values = _by_name(bandwidth)
    assert values["smallest"] == pytest.approx([2 * GB, 4 * GB, 0.5 * GB])
    assert values["mean"] == pytest.approx([8 * GB, 4 * GB, 1 * GB])
    assert values["largest"] == pytest.approx([20 * GB, 4 * GB, 2 * GB])
    assert "2 MB" in bandwidth.title
    latency = _by_name(_figure(report, "latency"))
    assert latency["smallest"] == pytest.approx([1 * US, 2 * US, 3 * US])
    assert latency["largest"] == pytest.approx([4 * US, 2 * US, 3 * US])


def test_each_random_ring_next_to_the_natural_one(tmp_path: Path) -> None:
    values = _by_name(_figure(_reported(tmp_path, made_lines()), "rings"))
    assert values["random rings"] == pytest.approx([2 * GB, 0.5 * GB])
    assert values["natural ring"] == pytest.approx([4 * GB, 4 * GB])


def test_sentences(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    text = "\n".join(f.text for f in report.findings)
    assert "Balance: 0.1600 bytes" in text
    assert "of HPL of 50 GFLOP/s" in text
    assert "reach 25 % of the natural ring's bandwidth with 150 % of its latency" in text
    # One round: how far rates are apart by chance is not known.
    assert "latency: whether they differ is not known (measured once)." in text
    lines = made_lines()
    for line in lines:
        if line["kind"] == "figure" and "OrderedRing" in line["name"]:
            value = line["metric"]["value"]
            line["samples"] = {"count": 5, "low95": 0.9 * value, "high95": 1.1 * value}
    several = " ".join(f.text for f in _reported(tmp_path, lines).findings)
    assert (
        "with 150 % of its latency: how much of the difference is the network between nodes was"
        in several
    )
    assert "With 8 B only one rank in 3 took part in pairs (12 of them)" in text
    assert text.count("took part in pairs") == 1
    assert "The slowest pair has 10 % of the fastest one's bandwidth" in text
    assert "a process has 12 % of the bandwidth of a pair that is alone" in text
    assert "more than all of it" not in text
    for line in lines:
        if line["kind"] == "measurement" and "random" in line["pattern"]:
            line["rate"]["value"] *= 100
            line["seconds"]["total"] = {k: v / 100 for k, v in line["seconds"]["total"].items()}
    faster = " ".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "a pair that is alone: more than all of it, so the share is not known." in faster
    assert "In 1 of 5 rings the measurements differ by more than 25 %, at most by 50 %" in text
    # What differs is known, and why is not.
    assert "(random 1 with 2 MB); the result does not show why. The shortest one counts." in text
    # 4 ranks on the 4 CPUs of each node: nothing to say. And nothing was to be read back.
    assert "share" not in text
    assert "read" not in text.replace("reach", "")
    places = {s.id for s in report.sections} | {f.id for f in report.figures()}
    assert {f.anchor for f in report.findings} <= places


def test_values_are_those_of_all_rounds(tmp_path: Path) -> None:
    """The last round's pairs were compared with the rings of all rounds."""
    lines = made_lines()
    last = copy.deepcopy([line for line in lines if line["kind"] == "measurement"])
    for line in last:
        line["repetition"] = 2
        if line["where"] == {"family": "ping-pong", "length_bytes": LONG}:
            line["detail"]["bytes_per_second"] = {"min": 1 * GB, "mean": 2 * GB, "max": 4 * GB}
    report = _reported(tmp_path, made.numbered([*lines[:-1], *last, lines[-1]]))
    values = _by_name(_figure(report, "bandwidth"))
    assert values["smallest"] == pytest.approx([1 * GB, 4 * GB, 0.5 * GB])
    assert values["mean"] == pytest.approx([5 * GB, 4 * GB, 1 * GB])
    assert values["largest"] == pytest.approx([20 * GB, 4 * GB, 2 * GB])
    text = "\n".join(f.text for f in report.findings)
    assert "a process has 20 % of the bandwidth of a pair that is alone" in text
    assert "In 2 of 10 rings of all rounds the measurements differ by more than 25 %" in text
    assert "(random 1 with 2 MB, round 1)" in text


def test_pairs_without_a_bandwidth_are_compared_with_nothing(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines:
        if line["kind"] == "measurement" and line["pattern"] == "ping-pong":
            line["detail"]["bytes_per_second"] = made.spread(0.0)
    text = " ".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "the bandwidth of a pair that is alone" not in text


def test_more_ranks_than_cpus_are_reported(tmp_path: Path) -> None:
    lines = made_lines()
    lines[0]["system"]["cpu"]["logical_cpus"] = 3
    report = _reported(tmp_path, lines)
    assert any("4 ranks on a node share 3 CPUs" in f.text for f in report.findings)


def test_the_sections_are_about_messages_only(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    assert [s.id for s in report.sections] == ["values", "all-rings", "system"]
    tables = [b for s in report.sections for b in s.blocks if isinstance(b, Table)]
    assert tables[0].rows[0][-1] == "MaxPingPongLatency"
    rings = next(t for t in tables if t.title == "Rings")
    assert [row[0] for row in rings.rows] == [
        "natural ring",
        "random 0",
        "natural ring",
        "random 0",
        "random 1",
    ]
    assert list(rings.rows[-1][4:]) == [8e-3, 4e-3, 0.5, 4, 12]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9])
def test_results_that_are_incomplete(tmp_path: Path, count: int) -> None:
    report = _reported(tmp_path, made_lines()[:count])
    assert report.headline.value is None
    assert render([report], [])


def test_foreign_details_do_no_harm(tmp_path: Path) -> None:
    lines = made_lines()
    for line in lines[1:]:
        if line["kind"] == "measurement":
            line["detail"] = {"bytes_per_second": [1], "stride": "x", "pairs": None}
            line["where"]["random_index"] = "x"
        elif line["kind"] == "figure":
            line["detail"] = {"rmax_flops_per_second": "fast"}
    lines[2]["where"]["length_bytes"] = -1
    lines[3]["seconds"] = {}
    report = _reported(tmp_path, lines, foreign=True)
    assert render([report], [])


@pytest.mark.parametrize(
    ("nodes", "known"),
    [(1, "bandwidth. All are on one node, so no link between nodes has a part in it. b-eff"),
     (2, "bandwidth. b-eff --pairs all shows")],
)  # fmt: skip
def test_what_is_known_of_a_slow_pair_follows_from_the_nodes(
    tmp_path: Path, nodes: int, known: str
) -> None:
    run, *lines = made_lines()
    run["system"]["nodes"] = nodes
    texts = [f.text for f in _reported(tmp_path, [run, *lines]).findings]
    (slowest,) = (text for text in texts if text.startswith("The slowest pair has 10 %"))
    assert known in slowest
