# SPDX-License-Identifier: BSD-3-Clause
"""Cost of timing a call, with the clock that the engine chooses on this machine."""

from __future__ import annotations

from harness import AbsentError, Kit, Pair, in_turn

CALLS = 1_000_000
TURNS = 10
MOST_NANOSECONDS = 25


def beside(kit: Kit) -> str:
    with kit.place() as place:
        text = kit.launch([kit.bare("beside_clock"), place, CALLS, TURNS], 1)
    if not text.startswith("TSC"):
        raise AbsentError("effio does not use the processor's time stamp counter on this machine")
    return text


def pairs(kit: Kit) -> list[Pair]:
    ours, theirs = in_turn(lambda: beside(kit))
    return [
        Pair(
            "timing a call",
            "a call timed into a histogram against the same call untimed",
            ours,
            theirs,
            "ns",
            at_most=MOST_NANOSECONDS,
            rounds=5,
        )
    ]
