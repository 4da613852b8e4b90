# SPDX-License-Identifier: BSD-3-Clause
"""b_eff_io against a bare MPI-IO program with the definition's calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import Figures, Kit, Pair, alternately

MIB = 1 << 20
LMAX = 2 * MIB  # the least: the rows of 1 KiB and 1 MiB are what counts
TURNS = 20  # of both sides in a process, short ones: more of them for the same time
TURN_UNIT = 0.02  # seconds
# A little program that runs another one and says what memory it had at most. A launcher may reach
# its ranks through a descriptor that they inherit.
PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, close_fds=False).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open(sys.argv[1], "a").write(f"{peak}\\n")
sys.exit(code)
"""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def engine_words(kit: Kit, place: Path, seconds: float, *words: str) -> list[object]:
    return [
        *(kit.engine, "b-eff-io", "--memory-per-rank", "256MiB", "--partitions", "2", "--quiet"),
        *("--time", f"{seconds}s", "--dir", place, "-o", place / "r.jsonl", *words),
    ]


def rates_next_to_ours(kit: Kit, seconds: float) -> str:
    with kit.place() as place:
        return kit.launch([kit.bare("paired_b_eff_io"), place, seconds, TURNS])


def setup_of_engine(kit: Kit) -> Figures:
    with kit.place() as place:
        kit.launch(engine_words(kit, place, 0))
        return {"set-up": lines(place / "r.jsonl")[0]["setup_seconds"] * 1e3}


def peak(kit: Kit, words: list[object], place: Path) -> Figures:
    kit.launch(["python3", "-c", PEAK, place / "peak", *words])
    peaks = [int(line) / 1024 for line in (place / "peak").read_text().split()]
    return {"memory per rank": max(peaks)}


def peak_of_engine(kit: Kit) -> Figures:
    with kit.place() as place:
        return peak(kit, engine_words(kit, place, 0), place)


def peak_of_bare(kit: Kit) -> Figures:
    with kit.place() as place:
        return peak(kit, [kit.bare("bare_b_eff_io"), place, 0, LMAX], place)


def pairs(kit: Kit) -> list[Pair]:
    return [
        Pair(
            "b_eff_io rows",
            "the same rows alternately by the engine and bare in one process, files rewritten",
            *alternately(lambda: rates_next_to_ours(kit, TURN_UNIT), scale=1e-6),
            "MB/s",
            at_least=0.98,
            rounds=80,
        ),
        Pair(
            "b_eff_io set-up",
            "from MPI_Init to the first line of the result, 2 ranks",
            lambda: setup_of_engine(kit),
            lambda: {"set-up": 0.0},
            "ms",
            at_most=50,
            rounds=5,
        ),
        Pair(
            "b_eff_io memory",
            "peak of a rank beyond a bare program's; both have the two buffers of Lmax",
            lambda: peak_of_engine(kit),
            lambda: peak_of_bare(kit),
            "MiB",
            at_most=16,
            rounds=3,
        ),
    ]
