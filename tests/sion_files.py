# SPDX-License-Identifier: BSD-3-Clause
"""Containers written from the byte tables of docs/sion-format.md, in Python, so that the
engine's reader and writer have a second opinion."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path


def stream_of(rank: int, length: int) -> bytes:
    """What a task writes; two ranks' bytes differ at every place."""
    return bytes((i * 7 + i // 251 + rank * 31) % 256 for i in range(length))


def records(*pairs: tuple[int, bytes], order: str = "<") -> bytes:
    """A stream with keys: each value behind its key and its length."""
    return b"".join(struct.pack(f"{order}2q", key, len(value)) + value for key, value in pairs)


@dataclass
class Writer:
    """`sizes`: bytes that each rank writes; `asked`: bytes of its chunks. `content`: what each
    writes, else other bytes. `rounded`: whether chunks are whole blocks."""

    sizes: list[int]
    asked: list[int]
    files: int = 1
    block: int = 512
    order: str = "<"
    version: int = 5
    closed: bool = True
    library: tuple[int, int] = (1007, 6)
    content: list[bytes] = field(default_factory=list)
    rounded: bool = True
    placed: list[tuple[int, int]] = field(default_factory=list)
    number: int | None = None  # of the only file, where it is not 0
    keys: int = 50

    def streams(self) -> list[bytes]:
        return self.content or [stream_of(rank, size) for rank, size in enumerate(self.sizes)]

    def paths(self, first: Path) -> list[Path]:
        return [first, *(Path(f"{first}.{i:06d}") for i in range(1, self.files))]

    def write(self, first: Path) -> None:
        count = len(self.sizes)
        each = count // self.files
        of = [min(rank // each, self.files - 1) for rank in range(count)]
        self.placed = [(of[r], sum(1 for q in range(r) if of[q] == of[r])) for r in range(count)]
        for number, path in enumerate(self.paths(first)):
            ranks = [rank for rank in range(count) if of[rank] == number]
            path.write_bytes(self._file(first.name, number, ranks))

    def _up(self, size: int) -> int:
        return -(-size // self.block) * self.block

    def _file(self, prefix: str, number: int, ranks: list[int]) -> bytes:
        room = [self._up(self.asked[rank]) if self.rounded else self.asked[rank] for rank in ranks]
        stored = room if self.version >= 4 else [self.asked[rank] for rank in ranks]
        used = [max(1, -(-self.sizes[rank] // c)) for rank, c in zip(ranks, room, strict=True)]
        rows = max(used)
        begin = self._up(1088 + 16 * len(ranks))
        tail = begin + rows * sum(room)
        named = number if self.number is None else self.number
        numbers = [*self.library, self.version, self.block, len(ranks), self.files, named]
        head = b"sion" + (b"\1\1\1\1" if self.order == ">" else b"\0\0\0\0")
        head += struct.pack(f"{self.order}7i2q", *numbers, self.keys << 32, 0)
        head += prefix.encode().ljust(1024, b"\0")
        head += struct.pack(f"{self.order}{2 * len(ranks)}q", *ranks, *stored)
        head += struct.pack(
            f"{self.order}iq", rows if self.closed else 0, tail if self.closed else 0
        )
        assert len(head) == 1088 + 16 * len(ranks)
        out = bytearray(tail)
        out[: len(head)] = head
        filled = [[0] * len(ranks) for _ in range(rows)]
        for task, rank in enumerate(ranks):
            stream = self.streams()[rank]
            for row in range(used[task]):
                piece = stream[row * room[task] : (row + 1) * room[task]]
                at = begin + row * sum(room) + sum(room[:task])
                out[at : at + len(piece)] = piece
                filled[row][task] = len(piece)
        if not self.closed:
            return bytes(out)
        out += struct.pack(f"{self.order}{len(ranks)}q", *used)
        for row_of in filled:
            out += struct.pack(f"{self.order}{len(ranks)}q", *row_of)
        if number == 0 and self.files > 1:
            out += struct.pack(f"{self.order}i", len(self.placed))
            for place in self.placed:
                out += struct.pack(f"{self.order}2i", *place)
        return bytes(out)
