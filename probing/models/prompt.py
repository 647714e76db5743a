"""Prompts: the wordings in which models are asked for a counterpart or about a speaker."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from probing.models.purpose import PromptPurpose


def validate_prompt_text(text: str) -> None:
    """Raise unless ``text`` has the placeholder {text} once and no unknown placeholder."""
    from probing.measures.prompts import PromptError, parse_prompt

    try:
        parse_prompt(text)
    except PromptError as error:
        raise ValidationError(str(error)) from error


class Prompt(models.Model):
    """A wording with {text} for the text, {source} and {target} for the varieties' names."""

    slug = models.SlugField(max_length=100, unique=True)
    purpose = models.CharField(
        max_length=20, choices=PromptPurpose, default=PromptPurpose.COUNTERPARTS
    )
    text = models.TextField(
        validators=[validate_prompt_text],
        help_text=_("With {text} once; {source} and {target} stand for the varieties’ names."),
    )
    variety_names = models.JSONField(
        default=dict,
        blank=True,
        help_text=_(
            "How the prompt calls the varieties, such as AAL: African American Vernacular English."
        ),
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug
