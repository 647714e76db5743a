"""Base of causal and sequence-to-sequence models: facts, batches, generation."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from probing.lm.batching import batches_by_length, batches_of_like_length, worthwhile_padding
from probing.lm.best_spans import FoundSpan
from probing.lm.cache import BoundedCache
from probing.lm.decoding import Decoding, go_on, pad
from probing.lm.end_words import EndWordReader, OpenEnd, Row
from probing.lm.errors import GenerationSettingsError, TokenizerError
from probing.lm.generation import Ending, check_settings, search, write
from probing.lm.question_protocols import Answer, Question
from probing.lm.reasoning_blocks import begins_reasoning
from probing.lm.text_protocols import Generation, GenerationSettings, SpanScore
from probing.lm.text_tokenizer import PretrainedTextTokenizer, SpanProtocol

if TYPE_CHECKING:
    import torch

#: The most logits that one pass may hold at once (256 MB in float32).
_MOST_LOGITS = 1 << 26


class TextModel(EndWordReader):
    """A model with its tokenizer; a subclass says how a row is read and written on.

    Which texts share a batch depends on nothing but the arguments, so that a repeated call on the
    same machine gives the same numbers.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: PretrainedTextTokenizer,
        *,
        revision: str,
        batch_tokens: int,
        cache_size: int = 64,
    ) -> None:
        if batch_tokens < 1:
            raise ValueError(f"batch_tokens must be at least 1, not {batch_tokens}")
        self._model = model
        self.tokenizer = tokenizer
        self.facts = tokenizer.facts
        #: The hub's commit, or ``sha256:…`` of a local folder's files.
        self.revision = revision
        #: Tokens of one forward pass, padding included.
        self.batch_tokens = batch_tokens
        self.cache = BoundedCache(cache_size)
        self._trials: dict[tuple[str, int], bool] = {}
        self._ending = Ending(
            end_ids=_ids(model.generation_config.eos_token_id),
            forced_first=model.generation_config.forced_bos_token_id,
            decode=tokenizer.decode,
        )

    @property
    def network(self) -> Any:
        """The model of transformers itself, for trials."""
        return self._model

    @property
    def device(self) -> str:
        """The device that the weights are on, such as ``cpu`` or ``cuda:0``."""
        return str(self._model.device)

    @property
    def kind(self) -> Literal["causal", "seq2seq"]:
        """Kind of the model."""
        return self.tokenizer.kind

    @property
    def abilities(self) -> frozenset[str]:
        """Names of :data:`probing.lm.text_protocols.TextAbility`."""
        return self.tokenizer.abilities

    @property
    def max_length(self) -> int | None:
        """The most tokens that the model reads at once, None where it is not bounded."""
        return self.tokenizer.max_length

    @property
    def span_protocol(self) -> SpanProtocol:
        """How a span is hidden; raises where the model has no way to fill one."""
        if (protocol := self.tokenizer.span_protocol) is None:
            raise TokenizerError(f"'{self.facts.source}' has no way to fill a hidden span.")
        return protocol

    def count_tokens(self, text: str) -> int:
        """Return the tokens that `text` takes, special tokens included."""
        return self.tokenizer.count_tokens(text)

    def open_ends(self, prompts: Sequence[str], words: Sequence[str]) -> list[OpenEnd]:
        """Return the ids of prompts with their ends open, and those of words there."""
        return self.tokenizer.open_ends(prompts, words)

    def generate(
        self, prompts: Sequence[str], settings: GenerationSettings, *, seeds: Sequence[int]
    ) -> list[Generation]:
        """Return one text per prompt, in order.

        Sampling at a temperature draws from the model's whole distribution (Deas et al. 2023,
        Appendix E.2, state no truncation); the sampling settings that a checkpoint may bring
        along are not used. A prompt's text depends on its own seed alone.

        Raises
        ------
        GenerationSettingsError
            Settings that contradict each other, or another number of seeds than prompts.
        ContextTooLongError
            A prompt does not fit, for a causal model together with `max_new_tokens`.
        """
        _check(settings, len(prompts), len(seeds))
        return self._write(
            [self._encode_prompt(prompt, settings) for prompt in prompts], settings, seeds
        )

    def answer(
        self,
        questions: Sequence[Question],
        settings: GenerationSettings,
        *,
        seeds: Sequence[int],
        top: int = 0,
        bias: Mapping[int, float] | None = None,
    ) -> list[Answer]:
        """Return one answer per question; see :class:`AnsweringModel`. Raises as `generate`."""
        if bias:
            raise GenerationSettingsError(
                "Only servers take a bias; local models tell every logit."
            )
        _check(settings, len(questions), len(seeds))
        found: list[Answer | None] = [None] * len(questions)
        kinds: dict[tuple[int, bool], list[int]] = {}
        for place, question in enumerate(questions):
            text = self.tokenizer.question_text(question) if question.thinking else ""
            kinds.setdefault((question.thinking, begins_reasoning(text)), []).append(place)
        for (thinking, begun), places in kinds.items():
            allowed = replace(settings, max_new_tokens=settings.max_new_tokens + thinking)
            new = allowed.max_new_tokens
            rows = [
                list(self.tokenizer.encode_question(questions[place], written=new))
                for place in places
            ]
            ending = replace(self._ending, begun=begun)
            own = [seeds[place] for place in places]
            written = self._write(rows, allowed, own, ending)
            for place, one in zip(places, written, strict=True):
                reasoning = len(self.tokenizer.encode_plain(one.thought)) if one.thought else 0
                found[place] = Answer(
                    one.text, one.finish, None, reasoning, one.thought, one.n_tokens
                )
        return [one for one in found if one is not None]

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer says how turns of a chat are written."""
        return self.tokenizer.has_chat_template

    def count_question(self, question: Question) -> int:
        """Return the tokens of a question up to where its answer begins."""
        return self.tokenizer.count_question(question)

    def encode_question(self, question: Question) -> Row:
        """Return the ids of a question up to where the answer begins; raises where too long."""
        return self.tokenizer.encode_question(question)

    def answer_logprobs(
        self, questions: Sequence[Question], answers: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Return ln P that the answer begins so, (n_questions, n_answers), in nats.

        Of answers that begin alike, such as 5 and 57, the shorter one is that which does not go on
        to the longer: the probabilities of all answers add up to one at most.
        """
        rows = [self.encode_question(one) for one in questions]
        alike: dict[tuple[Row, ...], list[int]] = {}
        for place, question in enumerate(questions):
            pieces = self.tokenizer.encode_answers(question, answers)
            alike.setdefault(pieces, []).append(place)
        found = np.empty((len(questions), len(answers)))
        for pieces, places in alike.items():
            found[places] = self.begin_logprobs([rows[place] for place in places], pieces)
        return found

    def _write(
        self,
        rows: list[list[int]],
        settings: GenerationSettings,
        seeds: Sequence[int],
        ending: Ending | None = None,
    ) -> list[Generation]:
        ending = ending or self._ending
        found: dict[int, Generation] = {}
        # Whatever is written is kept in memory as well, once per beam.
        lengths = [(len(row) + settings.max_new_tokens) * settings.beams for row in rows]
        switch = self.facts.switch_length
        apart = None if switch is None else switch * settings.beams
        for batch in batches_by_length(lengths, self.batch_tokens, switch=apart):
            chosen = [rows[index] for index in batch]
            if settings.beams > 1:
                texts = self._search_beams(chosen, settings, ending)
            else:
                own = [seeds[index] for index in batch]
                opened = self._open(chosen, settings.max_new_tokens)
                texts = write(opened, settings, own, ending)
            found.update(zip(batch, texts, strict=True))
        return [found[index] for index in range(len(rows))]

    def _search_beams(
        self, rows: list[list[int]], settings: GenerationSettings, ending: Ending
    ) -> list[Generation]:
        cached = self._decodes(rows, settings.max_new_tokens)
        left = self.kind == "causal"
        # Padding on the left, too, may change values, or how far a row is from a switch.
        alike: dict[int, list[int]] = {}
        for index, row in enumerate(rows):
            alike.setdefault(len(row) if left and not cached else 0, []).append(index)
        found: dict[int, Generation] = {}
        for places in alike.values():
            ids, mask = pad(
                [rows[place] for place in places],
                self.tokenizer.pad_id,
                self._model.device,
                left=left,
            )
            texts = search(
                *(self._model, ids, mask, settings, ending),
                pad_id=self.tokenizer.pad_id,
                cached=cached,
            )
            found.update(zip(places, texts, strict=True))
        return [found[place] for place in range(len(rows))]

    def _encode_prompt(self, prompt: str, settings: GenerationSettings) -> list[int]:
        """Return a prompt's ids, having checked that it can be written on."""
        ids = self.tokenizer.encode(prompt)
        if not ids:
            raise TokenizerError(
                f"The prompt is empty, and '{self.facts.source}' has no token to begin with. "
                "Give a prompt with text."
            )
        written = settings.max_new_tokens if self.kind == "causal" else 0
        self.tokenizer.require_fit(len(ids), prompt, written=written)
        return ids

    def _read_answers(
        self, rows: Sequence[Row], beginnings: Sequence[Row]
    ) -> Iterator[tuple[Row, Sequence[int], torch.Tensor]]:
        """Yield as the base does, but read each row once and go on from its cache."""
        written = max(map(len, beginnings))
        if not written or not self._decodes(rows, written):
            yield from super()._read_answers(rows, beginnings)
            return
        for places in self._like_length([len(row) + written for row in rows]):
            opened = self._open_answers([list(rows[place]) for place in places], written)
            for known, logits in go_on(opened, (), beginnings):
                yield known, places, logits

    def _open_answers(self, rows: list[list[int]], written: int) -> Decoding:
        """Return the rows, ready for the tokens of answers."""
        return self._open(rows, written)

    @abstractmethod
    def _open(self, rows: list[list[int]], written: int) -> Decoding:
        """Return the rows, ready for at most so many tokens more."""

    @abstractmethod
    def _decodes(self, rows: Sequence[Sequence[int]], written: int) -> bool:
        """Whether rows that grow by so many tokens have their logits from their caches, too."""

    def _tried(self, trial: tuple[str, int], outcome: Callable[[], bool]) -> bool:
        """Return the outcome of a trial of this model, made once."""
        if trial not in self._trials:
            self._trials[trial] = outcome()
        return self._trials[trial]

    def _span_scores(
        self,
        scores: Sequence[npt.NDArray[np.float64]],
        best: Mapping[int, Sequence[FoundSpan] | None],
    ) -> list[SpanScore]:
        """Return the scores of the reference spans with each one's best spans, by its index."""
        found = []
        for index, score in enumerate(scores):
            spans = best.get(index, ())
            found.append(
                SpanScore(
                    token_logprobs=score,
                    best_logprobs=np.array([one.logprob for one in spans or ()]),
                    best_spans=tuple(self.tokenizer.decode(one.ids).strip() for one in spans or ()),
                    certain=spans is not None,
                )
            )
        return found

    def _like_length(self, lengths: Sequence[int], most: int | None = None) -> Iterator[list[int]]:
        """Yield the indices of rows that are read together for what stands at their ends."""
        fitting = max(1, self.batch_tokens // max(lengths))
        most = fitting if most is None else max(1, min(fitting, most))
        padding = worthwhile_padding(self.device)
        return batches_of_like_length(
            lengths, most=most, padding=padding, switch=self.facts.switch_length
        )

    def _scoring_budget(self) -> int:
        """Return the tokens of a pass in which the logits of all of them are needed."""
        return max(1, min(self.batch_tokens, self._most_rows))

    @property
    def _most_rows(self) -> int:
        return _MOST_LOGITS // (self.facts.vocabulary_size or 1 << 15)


def _check(settings: GenerationSettings, n: int, n_seeds: int) -> None:
    check_settings(settings)
    if settings.beams > 1 and settings.temperature:
        raise GenerationSettingsError(
            f"beams is {settings.beams} and temperature {settings.temperature:g}: beam search "
            "takes the likeliest and draws nothing. Set beams to 1, or temperature to 0."
        )
    if n_seeds != n:
        raise GenerationSettingsError(
            f"There are {n_seeds} seeds for {n} prompts, expected one each."
        )


def _ids(stated: int | Sequence[int] | None) -> frozenset[int]:
    if stated is None:
        return frozenset()
    return frozenset([stated] if isinstance(stated, int) else stated)
