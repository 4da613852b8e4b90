# SPDX-License-Identifier: BSD-3-Clause
"""CSV of elbencho (`--csvfile`): a measurement per row. "Last done" counts, when the slowest thread
had finished; "first done" is in the details."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence

from effio.imports.model import MIB, Cell, Imported, ImportFormatError, Samples, Value
from effio.imports.numbers import date_of, number, size

_ACCESS = {
    "write": "write",
    "read": "read",
    "rmfiles": "remove",
    "stat": "stat",
    "mkdirs": "create",
    "rmdirs": "remove",
}


def is_csv(text: str) -> bool:
    head = text.split("\n", 1)[0].lower()
    return head.startswith("iso date,") and "operation" in head and "mib/s" in head


def _rows(text: str) -> list[dict[str, str]]:
    """Appended files repeat the head; names of columns changed their case between versions."""
    lines = text.splitlines()
    head = [name.strip().lower() for name in next(csv.reader(lines[:1]))]
    return [
        {name: cell.strip() for name, cell in zip(head, row, strict=False)}
        for row in csv.reader(lines[1:])
        if row and row[0].strip().lower() != "iso date"
    ]


def _value(row: Mapping[str, str], *names: str) -> float | None:
    return next((v for name in names if (v := number(row.get(name, ""))) is not None), None)


def _cell(row: Mapping[str, str], repetition: int) -> Cell | None:
    operation = row.get("operation", "").lower()
    milliseconds = _value(row, "time ms [last]", "time [ms] [last]")
    if operation not in _ACCESS or not milliseconds:
        return None
    rate, moved = _value(row, "mib/s [last]"), _value(row, "mib [last]")
    entries, per_second = _value(row, "entries [last]"), _value(row, "entries/s [last]")
    first = _value(row, "mib/s [first]") if rate else _value(row, "entries/s [first]")
    latencies = {
        f"{what}_latency_us": value
        for what in ("min", "avg", "max")
        if (value := _value(row, f"io lat us [{what}]", f"io lat us {what}")) is not None
    }
    block = size(row.get("block size", "")) or 0
    moves = operation in ("write", "read") and moved is not None
    hosts = int(_value(row, "hosts") or 1)
    ranks = int(_value(row, "threads") or 1) * hosts
    bytes_moved = round((moved or 0) * MIB) if moves else 0
    return Cell(
        pattern="random" if row.get("random") == "1" else "sequential",
        access=_ACCESS[operation],
        where={
            "operation": operation,
            "path_type": row.get("path type", ""),
            "block_bytes": block,
            "file_bytes": size(row.get("file size", "")) or 0,
            "threads": ranks,
            "io_depth": int(_value(row, "io depth") or 1),
            "direct": row.get("direct io") == "1",
            "label": row.get("label", ""),
        },
        ranks=ranks,
        nodes=hosts,
        repetition=repetition,
        bytes=bytes_moved,
        operations=round(bytes_moved / block) if moves and block else round(entries or 0),
        seconds=milliseconds / 1000,
        rate=(None if rate is None else rate * MIB) if moves else per_second,
        detail={"first_done": first, **latencies},
    )


def _values(cells: Sequence[Cell]) -> list[Value]:
    """The mean of the repetitions of each cell that moves bytes; without one, of each cell."""
    moving = [cell for cell in cells if cell.bytes] or list(cells)
    found: dict[str, list[Cell]] = {}
    for cell in moving:
        found.setdefault(repr(cell.where), []).append(cell)
    values = []
    for same in found.values():
        rates = [cell.rate for cell in same if cell.rate is not None]
        first = same[0]
        kind = "bandwidth" if first.bytes else "rate"
        values.append(
            Value(
                f"{first.access}_{kind}",
                sum(rates) / len(rates),
                first.unit,
                first.where | {"access": first.access},
                samples=Samples.of(rates),
            )
        )
    return values


def read_csv(text: str) -> list[Imported]:
    """One run; equal rows are repetitions of the same cell."""
    rows = _rows(text)
    cells: list[Cell] = []
    for row in rows:
        cell = _cell(row, 1)
        if cell is None or cell.rate is None:
            continue
        same = sum(c.where == cell.where for c in cells)
        cells.append(cell if not same else Cell(**{**cell.__dict__, "repetition": same + 1}))
    if not cells:
        raise ImportFormatError("CSV of elbencho without a row that has a rate")
    version = next((row["version"] for row in rows if row.get("version")), "")
    command = next((row["command"] for row in rows if row.get("command")), "")
    return [
        Imported(
            benchmark="elbencho",
            program="elbencho",
            version=version,
            started=date_of(rows[0].get("iso date", "")[:19]),
            cells=cells,
            values=_values(cells),
            ranks=max(cell.ranks for cell in cells),
            nodes=max(cell.nodes for cell in cells),
            command=command.split(),
            notes=("rates are those when the slowest thread had finished",),
        )
    ]
