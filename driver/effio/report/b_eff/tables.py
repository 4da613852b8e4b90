# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of b_eff, what each method alone would give, and every pattern."""

from __future__ import annotations

from effio import text as fmt
from effio.report.b_eff.curves import METHODS
from effio.report.model import Cell, Column, Table, table_of
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure


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


def _number(f: Figure) -> int | None:
    number = f.where.get("pattern")
    return number if isinstance(number, int) else None


def pattern_table(result: Result) -> Table | None:
    patterns = result.figures_named("pattern_bandwidth")
    if not patterns:
        return None
    return table_of(
        patterns,
        [
            (Column("number"), _number),
            (Column("pattern"), lambda f: str(f.where.get("name", ""))),
            (Column("in b_eff"), lambda f: "yes" if members_of(f).counts else "no"),
            (Column("bandwidth", "B/s"), lambda f: f.metric.value),
            (Column("messages within nodes", "1"), lambda f: members_of(f).messages_within_nodes),
            (Column("between nodes", "1"), lambda f: members_of(f).messages_between_nodes),
        ],
        "Patterns",
        "Mean over the message sizes, best method and repetition.",
    )
