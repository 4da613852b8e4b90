# SPDX-License-Identifier: BSD-3-Clause
"""`effio-mpi sion`: containers that another program wrote, whole and damaged."""

from __future__ import annotations

import hashlib
import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from patience import SECONDS
from sion_files import Writer, records

# Five ranks with chunks of 1 to 6 for each stream: 512-byte chunks, sizes to the byte.
SIZES = [500, 1024, 1500, 0, 3000]
ASKED = [512, 512, 500, 512, 512]


def stream(engine: Engine, path: Path, *words: object) -> bytes:
    command = [str(w) for w in (engine.program, "sion", "cat", path, *words)]
    return subprocess.run(command, capture_output=True, check=True, timeout=SECONDS).stdout


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("files", [1, 3])
def test_the_streams_of_a_container_are_what_its_tasks_wrote(
    any_engine: Engine, tmp_path: Path, files: int, order: str
) -> None:
    writer = Writer(SIZES, ASKED, files, order=order)
    path = tmp_path / "out.sion"
    writer.write(path)
    for rank, expected in enumerate(writer.streams()):
        assert stream(any_engine, path, "--rank", rank) == expected
    assert stream(any_engine, path, "--rank", 4, "--chunk", 5) == writer.streams()[4][5 * 512 :]
    run = any_engine.alone(["sion", "split", path, tmp_path / "task."], tmp_path)
    assert run.code == 0, run
    for rank, expected in enumerate(writer.streams()):
        assert (tmp_path / f"task.{rank:06d}").read_bytes() == expected
    # Files that are there are somebody's.
    run = any_engine.alone(["sion", "split", path, tmp_path / "task."], tmp_path)
    assert run.code == 3, run
    assert "task.000000" in run.stderr, run
    run = any_engine.alone(["sion", "split", path, tmp_path / "task.", "--overwrite"], tmp_path)
    assert run.code == 0, run
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 0, run
    assert "complete streams: ranks 0-4" in run.stdout
    assert run.stdout.count(": complete, ") == files


def test_ls_says_what_the_container_says(any_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out.sion"
    Writer(SIZES, ASKED, 2, order=">").write(path)
    run = any_engine.alone(["sion", "ls", path, "--json"], tmp_path)
    assert run.code == 0, run
    found = json.loads(run.stdout)
    assert (found["format_version"], found["library_version"], found["files"]) == (5, 1007, 2)
    assert (found["metadata_order"], found["data_order"]) == ("big", "big")
    assert found["stream_bytes"] == sum(SIZES)
    assert [part["tasks"] for part in found["parts"]] == [2, 3]
    # 1088 + 32 bytes of head are three blocks, 1088 + 48 too.
    assert [task["first_chunk"] for task in found["tasks"]] == [1536, 2048, 1536, 2048, 2560]
    assert [task["bytes"] for task in found["tasks"]] == SIZES
    assert [task["chunks"] for task in found["tasks"]] == [1, 2, 3, 1, 6]
    assert [task["chunk_bytes"] for task in found["tasks"]] == [512] * 5
    table = any_engine.alone(["sion", "ls", path], tmp_path)
    assert table.code == 0, table
    assert table.stdout.splitlines()[-1].split() == ["4", "1", "512", "2560", "6", "3000"]


def test_the_only_file_of_a_container_may_be_number_1(any_engine: Engine, tmp_path: Path) -> None:
    """As the serial interface of SIONlib and its siondefrag write it."""
    path = tmp_path / "out.sion"
    writer = Writer(SIZES, ASKED, number=1)
    writer.write(path)
    assert path.read_bytes()[32:36] == b"\1\0\0\0"
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 0, run
    assert stream(any_engine, path, "--rank", 2) == writer.streams()[2]
    Writer(SIZES, ASKED, number=2).write(path)
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 1, run
    assert "number of the file 2 is not in 0 … 1" in run.stderr


@pytest.mark.parametrize("order", ["<", ">"])
def test_containers_with_keys(any_engine: Engine, tmp_path: Path, order: str) -> None:
    """Key 7 of rank 0 has two records, of which the second continues in another chunk; rank 1 has
    none at all."""
    long = bytes(range(256)) * 3
    streams = [records((7, b"ab"), (-1, b""), (7, long), order=order), b""]
    path = tmp_path / "out.sion"
    sizes = [len(s) for s in streams]
    writer = Writer(sizes, [512, 512], order=order, content=streams, keys=51)
    writer.write(path)
    assert stream(any_engine, path, "--rank", 0, "--key", 7) == b"ab" + long
    assert stream(any_engine, path, "--rank", 0, "--key", -1) == b""
    assert stream(any_engine, path, "--rank", 0) == streams[0]
    run = any_engine.alone(["sion", "ls", path, "--json"], tmp_path)
    assert run.code == 0, run
    assert [task["keys"] for task in json.loads(run.stdout)["tasks"]] == [
        [{"key": -1, "records": 1, "bytes": 0}, {"key": 7, "records": 2, "bytes": 2 + 768}], [],
    ]  # fmt: skip
    run = any_engine.alone(["sion", "ls", path], tmp_path)
    assert run.stdout.splitlines()[-1].split() == ["0", "7", "2", "770"]
    run = any_engine.alone(["sion", "split", path, tmp_path / "task."], tmp_path)
    assert run.code == 0, run
    made = {file.name: file.read_bytes() for file in tmp_path.glob("task.*")}
    assert made == {"task.000000.-1": b"", "task.000000.7": b"ab" + long}
    for words, said in (
        (("--rank", "0", "--key", "8"), "rank 0 has no key 8"),
        (("--rank", "0", "--key", "7", "--chunk", "0"), "exclude each other"),
    ):
        run = any_engine.alone(["sion", "cat", path, *words], tmp_path)
        assert run.code == 2, run
        assert said in run.stderr
    # A length that goes beyond the stream, in the third record: at byte 34 of the stream.
    streams[0] = streams[0][:-1]
    Writer([sizes[0] - 1, 0], [512, 512], order=order, content=streams, keys=51).write(path)
    commands: list[list[object]] = [
        ["check", path], ["ls", path], ["split", path, tmp_path / "again."],
    ]  # fmt: skip
    for command in commands:
        run = any_engine.alone(["sion", *command], tmp_path)
        assert run.code == 1, run
        said = "the record at byte 34 of the stream of rank 0 has a value of 768 B"
        assert said in run.stdout + run.stderr, run
    assert not list(tmp_path.glob("again.000000*"))
    Writer(sizes, [512, 512], order=order, content=streams, keys=53).write(path)
    run = any_engine.alone(["sion", "cat", path, "--rank", "0", "--key", "7"], tmp_path)
    assert run.code == 2, run
    assert "only keys inside the streams" in run.stderr


def test_a_prefix_may_be_any_bytes(any_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out.sion"
    Writer(SIZES, ASKED, 1).write(path)
    whole = path.read_bytes()
    assert b"out.sion" in whole
    path.write_bytes(whole.replace(b"out.sion", b"out.\xff\x1bon"))
    run = any_engine.alone(["sion", "ls", path, "--json"], tmp_path)
    assert run.code == 0, run
    assert json.loads(run.stdout)["prefix"].endswith("out.\ufffd\x1bon")
    for words in (["ls", path], ["check", path]):
        run = any_engine.alone(["sion", *words], tmp_path)
        assert run.code == 0, run
        assert "\x1b" not in run.stdout


@pytest.mark.parametrize("version", [3, 4])
def test_older_formats_are_read(any_engine: Engine, tmp_path: Path, version: int) -> None:
    writer = Writer(SIZES, ASKED, version=version)
    path = tmp_path / "old.sion"
    writer.write(path)
    assert stream(any_engine, path, "--rank", 2) == writer.streams()[2]


def test_of_a_container_that_was_not_closed_no_stream_is_known_to_be_whole(
    any_engine: Engine, tmp_path: Path
) -> None:
    """A killed writer: two files, of which the second was closed."""
    path = tmp_path / "out.sion"
    Writer(SIZES, ASKED, 2, closed=False).write(path)
    unclosed = path.read_bytes()
    Writer(SIZES, ASKED, 2).write(path)
    path.write_bytes(unclosed)
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 1, run
    assert f"{path}: not closed: " in run.stdout
    assert "complete streams: ranks 2-4" in run.stdout
    run = any_engine.alone(["sion", "cat", path, "--rank", "0"], tmp_path)
    assert run.code == 1, run
    assert "not closed" in run.stderr, run
    assert stream(any_engine, path, "--rank", 2) == Writer(SIZES, ASKED).streams()[2]


def test_a_missing_file_takes_its_streams_with_it(any_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out.sion"
    writer = Writer(SIZES, ASKED, 3)
    writer.write(path)
    writer.paths(path)[1].unlink()
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 1, run
    assert "out.sion.000001" in run.stdout
    assert "complete streams: ranks 0, 2-4" in run.stdout


def test_a_truncated_file_is_known_by_its_tail(any_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out.sion"
    Writer(SIZES, ASKED, 1).write(path)
    with path.open("r+b") as file:
        file.truncate(4000)
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 1, run
    assert "ends after 3.906 KiB (4000 B)" in run.stderr, run


@pytest.mark.parametrize(
    ("number", "offset", "value", "cause"),
    [
        (1, 28, struct.pack("<i", 4), "one of 4 files; the container's first says 3"),
        (1, 32, struct.pack("<i", 2), "file 2 of the container; its name says 1"),
        (1, 1076, struct.pack("<q", 0), "rank 0 is a task of file 0 too"),
        (1, 1076, struct.pack("<q", 9), "rank 9"),
        (0, -8, struct.pack("<i", 0), "rank 4 as task 2 of file 0, which has 1"),
        (0, -4, struct.pack("<i", 0), "rank 4 as task 0 of file 2, which is rank 2"),
    ],
)
def test_files_that_do_not_fit_together_are_reported(
    any_engine: Engine, tmp_path: Path, number: int, offset: int, value: bytes, cause: str
) -> None:
    path = tmp_path / "out.sion"
    writer = Writer(SIZES, ASKED, 3)
    writer.write(path)
    wrong = writer.paths(path)[number]
    content = bytearray(wrong.read_bytes())
    begin = offset % len(content)
    content[begin : begin + len(value)] = value
    wrong.write_bytes(content)
    run = any_engine.alone(["sion", "check", path], tmp_path)
    assert run.code == 1, run
    assert cause in run.stdout, run


def test_what_is_not_a_container_is_refused(any_engine: Engine, tmp_path: Path) -> None:
    other = tmp_path / "text"
    other.write_text("sional")
    for path, code, words in [
        (other, 1, "ends after 6 B"),
        (tmp_path, 3, "it is a directory, no file"),
        (tmp_path / "none", 3, "No such file"),
    ]:
        run = any_engine.alone(["sion", "ls", path], tmp_path)
        assert run.code == code, run
        assert words in run.stderr, run
    path = tmp_path / "out.sion"
    Writer(SIZES, ASKED, 2).write(path)
    run = any_engine.alone(["sion", "ls", f"{path}.000001"], tmp_path)
    assert run.code == 1, run
    assert "name the first one" in run.stderr, run


def test_a_command_line_without_sense_is_refused(any_engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out.sion"
    Writer(SIZES, ASKED).write(path)
    for words, answer in [
        ((), "Usage: effio-mpi sion"),
        (("melt", path), "no command 'melt'"),
        (("ls",), "takes FILE"),
        (("split", path), "takes FILE PREFIX"),
        (("cat", path), "needs --rank"),
        (("cat", path, "--rank", "7"), "none of rank 7"),
        (("cat", path, "--rank", "1", "--chunk", "2"), "uses 2 chunks"),
        (("ls", path, "--jason"), "--json"),
    ]:
        run = any_engine.alone(["sion", *words], tmp_path)
        assert run.code == 2, run
        assert answer in run.stderr, run
    run = any_engine.alone(["sion", "cat", "--help"], tmp_path)
    assert run.code == 0, run
    assert "--rank" in run.stdout, run


IOR = ["ior", "--quiet", "--seed", "7", "--block", "40kB", "--transfer", "8kB", "--segments", "3"]
SETTINGS = "chunk=50kB,block=512,byte-order=big"


@pytest.mark.parametrize("collective", [False, True])
def test_ior_puts_each_ranks_blocks_into_its_stream(
    any_engine: Engine, tmp_path: Path, data: Path, collective: bool
) -> None:
    """The same bytes as in a shared file, where the blocks of two ranks alternate."""
    words = [*IOR, "--dir", data, "--keep", "--verify", "read"]
    assert any_engine.run([*words, "--name", "flat"], tmp_path).code == 0
    words += ["--backend", "sion", "--backend-options", SETTINGS, "--name", "sion"]
    run = any_engine.run([*words, *(["--collective"] if collective else [])], tmp_path)
    assert run.code == 0, run
    for m in run.results[-1].measurements:
        assert m["bytes"] == 240_000
        assert m["verified_bytes"] == (240_000 if m["access"] == "read" else 0)
    flat = (data / "flat").read_bytes()
    for rank in range(2):
        blocks = [flat[40_000 * n : 40_000 * (n + 1)] for n in (rank, 2 + rank, 4 + rank)]
        assert stream(any_engine, data / "sion", "--rank", rank) == b"".join(blocks)
    # By the table: 50 kB are 98 blocks; 120 kB three chunks; a head of 1120 bytes three blocks.
    content = (data / "sion").read_bytes()
    assert struct.unpack_from(">4s4sii5i", content)[:2] == (b"sion", b"\1\1\1\1")
    assert struct.unpack_from(">7i", content, 8) == (1007, 6, 5, 512, 2, 1, 0)
    assert struct.unpack_from(">4qiq", content, 1076) == (0, 1, 50176, 50176, 3, 302_592)
    used = (3, 3, 50176, 50176, 50176, 50176, 19648, 19648)
    assert struct.unpack(">8q", content[302_592:]) == used


def test_a_full_disk_ends_the_run_and_leaves_no_container(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    words = ["ior", "--quiet", "--backend", "sion", "--phases", "write", "--block", "8MiB"]
    words += ["--transfer", "1MiB", "--max-bytes", "1GiB", "--dir", str(full)]
    run = any_engine.run(words, tmp_path)
    assert run.code == 3, run
    assert run.result.status == "io_error"
    assert list(full.iterdir()) == []


def test_studies_that_share_files_otherwise_refuse_containers(
    any_engine: Engine, tmp_path: Path, data: Path
) -> None:
    words = ["tile-io", "--backend", "sion", "--sz-tile-x", "8", "--sz-tile-y", "8", "--dir", data]
    run = any_engine.run(words, tmp_path)
    assert run.code == 2, run
    assert "holds each rank's blocks apart" in run.stderr


@pytest.mark.parametrize("more", ["", ",files=2"])
@pytest.mark.parametrize("tool", ["siondump", "sionsplit", "sioncat"])
def test_the_originals_tools_take_our_containers(
    any_engine: Engine, tmp_path: Path, data: Path, tool: str, more: str
) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} of SIONlib is not on PATH")
    words = [*IOR, "--dir", data, "--keep", "--backend", "sion", "--name", "f"]
    assert any_engine.run([*words, "--backend-options", SETTINGS + more], tmp_path).code == 0
    ours = [stream(any_engine, data / "f", "--rank", rank) for rank in range(2)]
    path = data / "f"
    arguments = {
        "siondump": ["-a", path],
        "sionsplit": ["-d", "6", path, tmp_path / "task."],
        "sioncat": ["-t", "1", "-o", tmp_path / "one", path],
    }[tool]
    subprocess.run([tool, *map(str, arguments)], check=True, timeout=SECONDS)
    if tool == "sionsplit":
        found = [found.read_bytes() for found in sorted(tmp_path.glob("task.*"))]
        assert [hashlib.sha256(f).digest() for f in found] == [
            hashlib.sha256(o).digest() for o in ours
        ]
    if tool == "sioncat":
        assert (tmp_path / "one").read_bytes() == ours[1]
