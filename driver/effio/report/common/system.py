# SPDX-License-Identifier: BSD-3-Clause
"""The system a run was made on, in enough detail to repeat it."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from effio import text as fmt
from effio.report.common.repeat import repeat_lines
from effio.report.model import Column, Finding, Section, Table
from effio.store.option_values import option_text, settings_text, value_text
from effio.store.reader import Result
from effio.store.records import ClockSkew
from effio.store.values import as_count, as_number


def _facts(title: str, *rows: tuple[str, object]) -> Table:
    """Without what is not known."""
    known = [[name, value_text(v)] for name, v in rows if v not in (None, "", {}, [])]
    return Table([Column("what"), Column("value")], known, title)


def ranks_on_nodes(ranks: int, nodes: int) -> str:
    return f"{fmt.count_of(ranks, 'rank')} on {fmt.count_of(nodes, 'node')}"


def mpi_name(library: str) -> str:
    """The name, from the version text of an MPI library, which may be a page: "MPICH 4.0.2"."""
    lines = [line for line in library.splitlines() if line.strip()]
    first = next(iter(lines), "")
    if len(lines) > 1 and lines[1].startswith("Version:"):
        first = f"{first} {lines[1]}"
    words = " ".join(first.split(",")[0].split())
    return words.replace(" Version:", "").replace(" Library Version", "")[:60].strip()


def _mpi_text(library: str) -> str:
    """The whole of it as one line."""
    return "; ".join(" ".join(line.split()) for line in library.splitlines() if line.strip())


def seconds_of(result: Result) -> float | None:
    """How long the whole run took: as the driver saw it, else from its start to its end. Those are
    whole seconds: None if they are equal."""
    outcome = result.record.outcome if result.record else None
    if outcome is not None and outcome.seconds > 0:
        return outcome.seconds
    finished = result.end.detail.get("finished") if result.end else None
    try:
        begin, end = (_moment(t) for t in (result.run.started, finished))
        seconds = (end - begin).total_seconds()
    except (TypeError, ValueError):  # no time, or one without a zone
        return None
    return seconds if seconds > 0 else None


def _moment(text: object) -> datetime:
    if not isinstance(text, str):
        raise TypeError("no time")
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def crowding_finding(result: Result) -> Finding | None:
    """More ranks on a node than it has CPUs: times include waits for a CPU."""
    system = result.run.system
    cpus = as_count(system.cpu.get("logical_cpus"))
    per_node = -(-system.ranks // max(1, system.nodes))
    if not 0 < cpus < per_node or result.run.clock.virtual:
        return None
    return Finding(
        f"{fmt.count_of(per_node, 'rank')} on a node share {fmt.count_of(cpus, 'CPU')}: ranks"
        " wait for one another's CPU, so these times are not what the machine can do.",
        "system",
        "warn",
    )


def clock_finding(result: Result) -> Finding | None:
    """Warns if the time stamp counter changed its rate, so that times are wrong."""
    ticks = result.end.detail.get("clock_ticks") if result.end else None
    if not isinstance(ticks, dict) or ticks.get("agrees") is not False:
        return None
    off_by = as_number(ticks.get("off_by")) or 0.0
    return Finding(
        "Unreliable times: the processor's time stamp counter changed its rate by"
        f" {fmt.significant(off_by * 100, 2)} % during the run. Repeat it with --clock=monotonic.",
        "system",
        "warn",
    )


def clock_rows(result: Result) -> list[tuple[str, str]]:
    """What timed the run, and how far the clocks of its nodes were apart."""
    clock = result.run.clock
    if clock.virtual:
        return [("clock", "virtual: the times are a model's")]
    # Older results name the kernel's source among the facts about the kernel.
    of_kernel = ", ".join(clock.kernel_sources) or result.run.system.kernel.get("clock_source", "")
    words = [clock.source, f"source {of_kernel}" if of_kernel else ""]
    if clock.resolution_seconds > 0:
        words.append(f"in steps of {fmt.duration(clock.resolution_seconds)}")
    if clock.call_timing_seconds > 0:
        words.append(f"timing a call costs {fmt.duration(clock.call_timing_seconds)}")
    rows = [("clock", ", ".join(word for word in words if word))]
    if (begin := clock.skew) is None:
        return rows
    reported = f"{fmt.duration(begin.apart_seconds)} apart, ± {fmt.duration(begin.within_seconds)}"
    if begin.nodes_compared < result.run.system.nodes:
        reported += f" (of {fmt.count_of(begin.nodes_compared, 'node')} that were compared)"
    end = skew_at_end(result)
    if end is not None and end.after_seconds > 0:
        changed = abs(end.changed_seconds)
        bound = f"± {fmt.duration(end.changed_within_seconds)}"
        after = fmt.duration(end.after_seconds)
        if changed <= end.changed_within_seconds:
            reported += f"; no change found in {after}, {bound}"
        else:
            share = fmt.significant(changed / end.after_seconds * 1e6, 2)
            reported += f"; changed by {fmt.duration(changed)} {bound} in {after}: {share} ppm"
    return [*rows, ("clocks of the nodes", reported)]


def skew_at_end(result: Result) -> ClockSkew | None:
    reported = result.end.detail.get("clock_skew") if result.end else None
    if reported is None:
        return None
    try:
        return ClockSkew.model_validate(reported)
    except ValidationError:
        return None


def data_directory(result: Result) -> str:
    """The directory of the data files, also where the engine was given a relative path."""
    fs = result.run.file_system
    if fs is None or not fs.path:
        return ""
    if result.record is None:
        return fs.path
    return os.path.normpath(Path(result.record.directory, fs.path))


_YES_OR_NO = {True: "yes", False: "no", None: ""}


def sharing_finding(result: Result) -> Finding | None:
    """A file system that showed one node old bytes of what another one had closed."""
    place = result.run.file_system
    if place is None or place.close_to_open is not False:
        return None
    return Finding(
        f"Nodes may read old data from {place.mount_point or place.path}: before the run a node "
        "opened a file that another one had overwritten and closed, and read what was there "
        "before (no close-to-open consistency).",
        "system",
        "warn",
    )


def system_section(result: Result) -> Section:
    """Enough to repeat the run."""
    run = result.run
    system = run.system
    kernel, cpu, memory = system.kernel, system.cpu, system.memory

    def amount(value: object) -> str:
        number = as_number(value)
        return "" if number is None else fmt.size(number)

    took = seconds_of(result)
    names = ", ".join(system.node_names[:16]) + (" …" if len(system.node_names) > 16 else "")
    machine = _facts(
        "Machine",
        ("started", run.started),
        ("took", "" if took is None else fmt.duration(took)),
        ("ranks", ranks_on_nodes(system.ranks, system.nodes)),
        ("nodes", names),
        ("processor", f"{cpu.get('model', '')} ({cpu.get('logical_cpus', '?')} CPUs)"),
        ("memory of a node", amount(memory.get("node_total_bytes"))),
        ("operating system", kernel.get("distribution", "")),
        ("kernel", f"{kernel.get('system', '')} {kernel.get('release', '')}"),
        *clock_rows(result),
        ("started by root", "yes" if system.user_is_root else ""),
    )
    fs = run.file_system
    storage: list[tuple[str, object]] = []
    if fs is not None:
        storage = [
            ("directory", data_directory(result)),
            ("file system", fs.title),
            ("mounted at", fs.mount_point),
            ("mount options", fs.options.replace(";", "; ").replace(",", ", ")),
            ("in memory", "yes" if fs.memory_backed else ""),
            ("size and free", f"{amount(fs.total_bytes)}, {amount(fs.free_bytes)} free"),
            ("striping", fs.striping),
            ("close-to-open consistency", _YES_OR_NO[fs.close_to_open]),
        ]
    if run.backend is not None:
        settings = settings_text(run.backend.settings)
        storage += [("backend", run.backend.name), ("settings", settings)]
    engine = run.engine
    software = _facts(
        "Software",
        ("MPI", _mpi_text(system.mpi.library)),
        ("MPI standard", system.mpi.standard),
        ("engine", f"{engine.program} {engine.version} ({engine.revision})"),
        ("compiler", f"{engine.compiler} {engine.flags}"),
        *((f"variable {name}", value) for name, value in sorted(system.mpi.environment.items())),
        *sorted(system.batch.items()),
    )
    options = [
        [name, option_text(name, value)]
        for name, value in run.options.items()
        if value not in (None, "")
    ]
    return Section(
        "system",
        "The system, and how to repeat this run",
        [
            machine,
            _facts("Storage" if fs is not None else "Backend", *storage),
            software,
            _facts("How to repeat this run", *repeat_lines(result)),
            Table([Column("option"), Column("effective")], options, "Options", page_only=True),
        ],
    )
