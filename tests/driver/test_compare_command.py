# SPDX-License-Identifier: BSD-3-Clause
"""`effio compare`: its sides, exit codes, files and page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser

from driver import made
from driver.conftest import Effio
from driver.sides import night
from effio.errors import EffioError
from effio.judge import gather
from effio.store.all_runs import Store
from patience import patient


def _kept(
    effio: Effio,
    folder: str,
    factor: float,
    more: Mapping[str, object] | None = None,
    noises: Sequence[float] = (1.0, 1.01, 0.99),
) -> None:
    """Runs of b_eff_io, each in its own night: rates times this factor, with a little noise."""
    for number, noise in enumerate(noises):
        lines = made.b_eff_io()
        lines[0] |= {"started": night(folder, number)} | dict(more or {})
        for line in lines:
            if line["kind"] == "measurement":
                line["rate"]["value"] *= factor * noise
        made.write(effio.cwd / folder / f"r{number}" / "result.jsonl", lines)


def test_baseline(effio: Effio) -> None:
    _kept(effio, "base", 1.0)
    _kept(effio, "same", 1.0)
    _kept(effio, "bad", 0.8)
    quiet = effio.call("compare", "--baseline", "base", "same")
    assert (quiet.returncode, quiet.stderr) == (0, "")
    # Error 0.00816, four degrees of freedom: 12.9 errors, and t at 0.05/77 rejects from 9.9 on.
    assert quiet.stdout.splitlines()[-1] == (
        "same: no difference found in 77, 1 undecided. A loss of 10 % in one of 77"
        " measurements would have been found in 86 of 100 cases."
    )
    done = effio.call("compare", "--baseline", "base", "bad", "--junit", "out.xml")
    assert done.returncode == 1
    # Three nights a side have no interval in texts.
    assert done.stdout.splitlines()[0].startswith("slower 0.800 b-eff-io ")
    assert done.stdout.splitlines()[-1].startswith("bad: 77 slower, 1 undecided. A loss of")
    suite = ET.parse(effio.cwd / "out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("78", "77", "1")
    assert len(suite.findall("testcase/failure")) == 77
    # A comparison without a baseline does not fail.
    assert effio.call("compare", "base", "bad").returncode == 0


def test_runs_on_both_sides_are_remarked(effio: Effio) -> None:
    _kept(effio, "base", 1.0)
    _kept(effio, "next", 1.0)
    same = "Both sides are the same: a run does not differ from itself. Name other runs."
    assert same in effio.call("compare", "base", "base").stdout
    done = effio.call("compare", "base", "base", "--page", "p.html", "--json")
    assert same in done.stderr
    assert json.loads(done.stdout)["notes"] == [same]
    assert same in (effio.cwd / "p.html").read_text()
    nightly = effio.call("compare", "--baseline", "base", "base")
    assert (nightly.returncode, nightly.stderr.strip().removeprefix("effio: ")) == (0, same)
    one = effio.call("compare", "base", "base/r1,next")
    assert "1 run of base/r1 and 3 more is also in base, which makes" in " ".join(
        one.stdout.split()
    )
    assert "also in" not in effio.call("compare", "base", "next").stdout


def test_a_copy_of_a_result_is_the_same_run(effio: Effio) -> None:
    """Also one without run.json, or next to a folder that has one."""
    folder = effio.cwd / "a" / "20260101T000000Z-b-eff-io"
    text = made.write(folder / "result.jsonl", made.b_eff_io()).read_bytes()
    for name in ("one.jsonl", "two.jsonl"):
        (effio.cwd / name).write_bytes(text)
    same = "Both sides are the same: a run does not differ from itself."
    for left, right in (("one.jsonl", "two.jsonl"), ("one.jsonl", folder), (folder, "one.jsonl")):
        assert same in " ".join(effio.call("compare", left, right).stdout.split())
    done = effio.call("table", "one.jsonl", "two.jsonl", "--format", "csv")
    assert len(done.stdout.splitlines()) == 2
    assert "two.jsonl is a copy of" in done.stderr
    record = {"schema": "effio-run/1", "id": folder.name, "created": "", "directory": "/",
              "benchmark": "b-eff-io", "arguments": [], "command": []}  # fmt: skip
    (folder / "run.json").write_text(json.dumps(record))
    for left, right in (("one.jsonl", folder), (folder, "one.jsonl")):
        assert same in " ".join(effio.call("compare", left, right).stdout.split())
    # Another run that effio started may have the same result, as of the model.
    other = folder.with_name("20260102T000000Z-b-eff-io")
    made.write(other / "result.jsonl", made.b_eff_io())
    (other / "run.json").write_text(json.dumps({**record, "id": other.name}))
    assert same not in " ".join(effio.call("compare", folder, other).stdout.split())


def test_several_axes_may_differ(effio: Effio) -> None:
    """Partitions and scheduled times of b_eff_io against each other."""
    _kept(effio, "short", 1.0)
    _kept(effio, "long", 2.0, {"options": {"time": 24.0, "rewrite": False, "partitions": [4]}})
    for path in (effio.cwd / "long").rglob("result.jsonl"):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            if line["kind"] == "measurement":
                line["ranks"] = line["where"]["ranks"] = 4
        made.write(path, lines)

    def compared(*across: str) -> str:
        return effio.call("compare", "short", "long", *across).stdout

    assert " faster" not in compared()
    assert " faster" not in compared("--across", "ranks")
    assert "77 faster" in compared("--across", "time,ranks")
    assert compared("--across", "time", "--across", "ranks") == compared("--across", "time,ranks")


def test_campaigns_and_tags_are_sides(effio: Effio) -> None:
    for name, factor in (("old", 1.0), ("new", 0.8)):
        made.write(effio.cwd / f"effio-runs/campaigns/{name}/campaign.json", [])
        for number in range(4):
            # The first attempt of the last repetition failed; what it measured does not count.
            attempts = 2 if number == 3 else 1
            for attempt in range(attempts):
                folder = f"2026010{attempt + 1}T00000{number}Z-b-eff-io-{name}-s-0123abcd-r{number}"
                failed = attempt + 1 < attempts
                lines = made.b_eff_io()
                lines[0]["started"] = night(name, 10 * attempt + number)
                for line in lines:
                    if line["kind"] == "measurement":
                        line["rate"]["value"] *= factor * (1 + number / 100) * (9 if failed else 1)
                if failed:
                    lines[-1] |= {"status": "io_error", "exit_code": 3, "reason": "disk full"}
                part = {"name": name, "step": "s", "point": "0123abcd", "repetition": number,
                        "axes": {"servers": 4}, "tags": [f"of-{name}"]}  # fmt: skip
                outcome = {"status": "io_error" if failed else "done", "exit_code": 3 * failed}
                record = {"schema": "effio-run/1", "id": folder, "created": "", "directory": "/",
                          "benchmark": "b-eff-io", "arguments": [], "command": [],
                          "campaign": part, "outcome": outcome}  # fmt: skip
                path = effio.cwd / "effio-runs" / folder
                made.write(path / "result.jsonl", lines)
                (path / "run.json").write_text(json.dumps(record))
    for words in (("old", "new"), ("tag:of-old", "@new")):
        done = effio.call("compare", "--baseline", *words, "--json")
        reported = json.loads(done.stdout)
        assert (len(reported["first"]["runs"]), len(reported["second"]["runs"])) == (4, 4)
        assert done.returncode == 1
        assert reported["measurements"][0]["gain"] == pytest.approx(0.8)
    assert effio.call("compare", "old", "tag:nothing").returncode == 2
    # One side of an interleaved study: selected by the value of an axis.
    half = gather.side("old:servers=4", Store(effio.cwd / "effio-runs"))
    assert (half.name, len(half.runs)) == ("old:servers=4", 4)
    both = gather.side("old:servers=4,new:servers=4", Store(effio.cwd / "effio-runs"))
    assert len(both.runs) == 8
    with pytest.raises(EffioError):
        gather.side("old:servers=5", Store(effio.cwd / "effio-runs"))
    # Copied runs, without the campaigns' own folders.
    shutil.rmtree(effio.cwd / "effio-runs/campaigns")
    half = gather.side("old:servers=4", Store(effio.cwd / "effio-runs"))
    assert (half.name, len(half.runs)) == ("old:servers=4", 4)
    (run,) = gather.judged(["20260101T000000Z-b-eff-io-old"], Store(effio.cwd / "effio-runs"))[:1]
    assert run.labels == {"servers": "4"}


def test_a_campaign_that_is_measured_afresh_is_its_newest_call(effio: Effio) -> None:
    """As for report: its name matched all runs of all calls, and was refused as ambiguous."""
    for day in (1, 2):
        name = f"2026010{day}T000000Z-fresh"
        made.write(effio.cwd / f"effio-runs/campaigns/{name}/campaign.json", [])
        part = {"name": name, "step": "s", "point": "0123abcd"}
        for step in "ab":
            folder = effio.cwd / "effio-runs" / f"2026010{day}T000001Z-b-eff-io-{name}-{step}"
            record = {"schema": "effio-run/1", "id": folder.name, "created": "", "directory": "/",
                      "benchmark": "b-eff-io", "arguments": [], "command": [],
                      "campaign": {**part, "step": step}, "outcome": {"status": "done",
                      "exit_code": 0}}  # fmt: skip
            made.write(folder / "result.jsonl", made.b_eff_io())
            (folder / "run.json").write_text(json.dumps(record))
    store = Store(effio.cwd / "effio-runs")
    for word in ("fresh", "@fresh", "20260102T000000Z-fresh"):
        side = gather.side(word, store)
        assert (side.name, len(side.runs)) == ("20260102T000000Z-fresh", 2)
    assert effio.call("table", "fresh").returncode == 0
    # Copied runs, without the campaign's own folder: their records name it.
    shutil.rmtree(store.root / "campaigns")
    for word in ("fresh", "@fresh", "20260102T000000Z-fresh"):
        side = gather.side(word, store)
        assert (side.name, len(side.runs)) == ("20260102T000000Z-fresh", 2)
    # Found; short runs of b_eff_io have no number that counts.
    assert "none of these runs has a number" in effio.call("trend", "fresh").stderr


def test_json_and_page(effio: Effio) -> None:
    _kept(effio, "base", 1.0)
    _kept(effio, "bad", 0.8, {"backend": {"name": "posix", "settings": {}}})
    done = effio.call("compare", "base", "bad", "--json", "--page", "page.html")
    reported = json.loads(done.stdout)
    assert reported["schema"] == "effio-comparison/1"
    assert reported["measurements"][0]["verdict"] == "slower"
    assert reported["measurements"][0]["gain"] == pytest.approx(0.8)
    assert reported["differences"] == [
        {"kind": "storage", "name": "backend", "first": "mpiio", "second": "posix"}
    ]
    page = (effio.cwd / "page.html").read_text()
    assert "bad against base" in page
    assert "gains of bad over base" in page


def test_hostile_texts_stay_texts(effio: Effio) -> None:
    text = " ".join(made.HOSTILE)
    bad = made.write(effio.cwd / "x.jsonl", made.hostile(text), foreign=True)
    good = made.write(effio.cwd / "y.jsonl", made.b_eff_io())
    done = effio.call("compare", bad, good, "--page", "p.html", "--junit", "j.xml", "--all")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "<script>window.hacked" not in (effio.cwd / "p.html").read_text()
    ET.parse(effio.cwd / "j.xml")


def test_mistakes(effio: Effio) -> None:
    good = made.write(effio.cwd / "y.jsonl", made.b_eff_io())
    (effio.cwd / "empty").mkdir()
    for words, said in (
        ((good,), "name at least two sides"),
        ((good, "empty"), "there is no run in empty"),
        ((good, "nothing"), "no run 'nothing'"),
        ((good, good, "--tolerance", "2x"), "write a part, as 5% or 0.05"),
    ):
        done = effio.call("compare", *words)
        assert done.returncode == 2, words
        assert said in done.stderr
    made.write(effio.cwd / "mixed/effio-a.jsonl", made.b_eff_io())
    (effio.cwd / "mixed/effio-b.jsonl").write_text("no\n")
    done = effio.call("compare", good, "mixed")
    assert done.returncode == 0
    assert "left out" in done.stderr


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_in_a_browser(width: int, effio: Effio, browser: Browser) -> None:
    five = (1.0, 1.01, 0.99, 1.005, 0.995)  # that have an interval
    _kept(effio, "base", 1.0, noises=five)
    _kept(effio, "bad", 0.8, noises=five)
    assert effio.call("compare", "base", "bad", "--page", "page.html").returncode == 0
    page = patient(browser.new_page(viewport={"width": width, "height": 900}))
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto((effio.cwd / "page.html").as_uri())
    page.wait_for_selector("html[data-drawn='2']")
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # Whiskers extend in both directions, and the Kiviat diagram has three axes.
    whiskers = page.evaluate(
        "document.querySelector('#r0-gains-2 .plot').data"
        ".flatMap((t) => t.error_y ? [[Math.max(...t.error_y.array), "
        "Math.max(...t.error_y.arrayminus)]] : [])"
    )
    assert whiskers
    assert all(up > 0 and down > 0 for up, down in whiskers)
    radar = page.evaluate(
        "document.querySelector('#r0-kiviat .plot').data.map((t) => [t.name, t.x, t.customdata])"
    )
    # Closed lines: one is 0.8 everywhere, the other is the reference.
    assert [(name, len(at)) for name, at, _ in radar] == [("bad", 4), ("base", 4)]
    assert radar[0][2] == pytest.approx([0.8] * 4)
    assert radar[1][2] == [1.0] * 4
    page.close()
