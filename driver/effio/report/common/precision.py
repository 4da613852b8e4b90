# SPDX-License-Identifier: BSD-3-Clause
"""How sure numbers are: what --until-ci came to, whether the intervals are as narrow as asked, and
whether to believe them (docs/reading.md, "How many repetitions" and "Rounds")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from effio import text as fmt
from effio.report.common import certainty
from effio.report.common.names import first_of
from effio.report.model import Finding
from effio.store.members import Members, members_of
from effio.store.reader import Result
from effio.store.records import Figure

# More figures than these are counted, not named.
_MOST_NAMED = 3


_WHY = {
    "time": "--until-ci-limit was over",
    "repetitions": "there may be no more of them",
    "nothing": "no rate was measured",
}


# What arithmetic leaves of equal values is nothing.
_ROUNDING = 1e-9


def _share(share: float | None) -> str:
    if share is None:
        return "?"
    return f"{fmt.few_digits(100 * share if share > _ROUNDING else 0)} %"


def _interval(one: Members) -> str:
    mean = fmt.quantity(one.mean, one.unit)
    return f"{fmt.plain(one.text, 120)} {mean} ± {_share(one.half_width_share)}"


def _halves(one: Members) -> str:
    return (
        f"{fmt.plain(one.text, 120)} from {fmt.quantity(one.first_half_mean, one.unit)} to"
        f" {fmt.quantity(one.second_half_mean, one.unit)}"
    )


def _oddity(one: Members) -> str:
    name = fmt.plain(one.text, 120)
    if one.two_modes:
        return f"{name} in two modes"
    values = fmt.count_of(one.count or 0, "value")
    return f"{name} with {fmt.count_of(one.outliers, 'outlier')} of {values}"


def _named(some: Sequence[Members], text: Callable[[Members], str]) -> str:
    return first_of([text(one) for one in some], _MOST_NAMED)


def _width(one: Members) -> float:
    return float("inf") if one.half_width_share is None else one.half_width_share


# The numbers of benchmarks that are measured in rounds.
_OF_ROUNDS = ("b_eff_io", "b_eff", "RandomlyOrderedRingLatency", "RandomlyOrderedRingBandwidth")


def interval_of_rounds(figure: Figure) -> str:
    """ "± 3 % (95 %, 5 rounds)", or nothing."""
    reported = members_of(figure).interval
    half = certainty.half_of(figure)
    if not reported or half is None or not figure.metric.value:
        return ""
    share = _share(half / figure.metric.value)
    return f"± {share} (95 %, {fmt.count_of(reported.rounds or 0, 'round')})"


def _rounds_findings(result: Result) -> list[Finding]:
    findings = []
    for name in _OF_ROUNDS:
        figure = result.figure(name)
        interval = interval_of_rounds(figure) if figure else ""
        if figure is None or not interval:
            continue
        reported = members_of(figure)
        text = f"{name}: {fmt.quantity(figure.metric.value, figure.metric.unit)} {interval}"
        if reported.official_time_share is not None:
            text += f", in {_share(reported.official_time_share)} of the time of an official run"
        unreliable = reported.interval.unreliable
        if unreliable:
            text += "; the interval may be too narrow: the rounds drift or are autocorrelated"
        findings.append(Finding(text + ".", level="warn" if unreliable else "info"))
    return findings


def precision_findings(result: Result) -> list[Finding]:
    findings = _rounds_findings(result)
    for record in result.figures_named("until_ci"):
        reported = members_of(record)
        figures = sorted(reported.figures, key=_width, reverse=True)
        done = fmt.count_of(reported.repetitions or 0, "repetition")
        asked = _share(reported.asked_share)
        if reported.stopped_by == "precise" and figures:
            text = (
                f"--until-ci {asked}: after {done} every mean's 95 % interval is as narrow; the"
                f" widest is {_interval(figures[0])}."
            )
            findings.append(Finding(text))
        else:
            wide = [one for one in figures if one.within is not True]
            text = f"--until-ci {asked} was NOT reached: after {done}"
            text += f" {_WHY.get(reported.stopped_by, 'the run ended')}"
            if wide:
                text += f"; wider than asked: {_named(wide, _interval)}"
            elif figures:
                text += "; every mean's 95 % interval is as narrow, but not all are reliable"
            text += "."
            findings.append(Finding(text, level="warn"))
        drifting = [one for one in reported.figures if one.drift]
        if drifting:
            text = (
                "From the first half of the repetitions to the second rates drift by more than"
                f" chance: {_named(drifting, _halves)}. Intervals of such means may be too narrow."
            )
            findings.append(Finding(text, level="warn"))
        odd = [one for one in reported.figures if one.two_modes or (one.outliers or 0) > 0]
        if odd:
            what = "More than one level" if any(one.two_modes for one in odd) else "Outliers"
            text = (
                f"{what}: {_named(odd, _oddity)}. The mean of such rates is"
                " misleading; look at the individual repetitions."
            )
            findings.append(Finding(text, level="warn"))
    return findings
