# SPDX-License-Identifier: BSD-3-Clause
"""`effio report RUN...`: one page that opens without a network."""

from __future__ import annotations

import re
from pathlib import Path

import click

from effio import text as fmt
from effio.cli.complete import run_argument
from effio.cli.main import runs_directory
from effio.errors import EffioError
from effio.store.folder import REPORT, RunFolder, Store


def _ceilings(texts: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        rate = fmt.parse_rate(value)
        if not name or rate is None:
            raise EffioError(f"--ceiling '{text}': write NAME=RATE, as 'storage peak=12.5GB/s'")
        found[name] = rate
    return found


def _single_figures(
    paths: list[Path],
    wanted: list[tuple[str, str]],
    variant: str | None,
    linear: bool,
    output: str | None,
    limits: dict[str, float],
) -> None:
    from effio.report.static import Choice, write_figure

    if len(paths) > 1:
        raise EffioError("--png and --pdf draw a figure of one run; name one RUN")
    if output is not None and len(wanted) > 1:
        raise EffioError("--output names one file; give --png or --pdf, not both")
    switches = [variant] if variant else []
    switches += ["linear"] if linear else []
    for name, kind in wanted:
        stem = "-".join([name, *(re.sub(r"[^A-Za-z0-9.]+", "-", s).strip("-") for s in switches)])
        target = Path(output) if output else Path(f"{stem}.{kind}")
        click.echo(write_figure(paths[0], Choice(name, variant, linear), kind, target, limits))


@click.command("report")
@run_argument("runs", many=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="where to write it  [default: report.html in the run's folder; for several runs or a "
    "bare result file ./effio-report.html]",
)
@click.option(
    "--ceiling",
    "ceilings",
    multiple=True,
    metavar="NAME=RATE",
    help="a known limit for the roofline, as 'storage peak=12.5GB/s'",
)
@click.option(
    "--probe",
    metavar="RUN",
    help="rates also in per cent of the limits that this run of probe found",
)
@click.option("--png", metavar="FIGURE", help="write one figure as FIGURE.png instead")
@click.option("--pdf", metavar="FIGURE", help="write one figure as FIGURE.pdf instead")
@click.option(
    "--variant",
    metavar="NAME",
    help="of a figure with a choice, the one to draw (its name or beginning)  [default: the first]",
)
@click.option("--linear", is_flag=True, help="draw the figure with a linear axis, not a log one")
@click.pass_context
def command(
    ctx: click.Context,
    runs: tuple[str, ...],
    output: str | None,
    ceilings: tuple[str, ...],
    probe: str | None,
    png: str | None,
    pdf: str | None,
    variant: str | None,
    linear: bool,
) -> None:
    """Draw one HTML file about one or more runs.

    The page is self-contained: it opens from a mail, without a network. --png and --pdf draw a
    single figure for a paper (they need matplotlib), --variant and --linear are its switches; an
    unknown FIGURE or variant lists what there is.
    """
    from effio.report.build import load_probe, write_report

    store = Store(runs_directory(ctx))
    found = [store.find(name) for name in runs]
    paths = [f.path if isinstance(f, RunFolder) else f for f in found]
    limits = _ceilings(ceilings)
    of_probe = None
    if probe is not None:
        at = store.find(probe)
        of_probe = load_probe(at.path if isinstance(at, RunFolder) else at)
        limits = {**of_probe.ceilings(), **limits}
    wanted = [(name, kind) for name, kind in ((png, "png"), (pdf, "pdf")) if name]
    if wanted:
        _single_figures(paths, wanted, variant, linear, output, limits)
        return
    if variant or linear:
        raise EffioError("--variant and --linear are for a single figure: --png or --pdf FIGURE")
    if output is not None:
        target = Path(output)
    elif len(found) == 1 and isinstance(found[0], RunFolder):
        target = found[0].path / REPORT
    else:
        target = Path("effio-report.html")
    click.echo(f"report: {write_report(paths, target, limits, of_probe)}")
