# SPDX-License-Identifier: BSD-3-Clause
"""Runs the benches: python bench/run.py [--build DIR] [--memory DIR] [--rounds N] [NAME…]. Every
module of this directory with a function pairs(kit) takes part. A summary of all pairs ends it."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table

from harness import ROOT, Kit, Outcome, Pair, make_kit, measure

# Each pair's share of a quarter of an hour.
SECONDS = 15
HEADINGS = (
    *("Pair", "Figure", "effio", "Bare", "Ratio or difference", "95 %", "Limit", "Verdict"),
)
# The lines of the page that are made here are between these two.
BEGIN, END = "<!-- bench: made by `make bench` -->", "<!-- bench: end -->"


def makers() -> dict[str, Callable[[Kit], list[Pair]]]:
    """The functions `pairs` by the names of their modules."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*.py")):
        module = importlib.import_module(path.stem)
        if hasattr(module, "pairs"):
            found[path.stem] = module.pairs
    return found


def collect(kit: Kit) -> list[Pair]:
    return [pair for make in makers().values() for pair in make(kit)]


def summary(outcome: Outcome) -> Table:
    table = Table(*HEADINGS, title="Summary", title_justify="left", box=None, pad_edge=False)
    for verdict in outcome.verdicts:
        table.add_row(*verdict.row(), style="bold red" if verdict.passed is False else None)
    return table


def machine(kit: Kit) -> str:
    """Processor, number of processors, kernel, MPI."""
    model = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    name = model[1] if model else platform.machine()
    return f"{name}, {os.cpu_count()} processors, Linux {platform.release()}, {kit.mpi}"


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _pair_rows(outcome: Outcome) -> Iterator[list[str]]:
    """The rows of each pair: its name, the lowest and highest ratio or difference, the limit, and
    how many of its figures meet it."""
    for name, group in groupby(outcome.verdicts, key=lambda verdict: verdict.pair.name):
        verdicts = list(group)
        least, most = (pick(verdicts, key=lambda v: v.median).row()[4] for pick in (min, max))
        met = sum(verdict.passed is True for verdict in verdicts)
        limit = verdicts[0].pair.limit
        yield [
            name,
            least if len(verdicts) == 1 else f"{least} … {most}",
            limit,
            f"{met} of {len(verdicts)}" if limit else "",
        ]


def page_lines(outcome: Outcome, where: str, minutes: float, load: float) -> Iterator[str]:
    """Markdown: when and where; a row for each pair; missed limits in full; what is missing."""
    yield f"Measured on {date.today().isoformat()} in {minutes:.0f} minutes on: {where}."
    yield f"Load average at the start: {load:.1f}."
    yield ""
    yield from _markdown(["Pair", "Medians of its figures", "Limit", "Met"], _pair_rows(outcome))
    missed = [verdict.row()[:-1] for verdict in outcome.verdicts if verdict.passed is False]
    if missed:
        yield from ("", "Limits that were missed:", "")
        yield from _markdown(HEADINGS[:-1], missed)
    for title, some in (("Skipped", outcome.skipped), ("Not measured", outcome.failed)):
        if some:
            yield ""
            yield f"{title}: " + "; ".join(f"{k} ({v.splitlines()[0]})" for k, v in some.items())


def write_page(page: Path, lines: Iterator[str]) -> None:
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(before + "\n".join([BEGIN, *lines, END]) + after)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only pairs whose name has this")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a tmpfs")
    parser.add_argument("--rounds", type=int, help="of each pair, instead of the pair's number")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help="for each pair (default: %(default)s)"
    )
    parser.add_argument("--page", type=Path, help="write the table into this page of the docs")
    options = parser.parse_args()
    started, load = time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.memory, prefix="effio-bench-") as place:
        kit = make_kit(options.build.resolve(), Path(place))
        outcome = measure(collect, options.names, kit, options.rounds, options.seconds)
    print()
    # In a pipe nothing is folded.
    Console(width=None if sys.stdout.isatty() else 200).print(summary(outcome))
    minutes = (time.monotonic() - started) / 60
    print(f"{minutes:.1f} minutes; load average at the start {load:.1f}")
    if options.page is not None:
        write_page(options.page, page_lines(outcome, machine(kit), minutes, load))
    return 0 if outcome.good else 1


if __name__ == "__main__":
    sys.exit(main())
