# SPDX-License-Identifier: BSD-3-Clause
"""How sure means and single passes are, in a report of a handwritten result."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import report_of
from effio.report.common.spread import odd_findings, repeated, spread_table
from effio.report.model import Report, Section, Table
from effio.store.reader import read_result
from effio.store.records import Samples

MB = 1_000_000
INTERVAL = {
    "method": "mean of repetitions", "rounds": 5, "worth_rounds": 5.0, "unreliable": False,
}  # fmt: skip
PASS = {
    "method": "batch means", "unit": "B/s", "slices": 40, "slice_seconds": 0.25, "mean": 80.0 * MB,
    "low95": 76.0 * MB, "high95": 84.0 * MB, "unreliable": False, "reasons": [],
}  # fmt: skip


def reported(
    tmp_path: Path, figures: list[Any], passes: list[Any], foreign: bool = False
) -> Report:
    lines = [made.run_line(benchmark="ior", ior={})]
    for access, detail in passes:
        lines.append(
            made.measurement(
                access, "shared", 1, 80.0 * MB, benchmark="ior", detail=detail,
                where={"transfer_bytes": 1 << 20, "files": "shared"},
            )
        )  # fmt: skip
    lines += figures
    path = made.write(tmp_path / "r.jsonl", made.numbered([*lines, made.end()]), foreign)
    return report_of("run", read_result(path))


def mean(access: str, **interval: Any) -> dict[str, Any]:
    line: dict[str, Any] = made.figure(f"{access}_bandwidth", 100.0 * MB, benchmark="ior")
    line["where"] = {"access": access, "transfer_bytes": 1 << 20}
    line["samples"] = {"count": 5, "low95": 97.0 * MB, "high95": 103.0 * MB}
    line["detail"] = {"interval": {**INTERVAL, **interval}}
    if interval.get("unreliable"):
        line["reasons"] = ["the interval may be unreliable: it drifts"]
    return line


def section_of(report: Report) -> Section | None:
    return next((s for s in report.sections if s.id == "sureness"), None)


def tables(report: Report) -> list[Table]:
    section = section_of(report)
    assert section is not None
    found = [b for b in section.blocks if isinstance(b, Table)]
    assert len(found) == len(section.blocks)
    return found


def test_means_and_passes_have_their_intervals(tmp_path: Path) -> None:
    report = reported(
        tmp_path,
        [mean("write"), mean("read", worth_rounds=2.5)],
        [
            ("write", {"batch_means": PASS}),
            ("read", {"batch_means": {"method": None, "none": "it takes 20 slices"}}),
        ],
    )
    means, passes = tables(report)
    assert means.rows == [
        ["write", "100.0 MB/s", 0.03, 5, 5.0, ""],
        ["read", "100.0 MB/s", 0.03, 5, 2.5, ""],
    ]
    assert passes.rows[0] == ["write", "shared", 1, "80.00 MB/s", 0.05, 40, 0.25, ""]
    assert passes.rows[1] == ["read", "shared", 1, "", None, None, None, "it takes 20 slices"]
    assert not [f for f in report.findings if "may be too narrow" in f.text]


def test_what_makes_them_unreliable_is_a_warning(tmp_path: Path) -> None:
    report = reported(tmp_path, [mean("write"), mean("read", unreliable=True)], [])
    assert tables(report)[0].rows[1][-1] == "the interval may be unreliable: it drifts"
    (finding,) = [f for f in report.findings if "may be too narrow" in f.text]
    assert finding.text == (
        "Of 1 mean the interval may be too narrow, because what was measured drifts, warms up or is"
        " autocorrelated: read."
    )
    assert finding.level == "warn"


def test_a_doubted_mean_has_the_name_that_its_row_has(tmp_path: Path) -> None:
    """One mean alone has nothing to differ in: it was called "rate", whatever it was of."""
    sizes = [mean("write", unreliable=size > 1) for size in (1, 2, 4)]
    for size, line in zip((1, 2, 4), sizes, strict=True):
        line["where"]["transfer_bytes"] = size << 20
    report = reported(tmp_path, [*sizes, mean("read")], [])
    names = [row[0] for row in tables(report)[0].rows]
    (finding,) = [f for f in report.findings if "may be too narrow" in f.text]
    assert finding.text.endswith(f": {names[1]}; {names[2]}.")
    assert names[1] == "write, transfer 2 MiB"


def test_where_nothing_is_known_there_is_no_section(tmp_path: Path) -> None:
    none = {"method": None, "none": "it takes 20 slices"}
    assert section_of(reported(tmp_path, [], [("write", {"batch_means": none})])) is None
    # Strange members count as missing.
    strange = {"batch_means": {"method": 3, "slices": "many", "low95": [], "reasons": 7}}
    passes = [("write", strange), ("read", {"batch_means": 1})]
    assert section_of(reported(tmp_path, [], passes, foreign=True)) is None


def test_odd_repetitions_are_said_with_the_median_to_report(tmp_path: Path) -> None:
    """Three of ten repetitions at half the rate."""
    rates = [2.0, 1.01, 2.02, 1.98, 1.0, 2.01, 1.99, 0.99, 2.03, 1.97]
    lines = [made.run_line(benchmark="ior")]
    for i, rate in enumerate(rates, 1):
        lines.append(
            made.measurement("write", "shared", 1, rate * 1e9, benchmark="ior", repetition=i)
        )
    few = [made.measurement("read", "shared", 1, v * 1e9, benchmark="ior", repetition=i)
           for i, v in enumerate((1.0, 1.2), 1)]  # fmt: skip
    for line in lines[1:]:
        line["bytes"] = 1 << 30
    path = made.write(tmp_path / "r.jsonl", made.numbered([*lines, *few, made.end()]))
    result = read_result(path)
    found = {one.name: one.statement for one in repeated(result)}
    write, read = found["write shared"], found["read shared"]
    # For equal amounts the total rate is the harmonic mean; the 2nd and 9th of ten sorted values
    # enclose the median in 97.9 %.
    assert write.value == pytest.approx(1e9 * 10 / sum(1 / r for r in rates), rel=1e-6)
    assert write.of_median is not None
    assert (write.of_median.low, write.of_median.high) == pytest.approx((1.0e9, 2.02e9))
    assert (read.interval, read.spread("B/s")) == (None, "1.000 GB/s to 1.200 GB/s (range of 2)")
    (finding,) = odd_findings(repeated(result))
    assert finding.text.startswith(
        "1 of 2 means is misleading: its repetitions are odd. write shared:"
        " two modes, 30 % of 10 at 0.5 times the others: report the median of each mode"
    )
    assert "median 1.985 GB/s (95 %: " in finding.text
    assert finding.text.endswith(" to 2.020 GB/s).")
    table = spread_table(repeated(result))
    assert [row[6] for row in table.rows] == ["not reliable", "range only"]


def test_an_interval_that_is_only_rounding_is_zero() -> None:
    """Equal values of `sim` had an interval of ± 5.960e-08 B/s."""
    value = 199_999_999.999_999_97
    rounded = Samples(5, value, value, 0.0, value, math.nextafter(value, math.inf))
    assert rounded.half95 == 0.0
    assert Samples(5, 1.0, 2.0, 0.5, 1.0, 1.0 + 1e-9).half95 == pytest.approx(5e-10, rel=1e-6)
    assert Samples(5, 0.0, 0.0, 0.0, 0.0, 0.0).half95 == 0.0
