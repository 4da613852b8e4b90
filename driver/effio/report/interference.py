# SPDX-License-Identifier: BSD-3-Clause
"""Report of interference: how many times slower each group is next to others than alone,
which phase of it, and which phase met which. How to read it: docs/benchmarks/interference.md."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.model import (
    Axis,
    Column,
    Finding,
    Headline,
    Panel,
    Section,
    Table,
    table_of,
)
from effio.report.model import Figure as Picture
from effio.store.members import members_of
from effio.store.reader import Result
from effio.store.records import Figure

_MATRIX = "slow-down"
_PHASES = "slow-down-phases"
# A slow-down below this is not worth a sentence, however sure it is.
_WORTH_REPORTING = 1.05
_MOST_SENTENCES = 8
_LONGEST = 60


def _word(figure: Figure, name: str) -> str:
    value = figure.where.get(name, "")
    return fmt.plain(value if isinstance(value, str) else str(value), _LONGEST)


def _names(result: Result) -> dict[str, str]:
    """The names of the groups: "2 mdtest", by number as text."""
    names = {}
    for figure in result.figures_named("slow_down"):
        number = _word(figure, "group")
        names[number] = f"{number} {_word(figure, 'benchmark')}"
    return names


def _numbers(groups: str) -> tuple[int, ...]:
    """The numbers of "1,3"."""
    return tuple(int(n) for n in groups.split(",") if n.isdecimal())


def _others(figure: Figure, names: dict[str, str]) -> str:
    numbers = _word(figure, "beside").split(",")
    return ", ".join(names.get(n, n) for n in numbers)


def _phase(figure: Figure, prefix: str = "") -> str:
    access, pattern = _word(figure, f"{prefix}access"), _word(figure, f"{prefix}pattern")
    return f"{access} ({pattern})" if pattern else access


def _factor(figure: Figure) -> str:
    """ "3.1 [2.8, 3.4]"; the value is there."""
    assert figure.metric.value is not None
    of = figure.samples
    reported = fmt.significant(figure.metric.value, 3)
    if of is None or of.low95 is None or of.high95 is None:
        return reported
    return f"{reported} [{fmt.significant(of.low95, 3)}, {fmt.significant(of.high95, 3)}]"


def _interval(figure: Figure) -> str:
    """Both ends of the interval of a factor, because it is not symmetrical; or why there is
    none."""
    of = figure.samples
    if of is None or of.low95 is None or of.high95 is None:
        return "one round says nothing about the next"
    low, high = (fmt.significant(end, 3) for end in (of.low95, of.high95))
    return f"{low} to {high} (95 %, {fmt.count_of(of.count, 'round')})"


def _is_sure(figure: Figure) -> bool:
    """The interval is above 1."""
    return figure.samples is not None and (figure.samples.low95 or 0.0) > 1.0


def _known(result: Result, name: str) -> list[Figure]:
    known = [f for f in result.figures_named(name) if f.metric.value is not None]
    return sorted(known, key=lambda f: -(f.metric.value or 0.0))


def _sentences(result: Result) -> list[Finding]:
    names = _names(result)
    phases = [
        f for f in _known(result, "slow_down_of_phase") if (f.metric.value or 0) >= _WORTH_REPORTING
    ]
    sure = [f for f in phases if _is_sure(f)]
    found = [
        Finding(
            f"{_phase(f).capitalize()} of group {_word(f, 'group')} {_word(f, 'benchmark')} is"
            f" {_factor(f)} times slower next to {_others(f, names)}.",
            _PHASES,
            "warn",
        )
        for f in sure[:_MOST_SENTENCES]
    ]
    if len(sure) > _MOST_SENTENCES:
        found.append(
            Finding(f"{len(sure) - _MOST_SENTENCES} more phases are slower.", _PHASES, "warn")
        )
    if sure:
        return found
    if any(f.samples and f.samples.low95 is not None for f in _known(result, "slow_down")):
        text = "No phase is slower next to another group than chance explains."
        return [Finding(text, _PHASES, "info")]
    if phases:
        text = (
            f"{_phase(phases[0]).capitalize()} of group {_word(phases[0], 'group')}"
            f" {_word(phases[0], 'benchmark')} was {_factor(phases[0])} times slower next to"
            f" {_others(phases[0], names)}, in a single round: chance is not ruled out."
        )
        return [Finding(text, _PHASES, "info")]
    return []


def _failures(result: Result) -> list[Finding]:
    missing = sum(f.metric.value is None for f in result.figures_named("slow_down"))
    if not missing:
        return []
    text = f"{fmt.count_of(missing, 'slow-down')} are not known: a group failed."
    return [Finding(text, _MATRIX, "bad")]


def _matrix(result: Result) -> Picture | None:
    names = _names(result)
    figures = result.figures_named("slow_down")
    # Columns in the order of the rows, so that a group and itself are on the diagonal.
    besides = sorted(common.unique(_word(f, "beside") for f in figures), key=_numbers)
    cells = {(_word(f, "group"), _word(f, "beside")): f.metric.value for f in figures}
    known = [value for value in cells.values() if value is not None]
    if not known:
        return None
    labels = [", ".join(names.get(n, n) for n in beside.split(",")) for beside in besides]
    return Picture(
        _MATRIX,
        "Times slower than alone",
        "A row is a group, a column the groups that ran at the same time. A number is how many"
        " times slower the group was, over all its phases: 1 means no interference.",
        "heatmap",
        Axis("other groups"),
        Axis("group", low=min(1.0, *known), high=max(1.0, *known)),
        {
            "": [
                Panel(
                    "",
                    [],
                    labels,
                    list(names.values()),
                    [[cells.get((group, beside)) for beside in besides] for group in names],
                )
            ]
        },
        columns=1,
        panel_height=320,
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
            (Column("95 % from", "1", digits=3), certainty.sample("low95")),
            (Column("to", "1", digits=3), certainty.sample("high95")),
            (Column("rounds", "1"), lambda f: f.samples.count if f.samples else 0),
        ],
        "Times slower than alone, by phase",
    )


def _met_table(result: Result) -> Table:
    return table_of(
        result.figures_named("met"),
        [
            (Column("group"), lambda f: f"{_word(f, 'group')} {_word(f, 'benchmark')}"),
            (Column("phase"), _phase),
            (Column("met"), lambda f: f"{_word(f, 'beside')} {_word(f, 'beside_benchmark')}"),
            (Column("in its phase"), lambda f: _phase(f, "beside_")),
            (Column("at the same time", "s"), lambda f: f.metric.value),
            (Column("of the phase", "1", "%"), lambda f: members_of(f).fraction),
        ],
        "Which phase met which, in all rounds",
    )


class InterferenceReporter:
    def headline(self, result: Result) -> Headline:
        most = next(iter(_known(result, "slow_down")), None)
        context = common.context_of(result)
        if most is None:
            return Headline(
                "largest slow-down",
                None,
                "1",
                context,
                missing="no group was measured next to another",
            )
        names = _names(result)
        group = names.get(_word(most, "group"), "")
        doubt = "" if _is_sure(most) else "; not known to be slower than alone"
        return Headline(
            "largest slow-down",
            most.metric.value,
            "1",
            f"group {group} next to {_others(most, names)}, {context}{doubt}",
            anchor=_MATRIX,
            interval=_interval(most),
        )

    def findings(self, result: Result) -> Sequence[Finding]:
        return [*_failures(result), *_sentences(result)]

    def sections(self, result: Result) -> Sequence[Section]:
        found = []
        if (matrix := _matrix(result)) is not None:
            found.append(Section("interference", "Interference", [matrix]))
        phases = _phases_table(result)
        if phases.rows:
            found.append(Section(_PHASES, "Phases", [phases]))
        met = _met_table(result)
        if met.rows:
            found.append(Section("met", "Which phase met which", [met]))
        return found


REPORTER = InterferenceReporter()
