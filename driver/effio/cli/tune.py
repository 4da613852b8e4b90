# SPDX-License-Identifier: BSD-3-Clause
"""`effio tune TUNING`: what makes a workload faster here, and whether that holds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, NoReturn

import click

from effio import text as fmt
from effio.cli.campaign_options import Duration, option
from effio.cli.compare import part
from effio.cli.complete import complete_tuning, complete_tunings
from effio.cli.main import runs_directory
from effio.cli.options import GroupedCommand, WholeNumber
from effio.cli.places import PlacePath
from effio.cli.show import print_section, tables_of
from effio.cli.streams import print_line, say
from effio.cli.tables import form_of, format_parameters, write_tables
from effio.cli.terminal import Terminal
from effio.config.site import load_site
from effio.config.toml_file import campaign_name, chosen_name
from effio.engine.discover import find_engine
from effio.engine.program import Engine
from effio.errors import ANOTHER_PLACE, MAKE_SPACE, EffioError, ExitCode
from effio.home import expanded
from effio.launch import job
from effio.launch.choose import wanted_launcher
from effio.launch.launchers import Ranks, default_ranks
from effio.launch.live import LiveView
from effio.launch.machine import find_machine, refuse_to_be_launched
from effio.launch.places import not_here, ranks_stay_here
from effio.report.texts import Form
from effio.store.all_runs import Store
from effio.store.values import as_number
from effio.tune import folder as folders
from effio.tune import record as records
from effio.tune.folder import Called, TuningFolder
from effio.tune.measure import Runner
from effio.tune.record import TuningRecord
from effio.tune.search import BudgetError, Search, StoppedError
from effio.tune.setting import Setting
from effio.tune.space import Tuning, check, load, path_of, shipped

_SECONDS = 600.0
# What a resumed search takes from its first call.
_FIXED = (
    "directory", "ranks", "nodes", "ranks_per_node", "overrides", "seconds", "runs",
    "confirmations", "tolerance", "seed", "engine", "launcher", "launcher_options", "instance",
)  # fmt: skip


class _Tune(GroupedCommand):
    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """There are no rare options here."""
        return click.Command.get_help_option(self, ctx)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        with formatter.section("Tunings"):
            formatter.write_dl([(name, load(path_of(name))[0].title) for name in shipped()])

    closing = (
        "Examples:\n"
        "  effio tune collective --ranks 4 --dir /scratch/me --time 10min\n"
        "      which hints make collective writes and reads faster on that file system?\n"
        "  effio tune collective --set transfer=8KiB --set block=8KiB\n"
        "      the same for your own sizes (options of effio-mpi ior)\n"
        "  effio tune mine.toml --plan\n"
        "      what a file of yours would try, without running anything\n"
        "  effio tune --resume last\n"
        "      continue after Ctrl-C, a reboot, or the end of a job"
    )


def _assignment(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", name):
            raise click.BadParameter(f"'{word}': write NAME=VALUE, as transfer=64KiB")
        if name in found:
            raise click.BadParameter(f"{name} is given twice")
        found[name] = value
    return found


_POSITIVE = WholeNumber(1)


@click.command(
    "tune",
    cls=_Tune,
    params=[
        click.Argument(
            ["tuning"], metavar="[TUNING]", required=False, shell_complete=complete_tuning
        ),
        option(
            "--set", "overrides", multiple=True, metavar="NAME=VALUE", callback=_assignment,
            help="an option of the workload in place of the file's; may be given more than once",
            group="Workload",
        ),
        option(
            "-d", "--dir", "directory", metavar="DIR", type=PlacePath(file_okay=False),
            help="directory for the data files; must exist  [default: the file's, or .]",
            group="Workload",
        ),
        option(
            "-n", "--ranks", type=_POSITIVE, metavar="N", group="Workload",
            help="total number of processes  [default: the allocation's, else up to 4]",
        ),
        option("--nodes", type=_POSITIVE, metavar="N", group="Workload",
               help="nodes to spread them over"),
        option("--ranks-per-node", type=_POSITIVE, metavar="N", group="Workload",
               help="processes on each node"),
        option(
            "--time", "seconds", type=Duration(), metavar="TIME", group="Search",
            help="about how long the runs may take in all  [default: the file's, or 10 min]",
        ),
        option(
            "--max-runs", "runs", type=_POSITIVE, metavar="N", group="Search",
            help="how many runs at most  [default: the file's, or what the time allows]",
        ),
        option(
            "--confirmations", type=WholeNumber(3), metavar="N", group="Search",
            help="runs of each side that decide whether a gain holds (3 at least)  [default: 8]",
        ),
        option(
            "--tolerance", metavar="PART", group="Search",
            help="ignore gains up to this part of a rate  [default: 2%]",
        ),
        option("--seed", type=WholeNumber(0), metavar="N", group="Search",
               help="seed of the order of the runs  [default: 1]"),
        option("--plan", is_flag=True, group="Search", help="what would be tried; run nothing"),
        option("--resume", metavar="NAME", shell_complete=complete_tunings, group="Search",
               help="continue one that was stopped (`last`, or a part of its name)"),
        option("--show", metavar="NAME", shell_complete=complete_tunings, group="Results",
               help="print a finished tuning once more"),
        option("--name", "instance", metavar="WORD", group="Results",
               help="name of the tuning  [default: the file's name]"),
        *format_parameters(group="Results"),
        option("--report/--no-report", default=True, group="Results",
               help="draw tuning.html  [default: report]"),
        option("-q", "--quiet", is_flag=True, group="Results",
               help="no live view, only the outcome"),
        option("--engine", metavar="ENGINE", group="Launch",
               help="program, or name of a built engine"),
        option(
            "--launcher", metavar="LAUNCHER", group="Launch",
            help="openmpi, mpich, intelmpi, srun, flux, pals, aprun, jsrun, or a path",
        ),
        option(
            "--launcher-option", "launcher_options", multiple=True, metavar="TEXT", group="Launch",
            help="passed on to the launcher; may be given more than once",
        ),
        option("--take-over", is_flag=True, group="Launch",
               help="take the lock of a driver on a machine that is gone"),
    ],
)  # fmt: skip
def command(**values: Any) -> None:
    """Find hints and settings that make a workload faster, and prove that they do.

    A TUNING is one of those below or a file (docs/tune.md): a benchmark with its options, and what
    may be changed of hints, options and environment. Every round runs the default and all settings
    that are left alternately; the better half stays. What wins is then run again, alternately with
    the default: only a gain that holds there is kept. If none does, effio says so.

    Kept in a new folder under the runs' tunings/: `hints` for the engine's --hints, `romio-hints`
    and `environment.sh` for job scripts, tuning.json, and tuning.html with before and after.
    """
    refuse_to_be_launched()
    runs = Store(runs_directory(click.get_current_context()))
    named = [values["tuning"], values["resume"], values["show"]]
    if sum(word is not None for word in named) != 1:
        raise click.UsageError("name one of: a TUNING, --resume NAME, --show NAME")
    if values["show"] is not None:
        _show(folders.find(runs, values["show"]), values)
        return
    if values["resume"] is not None:
        _resume(runs, values)
        return
    _begin(runs, values)


def _show(folder: TuningFolder, values: Mapping[str, Any]) -> None:
    record = records.load(folder)
    if record is None:
        raise EffioError(
            f"{folder.name} is not finished", hint=f"effio tune --resume {folder.name}"
        )
    _print(record, values)


def _resume(runs: Store, values: Mapping[str, Any]) -> None:
    given = [name for name in _FIXED if values[name] not in (None, (), {})]
    if given or values["plan"]:
        raise click.UsageError("--resume takes everything from the first call")
    folder = folders.find(runs, values["resume"])
    if (done := records.load(folder)) is not None:
        say(f"{folder.name} is finished")
        _print(done, values)
        return
    called = folder.called()
    engine = find_engine(called.engine)
    if engine.sha256 != called.engine_sha256:
        raise EffioError(
            f"the engine {called.engine} is another one than when {folder.name} began",
            hint="rates of two engines cannot be compared; start a new tuning",
        )
    tuning = load(folder.path / "space.toml")[0].with_options(called.options)
    _search(engine, tuning, called, folder, values)


def _begin(runs: Store, values: Mapping[str, Any]) -> None:
    site = load_site()
    engine = find_engine(values["engine"])
    path = path_of(values["tuning"])
    written, file = load(path)
    if values["directory"] is not None and "dir" in values["overrides"]:
        raise click.UsageError("--dir and --set dir=… say the same")
    directory = values["directory"] or values["overrides"].get("dir") or written.options.get("dir")
    place = str(expanded(str(directory or ".")).absolute())
    overrides = dict(values["overrides"])
    info = engine.info.benchmark(written.benchmark)
    if info is not None and any(o.name == "dir" for o in info.options):
        overrides["dir"] = place
    ranks, chosen = default_ranks(
        values["ranks"], values["nodes"], values["ranks_per_node"], find_machine()
    )
    if chosen and not values["quiet"]:
        say(chosen)
    tuning = written.with_options(overrides)
    settings = check(tuning, file, engine, ranks, _given(values))
    name = chosen_name(values["instance"], campaign_name(path))
    called = Called(
        file=str(path.absolute()),
        options=overrides,
        directory=place,
        ranks=ranks.total,
        nodes=ranks.nodes,
        ranks_per_node=ranks.per_node,
        launcher=wanted_launcher(values["launcher"]),
        launcher_options=(*site.launch.options, *values["launcher_options"]),
        engine=str(engine.path.absolute()),
        engine_sha256=engine.sha256,
        seconds=values["seconds"] or tuning.seconds or (None if values["runs"] else _SECONDS),
        runs=values["runs"] or tuning.runs,
        confirmations=values["confirmations"] or 8,
        tolerance=part(values["tolerance"] or "2%"),
        seed=1 if values["seed"] is None else values["seed"],
    )
    if values["plan"]:
        _plan(tuning, settings, called, engine)
        return
    _look_at_directories(tuning, engine, called)
    folder = TuningFolder.create(runs, name)
    folder.keep(called, file.text)
    try:
        _search(engine, tuning, called, folder, values)
    except EffioError:
        folder.discard_if_empty()
        raise


def _given(values: Mapping[str, Any]) -> dict[str, str]:
    """Options of the workload that the command line gives, with its words."""
    words = {name: f"--set {name}={value}" for name, value in values["overrides"].items()}
    directory = values["directory"]
    return words if directory is None else {**words, "dir": f"--dir {directory}"}


def _plan(tuning: Tuning, settings: list[Setting], called: Called, engine: Engine) -> None:
    """What would be tried, one a line, and what a run of the workload takes."""
    words = [tuning.benchmark, *tuning.words()]
    plan = engine.check(words, called.ranks, called.ranks_per_node)
    reported = plan if isinstance(plan, dict) else {}
    estimate = reported.get("estimate")
    size = as_number(estimate.get("bytes_on_storage")) if isinstance(estimate, dict) else None
    click.echo(fmt.plain(f"workload: effio-mpi {shlex.join(words)}"))
    if size is not None:
        click.echo(f"a run puts {fmt.size(size)} on storage")
    click.echo(f"{fmt.count_of(len(settings), 'setting')} against the default:")
    for setting in settings:
        click.echo(fmt.plain(f"  {setting.title}"))
    budget = [fmt.duration(called.seconds)] if called.seconds else []
    budget += [fmt.count_of(called.runs, "run")] if called.runs else []
    click.echo(
        f"budget: {' and '.join(budget)}; "
        f"at least {fmt.count_of(called.terms().fewest_runs, 'run')}"
    )


def _model(engine: Engine, tuning: Tuning, called: Called) -> job.Request:
    return job.Request(
        engine=engine,
        benchmark=tuning.benchmark,
        arguments=tuning.words(),
        ranks=Ranks(called.ranks, called.nodes, called.ranks_per_node),
        machine=find_machine(),
        launcher=called.launcher,
        launcher_options=called.launcher_options,
        quiet=True,
    )


def _look_at_directories(tuning: Tuning, engine: Engine, called: Called) -> None:
    plan = engine.check([tuning.benchmark, *tuning.words()], called.ranks, called.ranks_per_node)
    faults = not_here(plan)
    if faults and ranks_stay_here(_model(engine, tuning, called)):
        raise EffioError(
            "; ".join(faults), ExitCode.IO_ERROR, "make it, or name another one with --dir"
        )


def _search(
    engine: Engine,
    tuning: Tuning,
    called: Called,
    folder: TuningFolder,
    values: Mapping[str, Any],
) -> None:
    def view(title: str, above: str) -> LiveView:
        return LiveView(title, quiet=values["quiet"], above=above)

    def hear(text: str) -> None:
        if not values["quiet"]:
            say(text)

    file = load(folder.path / "space.toml")[1]
    ranks = Ranks(called.ranks, called.nodes, called.ranks_per_node)
    settings = check(tuning, file, engine, ranks)
    runner = Runner(_model(engine, tuning, called), tuning, folder, view, say)
    search = Search(settings, runner, called.terms(), hear)
    with folder.locked(values["take_over"]):
        runner.take_up()
        try:
            outcome = search.run()
        except (StoppedError, KeyboardInterrupt):
            partly = records.record_of(folder.name, tuning, called, search.outcome())
            _stopped(partly, folder, values)
        except BudgetError:
            if not runner.looked_up:  # what an earlier call measured is never removed
                folder.discard()  # the first run is compared with nothing
            raise
        except EffioError as error:
            kept = not folder.discard_if_empty()
            if kept:
                say(f"what was measured is kept; effio tune --resume {folder.name} continues")
            if error.code == ExitCode.RESULTS:  # a search continues only in its own folder
                error.hint = MAKE_SPACE if kept else ANOTHER_PLACE
            raise
        record = records.record_of(folder.name, tuning, called, outcome)
        written = records.write(folder, record)
    if runner.looked_up:
        runs = fmt.count_of(
            runner.looked_up, "run of an earlier call was", "runs of an earlier call were"
        )
        say(f"{runs} not run again")
    _print(record, values)
    _conclude(folder, record, written, values)


def _stopped(record: TuningRecord, folder: TuningFolder, values: Mapping[str, Any]) -> NoReturn:
    """What was measured stays where it is; nothing is claimed of it."""
    _print(record, values)
    say(f"stopped after {fmt.count_of(record.runs, 'run')}; what they measured is kept")
    say(f"continue with: effio tune --resume {folder.name}")
    raise click.exceptions.Exit(ExitCode.INTERRUPTED)


def _print(record: TuningRecord, values: Mapping[str, Any]) -> None:
    form = form_of(values)
    if form is Form.JSON:
        click.echo(record.to_json())
        return
    from effio.report.tuning import tuning_section

    section = tuning_section(record)
    if form is not Form.TEXT:
        write_tables(tables_of(section, False), form)
    else:
        print_section(Terminal(), section, False)


def _conclude(
    folder: TuningFolder, record: TuningRecord, written: list[str], values: Mapping[str, Any]
) -> None:
    reported = print_line if form_of(values) is Form.TEXT else say
    reported(f"tuning: {folder.path}")
    for name in written:
        reported(f"use:    {folder.path / name}")
    if values["report"]:
        from effio.report.html import render, write_page
        from effio.report.tuning import tuning_section

        page = render([], [str(folder.path)], head=tuning_section(record))
        reported(f"report: {write_page(folder.path / 'tuning.html', page)}")
