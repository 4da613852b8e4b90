# SPDX-License-Identifier: BSD-3-Clause
"""Folders of runs: made once, named without doubt, and truthful about their state."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.errors import EffioError, ExitCode
from effio.launch.job import judge
from effio.launch.launchers import Ranks, default_ranks
from effio.launch.machine import Allocation, Machine
from effio.launch.watch import Outcome as Watched
from effio.store.all_runs import Store
from effio.store.environment import NOT_KEPT, allowed, kept_environment, sed_words
from effio.store.folder import RunFolder, this_process
from effio.store.run_record import Outcome, RunRecord
from effio.store.safe_files import write_atomically
from patience import SECONDS


def _record(folder: RunFolder, **more: object) -> RunRecord:
    return RunRecord.model_validate(
        {
            "id": folder.id,
            "created": "2026-11-20T12:00:00Z",
            "benchmark": "b-eff-io",
            "arguments": ["--time=1s"],
            "directory": "/",
            "command": ["mpiexec"],
            **more,
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def test_every_run_has_its_own_folder(store: Store) -> None:
    made_at_once = {store.create("b-eff-io").path for _ in range(20)}
    assert len(made_at_once) == 20


def test_a_record_survives_reading_and_writing(store: Store) -> None:
    folder = store.create("b-eff-io")
    record = _record(folder, outcome={"status": "done", "exit_code": 0})
    folder.write_record(record)
    assert folder.record() == record
    assert json.loads((folder.path / "run.json").read_text())["schema"] == "effio-run/1"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"schema": "other/1"}', "\x00", '{"a":' * 50_000, '{"id": 1}']
)
def test_a_damaged_record_is_not_a_record(text: str, store: Store) -> None:
    folder = store.create("b-eff-io")
    (folder.path / "run.json").write_text(text)
    assert folder.record() is None
    assert folder.state() == "failed"


def test_half_a_character_in_a_foreign_record_stops_no_command(store: Store, effio: Effio) -> None:
    """JSON can write it, no terminal takes it: `effio runs` ended in a traceback for all runs."""
    folder = store.create("b-eff-io")
    folder.write_record(_record(folder))
    file = folder.path / "run.json"
    whole = file.read_text()
    file.write_text(whole.replace('"directory": "/"', '"directory": "/\\ud83d\\ude00"'))
    record = folder.record()
    assert record is not None
    assert record.directory == "/\U0001f600"
    for half in ("\\ud83d", "\\uDE00"):
        place = '"campaign": {"name": "c", "step": "s", "point": "p", "axes": {"HALF": 1}}'
        file.write_text(whole.replace('"campaign": null', place.replace("HALF", half)))
        assert folder.record() is None
        done = effio.call("--runs", store.root, "runs")
        assert done.returncode == 0, done.stderr
        assert folder.id in done.stdout


def test_writing_is_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    write_atomically(target, "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_written_files_have_the_usual_mode(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    write_atomically(tmp_path / "file", "x")
    assert (tmp_path / "file").stat().st_mode == plain.stat().st_mode


def test_only_listed_variables_are_kept_and_no_secrets() -> None:
    environment = {
        "OMPI_MCA_io": "ompio", "SLURM_JOB_ID": "7", "PATH": "/bin", "HOME": "/home/me",
        "AWS_SECRET_ACCESS_KEY": "x", "SLURM_JWT": "x", "PBS_JOBCOOKIE": "x", "MY_SITE": "a",
    }  # fmt: skip
    kept = {"OMPI_MCA_io": "ompio", "PATH": "/bin", "SLURM_JOB_ID": "7"}
    assert kept_environment(environment) == kept
    assert kept_environment(environment, ["MY_SITE"]) == kept | {"MY_SITE": "a"}


SECRETS = (
    "UCX_PASSPHRASE", "FI_A_PASSWD", "I_MPI_PWD", "HDF5_APIKEY", "MPICH_AUTH", "EFFIO_CRED",
    "EFFIO_CREDENTIALS", "UCX_SESSION_ID", "ROMIO_PRIVATE", "EFFIO_PASSWORD", "UCX_TOKEN",
    "HDF5_PASS", "fi_none", "FI_ucx_cookie",
)  # fmt: skip
HEX = "0123456789abcdef" * 2
BASE64 = "Zm9v/YmFyQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="
VALUES = {
    "UCX_A": ("http://me:pw@host/a", "http://(masked)@host/a"),
    "UCX_B": (f"a:{HEX}", "a:(masked)"),
    "UCX_C": (f"x {BASE64}", "x (masked)"),
    "PATH": (f"/opt/{HEX}/bin:/opt/{'w/' * 30}", f"/opt/(masked)/bin:/opt/{'w/' * 30}"),
    "UCX_D": ("host:80,tcp", "host:80,tcp"),
    "OMPI_MCA_a_name_that_is_longer_than_words_may_be": ("1=2", "1=2"),
}


def test_of_secrets_only_the_name_is_kept_and_tokens_are_masked() -> None:
    environment = dict.fromkeys(SECRETS, "hunter2") | {k: v[0] for k, v in VALUES.items()}
    expected = {k: NOT_KEPT for k in SECRETS if k != "fi_none"} | {
        k: v[1] for k, v in VALUES.items()
    }
    assert kept_environment(environment) == dict(sorted(expected.items()))
    # The lines of a job script do the same.
    lines = f"env | grep -E {shlex.quote(allowed())} | {shlex.join(sed_words())} | sort"
    program = {**environment, "PATH": "/bin:/usr/bin"}
    said = subprocess.run(
        ["/bin/bash", "-c", f"export PATH=/bin:/usr/bin; {lines}"],
        env=program, capture_output=True, text=True, check=True, timeout=SECONDS,
    )  # fmt: skip
    reported = dict(line.split("=", 1) for line in said.stdout.splitlines())
    assert reported == expected | {"PATH": "/bin:/usr/bin"}


# States ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "more", "state"),
    [
        (made.b_eff_io(), {}, "done"),
        ([*made.b_eff_io()[:-1], made.end("data_errors", 1)], {}, "done"),
        ([*made.b_eff_io()[:-1], made.end("io_error", 3)], {}, "failed"),
        ([*made.b_eff_io()[:9], made.end("interrupted", 4)], {}, "interrupted"),
        ([*made.b_eff_io()[:9], made.end("hung", 5)], {}, "hung"),
        (
            [*made.b_eff_io()[:9], made.end("interrupted", 4)],
            {"outcome": {"status": "hung", "exit_code": 5}},
            "hung",
        ),
        (made.b_eff_io()[:9], {"process": this_process()}, "running"),
        (made.b_eff_io()[:9], {"process": {**this_process(), "pid": 2**22}}, "failed"),
        (made.b_eff_io()[:9], {"process": {**this_process(), "start": "1"}}, "failed"),
        (made.b_eff_io()[:9], {"process": {"host": "elsewhere"}}, "running"),
        (made.b_eff_io()[:9], {"outcome": {"status": "died", "exit_code": 6}}, "failed"),
        (None, {"batch": {"system": "slurm"}}, "planned"),
        (None, {"batch": {"system": "slurm", "job_id": "7"}}, "submitted"),
        (made.b_eff_io()[:9], {"batch": {"system": "slurm", "job_id": "7"}}, "running"),
        (made.b_eff_io(), {"batch": {"system": "slurm", "job_id": "7"}}, "done"),
    ],
)
def test_the_state_follows_from_the_files(
    lines: list[made.Line] | None, more: dict[str, object], state: str, store: Store
) -> None:
    folder = store.create("b-eff-io")
    folder.write_record(_record(folder, **more))
    if lines is not None:
        made.write(folder.result_path, lines)
    assert folder.state() == state


def test_a_job_that_ended_without_a_result_failed(store: Store) -> None:
    folder = store.create("b-eff-io")
    folder.write_record(_record(folder, batch={"system": "slurm", "job_id": "7"}))
    folder.seal()
    assert folder.state() == "failed"


# How a run ended ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "watched", "status", "code"),
    [
        (made.b_eff_io(), Watched(code=1), "done", 0),  # the `end` line is the truth
        ([*made.b_eff_io()[:9], made.end("io_error", 3)], Watched(code=0), "io_error", 3),
        (made.b_eff_io()[:9], Watched(code=-9), "died", 6),
        (made.b_eff_io()[:9], Watched(hung="no word"), "hung", 5),
        (made.b_eff_io()[:9], Watched(interrupted=True), "interrupted", 4),
        ([*made.b_eff_io()[:9], made.end("interrupted", 4)], Watched(hung="no word"), "hung", 5),
        (
            [*made.b_eff_io()[:9], made.end("interrupted", 4)],
            Watched(out_of_time=20),
            "interrupted",
            4,
        ),
        (made.b_eff_io(), Watched(hung="no word"), "done", 0),
        (None, Watched(code=2, last_words=["effio-mpi: --time: …"]), "refused", 2),
        (None, Watched(code=7, last_words=["effio-mpi: create …"]), "refused", 7),
        (made.b_eff_io()[:9], Watched(code=7), "results", 7),
        (None, Watched(code=1, last_words=["not allowed"]), "not started", 6),
        (None, Watched(code=-11), "not started", 6),
    ],
)
def test_how_a_run_ended(
    lines: list[made.Line] | None, watched: Watched, status: str, code: int, store: Store
) -> None:
    folder = store.create("b-eff-io")
    if lines is not None:
        made.write(folder.result_path, lines)
    outcome = judge(folder, watched)
    assert (outcome.status, outcome.exit_code) == (status, code)
    assert outcome.reason or status == "done" or "end" in str(lines)


def test_a_run_that_hung_and_could_not_leave_keeps_its_own_reason(store: Store) -> None:
    for end, said in (
        (made.end("hung", 5), "stopped here; the program did not leave: no word"),
        (made.end("done", 0), "complete, but the program did not leave: no word"),
    ):
        folder = store.create("b-eff-io")
        if end["status"] == "hung":
            end["reason"] = "stopped here"
        made.write(folder.result_path, [*made.b_eff_io()[:9], end])
        assert judge(folder, Watched(hung="no word")).reason == said


@pytest.mark.parametrize(
    ("end", "status", "code"),
    [
        (made.end("done", 0), "results", 7),
        (made.end("data_errors", 1), "data_errors", 1),
        (None, "results", 7),
    ],
)
def test_how_a_run_ended_whose_results_are_elsewhere(
    end: made.Line | None, status: str, code: int, store: Store, tmp_path: Path
) -> None:
    folder = store.create("b-eff-io")
    made.write(folder.result_path, made.b_eff_io()[:2])
    place = tmp_path / "effio-rescued-1-result.jsonl"
    made.write(place, [*made.b_eff_io()[:9], *([end] if end else [])])
    reported = (
        "cannot write the result file r.jsonl: No space left on device; all results are kept in"
        f" {place}"
    )
    outcome = judge(folder, Watched(code=7, last_words=[f"effio-mpi: {reported}"]))
    assert (outcome.status, outcome.exit_code) == (status, code)
    assert outcome.reason.endswith(reported)


def test_a_result_that_cannot_be_read_is_not_a_success(store: Store) -> None:
    folder = store.create("b-eff-io")
    folder.result_path.write_text("nonsense\n")
    outcome = judge(folder, Watched(code=0))
    assert (outcome.status, outcome.exit_code) == ("died", int(ExitCode.IO_ERROR))
    assert "line 1: not JSON" in outcome.reason


def test_an_unknown_status_is_an_error() -> None:
    assert ExitCode.of_status("done") == 0
    assert ExitCode.of_status("something new") == ExitCode.IO_ERROR


# Names -------------------------------------------------------------------------------------------


def _run(store: Store, name: str, with_result: bool = True) -> RunFolder:
    folder = RunFolder(store.root / name)
    folder.path.mkdir(parents=True)
    folder.write_record(_record(folder, outcome={"status": "done", "exit_code": 0}))
    if with_result:
        made.write(folder.result_path, made.b_eff_io())
    return folder


def test_a_run_is_found_by_whatever_names_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first, second = _run(store, "20260101T000000Z-b-eff-io"), _run(store, "20260202T000000Z-ior")
    waiting = _run(store, "20260303T000000Z-b-eff-io", with_result=False)
    assert store.find("last") == second
    assert store.find("0101") == first
    assert store.find("20260303T000000Z-b-eff-io") == waiting
    assert store.find(str(first.path)) == first
    assert store.find(str(first.result_path)) == first
    alone = made.write(tmp_path / "alone.jsonl", made.b_eff_io())
    assert store.find(str(alone)) == alone
    with pytest.raises(
        EffioError, match="'2026' is ambiguous, it matches 3 runs: 20260101T000000Z-b-eff-io"
    ):
        store.find("2026")
    with pytest.raises(EffioError, match="no run 'nothing'"):
        store.find("nothing")
    assert store.find("ior") == second
    with pytest.raises(EffioError, match="no run 'or'"):
        store.find("or")


def test_without_a_result_there_is_no_last(store: Store) -> None:
    with pytest.raises(EffioError, match="has no run with a result"):
        store.find("last")
    _run(store, "20260303T000000Z-b-eff-io", with_result=False)
    with pytest.raises(EffioError, match="; 1 run has not measured anything yet"):
        store.find("last")
    _run(store, "20260303T000001Z-b-eff-io", with_result=False)
    with pytest.raises(EffioError, match="; 2 runs have not measured anything yet"):
        store.find("last")


def test_of_runs_of_one_second_the_last_is_the_one_made_last(store: Store) -> None:
    names = [f"20260101T000000Z-ior-{word}" for word in ("s-2", "s-1", "t", "a")]
    for age, name in enumerate(reversed(names)):
        run = _run(store, name)
        when = (1_767_225_600 - age) * 10**9
        os.utime(run.path / "run.json", ns=(when, when))
    assert [folder.id for folder in store.folders()] == names
    last = store.find("last")
    assert isinstance(last, RunFolder)
    assert last.id == names[-1]


def test_an_exact_name_wins_over_longer_ones(store: Store) -> None:
    short, _ = _run(store, "20260101T000000Z-b-eff-io"), _run(store, "20260101T000000Z-b-eff-io-2")
    assert store.find("20260101T000000Z-b-eff-io") == short


def test_other_files_are_not_runs(store: Store) -> None:
    (store.root / "notes").mkdir(parents=True)
    (store.root / "file").touch()
    assert store.folders() == []


def test_the_outcome_has_room_for_what_a_newer_effio_adds() -> None:
    assert Outcome.model_validate({"status": "done", "exit_code": 0, "novelty": 1}).status == "done"


# How many ranks ----------------------------------------------------------------------------------

EIGHT = Machine(8, False, None)
JOB = Machine(8, False, Allocation("slurm", "7", nodes=2, ranks=6))


@pytest.mark.parametrize(
    ("asked", "machine", "ranks"),
    [
        ((None, None, None), EIGHT, Ranks(4)),
        ((None, None, None), Machine(2, False, None), Ranks(2)),
        ((3, None, None), EIGHT, Ranks(3)),
        ((None, 2, 4), EIGHT, Ranks(8, 2, 4)),
        ((7, 2, 4), EIGHT, Ranks(7, 2, 4)),
        ((None, None, None), JOB, Ranks(6)),
        ((None, None, 5), JOB, Ranks(10, 2, 5)),
    ],
)
def test_ranks_that_were_not_given_are_chosen(
    asked: tuple[int | None, int | None, int | None], machine: Machine, ranks: Ranks
) -> None:
    assert default_ranks(*asked, machine)[0] == ranks


# "größe" as systems wrote it before UTF-8.
LATIN = os.fsdecode(b"gr\xf6\xdfe")


def test_names_that_are_not_utf_8_stop_no_command(effio: Effio, result_file: Path) -> None:
    """Of the store's folder, of a run and of an imported file: tables, pages and records hold
    them."""
    runs = effio.cwd / LATIN
    (runs / f"20260101T000000Z-{LATIN}").mkdir(parents=True)
    result_file.rename(runs / f"20260101T000000Z-{LATIN}" / "result.jsonl")
    for words in (
        ["query", "SELECT path FROM runs"],
        ["export", "last", "--what", "runs", "--output", "runs.csv"],
        ["report", "last", "--output", "page.html"],
        ["note", "last", f"of {LATIN}"],
        ["runs"],
    ):
        done = effio.call("--runs", runs, *words)
        assert done.returncode == 0, done.stderr
    assert "of gr??e" in done.stdout
    foreign = effio.cwd / f"{LATIN}.txt"
    shutil.copyfile(Path(__file__).parent / "foreign" / "ior.txt", foreign)
    done = effio.call("--runs", runs, "import", foreign)
    assert done.returncode == 0, done.stderr


def test_a_record_holds_names_that_are_not_utf_8(store: Store) -> None:
    """It could not be read again: the run counted as failed, and as of no campaign."""
    folder = store.create("b-eff-io")
    folder.write_record(
        _record(folder, directory=f"/{LATIN}", outcome={"status": "done", "exit_code": 0})
    )
    record = folder.record()
    assert record is not None
    assert record.directory == "/gr??e"


@pytest.mark.parametrize(
    ("kind", "said"), [("file", "Not a directory"), ("loop", "Too many levels of symbolic links")]
)
@pytest.mark.parametrize(
    "words",
    [("runs",), ("table",), ("clean",), ("show", "last"), ("trend", "x"), ("report", "last"),
     ("export", "last"), ("note", "last", "x"), ("compare", "a", "b")],
    ids=" ".join,
)  # fmt: skip
def test_a_place_that_cannot_be_read_is_not_called_empty(
    kind: str, said: str, words: tuple[str, ...], effio: Effio
) -> None:
    """ "no runs in X; start one": what is there is not known."""
    place = effio.cwd / "place"
    if kind == "file":
        place.write_text("")
    else:
        place.symlink_to(place)
    done = effio.call(*words, env={"EFFIO_RUNS": str(place)})
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"effio: {place}: {said}\n")


def test_a_result_needs_no_place_that_can_be_read(effio: Effio) -> None:
    place = effio.cwd / "place"
    place.write_text("")
    file = made.write(effio.cwd / "r.jsonl", made.b_eff_io())
    for words in (("show", file), ("export", file), ("compare", file, file)):
        done = effio.call(*words, env={"EFFIO_RUNS": str(place)})
        assert done.returncode == 0, done.stderr
    assert effio.call("runs", env={"EFFIO_RUNS": str(effio.cwd / "new")}).returncode == 0
