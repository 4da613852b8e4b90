# SPDX-License-Identifier: BSD-3-Clause
"""A page stays small: the library that draws is compressed in it, once, and left out where nothing
is drawn; of a large result it has what can be looked at, and says what it put together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from driver import made
from driver.corpus import CORPUS
from effio.report import html
from effio.report.bounds import Limits, bounded_block
from effio.report.build import report_of, write_report
from effio.report.model import (
    Axis,
    Column,
    Figure,
    Headline,
    Panel,
    Report,
    Section,
    Series,
    Table,
    made_late,
)
from effio.report.plotly_part import part_of
from effio.store.reader import read_result
from patience import MILLISECONDS, patient

# Size limit of a page.
MOST = 850_000


@pytest.mark.parametrize("benchmark", CORPUS)
def test_a_page_is_small(benchmark: str, tmp_path: Path) -> None:
    result = made.write(tmp_path / "result.jsonl", list(CORPUS[benchmark]()))
    page = write_report([result], tmp_path / "report.html")
    assert page.stat().st_size < MOST
    assert "MIT license" in html.drawing_script()[:300]


@pytest.mark.parametrize("part", ["cut here", "whole"])
def test_without_npm_the_needed_part_is_cut_out_of_the_library(
    part: str, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is small, and draws what it draws with the whole library."""
    monkeypatch.setattr(html, "_PARTS", ())
    if part == "whole":
        monkeypatch.setattr(html, "part_of", lambda script: None)
    html._plotly.cache_clear()
    result = made.write(tmp_path / "result.jsonl", made.b_eff_io())
    page_file = write_report([result], tmp_path / "report.html")
    html._plotly.cache_clear()
    size = page_file.stat().st_size
    assert html.has_part() is (part == "cut here")
    assert size < 700_000 if part == "cut here" else size > MOST
    page = patient(browser.new_page(viewport={"width": 1280, "height": 900}))
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(page_file.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached", timeout=MILLISECONDS)
    drawn = page.evaluate(
        "[...document.querySelectorAll('.plot')].map(p => [p._fullLayout.height,"
        " p.querySelectorAll('.point, .lines').length, p.textContent])"
    )
    assert len(drawn) >= 4
    # Hovering, zooming and the other scale need parts that drawing does not.
    plot = page.locator("#r1-classic .plot")
    plot.scroll_into_view_if_needed()
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 90, steps=4)
    page.mouse.up()
    page.locator("#r1-classic").get_by_role("button", name="linear").click()
    page.locator("#theme").click()
    page.wait_for_timeout(300)
    page.close()
    assert not faults
    known = tmp_path.parent / "drawn.json"
    if known.exists():
        assert json.loads(known.read_text()) == drawn
    known.write_text(json.dumps(drawn))


def test_another_library_is_not_cut() -> None:
    assert part_of("var Plotly={};") is None


def test_a_run_that_could_not_begin_has_nothing_to_draw(tmp_path: Path) -> None:
    failed = made.write(tmp_path / "failed.jsonl", [made.run_line(), made.end("io_error", 3, "no")])
    page = write_report([failed], tmp_path / "failed.html")
    assert page.stat().st_size < 60_000
    assert 'id="plotly"' not in page.read_text()


def test_a_browser_without_decompression_shows_the_same(browser: Browser, tmp_path: Path) -> None:
    result = made.write(tmp_path / "result.jsonl", made.b_eff_io())
    page_file = write_report([result], tmp_path / "report.html")
    found = []
    for script in ("", "delete globalThis.DecompressionStream"):
        page = patient(browser.new_page())
        page.add_init_script(script)
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-drawn]", state="attached", timeout=MILLISECONDS)
        page.locator("#r1-classic button.view").click()
        drawn = "document.querySelector('#r1-roofline .plot').data.map(t => [t.name, t.x, t.y])"
        numbers = page.locator("#r1-classic .as-table tbody tr")
        found.append((page.evaluate(drawn), numbers.count(), numbers.first.inner_text()))
        page.close()
    assert found[0] == found[1]
    assert found[0][1] > 50


def _curve(count: int, style: int = 0) -> Series:
    return Series(
        f"c{style}", [float(i) for i in range(count)], [float(i % 10) for i in range(count)], style
    )


def _figure(series: list[Series]) -> Figure:
    return Figure("f", "F", "A caption.", "curves", Axis("x"), Axis("y"), {"": [Panel("", series)]})


def test_what_is_put_together_is_said() -> None:
    limits = Limits(rows=10, points=30, curves=4)
    table = Table([Column("n", "1")], [[i] for i in range(25)], "T", "A caption.")
    short = bounded_block(table, limits)
    assert isinstance(short, Table)
    assert [row[0] for row in short.rows] == list(range(10))
    assert short.caption == (
        "A caption. These are the first 10 of 25 rows; effio export writes all."
    )
    # 100 points become 10 of ten neighbors each: 0 to 9, so the median is 4.5, the most 9.
    thin = bounded_block(_figure([_curve(100)]), limits)
    assert isinstance(thin, Figure)
    series = thin.variants[""][0].series[0]
    assert list(series.y) == [4.5] * 10
    assert list(series.high) == [9.0] * 10
    assert list(series.x) == [4.5 + 10 * i for i in range(10)]
    assert "each shown is the median of up to 10 neighbors" in thin.caption
    # Nine curves are too many for four: their envelope is shown.
    many = bounded_block(_figure([_curve(5, style) for style in range(9)]), limits)
    assert isinstance(many, Figure)
    names = [s.name for s in many.variants[""][0].series]
    assert names == ["median", "least", "largest"]
    assert "(here 9)" in many.caption
    same = bounded_block(_figure([_curve(30)]), limits)
    assert isinstance(same, Figure)
    assert same.caption == "A caption."


def _page_of(count: int, slices: int, folder: Path) -> tuple[int, Path]:
    """A result of ior with `count` measurements of that many time slices: its bytes, its page."""
    lines = [json.dumps(made.run_line(benchmark="ior"))]
    cell = made.measurement("write", "shared", 1, 1e8)
    cell["where"] = {"transfer_bytes": 1 << 20}
    cell["detail"] = {"time_series": {"slice_seconds": 0.1, "bytes": [1000] * slices}}
    for number in range(count):
        lines.append(json.dumps(cell | {"repetition": number, "seq": number + 1}))
    path = folder / f"{count}-{slices}.jsonl"
    path.write_text("\n".join([*lines, json.dumps(made.end() | {"seq": count + 1})]) + "\n")
    return path.stat().st_size, write_report([path], path.with_suffix(".html"))


def test_a_large_result_makes_a_page_below_ten_megabytes(tmp_path: Path) -> None:
    """As it was with 181 MB of ior: the page had every row and every point."""
    size, page = _page_of(6000, 30, tmp_path)
    assert size > 8_000_000
    assert page.stat().st_size < html.MAX_PAGE_BYTES
    text = page.read_text()
    assert "of 6 000 rows; effio export writes all." in text
    assert "(here 6 000)" in text
    # Rows, or slices of each, by the thousand: the page is what it was, so that it is for 181 MB.
    for more in ((3000, 30), (120, 3000)):
        _, other = _page_of(*more, tmp_path)
        assert other.stat().st_size < 1.1 * page.stat().st_size


def test_texts_of_many_are_made_when_they_are_read() -> None:
    """All texts of up to a thousand items are made; of more, those that a page shows."""
    made_of: list[int] = []

    def text(item: int) -> str:
        made_of.append(item)
        return f"text {item}"

    assert made_late(range(1000), text) == [f"text {i}" for i in range(1000)]
    assert len(made_of) == 1000
    made_of.clear()
    late = made_late(range(1001), text)
    assert (len(late), made_of) == (1001, [])
    assert (late[1000], late[2:4]) == ("text 1000", ["text 2", "text 3"])
    assert made_of == [1000, 2, 3]
    assert list(late)[:2] == ["text 0", "text 1"]


def test_a_curve_of_more_than_a_thousand_points_is_shown_whole(tmp_path: Path) -> None:
    """More than are made at once, and fewer than are put together."""
    cells = [
        made.measurement("write", "scatter", 1, 1e6) | {"repetition": i} for i in range(1, 1201)
    ]
    lines = made.b_eff_io()
    result = made.write(tmp_path / "result.jsonl", [lines[0], *cells, lines[-1]])
    report = report_of("run", read_result(result))
    (roof,) = (figure for figure in report.figures() if figure.id == "roofline")
    series = roof.variants[""][0].series[0]
    assert len(series.notes) == len(series.x) == 1200
    assert series.notes[1199] == series.notes[0] != ""
    assert write_report([result], tmp_path / "report.html").stat().st_size > 0


def test_limits_are_lowered_until_the_page_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_PAGE_BYTES", 1_000_000)
    rows = [[f"{i:05d} " + "x" * 900] for i in range(2000)]
    table = Table([Column("text")], rows, "T")
    # A thousand rows of 900 bytes and more, and as many twice, are too much; 300 are not.
    section = Section("s", "S", [table, table])
    report = Report("r", "made", Headline("made", None, "1"), [], [section])
    page = html.render([report], ["made"])
    assert "These are the first 300 of 2 000 rows" in page
    assert len(page.encode()) < html.MAX_PAGE_BYTES
