"""The pages of writers: the queue, one text, and the drafts that come while they type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.form_values import read_seconds
from annotation.annotators.pages import QueuePage, TaskPage
from annotation.annotators.queue import Queue
from annotation.common.language_codes import describe_variety
from annotation.common.text_shortening import show_beginning
from annotation.counterparts.counterpart_service import SameAsSource, submit_counterpart
from annotation.counterparts.creation import split_examples
from annotation.counterparts.drafts import (
    LONGEST_BODY,
    LONGEST_DETAIL,
    Draft,
    Reason,
    StaleDraft,
    current_draft,
    save_draft,
)
from annotation.models import Overlap, StudyKind, TaskState, WritingDesign, WritingTask


class WritingQueue(QueuePage):
    """All texts of a writer, with what is left. Two queries besides the place and the queue."""

    kind = StudyKind.COUNTERPART_WRITING
    template_name = "annotation/counterparts/queue.html"

    def get_context(self, queue: Queue) -> dict[str, Any]:
        tasks = self.place.writing_tasks.held().select_related("text", "counterpart")
        by_position = {task.position: task for task in tasks}
        lines = [
            {
                "entry": entry,
                "beginning": show_beginning(task.text.body),
                "has_draft": task.has_draft,
                "not_interpretable": bool(task.counterpart and task.counterpart.not_interpretable),
            }
            for entry in queue.entries
            if (task := by_position.get(entry.position))
        ]
        guidelines, examples = split_examples(self.place.study.writing.guidelines)
        return {"lines": lines, "guidelines": guidelines, "examples": examples}


class WritingPage(TaskPage):
    """One text: its source, the field, what was changed."""

    kind = StudyKind.COUNTERPART_WRITING
    template_name = "annotation/counterparts/write.html"
    url_name = "counterparts:write"
    tasks = WritingTask.objects.select_related("text", "counterpart")

    def open(self) -> HttpResponse:
        self.task.note_opening()
        return self.show_task(self.get_context(current_draft(self.task)))

    def submit(self) -> HttpResponse:
        sent = self.request.POST
        refused: dict[str, Any]
        try:
            submit_counterpart(
                task=self.task,
                **asdict(read_draft(sent)),
                is_unchanged_meant=sent.get("is_unchanged_meant") == "yes",
                draft_number=read_number(sent),
                seconds=read_seconds(sent),
            )
        except WorkRefused as refusal:
            refused = {"problems": refusal.problems}
        except SameAsSource:
            refused = {"question": True}
        except NotLive:
            refused = {"was_closed": True}
        except TaskTaken:
            return self.say_gone()
        else:
            return redirect(self.next_address())
        self.task.refresh_from_db()
        context = self.get_context(read_draft(sent)) | refused
        return self.show_task(context, status=409 if "was_closed" in refused else 422)

    def get_context(self, values: Draft) -> dict[str, Any]:
        """Return what the page shows, its fields filled with ``values``. One query."""
        design = WritingDesign.objects.select_related("corpus").get(study=self.place.study_id)
        counterpart = self.task.counterpart
        guidelines, examples = split_examples(design.guidelines)
        return {
            "task": self.task,
            "text": self.task.text,
            "is_common": self.task.overlap == Overlap.COMMON,
            "submitted": counterpart.body if counterpart else "",
            "source_variety": describe_variety(design.corpus.source_variety),
            "target_variety": describe_variety(design.corpus.target_variety),
            "guidelines": guidelines,
            "examples": examples,
            "values": values,
            "reasons": Reason.choices,
            "problems": {},
            "longest_body": LONGEST_BODY,
            "longest_detail": LONGEST_DETAIL,
        }

    def say_gone(self) -> HttpResponse:
        return self.tell(
            _("This text was given to somebody else"),
            _("What you had written is kept with the study. There is nothing to do for you here."),
            _("Your texts"),
        )


class WritingDraft(WritingPage):
    """Stores a draft for the script of the page; the answer says in a word what became of it."""

    http_method_names = ["post"]

    def handle_no_permission(self) -> HttpResponse:  # type: ignore[override]
        return JsonResponse({"result": "logged-out"}, status=401)

    def post(self, request: HttpRequest, public_id: str, position: int) -> HttpResponse:
        sent = request.POST
        try:
            number = save_draft(
                task=self.task,
                number=read_number(sent),
                draft=read_draft(sent),
                seconds=read_seconds(sent),
            )
        except StaleDraft as stale:
            answer = {"result": "stale", "number": stale.number, "content": asdict(stale.draft)}
            return JsonResponse(answer, status=409)
        except WorkRefused as refusal:
            answer = {"result": "refused", "problem": next(iter(refusal.problems.values()))}
            return JsonResponse(answer, status=422)
        result = "taken" if self.task.state == TaskState.WITHDRAWN else "saved"
        status = self.place.study.status
        return JsonResponse({"result": result, "number": number, "study": status})


def read_draft(sent: Mapping[str, Any]) -> Draft:
    """Return what the page's form holds."""
    return Draft(
        body=sent.get("body", ""),
        not_interpretable=sent.get("not_interpretable") == "yes",
        reason=sent.get("reason", ""),
        detail=sent.get("detail", ""),
    )


def read_number(sent: QueryDict) -> int:
    """Return the number of the posted draft, 0 where it posted none that can be read."""
    number = sent.get("draft_number", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 11 else 0
