# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark on three or four nodes of Slurm, with one rank on each. Two nodes hide what only
a third one shows: with two, the rank that a rank asks is also the one that asks it. MPICH's wheel
has a newer MPICH than Debian: one that hangs in receives from any source between nodes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from effio.store.reader import Result, read_result
from engines import Engine, version_of_wheel, with_wheel
from patience import SECONDS
from scale.counted import RUNS
from slurm_cluster import SlurmCluster

# Several tests may share the cores.

# ior reads what another node wrote; it is run on either number.
ON_THREE = [name for i, name in enumerate(RUNS) if i % 2 == 0 and name != "interference"]
FILES = ("--files", "per-process", "--read-from", "shifted")
ON_FOUR = [name for name in RUNS if name not in ON_THREE]


def commands(nodes: int) -> list[list[str]]:
    names = {*(ON_THREE if nodes == 3 else ON_FOUR), "ior"}
    return [[n, *shlex.split(RUNS[n].format(P=nodes, half=nodes // 2))] for n in sorted(names)]


@pytest.fixture(params=["openmpi-ompio", "mpich", "mpich-wheel"])
def engine(request: pytest.FixtureRequest, engines: dict[str, Engine]) -> Engine:
    flavour: str = request.param
    built = flavour.removesuffix("-wheel")
    if built not in engines:
        pytest.skip(f"no engine of flavour {built} is built here")
    return engines[built] if built == flavour else with_wheel(engines[built])


def run(
    slurm: SlurmCluster, engine: Engine, nodes: int, each: int, lines: list[list[str]], cwd: Path
) -> list[Result]:
    """Runs all lines in one job, with `each` ranks on each of `nodes` nodes."""
    size = [f"-N{nodes}", f"-n{nodes * each}", f"--ntasks-per-node={each}"]
    launch = ["srun", "--mpi=pmi2", *size]
    if engine.is_openmpi:
        launch = [engine.mpiexec, *engine.flags]
    elif engine.name == "mpich-wheel":
        # Slurm 22.05 once rejected the PMI requests of MPICH 5 ("value not properly terminated in
        # client request"), and MPI_Init hung. MPICH's own launcher does not use Slurm's PMI.
        launch = [engine.mpiexec, "-n", str(nodes * each), "-ppn", str(each)]
    script = [
        shlex.join([*launch, str(engine.program), *words, "--quiet", "--watchdog", "30s"])
        + f" || echo FAILED {words[0]}"
        for words in lines
    ]
    (cwd / "all.sh").write_text("\n".join(script))
    done = slurm.run(["salloc", *size, "sh", "all.sh"], cwd, env=engine.settings(), timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout, done.stdout + done.stderr
    results = [read_result(path) for path in cwd.glob("effio-*.jsonl")]
    assert {r.status for r in results} == {"done"}
    assert len(results) >= len(lines)
    if engine.name == "mpich-wheel":
        assert {r.run.system.mpi.version for r in results} == {version_of_wheel()}
    return results


@pytest.mark.parametrize("nodes", [3, 4])
def test_every_benchmark_ends_on_more_than_two_nodes(
    slurm: SlurmCluster, engine: Engine, nodes: int, tmp_path: Path
) -> None:
    results = run(slurm, engine, nodes, 1, commands(nodes), tmp_path)
    assert {r.benchmark.replace("_", "-") for r in results} >= {
        words[0] for words in commands(nodes)
    }


def test_ior_reads_what_other_nodes_wrote_with_two_ranks_on_each(
    slurm: SlurmCluster, engine: Engine, tmp_path: Path
) -> None:
    words = [*shlex.split("ior --block 64KiB --transfer 16KiB --verify inside"), *FILES]
    (result,) = run(slurm, engine, 3, 2, [words], tmp_path)
    reads = [m for m in result.measurements if m.access == "read"]
    assert [(m.ranks, m.nodes, m.valid) for m in reads] == [(6, 3, True)]
    assert reads[0].detail["ranks_on_own_node"] == 0
