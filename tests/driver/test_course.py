# SPDX-License-Identifier: BSD-3-Clause
"""Rates over time and from repetition to repetition; factors with their interval; members that
are not what the engine describes."""

from __future__ import annotations

import msgspec
import pytest

from driver import made
from effio.report.common.certainty import factor_of
from effio.report.common.course import course, one_way_finding
from effio.store.members import Members, members_of
from effio.store.records import Measurement


def test_slices_end_with_the_measurement() -> None:
    # mdtest's removal: 1.75 s, and a slice of zeros behind it.
    assert course([218.0, 182.0, 0.0], 1.0, 1.75) == ([0.5, 1.375], [218.0, 182.0 / 0.75])
    # A last slice of a hundredth of the others is chance.
    assert course([10.0, 10.0, 1.0], 1.0, 2.01) == ([0.5, 1.5], [10.0, 10.0])
    # All that there is, however short.
    assert course([400.0, 0.0], 1.0, 0.05) == ([0.025], [8000.0])


def test_slices_that_no_clock_could_show_apart() -> None:
    assert course([1.0, 1.0, 1.0], 1e-320, 1.0) == ([], [])
    assert course([1e308, 1.0], 1e-6, 2e-6)[1] == [None, 1e6]


def test_three_or_four_in_order_are_not_a_drift() -> None:
    """Chance puts three in order in two of six cases, four in two of 24. From five on the test of
    all repetitions says so."""
    # The rates of the first hour's mdtest.
    found = one_way_finding({"creates": [7955, 1879, 996]}, "op/s", "rates")
    assert found is not None
    assert found.level == "info"
    assert found.text == (
        "From the first repetition to the last rates went one way: creates from 7955 op/s to"
        " 996.0 op/s. Three or four in order also come by chance; more repetitions show whether"
        " they drift."
    )
    rising = {f"r{i}": [20.0, 50.0, 60.0, 100.0] for i in range(5)}
    found = one_way_finding(rising, "op/s", "rates")
    assert found is not None
    assert "from 20.00 op/s to 100.0 op/s and 3 more." in found.text
    for values in (
        [7955, 1879, 7000],
        [100, 90, 85],
        [100, 50],
        [100, 80, 90, 50],
        [100, 50, 50],
        [100, 80, 60, 40, 20],
    ):
        assert one_way_finding({"creates": values}, "op/s", "rates") is None


def test_factors_have_an_interval() -> None:
    # Logarithms ±ln 2 about 0: a factor of 1, and 95 % of a mean of six.
    found = factor_of([(2, 1), (1, 2)] * 3)
    assert found is not None
    assert found.mean == pytest.approx(1)
    assert not found.is_sure
    # s = ln 2·√(6/5), t(5) = 2.571: e^(2.571·0.7593/√6) = 2.219
    assert found.high == pytest.approx(2.219, rel=0.01)
    assert factor_of([(2, 1)] * 4) is None
    sure = factor_of([(2, 1), (2.2, 1), (1.8, 1), (2.1, 1), (1.9, 1)])
    assert sure is not None
    assert sure.is_sure


def test_members_of_another_type_than_described_are_missing() -> None:
    line = made.measurement("write", "shared", 1, 1e6, benchmark="ior")

    def of(**detail: object) -> Members:
        return members_of(msgspec.convert(line | {"detail": detail}, Measurement))

    found = of(
        rank_rate_bytes_per_second={"min": 1},
        slowest_ranks=[{"rank": 2}, 3],
        span_seconds={"open": 0.5, "close": "x"},
    )
    assert found.rank_rate_bytes_per_second.min == 1
    assert [one.rank for one in found.slowest_ranks] == [2]
    assert found.span_seconds == {"open": 0.5}

    wrong = of(
        rank_rate_bytes_per_second=[],
        slowest_ranks={"rank": 2},
        transfer_rate_bytes_per_second="3",
        ranks_on_own_node=True,
        steady={"reached": 1},
        remark=7,
        verify_seconds=-1.0,
        synced_bandwidth_bytes_per_second=True,
    )
    assert not wrong.rank_rate_bytes_per_second
    assert wrong.rank_rate_bytes_per_second.min is None
    assert wrong.slowest_ranks == []
    assert wrong.transfer_rate_bytes_per_second is None
    assert wrong.ranks_on_own_node is None
    assert wrong.steady.reached is None
    assert wrong.remark == ""
    assert wrong.verify_seconds is None
    assert wrong.synced_bandwidth_bytes_per_second is None
    assert not of().steady


def test_numbers_of_a_list_keep_their_places() -> None:
    line = made.measurement("write", "shared", 1, 1e6, benchmark="ior")
    series = {"slice_seconds": 1.0, "bytes": [1.0, "x", 3.0]}
    record = msgspec.convert(line | {"detail": {"time_series": series}}, Measurement)
    assert members_of(record).time_series.bytes == [1.0, None, 3.0]


def test_a_member_that_no_description_has_is_refused() -> None:
    record = msgspec.convert(made.measurement("write", "shared", 1, 1e6), Measurement)
    with pytest.raises(AttributeError, match="describes no member calls_per_rnak"):
        _ = members_of(record).calls_per_rnak
