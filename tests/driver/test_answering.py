# SPDX-License-Identifier: BSD-3-Clause
"""A directory whose file system does not answer: no command waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.launch.places import not_here
from effio.store import answering
from effio.store.clean import leftovers
from effio.store.folder import RunFolder
from effio.store.tidy import tidy
from faults import fuse_files

_SERVER = """
import sys, time
from pathlib import Path
from faults import fuse_files
with fuse_files.mounted(Path(sys.argv[1]), Path(sys.argv[2])):
    print("mounted", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of a file system (FUSE) whose program hangs."""
    if reason := fuse_files.why_not():
        pytest.skip(reason)
    backing, mount = tmp_path / "backing", tmp_path / "dead"
    (backing / "data").mkdir(parents=True)
    mount.mkdir()
    monkeypatch.setattr(answering, "PATIENCE", 0.5)
    words = [sys.executable, "-c", _SERVER, str(backing), str(mount)]
    tests = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    server = subprocess.Popen(words, env=tests, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        assert server.stdout.readline() == "mounted\n"
        assert answering.answers(mount / "data")
        answering.forget()
        server.send_signal(signal.SIGSTOP)
        yield mount / "data"
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=False)
        server.kill()  # whatever still waits gets an error
        server.wait()


def _killed_run(folder: Path, data: Path) -> RunFolder:
    lines = made.b_eff_io()[:5]
    lines[0]["manifest"] |= {"directory": str(data), "files": [{"name": "left", "count": 1}]}
    made.write(folder / "result.jsonl", lines)
    return RunFolder(folder)


def test_no_command_waits_for_a_dead_file_system(effio: Effio, dead: Path) -> None:
    silent = f"{dead} does not answer"
    run = _killed_run(effio.cwd / "effio-runs/killed", dead)
    everything = effio.call("clean", "--yes")
    assert (everything.returncode, everything.stdout) == (0, "nothing to remove\n")
    assert f"left alone: killed: {silent}" in everything.stderr
    link = effio.cwd / "link"
    link.symlink_to(dead)
    through_link = f"{link} does not answer"
    for words, said in (
        (["clean", "--yes", "killed"], silent),
        (["clean", "--yes", "killed", "--dir", link], through_link),
        (["doctor", "--dir", dead], silent),
        (["--runs", dead, "runs"], silent),
        (["show", link], through_link),
        (["import", dead / "file"], f"{dead}/file does not answer"),
    ):
        done = effio.call(*words)
        assert done.returncode == 3, (words, done)
        assert said in done.stderr, (words, done)
    said_by_resume: list[str] = []
    tidy(run, said_by_resume.append)
    assert said_by_resume == [f"killed: {silent} (waited 0.5 s)"]
    assert not_here({"needed_directories": [str(dead)]}) == [f"{silent} (waited 0.5 s)"]


def test_what_answers_is_looked_at(tmp_path: Path) -> None:
    """An error is an answer; a way in circles ends."""
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for place in (tmp_path, tmp_path / "missing", tmp_path / "..", circle, Path("/dev/null")):
        assert answering.answers(place)
        assert answering.must_answer(place) is place
    assert leftovers(_killed_run(tmp_path / "killed", tmp_path).result(), tmp_path)[0] == []


@pytest.mark.parametrize(
    "name",
    [
        "no-break\u00a0space",
        "line\u2028separator",
        "next\x85line",
        "tab\tand\nnew line",
        "back\\\\slash 040",
        os.fsdecode(b"not UTF-8 \xff"),
    ],
)
def test_a_mount_point_may_have_any_name(name: str, mount: Callable[..., Path]) -> None:
    place = mount("-t", "tmpfs", "none", name=name)
    assert [m for m in answering.mounts() if m.point == str(place)] == [
        (str(place), "tmpfs", "none", f"0:{os.minor(place.stat().st_dev)}", "/")
    ]
    assert answering.whole_mount(str(place)) == str(place)
