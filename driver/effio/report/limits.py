# SPDX-License-Identifier: BSD-3-Clause
"""The limits that a probe has found, and another run as a percentage of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from effio import text as fmt
from effio.errors import EffioError
from effio.report.common.keys import keys_of
from effio.report.common.names import context_of, is_message, operation_bytes
from effio.report.model import Cell, Column, Quantity, Section, table_of
from effio.report.parts import quantity
from effio.store.reader import Result
from effio.store.records import Figure, Measurement


@dataclass(frozen=True)
class Limit:
    """The most that a measurement can reach, in the unit of its rate. `name` says what it is, or
    from what it follows: "2 nodes × 1.6 GB/s"."""

    name: str
    rate: float


LimitOf = Callable[[Measurement], "Limit | None"]

# Figures of limits, by unit: B/s, op/s and s.
_FIGURES = ("bandwidth_limit", "operation_limit", "latency_limit")
SMALL_READS = "random reads of 4 KiB"
_SMALL = 4096
# mdtest's accesses.
_NAMES = {"create": "files created", "stat": "files looked up", "remove": "files removed"}


def limits_of(result: Result) -> list[Figure]:
    return [f for f in result.figures if f.name in _FIGURES]


@dataclass(frozen=True)
class Probe:
    """A probe run: where it ran, and its limits by name."""

    name: str
    result: Result
    limits: Mapping[str, Figure]

    @classmethod
    def of(cls, name: str, result: Result) -> Probe:
        limits = {
            fmt.plain(f.where.get("limit", ""), 60): f
            for f in limits_of(result)
            if f.valid is not False and f.metric.value is not None and f.metric.value > 0
        }
        if result.benchmark != "probe" or not limits:
            raise EffioError(f"{name} is not a run of probe, or has no valid limits")
        return cls(name, result, limits)

    def ceilings(self) -> dict[str, float]:
        """Ceilings for the roofline: what all processes reach."""
        found = {}
        for access in ("write", "read"):
            f = self.limits.get(f"stream {access}, all processes")
            if f is not None and f.metric.value is not None:
                found[f"probe: {access} by all"] = f.metric.value
        return found

    def limit_of(self, m: Measurement) -> Limit | None:
        """The limit that holds for a measurement, in its unit."""
        if is_message(m):
            return None
        if m.rate.unit == "op/s":
            name = _NAMES.get(m.access, "") if m.pattern == "file" else ""
            return self._value(name)
        # No probe mixes reads and writes.
        if m.rate.unit != "B/s" or m.access == "mixed":
            return None
        access = "read" if "read" in m.access else "write"
        each = operation_bytes(m)
        if access == "read" and 0 < each <= _SMALL:
            found = self._value(SMALL_READS)
            return Limit(found.name, found.rate * each) if found is not None else None
        who = "one process" if m.ranks == 1 else "all processes"
        return self._value(f"stream {access}, {who}")

    def _value(self, name: str) -> Limit | None:
        f = self.limits.get(name)
        return Limit(name, f.metric.value) if f is not None and f.metric.value else None

    def differences(self, result: Result) -> list[str]:
        """How the probe's place differs from that of the run."""
        mine, its = self.result.run, result.run
        found = []
        if mine.system.node_names != its.system.node_names:
            found.append("other nodes")
        if mine.system.ranks != its.system.ranks:
            ranks = fmt.count_of(mine.system.ranks, "rank")
            found.append(f"{ranks}, not {its.system.ranks}")
        a, b = mine.file_system, its.file_system
        if a and b and (a.source, a.mount_point, a.type) != (b.source, b.mount_point, b.type):
            found.append("another file system")
        return found


_Limited = tuple[Measurement, Limit]


def share_section(
    identity: str, title: str, limit_of: LimitOf, result: Result, limit: str, caption: str
) -> Section | None:
    """Rates as a percentage of their `limit`: a row for each measurement that has one; None where
    none has."""
    cells = [m for m in result.measurements if m.valid and (m.rate.value or 0) > 0]
    limited = [(m, found) for m in cells if (found := limit_of(m)) is not None]
    if not limited:
        return None

    def of_measurement(cell: Callable[[Measurement], Cell]) -> Callable[[_Limited], Cell]:
        return lambda row: cell(row[0])

    table = table_of(
        limited,
        [
            *((column, of_measurement(of)) for column, of in keys_of(cells)),
            (Column("rate"), lambda row: quantity(row[0].rate.value, row[0].rate.unit)),
            (
                Column(f"of the {limit}", "1", "%", 3),
                lambda row: (row[0].rate.value or 0.0) / row[1].rate,
            ),
            (Column(limit), lambda row: row[1].name),
            (Column("which is"), lambda row: Quantity(row[1].rate, row[0].rate.unit)),
        ],
        title,
        caption,
    )
    return Section(identity, title, [table])


def section_of(probe: Probe, result: Result) -> Section | None:
    """Every rate of the run as a percentage of its limit; none where no limit applies."""
    run = probe.result.run
    where = f"Limits of {probe.name}: {context_of(probe.result)}, {run.started}."
    differences = probe.differences(result)
    if differences:
        where += f" NOT THE SAME PLACE: the probe ran with {', '.join(differences)}."
    where += " More than 100 % came out of a cache, or the probe met a busy system."
    title = "Per cent of the probe's limits"
    return share_section("probe", title, probe.limit_of, result, "limit", where)
