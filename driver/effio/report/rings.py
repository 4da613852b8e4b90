# SPDX-License-Identifier: BSD-3-Clause
"""Report of the ring benchmark: pairs alone, the natural ring and random rings side by side, what
distance and sharing cost, and the balance to HPL. docs/benchmarks/rings.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean

from effio import text as fmt
from effio.report.balance import balance_blocks, balances_of
from effio.report.common import certainty
from effio.report.common.counts import interval_of
from effio.report.generic import headline_of
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Quantity,
    Section,
    Series,
    Table,
    table_of,
)
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement

# Names in hpccoutf.txt, which are also those of the figures, and what they are.
_HPCC = (
    ("MinPingPongLatency", "latency of a pair, shortest"),
    ("AvgPingPongLatency", "latency of a pair, mean"),
    ("MaxPingPongLatency", "latency of a pair, longest"),
    ("NaturallyOrderedRingLatency", "latency in the natural ring"),
    ("RandomlyOrderedRingLatency", "latency in random rings"),
    ("MinPingPongBandwidth", "bandwidth of a pair, smallest"),
    ("AvgPingPongBandwidth", "bandwidth of a pair, mean"),
    ("MaxPingPongBandwidth", "bandwidth of a pair, largest"),
    ("NaturallyOrderedRingBandwidth", "bandwidth in the natural ring"),
    ("RandomlyOrderedRingBandwidth", "bandwidth in random rings"),
)
_PAIRS, _NATURAL, _RANDOM = "pairs, one at a time", "natural ring", "random rings"
# A pair below this share of the fastest one's bandwidth is worth a warning.
_SLOW_PAIR = 0.5
# Measurements of one ring that differ by more than this were disturbed.
_SPREAD = 0.25


@dataclass(frozen=True)
class _Ring:
    """One ring with one length; seconds of a message of the slowest rank."""

    name: str
    length: int
    seconds: float
    members: Members

    @property
    def rate(self) -> float:
        """The rate of one process."""
        return self.length / self.seconds


def _size(length: float) -> str:
    """The size in bytes: the lengths are round in decimal."""
    return f"{length / 1e6:.0f} MB" if length and length % 1e6 == 0 else f"{length:.0f} B"


def _rings(result: Result) -> list[_Ring]:
    found = []
    for m in result.measurements:
        length, family = m.number("length_bytes"), m.place("family")
        if family not in ("natural ring", "random ring") or not m.valid:
            continue
        if length < 1 or not m.total_seconds > 0:
            continue
        name = _NATURAL if family == "natural ring" else f"random {m.number('random_index'):.0f}"
        found.append(_Ring(name, int(length), m.total_seconds, members_of(m)))
    return found


def _pairs(result: Result) -> list[Measurement]:
    """For each length the measurement of all its pairs."""
    return [
        m
        for m in result.measurements
        if m.place("family") == "ping-pong"
        and m.valid
        and m.number("length_bytes") >= 1
        and "total" in m.seconds
        and m.seconds["total"].min > 0
    ]


def _lengths(result: Result) -> list[int]:
    """The shorter one shows latency, the longer one bandwidth."""
    measured = {int(m.number("length_bytes")) for m in _pairs(result)}
    return sorted(measured | {r.length for r in _rings(result)})


@dataclass(frozen=True)
class _Values:
    """Smallest, typical and largest of what stands side by side."""

    name: str
    low: float
    typical: float
    high: float


def _values(result: Result, length: int, rates: bool) -> list[_Values]:
    """Values by length: seconds of a message, or bytes per second of a process."""
    rows = []
    for m in _pairs(result):
        if int(m.number("length_bytes")) != length:
            continue
        seconds = m.seconds["total"]
        rate = members_of(m).bytes_per_second
        spread = [rate.min, rate.mean, rate.max]
        if not rates:
            rows.append(_Values(_PAIRS, seconds.min, seconds.mean, seconds.max))
        elif None not in spread:
            rows.append(_Values(_PAIRS, *[float(v) for v in spread if v is not None]))
    rings = [r for r in _rings(result) if r.length == length]
    for name in (_NATURAL, _RANDOM):
        seconds_of = [r.seconds for r in rings if (r.name == _NATURAL) == (name == _NATURAL)]
        if not seconds_of:
            continue
        low, mean, high = min(seconds_of), geometric_mean(seconds_of), max(seconds_of)
        if rates:
            low, mean, high = length / high, length / mean, length / low
        rows.append(_Values(name, low, mean, high))
    return rows


def side_by_side(result: Result, rates: bool) -> Figure | None:
    lengths = _lengths(result)
    if not lengths:
        return None
    length = lengths[-1] if rates else lengths[0]
    rows = _values(result, length, rates)
    if not rows:
        return None
    names = [r.name for r in rows]
    series = [
        Series("smallest", names, [r.low for r in rows], 0),
        Series("mean", names, [r.typical for r in rows], 1),
        Series("largest", names, [r.high for r in rows], 2),
    ]
    what = "Bandwidth of a process" if rates else "Latency"
    return Figure(
        "bandwidth" if rates else "latency",
        f"{what} with {_size(length)}",
        "Over the pairs that were measured, and over the rings. A pair has the machine to itself; "
        "in a ring every process sends to both neighbors at the same time.",
        "bars",
        Axis(""),
        Axis("bandwidth of a process", "B/s") if rates else Axis("time of a message", "s"),
        {"": [Panel("", series)]},
        columns=1,
        panel_height=340,
    )


def ring_figure(result: Result) -> Figure | None:
    """Each random ring next to the natural one: how much the places of the ranks matter."""
    longest = max(_lengths(result), default=0)
    rings = [r for r in _rings(result) if r.length == longest]
    random = [r for r in rings if r.name != _NATURAL]
    if not random:
        return None
    x = [r.name.removeprefix("random ") for r in random]
    series = [Series("random rings", x, [r.rate for r in random], 0, form="points")]
    for natural in (r for r in rings if r.name == _NATURAL):
        series.append(Series(_NATURAL, x, [natural.rate] * len(x), 1, form="limit"))
    return Figure(
        "rings",
        f"Each random ring with {_size(random[0].length)}",
        "Points that are far apart, or far below the line, show that it matters which ranks are"
        " neighbors. Then place ranks that communicate on one node.",
        "curves",
        Axis("random ring"),
        Axis("bandwidth of a process", "B/s", low=0.0),
        {"": [Panel("", series)]},
        columns=1,
        panel_height=320,
    )


def value_table(result: Result) -> Table | None:
    rows: list[list[Cell]] = []
    for name, title in _HPCC:
        figure = result.figure(name)
        if figure is not None and figure.metric.value is not None:
            value = Quantity(figure.metric.value, figure.metric.unit)
            rows.append([title, value, figure.metric.unit, name])
    if not rows:
        return None
    columns = [Column("value of"), Column("value", "1"), Column("unit in CSV")]
    return Table(
        [*columns, Column("in hpccoutf.txt")], rows, "As in the HPC Challenge", "Of one process."
    )


def ring_table(result: Result) -> Table | None:
    rings = _rings(result)
    if not rings:
        return None
    spread = Column("spread of measurements", "1", "%", 2)
    return table_of(
        rings,
        [
            (Column("ring"), lambda r: r.name),
            (Column("message", "B"), lambda r: r.length),
            (Column("time of a message", "s"), lambda r: r.seconds),
            (Column("bandwidth of a process", "B/s"), lambda r: r.rate),
            (Column("MPI_Sendrecv", "s"), lambda r: r.members.sendrecv_seconds),
            (Column("nonblocking", "s"), lambda r: r.members.nonblocking_seconds),
            (spread, lambda r: r.members.measurements_spread_fraction),
            (Column("messages within nodes", "1"), lambda r: r.members.messages_within_nodes),
            (Column("between nodes", "1"), lambda r: r.members.messages_between_nodes),
        ],
        "Rings",
        "The slowest rank, with its faster method, in the shortest measurement.",
        longest=20,
    )


def _distance_finding(result: Result) -> Finding | None:
    def figures(name: str) -> list[FigureRecord | None]:
        return [result.figure(f"{n}OrderedRing{name}") for n in ("Naturally", "Randomly")]

    bandwidths, latencies = figures("Bandwidth"), figures("Latency")
    rates = [f.metric.value if f is not None else None for f in bandwidths]
    times = [f.metric.value if f is not None else None for f in latencies]
    if not (rates[0] and rates[1] and times[0] and times[1]):
        return None
    one_node = result.run.system.nodes == 1
    reason = (
        "on a single node that is noise, or which cores the ranks have"
        if one_node
        else "the rest is what the network between nodes costs"
    )
    why = [certainty.why_not_apart(*pair) for pair in (bandwidths, latencies)]
    if all(why):
        reason = f"whether they differ is not known ({why[0]})"
    return Finding(
        f"Random rings reach {fmt.percent(rates[1] / rates[0])} of the natural ring's bandwidth "
        f"with {fmt.percent(times[1] / times[0])} of its latency: {reason}.",
        "bandwidth",
    )


def _pair_findings(result: Result) -> list[Finding]:
    found = []
    pairs = _pairs(result)
    for m in pairs:
        stride = members_of(m).stride
        count = members_of(m).pairs
        if stride is not None and count is not None and stride > 1:
            found.append(
                Finding(
                    f"With {_size(m.number('length_bytes'))} only one rank "
                    f"in {stride:.0f} took part in pairs ({count:.0f} of them), because all "
                    "pairs would have taken too long.",
                    "bandwidth",
                )
            )
    rates = _values(result, max(_lengths(result), default=0), rates=True)
    alone = next((v for v in rates if v.name == _PAIRS), None)
    if alone is None:
        return found
    if alone.low < _SLOW_PAIR * alone.high:
        found.append(
            Finding(
                f"The slowest pair has {fmt.percent(alone.low / alone.high)} of the fastest one's "
                "bandwidth. That is the way between nodes, or a slow link: b-eff --pairs all shows "
                "which.",
                "bandwidth",
                "warn",
            )
        )
    random = next((v for v in rates if v.name == _RANDOM), None)
    if random is not None and alone.typical > 0:
        share = random.typical / alone.typical
        text = (
            "In random rings, where all talk at once, a process has"
            f" {fmt.percent(share)} of the bandwidth of a pair that is alone"
        )
        # A process is not faster because others communicate too.
        doubt = ": the pairs were disturbed, so the share is not known" if share > 1 else ""
        found.append(Finding(f"{text}{doubt}.", "bandwidth", "warn" if doubt else "info"))
    return found


def _spread_finding(result: Result) -> Finding | None:
    spreads = [(r.members.measurements_spread_fraction, r) for r in _rings(result)]
    rings = [(spread, r) for spread, r in spreads if spread is not None]
    disturbed = [(spread, r) for spread, r in rings if spread > _SPREAD]
    if not disturbed:
        return None
    worst, ring = max(disturbed, key=lambda pair: pair[0])
    return Finding(
        f"In {len(disturbed)} of {fmt.count_of(len(rings), 'ring')} the measurements differ by "
        f"more than {fmt.percent(_SPREAD)}, at most by {fmt.percent(worst)} ({ring.name} with "
        f"{_size(ring.length)}): something else was at work. The shortest one counts.",
        "rings",
        "warn",
    )


def _balance_finding(result: Result) -> Finding | None:
    figure = result.figure("balance")
    if figure is None or figure.metric.value is None:
        return None
    flops = members_of(figure).rmax_flops_per_second
    of = f" of {flops * 1e-9:,.6g} GFLOP/s".replace(",", " ") if flops else ""
    return Finding(
        f"Balance: {fmt.significant(figure.metric.value)} bytes of accumulated random-ring "
        f"bandwidth for each floating-point operation of HPL{of}.",
        "values",
    )


class RingsReporter:
    def headline(self, result: Result) -> Headline:
        system = result.run.system
        context = (
            f"on {fmt.count_of(system.ranks, 'rank')} of {fmt.count_of(system.nodes, 'node')}, "
            "all random rings together"
        )
        figure = result.figure("random_ring_bandwidth")
        plain = headline_of(figure, result, context)
        return replace(plain, name=plain.name.replace("_", " "), interval=interval_of(figure))

    def findings(self, result: Result) -> Sequence[Finding]:
        found = [
            _balance_finding(result),
            _distance_finding(result),
            *_pair_findings(result),
            _spread_finding(result),
        ]
        return [f for f in found if f is not None]

    def sections(self, result: Result) -> Sequence[Section]:
        values: list[Block | None] = [
            value_table(result),
            side_by_side(result, rates=False),
            side_by_side(result, rates=True),
        ]
        rings: list[Block | None] = [ring_figure(result), ring_table(result)]
        sections = []
        for name, title, blocks in (
            ("values", "Pairs, natural ring, random rings", values),
            ("all-rings", "Ring by ring", rings),
        ):
            if kept := [b for b in blocks if b is not None]:
                sections.append(Section(name, title, kept))
        return sections

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return balance_blocks(balances_of(results))


REPORTER = RingsReporter()
