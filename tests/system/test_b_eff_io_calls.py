# SPDX-License-Identifier: BSD-3-Clause
"""The calls of MPI-IO that b_eff_io makes, file by file: open modes, communicators, views,
datatypes and hints are those of the definition. The trace is written by faults/traced_calls.c."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from b_eff_io_definition import MIB, TYPES, Row, rows_of
from engines import Engine
from results import Result

LMAX = 2 * MIB
RANKS = 2

HINTS = """\
all all all all effio_all switchable
all write scatter on_open effio_open 1
all all shared 1024 effio_kib x y
2 read segmented Lmax effio_max z
all write scatter all cb_buffer_size 1048576
"""

CALLS = {
    "scatter": "{}_all",
    "shared": "{}_ordered",
    "separated": "{}",
    "segmented": "{}",
    "seg_coll": "{}_all",
}


def hints_of(access: str, pattern: str, row: Row | None) -> dict[str, str]:
    """What HINTS says of a row, or of an open."""
    found = {"effio_all": "switchable"}
    if (access, pattern) == ("write", "scatter"):
        if row is None:
            found["effio_open"] = "1"
        found["cb_buffer_size"] = "1048576"
    if pattern == "shared" and row and row.chunk == 1024:
        found["effio_kib"] = "x y"
    if (access, pattern) == ("read", "segmented") and row and row.number == 26:
        found["effio_max"] = "z"
    return found


def written(hints: dict[str, str]) -> set[str]:
    # A key that no library knows is sent with the hints: a library that returns it echoes.
    known = {"effio_canary": "1", **hints} if hints else {}
    return {f"{key}={value}" for key, value in known.items()} or {"-"}


def expected(
    rows: list[Row], rank: int, pattern: str, accesses: tuple[str, ...], hinted: bool
) -> Iterator[tuple[str, set[str]]]:
    """Each call on the file of a pattern type, as the trace has it, and the hints it is given."""

    def reported(access: str, row: Row | None) -> set[str]:
        return written(hints_of(access, pattern, row) if hinted else {})

    nothing: set[str] = set()
    mine = [row for row in rows if row.pattern == pattern]
    opened_by = 1 if pattern == "separated" else RANKS
    segment = sum(row.memory * row.calls for row in mine)
    for access in accesses:
        if access == "write":
            yield f"open RDWR|CREATE|DELETE_ON_CLOSE ranks={opened_by} info=", {"-"}
            yield "close", nothing
        mode = {
            "write": "RDWR|CREATE|UNIQUE_OPEN",
            "rewrite": "RDWR|UNIQUE_OPEN",
            "read": "RDONLY|DELETE_ON_CLOSE|UNIQUE_OPEN",
        }[access]
        yield f"open {mode} ranks={opened_by} info=", reported(access, None)
        before = 0
        for row in mine:
            if pattern == "scatter":
                place, shape = before, (row.chunk, RANKS * row.chunk, rank * row.chunk)
            else:
                place, shape = rank * segment if pattern.startswith("seg") else 0, (8, 8, 0)
            if pattern == "scatter" or row is mine[0]:
                size, extent, first = shape
                yield (
                    f"view disp={place} etype=8 size={size} extent={extent} first={first}"
                    " native info=",
                    reported(access, row),
                )
            elif hinted:
                yield "info ", reported(access, row)
            call = CALLS[pattern].format("read" if access == "read" else "write")
            for _ in range(row.calls):
                yield f"{call} {row.memory // 8} 8", nothing
            if access != "read":
                yield "sync", nothing
            before += RANKS * row.memory * row.calls
        yield "close", nothing


def traced(engine: Engine, where: Path, data: Path, *words: object) -> Result:
    shim = engine.build / "tests" / "faults" / "effio_traced_calls.so"
    assert shim.exists(), f"{shim} is not built"
    prefix = ["env", engine.loaded_before(shim), f"EFFIO_TRACE={where / 'trace'}"]
    asked = ["b-eff-io", "--memory-per-rank", "256MiB", "--quiet", "--time", "0s"]
    asked += ["--partitions", str(RANKS), "--dir", str(data)]
    run = engine.run([*asked, *words], where, RANKS, prefix=prefix)
    assert run.code == 0, run
    return run.result


def check_calls(result: Result, where: Path, hinted: bool) -> None:
    rows = rows_of(result, 0, LMAX)
    for rank in range(RANKS):
        calls: dict[str, list[str]] = {}
        for line in (where / f"trace.{rank}").read_text().splitlines():
            name, _, call = line.partition(" ")
            calls.setdefault(name, []).append(call)
        calls.pop("b_eff_io_data_probe")
        for number, pattern in enumerate(TYPES):
            name = f"b_eff_io_data_i00_{RANKS:03}_{number}"
            name += f".{rank:03}" if pattern == "separated" else ""
            accesses = ("write", "rewrite", "read") if pattern == "scatter" else ("write", "read")
            found = iter(calls.pop(name))
            for begin, hints in expected(rows, rank, pattern, accesses, hinted):
                call = next(found, "nothing more")
                assert call.startswith(begin), (name, begin, call)
                rest = call[len(begin) :]
                assert (set(rest.split(";")) if rest else set()) == hints, (name, begin, call)
            assert list(found) == [], name
        assert calls == {}, "files that the definition does not have"


def test_every_call_is_the_definitions(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    check_calls(traced(any_engine, tmp_path, data), tmp_path, hinted=False)


def test_hints_reach_the_opens_and_rows_that_they_name(
    engine: Engine, tmp_path: Path, data: Path
) -> None:
    (tmp_path / "hints").write_text(HINTS)
    result = traced(engine, tmp_path, data, "--hints", tmp_path / "hints")
    check_calls(result, tmp_path, hinted=True)
    rows = rows_of(result, 0, LMAX)
    for m in result.measurements:
        row = rows[m["where"]["row"]]
        assert m["hints_asked"] == hints_of(m["access"], m["pattern"], row), m["where"]
        if engine.name == "openmpi-ompio":
            continue  # it reports the hint of one file for every file
        here = (m["access"], m["pattern"]) == ("write", "scatter")
        granted = m["hints_granted"].get("cb_buffer_size")
        assert (granted == "1048576") == here, m["where"]


OTHER = "--backend-options=atomic=yes,split=yes"
PIECES = "--memory-piece=64"


@pytest.mark.parametrize("word", ["--no-unique-open", "--no-shared-pointer", OTHER, PIECES])
def test_what_options_change_in_the_calls(
    any_engine: Engine, tmp_path: Path, data: Path, word: str
) -> None:
    more = ["--verify=full"] if word == PIECES else []
    result = traced(any_engine, tmp_path, data, word, *more)
    number = result.figure("b_eff_io")
    assert any("in one piece of memory" in reason for reason in number["reasons"]) == (
        word == PIECES
    )
    text = (tmp_path / "trace.0").read_text()
    assert ("UNIQUE_OPEN" in text) == (word != "--no-unique-open")
    assert ("_ordered" in text) == (word != "--no-shared-pointer")
    if word == OTHER:
        # The same calls in two halves, and no collective call in one.
        calls = [line.split()[1] for line in text.splitlines() if "_data_i00_" in line]
        assert {"write_all_begin", "write_ordered_begin", "read_all_begin"} <= set(calls)
        assert not {"write_all", "write_ordered", "read_all", "read_ordered"} & set(calls)
        assert calls.count("atomicity") == calls.count("open")
    if word == "--no-shared-pointer":
        # Type 1 is dealt out by views, as type 0 is.
        shared = [line for line in text.splitlines() if "_002_1 " in line]
        assert sum(" view " in line for line in shared) == 2 * 8
        assert sum(" write_all " in line for line in shared) == 8
