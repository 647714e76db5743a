"""The library of questions beside the designer: what it offers, and what is kept in it."""

from __future__ import annotations

from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.language_codes import own_name
from annotation.instruments.questions.library_content import find_languages
from annotation.instruments.questions.question_service import (
    fill_in,
    keep_question,
    keep_step,
)
from annotation.models import ABOUT_PARTICIPANT, LibraryQuestion
from annotation.researcher.instruments.designer import read_json, refuse
from annotation.researcher.instruments.pages import InstrumentPage
from annotation.steps.kind import KINDS
from annotation.studies.readiness import list_languages

MOST_TAKEN = 500
PARTICIPANT_LABEL = gettext_lazy("Question about the participant")


def name_kind(kind: str) -> str:
    """Return what a kind of question is called."""
    return str(PARTICIPANT_LABEL if kind == ABOUT_PARTICIPANT else KINDS[kind].label)


class QuestionPicker(InstrumentPage):
    """What can be put into a draft; puts one in: its words come back, its file is kept."""

    route = "<int:pk>/questions.json"
    name = "question_picker"
    edits = True

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        rows = LibraryQuestion.objects.visible_to(self.user).defer("file").select_related("owner")
        return JsonResponse({"questions": [self._describe(row) for row in rows]})

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        sent = read_json(request)
        key, taken = sent.get("pk"), sent.get("taken", [])
        if not isinstance(key, int) or not isinstance(taken, list):
            return refuse(_("Choose a question."))
        question = get_object_or_404(LibraryQuestion.objects.visible_to(self.user), pk=key)
        try:
            filled = fill_in(
                question=question,
                instrument=self.instrument,
                languages=list_languages(self.instrument),
                taken={str(name) for name in taken[:MOST_TAKEN]},
            )
        except ValidationError as error:
            return refuse(" ".join(error.messages))
        return JsonResponse(asdict(filled) | {"name": question.name})

    def _describe(self, row: LibraryQuestion) -> dict[str, Any]:
        if row.is_ready_made:
            of = _("Ready-made")
        elif row.owner_id == self.user.pk:
            of = _("Yours")
        else:
            of = _("Shared by %(name)s") % {
                "name": row.owner.get_username() if row.owner else _("a former account")
            }
        return {
            "pk": row.pk,
            "name": row.name,
            "kind": row.kind,
            "label": name_kind(row.kind),
            "asks": row.asks,
            "source": row.source,
            "of": of,
            "languages": [own_name(code) for code in find_languages(row.kind, row.content)],
        }


class KeepQuestion(InstrumentPage):
    """Keeps a step, or a question about the participant, as it is stored."""

    route = "<int:pk>/keep-question/"
    name = "keep_question"
    http_method_names = ["post"]
    # The library is everybody's own: the study stays as it is.
    viewers_may_post = True

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        sent = read_json(request)
        step, slug = sent.get("step"), sent.get("question")
        common: dict[str, Any] = {
            "instrument": self.instrument,
            "name": str(sent.get("name", "")),
            "owner": self.user,
            "is_shared": sent.get("shared") is True,
        }
        try:
            if isinstance(step, int):
                kept = keep_step(index=step, **common)
            elif isinstance(slug, str):
                kept = keep_question(slug=slug, **common)
            else:
                return refuse(_("Choose a question."))
        except ValidationError as error:
            return refuse(" ".join(error.messages))
        answer = {"pk": kept.pk, "text": _("“%(name)s” is in the library.") % {"name": kept.name}}
        return JsonResponse(answer, status=HTTPStatus.CREATED)
