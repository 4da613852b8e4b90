# SPDX-License-Identifier: BSD-3-Clause
"""`effio import`: every format's numbers and units, and what is refused. The files in foreign/ were
printed by fio 3.33, by effio under the names ior and mdtest, by IOR and mdtest 4.1
(ior-with-remarks.json, mdtest-ranks.txt, mdtest-sweep.txt) and by h5bench
(h5bench-later.txt, h5bench-read-later.txt, h5bench-read.csv) and by elbencho 3.1-10
(elbencho-3.csv, elbencho-3.json); elbencho.csv, those of IO500 and the
other ones of h5bench follow published examples. Expected values are read from the files manually.
"""

from __future__ import annotations

import csv
import json
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.errors import EffioError
from effio.imports import formats
from effio.imports.model import Imported
from effio.store.all_runs import Store
from effio.store.folder import RunFolder

ROOT = Path(__file__).parents[2]
FOREIGN = Path(__file__).parent / "foreign"
SUMS = ROOT / "tests/engine/classic"
MIB, GIB = 1 << 20, 1 << 30


def _one(name: str) -> Imported:
    (run,) = formats.read(FOREIGN / name if not name.endswith(".sum") else SUMS / name)[1]
    return run


def _import(effio: Effio, *words: str | Path) -> tuple[int, str]:
    done = effio.call("import", *words)
    return done.returncode, done.stdout + done.stderr


def _folders(effio: Effio) -> list[RunFolder]:
    return Store(effio.cwd / "effio-runs").folders()


def test_text_of_ior_is_the_cells_that_effio_measures() -> None:
    run = _one("ior.txt")
    assert (run.benchmark, run.program, run.backend, run.ranks, run.nodes) == (
        "ior", "IOR", "posix", 2, 1,
    )  # fmt: skip
    assert run.started is not None
    assert run.started.isoformat() == "2026-11-27T13:49:10"
    assert [(c.access, c.repetition) for c in run.cells] == [
        (access, n) for n in (1, 2, 3) for access in ("write", "read")
    ]
    first = run.cells[0]
    assert first.where == {
        "files": "shared", "transfer_bytes": 262144, "block_bytes": 1048576, "segments": 2,
        "workers": 2,
    }  # fmt: skip
    assert first.pattern == "shared sequential"
    assert first.rate == 938.20 * MIB
    assert (first.bytes, first.operations, first.seconds) == (4 * MIB, 16, 0.004263)
    assert first.parts == {"open": 0.001004, "transfer": 0.004197, "close": 0.002671}
    write = run.values[0]
    assert (write.name, write.where["access"]) == ("write_bandwidth", "write")
    assert write.value == pytest.approx((938.20 + 1361.08 + 382.41) / 3 * MIB)
    assert write.samples is not None
    assert (write.samples.count, write.samples.least) == (3, 382.41 * MIB)


def test_bytes_after_a_stonewall_are_rate_times_time(tmp_path: Path) -> None:
    text = (FOREIGN / "ior.txt").read_text()
    cut = tmp_path / "cut.txt"
    cut.write_text(text.replace("938.20     3812", "469.10     1906"))
    (run,) = formats.read(cut)[1]
    assert run.cells[0].bytes == round(469.10 * MIB * 0.004263)


def test_json_and_csv_of_ior() -> None:
    reported = json.loads((FOREIGN / "ior.json").read_text())["tests"][0]["Results"]
    run = _one("ior.json")
    assert [c.rate for c in run.cells] == [row["bwMiB"] * MIB for row in reported]
    assert [c.repetition for c in run.cells] == [1, 1, 2, 2]
    assert run.command[:3] == ["ior", "-a", "POSIX"]
    table = _one("ior.csv")
    assert table.cells[0].rate == 3708.9969754267568 * MIB
    assert (table.ranks, table.started) == (2, None)


def test_mdtest_has_means_with_their_spread() -> None:
    run = _one("mdtest.txt")
    cells = {(c.pattern, c.access): c for c in run.cells}
    assert len(cells) == 10
    assert cells["file", "create"].rate == 6489.072
    assert cells["file", "create"].operations == 40
    assert cells["tree", "remove"].operations == 1
    assert cells["file", "create"].detail == {"mean_of_iterations": 2}
    (create,) = [v for v in run.values if v.where["phase"] == "File creation"]
    assert create.samples is not None
    assert (create.samples.count, create.samples.least, create.samples.most) == (
        2, 4176.426, 8801.719,
    )  # fmt: skip
    assert create.samples.deviation == 3270.576


def test_summary_of_io500() -> None:
    run = _one("io500-summary.txt")
    cells = {c.where["phase"]: c for c in run.cells}
    assert "timestamp" not in cells
    easy = cells["ior-easy-write"]
    assert (easy.pattern, easy.access, easy.unit) == ("ior-easy", "write", "B/s")
    assert easy.rate == 0.146316 * GIB
    assert easy.bytes == round(0.146316 * GIB * 300.331)
    assert cells["mdtest-hard-delete"].access == "remove"
    assert cells["mdtest-hard-delete"].rate == pytest.approx(32387.15)
    assert "INVALID" in cells["mdtest-easy-write"].invalid
    score = run.values[-1]
    assert (score.name, score.value, score.valid) == ("score", 0.937520, False)


def test_result_of_io500_has_date_and_processes() -> None:
    run = _one("io500-result.txt")
    assert (run.ranks, run.version) == (40, "io500-isc24_v3")
    assert run.started is not None
    assert run.started.isoformat() == "2024-05-11T11:02:50"
    assert run.cells[0].rate == pytest.approx(10.608264 * GIB)
    assert [v.value for v in run.values] == pytest.approx([10.608264 * GIB, 843780.0, 94.6098])


def test_fio_has_one_cell_per_job_and_direction() -> None:
    reported = json.loads((FOREIGN / "fio.json").read_text())["jobs"]
    run = _one("fio.json")
    assert len(run.cells) == 4
    first = run.cells[0]
    side = reported[0]["read"]
    assert (first.pattern, first.access, first.bytes) == ("randrw", "read", side["io_bytes"])
    assert first.rate == side["bw_bytes"]
    assert first.times is not None
    assert first.times.shares[2] == side["clat_ns"]["percentile"]["99.000000"] / 1e9
    assert run.cells[2].where["process"] == 2
    assert run.started is not None
    assert run.started.utcoffset() is not None


def test_elbencho_counts_until_the_slowest_thread() -> None:
    run = _one("elbencho.csv")
    assert [(c.access, c.unit) for c in run.cells] == [
        ("create", "op/s"), ("write", "B/s"), ("read", "B/s"),
    ]  # fmt: skip
    write = run.cells[1]
    assert (write.rate, write.bytes, write.seconds) == (2941 * MIB, 8192 * MIB, 2.784)
    assert write.detail == {
        "first_done": 3494 * MIB, "min_latency_us": 1661, "avg_latency_us": 9383,
        "max_latency_us": 120903,
    }  # fmt: skip


def test_elbencho_has_a_rate_for_each_phase_and_direction() -> None:
    # What elbencho wrote in these runs: a tree, a file twice, random reads, a mix, a hundred bytes.
    places = [
        *(("create", "mkdirs", 1), ("write", "write", 1), ("stat", "stat", 1)),
        *(("read", "read", 1), ("remove", "rmfiles", 1), ("remove", "rmdirs", 1)),
        *(("write", "write", 1), ("read", "read", 1), ("write", "write", 2), ("read", "read", 2)),
        *(("read", "read", 1), ("write", "rwmix30", 1), ("read", "rwmix30", 1)),
    ]
    table, exact = _one("elbencho-3.csv"), _one("elbencho-3.json")
    for run in (table, exact):
        assert [(c.access, c.where["operation"], c.repetition) for c in run.cells[:13]] == places
        assert run.started == datetime(2026, 11, 28, 13, 0, 17, tzinfo=timezone.utc)
        assert (run.version, run.ranks, run.nodes) == ("3.1-10", 2, 1)
        assert run.command[:3] == ["elbencho", "-d", "-w"]
        # A phase of less than a millisecond has a rate, but no time.
        assert (run.cells[0].rate, run.cells[0].operations, run.cells[0].seconds) == (
            20066,
            6,
            None,
        )
        assert [c.pattern for c in run.cells[9:12]] == ["sequential", "random", "sequential"]
        assert [(c.where["direct"], c.where["io_depth"]) for c in run.cells[5:7]] == [
            (False, 1), (True, 4),
        ]  # fmt: skip
        assert run.cells[6].where["label"] == "try 1"
    # 786432 bytes are less than one MiB: the CSV shows 279 MiB/s and 0 MiB.
    assert [(c.rate, c.bytes, c.unit) for c in (table.cells[1], exact.cells[1])] == [
        (279 * MIB, 0, "B/s"), (292680312, 786432, "B/s"),
    ]  # fmt: skip
    assert [(c.rate, c.bytes) for c in exact.cells[11:13]] == [
        (213750815, 327680), (2522259621, 3866624),
    ]  # fmt: skip
    # Below 1 MiB/s the table says 0, which is left out.
    assert (len(table.cells), len(exact.cells)) == (13, 14)
    assert exact.cells[13].rate == 793650
    assert [(v.name, v.value, v.samples and v.samples.count) for v in exact.values[2:4]] == [
        ("write_bandwidth", (808151059 + 1383802045) / 2, 2),
        ("read_bandwidth", (1472202176 + 1467566130) / 2, 2),
    ]


def test_random_and_sequential_reads_of_elbencho_are_not_repetitions(tmp_path: Path) -> None:
    lines = (FOREIGN / "elbencho-3.json").read_text().splitlines()
    (read,) = (line for line in lines if '"random_offsets":"true"' in line)
    both = tmp_path / "both.json"
    both.write_text(
        f"{read}\n" + read.replace('"random_offsets":"true"', '"random_offsets":"false"')
    )
    (run,) = formats.read(both)[1]
    assert [(c.pattern, c.repetition) for c in run.cells] == [("random", 1), ("sequential", 1)]
    assert [v.where["pattern"] for v in run.values] == ["random", "sequential"]


def test_a_cut_json_of_elbencho_says_where(tmp_path: Path) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text((FOREIGN / "elbencho-3.json").read_text()[:-20])
    with pytest.raises(EffioError, match=r"JSON of elbencho: .*char"):
        formats.read(cut)


def test_h5bench_observes_more_than_its_raw_data(tmp_path: Path) -> None:
    both = tmp_path / "both.txt"  # the output of a job that writes and then reads
    names = ("h5bench.txt", "h5bench-read.txt")
    both.write_text("".join((FOREIGN / name).read_text() for name in names))
    write, read = formats.read(both)[1]
    assert [(c.pattern, c.access, c.bytes) for c in (*write.cells, *read.cells)] == [
        ("observed", "write", 2560 * MIB), ("raw", "write", 2560 * MIB),
        ("observed", "read", 2560 * MIB), ("raw", "read", 2560 * MIB),
    ]  # fmt: skip
    assert [c.rate for c in write.cells] == [1197.592 * MIB, 2528.860 * MIB]
    # The observed time is without 4 s of emulated computation, as its rate is.
    assert [c.seconds for c in write.cells] == [pytest.approx(2.138), 1.012]
    assert write.cells[0].parts == {
        "metadata": pytest.approx(0.28499), "create": pytest.approx(0.004009),
        "flush": pytest.approx(0.014575), "close": pytest.approx(0.00429),
    }  # fmt: skip
    assert read.cells[0].rate == 2353.605225 * MIB
    assert (write.ranks, write.program, write.values[0].value) == (
        4, "h5bench_write", 1197.592 * MIB,
    )  # fmt: skip
    table = _one("h5bench.csv")
    assert [(c.rate, c.bytes, c.ranks) for c in table.cells] == [
        (c.rate, c.bytes, c.ranks) for c in write.cells
    ]
    assert table.options == {"collective-data": "NO"}


def test_summary_of_b_eff_io() -> None:
    run = _one("two_processes.sum")
    assert len(run.cells) == 7 * 5 + 7 + 7 * 5
    assert run.cells[0].rate == pytest.approx(337.431e6)
    assert run.cells[0].where == {"ranks": 2, "position": 1, "chunk_bytes": 1024}
    last = run.values[-1]
    assert (last.name, last.valid) == ("b_eff_io", False)
    assert last.value == pytest.approx(1217.187e6)
    assert last.reasons == ["scheduled time 1.0 min >= 30 min"]


@pytest.mark.parametrize("file", sorted([*FOREIGN.iterdir(), *SUMS.glob("*.sum")]))
def test_what_is_kept_fits_every_command(file: Path, effio: Effio) -> None:
    code, said = _import(effio, file, "--tag", "old")
    assert code == 0, said
    folders = _folders(effio)
    assert len(folders) == (2 if "sweep" in file.name else 1)
    for folder in folders:
        assert folder.result().remarks == []
        assert folder.changed_since_sealed() == []
        assert folder.state() == "done"
        assert folder.result().run.manifest is None  # effio clean has nothing to remove
        shown = effio.call("show", folder.id)
        assert shown.returncode == 0, shown.stderr
        assert "does not judge" in shown.stdout
    last = folders[-1].id
    for words in (["table", "tag:old"], ["runs"], ["export", last], ["report", last]):
        done = effio.call(*words)
        assert done.returncode == 0, done.stderr
    assert f"here already: {len(folders)}" in _import(effio, file)[1]
    assert len(_folders(effio)) == len(folders)


def test_what_is_refused_leaves_nothing(effio: Effio, tmp_path: Path) -> None:
    cut = tmp_path / "cut.txt"
    cut.write_text((FOREIGN / "ior.txt").read_text().partition("Results:")[0])
    torn = tmp_path / "torn.json"
    torn.write_text((FOREIGN / "fio.json").read_text()[:3000])
    summary = (FOREIGN / "io500-summary.txt").read_text()
    endless = tmp_path / "endless.txt"
    endless.write_text(summary.replace("9.456456 kIOPS", "1e5000 kIOPS"))
    total = tmp_path / "total.txt"
    total.write_text(summary.replace("TOTAL 0.937520", "TOTAL " + 400 * "9"))
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for path, why in (
        (cut, "without a table of results"),
        (torn, "JSON of fio that cannot be read"),
        (ROOT / "LICENSE", "in none of the formats"),
        (endless, "IO500 summary with a number that is out of range"),
        (total, "IO500 summary with a number that is out of range"),
        (circle, "is a link, not a regular file"),
        (Path("/dev/null"), "not a regular file"),
        (tmp_path, "directory"),
        (tmp_path / "missing", "No such file"),
    ):
        code, said = _import(effio, path)
        assert code == 2, said
        assert why in said
        assert not (effio.cwd / "effio-runs").exists()


def test_one_bad_file_does_not_stop_the_others(effio: Effio) -> None:
    code, said = _import(effio, ROOT / "LICENSE", FOREIGN / "ior.txt")
    assert code == 2
    assert "1 file of 2 not imported" in said
    assert [folder.state() for folder in _folders(effio)] == ["done"]


def test_a_number_that_is_none_is_left_out(tmp_path: Path) -> None:
    table = (FOREIGN / "elbencho.csv").read_text()
    bad = tmp_path / "bad.csv"
    bad.write_text(table.replace("3494,2941,10", "1e999,nan,10"))
    (run,) = formats.read(bad)[1]
    assert [c.access for c in run.cells] == ["create", "read"]


def test_runs_of_two_systems_are_compared(effio: Effio, tmp_path: Path) -> None:
    text = (FOREIGN / "ior.txt").read_text()
    slow = tmp_path / "slow.txt"
    slow.write_text(text.replace("938.20", "93.82"))
    assert _import(effio, FOREIGN / "ior.txt", "--tag", "a")[0] == 0
    assert _import(effio, slow, "--tag", "b")[0] == 0
    done = effio.call("compare", "tag:a", "tag:b")
    assert "shared sequential write" in done.stdout, done.stderr
    # Two runs are too few for a verdict, whatever the numbers are.
    assert "too few runs" in done.stdout


def test_a_trend_names_the_program_whose_version_changed(effio: Effio, tmp_path: Path) -> None:
    text = (FOREIGN / "ior.txt").read_text()
    newer = tmp_path / "newer.txt"
    newer.write_text(text.replace("IOR-4.1.0+effio-0.1.0", "IOR-4.2.0").replace("Nov 27", "Nov 28"))
    assert _import(effio, FOREIGN / "ior.txt", newer)[0] == 0
    done = effio.call("trend", "tag:imported")
    assert "2026-11-28: IOR changed from 4.1.0+effio-0.1.0 to 4.2.0." in done.stdout, done.stderr


def test_h5bench_of_today_prints_its_results_with_colons() -> None:
    write = _one("h5bench-later.txt")
    assert (write.program, write.ranks) == ("h5bench_write", 2)
    observed, raw = write.cells
    assert (observed.rate, raw.rate) == (59.094 * MIB, 428.862 * MIB)
    assert observed.bytes == 12 * MIB
    assert [observed.seconds, raw.seconds] == pytest.approx([0.203, 0.028])
    assert observed.parts == {"metadata": 0.001, "create": 0.062, "flush": 0.072, "close": 0.019}
    read, table = _one("h5bench-read-later.txt"), _one("h5bench-read.csv")
    for run in (read, table):
        assert [(c.access, c.rate, c.bytes) for c in run.cells] == [
            ("read", 38.473 * MIB, 12 * MIB), ("read", 4.264 * GIB, 12 * MIB),
        ]  # fmt: skip
    assert table.options["collective-meta"] == "NO"


def test_mdtest_names_the_tasks_before_each_table() -> None:
    """-f 1 -l 2 of mdtest 4.1 on two tasks."""
    runs = formats.read(FOREIGN / "mdtest-sweep.txt")[1]
    assert [(run.ranks, run.nodes) for run in runs] == [(1, 1), (2, 1)]
    creations = [run.cells[0] for run in runs]
    assert [(c.access, c.ranks, c.operations, c.rate) for c in creations] == [
        ("create", 1, 20, 10615.804), ("create", 2, 40, 701.937),
    ]  # fmt: skip


def test_mdtest_with_columns_of_the_ranks() -> None:
    """The rates are those of the iterations, not those of single ranks."""
    run = _one("mdtest-ranks.txt")
    assert [c.rate for c in run.cells] == [
        8661.891, 1597830.095, 1597830.095, 404270.265, 9098.273, 5809.285,
    ]  # fmt: skip


def test_times_of_mdtest_alone_are_refused(tmp_path: Path) -> None:
    text = (FOREIGN / "mdtest-ranks.txt").read_text()
    head, _, rest = text.partition("SUMMARY rate")
    path = tmp_path / "times.txt"
    path.write_text(head + rest[rest.index("SUMMARY time") :])
    with pytest.raises(EffioError, match="it has times only"):
        formats.read(path)


def test_json_of_ior_with_remarks_between_its_lines() -> None:
    """Printed by IOR 4.1 with -vv."""
    run = _one("ior-with-remarks.json")
    assert [(c.access, c.rate) for c in run.cells] == [
        ("write", 2265.3546 * MIB), ("read", 11634.6852 * MIB),
    ]  # fmt: skip
    # 11634.6852 MiB/s for 0.0002 s would be 2.33 MiB; two tasks read 1 MiB each.
    assert [c.bytes for c in run.cells] == [2 * MIB, 2 * MIB]


def test_the_number_of_a_run_with_several_cells_names_its_own(effio: Effio) -> None:
    """Seven rates: which one it is, and where the bytes of this one were, not of all."""
    assert _import(effio, FOREIGN / "elbencho-3.csv")[0] == 0
    first = effio.call("show", "last").stdout.splitlines()[0]
    assert first.startswith("read_bandwidth = 2.522 GB/s operation rwmix30, path type file, ")
    assert "block 64 KiB" in first
    assert "reads, from memory or storage: not known" in first
    assert "writes" not in first
    assert "label" not in first


def test_a_rate_that_effio_did_not_judge_is_not_called_valid(effio: Effio) -> None:
    assert _import(effio, FOREIGN / "ior.txt")[0] == 0
    [row] = csv.DictReader(
        effio.call("table", "--value", "write", "--format", "csv").stdout.splitlines()
    )
    assert (row["counted"], row["verdict"]) == ("1", "")


@pytest.mark.parametrize("file", sorted(FOREIGN.iterdir()), ids=lambda file: file.name)
def test_a_file_that_is_cut_gives_no_other_number(file: Path, tmp_path: Path) -> None:
    """Half a number looks like a number: 146 of 1466 op/s."""
    content = file.read_bytes()
    whole = {(c.access, c.rate, c.operations) for r in formats.read(file)[1] for c in r.cells}
    cut = tmp_path / file.name
    for length in range(1, len(content), len(content) // 20):
        cut.write_bytes(content[:length])
        try:
            runs = formats.read(cut)[1]
        except EffioError:
            continue
        assert {(c.access, c.rate, c.operations) for r in runs for c in r.cells} <= whole


def test_a_torn_last_line_is_left_out_and_reported(effio: Effio, tmp_path: Path) -> None:
    cut = tmp_path / "cut.csv"
    cut.write_bytes((FOREIGN / "elbencho.csv").read_bytes()[:-3])
    code, said = _import(effio, cut)
    assert code == 0
    assert "the last line has no end and is left out: the file may be cut" in " ".join(said.split())
    assert "2 rates" in said
    assert "has no end" in effio.call("show", "last").stdout


def test_what_a_file_of_two_programs_holds_is_not_dropped_silently(
    effio: Effio, tmp_path: Path
) -> None:
    both = tmp_path / "both.txt"
    both.write_text((FOREIGN / "ior.txt").read_text() + (FOREIGN / "mdtest.txt").read_text())
    code, said = _import(effio, both)
    assert code == 0
    assert "also holds mdtest text, which is not imported" in " ".join(said.split())


@pytest.mark.parametrize("name", ["ior.txt", "mdtest.txt", "io500-result.txt", "h5bench.txt"])
def test_decimal_commas_are_refused(name: str, tmp_path: Path) -> None:
    """The part before the comma was imported as the number."""
    local = tmp_path / name
    local.write_text(re.sub(r"(\d)\.(\d)", r"\1,\2", (FOREIGN / name).read_text()))
    with pytest.raises(EffioError) as refused:
        formats.read(local)
    assert "decimal commas" in refused.value.hint


def test_decimal_commas_in_csv_of_ior_shift_no_cells(tmp_path: Path) -> None:
    local = tmp_path / "ior.csv"
    local.write_text(re.sub(r"(\d)\.(\d)", r"\1,\2", (FOREIGN / "ior.csv").read_text()))
    with pytest.raises(EffioError, match="more cells in a row than names"):
        formats.read(local)
