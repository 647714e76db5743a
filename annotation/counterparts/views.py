"""The pages of writers: the queue, one text, and the drafts that come while they type."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.annotators.access import current_annotator, find_task
from annotation.annotators.errors import NotLive, TaskTaken
from annotation.annotators.notices import Notice
from annotation.annotators.timing import read_seconds
from annotation.annotators.views import annotator_required, tell
from annotation.counterparts.drafts import save_draft
from annotation.counterparts.errors import CounterpartRefused, SameAsSource, StaleDraft
from annotation.counterparts.page import build_page, read_draft
from annotation.counterparts.queue import load_lines, load_queue
from annotation.counterparts.writing import open_task, submit_counterpart
from annotation.models import Annotator, StudyKind, StudyStatus, TaskState, WritingTask


def _find_place(request: HttpRequest, public_id: str) -> Annotator:
    return current_annotator(request.user, public_id, kind=StudyKind.COUNTERPART_WRITING)


def _find_task(place: Annotator, position: int) -> WritingTask:
    tasks = WritingTask.objects.select_related("text", "counterpart")
    return find_task(tasks, place, position)


@require_GET
@never_cache
@annotator_required
def queue(request: HttpRequest, public_id: str) -> HttpResponse:
    """All texts of a writer, with what is left."""
    place = _find_place(request, public_id)
    own = load_queue(place)
    context = {
        "place": place,
        "study": place.study,
        "is_live": place.study.status == StudyStatus.LIVE,
        "queue": own,
        "next": own.next_open(),
        "lines": load_lines(place, own),
        "guidelines": place.study.writing.guidelines,
    }
    return render(request, "annotation/counterparts/queue.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@annotator_required
def write(request: HttpRequest, public_id: str, position: int) -> HttpResponse:
    """One text: its source, the field, what was changed. A stored counterpart leads to the next."""
    place = _find_place(request, public_id)
    task = _find_task(place, position)
    if task.state == TaskState.WITHDRAWN:
        return tell(request, _taken(place))
    if request.method == "POST":
        return _submit(request, place, task)
    open_task(task=task)
    return render(request, "annotation/counterparts/write.html", build_page(place, task))


@never_cache
@require_POST
def draft(request: HttpRequest, public_id: str, position: int) -> HttpResponse:
    """Store a draft for the script of the page; the answer says in a word what became of it."""
    if not request.user.is_authenticated:
        return JsonResponse({"result": "logged-out"}, status=401)
    place = _find_place(request, public_id)
    task = _find_task(place, position)
    sent = request.POST
    try:
        number = save_draft(
            task=task,
            number=_read_number(sent),
            draft=read_draft(sent),
            seconds=read_seconds(sent),
        )
    except StaleDraft as stale:
        answer = {"result": "stale", "number": stale.number, "content": asdict(stale.draft)}
        return JsonResponse(answer, status=409)
    except CounterpartRefused as refusal:
        answer = {"result": "refused", "problem": next(iter(refusal.problems.values()))}
        return JsonResponse(answer, status=422)
    result = "taken" if task.state == TaskState.WITHDRAWN else "saved"
    return JsonResponse({"result": result, "number": number, "study": place.study.status})


def _submit(request: HttpRequest, place: Annotator, task: WritingTask) -> HttpResponse:
    sent = request.POST
    problems: dict[str, str] = {}
    question = closed = False
    try:
        submit_counterpart(
            task=task,
            **asdict(read_draft(sent)),
            is_unchanged_meant=sent.get("is_unchanged_meant") == "yes",
            draft_number=_read_number(sent),
            seconds=read_seconds(sent),
        )
    except CounterpartRefused as refusal:
        problems = refusal.problems
    except SameAsSource:
        question = True
    except NotLive:
        closed = True
    except TaskTaken:
        return tell(request, _taken(place))
    else:
        return _go_on(place, task)
    task.refresh_from_db()
    context: dict[str, Any] = build_page(
        place, task, sent=sent, problems=problems, question=question, was_closed=closed
    )
    status = 409 if closed else 422
    return render(request, "annotation/counterparts/write.html", context, status=status)


def _go_on(place: Annotator, task: WritingTask) -> HttpResponse:
    own = load_queue(place)
    entry = own.find(task.position)
    following = own.next_open(entry.rank if entry else 0)
    if following is None:
        return redirect("counterparts:queue", place.study.public_id)
    return redirect("counterparts:write", place.study.public_id, following.position)


def _taken(place: Annotator) -> Notice:
    return Notice(
        410,
        _("This text was given to somebody else"),
        _("What you had written is kept with the study. There is nothing to do for you here."),
        study=place.study,
        link=reverse("counterparts:queue", args=[place.study.public_id]),
        link_text=_("Your texts"),
    )


def _read_number(sent: QueryDict) -> int:
    number = sent.get("draft_number", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 11 else 0
