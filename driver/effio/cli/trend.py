# SPDX-License-Identifier: BSD-3-Clause
"""`effio trend CAMPAIGN`: its numbers night by night."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from effio import text as fmt
from effio.campaign.state import series_name
from effio.cli.complete import complete_sides
from effio.cli.figures import figure_options, wanted_figures
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.config.toml_file import nearest
from effio.errors import EffioError, ExitCode, environment_error
from effio.judge import gather
from effio.report.texts import Form
from effio.store.all_runs import Store

if TYPE_CHECKING:
    from effio.report.claims import Claimed
    from effio.report.indexed import Indexed
    from effio.report.trend import Trend


def _runs(words: tuple[str, ...], indexed: Indexed) -> list[Claimed]:
    """All runs of each campaign; `*` in its name matches any letters."""
    names = gather.campaign_names(indexed.store)
    found: dict[Path, Claimed] = {}
    for word in words:
        name = gather.campaign_word(word)
        campaigns = gather.campaigns_named(name, names)
        # Runs may have been copied without the campaign's folder.
        if not campaigns and not gather.is_place(word):
            recorded = gather.recorded_names(indexed.store, indexed.attempts)
            campaigns = gather.campaigns_named(name, recorded)
        for campaign in campaigns:
            found |= {run.path: run for run in indexed.of_campaign(campaign, every=True)}
        if not campaigns:
            found |= {run.path: run for run in _of_no_campaign(word, indexed, names)}
    return sorted(found.values(), key=lambda run: (run.started, run.name))


def _of_no_campaign(word: str, indexed: Indexed, names: Sequence[str]) -> list[Claimed]:
    try:
        return indexed.gathered([word], say)
    except EffioError as error:
        named = Path(word).exists() or "/" in word or ":" in word
        if error.code != ExitCode.USAGE or named:
            raise
        series = sorted({series_name(name) for name in names})
        raise EffioError(
            f"no campaign '{word}' in {indexed.store.root}{nearest(word, series)}",
            hint="effio runs lists the runs of each campaign",
        ) from None


@click.command("trend")
@click.argument(
    "campaigns", metavar="CAMPAIGN...", nargs=-1, required=True, shell_complete=complete_sides
)
@table_format()
@click.option(
    "-o", "--output", type=PlacePath(dir_okay=False), metavar="FILE",
    help="write a page for the browser to FILE instead; the figure, with --png, --svg or --pdf",
)  # fmt: skip
@figure_options
@click.option(
    "--check", is_flag=True,
    help="exit with 1 if the last level of a value is worse, or if there are too few nights to"
    " search",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context, /, campaigns: tuple[str, ...], form: Form, output: str | None, check: bool,
    **figures: Any,
) -> None:  # fmt: skip
    """Show how the numbers of a campaign develop from night to night.

    A night is the date (UTC) at which a run started. CAMPAIGN is a campaign ('nightly-*' means
    several), tag:WORD, or a folder with runs. Each number has its mean and 95 % interval for every
    night; changes of level are found by ruptures (PELT), and versions of the software that changed
    are named. --png, --svg and --pdf draw a single figure, trend-1 and so on: an unknown FIGURE
    lists them.
    """
    from effio.cli.show import print_report
    from effio.cli.terminal import Terminal
    from effio.report.html import render, write_page
    from effio.report.indexed import Indexed
    from effio.report.trend import MOST_DRAWN, as_data, nights_table, trend_of, trend_report

    store = Store(runs_directory(ctx))
    runs = _runs(campaigns, Indexed(store, lambda: opened_index(ctx)))
    trend = trend_of(", ".join(campaigns), runs)
    if not trend.courses:
        raise EffioError("none of these runs has a number that counts and a known start")
    wanted = wanted_figures(figures)
    if not wanted.figures:
        wanted.refuse_switches()
    if form is Form.JSON and not wanted.figures:
        click.echo(json.dumps(as_data(trend), indent=2))
    elif wanted.figures:
        wanted.write_of(trend_report(trend), output)
    elif form is not Form.TEXT:
        write_tables([nights_table(trend.courses)], form)
    elif output is not None:
        page = render([trend_report(trend, MOST_DRAWN)], [str(store.root)])
        click.echo(f"trend: {write_page(Path(output), page)}")
    else:
        print_report(Terminal(), trend_report(trend, 0))  # without figures
    if check:
        _check(ctx, trend)


def _check(ctx: click.Context, trend: Trend) -> None:
    """Ends with the exit code of the last levels. If no value could be searched, the check does
    not pass."""
    if trend.missing:
        raise environment_error(f"--check decides nothing: {trend.missing}")
    if trend.not_searched:
        raise EffioError(f"--check decides nothing: {trend.not_searched}", ExitCode.DATA_ERRORS)
    apart = sum(not course.can_be_searched for course in trend.courses)
    if apart:
        of = fmt.count_of(len(trend.courses), "value")
        say(f"--check: {apart} of {of} not searched: too few nights with a number above zero")
    last = [(course, course.changes[-1]) for course in trend.courses if course.changes]
    if any(pair in trend.worse for pair in last):
        ctx.exit(int(ExitCode.DATA_ERRORS))
