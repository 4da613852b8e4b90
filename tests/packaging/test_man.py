# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: those for distributions are what effio writes, and `man` can show them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from driver.conftest import Effio, effio, with_engine  # noqa: F401  fixtures
from effio.cli.main import COMMANDS
from effio.cli.man import command_pages
from engines import ROOT
from patience import SECONDS

PAGES = ROOT / "packaging/man"


def test_the_pages_are_what_effio_writes() -> None:
    # When a command has changed: effio man packaging/man --commands-only
    assert {p.name: p.read_text() for p in PAGES.iterdir()} == dict(command_pages())


def test_every_command_has_one() -> None:
    assert set(command_pages()) == {"effio.1", *(f"effio-{name}.1" for name, _, _ in COMMANDS)}


def test_options_are_reported_once_and_verbatim() -> None:
    text = command_pages()["effio-archive.1"]
    assert "\n.B \\-o, \\-\\-output FILE\na file that does not exist yet, as stu" in text
    run = command_pages()["effio-run.1"]
    assert run.count(".B \\-\\-retry\\-failed\n") == 1
    assert run.count(".B \\-\\-take\\-over\n") == 1


@pytest.mark.parametrize("page", sorted(p.name for p in PAGES.iterdir()))
def test_troff_has_no_complaint(page: str) -> None:
    program = shutil.which("groff")
    if program is None:
        pytest.skip("groff is not here")
    done = subprocess.run(
        [program, "-man", "-Tutf8", "-ww", PAGES / page],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert page.removesuffix(".1").upper() in done.stdout


def test_benchmarks_have_pages_too(with_engine: Effio) -> None:  # noqa: F811
    done = with_engine.call("man", "man1")
    assert done.returncode == 0, done.stderr
    page = (with_engine.cwd / "man1/effio-mpi-ior.1").read_text()
    assert ".SH NAME\neffio\\-mpi\\-ior \\- Bulk reads and writes" in page
    assert ".B \\-t, \\-\\-transfer SIZE\n" in page
    assert with_engine.call("man", "man1").returncode == 0


def test_a_place_that_is_none(effio: Effio) -> None:  # noqa: F811
    (effio.cwd / "file").write_text("")
    done = effio.call("man", "file/man", "--commands-only")
    assert done.returncode == 3
    assert "cannot write" in done.stderr
    assert effio.call("man").returncode == 2
    assert effio.call("man", "x", env={"EFFIO_ENGINE": "/nowhere"}).returncode == 6
    assert not (Path(effio.cwd) / "x").exists()
