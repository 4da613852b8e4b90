# SPDX-License-Identifier: BSD-3-Clause
"""Acceptance: each rule against the measurements that it selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from effio import text as fmt
from effio.judge import rules as data
from effio.judge import statistics
from effio.judge.rules import (
    Bounds,
    Floor,
    Limit,
    Linearity,
    Projection,
    Rule,
    RuleFile,
    Steady,
    Threshold,
    Valid,
)
from effio.judge.samples import Judged
from effio.judge.statistics import Summary
from effio.judge.verdicts import Ruling
from effio.store.details import Detail
from effio.store.records import Measurement

# A step of the axis may be off by this part: servers come whole.
_NEAR = 0.05


@dataclass(frozen=True)
class Picked:
    run: Judged
    m: Measurement


@dataclass(frozen=True)
class Step:
    """Of a rule over steps: value of the axis, what was measured, and what it had to be."""

    at: float
    sample: Summary
    value: float
    needed: float | None
    met: bool | None


@dataclass(frozen=True)
class Outcome:
    """What became of a rule. `limit` is what was asked for, in words; values in base units."""

    rule: Rule
    ruling: Ruling
    limit: str
    reason: str = ""
    value: float | None = None
    unit: str = ""
    sample: Summary | None = None
    steps: Sequence[Step] = ()
    runs: Sequence[Judged] = ()
    projection: Projection | None = None
    base: float | None = None  # what was measured where `value` is projected


@dataclass(frozen=True)
class Acceptance:
    rules: RuleFile
    outcomes: Sequence[Outcome]

    def count(self, ruling: Ruling) -> int:
        return sum(o.ruling is ruling for o in self.outcomes)

    @property
    def failed(self) -> bool:
        return self.count(Ruling.FAIL) > 0

    @property
    def verdict(self) -> str:
        if self.failed:
            return "NOT ACCEPTED"
        return "NOT DECIDED" if self.count(Ruling.OPEN) else "ACCEPTED"


class _Reached(Detail):
    reached: bool | None = None


class _Steadiness(Detail):
    steady: _Reached = _Reached()


class _OpenError(Exception):
    """The rule cannot be evaluated, because …"""


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
    plain: dict[str, object] = {
        "benchmark": run.benchmark,
        "pattern": m.pattern,
        "access": m.access,
        "ranks": m.ranks,
        "nodes": m.nodes,
        "backend": run.backend.name if run.backend else None,
        "file_system": run.file_system.type if run.file_system else None,
    }
    return plain.get(name)


def _same(found: object, wanted: object) -> bool:
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    numbers = (data.as_number(found), data.as_number(wanted))
    if None not in numbers:
        return numbers[0] == numbers[1]
    return found == wanted


def _matches(found: object, wanted: object) -> bool:
    if isinstance(wanted, Bounds):
        value = data.as_number(found)
        low, high = data.as_number(wanted.at_least), data.as_number(wanted.at_most)
        return (
            value is not None and (low is None or value >= low) and (high is None or value <= high)
        )
    if isinstance(wanted, list):
        return any(_same(found, one) for one in wanted)
    return _same(found, wanted)


def select(rule: Rule, runs: Sequence[Judged]) -> tuple[list[Picked], str]:
    """And, where that is nothing, the condition that left nothing."""
    picked = [Picked(run, m) for run in runs for m in run.result.measurements]
    for name, wanted in rule.select.items():
        left = [p for p in picked if _matches(coordinate(p, name), wanted)]
        if picked and not left:
            there = sorted({str(coordinate(p, name)) for p in picked})
            return [], fmt.plain(f"{name} {_wanted(wanted)}; there is {', '.join(there[:5])}", 300)
        picked = left
    return (_largest(picked, rule.at_largest) if rule.at_largest else picked), ""


def _wanted(wanted: object) -> str:
    if isinstance(wanted, Bounds):
        bounds = (("at least", wanted.at_least), ("at most", wanted.at_most))
        return " and ".join(f"{sign} {_number(v)}" for sign, v in bounds if v is not None)
    return " or ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted)


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.12g}"


def _largest(picked: Sequence[Picked], axis: str) -> list[Picked]:
    placed = [(data.as_number(coordinate(p, axis)), p) for p in picked]
    most = max((at for at, _ in placed if at is not None), default=None)
    return [p for at, p in placed if at is None or at == most]


def accept(
    rules: RuleFile,
    runs: Sequence[Judged],
    projections: Mapping[str, tuple[Projection, Sequence[Judged]]] | None = None,
) -> Acceptance:
    """`projections` by rule, each with the runs that it is based on."""
    known = {rule.id for rule in rules.rule}
    for name in projections or {}:
        if name not in known:
            raise ValueError(f"a projection is for the rule '{name}', which there is not")
    return Acceptance(
        rules, [_outcome(rule, runs, (projections or {}).get(rule.id)) for rule in rules.rule]
    )


def _outcome(
    rule: Rule, runs: Sequence[Judged], projected: tuple[Projection, Sequence[Judged]] | None
) -> Outcome:
    blank = Outcome(rule, Ruling.OPEN, limit_text(rule))
    judged_runs = projected[1] if projected else runs
    picked, lacking = select(rule, judged_runs)
    blank = replace(blank, runs=list({p.run.name: p.run for p in picked}.values()))
    if projected:
        blank = replace(blank, projection=projected[0])
    try:
        _usable(rule, picked, lacking)
        return _project(blank, rule, picked) if projected else _judge(blank, rule, picked)
    except _OpenError as error:
        return replace(blank, reason=str(error))


def limit_text(rule: Rule) -> str:
    if isinstance(rule, Threshold):
        sign, value, unit = rule.bound()
        return f"{rule.statistic} {sign} {fmt.quantity(value, unit)}"
    if isinstance(rule, Linearity):
        return f"within {fmt.percent(rule.tolerance)} of linear in {rule.axis}"
    if isinstance(rule, Floor):
        of = f"of {rule.optimum}" if rule.optimum else "of the best step"
        return f"{fmt.percent(rule.share)} {of} at every step of {rule.axis}"
    if isinstance(rule, Steady):
        return "steady" + (f" within {rule.within}" if rule.within else "")
    return f"at most {rule.at_most}" if isinstance(rule, Limit) else "no error"


def _usable(rule: Rule, picked: Sequence[Picked], lacking: str) -> None:
    if not picked:
        raise _OpenError("not measured" + (f": {lacking}" if lacking else ""))
    if any(p.run.result.run.clock.virtual for p in picked):
        raise _OpenError("measured in virtual time: a model's rates are no system's")
    if isinstance(rule, Valid):
        return
    bad = [p for p in picked if not p.m.valid or p.m.rate.value is None]
    if bad:
        why = bad[0].m.invalid_reason or bad[0].m.rate.reason or "no rate"
        raise _OpenError(f"{len(bad)} of {len(picked)} invalid ({bad[0].run.name}: {why})")
    if rule.from_storage:
        cached = [p for p in picked if p.m.cache is not None and p.m.cache.verdict == "cache"]
        if cached:
            raise _OpenError(f"{len(cached)} of {len(picked)} came from a cache")


def _sample(rule: Rule, picked: Sequence[Picked], where: str = "") -> tuple[Summary, float, str]:
    """With the statistic that counts, and its unit."""
    units = {p.m.rate.unit for p in picked}
    if len(units) > 1:
        raise _OpenError(f"several units: {', '.join(sorted(units))}")
    values = [p.m.rate.value for p in picked if p.m.rate.value is not None]
    told = statistics.summary(values)
    assert told is not None
    if told.count < rule.repetitions:
        raise _OpenError(
            f"{fmt.count_of(told.count, 'repetition')}{where}, {rule.repetitions} needed"
        )
    if rule.cov is not None:
        if told.cov is None:
            raise _OpenError("one repetition has no variation (COV)")
        if told.cov > rule.cov:
            raise _OpenError(f"COV {told.cov:.3f}{where} above {rule.cov:g}: too much variation")
    value = {"mean": told.mean, "median": told.median, "min": told.min, "max": told.max}
    return told, value[rule.statistic], units.pop()


def _one_workload(picked: Sequence[Picked]) -> None:
    """A mean over different numbers of ranks is none of anything."""
    labels = {f"label.{name}" for p in picked for name in p.run.labels if name != "system"}
    for name in ("ranks", "nodes", *sorted(labels)):
        values = {coordinate(p, name) for p in picked}
        if len(values) > 1:
            told = ", ".join(sorted(map(str, values), key=len))
            raise _OpenError(f"measured with different {name} ({told}): select one")


def _judge(blank: Outcome, rule: Rule, picked: Sequence[Picked]) -> Outcome:
    judges: Mapping[type, Callable[..., Outcome]] = {
        Threshold: _threshold,
        Linearity: _linearity,
        Floor: _floor,
        Steady: _steady,
        Valid: _valid,
        Limit: _limit,
    }
    return judges[type(rule)](blank, rule, picked)


def _ruled(blank: Outcome, met: bool, reason: str = "") -> Outcome:
    return replace(blank, ruling=Ruling.PASS if met else Ruling.FAIL, reason=reason)


def _threshold(blank: Outcome, rule: Threshold, picked: Sequence[Picked]) -> Outcome:
    _one_workload(picked)
    sample, value, unit = _sample(rule, picked)
    _check_unit(unit, rule.bound()[2])
    found = replace(blank, sample=sample, value=value, unit=unit)
    return _ruled(found, rule.met(value))


def _check_unit(unit: str, wanted: str) -> None:
    if unit != wanted:
        raise _OpenError(f"measured in {unit}, asked for in {wanted}")


def _project(blank: Outcome, rule: Rule, picked: Sequence[Picked]) -> Outcome:
    """The projected value is judged; what it is based on has to be measured."""
    assert blank.projection is not None
    if not isinstance(rule, Threshold):
        raise _OpenError(f"a projection says nothing of a rule of kind {rule.kind}")
    value, unit = data.quantity(blank.projection.value)
    _check_unit(unit, rule.bound()[2])
    sample, base, measured = _sample(rule, picked)
    _check_unit(measured, unit)
    found = replace(blank, sample=sample, value=value, unit=unit, base=base)
    reason = f"projected: {blank.projection.method}; measured base {fmt.quantity(base, unit)}"
    return _ruled(found, rule.met(value), reason)


def _by_step(
    rule: Linearity | Floor, picked: Sequence[Picked]
) -> tuple[list[tuple[float, Summary, float]], str]:
    """Value of the axis, sample and statistic, in order; and the unit."""
    groups: dict[float, list[Picked]] = {}
    for p in picked:
        told = coordinate(p, rule.axis)
        at = data.as_number(told)
        if at is None or at <= 0:
            hint = ": label it, NAME=NUMBER:RUN" if rule.axis.startswith("label.") else ""
            raise _OpenError(f"{p.run.name} has no {rule.axis}{hint}")
        groups.setdefault(at, []).append(p)
    if len(groups) < 2:
        raise _OpenError(f"only one step of {rule.axis}")
    largest = max(groups)
    for part in rule.steps:
        if not any(abs(at / largest - part) <= _NEAR for at in groups):
            raise _OpenError(f"no step at {part:.2g} of the largest {rule.axis} ({largest:g})")
    units, found = set(), []
    for at in sorted(groups):
        sample, value, unit = _sample(rule, groups[at], f" at {at:g}")
        found.append((at, sample, value))
        units.add(unit)
    if len(units) > 1:
        raise _OpenError(f"several units: {', '.join(sorted(units))}")
    return found, units.pop()


def _over_steps(
    blank: Outcome, found: Sequence[tuple[float, Summary, float]], unit: str,
    needed: Callable[[float], float],
) -> Outcome:  # fmt: skip
    steps = [Step(at, s, value, needed(at), value >= needed(at)) for at, s, value in found]
    worst = min(steps, key=lambda s: s.value / s.needed if s.needed else 0.0)
    values = [fmt.quantity(v, unit) for v in (worst.value, worst.needed)]
    told = "" if worst.met else f"at {worst.at:g}: {values[0]}, needed {values[1]}"
    outcome = replace(blank, steps=steps, unit=unit, value=worst.value, sample=worst.sample)
    return _ruled(outcome, all(s.met for s in steps), told)


def _linearity(blank: Outcome, rule: Linearity, picked: Sequence[Picked]) -> Outcome:
    found, unit = _by_step(rule, picked)
    first, _, rate = found[0]
    outcome = _over_steps(blank, found, unit, lambda at: rate * at / first * (1 - rule.tolerance))
    above = [at for at, _, v in found if v > rate * at / first * (1 + rule.tolerance)]
    if above and outcome.ruling is Ruling.PASS:
        told = ", ".join(f"{at:g}" for at in above)
        reason = f"above linear at {told}: the smallest step was held back, or a cache took part"
        return replace(outcome, reason=reason)
    return outcome


def _floor(blank: Outcome, rule: Floor, picked: Sequence[Picked]) -> Outcome:
    found, unit = _by_step(rule, picked)
    best = max(value for _, _, value in found)
    if rule.optimum is not None:
        best, wanted = data.quantity(rule.optimum)
        _check_unit(unit, wanted)
    return _over_steps(blank, found, unit, lambda _: best * rule.share)


def _steady(blank: Outcome, rule: Steady, picked: Sequence[Picked]) -> Outcome:
    sample, value, unit = _sample(rule, picked)
    found = replace(blank, sample=sample, value=value, unit=unit)
    told = [_Steadiness.of(p.m).steady.reached for p in picked]
    unknown = sum(t is None for t in told)
    if unknown:
        raise _OpenError(f"{unknown} of {len(picked)} do not tell: measure with --steady")
    restless = sum(t is False for t in told)
    if restless:
        return _ruled(found, False, f"{restless} of {len(picked)} never became steady")
    if rule.within is not None:
        limit = data.quantity(rule.within)[0]
        late = [p.m.total_seconds for p in picked if p.m.total_seconds > limit]
        if late:
            return _ruled(found, False, f"{len(late)} took up to {fmt.duration(max(late))}")
    return _ruled(found, True)


def _valid(blank: Outcome, rule: Valid, picked: Sequence[Picked]) -> Outcome:
    faults = []
    for run in blank.runs:
        status = run.result.status
        if status != "done":
            faults.append(f"{run.name}: {status}")
    for p in picked:
        if not p.m.valid:
            faults.append(f"{p.run.name}: {p.m.invalid_reason or 'invalid'}")
        elif p.m.error_count:
            faults.append(f"{p.run.name}: {fmt.count_of(p.m.error_count, 'error')}")
    told = "; ".join(faults[:3]) + (f"; {len(faults) - 3} more" if len(faults) > 3 else "")
    return _ruled(blank, not faults, told)


def _limit(blank: Outcome, rule: Limit, picked: Sequence[Picked]) -> Outcome:
    sample, _, unit = _sample(rule, picked)
    limit, wanted = data.quantity(rule.at_most)
    _check_unit(unit, wanted)
    found = replace(blank, sample=sample, value=sample.max, unit=unit)
    return _ruled(found, sample.max <= limit)
