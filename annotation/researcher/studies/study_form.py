"""The forms that create a study and that change its settings."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from annotation.common.quality_thresholds import Thresholds
from annotation.instruments.presets import PresetName
from annotation.library.abc_model import HUMAN_STUDY_SET
from annotation.models import (
    Dimension,
    Domain,
    GroupSet,
    Outcome,
    PoleSides,
    ScaleOrder,
    Skipping,
    SocialGroup,
    Study,
    TraitPair,
)
from annotation.researcher.pages.fields import (
    ChoiceField,
    PickerWidget,
    SwitchField,
    TextField,
    fill,
    make_optional,
)
from annotation.researcher.studies.text_words import speak_of_texts
from annotation.studies.creation import gather_groups, human_study_scales

# --- The part of a study's settings about quality flags: thresholds, and what rules decide

PREFIX = "threshold_"
RULE_FIELDS = ("accept_rule", "exclude_rule")
LIMITS: dict[str, Any] = Thresholds.model_json_schema()["properties"]


def _number(name: str, label: Any, help_text: Any) -> forms.Field:
    """Return the field of a threshold, with the limits of `Thresholds`; they may be left empty."""
    limits = LIMITS[name]["anyOf"][0]
    whole = limits["type"] == "integer"
    return (forms.IntegerField if whole else forms.FloatField)(
        label=label,
        help_text=help_text,
        required=False,
        # Beyond 0, or below the whole: the field knows no limit that is left out itself.
        min_value=limits.get("minimum", 0.01),
        max_value=limits.get("maximum", 0.99),
        # A text input: number inputs drop what they cannot read without a word.
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
    )


def _switch(label: Any, help_text: Any) -> forms.Field:
    return SwitchField(label=label, help_text=help_text)


class QualityFields(forms.Form):
    """One field for each threshold; an empty one switches its flag off."""

    threshold_speed_index = _number(
        "speed_index",
        gettext_lazy("Speed"),
        gettext_lazy(
            "Flag people who were more than this many times as fast as usual, page by page: 1 to 3."
        ),
    )
    threshold_seconds_per_line = _number(
        "seconds_per_line",
        gettext_lazy("Seconds per line"),
        gettext_lazy(
            "Flag a rating page that took less than this many seconds for each of its lines."
        ),
    )
    threshold_straight_share = _number(
        "straight_share",
        gettext_lazy("Share at one place"),
        gettext_lazy("A page is straight if this share of its lines is at one place: up to 1."),
    )
    threshold_straight_run = _number(
        "straight_run",
        gettext_lazy("Lines in a row at one place"),
        gettext_lazy("A page is straight if this many lines in a row are at one place: 4 or more."),
    )
    threshold_straight_spread = _number(
        "straight_spread",
        gettext_lazy("Spread of a page"),
        gettext_lazy(
            "A page is straight if its lines spread by no more points (standard deviation)."
        ),
    )
    threshold_straight_pages = _number(
        "straight_pages",
        gettext_lazy("Straight pages"),
        gettext_lazy(
            "Flag people with this many straight pages. Empty: straight pages raise no flag."
        ),
    )
    threshold_untouched_share = _number(
        "untouched_share",
        gettext_lazy("Lines not touched"),
        gettext_lazy(
            "Flag people who answered more than this share of lines without touching them."
        ),
    )
    threshold_clock_seconds = _number(
        "clock_seconds",
        gettext_lazy("Clock"),
        gettext_lazy(
            "Flag pages that the browser says were open this many seconds longer than they were."
        ),
    )
    threshold_copied_characters = _number(
        "copied_characters",
        gettext_lazy("Same text"),
        gettext_lazy("Flag a text of this many letters or more that somebody else wrote, too."),
    )
    threshold_pastes = _number(
        "pastes",
        gettext_lazy("Pastes"),
        gettext_lazy(
            "Flag people who pasted this often into a text. What they pasted is not recorded."
        ),
    )
    threshold_other_studies = _number(
        "other_studies",
        gettext_lazy("Other studies"),
        gettext_lazy("Note people who took part in this many other studies on this platform."),
    )
    threshold_hidden_field = _switch(
        gettext_lazy("Hidden field"),
        gettext_lazy("Flag those who filled in a field that people cannot see."),
    )
    threshold_same_identity = _switch(
        gettext_lazy("Panel id twice"),
        gettext_lazy("Flag submissions whose ids differ by case or blanks only."),
    )

    def fill_thresholds(self, stored: dict[str, Any]) -> None:
        """Show what is stored, or the defaults; what is left out of a form stays as it is."""
        current = Thresholds.model_validate(stored)
        values = {f"{PREFIX}{name}": value for name, value in current.model_dump().items()}
        fill(self, values)
        make_optional(self, RULE_FIELDS)

    def read_thresholds(self, cleaned: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
        """Return the thresholds to store; those that are stored where the form has none."""
        if not any(self.add_prefix(name) in self.data for name in threshold_fields()):
            return stored
        current = Thresholds.model_validate(stored).model_dump()
        given = {
            name.removeprefix(PREFIX): cleaned[name]
            for name in threshold_fields()
            if name in cleaned
        }
        return current | given


def threshold_fields() -> tuple[str, ...]:
    """Return the names of the form's fields, in the order of the page."""
    return tuple(name for name in QualityFields.base_fields if name.startswith(PREFIX))


QUALITY_FIELDSET: tuple[Any, dict[str, Any]] = (
    gettext_lazy("Quality flags"),
    {
        "fields": threshold_fields(),
        "description": gettext_lazy(
            "What the platform points out in the review queue. A flag never decides by itself, "
            "unless a rule above says so. Changes apply at once, also to submissions that wait. "
            "An empty field switches its flag off."
        ),
    },
)


# --- The form of a study

CODE = re.compile(r"[A-Za-z0-9_-]{1,40}")

#: The fields of a study by the headings under which they are asked for.
GENERAL = (None, {"fields": ("title", "contact_email", "ethics_reference", "ethics_contact")})
DATA = (
    gettext_lazy("Data in the consent"),
    {"fields": ("data_access", "identity_days", "answer_days", "withdraw_until")},
)
QUOTA_AND_REVIEW = (
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
)
PAYMENT = (
    gettext_lazy("Panel and payment"),
    {"fields": ("panel", "reward_cents", "currency", "estimated_minutes")},
)
RATING_PAGE = (
    gettext_lazy("Rating page"),
    {"fields": ("scale_order", "pole_sides", "show_ticks", "one_per_domain", "skipping")},
)
STUDY_FIELDS: tuple[str, ...] = tuple(
    name
    for _heading, options in (GENERAL, QUOTA_AND_REVIEW, PAYMENT, DATA)
    for name in options["fields"]
)


def list_domains(group: SocialGroup) -> list[Any]:
    return [Domain(name).label for name in group.domains if name in Domain.values]


def list_dimension(pair: TraitPair) -> list[Any]:
    return [Dimension(pair.dimension).label]


class CurrencyMixin:
    """A currency is three capital letters, as in ISO 4217."""

    def clean_currency(self) -> str:
        currency = self.cleaned_data["currency"].upper()  # type: ignore[attr-defined]
        if not re.fullmatch(r"[A-Z]{3}", currency):
            raise forms.ValidationError(
                _("Enter three letters such as USD, not “%(value)s”.") % {"value": currency}
            )
        return currency


class CreationForm(CurrencyMixin, forms.ModelForm):
    """A new study with what is rated on which scales; a service stores all of it."""

    #: The fields that are settings of the instrument.
    page_fields: ClassVar[tuple[str, ...]]

    trait_pairs = forms.ModelMultipleChoiceField(
        TraitPair.objects.all(),
        label=gettext_lazy("Trait pairs"),
        widget=PickerWidget(gettext_lazy("Trait pairs"), list_dimension),
    )
    scale_order = ChoiceField(
        label=gettext_lazy("Order of lines"),
        choices=ScaleOrder.choices,
        initial=ScaleOrder.RANDOMIZED,
    )
    pole_sides = ChoiceField(
        label=gettext_lazy("Sides of the poles"),
        choices=PoleSides.choices,
        initial=PoleSides.PER_SCALE,
    )
    show_ticks = SwitchField(label=gettext_lazy("Tick labels 0 to 100"))
    skipping = ChoiceField(
        label=gettext_lazy("“I’d rather not answer”"),
        choices=Skipping.choices,
        initial=Skipping.GROUP,
        help_text=gettext_lazy(
            "Offers “I’d rather not answer” and “I don’t know this group”. Both are stored as "
            "missing values of their own kind and cost no pay."
        ),
    )

    class Meta:
        model = Study
        fields = STUDY_FIELDS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        make_optional(self, RULE_FIELDS)  # left out, they have their defaults
        self.fields["trait_pairs"].initial = human_study_scales()

    def study_options(self) -> dict[str, Any]:
        """Return what the service takes besides owner, scales and content."""
        left_out = {name for name in RULE_FIELDS if not self.cleaned_data[name]}
        return {name: self.cleaned_data[name] for name in STUDY_FIELDS if name not in left_out}

    def instrument_options(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.page_fields}


class StudyCreationForm(CreationForm):
    """A new study of groups."""

    page_fields = RATING_PAGE[1]["fields"]

    preset = ChoiceField(
        label=gettext_lazy("Wording and checks"),
        choices=PresetName.choices,
        required=False,
        help_text=gettext_lazy(
            "As printed: the paper’s question and instructions, sides fixed, tick labels from 0 to "
            "100, and the second check by typing one trait marked high and one marked low. All of "
            "it can be edited before the launch."
        ),
    )
    group_sets = forms.ModelMultipleChoiceField(
        GroupSet.objects.all(),
        label=gettext_lazy("Sets of groups"),
        required=False,
        widget=PickerWidget(gettext_lazy("Sets of groups")),
    )
    single_groups = forms.ModelMultipleChoiceField(
        SocialGroup.objects.filter(component_links=None),
        label=gettext_lazy("Single groups"),
        required=False,
        widget=PickerWidget(gettext_lazy("Single groups"), list_domains),
        help_text=gettext_lazy("Added to the sets; a group that is in both counts once."),
    )
    show_ticks = SwitchField(
        label=gettext_lazy("Tick labels 0 to 100"),
        help_text=gettext_lazy("As in the paper's form. Recorded with the answers."),
    )
    one_per_domain = SwitchField(
        label=gettext_lazy("One group per domain"),
        help_text=gettext_lazy(
            "Nobody rates two groups of the same domain, such as two religions."
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["group_sets"].initial = GroupSet.objects.filter(slug=HUMAN_STUDY_SET[0])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        try:
            cleaned["groups"] = gather_groups(
                cleaned.get("group_sets") or [], cleaned.get("single_groups") or []
            )
        except forms.ValidationError as error:
            self.add_error("group_sets", error)
        return cleaned

    def study_options(self) -> dict[str, Any]:
        return super().study_options() | {
            "preset": self.cleaned_data["preset"],
            "groups": self.cleaned_data["groups"],
        }


def _code(outcome: Outcome) -> forms.CharField:
    return TextField(label=outcome.label, required=False, max_length=40)


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
        if self.instance.rates_texts:
            speak_of_texts(self.fields)
        self.fill_thresholds(self.instance.quality_thresholds)
        codes = self.instance.completion_codes
        fill(self, {name: codes.get(outcome.value, "") for outcome, name in CODE_FIELDS.items()})

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
                    _("Enter 1 to 40 letters, digits, hyphens or underscores, not “%(code)s”.")
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
    GENERAL,
    (
        gettext_lazy("Groups and trait pairs"),
        {"fields": ("group_sets", "single_groups", "trait_pairs")},
    ),
    QUOTA_AND_REVIEW,
    PAYMENT,
    DATA,
    (RATING_PAGE[0], {"fields": ("preset", *RATING_PAGE[1]["fields"])}),
)
SETTINGS_FIELDSETS: tuple[Any, ...] = (
    GENERAL,
    QUOTA_AND_REVIEW,
    PAYMENT,
    DATA,
    QUALITY_FIELDSET,
    (
        gettext_lazy("Completion codes"),
        {
            "fields": tuple(CODE_FIELDS.values()),
            "description": gettext_lazy(
                "One for each end of a submission, as the panel knows them."
            ),
        },
    ),
)
