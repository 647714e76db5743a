"""CEAT per group: how close a group's contextual embeddings are to those of a pole's adjectives.

Cao et al. (2022), §3.1, after Guo and Caliskan (2021). With one adjective per pole every single
draw gives ±√2 whatever the embeddings, so that by default all contexts are pooled there; with
lists of adjectives, draws are combined by a random-effects model.

The sentences are drawn before the run and stored with it (`sentence_stimuli`), so that workers need
no corpus and a run can be repeated.

Cao et al. (2022), §3.1, per group, after Guo and Caliskan (2021):

    ES(g, A, B) = (mean cos(g, a) over A − mean cos(g, b) over B) / s,  s = sd of all those cosines

A holds the words of the high pole, B those of the low one, so a positive effect leans high.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, Literal, TypeAlias

from pydantic import Field

from annotation.common.lazy import np, npt, pd
from probing.lm.protocols import EmbeddingModel, Pieces, SpanText
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
from probing.measures.ceat_p_values import (
    Leaning,
    leaning_of,
    permutation_p_value,
    relative_p_value,
)
from probing.measures.occurrences import Sample
from probing.measures.sentence_stimuli import SentenceStimuli, group_key, word_key
from probing.measures.stimuli import StimuliError, Trait
from probing.measures.streams import named_seed, named_stream

# --- CEAT's arithmetic: effect sizes of contextual embeddings, and how draws are combined ---------

Vectors: TypeAlias = "npt.NDArray[np.floating]"

CONSTANT = "all cosines are equal"
TOO_FEW_DRAWS = "fewer than two draws have a value"


@dataclass(frozen=True)
class Effect:
    """An effect size, with the number of cosines behind it; NaN with a reason where undefined."""

    value: float
    n: int
    reason: str = ""


@dataclass(frozen=True)
class RandomEffects:
    """Effect sizes of many draws as one; NaN with a reason where undefined.

    combined : the weighted mean effect size
    variance : of the combined effect size
    heterogeneity : Q, the weighted squared deviation from the mean
    tau_squared : variance between draws
    z, p_one_sided, p_two_sided : combined / standard error, and its normal p-values; one-sided
        asks whether the effect is positive, as released
    n : draws that went in
    """

    combined: float
    variance: float
    heterogeneity: float
    tau_squared: float
    z: float
    p_one_sided: float
    p_two_sided: float
    n: int
    reason: str = ""


def unit_vectors(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Return (n, size) vectors of length 1; their products are cosines.

    Raises ValueError for a vector of length 0, which has no direction.
    """
    values = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    if not np.all(lengths > 0):
        raise ValueError("an embedding has length 0 or is not a number: it has no direction")
    return values / lengths


def pooled_effect(
    group: Vectors, positive: Sequence[Vectors], negative: Sequence[Vectors]
) -> Effect:
    """Return the effect over all cosines between every context of the group and of each word.

    group : (n_contexts, size) unit vectors
    positive, negative : one array of unit vectors for each word of A and of B

    With one word per pole every single draw gives exactly ±√2 whatever the embeddings; pooling
    the contexts keeps what they say.
    """
    vectors = group.astype(np.float64)
    first = (vectors @ np.concatenate(positive).T.astype(np.float64)).ravel()
    second = (vectors @ np.concatenate(negative).T.astype(np.float64)).ravel()
    return _effect(first, second)


def draw_effects(
    group: Vectors,
    positive: Sequence[Vectors],
    negative: Sequence[Vectors],
    draws: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the effect size and released variance of every draw, both (n_draws,).

    draws : (n_draws, 1 + n_A + n_B) the context that is picked for the group, for each word of A
        and for each word of B

    The variance is that of the draw's cosines (ddof 1), as released; it is no sampling variance
    of an effect size. NaN where all cosines of a draw are equal.
    """
    picked = group[draws[:, 0]]
    words = [*positive, *negative]
    cosines = np.stack(
        [
            np.einsum("ij,ij->i", picked, word[draws[:, column]], dtype=np.float64)
            for column, word in enumerate(words, start=1)
        ],
        axis=1,
    )
    n_positive = len(positive)
    difference = cosines[:, :n_positive].mean(axis=1) - cosines[:, n_positive:].mean(axis=1)
    variances = cosines.var(axis=1, ddof=1)
    varies = variances > 0
    effects = np.full(len(draws), np.nan)
    effects[varies] = difference[varies] / np.sqrt(variances[varies])
    return effects, np.where(varies, variances, np.nan)


def combine_draws(
    effects: npt.NDArray[np.float64], variances: npt.NDArray[np.float64]
) -> RandomEffects:
    """Return the draws' effects combined by a random-effects model (Guo and Caliskan 2021).

    effects, variances : (n_draws,), NaN = a draw without a value, left out
    """
    usable = np.isfinite(effects) & np.isfinite(variances)
    e, v = effects[usable], variances[usable]
    n = len(e)
    if n < 2:
        return RandomEffects(*(float("nan"),) * 7, n, TOO_FEW_DRAWS)
    w = 1 / v
    mean = np.sum(w * e) / np.sum(w)
    # Q = Σ w e² − (Σ w e)² / Σ w, written as squared deviations so that no digits are lost.
    q = float(np.sum(w * (e - mean) ** 2))
    c = np.sum(w) - np.sum(w**2) / np.sum(w)
    tau_squared = max(0.0, float((q - (n - 1)) / c))
    w_star = 1 / (v + tau_squared)
    combined = float(np.sum(w_star * e) / np.sum(w_star))
    variance = float(1 / np.sum(w_star))
    z = combined / sqrt(variance)
    return RandomEffects(
        combined=combined,
        variance=variance,
        heterogeneity=q,
        tau_squared=tau_squared,
        z=z,
        p_one_sided=erfc(z / sqrt(2)) / 2,
        p_two_sided=erfc(abs(z) / sqrt(2)),
        n=n,
    )


def sample_draws(
    rng: np.random.Generator, n_contexts: Sequence[int], n_draws: int
) -> npt.NDArray[np.int64]:
    """Return (n_draws, n_words) contexts, each picked uniformly; `n_contexts` counts a word's."""
    return np.stack([rng.integers(n, size=n_draws) for n in n_contexts], axis=1)


def _effect(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> Effect:
    both = np.concatenate([first, second])
    spread = float(both.std(ddof=1)) if len(both) > 1 else 0.0
    if not spread > 0:
        return Effect(float("nan"), len(both), CONSTANT)
    return Effect(float((first.mean() - second.mean()) / spread), len(both))


# --- Checks whether a corpus has enough sentences for every group and adjective -------------------

#: With fewer sentences than this, an embedding says as much of the sentences as of the word.
FEW_SENTENCES = 10
_GROUP = "group:"


class SentenceSupply:
    """How many of the drawn sentences the model can read, for every group and adjective.

    Raises StimuliError where sentences with an adjective were never looked for.
    """

    def __init__(
        self, stimuli: SentenceStimuli, adjectives: Adjectives, lm: EmbeddingModel
    ) -> None:
        self._source = stimuli.source
        self._longest = lm.max_length
        self._groups = [group_key(group.slug) for group in stimuli.groups]
        self._traits = [
            [word_key(word) for word in both_poles(trait, adjectives)] for trait in stimuli.traits
        ]
        samples = {group_key(group.slug): stimuli.of_group(group.slug) for group in stimuli.groups}
        self._label = {group_key(group.slug): group.plural for group in stimuli.groups}
        for word in _words(stimuli.traits, adjectives):
            samples[word_key(word)] = stimuli.of_word(word)
            self._label[word_key(word)] = word
        sentences = {o.sentence for sample in samples.values() for o in sample.drawn}
        self._long = {text for text in sentences if len(lm.encode(text)) > lm.max_length}
        self._drawn = {key: len(sample.drawn) for key, sample in samples.items()}
        self._read = {
            key: sum(o.sentence not in self._long for o in sample.drawn)
            for key, sample in samples.items()
        }

    @property
    def single_adjectives(self) -> bool:
        """Whether a trait has one adjective for each pole."""
        return any(len(keys) == 2 for keys in self._traits)

    def problems(self) -> list[Problem]:
        """Return why nothing could be scored, which is fatal, or else what lacks sentences."""
        if fatal := self._fatal():
            return [Problem("sentences", fatal, True)]
        found = [*self._absent(), *self._scarce()]
        if self._long:
            message = (
                f"{len(self._long):,} of the drawn sentences are longer than the "
                f"{self._longest:,} tokens that the model reads, and are left out."
            )
            found.append(Problem("sentences", message, False))
        return found

    def _fatal(self) -> str:
        """Return why not a single score could be computed; empty if some can."""
        n = self._source.n_sentences
        total = f"{n:,} sentence{'' if n == 1 else 's'} of “{self._source.name}”"
        of_groups = [self._read[key] for key in self._groups if self._read[key]]
        if not of_groups:
            return (
                f"None of the groups occurs in the {total} that the model can read. Give "
                "sentences that name the groups."
            )
        of_traits = [
            counts for keys in self._traits if all(counts := [self._read[key] for key in keys])
        ]
        if not of_traits:
            return (
                f"No trait has sentences for all adjectives of both poles in the {total} that the "
                "model can read. Give more sentences."
            )
        if max(of_groups) == 1 and all(counts == [1, 1] for counts in of_traits):
            return (
                f"The {total} say too little: with one sentence for each word the effect is ±√2 "
                "whatever the embeddings. Give more sentences."
            )
        return ""

    def _absent(self) -> list[Problem]:
        found = []
        for key in [key for key, n in self._read.items() if not n]:
            why = (
                f"occurs in “{self._source.name}” only in sentences that are longer than the "
                "model reads"
                if self._drawn[key]
                else f"does not occur in “{self._source.name}”"
            )
            is_group = key.startswith(_GROUP)
            what = "the group gets no score" if is_group else "its trait gets no score"
            where = f"group {key.removeprefix(_GROUP)}" if is_group else "adjectives"
            found.append(Problem(where, f"“{self._label[key]}” {why}: {what}.", False))
        return found

    def _scarce(self) -> list[Problem]:
        few = {key: n for key, n in self._read.items() if 0 < n < FEW_SENTENCES}
        if not few:
            return []
        listed = ", ".join(f"“{self._label[key]}” ({n})" for key, n in few.items())
        message = (
            f"Fewer than {FEW_SENTENCES} sentences hold {listed}. Scores that rest on so few say "
            "as much of the sentences as of the words."
        )
        return [Problem("sentences", message, False)]


def _words(traits: Iterable[Trait], adjectives: Adjectives) -> Iterable[str]:
    """Return all adjectives, each once: lists share some of them."""
    return dict.fromkeys(word for trait in traits for word in both_poles(trait, adjectives))


POLES: tuple[Pole, Pole] = ("high", "low")
#: What a row says of a group's leaning: see `Leaning`.
LEANING = ("toward", "error", "n_contexts", "high_sizes", "low_sizes", "words_alike")
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
    "reproduce the paper; for inference choose the other groups, or permutation."
)
OF_DRAWS = ("two-sided", "one-sided")
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
    p_value: Literal["others", "permutation", "two-sided", "one-sided"] = Field(
        "others",
        title="p-value",
        description="Of a group that leans as the mean of the other groups does (others, ours); of "
        "a group that leans to neither pole, by permutation of the poles' sentences (ours), which "
        "nearly every group does where embeddings share a direction; or the normal one of the "
        "combined draws, two-sided or, as released, one-sided, which falls with the number of "
        "draws and serves to reproduce the paper alone.",
        json_schema_extra=in_words(
            {
                "others": "beside the other groups",
                "permutation": "by permutation of the poles",
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
        if parameters.p_value in OF_DRAWS:
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
        For p-values beside other groups a row also has the group's leaning (`LEANING`).
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
        return pd.DataFrame(
            rows, columns=[*columns, *(LEANING if parameters.p_value == "others" else ())]
        )

    def aggregate(
        self, stimuli: SentenceStimuli, parameters: CeatParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return pair scores, once for the corpus and once as the overall value, and p-values."""
        rows = pd.concat(shard_frames, ignore_index=True)
        if parameters.p_value == "others":
            rows = _beside_others(rows)
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
        if parameters.p_value in OF_DRAWS and (drawn > 0).any():
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
    p_value, n_draws, more = np.nan, 0, {}
    if pooled:
        found = pooled_effect(vectors, high, low)
        if found.n == 2:
            found = Effect(np.nan, found.n, ONE_EACH)
        value, n, reason = found.value, found.n, found.reason
    else:
        counts = [len(vectors), *(len(word) for word in (*high, *low))]
        rng = named_stream(seed, "draws")
        draws = sample_draws(rng, counts, parameters.draws)
        combined = combine_draws(*draw_effects(vectors, high, low, draws))
        value, n, reason = combined.combined, combined.n, combined.reason
        if parameters.p_value in OF_DRAWS:
            two_sided = parameters.p_value == "two-sided"
            p_value = combined.p_two_sided if two_sided else combined.p_one_sided
            n_draws = n
    if parameters.p_value == "permutation":
        n_draws = parameters.permutations
        p_value = permutation_p_value(
            vectors,
            high,
            low,
            n_permutations=n_draws,
            rng=named_stream(seed, "permutations"),
            words_alike=not pooled,
        )
    if parameters.p_value == "others":
        leaning = leaning_of(vectors, high, low, words_alike=not pooled)
        sizes = [list(one) for one in leaning.sizes]
        more = dict(
            zip(
                LEANING,
                (leaning.toward, leaning.error, leaning.n, *sizes, not pooled),
                strict=True,
            )
        )
    if reason:
        p_value, n_draws, more = np.nan, 0, {}
    row = {"value": value, "reason": reason, "n": n, "p_value": p_value, "n_draws": n_draws}
    return row | more


def _beside_others(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with p-values of every group beside the others; `n_draws` counts groups."""
    rows = rows.copy()
    for _, of_trait in rows[rows["toward"].notna()].groupby("trait"):
        leanings = {
            place: Leaning(
                np.asarray(row["toward"], dtype=float),
                float(row["error"]),
                int(row["n_contexts"]),
                (tuple(map(int, row["high_sizes"])), tuple(map(int, row["low_sizes"]))),
            )
            for place, row in zip(of_trait.index, of_trait.to_dict("records"), strict=True)
        }
        alike = bool(of_trait["words_alike"].iloc[0])
        for place, own in leanings.items():
            others = [one for other, one in leanings.items() if other != place]
            p_value = relative_p_value(own, others, words_alike=alike)
            if not np.isnan(p_value):
                rows.loc[place, ["p_value", "n_draws"]] = p_value, len(leanings)
    return rows


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
