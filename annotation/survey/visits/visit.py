"""A visit: a submission at its current step, with the parts of the instrument that pages read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar, cast

from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotation.common.encryption import encrypt_by_all
from annotation.common.prepared_sql import PreparedQuery
from annotation.instruments.content import Content, load_content, load_frozen
from annotation.instruments.flow import Step
from annotation.instruments.text_keys import LOGO_ALT, name_group, name_option, name_question
from annotation.models import (
    DemographicQuestion,
    GroupAssignment,
    Rating,
    Skipping,
    StudyFile,
    StudyGroup,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.steps.question import Media
from annotation.steps.rating import RatingStep
from annotation.steps.texts import text_in
from annotation.survey.visits.client_record import ClientRecord
from annotation.survey.visits.rating_lines import Line, lay_out_lines

T = TypeVar("T")


def _with_instrument() -> QuerySet[Submission]:
    """The instrument's identity comes along, to find a frozen one in memory."""
    submissions = Submission.objects.select_related("study").annotate(
        frozen_at=F("instrument__frozen_at"), content_hash=F("instrument__content_hash")
    )
    return submissions.order_by()


_BY_TOKEN = PreparedQuery(lambda stored: _with_instrument().filter(token__stored=stored))
_LOCKED_BY_TOKEN = PreparedQuery(
    lambda stored: _with_instrument().filter(token__stored=stored).select_for_update(of=("self",))
)
# Ordered by position alone, not by the submission's own order, which would join its table.
_ASSIGNMENTS = PreparedQuery(
    lambda submission: GroupAssignment.objects.filter(submission=submission).order_by("position")
)
_RATINGS = PreparedQuery(lambda assignment: Rating.objects.filter(assignment=assignment))
_COUNTS = PreparedQuery(
    lambda submission: (
        GroupAssignment.objects.filter(submission=submission)
        .values("submission")
        .annotate(
            groups=Count("pk", filter=Q(is_repeat=False, ratings__isnull=False), distinct=True),
            lines=Count("ratings", filter=Q(is_repeat=False)),
            again=Count("ratings", filter=Q(is_repeat=True)),
            left_out=Count("pk", filter=Q(is_repeat=False) & ~Q(skipped=""), distinct=True),
        )
        .order_by()
    )
)


@dataclass(frozen=True)
class ShownMedia:
    """A picture or sound, and what it is in words."""

    file: StudyFile
    alt: str


class Visit:
    """Everything about one submission's way through its flow; each part is one query at most.

    ``client`` is what the browser timed on the page that was sent, empty where none was.
    """

    client = ClientRecord()
    #: What the event of the page that was sent keeps of what it left out, empty where nothing was.
    left_out: Mapping[str, Any] = {}

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.study = submission.study
        self.instrument = submission.instrument

    @classmethod
    def load(cls, token: str, *, lock: bool = False) -> Visit:
        """Return the visit of a token; with ``lock`` the submission's row is locked.

        Raises `Submission.DoesNotExist`. One query where the instrument is frozen and was met
        before: all of it but its identity is in memory then.
        """
        query = _LOCKED_BY_TOKEN if lock else _BY_TOKEN
        submission: Any = next(filter(None, map(query.first, encrypt_by_all(token))), None)
        if submission is None:
            raise Submission.DoesNotExist
        if submission.frozen_at is not None:
            submission.instrument = load_frozen(
                submission.instrument_id, submission.content_hash, submission.frozen_at
            ).instrument
        return cls(submission)

    @cached_property
    def content(self) -> Content:
        return load_content(self.instrument)

    @property
    def steps(self) -> tuple[Step, ...]:
        return self.content.steps

    @property
    def step(self) -> Step | None:
        """The step that the participant is at, None once the visit has ended in any way."""
        index = self.submission.step_index
        if self.submission.state != SubmissionState.IN_PROGRESS or index >= len(self.steps):
            return None
        step = self.steps[index]
        return self.order[self._find_place(step)] if step.told.after_rating else step

    @property
    def order(self) -> tuple[Step, ...]:
        """The steps as this visit goes through them.

        A check whose group was left out comes after the next group that was not and that has no
        such check; it has that group's position. Where there is none it comes last, without one.
        """
        if self.instrument.skipping == Skipping.NEVER:
            return self.steps
        left_out = {row.position for row in self.assignments.values() if row.skipped}
        checked = {(step.kind, step.position) for step in self.steps}
        order: list[Step] = []
        waiting: list[Step] = []
        for step in self.steps:
            if step.told.after_rating and step.position in left_out:
                waiting.append(step)
                continue
            order.append(step)
            if step.kind == RatingStep.name and self.is_rated(step):
                for check in list(waiting):
                    if (check.kind, step.position) not in checked:
                        checked.add((check.kind, step.position))
                        waiting.remove(check)
                        order.append(replace(check, position=step.position))
        return (*order, *(replace(check, position=0) for check in waiting))

    def list_following(self, step: Step) -> tuple[Step, ...]:
        """Return the steps that come after one. One query where groups can be left out."""
        return self.order[self._find_place(step) + 1 :]

    def _find_place(self, step: Step) -> int:
        return next(place for place, one in enumerate(self.order) if one.index == step.index)

    @property
    def is_cut_off(self) -> bool:
        """Whether the study was closed and this submission's reservation has lapsed since."""
        reserved_until = self.submission.reserved_until
        return (
            self.submission.state == SubmissionState.IN_PROGRESS
            and self.submission.origin != SubmissionOrigin.PREVIEW
            and self.study.status in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}
            and (reserved_until is None or reserved_until < timezone.now())
        )

    @cached_property
    def assignments(self) -> dict[int, GroupAssignment]:
        """Assignments by position, which is their step's position in the flow."""
        rows = _ASSIGNMENTS.all(self.submission.pk)
        assignments = {row.position: row for row in rows}
        for assignment in assignments.values():
            assignment.group = self.content.groups[assignment.group_id]
        return assignments

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return lay_out_lines(
            self.content.scales,
            instrument=self.instrument,
            seed=self.submission.seed,
            words=self.wording,
        )

    @property
    def is_flipped(self) -> bool:
        """Whether the words of all lines have changed sides."""
        return all(line.flipped for line in self.lines)

    @property
    def question(self) -> str:
        """The question of rating pages, with the words of all lines where it asks for them.

        These stand in the instrument's order, those at the left end first where all lines have
        the same sides, else low poles first: it is one question for everybody with the same sides.
        """
        text = self.wording["question"]
        if "{low}" not in text and "{high}" not in text:
            return text
        lines = sorted(self.lines, key=lambda line: (line.scale.position, line.scale.pk))
        ends = ("high", "low") if self.is_flipped else ("low", "high")
        first, second = (", ".join(getattr(line, end) for line in lines) for end in ends)
        return text.replace("{low}", first).replace("{high}", second)

    @property
    def questions(self) -> tuple[DemographicQuestion, ...]:
        return self.content.questions

    @cached_property
    def wording(self) -> dict[str, str]:
        """Texts by key in the submission's language, the instrument's own where one is missing."""
        return self.content.wording_in(self.submission.language, self.submission.arm)

    def name_group(self, group: StudyGroup) -> str:
        """Return a group as this participant reads it, in the plural; the speaker of a text."""
        if group.is_text:
            return self.wording["speaker"]
        return self.wording.get(name_group(group.slug, "plural"), group.plural)

    def read_label(self, question: DemographicQuestion) -> str:
        """Return a question as this participant reads it; what is stored stays the instrument's."""
        return self.wording.get(name_question(question.slug, "label"), question.label)

    def read_help(self, question: DemographicQuestion) -> str:
        if not question.help_text:
            return ""
        return self.wording.get(name_question(question.slug, "help"), question.help_text)

    def read_option(self, question: DemographicQuestion, option: str) -> str:
        return self.wording.get(name_option(question.slug, option), option)

    def read(self, texts: Mapping[str, str] | None) -> str:
        """Return a step's text as this participant reads it, "" for none."""
        return text_in(texts, self.submission.language, fallback=self.instrument.language)

    def keep(self, key: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """Return what was made of the content for everybody in this arm: `Content.keep`."""
        return self.content.keep((self.submission.arm, *key), make)

    def find_media(self, media: Media | None) -> ShownMedia | None:
        """Return a step's picture or sound as this participant gets it, None for none.

        One query for a draft, none for a frozen instrument whose files were met before.
        """
        file = self.content.files.get(media.file) if media else None
        return ShownMedia(file, self.read(media.alt)) if media and file else None

    def find_logo(self) -> ShownMedia | None:
        """Return the logo, None for none; queries as `find_media`."""
        if self.instrument.logo_id is None:
            return None
        files = self.content.files.values()
        file = next((one for one in files if one.pk == self.instrument.logo_id), None)
        if file is None:
            return None
        return ShownMedia(file, self.wording.get(LOGO_ALT, self.instrument.logo_alt))

    def is_rated(self, step: Step) -> bool:
        """Return whether a step's group was given and not left out."""
        assignment = self.assignments.get(step.position)
        return assignment is not None and not assignment.skipped

    def load_values(self, assignment: GroupAssignment) -> dict[str, float]:
        """Return the stored ratings of one page by scale slug. One query."""
        slugs = {scale.pk: scale.slug for scale in self.content.scales}
        return {slugs[row.scale_id]: row.value for row in _RATINGS.all(assignment.pk)}

    def count_answers(self) -> dict[str, int]:
        """Return how many groups were rated, on how many lines, and left out. One query.

        ``again`` are lines of the repeated group, which are not among ``lines``.
        """
        row = cast("dict[str, int]", _COUNTS.first(self.submission.pk) or {})
        return {name: row.get(name, 0) for name in ("groups", "lines", "again", "left_out")}
