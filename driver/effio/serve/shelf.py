# SPDX-License-Identifier: BSD-3-Clause
"""The runs of a folder as a browser may see them: nothing outside the folder, whatever a link in it
says. Lines of the list come from the index, which reads a run again only when its files changed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from effio import text as fmt
from effio.campaign.state import series_name
from effio.judge.gather import counting_of
from effio.launch.live import describe, parse_status
from effio.report.campaign import CampaignRuns
from effio.report.claims import Claimed
from effio.report.indexed import Known
from effio.report.lines import NUMBER, axes_of, grouped, verdict_of
from effio.report.listing import line_of
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import PROGRESS, RECORD, RESULT, RunFolder
from effio.store.index import Entry, Index
from effio.store.option_values import coordinate_text

# What of a run can be looked at as it is.
FILES = (RESULT, RECORD, "environment.json", "stdout.log", "stderr.log", "job.sh", "job.log")
_LOOKED_AT = frozenset({*FILES, PROGRESS})
_MAX_PROGRESS_BYTES = 1 << 16


@dataclass(frozen=True)
class Shown:
    """One line of the list."""

    id: str
    cells: Mapping[str, str]  # as `effio runs --json` says them
    progress: str = ""  # of a run that is going on
    done: float = 0.0  # fraction of its plan

    @property
    def address(self) -> str:
        """The name in addresses, forms and attributes of a page, which hold UTF-8 only."""
        return quote(os.fsencode(self.id), safe="")

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
        axes = [f"{n} {coordinate_text(n, value)}" for n, value in axes_of(cells).items()]
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
        if not words:
            return True
        shown = (cell for name, cell in self.cells.items() if name != NUMBER)
        text = " ".join(shown).casefold()
        return all(word in text for word in words)


class Shelf:
    def __init__(self, root: Path) -> None:
        self.root = safe_files.real(root)
        self._store = Store(self.root)

    def inside(self, path: Path) -> bool:
        """Whether it really is in the folder, links followed."""
        try:
            return safe_files.real(path).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False

    def _all_inside(self, name: str) -> bool:
        """The same of a run and its files. Without links they are where they seem to be."""
        path = f"{self.root}/{name}"  # of ten thousand runs, so without Path objects
        try:
            with os.scandir(path) as files:
                links = [f.name for f in files if f.is_symlink() and f.name in _LOOKED_AT]
        except OSError:
            return False
        if not links and not os.path.islink(path):  # noqa: PTH114
            return True
        return all(self.inside(Path(path, link)) for link in ("", *links))

    def _entries(self) -> list[Entry]:
        index = Index(self._store, line_of)
        try:
            return [entry for entry in index.entries() if self._all_inside(entry.id)]
        finally:
            index.close()

    def folder(self, name: str) -> RunFolder | None:
        folder = self._store.named(name)
        return folder if folder is not None and self._all_inside(folder.id) else None

    def file(self, name: str, file: str) -> Path | None:
        folder = self.folder(name)
        if folder is None or file not in FILES or not (folder.path / file).is_file():
            return None
        return folder.path / file

    def _of_campaign(self, name: str, every: bool) -> CampaignRuns:
        index = Index(self._store, line_of)
        try:
            entries = index.entries(with_sealed=True)
        finally:
            index.close()
        own = {
            entry.id: Known(entry, entry.attempt())
            for entry in entries
            if (of := entry.line["campaign"]) and name in (of, series_name(of) if every else of)
            if self._all_inside(entry.id)
        }
        counting = counting_of((known.attempt for known in own.values()), name, every)
        found = (own[one.id].claimed() for one in counting)
        return CampaignRuns(run for run in found if run is not None)

    def runs_of_campaign(self, name: str) -> CampaignRuns:
        """The runs of a campaign that count and have a result."""
        return self._of_campaign(name, every=False)

    def claims_of_campaign(self, name: str) -> Sequence[Claimed]:
        """The claims of all runs of a campaign that have a result; of a campaign with `afresh`
        those of every call."""
        return self._of_campaign(name, every=True).claimed

    def runs(self) -> list[Shown]:
        """Sorted by campaign; the newest run and its campaign come first."""
        known = {entry.line["run"]: entry for entry in self._entries()}
        lines = grouped([entry.line for entry in known.values()])
        return [_shown(known[line["run"]]) for line in reversed(lines)]


def _shown(entry: Entry) -> Shown:
    if entry.line["state"] != "running":
        return Shown(entry.id, entry.line)
    progress, done = _progress(entry.folder.path / PROGRESS)
    return Shown(entry.id, entry.line, progress, done)


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
        {
            "id": run.id,
            "address": run.address,
            "state": run.cells["state"],
            "progress": run.progress,
            "done": run.done,
        }
        for run in runs
    ]
    return json.dumps(rows)
