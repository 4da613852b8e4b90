# SPDX-License-Identifier: BSD-3-Clause
"""Job scripts from a template of the site's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from driver.conftest import Effio
from effio.config.site import BatchSettings
from effio.errors import EffioError
from effio.launch.batch import batch_names, wanted_batch_system
from effio.launch.template import WORDS, Template, read, shipped

VALUES = {
    **{word: f"<{word}>" for word in WORDS},
    "nodes": None,
    "directive": ["-A abc", "-q x"],
    "run": ["one", "two @name@"],
}


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("#PBS -N @name@ @ranks@", ["#PBS -N <name> <ranks>"]),
        ("-N @nodes@", []),
        ("#PBS @directive@", ["#PBS -A abc", "#PBS -q x"]),
        ("  @run@", ["  one", "  two @name@"]),
        ("me@site.org, a@@name@@b, @ @", ["me@site.org, a@name@b, @ @"]),
        ("@@@name@", ["@<name>"]),
    ],
)
def test_a_line_of_a_template(line: str, lines: list[str]) -> None:
    assert Template(line).filled(VALUES) == "".join(one + "\n" for one in lines)


@pytest.mark.parametrize("name", batch_names())
def test_what_is_shipped_is_read_as_any_other(name: str) -> None:
    assert "@run@" in shipped(name).text


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("#!/bin/bash\n\n# @rank@\n@run@\n", "t.sh:3: unknown word @rank@; did you mean @ranks@?"),
        ("#!/bin/bash\n# @zzzzzz@\n@run@\n", "t.sh:2: unknown word @zzzzzz@; there are @name@"),
        ("#!/bin/bash\necho\n", "t.sh: no line @run@, or several"),
        ("#!/bin/bash\n@run@\n@run@\n", "t.sh: no line @run@, or several"),
        ("#!/bin/bash\n(@run@)\n", "t.sh: no line @run@, or several"),
        ("#!/bin/bash\n@directive@ @run@\n@run@\n", "t.sh:2: one line cannot be repeated for two"),
        ("@run@\n", "t.sh:1: a job script begins with #!"),
        ("", "t.sh:1: a job script begins with #!"),
        ("#!/bin/bash\n\udcff@run@\n", "t.sh: not UTF-8"),
        ("#" * (1 << 20) + "!", "t.sh: is larger than 1 MiB"),
    ],
)
def test_a_template_that_is_wrong(text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "t.sh").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(EffioError) as caught:
        read(tmp_path / "t.sh")
    assert fault in caught.value.message


def test_it_is_for_the_system_of_the_site_alone(tmp_path: Path) -> None:
    (tmp_path / "t.sh").write_text("#!/bin/bash\n@run@\n")
    of_site = BatchSettings(system="pbs", template=str(tmp_path / "t.sh"))
    assert wanted_batch_system(None, of_site).template is not None
    assert wanted_batch_system("pbs", of_site).template is not None
    assert wanted_batch_system("lsf", of_site).template is None


def test_the_script_of_a_run_and_of_a_campaign(with_engine: Effio) -> None:
    place = with_engine.cwd / "settings"
    place.mkdir()
    (place / "job.sh").write_text(
        "#!/bin/bash\n#PBS -l nodes=@some_nodes@:ppn=@some_per_node@\n#PBS -l nodes=@nodes@\n"
        "#PBS @directive@\nsource /etc/profile # me@@site@@org\n@run@\n"
    )
    site = place / "site.toml"
    site.write_text('[batch]\nsystem = "pbs"\ndirectives = ["-A abc"]\ntemplate = "job.sh"\n')
    (with_engine.cwd / "s.toml").write_text(
        'title = "t"\npurpose = "p"\n[[step]]\nname = "a"\nbenchmark = "ior"\n'
        '[step.options]\nbackend = "null"\n'
    )
    words = ["--ranks", "2", "--batch", "--batch-option=-q x"]
    for what in (["ior", "--backend", "null"], ["s.toml"]):
        done = with_engine.call("run", *what, *words, env={"EFFIO_SITE": str(site)})
        assert done.returncode == 0, done.stderr
        script = (with_engine.cwd / done.stdout.splitlines()[0]).read_text()
        assert script.startswith(
            "#!/bin/bash\n#PBS -l nodes=1:ppn=2\n#PBS -A abc\n#PBS -q x\n"
            "source /etc/profile # me@site@org\n"
            f"cd {with_engine.cwd} || exit 6\n"
        )
        assert script.endswith("exit $status\n")
        checked = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
        assert checked.returncode == 0


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ('template = "job.sh"', "site.toml:2:1: a template is for one batch system"),
        ('system = "pbs"\ntemplate = "no.sh"', "no.sh: No such file or directory"),
        ('system = "pbs"\ntemplate = "."', "is a directory"),
        ('system = "pbs"\ntemplate = 7', "site.toml:3:"),
    ],
)
def test_a_site_file_that_names_a_wrong_one(with_engine: Effio, settings: str, fault: str) -> None:
    (with_engine.cwd / "site.toml").write_text(f"[batch]\n{settings}\n")
    words = ["run", "ior", "--backend", "null", "--ranks", "2", "--batch"]
    done = with_engine.call(*words, env={"EFFIO_SITE": "site.toml"})
    assert done.returncode == 2, done.stdout
    assert fault in done.stderr
