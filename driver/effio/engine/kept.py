# SPDX-License-Identifier: BSD-3-Clause
"""What was kept of how an engine was built: the log, and the sources that can be compiled again.
`effio engine build` keeps both next to the engine; a checkout has the log of its build directory
and the sources of today."""

from __future__ import annotations

import gzip
import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from effio.engine.discover import data_directory
from effio.shipped import checkout
from effio.store.safe_files import sha256_of

LOG = "build.log"
SOURCES = "sources.tar.gz"
_PARTS = ("CMakeLists.txt", "CMakePresets.json", "VERSION", "LICENSE", "cmake", "engine")
# What a compiler reads; neither objects nor data.
_SUFFIXES = frozenset({".cpp", ".hpp", ".c", ".h", ".txt", ".cmake", ".in", ".json", ".md", ""})


@dataclass(frozen=True)
class Kept:
    """`files` by their names; `remark` says what is missing, or where it comes from."""

    files: dict[str, bytes]
    remark: str


def packed(root: Path) -> bytes:
    """The engine's sources as an archive that is the same for the same sources."""
    stream = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as archive,
    ):
        for part in _PARTS:
            top = root / part
            for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
                if file.is_file() and not file.is_symlink() and file.suffix in _SUFFIXES:
                    reported = tarfile.TarInfo(f"effio-sources/{file.relative_to(root)}")
                    content = file.read_bytes()
                    reported.size, reported.mode = len(content), 0o644
                    archive.addfile(reported, io.BytesIO(content))
    return stream.getvalue()


def kept_of(program: Path, sha256: str) -> Kept:
    """What is kept of the engine with this checksum, if it is still there."""
    try:
        if sha256 and sha256_of(program) != sha256:
            return Kept({}, f"{program} is no longer the engine that measured: no log, no sources")
    except OSError:
        return Kept({}, f"{program} is not on this machine: no build log and no sources")
    home = program.resolve().parent
    if home.parent == data_directory() / "engines":
        files = {name: (home / name) for name in (LOG, SOURCES) if (home / name).is_file()}
        missing = [name for name in (LOG, SOURCES) if name not in files]
        reported = f"not kept by the version that built it: {', '.join(missing)}" if missing else ""
        return Kept({n: p.read_bytes() for n, p in files.items()}, reported or "as it was built")
    root = checkout()
    if root is not None and home.is_relative_to(root / "build"):
        log = home.parent / LOG
        found = {LOG: log.read_bytes()} if log.is_file() else {}
        reported = "" if found else "; no build log is kept: it is written by scripts/build"
        return Kept({**found, SOURCES: packed(root)}, f"sources of the checkout {root}{reported}")
    return Kept({}, f"{program} was built by other means: no build log and no sources are known")
