# SPDX-License-Identifier: BSD-3-Clause
"""Darshan logs that something has changed: a profile, or refused with a message. Logs as bytes go
through their own process each, so most of the changes are of the counters behind them.
EFFIO_FUZZ_FILES=N: number of files."""

from __future__ import annotations

import importlib.util
import os
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from effio.errors import EffioError
from effio.profile.darshan import ALL_RANKS, Call, Log, Traced, read_log
from effio.profile.darshan_child import MAX_COUNT, MAX_SECONDS
from effio.profile.patterns import profile_of
from effio.profile.steps import imitate
from fuzz.mutate import change_bytes

FILES = int(os.environ.get("EFFIO_FUZZ_FILES", "60"))
LOGS = sorted((Path(__file__).parents[1] / "driver" / "darshan").glob("*.darshan"))
# What the process that reads a log lets through: no zero, nothing negative or beyond any machine.
STRANGE = (1, 2, 3, 4095, 2**31, 2**53, MAX_COUNT - 1, MAX_COUNT, 1e-320, 1e-9, 0.5, 1e15)

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("darshan") is None, reason="PyDarshan is not installed"
)


def _changed(log: Log, chance: random.Random) -> Log:
    """Counters and times become strange, records another rank's or file's, calls are added."""
    records = {
        module: [replace(record, counters=dict(record.counters)) for record in rows]
        for module, rows in log.records.items()
    }
    rows = [record for some in records.values() for record in some]
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(rows))
        counters = dict(rows[at].counters)
        name = chance.choice(sorted(counters) or ["OPENS"])
        if chance.random() < 0.2:
            counters.pop(name, None)
        else:
            counters[name] = chance.choice((*STRANGE, *counters.values()))
        rows[at] = replace(rows[at], counters=counters)
        match chance.randrange(6):
            case 0:
                rows[at] = replace(rows[at], rank=chance.choice((ALL_RANKS, 0, 1, 2**40, -7)))
            case 1:
                rows[at] = replace(rows[at], file=chance.choice(rows).file)
            case 2:
                rows.append(chance.choice(rows))
    modules = list(records)
    return replace(
        log,
        ranks=chance.choice((log.ranks, 1, 2**31)),
        seconds=chance.choice((log.seconds, log.seconds, 0.0, 1e-9, MAX_SECONDS)),
        records={m: rows[i :: len(modules)] for i, m in enumerate(modules)},
        traces=[_traced(chance.choice(rows).file, chance)] if chance.random() < 0.3 else (),
        names={} if chance.random() < 0.2 else log.names,
    )


def _traced(file: int, chance: random.Random) -> Traced:
    numbers = [n for n in STRANGE if isinstance(n, int)]
    calls = [
        Call(
            chance.choice(("write", "read")), chance.choice((0, *numbers)),
            chance.choice((0, *numbers)), *(float(chance.choice((0, *STRANGE))) for _ in "be"),
        )
        for _ in range(chance.randrange(9))
    ]  # fmt: skip
    return Traced(file, chance.choice((0, 1, ALL_RANKS)), calls)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.stem)
def test_counters_that_no_run_has_are_refused_or_understood(path: Path) -> None:
    log = read_log(path)
    imitate(profile_of(log))
    done: Counter[str] = Counter()
    for number in range(3 * FILES):
        chance = random.Random(f"{path.stem} {number}")
        try:
            imitate(profile_of(_changed(log, chance)))
            done["taken"] += 1
        except EffioError:
            done["refused"] += 1
        except Exception as error:
            raise AssertionError(f"seed '{path.stem} {number}': {error!r}") from error
    assert done["taken"] > FILES / 2
    assert done["refused"] > FILES / 10


def test_logs_of_changed_bytes_are_refused_or_understood(tmp_path: Path) -> None:
    file = tmp_path / "changed.darshan"
    said: list[str] = []
    for number in range(max(4, FILES // 10)):
        chance = random.Random(number)
        file.write_bytes(change_bytes(chance.choice(LOGS).read_bytes(), chance))
        try:
            imitate(profile_of(read_log(file)))
        except EffioError as error:
            said.append(str(error))
    # That would be the library's fault, not the file's.
    assert not [text for text in said if "does not work here" in text]
