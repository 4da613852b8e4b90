# SPDX-License-Identifier: BSD-3-Clause
"""From a campaign's file, and what it was called with, to the order that can be planned or run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from effio.campaign.called import Called
from effio.campaign.check import check
from effio.campaign.expression import Expression, ExpressionError, Known, parse
from effio.campaign.file import Campaign, load
from effio.campaign.interleave import interleaved, sides_of
from effio.campaign.names import Settings
from effio.campaign.points import Point, Unit, check_count, points_of, units_of
from effio.config.toml_file import TomlFile, nearest
from effio.engine.discover import find_engine
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.home import expanded
from effio.launch.launchers import Ranks


@dataclass(frozen=True)
class Asked:
    """What the user gave; None: as the last call, the file, or habit has it."""

    ranks: int | None = None
    nodes: int | None = None
    ranks_per_node: int | None = None
    directory: str | None = None
    bytes: int | None = None
    seconds: float | None = None
    scale: float | None = None
    only: str = ""
    skip: str = ""
    interleave: str = ""
    points: tuple[str, ...] = ()  # ids, or what they begin with


@dataclass(frozen=True)
class Study:
    """A campaign, checked and expanded. `units` are those that are requested, `everything` is all
    of them."""

    campaign: Campaign
    file: TomlFile
    settings: Settings
    engines: dict[str | None, Engine]
    points: list[Point]
    units: list[Unit]
    everything: list[Unit]

    def called(self, engine: Engine) -> Called:
        s = self.settings
        return Called(
            file=str(self.file.path.absolute()),
            directory=s.directory,
            ranks=s.ranks.total,
            nodes=s.ranks.nodes,
            ranks_per_node=s.ranks.per_node,
            bytes=s.bytes,
            seconds=s.seconds,
            scale=s.scale,
            engine=engine.sha256,
            points={point.id: point.title for point in self.points},
        )

    def repetitions(self) -> list[tuple[Point, int]]:
        """Every requested point, and how often."""
        count: dict[int, int] = {}
        for unit in self.units:
            count[id(unit.point)] = count.get(id(unit.point), 0) + 1
        return [(p, count[id(p)]) for p in self.points if id(p) in count]


def study_of(
    path: Path,
    asked: Asked,
    engine: Engine,
    default_ranks: Callable[[], Ranks],
    called_before: Callable[[Campaign], Called | None] = lambda _: None,
) -> Study:
    """Raises with every fault of the file, before anything is expanded that is too large."""
    campaign, file = load(path)
    sides = sides_of(asked.interleave) if asked.interleave else None
    if sides is not None:
        campaign = interleaved(campaign, sides)
    before = called_before(campaign)
    settings = _settings(campaign, asked, default_ranks, before)
    check(campaign, file, engine, settings, sides)
    check_count(campaign)
    points = points_of(campaign, engine, settings)
    engines: dict[str | None, Engine] = {None: engine}
    for name in dict.fromkeys(p.engine for p in points if p.engine is not None):
        of_sides = sides is not None and sides.name == "engine" and name in sides.values
        origin = "given by --interleave" if of_sides else "requested by the campaign"
        engines[name] = find_engine(name, origin)
    everything = units_of(campaign, points)
    units = selected(of_points(everything, asked.points), asked.only, asked.skip)
    return Study(campaign, file, settings, engines, points, units, everything)


def _settings(
    campaign: Campaign, asked: Asked, default_ranks: Callable[[], Ranks], before: Called | None
) -> Settings:
    given = (asked.ranks, asked.nodes, asked.ranks_per_node) != (None, None, None)
    if given or before is None:
        ranks = default_ranks()
    else:
        ranks = Ranks(before.ranks, before.nodes, before.ranks_per_node)
    directory = asked.directory or (before.directory if before else None) or campaign.dir or "."
    return Settings(
        ranks,
        str(expanded(directory).absolute()),
        asked.bytes or (before.bytes if before else None) or campaign.bytes,
        asked.seconds or (before.seconds if before else None) or campaign.seconds,
        asked.scale or (before.scale if before else None) or 1.0,
    )


def of_points(units: Sequence[Unit], ids: Sequence[str]) -> list[Unit]:
    """All of them, or those of the points whose ids begin so."""
    known = list(dict.fromkeys(unit.point.id for unit in units))
    wanted: set[str] = set()
    for begin in ids:
        meant = [one for one in known if begin and one.startswith(begin)]
        if len(meant) != 1:
            several = f"is the start of {len(meant)} ids" if meant else "no point has this id"
            raise EffioError(f"--point {begin}: {several}{nearest(begin, meant or known)}")
        wanted.add(meant[0])
    return [unit for unit in units if not ids or unit.point.id in wanted]


def selected(units: Sequence[Unit], only: str, skip: str) -> list[Unit]:
    """The units of which `only` holds and `skip` does not. A point that lacks a name that others
    have is not meant."""
    if not only and not skip:
        return list(units)
    known: dict[int, dict[str, Known]] = {}
    for unit in units:
        known.setdefault(id(unit.point), unit.point.known())
    every_name = sorted({name for names in known.values() for name in names} | {"repetition"})

    def read(option: str, text: str) -> Expression | None:
        if not text:
            return None
        try:
            expression = parse(text)
        except ExpressionError as error:
            raise EffioError(f"{option}: {error}") from None
        for name in sorted(expression.names):
            if name not in every_name:
                raise EffioError(f"{option}: no name '{name}'{nearest(name, every_name)}")
        return expression

    def holds(option: str, expression: Expression, unit: Unit) -> bool:
        names = {**known[id(unit.point)], "repetition": unit.repetition + 1}
        try:
            return expression.names <= names.keys() and expression.holds(names)
        except ExpressionError as error:
            raise EffioError(f"{option}: at the point {unit.point.title}: {error}") from None

    wanted, unwanted = read("--only", only), read("--skip", skip)
    return [
        unit
        for unit in units
        if (wanted is None or holds("--only", wanted, unit))
        and (unwanted is None or not holds("--skip", unwanted, unit))
    ]
