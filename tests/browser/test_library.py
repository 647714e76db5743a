"""A researcher in Chromium adds groups: by hand with proposed forms, then from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Browser, Page, expect

from annotation.models import SocialGroup
from tests.browser.test_corpora import log_in, scrolls_sideways

pytestmark = pytest.mark.browser


def field(page: Page, name: str):
    return page.locator(f"#id_{name}")


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1280)])
def test_groups_come_into_the_library(
    site: str, chromium: Browser, tmp_path: Path, scheme: str, width: int
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    context.set_default_timeout(20_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    log_in(page, site, f"alice-library-{width}")

    # By hand: everything follows from the singular, and what a person typed stays.
    page.goto(site + reverse("admin:annotation_socialgroup_add"))
    field(page, "singular").press_sequentially(f"swedish{width} person")
    expect(field(page, "plural")).to_have_value(f"swedish{width} people")
    expect(field(page, "plural_capitalised")).to_have_value(f"Swedish{width} people")
    expect(field(page, "modifier")).to_have_value(f"swedish{width}")
    expect(field(page, "slug")).to_have_value(f"swedish{width}")
    field(page, "plural").fill("Swedes")
    check = page.locator("[data-form-check]")
    expect(check).to_contain_text("All Swedes are …")
    expect(check).to_contain_text("“Swedes” may not be the plural")
    field(page, "singular").fill("asian person")
    expect(field(page, "slug")).to_have_value("asian")
    expect(field(page, "plural")).to_have_value("Swedes")
    expect(check).to_contain_text("“asian” is written with a capital, “Asian”.")
    field(page, "singular").fill(f"Swede{width}")
    field(page, "plural").fill("")
    expect(field(page, "plural")).to_have_value(f"Swede{width}s")
    assert not scrolls_sideways(page)
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(site + reverse("admin:annotation_socialgroup_changelist"))
    assert SocialGroup.objects.get(slug=f"swede{width}").plural == f"Swede{width}s"

    # From a file: a preview of every row, then the import without choosing the file again.
    page.get_by_role("link", name="Import from a file").click()
    file = tmp_path / "groups.csv"
    file.write_text(
        "slug,singular,plural,sets\n"
        f"nurse-{width},nurse,nurses,mine\nbad-{width},asian man,asian men,\n",
        encoding="utf-8",
    )
    page.locator("input[type=file]").set_input_files(file)
    with page.expect_navigation():
        page.get_by_role("button", name="Preview").click()
    page.get_by_text("1 place is bad.").wait_for()
    expect(page.locator("button[name=import]")).to_have_count(0)
    assert not scrolls_sideways(page)
    page.get_by_label("Leave out bad rows").check()
    page.get_by_role("button", name="Preview again").click()
    page.locator("button[name=import]").click()
    page.get_by_text("Imported: Groups, 1 added, 0 changed, 0 unchanged").wait_for()
    assert SocialGroup.objects.get(slug=f"nurse-{width}").sets.get().slug == "mine"

    # What models read of it.
    page.goto(site + reverse("admin:probing_template_changelist"))
    page.get_by_role("link", name="Read the sentences").click()
    page.get_by_label("Cao et al. (2022), Table 4 (34)").check()
    page.get_by_role("button", name="Show the sentences").click()
    expect(page.locator("mark", has_text="A elderly person is")).to_be_visible()
    assert not scrolls_sideways(page)
    assert not complaints
    context.close()
