# SPDX-License-Identifier: BSD-3-Clause
"""Lines of ior that jobs and scripts in the wild have, and that the original runs: many tests in
one launch where they can be in one script."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from engines import Engine, Run
from ior_runs import KIB, classic, left, timestamp


def script(
    engine: Engine,
    where: Path,
    tests: Sequence[str],
    words: str = "",
    ranks: int = 2,
    code: int = 0,
) -> Run:
    """One launch; each test is a line of directives."""
    text = "".join(f"{test}\nRUN\n" for test in tests)
    (where / "script").write_text(f"IOR START\n{text}IOR STOP\n")
    return classic(engine, where, f"{words} -f script", ranks=ranks, code=code)


def test_random_orders_verify_the_originals_pattern(any_engine: Engine, tmp_path: Path) -> None:
    sizes = "-k -b 64k -t 16k -s 4 -o f"
    classic(any_engine, tmp_path, f"-w -G 77 {sizes}")
    # Word 0 of block b of a segment is its task's: the third block is the first task's again.
    data = (tmp_path / "f").read_bytes()
    assert data[128 * KIB : 144 * KIB] == timestamp(0, 77, 16 * KIB)
    read = classic(any_engine, tmp_path, f"-r -R -z -z -G 77 {sizes}")
    (phase,) = read.result.measurements
    assert phase["verified_bytes"] == 2 * 4 * 64 * KIB
    assert phase["error_count"] == 0
    assert "Incorrect data" not in read.stdout
    # Other data, and data of another task at its place, are seen.
    wrong = classic(any_engine, tmp_path, f"-r -R -z -z -G 78 {sizes}", code=1)
    assert "Incorrect data" in wrong.stdout
    (tmp_path / "f").write_bytes(timestamp(0, 77, 16 * KIB) * 32)
    classic(any_engine, tmp_path, f"-r -R -z -z -G 77 {sizes}", code=1)
    # Written at random places with the offset pattern, and read at the same.
    classic(any_engine, tmp_path, "-w -r -R -z -z -l o -b 64k -t 16k -s 4 -o g")


def test_a_signature_that_was_not_given_is_known_afterwards(
    any_engine: Engine, tmp_path: Path
) -> None:
    wrote = classic(any_engine, tmp_path, "-w -k -vv -i 2 -b 64k -t 64k -o f")
    shown = re.findall(
        r"^Using Time Stamp (\d+) \((0x[0-9a-f]+)\) for Data Signature$", wrote.stdout, re.M
    )
    assert [int(number) for number, _ in shown] == [
        m["detail"]["data_seed"] for m in wrote.result.measurements
    ]
    assert all(int(hexadecimal, 16) == int(number) for number, hexadecimal in shown)
    assert len(shown) == 2
    assert shown[0] != shown[1]
    last = shown[1][0]
    assert (tmp_path / "f").read_bytes()[: 64 * KIB] == timestamp(0, int(last), 64 * KIB)
    classic(any_engine, tmp_path, f"-r -R -k -G {last} -b 64k -t 64k -o f")
    # Our own data are given back in the same way.
    other = classic(any_engine, tmp_path, "-w -k -l r -b 64k -t 64k -o g")
    (seed,) = {m["detail"]["data_seed"] for m in other.result.measurements}
    classic(any_engine, tmp_path, f"-r -R -k -l r -G {seed} -b 64k -t 64k -o g")
    asked = classic(any_engine, tmp_path, "-r -R -k -b 64k -t 64k -o f", code=2)
    assert "-vv" in asked.stdout + asked.stderr


def test_a_flush_after_each_call_until_a_time(engine: Engine, tmp_path: Path) -> None:
    """MPI-IO and HDF5 flush together: all tasks stop after the same call."""
    common = "writeFile=1,readFile=1,blockSize=64k,transferSize=16k,fsyncPerWrite=1"
    run = script(
        engine,
        tmp_path,
        [
            f"{common},api=MPIIO,deadlineForStonewalling=20,testFile=m,checkRead=1",
            f"{common},api=HDF5,deadlineForStonewalling=20,testFile=h,checkRead=1",
            "api=MPIIO,testFile=s,mpiio.useStridedDatatype=1,randomOffset=1,checkRead=1,"
            "deadlineForStonewalling=0,segmentCount=2",
            # 0.1 s a call: the time is over long before the 64 calls are.
            "api=MPIIO,testFile=t,mpiio.useStridedDatatype=0,randomOffset=0,checkRead=0,readFile=0,"
            "deadlineForStonewalling=1,interIODelay=100000,blockSize=1m,segmentCount=1",
        ],
        "-G 5",
    )
    rows = run.result.measurements
    assert [m["access"] for m in rows] == ["write", "read"] * 3 + ["write"]
    assert [m["stopped_by"] for m in rows] == ["count"] * 6 + ["time"]
    assert [m["bytes"] // KIB for m in rows[:6]] == [128, 128, 128, 128, 256, 256]
    wall = rows[6]["detail"]["stonewall"]
    assert wall["min_transfers"] == wall["max_transfers"] <= 20
    # Reads only: there is nothing to flush.
    classic(engine, tmp_path, "-a MPIIO -w -k -b 64k -t 16k -o r")
    classic(engine, tmp_path, "-a MPIIO -r -Y -D 20 -b 64k -t 16k -o r")


def test_messages_name_options_of_the_line(any_engine: Engine, tmp_path: Path) -> None:
    for line, said in (
        (
            "-a MPIIO -S -O minTimeDuration=1",
            "-S: there is one call, which neither minTimeDuration",
        ),
        ("-w -F -D 1 -O minTimeDuration=2", "minTimeDuration is longer than -D"),
        ("-a AIO -O lustreStripeCount=1 -N 9 -O stoneWallingWearOut=1", "needs -D"),
    ):
        run = any_engine.alone(["classic", "ior", *line.split()], tmp_path)
        assert run.code == 2, run
        reported = run.stdout + run.stderr
        assert said in reported
        assert not re.search(r"--(?!help|effio)[a-z]", reported), reported


def test_csv_and_summaries_of_several_tests(any_engine: Engine, tmp_path: Path) -> None:
    sizes = "testFile=f,blockSize=64k,transferSize=16k"
    run = script(
        any_engine,
        tmp_path,
        [f"{sizes},writeFile=1", "readFile=1,verbose=1"],
        "-k -O summaryFormat=CSV",
    )
    head = (
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
        "numTasks,iter"
    )
    lines = [line for line in run.stdout.splitlines() if "," in line]
    assert [line.split(",")[0] for line in lines] == ["access", "write", "access", "write", "read"]
    assert lines[0] == lines[2] == head
    for row in (lines[1], lines[3], lines[4]):
        cells = row.split(",")
        assert all(re.fullmatch(r"\d+\.\d{4}", cell) for cell in cells[1:10]), row
        assert cells[4:6] == ["64.0000", "16.0000"]
        assert cells[10:] == ["2", "0"]
    run = script(any_engine, tmp_path, [f"{sizes},writeFile=1,summaryAlways=1", "readFile=1"], "-k")
    parts = run.stdout.split("Summary of all tests:\n")[1:]
    rows = [
        [
            " ".join([words[0], words[12]])
            for words in map(str.split, part.splitlines())
            if len(words) > 20 and words[0] in ("write", "read")
        ]
        for part in parts
    ]
    # The second test inherits both the phase and the directive.
    assert rows == [["write 0"], ["write 1", "read 1"]]
    alone = classic(any_engine, tmp_path, "-w -k -G 3 -o g -b 64k -t 64k")
    assert alone.stdout.count("Summary of all tests:") == 1
    checked = classic(any_engine, tmp_path, "-W -k -G 3 -o g -b 64k -t 64k")
    assert checked.stdout.count("Summary of all tests:\nOperation ") == 1


def test_the_next_run_of_a_job_has_its_result_next_to_the_first(
    any_engine: Engine, tmp_path: Path
) -> None:
    named = tmp_path / "results" / "job.jsonl"
    named.parent.mkdir()
    work = tmp_path / "work"
    work.mkdir()
    for _ in range(3):
        run = any_engine.run(
            ["classic", "ior", "-w", "-b", "64k", "-t", "64k"],
            work,
            env={"EFFIO_RESULT": str(named)},
        )
        assert run.code == 0, run
    assert left(work) == []
    assert list(work.iterdir()) == []
    assert sorted(p.name for p in named.parent.iterdir()) == [
        "job-2.jsonl",
        "job-3.jsonl",
        "job.jsonl",
    ]
    assert "job-3.jsonl" in run.stderr


def test_nodes_may_be_pretended(any_engine: Engine, tmp_path: Path) -> None:
    line = "-F -k -G 5 -o f -b 64k -t 64k"
    wrote = classic(any_engine, tmp_path, f"-w {line}", ranks=4)
    assert re.search(r"^nodes +: 1$", wrote.stdout, re.M)
    damaged = tmp_path / "f.00000002"
    data = bytearray(damaged.read_bytes())
    data[100] ^= 1
    damaged.write_bytes(data)
    # Two nodes of two tasks: what task 2 wrote is read by task 0, else by its neighbor.
    two, alone = {"IOR_FAKE_NODES": "2"}, {"IOR_FAKE_TASK_PER_NODES": "1"}
    for env, reader, nodes, each in (
        (two, 0, 2, 2),
        (alone, 1, 4, 1),
        (two | alone, 1, 2, 1),
        ({}, 1, 1, 4),
    ):
        read = classic(any_engine, tmp_path, f"-r -R -C {line}", ranks=4, code=1, env=env)
        assert re.search(rf"^nodes +: {nodes}$", read.stdout, re.M)
        assert re.search(rf"^clients per node +: {each}$", read.stdout, re.M)
        assert re.search(rf"WARNING: first: .*rank {reader}\b", read.stdout), read.stdout
        said = re.findall(
            r"^Fake (?:number of node|tasks per node): using (\d)$", read.stdout, re.M
        )
        assert said == list(env.values())
        # Of where the data came from the result says what is.
        (phase,) = read.result.measurements
        assert phase["detail"]["ranks_on_own_node"] == 4


STRIPES = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int llapi_file_create_pool(const char *name, unsigned long long size, int offset, int count,
                           int pattern, char *pool) {
    FILE *log = fopen(getenv("STRIPES"), "a");
    fprintf(log, "%s %llu %d %d %d %s\n", name, size, offset, count, pattern, pool ? pool : "-");
    fclose(log);
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
    if (fd < 0) return -errno;
    close(fd);
    return 0;
}
"""


def test_files_on_lustre_have_the_requested_stripes(any_engine: Engine, tmp_path: Path) -> None:
    """The library of Lustre's client is one that notes what is requested."""
    (tmp_path / "stripes.c").write_text(STRIPES)
    library = tmp_path / "lib"
    library.mkdir()
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", library / "liblustreapi.so.1", tmp_path / "stripes.c"],
        check=True,
    )
    path = f"{library}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    env = {"LD_LIBRARY_PATH": path, "STRIPES": str(tmp_path / "asked")}
    line = "-O lustreStripeCount=4,lustreStripeSize=1m,lustreStartOST=2 -w -r -R -G 3 -b 64k -t 64k"
    classic(any_engine, tmp_path, f"{line} -o shared", env=env)
    classic(any_engine, tmp_path, "-w -F -i 2 -b 64k -t 64k -o f --posix.lustre.pool=fast", env=env)
    # The files of tasks come in any order.
    asked = (tmp_path / "asked").read_text().splitlines()
    assert asked[0] == "./shared 1048576 2 4 0 -"
    assert sorted(asked[1:]) == [f"./f.0000000{task} 0 -1 0 0 fast" for task in (0, 0, 1, 1)]
    refused = classic(any_engine, tmp_path, f"{line} -o none", code=6)
    assert "liblustreapi" in refused.stderr
    assert "none" not in left(tmp_path)


def test_aio_and_mmap(any_engine: Engine, tmp_path: Path) -> None:
    run = script(
        any_engine,
        tmp_path,
        ["api=AIO,testFile=a,blockSize=256k,transferSize=16k,checkRead=1", "api=MMAP,testFile=m"],
        "-G 9 -w",
    )
    assert [m["verified_bytes"] for m in run.result.measurements] == [0, 512 * KIB] * 2
    assert [
        row.split()[-2]
        for row in run.stdout.splitlines()
        if row.startswith(("write  ", "read  ")) and len(row.split()) > 12
    ] == ["AIO"] * 2 + ["MMAP"] * 2


@pytest.mark.parametrize("transfer", ["8", "4k"])
def test_data_of_another_program_are_not_comparable_whatever_the_transfer(
    any_engine: Engine, tmp_path: Path, transfer: str
) -> None:
    line = f"-o f -b 4k -t {transfer} -G 5 -k -l i"
    classic(any_engine, tmp_path, f"{line} -w")
    # One constant in all words, and an offset of 0 in the first.
    words = [0] + [0x0123_4567_89AB_CDEF] * 511
    (tmp_path / "f").write_bytes(b"".join(w.to_bytes(8, "little") for w in words) * 2)
    run = classic(any_engine, tmp_path, f"{line} -r -R", code=2)
    assert "f is not comparable" in run.stderr
    (tmp_path / "f").write_bytes(bytes(8 * KIB))  # never written
    classic(any_engine, tmp_path, f"{line} -r -R", code=1)
