# SPDX-License-Identifier: BSD-3-Clause
"""A campaign as one job: its script for every batch system, and how a job is waited for.
tests/slurm/test_campaign.py has a real one."""

from __future__ import annotations

import subprocess
from itertools import islice
from pathlib import Path
from unittest import mock

import pytest

from driver.conftest import Effio
from effio.launch.queue import waits

CAMPAIGN = """
title = "t"
purpose = "p"
seconds = 600
[[step]]
name = "a"
benchmark = "ior"
[step.options]
backend = "null"
block = "2MiB"
"""


@pytest.fixture
def with_campaign(with_engine: Effio) -> Effio:
    (with_engine.cwd / "it's a study.toml").write_text(CAMPAIGN)
    return with_engine


@pytest.mark.parametrize("system", ["slurm", "pbs", "lsf", "flux"])
def test_the_job_calls_effio_itself(system: str, with_campaign: Effio) -> None:
    words = ("--ranks", "4", "--only", "ranks == 4", "--max-bytes", "1GiB", "--retry-failed")
    done = with_campaign.call("run", "it's a study.toml", "--batch", system, *words)
    assert done.returncode == 0, done.stderr
    script = with_campaign.cwd / done.stdout.strip()
    text = script.read_text()
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0
    assert f"-m effio --runs {with_campaign.cwd}/effio-runs run " in text
    assert """'"'"'s a study.toml' --dir""" in text
    for part in (
        "--max-bytes 1073741824B", "--time 600s", "--ranks 4", "--only 'ranks == 4'",
        "--retry-failed", f"export EFFIO_ENGINE={with_campaign.environment['EFFIO_ENGINE']}",
    ):  # fmt: skip
        assert part in text
    assert "submit it with: " in done.stderr
    assert not list((with_campaign.cwd / "effio-runs").glob("2*"))


def test_the_batch_system_is_asked_less_and_less_often() -> None:
    seconds = list(islice(waits(), 20))
    assert seconds[:3] == [2.0, 3.0, 4.5]
    assert seconds == sorted(seconds)
    assert seconds[-1] == 60.0


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("--batch", "cron"), 2, "'cron' is not one of"),
        (("--batch", "slurm", "--minutes", "0"), 2, "'0' is not a whole number from 1 on"),
        (("--submit", "--batch", "lsf"), 6, "bsub did not work"),
    ],
)
def test_what_no_job_can_be(
    words: tuple[str, ...], code: int, what: str, with_campaign: Effio
) -> None:
    done = with_campaign.call("run", "it's a study.toml", *words)
    assert (done.returncode, what in done.stderr) == (code, True), done.stderr


def test_ctrl_c_leaves_the_job_alone(with_campaign: Effio, tmp_path: Path) -> None:
    """It says how to end it. The batch system is a stand-in that takes any job and never ends."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("sbatch", "7"), ("squeue", "7 RUNNING")):
        (programs / name).write_text(f"#!/bin/sh\necho {text}\n")
        (programs / name).chmod(0o755)
    path = f"{programs}:{with_campaign.environment['PATH']}"

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    with mock.patch("effio.cli.campaign_batch.sleep", interrupted):
        done = with_campaign.call(
            "run", "it's a study.toml", "--ranks", "1", "--submit", "--batch", "slurm",
            env={"PATH": path},
        )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert "submitted as slurm job 7" in done.stderr
    assert "the job continues" in done.stdout
    assert "scancel 7 ends it" in done.stdout
