# SPDX-License-Identifier: BSD-3-Clause
"""The files of FLASH I/O against those of other writers: the original's program or its files where
the environment names them, and files that were made from the description alone.

EFFIO_FLASH_IO        the PnetCDF port's program, built for block edge 8 and this MPI
EFFIO_FLASH_IO_FILES  files, separated by ":", that an original wrote with 2 ranks, 80 blocks and
                      block edge 8; the end of a name says which: hdf5_chk_0000,
                      ncmpi_plt_cnt_0000.nc, …
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from array_tools import need, tool
from engines import Engine
from patience import SECONDS

from .flash_io_by_the_book import Dump, write_hdf5, write_netcdf

KINDS = ("chk", "plt_cnt", "plt_crn")
# What the HDF5 original has there is not described: the date of its run, and its name.
UNKNOWN = ("--exclude-path", "/file creation time", "--exclude-path", "/FLASH version")


def written(engine: Engine, backend: str, tmp_path: Path, *words: object) -> dict[str, Path]:
    """The three files of a run of ours, by kind."""
    need(engine, backend)
    place = tmp_path / "ours"
    place.mkdir()
    files = ("--backend", backend, "--keep", "--dir", place, "--quiet")
    run = engine.run(["flash-io", *files, *words], tmp_path)
    assert run.code == 0, run
    stem, end = ("ncmpi", ".nc") if backend == "pnetcdf" else (backend, "")
    return {kind: place / f"flash_io_{stem}_{kind}_0000{end}" for kind in KINDS}


def differ(*words: object) -> bool:
    """Whether ncmpidiff or h5diff finds differences; their troubles are failures."""
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"no {words[0]} here")
    done = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "not comparable" not in done.stdout or done.returncode == 1, done.stdout
    return done.returncode == 1


def change(path: Path, variable: int) -> None:
    """Another value for one cell of the checkpoint's variable."""
    import struct

    content = path.read_bytes()
    at = content.index(struct.pack(">d" if path.suffix == ".nc" else "<d", variable) * 64)
    path.write_bytes(content[:at] + bytes(8) + content[at + 8 :])


def test_netcdf_files_are_as_described(any_engine: Engine, tmp_path: Path) -> None:
    if shutil.which("ncmpigen") is None:
        pytest.skip("no ncmpigen here")
    ours = written(any_engine, "pnetcdf", tmp_path, "--blocks", "3")
    for kind, path in ours.items():
        book = tmp_path / f"book_{kind}.nc"
        write_netcdf(Dump(kind, 7, 8), book)
        assert not differ("ncmpidiff", book, path)
        # To the byte, but for space that one of the two leaves behind its header.
        data = book.stat().st_size - path.stat().st_size
        assert abs(data) < 512
    change(tmp_path / "book_chk.nc", 5)
    assert differ("ncmpidiff", tmp_path / "book_chk.nc", ours["chk"])


def test_hdf5_files_are_as_described(any_engine: Engine, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    ours = written(any_engine, "hdf5", tmp_path, "--blocks", "3")
    for kind, path in ours.items():
        book = tmp_path / f"book_{kind}"
        write_hdf5(Dump(kind, 7, 8), book)
        assert not differ("h5diff", book, path)
    change(tmp_path / "book_chk", 5)
    assert differ("h5diff", tmp_path / "book_chk", ours["chk"])


def test_a_dataset_more_is_a_difference(any_engine: Engine, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    ours = written(any_engine, "hdf5", tmp_path, "--blocks", "3")
    write_hdf5(Dump("chk", 7, 8), tmp_path / "book")
    with h5py.File(tmp_path / "book", "a") as file:
        file["f14_"] = [1.0]
    assert differ("h5diff", tmp_path / "book", ours["chk"])


def originals() -> list[Path]:
    return [Path(p) for p in os.environ.get("EFFIO_FLASH_IO_FILES", "").split(":") if p]


def test_files_equal_those_that_an_original_left(engine: Engine, tmp_path: Path) -> None:
    if not originals():
        pytest.skip("EFFIO_FLASH_IO_FILES names no files of an original")
    ours: dict[str, dict[str, Path]] = {}
    for theirs in originals():
        found = re.search(r"(ncmpi|hdf5)_(chk|plt_cnt|plt_crn)_\d{4}(\.nc)?$", theirs.name)
        assert found, f"{theirs}: the name is that of no kind of file of FLASH I/O"
        backend = "pnetcdf" if found[1] == "ncmpi" else "hdf5"
        if backend not in ours:
            place = tmp_path / backend
            place.mkdir()
            ours[backend] = written(engine, backend, place)
        words = ("ncmpidiff",) if backend == "pnetcdf" else ("h5diff", *UNKNOWN)
        assert not differ(*words, theirs, ours[backend][found[2]])


def test_files_equal_those_that_the_original_writes(any_engine: Engine, tmp_path: Path) -> None:
    original = os.environ.get("EFFIO_FLASH_IO")
    if not original:
        pytest.skip("EFFIO_FLASH_IO names no program of an original")
    ours = written(any_engine, "pnetcdf", tmp_path)
    prefix = tmp_path / "theirs_"
    theirs = any_engine.run(["-f", prefix], tmp_path, program=Path(original))
    assert theirs.code == 0, theirs
    for kind, path in ours.items():
        assert not differ("ncmpidiff", path, f"{prefix}ncmpi_{kind}_0000.nc")


def test_sizes_are_the_rows_of_the_formula(any_engine: Engine, tmp_path: Path) -> None:
    """docs/definitions/flash-io.md, 4 ranks, block edge 8: 30.33, 2.56 and 3.63 MiB, 36.52 MiB in
    all."""
    any_engine.needs_ranks(4)
    need(any_engine, "pnetcdf")
    words = ["classic", "flash_benchmark_io", "-f", tmp_path / "it_"]
    run = any_engine.run(words, tmp_path, ranks=4)
    assert run.code == 0, run
    amounts = re.findall(r"I/O amount +: +([\d.]+)  MiB", run.stdout)
    assert amounts == ["30.33", "2.56", "3.63", "36.52"]
    for kind, size in zip(KINDS, amounts, strict=False):
        path = tmp_path / f"it_ncmpi_{kind}_0000.nc"
        assert f"{path.stat().st_size / 2**20:.2f}" == size
        assert "is a valid NetCDF" in tool("ncvalidator", path)
