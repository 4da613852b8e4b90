# SPDX-License-Identifier: BSD-3-Clause
"""Asks the file system on which servers the files of a run are, while they are there: a slow server
can be named then (report/servers.py). Only for runs that record the rates of their ranks
(`--rank-details`), after their first measurement."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from pathlib import Path

from effio.errors import EffioError
from effio.launch.background import Background, directory_of
from effio.store import abilities
from effio.store.clean import names_of
from effio.store.reader import read_result

_STEP_SECONDS = 0.2
_MOST_FILES = 256


def is_wanted(arguments: Sequence[str]) -> bool:
    return "--rank-details" in arguments


class Placer(Background):
    """Asks until nothing is left to ask, or the run has ended."""

    def __init__(self, result: Path, arguments: Sequence[str], wanted: bool) -> None:
        # The file system may not answer any more; then the run is over all the same.
        super().__init__(wanted, patience=_STEP_SECONDS)
        self.servers: dict[str, list[str]] = {}  # by the name of a file
        self._result = result
        self._directory = directory_of(arguments)

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
