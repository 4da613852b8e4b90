# SPDX-License-Identifier: BSD-3-Clause
"""Tables and trends from the index of a store have the same runs and the same numbers as those that
read every file: of damaged, changed, copied and foreign runs as well."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from driver import made
from driver.campaigns import read_runs
from driver.conftest import Effio
from effio.campaign.state import counting_of_unit, state_by
from effio.errors import EffioError
from effio.judge import gather
from effio.report.claims import claimed
from effio.report.indexed import Indexed
from effio.report.listing import line_of
from effio.report.points import points_of, points_of_claims, table_of
from effio.report.texts import as_csv
from effio.report.trend import as_data, trend_of
from effio.store import attempts, known, reading
from effio.store.all_runs import Store
from effio.store.folder import RunFolder
from effio.store.index import Index
from store import generate

RUNS = 12
OLD = Path(__file__).parent / "old"
# Each is a campaign, a part of it, a tag, the folder, a run, or several of these.
WORDS = (
    ["sweep"], ["sweep:transfer=1024"], ["tag:nightly"], ["tag:odd"], ["other"], ["."],
    ["20260101T000003Z", "tag:odd"], ["system=B:sweep", "tag:nightly"],
)  # fmt: skip


def _short() -> list[made.Line]:
    """A run of b_eff_io with its figures and few of its measurements: each is read in many ways."""
    lines = made.b_eff_io()
    rows = [line for line in lines if line["kind"] == "measurement"]
    return made.numbered([line for line in lines if line not in rows[3:]])


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EFFIO_CACHE", str(tmp_path / "cache"))
    # Already one run is looked up in the index.
    monkeypatch.setattr("effio.report.indexed._FEW", 0)
    monkeypatch.setattr("effio.judge.gather.MOST_RUNS", 500)
    folder = tmp_path / "runs"
    folder.mkdir()
    monkeypatch.chdir(folder)
    generate(folder, RUNS)
    for number, run in enumerate(sorted(folder.iterdir())):
        if number % 3:  # the others have no number
            lines = _short()
            lines[0]["started"] = f"2026-01-{1 + number % 8:02d}T00:00:00Z"
            made.write(run / "result.jsonl", lines)
        (run / "stdout.log").write_text(f"{run.name}\n")
        RunFolder(run).seal()
    return folder


@pytest.fixture
def indexed(root: Path) -> Iterator[Callable[[], Indexed]]:
    opened: list[Index] = []

    def make() -> Indexed:
        def index() -> Index:
            opened.append(Index(Store(root), line_of))
            return opened[-1]

        return Indexed(Store(root), index)

    yield make
    for one in opened:
        one.close()


def _kept(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Another content of the same size; the time of change is set back."""
    before, data = path.stat(), path.read_bytes()
    new = change(data)
    assert len(new) == len(data)
    path.write_bytes(new)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _turned(data: bytes) -> bytes:
    return data[:-2] + bytes([data[-2] ^ 1]) + data[-1:]


def _rate(data: bytes) -> bytes:
    return data.replace(b'"value":1', b'"value":9').replace(b'"value":2', b'"value":8')


def _renamed(run: Path) -> None:
    """A file in place of another one, with its size and time."""
    other = run / "other"
    shutil.copy2(run / "stdout.log", other)
    _kept(other, _turned)
    other.replace(run / "stdout.log")


def _record(run: Path, **changed: object) -> None:
    record = json.loads((run / "run.json").read_text())
    record.update(changed)
    (run / "run.json").write_text(json.dumps(record))


def _again(run: Path) -> None:
    """A later attempt at the same point."""
    other = run.with_name(f"20260201T{run.name[9:]}")
    if not other.exists():
        shutil.copytree(run, other)
        _record(other, id=other.name)
        RunFolder(other).seal()


def _with_axis(run: Path) -> None:
    record = json.loads((run / "run.json").read_text())
    record["campaign"]["axes"] = {"collective": len(run.name) % 2 == 0, "share": 0.25, "size": 1e12}
    _record(run, campaign=record["campaign"])
    RunFolder(run).seal()


def _linked(run: Path) -> None:
    away = run.parents[1] / "away"
    away.mkdir(exist_ok=True)
    run.rename(away / run.name)
    run.symlink_to(away / run.name)


def _tagged(run: Path) -> None:
    folder = RunFolder(run)
    folder.write_notes(folder.notes().model_copy(update={"tags": ("odd",)}))


def _without(name: str) -> Callable[[Path], None]:
    return lambda run: (run / name).unlink(missing_ok=True)


def _link(run: Path) -> None:
    (run / "stdout.log").unlink(missing_ok=True)
    (run / "stdout.log").symlink_to("x")


def _foreign(run: Path) -> None:
    """Neither a campaign's nor of this effio."""
    source = sorted(OLD.glob("*.jsonl"))[len(run.name) % 2]
    (run / "result.jsonl").write_bytes(source.read_bytes())
    _record(run, campaign=None)


CHANGES: dict[str, Callable[[Path], object]] = {
    "result": lambda run: _kept(run / "result.jsonl", _rate),
    "log": lambda run: _kept(run / "stdout.log", _turned),
    "log replaced": _renamed,
    "log gone": _without("stdout.log"),
    "log a link": _link,
    "result gone": _without("result.jsonl"),
    "result cut": lambda run: os.truncate(run / "result.jsonl", 400),
    "record gone": _without("run.json"),
    "record torn": lambda run: (run / "run.json").write_text("{"),
    "failed": lambda run: _record(run, outcome={"status": "io_error", "exit_code": 5}),
    "no checksums": _without("SHA256SUMS"),
    "other checksums": lambda run: (run / "SHA256SUMS").write_text(f"{'0' * 64}  stdout.log\n"),
    "sealed again": lambda run: RunFolder(run).seal(),
    "touched": lambda run: os.utime(run / "stdout.log", (0, 0)) if run.exists() else None,
    "another attempt": _again,
    "copied": lambda run: shutil.copytree(run, f"{run}-copied", symlinks=True),
    "removed": shutil.rmtree,
    "other axes": _with_axis,
    "other campaign": lambda run: _record(
        run, campaign={"name": "other", "step": "s", "point": "p"}
    ),
    "tagged": _tagged,
    "linked": _linked,
    "foreign": _foreign,
    "imported": lambda run: made.write(
        run.with_name(f"{run.name[:16]}-b-eff-io") / "result.jsonl", _short()
    ),
    "engine's": lambda run: shutil.copy(OLD / "probe-1.2.jsonl", run.parent / "effio-probe.jsonl"),
}


Answer = tuple[list[str], object]


def _answer(runs: Callable[[Callable[[str], None]], object]) -> Answer:
    """The messages about runs and the runs, or the messages and the error."""
    said: list[str] = []
    try:
        return said, runs(said.append)
    except EffioError as error:
        return said, (error.message, error.code, error.hint)


def _read(root: Path, words: list[str]) -> Answer:
    return _answer(lambda say: [claimed(one) for one in gather.judged(words, Store(root), say)])


def _plain(answer: Answer) -> object:
    """Axes of a run's record and of the index differ in their types only."""
    said, runs = answer
    if not isinstance(runs, list):
        return answer
    campaigns = [one.part.name if one.part is not None else "" for one in runs]
    claims = [(one.name, one.path, one.claim, one.axes, one.options) for one in runs]
    return said, list(zip(claims, campaigns, strict=True))


def _same_answers(root: Path, make: Callable[[], Indexed]) -> None:
    for words in WORDS:
        expected = _plain(_read(root, words))
        found = _plain(_answer(lambda say, words=words: make().gathered(words, say)))  # type: ignore[misc]
        assert found == expected, words
    everything = _answer(make().everything)
    # What is reached through a link is a run of the store, but not found below a folder.
    if everything[1] is not None and not any(run.is_symlink() for run in root.iterdir()):
        assert _plain(everything) == _plain(_read(root, [str(root)]))
    for campaign in ("sweep", "other"):
        for every in (False, True):
            read = read_runs(root, campaign, every).claimed
            known = make().of_campaign(campaign, every)
            known.sort(key=lambda run: (run.started, run.name))
            assert _plain(([], known)) == _plain(([], read))
            trends = trend_of("t", read), trend_of("t", known)
            assert as_data(trends[0]) == as_data(trends[1])


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_noticed(root: Path, indexed: Callable[[], Indexed], change: str) -> None:
    run = sorted(root.iterdir())[3]
    _again(run)  # counts as soon as the first attempt is damaged
    # The index knows all runs, and has compared their checksums.
    assert len(indexed().gathered(["sweep"], print)) == RUNS
    CHANGES[change](run)
    _same_answers(root, indexed)


@pytest.mark.parametrize("seed", range(3))
def test_the_index_answers_as_the_files_do(
    root: Path, indexed: Callable[[], Indexed], seed: int
) -> None:
    chance = random.Random(seed)
    _same_answers(root, indexed)
    for _ in range(4):
        for change in chance.choices(sorted(CHANGES), k=5):
            runs = [path for path in sorted(root.iterdir()) if path.is_dir()]
            try:
                CHANGES[change](chance.choice(runs))
            except (OSError, ValueError, KeyError, TypeError, AssertionError, EffioError):
                continue  # of a run that is not whole any more
        _same_answers(root, indexed)


def test_a_table_is_that_of_the_results(root: Path, indexed: Callable[[], Indexed]) -> None:
    read = points_of(gather.judged(["sweep"], Store(root)))
    known = points_of_claims(indexed().gathered(["sweep"], print))
    assert as_csv(table_of(known)) == as_csv(table_of(read))
    assert len(read) > 1


def test_a_damaged_run_is_compared_once(
    root: Path, indexed: Callable[[], Indexed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found of its checksums is kept as long as none of its files changes."""
    compared: list[Path] = []
    real = attempts.damage_by

    def damage_by(folder: RunFolder, *rest: Any) -> str:
        compared.append(folder.path)
        return real(folder, *rest)

    monkeypatch.setattr(attempts, "damage_by", damage_by)
    runs = sorted(root.iterdir())
    _again(runs[3])
    later = {run.name for run in root.iterdir()} - {run.name for run in runs}
    _kept(runs[3] / "stdout.log", _turned)

    def counting() -> set[str]:
        return {one.name for one in indexed().gathered(["sweep"], print)}

    names = {run.name for run in runs}
    assert counting() == names - {runs[3].name} | later
    assert len(compared) == RUNS + 1
    assert counting() == names - {runs[3].name} | later
    assert len(compared) == RUNS + 1
    # Whole again: only the sums of this one are compared anew.
    _kept(runs[3] / "stdout.log", _turned)
    assert counting() == names
    assert compared[RUNS + 1 :] == [runs[3]]


def test_only_attempts_that_are_not_alone_are_compared(
    root: Path, indexed: Callable[[], Indexed], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a single attempt at a point it does not matter whether its logs have changed."""
    compared: set[str] = set()
    real = known.are_as_sealed

    def noted(sealed: bytes, folder: bytes) -> bool:
        compared.add(os.fsdecode(os.path.basename(folder)))  # noqa: PTH119
        return real(sealed, folder)

    monkeypatch.setattr("effio.store.index.are_as_sealed", noted)
    assert len(indexed().gathered(["sweep"], print)) == RUNS
    assert compared == set()
    runs = {run.name for run in root.iterdir()}
    _again(sorted(root.iterdir())[3])
    assert len(indexed().gathered(["sweep"], print)) == RUNS
    assert compared == {sorted(runs)[3], *({run.name for run in root.iterdir()} - runs)}


def test_a_single_attempt_counts_as_all_attempts_decide_it() -> None:
    ends = (None, ("done", 0, ""), ("io_error", 3, ""), ("interrupted", 4, ""))
    for state, end, damage in itertools.product(("done", "newer", "failed"), ends, ("", "torn")):
        for has_record in {True, end is not None}:
            if damage and end is None and state != "done":
                continue  # never finished, and so not damaged
            outcome = attempts.Ending(*end) if end is not None else None
            facts = attempts.Facts(has_record=has_record, outcome=outcome, damage=damage)
            one = attempts.KnownAttempt(Path(), "run", state, facts)
            assert counting_of_unit([one]) is state_by([one])[1]


def test_many_processes_read_what_one_reads(effio: Effio) -> None:
    runs = effio.cwd / "effio-runs"
    runs.mkdir()
    generate(runs, reading._MANY + 20)
    # A column that no process knows when it starts, and a run that none can read.
    for number, run in enumerate(sorted(runs.iterdir())[-30::7]):
        lines = [json.loads(line) for line in (run / "result.jsonl").open()]
        lines[1]["detail"][f"new_{number}"] = hashlib.sha256(run.name.encode()).hexdigest()
        (run / "result.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (max(runs.iterdir()) / "result.jsonl").write_text("{torn")
    questions = [
        ["runs", "--format", "csv"],
        ["table", "sweep", "--format", "csv"],
        *(["query", f"SELECT * FROM {table} ORDER BY ALL", "--format", "json"]
          for table in ("runs", "measurements", "figures")),
    ]  # fmt: skip
    for words in questions:
        many = effio.run(*words, env={"EFFIO_CACHE": str(effio.cwd / "many")})
        one = effio.call(*words, env={"EFFIO_CACHE": str(effio.cwd / "one")})
        assert (many.returncode, one.returncode) == (0, 0), many.stderr
        if words[0] != "query":
            assert many.stdout == one.stdout
            continue
        # Columns are in the order in which they were met.
        rows = [sorted(map(json.loads, done.stdout.splitlines()), key=str) for done in (many, one)]
        assert sorted(rows[0], key=lambda row: str(sorted(row.items(), key=str))) == sorted(
            rows[1], key=lambda row: str(sorted(row.items(), key=str))
        )


def test_a_process_that_ends_early_leaves_its_runs_to_this_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reading.RunReader(root, line_of, lambda part, name: hash((part, name)))
    wanted = [(os.fsencode(run.name), b"") for run in sorted(root.iterdir())]
    alone = [reader.read(name, stamp) for name, stamp in wanted]

    def dead(*_: object) -> tuple[int, object]:
        child = os.fork()
        if not child:
            os._exit(1)
        return child, (root / ".." / "nothing").open("wb+")

    monkeypatch.setattr(reading, "_started", dead)
    assert [one for _, one in reading._read_by(2, reader, wanted, {})] == alone

    def none(*_: object) -> None:
        raise BlockingIOError

    monkeypatch.setattr(reading, "_started", none)
    assert [one for _, one in reading._read_by(2, reader, wanted, {})] == alone
