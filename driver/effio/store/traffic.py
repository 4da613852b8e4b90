# SPDX-License-Identifier: BSD-3-Clause
"""Bytes that the network interfaces of this machine moved during a run: weak evidence for the
source of bytes on file systems without their own counters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from effio.store.reader import Result
from effio.store.run_record import NetworkPart

_NET = Path("/sys/class/net")
_INFINIBAND = Path("/sys/class/infiniband")
# Of this process' network namespace, which /sys need not be of: containers differ.
_DEV = Path("/proc/self/net/dev")


@dataclass(frozen=True)
class Traffic:
    """Bytes moved by the interfaces and by the run's measurements."""

    received_bytes: int
    sent_bytes: int
    bytes_read: int
    bytes_written: int


def _sum(files: Iterable[Path], scale: int = 1) -> int:
    """Raises OSError or ValueError if one of them cannot be read."""
    return sum(scale * int(file.read_text()) for file in files)


def _listed(dev: Path) -> dict[str, tuple[int, int]]:
    """Bytes received and sent by each interface of a namespace except the loopback. Raises OSError,
    ValueError or IndexError if they cannot be read."""
    found = {}
    for line in dev.read_text().splitlines()[2:]:
        name, _, rest = line.partition(":")
        fields = rest.split()
        if name.strip() != "lo":
            found[name.strip()] = (int(fields[0]), int(fields[8]))
    return found


def _of_namespace(net: Path, here: dict[str, tuple[int, int]]) -> NetworkPart | None:
    """Where none of the interfaces is a device: in a container its end of a pair (veth) carries all
    of its traffic. None without such an interface."""
    made_of_others = {
        card.name
        for card in net.glob("*")
        if any((card / part).exists() for part in ("bridge", "bonding")) or [*card.glob("lower_*")]
    }
    moved = [numbers for name, numbers in here.items() if name not in made_of_others]
    if not moved:
        return None
    received, sent = (sum(column) for column in zip(*moved, strict=True))
    return NetworkPart(received_bytes=received, sent_bytes=sent)


def counters(
    net: Path = _NET, infiniband: Path = _INFINIBAND, dev: Path = _DEV
) -> NetworkPart | None:
    """Counters of the interfaces that are devices: not the loopback, and not bridges or bonds,
    which would count bytes twice. InfiniBand counts words of four bytes, including traffic that
    bypasses the kernel. None if one cannot be read, without which the sum is unknown and not
    smaller, and where no interface can be counted."""
    try:
        return _counted(net, infiniband, _listed(dev))
    except (OSError, ValueError, IndexError):
        return None


def _counted(net: Path, infiniband: Path, here: dict[str, tuple[int, int]]) -> NetworkPart | None:
    cards = [c for c in net.glob("*") if (c / "device").exists() and c.name in here]
    ports = [*infiniband.glob("*/ports/*/counters")]
    if not cards and not ports:
        return _of_namespace(net, here)
    # The counters of a port already include IP over InfiniBand.
    plain = (
        [card for card in cards if not (card / "device/infiniband").exists()] if ports else cards
    )
    return NetworkPart(
        received_bytes=sum(here[c.name][0] for c in plain)
        + _sum((p / "port_rcv_data" for p in ports), 4),
        sent_bytes=sum(here[c.name][1] for c in plain)
        + _sum((p / "port_xmit_data" for p in ports), 4),
    )


def since(before: NetworkPart | None) -> NetworkPart | None:
    """Traffic since then; None if a counter was reset, could not be read, or there is none."""
    now = counters()
    if before is None or now is None:
        return None
    received = now.received_bytes - before.received_bytes
    sent = now.sent_bytes - before.sent_bytes
    if received < 0 or sent < 0:
        return None
    return NetworkPart(received_bytes=received, sent_bytes=sent)


def traffic_of(result: Result) -> Traffic | None:
    """None if the driver did not count: ranks on other machines, or a run without the driver."""
    part = result.record.network if result.record is not None else None
    if part is None:
        return None
    moved = {True: 0, False: 0}
    for m in result.measurements:
        moved["read" in m.access.lower()] += m.bytes
    return Traffic(part.received_bytes, part.sent_bytes, moved[True], moved[False])
