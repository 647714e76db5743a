"""The thresholds at which the platform raises quality flags: numbers of a study, with defaults."""

from __future__ import annotations

from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field
from pydantic import ValidationError as SchemaError


class Thresholds(BaseModel):
    """Thresholds of a study; None switches a flag off.

    Why these defaults: ``docs/quality.md``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    speed_index: Annotated[float, Field(ge=1, le=3, allow_inf_nan=False)] | None = 2.0
    seconds_per_line: Annotated[float, Field(gt=0, le=60, allow_inf_nan=False)] | None = 1.0
    straight_share: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)] | None = 0.75
    straight_run: Annotated[int, Field(ge=4, le=200)] | None = 10
    straight_spread: Annotated[float, Field(ge=0, le=50, allow_inf_nan=False)] | None = 2.0
    straight_pages: Annotated[int, Field(ge=1, le=100)] | None = 1
    untouched_share: Annotated[float, Field(ge=0, lt=1, allow_inf_nan=False)] | None = 0.1
    other_studies: Annotated[int, Field(ge=1, le=1000)] | None = 1
    copied_characters: Annotated[int, Field(ge=1, le=5000)] | None = 20
    pastes: Annotated[int, Field(ge=1, le=1000)] | None = 1
    clock_seconds: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] | None = 5.0
    hidden_field: bool = True
    same_identity: bool = True


def validate_thresholds(value: Any) -> None:
    """Raise Django's `ValidationError` unless ``value`` holds thresholds."""
    try:
        Thresholds.model_validate(value)
    except SchemaError as error:
        raise ValidationError(
            [
                _("Threshold “%(name)s”: %(problem)s.")
                % {"name": " ".join(map(str, found["loc"])), "problem": found["msg"]}
                for found in error.errors()
            ]
        ) from error
