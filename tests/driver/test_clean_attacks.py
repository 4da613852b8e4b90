# SPDX-License-Identifier: BSD-3-Clause
"""A manifest is a claim: what an attacker writes into one removes nothing of ours."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import astuple
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.launch import job
from effio.store import abilities, looks, proof, shared_probes
from effio.store.all_runs import Store
from effio.store.clean import RefusedRunError, leftovers
from effio.store.folder import RunFolder, now_utc, this_process
from effio.store.reader import read_result
from effio.store.run_record import RunRecord
from effio.store.shared_probes import probes_of
from effio.store.tidy import tidy

TOKEN = "0123456789abcdef0123456789abcdef"
MARK = f".effio-run-{TOKEN[:16]}"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A home with a file that no run of effio made."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years")
    return home


def _forged(folder: Path, home: Path, marked: bool = False, files: object = None) -> RunFolder:
    """A killed run that names the victim's file."""
    lines = made.b_eff_io()[:5]
    lines[0]["started"] = "2020-01-01T00:00:00Z"
    lines[0]["manifest"] |= {
        "directory": str(home),
        "files": files or [{"name": "thesis.tex", "count": 1}],
        "token": TOKEN,
    }
    lines = made.numbered(lines)
    made.write(folder / "result.jsonl", lines)
    if marked:
        made.mark(lines[0]["manifest"])
    return RunFolder(folder)


def _record(run: RunFolder) -> None:
    """Writes the record as the driver does in the folder where the run is made."""
    run.write_record(
        RunRecord(
            id=run.id,
            created=now_utc(),
            benchmark="b_eff_io",
            arguments=[],
            directory=str(run.path),
            command=[],
            process={**this_process(), "pid": 1, "start": "0"},
            folder=proof.folder_identity(run.path),
        )
    )


def _why(run: RunFolder) -> str:
    """Why the one file is refused."""
    found, kept = leftovers(run.result(), Path(run.result().run.manifest.directory), folder=run)  # type: ignore[union-attr]
    assert [f for f in found if not f.is_mark] == []
    return kept[0].why


def test_a_manifest_alone_removes_nothing(effio: Effio, victim: Path) -> None:
    """Neither of a file that somebody sent, nor of a folder of runs."""
    run = _forged(effio.cwd / "effio-runs/killed", victim)
    for words in (["clean", "--yes", run.result_path], ["clean", "--yes"]):
        done = effio.call(*words)
        assert f"left alone: {victim}/thesis.tex: nothing proves that the run" in done.stderr
    assert (victim / "thesis.tex").read_text() == "years"


def test_an_archive_that_is_restored_removes_nothing(effio: Effio, victim: Path) -> None:
    """Not even where the archive says that its run was made here."""
    runs = effio.cwd / "effio-runs"
    _record(_forged(runs / "20260101T000000Z-b_eff_io", victim, marked=True))
    assert effio.call("archive", "last", "-o", "evil.tar.gz").returncode == 0
    shutil.rmtree(runs)
    restored = effio.call("restore", "evil.tar.gz")
    assert restored.returncode == 0, restored.stderr
    done = effio.call("clean", "--yes")
    assert "it was restored or copied" in done.stderr
    assert (victim / "thesis.tex").exists()
    by_name = effio.call("clean", "--yes", "last")
    assert (by_name.returncode, "it was restored or copied" in by_name.stderr) == (2, True)


def test_a_copied_run_removes_nothing(tmp_path: Path, victim: Path) -> None:
    run = _forged(tmp_path / "runs/a", victim, marked=True)
    _record(run)
    assert "older than the run" in _why(run)
    shutil.copytree(run.path, tmp_path / "runs/b")
    with pytest.raises(RefusedRunError, match="restored or copied"):
        _why(RunFolder(tmp_path / "runs/b"))


def test_a_run_that_an_older_effio_made_is_refused(tmp_path: Path, victim: Path) -> None:
    run = _forged(tmp_path / "runs/a", victim, marked=True)
    _record(run)
    record = run.record()
    assert record is not None
    record.folder = {}
    run.write_record(record)
    with pytest.raises(RefusedRunError, match="an older effio made it"):
        _why(run)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("what", ["runs", "runs/a"])
def test_runs_of_another_user_remove_nothing(tmp_path: Path, victim: Path, what: str) -> None:
    """`effio run campaign.toml` in a directory with another user's ./effio-runs."""
    run = _forged(tmp_path / "runs/a", victim, marked=True)
    _record(run)
    os.chown(tmp_path / what, 65534, -1)
    with pytest.raises(RefusedRunError, match="belongs to another user"):
        _why(run)
    said: list[str] = []
    assert "belongs to another user" in job.adopt(run, lambda one: tidy(one, said.append))
    assert not run.is_sealed
    assert (victim / "thesis.tex").exists()


@pytest.mark.parametrize("what", ["runs", "runs/a"])
def test_a_folder_that_others_may_write_removes_nothing(
    tmp_path: Path, victim: Path, what: str
) -> None:
    run = _forged(tmp_path / "runs/a", victim, marked=True)
    _record(run)
    (tmp_path / what).chmod(0o777)
    with pytest.raises(RefusedRunError, match="can be written by others"):
        _why(run)


def _hard_linked(mark: Path) -> None:
    mark.with_name("second").hardlink_to(mark)


def _fifo(mark: Path) -> None:
    mark.unlink()
    os.mkfifo(mark)


def _linked(mark: Path) -> None:
    mark.rename(mark.with_name("elsewhere"))
    mark.symlink_to("elsewhere")


def _changed(mark: Path) -> None:
    text = json.loads(mark.read_text())
    text["files"] = [{"name": "other", "count": 1}]
    mark.write_text(json.dumps(text))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_hard_linked, "has a second name"),
        (_fifo, "is a FIFO"),
        (_linked, "is a link"),
        (_changed, "is not that of the result"),
        (lambda mark: mark.chmod(0o666), "can be written by others"),
    ],
)
def test_a_mark_that_proves_nothing(
    tmp_path: Path, victim: Path, spoil: Callable[[Path], None], why: str
) -> None:
    run = _forged(tmp_path / "runs/a", victim, marked=True)
    _record(run)
    spoil(victim / MARK)
    found, kept = leftovers(run.result(), victim, folder=run)
    assert found == []
    assert "proves nothing" in kept[0].why
    assert why in kept[0].why


def test_what_is_not_a_plain_file_of_ours_alone_stays(tmp_path: Path, victim: Path) -> None:
    """Made after the mark, by the run's names: hard links, FIFOs, directories, another's."""
    names = ["linked", "fifo", "directory", "foreign"]
    files = [{"name": name, "count": 1} for name in names]
    run = _forged(tmp_path / "runs/a", victim, marked=True, files=files)
    _record(run)
    (victim / "linked").hardlink_to(victim / "thesis.tex")
    os.mkfifo(victim / "fifo")
    (victim / "directory").mkdir()
    (victim / "foreign").write_text("x")
    whys = {"linked": "second name", "fifo": "not a plain file", "directory": "not a plain file"}
    if os.geteuid() == 0:
        os.chown(victim / "foreign", 65534, -1)
        whys["foreign"] = "belongs to another user"
        os.mknod(victim / "device", 0o600 | 0o020000, os.makedev(1, 3))
    found, kept = leftovers(run.result(), victim, folder=run)
    reported = {k.path.name: k.why for k in kept}
    assert all(why in reported[name] for name, why in whys.items()), reported
    assert not {f.path.name for f in found} & set(whys)


def test_another_directory_of_that_name_is_not_the_runs(tmp_path: Path, victim: Path) -> None:
    run = _forged(tmp_path / "runs/a", victim, marked=True)
    lines = [json.loads(line) for line in run.result_path.read_text().splitlines()]
    place = {"directory": str(victim), "inode": victim.stat().st_ino + 1}
    lines[0]["manifest"]["places"] = [place]
    made.write(run.result_path, lines)
    _record(run)
    assert "another inode" in _why(run)


def test_nothing_is_removed_without_asking(effio: Effio, victim: Path) -> None:
    run = _forged(effio.cwd / "effio-runs/killed", victim, marked=True, files=[{"name": "left"}])
    time.sleep(0.02)
    (victim / "left").write_text("x")
    asked = effio.run("clean", run.result_path)
    assert asked.returncode == 2
    assert f"remove {victim}/left (1 B)" in asked.stdout
    assert "--yes" in asked.stderr
    assert (victim / "left").exists()
    assert effio.call("clean", "--yes", run.result_path).returncode == 0
    assert sorted(p.name for p in victim.iterdir()) == ["thesis.tex"]


def test_a_campaign_says_what_it_removes(tmp_path: Path, victim: Path) -> None:
    run = _forged(tmp_path / "runs/a", victim, marked=True, files=[{"name": "left"}])
    _record(run)
    (victim / "left").write_text("x")
    said: list[str] = []
    assert job.adopt(run, lambda one: tidy(one, said.append)) == ""
    assert said == ["removed 1 file of a (1 B):", f"  {victim}/left"]
    assert sorted(p.name for p in victim.iterdir()) == ["thesis.tex"]
    assert read_result(run.result_path).status == "unfinished"


PROBE = ".effio-shared-" + TOKEN


@pytest.mark.parametrize("held", ["", TOKEN, TOKEN[::-1]])
def test_the_file_of_a_check_of_nodes_is_found(
    held: str, effio: Effio, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill while nodes looked for it: the run has neither manifest nor mark, nor a result."""
    folder = RunFolder(effio.cwd / "effio-runs/20260101T000000Z-ior")
    folder.path.mkdir(parents=True)
    folder.path.parent.chmod(0o755)
    other = victim / ".effio-shared-of-somebody"  # not such a name
    used = victim / f"{PROBE[:-1]}e"  # does not hold its token
    (victim / PROBE).write_text(held)
    other.touch()
    used.write_text(TOKEN)
    (victim / f"{PROBE[:-1]}d").symlink_to("thesis.tex")
    _record(folder)
    record = folder.record()
    assert record is not None
    record.data_directories = [str(victim)]
    folder.write_record(record)
    soon = effio.call("clean", "--yes")
    assert f"left alone: {victim}/{PROBE}: less than a minute old" in soon.stderr
    assert "nothing to remove" in soon.stdout
    monkeypatch.setattr(shared_probes, "_IN_USE_NS", 0)
    copied = effio.cwd / "effio-runs/20260101T000001Z-ior"
    shutil.copytree(folder.path, copied)  # a claim, as from an archive
    assert probes_of(RunFolder(copied)) == ([], [])
    assert [item.path.name for item in probes_of(folder)[0]] == [PROBE]
    record.created = "2999-01-01T00:00:00Z"
    folder.write_record(record)
    assert probes_of(folder)[1][-1].why == "older than the run: not made by it"
    record.created = now_utc()
    folder.write_record(record)
    done = effio.call("clean", "--yes", folder.id)
    assert done.stdout == f"remove {victim}/{PROBE} ({len(held)} B)\n", done
    assert (
        done.stderr.count("left alone")
        == done.stderr.count("not a plain file that is empty or")
        == 2
    )
    assert not (victim / PROBE).exists()
    (victim / PROBE).touch()
    said: list[str] = []
    assert job.adopt(folder, lambda one: tidy(one, said.append)) == ""  # a campaign is resumed
    assert said[:2] == [f"removed 1 file of {folder.id} (0 B):", f"  {victim}/{PROBE}"]
    left = {path.name for path in victim.iterdir()}
    assert left == {"thesis.tex", other.name, used.name, f"{PROBE[:-1]}d"}


def test_directories_of_a_plan_are_those_of_its_groups_as_well() -> None:
    plan = {
        "needed_directories": ["/a", 7, "broken\ufffd"],
        "groups": [{"plan": {"needed_directories": ["/a/group-1"]}}, {"plan": None}, None],
    }
    assert list(shared_probes.directories_in(plan)) == ["/a", "/a/group-1"]
    assert list(shared_probes.directories_in({"groups": 3})) == []


def test_a_job_records_where_its_nodes_will_look(with_engine: Effio, victim: Path) -> None:
    words = ("ior", "--ranks", "2", "--dir", victim, "--batch", "slurm")
    assert with_engine.call("run", *words).returncode == 0
    (folder,) = Store(with_engine.cwd / "effio-runs").folders()
    record = folder.record()
    assert record is not None
    assert record.data_directories == [str(victim)]


def test_a_killed_doctor_is_cleaned_up_after(
    effio: Effio, victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next `effio doctor` of the directory, and effio clean --dir, remove what it left."""

    def killed(place: Path) -> str:
        (place / "two").hardlink_to(place / "one")
        os._exit(9)

    tried = [one for one in abilities._TRIED if one[0] != "hard links"]
    tried.append(("a kill", killed, ""))
    monkeypatch.setattr(abilities, "_TRIED", (*tried[:5], ("", _touch_one, ""), *tried[5:]))
    for _ in range(2):
        if (child := os.fork()) == 0:
            abilities.abilities_of(victim)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    monkeypatch.undo()
    first, second = sorted(victim.glob(f"{abilities.PREFIX}*"))
    assert {path.name for path in first.iterdir()} >= {"direct", "one", "two", "symbolic"}
    assert looks.left_in(victim)[0] == []  # at work, for all that is known
    monkeypatch.setattr(looks, "_IN_USE_NS", 0)
    planted = [victim / f"{abilities.PREFIX}{letter * 8}" for letter in "abcde"]
    planted[0].symlink_to(first)
    planted[1].write_text("a file")
    planted[2].mkdir(mode=0o755)
    planted[3].mkdir(mode=0o700)
    (planted[3] / "thesis.tex").touch()
    planted[4].mkdir(mode=0o700)
    os.chown(planted[4], 65534, 65534)
    why = {path.name: reason for path, reason in map(astuple, looks.left_in(victim)[1])}
    assert why == {
        planted[0].name: "not a directory",
        planted[1].name: "not a directory",
        planted[2].name: "not a directory that effio made (other mode or device)",
        "thesis.tex": "not made by effio doctor",
        planted[4].name: "belongs to another user",
    }
    (first / "one").write_bytes(b"1234")
    listed = effio.call("clean", "--dry-run", "--dir", victim)
    assert listed.stdout.count("would remove") == 2, listed
    done = effio.call("doctor", "--dir", victim)
    assert done.stderr.count(" which a killed effio left") == 2, done
    assert not first.exists()
    assert not second.exists()
    assert all(os.path.lexists(path) for path in planted)
    assert (planted[3] / "thesis.tex").exists()


def _touch_one(place: Path) -> str:
    (place / "one").touch()
    return ""
