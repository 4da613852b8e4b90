# SPDX-License-Identifier: BSD-3-Clause
"""Report of probe: the limits of a system, and how its streams developed."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report.limits import LimitDetail
from effio.report.model import Cell, Column, Finding, Quantity, Section, Table
from effio.report.study import StudyReporter
from effio.store.reader import Result


def limit_table(result: Result) -> Table:
    rows: list[list[Cell]] = []
    for f in result.figures_named("limit"):
        reported, value = LimitDetail.of(f), f.metric.value
        rows.append(
            [
                fmt.plain(f.where.get("limit", ""), 60),
                Quantity(value, f.metric.unit) if value is not None else None,
                int(reported.processes) if reported.processes is not None else None,
                fmt.plain(reported.backend, 40),
                fmt.plain(f.metric.reason, 200),
            ]
        )
    columns = [
        Column("limit"),
        Column("value"),
        Column("processes", "1"),
        Column("by"),
        Column("remark"),
    ]
    return Table(columns, rows, "Limits")


def _not_past_the_cache(result: Result) -> list[Finding]:
    streams = [f for f in result.figures_named("limit") if "stream" in str(f.where.get("limit"))]
    ways = {LimitDetail.of(f).backend for f in streams} - {"", "direct", "sim", "null"}
    if not ways:
        return []
    return [
        Finding(
            "The file system takes no O_DIRECT: streams and small reads went through the page"
            " cache, which was emptied before.",
            "limits",
            "warn",
        )
    ]


class ProbeReporter(StudyReporter):
    def findings(self, result: Result) -> Sequence[Finding]:
        return [*_not_past_the_cache(result), *super().findings(result)]

    def sections(self, result: Result) -> Sequence[Section]:
        table = limit_table(result)
        own = [Section("limits", "Limits", [table])] if table.rows else []
        return [*own, *super().sections(result)]


REPORTER = ProbeReporter()
