# SPDX-License-Identifier: BSD-3-Clause
"""Cost of data that neither compress nor repeat, against data that repeat every MiB."""

from __future__ import annotations

from harness import Kit, Pair, alternately

MEBIBYTES = 256
TURNS = 10


def paired(kit: Kit) -> str:
    with kit.place() as place:
        return kit.launch([kit.bare("paired_data"), place, MEBIBYTES, TURNS], 1)


def pairs(kit: Kit) -> list[Pair]:
    ours, theirs = alternately(lambda: paired(kit))
    return [
        Pair(
            "data",
            "writes of 1 MiB to memory: data that differ everywhere against data that repeat",
            ours,
            theirs,
            "B/s",
            at_least=0.97,
        )
    ]
