# SPDX-License-Identifier: BSD-3-Clause
"""`effio runs`: what is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from effio import text as fmt
from effio.cli.complete import complete_known_campaign, complete_tag
from effio.cli.kept import opened_index
from effio.cli.options import WholeNumber
from effio.cli.tables import in_pipe, table_format, write_tables
from effio.cli.terminal import Terminal
from effio.report.lines import (
    NUMBER,
    axes_of,
    axes_text,
    grouped,
    number_of,
    verdict_of,
)
from effio.report.model import AxisValue, Cell, Column, Table
from effio.report.texts import Form
from effio.store.known import Line
from effio.store.short_ids import ShortIds

_COLORS = {
    "done": "green",
    "running": "cyan",
    "planned": "dim",
    "submitted": "dim",
    **dict.fromkeys(("failed", "interrupted", "hung", "newer"), "red"),
}
_STATE = Column("state", kept=True, colors=_COLORS)


def _start(line: Line) -> str:
    return line["start"][:16].replace("T", " ")


def _points(lines: Sequence[Line], ids: ShortIds) -> Table:
    """Tables for a terminal: one per campaign, with its axes as columns."""
    axes = list(dict.fromkeys(name for line in lines for name in axes_of(line)))

    def cells(line: Line) -> list[Cell]:
        own = axes_of(line)
        return [
            line["campaign"],
            ids.of(line["run"]),
            "" if line["campaign"] else line["benchmark"],
            line["step"],
            *(AxisValue(name, own.get(name, "")) for name in axes),
            line["repetition"],
            line["state"],
            line["value"],
            line["interval"],
            verdict_of(line),
            line["headline"],
            _start(line),
            line["took"],
            line["ranks"],
            line["where"],
            line["options"],
            line["tags"],
            line["note"],
        ]

    columns = [
        Column("campaign", group="campaign {}"),
        Column("id", kept=True),
        Column("benchmark", kept=True),
        Column("step", kept=True),
        *(Column(name, kept=True) for name in axes),
        Column("rep", right=True, kept=True),
        _STATE,
        Column("value", right=True, kept=True),
        Column("interval", below=True),
        Column("verdict", kept=True),
        Column("headline", below=True),
        Column("start (UTC)", kept=True),
        Column("took", right=True, kept=True),
        Column("ranks", right=True),
        Column("where"),
        Column("options", below=True),
        Column("tags", below=True),
        Column("note", below=True),
    ]
    return Table(columns, [cells(line) for line in grouped(lines)])


def _records(lines: Sequence[Line], ids: ShortIds, for_programs: bool) -> Table:
    """Table for a pipe and other programs: always the same columns. `for_programs`: also the
    headline's number in its base unit."""
    names = [
        "id", "run", "campaign", "step", "repetition", "axes", "benchmark", "state", "start",
        "took", "ranks", "headline", "value", "interval", "verdict", "where", "options", "tags",
        "note", *(["number", "unit"] if for_programs else []),
    ]  # fmt: skip

    def cells(line: Line) -> list[Cell]:
        made: dict[str, Cell] = {
            **line,
            "id": ids.of(line["run"]),
            "axes": axes_text(line),
            "verdict": verdict_of(line),
        }
        if for_programs:
            made["number"], made["unit"] = number_of(line)
        return [made[name] for name in names]

    rows = [cells(line) for line in lines]
    return Table([Column(name) for name in names], rows)


def _json(line: Line, ids: ShortIds) -> str:
    shown = {name: value for name, value in line.items() if name != NUMBER}
    number, unit = number_of(line)
    of_number = {"number": number, "unit": unit}
    return json.dumps({"id": ids.of(line["run"]), **shown, "axes": axes_of(line), **of_number})


def _named(line: Line, word: str, ids: ShortIds) -> bool:
    """Whether this word names the run."""
    names = (line["run"], line["campaign"], line["benchmark"])
    return ids.of(line["run"]) == word or any(word in name for name in names)


@click.command("runs")
@click.argument("words", metavar="[WORD...]", nargs=-1, shell_complete=complete_known_campaign)
@table_format()
@click.option(
    "--campaign", metavar="NAME", shell_complete=complete_known_campaign,
    help="only those of this campaign",
)  # fmt: skip
@click.option("--tag", metavar="WORD", shell_complete=complete_tag, help="only those with this tag")
@click.option("-n", "--last", type=WholeNumber(1), metavar="N", help="only the last N")
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    form: Form,
    campaign: str | None,
    tag: str | None,
    last: int | None,
) -> None:
    """List the stored runs by campaign, the newest last. With WORDs, only those whose name, id,
    campaign or benchmark has one of them in it.

    Every command that takes a run accepts its id or name, or an unambiguous part of it. In a pipe
    each run is one line, ordered by start.
    """
    index = opened_index(ctx)
    lines = [entry.line for entry in index.entries()]
    ids = ShortIds([line["run"] for line in lines])
    total = len(lines)
    if campaign is not None:
        from effio.judge.gather import campaign_word  # with much that lists do not need

        name = campaign_word(campaign)
        lines = [line for line in lines if line["campaign"] == name]
    if tag is not None:
        lines = [line for line in lines if tag in line["tags"].split(",")]
    if words:
        words = tuple(lines[-1]["run"] if w == "last" and lines else w for w in words)
        lines = [line for line in lines if any(_named(line, word, ids) for word in words)]
    lines = lines[-last:] if last else lines
    if form is Form.JSON:
        for line in lines:
            click.echo(_json(line, ids))
        return
    if not lines and form is Form.TEXT:
        if total:
            kept = fmt.count_of(total, "run")
            click.echo(
                f"none of the {kept} in {index.store.root} fits; effio runs lists all", err=True
            )
        else:
            click.echo(f"no runs in {index.store.root}; start one: effio run b-eff-io", err=True)
        return
    on_terminal = form is Form.TEXT and not in_pipe(Terminal())
    if on_terminal:
        write_tables([_points(lines, ids)], form)
        return
    for_programs = form in (Form.CSV, Form.TSV)
    write_tables([_records(lines, ids, for_programs)], form)
