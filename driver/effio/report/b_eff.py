# SPDX-License-Identifier: BSD-3-Clause
"""Tells of b_eff: bandwidth over message size by pattern family and method, what each method alone
would be worth, the spread of repetitions and random rings, and pairs of ranks.
docs/benchmarks/b_eff.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean
from typing import Any

from effio import text as fmt
from effio.report import common
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
    Section,
    Series,
    Table,
)
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import as_number

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


@dataclass(frozen=True)
class _Experiment:
    family: str
    pattern: int
    method: str
    length: int
    rate: float


def _experiments(result: Result) -> list[_Experiment]:
    found = []
    for m in result.measurements:
        length, pattern = m.where.get("length_bytes"), m.where.get("pattern")
        if m.access != "exchange" or not m.rate.value or not isinstance(length, int):
            continue
        if not isinstance(pattern, int):
            continue
        family, method = str(m.where.get("family", "")), str(m.where.get("method", ""))
        found.append(_Experiment(family, pattern, method, length, m.rate.value))
    return found


def _best(experiments: Sequence[_Experiment], method: str) -> dict[tuple[str, int, int], float]:
    """The best repetition (and method) by family, pattern and length."""
    best: dict[tuple[str, int, int], float] = {}
    for e in experiments:
        if method not in (BEST, e.method):
            continue
        key = (e.family, e.pattern, e.length)
        best[key] = max(best.get(key, 0.0), e.rate)
    return best


def _curve(
    best: dict[tuple[str, int, int], float],
    family: str,
    how: Callable[[list[float]], float],
    name: str,
    style: int,
) -> Series | None:
    by_length: dict[int, list[float]] = {}
    for (of, _, length), rate in best.items():
        if of == family:
            by_length.setdefault(length, []).append(rate)
    if not by_length:
        return None
    lengths = sorted(by_length)
    return Series(name, [float(n) for n in lengths], [how(by_length[n]) for n in lengths], style)


_CURVES: Sequence[tuple[str, Callable[[list[float]], float], str]] = (
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
    experiments = _experiments(result)
    if not experiments:
        return None
    used = {e.method for e in experiments}
    variants = {}
    for method, title in [(BEST, BEST), *METHODS.items()]:
        if method != BEST and method not in used:
            continue
        best = _best(experiments, method)
        curves = [_curve(best, f, how, n, i) for i, (f, how, n) in enumerate(_CURVES)]
        variants[title] = [Panel("", [c for c in curves if c is not None])]
    return Figure(
        "families",
        "Bandwidth over message size by pattern family",
        "The best repetition of each pattern; means are geometric. Rings talk to near ranks, random"
        " rings to any: the gap between them is what distance costs. Where slowest and fastest"
        " random ring part, the result depends on where the ranks are placed.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        variants,
        columns=1,
        variant_title="method",
        panel_height=460,
    )


def method_figure(result: Result) -> Figure | None:
    experiments = _experiments(result)
    panels = []
    for family, title in (("ring", "rings"), ("random ring", "random rings")):
        curves = []
        for style, (method, name) in enumerate(METHODS.items()):
            curve = _curve(_best(experiments, method), family, geometric_mean, name, style)
            if curve is not None:
                curves.append(curve)
        if curves:
            panels.append(Panel(title, curves))
    if not panels:
        return None
    return Figure(
        "methods",
        "The three methods",
        "Geometric mean over the patterns of a family. b_eff takes the best method at each point.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        {"": panels},
        columns=2,
        panel_height=320,
    )


def length_figure(result: Result) -> Figure | None:
    records = [f for f in result.figures_named("bandwidth_at_length") if f.metric.value]
    records = [f for f in records if isinstance(f.where.get("length_bytes"), int)]
    if not records:
        return None
    x = [float(f.where["length_bytes"]) for f in records]
    series = [
        Series("rings and random rings", x, [f.metric.value for f in records], 0),
        Series("rings", x, [as_number(f.detail.get("rings_bytes_per_second")) for f in records], 1),
        Series(
            "random rings",
            x,
            [as_number(f.detail.get("random_rings_bytes_per_second")) for f in records],
            2,
        ),
    ]
    return Figure(
        "lengths",
        "b_eff by message size",
        "b_eff is made of the mean over all sizes: the few longest ones decide it.",
        "curves",
        _LENGTH_AXIS,
        _RATE_AXIS,
        {"": [Panel("", series)]},
        columns=1,
        panel_height=360,
    )


def methods_alone(result: Result) -> list[tuple[str, float, float]]:
    """Method, b_eff with it alone, and its distance from the official value as a fraction."""
    official = result.figure("b_eff")
    if official is None or not official.metric.value:
        return []
    rows = []
    for f in result.figures_named("b_eff_of_method"):
        method = METHODS.get(str(f.where.get("method")))
        if method and f.metric.value:
            rows.append((method, f.metric.value, f.metric.value / official.metric.value - 1))
    return rows


def result_table(result: Result) -> Table | None:
    names = (
        ("b_eff", "b_eff"),
        ("b_eff_per_process", "b_eff per process"),
        ("b_eff_at_lmax", "b_eff at the longest message"),
        ("b_eff_at_lmax_rings", "the same, rings only"),
        ("latency", "latency, rings and random rings"),
        ("latency_rings", "latency, rings"),
        ("ping_pong_latency", "latency, one ping-pong pair"),
        ("ping_pong_bandwidth", "bandwidth, one ping-pong pair"),
    )
    rows: list[list[Cell]] = []
    for name, title in names:
        figure = result.figure(name)
        if figure is not None and figure.metric.value is not None:
            rows.append([title, fmt.quantity(figure.metric.value, figure.metric.unit)])
    for name, value, distance in methods_alone(result):
        rows.append([f"b_eff with {name} alone", f"{fmt.quantity(value, 'B/s')} ({distance:+.1%})"])
    if not rows:
        return None
    return Table([Column("result"), Column("value")], rows, "Results")


def pattern_table(result: Result) -> Table | None:
    rows: list[list[Cell]] = []
    for f in result.figures_named("pattern_bandwidth"):
        number = f.where.get("pattern")
        counts = f.detail.get("counts") is True
        within, between = (
            as_number(f.detail.get(f"messages_{place}_nodes")) for place in ("within", "between")
        )
        rows.append(
            [
                number if isinstance(number, int) else None,
                str(f.where.get("name", "")),
                "yes" if counts else "no",
                f.metric.value,
                int(within) if within is not None else None,
                int(between) if between is not None else None,
            ]
        )
    if not rows:
        return None
    return Table(
        [
            Column("number"),
            Column("pattern"),
            Column("in b_eff"),
            Column("bandwidth", "B/s"),
            Column("messages within nodes", "1"),
            Column("between nodes", "1"),
        ],
        rows,
        "Patterns",
        "Mean over the message sizes, best method and repetition.",
    )


def _pairs(record: FigureRecord) -> list[tuple[int, int, float, float]]:
    told = record.detail.get("pairs_low_high_latency_bandwidth")
    found = []
    for pair in told if isinstance(told, list) else []:
        if not isinstance(pair, list) or len(pair) != 4:
            continue
        low, high, latency, bandwidth = pair
        values = (as_number(latency), as_number(bandwidth))
        if not isinstance(low, int) or not isinstance(high, int) or None in values:
            continue
        found.append((low, high, float(latency), float(bandwidth)))
    return found


def _places(record: FigureRecord, ranks: int) -> tuple[str, list[int]]:
    """What a row of the heat map is, and the row of each rank."""
    nodes = record.detail.get("node_of_rank")
    fits = isinstance(nodes, list) and len(nodes) == ranks
    if ranks <= _MOST_RANKS or not fits:
        return "rank", list(range(ranks))
    return "node", [n if isinstance(n, int) and n >= 0 else 0 for n in nodes or []]


def heat_maps(result: Result) -> list[Figure]:
    record = result.figure("pairs")
    pairs = _pairs(record) if record is not None else []
    if record is None or not pairs:
        return []
    ranks = 1 + max(high for _, high, _, _ in pairs)
    kind, places = _places(record, ranks)
    size = min(1 + max(places), 4 * _MOST_RANKS)
    labels = [str(i) for i in range(size)]
    sampled = record.detail.get("sampled") is True
    in_all = record.detail.get("pairs_in_all")
    scope = f"a sample of {len(pairs)} of {in_all} pairs" if sampled else "every pair"
    figures = []
    for name, title, unit, which in (
        ("pair-bandwidth", "Bandwidth of pairs", "B/s", 3),
        ("pair-latency", "Latency of pairs", "s", 2),
    ):
        cells: dict[tuple[int, int], list[float]] = {}
        for pair in pairs:
            a, b = places[pair[0]], places[pair[1]]
            if not (0 <= a < size and 0 <= b < size):
                continue
            value = float(pair[which])
            cells.setdefault((a, b), []).append(value)
            cells.setdefault((b, a), []).append(value)
        values = [
            [fmean(cells[y, x]) if (y, x) in cells else None for x in range(size)]
            for y in range(size)
        ]
        figures.append(
            Figure(
                name,
                title,
                f"One pair at a time, {scope}. A row and column of another colour is a slow {kind};"
                " blocks along the diagonal are nodes.",
                "heatmap",
                Axis(kind),
                Axis(kind, unit, low=0.0),
                {"": [Panel("", [], labels, labels, values)]},
                columns=1,
                panel_height=480,
            )
        )
    return figures


def _detail(result: Result, name: str) -> dict[str, Any]:
    figure = result.figure(name)
    return dict(figure.detail) if figure is not None else {}


def _repetition_finding(result: Result) -> Finding | None:
    detail = _detail(result, "b_eff")
    spread = as_number(detail.get("repetitions_spread_fraction"))
    mean = as_number(detail.get("repetitions_mean_bytes_per_second"))
    half = as_number(detail.get("repetitions_half_width95_bytes_per_second"))
    each = detail.get("by_repetition_bytes_per_second")
    if spread is None or mean is None or half is None or not isinstance(each, list):
        return None
    if len(each) < 2:
        return None
    text = (
        f"Each repetition alone gives {fmt.quantity(mean, 'B/s')} ± {fmt.quantity(half, 'B/s')}"
        f" (95 % interval of the mean of {len(each)}); they differ by {spread:.1%}."
    )
    if spread > _SPREAD:
        return Finding(f"{text} Something else was at work on the machine.", "results", "warn")
    return Finding(text, "results")


def _pair_findings(result: Result) -> list[Finding]:
    detail = _detail(result, "pairs")
    ranks = detail.get("slow_ranks")
    found = []
    for slow in ranks[:10] if isinstance(ranks, list) else []:
        relative = as_number(slow.get("relative_bandwidth")) if isinstance(slow, dict) else None
        if relative is not None:
            found.append(
                Finding(
                    f"Rank {slow.get('rank')} has {relative:.0%} of the usual bandwidth to the"
                    " others.",
                    "pair-bandwidth",
                    "bad",
                )
            )
    record = result.figure("pairs")
    if record is not None and record.metric.value and not found:
        found.append(
            Finding(
                f"{record.metric.value:.0f} pairs have less than half of the usual bandwidth, but"
                " no rank is slow with most of its partners.",
                "pair-bandwidth",
                "warn",
            )
        )
    return found


class BeffTeller:
    def headline(self, result: Result) -> Headline:
        system = result.run.system
        context = f"{fmt.count_of(system.ranks, 'rank')} on {fmt.count_of(system.nodes, 'node')}"
        return headline_of(result.figure("b_eff"), result, context)

    def findings(self, result: Result) -> Sequence[Finding]:
        found = []
        if (crowding := common.crowding_finding(result)) is not None:
            found.append(crowding)
        repetitions = _repetition_finding(result)
        if repetitions is not None:
            found.append(repetitions)
        rows = methods_alone(result)
        if len(rows) > 1:
            best = max(rows, key=lambda r: r[2])
            worst = min(rows, key=lambda r: r[2])
            if worst[2] < -_LOSS:
                found.append(
                    Finding(
                        f"{worst[0]} alone would give {-worst[2]:.1%} less than b_eff,"
                        f" {best[0]} alone {-best[2]:.1%} less.",
                        "methods",
                    )
                )
        detail = _detail(result, "b_eff")
        rings = as_number(detail.get("rings_bytes_per_second"))
        random = as_number(detail.get("random_rings_bytes_per_second"))
        if rings and random:
            found.append(
                Finding(
                    f"Random rings reach {random / rings:.0%} of the rings: the rest is what the"
                    " distance between ranks costs.",
                    "families",
                )
            )
        factor = as_number(detail.get("random_rings_factor95"))
        if factor is not None and factor > 1:
            found.append(
                Finding(
                    f"Other random rings would change b_eff by up to {factor - 1:.1%} (95 %).",
                    "families",
                )
            )
        if isinstance(shortened := detail.get("longest_lengths_shortened"), list) and any(
            shortened
        ):
            found.append(
                Finding(
                    "The two longest messages were measured with the best method only; there the"
                    " methods cannot be compared.",
                    "methods",
                )
            )
        return [*found, *_pair_findings(result)]

    def sections(self, result: Result) -> Sequence[Section]:
        blocks: list[Block | None] = [
            result_table(result),
            length_figure(result),
            family_figure(result),
            method_figure(result),
        ]
        sections = []
        if kept := [b for b in blocks if b is not None]:
            sections.append(Section("results", "Effective bandwidth", kept))
        if (table := pattern_table(result)) is not None:
            sections.append(Section("patterns", "Patterns", [table]))
        if maps := heat_maps(result):
            sections.append(Section("pairs", "Pairs of ranks", maps))
        return sections


TELLER = BeffTeller()
