"""Matched guises on the form, the run's page, in its download, and over HTTP."""

from __future__ import annotations

import csv
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from probing.measures.guise_parameters import MatchedGuiseParameters
from probing.models import LanguageModel, Run, RunStatus, WordList
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.probing.runs.fixtures import one_thread  # noqa: F401
from tests.probing.runs.text_fixtures import make_corpus

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ADD = reverse("admin:probing_run_add") + "?measure=matched_guise"


@pytest.fixture
def alice(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("alice"))
    return client


@pytest.fixture
def texts() -> Corpus:
    WordList.objects.create(
        slug="few", title="Few words", words=["lazy", "kind"], license="none", purpose="traits"
    )
    return make_corpus()


@pytest.fixture
def gpt2(checkpoints: Any) -> LanguageModel:
    return register_model(location=str(checkpoints / "tiny-gpt2"))


def usual_parameters() -> dict[str, str]:
    """Return every parameter as the form shows it at first; a box without a tick is not sent."""
    usual = MatchedGuiseParameters().model_dump(mode="json")
    sent = {name: "" if value is None else str(value) for name, value in usual.items()}
    return {f"parameter_{name}": value for name, value in sent.items() if value != "False"}


def asked(model: LanguageModel, corpus: Corpus | None, **changes: Any) -> dict[str, Any]:
    return {
        "model": model.pk,
        "corpus": corpus.pk if corpus else "",
        "terms": "",
        "attribute_list": "few",
        "limit": "",
        "seed": "0",
        **usual_parameters(),
        **changes,
    }


def test_a_run_is_tried_created_and_read_on_its_pages(
    alice: Client, texts: Corpus, gpt2: LanguageModel
) -> None:
    form = alice.get(ADD).text
    for offered in (
        "Few words (2)",
        "37 adjectives",
        "A person who says",
        "Names instead of texts",
    ):
        assert offered in form
    assert "translate-arrow" not in form
    tried = alice.post(ADD, {**asked(gpt2, texts), "try": ""}).text
    # 4 pairs in nine prompts, and each prompt without a text.
    assert "81" in tried
    assert not Run.objects.exists()
    alice.post(ADD, {**asked(gpt2, texts), "create": ""})
    run = Run.objects.get()
    work(worker="w", run=run)
    page = alice.get(reverse("admin:probing_run_change", args=[run.pk])).text
    assert "4 in AAL, 4 in WME, in pairs" in page
    assert "Association scores" in page
    assert "above 0 the model associates it with AAL" in page
    file = alice.get(reverse("admin:probing_run_scores", args=[run.pk]))
    rows = list(csv.DictReader(StringIO(file.getvalue().decode())))
    assert len(rows) == 2 * 2 * (9 + 1)
    assert {row["name"] for row in rows} == {"meaning_matched", "pooled"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"corpus": ""}, "Choose a corpus of texts in two varieties"),
        ({"terms": "Black/White"}, "Both a corpus and names of groups are given"),
        ({"corpus": "", "terms": "Black"}, "Write two with a slash"),
        ({"attribute_list": "abc-poles"}, "attributes are several tokens"),
        ({"attribute_list": "none-such"}, "Select a valid choice"),
    ],
)
def test_the_form_says_what_to_enter(
    alice: Client, texts: Corpus, gpt2: LanguageModel, changes: dict[str, str], message: str
) -> None:
    assert message in alice.post(ADD, {**asked(gpt2, texts), **changes, "create": ""}).text
    assert not Run.objects.exists()


def test_names_take_the_place_of_texts(alice: Client, texts: Corpus, gpt2: LanguageModel) -> None:
    alice.post(ADD, {**asked(gpt2, None, terms="Black/White, black/white"), "create": ""})
    run = Run.objects.get()
    assert run.corpus is None
    assert {prompt["purpose"] for prompt in run.stimuli["prompts"]} == {"overt"}
    work(worker="w", run=run)
    assert (
        "2 in Black, 2 in White"
        in alice.get(reverse("admin:probing_run_change", args=[run.pk])).text
    )


def test_a_run_is_created_and_read_over_http(
    alice: Client, texts: Corpus, gpt2: LanguageModel
) -> None:
    body = {
        "measure": "matched_guise",
        "model": gpt2.public_id,
        "corpus": texts.public_id,
        "attributes": "few",
        "prompts": ["guise-traits-people"],
        "parameters": {"matching": "pooled"},
    }
    created = alice.post("/api/v1/runs/", body, content_type="application/json")
    assert created.status_code == 201, created.content
    run = Run.objects.get()
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    scores = alice.get(f"/api/v1/runs/{run.public_id}/scores/").json()["results"]
    assert {(row["name"], row["group"], row["trait"]) for row in scores} == {
        ("pooled", "AAL", "kind"),
        ("pooled", "AAL", "lazy"),
    }
    wrong = alice.post(
        "/api/v1/runs/", {**body, "attributes": "x"}, content_type="application/json"
    )
    assert wrong.status_code == 400
    assert "no list of attributes" in wrong.text


def test_perplexity_is_asked_for_and_read_on_its_pages(
    alice: Client, texts: Corpus, gpt2: LanguageModel
) -> None:
    address = reverse("admin:probing_run_add") + "?measure=perplexity"
    assert "Normalized by" in alice.get(address).text
    body = {
        "model": gpt2.pk,
        "corpus": texts.pk,
        "limit": "",
        "seed": "0",
        "parameter_unit": "word",
        "parameter_pairs_per_shard": "50",
        "create": "",
    }
    alice.post(address, body)
    run = Run.objects.get()
    work(worker="w", run=run)
    page = alice.get(reverse("admin:probing_run_change", args=[run.pk])).text
    assert "the model finds them more familiar" in page
    assert "Hidden spans" not in page
    assert "Perplexity: each token is read after those before it." in page
    assert run.text_scores.filter(variety="AAL").count() == 4
