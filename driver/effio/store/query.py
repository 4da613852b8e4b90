# SPDX-License-Identifier: BSD-3-Clause
"""SQL over all runs, by DuckDB. The tables are made from results that our reader has checked, so a
damaged or hostile file never reaches the database's parsers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from effio.errors import EffioError, ExitCode, pip_install
from effio.store import temporary
from effio.store.index import Index
from effio.store.table import TABLES, kind_of

if TYPE_CHECKING:
    import duckdb


# DuckDB then loads no extension, neither one that a query names nor one that a name of a file seems
# to need, and takes no variable of ours for a table. The last one keeps a query from changing them,
# and from naming files for logs and profiles. DuckDB 1.2 is the first that knows them all.
_CLOSED = (
    ("autoinstall_known_extensions", "false"),
    ("autoload_known_extensions", "false"),
    ("python_enable_replacements", "false"),
    ("enable_external_access", "false"),
    ("lock_configuration", "true"),
)
_ONLY_RUNS = (
    "a query reads the kept runs and nothing else: no other files, no network, no extensions or"
    " settings of DuckDB"
)
_WRITE = (
    'to write its answer to a file: effio query --format csv "SELECT ..." > FILE, or effio export'
)

# DuckDB's own limit for a row, raised where one is longer. Its buffers are twice as large, and one
# thread parses each.
_ROW_BYTES = 16 << 20

_TYPES = {"bool": "BOOLEAN", "int": "BIGINT", "float": "DOUBLE", "text": "VARCHAR"}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _make_table(database: duckdb.DuckDBPyConnection, name: str, index: Index, place: str) -> None:
    """A view of the rows as a file has them, so that of their many columns only those are read that
    the question needs."""
    columns = index.columns(name)
    types = {c.id: _TYPES[kind_of(c.kinds)] for c in columns}
    if not columns:
        database.execute(f'CREATE TABLE {name} ("run" VARCHAR)')
        return
    file = f"{place}/{name}.jsonl"
    longest = _ROW_BYTES
    with temporary.writing(), Path(file).open("wb") as stream:
        for rows in index.rows(name):
            stream.write(rows)
            if len(rows) > longest:
                longest = max(longest, *map(len, rows.splitlines()))
    fields = ", ".join(f"c{c.id}: '{types[c.id]}'" for c in columns)
    named = ", ".join(f"c{c.id} AS {_quoted(c.name)}" for c in columns)
    database.execute(
        f"CREATE VIEW {name} AS SELECT {named} FROM read_json('{file}', format = "
        f"'newline_delimited', columns = {{{fields}}}, maximum_object_size = {longest})"
    )


@contextlib.contextmanager
def opened_database(index: Index, sql: str = "") -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory, with the tables `runs`, `measurements` and `figures`, as far as the
    question names them; with all of them if it names none."""
    try:
        import duckdb
    except ImportError:
        raise EffioError(
            "SQL queries need DuckDB, which is not installed",
            ExitCode.ENVIRONMENT,
            pip_install("duckdb"),
        ) from None
    named = [table for table in TABLES if table in sql.lower()]
    with (
        temporary.directory() as place,
        # Without it DuckDB writes what does not fit into memory to the working directory.
        duckdb.connect(":memory:", config={"temp_directory": place}) as database,
    ):
        for table in named or TABLES:
            _make_table(database, table, index, place)
        _close(database, place)
        yield database


def _close(database: duckdb.DuckDBPyConnection, place: str) -> None:
    """From here on the database reaches only its own directory."""
    import duckdb

    try:
        database.execute(f"SET allowed_directories = ['{place}']")
        for name, value in _CLOSED:
            database.execute(f"SET {name} = {value}")
    except duckdb.Error:
        raise EffioError(
            f"SQL queries need DuckDB 1.2 or later; this is {duckdb.__version__}",
            ExitCode.ENVIRONMENT,
            pip_install("--upgrade duckdb"),
        ) from None


def _complaint(error: duckdb.Error) -> EffioError:
    """What DuckDB says of a query. Of what is closed to queries it says how to open it, which does
    not help here."""
    import duckdb

    text = str(error).strip()
    closed = ("requires extension", "requires the extension", "exists in the", "has been locked")
    if isinstance(error, duckdb.PermissionException) or any(words in text for words in closed):
        return EffioError(f"{_ONLY_RUNS}\n{text.splitlines()[0]}", hint=_WRITE)
    if "'pytz'" in text:
        return EffioError(
            "times with a time zone need pytz, which is not installed",
            ExitCode.ENVIRONMENT,
            f"{pip_install('pytz')}, or convert them in the query: now()::TIMESTAMP",
        )
    return EffioError(text)


def _distinct(names: Sequence[str]) -> list[str]:
    """A repeated name gets a number, as DuckDB itself does in a table: run, run_1."""
    found: list[str] = []
    for name in names:
        number, own = 0, name
        while own in found:
            number += 1
            own = f"{name}_{number}"
        found.append(own)
    return found


def ask(database: duckdb.DuckDBPyConnection, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Column names and rows; the database's complaint becomes a usage error."""
    import duckdb

    if not sql.strip():
        raise EffioError("there is no question; see: effio query --help")
    try:
        answer = database.execute(sql)
        names = _distinct([d[0] for d in answer.description or []])
        return names, answer.fetchall()
    except duckdb.Error as error:
        raise _complaint(error) from None
