# SPDX-License-Identifier: BSD-3-Clause
"""`effio serve`: who may read what, and the pages in a browser."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from driver import made
from driver.conftest import Effio
from effio.judge.rules import load_rules
from effio.serve.app import App
from effio.serve.server import LOOPBACK, Server
from effio.serve.shelf import Shelf
from effio.store.folder import this_process
from effio.store.reader import Digest, Result, read_result
from patience import MILLISECONDS, SECONDS, patient
from store import generate

FIRST = "20260101T000000Z-b-eff-io"
SECOND = "20260202T000000Z-b-eff-io-second"
RUNNING = "20260303T000000Z-ior"
SECRET = "the contents of a file outside"

PROGRESS = (
    '{"effio_progress":{"title":"write shared 1 MiB","call":"pwrite","step_seconds":2,'
    '"step_bytes":1073741824,"step_planned_bytes":4294967296,"plan_done_fraction":0.25}}'
)


def _record(identity: str) -> str:
    record = {
        "schema": "effio-run/1", "id": identity, "created": "2026-03-03T00:00:00Z",
        "benchmark": "ior", "arguments": [], "directory": "/", "command": [],
        "process": this_process(),
    }  # fmt: skip
    return json.dumps(record)


def _make_runs(place: Path) -> Path:
    """Two runs that are done, one that continues, and links that lead outside."""
    root = place / "runs"
    made.write(root / FIRST / "result.jsonl", made.b_eff_io())
    made.write(root / SECOND / "result.jsonl", made.two_partitions())
    running = root / RUNNING
    running.mkdir()
    (running / "run.json").write_text(_record(RUNNING))
    (running / "progress.json").write_text(PROGRESS + "\n")
    outside = place / "outside"
    made.write(outside / "result.jsonl", made.b_eff_io())
    (outside / "stdout.log").write_text(SECRET)
    (place / "secret.txt").write_text(SECRET)
    (root / "linked-folder").symlink_to(outside)
    made.write(root / "linked-file" / "result.jsonl", made.b_eff_io())
    (root / "linked-file" / "stdout.log").symlink_to(place / "secret.txt")
    return root


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return _make_runs(tmp_path)


@contextlib.contextmanager
def _serving(runs: Path) -> Iterator[Server]:
    with Server(runs) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def server(runs: Path) -> Iterator[Server]:
    with _serving(runs) as server:
        yield server


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that change none of its runs."""
    place = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(place / "cache"))
        with _serving(_make_runs(place)) as server:
            yield server


def _ask(
    server: Server, target: str, method: str = "GET", host: str | None = None
) -> tuple[int, str, dict[str, str]]:
    """The target goes out as it is: no client tidies it up."""
    connection = http.client.HTTPConnection(LOOPBACK, server.server_address[1], timeout=SECONDS)
    try:
        connection.putrequest(method, target, skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"{LOOPBACK}:{server.server_address[1]}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def _token(server: Server) -> str:
    return server.url.rstrip("/").rpartition("/")[2]


def test_it_listens_on_the_loopback_interface_only(still: Server) -> None:
    assert still.server_address[0] == "127.0.0.1"
    assert len(_token(still)) >= 32
    with Server(still.app.shelf.root) as other:
        assert _token(other) != _token(still)


@pytest.mark.parametrize("token", ["", "x", "..", "%2e%2e", "TOKEN0", "TOKEN%00", "é", "%ff"])
def test_without_the_token_nothing_is_reported(still: Server, token: str) -> None:
    wrong = token.replace("TOKEN", _token(still))
    for rest in ("", "/", "/runs.json", f"/run/{FIRST}"):
        status, text, headers = _ask(still, f"/{quote(wrong, safe='%')}{rest}")
        assert (status, text) == (404, "not found\n")
        assert headers["Cache-Control"] == "no-store"


def test_with_the_token_the_runs_are_listed(still: Server) -> None:
    status, text, headers = _ask(still, f"/{_token(still)}/")
    assert status == 200
    assert FIRST in text
    assert SECOND in text
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost.:PORT"]
)
def test_another_host_name_is_refused(still: Server, host: str) -> None:
    """A name of another user's DNS may point to this machine."""
    named = host.replace("PORT", str(still.server_address[1]))
    status, text, _ = _ask(still, f"/{_token(still)}/", host=named)
    assert status == 421
    assert FIRST not in text


def test_localhost_is_this_machine(still: Server) -> None:
    host = f"localhost:{still.server_address[1]}"
    assert _ask(still, f"/{_token(still)}/", host=host)[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(still: Server, method: str) -> None:
    runs = still.app.shelf.root
    before = sorted(p.name for p in runs.rglob("*"))
    status, _, headers = _ask(still, f"/{_token(still)}/run/{FIRST}", method)
    assert status == 405
    assert headers["Allow"] == "GET, HEAD"
    assert sorted(p.name for p in runs.rglob("*")) == before


def test_a_method_that_does_not_exist_is_refused(still: Server) -> None:
    assert _ask(still, f"/{_token(still)}/", "BREW")[0] == 501


def test_head_has_no_body(still: Server) -> None:
    status, text, headers = _ask(still, f"/{_token(still)}/", "HEAD")
    assert (status, text) == (200, "")
    assert int(headers["Content-Length"]) > 1000


TRICKS = (
    "../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt",
    "run/../../secret.txt", "run/..%2f..%2fsecret.txt", "run/%2e%2e/secret.txt",
    "run/..%5c..%5csecret.txt", "run//etc/passwd", "run/%2fetc%2fpasswd", "/etc/passwd",
    "run/FIRST/../../../secret.txt", "run/FIRST/..%2f..%2f..%2fsecret.txt",
    "run/FIRST/%2fetc%2fpasswd", "run/FIRST/result.jsonl%00.txt", "run/FIRST%00/result.jsonl",
    "run/FIRST/%252e%252e%252fsecret.txt", "run/./FIRST", "run/FIRST/", "run/FIRST/SHA256SUMS",
    "run/FIRST/report.html", "run/FIRST/\\..\\secret.txt", "run/", "run", "compare/x",
    "run/linked-folder", "run/linked-folder/stdout.log", "run/linked-file",
    "run/linked-file/stdout.log", "compare?run=../outside&run=FIRST",
    "compare?run=%2fetc&run=FIRST", "compare?run=linked-folder&run=FIRST", "%ff%fe",
    "run/" + "a" * 3000,
)  # fmt: skip


@pytest.mark.parametrize("trick", TRICKS)
def test_no_path_leads_outside(still: Server, trick: str) -> None:
    status, text, _ = _ask(still, f"/{_token(still)}/{trick.replace('FIRST', FIRST)}")
    assert status == 404
    assert SECRET not in text
    assert "root:" not in text


@pytest.mark.parametrize("target", ["http://evil.example/", "*", "/TOKEN/" + "a" * 20000])
def test_other_forms_of_a_target_are_refused(still: Server, target: str) -> None:
    status, _, _ = _ask(still, target.replace("TOKEN", _token(still)))
    assert status in (400, 404)


def test_a_folder_that_is_a_link_to_the_runs_is_the_folder(runs: Path, tmp_path: Path) -> None:
    """What counts is the folder itself: links inside it must not lead out."""
    (tmp_path / "way").symlink_to(runs)
    with Server(tmp_path / "way") as server:
        names = {run.id for run in server.app.shelf.runs()}
    assert names == {FIRST, SECOND, RUNNING}


def test_texts_of_results_stay_texts(runs: Path, server: Server) -> None:
    for number, text in enumerate(made.HOSTILE):
        made.write(runs / f"hostile-{number}" / "result.jsonl", made.hostile(text), foreign=True)
    _, page, _ = _ask(server, f"/{_token(server)}/")
    assert "hostile-0" in page
    assert "<script>window.hacked" not in page
    assert "<img src=x" not in page


def test_files_are_shown_as_text(still: Server) -> None:
    status, text, headers = _ask(still, f"/{_token(still)}/run/{FIRST}/result.jsonl")
    assert status == 200
    assert text.startswith('{"schema"')
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert headers["Content-Security-Policy"] == "default-src 'none'"


def test_a_damaged_run_harms_no_other(runs: Path, server: Server) -> None:
    (runs / "damaged").mkdir()
    (runs / "damaged" / "result.jsonl").write_text("no JSON\n")
    assert "damaged" in _ask(server, f"/{_token(server)}/")[1]
    status, text, _ = _ask(server, f"/{_token(server)}/run/damaged")
    assert status == 409
    assert "not JSON" in text


def test_a_link_to_nothing_in_a_run_harms_no_page(runs: Path, server: Server) -> None:
    (runs / FIRST / "mine").symlink_to("nothing")
    assert _ask(server, f"/{_token(server)}/run/{FIRST}")[0] == 200


def test_a_name_that_is_not_utf_8_is_listed_and_has_a_page(runs: Path, server: Server) -> None:
    (runs / FIRST).rename(runs / os.fsdecode(b"2026-gr\xf6sse"))
    status, text, _ = _ask(server, f"/{_token(server)}/")
    assert status == 200
    assert 'href="run/2026-gr%F6sse"' in text
    assert _ask(server, f"/{_token(server)}/run/2026-gr%F6sse")[0] == 200
    # What a browser sends for the ticked boxes of the form, which is in UTF-8.
    ticked = re.findall(r'name="run" value="([^"]*)"(?! aria-label="[^"]*" disabled)', text)
    query = urlencode([("run", name) for name in ticked if name.endswith(("sse", SECOND))])
    assert query.count("run=") == 2
    status, page, _ = _ask(server, f"/{_token(server)}/compare?{query}")
    assert status == 200, page
    assert SECOND in page
    # The list finds the lines of runs whose progress it asks for.
    rows = json.loads(_ask(server, f"/{_token(server)}/runs.json")[1])
    assert {row["address"] for row in rows} == {*re.findall(r'data-run="(.*?)"', text)}


@pytest.mark.parametrize("count", [21, 900, 1100])
def test_more_runs_than_can_be_compared_are_refused_in_words(still: Server, count: int) -> None:
    ticked = "&".join(f"run={n if count > 1000 else n * 10**20}" for n in range(count))
    status, text, _ = _ask(still, f"/{_token(still)}/compare?{ticked}")
    assert status in (400, 409)
    assert text == "at most 20 runs can be compared: go back and tick fewer\n"


def test_a_defect_is_reported_in_the_browser_and_the_terminal(
    server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    nothing: dict[str, object] = {}
    monkeypatch.setattr(server.app.shelf, "runs", lambda: nothing["x"])
    status, text, _ = _ask(server, f"/{_token(server)}/")
    assert (status, text.startswith("this is a defect of effio itself")) == (500, True)
    assert "KeyError: 'x'" in capfd.readouterr().err


def test_a_removed_run_leaves_a_next_step(still: Server) -> None:
    status, text, _ = _ask(still, f"/{_token(still)}/run/20250101T000000Z-gone")
    assert status == 404
    assert text.endswith("load the list of runs again\n")


def test_runs_are_grouped_by_campaign_with_what_shows_them_apart(runs: Path) -> None:
    generate(runs, 11)
    app = App(Shelf(runs), "t", 1)
    text = app.respond("GET", "/t/", {"Host": "localhost:1"}).body.decode()
    headings = re.findall(r"<h2>(.*?) <span class=\"count\">(.*?)</span></h2>", text)
    # The newest run belongs to no campaign; the linked directory is omitted.
    assert headings == [("No campaign", "3 runs"), ("Campaign sweep", "11 runs")]
    sweep = text.partition("Campaign sweep")[2]
    points = re.findall(r'<span class="point">(.*?)</span>', sweep)
    assert points[:2] == [
        "step bulk · transfer 2\u00a0KiB · repetition 1",
        "step bulk · transfer 1\u00a0KiB · repetition 10",
    ]
    assert re.findall(r'<span class="where">(.*?)</span>', sweep)[0] == (
        "2026-01-01 00:00 UTC · 2 ranks · ext4 /"
    )
    own = text.partition("Campaign sweep")[0]
    assert "b_eff_io = 300.0 MB/s" in own
    assert '<em class="">not valid, mixed</em>' in own


def test_a_run_is_read_once_and_the_list_is_bounded(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(path: Path, digest: Digest | None = None) -> Result:
        read.append(path.parent.name)
        return read_result(path, digest)

    monkeypatch.setattr("effio.store.reader.read_result", counted)
    monkeypatch.setattr("effio.serve.app._MOST_LISTED", 5)
    generate(runs, 11)
    app = App(Shelf(runs), "t", 1)

    def listed(query: str = "") -> tuple[str, list[str]]:
        read.clear()
        text = app.respond("GET", f"/t/{query}", {"Host": "localhost:1"}).body.decode()
        return text, re.findall(r'data-run="(.*?)"', text)

    assert len(listed()[1]) == 5
    assert len(read) == 16  # the linked folder too, as `effio runs` does; it is not listed
    text, names = listed()
    # Of one that continues the files do not say whether it still does.
    assert read == [RUNNING]
    assert (names[0], len(names)) == (RUNNING, 5)
    assert "14 of 14 runs; the newest 5 are listed" in text
    assert 'href="./?all=1"' in text
    assert len(listed("?all=1")[1]) == 14
    assert len(listed("?benchmark=ior&state=done&all=1")[1]) == 11
    text = listed("?benchmark=ior&state=done")[0]
    assert "11 of 14 runs; the newest 5 are listed" in text
    assert 'href="./?benchmark=ior&amp;state=done&amp;all=1"' in text
    (runs / FIRST / "notes.json").write_text('{"schema": "effio-notes/1", "tags": ["odd"]}')
    assert len(listed("?q=odd")[1]) == 1
    assert sorted(read) == sorted([RUNNING, FIRST])


def test_the_list_filters(still: Server) -> None:
    def listed(query: str) -> set[str]:
        _, text, _ = _ask(still, f"/{_token(still)}/?{query}")
        return {name for name in (FIRST, SECOND, RUNNING) if f'data-run="{name}"' in text}

    assert listed("") == {FIRST, SECOND, RUNNING}
    assert listed("q=second") == {SECOND}
    assert listed("q=EXT4+second") == {SECOND}
    assert listed("state=running") == {RUNNING}
    assert listed("benchmark=b-eff-io&q=second") == {SECOND}
    assert listed("q=no+such") == set()


def test_progress_is_reported_until_a_run_ends(runs: Path, server: Server) -> None:
    def reported() -> dict[str, object]:
        rows = json.loads(_ask(server, f"/{_token(server)}/runs.json")[1])
        (row,) = [row for row in rows if row["id"] == RUNNING]
        assert isinstance(row, dict)
        return row

    first = reported()
    assert first["state"] == "running"
    assert first["done"] == 0.25
    # 1 GiB of 4 GiB in 2 s: 6 s more.
    assert "1 GiB of 4 GiB · 6 s left in it" in str(first["progress"])
    made.write(runs / RUNNING / "result.jsonl", made.b_eff_io())
    assert reported()["state"] == "done"


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = patient(context.new_page())
    yield page
    context.close()


def test_a_campaign_has_a_page_and_a_trend(server: Server, runs: Path) -> None:
    record = json.loads(_record(FIRST))
    record |= {
        "campaign": {"name": "night ly", "step": "a", "point": "p"},
        "outcome": {"status": "done", "exit_code": 0},
    }
    (runs / FIRST / "run.json").write_text(json.dumps(record))
    at = f"/{_token(server)}"
    assert 'href="campaign/night%20ly"' in _ask(server, f"{at}/")[1]
    assert FIRST in _ask(server, f"{at}/campaign/night%20ly")[1]
    assert "trend of night ly" in _ask(server, f"{at}/trend/night%20ly")[1]
    data = json.loads(_ask(server, f"{at}/trend/night%20ly/trend.json")[1])
    assert data["campaign"] == "night ly"
    assert _ask(server, f"{at}/trend/other")[0] == 404
    # The page is judged by the rules that the server was started with.
    rules = runs / "rules.toml"
    rules.write_text(
        'schema = "effio-rules/1"\ntitle = "Promised of all"\n'
        '[[rule]]\nid = "runs"\nkind = "valid"\n'
    )
    assert "Promised of all" not in _ask(server, f"{at}/campaign/night%20ly")[1]
    judging = App(server.app.shelf, "t", 80, load_rules(str(rules)))
    page = judging.respond("GET", "/t/campaign/night%20ly", {"Host": "localhost:80"})
    assert page.status == 200
    assert b"Promised of all" in page.body
    # What the rules say stays text, and numbers without sense judge nothing.
    rules.write_text(
        'schema = "effio-rules/1"\ntitle = "<script>alert(1)</script>"\n'
        '[[rule]]\nid = "r"\nkind = "valid"\ntitle = "<img src=x onerror=alert(2)>"\n'
        f'repetitions = {"9" * 400}\nselect = {{ ranks = {{ at_least = "{"9" * 400}GiB" }} }}\n'
        '[[rule]]\nid = "s"\nkind = "linearity"\naxis = "ranks"\ntolerance = 1e-300\n'
        f'steps = [1e-308]\n[[rule]]\nid = "t"\nkind = "threshold"\nrisk = 1e-320\n'
        f'at_least = "{"9" * 400} Gop/s"\n'
    )
    judging = App(server.app.shelf, "t", 80, load_rules(str(rules)))
    page = judging.respond("GET", "/t/campaign/night%20ly", {"Host": "localhost:80"})
    assert page.status == 200
    assert b"&lt;script&gt;alert(1)&lt;/script&gt;" in page.body
    assert b"<script>alert(1)" not in page.body
    assert b"onerror=alert(2)>" not in page.body
    # Calls of a campaign that measures anew each time are one campaign in the list.
    record["campaign"]["name"] = "20260101T000000Z-night ly"
    (runs / FIRST / "run.json").write_text(json.dumps(record))
    text = _ask(server, f"{at}/")[1]
    assert 'href="campaign/20260101T000000Z-night%20ly"' in text
    assert 'href="trend/night%20ly"' in text
    assert "trend of night ly" in _ask(server, f"{at}/trend/night%20ly")[1]


def test_in_a_browser(still: Server, page: Page) -> None:
    """List, search, compare by ticking; no fault on the console, no request to anywhere else."""
    asked: list[str] = []
    faults: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "console", lambda message: faults.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(still.url)
    expect(page.locator("li.run")).to_have_count(3)
    expect(page.locator("#compare")).to_be_disabled()
    page.get_by_label(f"Compare {FIRST}", exact=True).check()
    expect(page.locator("#compare")).to_be_disabled()
    page.get_by_label(f"Compare {SECOND}", exact=True).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.locator("article")).to_have_count(2)
    expect(page.locator("#overview")).to_be_visible()
    page.go_back()
    expect(page.locator('input[name="run"]:checked')).to_have_count(2)
    expect(page.locator("#compare")).to_be_enabled()
    page.get_by_role("searchbox").fill("second")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("li.run")).to_have_count(1)
    page.get_by_role("link", name=SECOND, exact=True).click()
    expect(page.locator("article h1")).to_have_count(1)
    assert faults == []
    own = f"http://{LOOPBACK}:{still.server_address[1]}/{_token(still)}/"
    assert [url for url in asked if not url.startswith((own, "data:", "blob:"))] == []


def test_a_running_one_moves_on_in_the_browser(server: Server, runs: Path, page: Page) -> None:
    page.goto(server.url)
    now = page.locator("li.running .now")
    expect(now).to_contain_text("1 GiB of 4 GiB")
    later = PROGRESS.replace("1073741824", "2147483648")
    (runs / RUNNING / "new").write_text(later)
    (runs / RUNNING / "new").replace(runs / RUNNING / "progress.json")
    expect(now).to_contain_text("2 GiB of 4 GiB", timeout=MILLISECONDS)
    made.write(runs / RUNNING / "result.jsonl", made.b_eff_io())
    expect(page.locator("li.done")).to_have_count(3, timeout=MILLISECONDS)


@pytest.mark.parametrize("width", [1280, 400])
def test_the_list_fits(still: Server, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(still.url)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for box in page.locator("li.run").all():
        inside = box.bounding_box()
        assert inside is not None
        assert inside["x"] >= 0
        assert inside["x"] + inside["width"] <= width


def test_a_folder_that_is_not_there_is_said(effio: Effio) -> None:
    done = effio.call("--runs", "gone", "serve")
    assert done.returncode == 2
    assert "there is no folder of runs gone" in done.stderr
