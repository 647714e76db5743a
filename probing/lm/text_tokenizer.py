"""The tokenizer of a model of texts: its facts, and how texts, prompts and spans become ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

from probing.lm.cache import BoundedCache
from probing.lm.end_words import OpenEnd, Row
from probing.lm.errors import (
    ContextTooLongError,
    GenerationSettingsError,
    MaskCountError,
    TokenizerError,
    WordEdgeError,
)
from probing.lm.question_protocols import Question
from probing.lm.reasoning_blocks import begins_reasoning, close_reasoning, is_mark
from probing.lm.sources import ModelFacts
from probing.lm.text_protocols import SpanContext
from probing.lm.word_places import Sentence, WordFinder

SpanProtocol = Literal["sentinel", "mask", "left_context"]

#: Families of encoder and decoder that were trained to restore a text with masked spans.
_RESTORERS = frozenset({"bart"})
#: A text that another one can go on from.
_ENDED = "Answer:"
#: What takes the place of hidden text in encoders and decoders of the T5 family.
SENTINELS = ("<extra_id_0>", "<extra_id_1>")
#: What a shown text is shortened to in a message.
_SHOWN = 60
#: Ids of answers that are kept, by what stands before them.
_REMEMBERED = 64


class PretrainedTextTokenizer:
    """What a tokenizer and a configuration tell about a causal or sequence-to-sequence model.

    Enough for a dry run; the models themselves hold one. Made by
    :func:`probing.lm.loaders.load_text_tokenizer`.
    """

    def __init__(self, tokenizer: Any, facts: ModelFacts) -> None:
        if facts.kind not in ("causal", "seq2seq"):
            raise ValueError(f"a model of kind '{facts.kind}' has no text tokenizer")
        self._tokenizer = tokenizer
        self.facts = facts
        self.kind: Literal["causal", "seq2seq"] = facts.kind
        self.max_length = facts.max_length
        self.pad_id: int = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        #: The token that ends a text; None where the tokenizer has none.
        self.end_id: int | None = tokenizer.eos_token_id
        self.special_ids = frozenset(tokenizer.all_special_ids)
        self.mask_id: int | None = tokenizer.mask_token_id
        #: ``<extra_id_0>`` and ``<extra_id_1>``, whose ids ascend in some tokenizers and descend
        #: in others; None where the tokenizer has none.
        self.sentinels = find_sentinels(tokenizer) if facts.kind == "seq2seq" else None
        self._prefix_ids = find_prefix(tokenizer)
        prefix = tuple(self._prefix_ids) if self.kind == "causal" else ()
        self._answers = BoundedCache(_REMEMBERED)
        self._finder = WordFinder(tokenizer, special=False, prefix=prefix)

    @property
    def span_protocol(self) -> SpanProtocol | None:
        """How a span is hidden from the model; None where the model has no way to fill one."""
        if self.kind == "causal":
            return "left_context"
        if self.sentinels is not None:
            return "sentinel"
        if self.facts.family in _RESTORERS and self.mask_id is not None:
            return "mask"
        return None

    @property
    def abilities(self) -> frozenset[str]:
        """Names of :data:`probing.lm.text_protocols.TextAbility` that the whole model has."""
        found = {"generate", "answer", "train"}
        if self.span_protocol is not None:
            found.add("span")
        # methods.md §13 defines (pseudo-)perplexity for causal, masked and T5 models.
        if self.span_protocol in ("left_context", "sentinel"):
            found |= {"text_logprob", "end_word"}
        return frozenset(found)

    def count_tokens(self, text: str) -> int:
        """Return the tokens that `text` takes, special tokens included."""
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """Return the ids of `text`, with a begin token where the tokenizer has one.

        For an encoder the end token is part of it; a causal model is meant to go on, so that an
        end token, where a tokenizer adds one, is left out.
        """
        if self.kind == "causal":
            return [*self._prefix_ids, *self.encode_plain(text)]
        return list(self._tokenizer.encode(text))

    def encode_plain(self, text: str) -> list[int]:
        """Return the ids of `text` without special tokens."""
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def encode_after(self, text: str) -> list[int]:
        """Return the ids of a text that goes on where another ended.

        Tokenizers that put a space before every text would give it two where it begins with one.
        """
        if text[:1].isspace():
            before, whole = (self.encode_plain(_ENDED + rest) for rest in ("", text))
            if whole[: len(before)] == before:
                return whole[len(before) :]
        return self.encode_plain(text)

    def encode_continuation(self, prompt: str, continuation: str) -> tuple[list[int], list[int]]:
        """Return the ids of a prompt and of what follows it.

        White space between the two belongs to the continuation, as byte-level tokenizers read
        it. The two are cut in one go, so that the continuation's tokens are those that it has in
        its place; where a token would reach across the boundary, each is cut alone.
        """
        start = prompt.rstrip()
        rest = prompt[len(start) :] + continuation
        before, whole = self.encode(start), self.encode(start + rest)
        if whole[: len(before)] == before:
            return before, whole[len(before) :]
        return before, self.encode_after(rest)

    def encode_masked(self, context: SpanContext) -> tuple[list[int], list[int], list[int]]:
        """Return a text with its span masked, the whole text, and where in it the span's ids are.

        For models that restore texts: one mask token stands for the whole span.
        """
        mask = self._tokenizer.mask_token
        hidden = list(self._tokenizer.encode(f"{context.before}{mask}{context.after}"))
        self._require_one(hidden, self.mask_id, mask, context)
        whole = self._tokenizer(
            context.before + context.span + context.after, return_offsets_mapping=True
        )
        begin, end = len(context.before), len(context.before) + len(context.span)
        places = [
            place
            for place, (first, last) in enumerate(whole["offset_mapping"])
            if first < end and last > begin
        ]
        return hidden, list(whole["input_ids"]), places

    def encode_sentinel(self, context: SpanContext) -> tuple[list[int], list[int]]:
        """Return a text with ``<extra_id_0>`` for its span, and the span's own ids."""
        if self.sentinels is None:
            raise TokenizerError(f"The tokenizer of '{self.facts.source}' has no sentinels.")
        ids = list(self._tokenizer.encode(f"{context.before}{SENTINELS[0]}{context.after}"))
        self._require_one(ids, self.sentinels[0], SENTINELS[0], context)
        return ids, self.encode_plain(context.span)

    def open_ends(self, prompts: Sequence[str], words: Sequence[str]) -> list[OpenEnd]:
        """Return the ids of prompts, and those of words after them, as whole sentences have them.

        An encoder reads ``<extra_id_0>`` at the end of the prompt.
        """
        sentences = [Sentence((f"{prompt} ",), ("",)) for prompt in prompts]
        found = []
        for prompt, opened in zip(prompts, self._finder.open(sentences, words), strict=True):
            ids = opened.before
            if self.kind != "causal":
                ids = tuple(self.encode_sentinel(SpanContext(f"{prompt} ", "", ""))[0])
            longest = max(map(len, opened.pieces), default=1)
            self.require_fit(len(ids), prompt, written=longest - 1 if self.kind == "causal" else 0)
            found.append(OpenEnd(ids, tuple(opened.pieces)))
        return found

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer says how turns of a chat are written."""
        return bool(getattr(self._tokenizer, "chat_template", None))

    @cached_property
    def reasoning_switch(self) -> Literal["template", "closed", "none"]:
        """How reasoning is turned off: the template's own switch, an empty block, or not at all."""
        if not self.has_chat_template:
            return "none"
        off, on = (self._fill_template(Question("?", thinking=n)) for n in (0, 1))
        if begins_reasoning(off):
            return "closed" if close_reasoning(off) != off else "none"
        return "template" if off != on else "none"

    def question_text(self, question: Question) -> str:
        """Return all that a model reads of a question, up to where its answer begins.

        Through the chat template where there is one. Reasoning is turned off in the template's own
        way, and a block of it that the template begins all the same is closed. Without a template
        system message and question stand above each other; for a causal model “Answer:” follows.
        """
        if not self._templated(question):
            text = "\n\n".join(filter(None, (question.system, question.user)))
            if self.kind == "causal":
                text += "\nAnswer:" + (f" {question.opening}" if question.opening else "")
            return text
        text = self._fill_template(question)
        return (text if question.thinking else close_reasoning(text)) + question.opening

    def count_question(self, question: Question) -> int:
        """Return the tokens of a question up to where its answer begins, whatever fits."""
        return len(self._encode_asked(self.question_text(question), self._templated(question)))

    def encode_question(self, question: Question, *, written: int = 0) -> tuple[int, ...]:
        """Return the ids of a question up to where its answer begins, `written` tokens long.

        A chat template writes its own begin token, so that none is put before it.

        Raises
        ------
        GenerationSettingsError
            An opening for an encoder and decoder, or a system message that the template refuses.
        ContextTooLongError
            It does not fit.
        """
        ids = self._encode_asked(self.question_text(question), self._templated(question))
        if question.opening and self.kind == "seq2seq":
            raise GenerationSettingsError(
                "An encoder and decoder takes no beginning of its answer. Ask without an opening."
            )
        self.require_fit(len(ids), question.user, written=written if self.kind == "causal" else 0)
        return ids

    def encode_answers(self, question: Question, answers: Sequence[str]) -> tuple[Row, ...]:
        """Return the ids that answers have where they follow a question, in one text with it.

        Of an encoder and decoder the answer is a text of its own. An answer that begins with a
        space, or follows an opening, is a word after what is there.

        Raises
        ------
        WordEdgeError
            The tokenizer joins an answer with what stands before it.
        """
        if self.kind != "causal":
            return tuple(tuple(self.encode_plain(answer)) for answer in answers)
        text, templated = self.question_text(question), self._templated(question)
        spaced = bool(question.opening) or not templated
        texts = [f" {one}" if spaced and not one[:1].isspace() else one for one in answers]
        tail = text[self._last_mark(text) :]
        key = (tail, templated, tuple(texts))
        # What is before the last special token, or the last line, hardly changes what follows it:
        # so the answers are encoded after that alone, and one of them after the whole.
        found = self._answers.get_or_compute(
            key, lambda: self._answers_after(tail, texts, templated)
        )
        if texts and found[-1] != self._answers_after(text, texts[-1:], templated)[0]:
            found = self._answers_after(text, texts, templated)
        for answer, ids in zip(answers, found, strict=True):
            if not ids:
                raise WordEdgeError(
                    f"The tokenizer of '{self.facts.source}' joins '{answer}' with what stands "
                    f"before it, '{text[-20:]}', so that it has no tokens of its own there. Change "
                    "the beginning of the answer, or the word."
                )
        return found

    def _answers_after(self, text: str, answers: Sequence[str], templated: bool) -> tuple[Row, ...]:
        """Return the ids of answers after a text; none where these are not the text's and more."""
        before = self._encode_asked(text, templated)
        rows = (self._encode_asked(text + answer, templated) for answer in answers)
        return tuple(row[len(before) :] if row[: len(before)] == before else () for row in rows)

    def _templated(self, question: Question) -> bool:
        return self.has_chat_template and not question.raw

    def _encode_asked(self, text: str, templated: bool) -> Row:
        return tuple(self.encode_plain(text) if templated else self.encode(text))

    def _last_mark(self, text: str) -> int:
        """Return where the last special token of a text begins, or else its last line."""
        found = max((text.rfind(token) for token in self._special_texts), default=-1)
        return found if found >= 0 else text.rfind("\n") + 1

    @cached_property
    def _special_texts(self) -> list[str]:
        return [token for token in self._tokenizer.get_added_vocab() if token.strip()]

    def _fill_template(self, question: Question) -> str:
        turns = [{"role": "user", "content": question.user}]
        if question.system:
            turns.insert(0, {"role": "system", "content": question.system})
        thinks = bool(question.thinking)
        try:
            return str(
                self._tokenizer.apply_chat_template(
                    turns,
                    tokenize=False,
                    add_generation_prompt=True,
                    enable_thinking=thinks,
                    thinking=thinks,
                )
            )
        except Exception as error:  # whatever a checkpoint's own template raises
            raise GenerationSettingsError(
                f"The chat template of '{self.facts.source}' refuses the question ({error}). Some "
                "templates take no system message: leave it out."
            ) from error

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of `ids` without special tokens, white space as the model wrote it.

        Marks of reasoning stay, whatever a tokenizer calls them.
        """
        if not self._marks:
            return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))
        kept = [one for one in ids if one in self._marks or one not in self.special_ids]
        return str(self._tokenizer.decode(kept))

    @cached_property
    def _marks(self) -> frozenset[int]:
        """Special tokens that reasoning is marked with."""
        named = {self._tokenizer.convert_ids_to_tokens(one): one for one in self.special_ids}
        marks = frozenset(one for name, one in named.items() if is_mark(name))
        bare = frozenset(one for name, one in named.items() if name in ("<|start|>", "<|end|>"))
        return marks if "<|channel|>" in named else marks - bare

    def require_fit(self, length: int, text: str, *, written: int = 0) -> None:
        """Raise :class:`ContextTooLongError` unless `length` tokens (and `written` more) fit."""
        if self.max_length is None or length + written <= self.max_length:
            return
        more = f", {written} more are to be written" if written else ""
        raise ContextTooLongError(
            f"The text '{shorten(text)}' has {length} tokens{more}, and the model reads "
            f"{self.max_length}. Shorten the text, or use a model that reads longer ones."
        )

    def _require_one(
        self, ids: list[int], wanted: int | None, token: str, context: SpanContext
    ) -> None:
        if (found := ids.count(-1 if wanted is None else wanted)) != 1:
            text = shorten(context.before + context.span + context.after)
            raise MaskCountError(
                f"With its span hidden, the text '{text}' holds {found} times '{token}' where "
                "one is expected. Remove the token from the text."
            )


def find_prefix(tokenizer: Any) -> list[int]:
    """Return the tokens that a tokenizer puts before every text."""
    plain = list(tokenizer.encode("a", add_special_tokens=False))
    whole = list(tokenizer.encode("a"))
    starts = range(len(whole) - len(plain) + 1)
    return next((whole[:n] for n in starts if whole[n : n + len(plain)] == plain), [])


def shorten(text: str) -> str:
    """Return the beginning of a text, for messages."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()} …"


def find_sentinels(tokenizer: Any) -> tuple[int, int] | None:
    """Return the ids of ``<extra_id_0>`` and ``<extra_id_1>``; None where they are unknown.

    In UMT5 they are ordinary pieces with the mark of a word's beginning.
    """
    for mark in ("", "▁"):
        ids = tokenizer.convert_tokens_to_ids([f"{mark}{name}" for name in SENTINELS])
        if not any(one is None or one == tokenizer.unk_token_id for one in ids):
            return ids[0], ids[1]
    return None
