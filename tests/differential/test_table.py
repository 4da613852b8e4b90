# SPDX-License-Identifier: BSD-3-Clause
"""The table of differences, and that the runner sees what it is to see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from differential.differences import Difference, Expected, as_markdown, load, unexplained
from differential.lines import lines
from differential.observe import (
    csv_shape,
    ior_rows,
    ior_summary,
    left,
    mdtest_rows,
    parsed_json,
    ranks_rows,
    rights,
)
from engines import ROOT


@pytest.mark.parametrize("program", ["ior", "mdtest"])
def test_the_page_shows_the_table(program: str) -> None:
    page = (ROOT / "docs" / "benchmarks" / f"{program}.md").read_text()
    assert as_markdown(program) in page, f"python tests/differential/differences.py {program}"


def test_every_entry_says_why() -> None:
    for entry in load():
        assert entry.program in ("ior", "mdtest")
        assert all(len(text) > 3 for text in (entry.original, entry.here, entry.reason)), entry
        # A pattern without an aspect would never be looked at.
        assert entry.aspect or not (entry.theirs or entry.ours), entry
        assert entry.aspect or entry.apart or not entry.line, entry


def test_an_entry_explains_its_aspect_line_and_values_alone() -> None:
    entry = Expected(
        "ior", "it", "us", "why", aspect=r"file\..*", line=" -k", theirs="^$", ours="file 8"
    )
    fits = Difference("ior", "ior -w -k", "file.a", None, "file 8 664")
    assert unexplained([fits], [entry]) == []
    others = [
        Difference("mdtest", "ior -w -k", "file.a", None, "file 8 664"),
        Difference("ior", "ior -w", "file.a", None, "file 8 664"),
        Difference("ior", "ior -w -k", "follow.file.a", None, "file 8 664"),
        Difference("ior", "ior -w -k", "file.a", "file 8 664", "file 8 666"),
        Difference("ior", "ior -w -k", "file.a", None, "file 9 664"),
    ]
    assert unexplained(others, [entry]) == others
    assert unexplained([fits], [Expected("ior", "it", "us", "for readers")]) == [fits]


def test_lines_that_only_one_prints_do_not_hide_others() -> None:
    notes = Expected("ior", "it", "us", "why", line=" -r", apart=r"\? NOTE: .*|most .*")
    theirs = "row read\n\nsummary"
    line = Difference(
        "ior", "ior -r", "lines", theirs, "? NOTE: a\nrow read\nmost Read:\n\nsummary"
    )
    assert unexplained([line], [notes]) == []
    assert unexplained([replace(line, here=f"{theirs}\n\n? NOTE: b")], [notes]) == []
    (left,) = unexplained([replace(line, here=f"{line.here}\n? new")], [notes])
    assert (left.original, left.here) == (theirs, f"{theirs}\n? new")
    for other in (replace(line, line="ior -w"), replace(line, aspect="rows")):
        assert unexplained([other], [notes]) == [other]


def test_lines_are_those_of_their_seed() -> None:
    for program in ("ior", "mdtest"):
        again = [str(line) for line in lines(program, 7, 40)]
        assert again == [str(line) for line in lines(program, 7, 40)]
        assert again != [str(line) for line in lines(program, 8, 40)]
        assert any(line.follow for line in lines(program, 7, 40))


def test_json_of_the_original_is_read_through_its_warnings() -> None:
    text = """{
  "Version": "4.1.0+dev",
  "tests": [
    {
    "Options": {
      "segments": 1
    }
,
    "Results": [
WARNING: The file "testFile" exists already and will be deleted
0: stonewalling pairs accessed: 4
stonewalling pairs accessed min: 4 max: 4 -- min data: 0.0 GiB mean data: 0.0 GiB time: 0.0s
      {
        "access": "write",
        "latency": -nan
      }
]
  }
]
}"""
    assert parsed_json(text) == {
        "Version": "string",
        "tests[0].Options.segments": "number 1",
        "tests[0].Results[0].access": "string write",
        "tests[0].Results[0].latency": "number",
    }
    assert parsed_json('{"a": [}') is None


def test_rows_and_summaries_lose_what_is_measured() -> None:
    text = """
write     1016.06    86929      0.000009    64.00      16.00      0.000085   0.000092   0.000051   0.000123   0
remove    -          -          -           -          -          -          -          -          0.000097   0
Summary of all tests:
Operation   Max(MiB)   Min(MiB)
write        1016.06    1016.06    1016.06       0.00   65027.97   65027.97   65027.97       0.00    0.00012         NA            NA     0      2   2    1   0     0        1         0    0      1    65536    16384       0.1 POSIX      0
Finished            : now
"""  # noqa: E501
    assert ior_rows(text) == ["write 64.00 16.00 0", "remove - - 0"]
    assert ior_summary(text) == ["write 0 2 2 1 0 0 1 0 0 1 65536 16384 0.1 POSIX 0"]
    row = "write,524.8,61119.1,0.0,64.0000,16.0000,0.0002,0.0001,0.0001,0.0002,2,0"
    assert csv_shape(row) == ["write 64.0000 16.0000 2 0"]
    summary = "2 tasks, 8 files\n   File creation               16702.057      16702.057\n"
    assert mdtest_rows(summary) == ["2 tasks, 8 files", "File creation some"]


def test_what_is_left_is_kind_size_and_rights(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(0o700)
    (tmp_path / "d" / "f").write_bytes(b"12")
    (tmp_path / "d" / "f").chmod(0o640)
    (tmp_path / "effio-ior-2026.jsonl").touch()
    assert left(tmp_path) == {"d": "directory", "d/f": "file 2"}
    assert rights(tmp_path) == {"d": "700", "d/f": "640"}


def test_of_the_file_of_the_ranks_all_but_the_figures_is_compared(tmp_path: Path) -> None:
    assert ranks_rows(tmp_path) == {}
    (tmp_path / "ranks.csv").write_text(
        "rank,items,rate-Directory stat,rate-Directory read,rate-File stat\n"
        "all,4,1.5000000000e+02,2.5000000000e-01,\n0,,inf,,1.5\n"
    )
    assert ranks_rows(tmp_path) == {
        "ranks": "rank,items,rate-Directory stat,rate-Directory read,rate-File stat\n"
        "all,4,#,\n0,,#,1.5\n"
    }
