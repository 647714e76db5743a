"""Runs on texts over HTTP: created, read, and closed to those who may not see the corpus."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from probing.models import Run
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.probing.conftest import checkpoints  # noqa: F401
from tests.probing.runs.text_fixtures import ARROW, make_corpus, make_prompts

pytestmark = pytest.mark.shared


@pytest.fixture
def texts(alice: User, checkpoints: Any) -> dict[str, Any]:  # noqa: F811
    """A corpus, prompts, and a model that fills gaps, with the request that uses them."""
    make_prompts()
    corpus = make_corpus(owner=alice)
    model = register_model(location=str(checkpoints / "tiny-t5"))
    return {"corpus": corpus, "model": model}


def body(texts: dict[str, Any], measure: str, **changes: Any) -> dict[str, Any]:
    return {
        "measure": measure,
        "model": texts["model"].public_id,
        "corpus": texts["corpus"].public_id,
        **changes,
    }


def test_counterparts_are_created_and_read(api, alice, texts):
    asked = body(
        texts,
        "counterpart_generation",
        prompts=[ARROW],
        sources=["blogs"],
        per_source=5,
        parameters={"max_new_tokens": 4},
    )
    tried = api(alice).post("/api/v1/runs/dry-run/", asked, format="json")
    assert tried.json()["cost"]["forward_passes"] == 4
    assert not Run.objects.exists()
    response = api(alice).post("/api/v1/runs/", asked, format="json")
    assert response.status_code == 201, response.content
    created = response.json()
    assert created["corpus"] == texts["corpus"].public_id
    assert [pair["slug"] for pair in created["stimuli"]["pairs"]] == ["p2", "p3"]
    work(worker="w")
    rows = api(alice).get(f"/api/v1/runs/{created['public_id']}/counterparts/").json()["results"]
    assert {(row["pair"], row["variety"]) for row in rows} == {
        (pair, variety) for pair in ("p2", "p3") for variety in ("AAL", "WME")
    }
    assert all(row["body"] or row["reason"] for row in rows)


def test_scores_of_texts_are_read(api, alice, texts):
    asked = body(texts, "span_prediction", limit=2, parameters={"trials": 1})
    created = api(alice).post("/api/v1/runs/", asked, format="json").json()
    work(worker="w")
    address = f"/api/v1/runs/{created['public_id']}/text-scores/"
    content = api(alice).get(address, {"name": "span_perplexity"}).json()
    assert content["count"] == 2 * 2
    assert all(row["value"] > 1 or row["reason"] for row in content["results"])


def test_measures_say_what_they_work_on(api, alice):
    known = {row["name"]: row for row in api(alice).get("/api/v1/measures/").json()}
    assert known["span_prediction"]["stimuli"] == "TextStimuli"
    assert known["counterpart_generation"]["result"] == "counterparts"
    assert known["set"]["stimuli"] == "Stimuli"


@pytest.mark.parametrize(
    ("measure", "changes", "field"),
    [
        ("counterpart_generation", {"corpus": ""}, "corpus"),
        ("counterpart_generation", {"corpus": "aaaaaaaaaaaa"}, "corpus"),
        ("counterpart_generation", {"prompts": ["nothing"]}, "prompts"),
        ("span_prediction", {"prompts": [ARROW]}, "prompts"),
        ("span_prediction", {"examples": 2}, "examples"),
        ("nothing", {}, "measure"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(api, alice, texts, measure, changes, field):
    response = api(alice).post("/api/v1/runs/", body(texts, measure, **changes), format="json")
    assert response.status_code == 400
    assert [fault["field"] for fault in response.json()["errors"]] == [field]
    assert not Run.objects.exists()


def test_a_run_on_texts_is_hidden_with_its_corpus(api, alice, texts):
    bob = User.objects.create_user("bob-of-texts", is_staff=True)
    names = ("view_run", "add_run", "change_run", "view_textscore")
    bob.user_permissions.set(Permission.objects.filter(codename__in=names))
    asked = body(texts, "span_prediction", parameters={"trials": 1})
    run = api(alice).post("/api/v1/runs/", asked, format="json").json()["public_id"]
    assert api(bob).post("/api/v1/runs/", asked, format="json").status_code == 400
    assert api(bob).get("/api/v1/runs/").json()["count"] == 0
    for part in ("", "progress/", "text-scores/", "counterparts/", "training/"):
        expected = 403 if part == "training/" else 404
        assert api(bob).get(f"/api/v1/runs/{run}/{part}").status_code == expected, part
    assert api(bob).post(f"/api/v1/runs/{run}/cancel/").status_code == 404
    texts["corpus"].is_shared = True
    texts["corpus"].save()
    assert api(bob).get(f"/api/v1/runs/{run}/").status_code == 200
