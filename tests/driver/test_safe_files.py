# SPDX-License-Identifier: BSD-3-Clause
"""Files of a store are opened and written in one way: no link is followed, nothing waits."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import effio
from driver import made
from effio.campaign.state import CampaignFolder, damage_of, state_of
from effio.config.site import load_site
from effio.errors import EffioError, ExitCode
from effio.launch.commands import carry_out
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from effio.store.run_record import Outcome, RunRecord

PACKAGE = Path(effio.__file__).parent
# Opens by other means, each with its reason.
ELSEWHERE = {
    "store/safe_files.py": "the helper itself",
    "store/removal.py": "takes names away by descriptors of directories",
    "store/index.py": "SQLite opens its file, in the user's own cache directory of mode 0700",
    "store/query.py": "a temporary directory of mode 0700",
    "store/temporary.py": "temporary files without a name, directories of mode 0700",
    "store/archive.py": "tar reads from a stream of safe_files; a temporary directory of mode 0700",
    "judge/bundle.py": "a temporary directory of mode 0700 that becomes the bundle",
    "engine/build.py": "builds in its own directories, below the user's data directory",
    "engine/carried.py": "engines of the package, copied into the user's data directory",
    "engine/kept.py": "files next to the engine in the user's data directory, or of a checkout",
    "imports/ior.py": "opens nothing: open(s) is a column of IOR's table",
    "engine/discover.py": "files of a checkout and of the installation, no store",
    "launch/watch.py": "/proc",
    "launch/machine.py": "/sys",
    "store/traffic.py": "/sys",
    "store/answering.py": "/proc",
    "store/waiting.py": "/proc",
    "store/on_servers.py": "what the client of GlusterFS says below its mount point",
    "store/abilities.py": "small files in a separate directory of mode 0700, which is removed",
    "launch/template.py": "a template that the site file names",
    "launch/batch.py": "its own job script, as standard input of the submit command",
    "launch/live.py": "a terminal",
    "cli/main.py": "/dev/null",
    "cli/streams.py": "/dev/null",
    "cli/man.py": "manual pages in a directory that is named for them",
    "cli/init.py": "a new file in the current directory (O_EXCL)",
    "cli/doctor.py": "/dev/null and a temporary directory",
    "engine/program.py": "the engine's own program, for its checksum",
    "report/html.py": "parts of the package, the glossary among them",
    "report/static.py": "figures in a directory that is named for them",
    "profile/darshan.py": "a log that the user names; a FIFO is refused before",
    "profile/darshan_child.py": "a log that the user names, by the library that reads it",
    "__init__.py": "VERSION of a checkout",
    "store/folder.py": "/proc",
    "store/members.py": "the description of results, a part of the package",
    "serve/app.py": "parts of the package",
}
OPENS = re.compile(
    r"(?<![\w.])open\(|(?<!\w)(os|io|gzip|path|file|target|script|place|log)\.open\(|\)\.open\(|"
    r"\.(read_text|read_bytes|write_text|write_bytes)\(|mkstemp|mkdtemp|NamedTemp|TemporaryDirectory|"
    r"shutil\.copy|tarfile\.open|sqlite3\.connect|\.symlink_to\("
)
ALLOWED = re.compile(r"safe_files\.(read_text|read_bytes)\(|formatter\.write_text")


def test_nothing_else_opens_files() -> None:
    found = set()
    for file in PACKAGE.rglob("*.py"):
        text = ALLOWED.sub("", file.read_text())
        if OPENS.search(text):
            found.add(file.relative_to(PACKAGE).as_posix())
    assert found - set(ELSEWHERE) == set()


# Other things than files in a store -------------------------------------------------------------


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    victim = path.parent.parent / "victim"
    victim.write_text("{}")
    path.symlink_to(victim)


def _device(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero, without an end


def _directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("put", [_fifo, _link, _device, _directory])
def test_a_run_with_something_else_in_place_of_its_files(
    tmp_path: Path, put: Callable[[Path], None]
) -> None:
    for name in ("run.json", "result.jsonl", "SHA256SUMS", "notes.json", "stdout.log"):
        run = tmp_path / name / "20260101T000000Z-b_eff_io"
        run.mkdir(parents=True)
        if name != "result.jsonl":
            made.write(run / "result.jsonl", made.b_eff_io())
        put(run / name)
        folder = RunFolder(run)
        assert folder.record() is None
        assert folder.changed_since_sealed() == []
        assert folder.notes().notes == ()
        assert folder.state() == ("failed" if name == "result.jsonl" else "done")
        with contextlib.suppress(IsADirectoryError):
            folder.seal()
        # Nothing of it was written through.
        victim = run.parent / "victim"
        assert not victim.exists() or victim.read_text() == "{}"


@pytest.mark.parametrize("put", [_fifo, _link, _device])
def test_locks_and_logs_follow_nothing(tmp_path: Path, put: Callable[[Path], None]) -> None:
    place = tmp_path / "campaigns" / "c"
    place.mkdir(parents=True)
    put(place / "lock")
    with (
        pytest.raises(EffioError, match="not a regular file"),
        CampaignFolder(Store(tmp_path), "c").locked(),
    ):
        pass
    put_log = tmp_path / "run"
    put_log.mkdir()
    (put_log / "commands.jsonl").symlink_to(tmp_path / "new")
    assert carry_out([["true"]], put_log, "set-up", {}) == ""
    assert not (tmp_path / "new").exists()


def test_a_lock_with_a_second_name_is_not_emptied(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("years")
    (tmp_path / "campaigns/c").mkdir(parents=True)
    (tmp_path / "campaigns/c/lock").hardlink_to(victim)
    with (
        pytest.raises(EffioError, match="second name"),
        CampaignFolder(Store(tmp_path), "c").locked(),
    ):
        pass
    assert victim.read_text() == "years"


def test_a_campaign_in_a_folder_that_is_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns/c").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(EffioError, match="link"), CampaignFolder(Store(tmp_path), "c").locked():
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_files_are_replaced_and_not_written_through(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("years")
    (tmp_path / "out").symlink_to(victim)
    safe_files.write_atomically(tmp_path / "out", "new")
    assert (victim.read_text(), (tmp_path / "out").read_text()) == ("years", "new")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with (
        pytest.raises(FileExistsError),
        safe_files.replacing(tmp_path / "dangling", keep_existing=True),
    ):
        pass
    with pytest.raises(FileExistsError), safe_files.creating(tmp_path / "dangling"):
        pass
    assert not (tmp_path / "nowhere").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["dangling", "out", "victim"]


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(safe_files.UnsafeFileError, match="larger"):
        safe_files.read_bytes(tmp_path / "big")
    # Who reads line by line is refused at once.
    with (
        pytest.raises(safe_files.UnsafeFileError, match="larger"),
        safe_files.reading(tmp_path / "big"),
    ):
        pass
    # One that grows after it was opened is not read without end.
    with pytest.raises(safe_files.UnsafeFileError, match="larger"):
        safe_files.read_bytes(Path("/proc/self/status"), most=10)


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_a_file_of_another_user_is_not_written(tmp_path: Path) -> None:
    """A lock or log that others put there, writable by all. Reading it is harmless."""
    other = tmp_path / "log"
    other.write_text("theirs")
    other.chmod(0o666)
    os.chown(other, 65534, -1)
    with (
        pytest.raises(safe_files.UnsafeFileError, match="belongs to another user"),
        safe_files.updating(other),
    ):
        pass
    assert other.read_text() == "theirs"
    assert safe_files.read_bytes(other) == b"theirs"


# A finished run that was damaged later -----------------------------------------------------------


def _finished(path: Path) -> RunFolder:
    made.write(path / "result.jsonl", made.b_eff_io())
    folder = RunFolder(path)
    folder.write_record(
        RunRecord(
            id=path.name,
            created="",
            benchmark="b_eff_io",
            arguments=[],
            directory="",
            command=[],
            outcome=Outcome(status="done", exit_code=0),
        )
    )
    folder.seal()
    return folder


def _cut(result: Path) -> None:
    result.write_bytes(result.read_bytes()[:5000])


def _without_end(result: Path) -> None:
    lines = result.read_text().splitlines(keepends=True)
    result.write_text("".join(lines[:-1]))


def _replaced(put: Callable[[Path], None]) -> Callable[[Path], None]:
    def act(result: Path) -> None:
        result.unlink()
        put(result)

    return act


DAMAGES: dict[str, Callable[[Path], object]] = {
    "cut": _cut,
    "no end": _without_end,
    "empty": lambda result: result.write_text(""),
    "garbage": lambda result: result.write_bytes(b"\xff" * 100),
    "directory": _replaced(_directory),
    "FIFO": _replaced(_fifo),
    "gone": lambda result: result.unlink(),
    "other figures": lambda result: made.write(result, made.b_eff_io()[:1] + made.b_eff_io()[2:]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_finished_run_that_was_damaged_is_not_done(tmp_path: Path, damage: str) -> None:
    folder = _finished(tmp_path / "run")
    assert damage_of(folder) == ""
    assert state_of([folder]) == ("done", folder)
    DAMAGES[damage](folder.result_path)
    assert damage_of(folder)
    assert state_of([folder]) == ("to do", folder)
    # A later attempt that is whole counts.
    again = _finished(tmp_path / "again")
    assert state_of([folder, again]) == ("done", again)


def test_settings_of_another_user_are_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They hold commands, and a working directory may be shared."""
    site = tmp_path / "effio-site.toml"
    site.write_text('[launch]\nlauncher = "/tmp/evil"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EFFIO_SITE", "")
    site.chmod(0o644)
    assert load_site().launch.launcher == "/tmp/evil"
    site.chmod(0o646)
    with pytest.raises(EffioError, match=r"effio-site\.toml can be written by others"):
        load_site()
    if os.geteuid() == 0:
        site.chmod(0o644)
        os.chown(site, 65534, -1)
        with pytest.raises(EffioError, match=r"effio-site\.toml belongs to another user"):
            load_site()
        elsewhere = site.rename(tmp_path / "elsewhere")
        site.symlink_to(elsewhere)
        with pytest.raises(EffioError, match=r"effio-site\.toml belongs to another user"):
            load_site()
    monkeypatch.setenv("EFFIO_SITE", str(site))
    assert load_site().launch.launcher == "/tmp/evil"


@pytest.mark.parametrize(
    ("error", "said", "code", "hint"),
    [
        (PermissionError(13, "Permission denied"), ": Permission denied", ExitCode.IO_ERROR, ""),
        (OSError(5, "Input/output error"), ": Input/output error", ExitCode.IO_ERROR, ""),
        (safe_files.UnsafeFileError(40, "is a link"), ": it is a link", ExitCode.USAGE, "move it"),
        (ValueError("Expecting value"), "", ExitCode.USAGE, "move it"),
    ],
)
def test_moving_a_file_away_is_not_advised_where_reading_is_refused(
    error: Exception, said: str, code: ExitCode, hint: str
) -> None:
    refused = safe_files.unreadable(Path("call.json"), error, "move it")
    assert (refused.message, refused.code, refused.hint) == (
        f"call.json cannot be read{said}",
        code,
        hint,
    )


def test_a_campaign_that_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = CampaignFolder(Store(tmp_path), "sweep")
    folder.path.mkdir(parents=True)
    (folder.path / "campaign.json").write_text("{")
    with pytest.raises(EffioError, match=r"cannot be read$") as other:
        folder.called()
    assert "move the file away" in other.value.hint

    def refuse(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(safe_files, "read_text", refuse)
    with pytest.raises(EffioError, match=r"cannot be read: Permission denied$") as refused:
        folder.called()
    assert refused.value.hint == ""
