# SPDX-License-Identifier: BSD-3-Clause
"""`make docs`: the documentation as a site that needs no network."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from engines import ROOT

pytest.importorskip("mkdocs", reason="mkdocs is not installed (scripts/venv)")


def test_the_site_is_whole_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    # mkdocs.yml makes a link that leads nowhere, in a page or to a page, an error.
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    source = ROOT / "docs"
    for page in source.rglob("*.md"):
        html = (tmp_path / "site" / page.relative_to(source)).with_suffix(".html").read_text()
        loaded = re.findall(r"<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=\"([^\"]*)\"", html)
        assert [address for address in loaded if re.match(r"(https?:)?//", address)] == []
        # Every page can be reached from every other by the menu.
        for other in source.rglob("*.md"):
            assert f"{other.stem}.html" in html
