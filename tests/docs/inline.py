# SPDX-License-Identifier: BSD-3-Clause
"""Commands and options that the documentation names within a sentence: `effio report last`,
`mpiexec -n 2 effio-mpi ior --keep`, `--drop-cache`."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

_FENCED = re.compile(r"^( *)(```+).*?^\1\2\s*$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_LAUNCHED = re.compile(r"^mpiexec -n (\d+) (?=effio-mpi )")

_CAMPAIGN = "needs a campaign that has been run; tests/driver/test_charts.py"
# Commands that are only parsed, with the reason.
NOT_RUN = {
    "effio --runs DIR serve": "serves until it is interrupted",
    "effio serve --rules RULES": "serves until it is interrupted",
    "effio clean FILE": "needs a run that was killed on this machine; tests/driver/test_clean.py",
    "effio clean RUN": "needs a run that was killed on this machine; tests/driver/test_clean.py",
    "effio clean interference.jsonl": "needs a result of a job that was killed",
    "effio doctor --dir DIR": "needs a directory; docs/servers.md runs it in a block",
    "effio engine build --mpicc /opt/openmpi/bin/mpicc": "compiles an engine",
    "effio engine use NAME": "there is no engine of that name",
    "effio run CAMPAIGN --interleave NAME=A,B": "no shipped campaign has such an axis",
    "effio report A B C --svg systems": "needs results of b_eff_io; tests/driver/test_systems.py",
    "effio table --value b_eff_io_partition --by ranks": "needs results of b_eff_io",
    "effio report A B --hpcc cluster=hpccoutf.txt": "needs results of rings",
    "effio accept b_eff_io-official RUN…": "a run of 30 minutes would pass; test_rehearsal.py",
    "effio report CAMPAIGN": _CAMPAIGN,
    "effio report CAMPAIGN --svg NAME": _CAMPAIGN,
    "effio report b_eff_io-partitions": _CAMPAIGN,
    "effio report eocoe": _CAMPAIGN,
    "effio report nersc-libraries": _CAMPAIGN,
    "effio profile A.toml B.toml C.darshan": "needs forms; tests/driver/test_profile.py",
    "effio profile LOG --save FILE": "needs a log of Darshan; docs/profile.md runs it in a block",
    "effio bundle blue-waters --rules blue-waters --output offer": _CAMPAIGN,
    "effio verify-bundle DIR": "needs a bundle; docs/bundle.md runs it in a block",
}

# Values of placeholders when a command is run.
STAND_INS = {
    "RULES": "blue-waters",
    "rules.toml": "blue-waters",
    "RUN": "last",
    "A": "last",
    "B": "last",
    "FILE": "hints.txt",
    "interference.jsonl": "result.jsonl",
    "BENCHMARK": "ior",
    "CAMPAIGN": "quick",
    "NAME": "quick",
    "DIR": "made",
    "PREFIX": "x",
    "RATE": "1GB/s",
}

# Options of other programs that the pages name, with the program.
FOREIGN = {
    "--mca": "mpiexec of Open MPI",
    "--signal": "sbatch",
    "--no-requeue": "sbatch",
    "--password": "any program; an example of what is masked",
    "--module": "the original ior",
    "--collmsa": "the original partest",
    "--bgionode": "the original partest",
    "--bgtaskperionode": "the original partest",
    "--bgtasksort": "the original partest",
    "--storagepoolid": "beegfs-ctl",
}


@dataclass(frozen=True)
class Mention:
    """`words` without ellipses; `ranks` if the page starts it with mpiexec."""

    text: str
    words: tuple[str, ...]
    ranks: int | None = None

    @property
    def program(self) -> str:
        return self.words[0]


def _spans(page: str) -> list[str]:
    plain = _FENCED.sub("", page)
    return [" ".join(found[2].split()) for found in _SPAN.finditer(plain)]


def commands_of(page: str) -> list[Mention]:
    """The commands in the order of the page, of a pipe only the first one."""
    found = []
    for text in _spans(page):
        launched = _LAUNCHED.match(text)
        command = text[launched.end() :] if launched else text
        if not re.match(r"(effio|effio-mpi) ", command):
            continue
        words = [word.replace("…", "").strip() for word in shlex.split(command.split(" | ")[0])]
        ranks = int(launched[1]) if launched else None
        found.append(Mention(text, tuple(word for word in words if word), ranks))
    return found


def options_of(page: str) -> list[str]:
    """Options with two dashes that are named outside of a command, without their values."""
    found = [re.match(r"--[A-Za-z][A-Za-z0-9-]+", text) for text in _spans(page)]
    return [one[0] for one in found if one is not None]


def stood_in(word: str) -> str:
    """The value of a placeholder, which may follow a label: servers=12:RUN."""
    head, colon, rest = word.rpartition(":")
    return head + colon + STAND_INS.get(rest, rest)
