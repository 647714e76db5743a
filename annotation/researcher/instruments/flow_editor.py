"""The kinds of steps as the designer offers them: their controls, texts, settings and places."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.instruments.arms import read_arms
from annotation.instruments.conditions import CHECK_RESULTS
from annotation.instruments.known_texts import new_content
from annotation.instruments.text_labels import text_labels
from annotation.models import Instrument
from annotation.steps.kind import KINDS, Menu, StepKind, describe_controls, name_kinds
from annotation.steps.practice import MOST_LINES
from annotation.steps.question import MOST_OPTIONS


def describe_kinds(instrument: Instrument, languages: list[str]) -> dict[str, Any]:
    """Return what the designer has to know of the kinds of steps."""
    return {
        "menu": [
            {
                "heading": str(menu.label),
                "kinds": [
                    kind.name
                    for kind in sorted(KINDS.values(), key=lambda kind: (kind.rank, kind.name))
                    if kind.menu == menu
                    and not (kind.rates_groups_alone and instrument.study.rates_texts)
                ],
            }
            for menu in Menu
        ],
        "kinds": {
            name: _describe_kind(kind, languages) | _describe_parts(kind, instrument)
            for name, kind in KINDS.items()
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


def _describe_parts(kind: type[StepKind], instrument: Instrument) -> dict[str, Any]:
    """Return which parts of the instrument, beside the step itself, are edited at a kind."""
    before = _name_all(kind.comes_before) - {kind.name}
    if kind.after_rating:  # these stand together, the newest last
        before -= name_kinds(lambda other: other.after_rating)
    return {
        "after": sorted(_name_all(kind.comes_after)),
        "before": sorted(before),
        "texts": [
            {
                "key": key,
                "label": str(found.label),
                "type": "paragraph" if found.is_long else "text",
            }
            for key, found in text_labels(instrument.study.kind).items()
            if found.kind == kind.name
        ],
        "settings": [describe_setting(name) for name in kind.settings],
        "parts": list(kind.parts),
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


def _name_all(kinds: frozenset[str]) -> frozenset[str]:
    return frozenset(KINDS) if "*" in kinds else kinds


def _describe_kind(kind: type[StepKind], languages: list[str]) -> dict[str, Any]:
    return {
        "label": str(kind.label),
        "explanation": str(kind.about),
        "once": kind.once,
        "conditional": kind.is_conditional,
        "afterRating": kind.after_rating,
        "isCheck": kind.is_check,
        "needsName": kind.is_question,
        "isNumber": kind.is_number,
        "content": empty_question(kind) or new_content(kind, languages) or None,
        "example": new_content(kind, languages) if kind.menu is Menu.QUESTIONS else {},
        "fields": [
            control | {"words": _media_words()} if control["type"] == "media" else control
            for control in describe_controls(kind)
        ],
    }


def empty_question(kind: type[StepKind]) -> dict[str, Any]:
    """Return what a researcher's own question begins with: no words but those of a scale's points.

    The words of `StepKind.new` are shown as examples. Empty for kinds that are no such question.
    """
    if kind.menu is not Menu.QUESTIONS:
        return {}
    content = dict(kind.new)
    for name, value in kind.new.items():
        if isinstance(value, dict):
            content[name] = {}
        elif isinstance(value, list) and name != "points":
            content[name] = [{"value": "answer", "text": {}}, {"value": "answer-2", "text": {}}]
    return {name: value for name, value in content.items() if name != "help" or value}


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
        "searchSteps": _("Search steps"),
        "noStep": _("No kind of step is called that."),
        "example": _("For example: {text}"),
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
