# SPDX-License-Identifier: BSD-3-Clause
"""A run in one line: for `effio runs`, its index and the browser."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence

from effio import text as fmt
from effio.campaign.expression import spelled
from effio.report import claims
from effio.report.common.system import seconds_of
from effio.report.registry import reporter_of
from effio.store.evidence import mark_of
from effio.store.folder import RunFolder
from effio.store.notes import tags_of
from effio.store.reader import Result, ResultError
from effio.store.reading import read_json
from effio.store.run_record import RunRecord

# For tables of many runs, not for people: the claim of the run (report/claims.py).
NUMBER = "number"


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


def axes_of(line: Mapping[str, str]) -> dict[str, str]:
    """The axes of a campaign's point and their values."""
    found = read_json(line["axes"])
    return found if isinstance(found, dict) else {}


def axes_text(line: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in axes_of(line).items())


def verdict_of(line: Mapping[str, str]) -> str:
    """Whether the headline is valid, and where its bytes were if not only on storage."""
    valid = {"yes": "valid", "no": "not valid"}.get(line["valid"], "")
    return ", ".join(part for part in (valid, line["mark"]) if part)


def number_of(line: Mapping[str, str]) -> tuple[float | None, str]:
    """The headline's number in its base unit, and that unit."""
    if not line[NUMBER]:
        return None, ""
    number = claims.read(line[NUMBER]).number
    return number.value, "" if number.value is None else number.unit


def grouped(lines: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Sorted by campaign; the newest run and its campaign come last."""
    newest = {line["campaign"]: i for i, line in enumerate(lines)}
    return sorted(lines, key=lambda line: newest[line["campaign"]])


def line_of(folder: RunFolder, result: Result | ResultError) -> dict[str, str]:
    """`result` as the folder has it, or why there is none."""
    record = result.record if isinstance(result, Result) else folder.record()
    said = result.notes if isinstance(result, Result) else folder.notes()
    row = {
        "run": folder.id,
        "state": folder.state_by(result, record),
        "start": record.created if record else "",
        "ranks": "",
        "figure": "",
        "headline": "",
        "value": "",
        "interval": "",
        "mark": "",
        "valid": "",
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
