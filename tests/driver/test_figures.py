# SPDX-License-Identifier: BSD-3-Clause
"""Figures can be read: every axis has labels that do not touch, at what was measured; no two series
look the same; whiskers are drawn. As data, and in a browser of a desk and of a pocket."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from effio.report import static
from effio.report.axes import label, scale_of
from effio.report.draw import figure_data, styles_of
from effio.report.html import render
from effio.report.model import Axis, Figure, Headline, Panel, Report, Section, Series
from patience import patient

MB = 1e6
SIZES = [float(2**i) for i in range(0, 21, 2)]
NAMES = [
    "hdf5 + largeblock, collective",
    "netcdf4 + none",
    "fortran-fpp",
    "pnetcdf + romio_cb_write=enable, cb_nodes=8",
    "posix",
    "mpiio + none",
]


def _curves(identity: str, ys: Sequence[float], xs: Sequence[float] = SIZES, **y: Any) -> Figure:
    series = [Series("write", xs[: len(ys)], list(ys), 10, [2 * v for v in ys])]
    return Figure(
        identity, identity, "", "curves", Axis("transfer size", "B", log=True),
        Axis("rate", "B/s", **({"log": True, "switch": True} | y)), {"": [Panel("", series)]},
        columns=1,
    )  # fmt: skip


def _bars(identity: str, kind: Any, y: Axis, values: Sequence[Sequence[float]]) -> Figure:
    series = [
        Series(f"part {i}", NAMES, list(v), i, [] if kind == "stacked" else [2 * x for x in v])
        for i, v in enumerate(values)
    ]
    return Figure(
        identity, identity, "", kind, Axis("library"), y, {"": [Panel("", series)]}, columns=1
    )


FIGURES = [
    # Within one decade: an axis that labels powers of ten only would be bare.
    _curves("narrow", [210 * MB, 250 * MB, 300 * MB, 320 * MB]),
    _curves("flat", [100 * MB] * 5),
    _curves("wide", [10.0 ** (3 + i / 2) for i in range(11)]),
    _curves("linear", [1e9, 1.5e9, 2.2e9], log=False, switch=False),
    _bars("seconds", "stacked", Axis("time", "s"), [[2.0] * 6, [1.5] * 6, [30.0] * 6]),
    _bars("shares", "stacked", Axis("share", low=0, high=1, shown="%"), [[0.25] * 6, [0.75] * 6]),
    _bars("rates", "bars", Axis("rate", "op/s", log=True, switch=True), [[150.0] * 6, [980.0] * 6]),
]


def test_limits_and_labels_manually() -> None:
    def labels(axis: Axis, values: Sequence[float], log: bool) -> list[str]:
        return [text for _, text in scale_of(axis, values, log).ticks]

    rate = Axis("rate", "B/s")
    # 100 to 900 MB/s is less than a decade.
    assert (
        labels(rate, [110e6, 890e6], True) == ["200 MB/s", "500 MB/s"]
        or len(labels(rate, [110e6, 890e6], True)) >= 3
    )
    assert labels(rate, [1e3, 1e9], True) == [
        "1 kB/s", "10 kB/s", "100 kB/s", "1 MB/s", "10 MB/s", "100 MB/s", "1 GB/s",
    ]  # fmt: skip
    assert labels(rate, [2.2e9], False) == ["0", "500 MB/s", "1 GB/s", "1.5 GB/s", "2 GB/s"]
    # Every measured size, and nothing else.
    assert labels(Axis("chunk", "B", log=True), [1024, 32768, 1048584.0], True) == [
        "1 KiB", "32 KiB", "1 MiB+8 B",
    ]  # fmt: skip
    assert labels(Axis("share", shown="%", low=0, high=1), [0.2], False) == [
        "0 %", "25 %", "50 %", "75 %", "100 %",
    ]  # fmt: skip
    assert label(Axis("time", "s"), 0.0005) == "500 µs"
    assert label(Axis("rate", "op/s"), 20000.0) == "20 k"
    # Markers at the ends of an axis with given places are inside: 4 % of its length beyond them.
    tasks = scale_of(Axis("tasks", ticks=[(1.0, "1"), (2.0, "2")]), [1.0, 2.0], False)
    assert (tasks.low, tasks.high) == pytest.approx((0.96, 2.04))
    # Whiskers and whole stacks are inside.
    data = figure_data(FIGURES[0], "narrow")
    assert data["variants"][0]["y"]["log"]["range"][1] > 640e6
    data = figure_data(FIGURES[4], "seconds")
    assert data["variants"][0]["y"]["linear"]["range"] == [0.0, 33.5 * 1.04]


@pytest.mark.parametrize("unit", ["B/s", "B", "1"])
@pytest.mark.parametrize("log", [True, False])
def test_what_no_quantity_reaches_is_beyond_the_axis(unit: str, log: bool) -> None:
    axis = Axis("a", unit, log=log)
    assert scale_of(axis, [1e-320, 1.0, 9.0, 1.7e308], log) == scale_of(axis, [1.0, 9.0], log)
    assert scale_of(axis, [1e-320, 1.7e308], log) == scale_of(axis, [0.0], log)


@pytest.mark.parametrize("unit", ["B/s", "s", "B", "op/s", "1"])
@pytest.mark.parametrize("log", [True, False])
def test_every_axis_has_labels(unit: str, log: bool) -> None:
    lows, ratios = [1e-9, 3e-4, 1.0, 17.0, 95e6], [1.0, 1.01, 1.3, 2.0, 9.0, 1e3, 1e11]
    for low, ratio in product(lows, ratios):
        scale = scale_of(Axis("a", unit, log=log), [low, low * ratio], log)
        inside = [text for at, text in scale.ticks if scale.low <= at <= scale.high]
        measured = unit == "B" and log
        assert len(inside) >= (1 if measured else 2), (low, ratio, scale)
        assert len(set(inside)) == len(inside), (low, ratio, scale)
        assert len(inside) <= 12, (low, ratio, scale)
        assert scale.low <= low, (ratio, scale)
        assert low * ratio <= scale.high, (ratio, scale)


def test_no_two_series_look_the_same() -> None:
    # As b_eff has it: nine families, of which styles 0 and 8 once had one colour.
    series = [Series(f"s{i}", SIZES, SIZES, i) for i in range(20)]
    series += [Series(f"limit {i}", SIZES, SIZES, 22, form="limit") for i in range(4)]
    figure = Figure(
        "many", "", "", "curves", Axis("x", log=True), Axis("y"), {"": [Panel("", series)]}
    )
    looks = styles_of(figure)
    curves = [looks[s.name, s.style] for s in series if s.form != "limit"]
    assert len({(k.colour, k.symbol, k.round) for k in curves}) == 20
    assert len({k.colour for k in curves[:8]}) == 8
    assert [k.colour for k in curves[:8]] == list(range(8))
    assert len({looks[s.name, s.style].round for s in series[20:]}) == 4


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("figures") / "figures.html"
    report = Report("made", "made", Headline("made", 1e9, "B/s"), [], [Section("s", "S", FIGURES)])
    target.write_text(render([report], ["made"]))
    return target


# Of each axis of a figure: the boxes of its labels and titles, and the box of the drawing.
BOXES = """id => {
  const plot = document.querySelector(`#r1-${id} .plot`);
  const box = e => {
    const r = e.getBoundingClientRect();
    return [r.left, r.top, r.right, r.bottom];
  };
  const of = s => [...plot.querySelectorAll(s)].filter(e => e.textContent.trim())
    .map(e => ({ text: e.textContent, box: box(e) }));
  return {
    x: of('.xtick text'), y: of('.ytick text'), titles: of('.g-xtitle text, .g-ytitle text'),
    all: box(plot.querySelector('svg')), area: box(plot.querySelector('.nsewdrag')),
    angle: plot._fullLayout.xaxis.tickangle,
  };
}"""


def _touch(a: Sequence[float], b: Sequence[float]) -> bool:
    slack = 1.0
    return (
        a[0] + slack < b[2] and b[0] + slack < a[2] and a[1] + slack < b[3] and b[1] + slack < a[3]
    )


def _assert_readable(found: Mapping[str, Any], name: str) -> None:
    outer = found["all"]
    for axis in ("x", "y"):
        labels = found[axis]
        assert len(labels) >= 2, (name, axis, labels)
        for one in (*labels, *found["titles"]):
            left, top, right, bottom = one["box"]
            inside = (
                left >= outer[0] - 1
                and right <= outer[2] + 1
                and top >= outer[1] - 1
                and bottom <= outer[3] + 1
            )
            assert inside, (name, axis, one, outer)
        for title in found["titles"]:
            assert not any(_touch(title["box"], one["box"]) for one in labels), (name, title)
        if axis == "x" and found["angle"]:
            # Slanting labels: their boxes overlap, the lines of text do not.
            ends = sorted(one["box"][2] for one in labels)
            assert all(b - a >= 11 for a, b in pairwise(ends)), (name, ends)
            continue
        for i, one in enumerate(labels):
            assert not any(_touch(one["box"], other["box"]) for other in labels[i + 1 :]), (
                name, axis, [o["text"] for o in labels],
            )  # fmt: skip


def _open(browser: Browser, path: Path, width: int) -> Page:
    page = patient(browser.new_page(viewport={"width": width, "height": 900}))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-drawn]", state="attached")
    return page


@pytest.mark.parametrize("width", [1280, 400])
def test_labels_can_be_read(width: int, browser: Browser, page_file: Path) -> None:
    page = _open(browser, page_file, width)
    for figure in FIGURES:
        found = page.evaluate(BOXES, figure.id)
        _assert_readable(found, figure.id)
        area = found["area"]
        # There is still a figure between them.
        assert area[2] - area[0] >= 0.45 * width, figure.id
    # Every measured size has its label, where there is room for it.
    texts = [one["text"] for one in page.evaluate(BOXES, "wide")["x"]]
    assert texts == [
        "1 B", "4 B", "16 B", "64 B", "256 B", "1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB",
        "1 MiB",
    ]  # fmt: skip
    # Seconds are seconds, and nothing is cut at one of them.
    texts = [one["text"] for one in page.evaluate(BOXES, "seconds")["x"]]
    assert "30 s" in texts
    assert not any("%" in text for text in texts)
    for name in ("wide", "rates"):
        page.locator(f"#r1-{name}").get_by_role("button", name="linear").click()
        _assert_readable(page.evaluate(BOXES, name), f"{name}, linear")
    # Whiskers that captions promise.
    assert page.locator("#r1-rates .plot .errorbar, #r1-rates .plot .yerror").count() > 0
    assert page.locator("#r1-wide .plot .yerror").count() == 11
    page.close()


def test_bars_that_do_not_count_are_hatched_and_seen(browser: Browser, tmp_path: Path) -> None:
    series = Series("value", ["a", "b"], [1e9, 2e9], faulty=[True, False])
    figure = Figure(
        "runs", "Runs", "", "bars", Axis("run"), Axis("rate", "B/s"), {"": [Panel("", [series])]}
    )
    report = Report("made", "made", Headline("made", 1e9, "B/s"), [], [Section("s", "S", [figure])])
    target = tmp_path / "runs.html"
    target.write_text(render([report], ["made"]))
    page = _open(browser, target, 1280)
    bars = page.locator("#r1-runs .plot .barlayer .point path")
    fills = [bars.nth(i).evaluate("e => getComputedStyle(e).fill") for i in range(2)]
    hatched = page.locator("#r1-runs .plot pattern rect")
    # A pattern on the bar's own colour, not on nothing.
    assert fills[0].startswith("url(")
    assert hatched.evaluate("e => getComputedStyle(e).fill") == fills[1] == "rgb(0, 103, 168)"
    page.close()


def test_buttons_stay_in_their_cards(browser: Browser, page_file: Path) -> None:
    page = _open(browser, page_file, 400)
    outside = page.evaluate("""() => [...document.querySelectorAll('button, select')].filter(e => {
      const card = e.closest('.figure, .table-block');
      if (!card || !e.offsetParent) return false;
      const a = e.getBoundingClientRect(), b = card.getBoundingClientRect();
      return a.right > b.right || a.left < b.left || a.bottom > b.bottom;
    }).map(e => e.textContent)""")
    assert outside == []
    assert page.locator(".modebar-btn").filter(visible=True).count() == 0
    page.close()


def test_papers_get_the_same_labels(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure as Canvas

    for figure in FIGURES:
        axes = Canvas().subplots()
        panel = figure.variants[""][0]
        static._draw_panel(figure, panel, axes, styles_of(figure), True)
        data = figure_data(figure, "x")["variants"][0]
        scale = data["y"]["log" if figure.y.log else "linear"]
        side, limits = (
            (axes.xaxis, axes.get_xlim())
            if figure.kind == "stacked"
            else (axes.yaxis, axes.get_ylim())
        )
        assert limits == pytest.approx(scale["range"])
        assert [t.get_text() for t in side.get_ticklabels()] == [text for _, text in scale["ticks"]]
        if figure.kind == "bars":
            assert len(axes.collections) == len(panel.series)  # whiskers
