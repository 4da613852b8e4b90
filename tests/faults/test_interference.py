# SPDX-License-Identifier: BSD-3-Clause
"""Interference in which a group fails, hangs, is signalled or killed: what the other groups do,
what the whole says of it, and what is left."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engines import Engine, Job
from interference_runs import interfere, of_turn, start, turns
from results import load

from .conftest import with_fault

ALONE, OTHER, TOGETHER = "round-1-groups-1", "round-1-groups-2", "round-1-groups-1-2"  # this order
# What there is by then.
IN_TURN = {ALONE: [ALONE], OTHER: [ALONE, OTHER], TOGETHER: [ALONE, TOGETHER, OTHER]}


def at_work_in(turn: str, engine: Engine, where: Path, data: Path) -> Job:
    """A job whose first group has measured one iteration in this turn and is before the next,
    until there is a file `go`; in TOGETHER the second one is at work as long."""
    hook = where / "hook"
    hook.write_text(
        f'#!/bin/sh\n[ -d {where}/all.turns/{turn} ] && [ "$EFFIO_ITERATION" = 1 ] || exit 0\n'
        f"touch {where}/there; while [ ! -e {where}/go ]; do sleep 0.1; done\n"
    )
    hook.chmod(0o755)
    line = f"mdtest --dir {data} --items 20 --iterations 2"
    first = f"1: {line} --run-before-phase {hook}"
    job = start(engine, where, first, f"1: {line}", words=["--quiet"])
    job.wait_until(f"the second iteration in {turn}", (where / "there").exists)
    return job


def test_a_group_that_fails_ends_its_runs_and_not_the_turns(
    mpi: Engine, tmp_path: Path, data: Path
) -> None:
    """A full disk in the midst of the second one's writes: the third of its sixteen in its second
    turn, which is next to the first one."""
    run = interfere(
        mpi,
        tmp_path,
        f"1: mdtest --dir {data} --items 50 --iterations 2",
        f"1: ior --backend posix --dir {data} --block 1MiB --transfer 64KiB",
        words=["--quiet"],
        prefix=with_fault(mpi, "write,error=28,file=ior,nth=19"),
    )
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error"
    assert result.end is not None
    assert result.end["reason"] == "in turn 3 (round 1, 1 mdtest next to 2 ior): io_error"
    assert turns(tmp_path) == [ALONE, TOGETHER, OTHER]
    together = of_turn(tmp_path, TOGETHER, 1)
    assert together.status == "done"
    assert [m["operations"] for m in together.rows(phase="File creation")] == [50] * 2
    assert of_turn(tmp_path, OTHER, 2).status == "done"
    assert of_turn(tmp_path, TOGETHER, 2).status == "io_error"
    factors = [f for f in result.figures if f["name"] == "slow_down"]
    assert [f["metric"]["value"] for f in factors] == [None, None]
    reported = [m for m in result.measurements if m["where"]["others"]]
    assert reported
    assert not any(m["valid"] for m in reported)
    assert list(data.iterdir()) == [], run


@pytest.mark.parametrize(("nth", "turn"), [(3, OTHER), (19, TOGETHER)])
def test_a_hang_ends_the_job_and_the_whole_says_who(
    any_engine: Engine, tmp_path: Path, data: Path, nth: int, turn: str
) -> None:
    """A write of the second group never returns; the first one waits for its turn, or works."""
    run = interfere(
        any_engine,
        tmp_path,
        f"1: mdtest --dir {data} --items 50 --iterations 2",
        f"1: ior --backend posix --dir {data} --block 1MiB --transfer 64KiB --watchdog 8s",
        words=["--quiet", "--agree-deadline", "20s"],
        prefix=with_fault(any_engine, f"write,hang,file=ior,nth={nth}"),
    )
    assert run.seconds < 45, "the first one's short runs continue while its neighbor is gone"
    hung = of_turn(tmp_path, turn, 2)
    assert hung.status == "hung", run
    assert hung.end is not None
    whole = load(tmp_path / "all.jsonl")
    assert whole.status == "hung", run
    assert whole.end is not None
    assert whole.end["reason"] == f"group 2 ended the job: {hung.end['reason']}"
    assert turns(tmp_path) == IN_TURN[turn]


@pytest.mark.parametrize("turn", [ALONE, TOGETHER])
def test_a_signal_to_all_stops_all_in_order(
    any_engine: Engine, tmp_path: Path, data: Path, turn: str
) -> None:
    job = at_work_in(turn, any_engine, tmp_path, data)
    for rank in job.ranks():
        os.kill(rank, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert of_turn(tmp_path, turn, 1).status == "interrupted"
    assert turns(tmp_path) == IN_TURN[turn]
    assert list(data.iterdir()) == [], run


@pytest.mark.parametrize("turn", [ALONE, TOGETHER])
def test_a_killed_rank_leaves_readable_results(
    mpi: Engine, tmp_path: Path, data: Path, turn: str
) -> None:
    job = at_work_in(turn, mpi, tmp_path, data)
    asked, killed = job.ranks()  # the one that is killed waits, or runs next to it
    os.kill(killed, signal.SIGKILL)
    job.wait_for_end_of(asked)
    (tmp_path / "go").touch()  # the command would outlive its rank
    run = job.finish()
    assert run.code != 0, run
    left = of_turn(tmp_path, turn, 1)
    assert left.status in (None, "interrupted"), run
    assert len(left.measurements) >= 2
    whole = load(tmp_path / "all.jsonl")
    assert whole.status in (None, "interrupted"), run
    # Each earlier turn is reported when it is over.
    assert {m["where"]["group"] for m in whole.measurements} == set(range(1, len(IN_TURN[turn])))
