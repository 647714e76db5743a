"""Models, measures and runs over HTTP."""

from __future__ import annotations

import pytest

from probing.models import LanguageModel, Run
from probing.runs.control import cancel_run

BODY = {"groups": ["asian", "black"], "templates": ["that-group-is-trait"]}


def test_a_model_is_registered_from_its_folder(api, alice, model_folder):
    response = api(alice).post("/api/v1/models/", {"location": str(model_folder)}, format="json")
    assert response.status_code == 201, response.content
    content = response.json()
    assert content["family"] == "bert"
    assert content["source"] == "path"
    assert LanguageModel.objects.get().public_id == content["public_id"]


def test_the_same_place_gives_the_registered_model(api, alice, model, model_folder):
    response = api(alice).post("/api/v1/models/", {"location": str(model_folder)}, format="json")
    assert response.status_code == 200
    assert response.json()["public_id"] == model.public_id


def test_a_chat_model_is_registered_from_its_server(api, alice):
    body = {
        "location": "http://localhost:11434/v1",
        "served_name": "llama3.2",
        "key_variable": "MODEL_KEY_TEST",
    }
    response = api(alice).post("/api/v1/models/", body, format="json")
    assert response.status_code == 201, response.content
    content = response.json()
    assert (content["kind"], content["source"]) == ("chat", "server")
    assert {name: content[name] for name in body} == body
    again = api(alice).post("/api/v1/models/", body, format="json")
    assert again.status_code == 200
    assert again.json()["public_id"] == content["public_id"]


def test_a_server_without_a_served_name_is_named_with_the_field(api, alice):
    body = {"location": "http://localhost:11434/v1"}
    response = api(alice).post("/api/v1/models/", body, format="json")
    assert response.status_code == 400
    (fault,) = response.json()["errors"]
    assert fault["field"] == "served_name"


def test_a_folder_that_does_not_exist_is_named_with_the_field(api, alice):
    response = api(alice).post("/api/v1/models/", {"location": "/no/such/folder"}, format="json")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    content = response.json()
    assert content["status"] == 400
    (fault,) = content["errors"]
    assert fault["field"] == "location"
    assert fault["value"] == "/no/such/folder"
    assert "/no/such/folder" in fault["message"]
    assert not LanguageModel.objects.exists()


def test_measures_come_with_the_schema_of_their_parameters(api, alice):
    content = api(alice).get("/api/v1/measures/").json()
    assert {measure["name"] for measure in content} >= {"set", "ilps_star"}
    for measure in content:
        schema = measure["parameters"]
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert all(field["description"] for field in schema["properties"].values())


def test_an_unknown_measure_is_not_found(api, alice):
    response = api(alice).get("/api/v1/measures/nothing/")
    assert response.status_code == 404
    assert "“nothing”" in response.json()["detail"]


def test_a_run_is_created_with_its_shards(api, alice, model):
    body = {**BODY, "measure": "set", "model": model.public_id, "seed": 7}
    response = api(alice).post("/api/v1/runs/", body, format="json")
    assert response.status_code == 201, response.content
    run = Run.objects.get(public_id=response.json()["public_id"])
    assert run.seed == 7
    assert run.created_by == alice
    assert run.shards.count() == run.shard_count == response.json()["shard_count"] > 0
    assert [group["slug"] for group in response.json()["stimuli"]["groups"]] == ["asian", "black"]


def test_without_choices_a_run_takes_the_papers_groups_and_best_templates(api, alice, model):
    body = {"measure": "set", "model": model.public_id}
    stimuli = api(alice).post("/api/v1/runs/", body, format="json").json()["stimuli"]
    assert len(stimuli["groups"]) == 25
    assert len(stimuli["traits"]) == 16
    # Cao et al. (2022), Table 5: SeT with BERT.
    assert {template["text"] for template in stimuli["templates"]} == {
        "All {plural} are {trait}.",
        "{Plural} should be {trait}.",
    }


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"measure": "horoscope"}, "measure", "horoscope"),
        ({"model": "0" * 12}, "model", "0" * 12),
        ({"model": "a\0b"}, "model", "a\0b"),
        ({"groups": ["martians"]}, "groups", None),
        ({"templates": ["no-such-template"]}, "templates", None),
        ({"traits": ["good-bad"]}, "traits", None),
        ({"seed": -1}, "seed", -1),
        ({"seed": 2**31}, "seed", 2**31),
        ({"parameters": {"gamma": -3}}, "parameters.gamma", -3),
        ({"parameters": {"color": "red"}}, "parameters.color", "red"),
        ({"parameters": ["gamma"]}, "parameters", None),
    ],
)
@pytest.mark.parametrize("address", ["/api/v1/runs/", "/api/v1/runs/dry-run/"])
def test_a_bad_request_names_field_and_value_and_stores_nothing(
    api, alice, model, change, field, value, address
):
    body = {**BODY, "measure": "set", "model": model.public_id, **change}
    response = api(alice).post(address, body, format="json")
    if address.endswith("dry-run/") and response.status_code == 200:
        # What the measure itself refuses is the dry run's own answer.
        assert any(problem["fatal"] for problem in response.json()["problems"])
        assert response.json()["cost"] is None
    else:
        assert response.status_code == 400
        fault = response.json()["errors"][0]
        assert (fault["field"], fault["value"]) == (field, value)
        assert fault["message"]
    assert not Run.objects.exists()


def test_a_body_that_is_not_json_is_refused(api, alice):
    response = api(alice).post("/api/v1/runs/", "{measure", content_type="application/json")
    assert response.status_code == 400
    assert "JSON" in response.json()["detail"]


def test_a_dry_run_says_the_cost_and_stores_nothing(api, alice, model):
    body = {**BODY, "measure": "set", "model": model.public_id}
    content = api(alice).post("/api/v1/runs/dry-run/", body, format="json").json()
    assert content["cost"]["shards"] == 1
    assert content["cost"]["forward_passes"] > 0
    assert content["seconds"] is None
    assert not Run.objects.exists()


def test_cancel_and_resume_are_safe_to_repeat(api, alice, run):
    client = api(alice)
    address = f"/api/v1/runs/{run.public_id}"
    for _ in range(2):
        response = client.post(f"{address}/cancel/")
        assert (response.status_code, response.json()["status"]) == (200, "cancelled")
    for _ in range(2):
        response = client.post(f"{address}/resume/")
        assert (response.status_code, response.json()["status"]) == (200, "waiting")


def test_a_finished_run_cannot_be_canceled(api, alice, finished_run):
    response = api(alice).post(f"/api/v1/runs/{finished_run.public_id}/cancel/")
    assert response.status_code == 409
    assert "finished" in response.json()["detail"]
    finished_run.refresh_from_db()
    assert finished_run.status == "finished"


def test_progress_counts_shards(api, alice, finished_run):
    content = api(alice).get(f"/api/v1/runs/{finished_run.public_id}/progress/").json()
    assert content["status"] == "finished"
    assert content["stored"] == content["total"] == finished_run.shard_count
    assert content["percent"] == 100
    assert content["events"]


def test_scores_are_those_of_the_database(api, alice, finished_run):
    client = api(alice)
    address = f"/api/v1/runs/{finished_run.public_id}/scores/"
    content = client.get(address, {"template": "", "limit": 1000}).json()
    stored = {
        (score.name, score.group, score.trait, score.template): score.value
        for score in finished_run.scores.all()
    }
    assert content["count"] == len(stored)
    assert {
        (row["name"], row["group"], row["trait"], row["template"]): row["value"]
        for row in content["results"]
    } == stored
    one = client.get(address, {"group": "asian", "trait": "cold-warm"}).json()
    assert {row["group"] for row in one["results"]} == {"asian"}


def test_runs_are_filtered_by_status_and_model(api, alice, run):
    client = api(alice)
    assert client.get("/api/v1/runs/?status=waiting").json()["count"] == 1
    cancel_run(run=run)
    assert client.get("/api/v1/runs/?status=waiting").json()["count"] == 0
    found = client.get(f"/api/v1/runs/?model__public_id={run.model.public_id}").json()
    assert [row["public_id"] for row in found["results"]] == [run.public_id]
    assert found["results"][0]["is_demo"] is True
