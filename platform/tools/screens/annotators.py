"""The pages of somebody who writes counterparts and judges them."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser

from annotation.annotators.invitations import accept_invitation, invite_annotator
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.judgments.lifecycle import launch_judgment_study
from annotation.models import Study
from tests.annotation.counterparts.studies import make_writing_study
from tests.annotation.judgments import corpora as judging
from tools.screens.camera import DESKTOP, Camera

PASSWORD = "for the pictures alone"  # noqa: S105 - of a database that goes away again
NAME = "ann"


def create_work(owner: User) -> tuple[Study, Study]:
    """Store a writing study and a judgment study in which the same account has work."""
    writing = make_writing_study(launched=False, owner=owner)
    judgments = judging.make_study(judging.make_corpus(), owner=owner)
    person = User.objects.create_user(NAME, password=PASSWORD)
    for study in (writing, judgments):
        place = invite_annotator(study=study)
        accept_invitation(token=place.invitation_token, user=person)
    return launch_writing_study(study=writing), launch_judgment_study(study=judgments)


def take_annotators(
    browser: Browser, camera: Camera, site: str, writing: Study, judgments: Study
) -> None:
    page = browser.new_context(viewport=DESKTOP, locale="en-US").new_page()  # type: ignore[arg-type]
    page.goto(site + reverse("annotators:login"))
    camera.take(page, "annotator", "login", "Log-in")
    page.locator("[name=username]").fill(NAME)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("form .button.main").click()
    page.wait_for_url(f"**{reverse('annotators:home')}")
    camera.take(page, "annotator", "home", "Own studies")
    page.goto(site + reverse("counterparts:queue", args=[writing.public_id]))
    camera.take(page, "annotator", "writing-queue", "Texts to rewrite")
    page.locator("a.button.main").click()
    page.locator("textarea").first.fill("You have never told a lie.")
    camera.take(page, "annotator", "writing", "Writing a counterpart")
    page.goto(site + reverse("judgments:queue", args=[judgments.public_id]))
    camera.take(page, "annotator", "judging-queue", "Counterparts to judge")
    page.locator("a.button.main").click()
    page.wait_for_load_state()
    camera.take(page, "annotator", "judging", "Judging a counterpart")
    page.context.close()
