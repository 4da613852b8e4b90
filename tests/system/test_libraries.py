# SPDX-License-Identifier: BSD-3-Clause
"""The library comparison from the outside: whole runs with each MPI."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from statistics import fmean, stdev

import pytest

from array_tools import missing, need
from engines import Engine

SMALL = ("libraries", "--edges", "8", "--quiet")
CUBE = 9 * 8**3 * 8  # bytes of a process


def test_a_container_is_compared_with_files_of_processes(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = [*SMALL, "--libraries", "posix-fpp,sion", "--hint-sets", "none", "--processes", "2"]
    words += ["--hint-set", "big:sion.byte-order=big", "--keep"]
    words += ["--hint-set", "collected:sion.collector-tasks=2"]
    run = any_engine.run([*words, "--dir", data], tmp_path)
    assert run.code == 0, run
    for library in ("posix-fpp", "sion"):
        (row,) = run.result.rows(access="read", library=library, hints="none")
        assert row["verified_bytes"] == 2 * CUBE
    for hints, collectors in (("none", 2), ("collected", 1)):
        for access in ("write", "read"):
            (row,) = run.result.rows(access=access, library="sion", hints=hints)
            assert row["verified_bytes"] == (2 * CUBE if access == "read" else 0)
            assert row["detail"]["library"]["collectors"] == collectors
    # A head of 1120 bytes and a tail of 32; head and chunks are whole blocks.
    (row,) = run.result.rows(access="write", library="sion", hints="none")
    assert row["bytes"] == 2 * CUBE + 1120 + 32
    block = row["detail"]["library"]["block_bytes"]
    assert row["detail"]["hole_bytes"] == -1120 % block + 2 * (-CUBE % block)
    for hints, order in (("none", "little"), ("big", "big"), ("collected", "little")):
        container = data / f"libraries_sion_{hints}"
        listed = any_engine.alone(["sion", "ls", container, "--json"], tmp_path)
        found = json.loads(listed.stdout)
        assert found["metadata_order"] == order
        assert [task["bytes"] for task in found["tasks"]] == [CUBE, CUBE]


def test_every_library_writes_and_reads_the_same_data(
    engine: Engine, tmp_path: Path, data: Path
) -> None:
    with_hdf5 = not missing(engine, "hdf5")
    if shutil.which(f"h5pcc.{engine.name.split('-')[0]}"):
        assert with_hdf5, "HDF5 for this MPI is installed and not in the engine"
    run = engine.run([*SMALL, "--hint-sets", "none,largeblock", "--dir", data], tmp_path)
    assert run.code == 0, run
    result = run.result
    contenders = {(c["library"], c["hints"]) for c in result.run["libraries"]["contenders"]}
    assert {("mpiio", "none"), ("mpiio", "largeblock"), ("posix-fpp", "none")} <= contenders
    # What a library uses, one layer down.
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
        base = result.figure("library_bandwidth", library="fortran-fpp", **at)["metric"]["value"]
        for library, below in layers.items():
            seconds, lower = (
                result.figure("library_bandwidth", library=name, **at)["detail"]["mean_seconds"]
                for name in (library, below)
            )
            over = result.figure("overhead", library=library, **at)
            rate = result.figure("library_bandwidth", library=library, **at)["metric"]["value"]
            assert over["metric"]["value"] == pytest.approx(base / rate - 1)
            assert over["detail"]["ratio_of"] == "mean rates"
            assert over["samples"]["count"] == 1
            assert "measured once" in over["detail"]["interval"]["none"]
            layer = result.figure("layer_seconds", library=library, **at)
            assert layer["metric"]["value"] == pytest.approx(seconds - lower)
    # Record marks: eight bytes for each of nine variables.
    (row,) = result.rows(access="write", library="fortran-fpp", processes=2)
    assert row["bytes"] == 2 * (CUBE + 9 * 8)
    # A hint that was requested is in the result, with what was granted next to it.
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
    first = [m["where"]["library"] for m in run.result.rows(repetition=1, processes=2)]
    second = [m["where"]["library"] for m in run.result.rows(repetition=2, processes=2)]
    # Writes and reads; the second order mirrors the first.
    assert first == ["mpiio", "mpiio", "posix-fpp", "posix-fpp"]
    assert second == ["posix-fpp", "posix-fpp", "mpiio", "mpiio"]
    # The warm-up is not among the measurements: two libraries, three numbers of processes.
    assert run.result.run["libraries"]["warm_up_edge"] == 32
    assert len(run.result.measurements) == 2 * 2 * 3 * 2


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


def test_kept_files_stay_and_are_not_overwritten_without_request(
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
    assert run.code == 2
    assert "--max-bytes: 10KiB is too small: the files need" in run.stderr
    assert list(tmp_path.glob("*.jsonl")) == []
    out = tmp_path / "processes"
    out.mkdir()
    run = any_engine.run([*words, "--processes", "3"], out)
    assert run.code == 2
    assert "more than the 2 ranks" in run.stderr
    for faulty in ("mine", "x/../../esc:a=b", "none:a=b"):
        refused = any_engine.alone([*words, "--hint-set", faulty], tmp_path)
        assert refused.code == 2
        assert "hint set" in refused.stderr or "--hint-set" in refused.stderr


def _interval(ratios: list[float], t: float) -> tuple[float, float]:
    """The interval of the mean of the logarithms, with this many standard errors."""
    logs = [math.log(r) for r in ratios]
    half = t * stdev(logs) / math.sqrt(len(logs))
    return fmean(logs) - half, fmean(logs) + half


def test_a_set_changes_a_model_by_what_it_says(any_engine: Engine, tmp_path: Path) -> None:
    """In virtual time equal sets gain nothing, and twice the rate is twice the rate."""
    run = any_engine.run(
        [
            *(*SMALL, "--libraries", "sim", "--hint-sets", "none", "--repetitions", "5"),
            *("--backend-options", "rank-rate=100MB/s", "--read", "off"),
            *("--hint-set", "same:sim.rank-rate=100MB/s,twice:sim.rank-rate=200MB/s"),
        ],
        tmp_path,
    )
    assert run.code == 0, run
    for name, gain in (("same", 0.0), ("twice", 1.0)):
        for processes in (1, 2):
            figure = run.result.figure("hint_gain", hints=name, processes=processes)
            assert figure["metric"]["value"] == pytest.approx(gain, abs=1e-9)
            assert figure["samples"]["count"] == 5
            assert figure["samples"]["low95"] == pytest.approx(gain, abs=1e-9)
            assert figure["samples"]["high95"] == pytest.approx(gain, abs=1e-9)
        mean = run.result.figure("hint_gain_mean", hints=name)
        assert mean["metric"]["value"] == pytest.approx(gain, abs=1e-9)


def test_a_gain_is_that_of_the_repetitions(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Student's t of 7 degrees of freedom is 2.36462."""
    words = [*SMALL, "--processes", "2", "--hint-sets", "none", "--repetitions", "8"]
    words += ["--libraries", "mpiio", "--dir", str(data)]
    words += ["--hint-set", "one:effio_a=1,two:effio_b=1"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    rates = {
        name: [m["rate"]["value"] for m in run.result.rows(access="write", hints=name)]
        for name in ("none", "one", "two")
    }
    for name in ("one", "two"):
        ratios = [a / b for a, b in zip(rates[name], rates["none"], strict=True)]
        figure = run.result.figure("hint_gain", hints=name, access="write")
        assert figure["samples"]["count"] == 8
        low, high = _interval(ratios, 2.36462)
        assert math.log1p(figure["samples"]["low95"]) == pytest.approx(low, rel=1e-3, abs=1e-6)
        assert math.log1p(figure["samples"]["high95"]) == pytest.approx(high, rel=1e-3, abs=1e-6)


def test_one_repetition_shows_no_gain(any_engine: Engine, tmp_path: Path) -> None:
    words = [*SMALL, "--libraries", "sim", "--read", "off", "--hint-sets", "none"]
    run = any_engine.run([*words, "--hint-set", "a:sim.open=1ms"], tmp_path)
    assert run.code == 0, run
    figure = run.result.figure("hint_gain", hints="a", processes=2)
    assert figure["metric"]["value"] is None
    assert "five repetitions" in figure["metric"]["reason"]
    assert "samples" not in figure


def test_holes_are_not_bytes(engine: Engine, tmp_path: Path, data: Path) -> None:
    """Nine variables of 8 KiB at multiples of 16 MiB: eight gaps of some 16 MiB each."""
    need(engine, "hdf5")
    run = engine.run(
        [
            *(*SMALL, "--libraries", "hdf5", "--processes", "2", "--hint-sets", "none"),
            *("--hint-set", "wide:hdf5.alignment=16MiB+hdf5.alignment-threshold=4KiB"),
            *("--keep", "--dir", data),
        ],
        tmp_path,
    )
    assert run.code == 0, run
    (plain,) = run.result.rows(access="write", hints="none")
    (wide,) = run.result.rows(access="write", hints="wide")
    assert wide["bytes"] == plain["bytes"] < 2 * CUBE + 10_000
    size = (data / "libraries_hdf5_wide").stat().st_size
    assert wide["detail"]["hole_bytes"] == size - wide["bytes"] > 8 * 15 * 2**20
    assert plain["detail"]["hole_bytes"] < 10_000
    holes = run.result.figure("holes", hints="wide", access="write")
    assert holes["metric"]["value"] == wide["detail"]["hole_bytes"]


def test_an_echo_is_not_an_effect(engine: Engine, tmp_path: Path, data: Path) -> None:
    """Open MPI 4 hands back what it was given, whichever MPI-IO it uses; MPICH what it knows."""
    run = engine.run(
        [
            *(*SMALL, "--libraries", "mpiio", "--processes", "2", "--hint-sets", "none"),
            *("--hint-set", "bogus:bogus_key=17+cb_buffer_size=1048576", "--dir", data),
        ],
        tmp_path,
    )
    assert run.code == 0, run
    (row,) = run.result.rows(access="write", hints="bogus")
    assert "effio_canary" not in row["hints_granted"]
    assert row["hints_granted"]["cb_buffer_size"] == "1048576"
    assert row["hints_echoed"] == ("bogus_key" in row["hints_granted"])
    assert row["hints_echoed"] == (engine.name != "mpich")
    (plain,) = run.result.rows(access="write", hints="none")
    assert plain["hints_echoed"] is None
