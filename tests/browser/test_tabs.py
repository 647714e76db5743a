"""On a phone the tabs of a study are wider than the window: the open one is in view."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, expect

from tests.annotation.studies.people import make_study
from tests.browser.accounts import log_in_researcher
from tests.browser.survey_visitor import PHONE, open_context

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.mark.parametrize("page_name", ["overview", "money", "history"])
def test_the_open_tab_is_in_view_on_a_phone(chromium: Browser, site: str, page_name: str) -> None:
    owner = User.objects.create_superuser(f"root-{page_name}")
    study = make_study(owner=owner)
    context = open_context(chromium, "touch")
    page = context.new_page()
    log_in_researcher(page, site, owner.username)
    page.goto(site + reverse(f"admin:annotation_study_{page_name}", args=[study.pk]))
    open_tab = page.locator('.page-tabs [aria-current="page"]')
    expect(open_tab).to_be_in_viewport(ratio=1)
    box = open_tab.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]
