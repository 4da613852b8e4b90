# SPDX-License-Identifier: BSD-3-Clause
"""Output of IOR: text (3.0 to 4.x) and JSON. Its CSV has neither date nor options, so of that only
the rows are read."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from effio.imports.model import (
    MIB,
    Cell,
    Imported,
    ImportFormatError,
    Samples,
    Value,
    fault_of,
    without_rate,
)
from effio.imports.numbers import date_of, noted, number
from effio.store import safe_files

_TITLE = re.compile(r"^IOR-(\S+): MPI Coordinated Test of Parallel I/O", re.M)
_BACKENDS = {"POSIX": "posix", "MPIIO": "mpiio", "HDF5": "hdf5", "NCMPI": "pnetcdf", "MMAP": "mmap"}
# Columns as IOR 3.0 to 4.1 and its CSV name them.
_COLUMNS = {
    "access": "access",
    "bw(MiB/s)": "bandwidth",
    "IOPS": "iops",
    "block(KiB)": "block",
    "xfer(KiB)": "transfer",
    "open(s)": "open",
    "wr/rd(s)": "calls",
    "close(s)": "close",
    "total(s)": "total",
    "numTasks": "tasks",
    "iter": "iteration",
}
# The same in its JSON.
_MEMBERS = {
    "access": "access",
    "bwMiB": "bandwidth",
    "iops": "iops",
    "blockKiB": "block",
    "xferKiB": "transfer",
    "openTime": "open",
    "wrRdTime": "calls",
    "closeTime": "close",
    "totalTime": "total",
}
_OPTION = re.compile(r"^\s*([A-Za-z][A-Za-z /()]*?)\s*[:=]\s+(\S.*?)\s*$")
# Warnings may precede its JSON.
_OBJECT = re.compile(r"^\s*\{", re.M)
Row = Mapping[str, str]


def is_text(text: str) -> bool:
    return _TITLE.search(text[:4000]) is not None


def is_csv(text: str) -> bool:
    return text.startswith("access,bw(MiB/s),")


def is_json(text: str) -> bool:
    return _OBJECT.search(text) is not None and '"Command line"' in text and '"tests"' in text


def _half_a_digit(seconds: str) -> float:
    """Half of the last digit of a printed time. JSON and CSV of IOR have four digits, of which
    zeros at the end are lost when JSON is read."""
    digits = len(seconds.partition(".")[2]) if "e" not in seconds else 9
    return 10.0 ** -max(digits, 4) / 2


def _measured(row: Row) -> tuple[float, float] | tuple[None, None]:
    """Rate and time, if the row has both."""
    rate, total = number(row.get("bandwidth", "")), number(row.get("total", ""))
    usable = rate is not None and total is not None and min(rate, total) > 0
    return (rate, total) if usable else (None, None)  # type: ignore[return-value]


def _cells(rows: Sequence[Row], options: Mapping[str, str], ranks: int, nodes: int) -> list[Cell]:
    """Rates as printed. Bytes are those of the options where rate times time agrees within 2 % and
    what the last digit of the time leaves open; else, as after a stonewall, that product."""
    shared = "per-process" not in options.get("access", "") and (
        "file-per-process" not in options.get("access", "")
    )
    files = "shared" if shared else "per-process"
    order = "random" if "random" in options.get("ordering in a file", "") else "sequential"
    segments = int(number(options.get("segments", "1")) or 1)
    cells = []
    for row in rows:
        rate, total = _measured(row)
        if rate is None or total is None:
            continue  # such as "remove", which has a time and no rate
        block = round((number(row.get("block", "")) or 0) * 1024)
        transfer = round((number(row.get("transfer", "")) or 0) * 1024)
        moved, planned = rate * MIB * total, segments * block * ranks
        open_ = 0.02 + _half_a_digit(row["total"]) / total
        count = planned if planned and abs(moved / planned - 1) < open_ else round(moved)
        parts = {
            name: value
            for name, column in (("open", "open"), ("transfer", "calls"), ("close", "close"))
            if (value := number(row.get(column, ""))) is not None
        }
        cells.append(
            Cell(
                pattern=f"{files} {order}",
                access=row["access"],
                where={
                    "files": files,
                    "transfer_bytes": transfer,
                    "block_bytes": block,
                    "segments": segments,
                    "workers": ranks,
                },
                ranks=ranks,
                nodes=nodes,
                repetition=int(number(row.get("iteration", "0")) or 0) + 1,
                bytes=count,
                operations=round(count / transfer) if transfer else 0,
                seconds=total,
                rate=rate * MIB,
                parts=parts,
            )
        )
    return cells


def _values(cells: Sequence[Cell]) -> list[Value]:
    """The means over the repetitions, named as effio's own ior does."""
    found: dict[tuple[str, int], list[float]] = {}
    for cell in cells:
        if cell.rate is not None:
            found.setdefault((cell.access, cell.where["transfer_bytes"]), []).append(cell.rate)
    return [
        Value(
            f"{access}_bandwidth",
            sum(rates) / len(rates),
            "B/s",
            {"access": access, "transfer_bytes": transfer},
            samples=Samples.of(rates),
        )
        for (access, transfer), rates in found.items()
    ]


def _run(
    version: str,
    began: str,
    command: str,
    machine: str,
    options: Mapping[str, str],
    rows: list[Row],
) -> Imported:
    ranks = int(number(options.get("tasks") or options.get("clients") or "") or 1)
    nodes = int(number(options.get("nodes", "")) or 0)
    if not nodes:
        per_node = re.search(r"\((\d+) per node\)", options.get("clients", ""))
        nodes = -(-ranks // int(per_node[1])) if per_node and int(per_node[1]) else 1
    cells = _cells(rows, options, ranks, nodes)
    api = options.get("api", "").split("-")[0].split(" ")[0]
    return Imported(
        benchmark="ior",
        program="IOR",
        version=version,
        started=date_of(began),
        cells=cells,
        values=_values(cells),
        ranks=ranks,
        nodes=nodes,
        command=_words(command),
        options=_options(options, cells),
        backend=_BACKENDS.get(api, api.lower()),
        path=options.get("test filename", ""),
        host=machine.split()[-1] if machine else "",
        notes=without_rate(
            row["access"]
            for row in rows
            if row["access"] in ("write", "read") and _measured(row)[0] is None
        ),
    )


def _options(options: Mapping[str, str], cells: Sequence[Cell]) -> dict[str, Any]:
    """The options that define the workload, under the names of effio's own ior."""
    if not cells:
        return {}
    where = cells[0].where
    return {
        "transfer": [where["transfer_bytes"]],
        "block": where["block_bytes"],
        "segments": where["segments"],
        "files": where["files"],
        "order": "random" if "random" in cells[0].pattern else "sequential",
        "collective": options.get("type") == "collective",
    }


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def read_text(text: str) -> list[Imported]:
    """Every test of the output is a run."""
    title = _TITLE.search(text)
    assert title is not None
    head: dict[str, str] = {}
    tests: list[tuple[dict[str, str], list[Row]]] = []
    options: dict[str, str] = {}
    columns: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if words[:2] == ["access", "bw(MiB/s)"]:
            columns = words
            tests.append((options, []))
            options = dict(options)
        elif columns and len(words) == len(columns) and words[0].isalpha() and words[-1].isdigit():
            tests[-1][1].append(_row(dict(zip(columns, words, strict=True))))
        elif found := _OPTION.match(line):
            name, value = found[1], found[2]
            if name in ("Began", "Command line", "Machine", "Run began"):
                head.setdefault(name, value)
            else:
                options[name] = value
    if not tests:
        raise ImportFormatError("output of IOR without a table of results: the run did not finish")
    return [
        _run(
            title[1],
            given.get("StartTime") or head.get("Began") or head.get("Run began", ""),
            given.get("Command line used") or head.get("Command line", ""),
            head.get("Machine", ""),
            given,
            rows,
        )
        for given, rows in tests
    ]


def _row(cells: Mapping[str, str]) -> Row:
    return {_COLUMNS[name]: value for name, value in cells.items() if name in _COLUMNS}


def _object(text: str) -> Any:
    """IOR prints warnings, notes of a stonewall and the signature of -vv between the lines of its
    JSON, which all begin with a mark of JSON."""
    try:
        return safe_files.json_of(text)
    except ValueError:
        kept = [line for line in text.splitlines() if line.strip()[:1] in set('{}[],"')]
        return safe_files.json_of(re.sub(r"(?<=: )-?(?:nan|inf)\b", "null", "\n".join(kept)))


def read_json(text: str) -> list[Imported]:
    try:
        reported = _object(text)
        tests = reported["tests"]
        runs = []
        for test in tests:
            given = {str(k): str(v) for k, v in {**test["Parameters"], **test["Options"]}.items()}
            rows = _json_rows(test["Results"])
            runs.append(
                _run(
                    str(reported["Version"]).removeprefix("IOR-"),
                    str(test.get("StartTime") or reported["Began"]),
                    str(reported["Command line"]),
                    str(reported.get("Machine", "")),
                    given,
                    rows,
                )
            )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ImportFormatError(f"JSON of IOR that cannot be read: {fault_of(error)}") from None
    return runs


def _json_rows(results: Iterable[Mapping[str, Any]]) -> list[Row]:
    """In JSON the iteration is the order of an access's rows."""
    seen: dict[str, int] = {}
    rows: list[Row] = []
    for result in results:
        row = {_MEMBERS[name]: str(value) for name, value in result.items() if name in _MEMBERS}
        row["iteration"] = str(seen.setdefault(row["access"], 0))
        seen[row["access"]] += 1
        rows.append(row)
    return rows


def read_csv(text: str) -> list[Imported]:
    found = list(csv.DictReader(text.splitlines()))
    if any(None in row for row in found):
        raise ImportFormatError("CSV of IOR with more cells in a row than names: decimal commas?")
    rows = [_row(row) for row in found]
    if not rows:
        raise ImportFormatError("CSV of IOR without rows")
    options = {"tasks": rows[0].get("tasks", "1")}
    (run,) = noted([_run("", "", "", "", options, list(rows))], "CSV: no date, no options")
    return [run]
