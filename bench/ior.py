# SPDX-License-Identifier: BSD-3-Clause
"""ior's loop against a bare pwrite/pread loop on equally fresh files, operation timing off; against
IOR itself where one is named in EFFIO_BENCH_IOR; and its queue of transfers against fio's."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from harness import AbsentError, BenchError, Figures, Kit, Pair, alternately

KIB = 1024
MIB = KIB * KIB
# Transfer; what the loop must reach of the bare one's rate.
SIZES = (("4 KiB", 4 * KIB, 0.97), ("1 MiB", 1 * MIB, 0.99), ("16 MiB", 16 * MIB, 0.99))
# A rank's file, several times the processor's cache.
BLOCK = 256 * MIB
# The alternating files are shorter: the machine changes its pace from one tenth of a second to the
# next. The layout of a process's memory makes some per cent either way, so there are many
# processes rather than many turns in each.
BLOCK_IN_TURN = 64 * MIB
TURNS = 6
ROUNDS = 200
# Reads of 4 KiB by one rank or job: all of a file of BLOCK bytes, each part once, in random order.
DEPTH = 32
READ_TURNS = 4


def rates_next_to_ours(kit: Kit, where: str, transfer: int) -> str:
    with kit.place(where) as place:
        return kit.launch([kit.bare("paired_ior"), place, transfer, BLOCK_IN_TURN, TURNS])


def rates_in(text: str, program: str) -> Figures:
    """MB/s of the last row of each access in IOR's table of results."""
    rates = {}
    for line in text.splitlines():
        cells = line.split()
        if len(cells) == 11 and cells[0] in ("write", "read"):
            rates[cells[0]] = float(cells[1]) * MIB / 1e6
    if rates.keys() != {"write", "read"}:
        raise BenchError(f"{program} prints no rates of its writes and reads")
    return rates


def rates_by_its_line(kit: Kit, program: Sequence[object], where: str, transfer: int) -> Figures:
    """Rates by IOR's command line, which include open and close: the files are long enough for
    these to vanish."""
    with kit.place(where) as place:
        words = ["-a", "POSIX", "-F", "-w", "-r", "-t", transfer, "-b", BLOCK]
        text = kit.launch([*program, *words, "-o", place / "file"])
    return rates_in(text, str(program[0]))


def queued_reads(kit: Kit, place: Path, registered: bool) -> float:
    """Reads per second of ior, past the page cache, in the file `ior` of the place."""
    result = place / "r.jsonl"
    kit.launch(
        [
            *(kit.engine, "ior", "--quiet", "--dir", place, "-o", result),
            *("--phases=read", "--use-existing", "--order=shuffled", "--transfer=4KiB"),
            *(f"--block={BLOCK}", "--backend=uring", f"--queue-depth={DEPTH}"),
            f"--backend-options=direct=yes,registered={'yes' if registered else 'no'}",
        ],
        ranks=1,
    )
    lines = [json.loads(line) for line in result.read_text().splitlines()]
    result.unlink()
    (rate,) = (
        line["detail"]["transfer_rate_bytes_per_second"]
        for line in lines
        if line["kind"] == "measurement"
    )
    return float(rate) / (4 * KIB)


def queued_reads_of_fio(place: Path, registered: bool) -> float:
    done = subprocess.run(
        [
            *("fio", "--name=reads", f"--filename={place / 'ior'}", "--readonly"),
            *("--ioengine=io_uring", f"--iodepth={DEPTH}", "--direct=1", "--rw=randread"),
            *("--bs=4k", f"--size={BLOCK}", "--output-format=json", "--thread"),
            *("--registerfiles=1", f"--fixedbufs={int(registered)}"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"fio: exit code {done.returncode}\n{done.stderr}")
    return float(json.loads(done.stdout)["jobs"][0]["read"]["iops"])


def queued_alternately(kit: Kit) -> str:
    """The first program changes from turn to turn; both read the same file, into memory that the
    kernel knows and into such as it does not."""
    if shutil.which("fio") is None:
        raise AbsentError("fio is not on this machine")
    reported = json.loads(kit.launch([kit.engine, "describe", "backends"], ranks=1))
    if any(one["missing"] for one in reported if one["name"] == "uring"):
        raise AbsentError("this build has no backend uring")
    lines = []
    with kit.place("disk") as place:
        with (place / "ior").open("wb") as file:
            for _ in range(BLOCK // MIB):
                file.write(os.urandom(MIB))
            os.fsync(file.fileno())
        for turn in range(READ_TURNS):
            for registered, name in ((False, "read 4 KiB"), (True, "registered 4 KiB")):
                if turn % 2 == 0:
                    ours = queued_reads(kit, place, registered)
                    theirs = queued_reads_of_fio(place, registered)
                else:
                    theirs = queued_reads_of_fio(place, registered)
                    ours = queued_reads(kit, place, registered)
                lines.append(f"{name} {ours} {theirs}")
    return "\n".join(lines)


def rate_one_by_one(kit: Kit, backend: str) -> Figures:
    """Cached writes of 4 KiB by one rank, each waited for."""
    with kit.place("disk") as place:
        kit.launch(
            [
                *(kit.engine, "ior", "--quiet", "--dir", place, "-o", place / "r.jsonl"),
                *("--phases=write", "--sync=none", "--call-times=off", "--transfer=4KiB"),
                *(f"--block={BLOCK}", "--max-bytes=100GiB", f"--backend={backend}"),
            ],
            ranks=1,
        )
        lines = [json.loads(line) for line in (place / "r.jsonl").read_text().splitlines()]
    (rate,) = (
        line["detail"]["transfer_rate_bytes_per_second"]
        for line in lines
        if line["kind"] == "measurement"
    )
    return {"write 4 KiB": rate / 1e6}


def pairs(kit: Kit) -> list[Pair]:
    found = []
    original = os.environ.get("EFFIO_BENCH_IOR")
    drop_in = [kit.engine, "classic", "ior"]
    for where in ("tmpfs", "disk"):
        for name, transfer, at_least in SIZES:
            found.append(
                Pair(
                    f"ior {where} {name}",
                    f"calls of {name} by ior's loop and a bare one alternately, 2 ranks, {where}",
                    *alternately(partial(rates_next_to_ours, kit, where, transfer), scale=1e-6),
                    "MB/s",
                    at_least=at_least,
                    rounds=ROUNDS,
                )
            )
            if original:
                found.append(
                    Pair(
                        f"ior {where} {name} original",
                        f"the same command line by classic ior and by {original}, 2 ranks, {where}",
                        partial(rates_by_its_line, kit, drop_in, where, transfer),
                        partial(rates_by_its_line, kit, [original], where, transfer),
                        "MB/s",
                        rounds=15,
                    )
                )
    found.append(
        Pair(
            "ior uring fio",
            f"random reads of 4 KiB past the page cache, {DEPTH} under way, by ior and by fio",
            *alternately(partial(queued_alternately, kit)),
            "op/s",
            at_least=0.95,
            rounds=12,
        )
    )
    found.append(
        Pair(
            "ior uring pwrite",
            "cached writes of 4 KiB, one after the other, by io_uring and by pwrite",
            partial(rate_one_by_one, kit, "uring"),
            partial(rate_one_by_one, kit, "posix"),
            "MB/s",
        )
    )
    return found
