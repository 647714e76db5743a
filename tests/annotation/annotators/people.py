"""Studies with annotators for tests: alice is the researcher, ann and ben annotate."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from annotation.annotators.invitations import accept_invitation, invite_annotator
from annotation.models import Annotator, Study, StudyKind, StudyStatus

PASSWORD = "a long pass phrase"


def make_annotated_study(**options: Any) -> Study:
    """Store a live study for annotators, without any task."""
    values = {
        "title": "Counterparts, spring",
        "kind": StudyKind.COUNTERPART_WRITING,
        "status": StudyStatus.LIVE,
        "contact_email": "lab@example.org",
    }
    return Study.objects.create(**{**values, **options})


def make_account(name: str) -> User:
    """Store an account without any right, as an annotator's."""
    return get_user_model().objects.create_user(username=name, password=PASSWORD)


def make_annotator(study: Study, name: str, *, email: str = "") -> Annotator:
    """Invite and join: the account ``name`` is created where it is not there."""
    place = invite_annotator(study=study, email=email)
    user = get_user_model().objects.filter(username=name).first() or make_account(name)
    return accept_invitation(token=place.invitation_token, user=user)
