# SPDX-License-Identifier: BSD-3-Clause
"""The I/O of several applications side by side: which libraries they use, and what each moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from effio import text as fmt
from effio.profile.model import Profile
from effio.report.common.names import unique
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Heading,
    Panel,
    Section,
    Series,
    Table,
)


def _libraries(profile: Profile, access: str = "") -> list[str]:
    return unique(a.library for a in profile.activity if access in ("", a.access))


def library_figure(profiles: Sequence[Profile]) -> Figure:
    """How many of the applications use each library; one counts once for a library."""
    found = [_libraries(profile) for profile in profiles]
    every = unique(name for some in found for name in some)
    counts = {name: sum(name in some for some in found) for name in every}
    names = sorted(counts, key=lambda name: -counts[name])
    series = Series("applications", names, [float(counts[name]) for name in names])
    users = [[p for p, some in zip(profiles, found, strict=True) if name in some] for name in names]
    rows: list[list[Cell]] = [
        [name, counts[name], counts[name] / len(profiles), ", ".join(_name(p) for p in some)]
        for name, some in zip(names, users, strict=True)
    ]
    columns = [Column("library"), Column("applications", "1"), Column("share", "1", "%", 3)]
    return Figure(
        "libraries",
        "I/O libraries of the applications",
        f"How many of {fmt.count_of(len(profiles), 'application')} use each library. An application"
        " with several libraries counts for each.",
        "bars",
        Axis("library"),
        Axis("applications", low=0.0),
        {"": [Panel("", [series])]},
        columns=1,
        table=Table([*columns, Column("which")], rows, "I/O libraries of the applications"),
    )


def _name(profile: Profile) -> str:
    return fmt.plain(profile.application, 60)


def _moved(profile: Profile, access: str) -> int:
    return sum(a.bytes * a.times for a in profile.activity if a.access == access)


def applications_table(profiles: Sequence[Profile]) -> Table:
    rows: list[list[Cell]] = [
        [
            _name(p),
            p.ranks,
            float(p.seconds),
            ", ".join(_libraries(p)),
            ", ".join(unique(a.files for a in p.activity)),
            ", ".join(unique(a.layout for a in p.activity)),
            _moved(p, "write"),
            _moved(p, "read"),
            p.io_share,
        ]
        for p in profiles
    ]
    columns = [
        Column("application"), Column("processes", "1"), Column("a run", "s"),
        Column("libraries"), Column("files"), Column("layout"), Column("written", "B"),
        Column("read", "B"), Column("share of I/O", "1", "%", 3),
    ]  # fmt: skip
    return Table(columns, rows, "Applications")


def applications_section(profiles: Sequence[Profile], own: Sequence[Section]) -> Section:
    """`own`: what is said of each application alone."""
    figure = library_figure(profiles)
    blocks: list[Block] = [figure, figure.as_table(), applications_table(profiles)]
    for number, section in enumerate(own, 1):
        blocks.append(Heading(section.title))
        blocks += [_renamed(block, number) for block in section.blocks]
    title = f"I/O of {fmt.count_of(len(profiles), 'application')}"
    return Section("applications", title, blocks)


def _renamed(block: Block, number: int) -> Block:
    """Figures of a page have different ids."""
    if not isinstance(block, Figure):
        return block
    return replace(block, id=f"{block.id}-{number}")
