# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are named on the command line, with their claims, from the index of the store: the same
runs as `gather.judged` reads, without reading them."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from effio.judge import gather
from effio.judge.samples import Judged
from effio.report import claims
from effio.report.claims import Claimed, Number
from effio.report.lines import NUMBER
from effio.store.all_runs import Store
from effio.store.attempts import Attempt, KnownAttempt
from effio.store.folder import RESULT
from effio.store.index import Entry, Index

# This many results are read before the index is opened, which takes longer than reading a few.
_FEW = 20


class Known(NamedTuple):
    """A run of the index."""

    entry: Entry
    attempt: KnownAttempt

    @property
    def number(self) -> Number | None:
        """None if the run has no result that can be read."""
        line = self.entry.line
        return claims.read(line[NUMBER]).number if line[NUMBER] else None

    def claimed(
        self, name: str = "", place: str = "", labels: Mapping[str, str] | None = None
    ) -> Claimed | None:
        """None if the run has no result that can be read."""
        line = self.entry.line
        if not line[NUMBER]:
            return None
        part = self.attempt.part
        return Claimed(
            name or self.entry.id,
            place or f"{self.entry.root}/{self.entry.id}",
            line["benchmark"],
            part,
            int(line["ranks"]),
            claims.read(line[NUMBER]),
            {**gather.labels_of(part), **(labels or {})},
            self.attempt.options if part is None else {},
        )


def _next_to_others(known: Mapping[str, Known]) -> list[Known]:
    """Those that are not the only attempt at their point."""
    found: dict[tuple[object, ...], list[Known]] = {}
    for one in known.values():
        if (part := one.attempt.part) is not None:
            found.setdefault(gather.unit_of(part), []).append(one)
    return [one for some in found.values() if len(some) > 1 for one in some]


class Indexed:
    """`opened` opens the index, when it is needed."""

    def __init__(self, store: Store, opened: Callable[[], Index]) -> None:
        self.store = store
        self._opened = opened
        self._read = 0
        self._is_root: dict[Path, bool] = {}

    @cached_property
    def index(self) -> Index:
        return self._opened()

    @cached_property
    def known(self) -> Mapping[str, Known]:
        """All runs by their ids, the newest last. Which of several attempts at a point counts
        depends also on files that do not matter to a single one."""
        self._read = _FEW
        found = {one.id: Known(one, one.attempt()) for one in self.index.entries()}
        changed = [one.entry.id for one in _next_to_others(found) if not one.entry.is_as_sealed]
        for one in self.index.entries(with_sealed=True, names=changed) if changed else ():
            found[one.id] = Known(one, one.attempt())
        return found

    def attempts(self, _: Store | None = None) -> Sequence[Attempt]:
        return [one.attempt for one in self.known.values()]

    def gathered(self, words: Sequence[str], report: Callable[[str], None]) -> list[Claimed]:
        """The runs that `gather.judged` reads, with their claims."""
        return gather.gathered(words, self.store, report, self._claimed, self.attempts)

    def judged(self, words: Sequence[str], report: Callable[[str], None]) -> list[Judged]:
        """The same with their results, which are read; what counts is known from the index."""
        return gather.gathered(words, self.store, report, gather.read_source, self.attempts)

    def of_campaign(self, campaign: str, every: bool) -> list[Claimed]:
        """The runs that `runs_of` reads, in any order."""
        return list(self._of(gather.counting_of(self.attempts(), campaign, every)))

    def everything(self, report: Callable[[str], None]) -> list[Claimed] | None:
        """Every run that has a result, by its start, as `gather.judged` has those of the folder.
        None where results are also elsewhere in it, which the index does not have."""
        known = self.known  # raises if the store cannot be read
        if self._has_other_results():
            return None
        found = []
        for name in sorted(known):
            if fault := known[name].entry.fault:
                report(f"left out: {fault}")
            elif (run := known[name].claimed()) is not None:
                found.append(run)
            if len(found) > gather.MOST_RUNS:
                raise gather.too_many()
        found.sort(key=lambda run: (run.started, run.name))
        return gather.without_copies(found, report)

    def _of(self, attempts: Sequence[Attempt]) -> Iterator[Claimed]:
        for one in attempts:
            if (run := self.known[one.id].claimed()) is not None:
                yield run

    def _claimed(self, source: Path | Attempt, labels: Mapping[str, str]) -> Claimed:
        self._read += 1
        if isinstance(source, KnownAttempt):
            known: Known | None = self.known[source.id]
            name, place = source.id, ""
        elif isinstance(source, Path) and self._read > _FEW:
            known = self._known_at(source)
            name, place = source.parent.name, str(source.parent)
        else:
            known = None
        if known is not None:
            if known.entry.id in self._links:
                name = gather.name_of(known.entry.folder.result_path)
            if (run := known.claimed(name, place, labels)) is not None:
                return run
        return claims.claimed(gather.read_source(source, labels))

    @cached_property
    def _links(self) -> Container[str]:
        """Names in the store's folder that lead elsewhere."""
        with os.scandir(self.store.root) as inside:
            return {entry.name for entry in inside if entry.is_symlink()}

    def _known_at(self, file: Path) -> Known | None:
        if file.name != RESULT:
            return None
        above = file.parent.parent
        if above not in self._is_root:
            self._is_root[above] = os.path.realpath(above) == os.path.realpath(self.store.root)
        return self.known.get(file.parent.name) if self._is_root[above] else None

    def _has_other_results(self) -> bool:
        """Result files of the engine next to the folders, or folders of runs within others."""
        with os.scandir(self.store.root) as inside:
            others = [entry for entry in inside if entry.name not in self.known]
        if any(one.is_file() and gather.is_engines(one.name) for one in others):
            return True
        folders = [self.store.root / one.name for one in others if one.is_dir()]
        return any(next(gather.result_files(folder), None) is not None for folder in folders)
