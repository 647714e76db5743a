"""Step tokens: every page names the submission, step and group that it was made for, signed."""

from __future__ import annotations

from dataclasses import dataclass

from django.core import signing
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.models import Submission
from annotation.steps.forms import PageRefused
from annotation.survey.visits.visit import Visit

SALT = "annotation.survey.step"


@dataclass(frozen=True)
class StepToken:
    """What a page was made for; ``group`` is a slug, "" for pages that are about no group."""

    index: int
    kind: str
    group: str


def describe_step(visit: Visit, step: Step) -> StepToken:
    assignment = visit.assignments.get(step.position) if step.position else None
    return StepToken(step.index, step.kind, assignment.group.slug if assignment else "")


def sign_step(visit: Visit, step: Step) -> str:
    token = describe_step(visit, step)
    return signing.Signer(salt=SALT).sign_object(
        [visit.submission.public_id, token.index, token.kind, token.group]
    )


def read_step_token(text: str, *, submission: Submission) -> StepToken:
    """Return what a token names. Raises `PageRefused` if forged or of another submission."""
    try:
        public_id, index, kind, group = signing.Signer(salt=SALT).unsign_object(text)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise PageRefused(
            _("The page was changed on its way, or it was not made by this survey.")
        ) from error
    if public_id != submission.public_id:
        raise PageRefused(_("The page belongs to another person’s visit."))
    return StepToken(index=index, kind=kind, group=group)
