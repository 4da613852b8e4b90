# SPDX-License-Identifier: BSD-3-Clause
"""Runs a launch to its end: feeds the live view, passes on a wish to stop, and ends what hangs.

The launcher gets its own session, so that Ctrl-C at the terminal reaches effio alone: Open MPI
would kill the ranks two seconds after its own Ctrl-C. effio sends SIGUSR1 instead; the engine
then stops at its next vote, cleans up and writes its `end` line.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from effio.errors import environment_error
from effio.launch.launchers import Launch
from effio.launch.live import LiveView, parse_status
from effio.store import safe_files
from effio.store.folder import PROGRESS, RESULT
from effio.store.safe_files import write_atomically

# Every process of a run carries this in its environment; nothing else does.
RUN_MARK = "EFFIO_RUN_MARK"

_TICK_SECONDS = 0.2
_PROGRESS_EVERY_SECONDS = 2.0
_GRACE_SECONDS = 5.0
_MAX_LOGGED_LINE = 1 << 20
# A rank that hangs in a call of a file system (FUSE, NFS) cannot leave, and its launcher waits.
_ENGINE_HANGS = ("effio: hung: ", "effio-mpi: hung: ")  # the sentinel of a rank; the run
_TO_LEAVE_SECONDS = 20.0
ENGINE_SAYS = "effio-mpi: "  # its last line, where a run did not end as "done"


@dataclass(frozen=True)
class Patience:
    """How long the driver waits, in seconds."""

    start: float = 600.0  # until the first sign of life: large jobs start slowly
    silence: float = 60.0  # afterwards: the engine's sentinel speaks each second
    whole: float | None = None  # a run that takes longer is asked to stop


@dataclass
class Outcome:
    """How the launcher ended. `code` is its exit code, negative for a signal."""

    code: int = 0
    seconds: float = 0
    interrupted: bool = False
    stop_wished: bool = False  # by the user, even if the run ended by itself
    out_of_time: float = 0  # its time limit in seconds if that was exceeded
    hung: str = ""  # why effio ended it, if it did
    engine_spoke: bool = False
    engine_hangs: bool = False  # as it said itself; it should leave then
    job_ended: str = ""  # the batch system's word for how the job ended
    log_lost: str = ""  # why a log is not complete
    last_words: list[str] = field(default_factory=list)  # of standard error, without progress
    # What came after the engine's own last message: launchers comment on exit codes at length.
    afterwords: list[str] = field(default_factory=list)


def processes_of(mark: str) -> list[int]:
    """Ids of the living processes on this machine that carry the mark."""
    wanted = f"{RUN_MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def end_processes(mark: str, grace: float = 2 * _GRACE_SECONDS) -> None:
    """Asks the processes of a run to stop, as the engine does in an orderly way, and ends what is
    left after `grace` seconds."""
    for pid in processes_of(mark):
        _send(pid, signal.SIGTERM)
    bury(mark, grace)


def bury(mark: str, grace: float = _GRACE_SECONDS) -> None:
    """Ranks may outlive their launcher for a moment; none may stay."""
    deadline = time.monotonic() + grace
    while (left := processes_of(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for pid in left:
        _send(pid, signal.SIGKILL)


class _Stream:
    """Reads one of the launcher's streams in a thread, so that the launcher never blocks on it."""

    def __init__(self, stream: IO[bytes], log: Path, lines: queue.SimpleQueue[str]) -> None:
        self._stream = stream
        self._log = log
        self._lines = lines
        self.lost = ""  # why the log is not complete
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        # Without a log the stream is read all the same: the engine would wait for us forever.
        with contextlib.ExitStack() as stack:
            log: IO[bytes] | None = None
            with self._noted():
                log = stack.enter_context(safe_files.updating(self._log, append=True))
            while line := self._stream.readline(_MAX_LOGGED_LINE):
                text = line.decode(errors="replace").rstrip("\n")
                # Progress is for the view; a log of it would grow by the second.
                if log is not None and not text.startswith('{"effio_progress"'):
                    with self._noted():
                        log.write(line)
                self._lines.put(text)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.lost = self.lost or f"{self._log.name}: {error.strerror}"


class Watch:
    """One run. `run` blocks until nothing of it is left."""

    def __init__(
        self,
        launch: Launch,
        directory: Path,
        mark: str,
        view: LiveView,
        patience: Patience | None = None,
        quiet: bool = False,
    ) -> None:
        self._launch = launch
        self._directory = directory
        self._mark = mark
        self._view = view
        self._patience = patience or Patience()
        self._quiet = quiet
        self._wishes = 0  # to stop, so far
        self._asked = False  # by the user
        self._kept = -_PROGRESS_EVERY_SECONDS  # when progress was last written down

    def run(self, base: Mapping[str, str] = os.environ) -> Outcome:
        output: queue.SimpleQueue[str] = queue.SimpleQueue()
        errors: queue.SimpleQueue[str] = queue.SimpleQueue()
        outcome = Outcome()
        # From before the start: a launcher whose start was interrupted would run on by itself.
        with stop_signals(self._count_request):
            process = self._start({**base, **self._launch.environment, RUN_MARK: self._mark})
            assert process.stdout is not None
            assert process.stderr is not None
            readers = (
                _Stream(process.stdout, self._directory / "stdout.log", output),
                _Stream(process.stderr, self._directory / "stderr.log", errors),
            )
            started = time.monotonic()
            self._attend(process, output, errors, outcome)
            for reader in readers:
                reader.thread.join(_GRACE_SECONDS)
            self._drain(output, errors, outcome)
        with contextlib.suppress(OSError):
            safe_files.remove(self._directory / PROGRESS)
        outcome.log_lost = next((reader.lost for reader in readers if reader.lost), "")
        outcome.code = process.returncode
        outcome.seconds = time.monotonic() - started
        outcome.interrupted = self._wishes > 0 and not outcome.out_of_time
        outcome.stop_wished = self._asked or outcome.interrupted
        return outcome

    def _start(self, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                list(self._launch.command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise environment_error(
                f"{self._launch.command[0]} cannot be started: {error.strerror}"
            ) from None

    def _count_request(self) -> None:
        self._wishes += 1
        self._asked = True

    def _attend(
        self,
        process: subprocess.Popen[bytes],
        output: queue.SimpleQueue[str],
        errors: queue.SimpleQueue[str],
        outcome: Outcome,
    ) -> None:
        """Until the launcher has ended and no process of the run is left."""
        silent = leaving = 0.0
        granted = 0
        last = started = time.monotonic()
        while process.poll() is None:
            heard = self._drain(output, errors, outcome)
            now = time.monotonic()
            # Not wall time: an effio that was stopped for a while must not blame the engine.
            passed = min(now - last, 2 * _TICK_SECONDS)
            silent = 0.0 if heard else silent + passed
            leaving = leaving + passed if outcome.engine_hangs else 0.0
            last = now
            self._view.tick()
            if self._view.reader_gone and not self._wishes:
                self._wishes = 1  # the rest would not be seen
            whole = self._patience.whole
            if whole and now - started > whole and outcome.engine_spoke and not self._wishes:
                self._wishes = 1
                outcome.out_of_time = whole
            if self._wishes > granted:
                granted = self._wishes
                if not self._grant(process, granted, outcome):
                    self._end(process)
                    break
            if leaving > _TO_LEAVE_SECONDS:
                outcome.hung = f"it was still there {_TO_LEAVE_SECONDS:.0f} s after its last word"
                self._view.message("a rank cannot leave: ending the job")
                self._end(process)
                break
            limit = self._patience.silence if outcome.engine_spoke else self._patience.start
            if silent > limit:
                outcome.hung = (
                    f"no word from the engine for {limit:.0f} s"
                    if outcome.engine_spoke
                    else f"the engine did not start within {limit:.0f} s"
                )
                self._view.message(f"{outcome.hung}: ending the job")
                self._end(process)
                break
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_TICK_SECONDS)
        bury(self._mark)

    def _drain(
        self,
        output: queue.SimpleQueue[str],
        errors: queue.SimpleQueue[str],
        outcome: Outcome,
    ) -> bool:
        """Passes on what has come; true if anything has."""
        heard = False
        while not output.empty():
            heard = outcome.engine_spoke = True
            line = output.get()
            if not self._quiet:
                self._view.output(line)
        while not errors.empty():
            heard = True
            line = errors.get()
            status = parse_status(line)
            if status is not None:
                outcome.engine_spoke = True
                self._view.status(status)
                self._keep_progress(line)
            elif outcome.last_words and outcome.last_words[-1].startswith(ENGINE_SAYS):
                outcome.afterwords.append(line)
            elif line:
                outcome.last_words = [*outcome.last_words[-19:], line]
                outcome.engine_hangs = outcome.engine_hangs or line.startswith(_ENGINE_HANGS)
                self._view.message(line)
        return heard

    def _keep_progress(self, line: str) -> None:
        """Keeps the progress for programs that read the folder meanwhile; losing it does no
        harm."""
        now = time.monotonic()
        if now - self._kept >= _PROGRESS_EVERY_SECONDS:
            self._kept = now
            with contextlib.suppress(OSError):
                # A sync would be one more on the storage that is measured.
                write_atomically(self._directory / PROGRESS, line + "\n", durable=False)

    def _grant(self, process: subprocess.Popen[bytes], wishes: int, outcome: Outcome) -> bool:
        """Asks the engine to stop; false if it is to be ended at once."""
        # Launchers hold lines back for a moment: the engine's result may be there before its words.
        started = outcome.engine_spoke or (self._directory / RESULT).exists()
        if wishes > 1 or not started:
            self._view.message("ending at once; the cell in work is lost")
            return False
        limit = outcome.out_of_time
        up = f"time limit of {limit:.0f} s reached: " if limit else ""
        self._view.message(
            f"{up}stopping after the call in work; what was measured is kept (again: stop at once)"
        )
        _send(process.pid, signal.SIGUSR1)
        return True

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """The launcher first, so that it can end ranks on other nodes; then whatever is left."""
        _send(process.pid, signal.SIGTERM)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class stop_signals:  # noqa: N801  reads as a statement
    """While active, signals that ask to stop are counted instead of raising. One that is ignored
    stays so: `nohup` asks for that, and a shell for its jobs in the background."""

    _numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)

    def __init__(self, wish: Callable[[], None]) -> None:
        self._wish = wish
        self._old: dict[signal.Signals, object] = {}

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self._wish()

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number in self._numbers:
            # The script of a job may ignore SIGUSR1 for itself: it is meant for effio.
            if number == signal.SIGUSR1 or signal.getsignal(number) != signal.SIG_IGN:
                self._old[number] = signal.signal(number, self._handle)

    def __exit__(self, *_: object) -> None:
        for number, old in self._old.items():
            # None: of a library that is loaded before Python (UCX takes SIGHUP); Python cannot
            # put that back.
            signal.signal(number, signal.SIG_DFL if old is None else old)  # type: ignore[arg-type]


@contextlib.contextmanager
def interrupts_wait() -> Iterator[None]:
    """A request to stop in this block raises KeyboardInterrupt at its end, where a process that was
    started in it is known."""
    wishes: list[bool] = []
    with stop_signals(lambda: wishes.append(True)):
        yield
    if wishes:
        raise KeyboardInterrupt
