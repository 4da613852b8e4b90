# SPDX-License-Identifier: BSD-3-Clause
"""The order of the runs within a night, and drift: a rate that falls from run to run looks like a
difference between the sides unless they alternate, A B B A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from effio.judge import statistics
from effio.judge.blocks import start_of
from effio.judge.samples import Judged


@dataclass(frozen=True)
class Place:
    """A run: its night, its side (0 or 1), its position within the night, and its name."""

    night: int
    side: int
    at: int
    name: str


@dataclass(frozen=True)
class Slope:
    """Change of the logarithm from one run to the next, and the probability of such a slope without
    a drift."""

    change: float
    p: float

    @property
    def is_sure(self) -> bool:
        return self.p < statistics.SIGNIFICANCE


def interleaved_pairs(first: Sequence[Judged], second: Sequence[Judged]) -> list[tuple[str, str]]:
    """Pairs of run names, if each run of one side is next to a run of the other side in time, as in
    A B A B or A B B A; otherwise empty."""
    if len(first) != len(second) or len(first) < statistics.FEWEST:
        return []
    if any(len({run.result.benchmark for run in side}) != 1 for side in (first, second)):
        return []
    starts = [[run.result.run.started for run in side] for side in (first, second)]
    if any(not all(some) or len(set(some)) < len(some) or some != sorted(some) for some in starts):
        return []
    pairs = [sorted(pair) for pair in zip(*starts, strict=True)]
    if any(a == b for a, b in pairs) or not all(a[1] < b[0] for a, b in pairwise(pairs)):
        return []
    return [(a.name, b.name) for a, b in zip(first, second, strict=True)]


def places(sides: Sequence[Sequence[Judged]], nights: Sequence[Sequence[int]]) -> list[Place]:
    """The runs of those nights on which both sides ran, ordered by time."""
    found: dict[int, list[tuple[float, int, str]]] = {}
    for side, (runs, numbers) in enumerate(zip(sides, nights, strict=True)):
        for run, night in zip(runs, numbers, strict=True):
            if (at := start_of(run)) is not None:
                found.setdefault(night, []).append((at.timestamp(), side, run.name))
    return [
        Place(night, side, at, name)
        for night, some in sorted(found.items())
        if len({side for _, side, _ in some}) == 2
        for at, (_, side, name) in enumerate(sorted(some))
    ]


def leads(some: Sequence[Place]) -> list[float]:
    """For each night: by how many runs the second side ran later, on average."""
    found = []
    for night in sorted({p.night for p in some}):
        means = [
            np.mean([p.at for p in some if p.night == night and p.side == side]) for side in (0, 1)
        ]
        found.append(float(means[1] - means[0]))
    return found


def one_is_always_first(some: Sequence[Place]) -> bool:
    """Whether the same side ran earlier on every night, on average."""
    found = leads(some)
    return bool(found) and (min(found) > 0 or max(found) < 0)


def slope(values: Sequence[Mapping[str, float]], some: Sequence[Place]) -> Slope | None:
    """The common slope within nights of logarithms by side and name; each side has its own level on
    each night. None if there are too few runs."""
    known = [p for p in some if p.name in values[p.side]]
    groups: dict[tuple[int, int], list[Place]] = {}
    for place in known:
        groups.setdefault((place.night, place.side), []).append(place)
    at, logs = [], []
    for group in groups.values():
        own = [values[p.side][p.name] for p in group]
        at += [p.at - float(np.mean([q.at for q in group])) for p in group]
        logs += [value - float(np.mean(own)) for value in own]
    x, y = np.asarray(at), np.asarray(logs)
    freedom = len(known) - len(groups) - 1
    spread = float(x @ x)
    if freedom < 2 or spread <= 0:
        return None
    change = float(x @ y) / spread
    rest = y - change * x
    error = float(np.sqrt(rest @ rest / freedom / spread))
    if error <= 1e-12:
        return Slope(change, 0.0 if abs(change) > 1e-12 else 1.0)
    return Slope(change, statistics.two_sided(change / error, freedom))
