# SPDX-License-Identifier: BSD-3-Clause
"""`effio doctor`: what is here, what is missing, and the command that gets it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

import effio
from effio import text as fmt
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.cli.tables import table_format, write_tables
from effio.config.site import load_site
from effio.engine.discover import find_engine, find_engines
from effio.engine.program import Engine
from effio.errors import EffioError, ExitCode, pip_install
from effio.home import site_files
from effio.launch import refusal
from effio.launch.batch import BATCH_SYSTEMS
from effio.launch.choose import choose_launcher, wanted_launcher
from effio.launch.launchers import Launcher, Ranks
from effio.launch.live import LiveView
from effio.launch.machine import Machine, find_machine
from effio.launch.watch import Outcome, Patience, Watch
from effio.report.model import Cell, Column, Table
from effio.report.texts import Form
from effio.store import clean, looks
from effio.store.abilities import Ability, abilities_of
from effio.store.reader import Result, read_result


@dataclass(frozen=True)
class Check:
    what: str
    state: str  # "ok", "note" (something optional is missing), "missing"
    found: str
    advice: str = ""


def _python() -> Iterator[Check]:
    yield Check("Python", "ok", f"{platform.python_version()} ({sys.executable})")
    yield Check("effio", "ok", f"{effio.__version__} ({Path(effio.__file__).parent})")
    extras = (
        ("plotly", "reports", "missing", pip_install("plotly")),
        ("duckdb", "effio query", "note", pip_install("duckdb")),
        ("darshan", "effio profile of Darshan logs", "note", pip_install("darshan")),
        ("pyarrow", "effio export to Parquet", "note", pip_install("pyarrow")),
        ("openpyxl", "effio export to Excel workbooks", "note", pip_install("openpyxl")),
        ("matplotlib", "single figures as PNG and PDF", "note", pip_install("matplotlib")),
    )
    for module, purpose, grade, advice in extras:
        if importlib.util.find_spec(module) is not None:
            yield Check(module, "ok", f"for {purpose}")
        else:
            yield Check(module, grade, f"not installed; needed for {purpose}", advice)
    from effio.report.html import has_part

    if not has_part():
        yield Check(
            "size of reports", "note",
            "2.2 MB each: of this version of plotly effio cannot leave out what it does not need",
            f"install the version that effio is tested with: {pip_install('plotly==6.*')}",
        )  # fmt: skip


def _engine() -> Iterator[Check]:
    try:
        chosen = find_engine()
    except EffioError as error:
        yield Check("engine", "missing", error.message, error.hint)
        return
    others = [e for e in find_engines() if e.path.resolve() != chosen.path.resolve()]
    for engine in (chosen, *others):
        try:
            build = engine.info.engine
            yield Check("engine", "ok", f"{engine.path}, {build.version}, built with {engine.mpi}")
            if build.version != effio.__version__:
                yield Check(
                    "engine", "note", f"version {build.version} next to effio {effio.__version__}",
                    "effio engine build",
                )  # fmt: skip
        except EffioError as error:
            yield Check("engine", "note", error.message, error.hint)


def _site() -> Check:
    """The site's settings, which the other checks follow."""
    there = [path for path in site_files() if path.exists() or path.is_symlink()]
    try:
        load_site()
    except EffioError as error:
        return Check("site's settings", "missing", error.message, error.hint)
    return Check("site's settings", "ok", str(there[0]) if there else "no file, none is needed")


def _launcher(engine: Engine, machine: Machine) -> Launcher:
    """The launcher that `effio run` takes if no option names one."""
    launch = load_site().launch
    return choose_launcher(engine, machine, wanted_launcher(), launch.options)


def _launch() -> Iterator[Check]:
    machine = find_machine()
    yield Check("cores", "ok", f"{machine.cores} usable")
    if machine.allocation is not None:
        a = machine.allocation
        yield Check("allocation", "ok", f"{a.system} job {a.job_id}")
    for system in BATCH_SYSTEMS:
        if system.found:
            yield Check("batch system", "ok", f"{system.name} ({system.submit_command[0]})")
    try:
        engine = find_engine()
        launcher = _launcher(engine, machine)
    except EffioError as error:
        yield Check("launcher", "missing", error.message, error.hint)
        return
    yield Check("launcher", "ok", f"{launcher.program} ({launcher.mpi or launcher.name})")
    yield _try_launch(launcher.program, launcher, engine.path)


@dataclass(frozen=True)
class _Tried:
    """A launch: its outcome and result, or why it did not start."""

    outcome: Outcome | None = None
    result: Result | None = None
    error: EffioError | None = None


def _try(launcher: Launcher, ranks: Ranks, engine: Path, *words: str) -> _Tried:
    """Runs a short benchmark and keeps no files."""
    with tempfile.TemporaryDirectory(prefix="effio-doctor-") as scratch:
        path = Path(scratch) / "result.jsonl"
        line = (str(engine), *words, "--quiet", "--result", str(path))
        launch = launcher.launch(ranks, line, find_machine())
        mark = f"doctor-{os.getpid()}"
        with Path(os.devnull).open("w") as nowhere:
            view = LiveView("", terminal=False, stderr=nowhere)
            try:
                outcome = Watch(
                    launch, Path(scratch), mark, view, Patience(60, 60), quiet=True
                ).run()
            except EffioError as error:
                return _Tried(error=error)
        if outcome.stop_wished:
            raise KeyboardInterrupt
        with contextlib.suppress(EffioError, OSError):
            return _Tried(outcome, read_result(path))
        return _Tried(outcome)


def _try_launch(program: str, launcher: Launcher, engine: Path) -> Check:
    """Starts two ranks: only a launch shows whether the launcher may be used here."""
    with tempfile.TemporaryDirectory(prefix="effio-doctor-") as scratch:
        tried = _try(
            launcher, Ranks(2), engine,
            "b-eff-io", "--backend", "sim", "--time", "1s", "--dir", scratch,
            "--memory-per-rank", "256MiB",
        )  # fmt: skip
    if tried.error is not None:
        return Check("trial launch", "missing", tried.error.message, tried.error.hint)
    assert tried.outcome is not None
    if tried.outcome.code == 0 and tried.result is not None:
        return Check("trial launch", "ok", "two ranks started and found each other")
    failed = f"{program} failed with {tried.outcome.code}"
    if lacking := refusal.temporary_fault(os.environ):
        advice = refusal.ANOTHER_TEMPORARY
        return Check("trial launch", "missing", f"{failed}: {lacking}", advice)
    return Check(
        "trial launch", "missing", f"{failed}: {refusal.first_of(tried.outcome.last_words)}",
        "on a login node mpiexec may be forbidden: effio run … --batch writes a job script",
    )  # fmt: skip


def _consistency(directory: Path) -> Ability:
    """Close-to-open consistency. The engine checks it before each run on several nodes, so this
    starts the shortest such run if it is inside a job with several nodes."""
    name = "close-to-open"
    means = "a node may read old data of a file that another one has written"
    machine = find_machine()
    if machine.allocation is None or (machine.allocation.nodes or 1) < 2:
        found = (
            "needs two nodes: run this inside a job; results of runs on several nodes have it, too"
        )
        return Ability(name, None, found)
    try:
        engine = find_engine()
        launcher = _launcher(engine, machine)
        tried = _try(
            launcher, Ranks(2, 2, 1), engine.path,
            "ior", "--block", "4KiB", "--transfer", "4KiB", "--dir", str(directory),
        )  # fmt: skip
    except EffioError as error:
        return Ability(name, None, error.message)
    if tried.error is not None:
        return Ability(name, None, tried.error.message)
    place = tried.result.run.file_system if tried.result is not None else None
    if place is None or place.close_to_open is None:
        said = "; ".join(tried.outcome.last_words[-3:]) if tried.outcome is not None else ""
        return Ability(name, None, said or "the two nodes did not find out")
    found = "a node read " + (
        "what another one wrote and closed" if place.close_to_open else "old data of another one"
    )
    return Ability(name, place.close_to_open, found, means)


def storage_checks(runs: Path) -> Iterator[Check]:
    yield _place("this directory", Path.cwd(), "name another: --dir DIR, --runs DIR")
    yield _place("runs", runs.absolute(), "name another: --runs DIR, or EFFIO_RUNS")


def _place(what: str, path: Path, advice: str) -> Check:
    """Whether files can be made there, or where it would be made."""
    there = next(one for one in (path, *path.parents) if one.is_dir())
    free = shutil.disk_usage(there).free
    writable = os.access(there, os.W_OK)
    usable = writable and free > 0
    found = f"{path}, {fmt.size(free)} free" + ("" if writable else ", not writable")
    return Check(what, "ok" if usable else "note", found, "" if usable else advice)


def _table(checks: Sequence[Check]) -> Table:
    rows: list[list[Cell]] = [[c.what, c.state, c.found, c.advice] for c in checks]
    colors = {"ok": "green", "note": "yellow", "missing": "red"}
    columns = [
        Column("what", kept=True),
        Column("state", kept=True, colors=colors),
        Column("found", kept=True),
        Column("what to do", kept=True, below=True),
    ]
    return Table(columns, rows)


def _tidy(directory: Path) -> None:
    """Removes what a killed `effio doctor` left there."""
    found, kept = looks.left_in(directory)
    failed = clean.remove(found)
    not_gone = {item.path for item in failed}
    for file in found:
        if file.path not in not_gone:
            click.echo(f"removed {fmt.plain(file.path)}, which a killed effio left", err=True)
    for item in (*kept, *failed):
        click.echo(f"left alone: {fmt.plain(item.path)}: {item.why}", err=True)


def _abilities(directory: Path, form: Form) -> None:
    """What the file system of a directory can do, as a separate table."""
    _tidy(directory)
    try:
        found = [*abilities_of(directory), _consistency(directory)]
    except OSError as error:
        raise EffioError(
            f"--dir {directory}: {error.strerror or error}", ExitCode.IO_ERROR,
            "name a directory in which you may create files",
        ) from None  # fmt: skip
    words = {True: "yes", False: "no", None: "unknown"}
    if form is Form.JSON:
        click.echo(json.dumps([one.__dict__ for one in found], indent=2))
        return
    colors = {"yes": "green", "no": "yellow", "unknown": "blue"}
    columns = [
        Column("what this file system can do", kept=True),
        Column("can", kept=True, colors=colors),
        Column("found", kept=True),
        Column("what that means", kept=True, below=True),
    ]
    rows: list[list[Cell]] = [[one.name, words[one.can], one.found, one.means] for one in found]
    write_tables([Table(columns, rows)], form)


@click.command("doctor")
@click.option(
    "--dir",
    "directory",
    type=PlacePath(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="only what the file system of this directory can do, found with small files",
)
@table_format()
@click.pass_context
def command(ctx: click.Context, directory: Path | None, form: Form) -> None:
    """Show what is installed, what is missing, and how to get it.

    Starts two ranks for a moment to see whether the launcher works. Ends with 6 if something is
    missing that a run needs.
    """
    if directory is not None:
        _abilities(directory, form)
        return
    checks = [*_python(), _site()]
    if checks[-1].state == "ok":
        checks += [*_engine(), *_launch(), *storage_checks(runs_directory(ctx))]
    if form is Form.JSON:
        click.echo(json.dumps([check.__dict__ for check in checks], indent=2))
    else:
        write_tables([_table(checks)], form)
    if any(check.state == "missing" for check in checks):
        raise click.exceptions.Exit(ExitCode.ENVIRONMENT)
