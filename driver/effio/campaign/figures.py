# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a whole campaign: an expression over values of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effio.campaign.earlier import NoValueError, is_not_valid, value_in
from effio.campaign.expression import ExpressionError, Known, parse
from effio.campaign.file import Campaign, CampaignFigure
from effio.store.reader import Result


@dataclass(frozen=True)
class FigureDone:
    """Without a value `missing` says why. `not_valid` names the values that it was computed from
    although they break the rules of their definition."""

    figure: CampaignFigure
    value: float | None
    missing: str = ""
    not_valid: Sequence[str] = ()

    @property
    def doubt(self) -> str:
        """Why the value does not count officially; empty if nothing is known against it."""
        if not self.not_valid:
            return ""
        names = " and ".join(self.not_valid)
        return f"NOT VALID: computed from {names}, not valid by definition"

    @property
    def note(self) -> str:
        """All that belongs to the value."""
        if self.value is None:
            return f"not known: {self.missing}"
        return "; ".join(part for part in (self.figure.note, self.doubt) if part)


def figures_of(campaign: Campaign, results: Sequence[tuple[str, Result]]) -> list[FigureDone]:
    """The figures in the order of the file; each knows the values of those before it. `results`:
    with the names of their steps."""
    known: dict[str, Known] = {}
    doubtful: list[str] = []
    done: list[FigureDone] = []
    for figure in campaign.figure:
        try:
            own = {name: value_in(name, e, results) for name, e in figure.earlier.items()}
            value = parse(figure.value).value({**known, **own})
            if isinstance(value, (bool, str, tuple)):
                raise ExpressionError(f"'{figure.value}' is not a number")
            known[figure.name] = value
            used = parse(figure.value).names
            earlier = figure.earlier.items()
            refused = [name for name, e in earlier if is_not_valid(e, results)]
            refused = [name for name in (*doubtful, *refused) if name in used]
            if refused:
                doubtful.append(figure.name)
            done.append(FigureDone(figure, float(value), not_valid=refused))
        except NoValueError as error:
            done.append(FigureDone(figure, None, str(error)))
        except ExpressionError as error:
            done.append(FigureDone(figure, None, str(error)))
    return done
