# SPDX-License-Identifier: BSD-3-Clause
"""`make docs`: the documentation as a site that needs no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from engines import ROOT
from patience import SECONDS, patient

pytest.importorskip("mkdocs", reason="mkdocs is not installed (scripts/venv)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # mkdocs.yml makes a link that leads nowhere, in a page or to a page, an error.
    target = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(site: Path) -> None:
    source = ROOT / "docs"
    for page in source.rglob("*.md"):
        html = (site / page.relative_to(source)).with_suffix(".html").read_text()
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=\"([^\"]*)\"", html)
        assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []
        # Every page can be reached from every other by the menu.
        for other in source.rglob("*.md"):
            assert f"{other.stem}.html" in html


def test_the_menu_is_one_row_of_groups(site: Path, browser: Browser) -> None:
    page = patient(browser.new_page(viewport={"width": 1280, "height": 800}))
    page.goto((site / "index.html").as_uri())
    entries = page.locator("#navbar-collapse .nav-link")
    where = "e => Math.round(e.getBoundingClientRect().top)"
    tops = [entries.nth(i).evaluate(where) for i in range(entries.count())]
    assert len(tops) >= 8
    assert max(tops) - min(tops) < 10
    page.get_by_role("button", name="Decide").click()
    page.get_by_role("link", name="Was it delivered as promised?").click()
    assert page.locator("h1").text_content() == "Accepting a system#"
    page.close()


@pytest.mark.parametrize(("scheme", "is_dark"), [("dark", True), ("light", False)])
def test_pages_are_as_dark_as_the_system(
    scheme: Literal["dark", "light"], is_dark: bool, site: Path, browser: Browser
) -> None:
    page = patient(browser.new_page(color_scheme=scheme))
    page.goto((site / "statistics.html").as_uri())
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    red, green, blue = map(int, re.findall(r"\d+", color)[:3])
    assert (red + green + blue < 3 * 128) is is_dark
    # "94, 100, 100" is one line; a line is 24 pixels high.
    lines = page.evaluate(
        """[...document.querySelectorAll('td[style*="right"]')].map(cell => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return range.getBoundingClientRect().height; })"""
    )
    assert lines
    assert max(lines) < 30
    page.close()


def test_search_works_for_pages_that_are_opened_as_files(site: Path, browser: Browser) -> None:
    page = patient(browser.new_page())
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    # From a page in a folder: addresses are relative.
    page.goto((site / "benchmarks" / "ior.html").as_uri())
    page.get_by_role("link", name="Search").click()
    # As a beginning of a word; all that is found begins with it.
    page.locator("#mkdocs-search-query").press_sequentially("stonewal")
    first = page.locator("#mkdocs-search-results a").first
    first.wait_for()
    assert "stonewall" in page.locator("#mkdocs-search-results").text_content().lower()  # type: ignore[union-attr]
    first.click()
    page.wait_for_load_state()
    assert "stonewall" in page.locator("[role=main]").text_content().lower()  # type: ignore[union-attr]
    assert wrong == []
    page.close()
