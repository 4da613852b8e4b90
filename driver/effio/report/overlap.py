# SPDX-License-Identifier: BSD-3-Clause
"""Report of overlap: the share of an operation that hides behind a computation, over the size of
the transfer, a curve for each method; what the computation pays; and why no more hides.
docs/benchmarks/overlap.md says how to read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from effio import text as fmt
from effio.report.common import certainty
from effio.report.common.counts import claimed
from effio.report.common.names import context_of, grouped
from effio.report.model import (
    Axis,
    Column,
    Figure,
    Finding,
    Headline,
    Level,
    Panel,
    Table,
    table_of,
)
from effio.report.parts import Part, PartsReporter, known, member, number, value_at, value_of, word
from effio.report.plots import by_case, plot
from effio.store.evidence import evidence_of, short_of
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord
from effio.store.records import Measurement
from effio.store.values import as_count

# As the engine counts it (docs/definitions/overlap.md).
_WHOLLY = 0.9
# A computation that gets so much longer is worth a warning.
_SLOWER = 1.1
# A share whose interval is wider than this on either side is not explained.
_KNOWN = 0.2
# The order of the curves and the sentences.
_METHODS = ("blocking", "nonblocking", "uring", "thread")


_size = partial(number, name="transfer_bytes")
_method = partial(word, name="method")


def _case(f: FigureRecord) -> str:
    return f"{word(f, 'access')} during {word(f, 'work')} work"


def _key(f: FigureRecord) -> tuple[str, str, str, int]:
    return word(f, "access"), word(f, "work"), _method(f), _size(f)


def _with_size(found: Iterable[FigureRecord]) -> list[FigureRecord]:
    """The figures that have a size, by method and size."""
    place = {method: i for i, method in enumerate(_METHODS)}
    some = (f for f in found if _size(f) > 0)
    return sorted(some, key=lambda f: (place.get(_method(f), len(place)), _size(f)))


def _known(result: Result, name: str) -> list[FigureRecord]:
    return _with_size(known(result, name))


def _curves(found: Sequence[FigureRecord]) -> dict[str, list[Panel]]:
    """Curves by case; one for each method, whiskers are the 95 % intervals of the means."""
    return by_case(found, _case, _method, lambda f: float(_size(f)), first=_METHODS)


def hidden_figure(result: Result) -> Figure | None:
    return plot(
        "hidden",
        "Share of the I/O time that hides",
        "The share of the operation's time alone that is saved when the rank computes meanwhile."
        " 100 % is all of it; 0 % is as long as one after the other; below 0 % is longer."
        " Whiskers are 95 % intervals, or the range of two to four repetitions.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("share that hides", shown="%"),
        _curves(_known(result, "hidden_share")),
        case="case",
        height=340,
    )


def slow_down_figure(result: Result) -> Figure | None:
    return plot(
        "slow-down",
        "What the computation pays",
        "Its time during the operation over its time alone: 100 % means as long as alone.",
        "curves",
        Axis("transfer size", "B", log=True),
        Axis("time of the computation", shown="%", low=0.0),
        _curves(_known(result, "work_slowdown")),
        case="case",
        height=300,
    )


def _cells(result: Result) -> dict[tuple[str, str, str, int], list[Measurement]]:
    """The repetitions of each cell."""
    return grouped(result.measurements, lambda m: (m.access, word(m, "work"), m.pattern, _size(m)))


def _limit_text(f: FigureRecord) -> str:
    """Why no more hides, or why that cannot be said."""
    if f.metric.value is None:
        return fmt.plain(f.metric.reason, 100)
    return fmt.plain(members_of(f).limit, 20) if _is_known(f) else "not known"


def cell_table(result: Result) -> Table:
    cells = _cells(result)

    def evidence(f: FigureRecord) -> str:
        return short_of(evidence_of(cells.get(_key(f), []), result.run.simulated))

    return table_of(
        _with_size(result.figures_named("hidden_share")),
        [
            (Column("case"), _case),
            (Column("method"), _method),
            (Column("transfer", "B"), _size),
            (Column("I/O alone", "s"), value_at(result, "io_seconds", _key)),
            (Column("work alone", "s"), value_at(result, "work_seconds", _key)),
            (Column("both", "s"), value_at(result, "both_seconds", _key)),
            (Column("hides", "1", "%", 3), lambda f: f.metric.value),
            (Column("at least", "1", "%", 3), lambda f: certainty.ends_of(f)[0]),
            (Column("at most", "1", "%", 3), lambda f: certainty.ends_of(f)[1]),
            (Column("work takes", "1", "%", 3), value_at(result, "work_slowdown", _key)),
            (Column("begin", "s", extra=True), member("post_seconds")),
            (Column("asking", "s", extra=True), member("poll_seconds")),
            (Column("wait", "s", extra=True), member("wait_seconds")),
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
    method = _method(f)
    limit = members_of(f).limit
    if limit == "post" and method == "blocking":
        return "the call comes back only when the bytes are moved"
    begins = {
        "nonblocking": f"the nonblocking {word(f, 'access')} itself",
        "uring": "the submission to io_uring",
        "thread": "handing it to the thread",
    }.get(method, "the call that begins it")
    longer = f" ({fmt.percent(slower - 1)} longer)" if slower is not None else ""
    return {
        "none": "the computation covers it",
        "length": "that is all that so short a computation can cover",
        "post": f"{begins} already takes the time",
        "poll": "the time passes in the calls that ask whether it is over",
        "wait": "the rest is left for the wait, because the transfer does not continue, or not as"
        " fast, while the rank computes",
        "work": f"it takes its time from the computation{longer}",
    }.get(limit, "no single part of the time accounts for it")


def _is_known(f: FigureRecord) -> bool:
    """One repetition has no interval, and cannot say; neither can an interval that is too wide, or
    one above 1: no more than all can hide. Below 0 both take longer together. Of two to four
    repetitions the engine decides, which gives a limit only where the share is known."""
    low, high = certainty.ends_of(f)
    if low is None or high is None or low > 1 or high - low > 2 * _KNOWN:
        return False
    return certainty.is_known(f) or bool(members_of(f).limit)


def method_findings(result: Result) -> list[Finding]:
    """For each case and method: where most and, if that differs, where least hides, and why."""
    slower = value_at(result, "work_slowdown", _key)
    findings = []

    def reported(f: FigureRecord) -> str:
        text = f"{fmt.percent(value_of(f))} of the time with {fmt.size(_size(f))}"
        high = certainty.ends_of(f)[1]
        if high is not None and high < 0:
            size = fmt.size(_size(f))
            text = f"nothing with {size}, where both take longer than one after the other"
        return f"{text}: {_reason(f, slower(f))}"

    for case, all_methods in grouped(_known(result, "hidden_share"), _case).items():
        for method, all_sizes in grouped(all_methods, _method).items():
            some = [f for f in all_sizes if _is_known(f)]
            if not some:
                text = (
                    f"What {method}, {case}, hides is not known within ± {100 * _KNOWN:.0f} %: more"
                )
                text += " repetitions, or a quiet machine."
                findings.append(Finding(text, "hidden", "warn"))
                continue
            best, worst = max(some, key=value_of), min(some, key=value_of)
            text = f"{method}, {case}, hides {reported(best)}"
            if value_of(best) - value_of(worst) > 1 - _WHOLLY:
                text += f"; but {reported(worst)}"
            level: Level = "good" if value_of(worst) >= _WHOLLY else "info"
            findings.append(Finding(text + ".", "hidden", level))
    return findings


def cost_finding(result: Result) -> Finding | None:
    """The computation that suffers most."""
    worst = max(_known(result, "work_slowdown"), key=value_of, default=None)
    if worst is None or value_of(worst) < _SLOWER or not certainty.is_known(worst):
        return None
    if worst.samples is None or (worst.samples.low95 or 0.0) <= 1:
        return None
    text = (
        f"A computation pays for an operation during it: {word(worst, 'work')} work takes"
        f" {fmt.percent(value_of(worst) - 1)} longer during a {word(worst, 'access')} of"
        f" {fmt.size(_size(worst))} by {_method(worst)}."
    )
    return Finding(text, "slow-down", "warn")


def binding_finding(result: Result) -> Finding | None:
    """A rank that is bound to one processor shares it with whatever helps it."""
    system = result.run.system
    if as_count(system.cpu.get("usable_by_root_rank")) != 1 or result.run.simulated:
        return None
    return Finding(
        "Rank 0 may use one processor only, so its helper thread has no separate one. Start with"
        " --bind-to none, or with more processors a rank, to see what helpers can do.",
        "system",
        "warn",
    )


def left_out_findings(result: Result) -> list[Finding]:
    left_out = members_of(result.figure("overlap")).left_out
    return [Finding(f"Left out: {fmt.plain(why, 300)}.", "system") for why in left_out]


class OverlapReporter(PartsReporter):
    finders = (method_findings, cost_finding, binding_finding, left_out_findings)
    parts = (Part("overlap", "What hides", (hidden_figure, slow_down_figure, cell_table)),)

    def headline(self, result: Result) -> Headline:
        figure = result.figure("overlap")
        if figure is None:
            missing = "the run ended before its means were known"
            return Headline("overlap", None, "1", context_of(result), missing=missing)
        best = figure.detail.get("best")
        at = best if isinstance(best, dict) else {}
        hidden = next((f for f in result.figures_named("hidden_share") if f.where == at), None)
        cell = _cells(result).get(_key(hidden), []) if hidden else []
        context = context_of(result, cell)
        if isinstance(best, dict):
            names = ("access", "method", "work")
            access, method, work = (fmt.plain(at.get(k, ""), 20) for k in names)
            size = fmt.size(as_count(at.get("transfer_bytes")))
            context = f"{access} of {size} by {method}, during {work} work, {context}"
        headline = Headline(
            "share of the I/O time that hides, at best",
            figure.metric.value,
            "1",
            context,
            missing=figure.metric.reason,
            anchor="hidden",
            share=True,
        )
        return claimed(headline, result, cell, hidden)


REPORTER = OverlapReporter()
