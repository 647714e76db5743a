"""Colleagues of a study: what each role may do on every page, and the links that give a role."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import (
    AuditEntry,
    DataDecision,
    MembershipRole,
    Panel,
    Study,
    StudyInvitation,
    StudyMembership,
    Submission,
)
from annotation.studies.colleagues import accept_invitation, change_role, invite_colleague
from annotation.studies.lifecycle import close_study
from evaluation.models import Report
from evaluation.reports.shared_views import find_share, share_report
from stereoscope.api_authentication import create_token
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study, make_submission, make_user

pytestmark = pytest.mark.django_db
OWNER, EDITOR, REVIEWER, VIEWER = MembershipRole
NOBODY = "nobody"


def member(study: Study, role: str) -> User:
    user = make_user(f"{role}-{study.pk}")
    assert isinstance(user, User)
    if role != NOBODY:
        StudyMembership.objects.create(study=study, user=user, role=role)
    return user


def page(study: Study, name: str = "colleagues", kind: str = "study") -> str:
    return reverse(f"admin:annotation_{kind}_{name}", args=[study.pk])


@pytest.mark.parametrize(
    ("role", "sees", "decides", "changes", "owns"),
    [
        (OWNER, True, True, True, True),
        (EDITOR, True, True, True, False),
        (REVIEWER, True, True, False, False),
        (VIEWER, True, False, False, False),
        (NOBODY, False, False, False, False),
    ],
)
def test_each_role_may_do_what_it_says_and_no_more(
    study: Study, role: str, sees: bool, decides: bool, changes: bool, owns: bool
) -> None:
    user = member(study, role)
    permission = Permission.objects.get(codename="export_payments")
    user.user_permissions.add(permission)
    user = User.objects.get(pk=user.pk)
    client = log_in(user)
    Study.objects.update(panel=Panel.PROLIFIC)
    submission = make_submission(study)
    review = reverse("admin:annotation_submission_review", args=[submission.pk])

    def allowed(expected: bool, status: int) -> bool:
        return status in {200, 302, 422} if expected else status in {403, 404}

    for name in ("overview", "live", "flags", "margins", "money", "panel", "colleagues"):
        assert allowed(sees, client.get(page(study, name)).status_code), name
    for address in (review, reverse("admin:annotation_submission_queue", args=[study.pk])):
        assert allowed(sees, client.get(address).status_code), address
    if sees:
        assert ("Accept data" in client.get(review).content.decode()) == decides
        listed = client.get(reverse("admin:annotation_study_changelist")).content.decode()
        assert study.title in listed
    export = reverse("admin:annotation_study_export", args=[study.pk, "ratings.csv"])
    payments = reverse("admin:annotation_study_export", args=[study.pk, "payments.csv"])
    assert allowed(sees, client.get(export).status_code)
    assert allowed(changes, client.get(payments).status_code)
    assert allowed(owns, client.get(page(study, "audit")).status_code)
    api = client.get(reverse("api:study-detail", args=[study.public_id]))
    assert allowed(sees, api.status_code)
    paid = client.get(reverse("api:study-payment-list", args=[study.public_id]))
    assert allowed(changes, paid.status_code)

    margins = client.post(page(study, "margins"), {"planned_people": ""})
    assert allowed(changes, margins.status_code)
    pause = reverse("admin:annotation_study_action", args=[study.pk, "pause"])
    assert allowed(changes, client.post(pause).status_code)
    assert (Study.objects.get(pk=study.pk).status == "paused") == changes
    assert allowed(owns, client.post(page(study), {"do": "invite", "role": VIEWER}).status_code)
    assert StudyInvitation.objects.exists() == owns

    answer = client.post(review, {"decision": "accept"})
    assert allowed(decides, answer.status_code)
    submission.refresh_from_db()
    assert (submission.data_decision == DataDecision.ACCEPTED) == decides
    other = make_submission(study)
    client.post(
        reverse("admin:annotation_submission_decide"),
        {"chosen": [other.pk], "decision": "accept", "confirmed": "yes"},
    )
    other.refresh_from_db()
    assert (other.data_decision == DataDecision.ACCEPTED) == decides


def test_reviewers_decide_on_texts_but_do_not_publish_them() -> None:
    study = make_writing_study("ann", "ben", launched=True)
    reviewer, viewer = member(study, REVIEWER), member(study, VIEWER)
    publish = page(study, "publish", "writingstudy")
    for user in (reviewer, viewer):
        client = log_in(user)
        assert client.get(page(study, "adjudication", "writingstudy")).status_code == 200
        assert client.get(page(study, "colleagues", "writingstudy")).status_code == 200
        assert client.post(publish).status_code == 403
    undo = reverse("admin:annotation_writingstudy_undo", args=[study.pk, "text-000"])
    assert log_in(viewer).post(undo).status_code == 403
    assert log_in(reviewer).post(undo).status_code != 403


def test_a_link_gives_its_role_once(study: Study, alice: User, charlie: User) -> None:
    made = log_in(alice).post(page(study), {"do": "invite", "role": REVIEWER})
    (address,) = re.findall(r"https?://[^/]+(/\S+?)</code>", made.content.decode())
    token = address.rstrip("/").rsplit("/", 1)[1]
    assert "no-store" in made["Cache-Control"]
    # Neither the page afterwards, nor the database, nor the log holds the link.
    assert token not in log_in(alice).get(page(study)).content.decode()
    assert token not in str(list(StudyInvitation.objects.values()))
    assert token not in str(list(AuditEntry.objects.values()))

    client = log_in(charlie)
    assert client.get(page(study)).status_code == 404
    asked = client.get(address).content.decode()
    assert "Work on “Group ratings, spring”?" in asked
    assert not StudyMembership.objects.exists()
    assert client.post(address)["Location"] == page(study, "overview")
    assert StudyMembership.objects.get().role == REVIEWER
    again = log_in(member(study, NOBODY))
    assert again.get(address).status_code == 404
    again.post(address)
    assert StudyMembership.objects.count() == 1
    details = list(AuditEntry.objects.filter(study=study).values_list("actor", "detail"))
    assert ("alice", "reviewer, link made") in details
    assert ("charlie", "reviewer, given") in details


def test_links_that_are_old_or_taken_back_open_nothing(
    study: Study, alice: User, charlie: User
) -> None:
    invitation, old = invite_colleague(study=study, role=VIEWER, invited_by=alice)
    StudyInvitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    _revoked, token = invite_colleague(study=study, role=VIEWER, invited_by=alice)
    client = log_in(alice)
    shown = client.get(page(study)).context["invitations"]
    assert [one.pk for one in shown] == [_revoked.pk]
    elsewhere = make_study(owner=charlie)
    stolen = log_in(charlie).post(page(elsewhere), {"do": "revoke", "key": _revoked.pk})
    assert stolen.status_code == 404
    client.post(page(study), {"do": "revoke", "key": _revoked.pk})
    for secret in (old, token, "nothing"):
        with pytest.raises(ValidationError, match="used, taken back or is too old"):
            accept_invitation(token=secret, user=charlie)
    guest = User.objects.create_user("guest")
    with pytest.raises(ValidationError, match="not a researcher"):
        accept_invitation(token=old, user=guest)
    with pytest.raises(ValidationError, match="Choose one of the roles"):
        invite_colleague(study=study, role="boss", invited_by=alice)
    assert invitation.study == study


def test_a_link_takes_nothing_away(study: Study, alice: User, ed: User) -> None:
    for user, role in ((ed, VIEWER), (alice, VIEWER)):
        _made, token = invite_colleague(study=study, role=role, invited_by=alice)
        accept_invitation(token=token, user=user)
    assert StudyMembership.objects.get().role == EDITOR
    _made, token = invite_colleague(study=study, role=OWNER, invited_by=alice)
    accept_invitation(token=token, user=ed)
    assert StudyMembership.objects.get().role == OWNER


def test_owners_change_roles_and_take_access_away(study: Study, alice: User, bob: User) -> None:
    client, key = log_in(alice), StudyMembership.objects.get().pk
    client.post(page(study), {"do": "role", "key": key, "role": EDITOR})
    assert study.is_changeable_by(bob)
    answer = client.post(page(study), {"do": "role", "key": key, "role": "boss"}, follow=True)
    assert "Choose one of the roles." in answer.content.decode()
    client.post(page(study), {"do": "remove", "key": key})
    assert not study.is_visible_to(bob)
    assert client.post(page(study), {"do": "remove", "key": "x"}).status_code == 404
    details = AuditEntry.objects.filter(study=study, actor="alice").values_list("detail", flat=True)
    assert {"editor, changed", "editor, taken away"} <= set(details)


def test_removal_ends_sessions_tokens_share_links_and_older_invitations_at_once(
    study: Study, alice: User, bob: User, charlie: User
) -> None:
    """Neither a link made by a removed colleague nor one made for them lets anybody return."""
    StudyMembership.objects.update(role=OWNER)
    # Made by bob and by alice, for whoever opens them.
    secrets = [invite_colleague(study=study, role=VIEWER, invited_by=by)[1] for by in (bob, alice)]
    _token, key = create_token(user=bob, name="export", scopes=("read",))
    api = Client(headers={"authorization": f"Token {key}"})
    members = f"/api/v1/studies/{study.public_id}/members/"
    report = Report.objects.create(
        kind="dataset", title="All of it", study=study, status="final", result={}
    )
    shared = share_report(report=report, created_by=bob, days=3).rsplit("/", 2)[1]
    session = log_in(bob)
    assert session.get(page(study)).status_code == api.get(members).status_code == 200
    assert find_share(shared) is not None

    gone = {"do": "remove", "key": StudyMembership.objects.get().pk}
    answer = log_in(alice).post(page(study), gone, follow=True)
    assert "2 links that were not used yet no longer work." in answer.content.decode()
    assert session.get(page(study)).status_code == api.get(members).status_code == 404
    assert find_share(shared) is None
    for secret in secrets:
        for user in (bob, charlie):
            with pytest.raises(ValidationError, match="used, taken back or is too old"):
                accept_invitation(token=secret, user=user)


def test_a_link_ends_when_its_maker_may_no_longer_invite(
    study: Study, alice: User, bob: User, charlie: User
) -> None:
    place = StudyMembership.objects.get()
    change_role(place=place, role=OWNER)
    _made, secret = invite_colleague(study=study, role=OWNER, invited_by=bob)
    change_role(place=place, role=EDITOR)
    address = reverse("admin:annotation_study_join", args=[secret])
    assert log_in(charlie).get(address).status_code == 404
    with pytest.raises(ValidationError, match="used, taken back or is too old"):
        accept_invitation(token=secret, user=charlie)


def test_a_study_that_is_over_keeps_its_colleagues(study: Study, bob: User) -> None:
    close_study(study=study)
    assert log_in(bob).get(page(study)).status_code == 200
    assert Submission.objects.visible_to(bob).count() == 0
