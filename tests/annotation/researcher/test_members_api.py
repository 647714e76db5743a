"""Colleagues over HTTP: members see who works on a study, owners invite, change and remove."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import (
    AuditEntry,
    MembershipRole,
    Study,
    StudyInvitation,
    StudyMembership,
)
from annotation.studies.colleagues import give_team_role, invite_colleague
from annotation.studies.teams import add_to_team, create_team
from stereoscope.api_authentication import create_token
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study

pytestmark = pytest.mark.django_db
OWNER, EDITOR, REVIEWER, VIEWER = MembershipRole
JSON = "application/json"


def address(study: Study, name: str = "member", pk: int | None = None) -> str:
    kind, last = ("list", []) if pk is None else ("detail", [pk])
    return reverse(f"api:study-{name}-{kind}", args=[study.public_id, *last])


def asks(user: User, *scopes: str) -> dict[str, Any]:
    return {"HTTP_AUTHORIZATION": f"Token {create_token(user=user, name='x', scopes=scopes)[1]}"}


def test_members_are_listed_with_the_ways_in_which_they_work_on_the_study(
    study: Study, alice: User, bob: User, charlie: User
) -> None:
    team = create_team(name="Lab", owner=charlie)
    add_to_team(team=team, username="bob")
    give_team_role(study=study, team=team, role=REVIEWER)
    give_team_role(study=make_study(owner=charlie), team=team, role=EDITOR)
    place = StudyMembership.objects.get()
    seen = log_in(bob).get(address(study)).json()
    assert [tuple(row.values()) for row in seen] == [
        (None, "alice", "owner", ""),
        (place.pk, "bob", "viewer", ""),
        (None, "bob", "reviewer", "Lab"),
        (None, "charlie", "reviewer", "Lab"),
    ]


def test_owners_invite_change_and_remove(study: Study, alice: User, bob: User) -> None:
    client, place = log_in(alice), StudyMembership.objects.get()
    made = client.post(address(study, "invitation"), {"role": EDITOR}, content_type=JSON)
    assert made.status_code == 201
    token = made.json()["link"].rstrip("/").rsplit("/", 1)[1]
    listed = client.get(address(study, "invitation")).json()
    assert [(one["id"], one["role"]) for one in listed["results"]] == [
        (made.json()["id"], "editor")
    ]
    assert token not in str(listed)
    assert reverse("admin:annotation_study_join", args=[token]) in made.json()["link"]

    answer = client.patch(address(study, pk=place.pk), {"role": EDITOR}, content_type=JSON)
    assert answer.json() == {"id": place.pk, "username": "bob", "role": "editor", "team": ""}
    assert study.is_changeable_by(bob)
    wrong = client.patch(address(study, pk=place.pk), {"role": "boss"}, content_type=JSON)
    assert (wrong.status_code, wrong["Content-Type"]) == (400, "application/problem+json")
    assert client.delete(address(study, pk=place.pk)).status_code == 204
    assert not study.is_visible_to(bob)
    assert client.delete(address(study, pk=place.pk)).status_code == 404

    assert client.get(address(study, "invitation")).json()["results"] == []

    made = client.post(address(study, "invitation"), {"role": EDITOR}, content_type=JSON)
    gone = address(study, "invitation", made.json()["id"])
    assert (client.delete(gone).status_code, client.delete(gone).status_code) == (204, 404)
    logged = AuditEntry.objects.filter(study=study, actor="alice").values_list("detail", flat=True)
    assert {"editor, changed", "editor, taken away", "editor, link made"} <= set(logged)


@pytest.mark.parametrize("who", ["bob", "ed", "charlie"])
def test_others_may_not(
    study: Study, alice: User, bob: User, ed: User, charlie: User, who: str
) -> None:
    """A viewer and an editor of the study are refused; for an outsider it does not exist."""
    client = log_in(User.objects.get(username=who))
    refused = 404 if who == "charlie" else 403
    place = StudyMembership.objects.get(user=bob)
    invitation, _token = invite_colleague(study=study, role=VIEWER, invited_by=alice)
    assert client.get(address(study)).status_code == (404 if who == "charlie" else 200)
    answers = [
        client.get(address(study, "invitation")),
        client.post(address(study, "invitation"), {"role": OWNER}, content_type=JSON),
        client.delete(address(study, "invitation", invitation.pk)),
        client.patch(address(study, pk=place.pk), {"role": OWNER}, content_type=JSON),
        client.delete(address(study, pk=place.pk)),
    ]
    assert {answer.status_code for answer in answers} == {refused}
    place.refresh_from_db()
    assert place.role == VIEWER
    assert StudyInvitation.objects.count() == 1


def test_rows_of_other_studies_are_out_of_reach(study: Study, alice: User, bob: User) -> None:
    other = make_study(owner=alice)
    invitation, _token = invite_colleague(study=other, role=VIEWER, invited_by=alice)
    place = StudyMembership.objects.create(study=other, user=bob, role=VIEWER)
    client = log_in(alice)
    assert client.delete(address(study, "invitation", invitation.pk)).status_code == 404
    assert client.delete(address(study, pk=place.pk)).status_code == 404


def test_a_token_to_read_changes_nothing(study: Study, alice: User, bob: User) -> None:
    client = Client()
    reads, writes = asks(alice, "read"), asks(alice, "read", "write")
    assert client.get(address(study), **reads).status_code == 200
    sent: dict[str, Any] = {"data": {"role": EDITOR}, "content_type": JSON}
    place = StudyMembership.objects.get()
    assert client.patch(address(study, pk=place.pk), **sent, **reads).status_code == 403
    assert client.post(address(study, "invitation"), **sent, **reads).status_code == 403
    assert client.patch(address(study, pk=place.pk), **sent, **writes).status_code == 200
    assert client.post(address(study, "invitation"), **sent, **writes).status_code == 201
    assert client.get(address(study)).status_code == 401


def test_studies_of_every_kind_have_colleagues() -> None:
    study = make_writing_study("ann", "ben", launched=True)
    owner = User.objects.create_user("zoe", is_staff=True)
    StudyMembership.objects.create(study=study, user=owner, role=OWNER)
    assert log_in(owner).get(address(study)).status_code == 200
