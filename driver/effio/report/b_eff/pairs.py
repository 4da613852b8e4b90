# SPDX-License-Identifier: BSD-3-Clause
"""One pair of ranks at a time: heat maps, and which ranks are slow."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from effio import text as fmt
from effio.report.model import Axis, Figure, Finding, Panel
from effio.store.members import Members, members_of
from effio.store.reader import Result

# More ranks than this are shown node by node in the heat map.
_MOST_RANKS = 128


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
    reported = members_of(result.figure("pairs"))
    pairs = _pairs(reported)
    if not pairs:
        return []
    kind, places = _places(reported, sorted({rank for pair in pairs for rank in pair[:2]}))
    # Ranks without a pair have no row, so that the map is no larger than its contents.
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
            value = float(pair[which])
            cells.setdefault((a, b), []).append(value)
            cells.setdefault((b, a), []).append(value)
        values = [[fmean(cells[y, x]) if (y, x) in cells else None for x in shown] for y in shown]
        figures.append(
            Figure(
                name,
                title,
                f"One pair at a time, {scope}. A row and column of another color is a slow {kind};"
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


def pair_findings(result: Result) -> list[Finding]:
    """Pairs that cannot be believed, and one sentence: ranks that are slow with most of their
    partners, or else how many pairs are."""
    record = result.figure("pairs")
    if record is None:
        return []
    reported = members_of(record)
    found, pairs = [], _pairs(reported)
    in_file = record.detail.get("pairs_low_high_latency_bandwidth")
    if left_out := len(in_file) - len(pairs) if isinstance(in_file, list) else 0:
        words = fmt.count_of(left_out, "pair of ranks is", "pairs of ranks are")
        found.append(
            Finding(
                f"{words} left out of the maps: the result file does not say two ranks, a latency"
                " and a bandwidth.",
                "pair-bandwidth" if pairs else "",
                "warn",
            )
        )
    slow = [
        f"rank {s.rank} ({fmt.percent(s.relative_bandwidth)})"
        for s in reported.slow_ranks
        if s.relative_bandwidth is not None
    ]
    if slow:
        more = f" and {len(slow) - 10} more" if len(slow) > 10 else ""
        return [
            *found,
            Finding(
                "Slow ranks, with their share of the usual bandwidth to the others:"
                f" {', '.join(slow[:10])}{more}.",
                "pair-bandwidth",
                "bad",
            ),
        ]
    if not record.metric.value:
        return found
    return [
        *found,
        Finding(
            f"{fmt.count_of(round(record.metric.value), 'pair has', 'pairs have')} less than half"
            " of the usual bandwidth, but no rank is slow with most of its partners.",
            "pair-bandwidth",
            "warn",
        ),
    ]
