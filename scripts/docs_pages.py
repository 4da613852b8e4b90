# SPDX-License-Identifier: BSD-3-Clause
"""Hook of mkdocs: pages that mkdocs.yml does not name get their place in the menu by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Pages of docs/benchmarks under "Benchmarks", all others under "Reference", by name."""
    root = Path(config["docs_dir"])
    named = {page for entry in config["nav"] for page in entry.values()}
    found = sorted(str(page.relative_to(root)) for page in root.rglob("*.md"))
    others = [page for page in found if page not in named]
    groups = {
        "Benchmarks": [page for page in others if page.startswith("benchmarks/")],
        "Reference": [page for page in others if not page.startswith("benchmarks/")],
    }
    config["nav"] += [{title: pages} for title, pages in groups.items() if pages]
    return config
