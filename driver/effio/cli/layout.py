# SPDX-License-Identifier: BSD-3-Clause
"""Layout of a table on a terminal of any width.

Numbers and headers are never cut, and no word is split. If a table is too wide, texts wrap, the
widest one first. Columns that still do not fit move to a second line below their row, or are
omitted and named below the table. Without a width, as in a pipe, each record is one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

from rich.cells import cell_len

_GAP = 2
_INDENT = 4
# Width of a wrapped text: the minimum, and the minimum while columns can still be omitted.
_NARROWEST = 16
_READABLE = 24
# A sentence column narrower than this moves below its row.
_SENTENCE = 40

# A number and its unit count as one word, as do a date and its time.
_GLUE = "\u00a0"
_UNIT = r"(?:[kMGTPE]?i?B(?:/s)?|[kMGTPE]?op/s|[nµm]?s|min|h|%|1/s)(?![\w/])"
_ONE_WORD = re.compile(rf"(?<=\d) (?={_UNIT})|(?<=\d\d-\d\d) (?=\d\d:)")


def width_of(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def _words(text: str) -> list[str]:
    return _ONE_WORD.sub(_GLUE, text).split(" ")


def wrapped(text: str, width: int) -> list[str]:
    """Splits a text between words; a word wider than `width` gets its own line."""
    lines: list[str] = []
    line = ""
    for word in _words(text):
        if line and width_of(line) + 1 + width_of(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [one.replace(_GLUE, " ") for one in [*lines, line]]


def listed(head: str, items: Sequence[str], width: int) -> list[str]:
    """Lines that break between items if each item fits in a line."""
    whole = [i.replace(" ", _GLUE) if width_of(i) + 2 <= width else i for i in items]
    text = f"{_GLUE}· ".join(whole)
    return wrapped(f"{head}{_GLUE}{text}" if head else text, width)


@dataclass(frozen=True)
class Field:
    """A column. `kept`: shown at any width; `below`: sentences that may move to a second line;
    `measured`: the numbers that the table is about. `styles` are styles of rich, one per cell."""

    title: str
    cells: Sequence[str]
    number: bool = False
    kept: bool = False
    below: bool = False
    measured: bool = False
    styles: Sequence[str] = ()

    @cached_property
    def is_ascii(self) -> bool:
        return all(map(str.isascii, self.cells))

    @cached_property
    def content(self) -> int:
        return max(map(len if self.is_ascii else width_of, self.cells), default=0)

    @cached_property
    def natural(self) -> int:
        return max(width_of(self.title), self.content)

    @cached_property
    def floor(self) -> int:
        """The widest number or word: no narrower column can show it."""
        title = max(map(width_of, _words(self.title)))
        if self.number:
            return max(title, self.content)
        return max([title, *(width_of(w) for cell in self.cells for w in _words(cell))])

    def _least(self, room: int) -> int:
        return self.floor if self.number else min(self.natural, max(self.floor, room))

    @property
    def least(self) -> int:
        """Smallest width while other columns can still be omitted."""
        return self._least(_SENTENCE if self.below else _READABLE if self.kept else _NARROWEST)

    @property
    def squeezed(self) -> int:
        """Smallest width at all; a narrower column moves to a second line."""
        return self._least(_NARROWEST)


@dataclass(frozen=True)
class Layout:
    """`columns` with their widths, the fields `below` each row, and the titles of omitted ones."""

    columns: Sequence[tuple[Field, int]]
    below: Sequence[Field] = ()
    left_out: Sequence[str] = ()


def _needed(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * max(0, len(widths) - 1)


def _first_to_go(shown: Sequence[Field]) -> Field | None:
    """The column to remove next: sentences first (they move below), then very wide columns, then
    the last one."""
    loose = [f for f in shown if not f.kept]
    wide = [f for f in loose if f.least > _SENTENCE]
    rest = [f for f in shown if f.below] or wide or loose
    return rest[-1] if rest else None


def laid_out(fields: Sequence[Field], width: int | None) -> Layout:
    """Places the columns. The result exceeds `width` only if a single column's longest word
    does."""
    if width is None:
        return Layout([(f, f.natural) for f in fields])
    shown, below, left_out = list(fields), list[Field](), list[Field]()
    while len(shown) > 1 and _needed([f.least for f in shown]) > width:
        out = _first_to_go(shown)
        if out is None:
            break
        shown.remove(out)
        (below if out.below else left_out).append(out)
    while len(shown) > 1 and _needed([f.squeezed for f in shown]) > width:
        texts = [f for f in shown[1:] if not f.number]
        # The widest one; of equally wide ones the last.
        out = max(reversed(texts), key=lambda f: f.squeezed) if texts else shown[-1]
        shown.remove(out)
        below.append(out)
    fits = _needed([f.least for f in shown]) <= width
    widths = {id(f): f.least if fits else f.squeezed for f in shown}
    room = width - _needed(list(widths.values()))
    # Cells get their width before titles, and narrow columns before wide ones: the widest text
    # wraps.
    for name in ("content", "natural"):
        for field in sorted(shown, key=attrgetter(name)):
            more = max(0, min(room, getattr(field, name) - widths[id(field)]))
            widths[id(field)] += more
            room -= more
    columns = [(f, widths[id(f)]) for f in shown]
    order = [f for f in fields if any(f is out for out in below)]
    return Layout(columns, order, [f.title for f in fields if any(f is o for o in left_out)])


Piece = tuple[str, str]  # text and style
Line = list[Piece]
Cells = Sequence[Sequence[str]]  # of one row; each cell is a list of lines


def _padded(text: str, width: int, number: bool) -> str:
    if text.isascii():
        return text.rjust(width) if number else text.ljust(width)
    blank = " " * (width - width_of(text))
    return blank + text if number else text + blank


def _stripped(line: Line) -> Line:
    """Removes trailing blanks."""
    while line and not line[-1][0].rstrip():
        line.pop()
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else line


def _joined(
    cells: Sequence[Sequence[str]], layout: Layout, styles: Sequence[str]
) -> Iterator[Line]:
    """The lines of one row or of the header."""
    for n in range(max(map(len, cells))):
        line: Line = []
        for (field, width), texts, style in zip(layout.columns, cells, styles, strict=True):
            if line:
                line.append((" " * _GAP, ""))
            line.append((_padded(texts[n] if n < len(texts) else "", width, field.number), style))
        yield _stripped(line)


def _header(layout: Layout) -> Iterator[Line]:
    """Titles are aligned at the bottom line."""
    cells = [wrapped(field.title, width) for field, width in layout.columns]
    height = max(map(len, cells))
    level = [[""] * (height - len(texts)) + texts for texts in cells]
    return _joined(level, layout, ["dim"] * len(level))


def _below(layout: Layout, row: int, width: int) -> Iterator[Line]:
    said = [f"{f.title}: {f.cells[row]}" for f in layout.below if f.cells[row] not in ("", "–")]
    for text in listed("", said, width - _INDENT) if said else []:
        yield [(" " * _INDENT + text, "dim")]


def plain_lines(layout: Layout) -> Iterator[str]:
    """What `lines` gives for a layout without a width; much quicker for ten thousand rows."""
    for line in _header(layout):
        yield "".join(text for text, _ in line)
    columns = [_column(field, width) for field, width in layout.columns]
    for row in zip(*columns, strict=True):
        yield (" " * _GAP).join(row).rstrip()


def _column(field: Field, width: int) -> list[str]:
    if field.is_ascii:
        pad = str.rjust if field.number else str.ljust
        return [pad(cell, width) for cell in field.cells]
    return [_padded(cell, width, field.number) for cell in field.cells]


def lines(layout: Layout, width: int | None) -> Iterator[Line]:
    """The header and all rows."""
    yield from _header(layout)
    count = len(layout.columns[0][0].cells)
    for row in range(count):
        cells, styles = [], []
        for field, room in layout.columns:
            text = field.cells[row]
            fits = field.number or width_of(text) <= room
            cells.append([text] if fits else wrapped(text, room))
            styles.append(field.styles[row] if field.styles else "")
        yield from _joined(cells, layout, styles)
        if layout.below and width is not None:
            yield from _below(layout, row, width)
