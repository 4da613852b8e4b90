# SPDX-License-Identifier: BSD-3-Clause
"""Containers of several files, written by collectors, and read by others than wrote them."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from engines import Engine
from patience import SECONDS
from sion_files import Writer

# Of each rank three blocks of 40 kB.
IOR = ["ior", "--quiet", "--seed", "7", "--block", "40kB", "--transfer", "8kB"]
WRITE = [*IOR, "--segments", "3", "--keep"]
PART = 120_000


def written(engine: Engine, place: Path, data: Path, ranks: int) -> list[bytes]:
    """What each rank writes: out of a shared file, where their blocks alternate."""
    words = [*WRITE, "--dir", data, "--name", "flat", "--phases", "write"]
    assert engine.run(words, place, ranks=ranks).code == 0
    flat = (data / "flat").read_bytes()
    blocks = [flat[at : at + 40_000] for at in range(0, len(flat), 40_000)]
    (data / "flat").unlink()
    return [b"".join(blocks[rank::ranks]) for rank in range(ranks)]


def sion(data: Path, settings: str, *more: object) -> list[object]:
    words: list[object] = [*WRITE, "--dir", data, "--name", "out.sion", "--backend", "sion"]
    return [*words, "--backend-options", settings, *more]


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("files", [1, 3])
def test_files_are_byte_for_byte_what_another_writer_makes(
    any_engine: Engine, tmp_path: Path, data: Path, files: int, order: str
) -> None:
    ranks = 2 if any_engine.name == "mpich" else 5
    if files > ranks:
        pytest.skip("with two ranks there are two files at most")
    content = written(any_engine, tmp_path, data, ranks)
    settings = f"chunk=50kB,block=512,files={files},byte-order={order}"
    run = any_engine.run([*sion(data, settings), "--verify", "read"], tmp_path, ranks=ranks)
    assert run.code == 0, run
    for m in run.results[-1].measurements:
        assert m["bytes"] == ranks * PART
        assert m["verified_bytes"] == (ranks * PART if m["access"] == "read" else 0)
    writer = Writer([PART] * ranks, [50_000] * ranks, files, content=content)
    writer.order = "<" if order == "little" else ">"
    expected = tmp_path / "out.sion"
    writer.write(expected)
    names = [path.name for path in writer.paths(expected)]
    assert sorted(path.name for path in data.iterdir()) == sorted(names)
    for name in names:
        assert (data / name).read_bytes() == (tmp_path / name).read_bytes(), name


def test_collectors_pack_the_chunks_of_their_group(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    content = written(any_engine, tmp_path, data, 2)
    settings = "chunk=50kB,block=4096,collector-tasks=2"
    run = any_engine.run([*sion(data, settings, "--collective"), "--verify", "read"], tmp_path)
    assert run.code == 0, run
    for m in run.results[-1].measurements:
        assert m["verified_bytes"] == (2 * PART if m["access"] == "read" else 0)
    # One group: 100000 bytes are 25 blocks, 102400; the last has the 2400 more.
    writer = Writer([PART] * 2, [50_000, 52_400], 1, 4096, content=content, rounded=False)
    writer.write(tmp_path / "out.sion")
    assert (data / "out.sion").read_bytes() == (tmp_path / "out.sion").read_bytes()


def test_collectors_need_collective_calls(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    run = any_engine.run(sion(data, "collector-tasks=2"), tmp_path)
    assert run.code == 2, run
    assert "collectors apply to collective calls only" in run.stderr
    assert list(data.iterdir()) == []


@pytest.fixture(scope="module")
def flat(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of 12 blocks that two ranks wrote, one after the other."""
    place = tmp_path_factory.mktemp("flat")
    words = [*IOR, "--dir", place, "--keep", "--name", "flat", "--segments", "6"]
    assert any_engine.run([*words, "--phases", "write"], place).code == 0
    return (place / "flat").read_bytes()


@pytest.mark.parametrize(
    ("version", "order", "files"), [(3, "<", 1), (3, ">", 2), (4, "<", 2), (5, ">", 1), (5, "<", 4)]
)
@pytest.mark.parametrize("collector", ["", ",collector-tasks=2"])
def test_containers_of_others_are_read_by_any_number_of_ranks(
    any_engine: Engine,
    tmp_path: Path,
    data: Path,
    flat: bytes,
    version: int,
    order: str,
    files: int,
    collector: str,
) -> None:
    """Four tasks and two readers, of which each reads six blocks."""
    blocks = [flat[at : at + 40_000] for at in range(0, len(flat), 40_000)]
    streams = [b"".join(blocks[task::4]) for task in range(4)]
    writer = Writer([PART] * 4, [30_000] * 4, files, order=order, version=version, content=streams)
    writer.write(data / "theirs")
    words = [*IOR, "--dir", data, "--keep", "--name", "theirs", "--segments", "6", "--collective"]
    words += ["--phases", "read", "--verify", "read", "--backend", "sion"]
    run = any_engine.run([*words, "--backend-options", f"block=4096{collector}"], tmp_path)
    assert run.code == 0, run
    (m,) = run.results[-1].measurements
    assert (m["bytes"], m["verified_bytes"], m["error_count"]) == (480_000, 480_000, 0)


def test_more_than_there_is_in_the_streams_is_not_read(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    Writer([PART] * 2, [PART] * 2, 2).write(data / "theirs")
    words = [*IOR, "--dir", data, "--keep", "--name", "theirs", "--segments", "4"]
    run = any_engine.run([*words, "--backend", "sion", "--phases", "read"], tmp_path)
    assert run.code == 3, run
    assert "theirs" in run.stderr


def test_files_of_a_container_that_are_not_ours_are_not_touched(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    (data / "out.sion.000001").write_text("mine")
    run = any_engine.run(sion(data, "files=2"), tmp_path)
    assert run.code == 2, run
    assert "out.sion.000001" in run.stderr
    assert [path.name for path in data.iterdir()] == ["out.sion.000001"]
    assert (data / "out.sion.000001").read_text() == "mine"
    # Without --keep all of them go.
    words = [word for word in sion(data, "files=2", "--overwrite") if word != "--keep"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    assert list(data.iterdir()) == []
    entries = [(e["name"], e["count"], e["first"]) for e in run.result.run["manifest"]["files"]]
    assert entries == [("out.sion", 1, 0), ("out.sion.%06d", 1, 1)]


def test_a_container_has_no_more_files_than_tasks(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run(sion(data, "files=3"), tmp_path)
    assert run.code == 2, run
    assert "a container of 2 tasks cannot be 3 files" in run.stderr


def test_chunks_that_are_smaller_than_a_block_are_remarked(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    run = any_engine.run(sion(data, "block=64KiB,chunk=50kB"), tmp_path)
    assert run.code == 0, run
    write, read = run.results[-1].measurements
    assert "smaller than a block" in write["detail"]["remark"]
    assert "smaller than a block" not in read["detail"]["remark"]


@pytest.mark.parametrize(
    ("offset", "value", "cut", "cause", "place"),
    [
        (0, b"", 600, "in the middle of its metadata", 52),
        (24, struct.pack("<i", 0x7FFFFFFF), None, "numbers of 8 B are to follow", 1076),
        (24, struct.pack("<i", -1), None, "number of tasks -1", 24),
        (-8, struct.pack("<q", 1 << 40), None, "the tail is said to begin at", 1096),
        (1084, struct.pack("<q", 1 << 61), None, "1 rows of chunks end at 2305843009213695", 1096),
        (1084, struct.pack("<q", -5), None, "the chunks of task 0 have -5 B", 1084),
    ],
)
def test_what_a_later_file_says_is_judged_like_the_first(
    any_engine: Engine,
    tmp_path: Path,
    data: Path,
    offset: int,
    value: bytes,
    cut: int | None,
    cause: str,
    place: int,
) -> None:
    writer = Writer([PART] * 2, [PART] * 2, 2)
    path = data / "theirs"
    writer.write(path)
    wrong = writer.paths(path)[1]
    content = bytearray(wrong.read_bytes())
    begin = offset % (1088 + 16)
    content[begin : begin + len(value)] = value
    wrong.write_bytes(content[:cut])
    check = any_engine.alone(["sion", "check", path], tmp_path)
    assert check.code == 1, check
    assert f"{wrong} at byte {place}: " in check.stdout
    assert cause in check.stdout
    assert "complete streams: ranks 0" in check.stdout, check
    words = [*IOR, "--dir", data, "--keep", "--name", "theirs", "--segments", "3"]
    run = any_engine.run([*words, "--backend", "sion", "--phases", "read"], tmp_path)
    assert run.code == 3, run
    assert f"{wrong} at byte {place}: " in run.stderr
    assert cause in run.stderr


def test_a_hole_that_claims_to_be_a_list_costs_no_memory(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    """A file of 4 KiB on storage says that it has 200,000,000 tasks, and is 3.2 GB long."""
    Writer([10], [512]).write(data / "out.sion")
    with (data / "out.sion").open("r+b") as file:
        file.seek(24)  # the number of tasks
        file.write(struct.pack("<i", 200_000_000))
        file.truncate(3_300_000_000)
    limited = ["prlimit", f"--as={1 << 30}", str(any_engine.program), "sion"]
    for command in ("ls", "check"):
        done = subprocess.run(
            [*limited, command, str(data / "out.sion")],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env=any_engine.environment(),
            check=False,
        )
        assert done.returncode in (1, 3), done
        assert "the rest is a hole" in done.stdout + done.stderr, done
