# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and foreign text as people read them."""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path

import pytest

from effio import text
from effio.report.model import AxisValue, Column
from effio.store.option_values import coordinate_text, option_text, settings_text


def test_sizes_to_be_typed_have_no_blank_and_are_exact() -> None:
    sizes = (1 << 20, 65536, 3 << 29, 1500, 0)
    assert [text.typed_size(n) for n in sizes] == ["1MiB", "64KiB", "1536MiB", "1500B", "0B"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (1024, "1 KiB"), (1536, "1.500 KiB"), (1 << 20, "1 MiB"), (3 << 40, "3 TiB")],
)
def test_sizes_are_binary(value: float, shown: str) -> None:
    assert text.size(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1032, "1 KiB+8 B"),
        (32776, "32 KiB+8 B"),
        (1048584, "1 MiB+8 B"),
        (2 << 20, "2 MiB"),
        (1000, "1000 B"),
        (1500, "1.465 KiB"),
        (1500 << 10, "1500 KiB"),
        (3 << 19, "1.5 MiB"),
        (5 << 28, "1.25 GiB"),
        ((5 << 30) + (476 << 10), "5.000 GiB"),  # 5,243,356 KiB
    ],
)
def test_sizes_that_two_units_say_are_exact(value: int, shown: str) -> None:
    assert text.exact_size(value) == shown


@pytest.mark.parametrize(
    ("axis", "value", "shown"),
    [
        ("transfer", "64KiB", "64 KiB"),
        ("transfer", "1024KiB", "1 MiB"),
        ("transfer_size", "1MiB+8B", "1 MiB+8 B"),  # a value of a campaign, not an option
        ("block", 65536, "64 KiB"),
        ("block", "65536", "64 KiB"),
        ("block", "2MB", "2 MB"),
        ("where.chunk_bytes", "1032", "1 KiB+8 B"),
        ("where.time", "12", "12"),  # units of places are at the end of their names
        ("where.think_seconds", "0.000123", "123 µs"),
        ("think-time", "0.000123", "123 µs"),
        ("time", 60, "60 s"),
        ("time", "30min", "30 min"),
        ("link-rate", "1GB/s", "1 GB/s"),
        ("order-seed", "3", "3"),
        ("layout", "compact", "compact"),
        ("collective", True, "True"),
    ],
)
def test_values_of_axes_have_a_blank_before_their_unit(
    axis: str, value: object, shown: str
) -> None:
    assert coordinate_text(axis, value) == shown
    cell = AxisValue(axis, value)
    assert (cell, Column(axis).show(cell)) == (str(value), shown)  # files have it as it was given


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [(1032, "B", "1 KiB+8 B"), (1.23e-4, "s", "123 µs"), (2, "s", "2 s"), ("own", "B", "own")],
)
def test_values_of_a_study_are_scaled(value: object, unit: str, shown: str) -> None:
    assert text.coordinate(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1e6, "1.000 MB/s"), (1.5e9, "1.500 GB/s"), (999, "999.0 B/s"), (0, "0 B/s")],
)
def test_rates_are_decimal(value: float, shown: str) -> None:
    assert text.rate(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0 s"),
        (4.2e-10, "0.420 ns"),
        (4.2e-7, "420 ns"),
        (3.1e-5, "31.0 µs"),
        (0.25, "250 ms"),
        (12, "12.0 s"),
        (245, "4 min 05 s"),
        (3600, "1 h 00 min"),
        (7800, "2 h 10 min"),
        (-1, "–"),
        (math.inf, "–"),
    ],
)
def test_durations(seconds: float, shown: str) -> None:
    assert text.duration(seconds) == shown


@pytest.mark.parametrize(("seconds", "shown"), [(5.6, "6 s"), (-1, "0 s"), (125, "2 min 05 s")])
def test_a_clock_shows_whole_seconds(seconds: float, shown: str) -> None:
    assert text.elapsed(seconds) == shown


def test_foreign_text_cannot_drive_a_terminal() -> None:
    hostile = "a\x1b[31mred\x1b]0;title\x07\x00\u202eb\u200b\nc\x1b]8;;http://x\x1b\\link"
    assert text.plain(hostile) == "aredb clink"
    assert text.plain("x" * 50, limit=10) == "x" * 10 + "…"
    for one in (hostile, "x" * 2001, "größer", "\udcff"):
        assert text.all_plain(["a b", one]) == ["a b", text.plain(one)]
    assert text.all_plain(["x" * 1500] * 2) == ["x" * 1500] * 2
    assert text.all_plain([]) == []


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("12.5GB/s", 12.5e9),
        ("1 GiB/s", float(1 << 30)),
        ("3B/s", 3.0),
        ("GB/s", None),
        ("1GB", None),
        ("-1GB/s", None),
        ("1e999B/s", None),
        ("nan", None),
    ],
)
def test_rates_are_read_as_the_engine_writes_them(said: str, value: float | None) -> None:
    assert text.parse_rate(said) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [(100.0, "100"), (99.96, "100"), (1234.5, "1234"), (0.35, "0.35"), (2.5, "2.5"), (0.0, "0")],
)
def test_few_digits_have_no_exponent(value: float, shown: str) -> None:
    """A share of 100 % is not 1e+02 %."""
    assert text.few_digits(value) == shown


@pytest.mark.parametrize("value", [0.0, -0.0, 1e-9, -1e-9, -0.0004])
def test_what_is_rounded_to_zero_has_no_minus_sign(value: float) -> None:
    assert text.percent(value) == "0 %"
    assert text.percent(value, 1) == "0.0 %"
    assert text.percent(value, signed=True) == "+0 %"
    assert [text.percent(part, signed=True) for part in (-0.1, 0.1)] == ["-10 %", "+10 %"]
    assert text.percent(-0.001, 1) == "-0.1 %"
    zero = value * 0
    assert [text.quantity(zero, unit) for unit in ("B", "B/s", "s")] == ["0 B", "0 B/s", "0 s"]
    assert text.size(zero) == "0 B"
    assert text.share(zero) == "0 %"


def test_percentages_with_a_sign_come_from_one_helper() -> None:
    driver = Path(text.__file__).parent
    signed = re.compile(r"\{100 \* [^{}]*:\+")
    assert [path for path in driver.rglob("*.py") if signed.search(path.read_text())] == []


def test_one_is_not_a_plural() -> None:
    assert [text.count_of(n, "rank") for n in (0, 1, 2)] == ["0 ranks", "1 rank", "2 ranks"]
    assert text.count_of(2, "process") == "2 processes"
    assert text.count_of(1, "axis", "axes") == "1 axis"
    assert text.count_of(3, "axis", "axes") == "3 axes"
    some = [text.share_of(n, 3, "runs is lost", "runs are lost") for n in (0, 1, 3)]
    assert some == ["0 of 3 runs are lost", "1 of 3 runs is lost", "3 of 3 runs are lost"]


_COUNTED = re.compile(
    r"\{[^{}]*\} (?:ranks|nodes|runs|points|processes|cores|pairs|groups|settings|jobs)\b"
)
# Modules in which the counted number cannot be 1, with the reason.
_NEVER_ONE = {
    "campaign/points.py": "more than the allowed number",
    "cli/campaign_batch.py": "only where several are left",
    "cli/kept.py": "from a thousand on",
    "judge/gather.py": "the most that are read",
    "profile/darshan_child.py": "damaged: more than there can be",
    "profile/model.py": "more than the application has",
    "report/b_eff.py": "a sample of pairs",
    "report/b_eff_io/__init__.py": "more than the best",
    "report/bounds.py": "the most that are drawn",
    "report/campaign.py": "a constant",
    "report/ior.py": "a share of phases, in which ranks were unequal",
    "report/points.py": "the most that are read",
    "report/study/__init__.py": "more than the fewest",
    "report/tuning.py": "three at least",
    "serve/app.py": "the most that are compared",
    "store/all_runs.py": "several, or it would be the one",
}


def test_numbers_and_their_nouns_come_from_one_helper() -> None:
    driver = Path(text.__file__).parent
    found = {
        path.relative_to(driver).as_posix()
        for path in driver.rglob("*.py")
        if _COUNTED.search(path.read_text())
    }
    assert found <= set(_NEVER_ONE)


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    reported = "took 14.0 s: 29 % of 1.5 GB/s, ± 3 op/s, 2 ranks, 3 sets"
    nbsp = chr(0xA0)
    kept = f"took 14.0{nbsp}s: 29{nbsp}% of 1.5{nbsp}GB/s, ±{nbsp}3{nbsp}op/s, 2 ranks, 3 sets"
    assert text.whole(reported) == kept
    for value in ("± 38.3 % (95 %)", "275.6 MB/s to 762.6 MB/s", "64 KiB", "1.02", "< 3 ms"):
        assert text.is_one_value(value), value
    for value in ("3 of 4", "the rate", "1 of 10 is far from the others", ""):
        assert not text.is_one_value(value), value


def test_names_of_options_are_not_broken_in_prose() -> None:
    reported = text.prose("use --time 60 s & <b> (--until-ci) at 2026-11-28T00:37:06Z.")
    assert str(reported) == (
        'use <span class="w">--time</span> 60\u00a0s &amp; &lt;b&gt;'
        ' (<span class="w">--until-ci</span>) at <span class="w">2026-11-28T00:37:06Z</span>.'
    )


def test_lines_of_a_value_break_between_words_and_within_long_ones_only() -> None:
    def lines(value: str) -> list[str]:
        return str(text.words(value)).split("<wbr>")

    assert lines("effio run ior --time 12 s") == ["effio ", "run ", "ior ", "--time ", "12 s"]
    assert lines("1.839 GB/s (-45.6 %)") == ["1.839 GB/s ", "(-45.6 %)"]
    assert lines("/scratch/me/effio-runs/r1") == ["/", "scratch/", "me/", "effio-", "runs/", "r1"]
    # No part is longer than the width of a phone leaves; nothing of the text gets lost.
    assert lines("x" * 50) == ["x" * 22, "x" * 22, "x" * 6]
    assert lines("a<b") == ["a&lt;b"]
    assert lines("") == [""]


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("verify-memory", 67108864, "64 MiB (67108864)"),
        ("transfer", [4096, 12], "4 KiB (4096), 12 B"),
        ("time", 1800.0, "30 min 00 s (1800 s)"),
        ("watchdog", 60.0, "60 s"),
        ("delay", 0.25, "250 ms"),
        ("plan-rate", 1e9, "1.000 GB/s"),
        ("repetitions", 3, "3"),
        ("memory", "packed", "packed"),
        ("collective", True, "on"),
        ("processes", [], "–"),
    ],
)
def test_options_have_their_units(name: str, value: object, shown: str) -> None:
    assert option_text(name, value) == shown


def test_settings_have_their_units() -> None:
    settings = {"latency": 0.001, "rank-rate": 1e8, "cache": 1 << 20, "noise": "0.05"}
    assert settings_text(settings) == (
        "latency=1.00 ms, rank-rate=100.0 MB/s, cache=1 MiB (1048576), noise=0.05"
    )


def test_settings_that_are_written_as_members_have_units_too() -> None:
    """Those of the backend null were "open_seconds=0.001, rank=None"."""
    settings = {"open_seconds": 0.001, "rate_bytes_per_second": 1e9, "sync_seconds": 0.0}
    assert settings_text({**settings, "rank": None}) == "open=1.00 ms, rate=1.000 GB/s, sync=0 s"


def test_a_setting_breaks_before_its_value() -> None:
    reported = text.breakable("ind_wr_buffer_size=65536 & <b>")
    assert str(reported) == "ind_wr_buffer_size=<wbr>65536 &amp; &lt;b&gt;"
    assert str(text.breakable("20260101T000000Z-b-eff-io")) == "20260101T000000Z-b-eff-io"


def test_names_of_figures_are_words_on_an_axis() -> None:
    assert text.heading("write_bandwidth") == "Write bandwidth"
    assert text.heading("b_eff_io") == "b_eff_io"


@pytest.mark.parametrize(
    ("value", "shown", "rate"),
    [
        (99.994, "99.99", "99.99 MB/s"),
        (99.996, "100.0", "100.0 MB/s"),
        (999.94, "999.9", "999.9 MB/s"),
        (999.96, "1000", "1.000 GB/s"),
        (0.99996, "1.000", "1.000 MB/s"),
        (-99.996, "-100.0", "-100.0 MB/s"),
    ],
)
def test_digits_and_units_are_those_of_the_rounded_number(
    value: float, shown: str, rate: str
) -> None:
    assert (text.significant(value), text.rate(value * 1e6)) == (shown, rate)
    assert text.size(1023.99 * 1024) == "1.000 MiB"


def test_the_largest_number_is_shown_although_its_rounded_value_is_none() -> None:
    assert text.significant(sys.float_info.max) == "1.798e+308"


def test_lines_end_with_a_line_feed_only() -> None:
    assert text.lines("a\u2028b\nc\x85d\r\n\x0ce\n") == ["a\u2028b", "c\x85d\r", "\x0ce"]
    assert text.lines("a\n\nb") == ["a", "", "b"]
    assert text.lines("\n") == [""]
    assert text.lines("") == []


def test_one_value_stays_on_its_line() -> None:
    shown = text.plain("a\u2028b\u2029c\nd\te\x85f\x0bg")
    assert shown == "a b c d efg"
    assert shown.splitlines() == [shown]
