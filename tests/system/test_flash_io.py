# SPDX-License-Identifier: BSD-3-Clause
"""FLASH I/O from the outside: whole runs with each MPI and library, their files, and faults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from array_tools import BY_MPI_IO, WITHOUT_MPI_IO, missing, need, tool
from engines import Engine

MIB = 1 << 20
# With two ranks: 3 + 4 blocks of 8 x 8 x 8 cells (docs/definitions/flash-io.md).
SMALL = ("flash-io", "--blocks", "3", "--quiet")
CHECKPOINT = 7 * (24 * 8 * 8**3 + 164)
CENTRED = 7 * (4 * 4 * 8**3 + 116)
CORNER = 7 * (4 * 4 * 9**3 + 116)


@pytest.mark.parametrize("backend", BY_MPI_IO)
def test_what_was_written_is_read_back_whole(
    engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    check_written_and_read(engine, backend, tmp_path, data)


@pytest.mark.parametrize("backend", WITHOUT_MPI_IO)
def test_what_was_written_without_mpi_io_is_read_back_whole(
    any_engine: Engine, backend: str, tmp_path: Path, data: Path
) -> None:
    check_written_and_read(any_engine, backend, tmp_path, data)


def check_written_and_read(engine: Engine, backend: str, tmp_path: Path, data: Path) -> None:
    need(engine, backend)
    run = engine.run(
        [
            *SMALL,
            "--backend",
            backend,
            "--fill",
            "index",
            "--read",
            "all",
            "--reader",
            "shifted",
            "--dir",
            data,
        ],
        tmp_path,
    )
    assert run.code == 0, run
    result = run.result
    sizes = {"checkpoint": CHECKPOINT, "plot-centred": CENTRED, "plot-corner": CORNER}
    texts = {"checkpoint": 4 * 24, "plot-centred": 4 * 4, "plot-corner": 4 * 4}
    for name, size in sizes.items():
        extra = 0
        if backend == "hdf5":  # date, version, record, names
            extra = 60 + texts[name] + (36 if name == "checkpoint" else 28)
        written = result.rows(access="write", pattern=name)
        read = result.rows(access="read", pattern=name)
        assert [m["detail"]["data_bytes"] for m in written] == [size + extra]
        # The header is read by both ranks.
        assert [m["verified_bytes"] for m in read] == [size + 2 * extra]
        assert read[0]["error_count"] == 0
    assert list(data.iterdir()) == []


def test_pnetcdf_files_are_those_of_the_port(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    need(any_engine, "pnetcdf")
    run = any_engine.run(
        [*SMALL, "--backend", "pnetcdf", "--keep", "--dir", data, "--prefix", "it_"], tmp_path
    )
    assert run.code == 0, run
    names = {"it_ncmpi_chk_0000.nc", "it_ncmpi_plt_cnt_0000.nc", "it_ncmpi_plt_crn_0000.nc"}
    assert {p.name for p in data.iterdir()} == names
    for name in names:
        assert "is a valid NetCDF" in tool("ncvalidator", data / name)
    head = tool("ncmpidump", "-h", data / "it_ncmpi_chk_0000.nc")
    assert "dim_tot_blocks = 7" in head
    assert "int gid(dim_tot_blocks, dim_NGID)" in head
    assert "double f13_(dim_tot_blocks, dim_nzb, dim_nyb, dim_nxb)" in head
    assert ':flash_version = "FLASH I/O benchmark using Pnetcdf"' in head
    values = tool("ncmpidump", "-v", "pres", data / "it_ncmpi_plt_crn_0000.nc")
    numbers = re.findall(r"[\d.]+", values.split("pres =")[1])
    assert numbers == ["5"] * (7 * 9**3)
    # What the library says it wrote is there, apart from its unused header space.
    for m in run.result.rows(access="write"):
        on_disk = Path(tmp_path, m["detail"]["file"]).stat().st_size
        assert 0 <= on_disk - m["bytes"] < 512, m


def test_hdf5_files_are_those_of_the_original(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    need(any_engine, "hdf5")
    run = any_engine.run(
        [*SMALL, "--backend", "hdf5", "--keep", "--memory", "in-place", "--dir", data], tmp_path
    )
    assert run.code == 0, run
    chk = data / "flash_io_hdf5_chk_0000"
    head = tool("h5dump", "-H", chk)
    assert 'DATASET "simulation parameters"' in head
    assert 'H5T_STD_I32LE "total blocks"' in head
    assert re.search(r'DATASET "bounding box".*?\( 7, 3, 2 \)', head, re.DOTALL)
    assert re.search(r'DATASET "f13_".*?IEEE_F64LE.*?\( 7, 8, 8, 8 \)', head, re.DOTALL)
    names = tool("h5dump", "-d", "unknown names", chk)
    assert re.findall(r'"([a-z0-9_]{4})"', names)[-24:][:3] == ["dens", "velx", "vely"]
    values = tool("h5dump", "-y", "-w", "80", "-d", "velx", chk).split("DATA {")[1].split("}")[0]
    assert set(re.findall(r"\d+", values)) == {"2"}
    # Every collective call of the unknowns is said to have been one.
    row = run.result.rows(access="write", pattern="checkpoint")[0]["detail"]["library"]
    assert row["modes"].get("contiguous, collective", 0) > 0
    assert row["done_collectively"] == row["collective_calls"] > 0


def test_a_series_takes_time_between_dumps(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(
        [
            *SMALL,
            "--backend",
            "mpiio",
            "--dumps",
            "3",
            "--compute",
            "50ms",
            "--repetitions",
            "2",
            "--files",
            "checkpoint",
            "--fill",
            "index",
            "--read",
            "checkpoint",
            "--dir",
            data,
        ],
        tmp_path,
    )
    assert run.code == 0, run
    rows = [(m["repetition"], m["where"]["dump"], m["access"]) for m in run.result.measurements]
    once = [(0, "write"), (1, "write"), (2, "write"), (2, "read")]
    assert rows == [(r, d, a) for r in (1, 2) for d, a in once]
    for repetition in (1, 2):
        f = run.result.figure("repetition_bandwidth", repetition=repetition)
        assert f["detail"]["compute_seconds"] >= 0.1
        assert f["detail"]["bytes"] == 3 * CHECKPOINT
    assert run.result.figure("flash_io")["samples"]["count"] == 2


def test_virtual_time_is_the_closed_formula(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(
        [
            *SMALL,
            "--backend",
            "sim",
            "--files",
            "checkpoint",
            "--dir",
            data,
            "--backend-options",
            "rank-rate=100MB/s,open=10ms,sync=20ms,close=5ms",
        ],
        tmp_path,
    )
    assert run.code == 0, run
    row = run.result.measurements[0]
    transfer = 4 * (24 * 8 * 8**3 + 164) / 100e6  # rank 1 has four of the seven blocks
    seconds = {name: spread["max"] for name, spread in row["seconds"].items()}
    assert seconds["close"] == pytest.approx(0.005)
    assert seconds["sync"] == pytest.approx(0.020)
    assert seconds["header"] == pytest.approx(0.010 + 4 * 164 / 100e6)
    assert row["detail"]["by_definition_seconds"] == pytest.approx(0.015 + transfer)
    assert seconds["total"] == pytest.approx(0.035 + transfer)
    assert row["rate"]["value"] == pytest.approx(CHECKPOINT / (0.015 + transfer))


def test_independent_and_blocking_calls(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    for backend in ("pnetcdf", "hdf5"):
        need(any_engine, backend)
        for n, words in enumerate((["--access", "independent"], ["--calls", "blocking"])):
            out = tmp_path / f"{backend}{n}"
            out.mkdir()
            run = any_engine.run(
                [
                    *SMALL,
                    *words,
                    "--backend",
                    backend,
                    "--fill",
                    "index",
                    "--read",
                    "all",
                    "--dimensions",
                    "2",
                    "--dir",
                    data,
                ],
                out,
            )
            assert run.code == 0, run
            assert sum(m["verified_bytes"] for m in run.result.measurements) > 0


def test_the_classic_command_line(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    need(any_engine, "pnetcdf")
    run = any_engine.run(["classic", "flash_benchmark_io", "-f", f"{data}/it_"], tmp_path)
    assert run.code == 0, run
    amounts = [float(x) for x in re.findall(r"I/O amount +: +([\d.]+)  MiB", run.stdout)]
    assert len(amounts) == 4
    # 161 blocks and 1 to 3 KiB of header.
    data_mib = 161 * (24 * 8 * 8**3 + 164) / MIB
    assert data_mib < amounts[0] < data_mib + 0.01
    assert re.search(r"^    2     8 x   8 x   8 +[\d.]+ +[\d.]+$", run.stdout, re.MULTILINE)
    assert len(list(data.iterdir())) == 3


def test_a_time_limit_starts_no_further_repetition(any_engine: Engine, tmp_path: Path) -> None:
    """A repetition takes 15 ms for opening and closing, and its transfers: the second one starts
    before the limit, the third one does not."""
    words = [*SMALL, "--backend", "sim", "--files", "checkpoint", "--repetitions", "5"]
    words += ["--backend-options", "open=10ms,close=5ms,sync=0s,rank-rate=1TB/s"]
    run = any_engine.run([*words, "--time-limit", "20ms"], tmp_path)
    assert run.code == 0, run
    mean = run.result.figure("flash_io")
    assert mean["samples"]["count"] == 2
    assert mean["detail"]["repetitions_left_out_by_time_limit"] == 3
    whole = any_engine.run(words, tmp_path).result.figure("flash_io")
    assert whole["samples"]["count"] == 5
    assert "repetitions_left_out_by_time_limit" not in whole["detail"]
    kept = [*words, "--time-limit", "1s", "--fill", "index", "--keep"]
    refused = any_engine.alone(kept, tmp_path)
    assert refused.code == 2
    assert "--time-limit cannot be combined with --keep and --fill=index" in refused.stderr


def test_missing_space_and_faulty_options_are_refused_at_once(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run([*SMALL, "--max-bytes", "512KiB", "--dir", data], tmp_path)
    assert run.code == 2
    assert "--max-bytes: 512KiB is too small: the dumps need" in run.stderr
    for words, text in (
        (["--cells", "0"], "--cells"),
        (["--dimensions", "4"], "--dimensions"),
        (["--prefix", "a/b"], "--prefix"),
        (["--structure", "hdf5", "--backend", "mpiio"], "--structure"),
        (["--files", "restart"], "--files"),
    ):
        refused = any_engine.alone(["flash-io", *words], tmp_path)
        assert refused.code == 2, refused
        assert text in refused.stderr
    for words, text in (
        (["--memory", "in-place", "--backend", "mpiio"], "in-place"),
        (["--calls", "nonblocking", "--backend", "mpiio"], "nonblocking"),
        (["--read", "all", "--backend", "null"], "reading back"),
    ):
        out = tmp_path / text.replace(" ", "-")
        out.mkdir()
        refused = any_engine.run([*SMALL, *words, "--dir", data], out)
        assert refused.code == 2, refused
        assert text in refused.stderr
    assert list(data.iterdir()) == []


def test_a_library_that_is_not_there_says_so(
    engines: dict[str, Engine], tmp_path: Path, data: Path
) -> None:
    if "mpich" not in engines:
        pytest.skip("no engine without PnetCDF is built here")
    engine = engines["mpich"]
    if not missing(engine, "pnetcdf"):
        pytest.skip("this engine has PnetCDF")
    for words in (["flash-io", "--backend", "pnetcdf"], ["libraries", "--libraries", "pnetcdf"]):
        run = engine.alone([*words, "--dir", data], tmp_path)
        assert run.code == 6, run
        assert "built without it" in run.stderr
    # Not compared unless requested, and then not silently left out.
    compare = ["libraries", "--edges", "4", "--processes", "1", "--dir", data]
    run = engine.run(compare, tmp_path, ranks=1)
    assert run.code == 0, run
    assert "pnetcdf: " in run.stdout
    assert any("pnetcdf" in why for why in run.result.run["libraries"]["left_out"])


def test_the_best_repetition_has_its_number(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["flash-io", "--blocks", "1", "--cells", "2", "--backend", "posix-fpp", "--read", "all"]
    run = any_engine.run([*words, "--repetitions", "3", "--dir", data], tmp_path)
    assert run.code == 0, run
    named = re.search(r"^Repetition (\d+), the best of 3:$", run.stdout, re.MULTILINE)
    assert named, run.stdout
    rates = {
        f["where"]["repetition"]: f["metric"]["value"]
        for f in run.result.figures
        if f["name"] == "repetition_bandwidth"
    }
    assert rates[int(named[1])] == max(rates.values())
    # What was verified is that of all repetitions, as the mean before it.
    verified = re.search(r"^restart: .*, ([\d.]+) KiB verified$", run.stdout, re.MULTILINE)
    assert verified, run.stdout
    of_all = sum(m["verified_bytes"] for m in run.result.measurements) / 1024
    assert float(verified[1]) == pytest.approx(of_all, rel=1e-3)


def test_plan_has_the_published_sizes(any_engine: Engine, tmp_path: Path) -> None:
    words = ["flash-io", "--backend", "pnetcdf", "--cells", "16", "--plan", "--plan-ranks", "64"]
    run = any_engine.alone(words, tmp_path)
    if run.code == 6:
        pytest.skip("no PnetCDF here")
    for mib in ("3888.06", "324.51", "389.13", "4601.70"):
        assert mib in run.stdout
    # At once for any number of ranks: 100,000 times 80 blocks, and 0 + 1 + 2 more for every three.
    words[-1] = "100000"
    run = any_engine.alone(words, tmp_path)
    assert "with 100000 ranks, 8099999 blocks of 16 x 16 x 16 cells" in run.stdout
