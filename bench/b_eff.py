# SPDX-License-Identifier: BSD-3-Clause
"""b_eff's ping-pong and the pairs' against a bare MPI loop; the rings benchmark next to Debian's
hpcc; what memory a rank of b_eff needs next to its buffers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from b_eff_io import peak
from harness import AbsentError, BenchError, Figures, Kit, Pair

MIB = 1 << 20
LMAX = MIB  # with 128 MiB a rank
SPAN = 6 * (LMAX + 16)  # one buffer of b_eff
REPETITIONS = 3  # of either; the best one counts
# By length. The ping-pong's take about as long as b_eff's, some 6 ms; the pairs' are its own.
PING_PONG_LOOPS = {1: 15_000, MIB: 30}
PAIRS_LOOPS = {1: 20, MIB: 2}
RUN = ("b-eff", "--quiet", "--memory-per-rank=128MiB", "--seed=1")
# The pair alone matters here: few other patterns, one method.
SHORT = ("--methods=sendrecv", "--random-patterns=1", "--loop-time=100ms", "--repetitions=3")
HPCC = "hpcc"
# hpcc sends memory that it never wrote. Linux has one page of zeros for all of that, which stays
# in the cache: the bandwidth is some 30 % above what the same copies make of data. glibc writes
# what it hands out on request.
REAL_MEMORY = ("env", "MALLOC_PERTURB_=85")
# Whatever comes before the part that is compared is made small.
HPL_INPUT = """HPLinpack benchmark input file
comment
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
100          Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
{ranks}            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
separator
0            Number of additional problem sizes for PTRANS
1            values of N
0            number of additional blocking sizes for PTRANS
1            values of NB
"""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def figure(records: list[dict[str, Any]], name: str) -> dict[str, Any]:
    figures = [r for r in records if r["kind"] == "figure"]
    found = next((r for r in figures if r["name"] == name), None)
    if found is None:
        there = ", ".join(sorted({r["name"] for r in figures}))
        raise BenchError(f"the result has no figure {name}, but {there or 'none'}")
    return found


# Of two ranks: their processors.
Placement = tuple[int, int]


def placements() -> list[Placement]:
    """Latency depends on which processors the ranks are on, by a factor of two in both programs:
    each rank stays on its processor, and both orders of two processors are measured."""
    here = sorted(os.sched_getaffinity(0))
    if len(here) < 2:
        raise AbsentError("two ranks need two processors")
    return [(here[0], here[1]), (here[1], here[0])]


def by_placement(length: int, seconds_of: Callable[[Placement], float]) -> Figures:
    """Latency at one byte, else bandwidth."""
    figures = {}
    for cpus in placements():
        seconds = seconds_of(cpus)
        where = f"processors {cpus[0]} {cpus[1]}"
        if length == 1:
            figures[f"latency, {where}"] = seconds * 1e6
        else:
            figures[f"1 MiB, {where}"] = length / seconds / 1e6
    return figures


def ping_pong_of_engine(kit: Kit, length: int) -> Figures:
    """The pair of the definition: half a round trip, the best repetition."""
    name = "ping_pong_latency" if length == 1 else "ping_pong_bandwidth"

    def seconds(cpus: Placement) -> float:
        with kit.place() as place:
            kit.launch([kit.engine, *RUN, *SHORT, "-o", place / "r.jsonl"], cpus=cpus)
            value = float(figure(lines(place / "r.jsonl"), name)["metric"]["value"])
        return value if length == 1 else length / value

    return by_placement(length, seconds)


def pairs_of_engine(kit: Kit, length: int) -> Figures:
    """The same of `--pairs`, whose messages stay in one place."""
    few = ("--patterns=counting", "--loop-time=1ms", "--repetitions=1", "--random-patterns=1")

    def seconds(cpus: Placement) -> float:
        with kit.place() as place:
            words = [kit.engine, *RUN, *few, "--pairs=all", "-o", place / "r.jsonl"]
            kit.launch(words, cpus=cpus)
            detail = figure(lines(place / "r.jsonl"), "slow_pairs")["detail"]
        ((_, _, latency, bandwidth),) = detail["pairs_low_high_latency_bandwidth"]
        return float(latency if length == 1 else length / bandwidth)

    return by_placement(length, seconds)


def ping_pong_of_bare(kit: Kit, length: int, loops: int, span: int) -> Figures:
    def seconds(cpus: Placement) -> float:
        words = [kit.bare("bare_ping_pong"), length, loops, REPETITIONS, span]
        return min(float(line) for line in kit.launch(words, cpus=cpus).split())

    return by_placement(length, seconds)


def _hpcc_values(text: str) -> Figures:
    found = re.findall(r"^(\w*(?:PingPong|Ring)\w+_(?:usec|GBytes))=(\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


def rings_of_engine(kit: Kit) -> Figures:
    with kit.place() as place:
        words = [*REAL_MEMORY, kit.engine, "rings", "--progress=none", "-o", place / "r.jsonl"]
        return _hpcc_values(kit.launch(words, cpus=placements()[0]))


def rings_of_hpcc(kit: Kit) -> Figures:
    program = shutil.which(HPCC)
    if program is None:
        raise AbsentError("no hpcc here (Debian: apt-get install hpcc)")
    if (own := _mpi_of(kit.engine)) != (its := _mpi_of(Path(program))):
        raise AbsentError(f"hpcc is linked to {its}, the engine to {own}")
    with kit.place() as place:
        (place / "hpccinf.txt").write_text(HPL_INPUT.format(ranks=2))
        kit.launch([*REAL_MEMORY, program], cwd=place, cpus=placements()[0])
        return _hpcc_values((place / "hpccoutf.txt").read_text())


def _mpi_of(program: Path) -> str:
    """The MPI library that the loader would take, links followed."""
    loaded = subprocess.run(
        ["ldd", program], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    found = re.search(r"libmpi(?:ch)?\.so\S* => (\S+)", loaded)
    return str(Path(found[1]).resolve()) if found else "no MPI library"


def peak_of_engine(kit: Kit) -> Figures:
    few = ("--patterns=counting", "--loop-time=1us", "--repetitions=1", "--random-patterns=1")
    with kit.place() as place:
        return peak(kit, [kit.engine, *RUN, *few, "-o", place / "r.jsonl"], place)


def peak_of_bare(kit: Kit) -> Figures:
    with kit.place() as place:
        return peak(kit, [kit.bare("bare_ping_pong"), LMAX, 20, 1, SPAN], place)


def pairs(kit: Kit) -> list[Pair]:
    found = []
    for length in (1, MIB):
        what = "latency" if length == 1 else "bandwidth"
        unit = "us" if length == 1 else "MB/s"
        limit = {"within_spread": True} if length == 1 else {"at_least": 0.98}
        placed = ("b_eff ping-pong", "as the definition places messages", ping_pong_of_engine)
        in_place = ("b_eff pairs", "messages in one place", pairs_of_engine)
        for (name, question, ours), loops, span in (
            (placed, PING_PONG_LOOPS[length], SPAN),
            (in_place, PAIRS_LOOPS[length], length),
        ):
            found.append(
                Pair(
                    f"{name} {what}",
                    f"half a round trip against a bare MPI loop, {question}",
                    partial(ours, kit, length),
                    partial(ping_pong_of_bare, kit, length, loops, span),
                    unit,
                    **limit,
                )
            )
    return [
        *found,
        Pair(
            "rings and hpcc",
            "the ten values of hpccoutf.txt; each program's median within the other's spread",
            partial(rings_of_engine, kit),
            partial(rings_of_hpcc, kit),
            "",
            within_spread=True,
        ),
        Pair(
            "b_eff memory",
            "peak of a rank beyond a bare program's; both have two buffers of 6 Lmax",
            partial(peak_of_engine, kit),
            partial(peak_of_bare, kit),
            "MiB",
            at_most=16,
            rounds=3,
        ),
    ]
