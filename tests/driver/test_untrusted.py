# SPDX-License-Identifier: BSD-3-Clause
"""Results that somebody, or something, has tampered with: refused with a message, or told of in
full; never an exception of another kind. Seeds are fixed, so a failure repeats."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from driver import made
from effio.report.build import render, tell
from effio.report.draw import figure_data
from effio.report.model import Table
from effio.store.reader import Result, ResultError, read_result
from effio.store.table import TABLES, columns_of, rows_of

STRANGE: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**63, 2**70, 1e-320, 1e308, -1e308, 0.5, "", "x" * 3000, "\x00",
    "\ud7ff", [], [[]], {}, {"a": {"b": [1, None]}}, [1, "a", None], "NaN", "1", {"": ""}, -0.0,
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something could be changed: every member of every object and list."""
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, member in items:
        yield (*path, key)
        yield from _places(member, (*path, key))


def _change(line: made.Line, chance: random.Random) -> None:
    # Kind and version are the subject of test_reader.py.
    places = [p for p in _places(line) if p[0] not in ("schema", "kind", "seq")]
    *way, last = chance.choice(places)
    inside: Any = line
    for key in way:
        inside = inside[key]
    if chance.random() < 0.15 and isinstance(inside, dict):
        del inside[last]
    else:
        inside[last] = copy.deepcopy(chance.choice(STRANGE))


def _tell_everything(result: Result) -> None:
    report = tell("tampered", result, result.remarks, {"peak": 1e9})
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


@pytest.mark.parametrize("seed", range(4))
def test_changed_values(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    read = refused = 0
    for _ in range(40):
        lines = made.two_partitions() if chance.random() < 0.2 else made.b_eff_io()
        for _ in range(chance.randint(1, 3)):
            # The `run` line, figures and the end are few: they get their share.
            few = [line for line in lines if line["kind"] != "measurement"]
            _change(chance.choice(few if chance.random() < 0.6 else lines), chance)
        path = made.write(tmp_path / "tampered.jsonl", lines)
        try:
            result = read_result(path)
        except ResultError:
            refused += 1
            continue
        read += 1
        _tell_everything(result)
    assert read > 3
    assert refused > 3


def test_a_tampered_result_can_be_drawn(tmp_path: Path) -> None:
    chance = random.Random(99)
    drawn = 0
    while drawn < 3:
        lines = made.b_eff_io()
        _change(chance.choice(lines), chance)
        try:
            result = read_result(made.write(tmp_path / "tampered.jsonl", lines))
        except ResultError:
            continue
        assert "</html>" in render([tell("tampered", result)], ["tampered"])
        drawn += 1


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    whole = made.write(tmp_path / "whole.jsonl", made.b_eff_io()[:20]).read_bytes()
    path = tmp_path / "damaged.jsonl"
    for _ in range(80):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    del data[at : at + chance.randint(1, 400)]
                case _:
                    data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 9)))
        path.write_bytes(data)
        try:
            result = read_result(path)
        except ResultError:
            continue
        _tell_everything(result)
