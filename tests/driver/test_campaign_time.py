# SPDX-License-Identifier: BSD-3-Clause
"""The time limit of a campaign: which runs are skipped or stopped, and the messages about them. The
clock is simulated."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from driver.campaigns import STEP, run_campaign, write_campaign
from driver.conftest import Effio
from effio.campaign.budget import LEAST_SECONDS, TimeBudget
from effio.campaign.run import CampaignRun, RunRequest, UnitDone
from effio.errors import ExitCode
from effio.launch import job
from effio.launch import watch as watch_module
from effio.launch.launchers import Launch
from effio.launch.live import LiveView
from effio.launch.watch import Patience, Watch
from effio.store.all_runs import Store


@dataclass
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_run_gets_twice_an_even_part_of_what_is_left() -> None:
    clock = Clock()
    budget = TimeBudget(60, stops_runs=True, now=clock)
    assert budget.share(6) == 20
    clock.now += 20
    assert budget.share(5) == 16
    clock.now += 16
    # The last two runs, and the last one, may take all of the time.
    assert (budget.share(2), budget.share(1)) == (24, 24)
    clock.now += 24
    assert budget.is_over
    # A resumable campaign never stops a run in the middle.
    resumable = TimeBudget(60, now=clock)
    assert resumable.share(6) is None
    assert not TimeBudget(now=clock).is_over


def test_starting_takes_a_while_whatever_was_requested() -> None:
    clock = Clock()
    budget = TimeBudget(1, stops_runs=True, now=clock)
    clock.now += LEAST_SECONDS - 1
    assert not budget.is_over
    clock.now += 1
    assert budget.is_over
    assert (budget.limit, TimeBudget(60).limit, TimeBudget().limit) == (LEAST_SECONDS, 60, None)


LINE = '[[step.line]]\ntitle = "line {0}"\nshow = "rate"\n'
STEPS = "".join(STEP.replace('"a"', f'"{name}"') + LINE.format(name) for name in "abc")


@dataclass
class Runs:
    """Replaces the runs: each takes 35 s."""

    clock: Clock = field(default_factory=Clock)
    shares: list[float | None] = field(default_factory=list)

    def one(self, campaign_run: CampaignRun, unit: object, _number: int, left: int) -> UnitDone:
        self.shares.append(campaign_run.budget.share(left))
        self.clock.now += 35
        return UnitDone(unit, ExitCode.DONE)  # type: ignore[arg-type]

    def budget(self, order: RunRequest) -> TimeBudget:
        return TimeBudget(order.seconds, order.campaign.afresh, self.clock)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    made = Runs()
    monkeypatch.setattr(CampaignRun, "_one", lambda *all: made.one(*all))
    monkeypatch.setattr(RunRequest, "time_budget", lambda order: made.budget(order))
    return made


def test_a_quick_check_ends_in_time_and_shows_what_is_known(with_engine: Effio, runs: Runs) -> None:
    write_campaign(with_engine, "seconds = 60\nafresh = true\n" + STEPS)
    done = run_campaign(with_engine)
    # 2/3 of 60 s; then all of the 25 s that remain for two runs.
    assert runs.shares == [40, 25]
    assert "c: not run: the time limit of 60 s is reached" in done.stderr
    assert "line c" in done.stdout
    assert "not run: the time limit of 60 s is reached" in done.stdout
    assert "left:" not in done.stdout  # it cannot be continued


def test_of_many_runs_that_do_not_start_ten_are_named(with_engine: Effio, runs: Runs) -> None:
    write_campaign(with_engine, STEP + f"[step.sweep]\nsegments = {list(range(1, 21))}\n")
    done = run_campaign(with_engine, "--time", "60s", code=4)
    # Two take more than 60 s.
    assert done.stderr.count(": not run: the time limit") == 10
    assert "8 more runs are not run: the time limit of 60 s is reached" in done.stderr
    assert "left:   18 runs; the same command continues" in done.stdout


def test_a_campaign_that_can_continue_says_what_is_left(with_engine: Effio, runs: Runs) -> None:
    write_campaign(with_engine, "seconds = 60\n" + STEPS)
    # `seconds` in the file is the expected time; --time is a limit.
    assert "not run" not in run_campaign(with_engine).stderr
    done = run_campaign(with_engine, "--time", "60s", code=4)
    assert "c: not run: the time limit of 60 s is reached" in done.stderr
    assert "left:   1 run; the same command continues" in done.stdout
    assert runs.shares == [None] * 5


@pytest.mark.parametrize(
    ("outcome", "card", "others"),
    [
        # The next step of a card would hang, be refused or not start either; a campaign continues
        # after a run that failed, but not where nothing has started.
        ({"code": ExitCode.HUNG, "reason": "no progress for 60 s"}, 1, 3),
        ({"code": ExitCode.IO_ERROR, "reason": "it is full", "refused": True}, 1, 3),
        ({"code": ExitCode.ENVIRONMENT, "reason": "no interface", "not_started": True}, 1, 1),
        ({"code": ExitCode.IO_ERROR, "reason": "write: Input/output error"}, 3, 3),
    ],
)
def test_a_card_stops_at_the_first_step_that_cannot_continue(
    with_engine: Effio,
    monkeypatch: pytest.MonkeyPatch,
    outcome: dict[str, Any],
    card: int,
    others: int,
) -> None:
    calls: list[str] = []

    def run_here(request: job.Request, runs: Store, _view: LiveView) -> job.Finished:
        calls.append(request.label)
        return job.Finished(runs.create(request.benchmark, request.label), **outcome)

    monkeypatch.setattr(job, "run_here", run_here)
    for head, count in (("afresh = true\n", card), ("", others)):
        calls.clear()
        write_campaign(with_engine, head + STEPS)
        done = run_campaign(with_engine, "--name", f"n{count}{len(head)}", code=outcome["code"])
        assert len(calls) == count, done.stderr
        assert ("c: not run: a could not continue" in done.stderr) == (count == 1)


ENGINE = """
import signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(4))
print("it is there", flush=True)
time.sleep(60)
"""


def test_a_run_whose_time_is_up_is_asked_to_stop(tmp_path: Path) -> None:
    launch = Launch(command=(sys.executable, "-c", ENGINE), environment={}, notes=())
    view = LiveView("t", quiet=True)
    watch = Watch(launch, tmp_path, f"test-{tmp_path.name}", view, Patience(whole=1.0), quiet=True)
    with view:
        outcome = watch.run()
    assert (outcome.out_of_time, outcome.code) == (1.0, 4)
    assert not outcome.interrupted
    assert not outcome.hung


SILENT = """
import pathlib, signal, sys, time
signal.signal(signal.SIGUSR1, lambda *_: sys.exit(4))
if sys.argv[1:]:
    pathlib.Path(sys.argv[1]).touch()
time.sleep(60)
"""


@pytest.mark.parametrize(("has_result", "code"), [(True, 4), (False, -signal.SIGTERM)])
def test_an_engine_that_has_begun_a_result_is_asked_to_stop(
    has_result: bool, code: int, tmp_path: Path
) -> None:
    """Its first line may still be with the launcher when Ctrl-C comes."""
    result = tmp_path / "result.jsonl"
    words = [str(result)] if has_result else []
    launch = Launch(command=(sys.executable, "-c", SILENT, *words), environment={}, notes=())

    def interrupt() -> None:
        while has_result and not result.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    view = LiveView("t", quiet=True)
    threading.Timer(1.0, interrupt).start()
    with view:
        outcome = Watch(launch, tmp_path, f"test-{tmp_path.name}", view, quiet=True).run()
    assert (outcome.interrupted, outcome.code) == (True, code)


def test_a_run_that_was_complete_when_its_time_was_up_has_no_note(
    with_engine: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watch.run

    def too_late(watch: Watch) -> watch_module.Outcome:
        outcome = watched(watch)
        outcome.out_of_time = 8.0
        return outcome

    monkeypatch.setattr(Watch, "run", too_late)
    write_campaign(with_engine, "seconds = 60\nafresh = true\n" + STEPS)
    done = run_campaign(with_engine)
    assert "3 of 3, c: done" in done.stderr
    notes = done.stdout.partition("Measured in")[0].splitlines()
    assert not [line for line in notes if line.startswith("a:")]


HANGS = """
import sys, time
print("effio: hung: fsync /data/file: no progress for 30 s (rank 1 on b)", file=sys.stderr)
while True:
    print('{"effio_progress": 1}', file=sys.stderr, flush=True)
    time.sleep(0.1)
"""


def test_ranks_that_cannot_leave_are_not_waited_for_although_others_speak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank in a call of a file system that does not answer cannot be ended."""
    monkeypatch.setattr(watch_module, "_TO_LEAVE_SECONDS", 0.5)
    launch = Launch(command=(sys.executable, "-c", HANGS), environment={}, notes=())
    view = LiveView("t", quiet=True)
    with view:
        outcome = Watch(launch, tmp_path, f"test-{tmp_path.name}", view, quiet=True).run()
    assert outcome.hung == "it was still there 0 s after its last word"
    assert outcome.last_words[0].startswith("effio: hung: fsync /data/file")
