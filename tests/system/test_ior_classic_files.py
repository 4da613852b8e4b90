# SPDX-License-Identifier: BSD-3-Clause
"""The files of the classic ior: summaries, rates of ranks and calls, scripts, status, hints."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import KIB, classic, left


def test_a_summary_file_is_opened_before_anything_is_measured(
    any_engine: Engine, tmp_path: Path
) -> None:
    run = classic(any_engine, tmp_path, "-o f -b 64k -t 64k -k -O summaryFile=no/where/out", code=2)
    assert "open the summaryFile" in run.stderr
    assert left(tmp_path) == []


def test_csv_and_summary_file(any_engine: Engine, tmp_path: Path) -> None:
    classic(
        any_engine, tmp_path, "-o f -b 64k -t 64k -i 2 -O summaryFormat=CSV,summaryFile=out.csv"
    )
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["access"], r["iter"], r["numTasks"]) for r in rows] == [
        (a, i, "2") for i in "01" for a in ("write", "read")
    ]
    assert all(float(r["bw(MiB/s)"]) > 0 for r in rows)


def test_script_runs_its_tests_in_order(any_engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(
        "IOR START\n api=POSIX\n testFile=f, blockSize=128k\n transferSize=32k\n"
        " writeFile=1, keepFile=1\n RUN\n"
        " writeFile=0, readFile=1, checkRead=1 # what the first test wrote\n keepFile=0\n RUN\n"
        "IOR STOP\n"
    )
    run = classic(any_engine, tmp_path, "-G 77 -f s")
    assert [m["access"] for m in run.result.measurements] == ["write", "read"]
    assert run.result.measurements[1]["verified_bytes"] == 2 * 128 * 1024
    assert run.stdout.count("Summary of all tests:") == 1
    assert left(tmp_path) == ["s"]


def test_status_file_joins_a_write_and_a_read(any_engine: Engine, tmp_path: Path) -> None:
    # Every call takes 20 ms, so the stonewall falls long before the end of the block.
    line = "-F -o f -b 1g -t 64k -G 9 -O stoneWallingStatusFile=n,stoneWallingWearOut=1 -D 1"
    classic(any_engine, tmp_path, f"-w -k {line} -O interIODelay=20000")
    count = int((tmp_path / "n").read_text())
    assert 1 <= count <= 51
    sizes = [(tmp_path / f"f.{rank:08d}").stat().st_size for rank in (0, 1)]
    assert sizes == [count * 64 * 1024] * 2
    run = classic(any_engine, tmp_path, f"-r -R {line}")
    (read,) = run.results[-1].measurements
    assert read["verified_bytes"] == read["bytes"] == sum(sizes)
    (tmp_path / "n").write_text("many\n")
    run = classic(any_engine, tmp_path, f"-r -R {line}", code=2)
    assert "holds no number of calls" in run.stderr
    # What was there before is not ours to remove.
    assert [name for name in left(tmp_path) if name.startswith("f")] == [
        "f.00000000",
        "f.00000001",
    ]


def test_rates_of_the_ranks_as_csv(any_engine: Engine, tmp_path: Path) -> None:
    line = "-o f -b 256k -t 64k -i 2 -O saveRankPerformanceDetailsCSV=ranks.csv"
    run = classic(any_engine, tmp_path, line)
    with (tmp_path / "ranks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert list(rows[0]) == [
        *("access", "rank", "runtime-with-openclose", "runtime"),
        *("throughput-withopenclose", "throughput"),
    ]
    assert [(r["access"], r["rank"]) for r in rows] == 2 * [
        (access, rank) for access in ("write", "read") for rank in "01"
    ]
    for row in rows:
        assert float(row["runtime-with-openclose"]) >= float(row["runtime"]) > 0
        assert float(row["throughput"]) == pytest.approx(
            256 * KIB / float(row["runtime"]), rel=0.01
        )
    # The slowest rank of a phase is what the phase took.
    times = [float(r["runtime-with-openclose"]) for r in rows[:2]]
    assert max(times) == pytest.approx(
        run.result.measurements[0]["seconds"]["total"]["max"], abs=1e-9
    )


def test_one_mechanism_writes_the_csv_of_the_ranks(any_engine: Engine, tmp_path: Path) -> None:
    words = ["ior", "--quiet", "--backend=null", "--block=1MiB", "--repetitions=2"]
    run = any_engine.run([*words, "--save-rank-details=ranks.csv"], tmp_path)
    assert run.code == 0, run
    rows = list(csv.DictReader((tmp_path / "ranks.csv").read_text().splitlines()))
    assert len(rows) == 2 * 2 * 2
    for i, row in enumerate(rows):
        detail = run.result.measurements[i // 2]["detail"]["rank_details"][i % 2]
        assert float(row["runtime"]) == pytest.approx(detail["transfer_seconds"], abs=1e-9)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["ior", "--save-rank-details=no/r.csv"], "no/r.csv: No such file or directory"),
        (["ior", "--save-rank-details=/dev/full"], "/dev/full: No space left on device"),
        (["ior", "--save-rank-details="], "--save-rank-details: no file"),
        (["ior", "--save-rank-details=r", "--transfer=1KiB,2KiB"], "give one"),
        (["classic", "ior", "-O", "saveRankPerformanceDetailsCSV=no/r.csv"], "no/r.csv: No such"),
    ],
)
def test_a_csv_of_the_ranks_that_cannot_be_written(
    any_engine: Engine, tmp_path: Path, words: list[str], complaint: str
) -> None:
    run = any_engine.run(words, tmp_path)
    assert run.code == 2, run
    assert complaint in run.stderr
    assert all(r.measurements == [] for r in run.results)


def test_a_hints_file_that_is_missing(any_engine: Engine, tmp_path: Path) -> None:
    line = "classic ior -a MPIIO -w -o f -U nowhere"
    run = any_engine.alone(line.split(), tmp_path)
    assert run.code == 2, run
    assert "-U nowhere: cannot be read" in run.stdout + run.stderr
    assert left(tmp_path) == []


def test_all_tests_of_a_script_go_to_one_csv(any_engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(
        "IOR START\n testFile=f, blockSize=64k, transferSize=64k\n"
        " saveRankPerformanceDetailsCSV=ranks.csv\n RUN\n transferSize=32k\n RUN\nIOR STOP\n"
    )
    (tmp_path / "ranks.csv").write_text("of an earlier run\n")
    classic(any_engine, tmp_path, "-f s")
    with (tmp_path / "ranks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["access"], r["rank"]) for r in rows] == 2 * [
        (access, rank) for access in ("write", "read") for rank in "01"
    ]


def test_every_call_of_several_sizes_is_kept(any_engine: Engine, tmp_path: Path) -> None:
    words = ["ior", "--quiet", "--block=64KiB", "--transfer=16KiB,32KiB", "--save-calls=calls"]
    run = any_engine.run([*words, "--dir", tmp_path], tmp_path)
    assert run.code == 0, run
    for size, calls in ((16 * KIB, 4), (32 * KIB, 2)):
        for access in ("write", "read"):
            for rank in (0, 1):
                file = tmp_path / f"calls-{access}-{size}-0-{rank:05d}.csv"
                assert len(file.read_text().splitlines()) == 1 + calls


def test_a_status_file_of_the_original_has_no_line_end(any_engine: Engine, tmp_path: Path) -> None:
    line = "-F -o f -b 256k -t 64k -k -O stoneWallingStatusFile=n"
    classic(any_engine, tmp_path, "-w -F -o f -b 256k -t 64k -k")
    (tmp_path / "n").write_text("3")
    run = classic(any_engine, tmp_path, f"-r {line}")
    assert run.results[-1].rows(access="read")[0]["operations"] == 2 * 3
