"""CEAT per group: how close a group's contextual embeddings are to those of a pole's adjectives.

Cao et al. (2022), §3.1, after Guo and Caliskan (2021). With one adjective per pole every single
draw gives ±√2 whatever the embeddings, so that by default all contexts are pooled there; with
lists of adjectives, draws are combined by a random-effects model.

The sentences are drawn before the run and stored with it (`sentence_stimuli`), so that workers need
no corpus and a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from annotation.common.lazy import np, pd
from probing.lm.protocols import EmbeddingModel, Pieces, SpanText
from probing.measures import ceat_effect as effect
from probing.measures.adjectives import Adjectives, Pole, both_poles, empty_lists, pole_words
from probing.measures.base import (
    SCORE_COLUMNS,
    Cost,
    Frames,
    Measure,
    MeasureParameters,
    Problem,
    ShardPlan,
    in_words,
)
from probing.measures.ceat_effect import unit_vectors
from probing.measures.occurrences import Sample
from probing.measures.sentence_stimuli import SentenceStimuli
from probing.measures.sentence_supply import SentenceSupply
from probing.measures.stimuli import StimuliError, Trait
from probing.measures.streams import named_seed, named_stream

POLES: tuple[Pole, Pole] = ("high", "low")
PAIR_SCORE = "pair_score"
P_VALUE = "p_value"
#: Stands where other measures name a template.
CORPUS = "sentences"
NOT_FOUND = "does not occur in the corpus"
TOO_LONG = "occurs only in sentences that are longer than the model reads"
#: Simulated: methods.md §6.
DRAWS_CAVEAT = (
    "p-values of combined draws depend on the number of draws, not on the data: on null data "
    "7.5 %, 5 % and 32.5 % of 40 sets fell below .05 at 100, 1,000 and 10,000 draws. They serve to "
    "reproduce the paper; for inference choose permutation."
)
ONE_EACH = "one sentence for each word: the effect is ±√2 whatever the embeddings"


class CeatParameters(MeasureParameters):
    """Parameters of CEAT."""

    adjectives: Adjectives = Field(
        "pole",
        description="What stands for a pole: its own adjective (pole, as published), the pole "
        "with its synonyms in the library (lists), or these as the released lists spell them "
        "(released lists).",
        json_schema_extra=in_words(
            {
                "pole": "its own adjective",
                "lists": "lists of the library",
                "released_lists": "released lists",
            }
        ),
    )
    sentences_per_word: int = Field(
        1000,
        ge=1,
        le=10_000,
        description="The most sentences drawn for every group and every adjective, with the "
        "run's seed; 1,000 as published. They are kept with the run.",
    )
    combination: Literal["automatic", "pooled", "draws"] = Field(
        "automatic",
        title="Combination of contexts",
        description="How the contexts become one effect size: all of them pooled, many random "
        "draws combined by a random-effects model (draws, as published by Guo and Caliskan), or "
        "pooled where a pole has one adjective and draws where it has several (automatic).",
        json_schema_extra=in_words(
            {
                "automatic": "automatic",
                "pooled": "all contexts pooled",
                "draws": "random draws, combined",
            }
        ),
    )
    draws: int = Field(
        10_000,
        ge=2,
        le=1_000_000,
        description="How many random draws of one context per word are combined.",
    )
    pieces: Literal["automatic", "first", "last", "mean"] = Field(
        "automatic",
        title="Subwords",
        description="Which of a word's or phrase's subwords gives its embedding: the first of a "
        "masked model, as published, and the last of a causal model or an encoder and decoder, "
        "since a causal one has not read the word at its first (automatic); or always the first, "
        "the last, or the mean of all.",
        json_schema_extra=in_words(
            {
                "automatic": "automatic",
                "first": "the first subword",
                "last": "the last subword",
                "mean": "the mean of all subwords",
            }
        ),
    )
    p_value: Literal["permutation", "two-sided", "one-sided"] = Field(
        "permutation",
        title="p-value",
        description="By permutation of the poles' sentences (ours); or the normal p-value of the "
        "combined draws, two-sided or, as released, one-sided, which falls with the number of "
        "draws and serves to reproduce the paper alone.",
        json_schema_extra=in_words(
            {
                "permutation": "by permutation",
                "two-sided": "normal, two-sided",
                "one-sided": "normal, one-sided, as released",
            }
        ),
    )
    permutations: int = Field(
        1000,
        ge=1000,
        le=1_000_000,
        description="How often the sentences are dealt out anew between the poles, with the run's "
        "seed; for the p-value by permutation.",
    )


class Ceat(Measure[SentenceStimuli, CeatParameters]):
    """Effect sizes of a group's association with the high pole against the low one."""

    name = "ceat"
    title = "CEAT, contextual embedding association test per group"
    citation = (
        "Cao, Sotnikova, Daumé III, Rudinger and Zou (2022), Theory-Grounded Measurement of U.S. "
        "Social Stereotypes in English Language Models, §3.1; after Guo and Caliskan (2021)"
    )
    abilities = frozenset({"embed"})
    Parameters = CeatParameters
    stimuli_type = SentenceStimuli

    def plan(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return one shard for each group, in the order of the stimuli."""
        return [
            ShardPlan(index, group.plural, {"group": group.slug, "seed": seed})
            for index, group in enumerate(stimuli.groups)
        ]

    def problems(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, lm: EmbeddingModel
    ) -> list[Problem]:
        """Name the words without sentences or with few, and what keeps all scores undefined."""
        if stimuli.source.per_word != parameters.sentences_per_word:
            message = (
                f"The sentences were drawn {stimuli.source.per_word:,} per word at most, not "
                f"{parameters.sentences_per_word:,}. Draw them again."
            )
            return [Problem("parameter sentences_per_word", message, True)]
        if empty := empty_lists(stimuli.traits, parameters.adjectives):
            return empty
        try:
            supply = SentenceSupply(stimuli, parameters.adjectives, lm)
        except StimuliError as error:
            return [Problem("parameter adjectives", str(error), True)]
        found = supply.problems()
        if parameters.combination == "draws" and supply.single_adjectives:
            message = (
                "With one adjective per pole every draw gives +√2 or −√2 whatever the embeddings, "
                "so that the score only tells how often which. Choose pooled, or lists."
            )
            found.append(Problem("parameter combination", message, False))
        if parameters.p_value != "permutation":
            found.append(Problem("parameter p_value", DRAWS_CAVEAT, False))
        return found

    def estimate(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, lm: EmbeddingModel
    ) -> Cost:
        """Count the drawn sentences and their tokens."""
        lengths = [
            length
            for sample in stimuli.contexts.values()
            for occurrence in sample.drawn
            if (length := len(lm.encode(occurrence.sentence))) <= lm.max_length
        ]
        return Cost(len(stimuli.groups), len(lengths), sum(lengths))

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: SentenceStimuli,
        parameters: CeatParameters,
        lm: EmbeddingModel,
    ) -> pd.DataFrame:
        """Return one row per trait: group, trait, value, reason, n, p_value, n_draws, n_long.

        `n_draws` counts the permutations or draws that the p-value rests on, 0 where there is none.
        The embeddings of the adjectives are computed once and kept with the model.
        """
        if set(payload) != {"group", "seed"}:
            raise StimuliError("A shard's payload is an object with a group and a seed.")
        group, seed = stimuli.group(payload["group"]), payload["seed"]
        if isinstance(seed, list):  # a shard of a run that was begun before streams had names
            seed = seed[0]
        vectors, n_long = _embed(lm, stimuli.of_group(group.slug), _pieces(parameters, lm))
        words = self._words(stimuli, parameters, lm)
        rows = []
        for trait in stimuli.traits:
            row = {"group": group.slug, "trait": trait.slug, "n_long": n_long}
            missing = _missing(trait, stimuli, parameters, words)
            if not len(vectors):
                drawn = stimuli.of_group(group.slug).drawn
                missing = f"the group {TOO_LONG if drawn else NOT_FOUND}"
            if missing:
                row |= {"value": np.nan, "reason": missing, "n": 0}
                rows.append(row | {"p_value": np.nan, "n_draws": 0})
                continue
            poles = [
                [words[word] for word in pole_words(trait, pole, parameters.adjectives)]
                for pole in POLES
            ]
            own_seed = named_seed(seed, group.slug, trait.slug)
            rows.append(row | _effect_row(vectors, poles, parameters, own_seed))
        columns = ["group", "trait", "value", "reason", "n", "p_value", "n_draws", "n_long"]
        return pd.DataFrame(rows, columns=columns)

    def aggregate(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return pair scores, once for the corpus and once as the overall value, and p-values."""
        rows = pd.concat(shard_frames, ignore_index=True)
        if rows.duplicated(["group", "trait"]).any():
            raise ValueError("a group and trait occur twice among the shards")
        if len(rows) != len(stimuli.groups) * len(stimuli.traits):
            raise ValueError("rows of a group or trait are missing among the shards")
        scores = [rows.assign(name=PAIR_SCORE, template=template) for template in (CORPUS, "")]
        tested = rows[rows["n_draws"] > 0]
        scores.append(
            tested.assign(name=P_VALUE, template="", value=tested["p_value"], n=tested["n_draws"])
        )
        table = pd.concat(scores, ignore_index=True)
        return table[list(SCORE_COLUMNS)]

    def remarks(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, shard_frames: Frames
    ) -> list[str]:
        """Say where the sentences come from, how many are too long, and what p-values are worth."""
        source = stimuli.source
        drawn = pd.concat(shard_frames)["n_draws"] if shard_frames else pd.Series(dtype=int)
        said = [
            f"Sentences: up to {source.per_word:,} per word out of {source.n_sentences:,} of "
            f"“{source.name}” (SHA-256 {source.sha256[:12]}…), drawn with seed {source.seed}."
        ]
        if parameters.p_value != "permutation" and (drawn > 0).any():
            said.append(DRAWS_CAVEAT)
        long = sum(int(frame["n_long"].iloc[0]) for frame in shard_frames if len(frame))
        if long:
            said.append(
                f"{long} sentences with a group were longer than the model reads: left out."
            )
        return said

    def _words(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, lm: EmbeddingModel
    ) -> dict[str, np.ndarray]:
        """Return the unit embeddings of all adjectives, computed once and kept with the model."""
        pieces = _pieces(parameters, lm)
        key = (self.name, pieces, parameters.adjectives, stimuli.content_hash())
        return lm.cache.get_or_compute(
            key,
            lambda: {
                word: _embed(lm, stimuli.of_word(word), pieces)[0]
                for trait in stimuli.traits
                for word in both_poles(trait, parameters.adjectives)
            },
        )


def _pieces(parameters: CeatParameters, lm: EmbeddingModel) -> Pieces:
    return lm.own_pieces if parameters.pieces == "automatic" else parameters.pieces


def _missing(
    trait: Trait,
    stimuli: SentenceStimuli,
    parameters: CeatParameters,
    words: Mapping[str, np.ndarray],
) -> str:
    """Return which adjectives have no embedding, and why; empty if all have one."""
    lacking = [
        f"{word}: {TOO_LONG if stimuli.of_word(word).drawn else NOT_FOUND}"
        for word in both_poles(trait, parameters.adjectives)
        if not len(words[word])
    ]
    return "; ".join(lacking)[:200]


def _effect_row(
    vectors: np.ndarray,
    poles: list[list[np.ndarray]],
    parameters: CeatParameters,
    seed: int,
) -> dict[str, Any]:
    high, low = poles
    pooled = _pools(parameters, single=len(high) == len(low) == 1)
    p_value, n_draws = np.nan, 0
    if pooled:
        found = effect.pooled_effect(vectors, high, low)
        if found.n == 2:
            found = effect.Effect(np.nan, found.n, ONE_EACH)
        value, n, reason = found.value, found.n, found.reason
    else:
        counts = [len(vectors), *(len(word) for word in (*high, *low))]
        rng = named_stream(seed, "draws")
        draws = effect.sample_draws(rng, counts, parameters.draws)
        combined = effect.combine_draws(*effect.draw_effects(vectors, high, low, draws))
        value, n, reason = combined.combined, combined.n, combined.reason
        if parameters.p_value != "permutation":
            two_sided = parameters.p_value == "two-sided"
            p_value = combined.p_two_sided if two_sided else combined.p_one_sided
            n_draws = n
    if parameters.p_value == "permutation":
        n_draws = parameters.permutations
        p_value = effect.permutation_p_value(
            vectors,
            high,
            low,
            n_permutations=n_draws,
            rng=named_stream(seed, "permutations"),
            words_alike=not pooled,
        )
    if reason:
        p_value, n_draws = np.nan, 0
    return {"value": value, "reason": reason, "n": n, "p_value": p_value, "n_draws": n_draws}


def _pools(parameters: CeatParameters, *, single: bool) -> bool:
    """Return whether contexts are pooled; `single`: each pole has one adjective."""
    if parameters.combination == "automatic":
        return single
    return parameters.combination == "pooled"


def _embed(lm: EmbeddingModel, sample: Sample, pieces: Pieces) -> tuple[np.ndarray, int]:
    """Return unit vectors of the sample's words, and how many sentences were too long."""
    fitting = [o for o in sample.drawn if len(lm.encode(o.sentence)) <= lm.max_length]
    texts = [SpanText(o.sentence, o.start, o.end) for o in fitting]
    n_long = len(sample.drawn) - len(fitting)
    if not texts:
        return np.empty((0, 1)), n_long
    found = lm.embed(texts, pieces=pieces)
    # A thousand contexts for each of a hundred words: in the model's own digits, not in more.
    return unit_vectors(found).astype(found.dtype), n_long
