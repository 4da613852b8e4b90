# SPDX-License-Identifier: BSD-3-Clause
"""Commands that write temporary files, where TMPDIR has an odd name or is full."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from driver import made
from driver.conftest import FIRST, Effio

# Each is a text in quotes and an address, a pattern and a template, or no text for some library.
NAMES = (b"it's a\"b:c;d", b"a[b]*?%s{x}%20", b"\xe2\x80\xa8\xc2\xa0", b"bad\xff")
COUNT = f"SELECT count(*) FROM measurements WHERE run = '{FIRST}'"


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_their_place_does_not_matter(kept: Effio, name: bytes) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    place = kept.cwd / os.fsdecode(name)
    place.mkdir()
    environment = {"TMPDIR": str(place)}
    done = kept.call("export", FIRST, "-o", "m.xlsx", env=environment)
    assert done.returncode == 0, done.stderr
    sheet = openpyxl.load_workbook(kept.cwd / "m.xlsx")["measurements"]
    lines = [line for line in made.b_eff_io() if line["kind"] == "measurement"]
    assert sheet.max_row == 1 + len(lines)
    done = kept.call("query", COUNT, "--csv", env=environment)
    assert done.stdout.splitlines()[1:] == [str(len(lines))], done.stderr
    done = kept.call("archive", FIRST, "-o", "all.tar.gz", env=environment)
    assert done.returncode == 0, done.stderr
    assert not any(place.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("export", FIRST, "-o", "m.xlsx"),
        ("query", COUNT),
        ("archive", FIRST, "-o", "all.tar.gz"),
        ("bundle", FIRST, "-o", "bundle"),
    ],
)
def test_a_full_place_is_named(
    kept: Effio, mount: Callable[..., Path], words: tuple[str, ...]
) -> None:
    if words[-1].endswith("xlsx"):
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    (kept.cwd / "effio-runs" / FIRST / "stderr.log").write_text("password=x\n" + "x" * 100_000)
    before = set(kept.cwd.iterdir())
    place = mount("-t", "tmpfs", "-o", "size=4k", "none")
    done = kept.run(*words, env={"TMPDIR": str(place)})
    assert done.returncode == 3, done.stderr
    assert done.stderr.splitlines()[-2:] == [
        f"effio: temporary files in {place}: No space left on device",
        "       make space there, or name another directory with TMPDIR",
    ]
    assert not any(place.iterdir())
    assert set(kept.cwd.iterdir()) - before - {kept.cwd / "cache"} == {place}
