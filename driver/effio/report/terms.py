# SPDX-License-Identifier: BSD-3-Clause
"""The glossary (docs/glossary.md) as a part of each page, so that a report explains its own words
without a network."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from effio.engine.discover import shipped_with_effio

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[`*]")


@dataclass(frozen=True)
class Term:
    name: str
    meaning: str


@dataclass(frozen=True)
class Group:
    """Terms under one heading of the glossary."""

    title: str
    terms: Sequence[Term]


def _plain(markdown: str) -> str:
    """Without links, whose pages are not in the report, and without marks of Markdown."""
    return _MARKS.sub("", _LINK.sub(r"\1", markdown)).strip()


def groups_of(markdown: str) -> list[Group]:
    """The tables of two columns below the headings of a page."""
    groups: list[Group] = []
    terms: list[Term] = []
    for line in markdown.splitlines():
        if line.startswith("## "):
            terms = []
            groups.append(Group(_plain(line[3:]), terms))
        elif groups and line.startswith("| ") and not line.startswith("| term |"):
            name, meaning = line.strip("| ").split(" | ", 1)
            terms.append(Term(_plain(name), _plain(meaning)))
    return groups


@cache
def glossary() -> Sequence[Group]:
    return groups_of(shipped_with_effio("docs/glossary.md").read_text(encoding="utf-8"))
