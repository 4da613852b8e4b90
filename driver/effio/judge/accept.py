# SPDX-License-Identifier: BSD-3-Clause
"""Acceptance: each rule against the measurements that it selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from effio import text as fmt
from effio.judge import gather, guard, remarks, statistics
from effio.judge import rules as data
from effio.judge.conditions import compared, conditions_text
from effio.judge.differences import other_workload
from effio.judge.guard import Guard, StepGuard
from effio.judge.outcomes import Acceptance, Outcome, Step
from effio.judge.rules import (
    Condition,
    Floor,
    Limit,
    Linearity,
    Projection,
    ResultRow,
    Rule,
    RuleFile,
    Steady,
    Threshold,
    Valid,
)
from effio.judge.samples import Judged, key_of
from effio.judge.selection import Picked, coordinate, coordinates, select
from effio.judge.statistics import Summary
from effio.judge.verdicts import Ruling
from effio.store.members import members_of

# A step of the axis may be off by this part: servers come whole.
_NEAR = 0.05


class OpenError(Exception):
    """The rule cannot be evaluated, because …"""


def accept(
    rules: RuleFile,
    runs: Sequence[Judged],
    projections: Mapping[str, tuple[Projection, Sequence[Judged]]] | None = None,
    rehearse: bool = False,
) -> Acceptance:
    """`projections` by rule, each with the runs that it is based on. `rehearse`: judge simulated
    results, too, to try rules and campaign together; the location of the bytes is not checked then,
    because it is not simulated."""
    known = {rule.id for rule in rules.rule}
    for name in projections or {}:
        if name not in known:
            raise ValueError(f"a projection names the rule '{name}', which does not exist")
    outcomes = [
        _outcome(rule, runs, (projections or {}).get(rule.id), rehearse) for rule in rules.rule
    ]
    return Acceptance(rules, outcomes, rehearse)


def _outcome(
    rule: Rule,
    runs: Sequence[Judged],
    projected: tuple[Projection, Sequence[Judged]] | None,
    rehearse: bool,
) -> Outcome:
    blank = Outcome(rule, Ruling.OPEN, limit_text(rule))
    judged_runs = projected[1] if projected else runs
    picked, lacking = select(rule, judged_runs)
    blank = replace(blank, runs=list({p.run.name: p.run for p in picked}.values()))
    if projected:
        blank = replace(blank, projection=projected[0])
    try:
        _usable(rule, picked, lacking, rehearse)
        found = _project(blank, rule, picked) if projected else _judge(blank, rule, picked)
        scaled = gather.scales_text(found.runs) if found.value is not None else ""
        return replace(found, reason=_and(found.reason, scaled))
    except OpenError as error:
        failed = None if projected else _failed_all_the_same(blank, rule, picked, rehearse)
        return replace(failed or blank, reason=_and(failed.reason if failed else "", str(error)))


def _and(*reasons: str) -> str:
    return "; ".join(filter(None, reasons))


def _failed_all_the_same(
    blank: Outcome, rule: Rule, picked: Sequence[Picked], rehearse: bool
) -> Outcome | None:
    """A failed value decides even if others are undecided: missing values cannot change that. Too
    few repetitions do not count as a measurement."""
    usable = [p for p in picked if p.m.valid and p.m.rate.value is not None]
    if not usable or (not rehearse and any(map(_is_simulated, usable))):
        return None
    eased = rule.model_copy(
        update={"cov": None, "steps": [], "evidence": [], "from_storage": False}
    )
    try:
        found = _judge(blank, eased, usable)
    except OpenError:
        return None
    return found if found.ruling is Ruling.FAIL else None


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
    if isinstance(rule, Condition):
        return conditions_text(rule.demand)
    return f"at most {rule.at_most}" if isinstance(rule, Limit) else "no error"


def _is_simulated(picked: Picked) -> bool:
    return picked.run.result.run.simulated


def _usable(rule: Rule, picked: Sequence[Picked], lacking: str, rehearse: bool) -> None:
    if not picked:
        raise OpenError("not measured" + (f": {lacking}" if lacking else ""))
    if not rehearse and any(map(_is_simulated, picked)):
        raise OpenError("simulated (virtual time or backend null): not the rates of a system")
    if isinstance(rule, (Valid, Condition)):
        return
    bad = [p for p in picked if not p.m.valid or p.m.rate.value is None]
    if bad:
        why = bad[0].m.invalid_reason or bad[0].m.rate.reason or "no rate"
        what = "without a rate" if all(p.m.valid for p in bad) else "invalid"
        raise OpenError(f"{len(bad)} of {len(picked)} {what} ({bad[0].run.name}: {why})")
    if wanted := rule.wanted_evidence:
        real = [p for p in picked if not (rehearse and _is_simulated(p))]
        reported = [p.m.cache.verdict if p.m.cache is not None else "none" for p in real]
        counts = {
            word: reported.count(word) for word in sorted(set(reported)) if word not in wanted
        }
        if counts:
            found = ", ".join(f"{count} {word}" for word, count in counts.items())
            raise OpenError(
                f"evidence of {sum(counts.values())} of {len(picked)} is not"
                f" {' or '.join(wanted)}: {found}"
            )


def _sample(rule: Rule, picked: Sequence[Picked], where: str = "") -> tuple[Summary, float, str]:
    """The summary, with the statistic that counts, and its unit."""
    units = {p.m.rate.unit for p in picked}
    if len(units) > 1:
        raise OpenError(f"several units: {', '.join(sorted(units))}")
    values = [p.m.rate.value for p in picked if p.m.rate.value is not None]
    reported = statistics.summary(values)
    assert reported is not None
    if reported.count < rule.repetitions:
        raise OpenError(
            f"{fmt.count_of(reported.count, 'repetition')}{where}, {rule.repetitions} needed"
        )
    if rule.cov is not None:
        if reported.cov is None:
            raise OpenError("one repetition has no variation (COV)")
        if reported.cov > rule.cov:
            raise OpenError(f"COV {reported.cov:.3f}{where} above {rule.cov:g}: too much variation")
    value = {
        "mean": reported.mean,
        "median": reported.median,
        "min": reported.min,
        "max": reported.max,
    }
    return reported, value[rule.statistic], units.pop()


def one_workload(
    rule: Rule | ResultRow, picked: Sequence[Picked], varying: Sequence[str] = ()
) -> None:
    """A mean over different things is the mean of nothing. `varying` is what may differ next to
    `across`."""
    allowed = {*rule.across, *varying}
    every = [coordinates(p) for p in picked]
    differing = []
    for name in dict.fromkeys(name for one in every for name in one):
        values = {str(one.get(name)) for one in every}
        if len(values) > 1 and name not in allowed:
            reported = ", ".join(sorted(values, key=lambda text: (len(text), text)))
            differing.append(f"{name} ({reported})")
    across = frozenset(name.partition(".")[2] for name in allowed if name.startswith("options."))
    axes = key_of(picked[0].m).axes
    options = (other_workload(picked[0].run, other.run, axes, across) for other in picked[1:])
    if first := next((words for words in options if words), ""):
        differing.append(f"options ({first})")
    if differing:
        one = "select one" if len(differing) == 1 else "select one of each"
        raise OpenError(f"measured with different {', '.join(differing)}: {one}")


def _judge(blank: Outcome, rule: Rule, picked: Sequence[Picked]) -> Outcome:
    judges: Mapping[type, Callable[..., Outcome]] = {
        Threshold: _threshold,
        Linearity: _linearity,
        Floor: _floor,
        Steady: _steady,
        Valid: _valid,
        Limit: _limit,
        Condition: _condition,
    }
    return judges[type(rule)](blank, rule, picked)


def _ruled(blank: Outcome, met: bool, reason: str = "") -> Outcome:
    return replace(blank, ruling=Ruling.PASS if met else Ruling.FAIL, reason=reason)


def _guarded(blank: Outcome, rule: Rule, reported: Guard, reason: str = "") -> Outcome:
    """Pass, fail, or too close to call."""
    found = replace(blank, wrong=reported.wrong)
    if reported.decides(rule.risk):
        every = (
            f"all values {'meet' if reported.met else 'miss'} the limit, although {reported.odd}"
        )
        return _ruled(found, reported.met, _and(every if reported.odd else "", reason))
    if reported.odd:
        return replace(
            found, ruling=Ruling.CLOSE, reason=_and(f"not reliable: {reported.odd}", reason)
        )
    if reported.wrong is None:
        why = "one value has no spread: its distance to the limit cannot be judged"
        return replace(found, ruling=Ruling.CLOSE, reason=_and(why, reason))
    would = (
        f"{reported.needed} repetitions would decide"
        if reported.needed
        else "no practical number of repetitions would decide"
    )
    side = "met" if reported.met else "not met"
    wrong = fmt.percent(reported.wrong)
    why = f"{side} by the value, but wrong with a probability of {wrong}; {would}"
    return replace(found, ruling=Ruling.CLOSE, reason=_and(why, reason), decides=reported.needed)


def _threshold(blank: Outcome, rule: Threshold, picked: Sequence[Picked]) -> Outcome:
    one_workload(rule, picked)
    sample, value, unit = _sample(rule, picked)
    _check_unit(unit, rule.bound()[2])
    found = replace(blank, sample=sample, value=value, unit=unit)
    if rule.statistic in ("min", "max"):  # of what was measured: there is nothing to infer
        return _ruled(found, rule.met(value))
    reported = guard.of_mean(_by_run(picked), rule.bound()[1], rule.met(value), rule.risk)
    return _guarded(found, rule, reported)


def _by_run(picked: Sequence[Picked]) -> list[list[float]]:
    runs: dict[str, list[float]] = {}
    for p in picked:
        if p.m.rate.value is not None:
            runs.setdefault(p.run.name, []).append(p.m.rate.value)
    return list(runs.values())


def _check_unit(unit: str, wanted: str) -> None:
    if unit != wanted:
        raise OpenError(f"measured in {unit}, requested in {wanted}")


def _project(blank: Outcome, rule: Rule, picked: Sequence[Picked]) -> Outcome:
    """The projected value is judged; what it is based on has to be measured."""
    assert blank.projection is not None
    if not isinstance(rule, Threshold):
        raise OpenError(f"a rule of kind {rule.kind} cannot be judged by a projection")
    value, unit = data.quantity(blank.projection.value)
    _check_unit(unit, rule.bound()[2])
    sample, base, measured = _sample(rule, picked)
    _check_unit(measured, unit)
    found = replace(blank, sample=sample, value=value, unit=unit, base=base)
    reason = f"projected: {blank.projection.method}; measured base {fmt.quantity(base, unit)}"
    return _ruled(found, rule.met(value), reason)


def _by_step(
    rule: Linearity | Floor, picked: Sequence[Picked]
) -> tuple[list[tuple[float, Summary, float]], list[list[float]], str]:
    """Value of the axis, sample and statistic, in order; all values of each; and the unit."""
    groups: dict[float, list[Picked]] = {}
    for p in picked:
        reported = coordinate(p, rule.axis)
        at = data.as_number(reported)
        if at is None or at <= 0:
            hint = ": label it, NAME=NUMBER:RUN" if rule.axis.startswith("label.") else ""
            raise OpenError(f"{p.run.name} has no {rule.axis}{hint}")
        groups.setdefault(at, []).append(p)
    if len(groups) < 2:
        raise OpenError(f"only one step of {rule.axis}")
    largest = max(groups)
    for part in rule.steps:
        if not any(abs(at / largest - part) <= _NEAR for at in groups):
            raise OpenError(
                f"no step at {fmt.few_digits(part, 2)} of the largest {rule.axis} ({largest:g})"
            )
    one_workload(rule, picked, (rule.axis, "ranks", "nodes", "where.workers"))
    units, found = set(), []
    for at in sorted(groups):
        one_workload(rule, groups[at])
        sample, value, unit = _sample(rule, groups[at], f" at {at:g}")
        found.append((at, sample, value))
        units.add(unit)
    if len(units) > 1:
        raise OpenError(f"several units: {', '.join(sorted(units))}")
    values = [[p.m.rate.value or 0.0 for p in groups[at]] for at in sorted(groups)]
    if min(map(min, values)) <= 0:
        raise OpenError("a rate of 0")
    return found, values, units.pop()


def _over_steps(
    blank: Outcome, rule: Linearity | Floor, found: Sequence[tuple[float, Summary, float]],
    unit: str, needed: Callable[[float], float], shares: Sequence[StepGuard | None], odd: str,
) -> Outcome:  # fmt: skip
    """All steps have to pass, each with the rule's risk. For a fail one is enough; the risk is
    shared out over them, so that many steps do not fail by chance."""
    steps = [
        Step(at, s, value, needed(at), value >= needed(at) * (1 - 1e-12), share)
        for (at, s, value), share in zip(found, shares, strict=True)
    ]
    judged = [s for s in steps if s.share is not None]
    worst = min(judged, key=lambda s: s.value / s.needed if s.needed else 0.0)
    values = [fmt.quantity(v, unit) for v in (worst.value, worst.needed)]
    reported = "" if worst.met else f"at {worst.at:g}: {values[0]}, needed {values[1]}"
    outcome = replace(blank, steps=steps, unit=unit, value=worst.value, sample=worst.sample)
    if odd and rule.risk < 0.5:
        # The value alone would decide if all repetitions agreed.
        if any(s.needed and s.sample.max < s.needed for s in judged):
            return _ruled(outcome, False, _and(reported, odd))
        if not all(s.needed is None or s.sample.min >= s.needed for s in judged):
            return replace(outcome, ruling=Ruling.CLOSE, reason=f"not reliable {odd}")
    alone = rule.risk if rule.risk >= 0.5 else rule.risk / len(judged)
    failed = [s for s in judged if not s.share.guard.met and s.share.guard.decides(alone)]  # type: ignore[union-attr]
    if failed:
        first = min(failed, key=lambda s: s.value / s.needed if s.needed else 0.0)
        wrong = first.share.guard.wrong if first.share else None
        return replace(_ruled(outcome, False, reported), wrong=wrong)
    open_ = [s for s in judged if not (s.share.guard.met and s.share.guard.decides(rule.risk))]  # type: ignore[union-attr]
    closest = max(open_ or judged, key=lambda s: _doubt(s.share.guard) if s.share else 0.0)
    assert closest.share is not None
    if not open_:
        return replace(_ruled(outcome, True), wrong=closest.share.guard.wrong)
    if closest.share.guard.wrong is None:
        why = f"one value at a step has no spread{', ' + reported if reported else ''}"
        return replace(outcome, ruling=Ruling.CLOSE, reason=why)
    share = closest.share
    many = share.guard.needed
    would = f"{many} repetitions at each step would decide" if many else ""
    span = f"{fmt.percent(share.low)} to {fmt.percent(share.high)}"
    why = f"at {closest.at:g} {fmt.percent(share.share)} of what is promised, {span} by chance"
    return replace(
        outcome, ruling=Ruling.CLOSE, reason=_and(why, would), wrong=share.guard.wrong, decides=many
    )


def _odd_steps(
    found: Sequence[tuple[float, Summary, float]], values: Sequence[Sequence[float]]
) -> str:
    """Steps whose mean is misleading because of their repetitions, with advice."""
    texts = [
        f"at {at:g}: {'; '.join(remark.text for remark in odd)}"
        for (at, _, _), some in zip(found, values, strict=True)
        if (odd := remarks.oddities(some))
    ]
    return "; ".join(texts)


def _doubt(reported: Guard) -> float:
    if reported.wrong is None:
        return 1.0
    return reported.wrong if reported.met else 1.0 - reported.wrong


def _linearity(blank: Outcome, rule: Linearity, picked: Sequence[Picked]) -> Outcome:
    found, values, unit = _by_step(rule, picked)
    first, _, rate = found[0]
    reported = guard.linearity([at for at, _, _ in found], values, 1 - rule.tolerance, rule.risk)

    def needed(at: float) -> float:
        return rate * at / first * (1 - rule.tolerance)

    odd = _odd_steps(found, values)
    outcome = _over_steps(blank, rule, found, unit, needed, [None, *reported.steps], odd)
    above = [at for at, _, v in found if v > rate * at / first * (1 + rule.tolerance)]
    if above and outcome.ruling is Ruling.PASS:
        reported_at = ", ".join(f"{at:g}" for at in above)
        reason = (
            f"above linear at {reported_at}: the smallest step was held back, or a cache took part"
        )
        return replace(outcome, reason=reason)
    return outcome


def _floor(blank: Outcome, rule: Floor, picked: Sequence[Picked]) -> Outcome:
    found, values, unit = _by_step(rule, picked)
    best, given = max(value for _, _, value in found), None
    if rule.optimum is not None:
        best, wanted = data.quantity(rule.optimum)
        given = best
        _check_unit(unit, wanted)
    reported = guard.floor(values, rule.share, given, rule.risk)
    odd = _odd_steps(found, values)
    return _over_steps(blank, rule, found, unit, lambda _: best * rule.share, reported.steps, odd)


def _steady(blank: Outcome, rule: Steady, picked: Sequence[Picked]) -> Outcome:
    sample, value, unit = _sample(rule, picked)
    found = replace(blank, sample=sample, value=value, unit=unit)
    reported = [members_of(p.m).steady.reached for p in picked]
    restless = sum(t is False for t in reported)
    if restless:
        return _ruled(found, False, f"{restless} of {len(picked)} never became steady")
    if rule.within is not None:
        limit = data.quantity(rule.within)[0]
        late = [p.m.total_seconds for p in picked if p.m.total_seconds > limit]
        if late:
            return _ruled(found, False, f"{len(late)} took up to {fmt.duration(max(late))}")
    unknown = sum(t is None for t in reported)
    if unknown:
        asked = all(p.run.result.run.options.get("steady") for p in picked)
        more = "longer, or with a shorter --steady-slice" if asked else "with --steady"
        known = fmt.share_of(unknown, len(picked), "is not known", "are not known")
        raise OpenError(f"{known} to be steady: measure {more}")
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
    reported = "; ".join(faults[:3]) + (f"; {len(faults) - 3} more" if len(faults) > 3 else "")
    return _ruled(blank, not faults, reported)


def _limit(blank: Outcome, rule: Limit, picked: Sequence[Picked]) -> Outcome:
    sample, _, unit = _sample(rule, picked)
    limit, wanted = data.quantity(rule.at_most)
    _check_unit(unit, wanted)
    found = replace(blank, sample=sample, value=sample.max, unit=unit)
    return _ruled(found, sample.max <= limit)


def _condition(blank: Outcome, rule: Condition, picked: Sequence[Picked]) -> Outcome:
    found = compared(rule, picked)
    if found.unknown:
        raise OpenError(found.unknown)
    none = f"nothing was measured with {conditions_text(rule.applies_to)}" if found.none else ""
    return _ruled(blank, not found.broken, found.broken or none)
