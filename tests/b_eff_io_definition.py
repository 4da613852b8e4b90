# SPDX-License-Identifier: BSD-3-Clause
"""b_eff_io's definition once more, written from its description and apart from the engine: what the
files hold, and how rows become one number. Tests hold whole runs against it."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from results import Result

KIB, MIB = 1024, 1 << 20
TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")
ACCESSES = ("write", "rewrite", "read")


@dataclass(frozen=True)
class Row:
    """Chunk on disk and memory of a call in bytes; `calls` of each rank."""

    number: int
    pattern: str
    chunk: int
    memory: int
    calls: int = 1


def table(lmax: int) -> list[tuple[str, int, int]]:
    """Pattern type, l and L of the rows; l = -1 for the rows that fill a segment up."""
    odd = (32 * KIB, KIB, 32 * KIB + 8, KIB + 8, MIB + 8)
    scatter = [(MIB, MIB), (lmax, lmax), (MIB, 2 * MIB), (MIB, MIB)]
    scatter += [(n, MIB // (n - n % 8 if n % KIB == 0 else n - 8) * n) for n in odd]
    plain = [MIB, lmax, MIB, *odd]
    rows = [("scatter", chunk, memory) for chunk, memory in scatter]
    rows += [(kind, chunk, chunk) for kind in TYPES[1:3] for chunk in plain]
    for kind in TYPES[3:]:
        rows += [(kind, chunk, chunk) for chunk in plain] + [(kind, -1, -1)]
    assert len(rows) == 43
    return rows


def rows_of(result: Result, partition: int, lmax: int) -> list[Row]:
    """The rows as the definition has them, with the calls that the run reports for its write."""
    rows: list[Row] = []
    for number, (pattern, chunk, memory) in enumerate(table(lmax)):
        (m,) = result.rows(partition=partition, row=number, access="write")
        if chunk < 0:
            segment = sum(r.memory * r.calls for r in rows if r.pattern == pattern)
            chunk = memory = -segment % MIB
        rows.append(Row(number, pattern, chunk, memory, m["detail"]["calls_per_rank"]))
    return rows


def marks(row: Row, call: int, chunk: int, access: int) -> tuple[float, float]:
    """First and last double of a chunk; `chunk` counts the chunks of a call."""
    base = 1e7 * call + 1000 * (chunk * row.chunk // 8) + 10 * row.number + access
    return base + 1, base + 6


def _chunks(rows: Sequence[Row], ranks: int, kind: str) -> Iterator[tuple[int, int, Row, int, int]]:
    """(rank whose file it is, offset, row, call, chunk of the call) of every chunk of a type."""
    mine = [row for row in rows if row.pattern == kind]
    segment = sum(row.memory * row.calls for row in mine)
    dealt = kind in ("scatter", "shared")
    before = 0
    for row in mine:
        if row.chunk == 0:
            continue
        per_call = row.memory // row.chunk
        for call in range(row.calls):
            for chunk in range(per_call):
                at = before + (call * per_call + chunk) * row.chunk
                for rank in range(ranks):
                    if dealt:
                        place = before * ranks + (at - before) * ranks + rank * row.chunk
                    elif kind == "separated":
                        place = at
                    else:
                        place = rank * segment + at
                    yield rank, place, row, call, chunk
        before += row.memory * row.calls


def check_files(
    result: Result, directory: Path, partition: int, ranks: int, lmax: int, rewrite: bool = False
) -> None:
    """Every chunk of the files that a run kept stands where it belongs and bears its marks."""
    rows = rows_of(result, partition, lmax)
    for number, kind in enumerate(TYPES):
        stem = f"b_eff_io_data_i{partition:02}_{ranks:03}_{number}"
        one = sum(row.memory * row.calls for row in rows if row.pattern == kind)
        if kind == "separated":
            contents = [(directory / f"{stem}.{q:03}").read_bytes() for q in range(ranks)]
            assert [len(c) for c in contents] == [one] * ranks
        else:
            contents = [(directory / stem).read_bytes()] * ranks
            assert len(contents[0]) == ranks * one, kind
        access = 1 if rewrite or kind == "scatter" else 0
        for rank, place, row, call, chunk in _chunks(rows, ranks, kind):
            first = struct.unpack_from("=d", contents[rank], place)[0]
            last = struct.unpack_from("=d", contents[rank], place + row.chunk - 8)[0]
            expected = marks(row, call, chunk, access)
            assert (first, last) == expected, (kind, row.number, call, chunk, rank, place)


def check_numbers(result: Result, partition: int, ranks: int, rewrite: bool = False) -> float:
    """Checks the numbers from the rows' bytes and seconds to b_eff_io of a partition, which is
    returned in B/s."""
    rates: dict[tuple[str, str], float] = {}
    by_common_clock = 0
    for access in ACCESSES:
        for kind in TYPES:
            if access == "rewrite" and kind != "scatter" and not rewrite:
                continue
            rows = result.rows(partition=partition, access=access, pattern=kind)
            for m in rows:
                calls = m["detail"]["calls_per_rank"]
                assert m["bytes"] == ranks * m["where"]["memory_chunk_bytes"] * calls
                assert m["operations"] == ranks * calls
                assert m["call_times"]["count"] == m["operations"]
                counted = m["detail"]["counted_seconds"]
                assert math.isclose(m["rate"]["value"], m["bytes"] / counted)
                # The time of rank 0, unless all ranks together took more than 5 % (and 0.1 ms)
                # longer: no row is faster than its slowest rank.
                assert m["seconds"]["total"]["max"] <= counted * 1.05 + 1e-4
                root = m["detail"]["root_seconds"]["total"]
                by_common_clock += m["detail"]["clock"] == "common"
                assert (m["detail"]["clock"] == "common") == (counted > root)
            figure = result.figure(
                "type_bandwidth", partition=partition, access=access, pattern=kind
            )
            detail = figure["detail"]
            seconds = sum(m["detail"]["counted_seconds"] for m in rows)
            seconds += detail["open_seconds"] + detail["close_seconds"]
            rate = sum(m["bytes"] for m in rows) / seconds
            assert math.isclose(figure["metric"]["value"], rate)
            rates[access, kind] = rate
    writes = [rates["write", kind] for kind in TYPES]
    reads = [rates["read", kind] for kind in TYPES]
    write_average = (sum(writes) + rates["rewrite", "scatter"]) / 6
    value = math.sqrt(write_average * (sum(reads) + reads[0]) / 6)
    figure = result.figure("b_eff_io_partition", partition=partition)
    assert math.isclose(figure["metric"]["value"], value)
    assert (figure["detail"]["rows_by_common_clock"] > 0) == (by_common_clock > 0)
    reported = [
        reason for reason in figure["reasons"] if "all ranks run at the same time" in reason
    ]
    assert len(reported) == (by_common_clock > 0)
    return value
