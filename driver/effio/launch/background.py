# SPDX-License-Identifier: BSD-3-Clause
"""What the driver does next to a run that it has started."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

_B = TypeVar("_B", bound="Background")


def directory_of(arguments: Sequence[str]) -> Path:
    """Where the engine is to put its files."""
    found = "."
    for number, word in enumerate(arguments):
        if word.startswith("--dir="):
            found = word.removeprefix("--dir=")
        elif word == "--dir" and number + 1 < len(arguments):
            found = arguments[number + 1]
    return Path(found)


class Background(ABC):
    """Runs in a thread while it is entered. `wanted`: else it does nothing. `patience`: seconds to
    wait for the thread at the end, without a limit if there is none."""

    def __init__(self, wanted: bool, patience: float | None = None) -> None:
        self._patience = patience
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True) if wanted else None

    def __enter__(self: _B) -> _B:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join(self._patience)

    @abstractmethod
    def _run(self) -> None:
        """Returns soon after `_end` is set."""
