"""Fields of the researchers' forms with the theme's widgets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)


def fill(form: forms.BaseForm, values: Mapping[str, Any]) -> None:
    """Show values in the fields of a form; the admin may have left some of them out."""
    for name, value in values.items():
        if name in form.fields:
            form.fields[name].initial = value


def make_optional(form: forms.BaseForm, names: Iterable[str]) -> None:
    """Let fields be left out, as far as the form has them."""
    for name in names:
        if name in form.fields:
            form.fields[name].required = False


class PickerWidget(forms.CheckboxSelectMultiple):
    """Checkboxes; where there is a script, a search with chips and whole categories at once."""

    class Media:
        css = {"all": ["annotation/picker.css"]}
        js = [forms.Script("annotation/picker-form.js", type="module")]

    def __init__(
        self, label: Any, categories: Callable[[Any], Iterable[Any]] | None = None
    ) -> None:
        super().__init__()
        self.label, self.categories = label, categories

    def create_option(
        self, name: str, value: Any, label: Any, selected: Any, index: int, **kwargs: Any
    ) -> dict[str, Any]:
        option = super().create_option(name, value, label, selected, index, **kwargs)
        entry = getattr(value, "instance", None)
        names = self.categories(entry) if self.categories and entry else ()
        option["attrs"]["data-categories"] = "|".join(map(str, names))
        if index == 0:
            option["attrs"] |= {"data-picker": str(self.label), "data-words": json.dumps(_words())}
        return option


def _words() -> dict[str, str]:
    """Return what the picker's script says; {n} and {name} are filled in there."""
    return {
        "allOf": _("All of “{name}”, {n}"),
        "alreadyChosen": _("already chosen"),
        "chosen": _("{n} chosen"),
        "noneFound": _("Nothing found for “{name}”."),
        "remove": _("Remove {name}"),
        "removed": _("{name} removed."),
        "search": _("Search"),
        "selectAllOf": _("Select all of"),
    }


class TextField(forms.CharField):
    widget = UnfoldAdminTextInputWidget


class ParagraphField(forms.CharField):
    def __init__(self, *, rows: int, **kwargs: Any) -> None:
        super().__init__(widget=UnfoldAdminTextareaWidget(attrs={"rows": rows}), **kwargs)


class WholeNumberField(forms.IntegerField):
    widget = UnfoldAdminIntegerFieldWidget


class NumberField(forms.FloatField):
    widget = UnfoldAdminDecimalFieldWidget


class ChoiceField(forms.ChoiceField):
    widget = UnfoldAdminSelectWidget


class SwitchField(forms.BooleanField):
    """Off unless it is switched on."""

    widget = UnfoldBooleanSwitchWidget

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, **kwargs})


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", UnfoldAdminTextareaWidget(attrs={"rows": 4}))
        super().__init__(**kwargs)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(str(line) for line in value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> Any:
        if isinstance(value, list):
            return value
        return [line.strip() for line in (value or "").splitlines() if line.strip()]

    def validate(self, value: Any) -> None:
        if self.required and not value:
            raise forms.ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: Any) -> None:
        return  # the validators of a text know nothing of lists

    def has_changed(self, initial: Any, data: Any) -> bool:
        return self.to_python(initial) != self.to_python(data)


class UploadField(forms.FileField):
    """A file of at most so many megabytes; ``remedy`` says what to do with a larger one."""

    def __init__(
        self,
        megabytes: float,
        *,
        accept: str,
        remedy: Any = "",
        megabyte: int = 1024 * 1024,
        **kwargs: Any,
    ) -> None:
        self.megabytes, self.megabyte, self.remedy = megabytes, megabyte, remedy
        # The theme's script writes a chosen file's name into the nearest text field: this widget
        # has one for it.
        kwargs.setdefault("widget", UnfoldAdminFileFieldWidget(attrs={"accept": accept}))
        super().__init__(**kwargs)

    def clean(self, data: Any, initial: Any = None) -> Any:
        file = super().clean(data, initial)
        if file and file.size > self.megabytes * self.megabyte:
            text = _("The file has %(size).1f MB, expected %(most)g MB at most.") % {
                "size": file.size / self.megabyte,
                "most": self.megabytes,
            }
            raise forms.ValidationError(f"{text} {self.remedy}".strip())
        return file
