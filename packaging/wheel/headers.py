# SPDX-License-Identifier: BSD-3-Clause
"""Build hook of the wheel: puts the two header-only libraries that the engine needs next to its
sources, so that `effio engine build` needs no network, and the part of plotly.js that reports draw
with. They are never part of the repository.

They come from EFFIO_HEADERS (a prefix with include/), from .deps of this checkout, from the system,
from Debian's packages, or from pinned commits of their repositories; a wheel built without any of
these carries none, and CMake fetches them when the engine is built.

Where EFFIO_ENGINES names a directory with built engines (scripts/wheel), the wheel carries them
too, and its name says which kind of machine they run on.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Directory under include/, repository, tag, and the commit that the tag names.
LIBRARIES = (
    (
        "fmt",
        "https://github.com/fmtlib/fmt.git",
        "9.1.0",
        "a33701196adfad74917046096bf5a2aa0ab0bb50",
    ),
    (
        "nlohmann",
        "https://github.com/nlohmann/json.git",
        "v3.11.2",
        "bc889afb4c5bf1c0d8ee29ef35eaaf4c8bef8a5d",
    ),
)
TARGET = "effio/engine/sources/headers/include"
# Where effio/engine/carried.py looks for them.
ENGINES = "effio/engine/carried"
# Where effio/report/html.py looks for it.
PLOTLY = "effio/report/page/plotly-cartesian.min.js"


def _local(name: str, root: Path) -> Path | None:
    prefixes = [os.environ.get("EFFIO_HEADERS"), root / ".deps/headers/usr", "/usr", "/usr/local"]
    for prefix in prefixes:
        if prefix and (Path(prefix) / "include" / name).is_dir():
            return Path(prefix) / "include" / name
    return None


def _from_packages(root: Path) -> None:
    """Debian's packages into .deps, where there is a checkout and a Debian; as set-up does it."""
    program = root / "scripts/headers"
    if os.access(program, os.X_OK):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run([program], check=False, timeout=120)


def _plotly(root: Path) -> Path | None:
    """The part of plotly.js that reports draw with, by scripts/plotly, which needs npm."""
    program = root / "scripts/plotly"
    if os.access(program, os.X_OK):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run([program], check=True, timeout=120)
    found = root / ".deps/plotly" / Path(PLOTLY).name
    return found if found.is_file() else None


def _tag(engines: list[Path]) -> str:
    """The oldest C library that has all that these programs call (PEP 600)."""
    called = [m for e in engines for m in re.findall(rb"GLIBC_(\d+)\.(\d+)", e.read_bytes())]
    major, minor = max((int(major), int(minor)) for major, minor in called)
    return f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"


def _fetched(name: str, url: str, tag: str, commit: str, scratch: Path) -> Path | None:
    clone = scratch / name
    command = ["git", "-c", "advice.detachedHead=false", "clone", "--quiet", "--depth", "1"]
    try:
        subprocess.run([*command, "--branch", tag, url, str(clone)], check=True, timeout=120)
        found = subprocess.run(
            ["git", "-C", str(clone), "rev-parse", "HEAD"],
            check=True, capture_output=True, text=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    if found != commit:
        raise RuntimeError(f"{url} {tag} is {found}, not {commit}: not what was reviewed")
    return next((d for d in (clone / "include" / name,) if d.is_dir()), None)


class HeadersHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or self.target_name != "wheel":
            return
        scratch = Path(tempfile.mkdtemp(prefix="effio-headers-"))
        self._scratch = scratch
        if (plotly := _plotly(Path(self.root))) is not None:
            build_data["force_include"][str(plotly)] = PLOTLY
        if not all(_local(name, Path(self.root)) for name, *_ in LIBRARIES):
            _from_packages(Path(self.root))
        if named := os.environ.get("EFFIO_ENGINES"):
            engines = sorted(Path(named).resolve().glob("*/effio-mpi"))
            if not engines:
                raise RuntimeError(f"EFFIO_ENGINES={named} holds no engine: */effio-mpi")
            build_data["force_include"][str(Path(named).resolve())] = ENGINES
            build_data["pure_python"] = False
            build_data["tag"] = _tag(engines)
        for name, url, tag, commit in LIBRARIES:
            source = _local(name, Path(self.root)) or _fetched(name, url, tag, commit, scratch)
            if source is None:
                self.app.display_warning(
                    f"effio: no headers of {name} here and none fetched; `effio engine build` will "
                    "look for them on its machine"
                )
                continue
            build_data["force_include"][str(source)] = f"{TARGET}/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        scratch = getattr(self, "_scratch", None)
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
