# SPDX-License-Identifier: BSD-3-Clause
"""Engines that a wheel carries (scripts/wheel), one for each interface of MPI libraries. The one
that fits the launcher at hand is unpacked into the user's data directory, with a link to that
launcher's library next to it, where the program looks for it. So a run needs no compiler."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from effio.engine.build import sources
from effio.engine.discover import CARRIED, PROGRAM, data_directory, launcher_by_settings
from effio.engine.kept import LOG, SOURCES, packed
from effio.engine.mpi import LAUNCHERS, OPEN_MPI, Mpi, identify
from effio.engine.program import Engine
from effio.errors import EffioError, environment_error
from effio.store import safe_files

_CARRIED = Path(__file__).resolve().parent / "carried"
_OPEN_MPI, _MPICH = "openmpi", "mpich"
# Names of the library that has the interface; engines ask for the first. Debian calls MPICH's
# libmpich.
_LIBRARIES = {
    _OPEN_MPI: ("libmpi.so.40",),
    _MPICH: ("libmpi.so.12", "libmpich.so.12"),
}


def families() -> list[str]:
    """The interfaces for which this installation carries an engine."""
    return [f for f in _LIBRARIES if os.access(_CARRIED / f / PROGRAM, os.X_OK)]


def _interface_of(launcher: Mpi) -> str:
    return _OPEN_MPI if launcher.family == OPEN_MPI else _MPICH


def _launchers() -> Iterator[str]:
    """The launcher that settings name, launchers on PATH, then those that wheels put next to this
    Python."""
    for name in (launcher_by_settings()[0], *LAUNCHERS):
        if name and (found := shutil.which(name)):
            yield str(Path(found).absolute())
    for name in LAUNCHERS:
        installed = Path(sys.executable).parent / name
        if os.access(installed, os.X_OK):
            yield str(installed)


def library_of(launcher: str, interface: str) -> Path | None:
    """The library that came with a launcher: in the directories for libraries next to that of
    programs, as installed and where links lead; else the one that the loader knows. A launcher
    may be a script in a directory of its module, so the last counts, too."""
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    places: list[Path] = []
    for program in (Path(launcher), Path(launcher).resolve()):
        prefix = program.parent.parent
        places += [prefix / name for name in ("lib", "lib64", "lib/release", f"lib/{multiarch}")]
    places += [Path(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(":") if p]
    for place in places:
        for name in _LIBRARIES[interface]:
            if (place / name).is_file():
                return place / name
    return _known_to_loader(interface)


def _known_to_loader(interface: str) -> Path | None:
    for program in ("ldconfig", "/sbin/ldconfig"):
        try:
            lines = subprocess.run(
                [program, "-p"], capture_output=True, text=True, timeout=30, check=False
            ).stdout.splitlines()
        except (OSError, subprocess.TimeoutExpired):
            continue
        for line in lines:
            name, _, path = line.strip().partition(" => ")
            if name.split(" ")[0] in _LIBRARIES[interface] and Path(path).is_file():
                return Path(path)
    return None


def unpack() -> Engine | None:
    """The carried engine for the first launcher here that one fits, in the data directory; None if
    this installation carries no engine. Raises with what was looked at if none fits."""
    at_hand = families()
    if not at_hand:
        return None
    looked_at = []
    for launcher in dict.fromkeys(_launchers()):
        found, _ = identify(launcher)
        if found is None:
            looked_at.append(f"{launcher} does not say which MPI it belongs to")
            continue
        interface = _interface_of(found)
        library = library_of(launcher, interface)
        if interface not in at_hand:
            looked_at.append(f"{launcher} ({found}): no engine for it is carried")
        elif library is None:
            names = " or ".join(_LIBRARIES[interface])
            looked_at.append(f"{launcher} ({found}): {names} is not next to it")
        else:
            try:
                return _placed(_CARRIED / interface, launcher, library)
            except EffioError as error:
                looked_at.append(f"{launcher} ({found}): {error.message}")
            except OSError as error:
                raise environment_error(
                    f"the engine of this installation cannot be unpacked: {error}",
                    "EFFIO_DATA names another directory for engines",
                ) from None
    raise environment_error(
        "no engine is built here, and none that this installation carries fits: "
        + ("; ".join(looked_at) or "no launcher (mpiexec, mpirun) is on PATH"),
        "load an MPI's module or install one (on Debian or Ubuntu: apt-get install openmpi-bin; "
        "without root: pip install 'effio[mpich]'), or compile an engine: effio engine build",
    )


def _placed(kept: Path, launcher: str, library: Path) -> Engine:
    """Copies an engine next to a link to its library; one that is there already is taken."""
    interface = kept.name
    digest = hashlib.sha256((kept / PROGRAM).read_bytes())
    digest.update(f"\0{library}\0{launcher}".encode())
    name = f"{interface}-carried-{digest.hexdigest()[:10]}"
    home = data_directory() / "engines" / name
    engine = Engine(home / PROGRAM, CARRIED, launcher, name, is_carried=True)
    if (home / "engine.json").is_file():
        return engine
    with safe_files.making(home.parent):
        _place(kept, launcher, library, home)
    return engine


def _place(kept: Path, launcher: str, library: Path, home: Path) -> None:
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=home.parent))
    try:
        shutil.copy2(kept / PROGRAM, fresh / PROGRAM)
        with contextlib.suppress(OSError):
            shutil.copy2(kept / LOG, fresh / LOG)
        # The library may look for its parts from the directory that it was found in, so the
        # directory is linked, not the file, where the name is right.
        needed = _LIBRARIES[kept.name][0]
        if library.name == needed:
            (fresh / "mpi").symlink_to(library.parent)
        else:
            (fresh / needed).symlink_to(library)
        (fresh / SOURCES).write_bytes(packed(sources()))
        record = {"mpicc": None, "mpiexec": launcher, "library": str(library)}
        (fresh / "engine.json").write_text(json.dumps(record, indent=2) + "\n")
        # The loader looks up all that the engine calls at its start (engine/CMakeLists.txt).
        answer = Engine(fresh / PROGRAM, CARRIED).ask(["--version"])
        if answer.code != 0:
            raise environment_error(answer.stderr or f"it ends with exit code {answer.code}")
        fresh.chmod(0o755)
        with contextlib.suppress(OSError):  # another process was quicker; the same program
            fresh.rename(home)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
