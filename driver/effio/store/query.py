# SPDX-License-Identifier: BSD-3-Clause
"""SQL over all runs, by DuckDB. The tables are made from results that our reader has checked, so a
damaged or hostile file never reaches the database's parsers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from effio.errors import EffioError, ExitCode
from effio.store.reader import Result
from effio.store.table import TABLES, Row, columns_of, rows_of

if TYPE_CHECKING:
    import duckdb


def _type_of(values: Sequence[Any]) -> str:
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {bool} and kinds:
        return "BOOLEAN"
    if kinds <= {int} and kinds:
        return "BIGINT" if all(abs(v) < 2**63 for v in values if v is not None) else "DOUBLE"
    if kinds <= {int, float} and kinds:
        return "DOUBLE"
    return "VARCHAR"


def _spelled(value: Any, kind: str) -> Any:
    return str(value) if kind == "VARCHAR" and value is not None else value


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _make_table(database: duckdb.DuckDBPyConnection, name: str, rows: list[Row]) -> None:
    columns = columns_of(rows) or ["run"]
    types = {c: _type_of([row.get(c) for row in rows]) for c in columns}
    declared = ", ".join(f"{_quoted(c)} {types[c]}" for c in columns)
    database.execute(f"CREATE TABLE {name} ({declared})")
    if not rows:
        return
    with tempfile.TemporaryDirectory(prefix="effio-query-") as scratch:
        file = Path(scratch) / "rows.jsonl"
        with file.open("w", encoding="utf-8") as stream:
            for row in rows:
                # One spelling for a column that holds numbers in one run and text in another.
                line = [_spelled(row.get(c), types[c]) for c in columns]
                stream.write(json.dumps({f"c{i}": v for i, v in enumerate(line)}) + "\n")
        fields = ", ".join(f"c{i}: '{types[c]}'" for i, c in enumerate(columns))
        database.execute(
            f"INSERT INTO {name} SELECT {', '.join(f'c{i}' for i in range(len(columns)))} "
            f"FROM read_json(?, format = 'newline_delimited', columns = {{{fields}}}, "
            "maximum_object_size = 67108864)",
            [str(file)],
        )


def open_database(results: Sequence[tuple[str, Result]]) -> duckdb.DuckDBPyConnection:
    """In memory, with the tables `runs`, `measurements` and `figures`."""
    try:
        import duckdb
    except ImportError:
        raise EffioError(
            "DuckDB is not installed, which answers SQL",
            ExitCode.ENVIRONMENT,
            "python -m pip install 'effio[query]'  (or: pip install duckdb)",
        ) from None
    database = duckdb.connect(":memory:")
    for table in TABLES:
        rows = [row for name, result in results for row in rows_of(table, name, result)]
        _make_table(database, table, rows)
    return database


def ask(database: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows; the database's complaint becomes a usage error."""
    import duckdb

    if not sql.strip():
        raise EffioError("there is no question; see: effio query --help")
    try:
        answer = database.execute(sql)
        names = [d[0] for d in answer.description or []]
        return names, answer.fetchall()
    except duckdb.Error as error:
        raise EffioError(str(error).strip()) from None
