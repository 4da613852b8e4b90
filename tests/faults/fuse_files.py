# SPDX-License-Identifier: BSD-3-Clause
"""Our own file system whose answers are wrong: a FUSE server that keeps its files in a
directory and makes one request fail, or changes its data. The kernel asks it for every transfer, so
faults reach those that make no system calls (mmap, uring), and errors come from a real
file system. It speaks the protocol of /dev/fuse itself (include/uapi/linux/fuse.h) and needs no
library; `mounted` needs root.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_MNT_DETACH = 2
_MOST_WRITE = 1 << 17
_BUFFER = _MOST_WRITE + 4096
_IN_HEADER = struct.Struct("=IIQQIIIHH")
_OUT_HEADER = struct.Struct("=IiQ")
_ATTRIBUTES = struct.Struct("=6Q10I")
_TRANSFER = struct.Struct("=QQIIQII")
_ROOT = 1

_LIBC = ctypes.CDLL(None, use_errno=True)


class Fault(NamedTuple):
    """The `nth` read, write, sync or create (from 1), or each of `nths`, goes wrong: "error" (with
    a number, and so do all that follow), "bit" (of byte `at`, modulo the length), "stale" (no byte
    moves; a read gives zeros), "lost" (only the first half moves), "count" (nothing goes wrong)."""

    call: str
    kind: str
    nth: int = 1
    at: int = 0
    error: int = errno.EIO
    nths: tuple[int, ...] = ()


class Strike(NamedTuple):
    path: str
    begin: int
    bytes: int


@dataclass
class _Damage:
    """Bytes that a faulty write left wrong in a file, or a faulty read in the page cache."""

    path: str
    left: set[int]  # places
    number: int  # of the strike
    read_to_write: bool = False  # read since the file was opened for writing


class _RefusedError(OSError):
    pass


@dataclass
class _Server:
    """Answers requests in a thread until the file system is unmounted."""

    device: int
    backing: Path
    mount: Path
    cached: bool
    keeps: bool = False  # pages in the cache when a file is opened again
    fault: Fault | None = None
    strikes: list[Strike] = field(default_factory=list)
    # Those of `strikes` that harmed nothing: the kernel had the right bytes in memory, and wrote
    # others in their place before it read them for somebody. Or it read a page that a rank then
    # filled.
    harmless: set[int] = field(default_factory=set)
    calls: int = 0
    _opens: Counter[int] = field(default_factory=Counter)  # of each node
    _damages: list[_Damage] = field(default_factory=list)
    _paths: dict[int, str] = field(default_factory=lambda: {_ROOT: ""})
    _numbers: dict[str, int] = field(default_factory=lambda: {"": _ROOT})

    def set(self, fault: Fault | None) -> None:
        self.fault, self.calls, self.strikes = fault, 0, []
        self.harmless, self._damages = set(), []

    # Nodes are paths below the backing directory.
    def _place(self, node: int) -> str:
        path = self._paths.get(node)
        if path is None:
            raise _RefusedError(errno.ESTALE, "")
        return path

    def _real(self, path: str) -> Path:
        return self.backing / path

    def _child(self, node: int, name: bytes) -> str:
        parent = self._place(node)
        own = os.fsdecode(name.split(b"\0")[0])
        return f"{parent}/{own}" if parent else own

    def _number(self, path: str) -> int:
        if path not in self._numbers:
            number = max(self._paths) + 1
            self._numbers[path], self._paths[number] = number, path
        return self._numbers[path]

    def _forget(self, path: str) -> None:
        number = self._numbers.pop(path, None)
        if number is not None:
            del self._paths[number]

    def _attributes(self, path: str) -> bytes:
        s = os.lstat(self._real(path))
        times = [s.st_atime_ns, s.st_mtime_ns, s.st_ctime_ns]
        return _ATTRIBUTES.pack(
            s.st_ino, s.st_size, s.st_blocks, *(t // 10**9 for t in times),
            *(t % 10**9 for t in times), s.st_mode, s.st_nlink, s.st_uid, s.st_gid, s.st_rdev,
            4096, 0,
        )  # fmt: skip

    def _entry(self, path: str) -> bytes:
        attributes = self._attributes(path)  # first: it may be missing
        return struct.pack("=QQQQII", self._number(path), 0, 0, 0, 0, 0) + attributes

    def _strikes(self, call: str, path: str, begin: int = 0, length: int = 0) -> bool:
        """Whether this call is the faulty one."""
        if self.fault is None or self.fault.call != call or "/.effio-" in f"/{path}":
            return False
        self.calls += 1
        # The kernel repeats a read ahead that failed, so errors stay.
        if self.fault.kind == "error" and self.calls < self.fault.nth:
            return False
        nths = self.fault.nths or (self.fault.nth,)
        if self.fault.kind not in ("count", "error") and self.calls not in nths:
            return False
        self.strikes.append(Strike(str(self.mount / path), begin, length))
        if self.fault.kind == "error":
            raise _RefusedError(self.fault.error, "")
        return self.fault.kind != "count"

    def _seen(self, path: str, offset: int, size: int, for_writing: bool) -> None:
        there = range(offset, offset + size)
        for one in self._damages:
            if one.path == path and not one.left.isdisjoint(there):
                one.read_to_write = True
        if not for_writing:
            self._settle(path)

    def _settle(self, path: str) -> None:
        """What was read of this file and not overwritten since did harm."""
        self._damages = [one for one in self._damages if one.path != path or not one.read_to_write]

    def _opened(self, node: int) -> tuple[int, int, int]:
        self._opens[node] += 1
        direct_io, keep_cache = 1, 2
        return 0, (keep_cache if self.keeps else 0) if self.cached else direct_io, 0

    def _released(self, node: int) -> bytes:
        self._opens[node] -= 1
        if self._opens[node] == 0 and node in self._paths:
            self._settle(self._paths[node])
        return b""

    def _repaired(self, path: str, offset: int, size: int) -> None:
        for one in self._damages:
            if one.path == path:
                one.left.difference_update(range(offset, offset + size))
                if not one.left:
                    self.harmless.add(one.number)

    def _damaged(self, data: bytes) -> bytes:
        """What a faulty read returns."""
        assert self.fault is not None
        changed = bytearray(data)
        if self.fault.kind == "bit" and changed:
            changed[self.fault.at % len(changed)] ^= 1
        elif self.fault.kind == "stale":
            changed = bytearray(len(changed))
        elif self.fault.kind == "lost":
            half = len(changed) // 2
            changed[half:] = bytes(len(changed) - half)
        return bytes(changed)

    def _read(self, node: int, body: bytes) -> bytes:
        _, offset, size, _, _, flags, _ = _TRANSFER.unpack_from(body)
        path = self._place(node)
        with self._real(path).open("rb", buffering=0) as file:
            data = os.pread(file.fileno(), size, offset)
        # Of a file that is open for writing the kernel reads a page before a rank fills it: a fault
        # there harms nothing.
        for_writing = self.cached and flags & os.O_ACCMODE != os.O_RDONLY
        self._seen(path, offset, size, for_writing)
        fails = self.fault is not None and self.fault.kind == "error"
        if not fails and not any(data):
            return data
        if not self._strikes("read", path, offset, len(data)):
            return data
        changed = self._damaged(data)
        if for_writing:
            wrong = {
                offset + i for i, (a, b) in enumerate(zip(data, changed, strict=True)) if a != b
            }
            self._damages.append(_Damage(path, wrong, len(self.strikes) - 1, read_to_write=True))
        return changed

    def _write(self, node: int, body: bytes) -> bytes:
        _, offset, size, *_ = _TRANSFER.unpack_from(body)
        data = body[_TRANSFER.size : _TRANSFER.size + size]
        path = self._place(node)
        if self.cached:
            self._repaired(path, offset, size)
        with self._real(path).open("r+b", buffering=0) as file:
            # The loss of what is there already, or of zeros at the end of a file, harms nothing.
            there = os.pread(file.fileno(), size, offset).ljust(size, b"\0")
            half = size // 2 if self.fault is not None and self.fault.kind == "lost" else 0
            changes = data[half:] != there[half:]
            if changes and self._strikes("write", path, offset, size):
                assert self.fault is not None
                wrong = range(offset + half, offset + size)
                if self.fault.kind == "bit":
                    data = self._damaged(data)
                    at = offset + self.fault.at % size
                    wrong = range(at, at + 1)
                else:
                    data = data[: 0 if self.fault.kind == "stale" else size // 2]
                self._damages.append(_Damage(path, set(wrong), len(self.strikes) - 1))
            os.pwrite(file.fileno(), data, offset)
            if file.seek(0, os.SEEK_END) < offset + size:
                file.truncate(offset + size)  # what is lost is not the length
        return struct.pack("=II", size, 0)

    def _set(self, node: int, body: bytes) -> bytes:
        valid, _, _, size = struct.unpack_from("=IIQQ", body)
        mode = struct.unpack_from("=I", body, 68)[0]
        path = self._place(node)
        if valid & 1:
            self._real(path).chmod(stat.S_IMODE(mode))
        if valid & 8:
            os.truncate(self._real(path), size)
        return struct.pack("=QII", 0, 0, 0) + self._attributes(path)

    def _create(self, node: int, body: bytes) -> bytes:
        flags, mode, _, _ = struct.unpack_from("=4I", body)
        path = self._child(node, body[16:])
        self._strikes("create", path)
        os.close(os.open(self._real(path), flags | os.O_CREAT, stat.S_IMODE(mode)))
        return self._entry(path) + struct.pack("=QII", *self._opened(self._number(path)))

    def _list(self, node: int, body: bytes) -> bytes:
        _, offset, size, *_ = _TRANSFER.unpack_from(body)
        out = b""
        names = sorted(p.name for p in self._real(self._place(node)).iterdir())
        for number, name in enumerate(names[offset:], start=offset + 1):
            raw = os.fsencode(name)
            entry = struct.pack("=QQII", number, number, len(raw), 0) + raw
            entry += b"\0" * (-len(entry) % 8)
            if len(out) + len(entry) > size:
                break
            out += entry
        return out

    def _rename(self, node: int, new: int, names: bytes) -> bytes:
        old_name, new_name = names.split(b"\0")[:2]
        old_path, new_path = self._child(node, old_name), self._child(new, new_name)
        self._real(old_path).rename(self._real(new_path))
        number = self._number(old_path)
        self._forget(new_path)
        del self._numbers[old_path]
        self._numbers[new_path], self._paths[number] = number, new_path
        return b""

    def _remove(self, node: int, body: bytes, remove: Callable[[Path], None]) -> bytes:
        path = self._child(node, body)
        remove(self._real(path))
        self._forget(path)
        return b""

    def _make(self, node: int, body: bytes, name: int, directory: bool) -> bytes:
        (mode,) = struct.unpack_from("=I", body)
        path = self._child(node, body[name:])
        if directory:
            self._real(path).mkdir(stat.S_IMODE(mode))
        else:
            self._strikes("create", path)
            os.mknod(self._real(path), mode)
        return self._entry(path)

    def _sync(self, node: int) -> bytes:
        self._strikes("sync", self._place(node))
        return b""

    def _reserve(self, node: int, body: bytes) -> bytes:
        _, offset, length, mode = struct.unpack_from("=QQQI", body)
        if mode != 0:
            raise _RefusedError(errno.EOPNOTSUPP, "")
        with self._real(self._place(node)).open("r+b", buffering=0) as file:
            os.posix_fallocate(file.fileno(), offset, length)
        return b""

    def _statfs(self) -> bytes:
        s = os.statvfs(self.backing)
        return struct.pack(
            "=5Q4I24x", s.f_blocks, s.f_bfree, s.f_bavail, s.f_files, s.f_ffree, s.f_bsize,
            s.f_namemax, s.f_frsize, 0,
        )  # fmt: skip

    def _answer(self, code: int, node: int, body: bytes) -> bytes:
        answers: dict[int, Callable[[], bytes]] = {
            1: lambda: self._entry(self._child(node, body)),
            3: lambda: struct.pack("=QII", 0, 0, 0) + self._attributes(self._place(node)),
            4: lambda: self._set(node, body),
            8: lambda: self._make(node, body, 16, False),
            9: lambda: self._make(node, body, 8, True),
            10: lambda: self._remove(node, body, os.unlink),
            11: lambda: self._remove(node, body, os.rmdir),
            12: lambda: self._rename(node, struct.unpack_from("=Q", body)[0], body[8:]),
            14: lambda: struct.pack("=QII", *self._opened(node)),
            15: lambda: self._read(node, body),
            16: lambda: self._write(node, body),
            17: self._statfs,
            18: lambda: self._released(node),
            20: lambda: self._sync(node),
            25: lambda: b"",
            26: lambda: struct.pack("=4I2HII2HII24x", 7, 31, 0, 0, 12, 9, _MOST_WRITE, 1, 32, 0,
                                    0, 0),
            27: lambda: struct.pack("=QII", 0, 0, 0),
            28: lambda: self._list(node, body),
            29: lambda: b"",
            30: lambda: b"",
            34: lambda: b"",
            35: lambda: self._create(node, body),
            43: lambda: self._reserve(node, body),
            45: lambda: self._rename(node, struct.unpack_from("=Q", body)[0], body[16:]),
        }  # fmt: skip
        if code not in answers:
            raise _RefusedError(errno.ENOSYS, "")
        return answers[code]()

    def serve(self) -> None:
        no_answer = {2, 42}  # forget
        while True:
            try:
                request = os.read(self.device, _BUFFER)
            except OSError as gone:
                if gone.errno in (errno.EINTR, errno.EAGAIN, errno.ENOENT):
                    continue
                return  # unmounted
            length, code, unique, node, *_ = _IN_HEADER.unpack_from(request)
            if code in no_answer:
                continue
            error, answer = 0, b""
            try:
                answer = self._answer(code, node, request[_IN_HEADER.size : length])
            except OSError as failed:
                error = -(failed.errno or errno.EIO)
            head = _OUT_HEADER.pack(_OUT_HEADER.size + len(answer), error, unique)
            try:
                os.write(self.device, head + answer)
            except OSError as gone:
                if gone.errno == errno.ENODEV:
                    return


def why_not() -> str | None:
    """The reason why no such file system can be mounted here."""
    if os.geteuid() != 0:
        return "mounting a FUSE file system without helpers needs root"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse: {error.strerror}"
    return None


@contextmanager
def mounted(
    backing: Path, mount: Path, cached: bool = True, keeps: bool = False
) -> Iterator[_Server]:
    """Serves the files of `backing` at `mount`; both exist. If not `cached`, each transfer of a
    program comes here and none ends in the page cache; files cannot be mapped then. With `keeps`,
    cached pages of a file stay valid when it is opened again. Raises OSError if the kernel
    refuses to mount it."""
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other,max_read={_MOST_WRITE}"
    refused = _LIBC.mount(b"effio-test", os.fsencode(mount), b"fuse", 0, options.encode())
    if refused != 0:
        number = ctypes.get_errno()
        os.close(device)
        raise OSError(number, os.strerror(number))
    server = _Server(device, backing, mount, cached, keeps)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        _LIBC.umount2(os.fsencode(mount), _MNT_DETACH)
        thread.join(timeout=10)
        os.close(device)
