"""Words of a study in which people rate the speakers of texts, where forms speak of groups."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy

from annotation.models import QuotaRule

LABELS = {"quota_per_group": gettext_lazy("Quota per text")}
HELP_TEXTS = {
    "quota_per_group": gettext_lazy("Accepted ratings wanted for each text."),
    "reservation_minutes": gettext_lazy("How long the texts of an idle submission are held."),
    "pay_lost_places": gettext_lazy(
        "Pay people who come back after that time, have rated a text, and find its place given to "
        "somebody else. Otherwise a person decides."
    ),
}
QUOTA_RULES = {
    QuotaRule.HARD: gettext_lazy("Offer only texts that still need ratings"),
    QuotaRule.SOFT: gettext_lazy("Always offer the full number of texts"),
}


def speak_of_texts(fields: dict[str, Any]) -> None:
    """Let the fields of a form, as far as it has them, speak of texts instead of groups."""
    for name in fields.keys() & LABELS.keys():
        fields[name].label = LABELS[name]
    for name in fields.keys() & HELP_TEXTS.keys():
        fields[name].help_text = HELP_TEXTS[name]
    if "quota_rule" in fields:
        fields["quota_rule"].choices = list(QUOTA_RULES.items())
