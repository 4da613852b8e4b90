# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes on this machine, each a network namespace, and one rank on each of them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from engines import Engine, Job, Run
from patience import SECONDS

from .truths import before_others

# For tests (RFC 2544); no other process sees them.
A, B, NET = "198.18.77.1", "198.18.77.2", "198.18.77.0/24"


def _do(*words: str) -> None:
    """What only some machines can; the others skip the test."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"{words[0]} is not installed")
    if done.returncode != 0:
        pytest.skip(f"{' '.join(words)} does not work here: {done.stderr.strip()}")


@contextmanager
def _namespaces() -> Iterator[tuple[str, str]]:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    names = (f"effio-{os.getpid()}-a", f"effio-{os.getpid()}-b")
    try:
        for name in names:
            _do("ip", "netns", "add", name)
            _do("ip", "-n", name, "link", "set", "lo", "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@dataclass(frozen=True)
class TwoNodes:
    a: str
    b: str
    place: Path

    def run(self, engine: Engine, words: Sequence[object], timeout: float = SECONDS) -> Run:
        """A rank on each node; messages go by TCP over the link and no other way."""
        if not engine.is_openmpi:
            pytest.skip("only Open MPI is started across network namespaces here")
        # What mpiexec calls in place of ssh: [options] host command.
        agent = self.place / "agent"
        there = shlex.join([*before_others(), "ip", "netns", "exec", self.b, "sh", "-c"])
        agent.write_text(f'#!/bin/sh\nshift\nexec {there} "$*"\n')
        agent.chmod(0o755)
        settings = {
            "plm_rsh_agent": agent,
            "pml": "ob1",
            "btl": "tcp,self",
            "btl_tcp_if_include": NET,
            "oob_tcp_if_include": NET,
        }
        command = [*before_others(), "ip", "netns", "exec", self.a, engine.mpiexec]
        for name, value in settings.items():
            command += ["--mca", name, str(value)]
        command += ["--host", f"{A},{B}", "-n", "2", str(engine.program), *map(str, words)]
        environment = engine.environment()
        environment.pop("PMIX_MCA_gds", None)  # of one node (scripts/run_tests.py)
        return Job(engine, command, self.place, environment).finish(timeout)


@contextmanager
def link_of_rate(place: Path, bits_per_second: int) -> Iterator[TwoNodes]:
    """Either way no more than this many bits a second; what waits is not lost. A link that has been
    idle lets 4 KiB through at once."""
    if shutil.which("tc") is None:
        pytest.skip("tc is not installed")
    with _namespaces() as (a, b):
        pair = ("type", "veth", "peer", "name", "eth0", "netns", b)
        _do("ip", "-n", a, "link", "add", "eth0", *pair)
        for node, address in ((a, A), (b, B)):
            _do("ip", "-n", node, "addr", "add", f"{address}/24", "dev", "eth0")
            _do("ip", "-n", node, "link", "set", "eth0", "up")
            limit = ("tbf", "rate", f"{bits_per_second}bit", "burst", "4kb", "limit", "4mb")
            _do("tc", "-n", node, "qdisc", "add", "dev", "eth0", "root", *limit)
        yield TwoNodes(a, b, place)


@contextmanager
def link_of_latency(place: Path, seconds: float) -> Iterator[TwoNodes]:
    """Every packet takes this long, in both directions."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("no /dev/net/tun to make a slow link of")
    with _namespaces() as (a, b):
        words = [a, f"{A}/24", b, f"{B}/24", str(seconds)]
        with subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("slow_link.py")), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as link:
            assert link.stdin is not None
            assert link.stdout is not None
            assert link.stderr is not None
            if link.stdout.readline() != "ready\n":
                pytest.skip(f"no slow link here: {link.stderr.read().strip()[-300:]}")
            try:
                yield TwoNodes(a, b, place)
            finally:
                link.stdin.close()
