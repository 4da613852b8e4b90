# SPDX-License-Identifier: BSD-3-Clause
"""How `effio run` ends when it is stopped, when something dies, when its output is not read, and
when nothing can be kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from driver.conftest import Effio
from driver.runs import (
    LONG,
    SHORT,
    Alive,
    engines_in,
    folder_of,
    measuring,
    record_of,
    wait_for,
    with_flavour,
)
from effio.launch import watch
from engines import Engine
from patience import SECONDS
from results import load


def test_ctrl_c_stops_cleanly_and_keeps_what_was_measured(
    mpi: Engine, effio: Effio, data: Path, alive: Alive
) -> None:
    words = ("run", "b-eff-io", *LONG, "--no-report", "--dir", data)
    process = alive(with_flavour(effio, mpi).start(*words))
    folder = measuring(effio, process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 4, stderr
    assert "what was measured is kept" in stderr
    assert "Traceback" not in stderr
    result = load(folder / "result.jsonl")
    assert result.status == "interrupted"
    assert len(result.measurements) >= 1
    assert list(data.iterdir()) == []
    assert engines_in(folder) == []
    shown = effio.call("show", "last")
    assert "interrupted" in shown.stdout
    assert effio.call("report", "last").returncode == 0


def test_a_second_ctrl_c_ends_at_once(with_engine: Effio, data: Path, alive: Alive) -> None:
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data, "--no-report"))
    folder = measuring(with_engine, process)
    ranks = engines_in(folder)
    assert len(ranks) == 2
    # The engine cannot hear the first one.
    for rank in ranks:
        os.kill(rank, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    # Two pending signals count as one.
    assert process.stderr is not None
    assert any("stopping after the call" in line for line in process.stderr)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 4, stderr
    assert "ending at once" in stderr
    wait_for("the ranks' end", lambda: not engines_in(folder))
    assert record_of(with_engine)["outcome"]["status"] == "interrupted"  # type: ignore[index]


def test_a_second_ctrl_c_removes_what_ended_ranks_left(
    mpi: Engine, effio: Effio, data: Path, alive: Alive
) -> None:
    """A rank hangs in a write, so none of them can end in order."""
    with_flavour(effio, mpi)
    shim = mpi.build / "tests" / "faults" / "effio_faulty_calls.so"
    name, _, libraries = mpi.loaded_before(shim).partition("=")
    effio.environment |= {
        name: libraries,
        "EFFIO_FAULT": f"write,hang,in={data},rank=1,from=5",
        "EFFIO_FAULT_LOG": str(effio.cwd / "strikes"),
    }
    words = ("--block", "4MiB", "--repetitions", "1000", "--watchdog", "0s", "--no-report")
    process = alive(effio.start("run", "ior", *words, "--ranks", "2", "--quiet", "--dir", data))
    wait_for("a call that hangs", (effio.cwd / "strikes").exists)
    folder = folder_of(effio)
    assert list(data.iterdir()) != []
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert any("stopping after the call" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 4, stderr
    assert load(folder / "result.jsonl").end is None
    assert list(data.iterdir()) == [], stderr
    assert "stopped at once" in stderr


def test_a_hung_engine_is_noticed_and_ended(with_engine: Effio, data: Path, alive: Alive) -> None:
    words = ("--patience", "5", "--watchdog", "0s", "--no-report")
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data, *words))
    folder = measuring(with_engine, process)
    for rank in engines_in(folder):
        os.kill(rank, signal.SIGSTOP)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 5, stderr
    assert "no word from the engine for 5 s" in stderr
    wait_for("the ranks' end", lambda: not engines_in(folder))
    assert record_of(with_engine)["outcome"]["status"] == "hung"  # type: ignore[index]
    assert "hung" in with_engine.call("runs").stdout


def test_a_rank_that_dies_ends_the_run(with_engine: Effio, data: Path, alive: Alive) -> None:
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data, "--no-report"))
    folder = measuring(with_engine, process)
    os.kill(engines_in(folder)[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=SECONDS)
    assert process.returncode == 6, stderr
    assert "died in the middle of the run" in stderr
    assert engines_in(folder) == []
    runs = with_engine.call("runs", "--json")
    assert json.loads(runs.stdout)["state"] == "failed"
    # What was measured before can be shown all the same.
    assert with_engine.call("show", "last").returncode == 0


def test_a_killed_run_is_not_running_and_can_be_cleaned_up(
    with_engine: Effio, data: Path, alive: Alive
) -> None:
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data, "--no-report"))
    folder = measuring(with_engine, process)
    assert json.loads(with_engine.call("runs", "--json").stdout)["state"] == "running"
    process.kill()
    process.wait()
    for rank in engines_in(folder):
        os.kill(rank, signal.SIGKILL)
    wait_for("the ranks' end", lambda: not engines_in(folder))
    assert json.loads(with_engine.call("runs", "--json").stdout)["state"] == "failed"
    assert list(data.iterdir())
    mine = data / "mine"
    mine.write_text("x")
    assert with_engine.call("clean", "--yes").returncode == 0
    assert list(data.iterdir()) == [mine]


def _stopped_in_order(effio: Effio, data: Path) -> None:
    """The engine ended by itself, data are gone, and the outcome is written down."""
    folder = folder_of(effio)
    wait_for("the outcome", lambda: record_of(effio)["outcome"])
    assert load(folder / "result.jsonl").status == "interrupted"
    outcome = record_of(effio)["outcome"]
    assert isinstance(outcome, dict)
    assert (outcome["status"], outcome["exit_code"]) == ("interrupted", 4)
    assert list(data.iterdir()) == []
    assert engines_in(folder) == []


def test_a_reader_that_goes_away_stops_the_run_in_order(
    with_engine: Effio, data: Path, alive: Alive
) -> None:
    """`effio run … | head -n 1`: the next line of a table finds no reader."""
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data))
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(60) == 4
    said = process.stderr.read()
    assert "interrupted" in said
    assert f"run:    effio-runs/{folder_of(with_engine).name}" in said
    assert "Traceback" not in said
    assert "Exception ignored" not in said
    _stopped_in_order(with_engine, data)


def test_a_closed_terminal_stops_the_run_in_order(
    with_engine: Effio, data: Path, alive: Alive
) -> None:
    """The shell sends SIGHUP, and nothing can be written any more."""
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data))
    measuring(with_engine, process)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stderr.close()
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 4
    _stopped_in_order(with_engine, data)


def test_results_without_room_are_one_line_and_a_code(
    with_engine: Effio, data: Path, mount: Callable[..., Path]
) -> None:
    """Before the run: nothing starts, and no half a folder stays."""
    full = mount("-t", "tmpfs", "-o", "size=4k", "none")
    (full / "ballast").write_bytes(b"x" * 4096)
    done = with_engine.call("--runs", full, "run", "b-eff-io", *SHORT, "--dir", data)
    assert done.returncode == 7
    assert done.stderr.splitlines()[-2:] == [
        f"effio: results cannot be kept in {full}: No space left on device",
        "       name another place: --runs DIR, or EFFIO_RUNS",
    ]
    assert [p.name for p in full.iterdir()] == ["ballast"]
    assert list(data.iterdir()) == []


def test_results_that_run_out_of_room_are_rescued(
    with_engine: Effio, data: Path, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """During the run: the engine continues in a file elsewhere, and the driver says where."""
    full = mount("-t", "tmpfs", "-o", "size=24k", "none")
    other = tmp_path / "temporary"
    other.mkdir()
    words = ("--runs", full, "run", "b-eff-io", *SHORT, "--dir", data)
    done = with_engine.call(*words, env={"TMPDIR": str(other)})
    assert done.returncode == 7, done.stderr
    assert list(data.iterdir()) == []
    (rescued,) = [p for p in other.iterdir() if p.is_file()]
    (folder,) = full.iterdir()
    assert rescued.name == f"effio-rescued-{folder.name}-result.jsonl"
    assert f"all results are kept in {rescued}" in done.stderr
    assert "Traceback" not in done.stderr
    assert load(rescued).status == "done"


def test_results_whose_place_is_unmounted_are_rescued(
    with_engine: Effio, data: Path, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """During the run. The engine continues in a file elsewhere, the driver says where, and neither
    writes into the directory that was below the file system."""
    place = mount("-t", "tmpfs", "-o", "size=4m", "none")
    other = tmp_path / "temporary"
    other.mkdir()
    away = f"test $EFFIO_RANK-$EFFIO_PHASE != 0-file-stat || umount -l {place}"
    words = ("mdtest", "--items", "4", "--things", "files", f"--run-before-phase={away}")
    done = with_engine.call(
        "--runs", place, "run", *words, "--dir", data, env={"TMPDIR": str(other)}
    )
    assert done.returncode == 7, done.stderr
    assert not place.is_mount()
    (rescued,) = [p for p in other.iterdir() if p.is_file()]
    assert f"all results are kept in {rescued}" in done.stderr
    assert "Traceback" not in done.stderr
    assert load(rescued).status == "done"
    assert list(place.iterdir()) == []
    assert list(data.iterdir()) == []


def test_a_handler_of_a_library_is_not_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that is loaded before Python, for instance UCX of an MPI behind Darshan's, has its
    own handler of SIGHUP: Python calls it None, and takes no None back."""
    before = signal.getsignal(signal.SIGHUP)
    install = signal.signal

    def signal_of(number: int, handler: Any) -> Any:
        old = install(number, handler)
        return None if number == signal.SIGHUP else old

    monkeypatch.setattr(signal, "signal", signal_of)
    try:
        with watch.stop_signals(lambda: None):
            pass
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL
    finally:
        install(signal.SIGHUP, before)


def test_a_defect_is_never_mistaken_for_wrong_data(effio: Effio, monkeypatch: Any) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("effio.cli.runs.opened_index", broken)
    done = effio.call("runs")
    assert done.returncode == 8
    assert "RuntimeError: a defect" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("effio: this is a defect of effio itself")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_no_exit_code(with_engine: Effio, closed: str) -> None:
    """A scheduler may start it this way: it ended with a traceback and exit code 1, wrong data."""
    for words, code in (("run", "ior", "--backend", "null", "-n", "1"), 0), (("show", "no"), 2):
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *with_engine.command(*words)],
            cwd=with_engine.cwd, env=with_engine.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
    (run,) = (with_engine.cwd / "effio-runs").iterdir()
    assert load(run / "result.jsonl").status == "done"


def test_a_current_directory_that_was_removed_is_named(effio: Effio) -> None:
    gone = effio.cwd / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *effio.command("--runs", effio.cwd, "runs")],
        cwd=gone, env=effio.environment, capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stderr.splitlines()[-2:] == [
        "effio: the current directory was removed",
        "       change to another one: cd DIR",
    ]
