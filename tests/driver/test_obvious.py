# SPDX-License-Identifier: BSD-3-Clause
"""What a newcomer types first: every benchmark and every command without options, with one, with
--help. The lists come from the engine and from the table of commands, so a new one is tried too."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.cli.main import COMMANDS
from effio.engine.program import Engine as Program
from effio.errors import ExitCode
from effio.store.option_values import SETTINGS, UNITS
from engines import Engine

# Without an argument it serves until it is interrupted; tests/driver/test_serve.py starts it.
_WAITS = {"serve"}
_DOCUMENTED = {int(code) for code in ExitCode} - {8}


def no_traceback(done: subprocess.CompletedProcess[str], *codes: int) -> None:
    said = done.stdout + done.stderr
    assert "Traceback" not in said, said
    assert "defect of effio" not in said, said
    assert done.returncode in (codes or _DOCUMENTED), (done.args, said)


def enough_or_said(done: subprocess.CompletedProcess[str]) -> None:
    """A benchmark that cannot do without an option names it."""
    no_traceback(done, 0, 2)
    assert done.returncode == 0 or "--" in done.stderr.split("see:")[0], done.stderr


def test_every_benchmark_answers_to_what_is_typed_first(
    with_engine: Effio, any_engine: Engine
) -> None:
    no_traceback(with_engine.call("list"), 0)
    names = [one.name for one in Program(any_engine.program, "of the test").info.benchmarks]
    assert len(names) >= 17
    for name in names:
        for words in (("--print-command",), ("--ranks", "2", "--print-command")):
            enough_or_said(with_engine.call("run", name, *words))
        for words in (("--plan",), ("--plan", "--ranks", "2")):
            enough_or_said(with_engine.call("run", name, *words))
        no_traceback(with_engine.call("run", name, "--help"), 0)
        no_traceback(with_engine.call("describe", name), 0)
        no_traceback(with_engine.call("run", name, "--no-such-option"), 2)
        no_traceback(with_engine.call("run", name, "--print-command", "--no-such-option"), 2)


def test_reports_know_the_unit_of_every_option(any_engine: Engine) -> None:
    info = Program(any_engine.program, "of the test").info
    for named, groups in (
        (UNITS, [one.options for one in info.benchmarks]),
        (SETTINGS, [one.settings for one in info.backends]),
    ):
        options = [option for group in groups for option in group]
        assert {o.name: o.unit for o in options if o.unit} == named
        # Where a name has a unit in one place only, it is a word elsewhere.
        others = [o for o in options if o.name in named and not o.unit]
        assert {o.type for o in others} <= {"choice", "text", "flag"}, others


@pytest.mark.parametrize("with_runs", [False, True], ids=["empty", "with a run"])
def test_every_command_answers_to_what_is_typed_first(with_engine: Effio, with_runs: bool) -> None:
    if with_runs:
        folder = with_engine.cwd / "effio-runs/20260101T000000Z-b-eff-io"
        folder.mkdir(parents=True)
        made.write(folder / "result.jsonl", made.b_eff_io())
    before = {*Path(with_engine.cwd).rglob("*")}
    for name, _, line in COMMANDS:
        if not with_runs:
            helped = with_engine.call(name, "--help")
            no_traceback(helped, 0)
            assert "Usage: effio " + name in helped.stdout, line
            no_traceback(with_engine.call(name, "--no-such-option"), 2)
        if name not in _WAITS:
            no_traceback(with_engine.call(name))
            no_traceback(with_engine.call(name, "last"))
            no_traceback(with_engine.call(name, "no such thing"))
    # What was there is there.
    assert before <= {*Path(with_engine.cwd).rglob("*")}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run IOR --plan", "no benchmark or campaign 'IOR'; did you mean ior?"),
        ("describe iorr", "no benchmark or backend 'iorr'; did you mean ior?"),
        ("run --ranks 2 ior", "options follow the benchmark: effio run BENCHMARK OPTIONS"),
        ("profile", "effio profile --blank prints an empty form"),
        # A plan is refused in the words of a run.
        ("run ior --plan --block 0", "see: effio run ior --help"),
        ("run b-eff --ranks 1", "b_eff needs at least 2 ranks: --ranks see: effio"),
    ],
)
def test_what_was_meant_is_named(
    with_engine: Effio, words: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())  # no terminal, and nothing to read
    done = with_engine.call(*words.split())
    no_traceback(done, 2)
    assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ((), "b-eff-io"),
        (("classic",), "mdtest"),
        (("describe",), "backends"),
        (("sion",), "split"),
        (("together",), "--group"),
        (("ior",), "--transfer"),
    ],
)
@pytest.mark.parametrize("word", ["--help", "-h"])
def test_each_command_of_the_engine_has_help(
    command: tuple[str, ...], says: str, word: str, any_engine: Engine, tmp_path: Path
) -> None:
    done = any_engine.alone([*command, word], tmp_path)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: ")
    assert says in done.stdout
