# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a campaign as their own jobs in a real Slurm, several at once."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from patience import SECONDS
from slurm_cluster import SlurmCluster

EFFIO = (sys.executable, "-m", "effio")
CAMPAIGN = """
title = "t"
purpose = "p"

[[step]]
name = "a"
benchmark = "ior"
ranks_per_node = 1

[step.options]
block = "2MiB"

[step.sweep]
nodes = [1, 2]
"""
LONG = """
title = "t"
purpose = "p"

[[step]]
name = "a"
benchmark = "ior"
ranks = 1

[step.options]
block = "64KiB"
transfer = "64KiB"
segments = 1000
think-time = "1s"
"""
TOGETHER = """
title = "t"
purpose = "p"

[[step]]
name = "long"
benchmark = "ior"
nodes = 2
ranks_per_node = 1

[step.options]
block = "64KiB"
transfer = "64KiB"
segments = 1000
think-time = "1s"

[[step]]
name = "short"
benchmark = "ior"
ranks = 1

[step.options]
block = "2MiB"
"""
WORDS = (*EFFIO, "run", "s.toml", "--nodes", "1", "--ranks-per-node", "1", "--minutes", "5")


@pytest.fixture
def mpich(mpich: dict[str, str], tmp_path: Path) -> dict[str, str]:
    (tmp_path / "s.toml").write_text(CAMPAIGN)
    return mpich


def _runs(directory: Path) -> list[tuple[int, str]]:
    """For each run: how many nodes it had, and its job, which is also that of its record."""
    found = []
    for file in (directory / "effio-runs").glob("2*/result.jsonl"):
        system: dict[str, Any] = json.loads(file.read_text().splitlines()[0])["system"]
        record = json.loads((file.parent / "run.json").read_text())
        assert record["batch"]["job_id"] == system["batch"]["SLURM_JOB_ID"]
        assert record["outcome"]["status"] == "done"
        found.append((system["nodes"], record["batch"]["job_id"]))
    return sorted(found)


def test_jobs_that_a_killed_driver_left_are_gone_on_with_and_a_cancelled_one_is_done_again(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    """Both are held, so that none begins before the driver is dead; one is cancelled then. Each
    has the nodes that it needs, and its files in its own directory."""
    data = tmp_path / "data"
    data.mkdir()
    words = [*WORDS, "--jobs", "2", "--dir", str(data)]
    with subprocess.Popen(
        [*words, "--batch-option=--hold"],
        cwd=tmp_path,
        env={**slurm.environment, **mpich},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stderr is not None
        said = ""
        for line in driver.stderr:
            said += line
            if "jobs wait: JobHeldUser" in line:
                break
        driver.kill()
        driver.communicate(timeout=SECONDS)
    ids = re.findall(r"slurm job (\d+)", said)
    assert len(ids) == 2, said
    slurm.run(["scancel", ids[0]])
    slurm.run(["scontrol", "release", ids[1]])
    again = slurm.run(words, tmp_path, env=mpich)
    # The cancelled one is reported with its folder, and is the next call's.
    assert again.returncode == 6, again.stderr
    assert "2 jobs of an earlier call" in again.stderr
    assert "the job ended as CANCELLED" in again.stderr
    assert _runs(tmp_path) == [(2, ids[1])]
    last = slurm.run(words, tmp_path, env=mpich)
    assert last.returncode == 0, last.stderr
    first, second = _runs(tmp_path)
    assert (first[0], second) == (1, (2, ids[1]))
    assert first[1] not in ids
    assert list(data.iterdir()) == []


def test_a_reached_time_limit_is_named_and_leaves_no_data(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    """Slurm warns a minute before the limit, here at once, and may do so before the engine has
    begun, or the job may not get to its end in that minute."""
    (tmp_path / "s.toml").write_text(LONG)
    data = tmp_path / "data"
    data.mkdir()
    words = (*EFFIO, "run", "s.toml", "--jobs", "1", "--minutes", "1", "--dir", data)
    done = slurm.run(words, tmp_path, env=mpich)
    (run,) = (tmp_path / "effio-runs").glob("2*")
    outcome = json.loads((run / "run.json").read_text())["outcome"]
    assert f"{outcome['reason']}; see {run.relative_to(tmp_path)}" in done.stderr
    if outcome["status"] == "interrupted":
        assert done.returncode == 4, done.stderr
        # The job may end before or after effio asks for its state: both reasons name the limit.
        assert re.search(
            "shortly before the time limit|TIMEOUT: it reached its time limit", outcome["reason"]
        )
    else:
        assert done.returncode == 6, done.stderr
        assert "the job ended as " in outcome["reason"]
    assert list(data.iterdir()) == []
    assert "left:" not in done.stdout  # it was tried, and is the next call's
    assert "0 of 1" in done.stdout


def test_a_lost_node_ends_its_own_job_alone_and_leaves_no_data(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    """One run has two nodes for longer than the test lasts, the other one node and little to do."""
    (tmp_path / "s.toml").write_text(TOGETHER)
    data = tmp_path / "data"
    data.mkdir()
    with subprocess.Popen(
        [*EFFIO, "run", "s.toml", "--jobs", "2", "--minutes", "20", "--dir", str(data)],
        cwd=tmp_path,
        env={**slurm.environment, **mpich},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as driver:
        try:
            run = _run_on_two_nodes(tmp_path, driver)
            job = json.loads((run / "run.json").read_text())["batch"]["job_id"]
            lost = slurm.nodes_of(job)[1]
            slurm.lose(lost)
            slurm.notice_loss(lost)
            said, _ = driver.communicate(timeout=SECONDS)
        finally:
            driver.kill()
    assert driver.returncode == 6, said
    assert "the job ended as NODE_FAIL: a node was lost" in said
    assert f"see {run.relative_to(tmp_path)}" in said
    outcomes = {
        folder.name: json.loads((folder / "run.json").read_text())["outcome"]["status"]
        for folder in (tmp_path / "effio-runs").glob("2*")
    }
    assert outcomes.pop(run.name) == "died"
    assert list(outcomes.values()) == ["done"]
    assert list(data.iterdir()) == []


def _run_on_two_nodes(place: Path, driver: subprocess.Popen[str]) -> Path:
    """The folder of the run that has begun on two nodes."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        assert driver.poll() is None, driver.communicate()
        for file in (place / "effio-runs").glob("2*/result.jsonl"):
            begun = file.read_text().partition("\n")
            if begun[1] and json.loads(begun[0])["system"]["nodes"] == 2:
                return file.parent
        time.sleep(0.1)
    raise AssertionError("no run began on two nodes")
