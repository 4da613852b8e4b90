# SPDX-License-Identifier: BSD-3-Clause
"""What the numbers of b_eff say, in sentences."""

from __future__ import annotations

from effio import text as fmt
from effio.report.b_eff.pairs import pair_findings
from effio.report.b_eff.tables import methods_alone
from effio.report.common import certainty
from effio.report.model import Finding
from effio.store.members import Members, members_of
from effio.store.reader import Result

# A method that alone would lose more than this is worth a sentence.
_LOSS = 0.05
# Repetitions that differ by more than this are worth a warning.
_SPREAD = 0.10


def _repetition_finding(members: Members) -> Finding | None:
    spread = members.repetitions_spread_fraction
    mean = members.repetitions_mean_bytes_per_second
    half = members.repetitions_half_width95_bytes_per_second
    count = len(members.by_repetition_bytes_per_second)
    if spread is None or mean is None or half is None or count < 2:
        return None
    text = (
        f"Each repetition alone gives {fmt.quantity(mean, 'B/s')} ± {fmt.quantity(half, 'B/s')}"
        f" (95 % interval of the mean of {count}); they differ by {fmt.percent(spread, 1)}."
    )
    if spread > _SPREAD:
        return Finding(f"{text} Something else was at work on the machine.", "results", "warn")
    return Finding(text, "results")


def _chance(members: Members) -> float | None:
    """Half the 95 % interval of what a repetition alone gives, as a share: numbers that differ by
    no more are not known to differ. None from a single repetition."""
    mean = members.repetitions_mean_bytes_per_second
    half = members.repetitions_half_width95_bytes_per_second
    if not mean or half is None or len(members.by_repetition_bytes_per_second) < 2:
        return None
    return float(half / mean)


def _method_finding(result: Result, members: Members) -> Finding | None:
    rows = methods_alone(result)
    chance = _chance(members)
    if len(rows) < 2 or chance is None:
        return None
    best, worst = max(rows, key=lambda r: r[2]), min(rows, key=lambda r: r[2])
    if worst[2] >= -max(_LOSS, chance):
        return None
    return Finding(
        f"{worst[0]} alone would give {fmt.percent(-worst[2], 1)} less than b_eff,"
        f" {best[0]} alone {fmt.percent(-best[2], 1)} less.",
        "methods",
    )


def _gap(result: Result) -> str:
    """How much slower messages between any ranks are than between neighbors."""
    if result.run.system.nodes > 1:
        return "the rest is what the distance between ranks costs"
    return "on one node no rank is far from another, so the rest is caches, cores and chance"


def _random_findings(result: Result, members: Members) -> list[Finding]:
    found = []
    rings, random = members.rings_bytes_per_second, members.random_rings_bytes_per_second
    if rings and random:
        chance = _chance(members)
        if chance is None:
            why = f"whether they differ is not known: {certainty.ONCE}"
        elif abs(random / rings - 1) <= chance:
            by = fmt.percent(chance)
            why = f"whether they differ is not known: repetitions alone differ by {by}"
        else:
            why = _gap(result)
        text = f"Random rings reach {fmt.percent(random / rings)} of the rings: {why}."
        found.append(Finding(text, "families"))
    factor = members.random_rings_factor95
    if factor is not None and factor > 1:
        change = fmt.percent(factor - 1, 1)
        text = f"Another choice of random rings would change b_eff by up to {change} (95 %)."
        found.append(Finding(text, "families"))
    return found


def findings_of(result: Result) -> list[Finding]:
    members = members_of(result.figure("b_eff"))
    first = [
        f for f in (_repetition_finding(members), _method_finding(result, members)) if f is not None
    ]
    found = [*first, *_random_findings(result, members)]
    if any(members.longest_lengths_shortened):
        text = (
            "The two longest messages were measured with the best method only; there the methods"
            " cannot be compared."
        )
        found.append(Finding(text, "methods"))
    return [*found, *pair_findings(result)]
