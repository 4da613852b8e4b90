# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a report for other programs: CSV, TSV, JSON and Markdown."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from enum import Enum

from effio import text as fmt
from effio.report.model import Cell, Quantity, Table
from effio.store.table import markdown_text, write_csv


class Form(Enum):
    """How a command prints its tables."""

    TEXT = "text"
    TSV = "tsv"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


def as_markdown(table: Table) -> str:
    columns = table.columns
    lines = [f"### {markdown_text(table.title)}", ""] if table.title else []
    lines.append("| " + " | ".join(markdown_text(c.title) for c in columns) + " |")
    lines.append("|" + "|".join("--:" if c.is_number else "---" for c in columns) + "|")
    for row in table.rows:
        cells = (markdown_text(c.show(cell)) for c, cell in zip(columns, row, strict=True))
        lines.append("| " + " | ".join(cells) + " |")
    if table.caption:
        lines += ["", markdown_text(table.caption)]
    return "\n".join(lines) + "\n"


Raw = str | float | int | bool | None


def _raw(cell: Cell) -> Raw:
    if isinstance(cell, Quantity):
        return cell.value
    return str(cell) if isinstance(cell, str) else cell


def records(table: Table) -> tuple[list[str], list[list[Raw]]]:
    """Titles and rows in base units and full precision. A column whose cells have different units
    is followed by a column of units, unless the table already has one."""
    named = any(column.name == "unit in CSV" for column in table.columns)
    titles: list[str] = []
    columns: list[list[Raw]] = []
    rows = list(table.rows)  # made once, not for every column
    for i, column in enumerate(table.columns):
        cells = [row[i] for row in rows]
        titles.append(column.csv_title)
        columns.append([_raw(cell) for cell in cells])
        if not named and any(isinstance(cell, Quantity) for cell in cells):
            titles.append(f"unit of {column.name}")
            columns.append([c.unit if isinstance(c, Quantity) else None for c in cells])
    return titles, [list(row) for row in zip(*columns, strict=True)]


def as_csv(table: Table) -> str:
    stream = io.StringIO()
    titles, rows = records(table)
    if rows:
        write_csv([dict(zip(titles, row, strict=True)) for row in rows], stream)
    else:
        stream.write(",".join(titles) + "\n")
    return stream.getvalue()


def as_tsv(table: Table) -> str:
    """One line per record; a tab or newline in a text becomes a blank."""
    titles, rows = records(table)
    lines: list[Sequence[Raw]] = [titles, *rows]
    texts = ([fmt.plain("" if c is None else c, 1_000_000) for c in line] for line in lines)
    return "".join("\t".join(line) + "\n" for line in texts)


def as_json_lines(table: Table, name: str = "") -> str:
    """One object per line; `name` is the table's."""
    titles, rows = records(table)
    head = {"table": name} if name else {}
    found = ({**head, **dict(zip(titles, row, strict=True))} for row in rows)
    return "".join(json.dumps(row) + "\n" for row in found)


def written(tables: Sequence[Table], form: Form) -> str:
    """The records of the tables. If there are several tables, each has its title above it, or in
    JSON in the member `table`."""
    if form is Form.MARKDOWN:
        return "\n".join(map(as_markdown, tables))
    several = len(tables) > 1
    if form is Form.JSON:
        return "".join(as_json_lines(table, table.title if several else "") for table in tables)
    draw = as_tsv if form is Form.TSV else as_csv
    texts = [(f"# {fmt.plain(t.title)}\n" if several else "") + draw(t) for t in tables]
    return "\n".join(texts)
