"""The part of a study's settings about quality flags: thresholds, and what rules decide."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from annotation.studies.quality import Thresholds

PREFIX = "threshold_"
RULE_FIELDS = ("accept_rule", "exclude_rule")


def _number(label: Any, help_text: Any, *, whole: bool = False, **limits: float) -> forms.Field:
    kind = forms.IntegerField if whole else forms.FloatField
    # A text input: number inputs drop what they cannot read without a word.
    return kind(
        label=label,
        help_text=help_text,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
        **limits,  # type: ignore[arg-type]
    )


def _switch(label: Any, help_text: Any) -> forms.Field:
    return forms.BooleanField(
        label=label, help_text=help_text, required=False, widget=UnfoldBooleanSwitchWidget
    )


class QualityFields(forms.Form):
    """One field for each threshold; an empty one switches its flag off."""

    threshold_speed_index = _number(
        _("Speed"),
        _("Flag people who were more than so many times as fast as usual, page by page: 1 to 3."),
        min_value=1,
        max_value=3,
    )
    threshold_seconds_per_line = _number(
        _("Seconds a line"),
        _("Flag a rating page that took less than so many seconds for each of its lines."),
        min_value=0.01,
        max_value=60,
    )
    threshold_straight_share = _number(
        _("Share at one place"),
        _("A page is straight with this share of its lines at one place: up to 1."),
        min_value=0.01,
        max_value=1,
    )
    threshold_straight_run = _number(
        _("Lines in a row at one place"),
        _("A page is straight with so many lines in a row at one place: 4 or more."),
        whole=True,
        min_value=4,
        max_value=200,
    )
    threshold_straight_spread = _number(
        _("Spread of a page"),
        _("A page is straight if its lines spread by so few points (standard deviation)."),
        min_value=0,
        max_value=50,
    )
    threshold_straight_pages = _number(
        _("Straight pages"),
        _("Flag people with so many straight pages. Empty: straight pages raise no flag."),
        whole=True,
        min_value=1,
        max_value=100,
    )
    threshold_untouched_share = _number(
        _("Lines not touched"),
        _("Flag people who answered more than this share of lines without touching them."),
        min_value=0,
        max_value=0.99,
    )
    threshold_clock_seconds = _number(
        _("Clock"),
        _("Flag pages that the browser says were open for so many seconds longer than they were."),
        min_value=0,
        max_value=3600,
    )
    threshold_copied_characters = _number(
        _("Same text"),
        _("Flag a text of so many letters or more that somebody else wrote, too."),
        whole=True,
        min_value=1,
        max_value=5000,
    )
    threshold_pastes = _number(
        _("Pastes"),
        _("Flag people who pasted so often into a text. What they pasted is not recorded."),
        whole=True,
        min_value=1,
        max_value=1000,
    )
    threshold_other_studies = _number(
        _("Other studies"),
        _("Note people who took part in so many other studies on this platform."),
        whole=True,
        min_value=1,
        max_value=1000,
    )
    threshold_hidden_field = _switch(
        _("Hidden field"), _("Flag who filled in a field that people cannot see.")
    )
    threshold_same_identity = _switch(
        _("Panel id twice"), _("Flag submissions whose ids differ by case or blanks only.")
    )

    def fill_thresholds(self, stored: dict[str, Any]) -> None:
        """Show what is stored, or the defaults; what is left out of a form stays as it is."""
        current = Thresholds.model_validate(stored)
        for name in threshold_fields():
            if name in self.fields:
                self.fields[name].initial = getattr(current, name.removeprefix(PREFIX))
        for name in RULE_FIELDS:
            if name in self.fields:
                self.fields[name].required = False

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
    _("Quality flags"),
    {
        "fields": threshold_fields(),
        "description": _(
            "What the platform points out in the review queue. A flag never decides by itself, "
            "unless a rule above says so. Changes hold at once, also for submissions that wait. "
            "An empty field switches its flag off."
        ),
    },
)
