# SPDX-License-Identifier: BSD-3-Clause
"""The systems that runs were made on, by the letters of a submission."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase

from effio.errors import EffioError
from effio.judge.rules import SystemRow
from effio.judge.samples import Judged
from effio.store.values import as_count


@dataclass(frozen=True)
class MeasuredSystem:
    """`described` is what the submitter says; the rest is what the runs say."""

    letter: str
    described: SystemRow | None
    runs: Sequence[Judged] = field(default_factory=tuple)

    @property
    def processor(self) -> str:
        if self.described is not None and self.described.processor:
            return self.described.processor
        return str(self.runs[0].result.run.system.cpu.get("model", "")) if self.runs else ""

    @property
    def cores(self) -> int | None:
        """The cores as described; else the CPUs of all nodes of the largest run."""
        if self.described is not None and self.described.cores is not None:
            return self.described.cores
        counts = [
            r.result.run.system.nodes * as_count(r.result.run.system.cpu.get("logical_cpus"))
            for r in self.runs
        ]
        return max(counts, default=0) or None


def _identity(run: Judged) -> tuple[str, int]:
    cpu = run.result.run.system.cpu
    return str(cpu.get("model", "")), as_count(cpu.get("logical_cpus"))


def systems_of(runs: Sequence[Judged], described: Sequence[SystemRow] = ()) -> list[MeasuredSystem]:
    """A run's label `system` is its letter; runs without one get a letter for each kind of
    processor, the described letters first."""
    groups: dict[str, list[Judged]] = {row.letter: [] for row in described}
    if len(groups) < len(described):
        raise EffioError("two systems of the description have the same letter")
    letters: dict[tuple[str, int], str] = {}
    for run in runs:
        letter = run.labels.get("system", "")
        if not letter:
            kind = _identity(run)
            free = (c for c in ascii_uppercase if c not in letters.values())
            letter = letters.setdefault(kind, next(free, "?"))
        groups.setdefault(letter, []).append(run)
    rows = {row.letter: row for row in described}
    return [MeasuredSystem(name, rows.get(name), some) for name, some in sorted(groups.items())]


def letters_of(runs: Sequence[Judged], systems: Sequence[MeasuredSystem]) -> str:
    names = {run.name for run in runs}
    return ", ".join(s.letter for s in systems if any(run.name in names for run in s.runs))
