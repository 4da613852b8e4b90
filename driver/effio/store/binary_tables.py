# SPDX-License-Identifier: BSD-3-Clause
"""Rows as binary files: Parquet and Feather (pyarrow), Excel workbooks (openpyxl)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import IO, Any

from effio.errors import EffioError, ExitCode, pip_install
from effio.store.table import Row, columns_of, kind_of, kind_of_value

# Limits of a worksheet: rows, columns, and characters in a cell.
_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384
_MOST_TEXT = 32_767
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
    try:
        import openpyxl
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
        from openpyxl.styles import Font
    except ImportError:
        raise _missing("xlsx", "openpyxl") from None
    columns = columns_of(rows)
    if len(rows) >= _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        raise EffioError(
            f"{len(rows)} rows of {len(columns)} columns do not fit in a sheet of a workbook"
            f" ({_MOST_ROWS} rows with the heading, {_MOST_COLUMNS} columns)",
            hint="use a file whose name ends in .parquet or .csv",
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"

    def cell(value: object) -> Any:
        exact = isinstance(value, bool) or (isinstance(value, int) and abs(value) <= _MOST_EXACT)
        if value is None or exact or (isinstance(value, float) and math.isfinite(value)):
            return value
        text = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("", str(value))[:_MOST_TEXT])
        text.data_type = "s"
        return text

    heading = [cell(name) for name in columns]
    for one in heading:
        one.font = Font(bold=True)
    sheet.append(heading)
    for row in rows:
        sheet.append([cell(row.get(name)) for name in columns])
    book.save(stream)
