"""Accounts on their own page: name, e-mail, one choice, a link to sign in, and an end."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from django.urls import reverse

from annotation.models import MembershipRole, Study
from annotation.studies.colleagues import invite_colleague
from annotation.studies.invitation_links import find_link
from stereoscope.api_authentication import create_token, find_token
from tests.annotation.researcher.conftest import log_in
from tests.annotation.studies.people import make_study, make_user

pytestmark = pytest.mark.django_db
ADD, PASSWORD = "admin:auth_user_add", "quiet river stones"
GALLERY = "admin:annotation_study_gallery"


@pytest.fixture
def root() -> Client:
    return log_in(make_user("root", is_superuser=True))


def change(user: User, **sent: str) -> dict[str, str]:
    return {"username": user.username, "email": user.email, **sent}


def press(client: Client, user: User, button: str) -> str:
    """Press a button of an account's page and return what comes next."""
    address = reverse("admin:auth_user_access", args=[user.pk])
    return client.post(address, {"do": button}, follow=True).content.decode()


def test_an_account_is_name_address_and_one_choice(root: Client) -> None:
    page = root.get(reverse(ADD)).content.decode()
    names = set(re.findall(r'name="(\w+)"', page.split('id="user_form"')[1]))
    assert {"username", "email", "rights"} <= names
    assert not names & {"password", "password1", "user_permissions", "groups", "is_staff"}
    sent = {"username": "m.chen", "email": "chen@example.org", "rights": "creates"}
    told = root.post(reverse(ADD), sent, follow=True).content.decode()
    assert "m.chen has an account." in told
    user = User.objects.get(username="m.chen")
    assert (user.is_staff, user.has_usable_password()) == (True, False)
    assert user.has_perm("annotation.export_payments")
    assert log_in(user).get(reverse(GALLERY)).status_code == 200

    address = reverse("admin:auth_user_change", args=[user.pk])
    root.post(address, change(user, rights="shared"))
    user = User.objects.get(pk=user.pk)
    assert not user.get_all_permissions()
    client = log_in(user)
    for name in (
        GALLERY,
        "admin:annotation_writingstudy_add",
        "admin:annotation_judgmentstudy_add",
    ):
        assert client.get(reverse(name)).status_code == 403
    overview = client.get(reverse("admin:index")).content.decode()
    assert "New study" not in overview
    assert "Your account sees the studies that others share with it." in overview


def test_other_fields_leave_permissions_alone(root: Client) -> None:
    user = make_user("own-mix")
    root.post(reverse("admin:auth_user_change", args=[user.pk]), change(user, rights="creates"))
    before = User.objects.get(pk=user.pk).get_all_permissions()
    sent = change(user, email="new@example.org", rights="creates")
    root.post(reverse("admin:auth_user_change", args=[user.pk]), sent)
    after = User.objects.get(pk=user.pk)
    assert (after.email, after.get_all_permissions()) == ("new@example.org", before)


def test_a_link_signs_in_once_with_a_password_of_ones_own(root: Client) -> None:
    user = make_user("linked")
    shown = press(root, user, "link")
    (link,) = re.findall(r'id="sign-in-link">https?://[^/]+(/\S+?)</code>', shown)
    client = Client()
    form = client.get(link)
    assert form.status_code == 302
    assert link.rstrip("/").rsplit("/", 1)[1] not in form["Location"]
    wrong = {"new_password1": PASSWORD, "new_password2": "another"}
    assert client.post(form["Location"], wrong).status_code == 422
    sent = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    overview = client.post(form["Location"], sent, follow=True)
    assert overview.redirect_chain[-1][0] == reverse("admin:index")
    assert "turn on a second factor" in overview.content.decode()
    assert User.objects.get(pk=user.pk).check_password(PASSWORD)
    assert Client().get(link).status_code == 404


def test_a_link_goes_to_the_address_where_there_is_a_mail_server(root: Client, settings) -> None:  # type: ignore[no-untyped-def]
    settings.EMAIL_HOST = "mail.example.org"
    user = make_user("mailed", email="mailed@example.org")
    shown = press(root, user, "link")
    assert "A link was sent to mailed@example.org." in shown
    (sent,) = mail.outbox
    assert sent.to == ["mailed@example.org"]
    (link,) = re.findall(r"https?://[^/]+(/\S+)", sent.body)
    assert link not in shown
    assert Client().get(link).status_code == 302


def test_deactivation_ends_everything_that_an_account_opens(root: Client) -> None:
    user = make_user("leaving")
    study = make_study(owner=user)
    session = log_in(user)
    _token, key = create_token(user=user, name="export")
    _made, secret = invite_colleague(study=study, role=MembershipRole.OWNER, invited_by=user)
    link = re.findall(r'id="sign-in-link">https?://[^/]+(/\S+?)</code>', press(root, user, "link"))
    assert session.get(reverse("admin:index")).status_code == 200

    assert "leaving can no longer sign in." in press(root, user, "deactivate")
    assert "This account is deactivated." in press(root, user, "link")
    assert "leaving can sign in again" in press(root, user, "activate")
    # Nothing from before comes back with it.
    assert session.get(reverse("admin:index")).status_code == 302
    assert find_token(key) is None
    assert find_link(type(_made), secret) is None
    assert Client().get(link[0]).status_code == 404
    assert not User.objects.get(pk=user.pk).has_usable_password()
    assert Study.objects.visible_to(User.objects.get(pk=user.pk)).get() == study


def test_accounts_are_for_administrators(root: Client) -> None:
    user, other = make_user("plain"), make_user("other")
    client = log_in(user)
    for address in (reverse(ADD), reverse("admin:auth_user_changelist")):
        assert client.get(address).status_code == 403
    access = reverse("admin:auth_user_access", args=[other.pk])
    assert client.post(access, {"do": "deactivate"}).status_code == 403
    me = User.objects.get(username="root")
    assert "You cannot deactivate your own account." in press(root, me, "deactivate")
    assert User.objects.filter(is_active=True).count() == 3
