# SPDX-License-Identifier: BSD-3-Clause
"""`effio engine`: build engines for the MPIs at hand, and see what there is."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from effio import text as fmt
from effio.cli.terminal import Terminal
from effio.engine.discover import find_engines
from effio.errors import EffioError


@click.group("engine")
def command() -> None:
    """Build and list engines: one for each MPI, side by side."""


@command.command("list")
def list_engines() -> None:
    """List the engines at hand, the preferred one first."""
    engines = find_engines()
    if not engines:
        click.echo("no engine is built here; build one: effio engine build", err=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("name", "MPI", "version", "program"):
        table.add_column(name, overflow="fold")
    for engine in engines:
        try:
            build = engine.info.engine
            row = [engine.name, str(engine.mpi or "unknown"), build.version, str(engine.path)]
        except EffioError as error:
            row = [engine.name, "does not start here", "", f"{engine.path}: {error.message}"]
        table.add_row(*(Text(fmt.plain(cell)) for cell in row))
    Terminal().print(table)


@command.command("build")
@click.option("--mpicc", metavar="PROGRAM", help="MPI compiler  [default: MPICC, mpicc, Cray cc]")
@click.option(
    "-D",
    "definitions",
    multiple=True,
    metavar="NAME=VALUE",
    help="passed on to CMake; may stand more than once",
)
def build_engine(mpicc: str | None, definitions: tuple[str, ...]) -> None:
    """Compile the bundled engine for an MPI.

    It goes to ~/.local/share/effio/engines (or EFFIO_DATA), in a directory of its own for each
    MPI. One that is there already is left as it is.
    """
    from effio.engine.build import build

    extra = tuple(f"-D{d}" for d in definitions)
    engine, fresh = build(mpicc, extra, lambda text: click.echo(f"effio: {text}", err=True))
    click.echo(f"{'built' if fresh else 'already there'}: {engine.name} ({engine.mpi})")
    click.echo(str(engine.path))
