# SPDX-License-Identifier: BSD-3-Clause
"""The user's home directory, which a container or a batch job need not have: HOME is not set, and
the user is not in the system's list."""

from __future__ import annotations

import os
from pathlib import Path

# Nothing is there and nothing can be made there; the message of the system then says why.
_NOWHERE = Path(os.devnull) / "HOME is not set"


def expanded(name: str | os.PathLike[str]) -> Path:
    """The path with `~` and `~user` replaced; they stay if there is no such directory, as in a
    shell."""
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
