# SPDX-License-Identifier: BSD-3-Clause
"""b_eff_io as a whole: every MPI and number of ranks against the definition, the backends, what is
refused and what is left alone."""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from b_eff_io_definition import check_files, check_numbers
from engines import Engine
from results import Result

MIB = 1 << 20

# Lmax is 2 MiB, its least value; without time every row is one call.
SMALL = ("b-eff-io", "--memory-per-rank", "256MiB", "--quiet")
QUICK = (*SMALL, "--time", "0s")

# The definition depends on the number of ranks, how files are written on the MPI library: each
# number of ranks once.
SIZES = [
    *(("openmpi-ompio", ranks) for ranks in (1, 5)),
    ("openmpi-romio", 3),
    ("mpich", 2),
]


def default_partitions(ranks: int) -> list[int]:
    """The default partitions from the description's table."""
    return {1: [1], 2: [1, 2], 3: [1, 2, 3], 5: [2, 4, 5]}[ranks]


def contents(directory: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in directory.iterdir()}


def invalid_reasons(result: Result) -> list[str]:
    figure = result.figure("b_eff_io")
    assert figure["valid"] is False
    reasons = figure["reasons"]
    assert isinstance(reasons, list)
    # This machine may have fewer processors than the test has ranks, or be busy.
    return [reason for reason in reasons if "all ranks run at the same time" not in reason]


@pytest.mark.parametrize(("flavour", "ranks"), SIZES, ids=lambda v: str(v))
def test_files_and_numbers_are_the_definitions(
    engines: dict[str, Engine], flavour: str, ranks: int, tmp_path: Path, data: Path
) -> None:
    """Default partitions; the files that are kept are read back here, byte by byte of the marks,
    and every number is computed again from the rows."""
    if flavour not in engines:
        pytest.skip(f"no engine of flavour {flavour} is built here")
    words = [*QUICK, "--dir", data, "--keep", "--verify", "full"]
    run = engines[flavour].run(words, tmp_path, ranks)
    assert run.code == 0, run
    result = run.result
    partitions = default_partitions(ranks)
    assert result.run["b-eff-io"]["partitions"] == partitions
    assert result.run["b-eff-io"]["lmax_bytes"] == 2 * MIB
    values = []
    for index, size in enumerate(partitions):
        values.append(check_numbers(result, index, size))
        check_files(result, data, index, size, 2 * MIB)
    assert result.figure("b_eff_io")["metric"]["value"] == pytest.approx(max(values))
    memory = result.run["system"]["memory"]["node_total_bytes"] // MIB * MIB
    balance = result.figure("balance_time")
    assert balance["detail"]["total_memory_bytes"] == memory
    assert balance["metric"]["value"] == pytest.approx(memory / max(values))
    # Every byte of the timed reads was compared, and the data of scatter before their rewrite.
    read = sum(m["bytes"] for m in result.rows(access="read"))
    verified = [f["detail"]["verified_bytes"] for f in result.figures if "type" in f["name"]]
    rewritten = sum(m["bytes"] for m in result.rows(access="write") if m["pattern"] == "scatter")
    assert sum(verified) == read + rewritten
    assert sum(p.stat().st_size for p in data.iterdir()) == read
    assert invalid_reasons(result) == [
        "not reached: scheduled for at least 30 min (this run: 0.0 min)"
    ]


def test_many_calls_in_a_row_and_rewrite(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Rows that run for a while, up to the cap on bytes: offsets that depend on many calls."""
    words = [*SMALL, "--time", "4s", "--rewrite", "--partitions", "2", "--max-bytes", "100MiB"]
    run = any_engine.run([*words, "--dir", data, "--keep"], tmp_path)
    assert run.code == 0, run
    result = run.result
    check_files(result, data, 0, 2, 2 * MIB, rewrite=True)
    check_numbers(result, 0, 2, rewrite=True)
    assert len(result.measurements) == 3 * 43
    assert sum(p.stat().st_size for p in data.iterdir()) <= 100 * MIB
    calls = [m["detail"]["calls_per_rank"] for m in result.rows(access="write")]
    assert max(calls) > 1
    # A cap that cuts rows short is reported, and the number does not count officially.
    cut = len([m for m in result.rows(access="write") if m["stopped_by"] == "cap"])
    reported = f"not reached: no row cut short by --max-bytes (this run: {cut})"
    assert (reported in invalid_reasons(result)) == (cut > 0)


def test_storage_of_known_rate(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """In virtual time a rank moves 100 MB/s and nothing else costs time: each row runs
    floor(Tp * 100 MB/s / L) calls, and every bandwidth is that of two ranks."""
    words = [*SMALL, "--time", "3s", "--partitions", "2", "--backend", "sim", "--dir", data]
    run = any_engine.run([*words, "--backend-options", "rank-rate=100MB/s"], tmp_path)
    assert run.code == 0, run
    result = run.result
    assert len(result.measurements) == 43 + 9 + 43
    for m in result.measurements:
        if m["bytes"] > 0:
            assert m["rate"]["value"] == pytest.approx(200e6, rel=1e-6), m["where"]
    # 150 units of time in 3 s: 20 ms each.
    for row in range(25):
        (m,) = result.rows(row=row, access="write")
        scheduled = 0.02 * m["where"]["time_units"]
        assert m["detail"]["scheduled_seconds"] == pytest.approx(scheduled)
        calls = max(1, int(scheduled * 100e6 / m["where"]["memory_chunk_bytes"]))
        assert m["detail"]["calls_per_rank"] == calls, row
    assert result.figure("b_eff_io")["metric"]["value"] == pytest.approx(200e6, rel=1e-6)
    assert "not reached: storage is reached through MPI-IO, not sim" in invalid_reasons(result)
    assert list(data.iterdir()) == []


def test_posix_measures_but_is_not_official(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = [*QUICK, "--partitions", "2", "--backend", "posix", "--dir", data, "--keep"]
    run = any_engine.run([*words, "--verify", "full"], tmp_path)
    assert run.code == 0, run
    check_files(run.result, data, 0, 2, 2 * MIB)
    check_numbers(run.result, 0, 2)
    reasons = invalid_reasons(run.result)
    assert "not reached: storage is reached through MPI-IO, not posix" in reasons


def test_null_cannot_serve_a_benchmark_that_reads_back(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.alone([*QUICK, "--backend", "null", "--dir", data], tmp_path)
    assert run.code == 2, run
    assert "backend null cannot do what this run needs: reading back what was written" in run.stderr
    assert list(tmp_path.glob("*.jsonl")) == [], "a run that is refused leaves nothing"


def test_plan_touches_nothing(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (data / "b_eff_io_data_i00_004_0").write_text("somebody's")
    words = [*SMALL, "--time", "150s", "--plan", "--dir", data, "--plan-ranks", "4"]
    before = contents(data), {p.name for p in tmp_path.iterdir()}
    run = any_engine.alone([*words, "--partitions", "4"], tmp_path)
    assert run.code == 0, run
    # 150 s by 150 units; U = 4 in row 1, whose chunk is Lmax.
    (row,) = [line for line in run.stdout.splitlines() if line.split()[:2] == ["1", "scatter"]]
    assert row.split()[2:8] == ["2", "MiB", "2", "MiB", "4", "4.000"]
    assert (contents(data), {p.name for p in tmp_path.iterdir()}) == before
    assert run.results == []


def test_foreign_files_are_left_alone(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Files next to ours, also with nearly our names, survive a run that removes its own."""
    foreign = {
        "notes.txt": b"mine",
        "b_eff_io_data_i00_002_0.old": b"mine too",
        "b_eff_io_data_i01_002_0": b"of a partition that this run has not",
    }
    for name, text in foreign.items():
        (data / name).write_bytes(text)
    run = any_engine.run([*QUICK, "--partitions", "2", "--dir", data], tmp_path)
    assert run.code == 0, run
    assert contents(data) == foreign


@pytest.mark.parametrize("name", ["b_eff_io_data_i00_001_3", "b_eff_io_data_i00_001_2.000"])
def test_a_file_in_the_way(any_engine: Engine, tmp_path: Path, data: Path, name: str) -> None:
    (data / name).write_bytes(b"mine")
    words = [*QUICK, "--partitions", "1", "--dir", data]
    run = any_engine.alone(words, tmp_path)
    assert run.code == 2, run
    assert f"{data}/{name}: exists already and was not made by this run" in run.stderr
    assert contents(data) == {name: b"mine"}
    run = any_engine.alone([*words, "--overwrite", "-o", "second.jsonl"], tmp_path)
    assert run.code == 0, run
    assert contents(data) == {}


def test_a_result_is_never_overwritten(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (tmp_path / "mine.jsonl").write_text("a result\n")
    run = any_engine.alone([*QUICK, "--dir", data, "-o", "mine.jsonl"], tmp_path)
    assert run.code == 2, run
    assert "mine.jsonl: exists already; results are never overwritten" in run.stderr
    assert (tmp_path / "mine.jsonl").read_text() == "a result\n"
    assert contents(data) == {}


def test_a_missing_directory(engine: Engine, tmp_path: Path) -> None:
    run = engine.run([*QUICK, "--dir", tmp_path / "nowhere"], tmp_path)
    assert run.code == 3, run
    assert f"{tmp_path}/nowhere: No such file or directory" in run.stderr
    assert run.result.status == "io_error"
    assert run.result.measurements == []
    assert not (tmp_path / "nowhere").exists()


def test_a_file_as_directory(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (data / "plain").write_text("x")
    run = any_engine.alone([*QUICK, "--dir", data / "plain"], tmp_path)
    assert run.code == 3, run
    assert f"{data}/plain: Not a directory" in run.stderr


def test_a_directory_that_cannot_be_written(
    engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """A read-only file system: root may not write there either."""
    place = mount("-t", "tmpfs", "-o", "ro,size=64m", "none")
    run = engine.run([*QUICK, "--dir", place], tmp_path)
    assert run.code == 3, run
    assert f"{place}: Read-only file system" in run.stderr
    assert run.result.status == "io_error"
    assert run.result.measurements == []


def test_a_directory_of_another_user(engine: Engine) -> None:
    """It may be read and searched, but not written."""
    with tempfile.TemporaryDirectory(prefix="effio-test-") as name:
        place = Path(name)
        place.chmod(0o777)  # in which no result may be left
        closed = place / "closed"
        closed.mkdir()
        closed.chmod(0o555)
        launch = engine.as_nobody if os.geteuid() == 0 else engine.run
        run = launch([*QUICK, "--dir", closed], place)
        assert run.code == 3, run
        assert f"{closed}: Permission denied" in run.stderr
        assert run.result.status == "io_error"
        assert run.result.measurements == []
        assert list(closed.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["--bogus"], "unknown option --bogus"),
        (["--compressible", "2"], "shape random data: use --fill random"),
        (["--time", "soon"], "--time"),
        (["--time", "-1s"], "--time"),
        (["--partitions", "0"], "--partitions"),
        (["--partitions", "2,,4"], "--partitions"),
        (["--partitions", "two"], "--partitions"),
        (["--partitions"], "--partitions"),
        (["--memory-per-rank", "12 parsecs"], "--memory-per-rank"),
        (["--memory-per-rank", "1KiB"], "--memory-per-rank"),
        (["--backend", "tape"], "--backend"),
        (["--backend=sim", "--backend-options", "speed=ludicrous"], "speed"),
        (["--verify", "some"], "--verify"),
        (["--memory-piece", "12"], "--memory-piece 12B is not a multiple of 8B"),
        (["--max-bytes", "-5"], "--max-bytes"),
        (["stray"], "stray"),
        (["--partitions", ",".join(["1"] * 101)], "101 sizes are given; 100 are allowed"),
    ],
    ids=lambda v: " ".join(v)[:40] if isinstance(v, list) else "",
)
def test_bad_options_are_refused_before_mpi_starts(
    any_engine: Engine, tmp_path: Path, words: list[str], reported: str
) -> None:
    run = any_engine.alone(["b-eff-io", *words], tmp_path)
    assert run.code == 2, run
    assert reported in run.stderr
    assert "Try: effio-mpi b-eff-io --help" in run.stderr
    assert [p.name for p in tmp_path.iterdir()] == []


def test_more_ranks_in_a_partition_than_in_the_run(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.alone([*QUICK, "--dir", data, "--partitions", "2"], tmp_path)
    assert run.code == 2, run
    assert "--partitions: 2 is more than the 1 rank of this run" in run.stderr
    assert list(tmp_path.glob("*.jsonl")) == []


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("all all all all", "line 1: the key is missing"),
        (
            "5 all all all cb_nodes 1",
            "line 1: 5 is not a number of processes of this run: 1 or all",
        ),
        ("all append all all cb_nodes 1", "append is not an access of this benchmark: write, "),
        (
            "all all diagonal all cb_nodes 1",
            "diagonal is not a pattern of this benchmark: scatter, ",
        ),
        ("all all all 4711 cb_nodes 1", "4711 is not a chunk size of this benchmark: 0, 1024, "),
    ],
)
def test_bad_hints(
    any_engine: Engine, tmp_path: Path, data: Path, text: str, reported: str
) -> None:
    (tmp_path / "hints").write_text(text + "\n")
    words = [*QUICK, "--dir", data, "--partitions", "1", "--hints", tmp_path / "hints"]
    run = any_engine.alone(words, tmp_path)
    assert run.code == 2, run
    assert reported in run.stderr
    assert contents(data) == {}


def test_dropped_caches_are_proved_and_make_it_not_official(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = [*QUICK, "--partitions", "2", "--dir", data, "--max-bytes", "1GiB"]
    reason = "not reached: caches are left as the definition finds them (no --drop-cache)"
    kept = any_engine.run(words, tmp_path).results[-1]
    assert reason not in invalid_reasons(kept)
    dropped = any_engine.run([*words, "--drop-cache"], tmp_path).results[-1]
    assert reason in invalid_reasons(dropped)
    assert list(data.iterdir()) == []

    def resident(result: Result) -> list[float | None]:
        rows = result.rows(access="read")
        assert len(rows) == 43
        return [row["cache"]["resident_before_fraction"] for row in rows]

    if None in resident(dropped) or dropped.run["file_system"]["memory_backed"]:
        pytest.skip("nothing can be dropped here, or neither cachestat nor mincore works")
    # Before a file is opened to be read none of it is in memory; without the option all of it, but
    # for what the system took away because other tests need memory.
    assert statistics.median(fraction or 0 for fraction in resident(kept)) == 1
    assert max(fraction for fraction in resident(dropped) if fraction is not None) < 0.1
