"""The form field of one parameter, from a measure's JSON Schema."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

NONE_LABEL = _("none")


def parameter_field(described: dict[str, Any], *, optional: bool) -> forms.Field:
    """Return the field for one parameter of a JSON Schema."""
    shape = next(
        (entry for entry in described.get("anyOf", []) if entry.get("type") != "null"), described
    )
    default = described.get("default")
    common: dict[str, Any] = {
        "label": described.get("title"),
        "help_text": described.get("description", ""),
        "initial": default,
        "required": not optional and shape.get("type") != "boolean",
    }
    if shape.get("type") == "array" and "enum" in shape.get("items", {}):
        return forms.MultipleChoiceField(
            choices=[(value, value) for value in shape["items"]["enum"]],
            widget=forms.CheckboxSelectMultiple,
            **common,
        )
    if "enum" in shape or "const" in shape:
        choices = [(value, value) for value in shape.get("enum", [shape.get("const")])]
        if optional:
            choices.insert(0, ("", NONE_LABEL))
        return forms.ChoiceField(choices=choices, widget=UnfoldAdminSelectWidget, **common)
    if shape.get("type") == "boolean":
        return forms.BooleanField(**common)
    if shape.get("type") == "integer":
        return forms.IntegerField(
            min_value=shape.get("minimum"),
            max_value=shape.get("maximum"),
            widget=UnfoldAdminIntegerFieldWidget,
            **common,
        )
    # Other numbers and texts: the schema itself reads and judges them, with its own words.
    return forms.CharField(widget=UnfoldAdminTextInputWidget, **common)
