"""The check that asks for a word placed near and a word placed far."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.instruments.checks import MarkedRating, TraitChoices, build_trait_choices
from annotation.instruments.flow import Step
from annotation.models import CheckKind
from annotation.steps.checks import MarkedTraits
from annotation.steps.forms import AnswersRefused, FilledForm, PageRefused, read_single
from annotation.survey.pages.page import Page, store_check, store_unasked
from annotation.survey.pages.rating import draw_question, draw_text
from annotation.survey.visits.visit import Visit

FIELDS = ("near", "far")


class MarkedTraitsPage(Page, of=MarkedTraits):
    def open(self, visit: Visit, step: Step) -> bool:
        if not step.position:
            store_unasked(visit, step, CheckKind.MARKED_TRAITS)
        if not visit.is_rated(step):
            return False
        if self._choices(visit, step) is not None:
            return True
        store_check(
            visit,
            step,
            CheckKind.MARKED_TRAITS,
            expected={
                "high_from": visit.instrument.high_from,
                "low_to": visit.instrument.low_to,
            },
            passed=None,
            reason="Not asked: every rating of the page lies between the two thresholds.",
        )
        return False

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        lists = self._show_lists(visit, step, filled)
        return {"lists": lists, "troubled": [one for one in lists if one["problem"]]}

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        lists = self._show_lists(visit, step, filled)
        drawn = render_to_string("survey/parts/words.html", {"lists": lists})
        return {**recall_question(visit, step), "drawn_lists": drawn}

    def _show_lists(self, visit: Visit, step: Step, filled: FilledForm) -> list[dict[str, Any]]:
        choices = self._choices(visit, step)
        if choices is None:
            raise LookupError(f"Step {step.index} has no words to choose from.")
        headings = {
            "near": _("A word that you placed them near"),
            "far": _("A word that you placed them far from"),
        }
        first = next((field for field in FIELDS if field in filled.problems), "")
        return [
            {
                "field": field,
                "heading": headings[field],
                "options": getattr(choices, field),
                "chosen": filled.text(field),
                "problem": filled.problem(field),
                "is_first_problem": field == first,
            }
            for field in FIELDS
        ]

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        choices = self._choices(visit, step)
        if choices is None:
            raise LookupError(f"Step {step.index} has no words to choose from.")
        given: dict[str, str] = {}
        problems: dict[str, str] = {}
        for field in FIELDS:
            given[field] = read_single(sent, field)
            offered = {option.key: option.word for option in getattr(choices, field)}
            if not given[field]:
                problems[field] = _("Choose one word. If you are not sure, choose the likeliest.")
            elif given[field] not in offered:
                raise PageRefused(
                    _("“%(value)s” is not among the words of this page.")
                    % {"value": given[field][:60]}
                )
        if problems:
            raise AnswersRefused(problems)
        store_check(
            visit,
            step,
            CheckKind.MARKED_TRAITS,
            answer=given,
            expected={
                "near": sorted(choices.right_near),
                "far": sorted(choices.right_far),
                "near_options": [option.key for option in choices.near],
                "far_options": [option.key for option in choices.far],
            },
            passed=choices.is_passed_by(**given),
        )

    def _choices(self, visit: Visit, step: Step) -> TraitChoices | None:
        values = visit.load_values(visit.assignments[step.position])
        return build_trait_choices(
            [
                MarkedRating(
                    slug=line.scale.slug,
                    low=line.low,
                    high=line.high,
                    value=values[line.key],
                )
                for line in visit.lines
                if line.key in values
            ],
            high_from=visit.instrument.high_from,
            low_to=visit.instrument.low_to,
            seed=visit.submission.seed,
        )


def recall_question(visit: Visit, step: Step) -> dict[str, SafeString]:
    """Return the question about the group just rated, as HTML, and the text if it was one."""
    group = visit.assignments[step.position].group
    drawn = visit.keep(
        ("recalled", visit.submission.language, group.slug),
        lambda: draw_question(
            _("Which words fit what you said about {group}?"), visit.name_group(group)
        ),
    )
    return {"question": drawn["question"], **draw_text(visit, group)}
