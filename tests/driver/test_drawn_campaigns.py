# SPDX-License-Identifier: BSD-3-Clause
"""What a browser draws of several runs, and of b_eff, equals what the records say: values, whiskers
and units of b_eff, campaign, trend, tuning, acceptance and comparison. All on one page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest
from playwright.sync_api import Browser

from driver import made
from driver.campaigns import read_runs
from driver.drawn import Drawn, drawn
from driver.sides import night, run
from driver.test_accept import ior
from driver.test_page_tuning import CALLED, TUNING
from driver.test_report_b_eff import GB, PAIRS, made_lines
from effio.campaign.file import Chart
from effio.judge.accept import accept
from effio.judge.compare import Comparison, compare
from effio.judge.rules import load_rules
from effio.judge.samples import Judged, Side
from effio.report.acceptance import acceptance_section
from effio.report.build import report_of
from effio.report.campaign import campaign_report
from effio.report.charts import charts_section
from effio.report.comparison import comparison_section
from effio.report.model import Headline, Report, Section
from effio.report.trend import trend_of, trend_report
from effio.report.tuning import tuning_section
from effio.store.reader import read_result
from effio.tune.record import TuningRecord, record_of
from effio.tune.search import Reading, Search, Terms, Trial
from effio.tune.setting import Group, Setting

MB = 1_000_000
# Five repetitions around their mean: t(0.975, 4) √2.5 / √5 = 2.776445 × 0.707107.
AROUND = (0, 2, -1, -2, 1)
HALF = 2.776445 * math.sqrt(0.5)
BLOCKS = {"64KiB": 20, "1MiB": 80, "8MiB": 100}
LEVELS = (100, 100, 100, 100, 80, 80, 80, 80)
STEPS = {1: 8e9, 12: 0.95 * 96e9, 24: 0.5 * 192e9, 36: 0.91 * 288e9}
WHERE = {"transfer_bytes": 1 << 20}


def _keep(store: Path, name: str, day: int, rep: int, rate: float, axes: Mapping[str, Any]) -> None:
    """A run of a campaign that measured this rate, with 9 and 12 tenths of it as its interval."""
    identity = f"202601{day:02d}T{rep:02d}0000Z-ior-{name}-{'-'.join(map(str, axes.values()))}"
    start = made.run_line(benchmark="ior", started=f"2026-01-{day:02d}T{rep:02d}:00:00Z")
    start["system"] = {**start["system"], "ranks": 2}
    line = made.measurement("write", "shared", 1, rate, benchmark="ior", where=WHERE)
    samples = {
        "low95": 0.9 * rate, "high95": 1.2 * rate, "count": 9, "deviation": None,
        "min": rate, "max": rate,
    }  # fmt: skip
    best = made.figure("write_bandwidth", rate, benchmark="ior", where={}, samples=samples)
    made.write(store / identity / "result.jsonl", made.numbered([start, line, best, made.end()]))
    record: dict[str, Any] = {
        "schema": "effio-run/1", "id": identity, "created": start["started"], "benchmark": "ior",
        "arguments": [], "directory": "/", "command": [],
        "campaign": {"name": name, "step": "a", "point": f"{axes}-{day}", "repetition": rep,
                     "axes": dict(axes)},
        "outcome": {"status": "done", "exit_code": 0},
    }  # fmt: skip
    (store / identity / "run.json").write_text(json.dumps(record))


def _campaign(store: Path) -> Report:
    """Five runs of each block; of one direct size a single run, which has its own interval."""
    for block, rate in BLOCKS.items():
        for rep, off in enumerate(AROUND):
            _keep(store, "swept", 1, rep, (rate + off) * MB, {"block": block, "direct": "off"})
    _keep(store, "swept", 1, 0, 10 * MB, {"block": "1MiB", "direct": "on"})
    runs = read_runs(store, "swept")
    chart = Chart(
        name="asked", title="Asked", steps=("a",), access=("write",), over="block",
        curves=("direct",), against={"direct": "off"},
    )  # fmt: skip
    figure = Chart(
        name="figure", title="F", steps=("a",), figure="write_bandwidth", over="block",
        curves=("direct",),
    )  # fmt: skip
    return campaign_report("swept", runs, charts=charts_section([chart, figure], runs))


def _trend(store: Path) -> Report:
    for day, level in enumerate(LEVELS, 1):
        for rep, off in enumerate(AROUND if day != 2 else (0,)):
            _keep(store, "nightly", day, rep, (level + off) * MB, {})
    runs = read_runs(store, "nightly", every=True)
    return trend_report(trend_of("nightly", runs.claimed))


def _tuning() -> TuningRecord:
    """One setting gives twice the rate; of the last round of each side one value is 5 % higher."""
    setting, group = Setting(hints=(("cb", "on"),)), Group("write", "shared", "4096")
    seen: dict[str, int] = {}

    def measure(trial: Trial) -> Reading:
        seen[trial.name] = seen.get(trial.name, 0) + 1
        tuned = bool(trial.setup.hints or trial.setup.job.hints)
        off = 1.01 if seen[trial.name] % 2 else 0.99
        return Reading({group: (2e9 if tuned else 1e9) * off}, 1.0, "", "r", unit="B/s")

    search = Search([setting], measure, Terms(runs=60, confirmations=5))
    return record_of("20260101T000000Z-small", TUNING, CALLED, search.run())


def _section(name: str, section: Section) -> Report:
    return Report(name, name, Headline(name, 1, "1"), [], [section])


# Of the second side over the first, by transfer and access.
GAINS = {
    1 << 16: {"write": 2.0, "rewrite": 4.0, "read": 0.5},
    1 << 20: {"write": 1.5, "rewrite": 2.0, "read": 1.0},
    1 << 24: {"write": 1.0, "rewrite": 1.0, "read": 1.0},
}


def _side(name: str, second: bool) -> Side:
    runs = []
    for i, off in enumerate(AROUND):
        cells = []
        for size, gains in GAINS.items():
            for access, gain in gains.items():
                rate = (100 + off) * MB * (gain if second else 1)
                cells.append(
                    made.measurement(access, "shared", 1, rate, benchmark="ior",
                                     where={"transfer_bytes": size})
                )  # fmt: skip
        runs.append(run(f"{name}{i}", cells, night(name, i)))
    return Side(name, runs)


def _steps(folder: Path) -> list[Judged]:
    """One, 12, 24 and 36 servers of 8 GB/s; 24 of them reach less than the 90 % that are needed."""
    return [
        ior(folder, f"s{n}", [rate, 0.9 * rate, 1.1 * rate], labels={"servers": str(n)})
        for n, rate in STEPS.items()
    ]


@pytest.fixture(scope="module")
def tuning() -> TuningRecord:
    return _tuning()


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(_side("first", second=False), _side("second", second=True))


@pytest.fixture(scope="module")
def seen(
    browser: Browser,
    tuning: TuningRecord,
    comparison: Comparison,
    tmp_path_factory: pytest.TempPathFactory,
) -> Drawn:
    pytest.importorskip("ruptures")
    folder = tmp_path_factory.mktemp("drawn")
    lines = made_lines()
    (at_length,) = [line for line in lines if line.get("name") == "bandwidth_at_length"]
    at_length["detail"] = {
        "rings_bytes_per_second": 3 * GB, "random_rings_bytes_per_second": 1 * GB,
    }  # fmt: skip
    b_eff = read_result(made.write(folder / "b_eff.jsonl", lines))
    judged = accept(load_rules("blue-waters"), _steps(folder))
    return drawn(
        browser,
        folder,
        report_of("b-eff", b_eff, []),
        _campaign(folder / "swept"),
        _trend(folder / "nightly"),
        _section("tuning", tuning_section(tuning)),
        _section("acceptance", acceptance_section(judged, [])),
        _section("comparison", comparison_section([comparison])),
    )


def _ends(seen: Drawn, figure: str, name: str, panel: int = 0) -> list[tuple[float, float]]:
    curve = seen.curve(figure, name, panel)
    return list(zip(curve["low"], curve["high"], strict=True))


def _points(seen: Drawn, figure: str, name: str, panel: int = 0) -> dict[Any, Any]:
    curve = seen.curve(figure, name, panel)
    return dict(zip(curve["x"], curve["y"], strict=True))


def test_b_eff_draws_its_curves_and_pairs(seen: Drawn) -> None:
    # At 1 KiB by pattern, the better method: rings 2 and 4, random rings 1 and 4 GB/s.
    for name, rate in (
        ("rings", math.sqrt(2 * 4)),
        ("random rings, mean", math.sqrt(1 * 4)),
        ("random rings, slowest", 1),
        ("random rings, fastest", 4),
    ):
        assert _points(seen, "families", name) == pytest.approx(
            {1024: rate * GB, 1048576: 10 * rate * GB}
        )
    for name, ring, random in (
        ("MPI_Sendrecv", math.sqrt(1 * 4), math.sqrt(1 * 3)),
        ("MPI_Isend and MPI_Irecv", 2.0, math.sqrt(1 * 4)),
    ):
        for panel, rate in enumerate((ring, random)):
            expected = {1024: rate * GB, 1048576: 10 * rate * GB}
            assert _points(seen, "methods", name, panel) == pytest.approx(expected)
    assert [(t["name"], t["x"], t["y"]) for t in seen["lengths"]] == [
        ("rings and random rings", [1024], [2 * GB]),
        ("rings", [1024], [3 * GB]),
        ("random rings", [1024], [1 * GB]),
    ]
    for name, which in (("pair-latency", 2), ("pair-bandwidth", 3)):
        (squares,) = seen[name]
        measured = {
            (row, col): pair[which] for pair in PAIRS for row, col in (pair[:2], pair[1::-1])
        }
        assert squares["y"] == [[measured.get((r, c)) for c in range(4)] for r in range(4)]
    for name in ("families", "methods", "lengths", "pair-bandwidth"):
        seen.assert_unit(name, "B/s")
    seen.assert_unit("pair-latency", "s")


def test_a_campaign_draws_means_and_intervals(seen: Drawn) -> None:
    rates = {65536: 20 * MB, 1048576: 80 * MB, 8388608: 100 * MB}
    around = [((m - HALF * MB), (m + HALF * MB)) for m in rates.values()]
    assert _points(seen, "value-1", "write_bandwidth") == rates
    assert _ends(seen, "value-1", "write_bandwidth") == [pytest.approx(e) for e in around]
    # A single run has its own interval.
    assert _points(seen, "value-1", "write_bandwidth", 1) == {1048576: 10 * MB}
    assert _ends(seen, "value-1", "write_bandwidth", 1) == [(9 * MB, 12 * MB)]
    seen.assert_unit("value-1", "B/s")


def test_a_chart_of_a_campaign_draws_rates_and_overheads(seen: Drawn) -> None:
    rates = {65536: 20 * MB, 1048576: 80 * MB, 8388608: 100 * MB}
    assert _points(seen, "asked", "direct off") == rates
    assert _ends(seen, "asked", "direct off") == [
        pytest.approx((m - HALF * MB, m + HALF * MB)) for m in rates.values()
    ]
    assert _points(seen, "figure", "direct on") == {1048576: 10 * MB}
    assert _ends(seen, "figure", "direct on") == [(9 * MB, 12 * MB)]
    # 10 instead of 80 MB/s take eight times as long, which is 700 % more.
    assert _points(seen, "asked-overhead", "direct on") == {1048576: pytest.approx(7.0)}
    seen.assert_unit("asked", "B/s")
    seen.assert_unit("asked-overhead", "%")


def test_a_trend_draws_nights_levels_and_changes(seen: Drawn) -> None:
    assert seen.curve("trend-1", "write_bandwidth")["y"] == [level * MB for level in LEVELS]
    # The second night has one run, with its own interval.
    assert _ends(seen, "trend-1", "write_bandwidth") == [
        pytest.approx(
            (0.9 * m * MB, 1.2 * m * MB) if i == 1 else ((m - HALF) * MB, (m + HALF) * MB)
        )
        for i, m in enumerate(LEVELS)
    ]
    days = seen.curve("trend-1", "write_bandwidth")["x"]
    for name, nights, level in (
        ("level 100.0 MB/s", days[:4], 100),
        ("level 80.00 MB/s", days[4:], 80),
    ):
        assert _points(seen, "trend-1", name) == {nights[0]: level * MB, nights[-1]: level * MB}
    assert _points(seen, "trend-1", "level changes") == {days[4]: 80 * MB}
    seen.assert_unit("trend-1", "B/s")


def test_a_tuning_draws_both_sides_of_its_record(seen: Drawn, tuning: TuningRecord) -> None:
    (group,) = tuning.groups
    assert group.gain == pytest.approx(2.0, rel=0.02)
    for name, side in (("default", group.before), ("tuned", group.after)):
        mean = sum(side.values) / 5
        assert _points(seen, "before-after", name) == {"shared write 4 KiB": pytest.approx(mean)}
        half = 2.776445 * stdev(side.values) / math.sqrt(5)
        (ends,) = _ends(seen, "before-after", name)
        assert ends == pytest.approx((mean - half, mean + half))
    (tried,) = tuning.tried
    assert _points(seen, "tried", "shared write 4 KiB") == {"cb=on": tried.gains[0]}
    seen.assert_unit("before-after", "B/s")
    seen.assert_unit("tried", "")


def test_an_acceptance_draws_its_steps(seen: Drawn) -> None:
    figure = "steps-ior-2-write"
    assert _points(seen, figure, "mean") == pytest.approx(STEPS)
    # From the least to the largest of the three values.
    assert _ends(seen, figure, "mean") == [
        pytest.approx((0.9 * rate, 1.1 * rate)) for rate in STEPS.values()
    ]
    assert seen.curve(figure, "mean")["open"] == [False, False, True, False]
    assert _points(seen, figure, "needed") == pytest.approx({n: 0.9 * n * 8e9 for n in STEPS})
    seen.assert_unit(figure, "B/s")


def test_a_comparison_draws_its_gains(seen: Drawn, comparison: Comparison) -> None:
    (figure,) = [name for name in seen if name.startswith("gains-")]
    for access in ("write", "rewrite", "read"):
        gains = {size: gains[access] for size, gains in GAINS.items()}
        assert _points(seen, figure, access) == pytest.approx(gains)
        lines = {line.key.axis("transfer_bytes"): line for line in comparison.lines
                 if line.key.access == access}  # fmt: skip
        ratios = [lines[size].ratio for size in GAINS]
        assert _ends(seen, figure, access) == [pytest.approx((r.low, r.high)) for r in ratios if r]
        assert all(r and r.low < gains[s] < r.high for r, s in zip(ratios, GAINS, strict=True))
    hover = seen.curve(figure, "read")["hover"][-1].replace("<br>", " ")
    assert "no difference found: a loss of" in hover
    seen.assert_unit(figure, "")
    # Geometric means over the sizes, by name; a closed line ends where it starts.
    (shape,) = [t for t in seen["kiviat"] if t["name"] == "second"]
    products = {"read": 0.5, "rewrite": 8.0, "write": 3.0}
    assert shape["y"] == pytest.approx([v ** (1 / 3) for v in [*products.values(), 0.5]])
