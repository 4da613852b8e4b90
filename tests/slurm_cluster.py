# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm cluster of several virtual nodes on this machine, for tests.

Each node is a slurmd in a process and a host-name namespace: ranks see different host
names, processes of one node do not see the other's, and a node can be lost with everything on it by
ending its first process. The daemons use free ports and their own directory, so several
clusters can stand side by side, and a Slurm that this machine belongs to is not touched.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from patience import SECONDS

_DAEMONS = ("munged", "slurmctld", "slurmd")
_CLIENTS = ("sbatch", "srun", "salloc", "scancel", "squeue", "sinfo", "scontrol", "unshare")
# Mounts made later are seen inside, also in a chroot; the end of the first process ends all of it.
_NAMESPACES = (
    "--uts",
    "--pid",
    "--mount-proc",
    "--propagation",
    "unchanged",
    "--fork",
    "--kill-child",
)
# Debian puts daemons where an ordinary user's PATH does not look.
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class SlurmUnavailableError(Exception):
    """Why no cluster can be had here."""


@dataclass(frozen=True)
class Host:
    """Where a daemon of the cluster runs, if not in the network of this machine. `enter`: words
    before a command that is to run there. `prepare`: a shell command before a node's daemon, in the
    node's view of mounts."""

    address: str = "127.0.0.1"
    enter: Sequence[str] = ()
    prepare: str = "true"


def free_ports(count: int) -> list[int]:
    """Ports of this test worker, below the range that the system assigns, so that no other program
    takes one before the daemons do."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first = 10_000 + 1_000 * (worker % 20)
    ports: list[int] = []
    for port in random.sample(range(first, first + 1_000), 1_000):
        with socket.socket() as listener, contextlib.suppress(OSError):
            listener.bind(("", port))
            ports.append(port)
        if len(ports) == count:
            return ports
    raise SlurmUnavailableError(f"no {count} free ports")


def _configuration(
    directory: Path, nodes: Mapping[str, Host], controller: Host, ports: Sequence[int]
) -> str:
    host = socket.gethostname()
    lines = [
        "ClusterName=effio",
        f"SlurmctldHost={host}({controller.address})",
        f"SlurmctldPort={ports[0]}",
        "AuthType=auth/munge",
        f"AuthInfo=socket={directory}/munge.socket",
        "CredType=cred/munge",
        "MpiDefault=none",
        "ProctrackType=proctrack/linuxproc",
        "TaskPlugin=task/none",
        "ReturnToService=2",
        "SlurmUser=root",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        "SlurmdParameters=config_overrides",
        f"StateSaveLocation={directory}/state",
        # PMIx makes directories there by the numbers of user, job and step: those of two clusters,
        # or nodes, would be one, which the first to end removes.
        f"TmpFS={directory}/tmp-%n",
        f"SlurmdSpoolDir={directory}/spool-%n",
        f"SlurmctldPidFile={directory}/slurmctld.pid",
        f"SlurmdPidFile={directory}/slurmd-%n.pid",
        # Longer than a busy machine may stall; a test that loses a node has it noticed at once.
        "SlurmdTimeout=60",
        "InactiveLimit=0",
        "KillWait=5",
        "MinJobAge=300",
        "SchedulerParameters=sched_interval=2,bf_interval=2",
        "SlurmctldDebug=info",
        "SlurmdDebug=info",
    ]
    lines += [
        f"NodeName={name} NodeHostname={name} NodeAddr={node.address} Port={port} "
        "CPUs=2 RealMemory=2000"
        for (name, node), port in zip(nodes.items(), ports[1:], strict=True)
    ]
    lines.append(f"PartitionName=all Nodes={','.join(nodes)} Default=YES MaxTime=60 State=UP")
    return "\n".join(lines) + "\n"


class SlurmCluster:
    """Running daemons. `environment` is what a shell of this cluster has set."""

    def __init__(
        self, directory: Path, hosts: Sequence[Host], controller: Host | None = None
    ) -> None:
        if os.geteuid() != 0:
            raise SlurmUnavailableError("our own Slurm needs root")
        missing = [p for p in (*_DAEMONS, *_CLIENTS) if shutil.which(p, path=_PATH) is None]
        if missing:
            raise SlurmUnavailableError(f"not installed: {', '.join(missing)} (slurm-wlm, munge)")
        if not Path("/sys/fs/cgroup").is_mount():
            raise SlurmUnavailableError(
                "slurmd needs control groups: /sys/fs/cgroup is not mounted"
            )
        spaces = subprocess.run(
            ["unshare", *_NAMESPACES, "true"], capture_output=True, text=True, check=False
        )
        if spaces.returncode != 0:
            raise SlurmUnavailableError(f"no namespaces here: {spaces.stderr.strip()}")
        self.directory = directory
        self._hosts = {f"n{number}": host for number, host in enumerate(hosts, 1)}
        self._controller = controller or Host()
        self.nodes = list(self._hosts)
        # Without PMIx's own database (scripts/run_tests.py) two ranks on each of several nodes wait
        # endlessly for each other when they make a file.
        outside = ("SLURM", "SBATCH", "PMIX_MCA_gds")
        base = {k: v for k, v in os.environ.items() if not k.startswith(outside)}
        self.environment = {
            **base,
            "PATH": _PATH,
            "SLURM_CONF": str(directory / "slurm.conf"),
            # Between virtual nodes nothing may go through memory, and this machine has no fabric.
            "UCX_TLS": "tcp,self",
        }
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        (self.directory / "state").mkdir()
        ports = free_ports(1 + len(self.nodes))
        conf = _configuration(self.directory, self._hosts, self._controller, ports)
        (self.directory / "slurm.conf").write_text(conf)
        key = self.directory / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self._spawn(
            "munged",
            ["munged", "--foreground", "--force", f"--socket={self.directory}/munge.socket"]
            + [f"--{what}-file={self.directory}/munge.{what}" for what in ("key", "pid", "seed")]
            + [f"--log-file={self.directory}/munge.log"],
        )
        self._wait("munged to listen", (self.directory / "munge.socket").exists, SECONDS)
        self._spawn("slurmctld", [*self._controller.enter, "slurmctld", "-D"])
        for node in self.nodes:
            self._start_node(node)
        self._wait("all nodes to be idle", lambda: self._states() == {"idle"}, SECONDS)

    def _start_node(self, node: str) -> None:
        # The shell stays as the first process of the node: it inherits what is orphaned there.
        # MPICH 5 names a node's shared memory by the numbers of job and node, which another cluster
        # on this machine may have as well. Private: the mount is invisible outside.
        memory = "mount --make-private /dev/shm && mount -t tmpfs effio-node /dev/shm"
        host = self._hosts[node]
        (self.directory / f"tmp-{node}").mkdir(exist_ok=True)
        script = f"{memory}; {host.prepare} && hostname {node} && slurmd -D -N {node}; exit $?"
        self._spawn(node, [*host.enter, "unshare", *_NAMESPACES, "sh", "-c", script])

    def _spawn(self, name: str, command: Sequence[str]) -> None:
        with (self.directory / f"{name}.out").open("ab") as log:
            self._daemons[name] = subprocess.Popen(
                list(command),
                cwd=self.directory,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _wait(self, what: str, true: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            dead = [n for n, d in self._daemons.items() if d.poll() is not None]
            if dead or time.monotonic() > deadline:
                logs = "\n".join(
                    f"{p.name}: {' | '.join(p.read_text(errors='replace').splitlines()[-5:])}"
                    for p in sorted(self.directory.glob("*.out"))
                )
                ended = f"; ended: {', '.join(dead)}" if dead else ""
                raise RuntimeError(f"waited for {what}{ended}\n{logs}")
            time.sleep(0.2)

    def _states(self) -> set[str]:
        done = self.run(["sinfo", "--noheader", "--Node", "--format=%T"])
        return set(done.stdout.split()) if done.returncode == 0 else {"no answer"}

    def run(
        self,
        words: Sequence[object],
        cwd: Path | None = None,
        timeout: float = SECONDS,
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """A command as a user of the cluster calls it."""
        return subprocess.run(
            [*self._controller.enter, *(str(word) for word in words)],
            cwd=cwd or self.directory,
            env={**self.environment, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def nodes_of(self, job: str) -> list[str]:
        """The nodes that a running job has; the first one runs the batch script."""
        done = self.run(["squeue", "--noheader", "--states=R", "--format=%N", "--jobs", job])
        names = self.run(["scontrol", "show", "hostnames", done.stdout.strip() or "none"])
        return [name for name in names.stdout.split() if name in self.nodes]

    def lose(self, node: str) -> None:
        """Ends a node with every process on it, at once and without a word."""
        daemon = self._daemons.pop(node)
        daemon.kill()
        daemon.wait()

    def notice_loss(self, node: str) -> None:
        """What Slurm does by itself when a node has not answered for SlurmdTimeout."""
        done = self.run(["scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost"])
        assert done.returncode == 0, done.stderr

    def bring_back(self, node: str) -> None:
        """Starts a lost node again, and waits until no job is left and all nodes are idle."""
        self._start_node(node)
        self.settle()

    def settle(self, seconds: float = SECONDS) -> None:
        """Cancels what is queued or running, and waits until all nodes are idle again."""
        jobs = self.run(["squeue", "--noheader", "--format=%i"]).stdout.split()
        if jobs:
            self.run(["scancel", *jobs])
        for node in self.nodes:
            if node not in self._daemons:
                self._start_node(node)
        self._wait("all nodes to be idle", lambda: self._states() == {"idle"}, seconds)

    def stop(self) -> None:
        for name, daemon in reversed(self._daemons.items()):
            # SIGTERM to unshare would leave the node's processes for --kill-child to end; for the
            # others it is the orderly end.
            daemon.send_signal(signal.SIGKILL if name in self.nodes else signal.SIGTERM)
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()


@contextlib.contextmanager
def slurm_cluster(
    directory: Path, hosts: Sequence[Host] = 4 * (Host(),), controller: Host | None = None
) -> Iterator[SlurmCluster]:
    """Raises SlurmUnavailableError where none can be had. Users' commands run where the controller
    runs."""
    cluster = SlurmCluster(directory, hosts, controller)
    try:
        yield cluster
    finally:
        cluster.stop()
