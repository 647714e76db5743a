"""Logging in with accounts that a test made on the running platform."""

from __future__ import annotations

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Page

from tests.annotation.annotators.people import PASSWORD


def log_in_annotator(page: Page, site: str, name: str) -> None:
    _log_in(page, site + reverse("annotators:login"), name)


def log_in_researcher(page: Page, site: str, name: str) -> None:
    _log_in(page, site + reverse("admin:login"), name)


def _log_in(page: Page, address: str, name: str) -> None:
    # The server hashes passwords as in production, unlike the tests' own settings.
    hashed = PBKDF2PasswordHasher().encode(PASSWORD, "pepper")
    User.objects.filter(username=name).update(password=hashed)
    page.goto(address)
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    with page.expect_navigation():
        page.locator("[name=password]").press("Enter")
