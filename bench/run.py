# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benches: python bench/run.py [--build DIR] [--memory DIR] [--rounds N] [NAME…]. Every
module of this directory with a function pairs(kit) takes part."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

from harness import ROOT, Kit, Pair, main, make_kit


def collect(kit: Kit) -> list[Pair]:
    found: list[Pair] = []
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.stem in ("harness", "run"):
            continue
        found += importlib.import_module(path.stem).pairs(kit)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only pairs whose name has this")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a tmpfs")
    parser.add_argument("--rounds", type=int, help="of each pair, in place of its own number")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.memory, prefix="effio-bench-") as place:
        sys.exit(
            main(
                collect,
                options.names,
                make_kit(options.build.resolve(), Path(place)),
                options.rounds,
            )
        )
