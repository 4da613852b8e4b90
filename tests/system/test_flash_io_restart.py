# SPDX-License-Identifier: BSD-3-Clause
"""Restarts of FLASH I/O in their own runs: files that an earlier run left, read by other numbers
of ranks, and what is wrong with them."""

from __future__ import annotations

import os
import struct
import tempfile
from functools import cache
from pathlib import Path

import h5py  # type: ignore[import-untyped]
import pytest

from array_tools import BACKENDS, BY_MPI_IO, WITHOUT_MPI_IO, io_error_of, need
from engines import Engine, Run

WORDS = ("flash-io", "--blocks", "3", "--cells", "4", "--fill", "index", "--quiet")
READ = (*WORDS, "--write", "off", "--read", "checkpoint", "--agree-deadline", "3s")
# Of one block (docs/definitions/flash-io.md), with 4 x 4 x 4 cells.
CHECKPOINT = 24 * 8 * 4**3 + 164

CHECKPOINTS = {
    "pnetcdf": "flash_io_ncmpi_chk_0000.nc",
    **{b: f"flash_io_{b}_chk_0000" for b in ("hdf5", "netcdf4", "mpiio", "posix", "sion")},
    **{b: f"flash_io_{b}_chk_0000.001" for b in ("posix-fpp", "fortran-fpp")},
}
DESCRIBED = ("pnetcdf", "hdf5", "netcdf4")


@cache
def _kept(engine: Engine, backend: str, words: tuple[str, ...]) -> dict[str, bytes]:
    """The files that a run with --keep leaves, by name: each such run is made once."""
    with tempfile.TemporaryDirectory(prefix="effio-test-") as name:
        place = Path(name)
        data = place / "data"
        data.mkdir()
        files = ("--files", "checkpoint", "--keep", "--dir", data)
        run = engine.run([*WORDS, *files, "--backend", backend, *words], place)
        assert run.code == 0, run
        return {path.name: path.read_bytes() for path in data.iterdir()}


def leave(engine: Engine, backend: str, data: Path, *words: str) -> Path:
    """The checkpoint that a run with --keep leaves; of one file per process that of rank 1."""
    need(engine, backend)
    for name, content in _kept(engine, backend, words).items():
        (data / name).write_bytes(content)
    return data / CHECKPOINTS[backend]


def restart(engine: Engine, backend: str, tmp_path: Path, data: Path, *words: object) -> Run:
    return engine.run([*READ, "--backend", backend, "--dir", data, *words], tmp_path)


def refused(run: Run, checkpoint: Path, *causes: str) -> None:
    """Ended by itself with an I/O error that names who, where and why; nothing was removed."""
    error = io_error_of(run)
    assert Path(error["path"]).name == checkpoint.name
    assert any(cause in error["cause"] for cause in causes), error
    # The same for those who look at the terminal only.
    assert error["cause"].splitlines()[0] in run.stderr
    (row,) = run.result.measurements
    assert not row["valid"]
    assert row["rate"]["value"] is None
    assert checkpoint.exists()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_later_run_reads_and_verifies_what_was_kept(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    leave(any_engine, backend, data, "--dumps", "2", "--repetitions", "2")
    before = {p: p.stat().st_mtime_ns for p in data.iterdir()}
    run = restart(any_engine, backend, tmp_path, data, "--dumps", "2", "--repetitions", "2")
    assert run.code == 0, run
    rows = run.result.measurements
    # The last checkpoint in each repetition, and nothing else.
    assert [(m["access"], m["where"]["dump"], m["repetition"]) for m in rows] == [
        ("read", 1, 1),
        ("read", 1, 2),
    ]
    # The header of the HDF5 structure, 192 bytes, is read by both ranks.
    header = 2 * (60 + 4 * 24 + 36) if backend == "hdf5" else 0
    assert [m["verified_bytes"] for m in rows] == [7 * CHECKPOINT + header] * 2
    assert run.result.figure("flash_io_restart")["metric"]["value"] > 0
    assert "--write=off" in run.result.figure("flash_io")["metric"]["reason"]
    assert {p: p.stat().st_mtime_ns for p in data.iterdir()} == before


@pytest.mark.parametrize("backend", BACKENDS)
def test_other_numbers_of_ranks_read(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    """Three ranks wrote 3 + 4 + 5 blocks; fewer ranks read them, and more."""
    any_engine.needs_ranks(4)
    need(any_engine, backend)
    run = any_engine.run([*WORDS, "--keep", "--dir", data, "--backend", backend], tmp_path, ranks=3)
    assert run.code == 0, run
    for ranks in (2, 4):
        out = tmp_path / str(ranks)
        out.mkdir()
        words = [*WORDS, "--write", "off", "--read", "all", "--writers", "3"]
        run = any_engine.run([*words, "--dir", data, "--backend", backend], out, ranks=ranks)
        assert run.code == 0, run
        (checkpoint,) = run.result.rows(pattern="checkpoint")
        header = ranks * (60 + 4 * 24 + 36) if backend == "hdf5" else 0
        assert checkpoint["verified_bytes"] == 12 * CHECKPOINT + header


@pytest.mark.parametrize("backend", BY_MPI_IO)
def test_a_file_that_was_cut_short(mpi: Engine, backend: str, tmp_path: Path, data: Path) -> None:
    check_cut_short(mpi, backend, tmp_path, data)


@pytest.mark.parametrize("backend", WITHOUT_MPI_IO)
def test_a_file_without_mpi_io_that_was_cut_short(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    check_cut_short(any_engine, backend, tmp_path, data)


def check_cut_short(engine: Engine, backend: str, tmp_path: Path, data: Path) -> None:
    checkpoint = leave(engine, backend, data)
    os.truncate(checkpoint, checkpoint.stat().st_size // 2)
    refused(
        restart(engine, backend, tmp_path, data),
        checkpoint,
        "truncated file",
        "the file is too short",
        "the file ends after",
    )


@pytest.mark.parametrize("backend", DESCRIBED)
def test_a_file_of_a_version_that_is_not_known(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    """The byte with the version: of the superblock of HDF5, of the magic number of CDF."""
    checkpoint = leave(any_engine, backend, data)
    with checkpoint.open("r+b") as file:
        file.seek(3 if backend == "pnetcdf" else 8)
        file.write(b"\x63")
    refused(
        restart(any_engine, backend, tmp_path, data),
        checkpoint,
        "superblock version",
        "ormat",
        "NetCDF",
    )


def test_a_variable_that_is_not_there(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    def rename(checkpoint: Path) -> None:
        content = checkpoint.read_bytes()
        assert content.count(b"velx") == 1
        checkpoint.write_bytes(content.replace(b"velx", b"velw"))  # keeps the order of names

    for backend in ("pnetcdf", "hdf5"):
        out = tmp_path / backend
        out.mkdir()
        place = data / backend
        place.mkdir()
        # Without the list of names that the original's structure has.
        words = ("--structure", "netcdf")
        checkpoint = leave(any_engine, backend, place, *words)
        rename(checkpoint)
        run = restart(any_engine, backend, out, place, *words)
        refused(run, checkpoint, "there is no variable 'velx'")


@pytest.mark.parametrize("backend", DESCRIBED)
def test_a_mesh_of_another_size(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    checkpoint = leave(any_engine, backend, data)
    words = ["4" if word == WORDS[2] else word for word in READ]  # --blocks
    run = any_engine.run([*words, "--backend", backend, "--dir", data], tmp_path)
    refused(run, checkpoint, "has extents (7")


def test_a_record_mark_that_is_wrong(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    checkpoint = leave(any_engine, "fortran-fpp", data)
    with checkpoint.open("r+b") as file:
        file.write(b"\x11")  # rank 1 has four blocks: a record of 16 bytes comes first
    run = restart(any_engine, "fortran-fpp", tmp_path, data)
    refused(run, checkpoint, "the record mark is 17, expected 16")
    assert run.result.end is not None
    assert run.result.end["errors"][0]["rank"] == 1


def test_the_mark_behind_a_record_is_checked(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    checkpoint = leave(any_engine, "fortran-fpp", data)
    content = bytearray(checkpoint.read_bytes())
    content[-4] ^= 1
    checkpoint.write_bytes(content)
    run = restart(any_engine, "fortran-fpp", tmp_path, data)
    block = 4 * 4**3 * 8  # of four blocks of 4^3 doubles
    refused(run, checkpoint, f"the record mark is {block ^ 1}, expected {block}")


@pytest.mark.parametrize("backend", ["posix-fpp", "fortran-fpp"])
def test_files_of_more_writers_are_not_left_out(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    leave(any_engine, backend, data)  # of two ranks
    out = tmp_path / "again"
    out.mkdir()
    words = [*READ, "--backend", backend, "--writers", "1", "--dir", data]
    run = any_engine.run(words, out)
    assert run.code == 2, run
    assert "one more than 1 writer" in run.stderr


@pytest.mark.parametrize("name", ["total_blocks", "nsteps", "nxb", "time"])
def test_what_is_next_to_the_blocks_is_checked(
    any_engine: Engine, name: str, tmp_path: Path, data: Path
) -> None:
    """CDF-5 keeps an attribute as its name, padded to four bytes, type and count, and its value
    with the highest byte first."""
    need(any_engine, "pnetcdf")
    checkpoint = leave(any_engine, "pnetcdf", data)
    content = bytearray(checkpoint.read_bytes())
    named = len(name).to_bytes(8, "big") + name.encode()
    at = content.index(named) + 8 + (len(name) + 3) // 4 * 4 + 4 + 8
    content[at + 1] ^= 0x10
    checkpoint.write_bytes(content)
    run = restart(any_engine, "pnetcdf", tmp_path, data)
    assert run.code == 1, run
    (row,) = run.result.measurements
    assert f"attribute {name}: expected" in row["errors"][0]["cause"]
    assert row["error_count"] == 2  # each rank reads it


@pytest.mark.parametrize("value", ["many", "endless"])
def test_attributes_are_not_believed(
    any_engine: Engine, value: str, tmp_path: Path, data: Path
) -> None:
    """HDF5 writes as many values into the caller's memory as the file has."""
    words = ("--structure", "netcdf")
    checkpoint = leave(any_engine, "hdf5", data, *words)
    with h5py.File(checkpoint, "r+", libver="latest") as file:
        name = "nxb" if value == "many" else "file_creation_time"
        assert name in file.attrs
        del file.attrs[name]
        if value == "many":
            file.attrs[name] = [7] * 1000
        else:
            file.attrs[name] = "a text of any length"  # stored elsewhere: a read returns a pointer
    causes = {"many": "it is not one value"}
    run = restart(any_engine, "hdf5", tmp_path, data, *words)
    refused(run, checkpoint, causes.get(value, "its length differs from what this program writes"))


def end_of_last_variable(checkpoint: Path, backend: str) -> int:
    """Where the last variable ends in its file, in bytes."""
    if backend in ("hdf5", "netcdf4"):
        with h5py.File(checkpoint) as file:
            stored = file["f13_"].id
            return int(stored.get_offset() + stored.get_storage_size())
    if backend == "sion":  # two tasks with a chunk each, whose use the tail records
        content = checkpoint.read_bytes()
        (tail,) = struct.unpack_from("<q", content, 1112)
        (chunk,) = struct.unpack_from("<q", content, 1076 + 3 * 8)
        return int(tail - chunk + struct.unpack_from("<q", content, tail + 3 * 8)[0])
    # It ends the file, but for the mark of its record.
    return checkpoint.stat().st_size - (4 if backend == "fortran-fpp" else 0)


@pytest.mark.parametrize("backend", BACKENDS)
def test_misplaced_blocks_are_wrong_values(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    """Two blocks of one variable change places: every cell of both is wrong."""
    checkpoint = leave(any_engine, backend, data)
    content = bytearray(checkpoint.read_bytes())
    block = 4**3 * 8
    end = end_of_last_variable(checkpoint, backend)
    content[end - 2 * block : end] = (
        content[end - block : end] + content[end - 2 * block : end - block]
    )
    checkpoint.write_bytes(content)
    run = restart(any_engine, backend, tmp_path, data)
    assert run.code == 1, run
    assert run.result.status == "data_errors"
    (row,) = run.result.measurements
    assert row["error_count"] == 2 * 4**3
    (error,) = row["errors"]
    assert error["rank"] == 1
    assert "variable f13_, block 5, element 0: expected" in error["cause"]


def test_files_that_are_not_there_and_options_that_do_not_fit(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = restart(any_engine, "mpiio", tmp_path, data)
    assert run.code == 3, run
    assert CHECKPOINTS["mpiio"] in run.stderr
    for words, text in (
        (["--write", "off"], "--write=off needs --read"),
        (["--read", "checkpoint", "--files", "plot-corner"], "--files has no checkpoint"),
        (["--read", "all", "--writers", "3"], "--writers needs --write=off"),
    ):
        run = any_engine.alone(["flash-io", *words], tmp_path)
        assert run.code == 2, run
        assert text in run.stderr
