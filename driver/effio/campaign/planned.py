# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign would take: every point planned by the engine, without I/O, and the total next to
the budget."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from effio import text as fmt
from effio.campaign.expression import meaning
from effio.campaign.points import Point, option_of
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.store.records import as_count, as_number


@dataclass(frozen=True)
class Planned:
    """One run of a point: bytes that it writes, files, seconds; None where the plan does not say.
    `plan` is empty where values follow from earlier results that are not there yet."""

    point: Point
    repetitions: int
    bytes: float | None = None
    files: int | None = None
    seconds: float | None = None
    plan: Mapping[str, object] = field(default_factory=dict)


def _of(point: Point, repetitions: int, plan: object) -> Planned:
    told: Mapping[str, object] = plan if isinstance(plan, dict) else {}

    def number(*names: str) -> float | None:
        return next((v for n in names if (v := as_number(told.get(n))) is not None), None)

    written = number("bytes_written")
    if written is None and (once := number("bytes_on_storage", "bytes")) is not None:
        written = once * (number("repetitions") or 1)
    phases = told.get("phases")
    if isinstance(phases, list) and not any(
        str(p.get("access", "")).startswith(("write", "rewrite", "create"))
        for p in phases
        if isinstance(p, dict)
    ):
        written = 0.0  # it only reads
    cap = as_number(meaning(point.options.get("max-bytes", "")))
    if written is not None and cap:
        written = min(written, cap)
    known = [v for n in ("scheduled_seconds", "expected_seconds") if (v := number(n)) is not None]
    files = told.get("files")
    return Planned(
        point,
        repetitions,
        written,
        len(files) if isinstance(files, list) else as_count(files) or None,
        max(known, default=None),
        told,
    )


def plan(
    points: Sequence[tuple[Point, int]], engine_of: Mapping[str | None, Engine], rate: str = ""
) -> list[Planned]:
    """Raises with the engine's own words for the first point that it refuses."""
    more = (f"--plan-rate={rate}",) if rate else ()

    def one(wanted: tuple[Point, int]) -> Planned:
        point, repetitions = wanted
        if point.late:
            return Planned(point, repetitions)
        engine = engine_of[point.engine]
        info = engine.info.benchmark(point.step.benchmark)
        takes = info is not None and option_of(info, "plan-rate") is not None
        words = [point.step.benchmark, *point.words(), *(more if takes else ())]
        try:
            told = engine.check(words, point.ranks.total, point.ranks.per_node)
        except EffioError as error:
            raise EffioError(f"{point.title}: {error.message}", error.code, error.hint) from None
        return _of(point, repetitions, told)

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(one, points))


@dataclass(frozen=True)
class Total:
    runs: int
    bytes: float
    seconds: float
    unknown: int  # points of which the plan says no time


def total(planned: Sequence[Planned]) -> Total:
    return Total(
        sum(p.repetitions for p in planned),
        sum((p.bytes or 0) * p.repetitions for p in planned),
        sum((p.seconds or 0) * p.repetitions for p in planned),
        sum(p.seconds is None for p in planned),
    )


def over_budget(sum_of: Total, bytes_: int | None, seconds: float | None) -> list[str]:
    """What exceeds the budget, in words."""
    words = []
    if bytes_ is not None and sum_of.bytes > bytes_:
        words.append(f"{fmt.size(sum_of.bytes)} written, the budget is {fmt.size(bytes_)}")
    if seconds is not None and sum_of.seconds > seconds:
        words.append(f"about {fmt.duration(sum_of.seconds)}, the budget is {fmt.duration(seconds)}")
    return words
