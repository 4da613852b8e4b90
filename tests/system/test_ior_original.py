# SPDX-License-Identifier: BSD-3-Clause
"""Our ior against the original, where a checkout that is built is given: IOR_TREE=<path>."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from engines import Engine


@pytest.fixture(scope="module")
def tree() -> Path:
    given = os.environ.get("IOR_TREE")
    if not given:
        pytest.skip("no checkout of IOR is given (IOR_TREE=<path>)")
    path = Path(given)
    if not os.access(path / "src" / "ior", os.X_OK):
        pytest.skip(f"{path}/src/ior is not there: build the checkout first")
    return path


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
    path = tree / "testing" / script
    if not path.exists():
        pytest.skip(f"{path} is not in this checkout")
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
