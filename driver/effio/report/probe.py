# SPDX-License-Identifier: BSD-3-Clause
"""Report of probe: the limits of a system, and how its streams developed."""

from __future__ import annotations

from effio import text as fmt
from effio.report import generic
from effio.report.limits import limits_of
from effio.report.model import Column, Finding, Table, table_of
from effio.report.parts import Part, member, word
from effio.report.study import StudyReporter
from effio.store.members import members_of
from effio.store.reader import Result


def limit_table(result: Result) -> Table:
    return table_of(
        limits_of(result),
        [
            (Column("limit"), lambda f: word(f, "limit", 60)),
            (Column("value"), lambda f: generic.quantity_of(f.metric)),
            (Column("processes", "1"), member("processes")),
            (Column("by"), lambda f: fmt.plain(members_of(f).backend, 40)),
            (Column("remark"), lambda f: fmt.plain(f.metric.reason, 200)),
        ],
        "Limits",
    )


def _not_past_the_cache(result: Result) -> Finding | None:
    streams = [f for f in limits_of(result) if "stream" in str(f.where.get("limit"))]
    if not {members_of(f).backend for f in streams} - {"", "direct", "sim", "null"}:
        return None
    return Finding(
        "The file system takes no O_DIRECT: streams and small reads went through the page"
        " cache, which was emptied before.",
        "limits",
        "warn",
    )


class ProbeReporter(StudyReporter):
    finders = (_not_past_the_cache, *StudyReporter.finders)
    parts = (Part("limits", "Limits", (limit_table,)), *StudyReporter.parts)


REPORTER = ProbeReporter()
