# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI something belongs to: an engine, by its library's version text; a launcher, by what
`--version` prints. Launchers and libraries of one family speak the same wire-up protocol."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

# Names of launchers, the likeliest first.
LAUNCHERS = (
    "mpiexec",
    "mpiexec.hydra",
    "mpirun",
    "mpiexec.openmpi",
    "mpirun.openmpi",
    "mpiexec.mpich",
    "mpirun.mpich",
    "orterun",
)

OPEN_MPI = "Open MPI"
MPICH = "MPICH"
INTEL = "Intel MPI"
MVAPICH = "MVAPICH"
CRAY = "Cray MPICH"

# Hydra starts any of these; the libraries share one binary interface (MPICH ABI initiative).
_HYDRA_FAMILY = frozenset({MPICH, INTEL, MVAPICH, CRAY})

_LIBRARY_SIGNS = (
    (OPEN_MPI, re.compile(r"open\s*mpi", re.I)),
    (INTEL, re.compile(r"intel\(r\)\s*mpi", re.I)),
    (CRAY, re.compile(r"cray\s*mpich", re.I)),
    (MVAPICH, re.compile(r"mvapich", re.I)),
    (MPICH, re.compile(r"mpich", re.I)),
)
_LAUNCHER_SIGNS = (
    (OPEN_MPI, re.compile(r"open\s*mpi|OpenRTE|PRRTE|\bprte\b", re.I)),
    (INTEL, re.compile(r"intel\(r\)\s*mpi", re.I)),
    (CRAY, re.compile(r"\bPALS\b", re.I)),
    (MPICH, re.compile(r"hydra build details", re.I)),
)


@dataclass(frozen=True)
class Mpi:
    family: str
    version: str = ""

    def __str__(self) -> str:
        return f"{self.family} {self.version}".strip()

    def speaks_with(self, other: Mpi) -> bool:
        """True if a launcher of one can start programs of the other."""
        if self.family == other.family:
            return True
        return self.family in _HYDRA_FAMILY and other.family in _HYDRA_FAMILY


def _find(text: str, signs: tuple[tuple[str, re.Pattern[str]], ...]) -> Mpi | None:
    for family, sign in signs:
        found = sign.search(text)
        if found is None:
            continue
        version = re.search(r"\d+(?:\.\d+)+(?:\w+)?", text[found.start() :]) or re.search(
            r"\d+(?:\.\d+)+", text
        )
        return Mpi(family, version.group(0) if version else "")
    return None


def of_library(text: str) -> Mpi | None:
    """The MPI, from MPI_Get_library_version's text; None if it is not a known one."""
    return _find(text, _LIBRARY_SIGNS)


def of_launcher(text: str) -> Mpi | None:
    """The MPI, from the output of `mpiexec --version`."""
    return _find(text, _LAUNCHER_SIGNS)


def identify(program: str) -> tuple[Mpi | None, str]:
    """The MPI of a launcher and the text that names it; None if it names none."""
    try:
        done = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return None, str(error)
    text = (done.stdout + done.stderr).decode(errors="replace").strip()
    return of_launcher(text), text
