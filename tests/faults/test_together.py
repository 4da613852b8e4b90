# SPDX-License-Identifier: BSD-3-Clause
"""Several benchmarks in one job, one of which fails, hangs or is killed: what the others do, and
what all of them leave. The group that goes wrong is the last one: its code is the job's."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from engines import Engine
from together_runs import log_of, start, together

from .conftest import with_fault
from .standing import ENDLESS, standing, wait_for_measurements


def results_of(where: Path, *groups: int) -> list[Path]:
    return [where / f"both/group-{group}/result.jsonl" for group in groups]


def test_an_error_of_one_group_lets_the_other_finish(
    mpi: Engine, tmp_path: Path, data: Path
) -> None:
    """A full disk in the midst of the second one's writes."""
    run = together(
        mpi,
        tmp_path,
        f"1: mdtest --dir {data} --items 50 --iterations 3",
        f"1: ior --backend posix --dir {data} --block 1MiB --transfer 64KiB",
        words=["--quiet"],
        prefix=with_fault(mpi, "write,error=28,file=ior,nth=3"),
    )
    assert run.code == 3, run
    well, failed = run.results
    assert well.status == "done"
    assert [m["operations"] for m in well.rows(phase="File creation")] == [50] * 3
    assert failed.status == "io_error"
    assert failed.end is not None
    (error,) = failed.end["errors"]
    assert error["errno"] == 28
    assert error["rank"] == 1
    assert error["path"].startswith(f"{data}/group-2/")
    assert "effio-mpi: group 2 (ior): io_error: " in run.stderr
    assert list(data.iterdir()) == [], run


def test_a_group_without_its_directory_never_starts(any_engine: Engine, tmp_path: Path) -> None:
    run = together(
        any_engine, tmp_path, "1: ior --backend null", f"1: mdtest --items 1 --dir {tmp_path}/none"
    )
    assert run.code == 3, run
    well, failed = run.results
    assert well.status == "done"
    assert failed.status == "io_error"
    assert failed.measurements == []
    assert f"{tmp_path}/none/group-2: No such file or directory" in run.stderr


def test_a_hang_of_one_group_stops_the_other_in_order(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """One rank of the second group hangs, and the watchdog of the other one ends the job."""
    any_engine.needs_ranks(4)
    job = start(
        any_engine,
        tmp_path,
        f"2: mdtest --dir {data} {ENDLESS}",
        f"2: mdtest --dir {data} {ENDLESS} --watchdog 8s",
        ranks=4,
        words=["--quiet", "--agree-deadline", "60s"],
    )
    wait_for_measurements(job, *results_of(tmp_path, 1, 2))
    with standing(job, job.ranks()[3]):
        run = job.finish()
    stopped, hung = run.results
    assert hung.status == "hung", run
    assert hung.end is not None
    (error,) = hung.end["errors"]
    assert error["rank"] == 2
    assert "no progress for" in error["cause"]
    assert stopped.status == "interrupted", run
    assert stopped.end is not None
    assert stopped.end["reason"] == f"group 2 (mdtest) ended the job: {hung.end['reason']}"
    # Whoever ends a job removes files for five seconds at most: enough or not on a busy machine.
    assert not (data / "group-1").exists(), run
    events = [(line["event"], line["group"]) for line in log_of(tmp_path)]
    assert events[2] == ("call_off", 2)
    assert ("end", 1) in events


def test_a_group_whose_ranks_all_hang_is_found_by_the_other_one(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Its own watchdogs hang with it. A launcher that wakes it up before it ends it lets it
    have a last word."""
    any_engine.needs_ranks(3)
    job = start(
        any_engine,
        tmp_path,
        f"1: mdtest --dir {data} {ENDLESS}",
        f"2: mdtest --dir {data} {ENDLESS}",
        ranks=3,
        words=["--quiet", "--watchdog", "5s", "--agree-deadline", "2s"],
    )
    wait_for_measurements(job, *results_of(tmp_path, 1, 2))
    with standing(job, *job.ranks()[1:]):
        run = job.finish()
    stopped, still = run.results
    assert stopped.status == "interrupted", run
    assert stopped.end is not None
    assert "group 2 (mdtest) ended the job: no sign of life for" in stopped.end["reason"]
    assert still.status in (None, "interrupted", "hung"), run
    assert not (data / "group-1").exists(), run
    called_off = [line for line in log_of(tmp_path) if line["event"] == "call_off"]
    assert (called_off[0]["group"], called_off[0]["by"]) == (2, 1)


def test_a_second_signal_ends_the_job_at_once(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """A rank of the second group hangs, so that its group cannot stop in order; the other
    group still can."""
    any_engine.needs_ranks(3)
    job = start(
        any_engine,
        tmp_path,
        f"1: mdtest --dir {data} {ENDLESS}",
        f"2: mdtest --dir {data} {ENDLESS}",
        ranks=3,
        words=["--quiet", "--watchdog", "0s"],
    )
    wait_for_measurements(job, *results_of(tmp_path, 1, 2))
    asked, frozen = job.ranks()[1:]

    def ended() -> bool:
        if log_of(tmp_path)[-1]["event"] in ("call_off", "end"):
            return True
        os.kill(asked, signal.SIGINT)
        return False

    with standing(job, frozen):
        job.wait_until("the end of the group", ended)
        run = job.finish()
    stopped, at_once = run.results
    assert at_once.status == "interrupted", run
    assert at_once.end is not None
    assert "stopped at once by a second signal" in at_once.end["reason"]
    assert stopped.status == "interrupted", run
    assert stopped.end is not None
    assert "ended the job: stopped at once by a second signal" in stopped.end["reason"]


def test_a_signal_to_one_group_lets_the_other_finish(
    mpi: Engine, tmp_path: Path, data: Path
) -> None:
    job = start(
        mpi,
        tmp_path,
        f"1: mdtest --dir {data} --items 50 --iterations 3",
        f"1: mdtest --dir {data} {ENDLESS}",
        words=["--quiet"],
    )
    wait_for_measurements(job, *results_of(tmp_path, 2))
    os.kill(job.ranks()[1], signal.SIGTERM)
    run = job.finish()
    assert run.code == 4, run
    well, stopped = run.results
    assert well.status == "done"
    assert [m["operations"] for m in well.rows(phase="File creation")] == [50] * 3
    assert stopped.status == "interrupted"
    assert list(data.iterdir()) == [], run


def test_a_signal_to_all_stops_all_in_order(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    job = start(any_engine, tmp_path, *[f"1: mdtest --dir {data} {ENDLESS}"] * 2, words=["--quiet"])
    wait_for_measurements(job, *results_of(tmp_path, 1, 2))
    for rank in job.ranks():
        os.kill(rank, signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert [r.status for r in run.results] == ["interrupted", "interrupted"]
    assert list(data.iterdir()) == [], run


def test_a_killed_rank_leaves_readable_results(mpi: Engine, tmp_path: Path, data: Path) -> None:
    """The launcher ends the others: at once, or after a SIGTERM that they may have the time to
    heed. results.load has held every line against the schema."""
    job = start(mpi, tmp_path, *[f"1: mdtest --dir {data} {ENDLESS}"] * 2, words=["--quiet"])
    wait_for_measurements(job, *results_of(tmp_path, 1, 2))
    os.kill(job.ranks()[1], signal.SIGKILL)
    run = job.finish()
    assert run.code != 0, run
    left, killed = run.results
    assert killed.status is None
    assert left.status in (None, "interrupted"), run
    assert all(len(r.measurements) >= 2 for r in run.results)
