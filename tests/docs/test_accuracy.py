# SPDX-License-Identifier: BSD-3-Clause
"""docs/accuracy.md: its table is the one that the tests of accuracy write."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accuracy.truths import TRUTHS, Book, Truth, fixed_part, row, rows_of, shown, write_page
from engines import ROOT

PAGE = ROOT / "docs" / "accuracy.md"


def test_the_page_has_the_rows_of_the_tests() -> None:
    rows = rows_of(PAGE)
    assert len(rows) == len(TRUTHS)
    for line, known in zip(rows, TRUTHS, strict=True):
        assert line.startswith(fixed_part(known)), line
        bound = re.search(r"\| ([\d.]+) % \|$", line)
        assert bound is not None
        assert float(bound[1]) == pytest.approx(100 * known.bound)
        off = re.search(r"\| ([+-][\d.]+) % \|", line)
        if off is None:
            assert "skipped: " in line, "a row is a number, or says why there is none"
        else:
            assert abs(float(off[1])) <= 100 * known.bound + 0.005, line


def test_every_row_is_some_test_s() -> None:
    sources = [path.read_text() for path in (ROOT / "tests/accuracy").glob("test_*.py")]
    named = re.findall(r"pytest\.mark\.truths\(([^)]*)\)", "\n".join(sources))
    names = [name.strip('" ') for arguments in named for name in arguments.split(",")]
    assert sorted(names) == sorted(known.name for known in TRUTHS)


def test_the_table_is_written_into_its_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A\n\n<!-- truths -->\nOLD\n<!-- end of truths -->\n\nB\n")
    first, second = TRUTHS[:2]
    book = Book({first.name: first.value * 0.99}, {second.name: "no root"})
    write_page(page, book)
    text = page.read_text()
    assert text.startswith("# A\n\n<!-- truths -->\n| what is reported |")
    assert text.endswith("|\n<!-- end of truths -->\n\nB\n")
    assert "OLD" not in text
    rows = rows_of(page)
    assert len(rows) == len(TRUTHS)
    assert "| -1.00 % | 2 % |" in rows[0]
    assert "skipped: no root" in rows[1]
    assert "skipped: not run" in rows[2]
    # Tests that look for a part of it leave the rest.
    write_page(page, Book({TRUTHS[2].name: TRUTHS[2].value}))
    assert rows_of(page)[:2] == rows[:2]
    assert "| +0.00 % |" in rows_of(page)[2]


RATE = Truth("r", "what", "against", 100.0, "B/s", 0.02)
TIME = Truth("t", "what", "against", 100.0, "s", 0.05)


def test_more_than_the_truth_is_a_higher_rate_and_a_shorter_time() -> None:
    assert RATE.better(103) == pytest.approx(0.03)
    assert RATE.better(97) == pytest.approx(-0.03)
    assert TIME.better(97) == pytest.approx(0.03)
    assert TIME.better(103) == pytest.approx(-0.03)


def _judge(monkeypatch: pytest.MonkeyPatch, values: list[float], quiet: bool) -> tuple[Book, int]:
    """The book after rounds that report `values` of RATE, and how many rounds there were."""
    monkeypatch.setattr("accuracy.truths.truth", lambda _: RATE)
    monkeypatch.setattr("accuracy.truths.idle", lambda: quiet)
    book, rounds = Book(), iter(values)
    count = 0

    def measure() -> dict[str, float]:
        nonlocal count
        count += 1
        return {"r": next(rounds)}

    book.judge(["r"], measure)
    return book, count


def test_the_first_round_within_the_bound_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    book, rounds = _judge(monkeypatch, [90, 98.5, 100], quiet=True)
    assert (book.reported, rounds) == ({"r": 98.5}, 2)


@pytest.mark.parametrize("quiet", [True, False])
def test_more_than_the_truth_fails_on_any_machine(
    monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    with pytest.raises(AssertionError, match="better than the truth"):
        _judge(monkeypatch, [90, 102.5, 100], quiet)


def test_less_than_the_truth_fails_on_an_idle_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="on an idle machine"):
        _judge(monkeypatch, [90] * 2, quiet=True)


def test_less_than_the_truth_says_nothing_on_a_busy_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accuracy.truths.PATIENCE", -1.0)
    with pytest.raises(pytest.skip.Exception, match="busy with other work"):
        _judge(monkeypatch, [90], quiet=False)


def test_values_are_shown_in_the_units_of_people() -> None:
    assert shown(8388608.0, "B/s") == "8.389 MB/s"
    assert shown(0.004, "s") == "4 ms"
    assert shown(1000.0, "s") == "1000 s"
    assert shown(40.0, "op/s") == "40 /s"
    assert row(TIME, Book({"t": 101.0})).endswith("| 101 s | +1.00 % | 5 % |")
