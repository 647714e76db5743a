"""CEAT as a measure: what it does with groups and words that a corpus holds, or does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from probing.lm import load_masked
from probing.lm.masked import MaskedLanguageModel
from probing.lm.protocols import SpanText
from probing.measures.ceat import (
    CORPUS,
    DRAWS_CAVEAT,
    Ceat,
    CeatParameters,
    _effect_row,
    pooled_effect,
    unit_vectors,
)
from probing.measures.ceat_p_values import permutation_p_value
from probing.measures.sentence_stimuli import SentenceStimuli, draw_sentences
from probing.measures.stimuli import Group, StimuliError, Trait

GROUPS = (
    Group("teenager", "teenager", "teenagers", "Teenagers"),
    Group("elderly", "elderly person", "elderly people", "Elderly people"),
)
TRAITS = (
    Trait("cold-warm", "cold", "warm", "communion", ("aloof",), ("kind",)),
    Trait("poor-wealthy", "poor", "wealthy", "agency"),
)
SENTENCES = [
    "The teenager was warm to her friend.",
    "Some teenagers are poor.",
    "It was a cold day for all people.",
    "The wealthy man was kind and the aloof one was not.",
    "A warm day is a good day.",
    "Poor people are warm.",
]
MEASURE = Ceat()


def draw(sentences: list[str] = SENTENCES, **options: Any) -> SentenceStimuli:
    chosen = {"per_word": 1000, "seed": 0, **options}
    return draw_sentences(sentences, groups=GROUPS, traits=TRAITS, name="A corpus", **chosen)


def run(stimuli: SentenceStimuli, lm: MaskedLanguageModel, **parameters: Any) -> pd.DataFrame:
    chosen = CeatParameters(**parameters)
    frames = [
        MEASURE.compute(json.loads(json.dumps(shard.payload)), stimuli, chosen, lm)
        for shard in MEASURE.plan(stimuli, chosen, 5)
    ]
    return MEASURE.aggregate(stimuli, chosen, frames)


def test_pooled_scores_are_the_effect_of_the_models_own_embeddings(
    tiny_model: MaskedLanguageModel,
) -> None:
    """The embeddings are read sentence by sentence, and put through the golden-tested effect."""
    stimuli = draw()

    def vectors(key: str) -> np.ndarray:
        spans = [SpanText(o.sentence, o.start, o.end) for o in stimuli.contexts[key].drawn]
        return unit_vectors(np.concatenate([tiny_model.embed([span]) for span in spans]))

    scores = run(stimuli, tiny_model).set_index(["name", "group", "trait", "template"])
    for trait in TRAITS:
        expected = pooled_effect(
            vectors("group:teenager"),
            [vectors(f"word:{trait.high}")],
            [vectors(f"word:{trait.low}")],
        )
        found = scores.loc[("pair_score", "teenager", trait.slug, CORPUS)]
        assert found["value"] == pytest.approx(expected.value, abs=1e-4)
        assert found["n"] == expected.n
        assert scores.loc[("pair_score", "teenager", trait.slug, "")]["value"] == found["value"]


def test_a_group_that_does_not_occur_has_no_score_and_says_why(
    tiny_bert: MaskedLanguageModel,
) -> None:
    stimuli = draw()
    scores = run(stimuli, tiny_bert)
    missing = scores[scores["group"] == "elderly"]
    assert missing["value"].isna().all()
    assert missing["reason"].str.contains("does not occur in the corpus").all()
    found = MEASURE.problems(stimuli, CeatParameters(), tiny_bert)
    absent, scarce = found
    assert (absent.where, absent.fatal, scarce.fatal) == ("group elderly", False, False)
    # SENTENCES by eye: two name teenagers, three hold “warm”.
    assert "“teenagers” (2)" in scarce.message
    assert "“warm” (3)" in scarce.message
    assert "elderly" not in scarce.message


def test_a_word_that_does_not_occur_leaves_its_trait_undefined(
    tiny_bert: MaskedLanguageModel,
) -> None:
    stimuli = draw([s for s in SENTENCES if "wealthy" not in s])
    scores = run(stimuli, tiny_bert).set_index(["group", "trait", "template"])
    assert "wealthy" in scores.loc[("teenager", "poor-wealthy", ""), "reason"]
    assert np.isfinite(scores.loc[("teenager", "cold-warm", ""), "value"]).all()


def test_nothing_found_at_all_is_fatal(tiny_bert: MaskedLanguageModel) -> None:
    found = MEASURE.problems(draw(["No word of it."]), CeatParameters(), tiny_bert)
    assert any(problem.fatal and "None of the groups" in problem.message for problem in found)


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(StimuliError, match="holds no sentences"):
        draw(["", "  "])


def test_a_sentence_that_is_too_long_is_left_out_and_counted(
    tiny_bert: MaskedLanguageModel,
) -> None:
    long = "The teenager was " + "very " * tiny_bert.max_length + "warm."
    stimuli = draw([*SENTENCES, long])
    chosen = CeatParameters()
    messages = " ".join(p.message for p in MEASURE.problems(stimuli, chosen, tiny_bert))
    assert "1 of the drawn sentences" in messages
    shards = MEASURE.plan(stimuli, chosen)
    frames = [MEASURE.compute(shard.payload, stimuli, chosen, tiny_bert) for shard in shards]
    assert set(frames[0]["n_long"]) == {1}
    assert any("left out" in remark for remark in MEASURE.remarks(stimuli, chosen, frames))


def test_p_values_are_of_permutations_whatever_the_number_of_draws(
    tiny_bert: MaskedLanguageModel,
) -> None:
    stimuli = draw(adjectives="lists")
    chosen = {"adjectives": "lists", "p_value": "permutation"}
    scores = run(stimuli, tiny_bert, draws=200, **chosen)
    tested = scores[scores["name"] == "p_value"]
    assert set(tested["trait"]) == {"cold-warm", "poor-wealthy"}
    assert set(tested["n"]) == {1000}
    assert tested["value"].between(1 / 1001, 1).all()
    pd.testing.assert_frame_equal(scores, run(stimuli, tiny_bert, draws=200, **chosen))
    more = run(stimuli, tiny_bert, draws=500, **chosen)
    pd.testing.assert_frame_equal(more[more["name"] == "p_value"], tested)
    assert not np.allclose(*(s.loc[s["name"] == "pair_score", "value"] for s in (scores, more)))


def test_default_p_values_set_a_group_beside_the_others(tiny_bert: MaskedLanguageModel) -> None:
    """Two groups: each beside the other, so that both have one p. One sentence of a word: none."""
    more = ["A cold man is here.", "Elderly people are cold.", "An elderly person is warm."]
    scores = run(draw([*SENTENCES, *more]), tiny_bert)
    tested = scores[scores["name"] == "p_value"].set_index(["trait", "group"])
    assert set(tested.index) == {("cold-warm", "teenager"), ("cold-warm", "elderly")}
    p, other = tested["value"]
    assert 0 < p < 1
    assert p == pytest.approx(other)
    assert set(tested["n"]) == {2}
    of_one = scores[(scores["name"] == "pair_score") & (scores["trait"] == "poor-wealthy")]
    assert of_one["value"].notna().any()


def test_the_papers_p_values_come_with_their_caveat(tiny_bert: MaskedLanguageModel) -> None:
    stimuli = draw(adjectives="lists")
    chosen = CeatParameters(adjectives="lists", draws=200, p_value="one-sided")
    shards = MEASURE.plan(stimuli, chosen)
    frames = [MEASURE.compute(shard.payload, stimuli, chosen, tiny_bert) for shard in shards]
    scores = MEASURE.aggregate(stimuli, chosen, frames)
    tested = scores[scores["name"] == "p_value"]
    assert set(tested["trait"]) == {"cold-warm"}  # the other trait has one adjective per pole
    assert set(tested["n"]) == {200}
    assert DRAWS_CAVEAT in MEASURE.remarks(stimuli, chosen, frames)
    chosen = CeatParameters(p_value="two-sided")
    assert DRAWS_CAVEAT in [p.message for p in MEASURE.problems(stimuli, chosen, tiny_bert)]
    assert DRAWS_CAVEAT not in MEASURE.remarks(stimuli, CeatParameters(), frames)


def test_leaving_out_a_group_or_a_trait_moves_no_other_number(
    tiny_bert: MaskedLanguageModel,
) -> None:
    chosen = CeatParameters(adjectives="lists", draws=50, p_value="permutation")
    sentences = [*SENTENCES, "All elderly people are here.", "An elderly person is kind."]
    whole = draw(sentences, adjectives="lists")
    fewer = replace(whole, groups=whole.groups[1:], traits=whole.traits[1:])
    tables = [
        MEASURE.aggregate(
            stimuli,
            chosen,
            [
                MEASURE.compute(shard.payload, stimuli, chosen, tiny_bert)
                for shard in MEASURE.plan(stimuli, chosen, 5)
            ],
        ).set_index(["name", "group", "trait", "template"])
        for stimuli in (whole, fewer)
    ]
    pd.testing.assert_frame_equal(tables[0].loc[tables[1].index], tables[1])


@pytest.mark.parametrize("draws", [100, 1000, 10_000])
@pytest.mark.parametrize("words", [1, 2], ids=["single adjectives, pooled", "lists, draws"])
def test_permutation_p_values_are_uniform_on_null_data(words: int, draws: int) -> None:
    """200 data sets without a difference: Kolmogorov and Smirnov's distance from uniform.

    Contexts of all words have one distribution about a common direction, as embeddings have.
    """
    rng = np.random.default_rng([words, draws])
    chosen = CeatParameters(draws=draws, p_value="permutation")
    p_values = []
    for seed in range(200):
        vectors = [
            unit_vectors(rng.normal(size=(n, 6)) + np.arange(6) / 3)
            for n in (15, *(rng.integers(8, 20, size=2 * words)))
        ]
        poles = [vectors[1 : 1 + words], vectors[1 + words :]]
        row = _effect_row(vectors[0], poles, chosen, seed)
        assert row["n_draws"] == 1000
        p_values.append(row["p_value"])
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    assert np.mean(np.array(p_values) < 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_a_permutation_p_value_by_hand() -> None:
    """Contexts along two axes, the group along the first: cosines 1, 1 against 0, 0.

    Of the 6 ways to deal out two ones, 2 give a difference of 1: p tends to 1/3.
    """
    axes = np.eye(2)
    high, low = [axes[[0, 0]]], [axes[[1, 1]]]
    found = permutation_p_value(
        axes[:1], high, low, n_permutations=20_000, rng=np.random.default_rng(0)
    )
    assert found == pytest.approx(1 / 3, abs=0.01)


def test_shards_are_the_same_bits_in_any_order_and_after_a_restart(checkpoints: Path) -> None:
    stimuli = draw(adjectives="lists")
    chosen = CeatParameters(adjectives="lists", draws=50)
    plan = MEASURE.plan(stimuli, chosen, 5)
    lm = load_masked(checkpoints / "tiny-bert", threads=1)
    usual = [MEASURE.compute(shard.payload, stimuli, chosen, lm) for shard in plan]
    restarted = load_masked(checkpoints / "tiny-bert", threads=1)
    for shard in plan[::-1]:
        again = MEASURE.compute(shard.payload, stimuli, chosen, restarted)
        pd.testing.assert_frame_equal(again, usual[shard.index], check_exact=True)


def test_one_sentence_for_each_word_leaves_the_effect_undefined(
    tiny_bert: MaskedLanguageModel,
) -> None:
    """With two cosines x > y the effect is (x − y) / (|x − y| / √2) = √2, whatever they are."""
    sentences = [*SENTENCES, "All elderly people are here."]
    stimuli = draw([s for s in sentences if s not in SENTENCES[:1] + SENTENCES[4:]])
    scores = run(stimuli, tiny_bert).set_index(["group", "trait", "template"])
    # Left over: one sentence with teenagers and “poor”, and one with “wealthy”.
    value, reason = scores.loc[("teenager", "poor-wealthy", ""), ["value", "reason"]]
    assert np.isnan(value)
    assert "±√2" in reason


def test_stimuli_survive_storage() -> None:
    stimuli = draw(adjectives="lists")
    again = SentenceStimuli.from_json(json.loads(json.dumps(stimuli.to_dict())))
    assert again.content_hash() == stimuli.content_hash()
    assert again.of_group("teenager") == stimuli.of_group("teenager")


@pytest.mark.shared
def test_stored_vectors_give_the_stored_effect_through_the_measure(shared_dir: Path) -> None:
    """Golden cases hold vectors instead of sentences, so a model is put together from them."""
    data = json.loads((shared_dir / "golden" / "expected" / "ceat.json").read_text())
    for case in data["cases"]:
        high = {f"high{i}": rows for i, rows in enumerate(case["A"])}
        low = {f"low{i}": rows for i, rows in enumerate(case["B"])}
        vectors = {"teenager": case["group_vectors"], **high, **low}
        first, *others = high
        trait = Trait("low-high", "low0", first, "golden", tuple(low)[1:], tuple(others))
        stimuli = draw_sentences(
            [f"{word} {i}" for word, rows in vectors.items() for i in range(len(rows))],
            groups=GROUPS[:1],
            traits=[trait],
            name="golden",
            per_word=1000,
            seed=0,
            adjectives="lists",
        )
        scores = run(stimuli, _Stored(vectors), combination="pooled", adjectives="lists")  # type: ignore[arg-type]
        # Unit vectors are kept as float32.
        scores = scores[scores["name"] == "pair_score"]
        np.testing.assert_allclose(scores["value"], case["pooled_context_effect"], atol=1e-6)


class _Stored:
    """Embeddings that are looked up: sentence “warm 2” has the third stored vector of warm."""

    max_length = 512
    own_pieces = "first"

    def __init__(self, vectors: dict[str, list[list[float]]]) -> None:
        from probing.lm.cache import BoundedCache

        self._vectors = vectors
        self.cache = BoundedCache(4)

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(range(len(text.split())))

    def embed(self, spans: list[SpanText], *, pieces: str = "first") -> np.ndarray:
        rows = []
        for span in spans:
            word, number = span.text.split()
            rows.append(self._vectors[word][int(number)])
        return np.array(rows)
