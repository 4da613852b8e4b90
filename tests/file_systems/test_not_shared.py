# SPDX-License-Identifier: BSD-3-Clause
"""A directory that each node has for itself, where all nodes should see the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from effio.report.build import report_of
from effio.store.reader import read_result
from engines import Engine
from faults import fuse_files

from .nodes import APART, at_same_path

WORDS = ("ior", "--files", "per-process", "--block", "64KiB", "--transfer", "64KiB", "--quiet")


def _two(mount: Callable[..., Path]) -> list[Path]:
    return [mount("-t", "tmpfs", "-o", "size=4m", "none") for _ in range(2)]


def test_a_node_local_directory_is_refused_before_anything_is_measured(
    mpi: Engine, tmp_path: Path, mount: Callable[..., Path], data: Path
) -> None:
    nodes = _two(mount)
    run = mpi.run([*WORDS, "--dir", data], tmp_path, prefix=at_same_path(nodes, data), env=APART)
    assert run.code == 3, run
    refused = f"cannot plan the run in {data}: the directory is not shared by all nodes"
    assert refused in run.stderr, run
    assert "made there on node1 is not seen on 1 of 2 nodes (node2)" in run.stderr, run
    assert run.result.measurements == []
    assert [path for node in nodes for path in node.iterdir()] == []


def test_a_node_local_directory_can_be_meant(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path], data: Path
) -> None:
    nodes = _two(mount)
    words = [*WORDS, "--read-from", "same", "--node-local", "--keep", "--dir", data]
    run = any_engine.run(words, tmp_path, prefix=at_same_path(nodes, data), env=APART)
    assert run.code == 0, run
    assert all(m["valid"] for m in run.result.measurements)
    # Each rank's file is on its own node.
    assert [[path.name for path in node.iterdir()] for node in nodes] == [
        ["ior.00000000"],
        ["ior.00000001"],
    ]


@pytest.mark.parametrize(("keeps", "consistent"), [(True, False), (False, True)])
def test_a_node_that_reads_old_data_is_found_before_anything_is_measured(
    keeps: bool, consistent: bool, mpi: Engine, tmp_path: Path, data: Path
) -> None:
    """The second node sees the first one's directory through a FUSE file system. It keeps cached
    pages when a file is opened again (`keeps`), or drops them."""
    if reason := fuse_files.why_not():
        pytest.skip(reason)
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    words = [*WORDS, "--read-from", "same", "--dir", data]
    with fuse_files.mounted(first, second, keeps=keeps):
        run = mpi.run(words, tmp_path, prefix=at_same_path([first, second], data), env=APART)
    assert run.code == 0, run
    assert run.result.run["file_system"]["close_to_open"] is consistent
    assert list(first.iterdir()) == []
    report = report_of("run", read_result(run.result.path))
    warnings = [f for f in report.findings if "close-to-open" in f.text]
    assert [f.level for f in warnings] == ([] if consistent else ["warn"])


def test_a_full_file_system_is_refused_whatever_may_be_written(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    (place / "users-own").write_bytes(bytes(1 << 20))
    # Names need no bytes of files, and --max-bytes makes no space.
    for words in (["mdtest", "--items", "4"], [*WORDS, "--max-bytes", "1GiB"]):
        run = any_engine.run([*words, "--quiet", "--dir", place], tmp_path)
        assert run.code == 3, run
        assert f"{place}: the file system is full: 0 bytes are available" in run.stderr, run
        assert [path.name for path in place.iterdir()] == ["users-own"]
    assert all(result.measurements == [] for result in run.results)
