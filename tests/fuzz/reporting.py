# SPDX-License-Identifier: BSD-3-Clause
"""Everything that is reported of a result."""

from __future__ import annotations

import json

from effio.report.build import report_of
from effio.report.draw import figure_data
from effio.report.model import Report, Table
from effio.store.reader import Result
from effio.store.table import TABLES, columns_of, rows_of


def report_everything(result: Result) -> Report:
    """The report, all its figures and tables as they are shown, and the rows for queries."""
    report = report_of("tampered", result, result.remarks, {"peak": 1e9})
    for figure in report.figures():
        json.dumps(figure_data(figure, figure.id), allow_nan=False)
        figure.as_table()
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                for row in block.rows:
                    for column, cell in zip(block.columns, row, strict=True):
                        column.show(cell)
    for table in TABLES:
        columns_of(rows_of(table, "tampered", result))
    return report
