# SPDX-License-Identifier: BSD-3-Clause
"""Cells of studies against bare programs that make the same calls, alternating in one process."""

from __future__ import annotations

from functools import partial

from harness import Kit, Pair, alternately

MIB = 1024 * 1024
# Number of the study in paired_studies: what it is, bytes of a rank, what its rate must reach of
# the bare one's.
STUDIES = (
    ("tile", 0, "one MPI-IO call through a view: a tile", 16 * MIB, 0.98),
    ("nested", 1, "one MPI-IO call through a view: nested strides", 16 * MIB, 0.98),
    ("random", 2, "calls of 4 KiB at random places of a file of each rank", 32 * MIB, 0.97),
    ("small", 3, "files of 4624 bytes opened, moved and closed", 4 * MIB, 0.97),
)
TURNS = 6
ROUNDS = 100


def rates(kit: Kit, where: str, study: int, size: int) -> str:
    with kit.place(where) as place:
        return kit.launch([kit.bare("paired_studies"), place, study, size, TURNS])


def pairs(kit: Kit) -> list[Pair]:
    return [
        Pair(
            f"studies {where} {name}",
            f"{what}: by the frame and bare alternately, 2 ranks, {where}",
            *alternately(partial(rates, kit, where, study, size), scale=1e-6),
            "MB/s",
            at_least=at_least,
            rounds=ROUNDS,
        )
        for where in ("tmpfs", "disk")
        for name, study, what, size, at_least in STUDIES
    ]
