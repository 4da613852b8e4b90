# SPDX-License-Identifier: BSD-3-Clause
"""ior's loop against a bare pwrite/pread loop on equally fresh files, operation timing off."""

from __future__ import annotations

import json
from functools import partial

from harness import Figures, Kit, Pair

KIB = 1024
# Transfer and block of a rank; what the loop must reach of the bare one's rate.
SIZES = (("4 KiB", 4 * KIB, 64 << 20, 0.97), ("1 MiB", 1 << 20, 256 << 20, 0.99))


def rates_of_engine(kit: Kit, transfer: int, block: int) -> Figures:
    with kit.place() as place:
        kit.launch(
            [
                *(kit.engine, "ior", "--quiet", "--dir", place, "-o", place / "r.jsonl"),
                *("--files=per-process", "--sync=none", "--call-times=off", "--read-from=same"),
                *(f"--transfer={transfer}", f"--block={block}", "--max-bytes=100GiB"),
            ]
        )
        lines = [json.loads(line) for line in (place / "r.jsonl").read_text().splitlines()]
    return {
        line["access"]: line["detail"]["transfer_rate_bytes_per_second"] / 1e6
        for line in lines
        if line["kind"] == "measurement"
    }


def rates_of_bare(kit: Kit, transfer: int, block: int) -> Figures:
    with kit.place() as place:
        text = kit.launch([kit.bare("bare_ior"), place, transfer, block])
    return {access: float(rate) / 1e6 for access, rate in (li.split() for li in text.splitlines())}


def pairs(kit: Kit) -> list[Pair]:
    return [
        Pair(
            f"ior {name}",
            f"calls of {name} through ior and through a bare loop",
            partial(rates_of_engine, kit, transfer, block),
            partial(rates_of_bare, kit, transfer, block),
            "MB/s",
            at_least=at_least,
        )
        for name, transfer, block, at_least in SIZES
    ]
