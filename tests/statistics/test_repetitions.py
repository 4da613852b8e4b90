# SPDX-License-Identifier: BSD-3-Clause
"""Statements about repetitions, for values whose results can be computed manually."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from effio.judge import Interval, detection, remarks, repetitions, statistics
from effio.judge.repetitions import Grade, Oddity, Statement, statement
from noise_kinds import KINDS

QUIET = (1.0, 1.02, 0.99, 1.01, 0.98, 1.005, 0.995, 1.015, 0.985, 1.0)


def reported(*values: float) -> Statement:
    found = statement(values)
    assert found is not None
    return found


def test_below_five_there_is_a_range_and_no_interval() -> None:
    few = reported(1.0e9, 1.2e9, 1.1e9, 1.3e9)
    assert (few.grade, few.interval, few.remarks) == (Grade.RANGE, None, ())
    assert few.spread("B/s") == "1.000 GB/s to 1.300 GB/s (range of 4)"
    assert reported(1.0).spread("B/s") == ""
    five = reported(1.0, 1.02, 0.98, 1.01, 0.99)
    # Deviation sqrt(0.001 / 4) = 0.0158; t for four degrees of freedom is 2.776: 2.776 * 0.0158 /
    # sqrt 5.
    assert five.half == pytest.approx(0.01963, rel=1e-3)
    assert (five.grade, five.spread("B/s")) == (Grade.UNCHECKED, "± 1.96 % (95 %)")
    assert not five.reliable
    assert statement([]) is None


def test_stored_numbers_have_the_interval_of_the_engine() -> None:
    """tests/engine/core/rounds_test.cpp compares the engine with the same file."""
    cases = json.loads((Path(__file__).parent.parent / "intervals.json").read_text())
    for case in cases:
        found = reported(*case["values"])
        assert found.half == (
            None if case["half_width"] is None else pytest.approx(case["half_width"], rel=1e-9)
        ), case["name"]
        assert found.worth == pytest.approx(case["worth"]), case["name"]


def test_the_median_has_an_interval_of_order_statistics() -> None:
    assert reported(1, 2, 3, 4, 5).of_median is None  # 2 / 2^5 = 6.25 %
    assert reported(3, 1, 2, 6, 5, 4).of_median == Interval(1, 6)  # 2 / 2^6 = 3.1 %
    # Binomial of 10: P(X <= 1) = 11 / 1024; twice is 2.1 %, with the next 10.9 %.
    assert reported(*range(10)).of_median == Interval(1, 8)


@pytest.mark.parametrize(
    ("values", "oddity", "text"),
    [
        ([2.0, 1.01, 2.02, 1.98, 1.0, 2.01, 1.99, 0.99, 2.03, 1.97], Oddity.MODES,
         "two modes, 30 % of 10 at 0.5 times the others"),
        ([*QUIET[:4], 5.0, *QUIET[4:]], Oddity.OUTLIERS, "1 of 11 is far off: 5 times the others"),
        ([0.6, 0.61, *QUIET], Oddity.START, "the first 2 are 0.61 times the others"),
        ([0.6, *QUIET], Oddity.START, "the first is 0.6 times the others"),
        ([*QUIET, *(1.3 * v for v in QUIET)], Oddity.LEVEL,
         "the level changes after 10 of 20 to 1.3 times what it was"),
        ([100.0, 97, 98, 95, 94, 93, 90, 91, 88], Oddity.DRIFT,
         "the values fall by 9 % from first to last"),
    ],
)  # fmt: skip
def test_what_is_odd_is_said_with_what_to_do(
    values: list[float], oddity: Oddity, text: str
) -> None:
    found = reported(*values)
    assert [(remark.oddity, remark.what) for remark in found.remarks] == [(oddity, text)]
    assert found.grade is Grade.ODD
    assert found.text == f"{text}: {oddity.advice}"


def test_correlation_of_neighbors_widens_the_interval() -> None:
    # Each value is half of the one before it plus noise: the correlation is 0.5.
    chance = np.random.default_rng(4).normal(0, 0.05, 400)
    wave = [0.0]
    for one in chance:
        wave.append(0.5 * wave[-1] + float(one))
    found = reported(*(1 + v for v in wave[-400:]))
    assert found.is_odd
    # 400 (1 - 0.5) / (1 + 0.5) = 133, and the interval is wider by the root of 3; the estimate of
    # the correlation varies by 0.043.
    assert found.worth == pytest.approx(133, abs=25)
    assert found.half == pytest.approx(1.97 * 0.0577 / math.sqrt(133), rel=0.15)
    few = reported(1.0, 1.01, 1.03, 1.02, 1.0, 0.98, 0.97, 0.99, 1.0, 1.01, 1.02, 1.0)
    assert [r.oddity for r in few.remarks] == [Oddity.CORRELATED]


def test_nothing_is_odd_about_quiet_or_equal_values() -> None:
    assert reported(*QUIET).remarks == ()
    equal = reported(*[7.0] * 80)
    assert (equal.remarks, equal.half, equal.grade) == ((), 0.0, Grade.RELIABLE)
    # A drift of less than 1 % is not reported.
    assert reported(*(1.0 + 0.001 * i for i in range(8))).remarks == ()


def test_a_rate_is_total_amount_over_total_time() -> None:
    found = repetitions.rate_statement([10.0] * 5, [1.0, 1, 1, 1, 2])
    assert found is not None
    assert found.value == pytest.approx(50 / 6)  # the mean of the rates is 9
    # Residuals 10 - 50/6 s over the mean time of 1.2: 1.389 four times, -5.556: deviation 3.106.
    assert found.half == pytest.approx(2.7764 * 3.1056 / math.sqrt(5), rel=1e-3)
    assert repetitions.rate_statement([1.0], [0.0]) is None


def test_exact_values_of_the_detectors() -> None:
    # Five sorted values: two of 120 orders.
    assert float(detection.trend(np.array([1.0, 2, 3, 4, 5]))) == pytest.approx(2 / 120)
    # One pair exchanged: 5 of 120 orders have at most one inversion, for either direction.
    assert float(detection.trend(np.array([1.0, 2, 3, 5, 4]))) == pytest.approx(10 / 120)
    # More than 40 by the normal distribution: as many pairs rise as fall.
    there_and_back = np.concatenate([np.arange(25.0), np.arange(25.0)[::-1]])
    assert float(detection.trend(there_and_back)) == 1.0
    values = np.array([1.0, 3, 2, 5, 4, 7])
    assert float(detection.error_of_mean(values, np.array(1.0))) == pytest.approx(
        values.std(ddof=1) / math.sqrt(6)
    )
    # Circular sums of two less 7.333: -3.33, -2.33, -0.33, 1.67, 3.67, 0.67. Their mean square is
    # 33.3 / 6; over blocks of 2 and 6 - 2.
    assert float(detection.error_of_mean(values, np.array(2.0))) == pytest.approx(
        math.sqrt(33.333 / 6 / 2 / 4), rel=1e-3
    )


def test_kendalls_score_of_many_values_is_exact() -> None:
    """4000 values, sorted: 2000 of their 7,998,000 pairs are equal."""
    pairs_up = detection.kendall_score
    rising = np.arange(4000.0) // 2
    assert float(pairs_up(rising)) == 7_996_000
    assert float(pairs_up(-rising)) == -7_996_000
    # Each value of the first half is above each of the second: 2000 x 2000 pairs fall.
    assert float(pairs_up(np.roll(np.arange(4000.0), 2000))) == 7_998_000 - 2 * 4_000_000
    assert float(pairs_up(np.ones(4000))) == 0
    # One row of a table is counted pair by pair.
    for values in (np.sin(np.arange(777.0)), np.arange(777.0) % 10):
        assert float(pairs_up(values)) == float(pairs_up(values[None])[0])


def test_the_whole_and_the_fast_way_find_the_same() -> None:
    for kind in KINDS:
        values = kind.made(np.random.default_rng(7), 60, 12)
        whole = [bool(remarks.oddities(sample.tolist())) for sample in values]
        assert whole == remarks.odd(values).tolist(), kind.name


_DETECTORS: dict[str, tuple[Callable[[detection.Floats], detection.Flags], float]] = {
    "modes": (lambda v: detection.modes(v).found, 0.01),
    "levels": (lambda v: detection.level_change(v).found, 0.01),
    "outliers": (lambda v: np.asarray(detection.outliers(v).any(-1)), 0.01),
    "drifts": (detection.drifts, 0.02),
    "correlated": (detection.correlated, 0.05),
}


@pytest.mark.parametrize("name", _DETECTORS)
def test_false_alarms_are_as_rare_as_said(name: str) -> None:
    found, level = _DETECTORS[name]
    for count in (5, 9, 17, 50):
        values = np.random.default_rng(count).normal(1.0, 0.05, (4000, count))
        # Three standard deviations for 4,000 cases.
        most = level + 3 * math.sqrt(level / 4000)
        assert float(found(values).mean()) <= most, count


def test_statements_need_two_repetitions_and_intervals_that_are_apart() -> None:
    low, high = Interval(1.0, 2.0), Interval(2.1, 3.0)
    assert repetitions.are_apart(low, high)
    assert not repetitions.are_apart(low, Interval(1.9, 3.0))
    assert not repetitions.are_apart(None, high)
    assert repetitions.is_known(low, 2)
    assert not repetitions.is_known(low, 1)
    assert not repetitions.is_known(None, 5)


def test_runs_of_one_night_alone_would_alarm() -> None:
    """Why a verdict of compare needs nights: five runs against five, of one night each."""
    chance = np.random.default_rng(43)
    alarms = 0
    for _ in range(500):
        sides = [np.exp(chance.normal(0, 0.05, 5) + chance.normal(0, 0.05)).tolist() for _ in "ab"]
        found = statistics.ratio(*sides)
        assert found is not None
        alarms += found.p < statistics.SIGNIFICANCE
    assert alarms > 0.25 * 500


def test_the_block_length_is_that_of_politis_and_white() -> None:
    """Eight values five times in a row: the paper's formula (circular bootstrap, corrected 2009) by
    plain sums."""
    values = [0.0, 0.0, 1.0, 1.0, 0.5, 0.2, 0.9, 0.4] * 5
    n = len(values)
    away = [v - sum(values) / n for v in values]
    cov = [sum(away[i] * away[i + k] for i in range(n - k)) / n for k in range(n)]
    near = 5  # the largest of 5 and the root of log10 n
    most = math.ceil(math.sqrt(n)) + near
    bound = 2 * math.sqrt(math.log10(n) / n)
    quiet = [abs(cov[k] / cov[0]) < bound for k in range(1, most + 1)]
    width = next((m for m in range(most) if all(quiet[m : m + near])), most)
    window = [min(1.0, max(0.0, 2 * (1 - k / (2 * width)))) for k in range(1, most + 1)]
    slope = 2 * sum(w * k * c for k, (w, c) in enumerate(zip(window, cov[1:], strict=False), 1))
    density = cov[0] + 2 * sum(w * c for w, c in zip(window, cov[1:], strict=False))
    assert width > 0
    assert density > 0
    length = math.ceil((1.5 * (slope / density) ** 2 * n) ** (1 / 3))
    assert 1 < length < n // 3
    assert detection.block_length(np.array(values)) == length
