# SPDX-License-Identifier: BSD-3-Clause
"""What a run claims in a table of runs or in a trend: its number, interval, place and validity.
The index keeps the claims of a store, so that no result is read again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from effio import text as fmt
from effio.judge import Interval
from effio.judge.samples import Identity, Judged, identity_of
from effio.store.campaign_part import CampaignPart
from effio.store.folder import RunFolder
from effio.store.known import read_json

# What makes claims takes longer to import than reading them from the index.
if TYPE_CHECKING:
    from effio.report.model import Headline
    from effio.store.reader import Result
    from effio.store.records import Figure


class Number(Struct, frozen=True, array_like=True):
    """The claim of a run, or of one of its figures: value, interval or why it has none (`own`),
    where its bytes were (empty if it counts none), and whether it is valid (None: no rules)."""

    name: str
    unit: str
    value: int | float | None
    own: str = ""
    evidence: str = ""
    valid: bool | None = None


class ForPeak(Struct, frozen=True, array_like=True):
    """What decides which peak of a site holds for the number of a run. `mount`: the mount point of
    its file system, None without one. `cached`: all bytes of the number stayed in memory."""

    nodes: int
    mount: str | None
    cached: bool


class Claim(Struct, frozen=True, array_like=True):
    """`better`: higher or lower. `interval`: that of the figure within its run. `versions`: of the
    software. `status`: how the run ended. `mark`: of a number that is not one of storage or servers
    alone."""

    number: Number
    started: str
    identity: Identity
    better: str
    interval: Interval | None
    versions: dict[str, str]
    status: str
    mark: str
    for_peak: ForPeak


class Claimed(Struct, frozen=True):
    """A run with its claim. `place`: its path. `options` are empty for a run of a campaign, whose
    axes are its labels."""

    name: str
    place: str
    benchmark: str
    part: CampaignPart | None
    ranks: int
    claim: Claim
    labels: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return Path(self.place)

    @property
    def started(self) -> str:
        return self.claim.started

    @property
    def identity(self) -> Identity:
        return self.claim.identity

    def named(self, name: str) -> Claimed:
        return replace(self, name=name)

    def judged(self) -> Judged:
        """The run of a folder with its result, which is read. Raises ResultError."""
        return Judged(self.name, self.path, RunFolder(self.path).reported(), self.labels)

    @property
    def axes(self) -> dict[str, str]:
        return _axes(self.benchmark, self.part, self.labels, self.ranks)


def _axes(
    benchmark: str, part: CampaignPart | None, labels: Mapping[str, str], ranks: int
) -> dict[str, str]:
    """What distinguishes a run from others of its campaign."""
    step = part.step if part is not None else ""
    return {"benchmark": benchmark, "step": step, **labels, "ranks": str(ranks)}


def axes_of(run: Judged) -> dict[str, str]:
    result = run.result
    return _axes(result.benchmark, result.part, run.labels, result.run.system.ranks)


def number_by(headline: Headline, result: Result) -> Number:
    """The number of a run, with all that its headline claims."""
    from effio.store.evidence import short_of

    return Number(
        headline.name,
        headline.unit,
        headline.value,
        headline.sureness(),
        short_of(headline.evidence, result.run),
        headline.valid,
    )


def number_of(result: Result) -> Number:
    from effio.report.registry import reporter_of

    return number_by(reporter_of(result).headline(result), result)


def own_figure(headline: Headline, result: Result) -> Figure | None:
    """The engine's record of the run's one number."""
    # Other cells have figures of the same name.
    named = result.figures_named(headline.name)
    same = (figure for figure in named if figure.metric.value == headline.value)
    return next(same, None) or result.number


def interval_of(figure: Figure | None) -> Interval | None:
    """The interval that a figure has within its run, from five repetitions on."""
    from effio.report.common import certainty

    return certainty.shown_bounds(figure) if figure is not None else None


def _versions(result: Result) -> dict[str, str]:
    from effio.report.common.system import mpi_name

    system, engine = result.run.system, result.run.engine
    release = system.kernel.get("release", "")
    return {
        "effio" if engine.program == "effio-mpi" else fmt.plain(engine.program, 60): engine.version,
        "MPI": mpi_name(system.mpi.library),
        "kernel": fmt.plain(release, 60),
    }


def for_peak_by(headline: Headline, result: Result) -> ForPeak:
    from effio.store.evidence import Place, place_of

    fs = result.run.file_system
    cached = bool(headline.evidence) and place_of(headline.evidence) is Place.CACHE
    return ForPeak(result.run.system.nodes, fs.mount_point if fs is not None else None, cached)


def claim_by(headline: Headline, result: Result) -> Claim:
    from effio.store.evidence import mark_of

    figure = own_figure(headline, result)
    return Claim(
        number_by(headline, result),
        result.run.started,
        identity_of(result),
        figure.metric.better if figure is not None else "higher",
        interval_of(figure),
        _versions(result),
        result.status,
        mark_of(headline.evidence, result.run),
        for_peak_by(headline, result),
    )


def claimed(run: Judged) -> Claimed:
    from effio.report.registry import reporter_of

    result = run.result
    part = result.part
    return Claimed(
        run.name,
        str(run.path),
        result.benchmark,
        part,
        result.run.system.ranks,
        claim_by(reporter_of(result).headline(result), result),
        run.labels,
        result.run.options if part is None else {},
    )


def written(claim: Claim) -> str:
    """For the index, which `read` takes."""
    return json.dumps(to_builtins(claim))


def read(text: str) -> Claim:
    found: Claim = read_json(text, Claim)
    return found
