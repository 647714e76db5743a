"""Steps and conditions in words: for frozen versions, comparisons and the list of kinds."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from annotation.instruments.conditions import (
    All,
    AnyPart,
    Condition,
    Not,
    OneOf,
    Within,
)
from annotation.instruments.flow import Step, describe_item, read_flow
from annotation.steps.kind import KINDS, iterate_texts


def describe_flow(flow: object) -> list[str]:
    """Return one line of words for each step; items that cannot be read are named as they are."""
    steps, _problems = read_flow(flow)
    known = {step.index: step for step in steps}
    items = flow if isinstance(flow, list) else []
    return [
        describe_step(known[index]) if index in known else describe_item(item)
        for index, item in enumerate(items)
    ]


def describe_step(step: Step) -> str:
    """Return kind, name, texts, settings and condition of a step in one line."""
    words = str(KINDS[step.kind].label)
    if step.key:
        words += f" [{step.key}]"
    if step.content is not None and KINDS[step.kind].model_fields:
        texts = " / ".join(
            "; ".join(f"{language}: {text}" for language, text in sorted(written.items()))
            for _place, written in iterate_texts(step.content)
        )
        words += f" – {texts}"
        if settings := _describe_settings(step.content.model_dump()):
            words += f" ({settings})"
    if step.show_if is not None:
        words += ". " + _("Only if %(condition)s") % {"condition": describe_condition(step.show_if)}
    return words


def _describe_settings(content: dict[str, Any]) -> str:
    settings = []
    for name, value in content.items():
        if isinstance(value, list):
            names = (item.get("value", "") if isinstance(item, dict) else item for item in value)
            if written := ", ".join(filter(None, names)):
                settings.append(f"{name}: {written}")
        elif name == "media" and value:
            settings.append(f"{name}: {value['file'][:12]}")
        elif isinstance(value, bool | int | float | str):
            settings.append(f"{name}: {str(value).lower()}")
    return "; ".join(settings)


def describe_condition(condition: Condition) -> str:
    """Return a condition in words, with brackets round its parts."""
    match condition:
        case All(parts):
            return _(" and ").join(_bracket(part) for part in parts)
        case AnyPart(parts):
            return _(" or ").join(_bracket(part) for part in parts)
        case Not(part):
            return _("not (%(condition)s)") % {"condition": describe_condition(part)}
        case OneOf(_source, name, values):
            return _("“%(name)s” is %(values)s") % {
                "name": name,
                "values": _(" or ").join(f"“{value}”" for value in values),
            }
        case Within(name, at_least, at_most, _source):
            limits = [
                text % {"n": f"{limit:g}"}
                for text, limit in ((_("at least %(n)s"), at_least), (_("at most %(n)s"), at_most))
                if limit is not None
            ]
            return f"“{name}” {_(' and ').join(limits)}"


def _bracket(part: Condition) -> str:
    words = describe_condition(part)
    return f"({words})" if isinstance(part, All | AnyPart) else words
