# SPDX-License-Identifier: BSD-3-Clause
"""What went wrong: failed calls, wrong data, a run that did not end in order."""

from __future__ import annotations

import msgspec

from effio import text as fmt
from effio.report.common.names import cell_name
from effio.report.model import Cell, Column, Finding, Section, Table, table_of
from effio.store.reader import Result
from effio.store.records import Measurement, StuckCall


def invalid_cells(result: Result) -> list[Measurement]:
    return [m for m in result.measurements if not m.valid or m.error_count]


def error_findings(result: Result) -> list[Finding]:
    findings = []
    bad = invalid_cells(result)
    failed = [m for m in bad if m.has_errors]
    others = [m for m in bad if not m.has_errors]
    are = "is" if len(others) == 1 else "are"
    for some, what in ((failed, "had failed calls or wrong data"), (others, f"{are} not valid")):
        if not some:
            continue
        first = some[0]
        why = first.invalid_reason or (first.first_error if first.errors else "see the table")
        counted = fmt.count_of(len(some), "measurement")
        text = f"{counted} {what}; the first: {cell_name(first)}: {why}"
        findings.append(Finding(text, "errors", "bad"))
    end = result.end
    if end is None:
        findings.append(
            Finding("The run did not end in order; what is here was measured before.", "", "bad")
        )
    elif end.status != "done":
        findings.append(Finding(f"The run ended as '{end.status}': {end.reason}", "errors", "bad"))
    return findings


def error_section(result: Result) -> Section | None:
    rows: list[list[Cell]] = [
        [cell_name(m), m.error_count, m.invalid_reason or e, e if e != m.invalid_reason else ""]
        for m in invalid_cells(result)
        for e in ([x.text() for x in m.errors] or [""])
    ]
    end = result.end
    if end is not None:
        rows += [["end of the run", 1, e.text(), ""] for e in end.errors]
    columns = [Column("where"), Column("errors", "1"), Column("reason"), Column("detail")]
    tables = [Table(columns, rows, "Errors")] if rows else []
    if calls := stuck_calls(result):
        tables.append(_calls_table(calls))
    return Section("errors", "Errors", tables) if tables else None


def stuck_calls(result: Result) -> list[StuckCall]:
    """Where the ranks of a run were that the watchdog ended."""
    reported = result.end.detail.get("calls") if result.end else None
    try:
        return msgspec.convert(reported or [], list[StuckCall])
    except msgspec.ValidationError:
        return []


def _calls_table(calls: list[StuckCall]) -> Table:
    return table_of(
        calls,
        [
            (
                Column("call"),
                lambda call: call.call + (" (waits for other ranks)" if call.waits else ""),
            ),
            (Column("ranks"), lambda call: fmt.ranges(call.ranks)),
            (Column("hosts"), lambda call: ", ".join(call.hosts)),
            (Column("step"), lambda call: call.step),
            (Column("no progress for", "s"), lambda call: call.silent_seconds),
        ],
        "Where the ranks were",
        "The calls that the ranks were in when the watchdog ended the run. Look first at calls"
        " that do not wait for other ranks. A rank that had made progress shortly before is"
        " missing.",
    )
