# SPDX-License-Identifier: BSD-3-Clause
"""`effio report RUN...`: one page that opens without a network."""

from __future__ import annotations

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
@click.option("--png", metavar="FIGURE", help="write one figure as FIGURE.png instead")
@click.option("--pdf", metavar="FIGURE", help="write one figure as FIGURE.pdf instead")
@click.pass_context
def command(
    ctx: click.Context,
    runs: tuple[str, ...],
    output: str | None,
    ceilings: tuple[str, ...],
    png: str | None,
    pdf: str | None,
) -> None:
    """Draw one HTML file about one or more runs.

    The page is self-contained: it opens from a mail, without a network. --png and --pdf draw a
    single figure for a paper (they need matplotlib); an unknown FIGURE lists what there is.
    """
    from effio.report.build import write_report

    store = Store(runs_directory(ctx))
    found = [store.find(name) for name in runs]
    paths = [f.path if isinstance(f, RunFolder) else f for f in found]
    limits = _ceilings(ceilings)
    if png or pdf:
        from effio.report.static import write_figure

        for name, kind in ((png, "png"), (pdf, "pdf")):
            if name:
                target = Path(output) if output else Path(f"{name}.{kind}")
                click.echo(write_figure(paths, name, kind, target, limits))
        return
    if output is not None:
        target = Path(output)
    elif len(found) == 1 and isinstance(found[0], RunFolder):
        target = found[0].path / REPORT
    else:
        target = Path("effio-report.html")
    click.echo(f"report: {write_report(paths, target, limits)}")
