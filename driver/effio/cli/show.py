# SPDX-License-Identifier: BSD-3-Clause
"""`effio show RUN`: what a run says, as tables in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from effio import text as fmt
from effio.cli.complete import run_argument
from effio.cli.grid import Field, grid
from effio.cli.main import runs_directory
from effio.cli.terminal import Terminal
from effio.report.build import load, load_probe, tell
from effio.report.model import Cell, Figure, Headline, Report, Section, Table
from effio.store.folder import RunFolder, Store

_MARKS = {"good": ("✓", "green"), "warn": ("!", "yellow"), "bad": ("✗", "red"), "info": ("·", "")}
_LONGEST = 60


def _kept(table: Table) -> set[int]:
    """Columns that a narrow terminal has too: what identifies a row, the (first) rate or else the
    first thing measured, and remarks."""
    measured = [i for i, c in enumerate(table.columns) if c.unit not in ("", "1")]
    first = measured[0] if measured else len(table.columns)
    rates = [i for i in measured if table.columns[i].unit.endswith("/s")]
    values = [i for i, c in enumerate(table.columns) if c.name in ("value", "remark", "reason")]
    kept = {*range(first), *(rates or measured)[:1], *values}
    return {i for i in kept if not table.columns[i].extra}


def _fields(table: Table, rows: Sequence[Sequence[Cell]]) -> list[Field]:
    """Without columns that say nothing, which are left to the page and to CSV."""
    kept = _kept(table)
    fields = []
    for i, column in enumerate(table.columns):
        if column.name == "unit in CSV" or all(row[i] in (None, "") for row in table.rows):
            continue
        cells = [Text(fmt.plain(column.show(row[i]))) for row in rows]
        fields.append(Field(fmt.plain(column.title), cells, column.is_number, i in kept))
    return fields


def print_table(console: Console, table: Table, everything: bool, whole: str) -> None:
    rows = table.rows if everything else table.rows[:_LONGEST]
    fields = _fields(table, rows)
    drawn, left_out = grid(fields, console.width, fmt.plain(table.title))
    console.print(drawn)
    if left_out:
        console.print(Text(f"no room for: {', '.join(left_out)} ({whole} has them)", style="dim"))


def print_section(
    console: Console, section: Section, everything: bool, whole: str = "effio export"
) -> None:
    """`whole` names what has the columns for which a terminal is too narrow."""
    console.rule(Text(fmt.plain(section.title), style="bold"), align="left")
    for block in section.blocks:
        if isinstance(block, Figure):
            # A terminal shows the figure's numbers where no table of its own does.
            has_table = any(isinstance(b, Table) and not b.page_only for b in section.blocks)
            table = block.as_table()
            if has_table and not everything:
                continue
            block = table
        if isinstance(block, Table):
            if not block.rows or (block.page_only and not everything):
                continue
            print_table(console, block, everything, whole)
            if len(block.rows) > _LONGEST and not everything:
                console.print(f"… {len(block.rows) - _LONGEST} more rows: --all", style="dim")
            if block.caption:
                console.print(Text(fmt.plain(block.caption), style="dim"))
        else:
            console.print(Text(fmt.plain(block)))
        console.print()


def _headline(headline: Headline) -> Text:
    """Of a number that is not valid the verdict comes first, and it is what stands out."""
    name = fmt.plain(headline.name)
    value = f"= {headline.shown()}" if headline.value is not None else ": no value"
    tail = " ".join(filter(None, (value, fmt.plain(headline.context))))
    if basis := headline.basis():
        tail += f" ({fmt.plain(basis)})"
    blank = " " if headline.value is not None else ""
    if headline.valid is False:
        verdict = fmt.plain(headline.verdict or "NOT VALID")
        return Text.assemble((verdict, "bold red"), f": {name}{blank}{tail}")
    return Text.assemble((name, "bold"), f"{blank}{tail}")


def print_report(console: Console, report: Report, everything: bool = False) -> None:
    headline = report.headline
    console.print(_headline(headline))
    for text in (headline.missing, report.subtitle):
        if text:
            console.print(Text(fmt.plain(text), style="dim"))
    if headline.verdict and headline.valid is not False:
        console.print(Text(fmt.plain(headline.verdict), style="green"))
    for reason in headline.reasons:
        mark = ("✓", "green") if reason.met else ("✗", "red")
        tail = "" if reason.met else " (not reached)"
        console.print(
            Padding(
                Text.assemble(mark, f" {fmt.plain(reason.text)}{tail}"), (0, 0, 0, 2), expand=False
            )
        )
    for remark in report.remarks:
        console.print(Text.assemble(("! ", "yellow"), f"the result file: {fmt.plain(remark)}"))
    for finding in report.findings:
        mark = _MARKS[finding.level]
        console.print(Text.assemble(mark, " ", fmt.plain(finding.text)))
    console.print()
    for section in report.sections:
        if section.show or everything:
            print_section(console, section, everything)


def _path_of(store: Store, name: str) -> Path:
    found = store.find(name)
    return found.path if isinstance(found, RunFolder) else found


@click.command("show")
@run_argument("run")
@click.option("--all", "everything", is_flag=True, help="every table in full")
@click.option(
    "--section", "sections", multiple=True, metavar="ID",
    help="only this section; may stand more than once (an unknown one lists them)",
)  # fmt: skip
@click.option(
    "--probe",
    metavar="RUN",
    help="rates also in per cent of the limits that this run of probe found",
)
@click.pass_context
def command(
    ctx: click.Context, run: str, everything: bool, sections: tuple[str, ...], probe: str | None
) -> None:
    """Print what a run says: the figure, whether it counts, rates, percentiles, hints, caches.

    RUN is `last`, a name from `effio runs` or an unambiguous part of it, a folder, or a result
    file.
    """
    store = Store(runs_directory(ctx))
    limits = load_probe(_path_of(store, probe)) if probe else None
    report = tell(*load(_path_of(store, run)), probe=limits)
    if sections:
        known = {s.id: s for s in report.sections}
        unknown = [s for s in sections if s not in known]
        if unknown:
            raise click.UsageError(f"no section {unknown[0]}; there are: {', '.join(known)}")
        for name in sections:
            print_section(Terminal(), known[name], everything)
        return
    print_report(Terminal(), report, everything)
