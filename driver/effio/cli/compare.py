# SPDX-License-Identifier: BSD-3-Clause
"""`effio compare A B...`: which is better, by how much, and whether that is chance."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click

from effio import text as fmt
from effio.cli.complete import complete_run, complete_sides
from effio.cli.kept import opened_index, shortener
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.cli.show import print_section
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.cli.terminal import Terminal
from effio.errors import ExitCode
from effio.judge import gather, views
from effio.judge.compare import Comparison, Terms, compare
from effio.judge.verdicts import NoVerdict, Verdict
from effio.report.indexed import Indexed
from effio.report.texts import Form
from effio.store.all_runs import Store


def part(text: str) -> float:
    """ "5%" or "0.05" """
    try:
        number = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1:
        raise click.BadParameter(f"'{text}': write a part, as 5% or 0.05", param_hint="--tolerance")
    return number


def _write_page(target: str, comparisons: Sequence[Comparison]) -> None:
    from effio.report.comparison import comparison_section
    from effio.report.html import render, write_page

    sides = [comparisons[0].first, *(c.second for c in comparisons)]
    sources = [str(run.path) for side in sides for run in side.runs]
    some = [*sources[:20], *([f"{len(sources) - 20} more"] if len(sources) > 20 else [])]
    write_page(Path(target), render([], some, head=comparison_section(comparisons)))


def _print(comparisons: Sequence[Comparison], everything: bool, store: Store) -> None:
    from effio.report.comparison import comparison_section

    section = comparison_section(comparisons)
    print_section(Terminal(), section, everything, shorten=shortener(store))


_INVALID = frozenset({NoVerdict.INVALID, NoVerdict.VALUE, NoVerdict.WORKLOAD, NoVerdict.UNIT})


def _print_changes(comparisons: Sequence[Comparison]) -> None:
    """One line for each change and for what used to be measured and is not."""
    from effio.report.comparison import verdict_line

    for comparison in comparisons:
        for line in comparison.lines:
            if line.is_loss or line.verdict is Verdict.FASTER or line.cause in _INVALID:
                click.echo(views.line_text(line))
        for alone in comparison.alone:
            if alone.side == comparison.first.name:
                click.echo(
                    fmt.plain(f"missing {alone.key.benchmark} {alone.key.what}: {alone.why}")
                )
        power = f". {comparison.power.text}" if comparison.power else ""
        click.echo(fmt.plain(f"{comparison.second.name}: {verdict_line(comparison)}{power}"))


@click.command("compare")
@click.argument("sides", metavar="SIDE...", nargs=-1, required=True, shell_complete=complete_sides)
@click.option(
    "--baseline", metavar="SIDE", shell_complete=complete_run,
    help="reference for nightly use: one line for each change, exit code 1 for a loss. A single new"
    " night is judged by control limits, from five nights of the reference on",
)  # fmt: skip
@click.option(
    "--tolerance", metavar="PART", default="2%", show_default=True,
    help="ignore changes of a rate up to this part of it",
)  # fmt: skip
@click.option(
    "--across", metavar="NAME,...", multiple=True,
    help="axes or options in which the sides may differ, because they are what is compared: files,"
    " collective, time, ranks, cache, …",
)  # fmt: skip
@click.option(
    "--by-repetitions", is_flag=True,
    help="treat the repetitions of a run as independent of each other, if there are fewer"
    " than three runs",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="every table in full")
@table_format()
@click.option("--page", metavar="FILE", type=PlacePath(dir_okay=False), help="write an HTML page")
@click.option(
    "--junit", metavar="FILE", type=PlacePath(dir_okay=False),
    help="write JUnit XML: a loss is a failure",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context,
    sides: tuple[str, ...],
    baseline: str | None,
    tolerance: str,
    across: tuple[str, ...],
    by_repetitions: bool,
    everything: bool,
    form: Form,
    page: str | None,
    junit: str | None,
) -> None:
    """Compare sides with the first one, or with --baseline, measurement by measurement.

    A SIDE is a run (as for show), several joined by commas, a campaign by its name, tag:NAME, or a
    folder with runs anywhere in it, as those of another site. Equal measurements are those with
    equal axes. Three runs on a side are needed to distinguish a difference from chance.
    """
    words = [baseline, *sides] if baseline is not None else list(sides)
    if len(words) < 2:
        raise click.UsageError("name at least two sides, or one and --baseline SIDE")
    from effio.report.html import write_text

    differing = frozenset(name for names in across for name in names.split(",") if name)
    terms = Terms(differing, part(tolerance), by_repetitions, baseline is not None)
    store = Store(runs_directory(ctx))
    indexed = Indexed(store, lambda: opened_index(ctx))
    found = [gather.side(word, store, say, indexed.attempts) for word in words]
    comparisons = [compare(found[0], other, terms) for other in found[1:]]
    if form is not Form.TEXT or baseline is not None:
        for note in dict.fromkeys(c.same_runs for c in comparisons if c.same_runs):
            say(note)
    if page:
        _write_page(page, comparisons)
    if junit:
        write_text(Path(junit), views.junit(comparisons))
    if form is Form.JSON:
        for comparison in comparisons:
            click.echo(json.dumps(views.comparison_data(comparison)))
    elif form is not Form.TEXT:
        from effio.report.comparison import all_lines_table

        write_tables([all_lines_table(comparisons)], form)
    elif baseline is not None:
        _print_changes(comparisons)
    else:
        _print(comparisons, everything, store)
    if page:
        say(f"page: {page}")
    if baseline is not None and any(c.losses for c in comparisons):
        ctx.exit(ExitCode.DATA_ERRORS)
