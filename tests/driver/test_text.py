# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and foreign text as people read them."""

from __future__ import annotations

import math

import pytest

from effio import text


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
    ],
)
def test_sizes_that_two_units_say_are_exact(value: int, shown: str) -> None:
    assert text.exact_size(value) == shown


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
