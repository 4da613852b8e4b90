# SPDX-License-Identifier: BSD-3-Clause
"""What the readers of other programs' output return, and how it becomes a result file.

A reader copies numbers and converts units, and nothing else: bytes, seconds, bytes per second,
operations per second. What a program does not record stays empty, so an imported run has no
evidence where its bytes were.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from effio.errors import EffioError

MIB = 1 << 20
GIB = 1 << 30
STATEMENT = "imported: not judged by effio"
_SCHEMA = "effio-result/1.3"
_CACHE = {
    "verdict": "unknown",
    "reason": "imported: the program records no evidence",
    "resident_before_fraction": None,
    "process_read_bytes": None,
    "process_written_bytes": None,
    "device_read_bytes": None,
    "device_written_bytes": None,
}


class ImportFormatError(EffioError):
    """The text is in a known format, but a part of it cannot be read; says which."""


def fault_of(error: Exception) -> str:
    """Says what is wrong with JSON that the program cannot have written."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"it has no member {error}"
    if isinstance(error, TypeError | AttributeError):
        return "a value is of another kind"
    if isinstance(error, ValueError) and not isinstance(error, json.JSONDecodeError):
        return "a number in it cannot be read"  # Python's message names its functions
    return str(error)


NO_RATE = "left out, because it has no rate that is a number above 0: "


def without_rate(names: Iterable[str]) -> tuple[str, ...]:
    """The note on rows of a file that are not imported. Without it they would look as if they
    had not been measured."""
    times = Counter(names)
    texts = [name if n == 1 else f"{name} ({n} times)" for name, n in times.items()]
    return (NO_RATE + ", ".join(texts),) if texts else ()


@dataclass(frozen=True)
class Times:
    """Times of the calls in seconds; `shares` are (p50, p90, p99, p99.9, p99.99)."""

    count: int
    least: float
    mean: float
    most: float
    shares: Sequence[float]


@dataclass(frozen=True)
class Cell:
    """One measured rate, in bytes per second if bytes are moved, else in operations per second;
    `moves` says which if the number of bytes is not known. `invalid` is the reason for no rate."""

    pattern: str
    access: str
    where: dict[str, Any]
    ranks: int
    seconds: float | None
    rate: float | None
    bytes: int = 0
    operations: int = 0
    nodes: int = 1
    repetition: int = 1
    parts: dict[str, float] = field(default_factory=dict)
    invalid: str = ""
    errors: int = 0
    times: Times | None = None
    moves: bool = False
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        return "B/s" if self.bytes or self.moves else "op/s"


@dataclass(frozen=True)
class Samples:
    """The values behind a mean, as far as a program states them."""

    count: int
    least: float
    most: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Samples:
        deviation = statistics.stdev(values) if len(values) > 1 else None
        return cls(len(values), min(values), max(values), deviation)


@dataclass(frozen=True)
class Value:
    """A number that a program computed from several rates, such as a score."""

    name: str
    value: float
    unit: str
    where: dict[str, Any] = field(default_factory=dict)
    valid: bool | None = None
    reasons: Sequence[str] = ()
    samples: Samples | None = None
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Imported:
    """A run of another program. `started` is a time without a zone unless the program gives one."""

    benchmark: str
    program: str
    version: str
    started: datetime | None
    cells: Sequence[Cell]
    values: Sequence[Value] = ()
    ranks: int = 1
    nodes: int = 1
    command: Sequence[str] = ()
    options: dict[str, Any] = field(default_factory=dict)
    backend: str = ""
    path: str = ""
    host: str = ""
    failed: str = ""
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Source:
    """The file that a run was read from: its name, checksum, format and time of its last change."""

    name: str
    sha256: str
    format: str
    changed: datetime
    part: int = 1

    def time_of(self, run: Imported) -> tuple[datetime, str]:
        """When the run started, and how that is known."""
        if run.started is None:
            return self.changed, "the file has no date: this is the time of its last change"
        if run.started.utcoffset() is None:
            return run.started, "time zone unknown, taken for UTC"
        return run.started, "as in the file"


def time_text(when: datetime) -> str:
    """UTC; a time without a zone is taken for UTC, which the run says of itself."""
    offset = when.utcoffset()
    plain = when.replace(tzinfo=None)
    return (plain - offset if offset else plain).strftime("%Y-%m-%dT%H:%M:%SZ")


def _run(run: Imported, source: Source) -> dict[str, Any]:
    when, known = source.time_of(run)
    return {
        "benchmark": run.benchmark,
        "started": time_text(when),
        "engine": {
            "program": run.program,
            "version": run.version,
            "revision": "",
            "compiler": "",
            "flags": "",
            "build_type": "",
            "mpi_built_with": "",
        },
        "command": list(run.command) or [run.program],
        "classic_command": None,
        "options": run.options,
        "clock": {
            "virtual": False,
            "source": "",
            "kernel_sources": [],
            "resolution_seconds": 0.0,
            "skew": None,
        },
        "system": {
            "ranks": run.ranks,
            "nodes": run.nodes,
            "ranks_per_node": {
                "min": -(-run.ranks // run.nodes),
                "max": -(-run.ranks // run.nodes),
            },
            "node_names": [run.host] if run.host else [],
            "node_names_complete": run.nodes == 1,
            "cpu": {"model": "", "sockets": 0, "logical_cpus": 0, "usable_by_root_rank": 0},
            "memory": {"node_total_bytes": 0, "node_available_bytes": 0},
            "kernel": dict.fromkeys(
                ("system", "node", "release", "version", "machine", "distribution", "clock_source"),
                "",
            )
            | {"vm": {}},
            "mpi": {"library": "", "name": "", "version": "", "standard": "", "environment": {}},
            "batch": {},
            "user_is_root": False,
        },
        "watchdog_seconds": 0.0,
        "imported": {
            "statement": STATEMENT,
            "program": f"{run.program} {run.version}".strip(),
            "format": source.format,
            "file": source.name,
            "part": source.part,
            "sha256": source.sha256,
            "path": run.path,
            "time": known,
            "notes": list(run.notes),
        },
        **({"backend": {"name": run.backend, "settings": {}}} if run.backend else {}),
    }


def _times(times: Times | None) -> dict[str, Any] | None:
    if times is None:
        return None
    names = ("p50", "p90", "p99", "p99.9", "p99.99")
    return {
        "unit": "s",
        "count": times.count,
        "min": times.least,
        "mean": times.mean,
        **dict(zip(names, times.shares, strict=True)),
        "max": times.most,
        "buckets_begin_ns_count": [],
    }


def _measurement(benchmark: str, cell: Cell) -> dict[str, Any]:
    def spread(value: float) -> dict[str, float]:
        return dict.fromkeys(("min", "mean", "max"), value)

    rate = {"value": None if cell.invalid else cell.rate, "unit": cell.unit, "better": "higher"}
    return {
        "benchmark": benchmark,
        "pattern": cell.pattern,
        "access": cell.access,
        "where": cell.where,
        "ranks": cell.ranks,
        "nodes": cell.nodes,
        "repetition": cell.repetition,
        "bytes": cell.bytes,
        "operations": cell.operations,
        "seconds": {
            **({} if cell.seconds is None else {"total": spread(cell.seconds)}),
            **{name: spread(value) for name, value in cell.parts.items()},
        },
        "rate": rate | ({"reason": cell.invalid} if cell.invalid else {}),
        "valid": not cell.invalid,
        **({"invalid_reason": cell.invalid} if cell.invalid else {}),
        "stopped_by": "count",
        "call_times": _times(cell.times),
        "hints_asked": {},
        "hints_granted": {},
        "hints_echoed": None,
        "verified_bytes": 0,
        "error_count": cell.errors,
        "errors": [],
        "cache": _CACHE,
        "detail": cell.detail,
    }


def _samples(reported: Samples) -> dict[str, Any]:
    """Without an interval: effio computes one from the repetitions where it compares."""
    return {
        "count": reported.count,
        "min": reported.least,
        "max": reported.most,
        "deviation": reported.deviation,
        "low95": None,
        "high95": None,
    }


def _figure(benchmark: str, value: Value) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "name": value.name,
        "where": value.where,
        "metric": {"value": value.value, "unit": value.unit, "better": "higher"},
        "valid": value.valid,
        "reasons": list(value.reasons),
        **({"samples": _samples(value.samples)} if value.samples else {}),
        "detail": value.detail,
    }


def lines(run: Imported, source: Source) -> Iterator[dict[str, Any]]:
    """The lines of the result file, in order."""
    errors = sum(cell.errors for cell in run.cells)
    status, code = ("data_errors", 1) if errors else ("done", 0)
    if run.failed:
        status, code = "io_error", 3
    end = {
        "status": status,
        "exit_code": code,
        "reason": run.failed,
        "errors": [],
        "detail": {},
    }
    records = [
        ("run", _run(run, source)),
        *(("measurement", _measurement(run.benchmark, cell)) for cell in run.cells),
        *(("figure", _figure(run.benchmark, value)) for value in run.values),
        ("end", end),
    ]
    for number, (kind, record) in enumerate(records):
        yield {"schema": _SCHEMA, "kind": kind, "seq": number, **record}
