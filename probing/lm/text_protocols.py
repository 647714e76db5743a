"""Interfaces of language models for measures of texts: generation, scoring, filling spans.

Every adapter says what it cannot do by leaving the ability out of `abilities`; a measure that
needs it cannot be planned with that model. Nothing is ever cut: a text that does not fit raises
:class:`probing.lm.errors.ContextTooLongError`, and measures store that as the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from annotation.common.lazy import np, npt

if TYPE_CHECKING:
    from probing.lm.end_words import OpenEnd

#: ``generate``: TextGenerator; ``answer``: AnsweringModel (question_protocols); ``text_logprob``:
#: TextScorer; ``span``: SpanModel; ``end_word``: EndWordModel; ``train``: a folder of weights that
#: can be trained further (probing.training).
TextAbility = Literal["generate", "answer", "text_logprob", "span", "end_word", "train"]


@dataclass(frozen=True)
class GenerationSettings:
    """How a model writes.

    Deas et al. (2023, Appendix E.2): sampling at temperature 0.7 for GPT models; beams of 3 with
    no repeated 3-grams for BART and T5.

    Attributes
    ----------
    max_new_tokens : the most tokens written; a text that ends there is reported as cut.
    temperature : 0 takes the likeliest token; sampling needs `beams` of 1.
    beams : width of beam search; 1 is none.
    no_repeat_ngram : size of n-grams that never repeat; 0 allows all.
    stop : texts that end the writing, such as a line break; they are not part of the result.
    """

    max_new_tokens: int = 128
    temperature: float = 0.7
    beams: int = 1
    no_repeat_ngram: int = 0
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class Generation:
    """What a model wrote.

    Attributes
    ----------
    text : without the prompt, the stop text and white space at either end.
    n_tokens : tokens written, the end token included; None where a server does not say.
    finish : ``stop`` (an end token or stop text), ``length`` (cut at `max_new_tokens`), or
        ``refused`` (a server's content filter).
    thought : reasoning in blocks, which is no part of the text.
    """

    text: str
    n_tokens: int | None
    finish: Literal["stop", "length", "refused"]
    thought: str = ""


@dataclass(frozen=True)
class SpanContext:
    """A text with one hidden span: `before`, `span` and `after` put together give the text.

    `span` begins and ends with a word; the white space around it belongs to `before` and `after`.
    """

    before: str
    span: str
    after: str


@dataclass(frozen=True)
class SpanScore:
    """How well a model knows a hidden span.

    Attributes
    ----------
    token_logprobs : (n_tokens,) ln P of each token of the reference span, teacher forcing, without
        sentinels and end tokens; in nats.
    best_logprobs : (n_best,) total ln P of the likeliest spans, highest first; fewer than asked for
        where the model has no more. Empty where none were asked for, or they are not certain.
    best_spans : (n_best,) those spans as text.
    certain : whether the search of the likeliest spans came to its end.
    """

    token_logprobs: npt.NDArray[np.float64]
    best_logprobs: npt.NDArray[np.float64]
    best_spans: tuple[str, ...]
    certain: bool = True


@runtime_checkable
class TextTokenizer(Protocol):
    """Facts for planning and checking a run on texts, without the weights."""

    @property
    def abilities(self) -> frozenset[str]:
        """Names of :data:`TextAbility` that the whole model has."""

    @property
    def kind(self) -> Literal["causal", "seq2seq", "masked", "chat"]:
        """Kind of the model."""

    @property
    def max_length(self) -> int | None:
        """The most tokens read at once, prompt and result together for causal models.

        None where it is not known (a server) or not bounded (relative positions, as in T5).
        """

    def count_tokens(self, text: str) -> int:
        """Return the tokens that `text` takes, special tokens included; an estimate for chat."""


@runtime_checkable
class TextGenerator(TextTokenizer, Protocol):
    """A model that writes: causal, sequence to sequence, or chat."""

    def generate(
        self, prompts: Sequence[str], settings: GenerationSettings, *, seeds: Sequence[int]
    ) -> list[Generation]:
        """Return one text per prompt, in order.

        Sampling of a prompt depends on its own seed alone, never on its neighbors in the batch.
        Raises ContextTooLongError where a prompt with `max_new_tokens` does not fit.
        """


@runtime_checkable
class TextScorer(TextTokenizer, Protocol):
    """A model that says how likely a text is."""

    def token_logprobs(self, texts: Sequence[str]) -> list[npt.NDArray[np.float64]]:
        """Return ln P of every scored token of every text; methods.md §13 says which are scored.

        Perplexity is exp of minus their mean; an empty array (a one-token text of a model without
        a begin token) has none.
        """


@runtime_checkable
class SpanModel(TextTokenizer, Protocol):
    """A model that fills a hidden span: T5-like, BART-like, or causal (left context alone)."""

    @property
    def span_protocol(self) -> Literal["sentinel", "mask", "left_context"]:
        """How the span is hidden: quantities of different protocols must never be compared."""

    def score_spans(self, contexts: Sequence[SpanContext], *, n_best: int = 5) -> list[SpanScore]:
        """Return the score of every context's reference span and the model's own best spans."""


@runtime_checkable
class EndWordTokenizer(TextTokenizer, Protocol):
    """How a model reads prompts and the words that end them."""

    def open_ends(self, prompts: Sequence[str], words: Sequence[str]) -> list[OpenEnd]:
        """Return the ids of prompts with their ends open, and those of the words that follow.

        Raises ContextTooLongError where a prompt does not fit, MaskCountError where it opens
        another place, UnknownWordError for a word that the tokenizer cannot encode there.
        """


@runtime_checkable
class EndWordModel(EndWordTokenizer, Protocol):
    """A model that says which word ends a prompt: causal, masked, or T5-like."""

    def end_logprobs(self, ends: Sequence[OpenEnd]) -> npt.NDArray[np.float64]:
        """Return ln P(word | prompt) in nats, (n_ends, n_words), for ends of `open_ends`."""
