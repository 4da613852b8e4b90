# SPDX-License-Identifier: BSD-3-Clause
"""Prints the tables of all commands. On a terminal a table fits the width (`cli/layout.py`), values
that are equal in all rows are shown once, and runs have short ids. In a pipe nothing is shortened,
wrapped or omitted, and each record is one line. `--format` writes the same table for other
programs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, repeat
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.segment import Segment, Segments
from rich.text import Text

from effio import text as fmt
from effio.cli.layout import Field, laid_out, lines, listed, plain_lines
from effio.cli.options import GroupedOption
from effio.report.model import Cell, Column, Quantity, RunNames, Table
from effio.report.texts import Form, written

Shorten = Callable[[str], str]

_F = TypeVar("_F", bound=Callable[..., Any])
# Longer tables are printed without colors, which would take too long.
_COLORED = 2000


def in_pipe(console: Console) -> bool:
    return not console.is_terminal


def _kept(table: Table) -> set[int]:
    """Columns that are shown on a narrow terminal, too: those marked `kept`; if there are none, the
    columns that identify a row, the first rate or other measured value, and remarks."""
    said = {i for i, c in enumerate(table.columns) if c.kept}
    if said:
        return said
    measured = [i for i, c in enumerate(table.columns) if c.unit not in ("", "1")]
    first = measured[0] if measured else len(table.columns)
    rates = [i for i in measured if table.columns[i].unit.endswith("/s")]
    values = [i for i, c in enumerate(table.columns) if c.name in ("value", "remark", "reason")]
    kept = {*range(first), *(rates or measured)[:1], *values}
    return {i for i in kept if not table.columns[i].extra}


def _texts(column: Column, cells: Sequence[Cell], shorten: Shorten | None) -> Sequence[str]:
    if shorten is None or RunNames not in set(map(type, cells)):
        return column.show_all(cells)
    return [
        cell.shortened(shorten) if isinstance(cell, RunNames) else column.show(cell)
        for cell in cells
    ]


def _is_empty(column: Column, cells: Sequence[Cell]) -> bool:
    apart = column.group or column.name == "unit in CSV"
    return bool(apart) or all(cell in (None, "") for cell in cells)


def _fields(
    table: Table, rows: Sequence[Sequence[Cell]], shorten: Shorten | None
) -> Iterator[Field]:
    """Drops columns without information; the page and other formats still have them."""
    kept = _kept(table)
    each = zip(*rows, strict=True) if rows else repeat(())
    for i, (column, cells) in enumerate(zip(table.columns, each, strict=False)):
        if not column.asked and _is_empty(column, cells):
            continue
        kinds = set(map(type, cells))
        yield Field(
            fmt.plain(column.title),
            fmt.all_plain(_texts(column, cells, shorten)),
            column.is_number,
            i in kept,
            column.below,
            i in kept and any(issubclass(kind, (float, Quantity)) for kind in kinds),
            [column.colors.get(str(cell), "") for cell in cells] if column.colors else (),
        )


def _without_equal(fields: list[Field]) -> tuple[list[Field], list[str]]:
    """Columns whose values differ between rows, and the other columns as texts. The number that the
    table is about stays a column."""
    rows = len(fields[0].cells) if fields else 0
    equal = {id(f) for f in fields if rows > 1 and len(set(f.cells)) == 1 and not f.measured}
    if len(equal) == len(fields):
        return fields, []
    said = [f"{f.title} {f.cells[0]}".strip() for f in fields if id(f) in equal]
    return [f for f in fields if id(f) not in equal], said


def _groups(table: Table) -> Iterator[tuple[str, Sequence[Sequence[Cell]]]]:
    """Rows grouped below their headings."""
    at = next((i for i, column in enumerate(table.columns) if column.group), None)
    if at is None:
        yield "", table.rows
        return
    column = table.columns[at]
    for cell, rows in groupby(table.rows, key=lambda row: row[at]):
        name = column.group.format(fmt.plain(column.show(cell))) if cell else f"no {column.name}"
        some = list(rows)
        yield f"{name} ({len(some)})", some


def _print_plain(console: Console, texts: Iterable[str]) -> None:
    """Lines as they are, which rich need not look at one by one."""
    console.print(Segments([Segment("".join(f"{text}\n" for text in texts))]), soft_wrap=True)


def _print_rows(console: Console, fields: list[Field], whole: str, width: int | None) -> None:
    fields, said = _without_equal(fields) if width is not None else (fields, [])
    if not fields:
        return
    layout = laid_out(fields, width)
    if width is None:
        _print_plain(console, plain_lines(layout))
        return
    drawn = list(lines(layout, width))
    if len(drawn) > _COLORED:
        _print_plain(console, ("".join(text for text, _ in line) for line in drawn))
    else:
        colored = [Text.assemble(*line) for line in drawn]
        console.print(Text("\n").join(colored), soft_wrap=True)
    if said:
        text = "\n".join(listed("same in all rows:", said, width or 0))
        console.print(Text(text, style="dim"), soft_wrap=True)
    if layout.left_out:
        named = ", ".join(layout.left_out)
        console.print(Text(f"not shown: {named} ({whole} has them)", style="dim"))


def print_table(
    console: Console,
    table: Table,
    limit: int | None = None,
    whole: str = "--format csv",
    shorten: Shorten | None = None,
) -> None:
    """Prints at most `limit` rows. `whole` names the output that has the columns that a narrow
    terminal omits; `shorten` returns the short id of a run."""
    width = None if in_pipe(console) else console.width
    if table.title:
        console.print(Text(fmt.plain(table.title), style="bold"), soft_wrap=width is None)
    # Rows that are made when they are read are made once, not again for every column.
    shown = Table(table.columns, table.rows[:limit])
    if width is None:
        shown = Table([replace(column, group="") for column in table.columns], shown.rows)
        _print_rows(console, list(_fields(shown, shown.rows, None)), whole, None)
        return
    for number, (heading, rows) in enumerate(_groups(shown)):
        if heading:
            blank = "\n" if number else ""
            console.print(Text(blank + heading, style="bold"))
        _print_rows(console, list(_fields(shown, rows, shorten)), whole, width)


def format_parameters(document: bool = True, group: str = "Options") -> list[click.Option]:
    """The option `--format`, and `--json` as its short form for commands that had it before."""
    options: list[click.Option] = [
        GroupedOption(
            ["--format", "form"], type=click.Choice([f.value for f in Form]), metavar="FORMAT",
            help=f"{', '.join(f.value for f in Form)}: all but text use base units"
            "  [default: text]",
            group=group,
        )
    ]  # fmt: skip
    if document:
        options.append(
            GroupedOption(
                ["--json", "as_json"], is_flag=True, help="the same as --format json", group=group
            )
        )
    return options


def form_of(values: Mapping[str, Any]) -> Form:
    """The format that the options of `format_parameters` select."""
    asked = {values.get("form")} - {None}
    asked |= {Form.JSON.value} if values.get("as_json") else set()
    if len(asked) > 1:
        raise click.UsageError(f"--json cannot be combined with --format {values['form']}")
    return Form(asked.pop()) if asked else Form.TEXT


def table_format(document: bool = True) -> Callable[[_F], _F]:
    """Adds the options of `format_parameters`; the command receives `form`, a Form."""

    def decorated(function: _F) -> _F:
        @functools.wraps(function)
        def called(*args: Any, **values: Any) -> Any:
            form = form_of(values)
            values.pop("as_json", None)
            return function(*args, **{**values, "form": form})

        known = getattr(function, "__click_params__", [])
        called.__click_params__ = [*known, *reversed(format_parameters(document))]  # type: ignore[attr-defined]
        return called  # type: ignore[return-value]

    return decorated


def write_tables(
    tables: Sequence[Table],
    form: Form,
    whole: str = "--format csv",
    shorten: Shorten | None = None,
) -> None:
    """Writes the tables to standard output."""
    if form is not Form.TEXT:
        click.echo(written(tables, form), nl=False)
        return
    from effio.cli.terminal import Terminal

    console = Terminal()
    for number, table in enumerate(tables):
        if number:
            console.print()
        print_table(console, table, None, whole, shorten)
