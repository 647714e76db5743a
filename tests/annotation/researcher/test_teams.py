"""Teams: their people have a role in a study together, for as long as they belong to them."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from annotation.models import (
    AuditEntry,
    MembershipRole,
    Study,
    StudyMembership,
    Team,
    TeamInvitation,
    TeamMember,
    TeamRole,
)
from annotation.studies.colleagues import give_team_role
from annotation.studies.teams import add_to_team, create_team, invite_to_team, join_team
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study, make_user

pytestmark = pytest.mark.django_db
OWNER, EDITOR, REVIEWER, VIEWER = MembershipRole
LIST = reverse("admin:annotation_team_changelist")


@pytest.fixture
def team(charlie: User) -> Team:
    """Charlie's, who has no part in alice's study."""
    return create_team(name="Lab", owner=charlie)


def page(team: Team) -> str:
    return reverse("admin:annotation_team_change", args=[team.pk])


def colleagues(study: Study) -> str:
    return reverse("admin:annotation_study_colleagues", args=[study.pk])


@pytest.mark.parametrize("role", MembershipRole.values)
def test_everybody_of_a_team_may_do_what_its_role_says(
    study: Study, team: Team, charlie: User, role: str
) -> None:
    assert not study.is_visible_to(charlie)
    give_team_role(study=study, team=team, role=role)
    assert list(Study.objects.visible_to(charlie)) == [study]
    assert study.is_reviewable_by(charlie) == (role in {OWNER, EDITOR, REVIEWER})
    assert study.is_changeable_by(charlie) == (role in {OWNER, EDITOR})
    assert study.is_owned_by(charlie) == (role == OWNER)
    # Whoever comes later has it too, and loses it with the place in the team.
    dora = make_user("dora")
    member = add_to_team(team=team, username="dora")
    assert study.is_visible_to(dora)
    overview = reverse("admin:annotation_study_overview", args=[study.pk])
    assert log_in(dora).get(overview).status_code == 200
    member.delete()
    assert not study.is_visible_to(dora)
    assert log_in(dora).get(overview).status_code == 404


def test_a_place_of_ones_own_stays_when_the_team_goes(
    study: Study, team: Team, charlie: User
) -> None:
    """Somebody with two ways in is listed once, and has the higher role."""
    StudyMembership.objects.create(study=study, user=charlie, role=VIEWER)
    give_team_role(study=study, team=team, role=EDITOR)
    assert list(Study.objects.visible_to(charlie)) == [study]
    assert study.is_changeable_by(charlie)
    client = log_in(charlie)
    asked = client.post(page(team), {"do": "delete"}).content.decode()
    assert "Delete this team?" in asked
    assert Team.objects.exists()
    client.post(page(team), {"do": "delete", "confirmed": "yes"})
    assert not Team.objects.exists()
    assert study.is_visible_to(charlie)
    assert not study.is_changeable_by(charlie)


def test_owners_of_a_study_give_teams_of_their_own_a_role(
    study: Study, team: Team, alice: User, ed: User, charlie: User
) -> None:
    client = log_in(alice)
    sent = {"do": "add-team", "key": team.pk, "role": REVIEWER}
    # Of other people's teams nobody learns, and editors give no access.
    assert client.post(colleagues(study), sent).status_code == 404
    add_to_team(team=team, username="alice")
    add_to_team(team=team, username="ed")
    assert log_in(ed).post(colleagues(study), sent).status_code == 403
    assert "Add the team" not in log_in(ed).get(colleagues(study)).content.decode()
    client.post(colleagues(study), sent)
    given = TeamRole.objects.get()
    assert given.role == REVIEWER
    shown = client.get(colleagues(study)).content.decode()
    assert "alice, charlie, ed" in shown
    client.post(colleagues(study), {"do": "role", "whose": "team", "key": given.pk, "role": VIEWER})
    assert not study.is_reviewable_by(charlie)
    other = TeamRole.objects.create(study=make_study(owner=alice), team=team)
    wrong = {"do": "remove", "whose": "team", "key": other.pk}
    assert client.post(colleagues(study), wrong).status_code == 404
    client.post(colleagues(study), {"do": "remove", "whose": "team", "key": given.pk})
    assert not study.is_visible_to(charlie)
    logged = set(
        AuditEntry.objects.filter(study=study, actor="alice").values_list("target", "detail")
    )
    assert {
        ("team Lab", "reviewer, given"),
        ("team Lab", "viewer, changed"),
        ("team Lab", "viewer, taken away"),
    } <= logged


def test_the_log_of_a_study_says_who_came_and_went_by_a_team(
    study: Study, team: Team, charlie: User, bob: User
) -> None:
    give_team_role(study=study, team=team, role=EDITOR)
    client = log_in(charlie)
    client.post(page(team), {"do": "add", "username": "bob"})
    client.post(page(team), {"do": "remove", "key": TeamMember.objects.get(user=bob).pk})
    of_bob = AuditEntry.objects.filter(study=study, target="account bob", actor="charlie")
    assert list(of_bob.order_by("pk").values_list("detail", flat=True)) == [
        "editor by team Lab, given",
        "editor by team Lab, taken away",
    ]


def test_whoever_manages_a_team_names_it_and_says_who_belongs_to_it(
    team: Team, charlie: User, bob: User
) -> None:
    client = log_in(charlie)
    client.post(page(team), {"do": "rename", "name": " Lab  of\tours "})
    team.refresh_from_db()
    assert team.name == "Lab of ours"
    for name, said in (("", "cannot be blank"), ("x" * 81, "at most 80")):
        answer = client.post(page(team), {"do": "rename", "name": name}, follow=True)
        assert said in answer.content.decode()
    User.objects.create_user("guest")  # no researcher
    for name in ("guest", "nobody", ""):
        answer = client.post(page(team), {"do": "add", "username": name}, follow=True)
        assert "No researcher has an account of this name." in answer.content.decode()
    for _ in range(2):
        client.post(page(team), {"do": "add", "username": "bob"})
    assert set(team.members.values_list("user__username", flat=True)) == {"bob", "charlie"}
    # Members see the team and may leave it, and nothing else.
    member = log_in(bob)
    assert "Lab of ours" in member.get(LIST).content.decode()
    assert "Rename" not in member.get(page(team)).content.decode()
    for sent in ({"do": "rename", "name": "Mine"}, {"do": "invite"}, {"do": "delete"}):
        assert member.post(page(team), sent).status_code == 403
    member.post(page(team), {"do": "leave"})
    assert member.get(page(team)).status_code == 404


@pytest.mark.parametrize("do", ["rename", "add", "invite", "remove", "delete", "leave", "revoke"])
def test_a_team_does_not_exist_for_others(team: Team, bob: User, do: str) -> None:
    client = log_in(bob)
    assert "Lab" not in client.get(LIST).content.decode()
    assert client.get(page(team)).status_code == 404
    assert client.post(page(team), {"do": do, "name": "x", "confirmed": "yes"}).status_code == 404
    assert Client().get(page(team)).status_code == 302
    team.refresh_from_db()
    assert (team.name, team.members.count()) == ("Lab", 1)


def test_a_link_takes_one_person_into_a_team(team: Team, charlie: User, bob: User) -> None:
    made = log_in(charlie).post(page(team), {"do": "invite"})
    (address,) = re.findall(r"https?://[^/]+(/\S+?)</code>", made.content.decode())
    token = address.rstrip("/").rsplit("/", 1)[1]
    assert "no-store" in made["Cache-Control"]
    assert token not in log_in(charlie).get(page(team)).content.decode()
    assert token not in str(list(TeamInvitation.objects.values()))
    client = log_in(bob)
    assert "Join “Lab”?" in client.get(address).content.decode()
    assert client.post(address)["Location"] == page(team)
    assert team.members.filter(user=bob).exists()
    ed = make_user("ed")
    assert log_in(ed).get(address).status_code == 404
    with pytest.raises(ValidationError, match="used, taken back or is too old"):
        join_team(token=token, user=ed)
    log_in(charlie).post(page(team), {"do": "invite"})
    made_now = TeamInvitation.objects.get(used_at=None)
    log_in(charlie).post(page(team), {"do": "revoke", "key": made_now.pk})
    assert TeamInvitation.objects.filter(used_at=None).count() == 0


def test_removal_from_a_team_ends_its_open_links(team: Team, charlie: User, bob: User) -> None:
    client = log_in(charlie)
    client.post(page(team), {"do": "add", "username": "bob"})
    _made, token = invite_to_team(team=team, invited_by=charlie)
    client.post(page(team), {"do": "remove", "key": TeamMember.objects.get(user=bob).pk})
    with pytest.raises(ValidationError, match="used, taken back or is too old"):
        join_team(token=token, user=bob)
    assert not team.members.filter(user=bob).exists()


def test_a_new_team_is_its_makers_and_has_a_name_of_its_own(bob: User) -> None:
    client, add = log_in(bob), reverse("admin:annotation_team_add")
    client.post(add, {"name": "Lab"})
    team = Team.objects.get()
    assert (team.owner, team.members.get().user) == (bob, bob)
    again = client.post(add, {"name": "Lab"})
    assert "You have a team of this name." in again.content.decode()
    assert Team.objects.count() == 1
    assert client.post(add, {"name": " Lab "}).status_code == 200
    listed = client.get(LIST).content.decode()
    assert page(team) in listed


def test_a_team_whose_manager_has_gone_is_the_administrators(team: Team, charlie: User) -> None:
    charlie.delete()
    team.refresh_from_db()
    assert team.owner is None
    root = User.objects.create_superuser("root")
    assert "Managed by administrators." in log_in(root).get(page(team)).content.decode()
    assert team.is_managed_by(root)
