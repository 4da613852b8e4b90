# SPDX-License-Identifier: BSD-3-Clause
"""The form of `effio profile`: a blank one, what is refused, and the questions on the terminal."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from driver.conftest import Effio
from driver.profiles import ACTIVITY, HEAD, MIB
from driver.profiles import activity as _activity
from driver.profiles import profile as _profile
from effio.errors import EffioError
from effio.profile import form
from effio.profile.model import Activity, Names, Phase, Profile
from effio.profile.questions import AnswerError, answer, questions


def test_the_blank_form_filled_in_is_read_back(tmp_path: Path) -> None:
    values = {
        "application": '"code"', "ranks": "64", "seconds": '"2h"', "name": '"dump"',
        "access": '"write"', "library": '"hdf5"', "files": '"shared"', "bytes": '"64GiB"',
    }  # fmt: skip
    text = form.blank()
    for name, value in values.items():
        assert text.count(f'\n{name} = ""') == 1
        text = text.replace(f'\n{name} = ""', f"\n{name} = {value}")
    # A question that may stay unanswered has a default that is right.
    text = text.replace("\n# io_share = 0.1", "\nio_share = 0.1")
    text = text.replace('\n# transfer = "1MiB"', '\ntransfer = "1MiB"')
    path = tmp_path / "f.toml"
    path.write_text(text)
    found = form.load(path)
    assert (found.application, found.ranks, found.seconds) == ("code", 64, 7200)
    assert found.io_share == 0.1
    (one,) = found.activity
    assert (one.bytes, one.transfer, one.library) == (64 << 30, MIB, "hdf5")


def test_every_key_of_the_blank_form_is_one(tmp_path: Path) -> None:
    lines = [line.removeprefix("# ") for line in form.blank().splitlines() if " = " in line]
    keys = {line.partition(" = ")[0] for line in lines}
    for model in (Profile, Activity, Names):
        assert {q.name for q in questions(model)} <= keys
    filled = [x.replace('""', '"x"') for x in lines]
    path = tmp_path / "f.toml"
    path.write_text("\n".join(filled[:5]))
    with pytest.raises(EffioError) as failed:
        form.load(path)
    assert "unknown key" not in failed.value.message


def test_the_blank_form_says_what_is_not_filled_in(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(form.blank())
    with pytest.raises(EffioError) as failed:
        form.load(path)
    lines = failed.value.message.splitlines()
    assert [line.split("'")[1] for line in lines] == [
        "application", "ranks", "seconds", "name", "access", "library", "files", "bytes",
    ]  # fmt: skip
    at = form.blank().splitlines().index('library = ""') + 1
    assert f"{path}:{at}:1: 'library' is not filled in" in lines


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    profile = _profile(
        _activity(layout="strided", piece=4096, collective=0.5, times=3, variables=2, flush=False),
        _activity(name="in", access="read", files="per-process", ranks=4, aligned=1.0),
        io_share=0.25,
        names=Names(creates=7, own_directories=True),
        phase=(Phase(access="write", begin=0.5, end=2.0, bytes=10),),
        unknown=("this and that",),
    )
    path = tmp_path / "f.toml"
    path.write_text(form.filled(profile))
    assert form.load(path) == profile


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (HEAD.replace("ranks", "rank") + ACTIVITY, "2:1", "'rank'; did you mean 'ranks'?"),
        (HEAD + ACTIVITY.replace("posix", "posx"), "7:1", "did you mean 'posix'?"),
        (HEAD + ACTIVITY.replace('"16MiB"', "true"), "9:1", "bytes: a size is not true or false"),
        (HEAD + ACTIVITY.replace("16MiB", "16 M"), "9:1", "'16 M' is not a size"),
        (HEAD + ACTIVITY.replace('"16MiB"', "-1"), "9:1", "greater than 0"),
        (HEAD + ACTIVITY.replace('"16MiB"', '"5000PiB"'), "9:1", "less than or equal to"),
        (HEAD + ACTIVITY.replace('"16MiB"', "[1]"), "9:1", "bytes: "),
        (HEAD + ACTIVITY + "times = 0\n", "10:1", "times: "),
        (HEAD + ACTIVITY + 'times = "2"\n', "10:1", "a whole number is meant, without quotes"),
        (HEAD + ACTIVITY + "times = 1.5\n", "10:1", "times: "),
        (HEAD + ACTIVITY + "flush = 1\n", "10:1", "flush: "),
        (HEAD + ACTIVITY + "collective = 1.5\n", "10:1", "less than or equal to 1"),
        (HEAD + ACTIVITY + "collective = nan\n", "10:1", "collective: "),
        (HEAD + ACTIVITY + 'transfer = "1GiB"\n', "4:1", "a call moves more than all"),
        (HEAD + ACTIVITY + "ranks = 9\n", "", "out: 9 processes of 8"),
        (HEAD + ACTIVITY + ACTIVITY, "", "two activities have the name 'out'"),
        (HEAD + ACTIVITY.replace('bytes = "16MiB"', ""), "4:1", "'bytes' is missing"),
        (HEAD + "[names]\ncraetes = 1\n", "5:1", "did you mean 'creates'?"),
        (HEAD + "[names]\ncreates = true\n", "5:1", "creates: "),
        (HEAD, "", "no I/O to imitate"),
        ("activity = 3\n" + HEAD, "1:1", "activity: "),
        ("names = []\n" + HEAD, "1:1", "names: "),
        (HEAD.replace('"1h"', '"one"') + ACTIVITY, "3:1", "'one' is not a time"),
        (HEAD.replace('"1h"', "inf") + ACTIVITY, "3:1", "seconds: "),
        (HEAD + 'schema = "effio-profile/9"\n' + ACTIVITY, "4:1", "did you mean 'effio-profile/1'"),
        ("ranks = = 1\n", "1:9", ""),
        ("", "", "'application' is missing"),
    ],
)  # fmt: skip
def test_a_wrong_form_is_refused_with_its_place(
    tmp_path: Path, text: str, place: str, said: str
) -> None:
    path = tmp_path / "f.toml"
    path.write_text(text)
    with pytest.raises(EffioError) as failed:
        form.load(path)
    where = f"{path}:{place}" if place else str(path)
    assert where in failed.value.message
    assert said in failed.value.message


def test_faults_are_reported_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(HEAD.replace("8", '"8"') + ACTIVITY.replace("posix", "x") + "times = -1\n")
    with pytest.raises(EffioError) as failed:
        form.load(path)
    assert len(failed.value.message.splitlines()) == 3


@pytest.mark.parametrize("bad", [b"\xff\xfe", b"application = '\x00'", b"[" * 20_000])
def test_a_form_that_is_not_toml(effio: Effio, bad: bytes) -> None:
    (effio.cwd / "f.toml").write_bytes(bad)
    done = effio.call("profile", "f.toml")
    assert done.returncode == 2
    assert "f.toml" in done.stderr
    assert "Traceback" not in done.stderr


# The questions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "name", "text", "value"),
    [
        (Profile, "ranks", " 64 ", 64),
        (Profile, "seconds", "2h", 7200.0),
        (Profile, "seconds", "90", 90.0),
        (Profile, "application", "77", "77"),
        (Profile, "io_share", "", None),
        (Activity, "bytes", "64GiB", 64 << 30),
        (Activity, "collective", "1", 1.0),
        (Activity, "flush", "no", False),
        (Activity, "layout", "", "consecutive"),
        (Activity, "times", "", 1),
    ],
)
def test_an_answer(model: Any, name: str, text: str, value: object) -> None:
    question = next(q for q in questions(model) if q.name == name)
    found = answer(question, text)
    assert found == value
    assert isinstance(found, type(value))


@pytest.mark.parametrize(
    ("model", "name", "text"),
    [
        (Profile, "ranks", ""), (Profile, "ranks", "0"), (Profile, "ranks", "1.5"),
        (Profile, "ranks", "many"), (Profile, "seconds", "soon"), (Activity, "bytes", "0"),
        (Activity, "collective", "2"), (Activity, "name", "a b"), (Activity, "library", "hdf"),
        (Activity, "flush", "maybe"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none(model: Any, name: str, text: str) -> None:
    question = next(q for q in questions(model) if q.name == name)
    with pytest.raises(AnswerError):
        answer(question, text)


def test_the_questions_are_asked_on_the_terminal(
    effio: Effio, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = ["code", "eight", "8", "1h", ""]
    dump = ["dump", "write", "hdf", "hdf5", "shared", "16MiB", "3", "", "1MiB", *[""] * 6]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join([*about, *dump, "n", "n", ""])))
    done = effio.call("profile", "--save", "f.toml")
    assert done.returncode == 0, done.stdout + done.stderr
    found = form.load(effio.cwd / "f.toml")
    assert (found.ranks, found.io_share) == (8, None)
    (one,) = found.activity
    assert one == Activity(
        name="dump", access="write", library="hdf5", files="shared", bytes=16 * MIB,
        times=3, transfer=MIB,
    )  # fmt: skip
    assert "one of posix, stdio" in done.stdout  # to the answer "hdf"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"x = 1\n" * 1_700_000, ": is larger than 4 MiB"),
        (b"a = 1\nx = " + b"[" * 100_000, ":2: nested more than 64 levels deep"),
        (b'application = "\xff"\n', ": not UTF-8 (byte 15)"),
        (b"\nranks = " + b"9" * 5000, ":2: a number of too many digits"),
    ],
)
def test_hostile_forms_are_refused_with_their_place(
    content: bytes, fault: str, effio: Effio
) -> None:
    (effio.cwd / "f.toml").write_bytes(content)
    done = effio.call("profile", "f.toml")
    assert done.returncode == 2
    assert done.stderr.startswith(f"effio: f.toml{fault}"), done.stderr
    assert len(done.stderr) < 200


def test_no_answers_any_more(effio: Effio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("code\n8\n"))
    done = effio.call("profile", "--save", "f.toml")
    assert done.returncode == 2
    assert "effio profile --blank prints an empty form" in done.stderr
    assert not (effio.cwd / "f.toml").exists()


def test_a_blank_form_ignores_no_other_option(effio: Effio) -> None:
    """A file that was requested, and is never written, would look written."""
    for words in (
        ("--save", "x.toml"),
        ("--campaign", "x.toml"),
        ("--page", "x.html"),
        ("x.toml",),
    ):
        done = effio.call("profile", "--blank", *words)
        assert done.returncode == 2, words
        assert "--blank only prints an empty form" in done.stderr
        assert done.stdout == ""
    assert effio.call("profile", "--blank").stdout == form.blank()
