# SPDX-License-Identifier: BSD-3-Clause
"""`effio plan CAMPAIGN`: every run, and what all of it would take. Runs nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import click

from effio import text as fmt
from effio.campaign.file import path_of
from effio.campaign.order import Study, study_of
from effio.campaign.planned import Planned, Range, expected, over_budget, plan, total
from effio.cli.campaign_options import asked_of, campaign_options
from effio.cli.complete import complete_campaign
from effio.cli.options import GroupedCommand, GroupedOption
from effio.cli.tables import form_of, format_parameters, write_tables
from effio.engine.discover import find_engine
from effio.launch.launchers import default_ranks
from effio.launch.machine import find_machine
from effio.report.model import Cell, Column, Table
from effio.report.texts import Form


def _run(campaign: str, **values: Any) -> None:
    engine = find_engine(values["engine"])
    asked = asked_of(values)
    study = study_of(
        path_of(campaign),
        asked,
        engine,
        lambda: default_ranks(asked.ranks, asked.nodes, asked.ranks_per_node, find_machine())[0],
    )
    machine = {f"plan-{name}": values[name] for name in ("rate", "memory", "free")}
    print_plan(study, machine, values["commands"], form_of(values))


def print_plan(
    study: Study,
    machine: Mapping[str, str] | None = None,
    commands: bool = False,
    form: Form = Form.TEXT,
) -> None:
    """Prints every point that can run, and the total next to the budget."""
    points = [(point, n) for point, n in study.repetitions() if not point.left_out()]
    planned = plan(points, study.engines, machine)
    sums = total(planned)
    over = over_budget(sums, study.settings.bytes, study.settings.seconds)
    if form is Form.JSON:
        click.echo(json.dumps([_as_json(p) for p in planned], indent=2))
        return
    write_tables([_table(planned)], form)
    if form is not Form.TEXT:
        return
    if commands:
        _print_commands(planned)
    for point, _ in study.repetitions():
        if why := point.left_out():
            click.echo(f"{point.title} is left out: {why}")
    unknown = f", and {fmt.count_of(sums.unknown, 'point')} of unknown time" if sums.unknown else ""
    click.echo(
        f"\n{fmt.count_of(len(planned), 'point')}, {fmt.count_of(sums.runs, 'run')}: "
        f"{fmt.size(sums.written)} written, {fmt.size(sums.read)} read, at most "
        f"{fmt.size(sums.on_storage)} on storage, about {_duration(sums.seconds)}{unknown}"
    )
    if sums.assumes:
        click.echo(f"if {sums.assumes}")
    for word in over:
        click.echo(f"over the budget: {word}")
    if not over and (study.settings.bytes or study.settings.seconds):
        click.echo("within the budget")


def _duration(seconds: Range) -> str:
    """ "12 s (6 s to 24 s)" """
    least, middle, most = (fmt.duration(v) for v in (seconds.least, seconds.expected, seconds.most))
    return middle if least == most else f"{middle} ({least} to {most})"


def _command(p: Planned) -> list[str]:
    if p.point.late:
        return []
    return ["effio-mpi", p.point.step.benchmark, *p.point.words()]


def _as_json(p: Planned) -> dict[str, object]:
    return {
        "point": p.point.id,
        "step": p.point.step.name,
        "axes": p.point.axes,
        "ranks": p.point.ranks.total,
        "nodes": p.point.ranks.nodes,
        "engine": p.point.engine,
        "runs": p.repetitions,
        "bytes_written": expected(p.written),
        "bytes_read": expected(p.read),
        "bytes_on_storage": p.on_storage,
        "files": p.files,
        "least_seconds": p.seconds.least if p.seconds else None,
        "expected_seconds": expected(p.seconds),
        "most_seconds": p.seconds.most if p.seconds else None,
        "assumes": p.assumes,
        "command": _command(p),
        "from_earlier_results": sorted(p.point.late),
    }


def _table(planned: list[Planned]) -> Table:
    rows: list[list[Cell]] = [
        [
            p.point.title,
            p.point.ranks.total,
            p.repetitions,
            expected(p.written),
            expected(p.read),
            p.on_storage,
            "then known" if p.point.late else expected(p.seconds),
            p.files or None,
            p.point.id,
        ]
        for p in planned
    ]
    columns = [
        Column("point", kept=True),
        Column("ranks", "1", kept=True),
        Column("runs", "1", kept=True),
        Column("writes each", "B"),
        Column("reads each", "B"),
        Column("on storage", "B"),
        Column("takes each", "s"),
        Column("files", "1"),
        Column("id"),
    ]
    return Table(columns, rows)


def _print_commands(planned: list[Planned]) -> None:
    for p in planned:
        words = (
            " ".join(_command(p)) or f"{', '.join(p.point.late)}: from an earlier step's results"
        )
        click.echo(f"{p.point.id}  {fmt.plain(words, 10_000)}")


command = GroupedCommand(
    "plan",
    params=[
        click.Argument(["campaign"], metavar="CAMPAIGN", shell_complete=complete_campaign),
        *campaign_options(),
        GroupedOption(
            ["--rate"], metavar="RATE", default="", group="Options",
            help="what is measured here, as 2.5GB/s  [default: 1 GB/s is assumed]",
        ),
        GroupedOption(
            ["--memory"], metavar="SIZE", default="", group="Options",
            help="memory of a node to plan for  [default: as on this machine]",
        ),
        GroupedOption(
            ["--free"], metavar="SIZE", default="", group="Options",
            help="free bytes on storage to plan for  [default: as in the directory here]",
        ),
        GroupedOption(["--engine"], metavar="ENGINE", help="program, or name of a built engine"),
        GroupedOption(["--commands"], is_flag=True, help="also the engine's command of each point"),
        *format_parameters(),
    ],
    callback=_run,
    help="Show what a campaign would run: points, ranks, bytes, files and expected time, by the "
    "engine's own arithmetic. Nothing is run.",
)  # fmt: skip
