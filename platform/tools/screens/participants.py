"""A visit with every kind of page, in English and in Spanish."""

from __future__ import annotations

from django.contrib.auth.models import User
from playwright.sync_api import Browser, Page

from annotation.instruments.known_texts import new_content
from annotation.instruments.languages.language_service import add_known_language, store_language
from annotation.instruments.languages.texts import list_texts
from annotation.models import Instrument, SocialGroup, Study, Submission
from annotation.steps.kind import KINDS
from annotation.studies.creation import create_study
from annotation.studies.lifecycle import launch_study
from annotation.survey.group_assignment import assign_groups
from tools.screens.camera import PHONE, Camera

LANGUAGES = {"en": "en-US", "es": "es-MX"}
TITLE = {"en": "How groups of people are seen", "es": "Cómo se ve a distintos grupos de personas"}
SEED = 20220710
GROUPS = ("elderly", "veteran")
FLOW = ("consent", "instructions", "practice", "comprehension", "rating", "group_name", "rating",
        "marked_traits", "instructed", "nonsensical", "repeat", "choice", "free_text",
        "demographics", "debrief")  # fmt: skip
CHOSEN = frozenset({"people-in-america", "somewhat-disagree", "strongly-disagree", "phone"})
TYPED = {
    "en": {"group-name": "elderly people", "text": "It was clear, thank you."},
    "es": {"group-name": "las personas mayores", "text": "Fue claro, gracias."},
}
# Lines that are answered on the picture; the rest shows how an open line looks.
ANSWERED = 5


def create_tour(owner: User) -> Study:
    """Store a live study with every kind of step, in both languages."""
    flow = [
        {"kind": kind, "key": kind.replace("_", "-"), **content}
        if (content := new_content(KINDS[kind], list(LANGUAGES)))
        else kind
        for kind in FLOW
    ]
    study = create_study(
        title=TITLE["en"],
        owner=owner,
        contact_email="lab@example.org",
        groups=SocialGroup.objects.filter(slug__in=GROUPS),
        flow=flow,
        instrument_options={"scale_order": "fixed", "pole_sides": "fixed"},
        quota_per_group=1000,
        reward_cents=200,
        withdraw_until="2099-06-30",
        completion_codes={"completed": "PICTURE-1", "failed_check": "PICTURE-1"},
    )
    _add_spanish(study.instruments.get())
    return launch_study(study=study)


def _add_spanish(instrument: Instrument) -> None:
    add_known_language(instrument=instrument, language="es")
    texts = {text.key: text.translation for text in list_texts(instrument, "es")}
    titled = texts | {"study.title": TITLE["es"]}
    store_language(instrument=instrument, language="es", translations=titled)


def take_participants(browser: Browser, camera: Camera, site: str, study: Study) -> None:
    for language, locale in LANGUAGES.items():
        context = browser.new_context(
            viewport=PHONE,  # type: ignore[arg-type]
            locale=locale,
            has_touch=True,
        )
        _Visit(context.new_page(), camera, site, study, language).walk()
        context.close()


class _Visit:
    """One pass through the study, with a picture of each kind of page."""

    def __init__(self, page: Page, camera: Camera, site: str, study: Study, language: str) -> None:
        self.page, self.camera, self.site = page, camera, site
        self.study, self.language = study, language

    def walk(self) -> None:
        self.page.goto(self.site)
        self.take("home", "Start page")
        self.page.goto(f"{self.site}/s/nothing/")
        self.take("notice", "Notice: no such study")
        self.page.goto(self.site + self.study.get_absolute_url())
        self.take("landing", "Study link")
        self.send()
        submission = self.make_repeatable()
        token = submission.token
        self.page.goto(f"{self.site}/r/{token}/")
        seen: set[str] = set()
        while self.page.locator("form[data-step]").count():
            submission.refresh_from_db()
            kind = self.study.instruments.get().flow[submission.step_index]
            name = kind if isinstance(kind, str) else kind["kind"]
            self.answer(name, first=name not in seen)
            seen.add(name)
            self.send()
        self.take("completion", "Completion")
        self.page.goto(f"{self.site}/w/{token}/")
        self.take("own", "Own answers and withdrawal")
        self.page.locator("[name=confirm]").check()
        self.send(".button-bad")
        self.take("withdrawn", "After withdrawal")

    def make_repeatable(self) -> Submission:
        """Give the visit groups, order and address that are the same every time."""
        submission = self.study.submissions.latest("pk")
        submission.seed = SEED
        submission.public_id = f"picture{self.language}000"
        submission.token = f"picture-{self.language}-0000000000000000"
        submission.save()
        submission.assignments.all().delete()
        assign_groups(submission=submission)
        return submission

    def answer(self, kind: str, *, first: bool) -> None:
        title = str(KINDS[kind].label)
        if self.page.locator("[data-lines]").count():
            self.rate(kind, title, first=first)
            return
        for option in self.page.locator("input[type=radio]").all():
            if option.get_attribute("value") in CHOSEN:
                option.check()
        for name in ("near", "far"):
            if self.page.locator(f"[name={name}]").count():
                self.page.locator(f"[name={name}]").first.check()
        for name, text in TYPED[self.language].items():
            if self.page.locator(f"[name={name}]").count():
                self.page.locator(f"[name={name}]").fill(text)
        if self.page.locator("[name=answer-age]").count():
            self.page.locator("[name=answer-age]").fill("37")
        if self.page.locator("[name=agree]").count():
            self.page.locator("[name=agree]").check()
        if first:
            self.take(kind, title)

    def rate(self, kind: str, title: str, *, first: bool) -> None:
        lines = self.page.locator("input.line-input")
        for number in range(lines.count()):
            if number == ANSWERED and first and kind == "rating":
                self.take(kind, f"{title}, partly answered")
                self.page.locator("form .button-main").click()
                self.take("rating-missing", f"{title}, lines missing")
            line = lines.nth(number)
            line.focus()
            line.press("Home" if number % 3 == 0 else "End")
            for _ in range(1 + 2 * number % 7):
                line.press("PageUp" if number % 3 == 0 else "PageDown")
        if first and kind != "rating":
            self.take(kind, title)

    def send(self, button: str = "form .button-main") -> None:
        with self.page.expect_event("load"):
            self.page.locator(button).last.click()

    def take(self, name: str, title: str) -> None:
        self.page.evaluate("scrollTo(0, 0)")
        self.camera.take(self.page, "participant", name, title, self.language)
