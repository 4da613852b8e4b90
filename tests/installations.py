# SPDX-License-Identifier: BSD-3-Clause
"""effio as users install it: its wheel, in an environment of Python that is otherwise empty."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

from engines import ROOT
from patience import SECONDS


def wheel_into(place: Path, **variables: str) -> Path:
    """The wheel of this checkout; `variables` are for its build hook."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", place],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, **variables},
        timeout=SECONDS,
    )
    (found,) = place.glob("effio-*.whl")
    return found


class Installation:
    """A fresh environment with the wheel in it."""

    def __init__(self, place: Path, wheel: Path) -> None:
        self.place = place
        self.python = place / "venv/bin/python"
        # pip reaches into it from outside: unpacking another pip takes longer than all else.
        into = ["--python", str(self.python), "install", "--quiet", "--no-index", "--no-deps"]
        for words in (
            ["venv", "--without-pip", str(place / "venv")],
            ["pip", *into, str(wheel)],
        ):
            subprocess.run([sys.executable, "-m", *words], check=True, timeout=SECONDS)
        # The packages that effio needs are borrowed from the environment of the tests, after its
        # own: so this needs no network, and effio itself comes from the wheel.
        ours = Path(sysconfig.get_paths()["purelib"])
        theirs = next((place / "venv/lib").glob("python*/site-packages"))
        (theirs / "borrowed.pth").write_text(f"{ours}\n")
        self.environment = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("EFFIO_", "SLURM", "MPICC", "MODULE", "PYTHON"))
        } | {"HOME": str(place), "XDG_DATA_HOME": str(place / "share"), "NO_COLOR": "1"}

    def effio(
        self, *words: str, path: Path | None = None, seconds: float = SECONDS
    ) -> subprocess.CompletedProcess[str]:
        where = f"{path}:" if path else ""
        return subprocess.run(
            [self.place / "venv/bin/effio", *words],
            cwd=self.place,
            env=self.environment | {"PATH": f"{where}{self.environment['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
