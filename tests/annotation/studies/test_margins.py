"""Target margins: places by largest remainder, what is refused, who belongs to which cell."""

from __future__ import annotations

from fractions import Fraction

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.common.small_cells import DECLINED, UNANSWERED
from annotation.common.target_margins import OTHERS, Margin, count_places
from annotation.models import Study
from annotation.researcher.studies.target_quotas import set_margins
from annotation.studies.readiness import Place, examine_study
from tests.annotation.studies.people import make_study


def even(*answers: str) -> Margin:
    return Margin(shares={answer: round(1 / len(answers), 4) for answer in answers})


# --- places ---------------------------------------------------------------------------------------


def test_places_follow_hamilton() -> None:
    # Balinski and Young 1982, table 1.1 of the method: quotas 2.5, 1.5, 1.0 of 5 give the largest
    # remainders 0.5 and 0.5, the first of which gets the seat that is missing.
    margin = Margin(shares={"a": 0.5, "b": 0.3, "c": 0.2})
    assert count_places(margin, 5, several=False) == {"a": 3, "b": 1, "c": 1, OTHERS: 0}


def test_places_of_shares_that_no_float_holds_are_exact() -> None:
    # 0.1 + 0.2 is not 0.3 in floats; a tenth of 30 is 3 all the same.
    margin = Margin(shares={"a": 0.1, "b": 0.2, "c": 0.7})
    assert count_places(margin, 30, several=False) == {"a": 3, "b": 6, "c": 21, OTHERS: 0}


def test_places_of_several_answers_are_shares_of_all_people() -> None:
    # 60 % and 55 % of 20 people: 12 and 11, since some are in both.
    margin = Margin(shares={"Man": 0.6, "Woman": 0.55})
    assert count_places(margin, 20, several=True) == {"Man": 12, "Woman": 11, OTHERS: 0}


@settings(max_examples=60)
@given(
    weights=st.lists(st.integers(0, 50), min_size=1, max_size=8).filter(any),
    planned=st.integers(1, 500),
)
def test_places_sum_to_the_plan_and_none_is_off_by_one(weights: list[int], planned: int) -> None:
    total = sum(weights)
    margin = Margin(shares={str(i): w / total for i, w in enumerate(weights)})
    places = count_places(margin, planned, several=False)
    assert sum(places.values()) == planned
    for index, weight in enumerate(weights):
        assert abs(places[str(index)] - Fraction(weight * planned, total)) < 1 + 1e-9


# --- cells ----------------------------------------------------------------------------------------


def test_answers_without_a_share_are_others_and_no_answer_is_in_no_cell() -> None:
    margin = even("Man", "Woman")
    assert margin.cells_of(frozenset({"Man"})) == {"Man"}
    assert margin.cells_of(frozenset({"Man", "Non-binary"})) == {"Man", OTHERS}
    assert margin.cells_of(frozenset({DECLINED})) == set()
    assert margin.cells_of(frozenset({UNANSWERED})) == set()


# --- what is refused ------------------------------------------------------------------------------


@pytest.fixture
def study(db: None) -> Study:
    return make_study(launched=False)


@pytest.mark.parametrize(
    ("slug", "margin", "said"),
    [
        ("area", Margin(shares={"Urban": 0.5, "Rural": 0.4}), "sum to 90 %, expected 100 %"),
        ("area", Margin(shares={"Urban": 0.6, "Rural": 0.41}), "sum to 101 %, expected 100 %"),
        ("gender", Margin(shares={"Man": 0.5, "Woman": 0.4}), "expected 100 % or more"),
        ("area", Margin(shares={"Urban": 0.5, "Moon": 0.5}), "“Moon” is not among the answers"),
        ("income", even("low", "high"), "There is no question “income”"),
        ("age", even("18 to 24", "25 or more"), "expected bands for it"),
        ("age", Margin(starts=(30, 18), shares={"30 or more": 1.0}), "do not rise"),
        ("age", Margin(starts=(18, 30), shares={"18 to 24": 1.0}), "“18 to 24” is not among"),
    ],
    ids=["too-little", "too-much", "several", "answer", "question", "bands", "order", "band"],
)
def test_targets_that_cannot_be_reached_are_refused(
    study: Study, slug: str, margin: Margin, said: str
) -> None:
    with pytest.raises(ValidationError, match=said.replace("(", r"\(")):
        set_margins(study=study, margins={slug: margin})
    study.refresh_from_db()
    assert study.target_margins == {}


def test_targets_are_stored_and_read_back(study: Study) -> None:
    margins = {
        "gender": Margin(shares={"Man": 0.5, "Woman": 0.498, OTHERS: 0.005}),
        "age": Margin(starts=(18, 30), shares={"18 to 29": 0.4, "30 or more": 0.6}),
    }
    set_margins(study=study, margins=margins)
    study.refresh_from_db()
    assert study.margins == margins
    assert study.history.first().target_margins == study.target_margins


@pytest.mark.parametrize(
    "value",
    [{"area": {}}, {"area": {"shares": {"Urban": 2}}}, {"area": {"shares": {"Urban": "x"}}}, [1]],
    ids=["empty", "two", "text", "list"],
)
def test_what_is_no_target_is_refused_by_the_model(study: Study, value: object) -> None:
    study.target_margins = value
    with pytest.raises(ValidationError, match="Target"):
        study.full_clean()


def test_choosing_people_needs_targets_and_a_number(study: Study) -> None:
    with pytest.raises(ValidationError) as refused:
        set_margins(study=study, margins={}, samples=True)
    assert refused.value.messages == [
        "People can be chosen by targets alone: give at least one.",
        "Say how many people are planned: places are shares of that number.",
    ]
    with pytest.raises(IntegrityError), transaction.atomic():
        Study.objects.filter(pk=study.pk).update(samples_by_margins=True)


def set_flow(study: Study, *flow: object) -> None:
    study.instruments.update(flow=list(flow))


def blocking(study: Study) -> list[tuple[Place, str]]:
    instrument = study.instruments.get()
    return [(f.place, f.text) for f in examine_study(study, instrument) if f.blocks]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        (["rating", "demographics"], "step 2 asks for them after a rating page"),
        (["rating"], "the flow has no demographic questions"),
        (
            [
                "consent",
                {"kind": "demographics", "show_if": {"visit": "language", "is": "en"}},
                "rating",
            ],
            "step 2 has a condition",
        ),
    ],
    ids=["later", "never", "sometimes"],
)
def test_a_question_that_is_asked_too_late_keeps_from_launching(
    study: Study, flow: list[object], said: str
) -> None:
    set_margins(
        study=study, margins={"area": even("Urban", "Rural")}, samples=True, planned_people=9
    )
    set_flow(study, *flow)
    study.refresh_from_db()
    [(place, text)] = blocking(study)
    assert place == Place.FLOW
    assert said in text
    set_flow(study, "demographics", "rating")
    assert blocking(study) == []


def test_a_study_that_has_begun_cannot_choose_people_too_late(db: None) -> None:
    live = make_study()
    with pytest.raises(ValidationError, match="after a rating page"):
        set_margins(
            study=live, margins={"area": even("Urban", "Rural")}, samples=True, planned_people=9
        )


def test_who_would_never_be_let_in_is_named_before_the_launch(study: Study) -> None:
    set_flow(study, "demographics", "rating")
    set_margins(
        study=study,
        margins={"area": Margin(shares={"Urban": 0.5, "Suburban": 0.5, "Rural": 0.0})},
        samples=True,
        planned_people=10,
    )
    study.refresh_from_db()
    thoughts = [
        finding.text
        for finding in examine_study(study, study.instruments.get())
        if finding.place == Place.MARGINS
    ]
    assert thoughts[0].endswith("would be let in: Rural, Remote.")
    assert "turned away after the first questions without pay" in thoughts[1]
