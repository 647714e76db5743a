"""The actions of the page on which judges are invited, removed and given work again."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.admin.annotators import invite_people
from annotation.annotators.errors import InvitationNotSent
from annotation.annotators.inviting import (
    invite_annotator,
    renew_invitation,
    send_invitation,
)
from annotation.judgments.assigning import give_out_again, remove_judge
from annotation.models import Annotator, Study


class JudgeViews:
    """The part of a judgment study's admin that is about its judges."""

    def act_on_judges(self, request: HttpRequest, study: Study) -> None:
        act = {
            "invite": _invite,
            "renew": _renew,
            "remove": _remove,
            "give-out": _give_out,
        }.get(request.POST.get("do", ""))
        if act is None:
            return
        try:
            act(request, study)
        except ValidationError as refusal:
            for problem in refusal.messages:
                messages.error(request, problem)


def _invite(request: HttpRequest, study: Study) -> None:
    invite_people(request, study, invite_annotator)


def _renew(request: HttpRequest, study: Study) -> None:
    annotator = renew_invitation(annotator=_find_place(request, study))
    said = _("%(who)s has a new link; the old one leads nowhere.") % {"who": annotator}
    if annotator.email:
        try:
            send_invitation(annotator=annotator)
            said = _("%(who)s was sent a new link.") % {"who": annotator}
        except InvitationNotSent as problem:
            messages.warning(request, str(problem))
    messages.success(request, said)


def _remove(request: HttpRequest, study: Study) -> None:
    annotator = remove_judge(annotator=_find_place(request, study))
    messages.success(
        request,
        _("%(who)s is removed. What was judged stays, open counterparts went to the others.")
        % {"who": annotator},
    )


def _give_out(request: HttpRequest, study: Study) -> None:
    moved = give_out_again(study=study)
    messages.success(
        request,
        ngettext(
            "%(n)d counterpart has a new judge.", "%(n)d counterparts have a new judge.", moved
        )
        % {"n": moved}
        if moved
        else _("Nothing moved: open work is as even as who may judge what allows."),
    )


def _find_place(request: HttpRequest, study: Study) -> Annotator:
    return get_object_or_404(study.annotators, public_id=request.POST.get("annotator", ""))
