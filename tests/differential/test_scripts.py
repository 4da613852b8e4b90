# SPDX-License-Identifier: BSD-3-Clause
"""The original's own test scripts on our ior and mdtest, where a checkout of it is given:
EFFIO_PEER_TREE=<path>, with the originals by EFFIO_PEER_IOR. Nothing in it is read but testing/."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import launcher
from differential.differences import Difference, load, unexplained
from differential.peers import original_of
from engines import Engine


def script_of(given: str | None, name: str) -> Path:
    """The script, or a skip that says what is missing."""
    if not given:
        pytest.skip("no checkout of IOR is given (EFFIO_PEER_TREE=<path>)")
    path = Path(given) / "testing" / name
    if not path.is_file():
        pytest.skip(f"EFFIO_PEER_TREE={given}: no testing/{name}")
    return path


def test_what_is_missing_of_a_checkout_is_said(tmp_path: Path) -> None:
    for given, reason in ((None, "no checkout"), (str(tmp_path), "no testing/basic-tests.sh")):
        with pytest.raises(pytest.skip.Exception, match=reason):
            script_of(given, "basic-tests.sh")


def outcomes(text: str) -> list[tuple[str, str, str]]:
    """Program, options and ending of each command that a script lists."""
    found = re.findall(r"^(?:.* )?(OK|ERR) .*?/(ior|mdtest) (.*)$", text, re.M)
    return [(name, " ".join(words.split()), "ok" if said == "OK" else "failed")
            for said, name, words in found]  # fmt: skip


def test_outcomes_are_read_line_by_line() -> None:
    text = "differs: /d/f OK  0 mpiexec -np 2 /t/ior -a POSIX  -w \n"
    text += "ERR 1 x /b/mdtest -I 2\nError, look!\n"
    assert outcomes(text) == [("ior", "-a POSIX -w", "ok"), ("mdtest", "-I 2", "failed")]


@pytest.mark.timeout(1300)
@pytest.mark.parametrize("script", ["basic-tests.sh", "complex-tests.sh"])
def test_the_scripts_of_the_original(any_engine: Engine, tmp_path: Path, script: str) -> None:
    """Every command ends as with the original, or as the table of differences has it."""
    path = script_of(os.environ.get("EFFIO_PEER_TREE"), script)
    links = tmp_path / "bin"
    links.mkdir()
    for name in ("ior", "mdtest"):
        (links / name).symlink_to(any_engine.program)
    seen = []
    for number, programs in enumerate((original_of("ior").parent, links)):
        place = tmp_path / str(number)
        place.mkdir()
        launch = " ".join(
            [sys.executable, launcher.__file__, any_engine.mpiexec, *any_engine.flags, "-n"]
        )
        more = {"IOR_BIN_DIR": str(programs), "IOR_OUT": str(place / "out"), "IOR_MPIRUN": launch}
        done = subprocess.run(
            ["bash", path],
            cwd=place,
            env=any_engine.environment(more),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        seen.append(outcomes(done.stdout))
    theirs, ours = seen
    assert theirs, "the script lists no command"
    assert [one[:2] for one in ours] == [one[:2] for one in theirs]
    found = [
        Difference(name, f"{name} {words}", "exit", ending, mine)
        for (name, words, ending), (_, _, mine) in zip(theirs, ours, strict=True)
        if mine != ending
    ]
    assert not unexplained(found, load()), found
