"""Being logged in with accounts that a test made on the running platform."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.test import override_settings
from django.urls import reverse
from playwright.sync_api import Page

from tests.annotation.annotators.people import PASSWORD
from tests.web_server import SECRET_KEY


def log_in_annotator(page: Page, site: str, name: str) -> None:
    """Open the studies of an annotator who has logged in."""
    keep_session(page, site, name)
    page.goto(site + reverse("annotators:home"))


def log_in_researcher(page: Page, site: str, name: str) -> None:
    """Open the overview of a researcher who has logged in."""
    keep_session(page, site, name)
    page.goto(site + reverse("admin:index"))


def sign_in(page: Page, site: str, name: str) -> None:
    """Send the form of a researcher who signs in, as far as its password leads."""
    # The server hashes passwords as in production, unlike the tests' own settings.
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "pepper")
    User.objects.filter(username=name).update(password=hashed)
    page.goto(site + reverse("admin:login"))
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    with page.expect_navigation():
        page.locator("[name=password]").press("Enter")


def keep_session(page: Page, site: str, name: str) -> None:
    """Give the browser a session of the account on the running platform.

    Passwords cost a second of computing each time, on purpose; the form itself is tested where
    people come in: by `test_main_job`, `test_researcher` and `test_writing`.
    """
    user = User.objects.get(username=name)
    session = SessionStore()
    with override_settings(SECRET_KEY=SECRET_KEY):  # of the server, which signs sessions
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
    page.context.add_cookies(
        [{"name": settings.SESSION_COOKIE_NAME, "value": session.session_key or "", "url": site}]
    )
