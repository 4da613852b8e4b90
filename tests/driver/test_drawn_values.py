# SPDX-License-Identifier: BSD-3-Clause
"""A figure draws what was measured: values and whiskers that a browser has drawn, read back from
the page, equal the records of the result, for every kind of figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from driver import made
from driver.drawn import drawn, page_of
from driver.test_report_arrays import libraries_lines
from driver.test_report_study import MB, RATES, made_lines
from effio.report.build import report_of
from effio.report.model import Axis, Figure, Panel, Report, Series
from effio.store.reader import read_result


def _reported(folder: Path, lines: list[made.Line]) -> Report:
    result = read_result(made.write(folder / "result.jsonl", lines))
    return report_of("run", result, result.remarks)


def test_each_kind_draws_its_values(browser: Browser, tmp_path: Path) -> None:
    names, rate = ["a", "b", "c"], Axis("rate", "B/s")

    def figure(kind: Any, series: Sequence[Series], y: Axis = rate) -> Figure:
        panels = {"": [Panel("", series)]}
        return Figure(kind, kind, "", kind, Axis("x", log=kind == "curves"), y, panels, columns=1)

    whiskers: dict[str, Any] = {"high": [4e6, None, 9e6], "low": [1e6, None, -70e6]}
    grid: list[list[float | None]] = [[0.92, None], [1.0, 0.94]]
    heat = Figure(
        "heatmap", "heat", "", "heatmap", Axis("other groups"), Axis("group", low=0.92, high=1.0),
        {"": [Panel("", [], ["p", "q"], ["r", "s"], grid)]},
    )  # fmt: skip
    seen = drawn(
        browser,
        tmp_path,
        page_of(
            figure("curves", [Series("s", [1.0, 2.0, 4.0], [2e6, None, 8e6], **whiskers)]),
            figure("bars", [Series("s", names, [2e6, None, 8e6], **whiskers)]),
            figure("stacked", [Series("s", names, [1.0, 2.0, 3.0]),
                               Series("t", names, [0.5, 0.0, 7.0], 1)], Axis("time", "s")),
            figure("radar", [Series("s", names, [0.5, 1.0, 2.0])], Axis("gain")),
            heat,
        ),
    )  # fmt: skip
    for kind, x in (("curves", [1, 2, 4]), ("bars", names)):
        (curve,) = seen[kind]
        assert (curve["x"], curve["y"]) == (x, [2e6, None, 8e6])
        assert curve["high"] == [4e6, None, 9e6]
        # A rate is not below zero, even where its interval is.
        assert curve["low"] == [1e6, None, 0]
    assert [(t["name"], t["x"], t["y"]) for t in seen["stacked"]] == [
        ("s", names, [1, 2, 3]), ("t", names, [0.5, 0, 7]),
    ]  # fmt: skip
    assert [t["y"] for t in seen["radar"]] == [[0.5, 1, 2, 0.5]]
    (squares,) = seen["heatmap"]
    assert squares["y"] == grid
    low, high, ticks = squares["colors"]
    assert (low, high) == (0.92, 1.0)
    assert ticks == ["0.92", "0.94", "0.96", "0.98", "1"]


def test_a_study_draws_its_intervals(browser: Browser, tmp_path: Path) -> None:
    report = _reported(tmp_path, made_lines())
    seen = drawn(browser, tmp_path, report)
    for name, factor in (("sequential write", 1), ("sequential read", 2)):
        (curve,) = [t for t in seen["study-rates"] if t["name"] == name]
        rates = [factor * rate * MB for rate in RATES.values()]
        assert curve["y"] == rates
        # Of two repetitions it is the range: 0.9 and 1.1 of the mean, in the records.
        assert curve["high"] == pytest.approx([1.1 * r for r in rates])
        assert curve["low"] == pytest.approx([0.9 * r for r in rates])


def test_libraries_draw_their_gains_and_layers(browser: Browser, tmp_path: Path) -> None:
    lines = libraries_lines()
    seen = drawn(browser, tmp_path, _reported(tmp_path, lines))
    (mean,) = [line for line in lines if line.get("name") == "hint_gain_mean"]
    (gain,) = seen["hint-gain"]
    assert gain["y"] == [mean["metric"]["value"]]
    assert gain["low"] == pytest.approx([mean["samples"]["low95"]])
    assert gain["high"] == pytest.approx([mean["samples"]["high95"]])
    layers = {t["name"]: dict(zip(t["x"], t["y"], strict=True)) for t in seen["layers"]}
    # Each bar is the library's whole time: the sum of what the records say of its layers.
    whole = {name: sum(part[name] for part in layers.values()) for name in layers["hdf5"]}
    assert whole == {"hdf5": 2.5, "mpiio": 2.0, "posix": 1.25}


def test_no_measured_point_is_above_the_roof(browser: Browser, tmp_path: Path) -> None:
    lines = made_lines()
    # Its rate leaves out half of the total, as where a definition takes the calls alone.
    lines[1]["rate"]["value"] = 2 * lines[1]["bytes"] / 1.0
    roof = {t["name"]: t for t in drawn(browser, tmp_path, _reported(tmp_path, lines))["roofline"]}
    (slope,) = [t for name, t in roof.items() if name.endswith("the most seen")]
    for access in ("write", "read"):
        for x, y in zip(roof[access]["x"], roof[access]["y"], strict=True):
            assert (
                max(b for a, b in zip(slope["x"], slope["y"], strict=True) if a <= x) >= 0.999 * y
            )
