# SPDX-License-Identifier: BSD-3-Clause
"""tuning.json, and the files that carry what was found into a job (docs/tune.md)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from effio import text as fmt
from effio.judge import FEWEST, statistics
from effio.judge.repetitions import statement
from effio.judge.verdicts import Verdict
from effio.store import safe_files
from effio.store.folder import now_utc
from effio.tune.folder import Called, TuningFolder
from effio.tune.search import Confirmed, Outcome, State, Tried
from effio.tune.setting import Group
from effio.tune.space import Tuning

TUNING = "tuning.json"
HINTS = "hints"
ROMIO_HINTS = "romio-hints"
ENVIRONMENT = "environment.sh"


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Changes(_Part):
    """The changes of a setting."""

    hints: dict[str, str] = Field(default_factory=dict)
    options: dict[str, str] = Field(default_factory=dict)
    environment: dict[str, str] = Field(default_factory=dict)

    @property
    def text(self) -> str:
        reported = [f"{key}={value}" for key, value in self.hints.items()]
        reported += [f"--{key}={value}" for key, value in self.options.items()]
        return " ".join([*reported, *(f"{key}={value}" for key, value in self.environment.items())])


class Side(_Part):
    """One side of the confirmation: a value for each round, and their mean with its 95 %
    interval."""

    values: tuple[float, ...] = ()
    mean: float | None = None
    low95: float | None = None
    high95: float | None = None


class GroupRecord(_Part):
    """`seen` is the gain that the search saw, `gain` that of the confirmation."""

    access: str
    pattern: str
    chunk: str
    hints: dict[str, str]
    seen: float | None
    gain: float | None
    low95: float | None
    high95: float | None
    p_adjusted: float | None
    verdict: str
    kept: bool
    before: Side
    after: Side

    @property
    def group(self) -> Group:
        return Group(self.access, self.pattern, self.chunk)


class TriedRecord(_Part):
    """`gains` are in the order of `groups`."""

    id: str
    changes: Changes
    rounds: int
    gains: tuple[float | None, ...]
    fault: str = ""


class TuningRecord(_Part):
    schema_name: str = Field(
        default="effio-tuning/1", alias="schema", pattern=r"^effio-tuning/1(\.\d+)?$"
    )
    name: str
    title: str
    finished: str
    state: State
    why: str
    benchmark: str
    workload: tuple[str, ...]  # the engine's arguments
    unit: str  # of the values; empty where they are of several
    ranks: int
    directory: str
    job: Changes  # what was found to hold for the whole job
    groups: tuple[GroupRecord, ...]
    tried: tuple[TriedRecord, ...]
    left_out: int
    runs: int
    seconds: float
    called: Called
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        return json.dumps(self.model_dump(by_alias=True), indent=2)


def record_of(name: str, tuning: Tuning, called: Called, outcome: Outcome) -> TuningRecord:
    groups = [c.group for c in outcome.groups]
    job = outcome.setup.job if outcome.state == "gain" else outcome.chosen.job
    return TuningRecord(
        name=name,
        title=tuning.title,
        finished=now_utc(),
        state=outcome.state,
        why=outcome.why,
        benchmark=tuning.benchmark,
        workload=tuning.words(),
        unit=outcome.unit,
        ranks=called.ranks,
        directory=called.directory,
        job=Changes(options=dict(job.options), environment=dict(job.environment)),
        groups=tuple(_group(c, outcome) for c in outcome.groups),
        tried=tuple(_tried(t, groups) for t in outcome.tried),
        left_out=outcome.left_out,
        runs=outcome.runs,
        seconds=round(outcome.seconds, 3),
        called=called,
        notes=tuple(outcome.notes),
    )


def _group(c: Confirmed, outcome: Outcome) -> GroupRecord:
    ratio = c.ratio
    return GroupRecord(
        access=c.group.access,
        pattern=c.group.pattern,
        chunk=c.group.chunk,
        hints=dict(c.hints.hints),
        seen=c.seen,
        gain=ratio.value if ratio else None,
        low95=ratio.low if ratio else None,
        high95=ratio.high if ratio else None,
        p_adjusted=c.p,
        verdict=c.verdict.text,
        kept=outcome.state == "gain" and c.verdict is Verdict.FASTER,
        before=_side(c.before),
        after=_side(c.after),
    )


def _side(values: object) -> Side:
    some = tuple(float(v) for v in values) if isinstance(values, (list, tuple)) else ()
    reported, found = statistics.summary(some), statement(some)
    interval = found.interval if found is not None else None
    return Side(
        values=some,
        mean=reported.mean if reported else None,
        low95=interval.low if interval else None,
        high95=interval.high if interval else None,
    )


def _tried(t: Tried, groups: list[Group]) -> TriedRecord:
    s = t.setting
    return TriedRecord(
        id=s.id,
        changes=Changes(
            hints=dict(s.hints), options=dict(s.options), environment=dict(s.environment)
        ),
        rounds=t.rounds,
        gains=tuple(t.gains.get(group) for group in groups),
        fault=t.fault,
    )


def load(folder: TuningFolder) -> TuningRecord | None:
    """None if it is not finished."""
    file = folder.path / TUNING
    try:
        return TuningRecord.model_validate(
            safe_files.json_of(safe_files.read_text(file, below=folder.runs.root))
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise safe_files.unreadable(file, error) from None


# Files for a job ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Common:
    """Hints as one list for a whole job: those on which all groups agree, and the others."""

    pairs: dict[str, str]
    torn: dict[str, list[str]]


def _common(record: TuningRecord) -> _Common:
    wanted: dict[str, list[str]] = {}
    for group in record.groups:
        for key, value in (group.hints if group.kept else {}).items():
            if value not in wanted.setdefault(key, []):
                wanted[key].append(value)
    pairs = {key: values[0] for key, values in wanted.items() if len(values) == 1}
    return _Common(pairs, {key: values for key, values in wanted.items() if len(values) > 1})


def hints_text(record: TuningRecord) -> str:
    """Rules for the engine's --hints; empty without hints."""
    lines = []
    for group in record.groups:
        if group.kept and group.hints:
            reported = f"{group.group.title}: {gain_text(group)}"
            lines += ["", f"# {fmt.plain(reported)}"]
            lines += [group.group.rule(key, value) for key, value in group.hints.items()]
    if not lines:
        return ""
    head = [
        f"# Found by effio tune, {record.name}, for:",
        f"# effio-mpi {fmt.plain(shlex.join([record.benchmark, *record.workload]), 500)}",
        "# processes access pattern chunk key value",
    ]
    return "\n".join([*head, *lines]) + "\n"


def romio_text(record: TuningRecord) -> str:
    """What ROMIO reads from the file that ROMIO_HINTS names; empty without hints."""
    return "".join(f"{key} {value}\n" for key, value in _common(record).pairs.items())


def environment_text(record: TuningRecord, place: str) -> str:
    """Lines of sh for a job script."""
    return "\n".join(_environment(record, place)) + "\n"


def _environment(record: TuningRecord, place: str) -> Iterator[str]:
    yield f"# Found by effio tune, {record.name}: lines for a job script."
    common = _common(record)
    if common.pairs:
        yield "# ROMIO takes these hints for every file of the job; a program that sets hints"
        yield "# itself keeps its own. Other libraries take them through MPI_Info only."
        yield f"export ROMIO_HINTS={shlex.quote(f'{place}/{ROMIO_HINTS}')}"
    for key, values in common.torn.items():
        yield f"# {fmt.plain(key)} is best as {fmt.plain(' or '.join(values))}, see the file hints:"
        yield "# one value for the whole job was not measured."
    for key, value in record.job.environment.items():
        yield f"export {key}={shlex.quote(value)}"
    for key, value in record.job.options.items():
        yield f"# option of effio-mpi: {shlex.quote(f'--{key}={value}')}"


def gain_text(group: GroupRecord) -> str:
    if group.gain is None:
        return "not confirmed"
    spread = spread_text(group)
    return f"{group.gain:.3f} times the default{f' ({spread})' if spread else ''}"


def spread_text(group: GroupRecord) -> str:
    """ "1.020 to 1.310 (95 %)"; of fewer than five pairs "1.100 to 1.200 (range of 3)": they have
    no interval (judge/repetitions.py), although the verdict counts with their deviation."""
    ratios = [b / a for a, b in zip(group.before.values, group.after.values, strict=False) if a > 0]
    if len(ratios) >= FEWEST and group.low95 is not None and group.high95 is not None:
        return f"{group.low95:.3f} to {group.high95:.3f} (95 %)"
    if not 1 < len(ratios) < FEWEST:
        return ""
    return f"{min(ratios):.3f} to {max(ratios):.3f} (range of {len(ratios)})"


def write(folder: TuningFolder, record: TuningRecord) -> list[str]:
    """Names of the files that are to be used; none where nothing helps."""
    written = []
    if record.state == "gain":
        texts = {HINTS: hints_text(record), ROMIO_HINTS: romio_text(record)}
        for name, text in texts.items():
            if text:
                folder.write(name, text)
                written.append(name)
        folder.write(ENVIRONMENT, environment_text(record, str(folder.path.absolute())))
        written.append(ENVIRONMENT)
    folder.write(TUNING, record.to_json() + "\n")
    return written
