# SPDX-License-Identifier: BSD-3-Clause
"""Runs of a store by what was varied, from its index: no result is read for it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from effio.errors import EffioError
from effio.judge.gather import MOST_RUNS, is_engines, result_files
from effio.report.listing import NUMBER
from effio.report.points import Described, Number
from effio.store.index import Entry, Index, encodable
from effio.store.table import AXIS

_TABLE = "runs"


def described(index: Index, say: Callable[[str], None]) -> list[Described] | None:
    """Every run that has a result, by its start, as gather.judged has those of the folder. None
    where results are also elsewhere in it, which the index does not have."""
    entries = index.entries()
    if _has_other_results(index, entries):
        return None
    rows = _rows(index)
    if len(rows) > MOST_RUNS:
        raise EffioError(f"more than {MOST_RUNS} runs")
    found: list[tuple[str, Entry, dict[str, Any]]] = []
    for entry in entries:
        if entry.fault:
            say(f"left out: {entry.fault}")
        row = rows.get(encodable(entry.folder.id))
        if row is not None:
            found.append((row.get("started", ""), entry, row))
    found.sort(key=lambda one: (one[0], one[1].folder.id))
    first: dict[tuple[str, str], Entry] = {}
    kept = []
    for started, entry, row in found:
        name, unit, value, interval, identity, evidence, valid = json.loads(entry.line[NUMBER])
        if identity and started:
            other = first.setdefault((identity, started), entry)
            if other is not entry:
                say(f"left out: {entry.folder.path} is a copy of {other.folder.path}")
                continue
        kept.append(_of(row, Number(name, unit, value, interval, evidence, valid)))
    return kept


def _rows(index: Index) -> dict[str, dict[str, Any]]:
    """The rows of each run by its name; columns that are empty are missing."""
    names = {f"c{column.id}": column.name for column in index.columns(_TABLE)}
    lines = (json.loads(text) for text in index.rows(_TABLE))
    rows = ({names[key]: value for key, value in line.items()} for line in lines)
    return {row["run"]: row for row in rows}


def _of(row: dict[str, Any], number: Number) -> Described:
    in_campaign = "campaign" in row
    return Described(
        row["benchmark"],
        {name: row.get(name, "") for name in ("campaign", "step")} if in_campaign else {},
        {k.removeprefix(AXIS): str(v) for k, v in row.items() if k.startswith(AXIS)},
        {} if in_campaign else json.loads(row["options"]),
        row["ranks"],
        [({}, number)],
    )


def _has_other_results(index: Index, entries: Sequence[Entry]) -> bool:
    """Result files of the engine next to the folders, or folders of runs within others."""
    known = {entry.folder.id for entry in entries}
    with os.scandir(index.store.root) as inside:
        others = [entry for entry in inside if entry.name not in known]
    if any(one.is_file() and is_engines(one.name) for one in others):
        return True
    folders = [index.store.root / one.name for one in others if one.is_dir()]
    return any(next(result_files(folder), None) is not None for folder in folders)
