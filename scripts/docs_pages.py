# SPDX-License-Identifier: BSD-3-Clause
"""Hooks of mkdocs: pages that mkdocs.yml does not name get their place in the menu by themselves,
and the search works for pages that are opened as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_SEARCH = Path(__file__).resolve().parent / "docs_search.js"


def _pages(entries: list[Any]) -> set[str]:
    """All pages of a part of the menu."""
    found: set[str] = set()
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found |= _pages(value) if isinstance(value, list) else {value}
    return found


def on_config(config: Any) -> Any:
    """Pages of docs/benchmarks, docs/campaigns and docs/definitions under their own words, all
    others under "Reference", by name."""
    root = Path(config["docs_dir"])
    found = sorted(str(page.relative_to(root)) for page in root.rglob("*.md"))
    others = [page for page in found if page not in _pages(config["nav"])]

    def below(folder: str) -> list[str]:
        return [page for page in others if page.startswith(f"{folder}/")]

    rest = [page for page in others if "/" not in page]
    config["nav"] += [
        {"Benchmarks": below("benchmarks")},
        {
            "Reference": [
                *rest,
                {"Shipped campaigns": below("campaigns")},
                {"Definitions": below("definitions")},
            ]
        },
    ]
    return config


# As dark as the system, before anything is drawn; the theme's own script needs its highlighter.
_SCHEME = """<script>
      (dark => {
          const page = document.documentElement;
          const follow = () => page.dataset.bsTheme = dark.matches ? "dark" : "light";
          dark.addEventListener("change", follow);
          follow();
      })(matchMedia("(prefers-color-scheme: dark)"));
    </script>"""


def on_post_page(output: str, **_: Any) -> str:
    return output.replace("<head>", f"<head>\n    {_SCHEME}", 1)


def on_post_build(config: Any) -> None:
    """After mkdocs' own search: its index as a script, and a search that reads it as such."""
    folder = Path(config["site_dir"]) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"window.searchIndex = {index};\n", encoding="utf-8")
    (folder / "main.js").write_text(_SEARCH.read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "worker.js").unlink()
