# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark adds under `detail`, typed. Each module that reports a benchmark derives its
models from `Detail`; a member that is of another kind than it should be counts as missing, so that
no caller has to check."""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    GetCoreSchemaHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
)
from pydantic_core import CoreSchema, core_schema

from effio.store.records import Figure, Measurement, Number

D = TypeVar("D", bound="Detail")
T = TypeVar("T")


class Detail(BaseModel):
    """Every member has a default."""

    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A member that is wrong has its default. Pydantic's own code does it: a validator in
        Python took most of the time of a report of many measurements. So did copies of defaults,
        which nothing changes."""
        schema = handler(source)
        found: Any = handler.resolve_ref_schema(schema)
        while "fields" not in found:
            found = found["schema"]
        for name, field in found["fields"].items():
            assert field["schema"]["type"] == "default", f"{cls.__name__}.{name} has no default"
            field["schema"] |= {"on_error": "default", "copy_default": False}
        return schema

    @classmethod
    def of(cls: type[D], record: Measurement | Figure) -> D:
        return cls.model_validate(record.detail)


class Rows(list[T]):
    """Records that mean something each alone: those of another kind than they should be are left
    out, and counted. Not for lists in which the place matters."""

    left_out: int = 0

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        (row,) = get_args(source)
        return core_schema.no_info_wrap_validator_function(
            cls._of,
            handler.generate_schema(list[row]),  # type: ignore[valid-type]
        )

    @classmethod
    def _of(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Rows[T]:
        try:
            return cls(handler(value))
        except ValidationError:
            if not isinstance(value, list):
                raise
        rows: Rows[T] = cls()
        for row in value:
            try:
                rows += handler([row])
            except ValidationError:
                rows.left_out += 1
        return rows


class Range(Detail):
    """Over ranks, repetitions or messages; the unit is in the member's name."""

    min: Number | None = None
    mean: Number | None = None
    max: Number | None = None
