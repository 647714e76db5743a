"""Answers of a run: kept as they came with their reasoning, counted, shown, sent, and over HTTP."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.models import SocialGroup, TraitPair
from annotation.studies.creation import create_study
from probing.models import LanguageModel, Run, RunStatus, WordList
from probing.runs.answers import count_answers, load_answers
from probing.runs.creation import create_run
from probing.runs.stimuli_loading import StimuliChoice, run_request
from probing.runs.worker import work
from tests.openai_server import Fault, OpenAIServer, serve_openai
from tests.probing.lm.tiny_chat import NUMBERS, make_tiny_chat
from tests.probing.runs.text_fixtures import make_corpus
from tests.served_model import register_served

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

HEDGED = "It would be 70, but I can't say that."
#: What a server sends, and how it is counted.
SAID: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "70": (
        {"message": {"role": "assistant", "content": "70", "reasoning_content": "hm, warm"}},
        ("answered", ""),
    ),
    "I can't rate people.": ({}, ("refused", "refused")),
    HEDGED: ({}, ("refused", "refused, with a number")),
    "60 or 80": ({}, ("unreadable", "several numbers")),
    "Let me think": ({"finish_reason": "length"}, ("cut_off", "cut off before a number")),
    "Who knows": ({"finish_reason": "stop"}, ("unreadable", "no number")),
    "20": (
        {"message": {"role": "assistant", "content": "<think>cold</think>20"}},
        ("answered", ""),
    ),
    "30": ({}, ("answered", "")),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenAIServer]:
    likely = dict.fromkeys(NUMBERS, 6.0)
    with serve_openai(make_tiny_chat(tmp_path_factory.mktemp("a") / "t", likely=likely)) as server:
        yield server


@pytest.fixture
def server(running: OpenAIServer, settings: Any) -> OpenAIServer:
    settings.CHAT_REQUESTS_PER_MINUTE = 0
    settings.CHAT_CONCURRENCY = 1
    running.forget()
    return running


@pytest.fixture
def model(server: OpenAIServer) -> LanguageModel:
    return register_served(server)


def finish(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def waiting_run(model: LanguageModel) -> Run:
    study = create_study(
        title="One",
        owner=None,
        contact_email="you@example.org",
        groups=list(SocialGroup.objects.filter(slug="woman")),
        trait_pairs=list(TraitPair.objects.filter(slug="cold-warm")),
    )
    asked = run_request(
        measure="direct_rating",
        model=model,
        choice=StimuliChoice(study=study),
        seed=5,
        parameters={"answers": len(SAID), "reading": "answers"},
    )
    return create_run(**asked, seed=5, created_by=None)


@pytest.fixture
def run(model: LanguageModel, server: OpenAIServer) -> Run:
    for text, (fields, _) in SAID.items():
        message = {"role": "assistant", "content": text}
        server.faults.append(Fault(answer={"message": message, "finish_reason": "stop", **fields}))
    return finish(waiting_run(model))


@pytest.fixture
def alice(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("alice"))
    return client


def rows_of(response: Any) -> list[dict[str, str]]:
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(StringIO(text)))


def test_every_answer_is_kept_as_it_came_with_its_outcome_and_reasoning(run: Run) -> None:
    (said,) = load_answers(run)
    assert said["answer"].to_list() == list(SAID)
    found = list(zip(said["outcome"], said["why"], strict=True))
    assert found == [ended for _, ended in SAID.values()]
    thought = dict(zip(said["answer"], said["reasoning"], strict=True))
    assert {text: one for text, one in thought.items() if one} == {"70": "hm, warm", "20": "cold"}
    assert (said["reasoning_tokens"] > 0).to_list() == [bool(one) for one in said["reasoning"]]


def test_answers_are_counted_by_how_they_ended(run: Run) -> None:
    assert {(outcome, why): n for outcome, why, n in count_answers(run)} == {
        ("answered", ""): 3,
        ("refused", "refused"): 1,
        ("refused", "refused, with a number"): 1,
        ("unreadable", "several numbers"): 1,
        ("unreadable", "no number"): 1,
        ("cut_off", "cut off before a number"): 1,
    }


def test_a_page_shows_unread_answers_and_sends_the_same(run: Run, alice: Client) -> None:
    address = reverse("admin:probing_run_answers", args=[run.pk])
    assert address in alice.get(reverse("admin:probing_run_change", args=[run.pk])).text
    page = alice.get(address).text
    assert "5 of 8 answers were not read." in page
    assert "Refused: with a number" in page
    assert "Cut off: before a number" in page
    assert ">Refused</td>" in page
    assert "It would be 70" in page
    assert "hm, warm" not in page
    assert "hm, warm" in alice.get(f"{address}?show=all").text
    assert "I can&#x27;t rate people." not in alice.get(f"{address}?outcome=cut_off").text
    sent = rows_of(alice.get(f"{address}?download"))
    assert [row["answer"] for row in sent] == [
        text for text, (_, ended) in SAID.items() if ended[0] != "answered"
    ]
    assert "reasoning" not in sent[0]
    everything = rows_of(alice.get(f"{address}?show=all&download&reasoning"))
    assert [row["reasoning"] for row in everything if row["reasoning"]] == ["hm, warm", "cold"]


def test_the_interface_gives_the_same_rows(run: Run, alice: Client) -> None:
    address = f"/api/v1/runs/{run.public_id}/answers/"
    found = alice.get(address).json()
    assert found["count"] == len(SAID)
    assert found["results"][0] == {
        "group": "woman",
        "item": "cold-warm",
        "prompt": found["results"][0]["prompt"],
        "repeat": "0",
        "outcome": "answered",
        "why": "",
        "answer": "70",
        "reasoning_tokens": found["results"][0]["reasoning_tokens"],
        "reasoning": "hm, warm",
    }
    assert alice.get(f"{address}?unread=true").json()["count"] == 5
    assert alice.get(f"{address}?outcome=refused").json()["count"] == 2
    assert Client().get(address).status_code == 401
    assert alice.get("/api/v1/runs/000000000000/answers/").status_code == 404


def test_the_command_writes_answers_and_reasoning_on_request(run: Run, tmp_path: Path) -> None:
    def export(*options: str) -> list[dict[str, str]]:
        target = tmp_path / "out.csv"
        call_command(
            "export_run", str(run.pk), str(target), "--overwrite", *options, stdout=StringIO()
        )
        return list(csv.DictReader(StringIO(target.read_text("utf-8-sig"))))

    assert len(export("--answers")) == 8
    assert len(export("--unread")) == 5
    assert "reasoning" not in export("--answers")[0]
    assert export("--answers", "--reasoning")[0]["reasoning"] == "hm, warm"
    assert "thought" not in export("--readings")[0]
    assert export("--readings", "--reasoning")[0]["thought"] == "hm, warm"


def test_a_run_without_answers_has_an_empty_page(model: LanguageModel, alice: Client) -> None:
    waiting = waiting_run(model)
    page = alice.get(reverse("admin:probing_run_answers", args=[waiting.pk])).text
    assert "No answers" in page
    scores = Run.objects.create(
        measure="set", model=model, parameters={}, stimuli={}, stimuli_hash="1"
    )
    assert alice.get(reverse("admin:probing_run_answers", args=[scores.pk])).status_code == 404
    with pytest.raises(CommandError, match="only a finished run"):
        call_command("export_run", str(scores.pk), "never.csv", "--answers")


def test_drawn_guises_keep_every_answer(server: OpenAIServer) -> None:
    server.refuses |= {"logprobs", "echo"}
    WordList.objects.create(
        slug="few", title="Few", words=["lazy", "kind"], license="none", purpose="traits"
    )
    asked = run_request(
        measure="matched_guise",
        model=register_served(server),
        choice=StimuliChoice(
            corpus=make_corpus(), attributes="few", prompts=["guise-traits-a-person"]
        ),
        seed=3,
        parameters={"least_access": "sampled", "form": "chat", "draws": 2},
    )
    message = {"role": "assistant", "content": "<think>both</think>lazy or kind"}
    server.faults.append(Fault())  # asks whether log-probabilities are told
    server.faults.append(Fault(answer={"message": message, "finish_reason": "stop"}))
    run = finish(create_run(**asked, seed=3, created_by=None))
    said = next(iter(load_answers(run)))
    assert len(said) == 2 * (2 * 4 + 1)  # draws, guises of pairs, and without a text
    several = said[said["why"] == "several attributes"].iloc[0]
    assert (several["answer"], several["reasoning"]) == ("lazy or kind", "both")
    assert several["group"] in ("AAL", "WME")


def test_counterparts_keep_what_a_refusal_said(model: LanguageModel, server: OpenAIServer) -> None:
    corpus = make_corpus()
    asked = run_request(
        measure="counterpart_generation",
        model=model,
        choice=StimuliChoice(corpus=corpus, prompts=["translate-aal-wme"]),
        seed=3,
        parameters={"directions": "to_target"},
    )
    refusing = {"role": "assistant", "content": "", "refusal": "I won't."}
    server.faults.append(Fault(answer={"message": refusing}))
    run = finish(create_run(**asked, seed=3, created_by=None))
    (said,) = load_answers(run, unread=True, outcome="refused")
    assert said["answer"].to_list() == ["I won't."]
    assert said["why"].to_list() == ["the model or its server refused"]
