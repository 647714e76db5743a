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
    return User.objects.create_user("alice", is_staff=True)


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


def test_an_account_is_opened_and_bound_to_the_providers_id(provider, alice) -> None:
    page = Client().get(reverse("admin:login")).content.decode()
    assert "Sign in with the University" in page
    browser = Client()
    there = sign_in(provider, browser, to="/admin/annotation/study/")
    assert (there.status_code, there["Location"]) == (302, "/admin/annotation/study/")
    assert is_signed_in(browser)
    assert ExternalLogin.objects.get().user == alice
    # The person is renamed there, and somebody else is given the name.
    provider.claims = {"sub": "person-1", "preferred_username": "alice-lee"}
    assert sign_in(provider, Client())["Location"] == HOME
    provider.claims = {"sub": "person-2", "preferred_username": "alice"}
    thief = Client()
    assert sign_in(provider, thief).status_code == 403
    assert not is_signed_in(thief)


def test_nobody_without_an_active_account_gets_in_and_none_is_made(provider, alice) -> None:
    provider.claims = {"sub": "person-3", "preferred_username": "mallory"}
    assert sign_in(provider, Client()).status_code == 403
    alice.is_active = False
    alice.save()
    provider.claims = {"sub": "person-1", "preferred_username": "alice"}
    assert sign_in(provider, Client()).status_code == 403
    assert (User.objects.count(), ExternalLogin.objects.count()) == (1, 0)


@pytest.mark.parametrize("name", ["ALICE", "Alice"])
def test_a_name_in_other_letters_opens_no_account(provider, alice, name) -> None:
    User.objects.filter(pk=alice.pk).update(username=name)
    browser = Client()
    sign_in(provider, browser)
    assert not is_signed_in(browser)


def test_an_administrator_is_bound_by_no_name_that_somebody_chose(provider, alice) -> None:
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    browser = Client()
    assert sign_in(provider, browser).status_code == 403
    assert not is_signed_in(browser)
    assert not ExternalLogin.objects.exists()


def test_an_address_counts_only_where_the_provider_has_verified_it(provider, settings) -> None:
    settings.OIDC_ACCOUNT_CLAIM = "email"
    User.objects.create_user("alice@example.org", is_staff=True)
    provider.claims = {"sub": "person-1", "email": "alice@example.org"}
    assert sign_in(provider, Client()).status_code == 403
    provider.claims["email_verified"] = True
    assert sign_in(provider, Client()).status_code == 302


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


def test_a_sign_in_comes_back_once_to_the_browser_that_began_it(provider, alice) -> None:
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
