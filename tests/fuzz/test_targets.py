# SPDX-License-Identifier: BSD-3-Clause
"""Every reader of foreign input has a fuzz target: the table of docs/safety.md, held against what
is there."""

from __future__ import annotations

import re

from engines import ROOT

FUZZ = ROOT / "tests" / "fuzz"


def rows() -> list[tuple[list[str], str]]:
    """Sources and target of each row."""
    page = (ROOT / "docs" / "safety.md").read_text()
    table = page[page.index("| input | is read by | fuzz target |") :]
    found = []
    for line in table.split("\n\n")[0].splitlines()[2:]:
        _, sources, target = line.strip("|").split("|")
        found.append((re.findall(r"`([^`]+)`", sources), target.strip(" `")))
    return found


def test_every_source_and_target_is_there() -> None:
    for sources, target in rows():
        assert sources
        for source in sources:
            assert (ROOT / source).exists(), source
        assert (FUZZ / target).exists() or (FUZZ / f"{target}.cpp").exists(), target


def test_every_target_is_named_built_and_sanitized_and_has_a_corpus() -> None:
    named = {target for _, target in rows()}
    of_engine = {p.stem for p in FUZZ.glob("*.cpp")} - {"driver"}
    of_driver = {p.name for p in FUZZ.glob("test_*.py")} - {"test_targets.py"}
    assert named == of_engine | of_driver
    built = re.search(r"foreach\(target ([^)]*)\)", (FUZZ / "CMakeLists.txt").read_text())
    sanitized = re.search(r"for target in (.*);", (ROOT / "scripts" / "sanitize").read_text())
    assert built is not None
    assert sanitized is not None
    assert set(built[1].split()) == of_engine
    assert set(sanitized[1].split()) == of_engine
    for target in of_engine:
        assert any((FUZZ / "corpus" / target).iterdir()), target
