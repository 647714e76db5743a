"""The pages of judges: the queue, and one counterpart beside its original."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from annotation.annotators.access import current_annotator, find_task
from annotation.annotators.errors import NotLive, TaskTaken
from annotation.annotators.notices import Notice
from annotation.annotators.timing import read_seconds
from annotation.annotators.views import annotator_required, tell
from annotation.judgments.errors import JudgmentRefused, OwnCounterpart
from annotation.judgments.judging import open_task, submit_judgment
from annotation.judgments.page import build_page, list_judged
from annotation.judgments.queue import load_queue, wrote_everything
from annotation.models import (
    ASPECTS,
    Annotator,
    JudgmentTask,
    StudyKind,
    StudyStatus,
    TaskState,
)


def _find_place(request: HttpRequest, public_id: str) -> Annotator:
    return current_annotator(request.user, public_id, kind=StudyKind.COUNTERPART_JUDGMENT)


@require_GET
@never_cache
@annotator_required
def queue(request: HttpRequest, public_id: str) -> HttpResponse:
    """What a judge has done and what is left."""
    place = _find_place(request, public_id)
    own = load_queue(place)
    context = {
        "place": place,
        "study": place.study,
        "is_live": place.study.status == StudyStatus.LIVE,
        "queue": own,
        "next": own.next_open(),
        "judged": list_judged(place, own),
        "wrote_everything": not own.total and wrote_everything(place),
    }
    return render(request, "annotation/judgments/queue.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@annotator_required
def judge(request: HttpRequest, public_id: str, position: int) -> HttpResponse:
    """One counterpart beside its original, and four questions. A stored judgment leads on."""
    place = _find_place(request, public_id)
    tasks = JudgmentTask.objects.select_related("item__text", "annotator__user")
    task = find_task(tasks, place, position)
    if task.state == TaskState.WITHDRAWN:
        return _say_gone(request, place, task)
    if request.method == "POST":
        return _submit(request, place, task)
    try:
        open_task(task=task)
    except OwnCounterpart:
        return _say_gone(request, place, task)
    return render(request, "annotation/judgments/judge.html", build_page(place, task))


def _submit(request: HttpRequest, place: Annotator, task: JudgmentTask) -> HttpResponse:
    sent = request.POST
    ratings = {aspect: sent.get(aspect, "") for aspect in ASPECTS}
    comment = sent.get("comment", "")
    problems: dict[str, str] = {}
    try:
        submit_judgment(task=task, ratings=ratings, comment=comment, seconds=read_seconds(sent))
    except JudgmentRefused as refusal:
        problems = refusal.problems
    except NotLive:
        pass
    except (TaskTaken, OwnCounterpart):
        return _say_gone(request, place, task)
    else:
        return _go_on(request, place, task)
    if _asks_for_json(request):
        answer = {"result": "refused" if problems else "not-live", "problems": problems}
        return JsonResponse(answer, status=422 if problems else 409)
    context = build_page(
        place,
        task,
        sent={**ratings, "comment": comment},
        problems=problems,
        was_closed=not problems,
    )
    status = 422 if problems else 409
    return render(request, "annotation/judgments/judge.html", context, status=status)


def _go_on(request: HttpRequest, place: Annotator, task: JudgmentTask) -> HttpResponse:
    own = load_queue(place)
    entry = own.find(task.position)
    following = own.next_open(entry.rank if entry else 0)
    address = (
        reverse("judgments:judge", args=[place.study.public_id, following.position])
        if following
        else reverse("judgments:queue", args=[place.study.public_id])
    )
    if _asks_for_json(request):
        return JsonResponse({"result": "saved", "next": address})
    return redirect(address)


def _asks_for_json(request: HttpRequest) -> bool:
    """Whether the page's script asks, which wants an answer in a word."""
    return request.headers.get("Accept") == "application/json"


def _say_gone(request: HttpRequest, place: Annotator, task: JudgmentTask) -> HttpResponse:
    """Say why a counterpart is not this judge's any more. One query."""
    wrote = task.item.writers.filter(pk=place.user_id).exists()
    return tell(request, _own(place) if wrote else _taken(place))


def _taken(place: Annotator) -> Notice:
    return Notice(
        410,
        _("This counterpart was given to somebody else"),
        _("There is nothing to do for you here. What you have judged before is kept."),
        study=place.study,
        link=reverse("judgments:queue", args=[place.study.public_id]),
        link_text=_("Your counterparts"),
    )


def _own(place: Annotator) -> Notice:
    return Notice(
        410,
        _("You wrote a counterpart of this text"),
        _(
            "Nobody judges a text whose counterpart they wrote or chose, so it was taken off your "
            "list. You did nothing wrong, and the rest of your work is kept."
        ),
        study=place.study,
        link=reverse("judgments:queue", args=[place.study.public_id]),
        link_text=_("Your counterparts"),
    )
