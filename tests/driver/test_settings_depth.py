# SPDX-License-Identifier: BSD-3-Clause
"""Settings that are nested without end are refused before a parser works on them."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest

from effio.campaign.expression import spelled
from effio.config.site import Site
from effio.config.toml_file import read, validated
from effio.engine.program import Engine
from effio.errors import EffioError
from effio.tune.space import Tuning


@pytest.mark.parametrize("parts", [65, 1_000, 100_000])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "x = {{ {} = 1 }}", "[[{}]]"])
def test_a_key_of_too_many_parts(tmp_path: Path, form: str, parts: int) -> None:
    file = tmp_path / "site.toml"
    file.write_text("# settings\n" + form.format(".".join(["a"] * parts)) + "\n")
    with pytest.raises(EffioError, match=r"site.toml:2: nested more than 64 levels"):
        validated(Site, read(file))


@pytest.mark.parametrize("depth", [65, 100_000])
def test_brackets_too_deep(tmp_path: Path, depth: int) -> None:
    file = tmp_path / "site.toml"
    file.write_text("x = " + "[" * depth + "]" * depth)
    with pytest.raises(EffioError, match=r"site.toml:1: nested more than 64 levels"):
        read(file)


def test_dots_and_brackets_in_strings_are_not_depth(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    deep = "[" * 100 + "a." * 100
    file.write_text(f'a = "{deep}" # {deep}\nb = """\n{deep}"""\nc = \'{deep}\'\nd.e.f = [[1]]\n')
    table = read(file).table
    assert (table["a"], table["d"]) == (deep, {"e": {"f": [[1]]}})


def test_brackets_after_a_string_that_ends_in_quotes_are_depth(tmp_path: Path) -> None:
    file = tmp_path / "some.toml"
    for quotes in ('"""', "'''"):
        file.write_text(f"a = [{quotes}x{quotes}{quotes[:2]}, " + "[\n" * 70)
        with pytest.raises(EffioError, match=r"some.toml:64: nested more than 64 levels"):
            read(file)
        file.write_text(f"a = {quotes}x\\{quotes}" + "[" * 70)
        with pytest.raises(EffioError):
            read(file)


def test_a_file_of_many_faults_is_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For each fault the file was parsed again, by a parser that needs 20 ms for a KiB."""
    import tomlkit

    parse = tomlkit.parse
    parsed: list[int] = []

    def counted(text: str) -> tomlkit.TOMLDocument:
        parsed.append(len(text))
        return parse(text)

    monkeypatch.setattr("tomlkit.parse", counted)
    file = tmp_path / "site.toml"
    lines = "".join(f"wrong{i} = 1\n" for i in range(100))
    file.write_text(lines)
    with pytest.raises(EffioError) as small:
        validated(Site, read(file))
    assert len(parsed) == 1
    faults = small.value.message.splitlines()
    assert faults[19].startswith(f"{file}:20:1: unknown key 'wrong19'")
    assert faults[20:] == ["and more"]
    # Of a large one it names the keys only.
    file.write_text("[launch]\n" + lines + "#" * 200_000)
    with pytest.raises(EffioError) as large:
        validated(Site, read(file))
    assert len(parsed) == 1
    assert large.value.message.startswith(f"{file}: launch.wrong0: unknown key 'wrong0'")


def test_a_file_without_an_end_takes_no_time(tmp_path: Path) -> None:
    for text in (
        '\\"' * 1_000_000,
        'a = "' + '\\"' * 1_000_000,
        '"' * 100_000,
        "'''" + "a" * 100_000,
        "a" * 1_000_000,
        "a ." * 60 + "\n" * 10,
    ):
        file = tmp_path / "x.toml"
        file.write_text(text)
        with pytest.raises(EffioError):
            read(file)


def test_settings_that_are_a_fifo_do_not_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "site.toml")
    with pytest.raises(EffioError, match="is a FIFO"):
        read(tmp_path / "site.toml")


def test_numbers_that_are_none_and_nul_characters(tmp_path: Path) -> None:
    """Where a value may be any number, and where it goes to the engine."""
    file = tmp_path / "space.toml"
    for value in ("inf", "-inf", "nan"):
        text = (
            f'title = "t"\nbenchmark = "ior"\n[options]\nblock = {value}\n[vary.hints]\na = [1]\n'
        )
        file.write_text(text)
        with pytest.raises(EffioError, match=r"space.toml:4:1: options.block: .*finite number"):
            validated(Tuning, read(file))
    assert [spelled(value) for value in (math.inf, math.nan)] == ["inf", "nan"]
    engine = Engine(Path("/bin/true"), "given")
    with pytest.raises(EffioError, match="contains a NUL character"):
        engine.ask(["ior", "--dir=\0"])
