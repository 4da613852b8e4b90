# SPDX-License-Identifier: BSD-3-Clause
"""`effio run` with real engines: what a run leaves, and how it ends when things go wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from driver.conftest import Effio
from engines import Engine
from results import load

# One call of every row: the smallest complete run.
SHORT = ("--time", "0s", "--memory-per-rank", "256MiB", "--partitions", "2", "-n", "2")
# Long enough to be stopped in the middle, after the first of its rows.
LONG = (
    "--time", "60s", "--memory-per-rank", "256MiB", "--max-bytes", "2GiB", "-n", "2",
    "--partitions", "2",
)  # fmt: skip

Alive = Callable[["subprocess.Popen[str]"], "subprocess.Popen[str]"]


def _folder(effio: Effio) -> Path:
    folders = list((effio.cwd / "effio-runs").iterdir())
    assert len(folders) == 1, folders
    return folders[0]


def _record(effio: Effio) -> dict[str, object]:
    record = json.loads((_folder(effio) / "run.json").read_text())
    assert isinstance(record, dict)
    return record


def _engines_in(folder: Path) -> list[int]:
    """Ranks whose command names this folder's result file."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            program = (entry / "exe").readlink().name if words else ""
        except OSError:
            continue
        if program == "effio-mpi" and str(folder).encode() in words:
            found.append(int(entry.name))
    return found


def _wait_for(what: str, true: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"waited {seconds} s for: {what}"
        time.sleep(0.02)


def _measuring(effio: Effio, process: subprocess.Popen[str]) -> Path:
    """Waits until a row has been measured; returns the run's folder."""
    root = effio.cwd / "effio-runs"

    def measured() -> bool:
        assert process.poll() is None, process.communicate()
        files = list(root.glob("*/result.jsonl"))
        return bool(files) and b'"kind":"measurement"' in files[0].read_bytes()

    _wait_for("a measurement", measured)
    return _folder(effio)


def _with(effio: Effio, engine: Engine) -> Effio:
    effio.environment["EFFIO_ENGINE"] = str(engine.program)
    effio.environment["EFFIO_MPIEXEC"] = engine.mpiexec
    return effio


@pytest.mark.parametrize("flavour", ["openmpi-ompio", "mpich"])
def test_a_run_is_kept_whole(
    flavour: str, engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    done = _with(effio, engines[flavour]).run(
        "run", "b-eff-io", *SHORT, "--dir", data, "--label", "first",
        env={"MY_TOKEN": "secret", "ROMIO_HINTS": "/none", "UCX_API_KEY": "secret"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    folder = _folder(effio)
    assert folder.name.endswith("Z-b-eff-io-first")
    # The last lines say where it is.
    assert done.stdout.splitlines()[-2:] == [
        f"run:    effio-runs/{folder.name}",
        f"report: effio-runs/{folder.name}/report.html",
    ]
    result = load(folder / "result.jsonl")
    assert result.status == "done"
    assert "b_eff_io of 2 ranks" in (folder / "stdout.log").read_text()
    assert (folder / "report.html").stat().st_size > 1_000_000
    # Checksums that anybody can check.
    checked = subprocess.run(
        ["sha256sum", "--check", "SHA256SUMS"], cwd=folder, capture_output=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    names = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert names == {"result.jsonl", "run.json", "environment.json", "stdout.log", "stderr.log"}
    # What explains the run, and no secrets.
    environment = json.loads((folder / "environment.json").read_text())
    assert environment["ROMIO_HINTS"] == "/none"
    assert not any("TOKEN" in name or "KEY" in name for name in environment)
    record = _record(effio)
    program = record["engine"]
    assert isinstance(program, dict)
    digest = subprocess.run(
        ["sha256sum", engines[flavour].program], capture_output=True, text=True, check=True
    )
    assert program["sha256"] == digest.stdout.split()[0]
    assert "MPI" in program["mpi_built_with"]
    assert set(record["arguments"]) == {f"--dir={data}", *_words(SHORT[:-2])}  # type: ignore[call-overload]
    assert record["outcome"]["status"] == "done"  # type: ignore[index]
    assert list(data.iterdir()) == []


def _words(pairs: tuple[str, ...]) -> list[str]:
    return [f"{name}={value}" for name, value in zip(pairs[::2], pairs[1::2], strict=True)]


def test_the_command_that_is_kept_repeats_the_run(with_engine: Effio, data: Path) -> None:
    words = ("run", "b-eff-io", *SHORT, "--dir", data)
    printed = with_engine.run(*words, "--print-command")
    assert printed.returncode == 0, printed.stderr
    assert not (with_engine.cwd / "effio-runs").exists()
    by_hand = subprocess.run(
        printed.stdout.strip(),
        shell=True,
        cwd=with_engine.cwd,
        env=with_engine.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert by_hand.returncode == 0, by_hand.stderr
    assert "b_eff_io = " in by_hand.stdout


def test_two_runs_in_one_second_do_not_meet(with_engine: Effio, data: Path) -> None:
    # As if another run had been started in each of the next seconds.
    root = with_engine.cwd / "effio-runs"
    now = time.time()
    taken = [
        root / time.strftime("%Y%m%dT%H%M%SZ-b-eff-io", time.gmtime(now + i)) for i in range(20)
    ]
    for folder in taken:
        folder.mkdir(parents=True)
        (folder / "result.jsonl").write_text("precious")
    done = with_engine.run("run", "b-eff-io", *SHORT, "--dir", data, "--no-report", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("-b-eff-io-2")
    assert all((folder / "result.jsonl").read_text() == "precious" for folder in taken)


def test_what_was_chosen_is_said(with_engine: Effio, data: Path) -> None:
    words = [w for w in SHORT if w not in ("-n",)][:-1]
    done = with_engine.run(
        "run", "b-eff-io", *words, "--dir", data, "--backend", "sim", "--no-report"
    )
    assert "--ranks to change" in done.stderr
    if os.geteuid() == 0 and "openmpi" in with_engine.environment["EFFIO_MPIEXEC"]:
        assert "OMPI_ALLOW_RUN_AS_ROOT" in done.stderr


def test_more_ranks_than_cores_are_allowed_and_said(
    engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if "openmpi-ompio" not in engines:
        pytest.skip("no Open MPI engine is built here")
    ranks = 2 * len(os.sched_getaffinity(0))
    done = _with(effio, engines["openmpi-ompio"]).run(
        "run", "b-eff-io", "--time", "0s", "--memory-per-rank", "256MiB", "--partitions", ranks,
        "-n", ranks, "--dir", data, "--no-report",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "--oversubscribe" in done.stderr
    assert load(_folder(effio) / "result.jsonl").run["system"]["ranks"] == ranks


# Stopping ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("flavour", ["openmpi-ompio", "mpich"])
def test_ctrl_c_stops_cleanly_and_keeps_what_was_measured(
    flavour: str, engines: dict[str, Engine], effio: Effio, data: Path, alive: Alive
) -> None:
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    process = alive(_with(effio, engines[flavour]).start("run", "b-eff-io", *LONG, "--dir", data))
    folder = _measuring(effio, process)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 4, stderr
    assert "what was measured is kept" in stderr
    assert "Traceback" not in stderr
    result = load(folder / "result.jsonl")
    assert result.status == "interrupted"
    assert len(result.measurements) >= 1
    assert list(data.iterdir()) == []
    assert _engines_in(folder) == []
    shown = effio.run("show", "last")
    assert "interrupted" in shown.stdout
    assert effio.run("report", "last").returncode == 0


def test_a_second_ctrl_c_ends_at_once(with_engine: Effio, data: Path, alive: Alive) -> None:
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data, "--no-report"))
    folder = _measuring(with_engine, process)
    ranks = _engines_in(folder)
    assert len(ranks) == 2
    # The engine cannot hear the first one.
    for rank in ranks:
        os.kill(rank, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    time.sleep(0.6)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 4, stderr
    assert "ending at once" in stderr
    _wait_for("the ranks' end", lambda: not _engines_in(folder))
    assert _record(with_engine)["outcome"]["status"] == "interrupted"  # type: ignore[index]


def test_a_hung_engine_is_noticed_and_ended(with_engine: Effio, data: Path, alive: Alive) -> None:
    process = alive(
        with_engine.start(
            "run", "b-eff-io", *LONG, "--dir", data, "--patience", "5", "--watchdog", "0s"
        )
    )
    folder = _measuring(with_engine, process)
    for rank in _engines_in(folder):
        os.kill(rank, signal.SIGSTOP)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 5, stderr
    assert "no word from the engine for 5 s" in stderr
    _wait_for("the ranks' end", lambda: not _engines_in(folder))
    assert _record(with_engine)["outcome"]["status"] == "hung"  # type: ignore[index]
    assert "hung" in with_engine.run("runs").stdout


def test_a_rank_that_dies_ends_the_run(with_engine: Effio, data: Path, alive: Alive) -> None:
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data))
    folder = _measuring(with_engine, process)
    os.kill(_engines_in(folder)[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 6, stderr
    assert "died in the middle of the run" in stderr
    assert _engines_in(folder) == []
    runs = with_engine.run("runs", "--json")
    assert json.loads(runs.stdout)["state"] == "failed"
    # What was measured before can be shown all the same.
    assert with_engine.run("show", "last").returncode == 0


def test_a_killed_run_is_not_running_and_can_be_cleaned_up(
    with_engine: Effio, data: Path, alive: Alive
) -> None:
    process = alive(with_engine.start("run", "b-eff-io", *LONG, "--dir", data))
    folder = _measuring(with_engine, process)
    assert json.loads(with_engine.run("runs", "--json").stdout)["state"] == "running"
    process.kill()
    process.wait()
    for rank in _engines_in(folder):
        os.kill(rank, signal.SIGKILL)
    _wait_for("the ranks' end", lambda: not _engines_in(folder))
    assert json.loads(with_engine.run("runs", "--json").stdout)["state"] == "failed"
    assert list(data.iterdir())
    mine = data / "mine"
    mine.write_text("x")
    assert with_engine.run("clean").returncode == 0
    assert list(data.iterdir()) == [mine]


# What cannot start -------------------------------------------------------------------------------


def test_a_launcher_of_another_mpi_is_refused_before_anything_starts(
    engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if not {"openmpi-ompio", "mpich"} <= engines.keys():
        pytest.skip("needs engines of both Open MPI and MPICH")
    wrong = engines["openmpi-ompio"].mpiexec
    done = _with(effio, engines["mpich"]).run(
        "run", "b-eff-io", *SHORT, "--dir", data, "--launcher", wrong
    )
    assert done.returncode == 6
    assert "each of its ranks would believe to be alone" in done.stderr
    assert not (effio.cwd / "effio-runs").exists()


def test_a_launcher_that_fails_is_said_and_offers_no_result(with_engine: Effio, data: Path) -> None:
    real = with_engine.environment["EFFIO_MPIEXEC"]
    false_one = with_engine.cwd / "mpiexec"
    false_one.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec {real} --version\n'
        'echo "not allowed on this node" >&2\nexit 1\n'
    )
    false_one.chmod(0o755)
    done = with_engine.run(
        "run", "b-eff-io", *SHORT, "--dir", data, "--launcher", false_one,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 6
    assert "not allowed on this node" in done.stderr
    assert "the launcher ended before the engine started (exit code 1)" in done.stderr
    failed = json.loads(with_engine.run("runs", "--json").stdout.splitlines()[0])
    assert failed["state"] == "failed"
    shown = with_engine.run("show", failed["run"])
    assert shown.returncode == 2
    assert "has no result: it is failed" in shown.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("b-eff-io", "--time", "soon"), 2, "--time: 'soon' is not a"),
        (("b-eff-io", "--no-such-option"), 2, "No such option"),
        (("b-eff-io", "-n", "0"), 2, "0 is not in the range"),
        (("b-eff-io", "-n", "2", "--partitions", "3"), 2, "3"),
        (("b-eff-io", "--label", "../x"), 2, "--label"),
        (("b-eff-io", "--nodes", "2"), 2, "--ranks-per-node"),
        (("b-eff-io", "-n", "9", "--nodes", "2", "--ranks-per-node", "4"), 2, "does not fit"),
        (("b-eff-io", "--engine", "nothing"), 6, "no engine 'nothing'"),
        (("b-eff-io", "--batch", "cron"), 2, "cron"),
        (("no-such-benchmark",), 2, "no benchmark 'no-such-benchmark'"),
    ],
)
def test_a_wrong_command_is_refused_in_words(
    words: tuple[str, ...], code: int, message: str, with_engine: Effio
) -> None:
    done = with_engine.call("run", *words)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


def test_a_launched_effio_refuses(with_engine: Effio) -> None:
    done = with_engine.run("run", "b-eff-io", env={"OMPI_COMM_WORLD_SIZE": "4"})
    assert done.returncode == 6
    assert "start effio once" in done.stderr


def test_a_place_that_cannot_be_written_is_said(with_engine: Effio, data: Path) -> None:
    done = with_engine.run("--runs", "/proc/runs", "run", "b-eff-io", *SHORT, "--dir", data)
    assert done.returncode == 3
    assert "cannot create a folder for the run in /proc/runs" in done.stderr


def test_an_error_of_the_engine_comes_through(with_engine: Effio, data: Path) -> None:
    """A file of our name that is not ours: refused by the engine, in its words and its code."""
    first = with_engine.run("run", "b-eff-io", *SHORT, "--dir", data, "--keep", "--no-report")
    assert first.returncode == 0, first.stderr
    kept = sorted(data.iterdir())
    assert kept
    again = with_engine.run("run", "b-eff-io", *SHORT, "--dir", data, "--no-report")
    assert again.returncode in (2, 3)
    assert "--overwrite" in again.stderr
    assert sorted(data.iterdir()) == kept


def test_the_plan_starts_nothing(with_engine: Effio) -> None:
    done = with_engine.run("run", "b-eff-io", "-n", "64", "--plan", "--time", "30min")
    assert done.returncode == 0
    assert done.stdout.startswith("Plan of b_eff_io with 64 ranks")
    assert not (with_engine.cwd / "effio-runs").exists()
