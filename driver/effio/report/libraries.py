# SPDX-License-Identifier: BSD-3-Clause
"""Tells of the library comparison: rates by number of processes, the overhead over one file per
process, the gain of hints, and the cost by layer. docs/benchmarks/libraries.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report.common.names import unique
from effio.report.flash_io import collective_findings
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Finding,
    Headline,
    Level,
    Panel,
    Section,
    Series,
    Table,
)
from effio.report.scaling import ScalingPoint, curves_over_processes, scaling_blocks
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import as_count, as_number

_OWN_FILES = ("fortran-fpp", "posix-fpp")


def _word(f: FigureRecord, name: str) -> str:
    return fmt.plain(f.where.get(name, ""), 60)


def _count(f: FigureRecord, name: str) -> int:
    return as_count(f.where.get(name))


def _label(f: FigureRecord) -> str:
    hints = _word(f, "hints")
    return _word(f, "library") + ("" if hints in ("", "none") else f" + {hints}")


def _case(f: FigureRecord) -> str:
    return f"{_word(f, 'access')}, {_count(f, 'edge')}³ cells"


def _styles(figures: Sequence[FigureRecord]) -> dict[str, int]:
    return {label: i for i, label in enumerate(unique(_label(f) for f in figures))}


def rate_figure(rates: Sequence[FigureRecord]) -> Figure | None:
    if not rates:
        return None
    styles = _styles(rates)
    variants = {}
    for case in unique(_case(f) for f in rates):
        series = []
        for label, style in styles.items():
            some = [f for f in rates if _case(f) == case and _label(f) == label]
            if not some:
                continue
            some.sort(key=lambda f: _count(f, "processes"))
            x = [float(_count(f, "processes")) for f in some]
            high = [as_number(f.detail.get("max")) for f in some]
            series.append(Series(label, x, [f.metric.value for f in some], style, high))
        variants[case] = [Panel("", series)]
    return curves_over_processes(
        "library-rates",
        "Rate by number of processes",
        "Means over the repetitions, from the opening of the file to its close; whiskers reach to"
        " the best repetition.",
        variants,
        (_count(f, "processes") for f in rates),
    )


def share_figure(
    found: Sequence[FigureRecord], identity: str, title: str, caption: str
) -> Figure | None:
    """Bars of shares at the largest number of processes of each case."""
    if not found:
        return None
    variants = {}
    for case in unique(_case(f) for f in found):
        of_case = [f for f in found if _case(f) == case]
        most = max(_count(f, "processes") for f in of_case)
        some = [f for f in of_case if _count(f, "processes") == most]
        on = f" on {most} processes" if most else ""
        values = [None if f.metric.value is None else 100 * f.metric.value for f in some]
        variants[case + on] = [Panel("", [Series(title, [_label(f) for f in some], values, 0)])]
    return Figure(
        identity,
        title,
        caption,
        "bars",
        Axis("library"),
        Axis(f"{title.lower()} in %"),
        variants,
        columns=1,
        variant_title="case",
    )


def layer_figure(layers: Sequence[FigureRecord]) -> Figure | None:
    """What each library's time consists of, at the largest number of processes."""
    if not layers:
        return None
    variants = {}
    for case in unique(_case(f) for f in layers):
        of_case = [f for f in layers if _case(f) == case]
        most = max(_count(f, "processes") for f in of_case)
        own = {
            _word(f, "library"): (f.metric.value, fmt.plain(f.detail.get("below", ""), 40))
            for f in of_case
            if _count(f, "processes") == most
        }
        names = list(own)
        stacks: dict[str, list[float | None]] = {}
        for name in names:
            layer, seen = name, set()
            while layer in own and layer not in seen:
                seen.add(layer)
                values = stacks.setdefault(layer, [0.0] * len(names))
                # A layer that was slower alone than under a library has no cost to show there.
                values[names.index(name)] = max(0.0, own[layer][0] or 0.0)
                layer = own[layer][1]
        series = [
            Series("the system" if layer == "posix" else layer, names, values, style)
            for style, (layer, values) in enumerate(stacks.items())
        ]
        variants[f"{case} on {most} processes"] = [Panel("", series)]
    return Figure(
        "layers",
        "Cost by layer",
        "The same bytes were moved at each layer: a library's own time is what it takes beyond the"
        " layer below it. Own times below zero are shown as none; the table has them.",
        "stacked",
        Axis("library"),
        Axis("time", "s"),
        variants,
        columns=1,
        variant_title="case",
    )


def point_table(result: Result) -> Table:
    def key(f: FigureRecord) -> tuple[str, str, str, int]:
        return _case(f), _word(f, "library"), _word(f, "hints"), _count(f, "processes")

    overheads = {key(f): f.metric.value for f in result.figures_named("overhead")}
    gains = {key(f): f.metric.value for f in result.figures_named("hint_gain")}
    own = {key(f): f.metric.value for f in result.figures_named("layer_seconds")}
    rows: list[list[Cell]] = []
    for f in result.figures_named("library_bandwidth"):
        k = key(f)
        head: list[Cell] = [_case(f), k[1], k[2], k[3], f.metric.value]
        synced = as_number(f.detail.get("synced_bandwidth_bytes_per_second"))
        repetitions = int(as_number(f.detail.get("repetitions")) or 0)
        shares = [overheads.get(k), gains.get(k)]
        percents = [None if s is None else 100 * s for s in shares]
        rows.append(
            [*head, synced, repetitions, as_number(f.detail.get("seconds")), own.get(k), *percents]
        )
    return Table(
        [
            Column("case"),
            Column("library"),
            Column("hints"),
            Column("processes", "1"),
            Column("rate", "B/s"),
            Column("until on storage", "B/s"),
            Column("repetitions", "1"),
            Column("time", "s"),
            Column("own time", "s"),
            Column("overhead in %", digits=3),
            Column("gain of hints in %", digits=3),
        ],
        rows,
        "Points",
        "Overhead: time over that of one file per process. Gain: rate over that without hints.",
        page_only=len(rows) > 60,
    )


def overhead_findings(result: Result) -> list[Finding]:
    """The shared-file library that comes nearest to one file per process when writing, and the one
    that is farthest, on the largest number of processes, without hints."""
    found = [
        f
        for f in result.figures_named("overhead")
        if _word(f, "access") == "write"
        and _word(f, "hints") in ("", "none")
        and _word(f, "library") not in _OWN_FILES
        and f.metric.value is not None
    ]
    if not found:
        return []
    most = max(_count(f, "processes") for f in found)
    at = sorted(
        (f for f in found if _count(f, "processes") == most), key=lambda f: f.metric.value or 0.0
    )

    def told(f: FigureRecord) -> str:
        share = 100 * (f.metric.value or 0.0)
        return f"{_word(f, 'library')} {share:+.0f} % ({_count(f, 'edge')}³ cells)"

    text = f"Writing time over one file per process, on {most} processes: {told(at[0])}"
    if len(at) > 1:
        text += f" at best, {told(at[-1])} at worst"
    return [Finding(text + ".", "overhead", card="limit")]


def _apart(result: Result, mean: FigureRecord) -> bool:
    """Whether, on every number of processes, all repetitions with the hints were better, or all
    worse, than all without; one repetition shows nothing."""
    same = ("library", "edge", "access")
    rates = [
        f
        for f in result.figures_named("library_bandwidth")
        if all(f.where.get(name) == mean.where.get(name) for name in same)
    ]
    plain = {_count(f, "processes"): f.detail for f in rates if _word(f, "hints") == "none"}
    signs = set()
    for f in rates:
        other = plain.get(_count(f, "processes"))
        if _word(f, "hints") != _word(mean, "hints") or other is None:
            continue
        ends = [
            as_number(d.get(n)) for d in (f.detail, other) for n in ("min", "max", "repetitions")
        ]
        if None in ends:
            return False
        low, high, count, other_low, other_high, other_count = [e or 0.0 for e in ends]
        if min(count, other_count) < 2:
            return False
        signs.add(1 if low > other_high else -1 if high < other_low else 0)
    return len(signs) == 1 and 0 not in signs


def hint_findings(result: Result) -> list[Finding]:
    findings = []
    for f in result.figures_named("hint_gain_mean"):
        gain = f.metric.value
        if gain is None or abs(gain) < 0.1:
            continue
        sure = _apart(result, f)
        text = (
            f"The hints {_word(f, 'hints')} changed the rate of {_word(f, 'library')}"
            f" ({_case(f)}) by {100 * gain:+.0f} % on average"
        )
        level: Level = "info" if not sure else "good" if gain > 0 else "warn"
        chance = "" if sure else "; repetitions with and without overlap, so it may be chance"
        findings.append(Finding(text + chance + ".", "hint-gain", level))
    return findings


def scaling_points(result: Result) -> list[ScalingPoint]:
    """A result's rates, for comparison with those of runs on other numbers of ranks."""
    scaling = next((fmt.plain(m.pattern, 20) for m in result.measurements), "weak")
    rates = [f for f in result.figures_named("library_bandwidth") if f.metric.value is not None]
    # In strong scaling the largest number of processes says how much there is in all.
    most = max((_count(f, "processes") for f in rates), default=0)
    of = f" of {most} cubes" if scaling == "strong" else ""
    return [
        ScalingPoint(
            f"{_case(f)}, {scaling} scaling{of}",
            _label(f),
            _count(f, "processes"),
            f.metric.value or 0.0,
        )
        for f in rates
    ]


class LibrariesTeller:
    def headline(self, result: Result) -> Headline:
        best = result.figure("libraries")
        context = f"on up to {fmt.count_of(result.run.system.ranks, 'rank')}"
        if best is None:
            return Headline(
                "fastest write", None, "B/s", context, missing="the comparison is incomplete"
            )
        place = best.detail.get("fastest_write")
        if isinstance(place, dict):
            library = fmt.plain(place.get("library", "?"), 40)
            hints = fmt.plain(place.get("hints", "?"), 40)
            context = (
                f"{library}, hints {hints}, {fmt.plain(place.get('processes', '?'), 20)} ranks"
            )
        return Headline(
            "fastest write",
            best.metric.value,
            best.metric.unit,
            context,
            missing=best.metric.reason,
            anchor="library-rates",
        )

    def findings(self, result: Result) -> Sequence[Finding]:
        return [
            *overhead_findings(result),
            *hint_findings(result),
            *collective_findings(result.measurements, "library-rates", "library"),
        ]

    def sections(self, result: Result) -> Sequence[Section]:
        rates = result.figures_named("library_bandwidth")
        if not rates:
            return []
        figures = [
            rate_figure(rates),
            share_figure(
                [f for f in result.figures_named("overhead") if _word(f, "hints") in ("", "none")],
                "overhead",
                "Overhead over one file per process",
                "Time of a library over that of one file per process, without hints: 100 % is twice"
                " the time.",
            ),
            share_figure(
                result.figures_named("hint_gain_mean"),
                "hint-gain",
                "Gain of the hints",
                "Rate with a set of hints over the rate without, the mean over the numbers of"
                " processes.",
            ),
            layer_figure(result.figures_named("layer_seconds")),
        ]
        blocks: list[Block] = [f for f in figures if f]
        return [Section("libraries", "Libraries", [*blocks, point_table(result)])]

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return scaling_blocks([point for result in results for point in scaling_points(result)])


TELLER = LibrariesTeller()
