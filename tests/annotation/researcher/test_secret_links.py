"""Pages with a secret in their address: forms arrive with their origin, secrets stay here."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.annotators.invitations import invite_annotator
from annotation.models import MembershipRole, SubmissionState, Team, TeamInvitation
from annotation.studies.colleagues import invite_colleague
from annotation.studies.invitation_links import make_link
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study, make_submission, make_user

pytestmark = pytest.mark.django_db


def test_no_page_with_a_form_withholds_the_origin_of_its_form() -> None:
    owner = make_user("link-owner")
    study = make_study(owner=owner)
    _made, to_study = invite_colleague(study=study, role=MembershipRole.EDITOR, invited_by=owner)
    team = Team.objects.create(name="Lab", owner=owner)
    _link, to_team = make_link(TeamInvitation, created_by=owner, team=team)
    annotator = invite_annotator(study=make_writing_study("ann", launched=True))
    visit = make_submission(study, state=SubmissionState.IN_PROGRESS)
    addresses = [
        study.get_absolute_url(),
        reverse("survey:page", args=[visit.token]),
        reverse("survey:own", args=[visit.token]),
        reverse("annotators:join", args=[annotator.invitation_token]),
        reverse("admin:annotation_study_join", args=[to_study]),
        reverse("admin:annotation_team_join", args=[to_team]),
    ]
    with_form = []
    for address in addresses:
        for client in (Client(), log_in(make_user(f"user-{len(with_form)}-{address[-6:-1]}"))):
            answer = client.get(address, follow=True)
            if "<form" in answer.content.decode():
                with_form.append(address)
                assert answer["Referrer-Policy"] == "same-origin", address
    assert set(addresses[3:]) | {addresses[0]} <= set(with_form)
