"""The choice of groups and trait pairs in a run's form, which several kinds of runs share."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Count
from django.utils.translation import gettext_lazy as _

from annotation.models import GroupSet, SocialGroup, TraitPair
from probing.admin.run_form import RunForm
from probing.runs.stimuli import DEFAULT_GROUPS


class GroupChoiceForm(RunForm):
    """Groups, by sets or one by one, and trait pairs."""

    groups = forms.MultipleChoiceField(
        label=_("Groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    single_groups = forms.MultipleChoiceField(
        label=_("Single groups"), widget=forms.CheckboxSelectMultiple, required=False
    )
    traits = forms.MultipleChoiceField(
        label=_("Trait pairs"),
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=_("Without any, all of the library, your own ones with them."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.offer("groups", GroupSet.objects.annotate(number=Count("groups")), DEFAULT_GROUPS)
        # Paired groups are chosen by their set: there are thousands.
        self.offer("single_groups", SocialGroup.objects.filter(component_links=None))
        self.offer("traits", TraitPair.objects.all())

    def offer(self, name: str, entries: Any, *initial: str) -> None:
        """Offer these entries of the library, or sets with their number, in one field."""
        field = self.fields[name]
        field.choices = [(entry.slug, _label(entry)) for entry in entries]  # type: ignore[attr-defined]
        field.initial = list(initial)

    def chosen_groups(self, cleaned: dict[str, Any]) -> list[str]:
        return [*cleaned["groups"], *cleaned["single_groups"]]

    def chosen_traits(self, cleaned: dict[str, Any]) -> list[str] | None:
        return cleaned["traits"] or None


def _label(entry: Any) -> str:
    number = getattr(entry, "number", None)
    return str(entry) if number is None else f"{entry} ({number})"
