# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of b_eff, against a result whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import NO_MEAN, Figure, Report
from effio.store.reader import read_result

GB = 1e9
# Rate of a pattern by family and method at 1 KiB; at 1 MiB it is ten times as much.
RATES = {
    ("ring", 0): {"sendrecv": 1 * GB, "nonblocking": 2 * GB},
    ("ring", 1): {"sendrecv": 4 * GB, "nonblocking": 2 * GB},
    ("random ring", 6): {"sendrecv": 1 * GB, "nonblocking": 1 * GB},
    ("random ring", 7): {"sendrecv": 3 * GB, "nonblocking": 4 * GB},
}
LENGTHS = {1024: 1.0, 1048576: 10.0}


def _line(kind: str, **more: Any) -> made.Line:
    return {"schema": made.SCHEMA, "kind": kind, "benchmark": "b-eff", **more}


def _measurements() -> list[made.Line]:
    lines = []
    for (family, pattern), methods in RATES.items():
        for method, rate in methods.items():
            for length, scale in LENGTHS.items():
                for repetition in (1, 2):
                    # The second repetition is half as fast and must not count.
                    value = rate * scale / repetition
                    lines.append(
                        _line(
                            "measurement",
                            pattern=family,
                            access="exchange",
                            where={
                                "pattern": pattern,
                                "family": family,
                                "method": method,
                                "length_bytes": length,
                            },
                            ranks=4,
                            nodes=2,
                            repetition=repetition,
                            bytes=length,
                            operations=1,
                            seconds={"total": made.spread(0.01)},
                            rate={"value": value, "unit": "B/s", "better": "higher"},
                            valid=True,
                            stopped_by="count",
                            call_times=None,
                            hints_asked={},
                            hints_granted={},
                            verified_bytes=0,
                            error_count=0,
                            errors=[],
                            cache=None,
                            detail={},
                        )
                    )
    return lines


def _figure_line(
    name: str, value: float, unit: str = "B/s", where: Any = None, **detail: Any
) -> made.Line:
    return _line(
        "figure",
        name=name,
        where=where or {},
        metric={"value": value, "unit": unit, "better": "higher"},
        valid=None,
        reasons=[],
        detail=detail,
    )


# Ranks 0-1 and 2-3 share nodes; rank 3 is slow with everyone.
PAIRS = [
    [0, 1, 1e-6, 10 * GB],
    [0, 2, 2e-6, 1 * GB],
    [0, 3, 2e-6, 0.1 * GB],
    [1, 2, 2e-6, 1 * GB],
    [1, 3, 2e-6, 0.1 * GB],
    [2, 3, 1e-6, 1 * GB],
]


def made_lines() -> list[made.Line]:
    run = made.run_line(benchmark="b-eff")
    run["system"] = {**run["system"], "ranks": 4, "nodes": 2}
    lines = [
        run,
        *_measurements(),
        _figure_line("bandwidth_at_length", 2 * GB, where={"length_bytes": 1024}),
        _figure_line("b_eff_of_method", 8 * GB, where={"method": "sendrecv"}),
        _figure_line("b_eff_of_method", 9 * GB, where={"method": "nonblocking"}),
        _figure_line("latency", 2e-6, "s"),
        _figure_line(
            "b_eff",
            10 * GB,
            rings_bytes_per_second=20 * GB,
            random_rings_bytes_per_second=5 * GB,
            by_repetition_bytes_per_second=[10 * GB, 8 * GB],
            repetitions_mean_bytes_per_second=9 * GB,
            repetitions_spread_fraction=2 / 9,
            repetitions_half_width95_bytes_per_second=0.9 * GB,
            random_rings_factor95=1.03,
            longest_lengths_shortened=[True, False],
        ),
        _figure_line(
            "slow_pairs",
            3,
            "1",
            sampled=True,
            pairs_in_all=600,
            node_of_rank=[0, 0, 1, 1],
            slow_ranks=[{"rank": 3, "relative_bandwidth": 0.1}],
            pairs_low_high_latency_bandwidth=PAIRS,
        ),
    ]
    return made.numbered(lines)


def _reported(tmp_path: Path, lines: list[made.Line], foreign: bool = False) -> Report:
    path = made.write(tmp_path / "run.jsonl", lines, foreign)
    result = read_result(path)
    return report_of("run", result, result.remarks)


def _figure(report: Report, identity: str) -> Figure:
    return next(f for f in report.figures() if f.id == identity)


def test_the_curves_are_the_best_repetitions_and_geometric_means(tmp_path: Path) -> None:
    figure = _figure(_reported(tmp_path, made_lines()), "families")
    best = {s.name: list(s.y) for s in figure.variants["best method"][0].series}
    # Rings: max(1, 2) and max(4, 2): sqrt(8). Random rings: 1 and 4.
    assert best["rings"] == pytest.approx([8**0.5 * GB, 8**0.5 * 10 * GB])
    assert best["random rings, mean"] == pytest.approx([2 * GB, 20 * GB])
    assert best["random rings, slowest"] == pytest.approx([1 * GB, 10 * GB])
    assert best["random rings, fastest"] == pytest.approx([4 * GB, 40 * GB])
    one = {s.name: list(s.y) for s in figure.variants["MPI_Sendrecv"][0].series}
    assert one["rings"] == pytest.approx([2 * GB, 20 * GB])
    assert "MPI_Alltoallv" not in figure.variants


def test_sentences(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    text = "\n".join(f.text for f in report.findings)
    assert "MPI_Sendrecv alone would give 20.0 % less than b_eff" in text
    assert "MPI_Isend and MPI_Irecv alone 10.0 % less" in text
    assert "Random rings reach 25 % of the rings" in text
    assert (
        "Each repetition alone gives 9.000 GB/s (8.000 GB/s to 10.00 GB/s, range of 2); they differ"
        " by 22.2 %." in text
    )
    assert "the usual bandwidth to the others: rank 3 (10 %)." in text
    assert "two longest messages were measured with the best method only" in text
    assert report.headline.shown() == "10.00 GB/s"
    assert report.headline.context == "on 4 ranks of 2 nodes"
    # The network between nodes is spoken of where there is some; its part was not measured.
    assert "how much of the difference the network between nodes costs was not measured" in text
    lines = made_lines()
    lines[0]["system"]["nodes"] = 1
    text = "\n".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "was not measured" not in text
    assert "Random rings reach 25 % of the rings: all ranks are on one node, so no network" in text
    places = {s.id for s in report.sections} | {f.id for f in report.figures()}
    for finding in report.findings:
        assert finding.anchor in places | {""}, finding.text


def test_a_number_over_rounds_has_their_interval(tmp_path: Path) -> None:
    lines = made_lines()
    assert _reported(tmp_path, lines).headline.sureness() == NO_MEAN
    (official,) = [line for line in lines if line.get("name") == "b_eff"]
    official["samples"] = {"count": 5, "low95": 9.5 * GB, "high95": 10.5 * GB}
    headline = _reported(tmp_path, lines).headline
    assert headline.basis().endswith("; ± 500.0 MB/s (95 %)")


def test_no_difference_is_stated_that_repetitions_have_too(tmp_path: Path) -> None:
    lines = made_lines()
    (official,) = [line for line in lines if line.get("name") == "b_eff"]
    # t(0.975, 1) is 12.7: two repetitions of 10 and 8 GB/s say nothing of a loss of 75 %.
    official["detail"]["repetitions_half_width95_bytes_per_second"] = 12.7 * GB
    text = "\n".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "whether they differ is not known: repetitions alone differ by 141 %" in text
    assert "alone would give" not in text
    official["detail"]["by_repetition_bytes_per_second"] = [10 * GB]
    text = "\n".join(f.text for f in _reported(tmp_path, lines).findings)
    assert "whether they differ is not known: measured once" in text
    assert "alone would give" not in text


def test_the_heat_map(tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    figure = _figure(report, "pair-bandwidth")
    values = figure.variants[""][0].values
    assert values[0][1] == values[1][0] == 10 * GB
    assert values[3][1] == 0.1 * GB
    assert values[2][2] is None
    assert "a sample of 6 of 600 pairs" in figure.caption
    # Colours begin at nothing: a pair of half the bandwidth looks like half.
    assert figure.y.low == 0


@pytest.mark.parametrize("count", [1, 2, 20])
def test_results_that_are_incomplete(tmp_path: Path, count: int) -> None:
    report = _reported(tmp_path, made_lines()[:count])
    assert report.headline.value is None
    assert render([report], [])


def test_foreign_details_do_no_harm(tmp_path: Path) -> None:
    lines = made_lines()
    lines[-1]["detail"] = {
        "pairs_low_high_latency_bandwidth": [[0], "x", [0, 1, None, 2], [0, "1", 1, 1]],
        "slow_ranks": ["x", {"rank": 1}],
        "node_of_rank": "none",
    }
    lines[-2]["detail"] = {"by_repetition_bytes_per_second": "x", "random_rings_factor95": []}
    report = _reported(tmp_path, lines, foreign=True)
    assert not [f for f in report.figures() if f.id.startswith("pair-")]
    (left_out,) = [f for f in report.findings if "left out" in f.text]
    assert left_out.text.startswith("4 pairs of ranks are left out")
    assert left_out.anchor == ""


@pytest.mark.parametrize(
    ("bad", "foreign"),
    [
        ([-1, 1, 1e-6, 1e9], False),
        ([1, 0, 1e-6, 1e9], False),
        ([0, 1, -1e-6, 1e9], False),
        ([0, 1, 1e-6, "fast"], True),
        (7, True),
    ],
)
def test_a_pair_that_is_none_is_left_out_alone(tmp_path: Path, bad: object, foreign: bool) -> None:
    def map_of(pairs: list[object], foreign: bool = False) -> tuple[Figure, list[str]]:
        lines = made_lines()
        record = next(line for line in lines if line.get("name") == "slow_pairs")
        record["detail"]["pairs_low_high_latency_bandwidth"] = pairs
        report = _reported(tmp_path, lines, foreign)
        said = [f.text for f in report.findings if "left out" in f.text]
        return _figure(report, "pair-bandwidth"), said

    good: list[object] = [list(pair) for pair in PAIRS]
    whole, nothing = map_of(good)
    assert nothing == []
    rest, said = map_of([*good[:2], bad, *good[2:]], foreign)
    assert rest.variants == whole.variants
    (sentence,) = said
    assert sentence.startswith("1 pair of ranks is left out of the maps")


def test_pairs_that_are_not_a_list_are_missing(tmp_path: Path) -> None:
    lines = made_lines()
    record = next(line for line in lines if line.get("name") == "slow_pairs")
    record["detail"]["pairs_low_high_latency_bandwidth"] = {"0": [0, 1, 1e-6, 1e9]}
    report = _reported(tmp_path, lines, foreign=True)
    assert not [f for f in report.figures() if f.id.startswith("pair-")]
    assert not [f for f in report.findings if "left out" in f.text]
