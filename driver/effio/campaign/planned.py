# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign would take: every point planned by the engine, without I/O, and the total next to
the budget."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from msgspec import Struct, field

from effio import text as fmt
from effio.campaign.points import Point
from effio.engine.program import Command, Engine
from effio.errors import EffioError
from effio.store.values import as_count, as_number

# Points that one start of the engine plans.
_AT_ONCE = 1000


class Range(Struct, frozen=True):
    """A number of a plan: at the assumed rate, and the least and the most by its assumption."""

    least: float
    expected: float
    most: float


def expected(planned: Range | None) -> float | None:
    """The number at the assumed rate; None where the plan does not state it."""
    return None if planned is None else planned.expected


class Planned(Struct, frozen=True):
    """One run of a point: bytes that it writes and reads, the most that is on storage at any one
    time, files, seconds; None where the plan does not say. `kept`: its files stay for later runs.
    `plan` is empty where values follow from earlier results that are not there yet."""

    point: Point
    repetitions: int
    written: Range | None = None
    read: Range | None = None
    on_storage: float | None = None
    files: int | None = None
    seconds: Range | None = None
    assumes: str = ""
    kept: bool = False
    plan: Mapping[str, object] = field(default_factory=dict)


def _members(parent: object, name: str) -> Mapping[str, object]:
    found = parent.get(name) if isinstance(parent, dict) else None
    return found if isinstance(found, dict) else {}


def _range(estimate: object, name: str) -> Range | None:
    members = _members(estimate, name)
    least, middle = as_number(members.get("least")), as_number(members.get("expected"))
    most = as_number(members.get("most"))
    if least is None or middle is None or most is None:
        return None
    return Range(least, middle, most)


def _of(point: Point, repetitions: int, plan: object) -> Planned:
    members: Mapping[str, object] = plan if isinstance(plan, dict) else {}
    estimate = _members(members, "estimate")
    seconds = _range(estimate, "seconds")
    scheduled = as_number(members.get("scheduled_seconds"))
    if seconds is not None and scheduled is not None:
        longest = max(scheduled, seconds.expected)
        seconds = Range(seconds.least, longest, max(longest, seconds.most))
    return Planned(
        point,
        repetitions,
        _range(estimate, "bytes_written"),
        _range(estimate, "bytes_read"),
        as_number(estimate.get("bytes_on_storage")),
        as_count(estimate.get("files")) or None,
        seconds,
        str(estimate.get("assumes", "")),
        point.options.get("keep") not in (None, False),
        members,
    )


def plan(
    points: Sequence[tuple[Point, int]],
    engine_of: Mapping[str | None, Engine],
    machine: Mapping[str, str] | None = None,
) -> list[Planned]:
    """`machine`: what is known of the machine to plan for, by the engine's option. Raises with the
    engine's own words for the first point that it refuses."""
    more = [f"--{option}={value}" for option, value in (machine or {}).items() if value]

    def command(point: Point) -> Command:
        info = engine_of[point.engine].info.benchmark(point.step.benchmark)
        takes = info is not None and "plan-rate" in info.by_name
        words = [point.step.benchmark, *point.words(plan=True), *(more if takes else [])]
        return Command(words, point.ranks.total, point.ranks.per_node)

    of_engine: dict[str | None, list[int]] = {}
    for number, (point, _) in enumerate(points):
        if not point.late:
            of_engine.setdefault(point.engine, []).append(number)
    parts = [
        (engine_of[engine], numbers[start : start + _AT_ONCE])
        for engine, numbers in of_engine.items()
        for start in range(0, len(numbers), _AT_ONCE)
    ]

    def ask(part: tuple[Engine, list[int]]) -> list[Planned | EffioError]:
        engine, numbers = part
        answers = engine.check_all([command(points[number][0]) for number in numbers])
        return [_found(*points[n], answer) for n, answer in zip(numbers, answers, strict=True)]

    # One more than can compute: a part is read while others are planned.
    with ThreadPoolExecutor(1 + min(8, os.cpu_count() or 1)) as pool:
        answers = list(pool.map(ask, parts))
    found: dict[int, Planned | EffioError] = {}
    for (_, numbers), plans in zip(parts, answers, strict=True):
        found.update(zip(numbers, plans, strict=True))
    planned: list[Planned] = []
    for number, wanted in enumerate(points):
        one = found.get(number) or Planned(*wanted)
        if isinstance(one, EffioError):
            raise one
        planned.append(one)
    return planned


def _found(point: Point, repetitions: int, plan: object) -> Planned | EffioError:
    if isinstance(plan, EffioError):
        return EffioError(f"{point.title}: {plan.message}", plan.code, plan.hint)
    return _of(point, repetitions, plan)


@dataclass(frozen=True)
class Total:
    """All runs of all points. `on_storage`: kept files add up, of all others the most counts."""

    runs: int
    written: float
    read: float
    on_storage: float
    seconds: Range
    unknown: int  # points of which the plan says no time
    assumes: str


def total(planned: Sequence[Planned]) -> Total:
    def seconds(p: Planned) -> Range:
        return p.seconds or Range(0, 0, 0)

    kept = sum(p.on_storage or 0 for p in planned if p.kept)
    return Total(
        sum(p.repetitions for p in planned),
        sum(p.written.expected * p.repetitions for p in planned if p.written),
        sum(p.read.expected * p.repetitions for p in planned if p.read),
        kept + max((p.on_storage or 0 for p in planned if not p.kept), default=0),
        Range(
            sum(seconds(p).least * p.repetitions for p in planned),
            sum(seconds(p).expected * p.repetitions for p in planned),
            sum(seconds(p).most * p.repetitions for p in planned),
        ),
        sum(p.seconds is None for p in planned),
        next((p.assumes for p in planned if p.assumes), ""),
    )


def over_budget(sum_of: Total, bytes_: int | None, seconds: float | None) -> list[str]:
    """What exceeds the budget, in words: bytes written and seconds, as expected."""
    words = []
    if bytes_ is not None and sum_of.written > bytes_:
        words.append(f"{fmt.size(sum_of.written)} written, the budget is {fmt.size(bytes_)}")
    longest = sum_of.seconds.expected
    if seconds is not None and longest > seconds:
        words.append(f"about {fmt.duration(longest)}, the budget is {fmt.duration(seconds)}")
    return words
