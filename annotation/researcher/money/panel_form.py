"""The form of a study's panel: parameters, signed links, the API, ways back, fees and pay."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Outcome, Panel, PanelSettings, ScreenOutPay
from annotation.panels.base import PanelKind, find_address_problem

MONEY = ("fee_percent", "minimum_hourly_minor")
SCREENING = ("screen_out_pay", "screen_out_minor", "screen_out_percent")
PARAMETERS = ("person_parameter", "session_parameter")
API = ("panel_study_id", "api_token_variable", "webhook_secret_variable")
SIGNED = ("signed_links", "link_token_parameter", "link_audience")
EXAMPLE = "https://panel.example/done?code={code}&id={id}"
RETURN_FIELDS = {outcome: f"return_{outcome.value}" for outcome in Outcome}


def choose_fields(panel: PanelKind) -> tuple[tuple[Any, tuple[str, ...]], ...]:
    """Return the headings and fields that a panel has a use for."""
    found: list[tuple[Any, tuple[str, ...]]] = [(gettext_lazy("Link for participants"), PARAMETERS)]
    if panel.link_token_parameter:
        found.append((gettext_lazy("Signed links"), SIGNED))
    if panel.has_api:
        found.append((gettext_lazy("API and webhooks"), API))
    if panel.name == Panel.LINK:
        found.append((gettext_lazy("Addresses to return to"), tuple(RETURN_FIELDS.values())))
    found.append((gettext_lazy("Money"), MONEY))
    if panel.has_api:
        found.append((gettext_lazy("People who are screened out"), SCREENING))
    return tuple(found)


class PanelSettingsForm(forms.ModelForm):
    """Only the fields that the study's panel has a use for; the others keep their values."""

    class Meta:
        model = PanelSettings
        fields = (*PARAMETERS, *SIGNED, *API, *MONEY, *SCREENING)
        labels = {
            "person_parameter": gettext_lazy("Parameter of the person"),
            "session_parameter": gettext_lazy("Parameter of their submission"),
            "signed_links": gettext_lazy("Accept signed links only"),
            "link_token_parameter": gettext_lazy("Parameter of the signature"),
            "api_token_variable": gettext_lazy("Variable of the API token"),
            "webhook_secret_variable": gettext_lazy("Variable of the webhooks’ secret"),
        }

    def __init__(self, *args: Any, panel: PanelKind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = choose_fields(panel)
        wanted = {name for _heading, names in self.sections for name in names}
        for name in list(self.fields):
            if name not in wanted:
                del self.fields[name]
        for name, usual in (
            ("person_parameter", panel.person_parameter),
            ("session_parameter", panel.session_parameter),
            ("link_token_parameter", panel.link_token_parameter),
        ):
            if name in self.fields and usual:
                self.fields[name].widget.attrs["placeholder"] = usual
        for outcome, name in RETURN_FIELDS.items():
            if name in wanted:
                self.fields[name] = forms.CharField(
                    label=outcome.label,
                    required=False,
                    max_length=500,
                    help_text=_(
                        "The address to which people who end this way are sent, such as "
                        "%(example)s. The study’s code and the person’s id are filled in. Without "
                        "an address people stay on the last page."
                    )
                    % {"example": EXAMPLE}
                    if outcome == Outcome.COMPLETED
                    else "",
                    initial=self.instance.return_urls.get(outcome.value, ""),
                )

    def field_sections(self) -> list[tuple[Any, list[Any]]]:
        """Return headings with their bound fields, for the template."""
        return [(heading, [self[name] for name in names]) for heading, names in self.sections]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        addresses = dict(self.instance.return_urls)
        for outcome, name in RETURN_FIELDS.items():
            if name not in self.fields:
                continue
            address = (cleaned.get(name) or "").strip()
            if address and (problem := find_address_problem(address)):
                self.add_error(name, problem)
            addresses[outcome.value] = address
        self.instance.return_urls = {key: value for key, value in addresses.items() if value}
        person = cleaned.get("person_parameter")
        if person and person == cleaned.get("session_parameter"):
            self.add_error(
                "session_parameter",
                _("“%(name)s” already names the person. Choose another parameter.")
                % {"name": person},
            )
        fixed = cleaned.get("screen_out_pay") == ScreenOutPay.FIXED
        if fixed and not cleaned.get("screen_out_minor"):
            self.add_error(
                "screen_out_minor", _("Enter the amount that the study at the panel states.")
            )
        return cleaned
