# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm whose time continues only when it is asked: jobs of a campaign without chance.

It is a directory with a file for each job. `sbatch` takes a job, `squeue` lists all and then
lets the oldest waiting ones run to their end, one for each answer; so a test knows what waits when.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_COMMON = """#!{python}
import os, subprocess, sys
from pathlib import Path
place = Path({place!r})
def jobs():
    return sorted(place.glob("job-*"), key=lambda path: int(path.name[4:]))
with (place / "calls").open("a") as stream:
    stream.write(" ".join(sys.argv[1:] and [Path(sys.argv[0]).name, *sys.argv[1:]]) + "\\n")
"""

_SBATCH = """
waiting = [path for path in jobs() if path.read_text().startswith("PENDING")]
limit = int((place / "limit").read_text())
if len(waiting) >= limit:
    sys.exit(
        "sbatch: error: QOSMaxSubmitJobPerUserLimit\\n"
        "sbatch: error: Batch job submission failed: Job violates accounting/QOS policy "
        "(job submit limit, user's size and/or time limits)"
    )
number = len(jobs()) + 1
(place / f"job-{number}").write_text(f"PENDING|Priority|{sys.argv[-1]}")
print(number)
"""

_SQUEUE = """
if (place / "away").exists():
    sys.exit("slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
found = [(path, path.read_text()) for path in jobs()]
with (place / "seen").open("a") as stream:
    states = [text.partition("|")[0] for _, text in found]
    stream.write(f"{states.count('PENDING')}\\n")
for path, text in found:
    if not text.startswith("FORGOTTEN"):
        print(f"{path.name[4:]}|{text}")
sys.stdout.flush()
for path, text in found:
    state, reason, script = text.split("|", 2)
    if state != "PENDING":
        continue
    fate = place / f"fate-{path.name[4:]}"
    if fate.exists():
        state = fate.read_text()
    else:
        code = subprocess.run(["bash", script], stdout=subprocess.DEVNULL).returncode
        state = "FAILED" if code else "COMPLETED"
    path.write_text(f"{state}|None|{script}")
    break
"""

_SACCT = """
file = place / "accounts"
print(file.read_text() if file.exists() else "", end="")
"""


@dataclass(frozen=True)
class SlurmStandIn:
    place: Path

    @property
    def programs(self) -> Path:
        return self.place / "bin"

    def limit(self, waiting: int) -> None:
        """This many jobs may wait; more are refused."""
        (self.place / "limit").write_text(str(waiting))

    def fate(self, number: int, state: str) -> None:
        """This job ends in this state, without a message."""
        (self.place / f"fate-{number}").write_text(state)

    def accounts(self, text: str) -> None:
        (self.place / "accounts").write_text(text)

    def calls(self, program: str) -> list[str]:
        lines = (self.place / "calls").read_text().splitlines()
        return [line for line in lines if line.split()[:1] == [program]]

    def waiting_when_asked(self) -> list[int]:
        return [int(line) for line in (self.place / "seen").read_text().split()]

    def scripts(self) -> list[str]:
        """The scripts of all jobs that were taken."""
        texts = [path.read_text() for path in self.place.glob("job-*")]
        return sorted(text.split("|", 2)[2] for text in texts)

    def run_all(self) -> None:
        """What happens while no driver looks."""
        for _ in self.place.glob("job-*"):
            subprocess.run([self.programs / "squeue"], capture_output=True, check=True)


def slurm_stand_in(place: Path) -> SlurmStandIn:
    (place / "bin").mkdir(parents=True)
    common = _COMMON.format(python=sys.executable, place=str(place))
    for name, text in (("sbatch", _SBATCH), ("squeue", _SQUEUE), ("sacct", _SACCT)):
        program = place / "bin" / name
        program.write_text(common + text)
        program.chmod(0o755)
    made = SlurmStandIn(place)
    made.limit(1000)
    return made
