"""Steps and conditions in words: for frozen versions, comparisons and the list of kinds."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.instruments.conditions import (
    All,
    AnyPart,
    Condition,
    Not,
    OneOf,
    Within,
)
from annotation.instruments.flow import Step, describe_item, read_flow
from annotation.instruments.step_content import iterate_texts
from annotation.instruments.step_kinds import StepKind

EXPLANATIONS = {
    StepKind.CONSENT: gettext_lazy("What the study is about, and a box to agree. Comes first."),
    StepKind.INSTRUCTIONS: gettext_lazy("How the rating pages work."),
    StepKind.PAGE: gettext_lazy("A title and a text of yours, on a page of its own."),
    StepKind.PRACTICE: gettext_lazy("Lines about something harmless. Nothing on it is kept."),
    StepKind.RATING: gettext_lazy(
        "One group on all lines: as many such pages, as many groups for each participant."
    ),
    StepKind.GROUP_NAME: gettext_lazy("“Which group did you just rate?” Rests on memory."),
    StepKind.MARKED_TRAITS: gettext_lazy(
        "A word that was marked near and one that was marked far. Rests on memory."
    ),
    StepKind.TYPED_TRAITS: gettext_lazy(
        "The same with words that are typed, as Cao et al. (2022) asked. Rests on memory."
    ),
    StepKind.REPEAT: gettext_lazy("An earlier group once more, to see how far answers agree."),
    StepKind.INSTRUCTED: gettext_lazy(
        "The text says which answer to choose. Panels allow to reject for it."
    ),
    StepKind.NONSENSICAL: gettext_lazy(
        "A statement that is true of nobody. Panels allow to reject for it."
    ),
    StepKind.COMPREHENSION: gettext_lazy(
        "Two tries. Then the study ends or goes on, as you choose."
    ),
    StepKind.CHOICE: gettext_lazy("A question of yours with one or several answers."),
    StepKind.FREE_TEXT: gettext_lazy("A question of yours that is answered in words."),
    StepKind.SLIDER: gettext_lazy("A question of yours, answered by a place on a line."),
    StepKind.NUMBER: gettext_lazy("A question of yours that is answered with a number."),
    StepKind.MATRIX: gettext_lazy(
        "Several statements of yours, each answered on the same points, such as agreement."
    ),
    StepKind.RANKING: gettext_lazy("Items of yours that are put into an order."),
    StepKind.DEMOGRAPHICS: gettext_lazy("The questions about the participant, all optional."),
    StepKind.DEBRIEF: gettext_lazy(
        "What the study was about, on a page of its own. Comes last; without it the end page says "
        "it."
    ),
}

# Of contents: lists of what has a name in the data.
NAMED_LISTS = ("options", "rows", "points", "items")


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
    words = str(step.kind.label)
    if step.key:
        words += f" [{step.key}]"
    if step.content is not None:
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
        if name in NAMED_LISTS:
            settings.append(f"{name}: {', '.join(option['value'] for option in value)}")
        elif name == "media" and value:
            settings.append(f"{name}: {value['file'][:12]}")
        elif isinstance(value, bool | int | float | str):
            settings.append(f"{name}: {str(value).lower()}")
        elif isinstance(value, list) and all(isinstance(item, str) for item in value):
            settings.append(f"{name}: {', '.join(value)}")
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
