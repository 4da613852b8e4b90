# SPDX-License-Identifier: BSD-3-Clause
"""`effio doctor`: what this machine has for runs, and what is missing."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from driver.conftest import Effio
from effio.cli.doctor import storage_checks
from effio.report import html


def test_doctor(with_engine: Effio) -> None:
    done = with_engine.call("doctor", "--json")
    checks = {check["what"]: check for check in json.loads(done.stdout)}
    assert checks["trial launch"]["state"] == "ok", checks
    assert checks["this directory"]["state"] == "ok"
    assert ("size of reports" in checks) is not html.has_part()
    assert done.returncode == 0
    assert "two ranks started and found each other" in with_engine.call("doctor").stdout


def test_doctor_says_where_runs_cannot_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda place, _: place != tmp_path)
    checks = {check.what: check for check in storage_checks(tmp_path / "new" / "runs")}
    assert checks["this directory"].state == "ok"
    assert checks["runs"].state == "note"
    assert checks["runs"].found.endswith(" free, not writable")
    assert "--runs DIR" in checks["runs"].advice


@pytest.mark.parametrize(("free", "writable"), [(0, True), (1 << 30, False)])
def test_doctor_does_not_tick_a_place_that_takes_no_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, writable: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(os, "access", lambda *_: writable)
    for check in storage_checks(tmp_path / "not-yet" / "runs"):
        assert check.state == "note"
        assert check.advice.startswith("name another")


def test_doctor_tries_what_a_file_system_can_do(with_engine: Effio, tmp_path: Path) -> None:
    done = with_engine.call("doctor", "--dir", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    found = {one["name"]: one for one in json.loads(done.stdout)}
    # Every file system of Linux can do these; the rest depends on where the tests are.
    for name in ("rename onto an open file", "unlink of an open file", "flock", "fcntl locks"):
        assert found[name]["can"] is True, found[name]
    assert found["space"]["can"] is True
    one_node = found["close-to-open"]
    assert one_node["can"] is None
    assert one_node["found"].startswith("needs two nodes")
    assert "O_DIRECT" in with_engine.call("doctor", "--dir", tmp_path).stdout
    assert list(tmp_path.iterdir()) == []


def test_doctor_says_what_is_missing_and_how_to_get_it(effio: Effio, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    unloadable = tmp_path / "effio-mpi"
    unloadable.write_text(
        "#!/bin/sh\necho 'error while loading shared libraries: libmpi' >&2\nexit 127\n"
    )
    unloadable.chmod(0o755)
    done = effio.call("doctor", env={"PATH": str(empty), "EFFIO_ENGINE": str(unloadable)})
    assert done.returncode == 6
    assert re.search(r"^launcher +missing ", done.stdout, re.MULTILINE)
    assert "load the module of the MPI it was built with" in done.stdout
    assert "Traceback" not in done.stderr
