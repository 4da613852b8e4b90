# SPDX-License-Identifier: BSD-3-Clause
"""h5bench_write and h5bench_read: the printed results, and the file of `CSV_FILE`. Two rates each:
of the raw data calls, and the observed one, which includes opening, metadata and closing, but not
the emulated computation. Its MB and GB are powers of 2: 16 Mi particles of 32 bytes in five steps
are "2560 MB"."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping

from effio.imports.model import GIB, MIB, Cell, Imported, ImportFormatError, Value
from effio.imports.numbers import number

# Of a metric's name and its unit.
Metrics = Mapping[str, tuple[str, str]]

_UNITS = {
    "B": 1.0,
    "KB": 1024.0,
    "MB": float(MIB),
    "GB": float(GIB),
    "TB": 1024.0 * GIB,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
}
# As h5bench 1.0 to 1.2 print them, and as later ones do.
_RESULTS = re.compile(r"=+ +Performance [Rr]esults +=+")
_RANKS_BEFORE = re.compile(r"Performance measured with (\d+) ranks")
_RANKS_INSIDE = re.compile(r"Total number of ranks: (\d+)")
_LINE = re.compile(r"^\s*([A-Za-z][\w() ]*?)(?: =| takes|:)? +([\d.]+) +(\S+)\s*$", re.M)
_TIMES = {
    "metadata": "metadata time",
    "create": "H5Fcreate",
    "flush": "H5Fflush",
    "close": "H5Fclose",
}


def is_text(text: str) -> bool:
    return _RESULTS.search(text) is not None and "Observed" in text


def is_csv(text: str) -> bool:
    head = [cell.strip() for cell in text.split("\n", 1)[0].split(",")]
    return head == ["metric", "value", "unit"]


def _quantity(metrics: Metrics, name: str) -> float | None:
    """The number in bytes, seconds, or bytes per second."""
    value, unit = metrics.get(name, ("", ""))
    found = number(value)
    scale = _UNITS.get(unit.partition("/")[0])
    return None if found is None or scale is None else found * scale


def _run(metrics: Metrics, access: str, ranks: int, options: dict[str, str]) -> Imported:
    moved = round(_quantity(metrics, "total size") or 0)
    waited = _quantity(metrics, "total compute time") or 0.0
    parts = {
        part: value
        for part, name in _TIMES.items()
        if (value := _quantity(metrics, name)) is not None
    }
    cells = []
    for what in ("observed", "raw"):
        rate, seconds = _quantity(metrics, f"{what} rate"), _quantity(metrics, f"{what} time")
        if rate is None:
            continue
        if what == "observed" and seconds is not None:
            seconds = max(seconds - waited, 0.0)
        cells.append(
            Cell(
                pattern=what,
                access=access,
                where={"timed": what},
                ranks=ranks,
                seconds=seconds or None,
                rate=rate,
                bytes=moved,
                parts=parts if what == "observed" else {},
                moves=True,
            )
        )
    if not cells:
        raise ImportFormatError("results of h5bench without an observed or raw rate")
    first = cells[0]
    return Imported(
        benchmark="h5bench",
        program=f"h5bench_{access}",
        version="",
        started=None,
        cells=cells,
        values=[Value(f"{access}_bandwidth", first.rate or 0.0, "B/s", first.where)],
        ranks=ranks,
        options=options,
        backend="hdf5",
        notes=("observed rates leave out the emulated computation",),
    )


def read_text(text: str) -> list[Imported]:
    """A run for each block of results."""
    runs = []
    starts = [found.end() for found in _RESULTS.finditer(text)]
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        metrics: dict[str, tuple[str, str]] = {}
        access = ""
        for found in _LINE.finditer(text[begin:end]):
            words = [w for w in found[1].lower().split() if w not in ("sync", "async", "emulated")]
            access = next((w for w in words if w in ("write", "read")), access)
            name = " ".join(w for w in words if w not in ("write", "read", "completion"))
            if name.startswith("h5f"):  # "H5Fcreate() takes", "H5Fcreate() time:"
                name = name.partition("()")[0].replace("h5f", "H5F")
            metrics[name] = (found[2], found[3])
        if not access:
            raise ImportFormatError("results of h5bench that name neither write nor read")
        said = _RANKS_INSIDE.findall(text[begin:end]) or _RANKS_BEFORE.findall(text[:begin])
        runs.append(_run(metrics, access, int(said[-1]) if said else 1, {}))
    return runs


def read_csv(text: str) -> list[Imported]:
    """One run."""
    rows = [[cell.strip() for cell in row] for row in csv.reader(text.splitlines()[1:]) if row]
    metrics = {row[0]: (row[1], row[2] if len(row) > 2 else "") for row in rows if len(row) > 1}
    access = metrics.get("operation", ("", ""))[0]
    if access not in ("write", "read"):
        raise ImportFormatError(f"CSV of h5bench with the operation '{access}': not write or read")
    stated = {
        name.replace(" ", "-"): value
        for name, (value, unit) in metrics.items()
        if not unit and name not in ("operation", "ranks")
    }
    return [_run(metrics, access, int(number(metrics.get("ranks", ("", ""))[0]) or 1), stated)]
