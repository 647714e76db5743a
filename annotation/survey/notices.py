"""What participants are told where the survey cannot go on: one plain page with its status code.

403 stands for a study that exists but lets nobody in now: it may do so later, so it is not gone.
410 stands for one that has ended for good. 404 and 400 say that the link or the page is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Outcome, Study, StudyStatus, Submission
from annotation.panels.base import CompletionPath, WayToReturn
from annotation.survey.completion_path import (
    find_completion_path,
    find_way_back,
    find_way_to_return,
)
from annotation.survey.visits.promises import describe_answers, describe_pay
from annotation.survey.withdrawal import is_withdrawal_open


@dataclass(frozen=True)
class Notice:
    """A page of one message: what happened, what is kept, what to do."""

    status: int
    title: str
    text: str
    study: Study | None = None
    # Whose visit it is, where that is known: the page then leads to the participant's own answers.
    submission: Submission | None = None
    completion: CompletionPath | None = None
    give_back: WayToReturn | None = None
    pay: str = ""
    answers: str = ""
    link: str = ""
    link_text: str = ""


def no_study() -> Notice:
    return Notice(
        404,
        _("There is no study at this link"),
        _(
            "Check that the whole link was copied. If it was, ask the people who sent it to you. "
            "Nothing was stored."
        ),
    )


def no_visit() -> Notice:
    return Notice(
        404,
        _("There is nothing at this link"),
        _(
            "Check that the whole link was copied. To take part in a study, open the link that you "
            "were first given. Nothing was stored."
        ),
    )


def started_elsewhere(study: Study) -> Notice:
    return Notice(
        403,
        _("You started this study in another browser"),
        _(
            "Go on in the browser that you started in. If a panel sent you, you can also open the "
            "study again from its page there. If neither works, write to the researchers. "
            "Nothing was stored."
        ),
        study=study,
    )


def bad_link(study: Study, reason: str) -> Notice:
    return Notice(
        400,
        _("This link is not complete"),
        _("%(reason)s Nothing was stored.") % {"reason": reason},
        study=study,
    )


def not_open(study: Study) -> Notice:
    if study.status == StudyStatus.DRAFT:
        return Notice(
            403,
            _("This study has not started yet"),
            _("Open the link again later. Nothing was stored."),
            study=study,
        )
    if study.status == StudyStatus.PAUSED:
        return _too_late(
            study,
            403,
            _("This study is paused"),
            _(
                "Nobody new can start at the moment. Open the link again later. If you have "
                "already started, your own page still works."
            ),
        )
    if study.is_open:
        return Notice(
            403,
            _("This study is not ready"),
            _("Its questions are not published yet. Open the link again later."),
            study=study,
        )
    return _too_late(
        study,
        410,
        _("This study has ended"),
        _("It takes no more answers. Thank you for your interest."),
    )


def _too_late(study: Study, status: int, title: str, text: str) -> Notice:
    """Return what people are told who come and cannot start: nothing was asked of them yet."""
    completion, give_back = find_way_back(study)
    return Notice(
        status,
        title,
        text,
        study=study,
        completion=completion,
        give_back=give_back,
        pay=_("There is no payment, because you did not take part.") if study.is_paid else "",
        answers=_("You gave none. Nothing was stored."),
    )


def too_many_arrivals(study: Study) -> Notice:
    return Notice(
        429,
        _("Too many people start from your network just now"),
        _(
            "Your place in the study is not lost. Wait some minutes, then open your link again, or "
            "use another network. Nothing was stored."
        ),
        study=study,
    )


def full(study: Study) -> Notice:
    return _too_late(
        study,
        403,
        _("All places are taken"),
        _(
            "Every group has the answers that it needs, or somebody is giving them now. A place "
            "can become free if somebody stops before the end."
        ),
    )


def cut_off(submission: Submission) -> Notice:
    return Notice(
        410,
        _("This study has ended"),
        _("It was closed while you were away."),
        study=submission.study,
        submission=submission,
        completion=_panel_path(submission.study, Outcome.TIMED_OUT),
        give_back=find_way_to_return(submission),
        pay=describe_pay(submission),
        answers=describe_answers(submission, may_erase=is_withdrawal_open(submission)),
    )


def page_refused(submission: Submission, reason: str) -> Notice:
    return Notice(
        400,
        _("This page cannot be taken"),
        _("%(reason)s Nothing of it was stored; what you sent before is kept.")
        % {"reason": reason},
        study=submission.study,
        submission=submission,
        link=reverse("survey:page", args=[submission.token]),
        link_text=_("Go on with your visit"),
    )


def group_taken(submission: Submission) -> Notice:
    return Notice(
        409,
        _("You go on with another group"),
        _(
            "You were away for a while, and meanwhile somebody else was given the group on this "
            "page. We could not keep the answers on it. Everything that you sent before is kept."
        ),
        study=submission.study,
        submission=submission,
        link=reverse("survey:page", args=[submission.token]),
        link_text=_("Go on with your visit"),
    )


def withdrawal_closed(submission: Submission) -> Notice:
    return Notice(
        403,
        _("Answers can no longer be erased here"),
        _(
            "The last day for it has passed, and your answers may be part of results by now. Write "
            "to the researchers: %(contact)s."
        )
        % {"contact": submission.study.contact_email},
        study=submission.study,
        submission=submission,
    )


def _panel_path(study: Study, outcome: Outcome) -> CompletionPath | None:
    """Only a panel that leads back has a use for the code of somebody who did not take part."""
    path = find_completion_path(study, outcome)
    return path if path is not None and path.return_url else None
