"""What pages say of pay and of what is recorded: never more, and never less, than is so."""

from __future__ import annotations

from html import unescape

import pytest

from annotation.models import Outcome, PanelSettings, PayDecision, ScreenOutPay, Study, Submission
from annotation.survey.visits.client_record import ClientRecord, LineRecord
from tests.annotation.survey.conftest import PersonMaker, StudyMaker
from tests.annotation.survey.flows import choice, instructed
from tests.annotation.survey.test_withdrawal import own_path

pytestmark = pytest.mark.django_db

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
    for promise in ("everyone who finishes", "so that you are paid"):
        assert promise not in landing.html + consent.html + end.html
    for page in (landing, consent, end):
        assert [ground for ground in (FAST, SAME, ONE_CHECK, CHECKS) if ground in page.html] == said


def test_pages_of_few_lines_are_no_ground_to_refuse_pay(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    # Fewer than four lines can lie at one place by chance: no page of them counts as such.
    person = make_person()
    study = make_study(flow=["consent", "rating"], scales=("cold-warm", "poor-wealthy"))
    person.start(study.get_absolute_url())
    page = person.see().html
    assert FAST in page
    assert SAME not in page


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


@pytest.mark.parametrize(
    ("skipping", "said"),
    [
        ("never", ""),
        ("group", "You can leave out any group that you would rather not rate."),
        ("line", "You can leave out any group, and any line, that you would rather not rate."),
    ],
)
@pytest.mark.parametrize("reward", [0, 200])
def test_consent_says_what_can_be_left_out(
    make_study: StudyMaker, make_person: PersonMaker, skipping: str, said: str, reward: int
) -> None:
    options = {"skipping": skipping}
    study = make_study(flow=["consent", "rating"], instrument_options=options, reward_cents=reward)
    person = make_person()
    person.start(study.get_absolute_url())
    page = person.see().page.text
    assert said in page
    assert ("You can leave out" in page) == bool(said)
    assert ("Your payment does not depend on it." in page) == bool(said and reward)


def test_consent_says_that_something_comes_twice_where_it_does(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    for flow, comes_twice in (
        (["consent", "rating", "rating", "repeat"], True),
        (["consent", "rating", "rating"], False),
    ):
        person = make_person()
        person.start(make_study(flow=flow).get_absolute_url())
        assert ("One group comes twice" in person.see().page.text) == comes_twice


@pytest.mark.parametrize(
    ("flow", "scales", "work"),
    [
        pytest.param(
            ["consent", "rating", "group_name", "rating", "repeat", choice()],
            ("cold-warm", "poor-wealthy"),
            "You rate 2 groups, on 2 lines each. There is 1 short check. "
            "You answer 1 other question.",
            id="two-groups-a-check-and-a-question",
        ),
        pytest.param(
            ["consent", "rating"], ("cold-warm",), "You rate 1 group, on 1 line.", id="one-line"
        ),
    ],
)
def test_link_and_consent_say_how_much_there_is_to_answer(
    make_study: StudyMaker,
    make_person: PersonMaker,
    flow: list[object],
    scales: tuple[str, ...],
    work: str,
) -> None:
    link = make_study(flow=flow, scales=scales).get_absolute_url()
    person = make_person()
    landing = person.connection.get(link).page.text
    person.start(link)
    for text in (landing, person.see().page.text):
        assert work in text
        for words in ("short check", "other question"):
            assert (words in text) == (words in work)


def test_questions_about_oneself_are_part_of_the_work(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(flow=["consent", "rating", "demographics"])
    asked = study.instruments.get().questions.count()
    assert asked > 1
    landing = make_person().connection.get(study.get_absolute_url()).page.text
    assert f"There are {asked} questions about yourself, which you can leave out." in landing


#: A setting, its value, what the page says with it, and what it says without.
STATEMENTS: dict[str, list[tuple[str, object, str, str]]] = {
    "consent": [
        ("contact_email", "ann@example.org", "mailto:ann@example.org", "mailto:lab@example.org"),
        ("estimated_minutes", 7, "About 7 minutes", "About 10 minutes"),
        ("data_access", "Ann Lee alone.", "Ann Lee alone.", "the staff of this site can read"),
        ("identity_days", 7, "It is erased 7 days after", "It is erased 90 days after"),
        ("answer_days", 30, "Your answers are erased 30 days after", "kept without a time limit"),
        ("ethics_reference", "REB-77", "Ethics reference: REB-77.", ""),
        ("ethics_contact", "reb@example.org", "Questions about ethics: reb@example.org", ""),
        ("reward_cents", 0, "", "is used only for payment"),
        (
            "withdraw_until",
            "2099-06-30",
            "have them erased until 30 June 2099:",
            "have them erased at any time:",
        ),
    ],
    "end": [
        ("contact_email", "ann@example.org", "mailto:ann@example.org", "mailto:lab@example.org"),
        ("ethics_reference", "REB-77", "Ethics reference REB-77", ""),
        ("ethics_contact", "reb@example.org", "Questions about ethics: reb@example.org", ""),
        ("withdraw_until", "2099-06-30", "until 30 June 2099", "at any time."),
        (
            "withdraw_until",
            "2020-01-31",
            "Answers could be erased until",
            "have them erased at any time",
        ),
        ("reward_cents", 0, "", "You keep the payment."),
    ],
}


@pytest.mark.parametrize(
    ("where", "setting", "value", "said", "else_said"),
    [(where, *statement) for where, of_page in STATEMENTS.items() for statement in of_page],
)
def test_each_statement_follows_its_setting(
    make_study: StudyMaker,
    make_person: PersonMaker,
    where: str,
    setting: str,
    value: object,
    said: str,
    else_said: str,
) -> None:
    study = make_study(flow=["consent", "rating"])
    person = make_person()
    person.start(study.get_absolute_url())
    if where == "end":
        person.go_on()

    def read() -> str:
        shown = person.see()
        return " ".join(unescape(f"{shown.page.text} {shown.html}").split())

    before = read()
    Study.objects.filter(pk=study.pk).update(**{setting: value})
    after = read()
    assert said in after
    assert else_said in before
    for text, page in ((said, before), (else_said, after)):
        assert not text or text not in page


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
        "means": ("answer by touch, pen, mouse", "con el dedo, un lápiz, un ratón"),
        "hidden_field": ("a program seems to fill in a page", "un programa llena una página"),
    }
    stored = {*ClientRecord.model_fields, *LineRecord.model_fields} - {"lines"}
    assert stored | {"hidden_field"} == set(words)
    for said in filter(None, words.values()):
        assert said[language == "es"] in page


@pytest.mark.parametrize(
    ("check", "said"),
    [pytest.param("group_name", True, id="a-check"), pytest.param("debrief", False, id="none")],
)
def test_the_code_tells_of_checks_only_where_there_are_any(
    make_study: StudyMaker, make_person: PersonMaker, check: str, said: bool
) -> None:
    person = make_person()
    person.start(make_study(flow=["consent", "rating", check]).get_absolute_url())
    assert ("short check" in person.see().page.text) == said
    person.go_on()
    end = person.see().page.text
    assert "It says how your visit ended: complete, " in end
    assert ("with a check that was missed" in end) == said


NO_PAY = "There is no payment for this part: only people who finish are paid."


@pytest.mark.parametrize(
    ("outcome", "decision", "rule", "told"),
    [
        ("no_consent", "waiting", "", "There is no payment, because you did not take part."),
        ("quota_full", "waiting", "", NO_PAY),
        ("screened_out", "waiting", "nothing", NO_PAY),
        ("screened_out", "waiting", "fixed", "The study pays $0.25 for this part."),
        ("screened_out", "waiting", "share", "The study pays $0.20 for this part."),
        ("screened_out", "approved", "fixed", "You are paid $0.25 for this part."),
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
        study=study,
        defaults={"screen_out_pay": rule or ScreenOutPay.NOTHING, "screen_out_minor": 25},
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


@pytest.mark.parametrize(
    ("quota_rule", "bound"), [("hard", "Your place is yours for 30 more minutes."), ("soft", "")]
)
def test_who_leaves_is_told_what_becomes_of_pay_answers_and_place(
    make_study: StudyMaker, make_person: PersonMaker, quota_rule: str, bound: str
) -> None:
    study = make_study(flow=["consent", "rating"], quota_rule=quota_rule, reservation_minutes=30)
    person = make_person()
    person.start(study.get_absolute_url())
    own = person.connection.get(own_path(person)).page.text
    assert "$2.00 if you finish and your answers are accepted." in own
    assert "If you do not finish, you are not paid" in own
    assert "If you do not finish, your answers are not used." in own
    assert "What stays is the record that is needed for your payment." in own
    assert "panel" not in own  # nobody's study is on one
    assert bound in own
    assert ("Then another person may get it, and you may not" in own) == bool(bound)
    study.reward_cents = 0
    study.save()
    assert "paid" not in person.connection.get(own_path(person)).page.text


ERASED = "It is erased 30 days after the study has closed."


@pytest.mark.parametrize("outcome", ["no_consent", "quota_full", "screened_out", "timed_out"])
@pytest.mark.parametrize("answered", [False, True])
def test_every_way_out_says_what_becomes_of_the_answers(
    make_study: StudyMaker, make_person: PersonMaker, outcome: str, answered: bool
) -> None:
    study = make_study(flow=["rating", "rating"], answer_days=30, identity_days=7)
    person = make_person()
    person.start(study.get_absolute_url())
    if answered:
        person.send(person.see().page)
    Submission.objects.update(state="ended", outcome=outcome)
    told = person.see().page.text
    assert ("No answers of yours are stored." in told) != answered
    assert ("What you sent is kept apart and not used." in told) == answered
    assert (ERASED in told) == answered
    assert ("You can read it and have it erased" in told) == answered
    assert "the ID it knows you by is erased 7 days after the study has closed" in told
    study.answer_days = study.identity_days = None
    study.withdraw_until = "2020-01-01"
    study.save()
    told = person.see().page.text
    assert "is erased" not in told
    assert "have it erased" not in told


@pytest.mark.parametrize("panel", ["prolific", "mturk", "link"])
@pytest.mark.parametrize("status", ["paused", "closed"])
def test_who_comes_too_late_is_told_of_pay_and_led_back(
    make_study: StudyMaker, make_person: PersonMaker, panel: str, status: str
) -> None:
    study = make_study(panel=panel)
    study.status = status
    study.save()
    link = study.get_absolute_url() + ("?PROLIFIC_PID=a1" if panel == "prolific" else "")
    shown = make_person().connection.get(link)
    assert "There is no payment, because you did not take part." in shown.page.text
    assert "You gave none. Nothing was stored." in shown.page.text
    ways = {
        "prolific": f"/submissions/complete?cc={study.completion_codes['quota_full']}",
        "mturk": "https://worker.mturk.com/tasks",
    }
    for name, way in ways.items():
        assert (way in shown.html) == (name == panel)
    study.reward_cents = 0
    study.save()
    assert "payment" not in make_person().connection.get(link).page.text
