# SPDX-License-Identifier: BSD-3-Clause
"""How the commands of a page are found and followed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from docs.blocks import Block, PageError, Shown, blocks_of, missing_line, script, shown
from patience import SECONDS

PAGE = """# A page
```sh
echo one
```
<!-- not run: needs a printer -->
```sh
lpr page
```
<!-- file: a/b.toml -->
```toml
x = 1
```
1. In a list:

   <!-- exit code: 3 -->
   ```sh
   exit 3
   ```

```
plain text
```
```console
$ echo 1; echo 2
1
…
```
"""


def test_blocks_and_their_marks() -> None:
    assert blocks_of(PAGE) == [
        Block(2, "sh", "echo one\n"),
        Block(6, "sh", "lpr page\n", not_run="needs a printer"),
        Block(10, "toml", "x = 1\n", file="a/b.toml"),
        Block(16, "sh", "exit 3\n", exit_code=3),
        Block(23, "console", "$ echo 1; echo 2\n1\n…\n"),
    ]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("```sh\nls\n", "line 1: this fence is never closed"),
        ("<!-- not run: -->\n```sh\nls\n```\n", "say why"),
        ("<!-- exit code: x -->\n```sh\nls\n```\n", "is a number"),
        ("<!-- file: ../x -->\n```\nls\n```\n", "relative to the scratch directory"),
    ],
)
def test_a_wrong_page_is_refused(page: str, message: str) -> None:
    with pytest.raises(PageError, match=message):
        blocks_of(page)


def test_a_console_block_shows_commands_and_what_they_print() -> None:
    block = Block(10, "console", "$ a \\\n> b\nx\ny\n$ c\n")
    assert shown(block) == [Shown(11, "a \\\nb", ("x", "y")), Shown(15, "c", ())]
    with pytest.raises(PageError, match="line 11: a console block begins"):
        shown(Block(10, "console", "no command\n"))


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        (["b_eff_io of … = 12 MB/s"], None),
        (["b_eff_io of 2 PEs =  12 MB/s"], None),
        (["first", "…", "last"], None),
        (["last", "first"], "first"),
        (["b_eff_io of … = 13 MB/s"], "b_eff_io of … = 13 MB/s"),
        (["b_eff_io of"], "b_eff_io of"),
    ],
)
def test_shown_lines_have_to_come_in_their_order(wanted: list[str], missing: str | None) -> None:
    assert missing_line(wanted, "first\n  b_eff_io of 2 PEs = 12 MB/s\nlast\n") == missing


def _follow(page: str, scratch: Path) -> subprocess.CompletedProcess[str]:
    text = script(blocks_of(page), scratch, {"CLUSTER": "four nodes"})
    return subprocess.run(
        ["bash", "-c", "exec 3> reached\n" + text],
        cwd=scratch,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def test_blocks_follow_each_other_in_one_shell(tmp_path: Path) -> None:
    page = "```sh\nx=1\n```\n<!-- file: d/f -->\n```\nhello $x\n```\n```sh\ncat d/f; echo $x\n```\n"
    assert _follow(page, tmp_path).stdout == "hello $x\n1\n"


def test_a_failing_command_ends_the_page(tmp_path: Path) -> None:
    done = _follow("```sh\nfalse\necho never\n```\n", tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert (tmp_path / "reached").read_text() == "1\n"


def test_an_exit_code_that_is_expected_has_to_come(tmp_path: Path) -> None:
    assert _follow("<!-- exit code: 3 -->\n```sh\nexit 3\n```\n", tmp_path).returncode == 0
    wrong = _follow("<!-- exit code: 3 -->\n```sh\nexit 4\n```\n", tmp_path)
    assert "exit code 4 instead of 3" in wrong.stderr
    none = _follow("<!-- exit code: 3 -->\n```sh\ntrue\n```\n", tmp_path)
    assert "exit code 0 instead of 3" in none.stderr


def test_a_block_for_slurm_gets_its_variables_and_keeps_them_to_itself(tmp_path: Path) -> None:
    page = "<!-- with slurm -->\n```sh\necho $CLUSTER\n```\n```sh\necho ${CLUSTER-gone}\n```\n"
    assert _follow(page, tmp_path).stdout == "four nodes\ngone\n"
