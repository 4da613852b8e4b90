# SPDX-License-Identifier: BSD-3-Clause
"""A tuning in a browser: before and after with their intervals, and what the search saw; and the
files that carry it into a job."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from effio.errors import EffioError
from effio.judge.verdicts import Verdict
from effio.report.html import render, write_page
from effio.report.model import Column, Figure, Table
from effio.report.tuning import before_after_figure, headline, tuning_section
from effio.store.all_runs import Store
from effio.tune import record as records
from effio.tune.folder import Called, TuningFolder
from effio.tune.record import (
    TuningRecord,
    environment_text,
    gain_text,
    hints_text,
    record_of,
    romio_text,
    spread_text,
)
from effio.tune.search import Reading, Search, Terms, Trial
from effio.tune.setting import EVERYWHERE, Group, Setting, Setup
from effio.tune.space import Tuning
from patience import patient

WRITE, READ = Group("write", "shared", "4096"), Group("read", "shared", "4096")
TUNING = Tuning.model_validate(
    {
        "title": "<b>Small</b> pieces",
        "benchmark": "ior",
        "options": {"block": "1MiB"},
        "vary": {"hints": {"cb": ["on"], "size": [1, 2]}},
    }
)
CALLED = Called(
    file="s.toml", directory="/scratch", ranks=2, runs=60, confirmations=5, tolerance=0.02
)
SETTINGS = [
    Setting(hints=(("cb", "on"), ("size", "1"))),
    Setting(hints=(("cb", "on"), ("size", "2"))),
    Setting(hints=(("evil", "<script>alert(1)</script>"),)),
    Setting(environment=(("RAILS", "it's two"),)),
]


def _made(gains: dict[tuple[Group, Setting], float], settings: list[Setting]) -> TuningRecord:
    chance = random.Random(1)

    def measure(trial: Trial) -> Reading:
        values = {}
        for group in (WRITE, READ):
            hints = trial.setup.hints.get(group, trial.setup.hints.get(EVERYWHERE, ()))
            job = trial.setup.job
            setting = Setting(hints, job.options, job.environment)
            values[group] = 1e9 * gains.get((group, setting), 1.0) * chance.gauss(1, 0.01)
        faulty = trial.name == SETTINGS[2].id
        return Reading(values, 1.0, "io error: no <such> hint" if faulty else "", "r", unit="B/s")

    search = Search(settings, measure, Terms(runs=60, confirmations=5))
    return record_of("20260101T000000Z-small", TUNING, CALLED, search.run())


def test_three_pairs_have_a_range_and_no_interval(gained: TuningRecord) -> None:
    """The rule of all repetitions: an interval from five on."""
    (five, _) = gained.groups
    assert spread_text(five) == f"{five.low95:.3f} to {five.high95:.3f} (95 %)"
    assert gain_text(five) == f"{five.gain:.3f} times the default ({spread_text(five)})"
    values = [{"values": (100.0, 110.0, 100.0)}, {"values": (150.0, 220.0, 160.0)}]
    few = five.model_copy(
        update={
            "before": five.before.model_copy(update=values[0]),
            "after": five.after.model_copy(update=values[1]),
        }
    )
    # 1.5, 2 and 1.6
    assert spread_text(few) == "1.500 to 2.000 (range of 3)"
    record = gained.model_copy(update={"groups": (few,)})
    table = _table(record, "Before and after")
    at = [column.name for column in table.columns].index("range, or 95 % interval")
    assert table.rows[0][at] == "1.500 to 2.000 (range of 3)"
    assert "95 %" not in hints_text(record)


@pytest.fixture(scope="module")
def gained() -> TuningRecord:
    """Writes are best with a size of 1, reads with 2."""
    gains = {(WRITE, SETTINGS[0]): 2.0, (READ, SETTINGS[1]): 1.5}
    return _made(gains, SETTINGS[:3])


def _table(record: TuningRecord, title: str) -> Table:
    blocks = tuning_section(record).blocks
    return next(b for b in blocks if isinstance(b, Table) and b.title == title)


def test_the_page_shows_before_and_after_with_intervals(
    gained: TuningRecord, browser: Browser, tmp_path: Path
) -> None:
    path = write_page(tmp_path / "t.html", render([], ["here"], head=tuning_section(gained)))
    page = patient(browser.new_context(offline=True).new_page())
    complaints: list[str] = []
    page.on("console", lambda m: complaints.append(f"{m.type}: {m.text}"))
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("dialog", lambda d: complaints.append(f"dialog: {d.message}"))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    drawn = page.evaluate(
        "document.querySelector('#r0-before-after .plot').data"
        ".map((t) => [t.name, t.x, t.y, t.error_y.array])"
    )
    assert [name for name, *_ in drawn] == ["default", "tuned"]
    for _, names, values, whiskers in drawn:
        assert names == ["shared write 4 KiB", "shared read 4 KiB"]
        assert all(value > 0 for value in values)
        assert all(up > 0 for up in whiskers)
    before, after = drawn[0][2], drawn[1][2]
    assert after[0] / before[0] == pytest.approx(2.0, rel=0.05)
    assert after[1] / before[1] == pytest.approx(1.5, rel=0.05)
    tried = page.evaluate("document.querySelector('#r0-tried .plot').data.map((t) => t.name)")
    assert tried == ["shared write 4 KiB", "shared read 4 KiB", "default"]
    text = page.inner_text("main")
    assert "A gain that holds in 2 of 2 groups: up to 2.0" in text
    assert "io error: no <such> hint" in text
    assert "evil=<script>alert(1)</script>" in text
    assert complaints == []
    page.context.close()


def test_a_setting_that_is_slower_has_an_open_bar(gained: TuningRecord) -> None:
    first, second = gained.groups
    slower = first.model_copy(update={"verdict": Verdict.SLOWER.text})
    figure = before_after_figure(gained.model_copy(update={"groups": (slower, second)}))
    assert figure is not None
    ((panel,),) = figure.variants.values()
    assert [list(s.faulty) for s in panel.series if s.name == "tuned"] == [[True, False]]


def test_the_tables_hold_what_was_found(gained: TuningRecord) -> None:
    confirmed = _table(gained, "Before and after")
    rows = [dict(zip([c.name for c in confirmed.columns], r, strict=True)) for r in confirmed.rows]
    assert [(r["group"], r["setting"], r["verdict"], r["kept"]) for r in rows] == [
        ("shared write 4 KiB", "cb=on size=1", "faster", True),
        ("shared read 4 KiB", "cb=on size=2", "faster", True),
    ]
    assert Column("default", "B/s", extra=True) in confirmed.columns
    tried = _table(gained, "What was tried")
    assert len(tried.rows) == 3
    assert tried.rows[-1][0] == "evil=<script>alert(1)</script>"


def test_what_a_stopped_search_did_not_reach_was_not_tried(gained: TuningRecord) -> None:
    first, second, faulty = gained.tried
    unreached = second.model_copy(update={"rounds": 0, "gains": (None, None), "fault": ""})
    stopped = gained.model_copy(update={"tried": (first, unreached, faulty), "left_out": 4})
    reasons = [row[-1] for row in _table(stopped, "What was tried").rows]
    assert reasons.count("not reached") == 1
    facts = [list(row) for row in _table(stopped, "How it was found").rows]
    assert ["settings", "2 tried, 1 not reached, 4 left out for the budget"] in facts


def test_the_files_carry_it_into_a_job(gained: TuningRecord, tmp_path: Path) -> None:
    rules = [line for line in hints_text(gained).splitlines() if line and line[0] != "#"]
    assert rules == [
        "all write shared 4096 cb on",
        "all write shared 4096 size 1",
        "all read shared 4096 cb on",
        "all read shared 4096 size 2",
    ]
    # One list for the whole job: writes and reads want different sizes, which it does not hide.
    assert romio_text(gained) == "cb on\n"
    text = environment_text(gained, "/a b")
    assert "export ROMIO_HINTS='/a b/romio-hints'" in text
    assert "# size is best as 1 or 2, see the file hints:" in text
    folder = TuningFolder.create(Store(tmp_path), "small")
    assert records.write(folder, gained) == ["hints", "romio-hints", "environment.sh"]
    assert records.load(folder) == gained


def test_variables_are_exported_as_they_are() -> None:
    record = _made({(g, SETTINGS[3]): 1.5 for g in (WRITE, READ)}, [SETTINGS[3]])
    assert record.state == "gain"
    assert """export RAILS='it'"'"'s two'\n""" in environment_text(record, "/x")
    assert hints_text(record) == romio_text(record) == ""
    assert "ROMIO_HINTS" not in environment_text(record, "/x")


def test_where_nothing_helps_there_is_no_before_and_after_and_nothing_to_use(
    tmp_path: Path,
) -> None:
    record = _made({(g, s): 0.5 for g in (WRITE, READ) for s in SETTINGS}, SETTINGS[:2])
    assert (
        headline(record)
        == "No gain was found: every setting was slower than the default in the search."
    )
    section = tuning_section(record)
    assert [b.id for b in section.blocks if isinstance(b, Figure)] == ["tried"]
    folder = TuningFolder.create(Store(tmp_path), "flat")
    assert records.write(folder, record) == []
    assert {p.name for p in folder.path.iterdir()} == {"tuning.json"}


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "cannot be read"), ("{}", "cannot be read"), ('{"schema": "effio-tuning/2"}', "newer")],
)
def test_a_record_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    folder = TuningFolder.create(Store(tmp_path), "bad")
    assert records.load(folder) is None
    folder.write("tuning.json", text)
    with pytest.raises(EffioError, match=said):
        records.load(folder)


def test_a_journal_with_half_a_line_continues_behind_it(tmp_path: Path) -> None:
    folder = TuningFolder.create(Store(tmp_path), "half")
    trial = Trial("search", 0, "default", Setup())
    assert folder.reading(trial) is None
    (folder.path / "journal.jsonl").write_text('{"trial": "search 0 def')
    reading = Reading({WRITE: 2e9}, 1.5, run="r", notes=("n",), unit="B/s")
    folder.note(trial, reading)
    assert TuningFolder(Store(tmp_path), folder.name).reading(trial) == reading
    lines = (folder.path / "journal.jsonl").read_text().splitlines()
    assert len(lines) == 2
