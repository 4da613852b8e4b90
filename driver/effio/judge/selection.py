# SPDX-License-Identifier: BSD-3-Clause
"""Which measurements a rule selects, and by what one differs from another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effio import text as fmt
from effio.config.toml_file import nearest
from effio.judge import rules as data
from effio.judge.rules import Bounds, ResultRow, Rule
from effio.judge.samples import Judged, key_of
from effio.store.reader import Result
from effio.store.records import Figure, FileSystem, Measurement, System
from effio.store.values import as_count


@dataclass(frozen=True)
class Picked:
    """A measurement of a run, or a figure in the form of one."""

    run: Judged
    m: Measurement


def _of_figure(figure: Figure, result: Result) -> Measurement:
    """A figure as a measurement of the whole run: its name is the pattern, and it has no evidence
    about caches."""
    system = result.run.system
    known = figure.metric.value is not None
    return Measurement(
        benchmark=figure.benchmark,
        pattern=figure.name,
        access="",
        where=figure.where,
        ranks=system.ranks,
        nodes=system.nodes,
        bytes=0,
        operations=0,
        seconds={},
        rate=figure.metric,
        valid=known and figure.valid is not False,
        invalid_reason="; ".join(figure.reasons) or figure.metric.reason,
        detail=figure.detail,
    )


def _offered(rule: Rule | ResultRow, runs: Sequence[Judged]) -> tuple[list[Picked], str]:
    """Everything that a rule can select from; if there is nothing, a hint at what exists."""
    if not rule.figure:
        return [Picked(run, m) for run in runs for m in run.result.measurements], ""
    found = [
        Picked(run, _of_figure(f, run.result))
        for run in runs
        for f in run.result.figures
        if f.name == rule.figure
    ]
    names = list(dict.fromkeys(f.name for run in runs for f in run.result.figures))
    there = f"{nearest(rule.figure, names)}" if names else "; there is no figure"
    return found, "" if found else f"no figure '{fmt.plain(rule.figure, 100)}'{there}"


def step_of(run: Judged) -> str | None:
    """The step of the campaign that the run is part of; else its label `step`."""
    record = run.result.record
    part = record.campaign if record is not None else None
    return run.labels.get("step") or (part.step if part is not None else None)


def coordinate(picked: Picked, name: str) -> object:
    """What a rule calls by this name; None if there is none."""
    run, m = picked.run.result.run, picked.m
    head, _, rest = name.partition(".")
    if head == "where" and rest:
        return m.where.get(rest)
    if head == "options" and rest:
        return run.options.get(rest)
    if head == "label" and rest:
        return picked.run.labels.get(rest)
    if name == "step":
        return step_of(picked.run)
    plain: dict[str, object] = {
        "benchmark": run.benchmark,
        "pattern": m.pattern,
        "access": m.access,
        "ranks": m.ranks,
        "nodes": m.nodes,
        "backend": run.backend.name if run.backend else None,
        "file_system": run.file_system.type if run.file_system else None,
        "ranks_per_node": run.system.least_ranks_per_node,
        "ranks_per_core": _ranks_per_core(run.system),
        "in_memory": run.in_memory if run.file_system or run.simulated else None,
        "stripe_count": _stripe_count(run.file_system),
    }
    return plain.get(name)


def _ranks_per_core(system: System) -> float | None:
    """At least 1 if the nodes are fully packed. Where a result does not have the physical cores of
    a node, as many ranks as logical processors are enough in any case."""
    ranks, cores = system.least_ranks_per_node, as_count(system.cpu.get("cores"))
    if ranks and cores:
        return ranks / cores
    logical = as_count(system.cpu.get("logical_cpus"))
    return ranks / logical if ranks and logical and ranks >= logical else None


def _stripe_count(file_system: FileSystem | None) -> int | None:
    striping = file_system.striping if file_system is not None else None
    return as_count(striping.get("count")) or None if striping else None


def _same(found: object, wanted: object) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    numbers = (data.as_number(found), data.as_number(wanted))
    if None not in numbers:
        return numbers[0] == numbers[1]
    return found == wanted


def matches(found: object, wanted: object) -> bool:
    """`wanted`: a value, one of a list, or bounds."""
    if isinstance(wanted, Bounds):
        value = data.as_number(found)
        low, high = data.as_number(wanted.at_least), data.as_number(wanted.at_most)
        return (
            value is not None and (low is None or value >= low) and (high is None or value <= high)
        )
    if isinstance(wanted, list):
        return any(_same(found, one) for one in wanted)
    return _same(found, wanted)


def select(rule: Rule | ResultRow, runs: Sequence[Judged]) -> tuple[list[Picked], str]:
    """And, where that is nothing, the condition that left nothing."""
    picked, missing = _offered(rule, runs)
    if missing:
        return [], missing
    for name, wanted in rule.select.items():
        left = [p for p in picked if matches(coordinate(p, name), wanted)]
        if picked and not left:
            values = [coordinate(p, name) for p in picked]
            there = sorted({"none" if v in (None, "") else str(v) for v in values})
            if name == "step" and there == ["none"]:
                first = wanted[0] if isinstance(wanted, list) else wanted
                return [], (
                    f"no run is of a campaign's step {wanted_text(wanted)};"
                    f" label it, step={first}:RUN"
                )
            return [], fmt.plain(
                f"{name} {wanted_text(wanted)} (measured: {', '.join(there[:5])})", 300
            )
        picked = left
    return (_largest(picked, rule.at_largest) if rule.at_largest else picked), ""


def wanted_text(wanted: object) -> str:
    if isinstance(wanted, Bounds):
        bounds = (("at least", wanted.at_least), ("at most", wanted.at_most))
        return " and ".join(f"{sign} {_number(v)}" for sign, v in bounds if v is not None)
    if isinstance(wanted, list):
        return " or ".join(map(wanted_text, wanted))
    if isinstance(wanted, bool):
        return "yes" if wanted else "no"
    return str(wanted)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _largest(picked: Sequence[Picked], axis: str) -> list[Picked]:
    placed = [(data.as_number(coordinate(p, axis)), p) for p in picked]
    most = max((at for at, _ in placed if at is not None), default=None)
    return [p for at, p in placed if at is None or at == most]


def coordinates(picked: Picked) -> dict[str, object]:
    """All that says what was measured."""
    key = key_of(picked.m)
    own = {n: v for n, v in key.axes if n not in ("ranks", "nodes")}
    labels = {f"label.{n}": v for n, v in picked.run.labels.items() if n not in ("system", "step")}
    plain = ("step", "benchmark", "pattern", "access", "ranks", "nodes", "backend")
    return {
        **{name: coordinate(picked, name) for name in plain},
        **{f"where.{name}": value for name, value in own.items()},
        **labels,
    }
