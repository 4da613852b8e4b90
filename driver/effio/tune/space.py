# SPDX-License-Identifier: BSD-3-Clause
"""A tuning as a TOML file (docs/tune.md): the workload, a benchmark with the engine's own option
names, and what may be changed to make it faster. shipped/collective.toml is the model."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
)

from effio.campaign.expression import spelled
from effio.campaign.file import Time, Value
from effio.config.toml_file import TomlFile, file_hint, nearest, read, validated
from effio.engine.description import BenchmarkInfo
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.home import expanded
from effio.launch.launchers import Ranks
from effio.tune.setting import DEFAULT, Pairs, Setting

_SHIPPED = Path(__file__).resolve().parent / "shipped"
# The search or the driver gives these itself.
_OWNED = frozenset(
    {"result", "progress", "quiet", "plan", "plan-json", "plan-ranks", "plan-ranks-per-node"}
    | {"hints", "keep", "call-log"}
)
# One setting of the backend as a separate option: parts of the engine's --backend-options.
_OF_BACKEND = "backend."
_BACKEND_OPTIONS = "backend-options"
# A search needs runs for each; more than this is a list, not a search.
_MOST_VALUES = 1000


def _hint(value: object) -> str:
    """Text for the MPI library; whole numbers may stand without quotes."""
    if isinstance(value, bool):
        word = str(value).lower()
        raise ValueError(f'a hint is text: write "{word}", or "enable" or "disable"')
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError(f"{value!r} is not a value of a hint: write text or a whole number")
    return value.strip()


def _key(name: str) -> str:
    if not name or any(c.isspace() for c in name) or not name.isprintable():
        raise ValueError(f"'{name}' is not a name: names have no blanks")
    return name


def _variable(name: str) -> str:
    if not name.replace("_", "a").isalnum() or name[:1].isdigit() or not name.isascii():
        raise ValueError(f"'{name}' is not a name of a variable")
    return name


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    reported = [spelled(value) for value in values]
    twice = next((value for value in reported if reported.count(value) > 1), None)
    if twice is not None:
        raise ValueError(f"'{twice}' is there twice")
    return values


HintText = Annotated[str, BeforeValidator(_hint, json_schema_input_type=int | str)]
Key = Annotated[str, AfterValidator(_key)]
Variable = Annotated[str, AfterValidator(_variable)]


class _Table(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, str_max_length=10_000, allow_inf_nan=False, defer_build=True
    )


Texts = Annotated[
    tuple[HintText, ...], Field(min_length=1, max_length=_MOST_VALUES), AfterValidator(_distinct)
]
Values = Annotated[
    tuple[Value, ...], Field(min_length=1, max_length=_MOST_VALUES), AfterValidator(_distinct)
]


class Vary(_Table):
    """What varies in addition to the default, which each has: hints of MPI-IO, options of the
    engine, variables of the environment."""

    hints: dict[Key, Texts] = Field(default_factory=dict)
    options: dict[str, Values] = Field(default_factory=dict)
    environment: dict[Variable, Texts] = Field(default_factory=dict)


class Tuning(_Table):
    title: str = Field(min_length=1)
    purpose: str = ""
    benchmark: str
    options: dict[str, Value] = Field(default_factory=dict)
    vary: Vary
    exclude: tuple[dict[str, Value], ...] = ()  # settings that have all of these
    settings_at_most: StrictInt = Field(default=32, ge=1, le=10_000)
    seconds: Time | None = None
    runs: StrictInt | None = Field(default=None, ge=1)

    def with_options(self, more: Mapping[str, str]) -> Tuning:
        """The tuning with options of the workload in place of the file's."""
        return self.model_copy(update={"options": {**self.options, **more}})

    def words(self, setting: Setting = DEFAULT) -> tuple[str, ...]:
        """The engine's arguments, without the benchmark's name and the hints."""
        merged: dict[str, Value] = {**self.options, **dict(setting.options)}
        inside = [(n, merged.pop(n)) for n in [*merged] if n.startswith(_OF_BACKEND)]
        if inside:
            reported = [f"{n.removeprefix(_OF_BACKEND)}={spelled(value)}" for n, value in inside]
            whole = spelled(merged.pop(_BACKEND_OPTIONS, ""))
            merged[_BACKEND_OPTIONS] = ",".join(filter(None, [whole, *reported]))
        return tuple(word for name, value in merged.items() for word in _word(name, value))


def _word(name: str, value: Value) -> list[str]:
    if isinstance(value, bool) or value in ("true", "false"):
        return [f"--{name}"] if value in (True, "true") else []
    return [f"--{name}={spelled(value)}"]


# From a file -------------------------------------------------------------------------------------


def shipped() -> list[str]:
    """Names of those that come with effio."""
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def path_of(name: str) -> Path:
    """A file, or one that comes with effio by its name (`@name`, where a file could be meant)."""
    bare = name.removeprefix("@")
    if bare in shipped() and not (name == bare and Path(name).is_file()):
        return _SHIPPED / f"{bare}.toml"
    path = expanded(name)
    if name.startswith("@") or not (path.suffix == ".toml" or path.is_file() or "/" in name):
        known = shipped()
        raise EffioError(
            f"no tuning '{name}'{nearest(bare, known)}",
            hint=file_hint(name) or "name a file, or one of those above",
        )
    return path


def load(path: Path) -> tuple[Tuning, TomlFile]:
    """Raises with every fault of the file at once, each with its place."""
    file = read(path)
    return validated(Tuning, file), file


# Against the engine ------------------------------------------------------------------------------


def check(
    tuning: Tuning,
    file: TomlFile,
    engine: Engine,
    ranks: Ranks,
    given: Mapping[str, str] | None = None,
) -> list[Setting]:
    """The settings to try. Raises with every fault of the names at once, then with the engine's own
    words of the first command that it refuses. `given`: options of the workload that the
    command line gives, and its words for each; an error in one of them names these words."""
    given = given or {}
    info = engine.info.benchmark(tuning.benchmark)
    if info is None:
        names = [b.name for b in engine.info.benchmarks]
        what = f"this engine has no benchmark '{tuning.benchmark}'"
        raise EffioError(file.fault(("benchmark",), what + nearest(tuning.benchmark, names)))
    faults = list(_names(tuning, info))
    if faults:
        reported = [
            f"{given[str(loc[-1])]}: {what}"
            if loc[-1] in given and _is_of_the_workload(loc, tuning, file)
            else file.fault(loc, what)
            for loc, what in faults
        ]
        raise EffioError("\n".join(dict.fromkeys(reported)))
    settings = settings_of(tuning)
    for job in dict.fromkeys(Setting(options=s.options) for s in (DEFAULT, *settings)):
        error = _refused(tuning, job, engine, ranks)
        if error is not None:
            with_it = f"with {job.title}: " if job != DEFAULT else ""
            alone = tuning.model_copy(update={"options": _without(tuning, file, given)})
            own = _refused(alone, job, engine, ranks) if given else error
            of_the_file = own is not None and own.message == error.message
            who = str(file.path) if of_the_file else " ".join(given.values())
            raise EffioError(f"{who}: {with_it}{error.message}", error.code, error.hint)
    return settings


def _is_of_the_workload(loc: tuple[str | int, ...], tuning: Tuning, file: TomlFile) -> bool:
    """Whether the workload has the wrong value, not only the list of values to try. A wrong value
    that is in this list and in the workload of the file is an error in the file."""
    if loc[0] == "options":
        return True
    name = str(loc[-1])
    tried = [spelled(value) for value in tuning.vary.options.get(name, ())]
    return loc[:2] == ("vary", "options") and spelled(_of_file(file).get(name, "\0")) not in tried


def _of_file(file: TomlFile) -> Mapping[str, Value]:
    options: Mapping[str, Value] = file.table.get("options", {})
    return options


def _without(tuning: Tuning, file: TomlFile, given: Mapping[str, str]) -> dict[str, Value]:
    """The options of the workload; those that the command line gives are as in the file."""
    rest = {name: value for name, value in tuning.options.items() if name not in given}
    return {**rest, **{n: v for n, v in _of_file(file).items() if n in given}}


def _refused(tuning: Tuning, job: Setting, engine: Engine, ranks: Ranks) -> EffioError | None:
    try:
        engine.check([tuning.benchmark, *tuning.words(job)], ranks.total, ranks.per_node)
    except EffioError as error:
        return error
    return None


Fault = tuple[tuple[str | int, ...], str]


def _names(tuning: Tuning, info: BenchmarkInfo) -> Iterator[Fault]:
    known = [o.name for o in info.options if o.name not in _OWNED]
    tables: list[tuple[tuple[str, ...], Mapping[str, object]]] = [
        (("options",), tuning.options),
        (("vary", "options"), tuning.vary.options),
    ]
    for place, table in tables:
        for name in table:
            if name in _OWNED:
                yield (*place, name), f"'{name}' is given by effio itself"
            elif name not in known and not (
                # The engine's plan says which settings a backend has.
                name.startswith(_OF_BACKEND) and _BACKEND_OPTIONS in known
            ):
                meant = nearest(name.replace("_", "-"), known)
                yield (*place, name), f"{info.name} has no option '{name}'{meant}"
    for name, values in tuning.vary.options.items():
        if any(spelled(value) == spelled(tuning.options.get(name, "\0")) for value in values):
            yield ("vary", "options", name), f"'{name}': a value to try is that of the workload"
    takes_hints = any(o.name == "hints" for o in info.options)
    if tuning.vary.hints and not takes_hints:
        yield ("vary", "hints"), f"{info.name} takes no hints of MPI-IO"
    if not (tuning.vary.hints or tuning.vary.options or tuning.vary.environment):
        yield ("vary",), "nothing is varied: name hints, options or environment"
    varied = [*tuning.vary.hints, *tuning.vary.options, *tuning.vary.environment]
    for number, rule in enumerate(tuning.exclude):
        for name in rule:
            if name not in varied:
                yield ("exclude", number), f"'{name}' is not varied{nearest(name, varied)}"


# Settings ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    kind: str
    name: str
    values: Sequence[str]


def _axes(tuning: Tuning) -> list[_Axis]:
    tables: dict[str, Mapping[str, Sequence[Value]]] = {
        "hints": tuning.vary.hints,
        "options": tuning.vary.options,
        "environment": tuning.vary.environment,
    }
    return [
        _Axis(kind, name, [spelled(value) for value in values])
        for kind, table in tables.items()
        for name, values in table.items()
    ]


def _setting(chosen: Sequence[tuple[_Axis, str | None]]) -> Setting:
    def pairs(kind: str) -> Pairs:
        return tuple((a.name, v) for a, v in chosen if a.kind == kind and v is not None)

    return Setting(pairs("hints"), pairs("options"), pairs("environment"))


def _excluded(tuning: Tuning, setting: Setting) -> bool:
    reported = dict((*setting.hints, *setting.options, *setting.environment))
    return any(
        all(reported.get(name) == spelled(value) for name, value in rule.items())
        for rule in tuning.exclude
        if rule
    )


def settings_of(tuning: Tuning) -> list[Setting]:
    """All combinations but the default, those that change least first. Where there are more than
    `settings_at_most`, every single change and a part of the rest that is always the same."""
    axes = _axes(tuning)
    total = 1
    for axis in axes:
        total *= len(axis.values) + 1
    singles = [_setting([(axis, value)]) for axis in axes for value in axis.values]
    if total > 50 * tuning.settings_at_most:
        found = [*singles, *_some(axes, tuning.settings_at_most)]
    else:
        columns = [[(axis, value) for value in (None, *axis.values)] for axis in axes]
        found = [_setting(row) for row in itertools.product(*columns)]
    found = [s for s in dict.fromkeys(found) if s != DEFAULT and not _excluded(tuning, s)]
    if len(found) <= tuning.settings_at_most:
        return sorted(found, key=_changes)
    alone = [s for s in singles if not _excluded(tuning, s)]
    rest = [s for s in found if s not in set(alone)]
    random.Random(1).shuffle(rest)
    return [*alone, *rest][: max(tuning.settings_at_most, len(alone))]


def _some(axes: Sequence[_Axis], count: int) -> Iterator[Setting]:
    """Some settings of a cross that is too large to be written down."""
    chance = random.Random(1)
    for _ in range(10 * count):
        yield _setting([(axis, chance.choice([None, *axis.values])) for axis in axes])


def _changes(setting: Setting) -> int:
    return len(setting.hints) + len(setting.options) + len(setting.environment)
