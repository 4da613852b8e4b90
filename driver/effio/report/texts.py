# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a report as Markdown and CSV."""

from __future__ import annotations

import io

from effio.report.model import Table
from effio.store.table import markdown_text, write_csv


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


def as_csv(table: Table) -> str:
    """In base units and full precision."""
    stream = io.StringIO()
    titles = [c.csv_title for c in table.columns]
    rows = [
        {t: str(c) if c is not None and not isinstance(c, (str, int, float)) else c
         for t, c in zip(titles, row, strict=True)}
        for row in table.rows
    ]  # fmt: skip
    if rows:
        write_csv(rows, stream)
    else:
        stream.write(",".join(titles) + "\n")
    return stream.getvalue()
