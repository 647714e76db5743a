"""Word lists: words that analyses look for in texts, or that end the prompts of measures."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from probing.models.purpose import WordPurpose


def validate_words(words: object) -> None:
    """Raise unless ``words`` is a list of words, each once."""
    if not isinstance(words, list) or not words:
        raise ValidationError(_("A word list holds at least one word."))
    if not all(isinstance(word, str) and word.strip() for word in words):
        raise ValidationError(_("Every entry of a word list is a word."))
    if any(";" in word for word in words):
        raise ValidationError(_("An entry holds several words, expected one word or phrase each."))
    if len({word.casefold() for word in words}) < len(words):
        raise ValidationError(_("A word comes twice, expected every word once."))


class WordList(models.Model):
    """Words in the order of their file. Analyses name it by its slug."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=160)
    purpose = models.CharField(max_length=20, choices=WordPurpose, default=WordPurpose.LOOKUP)
    words = models.JSONField(default=list, validators=[validate_words])
    citation = models.TextField(blank=True, help_text=_("Who made the list, and where it is from."))
    licence = models.CharField(max_length=160, help_text=_("For example MIT, or what was agreed."))
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title
