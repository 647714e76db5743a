"""Measures of texts through the engine, on real checkpoints of every family."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Corpus, Counterpart, Text
from probing.lm import load_text_model
from probing.lm.text_protocols import GenerationSettings
from probing.measures.streams import named_seed
from probing.models import LanguageModel, Run, RunStatus, TextScore
from probing.runs.aggregation import aggregate_run
from probing.runs.errors import RunError
from probing.runs.language_models import register_model
from probing.runs.result_tables import (
    count_directions,
    load_span_table,
    reference_of,
    run_counterparts,
)
from probing.runs.worker import work
from tests.golden.text_cases import load_expected
from tests.openai_server import Fault, serve_openai
from tests.probing.lm.tiny_bart import make_tiny_bart
from tests.probing.runs.text_fixtures import (
    ARROW,
    PAIRS,
    SLASH,
    TextRunMaker,
    add_pair,
    corpus,  # noqa: F401
    make_text_run,  # noqa: F401
    model_of,  # noqa: F401
)
from tests.served_model import register_served

pytestmark = [pytest.mark.django_db, pytest.mark.shared]

CAUSAL = ("tiny-gpt2", "tiny-opt", "tiny-llama")
FAMILIES = (*CAUSAL, "tiny-t5", "tiny-bart")


@pytest.fixture(scope="module")
def bart_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_bart(tmp_path_factory.mktemp("bart"))


@pytest.fixture
def family(model_of: Callable[[str], LanguageModel], bart_folder: Path) -> Any:  # noqa: F811
    def register(name: str) -> LanguageModel:
        if name == "tiny-bart":
            return register_model(location=str(bart_folder))
        return model_of(name)

    return register


def finished(run: Run) -> Run:
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    return run


def bodies(run: Run) -> dict[tuple[str, str], tuple[str, str]]:
    return {(one.text.slug, one.variety): (one.body, one.reason) for one in run_counterparts(run)}


# --- counterparts -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_rewrites_every_text_in_both_directions(
    name: str,
    family: Any,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(make_text_run("counterpart_generation", model=family(name)))
    assert run.shard_count == 8
    found = bodies(run)
    assert len(found) == 8
    assert {variety for _, variety in found} == {"AAL", "WME"}
    assert found.keys() >= {("p0-aal", "WME"), ("p0-wme", "AAL")}
    assert all(body or reason for body, reason in found.values())
    producers = set(Counterpart.objects.values_list("model", "annotator", "run"))
    assert producers == {(f"{run.model.name}@{run.model_revision}", None, run.public_id)}
    way = (
        "beam search of width 3, no repeated 3-grams"
        if name in ("tiny-t5", "tiny-bart")
        else "sampling at temperature 0.7"
    )
    assert f"Written with {way}, at most 8 tokens." in run.notices


def test_what_is_stored_is_what_the_model_writes_with_the_texts_own_seed(
    checkpoints: Path,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(make_text_run("counterpart_generation", pairs_per_shard=3))
    lm = load_text_model(checkpoints / "tiny-gpt2", threads=1)
    settings = GenerationSettings(max_new_tokens=8, temperature=0.7)
    (alone,) = lm.generate([f"{PAIRS[2][0]} =>"], settings, seeds=[named_seed(7, "p2", "WME")])
    assert bodies(run)["p2-aal", "WME"][0] == alone.text


def test_shards_and_other_texts_do_not_change_a_counterpart(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    whole = bodies(finished(make_text_run("counterpart_generation", pairs_per_shard=50)))
    single = bodies(finished(make_text_run("counterpart_generation")))
    part = bodies(finished(make_text_run("counterpart_generation", choice={"sources": ["blogs"]})))
    assert whole == single
    assert part.items() <= whole.items()
    assert len(part) == 4
    other = bodies(finished(make_text_run("counterpart_generation", seed=8)))
    assert other != whole


def test_a_text_that_does_not_fit_has_the_reason_in_its_place(
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    # A word of the tiny models takes up to five tokens, and they read 64.
    add_pair(corpus, "long", ("they be cookin dinner " * 20, "they cook"))
    run = finished(make_text_run("counterpart_generation", directions="to_target"))
    body, reason = bodies(run)["long-aal", "WME"]
    assert body == ""
    assert reason.startswith("too long: ")
    assert "the model reads 64" in reason
    assert len(bodies(run)) == 5
    assert "1 of 5 texts were longer than the model reads and have no counterpart." in run.notices
    assert any("nothing is cut: long into WME" in notice for notice in run.notices)


def test_a_counterpart_that_ends_at_the_limit_is_kept_and_marked(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(make_text_run("counterpart_generation", model="tiny-gpt2", max_new_tokens=2))
    cut = [(body, reason) for body, reason in bodies(run).values() if "cut" in reason]
    assert cut
    assert all(body and reason == "cut after 2 tokens" for body, reason in cut)
    counts = {one.variety: one for one in count_directions(run)}
    assert sum(one.remarked for one in counts.values()) == len(cut)
    assert all(one.written + one.missing == 4 for one in counts.values())


def test_a_text_that_pairs_share_is_rewritten_once(
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    add_pair(corpus, "again", ("he cookin dinner", PAIRS[0][1]))
    run = finished(make_text_run("counterpart_generation", directions="to_source"))
    shared = Text.objects.get(corpus=corpus, body=PAIRS[0][1])
    assert shared.pairs_as_target.count() == 2
    assert Counterpart.objects.filter(run=run.public_id, text=shared).count() == 1
    assert Counterpart.objects.filter(run=run.public_id).count() == 4
    assert any("1 pair shares its WME text with another" in notice for notice in run.notices)


def test_the_reference_of_a_counterpart_is_the_other_side_of_its_pair(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(make_text_run("counterpart_generation"))
    found = {(one.text.slug, one.variety): reference_of(one) for one in run_counterparts(run)}
    assert found["p1-aal", "WME"] == ("p1", PAIRS[1][1])
    assert found["p1-wme", "AAL"] == ("p1", PAIRS[1][0])


def test_the_prompt_of_the_lowest_mean_perplexity_is_chosen(
    checkpoints: Path,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(
        make_text_run(
            "counterpart_generation",
            choice={"prompts": [ARROW, SLASH]},
            prompt_choice="lowest_perplexity",
        )
    )
    # By hand, from the model's own log probabilities of the eight filled prompts (§13).
    lm = load_text_model(checkpoints / "tiny-gpt2", threads=1)

    def mean(fill: Callable[[str, str], str]) -> float:
        filled = [fill(pair[0], "WME") for pair in PAIRS] + [fill(pair[1], "AAL") for pair in PAIRS]
        logs = lm.token_logprobs(filled)
        return sum(2.718281828459045 ** -float(one.mean()) for one in logs) / len(logs)

    means = {
        ARROW: mean(lambda text, _: f"{text} =>"),
        SLASH: mean(lambda text, into: f"{text} / {into}:"),
    }
    best = min(means, key=lambda slug: means[slug])
    (notice,) = [one for one in run.notices if "lowest mean perplexity" in one]
    assert notice.startswith(f"The prompt {best} has the lowest mean perplexity over 8 filled")
    for slug, value in means.items():
        assert f"{slug} {value:.4g}" in notice
    alone = finished(make_text_run("counterpart_generation", choice={"prompts": [best]}))
    assert bodies(alone) == bodies(run)


def test_examples_come_from_the_training_split_alone(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(
        make_text_run(
            "counterpart_generation",
            model="tiny-t5",
            choice={"examples": 2},
            directions="to_target",
        )
    )
    assert {pair["slug"] for pair in run.stimuli["examples"]} == {"t0", "t1"}
    assert {pair["slug"] for pair in run.stimuli["pairs"]} == {"p0", "p1", "p2", "p3"}
    assert any(one.startswith("Before each text come 2 examples: t") for one in run.notices)


def test_counterparts_are_stored_once_however_often_a_run_is_aggregated(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(make_text_run("counterpart_generation"))
    assert not aggregate_run(run)
    assert Counterpart.objects.count() == 8
    one = Counterpart.objects.first()
    assert one is not None
    one.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        one.save(force_insert=True)


def test_a_corpus_that_lost_a_pair_fails_the_run_and_stores_nothing(
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = make_text_run("counterpart_generation")
    corpus.pairs.get(slug="p1").delete()
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "no pair “p1” any longer" in run.error
    assert not Counterpart.objects.exists()


def test_a_chat_model_writes_through_its_server(
    corpus: Corpus,  # noqa: F811
    checkpoints: Path,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    with serve_openai(checkpoints / "tiny-gpt2") as server:
        chat = register_served(server)
        run = make_text_run("counterpart_generation", model=chat, directions="to_target")
        server.faults.append(Fault(answer={"finish_reason": "content_filter"}))
        finished(run)
        found = bodies(run)
        assert sorted(server.prompts) == sorted(f"{pair[0]} =>" for pair in PAIRS)
        assert {body["temperature"] for body in server.requests} == {0.7}
    refused = [reason for body, reason in found.values() if "refused" in reason]
    assert refused == ["the model or its server refused"]
    assert len(found) == 4
    assert "1 of 4 counterparts: the model or its server refused." in run.notices


@pytest.mark.parametrize(
    ("parameters", "choice", "said"),
    [
        ({}, {"prompts": [ARROW, SLASH]}, "2 prompts are chosen, expected one"),
        ({"beams": 3, "temperature": 0.7}, {}, "a beam search does not sample"),
        ({}, {"prompts": ["short-arow"]}, "no prompt “short-arow”. Near or known: short-arrow"),
        ({}, {"sources": ["Twitter"]}, "expected some of: “CORAAL”, “blogs”"),
        ({}, {"examples": 3}, "3 examples are asked for, but the training split"),
        ({}, {"limit": 0}, "expected at least 1 pair"),
        ({}, {"per_source": 0}, "expected at least 1 pair per source"),
        ({}, {"per_source": 1, "limit": 1}, "not both"),
        ({}, {"corpus": None}, "Choose a corpus"),
        ({"max_new_tokens": 64}, {}, "longer than the model can read"),
    ],
)
def test_what_cannot_be_run_is_named_and_nothing_is_stored(
    parameters: dict[str, Any],
    choice: dict[str, Any],
    said: str,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    with pytest.raises(RunError, match=said.replace("(", r"\(")):
        make_text_run("counterpart_generation", choice=choice, **parameters)
    assert not Run.objects.exists()


def test_a_chat_model_can_neither_choose_by_perplexity_nor_search_with_beams(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    chat = register_model(location="http://127.0.0.1:9/v1", served_name="absent")
    with pytest.raises(RunError, match="does not say how likely a prompt is"):
        make_text_run(
            "counterpart_generation",
            model=chat,
            choice={"prompts": [ARROW, SLASH]},
            prompt_choice="lowest_perplexity",
        )
    with pytest.raises(RunError, match="servers of chat models have no beams"):
        make_text_run("counterpart_generation", model=chat, beams=3)
    with pytest.raises(RunError, match="Masked span prediction needs a causal or"):
        make_text_run("span_prediction", model=chat)


def test_a_masked_model_writes_nothing_and_says_so(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    with pytest.raises(RunError, match=r"Counterpart generation needs a .*tiny-bert” is masked"):
        make_text_run("counterpart_generation", model="tiny-bert")


# --- spans ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_scores_hidden_spans(
    name: str,
    family: Any,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    run = finished(make_text_run("span_prediction", model=family(name), trials=2))
    scores = TextScore.objects.filter(run=run)
    # 2 quantities x 4 pairs x 2 varieties x 2 trials.
    assert scores.count() == 2 * 4 * 2 * 2
    for score in scores:
        assert (score.value is None) == bool(score.reason)
        if score.value is not None:
            assert score.n > 0
            assert score.value > 1 if score.name == "span_perplexity" else score.value >= 0
    entropies = [s.value for s in scores if s.name == "top5_entropy" and s.value is not None]
    assert max(entropies) <= 1.6094379124341003 + 1e-9  # ln 5 (methods.md §15)
    protocol = {"tiny-t5": "sentinel", "tiny-bart": "mask"}.get(name, "left_context")
    assert any(f"How spans were hidden: {protocol}" in notice for notice in run.notices)


def test_given_spans_have_the_golden_perplexities(
    corpus: Corpus,  # noqa: F811
    shared_dir: Path,
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    golden = load_expected(shared_dir, "masked_span_t5")
    cases = golden["cases"]
    corpus.texts.all().delete()
    expected = {}
    for number in range(0, len(cases), 2):
        sides = cases[number], cases[number + 1]
        add_pair(
            corpus,
            f"g{number}",
            (sides[0]["text"], sides[1]["text"]),
            spans=[[span_of(case)] for case in sides],
        )
        for variety, case in zip(("AAL", "WME"), sides, strict=True):
            expected[f"g{number}", variety] = (case["span_perplexity"], len(case["span_ids"]))
    run = finished(
        make_text_run("span_prediction", model="tiny-t5", conditions=["given"], trials=1)
    )
    found = {
        (score.pair, score.variety): (score.value, score.n)
        for score in TextScore.objects.filter(run=run, name="span_perplexity")
    }
    assert found.keys() == expected.keys()
    for key, (value, tokens) in expected.items():
        assert found[key][0] == pytest.approx(
            value, rel=golden["header"]["tolerance"]["perplexity_rel"]
        )
        assert found[key][1] == tokens
    table = {(row.name, row.variety): row for row in load_span_table(run)}
    for variety in ("AAL", "WME"):
        values = [value for (_, found_in), (value, _) in expected.items() if found_in == variety]
        row = table["span_perplexity", variety]
        assert row.mean == pytest.approx(sum(values) / 6, rel=2e-4)
        assert (row.sd, row.trials, row.n, row.missing) == (None, 1, 6, 0)


def span_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return the offsets of the case's span of whole words."""
    words, start = case["text"].split(" "), case["span_start_word"]
    begin = len(" ".join(words[:start])) + (1 if start else 0)
    length = len(" ".join(words[start : start + case["span_length"]]))
    return {"start": begin, "end": begin + length, "kind": "given"}


def test_shards_and_other_texts_do_not_change_a_span(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    def values(run: Run) -> dict[tuple[Any, ...], Any]:
        rows = TextScore.objects.filter(run=run).values_list(
            "name", "pair", "variety", "trial", "value", "n"
        )
        return {row[:4]: row[4:] for row in rows}

    single = values(finished(make_text_run("span_prediction", model="tiny-t5", trials=2)))
    few = values(
        finished(
            make_text_run(
                "span_prediction",
                model="tiny-t5",
                trials=2,
                pairs_per_shard=9,
                choice={"sources": ["blogs"]},
            )
        )
    )
    assert len(few) == len(single) / 2
    for key, (value, n) in few.items():
        assert n == single[key][1]
        assert value == pytest.approx(single[key][0], rel=1e-4)


def test_a_text_without_such_a_span_has_the_reason_and_is_named_beforehand(
    corpus: Corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    add_pair(corpus, "one", ("yes", "yes indeed"))
    run = finished(make_text_run("span_prediction", model="tiny-t5", trials=1))
    score = TextScore.objects.get(pair="one", variety="AAL", name="span_perplexity")
    assert score.value is None
    assert score.reason == "the text has fewer than two words"
    assert any("random: 1 of 10 texts have no such span" in one for one in run.notices)
    with pytest.raises(
        RunError, match="Import spans of the kind “noun_phrase” with the corpus, or"
    ):
        make_text_run("span_prediction", model="tiny-t5", conditions=["noun_phrase"])
    with pytest.raises(RunError, match="There is no spaCy pipeline “no_such_pipeline”"):
        make_text_run(
            "span_prediction",
            model="tiny-t5",
            conditions=["verb_phrase"],
            pipeline="no_such_pipeline",
        )


def test_parameters_of_several_values_are_read_from_words(
    make_text_run: TextRunMaker,  # noqa: F811
) -> None:
    with pytest.raises(RunError, match="conditions"):
        make_text_run("span_prediction", model="tiny-t5", conditions="random, nothing")
    run = make_text_run("span_prediction", model="tiny-t5", conditions="random")
    assert run.parameters["conditions"] == ["random"]
    assert json.dumps(run.stimuli["pairs"][0]["source"]["spans"]) == "[]"
