# SPDX-License-Identifier: BSD-3-Clause
"""Interference in which a group fails, hangs, is signalled or killed: what the other groups do,
what the whole says of it, and what is left."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

from engines import Engine, Job
from interference_runs import interfere, of_turn, start, turns
from results import load

ENDLESS = "--items 100 --iterations 50000"
FIRST = "round-1-groups-1"  # the first turn of all


def measured(where: Path, turn: str, group: int, count: int) -> bool:
    file = where / "all.turns" / turn / f"group-{group}/result.jsonl"
    return file.exists() and file.read_bytes().count(b'"kind":"measurement"') >= count


def wait_for_measurements(job: Job, where: Path, turn: str, group: int) -> None:
    job.wait_until(f"measurements of {turn}", partial(measured, where, turn, group, 2))


def test_a_group_that_fails_ends_its_runs_and_not_the_turns(
    mpi: Engine, tmp_path: Path, data: Path
) -> None:
    """A full disk in the midst of the second one's writes: the third of its sixteen in its second
    turn, which is beside the first one."""
    shim = mpi.build / "tests" / "faults" / "effio_faulty_calls.so"
    assert shim.exists(), f"{shim} is not built"
    run = interfere(
        mpi,
        tmp_path,
        f"1: mdtest --dir {data} --items 50 --iterations 2",
        f"1: ior --backend posix --dir {data} --block 1MiB --transfer 64KiB",
        words=["--quiet"],
        prefix=["env", f"LD_PRELOAD={shim}", "EFFIO_FAULT=write,error=28,file=ior,nth=19"],
    )
    assert run.code == 3, run
    result = run.result
    assert result.status == "io_error"
    assert result.end is not None
    assert result.end["reason"] == "in turn 3 (round 1, 1 mdtest beside 2 ior): io_error"
    assert turns(tmp_path) == [f"round-1-groups-{g}" for g in ("1", "1-2", "2")]
    beside = of_turn(tmp_path, "round-1-groups-1-2", 1)
    assert beside.status == "done"
    assert [m["operations"] for m in beside.rows(phase="File creation")] == [50] * 2
    assert of_turn(tmp_path, "round-1-groups-2", 2).status == "done"
    assert of_turn(tmp_path, "round-1-groups-1-2", 2).status == "io_error"
    factors = [f for f in result.figures if f["name"] == "slow_down"]
    assert [f["metric"]["value"] for f in factors] == [None, None]
    told = [m for m in result.measurements if m["where"]["beside"]]
    assert told
    assert not any(m["valid"] for m in told)
    assert list(data.iterdir()) == [], run


def test_a_hang_ends_the_job_and_the_whole_says_who(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """One rank of the first group stands still while the second one waits for its turn."""
    any_engine.needs_ranks(3)
    job = start(
        any_engine,
        tmp_path,
        f"2: mdtest --dir {data} {ENDLESS} --watchdog 8s",
        f"1: mdtest --dir {data} {ENDLESS}",
        ranks=3,
        words=["--quiet", "--agree-deadline", "20s"],
    )
    wait_for_measurements(job, tmp_path, FIRST, 1)
    frozen = job.ranks()[1]
    os.kill(frozen, signal.SIGSTOP)
    try:
        run = job.finish(300)
    finally:
        if frozen in job.members():
            os.kill(frozen, signal.SIGKILL)
    hung = of_turn(tmp_path, FIRST, 1)
    assert hung.status == "hung", run
    assert hung.end is not None
    whole = load(tmp_path / "all.jsonl")
    assert whole.status == "hung", run
    assert whole.end is not None
    assert whole.end["reason"] == f"group 1 ended the job: {hung.end['reason']}"
    assert turns(tmp_path) == [FIRST]


def test_a_signal_to_all_stops_all_in_order(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    job = start(any_engine, tmp_path, *[f"1: mdtest --dir {data} {ENDLESS}"] * 2, words=["--quiet"])
    wait_for_measurements(job, tmp_path, FIRST, 1)
    for rank in job.ranks():
        os.kill(rank, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert of_turn(tmp_path, FIRST, 1).status == "interrupted"
    assert turns(tmp_path) == [FIRST]
    assert list(data.iterdir()) == [], run


def test_a_killed_rank_leaves_readable_results(mpi: Engine, tmp_path: Path, data: Path) -> None:
    job = start(mpi, tmp_path, *[f"1: mdtest --dir {data} {ENDLESS}"] * 2, words=["--quiet"])
    wait_for_measurements(job, tmp_path, FIRST, 1)
    os.kill(job.ranks()[1], signal.SIGKILL)  # of the group that waits
    run = job.finish()
    assert run.code != 0, run
    left = of_turn(tmp_path, FIRST, 1)
    assert left.status in (None, "interrupted"), run
    assert len(left.measurements) >= 2
    assert load(tmp_path / "all.jsonl").status in (None, "interrupted"), run
