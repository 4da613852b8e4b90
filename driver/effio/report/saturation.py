# SPDX-License-Identifier: BSD-3-Clause
"""Report of saturation: how many processes are enough, then the rate over their number."""

from __future__ import annotations

from effio.report.common import certainty
from effio.report.common.counts import claimed
from effio.report.common.names import context_of
from effio.report.model import Headline
from effio.report.parts import known, value_of
from effio.report.study import StudyReporter, cells_of, enough_findings
from effio.report.study.rates import coordinates, operation_of, place_of, varying
from effio.store.reader import Result
from effio.store.records import Figure


def _most(result: Result) -> Figure | None:
    """The answer of the curve that takes the most processes."""
    sure = [f for f in known(result, "enough_ranks") if certainty.is_known(f)]
    return max(sure, key=value_of, default=None)


_NAME = "processes that saturate the storage"


class SaturationReporter(StudyReporter):
    # The answer first.
    finders = (
        enough_findings,
        *(find for find in StudyReporter.finders if find is not enough_findings),
    )

    def headline(self, result: Result) -> Headline:
        own = result.figure("saturation")
        if own is not None and own.metric.unit == "1" and own.metric.value is None:
            # A curve does not say how many are enough, so the study does not.
            return Headline(_NAME, None, "1", missing=own.metric.reason, anchor="study-rates")
        most = _most(result)
        if most is None or most.metric.value is None:
            return super().headline(result)
        access = (most.where.get("pattern"), most.where.get("access"))
        where = [
            operation_of(most),
            place_of(most, varying(result.figures_named("enough_ranks"), coordinates(result))),
            context_of(result),
        ]
        headline = Headline(
            _NAME,
            round(most.metric.value),
            "1",
            ", ".join(filter(None, where)),
            anchor="study-rates",
        )
        return claimed(headline, result, cells_of(result, most, {access}))


REPORTER = SaturationReporter()
