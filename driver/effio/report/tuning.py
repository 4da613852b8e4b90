# SPDX-License-Identifier: BSD-3-Clause
"""A tuning as tables and figures: before and after, as the confirmation measured it, and what the
search tried."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import geometric_mean
from typing import Any

from effio import text as fmt
from effio.judge.verdicts import Verdict
from effio.report.model import (
    Axis,
    Cell,
    Column,
    Figure,
    Section,
    Series,
    Table,
    table_of,
)
from effio.report.parts import Maker, shown
from effio.report.plots import plot
from effio.tune.record import Changes, GroupRecord, Side, TriedRecord, TuningRecord, spread_text

_MOST_DRAWN = 24


def headline(record: TuningRecord) -> str:
    """One sentence: what came out."""
    if record.state == "gain":
        kept = [g for g in record.groups if g.kept]
        best = max(g.gain or 0.0 for g in kept)
        among = f"{len(kept)} of {fmt.count_of(len(record.groups), 'group')}"
        where = "" if len(record.groups) == 1 else f" in {among}"
        return f"A gain that holds{where}: up to {best:.2f} times the default."
    if record.state == "nothing helps":
        known = not record.tried or any(not one.fault for one in record.tried)
        return f"{'No gain was found' if known else 'No answer'}: {record.why}."
    return f"Not finished: {record.why}."


def _changes(record: TuningRecord, group: GroupRecord) -> str:
    reported = Changes(hints=group.hints).text
    return " ".join(filter(None, (reported, record.job.text))) or "default"


def _of_all(tried: TriedRecord) -> float | None:
    """The least gain of a setting that gives one in every group, for the order of the rows."""
    known = [gain for gain in tried.gains if gain is not None]
    return max(known) if known else None


def _center(side: Side) -> float | None:
    """The geometric mean: the gain is the ratio of two of them."""
    some = side.values
    return geometric_mean(some) if some and min(some) > 0 else side.mean


def confirmed_table(record: TuningRecord) -> Table:
    unit = record.unit or "1"
    caption = (
        f"Runs outside the search, {record.called.confirmations} of each side, interleaved;"
        " the gain is the geometric mean of their ratios, pair by pair, and the ratio of the"
        " geometric means of both. Verdicts allow for"
        " the number of groups (Holm): the chance of one false gain among all is below 5 %. Fewer"
        " than five pairs have a range and no interval. What"
        " the search saw is too good, because the best of many is partly best by chance."
    )
    if all(group.gain is None for group in record.groups):
        caption = "Nothing was confirmed."
    return table_of(
        record.groups,
        [
            (Column("group"), lambda group: group.group.title),
            (Column("setting"), lambda group: _changes(record, group)),
            (Column("gain", "1"), lambda group: group.gain),
            (Column("range, or 95 % interval"), spread_text),
            (
                Column("verdict"),
                lambda group: group.verdict if group.gain is not None else "not changed",
            ),
            (Column("kept"), lambda group: group.kept),
            (Column("seen in the search", "1", extra=True), lambda group: group.seen),
            (Column("default", unit, extra=True), lambda group: _center(group.before)),
            (Column("tuned", unit, extra=True), lambda group: _center(group.after)),
        ],
        "Before and after",
        caption,
    )


def _ends(side: Side) -> tuple[float | None, float | None]:
    """The ends of its interval, or of the range of too few values for one."""
    if side.low95 is not None or len(side.values) < 2:
        return side.low95, side.high95
    return min(side.values), max(side.values)


def before_after_figure(record: TuningRecord) -> Figure | None:
    """Means of the confirmation with their intervals."""
    groups = [group for group in record.groups if group.after.values]
    names = [group.group.title for group in groups]

    def series(name: str, style: int, sides: Sequence[Side], **more: Any) -> Series:
        ends = [_ends(side) for side in sides]
        means, low, high = [s.mean for s in sides], [e[0] for e in ends], [e[1] for e in ends]
        return Series(name, names, means, style, low=low, high=high, **more)

    default = ["default"] * len(groups)
    tuned = [f"{_changes(record, g)}, {g.verdict}" for g in groups]
    slower = [g.verdict == Verdict.SLOWER.text for g in groups]
    drawn = [
        series("default", 0, [g.before for g in groups], notes=default),
        series("tuned", 1, [g.after for g in groups], notes=tuned, faulty=slower),
    ]
    return plot(
        "before-after",
        "Before and after",
        "Means of the confirmation's runs, the default and what was found, interleaved. Whiskers"
        " are 95 % intervals, or the range of two to four runs. Whiskers of two bars may overlap"
        " although the gain is sure. What both runs of a pair have in common widens the bars, not"
        " the gain.",
        "bars",
        Axis("group"),
        Axis("rate", record.unit or "1"),
        drawn if groups else [],
        height=340,
    )


def gains_figure(record: TuningRecord) -> Figure | None:
    """What the search saw of the settings that it liked best."""
    some = [t for t in _ordered(record) if _of_all(t) is not None][:_MOST_DRAWN]
    if not some:
        return None
    names = [t.changes.text for t in some]
    series = [
        Series(
            group.group.title,
            names,
            [t.gains[number] for t in some],
            number,
            notes=[fmt.count_of(t.rounds, "round") for t in some],
            form="points",
        )
        for number, group in enumerate(record.groups)
    ]
    series.append(Series("default", names, [1.0] * len(names), form="limit"))
    more = len(record.tried) - len(some)
    caption = (
        "Gains over the default in the rounds of the search, settings that lasted longest first."
        " These are rough estimates, not results: the best of many looks better than it is."
    )
    if more > 0:
        caption += f" {more} more are in the table."
    return plot(
        "tried",
        "What the search saw",
        caption,
        "curves",
        Axis("setting"),
        Axis("gain", "1", log=True, switch=True),
        series,
        height=380,
    )


def _ordered(record: TuningRecord) -> list[TriedRecord]:
    return sorted(record.tried, key=lambda t: (-t.rounds, -(_of_all(t) or 0.0)))


def _was_tried(one: TriedRecord) -> bool:
    """A search that is stopped leaves settings without a whole round."""
    return one.rounds > 0 or bool(one.fault)


def _counted(record: TuningRecord) -> str:
    tried = sum(map(_was_tried, record.tried))
    rest = len(record.tried) - tried
    reached = f", {rest} not reached" if rest else ""
    return f"{tried} tried{reached}, {record.left_out} left out for the budget"


def tried_table(record: TuningRecord) -> Table:
    rows: list[list[Cell]] = [
        [t.changes.text, t.rounds, *t.gains, t.fault or ("" if _was_tried(t) else "not reached")]
        for t in _ordered(record)
    ]
    columns = [Column("setting"), Column("rounds", "1")]
    columns += [Column(f"gain, {g.group.title}", "1") for g in record.groups]
    return Table([*columns, Column("reason")], rows, "What was tried")


def facts_table(record: TuningRecord) -> Table:
    called = record.called
    rows: list[list[Cell]] = [
        ["workload", " ".join([record.benchmark, *record.workload])],
        ["ranks", str(record.ranks)],
        ["directory", record.directory],
        ["runs", f"{record.runs} in {fmt.duration(record.seconds)}"],
        ["settings", _counted(record)],
        ["confirmation", f"{called.confirmations} runs of each side, gains above "
         f"{fmt.percent(called.tolerance, 1)} count"],
        ["engine", f"{called.engine} {called.engine_sha256[:12]}"],
    ]  # fmt: skip
    return Table([Column("what"), Column("value")], rows, "How it was found")


def tuning_section(record: TuningRecord) -> Section:
    """The section for the head of a page, and for a terminal."""
    makers: Sequence[Maker[TuningRecord]] = (
        headline,
        lambda record: record.notes,
        confirmed_table,
        before_after_figure,
        gains_figure,
        tried_table,
        facts_table,
    )
    return Section("tuning", f"Tuning: {record.title}", shown(makers, record))
