# SPDX-License-Identifier: BSD-3-Clause
"""A MooseFS of one master and three chunk servers."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .nodes import Client, Network, NotHereError, Server, disk, need, run, wait_for

# The metadata of an empty file system, of Debian's package.
_EMPTY = Path("/var/lib/mfs/metadata.mfs.empty")


@dataclass
class MooseFS:
    """A file system that is mounted on its clients. `servers` are those that keep chunks."""

    network: Network
    master: Server
    disks: list[Path]
    servers: list[Server] = field(default_factory=list)
    clients: list[Client] = field(default_factory=list)

    def command(self, *words: object) -> str:
        """mfscli's table, with a bar between cells."""
        return self.master.run("mfscli", "-H", self.master.address, "-p", *words)


def _settings(path: Path, values: Mapping[str, object]) -> Path:
    path.write_text("".join(f"{name} = {value}\n" for name, value in values.items()))
    return path


@contextlib.contextmanager
def moosefs(
    directory: Path,
    clients: int = 2,
    size: str = "600m",
    leave: str = "16MiB",
    device: bool = False,
) -> Iterator[MooseFS]:
    """Raises NotHereError where there can be none. The disk of each chunk server has `size`, of
    which it leaves `leave` free: 4 GiB by default, which no small disk has."""
    need("mfsmaster", "mfschunkserver", "mfsmount")
    with contextlib.ExitStack() as stack:
        disks = [
            stack.enter_context(disk(directory / f"disk{number}", size, device))
            for number in (1, 2, 3)
        ]
        with Network(directory) as network:
            kept = directory / "master"
            kept.mkdir()
            shutil.copy(_EMPTY, kept / "metadata.mfs")
            (kept / "exports").write_text("* / rw,alldirs,admin,maproot=0:0\n")
            (kept / "topology").touch()
            user = {"WORKING_USER": "root", "WORKING_GROUP": "root", "LOCK_MEMORY": 0}
            master = network.server("master")
            described = _settings(
                kept / "mfsmaster.cfg",
                {
                    **user,
                    "DATA_PATH": kept,
                    "EXPORTS_FILENAME": kept / "exports",
                    "TOPOLOGY_FILENAME": kept / "topology",
                    "SYSLOG_IDENT": "effio-mfsmaster",
                    # New chunks are written as soon as there is a server.
                    "REPLICATIONS_DELAY_INIT": 0,
                },
            )
            master.start("mfsmaster", "-f", "-c", described)
            mounted = MooseFS(network, master, disks)
            for number, place in enumerate(disks, 1):
                kept = directory / f"server{number}"
                kept.mkdir()
                (kept / "disks").write_text(f"{place}\n")
                server = network.server(f"server{number}")
                described = _settings(
                    kept / "mfschunkserver.cfg",
                    {
                        **user,
                        "DATA_PATH": kept,
                        "HDD_CONF_FILENAME": kept / "disks",
                        "HDD_LEAVE_SPACE_DEFAULT": leave,
                        "MASTER_HOST": master.address,
                        "SYSLOG_IDENT": f"effio-mfschunkserver{number}",
                    },
                )
                server.start("mfschunkserver", "-f", "-c", described)
                mounted.servers.append(server)
            wait_for("three chunk servers", lambda: _chunk_servers(mounted) == 3, 60)
            for number in range(clients):
                client = network.client(f"client{number + 1}")
                client.mount("mfsmount", "-H", master.address, client.mount_point, kind="MooseFS")
                mounted.clients.append(client)
            # Until the servers have reported their disks to the master, 0 bytes seem to be free.
            # They are if the servers leave more free than there is: then nothing is waited for.
            place = mounted.clients[0].mount_point
            with contextlib.suppress(NotHereError):
                wait_for("free space", lambda: os.statvfs(place).f_bavail > 0, 10)
            # Removed files would stay in the trash for a day, and fill the small disks.
            first = mounted.clients[0]
            run(*first.enter(), "mfssettrashtime", "-r", "0", first.mount_point)
            yield mounted


def _chunk_servers(mounted: MooseFS) -> int:
    with contextlib.suppress(Exception):
        lines = mounted.command("-SCS").splitlines()
        return sum(line.startswith("chunk servers") or "198.18." in line for line in lines)
    return 0
