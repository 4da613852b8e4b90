# SPDX-License-Identifier: BSD-3-Clause
"""Drivers that are killed at many moments: what the next one finds, ends, tidies and does again."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from driver.campaigns import NULL, STEP, record_of, run_campaign, runs_of, write_campaign
from driver.conftest import Effio
from driver.killing import drivers
from effio.launch.watch import processes_of
from patience import SECONDS
from results import load


@pytest.fixture
def write(with_engine: Effio) -> Callable[[str], None]:
    return partial(write_campaign, with_engine)


@pytest.fixture
def drive(with_engine: Effio) -> Iterator[Callable[[int], int]]:
    with drivers(with_engine, "run", "s.toml", "--quiet", "--no-report") as drive:
        yield drive


@dataclass(frozen=True)
class InTheMiddle:
    """A driver, and the run that it is at: its file is there."""

    driver: subprocess.Popen[str]
    run: Path
    mark: str


@pytest.fixture
def in_the_middle(
    with_engine: Effio,
    write: Callable[[str], None],
    data: Path,
    alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]],
) -> InTheMiddle:
    write(STEP + '[step.options]\nblock = "1MiB"\nname = "x"\ndelay = "3s"\n')
    driver = alive(with_engine.start("run", "s.toml", "--quiet", "--dir", str(data)))
    deadline = time.monotonic() + SECONDS
    while not (data / "x").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (run,) = runs_of(with_engine)
    return InTheMiddle(driver, run, record_of(run)["process"]["mark"])


def test_what_a_killed_driver_left_is_ended_and_removed_before_the_point_is_done_again(
    with_engine: Effio, data: Path, in_the_middle: InTheMiddle
) -> None:
    """Its engine is stopped, so that it neither ends nor tidies by itself. The file that it left
    would be refused as another user's."""
    driver, run, mark = in_the_middle.driver, in_the_middle.run, in_the_middle.mark
    left = processes_of(mark)
    for pid in left:
        os.kill(pid, signal.SIGSTOP)
    driver.kill()
    driver.wait(100)
    assert left == processes_of(mark)
    try:
        run_campaign(with_engine)
        assert processes_of(mark) == []
    finally:
        for pid in processes_of(mark):
            os.kill(pid, signal.SIGKILL)
    assert record_of(run)["outcome"]["status"] == "interrupted"
    assert len(runs_of(with_engine)) == 2
    assert list(data.iterdir()) == []


def test_what_a_killed_driver_did_not_seal_is_sealed_by_the_next(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    """It was killed when it had written how the run ended, and not yet the checksums."""
    write(STEP + NULL)
    run_campaign(with_engine)
    (run,) = runs_of(with_engine)
    record, sums = (run / "run.json").read_bytes(), (run / "SHA256SUMS").read_bytes()
    (run / "SHA256SUMS").unlink()
    run_campaign(with_engine)
    assert runs_of(with_engine) == [run]
    assert (run / "run.json").read_bytes() == record
    assert (run / "SHA256SUMS").read_bytes() == sums


def test_what_a_killed_driver_did_not_tidy_is_tidied_by_the_next(
    with_engine: Effio, data: Path, in_the_middle: InTheMiddle
) -> None:
    """The second driver ended what the first had left, said so, and was killed before it tidied."""
    run = in_the_middle.run
    for pid in processes_of(in_the_middle.mark):
        os.kill(pid, signal.SIGKILL)
    in_the_middle.driver.kill()
    in_the_middle.driver.wait(100)
    record = record_of(run)
    record["outcome"] = {"status": "interrupted", "exit_code": 5, "reason": "killed"}
    (run / "run.json").write_text(json.dumps(record))
    run_campaign(with_engine)
    assert (run / "SHA256SUMS").exists()
    assert record_of(run)["outcome"]["reason"] == "killed"
    assert len(runs_of(with_engine)) == 2
    assert list(data.iterdir()) == []


def _ended_well(effio: Effio) -> dict[str, str]:
    """For each run that is done: a digest of its result."""
    found = {}
    for run in runs_of(effio):
        result = run / "result.jsonl"
        ended = result.exists() and b'"kind":"end"' in result.read_bytes()
        if ended and load(result).status == "done":
            found[run.name] = hashlib.sha256(result.read_bytes()).hexdigest()
    return found


def test_killed_at_fifty_moments_nothing_is_lost_and_nothing_repeated(
    with_engine: Effio,
    write: Callable[[str], None],
    drive: Callable[[int], int],
    data: Path,
) -> None:
    """What was done stays done and as it was, what was not is done in the end, once, and no data
    are left."""
    repetitions = 25
    options = '[step.options]\nblock = "64KiB"\ntransfer = "64KiB"\n'
    write(f"dir = {json.dumps(str(data))}\nrepetitions = {repetitions}\n" + STEP + options)
    done: dict[str, str] = {}
    killed = 0
    for moment in range(1, 51):
        killed += drive(moment) == -9
        now = _ended_well(with_engine)
        assert done.items() <= now.items(), f"after step {moment}"
        done = now
    assert killed == 50
    assert drive(0) == 0, (with_engine.cwd / "log").read_text()
    done = _ended_well(with_engine)
    which = sorted(record_of(_run_named(with_engine, n))["campaign"]["repetition"] for n in done)
    assert which == list(range(repetitions))
    for name in done:
        checked = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"],
            cwd=_run_named(with_engine, name), capture_output=True, check=False,
        )  # fmt: skip
        assert checked.returncode == 0, shlex.quote(name)
    assert list(data.iterdir()) == []


def _run_named(effio: Effio, name: str) -> Path:
    return effio.cwd / "effio-runs" / name
