# SPDX-License-Identifier: BSD-3-Clause
"""Tables in a terminal of any width. What identifies a row is never dropped and no number loses its
unit; what matters least goes first, and is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.table import Table as RichTable
from rich.text import Text

_GAP = 2
# A text may become so narrow before a column is left out, and a text that is kept so narrow.
_NARROWEST = 16
_READABLE = 24
# When only columns are left that are kept.
_LAST_RESORT = 8


@dataclass
class Field:
    """A column: `kept` ones stay whatever the width. `right` is for numbers, which never fold."""

    title: str
    cells: list[Text] = field(default_factory=list)
    right: bool = False
    kept: bool = False

    @property
    def natural(self) -> int:
        return max([self._title_width, *(c.cell_len for c in self.cells)])

    @property
    def least(self) -> int:
        if self.right:
            return self.natural
        room = _READABLE if self.kept else _NARROWEST
        return min(self.natural, max(self.word, room))

    @property
    def word(self) -> int:
        """The longest one."""
        words = (len(w) for c in self.cells for w in c.plain.split())
        return max([self._title_width, *words])

    @property
    def _title_width(self) -> int:
        """Titles fold between words."""
        return max([0, *(len(w) for w in self.title.split())])


def grid(fields: Sequence[Field], width: int, title: str = "") -> tuple[RichTable, list[str]]:
    """The table, no wider than `width` unless its kept columns are, and the names of those left
    out: from the right, those first that need not be kept."""
    shown = list(fields)
    left_out: list[str] = []
    while _needed(shown) > width and any(not f.kept for f in shown):
        last = next(f for f in reversed(shown) if not f.kept)
        shown.remove(last)
        left_out.insert(0, last.title)
    widths = {id(f): f.least for f in shown}
    room = width - _needed(shown)
    for f in sorted((f for f in shown if f.least < f.natural), key=lambda f: f.natural):
        more = max(0, min(room, f.natural - f.least))
        widths[id(f)] += more
        room -= more
    # Only kept columns are left: texts fold between words, and within words if nothing else helps.
    for floor in (lambda f: f.word, lambda f: 0):
        for f in sorted((f for f in shown if not f.right), key=lambda f: -f.least):
            if room < 0:
                less = min(-room, max(0, widths[id(f)] - max(floor(f), _LAST_RESORT)))
                widths[id(f)] -= less
                room += less
    table = RichTable(
        title=Text(title, style="bold") if title else None,
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, _GAP, 0, 0),
        header_style="dim",
    )
    for f in shown:
        table.add_column(
            Text(f.title),
            justify="right" if f.right else "left",
            width=widths[id(f)],
            overflow="fold",
        )
    for row in zip(*(f.cells for f in shown), strict=True):
        table.add_row(*row)
    return table, left_out


def _needed(fields: Sequence[Field]) -> int:
    return sum(f.least for f in fields) + _GAP * max(0, len(fields) - 1)


def long_lines(
    fields: Sequence[tuple[str, Sequence[str], bool]], width: int
) -> tuple[Iterator[str], list[str]]:
    """The same for thousands of rows, for which rich takes too long: lines that never fold. A field
    is its title, its cells and whether it is kept."""
    shown = list(fields)
    left_out: list[str] = []
    widths = {title: max(_width(text) for text in (title, *cells)) for title, cells, _ in fields}
    while sum(widths[f[0]] + _GAP for f in shown) - _GAP > width and not all(f[2] for f in shown):
        last = next(f for f in reversed(shown) if not f[2])
        shown.remove(last)
        left_out.insert(0, last[0])

    def padded(title: str, text: str) -> str:
        return text + " " * (widths[title] - _width(text))

    def drawn() -> Iterator[str]:
        gap = " " * _GAP
        titles = [title for title, _, _ in shown]
        for row in [titles, *zip(*(cells for _, cells, _ in shown), strict=True)]:
            yield gap.join(map(padded, titles, row)).rstrip()

    return drawn(), left_out


def _width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)
