"""The journeys: a survey of groups, one of speakers, the own page, writing, judging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.urls import reverse

from annotation.annotators.invitations import accept_invitation, invite_annotator
from annotation.counterparts.lifecycle import launch_writing_study
from annotation.judgments.lifecycle import launch_judgment_study
from annotation.models import Counterpart, Judgment, Rating, Study, SubmissionState
from tests.annotation.counterparts import studies as writing
from tests.annotation.judgments import corpora as judging
from tests.annotation.survey.guises import make_guise_study, make_pairs
from tools.browsers.walker import Walker
from tools.browsers.windows import DESKTOP, PHONE, BrowserError, Engine, Hand, wait_for
from tools.screens.participants import CHOSEN, create_tour

PASSWORD = "for these journeys alone"  # noqa: S105 - of a database that goes away again
GUISE_FLOW = ["consent", "rating", "marked_traits", "rating", "repeat", "demographics"]


@dataclass(frozen=True)
class Journey:
    """``path`` is how it is gone: by mouse, finger or keys, or without scripts."""

    name: str
    path: str
    walk: Callable[[Walker, str, str], None]
    hand: Hand = "mouse"
    size: tuple[int, int] = DESKTOP
    scripts: bool = True

    def go(self, engine: Engine, site: str, pictures: Path) -> str:
        """Go the journey in a window of its own; return what is wrong, "" for nothing."""
        with engine.open_window(size=self.size, hand=self.hand, scripts=self.scripts) as window:
            walker = Walker(window, self.hand, pictures, choices=CHOSEN)
            try:
                self.walk(walker, site, f"{engine.name} {self.path}")
            except BrowserError as error:
                walker.look("stopped")
                return str(error)
            problems = [f"console: {text}" for text in window.complaints]
            problems += [f"wider than the window: {name}" for name in walker.too_wide]
            return "; ".join(problems)


def walk_survey(walker: Walker, site: str, tag: str) -> None:
    """A survey with every kind of step, then the own page, its file and the withdrawal."""
    owner = User.objects.create_user(f"owner {tag}")
    study = create_tour(owner)
    walker.take_survey(site + study.get_absolute_url())
    _check_ratings(study, walker)
    walk_own_page(walker, site, study)


def walk_own_page(walker: Walker, site: str, study: Study) -> None:
    submission = study.submissions.get()
    walker.go(f"{site}/w/{submission.token}/", "own-page")
    walker.press("[name=confirm]")
    walker.leave(".button-bad")
    walker.look("withdrawn")
    submission.refresh_from_db()
    _expect(submission.state == SubmissionState.WITHDRAWN, "the visit is withdrawn")


def walk_speakers(walker: Walker, site: str, tag: str) -> None:
    """A survey about the people who wrote texts."""
    study = make_guise_study(
        make_pairs(3, name=f"Pairs {tag}"), flow=GUISE_FLOW, reservation_minutes=600
    )
    walker.take_survey(site + study.get_absolute_url())
    _check_ratings(study, walker)


def walk_writing(walker: Walker, site: str, tag: str) -> None:
    """Two counterparts: one typed, one begun from the source; the draft is kept meanwhile."""
    study = writing.make_writing_study(
        corpus=writing.make_corpus(6, name=f"Texts {tag}"), launched=False
    )
    _join(study, tag)
    launch_writing_study(study=study)
    _log_in(walker, site, tag)
    walker.go(site + reverse("counterparts:queue", args=[study.public_id]), "queue")
    walker.leave("a.button.main")
    walker.write("textarea[name=body]", "You have never told a lie.")
    wait_for(
        lambda: walker.window.run("/Draft saved/.test(document.body.textContent)"), "a saved draft"
    )
    walker.look("written")
    walker.leave("[data-submit]")
    walker.press("[data-from-source]")
    walker.write("textarea[name=body]", "Nobody is at home.")
    walker.look("second")
    before = walker.document()
    walker.window.press_keys("Control", "Enter")
    walker.wait_for_page(before, "Ctrl+Enter")
    written = Counterpart.objects.filter(task__study=study).order_by("pk")
    _expect(
        list(written.values_list("body", flat=True))
        == ["You have never told a lie.", "Nobody is at home."],
        "both counterparts are stored",
    )


def walk_judging(walker: Walker, site: str, tag: str) -> None:
    """Every counterpart of a queue: the first one by a click, where there is a hand for it."""
    study = judging.make_study(judging.make_corpus(3, name=f"Posts {tag}"))
    _join(study, tag)
    launch_judgment_study(study=study)
    _log_in(walker, site, tag)
    walker.go(site + reverse("judgments:queue", args=[study.public_id]), "queue")
    walker.leave("a.button.main")
    walker.look("judging")
    count = study.judgment_tasks.count()
    for number in range(count):
        if number == 0 and walker.hand != "keyboard":
            page = walker.read()
            for name in dict.fromkeys(name for name, _ in page["radios"]):
                walker.press(f"[name={name}][value='4']")
        else:
            for digit in "4444":
                walker.window.press_keys(digit)
        walker.leave("[data-submit]")
    walker.look("done")
    stored = Judgment.objects.filter(task__study=study, human_likeness=4, tone_preservation=4)
    _expect(stored.count() == count > 0, "every judgment is stored")


def _join(study: Study, tag: str) -> None:
    person, _ = User.objects.get_or_create(username=_account(tag))
    person.set_password(PASSWORD)
    person.save()
    place = invite_annotator(study=study)
    accept_invitation(token=place.invitation_token, user=person)


def _account(tag: str) -> str:
    return "ann-" + tag.lower().replace(" ", "-")


def _log_in(walker: Walker, site: str, tag: str) -> None:
    walker.go(site + reverse("annotators:login"), "log-in")
    walker.write("[name=username]", _account(tag))
    walker.write("[name=password]", PASSWORD)
    before = walker.document()
    walker.window.press_keys("Enter")
    walker.wait_for_page(before, "logging in")
    walker.look("own-studies")


def _check_ratings(study: Study, walker: Walker) -> None:
    """Compare every stored rating with what was meant."""
    stored = Counter(
        (slug, round(value))
        for slug, value in Rating.objects.filter(assignment__submission__study=study).values_list(
            "scale__slug", "value"
        )
    )
    _expect(bool(stored) and stored == walker.rated, "the ratings are stored as they were given")
    submission = study.submissions.get()
    _expect(submission.state == SubmissionState.FINISHED, "the visit is finished")
    failed = submission.checks.filter(passed=False).values_list("kind", flat=True)
    _expect(not failed, f"the checks are passed ({', '.join(failed)} is not)")


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise BrowserError(f"It is not so that {what}.")


JOURNEYS = (
    Journey("survey of groups, own page", "mouse", walk_survey),
    Journey("survey of groups, own page", "touch", walk_survey, "touch", PHONE),
    Journey("survey of groups, own page", "keyboard", walk_survey, "keyboard"),
    Journey("survey of groups, own page", "no script", walk_survey, scripts=False),
    Journey("survey of speakers", "mouse", walk_speakers),
    Journey("survey of speakers", "touch", walk_speakers, "touch", PHONE),
    Journey("survey of speakers", "no script", walk_speakers, scripts=False),
    Journey("writing", "mouse", walk_writing),
    Journey("writing", "touch", walk_writing, "touch", PHONE),
    Journey("judging", "keyboard", walk_judging, "keyboard"),
    Journey("judging", "touch", walk_judging, "touch", PHONE),
)
