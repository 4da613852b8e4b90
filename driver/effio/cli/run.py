# SPDX-License-Identifier: BSD-3-Clause
"""`effio run BENCHMARK`: here, in an allocation, or through a batch system."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from effio import text as fmt
from effio.cli.main import runs_directory
from effio.cli.options import engine_words
from effio.cli.run_options import BenchmarkCommand, run_options
from effio.cli.streams import print_line, say
from effio.config.site import Site, load_site
from effio.config.toml_file import file_hint
from effio.engine.description import BenchmarkInfo
from effio.engine.discover import CARD_PROGRAM, find_engine
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode
from effio.launch import batch_run, job, trial
from effio.launch.batch import (
    BatchSystem,
    find_batch_system,
    offered_batch_system,
    wanted_batch_system,
)
from effio.launch.choose import NoLauncherError, wanted_launcher
from effio.launch.launchers import default_ranks
from effio.launch.live import LiveView
from effio.launch.machine import find_machine, refuse_to_be_launched
from effio.launch.places import not_here, ranks_stay_here
from effio.launch.watch import Patience
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import JOB_SCRIPT, REPORT, RunFolder

# Key of the engine that is named after the benchmark, whose options are then offered.
_ENGINE = "effio.engine"


def _engine_in(words: Sequence[str]) -> str | None:
    """The value of --engine, the last one if it is given more than once."""
    named = None
    for word, following in zip(words, [*words[1:], None], strict=True):
        if word == "--":
            break
        if word == "--engine" and following is not None:
            named = following
        elif word.startswith("--engine="):
            named = word.partition("=")[2]
    return named


class _Targets(click.Group):
    """What can be run. Benchmarks are the engine's; they are its subcommands here."""

    def _engine(self, ctx: click.Context) -> Engine:
        return find_engine(ctx.meta.get(_ENGINE) or ctx.params.get("engine"))

    def of_targets(self) -> Mapping[str, list[click.Option]]:
        """Options of all benchmarks and of all campaigns, for the manual."""
        from effio.cli.campaign import campaign_parameters

        return {"of a benchmark": run_options(), "of a campaign": campaign_parameters()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        from effio.campaign.file import shipped

        # A campaign may be called like the benchmark that it runs.
        names = [*(b.name for b in self._engine(ctx).info.benchmarks), *shipped()]
        return list(dict.fromkeys(names))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        engine = self._engine(ctx)
        benchmark = engine.info.benchmark(cmd_name)
        if benchmark is not None:
            return BenchmarkCommand(benchmark, functools.partial(_run, engine, benchmark))
        from effio.campaign.file import path_of, shipped  # not for a benchmark

        if cmd_name in shipped() or cmd_name.startswith("@") or _is_file(cmd_name):
            from effio.cli.campaign import campaign_command

            return campaign_command(engine, cmd_name, path_of(cmd_name))
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        ctx.meta[_ENGINE] = _engine_in(args)
        found = self.get_command(ctx, args[0]) if args and not args[0].startswith("-") else None
        if found is not None:
            return found.name, found, args[1:]
        if args and args[0] == "together":
            raise EffioError(
                "effio run starts one benchmark; together starts several in one job",
                hint="mpiexec -n RANKS effio-mpi together --help; effio show DIR/group-1 reads the "
                "results of each",
            )
        if args and not args[0].startswith("-"):
            known = self.list_commands(ctx)
            if hint := file_hint(args[0]):
                what = fmt.plain(args[0], 100)
                raise EffioError(f"no benchmark or campaign '{what}'", hint=hint)
            only = self._engine(ctx).path.name == CARD_PROGRAM
            rest = " (make build compiles the others)" if only else ""
            meant = fmt.closest(args[0].replace("_", "-"), known)
            if meant:
                raise EffioError(
                    f"no benchmark or campaign '{args[0]}'; did you mean {meant}?",
                    hint=f"effio run --help lists them{rest}",
                )
            benchmarks = [name for name in known if self._engine(ctx).info.benchmark(name)]
            others = [name for name in known if name not in benchmarks]
            raise EffioError(
                f"no benchmark or campaign '{fmt.plain(args[0], 100)}'",
                hint=f"benchmarks: {', '.join(benchmarks)}{rest}\ncampaigns: {', '.join(others)}",
            )
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise EffioError(
                f"effio run itself has no option '{fmt.plain(error.option_name, 100)}'",
                hint="options follow the benchmark: effio run BENCHMARK OPTIONS",
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from effio.campaign.file import load_shipped, shipped

        try:
            rows = [(b.name, b.purpose) for b in self._engine(ctx).info.benchmarks]
        except EffioError as error:
            rows = []
            formatter.write_paragraph()
            formatter.write_text(f"{error.message} ({error.hint})")
        if rows:
            with formatter.section("Benchmarks"):
                formatter.write_dl(rows)
        with formatter.section("Campaigns"):
            formatter.write_dl([(name, load_shipped(name).purpose) for name in shipped()])


def _is_file(name: str) -> bool:
    return name.endswith(".toml") or "/" in name


@click.command("run", cls=_Targets, subcommand_metavar="BENCHMARK|CAMPAIGN [OPTIONS]")
@click.option("--engine", metavar="ENGINE", help="program, or name of a built engine")
def command(engine: str | None) -> None:
    """Run a benchmark, or a campaign of several, and keep what they measured.

    `effio run BENCHMARK --help` shows its options. The result, the logs and the report go to a
    new folder under effio-runs/. A CAMPAIGN is one of those below or a file, and is resumed when it
    is run again.
    """


def _request(
    engine: Engine, benchmark: BenchmarkInfo, values: dict[str, Any], site: Site
) -> job.Request:
    machine = find_machine()
    if values["engine"]:
        engine = find_engine(values["engine"])
    if not all(c.isalnum() or c in "-_." for c in values["label"]):
        raise EffioError("--label: letters, digits, '-', '_' and '.' only")
    ranks, chosen = default_ranks(
        values["ranks"], values["nodes"], values["ranks_per_node"], machine
    )
    if chosen and not (values["quiet"] or values["print_command"]):
        say(chosen)
    return job.Request(
        engine=engine,
        benchmark=benchmark.name,
        arguments=(*engine_words(benchmark, values), *values["extra"]),
        ranks=ranks,
        machine=machine,
        launcher=wanted_launcher(values["launcher"]),
        launcher_options=(*site.launch.options, *values["launcher_options"]),
        label=values["label"],
        quiet=values["quiet"],
        patience=Patience(silence=values["patience"]),
    )


def _run(engine: Engine, benchmark: BenchmarkInfo, values: dict[str, Any]) -> None:
    refuse_to_be_launched()
    site = load_site()
    request = _request(engine, benchmark, values, site)
    if "--plan" in request.arguments or "--plan-json" in request.arguments:
        _show_plan(request)
        return
    tries = trial.is_needed(request)
    # What the trial will find is not judged by a plan.
    asked = trial.with_word(request, "later") if tries else request
    plan = request.engine.check(
        [request.benchmark, *asked.arguments], request.ranks.total, request.ranks.per_node
    )
    _look_at_directories(request, plan, values)
    if values["print_command"]:
        click.echo(job.plain_command(trial.trial_of(request) if tries else request))
        if tries:
            say("then the same with --tried WORD for --trial; WORD is what that run names")
        return
    if tries and (values["batch"] or values["submit"]):
        raise EffioError(
            "a script makes no trial of nonblocking collective calls",
            hint=f"effio run {shlex.join([request.benchmark, *request.arguments, '--trial'])}, "
            "where the job is to run; then give what it names to --tried",
        )
    runs = Store(runs_directory(click.get_current_context()))
    if values["batch"] or values["submit"]:
        _batch(request, runs, site, values, plan)
        return
    _here(request, runs, site, values, plan)


def _look_at_directories(request: job.Request, plan: object, values: dict[str, Any]) -> None:
    """A wrong path costs no launch where it is sure to be wrong; elsewhere it is worth a word."""
    faults = not_here(plan)
    launches = not (values["batch"] or values["submit"] or values["print_command"])
    if faults and launches and ranks_stay_here(request):
        raise EffioError(
            "; ".join(faults), ExitCode.IO_ERROR, "make it, or name another one with --dir"
        )
    for fault in faults:
        say(f"{fault} on this machine; the ranks need it where they run")


def _show_plan(request: job.Request) -> None:
    words = [request.benchmark, *request.arguments, "--plan-ranks", str(request.ranks.total)]
    if request.ranks.per_node is not None:
        words += ["--plan-ranks-per-node", str(request.ranks.per_node)]
    answer = request.engine.ask(words)
    if answer.code:
        raise request.engine.refusal(request.benchmark, answer)
    click.echo(answer.stdout, nl=False)
    if answer.stderr:
        click.echo(answer.stderr, err=True)


def _here(
    request: job.Request, runs: Store, site: Site, values: dict[str, Any], plan: object
) -> None:
    title = f"{request.benchmark} on {fmt.count_of(request.ranks.total, 'rank')}"
    try:
        with LiveView(title, quiet=request.quiet) as view:
            if trial.is_needed(request):
                request = trial.tried(request, runs, view)
            finished = job.run_here(request, runs, view)
    except NoLauncherError as error:
        if find_batch_system() is None or request.machine.allocation is not None:
            raise
        _offer_script(request, runs, site, values, plan, error.message)
        raise click.exceptions.Exit(ExitCode.ENVIRONMENT) from None
    if finished.forbidden and request.machine.allocation is None:
        _offer_script(request, runs, site, values, plan, finished.reason)
        raise click.exceptions.Exit(ExitCode.ENVIRONMENT)
    _conclude(finished, values["report"])


def _offer_script(
    request: job.Request,
    runs: Store,
    site: Site,
    values: dict[str, Any],
    plan: object,
    reason: str,
) -> None:
    """Nothing could be started here: perhaps this is a login node."""
    system = offered_batch_system(site.batch)
    say(reason)
    if system is None:
        say("if this is a login node, start effio inside a batch job")
        return
    folder = _prepared(request, runs, site, values, plan, system)
    script = folder.path / JOB_SCRIPT
    say(f"if mpiexec is not allowed on this machine, submit this {system.name} job instead:")
    click.echo(safe_files.read_text(script), nl=False)
    say(f"submit it with: {shlex.join([system.submit_command[0], str(script)])}")


def _prepared(
    request: job.Request,
    runs: Store,
    site: Site,
    values: dict[str, Any],
    plan: object,
    system: BatchSystem,
) -> RunFolder:
    terms = batch_run.Terms(
        system,
        values["minutes"] or batch_run.minutes_of(plan),
        (*site.batch.directives, *values["batch_options"]),
        site.batch.setup,
    )
    return batch_run.prepare(request, runs, terms)


def _batch(
    request: job.Request, runs: Store, site: Site, values: dict[str, Any], plan: object
) -> None:
    system = wanted_batch_system(values["batch"], site.batch)
    folder = _prepared(request, runs, site, values, plan, system)
    script = folder.path / JOB_SCRIPT
    if not values["submit"]:
        click.echo(str(script))
        redirect = ["<"] if system.reads_stdin else []
        words = " ".join([system.submit_command[0], *redirect, shlex.quote(str(script))])
        if system.name == "flux":
            words = f"flux batch {shlex.quote(str(script))}"
        say(f"submit it with: {words}")
        say(f"then: effio show {folder.id}")
        return
    with LiveView(f"{request.benchmark} in a {system.name} job") as view:
        finished = batch_run.submit_and_wait(folder, system, view)
    log = folder.path / "stdout.log"
    if not request.quiet and log.is_file():
        sys.stdout.write(safe_files.read_text(log, errors="replace"))
    _conclude(finished, values["report"])


def _conclude(finished: job.Finished, report: bool) -> None:
    if finished.refused:
        # Nothing was done: no folder is kept, and `last` does not refer to this run.
        if not finished.said:
            say(finished.reason)
        finished.folder.discard()
        raise click.exceptions.Exit(finished.code)
    if (finished.code != ExitCode.DONE or finished.reason) and not finished.said:
        name = finished.code.name.lower()
        say(f"{name}: {finished.reason}" if finished.reason else name)
    print_line(f"run:    {finished.folder.path}")
    if report and finished.folder.result_path.exists():
        _report(finished.folder)
    raise click.exceptions.Exit(finished.code)


def _report(folder: RunFolder) -> None:
    from effio.report.build import write_report

    try:
        path = write_report([folder.path], folder.path / REPORT)
    except EffioError as error:
        say(f"no report: {error.message}")
        return
    print_line(f"report: {Path(path)}")
