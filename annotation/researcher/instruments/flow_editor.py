"""The kinds of steps as the designer offers them: their controls, texts, settings and places."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.instruments.arms import read_arms
from annotation.instruments.conditions import CHECK_RESULTS
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
from annotation.instruments.text_labels import text_labels
from annotation.models import Instrument

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
#: A new step of a kind comes behind all of the first and before all of the second kinds.
PLACES: dict[StepKind, tuple[frozenset[StepKind], frozenset[StepKind]]] = {
    StepKind.CONSENT: (frozenset(), frozenset(StepKind)),
    StepKind.INSTRUCTIONS: (frozenset({StepKind.CONSENT}), frozenset(StepKind)),
    StepKind.COMPREHENSION: (frozenset(), frozenset({StepKind.PRACTICE, StepKind.RATING})),
    StepKind.PRACTICE: (frozenset(), frozenset({StepKind.RATING})),
    StepKind.RATING: (
        frozenset({StepKind.RATING}),
        frozenset({StepKind.REPEAT, StepKind.DEMOGRAPHICS, StepKind.DEBRIEF}),
    ),
    **{
        kind: (frozenset({StepKind.RATING}), frozenset(StepKind) - CHECKS_AFTER_RATING)
        for kind in CHECKS_AFTER_RATING
    },
    StepKind.REPEAT: (
        frozenset({StepKind.RATING}),
        frozenset({StepKind.DEMOGRAPHICS, StepKind.DEBRIEF}),
    ),
    StepKind.DEBRIEF: (frozenset(StepKind), frozenset()),
}
# All others come last.
LAST = (frozenset[StepKind](), frozenset({StepKind.DEBRIEF}))
#: Settings of the instrument that belong to a kind of step.
SETTINGS: dict[StepKind, tuple[str, ...]] = {
    StepKind.RATING: ("scale_order", "pole_sides", "show_ticks", "one_per_domain"),
    StepKind.MARKED_TRAITS: ("high_from", "low_to"),
    StepKind.TYPED_TRAITS: ("high_from", "low_to"),
    StepKind.REPEAT: (
        "agreement_rule",
        "agreement_within",
        "agreement_at_least",
        "agreement_tau",
    ),
}
#: Parts of the instrument that are chosen at a kind of step.
PARTS: dict[StepKind, tuple[str, ...]] = {
    StepKind.RATING: ("groups", "scales"),
    StepKind.DEMOGRAPHICS: ("questions",),
}


def describe_kinds(instrument: Instrument, languages: list[str]) -> dict[str, Any]:
    """Return what the designer has to know of the kinds of steps."""
    return {
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
        "kinds": {
            kind.value: _describe_kind(kind, languages) | _describe_parts(kind, instrument)
            for kind in StepKind
        },
        "results": [
            {"value": value, "label": str(label)}
            for value, label in zip(
                CHECK_RESULTS.values(),
                (_("passed"), _("failed"), _("could not be asked")),
                strict=True,
            )
        ],
        "arms": [
            {"value": arm.name, "label": arm.label} for arm in read_arms(instrument.arms).values()
        ],
        "mostOptions": MOST_OPTIONS,
        "mostLines": MOST_LINES,
        "words": _words(),
    }


def _describe_parts(kind: StepKind, instrument: Instrument) -> dict[str, Any]:
    """Return which parts of the instrument, beside the step itself, are edited at a kind."""
    after, before = PLACES.get(kind, LAST)
    return {
        "after": sorted(after),
        "before": sorted(before - {kind}),
        "texts": [
            {
                "key": key,
                "label": str(found.label),
                "type": "paragraph" if found.is_long else "text",
            }
            for key, found in text_labels(instrument.study.kind).items()
            if found.kind == kind
        ],
        "settings": [describe_setting(name) for name in SETTINGS.get(kind, ())],
        "parts": list(PARTS.get(kind, ())),
    }


def describe_setting(name: str) -> dict[str, Any]:
    """Return the control of one of the instrument's own fields."""
    field: Any = Instrument._meta.get_field(name)
    label = str(field.verbose_name)
    described = {
        "name": name,
        "label": label[:1].upper() + label[1:],
        "help": str(field.help_text),
        "default": field.get_default(),
    }
    if field.choices:
        options = [[value, str(text)] for value, text in field.choices]
        return described | {"type": "select", "options": options}
    if isinstance(field, models.BooleanField):
        return described | {"type": "flag"}
    limits = {type(check): check.limit_value for check in field.validators}
    return described | {
        "type": "number",
        "low": limits.get(MinValueValidator, 0),
        "high": limits.get(MaxValueValidator),
        "step": "any" if isinstance(field, models.FloatField) else 1,
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
    """Return what the scripts say; {n}, {total} and {name} are filled in there."""
    return {
        "add": _("Add step"),
        "addAnswer": _("Add an answer"),
        "addCondition": _("Add a condition"),
        "addGroup": _("New group “{name}”"),
        "addLanguage": _("Add {name}"),
        "addLine": _("Add a line"),
        "addQuestion": _("Add a question"),
        "addScale": _("Add this scale"),
        "addStep": _("What should come next?"),
        "added": _("{name} added as step {n}."),
        "all": _("all of these hold"),
        "allOf": _("All of “{name}”, {n}"),
        "alreadyChosen": _("already chosen"),
        "always": _("Always shown"),
        "any": _("one of these holds"),
        "anyOf": _("is one of"),
        "askLibrary": _("Ask an administrator to put further ones into the library."),
        "atLeast": _("is at least"),
        "atMost": _("is at most"),
        "checks": _("What counts as passed"),
        "chooseDimension": _("Choose a dimension"),
        "chosen": _("{n} chosen"),
        "close": _("Close"),
        "conflict": _(
            "Your last edits are kept here and are not saved yet. Look at theirs in a second "
            "window first, then choose."
        ),
        "condition": _("When it is shown"),
        "conditionByHand": _("This condition is nested. Edit it as JSON."),
        "connection": _(
            "Not saved: no connection. It is tried again, and your edits are kept here."
        ),
        "copied": _("{name} copied as step {n}."),
        "dataName": _("Name in the data"),
        "delete": _("Delete"),
        "dimension": _("Dimension"),
        "down": _("Move {name} down"),
        "drag": _("Drag to another place"),
        "duplicate": _("Duplicate"),
        "editGroup": _("Words for “{name}”"),
        "failed": _("Not saved. Something went wrong on the server; it is tried again."),
        "file": _("Or translate a file"),
        "fromLibrary": _("From the library of questions"),
        "fromLibraryHelp": _("Ready-made ones, your own, and those that colleagues share."),
        "group": _("Group in the plural"),
        "groups": _("Groups"),
        "groupsHelp": _("Type to search; sets and domains add many at once."),
        "helpText": _("Help below it"),
        "high": _("Word at the high end"),
        "is": _("is"),
        "isNot": _("is not"),
        "keepHelp": _(
            "Its texts in all languages and its picture or sound are kept; when it is shown is not."
        ),
        "keepNow": _("Save"),
        "keepQuestion": _("Save to library"),
        "keepMine": _("Replace theirs with mine"),
        "kind": _("Kind of answer"),
        "kept": _("Edits that were not saved last time are back."),
        "language": _("Language of the visit"),
        "languages": _("Languages"),
        "libraryName": _("Name in the library"),
        "languagesHelp": _(
            "Participants read the language that their browser asks for, if it is here."
        ),
        "left": _("Left"),
        "low": _("Word at the low end"),
        "maximum": _("Largest number"),
        "mendThere": _("Fix it there"),
        "mend": _("Not saved. {name}"),
        "minimum": _("Smallest number"),
        "missing": _("{n} of {total} texts to translate"),
        "moved": _("{name} is step {n} of {total} now."),
        "neverMissing": _("Nothing earlier to compare with."),
        "newGroups": _("New groups, one per line or separated by commas"),
        "newGroupsHelp": _("In the plural, such as “bakers”. They join the library."),
        "newGroupsButton": _("Add these groups"),
        "newQuestion": _("New question"),
        "newScale": _("A scale of your own"),
        "noQuestions": _("The library holds no such question yet."),
        "noneFound": _("Nothing found for “{name}”."),
        "once": _("There is one already"),
        "onlyIf": _("only if"),
        "options": _("Answers, one a line"),
        "optionsHelp": _(
            "The last that ends with a colon, such as “I describe myself:”, opens a field for "
            "words of one’s own. A choice of more than twelve is shown as a list that opens."
        ),
        "pastedOne": ngettext("%(n)s group added.", "%(n)s groups added.", 1) % {"n": "1"},
        "pastedMany": ngettext("%(n)s group added.", "%(n)s groups added.", 2) % {"n": "{n}"},
        "problemOne": ngettext("%(n)s problem", "%(n)s problems", 1) % {"n": "1"},
        "problemMany": ngettext("%(n)s problem", "%(n)s problems", 2) % {"n": "{n}"},
        "put": _("“{name}” added as step {n}."),
        "putForeign": _(
            "“{name}” added as step {n}. It is not in the language of the study: translate it."
        ),
        "question": _("Question"),
        "questions": _("Questions about the participant"),
        "questionsFound": _("{n} questions"),
        "remove": _("Remove {name}"),
        "removed": _("{name} removed."),
        "right": _("Right"),
        "saved": _("Saved"),
        "saving": _("Saving …"),
        "scales": _("Scales"),
        "scalesHelp": _("Lines between two words, from 0 to 100."),
        "search": _("Search"),
        "searchQuestions": _("Search by name, words or kind"),
        "shareQuestion": _("For all researchers of this installation"),
        "selectAllOf": _("Select all of"),
        "shared": _("The same on every rating page"),
        "showIf": _("Shown if"),
        "showNames": _("Show names in the data"),
        "signedOut": _("Not saved: you are signed out. Log in in another window; saving goes on."),
        "singular": _("One of them, in the singular"),
        "stale": _("The text was reworded since."),
        "step": _("Step"),
        "steps": _("{n} steps"),
        "takeTheirs": _("Show theirs, drop mine"),
        "textsRated": _("Texts to rate"),
        "translated": _("{n} translated already"),
        "undone": _("Undone."),
        "unreadyOne": ngettext("%(n)s problem to fix first", "%(n)s problems to fix first", 1)
        % {"n": "1"},
        "unreadyMany": ngettext("%(n)s problem to fix first", "%(n)s problems to fix first", 2)
        % {"n": "{n}"},
        "redone": _("Done again."),
        "up": _("Move {name} up"),
        "value": _("Value"),
        "arm": _("Arm of the participant"),
    }
