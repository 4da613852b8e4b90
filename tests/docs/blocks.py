# SPDX-License-Identifier: BSD-3-Clause
"""The commands in the documentation, and one shell script that follows a page from the top.

Every fenced block of language `sh` or `console` is run. `console` shows commands after `$ ` and
what they print: each line shown has to come, in this order; `…` is whatever changes from
run to run. A comment on the line above a fence says what is special:

    <!-- not run: REASON -->     left out, and the reason is reported
    <!-- exit code: 3 -->        the block ends with that code
    <!-- with slurm -->          in the shell of a Slurm cluster of four nodes
    <!-- file: nightly.toml -->  no commands; the block, in any language, is that file
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<language>[\w+-]*)\s*$")
_MARK = re.compile(
    r"^\s*<!--\s*(?P<what>not run|exit code|with slurm|file)(?::\s*(?P<text>.*?))?\s*-->$"
)


@dataclass(frozen=True)
class Block:
    line: int  # of the fence
    language: str
    text: str
    not_run: str = ""
    exit_code: int = 0
    with_slurm: bool = False
    file: str = ""


@dataclass(frozen=True)
class Shown:
    """One command of a `console` block and the output that the page shows for it."""

    line: int
    command: str
    output: tuple[str, ...]


class PageError(Exception):
    """The page itself is wrong."""


def _block(number: int, language: str, text: str, mark: str) -> Block | None:
    found = _MARK.match(mark)
    what, argument = (found["what"], found["text"] or "") if found else ("", "")
    if what == "not run" and not argument:
        raise PageError(f"line {number}: say why it is not run")
    if what == "exit code" and not argument.isdigit():
        raise PageError(f"line {number}: an exit code is a number, not '{argument}'")
    if what == "file":
        if not argument or Path(argument).is_absolute() or ".." in Path(argument).parts:
            raise PageError(f"line {number}: a file is named relative to the scratch directory")
        return Block(number, language, text, file=argument)
    if language not in ("sh", "console"):
        return None
    return Block(
        number,
        language,
        text,
        not_run=argument if what == "not run" else "",
        exit_code=int(argument) if what == "exit code" else 0,
        with_slurm=what == "with slurm",
    )


def blocks_of(page: str) -> list[Block]:
    """The blocks in the order of the page. Raises if a mark or a fence is wrong."""
    found = []
    lines = page.splitlines()
    at = 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence is None:
            at += 1
            continue
        start = at
        at += 1
        closing = fence["indent"] + fence["fence"]
        while at < len(lines) and lines[at].rstrip() != closing:
            at += 1
        if at == len(lines):
            raise PageError(f"line {start + 1}: this fence is never closed")
        body = [line.removeprefix(fence["indent"]) for line in lines[start + 1 : at]]
        mark = lines[start - 1] if start > 0 else ""
        text = "".join(line + "\n" for line in body)
        block = _block(start + 1, fence["language"], text, mark)
        if block is not None:
            found.append(block)
        at += 1
    return found


def shown(block: Block) -> list[Shown]:
    """The commands of a `console` block; a line that ends in a backslash continues in the next."""
    found: list[Shown] = []
    lines = list(enumerate(block.text.splitlines(), block.line + 1))
    while lines:
        number, line = lines.pop(0)
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\") and lines:
                command += "\n" + lines.pop(0)[1].removeprefix("> ")
            found.append(Shown(number, command, ()))
        elif not found:
            raise PageError(f"line {number}: a console block begins with a command after '$ '")
        else:
            last = found[-1]
            found[-1] = Shown(last.line, last.command, (*last.output, line))
    return found


def _escaped(line: str) -> str:
    return r"\s+".join(re.escape(word) for word in line.split())


def missing_line(wanted: Iterable[str], output: str) -> str | None:
    """The first line shown that does not come in its turn. Runs of blanks are alike."""
    lines = output.splitlines()
    at = 0
    for line in wanted:
        if line.strip() in ("", "…"):
            continue
        pattern = r"\s*.*?\s*".join(_escaped(part) for part in line.split("…"))
        while at < len(lines) and re.fullmatch(rf"\s*{pattern}\s*", lines[at]) is None:
            at += 1
        if at == len(lines):
            return line
        at += 1
    return None


def script(blocks: Iterable[Block], outputs: Path, slurm: Mapping[str, str]) -> str:
    """Bash that follows the blocks. It reports on descriptor 3 which line it has reached, and
    leaves what the command of line N of a console block prints in `outputs`/N."""
    lines = ["set -eu -o pipefail"]
    for block in blocks:
        lines.append(f"echo {block.line} >&3")
        if block.file:
            name = shlex.quote(block.file)
            lines.append(f"mkdir -p $(dirname {name})")
            lines.append(f"cat > {name} <<'END OF THE BLOCK'\n{block.text}END OF THE BLOCK")
            continue
        if block.language == "console":
            body = ""
            for one in shown(block):
                body += f"echo {one.line} >&3\n"
                body += f"{{ {one.command}\n}} > {shlex.quote(str(outputs / str(one.line)))} 2>&1\n"
        else:
            body = block.text
        if block.with_slurm:
            settings = "".join(f"export {k}={shlex.quote(v)}\n" for k, v in slurm.items())
            body = f"(\n{settings}{body})\n"
        if block.exit_code:
            # `set -e` has no force on the left of ||, so the code of the last command counts.
            body = (
                f"status=0; ( {body} ) || status=$?\n"
                f"[ $status = {block.exit_code} ] || "
                f'{{ echo "exit code $status instead of {block.exit_code}" >&2; exit 99; }}\n'
            )
        lines.append(body)
    return "\n".join(lines) + "\n"
