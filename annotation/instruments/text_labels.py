"""What the texts of an instrument are called on pages, and at which kind of step each is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.text_shortening import shorten
from annotation.instruments.default_wording import default_wording
from annotation.steps.consent import Consent
from annotation.steps.instructions import Debrief, Instructions
from annotation.steps.kind import KINDS
from annotation.steps.rating import RatingStep


@dataclass(frozen=True)
class TextLabel:
    """``is_long``: it may have paragraphs."""

    kind: str
    label: Any
    is_long: bool = False


TEXT_LABELS = {
    "consent_title": TextLabel(Consent.name, _("Title")),
    "consent_body": TextLabel(Consent.name, _("What participants read"), is_long=True),
    "consent_agree": TextLabel(Consent.name, _("Words of the box to agree")),
    "instructions_title": TextLabel(Instructions.name, _("Title")),
    "instructions_body": TextLabel(Instructions.name, _("What participants read"), is_long=True),
    "text_label": TextLabel(RatingStep.name, _("Above the text")),
    "speaker": TextLabel(RatingStep.name, _("What the writer of a text is called")),
    "question": TextLabel(RatingStep.name, _("Question")),
    "question_lead": TextLabel(RatingStep.name, _("Lines under the question"), is_long=True),
    "debrief_title": TextLabel(Debrief.name, _("Title")),
    "debrief_body": TextLabel(Debrief.name, _("What participants read"), is_long=True),
}


def text_labels(study_kind: str) -> dict[str, TextLabel]:
    """Return the texts of a kind of study by key, in the order of pages."""
    wanted = default_wording(study_kind)
    return {key: found for key, found in TEXT_LABELS.items() if key in wanted}


def name_texts(keys: Iterable[str], sources: Mapping[str, str] | None = None) -> list[str]:
    """Return what people call the texts of ``keys``; ``sources`` holds their words by key."""
    known = sources or {}
    return [
        f"{KINDS[TEXT_LABELS[key].kind].label}: {TEXT_LABELS[key].label}"
        if key in TEXT_LABELS
        else f"“{shorten(known.get(key, key))}”"
        for key in keys
    ]
