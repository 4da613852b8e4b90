# SPDX-License-Identifier: BSD-3-Clause
"""`effio report RUN...`: one page that opens without a network."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from effio import text as fmt
from effio.cli.complete import complete_rules, complete_sides
from effio.cli.figures import figure_options, wanted_figures
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.errors import EffioError, ExitCode
from effio.home import expanded
from effio.store.all_runs import Store
from effio.store.folder import REPORT, RunFolder

if TYPE_CHECKING:
    from effio.report.balance import Balance
    from effio.report.indexed import Indexed
    from effio.report.model import Report


def _ceilings(texts: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        rate = fmt.parse_rate(value)
        if not name or rate is None:
            raise EffioError(f"--ceiling '{text}': write NAME=RATE, as 'storage peak=12.5GB/s'")
        found[name] = rate
    return found


def _found(runs: tuple[str, ...], indexed: Indexed) -> list[RunFolder | Path]:
    """Runs and result files; next to others a campaign means all of its runs."""
    from effio.judge.gather import files_of

    found: list[RunFolder | Path] = []
    for name in runs:
        if _campaign_of(name, indexed) is not None:
            files = files_of(name, indexed.store, indexed.attempts)
            found += [RunFolder(file.parent) for file in files]
        else:
            found.append(indexed.store.find(name))
    return found


def _campaign_of(word: str, indexed: Indexed) -> str | None:
    """The campaign that a word names. Its folder may be missing, if only its runs were copied."""
    from effio.judge.gather import campaign_meant, copied_campaign, is_place

    if is_place(word):
        return None
    if (campaign := campaign_meant(word, indexed.store)) is not None:
        return campaign
    try:
        indexed.store.find(word)
    except EffioError:
        return copied_campaign(word, indexed.store, indexed.attempts)
    return None


def _balances(words: tuple[str, ...]) -> list[Balance]:
    from effio.report.balance import balance_of_hpcc

    found = []
    for word in words:
        name, _, file = word.partition("=")
        if not name or not file:
            raise EffioError(f"--hpcc '{word}': write NAME=FILE, as 'columbia=hpccoutf.txt'")
        found.append(balance_of_hpcc(name, expanded(file)))
    return found


def _campaign(
    name: str, indexed: Indexed, target: Path | None, rules: str | None
) -> tuple[Report, Path]:
    """The report of a campaign, and where its page is."""
    from effio.campaign.state import FOLDER, scale_of
    from effio.judge.rules import load_rules
    from effio.report.campaign import CampaignRuns, campaign_report, numbers_section
    from effio.report.charts import charts_of, charts_section, kept_file

    store = indexed.store
    runs = CampaignRuns(indexed.of_campaign(name, every=False))
    if not runs.claimed:
        raise EffioError(f"campaign {name} has no run with a result yet")
    own = store.root / FOLDER / name
    target = target or (own / REPORT if own.is_dir() else Path("effio-report.html"))
    judged_by = load_rules(rules) if rules is not None else None
    charts = charts_section(charts_of(store, name), runs)
    file = kept_file(store, name)
    numbers = numbers_section(file, runs) if file is not None else None
    scale = scale_of(store, name)
    return campaign_report(name, runs, target, judged_by, charts, numbers, scale), target


@contextlib.contextmanager
def _elsewhere(output: str | None) -> Iterator[None]:
    """Without --output a report goes next to its results, which may be read-only: says so."""
    try:
        yield
    except EffioError as error:
        if output is None and error.code == ExitCode.IO_ERROR:
            error.hint = error.hint or "name another place: --output FILE"
        raise


@click.command("report")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_sides)
@click.option(
    "-o",
    "--output",
    type=PlacePath(dir_okay=False),
    metavar="FILE",
    help="where to write it  [default: report.html in the folder of the run or campaign; for "
    "several runs or a bare result file ./effio-report.html]",
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
    help="also show rates as a percentage of the limits that this run of probe found",
)
@click.option(
    "--rules", metavar="RULES", shell_complete=complete_rules,
    help="rules that a campaign is judged by, as in accept  [default: those of its name, if any]",
)  # fmt: skip
@click.option(
    "--hpcc", "hpcc", multiple=True, metavar="NAME=FILE",
    help="one more system in the balance of rings: an hpccoutf.txt",
)  # fmt: skip
@figure_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    runs: tuple[str, ...],
    output: str | None,
    ceilings: tuple[str, ...],
    probe: str | None,
    rules: str | None,
    hpcc: tuple[str, ...],
    **figures: Any,
) -> None:
    """Draw one HTML file about one or more runs, or about a campaign.

    The page is self-contained: it opens from a mail, without a network. The name of a campaign
    gives its own page: verdicts, a figure for each value over the swept axes, a table of points,
    and links to the runs. --png, --svg and --pdf draw a single figure for a paper
    (they need matplotlib), --variant and --linear are its switches; an unknown FIGURE or variant
    lists what there is.
    """
    from effio.report.build import load_probe, report_of_several, write_report
    from effio.report.html import render, write_page
    from effio.report.indexed import Indexed

    store = Store(runs_directory(ctx))
    indexed = Indexed(store, lambda: opened_index(ctx))
    wanted = wanted_figures(figures)
    campaign = _campaign_of(runs[0], indexed) if len(runs) == 1 else None
    if campaign is not None:
        if ceilings or probe:
            raise EffioError("--ceiling and --probe are for runs, not for a campaign")
        page = Path(output) if output and not wanted.figures else None
        report, target = _campaign(campaign, indexed, page, rules)
        if wanted.figures:
            wanted.write_of(report, output)
        else:
            with _elsewhere(output):
                target = write_page(target, render([report], [str(store.root)]))
            click.echo(f"report: {target}")
        return
    if rules is not None:
        raise EffioError(
            "--rules applies to a campaign only", hint="effio accept RULES RUN... judges runs"
        )
    found = _found(runs, indexed)
    paths = [f.path if isinstance(f, RunFolder) else f for f in found]
    balances = _balances(hpcc)
    limits = _ceilings(ceilings)
    of_probe = None
    if probe is not None:
        at = store.find(probe)
        of_probe = load_probe(at.path if isinstance(at, RunFolder) else at)
        limits = {**of_probe.ceilings(), **limits}
    if wanted.figures:
        if len(paths) > 1 or balances:
            wanted.write_of(report_of_several(paths, balances), output)
        else:
            wanted.write_of_run(paths[0], output, limits)
        return
    wanted.refuse_switches()
    if output is not None:
        target = Path(output)
    elif len(found) == 1 and isinstance(found[0], RunFolder):
        target = found[0].path / REPORT
    else:
        target = Path("effio-report.html")
    with _elsewhere(output):
        target = write_report(paths, target, limits, of_probe, balances)
    click.echo(f"report: {target}")
