# SPDX-License-Identifier: BSD-3-Clause
"""What a command ends with: the engine's table of exit codes, and one exception that carries it."""

from __future__ import annotations

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

    @classmethod
    def of_status(cls, status: str) -> ExitCode:
        """From the name that an `end` line uses; an unknown name counts as an I/O error."""
        try:
            return cls[status.upper()]
        except KeyError:
            return cls.IO_ERROR


class EffioError(Exception):
    """A failure that the user can do something about; printed as one message, never a traceback."""

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint


def environment_error(message: str, hint: str = "") -> EffioError:
    return EffioError(message, ExitCode.ENVIRONMENT, hint)
