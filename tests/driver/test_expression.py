# SPDX-License-Identifier: BSD-3-Clause
"""Expressions and templates of campaign files."""

from __future__ import annotations

import pytest

from effio.campaign.expression import ExpressionError, Known, parse, spelled, template

NAMES: dict[str, Known] = {"transfer": "4MiB", "ranks": 4, "m": "coll", "tags": ("x", "y")}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("transfer * 16", 64 << 20),
        ("transfer >= 1MiB and m == 'coll'", True),
        ("1.5KiB", 1536),
        ("2 * 1.5min", 180.0),
        ("'x' in tags and 'z' not in tags", True),
        ("ranks in [1, 4]", True),
        ("1 < ranks < 4", False),
        ("multiple(10MiB / 3, 1MiB)", 3 << 20),
        ("multiple(1, 4KiB)", 4096),
        ("max(ranks, 2) if not m == 'x' else 1 / 0", 4),
        ("-ranks ** 2 % 7", 5),
        ("'1MiB' == 1024 * 1KiB", True),
    ],
)
def test_expressions(text: str, value: object) -> None:
    assert parse(text).value(NAMES) == value


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("__import__('os').system('x')", "only functions by name"),
        ("open('x')", "no function 'open'"),
        ("m.upper()", "only functions by name"),
        ("m.x", "not allowed"),
        ("[r for r in tags]", "not allowed"),
        ("lambda: 1", "not allowed"),
        ("ranks := 3", "is not an expression"),
        ("f'{ranks}'", "not allowed"),
        ("9 ** 9 ** 9", "exponent beyond 64"),
        ("2 ** 63 * 2", "beyond 2^63"),
        ("1e999", "beyond 2^63"),
        ("m * 1000000000", "is not a number"),
        ("transfre", "did you mean 'transfer'?"),
        ("1 / 0", "division by zero"),
        ("(" * 5000, "longer than 1000"),
        ("(" * 900, "is not an expression"),
        ("", "is not an expression"),
    ],
)
def test_nothing_else_is_an_expression(text: str, fault: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse(text).value(NAMES)
    assert fault in str(error.value)


def test_texts_with_braces() -> None:
    assert template("stripe {ranks * 2}, {{plain}} {m}").text(NAMES) == "stripe 8, {plain} coll"
    assert template("{0.1 * 3}s").text({}) == "0.3s"
    with pytest.raises(ExpressionError, match="without its partner"):
        template("a{b")
    assert [spelled(v) for v in (True, 2.0, 0.1 + 0.2, 10**15)] == [
        "true", "2", "0.3", "1000000000000000",
    ]  # fmt: skip
    assert template("{ranks, 'x', 0.5}").text(NAMES) == "4,x,0.5"
