"""Step tokens: every page names the submission and the step that it was made for, signed."""

from __future__ import annotations

from dataclasses import dataclass

from django.core import signing
from django.utils.translation import gettext as _

from annotation.models import Submission
from annotation.survey.errors import PageRefused
from annotation.survey.flow import Step

SALT = "annotation.survey.step"


@dataclass(frozen=True)
class StepToken:
    index: int
    kind: str


def sign_step(submission: Submission, step: Step) -> str:
    return signing.Signer(salt=SALT).sign_object([submission.public_id, step.index, step.kind])


def read_step_token(text: str, *, submission: Submission) -> StepToken:
    """Return what a token names. Raises `PageRefused` if forged or of another submission."""
    try:
        public_id, index, kind = signing.Signer(salt=SALT).unsign_object(text)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise PageRefused(
            _("The page was changed on its way, or it was not made by this survey.")
        ) from error
    if public_id != submission.public_id:
        raise PageRefused(_("The page belongs to another person’s visit."))
    return StepToken(index=index, kind=kind)
