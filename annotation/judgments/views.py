"""The pages of judges: the queue, and one counterpart beside its original.

Nothing here knows a producer: it never reaches a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.form_values import read_seconds
from annotation.annotators.pages import QueuePage, TaskPage
from annotation.annotators.queue import Queue
from annotation.common.language_codes import describe_variety
from annotation.common.text_shortening import show_beginning
from annotation.judgments.error_coding import (
    ERRORS,
    SentErrors,
    split_into_words,
    stored_passages,
    ticked_words,
)
from annotation.judgments.error_scheme import Scheme, parse_scheme
from annotation.judgments.items import wrote_everything
from annotation.judgments.judgment_service import (
    LONGEST_COMMENT,
    OwnCounterpart,
    open_task,
    submit_judgment,
)
from annotation.judgments.questions import parse_wording, show_aspects
from annotation.models import ASPECTS, Judgment, JudgmentDesign, JudgmentTask, StudyKind


class JudgingQueue(QueuePage):
    """What a judge has done and what is left. Two queries besides the place and the queue."""

    kind = StudyKind.COUNTERPART_JUDGMENT
    template_name = "annotation/judgments/queue.html"

    def get_context(self, queue: Queue) -> dict[str, Any]:
        done = self.place.judgment_tasks.done()
        bodies = dict(done.values_list("position", "item__body"))
        design = JudgmentDesign.objects.only("error_scheme").get(study=self.place.study_id)
        return {
            "marks_errors": bool(design.error_scheme),
            "judged": [
                {"entry": entry, "beginning": show_beginning(bodies[entry.position])}
                for entry in queue.entries
                if entry.is_done and entry.position in bodies
            ],
            "wrote_everything": not queue.total and wrote_everything(self.place),
        }


class JudgingPage(TaskPage):
    """One counterpart beside its original, four questions, and the words that are errors."""

    kind = StudyKind.COUNTERPART_JUDGMENT
    template_name = "annotation/judgments/judge.html"
    url_name = "judgments:judge"
    tasks = JudgmentTask.objects.select_related("item__text", "annotator__user")

    @cached_property
    def design(self) -> JudgmentDesign:
        return JudgmentDesign.objects.select_related("corpus").get(study=self.place.study_id)

    @property
    def scheme(self) -> Scheme:
        return parse_scheme(self.design.error_scheme)

    def open(self) -> HttpResponse:
        try:
            open_task(task=self.task)
        except OwnCounterpart:
            return self.say_gone()
        return self.show_task(self.get_context())

    def submit(self) -> HttpResponse:
        sent = {name: self.request.POST.get(name, "") for name in (*ASPECTS, "comment")}
        errors = SentErrors(
            {one.slug: self.request.POST.getlist(f"error-{one.slug}") for one in self.scheme},
            none="no_errors" in self.request.POST,
        )
        problems: dict[str, str] = {}
        try:
            submit_judgment(
                task=self.task,
                ratings=sent,
                comment=sent["comment"],
                errors=errors,
                seconds=read_seconds(self.request.POST),
            )
        except WorkRefused as refusal:
            problems = refusal.problems
        except NotLive:
            pass
        except (TaskTaken, OwnCounterpart):
            return self.say_gone()
        else:
            address = self.next_address()
            if self.asks_for_json:
                return JsonResponse({"result": "saved", "next": address})
            return redirect(address)
        status = 422 if problems else 409
        if self.asks_for_json:
            answer = {"result": "refused" if problems else "not-live", "problems": problems}
            return JsonResponse(answer, status=status)
        context = self.get_context(sent, problems, errors) | {"was_closed": not problems}
        return self.show_task(context, status=status)

    @property
    def asks_for_json(self) -> bool:
        """Whether the page's script asks, which wants an answer in a word."""
        return self.request.headers.get("Accept") == "application/json"

    def get_context(
        self,
        sent: Mapping[str, str] | None = None,
        problems: Mapping[str, str] | None = None,
        errors: SentErrors | None = None,
    ) -> dict[str, Any]:
        """Return what the page shows; ``sent`` and ``errors`` are of a form that was refused. Two
        queries, a third where errors are marked."""
        judgment = Judgment.objects.filter(task=self.task).first()
        problems = problems or {}
        values: Mapping[str, Any] = sent if sent is not None else vars(judgment) if judgment else {}
        item, corpus = self.task.item, self.design.corpus
        asked: list[dict[str, Any]] = [
            {
                "aspect": aspect,
                "chosen": str(values.get(aspect.name, "")),
                "problem": problems.get(aspect.name, ""),
            }
            for aspect in show_aspects(parse_wording(self.design.wording), item.variety)
        ]
        (original_variety,) = {corpus.source_variety, corpus.target_variety} - {item.variety}
        return {
            "original": item.text,
            "counterpart": item.body,
            "original_variety": describe_variety(original_variety),
            "counterpart_variety": describe_variety(item.variety),
            "asked": asked,
            "coding": self.get_coding(judgment, errors),
            "coding_problem": problems.get(ERRORS, ""),
            "troubled": [
                *((one["aspect"].name, one["aspect"].title) for one in asked if one["problem"]),
                *([(ERRORS, _("Errors"))] if ERRORS in problems else []),
            ],
            "comment": values.get("comment", ""),
            "comment_problem": problems.get("comment", ""),
            "longest_comment": LONGEST_COMMENT,
            "was_judged": judgment is not None,
        }

    def get_coding(self, judgment: Judgment | None, sent: SentErrors | None) -> dict[str, Any]:
        """Return the words of the counterpart under every category, empty without a scheme."""
        if not self.scheme:
            return {}
        body = self.task.item.body
        if sent is None:
            words = ticked_words(body, stored_passages(judgment)) if judgment else {}
            sent = SentErrors(words, none=judgment is not None and not words)
        return {
            "none": sent.none,
            "categories": [
                {
                    "category": category,
                    "words": [
                        (place, word.text, str(place) in sent.words.get(category.slug, ()))
                        for place, word in enumerate(split_into_words(body))
                    ],
                }
                for category in self.scheme
            ],
        }

    def say_gone(self) -> HttpResponse:
        """Say why a counterpart is not this judge's any more. One query."""
        if self.task.item.writers.filter(pk=self.place.user_id).exists():
            return self.tell(
                _("You wrote a counterpart of this text"),
                _(
                    "Nobody judges a text whose counterpart they wrote or chose, so it was taken "
                    "off your list. You did nothing wrong, and the rest of your work is kept."
                ),
                _("Your counterparts"),
            )
        return self.tell(
            _("This counterpart was given to somebody else"),
            _("There is nothing to do for you here. What you have judged before is kept."),
            _("Your counterparts"),
        )
