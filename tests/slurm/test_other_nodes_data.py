# SPDX-License-Identifier: BSD-3-Clause
"""Runs on two real nodes of Slurm in which each provably works on what the other one made: what is
wrong with a file of the first node is noticed on the second."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines import Engine
from results import Result, load
from slurm_cluster import SlurmCluster

# MPICH polls while it waits, and several tests may share the cores.


@pytest.fixture(params=["openmpi-ompio", "mpich"])
def engine(request: pytest.FixtureRequest, engines: dict[str, Engine]) -> Engine:
    if request.param not in engines:
        pytest.skip(f"no engine of flavour {request.param} is built here")
    return engines[request.param]


def on_two_nodes(
    slurm: SlurmCluster, engine: Engine, cwd: Path, line: str, code: int = 0
) -> Result:
    """One rank on each."""
    size = ["-N2", "-n2", "--ntasks-per-node=1"]
    if engine.is_openmpi:
        launch = ["salloc", *size, engine.mpiexec, *engine.flags]
    else:
        launch = ["srun", "--mpi=pmi2", *size]
    before = set(cwd.glob("*.jsonl"))
    done = slurm.run([*launch, engine.program, *line.split()], cwd, env=engine.settings())
    assert done.returncode == code, done.stdout + done.stderr
    (path,) = set(cwd.glob("*.jsonl")) - before
    result = load(path)
    assert len(set(nodes(result))) == 2
    return result


def nodes(result: Result) -> list[str]:
    """The nodes in the order of the ranks, one on each."""
    names = result.run["system"]["node_names"]
    assert isinstance(names, list)
    return names


def test_ior_reads_what_the_other_node_wrote(
    slurm: SlurmCluster, engine: Engine, tmp_path: Path
) -> None:
    common = "classic ior -F -o f -b 64k -t 4k -G 5 -k"
    on_two_nodes(slurm, engine, tmp_path, f"{common} -w")
    (tmp_path / "f.00000000").write_bytes(bytes(65536))
    result = on_two_nodes(slurm, engine, tmp_path, f"{common} -r -R", code=1)
    (own,) = result.measurements
    # Jobs may have other nodes than the one before.
    assert (own["errors"][0]["rank"], own["errors"][0]["host"]) == (0, nodes(result)[0])
    assert own["detail"]["ranks_on_own_node"] == 2
    for shift in ("-C", "-Z", "-C -Q 1"):
        line = f"{common} -r -R {shift}"
        result = on_two_nodes(slurm, engine, tmp_path, line, code=1)
        (read,) = result.measurements
        assert (read["errors"][0]["rank"], read["errors"][0]["host"]) == (1, nodes(result)[1])
        assert read["errors"][0]["path"].endswith("f.00000000")
        assert read["error_count"] == 16
        assert read["detail"]["ranks_on_own_node"] == 0
        assert "cache" not in read["detail"]["remark"]


def test_mdtest_works_on_what_the_other_node_made(
    slurm: SlurmCluster, engine: Engine, tmp_path: Path
) -> None:
    common = "mdtest --quiet --things files -n 8 --dir . --count off"
    on_two_nodes(slurm, engine, tmp_path, f"{common} --phases create --keep")
    (gone,) = tmp_path.rglob("file.mdtest.0.3")
    gone.unlink()
    own = on_two_nodes(slurm, engine, tmp_path, f"{common} --phases stat", code=3)
    other = on_two_nodes(
        slurm, engine, tmp_path, f"{common} --phases stat,remove --rank-shift 1", code=3
    )
    for result, host in ((own, nodes(own)[0]), (other, nodes(other)[1])):
        stat = result.rows(access="stat")[0]
        assert stat["errors"][0]["host"] == host
        assert stat["errors"][0]["path"].endswith("file.mdtest.0.3")
        assert (stat["operations"], stat["detail"]["failed_operations"]) == (15, 1)
    # Three nodes further on is the other node again.
    remove = other.rows(access="remove", pattern="file")[0]
    assert remove["errors"][0]["host"] == nodes(other)[1]
    assert list(tmp_path.rglob("file.mdtest.*")) == []
