# SPDX-License-Identifier: BSD-3-Clause
"""Report of overlap: the share of an operation that hides behind a computation, over the size of
the transfer, a curve for each way; what the computation pays; and why no more hides.
docs/benchmarks/overlap.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

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
    table_of,
)
from effio.store.evidence import short_of
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement, as_count

# As the engine counts it (docs/definitions/overlap.md).
_WHOLLY = 0.9
# A computation that gets so much longer is worth a warning.
_SLOWER = 1.1
# A share whose interval is wider than this on either side is not explained.
_KNOWN = 0.2
# The order of the curves and the sentences.
_WAYS = ("blocking", "nonblocking", "uring", "thread")


def _word(f: FigureRecord, name: str) -> str:
    return fmt.plain(f.where.get(name, ""), 40)


def _size(f: FigureRecord) -> int:
    return as_count(f.where.get("transfer_bytes"))


def _case(f: FigureRecord) -> str:
    return f"{_word(f, 'access')} during {_word(f, 'work')} work"


def _key(f: FigureRecord) -> tuple[str, str, str, int]:
    return _word(f, "access"), _word(f, "work"), _word(f, "way"), _size(f)


def _by_way(found: Iterable[FigureRecord]) -> list[FigureRecord]:
    """The figures by method and size."""
    place = {way: i for i, way in enumerate(_WAYS)}
    return sorted(found, key=lambda f: (place.get(_word(f, "way"), len(place)), _size(f)))


def _known(result: Result, name: str) -> list[FigureRecord]:
    """The figures with a value and a size."""
    return _by_way(
        f for f in result.figures_named(name) if f.metric.value is not None and _size(f) > 0
    )


def _curves(found: Sequence[FigureRecord]) -> dict[str, list[Panel]]:
    """Curves by case; one for each method, whiskers are the 95 % intervals of the means."""
    names = unique([*_WAYS, *(_word(f, "way") for f in found)])
    variants = {}
    for case, of_case in grouped(found, _case).items():
        series = []
        for way, some in grouped(of_case, lambda f: _word(f, "way")).items():
            ends = [certainty.ends_of(f) for f in some]
            series.append(
                Series(
                    way,
                    [float(_size(f)) for f in some],
                    [f.metric.value for f in some],
                    names.index(way),
                    [high for _, high in ends],
                    low=[low for low, _ in ends],
                )
            )
        variants[case] = [Panel("", series)]
    return variants


def hidden_figure(found: Sequence[FigureRecord]) -> Figure | None:
    if not found:
        return None
    return Figure(
        "hidden",
        "Share of the I/O time that hides",
        "The share of the operation's time alone that is saved when the rank computes meanwhile."
        " 100 % is all of it; 0 % is as long as one after the other; below 0 % is longer."
        " Whiskers are 95 % intervals, or the range of two to four repetitions.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("share that hides", shown="%"),
        _curves(found),
        columns=1,
        variant_title="case",
        panel_height=340,
    )


def slow_down_figure(found: Sequence[FigureRecord]) -> Figure | None:
    if not found:
        return None
    return Figure(
        "slow-down",
        "What the computation pays",
        "Its time during the operation over its time alone: 100 % means as long as alone.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("time of the computation", shown="%", low=0.0),
        _curves(found),
        columns=1,
        variant_title="case",
        panel_height=300,
    )


def _cells(result: Result) -> dict[tuple[str, str, str, int], list[Measurement]]:
    """The repetitions of each cell."""
    return grouped(
        result.measurements,
        lambda m: (
            m.access,
            fmt.plain(m.where.get("work", ""), 40),
            m.pattern,
            as_count(m.where.get("transfer_bytes")),
        ),
    )


def _limit_text(f: FigureRecord) -> str:
    """Why no more hides, or why that cannot be said."""
    if f.metric.value is None:
        return fmt.plain(f.metric.reason, 100)
    return fmt.plain(members_of(f).limit, 20) if _is_known(f) else "not known"


def cell_table(result: Result) -> Table | None:
    hidden = _by_way(f for f in result.figures_named("hidden_share") if _size(f) > 0)
    if not hidden:
        return None
    cells = _cells(result)

    def of(name: str) -> Callable[[FigureRecord], Cell]:
        """The value of another figure of the same cell."""
        values = {_key(f): f.metric.value for f in result.figures_named(name)}
        return lambda f: values.get(_key(f))

    def evidence(f: FigureRecord) -> str:
        return short_of(common.evidence_of(cells.get(_key(f), []), result.run.clock.virtual))

    return table_of(
        hidden,
        [
            (Column("case"), _case),
            (Column("way"), lambda f: _word(f, "way")),
            (Column("transfer", "B"), _size),
            (Column("I/O alone", "s"), of("io_seconds")),
            (Column("work alone", "s"), of("work_seconds")),
            (Column("both", "s"), of("both_seconds")),
            (Column("hides", "1", "%", 3), lambda f: f.metric.value),
            (Column("at least", "1", "%", 3), lambda f: certainty.ends_of(f)[0]),
            (Column("at most", "1", "%", 3), lambda f: certainty.ends_of(f)[1]),
            (Column("work takes", "1", "%", 3), of("work_slowdown")),
            (Column("begin", "s", extra=True), lambda f: members_of(f).post_seconds),
            (Column("asking", "s", extra=True), lambda f: members_of(f).poll_seconds),
            (Column("wait", "s", extra=True), lambda f: members_of(f).wait_seconds),
            (Column("limit"), _limit_text),
            (Column("bytes from or to", extra=True), evidence),
        ],
        "Cells",
        "Means over the repetitions; at least and at most are the 95 % interval, or the range of"
        " two to four repetitions. Begin, asking and wait are the parts of both that are neither"
        " computation nor hidden.",
        longest=40,
    )


def _reason(f: FigureRecord, slower: float | None) -> str:
    """Why no more hides, for the middle of a sentence."""
    way, write = _word(f, "way"), _word(f, "access") == "write"
    limit = members_of(f).limit
    if limit == "post" and way == "blocking":
        return "the call comes back only when the bytes are moved"
    begins = {
        "nonblocking": f"the nonblocking {'write' if write else 'read'} itself",
        "uring": "the submission to io_uring",
        "thread": "handing it to the thread",
    }.get(way, "the call that begins it")
    longer = f" ({100 * (slower - 1):.0f} % longer)" if slower is not None else ""
    return {
        "none": "the computation covers it",
        "length": "that is all that so short a computation can cover",
        "post": f"{begins} already takes the time",
        "poll": "the bytes move inside the calls that ask whether it is over",
        "wait": "the rest is left for the wait, because the transfer does not continue, or not as"
        " fast, while the rank computes",
        "work": f"it takes its time from the computation{longer}",
    }.get(limit, "no single part of the time accounts for it")


def _share(f: FigureRecord) -> float:
    return f.metric.value or 0.0


def _is_known(f: FigureRecord) -> bool:
    """One repetition has no interval, and cannot say; neither can an interval that is too wide, or
    one above 1: no more than all can hide. Below 0 both take longer together. Of two to four
    repetitions the engine decides, which gives a limit only where the share is known."""
    low, high = certainty.ends_of(f)
    if low is None or high is None or low > 1 or high - low > 2 * _KNOWN:
        return False
    return certainty.is_known(f) or bool(members_of(f).limit)


def way_findings(result: Result) -> list[Finding]:
    """For each case and method: where most and, if that differs, where least hides, and why."""
    slower = {_key(f): f.metric.value for f in result.figures_named("work_slowdown")}
    findings = []

    def reported(f: FigureRecord) -> str:
        text = f"{100 * _share(f):.0f} % of the time with {fmt.size(_size(f))}"
        if not certainty.is_known_share(f):
            size = fmt.size(_size(f))
            text = f"nothing with {size}, where both take longer than one after the other"
        return f"{text}: {_reason(f, slower.get(_key(f)))}"

    for case, of_case in grouped(_known(result, "hidden_share"), _case).items():
        for way, all_sizes in grouped(of_case, lambda f: _word(f, "way")).items():
            some = [f for f in all_sizes if _is_known(f)]
            if not some:
                text = f"What {way}, {case}, hides is not known within ± {100 * _KNOWN:.0f} %: more"
                text += " repetitions, or a quiet machine."
                findings.append(Finding(text, "hidden", "warn"))
                continue
            best, worst = max(some, key=_share), min(some, key=_share)
            text = f"{way}, {case}, hides {reported(best)}"
            if _share(best) - _share(worst) > 1 - _WHOLLY:
                text += f"; but {reported(worst)}"
            level: Level = "good" if _share(worst) >= _WHOLLY else "info"
            findings.append(Finding(text + ".", "hidden", level))
    return findings


def cost_finding(result: Result) -> Finding | None:
    """The computation that suffers most."""
    worst = max(_known(result, "work_slowdown"), key=lambda f: f.metric.value or 0.0, default=None)
    if worst is None or worst.metric.value is None or worst.metric.value < _SLOWER:
        return None
    low = worst.samples.low95 if worst.samples else None
    if low is None or low <= 1 or not certainty.is_known(worst):
        return None
    text = (
        f"A computation pays for an operation during it: {_word(worst, 'work')} work takes"
        f" {100 * (worst.metric.value - 1):.0f} % longer during a {_word(worst, 'access')} of"
        f" {fmt.size(_size(worst))} by {_word(worst, 'way')}."
    )
    return Finding(text, "slow-down", "warn")


def binding_finding(result: Result) -> Finding | None:
    """A rank that is bound to one processor shares it with whatever helps it."""
    system = result.run.system
    if as_count(system.cpu.get("usable_by_root_rank")) != 1 or result.run.clock.virtual:
        return None
    return Finding(
        "Rank 0 may use one processor only, so its helper thread has no separate one. Start with"
        " --bind-to none, or with more processors a rank, to see what helpers can do.",
        "system",
        "warn",
    )


class OverlapReporter:
    def headline(self, result: Result) -> Headline:
        figure = result.figure("overlap")
        context = common.context_of(result)
        if figure is None:
            return Headline(
                "overlap", None, "1", context, missing="the run ended before its means were known"
            )
        best = figure.detail.get("best")
        if isinstance(best, dict):
            words = [fmt.plain(best.get(k, ""), 20) for k in ("access", "way", "work")]
            context = (
                f"{words[0]} of {fmt.size(as_count(best.get('transfer_bytes')))} by {words[1]},"
                f" during {words[2]} work, {context}"
            )
        at = {**best} if isinstance(best, dict) else {}
        hidden = [f for f in result.figures_named("hidden_share") if f.where == at]
        headline = Headline(
            "share of the I/O time that hides, at best",
            figure.metric.value,
            "1",
            context,
            missing=figure.metric.reason,
            anchor="hidden",
            share=True,
        )
        cell = _cells(result).get(_key(hidden[0]), []) if hidden else []
        return common.claimed(headline, result, cell, hidden[0] if hidden else None)

    def findings(self, result: Result) -> Sequence[Finding]:
        findings = way_findings(result)
        cost = cost_finding(result)
        findings += [f for f in (cost, binding_finding(result)) if f is not None]
        figure = result.figure("overlap")
        for why in members_of(figure).left_out:
            findings.append(Finding(f"Left out: {fmt.plain(why, 300)}.", "system"))
        return findings

    def sections(self, result: Result) -> Sequence[Section]:
        blocks: list[Block] = []
        for figure in (
            hidden_figure(_known(result, "hidden_share")),
            slow_down_figure(_known(result, "work_slowdown")),
        ):
            if figure is not None:
                blocks.append(figure)
        table = cell_table(result)
        if table is not None:
            blocks.append(table)
        return [Section("overlap", "What hides", blocks)] if blocks else []


REPORTER = OverlapReporter()
