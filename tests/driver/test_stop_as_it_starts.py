# SPDX-License-Identifier: BSD-3-Clause
"""A request to stop that comes while a process or a job is started: none of them may run on without
effio. And one that whoever started effio wants to be ignored."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from driver.conftest import Effio
from driver.runs import LONG, Alive, engines_in, folder_of, measuring
from effio.cli import campaign_batch
from effio.errors import ExitCode
from effio.launch import batch_run, commands, job, watch
from effio.launch.launchers import Launch
from effio.launch.live import LiveView
from effio.store.folder import RunFolder

SLEEP = [sys.executable, "-S", "-E", "-c", "import time; time.sleep(600)"]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """The user presses Ctrl-C as soon as a process is there."""
    made: list[subprocess.Popen[bytes]] = []

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        made.append(subprocess.Popen(*words, **options))
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)  # Python looks for signals
        return made[-1]

    kinds = {"PIPE", "STDOUT", "DEVNULL", "TimeoutExpired"}
    there = SimpleNamespace(Popen=start, **{name: getattr(subprocess, name) for name in kinds})
    for module in (watch, commands):
        monkeypatch.setattr(module, "subprocess", there)
    yield made
    for process in made:
        process.kill()
        process.wait()


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        pytest.fail("it raised, with what was started still there")


def test_a_launcher_is_ended(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    view = LiveView("t", quiet=True)
    launch = Launch(command=tuple(SLEEP), environment={}, notes=())
    with view, _uninterrupted():
        outcome = watch.Watch(launch, tmp_path, f"test-{tmp_path.name}", view, quiet=True).run()
    assert (outcome.interrupted, outcome.stop_wished) == (True, True)
    assert [process.poll() for process in started] == [-signal.SIGTERM]


def test_a_command_of_the_site_is_ended(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt):
        commands.carry_out([SLEEP], tmp_path, "set-up", {})
    assert [process.wait(60) for process in started] == [-signal.SIGKILL]


class _Batch:
    """A batch system whose job ends when it is stopped."""

    name = "Slurm"
    cancel_command = ("scancel",)

    def __init__(self) -> None:
        self.stopped: list[bool] = []

    def submit(self, _script: Path) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0)
        return "17"

    def is_alive(self, _job: str) -> bool:
        return not self.stopped

    def stop(self, _job: str, at_once: bool) -> None:
        self.stopped.append(at_once)


def test_a_job_is_known_and_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system: Any = _Batch()
    kept: list[str] = []
    folder: Any = SimpleNamespace(path=tmp_path)
    monkeypatch.setattr(batch_run, "keep_id", lambda _folder, job: kept.append(job))
    monkeypatch.setattr(batch_run, "_wait_for_files", lambda _folder: None)
    monkeypatch.setattr(system, "end_of", lambda _job: "CANCELLED", raising=False)
    monkeypatch.setattr(batch_run, "taken_over", lambda *_, interrupted: interrupted)
    with LiveView("t", quiet=True) as view, _uninterrupted():
        assert batch_run.submit_and_wait(folder, system, view)
    assert (kept, system.stopped) == (["17"], [False])


def test_the_job_of_a_campaign_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing: Any = SimpleNamespace(units=[])
    with _uninterrupted(), pytest.raises(Exception) as ended:  # noqa: PT011  of click, which gives it no text
        campaign_batch.submit_and_wait(tmp_path / "job.sh", _Batch(), nothing, nothing)  # type: ignore[arg-type]
    assert ended.value.exit_code == ExitCode.INTERRUPTED  # type: ignore[attr-defined]
    assert "the job continues; the same command shows its progress, scancel 17 ends it" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize("words", [(), ("--batch", "slurm")])
@pytest.mark.parametrize("moment", ["record_of", "write_record"])
def test_no_folder_stays_that_nothing_was_started_for(
    with_engine: Effio, moment: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would look like a run that died, or like none and stay."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for place in [RunFolder] if moment == "write_record" else [job, batch_run]:
        monkeypatch.setattr(place, moment, interrupt)
    done = with_engine.call("run", "ior", "-n", "1", "--backend", "sim", *words)
    assert done.returncode == ExitCode.INTERRUPTED, done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


def test_what_the_caller_ignores_stays_so() -> None:
    """SIGUSR1 is meant for effio, whatever the script around it does with its own."""
    numbers = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGUSR1)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    heard: list[bool] = []
    try:
        with watch.stop_signals(lambda: heard.append(True)):
            caught = [n for n in numbers if signal.getsignal(n) != signal.SIG_IGN]
        assert caught == [signal.SIGUSR1]
        assert {signal.getsignal(n) for n in numbers} == {signal.SIG_IGN}
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def test_with_nohup_a_run_outlives_its_terminal(
    with_engine: Effio, data: Path, alive: Alive
) -> None:
    process = alive(
        subprocess.Popen(
            ["nohup", *with_engine.command("run", "b-eff-io", *LONG, "--dir", data)],
            cwd=with_engine.cwd,
            env=with_engine.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    measuring(with_engine, process)
    process.send_signal(signal.SIGHUP)
    # effio looks at its launcher, and for requests, five times a second.
    time.sleep(1)
    assert process.poll() is None
    assert engines_in(folder_of(with_engine))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 4
    assert process.stderr is not None
    said = process.stderr.read()
    assert "stopping after the call in work" in said
    assert "ending at once" not in said  # as after a second request
