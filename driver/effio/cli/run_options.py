# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `effio run BENCHMARK`: options of effio and of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from effio import text as fmt
from effio.cli.options import GroupedCommand, GroupedOption, WholeNumber, engine_options
from effio.engine.description import BenchmarkInfo
from effio.errors import EffioError
from effio.launch.batch import batch_names

_LAUNCH = "Launch"
_BATCH = "Batch"
_KEEP = "Results"


def run_options() -> list[click.Option]:
    """The options of effio itself."""

    def option(*flags: str, group: str, **kw: Any) -> click.Option:
        return GroupedOption(list(flags), group=group, **kw)

    positive = WholeNumber(1)
    return [
        option(
            "-n", "--ranks", group=_LAUNCH, type=positive, metavar="N",
            help="total number of processes  [default: the allocation's, else up to 4]",
        ),
        option(
            "--nodes", group=_LAUNCH, type=positive, metavar="N",
            help="nodes to spread them over  [default: the launcher decides]",
        ),
        option(
            "--ranks-per-node", group=_LAUNCH, type=positive, metavar="N",
            help="processes on each node",
        ),
        option(
            "--engine", group=_LAUNCH, metavar="ENGINE",
            help="program, or name of a built engine  [default: the first of effio engine list]",
        ),
        option(
            "--launcher", group=_LAUNCH, metavar="LAUNCHER",
            help="openmpi, mpich, intelmpi, srun, flux, pals, aprun, jsrun, or a path  "
            "[default: the one that belongs to the engine's MPI; inside a job srun (Slurm), flux, "
            "jsrun (LSF) or aprun (PBS), where it is on PATH]",
        ),
        option(
            "--launcher-option", "launcher_options", group=_LAUNCH, multiple=True, metavar="TEXT",
            help="passed on to the launcher; may be given more than once",
        ),
        option(
            "--print-command", group=_LAUNCH, is_flag=True,
            help="print the command that would be run, and do nothing",
        ),
        option(
            "--patience", group=_LAUNCH, type=click.FloatRange(1), default=60.0, metavar="SECONDS",
            help="end the job after this long without a message of the engine  [default: 60]",
        ),
        option(
            "--batch", group=_BATCH, is_flag=False, flag_value="auto", metavar="[SYSTEM]",
            type=click.Choice(["auto", *batch_names()]),
            help=f"write a script that is ready to submit: {', '.join(batch_names())}",
        ),
        option(
            "--submit", group=_BATCH, is_flag=True,
            help="submit the script and wait for the job",
        ),
        option(
            "--minutes", group=_BATCH, type=positive, metavar="N",
            help="time limit of the job  [default: from the plan, with a reserve]",
        ),
        option(
            "--batch-option", "batch_options", group=_BATCH, multiple=True, metavar="TEXT",
            help="a directive of your site, as --batch-option=--account=abc",
        ),
        option(
            "--label", group=_KEEP, metavar="WORD", default="",
            help="added to the name of the run",
        ),
        option(
            "--report/--no-report", group=_KEEP, default=True,
            help="draw report.html when the run has ended  [default: report]",
        ),
        option(
            "-q", "--quiet", group=_KEEP, is_flag=True,
            help="no tables and no live view, only errors and the result's place",
        ),
    ]  # fmt: skip


class BenchmarkCommand(GroupedCommand):
    """The command of one benchmark; `run` gets the values of all options."""

    def __init__(self, benchmark: BenchmarkInfo, run: Callable[[dict[str, Any]], None]) -> None:
        own = run_options()
        names = frozenset(o.removeprefix("--") for p in own for o in p.opts if o[:2] == "--")
        letters = frozenset(o[1] for p in own for o in p.opts if o[:2] != "--")
        clash = _letters_of_two_meanings(benchmark, own)
        self.closing = _examples(benchmark)
        super().__init__(
            benchmark.name,
            params=[
                *engine_options(benchmark, names, letters),
                *own,
                *clash,
                click.Option(
                    ["--help-all"], is_flag=True, expose_value=False, is_eager=True,
                    callback=_help_all, hidden=True,
                ),
                click.Argument(["extra"], nargs=-1, type=click.UNPROCESSED),
            ],
            callback=lambda **values: run(values),
            help=benchmark.purpose + ".",
            short_help=benchmark.purpose,
            options_metavar="[OPTIONS] [-- ENGINE-OPTIONS]",
        )  # fmt: skip

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            raise self._unknown(error.option_name) from None

    def _unknown(self, option: str) -> EffioError:
        said = f"effio run {self.name} has no option '{fmt.plain(option, 100)}'"
        hint = f"effio run {self.name} --help lists its options"
        if not option.startswith("--"):
            hint += "; the letters of an original are for its classic program (effio-mpi classic)"
        if self.name is not None and _campaign_has(self.name, option):
            # A campaign may be called like the benchmark that it runs.
            where = f"; the campaign @{self.name} has it"
            return EffioError(said + where, hint=f"effio run @{self.name} {option} …")
        names = [o[2:] for p in self.params for o in p.opts if o.startswith("--")]
        meant = fmt.closest(option[2:], names)
        return EffioError(said + (f"; did you mean --{meant}?" if meant else ""), hint=hint)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [self.options_metavar or ""]


def _campaign_has(name: str, option: str) -> bool:
    """Whether effio ships a campaign of this name, and campaigns have this option."""
    from effio.campaign.file import shipped
    from effio.cli.campaign import campaign_parameters

    return name in shipped() and any(option in p.opts for p in campaign_parameters())


def _letters_of_two_meanings(
    benchmark: BenchmarkInfo, own: Sequence[click.Option]
) -> list[click.Option]:
    """Takes a letter away from an option of ours that the engine's benchmark uses for another; who
    gives it is asked which one is meant."""
    theirs = {o.letter: o.name for o in benchmark.options if o.letter}
    asking = []
    for option in own:
        name = next(o for o in option.opts if o.startswith("--"))
        for letter in [o for o in option.opts if not o.startswith("--")]:
            other = theirs.get(letter[1:])
            if other is None or f"--{other}" == name:
                continue
            option.opts.remove(letter)
            asking.append(_asking(letter, name, f"--{other}", benchmark.name))
    return asking


def _asking(letter: str, ours: str, theirs: str, benchmark: str) -> click.Option:
    def refuse(_ctx: click.Context, _option: click.Parameter, value: str | None) -> None:
        if value is not None:
            raise EffioError(
                f"{letter} could mean {ours} or, as in effio-mpi {benchmark}, {theirs}",
                hint=f"write {ours} {value} or {theirs} {value}",
            )

    return click.Option(
        [letter, f"asking_{letter[1:]}"], hidden=True, expose_value=False, callback=refuse
    )


def _examples(benchmark: BenchmarkInfo) -> str:
    name = benchmark.name
    return (
        "Examples:\n"
        f"  effio run {name} --ranks 4 --dir /scratch/me\n"
        "      here, with four ranks, on that file system\n"
        f"  effio run {name} --ranks 4 --plan\n"
        "      what it would do, without doing it\n"
        f"  effio run {name} --nodes 16 --ranks-per-node 8 --batch slurm\n"
        "      write a job script; with --submit also submit it and wait"
    )


def _help_all(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["effio.help_all"] = True
        click.echo(ctx.get_help())
        ctx.exit()
