# SPDX-License-Identifier: BSD-3-Clause
"""What a browser has drawn of the figures of a page: values, whiskers and the labels of the axis of
values, read back from the page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from effio.report.html import render
from effio.report.model import Figure, Headline, Report, Section
from patience import patient

# Of each trace: name, places, values and the ends of whiskers; of stacked bars the lengths, of heat
# maps the rows, of Kiviat diagrams the values and not where they are on the screen.
_DRAWN = """id => document.querySelector(`#${id} .plot`).data.map(t => ({
  name: t.name ?? "",
  x: t.type === "heatmap" ? t.x : t.orientation === "h" ? t.y : t.x,
  y: t.customdata ?? (t.type === "heatmap" ? t.z : t.orientation === "h" ? t.x : t.y),
  high: t.error_y ? t.error_y.array.map((up, i) => t.y[i] === null ? null : t.y[i] + up) : [],
  low: t.error_y ? t.error_y.arrayminus.map((d, i) => t.y[i] === null ? null : t.y[i] - d) : [],
  open: Array.isArray(t.marker?.symbol) ? t.marker.symbol.map(s => s.endsWith("-open")) : [],
  hover: [t.hovertext ?? []].flat(2),
  colors: t.type === "heatmap" ? [t.zmin, t.zmax, t.colorbar.ticktext] : null,
}))"""
# Labels of the axis of values, or of the scale of colors, with the values that they are at.
_LABELS = """id => {
  const { data, layout } = document.querySelector(`#${id} .plot`);
  const axis = data[0].type === "heatmap" ? data[0].colorbar : layout.yaxis;
  return [axis.title?.text ?? "", axis.tickvals ?? [], axis.ticktext ?? []];
}"""
_STEPS = {"": 1.0, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

Trace = Mapping[str, Any]


class Drawn(dict[str, Sequence[Trace]]):
    """The traces of each figure by its id. `labels`: title and labels of its axis of values."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: dict[str, tuple[str, Sequence[float], Sequence[str]]] = {}

    def curve(self, figure: str, name: str, panel: int = 0) -> Trace:
        """The trace of this name, in the panel with this number among those that have it."""
        return [t for t in self[figure] if t["name"] == name][panel]

    def assert_unit(self, figure: str, unit: str) -> None:
        """Labels name the values that they are at, in this unit with its prefix."""
        title, values, texts = self.labels[figure]
        assert len(values) >= 2, (title, texts)
        for value, text in zip(values, texts, strict=True):
            if value == 0:
                assert text in ("0", f"0 {unit}")
                continue
            found = re.fullmatch(rf"(-?[\d.]+) ?([nµmkMGT]?){re.escape(unit)}", text)
            assert found, (title, text)
            scale = 0.01 if unit == "%" else _STEPS[found[2]]
            assert float(found[1]) * scale == pytest.approx(value, rel=1e-3)


def page_of(*figures: Figure) -> Report:
    return Report("m", "made", Headline("made", 1.0, "1"), [], [Section("s", "S", figures)])


def drawn(browser: Browser, folder: Path, *reports: Report) -> Drawn:
    """All figures of one page; no id may be in two of the reports."""
    target = folder / "page.html"
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text(render(reports, ["made"]))
    page = patient(browser.new_page(viewport={"width": 1280, "height": 900}))
    page.goto(target.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    figures = {f.id: f"r{i + 1}-{f.id}" for i, r in enumerate(reports) for f in r.figures()}
    found = Drawn()
    for name, identity in figures.items():
        found[name] = page.evaluate(_DRAWN, identity)
        found.labels[name] = page.evaluate(_LABELS, identity)
    page.close()
    return found
