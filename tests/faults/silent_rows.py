# SPDX-License-Identifier: BSD-3-Clause
"""The rows and columns of the tables of silent corruption: small runs of each benchmark with all
verification on, and the faults that are made in them (silent.py)."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """What goes wrong in one call."""

    what: str
    call: str
    kind: str


FAULTS = {
    "bit in a write": Fault("a bit flips on the way to the file", "write", "bit={byte}"),
    "swapped writes": Fault("two writes land in each other's place", "write", "swap"),
    "dropped write": Fault("a write is dropped", "write", "stale"),
    "half a write": Fault("half of a write is dropped", "write", "lost"),
    "bit in a read": Fault("a bit flips on the way from the file", "read", "bit={byte}"),
    "stale read": Fault("a read leaves the memory as it was", "read", "stale"),
    "half a read": Fault("half of a read leaves the memory as it was", "read", "lost"),
    "bit in a message": Fault("a bit flips in a message between ranks", "message", "bit={byte}"),
}

# Small runs on 2 ranks with all verification on. A row is run with its backends only.
STREAMS = ("posix", "mpiio", "direct", "uring", "mmap")
# They make no system call for a transfer: for them a file system changes the data
# (fuse_files.py). It knows no order of writes to swap.
BY_FILE_SYSTEM = ("uring", "mmap")
# Their transfers end in the page cache; all others reach that file system.
MAPPED = ("mmap",)
# Messages between ranks, changed by faulty_messages.c.
MESSAGES = "mpi"


class Row(NamedTuple):
    """A benchmark, its backends, the option that selects one, what backend direct needs in
    addition, the rank with the faults, the option for how often everything is repeated (empty: one
    fault a run), and that number where one fault is made. `own_errors`: the option is for how many
    errors are reported, and faults of one run are in one repetition, each with an error."""

    words: str
    backends: tuple[str, ...] = STREAMS
    option: str = "--backend"
    for_direct: str = ""
    rank: int = 1
    repeats: str = "--repetitions"
    times: int = 1
    own_errors: bool = False


CONTAINERS = "partest, containers"
METADATA = "partest, containers, rank 0"
# Where data begin: behind the head, at the next block of the file system.
DATA_OF_CONTAINER = 4096

ROWS = {
    "b_eff_io": Row(
        "b-eff-io --time 0s --memory-per-rank 1MiB --partitions 2 --verify full --fill random",
        for_direct="--backend-options unaligned=buffered",
        repeats="--messages",
        own_errors=True,
    ),
    "ior": Row("ior --block 64KiB --transfer 16KiB --verify inside", times=2),
    "ior, all phases": Row(
        "ior --block 64KiB --transfer 16KiB --phases write,mixed,read --verify write,mixed,inside"
    ),
    # A place that is drawn twice is written twice, by this rank alone: with a shared file by all.
    "ior, random places": Row(
        "ior --block 64KiB --transfer 16KiB --order random --files per-process "
        "--verify write,inside"
    ),
    "mdtest": Row(
        "mdtest --items 8 --things files --write-bytes 4KiB --verify",
        ("posix", "direct"),
        repeats="--iterations",
        times=2,
    ),
    "flash_io": Row(
        "flash-io --cells 4 --blocks 2 --files checkpoint --read all --fill index",
        ("posix", "mpiio", "hdf5", "pnetcdf"),
    ),
    "libraries": Row(
        "libraries --edges 8 --processes 2 --hint-sets none",
        ("posix", "mpiio", "hdf5", "pnetcdf"),
        "--libraries",
    ),
    "io_bench": Row("io-bench --size 256KiB --block 64KiB --copies 2"),
    "spiobench": Row("spiobench --task-size 256KiB --block 64KiB --tasks 2"),
    "ssca3": Row(
        "ssca3 --grid 2 --depth 2 --sequences 4 --detections 2 --templates 2 --raw-size 16KiB "
        "--image-size 8KiB --template-size 4KiB"
    ),
    "saturation": Row("saturation --size 256KiB --transfer 64KiB --processes 2"),
    "pio": Row("pio --size 64KiB --buffer 16KiB --spatial simple-strided,tiled"),
    "tile_io": Row("tile-io --sz-tile-x 64 --sz-tile-y 64 --by row", times=2),
    "partest": Row("partest --methods task-local,shared --size 64KiB --call 16KiB"),
    # An error in data names the offset in the tasks' data, one in metadata that in the file.
    CONTAINERS: Row("partest --methods sion --size 64KiB --call 16KiB", ("posix", "direct")),
    # The rank that also writes and reads the metadata of the container.
    METADATA: Row("partest --methods sion --size 64KiB --call 16KiB", ("posix", "direct"), rank=0),
    "b_eff": Row(
        "b-eff --memory-per-rank 1MiB --random-patterns 2 --loop-time 100us --verify all",
        (MESSAGES,),
        repeats="",
    ),
    "rings": Row("rings --verify all", (MESSAGES,), repeats=""),
    "overlap": Row("overlap --transfer 64KiB --methods blocking --work-time 1ms", times=2),
}
