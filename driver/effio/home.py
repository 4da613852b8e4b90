# SPDX-License-Identifier: BSD-3-Clause
"""The user's home directory, and the files of settings in it. In a container or batch job it can be
unknown: HOME is not set, and the user has no entry in the password database."""

from __future__ import annotations

import os
from pathlib import Path

# The site's settings, in the current directory.
SITE_HERE = Path("effio-site.toml")
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


def site_files() -> list[Path]:
    """Where the site's settings may be (config/site.py), the first first."""
    if named := os.environ.get("EFFIO_SITE"):
        return [Path(named)]
    return [SITE_HERE, of_user("XDG_CONFIG_HOME", ".config") / "effio" / "site.toml"]


def of_user(variable: str, below_home: str) -> Path:
    """The directory that this variable names, or one below the home directory."""
    if named := os.environ.get(variable):
        return expanded(named)
    try:
        return Path("~").expanduser() / below_home
    except RuntimeError:
        return _NOWHERE / below_home
