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


def counters(net: Path = _NET, infiniband: Path = _INFINIBAND) -> NetworkPart | None:
    """Counters of the interfaces that are devices: not the loopback, and not bridges or bonds,
    which would count bytes twice. InfiniBand counts words of four bytes, including traffic that
    bypasses the kernel. None if one cannot be read: without it the sum is unknown, not smaller."""
    try:
        return _counted(net, infiniband)
    except (OSError, ValueError):
        return None


def _counted(net: Path, infiniband: Path) -> NetworkPart:
    cards = [card for card in net.glob("*") if (card / "device").exists()]
    ports = [*infiniband.glob("*/ports/*/counters")]
    # The counters of a port already include IP over InfiniBand.
    plain = (
        [card for card in cards if not (card / "device/infiniband").exists()] if ports else cards
    )
    return NetworkPart(
        received_bytes=_sum(c / "statistics/rx_bytes" for c in plain)
        + _sum((p / "port_rcv_data" for p in ports), 4),
        sent_bytes=_sum(c / "statistics/tx_bytes" for c in plain)
        + _sum((p / "port_xmit_data" for p in ports), 4),
    )


def since(before: NetworkPart | None) -> NetworkPart | None:
    """Traffic since then; None if a counter was reset or could not be read."""
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
