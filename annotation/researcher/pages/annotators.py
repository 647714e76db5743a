"""The page on which the annotators of a study are invited, given new links and removed.

Annotators are numbers here too. The address of an open invitation shows until it is accepted, so
that researchers can tell whom they have asked; afterwards nothing but the number does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.annotators.errors import InvitationNotSent
from annotation.annotators.invitations import (
    build_join_link,
    can_send_mail,
    is_expired,
    renew_invitation,
    send_invitation,
)
from annotation.models import Annotator
from annotation.researcher.pages.annotator_page import AnnotatorStudyPage
from annotation.researcher.pages.page import refusals_shown

MOST_ADDRESSES = 50


@dataclass(frozen=True)
class PersonRow:
    """One place as the table of annotators shows it; ``open`` counts tasks that are not done."""

    annotator: Annotator
    open: int
    state: str
    css: str
    link: str = ""
    email: str = ""


class PeoplePage(AnnotatorStudyPage):
    """Lists people by number; a kind of study says how they join and leave, and adds buttons."""

    #: Services: ``invite(study=, email=)`` creates a place, ``remove(annotator=)`` closes one.
    invite: ClassVar[Callable[..., Annotator]]
    remove: ClassVar[Callable[..., Annotator]]
    removed: ClassVar[Any]  # what is said of ``who``

    def own_buttons(self) -> Mapping[str, Callable[[], None]]:
        """Return what the buttons of this kind of study do."""
        return {}

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        buttons = {
            "invite": self.invite_people,
            "renew": self.renew_link,
            "remove": self.remove_person,
            **self.own_buttons(),
        }
        if do := buttons.get(request.POST.get("do", "")):
            with refusals_shown(request):
                do()
        return redirect(request.path)

    def find_place(self, field: str = "annotator") -> Annotator:
        return get_object_or_404(self.study.annotators, public_id=self.request.POST.get(field, ""))

    def say(self, text: str) -> None:
        messages.success(self.request, text)

    def invite_people(self) -> None:
        """Carry out the form that invites, and say what came of it.

        Without an address one place with a link is made.
        """
        addresses = split_addresses(self.request.POST.get("emails", ""))
        if len(addresses) > MOST_ADDRESSES:
            text = _("%(n)d addresses at once, expected at most %(most)d. Nobody was invited.")
            messages.error(self.request, text % {"n": len(addresses), "most": MOST_ADDRESSES})
            return
        sent = 0
        for address in addresses or [""]:
            with refusals_shown(self.request):
                annotator = self.invite(study=self.study, email=address)
                if address:
                    sent += self._send(annotator)
                else:
                    text = _("%(who)s has a place. Send them the link below.")
                    self.say(text % {"who": annotator})
        if sent:
            text = ngettext("%(n)d invitation was sent.", "%(n)d invitations were sent.", sent)
            self.say(text % {"n": sent})

    def _send(self, annotator: Annotator) -> bool:
        try:
            send_invitation(annotator=annotator)
        except InvitationNotSent as problem:
            messages.warning(self.request, f"{annotator}: {problem}")
            return False
        return True

    def renew_link(self) -> None:
        annotator = renew_invitation(annotator=self.find_place())
        if annotator.email and self._send(annotator):
            self.say(_("%(who)s was sent a new link.") % {"who": annotator})
        else:
            self.say(_("%(who)s has a new link; the old one no longer works.") % {"who": annotator})

    def remove_person(self) -> None:
        annotator = self.remove(annotator=self.find_place())
        self.say(str(self.removed) % {"who": annotator})

    def describe_people(self, open_by_place: Mapping[int, int]) -> dict[str, Any]:
        """Return the table of people and what the forms below it need. One query."""
        return {
            "people": [
                describe_person(annotator, open_by_place.get(annotator.pk, 0), self.may_change)
                for annotator in self.study.annotators.order_by("number")
            ],
            "can_send_mail": can_send_mail(),
        }


def describe_person(annotator: Annotator, open_tasks: int, may_change: bool) -> PersonRow:
    """Return a place in words; link and address only for those who may give them."""
    if annotator.removed_at is not None:
        return PersonRow(annotator, open_tasks, _("Removed"), "mark-ring")
    if annotator.user_id is not None:
        return PersonRow(annotator, open_tasks, _("Joined"), "good mark-tick")
    expired = is_expired(annotator)
    return PersonRow(
        annotator,
        open_tasks,
        _("Invitation expired") if expired else _("Invited"),
        "warn mark-clock" if expired else "info mark-clock",
        link=build_join_link(annotator) if may_change and not expired else "",
        email=annotator.email if may_change else "",
    )


def split_addresses(text: str) -> list[str]:
    """Return the addresses of a field: separated by commas, semicolons, blanks or line ends."""
    return list(dict.fromkeys(text.replace(",", " ").replace(";", " ").split()))
