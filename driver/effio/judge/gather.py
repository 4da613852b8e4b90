# SPDX-License-Identifier: BSD-3-Clause
"""From words on the command line to the runs that are meant: a run, a result file, a campaign, the
runs of a tag ("tag:nightly"), a folder with runs anywhere in it (those of another site), several of
them joined by commas. The file of a campaign means the campaign."""

from __future__ import annotations

import contextlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol, TypeVar

from effio.campaign.expression import spelled
from effio.campaign.state import FOLDER, counting_of_unit, scale_of, series_name
from effio.config.toml_file import campaign_name, is_campaign
from effio.errors import EffioError
from effio.home import expanded
from effio.judge.samples import Identity, Judged, Side
from effio.store.all_runs import Store
from effio.store.answering import must_have_name
from effio.store.attempts import Attempt, attempts_in
from effio.store.campaign_part import CampaignPart
from effio.store.folder import RECORD, RESULT, RunFolder, reported_result

Attempts = Callable[[Store], Sequence[Attempt]]

MOST_RUNS = 20_000
_TAG = "tag:"
_PART = re.compile(r"^@?([A-Za-z0-9_.-]+):([A-Za-z][A-Za-z0-9_-]*)=(.+)$", re.DOTALL)
_LABELS = re.compile(r"^((?:[A-Za-z][A-Za-z0-9_-]*=[^,:=]*,?)+):(.+)$", re.DOTALL)


def result_files(folder: Path) -> Iterator[Path]:
    """The result files of all runs below a folder, in the order of their names."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        if RESULT in files:
            folders.clear()
            yield Path(place) / RESULT
        else:
            yield from (Path(place) / f for f in sorted(files) if is_engines(f))


def is_engines(name: str) -> bool:
    return name.startswith("effio-") and name.endswith(".jsonl")


def labelled(word: str) -> tuple[dict[str, str], str]:
    """Labels before a colon: "servers=4,system=B:RUN"."""
    found = _LABELS.match(word)
    if found is None or Path(word).exists():
        return {}, word
    pairs = (pair.partition("=") for pair in found[1].split(",") if pair)
    return {name: value for name, _, value in pairs}, found[2]


def campaign_word(word: str) -> str:
    """The name of the campaign that a word means if it means one: "quick" of "@quick", "weekly" of
    the file "study/weekly.toml"."""
    return campaign_name(Path(word)) if _is_campaign_file(word) else word.removeprefix("@")


def _is_campaign_file(word: str) -> bool:
    path = expanded(word)
    return path.suffix == ".toml" and path.is_file()


def is_place(word: str) -> bool:
    """Whether there is a result or a folder of this name, so that no campaign or tag is meant."""
    return expanded(word).exists() and not _is_campaign_file(word)


def campaign_names(store: Store) -> list[str]:
    """The names of campaigns that have been run; none where that cannot be read."""
    with contextlib.suppress(OSError):
        return sorted(file.parent.name for file in (store.root / FOLDER).glob("*/campaign.json"))
    return []


def campaigns_named(pattern: str, names: Iterable[str]) -> list[str]:
    """Campaigns of this name, with or without a start time; `*` matches any letters."""
    return [n for n in names if any(fnmatchcase(x, pattern) for x in (n, series_name(n)))]


def recorded_names(store: Store, attempts: Attempts = attempts_in) -> list[str]:
    """The names of all campaigns that runs here belong to, also where only the runs were copied and
    the campaign's folder was not. Needs the record of every run."""
    parts = (one.part for one in attempts(store))
    return sorted({part.name for part in parts if part is not None})


def campaign_meant(word: str, store: Store) -> str | None:
    """The campaign of this name; of one that each call measures afresh, the newest call."""
    return _meant(word, campaign_names(store))


def copied_campaign(word: str, store: Store, attempts: Attempts = attempts_in) -> str | None:
    """As `campaign_meant`, for runs that were copied without their campaign's folder."""
    return _meant(word, recorded_names(store, attempts))


def _meant(word: str, names: Sequence[str]) -> str | None:
    name = campaign_word(word)
    calls = [n for n in names if series_name(n) == name]
    return name if name in names else max(calls, default=None)


def counting(
    attempts: Iterable[Attempt], wanted: Callable[[Attempt], bool], every: bool = False
) -> list[Attempt]:
    """Those that are wanted and have a result; of a campaign's runs, unless `every` is wanted, the
    attempts that count, one for each point and repetition."""
    found: dict[tuple[object, ...], list[Attempt]] = {}
    for one in attempts:
        if wanted(one):
            part = None if every else one.part
            unit = unit_of(part) if part else (one.id,)
            found.setdefault(unit, []).append(one)
    chosen = map(counting_of_unit, found.values())
    return [one for one in chosen if one is not None and one.has_result]


def unit_of(part: CampaignPart) -> tuple[object, ...]:
    """The point of a campaign in one of its repetitions, at which there may be several attempts."""
    return part.name, part.step, part.point, part.repetition


def counting_of(attempts: Iterable[Attempt], campaign: str, every: bool = False) -> list[Attempt]:
    """The attempts of a campaign that count; with `every` all that have a result, of every call of
    a campaign that measures anew each time."""

    def wanted(one: Attempt) -> bool:
        part = one.part
        return part is not None and campaign in (
            part.name,
            series_name(part.name) if every else part.name,
        )

    return counting(attempts, wanted, every)


def part_of_campaign(
    word: str, store: Store, attempts: Attempts = attempts_in
) -> tuple[str, str, str] | None:
    """Splits "CAMPAIGN:AXIS=VALUE" into campaign, axis and value."""
    found = _PART.match(word)
    if found is None:
        return None
    campaign = campaign_meant(found[1], store) or copied_campaign(found[1], store, attempts)
    if campaign is None:
        return None
    value = found[3]
    return (
        campaign,
        found[2],
        str(expanded(value).absolute()) if found[2] == "dir" else value,
    )


def files_of(word: str, store: Store, attempts: Attempts = attempts_in) -> list[Path]:
    """Results that a word means. `attempts`: the runs of the store, from their files or from its
    index."""
    return [_file_of(one) for one in _meant_by(word, store, attempts)]


def _file_of(one: Path | Attempt) -> Path:
    return one.folder.result_path if isinstance(one, Attempt) else one


def _meant_by(word: str, store: Store, attempts: Attempts) -> Sequence[Path | Attempt]:
    """Runs of the store where a word means several of them, and other results."""
    must_have_name(word)
    path = expanded(word)
    if not is_place(word) and (name := campaign_meant(word, store)) is not None:
        return counting_of(attempts(store), name)
    if not path.exists() and word.startswith(_TAG):
        return counting(attempts(store), lambda one: word.removeprefix(_TAG) in one.tags)
    if path.is_dir() and not (path / RESULT).is_file() and not (path / RECORD).is_file():
        return list(result_files(path))
    if not path.exists() and "," in word:
        return [one for part in word.split(",") if part for one in _meant_by(part, store, attempts)]
    if not path.exists() and (part := part_of_campaign(word, store, attempts)) is not None:
        campaign, axis, value = part

        def wanted(one: Attempt) -> bool:
            of = one.part
            if of is None or of.name != campaign or axis not in of.axes:
                return False
            return value in (spelled(of.axes[axis]), str(of.axes[axis]))

        return counting(attempts(store), wanted)
    try:
        found = store.find(word)
    except EffioError:
        copied = copied_campaign(word, store, attempts)
        if copied is None and _is_campaign_file(word) and is_campaign(path):
            raise EffioError(
                f"no run in {store.root} belongs to the campaign '{campaign_word(word)}'",
                hint=f"effio run {word} measures it",
            ) from None
        if copied is None:
            raise
        return counting_of(attempts(store), copied)
    return [found.result_path if isinstance(found, RunFolder) else found]


_Run = TypeVar("_Run", bound="Gathered")


class Gathered(Protocol):
    """A run that was named on the command line: what it is sorted by and distinguished by."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> Path: ...
    @property
    def started(self) -> str: ...
    @property
    def identity(self) -> Identity: ...
    def named(self: _Run, name: str) -> _Run: ...


def judged(
    words: Sequence[str], store: Store, report: Callable[[str], None] = lambda _: None
) -> list[Judged]:
    """The runs that the words mean, by the time of their start. A file that cannot be read is
    reported and left out, unless it was named itself."""
    return gathered(words, store, report, read_source)


def read_source(source: Path | Attempt, labels: Mapping[str, str]) -> Judged:
    return read_run(_file_of(source), labels)


def gathered(
    words: Sequence[str],
    store: Store,
    report: Callable[[str], None],
    read: Callable[[Path | Attempt, Mapping[str, str]], _Run],
    attempts: Attempts = attempts_in,
) -> list[_Run]:
    """As `judged`. `read` makes a run of a result file, or of a run of the store, and the labels
    that were given with it."""
    found: dict[str, _Run] = {}
    above = str(store.root / RESULT).removesuffix(RESULT)
    for word in words:
        labels, name = labelled(word)
        sources = _meant_by(name, store, attempts)
        for source in sources:
            if len(found) > MOST_RUNS:
                raise too_many()
            place = f"{above}{source.id}/{RESULT}" if isinstance(source, Attempt) else str(source)
            try:
                found[place] = read(source, labels)
            except EffioError as error:
                if len(sources) == 1:
                    raise
                report(f"left out: {error.message}")
        if not sources:
            raise EffioError(f"there is no run in {name}")
    runs = sorted(found.values(), key=lambda run: (run.started, run.name))
    return _distinct(without_copies(runs, report))


def too_many() -> EffioError:
    return EffioError(f"more than {MOST_RUNS} runs")


def without_copies(runs: Sequence[_Run], report: Callable[[str], None]) -> list[_Run]:
    """A copied run is not another repetition."""
    first: dict[str, _Run] = {}
    kept = []
    for run in runs:
        same = next((first[one] for one in run.identity.same if one in first), None)
        if same is not None:
            report(f"left out: {run.path} is a copy of {same.path}")
            continue
        for one in run.identity.known:
            first.setdefault(one, run)
        kept.append(run)
    return kept


def labels_of(part: CampaignPart | None) -> dict[str, str]:
    """The axes of a campaign's point, as its file has them: false, not False."""
    return {axis: spelled(value) for axis, value in part.axes.items()} if part is not None else {}


def name_of(file: Path) -> str:
    """The name of the run of a result file."""
    return file.resolve().parent.name if file.name == RESULT else file.name


def read_run(file: Path, labels: Mapping[str, str]) -> Judged:
    in_folder = file.name == RESULT
    if in_folder and not file.exists():
        raise RunFolder(file.parent).no_result()
    result = reported_result(file)
    axes = labels_of(result.part)
    return Judged(name_of(file), file.parent if in_folder else file, result, {**axes, **labels})


def _distinct(runs: Sequence[_Run]) -> list[_Run]:
    """Two sites may have runs of one name."""
    times = Counter(run.name for run in runs)
    return [run if times[run.name] == 1 else run.named(str(run.path)) for run in runs]


def side(
    word: str,
    store: Store,
    report: Callable[[str], None] = lambda _: None,
    attempts: Attempts = attempts_in,
) -> Side:
    """Named as the user named it, without the folders above."""
    runs = gathered([word], store, report, read_source, attempts)
    label = labelled(word)[1].rstrip("/")
    part = part_of_campaign(label, store, attempts)
    parts = [run.result.part for run in runs]
    names = sorted({part.name for part in parts if part is not None})
    campaign = campaign_meant(label, store) or _meant(label, names)
    if campaign is not None and not is_place(label):
        name = campaign
    elif label.startswith(_TAG) or part:
        name = label.removeprefix("@")
    elif Path(label).is_dir():
        name = Path(label).resolve().name
    else:
        name = runs[0].name + (f" and {len(runs) - 1} more" if len(runs) > 1 else "")
    return Side(name, runs)


def scales_text(runs: Iterable[Judged]) -> str:
    """That a campaign was shrunk and so measured less than its steps are named for; empty if none
    was."""
    campaigns = {
        (run.path.parent, part.name) for run in runs if (part := run.result.part) is not None
    }
    scales = sorted({scale_of(Store(root), name) for root, name in campaigns} - {1.0})
    return "; ".join(f"measured at --scale {scale:g}, not as asked" for scale in scales)
