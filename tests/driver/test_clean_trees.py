# SPDX-License-Identifier: BSD-3-Clause
"""Trees that a killed run left: what the run made in them goes, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from driver import made
from effio.errors import EffioError
from effio.store import clean
from effio.store.reader import Result, read_result

TOKEN = "0123456789abcdef0123456789abcdef"
NAMES: list[dict[str, object]] = [
    {"kind": "directory", "name": "mdtest_tree.%d", "counts": [2]},
    {"kind": "file", "name": "file.mdtest.%d.%d", "counts": [1, 10]},
    {"kind": "link", "name": "file.mdtest.%d.%d.symlink", "counts": [1, 10]},
]


def _result(
    data: Path,
    tmp_path: Path,
    name: str = "test-dir.%d-%d",
    names: list[dict[str, object]] = NAMES,
) -> Result:
    manifest = {
        "directory": str(data),
        "keep": False,
        "existing": 0,
        "real": True,
        "files": [],
        "trees": [{"directory": str(data), "name": name, "counts": [2, 3], "names": names}],
        "token": TOKEN,
    }
    line = made.run_line(benchmark="mdtest", manifest=manifest)
    made.mark(line["manifest"])
    return read_result(made.write(tmp_path / "run.jsonl", [line]))


def _leftovers(
    result: Result, data: Path, also_kept: bool = False
) -> tuple[list[clean.Leftover], list[clean.Kept]]:
    """Without the mark, which is there in all of these tests."""
    found, kept = clean.leftovers(result, data, also_kept)
    return [f for f in found if not f.is_mark], kept


@pytest.fixture(autouse=True)
def _marked(data: Path) -> None:
    """The mark is older than the trees."""
    (data / f".effio-run-{TOKEN[:16]}").touch(0o600)


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
    (ours / "mdtest_tree.0" / "file.mdtest.0.1.symlink").symlink_to(outside)
    (ours / "mdtest_tree.0" / "file.mdtest.0.2.symlink").symlink_to(data)
    others = [
        _tree(data, "test-dir.0-0", "f" * 32),  # another run's
        _tree(data, "test-dir.2-0"),  # beyond the counts
        _tree(data, "test-dir.0-0-0"),
    ]
    (data / "test-dir.0-1").mkdir()  # in no manifest
    (data / "test-dir.0-2").symlink_to(ours)
    found, kept = _leftovers(_result(data, tmp_path), data)
    assert [(f.path, f.tree) for f in found] == [(ours, True)]
    assert found[0].bytes == 5 + len(str(outside)) + len(str(data))
    assert sorted(k.path.name for k in kept) == ["test-dir.0-0", "test-dir.0-1", "test-dir.0-2"]
    assert clean.remove(found) == []
    assert not ours.exists()
    assert outside.read_text() == "x"
    assert all(tree.exists() for tree in others)


def test_what_the_run_did_not_make_stays_with_its_directories(tmp_path: Path, data: Path) -> None:
    ours = _tree(data, "test-dir.1-2")
    (ours / "mdtest_tree.0/precious").write_text("x")
    (ours / "mdtest_tree.0/file.mdtest.0.10").write_text("x")  # beyond the count
    (ours / "mdtest_tree.0/mdtest_tree.1/file.mdtest.0.3").mkdir()  # not of that kind
    os.mkfifo(ours / "file.mdtest.0.4")
    found, kept = _leftovers(_result(data, tmp_path), data)
    stays = ["file.mdtest.0.10", "file.mdtest.0.3", "file.mdtest.0.4", "precious"]
    assert sorted(k.path.name for k in kept) == stays
    assert {k.why for k in kept} == {"not made by the run"}
    assert clean.remove(found) == []
    there = [p for p in ours.rglob("*") if not p.name.startswith("mdtest_tree")]
    assert sorted(p.name for p in there) == [".effio-owner", *stays]


def test_trees_of_engines_that_did_not_name_what_they_made(tmp_path: Path, data: Path) -> None:
    ours = _tree(data, "test-dir.1-2")
    (ours / "mdtest_tree.0/file.mdtest.1.7.symlink").symlink_to("file.mdtest.1.7")
    precious = ours / "mdtest_tree.0/precious"
    precious.write_text("x")
    result = _result(data, tmp_path, names=[])
    found, kept = _leftovers(result, data)
    assert [k.path for k in kept] == [precious]
    assert clean.remove(found) == []
    assert sorted(ours.rglob("*")) == [ours / ".effio-owner", precious.parent, precious]
    precious.unlink()


def test_a_kept_tree_holds_no_token_and_goes_by_its_names(tmp_path: Path, data: Path) -> None:
    ours = _tree(data, "test-dir.1-2")
    (ours / ".effio-owner").unlink()
    result = _result(data, tmp_path)
    found, kept = _leftovers(result, data)
    assert (found, [k.path for k in kept]) == ([], [ours])
    found, kept = _leftovers(result, data, also_kept=True)
    assert clean.remove(found) == []
    assert not ours.exists()


def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, data: Path) -> None:
    with pytest.raises(EffioError, match="nothing is removed"):
        clean.leftovers(_result(data, tmp_path, "../test-dir.%d-%d"), data)


def test_a_tree_that_is_gone_meanwhile_is_not_a_failure(tmp_path: Path, data: Path) -> None:
    tree = _tree(data, "test-dir.0-0")
    found, _ = _leftovers(_result(data, tmp_path), data)
    (tree / "mdtest_tree.0" / "mdtest_tree.1" / "file.mdtest.0.0").unlink()
    for path in (tree / "mdtest_tree.0" / "mdtest_tree.1", tree / "mdtest_tree.0"):
        path.rmdir()
    (tree / ".effio-owner").unlink()
    tree.rmdir()
    assert clean.remove(found) == []  # gone already
