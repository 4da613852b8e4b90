# SPDX-License-Identifier: BSD-3-Clause
"""What `effio run` refuses before anything starts, and in which words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.conftest import Effio
from driver.runs import (
    SHORT,
    with_flavour,
)
from effio.launch import refusal
from engines import Engine


def test_a_launcher_of_another_mpi_is_refused_before_anything_starts(
    engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if not {"openmpi-ompio", "mpich"} <= engines.keys():
        pytest.skip("needs engines of both Open MPI and MPICH")
    wrong = engines["openmpi-ompio"].mpiexec
    done = with_flavour(effio, engines["mpich"]).call(
        "run", "b-eff-io", *SHORT, "--dir", data, "--launcher", wrong
    )
    assert done.returncode == 6
    assert "each rank would run alone, as rank 0 of 1" in done.stderr
    assert not (effio.cwd / "effio-runs").exists()


def _failing_launcher(with_engine: Effio, words: str) -> Path:
    """One that knows its version, and starts nothing."""
    real = with_engine.environment["EFFIO_MPIEXEC"]
    false_one = with_engine.cwd / "mpiexec"
    false_one.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec {real} --version\n'
        f"cat >&2 <<'END'\n{words}\nEND\nexit 1\n"
    )
    false_one.chmod(0o755)
    return false_one


def test_a_launcher_that_fails_is_said_and_offers_no_result(with_engine: Effio, data: Path) -> None:
    false_one = _failing_launcher(with_engine, "not allowed on this node")
    done = with_engine.call(
        "run", "b-eff-io", *SHORT, "--dir", data, "--launcher", false_one,
        env={"PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert done.returncode == 6
    assert "not allowed on this node" in done.stderr
    reason = "the launcher ended before the engine started (exit code 1): not allowed on this node"
    assert reason in done.stderr
    failed = json.loads(with_engine.call("runs", "--json").stdout.splitlines()[0])
    assert failed["state"] == "failed"
    assert failed["interval"] == reason
    shown = with_engine.call("show", failed["run"])
    assert shown.returncode == 2
    assert "has no result: it is failed" in shown.stderr


# Without a directory for temporary files.
_OF_OPEN_MPI = """\
--------------------------------------------------------------------------
A call to mkdir was unable to create the desired directory:

  Directory: /there/ompi.node.0
  Error:     Operation not permitted

Please check to ensure you have adequate permissions to perform
the desired operation.
--------------------------------------------------------------------------
[node:25323] [[3605,0],0] ORTE_ERROR_LOG: Error in file session_dir.c at line 107"""


def test_a_place_for_temporary_files_that_takes_none_is_named(
    with_engine: Effio, data: Path
) -> None:
    """Open MPI starts nothing then, and its last lines do not say why."""
    launcher = _failing_launcher(with_engine, _OF_OPEN_MPI)
    file = with_engine.cwd / "file"
    file.write_text("")
    for environment, fault in (
        ({"TMPDIR": str(file)}, f" (TMPDIR): {file}: Not a directory"),
        ({"TMPDIR": "", "TEMP": str(file / "x")}, f" (TEMP): {file}/x: Not a directory"),
    ):
        expected = f"no temporary files can be written{fault}"
        done = with_engine.call(
            "run", "b-eff-io", *SHORT, "--dir", data, "--launcher", launcher, env=environment
        )
        assert done.returncode == 6
        assert expected in done.stderr
        assert "export TMPDIR=DIR" in done.stderr
        checks = json.loads(
            with_engine.call(
                "doctor", "--json", env={**environment, "EFFIO_MPIEXEC": str(launcher)}
            ).stdout
        )
        (trial,) = (check for check in checks if check["what"] == "trial launch")
        assert trial["found"] == f"{launcher} failed with 1: {expected}"
        assert trial["advice"] == "name another directory: export TMPDIR=DIR"
    done = with_engine.call("run", "b-eff-io", *SHORT, "--dir", data, "--launcher", launcher)
    assert "temporary files" not in done.stderr
    assert (
        "(exit code 1): A call to mkdir was unable to create the desired directory:"
        " Directory: /there/ompi.node.0 Error: Operation not permitted"
    ) in done.stderr


@pytest.mark.parametrize(
    ("words", "wants", "first"),
    [
        (["mpiexec is not allowed on this node"], True, "mpiexec is not allowed on this node"),
        (["ERROR: use srun inside a job"], True, "ERROR: use srun inside a job"),
        (["", "-----", "Login nodes start no MPI."], True, "Login nodes start no MPI."),
        # Open MPI's words without a network interface: a job script does not help.
        (
            [
                "[vm:1] opal_ifinit: unable to find network interfaces.",
                "------",
                "The PMIx server's listener thread failed to start. We cannot",
            ],
            False,
            "[vm:1] opal_ifinit: unable to find network interfaces.",
        ),
        # Of the system's names of errors, one speaks of what is permitted.
        (_OF_OPEN_MPI.splitlines(), False, "A call to mkdir was unable to create the desired"),
        (["mpiexec: error while loading shared libraries"], False, "mpiexec: error while loading "),
        ([], False, ""),
    ],
)
def test_a_job_script_is_offered_only_where_the_launcher_speaks_of_jobs(
    words: list[str], wants: bool, first: str
) -> None:
    assert refusal.wants_a_job(words) is wants
    assert refusal.first_of(words).startswith(first)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("b-eff-io", "--time", "soon"), 2, "--time: 'soon' is not a"),
        (("b-eff-io", "--unknown"), 2, "b-eff-io has no option '--unknown'\n"),
        (("b-eff", "--dir", "/tmp"), 2, "b-eff has no option '--dir'\n"),
        (
            ("saturation", "--scale", "0.1"),
            2,
            "effio run saturation has no option '--scale'; the campaign @saturation has it\n",
        ),
        (
            ("@saturation", "--placing", "packed"),
            2,
            "the campaign saturation has no option '--placing'; the benchmark saturation has it\n",
        ),
        (("ior", "--trasnfer", "1MiB"), 2, "no option '--trasnfer'; did you mean --transfer?"),
        (("overlap", "--ways", "thread"), 2, "no option '--ways'; did you mean --methods?"),
        (("ior", "-r", "5"), 2, "effio run ior has no option '-r'"),
        (("b-eff-io", "-n", "0"), 2, "'0' is not a whole number from 1 on"),
        (("b-eff-io", "-n", "2", "--partitions", "3"), 2, "3"),
        (("b-eff-io", "--label", "../x"), 2, "--label"),
        (("b-eff-io", "--nodes", "2"), 2, "--ranks-per-node"),
        (("b-eff-io", "-n", "9", "--nodes", "2", "--ranks-per-node", "4"), 2, "does not fit"),
        (
            ("ior", "--backend", "sim", "-n", "3", "--ranks-per-node", "2"),
            2,
            "effio: --ranks 3 --ranks-per-node 2 needs 2 nodes, and this machine is one\n",
        ),
        (
            ("ior", "--backend", "sim", "--nodes", "2", "--ranks-per-node", "1"),
            2,
            "effio: --ranks 2 --nodes 2 --ranks-per-node 1 needs 2 nodes, and this machine is one",
        ),
        (("b-eff-io", "--engine", "nothing"), 6, "no engine 'nothing'"),
        (("b-eff-io", "--batch", "cron"), 2, "cron"),
        (("together", "-g", "1: ior"), 2, "effio run starts one benchmark"),
        (("no-such-benchmark",), 2, "no benchmark or campaign 'no-such-benchmark'"),
    ],
)
def test_a_wrong_command_is_refused_in_words(
    words: tuple[str, ...], code: int, message: str, with_engine: Effio
) -> None:
    done = with_engine.call("run", *words)
    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


def test_a_launched_effio_refuses(with_engine: Effio) -> None:
    done = with_engine.call("run", "b-eff-io", env={"OMPI_COMM_WORLD_SIZE": "4"})
    assert done.returncode == 6
    assert "start effio once" in done.stderr


def test_a_place_that_cannot_be_written_is_said(with_engine: Effio, data: Path) -> None:
    done = with_engine.call("--runs", "/proc/runs", "run", "b-eff-io", *SHORT, "--dir", data)
    assert done.returncode == 7
    assert "results cannot be kept in /proc/runs" in done.stderr


def test_an_error_of_the_engine_comes_through(with_engine: Effio, data: Path) -> None:
    """A file of our name that is not ours: refused by the engine, in its words and its code."""
    first = with_engine.call("run", "b-eff-io", *SHORT, "--dir", data, "--keep", "--no-report")
    assert first.returncode == 0, first.stderr
    kept = sorted(data.iterdir())
    assert kept
    again = with_engine.call("run", "b-eff-io", *SHORT, "--dir", data, "--no-report")
    assert again.returncode in (2, 3)
    assert again.stderr.count("--overwrite") == 1
    assert len(list((with_engine.cwd / "effio-runs").iterdir())) == 1
    assert sorted(data.iterdir()) == kept


def test_what_is_refused_before_it_runs_leaves_nothing(with_engine: Effio, data: Path) -> None:
    """One message; no folder, no report, and `last` does not refer to it."""
    words = ("--ranks", 1, "--dir", data, "--block", "2MiB", "--max-bytes", "1MiB")
    done = with_engine.call("run", "ior", *words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("the files need 2 MiB") == 1
    assert done.stdout == ""
    assert not (with_engine.cwd / "effio-runs").exists()
    assert with_engine.call("show", "last").returncode == 2


def test_the_plan_starts_nothing(with_engine: Effio) -> None:
    done = with_engine.call("run", "b-eff-io", "-n", "64", "--plan", "--time", "30min")
    assert done.returncode == 0
    assert done.stdout.startswith("Plan of b_eff_io with 64 ranks")
    assert not (with_engine.cwd / "effio-runs").exists()


@pytest.mark.parametrize(
    ("word", "meant"), [("iro", "ior"), ("b_eff_io", "b-eff-io"), ("qiuck", "quick")]
)
def test_a_slip_of_the_finger_gets_a_suggestion(with_engine: Effio, word: str, meant: str) -> None:
    done = with_engine.call("run", word)
    assert done.returncode == 2
    assert f"no benchmark or campaign '{word}'; did you mean {meant}?" in done.stderr
    # The message is not a list of all in one line of 260 characters.
    assert max(map(len, done.stderr.splitlines())) <= 100


def test_a_letter_has_one_meaning(with_engine: Effio, data: Path) -> None:
    """-n is ranks; where the engine's benchmark has another -n, both are named instead."""
    done = with_engine.call("run", "mdtest", "-n", "16", "--dir", data, "--print-command")
    assert done.returncode == 2
    assert "-n could mean --ranks or, as in effio-mpi mdtest, --items" in done.stderr
    done = with_engine.call("run", "flash-io", "-n", "16", "--print-command")
    assert "--cells" in done.stderr
    done = with_engine.call("run", "ior", "-n", "3", "--dir", data, "--print-command")
    assert done.returncode == 0, done.stderr
    assert " -n 3 " in done.stdout
    assert "-n, --ranks" not in with_engine.call("run", "mdtest", "--help").stdout


def test_direct_is_refused_for_b_eff_io_before_it_starts(with_engine: Effio, data: Path) -> None:
    words = ("run", "b-eff-io", *SHORT, "--dir", data, "--backend", "direct")
    done = with_engine.call(*words)
    assert done.returncode == 2
    assert "--drop-cache" in done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()
    assert (
        with_engine.call(
            *words, "--backend-options", "unaligned=buffered", "--print-command"
        ).returncode
        == 0
    )
