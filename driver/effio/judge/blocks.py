# SPDX-License-Identifier: BSD-3-Clause
"""Blocks: runs that share a night or an allocation, and with it their luck.

Which files are on which disk, and who else is at work, is the same for all runs of a night. More
runs of the same night do not average that out; other nights do. So runs are grouped by night, and
the values that are compared are those of nights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from effio.judge.samples import Judged

# Runs that start closer together than this belong to one night.
APART = timedelta(hours=6)
# However closely they follow each other, a block is no longer than this.
LONGEST = timedelta(hours=24)
FEWEST = 2


def _start(run: Judged) -> datetime | None:
    text = run.result.run.started
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
    except ValueError:
        return None


def blocks_of(runs: Sequence[Judged]) -> dict[str, int]:
    """The number of its block for each run, by name. Runs in virtual time know no night: each is a
    block of its own. Runs that do not say when they started are one block together."""
    found: dict[str, int] = {}
    timed = sorted(
        ((at, run.name) for run in runs if (at := _start(run)) is not None), key=_by_start
    )
    number, first, last = 0, None, None
    for at, name in timed:
        if first is None or last is None or at - last > APART or at - first > LONGEST:
            number, first = number + 1, at
        last = at
        found[name] = number
    for run in runs:
        if run.result.run.clock.virtual:
            number += 1
            found[run.name] = number
    return {run.name: found.get(run.name, 0) for run in runs}


def _by_start(timed: tuple[datetime, str]) -> tuple[float, str]:
    return timed[0].timestamp(), timed[1]


def means_by_block(values: Mapping[str, float], blocks: Mapping[str, int]) -> dict[int, float]:
    """Of logarithms of rates of runs, by name."""
    groups: dict[int, list[float]] = {}
    for name, value in values.items():
        groups.setdefault(blocks[name], []).append(value)
    return {block: sum(some) / len(some) for block, some in sorted(groups.items())}


def one_is_always_first(first: Sequence[Judged], second: Sequence[Judged]) -> bool:
    """Whether, on every night on which both sides ran, the same side ran earlier, on average. A
    drift within nights looks like a difference of the sides then; A B B A has none."""
    runs = [*first, *second]
    numbered = [Judged(str(i), run.path, run.result) for i, run in enumerate(runs)]
    nights: dict[int, list[tuple[float, bool]]] = {}
    for name, block in blocks_of(numbered).items():
        at = _start(numbered[int(name)])
        if at is not None:
            nights.setdefault(block, []).append((at.timestamp(), int(name) >= len(first)))
    leads = []
    for some in nights.values():
        order = [late for _, late in sorted(some)]
        if any(order) and not all(order):
            places: list[list[int]] = [[], []]
            for place, late in enumerate(order):
                places[late].append(place)
            means = [sum(p) / len(p) for p in places]
            leads.append(means[1] - means[0])
    return bool(leads) and (min(leads) > 0 or max(leads) < 0)
