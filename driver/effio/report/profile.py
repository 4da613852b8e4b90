# SPDX-License-Identifier: BSD-3-Clause
"""A profile as tables and figures: what the application does, what imitates it, what it would
take; and the I/O of several applications next to each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from effio import text as fmt
from effio.profile.model import Activity, Profile
from effio.profile.predict import Expected, Prediction, part_text
from effio.profile.steps import Imitation
from effio.report.common.names import unique
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.plots import plot
from effio.store.option_values import value_text

_FILES = {
    "shared": "one for all", "per-process": "one each", "one-process": "through one process",
}  # fmt: skip
_STYLES = {"write": 10, "read": 11}
# Steps of the course of time.
_BINS = 60


def _what(profile: Profile) -> str:
    now = "" if profile.io_share is None else f", of which {fmt.percent(profile.io_share)} is I/O"
    source = "from a Darshan log" if profile.source == "darshan" else "from the questionnaire"
    return (
        f"{fmt.plain(profile.application, 100)}, {source}:"
        f" {fmt.count_of(profile.ranks, 'process')}, a run of"
        f" {fmt.duration(profile.seconds)}{now}; it moves {fmt.size(profile.bytes_of_a_run)}."
    )


def _sizes(a: Activity) -> str:
    if a.file_sizes is None:
        return ""
    least, median, most = map(fmt.size, a.file_sizes)
    return least if least == most else f"{least} to {most}, median {median}"


def _layout(a: Activity) -> str:
    return a.layout if a.piece is None else f"{a.layout}, {fmt.exact_size(a.piece)}"


def activities(profile: Profile) -> Table:
    return table_of(
        profile.activity,
        [
            (Column("activity"), lambda a: a.name),
            (Column("access"), lambda a: a.access),
            (Column("each time", "B"), lambda a: a.bytes),
            (Column("times", "1"), lambda a: a.times),
            (Column("calls of", "B"), lambda a: a.transfer),
            (Column("calls", "1", extra=True), lambda a: a.calls),
            (Column("library"), lambda a: a.library),
            (Column("files"), lambda a: _FILES[a.files]),
            (Column("layout", extra=True), _layout),
            (Column("collective", "1", "%", 3), lambda a: a.collective),
            (Column("aligned", "1", "%", 3, extra=True), lambda a: a.aligned),
            (Column("processes", "1"), profile.ranks_of),
            (Column("arrays", "1", extra=True), lambda a: a.variables if a.variables > 1 else None),
            (Column("mean time", "s", extra=True), lambda a: a.seconds),
            (Column("files of", extra=True), _sizes),
            (Column("for example", extra=True), lambda a: fmt.plain(a.example, 60)),
        ],
        "What it does",
    )


def names(profile: Profile) -> Table:
    n = profile.names
    counts = {
        "created": n.creates,
        "opened": n.opens,
        "looked up (stat)": n.stats,
        "removed": n.removes,
    }
    rows: list[list[Cell]] = [[w, c, c / profile.seconds] for w, c in counts.items() if c]
    columns = [Column("files"), Column("in a run", "1"), Column("in the mean", "op/s")]
    return Table(columns, rows, "Names")


def phases(profile: Profile) -> Table:
    return table_of(
        profile.phase,
        [
            (Column("access"), lambda p: p.access),
            (Column("begin", "s"), lambda p: p.begin),
            (Column("end", "s"), lambda p: p.end),
            (Column("moved", "B"), lambda p: p.bytes),
            (
                Column("in the mean", "B/s"),
                lambda p: p.bytes / (p.end - p.begin) if p.end > p.begin else None,
            ),
        ],
        "Phases",
        "Times in which files are written or read, from the start of the run.",
    )


def course(profile: Profile) -> Figure | None:
    """Rates over the run's time: a phase moves its bytes evenly."""
    end = max([profile.seconds, *(p.end for p in profile.phase)])
    step = end / _BINS
    series = []
    for access, style in _STYLES.items():
        some = [p for p in profile.phase if p.access == access]
        if not some:
            continue
        moved = [0.0] * _BINS
        for p in some:
            length = max(p.end - p.begin, 1e-9)
            for i in range(_BINS):
                inside = min(p.end, (i + 1) * step) - max(p.begin, i * step)
                moved[i] += p.bytes * max(0.0, inside) / length
        x = [(i + 0.5) * step for i in range(_BINS)]
        series.append(Series(access, x, [m / step for m in moved], style))
    return plot(
        "phases",
        "When it writes and reads",
        "Bytes of all processes by the time of the run; a phase is drawn as even. Of a log without"
        " a trace (DXT) only the first and last call to each file are known.",
        "curves",
        Axis("time", "s"),
        Axis("rate", "B/s"),
        series,
        table=phases(profile),
    )


def _typed(option: str) -> str:
    """Bytes in the largest unit that divides them: 1048576B is 1MiB."""
    return re.sub(r"(?<![\w.])(\d+)B\b", lambda found: fmt.typed_size(int(found[1])), option)


def steps_table(steps: Sequence[Imitation]) -> Table:
    rows: list[list[Cell]] = []
    for one in steps:
        options = " ".join(f"{k}={_typed(value_text(v))}" for k, v in one.options.items())
        missing = "; ".join(one.missing) or "–"
        rows.append([one.name, one.benchmark, one.bytes_of_a_rank or None, missing, options])
    columns = [
        Column("activity"), Column("benchmark"), Column("of a process", "B"),
        Column("not imitated", below=True), Column("options", extra=True, below=True),
    ]  # fmt: skip
    return Table(columns, rows, "What imitates it")


def _expected_row(e: Expected) -> list[Cell]:
    ranks = ", ".join(map(str, e.ranks))
    rate = None if e.rate is None else fmt.quantity(e.rate, e.unit)
    cost = e.cost
    parts = (None, None, None) if cost is None else (cost.open, cost.operation, cost.byte)
    every = None if not parts[2] else 1 / parts[2]
    bounds = (e.seconds, e.low, e.high, e.reason)
    return [e.step, e.what, rate, e.values or None, ranks, parts[0], parts[1], every, *bounds]


def expected_table(prediction: Prediction) -> Table:
    columns = [
        Column("activity"), Column("of"), Column("largest size here"), Column("values", "1"),
        Column("ranks"), Column("a file", "s", extra=True), Column("a call", "s", extra=True),
        Column("bytes at", "B/s", extra=True), Column("in a run", "s"), Column("at least", "s"),
        Column("at most", "s"), Column("reason"),
    ]  # fmt: skip
    caption = (
        "A run's opened files, calls and bytes, each at the cost that fits the measured sizes (all"
        " ranks together). Bounds are those of the 95 % interval; it takes as many measurements as"
        " five repetitions of one size. It holds for sizes near the measured ones."
    )
    return Table(columns, [_expected_row(e) for e in prediction.expected], "Here", caption)


def _without_answer(prediction: Prediction) -> str:
    if not prediction.measured:
        return "Here: not measured yet (--campaign FILE, then effio run FILE, then this again)."
    open_ = len(prediction.expected) - prediction.answered
    what = fmt.count_of(open_, "operation")
    why = next(e.reason for e in prediction.expected if e.seconds is None)
    return (
        f"Here: no answer yet, for {what} of {len(prediction.expected)} no time is known"
        f" ({fmt.plain(why, 300)})."
    )


def sentence(prediction: Prediction) -> str:
    """The answer, or why there is none. How far it is from what was measured comes first."""
    if prediction.share is None or prediction.seconds is None or prediction.compute is None:
        return _without_answer(prediction)
    far = prediction.extrapolation
    start = f"Extrapolated {far.text}: here" if far and far.text else "Here"
    if prediction.low is None or prediction.high is None:
        bounds = "no 95 % interval: too few repetitions"
    else:
        bounds = f"95 % interval: {part_text(prediction.low)} to {part_text(prediction.high)}"
    odd = "; not reliable, see below" if any(e.odd for e in prediction.expected) else ""
    return (
        f"{start} {part_text(prediction.share)} ({bounds}{odd}) of a run would go to I/O:"
        f" {fmt.duration(prediction.seconds)} in addition to"
        f" {fmt.duration(prediction.compute)} of computation."
    )


def profile_section(
    profile: Profile, steps: Sequence[Imitation], missing: Sequence[str], prediction: Prediction
) -> Section:
    blocks: list[Block] = [_what(profile), sentence(prediction), activities(profile)]
    blocks += [t for t in (names(profile), phases(profile)) if t.rows]
    figure = course(profile)
    if figure is not None:
        blocks.append(figure)
    blocks.append(steps_table(steps))
    if prediction.measured:
        blocks.append(expected_table(prediction))
        blocks += [f"{remark[0].upper()}{remark[1:]}." for remark in prediction.remarks]
    blocks.append(Table([Column("what")], [[line] for line in missing], "Not imitated"))
    return Section("profile", f"I/O profile of {fmt.plain(profile.application, 100)}", blocks)


def _libraries(profile: Profile) -> list[str]:
    return unique(a.library for a in profile.activity)


def library_figure(profiles: Sequence[Profile]) -> Figure | None:
    """How many of the applications use each library; one counts once for a library."""
    every = unique(name for profile in profiles for name in _libraries(profile))
    users = {name: [p for p in profiles if name in _libraries(p)] for name in every}
    names = sorted(users, key=lambda name: -len(users[name]))
    title = "I/O libraries of the applications"
    table = table_of(
        names,
        [
            (Column("library"), lambda name: name),
            (Column("applications", "1"), lambda name: len(users[name])),
            (Column("share", "1", "%", 3), lambda name: len(users[name]) / len(profiles)),
            (Column("which"), lambda name: ", ".join(map(_name, users[name]))),
        ],
        title,
    )
    return plot(
        "libraries",
        title,
        f"How many of {fmt.count_of(len(profiles), 'application')} use each library. An application"
        " with several libraries counts for each.",
        "bars",
        Axis("library"),
        Axis("applications", low=0.0),
        [Series("applications", names, [float(len(users[name])) for name in names])],
        table=table,
    )


def _name(profile: Profile) -> str:
    return fmt.plain(profile.application, 60)


def applications_table(profiles: Sequence[Profile]) -> Table:
    def moved(access: str) -> Callable[[Profile], Cell]:
        return lambda p: sum(a.bytes * a.times for a in p.activity if a.access == access)

    return table_of(
        profiles,
        [
            (Column("application"), _name),
            (Column("processes", "1"), lambda p: p.ranks),
            (Column("a run", "s"), lambda p: float(p.seconds)),
            (Column("libraries"), lambda p: ", ".join(_libraries(p))),
            (Column("files"), lambda p: ", ".join(unique(a.files for a in p.activity))),
            (Column("layout"), lambda p: ", ".join(unique(a.layout for a in p.activity))),
            (Column("written", "B"), moved("write")),
            (Column("read", "B"), moved("read")),
            (Column("share of I/O", "1", "%", 3), lambda p: p.io_share),
        ],
        "Applications",
    )


def applications_section(profiles: Sequence[Profile], own: Sequence[Section]) -> Section:
    """`own`: what is said of each application alone."""
    figure = library_figure(profiles)
    drawn: list[Block] = [figure, figure.as_table()] if figure is not None else []
    blocks: list[Block] = [*drawn, applications_table(profiles)]
    for number, section in enumerate(own, 1):
        blocks.append(Heading(section.title))
        blocks += [_renamed(block, number) for block in section.blocks]
    title = f"I/O of {fmt.count_of(len(profiles), 'application')}"
    return Section("applications", title, blocks)


def _renamed(block: Block, number: int) -> Block:
    """Figures of a page have different ids."""
    if not isinstance(block, Figure):
        return block
    return replace(block, id=f"{block.id}-{number}")
