"""The check that asks for the group just rated."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.checks import names_group
from annotation.instruments.flow import Step
from annotation.instruments.text_keys import name_group
from annotation.models import CheckKind, StudyGroup
from annotation.steps.checks import GroupName
from annotation.steps.forms import AnswersRefused, FilledForm, read_text
from annotation.survey.pages.page import Page, store_check, store_unasked
from annotation.survey.visits.visit import Visit

FIELD = "group-name"
MAX_CHARACTERS = 120


class GroupNamePage(Page, of=GroupName):
    def open(self, visit: Visit, step: Step) -> bool:
        if not step.position:
            store_unasked(visit, step, CheckKind.GROUP_NAME)
        return visit.is_rated(step)

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        return {
            "field": FIELD,
            "max_characters": MAX_CHARACTERS,
            "value": filled.text(FIELD)[:MAX_CHARACTERS],
            "problem": filled.problem(FIELD),
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        text = read_text(sent, FIELD)
        if not text:
            raise AnswersRefused(
                {FIELD: _("Type a name. If you do not remember it, type “I do not know”.")}
            )
        if len(text) > MAX_CHARACTERS:
            raise AnswersRefused(
                {
                    FIELD: _("The name has %(n)s characters. Write %(max)s or fewer.")
                    % {"n": len(text), "max": MAX_CHARACTERS}
                }
            )
        group = visit.assignments[step.position].group
        others = [other for other in visit.content.groups.values() if other != group]
        store_check(
            visit,
            step,
            CheckKind.GROUP_NAME,
            answer={"text": text},
            expected={"group": group.slug, "plural": group.plural},
            passed=names_group(
                text,
                _forms(visit, group),
                others=[_forms(visit, other) for other in others],
            ),
        )


def _forms(visit: Visit, group: StudyGroup) -> list[str]:
    """Return the group's names in the language of the page, and in that of the instrument.

    Who reads Spanish may remember the English name: both name the group.
    """
    own = [group.singular, group.plural, group.plural_capitalised]
    words = (visit.wording.get(name_group(group.slug, form)) for form in ("singular", "plural"))
    return [*own, *filter(None, words)]
