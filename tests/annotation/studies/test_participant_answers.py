"""Answers about oneself, ready to be counted: bands, versions, free text, who counts."""

from __future__ import annotations

import pytest

from annotation.common.answer_bands import BandsError, band_names, band_of, parse_bands
from annotation.common.small_cells import DECLINED, UNANSWERED
from annotation.models import DemographicAnswer, DemographicQuestion, Participant, Submission
from annotation.studies.creation import create_study
from annotation.studies.participant_answers import load_participant_answers


def test_bands_run_from_their_start_to_the_next():
    starts = parse_bands("age: 18, 25, 26; years-in-state: 0")["age"]
    assert band_names(starts) == ("under 18", "18 to 24", "25", "26 or more")
    assert [band_of(age, starts) for age in (17, 18, 24, 25, 26, 90)] == [
        "under 18", "18 to 24", "18 to 24", "25", "26 or more", "26 or more",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age", "“age” names no bands"),
        ("age: young", "names no bands"),
        ("age: 18, 18", "do not rise: 18, 18"),
        ("age: 25, 18", "do not rise"),
        ("age: 18; age: 20", "stand here twice"),
    ],
)
def test_bands_that_make_no_sense_are_named(text, message):
    with pytest.raises(BandsError, match=message):
        parse_bands(text)


@pytest.fixture
def study(db):
    return create_study(title="Study", owner=None, contact_email="lab@example.org")


def take_part(study, **answers) -> Submission:
    instrument = study.instruments.get()
    submission = Submission.objects.create(
        study=study, instrument=instrument, participant=Participant.objects.create()
    )
    questions = {question.slug: question for question in instrument.questions.all()}
    for slug, value in answers.items():
        DemographicAnswer.objects.create(
            submission=submission,
            question=questions[slug.replace("_", "-")],
            value=None if value is DECLINED else value,
            declined=value is DECLINED,
            own_words="agender" if slug == "gender" else "",
        )
    return submission


def load(study, *submissions, bands="age: 18, 30"):
    found = load_participant_answers(
        study,
        submissions=[submission.public_id for submission in submissions],
        bands=parse_bands(bands),
    )
    return found, {question.slug: question for question in found.questions}


def test_every_submission_has_an_answer_to_every_question(study):
    ann = take_part(study, gender=["Woman", "Non-binary"], age=29, area=DECLINED)
    bob = take_part(study)
    take_part(study, gender=["Man"])  # not asked for
    found, questions = load(study, ann, bob)
    assert dict(questions["gender"].given) == {
        ann.public_id: {"Woman", "Non-binary"},
        bob.public_id: {UNANSWERED},
    }
    assert questions["gender"].several
    assert questions["gender"].answers[:2] == ("Man", "Woman")
    assert questions["age"].given[ann.public_id] == {"18 to 29"}
    assert questions["area"].given[ann.public_id] == {DECLINED}
    assert dict(questions["area"].counted.people) == {
        frozenset({DECLINED}): 1,
        frozenset({UNANSWERED}): 1,
    }
    assert dict(found.left_out) == {
        "For how many years have you lived there?": "its answers are numbers, and no bands are "
        "set for it"
    }


def test_free_text_and_words_of_ones_own_are_never_read(study):
    DemographicQuestion.objects.filter(slug="area").update(kind="text", options=[])
    ann = take_part(study, gender=["I describe myself:"], area="by the sea")
    found, questions = load(study, ann)
    assert "area" not in questions
    assert found.left_out["What kind of area do you live in?"].startswith("its answers are free")
    assert questions["gender"].given[ann.public_id] == {"I describe myself:"}
    assert "agender" not in repr(found)


def test_the_digest_changes_with_an_answer_and_not_with_order(study):
    ann, bob = take_part(study, age=20), take_part(study, age=40)
    digest = load(study, ann, bob)[0].digest
    assert load(study, bob, ann)[0].digest == digest
    DemographicAnswer.objects.filter(submission=ann).update(value=41)
    assert load(study, ann, bob)[0].digest != digest


def test_loading_costs_three_queries(study, django_assert_num_queries):
    people = [take_part(study, age=20) for _ in range(3)]
    with django_assert_num_queries(3):
        load(study, *people)
