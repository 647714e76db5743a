"""The check that asks for a word placed near and a word placed far."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.models import CheckKind, CheckResponse, Outcome
from annotation.survey.checks import MarkedRating, TraitChoices, build_trait_choices
from annotation.survey.client_record import ClientRecord
from annotation.survey.errors import AnswersRefused, PageRefused
from annotation.survey.flow import Step
from annotation.survey.pages.page import Page
from annotation.survey.pages.rating import cut_question
from annotation.survey.posted import read_single
from annotation.survey.visit import Visit

FIELDS = ("near", "far")


class MarkedTraitsPage(Page):
    template = "survey/marked_traits.html"

    def open(self, visit: Visit, step: Step) -> bool:
        if step.position not in visit.assignments:
            return False
        if self._choices(visit, step) is not None:
            return True
        CheckResponse.objects.create(
            submission=visit.submission,
            kind=CheckKind.MARKED_TRAITS,
            step_index=step.index,
            expected={
                "high_from": visit.instrument.high_from,
                "low_to": visit.instrument.low_to,
            },
            passed=None,
            reason="Not asked: every rating of the page lies between the two thresholds.",
        )
        return False

    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        choices = self._choices(visit, step)
        if choices is None:
            raise LookupError(f"Step {step.index} has no words to choose from.")
        headings = {
            "near": _("A word that you placed them near"),
            "far": _("A word that you placed them far from"),
        }
        lists = [
            {
                "field": field,
                "heading": headings[field],
                "options": getattr(choices, field),
                "chosen": "" if sent is None else sent.get(field, ""),
                "problem": problems.get(field, ""),
            }
            for field in FIELDS
        ]
        return {
            "question": cut_question(
                _("What did you say about {group}?"),
                visit.name_group(visit.assignments[step.position].group),
            ),
            "lists": lists,
            "troubled": [one for one in lists if one["problem"]],
        }

    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
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
        CheckResponse.objects.create(
            submission=visit.submission,
            kind=CheckKind.MARKED_TRAITS,
            step_index=step.index,
            answer=given,
            expected={
                "near": sorted(choices.right_near),
                "far": sorted(choices.right_far),
                "near_options": [option.key for option in choices.near],
                "far_options": [option.key for option in choices.far],
            },
            passed=choices.is_passed_by(**given),
        )
        return None

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
            ],
            high_from=visit.instrument.high_from,
            low_to=visit.instrument.low_to,
            seed=visit.submission.seed,
        )
