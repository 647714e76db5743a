"""Prompts and runs on texts in Chromium: from a wording to the counterparts that it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.models import Corpus
from probing.models import Prompt, Run
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.probing.runs.fixtures import one_thread, shared_database  # noqa: F401
from tests.probing.runs.text_fixtures import PAIRS, corpus  # noqa: F401
from tests.probing.test_run_monitor_browser import address, aside, contexts  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.shared, pytest.mark.slow]


def test_a_prompt_is_previewed_while_it_is_written_and_used_in_a_run(
    shared_database: str,  # noqa: F811
    corpus: Corpus,  # noqa: F811
    contexts: Any,  # noqa: F811
    checkpoints: Path,
) -> None:
    aside(lambda: register_model(location=str(checkpoints / "tiny-t5")))
    page = contexts().new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda one: faults.append(one.text) if one.type == "error" else None)

    page.goto("/admin/probing/prompt/add/")
    page.get_by_label("Slug").fill("ask")
    page.get_by_label("Text").fill("{{In}} {target}: {text}")
    page.get_by_label("Names of the varieties").fill("WME: plain {text} English")
    shown = page.locator("[data-prompt-shown]")
    expect(shown.first).to_have_text("{In} plain {text} English: they be talkin on the phone")
    expect(shown.last).to_have_text("{In} AAL: they are usually talking on the phone")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url("**/admin/probing/prompt/")
    assert aside(lambda: Prompt.objects.get(slug="ask").variety_names) == {
        "WME": "plain {text} English"
    }

    page.goto("/admin/probing/run/add/?measure=counterpart_generation")
    page.get_by_label("Model", exact=True).select_option(label="tiny-t5")
    page.get_by_label("Corpus", exact=True).select_option(label=corpus.name)
    page.get_by_label("ask: ").check()
    page.get_by_label("Most tokens written").fill("5")
    page.get_by_role("button", name="Preview cost").click()
    page.get_by_label("blogs (2 pairs)").check()
    page.get_by_role("button", name="Create run").click()
    page.wait_for_url("**/change/")
    run = aside(Run.objects.get)
    aside(lambda: work(worker="w", run=run))
    page.reload()
    page.get_by_role("link", name="All counterparts").click()
    expect(page.locator(".counterpart-lines > li")).to_have_count(4)
    page.get_by_label("Words in the texts").fill(PAIRS[3][0])
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".counterpart-lines > li")).to_have_count(1)
    assert faults == []
