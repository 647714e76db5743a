"""The pages of judges: the queue, and one counterpart beside its original.

Nothing here knows a producer: it never reaches a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from django.db import transaction
from django.db.models import F
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.annotators.errors import NotLive, TaskTaken, WorkRefused
from annotation.annotators.forms import bound_seconds, clean_text, read_seconds
from annotation.annotators.pages import QueuePage, TaskPage
from annotation.annotators.queue import Queue
from annotation.common.language_codes import describe_variety
from annotation.common.text_shortening import show_beginning
from annotation.judgments.error_coding import (
    ERRORS,
    Passage,
    Scheme,
    SentErrors,
    parse_scheme,
    read_passages,
    split_into_words,
    store_passages,
    stored_passages,
    ticked_words,
)
from annotation.judgments.questions import (
    ASPECT_NAMES,
    find_writers,
    parse_wording,
    show_aspects,
    wrote_everything,
)
from annotation.models import (
    ASPECTS,
    LIKERT,
    Judgment,
    JudgmentDesign,
    JudgmentItem,
    JudgmentTask,
    Study,
    StudyKind,
    StudyStatus,
    TaskState,
)

# --- Stores what judges say about counterparts, and lets nobody judge their own

LONGEST_COMMENT = 2000


class OwnCounterpart(Exception):  # noqa: N818
    """The judge wrote or decided a counterpart of the text: the task is taken away."""


def open_task(*, task: JudgmentTask) -> None:
    """Note that its judge has seen the counterpart. Seeing it again changes nothing.

    Raises `OwnCounterpart` where the judge has meanwhile written one of the same text.
    """
    if task.state != TaskState.OPEN:
        return
    if is_own(task):
        _take_away(task)
        raise OwnCounterpart
    task.note_opening()


def is_own(task: JudgmentTask) -> bool:
    """Whether the judge wrote or decided a counterpart of the pair, then or since. Four queries."""
    item = JudgmentItem.objects.select_related("pair__source_text", "pair__target_text").get(
        pk=task.item_id
    )
    user = task.annotator.user_id
    return item.writers.filter(pk=user).exists() or user in find_writers([item.pair])[item.pair_id]


def submit_judgment(
    *,
    task: JudgmentTask,
    ratings: Mapping[str, str],
    comment: str = "",
    errors: SentErrors | None = None,
    seconds: float = 0.0,
) -> Judgment:
    """Store the judgment of a task, or change it. The same page may come twice.

    ``ratings`` maps aspects to whole numbers as they were posted; ``errors`` are read where the
    study has a scheme for them. Raises, with nothing stored:
    `WorkRefused` naming what is missing, `NotLive`, `TaskTaken`, `OwnCounterpart`.
    """
    try:
        with transaction.atomic():
            return _submit(task, ratings, clean_text(comment), errors or SentErrors({}), seconds)
    except OwnCounterpart:
        _take_away(task)
        raise


def _submit(
    task: JudgmentTask,
    ratings: Mapping[str, str],
    comment: str,
    errors: SentErrors,
    seconds: float,
) -> Judgment:
    # The study first, as every service locks: two submits of one study wait for each other.
    study = Study.objects.select_for_update().get(pk=task.study_id)
    task = (
        JudgmentTask.objects.select_for_update(of=("self",))
        .select_related("annotator", "item")
        .get(pk=task.pk)
    )
    if study.status != StudyStatus.LIVE:
        raise NotLive(study.status)
    if task.state == TaskState.WITHDRAWN or task.annotator.removed_at is not None:
        raise TaskTaken
    if task.state == TaskState.OPEN and is_own(task):
        raise OwnCounterpart
    scheme = parse_scheme(
        JudgmentDesign.objects.values_list("error_scheme", flat=True).get(study=study)
    )
    values, passages = _read_answers(task.item.body, ratings, comment, scheme, errors)
    judgment = Judgment.objects.filter(task=task).first() or Judgment(task=task)
    changed = any(getattr(judgment, name) != value for name, value in values.items())
    if judgment.pk is None or changed:
        for name, value in values.items():
            setattr(judgment, name, value)
        judgment.full_clean(validate_unique=False, validate_constraints=False)
        judgment.save()
    changed |= store_passages(judgment, passages)
    if task.state == TaskState.OPEN or changed:
        task.state = TaskState.DONE
        task.done_at = task.done_at or timezone.now()
        task.active_seconds = F("active_seconds") + bound_seconds(seconds)
        task.save(update_fields=["state", "done_at", "active_seconds"])
    return judgment


def _read_answers(
    body: str, ratings: Mapping[str, str], comment: str, scheme: Scheme, errors: SentErrors
) -> tuple[dict[str, int | str], list[Passage]]:
    """Return the four ratings and the comment, and the passages that are marked as errors.

    Raises `WorkRefused` with every problem.
    """
    problems: dict[str, str] = {}
    values: dict[str, int | str] = {"comment": comment}
    on_scale = {str(value): value for value in LIKERT}
    for aspect in ASPECTS:
        sent = ratings.get(aspect, "")
        if sent in on_scale:
            values[aspect] = on_scale[sent]
        elif not sent:
            problems[aspect] = _("Not answered yet: %(aspect)s. Choose one of the five.") % {
                "aspect": _(ASPECT_NAMES[aspect])
            }
        else:
            problems[aspect] = _("“%(value)s” is no answer, expected a number from 1 to 5.") % {
                "value": sent[:20]
            }
    if len(comment) > LONGEST_COMMENT:
        problems["comment"] = _(
            "The comment has %(n)s characters, expected at most %(most)s. It is still in the field."
        ) % {"n": f"{len(comment):,}", "most": f"{LONGEST_COMMENT:,}"}
    passages: list[Passage] = []
    if scheme:
        try:
            passages = read_passages(body, scheme, errors)
        except WorkRefused as refusal:
            problems |= refusal.problems
    if problems:
        raise WorkRefused(problems)
    return values, passages


def _take_away(task: JudgmentTask) -> None:
    """Withdraw a task from somebody who turned out to have written a counterpart of its text."""
    with transaction.atomic():
        changed = JudgmentTask.objects.filter(pk=task.pk).withdraw()
        user = task.annotator.user
        if changed and user is not None:
            task.item.writers.add(user)


# --- Pages


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
