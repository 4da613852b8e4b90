# SPDX-License-Identifier: BSD-3-Clause
"""What a store of many runs costs, in files that are read: real results on the model, copied
(stores.py). The seconds are in bench/store.py."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from driver.campaigns import read_runs
from driver.conftest import Effio
from driver.runs import with_one_rank
from effio.judge.rules import load_rules
from effio.report.campaign import campaign_report
from effio.report.html import render
from effio.report.model import Report
from effio.report.trend import trend_of, trend_report
from effio.serve.app import App
from effio.serve.shelf import Shelf
from effio.store import safe_files
from engines import Engine
from scale import stores

RUNS = 100


@pytest.fixture(scope="module")
def made(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("stores")
    stores.write_all(any_engine.program, place, RUNS)
    return place


@pytest.fixture
def indexed(effio: Effio, made: Path) -> Effio:
    """With one index for several tests: the first one of them makes it."""
    effio.environment["EFFIO_CACHE"] = str(made / "cache")
    return effio


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How many files of each name were opened."""
    counted: Counter[str] = Counter()
    real = safe_files._opened

    def count(path: Path, *rest: object, **more: object) -> int:
        counted[path.name] += 1
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(safe_files, "_opened", count)
    return counted


def test_a_table_of_all_runs_reads_none_of_them(
    effio: Effio, made: Path, opened: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After they were indexed; and it is the table of the same runs, read one by one."""
    words = ["--runs", made / "runs", "table", "--format", "csv"]
    assert effio.call(*words).returncode == 0
    # To be indexed each file of a run is read once.
    assert opened == dict.fromkeys(_OF_RUN, RUNS)
    opened.clear()
    stored = effio.call(*words)
    assert opened.total() == 0
    with monkeypatch.context() as patch:
        patch.setattr("effio.report.indexed._FEW", RUNS)  # all are read without the index
        read = effio.call(*words, made / "runs")
    assert opened["result.jsonl"] == RUNS
    assert stored.stdout == read.stdout
    assert len(stored.stdout.splitlines()) == 1 + RUNS
    # A copy of a run's folder is not another repetition.
    first = min((made / "runs").glob("2026*"))
    copy = first.with_name(first.name + "-copied")
    shutil.copytree(first, copy)
    try:
        again = effio.call(*words)
        assert again.stdout == stored.stdout
        assert f"{copy} is a copy of {first}" in again.stderr
        # What the index does not have is read.
        (made / "runs" / "effio-one.jsonl").write_bytes((first / "result.jsonl").read_bytes())
        assert effio.call(*words).stdout == effio.call(*words, made / "runs").stdout
    finally:
        shutil.rmtree(copy)
        (made / "runs" / "effio-one.jsonl").unlink(missing_ok=True)


_OF_RUN = ("SHA256SUMS", "result.jsonl", "run.json", "environment.json", "stdout.log", "stderr.log")
# What a question opens besides the index: what the campaign was called with.
_OF_CAMPAIGN = {"campaign.json", "campaign.toml"}
_EACH = RUNS * 9 // 100  # runs of one number of segments
_OF = {number: f"{stores.CAMPAIGN}:segments={number}" for number in (3, 4)}


@pytest.mark.parametrize(
    "words",
    [
        ["table", stores.CAMPAIGN],
        ["table", _OF[3], "--by", "order-seed"],
        [
            "table",
            f"{stores.CAMPAIGN}:segments=3,{stores.CAMPAIGN}:segments=4",
            "--across",
            "segments",
        ],
        ["trend", stores.CAMPAIGN, "--format", "json"],
        ["trend", stores.CAMPAIGN, "--output", "trend.html"],
        ["report", stores.CAMPAIGN, "--output", "campaign.html"],
        ["runs", stores.CAMPAIGN],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_question_about_a_campaign_reads_no_run(
    indexed: Effio, made: Path, opened: Counter[str], words: list[str]
) -> None:
    """Every result was read twice, and every file for its checksum."""
    asked = ["--runs", made / "runs", *words]
    assert indexed.call(*asked).returncode == 0
    opened.clear()
    again = indexed.call(*asked)
    assert again.returncode == 0
    assert set(opened) <= _OF_CAMPAIGN
    # A file that the table does not show, of the same size and with its time set back.
    changed = next(iter(sorted((made / "runs").glob("2026*")))) / "environment.json"
    before, data = changed.stat(), changed.read_bytes()
    changed.write_bytes(data.replace(b"UTF-8", b"UTF-9"))
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    try:
        opened.clear()
        assert indexed.call(*asked).stdout == again.stdout
        # It decides which of several attempts counts; this point has only one.
        assert set(opened) <= _OF_CAMPAIGN
    finally:
        changed.write_bytes(data)


@pytest.mark.parametrize(
    ("words", "read"),
    [
        (["export", _OF[3], "--what", "figures"], _EACH),
        (["export", f"{stores.CAMPAIGN}:iterations=3,{_OF[4]}"], _EACH + 1),
        (["compare", _OF[3], _OF[4], "--across", "segments"], 2 * _EACH),
        (["accept", "b_eff_io-official", _OF[3]], _EACH),
        (["note", _OF[3]], 0),
        (["note", "tag:none", "--tag", "x"], 0),
    ],
    ids=lambda words: " ".join(words[:2]) if isinstance(words, list) else "",
)
def test_a_selection_of_runs_reads_no_other(
    indexed: Effio, made: Path, opened: Counter[str], words: list[str], read: int
) -> None:
    """Every record was read to choose them, and each chosen result twice."""
    asked = ["--runs", made / "runs", *words]
    indexed.call(*asked)
    opened.clear()
    indexed.call(*asked)
    assert opened["result.jsonl"] == read
    assert opened["run.json"] <= max(read, _EACH)
    assert opened["environment.json"] == 0  # it would be read for its checksum


def test_nor_does_one_of_runs_that_were_copied_without_their_campaign(
    indexed: Effio, made: Path, opened: Counter[str]
) -> None:
    asked = ["--runs", made / "runs", "compare", _OF[3], _OF[4], "--across", "segments"]
    of_campaigns = made / "runs" / "campaigns"
    of_campaigns.rename(made / "campaigns")
    try:
        assert indexed.call(*asked).returncode == 0
        opened.clear()
        assert indexed.call(*asked).returncode == 0
        assert opened["result.jsonl"] == opened["run.json"] == 2 * _EACH
    finally:
        (made / "campaigns").rename(of_campaigns)


def test_a_campaign_that_is_done_reads_none_of_its_runs(
    effio: Effio,
    engines: dict[str, Engine],
    made: Path,
    opened: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every record was read three times, every result twice, and every file for its checksum."""
    monkeypatch.setattr("effio.cli.kept._WORTH_ASKING", RUNS)
    again = with_one_rank(effio, engines)
    words = ["--runs", made / "runs", "run", made / "sweep.toml", "--format", "csv", "--quiet"]
    assert again.call(*words).returncode == 0
    opened.clear()
    stored = again.call(*words)
    assert f"{RUNS} of {RUNS} runs are done already" in stored.stderr
    assert set(opened) <= {*_OF_CAMPAIGN, "lock", "site.toml", "sweep.toml"}
    with monkeypatch.context() as patch:
        patch.setattr("effio.cli.kept._WORTH_ASKING", RUNS + 1)
        read = again.call(*words)
    assert opened["result.jsonl"] >= RUNS
    assert (stored.stdout, stored.stderr) == (read.stdout, read.stderr)
    assert len(stored.stdout.splitlines()) == 1 + RUNS


def _asked(app: App, target: str) -> str:
    answer = app.respond("GET", f"/t/{target}", {"Host": "localhost:80"})
    assert answer.status == 200
    return answer.body.decode()


@pytest.fixture
def served(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    """All runs are indexed; pages made at another time are the same."""
    monkeypatch.setenv("EFFIO_CACHE", str(tmp_path))
    monkeypatch.setattr("effio.report.html.now_utc", lambda: "2026-11-30T00:00:00Z")
    shelf = Shelf(made / "runs")
    assert len(shelf.runs()) == RUNS
    return App(shelf, "t", 80)


def _page(report: Report, root: Path) -> str:
    return render([report], [str(root)])


def test_a_campaign_and_its_trend_in_the_browser_read_no_run(
    served: App, made: Path, opened: Counter[str]
) -> None:
    """Of a campaign every result and record was read; and they are the pages of these."""
    root = made / "runs"
    opened.clear()
    pages = [_asked(served, f"{kind}/{stores.CAMPAIGN}") for kind in ("campaign", "trend")]
    assert set(opened) <= _OF_CAMPAIGN
    opened.clear()
    read = read_runs(root, stores.CAMPAIGN)
    assert opened["result.jsonl"] >= RUNS
    assert pages[0] == _page(campaign_report(stores.CAMPAIGN, read), root)
    assert pages[1] == _page(trend_report(trend_of(stores.CAMPAIGN, read.claimed)), root)
    # A run whose files changed is read again: its number is not as sealed and counts no more.
    changed = min(root.glob("2026*")) / "result.jsonl"
    data = changed.read_bytes()
    changed.write_bytes(data.replace(b'"started":"2026', b'"started":"2027'))
    try:
        opened.clear()
        page = _asked(served, f"campaign/{stores.CAMPAIGN}")
        assert opened["result.jsonl"] == 1
        assert "The number of 1 run is not valid and counts nowhere." in page
        assert page == _page(
            campaign_report(stores.CAMPAIGN, read_runs(root, stores.CAMPAIGN)), root
        )
    finally:
        changed.write_bytes(data)


def test_what_a_chart_or_a_rule_needs_is_read_once(
    served: App, made: Path, opened: Counter[str], tmp_path: Path
) -> None:
    """A chart the results of its steps, rules all of them."""
    file = made / "runs" / "campaigns" / stores.CAMPAIGN / "campaign.toml"
    text = file.read_text()
    chart = '[[chart]]\nname = "{}"\ntitle = "Asked"\nsteps = ["names"]\nover = "iterations"\n'
    file.write_text(text + chart.format("one") + chart.format("two"))
    try:
        opened.clear()
        assert "What the campaign asks" in _asked(served, f"campaign/{stores.CAMPAIGN}")
        assert opened["result.jsonl"] == RUNS // 10
    finally:
        file.write_text(text)
    rules = tmp_path / "rules.toml"
    rules.write_text('schema = "effio-rules/1"\ntitle = "R"\n[[rule]]\nid = "r"\nkind = "valid"\n')
    judging = App(served.shelf, "t", 80, load_rules(str(rules)))
    opened.clear()
    assert "By the rules of R" in _asked(judging, f"campaign/{stores.CAMPAIGN}")
    assert opened["result.jsonl"] == RUNS


def test_a_trend_of_many_values_draws_some_and_leads_to_the_others(
    served: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 9,000 had nine megabytes and took half a minute."""

    def drawn(page: str) -> list[int]:
        return [int(n) for n in re.findall(r'<figure id="r1-trend-(\d+)"', page)]

    values = RUNS * 9 // 10  # mdtest on the model has no number
    at = f"trend/{stores.CAMPAIGN}"
    everything = _asked(served, at)
    assert drawn(everything) == list(range(1, values + 1))
    assert "?all=1" not in everything
    monkeypatch.setattr("effio.serve.app.MOST_DRAWN", 7)
    some = _asked(served, at)
    assert drawn(some) == list(range(1, 8))
    assert f"Drawn are 7 of {values} values" in some
    assert '<a href="?all=1">' in some
    assert _asked(served, f"{at}?all=1") == everything
