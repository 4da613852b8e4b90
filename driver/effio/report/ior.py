# SPDX-License-Identifier: BSD-3-Clause
"""Tells of ior: the rates, how they went by time, how equal the ranks were, and what a transfer
size costs. docs/benchmarks/ior.md says how to read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from effio import text as fmt
from effio.report import common, generic
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Section,
    Series,
    Table,
)
from effio.store.reader import Result
from effio.store.records import Measurement, as_number

# A spread of the ranks' rates beyond this is worth a sentence.
_UNEQUAL = 1.5
_WIDE = 0.1


def _part(m: Measurement, name: str) -> dict[str, Any]:
    """A member of the detail that is an object; nothing if it is not."""
    value = m.detail.get(name)
    return value if isinstance(value, dict) else {}


def _transfer(m: Measurement) -> float:
    return m.number("transfer_bytes")


def _name(m: Measurement) -> str:
    return f"{m.access} {fmt.quantity(_transfer(m), 'B')}, repetition {m.repetition + 1}"


def _rates(measurements: Sequence[Measurement]) -> list[float]:
    return [m.rate.value for m in measurements if m.valid and m.rate.value is not None]


def results_table(measurements: Sequence[Measurement]) -> Table:
    rows: list[list[Cell]] = []
    for m in measurements:
        span = _part(m, "span_seconds")
        ranks = _part(m, "rank_rate_bytes_per_second")
        rows.append(
            [
                m.access,
                _transfer(m),
                m.repetition + 1,
                m.bytes,
                m.rate.value,
                as_number(m.detail.get("transfer_rate_bytes_per_second")),
                as_number(span.get("open")),
                as_number(span.get("transfer")),
                as_number(span.get("sync")),
                as_number(span.get("close")),
                as_number(ranks.get("min")),
                as_number(ranks.get("max")),
                m.stopped_by,
                m.verified_bytes or None,
                "" if m.valid else m.invalid_reason or "invalid",
            ]
        )
    return Table(
        [
            Column("access"),
            Column("transfer", "B"),
            Column("repetition", "1"),
            Column("data", "B"),
            Column("rate", "B/s"),
            Column("calls alone", "B/s"),
            Column("open", "s"),
            Column("calls", "s"),
            Column("sync", "s"),
            Column("close", "s"),
            Column("slowest rank", "B/s"),
            Column("fastest rank", "B/s"),
            Column("ended by"),
            Column("verified", "B"),
            Column("remark"),
        ],
        rows,
        "Phases",
        "The rate is the data over the time from before the open to after the last close; the "
        "parts run from the first rank's begin to the last one's end.",
        page_only=len(rows) > 80,
    )


def rate_by_time(measurements: Sequence[Measurement]) -> Figure | None:
    panels = []
    for access in common.unique(m.access for m in measurements):
        series = []
        for style, m in enumerate(m for m in measurements if m.access == access):
            told = _part(m, "time_series")
            width = as_number(told.get("slice_seconds"))
            amounts = told.get("bytes")
            # The last slice is cut short by the end.
            if width is None or width <= 0 or not isinstance(amounts, list) or len(amounts) < 3:
                continue
            values = [as_number(v) for v in amounts[:-1]]
            series.append(
                Series(
                    f"{fmt.quantity(_transfer(m), 'B')}, {m.repetition + 1}",
                    [(i + 0.5) * width for i in range(len(values))],
                    [None if v is None else v / width for v in values],
                    style=style,
                )
            )
        if series:
            panels.append(Panel(access, series))
    if not panels:
        return None
    return Figure(
        "rate-by-time",
        "Rate by time",
        "One curve for each phase, one point for each slice of time. A rate that falls says that a "
        "cache has filled; one that ends in a slope that some ranks were done before others.",
        "curves",
        Axis("time since the first call", "s"),
        Axis("rate of all ranks", "B/s", low=0),
        {"": panels},
        columns=2,
    )


def rate_by_size(measurements: Sequence[Measurement]) -> Figure | None:
    sizes = sorted({_transfer(m) for m in measurements if _transfer(m) > 0})
    if len(sizes) < 2:
        return None
    series = []
    for access in common.unique(m.access for m in measurements):
        found = {
            size: _rates([m for m in measurements if (m.access, _transfer(m)) == (access, size)])
            for size in sizes
        }
        series.append(
            Series(
                access,
                list(sizes),
                [sum(r) / len(r) if (r := found[size]) else None for size in sizes],
                style=common.access_style(access),
                high=[max(r) if (r := found[size]) else None for size in sizes],
            )
        )
    return Figure(
        "rate-by-size",
        "Rate by transfer size",
        "The mean over the repetitions; a whisker ends at the best of them. Where the curve "
        "becomes flat, larger calls gain nothing.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("rate", "B/s", log=True, switch=True),
        {"": [Panel("", series)]},
        columns=1,
    )


class IorTeller:
    def headline(self, result: Result) -> Headline:
        context = common.context_of(result)
        for name in ("write_bandwidth", "read_bandwidth"):
            found = [f for f in result.figures_named(name) if f.metric.value is not None]
            if found:
                best = max(found, key=lambda f: f.metric.value or 0.0)
                return generic.headline_of(best, result, context)
        return generic.headline_of(result.figure("write_bandwidth"), result, context)

    def findings(self, result: Result) -> Sequence[Finding]:
        found: list[Finding] = []
        for m in result.measurements:
            if not m.valid:
                continue
            found += self._of_phase(m)
        for name in ("write_bandwidth", "read_bandwidth"):
            for figure in result.figures_named(name):
                mean = figure.metric.value
                half = as_number(figure.detail.get("confidence95_bytes_per_second"))
                if mean and half and half > _WIDE * mean:
                    found.append(
                        Finding(
                            f"The mean of {name.replace('_', ' ')} is known within "
                            f"{100 * half / mean:.0f} % only (95 % confidence): more repetitions "
                            "would tell more.",
                            "results",
                            "warn",
                        )
                    )
        return found

    def _of_phase(self, m: Measurement) -> list[Finding]:
        found = []
        wall = _part(m, "stonewall")
        tail = as_number(wall.get("tail_seconds"))
        last = as_number(wall.get("last_done_seconds"))
        if tail and last and tail > _WIDE * last:
            found.append(
                Finding(
                    f"{_name(m)}: the first worker was done {fmt.duration(tail)} before the last, "
                    f"of {fmt.duration(last)}.",
                    "results",
                    "warn",
                )
            )
        ranks = _part(m, "rank_rate_bytes_per_second")
        low, high = as_number(ranks.get("min")), as_number(ranks.get("max"))
        if low and high and high > _UNEQUAL * low:
            found.append(
                Finding(
                    f"{_name(m)}: the fastest rank was {high / low:.1f} times as fast as the "
                    "slowest.",
                    "results",
                    "warn",
                )
            )
        steady = _part(m, "steady")
        if steady.get("reached") is False:
            found.append(
                Finding(f"{_name(m)}: the rate did not become steady.", "rate-by-time", "warn")
            )
        own = as_number(m.detail.get("ranks_on_own_node"))
        if m.access == "read" and own:
            found.append(
                Finding(
                    f"{_name(m)}: {own:.0f} of {fmt.count_of(m.ranks, 'rank')} read data of their "
                    "own node, which its cache may hold.",
                    "results",
                    "warn",
                )
            )
        return found

    def sections(self, result: Result) -> Sequence[Section]:
        if not result.measurements:
            return []
        results: list[Block] = [results_table(result.measurements)]
        if by_size := rate_by_size(result.measurements):
            results.append(by_size)
        sections = [Section("results", "What was measured", results)]
        if by_time := rate_by_time(result.measurements):
            sections.append(Section("course", "How it went", [by_time]))
        return sections


TELLER = IorTeller()
