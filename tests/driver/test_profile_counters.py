# SPDX-License-Identifier: BSD-3-Clause
"""What `effio profile` finds in the counters of a Darshan log: handwritten counters."""

from __future__ import annotations

import pytest

from effio.errors import EffioError
from effio.profile.darshan import ALL_RANKS, Call, Log, Record, Traced
from effio.profile.model import Activity
from effio.profile.patterns import phases_of, profile_of
from effio.profile.steps import imitate

MIB = 1 << 20
GIB = 1 << 30


def _log(ranks: int = 4, **records: list[Record]) -> Log:
    names = {1: "/data/a", 2: "/data/b", 9: "<STDOUT>"}
    known = {name.replace("MPIIO", "MPI-IO"): rows for name, rows in records.items()}
    return Log("app", ranks, 100.0, sorted(known), known, names=names)


def _wrote(
    file: int = 1, rank: int = ALL_RANKS, calls: int = 64, size: int = MIB, **more: float
) -> Record:
    """Calls of one size, of 1 MiB to 4 MiB or a smaller one."""
    bucket = "1M_4M" if size > MIB else "100K_1M" if size > 100 << 10 else "1K_10K"
    counters = {
        "OPENS": 1, "WRITES": calls, "BYTES_WRITTEN": calls * size, f"SIZE_WRITE_{bucket}": calls,
        "ACCESS1_ACCESS": size, "ACCESS1_COUNT": calls,
    }  # fmt: skip
    return Record(file, rank, {**counters, **more})


def _only(log: Log) -> Activity:
    (one,) = profile_of(log).activity
    return one


def test_one_piece_or_many() -> None:
    # 4 processes, 16 calls each. 15 of 16 follow the one before: one piece each.
    one = _only(_log(POSIX=[_wrote(CONSEC_WRITES=60, SEQ_WRITES=60)]))
    assert (one.layout, one.piece, one.transfer) == ("consecutive", None, MIB)
    # Three of four follow: 16 pieces of 4 MiB.
    one = _only(_log(POSIX=[_wrote(CONSEC_WRITES=48, SEQ_WRITES=60)]))
    assert (one.layout, one.piece) == ("strided", 4 * MIB)
    # A third goes forward: any order.
    one = _only(_log(POSIX=[_wrote(CONSEC_WRITES=0, SEQ_WRITES=21)]))
    assert one.layout == "random"


def test_writes_and_reads_of_one_file_are_reported_apart() -> None:
    # Sizes are counted together, buckets apart. 64 writes of 1 MiB would move more than the 600
    # reads of 100 KiB, next to which there are 20 of 2 MiB.
    more = {
        "READS": 620, "BYTES_READ": 600 * 102_400 + 20 * 2 * MIB, "SIZE_READ_10K_100K": 600,
        "SIZE_READ_1M_4M": 20, "ACCESS2_ACCESS": 102_400, "ACCESS2_COUNT": 600,
    }  # fmt: skip
    profile = profile_of(_log(POSIX=[_wrote(**more)]))
    assert {a.access: (a.transfer, a.bytes) for a in profile.activity} == {
        "write": (MIB, 64 * MIB), "read": (102_400, 103_383_040),
    }  # fmt: skip


def test_other_sizes_of_calls_are_said() -> None:
    # 48 MiB of 64 MiB in calls of 1 MiB, the rest in larger ones.
    more = {
        "WRITES": 52, "BYTES_WRITTEN": 64 * MIB, "SIZE_WRITE_100K_1M": 48, "SIZE_WRITE_1M_4M": 4,
        "ACCESS1_COUNT": 48, "ACCESS2_ACCESS": 4 * MIB, "ACCESS2_COUNT": 4,
    }  # fmt: skip
    one = _only(_log(POSIX=[_wrote(**more)]))
    assert (one.transfer, one.transfer_share) == (MIB, 0.75)
    (step,) = imitate(profile_of(_log(POSIX=[_wrote(**more)])))
    assert "4 of 52 calls have another size; they move 25 % of its bytes" in step.missing


def test_files_of_processes_again_and_again() -> None:
    # Each of 4 processes writes its own file three times: twelve files.
    rows = [_wrote(file=10 + i, rank=i % 4, calls=2) for i in range(12)]
    one = _only(_log(POSIX=rows))
    assert (one.files, one.times, one.bytes, one.file_count) == ("per-process", 3, 8 * MIB, 12)
    assert one.ranks is None  # all of them


def test_files_of_some_processes() -> None:
    one = _only(_log(POSIX=[_wrote(file=i, rank=i, calls=2) for i in range(2)]))
    assert (one.files, one.ranks, one.times) == ("per-process", 2, 1)
    # A file that two of four share has a record of each of them.
    one = _only(_log(POSIX=[_wrote(rank=0), _wrote(rank=1)]))
    assert (one.files, one.ranks, one.bytes) == ("shared", 2, 128 * MIB)
    one = _only(_log(POSIX=[_wrote(file=1, rank=3), _wrote(file=2, rank=3)]))
    assert (one.files, one.times, one.bytes) == ("one-process", 2, 64 * MIB)


def test_what_the_application_requested_is_above_posix() -> None:
    """Two processes of four write for all, in calls of 4 MiB; the application's have 64 KiB."""
    asked = {
        "COLL_WRITES": 64, "INDEP_WRITES": 1, "BYTES_WRITTEN": 4 * MIB + 8,
        "SIZE_WRITE_AGG_10K_100K": 64, "SIZE_WRITE_AGG_0_100": 1,
        "ACCESS1_ACCESS": 65536, "ACCESS1_COUNT": 64, "F_WRITE_TIME": 8.0,
    }  # fmt: skip
    below = _wrote(calls=1, size=4 * MIB, F_WRITE_TIME=1.0)
    one = _only(_log(POSIX=[below], MPIIO=[Record(1, ALL_RANKS, asked)]))
    assert (one.library, one.transfer, one.collective) == ("mpi-io", 65536, 1.0)
    assert one.seconds == 2.0  # 8 s of four processes


def test_alignment_and_flush() -> None:
    one = _only(_log(POSIX=[_wrote(FILE_NOT_ALIGNED=16, FSYNCS=4)]))
    assert (one.aligned, one.flush) == (0.75, True)
    assert _only(_log(POSIX=[_wrote()])).flush is False


def test_a_trace_shows_pieces_and_phases() -> None:
    """Two processes, pieces of two calls, twice; 10 s apart in a run of 100 s."""
    traced = [
        Traced(1, rank, [
            Call("write", (4 * n + 2 * rank + half) * MIB, MIB, at, at + 0.5)
            for n in range(2) for half in range(2) for at in [10.0 * n + half]
        ])
        for rank in range(2)
    ]  # fmt: skip
    # The counters alone would say that each call is a piece.
    log = _log(ranks=2, POSIX=[_wrote(calls=8, SEQ_WRITES=8)])
    plain = profile_of(log)
    assert plain.activity[0].piece == MIB
    profile = profile_of(Log(**{**log.__dict__, "traces": traced}))
    assert (profile.activity[0].layout, profile.activity[0].piece) == ("strided", 2 * MIB)
    assert [(p.begin, p.end, p.bytes) for p in profile.phase] == [
        (0.0, 1.5, 4 * MIB), (10.0, 11.5, 4 * MIB),
    ]  # fmt: skip


def test_phases_that_follow_closely_are_one() -> None:
    # 1 % of 100 s is one second.
    reported = phases_of(
        {"write": [(0, 1, 10), (1.9, 3, 10), (4.1, 5, 10)], "read": [(2, 2.5, 1)]}, 100
    )
    assert [(p.access, p.begin, p.end, p.bytes) for p in reported] == [
        ("write", 0, 3, 20), ("read", 2, 2.5, 1), ("write", 4.1, 5, 10),
    ]  # fmt: skip


def test_names_and_time() -> None:
    rows = [
        _wrote(file=1, STATS=3, F_META_TIME=2.0, F_WRITE_TIME=38.0),
        Record(2, 0, {"OPENS": 5, "STATS": 1}),
    ]
    profile = profile_of(_log(POSIX=rows))
    assert (profile.names.creates, profile.names.opens, profile.names.stats) == (1, 6, 4)
    # 40 s of four processes in 100 s.
    assert profile.io_share == 0.1


def test_standard_output_is_not_a_file() -> None:
    row = Record(9, ALL_RANKS, {"OPENS": 4, "WRITES": 10, "BYTES_WRITTEN": 1000})
    with pytest.raises(EffioError, match="the log contains no file"):
        profile_of(_log(STDIO=[row]))
    profile = profile_of(
        _log(STDIO=[row, Record(2, 0, {"OPENS": 1, "WRITES": 4, "BYTES_WRITTEN": 400})])
    )
    (one,) = profile.activity
    assert (one.library, one.transfer, one.files) == ("stdio", 100, "one-process")


def test_what_is_incomplete_is_said() -> None:
    log = _log(POSIX=[_wrote(MMAPS=1)])
    profile = profile_of(Log(**{**log.__dict__, "incomplete": ["POSIX"], "cut": ["DXT_POSIX"]}))
    reported = " / ".join(profile.unknown)
    assert "no room for all records of POSIX" in reported
    assert "DXT_POSIX: the log holds more than is read" in reported
    assert "mmap" in reported


def test_many_kinds_are_cut_to_those_that_matter() -> None:
    rows = [_wrote(file=i, rank=0, calls=1, size=2**i) for i in range(20, 49)]
    profile = profile_of(_log(POSIX=rows))
    assert len(profile.activity) == 20
    assert profile.activity[0].bytes == 2**48
    assert any("9 kinds" in what for what in profile.unknown)


def test_many_small_files_are_one_activity() -> None:
    """However their sizes, and so those of their calls, differ."""
    rows = [_wrote(file=i, rank=0, calls=2, size=2**i) for i in range(1, 19)]
    one = _only(_log(POSIX=rows))
    # 2 (2 + 4 + ... + 2^18) bytes in 18 files, in 36 calls of 29,127.1 bytes in the mean.
    assert (one.files, one.times, one.bytes * 18) == ("one-process", 18, 2 * (2**19 - 2) // 18 * 18)
    assert (one.calls, one.transfer) == (2, (2 * (2**19 - 2) // 18) // 2)
    assert one.file_sizes == (4, 2**11, 2**19)
    assert one.transfer_share is None
    (step,) = imitate(profile_of(_log(POSIX=rows)))
    assert "files of 4 B to 512 KiB (median 2 KiB): all have the mean size" in step.missing


def test_numbers_that_no_run_has() -> None:
    with pytest.raises(EffioError, match="not a complete Darshan log"):
        profile_of(_log(POSIX=[_wrote(BYTES_WRITTEN=2.0**61)]))
    with pytest.raises(EffioError, match="not a complete Darshan log"):
        profile_of(_log(POSIX=[_wrote(STATS=2.0**59)]))
    # Two halves of a byte are not a byte that some process wrote.
    halves = [_wrote(rank=rank, BYTES_WRITTEN=0.5) for rank in (0, 1)]
    assert not profile_of(_log(POSIX=halves)).activity
