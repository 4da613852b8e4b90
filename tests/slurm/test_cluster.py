# SPDX-License-Identifier: BSD-3-Clause
"""The cluster that the tests bring along is what it claims to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurm_cluster import SlurmCluster, free_ports


def test_nodes_have_names_and_their_own_processes(slurm: SlurmCluster) -> None:
    done = slurm.run(["srun", "-N4", "--ntasks-per-node=1", "sh", "-c", "echo $(hostname) $$"])
    assert done.returncode == 0, done.stderr
    lines = sorted(line.split() for line in done.stdout.splitlines())
    assert [name for name, _ in lines] == ["n1", "n2", "n3", "n4"]
    # In its own process namespace, numbers start at one.
    assert all(int(pid) < 1000 for _, pid in lines)


def test_nodes_have_their_own_shared_memory(slurm: SlurmCluster) -> None:
    if not Path("/dev/shm").is_mount():
        pytest.skip("/dev/shm is not a mount here: one over it would be seen outside")
    made = slurm.run(["srun", "-w", "n1", "-N1", "touch", "/dev/shm/of-n1"])
    assert made.returncode == 0, made.stderr
    seen = [slurm.run(["srun", "-w", n, "-N1", "ls", "/dev/shm"]).stdout for n in ("n1", "n2")]
    assert seen == ["of-n1\n", ""]
    assert not Path("/dev/shm/of-n1").exists()


def test_a_lost_node_takes_its_processes_along_and_comes_back(slurm: SlurmCluster) -> None:
    slurm.lose("n4")
    done = slurm.run(["srun", "-w", "n3", "-N1", "hostname"])
    assert done.stdout == "n3\n"
    slurm.bring_back("n4")
    done = slurm.run(["srun", "-w", "n4", "-N1", "hostname"])
    assert done.stdout == "n4\n"


def test_workers_that_begin_together_never_take_the_same_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every port that each of eight may get, before any of them has taken one."""
    taken: set[int] = set()
    for worker in range(8):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", f"gw{worker}")
        ports = {port for _ in range(40) for port in free_ports(100)}
        assert len(ports) > 900
        assert not ports & taken
        assert max(ports) < 30_000  # others are the system's, for whoever asks for any
        taken |= ports
