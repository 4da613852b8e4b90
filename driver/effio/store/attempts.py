# SPDX-License-Identifier: BSD-3-Clause
"""A run as an attempt at a point of a campaign: whether it was finished, and whether its files are
still those that it was sealed with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from effio.errors import ExitCode
from effio.store.all_runs import Store
from effio.store.campaign_part import CampaignPart
from effio.store.folder import RESULT, RunFolder

# Attempts that the index knows take nothing of these.
if TYPE_CHECKING:
    from effio.store.reader import Result, ResultError
    from effio.store.run_record import Outcome, RunRecord

_FINISHED = (ExitCode.DONE, ExitCode.DATA_ERRORS)


def damage_by(
    folder: RunFolder,
    state: str,
    outcome: Outcome | Ending | None,
    result: Result | ResultError,
    sealed: Sequence[tuple[str, str]],
    known: Mapping[str, str] | None = None,
) -> str:
    """What is wrong with a run that was finished once: its result is gone or cut, or no longer has
    its checksum. Nothing of a run that is whole, or never was finished. `sealed`: as the folder
    says it. `known`: checksums of files as they are."""
    from effio.store.reader import ResultError

    if state == "newer":
        return ""
    if state == "done":
        changed = folder.changed(sealed, known)
        return f"{', '.join(changed)}: not as sealed (SHA256SUMS)" if changed else ""
    if outcome is None or outcome.exit_code not in _FINISHED:
        return ""
    if isinstance(result, ResultError):
        return result.message
    return f"its result is not complete ({result.status})"


class Attempt:
    """What decides whether a run counts, read from its files when it is first needed."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    @property
    def folder(self) -> RunFolder:
        return self._folder

    @property
    def id(self) -> str:
        return self._folder.id

    @property
    def has_result(self) -> bool:
        return self._folder.has_result

    @property
    def has_record(self) -> bool:
        return self._record is not None

    @property
    def part(self) -> CampaignPart | None:
        return self._record.campaign if self._record is not None else None

    @property
    def outcome(self) -> Outcome | Ending | None:
        return self._record.outcome if self._record is not None else None

    @property
    def tags(self) -> Sequence[str]:
        from effio.store.notes import tags_of

        return tags_of(self._record, self.folder.notes())

    @property
    def state(self) -> str:
        return self._found[0]

    @property
    def damage(self) -> str:
        return self._found[1]

    @cached_property
    def _record(self) -> RunRecord | None:
        return self.folder.record()

    @cached_property
    def _found(self) -> tuple[str, str]:
        """State and damage; the result, which may be large, is not kept."""
        from effio.store.reader import ResultError

        result: Result | ResultError
        digest = hashlib.sha256()
        try:
            result = self.folder.result(digest)
        except ResultError as error:
            result = error
        state = self.folder.state_by(result, self._record)
        sealed = self.folder.sealed() if state == "done" else []
        known = {RESULT: digest.hexdigest()}
        return state, damage_by(self.folder, state, self.outcome, result, sealed, known)


class Ending(Struct, frozen=True, array_like=True):
    """How a run ended, as the index keeps it. Not a pydantic model, because a large store has
    thousands."""

    status: str
    exit_code: int
    reason: str


class Facts(Struct, frozen=True):
    """What the index keeps of an attempt, as values of JSON. `options` of a run of a campaign are
    left out: its axes say what it did."""

    part: CampaignPart | None = None
    tags: Sequence[str] = ()
    has_record: bool = False
    has_result: bool = False
    outcome: Ending | None = None
    damage: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def facts_of(
    folder: RunFolder,
    state: str,
    result: Result | ResultError,
    sealed: Sequence[tuple[str, str]],
    known: Mapping[str, str],
) -> dict[str, Any]:
    """The members of `Facts`. `result` is as reported, `sealed` and `known` as in `damage_by`."""
    from effio.store.notes import tags_of
    from effio.store.reader import Result

    record = result.record if isinstance(result, Result) else folder.record()
    said = result.notes if isinstance(result, Result) else folder.notes()
    part = record.campaign if record is not None else None
    outcome = record.outcome if record is not None else None
    return {
        "part": vars(part) if part is not None else None,
        "tags": tags_of(record, said),
        "has_record": record is not None,
        "has_result": folder.has_result,
        "outcome": (outcome.status, outcome.exit_code, outcome.reason) if outcome else None,
        "damage": damage_by(folder, state, outcome, result, sealed, known),
        "options": result.run.options if isinstance(result, Result) and part is None else {},
    }


class KnownAttempt(Attempt):
    """An attempt whose files need not be read. Of ten thousand few need objects for their paths."""

    def __init__(self, root: Path, name: str, state: str, facts: Facts) -> None:
        self._place = root, name
        self._known = state, facts

    @property
    def folder(self) -> RunFolder:
        root, name = self._place
        return RunFolder(root / name)

    @property
    def id(self) -> str:
        return self._place[1]

    @property
    def has_result(self) -> bool:
        return self._known[1].has_result

    @property
    def has_record(self) -> bool:
        return self._known[1].has_record

    @property
    def part(self) -> CampaignPart | None:
        return self._known[1].part

    @property
    def outcome(self) -> Ending | None:
        return self._known[1].outcome

    @property
    def tags(self) -> Sequence[str]:
        return self._known[1].tags

    @property
    def options(self) -> Mapping[str, Any]:
        return self._known[1].options

    @property
    def state(self) -> str:
        return self._known[0]

    @property
    def damage(self) -> str:
        return self._known[1].damage


def attempts_in(store: Store) -> list[Attempt]:
    """All runs, the newest last."""
    return [Attempt(folder) for folder in store.folders()]
