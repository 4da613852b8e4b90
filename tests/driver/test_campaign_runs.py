# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that run: resumed, edited, locked."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from driver.campaigns import NULL, STEP, record_of, run_campaign, runs_of, write_campaign
from driver.conftest import Effio
from driver.runs import with_one_rank
from effio.store.folder import RunFolder
from engines import Engine
from patience import SECONDS
from results import load


@pytest.fixture
def with_engine(effio: Effio, engines: dict[str, Engine]) -> Effio:
    return with_one_rank(effio, engines)


@pytest.fixture
def write(with_engine: Effio) -> Callable[[str], None]:
    return partial(write_campaign, with_engine)


def test_running_again_does_what_is_not_done(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    text = 'repetitions = 2\nbytes = "1GiB"\n' + STEP + NULL
    text += '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n'
    write(text)
    run_campaign(with_engine, "--only", "transfer == 1MiB and repetition == 1")
    (first,) = runs_of(with_engine)
    assert record_of(first)["campaign"]["axes"] == {"transfer": "1MiB"}
    before = (first / "SHA256SUMS").read_bytes()
    done = run_campaign(with_engine)
    assert "1 of 4 runs are done already" in done.stderr
    assert "writing at most 1 GiB" in done.stderr
    assert len(runs_of(with_engine)) == 4
    assert (first / "SHA256SUMS").read_bytes() == before
    # Interleaved: both points, and then both again, backward.
    order = [record_of(run)["campaign"] for run in runs_of(with_engine)]
    assert [(c["axes"]["transfer"], c["repetition"]) for c in order] == [
        ("1MiB", 0), ("2MiB", 0), ("2MiB", 1), ("1MiB", 1),
    ]  # fmt: skip
    again = run_campaign(with_engine)
    assert "4 of 4 runs are done already" in again.stderr
    assert "writing at most" not in again.stderr  # nothing is
    rows = [line for line in again.stdout.splitlines() if "2 of 2" in line]
    assert len(rows) == 2
    # For other programs standard output has the table and nothing else.
    table = list(csv.DictReader(run_campaign(with_engine, "--format", "csv").stdout.splitlines()))
    assert [(row["step"], row["transfer"], row["runs"], row["state"]) for row in table] == [
        ("a", "1MiB", "2 of 2", "done"), ("a", "2MiB", "2 of 2", "done"),
    ]  # fmt: skip
    assert float(table[0]["median"]) > 0
    plan = run_campaign(with_engine, "--plan", "--format", "tsv").stdout.splitlines()
    assert [len(line.split("\t")) for line in plan] == [len(plan[0].split("\t"))] * 3
    assert len(runs_of(with_engine)) == 4
    # Edited in the middle: what changed is reported, what was measured stays.
    write(text.replace('["1MiB", "2MiB"]', '["2MiB", "512KiB"]'))
    done = run_campaign(with_engine)
    assert "1 point new: a transfer=512KiB" in done.stderr
    assert "1 point no longer wanted, their runs stay: a transfer=1MiB" in done.stderr
    assert "2 of 4 runs are done already" in done.stderr
    assert len(runs_of(with_engine)) == 6


@pytest.mark.parametrize("hour", [3600, -3600])
def test_the_time_of_day_is_set_between_two_runs(
    any_engine: Engine, with_engine: Effio, write: Callable[[str], None], hour: int
) -> None:
    """Forward or back, for the driver and the ranks of the later runs: all points are measured,
    and each of them counts as done."""
    shim = any_engine.build / "tests" / "faults" / "effio_stepped_clock.so"
    assert shim.exists(), f"{shim} is not built"
    stepped = with_engine.cwd / "stepped"
    cleanup = f'cleanup = [["touch", "{stepped}"]]\n'
    write("repetitions = 3\n" + STEP + cleanup + NULL)
    jump = {"LD_PRELOAD": str(shim), "EFFIO_STEP": str(hour), "EFFIO_STEP_FILE": str(stepped)}
    done = with_engine.run("run", "s.toml", "--quiet", "--no-report", env=jump)
    assert done.returncode == 0, done.stdout + done.stderr
    started = sorted(record_of(run)["created"] for run in runs_of(with_engine))
    assert len(started) == 3
    first, last = (datetime.fromisoformat(t.replace("Z", "+00:00")) for t in started[::2])
    assert 3500 < (last - first).total_seconds() < 3600 + 600
    again = run_campaign(with_engine)
    assert "3 of 3 runs are done already" in again.stderr


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _other_byte(path: Path) -> None:
    """Of the same size, and with its time set back."""
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"{", b"[", 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


# Damage to a finished result, and the message about it.
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda p: p.write_bytes(p.read_bytes()[:-40]), "is not complete (unfinished)"),
    "without end line": (
        lambda p: p.write_bytes(b"".join(p.read_bytes().splitlines(keepends=True)[:-1])),
        "is not complete (unfinished)",
    ),
    "empty": (lambda p: p.write_bytes(b""), "empty"),
    "garbage": (lambda p: p.write_bytes(b"\x00\xff" * 99), "line 1: not JSON"),
    "a directory": (_directory, "is a directory"),
    "a FIFO": (_fifo, "is a FIFO"),
    "gone": (lambda p: p.unlink(), "No such file"),
    "another file changed": (
        lambda p: _other_byte(p.with_name("environment.json")),
        "environment.json: not as sealed",
    ),
}


@pytest.mark.parametrize("few", [1, 1000], ids=["known by the index", "read"])
def test_a_campaign_over_a_damaged_store(
    with_engine: Effio,
    write: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    few: int,
) -> None:
    """Each damaged run is named, kept as it is and repeated; the campaign is complete in the
    end. The index knew the runs before they were damaged."""
    monkeypatch.setattr("effio.cli.kept._WORTH_ASKING", few)
    sizes = [f"{2**i}KiB" for i in range(len(DAMAGE) + 1)]
    write(f"{STEP}{NULL}[step.sweep]\ntransfer = {json.dumps(sizes)}\n".replace("null", "sim"))
    run_campaign(with_engine)
    runs = runs_of(with_engine)
    assert len(runs) == len(sizes)
    assert len(with_engine.call("runs").stdout.splitlines()) == 1 + len(runs)
    for run, (damage, _) in zip(runs, DAMAGE.values(), strict=False):
        damage(run / "result.jsonl")
    kept = [sorted((p.name, p.lstat().st_mtime_ns) for p in run.iterdir()) for run in runs]
    done = run_campaign(with_engine)
    for run, (kind, (_, what)) in zip(runs, DAMAGE.items(), strict=False):
        (said,) = (line for line in done.stderr.splitlines() if run.name in line)
        assert "is damaged and runs again: " in said, kind
        assert what in said, kind
        assert said.endswith("; its folder stays"), kind
    assert f"1 of {len(sizes)} runs are done already" in done.stderr
    assert kept == [sorted((p.name, p.lstat().st_mtime_ns) for p in run.iterdir()) for run in runs]
    new = [run for run in runs_of(with_engine) if run not in runs]
    assert [record_of(r)["campaign"]["axes"] for r in new] == [
        record_of(r)["campaign"]["axes"] for r in runs[:-1]
    ]
    done = run_campaign(with_engine, "--format", "csv")
    assert f"{len(sizes)} of {len(sizes)} runs are done already" in done.stderr
    # Each number has what it is based on, also next to those of other points.
    basis = "one repetition says nothing about the next; evidence: simulated"
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [r["basis"] for r in rows] == [basis] * len(sizes)
    assert [float(r["median"]) for r in rows] == pytest.approx([1e8] * len(sizes))
    table = with_engine.call("table", "s", "--across", "transfer", "--format", "csv")
    (row,) = csv.DictReader(table.stdout.splitlines())
    for size in sizes:
        assert float(row[f"transfer={size}"]) == pytest.approx(1e8)
        assert row[f"basis of {size}"] == basis


@pytest.mark.parametrize("few", [1, 1000], ids=["known by the index", "read"])
def test_an_outcome_of_another_effio(
    with_engine: Effio,
    write: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    few: int,
) -> None:
    """Codes that this one does not have, in a run that is sealed and in one that is not: they
    were a traceback."""
    monkeypatch.setattr("effio.cli.kept._WORTH_ASKING", few)
    write(f'{STEP}{NULL}[step.sweep]\ntransfer = ["512KiB", "1MiB"]\n'.replace("null", "sim"))
    run_campaign(with_engine)
    for run, code, keeps_seal in zip(
        runs_of(with_engine), (77, 10**30), (True, False), strict=True
    ):
        record = record_of(run)
        record["outcome"] = {"status": "of later", "exit_code": code, "reason": "not of today"}
        (run / "run.json").write_text(json.dumps(record))
        (run / "SHA256SUMS").unlink()
        if keeps_seal:
            RunFolder(run).seal()
    done = run_campaign(with_engine, "--format", "csv", code=3)
    assert "2 of 2 runs are done already" in done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["state"] for row in rows] == ["io_error"] * 2
    assert [float(row["median"]) for row in rows] == pytest.approx([1e8] * 2)


def test_every_run_is_a_run_like_any_other(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(
        'tags = ["nightly"]\n' + STEP + 'setup = [["mkdir", "{dir}/it\'s; $HOME"]]\n'
        'cleanup = [["rmdir", "{dir}/it\'s; $HOME"]]\n'
        + NULL
        + '[step.environment]\nX_Y = "a \'b"\n'
    )
    run_campaign(with_engine)
    (run,) = runs_of(with_engine)
    record = record_of(run)
    assert record["campaign"]["tags"] == ["nightly"]
    assert record["environment"]["X_Y"] == "a 'b"
    notes = [json.loads(line) for line in (run / "commands.jsonl").read_text().splitlines()]
    assert [(n["what"], n["exit_code"]) for n in notes] == [("set-up", 0), ("clean-up", 0)]
    assert notes[0]["command"] == ["mkdir", f"{with_engine.cwd}/it's; $HOME"]
    shown = with_engine.call("show", run.name)
    assert shown.returncode == 0
    assert load(run / "result.jsonl").status == "done"


def test_the_store_knows_campaigns(with_engine: Effio, write: Callable[[str], None]) -> None:
    write('tags = ["nightly"]\n' + STEP + NULL + '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n')
    run_campaign(with_engine)
    alone = ["run", "ior", "--ranks", 1, "--backend", "null", "--block", "1MiB", "--quiet"]
    assert with_engine.call(*alone, "--no-report").returncode == 0

    def listed(*words: str) -> list[str]:
        done = with_engine.call("runs", "--json", *words)
        return [json.loads(line)["run"] for line in done.stdout.splitlines()]

    assert len(listed()) == 3
    assert (
        listed("--campaign", "s")
        == listed("--tag", "nightly")
        == [r.name for r in runs_of(with_engine)]
    )
    assert listed("--campaign", "t") == listed("--tag", "nightl") == []
    done = with_engine.call(
        "query", "--csv",
        "SELECT campaign, step, axis_transfer, tags, campaign_repetition FROM measurements "
        "WHERE access = 'write' ORDER BY 3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["s,a,1MiB,nightly,1", "s,a,2MiB,nightly,1", ",,,,"]


def test_a_command_that_fails_keeps_the_point_from_running_and_is_tried_again(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(STEP + 'setup = [["test", "-d", "{dir}/there"]]\n' + NULL)
    done = run_campaign(with_engine, code=6)
    assert "the set-up command test -d" in done.stderr
    (run,) = runs_of(with_engine)
    assert not (run / "result.jsonl").exists()
    (with_engine.cwd / "there").mkdir()
    run_campaign(with_engine)
    assert len(runs_of(with_engine)) == 2


def test_what_failed_is_repeated_only_on_request(
    with_engine: Effio, write: Callable[[str], None], data: Path
) -> None:
    """A file of that name that is not ours is refused, until it is gone."""
    write(STEP + '[step.options]\nblock = "1MiB"\nname = "x"\n')
    (data / "x").write_text("somebody's")
    done = run_campaign(with_engine, "--dir", data, code=2)
    assert "exists already and was not made by this run" in done.stderr
    # Where it was measured is kept with the campaign.
    run_campaign(with_engine, code=2)
    assert len(runs_of(with_engine)) == 1
    (data / "x").unlink()
    run_campaign(with_engine, code=2)
    assert len(runs_of(with_engine)) == 1
    run_campaign(with_engine, "--retry-failed")
    assert len(runs_of(with_engine)) == 2
    assert list(data.iterdir()) == []


def test_a_step_takes_a_value_from_an_earlier_one(
    with_engine: Effio, write: Callable[[str], None], data: Path
) -> None:
    """The read step reads what the smaller of the two write points wrote, on the file that it
    kept."""
    write(
        "remove_kept = true\n"
        '[[step]]\nname = "read"\nbenchmark = "ior"\nranks = 1\n'
        '[step.options]\nphases = "read"\nuse-existing = true\nname = "w{size}"\nblock = "{size}"\n'
        'read-from = "same"\ntransfer = "64KiB"\n'
        '[step.earlier.size]\nstep = "write"\ntake = "detail.rank_bytes.min"\n'
        'access = "write"\npick = "min"\n'
        '[[step]]\nname = "write"\nbenchmark = "ior"\nranks = 1\n'
        '[step.options]\nphases = "write"\nkeep = true\nname = "w{block}"\ntransfer = "64KiB"\n'
        '[step.sweep]\nblock = ["1MiB", "512KiB"]\n'
    )
    planned = with_engine.call("plan", "s.toml", "--dir", data)
    assert "then known" in planned.stdout, planned.stderr
    run_campaign(with_engine, "--dir", data)
    (read,) = runs_of(with_engine, "s-read")
    assert f"--block={512 << 10}" in record_of(read)["arguments"]
    (cell,) = load(read / "result.jsonl").measurements
    assert (cell["access"], cell["bytes"]) == ("read", 512 << 10)
    # Kept until it is no longer needed.
    assert list(data.iterdir()) == []


def test_a_file_of_the_last_run_is_removed_without_naming_earlier_runs(
    with_engine: Effio, write: Callable[[str], None], data: Path
) -> None:
    """Each repetition keeps a new file of the same name, and its age shows whose it is."""
    write(
        "remove_kept = true\nrepetitions = 2\n"
        '[[step]]\nname = "write"\nbenchmark = "ior"\nranks = 1\n'
        # Births and ends of runs are compared to within 5 s.
        f'setup = [["sh", "-c", "test ! -e {data}/w || sleep 7; rm -f {data}/w"]]\n'
        '[step.options]\nphases = "write"\nkeep = true\nname = "w"\n'
        'block = "64KiB"\ntransfer = "64KiB"\n'
    )
    done = run_campaign(with_engine, "--dir", data)
    assert list(data.iterdir()) == []
    assert done.stderr.count("removed 1 file of") == 1
    assert "left alone" not in done.stderr


def test_what_waits_for_a_failure_is_not_run(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(
        STEP + 'setup = [["false"]]\n' + NULL
        + '[[step]]\nname = "b"\nbenchmark = "ior"\nranks = 1\nneeds = ["a"]\n' + NULL
    )  # fmt: skip
    done = run_campaign(with_engine, code=6)
    assert "b: environment: not run: a is not done" in done.stderr
    assert len(runs_of(with_engine)) == 1


def test_the_budget_of_bytes_is_kept_before_anything_is_written(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write('bytes = "3MiB"\nrepetitions = 2\n' + STEP + NULL)
    done = run_campaign(with_engine, code=2)
    assert "4 MiB written, the budget is 3 MiB" in done.stderr
    assert runs_of(with_engine) == []
    run_campaign(with_engine, "--max-bytes", "4MiB")


def test_a_result_of_a_newer_effio_is_not_measured_again(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(STEP + NULL)
    run_campaign(with_engine)
    (run,) = runs_of(with_engine)
    result = run / "result.jsonl"
    result.write_text(
        result.read_text().replace('"schema":"effio-result/1', '"schema":"effio-result/9')
    )
    assert with_engine.call("runs").stdout.count("newer") >= 1
    run_campaign(with_engine, "--retry-failed")
    assert len(runs_of(with_engine)) == 1


def test_dry_run_leaves_scripts_that_run(with_engine: Effio, write: Callable[[str], None]) -> None:
    write(STEP + 'setup = [["touch", "{dir}/a b"]]\n' + NULL)
    done = run_campaign(with_engine, "--dry-run")
    assert runs_of(with_engine) == []
    (script,) = (with_engine.cwd / "effio-runs/campaigns/s/scripts").glob("*.sh")
    assert "scripts: 1 in effio-runs/campaigns/s/scripts" in done.stdout
    by_hand = subprocess.run(
        [script], env=with_engine.environment, capture_output=True, timeout=SECONDS, check=False
    )
    assert by_hand.returncode == 0, by_hand.stderr
    assert load(script.with_suffix(".jsonl")).status == "done"
    assert (with_engine.cwd / "a b").exists()


def test_another_study_of_the_same_name_is_refused(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(STEP + NULL)
    run_campaign(with_engine)
    other = with_engine.cwd / "elsewhere"
    other.mkdir()
    (other / "s.toml").write_text((with_engine.cwd / "s.toml").read_text())
    done = with_engine.call("run", "elsewhere/s.toml", "--quiet")
    assert done.returncode == 2
    assert "is already the campaign of" in done.stderr
    assert "--name WORD" in done.stderr
    assert with_engine.call("run", "elsewhere/s.toml", "--quiet", "--name", "t").returncode == 0
    assert len(runs_of(with_engine, "t")) == 1


def test_the_second_driver_says_who_holds_it(
    with_engine: Effio,
    write: Callable[[str], None],
    alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]],
) -> None:
    """While the first one waits in a set-up command, until it may continue."""
    gate = with_engine.cwd / "gate"
    os.mkfifo(gate)
    write(STEP + f'setup = [["cat", {json.dumps(str(gate))}]]\n' + NULL)
    first = alive(with_engine.start("run", "s.toml", "--quiet"))
    with gate.open("w"):  # opens when the first driver reads
        done = run_campaign(with_engine, code=2)
        assert f"campaign s is locked by process {first.pid} on {os.uname().nodename}" in (
            done.stderr
        )
        assert with_engine.call("plan", "s.toml").returncode == 0
    assert first.wait(100) == 0
    assert len(runs_of(with_engine)) == 1
    # A driver on another machine cannot be looked at; who knows that it is gone says so.
    lock = with_engine.cwd / "effio-runs/campaigns/s/lock"
    lock.write_text(json.dumps({"host": "n7", "pid": 12, "start": "1"}))
    assert "process 12 on n7" in run_campaign(with_engine, code=2).stderr
    run_campaign(with_engine, "--take-over")
    run_campaign(with_engine)


def test_a_results_disk_that_is_full_ends_it_and_the_next_call_continues(
    with_engine: Effio, write: Callable[[str], None], mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=1m", "none")
    write("repetitions = 4\n" + STEP + NULL)
    runs = ["--runs", place, "run", "s.toml", "--quiet", "--no-report"]
    assert with_engine.call(*runs, "--only", "repetition == 1").returncode == 0
    filler = place / "filler"
    with filler.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(b"x" * 4096)
        except OSError:
            pass
    assert with_engine.call(*runs).returncode == 7
    filler.unlink()
    done = with_engine.call(*runs)
    assert done.returncode == 0, done.stderr
    assert "1 of 4 runs are done already" in done.stderr
    good = [r for r in place.glob("2*-s-*") if (r / "SHA256SUMS").exists()]
    assert sorted(record_of(r)["campaign"]["repetition"] for r in good) == [0, 1, 2, 3]


# Ids of 8 digits are the same for the first two of these.
COLLIDING = (
    STEP.replace("ranks = 1", "ranks = 2")
    + '[step.sweep]\norder-seed = [64, 13321, 3]\n[step.options]\nbackend = "sim"\n'
)


def test_points_that_differ_are_never_taken_for_each_other(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(COLLIDING)
    done = with_engine.call("plan", "s.toml", "--dir", "/tmp", "--json")
    planned = json.loads(done.stdout)
    assert [p["axes"]["order-seed"] for p in planned] == [64, 13321, 3]
    ids = [p["point"] for p in planned]
    assert len(set(ids)) == 3
    assert {len(one) for one in ids} == {16}
    assert ids[0][:8] == ids[1][:8]


def test_runs_of_an_effio_with_short_ids_are_found(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(COLLIDING)
    run_campaign(with_engine, "--dir", "/tmp", "--only", "order_seed == 13321")
    (made,) = runs_of(with_engine)
    record = record_of(made)
    point = record["campaign"]["point"]
    record["campaign"]["point"] = point[:8]
    (made / "run.json").write_text(json.dumps(record))
    RunFolder(made).seal()
    made.rename(made.with_name(made.name.replace(point, point[:8])))
    done = run_campaign(with_engine, "--dir", "/tmp")
    assert "1 of 3 runs are done already" in done.stderr
    seeds = [record_of(run)["campaign"]["axes"]["order-seed"] for run in runs_of(with_engine)]
    assert sorted(seeds) == [3, 64, 13321]


def test_a_point_of_more_nodes_than_there_are_does_not_stop_the_others(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write('[[step]]\nname = "a"\nbenchmark = "ior"\nranks = 2\n' + NULL
          + "[step.sweep]\nranks-per-node = [1, 2]\n")  # fmt: skip
    done = run_campaign(with_engine, code=2)
    assert "--ranks 2 --ranks-per-node 1 needs 2 nodes, and this machine is one" in done.stderr
    (run,) = runs_of(with_engine)
    assert record_of(run)["campaign"]["axes"] == {"ranks-per-node": 2}
