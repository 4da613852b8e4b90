# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that hang: the launcher comes back, and the result file holds every measurement that
was finished. What is killed is in test_kills.py."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine, Job, Run

from .kills import LONG


def started(engine: Engine, tmp_path: Path, data: Path, *words: str) -> Job:
    job = engine.start([*LONG, *words, "--dir", data], tmp_path)
    job.wait_for_measurements(2)
    return job


def check_what_was_measured(run: Run) -> None:
    """results.load has held every line against the schema; a last line may be torn."""
    rows = [m["where"]["row"] for m in run.result.measurements]
    assert rows == list(range(len(rows)))
    assert 2 <= len(rows) < 43
    assert all(m["valid"] for m in run.result.measurements)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_frozen_rank(any_engine: Engine, tmp_path: Path, data: Path, rank: int) -> None:
    """As on a node whose file system hangs: the watchdog of another rank ends the job."""
    job = started(any_engine, tmp_path, data, "--watchdog", "4s")
    frozen = job.ranks()[rank]
    os.kill(frozen, signal.SIGSTOP)
    try:
        run = job.finish()
    finally:
        if frozen in job.members():
            os.kill(frozen, signal.SIGKILL)
    check_what_was_measured(run)
    result = run.result
    assert result.status == "hung", run
    assert result.end is not None
    (error,) = result.end["errors"]
    assert error["rank"] == 1 - rank
    assert "no progress for" in error["cause"]
    assert error["operation"], "the call it hangs in"
    assert list(data.iterdir()) == [], run


def fill(path: Path) -> None:
    """Until no space is left."""
    with contextlib.suppress(OSError), path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 20))


def test_a_hang_says_that_the_disk_is_full(
    any_engine: Engine, mount: Callable[..., Path], tmp_path: Path
) -> None:
    """Libraries hang where they cannot write, and then lose the error. Empty files need no space:
    the run itself does not fail."""
    place = mount("-t", "tmpfs", "-o", "size=64m", "none")
    words = ["mdtest", "-n", "5000", "--things", "files", "--iterations", "1000", "--quiet"]
    job = any_engine.start([*words, "--watchdog", "4s", "--dir", place], tmp_path)
    job.wait_for_measurements(2)
    frozen = job.ranks()[1]
    os.kill(frozen, signal.SIGSTOP)
    try:
        fill(place / "filler")
        run = job.finish()
    finally:
        if frozen in job.members():
            os.kill(frozen, signal.SIGKILL)
    result = run.result
    assert result.status == "hung", run
    assert result.end is not None
    (error,) = result.end["errors"]
    # Between phases the rank is known to wait for the other one.
    said = error["cause"].replace("; this rank waits for another rank", "")
    assert "; only 0 B are left on its file system; if the storage" in said
