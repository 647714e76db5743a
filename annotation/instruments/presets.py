"""Whole instruments to begin with, beside the platform's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from annotation.instruments.default_wording import default_wording
from annotation.instruments.flow import DEFAULT_FLOW
from annotation.instruments.known_texts import list_known, new_content
from annotation.models import PoleSides, Skipping, StudyKind
from annotation.steps.checks import GroupName, MarkedTraits, TypedTraits
from annotation.steps.consent import Consent
from annotation.steps.demographics import Demographics
from annotation.steps.instructions import Instructions
from annotation.steps.practice import Practice
from annotation.steps.rating import RatingStep, Repeat
from annotation.steps.reading_checks import Instructed


class PresetName(TextChoices):
    OWN = "", _("The platform’s own")
    CAO_2022 = "cao-2022-as-printed", _("Cao et al. 2022, as printed")
    SHORT = "short-abc", _("Short ABC survey")


def with_practice(flow: Sequence[Any]) -> list[Any]:
    """Return a flow with a practice page after its instructions."""
    content = new_content(Practice, list_known())
    place = list(flow).index(Instructions.name) + 1
    return [*flow[:place], {"kind": Practice.name, **content}, *flow[place:]]


@dataclass(frozen=True)
class Preset:
    """What an instrument begins with.

    flow : its steps
    options : fields of the instrument that the preset decides
    wording : texts that differ from the platform's own
    scales : slugs of the trait pairs, where these are not all of the paper's
    minutes : what participants are told that it takes, before anything is changed
    """

    flow: tuple[Any, ...] = tuple(DEFAULT_FLOW)
    options: Mapping[str, Any] = field(default_factory=dict)
    wording: Mapping[str, str] = field(default_factory=dict)
    scales: tuple[str, ...] = ()
    minutes: int = 10


# Section 4 and Figure A2 of the paper: question, instructions, sides, ticks, and checks. In
# “{low}” and “{high}” stand the words of all lines.
CAO_2022 = Preset(
    flow=tuple(
        TypedTraits.name if kind == MarkedTraits.name else kind
        for kind in with_practice(DEFAULT_FLOW)
    ),
    options={
        "pole_sides": PoleSides.FIXED,
        "show_ticks": True,
        "skipping": Skipping.NEVER,
    },
    wording={
        "question": (
            "As viewed by American society, (while my own opinions may differ), how {low} versus "
            "{high} are {group}?"
        ),
        "instructions_body": (
            "Some kind of people in our society are viewed as [powerful, confident], while other "
            "kind of people in our society are viewed as [the opposite stereotype; powerless, "
            "unconfident].\n\n"
            "In the following pages, you will be provided with 5 social groups.\n\n"
            "For each listed social group, please rate how people in America stereotype the group. "
            "We will provide a list of trait pairs (e.g., powerless to powerful) and you are to "
            "rate where in that range you believe the group is stereotyped.\n\n"
            "Importantly, we are not interested in your personal beliefs, but rather how you think "
            "people in America view these groups.\n\n"
            "Note that there will be test questions in the survey."
        ),
    },
)
# Two groups on two lines of each dimension, with one check that rests on memory.
SHORT = Preset(
    flow=tuple(
        with_practice(
            [
                Consent.name,
                Instructions.name,
                RatingStep.name,
                GroupName.name,
                RatingStep.name,
                Demographics.name,
            ]
        )
    ),
    scales=(
        "powerless-powerful",
        "poor-wealthy",
        "traditional-modern",
        "conservative-liberal",
        "cold-warm",
        "untrustworthy-trustworthy",
    ),
    minutes=4,
)
PRESETS: dict[str, Preset] = {
    PresetName.OWN.value: Preset(),
    PresetName.CAO_2022.value: CAO_2022,
    PresetName.SHORT.value: SHORT,
}

# Six texts, which is three of each of two varieties; a check that rests on memory and one that
# rests on reading alone; one text again.
SPEAKERS = Preset(
    flow=(
        Consent.name,
        Instructions.name,
        RatingStep.name,
        RatingStep.name,
        MarkedTraits.name,
        RatingStep.name,
        {
            "kind": Instructed.name,
            **new_content(Instructed, ["en", "es"]),
        },
        RatingStep.name,
        RatingStep.name,
        RatingStep.name,
        Repeat.name,
        Demographics.name,
    ),
    wording=default_wording(StudyKind.GUISE_RATING),
)
