# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a campaign as their own jobs, side by side; the Slurm is slurm_stand_in.py.
tests/slurm/test_campaign_jobs.py has a real one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

from driver.campaigns import NULL, STEP, record_of, runs_of, write_campaign
from driver.conftest import Effio
from driver.killing import drivers
from driver.runs import with_one_rank
from driver.slurm_stand_in import SlurmStandIn, slurm_stand_in
from effio.launch.live import LiveView
from engines import Engine
from results import load

SWEEP = '[step.sweep]\ntransfer = ["256KiB", "512KiB", "1MiB", "2MiB"]\n'
FILES = '[step.options]\nblock = "2MiB"\n'


@pytest.fixture
def with_engine(effio: Effio, engines: dict[str, Engine]) -> Effio:
    return with_one_rank(effio, engines)


@pytest.fixture
def write(with_engine: Effio) -> Callable[[str], None]:
    return partial(write_campaign, with_engine)


@pytest.fixture
def slurm(with_engine: Effio, tmp_path: Path) -> Iterator[SlurmStandIn]:
    """Nothing sleeps: each question to the queue advances the time."""
    made = slurm_stand_in(tmp_path / "slurm")
    path = with_engine.environment.get("PATH", "")
    with_engine.environment["PATH"] = f"{made.programs}:{path}"
    with mock.patch("effio.campaign.jobs.sleep"):
        yield made


def in_jobs(
    effio: Effio, most: int, *words: object, code: int = 0
) -> subprocess.CompletedProcess[str]:
    launcher = ("--launcher", effio.environment["EFFIO_MPIEXEC"])
    common = ("--batch", "slurm", "--jobs", most, *launcher, "--quiet", "--no-report")
    done = effio.call("run", "s.toml", *common, *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def statuses(effio: Effio) -> list[str]:
    return [record_of(run)["outcome"]["status"] for run in runs_of(effio)]


def test_as_many_jobs_wait_as_requested_and_one_question_is_for_all(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn, data: Path
) -> None:
    """Of four runs three are in the queue at once, a fourth when the first has ended. All of them
    have files of the same name: each has its own directory, which is removed when it ends."""
    write(STEP + FILES + SWEEP)
    with mock.patch.object(LiveView, "status") as status:
        done = in_jobs(with_engine, 3, "--dir", data)
    assert [call.args[0].title for call in status.call_args_list] == [
        "0 of 4 done · 0 running · 3 waiting",
        "0 of 4 done · 0 running · 3 waiting",
        "1 of 4 done · 0 running · 3 waiting",
        "2 of 4 done · 0 running · 2 waiting",
        "3 of 4 done · 0 running · 1 waiting",
    ]
    # 1 2 3; 2 3, and a fourth may come; 3 4; 4; none.
    assert slurm.waiting_when_asked() == [3, 2, 2, 1, 0]
    assert len(slurm.calls("sbatch")) == 4
    # Nothing else was asked: each job's end was in the answer for all.
    assert len((slurm.place / "calls").read_text().splitlines()) == 4 + 5
    assert statuses(with_engine) == ["done"] * 4
    for run in runs_of(with_engine):
        summed = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=run, check=False
        )
        assert summed.returncode == 0
    ids = [record_of(run)["batch"]["job_id"] for run in runs_of(with_engine)]
    assert sorted(ids) == ["1", "2", "3", "4"]
    assert list(data.iterdir()) == []
    assert "a transfer=256KiB: slurm job 1" in done.stderr
    assert "4 of 4, a transfer=2MiB: done" in done.stderr
    assert "runs:   4 runs in" in done.stdout
    again = in_jobs(with_engine, 3)
    assert "4 of 4 runs are done already" in again.stderr
    assert len(slurm.calls("sbatch")) == 4


def test_what_needs_an_earlier_step_is_submitted_when_that_has_ended(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn, data: Path
) -> None:
    write(
        "remove_kept = true\n"
        '[[step]]\nname = "write"\nbenchmark = "ior"\nranks = 1\n'
        '[step.options]\nphases = "write"\nkeep = true\nname = "w{block}"\ntransfer = "64KiB"\n'
        '[step.sweep]\nblock = ["256KiB", "128KiB"]\n'
        '[[step]]\nname = "read"\nbenchmark = "ior"\nranks = 1\n'
        '[step.options]\nphases = "read"\nuse-existing = true\nname = "w{size}"\n'
        'block = "{size}"\nread-from = "same"\ntransfer = "64KiB"\n'
        '[step.earlier.size]\nstep = "write"\ntake = "bytes"\naccess = "write"\npick = "min"\n'
    )
    in_jobs(with_engine, 9, "--dir", data)
    # Runs that leave files to others are one at a time too.
    assert slurm.waiting_when_asked() == [1, 0, 1, 0, 1, 0]
    read = runs_of(with_engine)[-1]
    assert record_of(read)["campaign"]["step"] == "read"
    assert "--block=131072" in record_of(read)["arguments"]
    assert statuses(with_engine) == ["done"] * 3
    assert list(data.iterdir()) == []


def test_a_full_queue_is_reported_once_and_tried_again(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    write(STEP + NULL + SWEEP)
    slurm.limit(1)
    done = in_jobs(with_engine, 4)
    assert max(slurm.waiting_when_asked()) == 1
    assert done.stderr.count("the queue is full (QOSMaxSubmitJobPerUserLimit)") == 1
    assert statuses(with_engine) == ["done"] * 4
    assert len(slurm.calls("sbatch")) > 4


@pytest.mark.parametrize(
    ("state", "reported"),
    [
        ("TIMEOUT", "it reached its time limit; --minutes gives more"),
        ("NODE_FAIL", "a node was lost"),
        ("CANCELLED", "the job ended as CANCELLED"),
    ],
)
def test_how_a_job_ended_is_reported_and_it_is_run_again(
    state: str,
    reported: str,
    with_engine: Effio,
    write: Callable[[str], None],
    slurm: SlurmStandIn,
) -> None:
    """The other continues."""
    write(STEP + NULL + '[step.sweep]\ntransfer = ["256KiB", "512KiB"]\n')
    slurm.fate(1, state)
    done = in_jobs(with_engine, 2, code=6)
    (bad,) = [run for run in runs_of(with_engine) if not (run / "result.jsonl").exists()]
    assert record_of(bad)["batch"]["job_id"] == "1"
    (line,) = [line for line in done.stderr.splitlines() if f"ended as {state}" in line]
    assert line.startswith("2 of 2, a transfer=256KiB: environment: ")
    assert reported in line
    assert line.endswith(f"see {bad.relative_to(with_engine.cwd)}")
    in_jobs(with_engine, 2)
    assert len(slurm.calls("sbatch")) == 3
    assert len(runs_of(with_engine)) == 3


def test_a_job_that_the_queue_has_forgotten_is_looked_up_in_the_accounts(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    """The words of sacct, recorded: of a canceled job it says by whom."""
    write(STEP + NULL + SWEEP)
    slurm.fate(1, "FORGOTTEN")
    slurm.fate(3, "FORGOTTEN")
    slurm.accounts("1|NODE_FAIL\n3|CANCELLED by 1000\n")
    done = in_jobs(with_engine, 4, code=6)
    assert "256KiB: environment" in done.stderr
    assert "(the job ended as NODE_FAIL: a node was lost)" in done.stderr
    assert "(the job ended as CANCELLED)" in done.stderr
    # Asked about when no more of their files can come; the first one is forgotten earlier.
    assert [call.split()[-1] for call in slurm.calls("sacct")] == ["1", "3"]


def test_a_queue_that_does_not_answer_is_waited_for(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    write(STEP + NULL)
    (slurm.place / "away").touch()
    naps = 0

    def nap(_: float) -> None:
        nonlocal naps
        naps += 1
        if naps == 20:
            (slurm.place / "away").unlink()

    with mock.patch("effio.campaign.jobs.sleep", nap):
        done = in_jobs(with_engine, 1)
    assert done.stderr.count("slurm does not answer now") == 1
    assert statuses(with_engine) == ["done"]


def test_a_job_that_is_refused_for_good_stops_it_and_leaves_nothing(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    write(STEP + NULL + SWEEP)
    sbatch = slurm.programs / "sbatch"
    sbatch.write_text("#!/bin/sh\necho 'sbatch: error: invalid account' >&2\nexit 1\n")
    done = in_jobs(with_engine, 2, code=6)
    assert "invalid account" in done.stderr
    assert runs_of(with_engine) == []


def test_ctrl_c_leaves_the_jobs_and_the_next_call_continues_with_them(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    write(STEP + NULL + SWEEP)
    with mock.patch("effio.campaign.jobs.sleep", side_effect=KeyboardInterrupt):
        done = in_jobs(with_engine, 2, code=4)
    assert "interrupted; 2 jobs of it stay: 1, 2" in done.stderr
    assert "scancel 1 2 ends them" in done.stderr
    # Here, or in one job for all, they would be measured twice.
    for words in ((), ("--submit", "--batch", "slurm")):
        refused = with_engine.call("run", "s.toml", *words)
        assert refused.returncode == 2
        assert "2 runs of s may be in the batch system still" in refused.stderr
    slurm.run_all()
    again = in_jobs(with_engine, 2)
    assert "2 jobs of an earlier call" in again.stderr
    assert len(slurm.calls("sbatch")) == 4
    assert statuses(with_engine) == ["done"] * 4
    assert with_engine.call("run", "s.toml", "--quiet").returncode == 0


def test_a_job_without_a_kept_id_is_found_by_its_script(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    """The driver ended when the job was submitted and its id not yet in the folder."""
    write(STEP + NULL)
    with mock.patch("effio.launch.batch_run.keep_id", side_effect=KeyboardInterrupt):
        in_jobs(with_engine, 1, code=4)
    (run,) = runs_of(with_engine)
    assert "job_id" not in record_of(run)["batch"]
    done = in_jobs(with_engine, 1)
    assert "1 job of an earlier call" in done.stderr
    assert len(slurm.calls("sbatch")) == 1
    assert runs_of(with_engine) == [run]
    assert record_of(run)["batch"]["job_id"] == "1"
    assert statuses(with_engine) == ["done"]


def test_set_up_and_clean_up_are_in_the_job(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn, data: Path
) -> None:
    """Around the run's own directory, and cleaned up when the set-up failed too."""
    write(
        STEP + 'setup = [["mkdir", "{dir}"], ["test", "-e", "{dir}/../there"]]\n'
        'cleanup = [["rmdir", "{dir}"]]\n' + FILES + 'dir = "{dir}/it\'s; $HOME"\n'
    )
    done = in_jobs(with_engine, 1, "--dir", data, code=6)
    assert "the set-up command test -e" in done.stderr
    assert list(data.iterdir()) == []
    (data / "there").touch()
    in_jobs(with_engine, 1)
    assert list(data.iterdir()) == [data / "there"]
    record = record_of(runs_of(with_engine)[-1])
    assert record["outcome"]["status"] == "done"
    assert any("it's; $HOME/effio-s-a-" in word for word in record["arguments"])


def test_a_job_of_a_run_that_was_given_up_does_not_begin(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn
) -> None:
    """Nor does one of a run that is done measure over its result."""
    write(STEP + NULL)
    in_jobs(with_engine, 1)
    (run,) = runs_of(with_engine)
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    done = subprocess.run([run / "job.sh"], check=False)
    assert done.returncode == 6
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_an_i_o_error_gets_one_more_try_with_other_options(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn, data: Path
) -> None:
    """The directory that it names is not there, another one is."""
    write(
        STEP
        + 'setup = [["rm", "-rf", "{dir}"]]\n'
        + '[step.options]\nblock = "1MiB"\nkeep = true\ndir = "{dir}/none"\n'
        + f"[step.otherwise]\ndir = {json.dumps(str(data))}\n"
    )
    in_jobs(with_engine, 1, "--dir", data)
    assert statuses(with_engine) == ["io_error", "done"]
    assert len(slurm.calls("sbatch")) == 2


@pytest.mark.parametrize("way", [("--batch",), ("--jobs", 3), ("--submit",)])
def test_a_dry_run_leaves_job_scripts_that_can_be_submitted(
    way: tuple[object, ...],
    with_engine: Effio,
    write: Callable[[str], None],
    slurm: SlurmStandIn,
    data: Path,
) -> None:
    """Into a new place each time: a script is begun once only."""
    write(STEP + FILES + '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n')
    launcher = ("--launcher", with_engine.environment["EFFIO_MPIEXEC"])
    words = ("--dry-run", *way, *launcher, "--minutes", 7, "--batch-option=--comment=a b")
    for number in (1, 2):
        done = with_engine.call("run", "s.toml", "--dir", data, *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"scripts: 2 in effio-runs/campaigns/s/jobs/{number}\n"
    assert not (slurm.place / "calls").exists()
    assert runs_of(with_engine) == []
    scripts = sorted(with_engine.cwd.glob("effio-runs/campaigns/s/jobs/2/*/job.sh"))
    assert [path.parent.name[:8] for path in scripts] == ["00001-a-", "00002-a-"]
    text = scripts[0].read_text()
    assert "#SBATCH --time=00:07:00\n" in text
    assert "#SBATCH --comment=a b\n" in text
    assert subprocess.run(["bash", scripts[0]], check=False).returncode == 0
    assert load(scripts[0].parent / "result.jsonl").status == "done"
    assert list(data.iterdir()) == []
    assert subprocess.run(["bash", scripts[0]], check=False).returncode == 6


def test_drivers_killed_at_many_moments_submit_nothing_twice(
    with_engine: Effio, write: Callable[[str], None], slurm: SlurmStandIn, data: Path
) -> None:
    """A job is submitted once for each run, though drivers are killed between the submission and
    the keeping of its id, before it, and while they take over what has ended."""
    repetitions = 12
    write(f"dir = {json.dumps(str(data))}\nrepetitions = {repetitions}\n" + STEP + FILES)
    launcher = ("--launcher", with_engine.environment["EFFIO_MPIEXEC"])
    words = ("run", "s.toml", "--batch", "slurm", "--jobs", 2, *launcher, "--quiet", "--no-report")
    with drivers(with_engine, *words) as drive:
        codes = [drive(moment) for moment in range(8, 38)]
        assert drive(0) == 0, (with_engine.cwd / "log").read_text()
    assert codes.count(-9) > 20
    done = [run for run in runs_of(with_engine) if record_of(run)["outcome"]["status"] == "done"]
    assert sorted(record_of(run)["campaign"]["repetition"] for run in done) == [*range(repetitions)]
    # Each script that was submitted is that of a run that is done; what was made and not submitted
    # is reported.
    assert slurm.scripts() == sorted(str(run / "job.sh") for run in done)
    given_up = {
        record_of(run)["outcome"]["reason"] for run in runs_of(with_engine) if run not in done
    }
    assert given_up <= {"the driver was killed before it had submitted the job"}
    for run in runs_of(with_engine):
        summed = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=run, check=False
        )
        assert summed.returncode == 0
    assert list(data.iterdir()) == []
