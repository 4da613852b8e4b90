# SPDX-License-Identifier: BSD-3-Clause
"""`effio init`: the first two files, with what is here."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import click

from effio.cli.places import PlacePath
from effio.cli.streams import print_line, say
from effio.config.first import Found, campaign_text, site_text
from effio.engine.discover import PROGRAM, find_engine
from effio.errors import EffioError, ExitCode
from effio.launch.batch import find_batch_system
from effio.launch.choose import choose_launcher, wanted_launcher
from effio.launch.launchers import default_ranks
from effio.launch.machine import find_machine

_SITE = "effio-site.toml"
_MODULES = "LOADEDMODULES"


def _found() -> Found:
    machine = find_machine()
    ranks, _ = default_ranks(None, None, None, machine)
    batch = find_batch_system()
    name = mpi = launcher = None
    try:
        engine = find_engine()
        mpi = str(engine.mpi or "an MPI of unknown name")
        # The one of a checkout or of PATH is found by itself.
        if engine.name not in ("checkout", "path"):
            name = engine.name or str(engine.path)
        launcher = choose_launcher(engine, machine, wanted_launcher()).name
    except EffioError as error:
        say(f"{error.message}; continue with: effio doctor")
    modules = [word for word in os.environ.get(_MODULES, "").split(":") if word]
    return Found(
        machine.cores, ranks.total, name, mpi, launcher, batch.name if batch else None, modules
    )


@click.command("init")
@click.argument("directory", metavar="[DIR]", default=".", type=PlacePath(file_okay=False))
@click.option(
    "--campaign", "name", metavar="NAME", default="study.toml", show_default=True,
    help="name of the campaign's file",
)  # fmt: skip
def command(directory: str, name: str) -> None:
    """Write effio-site.toml and a first campaign for this machine: engine, launcher, batch system,
    modules, cores, free space.

    They go to DIR, by default the working directory. Existing files are never overwritten.
    """
    place = Path(directory)
    if Path(name).name != name or not name.endswith(".toml") or name in (_SITE, ".toml"):
        raise EffioError(f"--campaign: '{name}' is not a name for it; write for example sizes.toml")
    if not place.is_dir():
        raise EffioError(f"{place} is not a directory", ExitCode.IO_ERROR, "make it first")
    targets = [place / _SITE, place / name]
    for target in targets:
        if os.path.lexists(target):
            raise EffioError(
                f"{target} exists, and is not overwritten; name another file or remove it"
            )
    found = _found()
    written: list[Path] = []
    try:
        for target, text in zip(
            targets, (site_text(found), campaign_text(found, place)), strict=True
        ):
            with target.open("x", encoding="utf-8") as stream:
                written.append(target)
                stream.write(text)
    except OSError as error:
        for target in written:
            with contextlib.suppress(OSError):
                target.unlink()
        where = error.filename or (written[-1] if written else place)
        raise EffioError(
            f"cannot write {where}: {error.strerror or error}", ExitCode.IO_ERROR
        ) from None
    for target in targets:
        print_line(f"written: {target}")
    missing = "" if found.mpi else f"; it needs an engine ({PROGRAM}) first: effio engine build"
    print_line(f"next:    effio plan {targets[1]}, then effio run {targets[1]}{missing}")
