# SPDX-License-Identifier: BSD-3-Clause
"""Where the program `effio` starts and ends. Ctrl-C raises KeyboardInterrupt only during a command,
which handles it. Before that, while modules are imported, and after it there is nothing to clean
up, and Python would print a traceback."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

INTERRUPTED = 4  # as in effio.errors, which takes longer to import


def _leave(*_: object) -> None:
    os._exit(INTERRUPTED)


@contextlib.contextmanager
def interrupts_raise() -> Iterator[None]:
    """In this block Ctrl-C raises KeyboardInterrupt."""
    leaves = signal.getsignal(signal.SIGINT) is _leave
    if leaves:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if leaves:
            signal.signal(signal.SIGINT, _leave)


def main() -> None:
    # What a caller chose, for instance to ignore it, stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from effio.cli.main import main as whole

    whole()
