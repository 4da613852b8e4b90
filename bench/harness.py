# SPDX-License-Identifier: BSD-3-Clause
"""Pairs measured side by side: A, B, B, A, … in one run, so that what else the machine does hits
both. What counts is the ratio of each round, its median and its interval; never a lone number."""

from __future__ import annotations

import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from launcher import ended_well

ROOT = Path(__file__).resolve().parent.parent

# Figures of one launch by name, e.g. {"write 1 KiB": 2.1e8}. In each pair the names are the same.
Figures = Mapping[str, float]

# A pair with a budget of time ends early, but not before its median has an interval.
FEWEST_ROUNDS = 7


# Launchers differ in their options for binding. The environment has a rank's number on its node.
PINNED = """
set -- "${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-${PMI_RANK:?no rank}}}" "$0" "$@"
cpu=$(echo "$2" | cut -d ' ' -f $(($1 + 1)))
shift 2
exec taskset -c "$cpu" "$@"
"""


class BenchError(Exception):
    """A bench that cannot be done here, with the reason."""


class AbsentError(Exception):
    """The peer is not on this machine: the pair is skipped, with the reason."""


@dataclass(frozen=True)
class Pair:
    """Two ways to the same thing. `ours` and `theirs` each make one launch. A figure passes if the
    median of ours / theirs is at least `at_least` (for rates), ours - theirs at most `at_most`
    (for costs), or the median of each is between the smallest and the largest value of the other
    (`within_spread`); with none of them it is only shown."""

    name: str
    question: str
    ours: Callable[[], Figures]
    theirs: Callable[[], Figures]
    unit: str
    at_least: float | None = None
    at_most: float | None = None
    within_spread: bool = False
    rounds: int = 7

    @property
    def limit(self) -> str:
        """The limit as a reader of a table wants it; empty: the pair is only shown."""
        if self.at_least is not None:
            return f"≥ {self.at_least:g}"
        if self.at_most is not None:
            return f"≤ {self.at_most:g} {self.unit}"
        return "within each other's spread" if self.within_spread else ""


@dataclass
class Kit:
    """What a bench needs to launch: the engine, its launcher, bare programs, a place in memory."""

    build: Path
    mpiexec: str
    memory: Path
    environment: dict[str, str] = field(default_factory=dict)
    mpi: str = ""  # the first line of what the launcher says of its version

    @property
    def engine(self) -> Path:
        return self.build / "engine" / "effio-mpi"

    def bare(self, name: str) -> Path:
        """bench/NAME.cpp, built."""
        program = self.build / "bench" / name
        if not program.exists():
            raise BenchError(f"{program} is not built")
        return program

    def launch(
        self,
        words: Sequence[object],
        ranks: int = 2,
        timeout: float = 300,
        cwd: Path | None = None,
        cpus: Sequence[int] = (),
    ) -> str:
        """Runs `words` with this many ranks in `cwd`, else in the memory directory; returns its
        stdout. `cpus`: the processor of each rank, else the system places them."""
        pinned = ("sh", "-c", PINNED, " ".join(map(str, cpus))) if cpus else ()
        command = [str(w) for w in [self.mpiexec, "-n", ranks, *pinned, *words]]
        done = subprocess.run(
            command,
            cwd=cwd or self.memory,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        # What is read next shows if the run is complete.
        if not ended_well(done.returncode, done.stderr):
            raise BenchError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    @contextmanager
    def place(self, where: str = "tmpfs") -> Iterator[Path]:
        """An empty directory in memory, or next to the build on whatever "disk" that is; gone
        afterwards."""
        root = self.memory if where == "tmpfs" else self.build
        with tempfile.TemporaryDirectory(dir=root, prefix="bench-") as path:
            yield Path(path)


def _cached(build: Path, name: str) -> str:
    found = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    if found is None:
        raise BenchError(f"{build} is not a build of the engine: {name} is not in its cache")
    return found[1]


def make_kit(build: Path, memory: Path) -> Kit:
    kit = Kit(build, _cached(build, "MPIEXEC_EXECUTABLE"), memory)
    version = subprocess.run(
        [kit.mpiexec, "--version"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    kit.mpi = version.splitlines()[0].strip() if version else ""
    if "Open MPI" in version or "OpenRTE" in version:
        # As the driver does: root is allowed, and ranks that wait leave the cores to others.
        kit.environment = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "OMPI_MCA_hwloc_base_binding_policy": "none",
        }
    return kit


def alternately(
    launch: Callable[[], str], scale: float = 1
) -> tuple[Callable[[], Figures], Callable[[], Figures]]:
    """Our and their side of launches that measure both alternately; two turns, in which each side
    began once, the mean rates are a round, since to be first is slower or faster by many per cent.
    They print lines "NAME OURS THEIRS", rates in `scale`; a name that was there begins a turn."""
    waiting: tuple[list[dict[str, float]], list[dict[str, float]]] = ([], [])

    def launched() -> None:
        turns: list[tuple[dict[str, float], dict[str, float]]] = []
        for line in launch().splitlines():
            name, *both = line.rsplit(maxsplit=2)
            if not turns or name in turns[-1][0]:
                turns.append(({}, {}))
            for side, figure in zip(turns[-1], both, strict=True):
                side[name] = float(figure) * scale
        for first, second in zip(turns[::2], turns[1::2], strict=True):
            for queue, a, b in zip(waiting, first, second, strict=True):
                queue.append({name: statistics.harmonic_mean((a[name], b[name])) for name in a})

    def side(number: int) -> Figures:
        if not waiting[number]:
            launched()
        return waiting[number].pop(0)

    return partial(side, 0), partial(side, 1)


def rounds(pair: Pair, seconds: float = math.inf) -> Iterator[tuple[Figures, Figures]]:
    """Ours and theirs, round by round; which side starts changes each time. After `seconds` no
    round starts if the median has its interval."""
    end = time.monotonic() + seconds
    for number in range(pair.rounds):
        if number >= FEWEST_ROUNDS and time.monotonic() > end:
            return
        if number % 2 == 0:
            ours = pair.ours()
            theirs = pair.theirs()
        else:
            theirs = pair.theirs()
            ours = pair.ours()
        if ours.keys() != theirs.keys():
            raise BenchError(f"{pair.name}: {sorted(ours)} is compared with {sorted(theirs)}")
        yield ours, theirs


@dataclass(frozen=True)
class Verdict:
    """The verdict on one figure of a pair."""

    pair: Pair
    figure: str
    ours: list[float]
    theirs: list[float]

    @property
    def scores(self) -> list[float]:
        """The scores by round: ratios, or differences where the pair limits a cost."""
        pairs = zip(self.ours, self.theirs, strict=True)
        if self.pair.at_most is not None:
            return [a - b for a, b in pairs]
        return [a / b for a, b in pairs]

    @property
    def median(self) -> float:
        return statistics.median(self.scores)

    @property
    def interval(self) -> tuple[float, float] | None:
        return median_interval(self.scores)

    @property
    def passed(self) -> bool | None:
        """A limit within the interval of the median is met."""
        if self.pair.within_spread:
            return _inside(self.ours, self.theirs) and _inside(self.theirs, self.ours)
        low, high = self.interval or (self.median, self.median)
        if self.pair.at_least is not None:
            return high >= self.pair.at_least
        if self.pair.at_most is not None:
            return low <= self.pair.at_most
        return None

    @property
    def word(self) -> str:
        return {None: "", True: "met", False: "MISSED"}[self.passed]

    def row(self) -> list[str]:
        """A row of the summary: pair, figure, effio, the other one, ratio or difference, interval,
        limit, verdict."""
        unit = f" {self.pair.unit}".rstrip()
        own = unit if self.pair.at_most is not None else ""
        interval = self.interval
        return [
            self.pair.name,
            self.figure,
            f"{statistics.median(self.ours):.4g}{unit}",
            f"{statistics.median(self.theirs):.4g}{unit}",
            f"{self.median:.3f}{own}",
            "" if interval is None else f"{interval[0]:.3f} … {interval[1]:.3f}",
            self.pair.limit,
            self.word,
        ]

    def line(self) -> str:
        s = self.scores
        what = "ratio" if self.pair.at_most is None else "difference"
        spreads = ""
        if self.pair.within_spread:
            spreads = (
                f"; spreads [{min(self.ours):.4g} … {max(self.ours):.4g}] and"
                f" [{min(self.theirs):.4g} … {max(self.theirs):.4g}]"
            )
        limit = f"  {self.word} ({self.pair.limit}{spreads})" if self.pair.limit else ""
        sure = self.interval
        interval = "" if sure is None else f" (95 %: {sure[0]:.4g} … {sure[1]:.4g})"
        return (
            f"  {self.figure:<32} effio {statistics.median(self.ours):>11.4g}"
            f"  bare {statistics.median(self.theirs):>11.4g} {self.pair.unit:<5}"
            f" {what} {self.median:.4g}{interval} [{min(s):.4g} … {max(s):.4g}]{limit}"
        )


def _inside(values: Sequence[float], others: Sequence[float]) -> bool:
    return min(others) <= statistics.median(values) <= max(others)


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Where the true median lies with 95 % confidence, whatever the distribution: the k-th smallest
    and k-th largest value, k as large as 2 P(B < k) <= 0.05 allows, B binomial of n and 1/2 (order
    statistics; Conover, Practical Nonparametric Statistics, 3.2). None below six values."""
    n = len(values)
    tail, k = 0.0, 0
    while tail + math.comb(n, k) / 2**n <= 0.025:
        tail += math.comb(n, k) / 2**n
        k += 1
    if k == 0:
        return None
    ordered = sorted(values)
    return ordered[k - 1], ordered[n - k]


def run(pair: Pair, seconds: float = math.inf) -> list[Verdict]:
    """Measures a pair and prints the results."""
    print(f"{pair.name}: {pair.question}", flush=True)
    taken = list(rounds(pair, seconds))
    verdicts = [
        Verdict(
            pair, name, [ours[name] for ours, _ in taken], [theirs[name] for _, theirs in taken]
        )
        for name in taken[0][0]
    ]
    for verdict in verdicts:
        print(verdict.line(), flush=True)
    return verdicts


@dataclass
class Outcome:
    """The outcome of all pairs."""

    verdicts: list[Verdict] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)  # name of a pair: reason
    failed: dict[str, str] = field(default_factory=dict)

    def fail(self, pair: Pair, reason: str) -> None:
        print(f"  not measured: {reason}", file=sys.stderr, flush=True)
        self.failed[pair.name] = reason

    @property
    def good(self) -> bool:
        return not self.failed and all(verdict.passed is not False for verdict in self.verdicts)


def measure(
    collect: Callable[[Kit], list[Pair]],
    wanted: Sequence[str],
    kit: Kit,
    count: int | None = None,
    seconds: float = math.inf,
) -> Outcome:
    """`count` rounds in place of each pair's own, `seconds` for each pair."""
    outcome = Outcome()
    for pair in collect(kit):
        if wanted and not any(word in pair.name for word in wanted):
            continue
        try:
            asked = pair if count is None else replace(pair, rounds=count)
            outcome.verdicts += run(asked, seconds)
        except AbsentError as reason:
            print(f"  skipped: {reason}", flush=True)
            outcome.skipped[pair.name] = str(reason)
        except (BenchError, subprocess.TimeoutExpired) as error:
            outcome.fail(pair, str(error))
        except (LookupError, TypeError, ValueError) as error:
            # A result in another form than this bench reads; the other pairs are still measured.
            outcome.fail(pair, f"{type(error).__name__}: {error}")
    return outcome
