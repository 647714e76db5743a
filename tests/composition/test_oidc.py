"""Signing in at a provider of accounts: a real one on the local host, and everything forged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from stereoscope.models import ExternalLogin
from tests.oidc_server import CLIENT_ID, CLIENT_SECRET, Provider, serve_provider

pytestmark = pytest.mark.django_db

HOME = reverse("admin:index")
PASSWORD = "a long pass phrase"


@pytest.fixture
def provider(settings) -> Iterator[Provider]:
    cache.clear()
    with serve_provider() as running:
        settings.OIDC_ISSUER = running.address
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT_ID, CLIENT_SECRET
        settings.OIDC_NAME = "the University"
        running.claims = {"sub": "person-1", "preferred_username": "alice"}
        yield running


@pytest.fixture
def alice() -> User:
    return User.objects.create_user("alice", password=PASSWORD, is_staff=True)


def go(provider: Provider, browser: Client, *, to: str = "") -> tuple[str, str]:
    begun = browser.get(reverse("oidc"), {"next": to} if to else {})
    assert begun.status_code == 302
    assert begun["Location"].startswith(f"{provider.address}/authorize?")
    return provider.sign_in(begun["Location"])


def sign_in(provider: Provider, browser: Client, *, to: str = ""):
    code, state = go(provider, browser, to=to)
    return browser.get(reverse("oidc-finish"), {"code": code, "state": state})


def is_signed_in(browser: Client) -> bool:
    return browser.get(HOME).status_code == 200


def connect(provider: Provider, browser: Client, *, password: str = PASSWORD):
    begun = browser.post(reverse("oidc-connect"), {"password": password})
    if begun.status_code != 302:
        return begun
    code, state = provider.sign_in(begun["Location"])
    return browser.get(reverse("oidc-finish"), {"code": code, "state": state})


@pytest.fixture
def connected(provider, alice) -> User:
    browser = Client()
    browser.force_login(alice)
    assert connect(provider, browser)["Location"] == reverse("security")
    return alice


def test_a_connected_account_is_opened_by_the_providers_own_id(provider, connected) -> None:
    page = Client().get(reverse("admin:login")).content.decode()
    assert "Sign in with the University" in page
    browser = Client()
    there = sign_in(provider, browser, to="/admin/annotation/study/")
    assert (there.status_code, there["Location"]) == (302, "/admin/annotation/study/")
    assert is_signed_in(browser)
    # The person is renamed there, and somebody else is given the name.
    provider.claims = {"sub": "person-1", "preferred_username": "alice-lee"}
    assert sign_in(provider, Client())["Location"] == HOME
    provider.claims = {"sub": "person-2", "preferred_username": "alice"}
    thief = Client()
    assert sign_in(provider, thief).status_code == 403
    assert not is_signed_in(thief)


@pytest.mark.parametrize(
    "names",
    [
        {"preferred_username": "alice"},
        {"preferred_username": "ALICE", "name": "alice", "nickname": "alice"},
        {"email": "alice", "email_verified": True},
    ],
)
def test_no_name_or_address_opens_or_connects_an_account(provider, alice, names) -> None:
    provider.claims = {"sub": "person-1", **names}
    browser = Client()
    assert sign_in(provider, browser).status_code == 403
    assert not is_signed_in(browser)
    assert (User.objects.count(), ExternalLogin.objects.count()) == (1, 0)


def test_an_id_of_another_issuer_opens_nothing(provider, connected) -> None:
    ExternalLogin.objects.update(issuer="https://another.example")
    assert sign_in(provider, Client()).status_code == 403


def test_a_deactivated_account_is_not_opened(provider, connected) -> None:
    User.objects.update(is_active=False)
    assert sign_in(provider, Client()).status_code == 403


def test_to_connect_takes_the_password_and_a_sign_in(provider, alice) -> None:
    browser = Client()
    refused = browser.post(reverse("oidc-connect"), {"password": PASSWORD})
    assert refused["Location"].startswith("/admin/login/")
    browser.force_login(alice)
    assert connect(provider, browser, password="wrong").status_code == 403
    assert not ExternalLogin.objects.exists()
    assert "Connect it to sign in there" in browser.get(reverse("security")).content.decode()
    connect(provider, browser)
    assert "you can sign in there" in browser.get(reverse("security")).content.decode()
    browser.post(reverse("oidc-connect"), {"do": "disconnect"})
    assert sign_in(provider, Client()).status_code == 403


def test_one_person_at_the_provider_opens_one_account(provider, connected) -> None:
    other = Client()
    other.force_login(User.objects.create_user("bob", password=PASSWORD))
    assert connect(provider, other).status_code == 403
    assert ExternalLogin.objects.get().user == connected


def test_what_one_account_began_connects_no_other(provider, alice) -> None:
    browser = Client()
    browser.force_login(alice)
    begun = browser.post(reverse("oidc-connect"), {"password": PASSWORD})
    code, state = provider.sign_in(begun["Location"])
    kept = browser.session["oidc"]
    browser.force_login(User.objects.create_user("bob", password=PASSWORD))
    session = browser.session
    session["oidc"] = kept
    session.save()
    answer = browser.get(reverse("oidc-finish"), {"code": code, "state": state})
    assert answer.status_code == 403
    assert not ExternalLogin.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"aud": "another site"},
        {"iss": "https://another.example"},
        {"nonce": "of another sign-in"},
        {"exp": 1},
    ],
)
def test_tokens_for_others_are_refused(provider, alice, changes) -> None:
    provider.changes = changes
    browser = Client()
    assert sign_in(provider, browser).status_code == 502
    assert not is_signed_in(browser)


def test_a_token_signed_by_somebody_else_is_refused(provider, alice) -> None:
    provider.signing_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    assert sign_in(provider, Client()).status_code == 502


def test_a_sign_in_comes_back_once_to_the_browser_that_began_it(provider, connected) -> None:
    browser, other = Client(), Client()
    code, state = go(provider, browser)
    back = reverse("oidc-finish")
    assert other.get(back, {"code": code, "state": state}).status_code == 403
    assert browser.get(back, {"code": code, "state": "another"}).status_code == 403
    assert browser.get(back, {"code": code, "state": state}).status_code == 403  # used up
    elsewhere = sign_in(provider, Client(), to="https://evil.example/")
    assert elsewhere["Location"] == HOME


def test_a_provider_that_is_away_is_said_so(provider, settings, alice) -> None:
    settings.OIDC_ISSUER = "http://127.0.0.1:9"
    assert Client().get(reverse("oidc")).status_code == 502


def test_without_a_provider_there_is_no_such_page() -> None:
    assert Client().get(reverse("oidc")).status_code == 404
    assert "Sign in with" not in Client().get(reverse("admin:login")).content.decode()
