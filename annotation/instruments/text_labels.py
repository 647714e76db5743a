"""What the texts of an instrument are called on pages, and at which kind of step each is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.text_shortening import shorten
from annotation.instruments.default_wording import default_wording
from annotation.instruments.step_kinds import StepKind


@dataclass(frozen=True)
class TextLabel:
    """``is_long``: it may have paragraphs."""

    kind: StepKind
    label: Any
    is_long: bool = False


TEXT_LABELS = {
    "consent_title": TextLabel(StepKind.CONSENT, _("Title")),
    "consent_body": TextLabel(StepKind.CONSENT, _("What participants read"), is_long=True),
    "consent_agree": TextLabel(StepKind.CONSENT, _("Words of the box to agree")),
    "instructions_title": TextLabel(StepKind.INSTRUCTIONS, _("Title")),
    "instructions_body": TextLabel(
        StepKind.INSTRUCTIONS, _("What participants read"), is_long=True
    ),
    "text_label": TextLabel(StepKind.RATING, _("Above the text")),
    "speaker": TextLabel(StepKind.RATING, _("What the writer of a text is called")),
    "question": TextLabel(StepKind.RATING, _("Question")),
    "question_lead": TextLabel(StepKind.RATING, _("Lines under the question"), is_long=True),
    "debrief_title": TextLabel(StepKind.DEBRIEF, _("Title")),
    "debrief_body": TextLabel(StepKind.DEBRIEF, _("What participants read"), is_long=True),
}


def text_labels(study_kind: str) -> dict[str, TextLabel]:
    """Return the texts of a kind of study by key, in the order of pages."""
    wanted = default_wording(study_kind)
    return {key: found for key, found in TEXT_LABELS.items() if key in wanted}


def name_texts(keys: Iterable[str], sources: Mapping[str, str] | None = None) -> list[str]:
    """Return what people call the texts of ``keys``; ``sources`` holds their words by key."""
    known = sources or {}
    return [
        f"{TEXT_LABELS[key].kind.label}: {TEXT_LABELS[key].label}"
        if key in TEXT_LABELS
        else f"“{shorten(known.get(key, key))}”"
        for key in keys
    ]
