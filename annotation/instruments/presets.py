"""Whole instruments to begin with, beside the platform's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from annotation.instruments.default_wording import default_wording
from annotation.instruments.flow import DEFAULT_FLOW
from annotation.instruments.known_texts import list_known
from annotation.instruments.step_defaults import default_content
from annotation.instruments.step_kinds import StepKind
from annotation.models import PoleSides, StudyKind


class PresetName(TextChoices):
    OWN = "", _("The platform’s own")
    CAO_2022 = "cao-2022-as-printed", _("Cao et al. 2022, as printed")
    SHORT = "short-abc", _("Short ABC survey")


def with_practice(flow: Sequence[Any]) -> list[Any]:
    """Return a flow with a practice page after its instructions."""
    content = default_content(StepKind.PRACTICE, list_known()) or {}
    place = list(flow).index(StepKind.INSTRUCTIONS) + 1
    return [*flow[:place], {"kind": StepKind.PRACTICE.value, **content}, *flow[place:]]


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
        StepKind.TYPED_TRAITS.value if kind == StepKind.MARKED_TRAITS else kind
        for kind in with_practice(DEFAULT_FLOW)
    ),
    options={"pole_sides": PoleSides.FIXED, "show_ticks": True},
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
                StepKind.CONSENT.value,
                StepKind.INSTRUCTIONS.value,
                StepKind.RATING.value,
                StepKind.GROUP_NAME.value,
                StepKind.RATING.value,
                StepKind.DEMOGRAPHICS.value,
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
        StepKind.CONSENT.value,
        StepKind.INSTRUCTIONS.value,
        StepKind.RATING.value,
        StepKind.RATING.value,
        StepKind.MARKED_TRAITS.value,
        StepKind.RATING.value,
        {
            "kind": StepKind.INSTRUCTED.value,
            **(default_content(StepKind.INSTRUCTED, ["en", "es"]) or {}),
        },
        StepKind.RATING.value,
        StepKind.RATING.value,
        StepKind.RATING.value,
        StepKind.REPEAT.value,
        StepKind.DEMOGRAPHICS.value,
    ),
    wording=default_wording(StudyKind.GUISE_RATING),
)
