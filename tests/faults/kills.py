# SPDX-License-Identifier: BSD-3-Clause
"""What stays when something of a run is killed: the faults, what may come of them (kills.toml), and
that as the table of docs/faults.md."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engines import ROOT, Engine, Job, Run

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("kills.toml")
# Rows of 0.2 s and 0.4 s.
LONG = (
    *("b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "2", "--time", "15s"),
    *("--quiet", "--agree-deadline", "3s", "--max-bytes", "20GiB"),
)


@dataclass(frozen=True)
class Expected:
    """An entry of the table."""

    fault: str
    what: str
    mpi: str
    codes: list[int]
    ends: list[str]
    data: str
    why: str

    def check(self, run: Run, files: list[str]) -> None:
        """`files` are those of the run that were there before any user cleaned up."""
        assert shown(run.code) in self.codes, run
        assert (run.result.status or "") in self.ends, run
        if self.data != "either":
            assert (files != []) == (self.data == "stay"), f"{files}\n{run}"
        if run.result.status == "interrupted":
            assert files == [], f"an end in order that left {files}\n{run}"


def shown(code: int) -> int:
    """An exit code as a shell shows it."""
    return code if code >= 0 else 128 - code


def load() -> list[Expected]:
    entries: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["kill"]
    return [Expected(**entry) for entry in entries]


def expected(fault: str, engine: Engine) -> Expected:
    mpi = "openmpi" if engine.is_openmpi else "mpich"
    (found,) = (one for one in load() if (one.fault, one.mpi) == (fault, mpi))
    return found


class KilledRun:
    """A run of b_eff_io by the launcher, or by `effio run`, until something of it is killed."""

    def __init__(self, engine: Engine, place: Path, by_driver: bool) -> None:
        self.data = place / "data"
        self.data.mkdir()
        self.runs = place / "runs"
        words = [*LONG, "--dir", str(self.data)]
        if not by_driver:
            self.job = engine.start(words, place)
            return
        environment = {
            **engine.environment(),
            "PYTHONPATH": str(ROOT / "driver"),
            "EFFIO_ENGINE": str(engine.program),
            "EFFIO_MPIEXEC": engine.mpiexec,
        }
        if engine.is_openmpi:
            environment["OMPI_MCA_io"] = engine.flags[-1]
        command = [
            sys.executable,
            "-m",
            "effio",
            "--runs",
            str(self.runs),
            "run",
            *words,
            "-n",
            "2",
        ]
        self.job = Job(engine, command, place, environment)
        self.job.run_folders = self.runs

    def wait_for_measurements(self, count: int) -> None:
        self.job.wait_for_measurements(count)

    def measured(self) -> int:
        return sum(f.read_bytes().count(b'"kind":"measurement"') for f in self.job.new_results())


def first_rank(run: KilledRun) -> None:
    os.kill(run.job.ranks()[0], signal.SIGKILL)


def other_rank(run: KilledRun) -> None:
    os.kill(run.job.ranks()[1], signal.SIGKILL)


def launcher(run: KilledRun) -> None:
    run.job.process.kill()


def stopped_launcher(run: KilledRun) -> None:
    """The ranks continue without it: one measurement more shows that."""
    run.job.process.send_signal(signal.SIGSTOP)
    run.wait_for_measurements(run.measured() + 1)
    run.job.process.kill()


def driver(run: KilledRun) -> None:
    run.job.process.kill()


def everything(run: KilledRun) -> None:
    run.job.kill()


FAULTS: dict[str, Callable[[KilledRun], None]] = {
    function.__name__: function
    for function in (first_rank, other_rank, launcher, stopped_launcher, driver, everything)
}


def kill(
    engine: Engine, fault: str, place: Path, draw: random.Random
) -> tuple[KilledRun, Run, list[str]]:
    """A run that meets the fault at a moment by chance, after its first measurement; with the files
    that it left."""
    killed = KilledRun(engine, place, by_driver=fault == "driver")
    killed.wait_for_measurements(draw.randint(1, 4))
    time.sleep(draw.uniform(0, 0.4))  # any moment will do
    FAULTS[fault](killed)
    killed.job.wait_for_all()
    run = killed.job.finish()
    return killed, run, sorted(path.name for path in killed.data.iterdir())


def as_markdown() -> str:
    """The table as docs/faults.md shows it."""
    names = {"openmpi": "Open MPI", "mpich": "MPICH"}
    data = {"stay": "stay", "removed": "removed", "either": "removed with `interrupted`, else stay"}
    lines = [
        "| killed | MPI | exit code | `end` line | data files | because |",
        "|---|---|--:|---|---|---|",
    ]
    for one in load():
        codes = " or ".join(map(str, one.codes))
        ends = " or ".join(f"`{end}`" if end else "none" for end in one.ends)
        lines.append(
            f"| {one.what} | {names[one.mpi]} | {codes} | {ends} | {data[one.data]} | {one.why} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown(), end="")
