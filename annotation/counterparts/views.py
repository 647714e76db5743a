"""The pages of writers: the queue, one text, and how drafts and counterparts are stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.forms import bound_seconds, clean_text, read_seconds
from annotation.annotators.pages import QueuePage, TaskPage
from annotation.annotators.queue import Queue
from annotation.common.language_codes import describe_variety
from annotation.common.text_shortening import show_beginning
from annotation.counterparts.adjudication import settle_text
from annotation.counterparts.creation import split_examples
from annotation.counterparts.drafts import (
    LONGEST_BODY,
    LONGEST_DETAIL,
    MOST_DRAFTS,
    Draft,
    Reason,
    StaleDraft,
    check_detail,
    check_length,
    current_draft,
    join_reason,
    keep_refused,
    save_draft,
)
from annotation.models import (
    Counterpart,
    Overlap,
    Study,
    StudyKind,
    StudyStatus,
    TaskState,
    WritingDesign,
    WritingTask,
)

# --- Stores the counterparts that annotators submit


def is_same(one: str, other: str) -> bool:
    """Whether two texts differ in white space at most."""
    return one.split() == other.split()


class SameAsSource(Exception):  # noqa: N818 - a question, not a fault
    """The counterpart is the source text unchanged, which may be right: its annotator is asked."""


def submit_counterpart(
    *,
    task: WritingTask,
    body: str = "",
    not_interpretable: bool = False,
    reason: str = "",
    detail: str = "",
    is_unchanged_meant: bool = False,
    draft_number: int = 0,
    seconds: float = 0.0,
) -> Counterpart:
    """Store the counterpart of a task, or why there is none. The same page may come twice.

    Raises, with the text kept as a draft: `WorkRefused`, `SameAsSource` where it is the
    source unchanged and ``is_unchanged_meant`` does not say so, `NotLive`, `TaskTaken`.
    """
    draft = Draft(
        body=clean_text(body),
        not_interpretable=not_interpretable,
        reason=reason,
        detail=" ".join(clean_text(detail).split()),
    )
    try:
        with transaction.atomic():
            return _submit(
                task,
                body="" if not_interpretable else draft.body,
                reason=_check_reason(draft) if not_interpretable else "",
                is_unchanged_meant=is_unchanged_meant,
                draft_number=draft_number,
                seconds=seconds,
            )
    except (WorkRefused, SameAsSource, NotLive, TaskTaken):
        keep_refused(task=task, draft=draft, number=draft_number)
        raise


def _check_reason(draft: Draft) -> str:
    """Return the reason as it is stored; raises `WorkRefused` where there is none."""
    if draft.reason not in Reason.values:
        said = _("Choose why the text cannot be interpreted.")
        if draft.body.strip():
            said += " " + _("What you wrote is kept.")
        raise WorkRefused({"reason": said})
    if draft.reason == Reason.OTHER and not draft.detail:
        raise WorkRefused({"detail": _("Write the reason in a few words.")})
    check_detail(draft.detail)
    return join_reason(draft.reason, draft.detail)


def _submit(
    task: WritingTask,
    *,
    body: str,
    reason: str,
    is_unchanged_meant: bool,
    draft_number: int,
    seconds: float,
) -> Counterpart:
    # The study first, as every service locks: two submits of one study wait for each other.
    study = Study.objects.select_for_update().get(pk=task.study_id)
    task = (
        WritingTask.objects.select_for_update(of=("self",))
        .select_related("text", "counterpart", "text__corpus")
        .get(pk=task.pk)
    )
    if study.status != StudyStatus.LIVE:
        raise NotLive(study.status)
    if task.state == TaskState.WITHDRAWN:
        raise TaskTaken
    if not reason:
        if not body:
            raise WorkRefused(
                {"body": _("Write a counterpart, or say that the text cannot be interpreted.")}
            )
        check_length(body)
        if is_same(body, task.text.body) and not is_unchanged_meant:
            already = task.counterpart is not None and is_same(task.counterpart.body, body)
            if not already:
                raise SameAsSource
    counterpart = task.counterpart or Counterpart(
        text=task.text, variety=task.text.corpus.target_variety, annotator_id=task.annotator_id
    )
    if (counterpart.body, counterpart.reason) != (body, reason) or counterpart.pk is None:
        counterpart.body, counterpart.reason = body, reason
        counterpart.not_interpretable = bool(reason)
        counterpart.full_clean(validate_unique=False, validate_constraints=False)
        counterpart.save()
    task.counterpart, task.state = counterpart, TaskState.DONE
    task.done_at = task.done_at or timezone.now()
    for column, value in Draft().as_stored().items():
        setattr(task, column, value)
    task.has_draft = False
    # Drafts that are still on their way are older than what was submitted.
    task.draft_number = min(max(task.draft_number, draft_number) + 1, MOST_DRAFTS)
    task.active_seconds = F("active_seconds") + bound_seconds(seconds)
    task.save()
    settle_text(study=study, text=task.text)
    return counterpart


# --- Pages


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
