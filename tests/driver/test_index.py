# SPDX-License-Identifier: BSD-3-Clause
"""The index of a store: quick, and never more than what the folders say."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.report.listing import line_of
from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from effio.store.index import Entry, Index, place_of
from effio.store.table import TABLES
from patience import SECONDS
from store import generate

Opened = Callable[[], tuple[list[Entry], list[int]]]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("EFFIO_CACHE", raising=False)
    folder = tmp_path / "runs"
    folder.mkdir()
    generate(folder, 12)
    return folder


@pytest.fixture
def opened(root: Path) -> Opened:
    """Entries, and how many folders had to be read for them."""

    def entries() -> tuple[list[Entry], list[int]]:
        read: list[int] = []
        index = Index(Store(root), line_of, read.append)
        try:
            return index.entries(), read
        finally:
            index.close()

    return entries


def test_a_folder_is_read_once(root: Path, opened: Opened) -> None:
    first, read = opened()
    assert read == [12]
    assert [e.folder.id for e in first] == [f.id for f in Store(root).folders()]
    assert {e.line["state"] for e in first} == {"done"}
    second, read = opened()
    assert read == []
    assert [e.line for e in second] == [e.line for e in first]


def test_a_changed_turn_is_noticed(root: Path, opened: Opened) -> None:
    """The numbers of a run of interference depend on the results of its turns."""
    run = sorted(root.iterdir())[3]
    turn = run / "result.turns" / "1" / "group-0" / "result.jsonl"
    turn.parent.mkdir(parents=True)
    shutil.copy(run / "result.jsonl", turn)
    RunFolder(run).seal()
    assert opened()[1] == [12]
    assert opened()[1] == []
    turn.write_bytes(turn.read_bytes() + b"\n")
    assert opened()[1] == [1]
    assert opened()[1] == []


def test_only_named_runs_are_looked_at(root: Path) -> None:
    """Others stay in the index as they are, and are brought up to date by the next question about
    them."""
    read: list[int] = []
    index = Index(Store(root), line_of, read.append)
    folders = Store(root).folders()
    names = [folders[7].id, folders[2].id, "not there"]
    assert [e.folder.id for e in index.entries(names=names)] == [folders[2].id, folders[7].id]
    assert read == [2]
    shutil.rmtree(folders[0].path)
    assert len(index.entries()) == 11
    assert read == [2, 9]
    for folder in folders[7:9]:
        folder.write_notes(folder.notes().model_copy(update={"tags": ("odd",)}))
    (entry,) = index.entries(names=[folders[7].id])
    assert entry.line["tags"] == "nightly,odd"
    assert len(list(index.rows("measurements"))) == 1  # of the run that was named
    assert read == [2, 9, 1]
    assert len(index.entries()) == 11
    assert read == [2, 9, 1, 1]
    index.close()


def test_what_changes_is_noticed(root: Path, opened: Opened) -> None:
    opened()
    folders = Store(root).folders()
    shutil.rmtree(folders[0].path)
    folders[1].write_notes(folders[1].notes().model_copy(update={"tags": ("odd",)}))
    text = folders[2].result_path.read_text().replace('"status":"done"', '"status":"hung"')
    folders[2].result_path.write_text(text)
    folders[3].result_path.unlink()
    entries, read = opened()
    assert read == [3]
    lines = {e.folder.id: e.line for e in entries}
    assert folders[0].id not in lines
    assert lines[folders[1].id]["tags"] == "nightly,odd"
    assert lines[folders[2].id]["state"] == "hung"
    assert lines[folders[3].id]["state"] == "failed"


def test_a_running_run_is_read_again(root: Path, opened: Opened) -> None:
    folder = Store(root).folders()[0]
    record = json.loads((folder.path / "run.json").read_text())
    del record["outcome"]
    record["process"] = {"host": "another", "pid": 1, "start": "1"}
    (folder.path / "run.json").write_text(json.dumps(record))
    folder.result_path.unlink()
    assert opened()[0][0].line["state"] == "running"
    assert opened()[1] == [1]


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\1" * 5000])
def test_a_damaged_index_is_made_anew(root: Path, opened: Opened, content: bytes) -> None:
    opened()
    place_of(root).write_bytes(content)
    entries, read = opened()
    assert (len(entries), read) == (12, [12])
    assert opened()[1] == []


# What something else may do to the file, and how many runs are read again then.
_CHANGES = {
    "a line without members": ("UPDATE runs SET line = '{}'", 12),
    "another state": ("UPDATE runs SET line = replace(line, 'done', 'hung')", 12),
    "no JSON": ("UPDATE runs SET line = 'x' WHERE rowid = 1", 1),
    "nothing": ("UPDATE runs SET line = NULL WHERE rowid = 1", 1),
    "not UTF-8": ("UPDATE runs SET line = CAST(x'ff' AS TEXT) WHERE rowid = 1", 1),
    "a name that is text": ("UPDATE runs SET name = CAST(name AS TEXT)", 12),
    "a run that is not there": (
        "INSERT INTO runs VALUES (x'61', '', '{}', '', '{}', '{}', '', '')",
        0,
    ),
    "a column less": ("ALTER TABLE runs DROP COLUMN sum", 12),
    "no runs": ("DROP TABLE runs", 12),
}


@pytest.mark.parametrize("change", _CHANGES)
def test_entries_that_something_else_wrote_are_read_again(
    root: Path, opened: Opened, change: str
) -> None:
    first, _ = opened()
    statement, again = _CHANGES[change]
    with sqlite3.connect(place_of(root)) as database:
        database.execute(statement)
    database.close()
    entries, read = opened()
    assert [(e.folder.id, e.line) for e in entries] == [(e.folder.id, e.line) for e in first]
    assert read == ([again] if again else [])
    assert opened()[1] == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE rows SET text = replace(text, '1', '2')",
        "UPDATE rows SET shape = '[]'",
        "UPDATE rows SET shape = '[[1, 2]]'",
        "DELETE FROM rows WHERE rowid = 1",
        "UPDATE shapes SET text = '[]'",
        "UPDATE shapes SET text = replace(text, 'int', 'text')",
        "UPDATE rows SET shape = (SELECT sum FROM shapes LIMIT 1)",
        "DELETE FROM shapes",
        "DROP TABLE shapes",
        "DROP TABLE rows",
        "DELETE FROM columns",
    ],
)
@pytest.mark.parametrize("changed", [False, True])
def test_numbers_that_something_else_wrote_are_not_shown(
    root: Path, statement: str, changed: bool
) -> None:
    def all_of(table: str) -> tuple[list[str], list[dict[str, object]]]:
        index = Index(Store(root), line_of)
        try:
            index.entries()
            names = {f"c{c.id}": c.name for c in index.columns(table)}
            rows = [json.loads(line) for text in index.rows(table) for line in text.splitlines()]
            return sorted(names.values()), [{names[k]: v for k, v in r.items()} for r in rows]
        finally:
            index.close()

    before = {table: all_of(table) for table in TABLES}
    assert sum(len(rows) for _, rows in before.values()) > 12
    with sqlite3.connect(place_of(root)) as database:
        database.execute(statement)
    database.close()
    if changed:  # what is new is read with the columns that are left
        os.utime(Store(root).folders()[0].path / "run.json", (0, 0))
    assert {table: all_of(table) for table in TABLES} == before


def test_an_index_that_another_user_could_have_written_is_not_used(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_of(root)
    opened()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    place.chmod(0o620)
    assert opened()[1] == [12]
    place.chmod(0o600)
    assert opened()[1] == []
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
        assert opened()[1] == [12]
    target = place.with_name("target")
    place.rename(target)
    place.symlink_to(target)
    entries, read = opened()
    assert (len(entries), read) == (12, [12])


def test_an_index_of_another_effio_is_made_anew(root: Path, opened: Opened) -> None:
    opened()
    with sqlite3.connect(place_of(root)) as database:
        database.execute("UPDATE about SET text = '0 0.0.1'")
        database.execute("UPDATE runs SET line = '{}'")
    database.close()
    entries, read = opened()
    assert read == [12]
    assert entries[0].line["state"] == "done"


def test_without_a_place_for_it_all_is_read(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EFFIO_CACHE", os.devnull + "/x")
    assert opened()[1] == [12]
    entries, read = opened()
    assert (len(entries), read) == (12, [12])


def test_the_next_time_is_quicker_where_it_is_kept(
    effio: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 3)
    monkeypatch.setattr("effio.cli.kept._MANY", 3)
    reading = "reading 3 runs that are new or have changed"
    for _ in range(2):
        done = effio.call("runs", env={"EFFIO_CACHE": os.devnull + "/x"})
        assert done.stderr == f"effio: {reading}\n"
    assert effio.call("runs").stderr == f"effio: {reading}; the next time is quicker\n"
    assert effio.call("runs").stderr == ""


def test_one_that_is_in_other_hands_is_not_waited_for_in_vain(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened()
    monkeypatch.setattr("effio.store.index.WAIT_SECONDS", 0.05)
    shutil.rmtree(Store(root).folders()[0].path)
    holder = sqlite3.connect(place_of(root))
    holder.execute("BEGIN EXCLUSIVE")
    entries, _ = opened()
    assert len(entries) == 11
    holder.rollback()
    holder.close()
    assert len(opened()[0]) == 11


def test_questions_are_answered_from_it(effio: Effio) -> None:
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 20)
    question = "SELECT count(*), max(rate), min(axis_transfer) FROM measurements"
    # Run number 19 has 20 MB/s; point 0 has transfers of 1 KiB.
    for _ in range(2):
        done = effio.call("query", question, "--csv")
        assert done.stdout.splitlines()[1] == "80,20000000.0,1024", done.stderr
    (runs / "20260101T000000Z-ior-sweep-bulk-00000000-r0" / "result.jsonl").write_text("{torn")
    done = effio.call("query", question, "--csv")
    assert done.stdout.splitlines()[1].startswith("76,")
    assert "left out" in done.stderr


def test_a_question_may_read_a_table_twice_and_no_place_is_a_part_of_it(effio: Effio) -> None:
    """Other names of the place: test_temporary.py."""
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 3)
    place = effio.cwd / "it's a[b]*?"
    place.mkdir()
    question = """SELECT count(*), count(DISTINCT b.rate) FROM measurements a
                  JOIN measurements b USING (run) JOIN runs USING (run)"""
    done = effio.run("query", question, "--csv", env={"TMPDIR": str(place)})
    # Each of three runs has four measurements with the rate of the run.
    assert done.stdout.splitlines()[1] == "48,3", done.stderr
    assert not any(place.iterdir())


def test_a_column_of_two_kinds_is_text(effio: Effio) -> None:
    runs = effio.cwd / "effio-runs"
    for number, value in enumerate((4096, "all", True)):
        lines = made.b_eff_io()
        lines[1]["where"]['part\'s "name"'] = value
        made.write(runs / f"20260101T00000{number}Z-b-eff-io" / "result.jsonl", lines, foreign=True)
    question = """SELECT "where_part's ""name""\" FROM measurements
                  WHERE "where_part's ""name""\" IS NOT NULL ORDER BY 1"""
    assert effio.call("query", question, "--csv").stdout.split()[-3:] == ["4096", "all", "true"]


def test_a_run_whose_result_cannot_be_read_says_why(root: Path) -> None:
    """It was listed as failed, without a reason, although it may have been done."""
    first, second = sorted(root.iterdir())[:2]
    (first / "result.jsonl").unlink()
    (first / "result.jsonl").symlink_to("/etc/passwd")
    (second / "result.jsonl").write_text("{}\n")
    reasons = [entry.line["interval"] for entry in Index(Store(root), line_of).entries()[:2]]
    assert reasons[0] == "the result cannot be read: not a file: it is a link, not a regular file"
    assert reasons[1].startswith("the result cannot be read: ")


def test_the_index_has_the_folders_of_the_store(root: Path) -> None:
    """A link in place of a result was a run in the list, and unknown to every other command."""
    (root / "20300101T000000Z-linked").mkdir()
    (root / "20300101T000000Z-linked" / "result.jsonl").symlink_to("/etc/passwd")
    listed = [entry.folder.id for entry in Index(Store(root), line_of).entries()]
    assert listed == [folder.id for folder in Store(root).folders()]


def test_results_of_older_versions_are_read_once(root: Path, opened: Opened) -> None:
    for number, old in enumerate(sorted((Path(__file__).parent / "old").glob("*.jsonl"))):
        folder = root / f"20200101T00000{number}Z-{old.stem}"
        folder.mkdir()
        shutil.copy(old, folder / "result.jsonl")
    first, read = opened()
    assert read == [len(first)]
    assert len(first) > 12
    assert all(entry.line["ranks"] for entry in first)
    assert opened()[1] == []


def _holder(place: Path, how: str) -> sqlite3.Connection:
    holder = sqlite3.connect(place)
    holder.execute(f"BEGIN {how}")
    return holder


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
def test_one_that_is_locked_is_waited_for_with_a_message(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    opened()
    monkeypatch.setattr("effio.store.index.WAIT_SECONDS", 1e9)
    monkeypatch.setattr("effio.store.index.QUIET_SECONDS", 0.0)
    holder = _holder(place_of(root), how)
    read: list[int] = []
    said: list[str] = []

    def waiting(text: str) -> None:
        said.append(text)
        holder.rollback()

    index = Index(Store(root), line_of, read.append, waiting)
    entries = index.entries()
    index.close()
    holder.close()
    assert (len(entries), read, len(said)) == (12, [], 1)
    # A process does not see its own lock.
    assert said[0].startswith("waiting for another process, which has locked the index of these")
    assert str(place_of(root)) in said[0]


@pytest.mark.parametrize("how", ["IMMEDIATE", "EXCLUSIVE"])
def test_one_that_stays_locked_is_left_as_it_is(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """It was removed, with what the other process had read."""
    opened()
    before = place_of(root).stat().st_ino
    monkeypatch.setattr("effio.store.index.WAIT_SECONDS", 0.05)
    holder = _holder(place_of(root), how)
    assert opened()[1] == [12]
    holder.rollback()
    holder.close()
    assert place_of(root).stat().st_ino == before
    assert opened()[1] == []


def test_a_command_says_for_whom_it_waits(
    effio: Effio, alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 3)
    assert effio.call("runs").returncode == 0
    monkeypatch.setenv("XDG_CACHE_HOME", effio.environment["XDG_CACHE_HOME"])
    monkeypatch.delenv("EFFIO_CACHE", raising=False)
    holder = _holder(place_of(runs), "IMMEDIATE")
    waiting = alive(effio.start("runs", "--json"))
    assert waiting.stderr is not None
    said = waiting.stderr.readline()
    assert said.startswith(f"effio: waiting for process {os.getpid()}, which has locked the index")
    holder.rollback()
    holder.close()
    output, errors = waiting.communicate(timeout=SECONDS)
    assert (waiting.returncode, errors) == (0, "")
    assert len(output.splitlines()) == 3


def test_one_that_is_locked_before_the_tables_are_read(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("effio.store.index.WAIT_SECONDS", 0.05)
    index = Index(Store(root), line_of)
    index.entries()
    before = place_of(root).stat().st_ino
    holder = _holder(place_of(root), "EXCLUSIVE")
    assert len(list(index.rows("measurements"))) == 12
    holder.rollback()
    holder.close()
    index.close()
    assert place_of(root).stat().st_ino == before


def test_a_second_thread_leaves_the_lock_of_the_first(
    root: Path, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is opened and closed loses all locks that its process has on it."""
    opened()
    monkeypatch.setattr("effio.store.index.WAIT_SECONDS", 0.05)
    holder = _holder(place_of(root), "IMMEDIATE")
    opened()
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1], 0).execute('BEGIN IMMEDIATE')"
    other = subprocess.run(
        [sys.executable, "-c", script, place_of(root)], capture_output=True, text=True, check=False
    )
    assert "database is locked" in other.stderr
    holder.rollback()
    holder.close()
