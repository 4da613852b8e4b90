# SPDX-License-Identifier: BSD-3-Clause
"""The differences that are meant: tests/differential/differences.toml, and as the tables of the
documentation."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("differences.toml")


@dataclass(frozen=True)
class Difference:
    """What the two programs show of one aspect of one line. An aspect that a side does not have is
    None there."""

    program: str
    line: str
    aspect: str
    original: str | None
    here: str | None

    def __str__(self) -> str:
        return f"{self.aspect}\n    original {self.original!r}\n    here     {self.here!r}"


@dataclass(frozen=True)
class Expected:
    """An entry of the table. The patterns are searched in a difference; an empty one fits all,
    but an entry without `aspect` or `apart` is for readers only: the runner cannot see it."""

    program: str
    original: str
    here: str
    reason: str
    aspect: str = ""
    line: str = ""
    theirs: str = ""
    ours: str = ""
    apart: str = ""

    def leaves_out(self, program: str, line: str) -> str:
        """The kinds of lines of this command line's text that are not compared; nothing if the
        entry is about other lines."""
        fits = self.program == program and re.search(self.line, line) is not None
        return self.apart if fits else ""

    def explains(self, found: Difference) -> bool:
        return (
            self.aspect != ""
            and self.program == found.program
            and re.fullmatch(self.aspect, found.aspect) is not None
            and re.search(self.line, found.line) is not None
            and re.search(self.theirs, found.original or "") is not None
            and re.search(self.ours, found.here or "") is not None
        )


def load() -> list[Expected]:
    entries: list[dict[str, Any]] = tomllib.loads(TABLE.read_text())["difference"]
    return [Expected(**entry) for entry in entries]


def without_apart(found: Difference, table: list[Expected]) -> Difference:
    """A difference of lines without those that the table names."""
    if not found.aspect.endswith("lines"):
        return found
    patterns = [entry.leaves_out(found.program, found.line) for entry in table]
    apart = re.compile("|".join(f"(?:{pattern})" for pattern in patterns if pattern) or "(?!)")

    def reduced(text: str | None) -> str | None:
        if text is None:
            return None
        kept = [line for line in text.splitlines() if not apart.fullmatch(line)]
        return "\n".join(kept).rstrip("\n")  # a last empty line before one that is left out

    return replace(found, original=reduced(found.original), here=reduced(found.here))


def unexplained(found: list[Difference], table: list[Expected]) -> list[Difference]:
    left = [without_apart(one, table) for one in found]
    return [
        one
        for one in left
        if one.original != one.here and not any(entry.explains(one) for entry in table)
    ]


def as_markdown(program: str) -> str:
    """The table of a program as its page of the documentation shows it."""
    name = {"ior": "IOR", "mdtest": "mdtest"}[program]
    lines = [f"| {name} | here | why |", "|---|---|---|"]
    for entry in load():
        if entry.program == program:
            cells = (entry.original, entry.here, entry.reason)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_markdown(sys.argv[1]), end="")
