# SPDX-License-Identifier: BSD-3-Clause
"""Runs as one file and back: whole, nothing written over, and no hostile archive taken."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import os
import re
import shutil
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.errors import EffioError
from effio.store import archive, safe_files
from effio.store.all_runs import Store
from effio.store.folder import SUMS, RunFolder
from store import generate

FIRST = "20260101T000000Z-ior-sweep-bulk-00000000-r0"


@pytest.fixture
def kept(effio: Effio) -> Effio:
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 12)
    place = runs / "campaigns/sweep"
    place.mkdir(parents=True)
    (place / "campaign.json").write_text("{}")
    (place / "lock").write_text("")
    return effio


def _files(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def test_there_and_back(kept: Effio) -> None:
    assert kept.call("note", FIRST, "a strange night", "--tag", "odd").returncode == 0
    done = kept.call("archive", "-o", "all.tar.gz")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("all.tar.gz: 12 runs, 1 campaign, 38 files, ")
    back = kept.call("--runs", "elsewhere", "restore", "all.tar.gz")
    assert back.stdout == "restored: 12 runs to elsewhere\n", back.stderr
    before = _files(kept.cwd / "effio-runs")
    del before["campaigns/sweep/lock"]
    assert _files(kept.cwd / "elsewhere") == before
    again = kept.call("--runs", "elsewhere", "restore", "all.tar.gz")
    assert again.stdout == "restored: 0 runs to elsewhere; here already: 12\n"
    # Other programs can read it, and check it.
    with tarfile.open(kept.cwd / "all.tar.gz") as tar:
        assert tar.getnames()[0] == SUMS


def test_the_turns_of_interference_go_along(kept: Effio) -> None:
    """They are summed and kept as the rest; other files there are not ours."""
    folder = RunFolder(kept.cwd / "effio-runs" / FIRST)
    turn = folder.path / "result.turns/round-1-groups-1-2"
    for name, text in (
        ("together.log", "{}"), ("group-1/result.jsonl", "1"), ("group-2/result.jsonl", "2"),
        ("group-2/scratch", "3"), (".hidden/result.jsonl", "4"),
    ):  # fmt: skip
        (turn / name).parent.mkdir(parents=True, exist_ok=True)
        (turn / name).write_text(text)
    turns = [f"result.turns/round-1-groups-1-2/{n}" for n in (
        "group-1/result.jsonl", "group-2/result.jsonl", "together.log",
    )]  # fmt: skip
    assert sorted(folder.turns()) == turns
    folder.seal()
    assert folder.changed_since_sealed() == []
    assert kept.call("archive", FIRST, "-o", "1.tar.gz").returncode == 0
    back = kept.call("--runs", "elsewhere", "restore", "1.tar.gz")
    assert back.stdout == "restored: 1 run to elsewhere\n", back.stderr
    restored = RunFolder(kept.cwd / "elsewhere" / FIRST)
    assert sorted(restored.turns()) == turns
    assert not (restored.path / "result.turns/round-1-groups-1-2/group-2/scratch").exists()
    again = kept.call("--runs", "elsewhere", "restore", "1.tar.gz")
    assert again.stdout == "restored: 0 runs to elsewhere; here already: 1\n", again.stderr
    (restored.path / turns[0]).write_text("other")
    assert restored.changed_since_sealed() == [turns[0]]
    refused = kept.call("--runs", "elsewhere", "restore", "1.tar.gz")
    assert f"{FIRST} is here already, and differs" in refused.stderr


def test_a_part(kept: Effio) -> None:
    assert kept.call("archive", "tag:nightly", "-o", "n.tar.gz").stdout.startswith("n.tar.gz: 12 r")
    assert kept.call("archive", FIRST, "-o", "1.tar.gz").stdout.startswith("1.tar.gz: 1 run, 1 ca")
    assert kept.call("archive", "sweep", "-o", "s.tar.gz").stdout.startswith("s.tar.gz: 12 runs")


@pytest.mark.parametrize("word", ["sweep", "@sweep", "study/sweep.toml"])
def test_of_a_campaign_attempts_that_failed_are_archived_too(word: str, kept: Effio) -> None:
    (kept.cwd / "study").mkdir()
    (kept.cwd / "study/sweep.toml").touch()
    run = kept.cwd / "effio-runs" / FIRST
    failed = run.with_name(FIRST.replace("20260101", "20251231"))
    failed.mkdir()
    record = (run / "run.json").read_text()
    (failed / "run.json").write_text(record.replace(FIRST, failed.name))
    done = kept.call("archive", word, "-o", "all.tar.gz")
    assert done.stdout.startswith("all.tar.gz: 13 runs, 1 campaign"), done.stderr


def test_nothing_is_written_over(kept: Effio) -> None:
    (kept.cwd / "here").write_text("mine")
    done = kept.call("archive", "-o", "here")
    assert done.returncode == 2
    assert done.stderr == "effio: here exists\n       name another one, or remove it\n"
    assert (kept.cwd / "here").read_text() == "mine"
    kept.call("archive", "-o", "all.tar.gz")
    # One run is here and differs: none is restored.
    changed = kept.cwd / "elsewhere" / FIRST
    changed.mkdir(parents=True)
    (changed / "result.jsonl").write_text("mine")
    done = kept.call("--runs", "elsewhere", "restore", "all.tar.gz")
    assert done.returncode == 2
    assert f"{FIRST} is here already, and differs" in done.stderr
    assert _files(kept.cwd / "elsewhere") == {f"{FIRST}/result.jsonl": b"mine"}


def _member(name: str, content: bytes = b"x", **more: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in more.items():
        setattr(info, key, value)
    return info, content


def _link(kind: bytes, name: str = f"{FIRST}/run.json") -> tuple[tarfile.TarInfo, bytes]:
    return _member(name, b"", type=kind, linkname="/etc/passwd")


GOOD = f"{FIRST}/run.json"


@pytest.mark.parametrize(
    ("member", "what"),
    [
        (_member("/etc/cron.d/x"), "is an absolute path"),
        (_member(f"../{GOOD}"), "leads out of the folder"),
        (_member(f"{FIRST}/../../x"), "leads out of the folder"),
        (_link(tarfile.SYMTYPE), "is a link"),
        (_link(tarfile.LNKTYPE), "is a link"),
        (_link(tarfile.SYMTYPE, FIRST), "is a link"),
        (_member(FIRST, b"", type=tarfile.DIRTYPE), "is not a regular file"),
        (_member(GOOD, b"", type=tarfile.FIFOTYPE), "is not a regular file"),
        (_member(GOOD, b"", type=tarfile.CHRTYPE), "is not a regular file"),
        (_member(f"{FIRST}/.bashrc"), "is none of the files of a run"),
        (_member(f"{FIRST}/result.turns/x"), "is none of the files of a run"),
        (_member(f"{FIRST}/result.turns/.x/together.log"), "is none of the files of a run"),
        (_member(f"{FIRST}/result.turns/x/group-1/run.json"), "is none of the files of a run"),
        (_member("campaigns/result.turns/x/together.log"), "is none of the files of a run"),
        (_member(".ssh/run.json"), "is none of the files of a run"),
        (_member(f"a/b/{GOOD}"), "is none of the files of a run"),
        (_member("campaigns/run.json"), "is none of the files of a run"),
        (_member(f"{FIRST}//run.json"), "is none of the files of a run"),
        (_member("a b/run.json"), "is none of the files of a run"),
    ],
)  # fmt: skip
def test_a_hostile_member_refuses_all(
    member: tuple[tarfile.TarInfo, bytes], what: str, tmp_path: Path
) -> None:
    sums = f"{hashlib.sha256(b'x').hexdigest()}  {GOOD.replace('r0', 'r1')}\n".encode()
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        good = _member(GOOD.replace("r0", "r1"))
        for info, content in (_member(SUMS, sums), good, member):
            tar.addfile(info, io.BytesIO(content))
    with pytest.raises(archive.ArchiveError, match="nothing is restored") as error:
        archive.restore(path, Store(tmp_path / "runs"))
    assert what in error.value.message
    assert not (tmp_path / "runs").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["a.tar.gz"]


def _packed(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return path


SUM = hashlib.sha256(b"x").hexdigest()


@pytest.mark.parametrize(
    ("members", "what"),
    [
        ([], "it is empty"),
        ([_member(GOOD)], f"does not begin with {SUMS}"),
        ([_member(SUMS, f"{SUM}  {GOOD}\n".encode())], "is missing in it"),
        ([_member(SUMS, f"{SUM}  {GOOD}\n".encode()), _member(GOOD, b"y")], "checksums differ"),
        ([_member(SUMS, b"\xff\n"), _member(GOOD)], "checksums differ"),
        ([_member(SUMS, f"{SUM}  {GOOD}\n".encode()), _member(GOOD), _member(GOOD)], "there twice"),
    ],
)  # fmt: skip
def test_what_is_not_what_was_archived(
    members: list[tuple[tarfile.TarInfo, bytes]], what: str, tmp_path: Path
) -> None:
    path = _packed(tmp_path / "a.tar.gz", *members)
    with pytest.raises(archive.ArchiveError, match=what):
        archive.restore(path, Store(tmp_path / "runs"))
    assert list((tmp_path / "runs").glob("*")) == []


def _cut(whole: bytes) -> bytes:
    return whole[: len(whole) // 2]


@pytest.mark.parametrize(
    "damaged",
    [lambda _: b"", lambda _: b"text", lambda _: gzip.compress(b"text" * 1000), _cut],
)
def test_no_archive_or_a_torn_one(damaged: Callable[[bytes], bytes], kept: Effio) -> None:
    kept.call("archive", "-o", "all.tar.gz")
    path = kept.cwd / "all.tar.gz"
    path.write_bytes(damaged(path.read_bytes()))
    done = kept.call("--runs", "elsewhere", "restore", path)
    assert done.returncode == 2
    assert "nothing is restored" in done.stderr
    assert list((kept.cwd / "elsewhere").glob("*")) == []


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    path = _packed(tmp_path / "a.tar.gz", _member(SUMS, b""), _member(GOOD, b"0" * 2000))
    with pytest.raises(archive.ArchiveError, match="more than"):
        archive.restore(path, Store(tmp_path / "runs"))


def test_free_space_counts_in_what_is_too_much(
    kept: Effio, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the place, not the archive, and nothing is written."""
    usage = shutil.disk_usage(tmp_path)
    free = [40 << 10]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=free[0]))
    kept.call("archive", "-o", "all.tar.gz")
    done = kept.call("--runs", "elsewhere", "restore", "all.tar.gz")
    assert done.returncode == 7
    assert f"in {kept.cwd}, where 40 KiB are free; nothing is restored" in done.stderr
    # What is needed is less than what is free: as much has to stay free.
    assert re.search(r"needs at least (\d\d KiB), and \1 to spare for others, in ", done.stderr)
    assert not (kept.cwd / "elsewhere").exists()
    free[0] = 1 << 20
    assert kept.call("--runs", "small", "restore", "all.tar.gz").returncode == 0
    free[0] = 12 << 20
    # The rest of a large file is not unpacked to find the next member.
    huge = _packed(
        tmp_path / "h.tar.gz", _member(SUMS, b""), _member(GOOD, b"0" * (8 << 20)), _member("/x")
    )
    with pytest.raises(EffioError, match="needs at least 8"):
        archive.restore(huge, Store(kept.cwd / "elsewhere"))
    # Of much, a fixed part.
    monkeypatch.setattr(archive, "_SPARE_BYTES", 2 << 20)
    with pytest.raises(archive.ArchiveError, match="'/x' is an absolute path"):
        archive.restore(huge, Store(kept.cwd / "elsewhere"))


def test_a_disk_that_runs_full_is_not_a_damaged_archive(
    kept: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.call("archive", "-o", "all.tar.gz")

    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(safe_files, "creating", full)
    done = kept.call("--runs", "elsewhere", "restore", "all.tar.gz")
    assert done.returncode == 7
    assert "elsewhere: No space left on device" in done.stderr
    assert "archive" not in done.stderr
    assert not (kept.cwd / "elsewhere").exists()


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    for name in (f"{'r' * 256}/run.json", f"{'ä' * 128}/run.json"):
        path = _packed(tmp_path / "a.tar.gz", _member(SUMS, b""), _member(name))
        with pytest.raises(archive.ArchiveError, match="has a name that is too long"):
            archive.restore(path, Store(tmp_path / "runs"))
    assert not (tmp_path / "runs").exists()
    # A name of 255 bytes is accepted; this archive has another error.
    path = _packed(tmp_path / "a.tar.gz", _member(SUMS, b""), _member(f"{'r' * 255}/run.json"))
    with pytest.raises(archive.ArchiveError, match="checksums differ"):
        archive.restore(path, Store(tmp_path / "runs"))


def _headers(kind: bytes, size: int, count: int) -> bytes:
    """An archive with this many extended headers of this size."""
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, size
    body = b"19 comment=" + b"x" * 7 + b"\n"
    content = body + bytes(-len(body) % 512) if size == len(body) else b""
    return (info.tobuf(tarfile.USTAR_FORMAT) + content) * count


@pytest.mark.parametrize(
    ("kind", "size", "count", "what"),
    [
        (tarfile.GNUTYPE_LONGNAME, 4 << 30, 1, "a header of 4294967296 bytes"),
        (tarfile.XHDTYPE, 4 << 30, 1, "a header of 4294967296 bytes"),
        (tarfile.XGLTYPE, 4 << 30, 1, "a header of 4294967296 bytes"),
        (tarfile.GNUTYPE_SPARSE, 1, 1, "a sparse file"),
        (tarfile.XHDTYPE, 19, 20_000, "damaged"),
    ],
)  # fmt: skip
def test_a_header_is_not_believed_how_long_it_is(
    kind: bytes, size: int, count: int, what: str, tmp_path: Path
) -> None:
    """An archive of some kilobytes: tarfile would read all of it into memory, or recurse into
    headers of headers without end."""
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(_headers(kind, size, count) + bytes(1 << 20)))
    tracemalloc.start()
    try:
        with pytest.raises(archive.ArchiveError, match=what):
            archive.restore(path, Store(tmp_path / "runs"))
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


def test_what_cannot_be_archived(kept: Effio) -> None:
    # The place of the results has nothing to do with a file that cannot be opened.
    for name, why in {
        "nothing": "No such file or directory",
        "plain.txt/file": "Not a directory",
        "x" * 300: "File name too long",
    }.items():
        (kept.cwd / "plain.txt").touch()
        refused = kept.call("restore", name)
        assert (refused.returncode, refused.stderr) == (2, f"effio: {name}: {why}\n")
    assert kept.call("archive", "nothing", "-o", "x").returncode == 2
    empty = kept.call("--runs", "elsewhere", "archive", "-o", "x")
    assert (empty.returncode, empty.stderr) == (2, "effio: there is no run in elsewhere\n")
    bare = kept.cwd / "bare.jsonl"
    bare.write_bytes((kept.cwd / "effio-runs" / FIRST / "result.jsonl").read_bytes())
    assert "not the folder of a run" in kept.call("archive", bare, "-o", "x").stderr
    assert kept.call("archive", FIRST, "-o", "no/place").returncode == 3
    assert not (kept.cwd / "x").exists()
