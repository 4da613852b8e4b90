# SPDX-License-Identifier: BSD-3-Clause
"""`effio run quick`: what its file says, what its card says, and one whole run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from driver import made
from driver.conftest import Effio
from effio import text as fmt
from effio.campaign import budget, planned
from effio.campaign.file import Line, load_shipped, path_of, shipped
from effio.campaign.order import Asked, study_of
from effio.cli.card import print_card
from effio.engine.program import Engine as Program
from effio.launch.launchers import Ranks
from effio.report.card import CardLine, device_card, figure_note, line_of
from effio.store.evidence import Evidence, Place
from effio.store.reader import Result, read_result
from engines import Engine

MIB = 1 << 20


def _ior(tmp_path: Path, verdict: str = "device", **run: Any) -> Result:
    """Two repetitions: 100 bytes in 1 s and in 3 s, and as many reads of 4 bytes each."""
    lines = [made.run_line(benchmark="ior", **run)]
    for access in ("write", "read"):
        for repetition, seconds in enumerate((1.0, 3.0), 1):
            lines.append(
                made.measurement(
                    access, "", 1, 100 / seconds,
                    benchmark="ior", bytes=100, operations=25, repetition=repetition,
                    where={"transfer_bytes": 4},
                    seconds={"total": made.spread(seconds)},
                    call_times=made.call_times(99, 1e-3)
                    | {"buckets_begin_ns_count": [[1_000_000, 98], [7_000_000, repetition]]},
                    cache=None if not verdict else {"verdict": verdict},
                )
            )  # fmt: skip
    path = made.write(tmp_path / f"ior-{verdict}.jsonl", made.numbered([*lines, made.end()]))
    return read_result(path)


READ = Line(title="cold read", access="read", show="rate", from_storage=True)


def test_a_line_is_all_bytes_over_all_seconds(tmp_path: Path) -> None:
    reported = line_of(READ, _ior(tmp_path), "")
    # 200 bytes in 4 s; the repetitions reached 100 B/s and 33.3 B/s.
    assert (reported.value, reported.unit, reported.bytes, reported.seconds) == (
        50.0,
        "B/s",
        200,
        4.0,
    )
    assert reported.high == 100.0
    assert reported.low == pytest.approx(100 / 3)
    assert reported.source == "from storage"


def test_repetitions_of_a_line_have_a_range_or_an_interval(tmp_path: Path) -> None:
    """As everywhere: fewer than five a range, then an interval; odd ones are not reliable."""

    def reported(*seconds: float) -> CardLine:
        lines = [made.run_line(benchmark="ior")]
        for number, one in enumerate(seconds, 1):
            lines.append(
                made.measurement(
                    "read", "", 1, 100 / one, benchmark="ior", bytes=100, repetition=number,
                    where={"transfer_bytes": 4}, seconds={"total": made.spread(one)},
                    cache={"verdict": "device"},
                )
            )  # fmt: skip
        lines = made.numbered([*lines, made.end()])
        return line_of(READ, read_result(made.write(tmp_path / f"{len(seconds)}.jsonl", lines)), "")

    assert reported(1.0, 1.25).interval() == "80.00 B/s to 100.0 B/s (range of 2)"
    five = reported(0.9, 1.1, 0.8, 1.2, 1.0)
    # 500 bytes in 5 s. Linearized, the rates are 100 + 100 (1 - t): 110, 90, 120, 80, 100, with a
    # deviation of sqrt(250) and Student's t of 2.776: ± 19.6.
    assert (five.value, five.interval(), five.odd) == (100.0, "± 19.6 % (95 %)", "")
    two_modes = reported(*[1.0, 0.5] * 10)
    assert two_modes.odd.startswith("not reliable: two modes, 50 % of 20 at")


def test_operations_come_with_the_time_of_99_per_cent_of_them(tmp_path: Path) -> None:
    line = Line(title="4 KiB reads", access="read", show="operations")
    reported = line_of(line, _ior(tmp_path), "")
    assert (reported.value, reported.unit, reported.calls) == (12.5, "op/s", 50)
    # 196 of 199 calls are within the first bucket, 98.5 %: the 99th is in the second.
    assert reported.p99 == 7e-3


@pytest.mark.parametrize(
    ("verdict", "why"),
    [
        ("cache", "the bytes came out of memory"),
        ("mixed", "only a part of the bytes came from storage"),
    ],
)
def test_a_rate_of_memory_is_not_a_storage_read_number(
    tmp_path: Path, verdict: str, why: str
) -> None:
    reported = line_of(READ, _ior(tmp_path, verdict), "")
    assert reported.value is None
    assert reported.missing == f"no storage read number: {why}"
    # A write that was flushed counts, whatever was seen of it.
    written = line_of(Line(title="write", access="write", show="rate"), _ior(tmp_path, verdict), "")
    assert written.value == 50.0


def test_a_rate_of_which_nothing_is_known_is_shown_with_what_was_done(tmp_path: Path) -> None:
    """File systems without counters: the number stands, and says what it may be of."""
    reported = line_of(READ, _ior(tmp_path, "unknown"), "")
    assert (reported.value, reported.source) == (50.0, "not known")
    evidence = Evidence(True, 100, None, {Place.UNKNOWN: 1.0}, ["dropped"])
    assert evidence.short() == "client cache dropped; server cache unknown"


def test_memory_is_not_called_storage(tmp_path: Path) -> None:
    place = made.run_line()["file_system"] | {"type": "tmpfs", "memory_backed": True}
    result = _ior(tmp_path, "cache", file_system=place)
    card = device_card("What this storage does", [(READ, result, "")])
    assert card.lines[0].missing.endswith("the directory is in memory (tmpfs)")
    assert card.notes[0] == "This directory is in memory (tmpfs): nothing here is storage."


def test_what_was_not_measured_says_why(tmp_path: Path) -> None:
    assert line_of(READ, None, "it needs 2 ranks").missing == "it needs 2 ranks"
    empty = made.write(
        tmp_path / "e.jsonl",
        made.numbered([made.run_line(benchmark="ior"), made.end("io_error", 3, "disk on fire")]),
    )
    assert line_of(READ, read_result(empty), "").missing == "disk on fire"


def test_messages_are_those_of_a_pair(tmp_path: Path) -> None:
    lines = [made.run_line(benchmark="rings")]
    lines.append(
        made.measurement(
            "exchange", "ping-pong", 1, 2e9, benchmark="rings", bytes=8000, operations=4,
            where={"family": "ping-pong", "length_bytes": 2000}, cache=None, call_times=None,
            seconds={"total": {"min": 1e-6, "mean": 1.5e-6, "max": 2e-6}}, detail={"pairs": 2},
        )
    )  # fmt: skip
    result = read_result(made.write(tmp_path / "r.jsonl", made.numbered([*lines, made.end()])))
    where: dict[str, bool | int | float | str] = {"family": "ping-pong", "length_bytes": 2000}
    time = line_of(Line(title="t", where=where, show="message time"), result, "")
    assert (time.value, time.low, time.high, time.count) == (1.5e-6, 1e-6, 2e-6, 2)
    assert time.interval() == "1.00 µs to 2.00 µs (range of 2)"
    rate = line_of(Line(title="r", where=where, show="message rate"), result, "")
    # 2000 bytes in 2 µs and in 1 µs.
    assert (rate.value, rate.low, rate.high) == (2e9, 1e9, 2e9)


def _printed(result: Result, reads: Result, columns: int) -> str:
    figure = Line(title="b_eff_io, a quick check", show="figure", figure="b_eff_io")
    reported = [
        (Line(title="sequential write, flushed", access="write", show="rate"), result, ""),
        (READ, reads, ""),
        (figure, result, ""),
    ]
    console = Console(width=columns, record=True, file=open("/dev/null", "w"), no_color=True)  # noqa: SIM115, PTH123
    print_card(console, device_card("What this storage does", reported))
    return console.export_text()


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_card_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    """Nothing is cut: neither what was measured nor a unit."""
    b_eff_io = read_result(made.write(tmp_path / "b.jsonl", made.b_eff_io()))
    text = _printed(b_eff_io, _ior(tmp_path, "cache"), columns)
    lines = text.splitlines()
    assert max(map(len, lines)) <= columns
    written = next(line for line in lines if line.startswith("sequential write"))
    assert written.rstrip().endswith("B/s")
    assert len(written.rstrip()) == min(columns, 84)
    assert "no storage read number: the bytes came out of memory" in " ".join(text.split())


def test_a_figure_that_is_not_valid_is_below_and_says_so(tmp_path: Path) -> None:
    b_eff_io = read_result(made.write(tmp_path / "b.jsonl", made.b_eff_io()))
    text = " ".join(_printed(b_eff_io, _ior(tmp_path), 80).split())
    below = text.partition("b_eff_io, a quick check: ")[2]
    assert below.startswith("300.0 MB/s")
    assert "NOT VALID" in below
    assert "scheduled for at least 30 min (this run: 0.2 min)" in below


def test_a_figure_of_storage_says_how_its_reads_came_from_there(tmp_path: Path) -> None:
    line = load_shipped("quick").named("b_eff_io").line[0]
    assert line.from_storage
    lines = made.b_eff_io()
    # As it is made, its reads came from the page cache: no number of the disk.
    cached = figure_note(line, read_result(made.write(tmp_path / "c.jsonl", lines)), "")
    assert cached == (
        "b_eff_io, a quick check: no storage number, because the bytes came out of memory."
    )
    for one in lines:
        if one["kind"] == "measurement" and one["access"] == "read":
            one["cache"]["verdict"] = "device"
        if one["kind"] == "run":
            one["options"]["drop-cache"] = "on"
    cold = figure_note(line, read_result(made.write(tmp_path / "d.jsonl", lines)), "")
    assert "300.0 MB/s" in cold
    assert (
        "(files dropped from the page cache before they are read; writes until on storage; reads"
        " from storage)"
    ) in cold
    assert "NOT VALID" in cold
    in_memory = [
        one | {"file_system": one["file_system"] | {"memory_backed": True, "type": "tmpfs"}}
        if one["kind"] == "run"
        else one
        for one in lines
    ]
    reported = figure_note(line, read_result(made.write(tmp_path / "m.jsonl", in_memory)), "")
    assert reported.endswith("because the directory is in memory (tmpfs).")


def test_what_was_read_ahead_came_from_storage(tmp_path: Path) -> None:
    """Rows of a type follow each other in a file that was dropped: the first fetches it all."""
    lines = made.b_eff_io()
    fetched = dict.fromkeys(("scatter", "shared", "separated", "segmented", "seg_coll"), 0)
    reads = [one for one in lines if one["kind"] == "measurement" and one["access"] == "read"]
    for one in reads:
        fetched[one["pattern"]] += one["bytes"]
    for one in reads:
        one["cache"] |= {"methods": ["dropped"], "process_read_bytes": fetched[one["pattern"]]}
        fetched[one["pattern"]] = 0
    line = load_shipped("quick").named("b_eff_io").line[0]
    reported = figure_note(line, read_result(made.write(tmp_path / "a.jsonl", lines)), "")
    assert "300.0 MB/s" in reported
    assert "reads from storage" in reported
    # A type that was not fetched.
    for one in reads:
        if one["pattern"] == "scatter":
            one["cache"]["process_read_bytes"] = 0
    reported = figure_note(line, read_result(made.write(tmp_path / "b.jsonl", lines)), "")
    assert "no storage number" in reported


def test_a_campaign_stays_within_its_bytes(any_engine: Engine) -> None:
    """What its steps write at most: 55 + 12 + 6 % in three repetitions, 21 % with rewrites."""
    quick = load_shipped("quick")
    assert quick.bytes == 512 * MIB
    engine = Program(any_engine.program, "of the test")
    study = study_of(path_of("quick"), Asked(), engine, lambda: Ranks(4))
    options = {p.step.name: p.options for p in study.points}
    size = int(options["stream"]["block"])
    # 4 ranks write a block each, three times.
    assert size % MIB == 0
    assert 0.5 * quick.bytes < size * 4 * 3 <= 0.55 * quick.bytes
    assert int(options["random-read"]["block"]) * 4 * 3 <= 0.12 * quick.bytes
    assert int(options["synced-write"]["block"]) * 4 * 3 <= 0.06 * quick.bytes
    assert int(options["b_eff_io"]["max-bytes"]) == int(0.21 * quick.bytes / 1.35)
    # b_eff_io takes two ranks of them at most.
    assert [p.ranks.total for p in study.points] == [4, 4, 4, 4, 4, 2]


def test_a_quick_check_stays_within_its_time_however_slow_the_storage_is(
    any_engine: Engine,
) -> None:
    """Each phase of each repetition has a stonewall; messages and b_eff_io have their own times,
    which their plans name."""
    engine = Program(any_engine.program, "of the test")
    study = study_of(path_of("quick"), Asked(), engine, lambda: Ranks(4))
    options = {p.step.name: p.options for p in study.points}
    longest = 0.0
    for name, phases in (("stream", 2), ("random-read", 2), ("synced-write", 1), ("names", 3)):
        repetitions = int(options[name]["iterations" if name == "names" else "repetitions"])
        stonewall = fmt.parse_duration(str(options[name]["stonewall"]))
        assert stonewall, name
        longest += stonewall * phases * repetitions
    # 3 s * 2 * 3 + 1.2 s * 2 * 3 + 1.5 s * 1 * 3 + 0.9 s * 3 * 3
    assert longest == pytest.approx(37.8)
    assert options["b_eff_io"]["time"] == "10.8s"
    reported = {
        p.point.step.name: planned.expected(p.seconds)
        for p in planned.plan(study.repetitions(), study.engines)
    }
    assert study.settings.seconds == 60
    assert longest + (reported["messages"] or 60) + (reported["b_eff_io"] or 60) <= 60


def test_creating_files_slowly_takes_no_longer(any_engine: Engine, tmp_path: Path) -> None:
    """10 ms for each name in virtual time: the 500 files of a rank would take 5 s to create, as
    long to look up and to remove, three times over. They take 0.9 s each."""
    engine = Program(any_engine.program, "of the test")
    study = study_of(path_of("quick"), Asked(), engine, lambda: Ranks(2))
    words = next(p.words() for p in study.points if p.step.name == "names")
    slow = ("--backend=sim", "--backend-options=metadata=10ms", "--quiet")
    done = any_engine.run(["mdtest", *words, *slow], tmp_path)
    assert done.code == 0, done
    phases = [m for m in done.result.measurements if m["where"]["phase"].startswith("File")]
    assert [m["operations"] for m in phases] == pytest.approx([180] * 9, abs=4)
    assert sum(m["seconds"]["total"]["max"] for m in phases) == pytest.approx(8.1, abs=0.2)


@pytest.mark.parametrize(
    ("size", "ranks_of_b_eff_io", "left_out"), [("128MiB", 1, ""), ("32MiB", 1, "64 MiB")]
)
def test_quick_scales_down_to_its_bytes(
    with_engine: Effio, size: str, ranks_of_b_eff_io: int, left_out: str
) -> None:
    """One call of every row of b_eff_io takes 33.2 MiB a rank: two ranks are too many for 128 MiB,
    and one is for 32 MiB."""
    done = with_engine.call("run", "quick", "--ranks", 2, "--max-bytes", size, "--plan")
    assert done.returncode == 0, done.stderr
    assert "within the budget" in done.stdout
    row = next(line for line in done.stdout.splitlines() if line.startswith("b_eff_io"))
    if left_out:
        assert row == f"b_eff_io is left out: it needs a --max-bytes of at least {left_out}"
    else:
        assert row.split()[1] == str(ranks_of_b_eff_io)
    assert not (with_engine.cwd / "effio-runs").exists()


def test_quick_says_before_it_starts_that_its_bytes_are_too_few(with_engine: Effio) -> None:
    done = with_engine.call("run", "quick", "--ranks", 2, "--max-bytes", "4MiB")
    assert done.returncode == 2
    # 1 MiB a rank and repetition is the least of the first step: 6 MiB.
    assert "too much for the budget: 6.7" in done.stderr
    assert not (with_engine.cwd / "effio-runs").exists()


@pytest.mark.parametrize(
    ("text", "size"),
    [("512MiB", 512 * MIB), ("2GB", 2 * 10**9), ("7", 7), ("1.5KiB", 1536), ("9B", 9),
     ("1G", None), ("x", None), ("-1MiB", None)],
)  # fmt: skip
def test_sizes_are_read_as_the_engine_reads_them(text: str, size: int | None) -> None:
    assert fmt.parse_size(text) == size


def test_times_are_read_as_the_engine_reads_them() -> None:
    assert [fmt.parse_duration(t) for t in ("60s", "1.5min", "2h", "250ms", "3", "5x")] == [
        60, 90, 7200, 0.25, 3, None,
    ]  # fmt: skip


def test_quick_is_offered_and_every_option_of_it_is_one(with_engine: Effio, data: Path) -> None:
    assert "quick" in shipped()
    assert "quick" in with_engine.call("run", "--help").stdout
    # A campaign has no rare options.
    assert "--help-all" not in with_engine.call("run", "quick", "--help").stdout
    done = with_engine.call(
        "run", "quick", "--ranks", 4, "--dir", data, "--print-command", "--max-bytes", "1GiB"
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(load_shipped("quick").step)
    assert all(str(data) in line for line in lines if " rings " not in line)
    refused = with_engine.call("run", "quick", "--dir", data, "--max-bytes", "1G")
    assert refused.returncode == 2
    assert "'1G' is not a size" in refused.stderr


@pytest.fixture
def card_program(any_engine: Engine) -> Path:
    """The engine of the first `make run`."""
    program = any_engine.program.with_name("effio-card")
    if not program.exists():
        pytest.skip("the engine under test was built without effio-card")
    return program


def test_the_first_make_run_compiles_what_the_card_needs(
    effio: Effio, card_program: Path, any_engine: Engine
) -> None:
    effio.environment |= {"EFFIO_ENGINE": str(card_program), "EFFIO_MPIEXEC": any_engine.mpiexec}
    names = effio.call("list", "--names").stdout.split()
    assert set(names) == {step.benchmark for step in load_shipped("quick").step}
    refused = effio.call("run", "flash-io")
    assert refused.returncode == 2
    assert "no benchmark or campaign 'flash-io'" in refused.stderr
    assert "mdtest (make build compiles the others)" in refused.stderr
    # A campaign has nearly the same name; it is not what was meant.
    refused = effio.call("run", "libraries")
    assert "effio run --help lists them (make build compiles the others)" in refused.stderr


@pytest.mark.parametrize(("ranks", "program"), [(1, "effio-mpi"), (2, "effio-card")])
def test_quick_ends_with_a_card(
    with_engine: Effio,
    data: Path,
    ranks: int,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    if program == "effio-card":
        with_engine.environment["EFFIO_ENGINE"] = str(request.getfixturevalue("card_program"))
    monkeypatch.setattr(budget, "LEAST_SECONDS", 1000.0)  # in case the machine is busy
    done = with_engine.call(
        "run", "quick", "--ranks", ranks, "--dir", data, "--time", "5s",
        "--quiet",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(data.iterdir()) == []
    runs = sorted(
        p for p in (with_engine.cwd / "effio-runs").iterdir() if (p / "run.json").is_file()
    )
    steps = [s for s in load_shipped("quick").step if s.ranks_at_least <= ranks]
    assert len(runs) == len(steps)
    # Each is a run like any other.
    assert {json.loads((r / "run.json").read_text())["outcome"]["status"] for r in runs} == {"done"}
    first = done.stdout.splitlines()[0]
    assert first == "What this storage does"
    for step in load_shipped("quick").step:
        for line in step.line:
            assert line.title in done.stdout
    if ranks == 1:
        assert "it needs 2 ranks" in done.stdout
    # Tables show what a step is for: the step of random reads also writes what it reads.
    listed = map(json.loads, with_engine.call("runs", "--json").stdout.splitlines())
    numbers = {line["step"]: line["headline"] for line in listed}
    assert numbers["stream"] == "write_bandwidth"
    assert numbers["random-read"] == "read_bandwidth"
    card = " ".join(done.stdout.split())
    assert "(that requires: scheduled for at least 30 min (this run: 0.0 min); " in card
    (page,) = (with_engine.cwd / "effio-runs").glob("*.html")
    text = page.read_text()
    assert "What this storage does" in text
    assert all(run.name in text for run in runs)
