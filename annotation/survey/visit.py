"""A visit: a submission at its current step, with the parts of the instrument that pages read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from django.db.models import F
from django.utils import timezone

from annotation.languages.keys import name_group
from annotation.models import (
    DemographicQuestion,
    GroupAssignment,
    Rating,
    StudyGroup,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.survey.content import Content, load_content, load_frozen
from annotation.survey.flow import Step
from annotation.survey.lines import Line, lay_out_lines
from annotation.survey.step_texts import text_in


class Visit:
    """Everything about one submission's way through its flow; each part is one query at most."""

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
        submissions = Submission.objects.select_related("study").annotate(
            frozen_at=F("instrument__frozen_at"), content_hash=F("instrument__content_hash")
        )
        if lock:
            submissions = submissions.select_for_update(of=("self",))
        submission = submissions.get(token=token)
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
        return self.steps[index]

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
        # Ordered by position alone, not by the submission's own order, which would join its table.
        rows = self.submission.assignments.order_by("position")
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
    def questions(self) -> tuple[DemographicQuestion, ...]:
        return self.content.questions

    @cached_property
    def wording(self) -> dict[str, str]:
        """Texts by key in the submission's language, the instrument's own where one is missing."""
        return self.content.wording_in(self.submission.language)

    def name_group(self, group: StudyGroup) -> str:
        """Return a group as this participant reads it, in the plural."""
        return self.wording.get(name_group(group.slug, "plural"), group.plural)

    def read(self, texts: Mapping[str, str] | None) -> str:
        """Return a step's text as this participant reads it, "" for none."""
        if texts is None:
            return ""
        return text_in(texts, self.submission.language, fallback=self.instrument.language)

    def load_values(self, assignment: GroupAssignment) -> dict[str, float]:
        """Return the stored ratings of one page by scale slug. One query."""
        rows = Rating.objects.filter(assignment=assignment)
        return dict(rows.values_list("scale__slug", "value"))
