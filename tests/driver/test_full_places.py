# SPDX-License-Identifier: BSD-3-Clause
"""Commands that make folders, where the disk is full: one message, its code, and nothing stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.cli.man import command_pages
from effio.errors import EffioError
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.tune.folder import Called, TuningFolder
from effio.tune.search import Reading, Trial
from effio.tune.setting import Setup

RUNS = ("--runs", "{full}/made/for/runs")
QUICK = ("quick", "--scale", "64", "-n", "1", "--dir", ".", "-q")
NEW = "name another place: --runs DIR, or EFFIO_RUNS"
TUNING = """
title = "t"
benchmark = "ior"
[options]
backend = "null"
[vary.environment]
EFFIO_TEST = ["1"]
"""


@pytest.fixture
def full(mount: Callable[..., Path]) -> Path:
    """A file system of one page, which is taken: names still fit."""
    place = mount("-t", "tmpfs", "-o", "size=4k", "none")
    (place / "ballast").write_bytes(b"x" * 4096)
    return place


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        ((*RUNS, "run", "ior", "--backend", "null", "-n", "1"), 7, NEW),
        ((*RUNS, "run", "ior", "--backend", "null", "-n", "1", "--batch", "slurm"), 7, NEW),
        ((*RUNS, "run", *QUICK), 7, NEW),
        ((*RUNS, "run", *QUICK, "--dry-run"), 7, NEW),
        ((*RUNS, "run", *QUICK, "--batch", "slurm"), 7, NEW),
        ((*RUNS, "run", *QUICK, "--dry-run", "--batch", "slurm"), 7, NEW),
        ((*RUNS, "tune", "t.toml", "-n", "1", "--quiet"), 7, NEW),
        ((*RUNS, "import", "ior.txt"), 7, NEW),
        (("man", "{full}/made/man1"), 3, ""),
        (("engine", "use", "{engine}"), 6, ""),
    ],
)
def test_nothing_stays_where_nothing_fits(
    with_engine: Effio, full: Path, words: tuple[str, ...], code: int, hint: str
) -> None:
    (with_engine.cwd / "t.toml").write_text(TUNING)
    foreign = Path(__file__).parent / "foreign" / "ior.txt"
    (with_engine.cwd / "ior.txt").write_bytes(foreign.read_bytes())
    engine = with_engine.environment["EFFIO_ENGINE"]
    done = with_engine.call(
        *(word.format(full=full, engine=engine) for word in words),
        env={"EFFIO_DATA": str(full / "data")},
    )
    assert done.returncode == code, done.stderr
    assert "No space left on device" in done.stderr
    assert hint in done.stderr
    assert [path.name for path in full.rglob("*")] == ["ballast"]


def test_the_last_page_that_fits_is_whole_and_one_that_was_there_stays(
    effio: Effio, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=16k", "none")
    (place / "effio-tune.1").write_text("as before")
    assert effio.call("man", place, "--commands-only").returncode == 3
    pages = {path.name: path.read_text() for path in place.iterdir()}
    assert pages.pop("effio-tune.1") == "as before"
    assert pages
    assert pages.items() <= command_pages().items()


def test_a_note_of_a_run_that_is_there_can_be_kept_nowhere_else(
    effio: Effio, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    run = place / "20260101T000000Z-b-eff-io"
    run.mkdir()
    made.write(run / "result.jsonl", made.b_eff_io())
    with pytest.raises(OSError, match="No space"):
        (place / "ballast").write_bytes(b"x" * (2 << 20))
    done = effio.call("--runs", place, "note", "last", "a text")
    assert done.returncode == 7, done.stderr
    assert done.stderr.splitlines() == [
        f"effio: results cannot be kept in {run}: No space left on device",
        "       make space there, and try again",
    ]


def test_a_search_that_has_measured_continues_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = TuningFolder.create(Store(tmp_path / "runs"), "t")
    called = Called(file="t", directory=".", ranks=1, confirmations=3, tolerance=0.02)
    folder.keep(called, TUNING)
    folder.note(Trial("search", 0, "default", Setup()), Reading({}, 1.0))

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(safe_files, "write_atomically", full)
    with pytest.raises(EffioError) as caught:
        folder.write("tuning.json", "{}")
    assert caught.value.hint == "make space there, and try again"


def test_a_journal_without_a_line_is_nothing_measured(tmp_path: Path) -> None:
    """Its first line did not fit."""
    folder = TuningFolder.create(Store(tmp_path / "runs"), "t")
    (folder.path / "journal.jsonl").write_text('{"trial": "sea')
    assert folder.discard_if_empty()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("size", ["64k", "256k"])
def test_a_search_that_fills_the_disk_says_what_to_do(
    with_engine: Effio, mount: Callable[..., Path], size: str
) -> None:
    """In 64 KiB not even the line of the first run fits; in 256 KiB a few do."""
    place = mount("-t", "tmpfs", "-o", f"size={size}", "none")
    (with_engine.cwd / "t.toml").write_text(TUNING)
    words = ("t.toml", "-n", "1", "--quiet", "--confirmations", "8", "--max-runs", "200")
    temporary = with_engine.cwd / "temporary"
    temporary.mkdir()
    done = with_engine.call(
        "--runs", place / "runs", "tune", *words, env={"TMPDIR": str(temporary)}
    )
    assert done.returncode == 7, done.stderr
    assert "No space left on device" in done.stderr
    kept = list((place / "runs").glob("tunings/*/journal.jsonl"))
    resumable = [file for file in kept if file.read_text().count("\n")]
    assert ("what was measured is kept" in done.stderr) == bool(resumable)
    assert ("make space there, and try again" in done.stderr) == bool(resumable)
    assert len(kept) == len(resumable)


def test_a_folder_that_held_something_before_stays(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    place = tmp_path / "runs" / "a" / "b"

    def fail() -> None:
        with safe_files.making(place, tmp_path / "runs"):
            (tmp_path / "runs" / "a" / "file").touch()
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        fail()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["a", "file", "runs"]


def test_a_page_next_to_a_run_that_cannot_be_written_can_be_elsewhere(
    effio: Effio, full: Path
) -> None:
    run = effio.cwd / "runs" / "20260101T000000Z-b-eff-io"
    run.mkdir(parents=True)
    made.write(run / "result.jsonl", made.b_eff_io())
    (run / "report.html").mkdir()
    done = effio.call("--runs", run.parent, "report", "last")
    assert done.returncode == 3
    assert done.stderr.endswith("\n       name another place: --output FILE\n"), done.stderr
    # Who named a place has named another one.
    done = effio.call("--runs", run.parent, "report", "last", "-o", full / "page.html")
    assert done.stderr == f"effio: cannot write {full}/page.html: No space left on device\n"
