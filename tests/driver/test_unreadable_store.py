# SPDX-License-Identifier: BSD-3-Clause
"""Stores that cannot be read, or only be read, and that several commands use at once."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from driver.conftest import Effio
from driver.profiles import ACTIVITY, HEAD
from patience import SECONDS
from store import generate

Start = Callable[[], object]
ONE, TWO = (f"20260101T00000{number}Z-ior-sweep-bulk-00000000-r{number}" for number in (0, 1))
OTHER, SECOND = f"there/{ONE}", f"there/{TWO}"
# Each names what it is about.
ELSEWHERE = (
    ["table", "there"], ["table", OTHER], ["table", f"{OTHER},{SECOND}"], ["show", OTHER],
    ["report", OTHER, "-o", "out"], ["compare", OTHER, SECOND], ["trend", "there"],
    ["trend", OTHER], ["export", OTHER], ["accept", "b_eff_io-official", "there"],
    ["note", OTHER, "quiet"], ["bundle", "-o", "out", OTHER], ["archive", OTHER, "-o", "out"],
    ["profile", "form.toml"], ["clean", OTHER], ["clean", "--dry-run", f"{OTHER}/result.jsonl"],
)  # fmt: skip
# Each only reads the store.
READING = (
    ["runs"], ["table"], ["table", "sweep"], ["show", "last"], ["report", "last", "-o", "out"],
    ["report", "sweep", "-o", "out"], ["compare", ONE, TWO], ["trend", "sweep"], ["export", "last"],
    ["query", "SELECT * FROM runs"], ["accept", "b_eff_io-official", ONE],
    ["archive", ONE, "-o", "out"], ["clean", "--dry-run"], ["clean", ONE],
)  # fmt: skip


@pytest.fixture
def store(effio: Effio) -> Path:
    (place := effio.cwd / "effio-runs").mkdir()
    generate(place, 4)
    return place


@pytest.fixture
def elsewhere(effio: Effio, store: Path) -> Effio:
    """The runs are in another folder than the store."""
    store.rename(effio.cwd / "there")
    (effio.cwd / "form.toml").write_text(HEAD + ACTIVITY)
    return effio


@contextmanager
def _with_mode(mode: int, *places: Path) -> Iterator[None]:
    for place in places:
        place.chmod(mode)
    try:
        yield
    finally:
        for place in places:
            place.chmod(0o700)


def _answer(effio: Effio, words: list[str], start: Start | None = None) -> tuple[object, ...]:
    """Exit code and first line; others have times and checksums."""
    done = effio.run(*words, start=start)
    assert "Traceback" not in done.stderr
    output = effio.cwd / "out"
    if output.is_dir():
        shutil.rmtree(output)
    output.unlink(missing_ok=True)
    return done.returncode, *done.stdout.splitlines()[:1]


@pytest.mark.parametrize("words", ELSEWHERE, ids=" ".join)
def test_a_command_about_other_runs_needs_no_store(
    elsewhere: Effio, words: list[str], refused: Start
) -> None:
    without = _answer(elsewhere, words)
    (store := elsewhere.cwd / "effio-runs").mkdir()
    with _with_mode(0, store):
        assert _answer(elsewhere, words, refused) == without


@pytest.mark.parametrize("words", [["profile", "form.toml"], ["clean", OTHER]], ids=" ".join)
def test_what_it_does_without_is_reported(elsewhere: Effio, words: list[str]) -> None:
    (elsewhere.cwd / "effio-runs").touch()
    done = elsewhere.call(*words)
    assert "left out: the runs in effio-runs: Not a directory" in done.stderr


@pytest.mark.parametrize(
    "words", [["runs"], ["table"], ["trend", "sweep"], ["clean"], ["show", "last"]], ids=" ".join
)
def test_a_command_about_a_store_that_it_may_not_read(
    effio: Effio, store: Path, words: list[str], refused: Start
) -> None:
    with _with_mode(0, store):
        done = effio.run(*words, start=refused)
    assert done.returncode == 3
    assert "effio-runs: Permission denied" in done.stderr
    assert "--runs DIR" in done.stderr


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_store_that_may_only_be_read(
    effio: Effio, store: Path, words: list[str], refused: Start
) -> None:
    expected = _answer(effio, words)
    with _with_mode(0o500, store, *store.iterdir()):
        assert _answer(effio, words, refused) == expected


def test_several_commands_at_once_make_one_index(
    effio: Effio, alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]]
) -> None:
    """All give the same answer, as one alone does, also while runs are added and removed."""
    (runs := effio.cwd / "effio-runs").mkdir()
    generate(runs, 300)
    expected = effio.run("runs", "--json", env={"EFFIO_CACHE": str(effio.cwd / "alone")})
    started = [alive(effio.start("runs", "--json")) for _ in range(3)]
    for one in started:
        output, errors = one.communicate(timeout=SECONDS)
        assert one.returncode == 0, errors
        assert output == expected.stdout
        assert all("waiting" in line or "reading" in line for line in errors.splitlines())
    started = [alive(effio.start("table", "sweep")) for _ in range(3)]
    for run in sorted(runs.iterdir())[::3]:
        shutil.rmtree(run)
    for one in started:
        _, errors = one.communicate(timeout=SECONDS)
        assert one.returncode == 0, errors
    after = effio.run("runs", "--json")
    assert after.stdout.splitlines() != []
    assert len(after.stdout.splitlines()) == 200
