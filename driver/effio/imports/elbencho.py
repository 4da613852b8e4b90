# SPDX-License-Identifier: BSD-3-Clause
"""CSV and JSON of elbencho (`--csvfile`, `--jsonfile`): a measurement per phase, of a mixed phase
one for each direction. "Last done" counts, when the slowest thread had finished; "first done" is in
the details."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from effio.imports.model import (
    MIB,
    Cell,
    Imported,
    ImportFormatError,
    Samples,
    Value,
    fault_of,
    without_rate,
)
from effio.imports.numbers import date_of, number, size

_ACCESS = {
    "write": "write",
    "read": "read",
    "rmfiles": "remove",
    "stat": "stat",
    "statdirs": "stat",
    "mkdirs": "create",
    "rmdirs": "remove",
}
_MIXED_READ = "rwmix read "  # before the names of columns

# Members of a phase in JSON, and the columns of CSV that hold the same. Bytes are MiB in CSV.
_COLUMNS = {
    "phase_type": "operation",
    "label": "label",
    "iso_start_date": "iso date",
    "config.path_type": "path type",
    "config.hosts": "hosts",
    "config.threads": "threads",
    "config.file_size": "file size",
    "config.block_size": "block size",
    "config.direct_io": "direct io",
    "config.random_offsets": "random",
    "config.io_depth": "io depth",
    "config.version": "version",
    "config.command": "command",
    "last_done.elapsed_time_ms": "time ms [last]",
}
# The same of each direction of a mixed phase.
_RESULTS = {
    "first_done.{}entries/s": "entries/s [first]",
    "first_done.{}bytes/s": "bytes/s [first]",
    "last_done.{}entries/s": "entries/s [last]",
    "last_done.{}entries": "entries [last]",
    "last_done.{}bytes/s": "bytes/s [last]",
    "last_done.{}bytes": "bytes [last]",
    "last_done.latency.IO.{}min_us": "io lat us [min]",
    "last_done.latency.IO.{}avg_us": "io lat us [avg]",
    "last_done.latency.IO.{}max_us": "io lat us [max]",
}

_Row = Mapping[str, str]


def is_csv(text: str) -> bool:
    head = text.split("\n", 1)[0].lower()
    return head.startswith("iso date,") and "operation" in head and "mib/s" in head


def is_json(text: str) -> bool:
    """Phases are appended as one object after the other."""
    return text.lstrip().startswith("{") and all(
        f'"{name}"' in text[:20000] for name in ("phase_type", "first_done", "last_done")
    )


def _csv_rows(text: str) -> list[_Row]:
    """Appended files repeat the head; names of columns changed their case between versions."""
    lines = text.splitlines()
    head = [name.strip().lower() for name in next(csv.reader(lines[:1]))]
    return [
        {name: cell.strip() for name, cell in zip(head, row, strict=False)}
        for row in csv.reader(lines[1:], quoting=csv.QUOTE_NONE)
        if row and row[0].strip().lower() != "iso date"
    ]


def _phases(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    at = 0
    while at < len(text) and (begin := re.compile(r"\S").search(text, at)):
        try:
            phase, at = decoder.raw_decode(text, begin.start())
        except (ValueError, RecursionError) as error:
            raise ImportFormatError(f"JSON of elbencho: {fault_of(error)}") from None
        yield phase


def _member(phase: Any, path: str) -> str:
    for name in path.split("."):
        phase = phase.get(name) if isinstance(phase, dict) else None
    return "" if phase is None or isinstance(phase, dict | list) else str(phase)


def _json_rows(text: str) -> list[_Row]:
    rows: list[_Row] = []
    for phase in _phases(text):
        row = {column: _member(phase, path) for path, column in _COLUMNS.items()}
        for path, column in _RESULTS.items():
            row[column] = _member(phase, path.format(""))
            row[_MIXED_READ + column] = _member(phase, path.format("rwmix_read."))
        rows.append(row)
    return rows


def _value(row: _Row, *names: str) -> float | None:
    return next((v for name in names if (v := number(row.get(name, ""))) is not None), None)


def _bytes(row: _Row, name: str) -> float | None:
    """The bytes of `bytes NAME`, or of `MiB NAME`."""
    exact, mib = _value(row, f"bytes{name}"), _value(row, f"mib{name}")
    return exact if exact is not None else None if mib is None else mib * MIB


def _is_set(row: _Row, name: str) -> bool:
    return row.get(name, "").lower() in ("1", "true")


def _cell(row: _Row, access: str, prefix: str = "") -> Cell | None:
    """`prefix`: that of the columns of this direction."""
    results = {
        name.removeprefix(prefix): text for name, text in row.items() if name.startswith(prefix)
    }
    milliseconds = _value(row, "time ms [last]", "time [ms] [last]")
    if milliseconds is None:
        return None
    # Whole MiB/s in CSV: 0 is not known.
    rate, moved = _bytes(results, "/s [last]") or None, _bytes(results, " [last]")
    entries, per_second = _value(results, "entries [last]"), _value(results, "entries/s [last]")
    first = _bytes(results, "/s [first]") if rate else _value(results, "entries/s [first]")
    latencies = {
        f"{what}_latency_us": value
        for what in ("min", "avg", "max")
        if (value := _value(results, f"io lat us [{what}]", f"io lat us {what}")) is not None
    }
    block = size(row.get("block size", "")) or 0
    moves = access in ("write", "read") and moved is not None
    hosts = int(_value(row, "hosts") or 1)
    ranks = int(_value(row, "threads") or 1) * hosts
    return Cell(
        pattern="random" if _is_set(row, "random") else "sequential",
        access=access,
        where={
            "operation": row["operation"].lower(),
            "path_type": row.get("path type", ""),
            "block_bytes": block,
            "file_bytes": size(row.get("file size", "")) or 0,
            "threads": ranks,
            "io_depth": int(_value(row, "io depth") or 1),
            "direct": _is_set(row, "direct io"),
            "label": row.get("label", ""),
        },
        ranks=ranks,
        nodes=hosts,
        bytes=round(moved or 0) if moves else 0,
        operations=round((moved or 0) / block) if moves and block else round(entries or 0),
        # In whole milliseconds: 0 is not known.
        seconds=milliseconds / 1000 or None,
        rate=rate if moves else per_second,
        moves=moves,
        detail={"first_done": first, **latencies},
    )


def _cells_of(row: _Row) -> Iterator[Cell | None]:
    """What a phase did, without what is not a rate of the storage, such as SYNC."""
    operation = row.get("operation", "").lower()
    name = operation.split("+")[0]  # "+s", "+r": with a stat or a read of each file
    if name in _ACCESS:
        yield _cell(row, _ACCESS[name])
    elif re.fullmatch(r"rwmix\d+|mix-t\d+", name):
        yield _cell(row, "write")
        yield _cell(row, "read", _MIXED_READ)


def _place(cell: Cell) -> dict[str, Any]:
    """The same in all repetitions."""
    return cell.where | {"access": cell.access, "pattern": cell.pattern}


def _values(cells: Sequence[Cell]) -> list[Value]:
    """The mean of the repetitions of each cell that moves bytes; without one, of each cell."""
    moving = [cell for cell in cells if cell.unit == "B/s"] or list(cells)
    found: dict[str, list[Cell]] = {}
    for cell in moving:
        found.setdefault(repr(_place(cell)), []).append(cell)
    values = []
    for same in found.values():
        rates = [cell.rate for cell in same if cell.rate is not None]
        first = same[0]
        kind = "bandwidth" if first.unit == "B/s" else "rate"
        values.append(
            Value(
                f"{first.access}_{kind}",
                sum(rates) / len(rates),
                first.unit,
                _place(first),
                samples=Samples.of(rates),
            )
        )
    return values


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an unmatched quote of the user's
        return command.split()


def _run(rows: Sequence[_Row], form: str, *notes: str) -> list[Imported]:
    """One run; equal rows are repetitions of the same cell."""
    cells: list[Cell] = []
    missing: list[str] = []
    for cell in (cell for row in rows for cell in _cells_of(row)):
        if cell is None or cell.rate is None:
            missing += [cell.access] if cell is not None else []
            continue
        same = sum(_place(c) == _place(cell) for c in cells)
        cells.append(dataclasses.replace(cell, repetition=same + 1))
    if not cells:
        raise ImportFormatError(f"{form} of elbencho without a phase that has a rate")
    version = next((row["version"] for row in rows if row.get("version")), "")
    command = next((row["command"] for row in rows if row.get("command")), "")
    date = re.sub(r"\.\d+", "", rows[0].get("iso date", ""))  # milliseconds, before the zone
    return [
        Imported(
            benchmark="elbencho",
            program="elbencho",
            version=version,
            started=date_of(date),
            cells=cells,
            values=_values(cells),
            ranks=max(cell.ranks for cell in cells),
            nodes=max(cell.nodes for cell in cells),
            command=_words(command),
            notes=(
                "rates are those when the slowest thread had finished",
                *notes,
                *without_rate(missing),
            ),
        )
    ]


def read_csv(text: str) -> list[Imported]:
    return _run(
        _csv_rows(text), "CSV", "bytes and their rates are whole MiB: the JSON has them all"
    )


def read_json(text: str) -> list[Imported]:
    return _run(_json_rows(text), "JSON")
