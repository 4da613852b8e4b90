# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a campaign: its runs, which are runs like any other and the only truth about what
is done, and next to them a folder with what it was called with, the points it had, and who is at
work on it.

RUNS/<time>-<benchmark>-<campaign>-<step>-<point>-r<repetition>   a run; a second attempt is one
more folder RUNS/campaigns/<campaign>/campaign.json, campaign.toml, lock
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from effio.errors import EffioError, ExitCode, results_error
from effio.store import folder as store
from effio.store import safe_files
from effio.store.all_runs import Store
from effio.store.attempts import Attempt
from effio.store.folder import RunFolder

if TYPE_CHECKING:
    from effio.campaign.called import Called
    from effio.campaign.points import Point, Unit
    from effio.store.campaign_part import CampaignPart

FOLDER = "campaigns"
_CALLED = "campaign.json"
_FILE = "campaign.toml"
_LOCK = "lock"
_STARTED = re.compile(r"^\d{8}T\d{6}Z-")
_ATTEMPT = re.compile(r"\d{8}T\d{6}Z-(.+-[0-9a-f]{8}(?:[0-9a-f]{8})?-r\d+)(?:-(\d+))?")

UnitState = Literal["to do", "done", "failed"]
# States of a run that is done unless it is damaged.
_WHOLE = ("done", "newer")
# What the next call does again without being asked: nothing was wrong with the point itself.
_AGAIN = frozenset({ExitCode.INTERRUPTED, ExitCode.ENVIRONMENT, ExitCode.RESULTS})


def series_name(campaign: str) -> str:
    """The name without the start time, which each call of a campaign with `afresh` has in its
    own."""
    return _STARTED.sub("", campaign)


@dataclass(frozen=True)
class Changes:
    """Changes of a campaign between two calls: titles of new points and of removed ones."""

    new: Sequence[str] = ()
    gone: Sequence[str] = ()


class CampaignFolder:
    """`room`: that of other things made of many runs, which are locked in the same way."""

    def __init__(self, runs: Store, name: str, room: str = FOLDER) -> None:
        self.runs = runs
        self.name = name
        self.room = room
        self.path = runs.root / room / name

    def called(self) -> Called | None:
        """None if it is new. Raises if what is there cannot be read."""
        from effio.campaign.called import Called

        file = self.path / _CALLED
        try:
            return Called.model_validate(
                safe_files.json_of(safe_files.read_text(file, below=self.runs.root))
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            hint = "its runs do not need it; move the file away"
            raise safe_files.unreadable(file, error, hint) from None

    def keep(self, called: Called, text: str) -> None:
        new = not self.is_kept
        try:
            safe_files.make_directories(self.path, self.runs.root)
            root = self.runs.root
            safe_files.write_atomically(self.path / _FILE, text, below=root)
            written = safe_files.json_text(called.model_dump(by_alias=True), indent=2)
            safe_files.write_atomically(self.path / _CALLED, written + "\n", below=root)
        except OSError as error:
            if new:
                with contextlib.suppress(OSError):
                    safe_files.remove(self.path / _FILE, self.runs.root)
            raise results_error(self.path, error, new) from None

    @property
    def is_kept(self) -> bool:
        """Whether an earlier call has kept what it was called with."""
        return os.path.lexists(self.path / _CALLED)

    def label(self, unit: Unit) -> str:
        return f"{self.name}-{unit.label}"

    def attempts(self, without: Container[str] = ()) -> dict[str, list[RunFolder]]:
        """The attempts of every "<benchmark>-<label>", the oldest first, without those of these
        ids."""
        found: dict[str, list[tuple[str, int, RunFolder]]] = {}
        try:
            names = os.listdir(self.runs.root)  # noqa: PTH208  ten thousand names, no objects
        except OSError:
            return {}
        for name in names:
            parts = None if name in without else _ATTEMPT.fullmatch(name)
            if parts is not None:
                one = (name[:16], int(parts[2] or 1), RunFolder(self.runs.root / name))
                found.setdefault(parts[1], []).append(one)
        return {
            key: [folder for *_, folder in sorted(those, key=lambda t: t[:2])]
            for key, those in found.items()
        }

    def open_jobs(self, known: Mapping[str, Attempt] | None = None) -> list[RunFolder]:
        """This campaign's runs that were made as jobs and whose end is not known yet. `known`:
        attempts by the ids of their folders, which need not be read."""
        found = []
        over = {name for name, one in (known or {}).items() if one.outcome is not None}
        for attempt in self.own_attempts(over):
            record = attempt.record()
            if record is None or record.batch is None or record.outcome is not None:
                continue
            if record.campaign is not None and record.campaign.name == self.name:
                found.append(attempt)
        return found

    def own_attempts(self, without: Container[str] = ()) -> Iterator[RunFolder]:
        """Attempts whose names have the campaign's; a few may belong to a campaign of a similar
        name. Without those of these ids."""
        for key, attempts in self.attempts(without).items():
            if f"-{self.name}-" in key:
                yield from attempts

    def states(
        self, units: Sequence[Unit], known: Mapping[str, Attempt] | None = None
    ) -> dict[str, tuple[UnitState, RunFolder | None]]:
        """The state of each label, with the attempt that counts. `known` as for `open_jobs`."""
        attempts = self.attempts()
        once = {unit.label: unit for unit in units}.values()
        return {unit.label: state_of(self.attempts_of(unit, attempts), known) for unit in once}

    def attempts_of(
        self, unit: Unit, attempts: Mapping[str, Sequence[RunFolder]]
    ) -> list[RunFolder]:
        """The attempts at this unit, the oldest first. Two points can share the short id of old
        names, so a run of such a name also has to have the axes of the point."""
        benchmark = unit.point.step.benchmark
        now = attempts.get(f"{benchmark}-{self.label(unit)}", ())
        old = attempts.get(f"{benchmark}-{self.name}-{unit.old_label}", ())
        if not old:
            return list(now)
        axes = json.loads(json.dumps(unit.point.axes))
        return [
            *(
                one
                for one in old
                if (part := _part_of(one)) is not None and (unit.point.late or part.axes == axes)
            ),
            *now,
        ]

    @contextlib.contextmanager
    def locked(self, take_over: bool = False) -> Iterator[None]:
        """Only one driver at a time works on a campaign; raises with the process that does. A new
        folder is removed at the end if nothing is kept in it."""
        new = safe_files.missing_directories(self.path)
        try:
            with self._held(take_over):
                yield
        except BaseException:
            if new:
                with contextlib.suppress(OSError):
                    if os.listdir(self.path) == [_LOCK]:  # noqa: PTH208
                        safe_files.remove(self.path / _LOCK, self.runs.root)
                safe_files.remove_empty(new)
            raise

    @contextlib.contextmanager
    def _held(self, take_over: bool) -> Iterator[None]:
        kept = self.is_kept
        with contextlib.ExitStack() as stack:
            try:
                safe_files.make_directories(self.path, self.runs.root)
                lock = safe_files.updating(self.path / _LOCK, self.runs.root)
                handle = stack.enter_context(lock).fileno()
            except OSError as error:
                raise results_error(self.path, error, not kept) from None
            self._take(handle, take_over)
            try:
                os.ftruncate(handle, 0)
                os.pwrite(handle, json.dumps(store.this_process()).encode(), 0)
                os.fsync(handle)
            except OSError as error:
                raise results_error(self.path, error, not kept) from None
            try:
                yield
            finally:
                os.ftruncate(handle, 0)

    def _take(self, handle: int, take_over: bool) -> None:
        """The system's lock where there is one: it goes with its process, however that ends. A file
        system without locks, or with such of one node only, shows by who wrote his name into the
        file."""
        free, ours = True, True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            free, ours = error.errno not in (errno.EWOULDBLOCK, errno.EACCES), False
        try:
            holder = json.loads(os.pread(handle, 4096, 0) or b"{}")
        except ValueError:
            holder = {}
        holder = holder if isinstance(holder, dict) else {}
        # Among processes of one machine the lock of the system is enough.
        here = ours and holder.get("host") == os.uname().nodename
        if free and (not holder or take_over or here or not store.is_alive(holder)):
            return
        who = f"process {holder.get('pid', '?')} on {holder.get('host', 'an unknown host')}"
        hint = "wait for its end, or stop it"
        if free:
            hint = "if it is gone for sure, say so with --take-over"
        what = f"{self.room.removesuffix('s')} {self.name}"
        raise EffioError(f"{what} is locked by {who}", ExitCode.USAGE, hint)


def damage_of(folder: RunFolder) -> str:
    """What is wrong with a run that was finished once (store/attempts.py)."""
    return Attempt(folder).damage


def state_of(
    attempts: Sequence[RunFolder], known: Mapping[str, Attempt] | None = None
) -> tuple[UnitState, RunFolder | None]:
    """The state, from the files of the attempts, or what is known of them. What was done once, and
    is complete, is done."""
    state, counting = state_by([(known or {}).get(one.id) or Attempt(one) for one in attempts])
    return state, counting.folder if counting is not None else None


def state_by(attempts: Sequence[Attempt]) -> tuple[UnitState, Attempt | None]:
    damage = ""
    for one in attempts:
        damage = one.damage
        if one.state in _WHOLE and not damage:
            return "done", one
    if damage:
        return "to do", attempts[-1]
    last = next((one for one in reversed(attempts) if one.has_record), None)
    if last is None or last.outcome is None:
        return "to do", last
    again = ExitCode.of_status(last.outcome.status) in _AGAIN
    return ("to do" if again or last.outcome.exit_code in _AGAIN else "failed"), last


def counting_of_unit(attempts: Sequence[Attempt]) -> Attempt | None:
    """The attempt that counts. Of a single one it does not matter whether its files are damaged,
    so that they need not be compared."""
    if len(attempts) > 1:
        return state_by(attempts)[1]
    (one,) = attempts
    return one if one.state in _WHOLE or one.has_record else None


def end_of(attempt: Attempt) -> tuple[ExitCode, str]:
    """How a run ended, and why."""
    from effio.store.reader import ResultError

    if attempt.outcome is not None:
        return ExitCode.of_number(attempt.outcome.exit_code), attempt.outcome.reason
    try:
        return ExitCode.of_status(attempt.folder.result().status), ""
    except ResultError as error:
        return ExitCode.IO_ERROR, error.message


def _part_of(folder: RunFolder) -> CampaignPart | None:
    record = folder.record()
    return record.campaign if record is not None else None


def changes(before: Called | None, points: Sequence[Point]) -> Changes:
    if before is None:
        return Changes()
    now = {point.id: point.title for point in points}
    # As an effio with short ids kept them.
    old = {(point.short_id, point.title): point.id for point in points}
    known = {old.get((point, title), point): title for point, title in before.points.items()}
    return Changes(
        [title for point, title in now.items() if point not in known],
        [title for point, title in known.items() if point not in now],
    )


def scale_of(store: Store, campaign: str) -> float:
    """The factor by which a campaign shrank its sizes, counts and times."""
    try:
        called = CampaignFolder(store, campaign).called()
    except EffioError:  # of another version of effio
        return 1.0
    return called.scale if called is not None else 1.0
