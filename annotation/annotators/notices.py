"""What annotators are told where their way ends: one plain page with its status code."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.annotators.errors import LinkState
from annotation.models import Annotator, Study


@dataclass(frozen=True)
class Notice:
    """A page of one message: what happened, what is kept, what to do."""

    status: int
    title: str
    text: str
    study: Study | None = None
    link: str = ""
    link_text: str = ""


def link_not_open(state: LinkState, annotator: Annotator | None) -> Notice:
    """Say why an invitation link leads nowhere."""
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
            _("This invitation was taken back"),
            _("Write to the researchers if you think that this is a mistake."),
            study=study,
        )
    if state == LinkState.OVER:
        return Notice(
            410,
            _("This study has ended"),
            _("It takes no more work. Thank you for your interest."),
            study=study,
        )
    return Notice(
        404,
        _("There is no invitation at this link"),
        _("Check that the whole link was copied. If it was: %(ask)s") % {"ask": ask},
    )


def not_live(study: Study, *, kept: str) -> Notice:
    """Say that a study takes no work now; ``kept`` says what became of what was sent."""
    return Notice(
        403,
        _("The study is %(status)s") % {"status": study.get_status_display().lower()},
        kept,
        study=study,
        link=reverse("annotators:home"),
        link_text=_("Your studies"),
    )


def locked_out() -> Notice:
    return Notice(
        429,
        _("Too many log-ins failed"),
        _("Wait a quarter of an hour, then try again. Nothing of your work is lost."),
    )
