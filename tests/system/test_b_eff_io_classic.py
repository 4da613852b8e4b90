# SPDX-License-Identifier: BSD-3-Clause
"""The command line of b_eff_io 2.1 and the files that others parse, held against the result file of
the same run. The text itself is tested line by line in tests/engine/classic."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines import Engine
from results import Result

OPTIONS = ("-MB", 256, "-MT", 512, "-noshared", "-rewrite", "-N", "2", "-T", 1, "-f", "mine")
ACCESSES = ("write", "rewrite", "read")
TYPES = ("scatter", "shared", "separated", "segmented", "seg_coll")


def million(result: Result, access: str, row: int) -> float:
    (m,) = result.rows(access=access, row=row)
    value = m["rate"]["value"]
    assert isinstance(value, float)
    return value / 1e6


def check_prot(text: str, result: Result) -> None:
    lines = re.findall(r"^n=2 .*$", text, re.MULTILINE)
    assert len(lines) == 3 * 43
    for line, m in zip(lines, result.measurements, strict=True):
        value = dict(re.findall(r"(\w+)= *([\d.]+)", line))
        assert ACCESSES[int(value["a"])] == m["access"]
        assert TYPES[int(value["type"])] == m["pattern"]
        assert int(value["p"]) == m["where"]["row"]
        assert int(value["l"]) == m["where"]["chunk_bytes"]
        assert int(value["L"]) == m["where"]["memory_chunk_bytes"]
        assert int(value["r"]) == m["detail"]["calls_per_rank"]
        assert float(value["S"]) == pytest.approx(m["bytes"] / 1e6, abs=6e-4)
        assert float(value["bw"]) == pytest.approx(m["rate"]["value"] / 1e6, abs=6e-4)


def check_sum(text: str, result: Result) -> None:
    # Position in the table by row of type scatter, and of the others from the warm-up row on.
    scatter = {1: 5, 2: 7, 3: 4, 4: 6, 5: 3, 6: 8, 7: 1}
    others = {1: 4, 2: 6, 3: 3, 4: 5, 5: 2, 6: 7, 7: 1}
    for access in ACCESSES:
        for position in range(1, 8):
            found = re.search(rf"^ +2 PEs {position} +\d+ {access} +(.*)$", text, re.MULTILINE)
            assert found is not None, (access, position)
            rows = [scatter[position]] + [first + others[position] for first in (9, 17, 25, 34)]
            expected = [million(result, access, row) for row in rows]
            assert [float(v) for v in found[1].split()] == pytest.approx(expected, abs=6e-4)
    value = result.figure("b_eff_io")["metric"]["value"] / 1e6
    reported = re.search(
        r"^b_eff_io of these measurements = +([\d.]+) MB/s on 2", text, re.MULTILINE
    )
    assert reported is not None
    assert float(reported[1]) == pytest.approx(value, abs=6e-4)
    assert "NOT VALID for comparison of different systems" in text
    for number, criterion, reached in (
        (1, "scheduled time 0.0 min >= 30 min", "NOT reached"),
        (2, "shared file pointers must be used for pattern type 1", "NOT reached"),
        (3, "error count (0) == 0", "reached"),
    ):
        assert f"  criterion {number}: {criterion} -- {reached}\n" in text


def test_prot_and_sum_say_what_was_measured(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    (tmp_path / "hints").write_text("# of no effect\nall write scatter 1024 cb_nodes 1\n")
    words = ["classic", "b_eff_io", *OPTIONS, "-p", data, "-i", "hints"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    prot = (tmp_path / "mine.prot").read_text()
    check_prot(prot, run.result)
    check_sum((tmp_path / "mine.sum").read_text(), run.result)
    header = f"-N  2 T=1, MT=512 MBytes -i hints, -noshared, -rewrite\nPATH={data}, PREFIX=mine\n"
    assert header in prot
    assert "file_info File_view p05: 2 write scatter    1024 :: cb_nodes 1\n" in prot
    # The one line on stdout.
    (last,) = re.findall(r"^ b_eff_io = .*$", run.stdout, re.MULTILINE)
    assert last in prot
    assert last.endswith(", NOT VALID (see above)")
    assert list(data.iterdir()) == []
    assert run.result.run["classic_command"][:3] == ["b_eff_io", "-MB", "256"]


def test_under_the_name_of_the_original(any_engine: Engine, tmp_path: Path, data: Path) -> None:
    """bin/b_eff_io is a link to the engine, which looks at what it is called. Files of a run
    before are replaced, as the original does it."""
    name = tmp_path / "b_eff_io"
    name.symlink_to(any_engine.program)
    (data / "b_eff_io_data_i00_002_0").write_text("of an earlier run")
    run = any_engine.run([*OPTIONS, "-p", data], tmp_path, program=name)
    assert run.code == 0, run
    check_sum((tmp_path / "mine.sum").read_text(), run.result)
    assert list(data.iterdir()) == []


def test_bad_arguments_are_listed_and_nothing_is_touched(
    any_engine: Engine, tmp_path: Path
) -> None:
    (tmp_path / "mine.prot").write_text("of a run before")
    words = ["-MB", "0", "-huge", "-N", "1,9", "-T", "x", "-f", "mine"]
    run = any_engine.alone(["classic", "b_eff_io", *words], tmp_path)
    assert run.code == 2, run
    assert run.stdout.splitlines()[:6] == [
        "Invalid argument for -MB",
        "Invalid option -huge",
        "Invalid argument for -N",
        "Invalid argument for -T",
        "Missing mandatory argument -MT <total memory> [in MBytes]",
        "Aborted due to argument errors.",
    ]
    assert (tmp_path / "mine.prot").read_text() == "of a run before"
    assert [p.name for p in tmp_path.iterdir()] == ["mine.prot"]
