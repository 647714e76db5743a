"""The editor of a flow: a field that holds JSON, and what its page's script has to know."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.forms.fields import InvalidJSONInput
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.instruments.arms import read_arms
from annotation.instruments.conditions import CHECK_RESULTS
from annotation.instruments.flow import read_flow
from annotation.instruments.flow_description import EXPLANATIONS
from annotation.instruments.step_content import (
    CONTENTS,
    MOST_CHARACTERS,
    MOST_ITEMS,
    MOST_LINES,
    MOST_OPTIONS,
    MOST_POINTS,
    MOST_ROWS,
)
from annotation.instruments.step_defaults import default_content
from annotation.instruments.step_kinds import (
    ANSWER_STEPS,
    CHECK_STEPS,
    CHECKS_AFTER_RATING,
    NUMBER_STEPS,
    ONCE,
    UNCONDITIONAL,
    StepKind,
)
from annotation.models import Instrument
from annotation.studies.readiness import Finding, list_languages

MOST_JSON_CHARACTERS = 400_000
MARKDOWN_HELP = gettext_lazy(
    "Markdown: # Heading, *emphasis*, **strong**, - list, [words of a link](https://example.org)."
)

# In which order and under which heading kinds are offered.
MENU = (
    (
        gettext_lazy("Frame"),
        (
            StepKind.CONSENT,
            StepKind.INSTRUCTIONS,
            StepKind.PRACTICE,
            StepKind.PAGE,
            StepKind.DEBRIEF,
        ),
    ),
    (gettext_lazy("Ratings"), (StepKind.RATING, StepKind.REPEAT)),
    (
        gettext_lazy("Checks"),
        (
            StepKind.GROUP_NAME,
            StepKind.MARKED_TRAITS,
            StepKind.TYPED_TRAITS,
            StepKind.INSTRUCTED,
            StepKind.NONSENSICAL,
            StepKind.COMPREHENSION,
        ),
    ),
    (
        gettext_lazy("Questions"),
        (
            StepKind.CHOICE,
            StepKind.MATRIX,
            StepKind.SLIDER,
            StepKind.NUMBER,
            StepKind.RANKING,
            StepKind.FREE_TEXT,
            StepKind.DEMOGRAPHICS,
        ),
    ),
)


class FlowWidget(forms.Textarea):
    """A text of JSON, which a script of the page turns into cards; without it the text stays."""

    class Media:
        css = {"all": ["annotation/flow-editor.css"]}


class FlowField(forms.JSONField):
    """A flow as JSON. Raises `ValidationError` with every problem of the flow."""

    widget = FlowWidget

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return value
        return json.dumps(value, ensure_ascii=False, indent=1)

    def to_python(self, value: Any) -> Any:
        if isinstance(value, str) and len(value) > MOST_JSON_CHARACTERS:
            raise forms.ValidationError(
                _("The steps have %(n)d characters, expected at most %(max)d."),
                params={"n": len(value), "max": MOST_JSON_CHARACTERS},
            )
        try:
            return super().to_python(value)
        except RecursionError:
            raise forms.ValidationError(_("The steps are nested too deeply.")) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except RecursionError:
            return InvalidJSONInput(data)

    def validate(self, value: Any) -> None:
        super().validate(value)
        _steps, problems = read_flow(value)
        if problems:
            raise forms.ValidationError([problem.text for problem in problems])


def show_findings(findings: list[Finding]) -> list[dict[str, Any]]:
    """Return findings as the script reads them."""
    return [
        {"step": finding.step, "field": finding.field, "text": finding.text} for finding in findings
    ]


def build_config(instrument: Instrument) -> dict[str, Any]:
    """Return what the editor's script has to know. Two queries."""
    languages = list_languages(instrument)
    return {
        "check": reverse("admin:annotation_instrument_check_flow", args=[instrument.pk]),
        "languages": languages,
        "menu": [
            {
                "heading": str(heading),
                "kinds": [
                    kind.value
                    for kind in kinds
                    if kind != StepKind.GROUP_NAME or not instrument.study.rates_texts
                ],
            }
            for heading, kinds in MENU
        ],
        "kinds": {kind.value: _describe_kind(kind, languages) for kind in StepKind},
        "results": [
            {"value": value, "label": str(label)}
            for value, label in zip(
                CHECK_RESULTS.values(),
                (_("passed"), _("failed"), _("could not be asked")),
                strict=True,
            )
        ],
        "questions": [
            {
                "slug": question.slug,
                "label": question.label,
                "options": [str(option) for option in question.options],
                "number": question.kind == "number",
            }
            for question in instrument.questions.all()
        ],
        "arms": [
            {"value": arm.name, "label": arm.label} for arm in read_arms(instrument.arms).values()
        ],
        "mostOptions": MOST_OPTIONS,
        "mostLines": MOST_LINES,
        "words": _words(),
    }


def _describe_kind(kind: StepKind, languages: list[str]) -> dict[str, Any]:
    return {
        "label": str(kind.label),
        "explanation": str(EXPLANATIONS[kind]),
        "once": kind in ONCE,
        "conditional": kind not in UNCONDITIONAL,
        "afterRating": kind in CHECKS_AFTER_RATING,
        "isCheck": kind in CHECK_STEPS,
        "needsName": kind in ANSWER_STEPS,
        "isNumber": kind in NUMBER_STEPS,
        "content": default_content(kind, languages),
        "fields": [
            field | {"default": CONTENTS[kind].model_fields[field["name"]].get_default()}
            if field["type"] in {"flag", "number", "select"}
            else field
            for field in _fields(kind)
        ],
    }


def _fields(kind: StepKind) -> list[dict[str, Any]]:
    """Return the controls of a kind's content, in their order."""
    question = _control("question", "text", _("Question"))
    help_text = _control("help", "text", _("Help below it"), optional=True)
    options = _control("options", "options", _("Answers"))
    required = _control("required", "flag", _("An answer is required"))
    random_order = _control("random_order", "flag", _("In another order for each participant"))
    unit = _control("unit", "text", _("Unit, such as years"), optional=True)
    media = _control("media", "media", _("Picture or sound"), words=_media_words())
    match kind:
        case StepKind.PAGE:
            body = _control("body", "paragraph", _("Text"), help=MARKDOWN_HELP)
            return [_control("title", "text", _("Title")), body, media]
        case StepKind.PRACTICE:
            lead = _control("lead", "paragraph", _("How the line works"))
            return [question, lead, _control("lines", "lines", _("Lines"))]
        case StepKind.FREE_TEXT:
            long = _control("long", "flag", _("Several lines to write on"))
            most = _control(
                "max_characters", "number", _("Most characters"), low=1, high=MOST_CHARACTERS
            )
            return [question, help_text, media, long, required, most]
        case StepKind.CHOICE:
            several = _control("several", "flag", _("Several answers possible"))
            return [question, help_text, media, options, several, random_order, required]
        case StepKind.SLIDER:
            ends = [
                _control("low", "text", _("Words at the low end")),
                _control("high", "text", _("Words at the high end")),
            ]
            limits = [
                _control("minimum", "number", _("Lowest number")),
                _control("maximum", "number", _("Highest number")),
                _control("step", "number", _("From one place to the next"), low=1),
            ]
            return [question, help_text, media, *ends, *limits, unit, required]
        case StepKind.NUMBER:
            limits = [
                _control("minimum", "number", _("Lowest number, empty for no limit")),
                _control("maximum", "number", _("Highest number, empty for no limit")),
            ]
            whole = _control("integer", "flag", _("Whole numbers only"))
            return [question, help_text, media, *limits, unit, whole, required]
        case StepKind.MATRIX:
            rows = _control(
                "rows", "options", _("Statements"), most=MOST_ROWS, add=_("Add a statement")
            )
            points = _control("points", "options", _("Points"), most=MOST_POINTS)
            return [question, help_text, media, rows, points, random_order, required]
        case StepKind.RANKING:
            items = _control("items", "options", _("Items"), most=MOST_ITEMS, add=_("Add an item"))
            return [question, help_text, media, items, random_order, required]
        case StepKind.INSTRUCTED:
            mark = {"name": "expected", "several": False, "label": _("passes")}
            return [question, help_text, media, options | {"mark": mark}]
        case StepKind.NONSENSICAL:
            mark = {"name": "accepted", "several": True, "label": _("passes")}
            return [
                question | {"label": _("Statement")},
                help_text,
                media,
                options | {"mark": mark},
            ]
        case StepKind.COMPREHENSION:
            mark = {"name": "right", "several": False, "label": _("right")}
            outcomes = [
                ["go_on", _("go on; the check counts as failed")],
                ["screen_out", _("end the study as screened out")],
            ]
            on_failure = _control(
                "on_failure", "select", _("After two wrong answers"), options=outcomes
            )
            return [question, help_text, media, options | {"mark": mark}, on_failure]
    return []


def _control(name: str, kind: str, label: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "label": label, **more}


def _media_words() -> dict[str, str]:
    return {
        "none": _("None"),
        "alt": _("What it shows or says, in words"),
        "help": _(
            "For people who do not see or hear it. Where the words would give an answer away, say "
            "what kind of picture or sound it is."
        ),
        "upload": _("Upload a file"),
        "uploading": _("Uploading …"),
        "failed": _("The file could not be uploaded: no connection."),
    }


def _words() -> dict[str, str]:
    """Return what the script says; {n}, {total} and {name} are filled in there."""
    return {
        "add": _("Add a step"),
        "addAnswer": _("Add an answer"),
        "addLine": _("Add a line"),
        "addCondition": _("Add a condition"),
        "added": _("{name} added as step {n}."),
        "all": _("all of these hold"),
        "always": _("Always shown"),
        "any": _("one of these holds"),
        "anyOf": _("is one of"),
        "atLeast": _("is at least"),
        "atMost": _("is at most"),
        "close": _("Close"),
        "condition": _("When it is shown"),
        "conditionByHand": _("This condition is nested. Edit it as JSON."),
        "dataName": _("Name in the data"),
        "drag": _("Drag to another place"),
        "down": _("Move {name} down"),
        "edit": _("Edit"),
        "is": _("is"),
        "isNot": _("is not"),
        "left": _("Left"),
        "moved": _("{name} is step {n} of {total} now."),
        "neverMissing": _("Nothing earlier to compare with."),
        "noText": _("no text yet"),
        "once": _("There is one already"),
        "onlyIf": _("only if"),
        "place": _("Place of {name}"),
        "remove": _("Remove {name}"),
        "removed": _("{name} removed."),
        "right": _("Right"),
        "showIf": _("Shown if"),
        "undo": _("Undo"),
        "undone": _("{name} is back as step {n}."),
        "up": _("Move {name} up"),
        "value": _("Value"),
        "arm": _("Arm of the participant"),
        "language": _("Language of the visit"),
        "unchecked": _("The steps could not be checked: no connection."),
        "unreadable": _("The steps are not valid JSON. Correct the text below, then save."),
        "fine": _("The steps fit together."),
        "problemsOne": ngettext("%(n)s problem to fix", "%(n)s problems to fix", 1) % {"n": "1"},
        "problemsMany": ngettext("%(n)s problem to fix", "%(n)s problems to fix", 2) % {"n": "{n}"},
    }
