# SPDX-License-Identifier: BSD-3-Clause
"""A query reads the kept runs and nothing else: not the network, and no file."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest

from driver.conftest import Effio
from driver.test_tables import on_terminal

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")

_NOTHING_ELSE = "effio: a query reads the kept runs and nothing else"


@pytest.fixture
def closed(kept: Effio) -> Effio:
    """A file to read, and a home where extensions would be installed."""
    (kept.cwd / "foreign.csv").write_text("secret\n42\n")
    (kept.cwd / "home").mkdir()
    kept.environment["HOME"] = str(kept.cwd / "home")
    return kept


def _files(place: Path) -> set[Path]:
    return {file for file in place.rglob("*") if "cache" not in file.parts}


@pytest.mark.parametrize(
    "sql",
    [
        "INSTALL httpfs",
        "FORCE INSTALL spatial FROM community",
        "LOAD httpfs",
        "UPDATE EXTENSIONS",
        "SELECT st_point(1, 2)",
        "SELECT * FROM read_csv('foreign.csv')",
        "SELECT * FROM 'foreign.csv'",
        "SELECT * FROM glob('*')",
        "SELECT * FROM read_text('/etc/passwd')",
        "COPY runs TO 'foreign.csv'",
        "COPY runs TO 'new.parquet'",
        "CREATE TABLE t (x VARCHAR); COPY t FROM 'foreign.csv'",
        "EXPORT DATABASE 'new'",
        "ATTACH 'new.db'",
        "ATTACH 'http://localhost:@/new.db' AS n",
        "SELECT * FROM 'http://localhost:@/x.csv'",
        "SELECT * FROM 's3://bucket/x.parquet'",
        "SET enable_external_access = true",
        "SET temp_directory = '.'",
        "PRAGMA profiling_output = 'new.json'",
        "CREATE SECRET (TYPE s3)",
    ],
)
def test_it_reaches_nothing_else(closed: Effio, sql: str) -> None:
    before = _files(closed.cwd)
    with socket.create_server(("localhost", 0)) as server:
        server.setblocking(False)
        done = closed.call("query", sql.replace("@", str(server.getsockname()[1])))
        with pytest.raises(BlockingIOError):
            server.accept()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(_NOTHING_ELSE), done.stderr
    assert "effio export" in done.stderr
    assert _files(closed.cwd) == before
    assert (closed.cwd / "foreign.csv").read_text() == "secret\n42\n"


def test_variables_of_effio_are_not_tables(closed: Effio) -> None:
    """DuckDB's module for Python takes a name that it does not know for a variable."""
    for name in ("index", "names", "sql", "rows", "entry"):
        done = closed.call("query", f"SELECT * FROM {name}")
        assert done.returncode == 2
        assert f"Table with name {name} does not exist" in done.stderr


def test_its_own_tables_and_views_are_fine(closed: Effio) -> None:
    done = closed.call(
        "query",
        "CREATE TABLE t AS FROM runs; CREATE VIEW v AS FROM t; SELECT count(*) AS n FROM v",
        "--csv",
    )
    assert (done.stdout, done.stderr) == ("n\n2\n", "")


def test_every_requested_column_is_printed(kept: Effio) -> None:
    """Also one of which all values are NULL or empty, and those of an answer without rows."""
    words = """SELECT 1 AS "unit in CSV", NULL AS nothing, '' AS empty, benchmark FROM runs"""
    printed = kept.run("query", words).stdout.splitlines()
    assert printed[0].split("  ") == ["unit in CSV", "nothing", "empty", "benchmark"]
    assert [line.split() for line in printed[1:]] == [["1", "–", "b-eff-io"]] * 2
    said = on_terminal(kept, 100, "query", words.replace("benchmark", "benchmark, run"))[-1]
    for word in ("unit in CSV 1", "nothing –", "empty", "benchmark b-eff-io"):
        assert word in said
    heading, row = on_terminal(kept, 100, "query", "SELECT NULL AS nothing, 1 AS one")
    assert (heading.split(), row.split()) == (["nothing", "one"], ["–", "1"])
    none = "SELECT run, benchmark FROM runs WHERE ranks < 0"
    assert kept.run("query", none).stdout.split() == ["run", "benchmark"]
    assert on_terminal(kept, 100, "query", none)[0].split() == ["run", "benchmark"]


def test_it_names_runs_that_it_leaves_out(kept: Effio) -> None:
    """Also when the index knows them, and no longer when they are whole again."""
    file = max((kept.cwd / "effio-runs").glob("*/result.jsonl"))
    whole = file.read_text()
    file.write_text("no result\n")
    count = ("query", "SELECT count(*) AS n FROM runs", "--csv")
    for done in (kept.call(*count), kept.call(*count)):
        assert done.stdout == "n\n1\n"
        assert done.stderr.startswith("effio: left out: "), done.stderr
        assert done.stderr.count("\n") == 1
    file.write_text(whole)
    done = kept.call(*count)
    assert (done.stdout, done.stderr) == ("n\n2\n", "")


def test_a_row_may_be_as_long_as_a_line_of_a_result(kept: Effio) -> None:
    """And longer: its quotes are escaped. DuckDB itself takes rows of 32 MiB, or less."""
    many = 6 << 20
    file = next((kept.cwd / "effio-runs").glob("*/result.jsonl"))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    measured = [line for line in lines if line["kind"] == "measurement"]
    measured[-1]["detail"]["said"] = [""] * many
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = kept.call("query", "SELECT max(length(detail_said)) FROM measurements", "--csv")
    assert done.stdout.splitlines()[1:] == [str(len('"", ') * many)]


def test_times_with_a_zone_name_what_they_need(
    closed: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pytz", None)
    done = closed.call("query", "SELECT now()")
    assert done.returncode == 6
    assert re.match(
        r"effio: times with a time zone need pytz, which is not installed\n", done.stderr
    )
    assert closed.call("query", "SELECT now()::TIMESTAMP > '2020-01-01' AS x", "--csv").stdout == (
        "x\nTrue\n"
    )


def test_an_older_duckdb_is_refused(closed: Effio, monkeypatch: pytest.MonkeyPatch) -> None:
    """One without the settings would be open."""
    monkeypatch.setattr("effio.store.query._CLOSED", (("no_such_setting", "false"),))
    done = closed.call("query", "SELECT 1")
    assert done.returncode == 6
    assert "SQL queries need DuckDB 1.2 or later; this is " in done.stderr
