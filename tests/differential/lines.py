# SPDX-License-Identifier: BSD-3-Clause
"""Random command lines of ior and mdtest, from a grammar of all their options."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Line:
    """Words for both programs; where files stay, words that check or remove what the other left."""

    program: str
    words: list[str]
    follow: list[str] = field(default_factory=list)
    ranks: int = 2

    def __str__(self) -> str:
        return f"{self.program} {' '.join(self.words)}"


def maybe(draw: random.Random, chance: float, *words: str) -> list[str]:
    """One of `words` (split at blanks) with this chance."""
    return draw.choice(words).split() if draw.random() < chance else []


def ior_line(draw: random.Random, apis: Sequence[str]) -> Line:
    transfer = draw.choice([8, 512, 4096, 8192, 47008, 65536])
    calls = draw.randint(1, 4)
    weights = {"POSIX": 6, "MPIIO": 3}
    api = draw.choices(apis, [weights.get(name, 1) for name in apis])[0]
    kib = draw.random() < 0.5

    def size(bytes_: int) -> str:
        return f"{bytes_ // 1024}k" if kib and bytes_ % 1024 == 0 else str(bytes_)

    signature = ["-G", str(draw.randint(1, 2**31 - 1))]
    shape = ["-t", size(transfer), "-b", size(transfer * calls), *maybe(draw, 0.4, "-s 2", "-s 3")]
    shape += ["-a", draw.choice([api, api, api.lower()]), *maybe(draw, 0.4, "-F")]
    shape += maybe(draw, 0.15, "-l t", "-l timestamp", "-l o", "-l offset")
    if api == "MPIIO":
        shape += maybe(draw, 0.4, "-c")
        shape += maybe(draw, 0.3, "--mpiio.useFileView", "--mpiio.preallocate", "--mpiio.showHints")
    if api in ("HDF5", "NCMPI"):
        shape += maybe(draw, 0.4, "-c")
    words = list(shape)
    if draw.random() < 0.8:
        words += signature
    phases = draw.choice(["", "-w", "-w -r", "-w -W", "-w -r -R", "-w -k", "-w -k", "-w -r -k -R"])
    words += phases.split()
    for letter in "eEgmKxY":
        words += maybe(draw, 0.08, f"-{letter}")
    words += maybe(draw, 0.15, "-C", "-C -Q 1", "-C -Q 2", "-Q 0", "-Q 3")
    words += maybe(draw, 0.06, "-Z -X 5", "-Z -Z -X 7", "-X 3")
    words += maybe(draw, 0.06, "-z", "-z --random-offset-seed=9", "-z --random-offset-seed 4")
    words += maybe(draw, 0.15, "-i 2", "-i 3", "-i 2 -m")
    words += maybe(draw, 0.1, "-u", "-N 1", "-N 2", "-N 7")
    words += maybe(draw, 0.1, "-v", "-vv", "-v -v")
    words += maybe(draw, 0.05, "-A 3", "-j 10", "-d 0", "-d 0.1", "-T 1", "-M 1m")
    words += maybe(draw, 0.1, "-O summaryFormat=JSON", "-O summaryFormat=CSV")
    words += maybe(draw, 0.15, "-O summaryFormat=JSON,keepFile=1", "-O summaryFormat=JSON -v")
    words += maybe(draw, 0.05, "-D 30", "-D 30 -O stoneWallingWearOut=1")
    words += maybe(draw, 0.05, "--posix.odirect", "-O useO_DIRECT=1", "-c", "-O platform=x")
    words += maybe(draw, 0.04, "--warningAsErrors", "-O summaryFile=out.txt", "-Q 0", "-s 0")
    words += maybe(draw, 0.04, "-b 1000", "-t 0", "-q 7", "--nonsense", "-D", "-l x", "-a NONE")
    words += maybe(draw, 0.1, "-o f", "-o ./f", "-o a@b")
    words += maybe(draw, 0.05, "-O saveRankPerformanceDetailsCSV=ranks.csv")
    follow = []
    kept = "-k" in words or "-O summaryFormat=JSON,keepFile=1" in " ".join(words)
    plain = not {"-m", "-z", "-u", "-N", "-Z", "-D"} & set(words)
    if kept and plain and api != "DUMMY" and "-G" in words and "-o" not in words:
        follow = [*shape, *signature, "-r", "-R", "-k"]
    return Line("ior", words, follow)


def mdtest_line(draw: random.Random, _: Sequence[str] = ()) -> Line:
    tree = maybe(draw, 0.5, "-z 1", "-z 2", "-z 1 -b 2", "-z 1 -b 3", "-b 2", "-z 2 -b 2")
    tree += maybe(draw, 0.2, "-L") + maybe(draw, 0.4, "-u")
    count = draw.choice(["-n 4", "-n 5", "-n 12", "-I 1", "-I 2", "-n 4 -I 2", "-n 6 -I 3", "-n 1"])
    what = maybe(draw, 0.5, "-F", "-D")
    shape = [*tree, *count.split(), *what, "-d", draw.choice(["out", "./out", "out/"])]
    words = list(shape)
    phases = draw.choice(["", "", "-C", "-C", "-C -T", "-C -r", "-C -T -E -r", "-C -E", "-C -T -r"])
    words += phases.split()
    words += maybe(draw, 0.2, "-w 100", "-w 3901 -e 3901", "-w 4k -e 1k", "-w 10 -y")
    words += maybe(draw, 0.1, "-N 1", "-R", "--random-seed=3", "-S", "-c", "-t", "-Y", "-k")
    words += maybe(draw, 0.1, "-P", "-Z", "-v", "-V 1", "-p 0", "-G 5", "-B 0")
    words += maybe(draw, 0.1, "-i 2", "-W 20", "-f 1", "-f 1 -l 2", "-W 20 -x count")
    words += maybe(draw, 0.05, "-a DUMMY", "-a POSIX", "--posix.odirect", "-U")
    words += maybe(draw, 0.1, "--saveRankPerformanceDetails=ranks.csv")
    words += maybe(draw, 0.03, "--nonsense", "-n 0", "-I 0", "-e 5", "--warningAsErrors", "-a NONE")
    follow = []
    if phases.startswith("-C") and "-r" not in words and "-i" not in words and "-f" not in words:
        follow = [*shape, *draw.choice(["-T", "-r", "-T -r", "-T -E -r"]).split()]
        if "-S" in words:
            follow.append("-S")
    return Line("mdtest", words, follow)


def lines(
    program: str, seed: int, count: int, apis: Sequence[str] = ("POSIX", "MPIIO", "DUMMY")
) -> list[Line]:
    """The same for the same seed. `apis` are back ends of ior that both programs have."""
    draw = random.Random(f"{program} {seed}")
    make = ior_line if program == "ior" else mdtest_line
    return [make(draw, apis) for _ in range(count)]
