# SPDX-License-Identifier: BSD-3-Clause
"""Cost of timing a call, with the clock that the engine chooses on this machine."""

from __future__ import annotations

from harness import AbsentError, Kit, Pair, alternately

CALLS = 1_000_000
TURNS = 10
# The goal where a reading of the counter takes 10 ns. Where it takes longer, only the second pair
# shows what effio adds.
MOST_NANOSECONDS = 25
MOST_BEYOND_READINGS = 8


def paired(kit: Kit, reads: bool) -> str:
    with kit.place() as place:
        text = kit.launch([kit.bare("paired_clock"), place, CALLS, TURNS, int(reads)], 1)
    if not text.startswith("TSC"):
        raise AbsentError("effio does not use the processor's time stamp counter on this machine")
    return text


def pairs(kit: Kit) -> list[Pair]:
    untimed = alternately(lambda: paired(kit, False))
    reads = alternately(lambda: paired(kit, True))
    return [
        Pair(
            "timing a call",
            "a call timed into a histogram against the same call untimed",
            *untimed,
            "ns",
            at_most=MOST_NANOSECONDS,
            rounds=5,
        ),
        Pair(
            "timing a call readings",
            "a call timed into a histogram against only the two readings of the counter",
            *reads,
            "ns",
            at_most=MOST_BEYOND_READINGS,
            rounds=5,
        ),
    ]
