# SPDX-License-Identifier: BSD-3-Clause
"""`effio run` under a real Slurm: inside an allocation, through sbatch, and when a node is lost."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engines import Engine
from patience import SECONDS
from results import load
from slurm_cluster import SlurmCluster

# MPICH polls while it waits, and several tests may share the cores.

EFFIO = (sys.executable, "-m", "effio")
MEMORY = ("--memory-per-rank", "256MiB")
# One call of every row on modelled storage; the ranks exchange real messages between the nodes.
SIMULATED = ("b-eff-io", "--backend", "sim", "--time", "0s", *MEMORY)


def _engine(engines: dict[str, Engine], flavour: str) -> dict[str, str]:
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    engine = engines[flavour]
    # In an allocation srun starts MPICH; a launcher that is named would be taken instead.
    named = {} if flavour == "mpich" else {"EFFIO_MPIEXEC": engine.mpiexec}
    return {
        "EFFIO_ENGINE": str(engine.program),
        **named,
        **engine.resting(),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }


@pytest.fixture
def mpich(engines: dict[str, Engine]) -> dict[str, str]:
    """What a user has set who works with the engine for MPICH."""
    return _engine(engines, "mpich")


def _only_run(directory: Path) -> Path:
    (run,) = (directory / "effio-runs").iterdir()
    return run


def _record(run: Path) -> dict[str, Any]:
    record = json.loads((run / "run.json").read_text())
    assert isinstance(record, dict)
    return record


def _nodes(run: Path) -> list[str]:
    names = load(run / "result.jsonl").run["system"]["node_names"]
    assert isinstance(names, list)
    return sorted(names)


@pytest.mark.parametrize("way", ["salloc", "sbatch"])
def test_inside_an_allocation_srun_starts_mpich_on_its_nodes(
    way: str, slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    size = ["--nodes=2", "--ntasks=2", "--ntasks-per-node=1"]
    words = [*EFFIO, "run", *SIMULATED, "--quiet"]
    if way == "sbatch":
        command = ["sbatch", "--wait", *size, "--wrap", shlex.join(words)]
    else:
        command = ["salloc", *size, *words]
    done = slurm.run(command, tmp_path, env=mpich)
    assert done.returncode == 0, done.stderr
    run = _only_run(tmp_path)
    command = _record(run)["command"]
    assert (Path(command[0]).name, command[1]) == ("srun", "--mpi=pmi2")
    # As many ranks as the allocation has tasks.
    assert command[command.index("--ntasks") + 1] == "2"
    assert len(_nodes(run)) == 2


def test_inside_an_allocation_open_mpi_starts_on_both_nodes(
    slurm: SlurmCluster, engines: dict[str, Engine], tmp_path: Path
) -> None:
    # Debian's Slurm lists its pmix plugin and starts one node with it, but not two; Open MPI's own
    # mpiexec knows the allocation.
    environment = _engine(engines, "openmpi-ompio")
    allocation = ["salloc", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1"]
    done = slurm.run([*allocation, *EFFIO, "run", *SIMULATED, "--quiet"], tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert len(_nodes(_only_run(tmp_path))) == 2


def test_doctor_in_a_job_of_two_nodes_says_whether_they_read_what_the_other_closed(
    slurm: SlurmCluster, engines: dict[str, Engine], tmp_path: Path
) -> None:
    environment = _engine(engines, "openmpi-ompio")
    place = tmp_path / "data"
    place.mkdir()
    words = ["salloc", "--nodes=2", "--ntasks=2", "--ntasks-per-node=1", *EFFIO, "doctor"]
    done = slurm.run([*words, "--dir", place, "--json"], tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    row = next(one for one in json.loads(done.stdout) if one["name"] == "close-to-open")
    # Both nodes are on this machine.
    assert row["can"] is True, row
    assert row["found"] == "a node read what another one wrote and closed"
    assert list(place.iterdir()) == []


def test_effio_started_by_srun_itself_refuses(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    done = slurm.run(["srun", "-N2", "-n2", *EFFIO, "run", *SIMULATED], tmp_path, env=mpich)
    assert done.returncode == 6
    assert "effio was started 2 times by a launcher" in done.stderr
    assert not (tmp_path / "effio-runs").exists()


def test_a_failed_launch_inside_an_allocation_offers_no_further_job(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    words = ["run", *SIMULATED, "--launcher-option=--no-such-option"]
    done = slurm.run(["salloc", "-n1", *EFFIO, *words], tmp_path, env=mpich)
    assert done.returncode == 6, done.stderr
    assert "the launcher ended before the engine started" in done.stderr
    assert not (_only_run(tmp_path) / "job.sh").exists()


def test_submit_runs_on_the_requested_nodes_and_brings_the_result(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    # Real files, all access methods, shared file pointers among them, from two nodes.
    where = ["--nodes", "2", "--ranks-per-node", "1", "--submit", "--minutes", "5"]
    done = slurm.run(
        [*EFFIO, "run", "b-eff-io", "--time", "0s", *MEMORY, *where], tmp_path, env=mpich
    )
    assert done.returncode == 0, done.stderr
    run = _only_run(tmp_path)
    record = _record(run)
    job = record["batch"]["job_id"]
    assert f"submitted as slurm job {job}" in done.stderr
    assert record["outcome"]["status"] == "done"
    result = load(run / "result.jsonl")
    assert result.run["system"]["batch"]["SLURM_JOB_ID"] == job
    assert len(_nodes(run)) == 2
    # docs/definitions/b-eff-io.md: 43 rows written, the 9 scatter rows rewritten, 43 read, for 1
    # and for 2 ranks.
    assert len(result.measurements) == 2 * (43 + 9 + 43)
    limit = slurm.run(["scontrol", "show", "job", job]).stdout
    assert "TimeLimit=00:05:00" in limit
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=run, check=False)
    assert sums.returncode == 0
    assert list(tmp_path.glob("b_eff_io*")) == []


def test_a_script_can_be_submitted_manually(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> None:
    where = ["--nodes", "2", "--ranks-per-node", "1", "--batch", "--batch-option=--comment=by-hand"]
    written = slurm.run([*EFFIO, "run", *SIMULATED, *where], tmp_path, env=mpich)
    assert written.returncode == 0, written.stderr
    script = tmp_path / written.stdout.strip()
    assert f"submit it with: sbatch {written.stdout.strip()}" in written.stderr
    # Jobs get the environment of the shell that submits; this one knows nothing of effio.
    done = slurm.run(["sbatch", "--wait", script], tmp_path)
    assert done.returncode == 0, done.stderr
    run = script.parent
    assert len(_nodes(run)) == 2
    shown = slurm.run([*EFFIO, "show", "last"], tmp_path, env=mpich)
    assert shown.returncode == 0, shown.stderr
    assert "b-eff-io" in shown.stdout


@pytest.fixture
def submitted(
    slurm: SlurmCluster, mpich: dict[str, str], tmp_path: Path
) -> Iterator[subprocess.Popen[str]]:
    """A run that has measured something on two nodes already, and has far more to do."""
    where = ["--nodes", "2", "--ranks-per-node", "1", "--submit"]
    # What its cap leaves to one partition of two ranks takes a second.
    long = ["--time", "600s", "--max-bytes", "4GiB", "--partitions", ",".join(["2"] * 20)]
    process = subprocess.Popen(
        [*EFFIO, "run", "b-eff-io", *long, *MEMORY, *where],
        cwd=tmp_path,
        env={**slurm.environment, **mpich},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def measured() -> bool:
        return any(
            b'"kind":"measurement"' in path.read_bytes()
            for path in tmp_path.glob("effio-runs/*/result.jsonl")
        )

    try:
        _wait("the first measurement", measured, process)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def _wait(what: str, true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.1)


def test_a_lost_node_ends_the_run_and_what_was_measured_is_kept(
    slurm: SlurmCluster, submitted: subprocess.Popen[str], mpich: dict[str, str], tmp_path: Path
) -> None:
    run = _only_run(tmp_path)
    job = _record(run)["batch"]["job_id"]
    kept = [
        line
        for line in (run / "result.jsonl").read_text().splitlines()
        if '"kind":"measurement"' in line
    ]
    lost = slurm.nodes_of(job)[1]
    slurm.lose(lost)
    slurm.notice_loss(lost)
    _, errors = submitted.communicate(timeout=SECONDS)
    assert submitted.returncode == 6, errors
    assert "the job ended as NODE_FAIL" in errors
    # Slurm would start the job again where it may: over the first result.
    assert slurm.run(["squeue", "--noheader"]).stdout == ""
    assert _record(run)["outcome"]["status"] == "died"
    text = (run / "result.jsonl").read_text()
    assert all(line in text for line in kept)
    # Data that could not be removed are found by their manifest.
    assert list(tmp_path.glob("b_eff_io*")) != []
    cleaned = slurm.run([*EFFIO, "clean", "--yes", "last"], tmp_path, env=mpich)
    assert cleaned.returncode == 0, cleaned.stderr
    assert list(tmp_path.glob("b_eff_io*")) == []


def test_ctrl_c_asks_the_job_to_stop_and_to_clean_up(
    slurm: SlurmCluster, submitted: subprocess.Popen[str], tmp_path: Path
) -> None:
    os.kill(submitted.pid, signal.SIGINT)
    _, errors = submitted.communicate(timeout=SECONDS)
    assert submitted.returncode == 4, errors
    assert "asking the job to stop" in errors
    result = load(_only_run(tmp_path) / "result.jsonl")
    assert result.status == "interrupted"
    assert list(tmp_path.glob("b_eff_io*")) == []
