# SPDX-License-Identifier: BSD-3-Clause
"""Results as flat rows, for CSV and SQL. Column names are stable: where_… and detail_… hold what a
benchmark adds."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from effio.store.reader import Result

Row = dict[str, Any]

TABLES = ("runs", "measurements", "figures")


def _flat(prefix: str, values: dict[str, Any]) -> Row:
    """Nested members as JSON text."""
    return {
        f"{prefix}{key}": json.dumps(v) if isinstance(v, (dict, list)) else v
        for key, v in values.items()
    }


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
        "mpi": run.system.mpi.library,
        "file_system": fs.type if fs else None,
        "mount_point": fs.mount_point if fs else None,
        "directory": fs.path if fs else None,
        "backend": run.backend.name if run.backend else None,
        "virtual_time": run.clock.virtual,
        "engine_version": run.engine.version,
        "engine_revision": run.engine.revision,
        "command": json.dumps(run.command),
        "options": json.dumps(run.options),
        "path": str(result.path),
    }


def measurement_rows(name: str, result: Result) -> Iterator[Row]:
    for m in result.measurements:
        times = m.call_times
        cache = m.cache
        yield {
            "run": name,
            "benchmark": m.benchmark,
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
            "hints_asked": json.dumps(m.hints_asked),
            "hints_granted": json.dumps(m.hints_granted),
            **_flat("where_", m.where),
            **_flat("detail_", m.detail),
        }


def figure_rows(name: str, result: Result) -> Iterator[Row]:
    for f in result.figures:
        yield {
            "run": name,
            "benchmark": f.benchmark,
            "figure": f.name,
            "value": f.metric.value,
            "unit": f.metric.unit,
            "better": f.metric.better,
            "valid": f.valid,
            "reasons": "; ".join(f.reasons) or None,
            **_flat("where_", f.where),
            **_flat("detail_", f.detail),
        }


def rows_of(table: str, name: str, result: Result) -> Iterable[Row]:
    if table == "runs":
        return [run_row(name, result)]
    return (measurement_rows if table == "measurements" else figure_rows)(name, result)


def columns_of(rows: Iterable[Row]) -> list[str]:
    """All names, in the order of their first appearance."""
    return list(dict.fromkeys(name for row in rows for name in row))


def _guarded(value: Any) -> Any:
    """Spreadsheets run text that begins like this as a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def write_csv(rows: Sequence[Row], stream: IO[str]) -> None:
    columns = columns_of(rows)
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(["" if row.get(c) is None else _guarded(row[c]) for c in columns])
