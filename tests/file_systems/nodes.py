# SPDX-License-Identifier: BSD-3-Clause
"""Servers and clients of a file system on this machine, for tests.

Each node is a network namespace on a bridge in a separate namespace; no packet leaves the
machine. A server's daemons see their own process ids and their own copies of the directories that
their package expects, so that several servers run next to each other and a file system that this
machine really has is not touched. The end of a server's first process ends all of its processes:
that is how a server dies in these tests.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# For tests (RFC 2544): no other network has them.
_NET = "198.18.79"


class NotHereError(Exception):
    """Why this machine cannot have the file system."""


def run(*words: object, seconds: float = 60) -> str:
    """Standard output of a command that has to work."""
    try:
        done = subprocess.run(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except FileNotFoundError:
        raise NotHereError(f"{words[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        said = f"no end after {seconds:.0f} s"
    else:
        if done.returncode == 0:
            return done.stdout
        said = (done.stderr.strip() or done.stdout.strip())[-300:]
    raise NotHereError(f"{' '.join(map(str, words))}: {said}")


def wait_for(what: str, true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise NotHereError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.1)


def need(*programs: str) -> None:
    """Refuses where our own file system is impossible."""
    if os.geteuid() != 0:
        raise NotHereError("our own servers need root")
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    if missing := [
        p for p in ("ip", "nsenter", "unshare", *programs) if not shutil.which(p, path=path)
    ]:
        raise NotHereError(f"not installed: {', '.join(missing)}")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise NotHereError("no FUSE here: /dev/fuse cannot be opened")


@contextlib.contextmanager
def disk(place: Path, size: str, device: bool) -> Iterator[Path]:
    """A file system of a server: in memory, because the machine's own disk also has other users; or
    on a block device, whose counters say what is really stored."""
    place.mkdir()
    if device:
        image = place.with_suffix(".image")
        run("truncate", "-s", size.upper(), image)
        run("mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
        run("mount", "-o", "loop", image, place)
    else:
        run("mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "effio-disk", place)
    try:
        yield place
    finally:
        run("umount", "-l", place)


@dataclass
class Server:
    """A node with daemons. `places` are directories of ours that it sees as its own: where the
    daemons look -> where they are."""

    name: str
    space: str
    address: str
    directory: Path
    places: Mapping[str, Path] = field(default_factory=dict)
    _first: subprocess.Popen[bytes] | None = None
    _command: tuple[object, ...] = ()

    def start(self, *command: object) -> None:
        """`command` stays in the foreground; it and all that it starts are the server."""
        self._command = command
        script = []
        for seen, kept in self.places.items():
            kept.mkdir(parents=True, exist_ok=True)
            script.append(f"mount --bind '{kept}' '{seen}'")
        script.append('"$@" & wait $!')
        spaces = ("--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
        # Not the test's own shell: the first process of the node also reaps what daemons leave.
        words = ["nsenter", f"--net=/run/netns/{self.space}", "unshare", *spaces]
        words += ["sh", "-ec", "\n".join(script), "sh", *map(str, command)]
        with (self.directory / f"{self.name}.out").open("ab") as log:
            self._first = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def _inner(self) -> int:
        """The first process inside; it enters all namespaces of the server."""
        assert self._first is not None
        children = Path(f"/proc/{self._first.pid}/task/{self._first.pid}/children")
        wait_for(f"{self.name} to start", lambda: bool(children.read_text().split()), 10)
        return int(children.read_text().split()[0])

    def run(self, *words: object, seconds: float = 60) -> str:
        """A command on the server."""
        enter = ("nsenter", f"--target={self._inner()}", "--net", "--mount", "--pid")
        return run(*enter, *words, seconds=seconds)

    @property
    def runs(self) -> bool:
        return self._first is not None and self._first.poll() is None

    def kill(self) -> None:
        """Every process of it, at once and without a word."""
        if self._first is not None:
            self._first.kill()
            self._first.wait()
            self._first = None

    def return_(self) -> None:
        """After `kill`: it starts again, with what is on its disk."""
        self.start(*self._command)

    def _each(self, number: signal.Signals) -> None:
        space = Path(f"/proc/{self._inner()}/ns/pid").readlink()
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and (entry / "ns/pid").readlink() == space:
                    os.kill(int(entry.name), number)

    def stop(self) -> None:
        """It answers no more, and its connections stay."""
        self._each(signal.SIGSTOP)

    def resume(self) -> None:
        self._each(signal.SIGCONT)


@dataclass
class Client:
    """A node that mounts. Its mount is in the tests' own tree of mounts."""

    name: str
    space: str
    address: str
    mount_point: Path

    def enter(self) -> list[str]:
        """The words before a command that is to run with this node's network."""
        return ["nsenter", f"--net=/run/netns/{self.space}"]

    def mount(self, *command: object, kind: str) -> None:
        """`command` mounts at `mount_point` and leaves."""
        self.mount_point.mkdir(parents=True, exist_ok=True)
        run(*self.enter(), *command)
        wait_for(f"{kind} at {self.mount_point}", self._answers)

    def _answers(self) -> bool:
        return (
            self.mount_point.is_mount()
            and subprocess.run(
                ["timeout", "5", "stat", "-f", self.mount_point], capture_output=True, check=False
            ).returncode
            == 0
        )

    def unmount(self) -> None:
        subprocess.run(
            ["umount", "-f", "-l", self.mount_point], capture_output=True, check=False, timeout=60
        )


class Network:
    """A bridge, and the nodes that are on it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._label = f"effio-fs-{os.getpid()}"
        self._spaces: list[str] = []
        self._count = 0
        self.servers: list[Server] = []
        self.clients: list[Client] = []

    def __enter__(self) -> Network:
        self._switch = self._space("switch")
        run("ip", "-n", self._switch, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self._switch, "link", "set", "bridge", "up")
        return self

    def _space(self, name: str) -> str:
        space = f"{self._label}-{name}"
        run("ip", "netns", "add", space)
        self._spaces.append(space)
        run("ip", "-n", space, "link", "set", "lo", "up")
        return space

    def _node(self, name: str) -> tuple[str, str]:
        space = self._space(name)
        self._count += 1
        address = f"{_NET}.{self._count}"
        port = f"port{self._count}"
        pair = ("type", "veth", "peer", "name", port, "netns", self._switch)
        run("ip", "-n", space, "link", "add", "eth0", *pair)
        run("ip", "-n", self._switch, "link", "set", port, "master", "bridge", "up")
        run("ip", "-n", space, "addr", "add", f"{address}/24", "dev", "eth0")
        run("ip", "-n", space, "link", "set", "eth0", "up")
        return space, address

    def server(self, name: str, places: Mapping[str, Path] | None = None) -> Server:
        space, address = self._node(name)
        made = Server(name, space, address, self.directory, places or {})
        self.servers.append(made)
        return made

    def client(self, name: str) -> Client:
        space, address = self._node(name)
        made = Client(name, space, address, self.directory / name)
        self.clients.append(made)
        return made

    @contextlib.contextmanager
    def shaped(
        self, node: Server | Client, *discipline: str, towards: bool = False
    ) -> Iterator[None]:
        """Adds a queueing discipline to what the node sends, or to what is sent `towards` it."""
        if shutil.which("tc") is None:
            raise NotHereError("tc is not installed")
        port = (self._switch, "dev", f"port{node.address.rsplit('.', 1)[1]}")
        space, *device = port if towards else (node.space, "dev", "eth0")
        run("tc", "-n", space, "qdisc", "add", *device, "root", *discipline)
        try:
            yield
        finally:
            run("tc", "-n", space, "qdisc", "del", *device, "root")

    def sent(self, node: Server | Client) -> int:
        """Bytes that have left the node."""
        words = ("cat", "/proc/net/dev")
        text = run("nsenter", f"--net=/run/netns/{node.space}", *words)
        line = next(line for line in text.splitlines() if line.strip().startswith("eth0:"))
        return int(line.split(":")[1].split()[8])

    def __exit__(self, *_: object) -> None:
        for client in self.clients:
            client.unmount()
        for server in self.servers:
            server.kill()
        for space in reversed(self._spaces):
            subprocess.run(["ip", "netns", "del", space], capture_output=True, check=False)


def at_same_path(places: Sequence[Path], seen: Path) -> list[str]:
    """Words before a program that give each rank a node: a name, and its node's place at the path
    `seen`. Ranks of the same place are on the same node."""
    cases = "\n".join(
        f"{rank}) mount --bind '{place}' '{seen}'; "
        f"export SLURMD_NODENAME=node{places.index(place) + 1};;"
        for rank, place in enumerate(places)
    )
    script = f'case "${{OMPI_COMM_WORLD_RANK-$PMI_RANK}}" in\n{cases}\nesac\nexec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", script, "sh"]


# Between ranks of nodes that only pretend to be apart nothing may go through shared memory.
APART = {"UCX_TLS": "tcp,self"}
