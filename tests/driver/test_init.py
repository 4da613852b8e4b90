# SPDX-License-Identifier: BSD-3-Clause
"""`effio init`, and the one reader of TOML files: places and nearest words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from driver.conftest import Effio
from effio.campaign.file import load
from effio.config.first import Found, campaign_text, site_text
from effio.config.site import Site
from effio.config.toml_file import TomlFile, read, validated
from effio.errors import EffioError

BARE = Found(2, 2, None, None, None, None, ())
RICH = Found(64, 4, "openmpi-01", "Open MPI 5.0", "srun", "slurm", ('a"b', "gcc/14"))


def _file(path: Path, text: str) -> TomlFile:
    path.write_text(text)
    return read(path)


@pytest.mark.parametrize("found", [BARE, RICH])
def test_what_is_written_can_be_read(found: Found, tmp_path: Path) -> None:
    site = validated(Site, _file(tmp_path / "site.toml", site_text(found)))
    assert (site.launch.engine, site.batch.system) == (found.engine, found.batch)
    assert site.batch.setup == tuple(f"module load {name}" for name in found.modules)
    (tmp_path / "study.toml").write_text(campaign_text(found, tmp_path))
    campaign, _ = load(tmp_path / "study.toml")
    assert campaign.step[0].sweep["ranks"] == ((1, 2) if found is BARE else (1, 2, 4))


def test_the_files_work_at_once(with_engine: Effio) -> None:
    done = with_engine.call("init")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "written: effio-site.toml\nwritten: study.toml\nnext:    effio pl"
    )
    assert (
        f'engine = "{with_engine.environment["EFFIO_ENGINE"]}"'
        in (with_engine.cwd / "effio-site.toml").read_text()
    )
    del with_engine.environment["EFFIO_ENGINE"]
    planned = with_engine.call("plan", "study.toml")
    assert planned.stdout.endswith("within the budget\n"), planned.stderr


def test_the_file_that_does_not_fit_is_named_and_nothing_stays(
    effio: Effio, mount: Callable[..., Path]
) -> None:
    place = mount("-t", "tmpfs", "-o", "size=4k", "none")
    (place / "fill").write_bytes(b"0" * 4096)
    done = effio.call("init", place)
    assert done.returncode == 3, done.stderr
    assert f"cannot write {place}/effio-site.toml: No space left on device" in done.stderr
    assert [file.name for file in place.iterdir()] == ["fill"]


def test_without_an_engine_there_are_files_all_the_same(effio: Effio) -> None:
    done = effio.call("init", "--campaign", "x.toml", env={"EFFIO_ENGINE": "/nowhere"})
    assert done.returncode == 0
    assert "no engine '/nowhere'" in done.stderr
    assert "effio engine build" in done.stdout
    assert sorted(p.name for p in effio.cwd.glob("*.toml")) == ["effio-site.toml", "x.toml"]


@pytest.mark.parametrize("there", ["effio-site.toml", "study.toml"])
def test_nothing_is_written_over(there: str, effio: Effio) -> None:
    # A link that leads nowhere counts too: writing would go through it.
    (effio.cwd / there).symlink_to("elsewhere")
    done = effio.call("init")
    assert done.returncode == 2
    assert f"{there} exists, and is not overwritten" in done.stderr
    assert [p.name for p in effio.cwd.glob("*.toml")] == [there]
    assert not (effio.cwd / "elsewhere").exists()


@pytest.mark.parametrize(
    ("words", "code", "what"),
    [
        (("nowhere",), 3, "nowhere is not a directory"),
        (("--campaign", "a/b.toml"), 2, "is not a name for it"),
        (("--campaign", "study"), 2, "is not a name for it"),
        (("--campaign", "effio-site.toml"), 2, "is not a name for it"),
    ],
)
def test_what_init_refuses(words: tuple[str, ...], code: int, what: str, effio: Effio) -> None:
    done = effio.call("init", *words)
    assert (done.returncode, what in done.stderr) == (code, True)
    assert list(effio.cwd.glob("*.toml")) == []


def test_a_place_that_cannot_be_written_to(effio: Effio) -> None:
    if os.geteuid() == 0:
        pytest.skip("root is refused nothing")
    effio.cwd.chmod(0o500)
    assert effio.call("init").returncode == 3


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")
    number: int = 0


class _Whole(BaseModel):
    model_config = ConfigDict(extra="forbid")
    title: str
    part: tuple[_Part, ...] = ()
    named: dict[str, _Part] = {}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("titel = 'x'", "f.toml:1:1: unknown key 'titel'; did you mean 'title'?"),
        (
            "title = 'x'\n[[part]]\nnumbr = 1",
            "f.toml:3:1: unknown key 'numbr'; did you mean 'number",
        ),
        ("title = 'x'\n[named.a]\n  nummer = 1", "f.toml:3:3: unknown key 'nummer'; did you mean"),
        ("title = 'x'\n[[part]]\nnumber = 'x'", "f.toml:3:1: part.0.number: Input should be"),
        (
            "title = 'x'\n'module load x' = 1\n",
            "f.toml:2:1: unknown key 'module load x'; there are: title, part, named",
        ),
        ("title = 'x'\nint = 1\n", "f.toml:2:1: unknown key 'int'; there are: title, part"),
        (
            "title = 'x'\n[named.'a b']\nnumbr = 1",
            "f.toml:3:1: unknown key 'numbr'; did you mean 'number'?",
        ),
        ("title = 'x'\n[named.'a b']\nnumber = 'x'", "f.toml:3:1: named.a b.number: Input should"),
        ("", "f.toml: 'title' is missing"),
        ("title = ", "f.toml:1:1: Invalid value"),
    ],
)
def test_a_fault_has_its_place_and_the_nearest_word(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(EffioError) as error:
        validated(_Whole, _file(tmp_path / "f.toml", text))
    assert what in error.value.message


def test_every_fault_of_a_site_file_has_its_place(effio: Effio) -> None:
    site = effio.cwd / "effio-site.toml"
    site.write_text('[launch]\nlauncher = 3\n[batch]\nsystem = "slrum"\n[result]\nruns = "x"\n')
    done = effio.call("runs")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "effio: effio-site.toml:2:1: launch.launcher: Input should be a valid string",
        "       effio-site.toml:4:1: batch.system: no choice 'slrum'; did you mean 'slurm'?",
        "       effio-site.toml:5:1: unknown key 'result'; did you mean 'results'?",
    ]
