# SPDX-License-Identifier: BSD-3-Clause
"""One engine program: ask it things without MPI. `describe` and `--plan` start no MPI library
calls, so they work on login nodes where mpiexec is forbidden."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
from pydantic import ValidationError

from effio import text as fmt
from effio.engine import mpi
from effio.engine.description import EngineInfo
from effio.errors import EffioError, ExitCode, environment_error

_ASK_SECONDS = 60
_PLAN_SECONDS = 0.1  # more for each of many plans
_MAX_ANSWER_BYTES = 64 << 20

# What launchers set for their processes. An engine that answers a question is not a rank.
_RANK_VARIABLES = (
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "PMI_RANK",
    "PMI_SIZE",
    "PMIX_RANK",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "PALS_RANKID",
    "PALS_SIZE",
    "FLUX_TASK_RANK",
    "FLUX_JOB_SIZE",
    "ALPS_APP_PE",
    "JSM_NAMESPACE_RANK",
    "JSM_NAMESPACE_SIZE",
)


@dataclass(frozen=True)
class Answer:
    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """A command line of the engine, planned for these ranks."""

    arguments: Sequence[str]
    ranks: int
    ranks_per_node: int | None = None

    def words(self) -> list[str]:
        words = [*self.arguments, "--plan-ranks", str(self.ranks)]
        if self.ranks_per_node is not None:
            words += ["--plan-ranks-per-node", str(self.ranks_per_node)]
        return words

    def line(self) -> bytes:
        """The words as a line of JSON; empty if it cannot hold them: NUL, and what is not UTF-8."""
        words = self.words()
        try:
            line = msgspec.json.encode(words) + b"\n"
            return b"" if any("\0" in word for word in words) else line
        except UnicodeEncodeError:
            return b""


@dataclass(frozen=True)
class Engine:
    """A program on disk. `origin` says in words why it was taken; `mpiexec` is the launcher that
    was noted when it was built, if any; `is_carried` if a wheel brought it (engine/carried.py)."""

    path: Path
    origin: str
    mpiexec: str | None = None
    name: str = field(default="")
    is_carried: bool = False

    def ask(
        self, arguments: Sequence[str], seconds: float = _ASK_SECONDS, stdin: bytes = b""
    ) -> Answer:
        """Runs the program without a launcher. Raises if it cannot start at all."""
        environment = {k: v for k, v in os.environ.items() if k not in _RANK_VARIABLES}
        try:
            done = subprocess.run(
                [str(self.path), *arguments],
                input=stdin,
                capture_output=True,
                timeout=seconds,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise environment_error(
                f"{self.path} {' '.join(arguments[:2])} did not answer within {seconds:.0f} s"
            ) from None
        except ValueError:
            raise EffioError("an argument of the engine contains a NUL character") from None
        except OSError as error:
            raise environment_error(f"{self.path} cannot be started: {error.strerror}") from None
        stderr = done.stderr.decode(errors="replace").strip()
        if done.returncode == 127 and "shared librar" in stderr:
            raise environment_error(
                f"{self.path} cannot be loaded: {stderr}",
                "load the module of the MPI it was built with, or build one for your MPI: "
                "effio engine build",
            )
        return Answer(done.returncode, done.stdout.decode(errors="replace"), stderr)

    @cached_property
    def info(self) -> EngineInfo:
        answer = self.ask(["describe"])
        if answer.code != 0 or len(answer.stdout) > _MAX_ANSWER_BYTES:
            raise environment_error(
                f"{self.path} describe failed with exit code {answer.code}: {answer.stderr}"
            )
        try:
            return EngineInfo.model_validate(json.loads(answer.stdout))
        except (ValueError, RecursionError, ValidationError):
            raise environment_error(
                f"{self.path} is not an engine that this driver understands: its description "
                "cannot be read",
                "build the engine of this version: effio engine build",
            ) from None

    @property
    def mpi(self) -> mpi.Mpi | None:
        """The MPI it was built with, where its name is known."""
        return mpi.of_library(self.info.engine.mpi_built_with)

    @cached_property
    def sha256(self) -> str:
        digest = hashlib.sha256()
        with self.path.open("rb") as program:
            while block := program.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def check(self, arguments: Sequence[str], ranks: int, ranks_per_node: int | None) -> object:
        """Has the engine judge a command line by planning it; returns the plan. No MPI, no I/O.

        Raises with the engine's own words if the line is wrong.
        """
        command = Command(arguments, ranks, ranks_per_node)
        answer = self.ask([*command.words(), "--plan-json"])
        if answer.code == 0:
            return self._json(answer.stdout)
        raise self.refusal(arguments[0], answer)

    def check_all(self, commands: Sequence[Command]) -> list[object]:
        """As `check`, by one start of the program: the plan of each command line, or the
        EffioError for it. An engine that is too old for that is started for each, and so is any
        for words that JSON cannot hold."""
        lines = [command.line() for command in commands]
        asked = [line for line in lines if line]
        seconds = _ASK_SECONDS + len(asked) * _PLAN_SECONDS
        answer = self.ask(["plans"], seconds, b"".join(asked))
        if answer.code == ExitCode.USAGE and not answer.stdout:
            return [self._alone(command) for command in commands]
        found = fmt.lines(answer.stdout)
        if answer.code != 0 or len(found) != len(asked):
            raise environment_error(
                f"{self.path} plans ended with exit code {answer.code} after {len(found)} of "
                f"{fmt.count_of(len(asked), 'plan')}: {answer.stderr}"
            )
        answers = iter(found)
        return [
            self._answered(command, next(answers)) if line else self._alone(command)
            for command, line in zip(commands, lines, strict=True)
        ]

    def _alone(self, command: Command) -> object:
        try:
            return self.check(command.arguments, command.ranks, command.ranks_per_node)
        except EffioError as error:
            return error

    def _answered(self, command: Command, line: str) -> object:
        said = self._json(line)
        code = said.get("code") if isinstance(said, dict) else None
        if not isinstance(said, dict) or not isinstance(code, int):
            raise self._no_plan()
        if code != 0:
            answer = Answer(code, "", str(said.get("error", "")))
            return self.refusal(command.arguments[0], answer)
        if "plan" not in said:
            raise self._no_plan()
        return said["plan"]

    def _no_plan(self) -> EffioError:
        return environment_error(f"{self.path}: the plan cannot be read")

    def _json(self, text: str) -> object:
        try:
            found: object = msgspec.json.decode(text)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise self._no_plan() from None
        return found

    @staticmethod
    def refusal(benchmark: str, answer: Answer) -> EffioError:
        """A command line that the engine refused, in its own words."""
        message = answer.stderr.replace(
            "--plan-ranks", "--ranks"
        )  # that is effio's own word for them
        for prefix in ("effio-mpi: ", f"effio-mpi {benchmark}: "):
            message = message.removeprefix(prefix)
        lines = [line for line in message.splitlines() if not line.startswith("Try: ")]
        return EffioError(
            "\n".join(lines) or f"the engine refused this command with exit code {answer.code}",
            ExitCode(answer.code) if answer.code in set(ExitCode) else ExitCode.ENVIRONMENT,
            f"see: effio run {benchmark} --help",
        )
