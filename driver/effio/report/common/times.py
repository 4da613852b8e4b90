# SPDX-License-Identifier: BSD-3-Clause
"""Where the time went, and how long single calls took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from effio import text as fmt
from effio.report.common.keys import keys_of
from effio.report.common.names import cell_name, grouped, operation_bytes, unique
from effio.report.model import (
    Axis,
    Cell,
    Column,
    Figure,
    Finding,
    Panel,
    Series,
    Table,
    made_late,
    table_of,
)
from effio.store.records import Measurement

# Parts of a measurement's seconds that are inside other parts.
_INSIDE_OTHERS = frozenset({"total", "last_call", "last_vote", "by_definition"})
_PART_NAMES = {
    "calls": "data calls",
    "transfer": "data calls",
    "data": "data calls",
    "broadcast": "stop votes",
    "vote": "stop votes",
    "barrier": "waiting for the slowest rank",
    "file_barrier": "waiting for the slowest rank",
    "global_barrier": "waiting for the slowest rank",
    "turn": "waiting for the turn",
    "create_close": "close",
    "late": "starting late",
    "sync": "sync to storage",
    "open": "open",
    "close": "close",
    "view": "file view",
    "stamp": "stamping data",
    "check": "checking data",
    "agree": "agreeing on the outcome",
    "header": "writing headers",
    "unknown": "writing the unknowns",
    "work": "operations on names",
}
# What the parts do not say.
_OTHER = "other"
_WHOLE = "measured as a whole"
_UNNAMED = frozenset({_OTHER, _WHOLE})
# One colour for a part everywhere.
_PART_STYLES = {
    "data calls": 0,
    "sync to storage": 1,
    "waiting for the slowest rank": 2,
    "stop votes": 3,
    "open": 4,
    "close": 5,
}


@dataclass
class TimeSplit:
    """Seconds of one group by part, the mean over ranks."""

    name: str
    parts: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def total(self) -> float:
        return sum(self.parts.values())


def time_splits(
    measurements: Iterable[Measurement], group: Callable[[Measurement], str]
) -> list[TimeSplit]:
    """What the parts leave of the total is "other"."""
    splits: dict[str, TimeSplit] = {}
    names: dict[str, str] = {}
    for m in measurements:
        name = group(m)
        if (split := splits.get(name)) is None:
            split = splits[name] = TimeSplit(name)
        parts = split.parts
        reported = 0.0
        for part, spread in m.seconds.items():
            if part in _INSIDE_OTHERS:
                continue
            if part not in names:
                names[part] = _PART_NAMES.get(part, part.replace("_", " "))
            mean = spread.mean
            parts[names[part]] += mean
            reported += mean
        total = m.seconds["total"].mean if "total" in m.seconds else reported
        if total > reported * 1.01:
            parts[_OTHER if reported else _WHOLE] += total - reported
    return list(splits.values())


_MEANING = {
    "data calls": "the data calls themselves: storage, network or the I/O library's copying",
    "sync to storage": "flushing what was written to storage",
    "waiting for the slowest rank": "waiting for the slowest rank",
    "stop votes": "agreeing when to stop, after each call",
    "starting late": "ranks that started late",
    "open": "opening files",
    "close": "closing and removing files",
}


def limit_finding(splits: Iterable[TimeSplit], anchor: str = "time") -> Finding | None:
    """What most of the time went into; for the first screen. None if the parts do not say."""
    timed = [s for s in splits if s.total > 0]
    total = sum(s.total for s in timed)
    shares: dict[str, float] = defaultdict(float)
    for split in timed:
        for part, seconds in split.parts.items():
            shares[part] += seconds / total
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    if not ranked or ranked[0][0] in _UNNAMED:
        return None
    first, share = ranked[0]
    text = f"{fmt.percent(share)} of the time went into {_MEANING.get(first, first)}"
    if len(ranked) > 1 and ranked[1][1] >= 0.1 and ranked[1][0] not in _UNNAMED:
        second = ranked[1][0]
        text += f"; {fmt.percent(ranked[1][1])} into {_MEANING.get(second, second).split(':')[0]}"
    return Finding(text + ".", anchor, "info", "limit")


def has_parts(splits: Iterable[TimeSplit]) -> bool:
    """Whether anything is known beyond the whole time."""
    return any(part not in _UNNAMED for split in splits for part in split.parts)


def time_figure(splits: Sequence[TimeSplit], identity: str = "time") -> Figure:
    """Shares of the time as stacked bars, one bar a group."""
    parts = unique(p for s in splits for p in s.parts)
    parts.sort(key=lambda p: _PART_STYLES.get(p, 99))
    series = [
        Series(
            part,
            [s.name for s in splits],
            [s.parts.get(part, 0.0) / s.total if s.total > 0 else None for s in splits],
            style=_PART_STYLES.get(part, 6 + i),
            notes=[fmt.duration(s.parts.get(part, 0.0)) for s in splits],
        )
        for i, part in enumerate(parts)
    ]
    table = Table(
        [Column("group"), *(Column(p, "s") for p in parts), Column("total", "s")],
        [[s.name, *(s.parts.get(p, 0.0) for p in parts), s.total] for s in splits],
        "Where the time went",
        "Seconds, the mean over ranks.",
    )
    return Figure(
        identity,
        "Where the time went",
        "Each bar is the whole time of a group, divided by what ranks were doing (mean over ranks)."
        " Waiting for the slowest rank is lost time: it shows imbalance, or a vote after each call."
        " Sync is the price of having data on storage, not only in memory.",
        "stacked",
        Axis("group"),
        Axis("share of the time", low=0, high=1, shown="%"),
        {"": [Panel("", series)]},
        columns=1,
        table=table,
        panel_height=max(160, 30 * len(splits) + 70),
    )


def _percentile(times: str, name: str) -> Callable[[Measurement], Cell]:
    """A percentile of the call times or response times of a measurement, which may have none."""

    def of(m: Measurement) -> Cell:
        found = getattr(m, times)
        return getattr(found, name) if found else None

    return of


def call_time_table(measurements: Iterable[Measurement]) -> Table:
    timed = [m for m in measurements if m.call_times and m.call_times.count]
    held = any(m.response_times for m in timed)
    percentiles = {"p50": "p50", "p90": "p90", "p99": "p99", "p999": "p99.9"}
    columns: list[tuple[Column, Callable[[Measurement], Cell]]] = [
        *keys_of(timed),
        (Column("calls", "1"), _percentile("call_times", "count")),
        *(
            (Column(title, "s", digits=3), _percentile("call_times", name))
            for name, title in {"min": "min", **percentiles, "max": "max"}.items()
        ),
    ]
    caption = (
        "p99 = 99 % of the calls took no longer than this. Percentiles carry the histogram's error "
        "of at most 3 %."
    )
    if held:
        columns += [
            (Column(f"response {title}", "s", digits=3), _percentile("response_times", name))
            for name, title in percentiles.items()
        ]
        caption += (
            " Response time starts when a call was due at the limited rate, so it includes waiting"
            " behind slow calls."
        )
    return table_of(timed, columns, "Call times", caption, longest=60)


def _call_note(m: Measurement) -> str:
    if (times := m.call_times) is None:
        return cell_name(m)
    return (
        f"{cell_name(m)}: p99 {fmt.duration(times.p99)}, max {fmt.duration(times.max)}, "
        f"{fmt.count_of(times.count, 'call')}"
    )


def call_time_figure(
    measurements: Sequence[Measurement], group: Callable[[Measurement], str]
) -> Figure | None:
    """Median and 99th percentile over the size of a call, one panel for each access."""
    timed = [m for m in measurements if m.call_times and m.call_times.count and m.bytes]
    if not timed:
        return None
    styles = {name: i for i, name in enumerate(unique(map(group, timed)))}

    def curve(name: str, some: Sequence[Measurement]) -> Series:
        cells = sorted(some, key=operation_bytes)
        times = [m.call_times for m in cells if m.call_times]
        return Series(
            name,
            [operation_bytes(m) for m in cells],
            [t.p50 for t in times],
            styles[name],
            [t.p99 for t in times],
            made_late(cells, _call_note),
            form="points",
        )

    panels = []
    for access, of_access in grouped(timed, lambda m: m.access).items():
        curves = sorted(grouped(of_access, group).items(), key=lambda one: styles[one[0]])
        panels.append(Panel(access, [curve(name, some) for name, some in curves]))
    return Figure(
        "call-times",
        "How long one call takes",
        "Points are medians, the line upwards ends at the 99th percentile. A long line means that"
        " a few calls take much longer than the rest. Causes are a straggling rank, a lock, or a"
        " cache that is being flushed.",
        "curves",
        Axis("bytes moved by a call", "B", log=True),
        Axis("time of a call", "s", log=True, switch=True),
        {"": panels},
        table=call_time_table(timed),
    )
