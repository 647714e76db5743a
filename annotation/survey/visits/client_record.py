"""What the browser timed on a page: no identity, small, and never a reason to lose answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from django.http import QueryDict
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from annotation.models import Means

MAX_CHARACTERS = 16_000
Milliseconds = Annotated[int, Field(ge=0, le=2_147_483_647)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class LineRecord(BaseModel):
    """One rating line: milliseconds from the page's opening to the first touch, changes, and what
    the last answer was given by."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    first_touch_ms: Milliseconds | None = None
    changes: Count | None = None
    means: Means | None = None


class ClientRecord(BaseModel):
    """One page: device class, how it was answered, how long it was open and in view.

    ``pastes`` counts how often something was pasted into a text; what it was is not recorded.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    device: Literal["phone", "tablet", "desktop"] | None = None
    pointer: Literal["touch", "mouse", "keyboard", "mixed"] | None = None
    open_ms: Milliseconds | None = None
    visible_ms: Milliseconds | None = None
    restored: bool = False
    pastes: Count | None = None
    lines: dict[Annotated[str, Field(max_length=80)], LineRecord] = Field(
        default_factory=dict, max_length=200
    )


def read_client_record(data: QueryDict) -> tuple[ClientRecord, dict[str, Any]]:
    """Return the record and what the page event keeps of it.

    A record that is too long or not valid is left out, and the event says so: the answers that came
    with it count all the same. Line records go to the ratings, not to the event.
    """
    sent = data.get("client", "")
    if not sent:
        return ClientRecord(), {}
    if len(sent) > MAX_CHARACTERS:
        return ClientRecord(), {"left_out": "too long"}
    try:
        record = ClientRecord.model_validate_json(sent)
    except ValidationError:
        return ClientRecord(), {"left_out": "not valid"}
    return record, record.model_dump(exclude={"lines"}, exclude_none=True)
