# SPDX-License-Identifier: BSD-3-Clause
"""`effio tune` with the engine: `sim` has a planted optimum and no noise, so that what has to come
out is known; real storage decides for itself, and what is asserted of it is that the confirmation
did."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from driver.conftest import Effio
from driver.runs import Alive, engines_in, wait_for, with_flavour, with_one_rank
from engines import Engine
from patience import SECONDS

# One rank moves 1 MiB; the rate of a rank is the planted optimum: 400 MB/s, with a header of
# variables that do nothing.
SIM = """
title = "Planted"
benchmark = "ior"
runs = 24
[options]
backend = "sim"
transfer = "256KiB"
block = "1MiB"
[vary.options]
"backend.rank-rate" = ["50MB/s", "200MB/s", "400MB/s"]
[vary.environment]
EFFIO_TUNE_TEST = ["1"]
"""
FLAT = SIM.replace('"backend.rank-rate" = ["50MB/s", "200MB/s", "400MB/s"]', "").replace(
    "[vary.options]\n", ""
)
TWO = SIM.replace('"50MB/s", ', "").replace('EFFIO_TUNE_TEST = ["1"]', "")
# As few runs as two settings and their confirmation need.
FEW = ("--max-runs", "13")
QUICK = ("-n", "1", "--confirmations", "3", "--quiet")


@pytest.fixture
def with_engine(effio: Effio, engines: dict[str, Engine]) -> Effio:
    return with_one_rank(effio, engines)


@pytest.fixture
def tuned(with_engine: Effio) -> Effio:
    (with_engine.cwd / "s.toml").write_text(SIM)
    (with_engine.cwd / "flat.toml").write_text(FLAT)
    return with_engine


def _tune(effio: Effio, *words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = effio.call("tune", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def _folders(effio: Effio) -> list[Path]:
    return sorted((effio.cwd / "effio-runs" / "tunings").iterdir())


def _record(folder: Path) -> dict[str, Any]:
    record = json.loads((folder / "tuning.json").read_text())
    assert isinstance(record, dict)
    return record


def _bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "lock"}


def test_the_planted_optimum_of_sim_is_found_and_its_files_are_ready_to_use(tuned: Effio) -> None:
    done = _tune(tuned, "s.toml", *QUICK)
    (folder,) = _folders(tuned)
    assert {p.name for p in folder.iterdir()} == {
        "call.json", "space.toml", "journal.jsonl", "lock", "tuning.json", "tuning.html",
        "environment.sh",
    }  # fmt: skip
    record = _record(folder)
    assert (record["schema"], record["state"]) == ("effio-tuning/1", "gain")
    assert record["job"]["options"] == {"backend.rank-rate": "400MB/s"}
    # 1 MiB at 400 instead of 100 MB/s, and nothing else takes time: four times, without spread.
    groups = {(g["access"], g["pattern"], g["chunk"]): g for g in record["groups"]}
    assert [*groups] == [("write", "shared", "262144"), ("read", "shared", "262144")]
    for group in record["groups"]:
        assert group["gain"] == pytest.approx(4.0)
        assert group["low95"] == pytest.approx(4.0)
        assert (group["verdict"], group["kept"]) == ("faster", True)
        assert group["before"]["values"] == pytest.approx([100e6] * 3)
        assert group["after"]["values"] == pytest.approx([400e6] * 3)
    tried = {t["id"]: t for t in record["tried"]}
    assert len(tried) == 7
    assert len((folder / "journal.jsonl").read_text().splitlines()) == record["runs"] <= 24
    assert "A gain that holds in 2 of 2 groups: up to 4.00 times the default." in done.stdout
    script = subprocess.run(
        ["sh", "-euc", ". ./environment.sh"], cwd=folder, capture_output=True, text=True, check=True
    )
    assert script.stdout + script.stderr == ""
    text = (folder / "environment.sh").read_text()
    assert "# option of effio-mpi: --backend.rank-rate=400MB/s" in text
    runs = [p for p in (tuned.cwd / "effio-runs").iterdir() if (p / "run.json").is_file()]
    assert len(runs) == record["runs"]
    parts = [json.loads((p / "run.json").read_text())["campaign"] for p in runs]
    assert {part["name"] for part in parts} == {folder.name}
    assert sum(part["step"] == "confirm" for part in parts) == 6

    # A second call shows the same, and a finished search measures nothing more.
    before = _bytes_of(folder)
    shown = _tune(tuned, "--show", folder.name, "--json")
    assert json.loads(shown.stdout) == record
    done = _tune(tuned, "--resume", folder.name)
    assert f"{folder.name} is finished" in done.stderr
    assert _bytes_of(folder) == before


def test_a_varied_size_is_compared_although_it_names_its_measurements(tuned: Effio) -> None:
    """256 KiB and 1 MiB are two rows of a report; each call takes 1 ms in addition."""
    text = SIM.replace(
        '"backend.rank-rate" = ["50MB/s", "200MB/s", "400MB/s"]', 'transfer = "1MiB"'
    )
    text = text.replace('"1MiB"\n[vary.env', '["1MiB"]\n[vary.env')
    delayed = text.replace("[vary.opt", 'backend-options = "latency=1ms"\n[vary.opt')
    (tuned.cwd / "size.toml").write_text(delayed)
    done = _tune(tuned, "size.toml", *QUICK, *FEW)
    assert "A gain that holds in 2 of 2 groups" in done.stdout
    record = _record(_folders(tuned)[0])
    assert record["job"]["options"] == {"transfer": "1MiB"}
    assert [g["chunk"] for g in record["groups"]] == ["all", "all"]
    assert "Simulated: a gain is the model's, not one of storage." in record["notes"]


def test_where_nothing_helps_it_says_so_and_writes_nothing_to_use(tuned: Effio) -> None:
    """And a second search has its own folder."""
    done = _tune(tuned, "flat.toml", *QUICK, *FEW)
    said = "No gain was found: what looked best was not shown to be faster when it was run again."
    assert said in " ".join(done.stdout.split())
    (folder,) = _folders(tuned)
    assert _record(folder)["state"] == "nothing helps"
    assert not {"hints", "romio-hints", "environment.sh"} & {p.name for p in folder.iterdir()}
    before = _bytes_of(folder)
    done = _tune(tuned, "flat.toml", *QUICK, *FEW, "--name", "again", "--json", "--no-report")
    (again,) = (f for f in _folders(tuned) if f != folder)
    assert json.loads(done.stdout) == _record(again)
    assert not (again / "tuning.html").exists()
    assert _bytes_of(folder) == before


def test_options_given_take_the_place_of_the_files(tuned: Effio) -> None:
    done = _tune(tuned, "s.toml", "-n", "2", "--set", "block=2MiB", "--plan", "--max-runs", "30")
    lines = done.stdout.splitlines()
    assert "--block=2MiB" in lines[0]
    assert "--block=1MiB" not in lines[0]
    assert lines[1] == "a run puts 4 MiB on storage"
    assert lines[2] == "7 settings against the default:"
    assert lines[-1] == "budget: 30 runs; at least 19 runs"
    assert not (tuned.cwd / "effio-runs").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name one of: a TUNING, --resume NAME, --show NAME"),
        (("s.toml", "--resume", "last"), "name one of: a TUNING"),
        (("--resume", "last", "--time", "5s"), "--resume takes everything from the first call"),
        (("--resume", "x"), "no tuning 'x' in"),
        (("--show", "last"), "no tuning 'last' in"),
        (("nothing.toml",), "nothing.toml: No such file"),
        (("siev",), "no tuning 'siev'; did you mean 'sieving'?"),
        (("s.toml", "--set", "block"), "'block': write NAME=VALUE, as transfer=64KiB"),
        (("s.toml", "--set", "block=1MiB", "--set", "block=2MiB"), "block is given twice"),
        (("s.toml", "--set", "blok=1MiB"), "ior has no option 'blok'; did you mean 'block'?"),
        (("s.toml", "--set", "block=3 apples"), "apples"),
        (("s.toml", "--set", "hints=x"), "'hints' is given by effio itself"),
        (("s.toml", "--time", "soon"), "'soon' is not a time"),
        (("s.toml", "--max-runs", "8", "-n", "1"), "8 runs are too few: 19 at least"),
        (("s.toml", "--confirmations", "2"), "'2' is not a whole number from 3 on"),
        (("s.toml", "--tolerance", "2"), "'2': write a part, as 5% or 0.05"),
        (("s.toml", "--name", "a b"), "--name: at most 100 letters, digits"),
        (("s.toml", "--name", ".."), "and a letter or digit first"),
        (("s.toml", "--name", "last"), "'last' means the newest one everywhere"),
        (("s.toml", "--name", ""), "and a letter or digit first"),
        (("s.toml", "--dir", ".", "--set", "dir=."), "say the same"),
        (("s.toml", "--frobnicate"), "No such option"),
    ],
)
def test_bad_arguments_are_refused_with_what_to_do(
    tuned: Effio, words: tuple[str, ...], said: str
) -> None:
    done = tuned.call("tune", *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in " ".join((done.stdout + done.stderr).split())
    assert [*(tuned.cwd / "effio-runs").glob("tunings/*")] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--set", "blok=1MiB"), "effio: --set blok=1MiB: ior has no option 'blok'; did you"),
        (("--set", "cb_nodes=2"), "effio: --set cb_nodes=2: ior has no option 'cb_nodes'"),
        (("--set", "block=3 apples"), "effio: --set block=3 apples: --block: "),
        # The value to try is one that the file may have; that of the workload is the option's.
        (
            ("--set", "backend.rank-rate=50MB/s"),
            "effio: --set backend.rank-rate=50MB/s: 'backend.rank-rate': a value to try is that",
        ),
        # The errors of both are reported, each with its place.
        (("bad.toml", "--set", "blok=1MiB"), "bad.toml:7:1: ior has no option 'trnsfer'"),
        (("bad.toml", "--set", "blok=1MiB"), "--set blok=1MiB: ior has no option 'blok'"),
        # A block of 5000 bytes has no transfer of 256 KiB, whatever the option says.
        (("odd.toml", "--set", "segments=2"), "effio: odd.toml: --transfer 256KiB is more than"),
        (("odd.toml", "--set", "block=5001"), "effio: --set block=5001: --transfer 256KiB is more"),
    ],
)
def test_a_value_of_the_command_line_is_not_the_files_fault(
    tuned: Effio, words: tuple[str, ...], said: str
) -> None:
    (tuned.cwd / "bad.toml").write_text(SIM.replace("\ntransfer =", "\ntrnsfer = 1\ntransfer ="))
    (tuned.cwd / "odd.toml").write_text(SIM.replace("1MiB", "5000"))
    file = () if words[0].endswith(".toml") else ("s.toml",)
    done = _tune(tuned, *file, *words, "-n", "1", "--plan", code=2)
    assert said in " ".join(done.stderr.split()), done.stderr


def test_a_time_that_is_too_short_leaves_nothing_to_resume(tuned: Effio) -> None:
    """--resume takes the time of the first call, so it would stop in the same way."""
    done = _tune(tuned, "s.toml", *QUICK, "--max-runs", "100", "--time", "1ms", code=2)
    assert "allow more with --time" in done.stderr
    assert "--resume" not in done.stderr
    assert not (tuned.cwd / "effio-runs" / "tunings").exists()


def test_a_directory_that_is_not_there_costs_no_run(tuned: Effio) -> None:
    (tuned.cwd / "s.toml").write_text(FLAT.replace('"sim"', '"posix"'))
    done = _tune(tuned, "s.toml", *QUICK, "--dir", "gone", code=3)
    assert "there is no directory" in done.stderr
    assert not (tuned.cwd / "effio-runs").exists()


def test_help_teaches(tuned: Effio) -> None:
    done = _tune(tuned, "--help")
    for word in ("two-phase", "--resume", "effio tune --resume last", "--confirmations"):
        assert word in done.stdout
    assert "hints and settings that make a workload faster" in tuned.call("--help").stdout


def test_a_setting_that_the_engine_cannot_run_is_out_and_says_why(with_engine: Effio) -> None:
    text = SIM.replace('"50MB/s", "200MB/s", "400MB/s"]', '"200MB/s"]\nmax-bytes = ["4KiB"]')
    (with_engine.cwd / "s.toml").write_text(text)
    done = _tune(with_engine, "s.toml", *QUICK, "--no-report")
    (folder,) = _folders(with_engine)
    record = _record(folder)
    assert record["job"]["options"] == {"backend.rank-rate": "200MB/s"}
    faults = {t["changes"]["options"].get("max-bytes"): t["fault"] for t in record["tried"]}
    assert "--max-bytes: 4KiB is too small: the files need 1 MiB; raise it" in faults["4KiB"]
    assert faults[None] == ""
    assert "4KiB is too small" in done.stderr


# Stopped in the middle ----------------------------------------------------------------------------


# Whose MPI it is, which effio asks before each run, it says at once.
HOLD = """#!/bin/sh
while [ "$1" != --version ] && [ -e hold ] &&
    [ "$(cat effio-runs/tunings/*/journal.jsonl 2> /dev/null | wc -l)" -ge 4 ]; do
    sleep 0.05
done
exec {mpiexec} "$@"
"""


@pytest.fixture
def held(tuned: Effio) -> Effio:
    """After four runs the launcher waits as long as there is a file `hold`."""
    (tuned.cwd / "s.toml").write_text(TWO)
    launcher = tuned.cwd / "mpiexec"
    launcher.write_text(HOLD.format(mpiexec=tuned.environment["EFFIO_MPIEXEC"]))
    launcher.chmod(0o755)
    tuned.environment["EFFIO_MPIEXEC"] = str(launcher)
    (tuned.cwd / "hold").touch()
    return tuned


def _stopped(effio: Effio, alive: Alive, how: signal.Signals) -> tuple[int, str, str]:
    """Stopped in the middle of the fifth run."""
    process = alive(effio.start("tune", "s.toml", *QUICK, *FEW))
    wait_for("the fifth run", lambda: len(_journal(effio)) == 4 and len(_runs(effio)) == 5)
    process.send_signal(how)
    out, err = process.communicate(timeout=SECONDS)
    (effio.cwd / "hold").unlink()
    return process.returncode, out, err


def _journal(effio: Effio) -> list[str]:
    files = list((effio.cwd / "effio-runs" / "tunings").glob("*/journal.jsonl"))
    return files[0].read_text().splitlines() if files else []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_in_the_middle_it_continues_and_measures_nothing_twice(
    held: Effio, alive: Alive, how: signal.Signals
) -> None:
    tuned = held
    code, out, err = _stopped(tuned, alive, how)
    (folder,) = _folders(tuned)
    if how == signal.SIGINT:
        assert code == 4, out + err
        assert "Not finished: stopped before anything was confirmed." in out
        assert "stopped after 4 runs; what they measured is kept" in err
        assert f"continue with: effio tune --resume {folder.name}" in err
    assert not (folder / "tuning.json").exists()
    measured = _journal(tuned)
    shown = tuned.call("tune", "--show", "last")
    assert shown.returncode == 2
    assert f"{folder.name} is not finished" in shown.stderr
    _an_engine_that_changed_is_refused(tuned, folder)
    done = _tune(tuned, "--resume", "last", "--quiet")
    assert len(measured) == 4
    assert f"{len(measured)} runs of an earlier call were not run again" in done.stderr
    record = _record(folder)
    assert record["state"] == "gain"
    assert record["job"]["options"] == {"backend.rank-rate": "400MB/s"}
    journal = _journal(tuned)
    assert journal[: len(measured)] == measured
    assert len(journal) == record["runs"]
    trials = [json.loads(line)["trial"] for line in journal]
    assert len({*trials}) == len(trials)
    # What was under way was ended, and nothing of it is left.
    assert engines_in(tuned.cwd) == []
    states = [json.loads((p / "run.json").read_text())["outcome"] for p in _runs(tuned)]
    assert all(state is not None for state in states)


def _an_engine_that_changed_is_refused(tuned: Effio, folder: Path) -> None:
    whole = (folder / "call.json").read_text()
    called = json.loads(whole)
    for text, said in (
        (json.dumps({**called, "engine_sha256": "0" * 64}), "is another one than when"),
        ("{", "call.json cannot be read"),
        (json.dumps({**called, "schema": "effio-tuning-call/2"}), "a newer effio made it?"),
        # What was measured stays, also where it could never be finished.
        (json.dumps({**called, "seconds": 1e-3}), "allow more with --time"),
    ):
        (folder / "call.json").write_text(text)
        assert said in _tune(tuned, "--resume", "last", code=2).stderr
    (folder / "call.json").write_text(whole)


def _runs(effio: Effio) -> list[Path]:
    return [p for p in (effio.cwd / "effio-runs").iterdir() if (p / "run.json").is_file()]


def test_a_default_that_cannot_be_measured_leaves_no_folder(tuned: Effio) -> None:
    (tuned.cwd / "file").touch()
    (tuned.cwd / "p.toml").write_text(FLAT.replace('"sim"', '"posix"'))
    options = ("--launcher-option", "--no-such-option-of-mpiexec")
    done = tuned.call("tune", "p.toml", *QUICK, *options)
    assert done.returncode not in (0, 4, 8), done.stdout + done.stderr
    assert not (tuned.cwd / "effio-runs" / "tunings").exists()


# Real storage -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["two-phase", "contiguous"])
def test_on_real_storage_the_confirmation_decides(
    effio: Effio, engines: dict[str, Engine], name: str
) -> None:
    """Which way it goes is the machine's; what was kept is what the confirmation found faster."""
    if "mpich" not in engines:
        pytest.skip("ROMIO is MPICH's")
    with_flavour(effio, engines["mpich"])
    small = ("sz-tile-y=256",) if name == "two-phase" else ("block=1MiB",)
    sets = [word for setting in (*small, "repetitions=1") for word in ("--set", setting)]
    _tune(effio, name, "-n", "2", "--max-runs", "14", "--confirmations", "3", "--quiet", *sets)
    (folder,) = _folders(effio)
    record = _record(folder)
    assert record["runs"] <= 14
    assert record["state"] in ("gain", "nothing helps")
    kept = [g for g in record["groups"] if g["kept"]]
    assert bool(kept) == (record["state"] == "gain")
    for group in kept:
        assert group["verdict"] == "faster"
        assert group["low95"] > 1
        assert len(group["before"]["values"]) == len(group["after"]["values"]) == 3
    hints = folder / "hints"
    assert hints.is_file() == any(g["hints"] for g in kept)
    for file in [*folder.glob("trials/*.hints"), *([hints] if hints.is_file() else [])]:
        rules = [x for x in file.read_text().splitlines() if x and not x.startswith("#")]
        assert all(len(rule.split()) == 6 for rule in rules)
        assert {rule.split()[4] for rule in rules} <= {
            "romio_cb_write", "romio_ds_write", "romio_ds_read", "cb_buffer_size",
        }  # fmt: skip


def test_a_hints_file_that_was_found_is_one_that_the_engine_reads(
    effio: Effio, engines: dict[str, Engine], tmp_path: Path
) -> None:
    """The rules of each group reach the measurements that they are named after, and no other."""
    from effio.store.all_runs import Store
    from effio.tune.folder import TuningFolder
    from effio.tune.setting import Group, Setup

    if "mpich" not in engines:
        pytest.skip("MPICH says which hints are effective")
    with_flavour(effio, engines["mpich"])
    setup = Setup(
        hints={
            Group("write", "shared", "4096"): (("cb_buffer_size", "1048576"),),
            Group("read", "shared", "8192"): (("cb_buffer_size", "2097152"),),
        }
    )
    runs = Store(tmp_path / "effio-runs")
    folder = TuningFolder.create(runs, "made")
    file = folder.hints_file("tuned", [*setup.rules()])
    done = effio.call(
        "run", "ior", "-n", "2", "--backend", "mpiio", "--transfer", "4KiB,8KiB", "--block", "8KiB",
        "--hints", file, "--quiet", "--no-report",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (run,) = _runs(effio)
    lines = [json.loads(line) for line in (run / "result.jsonl").read_text().splitlines()]
    asked = {
        (m["access"], m["where"]["transfer_bytes"]): m["hints_asked"] or {}
        for m in lines
        if m["kind"] == "measurement"
    }
    assert asked == {
        ("write", 4096): {"cb_buffer_size": "1048576"},
        ("write", 8192): {},
        ("read", 4096): {},
        ("read", 8192): {"cb_buffer_size": "2097152"},
    }
