# SPDX-License-Identifier: BSD-3-Clause
"""ior from the outside: whole runs, what the files hold, known answers, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engines import Engine, Job, two_nodes
from ior_runs import KIB, MIB, ior, timestamp

WAYS = {
    "independent": ["--backend", "mpiio"],
    "collective": ["--backend", "mpiio", "--collective"],
    "other": ["--backend=mpiio", "--collective", "--backend-options", "atomic=yes,split=yes"],
    "view": ["--backend", "mpiio", "--collective", "--placement", "view"],
    "strided": ["--backend", "mpiio", "--collective", "--placement", "strided"],
    "pieces": ["--backend=mpiio", "--collective", "--memory-piece=1000", "--memory-gap=24"],
    "own-strided": ["--backend", "mpiio", "--placement", "strided"],
    "file-per-process": ["--backend", "mpiio", "--files", "per-process"],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_mpi_io_writes_and_reads_back(
    engine: Engine, tmp_path: Path, data: Path, way: str
) -> None:
    run = ior(
        engine,
        tmp_path,
        *WAYS[way],
        "--transfer=8KiB --block=32KiB --segments=3 --verify=write,read,inside",
    )
    write, read = run.result.measurements
    assert (write["access"], read["access"]) == ("write", "read")
    total = 2 * 3 * 32 * KIB
    assert write["bytes"] == read["bytes"] == total
    assert write["verified_bytes"] == total
    assert read["verified_bytes"] == 2 * total
    strided = "strided" in way
    assert write["operations"] == (2 if strided else 2 * 12)
    assert bool(run.result.run["backend"]["settings"]) == (way == "other")
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("pieces", [[], ["--memory-piece=5", "--memory-gap=3"]])
@pytest.mark.parametrize("backend", ["posix", "mpiio"])
def test_bytes_of_the_shared_file(
    any_engine: Engine, tmp_path: Path, data: Path, backend: str, pieces: list[str]
) -> None:
    any_engine.needs_ranks(3)
    ior(
        any_engine,
        tmp_path,
        f"--backend={backend}",
        "--transfer=16 --block=32 --segments=2 --phases=write --data=timestamp --seed=1000",
        "--keep",
        *pieces,
        ranks=3,
    )
    expected = b"".join(2 * timestamp(rank, 1000, 16) for _ in range(2) for rank in range(3))
    assert (data / "ior").read_bytes() == expected


def test_bytes_of_a_file_for_each_process(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    ior(
        any_engine,
        tmp_path,
        "--transfer=16 --block=32 --segments=2 --phases=write --data=timestamp --seed=7",
        "--keep --files=per-process",
        f"--more-dirs={more}",
        "--name=x",
    )
    assert [p.name for p in data.iterdir()] == ["x.00000000"]
    assert [p.name for p in more.iterdir()] == ["x.00000001"]
    assert (more / "x.00000001").read_bytes() == 4 * timestamp(1, 7, 16)


def test_files_of_ior_are_verified(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # As IOR -t 16 -b 32 -s 2 -G 1000 leaves it with two tasks.
    (data / "ior").write_bytes(
        b"".join(2 * timestamp(rank, 1000, 16) for _ in range(2) for rank in range(2))
    )
    options = ["--transfer=16", "--block=32", "--segments=2", "--phases=read"]
    options += ["--data=timestamp", "--verify=inside"]
    run = ior(any_engine, tmp_path, *options, "--seed=1000")
    assert run.result.measurements[0]["verified_bytes"] == 128
    assert (data / "ior").exists()
    run = ior(any_engine, tmp_path, *options, "--seed=1001", code=1)
    assert run.results[-1].measurements[0]["error_count"] == 8


def test_threads_share_a_file_and_have_their_own(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    for files in ("shared", "per-process"):
        run = ior(
            any_engine,
            tmp_path,
            "--threads=3",
            f"--files={files}",
            "--transfer=4KiB --block=16KiB --segments=2 --order=shuffled --verify=write,inside",
        )
        write, read = run.results[-1].measurements
        assert write["bytes"] == 6 * 2 * 16 * KIB
        assert write["verified_bytes"] == read["verified_bytes"] == write["bytes"]
        assert write["where"]["workers"] == 6


def test_several_sizes_and_repetitions(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = ior(
        any_engine,
        tmp_path,
        "--transfer=4KiB,64KiB --block=64KiB --repetitions=2 --file-each-repetition --keep",
    )
    assert [
        (m["access"], m["where"]["transfer_bytes"], m["repetition"])
        for m in run.result.measurements
    ] == [(a, t * KIB, r) for r in (1, 2) for t in (4, 64) for a in ("write", "read")]
    assert run.result.figure("read_bandwidth", transfer_bytes=4 * KIB)["samples"]["count"] == 2
    assert sorted(p.name for p in data.iterdir()) == ["ior.0", "ior.1"]


def test_virtual_time_of_a_known_disk(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # Two ranks write 10 MB each in calls of 1 MB at 100 MB/s: 0.1 s of calls each of 2 ms latency
    # adds 0.02 s; open 0.5 s, sync 0.25 s, close 0.125 s, all together for the shared file.
    run = ior(
        any_engine,
        tmp_path,
        "--backend=sim",
        "--backend-options=rank-rate=100MB/s,latency=2ms,open=500ms,sync=250ms,close=125ms",
        "--transfer=1MB --block=10MB",
    )
    write, read = run.result.measurements
    total = 0.5 + 0.1 + 0.02 + 0.25 + 0.125
    assert write["rate"]["value"] == pytest.approx(20e6 / total)
    assert read["rate"]["value"] == pytest.approx(20e6 / (total - 0.25))
    for part, seconds in (("open", 0.5), ("transfer", 0.12), ("sync", 0.25), ("close", 0.125)):
        assert write["seconds"][part]["max"] == pytest.approx(seconds)
    assert write["detail"]["operations_per_second"] == pytest.approx(20 / 0.12)
    assert write["call_times"]["mean"] == pytest.approx(0.012, rel=0.02)


def test_a_call_that_is_synced_is_over_when_its_sync_is(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """1 MB at 100 MB/s, 2 ms of latency and a sync of 0.25 s: each call takes 0.262 s."""
    run = ior(
        any_engine,
        tmp_path,
        "--backend=sim --backend-options=rank-rate=100MB/s,latency=2ms,sync=250ms",
        "--transfer=1MB --block=4MB --sync=each --phases=write",
    )
    (write,) = run.result.measurements
    assert write["call_times"]["count"] == 8
    assert write["call_times"]["min"] == pytest.approx(0.262, rel=0.02)
    assert write["call_times"]["p99"] == pytest.approx(0.262, rel=0.02)


def test_stonewall_shows_who_did_how_much(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # Rank 1 takes 200 ms a call, rank 0 none: it is done long before, also on a busy machine.
    slow = ["--backend=null", "--backend-options=rank=1,transfer=200ms", "--files=per-process"]
    run = ior(
        any_engine, tmp_path, *slow, "--transfer=1KiB --block=100KiB --stonewall=1 --phases=write"
    )
    (write,) = run.result.measurements
    wall = write["detail"]["stonewall"]
    assert wall["max_transfers"] == 100
    # The call that ends past the deadline is the last: at most the fifth.
    assert 1 <= wall["min_transfers"] <= 5
    assert write["operations"] == 100 + wall["min_transfers"]
    assert write["bytes"] == write["operations"] * KIB
    assert wall["workers_stopped_by_time"] == 1
    assert wall["last_done_seconds"] >= 1
    assert wall["first_done_seconds"] < wall["last_done_seconds"]
    assert write["stopped_by"] == "time"
    run = ior(
        any_engine,
        tmp_path,
        *slow,
        "--transfer=1KiB --block=8KiB --stonewall=0.5 --wear-out --phases=write",
    )
    (write,) = run.results[-1].measurements
    assert write["operations"] == 16
    assert write["detail"]["stonewall"]["min_transfers"] <= 3


def test_what_a_stonewall_left_out_is_not_read(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """IOR reads past the end of the shorter files and aborts. In virtual time a
    call takes the same in both phases, so both end after the same calls: 100 of 10 ms."""
    run = ior(
        any_engine,
        tmp_path,
        "--backend=sim --backend-options=rank-rate=1MB/s --files=per-process --transfer=10kB",
        "--block=1TB --stonewall=0.995 --verify=inside --max-bytes=1GB",
    )
    write, read = run.result.measurements
    assert write["bytes"] == read["bytes"] == read["verified_bytes"] == 2 * 100 * 10_000
    assert (write["stopped_by"], read["stopped_by"]) == ("time", "count")


@pytest.mark.parametrize(
    ("limit", "calls", "stopped_by"),
    [
        # 10 calls of 10 ms are all there is; the 35th ends at 0.35 s.
        ("--min-time=0.345", 35, "count"),
        ("--max-transfers=7", 7, "cap"),
    ],
)
def test_limits_of_a_phase(
    any_engine: Engine, tmp_path: Path, data: Path, limit: str, calls: int, stopped_by: str
) -> None:
    disk = ["--backend=sim", "--backend-options=rank-rate=100MB/s"]
    run = ior(any_engine, tmp_path, *disk, "--transfer=1MB", "--block=10MB", limit)
    for phase in run.result.measurements:
        assert phase["operations"] == 2 * calls
        assert phase["bytes"] == 2 * calls * 1_000_000
        assert phase["stopped_by"] == stopped_by
        assert phase["seconds"]["transfer"]["max"] == pytest.approx(calls * 0.01)


def test_wearing_out_has_a_limit_too(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # Rank 0 has done its 100 calls at once; rank 1, 40 ms a call, would need 4 s for as many.
    slow = ["--backend=null", "--backend-options=rank=1,transfer=40ms", "--files=per-process"]
    wall = ["--stonewall=0.1", "--wear-out", "--wear-out-limit=0.2", "--phases=write"]
    run = ior(any_engine, tmp_path, *slow, *wall, "--transfer=1KiB", "--block=100KiB")
    (write,) = run.result.measurements
    # The call that ends past the limit is the last: at most the fifth.
    assert 100 < write["operations"] <= 105
    assert write["seconds"]["transfer"]["max"] >= 0.2


@pytest.mark.parametrize("files", ["shared", "per-process"])
def test_a_run_reads_exactly_what_a_stonewalled_run_wrote(
    any_engine: Engine, tmp_path: Path, data: Path, files: str
) -> None:
    common = [
        f"--files={files}",
        "--transfer=4KiB",
        "--block=1GiB",
        "--seed=3",
        f"--count-file={tmp_path}/count",
        "--keep",
        "--max-bytes=3GiB",
    ]
    wall = ["--think-time=10ms", "--stonewall=0.2", "--wear-out"]
    (write,) = ior(any_engine, tmp_path, *common, *wall, "--phases=write").result.measurements
    count = int((tmp_path / "count").read_text())
    assert 1 <= count <= 21
    assert write["bytes"] == 2 * count * 4 * KIB
    assert write["operations"] == 2 * count
    # Nothing stops the read but the count: fewer would be a loss, more would be holes.
    run = ior(any_engine, tmp_path, *common, "--phases=read", "--verify=inside")
    (read,) = run.results[-1].measurements
    assert read["bytes"] == read["verified_bytes"] == write["bytes"]
    assert read["stopped_by"] == "cap"  # the count of the file


def test_the_series_holds_every_byte(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # 10 MB in 1 MB calls of 10 ms from each of 2 ranks: ten slices of the first 100 ms, or fewer
    # wider ones; no byte is lost between them.
    run = ior(
        any_engine,
        tmp_path,
        "--backend=sim --backend-options=rank-rate=100MB/s,no-content --files=per-process",
        "--transfer=1MB --block=300MB",
    )
    for phase in run.result.measurements:
        series = phase["detail"]["time_series"]
        assert sum(series["bytes"]) == pytest.approx(2 * 300e6)
        width = series["slice_seconds"]
        # The rate is constant, so each slice but the last holds the same.
        assert series["bytes"][:-1] == pytest.approx([200e6 * width] * (len(series["bytes"]) - 1))
        assert len(series["bytes"]) >= 2


@pytest.mark.parametrize("unaligned", ["refuse", "buffered"])
def test_direct_io_of_whole_blocks_goes_past_the_cache(
    any_engine: Engine, tmp_path: Path, data: Path, unaligned: str
) -> None:
    run = ior(
        any_engine,
        tmp_path,
        "--backend=direct",
        f"--backend-options=unaligned={unaligned}",
        "--transfer=64KiB --block=1MiB --verify=read",
    )
    write, read = run.result.measurements
    assert read["verified_bytes"] == 2 * MIB
    assert write["detail"]["transfers_not_direct"] == 0
    assert read["detail"]["transfers_not_direct"] == 0
    assert read["cache"]["resident_before_fraction"] in (0, None)


def test_direct_io_of_odd_sizes_is_refused_or_falls_back_openly(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    odd = ["--backend=direct", "--transfer=47008", "--block=94016"]
    run = ior(any_engine, tmp_path, *odd, code=3)
    assert "must be multiples of" in run.stderr
    (write,) = run.result.measurements
    assert (write["valid"], write["operations"], write["bytes"]) == (False, 0, 0)
    assert list(data.iterdir()) == []
    run = ior(any_engine, tmp_path, *odd, "--backend-options=unaligned=buffered", "--verify=read")
    write, read = run.results[-1].measurements
    assert write["detail"]["transfers_not_direct"] == read["detail"]["transfers_not_direct"] == 4
    assert read["verified_bytes"] == 4 * 47008


def test_steady_rate_ends_the_phase(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    # A disk of constant speed is steady as soon as the window is full: ten slices of one second
    # at 1 MB in 10 ms, the first slice included.
    run = ior(
        any_engine,
        tmp_path,
        "--backend=sim --backend-options=rank-rate=100MB/s,no-content --files=per-process",
        "--transfer=1MB --block=100GB --steady --phases=write",
    )
    (write,) = run.result.measurements
    assert write["stopped_by"] == "steady"
    assert write["detail"]["steady"]["reached"] is True
    assert write["detail"]["steady"]["mean_bytes_per_second"] == pytest.approx(200e6, rel=0.02)
    assert write["seconds"]["transfer"]["max"] == pytest.approx(10, abs=1.5)
    figure = run.result.figure("write_steady_rate")
    assert figure["valid"] is True
    assert figure["metric"]["value"] == pytest.approx(200e6, rel=0.02)


def test_a_limit_before_the_steady_state_is_reported(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = ior(
        any_engine,
        tmp_path,
        "--backend=sim --backend-options=rank-rate=100MB/s,no-content --collective",
        "--transfer=1MB --block=100GB --steady --stonewall=4s --phases=write",
    )
    (write,) = run.result.measurements
    assert write["stopped_by"] == "time"
    figure = run.result.figure("write_steady_rate")
    assert figure["valid"] is False
    assert figure["metric"]["value"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--block=10", "--transfer=4"], "--block 10B is not a multiple of --transfer 4B"),
        (["--block=4", "--transfer=8"], "--transfer 8B is more than --block 4B"),
        (["--transfer=4m"], "--transfer"),
        (["--segments=-1"], "--segments"),
        (["--phases=delete"], "'delete' is not one of"),
        (["--wear-out"], "--wear-out needs --stonewall"),
        (["--memory-gap=8"], "--memory-gap needs --memory-piece"),
        (["--memory-piece=8", "--queue-depth=2"], "--memory-piece: transfers that are queued"),
        (["--memory-piece=8", "--backend=direct"], "data are in pieces in memory"),
        (["--ranks=3"], "--ranks: 3 is more than the 2 ranks"),
        (["--backend=posix", "--threads=2", "--collective"], "--threads"),
        (["--backend=mpiio", "--threads=2"], "backend mpiio cannot do"),
        (["--backend=null", "--verify=read"], "backend null cannot do"),
        (["--backend=posix", "--hint=cb_nodes=1"], "cannot do what this run needs: hints (--hint"),
    ],
)
def test_bad_input_is_refused(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], message: str
) -> None:
    run = ior(any_engine, tmp_path, *words, code=2)
    assert message in run.stderr
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("line", ["-C", "-C -Q 3", "-Z", "-Z -X 7"])
def test_reordered_reads_take_the_other_nodes_files(
    any_engine: Engine, tmp_path: Path, data: Path, line: str
) -> None:
    any_engine.needs_ranks(4)
    common = ["classic", "ior", "-F", "-o", "f", "-b", "64k", "-t", "4k", "-G", "5", "-k"]
    environment = any_engine.environment()
    write = two_nodes(any_engine, [*common, "-w"])
    assert Job(any_engine, write, data, environment).finish().code == 0
    # The first file was written on node a: only a rank of node b (1 or 2) may find it wrong.
    (data / "f.00000000").write_bytes(bytes(65536))
    read = two_nodes(any_engine, [*common, "-r", "-R", *line.split()])
    run = Job(any_engine, read, data, environment).finish()
    assert run.code == 1, run
    (phase,) = run.results[-1].measurements
    assert phase["nodes"] == 2
    assert phase["detail"]["ranks_on_own_node"] == 0
    assert phase["errors"][0]["rank"] in (1, 2)
    assert phase["errors"][0]["path"].endswith("f.00000000")
    assert phase["error_count"] == 16
    assert "NOTE" not in run.stdout


def test_one_node_says_that_reads_may_be_cached(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = ior(any_engine, tmp_path, "--block=1MiB", "--drop-cache=off")
    assert "one node only" in run.result.measurements[1]["detail"]["remark"]


def test_dropped_files_are_proved_to_be_gone(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = ior(any_engine, tmp_path, "--block=4MiB", "--sync=none", "--drop-cache")
    cache = run.result.measurements[1]["cache"]
    if cache["resident_before_fraction"] is None:
        pytest.skip("neither cachestat nor mincore works here")
    run = ior(any_engine, tmp_path, "--block=4MiB", "--drop-cache=off", "--repetitions=3")
    reads = [m["cache"] for m in run.results[-1].measurements if m["access"] == "read"]
    # The best of three: the system takes pages away when other tests need memory.
    kept = max(read["resident_before_fraction"] for read in reads)
    assert cache["resident_before_fraction"] < kept == 1


def test_the_live_view_counts_bytes_within_a_phase(any_engine: Engine, tmp_path: Path) -> None:
    """16 calls of 0.25 s on each rank: at any time the bytes are those of whole calls."""
    words = "ior --backend null --backend-options transfer=250ms --phases write"
    words += " --block 1MiB --transfer 64KiB --progress json"
    run = any_engine.run(words.split(), tmp_path)
    assert run.code == 0, run
    lines = [line for line in run.stderr.splitlines() if line.startswith('{"effio_progress"')]
    states = [json.loads(line)["effio_progress"] for line in lines]
    writing = [state for state in states if state["title"].startswith("write shared")]
    assert writing, run
    for state in writing:
        assert state["step_planned_bytes"] == 2 * MIB
        assert state["step_bytes"] % (2 * 64 * KIB) == 0
        assert state["step_bytes"] <= 2 * MIB
        # The phase is all there is to do.
        assert state["plan_done_fraction"] == pytest.approx(state["step_bytes"] / (2 * MIB))
    assert writing[-1]["step_bytes"] > 0
    text = any_engine.run([*words.split()[:-1], "line"], tmp_path).stderr
    assert re.search(r"about .*/s, .* of 2 MiB, .* left in it", text), text
