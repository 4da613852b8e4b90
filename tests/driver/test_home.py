# SPDX-License-Identifier: BSD-3-Clause
"""A user without a home directory, as in a container: HOME is not set, and the
password database has no such user. Every command ended with a traceback."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from driver.conftest import FIRST, Effio
from effio.engine.discover import data_directory
from effio.home import expanded, of_user
from effio.launch import queue
from effio.launch.batch import BATCH_SYSTEMS
from effio.store.index import place_of


def _unknown(*_: object) -> None:
    raise KeyError("getpwuid(): uid not found: 12345")


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "USER", "LOGNAME", "LNAME", "USERNAME", "EFFIO_CACHE", "EFFIO_DATA"):
        monkeypatch.delenv(name, raising=False)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", _unknown)


@pytest.mark.usefixtures("homeless")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("runs",), 0),
        (("show", FIRST), 0),
        (("query", "SELECT count(*) FROM runs"), 0),
        (("clean",), 0),
        (("engine", "list"), 0),
        (("show", "~/run"), 2),
        (("show", "~no-such-user/run"), 2),
    ],
)
def test_commands_need_no_home(kept: Effio, words: tuple[str, ...], code: int) -> None:
    for name in list(kept.environment):
        if name == "HOME" or name.startswith("XDG_"):
            del kept.environment[name]
    before = sorted(path.name for path in kept.cwd.iterdir())
    done = kept.call(*words)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in kept.cwd.iterdir()) == before


@pytest.mark.usefixtures("homeless")
def test_nothing_is_written_where_no_home_is() -> None:
    nowhere = Path(os.devnull)
    assert of_user("XDG_CONFIG_HOME", ".config").is_relative_to(nowhere)
    assert data_directory().is_relative_to(nowhere)
    assert place_of(Path("runs")).is_relative_to(nowhere)
    with pytest.raises(NotADirectoryError):
        data_directory().mkdir(parents=True)


@pytest.mark.usefixtures("homeless")
def test_a_queue_gets_the_number_of_a_user_without_a_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(queue, "_reported", asked.append)
    system = next(one for one in BATCH_SYSTEMS if "@user@" in one.queue_command)
    assert queue.jobs_in(system) is None
    assert str(os.geteuid()) in asked[0]


def test_a_name_after_a_tilde_stays_if_there_is_no_such_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    assert expanded("~/x") == Path("/home/me/x")
    assert expanded("~no-such-user/x") == Path("~no-such-user/x")
    monkeypatch.setenv("EFFIO_CACHE", "~/cache")
    assert place_of(Path("runs")).parent == Path("/home/me/cache")
    monkeypatch.setenv("EFFIO_DATA", "~/data")
    assert data_directory() == Path("/home/me/data")
