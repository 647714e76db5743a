"""The arms of a version: variants of its texts and groups, among which participants are dealt."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.language_codes import own_name
from annotation.instruments.arm_service import store_arms
from annotation.instruments.arms import MOST_ARMS, MOST_SHARE, Arm, read_arms
from annotation.instruments.default_wording import default_wording
from annotation.instruments.text_labels import name_texts
from annotation.researcher.instruments.pages import InstrumentPage
from annotation.researcher.pages.fields import (
    ParagraphField,
    PickerWidget,
    TextField,
    WholeNumberField,
)
from annotation.studies.readiness import list_languages
from annotation.survey.arm_assignment import count_arms

EMPTY_ROWS = 2


class ArmForm(forms.Form):
    """One arm; without a name it is none."""

    label = TextField(label=gettext_lazy("Arm"), max_length=100, required=False)
    name = TextField(label=gettext_lazy("Name in the data"), max_length=40, required=False)
    share = WholeNumberField(
        label=gettext_lazy("Share"),
        min_value=1,
        max_value=MOST_SHARE,
        required=False,
        help_text=gettext_lazy("2 gets twice as many people as 1."),
    )
    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Rated in it"),
        required=False,
        widget=PickerWidget(gettext_lazy("Rated in it")),
        help_text=gettext_lazy("None chosen: all of the study."),
    )

    def __init__(
        self,
        *args: Any,
        kind: str,
        choices: list[tuple[str, str]],
        languages: list[str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        groups: Any = self.fields["groups"]
        groups.choices = choices
        self.keys: dict[str, tuple[str, str]] = {}
        keys = list(default_wording(kind))
        for key, label in zip(keys, name_texts(keys), strict=True):
            for language in languages:
                name = f"text-{key}-{language}"
                self.keys[name] = (key, language)
                self.fields[name] = ParagraphField(
                    rows=3,
                    label=f"{label} ({own_name(language)})",
                    required=False,
                )

    @property
    def main_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("label", "name", "share", "groups")]

    @property
    def has_texts(self) -> bool:
        """Whether a text of its own is shown, or one that was refused."""
        return any(field.value() or field.errors for field in self.text_fields)

    @property
    def text_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.keys]

    def write(self) -> dict[str, Any] | None:
        """Return the arm as it is stored, None for an empty form."""
        values = self.cleaned_data
        if not values["label"] and not values["name"]:
            return None
        texts: dict[str, dict[str, str]] = {}
        for name, (key, language) in self.keys.items():
            if text := "\n".join(values[name].splitlines()).strip():
                texts.setdefault(key, {})[language] = text
        return {
            "name": values["name"],
            "label": values["label"],
            "share": values["share"] or 1,
            "groups": values["groups"],
            "texts": texts,
        }


class ArmsPage(InstrumentPage):
    """Lists the arms with how many people are in each; changes those of a draft."""

    route = "<int:pk>/arms/"
    name = "arms"
    edits = True

    def get_context_data(self) -> dict[str, Any]:
        taken = count_arms(self.study)
        arms = read_arms(self.instrument.arms)
        return {
            **super().get_context_data(),
            "title": _("Arms"),
            "rows": [(arm, taken.get(arm.name, 0)) for arm in arms.values()],
            "forms": self._build_forms(list(arms.values())),
            "may_edit": self.may_edit,
        }

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        forms = self._build_forms([], data=request.POST)
        problem = ""
        if all(form.is_valid() for form in forms):
            arms = [arm for form in forms if (arm := form.write()) is not None]
            try:
                store_arms(instrument=self.instrument, arms=arms)
            except ValidationError as refusal:
                problem = " ".join(refusal.messages)
            else:
                messages.success(request, _("Arms stored."))
                return redirect("admin:annotation_instrument_arms", self.instrument.pk)
        return self.show(forms=forms, problem=problem, status=422)

    def _build_forms(self, arms: list[Arm], data: Any = None) -> list[ArmForm]:
        n = min(MOST_ARMS, len(arms) + EMPTY_ROWS)
        if data is not None:
            n = sum(f"arm-{place}-label" in data for place in range(MOST_ARMS))
        # Asked once for all forms.
        shared: dict[str, Any] = {
            "kind": self.study.kind,
            "choices": [(group.slug, str(group)) for group in self.instrument.groups.all()],
            "languages": list_languages(self.instrument),
        }
        return [
            ArmForm(
                data,
                prefix=f"arm-{place}",
                **shared,
                initial=_fill(arms[place]) if place < len(arms) else {"share": 1},
            )
            for place in range(n)
        ]


def _fill(arm: Arm) -> dict[str, Any]:
    texts = {
        f"text-{key}-{language}": text
        for key, written in arm.texts.items()
        for language, text in written.items()
    }
    return {**arm.model_dump(exclude={"texts"}), **texts}
