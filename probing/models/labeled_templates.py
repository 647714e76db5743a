"""Labeled templates, lexicons of groups and labeled texts: what classifiers are asked about."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from pydantic import TypeAdapter
from simple_history.models import HistoricalRecords


def validate_templates(entries: object) -> None:
    """Raise unless ``entries`` are templates with a placeholder and a label each."""
    from probing.measures.probe_stimuli import ProbeTemplate
    from probing.measures.probe_templates import ProbeTemplateError, placeholders

    try:
        templates = TypeAdapter(list[ProbeTemplate]).validate_python(entries)
        for template in templates:
            placeholders(template.text)
    except (ValueError, ProbeTemplateError) as error:
        raise ValidationError(str(error)) from error
    if not templates:
        raise ValidationError(_("Give at least one template."))


def validate_groups(entries: object) -> None:
    """Raise unless ``entries`` are groups with at least one filler each."""
    from probing.measures.probe_stimuli import ProbeGroup

    try:
        groups = TypeAdapter(list[ProbeGroup]).validate_python(entries)
    except ValueError as error:
        raise ValidationError(str(error)) from error
    if not groups or not all(group.fillers for group in groups):
        raise ValidationError(_("Give at least one group, and a word for every group."))


def validate_texts(entries: object) -> None:
    """Raise unless ``entries`` are texts with a label each."""
    from probing.measures.labeled_texts import LabeledText

    try:
        texts = TypeAdapter(list[LabeledText]).validate_python(entries)
    except ValueError as error:
        raise ValidationError(str(error)) from error
    if not texts or not all(one.text.strip() for one in texts):
        raise ValidationError(_("Give at least one text, and no empty one."))


class LibraryFile(models.Model):
    """A named entry of the library that comes from one file, with its source."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=160)
    citation = models.TextField(blank=True, help_text=_("Who made it, and where it is from."))
    license = models.CharField(max_length=160, help_text=_("For example MIT, or what was agreed."))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title


class LabeledTemplateSet(LibraryFile):
    """Templates with a true label each, in the order of their file."""

    templates = models.JSONField(
        default=list,
        validators=[validate_templates],
        help_text=_("Slug, text and number of the label of every template."),
    )
    history = HistoricalRecords()


class GroupLexicon(LibraryFile):
    """Groups with the words that mention them; some stand for placebos or for no mention."""

    groups = models.JSONField(
        default=list,
        validators=[validate_groups],
        help_text=_("Slug, name, role and fillers of every group."),
    )
    history = HistoricalRecords()


class LabeledTextSet(LibraryFile):
    """Whole texts with a true label each: demonstrations, and what classifiers are trained on."""

    texts = models.JSONField(
        default=list,
        validators=[validate_texts],
        help_text=_("Text, number of the label and perhaps the split of every text."),
    )
    history = HistoricalRecords()
