# SPDX-License-Identifier: BSD-3-Clause
"""Campaign and site files, and expressions in them, that somebody has mistyped: refused with a
message, or understood; nothing else, and in little time. What a seed makes is the same everywhere:
EFFIO_FUZZ_FILES=N: number of files of each kind."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from effio.campaign.expression import ExpressionError, Known, NotYetKnownError, parse, template
from effio.campaign.file import path_of, shipped
from effio.campaign.order import Asked, study_of
from effio.config.site import load_site
from effio.engine.program import Engine as Program
from effio.errors import EffioError
from effio.launch.launchers import Ranks
from engines import Engine
from fuzz.mutate import change_bytes

FILES = int(os.environ.get("EFFIO_FUZZ_FILES", "60"))
MOST_SECONDS = 10.0  # of processor time; a hundred times what one takes

SITE = """\
[launch]
launcher = "openmpi"
options = ["--oversubscribe"]
engine = "/opt/effio/bin/effio-mpi"

[batch]
system = "slurm"
directives = ["--partition=short", "--exclusive"]
setup = ["module load openmpi"]
template = "job.sh"

[results]
runs = "~/results"
"""
STRANGE = (
    "0", "-1", "true", "9223372036854775807", "9223372036854775808", "1e308", "nan", "inf", '""',
    '"8EiB"', '"{"', '"{{a}} {b"', "[]", "[[1], []]", "{}", "{ a = 1 }", '"ranks * ranks ** 64"',
    '"\\u0000"', '"x"', '["1KiB", "1KiB"]', "1979-05-27", '"' + 5000 * "9" + '"', '"../.."',
)  # fmt: skip
TOKENS = (
    "ranks", "transfer", "tags", "m", "1", "0", "-3", "4KiB", "1e308", "9223372036854775807",
    "'x'", "nobody", "+", "-", "*", "/", "//", "%", "**", "(", ")", "[", "]", ",", "in", "not",
    "and", "or", "if", "else", "<", "==", "min", "multiple", "lambda", ":", ".", "{", "}", "5GiB",
)  # fmt: skip


def change(text: str, chance: random.Random) -> str:
    """A value becomes another, or something strange; a line is doubled, moved or left out; a word
    becomes one of another line."""
    lines = text.split("\n")
    values = [line.split("=", 1)[1] for line in lines if "=" in line]
    words = re.findall(r"[A-Za-z_]+", text)
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        name, sign, _value = lines[at].partition("=")
        match chance.randrange(6):
            case 0:
                del lines[at]
            case 1:
                lines.insert(chance.randrange(len(lines)), lines[at])
            case 2:
                lines[at] = re.sub(r"[A-Za-z_]+", chance.choice(words), lines[at], count=1)
            case _ if sign:
                value = chance.choice(STRANGE if chance.random() < 0.6 else values)
                lines[at] = f"{name}= {value}"
        if not lines:
            break
    return "\n".join(lines)


def tried(source: str, what: str, path: Path, use: Callable[[], object]) -> tuple[int, int]:
    """How many of the files made from the source were taken, and how many refused."""
    taken = refused = 0
    for number in range(FILES):
        seed = f"{what} {number}"
        chance = random.Random(seed)
        if chance.random() < 0.15:
            path.write_bytes(change_bytes(source.encode(), chance))
        else:
            path.write_text(change(source, chance), encoding="utf-8")
        begin = time.process_time()
        try:
            use()
            taken += 1
        except EffioError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed!r}: {error!r}") from error
        assert time.process_time() - begin < MOST_SECONDS, f"seed {seed!r}"
    return taken, refused


@pytest.mark.parametrize("name", shipped())
def test_mistyped_campaigns_are_refused_or_understood(
    name: str, any_engine: Engine, tmp_path: Path
) -> None:
    engine = Program(any_engine.program, "of the test")
    path = tmp_path / "campaign.toml"
    source = path_of(name).read_text()
    path.write_text(source)
    study_of(path, Asked(), engine, lambda: Ranks(4))
    _taken, refused = tried(
        source, name, path, lambda: study_of(path, Asked(), engine, lambda: Ranks(4))
    )
    assert refused > FILES / 10


def test_mistyped_site_files_are_refused_or_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "site.toml"
    monkeypatch.setenv("EFFIO_SITE", str(path))
    path.write_text(SITE)
    load_site()
    taken, refused = tried(SITE, "site", path, load_site)
    assert taken > FILES / 10
    assert refused > FILES / 10


def test_any_expression_is_a_value_or_refused() -> None:
    chance = random.Random(1)
    names: dict[str, Known] = {"transfer": "4MiB", "ranks": 4, "m": "coll", "tags": ("x", "y")}
    values = 0
    for number in range(100 * FILES):
        text = " ".join(chance.choice(TOKENS) for _ in range(chance.randint(1, 9)))
        begin = time.process_time()
        try:
            parse(text).value(names)
            values += 1
        except (ExpressionError, NotYetKnownError):
            pass
        except Exception as error:
            raise AssertionError(f"{number}: {text!r}: {error!r}") from error
        try:
            template(text).text(names)
        except (ExpressionError, NotYetKnownError):
            pass
        except Exception as error:
            raise AssertionError(f"{number}: template {text!r}: {error!r}") from error
        assert time.process_time() - begin < MOST_SECONDS, text
    assert values > FILES
