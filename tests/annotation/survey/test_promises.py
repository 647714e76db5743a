"""What pages say of pay and of what is recorded: never more, and never less, than is so."""

from __future__ import annotations

import pytest

from annotation.models import Outcome, PanelSettings, PayDecision, ScreenOutPay, Submission
from annotation.survey.visits.client_record import ClientRecord, LineRecord
from tests.annotation.survey.conftest import PersonMaker, StudyMaker
from tests.annotation.survey.flows import instructed
from tests.annotation.survey.test_withdrawal import own_path

pytestmark = [pytest.mark.django_db, pytest.mark.services]

FAST = "You are far faster than almost everyone else."
SAME = "On every page, you give nearly all answers at the same place."
CHECKS = "You miss 2 or more checks that only ask you to read carefully."
ONE_CHECK = "You miss a check that only asks you to read carefully."


@pytest.mark.parametrize(
    ("minutes", "checks", "said"),
    [
        (10, 0, [FAST, SAME]),
        (10, 1, [FAST, SAME]),  # two have to be missed, and there is one
        (10, 2, [FAST, SAME, CHECKS]),
        (4, 1, [FAST, SAME, ONE_CHECK]),
    ],
)
def test_pay_is_promised_with_the_grounds_that_can_cost_it(
    make_study: StudyMaker, make_person: PersonMaker, minutes: int, checks: int, said: list[str]
) -> None:
    asked = [instructed(key=f"look-{n}") for n in range(checks)]
    study = make_study(flow=["consent", "rating", *asked], estimated_minutes=minutes)
    person = make_person()
    landing = person.connection.get(study.get_absolute_url())
    person.start(study.get_absolute_url())
    consent = person.see()
    Submission.objects.update(state="finished", outcome="completed")
    end = person.see()
    assert "$2.00 if your answers are accepted" in landing.page.text
    assert "everyone who finishes" not in landing.html
    for page in (landing, consent, end):
        assert [ground for ground in (FAST, SAME, ONE_CHECK, CHECKS) if ground in page.html] == said


def test_unpaid_study_speaks_of_no_pay(make_study: StudyMaker, make_person: PersonMaker) -> None:
    study = make_study(flow=["consent", "rating"], reward_cents=0)
    person = make_person()
    landing = person.connection.get(study.get_absolute_url())
    person.start(study.get_absolute_url())
    consent = person.see()
    person.go_on()
    for page in (landing, consent, person.see()):
        assert FAST not in page.html
        assert "refused" not in page.html


@pytest.mark.parametrize("language", ["en", "es"])
def test_consent_says_what_is_recorded_about_how_a_page_is_answered(
    make_study: StudyMaker, make_person: PersonMaker, language: str
) -> None:
    study = make_study(flow=["consent", "rating"])
    person = make_person()
    person.start(study.get_absolute_url())
    Submission.objects.update(language=language)
    page = person.see().page.text
    # Another field of the record needs a word here, and in the sentence.
    words = {
        "device": ("tablet", "tableta"),
        "pointer": ("keyboard", "teclado"),
        "open_ms": ("the time on each page", "el tiempo en cada página"),
        "visible_ms": ("how long you see it", "cuánto tiempo la ves"),
        "restored": None,  # that the page was loaded again, nothing about the person
        "pastes": ("how often you paste text", "cuántas veces pegas texto"),
        "first_touch_ms": ("when you first touch a line", "tocas una línea por primera vez"),
        "changes": ("how often you change it", "cuántas veces la cambias"),
        "hidden_field": ("a program seems to fill in a page", "un programa llena una página"),
    }
    stored = {*ClientRecord.model_fields, *LineRecord.model_fields} - {"lines"}
    assert stored | {"hidden_field"} == set(words)
    for said in filter(None, words.values()):
        assert said[language == "es"] in page


NO_PAY = "There is no payment for this part: only people who finish are paid."


@pytest.mark.parametrize(
    ("outcome", "decision", "rule", "told"),
    [
        ("no_consent", "waiting", "", "There is no payment, because you did not take part."),
        ("quota_full", "waiting", "", NO_PAY),
        ("screened_out", "waiting", "nothing", NO_PAY),
        ("screened_out", "waiting", "fixed", "The researchers decide on your payment"),
        ("screened_out", "approved", "fixed", "You are paid for this part."),
        ("timed_out", "waiting", "", "The researchers decide on your payment"),
        ("timed_out", "approved", "", "You are paid all the same."),
        ("timed_out", "rejected", "", "The researchers refused the payment."),
        ("completed", "rejected", "", "The researchers refused the payment."),
    ],
)
def test_every_way_out_says_what_becomes_of_pay(
    make_study: StudyMaker,
    make_person: PersonMaker,
    outcome: str,
    decision: str,
    rule: str,
    told: str,
) -> None:
    study = make_study(flow=["consent", "rating"])
    PanelSettings.objects.update_or_create(
        study=study, defaults={"screen_out_pay": rule or ScreenOutPay.NOTHING}
    )
    person = make_person()
    person.start(study.get_absolute_url())
    Submission.objects.update(
        state="finished" if outcome == Outcome.COMPLETED else "ended",
        outcome=outcome,
        pay_decision=decision,
    )
    page = person.see().page.text
    assert told in page
    if decision == PayDecision.REJECTED:
        assert "You keep the payment" not in page
    study.reward_cents = 0
    study.save()
    assert told not in person.see().page.text


def test_who_leaves_is_told_what_becomes_of_pay(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    person = make_person()
    person.start(make_study(flow=["consent", "rating"]).get_absolute_url())
    own = person.connection.get(own_path(person)).page.text
    assert "If you do not finish, you are not paid" in own
