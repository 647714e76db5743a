"""Reports on subgroups and on who took part: real answers, small cells, every format."""

from __future__ import annotations

import json

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.imports.abc_ratings import NamedContent
from annotation.models import DemographicAnswer, Rating, Study, Submission, SubmissionOrigin
from evaluation.models import ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.document import Choices, Prose
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.registry import get_kind
from evaluation.reports.requesting import request_report
from tests.evaluation.reports.computing import compute
from tests.evaluation.reports.published import golden_cases, import_published

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
KIND = "alignment_subgroups"
FEW = {"resamples": 100}


@pytest.fixture
def chosen(rated_study, scored_run) -> Chosen:
    """24 people: 12 men, 8 women, 4 who describe themselves; half are 20 years old, half 30."""
    study = rated_study(submissions=24)
    questions = {question.slug: question for question in study.instruments.get().questions.all()}
    for i, submission in enumerate(study.submissions.order_by("pk")):
        gender = ["Man"] if i < 12 else ["Woman"] if i < 20 else ["I describe myself:"]
        for slug, value in (("gender", gender), ("age", 20 if i % 2 else 30)):
            DemographicAnswer.objects.create(
                submission=submission,
                question=questions[slug],
                value=value,
                own_words="quite unmistakable" if gender[0].endswith(":") else "",
            )
    return Chosen(study=study, runs=(scored_run(),))


def test_tables_hold_subgroups_of_enough_people_alone(chosen):
    _, document = compute(KIND, chosen, smallest=4, **FEW)
    found = document.frames["subgroups"].set_index(["question", "answer"])["n_people"]
    assert dict(found) == {
        ("", ""): 24,
        ("gender", "Man"): 12,
        ("gender", "Woman"): 8,
        ("gender", "I describe myself:"): 4,
        ("age", "18 to 24"): 12,
        ("age", "25 to 34"): 12,
    }
    # With five as the smallest number the four would follow from the 24, so women fall, too.
    _, document = compute(KIND, chosen, **FEW)
    assert [
        answer for question, answer in zip(
            document.frames["subgroups"]["question"], document.frames["subgroups"]["answer"],
            strict=True,
        ) if question == "gender"
    ] == ["Man"]  # fmt: skip
    assert any(line.startswith("What is your gender?") for line in document.left_out)


def test_means_are_those_of_the_subgroups_ratings(chosen):
    """Source: the mean of the stored ratings, asked of the database."""
    _, document = compute(KIND, chosen, **FEW)
    means = document.frames["means"].query("question == 'gender' and answer == 'Man'")
    assert len(means) == 3 * 16
    for row in means.to_dict("records"):
        stored = Rating.objects.filter(
            assignment__group__slug=row["group"],
            scale__slug=row["scale"],
            assignment__submission__answers__value=["Man"],
        ).values_list("value", flat=True)
        assert row["n"] == len(stored) == 12
        assert row["mean"] == pytest.approx(sum(stored) / 12)


def test_a_study_whose_submissions_do_not_count_is_not_offered(chosen):
    kind, studies = get_kind(KIND), Study.objects.all()
    assert list(kind.fitting_studies(studies)) == [chosen.study]
    chosen.study.submissions.update(origin=SubmissionOrigin.PILOT, is_counted=False)
    assert not kind.fitting_studies(studies).exists()
    with pytest.raises(ReportError, match="has no answers of participants"):
        request_report(kind=KIND, study=chosen.study, runs=chosen.runs, parameters=FEW)


def test_who_took_part_is_counted_with_small_numbers_kept_back(chosen):
    _, document = compute(KIND, chosen, **FEW)
    table = document.frames["participants"]
    gender = table[table["question"] == "gender"].set_index("answer")["n"]
    # Several answers could be given: the number of all others is not told.
    assert gender["Man"] == 12
    assert gender.isna()["Other answers"]
    assert set(gender.index) == {"Man", "Other answers"}
    age = table[table["question"] == "age"].set_index("answer")
    assert dict(age["n"])["18 to 24"] == 12
    assert age.loc["25 to 34", "share"] == pytest.approx(0.5)
    # Nobody answered the others.
    assert set(table["question"]) == {"gender", "age"}


def test_words_of_ones_own_are_in_no_file_and_in_no_record(chosen):
    asked = request_report(kind=KIND, study=chosen.study, runs=chosen.runs, parameters=FEW)
    report = build_report(report_id=asked.pk)
    assert report is not None
    assert report.status == ReportStatus.FINAL, report.error
    assert "unmistakable" not in json.dumps([report.inputs, report.result])
    submissions = set(Submission.objects.values_list("public_id", flat=True))
    for file in report.files.all():
        content = bytes(file.content)
        assert b"unmistakable" not in content
        assert not any(public_id.encode() in content for public_id in submissions)
    assert find_differences(report=report) == []
    assert get_kind(KIND).headline(report.result).startswith("τ ")


def test_verification_names_answers_that_have_changed(chosen):
    asked = request_report(kind=KIND, study=chosen.study, runs=chosen.runs, parameters=FEW)
    report = build_report(report_id=asked.pk)
    assert report is not None
    DemographicAnswer.objects.filter(question__slug="age").update(value=30)
    found = find_differences(report=report)
    assert any(line.startswith("participants answers_hash") for line in found)
    assert any("table subgroups differs" in line for line in found)


def test_page_shows_another_question_and_another_group(chosen, client):
    asked = request_report(kind=KIND, study=chosen.study, runs=chosen.runs, parameters=FEW)
    report = build_report(report_id=asked.pk)
    assert report is not None
    client.force_login(User.objects.create_superuser("boss"))
    page = reverse("reports:page", args=[report.public_id])
    html = client.get(page, {"question": "age", "group": "elderly"}).content.decode()
    assert "Group by group: How old are you?" in html
    assert "How they rate elderly people" in html
    assert "question=gender&amp;group=elderly" in html
    figure = reverse("reports:figure", args=[report.public_id, "groups"])
    svg = client.get(figure, {"question": "age"}).content.decode()
    assert "25 to 34" in svg
    assert "Man" not in svg
    assert client.get(page, {"group": "martian"}).status_code == 404
    assert client.get(page, {"question": "shoe"}).status_code == 404


def test_questions_can_be_chosen_and_crossed(chosen):
    report, document = compute(
        KIND,
        chosen,
        questions="age, gender",
        crossings="age*gender, race*gender",
        smallest=3,
        **FEW,
    )
    assert list(report.inputs["questions"]) == ["age", "gender", "age*gender"]
    crossed = document.frames["subgroups"].query("question == 'age*gender'")
    # At either age two describe themselves and would follow, so that the four women fall.
    assert dict(zip(crossed["answer"], crossed["n_people"], strict=True)) == {
        "18 to 24 × Man": 6,
        "25 to 34 × Man": 6,
    }
    assert any("race*gender" in line for line in document.left_out)
    _, alone = compute(KIND, chosen, questions="age", **FEW)
    assert set(alone.frames["subgroups"]["question"]) == {"", "age"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"questions": "shoe"}, "no answers to “shoe” that make subgroups. Questions: gender, age"),
        ({"crossings": "age"}, "“age” crosses no two questions"),
        ({"crossings": "age*age"}, "crosses no two questions"),
        ({"smallest": 2}, "greater than or equal to 3"),
        ({"bands": "age: 30, 20"}, "do not rise"),
    ],
)
def test_options_that_cannot_be_used_are_named(chosen, options, message):
    with pytest.raises(ReportError, match=message):
        compute(KIND, chosen, **FEW, **options)


def test_study_without_answers_is_refused_with_the_remedy(rated_study, scored_run):
    study, run = rated_study(), scored_run()
    with pytest.raises(ReportError, match="no answers of participants that can be joined"):
        request_report(kind=KIND, study=study, runs=[run])
    assert study not in get_kind(KIND).fitting_studies(type(study).objects.all())


def test_alignment_report_says_who_took_part(chosen):
    _report, document = compute("alignment", chosen, resamples=100, splits=100)
    assert "participants" in document.frames
    headings = [section.heading for section in document.sections]
    assert "Who took part" in headings


def test_alignment_report_without_answers_has_no_such_section(rated_study, scored_run):
    chosen = Chosen(study=rated_study(), runs=(scored_run(),))
    _, document = compute("alignment", chosen, resamples=100, splits=100)
    assert "Who took part" not in [section.heading for section in document.sections]


@pytest.mark.shared
def test_published_participants_stand_on_the_alignment_report_alone(shared_dir, scored_run):
    """Source: the published file: 68 women, 63 men, 2 questioning and 1 without an answer of 134.
    The three others would follow from men and women, so that the men fall with them."""
    file = shared_dir / "data/us_stereotypes/Annotators_demographics.json"
    study = import_published(
        shared_dir, demographics=NamedContent(file.name, file.read_bytes())
    )  # fmt: skip
    run = scored_run(scores=golden_cases(shared_dir)[0]["scores"])
    chosen = Chosen(study=study, runs=(run,))
    _, document = compute("alignment", chosen, resamples=100, splits=100)
    table = document.frames["participants"]
    gender = table[table["question"] == "gender"].set_index("answer")["n"]
    assert dict(gender) == {"Woman": 68, "Other answers": 66}
    assert all(n == 0 or n >= 5 for n in table["n"].dropna())
    said = [block.paragraphs[0] for block in document.blocks if isinstance(block, Prose)]
    assert any("cannot be joined to ratings" in paragraph for paragraph in said)
    with pytest.raises(ReportError, match="published data"):
        request_report(kind=KIND, study=study, runs=[run])


def test_document_of_a_study_too_small_to_show_anything(chosen):
    _, document = compute(KIND, chosen, smallest=30, **FEW)
    assert document.keys[0].value == "fewer than 30"
    assert document.frames["means"].empty
    assert not [block for block in document.blocks if isinstance(block, Choices)]
