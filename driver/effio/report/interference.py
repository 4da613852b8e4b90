# SPDX-License-Identifier: BSD-3-Clause
"""Report of interference: how many times slower each group is next to others than alone,
which phase of it, and which phase met which. How to read it: docs/benchmarks/interference.md."""

from __future__ import annotations

from functools import partial

from effio import text as fmt
from effio.report.common.counts import interval_of
from effio.report.common.names import context_of, unique
from effio.report.model import Axis, Column, Finding, Headline, Panel, Table, table_of
from effio.report.model import Figure as Picture
from effio.report.parts import Part, PartsReporter, known, member, value_of, word
from effio.report.plots import interval, plot
from effio.store.reader import Result
from effio.store.records import Figure

_MATRIX = "slow-down"
_PHASES = "slow-down-phases"
# A slow-down below this is not worth a sentence, however sure it is.
_WORTH_REPORTING = 1.05
_MOST_SENTENCES = 8


_word = partial(word, most=60)


def _group(figure: Figure) -> str:
    """ "2 mdtest"."""
    return f"{_word(figure, 'group')} {_word(figure, 'benchmark')}"


def _names(result: Result) -> dict[str, str]:
    """The names of the groups, by number as text."""
    return {_word(figure, "group"): _group(figure) for figure in result.figures_named("slow_down")}


def _others(figure: Figure, names: dict[str, str]) -> str:
    numbers = _word(figure, "others").split(",")
    return ", ".join(names.get(n, n) for n in numbers)


def _phase(figure: Figure, prefix: str = "") -> str:
    access, pattern = _word(figure, f"{prefix}access"), _word(figure, f"{prefix}pattern")
    return f"{access} ({pattern})" if pattern else access


def _ends(figure: Figure) -> tuple[str, str] | None:
    """Both ends of the interval of a factor, because it is not symmetrical."""
    low, high = interval(figure)
    if low is None or high is None:
        return None
    return fmt.significant(low, 3), fmt.significant(high, 3)


def _factor(figure: Figure) -> str:
    """ "3.1 [2.8, 3.4]"; the value is there."""
    reported = fmt.significant(value_of(figure), 3)
    return f"{reported} [{', '.join(ends)}]" if (ends := _ends(figure)) else reported


def _interval(figure: Figure) -> str:
    """The interval of the headline, or why there is none."""
    ends = _ends(figure)
    if ends is None or figure.samples is None:
        one = figure.samples is None or figure.samples.count < 2
        return "one round says nothing about the next" if one else interval_of(figure)
    return f"{' to '.join(ends)} (95 %, {fmt.count_of(figure.samples.count, 'round')})"


def _is_sure(figure: Figure) -> bool:
    """The interval is above 1."""
    return (interval(figure)[0] or 0.0) > 1.0


def _known(result: Result, name: str) -> list[Figure]:
    return sorted(known(result, name), key=lambda f: -value_of(f))


def _slower(figure: Figure, names: dict[str, str], verb: str) -> str:
    """ "Write of group 1 ior is 3 times slower next to 2 mdtest"."""
    return (
        f"{_phase(figure).capitalize()} of group {_group(figure)} {verb} {_factor(figure)} times"
        f" slower next to {_others(figure, names)}"
    )


def _sentences(result: Result) -> list[Finding]:
    names = _names(result)
    phases = [f for f in _known(result, "slow_down_of_phase") if value_of(f) >= _WORTH_REPORTING]
    sure = [f for f in phases if _is_sure(f)]
    found = [f"{_slower(f, names, 'is')}." for f in sure[:_MOST_SENTENCES]]
    if len(sure) > _MOST_SENTENCES:
        more = fmt.count_of(len(sure) - _MOST_SENTENCES, "more phase is", "more phases are")
        found.append(f"{more} slower.")
    if found:
        return [Finding(text, _PHASES, "warn") for text in found]
    text = ""
    if any(interval(f)[0] is not None for f in known(result, "slow_down")):
        text = "No phase is slower next to another group than chance explains."
    elif phases:
        samples = phases[0].samples
        rounds = fmt.count_of(samples.count if samples else 1, "round")
        text = f"{_slower(phases[0], names, 'was')}, in {rounds}: chance is not ruled out."
    return [Finding(text, _PHASES, "info")] if text else []


def _failure(result: Result) -> Finding | None:
    missing = len(result.figures_named("slow_down")) - len(known(result, "slow_down"))
    if not missing:
        return None
    are = "is" if missing == 1 else "are"
    text = f"{fmt.count_of(missing, 'slow-down')} {are} not known: a group failed."
    return Finding(text, _MATRIX, "bad")


def _matrix(result: Result) -> Picture | None:
    names = _names(result)
    figures = result.figures_named("slow_down")
    # Columns in the order of the rows, so that a group and itself are on the diagonal.
    columns = sorted(
        unique(_word(f, "others") for f in figures),
        key=lambda groups: [int(n) for n in groups.split(",") if n.isdecimal()],
    )
    cells = {(_word(f, "group"), _word(f, "others")): f.metric.value for f in figures}
    factors = [value for value in cells.values() if value is not None]
    if not factors:
        return None
    labels = [", ".join(names.get(n, n) for n in others.split(",")) for others in columns]
    values = [[cells.get((group, others)) for others in columns] for group in names]
    return plot(
        _MATRIX,
        "Times slower than alone",
        "A row is a group, a column the groups that ran at the same time. A number is how many"
        " times slower the group was, over all its phases: 1 means no interference.",
        "heatmap",
        Axis("other groups"),
        Axis("group", low=min(1.0, *factors), high=max(1.0, *factors)),
        [Panel("", [], labels, list(names.values()), values)],
        height=320,
    )


def _phases_table(result: Result) -> Table:
    names = _names(result)
    return table_of(
        result.figures_named("slow_down_of_phase"),
        [
            (Column("group"), lambda f: names.get(_word(f, "group"), _word(f, "group"))),
            (Column("phase"), _phase),
            (Column("next to"), lambda f: _others(f, names)),
            (Column("times slower", "1", digits=3), lambda f: f.metric.value),
            (Column("95 % from", "1", digits=3), lambda f: interval(f)[0]),
            (Column("to", "1", digits=3), lambda f: interval(f)[1]),
            (Column("rounds", "1"), lambda f: f.samples.count if f.samples else 0),
        ],
        "Times slower than alone, by phase",
    )


def _met_table(result: Result) -> Table:
    return table_of(
        result.figures_named("met"),
        [
            (Column("group"), _group),
            (Column("phase"), _phase),
            (Column("met"), lambda f: f"{_word(f, 'other')} {_word(f, 'other_benchmark')}"),
            (Column("in its phase"), lambda f: _phase(f, "other_")),
            (Column("at the same time", "s"), lambda f: f.metric.value),
            (Column("of the phase", "1", "%"), member("fraction")),
        ],
        "Which phase met which, in all rounds",
    )


class InterferenceReporter(PartsReporter):
    finders = (_failure, _sentences)
    parts = (
        Part("interference", "Interference", (_matrix,)),
        Part(_PHASES, "Phases", (_phases_table,)),
        Part("met", "Which phase met which", (_met_table,)),
    )

    def headline(self, result: Result) -> Headline:
        most = next(iter(_known(result, "slow_down")), None)
        name, context = "largest slow-down", context_of(result)
        if most is None:
            missing = "no group was measured next to another"
            return Headline(name, None, "1", context, missing=missing)
        names = _names(result)
        group = names.get(_word(most, "group"), "")
        doubt = "" if _is_sure(most) else "; not known to be slower than alone"
        return Headline(
            name,
            most.metric.value,
            "1",
            f"group {group} next to {_others(most, names)}, {context}{doubt}",
            anchor=_MATRIX,
            interval=_interval(most),
        )


REPORTER = InterferenceReporter()
