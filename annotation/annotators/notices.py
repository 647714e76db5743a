"""What annotators are told where they cannot go on: a page of one message with its status code."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
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
