# SPDX-License-Identifier: BSD-3-Clause
"""Reports any benchmark from the members that all results share."""

from __future__ import annotations

from collections.abc import Sequence

from effio.report import common
from effio.report.model import Cell, Column, Finding, Headline, Quantity, Reason, Section, Table
from effio.store.details import Detail, Rows
from effio.store.reader import Result
from effio.store.records import Figure, Measurement, Metric


class _Criterion(Detail):
    text: str = ""
    reached: bool = False


class _Rules(Detail):
    criteria: Rows[_Criterion] | None = None


def headline_of(figure: Figure | None, result: Result, context: str = "") -> Headline:
    """From a figure of the result; without one, a headline that says so."""
    if figure is None:
        return Headline(
            result.benchmark, None, "1", context, None, missing="no figure was derived in this run"
        )
    metric = figure.metric
    verdict = ""
    if figure.valid is not None:
        verdict = "VALID" if figure.valid else "NOT VALID for comparison of systems"
    return Headline(
        figure.name,
        metric.value,
        metric.unit,
        context,
        figure.valid,
        verdict,
        criteria_of(figure),
        metric.reason,
        interval=common.interval_of(figure),
    )


def criteria_of(figure: Figure) -> list[Reason]:
    """The benchmark's rules and whether each is kept; else the reasons alone."""
    reported = _Rules.of(figure).criteria
    if reported is not None:
        return [Reason(c.text, c.reached) for c in reported[:100]]
    return [Reason(reason, False) for reason in figure.reasons]


def _quantity(metric: Metric) -> Quantity | None:
    return None if metric.value is None else Quantity(metric.value, metric.unit)


def measurement_table(measurements: Sequence[Measurement]) -> Table:
    rows: list[list[Cell]] = [
        [
            m.pattern,
            m.access,
            m.number("chunk_bytes") or None,
            m.ranks,
            m.nodes,
            m.bytes,
            m.operations,
            m.total_seconds,
            _quantity(m.rate),
            m.rate.unit,
            "" if m.valid else m.invalid_reason or "invalid",
        ]
        for m in measurements
    ]
    return Table(
        [
            Column("pattern"),
            Column("access"),
            Column("chunk", "B"),
            Column("ranks", "1"),
            Column("nodes", "1"),
            Column("data", "B"),
            Column("operations", "1"),
            Column("time", "s"),
            Column("rate", "1"),
            Column("unit in CSV"),
            Column("remark"),
        ],
        rows,
        "Measurements",
        page_only=len(rows) > 80,
    )


def figure_table(result: Result) -> Table:
    rows: list[list[Cell]] = [
        [
            f.name,
            ", ".join(f"{k} {v}" for k, v in f.where.items()),
            _quantity(f.metric),
            f.metric.unit,
            f.valid,
            "; ".join([*f.reasons, *([f.metric.reason] if f.metric.reason else [])]),
        ]
        for f in result.figures
    ]
    columns = [Column("figure"), Column("of"), Column("value", "1"), Column("unit in CSV")]
    return Table([*columns, Column("valid"), Column("remark")], rows, "Figures")


class GenericReporter:
    def headline(self, result: Result) -> Headline:
        last = result.figures[-1] if result.figures else None
        headline = headline_of(last, result, common.context_of(result))
        return common.claimed(headline, result, result.measurements, last)

    def findings(self, result: Result) -> Sequence[Finding]:
        limit = common.limit_finding(common.time_splits(result.measurements, lambda m: m.access))
        return [limit] if limit is not None else []

    def sections(self, result: Result) -> Sequence[Section]:
        blocks = []
        if result.figures:
            blocks.append(figure_table(result))
        if result.measurements:
            blocks.append(measurement_table(result.measurements))
        return [Section("measurements", "What was measured", blocks)] if blocks else []


REPORTER = GenericReporter()
