# SPDX-License-Identifier: BSD-3-Clause
"""`effio engine`: build engines for the MPIs at hand, and see what there is."""

from __future__ import annotations

import click

from effio.cli.complete import complete_engine
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.engine.discover import CHOSEN, choose, find_engine, find_engines, named_by_settings
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.launch.choose import choose_launcher, wanted_launcher
from effio.launch.machine import find_machine
from effio.report.model import Cell, Column, Table
from effio.report.texts import Form


@click.group("engine")
def command() -> None:
    """Build, list and choose engines: one for each MPI, side by side."""


@command.command("list")
@table_format(document=False)
def list_engines(form: Form) -> None:
    """List the available engines, the preferred one first; * is the one that is used."""
    used = None
    try:
        used = find_engine()  # unpacks one that the installation carries
    except EffioError as error:
        if named_by_settings()[0]:
            say(error.message)
    engines = find_engines()
    if used is not None and all(e.path.resolve() != used.path.resolve() for e in engines):
        engines.insert(0, used)  # named by its path
    if not engines:
        click.echo("no engine is built here; build one: effio engine build", err=True)
        return
    rows: list[list[Cell]] = []
    for engine in engines:
        is_used = used is not None and engine.path.resolve() == used.path.resolve()
        row: list[Cell] = ["*" if is_used else "", engine.name]
        try:
            row += [str(engine.mpi or "unknown"), engine.info.engine.version]
            row += [_launcher_of(engine), str(engine.path), ""]
        except EffioError as error:
            row += ["does not start here", "", "", str(engine.path), error.message]
        rows.append(row)
    columns = [
        Column("used", kept=True),
        Column("name", kept=True),
        Column("built with", kept=True),
        Column("version", kept=True),
        Column("launcher", kept=True, below=True),
        Column("program", kept=True, below=True),
        Column("fault", kept=True, below=True),
    ]
    write_tables([Table(columns, rows)], form)


def _launcher_of(engine: Engine) -> str:
    try:
        return choose_launcher(engine, find_machine(), wanted_launcher()).program
    except EffioError:
        return "none here"


@command.command("use")
@click.argument("engine", metavar="[ENGINE]", required=False, shell_complete=complete_engine)
@click.option("--none", "taken_back", is_flag=True, help="undo the choice")
def use_engine(engine: str | None, taken_back: bool) -> None:
    """Use this engine from now on, where neither --engine, EFFIO_ENGINE nor the site says another.

    ENGINE is a program, the name of a built engine, or what its name begins with: mpich.
    """
    if taken_back == (engine is not None):
        raise EffioError("name an engine, or undo the choice with --none")
    found = choose(engine)
    if found is None:
        click.echo("no engine is chosen; the first of effio engine list is used")
        return
    click.echo(f"in use: {found.name or found.path} ({found.mpi or 'an MPI of unknown name'})")
    named, origin = named_by_settings()
    if origin != CHOSEN:
        say(f"but {named} counts first, {origin}")


@command.command("build")
@click.option("--mpicc", metavar="PROGRAM", help="MPI compiler  [default: MPICC, mpicc, Cray cc]")
@click.option(
    "-D",
    "definitions",
    multiple=True,
    metavar="NAME=VALUE",
    help="passed on to CMake; may be given more than once",
)
def build_engine(mpicc: str | None, definitions: tuple[str, ...]) -> None:
    """Compile the bundled engine for an MPI.

    It goes to ~/.local/share/effio/engines (or EFFIO_DATA), in a separate directory for each
    MPI. One that is there already is left as it is.
    """
    from effio.engine.build import build

    extra = tuple(f"-D{d}" for d in definitions)
    engine, fresh = build(mpicc, extra, lambda text: click.echo(f"effio: {text}", err=True))
    click.echo(f"{'built' if fresh else 'already there'}: {engine.name} ({engine.mpi})")
    click.echo(str(engine.path))
