# SPDX-License-Identifier: BSD-3-Clause
"""mdtest against a bare loop of the same calls, and against the original where one is named in
EFFIO_BENCH_MDTEST. One directory for all ranks, empty files."""

from __future__ import annotations

import json
import os
import re
from functools import partial

from harness import BenchError, Figures, Kit, Pair, alternately

TURNS = 10  # of both sides in a process
PHASES = {"File creation": "create", "File stat": "stat", "File removal": "remove"}


def of_engine(kit: Kit, where: str, ranks: int, files: int) -> Figures:
    with kit.place(where) as place:
        words = [kit.engine, "mdtest", "-n", files, "--things", "files", "--quiet"]
        words += ["--phases", "create,stat,remove", "--count", "off", "--call-times", "off"]
        kit.launch([*words, "--dir", place, "-o", place / "r.jsonl"], ranks)
        lines = [json.loads(line) for line in (place / "r.jsonl").read_text().splitlines()]
    return {
        PHASES[m["where"]["phase"]]: m["rate"]["value"]
        for m in lines
        if m["kind"] == "measurement" and m["where"]["phase"] in PHASES
    }


def paired(kit: Kit, where: str, ranks: int, files: int) -> str:
    with kit.place(where) as place:
        return kit.launch([kit.bare("paired_mdtest"), place, files, TURNS], ranks)


def of_original(kit: Kit, program: str, where: str, ranks: int, files: int) -> Figures:
    with kit.place(where) as place:
        text = kit.launch(
            [program, "-n", files, "-F", "-C", "-T", "-r", "-d", place / "out"], ranks
        )
    rates = {}
    for title, name in PHASES.items():
        found = re.search(rf"^\s*{title}\s*:?\s+([0-9.]+)", text, re.MULTILINE)
        if found is None:
            raise BenchError(f"{program} prints no rate of {title}")
        rates[name] = float(found[1])
    return rates


def pairs(kit: Kit) -> list[Pair]:
    all_pairs = []
    original = os.environ.get("EFFIO_BENCH_MDTEST")
    for where, files, fewer in (("tmpfs", 100_000, 20_000), ("disk", 10_000, 1_000)):
        for ranks in (1, 2):
            question = f"{files} empty files of each of {ranks} ranks in one directory on {where}"
            all_pairs.append(
                Pair(
                    f"mdtest {where} {ranks}",
                    f"mdtest's phases and a bare loop alternately, {fewer} files of each of {ranks}"
                    f" ranks, {where}",
                    *alternately(partial(paired, kit, where, ranks, fewer)),
                    "op/s",
                    at_least=0.97,
                    rounds=50,
                )
            )
            if original:
                all_pairs.append(
                    Pair(
                        f"mdtest {where} {ranks} original",
                        f"{question}, against {original}",
                        partial(of_engine, kit, where, ranks, files),
                        partial(of_original, kit, original, where, ranks, files),
                        "op/s",
                        rounds=50,  # whole processes differ by 30 % and more
                    )
                )
    return all_pairs
