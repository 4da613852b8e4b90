# SPDX-License-Identifier: BSD-3-Clause
"""Options that write a single figure of a page to a separate file."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from effio.errors import EffioError

if TYPE_CHECKING:
    from effio.report.model import Report

Command = Callable[..., Any]
KINDS = ("png", "svg", "pdf")


@dataclass(frozen=True)
class WantedFigures:
    """`figures`: name and kind of each file that was requested."""

    figures: Sequence[tuple[str, str]]
    variant: str | None
    linear: bool

    def targets(self, output: str | None) -> list[tuple[str, str, Path]]:
        """Name, kind and file of each figure. Refuses an output that does not fit the kind."""
        if output is not None and len(self.figures) > 1:
            raise EffioError("--output names one file; give one of --png, --svg and --pdf")
        for _, kind in self.figures if output is not None else []:
            if Path(str(output)).suffix.lower() != f".{kind}":
                raise EffioError(
                    f"--output {output}: --{kind} writes a file whose name ends in .{kind}",
                    hint="use --png for .png, --svg for .svg, --pdf for .pdf",
                )
        switches = [self.variant] if self.variant else []
        switches += ["linear"] if self.linear else []
        found = []
        for name, kind in self.figures:
            parts = [re.sub(r"[^A-Za-z0-9.]+", "-", s).strip("-") for s in switches]
            file = Path(output) if output else Path(f"{'-'.join([name, *parts])}.{kind}")
            found.append((name, kind, file))
        return found

    def refuse_switches(self) -> None:
        """Without a figure they would have no effect."""
        if self.variant or self.linear:
            raise EffioError(
                "--variant and --linear are for a single figure: --png, --svg or --pdf FIGURE"
            )

    def write_of(self, report: Report, output: str | None) -> None:
        """Figures of a report that is not of one run."""
        from effio.report.static import Choice, write_figure_of

        for name, kind, target in self.targets(output):
            click.echo(
                write_figure_of(report, Choice(name, self.variant, self.linear), kind, target)
            )

    def write_of_run(self, path: Path, output: str | None, limits: Mapping[str, float]) -> None:
        from effio.report.static import Choice, write_figure

        for name, kind, target in self.targets(output):
            choice = Choice(name, self.variant, self.linear)
            click.echo(write_figure(path, choice, kind, target, dict(limits)))


def figure_options(function: Command) -> Command:
    """Adds --png, --svg, --pdf, --variant and --linear; `wanted_figures` takes their values."""
    options = [
        *(
            click.option(
                f"--{kind}", metavar="FIGURE", help=f"write one figure as FIGURE.{kind} instead"
            )
            for kind in KINDS
        ),
        click.option(
            "--variant",
            metavar="NAME",
            help="the variant to draw, if the figure has several (its name or the start of it) "
            " [default: the first]",
        ),
        click.option(
            "--linear", is_flag=True, help="draw the figure with a linear axis, not a log one"
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def wanted_figures(options: Mapping[str, Any]) -> WantedFigures:
    """The values of `figure_options`."""
    figures = [(options[kind], kind) for kind in KINDS if options[kind]]
    return WantedFigures(figures, options["variant"], options["linear"])
