# SPDX-License-Identifier: BSD-3-Clause
"""A device card on the terminal: two lines for each thing, so that nothing is cut at 60 columns."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from effio import text as fmt
from effio.report.card import Card, CardLine

_WIDE = 84


def _first(line: CardLine, width: int) -> Text:
    """What it is, and its value at the right; or why there is none."""
    title = fmt.plain(line.title)
    if line.value is None:
        return Text.assemble(title, ("  –", "yellow"))
    value = line.shown()
    gap = max(2, width - len(title) - len(value))
    return Text.assemble(title, (" " + "·" * (gap - 2) + " ", "dim"), (value, "bold"))


def _second(line: CardLine) -> str:
    if line.missing:
        return fmt.plain(line.missing)
    parts = [
        line.interval(),
        line.odd,
        f"99 % of calls within {fmt.duration(line.p99)}" if line.p99 is not None else "",
        _amount(line),
        line.source,
    ]
    return fmt.plain("; ".join(part for part in parts if part))


def _amount(line: CardLine) -> str:
    time = f"in {fmt.duration(line.seconds)}" if line.seconds is not None else ""
    what = fmt.size(line.bytes) if line.bytes else fmt.count_of(line.calls, "call")
    return f"{what} {time}".rstrip()


def print_card(console: Console, card: Card) -> None:
    width = min(console.width, _WIDE)
    console.print(Text(fmt.plain(card.title), style="bold"))
    if card.subtitle:
        console.print(Text(fmt.plain(card.subtitle), style="dim"), width=width)
    console.print()
    for line in card.lines:
        console.print(_first(line, width), no_wrap=True)
        below = Text(_second(line), style="yellow" if line.missing else "dim")
        console.print(Padding(below, (0, 0, 0, 4)), width=width)
    console.print()
    for note in card.notes:
        console.print(Text(fmt.plain(note), style="dim"), width=width)
