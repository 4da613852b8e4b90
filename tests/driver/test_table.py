# SPDX-License-Identifier: BSD-3-Clause
"""Many runs as one table; notes and tags; measurements for other programs."""

from __future__ import annotations

import csv
import io
import json
import threading
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.cli.note import changed
from effio.errors import EffioError
from effio.report import model
from effio.report.claims import Number
from effio.report.points import Point
from effio.store.folder import RunFolder
from effio.store.notes import Note, Notes
from store import generate

FIRST = "20260101T000000Z-ior-sweep-bulk-00000000-r0"


@pytest.fixture
def kept(effio: Effio) -> Effio:
    """Two points with ten repetitions: run number n (from 0) has n + 1 MB/s."""
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 20)
    return effio


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_row_for_each_point(kept: Effio) -> None:
    # Without campaign.json the record of each run names its campaign.
    named = kept.call("table", "sweep", "--value", "write", "--format", "csv")
    done = kept.call("table", "--value", "write", "--format", "csv")
    assert named.stdout == done.stdout
    assert done.returncode == 0, done.stderr
    rows = _rows(done.stdout)
    assert [row["transfer"] for row in rows] == ["1024", "2048"]
    assert [row["runs"] for row in rows] == ["10", "10"]
    assert [float(row["median [B/s]"]) for row in rows] == [5.5e6, 15.5e6]
    assert [float(row["highest [B/s]"]) for row in rows] == [10e6, 20e6]
    # Of 1 to 10: the sum of squares is 82.5, over nine.
    assert float(rows[0]["deviation [B/s]"]) == pytest.approx((82.5 / 9) ** 0.5 * 1e6)
    shown = kept.call("table", "tag:nightly", "--value", "write").stdout
    assert "5.500 MB/s" in shown


def test_an_axis_side_by_side(kept: Effio) -> None:
    done = kept.call("table", "--value", "read", "--across", "transfer", "--format", "csv")
    (row,) = _rows(done.stdout)
    assert float(row["transfer=1024"]) == 5.5e6
    assert float(row["transfer=2048"]) == 15.5e6
    assert row["unit in CSV"] == "B/s"
    text = kept.call("table", "--value", "read", "--across", "transfer", "--format", "markdown")
    # Of ten values the median is between the second and the ninth with at least 95 %.
    bases = [
        f"{low}.000 MB/s to {high}.000 MB/s (95 %); evidence: not known; valid"
        for low, high in ((2, 9), (12, 19))
    ]
    bases[1] = bases[1].replace(".000", ".00")
    cells = ["read rate", "5.500 MB/s", bases[0], "15.50 MB/s", bases[1], "B/s"]
    assert f"| {' | '.join(cells)} |" in text.stdout


def test_options_show_runs_apart_that_are_of_no_campaign(effio: Effio) -> None:
    runs = effio.cwd / "effio-runs"
    for number, seconds in enumerate((12.0, 12.0, 60.0)):
        lines = made.b_eff_io()
        lines[0]["options"] = {"time": seconds, "dir": f"/{number}", "rewrite": number == 2}
        made.write(runs / f"20260101T00000{number}Z-b-eff-io" / "result.jsonl", lines)
    rows = _rows(effio.call("table", "--format", "csv").stdout)
    # As in a campaign's file: whole numbers without a point, false in small letters.
    assert [(row["time"], row["rewrite"], row["runs"], row["figure"]) for row in rows] == [
        ("12", "false", "2", "b_eff_io"), ("60", "true", "1", "b_eff_io"),
    ]  # fmt: skip
    assert "dir" not in rows[0]


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--by", "transfr"), "'transfr' does not differ among these runs; did you mean 'tra"),
        (("--across", "ranks"), "'ranks' does not differ among these runs"),
        (("--value", "wirte"), "no figure or access 'wirte' in these runs; did you mean 'write'?"),
        (("nothing",), "no run 'nothing'"),
        (("tag:nothing",), "there is no run in tag:nothing"),
    ],
)
def test_what_a_table_cannot_show(words: tuple[str, ...], what: str, kept: Effio) -> None:
    done = kept.call("table", *words)
    assert done.returncode == 2
    assert what in done.stderr


def test_the_file_of_a_campaign_means_the_campaign(kept: Effio) -> None:
    study = kept.cwd / "study"
    study.mkdir()
    (study / "sweep.toml").touch()
    for command in (
        ("table", "--format", "csv"),
        ("trend", "--format", "csv"),
        ("export",),
        ("runs", "--json", "--campaign"),
        ("note",),
        ("compare", "sweep"),
    ):
        by_file = kept.call(*command, "study/sweep.toml")
        by_name = kept.call(*command, "sweep")
        assert (by_file.stdout, by_file.stderr) == (by_name.stdout, by_name.stderr)
    archived = kept.call("archive", "study/sweep.toml", "-o", "all.tar")
    assert "20 runs" in archived.stdout + archived.stderr
    page = kept.call("report", "study/sweep.toml", "-o", "page.html")
    assert (page.returncode, page.stdout) == (0, "report: page.html\n"), page.stderr


def test_a_campaign_that_has_not_been_run(kept: Effio) -> None:
    (kept.cwd / "other.toml").write_text('[[step]]\nname = "one"\n')
    for command in ("table", "trend", "export", "note", "bundle"):
        words = ("-o", "bundle") if command == "bundle" else ()
        done = kept.call(command, "other.toml", *words)
        assert (done.returncode, done.stderr.splitlines()) == (
            2,
            [
                "effio: no run in effio-runs belongs to the campaign 'other'",
                "       effio run other.toml measures it",
            ],
        ), command
    for command in ("show", "report"):
        done = kept.call(command, "other.toml")
        assert done.returncode == 2
        assert "other.toml is a campaign or another file of settings" in done.stderr


def test_an_empty_store_has_no_table(effio: Effio) -> None:
    done = effio.call("table")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no run in effio-runs" in done.stderr


def test_notes_and_tags(kept: Effio) -> None:
    before = (kept.cwd / "effio-runs" / FIRST / "run.json").read_bytes()
    done = kept.call("note", FIRST, "the switch\x1b[31m was replaced", "--tag", "odd")
    assert done.returncode == 0, done.stderr
    assert kept.call("note", FIRST, "second").returncode == 0
    reported = kept.call("note", FIRST).stdout.splitlines()
    assert reported[0] == f"{FIRST}  tags: nightly, odd"
    assert [line.split("Z  ")[1] for line in reported[1:]] == ["the switch was replaced", "second"]
    assert (kept.cwd / "effio-runs" / FIRST / "run.json").read_bytes() == before
    listed = kept.call("runs", "--json", "--tag", "odd").stdout.splitlines()
    assert [json.loads(line)["run"] for line in listed] == [FIRST]
    assert json.loads(listed[0])["note"] == "second"
    asked = kept.call("query", "SELECT tags, notes FROM runs WHERE notes IS NOT NULL", "--csv")
    assert asked.stdout.splitlines()[1].startswith('"nightly,odd",')
    assert kept.call("table", "tag:odd", "--format", "csv").stdout.count("\n") == 2
    assert kept.call("note", FIRST, "--untag", "odd").returncode == 0
    assert kept.call("runs", "--json", "--tag", "odd").stdout == ""
    # All runs of a tag at once.
    assert kept.call("note", "tag:nightly", "--tag", "all").stdout.count("all") == 20


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ((FIRST, ""), "the note is empty"),
        ((FIRST, "--tag", "two words"), "a tag has letters"),
        ((FIRST, "--tag", "x" * 65), "64 of them at most"),
        ((FIRST, "x" * 10_001), "10,000 characters at most"),
        ((FIRST, "--untag", "nightly"), "was not given the tag 'nightly'"),
        (("nothing", "text"), "no run 'nothing'"),
    ],
)
def test_what_cannot_be_noted(words: tuple[str, ...], what: str, kept: Effio) -> None:
    done = kept.call("note", *words)
    assert done.returncode == 2
    assert what in done.stderr
    assert list(kept.cwd.glob("effio-runs/*/notes.json")) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", ""),
        *((text, " (a newer effio made it?)") for text in ("[]", '{"schema": "effio-notes/2"}')),
        ('{"tags": [1]}', " (a newer effio made it?)"),
    ],
)
def test_damaged_notes_are_none_and_are_not_replaced(text: str, why: str, kept: Effio) -> None:
    file = kept.cwd / "effio-runs" / FIRST / "notes.json"
    file.write_text(text)
    assert kept.call("note", FIRST).stdout == f"{FIRST}  tags: nightly\n"
    done = kept.call("note", FIRST, "new")
    assert done.returncode == 2
    said = f"notes.json cannot be read{why}\n       move it away; it is not replaced"
    assert said in done.stderr
    assert file.read_text() == text


def test_notes_of_two_callers_at_once_are_both_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.noting():
        before = folder.notes()
        other = threading.Thread(target=changed, args=(folder, "second", (), ()))
        other.start()
        other.join(0.2)  # it waits
        folder.write_notes(before.model_copy(update={"notes": (Note(time="now", text="first"),)}))
    other.join()
    assert [note.text for note in folder.notes().notes] == ["first", "second"]


def test_notes_that_could_not_be_read_again_are_refused(tmp_path: Path) -> None:
    long = Notes(notes=(Note(time="now", text="x" * 10_000),) * 110)
    with pytest.raises(EffioError, match="all notes together take 1 MiB at most"):
        RunFolder(tmp_path).write_notes(long)


def test_parquet(kept: Effio) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    done = kept.call("export", "tag:nightly", "-o", "m.parquet")
    assert done.returncode == 0, done.stderr
    table = parquet.read_table(kept.cwd / "m.parquet")
    assert table.num_rows == 80
    assert max(table.column("rate").to_pylist()) == 20e6
    assert {table.schema.field(n).type for n in ("bytes", "valid", "access")} == {
        "int64", "bool", "string",
    }  # fmt: skip
    again = kept.call("export", "tag:nightly", "-o", "m.parquet")
    assert again.returncode == 2
    assert (
        "parquet is not a text format" in kept.call("export", FIRST, "--format", "parquet").stderr
    )


def test_a_workbook_holds_the_numbers(effio: Effio) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    lines = made.b_eff_io()
    # A workbook cannot hold a bell character, a formula is text, and 2^53 + 1 is not a double.
    lines[1]["pattern"], lines[2]["pattern"] = "=HYPERLINK(1)", "a\x07b"
    lines[1]["bytes"] = 2**53 + 1
    result = made.write(effio.cwd / "x.jsonl", lines)
    assert effio.call("export", result, "-o", "m.xlsx").returncode == 0
    sheet = openpyxl.load_workbook(effio.cwd / "m.xlsx")["measurements"]
    rows = [[cell.value for cell in row] for row in sheet.iter_rows()]
    text = _rows(effio.call("export", result).stdout)
    assert rows[0] == list(text[0])
    assert len(rows) == 1 + len(text)
    at = {name: i for i, name in enumerate(rows[0])}
    assert [row[at["rate"]] for row in rows[1:]] == [float(row["rate"]) for row in text]
    assert [row[at["pattern"]] for row in rows[1:3]] == ["=HYPERLINK(1)", "ab"]
    assert sheet.cell(2, at["pattern"] + 1).data_type == "s"
    assert rows[1][at["bytes"]] == "9007199254740993"
    assert rows[2][at["valid"]] is True
    assert rows[2][at["invalid_reason"]] is None
    done = effio.call("export", result, "--format", "xlsx")
    assert "xlsx is not a text format: name a file" in done.stderr


def test_markdown(kept: Effio) -> None:
    done = kept.call("export", FIRST, "--format", "markdown")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("| run | benchmark | pattern | access |")
    assert len(lines) == 6
    kept.call("export", FIRST, "-o", "m.md")
    assert (kept.cwd / "m.md").read_text() == done.stdout


def test_of_a_long_list_each_run_is_a_line(effio: Effio) -> None:
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 501)
    lines = effio.call("runs", env={"COLUMNS": "70"}).stdout.splitlines()
    words = lines[1].split()
    assert words[1:10] == [
        FIRST, "sweep", "bulk", "1", "transfer=1024", "ior", "done", "2026-01-01T00:00:00Z", "2",
    ]  # fmt: skip
    assert words[-3:] == ["ext4", "/", "nightly"]
    assert len(lines) == 502


def test_a_number_that_is_not_valid_counts_nowhere() -> None:
    """As on the page of a campaign, in trends, and for a figure by its name."""
    point = Point({}, "b_eff_io", "B/s")
    point.add(Number("b_eff_io", "B/s", 2e8, "own", "simulated", valid=False))
    assert (point.runs, point.values, point.interval) == (1, [], "no run counts")
    assert point.basis == "no run counts; not valid"
    point.add(Number("b_eff_io", "B/s", 1e8, "own", "on storage", valid=True))
    assert (point.values, point.evidence) == ([1e8], "on storage")
    assert point.validity == "not valid: 1 of 2"


def test_a_point_without_a_number_says_why() -> None:
    """As the list of runs does: it said "no run counts" alone."""
    point = Point({}, "write_bandwidth", "B/s")
    for why in ("nothing was moved", "nothing was moved", model.NO_MEAN, "the run was stopped"):
        point.add(Number("write_bandwidth", "B/s", None, why))
    assert point.interval == "no run counts: nothing was moved; the run was stopped"
    point = Point({}, "write_bandwidth", "B/s")
    point.add(Number("write_bandwidth", "B/s", None, "nothing was moved"))
    point.add(Number("write_bandwidth", "B/s", 1e8, "± 1 MB/s (95 %)", "on storage"))
    assert point.interval == "± 1 MB/s (95 %)"
