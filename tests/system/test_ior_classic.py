# SPDX-License-Identifier: BSD-3-Clause
"""The classic ior: what parsers in the wild read, and IOR's known defects that ours must not have.

The numbers of the defects are those of the list in the description of IOR that this project keeps.
"""

from __future__ import annotations

import csv
import json
import os
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines import Engine, Job, Run

MIB = 1024 * 1024


def classic(
    engine: Engine, where: Path, line: str, ranks: int = 2, code: int = 0, **more: Any
) -> Run:
    run = engine.run(["classic", "ior", *line.split()], where, ranks=ranks, **more)
    assert run.code == code, run
    return run


def left(where: Path) -> list[str]:
    return sorted(p.name for p in where.iterdir() if p.suffix != ".jsonl")


def timestamp(rank: int, signature: int, transfer: int) -> bytes:
    return b"".join(struct.pack("<Q", rank << 32 | signature + i) for i in range(transfer // 8))


def test_text_as_parsers_read_it(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(any_engine, tmp_path, "-a POSIX -o f -b 256k -t 64k -s 2 -i 3")
    lines = run.stdout.splitlines()
    # DAOS: the header and the rows stand behind the line that begins the summary.
    start = lines.index("Summary of all tests:")
    head = lines[start + 1].split()
    assert head[:5] == ["Operation", "Max(MiB)", "Min(MiB)", "Mean(MiB)", "StdDev"]
    for row, access in ((start + 2, "write"), (start + 3, "read")):
        cells = dict(zip(head[13:], lines[row].split()[13:], strict=False))
        assert lines[row].split()[0] == access
        assert len(lines[row].split()) == len(head)
        assert cells["reps"] == "3"
        assert cells["segcnt"] == "2"
        assert cells["blksiz"] == "262144"
        assert cells["xsize"] == "65536"
        assert cells["aggs(MiB)"] == "1.0"
        assert cells["API"] == "POSIX"
    assert re.match(r"write[ ]+([0-9.]+)[ ]+([0-9.]+)[ ]+([0-9.]+)", lines[start + 2])
    # ReFrame.
    assert re.search(r"^Max Write:\s+(\S+) MiB/sec", run.stdout, re.M)
    assert re.search(r"^Max Read:\s+(\S+) MiB/sec", run.stdout, re.M)
    # awk: access, bandwidth, IOPS, latency, block, transfer ...
    results = [line.split() for line in lines if re.match(r"(write|read)\s.*\s[0-2]\s*$", line)]
    rows = [r for r in results if len(r) == 11]
    assert [(r[0], r[10]) for r in rows] == [
        (a, str(i)) for i in range(3) for a in ("write", "read")
    ]
    assert all(r[4:6] == ["256.00", "64.00"] for r in rows)
    # The summary agrees with the rows, the rows with our records.
    writes = [float(r[1]) for r in rows if r[0] == "write"]
    assert float(lines[start + 2].split()[1]) == pytest.approx(max(writes), rel=0.01)
    records = [m["rate"]["value"] / MIB for m in run.result.rows(access="write")]
    assert writes == pytest.approx(records, rel=0.01)
    assert left(tmp_path) == []


def strict_json(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_has_every_key_and_full_precision(any_engine: Engine, tmp_path: Path) -> None:
    # Defect 12: quotes in the command line, stonewall text and NaN made it invalid.
    run = classic(
        any_engine,
        tmp_path,
        '-a DUMMY -o a"b -b 1m -t 64k -D 1 -i 2 -O summaryFormat=JSON',
    )
    out = strict_json(run.stdout)
    assert 'a"b' in out["Command line"]
    (entry,) = out["tests"]
    assert entry["Parameters"]["blockSize"] == MIB
    assert entry["Parameters"]["setTimeStampSignature/incompressibleSeed"] == 0
    assert len(entry["Parameters"]) == 43
    assert [r["access"] for r in entry["Results"]] == ["write", "read"] * 2
    wanted = "access bwMiB blockKiB xferKiB iops latency openTime wrRdTime closeTime totalTime"
    for result in entry["Results"]:
        assert set(wanted.split()) <= set(result)
        assert result["latency"] > 0
    wanted = (
        "operation API TestID ReferenceNumber segmentCount blockSize transferSize numTasks "
        "tasksPerNode repetitions filePerProc reorderTasks taskPerNodeOffset reorderTasksRandom "
        "reorderTasksRandomSeed bwMaxMIB bwMinMIB bwMeanMIB bwStdMIB OPsMax OPsMin OPsMean OPsSD "
        "MeanTime StoneWallTime StoneWallbwMeanMIB xsizeMiB"
    )
    for summary in out["summary"]:
        assert set(wanted.split()) <= set(summary)
    assert out["Finished"]


def test_json_of_a_failed_run_is_valid(any_engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(bytes(1000))
    run = classic(
        any_engine, tmp_path, "-r -k -o short -b 64k -t 64k -O summaryFormat=JSON", code=3
    )
    assert strict_json(run.stdout)["tests"][0]["Results"] == []
    assert "the file holds 1000 bytes" in run.stderr


def test_csv_and_summary_file(any_engine: Engine, tmp_path: Path) -> None:
    classic(
        any_engine, tmp_path, "-o f -b 64k -t 64k -i 2 -O summaryFormat=CSV,summaryFile=out.csv"
    )
    with (tmp_path / "out.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [(r["access"], r["iter"], r["numTasks"]) for r in rows] == [
        (a, i, "2") for i in "01" for a in ("write", "read")
    ]
    assert all(float(r["bw(MiB/s)"]) > 0 for r in rows)


def test_script_runs_its_tests_in_order(any_engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(
        "IOR START\n api=POSIX\n testFile=f, blockSize=128k\n transferSize=32k\n"
        " writeFile=1, keepFile=1\n RUN\n"
        " writeFile=0, readFile=1, checkRead=1 # what the first test wrote\n keepFile=0\n RUN\n"
        "IOR STOP\n"
    )
    run = classic(any_engine, tmp_path, "-G 77 -f s")
    assert [m["access"] for m in run.result.measurements] == ["write", "read"]
    assert run.result.measurements[1]["verified_bytes"] == 2 * 128 * 1024
    assert run.stdout.count("Summary of all tests:") == 1
    assert left(tmp_path) == ["s"]


def test_status_file_joins_a_write_and_a_read(any_engine: Engine, tmp_path: Path) -> None:
    # Every call takes 20 ms, so the stonewall falls long before the end of the block.
    line = "-F -o f -b 1g -t 64k -G 9 -O stoneWallingStatusFile=n,stoneWallingWearOut=1 -D 1"
    classic(any_engine, tmp_path, f"-w -k {line} -O interIODelay=20000")
    count = int((tmp_path / "n").read_text())
    assert 1 <= count <= 51
    sizes = [(tmp_path / f"f.{rank:08d}").stat().st_size for rank in (0, 1)]
    assert sizes == [count * 64 * 1024] * 2
    run = classic(any_engine, tmp_path, f"-r -R {line}")
    (read,) = run.results[-1].measurements
    assert read["verified_bytes"] == read["bytes"] == sum(sizes)
    (tmp_path / "n").write_text("many\n")
    run = classic(any_engine, tmp_path, f"-r -R {line}", code=2)
    assert "holds no number of calls" in run.stderr
    # What was there before is not ours to remove.
    assert [name for name in left(tmp_path) if name.startswith("f")] == [
        "f.00000000",
        "f.00000001",
    ]


# Lines of the Blue Waters acceptance, scaled down: what was -D 180 -b 4096g, and 1 GB a client.
BLUE_WATERS = (
    "-a POSIX -w -o {d}/POSIX -D 1 -b 64g -E -C -g -k -s 1 -t 4m -F -e",
    "-a POSIX -r -o {d}/POSIX -D 1 -b {smallest} -E -C -g -k -s 1 -t 4m -F -e",
    "-w -a POSIX -o {d}/one -b 16m -E -C -e -g -k -s 1 -t 16m -F",
    "-r -a POSIX -o {d}/one -b 16m -E -C -e -g -k -s 1 -t 16m -F",
)


@pytest.mark.parametrize("user", ["root", "other"])
def test_blue_waters_lines(
    any_engine: Engine, tmp_path: Path, user: str, mount: Callable[..., Path]
) -> None:
    where = tmp_path
    prefix: list[str] = []
    if user == "other":
        where = mount("-t", "tmpfs", "-o", "size=2g,mode=1777", "none")
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        for parent in [tmp_path, *list(tmp_path.parents)[:2]]:
            parent.chmod(parent.stat().st_mode | 0o011)
    elif os.geteuid() != 0:
        pytest.skip("the tests do not run as root")
    env = any_engine.environment({"HOME": str(where), "TMPDIR": str(where)})
    smallest = 4 * MIB
    for line in BLUE_WATERS:
        words = line.format(d=where, smallest=smallest).split()
        command = any_engine.command(["classic", "ior", *words, "-O", "interIODelay=100000"])
        run = Job(any_engine, [*prefix, *command], where, env).finish()
        assert run.code == 0, run
        sizes = [f.stat().st_size for f in where.glob("POSIX.*")]
        assert len(sizes) == 2
        smallest = min(sizes) // (4 * MIB) * 4 * MIB
        assert smallest >= 4 * MIB
    (read,) = run.results[-1].measurements
    assert read["bytes"] == 32 * MIB


# ---------------------------------------------------------------- defects of the original


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
        timeout=90,
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


def test_what_cannot_fit_is_refused(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    full = mount("-t", "tmpfs", "-o", "size=4m", "none")
    run = classic(any_engine, tmp_path, f"-w -o {full}/f -b 32m -t 1m", code=3)
    assert "are to be written, but the cap is" in run.stderr


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


def test_defect_19_times_of_reads_and_writes_stand_apart(
    any_engine: Engine, tmp_path: Path
) -> None:
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
        any_engine, tmp_path, "-a DUMMY -w -D 1 -F -o f -b 1g -t 1m --dummy.delay-xfer 50000"
    )
    lines = run.stdout.splitlines()
    row = lines[lines.index("Summary of all tests:") + 2].split()
    (write,) = run.result.measurements
    wall = write["detail"]["stonewall"]
    assert wall["total_bytes"] == write["bytes"]
    rate = write["bytes"] / MIB / wall["last_done_seconds"]
    assert float(row[11]) == pytest.approx(rate, rel=0.01)


def test_defect_22_random_work_is_equal(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(any_engine, tmp_path, "-w -W -z -o f -b 64k -t 4k -s 3")
    (write,) = run.result.measurements
    assert write["detail"]["rank_bytes"] == {"min": 196608, "mean": 196608, "max": 196608}
    assert write["verified_bytes"] == 2 * 196608


def test_defect_23_directories_do_not_stay(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "-F -u -o f -b 64k -t 64k")
    assert left(tmp_path) == []


def test_time_limit_leaves_out_phases_and_says_so(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(
        [
            "ior",
            "--backend=null",
            "--backend-options=transfer=100ms",
            "--block=2MiB",
            "--repetitions=50",
            "--time-limit=0.3s",
            "--quiet",
        ],
        tmp_path,
    )
    assert run.code == 0, run
    assert 2 <= len(run.result.measurements) < 20


def test_help_is_no_error(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.alone(["classic", "ior", "-h"], tmp_path)
    assert run.code == 0
    for word in ("-b, --blockSize", "stoneWallingStatusFile", "--mpiio.useFileView"):
        assert word in run.stdout
