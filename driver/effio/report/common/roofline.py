# SPDX-License-Identifier: BSD-3-Clause
"""Latency or bandwidth: rate against transfer size, under the ceilings that are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from effio import text as fmt
from effio.report.common.keys import keys_of
from effio.report.common.names import (
    access_style,
    cell_name,
    grouped,
    is_message,
    operation_bytes,
    unique,
)
from effio.report.model import Axis, Cell, Column, Figure, Panel, Series, Table, made_late, table_of
from effio.store.reader import Result
from effio.store.records import Measurement

# No clock resolves less; a shorter time is a fault of the file.
_SHORTEST_SECONDS = 1e-12


def roofline(result: Result, ceilings: Mapping[str, float] | None = None) -> Figure | None:
    """Rate against transfer size, under the ceilings that are known: the most operations per second
    that any cell reached, the highest rate that reached a device, and what the user states. None
    where nothing but messages was measured."""
    cells = [m for m in result.measurements if m.valid and m.bytes and m.operations]
    cells = [m for m in cells if m.rate.unit == "B/s" and (m.rate.value or 0) > 0]
    cells = [m for m in cells if m.total_seconds >= _SHORTEST_SECONDS and not is_message(m)]
    if not cells:
        return None
    # Bytes of a call, and the rate: a result may have many cells.
    points = [(operation_bytes(m), m.rate.value or 0.0, m) for m in cells]
    points.sort(key=lambda point: point[0])
    by_access = grouped(points, lambda point: point[2].access)
    accesses = unique(m.access for m in cells)
    series = [
        Series(
            access,
            [size for size, _, _ in by_access[access]],
            [rate for _, rate, _ in by_access[access]],
            style=access_style(access, accesses),
            notes=made_late([m for _, _, m in by_access[access]], _note),
            form="points",
        )
        for access in accesses
    ]
    smallest, largest = points[0][0], points[-1][0]
    if smallest == largest:  # ceilings need a range, even for a single size
        smallest, largest = smallest / 2, largest * 2
    top = max(rate for _, rate, _ in points)
    # By the rates that are drawn, which may leave parts of the total out: no point is above it.
    fastest = max(rate / size for size, rate, _ in points)
    steps = [smallest * (largest / smallest) ** (i / 24) for i in range(25)]
    # With the size from which on bandwidth limits, so that the corner is where it belongs.
    x = sorted({*steps, min(largest, max(smallest, top / fastest))})

    def ceiling(name: str, y: Sequence[float], style: int) -> Series:
        return Series(name, x, y, style, form="limit")

    slope = [min(top, fastest * size) for size in x]
    limits = [ceiling(f"{fmt.significant(fastest, 3)} calls/s, the most seen", slope, 20)]
    on_device = [m.rate.value or 0 for m in cells if m.cache and m.cache.verdict == "device"]
    if on_device:
        best = max(on_device)
        name = f"{fmt.rate(best)}, the most to or from a device"
        limits.append(ceiling(name, [best] * len(x), 21))
    for style, (name, value) in enumerate((ceilings or {}).items(), 22):
        stated = f"{name}, {fmt.rate(value)} as stated"
        limits.append(ceiling(stated, [value] * len(x), style))
    return Figure(
        "roofline",
        "I/O roofline",
        "Each point is a cell. Points along the slanted line are limited by the number of calls per"
        " second (latency): larger transfers would be faster. Points under a level line are limited"
        " by bandwidth. Points far below both lose their time elsewhere: see where the time went."
        " Ceilings are the most that this run has seen, and what --ceiling states.",
        "curves",
        Axis("bytes moved by a call", "B", log=True),
        Axis("bandwidth", "B/s", log=True, switch=True),
        {"": [Panel("", [*series, *limits])]},
        columns=1,
        table=_table(cells),
        panel_height=420,
    )


def _note(m: Measurement) -> str:
    calls = fmt.significant(m.operations / m.total_seconds, 3)
    return f"{cell_name(m)} on {fmt.count_of(m.ranks, 'rank')}, {calls} calls/s"


def _table(cells: Sequence[Measurement]) -> Table:
    columns: list[tuple[Column, Callable[[Measurement], Cell]]] = [
        *keys_of(cells),
        (Column("bytes of a call", "B"), operation_bytes),
        (Column("calls in a second", "calls/s"), lambda m: m.operations / m.total_seconds),
        (Column("bandwidth", "B/s"), lambda m: m.rate.value),
        (Column("cache or device"), lambda m: m.cache.verdict if m.cache else "unknown"),
    ]
    return table_of(cells, columns, "I/O roofline")
