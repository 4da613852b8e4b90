# SPDX-License-Identifier: BSD-3-Clause
"""The engine's console and the report's tables show the numbers of the result's records, each with
its interval or the reason why there is none: overlap and b-eff-io, with the backend sim."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from driver.test_figures_of_records import SIM
from effio.report.build import report_of
from effio.report.model import Report, Table
from effio.store.reader import read_result
from engines import Engine

Record = Mapping[str, Any]
STORAGE = ["--backend", "sim", "--backend-options", SIM, "--dir", "."]
_UNITS = {"B": 1, "k": 1e3, "M": 1e6, "G": 1e9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
_BINARY = {"": 1, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


class Shown:
    """A run, what its console shows, and its result."""

    def __init__(self, engine: Engine, folder: Path, *words: str) -> None:
        run = engine.alone([*words, *STORAGE, "-o", "r.jsonl"], folder)
        assert run.code == 0, run
        self.lines = run.stdout.splitlines()
        path = folder / "r.jsonl"
        self.records = [json.loads(line) for line in path.read_text().splitlines()]
        self.result = read_result(path)

    def of_kind(self, kind: str) -> list[Record]:
        return [r for r in self.records if r["kind"] == kind]

    def figure(self, name: str, **where: object) -> Record:
        (found,) = [
            r for r in self.of_kind("figure")
            if r["name"] == name and where.items() <= r["where"].items()
        ]  # fmt: skip
        return found

    def report(self) -> Report:
        return report_of("r", self.result, self.result.remarks)

    def table(self, title: str) -> Table:
        blocks = [b for s in self.report().sections for b in s.blocks if isinstance(b, Table)]
        return next(t for t in blocks if t.title == title)


def _rows(lines: Sequence[str], first: str) -> Iterator[dict[str, str]]:
    """The rows of the tables whose first column has this name; columns are at least two spaces
    apart."""
    heads: list[str] = []
    for line in lines:
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] == first:
            heads = cells
        elif len(cells) == len(heads):
            if not set(cells[0]) <= {"-"}:
                yield dict(zip(heads, cells, strict=True))
        else:
            heads = []


def _seconds(text: str) -> float:
    parts = re.findall(r"([\d.]+) (us|ms|s|min)", text)
    assert parts, text
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _bytes(text: str) -> float:
    return sum(float(n) * _BINARY[unit] for n, unit in re.findall(r"([\d.]+) ?(|Ki|Mi|Gi)B", text))


def _rate(text: str) -> float:
    number, unit = text.split()
    return float(number) * _UNITS[unit[0] if len(unit) == 4 else "B"]


def _half(figure: Record) -> float:
    samples = figure["samples"]
    return float(samples["high95"] - samples["low95"]) / 2


def test_overlap(any_engine: Engine, tmp_path: Path) -> None:
    shown = Shown(any_engine, tmp_path, "overlap", "--transfer=64KiB,1MiB", "--repetitions=5")
    text = "\n".join(shown.lines)
    page = {(r[0], r[1], r[2]): r for r in shown.table("Cells").rows}
    count = 0
    for access in ("write", "read"):
        start = shown.lines.index(f"{access.capitalize()} alongside compute work, 5 repetitions")
        end = shown.lines.index("", start)
        for row in _rows(shown.lines[start + 1 : end], "method"):
            size = int(_bytes(row["transfer"]))
            where = {"method": row["method"], "access": access, "transfer_bytes": size}
            cell = page.pop((f"{access} during compute work", row["method"], size))
            names = {"I/O alone": "io", "work alone": "work", "both": "both"}
            for place, (head, name) in enumerate(names.items(), start=3):
                value = shown.figure(f"{name}_seconds", **where)["metric"]["value"]
                assert _seconds(row[head]) == pytest.approx(value, rel=0.006)
                assert cell[place] == value
            share = shown.figure("hidden_share", **where)
            slower = shown.figure("work_slowdown", **where)
            for head, figure in (("share that hides", share), ("work takes, times", slower)):
                mean, _, half = row[head].partition(" ± ")
                assert float(mean) == pytest.approx(figure["metric"]["value"], abs=0.0051)
                assert float(half) == pytest.approx(_half(figure), abs=0.0051)
            value, samples = share["metric"]["value"], share["samples"]
            assert list(cell[6:9]) == [value, samples["low95"], samples["high95"]]
            assert cell[9] == slower["metric"]["value"]
            # Explained if and only if it is known within ± 0.2.
            assert (share["detail"]["limit"] is not None) == (_half(share) <= 0.2)
            assert row["limit"] == (share["detail"]["limit"] or "-")
            assert cell[-2:] == [share["detail"]["limit"] or "not known", "simulated"]
            count += 1
    assert (count, page) == (8, {})
    known = [f for f in shown.of_kind("figure") if f["name"] == "hidden_share"]
    known = [f for f in known if f["detail"]["limit"] is not None]
    reported = {f"{max(0, 100 * f['metric']['value']):.0f}" for f in known}
    sentences = re.findall(r"(\d+) % of \d+ \w+ hides|(nothing) of \d+ \w+ hides", text)
    assert sentences
    assert {number or "0" for number, _ in sentences} <= reported
    best = max(known, key=lambda f: float(f["metric"]["value"]))
    headline = shown.report().headline
    assert headline.value == best["metric"]["value"] == shown.figure("overlap")["metric"]["value"]
    assert headline.basis().startswith("simulated ")
    percent = re.findall(r"± ([\d.]+) %", headline.interval)
    assert float(percent[0]) / 100 == pytest.approx(_half(best), rel=1e-2)


def test_overlap_once_states_no_share(any_engine: Engine, tmp_path: Path) -> None:
    shown = Shown(any_engine, tmp_path, "overlap", "--transfer=64KiB", "--repetitions=1")
    for row in _rows(shown.lines, "method"):
        assert (row["share that hides"], row["limit"]) == ("not known", "-")
    rows = shown.table("Cells").rows
    assert len(rows) == 4
    for cells in rows:
        assert list(cells[6:9]) == [None, None, None]
        assert cells[-2] == "the share needs at least two repetitions"
    assert not any("hides" in f.text and "%" in f.text for f in shown.report().findings)


def _joined(shown: Shown) -> dict[tuple[str, str, int], float]:
    """The rate of each printed cell: its bytes over its time, of all rounds."""
    sums: dict[tuple[str, str, int], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for m in shown.of_kind("measurement"):
        if m["where"]["position"] > 0:
            of = sums[m["access"], m["pattern"], m["where"]["chunk_bytes"]]
            if m["where"]["chunk_bytes"] == 1 << 20 and m["where"]["memory_chunk_bytes"] > 1 << 20:
                continue  # scatter's pattern with 2 MiB in memory is in no table
            of[0] += m["bytes"]
            of[1] += m["seconds"]["total"]["max"]
    return {key: done / seconds for key, (done, seconds) in sums.items()}


def test_b_eff_io(any_engine: Engine, tmp_path: Path) -> None:
    words = ["b-eff-io", "--memory-per-rank=2MiB", "--time=10s", "--rounds=5"]
    shown = Shown(any_engine, tmp_path, *words)
    chunk = r"\d+ (?:[KM]i)?B(?:\+\d+ B)?"
    line_of_row = re.compile(rf"(\w+) +(\w+) +({chunk}) +(\d+) +(\d+) +(\S+) (\S+) +(\S+) (\w*B/s)")
    live = [found.groups() for line in shown.lines if (found := line_of_row.match(line.strip()))]
    rows = shown.of_kind("measurement")
    assert len(live) == len(rows)
    for w, m in zip(live, rows, strict=True):
        assert [w[0], w[1], int(w[3]), int(w[4])] == [
            m["access"], m["pattern"], m["ranks"], m["detail"]["calls_per_rank"],
        ]  # fmt: skip
        assert _bytes(w[2].replace("+", " ")) == m["where"]["chunk_bytes"]
        assert _seconds(f"{w[5]} {w[6]}") == pytest.approx(m["seconds"]["total"]["max"], rel=6e-3)
        assert _rate(f"{w[7]} {w[8]}") == pytest.approx(m["rate"]["value"], rel=6e-4)
    cells = _joined(shown)
    types = ("scatter", "shared", "separated", "segmented", "seg_coll")
    page = {(str(r[0]).replace(" ", ""), r[1]): r for r in shown.table("Bandwidth on 1 rank").rows}
    compared = 0
    for row in _rows(shown.lines, "chunk"):
        for place, kind in enumerate(types, start=2):
            text = row[f"{kind} MB/s"]
            if text == "-":
                continue
            if row["chunk"] in ("total", "± 95 %"):
                figure = shown.figure("type_bandwidth", access=row["access"], pattern=kind)
                value = figure["metric"]["value"]
                value = value if row["chunk"] == "total" else _half(figure)
            else:
                value = cells[row["access"], kind, int(_bytes(row["chunk"].replace("+", " ")))]
            assert float(text) * 1e6 == pytest.approx(value, abs=0.051e6)
            assert page[row["chunk"].replace(" ", ""), row["access"]][place] == pytest.approx(value)
            compared += 1
    # Of each access seven chunks, the total and its interval; rewrite has one type.
    assert compared == (5 + 1 + 5) * 9
    for row in _rows(shown.lines, "access"):
        if "average" in row:
            figure = shown.figure("access_bandwidth", access=row["access"])
            assert _rate(row["average"]) == pytest.approx(figure["metric"]["value"], rel=6e-4)
            assert _bytes(row["data"]) == pytest.approx(figure["detail"]["bytes"], rel=6e-4)
            mine = [m["detail"]["root_seconds"] for m in rows if m["access"] == row["access"]]
            assert float(row["sync s"]) == pytest.approx(sum(s["sync"] for s in mine), abs=6e-4)
            compared += 1
    assert compared == 99 + 3
    final = shown.figure("b_eff_io")
    (value,) = re.findall(r"^b_eff_io = (.*) on 1 rank: NOT VALID", "\n".join(shown.lines), re.M)
    assert _rate(value) == pytest.approx(final["metric"]["value"], rel=6e-4)
    headline = shown.report().headline
    assert (headline.value, headline.valid) == (final["metric"]["value"], False)
    assert headline.counts == "simulated writes and reads"
    assert "± " in headline.interval


def test_b_eff_io_in_one_piece_says_why_there_is_no_interval(
    any_engine: Engine, tmp_path: Path
) -> None:
    shown = Shown(any_engine, tmp_path, "b-eff-io", "--memory-per-rank=2MiB", "--time=1s")
    assert shown.report().headline.interval == (
        "an interval needs five complete rounds (--rounds or --until-ci)"
    )
