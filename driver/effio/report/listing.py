# SPDX-License-Identifier: BSD-3-Clause
"""A run in one line, for the index. What such lines say is in `report/lines.py`."""

from __future__ import annotations

import json
import os
import shlex

from effio import text as fmt
from effio.campaign.expression import spelled
from effio.report import claims
from effio.report.common.system import seconds_of
from effio.report.lines import NUMBER
from effio.report.registry import reporter_of
from effio.store.evidence import mark_of
from effio.store.folder import RunFolder
from effio.store.notes import tags_of
from effio.store.reader import Result, ResultError
from effio.store.run_record import RunRecord


def _place(record: RunRecord | None) -> dict[str, str]:
    """The campaign, point and repetition of a run; for other runs the options."""
    part = record.campaign if record is not None else None
    if part is None:
        return {
            "campaign": "",
            "step": "",
            "repetition": "",
            "axes": "{}",
            "options": shlex.join(record.arguments) if record is not None else "",
        }
    return {
        "campaign": part.name,
        "step": part.step,
        "repetition": str(part.repetition + 1),
        "axes": json.dumps({name: spelled(value) for name, value in part.axes.items()}),
        "options": "",
    }


def line_of(folder: RunFolder, result: Result | ResultError) -> dict[str, str]:
    """`result` as the folder has it, or why there is none."""
    record = result.record if isinstance(result, Result) else folder.record()
    said = result.notes if isinstance(result, Result) else folder.notes()
    row = {
        "run": folder.id,
        "state": folder.state_by(result, record),
        "start": record.created if record else "",
        **dict.fromkeys(("ranks", "figure", "headline", "value", "interval", "mark", "valid"), ""),
        "benchmark": record.benchmark if record else "",
        "where": "",
        "took": "",
        **_place(record),
        "tags": ",".join(tags_of(record, said)),
        "note": said.notes[-1].text if said.notes else "",
        NUMBER: "",
    }
    if not isinstance(result, Result):
        row["figure"] = row["headline"] = result.why if result.newer else ""
        reason = record.outcome.reason if record is not None and record.outcome is not None else ""
        if not reason and not result.newer and os.path.lexists(folder.result_path):
            reason = f"the result cannot be read: {result.why}"
        row["interval"] = fmt.plain(reason, 200)
        return row
    row["benchmark"] = result.benchmark
    row["start"] = result.run.started or row["start"]
    row["ranks"] = str(result.run.system.ranks)
    fs = result.run.file_system
    row["where"] = f"{fs.type or '?'} {fs.mount_point}" if fs else ""
    seconds = seconds_of(result)
    row["took"] = "" if seconds is None else fmt.duration(seconds)
    headline = reporter_of(result).headline(result)
    # Without a value this says why.
    row["headline"], row["interval"] = headline.name, headline.sureness()
    if headline.value is not None:
        row["value"] = headline.shown()
        row["mark"] = mark_of(headline.evidence, result.run)
        row["figure"] = f"{headline.name} = {headline.shown()}"
        if row["mark"]:
            row["figure"] += f" ({row['mark']})"
    row[NUMBER] = claims.written(claims.claim_by(headline, result))
    if headline.valid is not None:
        row["valid"] = "yes" if headline.valid else "no"
    return row
