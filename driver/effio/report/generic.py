# SPDX-License-Identifier: BSD-3-Clause
"""Reports any benchmark from the members that all results share."""

from __future__ import annotations

from effio.report.common import times
from effio.report.common.counts import claimed, interval_of
from effio.report.common.names import cell_of, context_of, lies_at
from effio.report.model import (
    Column,
    Finding,
    Headline,
    Quantity,
    Reason,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, quantity
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure, Measurement, Metric


def headline_of(figure: Figure | None, result: Result, context: str = "") -> Headline:
    """The headline, from a figure of the result; without one, a headline that says so."""
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
        interval=interval_of(figure),
    )


def criteria_of(figure: Figure) -> list[Reason]:
    """The benchmark's rules and whether each is kept, and what else makes the figure invalid."""
    asked = [Reason(c.text, bool(c.reached)) for c in members_of(figure).criteria or ()][:100]
    # The engine also names the rules that are not kept among the reasons.
    others = [r for r in figure.reasons if not any(r.endswith(rule.text) for rule in asked)]
    return [*(Reason(reason, False, asked=False) for reason in others), *asked]


def quantity_of(metric: Metric) -> Quantity | None:
    return quantity(metric.value, metric.unit)


def remark_of(m: Measurement) -> str:
    return "" if m.valid else m.invalid_reason or "invalid"


def measurement_table(result: Result) -> Table:
    return table_of(
        result.measurements,
        [
            (Column("pattern"), lambda m: m.pattern),
            (Column("access"), lambda m: m.access),
            (Column("chunk", "B"), lambda m: m.number("chunk_bytes") or None),
            (Column("ranks", "1"), lambda m: m.ranks),
            (Column("nodes", "1"), lambda m: m.nodes),
            (Column("data", "B"), lambda m: m.bytes),
            (Column("operations", "1"), lambda m: m.operations),
            (Column("time", "s"), lambda m: m.total_seconds),
            (Column("rate", "1"), lambda m: quantity_of(m.rate)),
            (Column("unit in CSV"), lambda m: m.rate.unit),
            (Column("remark"), remark_of),
        ],
        "Measurements",
        longest=80,
    )


def reasons_of(f: Figure) -> str:
    """Why a figure does not count, or has no value."""
    return "; ".join(dict.fromkeys(filter(None, [*f.reasons, f.metric.reason])))


def figure_table(result: Result) -> Table:
    return table_of(
        result.figures,
        [
            (Column("figure"), lambda f: f.name),
            (Column("of"), lambda f: ", ".join(f"{k} {v}" for k, v in f.where.items())),
            (Column("value", "1"), lambda f: quantity_of(f.metric)),
            (Column("unit in CSV"), lambda f: f.metric.unit),
            (Column("valid"), lambda f: f.valid),
            (Column("remark"), reasons_of),
        ],
        "Figures",
    )


def limit_finding(result: Result) -> Finding | None:
    return times.limit_finding(times.time_splits(result.measurements, lambda m: m.access))


class GenericReporter(PartsReporter):
    finders = (limit_finding,)
    parts = (Part("measurements", "What was measured", (figure_table, measurement_table)),)

    def headline(self, result: Result) -> Headline:
        if not result.figures:
            return headline_of(None, result, context_of(result))
        last = result.figures[-1]
        there = [
            m
            for m in result.measurements
            if lies_at({**m.where, "access": m.access, "pattern": m.pattern}, last.where)
        ]
        place = cell_of(last, result.figures_named(last.name))
        context = ", ".join(filter(None, [place, context_of(result, there)]))
        return claimed(headline_of(last, result, context), result, there, last)


REPORTER = GenericReporter()
