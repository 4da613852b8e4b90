# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of --until-ci, against figures whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.b_eff_io.page import Run
from effio.report.build import report_of
from effio.report.model import Table
from effio.store.reader import read_result

MB = 1_000_000


def mean(text: str, share: float | None, **more: Any) -> dict[str, Any]:
    within = share is not None and share <= 0.05
    reported = {"text": text, "unit": "B/s", "mean": 100.0 * MB, "half_width_share": share}
    return {**reported, "within": within, "drift": False, **more}


def found(
    tmp_path: Path, *figures: Any, foreign: bool = False, **detail: Any
) -> list[tuple[str, str]]:
    """Sentences and levels of what is said of it."""
    reported = {"asked_share": 0.05, "stopped_by": "precise", "repetitions": 7, "figures": figures}
    record = made.figure("until_ci", 0.04, "1", benchmark="ior", detail={**reported, **detail})
    run = made.run_line(benchmark="ior", ior={})
    lines = made.numbered([run, record, made.end()])
    report = report_of("run", read_result(made.write(tmp_path / "r.jsonl", lines, foreign)))
    about = ("--until-ci", "first half", "More than one level", "Outliers")
    return [(f.text, f.level) for f in report.findings if any(word in f.text for word in about)]


def test_what_was_kept_names_the_widest(tmp_path: Path) -> None:
    sentence = (
        "--until-ci 5 %: after 7 repetitions every mean's 95 % interval is as narrow; the widest"
        " is read 100.0 MB/s ± 4.1 %."
    )
    assert found(tmp_path, mean("write", 0.02), mean("read", 0.041)) == [(sentence, "info")]
    ((text, _),) = found(tmp_path, mean("write", 7e-16))
    assert text.endswith("write 100.0 MB/s ± 0 %.")


@pytest.mark.parametrize(
    ("stopped_by", "why"),
    [
        ("time", "--until-ci-limit was over"),
        ("repetitions", "there may be no more of them"),
        ("ended", "the run ended"),
    ],
)
def test_what_was_not_kept_names_why_and_the_wide_ones(
    tmp_path: Path, stopped_by: str, why: str
) -> None:
    some = [mean("write", 0.02), mean("read", 0.083), mean("stat", None)]
    sentence = (
        f"--until-ci 5 % was NOT reached: after 7 repetitions {why}; wider than asked: stat 100.0"
        " MB/s ± ?, read 100.0 MB/s ± 8.3 %."
    )
    assert found(tmp_path, *some, stopped_by=stopped_by) == [(sentence, "warn")]


def test_what_was_not_kept_although_narrow_is_not_reliable(tmp_path: Path) -> None:
    """It named no reason: all intervals were as narrow as asked, and the rule was not kept."""
    outlier = mean("write", 0.02, outliers=2, count=61)
    (first, second) = found(tmp_path, outlier, stopped_by="time")
    assert first[0].endswith(
        "was over; every mean's 95 % interval is as narrow, but not all are reliable."
    )
    assert second[0].startswith("Outliers: write with 2 outliers of 61 values. The mean")


def test_many_wide_ones_are_counted(tmp_path: Path) -> None:
    ((text, _),) = found(tmp_path, *(mean(f"r{i}", 0.1) for i in range(5)), stopped_by="time")
    assert text.endswith("and 2 more.")


def test_a_drift_makes_the_interval_doubtful(tmp_path: Path) -> None:
    moving = mean("write", 0.03, drift=True, first_half_mean=120.0 * MB, second_half_mean=80.0 * MB)
    (_, (text, level)) = found(tmp_path, moving)
    assert "write from 120.0 MB/s to 80.00 MB/s. Intervals of such means may be too narrow." in text
    assert level == "warn"


def test_two_modes_and_outliers_are_named(tmp_path: Path) -> None:
    modes = mean("write", 0.03, two_modes=True, outliers=2, count=10)
    outlier = mean("read", 0.03, outliers=1, count=10)
    (_, (text, level)) = found(tmp_path, modes, outlier)
    assert text.startswith(
        "More than one level: write in two modes, read with 1 outlier of 10 values. The mean of"
        " such rates is misleading"
    )
    assert level == "warn"


@pytest.mark.parametrize("figures", ["none", [1, None, {"text": 3, "drift": "yes"}], [{}]])
def test_strange_figures_are_borne(tmp_path: Path, figures: Any) -> None:
    (first, *_) = found(tmp_path, figures=figures, foreign=figures != [{}])
    assert first[0].startswith("--until-ci 5 %")


INTERVAL = {"method": "leaving one round out", "rounds": 5, "unreliable": False}


def of_rounds(tmp_path: Path, **interval: Any) -> tuple[list[tuple[str, str]], list[Any]]:
    """What is said of a b_eff_io of 300 MB/s ± 9 MB/s, and its row in the table of averages."""
    lines = made.b_eff_io()
    for line in lines:
        if line.get("name") in ("b_eff_io", "b_eff_io_partition"):
            line["samples"] = {"count": 5, "low95": 291.0 * MB, "high95": 309.0 * MB}
            line["detail"]["interval"] = {**INTERVAL, **interval}
        if line.get("name") == "b_eff_io":
            line["detail"]["official_time_share"] = 0.125
    report = report_of("run", read_result(made.write(tmp_path / "r.jsonl", lines)))
    said = [(f.text, str(f.level)) for f in report.findings if "rounds" in f.text]
    section = next(s for s in report.sections if s.id == "averages")
    table = section.blocks[0]
    assert isinstance(table, Table)
    return said, list(table.rows[0])


def test_an_interval_over_rounds_is_reported(tmp_path: Path) -> None:
    said, row = of_rounds(tmp_path)
    sentence = (
        "b_eff_io: 300.0 MB/s ± 3 % (95 %, 5 rounds), in 12.5 % of the time of an official run."
    )
    assert said == [(sentence, "info")]
    assert "± 3 % (95 %, 5 rounds)" in row


def test_an_interval_that_may_be_unreliable_is_a_warning(tmp_path: Path) -> None:
    said, _ = of_rounds(tmp_path, unreliable=True)
    ((text, level),) = said
    assert level == "warn"
    assert "may be too narrow: the rounds drift or are autocorrelated" in text


def test_cells_of_rounds_are_joined(tmp_path: Path) -> None:
    """The bytes of both rounds over the time of both: 2 and 1 at the same amount are 4/3."""
    lines = made.b_eff_io()
    again = []
    for line in lines:
        if line["kind"] == "measurement":
            second = {**line, "repetition": 2, "seconds": dict(line["seconds"])}
            total = line["seconds"]["total"]
            second["seconds"]["total"] = {k: 2 * v for k, v in total.items()}
            second["rate"] = {**line["rate"], "value": line["rate"]["value"] / 2}
            again.append(second)
    once = Run(read_result(made.write(tmp_path / "once.jsonl", lines)))
    both = made.numbered([*lines[:-1], *again, lines[-1]])
    twice = Run(read_result(made.write(tmp_path / "twice.jsonl", both)))
    one = once.best_cells.at("write", "scatter", 7)
    two = twice.best_cells.at("write", "scatter", 7)
    assert one is not None
    assert two is not None
    assert two.bytes == 2 * one.bytes
    assert two.rate.value == pytest.approx(2 * one.bytes / (3 * one.total_seconds))
    assert two.total_seconds == pytest.approx(3 * one.total_seconds)
