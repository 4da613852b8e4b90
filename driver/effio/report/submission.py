# SPDX-License-Identifier: BSD-3-Clause
"""A submission as tables: systems, results with projections, what was requested and effective,
versions, the audit trail. Tables 2 to 4 are those of the Blue Waters instructions."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import effio
from effio import text as fmt
from effio.engine.kept import Kept
from effio.judge import statistics
from effio.judge.differences import workload
from effio.judge.outcomes import Acceptance, Outcome
from effio.judge.rules import Submission
from effio.judge.samples import Judged, Sample, samples_of
from effio.judge.systems import MeasuredSystem
from effio.report import common
from effio.report.acceptance import matrix, summary_text
from effio.report.comparison import place, varying
from effio.report.instructed import in_units, instructed
from effio.report.model import Cell, Column, Section, Table
from effio.store.folder import RESULT, RunFolder
from effio.store.option_values import coordinate_text
from effio.store.safe_files import sha256_of


@dataclass(frozen=True)
class Material:
    """What a bundle is made of."""

    submission: Submission
    runs: Sequence[Judged]
    systems: Sequence[MeasuredSystem]
    acceptance: Acceptance | None
    made: str  # time of day, UTC
    engines: Mapping[str, Kept] = field(default_factory=dict)  # by their names


def systems_table(material: Material) -> Table:
    rows: list[list[Cell]] = []
    for s in material.systems:
        reported = s.described
        rows.append(
            [
                s.letter,
                reported.name if reported else "",
                s.processor,
                reported.clock_mhz if reported else None,
                reported.interconnect if reported else "",
                s.cores,
            ]
        )
    columns = [Column("System"), Column("Name"), Column("Processor"), Column("Clock/MHz", "1")]
    columns += [Column("Interconnect"), Column("Total Core Count", "1")]
    return Table(
        columns,
        rows,
        "Table 2. System Description",
        "What the submitter does not say is taken from the runs: the processor, and as cores the"
        " CPUs of all nodes of the largest run.",
    )


_Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Row:
    """A measurement of a system. `apart`: labels and options that distinguish it."""

    letter: str
    sample: Sample
    apart: str


def _rows_of(system: MeasuredSystem) -> Iterator[_Row]:
    """Runs that do different things, or are labelled differently, have no common mean."""
    groups: dict[tuple[str, _Pairs, frozenset[tuple[str, str]]], list[Judged]] = {}
    for run in system.runs:
        labels = tuple(sorted((n, v) for n, v in run.labels.items() if n != "system"))
        groups.setdefault((run.result.benchmark, labels, workload(run)), []).append(run)
    for (benchmark, labels, options), runs in groups.items():
        others = [o for b, _, o in groups if b == benchmark]
        shared = frozenset[tuple[str, str]].intersection(*others)
        # An axis of a campaign is an option too.
        own = dict([*sorted(options - shared), *labels])
        apart = ", ".join(f"{n.replace('-', ' ')} {coordinate_text(n, v)}" for n, v in own.items())
        for sample in samples_of(runs).values():
            yield _Row(system.letter, sample, fmt.plain(apart, 200))


def _result_rows(some: Sequence[_Row], projected: Sequence[Outcome]) -> list[list[Cell]]:
    names = varying([row.sample.key for row in some])
    rows: list[list[Cell]] = []
    for row in some:
        sample = row.sample
        reported = statistics.summary(sample.all())
        value, unit = in_units(reported.mean if reported else None, sample.unit)
        invalid = f"{len(sample.invalid)} invalid: {sample.invalid[0]}" if sample.invalid else ""
        what = ", ".join(filter(None, (sample.key.what, place(sample.key, names), row.apart)))
        cov = reported.cov if reported else None
        count = reported.count if reported else 0
        rows.append([what, row.letter, value, None, unit, cov, count, fmt.plain(invalid, 200)])
    for outcome in projected:
        base, unit = in_units(outcome.base, outcome.unit)
        goal, _ = in_units(outcome.value, outcome.unit)
        letter = outcome.projection.system if outcome.projection else ""
        cov = outcome.sample.cov if outcome.sample else None
        count = outcome.sample.count if outcome.sample else 0
        what = f"{outcome.rule.title or outcome.rule.id} (projected)"
        rows.append([what, letter, base, goal, unit, cov, count, "projected: see table 4"])
    return rows


def _projected(material: Material) -> list[Outcome]:
    if material.acceptance is None:
        return []
    return [o for o in material.acceptance.outcomes if o.projection is not None]


def _benchmark_of(outcome: Outcome) -> str:
    return next((run.result.benchmark for run in outcome.runs), "")


def result_tables(material: Material) -> dict[str, Table]:
    """Tables by the names of their files: of the tests of the instructions, where the rules name
    them, and an appendix with everything else; or everything that was measured."""
    rules = material.acceptance.rules if material.acceptance else None
    if rules is None or not rules.result:
        projected = _projected(material)
        tables = measured_tables(material.systems, projected, "Table 3. I/O Test Results")
        return {f"results-{name}": table for name, table in tables.items()}
    found = instructed(rules, material.systems, _projected(material))
    appendix = measured_tables(found.rest, [], "Appendix. Other measurements")
    return {
        **{f"results-{t.title.rpartition(': ')[2].replace(' ', '-')}": t for t in found.tables},
        **{f"appendix-{name}": table for name, table in appendix.items()},
    }


def measured_tables(
    systems: Sequence[MeasuredSystem], projections: Sequence[Outcome], title: str
) -> dict[str, Table]:
    """One for each benchmark."""
    found: dict[str, list[_Row]] = {}
    for row in (row for system in systems for row in _rows_of(system)):
        benchmark = next(iter(row.sample.runs.values())).result.benchmark
        found.setdefault(benchmark, []).append(row)
    columns = [Column("Test"), Column("System"), Column("Benchmarked Rate", "1")]
    columns += [Column("Projected Rate", "1"), Column("Units"), Column("COV", "1", digits=3)]
    columns += [Column("Values", "1"), Column("Remark")]
    tables = {}
    for benchmark, some in found.items():
        projected = [o for o in projections if _benchmark_of(o) == benchmark]
        tables[benchmark] = Table(
            columns,
            _result_rows(some, projected),
            f"{title}: {benchmark}",
            "Means over all values. COV is their standard deviation (n-1) over the mean; one"
            " value has none. System is the letter of table 2.",
        )
    return tables


def projections_table(material: Material) -> Table:
    rows: list[list[Cell]] = []
    for o in _projected(material):
        assert o.projection is not None
        base, unit = in_units(o.base, o.unit)
        goal, _ = in_units(o.value, o.unit)
        runs = ", ".join(run.name for run in o.runs)
        rows.append([o.rule.id, o.projection.system, base, goal, unit, o.projection.method, runs])
    columns = [Column("Rule"), Column("System"), Column("Benchmarked", "1")]
    columns += [Column("Projected", "1"), Column("Units"), Column("Method"), Column("Measured in")]
    return Table(columns, rows, "Table 4. Projections", "None of these values was measured.")


def _asked(words: Sequence[str], name: str) -> str | None:
    for i, word in enumerate(words):
        if word == f"--{name}":
            following = words[i + 1] if i + 1 < len(words) else ""
            return following if following and not following.startswith("-") else "on"
        if word.startswith(f"--{name}="):
            return word.partition("=")[2]
    return None


def options_table(runs: Sequence[Judged]) -> Table:
    rows: list[list[Cell]] = []
    for run in runs:
        words = run.result.run.command
        for name, value in run.result.run.options.items():
            asked = _asked(words, name)
            if asked is not None or value not in (None, "", [], False):
                rows.append([run.name, name, asked, common.option_text(name, value)])
    columns = [Column("run"), Column("option"), Column("asked"), Column("effective")]
    caption = "Without a requested value, the default is effective. Short and classic words: Runs."
    return Table(columns, rows, "Options", caption)


def hints_table(runs: Sequence[Judged]) -> Table:
    rows: list[list[Cell]] = []
    columns: Sequence[Column] = [Column("hint")]
    for run in runs:
        section = common.hint_section(run.result)
        for block in section.blocks if section else ():
            if isinstance(block, Table):
                columns = block.columns
                rows += [[run.name, *row] for row in block.rows]
    return Table([Column("run"), *columns], rows, "Hints requested and granted")


def versions_table(runs: Sequence[Judged]) -> Table:
    rows: list[list[Cell]] = [
        ["this bundle", "effio", effio.__version__],
        ["this bundle", "Python", platform.python_version()],
    ]
    for run in runs:
        reported = run.result.run
        for name, value in (
            (
                "engine",
                f"{reported.engine.program} {reported.engine.version} ({reported.engine.revision})",
            ),
            ("compiler", f"{reported.engine.compiler} {reported.engine.flags}"),
            ("built with", reported.engine.mpi_built_with),
            ("MPI", " ".join(reported.system.mpi.library.split())),
            ("kernel", str(reported.system.kernel.get("release", ""))),
            ("system", str(reported.system.kernel.get("distribution", ""))),
        ):
            if value.strip():
                rows.append([run.name, name, fmt.plain(value, 300)])
    return Table([Column("run"), Column("what"), Column("version")], rows, "Versions")


def runs_table(runs: Sequence[Judged], systems: Sequence[MeasuredSystem]) -> Table:
    letter = {run.name: s.letter for s in systems for run in s.runs}
    rows: list[list[Cell]] = [
        [
            run.name,
            letter.get(run.name, ""),
            run.result.run.started,
            run.result.status,
            common.ranks_on_nodes(run.result.run.system.ranks, run.result.run.system.nodes),
            fmt.plain(" ".join(run.result.run.classic_command or run.result.run.command), 1000),
            ", ".join(f"{n}={v}" for n, v in run.labels.items()),
        ]
        for run in runs
    ]
    names = ("run", "system", "started", "ended", "ranks", "command", "labels")
    return Table([Column(n) for n in names], rows, "Runs")


def _events(material: Material) -> Iterator[list[Cell]]:
    for run in material.runs:
        folder = run.path if run.path.is_dir() else None
        file = folder / RESULT if folder else run.path
        record = run.result.record
        if record is not None:
            by = f"{record.launcher} on {record.process.get('host', '?')}"
            yield [record.created, run.name, f"started by effio with {by}", ""]
        revision = run.result.run.engine.revision
        yield [run.result.run.started, run.name, f"engine {revision} measured", ""]
        ended = run.result.end.detail.get("finished") if run.result.end else None
        state = f"ended: {run.result.status}"
        yield [fmt.plain(ended or ""), run.name, state, sha256_of(file)]
        yield ["", run.name, _sealed(folder), ""]
    for name, kept in material.engines.items():
        yield ["", "", f"engine {name}: {', '.join(kept.files) or 'nothing'} ({kept.remark})", ""]
    for line in material.submission.audit:
        yield ["", "", f"the submitter: {fmt.plain(line, 1000)}", ""]
    yield [material.made, "", f"bundled by effio {effio.__version__}", ""]


def _sealed(folder: object) -> str:
    if folder is None:
        return "a result file alone: nothing shows whether it was changed"
    store = RunFolder(folder)  # type: ignore[arg-type]
    if not store.is_sealed:
        return "no checksums were made at its end"
    changed = store.changed_since_sealed()
    if changed:
        return f"CHANGED after its end: {', '.join(changed)}"
    return "unchanged since its end, by its checksums"


def audit_table(material: Material) -> Table:
    columns = [Column("time"), Column("run"), Column("what"), Column("sha256 of the result")]
    return Table(columns, list(_events(material)), "Audit trail")


def tables(material: Material) -> dict[str, Table]:
    """All of them, by the names of their files."""
    results = result_tables(material)
    found = {"systems": systems_table(material)}
    found |= {name: t for name, t in results.items() if not name.startswith("appendix-")}
    found["projections"] = projections_table(material)
    if material.acceptance is not None:
        found["acceptance"] = matrix(material.acceptance, material.systems)
    found |= {name: t for name, t in results.items() if name.startswith("appendix-")}
    found["runs"] = runs_table(material.runs, material.systems)
    found["options"] = options_table(material.runs)
    found["hints"] = hints_table(material.runs)
    found["versions"] = versions_table(material.runs)
    found["audit"] = audit_table(material)
    return found


def submission_section(material: Material, found: dict[str, Table]) -> Section:
    reported = material.submission
    by = f"Submitted by {reported.submitter}." if reported.submitter else ""
    verdict = f"{summary_text(material.acceptance)}." if material.acceptance else ""
    texts = [t for t in (by, reported.notes, verdict) if t]
    return Section("submission", reported.title or "Submission", [*texts, *found.values()])
