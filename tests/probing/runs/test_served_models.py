"""Servers are tried when a model is registered, and runs keep to what was seen."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from probing.models import LanguageModel
from probing.runs.creation import create_run, dry_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.ports import free_port
from tests.probing.lm.test_hostile_servers import serve
from tests.probing.lm.test_server_abilities import Odd, early, plain
from tests.probing.runs.text_fixtures import make_corpus

pytestmark = pytest.mark.django_db

PROMPT = "guise-traits-a-person"


@pytest.fixture(autouse=True)
def patient(settings: Any) -> None:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    settings.CHAT_ATTEMPTS = 1
    settings.MODEL_SERVER_HOSTS = ["127.0.0.1"]


def register(host: str, **options: Any) -> LanguageModel:
    return register_model(location=f"http://{host}/v1", served_name="m", **options)


def guise(model: LanguageModel, **parameters: Any) -> dict[str, Any]:
    corpus = Corpus.objects.first() or make_corpus()
    return run_request(
        measure="matched_guise",
        model=model,
        choice=StimuliChoice(corpus=corpus, attributes="intelligence-8", prompts=[PROMPT]),
        seed=3,
        parameters=parameters,
    )


def test_what_was_seen_is_stored_and_shown(client: Client) -> None:
    with serve(Odd(echo=plain)) as host:
        out = StringIO()
        call_command("register_model", f"http://{host}/v1", served_name="m", stdout=out)
    assert "Access: full" in out.getvalue()
    model = LanguageModel.objects.get()
    assert model.server_abilities["echo"] == {"works": True, "said": ""}
    client.force_login(User.objects.create_superuser("alice"))
    page = client.get(reverse("admin:probing_languagemodel_change", args=[model.pk])).text
    assert "Access: full" in page
    assert "Batches: no" in page
    found = client.get(f"/api/v1/models/{model.public_id}/").json()
    assert found["server_abilities"]["logprobs"]["works"] is True


def test_a_model_that_is_registered_on_its_page_is_tried(
    client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    with serve(Odd(echo=plain)) as host:
        sent = {"location": f"http://{host}/v1", "served_name": "m"}
        with django_capture_on_commit_callbacks(execute=True):
            client.post(reverse("admin:probing_languagemodel_add"), sent)
    assert LanguageModel.objects.get().server_abilities["echo"]["works"] is True


def test_a_second_registration_tries_again_and_keeps_what_is_known() -> None:
    odd = Odd(echo=early)
    with serve(odd) as host:
        model = register(host)
        assert model.server_abilities["echo"]["works"] is False
        odd.odd["echo"] = plain
        assert register(host).server_abilities["echo"]["works"] is True
    again = register(host)  # now it is away
    assert again.pk == model.pk
    assert again.server_abilities["echo"]["works"] is True


def test_a_server_that_was_away_is_tried_when_a_run_begins() -> None:
    port = free_port()
    model = register(f"127.0.0.1:{port}")
    assert "cannot be reached" in model.server_abilities["away"]
    tried = dry_run(**guise(model))
    assert any("could not be tried" in one.message for one in tried.notices)
    with serve(Odd(echo=plain)) as host:
        LanguageModel.objects.filter(pk=model.pk).update(location=f"http://{host}/v1")
        model.refresh_from_db()
        run = create_run(**guise(model), seed=3, created_by=None)
        work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == "finished", run.error
    model.refresh_from_db()
    assert model.server_abilities["echo"]["works"] is True


def test_a_misaligned_echo_falls_back_to_likeliest_tokens() -> None:
    with serve(Odd(echo=early)) as host:
        run = create_run(**guise(register(host)), seed=3, created_by=None)
        work(worker="w", run=run)
    run.refresh_from_db()
    assert any(
        "does not fit the text" in note and "falls back to the access “top_k”" in note
        for note in run.notices
    )
    assert set(run.scores.values_list("access", flat=True)) <= {"top_k", ""}


def test_what_cannot_work_is_refused_before_a_run_is_stored() -> None:
    with serve(Odd(refuses={"logprobs": "not here"})) as host:
        model = register(host)
    with pytest.raises(RunError) as raised:
        create_run(**guise(model), seed=3, created_by=None)
    assert "not here" in str(raised.value.problems)
    assert "--param least_access=sampled" in str(raised.value.problems)
    assert not model.runs.exists()


def test_options_that_are_left_out_are_said() -> None:
    refuses = {"temperature": "unsupported: temperature", "seed": "unknown seed"}
    with serve(Odd(echo=plain, refuses=refuses)) as host:
        tried = dry_run(**guise(register(host), form="chat", opening=True))
    said = " ".join(one.message for one in tried.problems)
    assert "sets the temperature itself (400: unsupported: temperature)" in said
    assert "takes no seed" in said
    assert "Whether the server goes on with an opening is not known" in said


def test_a_run_that_is_made_again_costs_nothing(settings: Any, tmp_path: Path) -> None:
    settings.CHAT_KEEP_ANSWERS, settings.CHAT_ANSWERS_ROOT = True, tmp_path
    odd = Odd(echo=plain)
    with serve(odd) as host:
        model = register(host)
        runs = []
        request = guise(model, form="chat")
        for _ in range(2):
            odd.asked.clear()
            run = create_run(**request, seed=3, created_by=None)
            work(worker="w", run=run)
            run.refresh_from_db()
            assert run.status == "finished", run.error
            runs.append((run, len(odd.asked)))
    (first, asked), (second, again) = runs
    assert (asked > 5, again) == (True, 0)
    assert (first.answers_reused, second.answers_reused) == (0, asked)
    assert (first.tokens_spent > 0, second.tokens_spent) == (True, 0)
    scores = [list(run.scores.order_by("pk").values_list("value", flat=True)) for run, _ in runs]
    assert scores[0] == scores[1]
    for option, said in ([], f"{asked} answers,"), (["--empty"], "deleted"), ([], "0 answers,"):
        out = StringIO()
        call_command("served_answers", *option, stdout=out)
        assert said in out.getvalue()
