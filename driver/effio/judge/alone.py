# SPDX-License-Identifier: BSD-3-Clause
"""Measurements that only one side of a comparison has, each with the reason: how the nearest one of
the other side differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from effio.judge.samples import Key, Sample


@dataclass(frozen=True)
class Alone:
    """What one side has and the other has not."""

    key: Key
    side: str
    why: str


def alone_in(mine: Mapping[Key, Sample], other: Mapping[Key, Sample], name: str) -> list[Alone]:
    """The measurements of `mine`, the side `name`, that the other side has not."""
    alike: dict[tuple[str, str, str], list[Key]] = {}
    for key in other:
        alike.setdefault((key.benchmark, key.pattern, key.access), []).append(key)
    benchmarks = {key.benchmark for key in other}
    return [
        Alone(key, name, _why_alone(key, alike, benchmarks)) for key in mine if key not in other
    ]


def _why_alone(
    key: Key, alike: Mapping[tuple[str, str, str], Sequence[Key]], benchmarks: set[str]
) -> str:
    """Why a measurement is alone, by the nearest measurement of the other side."""
    if key.benchmark not in benchmarks:
        return f"the other side has no {key.benchmark}"
    candidates = alike.get((key.benchmark, key.pattern, key.access), ())
    if not candidates:
        return f"the other side has no {key.what}"
    nearest = min(candidates, key=lambda c: len(_differing(key, c)))
    options = [
        f"{n} {_shown(key.axis(n))} / {_shown(nearest.axis(n))}" for n in _differing(key, nearest)
    ]
    return f"the nearest one there differs in {', '.join(options)}"


def _shown(value: object) -> str:
    return "–" if value is None else str(value)


def _differing(a: Key, b: Key) -> list[str]:
    one, other = dict(a.axes), dict(b.axes)
    return [name for name in {**one, **other} if one.get(name) != other.get(name)]
