# SPDX-License-Identifier: BSD-3-Clause
"""`effio accept RULES RUN...`: does the system do what was promised?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from effio.cli.complete import complete_rules, complete_sides
from effio.cli.kept import opened_index, shortener
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.cli.show import print_section, tables_of
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.cli.terminal import Terminal
from effio.errors import EffioError, ExitCode
from effio.judge.accept import accept
from effio.judge.outcomes import Acceptance, Outcome
from effio.judge.rules import Projection, RuleFile, Submission, load_rules, load_submission
from effio.judge.samples import Judged
from effio.report.indexed import Indexed
from effio.report.texts import Form
from effio.store.all_runs import Store

ACCEPTANCE_SCHEMA = "effio-acceptance/1"


def based(
    submission: Submission, rules: RuleFile, indexed: Indexed
) -> dict[str, tuple[Projection, Sequence[Judged]]]:
    """Projections by rule, each with the runs that it is based on."""
    known = {rule.id for rule in rules.rule}
    found: dict[str, tuple[Projection, Sequence[Judged]]] = {}
    for one in submission.projection:
        if one.rule not in known:
            raise EffioError(
                f"a projection is for '{one.rule}', which is not a rule of {rules.title}"
            )
        if one.rule in found:
            raise EffioError(f"two projections are for the rule '{one.rule}'")
        found[one.rule] = (one, indexed.judged([one.base], say))
    return found


def _data(outcome: Outcome) -> dict[str, Any]:
    sample = outcome.sample
    return {
        "rule": outcome.rule.id,
        "kind": outcome.rule.kind,
        "title": outcome.rule.title,
        "source": outcome.rule.source,
        "ruling": outcome.ruling.text.lower(),
        "asked": outcome.limit,
        "value": outcome.value,
        "unit": outcome.unit or None,
        "reason": outcome.reason or None,
        "wrong_probability": outcome.wrong,
        "repetitions_needed": outcome.decides,
        "values": sample.count if sample else None,
        "cov": sample.cov if sample else None,
        "steps": [
            {"at": s.at, "value": s.value, "needed": s.needed, "met": s.met, "cov": s.sample.cov}
            for s in outcome.steps
        ],
        "runs": [run.name for run in outcome.runs],
        "projection": None
        if outcome.projection is None
        else {
            "method": outcome.projection.method,
            "system": outcome.projection.system or None,
            "measured_base": outcome.base,
        },
    }


def acceptance_data(acceptance: Acceptance) -> dict[str, Any]:
    return {
        "schema": ACCEPTANCE_SCHEMA,
        "rules": acceptance.rules.title,
        "verdict": acceptance.verdict.lower(),
        "rehearsal": acceptance.rehearsal,
        "outcomes": [_data(o) for o in acceptance.outcomes],
    }


@click.command("accept")
@click.argument("rules", metavar="RULES", shell_complete=complete_rules)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_sides)
@click.option(
    "--submission", metavar="FILE", type=PlacePath(dir_okay=False),
    help="TOML with descriptions of systems and with projections (docs/accept.md)",
)  # fmt: skip
@click.option(
    "--strict", is_flag=True,
    help="exit code 1 too where a rule cannot be evaluated",
)  # fmt: skip
@click.option(
    "--rehearse", is_flag=True,
    help="judge simulated results, too, to try rules and campaign together; every output is"
    " stamped: rehearsal, not a ruling",
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="every table in full")
@table_format()
@click.option("--page", metavar="FILE", type=PlacePath(dir_okay=False), help="write an HTML page")
@click.pass_context
def command(
    ctx: click.Context,
    rules: str,
    runs: tuple[str, ...],
    submission: str | None,
    strict: bool,
    rehearse: bool,
    everything: bool,
    form: Form,
    page: str | None,
) -> None:
    """Judge runs by acceptance rules: pass, fail or not evaluable, each with its reason.

    RULES is a TOML file, or the name of rules that come with effio: blue-waters or
    b_eff_io-official. A RUN is a run (as for show), several joined by commas, a campaign by its
    name, tag:NAME, or a folder with runs anywhere in it; labels may come before it:
    servers=12:RUN. Exit code 1 if a rule fails.
    """
    from effio.judge.systems import systems_of
    from effio.report.acceptance import acceptance_section
    from effio.report.html import render, write_page

    file = load_rules(rules)
    reported = load_submission(Path(submission)) if submission else Submission()
    store = Store(runs_directory(ctx))
    indexed = Indexed(store, lambda: opened_index(ctx))
    found = indexed.judged(runs, say)
    projections = based(reported, file, indexed)
    acceptance = accept(file, found, projections, rehearse)
    everyone = [*found, *(run for _, some in projections.values() for run in some)]
    section = acceptance_section(acceptance, systems_of(everyone, reported.system))
    if page:
        write_page(Path(page), render([], [str(r.path) for r in found][:20], head=section))
    if form is Form.JSON:
        click.echo(json.dumps(acceptance_data(acceptance)))
    elif form is not Form.TEXT:
        write_tables(tables_of(section, everything), form)
    else:
        print_section(Terminal(), section, everything, shorten=shortener(store))
    if page:
        say(f"page: {page}")
    undecided = strict and not acceptance.accepted
    if acceptance.failed or undecided:
        ctx.exit(ExitCode.DATA_ERRORS)
