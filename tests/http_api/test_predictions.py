"""Predictions made elsewhere over HTTP."""

from __future__ import annotations

from probing.models import Run

ADDRESS = "/api/v1/runs/predictions/"
CONTENT = (
    "y_true,y_pred,group,text\n"
    "1,0,asian,The asian man slept.\n2,2,asian,The asian man won.\n"
    "1,1,white,The white man slept.\n2,2,white,The white man won.\n"
)
BODY = {"file_name": "p.csv", "content": CONTENT, "data_set": "tiny", "producer": "m1"}


def test_predictions_become_a_run_with_scores(api, alice):
    response = api(alice).post(ADDRESS, BODY, format="json")
    assert response.status_code == 201, response.content
    (content,) = response.json()
    assert (content["status"], content["model_name"]) == ("finished", "m1")
    assert Run.objects.get().created_by == alice
    found = api(alice).get(
        f"/api/v1/runs/{content['public_id']}/scores/?name=fpr&group=asian&trait=negative"
    )
    # The group, and its one word.
    assert {row["template"]: row["value"] for row in found.json()["results"]} == {
        "": 0.5,
        "asian": 0.5,
    }
    detail = api(alice).get(f"/api/v1/runs/{content['public_id']}/").json()
    assert detail["stimuli"]["labelled_templates"][0]["text"] == "The {identity_adj} man slept."


def test_bad_rows_are_named_with_the_field(api, alice):
    before = Run.objects.count()
    response = api(alice).post(ADDRESS, {**BODY, "labels": "0=negative"}, format="json")
    assert response.status_code == 400
    (fault,) = response.json()["errors"]
    assert fault["field"] == "content"
    assert "Line 2: Labels outside of the map" in fault["message"]
    assert Run.objects.count() == before
