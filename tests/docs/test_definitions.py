# SPDX-License-Identifier: BSD-3-Clause
"""The numbers and names in docs/definitions/ are those that the engine works with."""

from __future__ import annotations

import json
import math
import re
import struct
from pathlib import Path
from typing import Any

import pytest

from array_tools import need
from b_eff_io_definition import TYPES
from docs.tables import size, table, tables_of
from engines import ROOT, Engine
from system.flash_io_by_the_book import NAMES, PLOTTED

MIB = 1 << 20


def _plan(engine: Engine, directory: Path, *words: object) -> Any:
    run = engine.alone([*words, "--plan-json"], directory)
    assert run.code == 0, run
    return json.loads(run.stdout)


def _text(page: str) -> str:
    return (ROOT / "docs" / "definitions" / page).read_text()


def _block_with(page: str, word: str) -> str:
    (block,) = [b for b in re.findall(r"```text\n(.*?)```", _text(page), re.DOTALL) if word in b]
    return str(block)


# b_eff_io


def _b_eff_io(engine: Engine, directory: Path, *words: object) -> Any:
    memory = ["--memory-per-rank", "2GiB", "--max-bytes", "1000000TiB"]
    return _plan(engine, directory, "b-eff-io", *memory, *words)


def test_the_pattern_table_of_b_eff_io(any_engine: Engine, tmp_path: Path) -> None:
    page, lmax = "b-eff-io.md", 16 * MIB
    described: dict[int, tuple[str, int, int, int]] = {}
    for row in table(page, "row", "l", "L").dicts():
        chunk, memory = size(row["l"], lmax), size(row["L"], lmax)
        described[int(row["row"])] = ("scatter", chunk, memory, int(row["U"]))
    fill_up = set()
    for row in table(page, "l", "shared").dicts():
        for pattern in TYPES[1:]:
            if not row[pattern]:
                continue
            number = int(row[pattern])
            units = int(row["U of shared" if pattern == "shared" else "U of the others"])
            if row["l"] == "fill-up":
                fill_up.add(number)
            chunk = 0 if number in fill_up else size(row["l"], lmax)
            described[number] = (pattern, chunk, chunk, units)
    plan = _b_eff_io(any_engine, tmp_path, "--plan-ranks", 8)
    assert plan["lmax_bytes"] == lmax
    for partition in plan["partitions"]:
        planned = {
            row["row"]: (
                row["pattern"],
                0 if row["row"] in fill_up else row["chunk_bytes"],
                0 if row["row"] in fill_up else row["memory_chunk_bytes"],
                row["time_units"],
            )
            for row in partition["rows"]
        }
        assert planned == described
    assert len(described) == 43
    sums = [sum(u for kind, _, _, u in described.values() if kind == t) for t in TYPES]
    assert sums == [22, 12, 10, 10, 10]


def test_the_partitions_and_the_time_of_b_eff_io(any_engine: Engine, tmp_path: Path) -> None:
    for row in table("b-eff-io.md", "from N").dicts():
        ranks = int(row["from N"])
        plan = _b_eff_io(any_engine, tmp_path, "--time", "1800s", "--plan-ranks", ranks)
        found = [partition["ranks"] for partition in plan["partitions"]]
        assert found == [int(row["small"]), int(row["medium"]), ranks]
    assert (plan["partition_seconds"], plan["unit_seconds"]) == (600, 4)
    plan = _b_eff_io(any_engine, tmp_path, "--time", "1800s", "--plan-ranks", 8, "--rewrite")
    assert (plan["time_units"], plan["unit_seconds"]) == (192, 3.125)
    # A quick check, ours.
    assert _b_eff_io(any_engine, tmp_path, "--plan-ranks", 8)["partition_seconds"] == 20


def test_the_published_run_of_b_eff_io_follows_from_the_formulas() -> None:
    page = "b-eff-io.md"
    averages = {}
    rates = {}
    for row in table(page, "type", "0", "1").dicts():
        rates[row["type"]] = [float(row[str(kind)]) for kind in range(5)]
        averages[row["type"]] = (sum(rates[row["type"]]) + rates[row["type"]][0]) / 6
        assert averages[row["type"]] == pytest.approx(float(row["average"]), abs=0.001)
    write = (sum(rates["write"]) + rates["rewrite"][0]) / 6
    value = math.sqrt(write * averages["read"])
    assert f"B = {write:.3f} and b_eff_io = {value:.3f} MB/s" in _text(page)


# b_eff


def test_the_message_lengths_of_b_eff(any_engine: Engine, tmp_path: Path) -> None:
    for row in table("b-eff.md", "memory in MiB").dicts():
        memory = f"{row['memory in MiB']}MiB"
        plan = _plan(any_engine, tmp_path, "b-eff", "--plan-ranks", 8, "--memory-per-rank", memory)
        lengths = [2**i for i in range(13)] + [int(row[f"L{i}"]) for i in range(13, 21)]
        assert plan["lengths_bytes"] == lengths


def _patterns(engine: Engine, directory: Path, ranks: int) -> Any:
    words = ["b-eff", "--plan-ranks", ranks, "--memory-per-rank", "128MiB"]
    return _plan(engine, directory, *words)["patterns"]


def test_the_patterns_of_b_eff(any_engine: Engine, tmp_path: Path) -> None:
    counts = {ranks: len(_patterns(any_engine, tmp_path, ranks)) for ranks in (2, 3, 4, 7, 8, 100)}
    assert counts == {2: 46, 3: 46, 4: 48, 7: 48, 8: 49, 100: 49}
    for row in table("b-eff.md", "P", "rings 0 … 5").dicts():
        names: list[str] = []
        for entry in row["rings 0 … 5"].split(", "):
            name, _, times = entry.partition(" ×")
            names += [name] * int(times or 1)
        planned = _patterns(any_engine, tmp_path, int(row["P"]))
        assert [p["name"] for p in planned if p["family"] == "ring"] == names
    for row in table("b-eff.md", "P", "pattern").dicts():
        found = {
            (p["steps"], p["messages"])
            for p in _patterns(any_engine, tmp_path, int(row["P"]))
            if p["name"].split() == row["pattern"].split()
        }
        assert found == {(int(row["k"]), int(row["msgs"]))}, row


def test_the_numbers_of_the_patterns_of_b_eff(any_engine: Engine, tmp_path: Path) -> None:
    planned = {p["number"]: p["name"] for p in _patterns(any_engine, tmp_path, 8)}
    for row in table("b-eff.md", "number", "name").dicts():
        first, *last = [int(n) for n in re.findall(r"\d+", row["number"])]
        stem, *others = row["name"].split(", ")
        names = [stem, *(o if o[0] != "-" else stem[: stem.rindex("-")] + o for o in others)]
        numbers = range(first, (last or [first])[0] + 1)
        if stem == "ring-…":
            assert all(planned[number].startswith("ring-") for number in numbers)
        else:
            names *= 1 if others else len(numbers)
            assert [planned[number].split() for number in numbers] == [n.split() for n in names]


# rings


def test_the_schedule_of_rings(any_engine: Engine, tmp_path: Path) -> None:
    schedule = {row[""]: row for row in table("rings.md", "", "latency").dicts()}
    plan = _plan(any_engine, tmp_path, "rings", "--plan-ranks", 50)
    for column, planned in zip(("latency", "bandwidth"), plan["lengths"], strict=True):
        for name, key in (
            ("bytes", "bytes"),
            ("seconds for all pairs", "pair_seconds_at_most"),
            ("loops of a ring", "ring_loops"),
            ("measurements of a ring", "ring_measurements"),
            ("random rings", "random_rings"),
        ):
            assert planned[key] == int(schedule[name][column])


# ior


def test_the_defaults_of_ior(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.alone(["describe", "ior"], tmp_path)
    options = {o["name"]: o["default"] for o in json.loads(run.stdout)["options"]}
    for row in table("ior.md", "option", "default").dicts():
        assert options[row["option"].removeprefix("--")] == row["default"], row


def test_the_places_and_the_data_of_ior(any_engine: Engine, tmp_path: Path) -> None:
    """The file of the page's example, read word by word."""
    any_engine.needs_ranks(3)
    # A word takes eight bytes: the page's sizes eightfold.
    words = ["--segments", 2, "--block", "64B", "--transfer", "32B", "--phases", "write"]
    data = ["--data", "timestamp", "--seed", 7, "--sync", "none", "--keep"]
    run = any_engine.run(["ior", "--quiet", *words, *data], tmp_path, ranks=3)
    assert run.code == 0, run
    content = (tmp_path / "ior").read_bytes()
    expected = bytearray(len(content))
    for row in table("ior.md", "w", "begins of the transfers").dicts():
        for begin in row["begins of the transfers"].split(", "):
            transfer = [int(row["w"]) << 32 | (7 + i) for i in range(4)]
            struct.pack_into("=4Q", expected, 8 * int(begin), *transfer)
    assert content == expected


# mdtest


def test_the_trees_of_mdtest(any_engine: Engine, tmp_path: Path) -> None:
    for row in table("mdtest.md", "b", "z").dicts():
        tree = ["mdtest", "--branching", row["b"], "--depth", row["z"], "--things", "files"]
        plan = _plan(any_engine, tmp_path, *tree, "-I", 1)
        assert plan["directories_per_tree"] == int(row["directories"])
        plan = _plan(any_engine, tmp_path, *tree, "-I", 1, "--leaf-only")
        assert plan["items_per_rank"] == int(row["leaves"])


def test_the_phases_of_mdtest(any_engine: Engine, tmp_path: Path) -> None:
    words = ["-I", 3, "--branching", 2, "--depth", 1, "--also", "all", "--plan-ranks", 2]
    plan = _plan(any_engine, tmp_path, "mdtest", *words)
    # 3 directories in the tree, which all hold items: 9 a rank.
    count = {"items": 2 * 9, "items, and one more in each holder": 2 * (9 + 3), "2 · items": 2 * 18}
    count["entries of the tree"] = 2 * 9 + 2  # and the two directories below the first
    described = [
        (
            row["phase"],
            # One rank makes the tree, each lists all of it.
            count.get(row["operations of a rank"], 6 if row["word"] == "list" else 3),
        )
        for row in table("mdtest.md", "phase", "word").dicts()
    ]
    assert [(p["phase"], p["operations"]) for p in plan["phases"]] == described
    own = ("create", "stat", "read", "rename", "remove")
    for row in table("mdtest.md", "phase", "word").dicts():
        option = "--phases" if row["word"] in own else "--also"
        picked = ["mdtest", "-I", 1, "--phases", "create", option, row["word"]]
        names = [p["phase"] for p in _plan(any_engine, tmp_path, *picked)["phases"]]
        assert row["phase"] in names


def test_the_names_of_mdtest(any_engine: Engine, tmp_path: Path) -> None:
    tree = ["-I", 2, "--branching", 2, "--depth", 1, "--unique", "--things", "files"]
    words = ["mdtest", "--quiet", *tree, "--phases", "create", "--keep"]
    run = any_engine.run(words, tmp_path, ranks=2)
    assert run.code == 0, run
    made = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("file.mdtest.1.*")]
    assert sorted(made) == sorted(_block_with("mdtest.md", "file.mdtest.1.0").split())


# FLASH I/O


def test_the_variables_of_flash_io() -> None:
    # tests/system holds whole files against NAMES.
    names = _block_with("flash-io.md", "dens ").split()
    assert names == NAMES
    assert [names[number - 1] for number in (1, 7, 5, 12)] == PLOTTED


def test_the_files_of_flash_io(any_engine: Engine, tmp_path: Path) -> None:
    need(any_engine, "pnetcdf")
    for row in table("flash-io.md", "P", "n").dicts():
        plan = _plan(
            any_engine, tmp_path, "flash-io", "--plan-ranks", row["P"], "--cells", row["n"]
        )
        assert plan["total_blocks"] == int(row["B"])
        for file in plan["files"]:
            assert f"{file['bytes'] / MIB:.2f}" == row[file["file"]], row
        assert f"{plan['dump_bytes'] / MIB:.2f}" == row["MiB in all"]
    described = {
        row["file"]: (row["name"], int(row["variables"]))
        for row in table("flash-io.md", "file", "name").dicts()
    }
    for file in plan["files"]:
        name, variables = described[file["file"]]
        assert file["name"] == f"flash_io_ncmpi_{name}_0000.nc"
        assert file["variables"] == variables
        assert f"{file['header_bytes']} " in _text("flash-io.md")
    run = any_engine.alone(["describe", "flash-io"], tmp_path)
    options = {o["name"]: o["default"] for o in json.loads(run.stdout)["options"]}
    parameters = tables_of("flash-io.md")[0].column("default")
    assert parameters[:4] == [options[n] for n in ("dimensions", "cells", "guards", "blocks")]


# libraries


def test_the_sizes_of_libraries(any_engine: Engine, tmp_path: Path) -> None:
    rows = {int(row["n"]): row for row in table("libraries.md", "n", "bytes a process").dicts()}
    plan = _plan(any_engine, tmp_path, "libraries", "--edges", "96,200", "--plan-ranks", 2)
    for point in plan["points"]:
        assert point["bytes_per_process"] == int(rows[point["edge"]]["bytes a process"])
    words = ["--edges", 8, "--libraries", "posix-fpp,fortran-fpp", "--hint-sets", "none", "--keep"]
    run = any_engine.run(["libraries", "--quiet", *words], tmp_path, ranks=1)
    assert run.code == 0, run
    (records,) = tmp_path.glob("libraries_fortran*")
    (bare,) = tmp_path.glob("libraries_posix*")
    assert (bare.stat().st_size, records.stat().st_size) == tuple(
        int(rows[8][name]) for name in ("bytes a process", "file of a process in Fortran's records")
    )
    for edge, row in rows.items():
        assert int(row["file of a process in Fortran's records"]) == 9 * (8 * edge**3 + 8)


def test_the_sets_of_hints_of_libraries(any_engine: Engine, tmp_path: Path) -> None:
    described = {row["set"]: row for row in table("libraries.md", "set").dicts()}
    run = any_engine.alone(["describe", "libraries"], tmp_path)
    (known,) = [o for o in json.loads(run.stdout)["options"] if o["name"] == "hint-sets"]
    assert known["help"].partition(": ")[2].split(", ") == list(described)


# overlap


def test_the_ways_of_overlap(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.alone(["describe", "overlap"], tmp_path)
    options = {o["name"]: o for o in json.loads(run.stdout)["options"]}
    methods = table("overlap.md", "method", "starts by").column("method")
    assert methods == options["methods"]["choices"]
    assert table("overlap.md", "kind", "a piece is").column("kind") == options["work"]["choices"]


def test_the_known_answers_of_overlap(any_engine: Engine, tmp_path: Path) -> None:
    model = ["--backend", "sim", "--backend-options", "latency=10ms,rank-rate=0"]
    small = ["--transfer", "4KiB", "--repetitions", "2", "--phases", "write"]
    for row in table("overlap.md", "method", "computation", "both").dicts():
        length = row["computation"].replace(" ", "")
        words = ["overlap", *model, *small, "--work-time", length, "--methods", row["method"]]
        run = any_engine.alone([*words, "-o", "known.jsonl"], tmp_path)
        assert run.code == 0, run
        lines = [json.loads(t) for t in (tmp_path / "known.jsonl").read_text().splitlines()]
        (tmp_path / "known.jsonl").unlink()
        (hidden,) = [line for line in lines if line.get("name") == "hidden_share"]
        (both,) = [line for line in lines if line.get("name") == "both_seconds"]
        assert hidden["metric"]["value"] == pytest.approx(float(row["share"]), abs=1e-9), row
        assert hidden["detail"]["possible_share"] == pytest.approx(float(row["possible"])), row
        seconds = float(row["both"].removesuffix(" ms")) / 1000
        assert both["metric"]["value"] == pytest.approx(seconds), row
