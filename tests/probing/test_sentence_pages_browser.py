"""CEAT in Chromium: a file is chosen once, and the page of its run says why cells lack a score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from probing.models import Run
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.probing.runs.fixtures import one_thread, shared_database  # noqa: F401
from tests.probing.runs.sentence_fixtures import SENTENCES, write_sentences
from tests.probing.test_run_monitor_browser import address, aside, contexts  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.shared, pytest.mark.slow]


def test_a_file_stays_chosen_from_the_preview_to_the_run(
    shared_database: str,  # noqa: F811
    contexts: Any,  # noqa: F811
    checkpoints: Path,
    tmp_path: Path,
) -> None:
    aside(lambda: register_model(location=str(checkpoints / "tiny-bert")))
    page = contexts().new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda one: faults.append(one.text) if one.type == "error" else None)

    page.goto("/admin/probing/run/add/?measure=ceat")
    page.set_input_files("input[name=sentences]", str(write_sentences(tmp_path, "A cold day.")))
    page.get_by_role("button", name="Preview cost").click()
    expect(page.locator(".field-row.wrong")).to_contain_text("This field is required")
    page.get_by_label("Model", exact=True).select_option(label="tiny-bert")
    page.get_by_role("button", name="Preview cost").click()
    expect(page.locator("#preview")).to_contain_text(
        "None of the groups occurs in the 1 sentence of"
    )
    assert not aside(Run.objects.exists)

    page.set_input_files("input[name=sentences]", str(write_sentences(tmp_path)))
    page.get_by_role("button", name="Preview cost").click()
    expect(page.locator("#preview")).to_contain_text("“elderly people” does not occur")
    page.get_by_role("button", name="Create run").click()
    page.wait_for_url("**/change/")
    run = aside(Run.objects.get)
    assert run.stimuli["source"]["name"] == "sentences.txt"
    assert run.stimuli["source"]["n_sentences"] == len(SENTENCES)
    aside(lambda: work(worker="w", run=run))
    page.reload()
    row = page.locator(".scores tbody tr", has_text="elderly people")
    reason = row.locator("td").first.get_attribute("title")
    assert reason == "the group does not occur in the corpus"
    page.get_by_text("Drawn for each word").click()
    # SENTENCES by eye: the man stands in four of them.
    expect(page.locator(".supply tr", has_text="men").first).to_contain_text("4")
    assert faults == []
