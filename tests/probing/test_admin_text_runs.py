"""Researchers' pages of runs on texts: the form, the counterparts, the spans, and who sees them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from annotation.models import Corpus
from annotation.researcher.pages.word_diff import word_diff
from probing.models import LanguageModel, Run
from probing.runs.language_models import register_model
from probing.runs.worker import work
from tests.probing.runs.fixtures import one_thread  # noqa: F401
from tests.probing.runs.text_fixtures import (
    ARROW,
    PAIRS,
    SLASH,
    TextRunMaker,
    add_pair,
    corpus,  # noqa: F401
    make_corpus,
    make_text_run,  # noqa: F401
    model_of,  # noqa: F401
)

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

ADD = reverse("admin:probing_run_add")


@pytest.fixture
def alice(client: Client) -> Client:
    """May everything."""
    client.force_login(User.objects.create_superuser("alice"))
    return client


@pytest.fixture
def bob() -> Client:
    """Is staff and may create and look at runs, of corpora that are shared."""
    user = User.objects.create_user("bob", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_run", "add_run"]))
    client = Client()
    client.force_login(user)
    return client


def page(name: str, run: Run) -> str:
    return reverse(f"admin:probing_run_{name}", args=[run.pk])


def asked(model: LanguageModel, corpus: Corpus, **changes: Any) -> dict[str, Any]:  # noqa: F811
    """The form of counterpart generation as a browser sends it."""
    return {
        "model": model.pk,
        "corpus": corpus.pk,
        "prompts": [ARROW],
        "limit": "",
        "examples": "0",
        "seed": "3",
        "parameter_directions": "to_target",
        "parameter_prompting": "auto",
        "parameter_thinking_tokens": "0",
        "parameter_prompt_choice": "given",
        "parameter_perplexity_texts": "100",
        "parameter_temperature": "",
        "parameter_beams": "",
        "parameter_no_repeat_ngram": "",
        "parameter_max_new_tokens": "6",
        "parameter_pairs_per_shard": "20",
        **changes,
    }


def test_a_run_is_created_from_the_form_with_the_familys_own_settings(
    alice: Client,
    corpus: Corpus,  # noqa: F811
    model_of: Callable[[str], LanguageModel],  # noqa: F811
) -> None:
    model = model_of("tiny-t5")
    address = f"{ADD}?measure=counterpart_generation"
    preview = alice.post(address, {**asked(model, corpus), "preview": "1"}).content.decode()
    assert "Create run" in preview
    assert "CORAAL (2 pairs)" in preview
    both = alice.post(address, {**asked(model, corpus, limit="2", per_source="1"), "create": "1"})
    assert "per source, not both" in both.content.decode()
    wanted = asked(model, corpus, sources=["blogs"], per_source="5")
    answer = alice.post(address, {**wanted, "create": "1"})
    run = Run.objects.get()
    assert answer.status_code == 302
    assert run.corpus == corpus
    assert [pair["slug"] for pair in run.stimuli["pairs"]] == ["p2", "p3"]
    assert run.parameters["temperature"] is None
    assert run.parameters["first_line_only"] is False
    work(worker="w", run=run)
    content = alice.get(page("change", run)).content.decode()
    assert "Written with beam search of width 3, no repeated 3-grams, at most 6 tokens." in content
    assert PAIRS[2][0] in content
    assert "All counterparts" in content


def test_hidden_spans_are_chosen_by_boxes_and_shown_by_condition_and_variety(
    alice: Client,
    corpus: Corpus,  # noqa: F811
    model_of: Callable[[str], LanguageModel],  # noqa: F811
) -> None:
    address = f"{ADD}?measure=span_prediction"
    form = {
        "model": model_of("tiny-t5").pk,
        "corpus": corpus.pk,
        "limit": "2",
        "seed": "0",
        "parameter_conditions": ["random"],
        "parameter_trials": "2",
        "parameter_mean_length": "2.0",
        "parameter_pipeline": "",
        "parameter_normalize": "on",
        "parameter_pairs_per_shard": "20",
        "create": "1",
    }
    blank = alice.get(address).content.decode()
    assert 'name="prompts"' not in blank
    assert 'name="examples"' not in blank
    assert 'value="verb_phrase"' in blank
    nothing = alice.post(address, {**form, "parameter_conditions": []})
    assert "This field is required" in nothing.content.decode()
    assert alice.post(address, form).status_code == 302
    run = Run.objects.get()
    assert run.parameters["conditions"] == ["random"]
    work(worker="w", run=run)
    content = alice.get(page("change", run)).content.decode()
    assert "Span perplexity" in content
    assert "Top-5 entropy, nats" in content
    assert content.count("Random spans") == 4
    rows = list(csv.DictReader(StringIO(read(alice.get(page("scores", run))))))
    assert len(rows) == 2 * 2 * 2 * 2
    assert {row["condition"] for row in rows} == {"random"}


def read(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def test_the_counterparts_page_searches_filters_and_pages(
    alice: Client,
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(30):
        add_pair(corpus, f"more{number}", (f"he {number} be here", f"he {number} is here"))
    run = make_text_run("counterpart_generation", model="tiny-t5", pairs_per_shard=50)
    assert "No counterparts yet" in alice.get(page("counterparts", run)).content.decode()
    work(worker="w", run=run)
    with django_assert_max_num_queries(20):
        first = alice.get(page("counterparts", run)).content.decode()
    assert "68 counterparts" in first
    assert "Page 1 of 3" in first
    assert "Page 3 of 3" in alice.get(page("counterparts", run), {"page": "99"}).content.decode()
    found = alice.get(page("counterparts", run), {"q": "cookin dinner", "variety": "WME"})
    assert "1 counterpart." in found.content.decode()
    none = alice.get(page("counterparts", run), {"q": "xyzzy"}).content.decode()
    assert "Nothing found" in none
    rows = list(csv.DictReader(StringIO(read(alice.get(page("scores", run))))))
    assert len(rows) == 68
    assert rows[0]["pair"] == "p0"
    assert {rows[0]["original"], rows[0]["reference"]} == set(PAIRS[0][:2])


def test_texts_are_escaped_on_pages_and_neutralized_in_files(
    alice: Client,
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    add_pair(corpus, "odd", ("=1+1 <b>be</b>", "@sum <b>is</b>"))
    run = make_text_run("counterpart_generation", model="tiny-t5", pairs_per_shard=50)
    work(worker="w", run=run)
    content = alice.get(page("counterparts", run)).content.decode()
    assert "<b>be</b>" not in content
    assert "&lt;b&gt;be&lt;/b&gt;" in content
    file = read(alice.get(page("scores", run)))
    assert "'=1+1 <b>be</b>" in file


def test_who_may_not_see_the_corpus_sees_neither_it_nor_its_runs(
    bob: Client,
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    shared = make_corpus("For everyone", is_shared=True)
    run = make_text_run("counterpart_generation", model="tiny-t5")
    for name in ("change", "live", "scores", "log", "counterparts"):
        assert bob.get(page(name, run)).status_code == 404, name
    listed = bob.get(reverse("admin:probing_run_changelist")).content.decode()
    assert "Counterpart generation" not in listed
    form = bob.get(f"{ADD}?measure=counterpart_generation").content.decode()
    assert shared.name in form
    assert corpus.name not in form
    answer = bob.post(
        f"{ADD}?measure=counterpart_generation", {**asked(run.model, corpus), "create": "1"}
    )
    assert answer.status_code == 200
    assert Run.objects.count() == 1


def test_only_fitting_models_are_offered_and_the_page_says_why(
    alice: Client,
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
) -> None:
    register_model(location=str(checkpoints / "tiny-bert"))
    address = f"{ADD}?measure=counterpart_generation"
    empty = alice.get(address).content.decode()
    assert "No fitting model is registered" in empty
    assert "causal, sequence to sequence, or chat" in empty
    gpt2 = register_model(location=str(checkpoints / "tiny-gpt2"))
    content = alice.get(address).content.decode()
    assert gpt2.name in content
    assert "Not offered: “tiny-bert” (masked). This measure needs a model of the kind" in content
    assert ">tiny-bert</option>" not in content
    forced = alice.post(
        address,
        {**asked(LanguageModel.objects.get(name="tiny-bert"), corpus), "create": "1"},
    )
    assert "not of a kind that fits the measure" in forced.content.decode()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"corpus": ""}, "This field is required"),
        ({"prompts": [ARROW, SLASH]}, "2 prompts are chosen, expected one"),
        ({"sources": ["nowhere"]}, "nowhere"),
        ({"examples": "3"}, "3 examples are asked for"),
        ({"parameter_temperature": "hot"}, "temperature is “hot”"),
        ({"parameter_beams": "2", "parameter_temperature": "1"}, "does not sample"),
    ],
)
def test_bad_input_is_named_and_nothing_is_stored(
    alice: Client,
    corpus: Corpus,  # noqa: F811
    model_of: Callable[[str], LanguageModel],  # noqa: F811
    changes: dict[str, Any],
    said: str,
) -> None:
    address = f"{ADD}?measure=counterpart_generation"
    form = {**asked(model_of("tiny-t5"), corpus), **changes, "create": "1"}
    answer = alice.post(address, form)
    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not Run.objects.exists()


def test_a_word_diff_keeps_the_words_of_both_texts() -> None:
    before, after = "he be cookin dinner", "he is cooking  dinner\nnow"
    changes = word_diff(before, after)
    assert [(one.kind, one.text) for one in changes] == [
        ("same", "he"),
        ("same", " "),
        ("deleted", "be cookin"),
        ("same", " "),
        ("inserted", "is cooking"),
        ("same", "  dinner"),
        ("same", "\n"),
        ("inserted", "now"),
    ]
    assert [one.kind for one in word_diff("same  words", "same words")] == ["same"]
    assert [one.kind for one in word_diff("", "new")] == ["inserted"]
    assert "".join(one.text for one in word_diff("a", "b")) == "a b"
