"""Prompted classification on its page and over HTTP: what is offered, stored and refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from probing.models import LabeledTextSet, LanguageModel, Prompt, Run
from probing.runs.language_models import register_model
from probing.runs.worker import work

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ADD = reverse("admin:probing_run_add")


@pytest.fixture
def alice(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("alice"))
    return client


@pytest.fixture
def t5(checkpoints: Path) -> LanguageModel:
    """Reads prompts of any length."""
    return register_model(location=str(checkpoints / "tiny-t5"))


def asked(model: LanguageModel, **changes: object) -> dict[str, object]:
    return {
        "model": model.pk,
        "seed": 2024,
        "templates": ["everyday"],
        "groups": ["race"],
        "prompts": [],
        "examples": 9,
        "examples_from": "plain-examples",
        "parameter_repeats": 1,
        "parameter_prompting": "auto",
        "parameter_thinking_tokens": "0",
        "parameter_label_orders": "given",
        "parameter_sentences_per_shard": 500,
        "parameter_temperature": "0.8",
        "parameter_answer_tokens": 1,
        "parameter_reasoning_tokens": 64,
        "create": "1",
        **changes,
    }


def test_the_page_offers_prompts_and_examples_and_shows_what_was_drawn(
    alice: Client, t5: LanguageModel
) -> None:
    address = f"{ADD}?measure=prompted_classification"
    page = alice.get(address).text
    assert "sentiment-few-shot" in page
    assert "translate-aave-sae" not in page
    assert "Plain labeled texts (24)" in page
    assert alice.post(address, asked(t5, templates=["everyday"])).status_code == 302
    run = Run.objects.get()
    assert run.parameters["answer_tokens"] == 1
    assert [len(one["demonstrations"]) for one in run.stimuli["shots"]] == [9]
    work(worker="w", run=run)
    page = alice.get(reverse("admin:probing_run_change", args=[run.pk])).text
    assert "No class named" in page
    assert "1 prompt" in page
    assert "answers (100.0%) named no class" in page
    sent = alice.get(reverse("admin:probing_run_scores", args=[run.pk]))
    head, first, *_ = b"".join(sent.streaming_content).decode().splitlines()  # type: ignore[attr-defined]
    assert head.endswith(",y_true,y_pred,run_id,wording,order,seed,matched,answer")
    assert ",sentiment-few-shot · 2024,sentiment-few-shot,,2024,False," in first


def test_a_class_missing_from_the_examples_is_said_on_the_page(
    alice: Client, t5: LanguageModel
) -> None:
    texts = [{"text": f"Good {n}.", "label": 2} for n in range(9)]
    LabeledTextSet.objects.create(slug="good", title="good", license="CC0", texts=texts)
    address = f"{ADD}?measure=prompted_classification"
    page = alice.post(address, asked(t5, examples_from="good")).text
    assert "need 3 texts of each class, but the set has fewer: negative (0), neutral (0)" in page
    assert not Run.objects.exists()


def test_a_prompt_for_classes_is_written_and_a_bad_one_refused(alice: Client) -> None:
    add = reverse("admin:probing_prompt_add")
    form = {"slug": "mine", "purpose": "classes", "text": "{text}\nMood: {answer}", "names": ""}
    assert alice.post(add, form).status_code == 302
    page = alice.get(
        reverse("admin:probing_prompt_change", args=[Prompt.objects.get(slug="mine").pk])
    ).text
    assert "they are usually talking on the phone\nMood: …" in page
    page = alice.post(add, {**form, "slug": "other", "text": "Mood of {text}?"}).text
    assert "The prompt has {answer} 0 times, expected exactly once." in page
    page = alice.post(add, {**form, "slug": "other", "purpose": "counterparts"}).text
    assert "unknown placeholder {answer}" in page


def test_a_run_is_created_over_http(t5: LanguageModel) -> None:
    api = APIClient()
    api.force_authenticate(User.objects.create_superuser("bob"))
    body = {
        "measure": "label_likelihood",
        "model": t5.public_id,
        "templates": ["everyday"],
        "groups": ["race"],
        "examples": 3,
        "examples_from": "plain-examples",
        "parameters": {"calibration": "empty_text", "repeats": 2},
    }
    tried = api.post("/api/v1/runs/dry-run/", body, format="json").json()
    # 264 sentences in two repeats.
    assert (tried["cost"]["shards"], tried["cost"]["forward_passes"]) == (2, 528)
    response = api.post("/api/v1/runs/", body, format="json")
    assert response.status_code == 201, response.content
    assert len(response.json()["stimuli"]["shots"]) == 2
    response = api.post("/api/v1/runs/", {**body, "examples_from": "sst5"}, format="json")
    assert response.status_code == 400
    (fault,) = response.json()["errors"]
    assert fault["field"] == "examples_from"
