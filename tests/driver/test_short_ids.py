# SPDX-License-Identifier: BSD-3-Clause
"""Runs are named by a short id or by a part of their name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from driver.test_tables import RULES
from effio.store.short_ids import ShortIds, is_part, means, whole_id
from store import generate


@pytest.fixture
def store(effio: Effio) -> Effio:
    """A small sweep."""
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, 20)
    (effio.cwd / "rules.toml").write_text(RULES)
    return effio


def test_short_ids() -> None:
    names = [f"2026010{n}T000000Z-ior" for n in range(9)]
    ids = ShortIds(names)
    assert {len(ids.of(name)) for name in names} == {5}
    assert all(whole_id(name).startswith(ids.of(name)) for name in names)
    assert ids.of("elsewhere") == ""
    assert means(ids.of(names[0]), names[0])
    assert not means(whole_id(names[0])[:3], names[0])  # fewer than four letters
    many = ShortIds([str(n) for n in range(3000)])
    assert len({many.of(str(n)) for n in range(3000)}) == 3000


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("0101", True),  # of the time
        ("2026", True),
        ("000000Z-ior-sw", True),
        ("ior", True),
        ("r0", True),
        ("a17", False),  # of the hash of a campaign's point
        ("17f0", False),
        ("a17f", True),
        ("a17f09b2", True),
        ("weep", False),
        ("sw", False),  # fewer than four letters: whole words only
        ("swee", True),
        ("sweep-bulk", True),
    ],
)
def test_parts_of_a_name(word: str, is_one: bool) -> None:
    assert is_part(word, "20260101T000000Z-ior-sweep-bulk-a17f09b2-r0") is is_one


def test_a_short_id_is_taken_wherever_a_run_is_named(store: Effio) -> None:
    rows = [json.loads(line) for line in store.call("runs", "--json").stdout.splitlines()]
    row = rows[0]
    short, name = row["id"], row["run"]
    for words in (
        ("show", short), ("note", short), ("table", short), ("export", short),
        ("compare", short, rows[1]["id"]), ("accept", "rules.toml", short),
        ("report", short, "-o", "r.html"), ("archive", short, "-o", "a.tar.gz"),
    ):  # fmt: skip
        done = store.call(*words)
        assert "no run" not in done.stderr, words
        assert done.returncode in (0, 1), (words, done.stderr)
    assert f"{name} lists no files" in store.call("clean", short).stderr
    assert store.call("note", short).stdout.startswith(name)
    assert store.call("export", short).stdout.splitlines()[1].startswith(name)


def test_an_ambiguous_short_id_is_refused_with_what_it_may_mean(
    tmp_path: Path, effio: Effio
) -> None:
    names: dict[str, str] = {}
    first = second = ""
    for number in range(100_000):
        name = f"run-{number}"
        first = names.setdefault(whole_id(name)[:4], name)
        if first != name:
            second = name
            break
    for name in (first, second):
        made.write(effio.cwd / "effio-runs" / name / "result.jsonl", made.b_eff_io())
    done = effio.call("show", whole_id(first)[:4])
    assert done.returncode == 2
    ids = ShortIds([first, second])
    for name in (first, second):
        assert f"{name} ({ids.of(name)})" in done.stderr
        assert effio.call("show", ids.of(name)).returncode == 0
