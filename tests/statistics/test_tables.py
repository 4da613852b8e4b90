# SPDX-License-Identifier: BSD-3-Clause
"""docs/statistics.md shows the current measurements, and its goals are met."""

from __future__ import annotations

import re

import pytest

import noise_tables
from effio.judge.repetitions import RELIABLE_FROM

# Equal seeds give equal numbers, except with another numpy. For 300 cases: 3 deviations.
_TOLERANCE = 9.0
# 5 % of 1,000 pairs of equal systems, plus three deviations.
_MOST_ALARMS = 7.1


@pytest.mark.parametrize("name", noise_tables.TABLES)
def test_the_page_has_what_is_measured(name: str) -> None:
    heads, made = noise_tables.TABLES[name]
    rows, shown = made(), noise_tables.rows_on_page(noise_tables.PAGE.read_text(), name)
    assert [row[0] for row in shown] == [row[0] for row in rows]
    for now, then in zip(rows, shown, strict=True):
        assert len(then) == len(heads)
        for a, b in zip(now[1:], then[1:], strict=True):
            for x, y in zip(a.split(", "), b.split(", "), strict=True):
                if "–" not in (x, y):
                    assert float(x) == pytest.approx(float(y), abs=_TOLERANCE), now[0]


def _numbers(name: str, column: int) -> dict[str, list[float | None]]:
    page = noise_tables.PAGE.read_text()
    return {
        row[0].partition(":")[0]: [
            None if x == "–" else float(x) for x in re.split(", ", row[column])
        ]
        for row in noise_tables.rows_on_page(page, name)
    }


def test_the_goals_that_can_be_met_are() -> None:
    """93 % of the intervals called reliable are right, or nine of ten that miss are called odd,
    with the exceptions that the page explains."""
    explained = {"rare", "nights", "AR 0.3"}
    place = 1 + noise_tables.COUNTS.index(RELIABLE_FROM)
    intervals, reliable = _numbers("intervals", place), _numbers("reliable", 1)
    for kind, (_, holds) in reliable.items():
        found = intervals[kind][2]
        fine = holds is None or holds >= 93 or (found is not None and found >= 90)
        assert fine or kind in explained, kind
    for column in range(1, 1 + len(noise_tables.NIGHTS)):
        for kind, (alarms,) in _numbers("comparisons", column).items():
            assert alarms is not None
            assert alarms <= _MOST_ALARMS, kind
    # One night in 100, plus three deviations of 1,000; rare events make nights skewed, and are
    # reported.
    for column in range(1, 1 + len(noise_tables.BASELINES)):
        for kind, (alarms,) in _numbers("baselines", column).items():
            assert alarms is not None
            assert alarms <= (4.5 if kind == "rare" else 2.0), kind
    # What ends early holds the mean, or rarely ends; with 30 repetitions hardly ever.
    for kind, (ended, holds, _) in _numbers("until-ci", 1).items():
        fine = holds is None or holds >= 90 or kind in ("rare", "regimes", "nights")
        assert fine, (kind, ended)
    for kind in ("bimodal", "regimes"):
        (ended, _, _) = _numbers("until-ci", 2)[kind]
        assert ended is not None
        assert ended <= 12, kind
    # The risk of accept for independent repetitions: 5 % of 300, plus three deviations.
    for column in range(1, 1 + len(noise_tables.RULED)):
        for kind in ("independent", "heavy-tailed"):
            (wrong,) = _numbers("rulings", column)[kind]
            assert wrong is not None
            assert wrong <= 9, kind
