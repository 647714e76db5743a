"""The check that asks to type a trait that was marked high, and one that was marked low."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.instruments.checks import TypedWord, is_marked
from annotation.instruments.flow import Step
from annotation.models import CheckKind, TraitPair
from annotation.steps.checks import TypedTraits
from annotation.steps.forms import AnswersRefused, FilledForm, read_text
from annotation.survey.pages.marked_traits import FIELDS, MarkedTraitsPage, recall_question
from annotation.survey.pages.page import store_check
from annotation.survey.visits.visit import Visit

MAX_CHARACTERS = 60


class TypedTraitsPage(MarkedTraitsPage, of=TypedTraits):
    """Asked wherever there are words to choose from; see `MarkedTraitsPage`."""

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        labels = {
            "near": (_("A trait that you marked high"), _("A word that you placed them near.")),
            "far": (_("A trait that you marked low"), _("A word that you placed them far from.")),
        }
        fields = [
            {
                "name": name,
                "label": label,
                "help": help_text,
                "value": filled.text(name)[:MAX_CHARACTERS],
                "problem": filled.problem(name),
            }
            for name, (label, help_text) in labels.items()
        ]
        return {
            "fields": fields,
            "troubled": [field for field in fields if field["problem"]],
            "max_characters": MAX_CHARACTERS,
        }

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        return recall_question(visit, step)

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        given = {name: read_text(sent, name) for name in FIELDS}
        problems = {
            name: _("Type one word. If you are not sure, type the likeliest.")
            if not text
            else _("The word has %(n)s characters. Write %(max)s or fewer.")
            % {"n": len(text), "max": MAX_CHARACTERS}
            for name, text in given.items()
            if not text or len(text) > MAX_CHARACTERS
        }
        if problems:
            raise AnswersRefused(problems)
        poles = list_poles(visit, step)
        limits = {"high_from": visit.instrument.high_from, "low_to": visit.instrument.low_to}
        store_check(
            visit,
            step,
            CheckKind.MARKED_TRAITS,
            answer=given,
            expected={
                "typed": True,
                "near": [p.key for p in poles if p.nearness >= limits["high_from"]],
                "far": [p.key for p in poles if p.nearness <= limits["low_to"]],
            },
            passed=is_marked(given["near"], poles, high=True, **limits)
            and is_marked(given["far"], poles, high=False, **limits),
        )


def list_poles(visit: Visit, step: Step) -> list[TypedWord]:
    """Return both words of every line of the page just sent, with how near the group is to them.

    Words are those of the page, of the instrument, and the library's synonyms: whoever reads
    Spanish may remember the English word. Two queries.
    """
    values = visit.load_values(visit.assignments[step.position])
    pairs = {
        pair.slug: pair
        for pair in TraitPair.objects.filter(slug__in=[line.key for line in visit.lines])
    }
    poles = []
    for line in (line for line in visit.lines if line.key in values):
        value, pair = values[line.key], pairs.get(line.key)
        for pole, shown, own, nearness in (
            ("low", line.low, line.scale.low, 100 - value),
            ("high", line.high, line.scale.high, value),
        ):
            synonyms = getattr(pair, f"{pole}_synonyms", ())
            words = tuple(dict.fromkeys((shown, own, *synonyms)))
            poles.append(TypedWord(f"{line.key}:{pole}", words, nearness))
    return poles
