# SPDX-License-Identifier: BSD-3-Clause
"""`effio show RUN`: what a run says, as tables in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from effio import text as fmt
from effio.cli.complete import run_argument
from effio.cli.kept import shortener
from effio.cli.main import runs_directory
from effio.cli.tables import Shorten, in_pipe, print_table, table_format, write_tables
from effio.cli.terminal import Terminal
from effio.report.build import load, load_probe, report_of
from effio.report.model import Figure, Heading, Headline, Report, Section, Table
from effio.report.texts import Form
from effio.store.all_runs import Store
from effio.store.folder import RunFolder

_MARKS = {"good": ("✓", "green"), "warn": ("!", "yellow"), "bad": ("✗", "red"), "info": ("·", "")}
_LONGEST = 60


def print_section(
    console: Console,
    section: Section,
    everything: bool,
    whole: str = "--format csv",
    shorten: Shorten | None = None,
) -> None:
    """`whole` names what has the columns for which a terminal is too narrow."""
    pipe = in_pipe(console)
    if pipe:
        console.print(Text(f"{fmt.plain(section.title)}:"), soft_wrap=True)
    else:
        console.rule(Text(fmt.plain(section.title), style="bold"), align="left")
    for block in _shown_blocks(section, everything):
        if isinstance(block, Table):
            # A table that is called as its section needs no second title.
            shown = replace(block, title="") if block.title == section.title else block
            print_table(console, shown, None if everything else _LONGEST, whole, shorten)
            more = len(block.rows) - _LONGEST
            if more > 0 and not everything:
                console.print(Text(f"… {fmt.count_of(more, 'more row')}: --all", style="dim"))
            if block.caption:
                console.print(Text(fmt.plain(block.caption), style="dim"), soft_wrap=pipe)
        elif isinstance(block, Heading):
            colon = ":" if pipe else ""
            console.print(Text(fmt.plain(block) + colon, style="bold"), soft_wrap=pipe)
        else:
            console.print(Text(fmt.plain(block)), soft_wrap=pipe)
        console.print()


def _shown_blocks(section: Section, everything: bool) -> Iterator[Table | str]:
    """On a terminal a figure becomes a table of its numbers, unless the section has a table."""
    has_table = any(isinstance(b, Table) and not b.page_only for b in section.blocks)
    for block in section.blocks:
        if isinstance(block, str):
            yield block
            continue
        if isinstance(block, Figure):
            if has_table and not everything:
                continue
            block = block.as_table()
        if block.rows and (everything or not block.page_only):
            yield block


def tables_of(section: Section, everything: bool) -> list[Table]:
    return [block for block in _shown_blocks(section, everything) if isinstance(block, Table)]


def _headline(headline: Headline) -> Text:
    """The headline; for a number that is not valid the verdict comes first and is highlighted."""
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


def print_report(
    console: Console,
    report: Report,
    everything: bool = False,
    shorten: Shorten | None = None,
) -> None:
    headline = report.headline
    pipe = in_pipe(console)
    console.print(_headline(headline), soft_wrap=pipe)
    for text in (headline.missing, report.subtitle):
        if text:
            console.print(Text(fmt.plain(text), style="dim"), soft_wrap=pipe)
    if headline.verdict and headline.valid is not False:
        console.print(Text(fmt.plain(headline.verdict), style="green"))
    for reason in headline.reasons:
        mark = ("✓", "green") if reason.met else ("✗", "red")
        met = Text.assemble(mark, f" {fmt.plain(reason.shown)}")
        if pipe:
            console.print(Text.assemble("  ", met), soft_wrap=True)
        else:
            console.print(Padding(met, (0, 0, 0, 2), expand=False))
    for remark in report.remarks:
        said = Text.assemble(("! ", "yellow"), f"the result file: {fmt.plain(remark)}")
        console.print(said, soft_wrap=pipe)
    for finding in report.findings:
        mark = _MARKS[finding.level]
        console.print(Text.assemble(mark, " ", fmt.plain(finding.text)), soft_wrap=pipe)
    console.print()
    for section in report.sections:
        if section.show or everything:
            print_section(console, section, everything, shorten=shorten)


def _path_of(store: Store, name: str) -> Path:
    found = store.find(name)
    return found.path if isinstance(found, RunFolder) else found


@click.command("show")
@run_argument("run")
@click.option("--all", "everything", is_flag=True, help="every table in full")
@click.option(
    "--section", "sections", multiple=True, metavar="ID",
    help="only this section; may be given more than once (an unknown one lists them)",
)  # fmt: skip
@click.option(
    "--probe",
    metavar="RUN",
    help="also show rates as a percentage of the limits that this run of probe found",
)
@table_format(document=False)
@click.pass_context
def command(
    ctx: click.Context,
    run: str,
    everything: bool,
    sections: tuple[str, ...],
    probe: str | None,
    form: Form,
) -> None:
    """Print a run's results: its number, whether it counts, rates, percentiles, hints, caches.

    RUN is `last`, a name from `effio runs` or an unambiguous part of it, a folder, or a result
    file.
    """
    store = Store(runs_directory(ctx))
    limits = load_probe(_path_of(store, probe)) if probe else None
    report = report_of(*load(_path_of(store, run)), probe=limits)
    known = {s.id: s for s in report.sections}
    if unknown := [s for s in sections if s not in known]:
        raise click.UsageError(f"no section {unknown[0]}; there are: {', '.join(known)}")
    chosen = [known[name] for name in sections]
    if form is not Form.TEXT:
        some = chosen or [s for s in report.sections if s.show or everything]
        write_tables([t for section in some for t in tables_of(section, everything)], form)
        return
    shorten = shortener(store)
    for section in chosen:
        print_section(Terminal(), section, everything, shorten=shorten)
    if not chosen:
        print_report(Terminal(), report, everything, shorten)
