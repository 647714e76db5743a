"""The forms of groups and trait pairs: what is proposed, what is refused, what is remarked on."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.forms.models import BaseInlineFormSet
from django.http import HttpRequest
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.library.english_forms import Finding, Forms, check_forms, propose_forms
from annotation.library.group_kind import COMPONENTS
from annotation.library.paired_groups import SEPARATOR
from annotation.library.trait_kind import check_trait
from annotation.models import Domain, GroupSet, SocialGroup, TraitPair
from annotation.researcher.pages.fields import LinesField, SwitchField, fill, make_optional

FORM_FIELDS = ("singular", "plural", "plural_capitalised", "modifier")
PERSON = re.compile(r" (person|people)$")


class CheckedForm(forms.ModelForm):
    """Refuses what the check of English is certain about, unless told to take it as written."""

    as_written = SwitchField(
        label=gettext_lazy("Take the words as written"),
        help_text=gettext_lazy(
            "Takes what the check of article, number and capitals refuses: words of another "
            "language, or wrong on purpose."
        ),
    )

    remarks: tuple[Finding, ...] = ()

    def take_findings(self, findings: Iterable[Finding]) -> None:
        """Put certain findings at their fields; keep the others for `tell_remarks`."""
        remarks = []
        for finding in findings:
            if finding.certain and (finding.firm or not self.cleaned_data.get("as_written")):
                field = finding.field if finding.field in self.fields else None
                self.add_error(field, str(finding))
            else:
                remarks.append(finding)
        self.remarks = tuple(remarks)

    def tell_remarks(self, request: HttpRequest) -> None:
        """Say what was stored and may read wrong."""
        for finding in self.remarks:
            messages.warning(request, _("Please check: %(said)s") % {"said": finding})


def propose_slug(singular: str) -> str:
    """Return a likely slug, such as elderly for “elderly person”."""
    return slugify(PERSON.sub("", " ".join(singular.split())))[:80]


class SocialGroupForm(CheckedForm):
    """Asks for the singular alone; the other forms are proposed from it and can be edited."""

    domains = forms.MultipleChoiceField(
        label=gettext_lazy("Domains"),
        choices=Domain.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    group_sets = forms.ModelMultipleChoiceField(
        label=gettext_lazy("Sets"),
        queryset=GroupSet.objects.order_by("title"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = SocialGroup
        fields = ("singular", "plural", "plural_capitalised", "modifier", "slug", "domains")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_new = self.instance.pk is None
        for name in (*FORM_FIELDS, "slug"):
            if name in self.fields:
                self.fields[name].widget.attrs["data-group-form"] = name
        if self.is_new:
            make_optional(self, ("plural", "plural_capitalised", "slug"))
        else:
            fill(self, {"group_sets": self.instance.sets.all()})

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not set(FORM_FIELDS) <= set(cleaned):
            return cleaned
        if self.is_new:  # as the page's script does, where there is one
            proposed = propose_forms(cleaned["singular"])
            cleaned["plural"] = cleaned["plural"] or proposed.plural
            capital = cleaned["plural"][:1].upper() + cleaned["plural"][1:]
            cleaned["plural_capitalised"] = cleaned["plural_capitalised"] or capital
            if "slug" in cleaned:
                cleaned["slug"] = cleaned["slug"] or propose_slug(cleaned["singular"])
        self.take_findings(check_forms(Forms(*(cleaned[name] for name in FORM_FIELDS))))
        return cleaned

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]
        if "group_sets" in self.cleaned_data:
            self.instance.sets.set(self.cleaned_data["group_sets"])


class ComponentFormSet(BaseInlineFormSet):
    """A paired group has two components, which are single groups; a single one has none."""

    def clean(self) -> None:
        super().clean()
        if any(self.errors):
            return
        kept = [
            form.cleaned_data
            for form in self.forms
            if form.cleaned_data.get("component") and not form.cleaned_data.get("DELETE")
        ]
        chosen = [row["component"] for row in kept]
        slug = self.instance.slug or ""
        if not chosen:
            if SEPARATOR in slug:
                raise forms.ValidationError(
                    _(
                        "Two hyphens in a row separate the components of a paired group, but "
                        "“%(slug)s” has none. Choose another slug, or its components."
                    )
                    % {"slug": slug}
                )
            return
        if len(chosen) != COMPONENTS or len(set(chosen)) < COMPONENTS:
            raise forms.ValidationError(_("Choose two different components, or none."))
        if sorted(row["position"] for row in kept) != [1, 2]:
            raise forms.ValidationError(_("Number the components 1 and 2."))
        for group in chosen:
            if group.component_links.exists():
                raise forms.ValidationError(
                    _("“%(group)s” is itself a paired group. Choose a single one.")
                    % {"group": group}
                )
        if self.instance.pk and self.instance.paired_links.exists():
            raise forms.ValidationError(
                _("This group is a component of others, so it cannot have components itself.")
            )


class TraitPairForm(CheckedForm):
    low_synonyms = LinesField(label=gettext_lazy("Synonyms of the low pole"), required=False)
    high_synonyms = LinesField(label=gettext_lazy("Synonyms of the high pole"), required=False)

    class Meta:
        model = TraitPair
        fields = (
            "slug",
            "low",
            "high",
            "low_synonyms",
            "high_synonyms",
            "dimension",
            "position",
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        names = ("low", "high", "low_synonyms", "high_synonyms")
        if set(names) <= set(cleaned):
            self.take_findings(check_trait(*(cleaned[name] for name in names)))
        return cleaned
