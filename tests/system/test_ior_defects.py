# SPDX-License-Identifier: BSD-3-Clause
"""Known defects of the original that the classic ior must not have.

The numbers are those of the list in the description of IOR that this project keeps; number 4 is
tested with the options, 12 with the output, 5 to 7 with the array libraries.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import Engine
from ior_runs import MIB, classic, left, timestamp
from patience import SECONDS


def test_defect_1_exit_code_does_not_count_errors(any_engine: Engine, tmp_path: Path) -> None:
    # 128 wrong calls gave exit code 0.
    (tmp_path / "f").write_bytes(bytes(128 * 4096))
    run = classic(any_engine, tmp_path, "-r -R -G 5 -k -o f -b 256k -t 4k", code=1)
    (read,) = run.result.measurements
    assert read["error_count"] == 128


def test_defects_2_and_3_random_data(any_engine: Engine, tmp_path: Path) -> None:
    for kind in ("incompressible", "random"):
        classic(any_engine, tmp_path, f"-w -W -r -R -l {kind} -k -o f -b 512k -t 64k")
        content = (tmp_path / "f").read_bytes()
        assert len(zlib.compress(content)) > 0.99 * len(content)
        (tmp_path / "f").unlink()


def test_defect_8_dry_run_says_what_would_be_done(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(any_engine, tmp_path, "-o f -b 1t -t 1m --dryRun")
    assert "2 TiB" in run.stdout
    assert left(tmp_path) == []


def test_defect_10_no_space_is_an_error_with_its_place(
    engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    api = "MPIIO -c" if engine.name != "mpich" else "MPIIO"
    run = engine.run(
        ["classic", "ior", "-a", *api.split(), "-w", "-D", "60", "-o", full / "f", "-b", "32m"],
        tmp_path,
        timeout=SECONDS,
    )
    assert run.code == 3, run
    assert run.results[-1].status == "io_error"
    assert list(full.iterdir()) == []


def test_defect_10_with_posix(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    run = classic(any_engine, tmp_path, f"-w -D 60 -o {full}/f -b 32m -t 1m", code=3)
    assert "No space left on device" in run.stderr
    assert f"{full}/f" in run.stderr
    assert run.result.measurements[0]["valid"] is False
    assert list(full.iterdir()) == []


def test_what_cannot_fit_is_reported_before_it_fails(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    run = classic(any_engine, tmp_path, f"-w -o {full}/f -b 32m -t 1m", code=3)
    # The original would begin, and so do we; the disk then says no.
    assert "WARNING: the files need 64 MiB, and there are" in run.stderr
    assert list(full.iterdir()) == []


def test_defect_11_existing_files_are_not_truncated(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 100_000)
    classic(engine, tmp_path, "-a MPIIO -w -E -k -o f -b 16k -t 16k -G 3")
    content = (tmp_path / "f").read_bytes()
    assert len(content) == 100_000
    assert content[:16384] == timestamp(0, 3, 16384)
    assert content[32768:] == b"x" * (100_000 - 32768)


def test_defect_17_swapped_blocks_are_seen(any_engine: Engine, tmp_path: Path) -> None:
    options = ["--transfer=4KiB", "--block=64KiB", "--seed=5", "--quiet", "--dir=."]
    run = any_engine.run(["ior", *options, "--phases=write", "--keep"], tmp_path)
    content = bytearray((tmp_path / "ior").read_bytes())
    first, second = content[0:4096], content[4096:8192]
    content[0:4096], content[4096:8192] = second, first
    (tmp_path / "ior").write_bytes(content)
    run = any_engine.run(["ior", *options, "--phases=read", "--verify=inside"], tmp_path)
    assert run.code == 1, run
    (read,) = run.results[-1].measurements
    assert read["error_count"] == 2
    assert read["errors"][0]["offset_bytes"] == 0


def test_one_corrupt_byte_is_found(any_engine: Engine, tmp_path: Path) -> None:
    options = ["--transfer=4KiB", "--block=64KiB", "--seed=5", "--quiet", "--dir=."]
    any_engine.run(["ior", *options, "--phases=write", "--keep"], tmp_path)
    content = bytearray((tmp_path / "ior").read_bytes())
    right = content[70_001]
    content[70_001] ^= 0x40
    (tmp_path / "ior").write_bytes(content)
    run = any_engine.run(["ior", *options, "--phases=read", "--verify=read"], tmp_path)
    assert run.code == 1, run
    (read,) = run.results[-1].measurements
    assert read["error_count"] == 1
    assert read["errors"][0]["offset_bytes"] == 70_001
    text = f"expected 0x{right:02x}, found 0x{right ^ 0x40:02x}; 1 wrong in all"
    assert text in read["errors"][0]["cause"]
    assert read["valid"] is True
    assert (tmp_path / "ior").exists()


def test_defect_18_random_writes_with_repeats(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(any_engine, tmp_path, "-w -z -z -W -o f -b 64k -t 4k -s 4")
    (write,) = run.result.measurements
    assert write["verified_bytes"] == write["bytes"] == 2 * 4 * 65536


def test_defect_19_times_of_reads_and_writes_are_apart(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "-o f -b 64k -t 16k -i 2 -O savePerOpDataCSV=ops")
    names = [n for n in left(tmp_path) if n.startswith("ops")]
    assert names == sorted(
        f"ops-{access}-{i}-{rank:05d}.csv"
        for access in ("write", "read")
        for i in (0, 1)
        for rank in (0, 1)
    )
    lines = (tmp_path / names[0]).read_text().splitlines()
    assert lines[0] == "time,runtime,tp"
    assert len(lines) == 1 + 4


def test_defect_20_short_files_of_a_stonewall_are_read(any_engine: Engine, tmp_path: Path) -> None:
    line = "-w -r -C -D 1 -F -o f -b 1g -t 64k -O interIODelay=50000"
    run = classic(any_engine, tmp_path, line)
    write, read = run.result.measurements
    assert read["bytes"] <= write["bytes"] < 2**28


def test_defect_21_stonewall_column_is_of_all_tasks(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(
        any_engine,
        tmp_path,
        "-a DUMMY -w -D 1 -F -o f -b 1g -t 1m --dummy.delay-xfer 50000 -O stoneWallingWearOut=1",
    )
    lines = run.stdout.splitlines()
    row = lines[lines.index("Summary of all tests:") + 2].split()
    (write,) = run.result.measurements
    wall = write["detail"]["stonewall"]
    assert 0 < wall["total_bytes"] <= write["bytes"]
    rate = wall["total_bytes"] / MIB / wall["last_done_seconds"]
    assert float(row[11]) == pytest.approx(rate, rel=0.01)


def test_defect_22_random_work_is_equal(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(any_engine, tmp_path, "-w -W -z -o f -b 64k -t 4k -s 3")
    (write,) = run.result.measurements
    assert write["detail"]["rank_bytes"] == {"min": 196608, "mean": 196608, "max": 196608}
    assert write["verified_bytes"] == 2 * 196608


def test_defect_23_directories_do_not_stay(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "-F -u -o f -b 64k -t 64k")
    assert left(tmp_path) == []
