# SPDX-License-Identifier: BSD-3-Clause
"""Files that come with effio, in its source tree or in the installed package."""

from __future__ import annotations

from pathlib import Path


def checkout() -> Path | None:
    """The source tree that contains this package, if it is one."""
    root = Path(__file__).resolve().parents[2]
    return root if (root / "engine" / "main.cpp").is_file() else None


def shipped_with_effio(path: str) -> Path:
    """A file or folder by its path in the source tree. An installed package has a copy of it."""
    return (checkout() or Path(__file__).resolve().parent) / path
