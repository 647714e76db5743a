"""Who may see and do what over HTTP: with a token, without one, as an outsider; and a report."""

from __future__ import annotations

import csv
import io
import json

import pytest
from django.contrib.auth.models import Permission

from annotation.models import ParticipantIdentity
from evaluation.models import Report


@pytest.fixture
def addresses(study, finished_run, report) -> dict[str, str]:
    """Every address that answers to GET."""
    base = "/api/v1"
    return {
        "studies": f"{base}/studies/",
        "study": f"{base}/studies/{study.public_id}/",
        "quotas": f"{base}/studies/{study.public_id}/quotas/",
        "ratings": f"{base}/studies/{study.public_id}/ratings/",
        "ratings csv": f"{base}/studies/{study.public_id}/ratings.csv/",
        "submissions csv": f"{base}/studies/{study.public_id}/submissions.csv/",
        "sets": f"{base}/group-sets/",
        "set of groups": f"{base}/group-sets/cao-2022-released/",
        "models": f"{base}/models/",
        "model": f"{base}/models/{finished_run.model.public_id}/",
        "measures": f"{base}/measures/",
        "measure": f"{base}/measures/set/",
        "runs": f"{base}/runs/",
        "run": f"{base}/runs/{finished_run.public_id}/",
        "progress": f"{base}/runs/{finished_run.public_id}/progress/",
        "scores": f"{base}/runs/{finished_run.public_id}/scores/",
        "reports": f"{base}/reports/",
        "report": f"{base}/reports/{report.public_id}/",
        "report file": f"{base}/reports/{report.public_id}/files/groups.csv/",
        "schema": "/api/schema/",
    }


OF_THE_STUDY = {
    "study",
    "quotas",
    "ratings",
    "ratings csv",
    "submissions csv",
    "report",
    "report file",
}


def test_owner_reads_every_address(api, alice, addresses):
    client = api(alice)
    answers = {name: client.get(address).status_code for name, address in addresses.items()}
    assert answers == dict.fromkeys(addresses, 200)


def test_member_reads_every_address(api, bob, addresses):
    client = api(bob)
    answers = {name: client.get(address).status_code for name, address in addresses.items()}
    assert answers == dict.fromkeys(addresses, 200)


def test_outsider_sees_nothing_of_the_study(api, charlie, addresses):
    client = api(charlie)
    answers = {name: client.get(address).status_code for name, address in addresses.items()}
    assert answers == {name: 404 if name in OF_THE_STUDY else 200 for name in addresses}
    assert client.get(addresses["studies"]).json()["count"] == 0
    assert client.get(addresses["reports"]).json()["count"] == 0


def test_without_a_token_every_address_answers_401(api, addresses):
    client = api(None)
    for name, address in addresses.items():
        response = client.get(address)
        assert response.status_code == 401, name
        assert response["WWW-Authenticate"] == "Token", name


def test_a_wrong_token_answers_401(api, addresses):
    client = api(None)
    client.credentials(HTTP_AUTHORIZATION="Token " + "0" * 40)
    assert client.get(addresses["runs"]).status_code == 401


def test_an_account_without_staff_rights_answers_403(api, dora, addresses):
    client = api(dora)
    for name, address in addresses.items():
        assert client.get(address).status_code == 403, name


def test_staff_need_the_admins_permissions_for_models_runs_and_reports(api, charlie, addresses):
    charlie.user_permissions.clear()
    client = api(charlie)
    for name in ("models", "model", "runs", "run", "progress", "reports"):
        assert client.get(addresses[name]).status_code == 403, name
    assert client.get(addresses["measures"]).status_code == 200


def test_the_view_permission_does_not_let_create_or_cancel(api, charlie, run):
    charlie.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = api(charlie)
    body = {"measure": "set", "model": run.model.public_id}
    assert client.post("/api/v1/runs/", body, format="json").status_code == 403
    assert client.post(f"/api/v1/runs/{run.public_id}/cancel/").status_code == 403
    assert client.post("/api/v1/models/", {"location": "x"}, format="json").status_code == 403
    run.refresh_from_db()
    assert run.status == "waiting"


def test_outsider_cannot_ask_for_a_report_on_a_study_of_others(api, charlie, study, finished_run):
    before = study.reports.count()
    body = {"study": study.public_id, "run": finished_run.public_id}
    response = api(charlie).post("/api/v1/reports/", body, format="json")
    assert response.status_code == 400
    assert response.json()["errors"][0]["field"] == "study"
    assert study.reports.count() == before


def test_no_answer_holds_a_secret_of_participants(api, alice, study, addresses):
    """Neither tokens of links nor panel ids nor completion codes pass, not even to the owner."""
    secrets = set(study.completion_codes.values())
    secrets |= set(study.submissions.values_list("token", flat=True))
    secrets |= set(ParticipantIdentity.objects.values_list("external_id", flat=True))
    assert len(secrets) > 10
    client = api(alice)
    for name, address in addresses.items():
        response = client.get(address, {"limit": 1000} if name == "ratings" else {})
        content = b"".join(response) if response.streaming else response.content
        found = {secret for secret in secrets if secret.encode() in content}
        assert not found, name


def test_a_session_of_the_admin_reads_too(client, alice, addresses):
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get(addresses["runs"]).status_code == 200


def test_a_session_cannot_act_without_csrf_protection(alice, run):
    from django.test import Client

    client = Client(enforce_csrf_checks=True)
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    response = client.post(f"/api/v1/runs/{run.public_id}/cancel/")
    assert response.status_code == 403
    assert "CSRF" in json.loads(response.content)["detail"]


def test_an_unknown_address_answers_with_a_problem_document(api, alice):
    response = api(alice).post("/api/v1/rnus/", {"measure": "set"}, format="json")
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["title"] == "Not Found"


def test_the_documentation_page_is_for_those_who_log_in(client, alice):
    assert client.get("/api/docs/").status_code == 302
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")
    response = client.get("/api/docs/")
    assert response.status_code == 200
    assert "<style" not in response.content.decode()


def test_a_report_comes_with_result_and_files(api, alice, report):
    content = api(alice).get(f"/api/v1/reports/{report.public_id}/").json()
    assert content["status"] == "final"
    assert content["is_demo"] is True
    assert content["page"].endswith(f"/reports/{report.public_id}/")
    assert {file["name"] for file in content["files"]} >= {"report.html", "groups.csv"}
    assert content["result"] == Report.objects.get().result


def test_a_table_is_fetched_as_csv(api, alice, report):
    response = api(alice).get(f"/api/v1/reports/{report.public_id}/files/groups.csv/")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert {row["group"] for row in rows} >= {"asian", "black", "elderly"}


def test_a_file_that_the_report_does_not_have_is_not_found(api, alice, report):
    response = api(alice).get(f"/api/v1/reports/{report.public_id}/files/secret.txt/")
    assert response.status_code == 404
