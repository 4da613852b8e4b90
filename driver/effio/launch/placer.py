# SPDX-License-Identifier: BSD-3-Clause
"""Asks the file system on which servers the files of a run are, while they are there: a slow server
can be named then (report/servers.py). Only for runs that record the rates of their ranks
(`--rank-details`), after their first measurement."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Sequence
from pathlib import Path

from effio.errors import EffioError
from effio.launch.meter import directory_of
from effio.store import abilities
from effio.store.clean import names_of
from effio.store.reader import read_result

_STEP_SECONDS = 0.2
_MOST_FILES = 256


def is_wanted(arguments: Sequence[str]) -> bool:
    return "--rank-details" in arguments


class Placer:
    """Asks in a thread, while it is entered. `wanted`: else it does nothing."""

    def __init__(self, result: Path, arguments: Sequence[str], wanted: bool) -> None:
        self.servers: dict[str, list[str]] = {}  # by the name of a file
        self._result = result
        self._directory = directory_of(arguments)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True) if wanted else None

    def __enter__(self) -> Placer:
        if self._thread is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        if self._thread is not None:
            # The file system may not answer any more; then the run is over all the same.
            self._thread.join(_STEP_SECONDS)

    def _run(self) -> None:
        kind = ""
        while not self._end.wait(_STEP_SECONDS):
            with contextlib.suppress(OSError, EffioError):
                kind = kind or abilities.mount_of(self._directory)[0]
                if self._ask(kind):
                    return

    def _ask(self, kind: str) -> bool:
        """Whether nothing is left to ask. A file that is gone, or a tool that did not answer, is
        asked again in the next repetition."""
        if not abilities.names_servers(kind):
            return True
        result = read_result(self._result)
        if result.run.manifest is None or not result.measurements:
            return False
        sets = names_of(result.run.manifest.files)
        names = [name for _, name in itertools.islice(sets, _MOST_FILES)]
        for name in names:
            path = Path(result.run.manifest.directory) / name
            if name not in self.servers and path.exists():
                found = abilities.servers_in(abilities.layout_of(path, kind), kind)
                if found:
                    self.servers[name] = found
        return all(name in self.servers for name in names)
