# SPDX-License-Identifier: BSD-3-Clause
"""Completion in shells: the files for distributions, and what Tab really offers in bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from engines import ROOT, Engine
from patience import SECONDS
from store import generate

FILES = {"bash": "effio.bash", "zsh": "_effio", "fish": "effio.fish"}


@pytest.mark.parametrize("shell", FILES)
def test_the_files_are_what_effio_prints(shell: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "effio", "completion", shell],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    assert done.stdout == (ROOT / "packaging/completion" / FILES[shell]).read_text()


TWO = """
title = "t"
purpose = "p"
[[step]]
name = "a"
benchmark = "ior"
ranks = 1
options = { backend = "null", dir = "/" }
sweep = { transfer = ["1MiB", "2MiB"] }
"""
# Of transfer=2MiB.
POINT = "59742a76fa506f54"


@pytest.fixture
def offered(tmp_path: Path, any_engine: Engine) -> object:
    effio = tmp_path / "effio"
    effio.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from effio.cli.main import main; ')
    effio.write_text(effio.read_text() + 'import sys; sys.argv[0] = \'effio\'; main()" "$@"\n')
    effio.chmod(0o755)
    (tmp_path / "two.toml").write_text(TWO)
    runs = tmp_path / "effio-runs"
    (runs / "campaigns/sweep").mkdir(parents=True)
    (runs / "campaigns/sweep/campaign.json").write_text("{}")
    generate(runs, 1)
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not here")

    def ask(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        script = (
            "complete() { :; }; compopt() { :; }\n"
            f". '{ROOT}/packaging/completion/effio.bash'\n"
            f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
            f"_effio_completion '{effio}'\n"
            'printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run(
            [bash, "-c", script],
            cwd=tmp_path,
            env={
                **os.environ,
                "EFFIO_ENGINE": str(any_engine.program),
                "XDG_CACHE_HOME": str(tmp_path / "cache"),
            },
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        )
        return done.stdout.split()

    return ask


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("effio", "ru"), {"run", "runs"}),
        (("effio", "run", "b-eff-i"), {"b-eff-io"}),
        (("effio", "run", "b-eff-io", "--parti"), {"--partitions"}),
        (("effio", "show", "la"), {"last"}),
        (("effio", "completion", ""), {"bash", "zsh", "fish"}),
        (("effio", "run", "bl"), {"blue-waters"}),
        (("effio", "plan", "hin"), {"hints"}),
        (("effio", "runs", "--tag", ""), {"nightly"}),
        (("effio", "runs", "--campaign", "sw"), {"sweep"}),
        (("effio", "table", "tag:ni"), {"tag:nightly"}),
        (("effio", "run", "two.toml", "--point", POINT[:3]), {POINT}),
        (("effio", "plan", "two.toml", "--point", POINT[:3]), {POINT}),
    ],
)
def test_bash_offers(offered: object, words: tuple[str, ...], expected: set[str]) -> None:
    assert callable(offered)
    assert set(offered(*words)) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_theirs(shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not here")
    file = ROOT / "packaging/completion" / FILES[shell]
    subprocess.run([program, "--no-execute", file], check=True, timeout=SECONDS)
