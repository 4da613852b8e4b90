# SPDX-License-Identifier: BSD-3-Clause
"""Each page explains its words: the glossary of the documentation is in it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from driver import made
from effio.report.build import write_report
from effio.report.html import Group, Term, glossary, groups_of
from patience import patient

GLOSSARY = Path(__file__).resolve().parents[2] / "docs" / "glossary.md"

PAGE = """# Glossary

Text, and a | table | of nothing.

## Where the bytes *were*

| term | meaning |
|---|---|
| page cache | memory of a node ([caches](reading.md#caches)) |
| `device`, `cache` | verdicts, printed as `±` |

## Empty
"""


def test_tables_below_headings_are_the_terms() -> None:
    assert groups_of(PAGE) == [
        Group(
            "Where the bytes were",
            [
                Term("page cache", "memory of a node (caches)"),
                Term("device, cache", "verdicts, printed as ±"),
            ],
        ),
        Group("Empty", []),
    ]


def test_every_term_of_the_glossary_is_there_and_plain() -> None:
    rows = [line for line in GLOSSARY.read_text().splitlines() if line.startswith("| ")]
    terms = [term for group in glossary() for term in group.terms]
    heads = sum(row.startswith("| term |") for row in rows)
    assert len(terms) == len(rows) - heads > 40
    for term in terms:
        assert not re.search(r"[\[\]|`*]|\.md", term.name + term.meaning.replace("[low, high]", ""))


@pytest.mark.parametrize("width", [1280, 390])
def test_a_reader_finds_the_terms_from_the_top(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    result = made.write(tmp_path / "result.jsonl", made.b_eff_io())
    page = patient(browser.new_page(viewport={"width": width, "height": 900}, offline=True))
    page.goto(write_report([result], tmp_path / "report.html").as_uri())
    term = page.locator("#terms dt", has_text="page cache").first
    assert not term.is_visible()
    page.locator("nav a", has_text="Terms").click()
    term.wait_for(state="visible")
    meaning = page.locator("#terms dt", has_text="page cache").first.locator("+ dd")
    assert "memory of a node" in meaning.inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
