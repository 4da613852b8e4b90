# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign would take: every point planned by the engine, without I/O, and the total next to
the budget."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from effio import text as fmt
from effio.campaign.points import Point, option_of
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.store.records import as_count, as_number


@dataclass(frozen=True)
class Planned:
    """One run of a point: bytes that it writes and reads in all repetitions, the most that is on
    storage at any one time, files, seconds; None where the plan does not say. `kept`: its files
    stay for later runs. `plan` is empty where values follow from earlier results that are not there
    yet."""

    point: Point
    repetitions: int
    written: float | None = None
    read: float | None = None
    on_storage: float | None = None
    files: int | None = None
    seconds: float | None = None
    kept: bool = False
    plan: Mapping[str, object] = field(default_factory=dict)


def _number(told: Mapping[str, object], *names: str) -> float | None:
    return next((v for n in names if (v := as_number(told.get(n))) is not None), None)


def _rows(told: Mapping[str, object]) -> list[Mapping[str, object]]:
    """Passes of a study, phases of ior and mdtest: one repetition."""
    rows = told.get("cells", told.get("phases"))
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 1


def moved(
    options: Mapping[str, object], told: Mapping[str, object]
) -> tuple[float | None, float | None]:
    """Bytes that a run with these options writes and reads in all repetitions, by its plan."""
    if isinstance(groups := told.get("groups"), list):
        return _of_turns(told, groups)
    written, read = _number(told, "bytes_written"), _number(told, "bytes_read")
    repetitions = _number(told, "repetitions", "iterations") or 1
    if written is not None and read is not None:
        # FLASH I/O, whose plan has those of one repetition.
        times = as_number(options.get("repetitions")) or 1
        return times * written, times * read
    if rows := _rows(told):
        written = read = 0.0
        # overlap: each method does an operation alone and next to a computation.
        times = repetitions * (2 * _length(told["ways"]) if "ways" in told else 1)
        for row in rows:
            bytes_ = times * (as_number(row.get("bytes")) or 0)
            access = str(row.get("access", ""))
            if "modify" in access or access == "mixed":
                written, read = written + bytes_ / 2, read + bytes_ / 2
            elif "read" in access:
                read += bytes_
            else:
                written += bytes_
        return written, read
    once, rate = _number(told, "bytes_on_storage"), _number(told, "assumed_rate_bytes_per_second")
    seconds = _number(told, "expected_seconds")
    if "partitions" in told and once is not None and rate is not None and seconds is not None:
        # b_eff_io reads once what it writes at first; the rest of what it moves is rewriting.
        rounds = _number(told, "rounds") or 1
        return rate * seconds - rounds * once, rounds * once
    return None, None


def _of_turns(
    told: Mapping[str, object], groups: Sequence[object]
) -> tuple[float | None, float | None]:
    """Of interference: each group does its whole run in each of its turns."""
    written = read = 0.0
    turns = told.get("turns")
    for turn in turns if isinstance(turns, list) else []:
        for number in turn if isinstance(turn, list) else []:
            group = groups[number - 1]
            plan = group.get("plan") if isinstance(group, dict) else None
            one = moved({}, plan) if isinstance(plan, dict) else (None, None)
            if one[0] is None or one[1] is None:
                return None, None
            written, read = written + one[0], read + one[1]
    rounds = _number(told, "rounds") or 1
    return rounds * written, rounds * read


def _of(point: Point, repetitions: int, plan: object) -> Planned:
    told: Mapping[str, object] = plan if isinstance(plan, dict) else {}
    written, read = moved(point.options, told)
    on_storage = _number(told, "bytes_on_storage", "bytes")
    if on_storage is not None and written is not None:
        on_storage = min(on_storage, written)  # a stonewall; nothing if it only reads
    known = [
        v for n in ("scheduled_seconds", "expected_seconds") if (v := _number(told, n)) is not None
    ]
    files = told.get("files")
    return Planned(
        point,
        repetitions,
        written,
        read,
        on_storage,
        len(files) if isinstance(files, list) else as_count(files) or None,
        max(known, default=None),
        point.options.get("keep") not in (None, False),
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
        words = [point.step.benchmark, *point.words(plan=True), *(more if takes else ())]
        try:
            told = engine.check(words, point.ranks.total, point.ranks.per_node)
        except EffioError as error:
            raise EffioError(f"{point.title}: {error.message}", error.code, error.hint) from None
        return _of(point, repetitions, told)

    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(one, points))


@dataclass(frozen=True)
class Total:
    """All runs of all points. `on_storage`: kept files add up, of all others the most counts."""

    runs: int
    written: float
    read: float
    on_storage: float
    seconds: float
    unknown: int  # points of which the plan says no time


def total(planned: Sequence[Planned]) -> Total:
    kept = sum(p.on_storage or 0 for p in planned if p.kept)
    return Total(
        sum(p.repetitions for p in planned),
        sum((p.written or 0) * p.repetitions for p in planned),
        sum((p.read or 0) * p.repetitions for p in planned),
        kept + max((p.on_storage or 0 for p in planned if not p.kept), default=0),
        sum((p.seconds or 0) * p.repetitions for p in planned),
        sum(p.seconds is None for p in planned),
    )


def over_budget(sum_of: Total, bytes_: int | None, seconds: float | None) -> list[str]:
    """What exceeds the budget, in words."""
    words = []
    if bytes_ is not None and sum_of.written > bytes_:
        words.append(f"{fmt.size(sum_of.written)} written, the budget is {fmt.size(bytes_)}")
    if seconds is not None and sum_of.seconds > seconds:
        words.append(f"about {fmt.duration(sum_of.seconds)}, the budget is {fmt.duration(seconds)}")
    return words
