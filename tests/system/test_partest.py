# SPDX-License-Identifier: BSD-3-Clause
"""partest from the outside: times by a formula, bytes and lengths of files, endings, the classic
command line. What holds for every stream is in tests/engine/frame/study/streams_test.cpp."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from array_tools import io_error_of
from engines import Engine, Run
from sion_files import Writer

KIB = 1024
MIB = 1 << 20
MODEL = "rank-rate=100MB/s,latency=1ms,open=10ms,sync=20ms,close=5ms"
# Four calls: 100, 4096, 4096 and 1708 bytes.
STREAM = ("--size", "10000B", "--call", "4KiB", "--first-access", "100B")
QUICK = ("--quiet", "--agree-deadline", "3s", "--watchdog", "15s")


def _of(run: Run, method: str, access: str) -> dict[str, Any]:
    (m,) = [m for m in run.result.measurements if (m["pattern"], m["access"]) == (method, access)]
    return m


def test_in_virtual_time_each_phase_is_the_closed_formula(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["partest", "--backend", "sim", "--backend-options", MODEL, *STREAM]
    run = any_engine.run([*words, "--dir", data], tmp_path)
    assert run.code == 0, run
    # Only the container has chunks.
    assert "Highest write: " in run.stdout
    assert ", chunk -" not in run.stdout
    calls = 4 * 1e-3 + 10000 / 100e6
    for method in ("sion", "task-local", "shared"):
        for access in ("write", "read"):
            m = _of(run, method, access)
            created = method == "task-local" and access == "write"
            parts = {"open": 0.010, "transfer": calls, "close": 0.005}
            parts |= {"create": 0.010, "create_close": 0.005} if created else {}
            parts |= {"sync": 0.020} if access == "write" else {}
            found = {name: spread["max"] for name, spread in m["seconds"].items()}
            assert ("create" in found) == created
            assert {name: found[name] for name in parts} == pytest.approx(parts)
            assert (found["file_barrier"], found["global_barrier"]) == pytest.approx((0, 0))
            assert m["rate"]["value"] == pytest.approx(20000 / sum(parts.values()))
            assert (m["bytes"], m["operations"]) == (20000, 8)
            assert m["verified_bytes"] == (20000 if access == "read" else 0)


def test_in_virtual_time_tasks_take_turns(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    words = ["partest", "--quiet", "--backend", "sim", "--backend-options", MODEL, *STREAM]
    run = any_engine.run([*words, "--at-a-time", "1", "--dir", data], tmp_path)
    assert run.code == 0, run
    calls = 4 * 1e-3 + 10000 / 100e6
    for m in run.result.measurements:
        assert m["seconds"]["transfer"]["max"] == pytest.approx(calls)
        # Each waits for the other one.
        assert m["seconds"]["turn"]["min"] == pytest.approx(calls)
        assert m["seconds"]["turn"]["max"] == pytest.approx(calls)
        created = "create" in m["seconds"]
        total = 0.015 + 2 * calls + (0.015 if created else 0)
        total += 0.020 if m["access"] == "write" else 0
        assert m["rate"]["value"] == pytest.approx(20000 / total)


def _lengths(ranks: int) -> dict[str, int]:
    """Streams of 10000 bytes, chunks of 4000 bytes rounded up to the block of 4 KiB: three rows."""
    first = (1088 + 16 * ranks + 4095) // 4096 * 4096
    files = {f"partest_task-local_{ranks}.{task:06d}": 10000 for task in range(ranks)}
    files[f"partest_shared_{ranks}"] = 10000 * ranks
    tail = 8 * ranks + 3 * 8 * ranks
    files[f"partest_sion_{ranks}_4000"] = first + 3 * ranks * 4096 + tail
    return files


@pytest.mark.parametrize("ranks", [1, 2, 4, 5])
def test_bytes_and_lengths_of_the_files(
    any_engine: Engine, ranks: int, tmp_path: Path, data: Path
) -> None:
    any_engine.needs_ranks(ranks)
    words = ["partest", *STREAM, "--chunk", "4000B", "--block", "4KiB", "--shift", "1", "--keep"]
    run = any_engine.run([*words, "--dir", data], tmp_path, ranks=ranks)
    assert run.code == 0, run
    lengths = _lengths(ranks)
    assert {f.name: f.stat().st_size for f in data.iterdir()} == lengths
    for m in run.result.measurements:
        assert (m["bytes"], m["operations"]) == (10000 * ranks, 4 * ranks)
        assert m["verified_bytes"] == (10000 * ranks if m["access"] == "read" else 0)
        if m["access"] == "write":
            own = [size for name, size in lengths.items() if f"_{m['pattern']}_" in name]
            on_disk = m["detail"]["on_disk"]
            assert (on_disk["files"], on_disk["bytes"]) == (len(own), sum(own))
            assert 0 <= on_disk["sparse_share"] <= 1
    check = any_engine.alone(["sion", "check", data / f"partest_sion_{ranks}_4000"], tmp_path)
    assert check.code == 0, check


def test_the_container_of_the_definition(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Four tasks of 3 MiB, chunks of 2 MiB, blocks of 64 KiB."""
    any_engine.needs_ranks(4)
    words = ["partest", "--methods", "sion", "--size", "3MiB", "--call", "1MiB", "--chunk", "2MiB"]
    run = any_engine.run(
        [*words, "--block", "64KiB", "--container-open", "each", "--dir", data], tmp_path, ranks=4
    )
    assert run.code == 0, run
    assert _of(run, "sion", "write")["detail"]["on_disk"]["bytes"] == 16842848
    assert _of(run, "sion", "read")["verified_bytes"] == 12 * MIB
    assert list(data.iterdir()) == []


def test_a_container_of_two_files(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """Each file has two tasks, whose chunks are placed as in a container of two; the first has the
    table of all tasks."""
    any_engine.needs_ranks(4)
    words = ["partest", "--methods", "sion", *STREAM, "--chunk", "4000B", "--block", "4KiB"]
    words += ["--container-files", "2", "--dir", str(data)]
    run = any_engine.run([*words, "--keep", "--shift", "1"], tmp_path, ranks=4)
    assert run.code == 0, run
    file = data / "partest_sion_4_4000"
    second = Path(f"{file}.000001")
    one = _lengths(2)["partest_sion_2_4000"]
    lengths = {file.name: one + 4 + 4 * 8, second.name: one}
    assert {f.name: f.stat().st_size for f in data.iterdir()} == lengths
    written = _of(run, "sion", "write")["detail"]["on_disk"]
    assert (written["files"], written["bytes"]) == (2, sum(lengths.values()))
    assert _of(run, "sion", "read")["verified_bytes"] == 40000
    planned = any_engine.run([*words, "--plan-json"], tmp_path, ranks=4)
    assert {c["files"] for c in json.loads(planned.stdout)["cells"]} == {2}
    # A file that has lost its end, and one that is not there.
    second.write_bytes(second.read_bytes()[:-1])
    again = [*words, "--phases", "read", *QUICK]
    run = any_engine.run(again, tmp_path, ranks=4)
    assert run.code == 3, run
    assert str(second) in run.stderr
    second.unlink()
    run = any_engine.run(again, tmp_path, ranks=4)
    assert run.code not in (0, 1), run
    assert str(second) in run.stderr
    assert {f.name for f in data.iterdir()} == {file.name}
    second.write_bytes(b"of somebody")
    run = any_engine.run(words, tmp_path, ranks=4)
    assert run.code == 2, run
    assert second.read_bytes() == b"of somebody"
    run = any_engine.run([*words, "--overwrite"], tmp_path, ranks=4)
    assert run.code == 0, run
    assert list(data.iterdir()) == []


def test_collectors_move_for_the_others(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """The group's chunks, 4000 bytes each, fill two blocks: the second one has what is left. Tasks
    have four calls and five."""
    words = ["partest", "--methods", "sion", *STREAM, "--chunk", "4000B", "--block", "4KiB"]
    words += ["--collective", "write,read", "--collector-tasks", "2", "--dir", str(data)]
    run = any_engine.run([*words, "--keep", "--shift", "1"], tmp_path)
    assert run.code == 0, run
    (file,) = data.iterdir()
    assert file.stat().st_size == 4096 + 3 * 8192 + 8 * 2 + 3 * 8 * 2
    m = _of(run, "sion", "read")
    assert (m["operations"], m["bytes"], m["verified_bytes"]) == (8, 20000, 20000)
    check = any_engine.alone(["sion", "check", file], tmp_path)
    assert check.code == 0, check
    file.unlink()
    words += ["--random-size", "0.9", "--double-write", "--unlink"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    m = _of(run, "sion", "read")
    assert m["verified_bytes"] == m["bytes"] > 20000
    assert list(data.iterdir()) == []


def test_what_is_wrong_is_found_by_a_later_run(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """Byte 5000 of task 1, which task 0 reads: in the container's second row of chunks."""
    words = ["partest", *STREAM, "--chunk", "4KiB", "--block", "4KiB", "--dir", data]
    run = any_engine.run([*words, "--phases", "write", "--keep"], tmp_path)
    assert run.code == 0, run
    places = {
        "sion_2_4096": (4096 + (1 * 2 + 1) * 4096 + 5000 - 4096, 15000),
        "task-local_2.000001": (5000, 5000),
        "shared_2": (15000, 15000),
    }
    for name, (place, reported) in places.items():
        file = data / f"partest_{name}"
        right = file.read_bytes()
        file.write_bytes(right[:place] + bytes([right[place] ^ 1]) + right[place + 1 :])
        again = any_engine.run(
            [*words, "--phases", "read", "--shift", "1", "--overwrite"], tmp_path
        )
        assert again.code == 1, again
        (wrong,) = [m for m in again.result.measurements if m["error_count"]]
        error = wrong["errors"][0]
        assert (error["rank"], error["offset_bytes"]) == (0, reported)
        assert Path(error["path"]) == file
        file.write_bytes(right)


def test_random_sizes_and_several_numbers_of_tasks(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["partest", "--size", "10000B", "--call", "4KiB", "--random-size", "0.5"]
    run = any_engine.run(
        [*words, "--tasks", "1,2", "--double-write", "--unlink", "--dir", data], tmp_path
    )
    assert run.code == 0, run
    by_tasks = {n: {m["bytes"] for m in run.result.rows(tasks=n)} for n in (1, 2)}
    assert {len(some) for some in by_tasks.values()} == {1}
    (one,), (two,) = by_tasks[1], by_tasks[2]
    assert 10000 <= one < 15000
    assert 10000 <= two - one < 15000
    accesses = [m["access"] for m in run.result.rows(tasks=2)]
    assert accesses == ["write", "re-write", "read"] * 3
    for m in run.result.measurements:
        assert ("unlink" in m["seconds"]) == (m["access"] == "read")
    assert {f["where"]["tasks"] for f in run.result.figures if f["name"] == "speed_up"} == {1, 2}
    assert list(data.iterdir()) == []


def test_a_million_tasks_are_planned(any_engine: Engine, tmp_path: Path) -> None:
    words = ["partest", "--plan-json", "--plan-ranks", "1000000", "--random-size", "0.1"]
    run = any_engine.run(words, tmp_path, ranks=1)
    assert run.code == 0, run
    cells = json.loads(run.stdout)["cells"]
    assert {(c["pattern"], c["files"]) for c in cells} == {
        ("sion", 1), ("task-local", 10**6), ("shared", 1),
    }  # fmt: skip
    assert len({c["bytes"] for c in cells}) == 1
    assert 20 * MIB * 1.04e6 < cells[0]["bytes"] < 20 * MIB * 1.06e6


def test_a_disk_runs_full(any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]) -> None:
    place = mount("-t", "tmpfs", "-o", "size=16m", "none")
    for method in (["sion"], ["sion", "--container-files", "2"], ["task-local"]):
        words = ["partest", "--methods", *method, "--size", "12MiB", "--call", "1MiB", *QUICK]
        run = any_engine.run([*words, "--max-bytes", "1GiB", "--dir", place], tmp_path)
        io_error_of(run)
        assert [m["valid"] for m in run.result.measurements] == [False]
        assert list(place.iterdir()) == [], run


def test_a_directory_that_cannot_be_written(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(["partest", *QUICK, "--dir", "/proc"], tmp_path)
    assert run.code == 3, run
    assert "/proc" in run.stderr
    assert run.result.measurements == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "tape"], "--methods"),
        (["--tasks", "3"], "3 are more than the 2 ranks"),
        (["--call", "1KiB", "--first-access", "2KiB"], "--first-access: 2KiB are more"),
        (["--random-size", "2"], "--random-size"),
        (["--exact-name"], "--exact-name"),
        (["--unlink", "--keep"], "exclude each other"),
        (["--unlink", "--phases", "read"], "read and not removed"),
        (["--double-write", "--phases", "read"], "no write"),
        (["--hint", "word"], "KEY=VALUE"),
        (["--prefix", "a/b"], "--prefix"),
        (["--container-files", "3"], "3 are more than the 2 tasks"),
        (["--methods", "shared", "--container-files", "2"], "--methods has no sion"),
        (["--collector-tasks", "2"], "--collective says"),
        (["--collective", "write", "--at-a-time", "1"], "--at-a-time"),
        (["--collective", "read", "--container-open", "each"], "opened by all"),
        (["--collective", "open"], "--collective"),
        (["--size", "1GiB", "--chunk", "1B", "--block", "1B"], "more than 67108864 chunks"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    any_engine: Engine, tmp_path: Path, data: Path, words: list[str], said: str
) -> None:
    run = any_engine.run(["partest", *words, "--dir", data], tmp_path)
    assert run.code == 2, run
    assert said in run.stderr
    assert list(data.iterdir()) == []


# The forms of the original's lines, as scripts that read them take them apart.
SECONDS = r"\d+\.\d{4,6}s"
STAT = (
    r"timings\[(\d{6})\] T_STAT           (TASK|FILE|TOTAL) (WRITE|READ)  b= *(\d+\.\d\d) MiB "
    r"t= *(\d+\.\d{6})s #chunks=(\d+) bw= *\d+\.\d{4} MB/s \( *\d+\.\d{4} MiB/s\) ion=0 nf=(\d+)"
)
TIMES = r"timings\[\d{6}\] "
WHOSE = r"(TASK|FILE|TOTAL) (WRITE|READ)  "
CREATE = rf"(?:create={SECONDS}, create_cls={SECONDS}, )?"
MOVES = rf"open={SECONDS}, (?:write|read)={SECONDS}, close={SECONDS}"
FORMS = [
    r"-{90}",
    r"LINUX\[\d{3}\] diff_comm: +\d+ of +\d+  same_comm:   -2 of   -2 file_comm:   -2 of   -2 vm",
    r"SION parallel file I/O benchmark 'partest': (start|end) at "
    r"\w{3} \w{3} [ \d]\d [\d:]{8} \d{4}",
    r"partest Number of tasks that will use the file tasks:       running on \d+ tasks",
    r"partest parameter:   \(.{2,5}\) +\S.* = .+",
    r"partest filespec:    \(  \)    (using_hints|fsblksize) +  = \d+",
    STAT,
    rf"{TIMES}T_PHASE          {WHOSE}{CREATE}{MOVES}, tlog={SECONDS}",
    rf"{TIMES}T_FILE_BARRIER   {WHOSE}{MOVES}",
    rf"{TIMES}T_GLOBAL_BARRIER {WHOSE}{CREATE}{MOVES}",
    r"partest result: (wrote|read ) +\d+\.\d{4} MB (to|from) \S+\.000000",
    rf"TOTAL result: open= *{SECONDS} close= *{SECONDS} (wrote|read ) +\d+\.\d{{4}} MB "
    rf"(write|read)\+barrier= *{SECONDS} bw= *\d+\.\d{{4}} MB/s (to|from) 1 files",
    rf"partest result:  ultime= *{SECONDS} unlink \S+",
]  # fmt: skip


def _lines(run: Run) -> list[str]:
    """The text, each line of which has one of the forms."""
    lines = run.stderr.splitlines()
    odd = [line for line in lines if not any(re.fullmatch(form, line) for form in FORMS)]
    assert not odd, run
    return lines


def _stats(run: Run, kind: str, access: str) -> list[re.Match[str]]:
    found = [m for line in _lines(run) if (m := re.fullmatch(STAT, line))]
    return [m for m in found if (m[2], m[3]) == (kind, access)]


def test_the_classic_partest_with_files_and_collectors(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["--numfiles=2", "-M", "-m", "-s", "300K", "-b", "100K", "-q", "64K", "-X", "1"]
    run = any_engine.run(["classic", "partest", "-f", data / "out", *words], tmp_path)
    assert run.code == 0, run
    assert _lines(run)[0].startswith("LINUX[000] diff_comm:    0 of    2")
    for access in ("WRITE", "READ"):
        (total,) = _stats(run, "TOTAL", access)
        assert (total[1], total[4], total[6], total[7]) == ("000000", "0.59", "6", "2")
        files = _stats(run, "FILE", access)
        assert [(m[1], m[4], m[6]) for m in files] == [
            ("000000", "0.29", "3"), ("000001", "0.29", "3"),
        ]  # fmt: skip
    removed = [line.split()[-1] for line in _lines(run) if " unlink " in line]
    assert sorted(removed) == [f"{data}/out", f"{data}/out.000001"]
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("method", [0, 1, 2, 3])
def test_the_classic_partest(any_engine: Engine, tmp_path: Path, data: Path, method: int) -> None:
    words = ["-T", method, "-s", "300K", "-b", "100K", "-r", "200K", "-q", "64K", "-Z", "1", "-v"]
    run = any_engine.run(["classic", "partest", "-f", data / "out", *words], tmp_path)
    assert run.code == 0, run
    for access in ("write", "read"):
        (m,) = run.result.rows(access=access)
        assert m["verified_bytes"] == (2 * 300 * KIB if access == "read" else 0)
        if method == 2:
            (line,) = [s for s in _lines(run) if f" {access}+barrier=" in s]
            assert f"open={m['seconds']['open']['max']:10.6f}s" in line
            assert f" {2 * 300 * KIB / 1e6:10.4f} MB " in line
            continue
        (total,) = _stats(run, "TOTAL", access.upper())
        assert float(total[5]) == pytest.approx(m["detail"]["counted_seconds"], abs=1e-6)
        # The task that moves the data of task 0.
        assert total[1] == ("000001" if access == "read" else "000000")
        assert (total[6], total[7]) == ("6", "2" if method == 3 else "1")
        assert [s[1] for s in _stats(run, "TASK", access.upper())] == ["000000", "000001"]
        (phase,) = [s for s in _lines(run) if f" TOTAL {access.upper()}  " in s and "T_PHASE" in s]
        assert f"close={m['seconds']['close']['max']:.5f}s" in phase
        if access == "write":
            created = m["seconds"].get("create", {"max": 0})["max"]
            assert f"create={created:.5f}s" in phase
    names = {2: {"out.000000"}, 3: {"out.000000", "out.000001"}}.get(method, {"out"})
    assert {f.name for f in data.iterdir()} == names
    # As there, what an earlier run left is replaced; -X 1 removes it.
    run = any_engine.run(["classic", "partest", "-f", data / "out", *words, "-X1"], tmp_path)
    assert run.code == 0, run
    removed = {line.split()[-1] for line in _lines(run) if " unlink " in line}
    assert removed == {str(data / name) for name in names}
    assert list(data.iterdir()) == []


def test_the_classic_partest_reads_what_others_wrote(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    Writer([8192, 8192], [4096, 4096], block=4096).write(data / "foreign")
    words = ["-f", data / "foreign", "-s", "8K", "-b", "4K", "-W", "0"]
    run = any_engine.run(["classic", "partest", *words], tmp_path)
    assert run.code == 0, run
    (m,) = run.result.measurements
    assert (m["bytes"], m["verified_bytes"]) == (16384, 0)


def test_the_classic_partest_refuses(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    for words, said in ((["-P"], "Blue Gene"), (["-s", "3x"], "-s: '3x'"), (["-F", "2"], "-F")):
        run = any_engine.run(["classic", "partest", "-f", data / "out", *words], tmp_path, ranks=1)
        assert run.code == 2, run
        assert said in run.stdout + run.stderr
    assert list(data.iterdir()) == []
