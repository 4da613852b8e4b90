# SPDX-License-Identifier: BSD-3-Clause
"""Standard output of the commands."""

from __future__ import annotations

from rich.console import Console


class Terminal(Console):
    """Rich would end the program with 1 when its reader goes away (`effio runs | head`)."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError
