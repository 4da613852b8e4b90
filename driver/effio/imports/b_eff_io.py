# SPDX-License-Identifier: BSD-3-Clause
"""The summary of b_eff_io 2.x (`PREFIX.sum`). Its MB/s are 10⁶ bytes a second."""

from __future__ import annotations

import re

from effio.imports.model import Cell, Imported, ImportFormatError, Value
from effio.imports.numbers import date_of, number

_TITLE = re.compile(r"^b_eff_io\.c, Revision (\S+)", re.M)
_ROW = re.compile(
    r"^\s*(\d+) PEs (\d)\s+(\d+)\s+(write|rewrite|read)((?:\s+(?:[0-9.]+|-)){5})\s*$", re.M
)
_TOTAL = re.compile(
    r"^\s*(\d+) PEs\s+total-(write|rewrite|read)((?:\s+(?:[0-9.]+|-)){5})\s*$", re.M
)
_AVERAGE = re.compile(
    r"^weighted average bandwidth for (write|rewrite|read)\s*:\s*([0-9.]+) MB/s on (\d+) process",
    re.M,
)
_NUMBER = re.compile(
    r"^b_eff_io of these measurements\s*=\s*([0-9.]+) MB/s on (\d+) processes with (\d+) MByte/PE"
    r" and scheduled time=([0-9.]+) min",
    re.M,
)
_TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")
MEGABYTE = 1e6


def is_text(text: str) -> bool:
    return _TITLE.search(text[:2000]) is not None and "Summary of file I/O bandwidth" in text


def _field(name: str, text: str) -> str:
    found = re.search(rf"^\s*{re.escape(name)}\s*:\s*(.+)$", text, re.M)
    return found[1].strip() if found else ""


def read_text(text: str) -> list[Imported]:
    """The file holds the best partition; the number is that of the whole run."""
    title, reported = _TITLE.search(text), _NUMBER.search(text)
    if title is None or reported is None:
        raise ImportFormatError("summary of b_eff_io without its number: the run did not finish")
    ranks = int(reported[2])
    cells = [
        Cell(
            pattern=pattern,
            access=access,
            where={"ranks": int(pes), "position": int(position), "chunk_bytes": int(chunk)},
            ranks=int(pes),
            seconds=None,
            rate=rate * MEGABYTE,
            moves=True,
        )
        for pes, position, chunk, access, columns in _ROW.findall(text)
        for pattern, column in zip(_TYPES, columns.split(), strict=True)
        if (rate := number(column)) is not None
    ]
    types = [
        Value(
            "type_bandwidth",
            rate * MEGABYTE,
            "B/s",
            {"partition": 0, "ranks": int(pes), "access": access, "pattern": pattern},
        )
        for pes, access, columns in _TOTAL.findall(text)
        for pattern, column in zip(_TYPES, columns.split(), strict=True)
        if (rate := number(column)) is not None
    ]
    averages = [
        Value(
            "access_bandwidth",
            float(rate) * MEGABYTE,
            "B/s",
            {"partition": 0, "ranks": int(pes), "access": access},
        )
        for access, rate, pes in _AVERAGE.findall(text)
    ]
    valid = "NOT VALID for comparison" not in text
    reasons = re.findall(r"^\s*criterion \d+: (.+?) -- NOT reached", text, re.M)
    number_of_run = Value(
        "b_eff_io",
        float(reported[1]) * MEGABYTE,
        "B/s",
        {"ranks": ranks},
        valid=valid,
        reasons=reasons,
    )
    return [
        Imported(
            benchmark="b-eff-io",
            program="b_eff_io",
            version=title[1],
            started=date_of(_field("Date of measurement", text)),
            cells=cells,
            values=[*types, *averages, number_of_run],
            ranks=ranks,
            options={"memory-per-rank": int(reported[3]) << 20, "time": 60 * float(reported[4])},
            host=_field("hostname", text),
            notes=("bytes and times of the cells are not in the summary",),
        )
    ]
