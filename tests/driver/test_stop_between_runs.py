# SPDX-License-Identifier: BSD-3-Clause
"""A request to stop that comes as a run ends by itself: the run is complete, and the next one does
not start. Runs of some milliseconds spend a good part of their time there."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver.campaigns import STEP, record_of, run_campaign, runs_of, write_campaign
from driver.conftest import Effio
from driver.runs import with_flavour, with_one_rank
from effio.campaign.budget import TimeBudget
from engines import Engine

# effio is its parent; it counts what was started.
LAUNCHER = """#!/bin/sh
trap '' USR1
{mpiexec} "$@"
code=$?
if [ "$1" != --version ]; then
    echo run >> {log}
    [ "$(wc -l < {log})" -ne {last} ] || kill -INT $PPID
fi
exit $code
"""
SWEEP = STEP + (
    '[step.options]\nbackend = "sim"\nblock = "2MiB"\n[step.sweep]\nsegments = [1, 2, 3]\n'
)


def _interrupted_after(effio: Effio, runs: int) -> Path:
    log = effio.cwd / "started"
    log.unlink(missing_ok=True)
    launcher = effio.cwd / "mpiexec"
    mpiexec = effio.environment.get("REAL_MPIEXEC", effio.environment["EFFIO_MPIEXEC"])
    effio.environment |= {"EFFIO_MPIEXEC": str(launcher), "REAL_MPIEXEC": mpiexec}
    launcher.write_text(LAUNCHER.format(mpiexec=mpiexec, log=log, last=runs))
    launcher.chmod(0o755)
    return log


@pytest.fixture
def single(effio: Effio, engines: dict[str, Engine]) -> Effio:
    return with_one_rank(effio, engines)


def test_a_campaign_goes_no_further_and_can_continue(single: Effio) -> None:
    write_campaign(single, SWEEP)
    log = _interrupted_after(single, 2)
    done = run_campaign(single, code=4)
    assert len(log.read_text().split()) == 2
    states = [record_of(run)["outcome"]["status"] for run in runs_of(single)]
    assert states == ["done", "done"]
    assert "left:   1 run; the same command continues" in done.stdout
    # Nothing is left to do after the last run, so nothing was interrupted.
    log = _interrupted_after(single, 1)
    run_campaign(single)
    assert len(log.read_text().split()) == 1
    assert len(runs_of(single)) == 3


def test_a_stop_while_the_commands_of_a_step_run_shows_what_was_done(single: Effio) -> None:
    command = '["sh", "-c", "[ -e go ] || [ ! -e ready ] || kill -INT $PPID; touch ready"]'
    write_campaign(single, SWEEP.replace("ranks = 1", f"ranks = 1\nsetup = [{command}]"))
    done = run_campaign(single, code=4)
    assert "Traceback" not in done.stderr
    assert "left:   1 run; the same command continues" in done.stdout
    (single.cwd / "go").touch()
    run_campaign(single)
    states = [record_of(run)["outcome"]["status"] for run in runs_of(single)]
    assert states.count("done") == 3


def test_a_run_that_was_stopped_by_its_time_is_the_last_as_well(
    single: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time limit of the run is over first, then the user asks to stop."""
    write_campaign(single, "afresh = true\n" + SWEEP)
    log = _interrupted_after(single, 1)
    monkeypatch.setattr(TimeBudget, "share", lambda *_: 1e-9)
    run_campaign(single, code=4)
    assert len(log.read_text().split()) == 1


def test_a_search_keeps_the_run_and_continues_after_it(single: Effio) -> None:
    space = '[vary.options]\n"backend.rank-rate" = ["200MB/s", "400MB/s"]\n'
    options = '[options]\nbackend = "sim"\ntransfer = "256KiB"\nblock = "1MiB"\n'
    (single.cwd / "s.toml").write_text(f'title = "t"\nbenchmark = "ior"\n{options}{space}')
    log = _interrupted_after(single, 2)
    words = ("tune", "s.toml", "-n", "1", "--confirmations", "3", "--max-runs", "13", "--quiet")
    stopped = single.call(*words)
    assert stopped.returncode == 4, stopped.stderr
    assert "stopped after 2 runs; what they measured is kept" in stopped.stderr
    assert len(log.read_text().split()) == 2
    _interrupted_after(single, 0)
    resumed = single.call("tune", "--resume", "last", "--quiet")
    assert resumed.returncode == 0, resumed.stderr
    assert "2 runs of an earlier call were not run again" in resumed.stderr


def test_doctor_does_not_take_it_for_a_fault_of_the_machine(single: Effio) -> None:
    log = _interrupted_after(single, 1)
    done = single.call("doctor")
    assert done.returncode == 4, done.stdout
    assert "failed with" not in done.stdout
    assert len(log.read_text().split()) == 1


def test_after_a_trial_the_run_itself_does_not_start(
    effio: Effio, engines: dict[str, Engine], data: Path
) -> None:
    if "openmpi-ompio" not in engines:
        pytest.skip("no Open MPI engine is built here")
    there = with_flavour(effio, engines["openmpi-ompio"])
    log = _interrupted_after(there, 1)
    words = ("--collective", "--queue-depth", "2", "--backend", "mpiio", "--block", "1MiB")
    done = there.call("run", "ior", *words, "--dir", data, "-n", "2", "--no-report")
    assert done.returncode == 4, done.stderr
    assert len(log.read_text().split()) == 1
    (trial,) = (there.cwd / "effio-runs").iterdir()
    assert record_of(trial)["outcome"]["status"] == "done"
    assert trial.name.endswith("-trial")
