# SPDX-License-Identifier: BSD-3-Clause
"""How two sets of runs differ apart from their numbers: likely reasons, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from effio.judge.samples import Judged, Scalar
from effio.store.option_values import SETTINGS, UNITS, option_text
from effio.store.reader import Result

# Options that say where, how watched or how often, or which backend: none changes what one
# measured cell is.
_NO_WORKLOAD = frozenset(
    {
        "result", "manifest", "dir", "more-dirs", "also-dir", "name", "prefix", "backend",
        "backend-options", "hint", "hints", "kernel-hints", "max-bytes", "keep", "overwrite",
        "quiet", "progress", "watchdog", "agree-deadline", "call-times", "repetitions",
        "iterations", "seed", "rank-details", "save-rank-details", "save-calls", "slowest",
        "time-limit", "count-file", "stonewall-file", "keep-on-errors", "stop-on-errors",
        "make-dir", "count", "phases", "ranks", "plan", "plan-json", "plan-ranks",
        "plan-ranks-per-node", "plan-rate", "plan-memory", "plan-free", "run-before-phase",
        "run-after-phase", "until-ci", "until-ci-least", "until-ci-limit", "rounds", "clock",
        "verify-memory", "save-ranks", "exact-name", "trial", "tried", "stripe-count",
        "stripe-size", "stripe-start", "stripe-pool",
    }
)  # fmt: skip
# Options that list numbers of ranks.
_LISTS_OF_RANKS = frozenset({"partitions"})
_BENCHMARK = ("run", "benchmark")
_OF_ONE_RUN = frozenset({"result", "manifest", "seed", "progress", "quiet", "dir"})


@dataclass(frozen=True)
class Difference:
    """`values` of the first and of the second side, each with all that occur there."""

    kind: str
    name: str
    first: str
    second: str


def _text(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return str(value)


def _members(
    kind: str, values: Mapping[str, object], units: Mapping[str, str] | None = None
) -> Iterator[tuple[tuple[str, str], str]]:
    """`units` are those of plain numbers."""
    for name, value in values.items():
        plain = units is not None and value not in ("", None)
        yield (kind, name), option_text(name, value, units or {}) if plain else _text(value)


def facts(result: Result) -> dict[tuple[str, str], str]:
    """Facts by kind and name, the likeliest reason for another rate first."""
    run = result.run
    system, fs, engine = run.system, run.file_system, run.engine
    known: list[tuple[tuple[str, str], str]] = [(_BENCHMARK, result.benchmark)]
    if fs is not None:
        known += [
            (("storage", "file system"), _text(fs.type)),
            (("storage", "source"), _text(fs.source)),
            (("storage", "mounted at"), _text(fs.mount_point)),
            (("storage", "in memory"), _text(fs.memory_backed)),
            (("storage", "striping"), _text(fs.striping)),
            (("storage", "mount options"), _text(fs.options)),
        ]
    if run.backend is not None:
        known.append((("storage", "backend"), run.backend.name))
        known += _members("backend setting", run.backend.settings, SETTINGS)
    known += [
        (("size", "ranks"), str(system.ranks)),
        (("size", "nodes"), str(system.nodes)),
    ]
    known += _members("hint", _hints(result))
    known += _members(
        "option",
        {n: v for n, v in run.options.items() if n not in _OF_ONE_RUN and v is not None},
        UNITS,
    )
    known += [
        (("software", "MPI"), " ".join(system.mpi.library.split())[:200]),
        *_members("variable", system.mpi.environment),
        (("software", "engine"), f"{engine.version} ({engine.revision})"),
        (("software", "compiler"), f"{engine.compiler} {engine.flags}".strip()),
        (("machine", "processor"), _text(system.cpu.get("model"))),
        (("machine", "CPUs of a node"), _text(system.cpu.get("logical_cpus"))),
        (("machine", "memory of a node"), _text(system.memory.get("node_total_bytes"))),
        (("machine", "nodes"), ", ".join(system.node_names[:16])),
        (("machine", "kernel"), _text(system.kernel.get("release"))),
        (("machine", "distribution"), _text(system.kernel.get("distribution"))),
        *_members("kernel setting", _dict(system.kernel.get("vm"))),
        (("machine", "virtual time"), _text(run.clock.virtual)),
    ]
    return dict(known)


def _dict(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _hints(result: Result) -> dict[str, object]:
    """The hints as granted, else as requested."""
    found: dict[str, object] = {}
    for m in result.measurements:
        found |= m.hints_asked
        found |= m.hints_granted
    return found


def differences(first: Sequence[Judged], second: Sequence[Judged]) -> list[Difference]:
    """Facts in which the runs of the two sides are not the same."""
    sides = [[facts(run.result) for run in side] for side in (first, second)]
    names = dict.fromkeys(name for side in sides for one in side for name in one)
    benchmarks = [{one[_BENCHMARK] for one in side} for side in sides]
    others = benchmarks[0].isdisjoint(benchmarks[1])  # each has its own options
    found = []
    for name in names:
        texts = [" | ".join(_unique(one.get(name, "–") for one in side)) for side in sides]
        if texts[0] != texts[1] and (name[0] != "option" or not others):
            found.append(Difference(*name, *texts))
    return found


def _unique(values: Iterable[str]) -> list[str]:
    return sorted(set(values))


def workload(run: Judged) -> frozenset[tuple[str, str]]:
    """The options that say what is measured, with their values."""
    return frozenset(
        (name, _text(value))
        for name, value in run.result.run.options.items()
        if not isinstance(value, list) and name not in _NO_WORKLOAD
    )


def other_workload(
    first: Judged, second: Judged, axes: Iterable[tuple[str, Scalar]], across: frozenset[str]
) -> str:
    """The options by which two runs do different things although the axes of a measurement are the
    same; empty if none does. A list is a sweep where a member of both is the value of an axis."""
    options = [run.result.run.options for run in (first, second)]
    if options[0] == options[1]:
        return ""
    axes = list(axes)
    if "ranks" in across:
        across = across | _LISTS_OF_RANKS
    reported_by_axis = {name.removesuffix("_bytes").replace("_", "-") for name, _ in axes}
    values = [value for _, value in axes]
    # An option that one of the two engines does not know yet has no value there.
    differing = [
        f"--{name} {_text(options[0][name])} / {_text(options[1][name])}"
        for name in options[0]
        if name in options[1]
        and options[0][name] != options[1][name]
        and not _swept(options[0][name], options[1][name], values)
        and name not in _NO_WORKLOAD | reported_by_axis | across
    ]
    return ", ".join(differing)


def _swept(first: object, second: object, axes: Sequence[Scalar]) -> bool:
    """Both are lists that have the value of an axis: each member is a separate measurement."""
    if not (isinstance(first, list) and isinstance(second, list)):
        return False
    return any(value in first and value in second for value in axes)
