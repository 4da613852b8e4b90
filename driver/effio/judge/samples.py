# SPDX-License-Identifier: BSD-3-Clause
"""The same measurement in several runs: what makes it the same, and what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from effio.store.reader import Result
    from effio.store.records import Figure, Measurement

Scalar = str | int | float | bool


class Identity(Struct, frozen=True, array_like=True):
    """How a copy of a run is recognized: by the id in run.json and the start time, or, without
    run.json, by the checksum of the result. Equal results with different ids are different runs."""

    id: str  # empty without run.json
    content: str  # SHA-256 of the result

    @property
    def known(self) -> tuple[str, ...]:
        """Keys under which this run is stored."""
        content = (self.content,) if self.content else ()
        return (self.id, *content) if self.id else tuple(f"bare {one}" for one in content)

    @property
    def same(self) -> tuple[str, ...]:
        """Keys to look up: a run stored under one of them is the same run."""
        content = (self.content,) if self.content else ()
        bare = tuple(f"bare {one}" for one in content)
        return (self.id, *bare) if self.id else (*bare, *content)


def identity_of(result: Result) -> Identity:
    record, started = result.record, result.run.started
    return Identity(f"{record.id} {started}" if record and started else "", result.content)


@dataclass(frozen=True)
class Judged:
    """A run that is judged. `labels` are what the user says of it ("servers": "4")."""

    name: str
    path: Path
    result: Result
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def started(self) -> str:
        return self.result.run.started

    @property
    def identity(self) -> Identity:
        return identity_of(self.result)

    def named(self, name: str) -> Judged:
        return replace(self, name=name)


@dataclass(frozen=True)
class Side:
    """One of two sets of runs that are compared."""

    name: str
    runs: Sequence[Judged]


@dataclass(frozen=True)
class Key:
    """What is measured: equal keys are the same measurement. `axes` are in the order of names."""

    benchmark: str
    pattern: str
    access: str
    axes: tuple[tuple[str, Scalar], ...]

    def without(self, names: frozenset[str]) -> Key:
        """Without the distinction by these axes."""
        return Key(
            self.benchmark,
            "" if "pattern" in names else self.pattern,
            "" if "access" in names else self.access,
            tuple(axis for axis in self.axes if axis[0] not in names),
        )

    @property
    def what(self) -> str:
        return " ".join(word for word in (self.pattern, self.access) if word) or self.benchmark

    def axis(self, name: str) -> Scalar | None:
        return dict(self.axes).get(name)


@dataclass
class Sample:
    """All values of one measurement on one side; `values` by run, in the order of repetitions."""

    key: Key
    unit: str
    better: Literal["higher", "lower"]
    values: dict[str, list[float]] = field(default_factory=dict)
    runs: dict[str, Judged] = field(default_factory=dict)
    invalid: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    units: set[str] = field(default_factory=set)

    def all(self) -> list[float]:
        return [value for some in self.values.values() for value in some]

    def means(self) -> list[float]:
        """One value for each run, in the order of the runs."""
        return [sum(some) / len(some) for some in self.values.values() if some]


def _scalar(value: object) -> bool:
    return isinstance(value, (str, int, float, bool))


def _axes(where: Mapping[str, object], ranks: int, nodes: int) -> tuple[tuple[str, Scalar], ...]:
    reported = {name: value for name, value in where.items() if _scalar(value)}
    reported |= {"ranks": ranks, "nodes": nodes}
    return tuple(sorted(reported.items()))  # type: ignore[arg-type]


def key_of(m: Measurement) -> Key:
    return Key(m.benchmark, m.pattern, m.access, _axes(m.where, m.ranks, m.nodes))


def _figure_key(f: Figure, result: Result) -> Key:
    # Where the best was found is an outcome, no axis.
    system = result.run.system
    return Key(f.benchmark, f.name, "", _axes({}, system.ranks, system.nodes))


def _rates(run: Judged) -> Iterator[tuple[Key, Measurement | Figure]]:
    for m in run.result.measurements:
        yield key_of(m), m
    for f in run.result.figures:
        if run.result.is_number(f):
            yield _figure_key(f, run.result), f


def samples_of(runs: Sequence[Judged], across: frozenset[str] = frozenset()) -> dict[Key, Sample]:
    """The samples by key, in the order of their first appearance; `across` names axes that do not
    count."""
    from effio.store.records import Measurement

    found: dict[Key, Sample] = {}
    for run in runs:
        for whole, record in _rates(run):
            key = whole.without(across)
            metric = record.rate if isinstance(record, Measurement) else record.metric
            sample = found.get(key)
            if sample is None:
                sample = found[key] = Sample(key, metric.unit, metric.better)
            sample.runs[run.name] = run
            sample.units.add(metric.unit)
            if isinstance(record, Measurement) and record.cache is not None:
                sample.places.add(record.cache.verdict)
            if record.valid is False or metric.value is None:
                sample.invalid.append(_why(record))
            else:
                sample.values.setdefault(run.name, []).append(metric.value)
    return found


def _why(record: Measurement | Figure) -> str:
    from effio.store.records import Measurement

    if isinstance(record, Measurement):
        return record.invalid_reason or record.rate.reason or "invalid"
    return "; ".join(record.reasons) or record.metric.reason or "not valid"
