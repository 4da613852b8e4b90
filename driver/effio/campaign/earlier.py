# SPDX-License-Identifier: BSD-3-Clause
"""Values that a step takes from the results of an earlier one: the smallest file of a write step,
perhaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean

from effio.campaign.expression import Value, meaning
from effio.campaign.file import Earlier
from effio.campaign.points import Point
from effio.store.reader import Result
from effio.store.records import Measurement
from effio.store.values import as_number

_PICKS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "mean": fmean,
    "last": lambda numbers: numbers[-1],
}


class NoValueError(Exception):
    """Why a value cannot be had; the step that asks for it is not run."""


def values_of(point: Point, results: Sequence[tuple[Point, Result]]) -> dict[str, Value]:
    """All values that the step of a point takes. `results` are of the steps that it waits for."""
    return {name: value_of(name, e, results, point) for name, e in point.step.earlier.items()}


def value_of(
    name: str,
    earlier: Earlier,
    results: Sequence[tuple[Point, Result]],
    point: Point | None = None,
) -> int | float:
    """`point` is who asks, if it is one that others have to match."""
    some = [
        (other.step.name, result)
        for other, result in results
        if other.step.name == earlier.step
        and (point is None or _alike(other, point, earlier.match))
    ]
    return value_in(name, earlier, some)


def value_in(name: str, earlier: Earlier, results: Sequence[tuple[str, Result]]) -> int | float:
    """The same of results with the names of their steps."""
    numbers = [
        number
        for step, result in results
        if step == earlier.step
        for number in _numbers(earlier, result)
    ]
    if not numbers:
        what = (
            f"figure {earlier.figure} with a value" if earlier.figure else f"valid {earlier.take}"
        )
        raise NoValueError(f"'{name}': step {earlier.step} has no {what}")
    value = float(_PICKS[earlier.pick](numbers))
    return int(value) if value == int(value) else value


def is_not_valid(earlier: Earlier, results: Sequence[tuple[str, Result]]) -> bool:
    """Whether one of the figures that the value is taken from breaks the rules of its definition.
    It is taken all the same: a scaled campaign has no other."""
    return bool(earlier.figure) and any(
        figure.valid is False and figure.metric.value is not None
        for step, result in results
        if step == earlier.step
        for figure in result.figures_named(earlier.figure)
        if _fits(earlier.where, figure.where)
    )


def _alike(one: Point, other: Point, axes: Sequence[str]) -> bool:
    return all(meaning(one.axes[a]) == meaning(other.axes[a]) for a in axes)


def _numbers(earlier: Earlier, result: Result) -> Iterator[float]:
    if earlier.figure:
        for figure in result.figures_named(earlier.figure):
            value = figure.metric.value
            if value is not None and _fits(earlier.where, figure.where):
                yield value
        return
    for m in result.measurements:
        if m.valid and earlier.access in (None, m.access) and _fits(earlier.where, m.where):
            number = _taken(earlier.take, m)
            if number is not None:
                yield number


def _fits(wanted: Mapping[str, Value], where: Mapping[str, object]) -> bool:
    return all(where.get(name) == value for name, value in wanted.items())


def _taken(take: str, m: Measurement) -> float | None:
    table, *members = take.split(".")
    if members:
        found: object = {"where": m.where, "detail": m.detail}.get(table)
        for member in members:
            found = found.get(member) if isinstance(found, dict) else None
        return as_number(found)
    own = {
        "bytes": m.bytes,
        "operations": m.operations,
        "seconds": m.total_seconds,
        "rate": m.rate.value,
    }
    return as_number(own.get(take))
