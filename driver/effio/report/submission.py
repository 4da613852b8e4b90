# SPDX-License-Identifier: BSD-3-Clause
"""A submission as tables: systems, results with projections, what was requested and effective,
versions, the audit trail. Tables 2 to 4 are those of the Blue Waters instructions. Where the rules
name the tests of such instructions (`[[result]]`), table 3 has one row for each of them, and an
appendix has everything else that was measured."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import effio
from effio import text as fmt
from effio.engine.kept import Kept
from effio.judge import gather, statistics
from effio.judge import rules as data
from effio.judge.accept import OpenError, one_workload
from effio.judge.differences import workload
from effio.judge.outcomes import Acceptance, Outcome
from effio.judge.rules import ResultRow, RuleFile, Submission
from effio.judge.samples import Judged, Sample, samples_of
from effio.judge.selection import Picked, coordinate, select
from effio.judge.statistics import Summary
from effio.judge.systems import MeasuredSystem
from effio.report.acceptance import matrix, summary_text
from effio.report.common.hints import hint_section
from effio.report.common.names import grouped, unique
from effio.report.common.system import ranks_on_nodes
from effio.report.comparison import place, varying
from effio.report.model import Cell, Column, Section, Table, table_of
from effio.store.folder import RESULT, RunFolder
from effio.store.option_values import coordinate_text, option_text
from effio.store.records import Measurement
from effio.store.safe_files import sha256_of

# Units of the tables: what the field writes.
_SHOWN = {"B/s": ("MB/s", 1e-6)}
# A part of the servers may be off by this much: servers come whole.
_NEAR = 0.05


def in_units(value: float | None, unit: str) -> tuple[float | None, str]:
    shown, scale = _SHOWN.get(unit, (unit, 1.0))
    return (None if value is None else value * scale), shown


@dataclass(frozen=True)
class _Step:
    """What belongs to one row. `last`: at the largest value of its axis."""

    title: str
    picked: Sequence[Picked]
    last: bool = True


def _step_name(at: float, largest: float, test: ResultRow) -> str:
    """The step as "2/3 of the servers", "12 nodes"."""
    if not test.of:
        return f"{at:g} {str(test.axis).rpartition('.')[2]}"
    if at == 1 and largest > 1:
        return f"a single {test.of.removesuffix('s')}"
    part = Fraction(at / largest).limit_denominator(3)
    if part.denominator in (1, 3) and abs(float(part) - at / largest) <= _NEAR:
        thirds = part.numerator * 3 // part.denominator
        return f"{thirds}/3 of the {test.of}" if thirds < 3 else f"all {test.of}"
    return f"{at:g} of {largest:g} {test.of}"


def _steps(test: ResultRow, picked: Sequence[Picked]) -> Iterator[_Step]:
    """The steps by the axis of the test, if it has one and the runs have it."""
    title = test.title or test.id
    if test.axis is None:
        yield _Step(title, picked)
        return
    axis = test.axis
    places = grouped(picked, lambda p: data.as_number(coordinate(p, axis)))
    largest = max((at for at in places if at is not None), default=0.0)
    for at in sorted(places, key=lambda at: (at is None, at or 0.0)):
        if at is None:
            yield _Step(title, places[at], not largest)
        else:
            name = f"{title}, {_step_name(at, largest, test)}" if len(places) > 1 else title
            yield _Step(name, places[at], at == largest)


def _remark(test: ResultRow, picked: Sequence[Picked]) -> str:
    """What a reader must know about the mean. The row is named as the instructions have it, and a
    campaign that was scaled measured less than that."""
    bad = [p for p in picked if not p.m.valid or p.m.rate.value is None]
    scaled = gather.scales_text(p.run for p in picked)
    remarks = [scaled] if scaled else []
    if bad:
        why = bad[0].m.invalid_reason or bad[0].m.rate.reason or "no rate"
        remarks.append(f"{len(bad)} invalid: {why}")
    try:
        one_workload(test, picked)
    except OpenError as error:
        remarks.append(str(error).partition(": select")[0])
    return fmt.plain("; ".join(remarks), 200)


def _row(test: ResultRow, letter: str, step: _Step, projected: Outcome | None) -> list[Cell]:
    values = [p.m.rate.value for p in step.picked if p.m.valid and p.m.rate.value is not None]
    goal = in_units(projected.value, projected.unit)[0] if projected and step.last else None
    remarks = (_remark(test, step.picked), "projected: see table 4" if goal is not None else "")
    unit = step.picked[0].m.rate.unit
    remark = "; ".join(filter(None, remarks))
    return result_row(step.title, letter, statistics.summary(values), unit, remark, goal)


def result_row(
    test: str, letter: str, found: Summary | None, unit: str, remark: str, goal: float | None = None
) -> list[Cell]:
    """A row of `results_table`. `goal`: the projected rate in the unit of the table."""
    rate, shown = in_units(found.mean if found else None, unit)
    cov, count = (found.cov, found.count) if found else (None, 0)
    return [test, letter, rate, goal, shown, cov, count, remark]


def results_table(title: str, rows: Sequence[Sequence[Cell]], over: str) -> Table:
    """`over`: what the means are taken over."""
    columns = [
        Column("Test"), Column("System"), Column("Benchmarked Rate", "1"),
        Column("Projected Rate", "1"), Column("Units"), Column("COV", "1", digits=3),
        Column(over.capitalize(), "1"), Column("Remark"),
    ]  # fmt: skip
    caption = (
        f"Means over all {over}. COV is their standard deviation (n-1) over the mean; one value"
        " has none. System is the letter of table 2."
    )
    return Table(columns, rows, title, caption)


def instructed(
    rules: RuleFile, systems: Sequence[MeasuredSystem], projected: Sequence[Outcome]
) -> tuple[list[Table], list[MeasuredSystem]]:
    """Table 3, a table for each group of tests; a test that was not measured has a row, too. And
    the runs with what no test of the instructions requires."""
    outcomes = {o.rule.id: o for o in projected}
    rows: dict[str, list[list[Cell]]] = {
        group: [] for group in unique(t.group for t in rules.result)
    }
    used: set[int] = set()
    for test in rules.result:
        of_test: list[list[Cell]] = []
        for system in systems:
            picked, _ = select(test, system.runs)
            used |= {id(p.m) for p in picked}
            if picked:
                goal = outcomes.get(test.projected or test.id)
                at = goal.projection.system if goal and goal.projection else ""
                mine = goal if at in ("", system.letter) else None
                of_test += [_row(test, system.letter, s, mine) for s in _steps(test, picked)]
        missing = result_row(test.title or test.id, "", None, "", "not measured")
        rows[test.group] += of_test or [missing]
    tables = [
        results_table(f"Table 3. I/O Test Results: {group}", of_group, "repetitions")
        for group, of_group in rows.items()
    ]
    return tables, [_without(system, used) for system in systems]


def _without(system: MeasuredSystem, used: set[int]) -> MeasuredSystem:
    def kept(measurements: Sequence[Measurement]) -> list[Measurement]:
        return [m for m in measurements if id(m) not in used]

    runs = [
        replace(run, result=replace(run.result, measurements=kept(run.result.measurements)))
        for run in system.runs
    ]
    return replace(system, runs=[r for r in runs if r.result.measurements])


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
    def described(name: str) -> Callable[[MeasuredSystem], Cell]:
        return lambda s: getattr(s.described, name) if s.described else None

    return table_of(
        material.systems,
        [
            (Column("System"), lambda s: s.letter),
            (Column("Name"), lambda s: described("name")(s) or ""),
            (Column("Processor"), lambda s: s.processor),
            (Column("Clock/MHz", "1"), described("clock_mhz")),
            (Column("Interconnect"), lambda s: described("interconnect")(s) or ""),
            (Column("Total Core Count", "1"), lambda s: s.cores),
        ],
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
        sample, found = row.sample, statistics.summary(row.sample.all())
        invalid = f"{len(sample.invalid)} invalid: {sample.invalid[0]}" if sample.invalid else ""
        what = ", ".join(filter(None, (sample.key.what, place(sample.key, names), row.apart)))
        rows.append(result_row(what, row.letter, found, sample.unit, fmt.plain(invalid, 200)))
    for outcome in projected:
        base, unit = in_units(outcome.base, outcome.unit)
        goal, _ = in_units(outcome.value, outcome.unit)
        letter = outcome.projection.system if outcome.projection else ""
        cov, count = (outcome.sample.cov, outcome.sample.count) if outcome.sample else (None, 0)
        what = f"{outcome.rule.title or outcome.rule.id} (projected)"
        rows.append([what, letter, base, goal, unit, cov, count, "projected: see table 4"])
    return rows


def _projected(material: Material) -> list[Outcome]:
    if material.acceptance is None:
        return []
    return [o for o in material.acceptance.outcomes if o.projection is not None]


def result_tables(material: Material) -> dict[str, Table]:
    """Tables by the names of their files: of the tests of the instructions, where the rules name
    them, and an appendix with everything else; or everything that was measured."""
    rules = material.acceptance.rules if material.acceptance else None
    if rules is None or not rules.result:
        projected = _projected(material)
        tables = measured_tables(material.systems, projected, "Table 3. I/O Test Results")
        return {f"results-{name}": table for name, table in tables.items()}
    of_tests, rest = instructed(rules, material.systems, _projected(material))
    appendix = measured_tables(rest, [], "Appendix. Other measurements")
    return {
        **{f"results-{t.title.rpartition(': ')[2].replace(' ', '-')}": t for t in of_tests},
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
    tables = {}
    for benchmark, some in found.items():
        projected = [o for o in projections if o.runs and o.runs[0].result.benchmark == benchmark]
        rows = _result_rows(some, projected)
        tables[benchmark] = results_table(f"{title}: {benchmark}", rows, "values")
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
                rows.append([run.name, name, asked, option_text(name, value)])
    columns = [Column("run"), Column("option"), Column("asked"), Column("effective")]
    caption = "Without a requested value, the default is effective. Short and classic words: Runs."
    return Table(columns, rows, "Options", caption)


def hints_table(runs: Sequence[Judged]) -> Table:
    rows: list[list[Cell]] = []
    columns: Sequence[Column] = [Column("hint")]
    for run in runs:
        section = hint_section(run.result)
        for block in section.blocks if section else ():
            if isinstance(block, Table):
                columns = block.columns
                rows += [[run.name, *row] for row in block.rows]
    return Table([Column("run"), *columns], rows, "Hints requested and granted")


def _versions(run: Judged) -> dict[str, str]:
    engine, system = run.result.run.engine, run.result.run.system
    return {
        "engine": f"{engine.program} {engine.version} ({engine.revision})",
        "compiler": f"{engine.compiler} {engine.flags}",
        "built with": engine.mpi_built_with,
        "MPI": " ".join(system.mpi.library.split()),
        "kernel": str(system.kernel.get("release", "")),
        "system": str(system.kernel.get("distribution", "")),
    }


def versions_table(runs: Sequence[Judged]) -> Table:
    rows = [
        ["this bundle", "effio", effio.__version__],
        ["this bundle", "Python", platform.python_version()],
    ]
    for run in runs:
        for name, value in _versions(run).items():
            if value.strip():
                rows.append([run.name, name, fmt.plain(value, 300)])
    return Table([Column("run"), Column("what"), Column("version")], rows, "Versions")


def runs_table(runs: Sequence[Judged], systems: Sequence[MeasuredSystem]) -> Table:
    letter = {run.name: s.letter for s in systems for run in s.runs}

    def command(run: Judged) -> str:
        return fmt.plain(" ".join(run.result.run.classic_command or run.result.run.command), 1000)

    def ranks(run: Judged) -> str:
        return ranks_on_nodes(run.result.run.system.ranks, run.result.run.system.nodes)

    return table_of(
        runs,
        [
            (Column("run"), lambda run: run.name),
            (Column("system"), lambda run: letter.get(run.name, "")),
            (Column("started"), lambda run: run.result.run.started),
            (Column("ended"), lambda run: run.result.status),
            (Column("ranks"), ranks),
            (Column("command"), command),
            (Column("labels"), lambda run: ", ".join(f"{n}={v}" for n, v in run.labels.items())),
        ],
        "Runs",
    )


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
