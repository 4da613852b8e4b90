# SPDX-License-Identifier: BSD-3-Clause
"""What a report is made of, independent of how it is drawn: findings, tables, figures, sections.

The HTML page, matplotlib (`--png`, `--pdf`) and the terminal draw the same objects. Values are in
base units (bytes, seconds, bytes per second); a column or axis says how to show them. All text is
plain text: whoever draws it escapes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, overload

from msgspec import Struct

from effio import text as fmt
from effio.store.option_values import coordinate_text

if TYPE_CHECKING:
    from effio.store.evidence import Evidence


class Quantity(Struct, frozen=True):
    """A cell with its own unit, in a column whose rows differ in theirs."""

    value: float
    unit: str

    def __str__(self) -> str:
        return repr(self.value)


class Link(str):
    """A text that leads to another page; `href` is an address that effio made."""

    __slots__ = ("href",)
    href: str

    def __new__(cls, text: str, href: str) -> Link:
        link = super().__new__(cls, text)
        link.href = href
        return link


class AxisValue(str):
    """The value of an axis as it was given, "65536" or "64KiB"; `shown` is how people read it."""

    __slots__ = ("shown",)
    shown: str

    def __new__(cls, name: str, value: object) -> AxisValue:
        made = super().__new__(cls, str(value))
        made.shown = coordinate_text(name, value)
        return made


class RunNames(str):
    """Names of runs, which a terminal may shorten. `rest` is the number of further runs."""

    __slots__ = ("names", "rest")
    names: tuple[str, ...]
    rest: int

    def __new__(cls, names: Sequence[str], most: int | None = None) -> RunNames:
        some = tuple(names[:most])
        rest = len(names) - len(some)
        made = super().__new__(cls, cls._joined(some, rest))
        made.names, made.rest = some, rest
        return made

    @staticmethod
    def _joined(names: Sequence[str], rest: int) -> str:
        return ", ".join(names) + (f" and {rest} more" if rest else "")

    def shortened(self, shorten: Callable[[str], str]) -> str:
        return self._joined([shorten(name) for name in self.names], self.rest)


Cell = str | float | int | bool | Quantity | None
Level = Literal["good", "warn", "bad", "info"]


@dataclass(frozen=True)
class Column:
    """`unit` is what the raw values have ("B/s", "s", "B", "1" or ""); `shown` is what a table
    shows them in ("MB/s", "ms", ...), one for the whole column; empty: each cell scales itself."""

    name: str
    unit: str = ""
    shown: str = ""
    digits: int = 4
    # Omitted first on a narrow terminal.
    extra: bool = False
    # Shown on a terminal of any width. If no column is marked, `cli/tables.py` chooses.
    kept: bool = False
    # A sentence, which moves to a line below its row on a narrow terminal.
    below: bool = False
    # On a terminal a heading above the rows with equal values instead of a column: "campaign {}".
    group: str = ""
    # Styles of rich for a terminal, by the text of the cell.
    colors: Mapping[str, str] = field(default_factory=dict)
    # Numbers without a unit, shown unrounded; `right` aligns them.
    exact: bool = False
    right: bool = False
    # Requested by the user: also printed where all its cells are empty, or there are none.
    asked: bool = False

    @property
    def title(self) -> str:
        return f"{self.name} [{self.shown}]" if self.shown else self.name

    @property
    def csv_title(self) -> str:
        return f"{self.name} [{self.unit}]" if self.unit not in ("", "1") else self.name

    @property
    def is_number(self) -> bool:
        return bool(self.unit) or self.right

    def show(self, cell: Cell) -> str:
        if isinstance(cell, str):
            return cell.shown if isinstance(cell, AxisValue) else cell
        if cell is None:
            return "–"
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, Quantity):
            return fmt.quantity(cell.value, cell.unit)
        if self.exact:
            return str(cell)
        if not self.unit:
            return f"{cell:d}" if isinstance(cell, int) else fmt.significant(cell, self.digits)
        if self.shown:
            return fmt.significant(cell * _SCALES[self.shown], self.digits)
        if self.unit == "1" and isinstance(cell, int):
            return f"{cell:,}".replace(",", " ")
        return fmt.quantity(float(cell), self.unit)

    def show_all(self, cells: Sequence[Cell]) -> Sequence[str]:
        """What `show` gives for each of them, sooner for many: equal cells are shown once."""
        kinds = set(map(type, cells))
        if kinds == {str}:
            return cells  # type: ignore[return-value]
        if kinds == {AxisValue}:
            return [cell.shown for cell in cells]  # type: ignore[union-attr]
        # Cells of different types may be equal, as are 0.0 and -0.0.
        if len(kinds) == 1 and kinds <= {int, float} and 0 not in cells:
            shown = {cell: self.show(cell) for cell in set(cells)}
            return [shown[cell] for cell in cells]
        return list(map(self.show, cells))


_SCALES = {"MB/s": 1e-6, "GB/s": 1e-9, "MiB": 2**-20, "ms": 1e3, "µs": 1e6, "s": 1.0, "%": 100.0}


# Longer texts are sentences.
_PHRASE = 60
# A card of more lines is not read.
_OF_A_CARD = 8
# No page shows more rows of a table.
_MADE_AT_ONCE = 1000


@dataclass(frozen=True)
class Table:
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    caption: str = ""
    # Too long for a terminal: shown in the page and in CSV only.
    page_only: bool = False
    # In a narrow window each row is a card, so that no column is out of sight. A table of a few
    # columns with sentences is always shown so: in a column they make a row tall.
    narrow_cards: bool = False

    @cached_property  # needed for every cell
    def cards(self) -> bool:
        sentences = (c for row in self.rows for c in row if isinstance(c, str) and len(c) > _PHRASE)
        return self.narrow_cards or (2 < len(self.columns) <= _OF_A_CARD and any(sentences))


Item = TypeVar("Item")
Made = TypeVar("Made")


class _Late(Sequence[Made], Generic[Item, Made]):
    """What `make` makes of each item, made when it is read; `make_all` of several at once."""

    def __init__(
        self,
        items: Sequence[Item],
        make: Callable[[Item], Made],
        make_all: Callable[[Sequence[Item]], Sequence[Made]] | None = None,
    ) -> None:
        self._items = items
        self._make = make
        self._make_all = make_all or (lambda some: list(map(make, some)))

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Made: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Made]: ...
    def __getitem__(self, index: int | slice) -> Made | Sequence[Made]:
        if isinstance(index, slice):
            return self._make_all(self._items[index])
        return self._make(self._items[index])


def made_late(
    items: Sequence[Item],
    make: Callable[[Item], Made],
    make_all: Callable[[Sequence[Item]], Sequence[Made]] | None = None,
) -> Sequence[Made]:
    """Rows of a table or notes of a curve. Of 100,000 a page shows the first thousand, or none:
    texts of the others need not be made."""
    late = _Late(items, make, make_all)
    return list(late) if len(late) <= _MADE_AT_ONCE else late


def table_of(
    items: Iterable[Item],
    columns: Sequence[tuple[Column, Callable[[Item], Cell]]],
    title: str = "",
    caption: str = "",
    longest: int | None = None,
    narrow_cards: bool = False,
) -> Table:
    """A row for each item, with a cell for each column. A table of more than `longest` rows is only
    on the page."""
    made = [cell for _, cell in columns]

    def row(item: Item) -> Sequence[Cell]:
        return [cell(item) for cell in made]

    def some_rows(some: Sequence[Item]) -> Sequence[Sequence[Cell]]:
        return list(zip(*(map(cell, some) for cell in made), strict=True))

    rows = made_late(list(items), row, some_rows)
    page_only = longest is not None and len(rows) > longest
    return Table([column for column, _ in columns], rows, title, caption, page_only, narrow_cards)


@dataclass(frozen=True)
class Axis:
    """`unit` as for columns; `ticks` are (position, label) where the axis has its own; `shown` is
    "%" for fractions. A logarithmic axis can be switched to linear on the page if `switch`. Limits
    and labels are `axes.scale_of`'s."""

    title: str
    unit: str = "1"
    log: bool = False
    ticks: Sequence[tuple[float, str]] = ()
    switch: bool = False
    # Fixed limits, in base units; of a heat map's colours too. None: from the data.
    low: float | None = None
    high: float | None = None
    shown: Literal["", "%"] = ""


@dataclass(frozen=True)
class Series:
    """One curve, bar group or cloud of points. `style` picks colour and marker: equal numbers look
    equal in all panels and figures of a report."""

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    style: int = 0
    high: Sequence[float | None] = ()  # upper end of a whisker
    notes: Sequence[str] = ()  # more words for a point, on hovering
    faulty: Sequence[bool] = ()  # points to be marked as not trustworthy
    form: Literal["line", "points", "limit"] = "line"  # limit: a ceiling, dashed, no markers
    low: Sequence[float | None] = ()  # lower end; without it a whisker begins at the point
    dashed: bool = False  # in the color of the solid series of the same style

    def __post_init__(self) -> None:
        # A quotient of numbers of a tampered result may be beyond them: there is nothing to draw.
        for name in ("y", "high", "low"):
            values = [v if v is None or math.isfinite(v) else None for v in getattr(self, name)]
            object.__setattr__(self, name, values)


@dataclass(frozen=True)
class Panel:
    title: str
    series: Sequence[Series]
    # Heat maps: one value for each (y, x), None where there is none.
    x_labels: Sequence[str] = ()
    y_labels: Sequence[str] = ()
    values: Sequence[Sequence[float | None]] = ()


@dataclass(frozen=True)
class Figure:
    """Panels side by side with common axes. `variants` are the same panels for other circumstances
    (numbers of ranks, say); the page offers a choice, the first is shown."""

    id: str
    title: str
    caption: str
    kind: Literal["curves", "bars", "stacked", "heatmap", "radar"]
    x: Axis
    y: Axis
    variants: Mapping[str, Sequence[Panel]]
    columns: int = 3  # panels in a row
    variant_title: str = ""
    # The figure's numbers; empty: made from the panels.
    table: Table | None = None
    # Rows of panels, each with its own title: (title, number of panels).
    bands: Sequence[tuple[str, int]] = ()
    panel_height: int = 260

    def as_table(self) -> Table:
        return self.table if self.table is not None else _table_of(self)


@dataclass(frozen=True)
class Finding:
    """One sentence that follows from the data, and where to look for its reason."""

    text: str
    anchor: str = ""
    level: Level = "info"
    # Cards of the first screen: "valid", "cache", "limit"; others are listed below them.
    card: str = ""


@dataclass(frozen=True)
class Reason:
    """A condition for a valid number, and whether it is met. If `asked` is false: what made the
    number invalid, without a condition of the benchmark."""

    text: str
    met: bool
    asked: bool = True

    @property
    def shown(self) -> str:
        return self.text if self.met or not self.asked else f"{self.text} (not reached)"


# Why a number has no interval that is not a mean.
NO_MEAN = "not a mean of repetitions: no interval"


@dataclass(frozen=True)
class Headline:
    """The one number as a claim: value, the cell that it is of, where that cell's bytes were, its
    interval or why it has none, and whether it counts. Whatever is said of the number (tick, card,
    list of runs) is said of its `evidence`."""

    name: str
    value: float | None
    unit: str
    context: str = ""  # "on 64 ranks, ..."
    valid: bool | None = None
    verdict: str = ""  # "VALID", "NOT VALID for comparison of systems"; empty: no rules apply
    reasons: Sequence[Reason] = ()
    missing: str = ""  # why there is no value
    anchor: str = ""  # what shows how it is computed
    counts: str = ""  # what it counts: "writes until on storage"
    # Of the cell's bytes; empty where it is not a number of bytes.
    evidence: Sequence[Evidence] = ()
    # ± half a 95 % interval, or why there is none.
    interval: str = ""
    # A fraction, shown as a percentage.
    share: bool = False

    def basis(self, between: str = "; ") -> str:
        """What follows the number in parentheses."""
        return between.join(part for part in (self.counts, self.interval) if part)

    def sureness(self) -> str:
        """The interval, or why there is none: without a number, why there is no number."""
        return (self.interval if self.value is not None else "") or self.missing or NO_MEAN

    def shown(self) -> str:
        if self.share and self.value is not None:
            return fmt.share(self.value)
        if self.unit == "1" and isinstance(self.value, int):
            return str(self.value)  # a count
        return fmt.quantity(self.value, self.unit)


class Heading(str):
    """A heading within a section, for the blocks that follow it."""

    __slots__ = ()

    @property
    def anchor(self) -> str:
        """The anchor in a page: an id made of its letters and digits."""
        return "part-" + "".join(c if c.isalnum() else "-" for c in self.lower())


Block = Table | Figure | Heading | str


@dataclass(frozen=True)
class Section:
    id: str
    title: str
    blocks: Sequence[Block]
    intro: str = ""
    # On the terminal too (`effio show`).
    show: bool = True

    @property
    def headings(self) -> list[Heading]:
        return [block for block in self.blocks if isinstance(block, Heading)]


@dataclass(frozen=True)
class Report:
    """The report of one result."""

    name: str
    benchmark: str
    headline: Headline
    findings: Sequence[Finding]
    sections: Sequence[Section]
    subtitle: str = ""
    remarks: Sequence[str] = field(default_factory=tuple)

    def figures(self) -> list[Figure]:
        return [b for s in self.sections for b in s.blocks if isinstance(b, Figure)]


def _table_of(figure: Figure) -> Table:
    """Every point of every panel, one a row."""
    several = len(figure.variants) > 1
    columns = [Column(figure.variant_title or "case")] if several else []
    head = [*columns, Column("panel")]
    if figure.kind == "heatmap":
        rows: list[list[Cell]] = [
            [*([name] if several else []), panel.title, y, x, value]
            for name, panels in figure.variants.items()
            for panel in panels
            for y, line in zip(panel.y_labels, panel.values, strict=False)
            for x, value in zip(panel.x_labels, line, strict=False)
        ]
        axes = [Column(figure.y.title), Column(figure.x.title), Column("value", figure.y.unit)]
        return Table([*head, *axes], rows, figure.title)
    labels = dict(figure.x.ticks)
    drawn = [s for panels in figure.variants.values() for p in panels for s in p.series]
    whiskers, intervals = any(s.high for s in drawn), any(s.low for s in drawn)
    rows = []
    for name, panels in figure.variants.items():
        for panel in panels:
            for series in panel.series:
                if series.form == "limit":
                    continue
                for i, (x, y) in enumerate(zip(series.x, series.y, strict=True)):
                    shown: Cell = labels.get(x, x) if isinstance(x, float) else x
                    row: list[Cell] = [*([name] if several else []), panel.title, series.name]
                    row += [shown, y]
                    if whiskers:
                        row.append(series.high[i] if i < len(series.high) else None)
                    if intervals:
                        row.append(series.low[i] if i < len(series.low) else None)
                    rows.append(row)
    x_unit = "" if figure.x.ticks else figure.x.unit
    tail = [Column("series"), Column(figure.x.title, x_unit), Column(figure.y.title, figure.y.unit)]
    if whiskers:
        tail.append(Column("upper end", figure.y.unit))
    if intervals:
        tail.append(Column("lower end", figure.y.unit))
    return Table([*head, *tail], rows, figure.title)
