"""CEAT by the command, over HTTP and on the page: the same request gives the same run."""

from __future__ import annotations

import csv
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from probing.models import LanguageModel, Run
from probing.runs.worker import work
from tests.probing.runs.fixtures import bert, one_thread, scores_of  # noqa: F401
from tests.probing.runs.sentence_fixtures import (
    GROUPS,
    SENTENCES,
    make_sentence_run,
    make_text_corpus,
    write_sentences,
)
from tests.tokens import header_for

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

FEW = {"sentences_per_word": "3"}


def by_command(model: LanguageModel, *more: str) -> str:
    out = StringIO()
    arguments = ["--model", model.name, "--measure", "ceat", "--groups", *GROUPS, "--seed", "4"]
    call_command("probe", *arguments, "--param", "sentences_per_word=3", *more, stdout=out)
    return out.getvalue()


def http_client(user: User) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header_for(user))
    return client


def http_body(model: LanguageModel, **more: Any) -> dict[str, Any]:
    return {
        "measure": "ceat",
        "model": model.public_id,
        "groups": GROUPS,
        "parameters": {"sentences_per_word": 3},
        "seed": 4,
        **more,
    }


def page_data(model: LanguageModel, **more: Any) -> dict[str, Any]:
    return {
        "model": model.pk,
        "single_groups": GROUPS,
        "seed": "4",
        "parameter_adjectives": "pole",
        "parameter_sentences_per_word": "3",
        "parameter_combination": "automatic",
        "parameter_draws": "10000",
        "parameter_pieces": "first",
        "parameter_p_value": "permutation",
        "parameter_permutations": "1000",
        "create": "1",
        **more,
    }


def test_all_ways_in_draw_the_same_sentences(
    bert: LanguageModel,  # noqa: F811
    client: Client,
    tmp_path: Path,
) -> None:
    alice = User.objects.create_superuser("alice")
    client.force_login(alice)
    file = write_sentences(tmp_path)
    by_command(bert, "--sentences", str(file), "--no-wait")
    with file.open("rb") as upload:
        answer = client.post(
            reverse("admin:probing_run_add") + "?measure=ceat",
            page_data(bert, sentences=upload),
        )
    assert answer.status_code == 302, answer.content.decode()
    made = http_client(alice).post(
        "/api/v1/runs/", http_body(bert, sentences=SENTENCES), format="json"
    )
    assert made.status_code == 201, made.content
    runs = list(Run.objects.order_by("pk"))
    assert len(runs) == 3
    assert len({str(run.stimuli["contexts"]) for run in runs}) == 1
    assert len({run.stimuli["source"]["sha256"] for run in runs}) == 1
    assert [run.stimuli["source"]["name"] for run in runs] == [
        "sentences.txt",
        "sentences.txt",
        "sentences of the request",
    ]
    assert {run.seed for run in runs} == {4}


def test_the_command_prints_scores_and_what_is_missing(
    bert: LanguageModel,  # noqa: F811
    tmp_path: Path,
) -> None:
    file = str(write_sentences(tmp_path))
    said = by_command(bert, "--sentences", file, "--dry-run")
    assert "4 shards" in said
    assert "sentences drawn from 10 of “sentences.txt”" in said
    assert "“elderly people” does not occur" in said
    assert not Run.objects.exists()
    printed = by_command(bert, "--sentences", file, "--local")
    # 16 trait pairs, of which only poor–wealthy and cold–warm occur.
    assert "teenagers" in printed
    assert "scores stored" in printed
    stored = scores_of(Run.objects.get())
    scored = [key for key, (value, _, _) in stored.items() if value is not None]
    assert {trait for _, _, trait, _ in scored} == {"poor-wealthy", "cold-warm"}


def test_a_variety_and_sources_of_a_corpus_are_taken_on_every_way_in(
    bert: LanguageModel,  # noqa: F811
    client: Client,
) -> None:
    alice = User.objects.create_superuser("alice")
    client.force_login(alice)
    corpus = make_text_corpus()
    by_command(bert, "--corpus", corpus.name, "--variety", "AAL", "--no-wait")
    by_command(bert, "--corpus", corpus.name, "--source", "blogs", "--no-wait")
    for more in ({"variety": "AAL"}, {"sources": ["blogs"]}):
        answer = client.post(
            reverse("admin:probing_run_add") + "?measure=ceat",
            page_data(bert, corpus=corpus.pk, **more),
        )
        assert answer.status_code == 302, answer.content.decode()
        body = http_body(bert, corpus=corpus.public_id, **more)
        api = APIClient()
        api.force_authenticate(alice)
        assert api.post("/api/v1/runs/", body, format="json").status_code == 201
    runs = list(Run.objects.all())
    assert len(runs) == 6
    # Texts come from blogs in AAL and from forums in WME in turn: five of the ten.
    assert {run.stimuli["source"]["n_sentences"] for run in runs} == {5}
    assert {run.corpus for run in runs} == {corpus}


def test_a_run_on_a_corpus_is_hidden_with_it_and_one_on_a_file_is_not(
    bert: LanguageModel,  # noqa: F811
) -> None:
    alice = User.objects.create_superuser("alice")
    bob = User.objects.create_user("bob", is_staff=True)
    codes = ["view_run", "view_score", "add_run"]
    bob.user_permissions.set(Permission.objects.filter(codename__in=codes))
    corpus = make_text_corpus(owner=alice)
    api, other = http_client(alice), http_client(bob)
    hidden = api.post(
        "/api/v1/runs/", http_body(bert, corpus=corpus.public_id), format="json"
    ).json()
    shown = api.post("/api/v1/runs/", http_body(bert, sentences=SENTENCES), format="json").json()
    assert other.get(f"/api/v1/runs/{hidden['public_id']}/").status_code == 404
    assert other.get(f"/api/v1/runs/{shown['public_id']}/").status_code == 200
    refused = other.post("/api/v1/runs/", http_body(bert, corpus=corpus.public_id), format="json")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["field"] == "corpus"


def test_scores_and_reasons_are_read_over_http_and_from_the_file(
    bert: LanguageModel,  # noqa: F811
    client: Client,
) -> None:
    alice = User.objects.create_superuser("alice")
    client.force_login(alice)
    api = http_client(alice)
    public_id = api.post(
        "/api/v1/runs/", http_body(bert, sentences=SENTENCES), format="json"
    ).json()["public_id"]
    run = Run.objects.get(public_id=public_id)
    work(worker="w", run=run)
    rows = api.get(f"/api/v1/runs/{public_id}/scores/", {"group": "elderly", "limit": 100}).json()[
        "results"
    ]
    assert len(rows) == 16 * 2  # for the corpus and as the overall value
    assert {row["value"] for row in rows} == {None}
    assert {row["reason"] for row in rows} == {"the group does not occur in the corpus"}
    answer = client.get(reverse("admin:probing_run_scores", args=[run.pk]))
    lines = list(csv.DictReader(StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]
    assert {line["template"] for line in lines} == {"", "sentences"}
    cells = {(line["group"], line["trait"]): line for line in lines if not line["template"]}
    assert cells["elderly", "cold-warm"]["reason"] == "the group does not occur in the corpus"
    assert "does not occur in the corpus" in cells["man", "powerless-powerful"]["reason"]
    assert (
        float(cells["man", "cold-warm"]["value"])
        == scores_of(run)["pair_score", "man", "cold-warm", ""][0]
    )
    page = client.get(reverse("admin:probing_run_change", args=[run.pk])).content.decode()
    assert "Up to 3 for each word, out of 10 of “sentences of the request”" in page
    assert "Effect size" in page
    scores = page.split("Pair scores")[1].split("Shards")[0]
    assert "template" not in re.sub(r"<span[^>]*popover.*?</span>", "", scores, flags=re.S)


def test_measures_say_that_ceat_reads_sentences(bert: LanguageModel) -> None:  # noqa: F811
    api = http_client(User.objects.create_superuser("alice"))
    ceat = api.get("/api/v1/measures/ceat/").json()
    assert ceat["stimuli"] == "SentenceStimuli"
    assert ceat["parameters"]["properties"]["p_value"]["default"] == "others"


@pytest.mark.parametrize("live", [False, True])
def test_the_page_costs_a_fixed_number_of_queries(
    bert: LanguageModel,  # noqa: F811
    client: Client,
    live: bool,
    django_assert_max_num_queries: Any,
) -> None:
    client.force_login(User.objects.create_superuser("alice"))
    run = make_sentence_run(bert)
    work(worker="w", run=run)
    address = reverse(f"admin:probing_run_{'live' if live else 'change'}", args=[run.pk])
    client.get(address)
    # As for runs in templates, and one for whether there are p-values.
    with django_assert_max_num_queries(17):
        client.get(address)
