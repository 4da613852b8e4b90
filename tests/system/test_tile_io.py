# SPDX-License-Identifier: BSD-3-Clause
"""tile-io from the outside: overlapping tiles, tiles by rows, incomplete files and the classic
program."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from array_tools import need
from engines import Engine

MIB = 1 << 20


def test_tile_io_in_virtual_time_is_the_closed_formula(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Two tiles of 64 x 32 elements of 8 bytes: 16 KiB each."""
    model = "rank-rate=10MB/s,latency=1ms,open=10ms,sync=20ms,close=5ms"
    words = ["--nr-tiles-x", "2", "--sz-tile-x", "64", "--sz-tile-y", "32", "--sz-element", "8"]
    run = any_engine.run(
        [
            *("tile-io", "--quiet", "--backend", "sim", "--backend-options", model),
            *(*words, "--overlap-x", "4", "--calls", "independent,collective", "--dir", data),
        ],
        tmp_path,
    )
    assert run.code == 0, run
    transfer = 1e-3 + 16384 / 10e6
    for calls in ("independent", "collective"):
        for access in ("write", "read"):
            (m,) = run.result.rows(calls=calls, access=access)
            assert m["seconds"]["transfer"]["max"] == pytest.approx(transfer)
            assert m["seconds"]["open"]["max"] == pytest.approx(0.010)
            assert m["seconds"]["close"]["max"] == pytest.approx(0.005)
            assert ("sync" in m["seconds"]) == (access == "write")
            seconds = transfer + (0.020 if access == "write" else 0)
            assert m["rate"]["value"] == pytest.approx(2 * 16384 / seconds)
            assert m["detail"]["transfer_rate_bytes_per_second"] == pytest.approx(
                2 * 16384 / transfer
            )
            assert m["verified_bytes"] == (2 * 16384 if access == "read" else 0)


@pytest.mark.parametrize("backend", ["mpiio", "posix", "hdf5", "pnetcdf"])
def test_tiles_overlap_in_three_dimensions(
    engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    need(engine, backend)
    plain = backend in ("mpiio", "posix")
    words = [
        *("tile-io", "--backend", backend, "--nr-tiles-z", "2", "--sz-tile-z", "3"),
        *("--sz-tile-x", "10", "--sz-tile-y", "7", "--overlap-z", "1", "--sz-element", "5"),
        *("--calls", "independent,collective", "--reader", "shifted", "--dir", data, "--keep"),
        *(("--header-bytes", "100") if plain else ()),
    ]
    run = engine.run(words, tmp_path)
    assert run.code == 0, run
    tile = 3 * 7 * 10 * 5
    for m in run.result.measurements:
        assert m["bytes"] == 2 * tile
        assert m["verified_bytes"] == (2 * tile if m["access"] == "read" else 0)
    # 2 * 3 - 1 planes: the overlap of both tiles is stored once.
    sizes = {f.stat().st_size for f in data.iterdir()}
    if plain:
        assert sizes == {100 + 5 * 7 * 10 * 5}
    first, second = sorted(data.iterdir())
    if plain:
        # No two files hold the same bytes, so that nothing can be stored once for both.
        assert first.read_bytes()[:100] == second.read_bytes()[:100] == bytes(100)
        assert first.read_bytes()[100:] != second.read_bytes()[100:]
        # The same options read the kept file and find the wrong byte.
        whole = bytearray(first.read_bytes())
        whole[100 + 2 * 350 + 17] ^= 1  # in the plane of both tiles
        first.write_bytes(whole)
        again = engine.run([*words, "--phases", "read", "--overwrite"], tmp_path)
        assert again.code == 1, again
        wrong = [m for m in again.result.measurements if m["error_count"]]
        assert len(wrong) == 1
        assert wrong[0]["errors"][0]["offset_bytes"] == 817


def test_tile_io_by_rows_and_in_several_files(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["tile-io", "--nr-tiles-y", "2", "--sz-tile-x", "12", "--sz-tile-y", "6", "--dir", data]
    run = any_engine.run([*words, "--by", "row", "--nr-files", "2", "--keep"], tmp_path)
    assert run.code == 0, run
    # Rows of the whole width are contiguous: one call per tile.
    assert {m["operations"] for m in run.result.measurements} == {2}
    assert [f.stat().st_size for f in sorted(data.iterdir())] == [6 * 12 * 3] * 2
    run = any_engine.run(
        ["tile-io", "--nr-tiles-x", "2", "--sz-tile-y", "6", "--by", "row", "--dir", data], tmp_path
    )
    assert run.code == 0, run
    assert {m["operations"] for m in run.result.measurements} == {2 * 6}


@pytest.mark.parametrize("backend", ["mpiio", "posix"])
def test_a_file_that_is_too_short_or_never_written_is_not_a_rate(
    any_engine: Engine, tmp_path: Path, data: Path, backend: str
) -> None:
    """The count that MPI returns is not a proof: some libraries report success for an empty file.
    A file of the right length whose first half was never written is reported as such."""
    words = ["tile-io", "--nr-tiles-x", "1", "--nr-tiles-y", "2", "--sz-tile-x", "1024"]
    words += ["--sz-tile-y", "128", "--sz-element", "4", "--backend", backend, "--dir", str(data)]
    run = any_engine.run([*words, "--phases", "write", "--keep"], tmp_path)
    assert run.code == 0, run
    (file,) = data.iterdir()
    assert file.stat().st_size == MIB
    reads = [*words, "--phases", "read", "--keep", "--verify", "off"]
    whole = any_engine.run(reads, tmp_path)
    assert whole.result.measurements[0]["cache"].get("hole_fraction", 0) == 0
    with file.open("r+b") as stream:
        second_half = stream.read()[MIB // 2 :]
        stream.truncate(0)
    classic = ["classic", "mpi-tile-io", "--nr_tiles_y", "2", "--sz_tile_x", "1024"]
    classic += ["--sz_tile_y", "128", "--sz_element", "4", "--filename", str(file)]
    for words in (reads, classic):
        empty = any_engine.run(words, tmp_path)
        assert empty.code == 3, empty
        assert "the file holds 0 B, this phase reads up to " in empty.stdout + empty.stderr
        assert all(m["rate"]["value"] is None for m in empty.result.measurements)
    with file.open("r+b") as stream:
        stream.truncate(MIB)
        stream.seek(MIB // 2)
        stream.write(second_half)
        stream.flush()
        os.fsync(stream.fileno())
    holes = any_engine.run(reads, tmp_path)
    assert holes.code == 0, holes
    (m,) = holes.result.measurements
    if "hole_fraction" in m["cache"]:  # the file system reports holes
        assert m["cache"]["hole_fraction"] == pytest.approx(0.5)
        assert "50 % of it holes, never written" in holes.stdout
        rate = holes.result.figure("bandwidth")
        assert rate["reasons"] == ["50 % of it holes, never written"]


def test_the_classic_tile_io(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = [
        *("--nr_tiles_x", "2", "--sz_tile_x=100", "--sz_tile_y", "50", "--overlap_x", "10"),
        *("--sz_element", "4", "--header_bytes", "16", "--filename", data / "tiles"),
    ]
    run = any_engine.run(
        ["classic", "mpi-tile-io", *words, "--write_file", "--collective"], tmp_path
    )
    assert run.code == 0, run
    lines = run.stdout.splitlines()
    assert all(line.startswith("#") for line in lines), run
    assert "# 2 process(es) available, 2 used" in lines
    assert "# 190 x 50 element dataset, 4 bytes per element" in lines
    assert "# 2 x 1 tiles, each tile is 100 x 50 elements" in lines
    assert "# tiles overlap by 10 x 0 elements" in lines
    assert "# collective I/O on" in lines
    (m,) = run.result.measurements
    part = m["seconds"]["transfer"]
    variance = m["detail"]["variance_over_ranks_seconds2"]["transfer"]
    assert variance == pytest.approx((part["max"] - part["min"]) ** 2 / 2, rel=1e-6, abs=1e-15)
    expected = f"# Write: min_t = {part['min']:.6f}, max_t = {part['max']:.6f}"
    assert any(line.startswith(expected) for line in lines), run
    rate = 2 * 100 * 50 * 4 / part["max"] / MIB
    assert f"# Write bandwidth = {rate:.3f} Mbytes/sec" in lines
    assert (data / "tiles").stat().st_size == 16 + 190 * 50 * 4
    run = any_engine.run(["classic", "mpi-tile-io", *words], tmp_path)
    assert run.code == 0, run
    assert "# Read bandwidth = " in run.stdout
    # getopt skips the number behind a flag.
    flags = ["--write_file", "1", "--collective", "1", "--filename", data / "tiles"]
    run = any_engine.run(["classic", "mpi-tile-io", *flags], tmp_path, ranks=1)
    assert run.code == 0, run
    assert "# collective I/O on" in run.stdout.splitlines()
    assert "# Write bandwidth = " in run.stdout
    for flag in ("--write_file", "--collective"):
        for zero in ([flag, "0"], [f"{flag}=0"]):
            words = ["classic", "mpi-tile-io", *zero, "--filename", data / "tiles"]
            run = any_engine.run(words, tmp_path, ranks=1)
            assert run.code == 2, run
            assert f"{flag} 0: {flag} is a flag, and the original ignores the 0" in run.stdout
    bad = any_engine.run(
        ["classic", "mpi-tile-io", "--nr_tiles_x", "0", "--filename", "x"], tmp_path, ranks=1
    )
    assert bad.code == 2
    assert "--nr_tiles_x" in bad.stdout
