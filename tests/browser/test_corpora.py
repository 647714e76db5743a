"""A researcher in Chromium brings a corpus in: sees bad rows, mends the file, reads the texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse

from annotation.models import Corpus
from tests.annotation.studies.people import make_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PASSWORD = "a long pass phrase"  # of tests.annotation.studies.people.make_user
GOOD = "id,AAL,WME,source\na,He be late,He is usually late,CORAAL\n"


def scrolls_sideways(page) -> bool:
    return page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_corpus_comes_in_on_a_phone(chromium, live_server, tmp_path: Path, scheme: str) -> None:
    make_user("alice")
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(20_000)
    page = context.new_page()
    page.goto(live_server.url + reverse("admin:login"))
    page.fill("input[name=username]", "alice")
    page.fill("input[name=password]", PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(live_server.url + reverse("admin:index"))

    page.goto(live_server.url + reverse("admin:annotation_corpus_changelist"))
    page.get_by_role("link", name="Import a corpus").click()
    file = tmp_path / "pairs.csv"
    file.write_text(f"{GOOD}b,They gone,,CORAAL\n", encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Name").fill("Small pairs")
    page.get_by_label("Licence").fill("CC0")
    page.get_by_role("button", name="Import corpus").click()
    page.get_by_text("Nothing was imported: 1 of 2 rows are bad.").wait_for()
    assert "unpaired" in page.get_by_role("row", name="3 “WME” is empty").inner_text()
    assert not scrolls_sideways(page)
    assert not Corpus.objects.exists()

    file.write_text(GOOD, encoding="utf-8")
    page.locator("input[type=file]").set_input_files(file)
    # The theme's script shows a chosen file's name; it must not get into the corpus's own.
    assert page.get_by_label("Name").input_value() == "Small pairs"
    page.get_by_role("button", name="Import corpus").click()
    page.get_by_text("2 texts and 1 pairs are in “Small pairs”").wait_for()
    assert not scrolls_sideways(page)

    page.get_by_role("link", name="Texts", exact=True).click()
    assert page.locator("mark").inner_text() == "be"
    page.get_by_label("Words in the text").fill("nothing of it")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("No text fits this search.").wait_for()
    assert not scrolls_sideways(page)
    context.close()
