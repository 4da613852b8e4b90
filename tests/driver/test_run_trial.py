# SPDX-License-Identifier: BSD-3-Clause
"""`effio run ior` with calls that are tried before: once, and again when anything has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver.conftest import Effio
from driver.runs import with_flavour
from effio.launch import trial
from engines import Engine
from results import load

QUEUED = (
    "run", "ior", "-n", "2", "--backend", "mpiio", "--collective", "--queue-depth", "4",
    "--block", "64KiB", "--transfer", "4KiB",
)  # fmt: skip


def _folders(effio: Effio) -> list[Path]:
    return sorted((effio.cwd / "effio-runs").iterdir())


def test_a_trial_comes_first_and_is_kept(
    engines: dict[str, Engine], effio: Effio, data: Path
) -> None:
    if "openmpi-ompio" not in engines:
        pytest.skip("no Open MPI engine is built here")
    there = with_flavour(effio, engines["openmpi-ompio"])
    words = [*QUEUED, "--dir", data, "--no-report"]
    chosen = {"OMPI_MCA_io": "ompio"}
    done = there.run(*words, env=chosen)
    assert done.returncode == 0, done.stderr
    assert "trying whether the MPI library can do this" in done.stderr
    run, trial = sorted(_folders(effio), key=lambda folder: folder.name.endswith("-trial"))
    assert trial.name.endswith("-ior-trial")
    assert "--trial" in json.loads((trial / "run.json").read_text())["arguments"]
    end = load(trial / "result.jsonl").end
    assert end is not None
    word = end["detail"]["tried"]
    assert ":ompio:" in word
    assert f"--tried={word}" in json.loads((run / "run.json").read_text())["arguments"]
    assert load(run / "result.jsonl").status == "done"
    # The same again needs no trial.
    done = there.run(*words, env=chosen)
    assert done.returncode == 0, done.stderr
    assert f"the MPI library can do this: tried by {trial.name}" in done.stderr
    assert len(_folders(effio)) == 3
    # Another implementation of MPI-IO does, and this one crashes.
    done = there.run(*words, env={"OMPI_MCA_io": "romio321"})
    assert done.returncode == 6, done.stderr
    assert "nonblocking collective calls do not work with this MPI library: " in done.stderr
    assert len(_folders(effio)) == 4
    assert list(data.iterdir()) == []


def test_a_script_makes_no_trial(with_engine: Effio, data: Path) -> None:
    done = with_engine.call(*QUEUED, "--dir", data, "--batch", "slurm")
    assert done.returncode == 2
    assert "a script makes no trial of nonblocking collective calls" in done.stderr
    reported = with_engine.call(*QUEUED, "--dir", data, "--print-command")
    assert reported.returncode == 0, reported.stderr
    assert " --trial " in reported.stdout
    assert "the same with --tried WORD for --trial" in reported.stderr
    # What is wrong with it all the same is said before any trial.
    wrong = with_engine.call(*QUEUED, "--dir", data, "--rate-limit", "1MB/s")
    assert wrong.returncode == 2
    assert "--rate-limit: collective calls that are queued" in wrong.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


@pytest.mark.parametrize(
    ("words", "given"),
    [
        ((), {}),
        (("--collective",), {"--collective": ""}),
        (("--queue-depth", "4", "--collective"), {"--queue-depth": "4", "--collective": ""}),
        (("--queue-depth=4",), {"--queue-depth": "4"}),
    ],
)
def test_options_of_a_command_line(words: tuple[str, ...], given: dict[str, str]) -> None:
    assert trial._given(words) == given


@pytest.mark.parametrize("benchmark", ["ior", "rings"])
def test_a_benchmark_needs_no_option(benchmark: str, with_engine: Effio) -> None:
    done = with_engine.call("run", benchmark, "--ranks", "2", "--print-command")
    assert done.returncode == 0, done.stderr
