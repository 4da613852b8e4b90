# SPDX-License-Identifier: BSD-3-Clause
"""Where engines are: named by the user, in this checkout, built by `effio engine build`, on
PATH."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from effio.engine.program import Engine
from effio.errors import EffioError, environment_error
from effio.home import expanded, of_user
from effio.shipped import checkout
from effio.store import safe_files

if TYPE_CHECKING:
    from effio.config.site import LaunchSettings

PROGRAM = "effio-mpi"
# The engine with the benchmarks of the card, which a checkout has before its first whole build.
CARD_PROGRAM = "effio-card"
# Origin of an engine that a wheel brought.
CARRIED = "carried by the installation"
# Who named an engine.
CHOSEN = "chosen by effio engine use"
_CHOSEN = "engine.json"


def data_directory() -> Path:
    """Where this user's engines live; EFFIO_DATA or the XDG data directory."""
    named = os.environ.get("EFFIO_DATA")
    return expanded(named) if named else of_user("XDG_DATA_HOME", ".local/share") / "effio"


def _of_checkout() -> list[Engine]:
    root = checkout()
    if root is None:
        return []
    places = (root / "bin" / PROGRAM, root / "build/release/engine" / CARD_PROGRAM)
    program = next((place for place in places if os.access(place, os.X_OK)), None)
    if program is None:
        return []
    mpiexec = None
    try:
        for line in (root / ".deps" / "env").read_text().splitlines():
            key, _, value = line.partition("=")
            if key == "EFFIO_MPICC":
                mpiexec = launcher_next_to(value)
    except OSError:
        pass
    return [Engine(program, "built in this checkout", mpiexec, "checkout")]


def launcher_next_to(mpicc: str) -> str | None:
    """The launcher that came with an MPI compiler: mpicc.openmpi -> mpiexec.openmpi."""
    compiler = Path(mpicc)
    candidate = compiler.parent / compiler.name.replace("mpicc", "mpiexec")
    if "mpicc" in compiler.name and os.access(candidate, os.X_OK):
        return str(candidate)
    return None


def installed() -> list[Engine]:
    """What `effio engine build` made, then what wheels carried; of each the newest first."""
    engines = []
    for record in (data_directory() / "engines").glob("*/engine.json"):
        program = record.parent / PROGRAM
        if not os.access(program, os.X_OK):
            continue
        try:
            kept = json.loads(record.read_text())
            mpiexec, library = kept.get("mpiexec"), kept.get("library")
        except (OSError, ValueError, AttributeError):
            mpiexec = library = None
        if isinstance(library, str) and not Path(library).exists():
            continue  # that MPI is gone
        engines.append(
            Engine(
                program,
                CARRIED if library else "built by effio engine build",
                mpiexec if isinstance(mpiexec, str) else None,
                record.parent.name,
                is_carried=library is not None,
            )
        )
    return sorted(engines, key=lambda e: (e.is_carried, -e.path.stat().st_mtime))


def find_engines() -> list[Engine]:
    """Every engine at hand, the preferred one first."""
    found = _of_checkout() + installed()
    on_path = shutil.which(PROGRAM)
    if on_path is not None:
        found.append(Engine(Path(on_path), "found on PATH", None, "path"))
    unique: dict[Path, Engine] = {}
    for engine in found:
        unique.setdefault(engine.path.resolve(), engine)
    # What a wheel brought serves where nothing was built for this system.
    return sorted(unique.values(), key=lambda engine: engine.is_carried)


def chosen() -> str | None:
    """The choice of `effio engine use`."""
    try:
        reported = json.loads((data_directory() / _CHOSEN).read_text(encoding="utf-8"))["engine"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return reported if isinstance(reported, str) and reported else None


def choose(wanted: str | None) -> Engine | None:
    """Makes `wanted` the engine, where no option names another; None takes that back."""
    place = data_directory() / _CHOSEN
    engine = find_engine(wanted, "to be used") if wanted else None
    try:
        if engine is None:
            place.unlink(missing_ok=True)
            return None
        named = engine.name if engine in installed() else str(engine.path.resolve())
        with safe_files.making(place.parent):
            safe_files.write_atomically(place, json.dumps({"engine": named}) + "\n")
    except OSError as error:
        raise environment_error(f"{place}: {error.strerror or error}") from None
    return engine


def _named(wanted: str, engines: Sequence[Engine]) -> Engine | None:
    """The engine by its name, or the newest whose name starts so: "mpich" for mpich-0123456789."""
    for engine in engines:
        if engine.name == wanted:
            return engine
    return next((engine for engine in engines if engine.name.startswith(f"{wanted}-")), None)


def _set_here(
    variable: str, of_site: Callable[[LaunchSettings], str | None]
) -> tuple[str | None, str]:
    """What a variable says, else the launch settings of the site, and which of the two it was. An
    option of a command counts before both, a choice of effio after them."""
    if named := os.environ.get(variable):
        return named, f"given by {variable}"
    from effio.config.site import load_site  # dear to import

    return of_site(load_site().launch) or None, "named by the site's settings"


def named_by_settings() -> tuple[str | None, str]:
    """An engine, and who named it: $EFFIO_ENGINE, the site's file or `effio engine use`."""
    named, who = _set_here("EFFIO_ENGINE", lambda launch: launch.engine)
    if named is not None:
        return named, who
    return chosen(), CHOSEN


def launcher_by_settings() -> tuple[str | None, str]:
    """A launcher, and who named it: $EFFIO_MPIEXEC or the site's file."""
    return _set_here("EFFIO_MPIEXEC", lambda launch: launch.launcher)


def find_engine(wanted: str | None = None, origin: str = "given by --engine") -> Engine:
    """The engine to use: `wanted` (a path, or the name of a built one), the one that settings name,
    the first that is at hand, or the one that this installation carries."""
    if not wanted:
        wanted, origin = named_by_settings()
    if wanted:
        if (named := _named(wanted, installed())) is not None:
            return named
        path = expanded(wanted)
        if path.is_dir():
            path = path / PROGRAM
        if os.access(path, os.X_OK) and path.is_file():
            return Engine(path.absolute(), origin)
        raise environment_error(
            f"no engine '{wanted}' ({origin}): neither a program nor the name of a built engine",
            "effio engine list shows what there is",
        )
    engines = find_engines()
    if engines and not engines[0].is_carried:
        return engines[0]
    from effio.engine.carried import unpack  # which needs this module

    try:
        carried = unpack()
    except EffioError:
        if not engines:
            raise
        carried = engines[0]  # no launcher on PATH: the one of the last time
    if carried is None:
        raise environment_error(
            "no engine is built here",
            "build one for your MPI: effio engine build, or in a checkout: make build",
        )
    return carried
