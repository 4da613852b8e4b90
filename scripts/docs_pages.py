# SPDX-License-Identifier: BSD-3-Clause
"""Hook of mkdocs: pages that mkdocs.yml does not name get their place in the menu by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Pages of docs/benchmarks, docs/campaigns and docs/definitions under words of their own, all
    others under "Reference", by name."""
    root = Path(config["docs_dir"])
    named = {page for entry in config["nav"] for page in entry.values()}
    found = sorted(str(page.relative_to(root)) for page in root.rglob("*.md"))
    others = [page for page in found if page not in named]
    groups = {
        "Shipped campaigns": [page for page in others if page.startswith("campaigns/")],
        "Benchmarks": [page for page in others if page.startswith("benchmarks/")],
        "Definitions": [page for page in others if page.startswith("definitions/")],
        "Reference": [
            page
            for page in others
            if not page.startswith(("benchmarks/", "campaigns/", "definitions/"))
        ],
    }
    config["nav"] += [{title: pages} for title, pages in groups.items() if pages]
    return config
