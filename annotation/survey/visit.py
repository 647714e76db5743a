"""A visit: a submission at its current step, with the parts of the instrument that pages read."""

from __future__ import annotations

from functools import cached_property

from django.utils import timezone

from annotation.models import (
    DemographicQuestion,
    GroupAssignment,
    Rating,
    StudyStatus,
    Submission,
    SubmissionState,
)
from annotation.survey.flow import Step, parse_flow
from annotation.survey.lines import Line, lay_out_lines


class Visit:
    """Everything about one submission's way through its flow; each part is one query at most."""

    def __init__(self, submission: Submission) -> None:
        self.submission = submission
        self.study = submission.study
        self.instrument = submission.instrument

    @classmethod
    def load(cls, token: str, *, lock: bool = False) -> Visit:
        """Return the visit of a token; with ``lock`` the submission's row is locked.

        Raises `Submission.DoesNotExist`. One query.
        """
        submissions = Submission.objects.select_related("study", "instrument")
        if lock:
            submissions = submissions.select_for_update(of=("self",))
        return cls(submissions.get(token=token))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return parse_flow(self.instrument.flow)

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
            and self.study.status in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}
            and (reserved_until is None or reserved_until < timezone.now())
        )

    @cached_property
    def assignments(self) -> dict[int, GroupAssignment]:
        """Assignments by position, which is their step's position in the flow."""
        rows = self.submission.assignments.select_related("group")
        return {assignment.position: assignment for assignment in rows}

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        return lay_out_lines(
            self.instrument.scales.all(), instrument=self.instrument, seed=self.submission.seed
        )

    @cached_property
    def questions(self) -> list[DemographicQuestion]:
        return list(self.instrument.questions.all())

    @cached_property
    def wording(self) -> dict[str, str]:
        """Texts by key in the submission's language, the instrument's own where one is missing."""
        languages = [self.instrument.language, self.submission.language]
        rows = self.instrument.wordings.filter(language__in=languages)
        # The submission's language comes last and so wins.
        ordered = sorted(rows, key=lambda row: row.language == self.submission.language)
        return {row.key: row.text for row in ordered}

    def number_of(self, step: Step) -> int:
        """Return which of the visit's groups a step is about, from 1; 0 before the first."""
        return sum(position <= step.position for position in self.assignments)

    def load_values(self, assignment: GroupAssignment) -> dict[str, float]:
        """Return the stored ratings of one page by scale slug. One query."""
        rows = Rating.objects.filter(assignment=assignment)
        return dict(rows.values_list("scale__slug", "value"))
