# SPDX-License-Identifier: BSD-3-Clause
"""Results whose times are not what an engine writes: of another program, or edited. Such a time is
not known, and no command ends in a traceback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from driver import made
from driver.conftest import Effio
from effio.report.common.system import seconds_of
from effio.store.reader import read_result

ODD = (
    "garbage", "2026-02-30T00:00:00Z", "99999-01-01T00:00:00Z", "0000-00-00T00:00:00Z",
    "2026-12-01", "2026-12-01T02:38:23", "\uff12\uff10\uff12\uff16-12-01T00:00:00Z", "\u2028",
    "2026-12-01T25:61:61Z", "9" * 300, "2026-12-01T00:00:00+25:00", "9999-12-31T23:59:59-23:59",
)  # fmt: skip


def _written(place: Path, started: str) -> Path:
    form = re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", started)
    lines = [made.run_line(benchmark="io-bench", started=started),
             made.figure("io_bench", 1e8, benchmark="io-bench"),
             made.end()]  # fmt: skip
    return made.write(place, made.numbered(lines), form is None)


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("2026-12-01T02:38:23Z", "2026-12-01T02:38:23Z"),
        ("2026-12-01T02:38:23+02:00", "2026-12-01T00:38:23Z"),
        *((odd, "") for odd in ODD),
    ],
    ids=ascii,
)
def test_a_start_is_a_time_in_utc_or_not_known(given: str, known: str, tmp_path: Path) -> None:
    path = _written(tmp_path / "r.jsonl", given)
    assert read_result(path).run.started == known


def test_an_end_without_a_zone_gives_no_duration(tmp_path: Path) -> None:
    path = _written(tmp_path / "r.jsonl", "2026-11-20T12:00:00Z")
    assert seconds_of(read_result(path)) == 60.0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[-1]["detail"]["finished"] = "2026-11-20T12:01:00"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert seconds_of(read_result(path)) is None


@pytest.mark.parametrize("odd", ["garbage", "2026-12-01", "2026-12-01T02:38:23"])
def test_no_command_fails_at_an_odd_time(odd: str, effio: Effio) -> None:
    """`trend`, `show`, `compare` and `bundle` ended in tracebacks."""
    runs = effio.cwd / "effio-runs"
    for number, started in enumerate(["2026-12-01T02:38:23Z", odd]):
        _written(runs / f"20261201T00000{number}Z-a" / "result.jsonl", started)
    named = "20261201T000001Z-a"
    for words, code in (
        (("runs",), 0),
        (("show", named), 0),
        (("report", named, "-o", "r.html"), 0),
        (("compare", named, "20261201T000000Z-a"), 0),
        (("table",), 0),
        (("trend", named), 2),
        (("trend", runs), 0),
        (("trend", runs, "-o", "t.html"), 0),
        (("bundle", named, "-o", "b"), 0),
        (("export", named), 0),
    ):
        done = effio.call(*words)
        assert done.returncode == code, (words, done.stderr)
    assert (
        "1 run left out: the number is not valid or missing, or the start of the run"
        in " ".join(effio.call("trend", runs).stdout.split())
    )
