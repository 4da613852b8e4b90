# SPDX-License-Identifier: BSD-3-Clause
"""Report of b_eff: bandwidth over message size by pattern family and method, what each method alone
would be worth, the spread of repetitions and random rings, and pairs of ranks.
docs/benchmarks/b_eff.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import fmean, geometric_mean

from effio import text as fmt
from effio.judge import FEWEST
from effio.report import generic
from effio.report.common import certainty
from effio.report.common.names import first_of, grouped
from effio.report.model import (
    Axis,
    Column,
    Figure,
    Finding,
    Headline,
    Panel,
    Series,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, known, member, value_of
from effio.report.plots import plot
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord

METHODS = {
    "sendrecv": "MPI_Sendrecv",
    "alltoallv": "MPI_Alltoallv",
    "nonblocking": "MPI_Isend and MPI_Irecv",
}
BEST = "best method"
# A method that alone would lose more than this is worth a sentence.
_LOSS = 0.05
# Repetitions that differ by more than this are worth a warning.
_SPREAD = 0.10
# More ranks than this are shown node by node in the heat map.
_MOST_RANKS = 128

# The best repetition by method, family, pattern and length; BEST is the best of all methods.
_Rates = dict[tuple[str, str, int, int], float]


def _rates(result: Result) -> _Rates:
    best: _Rates = {}
    for m in result.measurements:
        length, pattern = m.where.get("length_bytes"), m.where.get("pattern")
        if m.access != "exchange" or not m.rate.value:
            continue
        if isinstance(length, int) and isinstance(pattern, int):
            family = str(m.where.get("family", ""))
            for method in (BEST, str(m.where.get("method", ""))):
                key = (method, family, pattern, length)
                best[key] = max(best.get(key, 0.0), m.rate.value)
    return best


# Family of patterns, how its patterns count together, and the name of the curve.
_Curve = tuple[str, Callable[[list[float]], float], str]


def _curves(rates: _Rates, wanted: Sequence[tuple[str, _Curve]]) -> list[Series]:
    """Curves over the lengths, by method, of what was measured."""
    found = []
    for style, (method, (family, how, name)) in enumerate(wanted):
        mine = [(key[3], rate) for key, rate in rates.items() if key[:2] == (method, family)]
        by_length = sorted(grouped(mine, lambda one: one[0]).items())
        y = [how([rate for _, rate in some]) for _, some in by_length]
        if y:
            found.append(Series(name, [float(length) for length, _ in by_length], y, style))
    return found


_CURVES: Sequence[_Curve] = (
    ("ring", geometric_mean, "rings"),
    ("random ring", geometric_mean, "random rings, mean"),
    ("random ring", min, "random rings, slowest"),
    ("random ring", max, "random rings, fastest"),
    ("worst ring", geometric_mean, "worst ring"),
    ("best bisection", geometric_mean, "best bisection"),
    ("worst bisection", geometric_mean, "worst bisection"),
    ("ping-pong", geometric_mean, "one ping-pong pair"),
    ("grid", geometric_mean, "grids, mean"),
)

_LENGTH_AXIS = Axis("message", "B", log=True)
_RATE_AXIS = Axis("bandwidth of all ranks", "B/s", log=True, switch=True)


def family_figure(result: Result) -> Figure | None:
    rates = _rates(result)
    used = {method for method, *_ in rates}
    variants = {}
    for method, title in {BEST: BEST, **METHODS}.items():
        if method in used:
            variants[title] = [Panel("", _curves(rates, [(method, of) for of in _CURVES]))]
    return plot(
        "families",
        "Bandwidth over message size by pattern family",
        "The best repetition of each pattern; means are geometric. Rings talk to near ranks, random"
        " rings to any. Where slowest and fastest random ring part, the result depends on where the"
        " ranks are placed.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        variants,
        case="method",
        height=460,
    )


def method_figure(result: Result) -> Figure | None:
    rates = _rates(result)
    panels = []
    for family in ("ring", "random ring"):
        wanted = [(method, (family, geometric_mean, name)) for method, name in METHODS.items()]
        curves = _curves(rates, wanted)
        panels += [Panel(f"{family}s", curves)] if curves else []
    return plot(
        "methods",
        "The three methods",
        "Geometric mean over the patterns of a family. b_eff takes the best method at each point.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        panels,
        columns=2,
        height=320,
    )


def length_figure(result: Result) -> Figure | None:
    records = [
        f
        for f in known(result, "bandwidth_at_length")
        if f.metric.value and isinstance(f.where.get("length_bytes"), int)
    ]
    x = [float(f.where["length_bytes"]) for f in records]
    reported = [members_of(f) for f in records]
    series = [
        Series("rings and random rings", x, [f.metric.value for f in records], 0),
        Series("rings", x, [t.rings_bytes_per_second for t in reported], 1),
        Series("random rings", x, [t.random_rings_bytes_per_second for t in reported], 2),
    ]
    return plot(
        "lengths",
        "b_eff by message size",
        "b_eff is made of the mean over all sizes: the few longest ones decide it.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        series if records else [],
        height=360,
    )


def methods_alone(result: Result) -> list[tuple[str, float, float]]:
    """Method, b_eff with it alone, and how far it is from the official value as a fraction."""
    official = value_of(result.figure("b_eff"))
    values = [
        (METHODS.get(str(f.where.get("method"))), value_of(f))
        for f in result.figures_named("b_eff_of_method")
    ]
    return [
        (method, value, value / official - 1)
        for method, value in values
        if official and method and value
    ]


def result_table(result: Result) -> Table:
    names = {
        "b_eff": "b_eff",
        "b_eff_per_process": "b_eff per process",
        "b_eff_at_lmax": "b_eff at the longest message",
        "b_eff_at_lmax_rings": "the same, rings only",
        "latency": "latency, rings and random rings",
        "latency_rings": "latency, rings",
        "ping_pong_latency": "latency, one ping-pong pair",
        "ping_pong_bandwidth": "bandwidth, one ping-pong pair",
    }
    first = [f for name in names for f in result.figures_named(name)[:1]]
    rows = [
        [names[f.name], fmt.quantity(f.metric.value, f.metric.unit)]
        for f in first
        if f.metric.value is not None
    ]
    for name, value, more in methods_alone(result):
        change = fmt.percent(more, 1, signed=True)
        rows.append([f"b_eff with {name} alone", f"{fmt.quantity(value, 'B/s')} ({change})"])
    return Table([Column("result"), Column("value")], rows, "Results")


def _number(f: FigureRecord) -> int | None:
    number = f.where.get("pattern")
    return number if isinstance(number, int) else None


def pattern_table(result: Result) -> Table:
    return table_of(
        result.figures_named("pattern_bandwidth"),
        [
            (Column("number"), _number),
            (Column("pattern"), lambda f: str(f.where.get("name", ""))),
            (Column("in b_eff"), lambda f: "yes" if members_of(f).counts else "no"),
            (Column("bandwidth", "B/s"), lambda f: f.metric.value),
            (Column("messages within nodes", "1"), member("messages_within_nodes")),
            (Column("between nodes", "1"), member("messages_between_nodes")),
        ],
        "Patterns",
        "Mean over the message sizes, best method and repetition.",
    )


def repetition_finding(result: Result) -> Finding | None:
    members = members_of(result.figure("b_eff"))
    spread = members.repetitions_spread_fraction
    mean = members.repetitions_mean_bytes_per_second
    half = members.repetitions_half_width95_bytes_per_second
    count = len(members.by_repetition_bytes_per_second)
    values = members.by_repetition_bytes_per_second
    if spread is None or mean is None or count < 2:
        return None
    # Older results have a half width of fewer than five, too.
    if half is not None and count >= FEWEST:
        shown = f"± {fmt.quantity(half, 'B/s')} (95 % interval of the mean of {count})"
    else:
        low, high = (fmt.quantity(end, "B/s") for end in (min(values), max(values)))
        shown = f"({low} to {high}, range of {count})"
    text = (
        f"Each repetition alone gives {fmt.quantity(mean, 'B/s')} {shown}; they differ by"
        f" {fmt.percent(spread, 1)}."
    )
    return Finding(text, "results", "warn" if spread > _SPREAD else "info")


def _chance(members: Members) -> float | None:
    """Half the 95 % interval of what a repetition alone gives, as a share: numbers that differ by
    no more are not known to differ. None from a single repetition."""
    mean = members.repetitions_mean_bytes_per_second
    half = members.repetitions_half_width95_bytes_per_second
    if not mean or half is None or len(members.by_repetition_bytes_per_second) < 2:
        return None
    return float(half / mean)


def method_finding(result: Result) -> Finding | None:
    rows = methods_alone(result)
    chance = _chance(members_of(result.figure("b_eff")))
    if len(rows) < 2 or chance is None:
        return None
    best, worst = max(rows, key=lambda r: r[2]), min(rows, key=lambda r: r[2])
    if worst[2] >= -max(_LOSS, chance):
        return None
    return Finding(
        f"{worst[0]} alone would give {fmt.percent(-worst[2], 1)} less than b_eff,"
        f" {best[0]} alone {fmt.percent(-best[2], 1)} less.",
        "methods",
    )


def random_findings(result: Result) -> list[Finding]:
    found = []
    members = members_of(result.figure("b_eff"))
    rings, random = members.rings_bytes_per_second, members.random_rings_bytes_per_second
    if rings and random:
        chance = _chance(members)
        if chance is None:
            why = f"whether they differ is not known: {certainty.ONCE}"
        elif abs(random / rings - 1) <= chance:
            by = fmt.percent(chance)
            why = f"whether they differ is not known: repetitions alone differ by {by}"
        elif result.run.system.nodes > 1:
            why = "how much of the difference the network between nodes costs was not measured"
        else:
            why = "all ranks are on one node, so no network between nodes has a part in it"
        text = f"Random rings reach {fmt.percent(random / rings)} of the rings: {why}."
        found.append(Finding(text, "families"))
    factor = members.random_rings_factor95
    if factor is not None and factor > 1:
        change = fmt.percent(factor - 1, 1)
        text = f"Another choice of random rings would change b_eff by up to {change} (95 %)."
        found.append(Finding(text, "families"))
    return found


# Both ranks, the lower one first, seconds, bytes per second.
_Pair = tuple[int, int, float, float]


def _pairs(reported: Members) -> list[_Pair]:
    """The pairs that can be trusted."""
    return [
        (low, high, seconds, rate)
        for low, high, seconds, rate in (
            row for row in reported.pairs_low_high_latency_bandwidth if len(row) == 4
        )
        if isinstance(low, int) and isinstance(high, int) and 0 <= low <= high and seconds >= 0
    ]


def _places(reported: Members, ranks: Sequence[int]) -> tuple[str, dict[int, int]]:
    """What a row of the heat map is, and the number of that by rank. `ranks` are those measured."""
    if ranks[-1] < _MOST_RANKS or len(reported.node_of_rank) <= ranks[-1]:
        return "rank", {rank: rank for rank in ranks}
    return "node", {rank: max(0, reported.node_of_rank[rank] or 0) for rank in ranks}


def heat_maps(result: Result) -> list[Figure]:
    reported = members_of(result.figure("slow_pairs"))
    pairs = _pairs(reported)
    if not pairs:
        return []
    kind, places = _places(reported, sorted({rank for pair in pairs for rank in pair[:2]}))
    # Only ranks that have a pair get a row: the map is as large as its contents.
    shown = sorted(set(places.values()))[: 4 * _MOST_RANKS]
    labels = [str(place) for place in shown]
    in_all = reported.pairs_in_all
    scope = f"a sample of {len(pairs)} of {in_all} pairs" if reported.sampled else "every pair"
    figures = []
    for name, title, unit, which in (
        ("pair-bandwidth", "Bandwidth of pairs", "B/s", 3),
        ("pair-latency", "Latency of pairs", "s", 2),
    ):
        cells: dict[tuple[int, int], list[float]] = {}
        for pair in pairs:
            a, b = places[pair[0]], places[pair[1]]
            cells.setdefault((a, b), []).append(float(pair[which]))
            cells.setdefault((b, a), []).append(float(pair[which]))
        values = [[fmean(cells[y, x]) if (y, x) in cells else None for x in shown] for y in shown]
        figure = plot(
            name,
            title,
            f"One pair at a time, {scope}. A row and column of another color is a slow {kind};"
            " blocks along the diagonal are nodes.",
            "heatmap",
            Axis(kind),
            Axis(kind, unit, low=0.0),
            [Panel("", [], labels, labels, values)],
            height=480,
        )
        figures += [figure] if figure else []
    return figures


def left_out_finding(result: Result) -> Finding | None:
    """Pairs that cannot be believed."""
    record = result.figure("slow_pairs")
    in_file = record.detail.get("pairs_low_high_latency_bandwidth") if record else None
    pairs = _pairs(members_of(record))
    if not isinstance(in_file, list) or len(in_file) == len(pairs):
        return None
    words = fmt.count_of(len(in_file) - len(pairs), "pair of ranks is", "pairs of ranks are")
    text = (
        f"{words} left out of the maps: the result file does not say two ranks, a latency"
        " and a bandwidth."
    )
    return Finding(text, "pair-bandwidth" if pairs else "", "warn")


def pair_finding(result: Result) -> Finding | None:
    """Ranks that are slow with most of their partners, or else how many pairs are slow."""
    record = result.figure("slow_pairs")
    slow = [
        f"rank {s.rank} ({fmt.percent(s.relative_bandwidth)})"
        for s in members_of(record).slow_ranks
        if s.relative_bandwidth is not None
    ]
    if slow:
        text = (
            "Slow ranks, with their share of the usual bandwidth to the others:"
            f" {first_of(slow, 10)}."
        )
        return Finding(text, "pair-bandwidth", "bad")
    if not (pairs := value_of(record)):
        return None
    text = (
        f"{fmt.count_of(round(pairs), 'pair has', 'pairs have')} less than half of the usual"
        " bandwidth, but no rank is slow with most of its partners."
    )
    return Finding(text, "pair-bandwidth", "warn")


def shortened_finding(result: Result) -> Finding | None:
    if not any(members_of(result.figure("b_eff")).longest_lengths_shortened):
        return None
    text = (
        "The two longest messages were measured with the best method only; there the methods"
        " cannot be compared."
    )
    return Finding(text, "methods")


class BeffReporter(PartsReporter):
    finders = (
        repetition_finding,
        method_finding,
        random_findings,
        shortened_finding,
        left_out_finding,
        pair_finding,
    )
    parts = (
        Part(
            "results",
            "Effective bandwidth",
            (result_table, length_figure, family_figure, method_figure),
        ),
        Part("patterns", "Patterns", (pattern_table,)),
        Part("pairs", "Pairs of ranks", (heat_maps,)),
    )

    def headline(self, result: Result) -> Headline:
        system = result.run.system
        ranks, nodes = fmt.count_of(system.ranks, "rank"), fmt.count_of(system.nodes, "node")
        context = f"on {ranks} of {nodes}"
        place = "within one node" if system.nodes == 1 else "within and between nodes"
        headline = generic.headline_of(result.figure("b_eff"), result, context)
        return replace(headline, counts=f"messages of all ranks, {place}")


REPORTER = BeffReporter()
