"""People who are chosen by their answers: who goes on, who is thanked, and never one too many."""

from __future__ import annotations

import random
from collections import Counter
from datetime import timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone

from annotation.common.target_margins import OTHERS, Margin
from annotation.models import (
    PageEvent,
    Panel,
    PanelSettings,
    QuotaRule,
    ScreenOutPay,
    Study,
    Submission,
)
from annotation.panels.action_plan import propose_returns, propose_rewards
from annotation.researcher.studies.target_quotas import set_margins
from annotation.studies.lifecycle import launch_study
from annotation.studies.review_service import review_submission
from annotation.survey.arrival import Arrival, start_submission
from annotation.survey.late_return import settle_return
from annotation.survey.preview import start_preview
from annotation.survey.step_submission import submit_step
from annotation.survey.step_tokens import sign_step
from annotation.survey.visits.errors import StudyFull
from annotation.survey.visits.visit import Visit
from tests.annotation.survey.test_concurrency import at_once
from tests.probing.runs.fixtures import shared_database  # noqa: F401

FLOW = ["demographics", "rating"]
AREAS = Margin(shares={"Urban": 0.5, "Suburban": 0.25, "Rural": 0.25})
GENDERS = Margin(shares={"Man": 0.6, "Woman": 0.6})


def choosing(make_study, margins, planned: int, **options) -> Study:  # type: ignore[no-untyped-def]
    study = make_study(launched=False, flow=FLOW, **({"quota_per_group": 1000} | options))
    set_margins(study=study, margins=margins, samples=True, planned_people=planned)
    return launch_study(study=study)


def arrive(study: Study, name: str) -> Submission:
    return start_submission(study=study, arrival=Arrival(Panel.LINK, name))


def write_answers(submission: Submission, **answers: str | list[str]) -> QueryDict:
    """Return the page as a browser sends it; answers by slug, “decline” for no answer."""
    visit = Visit.load(submission.token)
    assert visit.step is not None
    sent = QueryDict(mutable=True)
    sent["step"] = sign_step(visit, visit.step)
    for question in visit.questions:
        given = answers.get(question.slug)
        if given is None:
            continue
        chosen = given if isinstance(given, list) else [given]
        if chosen == ["decline"]:
            sent[f"decline-{question.slug}"] = "1"
            sent[f"answer-{question.slug}"] = "decline"
        else:
            numbers = [str(question.options.index(text) + 1) for text in chosen]
            sent.setlist(f"answer-{question.slug}", numbers)
    return sent


def answer(submission: Submission, **answers: str | list[str]) -> Submission:
    submit_step(token=submission.token, sent=write_answers(submission, **answers))
    submission.refresh_from_db()
    return submission


def goes_on(submission: Submission) -> bool:
    return (submission.state, submission.step_index) == ("in_progress", 1)


@pytest.fixture
def study(db: None, make_study) -> Study:  # type: ignore[no-untyped-def]
    """Four people: two from cities, one from a suburb, one from the country, nobody else."""
    return choosing(make_study, {"area": AREAS}, 4)


def test_people_go_on_until_their_cell_is_full(study: Study) -> None:
    assert goes_on(answer(arrive(study, "a"), area="Urban"))
    assert goes_on(answer(arrive(study, "b"), area="Urban"))
    third = answer(arrive(study, "c"), area="Urban")
    assert (third.state, third.outcome) == ("ended", "screened_out")
    assert goes_on(answer(arrive(study, "d"), area="Rural"))
    # The page counts as sent, and the groups are free for others.
    assert PageEvent.objects.filter(submission=third).count() == 1
    assert third.reserved_until is None


def test_answers_without_a_share_have_no_place(study: Study) -> None:
    assert answer(arrive(study, "a"), area="Remote").outcome == "screened_out"


@pytest.mark.parametrize("given", [{}, {"area": "decline"}], ids=["left out", "declined"])
def test_who_does_not_say_takes_no_place_and_goes_on(study: Study, given: dict[str, str]) -> None:
    for name in "abcdef":
        assert goes_on(answer(arrive(study, name), **given))
    assert goes_on(answer(arrive(study, "g"), area="Rural"))


def test_several_answers_take_a_place_in_each_of_their_cells(db: None, make_study) -> None:  # type: ignore[no-untyped-def]
    study = choosing(make_study, {"gender": GENDERS}, 3)  # 1.8 places each: two each
    assert goes_on(answer(arrive(study, "a"), gender=["Man", "Woman"]))
    assert goes_on(answer(arrive(study, "b"), gender=["Man"]))
    assert answer(arrive(study, "c"), gender=["Man", "Woman"]).outcome == "screened_out"
    assert goes_on(answer(arrive(study, "d"), gender=["Woman"]))


def test_numbers_take_places_in_their_bands(db: None, make_study) -> None:  # type: ignore[no-untyped-def]
    margin = Margin(starts=(18, 40), shares={"18 to 39": 0.5, "40 or more": 0.5})
    study = choosing(make_study, {"age": margin}, 2)

    def of_age(name: str, years: int) -> Submission:
        submission = arrive(study, name)
        sent = write_answers(submission)
        sent["answer-age"] = str(years)
        submit_step(token=submission.token, sent=sent)
        submission.refresh_from_db()
        return submission

    assert goes_on(of_age("a", 39))
    assert of_age("b", 18).outcome == "screened_out"
    assert goes_on(of_age("c", 40))


def test_excluded_and_abandoned_people_give_their_place_back(study: Study) -> None:
    excluded = answer(arrive(study, "a"), area="Rural")
    Submission.objects.filter(pk=excluded.pk).update(state="finished", checks_passed=True)
    assert answer(arrive(study, "b"), area="Rural").outcome == "screened_out"
    review_submission(
        submission=excluded, reviewer=None, data_decision="excluded", pay_decision="approved"
    )
    lapsing = answer(arrive(study, "c"), area="Rural")
    assert goes_on(lapsing)
    lapse(lapsing)
    assert goes_on(answer(arrive(study, "d"), area="Rural"))


def lapse(*submissions: Submission) -> None:
    Submission.objects.filter(pk__in=[row.pk for row in submissions]).update(
        reserved_until=timezone.now() - timedelta(minutes=1)
    )


@pytest.mark.parametrize("rule", QuotaRule.values)
def test_coming_back_late_takes_the_place_again_or_ends(db: None, make_study, rule: str) -> None:  # type: ignore[no-untyped-def]
    study = choosing(make_study, {"area": AREAS}, 4, quota_rule=rule)
    early = answer(arrive(study, "a"), area="Rural")
    lapse(early)
    assert settle_return(token=early.token) == "kept"
    lapse(early)
    assert goes_on(answer(arrive(study, "b"), area="Rural"))
    assert settle_return(token=early.token) == "lost"
    early.refresh_from_db()
    assert (early.state, early.outcome) == ("ended", "screened_out")


def test_a_study_whose_cells_are_all_full_lets_nobody_start(study: Study) -> None:
    for name, area in enumerate(("Urban", "Urban", "Suburban", "Rural")):
        answer(arrive(study, str(name)), area=area)
    with pytest.raises(StudyFull):
        arrive(study, "late")


def test_previews_choose_nobody_and_take_no_place(study: Study) -> None:
    for name in range(3):
        preview = start_preview(instrument=study.instruments.get())
        assert goes_on(answer(preview, area="Rural")), name
    assert goes_on(answer(arrive(study, "a"), area="Rural"))


@pytest.mark.parametrize(
    ("rule", "decision", "told"),
    [
        (ScreenOutPay.FIXED, "approved", "You are paid $0.25 for this part."),
        (ScreenOutPay.NOTHING, "waiting", "There is no payment for this part"),
    ],
)
def test_people_are_told_kindly_and_paid_by_the_studys_rule(
    study: Study, make_person, rule: str, decision: str, told: str
) -> None:  # type: ignore[no-untyped-def]
    PanelSettings.objects.update_or_create(
        study=study, defaults={"screen_out_pay": rule, "screen_out_minor": 25}
    )
    answer(arrive(study, "a"), area="Rural")
    late = make_person()
    late.start(study.get_absolute_url())
    shown = late.see().page
    submission = study.submissions.latest("pk")
    area = submission.instrument.questions.get(slug="area")
    number = str(area.options.index("Rural") + 1)
    assert late.send(shown, **{"answer-area": number}).status == 302
    html = late.see().html
    assert "Enough people with answers like yours have taken part" in html
    assert told in html
    submission.refresh_from_db()
    assert submission.pay_decision == decision
    plan = propose_rewards(study) if decision == "approved" else propose_returns(study)
    assert [item.submission for item in plan.proposals] == [submission]
    assert plan.amount_minor == (25 if decision == "approved" else 0)


# --- never one too many ---------------------------------------------------------------------------


def count_cells(study: Study) -> Counter[str]:
    """Return how many people who hold a place gave which area, counted in Python."""
    held: Counter[str] = Counter()
    for row in study.submissions.prefetch_related("answers__question"):
        now = row.state == "in_progress" and row.reserved_until > timezone.now()
        kept = row.data_decision == "accepted" or (
            row.state == "finished" and row.data_decision == "waiting" and row.checks_passed
        )
        if now or kept:
            held.update(a.value for a in row.answers.all() if a.question.slug == "area")
    return held


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_order_of_events_exceeds_a_cell(db: None, make_study, seed: int) -> None:  # type: ignore[no-untyped-def]
    study = choosing(make_study, {"area": AREAS}, 7)  # 3.5, 1.75 and 1.75 people
    rng = random.Random(seed)
    room = {"Urban": 3, "Suburban": 2, "Rural": 2}
    people: list[Submission] = []
    for number in range(45):
        what = rng.choice(["come", "come", "come", "finish", "lapse", "back", "exclude"])
        going = [row for row in people if goes_on(row)]
        try:
            if what == "come":
                area = rng.choice(["Urban", "Suburban", "Rural", "Remote", "decline"])
                people.append(answer(arrive(study, str(number)), area=area))
            elif going:
                chosen = rng.choice(going)
                if what == "finish":
                    Submission.objects.filter(
                        pk=chosen.pk, reserved_until__gt=timezone.now()
                    ).update(state="finished", checks_passed=True)
                elif what == "lapse":
                    lapse(chosen)
                elif what == "back":
                    settle_return(token=chosen.token)
                chosen.refresh_from_db()
            done = [row for row in people if row.state == "finished"]
            if what == "exclude" and done:
                review_submission(
                    submission=rng.choice(done),
                    reviewer=None,
                    data_decision="excluded",
                    pay_decision="approved",
                )
        except StudyFull:
            pass
        held = count_cells(study)
        assert all(held[area] <= room[area] for area in room), (number, what, held)
        assert held["Remote"] == 0
    assert any(row.outcome == "screened_out" for row in people)


@pytest.mark.services
def test_answers_sent_at_once_never_exceed_a_cell(shared_database, make_study) -> None:  # type: ignore[no-untyped-def]  # noqa: F811
    study = choosing(make_study, {"area": AREAS}, 8)
    people = [arrive(study, str(number)) for number in range(12)]
    late = [arrive(study, f"late {number}") for number in range(2)]
    for row in late:
        answer(row, area="Urban")
    lapse(*late)
    pages = [write_answers(row, area="Urban") for row in people]
    results = at_once(
        *[
            lambda row=row, sent=sent: submit_step(token=row.token, sent=sent)
            for row, sent in zip(people, pages, strict=True)
        ],
        *[lambda row=row: settle_return(token=row.token) for row in late],
    )
    assert not [result for result in results if isinstance(result, Exception)]
    assert count_cells(study) == {"Urban": 4}
    outcomes = Counter(study.submissions.values_list("outcome", flat=True))
    assert outcomes == {"": 4, "screened_out": 10}


def test_everybody_else_has_the_places_that_are_left(db: None, make_study) -> None:  # type: ignore[no-untyped-def]
    study = choosing(make_study, {"area": Margin(shares={"Urban": 0.5, OTHERS: 0.5})}, 4)
    assert goes_on(answer(arrive(study, "a"), area="Remote"))
    assert goes_on(answer(arrive(study, "b"), area="Rural"))
    assert answer(arrive(study, "c"), area="Suburban").outcome == "screened_out"
