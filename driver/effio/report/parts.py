# SPDX-License-Identifier: BSD-3-Clause
"""A benchmark's report as lists: functions for its findings, and sections with functions for their
blocks. A function without anything to say returns None, an empty list or a table without rows; it
is left out, and so is a section without blocks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from effio import text as fmt
from effio.report.common.names import unique
from effio.report.model import Block, Figure, Finding, Quantity, Section, Table
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement
from effio.store.values import as_count

# What a report is made of: a result, or what a benchmark's own module makes of it.
Subject = TypeVar("Subject")
Finder = Callable[[Subject], "Finding | Sequence[Finding] | None"]
Maker = Callable[[Subject], "Block | Sequence[Block] | None"]


@dataclass(frozen=True)
class Part(Generic[Subject]):
    """A section and the functions that make its blocks."""

    id: str
    title: str
    blocks: Sequence[Maker[Subject]]
    show: bool = True


def found(finders: Sequence[Finder[Subject]], subject: Subject) -> list[Finding]:
    findings: list[Finding] = []
    for find in finders:
        one = find(subject)
        findings += [one] if isinstance(one, Finding) else one or []
    return findings


def shown(makers: Sequence[Maker[Subject]], subject: Subject) -> list[Block]:
    blocks: list[Block] = []
    for make in makers:
        one = make(subject)
        blocks += [one] if isinstance(one, Table | Figure | str) else one or []
    return [b for b in blocks if not isinstance(b, Table) or b.rows]


def sections_of(parts: Sequence[Part[Subject]], subject: Subject) -> list[Section]:
    made = [(part, shown(part.blocks, subject)) for part in parts]
    return [Section(p.id, p.title, blocks, show=p.show) for p, blocks in made if blocks]


def out_of_time(asked: int, of_them: str, place: str) -> Finding:
    """What --time-limit left out of a run. `of_them` says it of the repetitions."""
    count = fmt.count_of(asked, "repetition")
    text = f"--time-limit was over before all was measured: of {count}, {of_them}."
    return Finding(text, place, "warn")


class PartsReporter:
    """The findings and sections of a reporter that consists of lists."""

    finders: Sequence[Finder[Result]] = ()
    parts: Sequence[Part[Result]] = ()

    def findings(self, result: Result) -> Sequence[Finding]:
        return found(self.finders, result)

    def sections(self, result: Result) -> Sequence[Section]:
        return sections_of(self.parts, result)


def valid(result: Result, access: str = "") -> list[Measurement]:
    """The valid measurements, of all accesses or of one."""
    return [m for m in result.measurements if m.valid and access in ("", m.access)]


def known(result: Result, name: str) -> list[FigureRecord]:
    """The figures with this name that have a value."""
    return [f for f in result.figures_named(name) if f.metric.value is not None]


def differing(places: Sequence[Mapping[str, Any]]) -> list[str]:
    """The coordinates in which these places are not all equal."""
    names = unique(name for place in places for name in place)
    return [name for name in names if len({place.get(name) for place in places}) > 1]


def value_of(f: FigureRecord | None) -> float:
    """Its value; 0 if there is none."""
    return (f.metric.value or 0.0) if f is not None else 0.0


def quantity(value: float | None, unit: str) -> Quantity | None:
    """For a column whose cells have different units."""
    return None if value is None else Quantity(value, unit)


def word(record: FigureRecord | Measurement, name: str, most: int = 40) -> str:
    """A coordinate as text of at most `most` letters; empty if there is none."""
    return fmt.plain(record.where.get(name, ""), most)


def number(record: FigureRecord | Measurement, name: str) -> int:
    """A coordinate as a count; 0 if there is none."""
    return as_count(record.where.get(name))


def member(path: str) -> Callable[[FigureRecord | Measurement], Any]:
    """For a column: a member that the engine describes, or one of its parts ("steady.reached")."""
    names = path.split(".")

    def of(record: FigureRecord | Measurement) -> Any:
        value: Any = members_of(record)
        for name in names:
            value = value.get(name) if isinstance(value, dict) else getattr(value, name)
        return value

    return of


def value_at(
    result: Result, name: str, key: Callable[[FigureRecord], Hashable]
) -> Callable[[FigureRecord], float | None]:
    """For a column: the value that a figure `name` has at the place of a figure. Equal keys are
    the same place."""
    values = {key(f): f.metric.value for f in result.figures_named(name)}
    return lambda f: values.get(key(f))
