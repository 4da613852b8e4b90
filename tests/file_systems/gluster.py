# SPDX-License-Identifier: BSD-3-Clause
"""A GlusterFS of three servers with a brick each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .nodes import Client, Network, NotHereError, Server, disk, need, wait_for

LAYOUTS = {"distributed": (), "dispersed": ("disperse", "3", "redundancy", "1")}


@dataclass
class Gluster:
    """A volume that is mounted on its clients."""

    network: Network
    servers: list[Server]
    clients: list[Client]
    volume: str
    disks: list[Path]

    def command(self, *words: object) -> str:
        return self.servers[0].run("gluster", "--mode=script", *words)

    def brick(self, number: int) -> Path:
        return self.network.directory / f"brick{number + 1}" / "data"


@contextlib.contextmanager
def gluster(
    directory: Path,
    layout: str,
    clients: int = 2,
    size: str = "600m",
    device: bool = False,
    delay_microseconds: int = 0,
) -> Iterator[Gluster]:
    """Raises NotHereError where there can be none. Each brick is on a `disk` of `size`, and each
    operation on a brick takes this delay longer."""
    need("glusterd", "gluster", "glusterfs")
    with contextlib.ExitStack() as stack:
        bricks = [
            stack.enter_context(disk(directory / f"brick{number}", size, device))
            for number in (1, 2, 3)
        ]
        with Network(directory) as network:
            servers = []
            for number in (1, 2, 3):
                kept = directory / f"server{number}"
                places = {
                    seen: kept / seen.strip("/").replace("/", "-")
                    for seen in ("/var/lib/glusterd", "/run", "/var/log/glusterfs")
                }
                server = network.server(f"server{number}", places)
                (places_run := places["/run"]).mkdir(parents=True)
                (places_run / "gluster").mkdir()
                servers.append(server)
                server.start("glusterd", "-N", "--log-level", "WARNING")
            mounted = Gluster(network, servers, [], "effio", bricks)
            for server in servers:
                # At its first start it calls Python a dozen times, for geo-replication.
                wait_for(f"glusterd of {server.name}", lambda s=server: _answers(s), 120)  # type: ignore[misc]
            for server in servers[1:]:
                mounted.command("peer", "probe", server.address)
            wait_for("three peers", lambda: _connected(mounted) == 2, 60)
            words = [f"{s.address}:{mounted.brick(n)}" for n, s in enumerate(servers)]
            mounted.command("volume", "create", "effio", *LAYOUTS[layout], *words, "force")
            # A client waits for this long for a server that does not answer; 42 s by default.
            mounted.command("volume", "set", "effio", "network.ping-timeout", "5")
            if delay_microseconds:
                mounted.command("volume", "set", "effio", "debug.delay-gen", "posix")
                for what, value in (("duration", delay_microseconds), ("percentage", 100)):
                    mounted.command("volume", "set", "effio", f"delay-gen.delay-{what}", value)
            mounted.command("volume", "start", "effio")
            for number in range(clients):
                mount_of(mounted, f"client{number + 1}")
            yield mounted


def _answers(server: Server) -> bool:
    try:
        server.run("gluster", "--mode=script", "peer", "status", seconds=20)
    except NotHereError:
        if not server.runs:
            raise
        return False
    return True


def _connected(mounted: Gluster) -> int:
    return mounted.command("peer", "status").count("Peer in Cluster (Connected)")


def mount_of(mounted: Gluster, name: str, *options: str) -> Client:
    """A mount on one more client node."""
    client = mounted.network.client(name)
    client.mount(
        "glusterfs", f"--volfile-server={mounted.servers[0].address}", "--volfile-id=effio",
        f"--log-file={mounted.network.directory}/{name}.log", *options, client.mount_point,
        kind="GlusterFS",
    )  # fmt: skip
    mounted.clients.append(client)
    return client
