"""Prompts: wordings that ask models for a counterpart, about a speaker, or for a class."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from probing.models.purpose import PromptPurpose


def validate_prompt_text(text: str, purpose: str = PromptPurpose.COUNTERPARTS) -> None:
    """Raise unless ``text`` has the placeholders that the purpose asks for, and no others."""
    from probing.measures.class_prompts import ClassPrompt
    from probing.measures.prompts import PromptError, parse_prompt

    try:
        if purpose == PromptPurpose.CLASSES:
            ClassPrompt("", text)
        else:
            parse_prompt(text)
    except PromptError as error:
        raise ValidationError(str(error)) from error


class Prompt(models.Model):
    """A wording with {text} for the text, and other placeholders by its purpose."""

    slug = models.SlugField(max_length=100, unique=True)
    purpose = models.CharField(
        max_length=20, choices=PromptPurpose, default=PromptPurpose.COUNTERPARTS
    )
    text = models.TextField(
        help_text=_(
            "With {text} once; {source} and {target} stand for the varieties’ names. A prompt that "
            "asks for a class has {answer} where the model goes on ({Answer} for a capital), and "
            "perhaps {labels} for the names of the classes and {reasoning} before the answer."
        ),
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

    def clean(self) -> None:
        try:
            validate_prompt_text(self.text, self.purpose)
        except ValidationError as error:
            raise ValidationError({"text": error.messages}) from error
