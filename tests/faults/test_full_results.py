# SPDX-License-Identifier: BSD-3-Clause
"""Results whose place is full: the run continues, its lines are kept where there is room, the code
says that they are not where they were requested (docs/exit-codes.md)."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engines import Engine, Run
from results import load

RUN = ("ior", "--quiet", "--block", "64KiB", "--transfer", "64KiB")


def run_with(engine: Engine, tmp_path: Path, result: Path, data: Path, *environment: str) -> Run:
    """The ranks have this environment, their launcher has not: Open MPI needs its TMPDIR."""
    prefix: Sequence[object] = ["env", *environment]
    return engine.run([*RUN, "--dir", data, "-o", result], tmp_path, prefix=prefix)


def full(mount: Callable[..., Path]) -> Path:
    """A directory that takes names and not a byte. No two have the same name: what is rescued has
    it, and what a test leaves in /tmp that was cut short would be in the way."""
    whole = mount("-t", "tmpfs", "-o", "size=4k", "none")
    (whole / "ballast").write_bytes(b"x" * 4096)
    place = whole / f"full-{uuid.uuid4().hex}"
    place.mkdir()
    return place


def shim(engine: Engine) -> str:
    """LD_PRELOAD of the calls that go wrong."""
    return engine.loaded_before(engine.build / "tests" / "faults" / "effio_faulty_calls.so")


def check_kept(run: Run, result: Path, rescued: Path) -> None:
    assert run.code == 7, run
    reported = [line for line in run.stderr.splitlines() if line.startswith("effio-mpi")]
    assert reported == [
        f"effio-mpi: cannot write the result file {result}: No space left on device; all results"
        f" are kept in {rescued}"
    ]
    kept = load(rescued)
    assert kept.status == "done"  # of the measurement
    assert [m["access"] for m in kept.measurements] == ["write", "read"]


def test_a_full_place_before_the_run(
    engine: Engine, tmp_path: Path, data: Path, mount: Callable[..., Path]
) -> None:
    place, other = full(mount), tmp_path / "other"
    other.mkdir()
    run = run_with(engine, tmp_path, place / "r.jsonl", data, f"TMPDIR={other}")
    check_kept(run, place / "r.jsonl", other / f"effio-rescued-{place.name}-r.jsonl")
    assert (place / "r.jsonl").read_bytes() == b""
    assert list(data.iterdir()) == []
    # Nothing that was rescued before is lost.
    (place / "r.jsonl").unlink()
    run = run_with(engine, tmp_path, place / "r.jsonl", data, f"TMPDIR={other}")
    check_kept(run, place / "r.jsonl", other / f"effio-rescued-{place.name}-r-2.jsonl")


def test_a_place_that_runs_full(
    engine: Engine, tmp_path: Path, data: Path, mount: Callable[..., Path]
) -> None:
    """The first line is longer than a page, which is all that is left."""
    place, other = mount("-t", "tmpfs", "-o", "size=8k", "none"), tmp_path / "other"
    other.mkdir()
    run = run_with(engine, tmp_path, place / "r.jsonl", data, f"TMPDIR={other}")
    check_kept(run, place / "r.jsonl", other / f"effio-rescued-{place.name}-r.jsonl")
    assert 0 < (place / "r.jsonl").stat().st_size <= 8192


def test_the_directory_of_data_is_the_last_resort(
    any_engine: Engine, tmp_path: Path, data: Path, mount: Callable[..., Path]
) -> None:
    place = full(mount)
    name = f"effio-rescued-{place.name}-r.jsonl"
    fault = f"EFFIO_FAULT=write,error=28,file=/tmp/{name}"
    words = (shim(any_engine), fault, "TMPDIR=/no/such/place")
    run = run_with(any_engine, tmp_path, place / "r.jsonl", data, *words)
    check_kept(run, place / "r.jsonl", data / name)
    assert [path.name for path in data.iterdir()] == [name]
    assert not Path("/tmp", name).exists()


@pytest.mark.parametrize("taken", ["removed", "renamed", "unmounted"])
def test_a_place_that_vanishes(
    any_engine: Engine, tmp_path: Path, data: Path, taken: str, request: pytest.FixtureRequest
) -> None:
    """A file without a name takes every line, and is gone with the run: it is not enough that it
    can be written."""
    place, other = tmp_path / "place", tmp_path / "other"
    if taken == "unmounted":
        place = request.getfixturevalue("mount")("-t", "tmpfs", "-o", "size=4m", "none")
    else:
        place.mkdir()
    other.mkdir()
    away = {
        "removed": f"rm -r {place}",
        "renamed": f"mv {place} {tmp_path}/away",
        "unmounted": f"umount -l {place}",
    }[taken]
    command = f"test $EFFIO_RANK-$EFFIO_PHASE != 0-file-stat || {away}"
    words = ["mdtest", "--items", "4", "--things", "files", "--quiet", "--dir", data]
    run = any_engine.run(
        [*words, f"--run-before-phase={command}", "-o", place / "r.jsonl"],
        tmp_path,
        prefix=["env", f"TMPDIR={other}"],
    )
    assert run.code == 7, run
    rescued = other / f"effio-rescued-{place.name}-r.jsonl"
    reported = [line for line in run.stderr.splitlines() if line.startswith("effio-mpi")]
    assert reported == [
        f"effio-mpi: cannot write the result file {place}/r.jsonl: it was removed or renamed; all"
        f" results are kept in {rescued}"
    ]
    kept = load(rescued)
    assert kept.status == "done"
    phases = [m["where"]["phase"] for m in kept.measurements]
    assert phases[:2] == ["Tree creation", "File creation"]
    assert phases[-1] == "Tree removal"
    assert list(data.iterdir()) == []


def test_no_place_at_all(
    any_engine: Engine, tmp_path: Path, data: Path, mount: Callable[..., Path]
) -> None:
    place = full(mount)
    fault = "EFFIO_FAULT=write,error=28,file=r.jsonl"
    run = run_with(any_engine, tmp_path, place / "r.jsonl", data, shim(any_engine), fault)
    assert run.code == 7, run
    assert run.stderr.count("results from here on are not in it") == 1
    assert "effio-mpi: results: the result file could not be written" in run.stderr
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("where", ["no/such/directory/r.jsonl", "file/r.jsonl"])
def test_a_place_that_is_none(any_engine: Engine, tmp_path: Path, data: Path, where: str) -> None:
    """Nothing is started."""
    (tmp_path / "file").touch()
    run = run_with(any_engine, tmp_path, tmp_path / where, data)
    assert run.code == 7, run
    assert f"effio-mpi: cannot create the result file: {tmp_path / where}" in run.stderr or (
        f"effio-mpi: cannot create the result file {tmp_path / where}" in run.stderr
    )
    assert list(data.iterdir()) == []


def test_wrong_data_outrank_where_results_are(
    any_engine: Engine, tmp_path: Path, data: Path, mount: Callable[..., Path]
) -> None:
    place, other = full(mount), tmp_path / "other"
    other.mkdir()
    fault = "EFFIO_FAULT=write,flip=100,file=/f"
    words = [*RUN, "--dir", data, "--name", "f", "--verify", "read", "-o", place / "r.jsonl"]
    prefix = ["env", f"TMPDIR={other}", shim(any_engine), fault]
    run = any_engine.run(words, tmp_path, prefix=prefix)
    assert run.code == 1, run
    (rescued,) = other.glob("effio-rescued-*")
    assert load(rescued).status == "data_errors"
