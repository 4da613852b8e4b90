# SPDX-License-Identifier: BSD-3-Clause
"""Statistics against numbers from tables and derived manually."""

from __future__ import annotations

import math

import pytest

from effio.judge import Interval, guard, statistics


def test_summary_manually() -> None:
    reported = statistics.summary([2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0])
    assert reported is not None
    # Squares about 5: 9+1+1+1+0+0+4+16 = 32, over 7.
    assert (reported.count, reported.mean, reported.median, reported.min, reported.max) == (
        8,
        5.0,
        4.5,
        2.0,
        9.0,
    )
    assert reported.deviation == pytest.approx(math.sqrt(32 / 7))
    assert reported.cov == pytest.approx(math.sqrt(32 / 7) / 5)
    single = statistics.summary([3.0])
    assert single is not None
    assert (single.deviation, single.cov) == (None, None)
    assert statistics.summary([]) is None


@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (4, 2.776), (9, 2.262), (30, 2.042)]
)
def test_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert statistics.quantile_t(0.975, freedom) == pytest.approx(quantile, abs=5e-4)
    # Both tails: what is as far out on either side.
    assert statistics.two_sided(quantile, freedom) == pytest.approx(0.05, abs=1e-4)
    assert statistics.two_sided(-quantile, freedom) == pytest.approx(0.05, abs=1e-4)


def test_repetitions_that_decide_are_those_of_the_tables() -> None:
    # t(0.975, n - 1)/sqrt(n): 2.571/2.449 = 1.05 for six, 2.447/2.646 = 0.92 for seven.
    assert guard.needed(1.0, 1.0, 3, 0.025) == 7
    # A risk of one half asks for nothing more, and neither do values without a deviation.
    assert guard.needed(1.0, 1.0, 3, 0.5) == 3
    assert guard.needed(1.0, 0.0, 3, 0.025) == 3


def test_values_that_differ_by_any_factor_have_an_interval() -> None:
    """The end of an interval was beyond what a float holds: a traceback."""
    # The best step is its own reference.
    _, second = guard.floor([[1e-30, 1e30], [1.0]], 0.5, None, 0.05).steps
    assert second.low < 1 < 1e300 < second.high < float("inf")


def test_interval_of_a_median_by_order_statistics() -> None:
    # Binomial tables: 40 and 60 of 99; of six the extremes (2/64 outside), of five nothing (2/32).
    found = statistics.median_interval([float(v) for v in range(99, 0, -1)])
    assert found == Interval(40.0, 60.0)
    assert statistics.median_interval([3.0, 1, 2, 6, 5, 4]) == Interval(1.0, 6.0)
    assert statistics.median_interval([1.0, 2, 3, 4, 5]) is None
    assert statistics.median_interval([float(v) for v in range(1, 10)]) == Interval(2.0, 8.0)


def test_ratio_of_two_samples_manually() -> None:
    # Logarithms 0, 1, 2 and 1, 2, 3: difference 1, variances 1, error sqrt(2/3), 4 freedoms.
    first, second = ([math.exp(v) for v in some] for some in ((0, 1, 2), (1, 2, 3)))
    found = statistics.ratio(first, second)
    assert found is not None
    error = math.sqrt(2 / 3)
    assert found.value == pytest.approx(math.e)
    assert math.log(found.high) == pytest.approx(1 + 2.7764 * error, abs=1e-3)
    assert math.log(found.low) == pytest.approx(1 - 2.7764 * error, abs=1e-3)
    # Found in 95 of 100: the quantile 0.95 of four freedoms, 2.132, more.
    assert math.log(found.seen) == pytest.approx((2.7764 + 2.1318) * error, abs=1e-3)
    turned = statistics.ratio(second, first)
    assert turned is not None
    assert turned.value == pytest.approx(1 / found.value)
    assert turned.p == pytest.approx(found.p)


def test_unequal_deviations_cost_freedoms() -> None:
    # Welch: variances 1 and 0 in three values each leave two freedoms.
    found = statistics.ratio([math.exp(v) for v in (0, 1, 2)], [1.0, 1.0, 1.0])
    assert found is not None
    assert math.log(found.high) == pytest.approx(-1 + 4.3027 / math.sqrt(3), abs=1e-3)


def test_one_run_against_several() -> None:
    # Logarithms -1, 0, 1 against 3: deviation 1 of two freedoms, error sqrt(1 + 1/3).
    found = statistics.ratio([math.exp(v) for v in (-1, 0, 1)], [math.exp(3)])
    assert found is not None
    assert math.log(found.low) == pytest.approx(3 - 4.3027 * math.sqrt(4 / 3), abs=1e-3)
    assert statistics.ratio([1.0, 2.0], [1.0, 2.0]) is None
    assert statistics.ratio([1.0, 2.0, 0.0], [1.0, 2.0, 3.0]) is None


def test_pairs_take_out_what_both_have() -> None:
    first = [1.0, 10.0, 100.0, 1000.0]
    second = [v * f for v, f in zip(first, (1.1, 1.2, 1.1, 1.2), strict=True)]
    paired, apart = (statistics.ratio(first, second, paired=p) for p in (True, False))
    assert paired is not None
    assert apart is not None
    assert paired.value == pytest.approx(math.sqrt(1.1 * 1.2))
    assert paired.low > 1.05
    assert apart.low < 0.1
    assert statistics.ratio(first, second[:3], paired=True) is None


def test_without_spread_there_is_no_doubt() -> None:
    same, other = (statistics.ratio([2.0] * 3, [v] * 3) for v in (2.0, 2.2))
    assert same is not None
    assert other is not None
    assert (same.p, same.seen) == (1.0, 1.0)
    assert (other.p, other.low, other.high) == (0.0, other.value, other.value)


def test_many_tests_are_adjusted() -> None:
    # Holm's own example: 4, 3, 2 and 1 times, never falling.
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]) == [1.0, 1.0]
    assert statistics.holm([]) == []


def test_drift() -> None:
    falling = statistics.drift([100 * 0.9**i * f for i, f in enumerate((1, 1.01, 0.99, 1, 1.01))])
    assert falling is not None
    assert falling.sure
    assert falling.change == pytest.approx(0.9**4 - 1, abs=0.02)
    steady = statistics.drift([100, 102, 99, 101, 100, 98])
    assert steady is not None
    assert not steady.sure
    assert statistics.drift([1.0, 2.0, 3.0]) is None
