# SPDX-License-Identifier: BSD-3-Clause
"""The page of a campaign and its trend, against runs whose numbers are known."""

from __future__ import annotations

import json
import random
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from driver import made
from driver.campaigns import read_runs
from driver.conftest import Effio
from effio.campaign.file import load
from effio.campaign.state import scale_of
from effio.judge.accept import accept
from effio.judge.rules import load_rules
from effio.report.campaign import (
    Measured,
    campaign_report,
    measured_points,
    numbers_section,
    points_table,
)
from effio.report.model import Figure, Quantity, Table
from effio.report.registry import reporter_of
from effio.report.trend import (
    Change,
    Night,
    Trend,
    TrendLine,
    as_data,
    change_points,
    nights_table,
    trend_of,
    trend_report,
)
from effio.store.all_runs import Store
from effio.store.evidence import short_of
from effio.store.reader import read_result
from engines import Engine
from patience import SECONDS, patient

MB = 1_000_000


def _run(
    store: Path, day: int, value: float | None, block: str = "1MiB", ranks: int = 2, rep: int = 0,
    mpi: str = "Open MPI v4.1.4",
) -> None:  # fmt: skip
    name = f"202601{day:02d}T0{rep}0000Z-io-bench-nightly-a-{block}-{ranks}-r{rep}"
    run = made.run_line(benchmark="io-bench")
    run["started"] = f"2026-01-{day:02d}T0{rep}:00:00Z"
    run["system"] = {**run["system"], "ranks": ranks}
    run["system"]["mpi"] = {**run["system"]["mpi"], "library": mpi}
    best = made.figure("io_bench", value, benchmark="io-bench", where={})
    made.write(store / name / "result.jsonl", made.numbered([run, best, made.end()]))
    record: dict[str, Any] = {
        "schema": "effio-run/1", "id": name, "created": run["started"], "benchmark": "io-bench",
        "arguments": [], "directory": "/", "command": [],
        "campaign": {"name": "nightly", "step": "a", "point": f"{block}-{ranks}-{day}",
                     "repetition": rep, "axes": {"block": block}},
        "outcome": {"status": "done", "exit_code": 0},
    }  # fmt: skip
    (store / name / "run.json").write_text(json.dumps(record))


def _sweep(store: Path) -> None:
    for ranks in (2, 4):
        for block, rate in (("64KiB", 20), ("1MiB", 80), ("8MiB", 100)):
            for rep in range(3):
                _run(store, 1, (rate * ranks + rep) * MB, block, ranks, rep)


def test_numbers_of_the_whole_are_on_the_page(tmp_path: Path) -> None:
    _run(tmp_path, 1, 80 * MB)
    _run(tmp_path, 2, 40 * MB)
    (tmp_path / "nightly.toml").write_text(
        'title = "nightly"\npurpose = "p"\n[[step]]\nname = "a"\nbenchmark = "io-bench"\n'
        '[[figure]]\nname = "half"\ntitle = "Half"\nunit = "MB/s"\nvalue = "w / 2000000"\n'
        'note = "of the mean"\nearlier.w = { step = "a", figure = "bandwidth", pick = "mean" }\n'
        '[[figure]]\nname = "none"\ntitle = "None"\nunit = "1"\nvalue = "x"\n'
        'earlier.x = { step = "a", figure = "absent" }\n'
        '[[figure]]\nname = "refused"\ntitle = "Refused"\nunit = "1"\nvalue = "v + 0 * half"\n'
        'earlier.v = { step = "a", figure = "bandwidth", where = { pattern = "refused" } }\n'
    )
    # A figure that its definition refuses is taken, and the number says so.
    rates: list[dict[str, float]] = [
        {"sequential": 80 * MB, "refused": 5.0},
        {"sequential": 40 * MB},
    ]
    for folder, by_pattern in zip(sorted(tmp_path.glob("2*")), rates, strict=True):
        lines = [made.run_line(benchmark="io-bench")]
        for pattern, rate in by_pattern.items():
            line = made.figure("bandwidth", rate, benchmark="io-bench", where={"pattern": pattern})
            refused = {"valid": False, "reasons": ["too few bytes"]}
            lines.append(line | (refused if pattern == "refused" else {}))
        made.write(folder / "result.jsonl", [*lines, made.end()])
    runs = read_runs(tmp_path, "nightly")
    numbers = numbers_section(load(tmp_path / "nightly.toml")[0], runs)
    report = campaign_report("nightly", runs, numbers=numbers)
    assert report.sections[0].id == "numbers"
    (table,) = report.sections[0].blocks
    assert isinstance(table, Table)
    # The mean of 80 and 40 MB/s, halved.
    mean = (80 * MB + 5 + 40 * MB) / 3
    doubt = "of the mean; NOT VALID: computed from w, not valid by definition"
    assert list(table.rows[0]) == ["Half", mean / 2e6, "MB/s", doubt]
    assert table.rows[1][1] is None
    reason = "not known: 'x': step a has no figure absent with a value"
    assert str(table.rows[1][3]).startswith(reason)
    doubt = "NOT VALID: computed from half and v, not valid by definition"
    assert list(table.rows[2]) == ["Refused", 5.0, "1", doubt]


def test_a_value_is_drawn_over_the_axes_of_the_sweep(tmp_path: Path) -> None:
    _sweep(tmp_path)
    runs = read_runs(tmp_path, "nightly")
    assert len(runs.claimed) == 18
    report = campaign_report("nightly", runs, tmp_path / "campaigns" / "nightly" / "report.html")
    (figure,) = report.figures()
    assert isinstance(figure, Figure)
    assert list(figure.x.ticks) == [(65536, "64 KiB"), (1048576, "1 MiB"), (8388608, "8 MiB")]
    assert figure.x.log
    assert figure.y.title == "Highest rate"
    panels = figure.variants[""]
    assert [p.title for p in panels] == ["ranks 2", "ranks 4"]
    (curve,) = panels[1].series
    # Of 320, 321 and 322 MB/s the mean is 321; three runs have a range and no interval.
    assert list(curve.y) == [81 * MB, 321 * MB, 401 * MB]
    assert (curve.low[1], curve.high[1]) == (320 * MB, 322 * MB)
    assert curve.notes[1] == "3 runs: their range"
    points = next(b for s in report.sections for b in s.blocks if isinstance(b, Table))
    assert len(points.rows) == 6
    assert report.findings[0].text.startswith("18 runs of 6 points")


def test_axes_of_a_scaled_campaign_say_so(tmp_path: Path) -> None:
    _sweep(tmp_path)
    runs = read_runs(tmp_path, "nightly")
    report = campaign_report("nightly", runs, scale=0.01)
    (figure,) = report.figures()
    assert figure.x.title == "block (before --scale 0.01)"
    assert [f for f in report.findings if f.text.startswith("Measured at --scale 0.01: ")]
    (figure,) = campaign_report("nightly", runs).figures()
    assert figure.x.title == "block"
    folder = tmp_path / "campaigns" / "nightly"
    folder.mkdir(parents=True)
    assert scale_of(Store(tmp_path), "nightly") == 1.0
    called = {
        "schema": "effio-campaign/1",
        "file": "f",
        "directory": "d",
        "ranks": 1,
        "scale": 0.01,
    }
    (folder / "campaign.json").write_text(json.dumps(called))
    assert scale_of(Store(tmp_path), "nightly") == 0.01


def test_points_and_nights_have_their_mean_and_its_interval() -> None:
    point = Measured([1.0, 2.0, 3.0, 4.0, 10.0], None, {"n": "1"}, "rate", "B/s", 6)
    (row,) = points_table([point]).rows
    numbers = [cell.value if isinstance(cell, Quantity) else cell for cell in row]
    ends = pytest.approx([0.0, 8.39], abs=0.01)
    assert numbers[:2] == ["rate", 4.0]
    assert numbers[2:4] == ends
    assert numbers[4:7] == [3.0, 6, 5]
    line = TrendLine("n 1", "rate", "B/s", "higher", [Night(point.values, day="2026-01-01")])
    (row,) = nights_table([line]).rows
    assert [cell.value for cell in row[4:6] if isinstance(cell, Quantity)] == ends


def test_runs_with_different_numbers_have_no_mean(tmp_path: Path) -> None:
    for day, name, rate in ((1, "write", 10 * MB), (2, "read", 90 * MB)):
        _run(tmp_path, day, None)
        (folder,) = tmp_path.glob(f"202601{day:02d}*")
        run = made.run_line(benchmark="ior", started=f"2026-01-{day:02d}T00:00:00Z")
        number = made.figure(f"{name}_bandwidth", rate, benchmark="ior", where={})
        made.write(folder / "result.jsonl", made.numbered([run, number, made.end()]))
    points = measured_points(read_runs(tmp_path, "nightly", every=True).claimed)
    assert [(p.figure, p.values) for p in points] == [
        ("write_bandwidth", [10 * MB]), ("read_bandwidth", [90 * MB]),
    ]  # fmt: skip


RULES = """schema = "effio-rules/1"
title = "Promised"
[[rule]]
id = "runs"
kind = "valid"
select = { benchmark = "io-bench" }
"""


def test_verdicts_of_a_campaign(effio: Effio) -> None:
    store = effio.cwd / "effio-runs"
    _sweep(store)
    _run(store, 2, None)
    # b_eff_io reports by its own rules whether it is valid, and where its bytes were.
    (last,) = store.glob("202601*02T*")
    made.write(last / "result.jsonl", made.b_eff_io())
    runs = read_runs(store, "nightly")
    (effio.cwd / "rules.toml").write_text(RULES)
    rules = load_rules(str(effio.cwd / "rules.toml"))
    judged = accept(rules, runs.judged())
    report = campaign_report("nightly", runs, rules=rules)
    (verdict,) = [f for f in report.findings if f.anchor == "acceptance"]
    assert verdict.text.startswith(f"By the rules of Promised: {judged.verdict}")
    assert report.sections[0].id == "acceptance"
    table = next(b for s in report.sections if s.id == "runs" for b in s.blocks)
    assert isinstance(table, Table)
    names = [c.name for c in table.columns]
    (row,) = [row for row in table.rows if row[names.index("run")] == last.name]
    result = read_result(last / "result.jsonl")
    headline = reporter_of(result).headline(result)
    assert headline.valid is not None
    assert row[names.index("verdict")] == ("✓ valid" if headline.valid else "✗ not valid")
    assert row[names.index("evidence")] == short_of(headline.evidence)
    assert any(f.text.startswith("Where the bytes of the numbers were: ") for f in report.findings)
    # Without rules there is no ruling; effio ships rules for blue-waters.
    assert all(f.anchor != "acceptance" for f in campaign_report("nightly", runs).findings)
    assert campaign_report("blue-waters", runs).sections[0].id == "acceptance"
    (store / "campaigns" / "nightly").mkdir(parents=True)
    (store / "campaigns" / "nightly" / "campaign.json").write_text("{}")
    done = effio.call("report", "nightly", "--rules", "rules.toml", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert "By the rules of Promised" in (effio.cwd / "page.html").read_text()
    done = effio.call("report", runs.claimed[0].path, "--rules", "rules.toml")
    assert done.returncode == 2
    assert "--rules applies to a campaign only" in done.stderr


def test_copied_runs_have_the_page_of_their_campaign(effio: Effio) -> None:
    """Without the campaign's own folder: the runs' records name it."""
    store = effio.cwd / "effio-runs"
    _sweep(store)
    for word in ("nightly", "@nightly"):
        done = effio.call("report", word)
        assert (done.returncode, done.stdout) == (0, "report: effio-report.html\n"), done.stderr
        page = effio.cwd / "effio-report.html"
        text = page.read_text()
        first = read_runs(store, "nightly").claimed[0]
        assert "nightly" in text
        assert f"effio-runs/{first.name}" in text
        page.unlink()
    assert not (store / "campaigns").exists()
    assert effio.call("report", "nightly", "--ceiling", "a=1GB/s").returncode == 2
    # Next to others it means all of its runs.
    other = made.write(effio.cwd / "other.jsonl", made.b_eff_io())
    done = effio.call("report", "nightly", other, "-o", "both.html")
    assert done.returncode == 0, done.stderr
    unknown = effio.call("report", "nigthly")
    assert (unknown.returncode, "no run 'nigthly'" in unknown.stderr) == (2, True)


def test_the_page_of_a_campaign_links_to_its_runs(effio: Effio, browser: Browser) -> None:
    store = effio.cwd / "effio-runs"
    _sweep(store)
    folder = store / "campaigns" / "nightly"
    folder.mkdir(parents=True)
    (folder / "campaign.json").write_text('{"file": "x", "directory": "/", "ranks": 1}')
    done = effio.call("report", "nightly")
    assert done.returncode == 0, done.stderr
    page = patient(browser.new_page(viewport={"width": 390, "height": 800}))
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector("html[data-drawn='1']", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    links = page.locator("#r1-runs a")
    assert links.count() == 18
    target = links.first.evaluate("e => e.href")
    assert target.startswith(store.as_uri() + "/2026")
    assert wrong == []
    page.close()
    pytest.importorskip("matplotlib")
    done = effio.call("report", "nightly", "--svg", "value-1")
    assert done.returncode == 0, done.stderr
    assert (effio.cwd / "value-1.svg").read_text().startswith("<?xml")


def test_a_level_that_changes_is_found_and_nothing_else(tmp_path: Path) -> None:
    pytest.importorskip("ruptures")
    # Two nights in a row are not a level, nor is noise of 1 %; a lasting 20 % is.
    noise = [0.4, -0.9, 0.7, -0.2, 1.0, -0.6, 0.3, -1.0, 0.8, -0.4, 0.1, -0.7]
    assert change_points([100 + n for n in noise]) == []
    assert change_points([100.0] * 12) == []
    assert change_points([100 + n if i < 7 else 80 + n for i, n in enumerate(noise)]) == [7]
    assert change_points([100.0, 100.0, 50.0, 50.0, 50.0]) == []  # fewer than six nights
    for i, n in enumerate(noise):
        mpi = "Open MPI v4.1.4" if i < 7 else "Open MPI v5.0.0"
        _run(tmp_path, i + 1, (100 + n if i < 7 else 80 + n) * MB, mpi=mpi)
    _run(tmp_path, 20, None, mpi="Open MPI v5.0.0")
    runs = read_runs(tmp_path, "nightly", every=True)
    trend = trend_of("nightly", runs.claimed)
    assert trend.left_out == 1
    (course,) = trend.courses
    assert [night.day for night in course.nights][:2] == ["2026-01-01", "2026-01-02"]
    (change,) = course.changes
    assert change.night == "2026-01-08"
    assert change.before == pytest.approx((100 + sum(noise[:7]) / 7) * MB)
    assert change.after == pytest.approx((80 + sum(noise[7:]) / 5) * MB)
    assert trend.worse == [(course, change)]
    (software,) = trend.software
    assert (software.night, software.what) == ("2026-01-08", "MPI")
    data = as_data(trend)
    assert [c["night"] for c in data["values"][0]["changes"]] == ["2026-01-08"]
    assert len(data["values"][0]["nights"]) == 12
    report = trend_report(trend)
    (mark,) = [s for s in report.figures()[0].variants[""][0].series if s.form == "points"]
    assert mark.y == [course.nights[7].mean]
    assert mark.notes == [f"{100 * change.part:+.1f} %"]
    names = [s.name for s in report.figures()[0].variants[""][0].series]
    assert names[-1] == f"MPI {software.after}"
    assert report.findings[0].level == "bad"


def _constant(what: str, days: int, level: float = 80.0) -> TrendLine:
    nights = [Night([level], day=f"2026-01-0{day}") for day in range(1, days + 1)]
    return TrendLine(what, "rate", "B/s", "higher", nights)


@pytest.mark.parametrize(
    ("courses", "value", "said"),
    [
        ([_constant("a", 6)], 0, ["No change of level was found in 6 nights."]),
        ([_constant("a", 1)], None, ["1 night: a search for changes needs at least 6"]),
        # Six nights in all, but of no value.
        ([_constant("a", 5), _constant("b", 3)], None, ["6 nights: a search for changes needs"]),
        (
            [_constant("a", 6, 0.0)],
            None,
            ["6 nights: a search for changes needs at least 6 nights"],
        ),
        (
            [_constant("a", 6), _constant("b", 5)],
            0,
            ["No change of level was found in 6 nights.", "1 of 2 values was not searched for"],
        ),
    ],
)
def test_a_search_that_was_not_made_has_found_nothing_either(
    courses: list[TrendLine], value: int | None, said: list[str]
) -> None:
    """The headline said 0 changes, next to a finding that nothing was looked for."""
    days = 1 if len(courses[0].nights) == 1 else 6
    trend = Trend("t", courses, [], [f"2026-01-0{day}" for day in range(1, days + 1)])
    report = trend_report(trend)
    assert report.headline.value == value
    assert ("needs at least 6 nights" in report.headline.missing) == (value is None)
    assert len(report.findings) == len(said)
    for finding, text in zip(report.findings, said, strict=True):
        assert finding.text.startswith(text)


def test_values_that_changed_are_drawn_first() -> None:
    nights = [Night([80.0], day=f"2026-01-0{day}") for day in range(1, 7)]
    courses = [TrendLine(f"n {n}", "rate", "B/s", "higher", nights) for n in range(1, 6)]
    for changed in (2, 4):
        courses[changed].changes = [Change("2026-01-04", 100.0, 80.0)]
    trend = Trend("t", courses, [], [night.day for night in nights])
    for most, drawn in ((1, [3]), (2, [3, 5]), (4, [1, 2, 3, 5]), (None, [1, 2, 3, 4, 5])):
        report = trend_report(trend, most)
        assert [figure.id for figure in report.figures()] == [f"trend-{n}" for n in drawn]
        # No finding leads to a figure that is not there.
        anchors = [f"trend-{n}" if n in drawn else "table" for n in (3, 5)]
        assert [finding.anchor for finding in report.findings] == anchors


def test_levels_are_those_of_squared_deviations(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the slower search of ruptures, of series with noise, in which no two ways to divide them
    are equally good."""
    ruptures = pytest.importorskip("ruptures")
    chance = random.Random(7)
    series = []
    for _ in range(60):
        nights, sigma = chance.randrange(6, 40), chance.choice([0.001, 0.02, 0.1])
        steps = [chance.choice([1.0, 0.8, 1.1]) for _ in range(3)]
        series.append(
            [
                1e8 * steps[3 * night // nights] * chance.lognormvariate(0, sigma)
                for night in range(nights)
            ]
        )
    found = [change_points(values) for values in series]
    assert sum(map(len, found)) > 30
    slower = partial(ruptures.Pelt, model="l2", jump=1)
    monkeypatch.setattr(ruptures, "KernelCPD", lambda kernel, min_size: slower(min_size=min_size))
    assert [change_points(values) for values in series] == found


def test_trend_on_the_terminal_and_without_its_library(
    effio: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = effio.cwd / "effio-runs"
    for day in range(1, 9):
        _run(store, day, (100 if day < 5 else 70) * MB)
    pytest.importorskip("ruptures")
    done = effio.call("trend", "tag:nothing")
    assert done.returncode == 2
    (store / "campaigns" / "nightly").mkdir(parents=True)
    (store / "campaigns" / "nightly" / "campaign.json").write_text("{}")
    done = effio.call("trend", "night*", "--check")
    assert done.returncode == 1, done.stderr
    assert "from 2026-01-05 on: 70.00 MB/s instead of 100.0 MB/s (-30.0 %)" in " ".join(
        done.stdout.split()
    )
    for kind, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        done = effio.call("trend", "nightly", f"--{kind}", "trend-1")
        assert done.stdout.strip() == f"trend-1.{kind}", done.stderr
        assert (effio.cwd / f"trend-1.{kind}").read_bytes().startswith(start)
    assert "there are: trend-1" in effio.call("trend", "nightly", "--png", "trend-9").stderr
    assert effio.call("trend", "nightly", "--linear").returncode == 2
    data = json.loads(effio.call("trend", "nightly", "--json").stdout)
    assert data["schema"] == "effio-trend/1"
    assert data["values"][0]["changes"] == [{"night": "2026-01-05", "before": 100e6, "after": 70e6}]
    monkeypatch.setitem(__import__("sys").modules, "ruptures", None)
    runs = read_runs(store, "nightly", every=True)
    reported = trend_of("n", runs.claimed)
    assert "change points need ruptures" in reported.missing
    assert "change points need ruptures" in trend_report(reported).findings[0].text.lower()


def test_a_check_that_searched_nothing_does_not_pass(
    effio: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended with 0, as where no level changed, and JSON said "looked for"."""
    store = effio.cwd / "effio-runs"
    for day in range(1, 6):
        _run(store, day, 100 * MB)
    done = effio.call("trend", "nightly", "--check")
    why = "a search for changes needs at least 6 nights with a number above zero"
    assert (done.returncode, done.stderr) == (1, f"effio: --check decides nothing: {why}\n")
    assert effio.call("trend", "nightly").returncode == 0
    data = json.loads(effio.call("trend", "nightly", "--json").stdout)
    assert (data["change_points"], data["values"][0]["searched"]) == (why, False)
    pytest.importorskip("ruptures")
    _run(store, 6, 100 * MB)
    done = effio.call("trend", "nightly", "--check")
    assert (done.returncode, done.stderr) == (0, "")
    data = json.loads(effio.call("trend", "nightly", "--json").stdout)
    assert (data["change_points"], data["values"][0]["searched"]) == ("looked for", True)
    monkeypatch.setitem(__import__("sys").modules, "ruptures", None)
    done = effio.call("trend", "nightly", "--check")
    assert done.returncode == 6
    assert "--check decides nothing: change points need ruptures" in done.stderr


def test_the_nights_of_a_campaign_that_measures_anew_are_one_trend(
    effio: Effio, any_engine: Engine
) -> None:
    """Results that the engine has written, with known noise. From the fifth night on the model
    moves 80 MB/s instead of 100. The start of each is moved to a separate day."""
    pytest.importorskip("ruptures")
    store = effio.cwd / "effio-runs"
    for day in range(1, 9):
        campaign = f"202601{day:02d}T000000Z-nightly"
        place = store / f"202601{day:02d}T000000Z-ior-{campaign}-a-0123456789abcdef-r0"
        place.mkdir(parents=True)
        model = f"rank-rate={100 if day < 5 else 80}MB/s,noise=0.01,noise-seed={day}"
        options = ["--backend=sim", f"--backend-options={model}", "--block=4MiB", "--transfer=1MiB"]
        program = [str(any_engine.program), "ior", *options, "--repetitions=5", "--phases=write"]
        target = place / "result.jsonl"
        subprocess.run(
            [*program, "--quiet", "--result", str(target)],
            cwd=effio.cwd, env=any_engine.environment(), check=True, timeout=SECONDS,
        )  # fmt: skip
        first, *rest = target.read_text().splitlines()
        run = json.loads(first) | {"started": f"2026-01-{day:02d}T00:00:00Z"}
        target.write_text("\n".join([json.dumps(run), *rest]) + "\n")
        record: dict[str, Any] = {
            "schema": "effio-run/1", "id": place.name, "created": run["started"],
            "benchmark": "ior", "arguments": [], "directory": "/", "command": [],
            "campaign": {"name": campaign, "step": "a", "point": "0123456789abcdef"},
            "outcome": {"status": "done", "exit_code": 0},
        }  # fmt: skip
        (place / "run.json").write_text(json.dumps(record))
        (store / "campaigns" / campaign).mkdir(parents=True)
        (store / "campaigns" / campaign / "campaign.json").write_text("{}")
    done = effio.call("trend", "nightly", "--json")
    assert done.returncode == 0, done.stderr
    (value,) = json.loads(done.stdout)["values"]
    assert len(value["nights"]) == 8
    (change,) = value["changes"]
    assert change["night"] == "2026-01-05"
    assert change["after"] / change["before"] == pytest.approx(0.8, rel=0.03)
    assert all(n["low95"] < n["mean"] < n["high95"] for n in value["nights"])
    misspelled = effio.call("trend", "nigthly")
    assert misspelled.returncode == 2
    assert "no campaign 'nigthly' in effio-runs; did you mean 'nightly'?" in misspelled.stderr
    # The campaign's own page is that of its newest call.
    done = effio.call("report", "nightly", "--output", "page.html")
    assert done.returncode == 0, done.stderr
    assert "20260108T000000Z-nightly" in (effio.cwd / "page.html").read_text()
