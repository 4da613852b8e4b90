# SPDX-License-Identifier: BSD-3-Clause
"""`effio`: the group of commands. Each command is a module that is imported when it is called."""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import os
import sys
import tempfile
import traceback
from pathlib import Path

import click

import effio
from effio import text as fmt
from effio.cli.places import PlacePath
from effio.cli.streams import open_closed, speak_ascii
from effio.errors import EffioError, ExitCode
from effio.home import expanded, site_files
from effio.start import interrupts_raise

# Name, module, one line for the overview. The object in the module is called `command`.
COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("run", "run", "run a benchmark or a campaign, or write and submit a batch job"),
    ("plan", "plan", "show what a campaign would run, and what it would take"),
    ("check", "check", "check a campaign file, every name and value"),
    ("runs", "runs", "list the runs that are kept"),
    ("show", "show", "print a run's tables: rates, percentiles, hints, caches"),
    ("report", "report", "write one HTML file that explains a run"),
    ("trend", "trend", "show a campaign night by night, and where its numbers changed"),
    ("compare", "compare", "compare two systems or two times: faster, slower, or chance"),
    ("tune", "tune", "find hints and settings that make a workload faster"),
    ("accept", "accept", "judge runs by acceptance rules"),
    ("bundle", "bundle", "put runs and all they are based on into one folder, to hand in"),
    ("verify-bundle", "verify_bundle", "find changed, missing or added files of a bundle"),
    ("profile", "profile", "describe an application's I/O, and what it would cost here"),
    ("table", "table", "one table of many runs, a row for each point"),
    ("export", "export", "write measurements as CSV, JSON, Parquet, Markdown"),
    ("query", "query", "questions in SQL over all runs"),
    ("note", "note", "add notes and tags to a run"),
    ("archive", "archive", "put runs into one file"),
    ("restore", "restore", "bring archived runs back into the store"),
    ("import", "imported", "import results of IOR, mdtest, IO500, fio, h5bench and others"),
    ("serve", "serve", "show the runs in a browser, read only"),
    ("clean", "clean", "remove what a killed run left behind"),
    ("init", "init", "write a first settings file and campaign for this machine"),
    ("list", "catalog", "list benchmarks and backends of the engine"),
    ("describe", "describe", "show the options of a benchmark"),
    ("doctor", "doctor", "show what is installed, what is missing, and how to get it"),
    ("engine", "engine", "build, list and choose engines"),
    ("completion", "completion", "print completion of commands and options for your shell"),
    ("man", "man", "write manual pages"),
)

_EPILOG = """\b
First steps:
  effio doctor                          is everything installed?
  effio run b-eff-io --time 60s         measure this directory's file system
  effio show last                       what came out
  effio report last                     the same as a page for a browser

\b
Exit codes: 0 done, 1 wrong data, a failed rule or a slower side, 2 usage, 3 I/O error,
4 interrupted, 5 hung, 6 something is missing here, 7 results could not be kept,
8 a defect of effio."""


class Commands(click.Group):
    """Knows all names, but imports only the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, _, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for name, module, _ in COMMANDS:
            if name == cmd_name:
                found = importlib.import_module(f"effio.cli.{module}").command
                assert isinstance(found, click.Command)
                return found
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            meant = fmt.closest(args[0], self.list_commands(ctx))
            guess = f"; did you mean {meant}?" if meant else ""
            raise EffioError(
                f"no command '{fmt.plain(args[0], 100)}'{guess}", hint="effio --help lists them"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, _, line in COMMANDS])


@click.command(
    "effio",
    cls=Commands,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(effio.__version__, prog_name="effio")
@click.option(
    "--runs",
    metavar="DIR",
    type=PlacePath(file_okay=False),
    help="where runs are kept  [default: EFFIO_RUNS, the site's setting, or ./effio-runs]",
)
@click.pass_context
def cli(ctx: click.Context, runs: str | None) -> None:
    """What parallel I/O and communication really deliver."""
    ctx.obj = runs


def _runs_of_site() -> str | None:
    if "EFFIO_SITE" not in os.environ and not any(map(os.path.lexists, site_files())):
        return None  # checked here, because importing the models takes longer than most commands
    from effio.config.site import load_site

    return load_site().results.runs


def runs_directory(ctx: click.Context) -> Path:
    """Where runs are kept, by option, environment, site.toml or habit."""
    from effio.store.answering import must_answer

    named = ctx.find_root().obj or os.environ.get("EFFIO_RUNS") or _runs_of_site()
    return must_answer(expanded(named) if named else Path("effio-runs"))


def complain(error: EffioError) -> None:
    """Prints the message, and the hint if there is one. Nothing while the shell completes a line:
    it would be in the middle of what the user types."""
    if "_EFFIO_COMPLETE" in os.environ:
        return
    lines = [fmt.plain(line) for line in fmt.lines(error.message)] or ["failed"]
    text = "effio: " + "\n       ".join(lines)
    if error.hint:
        text += "".join(f"\n       {fmt.plain(line)}" for line in fmt.lines(error.hint))
    print(text, file=sys.stderr)


def _in_short(error: click.ClickException) -> click.ClickException:
    """A value that an option refuses: "--ranks: 'two' is …" in place of click's "Invalid value
    for …"."""
    if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter):
        return error
    if not isinstance(error.param, click.Option):
        return error
    return click.UsageError(f"{error.param.opts[-1]}: {error.message}", error.ctx)


def _directory_is_gone() -> EffioError | None:
    """An error for a removed current directory: the system's own error names no file."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return EffioError("the current directory was removed", hint="change to another one: cd DIR")
    return None


def _called() -> int:
    """Runs the command; what it ends with."""
    try:
        code = cli.main(prog_name="effio", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.Abort:
        code = ExitCode.INTERRUPTED
    except click.ClickException as error:
        _in_short(error).show()
        code = ExitCode.USAGE
    except EffioError as error:
        complain(error)
        code = error.code
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        # The reader went away (`effio runs | head`); nothing is wrong.
        code = ExitCode.DONE
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        if not where and error.errno == errno.ENOSPC:
            where = f"standard output, or a temporary file in {tempfile.gettempdir()}: "
        complain(_directory_is_gone() or EffioError(f"{where}{error.strerror or error}"))
        code = ExitCode.IO_ERROR
    except Exception:
        # Python would end with 1, which means wrong data.
        traceback.print_exc()
        complain(EffioError("this is a defect of effio itself; please report the text above"))
        code = ExitCode.INTERNAL
    return int(code) if isinstance(code, int) else 0


def _flushed(code: int) -> int:
    """Writes out what is still held back; a stream that takes nothing more must not be tried again
    when Python ends, which would complain and change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not isinstance(error, BrokenPipeError) and code == ExitCode.DONE:
                code = int(ExitCode.IO_ERROR)
    return code


# Objects made before Python looks for cycles among the newest, how many such looks before one at
# those that survived one, and how many of these before one at everything. Modules and a page are up
# to 110,000 objects, the runs of a store of ten thousand up to 700,000, which stay: most commands
# end before that. With Python's own numbers a command that reads a large result spends more than
# half of its time looking at records that have no cycles, again and again.
_COLLECTIONS = (1_000_000, 20, 100)


def _interruptible() -> int:
    """`_called`, and the exit code of Ctrl-C where it comes while a message is printed or between
    two statements."""
    try:
        with interrupts_raise():
            return _called()
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED


def main() -> None:
    gc.set_threshold(*_COLLECTIONS)
    open_closed()
    for stream in (sys.stdout, sys.stderr):
        speak_ascii(stream)
    code = _flushed(_interruptible())
    # Python looks for cycles once more when it ends, which takes a tenth of a command and frees
    # nothing but memory. DuckDB complains of objects that are not freed.
    if "duckdb" not in sys.modules:
        gc.freeze()
    sys.exit(code)
