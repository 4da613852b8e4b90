# SPDX-License-Identifier: BSD-3-Clause
"""`effio bundle RUN...`: what is handed in, as one folder that can be checked."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from effio.cli.accept import based
from effio.cli.complete import complete_rules, complete_sides
from effio.cli.kept import opened_index
from effio.cli.main import runs_directory
from effio.cli.places import PlacePath
from effio.cli.streams import say
from effio.engine.kept import Kept, kept_of
from effio.errors import EffioError, ExitCode
from effio.judge.accept import accept
from effio.judge.bundle import write_bundle
from effio.judge.rules import Submission, load_rules, load_submission, path_of
from effio.judge.samples import Judged
from effio.judge.systems import systems_of
from effio.report.indexed import Indexed
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.folder import now_utc

if TYPE_CHECKING:
    from effio.report.model import Table


def _engines(runs: list[Judged]) -> dict[str, Kept]:
    """What is kept of the engines that measured, by version and checksum."""
    found: dict[str, Kept] = {}
    for run in runs:
        engine = run.result.record.engine if run.result.record is not None else {}
        path, sha256 = str(engine.get("path", "")), str(engine.get("sha256", ""))
        name = f"effio-mpi-{engine.get('version', '')}-{sha256[:10]}"
        if path and name not in found:
            found[name] = kept_of(Path(path), sha256)
    return found


def _for_people(title: str, texts: Sequence[str], tables: Mapping[str, Table]) -> dict[str, bytes]:
    """The tables as files of an office suite, those whose libraries are installed."""
    from effio.report.texts import records
    from effio.store.binary_tables import write_document, write_sheets

    found: dict[str, bytes] = {}
    stream = io.BytesIO()
    try:
        write_sheets({name: records(table) for name, table in tables.items()}, stream)
        found["submission.xlsx"] = stream.getvalue()
    except EffioError as error:
        if error.code is not ExitCode.ENVIRONMENT:
            raise
        say(f"left out: submission.xlsx ({error.message})")
    stream = io.BytesIO()
    try:
        shown = {t.title or name: ([c.title for c in t.columns], shown_rows(t))
                 for name, t in tables.items() if not t.page_only}  # fmt: skip
        write_document(title, texts, shown, stream)
        found["submission.docx"] = stream.getvalue()
    except EffioError as error:
        if error.code is not ExitCode.ENVIRONMENT:
            raise
        say(f"left out: submission.docx ({error.message})")
    return found


def shown_rows(table: Table) -> list[list[str]]:
    return [[c.show(x) for c, x in zip(table.columns, row, strict=True)] for row in table.rows]


def _texts(material: object, runs: list[Judged]) -> dict[str, str | bytes]:
    from effio.report.build import load, report_of
    from effio.report.html import render
    from effio.report.submission import Material, submission_section, tables
    from effio.report.texts import as_csv, as_markdown
    from effio.store.table import markdown_text

    assert isinstance(material, Material)
    found = tables(material)
    section = submission_section(material, found)
    reports = [report_of(*load(run.path)) for run in runs]
    head = [f"# {markdown_text(section.title)}", ""]
    head += [markdown_text(b) + "\n" for b in section.blocks if isinstance(b, str)]
    texts: dict[str, str | bytes] = {
        "index.html": render(reports, [run.name for run in runs], head=section),
        "submission.md": "\n".join([*head, *(as_markdown(table) for table in found.values())]),
    }
    texts |= {f"tables/{name}.csv": as_csv(table) for name, table in found.items()}
    for engine, kept in material.engines.items():
        texts |= {f"engine/{engine}/{name}": content for name, content in kept.files.items()}
    reported = [block for block in section.blocks if isinstance(block, str)]
    return texts | _for_people(section.title, reported, found)


@click.command("bundle")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, shell_complete=complete_sides)
@click.option(
    "-o", "--output", required=True, metavar="DIR", type=PlacePath(),
    help="a folder that does not exist yet",
)  # fmt: skip
@click.option(
    "--rules", metavar="RULES", shell_complete=complete_rules,
    help="judge the runs by these rules as well (as effio accept)",
)  # fmt: skip
@click.option(
    "--submission", metavar="FILE", type=PlacePath(dir_okay=False),
    help="TOML: title, submitter, systems, projections, audit trail (docs/bundle.md)",
)  # fmt: skip
@click.option(
    "--include", "included", metavar="FILE", multiple=True,
    type=PlacePath(exists=True, dir_okay=False),
    help="a further file: a build log, a description of changes",
)  # fmt: skip
@click.pass_context
def command(
    ctx: click.Context,
    runs: tuple[str, ...],
    output: str,
    rules: str | None,
    submission: str | None,
    included: tuple[str, ...],
) -> None:
    """Put runs and all that they are based on into one folder, for handing in.

    It holds the tables of a submission as page, Markdown, CSV, workbook and document, the report of
    every run, results, logs and job scripts, the build log and the sources of the engine, and
    checksums of everything: effio verify-bundle finds every change.
    """
    from effio.report.submission import Material

    indexed = Indexed(Store(runs_directory(ctx)), lambda: opened_index(ctx))
    found = indexed.judged(runs, say)
    reported = load_submission(Path(submission)) if submission else Submission()
    if reported.projection and rules is None:
        raise EffioError("projections are judged by rules: --rules RULES")
    acceptance = None
    everyone = found
    inputs = [Path(name) for name in included]
    if rules is not None:
        file = load_rules(rules)
        projections = based(reported, file, indexed)
        acceptance = accept(file, found, projections)
        bases = [run for _, some in projections.values() for run in some]
        paths = {safe_files.real(run.path) for run in found}
        everyone = [*found, *(run for run in bases if safe_files.real(run.path) not in paths)]
        inputs.append(path_of(rules))
    if submission:
        inputs.append(Path(submission))
    systems = systems_of(everyone, reported.system)
    engines = _engines(everyone)
    for name, kept in engines.items():
        if not kept.files:
            say(f"engine {name}: {kept.remark}")
    material = Material(reported, everyone, systems, acceptance, now_utc(), engines)
    identity = write_bundle(Path(output), everyone, _texts(material, everyone), inputs)
    click.echo(f"bundle: {output}")
    click.echo(f"sha256 of its SHA256SUMS: {identity}")
