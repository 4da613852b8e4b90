# SPDX-License-Identifier: BSD-3-Clause
"""What a command ends with: the engine's table of exit codes, and one exception that carries it."""

from __future__ import annotations

import errno
import sys
from enum import IntEnum


class ExitCode(IntEnum):
    """The one table of exit codes (engine/core/error.hpp; `effio-mpi describe` prints it)."""

    DONE = 0
    DATA_ERRORS = 1
    USAGE = 2
    IO_ERROR = 3
    INTERRUPTED = 4
    HUNG = 5
    ENVIRONMENT = 6
    RESULTS = 7
    INTERNAL = 8  # of effio alone: its own defect, never mistaken for an outcome of a run

    @classmethod
    def of_status(cls, status: str) -> ExitCode:
        """The code of the name that an `end` line uses; an unknown name counts as an I/O error."""
        try:
            return cls[status.upper()]
        except KeyError:
            return cls.IO_ERROR

    @classmethod
    def of_number(cls, number: int) -> ExitCode:
        """The code with this number; an unknown one, of another effio, counts as an I/O error."""
        return cls(number) if number in set(cls) else cls.IO_ERROR


class EffioError(Exception):
    """A failure that the user can do something about; printed as one message, never a traceback."""

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


ANOTHER_PLACE = "name another place: --runs DIR, or EFFIO_RUNS"
MAKE_SPACE = "make space there, and try again"


def results_error(place: object, error: OSError, new: bool = True) -> EffioError:
    """Results cannot be written: their place is full, read-only or gone. What is `new` can be kept
    elsewhere; what belongs to results that are there cannot."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    hint = ANOTHER_PLACE if new else MAKE_SPACE if full else ""
    return EffioError(
        f"results cannot be kept in {place}: {error.strerror or error}", ExitCode.RESULTS, hint
    )


def pip_install(packages: str) -> str:
    """The command that installs for the Python that runs effio, which need not be the first on
    PATH."""
    return f"{sys.executable} -m pip install {packages}"


def environment_error(message: str, hint: str = "") -> EffioError:
    return EffioError(message, ExitCode.ENVIRONMENT, hint)
