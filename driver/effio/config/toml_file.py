# SPDX-License-Identifier: BSD-3-Clause
"""A TOML file with the places of its parts, so that a fault names file, line and column; and the
model that it has to be, so that a fault also names the nearest valid word."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from effio.errors import EffioError
from effio.store import safe_files
from effio.text import closest, lines, plain

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib
if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

MAX_BYTES = 4 << 20
# Is in no TOML file: control characters are not allowed there.
_MARK = "\0"

_MOST_FAULTS = 20
# Of a larger file faults have no line: the parser that keeps places needs 20 ms for a KiB.
_MOST_PLACED = 128 << 10
_DEEPEST = 64
# Characters of a campaign's name: names of folders also have those of a step and a benchmark.
_MOST_NAME = 100
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{_MOST_NAME - 1}}}")
# Dotted keys with too many parts; strings, comments and brackets. A string without an end goes to
# the end of its line or of the file: each sign is looked at once or twice, whatever the text.
_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|'[^'\n]*')"""
_TOKENS = re.compile(
    rf"""(?P<keys>(?<![A-Za-z0-9_-])(?:{_KEY}[ \t]*\.[ \t]*){{{_DEEPEST}}})"""
    r"""|\"{3}[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*(?:\"{3,5}|\\?\Z)|'{3}.*?(?:'{3,5}|\Z)"""
    r"""|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*(?:"|(?=\\?\n)|\\?\Z)|'[^'\n]*'?|\#[^\n]*|[\[\]{}]""",
    re.DOTALL,
)
# Python reads no longer number.
_MANY_DIGITS = re.compile(r"[0-9_]{4301,}")
_UNQUOTED = {"int_type": "a whole number", "float_type": "a number", "bool_type": "true or false"}

Loc = Sequence[str | int]
M = TypeVar("M", bound="BaseModel")


@dataclass(frozen=True)
class TomlFile:
    path: Path
    text: str
    table: dict[str, Any]

    @property
    def has_places(self) -> bool:
        return self._parsed is not None

    def place(self, loc: Loc) -> str:
        """The place as FILE:LINE:COLUMN: that of a part, or of the nearest enclosing part that
        exists."""
        offset = self._offset(loc)
        if offset is None:
            return str(self.path)
        line = self.text.count("\n", 0, offset) + 1
        column = offset - (self.text.rfind("\n", 0, offset) + 1) + 1
        return f"{self.path}:{line}:{column}"

    def fault(self, loc: Loc, what: str) -> str:
        return f"{self.place(loc)}: {what}"

    @cached_property
    def _parsed(self) -> Any:
        """By tomlkit, which keeps every sign; None if it cannot: it is stricter than tomllib in
        places."""
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        if len(self.text) > _MOST_PLACED:
            return None
        try:
            return tomlkit.parse(self.text)
        except (TOMLKitError, ValueError, RecursionError):
            return None

    def _offset(self, loc: Loc) -> int | None:
        root: Any = self._parsed
        if root is None:
            return None
        from tomlkit.container import Container
        from tomlkit.items import Array

        part = root
        found = None
        for step in loc:
            if isinstance(part, Array):
                break
            try:
                # Plain indexing would give a truth value without its place.
                if isinstance(step, str):
                    part = (part if isinstance(part, Container) else part.value).item(step)
                else:
                    part = part[step]
            except (KeyError, IndexError, TypeError, ValueError, AttributeError):
                break
            if hasattr(part, "trivia"):
                found = part
        if found is None:
            return None
        # A mark in the white space before a part shows where that part is.
        found = _first_written(found)
        before = found.trivia.indent
        found.trivia.indent = _MARK + before
        marked: str = root.as_string()
        found.trivia.indent = before
        offset = marked.find(_MARK)
        if offset < 0:
            return None
        return offset + len(marked[offset + 1 :]) - len(marked[offset + 1 :].lstrip(" \t"))


def _first_written(part: Any) -> Any:
    """A table without its own header, and a list of tables, begin with their first part."""
    from tomlkit.items import AoT, Table

    while True:
        if isinstance(part, AoT) and len(part):
            part = part[0]
        elif isinstance(part, Table) and part.is_super_table() and len(part):
            part = part[next(iter(part))]
        else:
            return part


def _too_deep(text: str) -> int:
    """The line in which keys or brackets are nested deeper than any settings are, before a parser
    takes minutes for them; 0 if there is none."""
    depth = 0
    for token in _TOKENS.finditer(text):
        sign = token[0]
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        if depth > _DEEPEST or token.lastgroup == "keys":
            return text.count("\n", 0, token.start()) + 1
    return 0


def read(path: Path) -> TomlFile:
    """Raises EffioError with the place where the file is not TOML."""
    try:
        # Named by the user, or by a rule: a link to it is followed.
        text = safe_files.read_bytes(safe_files.real(path), MAX_BYTES).decode("utf-8")
    except safe_files.UnsafeFileError as error:
        raise EffioError(f"{path}: {error.strerror}: no settings of effio") from None
    except OSError as error:
        raise EffioError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise EffioError(f"{path}: not UTF-8 (byte {error.start})") from None
    text = text.replace("\r\n", "\n")
    if line := _too_deep(text):
        raise EffioError(f"{path}:{line}: nested more than {_DEEPEST} levels deep")
    try:
        return TomlFile(path, text, tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        where = f"{path}:{found[1]}:{found[2]}" if found else str(path)
        if "(at end of document)" in str(error):
            where = f"{path}:{len(lines(text))}:1"
        what = str(error).partition(" (at ")[0]
        if "int_max_str_digits" in what and (digits := _MANY_DIGITS.search(text)):
            where = f"{path}:{text.count(chr(10), 0, digits.start()) + 1}"
            what = "a number of too many digits"
        raise EffioError(f"{where}: {what or 'nested too deeply'}") from None


def file_hint(name: str) -> str:
    """A hint for an unknown name: the file of this name and the ending .toml; empty if none is."""
    file = f"{name}.toml"
    there = os.path.isfile(file)  # noqa: PTH113 (a name may be too long)
    return f"name the file in full: {plain(file, 100)}" if there else ""


# Kinds of files: a key that only this kind has, what such a file holds, and the command for it.
_KINDS = {
    "step": ("a campaign", "effio run {}"),
    "rule": ("acceptance rules", "effio accept {} RUN"),
    "vary": ("a tuning", "effio tune {}"),
    "activity": ("the I/O of an application", "effio profile {}"),
}


def is_campaign(path: Path) -> bool:
    """Whether the file has what only campaigns have. False if it cannot be read."""
    try:
        return "step" in read(path).table
    except EffioError:
        return False


def campaign_name(path: Path) -> str:
    """The name that a campaign or a tuning has by its file."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.stem).strip("-.")
    return name[:_MOST_NAME].strip("-.") or "campaign"


def chosen_name(given: str | None, of_file: str) -> str:
    """The name that the user gives, else that of the file."""
    name = of_file if given is None else given
    if given is not None and not _NAME.fullmatch(given):
        raise EffioError(
            f"--name: at most {_MOST_NAME} letters, digits, '-', '_' and '.',"
            " and a letter or digit first"
        )
    if name == "last":
        raise EffioError("'last' means the newest one everywhere", hint="name it: --name WORD")
    return name


def _refuse_other_kind(model: type[BaseModel], file: TomlFile) -> None:
    """Refuses a file for another command with one sentence in place of all its faults."""
    found = [key for key in _KINDS if key in file.table]
    if len(found) != 1 or found[0] in model.model_fields:
        return
    holds, command = _KINDS[found[0]]
    own = next((_KINDS[key][0] for key in _KINDS if key in model.model_fields), "")
    raise EffioError(
        f"{file.path} holds {holds}" + (f", not {own}" if own else ", which cannot be used here"),
        hint=f"the command for it: {command.format(file.path)}",
    ) from None


# What other tools call it, where no letters are alike.
_ALSO_CALLED = {
    "axes": "sweep", "axis": "sweep", "matrix": "sweep", "parameters": "sweep", "params": "sweep",
    "args": "options", "arguments": "options", "env": "environment", "variables": "environment",
    "np": "ranks", "processes": "ranks", "procs": "ranks", "tasks": "ranks",
    "ppn": "ranks_per_node", "tasks_per_node": "ranks_per_node", "iterations": "repetitions",
    "depends": "needs",
}  # fmt: skip


def nearest(word: str, known: Sequence[str]) -> str:
    """What to add of known words: the one that is meant or closest, or all where there are few."""
    meant = _ALSO_CALLED.get(word.lower().replace("-", "_"), "")
    close = meant if meant in known else closest(word, known)
    if close:
        return f"; did you mean '{close}'?"
    return f"; there are: {', '.join(known)}" if 0 < len(known) <= 12 else ""


def validated(model: type[M], file: TomlFile, given: Mapping[str, object] | None = None) -> M:
    """The file as this model; `given` are members that it need not have. Raises with every fault
    at once, each with its place."""
    from pydantic import ValidationError

    try:
        return model.model_validate({**(given or {}), **file.table})
    except ValidationError as error:
        _refuse_other_kind(model, file)
        faults = _faults(error, model, file)
        first = [plain(line) for line in islice(faults, _MOST_FAULTS)]
        more = ["and more"] if next(faults, None) is not None else []
        raise EffioError("\n".join(first + more)) from None


def _faults(error: ValidationError, model: type[BaseModel], file: TomlFile) -> Iterator[str]:
    reported = set()
    every = error.errors(include_url=False)
    # Where something other than a single value would do.
    wider = {f["loc"][:end] for f in every for end in range(len(f["loc"])) if not _of_scalar(f)}
    for fault in every:
        loc = _place_in(file.table, fault["loc"])
        if fault["type"] == "too_short" and fault["input"]:
            continue  # its members are wrong, which is reported
        name = ".".join(map(str, loc)) or "file"
        what = fault["msg"].removeprefix("Value error, ")
        what = what.replace("Tuple", "List").replace("tuple", "list")
        if fault["type"] == "extra_forbidden":
            what = f"unknown key '{loc[-1]}'{nearest(str(loc[-1]), _keys_around(model, loc))}"
        elif fault["type"] == "missing":
            what = f"'{loc[-1]}' is missing"
            loc = loc[:-1]
        elif fault["type"] == "union_tag_not_found":
            what = f"{fault['ctx']['discriminator']} is missing"
        elif fault["type"] == "union_tag_invalid":
            key = fault["ctx"]["discriminator"].strip("'")
            words = re.findall(r"'([^']*)'", fault["ctx"]["expected_tags"])
            what = f"no {key} '{fault['ctx']['tag']}'{nearest(str(fault['ctx']['tag']), words)}"
            loc = (*loc, key)
        elif (
            _of_scalar(fault)
            and isinstance(fault["input"], list)
            and fault["loc"][:-1] not in wider
        ):
            what = f"{name}: one value is meant{_as_text(fault['input'])}"
        elif fault["input"] == "":
            what = f"'{loc[-1] if loc else name}' is not filled in"
        elif fault["type"] == "literal_error":
            words = re.findall(r"'([^']*)'", str(fault.get("ctx", {}).get("expected", "")))
            what = f"{name}: no choice '{fault['input']}'{nearest(str(fault['input']), words)}"
        elif fault["type"] in _UNQUOTED and isinstance(fault["input"], str):
            what = f"{name}: {_UNQUOTED[fault['type']]} is meant, without quotes"
        else:
            what = f"{name}: {what}"
        if name not in what and not file.has_places:
            what = f"{name}: {what}"
        line = file.fault(loc, what)
        if line not in reported:  # every member of a union complains
            reported.add(line)
            yield line


_SCALARS = ("bool", "int", "float", "str")


def _of_scalar(fault: Mapping[str, Any]) -> bool:
    """Whether it is what a single value among the members of a union says."""
    return bool(fault["loc"]) and fault["loc"][-1] in _SCALARS


def _as_text(values: list[object]) -> str:
    """How an option takes several: "create,stat"."""
    if values and all(isinstance(value, str) for value in values):
        return f'; several are one text: "{",".join(map(str, values))}"'
    return ", not a list"


def _place_in(table: object, loc: Loc) -> Loc:
    """pydantic also names members of unions and validators in a place. Keys of the file may look
    like them: they are known by being there."""
    place: list[int | str] = []
    inside: Any = table
    for part in loc:
        there = isinstance(inside, dict) and part in inside
        if isinstance(inside, dict) and not there and inside.get("kind") == part:
            continue  # the kind of a rule is a value, which pydantic puts into the place
        if there or isinstance(part, int) or _may_be_a_key(part):
            place.append(part)
        if there or (isinstance(inside, list) and isinstance(part, int) and part < len(inside)):
            inside = inside[part]
    return tuple(place)


def _may_be_a_key(part: str) -> bool:
    return bool(re.fullmatch(r"[A-Za-z0-9_.-]+", part)) and part not in _SCALARS


def _keys_around(model: type[BaseModel], loc: Loc) -> list[str]:
    """The keys of the table that contains a part."""
    inside: list[type[BaseModel]] = [model]
    for part in loc[:-1]:
        found = [
            within
            for one in inside
            if part in one.model_fields
            for within in _models_in(one.model_fields[str(part)].annotation)
        ]
        inside = found or inside
    names = [field.alias or name for one in inside for name, field in one.model_fields.items()]
    return list(dict.fromkeys(names))


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models in an annotation: of a table, of lists of them, and of tables by name."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    elif get_origin(annotation) is not Literal:
        for part in get_args(annotation):
            yield from _models_in(part)
