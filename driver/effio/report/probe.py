# SPDX-License-Identifier: BSD-3-Clause
"""Report of probe: the limits of a system, and how its streams developed."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report import generic
from effio.report.model import Column, Finding, Section, Table, table_of
from effio.report.study import StudyReporter
from effio.store.members import members_of
from effio.store.reader import Result


def limit_table(result: Result) -> Table:
    return table_of(
        result.figures_named("limit"),
        [
            (Column("limit"), lambda f: fmt.plain(f.where.get("limit", ""), 60)),
            (Column("value"), lambda f: generic.quantity_of(f.metric)),
            (Column("processes", "1"), lambda f: members_of(f).processes),
            (Column("by"), lambda f: fmt.plain(members_of(f).backend, 40)),
            (Column("remark"), lambda f: fmt.plain(f.metric.reason, 200)),
        ],
        "Limits",
    )


def _not_past_the_cache(result: Result) -> list[Finding]:
    streams = [f for f in result.figures_named("limit") if "stream" in str(f.where.get("limit"))]
    ways = {members_of(f).backend for f in streams} - {"", "direct", "sim", "null"}
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
