# SPDX-License-Identifier: BSD-3-Clause
"""Report of the ring benchmark: pairs alone, the natural ring and random rings side by side, what
distance and sharing cost, and the balance to HPL. docs/benchmarks/rings.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean, geometric_mean

from effio import text as fmt
from effio.report.balance import balance_blocks, balances_of
from effio.report.common import certainty
from effio.report.common.counts import interval_of
from effio.report.generic import headline_of, quantity_of
from effio.report.model import (
    Axis,
    Block,
    Column,
    Figure,
    Finding,
    Headline,
    Series,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, valid, value_of
from effio.report.plots import plot
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import Measurement, Spread

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
_SPREAD_NAMES = {"smallest": "min", "mean": "mean", "largest": "max"}
_PAIRS, _NATURAL, _RANDOM = "pairs, one at a time", "natural ring", "random rings"
# A pair below this share of the fastest one's bandwidth is worth a warning.
_SLOW_PAIR = 0.5
# Measurements of one ring that differ by more than this are worth a warning.
_SPREAD = 0.25


@dataclass(frozen=True)
class _Ring:
    """One ring with one length; seconds of a message of the slowest rank."""

    name: str
    length: int
    seconds: float
    members: Members
    round: int

    @property
    def rate(self) -> float:
        """The rate of one process."""
        return self.length / self.seconds


def _size(length: float) -> str:
    """The size in bytes: the lengths are round in decimal."""
    return f"{length / 1e6:.0f} MB" if length and length % 1e6 == 0 else f"{length:.0f} B"


def _rings(result: Result) -> list[_Ring]:
    found = []
    for m in valid(result):
        length, family = m.number("length_bytes"), m.place("family")
        if family in ("natural ring", "random ring") and length >= 1 and m.total_seconds > 0:
            number = f"random {m.number('random_index'):.0f}"
            name = _NATURAL if family == "natural ring" else number
            found.append(_Ring(name, int(length), m.total_seconds, members_of(m), m.repetition))
    return found


def _pairs(result: Result) -> list[Measurement]:
    """For each length the measurement of all its pairs."""
    return [
        m
        for m in valid(result)
        if m.place("family") == "ping-pong"
        and m.number("length_bytes") >= 1
        and "total" in m.seconds
        and m.seconds["total"].min > 0
    ]


def _lengths(result: Result) -> list[int]:
    """The shorter one shows latency, the longer one bandwidth."""
    measured = {int(m.number("length_bytes")) for m in _pairs(result)}
    return sorted(measured | {r.length for r in _rings(result)})


def _values(result: Result, length: int, rates: bool) -> dict[str, Spread]:
    """Smallest, typical and largest of what stands side by side, for a length: seconds of a
    message, or bytes per second of a process."""
    rows = {}
    pairs = [
        members_of(m).bytes_per_second if rates else m.seconds["total"]
        for m in _pairs(result)
        if int(m.number("length_bytes")) == length
    ]
    known = [(of.min, of.mean, of.max) for of in pairs if None not in (of.min, of.mean, of.max)]
    if known:  # one measurement for each round
        lows, means, highs = zip(*known, strict=True)
        rows[_PAIRS] = Spread(min(lows), fmean(means), max(highs))
    rings = [r for r in _rings(result) if r.length == length]
    for name in (_NATURAL, _RANDOM):
        seconds_of = [r.seconds for r in rings if (r.name == _NATURAL) == (name == _NATURAL)]
        if not seconds_of:
            continue
        low, mean, high = min(seconds_of), geometric_mean(seconds_of), max(seconds_of)
        if rates:
            low, mean, high = length / high, length / mean, length / low
        rows[name] = Spread(low, mean, high)
    return rows


def side_by_side(result: Result, rates: bool) -> Figure | None:
    """Bandwidths with the longest messages, or latencies with the shortest."""
    length = (_lengths(result) or [0])[-1 if rates else 0]
    rows = _values(result, length, rates)
    series = [
        Series(name, list(rows), [getattr(row, member) for row in rows.values()], style)
        for style, (name, member) in enumerate(_SPREAD_NAMES.items())
    ]
    what = "Bandwidth of a process" if rates else "Latency"
    return plot(
        "bandwidth" if rates else "latency",
        f"{what} with {_size(length)}",
        "Over the pairs that were measured, and over the rings. A pair has the machine to itself; "
        "in a ring every process sends to both neighbors at the same time.",
        "bars",
        Axis(""),
        Axis("bandwidth of a process", "B/s") if rates else Axis("time of a message", "s"),
        series if rows else [],
        height=340,
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
    return plot(
        "rings",
        f"Each random ring with {_size(longest)}",
        "Points that are far apart, or far below the line, show that it matters which ranks are"
        " neighbors. Then place ranks that communicate on one node.",
        "curves",
        Axis("random ring"),
        Axis("bandwidth of a process", "B/s", low=0.0),
        series,
        height=320,
    )


def value_table(result: Result) -> Table:
    figures = [(title, result.figure(name)) for name, title in _HPCC]
    return table_of(
        [(title, f) for title, f in figures if f is not None and f.metric.value is not None],
        [
            (Column("value of"), lambda row: row[0]),
            (Column("value", "1"), lambda row: quantity_of(row[1].metric)),
            (Column("unit in CSV"), lambda row: row[1].metric.unit),
            (Column("in hpccoutf.txt"), lambda row: row[1].name),
        ],
        "As in the HPC Challenge",
        "Of one process.",
    )


def _several_rounds(rings: Sequence[_Ring]) -> bool:
    return len({r.round for r in rings}) > 1


def ring_table(result: Result) -> Table:
    spread = Column("spread of measurements", "1", "%", 2)
    rings = _rings(result)
    return table_of(
        rings,
        [
            *([(Column("round"), lambda r: r.round)] if _several_rounds(rings) else []),
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
    bandwidths, latencies = (
        [result.figure(f"{n}OrderedRing{name}") for n in ("Naturally", "Randomly")]
        for name in ("Bandwidth", "Latency")
    )
    if not all(map(value_of, (*bandwidths, *latencies))):
        return None
    reason = "how much of the difference is the network between nodes was not measured"
    if result.run.system.nodes == 1:
        reason = "all ranks are on one node, so no network between nodes has a part in it"
    why = [certainty.why_not_apart(*pair) for pair in (bandwidths, latencies)]
    if all(why):
        reason = f"whether they differ is not known ({why[0]})"
    rate, time = (value_of(of[1]) / value_of(of[0]) for of in (bandwidths, latencies))
    return Finding(
        f"Random rings reach {fmt.percent(rate)} of the natural ring's bandwidth with"
        f" {fmt.percent(time)} of its latency: {reason}.",
        "bandwidth",
    )


def _sample_findings(result: Result) -> list[Finding]:
    """Pairs that are a sample of all."""
    return [
        Finding(
            f"With {_size(m.number('length_bytes'))} only one rank in {members_of(m).stride:.0f}"
            f" took part in pairs ({members_of(m).pairs:.0f} of them), because all pairs would have"
            " taken too long.",
            "bandwidth",
        )
        for m in _pairs(result)
        if (members_of(m).stride or 0) > 1 and members_of(m).pairs is not None
    ]


def _pair_findings(result: Result) -> list[Finding]:
    rates = _values(result, max(_lengths(result), default=0), rates=True)
    alone, random = rates.get(_PAIRS), rates.get(_RANDOM)
    found: list[Finding] = []
    if alone is None:
        return found
    if alone.min < _SLOW_PAIR * alone.max:
        text = (
            f"The slowest pair has {fmt.percent(alone.min / alone.max)} of the fastest one's "
            "bandwidth. "
        )
        if result.run.system.nodes == 1:
            text += "All are on one node, so no link between nodes has a part in it. "
        text += "b-eff --pairs all shows which pairs are slow."
        found.append(Finding(text, "bandwidth", "warn"))
    if random is not None and alone.mean > 0:
        share = random.mean / alone.mean
        text = (
            "In random rings, where all talk at once, a process has"
            f" {fmt.percent(share)} of the bandwidth of a pair that is alone"
        )
        # A process is not faster because others communicate too.
        doubt = ": more than all of it, so the share is not known" if share > 1 else ""
        found.append(Finding(f"{text}{doubt}.", "bandwidth", "warn" if doubt else "info"))
    return found


def _spread_finding(result: Result) -> Finding | None:
    spreads = [(r.members.measurements_spread_fraction, r) for r in _rings(result)]
    rings = [(spread, r) for spread, r in spreads if spread is not None]
    apart = [(spread, r) for spread, r in rings if spread > _SPREAD]
    if not apart:
        return None
    worst, ring = max(apart, key=lambda pair: pair[0])
    several = _several_rounds([r for _, r in rings])
    where, of_round = (" of all rounds", f", round {ring.round}") if several else ("", "")
    return Finding(
        f"In {len(apart)} of {fmt.count_of(len(rings), 'ring')}{where} the measurements differ "
        f"by more than {fmt.percent(_SPREAD)}, at most by {fmt.percent(worst)} ({ring.name} with "
        f"{_size(ring.length)}{of_round}); the result does not show why. The shortest one counts.",
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


class RingsReporter(PartsReporter):
    finders = (
        _balance_finding,
        _distance_finding,
        _sample_findings,
        _pair_findings,
        _spread_finding,
    )
    parts = (
        Part(
            "values",
            "Pairs, natural ring, random rings",
            (value_table, partial(side_by_side, rates=False), partial(side_by_side, rates=True)),
        ),
        Part("all-rings", "Ring by ring", (ring_figure, ring_table)),
    )

    def headline(self, result: Result) -> Headline:
        system = result.run.system
        context = (
            f"on {fmt.count_of(system.ranks, 'rank')} of {fmt.count_of(system.nodes, 'node')}, "
            "all random rings together"
        )
        figure = result.figure("random_ring_bandwidth")
        plain = headline_of(figure, result, context)
        return replace(plain, name=plain.name.replace("_", " "), interval=interval_of(figure))

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return balance_blocks(balances_of(results))


REPORTER = RingsReporter()
