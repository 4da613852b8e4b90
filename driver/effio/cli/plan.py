# SPDX-License-Identifier: BSD-3-Clause
"""`effio plan CAMPAIGN`: every run, and what all of it would take. Runs nothing."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.text import Text

from effio import text as fmt
from effio.campaign.file import path_of
from effio.campaign.order import Study, study_of
from effio.campaign.planned import Planned, over_budget, plan, total
from effio.cli.campaign_options import asked_of, campaign_options
from effio.cli.complete import complete_campaign
from effio.cli.grid import Field, grid
from effio.cli.options import GroupedCommand, GroupedOption
from effio.cli.terminal import Terminal
from effio.config.site import load_site
from effio.engine.discover import find_engine
from effio.launch import job
from effio.launch.machine import find_machine


def _run(campaign: str, **values: Any) -> None:
    engine = find_engine(values["engine"] or load_site().launch.engine)
    asked = asked_of(values)
    study = study_of(
        path_of(campaign),
        asked,
        engine,
        lambda: job.default_ranks(asked.ranks, asked.nodes, asked.ranks_per_node, find_machine())[
            0
        ],
    )
    print_plan(study, values["rate"], values["commands"], values["as_json"])


def print_plan(study: Study, rate: str = "", commands: bool = False, as_json: bool = False) -> None:
    """Every point that can be run, and the total beside the budget."""
    points = [(point, n) for point, n in study.repetitions() if not point.left_out()]
    planned = plan(points, study.engines, rate)
    sums = total(planned)
    over = over_budget(sums, study.settings.bytes, study.settings.seconds)
    if as_json:
        click.echo(json.dumps([_as_json(p) for p in planned], indent=2))
        return
    _print(planned, commands)
    for point, _ in study.repetitions():
        if why := point.left_out():
            click.echo(f"{point.title} is left out: {why}")
    unknown = f", and {fmt.count_of(sums.unknown, 'point')} of unknown time" if sums.unknown else ""
    click.echo(
        f"\n{fmt.count_of(len(planned), 'point')}, {fmt.count_of(sums.runs, 'run')}: "
        f"{fmt.size(sums.bytes)} written, about {fmt.duration(sums.seconds)}{unknown}"
    )
    for word in over:
        click.echo(f"over the budget: {word}")
    if not over and (study.settings.bytes or study.settings.seconds):
        click.echo("within the budget")


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
        "bytes_written": p.bytes,
        "files": p.files,
        "expected_seconds": p.seconds,
        "command": _command(p),
        "from_earlier_results": sorted(p.point.late),
    }


def _print(planned: list[Planned], commands: bool) -> None:
    def cells(texts: list[str]) -> list[Text]:
        return [Text(fmt.plain(text)) for text in texts]

    fields = [
        Field("point", cells([p.point.title for p in planned]), kept=True),
        Field("ranks", cells([str(p.point.ranks.total) for p in planned]), right=True, kept=True),
        Field("runs", cells([str(p.repetitions) for p in planned]), right=True, kept=True),
        Field("writes each", cells([_size(p.bytes) for p in planned]), right=True),
        Field("takes each", cells([_time(p) for p in planned]), right=True),
        Field("files", cells([str(p.files or "") for p in planned]), right=True),
        Field("id", cells([p.point.id for p in planned])),
    ]
    console = Terminal()
    table, left_out = grid(fields, console.width)
    console.print(table)
    if left_out:
        console.print(Text(f"no room for: {', '.join(left_out)}", style="dim"))
    for p in planned if commands else []:
        words = (
            " ".join(_command(p)) or f"{', '.join(p.point.late)}: from an earlier step's results"
        )
        click.echo(f"{p.point.id}  {fmt.plain(words, 10_000)}")


def _size(count: float | None) -> str:
    return "" if count is None else fmt.size(count)


def _time(p: Planned) -> str:
    if p.point.late:
        return "then known"
    return "" if p.seconds is None else fmt.duration(p.seconds)


command = GroupedCommand(
    "plan",
    params=[
        click.Argument(["campaign"], metavar="CAMPAIGN", shell_complete=complete_campaign),
        *campaign_options(),
        GroupedOption(
            ["--rate"], metavar="RATE", default="", group="Options",
            help="what is measured here, as 2.5GB/s  [default: 1 GB/s is assumed]",
        ),
        GroupedOption(["--engine"], metavar="ENGINE", help="program, or name of a built engine"),
        GroupedOption(["--commands"], is_flag=True, help="also the engine's command of each point"),
        GroupedOption(["--json", "as_json"], is_flag=True, help="as JSON"),
    ],
    callback=_run,
    help="Say what a campaign would run: points, ranks, bytes, files and expected time, by the "
    "engine's own arithmetic. Nothing is run.",
)  # fmt: skip
