# SPDX-License-Identifier: BSD-3-Clause
"""Layouts as an axis of a campaign, set by the file systems' own commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from effio.store.all_runs import Store
from engines import Engine

from .conftest import ALL, effio_on
from .gluster import gluster
from .moosefs import moosefs
from .nodes import Client, NotHereError, run

pytestmark = [
    pytest.mark.timeout(400),
    pytest.mark.skipif(not ALL, reason="takes minutes: make test-file-systems"),
]


def _campaign(cwd: Path, layouts: list[str]) -> None:
    (cwd / "layouts.toml").write_text(
        'title = "t"\npurpose = "p"\n[[step]]\nname = "a"\nbenchmark = "ior"\nranks = 2\n'
        'options = { block = "1MiB", transfer = "1MiB", files = "per-process", keep = true }\n'
        f"sweep = {{ layout = {json.dumps(layouts)} }}\n"
    )


def _measured(client: Client, engine: Engine, cwd: Path, directory: Path) -> list[str]:
    """The layouts that were measured."""
    words = ["run", "layouts.toml", "--quiet", "--no-report", "--dir", directory]
    done = effio_on(client, engine, cwd, *words)
    assert done.returncode == 0, done.stderr
    found = []
    for folder in Store(cwd / "effio-runs").folders():
        result = folder.reported()
        assert all(m.valid for m in result.measurements)
        record = result.record
        assert record is not None
        assert record.campaign is not None
        found.append(str(record.campaign.axes["layout"]))
    return sorted(found)


def _copies(client: Client, file: Path) -> int:
    """The copies of the first chunk, by MooseFS itself."""
    return run(*client.enter(), "mfsfileinfo", file).count("copy ")


def test_classes_and_copies_of_a_moosefs(
    openmpi: Engine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    try:
        with moosefs(tmp_path_factory.mktemp("layouts"), clients=1) as cluster:
            (client,) = cluster.clients
            place = client.mount_point
            run(*client.enter(), "mfsscadmin", place, "create", "-K", "*,*,*", "three")
            _campaign(tmp_path, ["default", "copies=1", "class=three"])
            layouts = _measured(client, openmpi, tmp_path, place)
            copies = {
                name: _copies(client, place / name / "ior.00000000")
                for name in (".", "effio-layout-copies-1", "effio-layout-class-three")
            }
    except NotHereError as reason:
        pytest.skip(f"no MooseFS here: {reason}")
    assert layouts == ["class=three", "copies=1", "default"]
    assert copies == {".": 2, "effio-layout-copies-1": 1, "effio-layout-class-three": 3}


def test_volumes_of_a_gluster(
    openmpi: Engine, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A layout belongs to a volume: two of them are two directories."""
    try:
        with gluster(tmp_path_factory.mktemp("layouts"), "distributed", clients=1) as cluster:
            (client,) = cluster.clients
            bricks = [
                f"{server.address}:{disk / 'coded'}"
                for server, disk in zip(cluster.servers, cluster.disks, strict=True)
            ]
            words = ("disperse", "3", "redundancy", "1", *bricks, "force")
            cluster.command("volume", "create", "coded", *words)
            cluster.command("volume", "start", "coded")
            coded = Client(
                "coded", client.space, client.address, client.mount_point.parent / "coded"
            )
            coded.mount(
                "glusterfs", f"--volfile-server={cluster.servers[0].address}",
                "--volfile-id=coded", coded.mount_point, kind="GlusterFS",
            )  # fmt: skip
            try:
                _campaign(tmp_path, ["default", f"dir={coded.mount_point}"])
                layouts = _measured(client, openmpi, tmp_path, client.mount_point)
                kept = {
                    name: sum((disk / name / "ior.00000000").exists() for disk in cluster.disks)
                    for name in ("data", "coded")
                }
            finally:
                coded.unmount()
    except NotHereError as reason:
        pytest.skip(f"no GlusterFS here: {reason}")
    assert layouts == ["default", f"dir={coded.mount_point}"]
    # The file is on one brick, or a part of it is on each.
    assert kept == {"data": 1, "coded": 3}
