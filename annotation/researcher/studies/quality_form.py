"""The part of a study's settings about quality flags: thresholds, and what rules decide."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from annotation.common.quality_thresholds import Thresholds
from annotation.researcher.pages.fields import SwitchField, fill, make_optional

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
        _("Speed"),
        _("Flag people who were more than this many times as fast as usual, page by page: 1 to 3."),
    )
    threshold_seconds_per_line = _number(
        "seconds_per_line",
        _("Seconds per line"),
        _("Flag a rating page that took less than this many seconds for each of its lines."),
    )
    threshold_straight_share = _number(
        "straight_share",
        _("Share at one place"),
        _("A page is straight if this share of its lines is at one place: up to 1."),
    )
    threshold_straight_run = _number(
        "straight_run",
        _("Lines in a row at one place"),
        _("A page is straight if this many lines in a row are at one place: 4 or more."),
    )
    threshold_straight_spread = _number(
        "straight_spread",
        _("Spread of a page"),
        _("A page is straight if its lines spread by no more points (standard deviation)."),
    )
    threshold_straight_pages = _number(
        "straight_pages",
        _("Straight pages"),
        _("Flag people with this many straight pages. Empty: straight pages raise no flag."),
    )
    threshold_untouched_share = _number(
        "untouched_share",
        _("Lines not touched"),
        _("Flag people who answered more than this share of lines without touching them."),
    )
    threshold_clock_seconds = _number(
        "clock_seconds",
        _("Clock"),
        _("Flag pages that the browser says were open this many seconds longer than they were."),
    )
    threshold_copied_characters = _number(
        "copied_characters",
        _("Same text"),
        _("Flag a text of this many letters or more that somebody else wrote, too."),
    )
    threshold_pastes = _number(
        "pastes",
        _("Pastes"),
        _("Flag people who pasted this often into a text. What they pasted is not recorded."),
    )
    threshold_other_studies = _number(
        "other_studies",
        _("Other studies"),
        _("Note people who took part in this many other studies on this platform."),
    )
    threshold_hidden_field = _switch(
        _("Hidden field"), _("Flag those who filled in a field that people cannot see.")
    )
    threshold_same_identity = _switch(
        _("Panel id twice"), _("Flag submissions whose ids differ by case or blanks only.")
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
    _("Quality flags"),
    {
        "fields": threshold_fields(),
        "description": _(
            "What the platform points out in the review queue. A flag never decides by itself, "
            "unless a rule above says so. Changes apply at once, also to submissions that wait. "
            "An empty field switches its flag off."
        ),
    },
)
