# SPDX-License-Identifier: BSD-3-Clause
"""b_eff and rings as a user runs them: refusals, interruption, the classic program, and a link of
known rate between two network namespaces."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines import ROOT, Engine, Run
from patience import SECONDS

MIB = 1 << 20
# Everything small: a run of a few seconds.
SMALL = [
    "--repetitions=2",
    "--random-patterns=2",
    "--loop-time=2ms",
    "--memory-per-rank=8MiB",
    "--progress=none",
]
SECTIONS = {
    "prot": ["HEAD", "LOOP", "LOOPLNGS", "VALUES"],
    "short": [
        "HEAD",
        "ELAPSED",
        "PATTERN",
        "BY-METHODS",
        "BY-REPETITIONS",
        "BY-MTHD-MSGLNG",
        "BY-MSGLNG",
        "BY-PATTERN-MSGLNG",
        "BEFF",
    ],
    "sum": ["HEAD", "BEFF"],
}


@pytest.mark.parametrize("benchmark", ["b-eff", "rings"])
def test_one_rank_is_refused(any_engine: Engine, tmp_path: Path, benchmark: str) -> None:
    run = any_engine.run([benchmark], tmp_path, ranks=1)
    assert run.code == 2
    assert "needs at least 2 of them" in run.stderr


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["b-eff", "--methods", "send"], "'send' is not one of"),
        (["b-eff", "--methods", "sendrecv,sendrecv"], "named twice"),
        (["b-eff", "--repetitions", "0"], "out of range"),
        (["b-eff", "--pairs", "some"], "'some' is not one of"),
        (["rings", "--rmax", "fast"], "fast"),
        (["rings", "--backend-options", "message-latency=1us"], "mpi takes no settings"),
    ],
)
def test_bad_options(any_engine: Engine, tmp_path: Path, words: list[str], complaint: str) -> None:
    run = any_engine.alone(words, tmp_path)
    assert run.code == 2
    assert complaint in run.stderr


def test_a_whole_run_with_everything(mpi: Engine, tmp_path: Path) -> None:
    words = ["b-eff", *SMALL, "--seed=5", "--pairs=all", "--pairs-size=1KiB", "--call-times"]
    run = mpi.run([*words], tmp_path)
    assert run.code == 0, run
    result = run.result
    assert result.run["b-eff"]["seed"] == 5
    # 6 rings, 2 random and 10 others on 2 ranks; the ping-pong pair has one method.
    exchanges = [m for m in result.measurements if m["access"] == "exchange"]
    assert len(exchanges) == 2 * 21 * (17 * 3 + 1)
    assert all(m["valid"] and m["rate"]["value"] > 0 for m in exchanges)
    times = [m for m in result.measurements if m["access"] == "call times"]
    assert len(times) == 21  # one node
    assert all(m["call_times"]["count"] >= 16 for m in times)  # 8 rings of one step, 2 ranks
    assert len(result.figure("slow_pairs")["detail"]["pairs_low_high_latency_bandwidth"]) == 1
    b_eff = result.figure("b_eff")
    assert b_eff["valid"] is False
    assert "not reached: 3 repetitions" in b_eff["reasons"]
    # The figure follows from the measurements: best of methods and repetitions, mean of lengths,
    # geometric means of families.
    best: dict[tuple[str, int, int], float] = {}
    for m in exchanges:
        key = (m["where"]["family"], m["where"]["pattern"], m["where"]["length"])
        best[key] = max(best.get(key, 0.0), m["rate"]["value"])
    product = {"ring": 1.0, "random ring": 1.0}
    members = {"ring": 6, "random ring": 2}
    for family, count in members.items():
        for pattern in {p for f, p, _ in best if f == family}:
            mean = sum(best[family, pattern, i] for i in range(21)) / 21
            product[family] *= mean ** (1 / count)
    expected = (product["ring"] * product["random ring"]) ** 0.5
    assert b_eff["metric"]["value"] == pytest.approx(expected, rel=1e-9)


def _memory_limits() -> list[int]:
    """Bytes that the control groups of this process allow, of both versions, up to the root."""
    found: list[int] = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            root, file = Path("/sys/fs/cgroup"), "memory.max"
        elif "memory" in controllers.split(","):
            root, file = Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"
        else:
            continue
        place = root / group.lstrip("/")
        limits = [directory / file for directory in [place, *place.parents]]
        texts = [limit.read_text().strip() for limit in limits if limit.exists()]
        found += [int(text) for text in texts if text.isdigit()]
    return found


def test_the_longest_message_follows_from_the_memory(any_engine: Engine, tmp_path: Path) -> None:
    """1/128 of a rank's share of the node, in whole MiB; at most 128 MiB."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for per_node in (2, 64):
        words = ["--plan-json", "--plan-ranks=64", f"--plan-ranks-per-node={per_node}"]
        plan = json.loads(any_engine.alone(["b-eff", *words], tmp_path).stdout)
        mib = min([total, *_memory_limits()]) // per_node // MIB
        assert plan["lmax_bytes"] == min(mib * MIB // 128, 128 * MIB)
        assert plan["memory_per_rank_bytes"] == 12 * plan["lmax_bytes"]


def test_a_plan_counts_the_memory_of_verification(any_engine: Engine, tmp_path: Path) -> None:
    """64 MiB, or six of the longest messages and of 16 bytes; once more for messages of pairs."""

    def planned(memory: str, *words: str) -> tuple[int, str]:
        command = ["b-eff", "--plan-ranks=4", "--verify=all", *words]
        command.append(f"--memory-per-rank={memory}")
        plan = json.loads(any_engine.alone([*command, "--plan-json"], tmp_path).stdout)
        return plan["memory_per_rank_bytes"], any_engine.alone(
            [*command, "--plan"], tmp_path
        ).stdout

    size, text = planned("128MiB")  # a longest message of 1 MiB
    assert size == (12 + 64) * MIB
    assert "memory per rank: 12 MiB of message buffers, 64 MiB to keep messages until" in text
    size, _ = planned("2GiB")
    assert size == 12 * 16 * MIB + 6 * (16 * MIB + 16)
    size, text = planned("128MiB", "--pairs=all", "--pairs-size=3MiB")
    assert size == (12 + 64 + 2 * 3 + 64) * MIB
    assert "70 MiB for the pairs of ranks" in text
    # rings: two buffers of two messages of 2 MB.
    for words, more in (([], 0), (["--verify=all"], 64 * MIB)):
        command = ["rings", "--plan-ranks=4", "--plan-json", *words]
        plan = json.loads(any_engine.alone(command, tmp_path).stdout)
        assert plan["memory_per_rank_bytes"] == 4 * 2_000_000 + more


# Runs another program and says what memory it had at most. A launcher may reach its ranks through a
# descriptor that they inherit.
PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:], close_fds=False).returncode
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open(sys.argv[1], "a").write(f"{peak}\\n")
sys.exit(code)
"""


def test_a_rank_needs_two_message_buffers(any_engine: Engine, tmp_path: Path) -> None:
    """With eight times the memory a rank takes 7 MiB of message more, six times, twice.

    What else a process holds, such as pages of its libraries, differs by 2 MiB from run to run;
    half a message of tolerance still distinguishes every message of the twelve.
    """
    few = ["--patterns=counting", "--random-patterns=1", "--repetitions=1", "--loop-time=1us"]

    def peak(memory: int) -> float:
        """The peak memory of both ranks in two runs, in bytes."""
        reported = tmp_path / f"peak-{memory}"
        words = ["b-eff", "--quiet", f"--memory-per-rank={memory}MiB", *few]
        for attempt in "12":
            place = tmp_path / f"{memory}-{attempt}"
            place.mkdir()
            run = any_engine.run(words, place, prefix=[sys.executable, "-c", PEAK, reported])
            assert run.code == 0, run
        return statistics.median(int(line) * 1024 for line in reported.read_text().split())

    message = 7 * MIB
    assert peak(1024) - peak(128) == pytest.approx(2 * 6 * message, abs=message / 2)


def test_more_ranks_and_uneven_rings(any_engine: Engine, tmp_path: Path) -> None:
    any_engine.needs_ranks(5)
    run = any_engine.run(["b-eff", *SMALL], tmp_path, ranks=5)
    assert run.code == 0, run
    # 6 + 2 + 12: the third dimension of the grid 2 x 2 x 1 has no pattern.
    names = [f["where"]["name"] for f in run.result.figures if f["name"] == "pattern_bandwidth"]
    assert len(names) == 20
    assert names[0] == "ring-2*2&+1"
    assert "cyclic-3dim-z" not in names


@pytest.mark.parametrize("rank", [0, 1])
def test_a_signal_to_any_rank_stops_it_after_a_pattern(
    mpi: Engine, tmp_path: Path, rank: int
) -> None:
    # Lines come after all patterns of a length, which took 95 s once with 30 random ones.
    small = ["--memory-per-rank=8MiB", "--random-patterns=2", "--loop-time=2ms"]
    job = mpi.start(["b-eff", *small, "--quiet"], tmp_path)
    job.wait_for_measurements(10)
    os.kill(job.ranks()[rank], signal.SIGUSR1)
    run = job.finish()
    assert run.code == 4, run
    assert run.result.status == "interrupted"
    assert run.result.figure("b_eff")["metric"]["value"] is None


@pytest.fixture(scope="module")
def classic(any_engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    """A run of the classic program, and where its files x.prot, x.short and x.sum are."""
    place = tmp_path_factory.mktemp("classic")
    run = any_engine.run(["classic", "b_eff", "-short", "-f", "x", "-MB", "1"], place)
    assert run.code == 0, run
    return run, place


def test_the_page_names_what_the_classic_texts_show(classic: tuple[Run, Path]) -> None:
    """docs/benchmarks/b_eff.md: labels of ELAPSED, place of log_avg, where grid lines are."""
    _, place = classic
    text = (place / "x.short").read_text()
    found = re.findall(r"SECTION-(\S+)-BEGIN\n(.*?)SECTION-\1-END", text, re.S)
    sections = {name: body.splitlines() for name, body in found}
    page = (ROOT / "docs/benchmarks/b_eff.md").read_text()
    (row,) = re.findall(r"^\| labels of SECTION-ELAPSED \|.*$", page, re.M)
    labels = re.findall(r"`([^`]+:)`", row)
    assert len(labels) == 3
    assert [line[:45].rstrip() for line in sections["ELAPSED"][:3]] == labels
    assert sections["ELAPSED"][3].startswith(("CAUTION", "The differences are not larger"))
    for name in ("BY-METHODS", "BY-REPETITIONS"):
        lines = sections[name]
        remark = next(i for i, line in enumerate(lines) if "only reported" in line)
        assert [line[:7] for line in lines[remark - 3 : remark]] == ["log_avg"] * 3
        assert lines[remark - 4].startswith(" p")
        assert lines[remark + 1].startswith(" p")
    rule = re.compile("-{10}")  # without a value a latency is "(-------)"
    assert {name for name, body in found if rule.search(body)} == {"BEFF"}
    assert re.search(r"^The effective bandwidth is b_eff = .* on 2 processes$", text, re.M)


def test_the_classic_program(classic: tuple[Run, Path]) -> None:
    """The files are complete and agree with the result file."""
    run, place = classic
    texts = {end: (place / f"x.{end}").read_text() for end in SECTIONS}
    for end, names in SECTIONS.items():
        assert re.findall(r"^SECTION-(.*)-BEGIN$", texts[end], re.MULTILINE) == names
        assert re.findall(r"^SECTION-(.*)-END$", texts[end], re.MULTILINE) == names
    value = run.result.figure("b_eff")["metric"]["value"]
    final = f"b_effSHORT = {value / 1e6:10.3f} MB/s = {value / 2e6:7.3f} *   2 PEs with   1 MB/PE "
    assert final in run.stderr
    assert all(text.splitlines()[-1].startswith(final) for text in texts.values())
    assert run.stdout == ""
    # 22 patterns, one of them with one method.
    assert len(re.findall(r" min= ", texts["prot"])) == 21 * (21 * 3 + 1)


def test_rings_print_the_lines_of_hpccoutf(any_engine: Engine, tmp_path: Path) -> None:
    run = any_engine.run(["rings", "--rmax", "10", "--progress=none"], tmp_path)
    assert run.code == 0, run
    printed = dict(re.findall(r"^(\w+_(?:usec|GBytes))=(\S+)$", run.stdout, re.MULTILINE))
    assert len(printed) == 10
    result = run.result
    for name, text in printed.items():
        scale = 1e6 if name.endswith("_usec") else 1e-9
        value = result.figure(name.rpartition("_")[0])["metric"]["value"]
        assert float(text) == pytest.approx(value * scale, rel=1e-5)
    per_process = result.figure("RandomlyOrderedRingBandwidth")["metric"]["value"]
    assert result.figure("balance")["metric"]["value"] == pytest.approx(2 * per_process / 10e9)
    assert len(result.rows(family="random ring")) == 40


RATE = 40e6 / 8  # bytes per second of the link


def _run(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=SECONDS)


@pytest.fixture
def two_hosts(tmp_path: Path) -> Iterator[tuple[str, str, Path]]:
    """Two network namespaces on a bridge, each sending through a token bucket of 40 Mbit/s, and a
    launcher's way into them."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces with a known link need root")
    for tool in ("ip", "tc", "unshare"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")
    tag = f"{os.getpid() % 10000}"
    bridge, names = f"efb{tag}", [f"efa{tag}", f"efc{tag}"]
    script = tmp_path / "into.sh"
    try:
        try:
            _run("ip", "link", "add", bridge, "type", "bridge")
            _run("ip", "addr", "add", "10.231.77.254/24", "dev", bridge)
            _run("ip", "link", "set", bridge, "up")
            for number, name in enumerate(names, 1):
                _run("ip", "netns", "add", name)
                _run("ip", "link", "add", f"{name}h", "type", "veth", "peer", "name", f"{name}n")
                _run("ip", "link", "set", f"{name}h", "master", bridge, "up")
                _run("ip", "link", "set", f"{name}n", "netns", name)
                inside = ("ip", "netns", "exec", name)
                _run(*inside, "ip", "link", "set", f"{name}n", "name", "eth0")
                _run(*inside, "ip", "addr", "add", f"10.231.77.{number}/24", "dev", "eth0")
                _run(*inside, "ip", "link", "set", "eth0", "up")
                _run(*inside, "ip", "link", "set", "lo", "up")
                shaped = ("tc", "qdisc", "add", "dev", "eth0", "root", "tbf")
                _run(*inside, *shaped, "rate", "40mbit", "burst", "64kb", "latency", "400ms")
                hosts = Path("/etc/netns") / name / "hosts"
                hosts.parent.mkdir(parents=True, exist_ok=True)
                lines = ["127.0.0.1 localhost", f"10.231.77.254 {os.uname().nodename}"]
                lines += [f"10.231.77.{i} {n}" for i, n in enumerate(names, 1)]
                hosts.write_text("\n".join(lines) + "\n")
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.strip()}")
        script.write_text(
            '#!/bin/bash\nargs=()\nfor a in "$@"; do case $a in -x|-q) ;; *) args+=("$a");;'
            ' esac; done\nhost=${args[0]}; unset "args[0]"\n'
            'exec ip netns exec "$host" unshare --uts sh -c "hostname $host; ${args[*]}"\n'
        )
        script.chmod(0o755)
        yield bridge, ",".join(names), script
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
            subprocess.run(["ip", "link", "del", f"{name}h"], capture_output=True, check=False)
            shutil.rmtree(Path("/etc/netns") / name, ignore_errors=True)
        subprocess.run(["ip", "link", "del", bridge], capture_output=True, check=False)


def test_a_link_of_known_rate(
    engines: dict[str, Engine], tmp_path: Path, two_hosts: tuple[str, str, Path]
) -> None:
    """The link, not the machine, limits long messages: 40 Mbit/s each way are 5 MB/s for a pair."""
    if "mpich" not in engines:
        pytest.skip("no MPICH engine here: its launcher is the one that starts ranks in namespaces")
    bridge, hosts, script = two_hosts
    flags = ["-launcher", "ssh", "-launcher-exec", str(script), "-localhost", "10.231.77.254"]
    flags += ["-iface", bridge, "-hosts", hosts, "-ppn", "1"]
    # Else UCX finds that both "hosts" share memory.
    flags += ["-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0"]
    words = ["b-eff", *SMALL, "--patterns=counting", "--pairs=all", "--pairs-size=1MiB"]
    words.append("--call-times")
    run = engines["mpich"].run(words, tmp_path, flags=flags)
    assert run.code == 0, (run.code, run.seconds, run.stderr)
    result = run.result
    assert result.run["system"]["nodes"] == 2
    pairs = result.figure("slow_pairs")["detail"]
    ((low, high, latency, bandwidth),) = pairs["pairs_low_high_latency_bandwidth"]
    assert (low, high, pairs["between_nodes"]["pairs"]) == (0, 1, 1)
    # Headers take some 4 %; the bucket lets 64 KiB of 1 MiB pass at once; processors are shared.
    assert 0.80 * RATE < bandwidth < 1.10 * RATE, bandwidth / RATE
    assert 0 < latency < 0.1
    steps = [f["detail"] for f in result.figures if f["name"] == "pattern_bandwidth"]
    assert {(s["messages_within_nodes"], s["messages_between_nodes"]) for s in steps} == {(0, 2)}
    times = [m for m in result.measurements if m["access"] == "call times"]
    assert {m["where"]["steps"] for m in times} == {"between nodes"}
    assert len(times) == 21


@pytest.mark.parametrize("benchmark", ["b-eff", "rings"])
def test_messages_that_take_no_time_have_no_rate(
    any_engine: Engine, tmp_path: Path, benchmark: str
) -> None:
    """Loops of rings would be made longer forever."""
    run = any_engine.alone([benchmark, "--backend", "sim"], tmp_path)
    assert run.code == 2, run
    assert "messages take no time; give --backend-options message-latency=TIME" in run.stderr
