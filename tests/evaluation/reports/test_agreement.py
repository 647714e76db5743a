"""Agreement reports and the live fragment, against a plain double loop over all annotations."""

from __future__ import annotations

from itertools import combinations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.counterparts.adjudication import load_annotations
from annotation.models import Study
from evaluation.models import Report, ReportStatus
from evaluation.reports import views
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.requesting import request_report
from tests.annotation.counterparts.studies import make_writing_study, tasks_of, write

pytestmark = pytest.mark.django_db

FEW = {"resamples": 100, "shuffles": 10}


@pytest.fixture
def study() -> Study:
    """Ann and Ben write all their texts; Ben says less, and once nothing at all."""
    study = make_writing_study("ann", "ben")
    for name, drop in (("ann", 0), ("ben", 1)):
        for number, task in enumerate(tasks_of(study, name)):
            if name == "ben" and number == 2:
                write(task, not_interpretable=True, reason="unknown word", detail="cus")
                continue
            write(task, f"{task.text.body.replace('be ', 'is ', 1)} indeed"[: -drop or None])
    return study


def distance(first: str, second: str) -> int:
    """Levenshtein's distance as every textbook has it (Wagner and Fischer 1974)."""
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        above, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


def plain_alpha(study: Study) -> float:
    """1 − D_o/D_e: pairs of one text over pairs of different texts, in a double loop."""
    rows = [row for row in load_annotations(study) if not row.not_interpretable]
    same, different = [], []
    for a, b in combinations(rows, 2):
        (same if a.text_slug == b.text_slug else different).append(distance(a.body, b.body))
    return 1 - (sum(same) / len(same)) / (sum(different) / len(different))


def build(study: Study, **parameters) -> Report:
    asked = request_report(kind="agreement", study=study, parameters={**FEW, **parameters})
    built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def test_alpha_equals_a_plain_double_loop(study):
    report = build(study)
    assert report.result is not None
    assert report.result["overall"]["value"] == pytest.approx(plain_alpha(study), abs=1e-12)
    assert report.result["n_not_interpretable"] == 1
    assert find_differences(report=report) == []


def test_the_page_shows_definitions_pairs_and_the_data_statement(client, study):
    report = build(study)
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:page", args=[report.public_id])).content.decode()
    for text in (
        "Annotators 1 and 2",
        "shuffled pairs (Deas et al. 2023)",
        "Data statement",
        "2 annotators wrote",
        "Not stated.",
    ):
        assert text in page
    figure = client.get(reverse("reports:figure", args=[report.public_id, "annotators"]))
    assert b"Annotator 2" in figure.content


def test_no_account_of_an_annotator_is_in_any_file(study):
    report = build(study)
    for file in report.files.all():
        if not file.name.endswith((".pdf", ".xlsx")):
            text = bytes(file.content).decode()
            assert "ann" not in text.replace("annot", "").replace("Annot", "").split()
            assert "@example" not in text


def test_live_fragment_states_the_same_alpha_and_computes_once(client, study, monkeypatch):
    client.force_login(User.objects.create_superuser("boss"))
    address = reverse("reports:agreement-live", args=[study.public_id])
    calls = []
    real = views.analyze_agreement
    monkeypatch.setattr(views, "analyze_agreement", lambda *a: calls.append(1) or real(*a))
    pages = [client.get(address).content.decode() for _ in range(2)]
    assert f">{plain_alpha(study):.2f}</dd>" in pages[0]
    assert pages[0] == pages[1]
    assert len(calls) == 1
    # Another counterpart is other data.
    task = tasks_of(study, "ann")[0]
    write(task, "Something else entirely")
    assert f">{plain_alpha(study):.2f}</dd>" in client.get(address).content.decode()
    assert len(calls) == 2


def test_live_fragment_of_a_study_without_counterparts_says_so(client):
    study = make_writing_study("ann", "ben")
    client.force_login(User.objects.create_superuser("boss"))
    page = client.get(reverse("reports:agreement-live", args=[study.public_id])).content.decode()
    assert "Nobody has submitted a counterpart yet" in page


def test_outsider_finds_no_live_agreement(client, study):
    client.force_login(User.objects.create_user("charlie", is_staff=True))
    address = reverse("reports:agreement-live", args=[study.public_id])
    assert client.get(address).status_code == 404


def test_one_annotator_alone_gives_reasons_instead_of_numbers():
    study = make_writing_study("ann")
    for task in tasks_of(study, "ann"):
        write(task, f"{task.text.body} indeed")
    report = build(study)
    assert report.result is not None
    assert report.result["overall"]["value"] is None
    html = bytes(report.files.get(name="report.html").content).decode()
    assert "No text was annotated twice" in html


def test_study_without_counterparts_is_refused():
    with pytest.raises(ReportError, match="Nobody has submitted"):
        request_report(kind="agreement", study=make_writing_study("ann"))


def test_survey_is_refused_as_a_writing_study(rated_study):
    with pytest.raises(ReportError, match="expected “counterpart_writing”"):
        request_report(kind="agreement", study=rated_study())
