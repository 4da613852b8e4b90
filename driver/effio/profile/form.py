# SPDX-License-Identifier: BSD-3-Clause
"""The questionnaire as a TOML file: written blank or filled, read back strictly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import BaseModel

from effio.config.toml_file import read, validated
from effio.profile.model import Activity, Names, Profile
from effio.profile.questions import Question, questions

_HEAD = """# The I/O questionnaire: what is the I/O of your application like, in a typical run?
# Fill in what is "", numbers without quotes. What may stay out is ready to be uncommented.
# One [[activity]] for each kind of I/O: an input, a checkpoint, results. Bytes are those of all
# processes together. Then: effio profile FILE, and effio profile FILE --campaign CAMPAIGN.toml
"""
_SCHEMA = Profile.model_fields["schema_name"].default


def _blank_lines(asked: list[Question]) -> Iterator[str]:
    for one in asked:
        what = f"{one.text}: {', '.join(one.choices)}" if one.choices else one.text
        yield f"# {what}" + ("" if one.needed else " (may stay out)")
        yield f'{one.name} = ""' if one.needed else f"# {one.name} = {one.sample}"


def blank() -> str:
    """The form to fill in."""
    lines = [_HEAD, f'schema = "{_SCHEMA}"', ""]
    lines += _blank_lines(questions(Profile))
    lines += ["", "[[activity]]", *_blank_lines(questions(Activity))]
    lines += ["", "# In addition to the files above: files in great numbers.", "[names]"]
    lines += _blank_lines(questions(Names))
    return "\n".join(lines) + "\n"


def _reported(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(exclude_none=True, exclude_defaults=True, by_alias=True, mode="json")


def filled(profile: Profile) -> str:
    """The form with all that is known."""
    document = tomlkit.document()
    for line in _HEAD.rstrip("\n").splitlines():
        document.add(tomlkit.comment(line.removeprefix("# ")))
    document.add(tomlkit.nl())
    table = {"schema": _SCHEMA, **_reported(profile)}
    parts = {key: table.pop(key) for key in ("activity", "names", "phase") if key in table}
    document.update(table)
    for key, part in parts.items():
        if isinstance(part, dict):
            document[key] = part
        else:
            rows = tomlkit.aot()
            for row in part:
                rows.append(tomlkit.item(row))
            document[key] = rows
    return tomlkit.dumps(document)


def load(path: Path) -> Profile:
    """Raises with every fault of the file at once, each with its place."""
    return validated(Profile, read(path))
