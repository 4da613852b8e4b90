# SPDX-License-Identifier: BSD-3-Clause
"""`effio clean`: removes what a killed run left, and nothing else."""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.conftest import Effio
from effio import text as fmt
from effio.errors import EffioError
from effio.store import abilities, answering
from effio.store.clean import directory_of, leftovers, names_of, remove
from effio.store.reader import read_result
from effio.store.records import Manifest

TOKEN = "0123456789abcdef0123456789abcdef"
OTHER = "f" * 32
MARK = f".effio-run-{TOKEN[:16]}"


def _killed(folder: Path, directory: Path, token: str = TOKEN, **manifest: Any) -> Path:
    """A run that was started just now, and killed; its mark is older than all files."""
    lines = made.b_eff_io()[:5]
    lines[0]["started"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    lines[0]["manifest"] |= {
        "directory": str(directory),
        "files": [{"name": "i00", "count": 1}, {"name": "sub/r%03d", "count": 3}],
        "token": token,
        **manifest,
    }
    lines = made.numbered(lines)
    made.mark(lines[0]["manifest"])
    return made.write(folder / "result.jsonl", lines)


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """A data directory as a killed run leaves it, with a stranger's files next to it."""
    directory = tmp_path / "data"
    (directory / "sub").mkdir(parents=True)
    for token in (TOKEN, OTHER):
        (directory / f".effio-run-{token[:16]}").touch(0o600)
    for name in ("i00", "sub/r000", "sub/r002", "sub/r003", "mine.txt"):
        (directory / name).write_text("x" * 10)
    return directory


def _there(left: Path) -> list[str]:
    """All files but the marks."""
    files = (p for p in left.rglob("*") if p.is_file() and not p.name.startswith(".effio-run-"))
    return sorted(str(p.relative_to(left)) for p in files)


def test_what_the_manifest_names_is_removed_and_nothing_else(effio: Effio, left: Path) -> None:
    result = _killed(effio.cwd / "effio-runs/killed", left)
    done = effio.call("clean", "--yes", result)
    assert done.returncode == 0, done.stderr
    assert _there(left) == ["mine.txt", "sub/r003"]
    assert not (left / f".effio-run-{TOKEN[:16]}").exists()


def test_files_of_shared_pointers_go_with_theirs(effio: Effio, left: Path) -> None:
    """ROMIO keeps one next to an open file; this file was never closed."""
    for name in (".i00.shfp.4711.123", ".mine.txt.shfp.4711.123", ".i001.shfp.1.2", ".i00.shfp.x"):
        (left / name).write_text("x")
    result = _killed(effio.cwd / "effio-runs/killed", left)
    done = effio.call("clean", "--yes", result)
    assert done.returncode == 0, done.stderr
    assert not (left / ".i00.shfp.4711.123").exists()
    assert sorted(p.name for p in left.glob(".*.shfp.*")) == [
        ".i00.shfp.x",
        ".i001.shfp.1.2",
        ".mine.txt.shfp.4711.123",
    ]


def test_files_of_a_test_of_locks_go_with_theirs(effio: Effio, left: Path) -> None:
    """Each rank of OMPIO makes one while it opens; it was killed just then."""
    other = ["i00.locktest.", "i001.locktest.0", "mine.txt.locktest.0"]
    for name in ["i00.locktest.0", "i00.locktest.12", *other]:
        (left / name).write_text("x")
    result = _killed(effio.cwd / "effio-runs/killed", left)
    done = effio.call("clean", "--yes", result)
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in left.glob("*.locktest.*")) == other


def _killed_turns(effio: Effio, left: Path) -> Path:
    """A killed run of two turns: the first one's manifest names what the second one wrote anew."""
    run = effio.cwd / "effio-runs/killed"
    whole = _killed(run, left, files=[])
    lines = whole.read_text().splitlines(keepends=True)
    run_line = json.loads(lines[0])
    del run_line["manifest"]
    whole.write_text(json.dumps(run_line) + "\n" + "".join(lines[1:]))
    _killed(run / "result.turns/round-1-groups-1/group-1", left, OTHER)
    _killed(run / "result.turns/round-1-groups-1-2/group-1", left)
    (run / "result.turns/round-1-groups-1-2/group-2").mkdir()
    (run / "result.turns/round-1-groups-1-2/group-2/result.jsonl").write_text("")
    return whole


@pytest.mark.parametrize("by_name", [True, False])
def test_what_the_turns_of_a_killed_interference_left_goes(
    effio: Effio, left: Path, by_name: bool
) -> None:
    whole = _killed_turns(effio, left)
    dry = effio.call("clean", whole, "--dry-run")
    assert dry.stdout.count("would remove") == 5, dry.stderr  # three files and two marks
    done = effio.call("clean", "--yes", *([whole] if by_name else []))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("remove ") == 5, done.stdout
    assert sorted(p.name for p in left.rglob("*") if p.is_file()) == ["mine.txt", "r003"]
    again = effio.call("clean", "--yes", whole)
    assert again.stdout == f"{whole}: nothing to remove in {left}\n"


def test_one_directory_is_not_that_of_many_turns(effio: Effio, left: Path) -> None:
    whole = _killed_turns(effio, left)
    refused = effio.call("clean", "--yes", whole, "--dir", left)
    assert refused.returncode == 2, refused.stderr
    assert "--dir names one place" in refused.stderr
    assert "results that list files" in refused.stderr
    assert (left / "i00").exists()
    one = whole.parent / "result.turns/round-1-groups-1/group-1/result.jsonl"
    done = effio.call("clean", one, "--dir", left, "--dry-run")
    assert done.returncode == 0, done.stderr


def _mark_size(left: Path) -> str:
    return fmt.size((left / f".effio-run-{TOKEN[:16]}").stat().st_size)


def test_a_dry_run_removes_nothing(effio: Effio, left: Path) -> None:
    _killed(effio.cwd / "effio-runs/killed", left)
    done = effio.call("clean", "--dry-run")
    assert done.stdout.splitlines() == [
        *(f"would remove {left}/{name} (10 B)" for name in ("i00", "sub/r000", "sub/r002")),
        f"would remove {left}/.effio-run-{TOKEN[:16]} ({_mark_size(left)})",
    ]
    assert (left / "i00").exists()


def test_runs_that_ended_in_order_are_not_looked_at(effio: Effio, left: Path) -> None:
    lines = made.b_eff_io()
    lines[0]["manifest"] |= {"directory": str(left), "files": [{"name": "mine.txt", "count": 1}]}
    made.write(effio.cwd / "effio-runs/done/result.jsonl", lines)
    assert effio.call("clean").stdout == "nothing to remove\n"
    assert (left / "mine.txt").exists()


def _renew_mark(left: Path) -> None:
    """Makes the mark as if the run had started now."""
    mark = left / f".effio-run-{TOKEN[:16]}"
    text = mark.read_text()
    mark.unlink()
    time.sleep(0.02)  # a tick of the file system's clock
    mark.touch(0o600)
    mark.write_text(text)
    time.sleep(0.02)


def test_links_and_older_files_stay(tmp_path: Path, left: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("x")
    (left / "i00").unlink()
    (left / "i00").symlink_to(precious)
    result = read_result(_killed(tmp_path / "run", left))
    _renew_mark(left)
    (left / "sub/r002").unlink()
    (left / "sub/r002").write_text("x")
    found, kept = leftovers(result, left)
    assert [f.path.name for f in found if not f.is_mark] == ["r002"]
    assert {k.path.name: k.why for k in kept} == {
        "i00": "not a plain file",
        "r000": "older than the run: not made by it",
    }


def test_a_directory_that_leads_elsewhere_is_not_followed(tmp_path: Path, left: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (left / "sub").rename(elsewhere)
    (left / "sub").symlink_to(elsewhere)
    result = read_result(_killed(tmp_path / "run", left))
    found, kept = leftovers(result, left)
    assert [f.path.name for f in found if not f.is_mark] == ["i00"]
    assert {k.why for k in kept} == {"outside the directory"}


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x", "x\0y", "."])
def test_names_outside_are_refused(name: str) -> None:
    manifest = Manifest.model_validate({"directory": "/d", "files": [{"name": name}]})
    with pytest.raises(EffioError, match="nothing is removed"):
        list(names_of(manifest.files))


def test_a_manifest_cannot_keep_us_busy_forever() -> None:
    manifest = Manifest.model_validate(
        {"directory": "/d", "files": [{"name": "a%04d", "count": 10**12}]}
    )
    with pytest.raises(EffioError, match="too many files"):
        next(names_of(manifest.files))


def test_names_with_numbers() -> None:
    files = [
        {"name": "i00_%03d", "count": 2},
        {"name": "%d/data.%08d.2", "count": 2, "first": 1, "step": 2},
        {"name": "50%%d", "count": 1},
    ]
    manifest = Manifest.model_validate({"directory": "/d", "files": files})
    assert [name for _, name in names_of(manifest.files)] == [
        "i00_000",
        "i00_001",
        "1/data.00000001.2",
        "3/data.00000003.2",
        "50%d",
    ]


def test_files_of_further_directories_go_and_kept_ones_stay(tmp_path: Path, left: Path) -> None:
    second = tmp_path / "second"
    second.mkdir()
    (second / f".effio-run-{TOKEN[:16]}").touch(0o600)
    for name in ("r001", "r003", "corner"):
        (second / name).write_text("x")
    files = [
        {"name": "r%03d", "count": 2, "first": 1, "step": 2, "directory": str(second)},
        {"name": "corner", "count": 1, "directory": str(second), "keep": True},
    ]
    result = read_result(_killed(tmp_path / "run", left, files=files))
    found, _ = leftovers(result, left)
    assert [f.path for f in found if not f.is_mark] == [second / "r001", second / "r003"]
    also = leftovers(result, left, also_kept=True)[0]
    assert [f.path.name for f in also if not f.is_mark] == ["r001", "r003", "corner"]
    assert remove(found) == []
    assert [p.name for p in second.iterdir()] == ["corner"]
    # Nothing but the run's own folder could prove now that it is the run's.
    kept = leftovers(result, left, also_kept=True)[1]
    assert [k.path.name for k in kept] == ["corner"]
    assert "without the run's folder nothing proves" in kept[0].why


def test_what_changed_since_it_was_looked_at_stays(tmp_path: Path, left: Path) -> None:
    result = read_result(_killed(tmp_path / "run", left))
    found, _ = leftovers(result, left)
    (left / "i00").unlink()
    os.mkfifo(left / "i00")
    (left / "sub").rename(left / "moved")
    (left / "sub").symlink_to(left / "moved")
    assert [k.path.name for k in remove(found)] == ["i00", "r000", "r002"]
    assert (left / f".effio-run-{TOKEN[:16]}").exists()
    assert (left / "i00").is_fifo()
    assert (left / "moved/r000").exists()


def test_the_mark_stays_while_a_file_cannot_be_reached(
    tmp_path: Path, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server is away, and comes back: without the mark nothing could be removed then."""
    result = read_result(_killed(tmp_path / "run", left))
    stat = os.stat

    def without_a_server(path: Any, **more: Any) -> os.stat_result:
        if path == "i00":
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        return stat(path, **more)

    monkeypatch.setattr(os, "stat", without_a_server)
    found, kept = leftovers(result, left)
    assert {k.path.name: k.why for k in kept} == {
        "i00": "it cannot be reached (Transport endpoint is not connected)",
        MARK: "it stays: i00 cannot be reached (Transport endpoint is not connected)",
    }
    assert remove(found) == []
    monkeypatch.undo()
    assert _there(left) == ["i00", "mine.txt", "sub/r003"]
    found, _ = leftovers(result, left)
    assert remove(found) == []
    assert _there(left) == ["mine.txt", "sub/r003"]
    assert not (left / MARK).exists()


def test_the_mark_stays_while_files_may_only_look_removed(
    tmp_path: Path, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a distributed GlusterFS without one of its servers."""
    result = read_result(_killed(tmp_path / "run", left))
    hidden = (left / "i00").rename(tmp_path / "hidden")
    monkeypatch.setattr(abilities, "hides_files", lambda directory: directory == left)
    found, kept = leftovers(result, left)
    assert [k.path.name for k in kept] == [MARK]
    assert kept[0].why.startswith("it stays: files of a server that is away only look removed")
    assert remove(found) == []
    monkeypatch.undo()
    hidden.rename(left / "i00")
    found, _ = leftovers(result, left)
    assert [f.path.name for f in found] == ["i00", MARK]


def test_the_client_of_a_glusterfs_says_that_files_are_hidden(tmp_path: Path) -> None:
    part = tmp_path / ".meta/graphs/active/v-dht"
    part.mkdir(parents=True)
    assert not abilities.part_is_away(tmp_path)
    (part / "type").write_text("cluster/distribute\n")
    (part / "private").write_text("subvolume_status[0] = 1\nsubvolume_status[1] = 1\n")
    assert not abilities.part_is_away(tmp_path)
    (part / "private").write_text("subvolume_status[0] = 1\nsubvolume_status[1] = 0\n")
    assert abilities.part_is_away(tmp_path)
    # A part in copies or coded still has its files without one of its servers.
    (part / "type").write_text("cluster/disperse\n")
    assert not abilities.part_is_away(tmp_path)
    # On other file systems any user may have made these files.
    assert not abilities.hides_files(tmp_path)


def test_a_folder_of_a_glusterfs_is_looked_at_where_all_of_it_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_of_it, folder = tmp_path / "all", tmp_path / "folder"
    part = all_of_it / ".meta/graphs/active/v-dht"
    part.mkdir(parents=True)
    folder.mkdir()
    (part / "type").write_text("cluster/distribute\n")
    (part / "private").write_text("subvolume_status[0] = 0\n")
    there = [
        answering.Mount(str(all_of_it), "fuse.glusterfs", "host:/v", "0:50", "/"),
        answering.Mount(str(folder), "fuse.glusterfs", "host:/v", "0:50", "/users/me"),
    ]
    for module in (abilities, answering):
        monkeypatch.setattr(module, "mounts", lambda: iter(there))
    assert abilities.hides_files(folder)
    del there[0]  # as in a container that has the folder only
    assert answering.whole_mount(str(folder)) is None
    assert not abilities.hides_files(folder)


def test_data_that_only_another_host_sees_are_reported(effio: Effio, tmp_path: Path) -> None:
    folder = effio.cwd / "effio-runs/killed"
    result = _killed(folder, Path("/nowhere/data"), host="n7")
    for words in (["clean", "--yes", result], ["clean", "--yes"]):
        done = effio.call(*words)
        assert "the data are in '/nowhere/data' as n7 sees it" in done.stderr
    # A directory that is seen here too is that directory.
    here = _killed(tmp_path / "run", tmp_path, host="n7")
    assert directory_of(read_result(here), None) == tmp_path


def test_kept_files_are_kept_unless_requested(tmp_path: Path, left: Path) -> None:
    result = read_result(_killed(tmp_path / "run", left, keep=True))
    with pytest.raises(EffioError, match="was asked to keep its data files"):
        leftovers(result, left)
    found, _ = leftovers(result, left, also_kept=True)
    assert len([f for f in found if not f.is_mark]) == 3


def test_simulated_files_were_never_there(tmp_path: Path, left: Path) -> None:
    result = read_result(_killed(tmp_path / "run", left, real=False))
    assert leftovers(result, left) == ([], [])
