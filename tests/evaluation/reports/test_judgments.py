"""Judgment reports: means and gaps by hand, examples, nothing about a judge."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.judgments.error_coding import DEFAULT_SCHEME, SentErrors, store_scheme
from annotation.judgments.views import submit_judgment
from annotation.models import Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.document import Document, Figure
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import Chosen
from evaluation.reports.requesting import request_report
from probing.models import WordList
from tests.annotation.judgments.corpora import (
    answers,
    launch,
    make_corpus,
    make_study,
    tasks_of,
)
from tests.evaluation.reports.computing import compute, rows_of

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

# Human-likeness by producer and variety; the other aspects are 5, 3 and 2 for everyone.
RATED = {
    ("human", "AAL"): 5,
    ("human", "WME"): 4,
    ("tiny-bart", "AAL"): 2,
    ("tiny-bart", "WME"): 4,
    ("tiny-gpt", "AAL"): 5,
    ("tiny-gpt", "WME"): 5,
}


@pytest.fixture
def study(db) -> Study:
    """Dan and Eve judge every counterpart of four pairs, both of them, alike."""
    study = launch(make_study(make_corpus(), overlap_percent=100), "dan", "eve")
    for name in ("dan", "eve"):
        for task in tasks_of(study, name):
            producer = task.item.producer.partition("@")[0]
            submit_judgment(
                task=task,
                ratings={
                    "human_likeness": str(RATED[producer, task.item.variety]),
                    "linguistic_match": "5",
                    "meaning_preservation": "3",
                    "tone_preservation": "2",
                },
            )
    return study


def build(study: Study, **parameters) -> Report:
    asked = request_report(
        kind="judgments", study=study, parameters={"resamples": 100, **parameters}
    )
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def lay_out(study: Study, **parameters) -> tuple[Report, Document]:
    """Return the report and its document: for numbers, no file is needed."""
    chosen = Chosen(study=study, corpus=None, runs=())
    return compute("judgments", chosen, resamples=100, **parameters)


@pytest.fixture
def coded(db) -> Study:
    """Dan and Eve judge one pair. Dan finds the first word misread wherever a model wrote AAL, Eve
    the first two; nobody marks anything else."""
    scheme = store_scheme(DEFAULT_SCHEME)
    corpus = make_corpus(2)
    study = launch(make_study(corpus, overlap_percent=100, error_scheme=scheme), "dan", "eve")
    for name, words in (("dan", ["0"]), ("eve", ["0", "1"])):
        for task in tasks_of(study, name):
            is_wrong = task.item.producer != "human" and task.item.variety == "AAL"
            submit_judgment(
                task=task,
                ratings=answers(),
                errors=SentErrors({"misread": words} if is_wrong else {}, none=not is_wrong),
            )
    return study


def test_coded_errors_are_counted_and_judges_compared(coded):
    report, document = lay_out(coded)
    shares = {
        (row["producer"], row["variety"], row["category"]): row
        for row in rows_of(document, "errors")
    }
    assert len(shares) == 3 * 2 * 4
    assert {key for key, row in shares.items() if float(row["value"])} == {
        (producer, "AAL", category)
        for producer in ("tiny-bart", "tiny-gpt")
        for category in ("misread", "any error")
    }
    misread = shares["tiny-bart", "AAL", "misread"]
    # Two pairs, two judges, one passage each.
    assert (misread["value"], misread["n"], misread["n_passages"]) == ("100.0", "2", "4")
    gaps = {(row["producer"], row["category"]): row for row in rows_of(document, "error_gaps")}
    assert gaps["tiny-gpt", "misread"]["value"] == "100.0"
    contrasts = rows_of(document, "error_contrasts")
    assert {row["producer"] for row in contrasts} == {"tiny-bart", "tiny-gpt"}
    agreement = {row["category"]: row for row in rows_of(document, "error_agreement")}
    # 4 of 12 counterparts with one word marked by both and one by Eve alone, of 5 words each in
    # AAL by models (“dey read book 1 yo”), of 4 in human AAL, 5 and 5 in WME.
    n = 2 * sum(len(item.body.split()) for item in coded.judgment_items.all())
    marks, apart = 4 * 3, 4
    expected = 1 - (n - 1) * apart / (marks * (n - marks))
    assert float(agreement["misread"]["value"]) == pytest.approx(expected)
    assert (agreement["misread"]["n"], agreement["misread"]["n_marked"]) == ("12", "12")
    assert agreement["invented"]["reason"]
    section = next(s for s in document.sections if s.heading == "Errors that judges marked")
    assert "24 judgments of 12 counterparts" in section.why
    assert "Misread" in str(section.blocks)
    assert set(report.inputs["hashes"]) >= {"errors"}


def test_coded_errors_verify_and_stand_on_the_page(coded):
    report = build(coded, error_unit="character", examples=0)
    assert find_differences(report=report) == []
    page = bytes(report.files.get(name="report.html").content).decode()
    assert "Errors that judges marked" in page
    assert "over the characters of counterparts" in page


def test_without_a_scheme_no_errors_are_reported(study):
    _report, document = lay_out(study)
    assert not [name for name in document.frames if name.startswith("error")]
    assert {"feature_density", "feature_gaps"} <= set(document.frames)


def test_means_gaps_and_agreement_are_those_that_were_given(study):
    _report, document = lay_out(study)
    means = {
        (row["producer"], row["variety"]): float(row["value"])
        for row in rows_of(document, "means")
        if (row["metric"], row["split"]) == ("human_likeness", "all")
    }
    assert means == RATED
    gaps = {
        row["producer"]: float(row["value"])
        for row in rows_of(document, "gaps")
        if (row["metric"], row["split"]) == ("human_likeness", "all")
    }
    assert gaps == {"human": 1, "tiny-bart": -2, "tiny-gpt": 0}
    agreement = {row["aspect"]: row for row in rows_of(document, "agreement")}
    # Two judges who always say the same agree completely; without variation alpha is undefined.
    assert float(agreement["human_likeness"]["value"]) == 1
    assert agreement["tone_preservation"]["value"] == ""
    assert "all annotations are equal" in agreement["tone_preservation"]["reason"]


def test_judgments_that_are_still_owed_are_left_out_in_words(db):
    study = launch(make_study(make_corpus(), overlap_percent=0), "dan", "eve")
    tasks = [task for name in ("dan", "eve") for task in tasks_of(study, name)]
    ratings = dict.fromkeys(
        ("human_likeness", "linguistic_match", "meaning_preservation", "tone_preservation"), "3"
    )
    for task in tasks[:-3]:
        submit_judgment(task=task, ratings=ratings)
    _report, document = lay_out(study)
    assert "3 judgments: assigned, but not given yet." in document.left_out


def test_every_figure_is_drawn_for_phones_too(study):
    figures = [block for block in lay_out(study)[1].blocks if isinstance(block, Figure)]
    assert figures
    assert [figure.name for figure in figures if figure.narrow_spec is None] == []


def test_level_of_measurement_is_an_option(study):
    report, document = lay_out(study, measurement="interval")
    assert {row["measurement"] for row in rows_of(document, "agreement")} == {"interval"}
    assert len(rows_of(document, "agreement_levels")) == 4 * 4
    assert "Krippendorff’s interval alpha" in " ".join(document.method)
    assert report.parameters["measurement"] == "interval"


def test_examples_are_drawn_from_texts_above_and_below_people(study):
    """tiny-gpt beats people in WME (5 to 4), tiny-bart loses in AAL (2 to 5), on every pair."""
    report, document = lay_out(study, examples=2)
    assert report.result is not None
    assert (report.result["n_above"], report.result["n_below"]) == (4, 4)
    drawn = rows_of(document, "examples")
    assert {(row["drawn_from"], row["variety"]) for row in drawn} == {
        ("above", "WME"),
        ("below", "AAL"),
    }
    assert len({row["pair"] for row in drawn if row["drawn_from"] == "above"}) == 2


def test_texts_are_split_by_a_word_list(study):
    WordList.objects.create(slug="one", title="One word", words=["1"], license="MIT")
    _report, document = lay_out(study, word_list="one")
    sizes = {
        row["split"]: int(row["n"])
        for row in rows_of(document, "gaps")
        if (row["producer"], row["metric"]) == ("human", "human_likeness")
    }
    # Of “they be reading book 1” to “… 4” one holds the word.
    assert sizes == {"all": 4, "toxic": 1, "non-toxic": 3}


def test_page_reads_without_judges_names(client, study):
    report = build(study)
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    for text in ("People", "tiny-gpt", "Linguistic match", "Agreement of judges", "2 judges gave"):
        assert text in page
    for name in ("dan", "eve"):
        assert f" {name} " not in page
    for name in ("means", "gaps", "agreement"):
        answer = client.get(reverse("reports:figure", args=[report.public_id, name]))
        assert b"<svg" in answer.content
    assert find_differences(report=report) == []


def test_study_without_judgments_is_refused(db):
    study = launch(make_study(make_corpus()), "dan")
    with pytest.raises(ReportError, match="Nobody has judged"):
        request_report(kind="judgments", study=study)
