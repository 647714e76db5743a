"""Published answers about participants: counts per question, never people, or nothing at all."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.common.answer_bands import parse_bands
from annotation.common.small_cells import DECLINED, UNANSWERED
from annotation.imports.abc_demographics import QUESTIONS, parse_demographics
from annotation.imports.abc_file import AbcFileError
from annotation.models import ParticipantSummary, Study
from annotation.studies.participant_answers import read_summary

ANN = {
    "Gender": "Woman", "Age": "23", "Race": "Hispanic or Latino,White or Caucasian",
    "Education": "Professional degree (JD, MD, DVM, etc.)", "State": "Ohio",
    "Years lived in the state": "0", "Territory": "Prefer not to say",
}  # fmt: skip
BOB = {**ANN, "Gender": "", "Age": 41, "Race": "White or Caucasian,Prefer not to say"}
RATINGS = {"annotator0": {"women": {"cold - warm": "80"}}}


def encode(data: object) -> bytes:
    return json.dumps(data).encode()


def answered(content: bytes, slug: str) -> dict[tuple[str, ...], int]:
    (question,) = (q for q in parse_demographics(content).questions if q.slug == slug)
    return {tuple(row.answers): row.n for row in question.people}


def test_answers_become_counts_per_question() -> None:
    content = encode({"a": ANN, "b": BOB, "c": ANN})
    assert parse_demographics(content).n_people == 3
    assert answered(content, "gender") == {("Woman",): 2, (UNANSWERED,): 1}
    assert answered(content, "age") == {("23",): 2, ("41",): 1}
    # Who prefers not to say has declined, whatever else was ticked, as in the survey.
    assert answered(content, "race") == {
        ("Hispanic or Latino", "White or Caucasian"): 2,
        (DECLINED,): 1,
    }
    assert answered(content, "education") == {("Professional degree (JD, MD, DVM, etc.)",): 3}
    assert answered(content, "area") == {(DECLINED,): 3}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "holds nobody"),
        (b"{}", "holds nobody"),
        (b'{"a": {}, "a": {}}', "twice"),
        (encode({"a": 3}), "person 1: expected an object"),
        (encode({"a": {**ANN, "Income": "9"}}), "“Income” is no question known here"),
        (encode({"a": {**ANN, "Age": "young"}}), "person 1, Age: “young”, expected a whole number"),
        (encode({"a": {**ANN, "State": ["Ohio"]}}), "person 1, State: expected a text"),
        (encode({"a": {**ANN, "State": "x" * 121}}), "121 characters, expected at most 120"),
    ],
)
def test_bad_files_are_refused_with_the_place(content: bytes, message: str) -> None:
    with pytest.raises(AbcFileError, match=message):
        parse_demographics(content)


def test_a_message_names_no_person() -> None:
    with pytest.raises(AbcFileError) as caught:
        parse_demographics(encode({"prolific-4711": {**ANN, "Age": "?"}}))
    assert "4711" not in str(caught.value)


@pytest.mark.django_db
def test_the_command_stores_counts_with_the_study(tmp_path: Path) -> None:
    (tmp_path / "ratings.json").write_bytes(encode(RATINGS))
    (tmp_path / "people.json").write_bytes(encode({"x1": ANN, "x2": BOB}))
    out = io.StringIO()
    call_command(
        "import_abc_ratings",
        str(tmp_path / "ratings.json"),
        demographics=tmp_path / "people.json",
        stdout=out,
    )
    assert "Who took part: 2 people" in out.getvalue()
    summary = Study.objects.get().participant_summary
    assert summary.n_people == 2
    assert "people.json" in summary.source
    assert "x1" not in json.dumps(summary.questions)
    questions, left_out = read_summary(summary, bands=parse_bands("age: 18, 25, 35"))
    assert {question.slug for question in questions} == {
        slug for slug, _, _ in QUESTIONS.values()
    } - {"years-in-state"}
    assert list(left_out) == ["Years lived in the state"]
    age = next(question for question in questions if question.slug == "age")
    assert age.answers == ("18 to 24", "25 to 34", "35 or more")
    assert dict(age.people) == {frozenset({"18 to 24"}): 1, frozenset({"35 or more"}): 1}


@pytest.mark.django_db
def test_a_bad_file_of_participants_stores_no_ratings_either(tmp_path: Path) -> None:
    (tmp_path / "ratings.json").write_bytes(encode(RATINGS))
    (tmp_path / "people.json").write_bytes(b"{")
    with pytest.raises(CommandError, match="not JSON"):
        call_command(
            "import_abc_ratings",
            str(tmp_path / "ratings.json"),
            demographics=tmp_path / "people.json",
        )
    assert not Study.objects.exists()
    assert not ParticipantSummary.objects.exists()


@pytest.mark.shared
def test_published_participants_are_counted_as_printed(shared_dir: Path) -> None:
    """Source: the published file, counted here without any of the product's code."""
    file = shared_dir / "data/us_stereotypes/Annotators_demographics.json"
    content = file.read_bytes()
    assert parse_demographics(content).n_people == 134
    people = json.loads(content).values()
    for name, slug in (("Gender", "gender"), ("State", "state"), ("Education", "education")):
        for answer in {person[name] for person in people}:
            n = sum(person[name] == answer for person in people)
            key = (DECLINED,) if answer == "Prefer not to say" else (answer,)
            assert answered(content, slug)[key] == n
    white = sum(
        n for given, n in answered(content, "race").items() if "White or Caucasian" in given
    )
    # 75 alone and five with another answer; the sixth of those preferred not to say.
    assert white == 75 + 2 + 1 + 1 + 1
