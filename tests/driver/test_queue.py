# SPDX-License-Identifier: BSD-3-Clause
"""Many jobs requested at once: answers of batch systems as they were recorded or are documented."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from effio.errors import ExitCode
from effio.launch.batch import QueueFullError, batch_system
from effio.launch.queue import Queued, ends_of, jobs_in

IN_SLURM = """\
12|PENDING|PartitionTimeLimit|/home/me/effio-runs/a b|c/job.sh
13|RUNNING|None|/home/me/effio-runs/d/job.sh
14_[1-3]|PENDING|Resources|other.sh
11|TIMEOUT|TimeLimit|/home/me/effio-runs/e/job.sh
10|NODE_FAIL|None|(null)
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH of these alone: this machine may belong to a batch system."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "cat").symlink_to(shutil.which("cat") or "/bin/cat")
    monkeypatch.setenv("PATH", str(place))
    return place


def _answers(program: Path, text: str, code: int = 0) -> None:
    """It notes what it was asked."""
    (program.parent / f"{program.name}.text").write_text(text)
    program.write_text(
        f'#!/bin/sh\necho "$@" >> "$0.asked"\n[ {code} = 0 ] || exit {code}\ncat "$0.text"\n'
    )
    program.chmod(0o755)


def _asked(program: Path) -> list[str]:
    file = program.with_name(f"{program.name}.asked")
    return file.read_text().splitlines() if file.exists() else []


def test_slurm_shows_of_all_jobs_in_one_answer(programs: Path) -> None:
    """For waiting jobs the reason, for each its script, whatever its name."""
    _answers(programs / "squeue", IN_SLURM)
    found = jobs_in(batch_system("slurm"))
    assert found == [
        Queued("12", "PENDING", "PartitionTimeLimit", "/home/me/effio-runs/a b|c/job.sh"),
        Queued("13", "RUNNING", "", "/home/me/effio-runs/d/job.sh"),
        Queued("14_[1-3]", "PENDING", "Resources", "other.sh"),
        Queued("11", "TIMEOUT", "TimeLimit", "/home/me/effio-runs/e/job.sh", over=True),
        Queued("10", "NODE_FAIL", "", "(null)", over=True),
    ]
    assert [one.waits for one in found] == [True, False, True, False, False]
    assert len(_asked(programs / "squeue")) == 1


def test_no_answer_is_not_an_empty_queue(programs: Path) -> None:
    system = batch_system("slurm")
    assert jobs_in(system) is None  # there is no squeue
    _answers(programs / "squeue", "", code=1)
    assert jobs_in(system) is None
    _answers(programs / "squeue", "")
    assert jobs_in(system) == []


def test_the_accounts_say_how_forgotten_jobs_ended(programs: Path) -> None:
    """One question, and none where nothing is requested; a site may keep no accounts."""
    system = batch_system("slurm")
    _answers(programs / "sacct", "7|CANCELLED by 1000\n8|TIMEOUT\n")
    assert ends_of(system, []) == {}
    assert _asked(programs / "sacct") == []
    assert ends_of(system, ["7", "8", "9"]) == {"7": "CANCELLED", "8": "TIMEOUT"}
    (asked,) = _asked(programs / "sacct")
    assert asked.endswith("--jobs 7,8,9")
    _answers(programs / "sacct", "Slurm accounting storage is disabled\n", code=1)
    assert ends_of(system, ["7"]) == {}


@pytest.mark.parametrize(
    ("name", "program", "text", "over"),
    [
        ("lsf", "bjobs", "7|RUN\n8|PEND\n9|EXIT\n", {"7": False, "8": False, "9": True}),
        ("flux", "flux", "7|R\n8|PD\n9|TO\n", {"7": False, "8": False, "9": True}),
    ],
)
def test_other_systems_show_of_all_too(
    name: str, program: str, text: str, over: dict[str, bool], programs: Path
) -> None:
    _answers(programs / program, text)
    found = jobs_in(batch_system(name))
    assert found is not None
    assert {one.job_id: one.over for one in found} == over
    assert [one.job_id for one in found if one.waits] == ["8"]


def test_pbs_shows_of_the_jobs_that_there_are(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "somebody")
    _answers(programs / "qselect", "7.server\n9.server\n")
    assert jobs_in(batch_system("pbs")) == [Queued("7.server", ""), Queued("9.server", "")]
    assert _asked(programs / "qselect") == ["-u somebody"]
    _answers(programs / "qselect", "")
    assert jobs_in(batch_system("pbs")) == []
    _answers(programs / "qselect", "", code=1)
    assert jobs_in(batch_system("pbs")) is None


@pytest.mark.parametrize(
    ("name", "program", "said", "word"),
    [
        ("slurm", "sbatch", "sbatch: error: AssocMaxSubmitJobLimit", "AssocMaxSubmitJobLimit"),
        ("slurm", "sbatch", "sbatch: error: QOSGrpSubmitJobsLimit", "QOSGrpSubmitJobsLimit"),
        (
            "pbs", "qsub", "qsub: Maximum number of jobs already in queue",
            "Maximum number of jobs already in queue",
        ),
    ],
)  # fmt: skip
def test_a_full_queue_is_another_thing_than_a_refused_job(
    name: str, program: str, said: str, word: str, programs: Path, tmp_path: Path
) -> None:
    (programs / program).write_text(f"#!/bin/sh\necho '{said}' >&2\nexit 1\n")
    (programs / program).chmod(0o755)
    with pytest.raises(QueueFullError) as caught:
        batch_system(name).submit(tmp_path / "job.sh")
    assert caught.value.message == f"the queue is full ({word})"
    assert caught.value.code == ExitCode.ENVIRONMENT
