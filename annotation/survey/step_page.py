"""The page of a step as HTML. Without answers on it, it is drawn once for all visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date

from django.template.loader import render_to_string
from django.utils.html import conditional_escape

from annotation.instruments.flow import Step
from annotation.steps.forms import FilledForm
from annotation.survey.page_language import describe_languages
from annotation.survey.pages import find_page
from annotation.survey.pages.page import count_tries
from annotation.survey.stencil import Stencil, gap
from annotation.survey.step_tokens import describe_step, sign_step
from annotation.survey.visits.visit import Visit


@dataclass(frozen=True)
class ShownStudy:
    """All that the page of a step says about its study: a kept page is of no other use."""

    contact_email: str
    estimated_minutes: int
    ethics_reference: str
    ethics_contact: str
    is_paid: bool
    data_access: str
    identity_days: int | None
    answer_days: int | None
    withdraw_until: date | None


@dataclass(frozen=True)
class ShownSubmission:
    """All that it says about a submission, but for what the page itself shows."""

    token: str
    origin: str


@dataclass(frozen=True)
class Progress:
    """``done`` of ``total`` steps lie behind, those that were passed over included.

    By pages: the bar says nothing of how many groups there are.
    """

    done: int
    total: int


def measure_progress(visit: Visit, step: Step | None) -> Progress:
    """Return the progress at a step, all done for a visit that has no further step."""
    total = len(visit.steps)
    if step is None:
        return Progress(total, total)
    # A check that has moved comes after the page that it asks about.
    pages = [one.index for one in visit.steps if 0 < one.position == step.position]
    return Progress(max([step.index, *pages[:1]]), total)


def draw_step(visit: Visit, step: Step, filled: FilledForm) -> str:
    """Return the page of a step with answers to keep and what is wrong with them.

    The language of the visit must be spoken.
    """
    page, submission = find_page(step), visit.submission
    study = ShownStudy(
        **{field.name: getattr(visit.study, field.name) for field in fields(ShownStudy)}
    )
    # Another group on the same step is another page, whose answers are its own.
    # A page that is asked again begins without the answer that was wrong.
    draft = (
        f"{submission.public_id}/{step.index}/{describe_step(visit, step).group}"
        f"/{count_tries(visit, step)}"
    )
    own = {
        **page.own(visit, step, filled),
        "token": conditional_escape(submission.token),
        "step_token": conditional_escape(sign_step(visit, step)),
        "draft": conditional_escape(draft),
    }

    def draw(own: Mapping[str, str]) -> str:
        context = {
            **describe_languages(visit.content, submission.language),
            "study": study,
            "submission": ShownSubmission(own["token"], submission.origin),
            "progress": measure_progress(visit, step),
            "problems": filled.problems,
            **page.show(visit, step, filled),
            **own,
        }
        return render_to_string(step.told.template, context)

    if not step.told.is_shared or not filled.is_empty:
        return draw(own)
    kept = visit.keep(
        ("page", step.index, step.position, submission.language, submission.origin, study),
        lambda: Stencil(draw({name: gap(name) for name in own})),
    )
    return kept.fill(own)
