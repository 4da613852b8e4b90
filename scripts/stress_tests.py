# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests again and again next to busy loops, and lists what failed how often.

A test that is green on an idle machine and red next to other work leans on speed or on chance. The
engines are those that `make test` has built.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from run_tests import PYTEST, Case, builds, run_ctest, run_pytest

# Ends by itself if it is left alone.
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))\n"


@dataclass
class Tally:
    runs: int = 0
    failed: int = 0
    longest: float = 0  # seconds

    def add(self, case: Case) -> None:
        self.runs += 1
        self.failed += case.outcome == "failed"
        self.longest = max(self.longest, case.seconds)


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    loops = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def one_round(engine: str | None, python: list[str] | None) -> Iterator[Case]:
    """Every test of the parts requested; both where none is."""
    both = engine is None and python is None
    if both or engine is not None:
        for name, directory in builds().items():
            # Another MPI may not be built, or its build may have none of the tests requested.
            if not (directory / "CTestTestfile.cmake").exists():
                continue
            for case in run_ctest(directory, ("-R", engine) if engine else ())[1]:
                yield Case(f"{name}: {case.name}", case.outcome, case.seconds)
    suites = PYTEST if both else {"stress": tuple(python)} if python is not None else {}
    for title, words in suites.items():
        passed, found = run_pytest(title, words)
        yield from found
        if not passed and all(case.outcome != "failed" for case in found):
            yield Case(f"pytest itself: {title}", "failed", 0)


def table_of(tallies: dict[str, Tally]) -> Table:
    table = Table("test", "failed", "of", "longest")
    for name, tally in sorted(tallies.items(), key=lambda item: -item[1].failed):
        if tally.failed:
            table.add_row(name, str(tally.failed), str(tally.runs), f"{tally.longest:.1f} s")
    return table


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/stress-tests", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often (5)")
    parser.add_argument(
        "--loops", type=int, default=os.cpu_count(), help="busy loops next to them (one per core)"
    )
    parser.add_argument(
        "--engine", metavar="REGEX", help="engine tests whose names match (ctest -R)"
    )
    parser.add_argument(
        "--pytest", nargs=argparse.REMAINDER, metavar="WORD", help="the rest goes to pytest"
    )
    asked = parser.parse_args()
    tallies: dict[str, Tally] = {}
    for number in range(1, asked.rounds + 1):
        begin = time.monotonic()
        failed = []
        with busy_loops(asked.loops):
            for case in one_round(asked.engine, asked.pytest):
                if case.outcome != "skipped":
                    tallies.setdefault(case.name, Tally()).add(case)
                if case.outcome == "failed":
                    failed.append(case.name)
        print(
            f"== round {number} of {asked.rounds}: {len(failed)} failed, "
            f"{time.monotonic() - begin:.0f} s",
            flush=True,
        )
    red = sum(tally.failed > 0 for tally in tallies.values())
    if red:
        Console().print(table_of(tallies))
    print(
        f"effio: {len(tallies)} tests in {asked.rounds} rounds next to {asked.loops} busy loops: "
        f"{red} failed at least once"
    )
    return 1 if red or not tallies else 0


if __name__ == "__main__":
    sys.exit(main())
