"""The audit log: who viewed, exported, decided, changed or gave access; read by owners alone.

alice owns the study, bob edits it, charlie is an outsider.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import cache
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse
from rest_framework.test import APIClient

from annotation.audit.record import record
from annotation.models import AuditAction, AuditEntry, MembershipRole, Study, Submission
from annotation.models.audit import AppendOnly
from annotation.panels.action_plan import propose_rewards, store_plan
from annotation.studies.lifecycle import pause_study
from annotation.studies.review_service import review_submission
from stereoscope.audit import ACTIONS
from tests.annotation.survey.conftest import make_person, make_study  # noqa: F401

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    cache.clear()
    return make_user("alice")


def make_user(name: str) -> User:
    user = User.objects.create_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="annotation"))
    return user


@pytest.fixture
def study(alice, make_study, make_person) -> Study:  # noqa: F811
    study = make_study(owner=alice)
    person = make_person()
    person.start(study.get_absolute_url())
    person.go_on()
    return study


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def said(study: Study, action: str) -> list[tuple[str, str, str]]:
    entries = AuditEntry.objects.filter(study=study, action=action).order_by("pk")
    return list(entries.values_list("actor", "target", "detail"))


def test_looking_and_exporting_are_logged(study, alice) -> None:
    submission = Submission.objects.get()
    browser = signed_in(alice)
    for _ in range(2):  # read twice, logged once
        page = reverse("admin:annotation_submission_review", args=[submission.pk])
        assert browser.get(page).status_code == 200
    export = reverse("admin:annotation_study_export", args=[study.pk, "ratings.csv"])
    assert browser.get(export).status_code == 200
    refused = reverse("admin:annotation_study_export", args=[study.pk, "unknown.csv"])
    assert browser.get(refused).status_code == 404
    api = APIClient()
    api.force_authenticate(alice)
    api.force_login(alice)
    assert api.get(f"/api/v1/studies/{study.public_id}/ratings/").status_code == 200
    assert said(study, "viewed") == [
        ("alice", f"S-{submission.public_id}", ""),
        ("alice", "study rating list", ""),
    ]
    assert said(study, "exported") == [("alice", "ratings.csv", "")]


#: Files and lists that hold nothing of people: the library, and who works on a study.
NOT_OF_PEOPLE = re.compile(
    r"admin:(annotation_(socialgroup|traitpair)|probing_(template|wordlist))_export"
    r"|api:study-(list|member-list|invitation-list|writing-task-list)"
)


def test_every_address_that_gives_peoples_data_out_is_in_the_log() -> None:
    """By its name: a file or an export of the admin or the API, or the rows of a study."""
    gives = re.compile(
        r"^(admin|api):.*(_export|_money_file|-csv|-file|-files)$|^api:study-.*list$|^reports:file$"
    )
    names = {name for name in list_names(get_resolver()) if gives.search(name)}
    assert len(names) > 15
    assert {name for name in names if not NOT_OF_PEOPLE.fullmatch(name)} - {*ACTIONS} == set()


def list_names(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for one in resolver.url_patterns:
        if isinstance(one, URLResolver):
            yield from list_names(one, f"{before}{one.namespace}:" if one.namespace else before)
        elif one.name:
            yield before + one.name


def test_decisions_and_payments_are_logged_with_who_made_them(study, alice) -> None:
    submission = Submission.objects.get()
    review_submission(
        submission=submission,
        reviewer=alice,
        data_decision="accepted",
        pay_decision="approved",
        reason="Wrote “my neighbor Ann”.",
    )
    assert said(study, "decided") == [
        ("alice", f"S-{submission.public_id}", "data accepted, pay approved")
    ]
    found = propose_rewards(study).fingerprint
    store_plan(study=study, propose=propose_rewards, fingerprint=found, planned_by=alice)
    ((actor, kinds, detail),) = said(study, "paid")
    assert (actor, kinds) == ("alice", "approve")
    assert detail.startswith("1 people, 200 USD")


def test_changes_and_access_are_logged_by_name_never_by_value(study, alice) -> None:
    bob = make_user("bob")
    browser = signed_in(alice)
    browser.post(reverse("admin:annotation_study_action", args=[study.pk, "pause"]))
    assert said(study, "changed")[-1] == ("alice", "study", "changed, status")
    membership = study.memberships.create(user=bob, role=MembershipRole.EDITOR)
    membership.delete()
    assert [entry[1:] for entry in said(study, "access")] == [
        ("account bob", "editor, given"),
        ("account bob", "editor, taken away"),
    ]
    study.refresh_from_db()
    study.owner, study._history_user = bob, alice
    study.save()
    assert said(study, "access")[-1] == ("alice", "study", "changed, owner")
    bob.is_superuser = True
    bob.save()
    rights = AuditEntry.objects.filter(action="access", study=None).order_by("-pk")
    assert rights.first().detail == "changed, active, staff, superuser"
    probers = Group.objects.create(name="probers")
    probers.permissions.add(Permission.objects.get(codename="view_run"))
    bob.groups.add(probers)
    bob.user_permissions.clear()
    assert list(rights.values_list("target", "detail")[:3]) == [
        ("account bob", "rights, clear"),
        ("account bob", "rights, add"),
        ("group of accounts probers", "rights, add"),
    ]
    assert AuditEntry.objects.filter(action="signed_in", actor="alice").count() == 1


def test_what_the_platform_does_by_itself_is_nobodys_change(study) -> None:
    before = AuditEntry.objects.count()
    pause_study(study=study)
    assert AuditEntry.objects.count() == before


def test_only_owners_and_superusers_read_the_log(study, alice) -> None:
    address = reverse("admin:annotation_study_audit", args=[study.pk])
    bob = make_user("bob")
    study.memberships.create(user=bob, role=MembershipRole.EDITOR)
    boss = User.objects.create_superuser("boss")
    assert signed_in(bob).get(address).status_code == 403
    assert signed_in(make_user("charlie")).get(address).status_code == 404
    for reader in (alice, boss):
        page = signed_in(reader).get(address, {"action": "access"}).content.decode()
        assert "account bob" in page
    history = reverse("admin:annotation_study_history", args=[study.pk])
    assert address in signed_in(alice).get(history).content.decode()
    assert address not in signed_in(bob).get(history).content.decode()
    # The rows themselves, whatever page asks for them.
    elsewhere = Study.objects.create(title="Another", contact_email="a@b.org", owner=bob)
    record(AuditAction.VIEWED, "study", study=elsewhere)
    readable = {
        reader.username: set(AuditEntry.objects.readable_by(reader).values_list("study", flat=True))
        for reader in (alice, bob, boss)
    }
    assert readable == {
        "alice": {study.pk},
        "bob": {elsewhere.pk},
        "boss": {study.pk, elsewhere.pk, None},
    }
    file = signed_in(alice).get(address, {"csv": ""})
    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode())))
    assert {row["actor"] for row in rows} <= {"alice", ""}
    assert "account bob" in {row["target"] for row in rows}


def test_entries_are_never_changed_nor_removed(study) -> None:
    entry = AuditEntry.objects.first()
    for attempt in (
        entry.save,
        entry.delete,
        AuditEntry.objects.all().delete,
        lambda: AuditEntry.objects.update(actor="somebody else"),
    ):
        with pytest.raises(AppendOnly):
            attempt()
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE annotation_auditentry SET actor = 'somebody else'")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM annotation_auditentry")
    entry.refresh_from_db()
    assert entry.actor != "somebody else"


def test_a_page_that_nobody_logs_does_not_ask_who_is_signed_in(study) -> None:
    page = Client().get(study.get_absolute_url())
    assert page.status_code == 200
    assert "Cookie" not in page["Vary"]
