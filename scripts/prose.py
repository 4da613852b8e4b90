"""Refuses words that are hard to read: `make lint` runs it, and so does `python scripts/prose.py`.

The words and what to write instead are in scripts/prose.toml. Markdown, campaigns and other files
of text must have none of them. In code (comments, strings, names of Python functions and of tests)
they may occur as often as that file says are left: the number may fall, and then has to be lowered
there, but never rise. `--code` lists the occurrences in code.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")  # of an f-string or std::format
_MARKDOWN_CODE = re.compile(r"`[^`]*`|\]\([^)]*\)")
_COMMENT_OR_STRING = {
    ".py": re.compile(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"|#([^\n]*)', re.S),
    ".cpp": re.compile(r'"((?:[^"\\\n]|\\.)*)"|//(.*)'),
}
_COMMENT_OR_STRING[".hpp"] = _COMMENT_OR_STRING[".cpp"]
_NAME = {
    ".py": re.compile(r"^\s*(?:async )?(?:def|class) (\w+)", re.M),
    ".cpp": re.compile(r"^TEST(?:_[PF])?\(\w+,\s*(\w+)\)", re.M),
}
# Files of text for users: their strings and comments have none of the words.
_TEXTS = ("campaigns/*.toml", "driver/**/*.toml", "examples/**/*.toml", "tests/differential/*.toml")
_COMMENT_OR_STRING[".toml"] = _COMMENT_OR_STRING[".py"]


@dataclass(frozen=True)
class Hit:
    """A refused word: file, line (counted from 1), the word, and what to write instead."""

    file: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: '{self.word}': write {self.instead}"


@dataclass(frozen=True)
class Rules:
    """Patterns with what to write instead, and how many are left in each room of the code."""

    words: list[tuple[re.Pattern[str], str]]
    left: dict[str, int]


def rules_of(path: Path) -> Rules:
    """Reads the file of words. Case does not matter, and a pattern matches whole words."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    words = [(re.compile(rf"\b(?:{w})\b", re.I), use) for w, use in table["words"].items()]
    return Rules(words, table["left"])


def markdown(text: str) -> Iterator[tuple[int, str]]:
    """The prose of a page by lines: without fenced blocks, code spans and targets of links."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, _MARKDOWN_CODE.sub("`", line)


def code(text: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and strings of a source, each with the line where it starts; also names
    of Python functions and classes and of C++ tests, with blanks for underscores.

    A placeholder of a format string is code, and so is a string of one word: the name of a member.
    """
    if suffix in _NAME:
        for name in _NAME[suffix].finditer(text):
            yield text.count("\n", 0, name.start(1)) + 1, name[1].replace("_", " ").strip()
    for found in _COMMENT_OR_STRING[suffix].finditer(text):
        words = next(group for group in found.groups() if group is not None)
        if found[0].startswith('"') and not found[0].startswith('"""') and words.isidentifier():
            continue
        yield text.count("\n", 0, found.start()) + 1, _PLACEHOLDER.sub("{}", words)


def hits(file: str, lines: Iterable[tuple[int, str]], rules: Rules) -> list[Hit]:
    """The refused words of one file."""
    return [
        Hit(file, number, found[0], use)
        for number, line in lines
        for pattern, use in rules.words
        for found in pattern.finditer(line)
    ]


def tracked(*patterns: str) -> list[str]:
    """Files of the checkout; all files that are there, where git does not know the checkout."""
    listed = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    return [str(p.relative_to(ROOT)) for pattern in patterns for p in ROOT.glob(pattern)]


def main(arguments: list[str]) -> int:
    rules = rules_of(ROOT / "scripts/prose.toml")
    pages = tracked("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/**/*.md")
    found = [
        hit
        for name in sorted(set(pages))
        for hit in hits(name, markdown((ROOT / name).read_text(encoding="utf-8")), rules)
    ]
    found += [
        hit
        for name in sorted(set(tracked(*_TEXTS)))
        for hit in hits(name, code((ROOT / name).read_text(encoding="utf-8"), ".toml"), rules)
    ]
    for hit in found:
        print(hit)
    failed = bool(found)
    for room, left in rules.left.items():
        there = [
            hit
            for name in sorted(
                set(
                    tracked(
                        *(
                            f"{room}/{place}*{end}"
                            for place in ("", "**/")
                            for end in (".py", ".cpp", ".hpp")
                        )
                    )
                )
            )
            for hit in hits(
                name, code((ROOT / name).read_text(encoding="utf-8"), Path(name).suffix), rules
            )
        ]
        if "--code" in arguments:
            print(*there, sep="\n")
        if len(there) != left:
            what = "has more of them than" if len(there) > left else "has fewer: lower"
            print(f"{room}: {len(there)} words of scripts/prose.toml: {what} its [left] ({left})")
            failed = failed or len(there) > left
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
