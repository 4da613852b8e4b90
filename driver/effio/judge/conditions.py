# SPDX-License-Identifier: BSD-3-Clause
"""Under which conditions measurements were made, against those that a rule demands: how full the
nodes were, how many stripes a file has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effio import text as fmt
from effio.judge.rules import Condition, Selection
from effio.judge.selection import Picked, coordinate, matches, wanted_text


@dataclass(frozen=True)
class Found:
    """`broken` and `unknown` are sentences; both empty: the conditions are met. `none`: there is
    nothing to which they apply."""

    broken: str = ""
    unknown: str = ""
    none: bool = False


def conditions_text(wanted: Selection) -> str:
    """The conditions as "stripe_count 16, file_system lustre"."""
    return ", ".join(f"{name} {wanted_text(value)}" for name, value in wanted.items())


def meets(picked: Picked, wanted: Selection) -> bool | None:
    """Whether it has all of these values; None if one of them is not known."""
    answers = [
        None if (found := coordinate(picked, name)) is None else matches(found, value)
        for name, value in wanted.items()
    ]
    return False if False in answers else None if None in answers else True


def compared(rule: Condition, picked: Sequence[Picked]) -> Found:
    concerned = {p.run.name: p for p in picked if not rule.applies_to or meets(p, rule.applies_to)}
    if not concerned:
        return Found(none=True)
    answers = {name: meets(p, rule.demand) for name, p in concerned.items()}
    broken = [name for name, met in answers.items() if met is False]
    unknown = [name for name, met in answers.items() if met is None]
    if broken:
        one = concerned[broken[0]]
        has = ", ".join(f"{name} {_shown(coordinate(one, name))}" for name in rule.demand)
        more = f" and {fmt.count_of(len(broken) - 1, 'run')} more" if len(broken) > 1 else ""
        return Found(broken=f"{broken[0]}: {has}{more}")
    if unknown:
        return Found(unknown=f"{unknown[0]} does not record {', '.join(rule.demand)}")
    return Found()


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else fmt.plain(wanted_text(value), 100)
