# SPDX-License-Identifier: BSD-3-Clause
"""Results as flat rows, for CSV and SQL. Column names are stable: where_… and detail_… hold what a
benchmark adds."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import IO, TYPE_CHECKING, Any

from msgspec.structs import asdict

from effio import text as fmt

if TYPE_CHECKING:
    from effio.store.reader import Result

Row = dict[str, Any]

_json = json.JSONEncoder().encode
AXIS = "axis_"  # before the name of a campaign's axis
TABLES = ("runs", "measurements", "figures")


def _flat(prefix: str, values: dict[str, Any]) -> Row:
    """Nested members as JSON text."""
    return {
        prefix + key: _json(v) if isinstance(v, (dict, list)) else v for key, v in values.items()
    }


def _campaign(result: Result) -> Row:
    """Which point of which campaign it is; each axis is its own column."""
    part = result.part
    return {
        "campaign": part.name if part else None,
        "step": part.step if part else None,
        "point": part.point if part else None,
        "campaign_repetition": part.repetition + 1 if part else None,
        "tags": ",".join(result.tags) or None,
        **_flat(AXIS, {name: finite(value) for name, value in part.axes.items()} if part else {}),
    }


def finite(value: Any) -> Any:
    """None for NaN and infinity, which JSON cannot represent; SQL and foreign records have them."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def run_row(name: str, result: Result) -> Row:
    run = result.run
    fs = run.file_system
    return {
        "run": name,
        "benchmark": run.benchmark,
        "started": run.started,
        "status": result.status,
        "ranks": run.system.ranks,
        "nodes": run.system.nodes,
        "first_node": next(iter(run.system.node_names), None),
        "mpi": " ".join(run.system.mpi.library.split()),
        "file_system": fs.type if fs else None,
        "mount_point": fs.mount_point if fs else None,
        "directory": fs.path if fs else None,
        "backend": run.backend.name if run.backend else None,
        "virtual_time": run.clock.virtual,
        "simulated": run.simulated,
        "engine_version": run.engine.version,
        "engine_revision": run.engine.revision,
        "command": _json(run.command),
        "options": _json(run.options),
        "path": fmt.encodable(str(result.path)),
        "notes": "; ".join(note.text for note in result.notes.notes) or None,
        **_campaign(result),
    }


def _spelled(benchmark: str) -> str:
    """The name as the command spells it and the table of runs has it: results wrote b_eff_io for
    b-eff-io, and a join on the benchmark lost them."""
    return benchmark.replace("_", "-")


def _place(result: Result) -> Row:
    """When and where it was, so that a row says so without the table of runs."""
    run = result.run
    fs = run.file_system
    return {
        "started": run.started,
        "first_node": next(iter(run.system.node_names), None),
        "mpi": " ".join(run.system.mpi.library.split()),
        "file_system": fs.type if fs else None,
        "mount_point": fs.mount_point if fs else None,
        "simulated": run.simulated,
    }


def measurement_rows(name: str, result: Result) -> Iterator[Row]:
    of_all = {**_place(result), **_campaign(result)}
    for m in result.measurements:
        times = m.call_times if m.call_times and m.call_times.count else None
        cache = m.cache
        yield {
            "run": name,
            "benchmark": _spelled(m.benchmark),
            "pattern": m.pattern,
            "access": m.access,
            "ranks": m.ranks,
            "nodes": m.nodes,
            "repetition": m.repetition,
            "bytes": m.bytes,
            "operations": m.operations,
            "seconds": m.total_seconds,
            "rate": m.rate.value,
            "rate_unit": m.rate.unit,
            "rate_missing": m.rate.reason or None,
            "valid": m.valid,
            "invalid_reason": m.invalid_reason or None,
            "stopped_by": m.stopped_by or None,
            "error_count": m.error_count,
            "verified_bytes": m.verified_bytes,
            "cache": cache.verdict if cache else None,
            **{f"{part}_seconds_mean": s.mean for part, s in m.seconds.items()},
            **{f"{part}_seconds_max": s.max for part, s in m.seconds.items()},
            "call_p50_seconds": times.p50 if times else None,
            "call_p99_seconds": times.p99 if times else None,
            "call_max_seconds": times.max if times else None,
            "hints_asked": _json(m.hints_asked),
            "hints_granted": _json(m.hints_granted),
            "hints_echoed": m.hints_echoed,
            **_flat("where_", m.where),
            **_flat("detail_", m.detail),
            **of_all,
        }


def figure_rows(name: str, result: Result) -> Iterator[Row]:
    of_all = {**_place(result), **_campaign(result)}
    for f in result.figures:
        yield {
            "run": name,
            "benchmark": _spelled(f.benchmark),
            "figure": f.name,
            "value": f.metric.value,
            "value_missing": f.metric.reason or None,
            "unit": f.metric.unit,
            "better": f.metric.better,
            "valid": f.valid,
            "reasons": "; ".join(f.reasons) or None,
            **(_flat("samples_", asdict(f.samples)) if f.samples else {}),
            **_flat("where_", f.where),
            **_flat("detail_", f.detail),
            **of_all,
        }


def rows_of(table: str, name: str, result: Result) -> Iterable[Row]:
    name = fmt.encodable(name)
    if table == "runs":
        return [run_row(name, result)]
    return (measurement_rows if table == "measurements" else figure_rows)(name, result)


def columns_of(rows: Iterable[Row]) -> list[str]:
    """All names, in the order of their first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


# Terminals obey control characters, and some readers end at NUL.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _guarded(value: Any) -> Any:
    """Spreadsheets run text that begins like this as a formula."""
    if not isinstance(value, str):
        return value
    value = _CONTROLS.sub("", value)
    if value[:1] in ("=", "+", "-", "@", "\t"):
        return "'" + value
    return value


def write_csv(rows: Sequence[Row], stream: IO[str], delimiter: str = ",") -> None:
    columns = columns_of(rows)
    writer = csv.writer(stream, lineterminator="\n", delimiter=delimiter)
    writer.writerow(map(_guarded, columns))
    for row in rows:
        writer.writerow(["" if row.get(c) is None else _guarded(row[c]) for c in columns])


# What Markdown and the HTML in it would take for its own.
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")


def markdown_text(text: object) -> str:
    return _SIGNS.sub(r"\\\1", fmt.plain(text, 1000)) or " "


def write_markdown(rows: Sequence[Row], stream: IO[str]) -> None:
    columns = columns_of(rows)

    def line(cells: Iterable[object]) -> str:
        return "| " + " | ".join(map(markdown_text, cells)) + " |\n"

    stream.write(line(columns))
    stream.write("|" + "---|" * len(columns) + "\n")
    for row in rows:
        stream.write(line("" if row.get(c) is None else row[c] for c in columns))


def kind_of_value(value: object) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if abs(value) < 2**63 else "float"
    return "float" if isinstance(value, float) else "text"


def kind_of(kinds: Set[str]) -> str:
    """The kind of a column by the kinds of its values: text, where nothing else holds all of
    them."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "float" if kinds == {"int", "float"} else "text"
