# SPDX-License-Identifier: BSD-3-Clause
"""`effio profile`: what is an application's I/O like, and what would it cost here?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel, ValidationError

from effio.cli.kept import folders_besides
from effio.cli.main import runs_directory
from effio.cli.options import WholeNumber
from effio.cli.places import PlacePath
from effio.cli.show import print_section, tables_of
from effio.cli.streams import say
from effio.cli.tables import table_format, write_tables
from effio.cli.terminal import Terminal
from effio.errors import EffioError, ExitCode
from effio.home import expanded
from effio.judge.samples import Judged
from effio.profile import form as questionnaire
from effio.profile.campaign import REPETITIONS, Imitated, campaign_text
from effio.profile.darshan import looks_like_a_log, read_log
from effio.profile.model import MOST_ACTIVITIES, Activity, Names, Profile
from effio.profile.patterns import profile_of
from effio.profile.predict import Prediction, predict, tag_of
from effio.profile.questions import AnswerError, Question, answer, questions
from effio.profile.steps import Imitation, imitate, not_imitated
from effio.report.texts import Form
from effio.store.all_runs import Store
from effio.store.reader import ResultError
from effio.store.safe_files import write_atomically

ANSWER_SCHEMA = "effio-profile-answer/1"


def _ask(one: Question) -> Any:
    hint = f" ({', '.join(one.choices)})" if one.choices else ""
    usual = "" if one.needed else f" [{'unknown' if one.usual is None else one.usual}]"
    while True:
        text = click.prompt(f"{one.text}{hint}{usual}", default="", show_default=False)
        try:
            return answer(one, text)
        except AnswerError as error:
            click.echo(f"  {error}")


def _asked(model: type[BaseModel]) -> dict[str, Any]:
    return {one.name: _ask(one) for one in questions(model)}


def _answered() -> Profile:
    try:
        return interview()
    except click.Abort:
        if sys.stdin.isatty():
            raise  # Ctrl-C
        raise EffioError(
            "the questionnaire asks on a terminal, and this input has ended",
            hint="name a Darshan log or a form: effio profile --blank prints an empty form",
        ) from None


def interview() -> Profile:
    """The questionnaire on the terminal."""
    click.echo("The I/O of your application in a typical production run. Press Enter to skip.\n")
    while True:
        table = _asked(Profile)
        table["activity"] = []
        while len(table["activity"]) < MOST_ACTIVITIES:
            number = len(table["activity"]) + 1
            click.echo(f"\n{number}. kind of I/O, as an input, a checkpoint, results")
            table["activity"].append(_asked(Activity))
            if not click.confirm("Another kind of I/O?"):
                break
        if click.confirm("\nDoes it handle files in great numbers?"):
            table["names"] = _asked(Names)
        try:
            return Profile.model_validate(table)
        except ValidationError as error:
            for fault in error.errors(include_url=False):
                click.echo(f"  {fault['msg'].removeprefix('Value error, ')}")
            click.echo("This does not fit together. Once more:\n")


def profile_from(word: str) -> Profile:
    path = expanded(word)
    return profile_of(read_log(path)) if looks_like_a_log(path) else questionnaire.load(path)


def kept_runs(steps: list[Imitation], store: Store) -> list[Judged]:
    """The kept runs of these steps."""
    wanted = {tag for step in steps for tag in step.tags}
    found = []
    for folder in folders_besides(store):
        record = folder.record()
        part = record.campaign if record else None
        if part is None or wanted.isdisjoint(part.tags) or not folder.has_result:
            continue
        try:
            result = folder.reported()
        except ResultError as error:
            say(f"left out: {error.message}")
            continue
        run = Judged(folder.id, folder.path, result)
        if tag_of(run) in wanted:
            found.append(run)
    return found


def _data(
    profile: Profile, steps: list[Imitation], missing: list[str], prediction: Prediction
) -> dict[str, Any]:
    far = prediction.extrapolation
    return {
        "schema": ANSWER_SCHEMA,
        "profile": profile.model_dump(mode="json", by_alias=True),
        "steps": [
            {"name": s.name, "benchmark": s.benchmark, "options": dict(s.options), "tag": s.tag}
            for s in steps
        ],
        "not_imitated": missing,
        "prediction": {
            "io_seconds": prediction.seconds,
            "compute_seconds": prediction.compute,
            "io_share": prediction.share,
            "io_share_low95": prediction.low,
            "io_share_high95": prediction.high,
            "steps": [
                {"step": e.step, "of": e.what, "rate": e.rate, "unit": e.unit, "values": e.values,
                 "ranks": list(e.ranks), "seconds": e.seconds,
                 "seconds_low95": e.low, "seconds_high95": e.high,
                 "cost": None if e.cost is None else {
                     "file_seconds": e.cost.open, "call_seconds": e.cost.operation,
                     "byte_seconds": e.cost.byte, "sizes": e.cost.sizes},
                 "not_reliable": e.odd or None, "reason": e.reason or None}
                for e in prediction.expected
            ],
            "extrapolation": far.text or None if far else None,
            "remarks": list(prediction.remarks),
        },
    }  # fmt: skip


def _refuse_existing(*targets: str | None) -> None:
    for target in targets:
        if target and Path(target).exists():
            raise EffioError(f"{target} exists", hint="--force overwrites it")


def _write(target: str, text: str) -> None:
    path = Path(target)
    try:
        write_atomically(path, text)
    except OSError as error:
        raise EffioError(f"cannot write {path}: {error.strerror}", ExitCode.IO_ERROR) from None


@click.command("profile")
@click.argument("sources", metavar="[X]...", nargs=-1, type=PlacePath())
@click.option("--blank", is_flag=True, help="print the form of the questionnaire, to fill in")
@click.option(
    "--campaign", metavar="FILE", type=PlacePath(dir_okay=False),
    help="write the campaign that imitates it",
)  # fmt: skip
@click.option(
    "--repetitions", type=WholeNumber(1, 100_000), default=REPETITIONS, metavar="N",
    help=f"repetitions of the campaign  [default: {REPETITIONS}]",
)  # fmt: skip
@click.option(
    "--save", metavar="FILE", type=PlacePath(dir_okay=False),
    help="write all that is known as a form, to be corrected and read again",
)  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite existing files")
@click.option("--all", "everything", is_flag=True, help="every table in full")
@table_format()
@click.option("--page", metavar="FILE", type=PlacePath(dir_okay=False), help="write an HTML page")
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    blank: bool,
    campaign: str | None,
    repetitions: int,
    save: str | None,
    force: bool,
    everything: bool,
    form: Form,
    page: str | None,
) -> None:
    """Describe an application's I/O, and imitate it.

    X is a Darshan log (PyDarshan reads it), or the filled form of the I/O questionnaire (a file
    .toml); without it the questions are asked here. With --campaign the campaign that imitates it
    is written; once that has been run, this command says which share of the application's time
    would go to I/O on the measured system. Several X are applications that are described side by
    side: which I/O libraries they use, and one campaign that imitates all of them.
    """
    from effio.report.html import render, write_page
    from effio.report.profile import applications_section, profile_section

    if blank:
        if sources or campaign or save or page:
            raise click.UsageError(
                "--blank only prints an empty form: redirect it: effio profile --blank > app.toml"
            )
        click.echo(questionnaire.blank(), nl=False)
        return
    if not sources and form is Form.JSON:
        raise EffioError("--json: questions are asked on the terminal; name a log or a form")
    if save and len(sources) > 1:
        raise EffioError("--save writes the form of one application; name one")
    if not force:
        _refuse_existing(save, campaign)
    profiles = [profile_from(one) for one in sources] or [_answered()]
    # First, so that answers are not lost.
    if save:
        _write(save, questionnaire.filled(profiles[0]))
        say(f"form: {save}")
    elif not sources:
        say("--save FILE would keep the answers")
    imitated, sections = [], []
    for profile in profiles:
        steps = imitate(profile)
        missing = not_imitated(profile, steps)
        prediction = predict(profile, steps, kept_runs(steps, Store(runs_directory(ctx))))
        imitated.append(Imitated(profile, steps, missing))
        sections.append(profile_section(profile, steps, missing, prediction))
        if form is Form.JSON:
            click.echo(json.dumps(_data(profile, steps, missing, prediction)))
    section = sections[0] if len(profiles) == 1 else applications_section(profiles, sections)
    if form is Form.TEXT:
        print_section(Terminal(), section, everything)
    elif form is not Form.JSON:
        write_tables(tables_of(section, everything), form)
    if campaign:
        _write(campaign, campaign_text(imitated, repetitions))
        say(f"campaign: {campaign}")
    if page:
        names = list(sources) or ["the questionnaire"]
        write_page(Path(page), render([], names, head=section))
        say(f"page: {page}")
