# SPDX-License-Identifier: BSD-3-Clause
"""The library comparison from the outside: whole runs with each MPI."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from array_tools import missing
from engines import Engine

SMALL = ("libraries", "--edges", "8", "--quiet")
CUBE = 9 * 8**3 * 8  # bytes of a process


def test_every_library_writes_and_reads_the_same_data(
    engine: Engine, tmp_path: Path, data: Path
) -> None:
    with_hdf5 = not missing(engine, "hdf5", tmp_path)
    if shutil.which(f"h5pcc.{engine.name.split('-')[0]}"):
        assert with_hdf5, "HDF5 for this MPI is installed and not in the engine"
    run = engine.run([*SMALL, "--hint-sets", "none,largeblock", "--dir", data], tmp_path)
    assert run.code == 0, run
    result = run.result
    contenders = {(c["library"], c["hints"]) for c in result.run["libraries"]["contenders"]}
    assert {("mpiio", "none"), ("mpiio", "largeblock"), ("posix-fpp", "none")} <= contenders
    # What a library stands on, one layer down.
    layers = {"mpiio": "posix"}
    if with_hdf5:
        assert {("hdf5", "none"), ("hdf5", "largeblock")} <= contenders
        layers["hdf5"] = "mpiio"
    assert ("posix-fpp", "largeblock") not in contenders
    assert any("posix-fpp" in why for why in result.run["libraries"]["left_out"])
    for library, hints in contenders:
        for processes in (1, 2):
            for access in ("write", "read"):
                where = {"library": library, "hints": hints, "processes": processes}
                (row,) = result.rows(access=access, **where)
                assert row["detail"]["data_bytes"] == processes * CUBE
                assert row["verified_bytes"] == (processes * CUBE if access == "read" else 0)
                assert row["error_count"] == 0
                result.figure("library_bandwidth", access=access, **where)
    for access in ("write", "read"):
        at = {"processes": 2, "access": access, "hints": "none"}
        base = result.figure("library_bandwidth", library="fortran-fpp", **at)["detail"]["seconds"]
        for library, below in layers.items():
            seconds, lower = (
                result.figure("library_bandwidth", library=name, **at)["detail"]["seconds"]
                for name in (library, below)
            )
            over = result.figure("overhead", library=library, **at)["metric"]["value"]
            assert over == pytest.approx(seconds / base - 1)
            layer = result.figure("layer_seconds", library=library, **at)
            assert layer["metric"]["value"] == pytest.approx(seconds - lower)
    # Record marks: eight bytes for each of nine variables.
    (row,) = result.rows(access="write", library="fortran-fpp", processes=2)
    assert row["bytes"] == 2 * (CUBE + 9 * 8)
    # A hint that was asked for stands in the result, with what was granted beside it.
    for library in layers:
        (row,) = result.rows(access="write", library=library, hints="largeblock", processes=2)
        assert row["hints_asked"] == {"IBM_largeblock_io": "true"}
    assert list(data.iterdir()) == []


def test_strong_scaling_and_readers_elsewhere(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    any_engine.needs_ranks(3)
    run = any_engine.run(
        [
            *SMALL,
            "--scaling",
            "strong",
            "--processes",
            "1,2,3",
            "--reader",
            "shifted",
            "--dir",
            data,
            "--libraries",
            "mpiio,posix-fpp",
            "--hint-sets",
            "none",
            "--repetitions",
            "2",
        ],
        tmp_path,
        ranks=3,
    )
    assert run.code == 0, run
    assert {m["detail"]["data_bytes"] for m in run.result.measurements} == {3 * CUBE}
    first = [m["where"]["library"] for m in run.result.rows(repetition=0, processes=2)]
    second = [m["where"]["library"] for m in run.result.rows(repetition=1, processes=2)]
    assert first == ["mpiio", "mpiio", "posix-fpp", "posix-fpp"]
    assert second == ["posix-fpp", "posix-fpp", "mpiio", "mpiio"]


def test_virtual_time_is_the_closed_formula(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(
        [
            *SMALL,
            "--libraries",
            "sim",
            "--hint-sets",
            "none",
            "--dir",
            data,
            "--backend-options",
            "rank-rate=100MB/s,open=10ms,sync=20ms,close=5ms",
        ],
        tmp_path,
    )
    assert run.code == 0, run
    for processes in (1, 2):
        (row,) = run.result.rows(access="write", processes=processes)
        seconds = 0.015 + CUBE / 100e6
        assert row["detail"]["by_definition_seconds"] == pytest.approx(seconds)
        assert row["seconds"]["total"]["max"] == pytest.approx(seconds + 0.020)
        assert row["rate"]["value"] == pytest.approx(processes * CUBE / seconds)


def test_kept_files_stay_and_are_not_overwritten_unasked(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = [*SMALL, "--libraries", "posix,posix-fpp", "--hint-sets", "none", "--dir", data]
    run = any_engine.run([*words, "--keep"], tmp_path)
    assert run.code == 0, run
    names = {p.name for p in data.iterdir()}
    assert names == {
        "libraries_posix_none",
        "libraries_posix-fpp_none.000",
        "libraries_posix-fpp_none.001",
    }
    again = tmp_path / "again"
    again.mkdir()
    refused = any_engine.run(words, again)
    assert refused.code != 0
    assert {p.name for p in data.iterdir()} == names
    run = any_engine.run([*words, "--overwrite"], again)
    assert list(data.iterdir()) == [], run


def test_too_much_and_faulty_options_are_refused(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = [*SMALL, "--dir", data]
    run = any_engine.run([*words, "--max-bytes", "10KiB"], tmp_path)
    assert run.code == 3
    assert "a file needs" in run.stderr
    out = tmp_path / "processes"
    out.mkdir()
    run = any_engine.run([*words, "--processes", "3"], out)
    assert run.code == 2
    assert "more than the 2 ranks" in run.stderr
    refused = any_engine.alone([*words, "--hint-set", "mine"], tmp_path)
    assert refused.code == 2
    assert "--hint-set" in refused.stderr
