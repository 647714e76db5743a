"""The forms that create a study and that change its settings."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from annotation.admin.quality_form import QUALITY_FIELDSET, RULE_FIELDS, QualityFields
from annotation.library.abc_model import HUMAN_STUDY_SET
from annotation.models import (
    GroupSet,
    Outcome,
    PoleSides,
    ScaleOrder,
    SocialGroup,
    Study,
    TraitPair,
)
from annotation.studies.creation import human_study_scales, order_groups
from annotation.survey.flow import DEFAULT_FLOW, count_groups

CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")

STUDY_FIELDS = (
    "title",
    "contact_email",
    "ethics_reference",
    "quota_per_group",
    "quota_rule",
    "accept_rule",
    "exclude_rule",
    "reservation_minutes",
    "pay_lost_places",
    "pilot_places",
    "panel",
    "reward_cents",
    "currency",
    "estimated_minutes",
    "withdraw_until",
)
INSTRUMENT_FIELDS = ("scale_order", "pole_sides", "show_ticks", "one_per_domain")


class CurrencyMixin:
    """A currency is three capital letters, as in ISO 4217."""

    def clean_currency(self) -> str:
        currency = self.cleaned_data["currency"].upper()  # type: ignore[attr-defined]
        if not re.fullmatch(r"[A-Z]{3}", currency):
            raise forms.ValidationError(
                _("“%(value)s” is no currency, expected three letters such as USD.")
                % {"value": currency}
            )
        return currency


class StudyCreationForm(CurrencyMixin, forms.ModelForm):
    """A new study with the content of its instrument; the service stores both."""

    group_sets = forms.ModelMultipleChoiceField(
        GroupSet.objects.all(),
        label=gettext_lazy("Sets of groups"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    single_groups = forms.ModelMultipleChoiceField(
        SocialGroup.objects.filter(component_links=None),
        label=gettext_lazy("Single groups"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy("Added to the sets; a group that is in both counts once."),
    )
    trait_pairs = forms.ModelMultipleChoiceField(
        TraitPair.objects.all(),
        label=gettext_lazy("Trait pairs"),
        widget=forms.CheckboxSelectMultiple,
    )
    scale_order = forms.ChoiceField(
        label=gettext_lazy("Order of lines"),
        choices=ScaleOrder.choices,
        initial=ScaleOrder.RANDOMISED,
        widget=UnfoldAdminSelectWidget,
    )
    pole_sides = forms.ChoiceField(
        label=gettext_lazy("Sides of the poles"),
        choices=PoleSides.choices,
        initial=PoleSides.COUNTERBALANCED,
        widget=UnfoldAdminSelectWidget,
    )
    show_ticks = forms.BooleanField(
        label=gettext_lazy("Tick labels 0 to 100"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=gettext_lazy("As in the paper's form. Recorded with the answers."),
    )
    one_per_domain = forms.BooleanField(
        label=gettext_lazy("One group per domain"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=gettext_lazy(
            "Nobody rates two groups of the same domain, such as two religions."
        ),
    )

    class Meta:
        model = Study
        fields = STUDY_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Left out, they have their defaults.
        for name in RULE_FIELDS:
            self.fields[name].required = False
        self.fields["trait_pairs"].initial = human_study_scales()
        self.fields["group_sets"].initial = GroupSet.objects.filter(slug=HUMAN_STUDY_SET[0])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        groups = {group.pk: group for group in cleaned.get("single_groups") or []}
        for chosen in cleaned.get("group_sets") or []:
            groups.update({group.pk: group for group in chosen.groups.all()})
        wanted = count_groups(DEFAULT_FLOW)
        if len(groups) < wanted:
            self.add_error(
                "group_sets",
                _("%(n)d groups are chosen, expected %(wanted)d or more: one for each rating page.")
                % {"n": len(groups), "wanted": wanted},
            )
        cleaned["groups"] = order_groups(groups.values())
        return cleaned

    def study_options(self) -> dict[str, Any]:
        """Return what `create_study` takes besides owner and content."""
        left_out = {name for name in RULE_FIELDS if not self.cleaned_data[name]}
        return {name: self.cleaned_data[name] for name in STUDY_FIELDS if name not in left_out}

    def instrument_options(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in INSTRUMENT_FIELDS}


def _code(outcome: Outcome) -> forms.CharField:
    return forms.CharField(
        label=outcome.label, required=False, max_length=40, widget=UnfoldAdminTextInputWidget
    )


class StudySettingsForm(CurrencyMixin, QualityFields, forms.ModelForm):
    """Settings of a study, with one field for each completion code."""

    code_completed = _code(Outcome.COMPLETED)
    code_failed_check = _code(Outcome.FAILED_CHECK)
    code_screened_out = _code(Outcome.SCREENED_OUT)
    code_no_consent = _code(Outcome.NO_CONSENT)
    code_timed_out = _code(Outcome.TIMED_OUT)
    code_quota_full = _code(Outcome.QUOTA_FULL)

    class Meta:
        model = Study
        fields = STUDY_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fill_thresholds(self.instance.quality_thresholds)
        for outcome, name in CODE_FIELDS.items():
            if name in self.fields:
                self.fields[name].initial = self.instance.completion_codes.get(outcome.value, "")

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        codes = dict(self.instance.completion_codes)
        for outcome, name in CODE_FIELDS.items():
            if name not in self.fields:
                continue
            code = (cleaned.get(name) or "").strip()
            if not CODE.fullmatch(code):
                self.add_error(
                    name,
                    _("“%(code)s” is no code, expected 1 to 40 letters, digits, - or _.")
                    % {"code": code},
                )
            codes[outcome.value] = code
        self.instance.completion_codes = codes
        self.instance.quality_thresholds = self.read_thresholds(
            cleaned, self.instance.quality_thresholds
        )
        return cleaned


CODE_FIELDS = {outcome: f"code_{outcome.value}" for outcome in Outcome}

CREATION_FIELDSETS: tuple[Any, ...] = (
    (None, {"fields": ("title", "contact_email", "ethics_reference")}),
    (
        gettext_lazy("Groups and trait pairs"),
        {"fields": ("group_sets", "single_groups", "trait_pairs")},
    ),
    (
        gettext_lazy("Quota and review"),
        {
            "fields": (
                "quota_per_group",
                "quota_rule",
                "accept_rule",
                "exclude_rule",
                "reservation_minutes",
                "pay_lost_places",
                "pilot_places",
            )
        },
    ),
    (
        gettext_lazy("Panel and payment"),
        {
            "fields": (
                "panel",
                "reward_cents",
                "currency",
                "estimated_minutes",
                "withdraw_until",
            )
        },
    ),
    (
        gettext_lazy("Rating page"),
        {"fields": ("scale_order", "pole_sides", "show_ticks", "one_per_domain")},
    ),
)
SETTINGS_FIELDSETS: tuple[Any, ...] = (
    CREATION_FIELDSETS[0],
    CREATION_FIELDSETS[2],
    CREATION_FIELDSETS[3],
    QUALITY_FIELDSET,
    (
        gettext_lazy("Completion codes"),
        {
            "fields": (
                "code_completed",
                "code_failed_check",
                "code_screened_out",
                "code_no_consent",
                "code_timed_out",
                "code_quota_full",
            ),
            "description": gettext_lazy(
                "One for each end of a submission, as the panel knows them."
            ),
        },
    ),
)
