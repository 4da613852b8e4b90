# SPDX-License-Identifier: BSD-3-Clause
"""Report of saturation: how many processes are enough, then the rate over their number."""

from __future__ import annotations

from collections.abc import Sequence

from effio import text as fmt
from effio.report import common
from effio.report.common import certainty
from effio.report.model import Finding, Headline
from effio.report.study import StudyReporter
from effio.report.study.findings import enough_findings
from effio.report.study.rates import coordinates
from effio.store.reader import Result
from effio.store.records import Figure


def _most(result: Result) -> Figure | None:
    """The answer of the curve that takes the most processes."""
    known = [
        f
        for f in result.figures_named("enough_ranks")
        if f.metric.value is not None and certainty.is_known(f)
    ]
    return max(known, key=lambda f: f.metric.value or 0.0, default=None)


_NAME = "processes that saturate the storage"


class SaturationReporter(StudyReporter):
    def headline(self, result: Result) -> Headline:
        own = result.figure("saturation")
        if own is not None and own.metric.unit == "1" and own.metric.value is None:
            # A curve does not say how many are enough, so the study does not.
            return Headline(_NAME, None, "1", missing=own.metric.reason, anchor="study-rates")
        most = _most(result)
        if most is None or most.metric.value is None:
            return super().headline(result)
        where = " ".join(fmt.plain(most.where.get(name, ""), 40) for name in ("pattern", "access"))
        headline = Headline(
            _NAME,
            round(most.metric.value),
            "1",
            f"{where}, {common.context_of(result)}",
            anchor="study-rates",
        )
        cells = [m for m in result.measurements if m.valid and m.access == most.where.get("access")]
        return common.claimed(headline, result, cells)

    def findings(self, result: Result) -> Sequence[Finding]:
        enough = enough_findings(result, coordinates(result))
        reported = {f.text for f in enough}
        return [*enough, *(f for f in super().findings(result) if f.text not in reported)]


REPORTER = SaturationReporter()
