# SPDX-License-Identifier: BSD-3-Clause
"""What the servers of a file system did while a run measured: the truth for what effio says of
where bytes were. It comes from processes and block devices, not from any network. Where servers
also copy data among each other (MooseFS), the process of the client's mount is asked instead."""

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from effio.store.reader import Result
from effio.store.run_record import NetworkPart

from .ceph import Ceph
from .gluster import Gluster
from .moosefs import MooseFS
from .sampled import Log, cells_of, sample_into

_STEP_SECONDS = 0.01
_SECTOR = 512


@dataclass
class Truth:
    """Bounds of what happened during a measurement, in bytes."""

    # By the processes: of a read or a write nearly all is its data.
    read: tuple[int, int]
    written: tuple[int, int]
    read_from_devices: tuple[int, int]
    written_to_devices: tuple[int, int]


@dataclass
class Servers:
    """Samples in a thread, while it is entered."""

    cluster: Gluster | MooseFS | Ceph
    runs: Path  # the folder with the run that is measured
    _processes: list[Path] = field(default_factory=list)
    _devices: list[Path] = field(default_factory=list)
    _files: Log = field(default_factory=Log)
    _blocks: Log = field(default_factory=Log)
    _end: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Servers:
        if isinstance(self.cluster, MooseFS):
            place = str(self.cluster.clients[0].mount_point).encode()
            spaces = set()
        else:
            place = b""
            spaces = {Path(f"/proc/{s._inner()}/ns/pid").readlink() for s in self.cluster.servers}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if not entry.name.isdigit():
                    continue
                line = (entry / "cmdline").read_bytes()
                of_mount = place and line.startswith(b"mfsmount") and place in line
                if of_mount or (entry / "ns/pid").readlink() in spaces:
                    self._processes.append(entry / "io")
        for disk in self.cluster.disks:
            number = disk.stat().st_dev
            self._devices.append(Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}/stat"))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(_STEP_SECONDS):
            self._look()
        self._look()

    def _look(self) -> None:
        sample_into(self._files, self._of_processes, self._result())
        sample_into(self._blocks, self._of_devices, self._result())

    def _result(self) -> Path:
        return next(iter(self.runs.glob("*/result.jsonl")), self.runs / "result.jsonl")

    def _of_processes(self) -> NetworkPart:
        read = written = 0
        of_mount = isinstance(self.cluster, MooseFS)
        for path in self._processes:
            lines = dict(line.split(": ") for line in path.read_text().splitlines())
            read += int(lines["rchar"])
            # A server reads from its socket what a client writes.
            written += int(lines["wchar" if of_mount else "rchar"])
        return NetworkPart(received_bytes=read, sent_bytes=written)

    def _of_devices(self) -> NetworkPart:
        read = written = 0
        for path in self._devices:
            fields = path.read_text().split()
            read += int(fields[2]) * _SECTOR
            written += int(fields[6]) * _SECTOR
        return NetworkPart(received_bytes=read, sent_bytes=written)

    def truths(self, result: Result) -> dict[int, Truth]:
        """The truths by the place of a measurement in its result."""
        blocks = {cell.measurement: cell for cell in cells_of(self._blocks, result)}
        found = {}
        for files in cells_of(self._files, result):
            if (block := blocks.get(files.measurement)) is not None:
                found[files.measurement] = Truth(
                    (files.least.received_bytes, files.most.received_bytes),
                    (files.least.sent_bytes, files.most.sent_bytes),
                    (block.least.received_bytes, block.most.received_bytes),
                    (block.least.sent_bytes, block.most.sent_bytes),
                )
        return found
