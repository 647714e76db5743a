"""What the pages of studies with annotators share: inviting, links, and the rows of people.

Annotators are numbers here too. The address of an open invitation shows until it is accepted, so
that the researcher can tell whom they have asked; afterwards nothing but the number does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.annotators.errors import InvitationNotSent
from annotation.annotators.inviting import build_join_link, is_expired, send_invitation
from annotation.models import Annotator, Study

MOST_ADDRESSES = 50


@dataclass(frozen=True)
class PersonRow:
    """One place as the table of annotators shows it."""

    annotator: Annotator
    state: str
    css: str
    link: str
    email: str


def build_person_rows(study: Study, *, may_change: bool) -> list[PersonRow]:
    """Return every place by number; links only for those who may give them. One query."""
    return [
        _build_row(annotator, may_change=may_change)
        for annotator in study.annotators.order_by("number")
    ]


def _build_row(annotator: Annotator, *, may_change: bool) -> PersonRow:
    if annotator.removed_at is not None:
        return PersonRow(annotator, _("Removed"), "mark-ring", "", "")
    if annotator.user_id is not None:
        return PersonRow(annotator, _("Joined"), "good mark-tick", "", "")
    email = annotator.email if may_change else ""
    if is_expired(annotator):
        return PersonRow(annotator, _("Invitation expired"), "warn mark-clock", "", email)
    link = build_join_link(annotator) if may_change else ""
    return PersonRow(annotator, _("Invited"), "info mark-clock", link, email)


def split_addresses(text: str) -> list[str]:
    """Return the addresses of a field: separated by commas, semicolons, blanks or line ends."""
    return list(dict.fromkeys(text.replace(",", " ").replace(";", " ").split()))


def invite_people(
    request: HttpRequest, study: Study, invite: Callable[..., Annotator]
) -> Sequence[Annotator]:
    """Carry out the form that invites and say what came of it, address by address.

    ``invite(study=, email=)`` creates a place. Without an address one place with a link is made.
    """
    addresses = split_addresses(request.POST.get("emails", ""))
    if len(addresses) > MOST_ADDRESSES:
        messages.error(
            request,
            _("%(n)d addresses at once, expected at most %(most)d. Nobody was invited.")
            % {"n": len(addresses), "most": MOST_ADDRESSES},
        )
        return []
    invited: list[Annotator] = []
    sent = 0
    for address in addresses or [""]:
        try:
            annotator = invite(study=study, email=address)
        except ValidationError as refusal:
            for problem in refusal.messages:
                messages.error(request, problem)
            continue
        invited.append(annotator)
        if address:
            sent += _send(request, annotator)
    if sent:
        messages.success(
            request,
            ngettext("%(n)d invitation was sent.", "%(n)d invitations were sent.", sent)
            % {"n": sent},
        )
    if invited and not addresses:
        messages.success(
            request,
            _("%(who)s has a place. Hand the link below over.") % {"who": invited[0]},
        )
    return invited


def _send(request: HttpRequest, annotator: Annotator) -> bool:
    try:
        send_invitation(annotator=annotator)
    except InvitationNotSent as problem:
        messages.warning(request, f"{annotator}: {problem}")
        return False
    return True
