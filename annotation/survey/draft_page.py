"""The page of one step of a version, drawn as participants read it; no visit is stored for it."""

from __future__ import annotations

from functools import cached_property

from annotation.instruments.content import Content
from annotation.instruments.flow import Step, read_flow
from annotation.instruments.languages.ui_translation import speak
from annotation.models import GroupAssignment, Instrument, Submission, SubmissionOrigin
from annotation.steps.forms import FilledForm
from annotation.survey.group_assignment import plan_groups
from annotation.survey.step_page import draw_step
from annotation.survey.visits.errors import StudyFull
from annotation.survey.visits.visit import Visit

# Answers that a check of the rating page can ask about.
HIGH, LOW = 90.0, 10.0


class UndrawableStepError(ValueError):
    """A step without a page; the message says what is missing."""


class DraftVisit(Visit):
    """A visit to a version as it is, complete or not, with groups and ratings made up."""

    def __init__(self, instrument: Instrument, *, language: str, seed: int) -> None:
        submission = Submission(
            pk=0,  # of nobody: what pages look up for it is not there
            study=instrument.study,
            instrument=instrument,
            origin=SubmissionOrigin.PREVIEW,
            language=language,
            seed=seed,
        )
        super().__init__(submission)

    @cached_property
    def content(self) -> Content:
        # Apart from what visits keep: a draft may change with every request.
        return Content(self.instrument)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return read_flow(self.instrument.flow)[0]

    @cached_property
    def assignments(self) -> dict[int, GroupAssignment]:
        try:
            planned = plan_groups(self.submission, self.steps)
        except StudyFull:
            return {}
        return {row.position: row for row in planned}

    def load_values(self, assignment: GroupAssignment) -> dict[str, float]:
        slugs = [scale.slug for scale in self.content.scales]
        return {slug: LOW if place % 2 else HIGH for place, slug in enumerate(slugs)}


def draw_draft(instrument: Instrument, *, index: int, language: str, seed: int) -> str:
    """Return the page of the step at ``index`` as HTML. Six queries.

    Raises `UndrawableStepError` where a draft is not far enough for it.
    """
    _steps, problems = read_flow(instrument.flow)
    visit = DraftVisit(instrument, language=language, seed=seed)
    step = next((step for step in visit.steps if step.index == index), None)
    own = next((problem.text for problem in problems if problem.index == index), "")
    if step is None:
        raise UndrawableStepError(own or "There is no such step.")
    if step.position and step.position not in visit.assignments:
        raise UndrawableStepError("There is nothing to rate on this page yet: choose groups.")
    speak(language, visit.content.wording_in(language))
    try:
        return draw_step(visit, step, FilledForm())
    except (LookupError, TypeError) as error:
        raise UndrawableStepError(own or "Something on this page is still missing.") from error
