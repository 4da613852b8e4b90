# SPDX-License-Identifier: BSD-3-Clause
"""`effio profile` of Darshan logs: logs of our runs, and those that PyDarshan ships,
whose command lines are known."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.errors import EffioError, ExitCode
from effio.profile.darshan import read_log
from effio.profile.model import Profile
from effio.profile.patterns import profile_of
from effio.profile.steps import imitate

MIB = 1 << 20
GIB = 1 << 30


@cache
def _package() -> Path | None:
    found = importlib.util.find_spec("darshan")
    return Path(found.origin).parent if found and found.origin else None


def shipped_log(name: str) -> Path:
    """A log that comes with PyDarshan."""
    package = _package()
    if package is None:
        pytest.skip("PyDarshan is not installed (pip install darshan)")
    for folder in ("tests/input", "examples/example_logs"):
        if (package / folder / name).is_file():
            return package / folder / name
    pytest.skip(f"this PyDarshan carries no {name}")


# Each is read in a process that loads PyDarshan, which takes a second.
_log_of = cache(read_log)


@cache
def _profile_of(path: Path) -> Profile:
    return profile_of(_log_of(path))


def _shipped(name: str) -> Profile:
    return _profile_of(shipped_log(name))


# Real logs ---------------------------------------------------------------------------------------


def _own(name: str) -> Profile:
    """A log of a run of effio's own ior (Darshan 3.5.0, Open MPI); it also has its result file."""
    if _package() is None:
        pytest.skip("PyDarshan is not installed (pip install darshan)")
    return _profile_of(Path(__file__).parent / "darshan" / name)


def test_own_ior_in_segments() -> None:
    """ior --backend posix --files shared --block 1MiB --transfer 64KiB --segments 2, 2 ranks."""
    profile = _own("ior-segments.darshan")
    assert (profile.application, profile.ranks) == ("effio-mpi", 2)
    both = [a for a in profile.activity if a.files == "shared"]
    assert [a.access for a in both] == ["write", "read"]
    for one in both:
        assert (one.library, one.bytes, one.times) == ("posix", 4 * MIB, 1)
        assert (one.transfer, one.transfer_share, one.aligned) == (65536, 1.0, 1.0)
        assert one.collective is None
        # 15 of a rank's 16 calls of a block follow the one before, and once it jumps.
        assert one.layout == "strided"
        assert one.piece == MIB
    steps = {step.name: step for step in imitate(profile)}
    assert dict(steps[both[0].name].options) | {"sync": None} == {
        "backend": "posix", "files": "shared", "transfer": "65536B", "block": "1048576B",
        "segments": "{max(1, round(scale * 2))}", "phases": "write", "sync": None,
    }  # fmt: skip


def test_own_ior_with_collective_calls() -> None:
    """ior --backend mpiio --files shared --block 64KiB --transfer 64KiB --segments 16 --collective
    --phases write --sync none, 4 ranks."""
    profile = _own("ior-collective.darshan")
    assert profile.ranks == 4
    one = next(a for a in profile.activity if a.library == "mpi-io")
    assert (one.access, one.files, one.bytes) == ("write", "shared", 4 * 16 * 65536)
    assert (one.transfer, one.collective) == (65536, 1.0)
    assert one.flush is False
    step = next(s for s in imitate(profile) if s.name == one.name)
    assert step.options["collective"] is True
    assert step.options["transfer"] == "65536B"
    assert step.options["sync"] == "none"


def test_own_ior_with_files_of_ranks() -> None:
    """ior --backend posix --files per-process --block 96KiB --transfer 8KiB --phases write, 3
    ranks."""
    profile = _own("ior-own-files.darshan")
    assert profile.ranks == 3
    one = profile.activity[0]
    assert (one.access, one.library, one.files) == ("write", "posix", "per-process")
    assert (one.bytes, one.times, one.file_count) == (3 * 96 * 1024, 1, 3)
    assert (one.transfer, one.transfer_share) == (8192, 1.0)
    assert (one.layout, one.flush) == ("consecutive", True)


def test_ior_with_files_of_processes() -> None:
    """ior -t 8m -b 256m -s 4 -F -C -e -a POSIX -w -k, 48 processes."""
    profile = _shipped("sample-goodost.darshan")
    assert (profile.application, profile.ranks, profile.seconds) == ("ior", 48, 5)
    (one,) = profile.activity
    assert (one.access, one.library, one.files) == ("write", "posix", "per-process")
    assert (one.bytes, one.times, one.file_count) == (48 * 4 * 256 * MIB, 1, 48)
    assert (one.transfer, one.transfer_share) == (8 * MIB, 1.0)
    # -s 4 in a file of each process: each segment follows the one before.
    assert (one.layout, one.piece) == ("consecutive", None)
    assert (one.flush, one.aligned, one.collective) == (True, 1.0, None)
    assert (profile.names.creates, profile.names.opens) == (48, 48)
    assert [p.access for p in profile.phase] == ["write"]
    assert profile.phase[0].bytes == 48 * GIB
    (step,) = imitate(profile)
    assert step.options == {
        "backend": "posix", "files": "per-process", "transfer": "8388608B",
        "block": "{multiple(scale * 1073741824, 8388608)}", "phases": "write",
    }  # fmt: skip


def test_ior_of_many_processes() -> None:
    """ior -w -s 64 and a file of options: 64 calls of 4 MiB each of 2048 processes, -F."""
    profile = _shipped("sample-badost.darshan")
    one = profile.activity[0]
    assert (one.files, one.transfer, one.bytes) == ("per-process", 4 * MIB, 2048 * 64 * 4 * MIB)
    # All processes read the file of options through STDIO: next to nothing of 512 GiB.
    assert [a.library for a in profile.activity] == ["posix", "stdio"]
    assert [step.name for step in imitate(profile)] == [one.name]


def test_ior_through_hdf5() -> None:
    """ior -a HDF5, 4 processes: by default one file, a block of 1 MiB each, calls of 256 KiB."""
    profile = _shipped("ior_hdf5_example.darshan")
    assert profile.ranks == 4
    assert {a.access for a in profile.activity} == {"write", "read"}
    for one in profile.activity:
        assert (one.library, one.files, one.collective) == ("hdf5", "shared", 0.0)
        assert one.transfer == 256 << 10
        # In addition to the data there are heads of a few KiB.
        assert 4 * MIB < one.bytes < 4 * MIB + 16 * 1024
        assert one.transfer_share is not None
        assert one.transfer_share > 0.995
        assert one.layout == "consecutive"  # from its trace: one row of four calls each
    steps = {step.measures[0].access: step for step in imitate(profile)}
    assert steps["write"].options["transfer"] == "262144B"
    assert steps["write"].options["block"] == "{multiple(scale * 1048576, 262144)}"
    assert steps["write"].options["backend"] == "hdf5"
    # From the trace: it writes before it reads.
    assert [p.access for p in profile.phase] == ["write", "read"]
    assert profile.phase[0].end <= profile.phase[1].begin


def test_vpic_io() -> None:
    """2048 processes write 8 variables of 128 MiB each, collectively, into one file."""
    profile = _shipped("example.darshan")
    (one,) = profile.activity
    assert (one.library, one.files) == ("mpi-io", "shared")
    assert one.transfer == 128 * MIB
    assert one.collective == 1.0
    assert one.bytes == pytest.approx(2048 * 8 * 128 * MIB, rel=1e-6)
    assert (one.layout, one.piece) == ("strided", 128 * MIB)
    (step,) = imitate(profile)
    assert step.options["block"] == "134217728B"
    assert step.options["segments"] == "{max(1, round(scale * 8))}"
    assert step.options["collective"] is True
    assert any("no trace" in what for what in profile.unknown)


def test_what_is_left_out_is_counted_in_calls() -> None:
    """64 calls of MACSio move 89 % of the bytes, and all others are small."""
    name = "shane_macsio_id29959_5-22-32552-7035573431850780836_1590156158.darshan"
    profile = _shipped(name)
    (large, *_) = profile.activity
    assert (large.calls, large.typical_calls) == (7759, 64)
    (step, *_) = imitate(profile)
    assert step.missing[0] == "7695 of 7759 calls have another size; they move 11 % of its bytes"
    # Their cost counts: the prediction is for all calls.
    assert step.measures[0].work.operations == 7759


def test_one_process_writes() -> None:
    """16 processes open a file with MPI-IO, one writes 4000 bytes."""
    one = _shipped("sample-dxt-simple.darshan").activity[0]
    assert (one.files, one.library, one.bytes) == ("one-process", "mpi-io", 4000)
    assert (one.example, one.transfer) == ("test.out", 4000)


def test_a_file_has_the_trace_of_the_highest_layer() -> None:
    # MPI-IO and POSIX trace four processes each.
    log = _log_of(shipped_log("ior_hdf5_example.darshan"))
    assert [one.rank for one in log.traces] == [0, 1, 2, 3]
    # The second file is one that only POSIX saw.
    log = _log_of(shipped_log("sample-dxt-simple.darshan"))
    assert [sum(c.length for c in one.calls) for one in log.traces] == [4000, 40]


def test_stdio_alone() -> None:
    profile = _shipped("noposix.darshan")
    assert [(a.access, a.library, a.files) for a in profile.activity] == [
        ("read", "stdio", "shared"), ("write", "stdio", "shared"),
    ]  # fmt: skip
    assert profile.activity[0].bytes == 1_812_408_359
    assert any("STDIO" in what for what in profile.unknown)


def test_from_a_log_to_a_campaign_that_is_planned(with_engine: Effio) -> None:
    log = shipped_log("ior_hdf5_example.darshan")
    words = ("--campaign", "c.toml", "--save", "f.toml", "--page", "p.html")
    done = with_engine.call("profile", log, *words)
    assert done.returncode == 0, done.stderr
    assert "4 processes" in done.stdout
    assert "256 KiB" in done.stdout
    assert "phases" in (with_engine.cwd / "p.html").read_text()
    assert with_engine.call("check", "c.toml").returncode == 0
    done = with_engine.call("plan", "c.toml", "--ranks", "4", "--commands")
    assert done.returncode == 0, done.stderr
    assert "--transfer=262144B --block=1048576" in done.stdout
    # What was saved says the same, and nothing of the machine it came from.
    text = (with_engine.cwd / "f.toml").read_text()
    assert "/" not in text.replace("effio-profile/1", "").replace("I/O", "")
    reported = with_engine.call("profile", "f.toml", "--json")
    again = json.loads(reported.stdout)["profile"]
    assert again == json.loads(with_engine.call("profile", log, "--json").stdout)["profile"]


def test_modules_next_to_the_log_are_not_run(effio: Effio) -> None:
    log = shipped_log("sample-dxt-simple.darshan").read_bytes()
    (effio.cwd / "x.darshan").write_bytes(log)
    for name in ("json.py", "darshan.py", "cffi.py"):
        (effio.cwd / name).write_text("raise SystemExit(9)\n")
    done = effio.call("profile", "x.darshan")
    assert done.returncode == 0, done.stderr


# No logs -----------------------------------------------------------------------------------------


def _cut(count: int) -> Callable[[bytes], bytes]:
    return lambda log: log[:count]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_cut(0), id="empty"),
        pytest.param(_cut(500), id="torn in its head"),
        pytest.param(_cut(1000), id="torn where its library breaks down"),
        pytest.param(_cut(2500), id="torn in its records"),
        pytest.param(_cut(-1), id="one byte short"),
        pytest.param(lambda log: b"\x89PNG\r\n" + bytes(range(256)) * 100, id="foreign"),
    ],
)
def test_no_whole_log(effio: Effio, damage: Callable[[bytes], bytes]) -> None:
    log = shipped_log("ior_hdf5_example.darshan").read_bytes()
    (effio.cwd / "x.darshan").write_bytes(damage(log))
    done = effio.call("profile", "x.darshan", "--campaign", "c.toml")
    assert done.returncode == 2, done.stderr
    assert "x.darshan: not a complete Darshan log: " in done.stderr
    assert "Traceback" not in done.stderr
    assert not (effio.cwd / "c.toml").exists()


@pytest.mark.parametrize(
    ("offset", "what"),
    [
        (4, "its head"),  # its version: not UTF-8
        (344, "the list of its modules"),  # a module that has no name
    ],
)
def test_a_damaged_log_is_described_in_a_sentence_of_ours(
    tmp_path: Path, offset: int, what: str
) -> None:
    """Not in that of the Python library that failed at it, and not as a fault of PyDarshan."""
    shipped_log("ior_hdf5_example.darshan")  # PyDarshan is here
    log = bytearray((Path(__file__).parent / "darshan" / "ior-collective.darshan").read_bytes())
    log[offset] = 255
    (tmp_path / "x.darshan").write_bytes(log)
    with pytest.raises(EffioError) as caught:
        read_log(tmp_path / "x.darshan")
    assert caught.value.message.endswith(f"not a complete Darshan log: {what} cannot be read")
    assert caught.value.code == ExitCode.USAGE


def test_a_log_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    shipped_log("ior_hdf5_example.darshan")  # PyDarshan is here
    path = tmp_path / "x.darshan"
    with path.open("wb") as stream:
        stream.truncate(GIB + 1)
    with pytest.raises(EffioError, match="more than 1 GiB"):
        read_log(path)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    shipped_log("ior_hdf5_example.darshan")
    os.mkfifo(tmp_path / "pipe")
    for name in (".", "pipe"):
        with pytest.raises(EffioError, match="not a file"):
            read_log(tmp_path / name)
    with pytest.raises(EffioError, match="No such file"):
        read_log(tmp_path / "none.darshan")


def test_without_pydarshan(effio: Effio, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "darshan" else found(name)
    )
    (effio.cwd / "x.darshan").write_bytes(b"")
    done = effio.call("profile", "x.darshan")
    assert done.returncode == ExitCode.ENVIRONMENT
    assert "PyDarshan is not installed" in done.stderr
    assert "pip install darshan" in done.stderr
    # A form needs none.
    (effio.cwd / "f.toml").write_text(
        'application = "a"\nranks = 1\nseconds = 1\n[names]\ncreates = 1\n'
    )
    assert effio.call("profile", "f.toml").returncode == 0
