# SPDX-License-Identifier: BSD-3-Clause
"""`effio check CAMPAIGN`: the file alone, and how many runs it asks for."""

from __future__ import annotations

import json

import click

from effio import text as fmt
from effio.campaign.file import json_schema, path_of
from effio.campaign.order import Asked, study_of
from effio.campaign.points import count
from effio.cli.complete import complete_campaign
from effio.cli.options import WholeNumber
from effio.cli.tables import table_format, write_tables
from effio.engine.discover import find_engine
from effio.launch.launchers import Ranks
from effio.report.model import Cell, Column, Table
from effio.report.texts import Form


def _print_schema(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(json.dumps(json_schema(), indent=2))
        ctx.exit()


@click.command("check")
@click.argument("campaign", metavar="CAMPAIGN", shell_complete=complete_campaign)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="print the JSON Schema of the file, for editors",
)
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
@click.option("--ranks", type=WholeNumber(1), default=1, metavar="N", hidden=True)
@table_format(document=False)
def command(campaign: str, engine: str | None, ranks: int, form: Form) -> None:
    """Check a campaign's file: every name and value against the engine's own tables.

    CAMPAIGN is a file, or the name of a campaign that comes with effio. Every fault is reported at
    once, with its place and the nearest valid word. Nothing is planned or run.
    """
    found = find_engine(engine)
    study = study_of(path_of(campaign), Asked(), found, lambda: Ranks(ranks))
    steps = study.campaign.step
    here = {step.name: sum(p.step.name == step.name for p in study.points) for step in steps}
    repetitions = [study.campaign.repetitions_of(step) for step in steps]

    rows: list[list[Cell]] = [
        [s.name, s.benchmark, ", ".join(s.sweep), here[s.name], count(s) - here[s.name], times]
        for s, times in zip(steps, repetitions, strict=True)
    ]
    columns = [
        Column("step", kept=True),
        Column("benchmark", kept=True),
        Column("swept"),
        Column("points", "1", kept=True),
        Column("excluded", "1"),
        Column("repetitions", "1"),
    ]
    write_tables([Table(columns, rows)], form)
    if form is not Form.TEXT:
        return
    points = fmt.count_of(len(study.points), "point")
    click.echo(f"\n{study.file.path}: {points}, {fmt.count_of(len(study.everything), 'run')}")
