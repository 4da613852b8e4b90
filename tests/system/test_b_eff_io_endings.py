# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped: what was measured is kept, what was created is removed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engines import Engine, Job, Run

# 15 s by 150 units: rows of 0.2 s and 0.4 s.
LONG = ("b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "2", "--time", "15s", "--quiet")


def started(engine: Engine, tmp_path: Path, data: Path) -> Job:
    job = engine.start([*LONG, "--max-bytes", "20GiB", "--dir", data], tmp_path)
    job.wait_for_measurements(2)
    return job


def check_interrupted(run: Run, data: Path) -> None:
    result = run.result
    assert result.status == "interrupted", run
    assert result.end is not None
    assert result.end["exit_code"] == 4
    assert 43 > len(result.measurements) >= 2
    # What is there was measured to its end: in order, without a gap, with a rate.
    assert [m["where"]["row"] for m in result.measurements] == list(range(len(result.measurements)))
    assert all(m["valid"] and m["rate"]["value"] > 0 for m in result.measurements)
    assert list(data.iterdir()) == [], run
    # No number is made of half a run.
    assert result.figure("b_eff_io")["metric"]["value"] is None
    assert result.figure("b_eff_io")["valid"] is False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("flavour", ["openmpi-ompio", "mpich"])
def test_a_signal_to_the_launcher(
    engines: dict[str, Engine], flavour: str, tmp_path: Path, data: Path, number: signal.Signals
) -> None:
    """As Ctrl-C and `kill` do it. The launcher's own exit code is its affair."""
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    job = started(engines[flavour], tmp_path, data)
    os.kill(job.process.pid, number)
    run = job.finish()
    check_interrupted(run, data)


def test_one_rank_is_reported(engine: Engine, tmp_path: Path, data: Path) -> None:
    """The other ranks learn of it at the next vote; all end with the agreed code, which both
    launchers hand on."""
    job = started(engine, tmp_path, data)
    os.kill(job.ranks()[1], signal.SIGUSR1)
    run = job.finish()
    check_interrupted(run, data)
    assert run.code == 4, run


def test_interrupted_in_the_second_access(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """A stop between the accesses leaves the figures of the types that are complete."""
    words = ["b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "1,2", "--time", "3s"]
    job = any_engine.start([*words, "--rewrite", "--quiet", "--dir", data], tmp_path)
    job.wait_for_measurements(2 * 43 + 2)
    for pid in job.ranks():
        os.kill(pid, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    written = [f for f in run.result.figures if f["name"] == "type_bandwidth"]
    assert len([f for f in written if f["where"]["access"] == "write"]) == 10
    assert list(data.iterdir()) == []
