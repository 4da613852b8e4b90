# SPDX-License-Identifier: BSD-3-Clause
"""What the network interfaces of this machine moved while a run was under way: weak evidence of
where bytes came from on file systems that count nothing themselves."""

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
    """Bytes that the interfaces moved, and those that the run's measurements did."""

    received_bytes: int
    sent_bytes: int
    bytes_read: int
    bytes_written: int


def _sum(files: Iterable[Path], scale: int = 1) -> int:
    total = 0
    for file in files:
        try:
            total += scale * int(file.read_text())
        except (OSError, ValueError):
            continue
    return total


def counters(net: Path = _NET, infiniband: Path = _INFINIBAND) -> NetworkPart:
    """Of the interfaces that are devices: neither the loopback nor a bridge or bond, which would
    count bytes twice. InfiniBand counts words of four bytes, and what passes the kernel as well."""
    cards = [card for card in net.glob("*") if (card / "device").exists()]
    ports = [*infiniband.glob("*/ports/*/counters")]
    # IP over InfiniBand is in the counters of its port already.
    plain = (
        [card for card in cards if not (card / "device/infiniband").exists()] if ports else cards
    )
    return NetworkPart(
        received_bytes=_sum(c / "statistics/rx_bytes" for c in plain)
        + _sum((p / "port_rcv_data" for p in ports), 4),
        sent_bytes=_sum(c / "statistics/tx_bytes" for c in plain)
        + _sum((p / "port_xmit_data" for p in ports), 4),
    )


def since(before: NetworkPart) -> NetworkPart | None:
    """None where a counter began anew."""
    now = counters()
    received = now.received_bytes - before.received_bytes
    sent = now.sent_bytes - before.sent_bytes
    if received < 0 or sent < 0:
        return None
    return NetworkPart(received_bytes=received, sent_bytes=sent)


def traffic_of(result: Result) -> Traffic | None:
    """None where the driver did not count: ranks on other machines, or no driver at all."""
    part = result.record.network if result.record is not None else None
    if part is None:
        return None
    moved = {True: 0, False: 0}
    for m in result.measurements:
        moved["read" in m.access.lower()] += m.bytes
    return Traffic(part.received_bytes, part.sent_bytes, moved[True], moved[False])
