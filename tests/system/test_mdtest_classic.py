# SPDX-License-Identifier: BSD-3-Clause
"""The classic mdtest: what the original prints, and its known defects that ours must not have."""

from __future__ import annotations

import csv
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from engines import Engine, Run
from mdtest_runs import QUICK, left_in, operations


def classic(engine: Engine, words: Sequence[object], cwd: Path) -> Run:
    """Under the original's name, as bin/mdtest is linked."""
    link = cwd / "mdtest"
    if not link.exists():
        link.symlink_to(engine.program)
    return engine.run(words, cwd, program=link)


def table_of(run: Run, title: str = "SUMMARY rate") -> dict[str, list[float]]:
    """The rows of a classic table as parsers read them."""
    rows = {}
    lines = run.stdout.split(title, 1)[1].splitlines()[3:]
    for line in lines:
        words = line.split()
        if len(words) < 5 or line.startswith("--"):
            break
        rows[" ".join(words[:2])] = [float(w) for w in words[2:6]]
    return rows


def test_the_file_of_the_ranks_has_a_line_for_each_task(any_engine: Engine, tmp_path: Path) -> None:
    words = ("-n", "3", "-F", "-i", "2", "-d", tmp_path / "out")
    run = classic(any_engine, [*words, "--saveRankPerformanceDetails=ranks.csv"], tmp_path)
    assert run.code == 0, run
    with (tmp_path / "ranks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["rank"], row["items"]) for row in rows] == [
        *(("all", "3"), ("0", ""), ("1", "")),
        *(("0", ""), ("1", "")),
    ]
    for row in rows:
        for phase in ("creation", "stat", "read", "removal"):
            done = float(row[f"rate-File {phase}"]) * float(row[f"time-File {phase}"])
            assert done == pytest.approx(3 * 2 if row["rank"] == "all" else 3)
        assert row["rate-Directory creation"] == ""
    made = [m for m in run.result.measurements if m["where"]["phase"] == "File creation"]
    assert float(rows[0]["time-File creation"]) == pytest.approx(made[0]["seconds"]["total"]["max"])
    assert float(rows[4]["time-File creation"]) <= made[1]["seconds"]["total"]["max"] * 1.001


# The lines of the Blue Waters benchmarks (NCSA, 2017), with fewer items.
BLUE_WATERS = (
    ("-b", "3", "-v", "-z", "3", "-u", "-I", "2", "-k", "-i", "4"),
    ("-i", "20", "-v", "-u", "-n", "11"),
)


@pytest.mark.parametrize("line", BLUE_WATERS)
def test_blue_waters_lines_as_root(any_engine: Engine, tmp_path: Path, line: Sequence[str]) -> None:
    run = classic(any_engine, [*line, "-d", tmp_path / "out"], tmp_path)
    assert run.code == 0, run
    table = table_of(run)
    assert list(table) == [
        "Directory creation",
        "Directory stat",
        "Directory rename",
        "Directory removal",
        "File creation",
        "File stat",
        "File read",
        "File removal",
        "Tree creation",
        "Tree removal",
    ]
    for highest, lowest, mean, deviation in table.values():
        assert highest >= mean >= lowest > 0
        assert deviation > 0  # of 4 and of 20 iterations
    if "-k" in line:
        assert "--as-of-2017" in run.stderr
        # 40 directories in each tree, 2 files in each, 2 tasks.
        assert operations(run)["File creation"] == 2 * 40 * 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("line", BLUE_WATERS)
def test_blue_waters_lines_as_another_user(
    any_engine: Engine, elsewhere: Path, line: Sequence[str]
) -> None:
    link = elsewhere / "mdtest"
    link.symlink_to(any_engine.program)
    run = any_engine.as_nobody([*line, "-d", elsewhere / "out"], elsewhere, program=link)
    assert run.code == 0, run
    assert table_of(run)["File read"][2] > 0
    assert not (elsewhere / "out").exists()


def test_classic_phases_over_several_runs(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "20", "-F", "-x", "status", "-N", "1", "-d", tmp_path / "out"]
    created = classic(any_engine, [*words, "-C", "-W", "60"], tmp_path)
    assert created.code == 0, created
    assert (tmp_path / "status").read_text() == "20\n"
    assert len(list((tmp_path / "out").rglob("file.mdtest.*"))) == 40
    found = classic(any_engine, [*words, "-T", "-E"], tmp_path)
    assert found.code == 0, found
    table = table_of(found)
    assert table["File stat"][0] > 0
    assert table["File creation"] == [0, 0, 0, 0]  # skipped
    assert classic(any_engine, [*words, "-r"], tmp_path).code == 0
    assert left_in(tmp_path / "out") == []


def test_part_of_a_tree_and_a_tree_that_is_there(any_engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = classic(any_engine, ["-n", "10", "-F", "-C", "-d", out], tmp_path)
    assert made.code == 0, made
    # Half of the items, and one task of two: no error in the data.
    for words in (["-n", "5", "-F", "-T"], ["-n", "5", "-F", "-E"]):
        part = classic(any_engine, [*words, "-d", out], tmp_path)
        assert part.code == 0, part
    # Half of the items are removed; their directory stays with the others, as with the original.
    part = classic(any_engine, ["-n", "5", "-F", "-r", "-d", out], tmp_path)
    assert part.code == 0, part
    assert re.search(r"^effio: warning: .* which stays: ", part.stderr, re.M)
    assert table_of(part)["File removal"][2] > 0
    assert table_of(part)["Tree removal"][2] == 0
    assert len(list(out.rglob("file.mdtest.*"))) == 10
    again = classic(any_engine, ["-n", "10", "-F", "-C", "-P", "-Z", "-d", out], tmp_path)
    assert again.code == 0, again
    assert "warning: " in again.stderr
    assert "exists already; this run replaces it" in again.stderr
    # What parsers of the original read: nothing of ours after the first table.
    lines = again.stdout.splitlines()
    assert re.fullmatch(r"mdtest-4\.1\.0\+effio-\S+ was launched with 2 total task.*", lines[2])
    assert re.search(r"^FS +: \d+\.\d [MGTP]iB   Used FS: ", again.stdout, re.M)
    assert re.search(r"^Nodemap: 11\nPath +: .*\nFS +: .*\n2 tasks, 20 files\n", again.stdout, re.M)
    tables = again.stdout.partition("SUMMARY rate")[2].splitlines()
    assert any(line.startswith("SUMMARY time (in ms/op)") for line in tables)
    shown = [line for line in tables[1:-2] if line and not line.startswith(("   ", "SUMMARY"))]
    assert shown == []
    assert tables[-3].startswith("   Tree removal ")
    assert tables[-2].startswith("-- finished at ")
    assert tables[-1] == ""
    for words in (["-k", "-y"], ["-k", "-S"], ["-B"]):
        run = classic(any_engine, ["-n", "3", "-F", *words, "-d", tmp_path / "more"], tmp_path)
        assert run.code == 0, run
        assert f"note: {words[-1] if words != ['-k', '-S'] else '-k'}: " in run.stderr


def test_numbers_of_tasks_and_shapes_of_trees(any_engine: Engine, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def heads(run: Run) -> list[str]:
        assert run.code == 0, run
        found = re.findall(r"^(?:\d+ tasks, .*|SUMMARY rate)", run.stdout, re.M)
        return [line.strip() for line in found]

    def files() -> int:
        return len([p for p in out.rglob("file.mdtest.*") if p.is_file()])

    sweep = classic(any_engine, ["-f", 1, "-l", 2, "-n", 5, "-F", "-C", "-d", out], tmp_path)
    assert heads(sweep) == ["1 tasks, 5 files", "SUMMARY rate", "2 tasks, 10 files", "SUMMARY rate"]
    assert files() == 10
    # Where there are no files, no tree can make way.
    model = classic(any_engine, ["-a", "SIM", "-f", 1, "-l", 2, "-n", 5, "-C"], tmp_path)
    assert model.code == 2, model
    # A tree of another shape and size makes way, too; what is not mdtest's does not.
    unique = classic(any_engine, ["-n", 3, "-F", "-u", "-C", "-d", out], tmp_path)
    assert "exists already; this run replaces it" in unique.stderr
    assert heads(unique) == ["2 tasks, 6 files", "SUMMARY rate"]
    assert files() == 6
    shared = classic(any_engine, ["-n", 4, "-S", "-C", "-d", out], tmp_path)
    assert heads(shared) == ["2 tasks, 8 files", "SUMMARY rate"]
    assert files() == 4
    heads(classic(any_engine, ["-n", 2, "-S", "-T", "-E", "-d", out], tmp_path))
    (out / "test-dir.0-0" / "notes").write_text("mine")
    refused = classic(any_engine, ["-n", 4, "-S", "-C", "-d", out], tmp_path)
    assert refused.code == 2, refused
    assert "notes" in refused.stdout + refused.stderr
    assert (out / "test-dir.0-0" / "notes").read_text() == "mine"
    assert files() == 4


def test_tables_and_lines_of_the_tasks(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-a", "DUMMY", "--dummy.delay-create=2000", "--dummy.delay-only-rank0", "-n", 20, "-F"]
    run = classic(any_engine, [*words, "--showRankStatistics", "--print-all-procs"], tmp_path)
    assert run.code == 0, run
    row = table_row(run, "File creation")
    fastest, slowest, mean = row[:3]
    # Task 0 waits 2 ms for each file, and both together are at most twice as fast as task 0.
    assert slowest <= 500
    assert slowest <= fastest
    assert mean == pytest.approx((fastest + slowest) / 2, rel=1e-3)
    assert row[3] == row[4] == row[5] <= 1000
    assert row[6] == 0
    (rates,) = re.findall(r"^Test File creation (\S+)$", run.stdout, re.M)
    of_each = [float(word) for word in rates.split(",")]
    assert of_each == pytest.approx([slowest, fastest], rel=1e-5)


def table_row(run: Run, title: str) -> list[float]:
    (line,) = re.findall(rf"^   {title} +(\d.*)$", run.stdout.split("SUMMARY rate")[1], re.M)
    return [float(word) for word in line.split()]


def test_times_of_the_classic_table_are_milliseconds(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "5", "-F", "-y", "-P", "-d", tmp_path / "out"]
    run = classic(any_engine, words, tmp_path)
    assert run.code == 0, run
    rate = table_of(run)["File creation"][2]
    milliseconds = table_of(run, "SUMMARY time (in ms/op)")["File creation"][2]
    # Each of 2 tasks did half of the operations; the table has three digits.
    assert milliseconds == pytest.approx(2 * 1000 / rate, rel=1e-3, abs=1e-3)


# ---------------------------------------------------------------- defects of the original
# The numbers are those of the list in the description of mdtest that this project keeps.


def test_defect_9_ranks_can_continue_without_waiting(any_engine: Engine, tmp_path: Path) -> None:
    for option in (["-B"], ["-B", "1"]):
        words = ["-n", "10", "-u", *option, "-d", tmp_path / "out"]
        run = classic(any_engine, words, tmp_path)
        assert run.code == 0, run
        assert table_of(run)["File creation"][2] > 0
    # At the end of a phase no rank waits for rank 1, which takes 20 ms for each item.
    slow = ["--backend", "null", "--backend-options", "stat=20ms,only-rank=1"]
    words = ["-n", "10", "-u", "--no-barriers", "--things", "files"]
    run = any_engine.run([*QUICK, *words, *slow], tmp_path)
    assert run.code == 0, run
    total = run.results[-1].rows(access="stat")[0]["seconds"]["total"]
    assert total["min"] < 0.2 <= total["max"]


def test_defect_15_what_is_missing_is_not_counted(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "20", "-F", "-d", tmp_path / "out"]
    assert classic(any_engine, [*words, "-C"], tmp_path).code == 0
    for file in (tmp_path / "out").rglob("file.mdtest.0.*"):
        file.unlink()
    run = classic(any_engine, [*words, "-T"], tmp_path)
    assert run.code == 3, run
    stat = run.results[-1].rows(access="stat")[0]
    assert (stat["operations"], stat["detail"]["failed_operations"]) == (20, 20)
    assert table_of(run)["File stat"] == [0, 0, 0, 0]
    assert "INVALID" in run.stdout


def test_defect_16_wrong_data_are_reported_by_the_exit_code(
    any_engine: Engine, tmp_path: Path
) -> None:
    words = ["-n", "6", "-F", "-w", "3901", "-e", "3901", "-d", tmp_path / "out"]
    assert classic(any_engine, [*words, "-C"], tmp_path).code == 0
    file = min((tmp_path / "out").rglob("file.mdtest.1.*"))
    content = bytearray(file.read_bytes())
    content[1234] ^= 1
    file.write_bytes(content)
    run = classic(any_engine, [*words, "-E", "-X"], tmp_path)
    assert run.code == 1, run
    (error,) = run.results[-1].rows(access="read")[0]["errors"]
    assert (error["path"], error["offset_bytes"]) == (str(file), 1234)


def test_paths_may_be_long(any_engine: Engine, tmp_path: Path) -> None:
    """The original copies them into 1024 bytes."""
    long = tmp_path
    while len(str(long)) < 3000:
        long = long / ("d" * 200)
    long.mkdir(parents=True)
    run = classic(any_engine, ["-n", "3", "-d", long / "out"], tmp_path)
    assert run.code == 0, run
    assert operations(run)["File creation"] == 6
    assert left_in(long) == []


def test_defect_13_iterations_do_not_multiply_rates(any_engine: Engine, tmp_path: Path) -> None:
    """SIM takes 1 ms for each call: 2 tasks do 2000 a second, in all iterations."""
    words = ["-a", "SIM", "-n", "12", "-I", "4", "-b", "2", "-z", "1", "-i", "3", "-F"]
    run = classic(any_engine, words, tmp_path)
    assert run.code == 0, run
    for phase in ("File creation", "File stat", "File read", "File removal"):
        assert table_of(run)[phase] == pytest.approx([2000, 2000, 2000, 0])
    assert [m["operations"] for m in run.result.rows(phase="File stat")] == [72] * 3


def test_defect_19_times_of_operations_are_all_kept(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "5", "-F", "-i", "2", "-d", tmp_path / "out"]
    run = classic(any_engine, [*words, f"--savePerOpDataCSV={tmp_path}/ops"], tmp_path)
    assert run.code == 0, run
    phases = [f"file-{access}" for access in ("create", "stat", "read", "remove")]
    names = [f"ops-{p}-{i}-{r:05d}.csv" for p in phases for i in range(2) for r in range(2)]
    assert set(names) < {p.name for p in tmp_path.glob("ops*")}
    for name in names:
        head, *rows = (tmp_path / name).read_text().splitlines()
        assert head == "time,runtime,tp"
        assert len(rows) == 5
        for row in rows:
            begin, length, rate = map(float, row.split(","))
            assert begin >= 0
            # Both are rounded: to nanoseconds, and to thousandths of an operation a second.
            assert rate == pytest.approx(1 / length, rel=0.01)


def test_a_sweep_of_task_counts(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-a", "SIM", "-n", "4", "-F", "-f", "1", "-l", "2", "-s", "1"]
    run = classic(any_engine, words, tmp_path)
    assert run.code == 0, run
    stats = run.result.rows(phase="File stat")
    assert [(m["ranks"], m["operations"]) for m in stats] == [(1, 4), (2, 8)]
    # The original sleeps for a second before each number of tasks.
    assert [m["seconds"]["total"]["max"] for m in stats] == pytest.approx([0.004, 0.004])
    assert run.stdout.count("SUMMARY rate") == 2


def test_a_random_order_shows_its_seed(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-n", "3", "-F", "-C", "-d", "out"]
    run = classic(any_engine, [*words, "--random-seed=5"], tmp_path)
    assert run.code == 0, run
    assert re.search(r"^FS .*\nrandom seed: 5\n2 tasks, 6 files$", run.stdout, re.M)
    assert "random seed" not in classic(any_engine, words, tmp_path).stdout


def names_in(out: Path) -> list[str]:
    return [name for name in left_in(out) if "effio" not in name]


def test_names_are_the_originals(any_engine: Engine, tmp_path: Path) -> None:
    # As mdtest 4.1 was seen to name them.
    line = ["-n", "4", "-z", "1", "-b", "2", "-L", "-F", "-C", "-d", "leaves"]
    assert classic(any_engine, line, tmp_path).code == 0
    tree = "test-dir.0-0/mdtest_tree.0"
    assert [name for name in names_in(tmp_path / "leaves") if "file" in name] == [
        f"{tree}/mdtest_tree.{directory}/file.mdtest.{rank}.{item}"
        for directory, items in ((1, (2, 3)), (2, (4, 5)))
        for rank in (0, 1)
        for item in items
    ]
    line = ["-n", "4", "-I", "2", "-D", "-C", "-d", "loops"]
    assert classic(any_engine, line, tmp_path).code == 0
    assert [name for name in names_in(tmp_path / "loops") if "dir.mdtest" in name] == [
        f"test-dir.0-{loop}/mdtest_tree.0/dir.mdtest.{rank}.{item}"
        for loop in (0, 1)
        for rank in (0, 1)
        for item in (0, 1)
    ]


def test_no_other_user_may_write_whatever_the_umask(any_engine: Engine, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        run = classic(any_engine, ["-n", "1", "-C", "-d", "out"], tmp_path)
    finally:
        os.umask(before)
    assert run.code == 0, run
    for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]:
        assert path.stat().st_mode & 0o777 == (0o775 if path.is_dir() else 0o664), path


@pytest.mark.parametrize(
    "line",
    [
        "",  # no items: the tree alone
        "-n 0",
        "-n 1k -F",
        "-n 2 -G -1",
        "-a DUMMY -n 3 -T",
        "-n 2 -D -W 20 -x count",  # bounds the creation of files; there is none
        "-n 2 --warningAsErrors",
        "-n 2 -F -w 4096 -e 4096 --posix.odirect",
        "-a DUMMY -n 2 -F --dummy.delay-create=1000 --dummy.delay-only-rank0",
        "-n 2 --dummy.delay-xfer 5",
    ],
)
def test_what_the_original_takes_is_taken(any_engine: Engine, tmp_path: Path, line: str) -> None:
    run = classic(any_engine, line.split(), tmp_path)
    assert run.code == 0, run
    if line in ("", "-n 0"):
        assert "2 tasks, 0 files/directories" in run.stdout
        assert table_of(run)["Tree creation"][0] > 0
    if "1k" in line:
        assert operations(run)["File creation"] == 2 * 1024
    if "only-rank0" in line:
        backend = run.result.run["backend"]["settings"]
        assert (backend["create"], backend["only-rank"]) == (0.001, 0)
    if "xfer" in line:
        assert "the delays of DUMMY have no effect with -a posix" in run.stderr
    if "odirect" in line:
        assert run.result.run["backend"]["name"] == "direct"
    assert [name for name in left_in(tmp_path) if "out" in name] == []


def test_direct_files_are_opened_past_the_page_cache(any_engine: Engine, tmp_path: Path) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed (make test installs it)")
    words = "classic mdtest -n 2 -F -w 4096 -e 4096 --posix.odirect -d out"
    trace = tmp_path / "trace"
    prefix = ("strace", "-f", "-qq", "-e", "trace=openat", "-o", trace)
    assert any_engine.run(words.split(), tmp_path, ranks=1, prefix=prefix).code == 0
    opened = [line for line in trace.read_text().splitlines() if "file.mdtest.0" in line]
    assert len(opened) == 2 * 2  # created and read
    assert all("O_DIRECT" in line for line in opened)


def test_a_count_file_of_the_original_has_no_line_end(any_engine: Engine, tmp_path: Path) -> None:
    line = ["-n", "9", "-F", "-d", "out", "-x", "count"]
    assert classic(any_engine, ["-n", "6", "-F", "-d", "out", "-C"], tmp_path).code == 0
    (tmp_path / "count").write_text("6")
    run = classic(any_engine, [*line, "-T"], tmp_path)
    assert run.code == 0, run
    assert run.results[-1].rows(access="stat")[0]["operations"] == 2 * 6
    for bad in ("", "4 5", "four", "0", "-4"):
        (tmp_path / "count").write_text(bad)
        run = classic(any_engine, [*line, "-T"], tmp_path)
        assert run.code in (2, 3), run
        assert "count" in run.stderr


def test_files_of_the_original_are_not_comparable(any_engine: Engine, tmp_path: Path) -> None:
    """Its data are other data, and no damage."""
    words = ["-n", "3", "-F", "-w", "100", "-e", "100", "-d", "out", "-G", "5"]
    assert classic(any_engine, [*words, "-C"], tmp_path).code == 0
    files = sorted((tmp_path / "out").rglob("file.mdtest.*"))
    ours = [file.read_bytes() for file in files]
    for number, file in enumerate(files):
        file.write_bytes(bytes((7 * i + number) % 256 for i in range(1, 101)))
    run = classic(any_engine, [*words, "-E", "-X"], tmp_path)
    assert run.code == 2, run
    assert "the files are not comparable" in run.stderr
    assert "data_errors" not in run.stderr
    # One of ours among them, or a hole: then it is damage.
    for content in (ours[0], bytes(100)):
        files[0].write_bytes(content)
        run = classic(any_engine, [*words, "-E", "-X"], tmp_path)
        assert run.code == 1, run
