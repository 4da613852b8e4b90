# SPDX-License-Identifier: BSD-3-Clause
"""A CephFS of a monitor, a manager, a metadata server and three object storage servers, each with
a file as its device."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .nodes import Client, Network, NotHereError, Server, need, run, wait_for

_CONFIGURATION = """\
[global]
fsid = {fsid}
mon host = [v2:{address}:3300,v1:{address}:6789]
auth cluster required = none
auth service required = none
auth client required = none
auth allow insecure global id reclaim = true
osd pool default size = 2
osd pool default min size = 1
osd crush chooseleaf type = 0
mon data = {place}/mon
mgr data = {place}/mgr
mds data = {place}/mds
osd data = {place}/osd$id
keyring = {place}/keyring
run dir = {place}
pid file =
admin socket =
log file = {place}/$name.log
bluestore block size = {bytes}
bluestore block create = true
osd memory target = 939524096
"""
_PATIENCE = 180  # seconds: the manager loads dozens of Python modules


@dataclass
class Ceph:
    """A file system that is mounted on its clients. `servers` are those that keep objects."""

    network: Network
    master: Server
    configuration: Path
    disks: list[Path] = field(default_factory=list)
    servers: list[Server] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)

    def command(self, *words: object) -> str:
        return self.master.run("ceph", "-c", self.configuration, *words, seconds=_PATIENCE)


@contextlib.contextmanager
def ceph(directory: Path, clients: int = 2, size: int = 2 << 30) -> Iterator[Ceph]:
    """Raises NotHereError where there can be none."""
    need("ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds", "ceph-fuse", "ceph")
    with Network(directory) as network:
        kept = directory / "ceph"
        for name in ("mon", "mgr", "mds", "osd0", "osd1", "osd2"):
            (kept / name).mkdir(parents=True)
        master = network.server("monitor")
        fsid = uuid.uuid4()
        described = kept / "ceph.conf"
        described.write_text(
            _CONFIGURATION.format(fsid=fsid, address=master.address, place=kept, bytes=size)
        )
        every = ("--cap", "mon", "allow *")
        key = kept / "keyring"
        run("ceph-authtool", "--create-keyring", key, "--gen-key", "-n", "mon.", *every)
        admin = [*every, "--cap", "osd", "allow *", "--cap", "mds", "allow *", "--cap", "mgr"]
        run("ceph-authtool", key, "--gen-key", "-n", "client.admin", *admin, "allow *")
        where = f"[v2:{master.address}:3300,v1:{master.address}:6789]"
        words = ("--create", "--addv", "a", where, "--fsid", fsid)
        run("monmaptool", *words, kept / "monmap")
        settings = ("-c", described)
        first = ("--mkfs", "-i", "a", "--monmap", kept / "monmap", "--keyring", key)
        run("ceph-mon", *settings, *first)
        master.start("ceph-mon", *settings, "-f", "-i", "a")
        mounted = Ceph(network, master, described)
        wait_for("the monitor", lambda: _answers(mounted), _PATIENCE)
        network.server("manager").start("ceph-mgr", *settings, "-f", "-i", "x")
        for number in range(3):
            server = network.server(f"server{number + 1}")
            identity = uuid.uuid4()
            mounted.command("osd", "new", identity, number)
            enter = ("nsenter", f"--net=/run/netns/{server.space}")
            make = ("--mkfs", "-i", number, "--osd-uuid", identity)
            run(*enter, "ceph-osd", *settings, *make, seconds=_PATIENCE)
            server.start("ceph-osd", *settings, "-f", "-i", number)
            mounted.servers.append(server)
        for pool in ("names", "data"):
            mounted.command("osd", "pool", "create", pool, 8)
        mounted.command("fs", "new", "effio", "names", "data")
        network.server("names").start("ceph-mds", *settings, "-f", "-i", "m")
        wait_for("the metadata server", lambda: "up:active" in _state(mounted), _PATIENCE)
        for number in range(clients):
            client = network.client(f"client{number + 1}")
            client.mount("ceph-fuse", *settings, "--id", "admin", client.mount_point, kind="CephFS")
            mounted.clients.append(client)
        # Until the manager has heard of the object servers, 0 bytes seem to be free.
        place = mounted.clients[0].mount_point
        wait_for("free space", lambda: os.statvfs(place).f_bavail > 0, _PATIENCE)
        yield mounted


def _answers(mounted: Ceph) -> bool:
    try:
        mounted.master.run("ceph", "-c", mounted.configuration, "-s", seconds=20)
    except NotHereError:
        if not mounted.master.runs:
            raise
        return False
    return True


def _state(mounted: Ceph) -> str:
    return mounted.command("mds", "stat")
