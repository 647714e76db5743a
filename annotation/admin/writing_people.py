"""The page on which annotators of a writing study are invited and their texts are moved."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.admin.access import staff_user
from annotation.admin.annotators import invite_people
from annotation.admin.writing_page import annotators_context
from annotation.annotators.errors import InvitationNotSent
from annotation.annotators.inviting import renew_invitation, send_invitation
from annotation.counterparts.assigning import (
    add_writer,
    assign_unassigned,
    describe_changes,
    hand_over,
    remove_writer,
)
from annotation.models import Annotator, Study


class PeopleViews:
    """The part of a writing study's admin that is about its annotators."""

    def people_pages(self) -> list[tuple[str, str, Any]]:
        return [("annotators", "annotators", self.annotators_view)]

    def annotators_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if request.method != "POST":
            study = self.find(request, pk)  # type: ignore[attr-defined]
            context = annotators_context(study, staff_user(request))
            return self.show(request, "annotators", context)  # type: ignore[attr-defined]
        study = self.find(request, pk, to_change=True)  # type: ignore[attr-defined]
        act = {
            "invite": self._invite,
            "renew": self._renew,
            "remove": self._remove,
            "hand-over": self._hand_over,
            "assign": self._assign,
        }.get(request.POST.get("do", ""))
        if act is not None:
            try:
                act(request, study)
            except ValidationError as refusal:
                for problem in refusal.messages:
                    messages.error(request, problem)
        return redirect("admin:annotation_writingstudy_annotators", pk)

    def _invite(self, request: HttpRequest, study: Study) -> None:
        invite_people(request, study, add_writer)

    def _renew(self, request: HttpRequest, study: Study) -> None:
        annotator = renew_invitation(annotator=_find_place(request, study))
        said = _("%(who)s has a new link; the old one leads nowhere.") % {"who": annotator}
        if annotator.email:
            try:
                send_invitation(annotator=annotator)
                said = _("%(who)s was sent a new link.") % {"who": annotator}
            except InvitationNotSent as problem:
                messages.warning(request, str(problem))
        messages.success(request, said)

    def _remove(self, request: HttpRequest, study: Study) -> None:
        annotator = remove_writer(annotator=_find_place(request, study))
        messages.success(
            request,
            _("%(who)s is removed. What was done stays, open texts went to the others.")
            % {"who": annotator},
        )

    def _hand_over(self, request: HttpRequest, study: Study) -> None:
        receiver = None
        if request.POST.get("receiver"):
            receiver = _find_place(request, study, field="receiver")
        giver = _find_place(request, study)
        moved, dropped = describe_changes(hand_over(giver=giver, receiver=receiver))
        said = ngettext("%(n)d text was moved.", "%(n)d texts were moved.", moved) % {"n": moved}
        if dropped:
            said += " " + ngettext(
                "%(n)d more was only taken from %(who)s: the others have it already.",
                "%(n)d more were only taken from %(who)s: the others have them already.",
                len(dropped),
            ) % {"n": len(dropped), "who": giver}
        messages.success(request, said)

    def _assign(self, request: HttpRequest, study: Study) -> None:
        n_texts = assign_unassigned(study=study)
        messages.success(
            request,
            ngettext("%(n)d text was given out.", "%(n)d texts were given out.", n_texts)
            % {"n": n_texts},
        )


def _find_place(request: HttpRequest, study: Study, *, field: str = "annotator") -> Annotator:
    return get_object_or_404(study.annotators, public_id=request.POST.get(field, ""))
