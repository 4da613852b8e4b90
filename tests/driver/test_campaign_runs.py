# SPDX-License-Identifier: BSD-3-Clause
"""Campaigns that run: resumed, killed at many moments, edited, locked."""

from __future__ import annotations

import hashlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, Any

import pytest

from driver.conftest import Effio
from effio.launch.watch import processes_of
from effio.store.folder import Store
from results import load

HEAD = 'title = "t"\npurpose = "p"\n'
STEP = '[[step]]\nname = "a"\nbenchmark = "ior"\nranks = 1\n'
NULL = '[step.options]\nbackend = "null"\nblock = "2MiB"\n'


@pytest.fixture
def write(with_engine: Effio) -> Callable[[str], None]:
    def write(text: str) -> None:
        (with_engine.cwd / "s.toml").write_text(HEAD + text)

    return write


def _runs(effio: Effio, campaign: str = "s") -> list[Path]:
    """In the order in which they were made, also where several are of one second."""
    folders = Store(effio.cwd / "effio-runs").folders()
    return [f.path for f in folders if fnmatch(f.id, f"2*-ior-{campaign}-*")]


def _record(run: Path) -> dict[str, Any]:
    record = json.loads((run / "run.json").read_text())
    assert isinstance(record, dict)
    return record


def _run(effio: Effio, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = effio.call("run", "s.toml", "--quiet", "--no-report", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_running_again_does_what_is_not_done(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    text = "repetitions = 2\n" + STEP + NULL + '[step.sweep]\ntransfer = ["1MiB", "2MiB"]\n'
    write(text)
    _run(with_engine, "--only", "transfer == 1MiB and repetition == 1")
    (first,) = _runs(with_engine)
    assert _record(first)["campaign"]["axes"] == {"transfer": "1MiB"}
    before = (first / "SHA256SUMS").read_bytes()
    done = _run(with_engine)
    assert "1 of 4 runs are done already" in done.stderr
    assert len(_runs(with_engine)) == 4
    assert (first / "SHA256SUMS").read_bytes() == before
    # Interleaved: both points, and then both again, backward.
    order = [_record(run)["campaign"] for run in _runs(with_engine)]
    assert [(c["axes"]["transfer"], c["repetition"]) for c in order] == [
        ("1MiB", 0), ("2MiB", 0), ("2MiB", 1), ("1MiB", 1),
    ]  # fmt: skip
    again = _run(with_engine)
    assert "4 of 4 runs are done already" in again.stderr
    rows = [line for line in again.stdout.splitlines() if "2 of 2" in line]
    assert len(rows) == 2
    assert len(_runs(with_engine)) == 4
    # Edited in the middle: what changed is told, what was measured stays.
    write(text.replace('["1MiB", "2MiB"]', '["2MiB", "512KiB"]'))
    done = _run(with_engine)
    assert "1 point new: a transfer=512KiB" in done.stderr
    assert "1 point no longer asked for, their runs stay: a transfer=1MiB" in done.stderr
    assert "2 of 4 runs are done already" in done.stderr
    assert len(_runs(with_engine)) == 6


def test_every_run_is_a_run_like_any_other(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(
        'tags = ["nightly"]\n' + STEP + 'setup = [["mkdir", "{dir}/it\'s; $HOME"]]\n'
        'cleanup = [["rmdir", "{dir}/it\'s; $HOME"]]\n'
        + NULL
        + '[step.environment]\nX_Y = "a \'b"\n'
    )
    _run(with_engine)
    (run,) = _runs(with_engine)
    record = _record(run)
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
    _run(with_engine)
    alone = ["run", "ior", "--ranks", 1, "--backend", "null", "--block", "1MiB", "--quiet"]
    assert with_engine.call(*alone, "--no-report").returncode == 0

    def listed(*words: str) -> list[str]:
        done = with_engine.call("runs", "--json", *words)
        return [json.loads(line)["run"] for line in done.stdout.splitlines()]

    assert len(listed()) == 3
    assert (
        listed("--campaign", "s")
        == listed("--tag", "nightly")
        == [r.name for r in _runs(with_engine)]
    )
    assert listed("--campaign", "t") == listed("--tag", "nightl") == []
    done = with_engine.call(
        "query", "--csv",
        "SELECT campaign, step, axis_transfer, tags, campaign_repetition FROM measurements "
        "WHERE access = 'write' ORDER BY 3",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["s,a,1MiB,nightly,0", "s,a,2MiB,nightly,0", ",,,,"]


def test_a_command_that_fails_keeps_the_point_from_running_and_is_tried_again(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(STEP + 'setup = [["test", "-d", "{dir}/there"]]\n' + NULL)
    done = _run(with_engine, code=6)
    assert "the set-up command test -d" in done.stderr
    (run,) = _runs(with_engine)
    assert not (run / "result.jsonl").exists()
    (with_engine.cwd / "there").mkdir()
    _run(with_engine)
    assert len(_runs(with_engine)) == 2


def test_what_failed_is_repeated_only_when_asked(
    with_engine: Effio, write: Callable[[str], None], data: Path
) -> None:
    """A file of that name that is not ours is refused, until it is gone."""
    write(STEP + '[step.options]\nblock = "1MiB"\nname = "x"\n')
    (data / "x").write_text("somebody's")
    done = _run(with_engine, "--dir", data, code=2)
    assert "exists already and was not made by this run" in done.stderr
    # Where it was measured is kept with the campaign.
    _run(with_engine, code=2)
    assert len(_runs(with_engine)) == 1
    (data / "x").unlink()
    _run(with_engine, code=2)
    assert len(_runs(with_engine)) == 1
    _run(with_engine, "--retry-failed")
    assert len(_runs(with_engine)) == 2
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
    _run(with_engine, "--dir", data)
    (read,) = _runs(with_engine, "s-read")
    assert f"--block={512 << 10}" in _record(read)["arguments"]
    (cell,) = load(read / "result.jsonl").measurements
    assert (cell["access"], cell["bytes"]) == ("read", 512 << 10)
    # Kept until nobody needs it any more.
    assert list(data.iterdir()) == []


def test_what_waits_for_a_failure_is_not_run(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(
        STEP + 'setup = [["false"]]\n' + NULL
        + '[[step]]\nname = "b"\nbenchmark = "ior"\nranks = 1\nneeds = ["a"]\n' + NULL
    )  # fmt: skip
    done = _run(with_engine, code=6)
    assert "b: environment: not run: a is not done" in done.stderr
    assert len(_runs(with_engine)) == 1


def test_the_budget_of_bytes_is_kept_before_anything_is_written(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write('bytes = "3MiB"\nrepetitions = 2\n' + STEP + NULL)
    done = _run(with_engine, code=2)
    assert "4 MiB written, the budget is 3 MiB" in done.stderr
    assert _runs(with_engine) == []
    _run(with_engine, "--max-bytes", "4MiB")


def test_a_result_of_a_newer_effio_is_not_measured_again(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(STEP + NULL)
    _run(with_engine)
    (run,) = _runs(with_engine)
    result = run / "result.jsonl"
    result.write_text(
        result.read_text().replace('"schema":"effio-result/1', '"schema":"effio-result/9')
    )
    assert with_engine.call("runs").stdout.count("newer") >= 1
    _run(with_engine, "--retry-failed")
    assert len(_runs(with_engine)) == 1


def test_dry_run_leaves_scripts_that_run(with_engine: Effio, write: Callable[[str], None]) -> None:
    write(STEP + 'setup = [["touch", "{dir}/a b"]]\n' + NULL)
    done = _run(with_engine, "--dry-run")
    assert _runs(with_engine) == []
    (script,) = (with_engine.cwd / "effio-runs/campaigns/s/scripts").glob("*.sh")
    assert "scripts: 1 in effio-runs/campaigns/s/scripts" in done.stdout
    by_hand = subprocess.run(
        [script], env=with_engine.environment, capture_output=True, timeout=100, check=False
    )
    assert by_hand.returncode == 0, by_hand.stderr
    assert load(script.with_suffix(".jsonl")).status == "done"
    assert (with_engine.cwd / "a b").exists()


def test_another_study_of_the_same_name_is_refused(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    write(STEP + NULL)
    _run(with_engine)
    other = with_engine.cwd / "elsewhere"
    other.mkdir()
    (other / "s.toml").write_text((with_engine.cwd / "s.toml").read_text())
    done = with_engine.call("run", "elsewhere/s.toml", "--quiet")
    assert done.returncode == 2
    assert "is the study of" in done.stderr
    assert "--name WORD" in done.stderr
    assert with_engine.call("run", "elsewhere/s.toml", "--quiet", "--name", "t").returncode == 0
    assert len(_runs(with_engine, "t")) == 1


def test_the_second_driver_says_who_holds_it(
    with_engine: Effio,
    write: Callable[[str], None],
    alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]],
) -> None:
    """While the first one waits in a set-up command, until it may go on."""
    gate = with_engine.cwd / "gate"
    os.mkfifo(gate)
    write(STEP + f'setup = [["cat", {json.dumps(str(gate))}]]\n' + NULL)
    first = alive(with_engine.start("run", "s.toml", "--quiet"))
    with gate.open("w"):  # opens when the first driver reads
        done = _run(with_engine, code=2)
        assert f"campaign s is in the hands of process {first.pid} on {os.uname().nodename}" in (
            done.stderr
        )
        assert with_engine.call("plan", "s.toml").returncode == 0
    assert first.wait(100) == 0
    assert len(_runs(with_engine)) == 1
    # A driver on another machine cannot be looked at; who knows that it is gone says so.
    lock = with_engine.cwd / "effio-runs/campaigns/s/lock"
    lock.write_text(json.dumps({"host": "n7", "pid": 12, "start": "1"}))
    assert "process 12 on n7" in _run(with_engine, code=2).stderr
    _run(with_engine, "--take-over")
    _run(with_engine)


def test_a_results_disk_that_is_full_ends_it_and_the_next_call_goes_on(
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
    assert sorted(_record(r)["campaign"]["repetition"] for r in good) == [0, 1, 2, 3]


# Killed ------------------------------------------------------------------------------------------

# Imports once, then forks a driver for each number that it reads, which kills itself when it does
# its so many-th step on the runs: makes a folder, opens or renames a file, starts a program, looks
# for what is left of it.
_FORKS = textwrap.dedent(
    """
    import os, signal, sys
    import effio.cli.campaign, effio.cli.run
    from effio.cli.main import main

    def drive(moment):
        seen = 0
        def step(event, args):
            nonlocal seen
            ours = event in ("subprocess.Popen", "os.listdir") or (
                event in ("open", "os.rename", "os.mkdir", "os.remove", "os.chmod")
                and "effio-runs" in str(args[0])
            )
            seen += ours
            if ours and seen == moment:
                os.kill(os.getpid(), signal.SIGKILL)
        if moment:
            sys.addaudithook(step)
        main()

    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            drive(int(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    """
)


@pytest.fixture
def drive(with_engine: Effio) -> Iterator[Callable[[int], int]]:
    """drive(n) runs the campaign until its n-th step, or to its end, and returns the exit code."""
    words = ["run", "s.toml", "--quiet", "--no-report"]
    with (with_engine.cwd / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _FORKS, *words],
            cwd=with_engine.cwd, env=with_engine.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        streams: tuple[IO[str], IO[str]] = (process.stdin, process.stdout)

        def one(moment: int) -> int:
            streams[0].write(f"{moment}\n")
            streams[0].flush()
            while True:
                ready, _, _ = select.select([streams[1]], [], [], 100)
                assert ready, "the driver does not end"
                line = streams[1].readline().strip()
                if line.lstrip("-").isdigit():
                    return int(line)

        yield one
        process.stdin.close()
        process.wait(100)


def test_what_a_killed_driver_left_is_ended_and_removed_before_the_point_is_done_again(
    with_engine: Effio,
    write: Callable[[str], None],
    data: Path,
    alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]],
) -> None:
    """Its engine is stopped, so that it neither ends nor tidies by itself. The file that it left
    would be refused as somebody else's."""
    write(STEP + '[step.options]\nblock = "1MiB"\nname = "x"\ndelay = "3s"\n')
    driver = alive(with_engine.start("run", "s.toml", "--quiet", "--dir", str(data)))
    deadline = time.monotonic() + 100
    while not (data / "x").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (run,) = _runs(with_engine)
    mark = _record(run)["process"]["mark"]
    left = processes_of(mark)
    for pid in left:
        os.kill(pid, signal.SIGSTOP)
    driver.kill()
    driver.wait(100)
    assert left == processes_of(mark)
    try:
        _run(with_engine)
        assert processes_of(mark) == []
    finally:
        for pid in processes_of(mark):
            os.kill(pid, signal.SIGKILL)
    assert _record(run)["outcome"]["status"] == "interrupted"
    assert len(_runs(with_engine)) == 2
    assert list(data.iterdir()) == []


def test_what_a_killed_driver_did_not_seal_is_sealed_by_the_next(
    with_engine: Effio, write: Callable[[str], None]
) -> None:
    """It was killed when it had written how the run ended, and not yet the checksums."""
    write(STEP + NULL)
    _run(with_engine)
    (run,) = _runs(with_engine)
    record, sums = (run / "run.json").read_bytes(), (run / "SHA256SUMS").read_bytes()
    (run / "SHA256SUMS").unlink()
    _run(with_engine)
    assert _runs(with_engine) == [run]
    assert (run / "run.json").read_bytes() == record
    assert (run / "SHA256SUMS").read_bytes() == sums


def test_what_a_killed_driver_did_not_tidy_is_tidied_by_the_next(
    with_engine: Effio,
    write: Callable[[str], None],
    data: Path,
    alive: Callable[[subprocess.Popen[str]], subprocess.Popen[str]],
) -> None:
    """The second driver ended what the first had left, said so, and was killed before it tidied."""
    write(STEP + '[step.options]\nblock = "1MiB"\nname = "x"\ndelay = "3s"\n')
    driver = alive(with_engine.start("run", "s.toml", "--quiet", "--dir", str(data)))
    deadline = time.monotonic() + 100
    while not (data / "x").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (run,) = _runs(with_engine)
    record = _record(run)
    for pid in processes_of(record["process"]["mark"]):
        os.kill(pid, signal.SIGKILL)
    driver.kill()
    driver.wait(100)
    record["outcome"] = {"status": "interrupted", "exit_code": 5, "reason": "killed"}
    (run / "run.json").write_text(json.dumps(record))
    _run(with_engine)
    assert (run / "SHA256SUMS").exists()
    assert _record(run)["outcome"]["reason"] == "killed"
    assert len(_runs(with_engine)) == 2
    assert list(data.iterdir()) == []


def _ended_well(effio: Effio) -> dict[str, str]:
    """Of each run that is done: a digest of its result."""
    found = {}
    for run in _runs(effio):
        result = run / "result.jsonl"
        ended = result.exists() and b'"kind":"end"' in result.read_bytes()
        if ended and load(result).status == "done":
            found[run.name] = hashlib.sha256(result.read_bytes()).hexdigest()
    return found


def test_killed_at_fifty_moments_nothing_is_lost_and_nothing_repeated(
    with_engine: Effio,
    write: Callable[[str], None],
    drive: Callable[[int], int],
    data: Path,
) -> None:
    """What was done stays done and as it was, what was not is done in the end, once, and no data
    are left."""
    repetitions = 25
    options = '[step.options]\nblock = "64KiB"\ntransfer = "64KiB"\n'
    write(f"dir = {json.dumps(str(data))}\nrepetitions = {repetitions}\n" + STEP + options)
    done: dict[str, str] = {}
    killed = 0
    for moment in range(1, 51):
        killed += drive(moment) == -9
        now = _ended_well(with_engine)
        assert done.items() <= now.items(), f"after step {moment}"
        done = now
    assert killed == 50
    assert drive(0) == 0, (with_engine.cwd / "log").read_text()
    done = _ended_well(with_engine)
    which = sorted(_record(_run_named(with_engine, n))["campaign"]["repetition"] for n in done)
    assert which == list(range(repetitions))
    for name in done:
        checked = subprocess.run(
            ["sha256sum", "--check", "--quiet", "SHA256SUMS"],
            cwd=_run_named(with_engine, name), capture_output=True, check=False,
        )  # fmt: skip
        assert checked.returncode == 0, shlex.quote(name)
    assert list(data.iterdir()) == []


def _run_named(effio: Effio, name: str) -> Path:
    return effio.cwd / "effio-runs" / name
