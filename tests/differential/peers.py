# SPDX-License-Identifier: BSD-3-Clause
"""Runs of the original and of ours in their own directories, and what differs between them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from differential.differences import Difference
from differential.lines import Line
from differential.observe import digests, ending, left, printed, ranks_rows, rights
from engines import Engine

LIMIT = 100  # seconds of a run


@dataclass
class Seen:
    """A finished run of either program."""

    code: int
    stdout: str
    stderr: str


@dataclass
class Peers:
    """The original by its path, and an engine."""

    original: Path
    engine: Engine

    def run(self, words: list[str], program: str, place: Path, theirs: bool, ranks: int) -> Seen:
        own = None if not theirs else self.original
        first = [] if theirs else ["classic", program]
        command = self.engine.command([*first, *words], ranks=ranks, program=own)
        try:
            done = subprocess.run(
                command,
                cwd=place,
                env=self.engine.environment({"EFFIO_RESULT": str(place.parent / "ours.jsonl")}),
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                stdin=subprocess.DEVNULL,
                umask=0,  # so that the rights which the programs ask for can be seen
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Seen(-1, "", f"still running after {LIMIT} s")
        return Seen(done.returncode, done.stdout, done.stderr)

    def apis(self) -> list[str]:
        """Back ends that the original was built with and that ours knows."""
        text = subprocess.run(
            [self.original, "-h"],
            env=self.engine.environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        ).stdout
        found = re.search(r"API for I/O \[([A-Z0-9|]+)\]", text)
        known = ("POSIX", "MPIIO", "DUMMY", "HDF5", "NCMPI")
        return [name for name in known if found is None or name in found[1].split("|")]

    def compare(self, line: Line, place: Path) -> list[Difference]:
        """Both run the line, each in its own directory; then each the following words in the
        directory of the other."""
        theirs, ours = place / "theirs", place / "ours"
        aspects = []
        codes: list[int] = []
        for where in (theirs, ours):
            where.mkdir()
            seen = self.run(line.words, line.program, where, where == theirs, line.ranks)
            aspects.append(printed(line.program, seen.stdout, seen.stderr))
            aspects[-1].update({f"file.{k}": v for k, v in left(where).items()})
            aspects[-1].update({f"rights.{k}": v for k, v in rights(where).items()})
            aspects[-1].update(ranks_rows(where))
            if {"-G", "-k"} <= set(line.words):
                aspects[-1].update({f"data.{k}": v for k, v in digests(where).items()})
            codes.append(seen.code)
            (place / f"{where.name}.out").write_text(seen.stdout + seen.stderr)
        if any(codes):  # what a run that failed leaves and says is its own
            return self.differences(line, *({"exit": ending(code)} for code in codes))
        found = self.differences(line, *aspects)
        if line.follow:
            found += self.cross(line, theirs, ours)
        return found

    def cross(self, line: Line, theirs: Path, ours: Path) -> list[Difference]:
        """Each on what the other left. The directories must be alike afterwards."""
        aspects = []
        codes: list[int] = []
        for where in (ours, theirs):
            seen = self.run(line.follow, line.program, where, where == ours, line.ranks)
            aspects.append({"follow.exit": ending(seen.code)})
            aspects[-1].update({f"follow.file.{k}": v for k, v in left(where).items()})
            codes.append(seen.code)
            (where.parent / f"{where.name}-by-the-other.out").write_text(seen.stdout + seen.stderr)
        if all(codes):  # what runs that failed leave is their own
            return []
        return self.differences(line, *aspects)

    @staticmethod
    def differences(line: Line, theirs: dict[str, str], ours: dict[str, str]) -> list[Difference]:
        unreadable = "json" in theirs or "json" in ours
        return [
            Difference(line.program, f"{line} # {' '.join(line.follow)}", aspect, a, b)
            for aspect in sorted(theirs.keys() | ours.keys())
            if not (unreadable and aspect.startswith("json."))
            if (a := theirs.get(aspect)) != (b := ours.get(aspect))
        ]


def original_of(program: str) -> Path:
    """The original that the environment names, or a skip that says what is missing."""
    variable = f"EFFIO_PEER_{program.upper()}"
    given = os.environ.get(variable)
    if not given:
        pytest.skip(f"no original {program} is given ({variable}=<path of the program>)")
    path = Path(given)
    if not os.access(path, os.X_OK) or not path.is_file():
        pytest.skip(f"{variable}={given}: no such program")
    return path
