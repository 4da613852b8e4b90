# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the page as a browser lays them out, wide and narrow: nothing is cut, numbers stand
with their units, words are whole, and what a row is about stays in sight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from driver import made
from driver.corpus import CORPUS
from driver.pages import wait_for
from driver.test_accept import mdtest
from effio.judge.accept import accept
from effio.judge.rules import load_rules
from effio.report.acceptance import acceptance_section
from effio.report.build import report_of
from effio.report.html import render
from effio.report.model import Cell, Column, Figure, Headline, Link, Report, Section, Table
from effio.store.reader import read_result
from patience import patient

WIDTHS = [1280, 400]
# Words up to this length are never broken; a path or a hint's name may be.
WHOLE = 16

# Of each cell: its text, the longest of its whole words that is on two lines, how many lines it
# has, how tall it is, and whether it is wider than its place.
CELLS = """
whole => [...document.querySelectorAll('.table-block table')].map(table => {
  const lines = range => new Set([...range.getClientRects()].map(r => Math.round(r.top))).size;
  const cells = row => [...row.cells].map(cell => {
    const range = document.createRange(), texts = [];
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let at = 0; walker.nextNode(); at += walker.currentNode.length)
      texts.push([at, walker.currentNode]);
    const place = (at, end) => {
      const [from, node] = texts.findLast(([from]) => from < at + (end ? 0 : 1));
      return [node, at - from];
    };
    let broken = '';
    for (const match of cell.textContent.matchAll(/\\S+/g)) {
      range.setStart(...place(match.index, false));
      range.setEnd(...place(match.index + match[0].length, true));
      if (match[0].length <= whole && lines(range) > 1) broken = match[0];
    }
    range.selectNodeContents(cell);
    return {text: cell.textContent, broken, lines: lines(range), number: cell.className == 'n',
            tall: cell.getBoundingClientRect().height,
            cut: cell.offsetParent && cell.scrollWidth > cell.clientWidth + 1};
  });
  const box = table.closest('.scroll').getBoundingClientRect();
  const title = table.closest('.table-block').querySelector('.table-title');
  return {title: title.textContent, rows: [...table.rows].map(cells),
          cards: getComputedStyle(table).display == 'block', left: box.left, right: box.right};
})
"""


def _tables_of(report: Report) -> list[Table]:
    """The tables of the sections, and those that are behind the figures' buttons."""
    found = []
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table) and block.rows:
                found.append(block)
            elif isinstance(block, Figure):
                found.append(replace(block.as_table(), title=block.title))
    return found


def _open(browser: Browser, tables: list[Table], path: Path) -> Page:
    section = Section("tables", "Tables", tables)
    report = Report("r", "made", Headline("made", None, "1"), [], [section])
    path.write_text(render([report], ["made"]))
    page = patient(browser.new_page())
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    return page


def _assert_readable(page: Page, tables: list[Table], width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    seen: list[dict[str, Any]] = page.evaluate(CELLS, WHOLE)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert [t["title"] for t in seen] == [t.title for t in tables]
    for table, shown in zip(tables, seen, strict=True):
        where = f"{table.title}, {width} px"
        # What is wider than the window is moved inside its card.
        assert shown["left"] >= 0, where
        assert shown["right"] <= width, where
        reported = [[c.title for c in table.columns]]
        reported += [
            [c.show(cell) for c, cell in zip(table.columns, row, strict=True)] for row in table.rows
        ]
        assert [[cell["text"] for cell in row] for row in shown["rows"]] == reported, where
        # Where each row is a card, the heads of the columns are not seen.
        rows = shown["rows"][1:] if shown["cards"] else shown["rows"]
        for cell in (cell for row in rows for cell in row):
            # No text is squeezed, neither in sight nor beyond the edge, where it makes a row tall.
            assert cell["lines"] <= max(2, len(cell["text"]) / 12), (where, cell)
            assert shown["cards"] or cell["tall"] <= 115, (where, cell)
            assert not cell["broken"], (where, cell)
            assert not cell["cut"], (where, cell)
            # A number and its unit, and a column's title and its unit, are one.
            assert cell["lines"] <= 1 or not cell["number"], (where, cell)


# One partition of b-eff-io has nothing that two have not.
@pytest.mark.parametrize("benchmark", [name for name in CORPUS if name != "b-eff-io"])
def test_tables_can_be_read(benchmark: str, browser: Browser, tmp_path: Path) -> None:
    result = read_result(made.write(tmp_path / "result.jsonl", list(CORPUS[benchmark]())))
    tables = _tables_of(report_of("made", result))
    assert len(tables) >= 3
    page = _open(browser, tables, tmp_path / "page.html")
    for width in WIDTHS:
        _assert_readable(page, tables, width)
    page.close()


def _wide() -> Table:
    rates = [Column(f"rate {i}", "B/s", extra=i == 0) for i in range(14)]
    columns = [Column("library"), *rates, Column("why")]
    reason = "the cap on bytes cut it short; /scratch/" + "a" * 80
    rows: list[list[Cell]] = [
        [f"hdf5 + cb-{i}", *(1.25e9 * (i + 1) for _ in range(14)), reason] for i in range(3)
    ]
    return Table(columns, rows, "Wide")


@pytest.mark.parametrize("width", WIDTHS)
def test_a_table_that_is_too_wide_keeps_its_first_column_in_sight(
    width: int, browser: Browser, tmp_path: Path
) -> None:
    tables = [_wide()]
    page = _open(browser, tables, tmp_path / "page.html")
    _assert_readable(page, tables, width)
    card = page.locator(".table-block .scroll")
    note = page.locator(".table-block .beyond")
    assert note.inner_text() == "scroll the table: more columns →"
    key = page.locator(".table-block tbody tr:nth-child(2) td:first-child")
    before = key.bounding_box()
    card.evaluate("e => { e.scrollLeft = e.scrollWidth; }")
    assert card.evaluate("e => e.scrollLeft") > 0
    wait_for(page, "document.querySelector('.beyond').textContent === ''")
    after = key.bounding_box()
    assert before is not None
    assert after is not None
    assert after["x"] == pytest.approx(before["x"], abs=1)
    # It covers what moves below it, and leaves room for that.
    assert after["width"] < width / 2
    top = "document.elementFromPoint"
    middle = (after["x"] + after["width"] / 2, after["y"] + after["height"] / 2)
    assert page.evaluate(f"{top}({middle[0]}, {middle[1]}).textContent") == "hdf5 + cb-1"
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("title", ["Wide", "", "Acceptance of the input and output of a system"])
def test_the_button_of_a_table_covers_no_title(
    title: str, width: int, browser: Browser, tmp_path: Path
) -> None:
    page = _open(browser, [replace(_wide(), title=title)], tmp_path / "page.html")
    page.set_viewport_size({"width": width, "height": 900})
    boxes = [
        page.locator(f".table-block {part}").bounding_box()
        for part in (".table-title", "button.all", "button.csv", "thead")
    ]
    heading, more, button, head = [box for box in boxes if box is not None]
    assert button["y"] + button["height"] <= head["y"]
    # A title of any length ends before the first button or is above it.
    end = heading["x"] + heading["width"]
    assert end <= more["x"] or heading["y"] + heading["height"] <= more["y"]
    page.close()


def test_a_table_that_is_too_long_says_so(browser: Browser, tmp_path: Path) -> None:
    rows: list[list[Cell]] = [[f"row {i}", "± 38.3 % (95 %)"] for i in range(60)]
    table = Table([Column("name"), Column("spread")], rows, "Long", "About all of them. " * 9)
    page = _open(browser, [table], tmp_path / "page.html")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator(".table-block .beyond").inner_text() == "scroll the table: more rows ↓"
        # The caption is below what scrolls, and as wide as the card.
        caption, card = (
            page.locator(".caption").bounding_box(),
            page.locator(".scroll").bounding_box(),
        )
        assert caption is not None
        assert card is not None
        assert caption["y"] >= card["y"] + card["height"]
        assert caption["x"] + caption["width"] <= card["x"] + card["width"] + 1
        cell = page.locator("td.whole").first.bounding_box()
        assert cell is not None
        assert cell["height"] < 40
    page.locator(".scroll").evaluate("e => { e.scrollTop = e.scrollHeight; }")
    wait_for(page, "document.querySelector('.beyond').textContent === ''")
    page.close()


# For each row of a matrix of rules: its height, and the name, text, box and colors of each cell
# with a text.
RULES = """() => [...document.querySelectorAll('.narrow-cards tbody tr')].map(row => ({
  tall: row.getBoundingClientRect().height,
  cells: [...row.cells].filter(c => c.textContent && c.offsetParent).map(c => {
    const r = c.getBoundingClientRect(), style = getComputedStyle(c);
    return {name: c.dataset.label, text: c.textContent, left: r.left, right: r.right,
            colors: style.color + ' ' + style.backgroundColor};
  })}))"""


@pytest.mark.parametrize("width", [1280, 390])
def test_all_of_a_rule_is_in_sight(width: int, browser: Browser, tmp_path: Path) -> None:
    rates = {"create": [3e4] * 20, "stat": [1e3] * 20, "remove": [5e4] * 20}
    runs = [mdtest(tmp_path, rates, True, 0)]
    found = accept(load_rules("blue-waters"), runs)
    assert len(found.outcomes) == 21
    target = tmp_path / "accept.html"
    target.write_text(render([], ["made"], head=acceptance_section(found, [])))
    page = patient(browser.new_page(viewport={"width": width, "height": 900}))
    page.goto(target.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    rows = page.evaluate(RULES)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
    assert len(rows) == 21
    colors = {}
    for outcome, row in zip(found.outcomes, rows, strict=True):
        cells = {cell["name"]: cell for cell in row["cells"]}
        for name in ("rule", "ruling", "asked", "measured", "reason"):
            assert 0 <= cells[name]["left"] < cells[name]["right"] <= width, (outcome.rule.id, name)
        assert cells["rule"]["text"] == outcome.rule.id
        assert cells["reason"]["text"].startswith(outcome.reason or ("20 values", "1 run"))
        if sum(len(cell["text"]) for cell in row["cells"]) < 85:
            assert row["tall"] <= 62, (outcome.rule.id, row)
        colors[outcome.ruling] = cells["ruling"]["text"][0] + cells["ruling"]["colors"]
    # They differ by a sign and by color, not only by the word.
    assert {mark[0] for mark in colors.values()} == {"✓", "✗", "?"}
    assert len(set(colors.values())) == 3
    assert len({mark[1:] for mark in colors.values()}) == 3


class Counted(list[list[Cell]]):
    """Rows that count how often all of them are read."""

    reads = 0

    def __iter__(self) -> Iterator[list[Cell]]:
        Counted.reads += 1
        return super().__iter__()


@pytest.mark.parametrize("count", [2, 200])
def test_rows_are_not_read_again_for_each_cell(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the time of a page grows with the square of its rows."""
    monkeypatch.setattr(Counted, "reads", 0)
    columns = [Column("name"), Column("value", "1"), Column("note")]
    rows = Counted([[f"row {i}", i, "a sentence " * 8] for i in range(count)])
    page = render([], ["made"], head=Section("own", "Own", [Table(columns, rows, "Rows")]))
    assert page.count("<td") == 3 * count
    assert Counted.reads <= 10


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        (Column("a"), "short", "short"),
        (Column("a"), "x" * 20, "short"),
        (Column("a"), "x" * 21, "phrase"),
        (Column("a"), "x" * 60, "phrase"),
        (Column("a"), "x" * 61, "sentence"),
        (Column("a", "B/s"), 3.5, "n"),
        (Column("a", extra=True), "✗ fail", "extra bad short"),
        (Column("rule"), "✓ met", "good plain short"),
        (Column("a"), "≈ close", "open short"),
        (Column("a"), "± 38.3 % (95 %)", "whole short"),
        (Column("a"), None, ""),
    ],
)
def test_the_class_of_a_cell_follows_from_its_column_and_text(
    column: Column, cell: Cell, expected: str
) -> None:
    table = Table([column, Column("b"), Column("c")], [[cell, "", ""]], "Cells")
    page = render([], ["made"], head=Section("own", "Own", [table]))
    first = page[page.index("<tbody>") :].split("<td", 2)[1].split(">")[0]
    assert first.split(" data-")[0] == (f' class="{expected}"' if expected else "")


def test_signs_of_html_in_a_table_stay_text() -> None:
    sign = '<b a="1">&'
    titled = Column(f"{sign}title")
    rows: list[list[Cell]] = [
        [Link(f"{sign}link", f"{sign}to"), sign, sign],
        [f"{sign}=first", sign, sign],
    ]
    for columns in ([titled, Column("b"), Column("c")], [titled, Column("b")]):
        table = Table(columns, [row[: len(columns)] for row in rows], "Cells", narrow_cards=True)
        page = render([], ["made"], head=Section("own", "Own", [table]))
        body = page[page.index("<tbody>") : page.index("</tbody>")]
        assert "<b" not in body
        assert 'href="&lt;b a=&#34;1&#34;&gt;&amp;to"' in body
        assert 'data-label="&lt;b a=&#34;1&#34;&gt;&amp;title"' in body
