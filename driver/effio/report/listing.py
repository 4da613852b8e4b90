# SPDX-License-Identifier: BSD-3-Clause
"""A run in one line: for `effio runs`, its index and the browser."""

from __future__ import annotations

from effio import text as fmt
from effio.report.common import seconds_of
from effio.report.registry import teller_of
from effio.store.evidence import mark_of
from effio.store.folder import RunFolder
from effio.store.notes import tags_of
from effio.store.reader import Result, ResultError


def line_of(folder: RunFolder, result: Result | ResultError) -> dict[str, str]:
    """`result` as RunFolder.told has it, or why there is none."""
    record = result.record if isinstance(result, Result) else folder.record()
    said = result.notes if isinstance(result, Result) else folder.notes()
    part = record.campaign if record is not None else None
    row = {
        "run": folder.id,
        "state": folder.state_by(result, record),
        "ranks": "",
        "figure": "",
        "valid": "",
        "benchmark": record.benchmark if record else "",
        "where": "",
        "took": "",
        "campaign": part.name if part is not None else "",
        "tags": ",".join(tags_of(record, said)),
        "note": said.notes[-1].text if said.notes else "",
    }
    if not isinstance(result, Result):
        row["figure"] = result.why if result.newer else ""
        return row
    row["benchmark"] = result.benchmark
    row["ranks"] = str(result.run.system.ranks)
    fs = result.run.file_system
    row["where"] = f"{fs.type or '?'} {fs.mount_point}" if fs else ""
    seconds = seconds_of(result)
    row["took"] = "" if seconds is None else fmt.duration(seconds)
    headline = teller_of(result.benchmark).headline(result)
    if headline.value is not None:
        row["figure"] = f"{headline.name} = {headline.shown()}"
        if mark := mark_of(headline.evidence):
            row["figure"] += f" ({mark})"
    if headline.valid is not None:
        row["valid"] = "yes" if headline.valid else "no"
    return row


def line_of_folder(folder: RunFolder) -> dict[str, str]:
    try:
        return line_of(folder, folder.told())
    except ResultError as error:
        return line_of(folder, error)
