# SPDX-License-Identifier: BSD-3-Clause
"""How a file system spreads files over its servers, as an axis of a campaign: `layout` = "servers=4
chunk=1MiB". Each layout has a directory below the campaign's, which the file system's own command
lays out; files that are made there get that layout.

The commands and what they print are those of Lustre 2.15, BeeGFS 7.4 and MooseFS 3.0. A layout of
GlusterFS belongs to its volume: `dir=/mnt/dispersed` measures the same on another mount.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from effio import text as fmt
from effio.config.toml_file import nearest
from effio.errors import EffioError
from effio.store import safe_files
from effio.store.abilities import mount_of
from effio.store.folder import COMMANDS
from effio.store.masking import masked_words

AXIS = "layout"
AS_IT_IS = "default"
_KEYS = ("servers", "chunk", "class", "copies", "dir")


class LayoutError(EffioError):
    """A layout that is not one, or that the file system cannot have."""


@dataclass(frozen=True)
class _Tool:
    """The tool of one file system: commands that lay a directory out for the keys that are given, a
    command that shows how it is laid out, and what of its output is the value of a key."""

    lays_out: Callable[[Mapping[str, str], str], list[list[str]]]
    shows: Callable[[Mapping[str, str], str], list[str]]
    values: Mapping[str, str] = field(default_factory=dict)  # key -> pattern


def _lustre(wanted: Mapping[str, str], place: str) -> list[list[str]]:
    flags = {"servers": "-c", "chunk": "-S", "class": "-p"}
    words = [word for key, flag in flags.items() if key in wanted for word in (flag, wanted[key])]
    return [["lfs", "setstripe", *words, place]]


def _beegfs(wanted: Mapping[str, str], place: str) -> list[list[str]]:
    flags = {"servers": "--numtargets", "chunk": "--chunksize", "class": "--storagepoolid"}
    words = [f"{flag}={wanted[key]}" for key, flag in flags.items() if key in wanted]
    return [["beegfs-ctl", "--setpattern", *words, place]]


def _moosefs(wanted: Mapping[str, str], place: str) -> list[list[str]]:
    tools = {"class": "mfssetsclass", "copies": "mfssetgoal"}
    return [[tool, wanted[key], place] for key, tool in tools.items() if key in wanted]


_TOOLS: Mapping[str, _Tool] = {
    "lustre": _Tool(
        _lustre,
        lambda _, place: ["lfs", "getstripe", "-d", place],
        {
            "servers": r"stripe_count:\s+(-?\d+)",
            "chunk": r"stripe_size:\s+(\d+)",
            "class": r"pool:\s+(\S+)",
        },
    ),
    "beegfs": _Tool(
        _beegfs,
        lambda _, place: ["beegfs-ctl", "--getentryinfo", place],
        {
            "servers": r"Number of storage targets: desired: (\d+)",
            "chunk": r"Chunksize: (\S+)",
            "class": r"Storage Pool: (\d+)",
        },
    ),
    "fuse.mfs": _Tool(
        _moosefs,
        lambda wanted, place: ["mfsgetgoal" if "copies" in wanted else "mfsgetsclass", place],
        {"copies": r": (\d+)\s*$", "class": r": '?([^'\s]+)'?\s*$"},
    ),
}
_SETTABLE = {name: tuple(tool.values) for name, tool in _TOOLS.items()}


def parsed(text: str) -> dict[str, str]:
    """ "servers=4 chunk=1MiB" by key; nothing for "default". Raises LayoutError."""
    found: dict[str, str] = {}
    for word in () if text.strip() == AS_IT_IS else text.split():
        key, _, value = word.partition("=")
        if key not in _KEYS:
            raise LayoutError(f"layout '{text}': '{key}' is not a key{nearest(key, _KEYS)}")
        if not value:
            raise LayoutError(f"layout '{text}': {key} has no value")
        if key == "chunk":
            size = fmt.parse_size(value)
            if not size:
                raise LayoutError(f"layout '{text}': '{value}' is not a size")
            value = str(size)
        if key == "class" and value.startswith("-"):
            raise LayoutError(f"layout '{text}': a class does not start with '-'")
        if key in ("servers", "copies") and not re.fullmatch(r"-1|[1-9]\d*", value):
            raise LayoutError(f"layout '{text}': {key} is a number, or -1 for all")
        found[key] = value
    if not found and text.strip() != AS_IT_IS:
        raise LayoutError(f"a layout is '{AS_IT_IS}', or words such as servers=4 chunk=1MiB")
    if "dir" in found and len(found) > 1:
        raise LayoutError(f"layout '{text}': dir= names a directory that is laid out already")
    return found


def directory_of(text: str, directory: str) -> str:
    """Where runs with this layout have their files."""
    wanted = parsed(text)
    if not wanted:
        return directory
    if "dir" in wanted:
        return wanted["dir"]
    words = re.sub(r"[^A-Za-z0-9.-]+", "-", " ".join(text.split()))
    return str(Path(directory) / f"effio-layout-{words}")


@dataclass(frozen=True)
class Laying:
    """Commands around a run. The last one before it shows the layout: its output stays with the
    run."""

    text: str = ""
    kind: str = ""
    setup: tuple[tuple[str, ...], ...] = ()
    cleanup: tuple[tuple[str, ...], ...] = ()


def laying(text: str, directory: str, kind: str | None = None) -> Laying:
    """Raises LayoutError where the file system has no such layout. Without `kind`, that of
    `directory` is looked up."""
    wanted = parsed(text)
    if not wanted or "dir" in wanted:
        return Laying()
    kind = kind or mount_of(Path(directory))[0]
    tool = _TOOLS.get(kind)
    if tool is None:
        raise LayoutError(
            f"layout '{text}': {directory} is on {kind}, whose layout effio cannot set",
            hint="dir=PATH names a directory with another layout",
        )
    if unknown := [key for key in wanted if key not in _SETTABLE[kind]]:
        raise LayoutError(
            f"layout '{text}': {kind} has no {unknown[0]}, only {', '.join(_SETTABLE[kind])}"
        )
    place = directory_of(text, directory)
    if place.startswith("-"):
        place = f"./{place}"  # a command would take it for an option
    shows = tool.shows(wanted, place)
    return Laying(
        text,
        kind,
        (("mkdir", "-p", place), *map(tuple, tool.lays_out(wanted, place)), tuple(shows)),
        (("rmdir", "--ignore-fail-on-non-empty", place),),
    )


def fault_of(laid: Laying, folder: Path) -> str:
    """Why a run whose set-up is done is not to begin: its directory is laid out differently.
    `folder` is the run's."""
    if not laid.setup:
        return ""
    shows = masked_words(laid.setup[-1])  # as it is in the file
    with contextlib.suppress(OSError, ValueError, RecursionError):
        for line in fmt.lines(safe_files.read_text(folder / COMMANDS)):
            entry = safe_files.json_of(line)
            if isinstance(entry, dict) and entry.get("command") == shows:
                what = difference(laid.text, laid.kind, str(entry.get("said", "")))
                return f"layout '{laid.text}': {what}" if what else ""
    return ""


def shown(kind: str, text: str) -> dict[str, str]:
    """What the file system's command says of a directory, by the keys of a layout; sizes in
    bytes."""
    found = {}
    for key, pattern in _TOOLS[kind].values.items():
        if match := re.search(pattern, text, re.MULTILINE):
            value = match[1]
            size = fmt.parse_size(re.sub(r"(?<=\d)([KMGT])$", r"\1iB", value.upper()))
            found[key] = str(size) if key == "chunk" and size else value
    return found


def difference(text: str, kind: str, said: str) -> str:
    """How a directory differs from the layout that was requested; empty if it does not."""
    wanted, found = parsed(text), shown(kind, said)
    for key, value in wanted.items():
        if key in found and found[key] != value:
            return f"{key} is {fmt.plain(found[key], 100)} instead of {value}"
    return ""
