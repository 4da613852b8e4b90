# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of a whole campaign: an expression over values of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from effio.campaign.earlier import NoValueError, value_in
from effio.campaign.expression import ExpressionError, Known, parse
from effio.campaign.file import Campaign, CampaignFigure
from effio.store.reader import Result


@dataclass(frozen=True)
class FigureDone:
    """Without a value `missing` says why."""

    figure: CampaignFigure
    value: float | None
    missing: str = ""


def figures_of(campaign: Campaign, results: Sequence[tuple[str, Result]]) -> list[FigureDone]:
    """In the order of the file; each knows the values of those before it. `results`: with the names
    of their steps."""
    known: dict[str, Known] = {}
    done: list[FigureDone] = []
    for figure in campaign.figure:
        try:
            own = {name: value_in(name, e, results) for name, e in figure.earlier.items()}
            value = parse(figure.value).value({**known, **own})
            if isinstance(value, (bool, str, tuple)):
                raise ExpressionError(f"'{figure.value}' is no number")
            known[figure.name] = value
            done.append(FigureDone(figure, float(value)))
        except NoValueError as error:
            done.append(FigureDone(figure, None, str(error)))
        except ExpressionError as error:
            done.append(FigureDone(figure, None, str(error)))
    return done
