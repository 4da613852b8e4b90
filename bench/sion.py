# SPDX-License-Identifier: BSD-3-Clause
"""A container against bare pwrite and pread calls at the same places of one file; and partest's
container against that of the original, where EFFIO_BENCH_PARTEST names its program."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial

from harness import BenchError, Figures, Kit, Pair, alternately

KIB = 1024
MIB = KIB * KIB
# What a container must reach of the bare loop's rate.
AT_LEAST = 0.98
SIZES = (("64 KiB", 64 * KIB), ("1 MiB", MIB))
# A rank's stream; how many times each writes and reads it in a process; processes.
BLOCK = 64 * MIB
TURNS = 6
ROUNDS = 100


def rates_next_to_ours(kit: Kit, where: str, transfer: int) -> str:
    with kit.place(where) as place:
        return kit.launch([kit.bare("paired_sion"), place, transfer, BLOCK, TURNS])


def totals_in(text: str, program: str) -> Figures:
    """MB/s of the lines of all tasks, which come first for writing, then for reading."""
    lines = [line for line in text.splitlines() if "T_STAT" in line and "TOTAL" in line]
    rates = [float(found[1]) for line in lines if (found := re.search(r"bw=\s*([\d.]+)", line))]
    if len(rates) != 2:
        raise BenchError(f"{program} prints no totals of its writes and reads")
    return dict(zip(("write", "read"), rates, strict=True))


def rates_by_its_line(kit: Kit, program: Sequence[object], where: str, transfer: int) -> Figures:
    """Its lines go to stderr."""
    with kit.place(where) as place:
        words = ["-f", place / "c.sion", "-T", 0, "-L", "-C", "-q", "64K", "-X"]
        words += ["-s", BLOCK, "-r", BLOCK, "-b", transfer]
        text = kit.launch(["sh", "-c", 'exec "$@" 2>&1', "sh", *program, *words])
    return totals_in(text, str(program[0]))


def next_to_the_original(kit: Kit, original: str) -> list[Pair]:
    drop_in = [kit.engine, "classic", "partest"]
    return [
        Pair(
            f"sion {where} {name} original",
            f"the same command line by classic partest and by {original}, 2 ranks, {where}",
            partial(rates_by_its_line, kit, drop_in, where, transfer),
            partial(rates_by_its_line, kit, [original], where, transfer),
            "MB/s",
            at_least=1,
            rounds=15,
        )
        for where in ("tmpfs", "disk")
        for name, transfer in SIZES
    ]


def pairs(kit: Kit) -> list[Pair]:
    original = os.environ.get("EFFIO_BENCH_PARTEST")
    found = next_to_the_original(kit, original) if original else []
    return found + [
        Pair(
            f"sion {where} {name}",
            f"calls of {name} into a container and bare ones at the same places, 2 ranks, {where}",
            *alternately(partial(rates_next_to_ours, kit, where, transfer), scale=1e-6),
            "MB/s",
            at_least=AT_LEAST,
            rounds=ROUNDS,
        )
        for where in ("tmpfs", "disk")
        for name, transfer in SIZES
    ]
