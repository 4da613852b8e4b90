# SPDX-License-Identifier: BSD-3-Clause
"""From results to a report: everything that is told of a run, and the one HTML file it becomes."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import effio
from effio import text as fmt
from effio.errors import EffioError, ExitCode
from effio.report import common, registry
from effio.report.draw import figure_data
from effio.report.model import (
    Axis,
    Block,
    Cell,
    Column,
    Figure,
    Level,
    Panel,
    Reason,
    Report,
    Section,
    Series,
    Table,
)
from effio.store.folder import JOB_SCRIPT, RESULT, RunFolder, now_utc, write_atomically
from effio.store.reader import Result, read_result

_PAGE = Path(__file__).resolve().parent / "page"
_MARKS: Mapping[str, str] = {"good": "✓", "warn": "!", "bad": "✗", "info": "i"}


@dataclass(frozen=True)
class Card:
    title: str
    text: str
    level: Level
    anchor: str = ""
    reasons: Sequence[Reason] = ()


def load(path: Path) -> tuple[str, Result, list[str]]:
    """Name, result and further remarks of a run folder or a result file."""
    folder = path if path.is_dir() else path.parent
    if path.is_dir() and not (path / RESULT).exists():
        _refuse_without_result(RunFolder(path))
    result = read_result(path / RESULT if path.is_dir() else path)
    remarks = list(result.remarks)
    name = path.name
    if path.is_dir() or path.name == RESULT:
        name = folder.resolve().name
        changed = RunFolder(folder).changed_since_sealed()
        if changed:
            remarks.append(
                f"{', '.join(changed)} changed after the run had ended (checksums differ)"
            )
    return name, result, remarks


def _refuse_without_result(folder: RunFolder) -> NoReturn:
    """A job that waits, or a run that never started: the file it has not is not the point."""
    state = folder.state()
    record = folder.record()
    if state in ("planned", "submitted"):
        hint = f"its job script is {folder.path / JOB_SCRIPT}"
    elif record is not None and record.outcome is not None:
        hint = record.outcome.reason
    else:
        hint = f"look into {folder.path / 'stderr.log'}"
    raise EffioError(f"run {folder.id} has no result: it is {state}", hint=hint)


def tell(
    name: str,
    result: Result,
    remarks: Sequence[str] = (),
    ceilings: Mapping[str, float] | None = None,
) -> Report:
    """Everything that is to be said of one result."""
    teller = registry.teller_of(result.benchmark)
    headline = teller.headline(result)
    findings = [
        *common.error_findings(result),
        *common.cache_findings(result),
        *teller.findings(result),
    ]
    sections = list(teller.sections(result))
    sections += _common_sections(result, sections, ceilings)
    system = result.run.system
    where = result.run.file_system
    parts = [
        f"{fmt.count_of(system.ranks, 'rank')} on {fmt.count_of(system.nodes, 'node')}",
        f"{where.type} on {where.source}" if where and where.type else "",
        system.mpi.library.split(",")[0],
        result.run.started,
    ]
    return Report(
        name=name,
        benchmark=result.benchmark,
        headline=headline,
        findings=findings,
        sections=sections,
        subtitle=" · ".join(p for p in parts if p),
        remarks=tuple(remarks),
    )


def _common_sections(
    result: Result, own: Sequence[Section], ceilings: Mapping[str, float] | None
) -> list[Section]:
    """What the benchmark's own module has not told already."""
    told = {b.id for s in own for b in s.blocks if isinstance(b, Figure)}
    sections = []
    cells = result.measurements
    if "time" not in told and cells:
        splits = common.time_splits(cells, lambda m: f"{m.access} {m.pattern}".strip())
        if common.tells_parts(splits):
            sections.append(Section("where", "Where the time went", [common.time_figure(splits)]))
    if "call-times" not in told:
        figure = common.call_time_figure(cells, lambda m: m.pattern or m.benchmark)
        table = common.call_time_table(cells)
        blocks: list[Block] = [b for b in (figure, table if table.rows else None) if b]
        if blocks:
            sections.append(Section("calls", "Call times", blocks))
    if "roofline" not in told and (roof := common.roofline(result, ceilings)):
        sections.append(Section("roof", "What limits: latency or bandwidth", [roof]))
    if cells and result.run.file_system is not None:
        sections.append(common.cache_section(result))
        sections.append(common.hint_section(result))
    if errors := common.error_section(result):
        sections.append(errors)
    sections.append(common.system_section(result))
    return sections


def cards(report: Report) -> list[Card]:
    """The first screen: valid or not, cached or not, what limits."""
    found = []
    headline = report.headline
    if headline.verdict:
        found.append(
            Card(
                "Valid" if headline.valid else "Not valid",
                _sentence(headline.verdict),
                "good" if headline.valid else "bad",
                headline.anchor,
                reasons=headline.reasons,
            )
        )
    titles = {"cache": "Cached?", "limit": "What limits it"}
    for finding in report.findings:
        if finding.card:
            found.append(
                Card(
                    titles.get(finding.card, finding.card),
                    finding.text,
                    finding.level,
                    finding.anchor,
                )
            )
    return found


def _sentence(verdict: str) -> str:
    text = verdict.replace("NOT VALID", "Not valid").replace("VALID", "Valid")
    return text if text.endswith(".") else text + "."


# The page --------------------------------------------------------------------------------------


@functools.cache
def _plotly_script() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise EffioError(
            "plotly is not installed, which draws the report's figures",
            ExitCode.ENVIRONMENT,
            "python -m pip install plotly",
        ) from None
    text = get_plotlyjs()
    assert isinstance(text, str)
    # No end tag may stand inside a script element.
    return text.replace("</script", "<\\/script")


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json_for_html(value: object) -> str:
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def render(
    reports: Sequence[Report], sources: Sequence[str], together: Sequence[Block] = ()
) -> str:
    """One self-contained page; `together` is told of all reports at once. Scripts run by their
    checksum only, so that nothing that came in with a result could ever run, even if it were not
    escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    blocks = environment.get_template("blocks.html.j2").module
    figures: dict[str, object] = {}

    def show(block: Block, prefix: str) -> Markup:
        if isinstance(block, Figure):
            identity = f"{prefix}-{block.id}"
            figures[identity] = figure_data(block, identity)
            return Markup(blocks.figure(block, identity))  # type: ignore[attr-defined]
        if isinstance(block, Table):
            if not block.rows:
                return Markup("")
            name = "".join(c if c.isalnum() else "-" for c in block.title or "table").lower()
            return Markup(blocks.table_block(block, name))  # type: ignore[attr-defined]
        return Markup("<p>{}</p>").format(block)

    script = (_PAGE / "page.js").read_text(encoding="utf-8")
    plotly = _plotly_script()
    title = "effio: " + ", ".join(r.name for r in reports)

    page = environment.get_template("page.html.j2")
    return page.render(
        title=title,
        reports=reports,
        overview=[*overview(reports), *together] if len(reports) > 1 else [],
        cards=cards,
        marks=_MARKS,
        render=show,
        style=Markup((_PAGE / "style.css").read_text(encoding="utf-8")),
        script_hashes=Markup(f"{_hash(plotly)} {_hash(script)}"),
        plotly=Markup(plotly),
        script=Markup(script),
        figures_json=_Late(lambda: _json_for_html(figures)),
        version=effio.__version__,
        made=now_utc(),
        sources=", ".join(sources),
    )


class _Late:
    """Markup that is known when the rest of the page is."""

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __html__(self) -> str:
        return self._make()


def overview(reports: Sequence[Report]) -> list[Block]:
    """The headlines of several runs side by side."""
    rows: list[list[Cell]] = [
        [r.name, r.benchmark, r.headline.name, r.headline.value, r.headline.unit,
         r.headline.verdict, r.headline.context]
        for r in reports
    ]  # fmt: skip
    columns = [Column(n) for n in ("run", "benchmark", "figure")]
    columns += [Column("value", "1"), Column("unit"), Column("valid"), Column("circumstances")]
    blocks: list[Block] = []
    units = {r.headline.unit for r in reports if r.headline.value is not None}
    if len(units) == 1:
        unit = units.pop()
        shown = [r for r in reports if r.headline.value is not None]
        series = Series(
            "value",
            [r.name for r in shown],
            [r.headline.value for r in shown],
            notes=[f"{r.headline.verdict} {r.headline.context}".strip() for r in shown],
        )
        blocks.append(
            Figure(
                "headlines", "The runs side by side",
                "Compare only runs that are valid, or that were made in the same way.",
                "bars", Axis("run"), Axis(shown[0].headline.name, unit),
                {"": [Panel("", [series])]},
                columns=1,
            )
        )  # fmt: skip
        columns[3] = Column("value", unit)
    return [*blocks, Table(columns, rows, "Headlines")]


def across(results: Sequence[Result]) -> list[Block]:
    """What tellers say of several results of their benchmark together."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.benchmark, []).append(result)
    blocks: list[Block] = []
    for benchmark, some in groups.items():
        teller = registry.teller_of(benchmark)
        if len(some) > 1 and isinstance(teller, registry.Comparer):
            blocks += teller.across(some)
    return blocks


def write_report(
    paths: Sequence[Path], target: Path, ceilings: Mapping[str, float] | None = None
) -> Path:
    """Reads runs (folders or result files) and writes one page about them."""
    loaded = [load(path) for path in paths]
    reports = [tell(*one, ceilings=ceilings) for one in loaded]
    together = across([result for _, result, _ in loaded])
    try:
        write_atomically(target, render(reports, [str(p) for p in paths], together))
    except OSError as error:
        raise EffioError(f"cannot write {target}: {error.strerror}", ExitCode.IO_ERROR) from None
    return target
