# SPDX-License-Identifier: BSD-3-Clause
"""The one HTML file that a report becomes. It opens without a network, runs no script but its own,
stays below ten megabytes whatever was measured, and explains its own words by the glossary
(docs/glossary.md)."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import effio
from effio import text as fmt
from effio.errors import EffioError, ExitCode
from effio.report.bounds import STEPS, Limits, bounded, bounded_block
from effio.report.common.names import first_of
from effio.report.draw import figure_data
from effio.report.model import (
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    Level,
    Link,
    Reason,
    Report,
    Section,
    Table,
)
from effio.report.plotly_part import part_of
from effio.shipped import shipped_with_effio
from effio.store.folder import now_utc
from effio.store.safe_files import write_atomically

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"[`*]")


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
    return _EMPHASIS.sub("", _LINK.sub(r"\1", markdown)).strip()


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


@functools.cache
def glossary() -> Sequence[Group]:
    return groups_of(shipped_with_effio("docs/glossary.md").read_text(encoding="utf-8"))


MAX_PAGE_BYTES = 10_000_000
# The whole of plotly.js is several times as large.
MAX_PART = 2_000_000
_MOST_SOURCES = 3
PAGE_SUFFIXES = (".html", ".htm")
_PAGE = Path(__file__).resolve().parent / "page"
# The page's own script: these files in one function, the last of which starts it.
_SCRIPTS = ("axes.js", "traces.js", "draw.js", "legends.js", "unpack.js", "page.js")
_MARKS: Mapping[str, str] = {"good": "✓", "warn": "!", "bad": "✗", "info": "i"}


@dataclass(frozen=True)
class Card:
    title: str
    text: str
    level: Level
    anchor: str = ""
    reasons: Sequence[Reason] = ()


def cards(report: Report) -> list[Card]:
    """The first screen: valid or not, cached or not, what limits."""
    titles = {"cache": "Cached?", "limit": "What limits it"}
    found = [
        Card(titles.get(f.card, f.card), f.text, f.level, f.anchor)
        for f in report.findings
        if f.card
    ]
    headline = report.headline
    if not headline.verdict:
        return found
    text = headline.verdict.replace("NOT VALID", "Not valid").replace("VALID", "Valid")
    valid = Card(
        "Valid" if headline.valid else "Not valid",
        text if text.endswith(".") else text + ".",
        "good" if headline.valid else "bad",
        headline.anchor,
        reasons=headline.reasons,
    )
    return [valid, *found]


@functools.cache
def _plotly() -> tuple[str, str]:
    """plotly.js as it is in the page, compressed, and the checksum of what it becomes
    there."""
    script = drawing_script()
    return _packed(script.encode()), _hash(script)


# A part of plotly.js: in a wheel next to the page; in a checkout where scripts/plotly puts it.
_PART = "plotly-cartesian.min.js"
_PARTS = (_PAGE / _PART, Path(effio.__file__).resolve().parents[2] / ".deps" / "plotly" / _PART)


def drawing_script() -> str:
    """The part of plotly.js that draws all kinds of figures: as scripts/plotly has fetched it, or
    cut out of the whole library. The whole library if this version cannot be cut."""
    file = plotly_script()
    script = file.read_text(encoding="utf-8")
    return script if file in _PARTS else part_of(script) or script


def has_part() -> bool:
    """Whether pages include only the needed part of plotly.js; a page with all of it has 2.2 MB."""
    return len(drawing_script()) < MAX_PART


def plotly_script() -> Path:
    """The part of plotly.js that draws all kinds of figures; where it is missing, the whole that
    Python's plotly carries; found without importing it, which takes a second."""
    for part in _PARTS:
        if part.is_file():
            return part
    package = importlib.util.find_spec("plotly")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("No module named 'plotly'", name="plotly")
    return Path(package.origin).parent / "package_data" / "plotly.min.js"


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@functools.cache
def _script() -> str:
    parts = [(_PAGE / name).read_text(encoding="utf-8") for name in _SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def _packed(content: bytes) -> str:
    """Compressed, and safe in HTML whatever it is."""
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=0)).decode("ascii")


def render(
    reports: Sequence[Report],
    sources: Sequence[str],
    together: Sequence[Block] = (),
    head: Section | None = None,
) -> str:
    """One self-contained page; `together` is about all reports at once, before them, or `head` in
    its place. What is too much for a page is shortened, which the page says."""
    if head is None and len(reports) > 1:
        head = Section("overview", "Overview", together)
    page = ""
    for limits in STEPS:
        page = fmt.encodable(_render(reports, sources, head, limits))
        if len(page.encode()) < MAX_PAGE_BYTES:
            break
    return page


@functools.cache
def _environment() -> jinja2.Environment:
    """Templates are compiled once in a process."""
    import jinja2  # not at every start

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["prose"] = fmt.prose
    environment.filters["words"] = fmt.words
    environment.filters["heading"] = fmt.heading
    environment.filters["breakable"] = fmt.breakable
    environment.globals["class_of"] = _class_of
    environment.globals["rows_of"] = _rows_of
    return environment


# The class of a verdict, by the first characters of its cell.
_MARKED = {"✗ ": "bad", "✓ ": "good", "≈ ": "open", "? ": "open"}


def _class_of(column: Column, cell: object = "", several: bool = False) -> Markup:
    """The class attribute of a cell, for style.css. In a table of several columns a short text
    stays on one line, and a long text gets a wide column, which keeps its row low."""
    from markupsafe import Markup

    text = cell if isinstance(cell, str) else ""
    names = [
        "n" if column.is_number else "",
        "extra" if column.extra else "",
        _MARKED.get(text[:2], ""),
        "plain" if column.title in ("rule", "ruling", "run") else "",
        "whole" if text and fmt.is_one_value(text) else "",
    ]
    if several and text and not column.is_number:
        names.append("short" if len(text) <= 20 else "phrase" if len(text) <= 60 else "sentence")
    found = " ".join(filter(None, names))
    return Markup(f' class="{found}"' if found else "")


def _rows_of(table: Table) -> Markup:
    """The rows of a table. A page has 40,000 cells, for which a template takes three times as
    long."""
    from markupsafe import Markup, escape

    several = len(table.columns) > 2
    columns = [
        (c, _class_of(c), f' data-label="{escape(c.title)}"' if table.cards else "")
        for c in table.columns
    ]

    def shown(cell: Cell, column: Column, first: bool) -> Markup:
        if isinstance(cell, Link):
            return Markup(f'<a href="{escape(cell.href)}">{escape(cell)}</a>')
        text = column.show(cell)
        if not several:
            return fmt.words(text)
        return fmt.breakable(text) if first else escape(text)

    # Most texts are in many rows.
    of_texts: list[dict[str, Markup]] = [{} for _ in columns]

    def class_of(i: int, cell: Cell) -> Markup:
        if not isinstance(cell, str):
            return columns[i][1]
        if (name := of_texts[i].get(cell)) is None:
            name = of_texts[i][cell] = _class_of(columns[i][0], cell, several)
        return name

    parts = []
    for row in table.rows:
        parts.append("<tr>")
        for i, ((column, _, label), cell) in enumerate(zip(columns, row, strict=True)):
            name = class_of(i, cell)
            exact = column.is_number and cell is not None
            value = f' data-v="{escape(cell)}"' if exact else ""
            parts.append(f"<td{name}{label}{value}>{shown(cell, column, i == 0)}")
    return Markup("".join(parts))


def _render(
    reports: Sequence[Report], sources: Sequence[str], head: Section | None, limits: Limits
) -> str:
    """Scripts run by their checksum only, so that nothing that came in with a result could ever
    run, even if it were not escaped."""
    from markupsafe import Markup

    environment = _environment()
    blocks = environment.get_template("blocks.html.j2").module
    figures: dict[str, object] = {}

    def show(block: Block, prefix: str) -> Markup:
        if isinstance(block, Figure):
            identity = f"{prefix}-{block.id}"
            # The table of its numbers is shown on demand; compressed with the figures it takes a
            # tenth of the space.
            numbers = str(blocks.table(block.as_table()))  # type: ignore[attr-defined]
            figures[identity] = {**figure_data(block, identity), "table": numbers}
            return Markup(blocks.figure(block, identity))  # type: ignore[attr-defined]
        if isinstance(block, Table):
            if not block.rows:
                return Markup("")
            name = "".join(c if c.isalnum() else "-" for c in block.title or "table").lower()
            return Markup(blocks.table_block(block, name))  # type: ignore[attr-defined]
        if isinstance(block, Heading):
            return Markup('<h2 id="{}-{}" class="part">{}</h2>').format(prefix, block.anchor, block)
        if isinstance(block, Link):
            return Markup('<p><a href="{}">{}</a></p>').format(block.href, block)
        return Markup("<p>{}</p>").format(block)

    reports = [bounded(r, limits) for r in reports]
    if head is not None:
        head = replace(head, blocks=[bounded_block(block, limits) for block in head.blocks])
    first = head.blocks if head is not None else ()
    drawn = any(r.figures() for r in reports) or any(isinstance(b, Figure) for b in first)
    plotly, checksum = _plotly() if drawn else ("", "")
    script = _script()
    own = head is not None and head.id != "overview"
    title = "effio: " + (head.title if head and own else ", ".join(r.name for r in reports))

    page = environment.get_template("page.html.j2")
    return page.render(
        title=title,
        reports=reports,
        head=head,
        cards=cards,
        marks=_MARKS,
        render=show,
        style=Markup((_PAGE / "style.css").read_text(encoding="utf-8")),
        script_hashes=Markup(f"{checksum} {_hash(script)}".strip()),
        plotly=Markup(plotly),
        script=Markup(script),
        figures_packed=_Late(
            lambda: _packed(json.dumps(figures, allow_nan=False, separators=(",", ":")).encode())
        ),
        version=effio.__version__,
        made=now_utc(),
        # The page of a campaign has hundreds, which its tables name.
        sources=first_of(sources, _MOST_SOURCES),
        terms=glossary(),
    )


def write_page(target: Path, page: str) -> Path:
    """Refuses other suffixes than .html and .htm: programs choose by the suffix how to open a
    file."""
    if target.suffix.lower() not in PAGE_SUFFIXES:
        raise EffioError(
            f"{target}: a page is a file whose name ends in {' or '.join(PAGE_SUFFIXES)}",
            hint="effio report --png, --svg and --pdf FIGURE write single figures",
        )
    return write_text(target, page)


def write_text(target: Path, text: str) -> Path:
    """Writes the whole file or none."""
    try:
        write_atomically(target, fmt.encodable(text))
    except OSError as error:
        raise EffioError(f"cannot write {target}: {error.strerror}", ExitCode.IO_ERROR) from None
    return target


class _Late:
    """Markup that is known when the rest of the page is."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __html__(self) -> str:
        return self._make()
