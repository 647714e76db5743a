"""What prompts and word lists are for."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class PromptPurpose(models.TextChoices):
    """Wordings of :data:`GUISES` are those of matched guise probing, which end with a gap."""

    COUNTERPARTS = "counterparts", _("Asking for a counterpart")
    CLASSES = "classes", _("Asking for the class of a text")
    TRAITS = "traits", _("Guises: traits of the speaker")
    OCCUPATIONS = "occupations", _("Guises: the speaker’s occupation")
    GUILT = "guilt", _("Guises: guilty or not")
    PENALTY = "penalty", _("Guises: the penalty")
    INTELLIGENCE = "intelligence", _("Guises: the speaker’s IQ")
    OVERT = "overt", _("Guises named: traits of a race")


#: Purposes of matched guise probing.
GUISES = (
    PromptPurpose.TRAITS,
    PromptPurpose.OCCUPATIONS,
    PromptPurpose.GUILT,
    PromptPurpose.PENALTY,
    PromptPurpose.INTELLIGENCE,
    PromptPurpose.OVERT,
)


class WordPurpose(models.TextChoices):
    """Words to look for in texts, or words that end the prompts of the same purpose."""

    LOOKUP = "lookup", _("Looked for in texts")
    TRAITS = PromptPurpose.TRAITS.value, _("Attributes: traits")
    OCCUPATIONS = PromptPurpose.OCCUPATIONS.value, _("Attributes: occupations")
    GUILT = PromptPurpose.GUILT.value, _("Attributes: verdicts")
    PENALTY = PromptPurpose.PENALTY.value, _("Attributes: penalties")
    INTELLIGENCE = PromptPurpose.INTELLIGENCE.value, _("Attributes: IQ values")
