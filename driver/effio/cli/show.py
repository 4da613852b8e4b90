# SPDX-License-Identifier: BSD-3-Clause
"""`effio show RUN`: what a run says, as tables in the terminal."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from effio import text as fmt
from effio.cli.complete import run_argument
from effio.cli.main import runs_directory
from effio.cli.terminal import Terminal
from effio.report.build import load, tell
from effio.report.model import Figure, Report, Section, Table
from effio.store.folder import RunFolder, Store

_MARKS = {"good": ("✓", "green"), "warn": ("!", "yellow"), "bad": ("✗", "red"), "info": ("·", "")}
_LONGEST = 60


def _table(table: Table, everything: bool) -> RichTable:
    shown = RichTable(
        title=escape(fmt.plain(table.title)),
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    # A terminal is narrow: columns that say nothing are left to the page and to CSV.
    used = [
        i
        for i, column in enumerate(table.columns)
        if column.name != "unit in CSV" and any(row[i] not in (None, "") for row in table.rows)
    ]
    for i in used:
        column = table.columns[i]
        shown.add_column(
            Text(fmt.plain(column.title)),
            justify="right" if column.is_number else "left",
            overflow="fold",
            no_wrap=column.is_number and " " not in column.title,
        )
    rows = table.rows if everything else table.rows[:_LONGEST]
    for row in rows:
        cells = [(table.columns[i], row[i]) for i in used]
        shown.add_row(*(Text(fmt.plain(column.show(cell))) for column, cell in cells))
    return shown


def _section(console: Console, section: Section, everything: bool) -> None:
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
            console.print(_table(block, everything))
            if len(block.rows) > _LONGEST and not everything:
                console.print(f"… {len(block.rows) - _LONGEST} more rows: --all", style="dim")
            if block.caption:
                console.print(Text(fmt.plain(block.caption), style="dim"))
        else:
            console.print(Text(fmt.plain(block)))
        console.print()


def print_report(console: Console, report: Report, everything: bool = False) -> None:
    headline = report.headline
    line = Text(fmt.plain(headline.name), style="bold")
    line.append(f" = {headline.shown()}" if headline.value is not None else ": no value")
    if headline.context:
        line.append(f" {fmt.plain(headline.context)}", style="not bold")
    console.print(line)
    for text in (headline.missing, report.subtitle):
        if text:
            console.print(Text(fmt.plain(text), style="dim"))
    if headline.verdict:
        style = "green" if headline.valid else "red"
        console.print(Text(fmt.plain(headline.verdict), style=style))
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
            _section(console, section, everything)


@click.command("show")
@run_argument("run")
@click.option("--all", "everything", is_flag=True, help="every table in full")
@click.option(
    "--section", "sections", multiple=True, metavar="ID",
    help="only this section; may stand more than once (an unknown one lists them)",
)  # fmt: skip
@click.pass_context
def command(ctx: click.Context, run: str, everything: bool, sections: tuple[str, ...]) -> None:
    """Print what a run says: the figure, whether it counts, rates, percentiles, hints, caches.

    RUN is `last`, a name from `effio runs` or an unambiguous part of it, a folder, or a result
    file.
    """
    found = Store(runs_directory(ctx)).find(run)
    report = tell(*load(found.path if isinstance(found, RunFolder) else found))
    if sections:
        known = {s.id: s for s in report.sections}
        unknown = [s for s in sections if s not in known]
        if unknown:
            raise click.UsageError(f"no section {unknown[0]}; there are: {', '.join(known)}")
        for name in sections:
            _section(Terminal(), known[name], everything)
        return
    print_report(Terminal(), report, everything)
