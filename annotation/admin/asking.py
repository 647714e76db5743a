"""The page that asks before something is lost that nobody can bring back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from annotation.models import Study


@dataclass(frozen=True)
class Question:
    """``loss`` says what would be gone, ``button`` what is done; ``fields`` are sent along."""

    text: Any
    loss: Any
    button: Any
    tab: str = "instrument"
    fields: Mapping[str, str] = field(default_factory=dict)


class AskingPages:
    """For model admins: `ask_first` answers a POST that does not hold “confirmed” yet."""

    admin_site: Any
    study_tabs: Callable[[Study], list[tuple[str, str, str]]]

    def ask_first(
        self, request: HttpRequest, study: Study, question: Question, *, back: str
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": question.text,
            "study": study,
            "tab": question.tab,
            "study_tabs": self.study_tabs(study),
            "question": question,
            "action": request.path,
            "back": back,
        }
        return TemplateResponse(request, "admin/annotation/study/ask.html", context)
