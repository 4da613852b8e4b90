# SPDX-License-Identifier: BSD-3-Clause
"""The report in a browser that has no network: drawn, quiet, switchable, and deaf to what foreign
text may say."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page

from driver import made
from driver.pages import wait_for
from effio.report import static
from effio.report.build import load, report_of, write_report
from effio.report.html import render
from effio.report.model import Axis, Figure, Headline, Panel, Report, Section, Series
from patience import patient

WIDE = {"width": 1280, "height": 900}
PAGE = Path(static.__file__).parent / "page"


@dataclass
class Seen:
    """A page and whatever it complained of or asked the network for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def refuse(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def assert_quiet(self) -> None:
        assert self.complaints == []
        assert all(url.startswith(("file://", "blob:")) for url in self.requests), self.requests


Open = Callable[..., Seen]


@pytest.fixture
def show(browser: Browser) -> Iterator[Open]:
    """Opens a page file; afterwards it must have been quiet, whatever the test did with it."""
    opened: list[Seen] = []

    def do(path: Path, width: int = 1280, scheme: str = "light") -> Seen:
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,  # type: ignore[arg-type]
            offline=True,
            accept_downloads=True,
        )
        seen = Seen(patient(context.new_page()))
        opened.append(seen)
        page = seen.page
        page.on("console", lambda m: seen.complaints.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: seen.complaints.append(str(e)))
        page.on("dialog", seen.refuse)
        page.on("request", lambda r: seen.requests.append(r.url))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn]", state="attached")
        return seen

    yield do
    for seen in opened:
        seen.assert_quiet()
        seen.page.context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    result = made.write(folder / "result.jsonl", made.two_partitions())
    return write_report([result], folder / "report.html")


def _layout(page: Page, figure: str, expression: str) -> object:
    return page.evaluate(f"document.querySelector('#{figure} .plot')._fullLayout{expression}")


def test_every_figure_is_drawn(show: Open, report: Path) -> None:
    page = show(report).page
    figures = page.locator("figure.figure")
    names = [figures.nth(i).get_attribute("id") for i in range(figures.count())]
    assert names == ["r1-classic", "r1-scaling", "r1-time", "r1-call-times", "r1-roofline"]
    for name in names:
        marks = page.locator(f"#{name} .plot svg .trace")
        assert marks.count() > 0, name


def test_the_first_screen_says_what_counts(show: Open, report: Path) -> None:
    page = show(report).page
    hero = page.locator(".hero")
    box = hero.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 900
    text = hero.inner_text().replace(chr(0xA0), " ")
    for sentence in (
        "300.0 MB/s",
        "Not valid for comparison of systems.",
        "scheduled for at least 30 min (this run: 0.2 min) (not reached)",
        "100 % of the bytes read came out of memory.",
    ):
        assert sentence in text
    # Every sentence leads to what shows it.
    links = hero.locator("a")
    assert links.count() >= 5
    for i in range(links.count()):
        target = links.nth(i).get_attribute("href")
        assert page.locator(f"{target}").count() == 1, target


def test_the_classic_page_has_three_and_five_panels_on_one_axis(show: Open, report: Path) -> None:
    page = show(report).page
    titles = page.evaluate(
        "document.querySelector('#r1-classic .plot').layout.annotations.map(a => a.text)"
    )
    panels = [re.sub("</?b>", "", t) for t in titles if t.startswith("<b>")]
    assert panels == [*made.RATES, *made.TYPES]
    ranges = [
        tuple(
            page.evaluate(f"document.querySelector('#r1-classic .plot')._fullLayout.{axis}.range")
        )
        for axis in ("yaxis", *(f"yaxis{i}" for i in range(2, 9)))
    ]
    assert len(set(ranges)) == 1
    low, high = ranges[0]  # decimal logarithms: 5·10⁶·0.5 to 400·10⁶·8
    assert low < 6.4
    assert high > 9.5
    # Pairs are together, the largest alone (as in the original's figures).
    xs = page.evaluate("document.querySelector('#r1-classic .plot').data[0].x")
    assert xs == [1, 2, 4, 5, 7, 8, 10]
    ys = page.evaluate("document.querySelector('#r1-classic .plot').data[0].y")
    assert ys == [20e6 * f for f in made.BY_POSITION]
    labels = page.evaluate("document.querySelector('#r1-classic .plot')._fullLayout.xaxis.ticktext")
    assert labels == ["1 KiB", "+8 B", "32 KiB", "+8 B", "1 MiB", "+8 B", "2 MiB"]


def test_log_and_linear(show: Open, report: Path) -> None:
    page = show(report).page
    figure = page.locator("#r1-classic")
    assert _layout(page, "r1-classic", ".yaxis.type") == "log"
    figure.get_by_role("button", name="linear").click()
    assert _layout(page, "r1-classic", ".yaxis5.type") == "linear"
    figure.get_by_role("button", name="log", exact=True).click()
    assert _layout(page, "r1-classic", ".yaxis.type") == "log"


def test_partitions_can_be_chosen(show: Open, report: Path) -> None:
    page = show(report).page
    page.locator("#r1-classic select.variant").select_option(label="4 ranks")
    ys = page.evaluate("document.querySelector('#r1-classic .plot').data[0].y")
    assert ys == [10e6 * f for f in made.BY_POSITION]


def test_table_view_and_csv(show: Open, report: Path) -> None:
    page = show(report).page
    figure = page.locator("#r1-classic")
    plot, table = figure.locator(".plot"), figure.locator("table")
    assert plot.is_visible()
    assert not table.is_visible()
    figure.get_by_role("button", name="Table").click()
    assert not plot.is_visible()
    assert table.is_visible()
    first = table.locator("tbody tr").first.inner_text()
    assert first.split("\t")[:4] == ["2", "write", "scatter", "1 KiB"]
    assert "20.00" in first
    with page.expect_download() as download:
        figure.get_by_role("button", name="CSV").click()
    assert download.value.suggested_filename == "r1-classic.csv"
    rows = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert len(rows) == 2 * 77
    assert float(rows[0]["bandwidth [B/s]"]) == 20e6
    assert rows[0]["chunk on disk [B]"] == "1024"
    figure.get_by_role("button", name="Figure").click()
    assert plot.is_visible()


def test_hovering_shows_the_values(show: Open, report: Path) -> None:
    page = show(report).page
    point = page.locator("#r1-classic .plot .scatterlayer .trace .point").first
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    label = page.locator("#r1-classic .hoverlayer .hovertext").first
    label.wait_for()
    text = label.text_content() or ""
    assert "write" in text
    assert "20.00 MB/s" in text
    assert "1 KiB chunks" in text


def test_a_curve_can_be_hidden(show: Open, report: Path) -> None:
    page = show(report).page
    entry = page.locator("#r1-classic .legend button", has_text="scatter").first
    entry.click()
    hidden = page.evaluate(
        "document.querySelector('#r1-classic .plot').data"
        ".filter(t => t.name === 'scatter').map(t => t.visible)"
    )
    assert hidden == [False] * 3
    again = page.locator("#r1-classic .legend button", has_text="scatter").first
    assert again.get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark(scheme: str, show: Open, report: Path) -> None:
    page = show(report, scheme=scheme).page
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    wait_for(page, f"document.documentElement.dataset.theme !== '{scheme}'")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    ground = _layout(page, "r1-classic", ".paper_bgcolor")
    assert ground == ("#1a212b" if scheme == "light" else "#ffffff")


def test_it_prints_without_switches_and_on_white(show: Open, report: Path) -> None:
    page = show(report, scheme="dark").page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    wait_for(page, "document.documentElement.dataset.theme === 'light'")
    assert not page.locator(".bar").is_visible()
    assert page.locator(".tools").filter(visible=True).count() == 0
    assert page.pdf()[:5] == b"%PDF-"


def test_a_figure_fits_on_a_sheet(show: Open, report: Path) -> None:
    """A4, landscape, within its margins: what is higher would be broken at an axis."""
    page = show(report).page
    before = _layout(page, "r1-classic", ".height")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 1039, "height": 710})
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    wait_for(page, f"document.querySelector('#r1-classic .plot')._fullLayout.height < {before}")
    for figure in page.locator("figure.figure").all():
        box = figure.bounding_box()
        assert box is not None
        assert box["height"] <= 710, figure.get_attribute("id")
        assert figure.evaluate("e => getComputedStyle(e).breakInside") == "avoid"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    wait_for(page, f"document.querySelector('#r1-classic .plot')._fullLayout.height === {before}")


@pytest.mark.parametrize("width", [1280, 400])
def test_a_number_that_is_not_valid_is_not_the_largest_thing(
    width: int, show: Open, report: Path
) -> None:
    page = show(report, width=width).page
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    largest = page.locator(".value")
    assert largest.inner_text() == "Not valid"
    number = page.locator(".hero .aside")
    assert number.inner_text() == "300.0 MB/s"
    assert number.evaluate(size) < largest.evaluate(size) / 2
    assert page.locator(".counts").inner_text() == "writes until on storage; reads from memory"


@pytest.mark.parametrize("width", [390, 800, 1920])
def test_no_window_is_too_narrow(width: int, show: Open, report: Path) -> None:
    page = show(report, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_foreign_text_stays_text(show: Open, tmp_path: Path) -> None:
    text = " ".join(made.HOSTILE)
    folder = tmp_path / "<img src=x onerror=window.hacked=9>"
    result = made.write(folder / "result.jsonl", made.hostile(text), foreign=True)
    target = tmp_path / "report.html"
    write_report([result, result], target)
    page = show(target).page
    page.mouse.move(300, 300)
    for button in page.locator("button.view").all():
        button.click()
    assert page.evaluate("window.hacked") is None
    # Two scripts, the data, and nothing that came with the result.
    assert page.locator("script").count() == 3
    assert page.locator("img, iframe, object, embed, link, form").count() == 0
    attributes = "[...document.querySelectorAll('body *')].flatMap(e => [...e.attributes])"
    assert page.evaluate(f"{attributes}.filter(a => a.name.startsWith('on')).length") == 0
    # It is shown as it is.
    shown = page.evaluate("document.body.textContent")
    for part in made.HOSTILE:
        assert part in shown


def test_a_script_that_came_in_would_not_run(show: Open, report: Path, tmp_path: Path) -> None:
    """The second wall: even unescaped, nothing but the page's own scripts may run."""
    spoiled = tmp_path / "spoiled.html"
    text = report.read_text().replace(
        "<footer>", "<footer><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
    )
    spoiled.write_text(text)
    seen = show(spoiled)
    assert seen.page.evaluate("window.hacked") is None
    refused = [c for c in seen.complaints if "Content Security Policy" in c]
    assert refused
    seen.complaints.clear()


# Without a browser -------------------------------------------------------------------------------


def test_the_page_is_one_file_and_names_no_other(report: Path) -> None:
    text = report.read_text()
    ours = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert re.findall(r"""(?:src|href)=["'](?!#)[^"']*""", ours) == []
    assert "@import" not in ours
    assert re.findall(r"url\(", ours) == []
    assert "default-src 'none'" in ours


def _luminance(colour: str) -> float:
    """Relative luminance, WCAG 2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_curves_stand_out_from_their_ground_and_differ_in_shape() -> None:
    script = (PAGE / "traces.js").read_text()
    style = (PAGE / "style.css").read_text()
    grounds = re.findall(r"--card: (#\w{6})", style)
    for theme, ground in zip(("light", "dark"), grounds, strict=True):
        found = re.search(rf"{theme}: \[(.*?)\]", script)
        assert found is not None
        colours = re.findall(r"#\w{6}", found[1])
        assert len(set(colours)) == 8
        for colour in colours:
            a, b = sorted((_luminance(colour), _luminance(ground)))
            # 3:1 is what WCAG 2 asks of graphics.
            assert (b + 0.05) / (a + 0.05) >= 3, (theme, colour)
        if theme == "light":
            assert tuple(colours) == static._COLOURS  # print looks like the page
    symbols = re.search(r"const symbols = \[(.*?)\]", script)
    assert symbols is not None
    assert len(set(symbols[1].split(","))) == 8


def _every_kind() -> Report:
    """One figure of each kind that a reporter may use."""
    ranks = [f"rank {i}" for i in range(4)]
    moments = [f"{s} s" for s in range(6)]
    values = [[None if r == s else 1e6 * (r + 1) * (s + 1) for s in range(6)] for r in range(4)]
    heat = Figure(
        "heat", "Rate of each rank over time", "Dark is slow.", "heatmap", Axis("time"),
        Axis("rank", "B/s"),
        {
            "": [
                Panel("write", [], moments, ranks, values),
                Panel("read", [], moments, ranks, [[v and 10 * v for v in row] for row in values]),
            ]
        },
        columns=2,
    )  # fmt: skip
    names = ["x", "y"]
    bars = Figure(
        "bars", "Methods", "Taller is better.", "bars", Axis("method"), Axis("bandwidth", "B/s"),
        {"": [Panel("", [Series("a", names, [1e9, None]), Series("b", names, [2e9, 3e9], 1)])]},
        columns=1,
    )  # fmt: skip
    seconds = [float(s) for s in range(60)]
    course = Figure(
        "course", "Rate over time", "One point a second.", "curves", Axis("time", "s"),
        Axis("rate", "B/s", log=True, switch=True),
        {"": [Panel("", [Series("write", seconds, [1e8 + 1e6 * s for s in seconds], 10)])]},
        columns=1,
    )  # fmt: skip
    section = Section("kinds", "Every kind", [heat, bars, course])
    return Report("made", "made", Headline("made", 1e9, "B/s"), [], [section])


def test_every_kind_of_figure_is_drawn(show: Open, tmp_path: Path) -> None:
    target = tmp_path / "kinds.html"
    target.write_text(render([_every_kind()], [f"runs/{i}" for i in range(70)]))
    page = show(target).page
    # Seventy names would fill a page.
    assert "from runs/0, runs/1, runs/2 and 67 more. The" in page.locator("footer").inner_text()
    assert page.locator("#r1-heat .plot .heatmaplayer image").count() == 2
    scales = page.evaluate(
        "document.querySelector('#r1-heat .plot').data.map(t => [t.zmin, t.zmax])"
    )
    # The least is rank 0 after a second, the most rank 3 after five, reading: one scale for both.
    assert scales == [[2e6, 240e6]] * 2
    tallest = "Math.max(...document.querySelector('#r1-bars .plot').data.flatMap(t => t.y))"
    assert page.evaluate(tallest) == 3e9
    assert page.locator("#r1-course .plot .scatterlayer .point").count() == 60
    labels = page.locator("#r1-heat .plot .yaxislayer-above .ytick").all_text_contents()
    assert sorted(filter(None, labels)) == ["rank 0", "rank 1", "rank 2", "rank 3"]
    for name in ("heat", "bars", "course"):
        page.locator(f"#r1-{name}").get_by_role("button", name="Table").click()
    cells = page.locator("#r1-heat table tbody tr").nth(1).locator("td").all_text_contents()
    assert cells == ["write", "rank 0", "1 s", "2.000 MB/s"]
    page.locator("#theme").click()


def test_a_single_figure_is_the_requested_variant(tmp_path: Path) -> None:
    report = report_of(*load(made.write(tmp_path / "result.jsonl", made.two_partitions())))
    whole = next(f for f in report.figures() if f.id == "classic")
    assert list(whole.variants) == ["2 ranks", "4 ranks"]
    figure = static.find_figure(report, static.Choice("classic", "4 ranks", linear=True))
    assert figure.variants == {"4 ranks": whole.variants["4 ranks"]}
    assert figure.title == f"{whole.title}: 4 ranks"
    assert (whole.y.log, figure.y.log) == (True, False)
    default = static.find_figure(report, static.Choice("classic"))
    assert list(default.variants) == ["2 ranks"]
    assert default.y.log
