"""Fields and labels that the forms of runs share."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.researcher.pages.fields import WholeNumberField
from probing.models import Prompt


def tick_boxes(label: Any, help_text: Any = "") -> forms.MultipleChoiceField:
    """Return a field to tick any number of entries in, or none."""
    return forms.MultipleChoiceField(
        label=label, widget=forms.CheckboxSelectMultiple, required=False, help_text=help_text
    )


def most_pairs() -> forms.IntegerField:
    """Return a field for how many pairs are taken at most."""
    return WholeNumberField(
        label=_("Most pairs"),
        required=False,
        min_value=1,
        help_text=_("Drawn with the seed, in the order of the corpus. Empty takes all."),
    )


def offer(form: forms.Form, name: str, choices: list[tuple[str, Any]], *initial: str) -> None:
    field: Any = form.fields[name]
    field.choices, field.initial = choices, list(initial)


def entries(found: Any) -> list[tuple[str, Any]]:
    """Return entries of the library as choices; sets come with the ``number`` of their entries."""
    return [
        (entry.slug, f"{entry} ({entry.number})" if hasattr(entry, "number") else str(entry))
        for entry in found
    ]


def prompt_label(prompt: Prompt) -> str:
    names = " / ".join(str(name) for name in prompt.variety_names.values())
    text = " ".join(prompt.text.split())
    return f"{prompt.slug}: {text}{f' ({names})' if names else ''}"
