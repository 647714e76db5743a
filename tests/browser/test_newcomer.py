"""A newcomer's first hour, from the log-in to a pilot; and the page that tells it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from playwright.sync_api import Browser, Page

from annotation.models import Study
from tests.annotation.annotators.people import PASSWORD
from tests.annotation.survey.media import picture
from tests.browser import newcomer
from tests.browser.newcomer import GROUPS, SCALES, STEPS, Newcomer, create_newcomer
from tests.browser.survey_visitor import open_context
from tools.screens.first_study import FOLDER, MOST_BYTES

DOCS = Path(__file__).parents[2] / "docs"
MOST_ACTIONS = 60


@pytest.mark.browser
@pytest.mark.slow
def test_a_newcomer_pilots_a_study_of_their_own_in_sixty_actions(
    chromium: Browser, site: str, tmp_path: Path
) -> None:
    user = create_newcomer()
    # The server hashes passwords as in production, unlike the tests' own settings.
    user.password = PBKDF2PasswordHasher().encode(PASSWORD, "pepper")
    user.save()
    (tmp_path / "bread.png").write_bytes(picture())
    taken: list[str] = []

    def take(_page: Page, name: str) -> None:
        taken.append(name)

    page = open_context(chromium).new_page()
    walk = Newcomer(page, site, tmp_path / "bread.png", take)
    walk.walk(user.username, PASSWORD)
    assert walk.actions <= MOST_ACTIONS
    assert tuple(taken) == STEPS

    study = Study.objects.get(owner=user)
    instrument = study.instruments.get()
    assert (study.status, instrument.is_frozen) == ("piloting", True)
    assert set(instrument.groups.values_list("plural", flat=True)) == set(GROUPS)
    assert {
        (scale.low, scale.high, scale.get_dimension_display()) for scale in instrument.scales.all()
    } >= set(SCALES)
    question = instrument.flow[-1]
    assert question["show_if"] == {"step": "group-name", "is": "failed"}
    assert question["media"]["file"] == study.files.get().digest
    assert question["media"]["alt"] == {"en": newcomer.ALT, "es": f"{newcomer.ALT} (es)"}
    texts = instrument.wordings.filter(language="es")
    assert texts.get(key="consent_body").text == f"{newcomer.CONSENT} (es)"
    assert texts.get(key="group.baker.plural").text == "bakers (es)"
    assert study.submissions.get().state == "finished"


def test_every_step_has_a_small_picture_in_the_documentation() -> None:
    told = (DOCS / "first-study.md").read_text(encoding="utf-8")
    shown = re.findall(rf"\]\({FOLDER}/([\w-]+)\.webp\)", told)
    assert tuple(shown) == STEPS
    files = {file.stem: file.stat().st_size for file in (DOCS / FOLDER).iterdir()}
    assert set(files) == set(STEPS)
    assert max(files.values()) <= MOST_BYTES
