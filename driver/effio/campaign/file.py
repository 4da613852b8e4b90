# SPDX-License-Identifier: BSD-3-Clause
"""A campaign as a TOML file: steps, each a benchmark of the engine with the engine's own option
names, what of them is swept, and what a card shows of them (docs/campaigns.md,
schemas/campaign-1.json). campaigns/quick.toml is the model."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from effio import text as fmt
from effio.config.toml_file import (
    TomlFile,
    campaign_name,
    file_hint,
    nearest,
    read,
    validated,
)
from effio.errors import EffioError
from effio.home import expanded
from effio.shipped import shipped_with_effio

Value = StrictBool | StrictInt | StrictFloat | StrictStr
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$", max_length=64)]
Command = Annotated[tuple[str, ...], Field(min_length=1)]


def _size(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a size is not true or false")
    size = fmt.parse_size(value) if isinstance(value, str) else value
    if size is None:
        raise ValueError(f"'{value}' is not a size; write for example 512MiB or 2GB")
    return size


def _time(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a time is not true or false")
    seconds = fmt.parse_duration(value) if isinstance(value, str) else value
    if seconds is None:
        raise ValueError(f"'{value}' is not a time; write for example 60s or 5min")
    return seconds


Size = Annotated[int, BeforeValidator(_size, json_schema_input_type=int | str), Field(gt=0)]
Time = Annotated[float, BeforeValidator(_time, json_schema_input_type=float | str), Field(gt=0)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class Line(_Table):
    """One line of the card: which measurements, and what of them.

    `from_storage`: a rate from memory does not count.
    """

    title: str
    show: Literal["rate", "operations", "message time", "message rate", "figure"]
    access: str | None = None
    where: dict[str, Value] = Field(default_factory=dict)
    figure: str = ""
    from_storage: bool = False


class Earlier(_Table):
    """A value out of the results of an earlier step: of its measurements (`take`: bytes,
    operations, seconds, rate, or a member of where or detail as "detail.rank_bytes.min"), or of a
    figure; of those valid the smallest, largest, mean or last. `match` names axes that must have
    the value that they have in the point that asks."""

    step: Word
    take: str = "rate"
    figure: str = ""
    access: str | None = None
    where: dict[str, Value] = Field(default_factory=dict)
    pick: Literal["min", "max", "mean", "last"] = "min"
    match: tuple[str, ...] = ()


class Step(_Table):
    """A benchmark, once for every point of its sweep. Texts may hold expressions in braces."""

    name: Word
    benchmark: str
    options: dict[str, Value] = Field(default_factory=dict)
    values: dict[str, Value] = Field(default_factory=dict)  # names for expressions
    sweep: dict[str, Annotated[tuple[Value, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    zip: tuple[Annotated[tuple[str, ...], Field(min_length=2)], ...] = ()
    include: tuple[dict[str, Value], ...] = ()  # points beyond the cross
    exclude: tuple[dict[str, Value] | str, ...] = ()  # points, or an expression
    earlier: dict[str, Earlier] = Field(default_factory=dict)
    needs: tuple[Word, ...] = ()  # steps whose points are done before, in each repetition
    otherwise: dict[str, Value] = Field(default_factory=dict)  # after an I/O error, once more so
    ranks: StrictInt | StrictStr | None = None
    nodes: StrictInt | StrictStr | None = None
    ranks_per_node: StrictInt | StrictStr | None = None
    ranks_at_least: StrictInt = 1
    bytes_at_least: Size | None = None  # skipped if the campaign may write less
    engine: str | None = None
    repetitions: StrictInt | None = Field(default=None, ge=1, le=100_000)
    environment: dict[str, str] = Field(default_factory=dict)
    setup: tuple[Command, ...] = ()  # before each run of it
    cleanup: tuple[Command, ...] = ()  # after each run of it
    tags: tuple[Word, ...] = ()
    line: tuple[Line, ...] = ()

    def waits_for(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.needs, *(e.step for e in self.earlier.values()))))


class CampaignFigure(_Table):
    """A number of the whole campaign, shown at its end: an expression over values of its steps and
    over the figures before it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)]
    title: str
    unit: str
    value: str
    note: str = ""
    earlier: dict[str, Earlier] = Field(default_factory=dict)


class Chart(_Table):
    """A figure of the campaign's page: rates of measurements of `steps` (or figures of the name
    `figure`) over the coordinate `over`, a line for each value of `curves`, a panel for each of
    `panels`. Coordinates are axes, "step", "access", "pattern", "ranks" and "where.NAME". Curves
    with the values of `dashed` have dashed lines, in the color of those that differ in nothing
    else. `against` names the reference: a second figure shows the overhead over it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=64)]
    title: str
    caption: str = ""
    steps: Annotated[tuple[Word, ...], Field(min_length=1)]
    figure: str = ""
    access: tuple[str, ...] = ()
    where: dict[str, Value] = Field(default_factory=dict)
    over: str
    curves: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    dashed: dict[str, Value] = Field(default_factory=dict)
    against: dict[str, Value] = Field(default_factory=dict)

    def coordinates(self) -> dict[str, tuple[str, ...]]:
        """All that it names, by the key of the file."""
        return {
            "over": (self.over,),
            "curves": self.curves,
            "panels": self.panels,
            "where": tuple(self.where),
            "dashed": tuple(self.dashed),
            "against": tuple(self.against),
        }


class Campaign(_Table):
    """`seconds` and `bytes` are its budget. `afresh`: each call measures anew, none resumes
    another."""

    name: str = Field(min_length=1)
    title: str
    purpose: str
    seconds: Time | None = None
    bytes: Size | None = None
    repetitions: StrictInt = Field(default=1, ge=1, le=100_000)
    points_at_most: StrictInt = Field(default=10_000, ge=1)
    afresh: bool = False
    remove_kept: bool = False  # when all is done: data that steps kept for later ones
    dir: str | None = None
    values: dict[str, Value] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)
    setup: tuple[Command, ...] = ()  # before the first run
    cleanup: tuple[Command, ...] = ()  # after the last one
    tags: tuple[Word, ...] = ()
    step: tuple[Step, ...] = Field(min_length=1)
    figure: tuple[CampaignFigure, ...] = ()
    chart: tuple[Chart, ...] = ()

    @model_validator(mode="after")
    def _names_are_different(self) -> Campaign:
        names = [step.name for step in self.step]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two steps have the name '{twice}'")
        charts = [chart.name for chart in self.chart]
        twice = next((name for name in charts if charts.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two charts have the name '{twice}'")
        return self

    def repetitions_of(self, step: Step) -> int:
        return step.repetitions or self.repetitions

    def named(self, name: str) -> Step:
        return next(step for step in self.step if step.name == name)


def json_schema() -> dict[str, Any]:
    """The schema of the file, for editors; schemas/campaign-1.json is it."""
    made = Campaign.model_json_schema()
    # The name is that of the file, unless it says another.
    made["required"] = [key for key in made["required"] if key != "name"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


@cache
def shipped() -> tuple[str, ...]:
    """Names of the campaigns that come with effio."""
    return tuple(sorted(path.stem for path in shipped_with_effio("campaigns").glob("*.toml")))


@cache
def load_shipped(name: str) -> Campaign:
    return load(path_of(name))[0]


def path_of(name: str) -> Path:
    """The path of a campaign, by the name of a shipped one (`@quick`, where a file could be meant),
    or by its file."""
    bare = name.removeprefix("@")
    if bare in shipped() and not (name == bare and Path(name).is_file()):
        return shipped_with_effio("campaigns") / f"{bare}.toml"
    path = expanded(name)
    if name.startswith("@") or not (path.suffix == ".toml" or path.is_file() or "/" in name):
        known = list(shipped())
        raise EffioError(
            f"no campaign '{fmt.plain(name, 100)}'{nearest(bare, known)}", hint=file_hint(name)
        )
    return path


def load(path: Path) -> tuple[Campaign, TomlFile]:
    """Raises with every fault of the file at once, each with its place."""
    file = read(path)
    return validated(Campaign, file, {"name": campaign_name(path)}), file
