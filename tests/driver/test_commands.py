# SPDX-License-Identifier: BSD-3-Clause
"""Commands around a run that go wrong or are hostile: endless output, no end, processes left
behind, control characters."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from effio.launch.commands import carry_out
from effio.launch.layouts import LayoutError, difference, fault_of, laying, shown
from patience import SECONDS

ESCAPES = "\x1b[2J\x1b]0;title\x07\u202ereversed"


def python(*lines: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", "\n".join(("import os, sys, time", *lines))]


def noted(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "commands.jsonl").read_text().splitlines()]


def test_the_output_of_a_command_costs_no_memory(tmp_path: Path) -> None:
    """100 MB, of which the end is kept: what a command says last explains how it failed."""
    tracemalloc.start()
    words = python("for _ in range(100): os.write(1, b'x' * 1_000_000)", "os.write(1, b'the end')")
    assert carry_out([words], tmp_path, "set-up", {}) == ""
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()
    (entry,) = noted(tmp_path)
    assert entry["said"].endswith("xthe end")
    assert len(entry["said"]) == 4000


def test_a_command_without_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    """It prints forever, and so does its child, which keeps the output open."""
    words = python(
        "child = os.fork()",
        f"if child: open({str(tmp_path / 'child')!r}, 'w').write(str(child))",
        "while True: os.write(1, b'more ' * 1000); time.sleep(0.01)",
    )
    begin = time.monotonic()
    fault = carry_out([words, ["true"]], tmp_path, "set-up", {}, seconds=1)
    assert fault.startswith("the set-up command ")
    assert "failed (no end within 1 s)" in fault
    assert time.monotonic() - begin < 60
    assert len(fault) < 1200
    child = int((tmp_path / "child").read_text())
    deadline = time.monotonic() + SECONDS
    while Path(f"/proc/{child}/stat").exists():
        if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            break
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert [entry["exit_code"] for entry in noted(tmp_path)] == [None]


def test_a_program_that_stays_in_the_background_does_not_hold_up_the_run(tmp_path: Path) -> None:
    """A FUSE program that a set-up starts keeps its output open and has to live on."""
    words = python(
        "child = os.fork()",
        "if child == 0: time.sleep(600)",
        "print(child, flush=True)",
        "os._exit(0)",
    )
    begin = time.monotonic()
    assert carry_out([words], tmp_path, "set-up", {}, seconds=300) == ""
    assert time.monotonic() - begin < 120
    os.kill(int(noted(tmp_path)[0]["said"]), signal.SIGKILL)


def test_what_a_command_prints_does_not_reach_the_terminal_as_it_is(tmp_path: Path) -> None:
    words = python(f"print({ESCAPES!r})", "sys.exit(3)")
    fault = carry_out([words], tmp_path, "clean-up", {})
    assert "failed (exit code 3)" in fault
    assert fault.isprintable()
    assert carry_out([["no such \x1b[2Jprogram"]], tmp_path, "set-up", {}).isprintable()
    assert "null byte" in carry_out([["echo", "a\0b"]], tmp_path, "set-up", {})


def test_a_layout_adds_no_options_to_the_file_systems_command() -> None:
    for layout, kind in (("class=-r", "fuse.mfs"), ("class=--yaml=/etc/x", "lustre")):
        with pytest.raises(LayoutError, match="a class does not start with '-'"):
            laying(layout, "/mnt", kind)
    # Names with blanks, quotes and a leading '-' stay one word, and no option.
    for directory in ("/mnt/a b;rm -rf $HOME", "-rf", "--help"):
        laid = laying("servers=2", directory, "lustre")
        for words in (*laid.setup, *laid.cleanup):
            place = words[-1]
            assert place.endswith(f"{directory}/effio-layout-servers-2")
            assert not place.startswith("-")
            assert sum(directory in word for word in words) == 1
    # A directory's name is never a shell's.
    assert laying("class=a;b$(id)", "/mnt", "beegfs").setup[-1][-1] == (
        "/mnt/effio-layout-class-a-b-id-"
    )


def test_what_a_layout_command_prints_is_a_claim(tmp_path: Path) -> None:
    message = difference("class=flash", "lustre", f"pool: {ESCAPES}\n")
    assert message.isprintable()
    assert message.endswith(" instead of flash")
    for digits in (400, 5000):
        said = f"stripe_count: {'9' * digits} stripe_size: {'9' * digits}\n"
        assert set(shown("lustre", said)) == {"servers", "chunk"}
        assert len(difference("servers=4", "lustre", said)) < 200
    # A path with what looks like a token is masked in the run's record, and compared all the same.
    laid = laying("servers=8", "/mnt/0123456789abcdef0123456789abcdef", "lustre")
    assert carry_out([python("sys.exit(0)")], tmp_path, "set-up", {}) == ""
    lfs = tmp_path / "lfs"
    lfs.write_text("#!/bin/sh\necho 'stripe_count: 4'\n")
    lfs.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert carry_out([laid.setup[-1]], tmp_path, "set-up", path) == ""
    assert fault_of(laid, tmp_path) == "layout 'servers=8': servers is 4 instead of 8"
