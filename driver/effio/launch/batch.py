# SPDX-License-Identifier: BSD-3-Clause
"""Batch systems: the script of a job, how it is submitted, and whether it is still there.

A script is self-contained: it starts the engine without effio, so compute nodes need no Python, and
it can be submitted manually. A new batch system is one entry in BATCH_SYSTEMS and a template.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from effio.config.site import BatchSettings
from effio.errors import EffioError, ExitCode, environment_error
from effio.launch.launchers import Launch, Ranks
from effio.launch.template import Template, Values, read, shipped
from effio.store import environment


@dataclass(frozen=True)
class BatchJob:
    """Everything that a script says."""

    name: str
    directory: Path  # of the run: the script, the logs and the result are here
    working_directory: Path  # relative paths count from here
    ranks: Ranks
    minutes: int
    launch: Launch
    directives: tuple[str, ...] = ()  # the site's and the user's: "--account=abc"
    setup: tuple[str, ...] = ()  # shell lines before the launch: "module load openmpi"
    before: tuple[str, ...] = ()  # shell lines of the run itself, before its launch
    after: tuple[str, ...] = ()  # and when the job ends, however that comes
    once: bool = False  # a run that is sealed, or was given up, is not begun
    # Names that a site adds to those that are recorded.
    site_environment: Sequence[str] = ()


class QueueFullError(EffioError):
    """The batch system takes no more jobs of this user now; later it may."""

    def __init__(self, word: str) -> None:
        super().__init__(f"the queue is full ({word})", ExitCode.ENVIRONMENT, "try again later")


@dataclass(frozen=True)
class BatchSystem:
    name: str
    submit_command: tuple[str, ...]  # the script's path follows
    reads_stdin: bool  # bsub takes the script from standard input
    job_id: re.Pattern[str]  # in what the submission prints
    alive_command: tuple[str, ...]  # the job id follows; prints or succeeds while the job exists
    alive: Callable[[int, str], bool | None]  # from exit code and output; None: no answer now
    cancel_command: tuple[str, ...]
    # The job id follows; what it prints names the state in which a job ended.
    fate_command: tuple[str, ...] = ()
    fate: re.Pattern[str] = re.compile("")
    # The job id follows; prints why a job does not run yet.
    reason_command: tuple[str, ...] = ()
    # For many jobs at once: one line each, "id|state|why it waits|script", as much as is known;
    # @user@ is the user who asks.
    queue_command: tuple[str, ...] = ()
    over: frozenset[str] = frozenset()  # states of jobs that have ended
    # "id|state" of jobs that the queue has forgotten; the ids follow, with commas.
    past_command: tuple[str, ...] = ()
    # What it says of a job that it does not take now, for there are too many.
    full: re.Pattern[str] = re.compile(r"(?!)")
    template: Template | None = None  # the site's own

    @property
    def found(self) -> bool:
        return shutil.which(self.submit_command[0]) is not None

    def script(self, job: BatchJob) -> str:
        return (self.template or shipped(self.name)).filled(_values(job))

    def submit(self, script: Path) -> str:
        """Returns the job's id. In its own session: Ctrl-C must not end it half-way."""
        command = list(self.submit_command)
        try:
            if self.reads_stdin:
                with script.open() as text:
                    done = subprocess.run(
                        command,
                        stdin=text,
                        capture_output=True,
                        text=True,
                        timeout=120,
                        start_new_session=True,
                    )
            else:
                done = subprocess.run(
                    [*command, str(script)],
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=120,
                    start_new_session=True,
                )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise environment_error(f"{command[0]} did not work: {error}") from None
        found = self.job_id.search(done.stdout)
        if done.returncode != 0 or found is None:
            reported = (done.stderr or done.stdout).strip()
            if limit := self.full.search(reported):
                raise QueueFullError(limit.group())
            raise environment_error(
                f"{' '.join(command)} refused the job: {reported}",
                f"the script is {script}; directives of the site go with --batch-option",
            )
        return found.group(1)

    def is_alive(self, job_id: str) -> bool | None:
        """True while the job waits or runs; None if the batch system does not answer now."""
        try:
            done = subprocess.run(
                [*self.alive_command, job_id], capture_output=True, text=True, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return self.alive(done.returncode, done.stdout + done.stderr)

    def end_of(self, job_id: str) -> str:
        """How the batch system says that a job ended, in its own word; empty if it does not say."""
        found = self.fate.search(_reported(self.fate_command, job_id))
        return found.group(1) if found is not None and found.groups() else ""

    def why_waiting(self, job_id: str) -> str:
        """Why a job does not run yet, in the batch system's own word: a limit that it never comes
        under keeps it there forever. Empty if it runs or nothing is said."""
        reason = _reported(self.reason_command, job_id).strip()
        return "" if reason == "None" else reason

    def stop(self, job_id: str, at_once: bool) -> None:
        command = [*self.cancel_command, job_id]
        if self.name == "slurm" and not at_once:
            # To the batch shell, which passes it on to the launcher.
            command = ["scancel", "--batch", "--signal=USR1", job_id]
        subprocess.run(command, capture_output=True, timeout=60, check=False)


def _reported(command: Sequence[str], job_id: str) -> str:
    if not command:
        return ""
    try:
        done = subprocess.run([*command, job_id], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


# What a word for the end of a job means, and what helps.
_MEANINGS = {
    "TIMEOUT": "it reached its time limit; --minutes gives more",
    "NODE_FAIL": "a node was lost",
    "OUT_OF_MEMORY": "a node had no memory left",
    "PREEMPTED": "another job took its place",
}


def explained(word: str) -> str:
    """How a job ended, with what that means."""
    return f"{word}: {_MEANINGS[word]}" if word in _MEANINGS else word


_OVER_IN_SLURM = frozenset(
    re.findall(
        r"\w+",
        "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED "
        "TIMEOUT",
    )
)
_ACCOUNTING = ("sacct", "--noheader", "--allocations", "--parsable2")


def _alive_in_slurm(code: int, text: str) -> bool | None:
    if code == 0:
        return bool(text.strip())
    # Any other failure is the controller's, not the job's.
    return False if "Invalid job id" in text else None


def _log(job: BatchJob) -> str:
    """Where the batch system writes what the script itself says."""
    path = str(job.directory / "job.log")
    return f'"{path}"' if " " in path else path


def _run_lines(job: BatchJob) -> list[str]:
    """The lines from the directory to the checksums: what is the same in every batch system."""
    lines = [
        f"cd {shlex.quote(str(job.working_directory))} || exit 6",
        f"run={shlex.quote(str(job.directory))}",
    ]
    if job.once:
        lines.append('if [ ! -d "$run" ] || [ -e "$run/SHA256SUMS" ]; then exit 6; fi')
    lines += list(job.setup)
    lines += [f"export {k}={shlex.quote(v)}" for k, v in job.launch.environment.items()]
    kept = shlex.quote(environment.allowed(job.site_environment))
    lines.append(f"env | grep -E {kept} |")
    lines.append(f"    {shlex.join(environment.sed_words())} |")
    lines.append('    sort > "$run/environment.txt"')
    if job.after:
        lines += ["after() {", *(f"    {line}" for line in job.after), "}", "trap after EXIT"]
    lines += list(job.before)
    # The batch system warns before it kills; the engine then stops in an orderly way and keeps
    # what was measured. The shell has to pass that on, and to continue waiting.
    lines += [
        f'{shlex.join(job.launch.command)} > "$run/stdout.log" 2> "$run/stderr.log" &',
        "launcher=$!",
        "trap 'kill -USR1 $launcher' USR1 TERM",
        "wait $launcher",
        "while kill -0 $launcher 2> /dev/null; do wait $launcher; done",
        "wait $launcher; status=$?",  # bash remembers it
        'cd "$run" || exit 6',
        "for file in result.jsonl run.json environment.txt stdout.log stderr.log; do",
        '    if [ -f "$file" ]; then sha256sum "$file"; fi',
        "done > SHA256SUMS",
        "exit $status",
    ]
    return lines


def _values(job: BatchJob) -> Values:
    """What templates ask for (WORDS)."""
    hours, minutes = divmod(job.minutes, 60)
    nodes = job.ranks.nodes or 1
    return {
        "name": job.name,
        "short_name": job.name[:15],
        "ranks": str(job.ranks.total),
        "nodes": str(job.ranks.nodes) if job.ranks.nodes is not None else None,
        "ranks_per_node": str(job.ranks.per_node) if job.ranks.per_node is not None else None,
        "some_nodes": str(nodes),
        "some_per_node": str(job.ranks.per_node or -(-job.ranks.total // nodes)),
        "minutes": str(job.minutes),
        "clock": f"{hours:02d}:{minutes:02d}:00",
        "short_clock": f"{hours}:{minutes:02d}",
        "log": _log(job),
        "log_pattern": _log(job).replace("%", "%%"),
        "directive": job.directives,
        "run": _run_lines(job),
    }


BATCH_SYSTEMS: tuple[BatchSystem, ...] = (
    BatchSystem(
        name="slurm",
        submit_command=("sbatch", "--parsable"),
        reads_stdin=False,
        job_id=re.compile(r"^(\d+)", re.M),
        alive_command=("squeue", "--noheader", "--format=%T", "--jobs"),
        alive=_alive_in_slurm,
        cancel_command=("scancel",),
        fate_command=("scontrol", "--oneliner", "show", "job"),
        fate=re.compile(r"\bJobState=(\w+)"),
        reason_command=("squeue", "--noheader", "--states=PENDING", "--format=%r", "--jobs"),
        queue_command=("squeue", "--noheader", "--me", "--states=all", "--format=%i|%T|%r|%o"),
        over=_OVER_IN_SLURM,
        past_command=(*_ACCOUNTING, "--format=JobID,State", "--jobs"),
        full=re.compile(r"\b(QOS|Assoc)(Max|Grp)Submit\w+|temporarily unable to accept job"),
    ),
    BatchSystem(
        name="pbs",
        submit_command=("qsub",),
        reads_stdin=False,
        job_id=re.compile(r"^(\S+)", re.M),
        alive_command=("qstat",),
        alive=lambda code, _: code == 0,
        cancel_command=("qdel",),
        # Identifiers alone, but whole ones: the columns of qstat cut them off.
        queue_command=("qselect", "-u", "@user@"),
        full=re.compile(r"Maximum number of jobs already in queue|would exceed .* per-user limit"),
    ),
    BatchSystem(
        name="lsf",
        submit_command=("bsub",),
        reads_stdin=True,
        job_id=re.compile(r"<(\d+)>"),
        alive_command=("bjobs", "-noheader", "-o", "stat"),
        alive=lambda code, text: code == 0 and text.split()[:1] not in (["DONE"], ["EXIT"], []),
        cancel_command=("bkill",),
        queue_command=("bjobs", "-noheader", "-a", "-o", "jobid stat delimiter='|'"),
        over=frozenset(("DONE", "EXIT")),
    ),
    BatchSystem(
        name="flux",
        submit_command=("flux", "batch"),
        reads_stdin=False,
        job_id=re.compile(r"^(\S+)", re.M),
        alive_command=("flux", "jobs", "--no-header", "--format={status_abbrev}"),
        alive=lambda code, text: code == 0 and text.strip() not in ("CD", "F", "CA", "TO", ""),
        cancel_command=("flux", "cancel"),
        queue_command=("flux", "jobs", "-a", "--no-header", "--format={id}|{status_abbrev}"),
        over=frozenset(("CD", "F", "CA", "TO")),
    ),
)


def batch_system(name: str) -> BatchSystem:
    return next(b for b in BATCH_SYSTEMS if b.name == name)


def find_batch_system() -> BatchSystem | None:
    """The one whose submission command is on PATH."""
    return next((b for b in BATCH_SYSTEMS if b.found), None)


def offered_batch_system(of_site: BatchSettings) -> BatchSystem | None:
    """The one that is found here, with the site's template if that is for it."""
    system = find_batch_system()
    return _with_template(system, of_site) if system is not None else None


def wanted_batch_system(asked: str | None, of_site: BatchSettings) -> BatchSystem:
    """The one that is named, else the site's, else the one that is found here."""
    name = of_site.system if asked in (None, "auto") else asked
    system = batch_system(name) if name else find_batch_system()
    if system is None:
        raise EffioError(
            "no batch system is found here (sbatch, qsub, bsub, flux)",
            ExitCode.ENVIRONMENT,
            f"name the one to write for: --batch {batch_names()[0]}",
        )
    return _with_template(system, of_site)


def _with_template(system: BatchSystem, of_site: BatchSettings) -> BatchSystem:
    if of_site.template is None or system.name != of_site.system:
        return system
    return replace(system, template=read(Path(of_site.template)))


def batch_names() -> Sequence[str]:
    return [b.name for b in BATCH_SYSTEMS]
