# SPDX-License-Identifier: BSD-3-Clause
"""Report of the library comparison: rates by number of processes, the overhead over one file per
process, the gain of hints, and the cost by layer. docs/benchmarks/libraries.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from effio import text as fmt
from effio.judge.repetitions import are_apart, statement
from effio.report.common import certainty
from effio.report.common.counts import ONE_REPETITION, claimed
from effio.report.common.hints import collective_findings
from effio.report.common.names import first_of, grouped, unique
from effio.report.model import (
    Axis,
    Block,
    Column,
    Figure,
    Finding,
    Headline,
    Level,
    Panel,
    Series,
    Table,
    table_of,
)
from effio.report.parts import (
    Part,
    PartsReporter,
    known,
    member,
    number,
    valid,
    value_at,
    value_of,
    word,
)
from effio.report.plots import (
    ScalingPoint,
    best,
    by_case,
    curves_over_processes,
    interval,
    means,
    plot,
    scaling_blocks,
)
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement

_OWN_FILES = ("fortran-fpp", "posix-fpp")


_library = partial(word, name="library", most=60)
_hints = partial(word, name="hints", most=60)
_access = partial(word, name="access", most=60)
_processes = partial(number, name="processes")


def _has_hints(f: FigureRecord) -> bool:
    return _hints(f) not in ("", "none")


def _label(f: FigureRecord) -> str:
    return _library(f) + (f" + {_hints(f)}" if _has_hints(f) else "")


def _case(f: FigureRecord) -> str:
    return f"{_access(f)}, {number(f, 'edge')}³ cells"


def _largest(figures: Sequence[FigureRecord]) -> dict[str, list[FigureRecord]]:
    """For each case, named with its largest number of processes, what was measured on it."""
    found = {}
    for case, of_case in grouped(figures, _case).items():
        most = max(map(_processes, of_case))
        some = [f for f in of_case if _processes(f) == most]
        found[f"{case} on {fmt.count_of(most, 'process')}"] = some
    return found


def rate_figure(result: Result) -> Figure | None:
    rates = result.figures_named("library_bandwidth")
    return curves_over_processes(
        "library-rates",
        "Rate by number of processes",
        "Means over the repetitions, from the opening of the file to its close; whiskers reach to"
        " the best repetition.",
        by_case(rates, _case, _label, lambda f: float(_processes(f)), best),
        map(_processes, rates),
    )


def overhead_figure(result: Result) -> Figure | None:
    """Bars of overheads without hints, at the largest number of processes of each case."""
    base = _baseline(result)
    found = _largest([f for f in result.figures_named("overhead") if not _has_hints(f)])
    return plot(
        "overhead",
        f"Overhead over {base}",
        f"{_overhead_text(result)}, without hints."
        " A whisker is the 95 % interval, from five repetitions on.",
        "bars",
        Axis("library"),
        Axis(f"overhead over {base}", shown="%"),
        {
            case: [Panel("", [means(f"over {base}", some, _label, 0, interval)])]
            for case, some in found.items()
        },
        case="case",
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


def layer_figure(result: Result) -> Figure | None:
    """What each library's time consists of, at the largest number of processes."""
    variants = {}
    for case, some in _largest(result.figures_named("layer_seconds")).items():
        own = {
            _library(f): (f.metric.value, fmt.plain(members_of(f).below, 40))
            for f in some
            if f.metric.value is not None
        }
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
        variants[case] = [Panel("", series)]
    return plot(
        "layers",
        "Cost by layer",
        "The same bytes were moved at each layer. A library's own time is what it takes beyond"
        " the layer below it; the length of a bar is its whole time. Where a layer took"
        f" longer alone than under the layer above it, the two are shown as '{_TOGETHER}'."
        " The table of points has the own times, which are negative there.",
        "stacked",
        Axis("library"),
        Axis("time", "s"),
        variants,
        case="case",
    )


def _baseline(result: Result) -> str:
    """The form of one file per process that overheads are taken against."""
    named = unique(fmt.plain(members_of(f).baseline, 40) for f in result.figures_named("overhead"))
    return ", ".join(name for name in named if name) or "one file per process"


def _of_rates(result: Result) -> bool:
    """Older results compared mean times, which need not agree with the mean rates."""
    return all(members_of(f).ratio_of for f in result.figures_named("overhead"))


def _overhead_text(result: Result) -> str:
    base = _baseline(result)
    if _of_rates(result):
        return f"Overhead: mean rate of {base} over that of the library; 100 % is half the rate"
    return f"Overhead: mean time of the library over that of {base}; 100 % is twice the time"


def point_table(result: Result) -> Table:
    gains = {_place(f): interval(f) for f in result.figures_named("hint_gain")}

    def ends(f: FigureRecord) -> tuple[float | None, float | None]:
        return gains.get(_place(f), (None, None))

    return table_of(
        result.figures_named("library_bandwidth"),
        [
            (Column("case"), _case),
            (Column("library"), _library),
            (Column("hints"), _hints),
            (Column("processes", "1"), _processes),
            (Column("on storage", "B/s"), member("synced_bandwidth_bytes_per_second")),
            (Column("rate", "B/s"), lambda f: f.metric.value),
            (Column("repetitions", "1"), lambda f: f.samples.count if f.samples else 0),
            (Column("time", "s"), member("mean_seconds")),
            (Column("own time", "s"), value_at(result, "layer_seconds", _place)),
            (Column("overhead", "1", "%", 3), value_at(result, "overhead", _place)),
            (Column("gain of hints", "1", "%", 3), value_at(result, "hint_gain", _place)),
            (Column("at least", "1", "%", 3), lambda f: ends(f)[0]),
            (Column("at most", "1", "%", 3), lambda f: ends(f)[1]),
        ],
        "Points",
        "Rates and times are means over the repetitions; on storage: with the flush. "
        f"{_overhead_text(result)}. Gain: rate over that without hints, with"
        " its 95 % confidence interval.",
        longest=60,
    )


def overhead_finding(result: Result) -> Finding | None:
    """The shared-file library that comes nearest to one file per process when writing, and the one
    that is farthest, on the largest number of processes, without hints."""
    found = [
        f
        for f in known(result, "overhead")
        if _access(f) == "write" and not _has_hints(f) and _library(f) not in _OWN_FILES
    ]
    if not found:
        return None
    most = max(map(_processes, found))
    at = sorted((f for f in found if _processes(f) == most), key=value_of)
    rates = {_place(f): f for f in result.figures_named("library_bandwidth")}

    def shown(f: FigureRecord) -> str:
        base = rates.get((members_of(f).baseline, *_place(f)[1:]))
        doubt = certainty.why_not_apart(rates.get(_place(f)), base)
        size = f"{number(f, 'edge')}³ cells"
        words = "; ".join(filter(None, (size, doubt)))
        return f"{_library(f)} {fmt.percent(value_of(f), signed=True)} ({words})"

    on = fmt.count_of(most, "process")
    of = "mean rates" if _of_rates(result) else "mean times"
    text = f"Writing, overhead over {_baseline(result)} by the {of}, on {on}: {shown(at[0])}"
    if len(at) > 1:
        why = certainty.why_not_apart(*(rates.get(_place(f)) for f in (at[0], at[-1])))
        text += (
            f", {shown(at[-1])}; whether these two differ is not known: {why}"
            if why
            else f" at best, {shown(at[-1])} at worst"
        )
    return Finding(text + ".", "overhead", card="limit")


def _place(f: FigureRecord) -> tuple[str, str, int, int, str]:
    return _library(f), _hints(f), number(f, "edge"), _processes(f), _access(f)


def hint_findings(result: Result) -> list[Finding]:
    """Gains whose interval leaves out 0; others are not gains, however large they look."""
    findings = []
    unsure = []
    # The last mean of a library, its hints, cube and access.
    last = {(*_place(f)[:3], _access(f)): f for f in result.figures_named("hint_gain_mean")}
    for f in last.values():
        gain, (low, high) = f.metric.value, interval(f)
        if gain is None or low is None or high is None:
            continue
        what = f"{_hints(f)} with {_library(f)} ({_case(f)})"
        if low <= 0 <= high:
            unsure.append(what)
            continue
        level: Level = "good" if gain > 0 else "warn"
        text = (
            f"The hints {what} changed the rate by {fmt.percent(gain, signed=True)}"
            f" ({fmt.percent(low, signed=True).removesuffix(' %')} to"
            f" {fmt.percent(high, signed=True)}, 95 % confidence)."
        )
        findings.append(Finding(text, "hint-gain", level))
    if unsure:
        text = f"No difference was found by the hints {first_of(unsure, 3)}."
        findings.append(Finding(text, "hint-gain", "info"))
    return findings


def gain_figure(result: Result) -> Figure | None:
    """Mean gains with their intervals."""
    gains = [f for f in known(result, "hint_gain_mean") if f.samples]
    return plot(
        "hint-gain",
        "Gain of the hints",
        "Rate with a set of hints over the rate without, the mean over the numbers of processes;"
        " whiskers are its 95 % confidence interval over the repetitions. Where the whisker"
        " crosses 0, no gain was found.",
        "bars",
        Axis("library"),
        Axis("gain of the hints", shown="%"),
        by_case(gains, _case, lambda _: "mean gain", _label, interval),
        case="case",
    )


def scaling_points(result: Result) -> list[ScalingPoint]:
    """A result's rates, for comparison with those of runs on other numbers of ranks."""
    scaling = next((fmt.plain(m.pattern, 20) for m in result.measurements), "weak")
    rates = known(result, "library_bandwidth")
    # In strong scaling the largest number of processes says how much there is in all.
    most = max(map(_processes, rates), default=0)
    of = f" of {most} cubes" if scaling == "strong" else ""
    return [
        ScalingPoint(f"{_case(f)}, {scaling} scaling{of}", _label(f), _processes(f), value_of(f))
        for f in rates
    ]


def _rate_of_write(m: Measurement, members: Members) -> float | None:
    """The rate that the run's number is a mean of, with the flush if there was one."""
    synced = members_of(m).synced_bandwidth_bytes_per_second
    return synced if members.until_on_storage else m.rate.value


def _where_text(where: Mapping[str, object]) -> str:
    return str(sorted((k, v) for k, v in where.items() if k != "access"))


def _claimed_write(result: Result, members: Members, fastest: FigureRecord) -> Headline:
    """The run's number as a claim about the files of its place, with the doubt whether it is the
    fastest one."""
    metric = fastest.metric
    headline = Headline(
        "", metric.value, metric.unit, missing=metric.reason, anchor="library-rates"
    )
    place = _where_text(members.fastest_write.as_dict()) if members.fastest_write else ""
    cells = [m for m in valid(result, "write") if _where_text(m.where) == place]
    headline = claimed(headline, result, cells, after_sync=members.until_on_storage)
    rates: dict[str, list[float]] = {}
    for m in valid(result, "write"):
        if (rate := _rate_of_write(m, members)) is not None:
            rates.setdefault(_where_text(m.where), []).append(rate)
    if place not in rates:
        return replace(headline, interval="")
    stated = {where: statement(some) for where, some in rates.items()}
    intervals = {where: said.interval if said else None for where, said in stated.items()}
    said = stated[place]
    shown = said.spread("B/s") if said is not None and len(rates[place]) > 1 else ""
    doubt = ""
    if not all(are_apart(intervals[place], i) for where, i in intervals.items() if where != place):
        why = certainty.ONCE if min(map(len, rates.values())) < 2 else certainty.FEW
        why = certainty.OVERLAP if all(intervals.values()) else why
        doubt = f"not known to be the fastest: {why}"
    return replace(headline, interval=shown or ONE_REPETITION, context=doubt)


class LibrariesReporter(PartsReporter):
    finders = (
        overhead_finding,
        hint_findings,
        lambda result: collective_findings(result.measurements, "library-rates", "library"),
    )
    parts = (
        Part(
            "libraries",
            "Libraries",
            (rate_figure, overhead_figure, gain_figure, layer_figure, point_table),
        ),
    )

    def headline(self, result: Result) -> Headline:
        fastest = result.figure("libraries")
        title = "fastest write"
        context = f"on up to {fmt.count_of(result.run.system.ranks, 'rank')}"
        if fastest is None:
            return Headline(title, None, "B/s", context, missing="the comparison is incomplete")
        members = members_of(fastest)
        title += ", flushed" if members.until_on_storage else ", not flushed"
        if place := members.fastest_write:
            library, hints = fmt.plain(place.library, 40), fmt.plain(place.hints, 40)
            few = place.processes
            ranks = "? ranks" if few is None else fmt.count_of(few, "rank")
            context = f"{library}, hints {hints}, {ranks}"
        claim = _claimed_write(result, members, fastest)
        doubt = filter(None, (context, claim.context))
        return replace(claim, name=title, context="; ".join(doubt))

    def across(self, results: Sequence[Result]) -> Sequence[Block]:
        return scaling_blocks([point for result in results for point in scaling_points(result)])


REPORTER = LibrariesReporter()
