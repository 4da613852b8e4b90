# SPDX-License-Identifier: BSD-3-Clause
"""Which launcher starts this engine here: one that belongs to the engine's MPI, or the batch
system's own. A launcher of another MPI is refused before anything starts."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from effio.engine import mpi
from effio.engine.discover import launcher_by_settings
from effio.engine.mpi import Mpi
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode, environment_error
from effio.launch.launchers import (
    BY_PROGRAM,
    LAUNCHER_OF_FAMILY,
    LAUNCHERS,
    OF_BATCH_SYSTEM,
    Launcher,
    Srun,
)
from effio.launch.machine import Machine


class NoLauncherError(EffioError):
    """There is no launcher here at all; on a login node that may be meant."""


def _slurm_starts_with(interface: str, nodes: int) -> bool:
    """Whether srun can really use an interface: plugins are often listed but do not load, or do not
    reach other nodes."""
    try:
        done = subprocess.run(
            ["srun", f"--mpi={interface}", f"--nodes={nodes}", f"--ntasks={nodes}", "echo", "here"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    # srun may end with 0 although a node could not start its task.
    return done.returncode == 0 and done.stdout.split() == [b"here"] * nodes


def _candidates(engine: Engine, environment: Mapping[str, str]) -> list[str]:
    """Launcher programs to look at, the likeliest first."""
    names = [environment.get("EFFIO_MPIEXEC"), engine.mpiexec, *mpi.LAUNCHERS]
    paths = []
    for name in names:
        path = shutil.which(name) if name else None
        if path is not None and path not in paths:
            paths.append(path)
    return paths


def wanted_launcher(option: str | None = None) -> str | None:
    """The launcher of `--launcher`, of EFFIO_MPIEXEC or of the site's settings, in this order; None
    if it is left to `choose_launcher`."""
    return option or launcher_by_settings()[0]


def _with_origin(wanted: str) -> str:
    named, who = launcher_by_settings()
    return f"launcher {wanted} ({who})" if named == wanted else f"--launcher {wanted}"


def _named(wanted: str, engine: Engine, options: tuple[str, ...]) -> Launcher:
    """A launcher that the user requested, by kind or by path."""
    kinds = {kind.name: kind for kind in LAUNCHERS}
    if wanted in BY_PROGRAM:
        path = shutil.which(wanted)
        if path is None:
            raise environment_error(f"{_with_origin(wanted)}: {wanted} was not found on PATH")
        return kinds[wanted](path, engine.mpi, options)
    if wanted in kinds:
        for path in _candidates(engine, os.environ):
            found, _ = mpi.identify(path)
            if found is not None and LAUNCHER_OF_FAMILY.get(found.family) is kinds[wanted]:
                return _fitting(path, found, engine, options)
        raise environment_error(
            f"{_with_origin(wanted)}: a launcher of this kind was not found on PATH"
        )
    path = shutil.which(wanted)
    if path is None:
        raise EffioError(
            f"{_with_origin(wanted)}: neither a program nor one of {', '.join(kinds)}",
        )
    if Path(path).name in BY_PROGRAM:
        return BY_PROGRAM[Path(path).name](path, engine.mpi, options)
    found, text = mpi.identify(path)
    if found is None:
        raise environment_error(
            f"{path} does not say which MPI it belongs to: {text[:200] or 'no output'}",
            "write the launch yourself: effio run … --print-command shows the engine's part",
        )
    return _fitting(path, found, engine, options)


def _fitting(path: str, found: Mpi, engine: Engine, options: tuple[str, ...]) -> Launcher:
    if engine.mpi is not None and not found.speaks_with(engine.mpi):
        raise environment_error(
            f"{path} belongs to {found}, but the engine {engine.path} was built with {engine.mpi}: "
            "each rank would run alone, as rank 0 of 1",
            "name the launcher of that MPI (--launcher PATH), or build an engine for this one "
            "(effio engine build)",
        )
    return LAUNCHER_OF_FAMILY[found.family](path, found, options)


def choose_launcher(
    engine: Engine,
    machine: Machine,
    wanted: str | None = None,
    options: tuple[str, ...] = (),
) -> Launcher:
    """Raises with exit code 6 and what was looked at if nothing here can start the engine."""
    if wanted:
        return _named(wanted, engine, options)
    allocation = machine.allocation
    if allocation is not None and allocation.system == "slurm" and shutil.which("srun"):
        # Open MPI needs Slurm's pmix plugin; where that is missing its own mpiexec knows Slurm.
        open_mpi = engine.mpi is not None and engine.mpi.family == mpi.OPEN_MPI
        if not open_mpi or _slurm_starts_with("pmix", allocation.nodes or 1):
            return Srun(str(shutil.which("srun")), engine.mpi, options)
    own = OF_BATCH_SYSTEM.get(allocation.system) if allocation is not None else None
    if own is not None and (path := shutil.which(own.name)):
        return own(path, engine.mpi, options)
    others = []
    for path in _candidates(engine, os.environ):
        found, _ = mpi.identify(path)
        if found is None or found.family not in LAUNCHER_OF_FAMILY:
            continue
        if engine.mpi is None or found.speaks_with(engine.mpi):
            return LAUNCHER_OF_FAMILY[found.family](path, found, options)
        others.append(f"{path} ({found})")
    if others:
        raise environment_error(
            f"no launcher here belongs to the engine's MPI, {engine.mpi}; found "
            + ", ".join(others),
            "load that MPI's module, name its launcher (--launcher PATH), or build an engine for "
            "the MPI at hand (effio engine build)",
        )
    raise NoLauncherError(
        "no launcher (mpiexec, mpirun) is on PATH",
        ExitCode.ENVIRONMENT,
        "load the MPI's module; on Debian or Ubuntu: apt-get install openmpi-bin",
    )
