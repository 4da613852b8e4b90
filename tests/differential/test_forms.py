# SPDX-License-Identifier: BSD-3-Clause
"""The text of the classic ior and mdtest has the originals' lines and members, in their order."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from differential.forms import (
    JSON_PARAMETERS,
    JSON_RESULT,
    JSON_SUMMARY,
    JSON_TEST,
    JSON_TOP,
    outline,
)
from differential.observe import printed
from engines import Engine

# Lines that only ours prints: see the tables of differences on the programs' pages.
OURS = ("? NOTE: ", "? note: ")


def test_lines_are_known_by_their_columns_and_digits() -> None:
    row = (
        "write     2711.91    2746.54    0.001454    4096.00    1024.00    0.004492   0.011651   "
        "0.000022   0.011800   1   "
    )
    assert outline("ior", row) == ["row write 4096.00 1024.00 1"]
    for wrong in (row.replace("2711.91 ", "2711.910"), row.replace("0.004492", "0.0045  ")):
        assert outline("ior", wrong)[0].startswith("? write")
    assert outline("ior", "Max Write: 2711.91 MiB/sec (2843.64 MB/sec)") == ["most Write:"]
    sums = (
        "write         302.52     294.78     298.65       3.87 39652033.61 38637396.11 39144714.86"
        "  507318.75    0.00046         NA            NA     0      2   2    2   0     0        1"
        "         0    0     30     2400        8       0.1 DUMMY      0"
    )
    # A number of more digits than fit moves the rest.
    assert outline("ior", sums)[0].startswith("sums write 0 ")
    narrow = sums.replace(
        " 39652033.61 38637396.11 39144714.86", " 3965203.61 3863739.11 3914471.86"
    )
    assert outline("ior", narrow)[0].startswith("sums write 0 ")
    assert outline("ior", narrow.replace("write  ", "write "))[0].startswith("? write")
    wall = "stonewalling pairs accessed min: 4 max: 9 -- min data: 0.0 GiB "
    wall += "mean data: 0.0 GiB time: 0.1s"
    assert outline("ior", "something new 17") == ["? something new #"]
    assert outline("ior", wall) == ["stonewall"]
    assert outline("ior", wall.replace("0.0 GiB", "0.00 GiB"))[0].startswith("? stonewalling")
    space = "FS                  : 252.0 GiB   Used FS: 4.7%   Inodes: 16.0 Mi   Used Inodes: 2.5%"
    assert outline("mdtest", f"{space}\nNodemap: 11\n2 tasks, 8 files/directories") == [
        "space", "nodes 11", "items 2 8 files/directories",
    ]  # fmt: skip
    assert outline("mdtest", space.replace("252.0", "252"))[0].startswith("? FS")
    ranks = "   File stat              838860.800     493447.529     601070.137            "
    ranks += "1157049.379     986895.059    1071972.219     120317.274"
    assert outline("mdtest", ranks) == ["row with ranks File stat"]
    assert outline("mdtest", ranks.replace("stat ", "stat  "))[0].startswith("? ")
    each = "Per process result (time):\niteration: 1\nTest File stat 2.500000e-01,1.500000e+00"
    assert outline("mdtest", each) == ["ranks time", "iteration 1", "of each rank File stat"]
    csv = "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
    csv += "numTasks,iter\nwrite,524.8,61119.1,0.0,64.0000,16.0000,0.0002,0.0001,0.0001,0.0002,2,0"
    assert outline("ior", csv) == ["header", "row write 2 0"]


def test_a_line_more_or_less_is_a_difference() -> None:
    table = "-- started at 11/27/2026 17:35:53 --\n\nNodemap: 11\n"
    one, other = (printed("mdtest", text, "") for text in (table, table + "a remark\n"))
    assert one["lines"] == "started\n\nnodes 11"
    assert other["lines"] == "started\n\nnodes 11\n? a remark"
    # Warnings and options are compared by their names.
    assert printed("ior", "WARNING: a b c d\napi                 : POSIX\n", "")["lines"] == ""


def lines_of(engine: Engine, place: Path, program: str, *words: str) -> list[str]:
    run = engine.run(["classic", program, *words], place)
    assert run.code == 0, run
    lines = [line for line in outline(program, run.stdout) if not line.startswith(OURS)]
    assert not [line for line in lines if line.startswith("?")], run
    return lines


def test_ior_prints_the_originals_text(any_engine: Engine, data: Path) -> None:
    sizes = ("-t", "4k", "-b", "8k")
    lines = lines_of(any_engine, data, "ior", *sizes, "-v", "-i", "2", "-D", "9")
    kinds = [line for line in lines if line and not line.startswith("option ")]
    assert kinds[:13] == [
        "banner", "began", "command line", "machine", "test 0", "start", "path", "space",
        "options", "results", "head of the results", "head of the results",
        "row write 8.00 4.00 0",
    ]  # fmt: skip
    assert [line for line in kinds if line.startswith("row")] == [
        f"row {row} {repetition}"
        for repetition in (0, 1)
        for row in ("write 8.00 4.00", "read 8.00 4.00", "remove - -")
    ]
    assert kinds[-7:-3] == ["most Write:", "most Read:", "summary", "head of the summary"]
    assert [line.split()[:3] for line in kinds[-3:-1]] == [
        ["sums", "write", "0"], ["sums", "read", "0"],
    ]  # fmt: skip
    assert kinds[-1] == "finished"


def test_ior_prints_what_more_letters_ask_for(engine: Engine, data: Path) -> None:
    words = ("-t", "4k", "-b", "8k", "-vv", "-i", "2", "-w", "-W", "-a", "MPIIO", "-H")
    lines = lines_of(engine, data, "ior", *words)
    results = lines[lines.index("results") : lines.index("summary")]
    hints = [
        "",
        "hints passed to",
        "end of the hints",
        "",
        "hints returned from",
        "end of the hints",
    ]
    row = "row write 8.00 4.00"
    checks = ["checks", "time", ""]
    # Names and values of hints are the MPI library's.
    assert [line for line in results if line.split(" ")[0] != "hint"] == [
        *("results", "signature", "", "head of the results", "head of the results"),
        *(*hints, f"{row} 0", *checks, "row remove - - 0"),
        *("signature", *hints, f"{row} 1", *checks, "row remove - - 1"),
        *("most Write:", ""),
    ]
    kernel = os.uname()
    words_of_machine = f"{kernel.release} {kernel.version} {kernel.machine}"
    assert f"machine {words_of_machine}" in lines
    version = [line for line in lines if line.startswith("option apiVersion")]
    assert re.fullmatch(r"option apiVersion \(\d\.\d\)", version[0])


def test_ior_prints_hints_before_the_stonewall(engine: Engine, data: Path) -> None:
    words = ("-a", "MPIIO", "-w", "-t", "4k", "-b", "8k", "--mpiio.showHints", "-D", "30")
    lines = lines_of(engine, data, "ior", *words, "-O", "stoneWallingWearOut=1")
    kinds = [line for line in lines if line.split(" ")[0] in ("hints", "stonewall", "row")]
    assert kinds == ["hints passed to", "hints returned from", "stonewall", "row write 8.00 4.00 0"]


def test_ior_says_where_its_summary_goes(any_engine: Engine, data: Path) -> None:
    words = ("-t", "4k", "-b", "8k", "-v", "-O", "summaryFile=s.csv,summaryFormat=CSV")
    assert lines_of(any_engine, data, "ior", *words) == ["written to s.csv"]
    # Removing the file has no row there.
    kinds = outline("ior", (data / "s.csv").read_text())
    assert kinds == ["header", "row write 2 0", "row read 2 0"]


def test_ior_prints_the_originals_csv_and_json(any_engine: Engine, data: Path) -> None:
    sizes = ("-t", "4k", "-b", "8k", "-O")
    lines = lines_of(any_engine, data, "ior", *sizes, "summaryFormat=CSV")
    assert [line for line in lines if line] == ["header", "row write 2 0", "row read 2 0"]
    run = any_engine.run(["classic", "ior", *sizes, "summaryFormat=JSON"], data)
    assert run.code == 0, run
    result = json.loads(run.stdout)
    assert list(result) == JSON_TOP
    (test,) = result["tests"]
    assert [key for key in test if key in JSON_TEST] == JSON_TEST
    assert [key for key in test["Parameters"] if key in JSON_PARAMETERS] == JSON_PARAMETERS
    for one in test["Results"]:
        assert [key for key in one if key in JSON_RESULT] == JSON_RESULT
    for one in result["summary"]:
        assert [key for key in one if key in JSON_SUMMARY] == JSON_SUMMARY


@pytest.mark.parametrize(
    "words", [("-P", "-Z"), ("-v", "-i", "2"), ("--showRankStatistics", "--print-all-procs")]
)
def test_mdtest_prints_the_originals_text(
    any_engine: Engine, data: Path, words: tuple[str, ...]
) -> None:
    lines = [
        line for line in lines_of(any_engine, data, "mdtest", "-n", "2", *words, "-d", "m") if line
    ]
    assert lines[:8] == [
        "started", "banner 2 1", "command line", "reads of nothing", "nodes 11", "path", "space",
        "items 2 4 files/directories",
    ]  # fmt: skip
    table = [
        *("head of the table", "head of the table"),
        *(f"row Directory {what}" for what in ("creation", "stat", "rename", "removal")),
        *(f"row File {what}" for what in ("creation", "stat", "read", "removal")),
        *("row Tree creation", "row Tree removal"),
    ]
    tables = [line for line in lines[8:-1] if not line.startswith("phase ")]
    if "-P" in words:
        rate = ["heading rate (in ops/sec) 1", *table]
        assert tables == [*rate, "heading time (in ms/op) 1", *table]
    elif "-v" not in words:
        table = [
            line.replace("table", "table with ranks").replace("row", "row with ranks")
            for line in table
        ]
        each = [line.replace("row with ranks", "of each rank") for line in table[2:]]
        each.insert(2, "of each rank")  # "Directory read", which no program measures
        assert tables == ["ranks rate", "iteration 0", *each, "heading rate (in ops/sec) 1", *table]
    else:
        heads = ["head of the phases"] * 2
        assert tables == [*heads, "heading rate (in ops/sec) 2", *table]
        assert len([line for line in lines if line.startswith("phase ")]) == 20
    assert lines[-1] == "finished"
