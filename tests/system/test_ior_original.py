# SPDX-License-Identifier: BSD-3-Clause
"""Our ior against the original, where a checkout that is built is given: IOR_TREE=<path>."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from engines import Engine


def built_tree(given: str | None) -> Path:
    """The checkout, or a skip that says what is missing."""
    if not given:
        pytest.skip("no checkout of IOR is given (IOR_TREE=<path>)")
    path = Path(given)
    if not path.is_dir():
        pytest.skip(f"IOR_TREE={given}: no such directory")
    if not os.access(path / "src" / "ior", os.X_OK):
        pytest.skip(f"{path}/src/ior is not there: build the checkout first")
    return path


def script_of(tree: Path, name: str) -> Path:
    path = tree / "testing" / name
    if not path.exists():
        pytest.skip(f"{path} is not in this checkout")
    return path


@pytest.fixture(scope="module")
def tree() -> Path:
    return built_tree(os.environ.get("IOR_TREE"))


def test_what_is_missing_of_a_checkout_is_said(tmp_path: Path) -> None:
    def reason(given: str | None) -> str:
        with pytest.raises(pytest.skip.Exception) as skipped:
            script_of(built_tree(given), "basic-tests.sh")
        return str(skipped.value)

    assert "no checkout of IOR is given" in reason(None)
    assert "no checkout of IOR is given" in reason("")
    assert reason(f"{tmp_path}/nowhere") == f"IOR_TREE={tmp_path}/nowhere: no such directory"
    assert "src/ior is not there: build the checkout first" in reason(str(tmp_path))
    program = tmp_path / "src" / "ior"
    program.parent.mkdir()
    program.touch(mode=0o755)
    assert "testing/basic-tests.sh is not in this checkout" in reason(str(tmp_path))


def lines(count: int) -> list[str]:
    """Random command lines whose files must be the same; the same ones in every run."""
    draw = random.Random(4711)
    made = []
    for _ in range(count):
        transfer = draw.choice([8, 512, 4096, 47008, 65536])
        words = [
            f"-t {transfer} -b {transfer * draw.randint(1, 5)} -s {draw.randint(1, 4)}",
            f"-G {draw.randint(1, 2**31 - 1)}",
            draw.choice(["-a POSIX", "-a MPIIO", "-a MPIIO -c"]),
            draw.choice(["", "-F"]),
            draw.choice(["", "-e"]),
            draw.choice(["", "-g"]),
            draw.choice(["-l timestamp", "-l offset"]),
        ]
        made.append(" ".join(word for word in words if word))
    return made


@pytest.mark.parametrize("line", lines(12))
def test_both_write_the_same_and_read_each_other(
    any_engine: Engine, tree: Path, tmp_path: Path, line: str
) -> None:
    original = tree / "src" / "ior"

    def theirs(words: str) -> int:
        command = any_engine.command(words.split(), program=original)
        done = subprocess.run(
            command, cwd=tmp_path, env=any_engine.environment(), timeout=60, check=False
        )
        return done.returncode

    def ours(words: str) -> int:
        return any_engine.run(["classic", "ior", *words.split()], tmp_path).code

    assert theirs(f"{line} -w -k -o theirs") == 0
    assert ours(f"{line} -w -k -o ours") == 0
    their_files = {p.name.removeprefix("theirs"): p for p in tmp_path.glob("theirs*")}
    our_files = {p.name.removeprefix("ours"): p for p in tmp_path.glob("ours*")}
    assert their_files.keys() == our_files.keys()
    for name, path in their_files.items():
        assert path.read_bytes() == our_files[name].read_bytes(), name
    assert ours(f"{line} -r -R -k -o theirs") == 0
    assert theirs(f"{line} -r -R -k -o ours") == 0


@pytest.mark.parametrize("script", ["basic-tests.sh", "complex-tests.sh"])
def test_the_scripts_of_the_original(
    any_engine: Engine, tree: Path, tmp_path: Path, script: str
) -> None:
    path = script_of(tree, script)
    links = tmp_path / "bin"
    links.mkdir()
    names = any_engine.alone(["classic-names"], tmp_path).stdout.split()
    for name in ("ior", "mdtest"):
        target = any_engine.program if name in names else tree / "src" / name
        (links / name).symlink_to(target)
    launch = " ".join([any_engine.mpiexec, *any_engine.flags, "-n"])
    done = subprocess.run(
        ["bash", path],
        cwd=tmp_path,
        env=any_engine.environment(
            {"IOR_BIN_DIR": str(links), "IOR_OUT": str(tmp_path / "out"), "IOR_MPIRUN": launch}
        ),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
