# SPDX-License-Identifier: BSD-3-Clause
"""System calls that fail, move too little or something else: found, reported, and no good-looking
number. What the fault is comes from faulty_calls.c; what MPI libraries make of it differs."""

from __future__ import annotations

import pytest

from b_eff_io_definition import check_files
from results import Result

from .conftest import Faulty, check_failed

MIB = 1 << 20


def invalid_rows(result: Result) -> list[int]:

    return [m["where"]["row"] for m in result.measurements if not m["valid"]]


@pytest.mark.parametrize(("place", "double"), [(MIB, MIB), (2 * MIB - 3, 2 * MIB - 8)])
def test_one_checked_double_is_wrong(any_faulty: Faulty, place: int, double: int) -> None:
    """The first or last double of rank 1's chunk in row 0 of the scatter file, on its way to the
    file."""
    run = any_faulty.run(f"write,flip={place},file=data_i00_002_0")
    assert any_faulty.strikes, "the fault never came to pass"
    assert run.code == 1, run
    result = run.result
    assert result.status == "data_errors"
    wrong = [m for m in result.measurements if m["error_count"] > 0]
    assert [(m["access"], m["where"]["row"], m["error_count"]) for m in wrong] == [("read", 0, 1)]
    (error,) = wrong[0]["errors"]
    assert error["offset_bytes"] == double
    assert error["rank"] == 1
    # The end of the result says the same for those who look there.
    assert result.end is not None
    assert result.end["errors"] == [error]
    figure = result.figure("b_eff_io")
    assert figure["valid"] is False
    assert "not reached: no errors (this run: 1)" in figure["reasons"]
    assert list(any_faulty.data.iterdir()) == []


def test_any_flipped_byte_is_found_by_full_verification(any_faulty: Faulty) -> None:
    """A byte between the marks: the definition's check cannot see it, the full one does."""
    place = 5 * MIB + 1234  # within row 1, call 0, of the scatter file
    fault = f"write,flip={place},file=data_i00_002_0"
    run = any_faulty.run(fault)
    assert any_faulty.strikes
    assert run.code == 0, "the definition checks the first and the last double of a chunk only"
    run = any_faulty.run(fault, "--verify", "full", "-o", "verified.jsonl")
    assert run.code == 1, run
    (error,) = run.result.end["errors"] if run.result.end else [None]
    assert error is not None
    assert error["offset_bytes"] == place
    assert "1 wrong byte in the call" in error["cause"]
    # Both the first write (read back before the rewrite) and the rewrite are found.
    assert "not reached: no errors (this run: 2)" in run.result.figure("b_eff_io")["reasons"]


def test_collective_writes_fail(faulty: Faulty) -> None:
    """ENOSPC from the fifth call on. OMPIO reports success with the full count: the size of the
    file shows it."""
    run = faulty.run("write,error=28,from=5,file=data_i00_002_0")
    assert faulty.strikes
    check_failed(run, faulty.data)
    (bad,) = invalid_rows(run.result)
    assert run.result.measurements[-1]["where"]["row"] == bad
    assert "b_eff_io_data_i00_002_0" in run.result.measurements[-1]["invalid_reason"]


def test_an_independent_write_fails_on_one_rank(faulty: Faulty) -> None:
    run = faulty.run("write,error=5,nth=3,rank=1,file=data_i00_002_3")
    assert faulty.strikes == ["write rank 1"]
    check_failed(run, faulty.data)
    # One call a row: the third row of type 3.
    assert invalid_rows(run.result) == [27]
    assert run.result.end is not None
    (error,) = run.result.end["errors"]
    assert error["rank"] == 1
    assert error["operation"] == "MPI_File_write"


def test_short_writes_are_completed_or_found(faulty: Faulty) -> None:
    """A system call may move less than it was asked to. ROMIO moves the rest; OMPIO does
    not, which is found by the count, the size or the data."""
    run = faulty.run("write,short,nth=2,file=data_i00_002_0", "--keep", "--verify", "full")
    assert faulty.strikes
    if run.code == 0:
        assert faulty.engine.name != "openmpi-ompio"
        check_files(run.result, faulty.data, 0, 2, 2 * MIB)
        return
    assert run.code in (1, 3), run
    assert run.result.figure("b_eff_io")["valid"] is False
    assert run.result.end is not None
    assert "b_eff_io_data_i00_002_0" in run.result.end["errors"][0]["path"]


def test_half_of_a_write_is_lost(faulty: Faulty) -> None:
    """The system says that all was written. In the middle of a file only data show it, and where
    the library makes several calls of one, only full verification."""
    words = ("--verify", "full")
    run = faulty.run("write,lost,nth=2,rank=0,file=data_i00_002_3", *words)
    assert faulty.strikes == ["write rank 0"]
    assert run.code == 1, run
    result = run.result
    assert result.status == "data_errors"
    assert result.figure("b_eff_io")["valid"] is False
    assert result.end is not None
    assert "wrong data in row 26" in result.end["errors"][0]["cause"]


def test_a_sync_fails_on_one_rank(faulty: Faulty) -> None:
    """After it OMPIO's other ranks never return from MPI_File_sync; the run ends all the same."""
    run = faulty.run("sync,error=5,nth=2,rank=0,file=data_i00_002_0")
    assert faulty.strikes == ["sync rank 0"]
    assert run.code == 3, run
    assert run.result.status == "io_error"
    assert run.result.end is not None
    (error,) = run.result.end["errors"]
    assert error["operation"] == "MPI_File_sync"
    assert error["rank"] == 0
    # Row 0 was complete; row 1 is INVALID or, if its other ranks hang, was never finished.
    assert [m["where"]["row"] for m in run.result.measurements if m["valid"]] == [0]
    assert list(faulty.data.iterdir()) == [], run


def test_a_read_fails_on_one_rank(faulty: Faulty) -> None:
    run = faulty.run("read,error=5,nth=2,rank=1,file=data_i00_002_2.001")
    assert faulty.strikes == ["read rank 1"]
    check_failed(run, faulty.data)
    assert invalid_rows(run.result) == [18]
    # What was written before stays good.
    written = run.result.rows(access="write")
    assert len(written) == 43
    assert all(m["valid"] for m in written)


def test_no_shared_pointer_here(any_faulty: Faulty) -> None:
    """The probe sees that ordered calls fail: individual pointers take their place, the data are
    where they belong, and the number does not count officially."""
    run = any_faulty.run("ordered,error=5", "--keep")
    assert any_faulty.strikes
    assert run.code == 0, run
    figure = run.result.figure("shared_file_pointer")
    assert figure["metric"]["value"] == 0
    assert figure["detail"]["used"] is False
    assert "MPI_File_write_ordered" in figure["detail"]["note"]
    reported = "not reached: shared file pointers in pattern type shared"
    assert reported in run.result.figure("b_eff_io")["reasons"]
    check_files(run.result, any_faulty.data, 0, 2, 2 * MIB)


def test_the_result_file_cannot_be_written(any_faulty: Faulty) -> None:
    """The measurement continues, but the run does not end as if nothing had happened."""
    run = any_faulty.run("write,error=28,from=20,file=.jsonl")
    assert run.code == 7, run
    assert "results from here on are not in it" in run.stderr
    (result,) = run.results
    assert 0 < len(result.measurements) < 20
    assert result.end is None
    assert list(any_faulty.data.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("create,error=4,nth=1+2,rank=1", ("ior", "--files", "per-process", "--sync", "end")),
        ("sync,error=4,nth=1+2,rank=1", ("ior", "--files", "per-process", "--sync", "end")),
        ("sync,error=4,nth=1", ("mdtest", "--items", "2", "--write-bytes", "8", "--sync-files")),
        ("sync,error=4,nth=1", ("libraries", "--libraries", "posix-fpp", "--fsync", "on")),
    ],
)
def test_a_call_that_a_signal_interrupts_is_made_again(
    any_faulty: Faulty, fault: str, words: tuple[str, ...]
) -> None:
    """As reads and writes are. EINTR says that nothing was done."""
    run = any_faulty.launch(fault, [*words, "--dir", any_faulty.data])
    assert any_faulty.strikes, "the fault never came to pass"
    assert run.code == 0, run
    assert all(m["valid"] for m in run.result.measurements)
