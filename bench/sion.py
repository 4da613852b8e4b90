# SPDX-License-Identifier: BSD-3-Clause
"""A container against bare pwrite and pread calls at the same places of one file."""

from __future__ import annotations

from functools import partial

from harness import Kit, Pair, in_turn

KIB = 1024
MIB = KIB * KIB
# What a container must reach of the bare loop's rate.
AT_LEAST = 0.98
SIZES = (("64 KiB", 64 * KIB), ("1 MiB", MIB))
# A rank's stream; how many times each writes and reads it in a process; processes.
BLOCK = 64 * MIB
TURNS = 6
ROUNDS = 100


def rates_beside(kit: Kit, where: str, transfer: int) -> str:
    with kit.place(where) as place:
        return kit.launch([kit.bare("beside_sion"), place, transfer, BLOCK, TURNS])


def pairs(kit: Kit) -> list[Pair]:
    return [
        Pair(
            f"sion {where} {name}",
            f"calls of {name} into a container and bare ones at the same places, 2 ranks, {where}",
            *in_turn(partial(rates_beside, kit, where, transfer), scale=1e-6),
            "MB/s",
            at_least=AT_LEAST,
            rounds=ROUNDS,
        )
        for where in ("tmpfs", "disk")
        for name, transfer in SIZES
    ]
