"""Templates: sentences with one slot for a group and one for a trait."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords


def validate_template_text(text: str) -> None:
    """Raise unless ``text`` has exactly one group slot and one trait slot."""
    from probing.measures.templates import TemplateError, parse_template

    try:
        parse_template(text)
    except TemplateError as error:
        raise ValidationError(str(error)) from error


class Template(models.Model):
    """A template; its group placeholder says which surface form of a group it needs."""

    slug = models.SlugField(max_length=100, unique=True)
    text = models.CharField(
        max_length=300,
        unique=True,
        validators=[validate_template_text],
        help_text=_(
            "One of {singular}, {plural}, {Plural} for the group and {trait} for the adjective, "
            "as in “That {singular} is {trait}.”"
        ),
    )
    history = HistoricalRecords()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.text


class TemplateSet(models.Model):
    """A named choice of templates, such as Table 4 of a paper."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=160)
    templates: models.ManyToManyField[Template, models.Model] = models.ManyToManyField(
        Template, related_name="sets"
    )

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title
