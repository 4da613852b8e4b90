# SPDX-License-Identifier: BSD-3-Clause
"""A directory that is not there: said before anything is launched, where it is sure."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from driver.conftest import FIRST, SECOND, Effio
from effio.engine.program import Engine as Program
from effio.launch.job import Request
from effio.launch.launchers import Ranks
from effio.launch.machine import Allocation, Machine
from effio.launch.places import not_here, ranks_stay_here
from engines import Engine


def _request(
    nodes: int | None = None,
    allocation: Allocation | None = None,
    launcher: str | None = None,
    options: tuple[str, ...] = (),
) -> Request:
    return Request(
        engine=Program(Path("effio-mpi"), "a test"),
        benchmark="ior",
        arguments=(),
        ranks=Ranks(2, nodes),
        machine=Machine(2, is_root=False, allocation=allocation),
        launcher=launcher,
        launcher_options=options,
    )


@pytest.mark.parametrize(
    ("request_", "environment", "here"),
    [
        (_request(), {}, True),
        (_request(nodes=1), {}, True),
        (_request(launcher="openmpi"), {}, True),
        (_request(launcher="/opt/mpi/bin/mpiexec.hydra"), {}, True),
        (_request(), {"HYDRA_HOST_FILE": ""}, True),
        (_request(nodes=2), {}, False),
        # salloc may leave the shell on the login node, so one node proves nothing.
        (_request(allocation=Allocation("slurm", "7", 1, 2)), {}, False),
        (_request(launcher="srun"), {}, False),
        (_request(launcher="/usr/bin/flux"), {}, False),
        (_request(options=("--host", "n2")), {}, False),
        (_request(), {"HYDRA_HOST_FILE": "/etc/hosts.mpi"}, False),
        (_request(), {"OMPI_MCA_orte_default_hostfile": "hosts"}, False),
    ],
)
def test_where_the_ranks_are_sure_to_be(
    request_: Request, environment: dict[str, str], here: bool
) -> None:
    assert ranks_stay_here(request_, environment) is here


def test_what_is_wrong_with_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "good").mkdir()
    names = [str(tmp_path / n) for n in ("good", "gone", "file", "file/below")]
    assert not_here({"needed_directories": names}) == [
        f"there is no directory {tmp_path}/gone",
        f"{tmp_path}/file is not a directory",
        f"the directory {tmp_path}/file/below cannot be used: Not a directory",
    ]


@pytest.mark.parametrize(
    "plan",
    [None, [], {}, {"needed_directories": None}, {"needed_directories": "/gone"},
     {"needed_directories": [7, "/not\ufffdutf8"]}],
)  # fmt: skip
def test_a_plan_that_names_none_is_not_a_fault(plan: object) -> None:
    assert not_here(plan) == []


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["b-eff-io", "--dir", "/a"], ["/a"]),
        (["b-eff-io", "--dir", "/a", "--backend", "sim"], []),
        (["ior", "--dir", "/a", "--backend", "null"], []),
        (["ior", "--dir", "/a", "--files", "per-process", "--more-dirs", "/b,/c"],
         ["/a", "/b", "/c"]),
        (["mdtest", "--items", "4", "--dir", "/a", "--unique", "--also-dir", "/b"], ["/a", "/b"]),
        (["mdtest", "--items", "4", "--dir", "/a", "--make-dir"], []),
        (["flash-io", "--backend", "posix", "--dir", "/a"], ["/a"]),
        (["libraries", "--libraries", "posix", "--dir", "/a"], ["/a"]),
        (["libraries", "--libraries", "sim", "--dir", "/a"], []),
        (["b-eff"], []),
    ],
)  # fmt: skip
def test_the_plan_says_which_directories_have_to_be_there(
    any_engine: Engine, tmp_path: Path, words: list[str], needed: list[str]
) -> None:
    run = any_engine.alone([*words, "--plan-json", "--plan-ranks", "2"], tmp_path)
    assert run.code == 0, run
    assert json.loads(run.stdout)["needed_directories"] == needed


def test_a_typing_error_starts_no_million_processes(with_engine: Effio, data: Path) -> None:
    words = [
        "run",
        "ior",
        "-n",
        100_000_000,
        "--block",
        "1MiB",
        "--max-bytes",
        "1PiB",
        "--dir",
        data,
    ]
    done = with_engine.call(*words, "--backend", "null")
    assert done.returncode == 2
    assert "100000000 ranks on this machine: they need more than 381.5 TiB of memory" in done.stderr
    assert not list((with_engine.cwd / "effio-runs").glob("*-ior"))


def test_a_wrong_path_costs_no_launch(with_engine: Effio) -> None:
    done = with_engine.call("run", "ior", "-n", 2, "--dir", "gone/here")
    assert done.returncode == 3
    assert "effio: there is no directory gone/here" in done.stderr
    assert "--dir" in done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


def test_a_model_needs_no_directory(with_engine: Effio) -> None:
    words = ("ior", "-n", 1, "--block", "1MiB", "--transfer", "1MiB", "--no-report")
    done = with_engine.call("run", *words, "--backend", "sim", "--dir", "/gone")
    assert done.returncode == 0, done.stderr
    assert "/gone" not in done.stderr


def test_within_a_job_the_ranks_themselves_look(with_engine: Effio) -> None:
    """They may be on nodes that have what this one has not."""
    done = with_engine.call(
        "run", "ior", "-n", 1, "--dir", "/gone", "--no-report", env={"PBS_JOBID": "7"}
    )
    assert done.returncode == 3
    assert "there is no directory /gone on this machine" in done.stderr
    assert "cannot use the directory /gone: No such file or directory" in done.stderr
    # It is refused before it runs and leaves nothing.
    assert not list(with_engine.cwd.glob("effio-runs/*/run.json"))


@pytest.mark.parametrize("way", [("--print-command",), ("--batch", "slurm"), ("--batch", "pbs")])
def test_what_starts_nothing_here_only_says_it(with_engine: Effio, way: tuple[str, ...]) -> None:
    done = with_engine.call("run", "ior", "-n", 2, "--dir", "/gone", *way)
    assert done.returncode == 0, done.stderr
    assert "there is no directory /gone on this machine" in done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize(
    "words",
    [
        ("export", ""),
        ("table", ""),
        ("compare", "", FIRST),
        ("archive", "", "-o", "a.tar.gz"),
        ("archive", FIRST, "-o", ""),
        ("bundle", "", "-o", "b"),
        ("show", ""),
        ("report", ""),
        ("note", "", "text"),
        ("clean", ""),
        ("man", ""),
        ("init", ""),
        ("import", ""),
        ("restore", ""),
        ("verify-bundle", ""),
        ("--runs", "", "runs"),
    ],
)
def test_an_empty_name_is_not_this_directory(kept: Effio, words: tuple[str, ...]) -> None:
    """As of a variable of a shell that is not set: all runs below the directory were taken."""
    shutil.rmtree(kept.cwd / "effio-runs" / SECOND)  # a part of a name that is not ambiguous
    before = sorted(kept.cwd.rglob("*"))
    done = kept.call(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "a name is empty" in done.stderr
    assert sorted(kept.cwd.rglob("*")) == before
