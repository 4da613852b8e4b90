# SPDX-License-Identifier: BSD-3-Clause
"""Report of the library comparison: rates by number of processes, the overhead over one file per
process, the gain of hints, and the cost by layer. docs/benchmarks/libraries.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.common.names import grouped, unique
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
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import as_count

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
    for case, of_case in grouped(rates, _case).items():
        series = []
        for label, some in sorted(grouped(of_case, _label).items(), key=lambda i: styles[i[0]]):
            some.sort(key=lambda f: _count(f, "processes"))
            x = [float(_count(f, "processes")) for f in some]
            high = [f.samples.max if f.samples else None for f in some]
            series.append(Series(label, x, [f.metric.value for f in some], styles[label], high))
        variants[case] = [Panel("", series)]
    return curves_over_processes(
        "library-rates",
        "Rate by number of processes",
        "Means over the repetitions, from the opening of the file to its close; whiskers reach to"
        " the best repetition.",
        variants,
        (_count(f, "processes") for f in rates),
    )


def overhead_figure(result: Result) -> Figure | None:
    """Bars of overheads without hints, at the largest number of processes of each case."""
    found = [f for f in result.figures_named("overhead") if _word(f, "hints") in ("", "none")]
    if not found:
        return None
    base = _baseline(result)
    variants = {}
    for case, of_case in grouped(found, _case).items():
        most = max(_count(f, "processes") for f in of_case)
        some = [f for f in of_case if _count(f, "processes") == most]
        bars = Series(
            f"over {base}",
            [_label(f) for f in some],
            [f.metric.value for f in some],
            0,
            high=[f.samples.high95 if f.samples else None for f in some],
            low=[f.samples.low95 if f.samples else None for f in some],
        )
        variants[f"{case} on {fmt.count_of(most, 'process')}"] = [Panel("", [bars])]
    return Figure(
        "overhead",
        f"Overhead over {base}",
        f"Time of a library over that of {base}, without hints: 100 % is twice the time."
        " A whisker is the 95 % interval, from five repetitions on.",
        "bars",
        Axis("library"),
        Axis(f"overhead over {base}", shown="%"),
        variants,
        columns=1,
        variant_title="case",
    )


_TOGETHER = "several layers together"


def _own_times(library: str, own: Mapping[str, tuple[float, str]]) -> dict[str, float]:
    """The time that each layer below a library adds; together they are the library's time. A layer
    that was slower alone than under the layer above it cannot be separated from that one: their sum
    is one part, as are all that it takes to make none negative."""
    chain: list[str] = []
    layer = library
    while layer in own and layer not in chain:
        chain.append(layer)
        layer = own[layer][1]
    # From below: a negative part takes the parts under it along, until the sum is none.
    parts: list[tuple[str, float]] = []
    for layer in reversed(chain):
        name, seconds = layer, own[layer][0]
        while seconds < 0 and parts:
            name, seconds = _TOGETHER, seconds + parts.pop()[1]
        parts.append((name, seconds))
    times: dict[str, float] = {}
    for name, seconds in reversed(parts):
        times[name] = times.get(name, 0.0) + seconds
    return times


def layer_figure(layers: Sequence[FigureRecord]) -> Figure | None:
    """What each library's time consists of, at the largest number of processes."""
    if not layers:
        return None
    variants = {}
    rows: list[list[Cell]] = []
    for case, of_case in grouped(layers, _case).items():
        most = max(_count(f, "processes") for f in of_case)
        own = {
            _word(f, "library"): (f.metric.value, fmt.plain(members_of(f).below, 40))
            for f in of_case
            if _count(f, "processes") == most and f.metric.value is not None
        }
        named = f"{case} on {fmt.count_of(most, 'process')}"
        rows += [[named, name, seconds, below] for name, (seconds, below) in own.items()]
        times = {name: _own_times(name, own) for name in own}
        series = [
            Series(
                "the system" if layer == "posix" else layer,
                list(own),
                [times[name].get(layer, 0.0) for name in own],
                style,
            )
            for style, layer in enumerate(unique(x for name in own for x in times[name]))
        ]
        variants[named] = [Panel("", series)]
    columns = [Column("case"), Column("library"), Column("own time", "s"), Column("layer below")]
    return Figure(
        "layers",
        "Cost by layer",
        "The same bytes were moved at each layer. A library's own time is what it takes beyond"
        " the layer below it; the length of a bar is its whole time. Where a layer took"
        f" longer alone than under the layer above it, the two are shown as '{_TOGETHER}'; the"
        " table has the own times, which are negative there.",
        "stacked",
        Axis("library"),
        Axis("time", "s"),
        variants,
        columns=1,
        variant_title="case",
        table=Table(columns, rows, "Cost by layer"),
    )


def _baseline(result: Result) -> str:
    """The form of one file per process that overheads are taken against."""
    named = unique(fmt.plain(members_of(f).baseline, 40) for f in result.figures_named("overhead"))
    return ", ".join(name for name in named if name) or "one file per process"


def point_table(result: Result) -> Table:
    def key(f: FigureRecord) -> tuple[str, str, str, int]:
        return _case(f), _word(f, "library"), _word(f, "hints"), _count(f, "processes")

    overheads = {key(f): f.metric.value for f in result.figures_named("overhead")}
    gains = {key(f): f for f in result.figures_named("hint_gain")}
    own = {key(f): f.metric.value for f in result.figures_named("layer_seconds")}
    rows: list[list[Cell]] = []
    for f in result.figures_named("library_bandwidth"):
        k = key(f)
        members = members_of(f)
        synced = members.synced_bandwidth_bytes_per_second
        head: list[Cell] = [_case(f), k[1], k[2], k[3], synced, f.metric.value]
        repetitions = f.samples.count if f.samples else 0
        gain = gains.get(k)
        interval = gain.samples if gain else None
        shares = [
            overheads.get(k),
            gain.metric.value if gain else None,
            interval.low95 if interval else None,
            interval.high95 if interval else None,
        ]
        rows.append([*head, repetitions, members.mean_seconds, own.get(k), *shares])
    return Table(
        [
            Column("case"),
            Column("library"),
            Column("hints"),
            Column("processes", "1"),
            Column("on storage", "B/s"),
            Column("rate", "B/s"),
            Column("repetitions", "1"),
            Column("time", "s"),
            Column("own time", "s"),
            Column("overhead", "1", "%", 3),
            Column("gain of hints", "1", "%", 3),
            Column("at least", "1", "%", 3),
            Column("at most", "1", "%", 3),
        ],
        rows,
        "Points",
        "Rates and times are means over the repetitions; on storage: with the flush. "
        f"Overhead: time over that of {_baseline(result)}. Gain: rate over that without hints, with"
        " its 95 % confidence interval.",
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
    rates = {_place(f): f for f in result.figures_named("library_bandwidth")}

    def members(f: FigureRecord) -> str:
        share = 100 * (f.metric.value or 0.0)
        base = rates.get((members_of(f).baseline, *_place(f)[1:]))
        doubt = certainty.why_not_apart(rates.get(_place(f)), base)
        size = f"{_count(f, 'edge')}³ cells"
        return f"{_word(f, 'library')} {share:+.0f} % ({'; '.join(filter(None, (size, doubt)))})"

    on = fmt.count_of(most, "process")
    text = f"Writing time over {_baseline(result)}, on {on}: {members(at[0])}"
    if len(at) > 1:
        why = certainty.why_not_apart(*(rates.get(_place(f)) for f in (at[0], at[-1])))
        text += (
            f", {members(at[-1])}; whether these two differ is not known: {why}"
            if why
            else f" at best, {members(at[-1])} at worst"
        )
    return [Finding(text + ".", "overhead", card="limit")]


def _place(f: FigureRecord) -> tuple[str, str, int, int, str]:
    return (
        _word(f, "library"), _word(f, "hints"), _count(f, "edge"), _count(f, "processes"),
        _word(f, "access"),
    )  # fmt: skip


def _kind(f: FigureRecord) -> tuple[str, int, str]:
    return _word(f, "library"), _count(f, "edge"), _word(f, "access")


def hint_findings(result: Result) -> list[Finding]:
    """Gains whose interval leaves out 0; others are not gains, however large they look."""
    findings = []
    unsure = []
    means = {(*_kind(f), _word(f, "hints")): f for f in result.figures_named("hint_gain_mean")}
    for f in means.values():
        gain, of = f.metric.value, f.samples
        if gain is None or of is None or of.low95 is None or of.high95 is None:
            continue
        what = f"{_word(f, 'hints')} with {_word(f, 'library')} ({_case(f)})"
        if of.low95 <= 0 <= of.high95:
            unsure.append(what)
            continue
        level: Level = "good" if gain > 0 else "warn"
        text = (
            f"The hints {what} changed the rate by {100 * gain:+.0f} %"
            f" ({100 * of.low95:+.0f} to {100 * of.high95:+.0f} %, 95 % confidence)."
        )
        findings.append(Finding(text, "hint-gain", level))
    if unsure:
        more = f" and {len(unsure) - 3} more" if len(unsure) > 3 else ""
        text = f"No difference was found by the hints {', '.join(unsure[:3])}{more}."
        findings.append(Finding(text, "hint-gain", "info"))
    return findings


def gain_figure(found: Sequence[FigureRecord]) -> Figure | None:
    """Mean gains with their intervals."""
    known = [f for f in found if f.metric.value is not None and f.samples]
    if not known:
        return None
    variants = {}
    for case, some in grouped(known, _case).items():
        gains = Series(
            "mean gain",
            [_label(f) for f in some],
            [f.metric.value for f in some],
            high=[f.samples.high95 if f.samples else None for f in some],
            low=[f.samples.low95 if f.samples else None for f in some],
        )
        variants[case] = [Panel("", [gains])]
    return Figure(
        "hint-gain",
        "Gain of the hints",
        "Rate with a set of hints over the rate without, the mean over the numbers of processes;"
        " whiskers are its 95 % confidence interval over the repetitions. Where the whisker"
        " crosses 0, no gain was found.",
        "bars",
        Axis("library"),
        Axis("gain of the hints", shown="%"),
        variants,
        columns=1,
        variant_title="case",
    )


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


def _rates_of_writes(result: Result, members: Members) -> dict[str, list[float]]:
    """For each place that was written: the rates that the run's number is the mean of, with the
    flush if there was one. By `where` as text."""
    found: dict[str, list[float]] = {}
    for m in result.measurements:
        synced = members_of(m).synced_bandwidth_bytes_per_second
        rate = synced if members.until_on_storage else m.rate.value
        if m.valid and m.access == "write" and rate is not None:
            found.setdefault(_where_text(m.where), []).append(rate)
    return found


def _where_text(where: Mapping[str, object]) -> str:
    return str(sorted((k, v) for k, v in where.items() if k != "access"))


def _fastest(members: Members) -> str:
    return _where_text(members.fastest_write.as_dict()) if members.fastest_write else ""


def _claimed_write(result: Result, members: Members, best: FigureRecord) -> Headline:
    """The run's number as a claim about the files of its place."""
    from effio.judge.repetitions import statement  # numpy: not at every start

    headline = Headline(
        "", best.metric.value, best.metric.unit, missing=best.metric.reason, anchor="library-rates"
    )
    place = _fastest(members)
    cells = [
        m
        for m in result.measurements
        if m.valid and m.access == "write" and _where_text(m.where) == place
    ]
    headline = common.claimed(headline, result, cells, after_sync=members.until_on_storage)
    rates = _rates_of_writes(result, members).get(place, [])
    said = statement(rates)
    interval = said.spread("B/s") if said is not None and len(rates) > 1 else ""
    return replace(headline, interval=interval or (common.ONE_REPETITION if rates else ""))


def _doubt_of_fastest(result: Result, members: Members) -> str:
    from effio.judge.repetitions import are_apart, statement

    rates = _rates_of_writes(result, members)
    intervals = {
        where: said.interval if (said := statement(some)) is not None else None
        for where, some in rates.items()
    }
    place = _fastest(members)
    others = [where for where in rates if where != place]
    if place not in rates or all(are_apart(intervals[place], intervals[o]) for o in others):
        return ""
    counts = [len(some) for some in rates.values()]
    why = certainty.ONCE if min(counts) < 2 else certainty.NO_INTERVAL
    why = certainty.OVERLAP if all(intervals.values()) else why
    return f"not known to be the fastest: {why}"


class LibrariesReporter:
    def headline(self, result: Result) -> Headline:
        best = result.figure("libraries")
        title = "fastest write"
        members = members_of(best)
        if best is not None:
            title += ", flushed" if members.until_on_storage else ", not flushed"
        context = f"on up to {fmt.count_of(result.run.system.ranks, 'rank')}"
        if best is None:
            return Headline(title, None, "B/s", context, missing="the comparison is incomplete")
        if place := members.fastest_write:
            library, hints = fmt.plain(place.library, 40), fmt.plain(place.hints, 40)
            few = place.processes
            ranks = "? ranks" if few is None else fmt.count_of(few, "rank")
            context = f"{library}, hints {hints}, {ranks}"
        return replace(
            _claimed_write(result, members, best),
            name=title,
            context="; ".join(filter(None, (context, _doubt_of_fastest(result, members)))),
        )

    def findings(self, result: Result) -> Sequence[Finding]:
        return [
            *overhead_findings(result),
            *hint_findings(result),
            *common.collective_findings(result.measurements, "library-rates", "library"),
        ]

    def sections(self, result: Result) -> Sequence[Section]:
        rates = result.figures_named("library_bandwidth")
        if not rates:
            return []
        figures = [
            rate_figure(rates),
            overhead_figure(result),
            gain_figure(result.figures_named("hint_gain_mean")),
            layer_figure(result.figures_named("layer_seconds")),
        ]
        blocks: list[Block] = [f for f in figures if f]
        return [Section("libraries", "Libraries", [*blocks, point_table(result)])]

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return scaling_blocks([point for result in results for point in scaling_points(result)])


REPORTER = LibrariesReporter()
