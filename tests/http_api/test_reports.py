"""Reports are asked for over HTTP; `every_address` reads them."""

from __future__ import annotations

from annotation.models import DemographicAnswer
from evaluation.models import Report
from evaluation.reports.building import build_report
from probing.runs.creation import create_run
from probing.runs.stimuli import load_stimuli
from probing.runs.worker import work
from tests.evaluation.reports.corpora import make_pairs, make_text_run


def test_a_report_is_asked_for_and_waits_for_a_worker(api, alice, study, run):
    body = {
        "study": study.public_id,
        "runs": [run.public_id],
        "title": "A question",
        "parameters": {"resamples": 200},
    }
    response = api(alice).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 201, response.content
    stored = Report.objects.get()
    assert stored.public_id == response.json()["public_id"]
    assert (stored.status, stored.title, stored.created_by) == ("waiting", "A question", alice)
    assert stored.parameters["resamples"] == 200


def test_a_comparison_of_measures_is_asked_for_and_built(api, alice, study, model, finished_run):
    other = create_run(
        measure="ilps_star",
        model=model,
        stimuli=load_stimuli(
            groups=sorted(finished_run.scores.values_list("group", flat=True).distinct()),
            templates=["that-group-is-trait"],
        ),
        parameters={},
        seed=0,
        created_by=alice,
    )
    work(worker="test")
    body = {
        "kind": "alignment_comparison",
        "study": study.public_id,
        "runs": [finished_run.public_id, other.public_id],
        "parameters": {"resamples": 200},
    }
    response = api(alice).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 201, response.content
    address = f"/api/v1/reports/{response.json()['public_id']}/"
    assert api(alice).get(address).json()["status"] == "waiting"
    build_report(report_id=Report.objects.get().pk)
    content = api(alice).get(address).json()
    assert (content["kind"], content["status"]) == ("alignment_comparison", "final"), content
    assert {"report.html", "report.pdf"} <= {file["name"] for file in content["files"]}


def test_subgroups_are_asked_for_over_http_and_built(api, alice, study, finished_run):
    question = study.instruments.get().questions.get(slug="gender")
    for submission in study.submissions.all():
        DemographicAnswer.objects.create(submission=submission, question=question, value=["Man"])
    body = {
        "kind": "alignment_subgroups",
        "study": study.public_id,
        "runs": [finished_run.public_id],
        "parameters": {"resamples": 200, "smallest": 3},
    }
    response = api(alice).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 201, response.content
    build_report(report_id=Report.objects.get().pk)
    content = api(alice).get(f"/api/v1/reports/{response.json()['public_id']}/").json()
    assert (content["kind"], content["status"]) == ("alignment_subgroups", "final"), content


def test_bad_options_are_refused_and_store_nothing(api, alice, study, run):
    body = {"study": study.public_id, "runs": [run.public_id], "parameters": {"resamples": 3}}
    response = api(alice).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 400
    assert "resamples" in response.json()["detail"]
    assert not Report.objects.exists()


def test_a_run_that_does_not_exist_is_named(api, alice, study):
    body = {"study": study.public_id, "runs": ["0" * 12]}
    response = api(alice).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 400
    (fault,) = response.json()["errors"]
    assert fault["field"] == "runs"
    assert "0" * 12 in fault["message"]


def test_kinds_say_what_they_rest_on_and_which_options_they_have(api, alice):
    kinds = {kind["name"]: kind for kind in api(alice).get("/api/v1/reports/kinds/").json()}
    assert kinds["alignment"]["study"] == "abc_survey"
    assert kinds["alignment"]["most_runs"] == 1
    assert kinds["counterparts"]["measures"] == ["counterpart_generation"]
    assert kinds["counterparts"]["most_runs"] is None
    assert "word_list" in kinds["dataset"]["parameters"]["properties"]


def test_a_report_on_a_corpus_is_asked_for_by_kind(api, alice):
    corpus = make_pairs()
    body = {"kind": "dataset", "corpus": corpus.public_id}
    response = api(alice).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 201, response.content
    assert response.json()["corpus"] == corpus.public_id
    assert response.json()["study"] is None
    found = api(alice).get(f"/api/v1/reports/?kind=dataset&corpus__public_id={corpus.public_id}")
    assert [row["public_id"] for row in found.json()["results"]] == [Report.objects.get().public_id]


def test_a_corpus_of_others_does_not_exist_for_a_request(api, alice, charlie):
    corpus = make_pairs(is_shared=False, owner=alice)
    body = {"kind": "dataset", "corpus": corpus.public_id}
    response = api(charlie).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 400
    assert not Report.objects.exists()


def test_a_run_on_a_corpus_of_others_does_not_exist_for_a_request(api, alice, charlie):
    corpus = make_pairs(is_shared=False, owner=alice)
    run = make_text_run(corpus, measure="counterpart_generation")
    shared = make_pairs(name="Shared pairs")
    body = {"kind": "counterparts", "corpus": shared.public_id, "runs": [run.public_id]}
    response = api(charlie).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 400
    assert corpus.name not in response.content.decode()
