# SPDX-License-Identifier: BSD-3-Clause
"""A tuning's file: its faults are reported with their place; which settings it makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.engine.discover import find_engine
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.launch.launchers import Ranks
from effio.tune import space
from effio.tune.setting import DEFAULT, Group, Setting, Setup, everywhere
from effio.tune.space import Tuning, check, load, path_of, settings_of, shipped

HEAD = 'title = "t"\nbenchmark = "ior"\n'
GOOD = HEAD + '[options]\nbackend = "mpiio"\n[vary.hints]\nkey = ["a"]\n'


def _tuning(**vary: Mapping[str, Sequence[object]]) -> Tuning:
    return Tuning.model_validate({"title": "t", "benchmark": "ior", "vary": vary})


@pytest.fixture
def engine(with_engine: Effio, monkeypatch: pytest.MonkeyPatch) -> Engine:
    return find_engine(with_engine.environment["EFFIO_ENGINE"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "s.toml: 'title' is missing"),
        ("title = 1\n", "s.toml:1:1: title: Input should be a valid string"),
        (GOOD + "[vary.hint]\n", "s.toml:7:1: unknown key 'hint'; did you mean 'hints'?"),
        ("second = 5\n" + GOOD, "s.toml:1:1: unknown key 'second'; did you mean 'seconds'?"),
        (
            "seconds = true\n" + GOOD,
            "s.toml:1:1: seconds: a time is not true or false",
        ),
        ('seconds = "soon"\n' + GOOD, "'soon' is not a time; write for example 60s or 5min"),
        ("runs = 0\n" + GOOD, "runs: Input should be greater than or equal to 1"),
        ("settings_at_most = 0\n" + GOOD, "settings_at_most: Input should be greater"),
        (HEAD + "[vary.hints]\nk = []\n", "s.toml:4:1: vary.hints.k: List should have at least"),
        (HEAD + "[vary.hints]\nk = [true]\n", 'a hint is text: write "true", or "enable"'),
        (HEAD + "[vary.hints]\nk = [1.5]\n", "1.5 is not a value of a hint"),
        (HEAD + '[vary.hints]\nk = [" "]\n', "' ' is not a value of a hint"),
        (HEAD + '[vary.hints]\nk = ["a\\nall all all all x y"]\n', "is not a value of a hint"),
        (HEAD + '[vary.hints]\n"a b" = ["x"]\n', "'a b' is not a name: names have no blanks"),
        (HEAD + '[vary.hints]\nk = ["2", 2]\n', "vary.hints.k: '2' is there twice"),
        (HEAD + '[vary.environment]\n"A=B" = ["x"]\n', "'A=B' is not a name of a variable"),
        (HEAD + "[vary.options]\ntransfer = [[1]]\n", "vary.options.transfer.0: Input should be"),
        (HEAD + "vary = 3\n", "s.toml:3:1: vary: Input should be a valid dictionary"),
        ("title = [\n", "s.toml:"),
    ],
)
def test_a_faulty_file_is_refused_with_the_place_of_each_fault(
    tmp_path: Path, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(text)
    with pytest.raises(EffioError) as caught:
        load(Path("s.toml"))
    assert said in caught.value.message, caught.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("ior", "iox"), "s.toml:2:1: this engine has no benchmark 'iox'"),
        (
            GOOD.replace("backend =", "bakend ="),
            "s.toml:4:1: ior has no option 'bakend'; did you mean 'backend'?",
        ),
        (GOOD.replace("backend =", "hints ="), "s.toml:4:1: 'hints' is given by effio itself"),
        (GOOD.replace("backend =", "keep ="), "s.toml:4:1: 'keep' is given by effio itself"),
        (HEAD + "[vary]\n", "nothing is varied: name hints, options or environment"),
        (GOOD.replace('["a"]', '["a"]\n[[exclude]]\nkye = "a"'), "'kye' is not varied"),
        (
            GOOD + '[vary.options]\nbackend = ["mpiio"]\n',
            "'backend': a value to try is that of the workload",
        ),
        (HEAD.replace("ior", "b-eff") + '[vary.hints]\nk = ["a"]\n', "b-eff takes no hints"),
        (GOOD.replace('"mpiio"', '"mpio"'), "s.toml: "),
        (GOOD + '[vary.options]\nblock = ["3 apples"]\n', "s.toml: with --block=3 apples: "),
        (
            GOOD.replace("mpiio", "sim") + '[vary.options]\n"backend.rak-rate" = ["1GB/s"]\n',
            "s.toml: with --backend.rak-rate=1GB/s: ",
        ),
    ],
)
def test_names_and_values_are_the_engines(
    tmp_path: Path, engine: Engine, text: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(text)
    with pytest.raises(EffioError) as caught:
        check(*load(Path("s.toml")), engine, Ranks(2))
    assert said in caught.value.message, caught.value.message


def test_every_tuning_that_comes_with_effio_is_good(engine: Engine) -> None:
    assert {"collective", "contiguous", "sieving", "two-phase"} <= {*shipped()}
    for name in shipped():
        tuning, file = load(path_of(name))
        assert tuning.title
        assert tuning.purpose
        if tuning.options["backend"] == "hdf5" and not _has(engine, "hdf5"):
            continue
        settings = check(tuning, file, engine, Ranks(2))
        assert 3 <= len(settings) <= tuning.settings_at_most
        assert tuning.seconds is not None


def _has(engine: Engine, backend: str) -> bool:
    return any(b.name == backend and not b.missing for b in engine.info.backends)


def test_settings_are_all_combinations_but_the_default_the_least_change_first() -> None:
    tuning = _tuning(hints={"a": [1, 2]}, environment={"E": ["x"]})
    assert settings_of(tuning) == [
        Setting(environment=(("E", "x"),)),
        Setting(hints=(("a", "1"),)),
        Setting(hints=(("a", "2"),)),
        Setting(hints=(("a", "1"),), environment=(("E", "x"),)),
        Setting(hints=(("a", "2"),), environment=(("E", "x"),)),
    ]
    assert DEFAULT.id == "default"
    assert len({s.id for s in settings_of(tuning)}) == 5


def test_what_is_excluded_is_not_tried() -> None:
    table = {
        "title": "t",
        "benchmark": "ior",
        "vary": {"hints": {"a": ["x", "y"], "b": [1]}},
        "exclude": [{"a": "x", "b": 1}],
    }
    reported = [s.title for s in settings_of(Tuning.model_validate(table))]
    assert reported == ["b=1", "a=x", "a=y", "a=y b=1"]


@pytest.mark.parametrize("values", [4, 100])
def test_of_too_many_every_single_change_and_a_part_that_is_always_the_same(values: int) -> None:
    """4 x 4 x 4 values make 124 settings; three axes of a hundred are never written down."""
    axes = {name: [f"{name}{n}" for n in range(values)] for name in "abc"}
    tuning = _tuning(hints=axes).model_copy(update={"settings_at_most": 3 * values + 5})
    settings = settings_of(tuning)
    assert len(settings) == len({*settings}) == 3 * values + 5
    singles = [Setting(hints=((name, v),)) for name, some in axes.items() for v in some]
    assert settings[: len(singles)] == singles
    assert all(len(s.hints) > 1 for s in settings[len(singles) :])
    assert settings_of(tuning) == settings


def test_the_engines_words_of_a_setting() -> None:
    tuning = Tuning.model_validate(
        {
            "title": "t",
            "benchmark": "ior",
            "options": {"backend": "sim", "collective": True, "backend-options": "open=1ms"},
            "vary": {"options": {"backend.rank-rate": ["1GB/s"], "block": ["2MiB"]}},
        }
    )
    assert tuning.words() == ("--backend=sim", "--collective", "--backend-options=open=1ms")
    setting = Setting(options=(("backend.rank-rate", "1GB/s"), ("block", "2MiB")))
    assert tuning.words(setting) == (
        "--backend=sim", "--collective", "--block=2MiB",
        "--backend-options=open=1ms,rank-rate=1GB/s",
    )  # fmt: skip
    more = tuning.with_options({"collective": "false", "block": "1MiB"})
    assert more.words() == ("--backend=sim", "--backend-options=open=1ms", "--block=1MiB")


def test_rules_of_a_set_up() -> None:
    both = Setting(hints=(("k", "1"), ("l", "2")))
    assert [*everywhere(both).rules()] == ["all all all all k 1", "all all all all l 2"]
    setup = Setup(hints={Group("write", "shared", "4096"): (("k", "1"),)})
    assert [*setup.rules()] == ["all write shared 4096 k 1"]
    assert not Setup().changes
    assert [*everywhere(DEFAULT).rules()] == []


def test_a_name_that_is_none_is_refused_and_a_file_may_be_called_like_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EffioError, match="no tuning 'sievin'; did you mean 'sieving'"):
        path_of("sievin")
    Path("sieving").write_text(GOOD)
    assert path_of("sieving") == Path("sieving")
    assert path_of("@sieving").parent == Path(space.__file__).parent / "shipped"
