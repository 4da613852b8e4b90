# SPDX-License-Identifier: BSD-3-Clause
"""What comments cite can be read here: a page of docs/definitions/, and a section that it has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines import ROOT

DEFINITIONS = ROOT / "docs" / "definitions"
KINDS = {".hpp", ".cpp", ".c", ".py", ".md", ".toml", ".cmake", ".sh", ".json", ".txt", ".yml", ""}
FOLDERS = (
    *("bench", "campaigns", "cmake", "docs", "driver", "engine"),
    *("packaging", "schemas", "scripts", "tests"),
)
# A text that only its writers had.
ELSEWHERE = re.compile(r"\bspec/|\(spec, \w|\bspec [A-Z]?\d|\b(?:design|machine|stack|users)\.md")
CITATION = re.compile(r"docs/definitions/([\w-]+\.md)(?:, ([A-Z][\w', ]*))?")


def _texts() -> Iterator[tuple[str, str]]:
    files = [path for path in ROOT.iterdir() if path.is_file()]
    files += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in sorted(files):
        if path.suffix in KINDS and "__pycache__" not in path.parts and path != Path(__file__):
            text = path.read_bytes().decode(errors="replace")
            yield str(path.relative_to(ROOT)), text


def _sections(page: str) -> list[str]:
    found = re.findall(r"^## (.+)$", (DEFINITIONS / page).read_text(), re.MULTILINE)
    return [str(title) for title in found]


def _citations() -> Iterator[tuple[str, str, str]]:
    for path, text in _texts():
        lines = re.sub(r"\n[ \t]*(?:///?|#) ?", " ", text)
        for page, section in CITATION.findall(lines):
            yield path, page, section


def test_nothing_cites_what_a_reader_does_not_have() -> None:
    found = [
        f"{path}: {line.strip()}"
        for path, text in _texts()
        for line in text.splitlines()
        if ELSEWHERE.search(line)
    ]
    assert found == []


def test_cited_pages_and_sections_exist() -> None:
    wrong = [
        (path, page, section)
        for path, page, section in _citations()
        if not (DEFINITIONS / page).is_file()
        or (section and not any(re.match(rf"{title}\b", section) for title in _sections(page)))
    ]
    assert wrong == []


@pytest.mark.parametrize("page", sorted(path.name for path in DEFINITIONS.iterdir()))
def test_each_definition_is_cited_by_the_engine_and_by_a_page(page: str) -> None:
    assert any(path.startswith("engine/") for path, name, _ in _citations() if name == page)
    others = [p for p in (ROOT / "docs").rglob("*.md") if p.parent != DEFINITIONS]
    assert any(f"definitions/{page})" in other.read_text() for other in others)


def test_files_that_contributing_names_exist() -> None:
    """Paths may begin in the folders where most of the code is, and leave out the ending."""
    places = (
        "",
        "engine/",
        "engine/benchmarks/",
        "driver/effio/",
        "driver/effio/report/",
        "tests/",
    )
    endings = ("", ".hpp", ".py")
    bare = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")}
    missing = []
    for name in re.findall(r"`([\w./-]+)`", (ROOT / "CONTRIBUTING.md").read_text()):
        if "/" in name:
            found = any(
                (ROOT / f"{p}{name.rstrip('/')}{e}").exists() for p in places for e in endings
            )
        else:
            found = not re.search(r"\.(?:py|[ch]pp|c|md|toml|txt)$", name) or name in bare
            found = found or (ROOT / name).exists()
        if not found:
            missing.append(name)
    assert missing == []
