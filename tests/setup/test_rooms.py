# SPDX-License-Identifier: BSD-3-Clause
"""What a source of the engine may include: its own room and those below it, and of the benchmarks
only its own folder."""

import re
from pathlib import Path

import pytest

ENGINE = Path(__file__).parents[2] / "engine"

# From the bottom to the top.
ROOMS = ("core", "parallel", "storage", "frame", "benchmarks", "classic")

# What all benchmarks share above the frame: their list, and the groups of a job that run some.
OF_ALL_BENCHMARKS = ("registry.hpp", "together")

INCLUDE = re.compile(r'^\s*#include "(?P<header>[^"]+)"', re.MULTILINE)


def wrong_includes(source: str, text: str) -> list[str]:
    """The headers that `source` (its path below engine/) must not include."""
    room, *folder = Path(source).parts
    found = []
    for header in INCLUDE.findall(text):
        parts = Path(header).parts
        if parts[0] not in ROOMS:
            continue
        above = ROOMS.index(parts[0]) > ROOMS.index(room)
        of_another = (
            room == parts[0] == "benchmarks"
            and len(folder) > 1
            and parts[1] not in (folder[0], *OF_ALL_BENCHMARKS)
        )
        if above or of_another:
            found.append(header)
    return found


def test_includes_run_one_way_and_no_benchmark_includes_another() -> None:
    sources = sorted(p for p in ENGINE.glob("*/**/*") if p.suffix in (".cpp", ".hpp"))
    assert {p.relative_to(ENGINE).parts[0] for p in sources} == set(ROOMS)
    wrong = {}
    for path in sources:
        name = path.relative_to(ENGINE).as_posix()
        if found := wrong_includes(name, path.read_text(encoding="utf-8")):
            wrong[name] = found
    assert not wrong


@pytest.mark.parametrize(
    ("source", "header", "allowed"),
    [
        ("benchmarks/probe/limits.cpp", "benchmarks/rings/rings.hpp", False),
        ("benchmarks/probe/limits.cpp", "benchmarks/probe/limits.hpp", True),
        ("benchmarks/probe/limits.cpp", "frame/phases.hpp", True),
        ("benchmarks/registry.cpp", "benchmarks/rings/rings.hpp", True),
        ("frame/phases.hpp", "benchmarks/rings/rings.hpp", False),
        ("storage/posix.cpp", "frame/visit.hpp", False),
        ("classic/ior.cpp", "benchmarks/ior/ior.hpp", True),
    ],
)
def test_what_a_source_may_include(source: str, header: str, allowed: bool) -> None:
    assert wrong_includes(source, f'#include "{header}"\n') == ([] if allowed else [header])
