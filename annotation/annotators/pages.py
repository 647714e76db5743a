"""What the pages of annotators' work have in common: the queue, and one task of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.cache import never_cache

from annotation.annotators.lifecycle import Notice
from annotation.annotators.queue import WORK, Entry, Queue, current_annotator, find_task, load_queue
from annotation.models import Annotator, StudyKind, StudyStatus, TaskState


@method_decorator(never_cache, name="dispatch")
class AnnotatorPage(LoginRequiredMixin, View):
    """A page of a study, for those with a place in it; each kind of work sets the rest.

    Their log-in is not the admin's. To an account without a place the page does not exist.
    """

    login_url = reverse_lazy("annotators:login")
    kind: ClassVar[StudyKind]
    template_name: ClassVar[str]

    @cached_property
    def place(self) -> Annotator:
        return current_annotator(self.request.user, self.kwargs["public_id"], kind=self.kind)

    def load_queue(self) -> Queue:
        return load_queue(self.place, WORK[self.kind].tasks.objects.all())

    @property
    def queue_address(self) -> str:
        return reverse(WORK[self.kind].url_name, args=[self.place.study.public_id])

    def show(self, queue: Queue, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
        """Return the page; every one of them says whose it is and how far they are."""
        study = self.place.study
        shared = {
            "place": self.place,
            "study": study,
            "is_live": study.status == StudyStatus.LIVE,
            "queue": queue,
        }
        return render(self.request, self.template_name, {**shared, **context}, status=status)


class QueuePage(AnnotatorPage):
    """What an annotator has done and what is left."""

    http_method_names = ["get", "head"]

    def get(self, request: HttpRequest, public_id: str) -> HttpResponse:
        queue = self.load_queue()
        return self.show(queue, {"next": queue.next_open(), **self.get_context(queue)})

    def get_context(self, queue: Queue) -> dict[str, Any]:
        raise NotImplementedError


class TaskPage(AnnotatorPage):
    """One task of a queue: what is to be done, and the answer, which leads to the next."""

    http_method_names = ["get", "head", "post"]
    #: The tasks with what their page shows of them, and the name of the page's address.
    tasks: ClassVar[QuerySet[Any]]
    url_name: ClassVar[str]

    @cached_property
    def task(self) -> Any:
        return find_task(self.tasks.all(), self.place, self.kwargs["position"])

    def get(self, request: HttpRequest, public_id: str, position: int) -> HttpResponse:
        return self.say_gone() if self.is_gone else self.open()

    def post(self, request: HttpRequest, public_id: str, position: int) -> HttpResponse:
        return self.say_gone() if self.is_gone else self.submit()

    @property
    def is_gone(self) -> bool:
        return self.task.state == TaskState.WITHDRAWN

    def open(self) -> HttpResponse:
        raise NotImplementedError

    def submit(self) -> HttpResponse:
        raise NotImplementedError

    def say_gone(self) -> HttpResponse:
        """Say why the task is not this annotator's any more."""
        raise NotImplementedError

    def show_task(self, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
        """Return the page of the task, between those before and after it. Two queries."""
        queue = self.load_queue()
        entry = queue.find(self.task.position)
        if entry is None:
            raise ValueError("The task is not in its annotator's queue.")
        neighbors = {
            "entry": entry,
            "before": queue.before(entry),
            "after": queue.after(entry),
            "following": queue.next_open(entry.rank),
            "skipped": queue.skipped(entry),
        }
        return self.show(queue, {**neighbors, **context}, status=status)

    def next_address(self) -> str:
        """Return the address of the next open task, that of the queue where none is left."""
        queue = self.load_queue()
        entry = queue.find(self.task.position)
        following: Entry | None = queue.next_open(entry.rank if entry else 0)
        if following is None:
            return self.queue_address
        return reverse(self.url_name, args=[self.place.study.public_id, following.position])

    def tell(self, title: str, text: str, link_text: str) -> HttpResponse:
        """Return a page that says why there is nothing to do here, with a link to the queue."""
        return Notice(
            410, title, text, study=self.place.study, link=self.queue_address, link_text=link_text
        ).show(self.request)
