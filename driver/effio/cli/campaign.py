# SPDX-License-Identifier: BSD-3-Clause
"""`effio run CAMPAIGN`: what a campaign still lacks is run here; at its end stands a card or a
table."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from effio import text as fmt
from effio.campaign import planned
from effio.campaign.called import Called
from effio.campaign.figures import FigureDone, figures_of
from effio.campaign.file import Campaign, load
from effio.campaign.interleave import how_to_compare, sides_of
from effio.campaign.jobs import BatchCampaignRun, SideBySide, write_scripts
from effio.campaign.order import Study, study_of
from effio.campaign.run import (
    CampaignRun,
    CampaignRunMaker,
    RunRequest,
    UnitDone,
    code_of,
    first_of,
    refuse_open_jobs,
    run_campaign,
)
from effio.campaign.state import CampaignFolder, changes
from effio.cli.campaign_batch import offer_script, submit_and_wait, write_script
from effio.cli.campaign_options import asked_of, campaign_options, option
from effio.cli.campaign_table import rows_of_units, table_of
from effio.cli.card import print_card
from effio.cli.kept import known_runs
from effio.cli.main import runs_directory
from effio.cli.options import GroupedCommand, WholeNumber
from effio.cli.plan import print_plan
from effio.cli.streams import print_line, say
from effio.cli.tables import form_of, format_parameters, print_table, write_tables
from effio.cli.terminal import Terminal
from effio.config.site import load_site
from effio.config.toml_file import chosen_name
from effio.engine.description import BenchmarkInfo
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode, results_error
from effio.launch import job
from effio.launch.batch import batch_names, wanted_batch_system
from effio.launch.choose import NoLauncherError, wanted_launcher
from effio.launch.launchers import Ranks, default_ranks
from effio.launch.live import LiveView
from effio.launch.machine import find_machine, refuse_to_be_launched
from effio.launch.places import not_here, ranks_stay_here
from effio.report.card import Card, device_card
from effio.report.indexed import Known
from effio.report.model import Cell, Column, Table
from effio.report.texts import Form
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.reader import Result
from effio.store.safe_files import write_atomically


def campaign_parameters(
    bytes_: int | None = None, seconds: float | None = None
) -> list[click.Option]:
    """The parameters, with the budget of the campaign as far as it is known."""
    return [
        *campaign_options(bytes_, seconds),
        option(
            "--retry-failed", is_flag=True, group="Points",
            help="also those that failed, once more",
        ),
        option(
            "--launcher", metavar="LAUNCHER",
            help="openmpi, mpich, intelmpi, srun, flux, pals, aprun, jsrun, or a path",
        ),
        option(
            "--launcher-option", "launcher_options", multiple=True, metavar="TEXT",
            help="passed on to the launcher; may be given more than once",
        ),
        option("--print-command", is_flag=True, help="print the commands, and do nothing"),
        option(
            "--plan", is_flag=True,
            help="print what each run would write and how long it takes, and do nothing",
        ),
        option(
            "--dry-run", is_flag=True,
            help="write a script for each run to be run manually, with --batch to be submitted, "
            "and run nothing",
        ),
        option(
            "--batch", group="Batch", is_flag=False, flag_value="auto", metavar="[SYSTEM]",
            type=click.Choice(["auto", *batch_names()]),
            help=f"write one job for all points, ready to submit: {', '.join(batch_names())}",
        ),
        option(
            "--submit", group="Batch", is_flag=True, help="submit that job and wait for it",
        ),
        option(
            "--jobs", group="Batch", type=WholeNumber(1), metavar="N",
            help="submit a job for each run instead, at most N of them at once, and wait for all",
        ),
        option(
            "--minutes", group="Batch", type=WholeNumber(1), metavar="N",
            help="time limit of a job  [default: from the budget or the plan, with a reserve]",
        ),
        option(
            "--batch-option", "batch_options", group="Batch", multiple=True, metavar="TEXT",
            help="a directive of your site, as --batch-option=--account=abc",
        ),
        option(
            "--name", "instance", metavar="WORD",
            help="what this study is called  [default: the file's name]",
        ),
        option(
            "--take-over", is_flag=True,
            help="take the lock of a driver on a machine that is gone",
        ),
        option("--report/--no-report", default=True, help="draw the page  [default: report]"),
        option("-q", "--quiet", is_flag=True, help="no live view, only the outcome"),
        *format_parameters(document=False),
    ]  # fmt: skip


def campaign_command(engine: Engine, name: str, path: Path) -> click.Command:
    campaign, _ = load(path)
    params: list[click.Parameter] = [*campaign_parameters(campaign.bytes, campaign.seconds)]
    return _CampaignCommand(
        name,
        params=params,
        callback=lambda **values: _run(engine, path, values),
        help=f"{campaign.title}: {campaign.purpose}.\n\nRun it again to run the remaining points.",
        short_help=campaign.purpose,
        benchmark=engine.info.benchmark(campaign.name),
    )


class _CampaignCommand(GroupedCommand):
    """`benchmark` has the same name as the campaign; a user may have meant its options."""

    def __init__(self, name: str, benchmark: BenchmarkInfo | None, **more: Any) -> None:
        super().__init__(name, **more)
        self._benchmark = benchmark

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            of = self._benchmark
            option = fmt.plain(error.option_name, 100)
            if of is None or option.removeprefix("--") not in [o.name for o in of.options]:
                raise
            raise EffioError(
                f"the campaign {of.name} has no option '{option}'; the benchmark {of.name} has it",
                hint=f"effio run {of.name} {option} …",
            ) from None


def _folder(campaign: Campaign, runs: Store, instance: str | None) -> CampaignFolder:
    name = chosen_name(instance, campaign.name)
    if campaign.afresh and not instance:
        name = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ") + f"-{name}"
    return CampaignFolder(runs, name)


def _order(
    engine: Engine, path: Path, runs: Store, values: Mapping[str, Any]
) -> tuple[Study, RunRequest, CampaignFolder, Called | None]:
    site = load_site()
    machine = find_machine()
    quiet = values["quiet"] or values["print_command"] or values["plan"]

    def ranks_here() -> Ranks:
        ranks, chosen = default_ranks(
            values["ranks"], values["nodes"], values["ranks_per_node"], machine
        )
        if chosen and not quiet:
            say(chosen)
        return ranks

    campaign, file = load(path)
    folder = _folder(campaign, runs, values["instance"])
    before = folder.called()
    if before is not None and Path(before.file) != file.path.absolute():
        raise EffioError(
            f"{folder.path} is already the campaign of {before.file}",
            hint="name this one: --name WORD",
        )
    study = study_of(path, asked_of(values), engine, ranks_here, lambda _: before)
    model = job.Request(
        engine=engine,
        benchmark=study.campaign.step[0].benchmark,
        arguments=(),
        ranks=study.settings.ranks,
        machine=machine,
        launcher=wanted_launcher(values["launcher"]),
        launcher_options=(*site.launch.options, *values["launcher_options"]),
        quiet=True,
    )
    order = RunRequest(
        study.campaign,
        study.settings,
        model,
        study.engines,
        study.units,
        values["retry_failed"],
        study.everything,
        study.settings.seconds if campaign.afresh or values["seconds"] else None,
    )
    return study, order, folder, before


def _run(engine: Engine, path: Path, values: Mapping[str, Any]) -> None:
    refuse_to_be_launched()
    form = form_of(values)
    runs = Store(runs_directory(click.get_current_context()))
    study, order, folder, before = _order(engine, path, runs, values)
    if values["plan"]:
        print_plan(study, form=form)
        return
    runnable = replace(order, units=[u for u in order.units if not u.point.left_out()])
    in_jobs = bool(values["batch"] or values["submit"] or values["jobs"])
    _look(study, runnable, in_jobs)
    if values["print_command"]:
        for unit in runnable.units:
            if unit.repetition == 0:
                click.echo(_command_of(order, unit, folder.name))
        return
    _report_changes(before, study, engine)
    for unit in order.units:
        if why := unit.point.left_out():
            say(f"{unit.point.title} is left out: {why}")
    if values["dry_run"]:
        with folder.locked(values["take_over"]):
            if in_jobs:
                _reported_scripts(*write_scripts(runnable, folder, _side_by_side(values)))
            else:
                _write_scripts(runnable, folder)
        return
    if in_jobs and not values["jobs"]:
        _batch(study, order, folder, values)
    with folder.locked(values["take_over"]):
        folder.keep(study.called(engine), study.file.text)
        known = known_runs(click.get_current_context(), folder.own_attempts())
        order = replace(order, known={name: run.attempt for name, run in known.items()})
        started = datetime.now(timezone.utc)

        def view(title: str, above: str) -> LiveView:
            return LiveView(title, quiet=values["quiet"], above=above)

        try:
            done = run_campaign(order, folder, view, say, _course(values))
        except NoLauncherError as error:
            offer_script(study, order, folder, values, error.message)
        if values["interleave"]:
            say(how_to_compare(folder.name, sides_of(values["interleave"])))
        _conclude(study, done, folder, started, values["report"], form, known)


def _side_by_side(values: Mapping[str, Any]) -> SideBySide:
    site = load_site().batch
    return SideBySide(
        wanted_batch_system(values["batch"], site),
        values["jobs"] or 1,
        values["minutes"],
        (*site.directives, *values["batch_options"]),
        tuple(site.setup),
    )


def _course(values: Mapping[str, Any]) -> CampaignRunMaker:
    return partial(BatchCampaignRun, _side_by_side(values)) if values["jobs"] else CampaignRun


def _batch(
    study: Study, order: RunRequest, folder: CampaignFolder, values: Mapping[str, Any]
) -> NoReturn:
    """The lock is the job's: it is held where the points run."""
    system = wanted_batch_system(values["batch"], load_site().batch)
    with folder.locked(values["take_over"]):
        refuse_open_jobs(folder, folder.open_jobs())
        script = write_script(study, order, folder, values, system)
    if not values["submit"]:
        redirect = ["<"] if system.reads_stdin else []
        words = " ".join([*system.submit_command, *redirect, shlex.quote(str(script))])
        print_line(str(script))
        say(f"submit it with: {words}")
        raise click.exceptions.Exit(ExitCode.DONE)
    started = datetime.now(timezone.utc)
    done = submit_and_wait(script, system, order, folder)
    _conclude(
        study,
        done,
        folder,
        started,
        values["report"],
        form_of(values),
        cut_short=len(order.units) > len(done),
    )


def _look(study: Study, order: RunRequest, in_jobs: bool) -> None:
    """Has the engine judge every point before the first one starts; looks at the budget and the
    directories, which jobs have where they run."""
    points = dict.fromkeys(unit.point.id for unit in order.units)
    wanted = [(point, n) for point, n in study.repetitions() if point.id in points]
    plans = planned.plan(wanted, study.engines)
    faults = {fault for p in plans for fault in not_here(p.plan)}
    if faults and in_jobs:
        say("; ".join(sorted(faults)) + " on this machine; the ranks need it where they run")
    elif faults and ranks_stay_here(order.model):
        raise EffioError(
            "; ".join(sorted(faults)), ExitCode.IO_ERROR, "make it, or name another one with --dir"
        )
    sums = planned.total(plans)
    if over := planned.over_budget(sums, study.settings.bytes, None):
        raise EffioError(
            f"too much for the budget: {over[0]}",
            hint="allow more with --max-bytes, measure less with --scale, --only or --skip",
        )
    for word in planned.over_budget(sums, None, study.settings.seconds):
        say(f"more time than requested: {word}")


def _report_changes(before: Called | None, study: Study, engine: Engine) -> None:
    changed = changes(before, study.points)
    for what, titles in (("new", changed.new), ("no longer wanted", changed.gone)):
        if titles:
            some = "; ".join(titles[:3]) + ("; …" if len(titles) > 3 else "")
            stay = ", their runs stay" if what != "new" else ""
            say(f"the campaign changed: {fmt.count_of(len(titles), 'point')} {what}{stay}: {some}")
    if before is not None and before.engine != engine.sha256:
        say("the engine is another one than that of the last call; runs that are done stay")


def _command_of(order: RunRequest, unit: Any, name: str) -> str:
    if unit.point.late:
        return f"# {unit.point.title}: its options follow from results of an earlier step"
    return job.plain_command(order.request(unit, name))


def _write_scripts(order: RunRequest, folder: CampaignFolder) -> None:
    """A script for each run, with what comes before and after it."""
    place = folder.path / "scripts"
    try:
        with safe_files.making(place, folder.runs.root):
            written, late = _written_scripts(order, folder, place)
    except OSError as error:
        raise results_error(place, error) from None
    _reported_scripts(place, written, late)


def _written_scripts(order: RunRequest, folder: CampaignFolder, place: Path) -> tuple[int, int]:
    """How many are written, and of how many runs the options are not known yet."""
    written = late = 0
    for number, unit in enumerate(order.units, 1):
        if unit.point.late:
            late += 1
            continue
        request = order.request(unit, folder.name)
        script = place / f"{number:05d}-{unit.label}.sh"
        result = place.absolute() / f"{number:05d}-{unit.label}.jsonl"
        command = job.plain_command(
            replace(request, arguments=(*request.arguments, "--result", str(result)))
        )
        lines = [
            "#!/bin/sh",
            f"# {unit.point.title}",
            f"cd {shlex.quote(str(Path.cwd()))} || exit 6",
        ]
        lines += [f"{shlex.join(words)} || exit 6" for words in request.setup]
        lines += [command, "status=$?", *(shlex.join(words) for words in request.cleanup)]
        write_atomically(script, "\n".join([*lines, "exit $status"]) + "\n")
        script.chmod(0o755)
        written += 1
    return written, late


def _reported_scripts(place: Path, written: int, late: int) -> None:
    print_line(f"scripts: {written} in {place}")
    if late:
        say(f"{fmt.count_of(late, 'run')} left out: options follow from results to come")


def card_of(campaign: Campaign, done: list[UnitDone], seconds: float) -> Card:
    reported = []
    missing = 0
    for step in campaign.step:
        one = first_of(done, step)
        if one is None:
            missing += 1
            continue
        reported += [(line, one.result(), one.reason) for line in step.line]
    notes = [f"Measured in {fmt.duration(seconds)}."]
    for one in done:
        if one.cut_short:
            notes.insert(0, f"{one.unit.point.title}: {one.reason}.")
    if missing:
        notes.insert(0, f"Stopped: {fmt.count_of(missing, 'step')} not begun.")
    return device_card(campaign.title, reported, notes)


def _results_of(done: list[UnitDone]) -> list[tuple[str, Result]]:
    """The results with the names of their steps."""
    return [
        (one.unit.point.step.name, found) for one in done if (found := one.result()) is not None
    ]


def _print_figures(campaign: Campaign, done: list[UnitDone]) -> None:
    """Prints the figures of the whole; none before all that they take is done."""
    if not campaign.figure:
        return
    results = _results_of(done)
    print_line("")
    for one in figures_of(campaign, results):
        value = f"not known ({one.missing})" if one.value is None else _number(one)
        print_line(fmt.plain(f"{one.figure.title}: {value}"))
        for note in filter(None, (one.figure.note, one.doubt)):
            print_line(fmt.plain(f"    {note}"))


def _write_tables(campaign: Campaign, done: list[UnitDone], table: Table, form: Form) -> None:
    tables = [table]
    if campaign.figure:
        results = _results_of(done)
        rows: list[list[Cell]] = [
            [one.figure.title, one.value, one.figure.unit, one.missing or one.doubt]
            for one in figures_of(campaign, results)
        ]
        columns = [Column("figure"), Column("value", "1"), Column("unit"), Column("why not")]
        tables = [replace(table, title=table.title or "Points"), Table(columns, rows, "Figures")]
    write_tables(tables, form)


def _number(one: FigureDone) -> str:
    return f"{fmt.significant(one.value or 0.0)} {one.figure.unit}"


def _conclude(
    study: Study,
    done: list[UnitDone],
    folder: CampaignFolder,
    started: datetime,
    report: bool,
    form: Form,
    known: Mapping[str, Known] | None = None,
    cut_short: bool = False,
) -> NoReturn:
    """In a format for other programs, standard output has the tables and nothing else."""
    out = print_line if form is Form.TEXT else say
    seconds = (datetime.now(timezone.utc) - started).total_seconds()
    card = None
    with contextlib.suppress(BrokenPipeError):
        if any(step.line for step in study.campaign.step):
            card = card_of(study.campaign, done, seconds)
        points = table_of(rows_of_units(study.units, done, known))
        if form is not Form.TEXT:
            _write_tables(study.campaign, done, points if card is None else card.table(), form)
        elif card is not None:
            print_card(Terminal(), card)
        else:
            print_table(Terminal(), points)
        if form is Form.TEXT:
            _print_figures(study.campaign, done)
    kept = [one for one in done if one.folder is not None]
    left = len(study.units) - sum(not one.not_run for one in done)
    # A campaign that always measures anew cannot be continued.
    cut_short = not study.campaign.afresh and (cut_short or any(one.not_run for one in done))
    if form is Form.TEXT:
        print_line("")
    out(f"runs:   {fmt.count_of(len(kept), 'run')} in {folder.runs.root}")
    if left and not study.campaign.afresh:
        out(f"left:   {fmt.count_of(left, 'run')}; the same command continues")
    measured = (
        [one.folder.path for one in kept if one.folder and one.folder.has_result]
        if report and card is not None
        else []
    )
    if measured and card is not None:
        from effio.report.build import write_card

        stamp = started.strftime("%Y%m%dT%H%M%SZ")
        target = folder.runs.root / f"{stamp}-{study.campaign.name}.html"
        try:
            out(f"report: {write_card(card, measured, target)}")
        except EffioError as error:
            say(f"no report: {error.message}")
    code = code_of(done)
    raise click.exceptions.Exit(ExitCode.INTERRUPTED if cut_short and not code else code)
