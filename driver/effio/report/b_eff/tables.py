# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of b_eff, what each method alone would give, and every pattern."""

from __future__ import annotations

from effio import text as fmt
from effio.report.b_eff.curves import METHODS
from effio.report.model import Cell, Column, Table
from effio.store.details import Detail
from effio.store.reader import Result


def methods_alone(result: Result) -> list[tuple[str, float, float]]:
    """Method, b_eff with it alone, and how far it is from the official value as a fraction."""
    official = result.figure("b_eff")
    if official is None or not official.metric.value:
        return []
    rows = []
    for f in result.figures_named("b_eff_of_method"):
        method = METHODS.get(str(f.where.get("method")))
        if method and f.metric.value:
            rows.append((method, f.metric.value, f.metric.value / official.metric.value - 1))
    return rows


def result_table(result: Result) -> Table | None:
    names = (
        ("b_eff", "b_eff"),
        ("b_eff_per_process", "b_eff per process"),
        ("b_eff_at_lmax", "b_eff at the longest message"),
        ("b_eff_at_lmax_rings", "the same, rings only"),
        ("latency", "latency, rings and random rings"),
        ("latency_rings", "latency, rings"),
        ("ping_pong_latency", "latency, one ping-pong pair"),
        ("ping_pong_bandwidth", "bandwidth, one ping-pong pair"),
    )
    rows: list[list[Cell]] = []
    for name, title in names:
        figure = result.figure(name)
        if figure is not None and figure.metric.value is not None:
            rows.append([title, fmt.quantity(figure.metric.value, figure.metric.unit)])
    for name, value, more in methods_alone(result):
        change = fmt.percent(more, 1, signed=True)
        rows.append([f"b_eff with {name} alone", f"{fmt.quantity(value, 'B/s')} ({change})"])
    if not rows:
        return None
    return Table([Column("result"), Column("value")], rows, "Results")


class _Pattern(Detail):
    counts: bool = False
    messages_within_nodes: int | None = None
    messages_between_nodes: int | None = None


def pattern_table(result: Result) -> Table | None:
    rows: list[list[Cell]] = []
    for f in result.figures_named("pattern_bandwidth"):
        number = f.where.get("pattern")
        reported = _Pattern.of(f)
        rows.append(
            [
                number if isinstance(number, int) else None,
                str(f.where.get("name", "")),
                "yes" if reported.counts else "no",
                f.metric.value,
                reported.messages_within_nodes,
                reported.messages_between_nodes,
            ]
        )
    if not rows:
        return None
    return Table(
        [
            Column("number"),
            Column("pattern"),
            Column("in b_eff"),
            Column("bandwidth", "B/s"),
            Column("messages within nodes", "1"),
            Column("between nodes", "1"),
        ],
        rows,
        "Patterns",
        "Mean over the message sizes, best method and repetition.",
    )
