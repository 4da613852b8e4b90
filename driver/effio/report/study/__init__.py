# SPDX-License-Identifier: BSD-3-Clause
"""Report of any benchmark that is a study: its headline, the rates over the axes (rates.py) and
what they show (findings.py). docs/results.md, "Studies", describes such a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.generic import headline_of
from effio.report.model import Headline
from effio.report.parts import Finder, Part, PartsReporter, known, value_of
from effio.report.study.answers import (
    cells_of,
    division_findings,
    files_table,
    pattern_table,
    throughput_table,
)
from effio.report.study.findings import (
    enough_findings,
    limit_finding,
    peak_findings,
    scaling_findings,
)
from effio.report.study.peak import peak_figure
from effio.report.study.rates import (
    access_of,
    coordinates,
    operation_of,
    place_of,
    rate_figure,
    rate_table,
    varying,
)
from effio.store.members import members_of, run_members
from effio.store.reader import Result
from effio.store.records import Figure as FigureRecord


def _rivals(result: Result, place: dict[str, Any]) -> list[FigureRecord]:
    """The mean rates of the same kind of access."""
    rates = known(result, "bandwidth")
    return [f for f in rates if f.metric.value and access_of(f) == str(place.get("access"))]


def _rate_headline(
    name: str, result: Result, place: dict[str, Any], word: str = "highest", *, first: bool = True
) -> Headline:
    """The rate at a place, as a claim about the measurements there. `word`: what it was chosen
    for. Only the first number of a headline says which ranks and file system; axes with a single
    value are in the table."""
    figure = next(
        (f for f in result.figures_named("bandwidth") if f.where == place),
        result.figure(result.benchmark.replace("-", "_")),
    )
    if figure is None:
        return Headline(name, None, "B/s", missing="the rate is not in the result")
    there = structs.replace(figure, where=place)
    axes = varying(result.figures_named("bandwidth"), coordinates(result))
    where = [operation_of(there), place_of(there, axes)]
    if first:
        where.append(common.context_of(result))
    cells = cells_of(result, there, {(place.get("pattern"), place.get("access"))})
    alone = members_of(figure).transfer_rate_bytes_per_second
    if alone is not None and figure.metric.value and alone > 1.05 * figure.metric.value:
        where.append(f"the calls alone {fmt.rate(alone)}")
    where.append(certainty.doubt_of_first(figure, _rivals(result, place), word))
    headline = Headline(
        name,
        figure.metric.value,
        figure.metric.unit,
        ", ".join(part for part in where if part),
        missing=figure.metric.reason,
        anchor="study-rates" if figure.metric.value is not None else "",
    )
    return common.claimed(headline, result, cells, figure)


class StudyReporter(PartsReporter):
    finders: Sequence[Finder[Result]] = (
        limit_finding,
        division_findings,
        peak_findings,
        scaling_findings,
        enough_findings,
    )
    parts: Sequence[Part[Result]] = (
        Part(
            "study",
            "Rates",
            (throughput_table, files_table, pattern_table, rate_figure, peak_figure, rate_table),
        ),
    )

    def headline(self, result: Result) -> Headline:
        declared = run_members(result.run, "study").headline
        if declared == "throughputs" and (stated := self._throughputs(result)) is not None:
            return stated
        figure = result.figure(result.benchmark.replace("-", "_"))
        if figure is None or not (place := members_of(figure).place):
            stated = headline_of(figure, result, common.context_of(result))
            unit = stated.unit if figure is not None else "B/s"
            return Headline(
                "highest rate", stated.value, unit, stated.context, missing=stated.missing
            )
        if declared == "strongest and weakest":
            return self._strongest_and_weakest(result, place)
        if declared == "by access":
            return self._by_access(result, place, members_of(figure).others)
        return _rate_headline("highest rate", result, place)

    def _by_access(
        self, result: Result, place: dict[str, Any], others: Sequence[dict[str, Any]]
    ) -> Headline:
        """The highest rate of the first kind of access, followed by those of the others."""
        first = _rate_headline(f"highest {fmt.plain(place.get('access', ''), 40)}", result, place)
        text, evidence = first.context, [*first.evidence]
        for other in others:
            access = fmt.plain(other.get("access", ""), 40)
            stated = _rate_headline("", result, other, first=False)
            if stated.value is None:
                continue
            text += f"; highest {access}: {stated.shown()} {stated.context}"
            text += f" ({stated.basis(', ')})" if stated.basis() else ""
        return replace(first, context=text, evidence=evidence)

    def _throughputs(self, result: Result) -> Headline | None:
        """Things per second: the first in full, the others next to it."""
        throughputs = run_members(result.run, "study").throughputs
        names = [t.name for t in throughputs]
        found = [f for name in names for f in result.figures_named(name)[:1] if f.metric.value]
        if not found:
            return None
        first, *others = found
        more = [
            f"{fmt.plain(f.name, 40).replace('_', ' ')}"
            f" {fmt.quantity(f.metric.value, f.metric.unit)}"
            for f in others
        ]
        place = [place_of(first, coordinates(result)), common.context_of(result)]
        headline = Headline(
            fmt.plain(first.name, 40).replace("_", " "),
            first.metric.value,
            first.metric.unit,
            "; ".join([", ".join(part for part in place if part), *more]),
            anchor="study",
        )
        parts = {tuple(p) for t in throughputs if t.name == first.name for p in t.passes}
        return common.claimed(headline, result, cells_of(result, first, parts), first)

    def _strongest_and_weakest(self, result: Result, place: dict[str, Any]) -> Headline:
        """The strongest and the weakest pattern, both for the access of the strongest."""
        access = fmt.plain(place.get("access", ""), 40)
        headline = _rate_headline(f"strongest pattern, {access}", result, place, "strongest")
        rates = _rivals(result, place)
        own = result.figure(result.benchmark.replace("-", "_"))
        weakest = members_of(own).weakest
        if not weakest and rates:
            weakest = min(rates, key=value_of).where
        if not weakest or weakest == place:
            return headline
        low = _rate_headline("", result, weakest, "weakest", first=False)
        text = f"; weakest: {low.shown()} {low.context}"
        return replace(
            headline,
            context=headline.context + text + (f" ({low.basis(', ')})" if low.basis() else ""),
            evidence=[*headline.evidence, *low.evidence],
        )


REPORTER = StudyReporter()
