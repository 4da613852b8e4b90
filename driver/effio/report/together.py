# SPDX-License-Identifier: BSD-3-Clause
"""Several results on one page: their headlines by benchmark, each run named by what sets it apart,
and what the benchmarks' own modules say of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from effio import text as fmt
from effio.report import registry
from effio.report.common.names import grouped, unique
from effio.report.common.system import mpi_name, seconds_of
from effio.report.model import (
    Axis,
    Block,
    Column,
    Figure,
    Report,
    Series,
    Table,
    table_of,
)
from effio.report.parts import differing, quantity
from effio.report.plots import plot
from effio.store.option_values import option_text
from effio.store.reader import Result

# Options that say where results go, not what is measured.
_ELSEWHERE = frozenset({"result", "manifest"})
_LONGEST_LABEL = 80


def _facts(result: Result) -> Mapping[str, str]:
    """What may differ between two runs, in the order in which it is worth mentioning."""
    system, fs = result.run.system, result.run.file_system
    found = {
        "ranks": fmt.count_of(system.ranks, "rank"),
        "nodes": fmt.count_of(system.nodes, "node"),
        "file system": " ".join((fs.type or "", fs.mount_point)).strip() if fs else "",
        "backend": result.run.backend.name if result.run.backend else "",
        "MPI": mpi_name(system.mpi.library),
        "revision": result.run.engine.revision,
    }
    for name, value in result.run.options.items():
        if name not in _ELSEWHERE and value not in (None, ""):
            found[f"--{name}"] = f"{name} {option_text(name, value)}"
    return found


def distinctions(results: Sequence[Result]) -> list[str]:
    """For each of several runs of a benchmark the facts in which they are not all equal; the time
    of the start where facts do not distinguish them."""
    facts = [_facts(r) for r in results]
    names = differing(facts)
    labels = [", ".join(f[n] for n in names if f.get(n)) for f in facts]
    labels = [
        text if len(text) <= _LONGEST_LABEL else text[:_LONGEST_LABEL] + "…" for text in labels
    ]
    return [
        text if labels.count(text) == 1 else ", ".join(filter(None, (text, r.run.started)))
        for text, r in zip(labels, results, strict=True)
    ]


def overview(reports: Sequence[Report], results: Sequence[Result]) -> list[Block]:
    """The headlines of several runs side by side: a figure for each benchmark, because numbers of
    different ones do not compare."""
    reported = ["" for _ in results]
    blocks: list[Block] = []
    for benchmark in unique(r.benchmark for r in results):
        places = [i for i, r in enumerate(results) if r.benchmark == benchmark]
        some = distinctions([results[i] for i in places])
        for place, text in zip(places, some, strict=True):
            reported[place] = text
        mine = [(reports[i], reported[i]) for i in places if reports[i].headline.value is not None]
        for name, unit in dict.fromkeys((r.headline.name, r.headline.unit) for r, _ in mine):
            alike = [p for p in mine if (p[0].headline.name, p[0].headline.unit) == (name, unit)]
            if len(alike) > 1:
                number = len(blocks) + 1
                figure = _headline_figure(f"headlines-{number}", benchmark, alike)
                blocks += [figure] if figure else []
    return [*blocks, _headline_table(reports, results, reported)]


def _headline_figure(
    identity: str, benchmark: str, some: Sequence[tuple[Report, str]]
) -> Figure | None:
    first = some[0][0].headline
    series = Series(
        first.name,
        [label or r.name for r, label in some],
        [r.headline.value for r, _ in some],
        notes=[f"{r.name}: {r.headline.verdict} {r.headline.context}".strip() for r, _ in some],
        faulty=[r.headline.valid is False for r, _ in some],
    )
    return plot(
        identity,
        f"{benchmark}: the runs side by side",
        "Each bar is named by what distinguishes its run from the others. Hatched bars are not"
        " valid; compare only runs that are valid, or that were made in the same way.",
        "bars",
        Axis("run"),
        Axis(fmt.heading(first.name), first.unit),
        [series],
    )


def _headline_table(
    reports: Sequence[Report], results: Sequence[Result], reported: Sequence[str]
) -> Table:
    return table_of(
        list(zip(reports, results, reported, strict=True)),
        [
            (Column("run"), lambda row: row[0].name),
            (Column("benchmark"), lambda row: row[0].benchmark),
            (Column("figure"), lambda row: row[0].headline.name),
            (
                Column("value", "1"),
                lambda row: quantity(row[0].headline.value, row[0].headline.unit),
            ),
            (Column("unit in CSV"), lambda row: row[0].headline.unit),
            (Column("valid"), lambda row: row[0].headline.verdict),
            (Column("took", "s"), lambda row: seconds_of(row[1])),
            (Column("differs in"), lambda row: row[2]),
        ],
        "Headlines",
    )


def across(results: Sequence[Result]) -> list[Block]:
    """What reporters say of several results of their benchmark together."""
    blocks: list[Block] = []
    for some in grouped(results, lambda result: result.benchmark).values():
        reporter = registry.reporter_of(some[0])
        if len(some) > 1 and isinstance(reporter, registry.Comparer):
            blocks += reporter.across(some)
    return blocks
