# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a folder as a browser may see them: nothing that lies outside the folder, whatever a
link in it says; read anew only when a file has changed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from effio import text as fmt
from effio.judge.samples import Judged
from effio.launch.live import describe, parse_status
from effio.report.campaign import runs_of
from effio.report.listing import axes_of, grouped, line_of_folder, verdict_of
from effio.store import safe_files
from effio.store.folder import NOTES, PROGRESS, RECORD, RESULT, RunFolder, Store

# What of a run can be looked at as it is.
FILES = (RESULT, RECORD, "environment.json", "stdout.log", "stderr.log", "job.sh", "job.log")
_MAX_PROGRESS_BYTES = 1 << 16

_Stamp = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Shown:
    """One line of the list."""

    id: str
    cells: Mapping[str, str]  # as `effio runs --json` says them
    progress: str = ""  # of a run that is going on
    done: float = 0.0  # fraction of its plan

    @property
    def heading(self) -> str:
        name = self.cells["campaign"]
        return f"Campaign {name}" if name else "No campaign"

    @property
    def what(self) -> list[str]:
        """What distinguishes it from others of its group."""
        cells = self.cells
        if not cells["campaign"]:
            return [cells["benchmark"], cells["options"]]
        axes = [f"{name} {value}" for name, value in axes_of(cells).items()]
        return [f"step {cells['step']}", *axes, f"repetition {cells['repetition']}"]

    @property
    def when(self) -> list[str]:
        """Start, duration, ranks and place."""
        cells = self.cells
        start = cells["start"][:16].replace("T", " ")
        ranks = fmt.count_of(int(cells["ranks"]), "rank") if cells["ranks"] else ""
        return [f"{start} UTC" if start else "", cells["took"], ranks, cells["where"]]

    @property
    def verdict(self) -> str:
        return verdict_of(self.cells)

    @property
    def running(self) -> bool:
        return self.cells["state"] == "running"

    @property
    def has_result(self) -> bool:
        return bool(self.cells["ranks"])

    def matches(self, words: list[str]) -> bool:
        text = " ".join(self.cells.values()).casefold()
        return all(word in text for word in words)


class Shelf:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._store = Store(self.root)
        self._known: dict[str, tuple[_Stamp, Mapping[str, str]]] = {}

    def inside(self, path: Path) -> bool:
        """Whether it really lies in the folder, links followed."""
        try:
            return path.resolve().is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    def _folders(self) -> dict[str, RunFolder]:
        return {
            folder.id: folder
            for folder in self._store.folders()
            if all(self.inside(folder.path / name) for name in ("", *FILES, PROGRESS))
        }

    def folder(self, name: str) -> RunFolder | None:
        return self._folders().get(name)

    def file(self, name: str, file: str) -> Path | None:
        folder = self.folder(name)
        if folder is None or file not in FILES or not (folder.path / file).is_file():
            return None
        return folder.path / file

    def runs_of_campaign(self, name: str, every: bool) -> list[Judged]:
        """With `every` those of all calls of a campaign with `afresh`."""
        return runs_of(self._folders().values(), name, every)

    def runs(self) -> list[Shown]:
        """Sorted by campaign; the newest run and its campaign come first."""
        shown = [self._shown(folder) for folder in self._folders().values()]
        known = {run.id: run for run in shown}
        return [known[line["run"]] for line in reversed(grouped([run.cells for run in shown]))]

    def _shown(self, folder: RunFolder) -> Shown:
        stamp = tuple(_stamp(folder.path / name) for name in (RECORD, RESULT, NOTES))
        known = self._known.get(folder.id)
        # A run that goes on may end without a change of its files: by a kill.
        if known is None or known[0] != stamp or known[1]["state"] == "running":
            known = (stamp, line_of_folder(folder))
            self._known[folder.id] = known
        cells = known[1]
        if cells["state"] != "running":
            return Shown(folder.id, cells)
        progress, done = _progress(folder.path / PROGRESS)
        return Shown(folder.id, cells, progress, done)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        info = path.stat()
    except OSError:
        return (0, 0)
    return (info.st_mtime_ns, info.st_size)


def _progress(path: Path) -> tuple[str, float]:
    try:
        with safe_files.reading(path) as stream:
            text = stream.read(_MAX_PROGRESS_BYTES)
    except OSError:
        return "", 0.0
    status = parse_status(text.decode(errors="replace").strip())
    return (describe(status, 0.0), status.plan_done_fraction) if status is not None else ("", 0.0)


def as_json(runs: list[Shown]) -> str:
    rows: list[dict[str, Any]] = [
        {"id": run.id, "state": run.cells["state"], "progress": run.progress, "done": run.done}
        for run in runs
    ]
    return json.dumps(rows)
