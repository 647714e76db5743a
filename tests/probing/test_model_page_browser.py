"""A model's page in Chromium: its certificate and measures, on a phone and by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from probing.models import LanguageModel
from probing.runs.certificates import read_certificate
from probing.runs.language_models import register_model
from tests.browser.axe import find_violations
from tests.probing.runs.fixtures import shared_database  # noqa: F401
from tests.probing.test_run_monitor_browser import address, aside, contexts  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.shared, pytest.mark.slow]


@pytest.fixture
def model(shared_database: str, checkpoints: Path) -> LanguageModel:  # noqa: F811
    return register_model(location=str(checkpoints / "tiny-bert"), name="Example")


@pytest.mark.parametrize("width", [1280, 360])
def test_a_models_page_shows_its_certificate_and_measures(
    model: LanguageModel,
    contexts: Any,  # noqa: F811
    width: int,
) -> None:
    page = contexts(viewport={"width": width, "height": 900}, bypass_csp=True).new_page()
    page.goto(reverse("admin:probing_languagemodel_change", args=[model.pk]))
    certificate = page.get_by_role("table").filter(has_text="Batches")
    batches = certificate.get_by_role("row").filter(has_text="Batches")
    expect(batches.get_by_text("Passed")).to_be_in_viewport(ratio=1)
    measures = page.get_by_role("table").filter(has_text="Can it?")
    expect(measures.get_by_role("row").filter(has_text="SeT")).to_contain_text("Yes")
    expect(measures.get_by_role("row").filter(has_text="Direct rating")).to_contain_text("masked")
    wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wider <= 0
    assert find_violations(page) == []
    page.set_viewport_size({"width": width, "height": 900})

    before = aside(lambda: read_certificate(LanguageModel.objects.get(pk=model.pk)))
    page.get_by_role("button", name="Test again").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The model has been tested.")).to_be_visible()
    after = aside(lambda: read_certificate(LanguageModel.objects.get(pk=model.pk)))
    assert before is not None
    assert after is not None
    assert after.made_at > before.made_at

    page.get_by_role("link", name="New run").click()
    chosen = page.get_by_label("Model").first
    expect(chosen).to_have_value(str(model.pk))
