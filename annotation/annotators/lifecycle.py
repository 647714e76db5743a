"""Creates and launches studies of annotators; what annotators are told where they cannot go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.annotators.errors import LinkState
from annotation.models import (
    Annotator,
    JudgmentDesign,
    Study,
    StudyKind,
    StudyStatus,
    WritingDesign,
)
from annotation.studies.lifecycle import change_status, lock_study

# --- What annotators are told where they cannot go on: a page of one message with its status code


@dataclass(frozen=True)
class Notice:
    """A page of one message: what happened, what is kept, what to do."""

    status: int
    title: str
    text: str
    study: Study | None = None
    link: str = ""
    link_text: str = ""

    def show(self, request: HttpRequest) -> HttpResponse:
        context = {"notice": self}
        return render(request, "annotation/annotators/notice.html", context, status=self.status)


def link_not_open(state: LinkState, annotator: Annotator | None) -> Notice:
    """Say why an invitation link cannot be used."""
    study = annotator.study if annotator is not None else None
    ask = _("Ask the researchers for a new one.")
    if state == LinkState.USED:
        return Notice(
            410,
            _("This invitation has been used"),
            _("A link works once. If it was you who used it, log in with that account."),
            study=study,
            link=reverse("annotators:login"),
            link_text=_("Log in"),
        )
    if state == LinkState.EXPIRED:
        return Notice(410, _("This invitation has expired"), ask, study=study)
    if state == LinkState.REMOVED:
        return Notice(
            410,
            _("This invitation was withdrawn"),
            _("Write to the researchers if you think that this is a mistake."),
            study=study,
        )
    if state == LinkState.OVER:
        return Notice(
            410,
            _("This study has ended"),
            _("It accepts no more work. Thank you for your interest."),
            study=study,
        )
    return Notice(
        404,
        _("There is no invitation at this link"),
        _("Check that the whole link was copied. If it was: %(ask)s") % {"ask": ask},
    )


def locked_out() -> Notice:
    return Notice(
        429,
        _("Too many failed log-ins"),
        _("Wait a minute, then try again; after further failures, longer. Nothing is lost."),
    )


# --- Studies


def create_study(
    *,
    kind: StudyKind,
    title: str,
    owner: AbstractBaseUser | None,
    contact_email: str,
    **options: Any,
) -> Study:
    """Create a draft of a kind, without its design. Raises `ValidationError` for bad options."""
    study = Study(
        title=title,
        owner=owner,  # type: ignore[misc]
        contact_email=contact_email,
        kind=kind,
        **options,
    )
    study.full_clean()
    study.save()
    return study


def edit_design(design: WritingDesign | JudgmentDesign, values: dict[str, Any]) -> None:
    """Set fields of a draft's design, which the caller checks and saves in the same transaction.

    Raises `ValidationError` for a study that was launched.
    """
    study = Study.objects.select_for_update().get(pk=design.study_id)
    if study.status != StudyStatus.DRAFT:
        raise ValidationError(_("The study was launched: its design is frozen."))
    for name, value in values.items():
        setattr(design, name, value)


@transaction.atomic
def launch(
    study: Study,
    *,
    work: str,
    find_problems: Callable[[Study], list[str]],
    assign: Callable[..., int],
) -> Study:
    """Give the work out and open the study; resume it where it was launched before.

    ``work`` names the relation that is empty before the first launch. Launching a live study
    changes nothing. Raises `ValidationError` with every problem.
    """
    study = lock_study(study)
    if study.status == StudyStatus.LIVE:
        return study
    if not getattr(study, work).exists():
        if problems := find_problems(study):
            raise ValidationError(problems)
        assign(study=study)
    return change_status(study, StudyStatus.LIVE)
