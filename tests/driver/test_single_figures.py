# SPDX-License-Identifier: BSD-3-Clause
"""Figures for papers are complete: all texts of a figure are inside the picture. Tested for every
kind of figure, with the SVG in a browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from driver.test_figures import FIGURES, NAMES, SIZES
from effio.report import static
from effio.report.model import Axis, Figure, Headline, Panel, Report, Section, Series
from patience import patient

LONG = "random read with a name that is much longer than names of curves usually are, by far"

# Texts are paths, with the text itself in comments. Returns the box of each, and whether it slants.
TEXTS = """() => {
  const box = (e) => { const r = e.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; };
  const svg = document.querySelector('svg');
  const texts = [...svg.querySelectorAll('g[id^=text_]')].map((g) => {
    const said = [];
    const walk = document.createTreeWalker(g, NodeFilter.SHOW_COMMENT);
    while (walk.nextNode()) said.push(walk.currentNode.data.trim());
    return { text: said.join(' '), box: box(g), slants: /rotate\\(-(?!0|90)/.test(g.innerHTML) };
  });
  return { texts, all: box(svg) };
}"""  # noqa: E501


def _series(count: int, first: int = 0) -> list[Series]:
    return [
        Series(f"curve number {i}", SIZES[:4], [1e6 * (i + 1)] * 4, i, [2e6 * (i + 1)] * 4)
        for i in range(first, first + count)
    ]


def _grid(names: Sequence[str]) -> Figure:
    shades: list[float | None] = [0.5 + 0.01 * i for i in range(len(names))]
    values = [shades] * (len(names) - 1) + [[*shades[:-1], None]]
    return Figure(
        "heat", "Slow-down", "", "heatmap", Axis("next to"), Axis("group"),
        {"": [Panel("read", [], names, names, values)]}, columns=1,
    )  # fmt: skip


SIZE, RATE = Axis("transfer size", "B", log=True), Axis("rate", "B/s", log=True)
PANELS = [Panel("write", _series(3)), Panel("read", _series(4, 2)), Panel("both", _series(2, 5))]
MORE = [
    *FIGURES,
    # Each panel has its own curves.
    Figure("panels", "Rate over the transfer size", "", "curves", SIZE, RATE, {"": PANELS}),
    Figure(
        "bands",
        "The page",
        "",
        "curves",
        SIZE,
        RATE,
        {"": PANELS},
        bands=[("By access", 1), ("By pattern type", 2)],
    ),
    Figure(
        "many",
        "A title that is longer than a line of a picture this wide has room for: reads of"
        " records at random places of a file that all ranks share",
        "",
        "curves",
        SIZE,
        RATE,
        {"": [Panel("", [*_series(18), Series(LONG, SIZES[:4], [5e6] * 4, form="limit")])]},
        columns=1,
    ),
    Figure(
        "radar",
        "Gain",
        "",
        "radar",
        Axis("library"),
        Axis("gain"),
        {"": [Panel("", [Series("write", NAMES, [1.0] * 6), Series("read", NAMES, [2.0] * 6, 1)])]},
        columns=1,
    ),
    _grid(NAMES),
    _grid(["a", "b"]),
]


def _texts(browser: Browser, figure: Figure, target: Path) -> Mapping[str, Any]:
    report = Report(
        "20260101T000000Z-a-run", "io-bench", Headline("made", 1e9, "B/s"), [],
        [Section("s", "S", [figure])], "2048 ranks on 64 nodes · lustre on /dev/somewhere · MPI 5",
    )  # fmt: skip
    static.write_figure_of(report, static.Choice(figure.id), "svg", target)
    page = patient(browser.new_page(viewport={"width": 1600, "height": 1600}))
    page.set_content(target.read_text())
    found: Mapping[str, Any] = page.evaluate(TEXTS)
    page.close()
    return found


def _letters(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("figure", MORE, ids=[f"{f.id}-{f.kind}" for f in MORE])
def test_everything_is_inside_the_picture(figure: Figure, browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    found = _texts(browser, figure, tmp_path / "figure.svg")
    left, top, right, bottom = found["all"]
    for one in found["texts"]:
        x0, y0, x1, y1 = one["box"]
        assert left <= x0, one
        assert top <= y0, one
        assert x1 <= right, one
        assert y1 <= bottom, one
    level = [one for one in found["texts"] if not one["slants"]]
    for a, b in combinations(level, 2):
        apart = (
            a["box"][2] <= b["box"][0]
            or b["box"][2] <= a["box"][0]
            or a["box"][3] <= b["box"][1]
            or b["box"][3] <= a["box"][1]
        )
        assert apart, (a, b)
    said = [_letters(one["text"]) for one in found["texts"]]
    panels = figure.variants[""]
    names = {s.name for p in panels for s in p.series}
    if len(names) > 1 or figure.kind == "stacked":
        for name in names:
            assert _letters(name) in said, (name, said)
    wanted = [*(p.title for p in panels), *(title for title, _ in figure.bands)]
    for text in wanted:
        assert _letters(text) in said or not text
    if figure.kind == "heatmap":
        assert {"0.5", "0.51"} & set(said)  # of the color bar
    heading = next(text for text in said if _letters(figure.title) in text)
    # What was measured on which system, not the id of the run.
    assert "io-bench·2048rankson64nodes" in heading
    assert not any("20260101T000000Z" in text for text in said)


def test_equal_figures_are_equal_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for kind in ("svg", "png", "pdf"):
        for name in ("a", "b"):
            static.draw(FIGURES[0], tmp_path / f"{name}.{kind}", kind, "")
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
