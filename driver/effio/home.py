# SPDX-License-Identifier: BSD-3-Clause
"""The user's home directory. In a container or batch job it can be unknown: HOME is not set, and
the user has no entry in the password database."""

from __future__ import annotations

import os
from pathlib import Path

# Used if the home directory is unknown. Nothing exists below it; error messages show its name.
_NOWHERE = Path(os.devnull) / "HOME is not set"


def expanded(name: str | os.PathLike[str]) -> Path:
    """Expands `~` and `~user`. A path whose home directory is unknown is returned unchanged, as a
    shell does."""
    path = Path(name)
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def of_user(variable: str, below_home: str) -> Path:
    """The directory that this variable names, or one below the home directory."""
    if named := os.environ.get(variable):
        return expanded(named)
    try:
        return Path("~").expanduser() / below_home
    except RuntimeError:
        return _NOWHERE / below_home
