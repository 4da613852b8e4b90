# SPDX-License-Identifier: BSD-3-Clause
"""Rows as binary files: Parquet and Feather (pyarrow), Excel workbooks (openpyxl)."""

from __future__ import annotations

import io
import math
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any

from effio.errors import EffioError, ExitCode, pip_install
from effio.store import temporary
from effio.store.table import Row, columns_of, kind_of, kind_of_value
from effio.text import encodable

# Limits of a worksheet: rows, columns, and characters in a cell.
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384
_MOST_TEXT = 32_767
_MOST_TITLE = 31
# A spreadsheet computes in doubles: a larger integer would lose its last digits.
_MOST_EXACT = 2**53


def _missing(form: str, package: str) -> EffioError:
    return EffioError(
        f"{form} files need {package}, which is not installed",
        ExitCode.ENVIRONMENT,
        pip_install(package),
    )


def write_columns(rows: Sequence[Row], form: str, stream: IO[bytes]) -> None:
    """Writes Parquet or Feather. A column with numbers in some rows and text in others is text."""
    try:
        import pyarrow
        from pyarrow import feather, parquet
    except ImportError:
        raise _missing(form, "pyarrow") from None
    types = {
        "bool": pyarrow.bool_(),
        "int": pyarrow.int64(),
        "float": pyarrow.float64(),
        "text": pyarrow.string(),
    }
    arrays, names = [], columns_of(rows)
    for name in names:
        values = [row.get(name) for row in rows]
        kind = kind_of({kind_of_value(v) for v in values if v is not None})
        if kind == "text":
            values = [None if v is None else str(v) for v in values]
        elif kind == "float":
            values = [None if v is None else float(v) for v in values]
        arrays.append(pyarrow.array(values, type=types[kind]))
    table = pyarrow.table(arrays, names=names)
    if form == "feather":
        feather.write_feather(table, stream)
    else:
        parquet.write_table(table, stream)


def write_workbook(rows: Sequence[Row], title: str, stream: IO[bytes]) -> None:
    """Writes one sheet with a frozen header row. Texts are never interpreted as formulas."""
    columns = columns_of(rows)
    if len(rows) >= _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        raise EffioError(
            f"{len(rows)} rows of {len(columns)} columns do not fit in a sheet of a workbook"
            f" ({_MOST_ROWS} rows with the heading, {_MOST_COLUMNS} columns)",
            hint="use a file whose name ends in .parquet or .csv",
        )
    write_sheets({title: (columns, [[row.get(name) for name in columns] for row in rows])}, stream)


Sheet = tuple[Sequence[str], Sequence[Sequence[object]]]  # titles of columns, and rows


def write_sheets(sheets: Mapping[str, Sheet], stream: IO[bytes]) -> None:
    """Writes a workbook with a sheet for each name, of which a workbook takes 31 characters."""
    try:
        import openpyxl
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
        from openpyxl.styles import Font
        from openpyxl.worksheet._writer import WorksheetWriter
    except ImportError:
        raise _missing("xlsx", "openpyxl") from None
    book = openpyxl.Workbook(write_only=True)

    class Writer(WorksheetWriter):  # type: ignore[misc]
        """Writes the sheet to a file without a name, until the workbook is saved. The library's own
        way fails where TMPDIR has an odd name or is full."""

        def __init__(self, sheet: Any) -> None:
            self.file = tempfile.TemporaryFile()  # noqa: SIM115
            super().__init__(sheet, out=self.file)
            self.write_top()

        def close(self) -> None:
            super().close()
            self.file.flush()
            self.out = temporary.name_of(self.file.fileno())

        def cleanup(self) -> None:
            self.file.close()

    def cell(sheet: Any, value: object) -> Any:
        exact = isinstance(value, bool) or (isinstance(value, int) and abs(value) <= _MOST_EXACT)
        if value is None or exact or (isinstance(value, float) and math.isfinite(value)):
            return value
        text = WriteOnlyCell(
            sheet, ILLEGAL_CHARACTERS_RE.sub("", encodable(str(value)))[:_MOST_TEXT]
        )
        text.data_type = "s"
        return text

    for title, (columns, rows) in sheets.items():
        sheet = book.create_sheet(title[:_MOST_TITLE])
        sheet.freeze_panes = "A2"
        sheet._writer = Writer(sheet)
        heading = [cell(sheet, name) for name in columns]
        for one in heading:
            one.font = Font(bold=True)
        with temporary.writing():
            sheet.append(heading)
            for row in rows:
                sheet.append([cell(sheet, value) for value in row])
            sheet.close()
    _save(book, stream)


def _save(book: Any, stream: IO[bytes]) -> None:
    """A zip file that cannot be written leaves a second fault, when Python removes it."""
    whole = io.BytesIO()
    book.save(whole)
    stream.write(whole.getbuffer())


def write_document(
    title: str, texts: Sequence[str], tables: Mapping[str, Sheet], stream: IO[bytes]
) -> None:
    """Writes a document of Word with these tables, each below its heading."""
    try:
        import docx
    except ImportError:
        raise _missing("docx", "python-docx") from None
    document = docx.Document()
    document.add_heading(_printable(title), 0)
    for text in texts:
        document.add_paragraph(_printable(text))
    for heading, (columns, rows) in tables.items():
        document.add_heading(_printable(heading), 1)
        table = document.add_table(rows=1, cols=len(columns), style="Light Grid Accent 1")
        for at, row in enumerate([columns, *rows]):
            cells = table.rows[0].cells if at == 0 else table.add_row().cells
            for cell, value in zip(cells, row, strict=True):
                cell.text = _printable("" if value is None else value)
    _save(document, stream)


def _printable(value: object) -> str:
    """XML takes no control characters."""
    return "".join(c for c in str(value) if c.isprintable())
