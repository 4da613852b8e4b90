# SPDX-License-Identifier: BSD-3-Clause
"""The tables of a page in docs/definitions/, as text, and the sizes that are in them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engines import ROOT

_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: list[list[str]]

    def column(self, name: str) -> list[str]:
        place = self.columns.index(name)
        return [row[place] for row in self.rows]

    def dicts(self) -> list[dict[str, str]]:
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def _cells(line: str) -> list[str]:
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().replace("\\", "").replace("`", "") for cell in cells]


def tables_of(page: str) -> list[Table]:
    """The tables in their order."""
    found: list[Table] = []
    rows: list[list[str]] = []
    for line in [*(ROOT / "docs" / "definitions" / page).read_text().splitlines(), ""]:
        if line.startswith("|"):
            rows.append(_cells(line))
        elif rows:
            found.append(Table(rows[0], rows[2:]))
            rows = []
    return found


def table(page: str, *columns: str) -> Table:
    """The only one of the page whose columns begin so."""
    (found,) = [t for t in tables_of(page) if t.columns[: len(columns)] == list(columns)]
    return found


def size(text: str, lmax: int = 0) -> int:
    """ "32 KiB + 8", "Lmax" """
    total = 0
    for term in text.split("+"):
        if term.strip() == "Lmax":
            total += lmax
            continue
        number, _, unit = term.strip().partition(" ")
        total += int(number) * _UNITS[unit]
    return total
