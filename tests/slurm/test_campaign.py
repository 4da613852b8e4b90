# SPDX-License-Identifier: BSD-3-Clause
"""A campaign as one job of a real Slurm: an allocation for all of its points."""

from __future__ import annotations

import json
import re
import subprocess
import sys
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
backend = "null"
block = "2MiB"

[step.sweep]
nodes = [1, 2, 4]
"""
WHERE = ("--nodes", "4", "--ranks-per-node", "1")


@pytest.fixture
def mpich(mpich: dict[str, str], tmp_path: Path) -> dict[str, str]:
    (tmp_path / "s.toml").write_text(CAMPAIGN)
    return mpich


def _nodes(directory: Path) -> list[tuple[int, str]]:
    """For each run: how many nodes it had, and its job."""
    found = []
    for file in sorted((directory / "effio-runs").glob("2*/result.jsonl")):
        system: dict[str, Any] = json.loads(file.read_text().splitlines()[0])["system"]
        found.append((system["nodes"], system["batch"]["SLURM_JOB_ID"]))
    return sorted(found)


def test_all_points_run_in_one_job(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    words = [*EFFIO, "run", "s.toml", *WHERE, "--submit", "--minutes", "5"]
    done = slurm.run(words, tmp_path, env=mpich)
    said = done.stdout + done.stderr
    log = tmp_path / "effio-runs/campaigns/s/stderr.log"
    assert done.returncode == 0, said + (log.read_text() if log.exists() else "")
    nodes = _nodes(tmp_path)
    assert [count for count, _ in nodes] == [1, 2, 4]
    assert len({job for _, job in nodes}) == 1
    assert "submitted as slurm job" in done.stderr
    assert "runs:   3 runs in" in done.stdout
    # Nothing is left to do, in a job or here.
    again = slurm.run([*EFFIO, "run", "s.toml", "--submit"], tmp_path, env=mpich)
    assert again.returncode == 0, again.stderr
    assert len(_nodes(tmp_path)) == 3


def test_the_script_can_be_submitted_manually(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    words = [*EFFIO, "run", "s.toml", *WHERE, "--batch", "--batch-option=--comment=by-hand"]
    written = slurm.run([*words, "--only", "nodes == 2"], tmp_path, env=mpich)
    assert written.returncode == 0, written.stderr
    script = written.stdout.strip()
    assert "#SBATCH --comment=by-hand" in (tmp_path / script).read_text()
    # This shell knows nothing of the engine.
    done = slurm.run(["sbatch", "--wait", script], tmp_path)
    assert done.returncode == 0, done.stderr
    assert [count for count, _ in _nodes(tmp_path)] == [2]


def test_a_job_that_slurm_refuses_loses_nothing(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    words = [*EFFIO, "run", "s.toml", *WHERE, "--submit"]
    done = slurm.run([*words, "--batch-option=--partition=nowhere"], tmp_path, env=mpich)
    assert done.returncode == 6, done.stderr
    assert "refused the job" in done.stderr
    assert "nowhere" in done.stderr
    assert _nodes(tmp_path) == []


@pytest.mark.parametrize(
    ("more", "reason"),
    [(("--batch-option=--hold",), "JobHeldUser"), (("--minutes", "120"), "PartitionTimeLimit")],
)
def test_a_cancelled_job_is_reported_and_gone_on_with(
    more: tuple[str, ...],
    reason: str,
    slurm: SlurmCluster,
    mpich: dict[str, str],
    tmp_path: Path,
) -> None:
    """Both cannot have begun before they are cancelled: one is held, one is over the limit of the
    partition, which Slurm takes and lets wait forever."""
    words = [*EFFIO, "run", "s.toml", *WHERE, "--submit"]
    with subprocess.Popen(
        [*words, *more],
        cwd=tmp_path,
        env={**slurm.environment, **mpich},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as driver:
        assert driver.stderr is not None
        said = ""
        for line in driver.stderr:
            said += line
            if f"the job waits: {reason}" in line:
                found = re.search(r"submitted as slurm job (\d+)", said)
                assert found is not None
                slurm.run(["scancel", found[1]])
                break
        out, rest = driver.communicate(timeout=SECONDS)
    said += rest
    assert driver.returncode == 4, said
    assert "ended as CANCELLED before all was done" in said
    assert "left:   3 runs" in out
    again = slurm.run([*words, "--minutes", "5"], tmp_path, env=mpich)
    assert again.returncode == 0, again.stdout + again.stderr
    assert [count for count, _ in _nodes(tmp_path)] == [1, 2, 4]
