# SPDX-License-Identifier: BSD-3-Clause
"""The questions of the questionnaire, from the members of a profile, and a single answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

# Of what may stay out: how such an answer looks in the blank form.
_SAMPLES = {
    "io_share": "0.1", "times": "1", "ranks": "64", "transfer": '"1MiB"', "piece": '"64KiB"',
    "collective": "1.0", "variables": "1", "flush": "true", "aligned": "1.0",
    "layout": '"consecutive"', "own_directories": "false",
}  # fmt: skip


@dataclass(frozen=True)
class Question:
    """`needed`: there is no profile without it. `usual`: what is taken for no answer."""

    name: str
    text: str
    choices: tuple[str, ...]
    needed: bool
    usual: Any
    field: FieldInfo

    @property
    def sample(self) -> str:
        return _SAMPLES.get(self.name, "0")


class AnswerError(ValueError):
    """Why an answer is none."""


def questions(model: type[BaseModel]) -> list[Question]:
    """The questions in the order of the members; those without a description are not questions."""
    return [
        Question(
            name=name,
            text=field.description,
            choices=tuple(a for a in get_args(field.annotation) if isinstance(a, str)),
            needed=field.is_required(),
            usual=None if field.is_required() else field.default,
            field=field,
        )
        for name, field in model.model_fields.items()
        if field.description
    ]


def _typed(text: str) -> Any:
    """The value as TOML would have it; sizes and times stay text."""
    if text in ("yes", "true", "no", "false"):
        return text in ("yes", "true")
    if re.fullmatch(r"\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"\d{1,18}\.\d{1,18}", text):
        return float(text)
    return text


def answer(question: Question, text: str) -> Any:
    """The value of what the user typed; raises AnswerError."""
    text = text.strip()
    if not text:
        if question.needed:
            raise AnswerError("there is no profile without it")
        return question.usual
    if question.choices and text not in question.choices:
        raise AnswerError(f"one of {', '.join(question.choices)}")
    kind: Any = Annotated[question.field.annotation, question.field]
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    reported = ""
    # A name may be a number, too.
    for value in (_typed(text), text):
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            reported = reported or error.errors(include_url=False)[-1]["msg"]
    raise AnswerError(reported.removeprefix("Value error, "))
