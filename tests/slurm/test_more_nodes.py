# SPDX-License-Identifier: BSD-3-Clause
"""Every benchmark on three or four nodes of Slurm, with one rank on each. Two nodes hide what only
a third one shows: with two, the rank that a rank asks is also the one that asks it. MPICH's wheel
has a newer MPICH than Debian: one that hangs in receives from any source between nodes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from effio.store.reader import read_result
from engines import Engine, version_of_wheel, with_wheel
from scale.counted import RUNS
from slurm_cluster import SlurmCluster

# Several tests may share the cores.
pytestmark = pytest.mark.timeout(300)

# ior reads what another node wrote; it is run on either number.
ON_THREE = [name for i, name in enumerate(RUNS) if i % 2 == 0 and name != "interference"]
ON_FOUR = [name for name in RUNS if name not in ON_THREE]


def commands(nodes: int) -> list[list[str]]:
    names = {*(ON_THREE if nodes == 3 else ON_FOUR), "ior"}
    return [[n, *shlex.split(RUNS[n].format(P=nodes, half=nodes // 2))] for n in sorted(names)]


@pytest.mark.parametrize("nodes", [3, 4])
@pytest.mark.parametrize("flavour", ["openmpi-ompio", "mpich", "mpich-wheel"])
def test_every_benchmark_ends_on_more_than_two_nodes(
    slurm: SlurmCluster, engines: dict[str, Engine], flavour: str, nodes: int, tmp_path: Path
) -> None:
    built = flavour.removesuffix("-wheel")
    if built not in engines:
        pytest.skip(f"no engine of flavour {built} is built here")
    engine = engines[built] if built == flavour else with_wheel(engines[built])
    size = [f"-N{nodes}", f"-n{nodes}", "--ntasks-per-node=1"]
    srun = ["srun", "--mpi=pmi2", *size]
    launch = [engine.mpiexec, *engine.flags] if engine.is_openmpi else srun
    lines = [
        shlex.join([*launch, str(engine.program), *words, "--quiet", "--watchdog", "30s"])
        + f" || echo FAILED {words[0]}"
        for words in commands(nodes)
    ]
    (tmp_path / "all.sh").write_text("\n".join(lines))
    job = ["salloc", *size, "sh", "all.sh"]
    done = slurm.run(job, tmp_path, env=engine.settings(), timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout, done.stdout + done.stderr
    results = [read_result(path) for path in tmp_path.glob("effio-*.jsonl")]
    assert {r.status for r in results} == {"done"}
    assert {r.benchmark.replace("_", "-") for r in results} >= {
        words[0] for words in commands(nodes)
    }
    if flavour == "mpich-wheel":
        assert {r.run.system.mpi.version for r in results} == {version_of_wheel()}
