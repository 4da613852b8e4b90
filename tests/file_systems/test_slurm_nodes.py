# SPDX-License-Identifier: BSD-3-Clause
"""`effio run` in jobs of a Slurm whose four nodes are the client nodes of a GlusterFS: each node
has its own network and its own mount, at the same path."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from effio.report.build import report_of
from effio.store.all_runs import Store
from effio.store.evidence import Place
from effio.store.folder import RunFolder
from engines import Engine
from slurm_cluster import Host, SlurmCluster, SlurmUnavailableError, slurm_cluster

from .conftest import ALL
from .gluster import Gluster, gluster
from .nodes import NotHereError

# MPICH polls while it waits, and several tests may share the cores.
PATIENCE_SECONDS = 1000
pytestmark = [
    pytest.mark.timeout(PATIENCE_SECONDS + 200),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]

NODES = 4
REPETITIONS = 2
BLOCK_BYTES = 1 << 20
RUNS = (
    f"ior --files per-process --read-from shifted --block {BLOCK_BYTES} --transfer 256KiB"
    f" --repetitions {REPETITIONS} --verify inside",
    "mdtest --items 8 --write-bytes 4KiB --verify",
    "flash-io --backend mpiio --cells 4 --blocks 2 --files checkpoint --read all --fill index",
)
CAMPAIGNS = {
    "quick": (),
    "io500-like": ("--scale", "0.0005"),
    "blue-waters": ("--scale", "0.0001"),
    # The other repetitions run the same steps again.
    "eocoe": ("--scale", "0.0001", "--only", "repetition == 1"),
}


@dataclass
class Mount:
    """The file system, and where all nodes of the job see it."""

    cluster: Gluster
    seen: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    seen = tmp_path_factory.mktemp("seen")
    try:
        with gluster(tmp_path_factory.mktemp("gluster"), "distributed", NODES) as cluster:
            yield Mount(cluster, seen)
    except NotHereError as reason:
        pytest.skip(f"no GlusterFS here: {reason}")


@pytest.fixture(scope="module")
def _slurm_daemons(
    place: Mount, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SlurmCluster]:
    """Replaces the Slurm in this machine's network; the fixture `slurm` uses it."""
    # A mount in a node is seen by that node only.
    private = "mount --make-rprivate /"
    hosts = [
        Host(
            client.address,
            client.enter(),
            f"{private} && mount --bind '{client.mount_point}' '{place.seen}'",
        )
        for client in place.cluster.clients
    ]
    login = place.cluster.network.client("login")
    directory = tmp_path_factory.mktemp("slurm")
    try:
        with slurm_cluster(directory, hosts, Host(login.address, login.enter())) as cluster:
            yield cluster
    except SlurmUnavailableError as reason:
        pytest.skip(str(reason))


def _in_a_job(
    slurm: SlurmCluster,
    engine: Engine,
    nodes: int,
    ranks: int,
    runs: Sequence[Sequence[str]],
    data: Path,
    cwd: Path,
) -> list[RunFolder]:
    """All runs in one job, like a user's script."""
    more = ("--dir", str(data), "--quiet", "--no-report")
    effio = (sys.executable, "-m", "effio", "run")
    lines = [shlex.join([*effio, *words, *more]) for words in runs]
    (cwd / "job.sh").write_text("\n".join(["#!/bin/sh", "set -e", *lines, ""]))
    # In an allocation srun starts MPICH; a launcher that is named would be taken instead.
    named = {"EFFIO_MPIEXEC": engine.mpiexec} if engine.is_openmpi else {}
    environment = {
        "EFFIO_ENGINE": str(engine.program),
        **named,
        "XDG_CACHE_HOME": str(cwd / "cache"),
        **engine.settings(),
    }
    size = [f"--nodes={nodes}", f"--ntasks={ranks}", f"--ntasks-per-node={ranks // nodes}"]
    words = ["sbatch", "--wait", "--output=said", *size, "job.sh"]
    done = slurm.run(words, cwd, timeout=PATIENCE_SECONDS, env=environment)
    said = cwd / "said"
    assert done.returncode == 0, done.stderr + (said.read_text() if said.exists() else "")
    return Store(cwd / "effio-runs").folders()


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_jobs_on_nodes_that_mount_a_file_system(
    nodes: int, mpi: Engine, place: Mount, slurm: SlurmCluster, tmp_path: Path
) -> None:
    network, clients = place.cluster.network, place.cluster.clients
    (clients[0].mount_point / "data").mkdir(exist_ok=True)
    sent = [network.sent(client) for client in clients]
    ranks = max(2, nodes)
    runs = [words.split() for words in RUNS]
    folders = _in_a_job(slurm, mpi, nodes, ranks, runs, place.seen / "data", tmp_path)
    results = [folder.result() for folder in folders]
    assert sorted(result.benchmark for result in results) == ["flash-io", "ior", "mdtest"]
    used = {name for result in results for name in result.run.system.node_names}
    assert len(used) == nodes
    assert used <= set(slurm.nodes)
    for result in results:
        assert result.status == "done"
        assert len(result.measurements) > 0
        assert all(m.valid for m in result.measurements)
        assert (result.run.system.nodes, result.run.system.ranks) == (nodes, ranks)
        kept = result.run.file_system
        assert kept is not None
        assert kept.type == "fuse.glusterfs"
        # On one node it cannot be tried. Between nodes GlusterFS' client keeps a size for a second:
        # whether the file is read within it depends on the machine.
        assert (kept.close_to_open is None) == (nodes == 1)
        warnings = [f for f in report_of("run", result).findings if "close-to-open" in f.text]
        assert [f.level for f in warnings] == (["warn"] if kept.close_to_open is False else [])
        assert result.run.system.batch["SLURM_JOB_NUM_NODES"] == str(nodes)
    (ior,) = (result for result in results if result.benchmark == "ior")
    reads = [m for m in ior.measurements if m.access == "read"]
    if nodes > 1:
        assert [m.detail["ranks_on_own_node"] for m in reads] == [0] * REPETITIONS
    # Each node's data left it on its own link.
    for name, client, before in zip(slurm.nodes, clients, sent, strict=True):
        moved = network.sent(client) - before
        assert (moved >= REPETITIONS * BLOCK_BYTES) == (name in used), (name, moved)
    assert list((clients[0].mount_point / "data").iterdir()) == []


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_campaigns_in_a_job_of_two_nodes(
    name: str, openmpi: Engine, place: Mount, slurm: SlurmCluster, tmp_path: Path
) -> None:
    data = place.cluster.clients[0].mount_point / "data"
    data.mkdir(exist_ok=True)
    runs = [[name, *CAMPAIGNS[name]]]
    folders = _in_a_job(slurm, openmpi, 2, 2, runs, place.seen / "data", tmp_path)
    assert len(folders) >= 6
    for folder in folders:
        result = folder.reported()
        assert (result.status, result.run.system.nodes) == ("done", 2), folder.id
        files = result.run.file_system
        if files is None:
            assert result.benchmark == "rings", folder.id
            continue
        assert files.type == "fuse.glusterfs"
        # The client counts what it moved, so the place of each byte is known.
        judged = [m for m in result.measurements if m.bytes > 0 and m.cache is not None]
        assert Place.UNKNOWN not in {Place.of(m) for m in judged}, folder.id
    assert list(data.iterdir()) == []
