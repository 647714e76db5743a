"""Masked span prediction: how well a model knows what was hidden in a text.

Deas et al. (2023), §4 and §5.3. In each of five trials a span of every text is hidden, in both
varieties of a pair independently, and the model is asked for it:

    span_perplexity = exp(-mean ln P(token of the reference span))
    top5_entropy    = -sum p ln p over the five likeliest spans, p renormalized over the five

Low perplexity means that the hidden words are easy to fill in; low entropy that the model is sure.
Percent changes between the varieties are made of these values, one row per text, afterwards.

Deas et al. (2023), §4: spans of words, length ~ Poisson(2), position uniform over the words; noun
phrases and verb phrases by themselves. No code is released, so the details are ours: a length of 0
is drawn again (a zero-truncated Poisson), a length is at most one word less than the text, and the
start is uniform over the positions at which the span fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, Literal

from pydantic import Field

from annotation.common.lazy import np, npt, pd
from probing.lm.text_protocols import SpanContext, SpanModel, SpanScore, TextTokenizer
from probing.measures.aggregation import complete_rows
from probing.measures.base import (
    TEXT_SCORE_COLUMNS,
    Cost,
    Frames,
    MeasureParameters,
    Problem,
    ResultKind,
    ShardPlan,
    in_words,
)
from probing.measures.streams import named_stream
from probing.measures.text_measure import (
    NAMED_TEXTS,
    TextMeasure,
    all_texts,
    one_by_one_where_too_long,
    plan_pairs,
    shard_pairs,
    text_lengths,
    text_of,
    text_problems,
    unread_texts,
    varieties,
)
from probing.measures.text_stimuli import TextStimuli, TextStimulus

# --- Noun and verb phrases of texts by a spaCy pipeline of the user's choice, loaded when needed --

Offsets = tuple[int, int]

_BEFORE_THE_VERB = frozenset({"aux", "auxpass", "aux:pass", "neg", "advmod", "cop"})
_SUBJECTS = ("nsubj", "csubj", "expl")


class PipelineError(Exception):
    """A spaCy pipeline that cannot be used; the message names it and says what to do."""


@lru_cache(maxsize=2)
def load_pipeline(name: str) -> Any:
    """Return the pipeline of that name or in that folder, loading it once a process.

    Raises :class:`PipelineError` where spaCy or the pipeline is missing, or has no parser.
    """
    try:
        import spacy
    except ImportError as error:
        raise PipelineError(
            "Phrases need spaCy, which is not installed here. Install it (pip install spacy), or "
            "import the phrases with the corpus."
        ) from error
    try:
        pipeline = spacy.load(name)
    except (OSError, ValueError) as error:
        raise PipelineError(
            f"There is no spaCy pipeline “{name}” on this machine. Expected an installed one, such "
            "as en_core_web_sm after “python -m spacy download en_core_web_sm”, or a folder."
        ) from error
    if not pipeline.has_pipe("parser"):
        parts = ", ".join(pipeline.pipe_names) or "nothing"
        raise PipelineError(
            f"The spaCy pipeline “{name}” has no parser (it has: {parts}), which phrases need."
        )
    if pipeline.vocab.get_noun_chunks is None:
        raise PipelineError(
            f"The spaCy pipeline “{name}” has no rule for noun phrases in its language "
            f"({pipeline.lang})."
        )
    return pipeline


def pipeline_title(pipeline: Any) -> str:
    """Return name and version of a pipeline and of spaCy, for the record of a run."""
    import spacy

    meta = pipeline.meta
    return f"{meta['lang']}_{meta['name']} {meta['version']} (spaCy {spacy.__version__})"


def find_phrases(pipeline: Any, text: str) -> dict[str, list[Offsets]]:
    """Return the offsets of all noun phrases and verb phrases of `text`.

    Raises :class:`PipelineError` where the pipeline does not say which words are verbs.
    """
    doc = pipeline(text)
    if not doc.has_annotation("POS"):
        raise PipelineError(
            f"The spaCy pipeline “{pipeline.meta['name']}” gives no parts of speech, which verb "
            "phrases need. Choose one with a tagger and an attribute ruler, or a morphologizer."
        )
    return {
        "noun_phrase": [(chunk.start_char, chunk.end_char) for chunk in doc.noun_chunks],
        "verb_phrase": [offsets for token in doc if (offsets := _verb_phrase(token))],
    }


def _verb_phrase(verb: Any) -> Offsets | None:
    """Return the phrase that `verb` heads; None where the token heads none."""
    copula = any(child.dep_ == "cop" for child in verb.children)
    if verb.dep_ in _BEFORE_THE_VERB or not (verb.pos_ in ("VERB", "AUX") or copula):
        return None
    subjects = [
        child.right_edge.i
        for child in verb.children
        if child.dep_.startswith(_SUBJECTS) and child.i < verb.i
    ]
    after_subject = max(subjects, default=-1)
    left = min(
        [
            child.left_edge.i
            for child in verb.children
            if child.dep_ in _BEFORE_THE_VERB and after_subject < child.left_edge.i < verb.i
        ],
        default=verb.i,
    )
    right = verb.right_edge.i
    while right > verb.i and verb.doc[right].is_punct:
        right -= 1
    phrase = verb.doc[left : right + 1]
    return phrase.start_char, phrase.end_char


# --- Spans that masked span prediction hides: one for each text, condition and trial --------------

_WORD = re.compile(r"\S+")


def word_offsets(text: str) -> list[Offsets]:
    """Return where each word begins and ends; a word is a run without white space."""
    return [match.span() for match in _WORD.finditer(text)]


def draw_length(n_words: int, *, mean: float, rng: np.random.Generator) -> int:
    """Draw a length from Poisson(`mean`) without 0, at most `n_words` - 1.

    Raises ValueError for fewer than two words, of which none can be hidden with context left.
    """
    if n_words < 2:
        raise ValueError(f"a text of {n_words} words has no span with a word of context")
    length = 0
    while length == 0:
        length = int(rng.poisson(mean))
    return min(length, n_words - 1)


def draw_random_span(text: str, *, mean: float, rng: np.random.Generator) -> Offsets | None:
    """Draw the offsets of a span of whole words; None where the text has fewer than two."""
    words = word_offsets(text)
    if len(words) < 2:
        return None
    length = draw_length(len(words), mean=mean, rng=rng)
    first = int(rng.integers(len(words) - length + 1))
    return words[first][0], words[first + length - 1][1]


def admissible(text: str, spans: Iterable[Offsets]) -> list[Offsets]:
    """Return the spans without the white space at their ends, sorted, each once.

    Empty ones and those that leave no word of context are left out.
    """
    kept = set()
    for start, end in spans:
        inside = text[start:end]
        begin = start + len(inside) - len(inside.lstrip())
        stop = begin + len(inside.strip())
        if begin < stop and (text[:begin] + text[stop:]).strip():
            kept.add((begin, stop))
    return sorted(kept)


def draw_phrase(text: str, spans: Sequence[Offsets], *, rng: np.random.Generator) -> Offsets | None:
    """Draw one of the admissible spans, each as likely; None where there is none."""
    choices = admissible(text, spans)
    return choices[int(rng.integers(len(choices)))] if choices else None


def hide(text: str, span: Offsets) -> SpanContext:
    """Return the text with the span at `span` hidden."""
    start, end = span
    return SpanContext(before=text[:start], span=text[start:end], after=text[end:])


Condition = Literal["random", "noun_phrase", "verb_phrase", "given"]

PHRASES = ("noun_phrase", "verb_phrase")


class SpanPredictionParameters(MeasureParameters):
    """Parameters of masked span prediction."""

    conditions: tuple[Condition, ...] = Field(
        ("random",),
        min_length=1,
        title="Hidden spans",
        description="Which spans are hidden, each condition by itself: runs of words of random "
        "length and place (random), noun phrases, verb phrases, or the spans of the kind “given” "
        "that were imported with the corpus (given).",
        json_schema_extra=in_words(
            {
                "random": "words at random",
                "noun_phrase": "noun phrases",
                "verb_phrase": "verb phrases",
                "given": "imported with the corpus",
            }
        ),
    )
    trials: int = Field(
        5,
        ge=1,
        le=100,
        description="How often every text is tried, each time with another span drawn.",
    )
    mean_length: float = Field(
        2.0,
        gt=0,
        le=50,
        title="Mean of the length",
        description="Mean of the Poisson distribution that random lengths are drawn from, in "
        "words; 0 is drawn again and one word of context always stays.",
    )
    pipeline: str | None = Field(
        None,
        max_length=500,
        title="spaCy pipeline",
        description="Name or folder of the spaCy pipeline that finds noun and verb phrases on the "
        "workers. Without one, the phrases that were imported with the corpus are taken.",
    )
    normalise: bool = Field(
        True,
        title="Renormalize the entropy",
        description="Whether the probabilities of the five likeliest spans are divided by their "
        "sum before the entropy is taken, so that it is at most ln 5.",
    )
    pairs_per_shard: int = Field(
        20,
        ge=1,
        le=10000,
        description="How many pairs one unit of work covers. The scores do not depend on it.",
    )


@dataclass(frozen=True)
class HiddenSpan:
    """One text in one condition and trial, with what is hidden or why nothing can be."""

    pair: str
    variety: str
    condition: str
    trial: int
    context: SpanContext | None
    reason: str


def phrase_origin(parameters: SpanPredictionParameters) -> str:
    """Return in words where noun and verb phrases come from."""
    if not set(parameters.conditions) & set(PHRASES):
        return ""
    if parameters.pipeline is None:
        return "imported with the corpus"
    return f"found by {pipeline_title(load_pipeline(parameters.pipeline))}"


def hidden_spans(
    pair: str, text: TextStimulus, variety: str, parameters: SpanPredictionParameters, seed: int
) -> list[HiddenSpan]:
    """Draw the spans of one text in every condition and trial."""

    cells = []
    for condition in parameters.conditions:
        spans = _phrases(text, condition, parameters)
        for trial in range(parameters.trials):
            rng = named_stream(seed, pair, variety, condition, trial)
            if condition == "random":
                drawn = draw_random_span(text.body, mean=parameters.mean_length, rng=rng)
            else:
                drawn = draw_phrase(text.body, spans, rng=rng)
            context = None if drawn is None else hide(text.body, drawn)
            reason = _no_span(condition) if drawn is None else ""
            cells.append(HiddenSpan(pair, variety, condition, trial, context, reason))
    return cells


def _phrases(
    text: TextStimulus, condition: str, parameters: SpanPredictionParameters
) -> list[Offsets]:
    if condition in PHRASES and parameters.pipeline is not None:
        return find_phrases(load_pipeline(parameters.pipeline), text.body)[condition]
    return [(span.start, span.end) for span in text.spans if span.kind == condition]


def _no_span(condition: str) -> str:
    if condition == "random":
        return "the text has fewer than two words"
    words = {"given": "given span"}.get(condition, condition.replace("_", " "))
    return f"the text has no {words} with context around it"


def missing_spans(
    stimuli: TextStimuli, condition: str, parameters: SpanPredictionParameters
) -> list[Problem]:
    """Return the remark on texts without a span of the condition; fatal where none has any."""
    if condition in PHRASES and parameters.pipeline is not None:
        return []  # found on the workers
    texts = [(f"{pair.slug} ({v})", text_of(pair, v, stimuli)) for pair, v in all_texts(stimuli)]
    without = [
        name
        for name, text in texts
        if not (
            len(word_offsets(text.body)) > 1
            if condition == "random"
            else admissible(text.body, _phrases(text, condition, parameters))
        )
    ]
    if not without:
        return []
    remedy = ""
    if condition != "random":
        remedy = f" Import spans of the kind “{condition}” with the corpus"
        remedy += ", or name a spaCy pipeline." if condition in PHRASES else "."
    more = len(without) - NAMED_TEXTS
    names = ", ".join(without[:NAMED_TEXTS]) + (f" and {more} more" if more > 0 else "")
    return [
        Problem(
            "parameter conditions",
            f"{condition}: {len(without)} of {len(texts)} texts have no such span and get no "
            f"score: {names}.{remedy}",
            len(without) == len(texts),
        )
    ]


SPAN_PERPLEXITY = "span_perplexity"
TOP_ENTROPY = "top5_entropy"
NAMES = (SPAN_PERPLEXITY, TOP_ENTROPY)
TOP = 5
#: What is said where :data:`probing.lm.best_spans.MOST_BEGINNINGS` did not settle the search.
UNCERTAIN = "the five likeliest spans are not certain after 2,000 beginnings of spans"
_PROTOCOLS = {
    "sentinel": "a sentinel takes the place of the span, as in T5",
    "mask": "one mask token takes the place of the span, as in BART",
    "left_context": "the text before the span is read and nothing after it, as in GPT",
}


def span_perplexity(token_logprobs: npt.NDArray[np.float64]) -> float:
    """Return exp(-mean ln P) of the tokens; NaN for none."""
    if len(token_logprobs) == 0:
        return float("nan")
    with np.errstate(over="ignore"):
        return float(np.exp(-np.mean(token_logprobs)))


def top_entropy(best_logprobs: npt.NDArray[np.float64], *, normalize: bool) -> float:
    """Return -sum p ln p of the likeliest spans in nats; NaN for none.

    With `normalize`, p are renormalized over them and the entropy is between 0 and ln n.
    """
    logs = np.asarray(best_logprobs, dtype=np.float64)
    if len(logs) == 0 or not np.isfinite(logs).any():
        return float("nan")
    logs = logs[np.isfinite(logs)]  # p ln p is 0 where p is 0
    if normalize:
        logs = logs - np.logaddexp.reduce(logs)
    return float(-np.sum(np.exp(logs) * logs)) + 0.0


def span_values(score: SpanScore | str, normalize: bool) -> list[tuple[str, float, str, int]]:
    """Return (name, value, reason, n) of both quantities."""
    if isinstance(score, str):
        return [(name, float("nan"), score, 0) for name in NAMES]
    found = []
    for name, value, n, nothing in (
        (
            SPAN_PERPLEXITY,
            span_perplexity(score.token_logprobs),
            len(score.token_logprobs),
            "the model scores no token of the span",
        ),
        (
            TOP_ENTROPY,
            top_entropy(score.best_logprobs, normalize=normalize),
            len(score.best_logprobs),
            "the model gives no span" if score.certain else UNCERTAIN,
        ),
    ):
        if n and not np.isfinite(value):
            found.append((name, float("nan"), "the model gives no finite probability", n))
        else:
            found.append((name, value, "" if n else nothing, n))
    return found


class SpanPrediction(TextMeasure[SpanPredictionParameters]):
    """How well a model fills the gap in texts of two varieties."""

    name = "span_prediction"
    title = "Masked span prediction"
    citation = (
        "Deas, Grieser, Kleiner, Patton, Turcan and McKeown (2023), Evaluation of African American "
        "Language Bias in Natural Language Generation, §4 and §5.3"
    )
    abilities = frozenset({"span"})
    Parameters = SpanPredictionParameters
    result = ResultKind.TEXT_SCORES
    uses_prompts = False

    def plan(
        self, stimuli: TextStimuli, parameters: SpanPredictionParameters, seed: int = 0
    ) -> list[ShardPlan]:
        """Return one shard for each chunk of pairs; spans are drawn from its seed."""
        return plan_pairs(stimuli, parameters.pairs_per_shard, "Spans", seed=seed)

    def problems(
        self, stimuli: TextStimuli, parameters: SpanPredictionParameters, lm: TextTokenizer
    ) -> list[Problem]:
        """Look for texts without such spans, texts that do not fit, and a missing pipeline."""
        found = text_problems(stimuli)
        if doubled := _doubled(parameters.conditions):
            message = f"The condition {doubled} is named twice. Name it once."
            found.append(Problem("parameter conditions", message, True))
        phrases = [kind for kind in PHRASES if kind in parameters.conditions]
        if phrases and parameters.pipeline is not None:
            try:
                find_phrases(load_pipeline(parameters.pipeline), "She is here.")
            except PipelineError as error:
                return [*found, Problem("parameter pipeline", str(error), True)]
        for condition in parameters.conditions:
            found += missing_spans(stimuli, condition, parameters)
        return [*found, *unread_texts(stimuli, lm)]

    def estimate(
        self, stimuli: TextStimuli, parameters: SpanPredictionParameters, lm: TextTokenizer
    ) -> Cost:
        """Count a pass over the whole text for each hidden span; the search for spans is on top."""
        times = parameters.trials * len(parameters.conditions)
        lengths = text_lengths(stimuli, lm)
        return Cost(
            shards=len(self.plan(stimuli, parameters)),
            forward_passes=times * len(lengths),
            tokens=times * sum(lengths),
        )

    def compute(
        self,
        payload: Mapping[str, Any],
        stimuli: TextStimuli,
        parameters: SpanPredictionParameters,
        lm: SpanModel,
    ) -> pd.DataFrame:
        """Return one row per name, pair, variety, condition and trial.

        Columns: those of text scores, then span (what was hidden), protocol and phrases.
        """
        cells = [
            cell
            for pair in shard_pairs(payload, stimuli)
            for variety in varieties(stimuli)
            for cell in hidden_spans(
                pair.slug, text_of(pair, variety, stimuli), variety, parameters, payload["seed"]
            )
        ]
        hidden = [cell.context for cell in cells if cell.context is not None]
        scored = iter(
            one_by_one_where_too_long(lambda some: lm.score_spans(some, n_best=TOP), hidden)
        )
        origin = phrase_origin(parameters)
        rows = []
        for cell in cells:
            score = cell.reason if cell.context is None else next(scored)
            for name, value, reason, n in span_values(score, parameters.normalise):
                rows.append(
                    {
                        "name": name,
                        "pair": cell.pair,
                        "variety": cell.variety,
                        "condition": cell.condition,
                        "trial": cell.trial,
                        "value": value,
                        "reason": reason,
                        "n": n,
                        "span": "" if cell.context is None else cell.context.span,
                        "protocol": lm.span_protocol,
                        "phrases": origin,
                    }
                )
        return pd.DataFrame(rows)

    def aggregate(
        self, stimuli: TextStimuli, parameters: SpanPredictionParameters, shard_frames: Frames
    ) -> pd.DataFrame:
        """Return every row, in the order of the stimuli; nothing is averaged here."""
        cells = product(
            NAMES,
            parameters.conditions,
            varieties(stimuli),
            range(parameters.trials),
            [pair.slug for pair in stimuli.pairs],
        )
        keys = ["name", "condition", "variety", "trial", "pair"]
        rows = complete_rows(shard_frames, keys, cells)
        return rows.reset_index()[list(TEXT_SCORE_COLUMNS)]

    def remarks(
        self, stimuli: TextStimuli, parameters: SpanPredictionParameters, shard_frames: Frames
    ) -> list[str]:
        """Say how spans were hidden, where phrases come from, and how many texts have no score."""
        rows = pd.concat(shard_frames, ignore_index=True)
        protocols = sorted(rows["protocol"].unique())
        found = [
            f"How spans were hidden: {protocol} ({_PROTOCOLS.get(protocol, 'unknown')}). Values "
            "are comparable only with those of the same protocol and tokenizer."
            for protocol in protocols
        ]
        if set(parameters.conditions) & set(PHRASES):
            found += [f"Phrases: {origin}." for origin in sorted(rows["phrases"].unique())]
        if not parameters.normalise:
            found.append(
                "The entropy is taken over the five likeliest spans without renormalizing their "
                "probabilities, which do not add up to 1."
            )
        perplexities = rows[rows["name"] == SPAN_PERPLEXITY]
        without = perplexities[perplexities["reason"] != ""]
        for condition, some in without.groupby("condition", sort=True):
            texts = some.groupby(["pair", "variety"]).ngroups
            reasons = "; ".join(sorted(some["reason"].unique())[:3])
            found.append(f"{condition}: {texts} texts have no score in some trial ({reasons}).")
        fewer = rows[(rows["name"] == TOP_ENTROPY) & (rows["n"] > 0) & (rows["n"] < TOP)]
        if len(fewer):
            found.append(
                f"In {len(fewer)} places the model gave fewer than {TOP} spans; the entropy is "
                "over those that it gave."
            )
        return found


def _doubled(names: Sequence[str]) -> str:
    return next((name for name in names if names.count(name) > 1), "")
