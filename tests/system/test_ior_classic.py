# SPDX-License-Identifier: BSD-3-Clause
"""The classic ior: what parsers in the wild read, and whole lines."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engines import Engine
from ior_runs import KIB, MIB, classic, left, timestamp


def test_text_as_parsers_read_it(any_engine: Engine, tmp_path: Path) -> None:
    run = classic(any_engine, tmp_path, "-a POSIX -o f -b 256k -t 64k -s 2 -i 3")
    lines = run.stdout.splitlines()
    # DAOS: the header and the rows are behind the line that begins the summary.
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
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


# Keys of the original's JSON and what is there: i an integer, f a number, s a text.
PARAMETERS = {
    "s": "api platform testFileName options data_packet_type",
    "i": "testID refnum deadlineForStonewall stoneWallingWearOut maxTimeDuration outlierThreshold "
    "dryRun nodes memoryPerTask memoryPerNode tasksPerNode repetitions multiFile interTestDelay "
    "fsync fsyncperwrite useExistingTestFile uniqueDir singleXferAttempt readFile writeFile "
    "filePerProc reorderTasks reorderTasksRandom reorderTasksRandomSeed randomOffset checkWrite "
    "checkRead dataPacketType keepFile keepFileWithError warningAsErrors verbose "
    "setTimeStampSignature/incompressibleSeed collective segmentCount transferSize blockSize",
}
OPTIONS = {
    "s": "api apiVersion test_filename access type ordering_in_a_file ordering_inter_file "
    "memoryBuffer dataAccess GPUDirect xfersize blocksize aggregate_filesize",
    "i": "segments task_offset nodes tasks clients_per_node repetitions verbose stonewallingTime "
    "stoneWallingWearOut",
}
RESULT = {
    "s": "access",
    "f": "bwMiB blockKiB xferKiB iops latency openTime wrRdTime closeTime totalTime",
}
SUMMARY = {
    "s": "operation API",
    "i": "TestID ReferenceNumber segmentCount blockSize transferSize numTasks tasksPerNode "
    "repetitions filePerProc reorderTasks taskPerNodeOffset reorderTasksRandom "
    "reorderTasksRandomSeed",
    "f": "bwMaxMIB bwMinMIB bwMeanMIB bwStdMIB OPsMax OPsMin OPsMean OPsSD MeanTime StoneWallTime "
    "StoneWallbwMeanMIB xsizeMiB",
}


def holds(found: dict[str, Any], wanted: dict[str, str]) -> None:
    types = {"s": (str,), "i": (int,), "f": (int, float)}
    for kind, keys in wanted.items():
        for key in keys.split():
            name = key.replace("_", " ")
            assert isinstance(found[name], types[kind]), (name, found[name])


def test_json_has_every_key_of_the_original_in_its_type(any_engine: Engine, tmp_path: Path) -> None:
    # Defect 12: quotes in the command line, stonewall text and NaN made it invalid.
    run = classic(
        any_engine,
        tmp_path,
        '-a DUMMY -o a"b -b 1m -t 64k -s 2 -D 20 -i 2 -C -v -l o '
        "-O summaryFormat=JSON,stoneWallingWearOut=1",
    )
    out = strict_json(run.stdout)
    assert 'a"b' in out["Command line"]
    (entry,) = out["tests"]
    holds(entry["Parameters"], PARAMETERS)
    assert entry["Parameters"]["blockSize"] == MIB
    assert entry["Parameters"]["dataPacketType"] == 1  # timestamp, offset, incompressible, random
    assert re.fullmatch(r"[^()]+\(Linux\)", entry["Parameters"]["platform"])
    holds(entry["Options"], OPTIONS)
    assert entry["Options"]["xfersize"] == "65536 bytes"
    assert entry["Options"]["blocksize"] == "1 MiB"
    assert entry["Options"]["aggregate filesize"] == "4 MiB"
    assert entry["Options"]["stonewallingTime"] == 20
    results = entry["Results"]
    assert [r["access"] for r in results] == ["write", "read", "remove"] * 2
    for result in results:
        if result["access"] != "remove":
            holds(result, RESULT)
            assert result["latency"] > 0
    for summary in out["summary"]:
        holds(summary, SUMMARY)
        assert summary["xsizeMiB"] == 4  # what both ranks moved
    assert out["Finished"]


def test_sizes_are_what_was_moved(any_engine: Engine, tmp_path: Path) -> None:
    # 8 TiB stood there where the stonewall had let 100 calls through: each takes 20 ms.
    line = "-a DUMMY -w -b 4t -t 64k -D 1 --dummy.delay-xfer=20000"
    run = classic(any_engine, tmp_path, line)
    lines = run.stdout.splitlines()
    head, row = lines[(at := lines.index("Summary of all tests:")) + 1], lines[at + 2]
    # From "Test#" on: the summary's first columns are figures with other names.
    cells = dict(zip(head.split()[12:], row.split()[12:], strict=True))
    (moved,) = [m["bytes"] for m in run.result.measurements]
    assert moved <= 2 * 51 * 65536
    assert cells["aggs(MiB)"] == f"{moved / MIB:.1f}"
    assert f"WARNING: Expected aggregate file size       = {8 * 1024**4}" in lines
    assert f"WARNING: Using actual aggregate bytes moved = {moved}" in lines
    assert "WARNING: Maybe caused by deadlineForStonewalling" in lines


def test_check_alone_compares_what_is_there(any_engine: Engine, tmp_path: Path) -> None:
    line = "-o f -b 64k -t 16k -k"
    classic(any_engine, tmp_path, f"-w -G 5 {line}")
    run = classic(any_engine, tmp_path, f"-W -G 5 {line}")
    # The original has neither a row nor a summary for it.
    assert not re.search(r"^(write|read)\s", run.stdout, re.M)
    run = classic(any_engine, tmp_path, f"-W -G 6 {line}", code=1)
    assert re.search(r"^WARNING: Incorrect data on write \(\d+ errors found\)", run.stdout, re.M)


def test_json_of_a_failed_run_is_valid(any_engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "short").write_bytes(bytes(1000))
    run = classic(
        any_engine, tmp_path, "-r -k -o short -b 64k -t 64k -O summaryFormat=JSON", code=3
    )
    assert strict_json(run.stdout)["tests"][0]["Results"] == []
    assert "the file holds 1000 B" in run.stderr


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
    if user == "other":
        where = mount("-t", "tmpfs", "-o", "size=2g,mode=1777", "none")
    elif os.geteuid() != 0:
        pytest.skip("the tests do not run as root")
    smallest = 4 * MIB
    for line in BLUE_WATERS:
        words = line.format(d=where, smallest=smallest).split()
        words = ["classic", "ior", *words, "-O", "interIODelay=100000"]
        run = (
            any_engine.as_nobody(words, where) if user == "other" else any_engine.run(words, where)
        )
        assert run.code == 0, run
        sizes = [f.stat().st_size for f in where.glob("POSIX.*")]
        assert len(sizes) == 2
        smallest = min(sizes) // (4 * MIB) * 4 * MIB
        assert smallest >= 4 * MIB
    (read,) = run.results[-1].measurements
    assert read["bytes"] == 32 * MIB


def test_a_time_limit_leaves_out_phases_and_says_so(any_engine: Engine, tmp_path: Path) -> None:
    """-T counts minutes, so ours is given. Rank 1 alone is slow: the original's ranks look at their
    own clocks and part."""
    slow = ["--backend=null", "--backend-options=rank=1,transfer=100ms", "--block=2MiB"]
    words = ["ior", *slow, "--repetitions=50", "--time-limit=0.5s", "--files=per-process"]
    run = any_engine.run(words, tmp_path)
    assert run.code == 0, run
    # A phase takes 0.2 s: it begins after 0, 0.2 and 0.4 s, later if the machine is busy.
    done = [m["access"] for m in run.result.measurements]
    assert done in (["write"], ["write", "read"], ["write", "read", "write"])
    assert "time-limit" in run.stdout + run.stderr


def test_a_phase_that_a_time_limit_left_out_has_no_rate(any_engine: Engine, tmp_path: Path) -> None:
    """The original averages over what it skipped and prints -nan."""
    run = any_engine.run(
        [
            *("ior", "--quiet", "--backend=null", "--backend-options=transfer=100ms"),
            *("--block=2MiB", "--time-limit=0.1s"),
        ],
        tmp_path,
    )
    assert run.code == 0, run
    assert [m["access"] for m in run.result.measurements] == ["write"]
    figure = run.result.figure("read_bandwidth")
    assert figure["metric"]["value"] is None
    assert "time-limit" in figure["metric"]["reason"]


def test_outliers_are_named(any_engine: Engine, tmp_path: Path) -> None:
    # Rank 0 takes 2.4 s, rank 1 none: 1.2 s more than the mean.
    slow = "-a DUMMY -w -F -b 256k -t 64k --dummy.delay-xfer 600000 --dummy.delay-only-rank0"
    run = classic(any_engine, tmp_path, f"{slow} -j 1")
    (line,) = [line for line in run.stderr.splitlines() if "WARNING: rank" in line]
    found = re.search(
        r"rank 0 on (\S+) needed ([0-9.]+) s for its calls, the mean is ([0-9.]+)", line
    )
    assert found, line
    assert found[1] == run.result.run["system"]["node_names"][0]
    assert float(found[2]) >= 2.4
    assert float(found[3]) == pytest.approx(float(found[2]) / 2, abs=0.3)
    # The latency shown is the mean of all tasks, not rank 0's: 4 calls of 600 ms and 4 of none.
    (row,) = [r.split() for r in run.stdout.splitlines() if r.startswith("write ")][:1]
    assert float(row[3]) == pytest.approx(0.3, abs=0.15)


@pytest.mark.parametrize("way", ["environment", "file"])
def test_hints_of_mpi_io(engine: Engine, tmp_path: Path, way: str) -> None:
    hint = "IOR_HINT__MPI__cb_buffer_size=2097152"
    line = "-a MPIIO -c -w -H -o f -b 64k -t 64k"
    env = {}
    if way == "environment":
        name, _, value = hint.partition("=")
        env = {name: value}
    else:
        (tmp_path / "hints").write_text(f"# of the site\n{hint}\n")
        line += " -U hints"
    run = classic(engine, tmp_path, line, env=env)
    (write,) = run.result.measurements
    assert write["hints_asked"] == {"cb_buffer_size": "2097152"}
    assert "cb_buffer_size" in run.stdout
    # OMPIO knows no such hint; ROMIO, in both libraries, does.
    if engine.name != "openmpi-ompio":
        assert write["hints_granted"]["cb_buffer_size"] == "2097152"


def test_several_paths(any_engine: Engine, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    run = classic(any_engine, tmp_path, "-F -w -r -R -k -G 5 -o a/f@b/f -b 64k -t 64k")
    assert [m["verified_bytes"] for m in run.result.measurements] == [0, 2 * 65536]
    assert left(tmp_path / "a") == ["f.00000000"]
    assert left(tmp_path / "b") == ["f.00000001"]


def test_paths_may_be_long(any_engine: Engine, tmp_path: Path) -> None:
    """The original copies them into 1024 bytes."""
    long = tmp_path
    while len(str(long)) < 3000:
        long = long / ("d" * 200)
    long.mkdir(parents=True)
    run = classic(any_engine, tmp_path, f"-o {long}/f -b 64k -t 64k")
    assert run.result.measurements[0]["bytes"] == 2 * 65536
    assert left(long) == []


def test_help_is_not_an_error(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.alone(["classic", "ior", "-h"], tmp_path)
    assert run.code == 0
    for word in ("-b, --blockSize", "stoneWallingStatusFile", "--mpiio.useFileView"):
        assert word in run.stdout


@pytest.mark.parametrize("way", ["-a POSIX", "-a POSIX -F", "-a MPIIO -c", "-a DUMMY"])
def test_no_segment_moves_nothing(any_engine: Engine, tmp_path: Path, way: str) -> None:
    run = classic(any_engine, tmp_path, f"{way} -w -r -k -s 0 -b 64k -t 64k -o f")
    rows = [line.split() for line in run.stdout.splitlines() if re.match(r"(write|read) ", line)]
    assert [(row[0], float(row[1])) for row in rows if len(row) == 11] == [
        ("write", 0),
        ("read", 0),
    ]
    assert all(path.stat().st_size == 0 for path in tmp_path.glob("f*"))
    # No rate of ours comes of it.
    for record in run.result.measurements:
        assert record["valid"]
        assert record["rate"]["value"] is None
        assert "nothing was moved" in record["rate"]["reason"]


@pytest.mark.parametrize("line", ["-F", "-m", "-F -m"])
def test_the_path_is_that_of_the_first_task_without_the_repetition(
    any_engine: Engine, tmp_path: Path, line: str
) -> None:
    run = classic(any_engine, tmp_path, f"-w -k -i 2 -b 64k -t 64k -o f {line}")
    (path,) = re.findall(r"^Path +: (.*)$", run.stdout, re.M)
    assert path == ("f.00000000" if "-F" in line else "f")
    assert (
        "f.1" in left(tmp_path)
        or "f.00000001" in left(tmp_path)
        or "f.00000001.1" in left(tmp_path)
    )


def test_used_space_is_what_all_users_have(
    any_engine: Engine, tmp_path: Path, mount: Callable[..., Path]
) -> None:
    """Half of this file system is root's reserve: free, but not for all users."""
    image = tmp_path / "image"
    with image.open("wb") as file:
        file.truncate(16 * MIB)
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("mkfs.ext4 is not installed")
    subprocess.run(["mkfs.ext4", "-q", "-m", "50", image], check=True)
    place = mount("-o", "loop", str(image))
    for line in ("ior -w -b 64k -t 64k -o {}/f", "mdtest -n 1 -d {}"):
        run = any_engine.run(["classic", *line.format(place).split()], tmp_path)
        assert run.code == 0, run
        (used,) = re.findall(r"Used FS: ([0-9.]+)%", run.stdout)
        space = os.statvfs(place)
        assert float(used) == pytest.approx(100 * (1 - space.f_bfree / space.f_blocks), abs=2)
        assert float(used) < 40


def test_random_data_of_the_original_are_not_comparable(any_engine: Engine, tmp_path: Path) -> None:
    line = "-a MPIIO -o f -b 64k -t 64k -G 5 -k -l random"  # all four names mean the same here
    classic(any_engine, tmp_path, f"{line} -w -W -R")
    classic(any_engine, tmp_path, f"{line} -r -R")
    ours = (tmp_path / "f").read_bytes()
    theirs = b"".join((i * 2654435761 + 1).to_bytes(8, "little") for i in range(16 * KIB))
    for check in ("-r -R", "-W"):
        (tmp_path / "f").write_bytes(theirs)
        run = classic(any_engine, tmp_path, f"{line} {check}", code=2)
        assert "f is not comparable" in run.stderr
        assert "Incorrect data" not in run.stdout
        assert run.results[-1].status == "usage"
        # Where one word is ours, or nothing was ever written, data are damaged.
        for damaged in (theirs[:800] + ours[800:808] + theirs[808:], bytes(128 * KIB)):
            (tmp_path / "f").write_bytes(damaged)
            classic(any_engine, tmp_path, f"{line} {check}", code=1)


def test_a_signature_below_zero_is_taken(any_engine: Engine, tmp_path: Path) -> None:
    classic(any_engine, tmp_path, "-w -r -R -W -k -G -7 -o f -b 64k -t 64k")
    classic(any_engine, tmp_path, "-r -R -k -G=-7 -o f -b 64k -t 64k")
    assert (tmp_path / "f").read_bytes()[: 64 * KIB] == timestamp(0, 2**31 - 7, 64 * KIB)
