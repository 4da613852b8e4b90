# SPDX-License-Identifier: BSD-3-Clause
"""Trees that a killed run left: removed whole if they are the run's, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from driver import made
from effio.errors import EffioError
from effio.store import clean
from effio.store.reader import Result, read_result

TOKEN = "0123456789abcdef0123456789abcdef"


def _result(data: Path, tmp_path: Path, name: str = "test-dir.%d-%d") -> Result:
    manifest = {
        "directory": str(data),
        "keep": False,
        "existing": 0,
        "real": True,
        "files": [],
        "trees": [{"directory": str(data), "name": name, "counts": [2, 3]}],
        "token": TOKEN,
    }
    line = made.run_line(benchmark="mdtest", manifest=manifest)
    return read_result(made.write(tmp_path / "run.jsonl", [line]))


def _tree(data: Path, name: str, token: str = TOKEN) -> Path:
    tree = data / name
    (tree / "mdtest_tree.0" / "mdtest_tree.1").mkdir(parents=True)
    (tree / ".effio-owner").write_text(token + "\n")
    (tree / "mdtest_tree.0" / "mdtest_tree.1" / "file.mdtest.0.0").write_text("12345")
    return tree


def test_trees_of_the_run_go_and_all_others_stay(tmp_path: Path, data: Path) -> None:
    ours = _tree(data, "test-dir.1-2")
    outside = data / "outside"
    outside.write_text("x")
    (ours / "mdtest_tree.0" / "link").symlink_to(outside)
    (ours / "mdtest_tree.0" / "up").symlink_to(data)
    others = [
        _tree(data, "test-dir.0-0", "f" * 32),  # another run's
        _tree(data, "test-dir.2-0"),  # beyond the counts
        _tree(data, "test-dir.0-0-0"),
    ]
    (data / "test-dir.0-1").mkdir()  # nobody's
    (data / "test-dir.0-2").symlink_to(ours)
    found, kept = clean.leftovers(_result(data, tmp_path), data)
    assert [(f.path, f.tree) for f in found] == [(ours, True)]
    assert found[0].bytes >= 5
    assert sorted(k.path.name for k in kept) == ["test-dir.0-0", "test-dir.0-1", "test-dir.0-2"]
    assert clean.remove(found) == []
    assert not ours.exists()
    assert outside.read_text() == "x"
    assert all(tree.exists() for tree in others)


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, data: Path) -> None:
    with pytest.raises(EffioError, match="nothing is removed"):
        clean.leftovers(_result(data, tmp_path, "../test-dir.%d-%d"), data)


def test_a_tree_that_is_gone_meanwhile_is_no_failure(tmp_path: Path, data: Path) -> None:
    tree = _tree(data, "test-dir.0-0")
    found, _ = clean.leftovers(_result(data, tmp_path), data)
    (tree / "mdtest_tree.0" / "mdtest_tree.1" / "file.mdtest.0.0").unlink()
    for path in (tree / "mdtest_tree.0" / "mdtest_tree.1", tree / "mdtest_tree.0"):
        path.rmdir()
    (tree / ".effio-owner").unlink()
    tree.rmdir()
    assert clean.remove(found) == []  # gone already
