# SPDX-License-Identifier: BSD-3-Clause
"""Output of mdtest (1.9 to 4.x): its table of rates, in operations per second."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

from effio.imports.model import (
    Cell,
    Imported,
    ImportFormatError,
    Samples,
    Value,
    without_rate,
)
from effio.imports.numbers import date_of, number

_TITLE = re.compile(
    r"^(?:mdtest-?\s*\(?(\S*?)\)?) was launched with\s+(\d+) total task\(s\) on\s+(\d+) node", re.M
)
_STARTED = re.compile(r"^-- started at (.+?) --", re.M)
_COMMAND = re.compile(r"^Command line used: (.+)$", re.M)
_PATH = re.compile(r"^Path\s*: (\S+)", re.M)
_ITEMS = re.compile(r"^\s*(\d+) tasks?, (\d+) (files/directories|files|directories)", re.M)
_TABLE = re.compile(
    r"^SUMMARY(?: rate)?:?\s*(?:\(in ops/sec\))?:?\s*\(of (\d+) iterations?\)", re.M
)
_ROW = re.compile(
    # With --showRankStatistics three columns of the ranks come first.
    r"^\s*(Directory|File|Tree) (creation|stat|rename|read|removal)\s*:?"
    r"(?:(?:\s+[0-9.]+){3})?((?:\s+[0-9.]+){4})\s*$"
)
_PHASE = re.compile(r"^\s*(Directory|File|Tree) (creation|stat|rename|read|removal)\b")
_ACCESS = {"creation": "create", "removal": "remove"}


def is_text(text: str) -> bool:
    return _TITLE.search(text[:8000]) is not None


def _first(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[1] if found else ""


def _rate(row: Sequence[str], numbers: Sequence[float], iterations: int, shape: _Shape) -> _Rate:
    """The mean over the iterations, which is the only rate in the table except for the extremes;
    as a measurement, and as the figure of the phase with its spread."""
    most, least, mean, deviation = numbers
    thing, access = row[0].lower(), _ACCESS.get(row[1], row[1])
    operations = 1 if thing == "tree" else shape.items
    where = {
        "thing": thing,
        "phase": f"{row[0]} {row[1]}",
        "ranks": shape.ranks,
        "unique": shape.unique,
    }
    cell = Cell(
        pattern=thing,
        access=access,
        where=where,
        ranks=shape.ranks,
        nodes=shape.nodes,
        operations=operations,
        seconds=operations / mean,
        rate=mean,
        detail={"mean_of_iterations": iterations},
    )
    spread = Samples(iterations, least, most, deviation if iterations > 1 else None)
    return _Rate(
        cell, Value("rate", mean, "op/s", where | {"access": access}, valid=True, samples=spread)
    )


class _Rate(NamedTuple):
    cell: Cell
    value: Value


class _Shape:
    """Ranks, nodes, items of all ranks, and whether each rank has its own tree, for the table that
    begins at `table`: with -f and -l each number of tasks has a line before its table."""

    def __init__(self, text: str, table: int) -> None:
        title = _TITLE.search(text)
        assert title is not None
        items = list(_ITEMS.finditer(text, 0, table))[-1:]
        self.version = title[1]
        self.ranks, self.nodes = max(1, int(title[2])), max(1, int(title[3]))
        self.items = int(items[0][2]) if items else 0
        if items:
            self.ranks = max(1, int(items[0][1]))
            self.nodes = min(self.nodes, self.ranks)
        self.command = _first(_COMMAND, text)
        try:
            self.words = shlex.split(self.command)
        except ValueError:
            self.words = self.command.split()
        self.unique = any(re.fullmatch(r"-[A-Za-z]*u[A-Za-z]*", word) for word in self.words[1:])


def read_text(text: str) -> list[Imported]:
    """Every table is a run: -f, -l and -s repeat the benchmark with other numbers of tasks."""
    tables = list(_TABLE.finditer(text))
    if not tables and "SUMMARY time" in text:
        raise ImportFormatError("output of mdtest -Z: it has times only, no table of rates")
    if not tables:
        raise ImportFormatError("output of mdtest without its table of rates: it did not finish")
    runs = []
    for table in tables:
        shape = _Shape(text, table.start())
        rates = []
        missing: list[str] = []
        for line in text[table.end() :].splitlines()[1:]:
            if line.startswith(("SUMMARY", "--")) and not line.startswith("----"):
                break
            found = _ROW.match(line)
            numbers = [number(word) for word in found[3].split()] if found else [None]
            if found is None or None in numbers:
                missing += [f"{phase[1]} {phase[2]}" for phase in [_PHASE.match(line)] if phase]
                continue
            if not numbers[2]:
                continue  # a phase that was left out prints zeros
            kept = [value for value in numbers if value is not None]
            rates.append(_rate((found[1], found[2]), kept, int(table[1]), shape))
        runs.append(
            Imported(
                benchmark="mdtest",
                program="mdtest",
                version=shape.version,
                started=date_of(_first(_STARTED, text)),
                cells=[rate.cell for rate in rates],
                values=[rate.value for rate in rates],
                ranks=shape.ranks,
                nodes=shape.nodes,
                command=shape.words,
                options={"unique": shape.unique, "iterations": int(table[1])},
                path=_first(_PATH, text),
                notes=(
                    *(("rates are means over the iterations",) if int(table[1]) > 1 else ()),
                    *without_rate(missing),
                ),
            )
        )
    return runs
