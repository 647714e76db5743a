"""A question that asks for an order: each item gets a place of its own, 1 for the first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import RankingContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.questions import QuestionPage, content_of, keep_answer, put_in_order
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.form_values import (
    not_offered,
    read_single,
    read_whole_number,
    refuse_unknown,
)
from annotation.survey.visits.visit import Visit

PLACE = "place-"


@dataclass(frozen=True)
class ShownItem:
    """``place`` is the one that was sent, as it was sent, "" for none."""

    field: str
    text: str
    place: str
    problem: str


class RankingPage(QuestionPage):
    template = "survey/ranking.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, RankingContent)
        items = [
            ShownItem(
                PLACE + item.value,
                visit.read(item.text),
                filled.text(PLACE + item.value),
                filled.problem(item.value),
            )
            for item in put_in_order(visit, step, content.items)
        ]
        return {
            **super().show(visit, step, filled),
            "items": items,
            "places": [str(place) for place in range(1, len(items) + 1)],
            "troubled": [item for item in items if item.problem],
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        content = content_of(step, RankingContent)
        places = _read_places(content, sent)
        if not places and not content.required:
            return
        counts = Counter(places.values())
        problems = {
            item: _("Choose a place.")
            if item not in places
            else _("Place %(n)s is given twice.") % {"n": places[item]}
            for item in content.values
            if item not in places or counts[places[item]] > 1
        }
        if problems:
            raise AnswersRefused(problems)
        keep_answer(visit, step, places)


def _read_places(content: RankingContent, sent: QueryDict) -> dict[str, int]:
    """Return the places that were given. Raises `PageRefused` for one that there is not."""
    refuse_unknown(sent, prefixes=(PLACE,), known={PLACE + item for item in content.values})
    places = {}
    for item in content.values:
        text = read_single(sent, PLACE + item)
        if not text:
            continue
        place = read_whole_number(text)
        if place is None or not 1 <= place <= len(content.items):
            raise not_offered(text)
        places[item] = place
    return places
