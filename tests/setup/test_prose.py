# SPDX-License-Identifier: BSD-3-Clause
"""The check of words (scripts/prose.py): what it reads, and what it refuses."""

from __future__ import annotations

import re

import prose

_RULES = prose.Rules([(re.compile(r"\b(?:told|lies in)\b", re.I), "said")], {})


def _words(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return [(hit.line, hit.word) for hit in prose.hits("x", lines, _RULES)]


def test_markdown_is_read_without_its_code() -> None:
    page = (
        "Told here.\n```sh\ntold to nobody\n```\nA `told` span, [a link](told.md), lies in wait.\n"
    )
    assert _words(list(prose.markdown(page))) == [(1, "Told"), (5, "lies in")]


def test_comments_docstrings_and_strings_are_read_and_names_are_not() -> None:
    python = 'told = 1\n"""What is\ntold."""\nx = "told \\" told"  # told\n'
    assert _words(list(prose.code(python, ".py"))) == [
        (2, "told"),
        (4, "told"),
        (4, "told"),
        (4, "told"),
    ]
    assert _words(list(prose.code('x["told"] = "told x"\n', ".py"))) == [(1, "told")]
    placeholder = 'x = f"{told} told {told}"\n'
    assert _words(list(prose.code(placeholder, ".py"))) == [(1, "told")]
    cpp = 'int told = 0;  // told\nauto s = "lies in";\n'
    assert _words(list(prose.code(cpp, ".cpp"))) == [(1, "told"), (2, "lies in")]
    toml = 'told = "It is told."  # told\n'
    assert _words(list(prose.code(toml, ".toml"))) == [(1, "told"), (1, "told")]


def test_names_of_python_functions_and_of_tests_are_read_as_words() -> None:
    python = "class Told:\n    def test_it_is_told(self) -> None:\n        told = 1\n"
    assert _words(list(prose.code(python, ".py"))) == [(1, "Told"), (2, "told")]
    cpp = "TEST(Told, a_file_told) {}\n"
    assert _words(list(prose.code(cpp, ".cpp"))) == [(1, "told")]


def test_a_hit_says_where_and_what_to_write() -> None:
    (hit,) = prose.hits("docs/a.md", [(7, "It is told.")], _RULES)
    assert str(hit) == "docs/a.md:7: 'told': write said"


def test_the_words_of_this_project_are_patterns_with_an_advice() -> None:
    rules = prose.rules_of(prose.ROOT / "scripts/prose.toml")
    assert set(rules.left) == {"bench", "driver", "engine", "scripts", "tests"}
    refused = [
        *("It is told", "the data lie", "a file of its own", "so often", "in turn"),
        *("wait so long", "A first look at", "ranks who leave", "This is no file for", "by lot"),
    ]
    for text in refused:
        assert len(prose.hits("x", [(1, text + " it")], rules)) == 1, text
    for text in (
        "so often that nobodyelse lies; its own file",
        "There is no file, and it is no longer one.",
        "wait so long as the first look-up takes",
    ):
        assert not prose.hits("x", [(1, text)], rules), text
