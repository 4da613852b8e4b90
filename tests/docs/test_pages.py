# SPDX-License-Identifier: BSD-3-Clause
"""Every command in the documentation is run, page by page, in a scratch directory."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

import launcher
from docs.blocks import Block, blocks_of, missing_line, script, shown
from engines import ROOT, Engine
from patience import SECONDS
from run_tests import WITHOUT_DEVICES
from slurm_cluster import SlurmCluster

PAGES = sorted(
    str(page.relative_to(ROOT)) for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
)


def _blocks(page: str) -> list[Block]:
    return blocks_of((ROOT / page).read_text())


def _left_out() -> list[ParameterSet]:
    return [
        pytest.param(block.not_run, id=f"{page}:{block.line}")
        for page in PAGES
        for block in _blocks(page)
        if block.not_run
    ]


def _programs(directory: Path, engine: Engine) -> None:
    """What `make build` leaves in bin/, for the engine under test."""
    directory.mkdir()
    # No link for the launcher: Hydra looks for its proxy next to the name that it was called by.
    launch = shlex.join([sys.executable, launcher.__file__, engine.mpiexec])
    for name, words in (("effio", f'"{sys.executable}" -m effio'), ("mpiexec", launch)):
        program = directory / name
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
        program.chmod(0o755)
    (directory / "effio-mpi").symlink_to(engine.program)
    for name in engine.alone(["classic-names"], directory).stdout.split():
        (directory / name).symlink_to("effio-mpi")


def _environment(scratch: Path, engine: Engine) -> dict[str, str]:
    outside = ("EFFIO_", "SLURM", "PBS_", "LSB_", "FLUX_", "PMI")
    kept = {
        k: v for k, v in os.environ.items() if k in WITHOUT_DEVICES or not k.startswith(outside)
    }
    return {
        **engine.environment(),
        **kept,
        "PATH": f"{scratch / 'bin'}:{os.environ['PATH']}",
        "HOME": str(scratch / "home"),
        "XDG_CONFIG_HOME": str(scratch / "home/.config"),
        "XDG_DATA_HOME": str(scratch / "home/.local/share"),
        "XDG_CACHE_HOME": str(scratch / "home/.cache"),
        # A build in this checkout may be of another MPI.
        "EFFIO_ENGINE": str(engine.program),
        "EFFIO_MPIEXEC": engine.mpiexec,
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


def test_a_page_continues_where_the_launcher_is_wrong(any_engine: Engine, tmp_path: Path) -> None:
    mpiexec = tmp_path / "mpiexec"
    mpiexec.write_text('#!/bin/sh\necho "$*" exiting improperly >&2\nexit 1\n')
    mpiexec.chmod(0o755)
    _programs(tmp_path / "bin", replace(any_engine, mpiexec=str(mpiexec)))
    for said, code in (("rank 1", 0), ("Exit code: 1", 1)):
        words = [str(tmp_path / "bin" / "mpiexec"), said]
        done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False)
        assert (done.returncode, done.stderr) == (code, f"{said} exiting improperly\n".encode())


@pytest.mark.timeout(4 * SECONDS)
@pytest.mark.parametrize("page", [page for page in PAGES if _blocks(page)])
def test_a_page_can_be_followed(
    page: str, any_engine: Engine, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    scratch = tmp_path / "scratch"
    outputs = tmp_path / "outputs"
    for directory in (scratch, scratch / "home", outputs):
        directory.mkdir()
    _programs(scratch / "bin", any_engine)
    blocks = [block for block in _blocks(page) if not block.not_run]
    slurm: dict[str, str] = {}
    if any(block.with_slurm for block in blocks):
        try:
            cluster: SlurmCluster = request.getfixturevalue("slurm")
            slurm = {
                **cluster.environment,
                "PATH": f"{scratch / 'bin'}:{cluster.environment['PATH']}",
            }
        except pytest.skip.Exception as reason:
            print(f"{page}: blocks for Slurm are left out: {reason}")
            blocks = [block for block in blocks if not block.with_slurm]
    reached = tmp_path / "reached"
    commands = tmp_path / "page.sh"
    commands.write_text(script(blocks, outputs, slurm))
    done = subprocess.run(
        ["bash", "-c", 'exec 3> "$0"; . "$1"', reached, commands],
        cwd=scratch,
        env=_environment(scratch, any_engine),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3 * SECONDS,
        check=False,
    )
    where = f"{page}, line {(reached.read_text().split() or ['?'])[-1]}"
    said = "".join(path.read_text() for path in sorted(outputs.iterdir()))[-3000:]
    assert done.returncode == 0, f"{where}: {done.stdout[-2000:]}\n{done.stderr[-2000:]}\n{said}"
    for block in blocks:
        if block.language == "console" and not block.file:
            for one in shown(block):
                output = (outputs / str(one.line)).read_text()
                missing = missing_line(one.output, output)
                assert missing is None, (
                    f"{page}, line {one.line}: {one.command}\ndoes not print: {missing}\n{output}"
                )


@pytest.mark.parametrize("reason", _left_out())
def test_left_out(reason: str) -> None:
    pytest.skip(reason)
