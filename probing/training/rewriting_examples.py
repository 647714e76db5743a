"""Examples of rewriting and their tokens: a prompt to read, an answer to learn.

Nothing is cut: an example that does not fit the model is left out, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from probing.lm.text_tokenizer import PretrainedTextTokenizer

TrainedKind = Literal["causal", "seq2seq"]
IGNORED = -100


@dataclass(frozen=True)
class RewritingExample:
    """A prompt and the answer that the model learns to give.

    Attributes
    ----------
    slug : names it in messages.
    group : what it belongs to; a group is held out as a whole or not at all.
    """

    slug: str
    group: str
    prompt: str
    answer: str


@dataclass(frozen=True)
class EncodedExample:
    """An example as tokens.

    Attributes
    ----------
    inputs : what the model reads; for causal models the answer too.
    labels : what is learned. Of causal models as long as `inputs`, with -100 over the prompt.
    """

    inputs: tuple[int, ...]
    labels: tuple[int, ...]

    @property
    def targets(self) -> int:
        """Tokens that are learned."""
        return sum(label != IGNORED for label in self.labels)

    @property
    def tokens(self) -> int:
        """Tokens that a forward pass reads."""
        return len(self.inputs) + (0 if len(self.labels) == len(self.inputs) else len(self.labels))


@dataclass(frozen=True)
class LeftOut:
    """An example that is not trained on, and why."""

    slug: str
    reason: str


@dataclass(frozen=True)
class ExampleEncoder:
    """Encodes examples for one model.

    Prompts are encoded as they are when the model generates, and the answer follows as the model
    should write it: for causal models after a space, unless the prompt ends in white space, and
    with the end token.
    """

    tokenizer: PretrainedTextTokenizer

    def encode(self, example: RewritingExample) -> EncodedExample:
        prompt = self.tokenizer.encode(example.prompt)
        if self.tokenizer.kind == "seq2seq":
            return EncodedExample(
                inputs=tuple(prompt), labels=tuple(self.tokenizer.encode(example.answer))
            )
        space = "" if example.prompt[-1:].isspace() else " "
        answer = self.tokenizer.encode_after(space + example.answer)
        if self.tokenizer.end_id is not None:
            answer = [*answer, self.tokenizer.end_id]
        return EncodedExample(
            inputs=(*prompt, *answer), labels=(*(IGNORED for _ in prompt), *answer)
        )

    def misfit(self, encoded: EncodedExample) -> str:
        """Return why an example cannot be trained on, or an empty text."""
        longest = len(encoded.inputs)
        if self.tokenizer.kind == "seq2seq":
            longest = max(longest, len(encoded.labels))
        limit = self.tokenizer.max_length
        if limit is not None and longest > limit:
            return f"too long: {longest} tokens, but the model reads {limit}"
        return ""


@dataclass(frozen=True)
class EncodedExamples:
    """Examples that fit, in order, and those that do not."""

    examples: tuple[RewritingExample, ...]
    encoded: tuple[EncodedExample, ...]
    left_out: tuple[LeftOut, ...]


def encode_examples(
    encoder: ExampleEncoder, examples: Sequence[RewritingExample]
) -> EncodedExamples:
    """Encode all examples, and leave out with the reason what does not fit."""
    kept: list[RewritingExample] = []
    encoded: list[EncodedExample] = []
    left_out: list[LeftOut] = []
    for example in examples:
        tokens = encoder.encode(example)
        if reason := encoder.misfit(tokens):
            left_out.append(LeftOut(example.slug, reason))
        else:
            kept.append(example)
            encoded.append(tokens)
    return EncodedExamples(tuple(kept), tuple(encoded), tuple(left_out))
